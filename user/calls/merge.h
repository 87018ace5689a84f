/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_CALLS_MERGE_H
#define PROFTRACE_CALLS_MERGE_H

#include <stdbool.h>

struct profile;

/* Makes one thread of all that have the same comm, and also the same pid unless `across_processes`:
 * costs of equal paths are summed. Threads without calls are left out; merged threads are in the
 * order of (comm, pid). Needs profile__link(); *out is linked, and its functions keep the stats
 * they have in `p`. Returns 0 or -errno. The caller frees *out. */
int profile__merge_threads(const struct profile *p, bool across_processes, struct profile **out);

#endif
