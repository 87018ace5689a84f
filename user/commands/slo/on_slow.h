/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --on-slow CMD: a command that is run for each recording of slow sessions. A process of its own,
 * which has been the user who called sudo from the start, runs it; no shell is involved: CMD is
 * divided into words at blanks, and the recording's path is its last argument. "notify -u low" is
 * run as
 *
 *   notify -u low slow/0000000001-20261124T013600Z.data
 *
 * with PROFTRACE_WHY, the sentence about it, in its environment, in a session of its own, with its
 * output on our standard error. One at a time; what takes too long, or goes on when the run has
 * ended, is ended, with all that it has started and that has not left its process group.
 */
#ifndef PROFTRACE_SLO_ON_SLOW_H
#define PROFTRACE_SLO_ON_SLOW_H

#include <stdbool.h>

#define ON_SLOW_MS     60000
#define ON_SLOW_END_MS 2000 /* that one which runs at the end of the run may still take */

struct on_slow;

/* Before there is anything that the process should not inherit. `command` is borrowed; it may take
 * `limit_ms`. Returns 0, or -errno with one line logged. */
int on_slow__start(const char *command, int limit_ms, struct on_slow **out);

/* Ends what still runs. Accepts NULL. */
void on_slow__free(struct on_slow *s);

/* Has the command run for a recording; tells if that cannot be, as the one before still runs. */
void on_slow__run(struct on_slow *s, const char *path, const char *why);

/* Says what became of the command, if it has ended. Accepts NULL. */
void on_slow__look(struct on_slow *s);

/* The run ends: waits up to `ms` for the command, then has it ended, which takes up to a second
 * more, and says what became of it. No other is run from then on. Accepts NULL. */
void on_slow__finish(struct on_slow *s, int ms);

#endif
