/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Children that the target's processes have forked since we were started: a server that begins to
 * be busy while its functions are being looked for. They run into what is probed for their parents'
 * sake, so they are traced with them. Earlier ones are only counted.
 */
#ifndef PROFTRACE_TARGET_ADOPT_H
#define PROFTRACE_TARGET_ADOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct target;

/* Whether a child is to be one of the target's processes. `code_pages`: its parent's, whose files
 * are planned for; if the child has others it has loaded something. */
typedef bool (*adopt_fn)(void *ctx, pid_t child, uint32_t code_pages);

/* Adds them to the target, a few dozen at most; what they map is not looked at. Returns 0 or
 * -ENOMEM. */
int target__adopt(struct target *t, adopt_fn admit, void *ctx);

/* How many children of the target's processes run their parent's program, began before we did and
 * are not of the target, as a server's workers are where only its first process was named. Sets
 * *parent to a parent of theirs. */
size_t target__children_outside(const struct target *t, pid_t *parent);

#endif
