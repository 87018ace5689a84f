/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The members of the controller, for the files that it is made of. Inside budget/ only. */
#ifndef PROFTRACE_BUDGET_CONTROLLER_INSIDE_H
#define PROFTRACE_BUDGET_CONTROLLER_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget/cpu_clock.h"
#include "calls/profile.h"
#include "looks/turns.h"

#define LOOK_PACE_NS 100000000 /* from one look to the next, mostly */
#define START_NS     20000000  /* of the first looks */
#define START_PART   0.8       /* of what exact probes may cost: for the start, until it is paid */
/* The start is paid for so many times. Nginx loses what it answers in 190 ms by one that takes 160
 * ms of CPU time; and as much again in ten seconds to what is in no budget: our own CPU time from
 * look to look and at the end, and what it does more slowly behind each interrupt. */
#define START_TIMES 2

struct budget_function;
struct bursts;
struct function_usage;

/* How often a function has come back by itself, and when it may do so next (CLOCK_MONOTONIC). */
struct returning {
	uint64_t not_before_ns;
	uint8_t times;
};

struct drop {
	struct profile_drop shown;
	char reason[128];
};

struct controller {
	const struct budget_inputs *in;
	double limit;	       /* what exact probes may cost; bursts have the rest */
	double spared;	       /* what they may cost in any case, in CPUs: BUDGET_SPARED */
	struct bursts *bursts; /* NULL: none are taken */
	double watched;	       /* looks are for a cost above this share; 0: there are none */
	bool told;	       /* it was told what kept functions cost: advice__kept() */
	struct cpu_clock clock;
	uint64_t start_ns;
	/* The look under way. */
	uint64_t began_ns, began_cpu_ns, began_calls;
	struct function_usage *before, *now; /* by function */
	/* Functions that were used so far; the others have done nothing, in these and in the look.
	 */
	const uint32_t *used;
	uint32_t used_cnt;
	struct budget_function *functions;
	double *call_ns; /* by function: what the probes of a call cost, as calibrated */
	bool *gone;	 /* dropped, or kept in part */
	bool *kept;	 /* options name them */
	uint8_t *chosen; /* enum controller_choice; 0: not chosen */
	struct returning *returning;
	uint64_t *calls;
	uint32_t functions_cnt;
	size_t exits_cnt; /* of the plan, when last looked at */
	/* The last look that was done: the share that exact probes have cost, the target's own CPU
	 * time (0: there has been none), and the CPUs that the target kept busy by itself. */
	double spent, judged_ns, load;
	/* Cost that probes could have had (`spared`) and have not, which is left for the look under
	 * way: at its begin, and as far as is known by now. */
	double saved_ns, left_ns;
	uint64_t next_return_ns; /* no function comes back by itself before */
	uint64_t chosen_ns;	 /* when functions were chosen firmly: looks since then tell */
	bool chosen_told;	 /* it was told that these cost more than the budget */
	struct turns_seen seen;	 /* at the start */
	bool forks;		 /* the target has forked again and again since */
	uint64_t rest_until_ns;	 /* no bursts before */
	/* The row of files that were loaded one after the other: its first and its last one. */
	uint64_t loads_since_ns, loads_ns;
	/* Taking probes of dropped functions out: it is still to be done; how long that took the
	 * last time; when it may be done next. */
	bool undone;
	uint64_t taking_out_ns, next_take_out_ns;
	/* Links that were replaced wait to be closed; since when others are in their place. */
	bool closing;
	uint64_t taken_out_ns;
	bool fast_polling;   /* far too much is spent, or may be */
	bool heavy;	     /* a server's probes have cost many times what they may */
	bool over;	     /* far too much stays: the next look begins where this one did */
	double dearest_ns;   /* cost of a call at most, as calibrated */
	double look_cost_ns; /* of all calls in the look under way, when last judged */
	double reckoned_ns;  /* the same of all looks before, as if dearness were 1 */
	double dearness;     /* dearness__times() */
	double unwinding_ns; /* of the callers of a call, on average so far */
	uint64_t at_ns;	     /* the last look, or choice */
	/* Tracing is switched off: since when, and the target's CPU time then. */
	bool off;
	uint64_t off_ns, off_cpu_ns;
	/* Pauses that have ended: their time, and the target's CPU time in them. */
	uint64_t paused_ns, paused_cpu_ns;
	struct drop *drops;
	size_t drops_cnt, drops_cap;
};

/* Takes up functions that were planned since, and exits that took the place of others. Returns 0 or
 * -ENOMEM. */
int controller__grow(struct controller *s);

/* All calls so far, also those that were passed over, and exits that were hit in no call. */
uint64_t controller__calls(const struct controller *s);

/* A look begins, with the target's CPU time and its calls so far. */
void controller__begin_look(struct controller *s, uint64_t now_ns, uint64_t cpu_ns, uint64_t calls);

/* The cost of a call of a function to the target, in ns: probes, colder than in calibration, and
 * what its own code has to load again after them. `u`: what is known of its calls. */
double controller__call_cost(const struct controller *s, uint32_t function,
			     const struct function_usage *u);

/* The limit that was set, of which bursts have a part. */
double controller__whole_limit(const struct controller *s);

/* The cost that exact probes may have, as a share of the target's own CPU time: their part shrinks
 * by the share of the limit that samples and the programs at switches take, to 0.7 of it where
 * these take 1.5 of 5 %. Of a target that does little, what is spared (controller__limit()): where
 * it keeps 0.05 of a CPU busy, 0.01 of a CPU are a share of 0.2. */
double controller__probes_limit(struct controller *s);

/* Whether the start of tracing has yet to be paid for, by what exact probes and looks at dropped
 * functions may not cost meanwhile. Not while somebody has chosen a function. */
bool controller__pays_start(struct controller *s);

/* The share that exact probes may cost now: as controller__probes_limit(), but a fifth of the
 * limit until the start of tracing has been paid for. */
double controller__room(struct controller *s);

/* The cost that probes may have in the look under way, which has taken `took_ns` with `own_ns` of
 * the target's own CPU time, as a share of that: as controller__room(), but the cost that is spared
 * is that of `took_ns`, and what was not used of it in the last two seconds. An idle server may
 * have its only request of a second in a look of 50 ms. */
double controller__look_limit(struct controller *s, double own_ns, uint64_t took_ns);

/* Takes probes of what is gone out for good. What is kept in part keeps them. Where that cannot be,
 * the calls of dropped functions are passed over for the rest of the run, which is no reason to end
 * it. Returns 0 or -ENOMEM. */
int controller__take_out(struct controller *s);

/* A function has been dropped: notes when it may come back. */
void returns__note_drop(struct controller *s, uint32_t function, uint64_t now_ns);

/* After a look that has found nothing to drop: has functions come back that have become cheap.
 * Returns 0 or -ENOMEM. */
int returns__look(struct controller *s, uint64_t now_ns);

#endif
