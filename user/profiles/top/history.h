/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much CPU time each function has had in the last intervals, for a line drawn beside it. */
#ifndef PROFTRACE_TOP_HISTORY_H
#define PROFTRACE_TOP_HISTORY_H

#include <stddef.h>
#include <stdint.h>

struct profile;

#define HISTORY_LEN 60 /* intervals; a minute of seconds */

struct history {
	float (*shares)[HISTORY_LEN]; /* by function: of one CPU, 0.5 being half of it; a ring */
	uint64_t *cpu_ns;	      /* by function: its own CPU time up to the newest interval */
	size_t functions_cnt;
	uint64_t until_ns; /* the newest interval's end, from the run's start on */
	size_t next;	   /* place in the rings of the next interval */
	size_t cnt;	   /* intervals so far, up to HISTORY_LEN */
};

/* Adds the interval from the last profile to `now`, which has all of the run so far, summarized.
 * Functions keep their indexes. `h` is all zero at first. Returns 0 or -ENOMEM. */
int history__add(struct history *h, const struct profile *now);
void history__fini(struct history *h);

/* Draws the intervals of a function, the newest last, in `columns` characters (at most HISTORY_LEN)
 * of eight heights; the highest stands for its own maximum. A character is the mean of as many
 * intervals as there have to be in one. `buf` has room for HISTORY_SPARK bytes, and is returned. */
#define HISTORY_SPARK (3 * HISTORY_LEN + 1)
char *history__spark(const struct history *h, uint32_t function, size_t columns, char *buf);

#endif
