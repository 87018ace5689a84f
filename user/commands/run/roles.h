/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with a role in the run: those that begin and end the recording (--trigger and --until),
 * and those of --session and --slo, which are never dropped and whose calls last until they return.
 * Inside run/ only. */
#ifndef PROFTRACE_RUN_ROLES_H
#define PROFTRACE_RUN_ROLES_H

#include <stdbool.h>
#include <stddef.h>

struct run;

/* Whether a glob of an option matches a function of the plan. */
bool roles__is_named(const struct run *r, size_t function, const char *glob);

/* Before anything is attached: whether what --session and --slo name is planned, or may yet be.
 * Returns 0, or -ENOENT with one line logged. */
int roles__check(struct run *r);

/* Gives their roles to functions that were planned since the last time, before they are attached.
 * At the first time it says which globs have found nothing that can be probed. Says of --session
 * where sessions may end early. Returns 0 or -errno with one line logged. */
int roles__apply(struct run *r);

#endif
