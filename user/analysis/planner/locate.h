/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the place of planned functions in their source. */
#ifndef PROFTRACE_PLANNER_LOCATE_H
#define PROFTRACE_PLANNER_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

struct line_table;
struct plan;
struct plan_place;
struct target;

/*
 * Looks for file and line of the functions that `wanted` says, by number, unless that has been done
 * before. Debug information of an object is opened when the first is asked for, and stays. What
 * cannot be read leaves functions without a place, with a debug message; -ENOMEM is the one error.
 * *places: what is known by now, of all functions; the plan's until the next call.
 */
int plan__locate(const struct plan *p, const struct target *t, const bool *wanted,
		 const struct plan_place **places);

/* *out = what tells lines of source of the target's object `object`, opened at the first call, as
 * for plan__locate(); NULL: nothing does, or it cannot be read. Returns 0 or -ENOMEM. */
int plan__source(const struct plan *p, const struct target *t, uint32_t object,
		 struct line_table **out);

/* Says where a function is, so that nobody looks for it; `file` (NULL: unknown) is borrowed as long
 * as the plan lives. Returns 0 or -ENOMEM. */
int plan__place(const struct plan *p, uint32_t function, const char *file, uint32_t line);

#endif
