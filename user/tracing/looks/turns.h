/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When it is time for another look at dropped functions (a burst, or a window): by what looks cost
 * on average, so that what a look has seen does not tell when the next one is. Else those at a time
 * when much is called would be fewer.
 */
#ifndef PROFTRACE_LOOKS_TURNS_H
#define PROFTRACE_LOOKS_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct tracer;

/* One of the kinds of looks. */
struct turns {
	double share;	      /* of the target's CPU time: what looks of this kind may cost */
	double cost_ns;	      /* so far */
	uint64_t cnt;	      /* looks */
	uint64_t next_ran_ns; /* the target's CPU time at the next look */
	uint64_t next_ns;     /* no look before that (CLOCK_MONOTONIC) */
};

/* A look, from its begin on. */
struct look {
	uint64_t ran_ns;    /* the target's CPU time when it began */
	uint64_t at_ns;	    /* when it began (CLOCK_MONOTONIC) */
	uint64_t thread_ns; /* our thread's CPU time when it began */
	uint32_t children;  /* children that the target had made when it began */
	uint64_t making_ns; /* CPU time for making links up to then; once its own are made: for them
			     */
	uint64_t made_ns;   /* how long its links took to be made */
	double cpus;	    /* that the target kept busy meanwhile */
	double cost_ns;	    /* calls and probes, to the target */
};

/* Children that the target had made when looks began to be taken. */
struct turns_seen {
	uint32_t children;
};

/* From here on looks are taken. */
void turns__start(struct turns_seen *seen, const struct tracer *tr);

/* Whether the target has forked again and again since then. */
bool turns__forks(const struct turns_seen *seen, const struct tracer *tr);

/* A look begins, at that time of the target. */
struct look look__begin(const struct tracer *tr, uint64_t ran_ns);
/* The links of the look are there. */
void look__made(struct look *l, const struct tracer *tr);

/*
 * Whether it is time for a look. The first one comes at once; but who forks waits while probes come
 * and go, so a target that does must have run for as long as pays for a look of so many `probes`,
 * which are asked for at the first one alone.
 */
bool turns__due(struct turns *t, const struct turns_seen *seen, const struct tracer *tr,
		uint64_t ran_ns, uint64_t now_ns, double probes);

/* How long the target runs between two looks, by what looks have cost so far, in ns; 0: none has
 * been taken. */
double turns__usual_ns(const struct turns *t);

/* A look has been taken: how long the target has to run before the next one, in ns. Proftrace's own
 * CPU time counts as well, which a target on a busy machine does without. */
double turns__pause_ns(struct turns *t, const struct tracer *tr, const struct look *l);

#endif
