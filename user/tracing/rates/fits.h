/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How bursts are to be scaled for a function, by how far others are from them that windows know. */
#ifndef PROFTRACE_RATES_FITS_H
#define PROFTRACE_RATES_FITS_H

#include <stdbool.h>
#include <stddef.h>

#include "rates/count_cost.h"

/* Functions that others are measured by, at most: each is compared with all others. */
#define MAX_REFERENCES 256

/* A rate, by windows. */
struct known {
	double per_ns;
	double variance; /* of what comes by chance, relative */
	double off; /* by what counting costs, which is off for all in the same way: relative */
};

/* How far windows are from what bursts tell of a function. */
struct distance {
	bool known;
	bool paired;	 /* by windows and the bursts right after them */
	double log;	 /* of the ratio */
	double variance; /* of that */
	double chance;	 /* the part of bursts in it */
	double company;	 /* how likely it is by those of all functions */
};

/* The functions that others are measured by. */
struct references {
	struct distance *distances; /* by function */
	const struct known *known;  /* by function */
	double interrupted;	    /* the share of windows that are out of the ordinary */
	count_cost_alike alike;
	const void *ctx;
	size_t functions[MAX_REFERENCES];
	size_t cnt;
};

/* How bursts are to be scaled for a function. */
struct fit {
	double by;	 /* rates by bursts are to be multiplied by this */
	double variance; /* of `by`, relative */
	double off;	 /* error of `by` from what counting costs, relative: as struct known */
	double windows;	 /* variance by chance of the function's own windows, in addition */
	bool known;	 /* windows tell of some function */
};

/* Chooses references, and sets how likely each function's distance is by theirs. The caller has set
 * all but `functions` and `cnt`. */
void references__find(struct references *refs, size_t functions_cnt);

/* By windows of other functions that the same threads call, and that are as far off: each weighed
 * by how well windows and bursts know it. `windows`: how many have counted the function `to`. */
struct fit fit__one(const struct references *refs, size_t to, double windows);

#endif
