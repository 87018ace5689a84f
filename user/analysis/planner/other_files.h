/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that are not where they were looked for: functions of libraries that were taken for the
 * program's own, and functions of programs that are stripped. Inside planner/ only.
 */
#ifndef PROFTRACE_PLANNER_OTHER_FILES_H
#define PROFTRACE_PLANNER_OTHER_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter;
struct filter_pattern;
struct nearest;
struct plan;
struct target;

#define OTHER_FILES_TEXT 512

/* Finds mapped files with functions that a pattern has missed, and says the -F that means them:
 * "libc.so.6 has it: -F 'libc.so.6:malloc'". Returns `buf`, "" if none has. */
char *other_files__find(const struct plan *p, const struct target *t,
			const struct filter_pattern *missed, char *buf, size_t size);

/* Has each pattern of -F that names no object, is no glob and has matched nothing mean the single
 * mapped file that has the function: `malloc` becomes `libc.so.6:malloc`. Says so. Returns for how
 * many patterns, or -ENOMEM. */
int other_files__take(const struct plan *p, const struct target *t, struct filter *filter);

/* Offers the functions of all files whose symbols are not loaded, each with its file's name. */
void other_files__offer(const struct plan *p, const struct target *t, struct nearest *n);

/* Whether hardly any function of the object has a name, so that they go by their addresses. */
bool other_files__is_stripped(const struct plan *p, uint32_t object);

/* Says of programs that are stripped where their names are. */
void other_files__tell(const struct plan *p, const struct target *t);

/* Says where a stripped object's function names can be had. Returns `buf`. */
char *other_files__names(const struct target *t, uint32_t object, char *buf, size_t size);

#endif
