/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are dropped, and which of them a window counts. Inside bursts/ only. */
#ifndef PROFTRACE_BURSTS_COUNTING_H
#define PROFTRACE_BURSTS_COUNTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/figures.h"
#include "looks/late.h"
#include "looks/run_clock.h"
#include "rates/rates.h"

/* A function that is dropped, or was. */
struct member {
	uint32_t function;
	bool exact;	 /* it is not dropped any more */
	bool loops;	 /* jumps back to its entry are hits as well, and only bursts know */
	uint32_t probes; /* in a burst */
	double count_ns, call_ns; /* what counting a call costs, and recording it */
	double by_io;		  /* how likely its calls go by reads and writes, 0 to 1 */
	double per_ns;		  /* calls in a ns of own CPU time, as was estimated last */
	double dropped_per_ns;	  /* the same, as it was dropped */
	uint64_t counted;	  /* windows */
	uint64_t counted_wide;	  /* wide windows, while none had counted it otherwise */
	struct moment dropped;	  /* when it was: own CPU time, less what looks had cost */
	uint64_t passed;	  /* calls that were passed over, as seen last */
	double threads[RATES_THREADS];
	struct calls_estimate before; /* of earlier times when it was dropped */
	struct late late;
};

/* Functions that one window counts, at most. */
#define COUNTING_MOST 32

/* Functions that a wide window counts, at most. */
#define COUNTING_WIDE 48

/* How a window is to be. */
struct counting {
	double cost_ns;	  /* that ends it */
	double io_per_ns; /* how often the target reads, or writes, in a ns of its own CPU time */
	bool again;	  /* one function is to be counted again: only that tells how far windows
			   * differ */
	double random;	  /* 0 to 1: which one */
};

/* Whether a function goes by reads and writes as likely as by CPU time: then it matters less that
 * counting takes much of that. */
bool counting__by_io(const struct member *m);

/* list[COUNTING_MOST] = the places of those that were counted least, as many as counting may cost.
 * Returns how many, or -ENOMEM. */
int counting__choose(const struct member *members, size_t cnt, const struct counting *c,
		     uint32_t *list);

/* list[COUNTING_WIDE] = the places of those that a wide window counts: some that windows know,
 * which tell how long it is, and many of which no window knows anything. Returns how many, 0 if
 * windows know too few or nearly all, or -ENOMEM. */
int counting__choose_wide(const struct member *members, size_t cnt, double random, uint32_t *list);

#endif
