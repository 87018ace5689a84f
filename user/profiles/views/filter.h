/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_VIEWS_FILTER_H
#define PROFTRACE_VIEWS_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* The functions, threads and levels that stay. */
struct profile_filter {
	const bool *functions; /* by function; NULL: all */
	const bool *threads;   /* by thread; NULL: all */
	uint32_t depth;	       /* levels of what stays; 0: all */
};

/*
 * Makes of a profile what it were if only this had been traced: calls of other functions become
 * part of their callers, to whom their own time goes, and what they have called hangs below these.
 * Time that has no caller goes. Functions of which some calls stay and others do not lose their
 * distributions, which are not known by path. Accounts stay those of the run. The timeline shows
 * the calls of what stays. Needs profile__connect() and leaves *p linked; stats of functions are to
 * be summed up anew. Returns 0, or -ENOMEM: then *p is good for nothing but profile__free().
 */
int profile__filter(struct profile *p, const struct profile_filter *n);

#endif
