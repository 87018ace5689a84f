/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two runs that are compared. */
#ifndef PROFTRACE_DIFF_DIFF_RUN_H
#define PROFTRACE_DIFF_DIFF_RUN_H

#include <stddef.h>
#include <stdint.h>

enum { DIFF_OLD, DIFF_NEW, DIFF_RUNS };

struct profile;

struct diff_run {
	struct profile *profile;
	const char *file; /* the recording; borrowed */
	size_t number;	  /* of the run in it, from 1 on */
};

/* A function of which at least one of the runs has not all calls. */
struct diff_left_out {
	uint32_t function;	       /* of diff::both */
	const char *reason[DIFF_RUNS]; /* why it was not; NULL: that run has all of its calls */
};

#endif
