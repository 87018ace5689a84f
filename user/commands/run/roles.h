/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions begin the recording, and which end it: --trigger and --until. Inside run/ only.
 */
#ifndef PROFTRACE_RUN_ROLES_H
#define PROFTRACE_RUN_ROLES_H

struct run;

/* Before anything is attached: whether what --session names is planned, or may yet be. Returns 0,
 * or -ENOENT with one line logged. */
int roles__check(struct run *r);

/* Gives their roles to functions that were planned since the last time, before they are attached.
 * At the first time it says which globs have found nothing that can be probed. Says of --session
 * where sessions may end early. Returns 0 or -errno with one line logged. */
int roles__apply(struct run *r);

#endif
