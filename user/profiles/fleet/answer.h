/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A database's answer, part by part, and a profile made of it. */
#ifndef PROFTRACE_FLEET_ANSWER_H
#define PROFTRACE_FLEET_ANSWER_H

#include <stddef.h>

struct recorded;

/* More paths than that are not shown as one tree: the condition has to choose fewer. */
#define ANSWER_PATHS_MAX 500000

enum answer_part {
	ANSWER_PATHS,
	ANSWER_NAMES,	  /* of functions */
	ANSWER_FUNCTIONS, /* their shortest and longest calls */
	ANSWER_LATENCIES,
	ANSWER_SUMS,
	ANSWER_PARTS,
};

/* RowBinary; the columns are those of question.c. */
struct answer {
	struct {
		char *data;
		size_t len;
	} parts[ANSWER_PARTS];
};

/* Copies a part, whose length is known. Returns 0 or -ENOMEM. */
int answer__take(struct answer *a, enum answer_part part, const char *data);

/* Makes a linked profile of the answer, which may be anything, as if it had been recorded. The
 * profile's threads are kinds of threads. Opens no sockets; once only, as texts are cut in place.
 * Returns 0, or -errno with one line logged; the caller frees it. */
int answer__read(struct answer *a, struct recorded *out);
void answer__free(struct answer *a); /* accepts NULL */

#endif
