/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target's CPU time, by samples: how much of it was in traced functions, and in which files the
 * rest. */
#ifndef PROFTRACE_SINK_TEXT_CPU_SHARES_H
#define PROFTRACE_SINK_TEXT_CPU_SHARES_H

struct json;
struct printer;
struct profile;

/* A line for each file that matters, and one that says which -F would show more; nothing if there
 * are too few samples to say something. Returns 0 or -errno. */
int cpu_shares__print(struct printer *pr);

/* The member "cpu_samples" of an open object; nothing if no samples were taken. */
void cpu_shares__json(struct json *j, const struct profile *p);

#endif
