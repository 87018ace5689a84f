/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which run of proftrace may have return probes in a file, where the kernel may crash if two have
 * (target/hazard.c): one at a time, in whatever container or mount namespace they are. A claim is a
 * lock on the file itself, a read lock far beyond its end, which needs no more than that the file
 * can be read, and hinders nobody else. It goes with the last descriptor that was made of the one
 * it was taken by, so also if the run is killed. Anybody who can read the file can lock it so, too:
 * the only harm is that proftrace uses no return probes then.
 */
#ifndef PROFTRACE_PLANNER_RETURN_CLAIM_H
#define PROFTRACE_PLANNER_RETURN_CLAIM_H

#include <stdbool.h>

/* Returns whether nobody else has claimed the file, and claims it. Of two at the same moment both
 * may fail. Where a file system knows no locks, nobody has. */
bool return_claim__take(int fd);

/* Returns whether it could be claimed now. */
bool return_claim__is_free(int fd);

void return_claim__give_back(int fd);

#endif
