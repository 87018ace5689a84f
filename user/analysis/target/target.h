/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds whom to profile, and what these processes have mapped. */
#ifndef PROFTRACE_TARGET_TARGET_H
#define PROFTRACE_TARGET_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "target/target_data.h"
#include "target/whom.h"

struct target_spec {
	struct whom_spec
		whom;	      /* -p, --unit and their likes; its texts stay as long as the target */
	const char *exec;     /* -x */
	char *const *command; /* CMD; NULL-terminated */
	const char *output;   /* the file that the result goes to; NULL: none that has a name */
	int *status; /* of CMD, if it has ended before it could be traced; else it is left alone */
};

/*
 * Finds the processes and objects of `spec`, and starts the command if there is one. Before it
 * reads anything of theirs it gives up all privileges, and goes into a sandbox in which there is
 * nothing to write to but the output: for good. Returns 0 or
 * -errno with one line logged. target__free() lets a held command go, or ends it if it was never
 * released.
 */
int target__open(const struct target_spec *spec, struct target **out);
void target__free(struct target *t); /* accepts NULL */

/* Whether a process is one of those that were named, or adopted. */
bool target__has(const struct target *t, pid_t pid);
/* The place of such a process among them; processes_cnt: it is none. */
size_t target__index(const struct target *t, pid_t pid);

/* Whether a process was found by its name, group or user, but what it has mapped could not be read:
 * target__open() has left it out, with a warning. */
bool target__left_out(const struct target *t, pid_t pid);

/*
 * Looks again at what a process has mapped, and appends the objects that are new; `pid` may be one
 * that is not among the target's own, as a child of theirs. `watched`: what is new was mapped under
 * our eyes. Returns 0, or -errno: logged, unless the process has ended (-ENOENT, -ESRCH).
 */
int target__refresh(struct target *t, pid_t pid, bool watched);

/* Forgets what the process at that place has mapped. */
void target__unmap(struct target *t, uint32_t process);

#endif
