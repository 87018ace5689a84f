/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why sessions are slow, in few words, for whoever shows nothing else of them. */
#ifndef PROFTRACE_SINK_TEXT_SESSIONS_SUMMARY_H
#define PROFTRACE_SINK_TEXT_SESSIONS_SUMMARY_H

#include <stdint.h>

struct profile;

/* *text = the sentence of the sessions of a function of p->sessions, as the tables have it above
 * them, without a line's end: "p99 sessions take 38 ms longer: 31 ms waiting for lock ...".
 * Empty if slow ones take no longer. Names are escaped. Returns 0 or -ENOMEM; the caller frees it.
 */
int sessions_summary__text(const struct profile *p, uint32_t function, char **text);

/* *text = that of all functions that have sessions, each with an empty line behind it; "": none of
 * them takes longer. Returns likewise. */
int sessions_summary__lines(const struct profile *p, char **text);

#endif
