/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory by which a run and its supervisor tell each other figures and settings. */
#ifndef PROFTRACE_RECORDING_SHARE_H
#define PROFTRACE_RECORDING_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct run_share {
	/* Set by the run. */
	atomic_bool ready;			    /* its calls count */
	atomic_uint_fast64_t recordings, unwritten; /* intervals that could not be written */
	atomic_uint_fast64_t probe_ns,
		cpu_ns; /* what was told: the probes' cost, the target's time */
	/* Set by the supervisor. */
	atomic_uint_fast64_t limit_ppm; /* the budget: millionths of the target's CPU time */
	uint64_t linger_ns;		/* how long the run waits when nobody is left */
	/* The map of tracer__make_turn(), for this run and one that it is to replace; and its
	 * number. */
	int turn_fd;
	uint32_t turn;
};

#endif
