/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the target has run while it was traced, and how often it has read and written. */
#ifndef PROFTRACE_LOOKS_RUN_CLOCK_H
#define PROFTRACE_LOOKS_RUN_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/tracer.h"

struct moment {
	uint64_t ran_ns;
	struct tracer_io io;
};

struct run_clock {
	struct tracer *tracer; /* borrowed */
	struct moment start, off_since, were_off;
	bool off;
	struct tracer_io io; /* as read last */
	uint64_t io_at_ns;
};

/* Tracing begins; later on anew, if need be. */
void run_clock__start(struct run_clock *c, struct tracer *tr);
/* Tracing is switched off, and on: what the target does meanwhile does not count. */
void run_clock__off(struct run_clock *c);
void run_clock__on(struct run_clock *c);

uint64_t run_clock__ran_ns(const struct run_clock *c);
/* Reads and writes are those of a ms ago where they were asked for then. */
struct moment run_clock__now(struct run_clock *c);

/* CPU time, reads and writes between two moments. */
struct moment moment__minus(struct moment later, const struct moment *earlier);

/* Whether the target has read and written in a look as often for each other as in the whole run. An
 * event loop's turn reads many requests first, then writes the answers: what ends amid a turn has
 * more of one half. */
bool tracer_io__balanced(const struct tracer_io *look, const struct tracer_io *run);

/* The logarithm of a look's reads for each write, by the run's: 0.69 if there were twice as many. 0
 * for targets that hardly do the one or the other. */
double tracer_io__unbalanced(const struct tracer_io *look, const struct tracer_io *run);

#endif
