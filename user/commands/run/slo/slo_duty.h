/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * With --slo and nothing broken, probes may cost next to nothing: what is called so often that they
 * would cost more is watched for a part of the time. Where nginx takes 15 us a request and probes
 * 1.5 us, it is for a tenth of a second, then 1.2 s not.
 */
#ifndef PROFTRACE_RUN_SLO_SLO_DUTY_H
#define PROFTRACE_RUN_SLO_SLO_DUTY_H

#include <stdbool.h>
#include <stdint.h>

struct run;

struct slo_duty {
	double call_ns;		/* what a call of the functions costs at most; 0: not known yet */
	uint64_t least_ns;	/* for so long it is on at least */
	uint64_t since_ns;	/* of what is measured, or of the rest */
	uint64_t calls, cpu_ns; /* then */
	uint64_t rest_ns;
	double share; /* what probes cost while on, of the target's own CPU time */
	bool told;
};

/* A few times a second; `needed`: all is to be on. Returns 0, or -errno with one line logged. */
int slo_duty__tick(struct run *r, struct slo_duty *d, bool needed, uint64_t now_ns);

#endif
