/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sessions: each outermost call of a chosen function, with all below it, and what other threads did
 * for it (session_links.h). How long they took, those that took longest as a whole, and what these
 * have spent their time on that others have not. All times are as measured.
 */
#ifndef PROFTRACE_SESSIONS_SESSIONS_H
#define PROFTRACE_SESSIONS_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/session_data.h"
#include "sessions/session_spec.h"

struct profile;

/*
 * Finds the sessions in the single calls of `p`, which has some and is linked. Walks them twice,
 * and once more for links. Memory: bounded, whatever the number of calls; what there is no room for
 * is counted. Returns 0, or -errno as session_walk(); the caller frees *out.
 */
int sessions__find(const struct profile *p, const struct session_spec *spec, struct sessions **out);

#endif
