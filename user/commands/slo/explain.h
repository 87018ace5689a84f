/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why sessions in a recording were slow. A process of its own looks at it, without privileges,
 * while the run goes on: a large recording may take a second.
 */
#ifndef PROFTRACE_SLO_EXPLAIN_H
#define PROFTRACE_SLO_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The question. Strings are borrowed until the process has been started. */
struct explain_question {
	const char *path;	     /* of the recording */
	const char *symbol, *module; /* of the function whose calls are sessions */
	uint64_t from_ns;  /* since the run's start: what is below it has been exact since then */
	uint64_t limit_ns; /* sessions that take longer are slow */
};

struct explainer {
	pid_t pid; /* 0: none */
	int fd;
};

/* Returns 0, or -errno with one line logged. */
int explain__start(const struct explain_question *q, struct explainer *e);

/* *text = the answer, once it is there: a sentence, or "" if there is nothing to be said. The
 * caller frees it. Returns whether it is; `wait`: waits for it. */
bool explain__answer(struct explainer *e, bool wait, char **text);

/* Ends the process. Of a zeroed one, too. */
void explain__cancel(struct explainer *e);

#endif
