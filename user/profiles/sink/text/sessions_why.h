/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the slowest sessions take longer, for people. */
#ifndef PROFTRACE_SINK_TEXT_SESSIONS_WHY_H
#define PROFTRACE_SINK_TEXT_SESSIONS_WHY_H

#include <stdbool.h>

struct printer;
struct session;
struct session_group;
struct session_ranks;

/* A sentence, then a table whose rows add up; of recordings without waits a sentence of paths
 * alone. Returns 0 or -ENOMEM. */
int sessions_why__print(struct printer *pr, const struct session_ranks *r,
			const struct session_group *g);

/* The sentence alone; behind the function's name, if `named`. */
int sessions_why__headline(struct printer *pr, const struct session_ranks *r,
			   const struct session_group *g, bool named);

/* Prints the parts of the session's duration: the longest ones, and the sum of all others. */
void sessions_why__chain(struct printer *pr, const struct session *session);

#endif
