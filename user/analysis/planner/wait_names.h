/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of what threads wait for: of a lock, or whatever else a futex is of, the variable that it
 * is in, as "table_lock", or "log_file.lock" with debug information, else "log_file+0x40". And of
 * an rwlock of glibc's the word of it, by which its readers are told from its writers.
 */
#ifndef PROFTRACE_PLANNER_WAIT_NAMES_H
#define PROFTRACE_PLANNER_WAIT_NAMES_H

#include <stdint.h>
#include <sys/types.h>

struct plan;
struct target;
struct wait_names;

/* Both are borrowed, and may grow. NULL: no memory. */
struct wait_names *wait_names__new(const struct plan *p, const struct target *t);
void wait_names__free(struct wait_names *n); /* accepts NULL */

/* A process has mapped files. */
void wait_names__look(struct wait_names *n, pid_t pid);

/* The variable at an address of a process; NULL: it is in none that has a name, as on the heap, or
 * there is no memory. *word = the name of the innermost member, as "__wrphase_futex" of an rwlock;
 * with a question mark before it where the variable's size tells, not debug information; "": it is
 * not known. A process's mappings are read at most once a second. Names stay as long as
 * `n`. */
const char *wait_names__variable(struct wait_names *n, pid_t pid, uint64_t address,
				 const char **word);

#endif
