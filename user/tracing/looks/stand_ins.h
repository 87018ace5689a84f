/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes that stand for all of a target's in a survey, and in a burst. A server with a
 * process for each client has dozens that do the same, and a probe takes longer to come and go for
 * each: of the busy ones some are always about to run into probes, and wait for the lock of their
 * mappings then, as the kernel does for them. With 8 busy processes of postgres each probe took 4
 * ms, with one that is busy 4 us.
 */
#ifndef PROFTRACE_LOOKS_STAND_INS_H
#define PROFTRACE_LOOKS_STAND_INS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plan;
struct target;

struct stand_ins {
	bool *chosen; /* by the target's processes; NULL: all of them are looked at */
	const struct target *target;
	uint64_t last_ns; /* their clock does not run backwards where one has ended */
};

/* Looks for 20 ms at which of the target's processes are busy, and chooses the busiest one of each
 * file that has functions in the plan. Where there is one process, or none has run, none is chosen.
 * Sets *ran_ns to what all of them have run meanwhile. Returns 0 or -ENOMEM; stand_ins__clear()
 * takes it in any case. */
int stand_ins__choose(struct stand_ins *s, const struct plan *p, const struct target *t,
		      uint64_t *ran_ns);

/* Whether one process can stand for all: where there are others, and each has all functions. */
bool stand_ins__suit(const struct plan *p, const struct target *t);

/* Chooses one process at random, `random` from 0 to 1, each by the share of the CPU time that it
 * has had since it was asked last: by before_ns, by process, which is set to the clocks of now.
 * Where these are less than half of `ran_ns` others run as well, as children do, and none is
 * chosen. Returns 0 or -ENOMEM. */
int stand_ins__draw(struct stand_ins *s, const struct target *t, uint64_t *before_ns,
		    uint64_t ran_ns, double random);

/* The CPU time that they have had so far, in ns; 0 where none is chosen. */
uint64_t stand_ins__cpu_ns(struct stand_ins *s);

void stand_ins__clear(struct stand_ins *s);

#endif
