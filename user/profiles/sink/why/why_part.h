/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SINK_WHY_WHY_PART_H
#define PROFTRACE_SINK_WHY_WHY_PART_H

#include <stdbool.h>
#include <stdint.h>

struct chain_part;
struct session_wait;

enum why_kind {
	WHY_RUN,   /* on a CPU, in `function` */
	WHY_WAIT,  /* for `wait` */
	WHY_SHORT, /* off a CPU in `function`, without a wait that was recorded */
	WHY_QUEUE, /* until a thread took the session up */
};

/* A part of p99 sessions' time, and how much usual sessions spend on it. Times and counts are means
 * of a session; those of usual ones may be larger. */
struct why_part {
	enum why_kind kind;
	uint32_t function; /* where; of waits where most of them were */
	/* For waits in functions that tell little, as they have no name, or wait for whatever
	 * comes, and for parked goroutines: the next caller that tells more; UINT32_MAX: none does.
	 */
	uint32_t caller;
	double more_ns, worst_ns, usual_ns;
	double worst_calls, usual_calls; /* of the function, all its calls */
	/* For queues: who has waited for most of the time, NULL if that is not known; `function` is
	 * what was called when they were over. */
	const struct chain_part *queued;
	/* For waits: one of them. Its object counts if all have it; its waker is the one with most
	 * of their time. */
	const struct session_wait *wait;
	bool object;
	/* For waits: enum wait_object. Words of a barrier are waited for in a mutex's way at times,
	 * but a mutex never in a futex's: if both kinds are met it is a futex. */
	uint32_t object_kind;
	double waker_ns; /* worst_ns of that waker */
	/* For the wait with most more_ns: what was done mostly while it lasted, by whichever thread
	 * was waited for, at any depth: a stretch like others that make up this part of the wait;
	 * NULL: nothing was, or it is the waker's function, which is told anyway. */
	const struct chain_part *behind;
	double behind_part;
	bool parked; /* of WHY_SHORT: a goroutine, which is off its thread, and waits nowhere */
};

#endif
