/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who had the target's CPU time: how much of it was in traced functions, in which files the rest,
 * by samples; and in which processes it was (process_shares.c). */
#ifndef PROFTRACE_SINK_TEXT_CPU_SHARES_H
#define PROFTRACE_SINK_TEXT_CPU_SHARES_H

#include <stdbool.h>

struct json;
struct printer;
struct profile;

/* A line for each file that matters, and one that says which -F would show more; nothing if there
 * are too few samples to say something. Returns 0 or -errno. */
int cpu_shares__print(struct printer *pr);

/* Whether shares of all CPU time are known as well as by 50 samples: as much of it was measured, or
 * as there are so many. */
bool cpu_shares__known(const struct profile *p);

/* Of a profile of several processes, a line that says which of them had the CPU time: of like
 * processes, which are one tree, one may have had most; nothing if that is not
 * known. Returns 0 or -ENOMEM. */
int cpu_shares__print_processes(struct printer *pr);

/* The member "cpu_samples" of an open object; nothing if no samples were taken. */
void cpu_shares__json(struct json *j, const struct profile *p);

#endif
