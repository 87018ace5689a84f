/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_REPORT_FIND_SESSIONS_H
#define PROFTRACE_REPORT_FIND_SESSIONS_H

struct options;
struct profile;
struct sessions;

/* The sessions that --session and --link ask for, of a linked profile with single calls. What was
 * asked for in vain is said. Returns 0, or -errno with one line logged; the caller frees *out. */
int find_sessions(const struct options *o, const struct profile *p, struct sessions **out);

#endif
