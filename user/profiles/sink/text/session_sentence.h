/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sentence on why slow sessions are slow. Inside sink/text/ only. */
#ifndef PROFTRACE_SINK_TEXT_SESSION_SENTENCE_H
#define PROFTRACE_SINK_TEXT_SESSION_SENTENCE_H

struct printer;
struct session_group;
struct session_ranks;

/* Prints a line; nothing if slow sessions take no longer. Its times add up. Returns 0 or -ENOMEM.
 */
int session_sentence__print(struct printer *pr, const struct session_ranks *r,
			    const struct session_group *g);

#endif
