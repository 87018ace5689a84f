/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In words: why the slowest sessions take longer, and what one of them consists of. Names are a
 * stranger's, as they are. */
#ifndef PROFTRACE_SINK_TEXT_WHY_TEXT_H
#define PROFTRACE_SINK_TEXT_WHY_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct chain_part;
struct profile;
struct session_why;
struct why_part;

#define WHY_TEXT 1024

/* "waiting for lock 0x55e8 (log_mutex), held by flush_log in thread writer", in `buf`, which it
 * returns. Names are a stranger's, as they are. */
char *why_part__text(const struct profile *p, const struct why_part *part, char buf[WHY_TEXT]);

#define WHY_SENTENCE (8 * WHY_TEXT)

/* "p99 sessions take 38 ms longer: ...", in `buf`, which it returns. */
char *session_why__sentence(const struct profile *p, const struct session_why *w,
			    char buf[WHY_SENTENCE]);

/* "flush_log in thread writer, which had lock log_mutex", likewise. */
char *chain_part__text(const struct profile *p, const struct chain_part *part, char buf[WHY_TEXT]);

#endif
