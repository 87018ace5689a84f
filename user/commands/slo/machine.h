/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When a broken rule is looked into, and when there is rest. Windows are judged one after the
 * other; with windows of a second:
 *
 *   HEALTHY    until a window is broken; then what is below the functions is made exact
 *   WATCHING   until another one is broken (at most 5 s: it has passed by itself)
 *   RECORDING  until 3 s after the first broken window, or two healthy ones in a row; then the
 *              recording is written, and what was exact is released
 *   CALM       10 s in which nothing is looked into, whatever breaks; each time twice as long, up
 *              to 600 s, unless it was healthy for as long before
 *
 * So a rule that is always broken, or that flaps, costs 3 s of attention in ever longer times.
 */
#ifndef PROFTRACE_SLO_MACHINE_H
#define PROFTRACE_SLO_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum slo_state { SLO_HEALTHY, SLO_WATCHING, SLO_RECORDING, SLO_CALM };

enum slo_action {
	SLO_NOTHING,
	SLO_LOOK_CLOSER, /* what is below becomes exact */
	SLO_LET_GO,	 /* it has passed: what is below is released */
	SLO_WRITE,	 /* a recording is made of what was found */
};

struct slo_machine {
	uint64_t window_ns;
	enum slo_state state;
	uint64_t since_ns;    /* of the state */
	uint64_t broken_ns;   /* the first broken window ended */
	uint64_t rest_ns;     /* how long it is CALM next time */
	unsigned int healthy; /* windows in a row */
};

/* Times are CLOCK_MONOTONIC. */
void slo_machine__init(struct slo_machine *m, uint64_t window_ns, uint64_t now_ns);

/* A window was judged. */
enum slo_action slo_machine__judged(struct slo_machine *m, bool broken, uint64_t now_ns);

/* Time has passed. */
enum slo_action slo_machine__tick(struct slo_machine *m, uint64_t now_ns);

/* The run ends: what was being recorded is to be written. */
enum slo_action slo_machine__end(struct slo_machine *m, uint64_t now_ns);

#endif
