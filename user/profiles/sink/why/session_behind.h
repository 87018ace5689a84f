/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SINK_WHY_SESSION_BEHIND_H
#define PROFTRACE_SINK_WHY_SESSION_BEHIND_H

struct session_group;
struct why_part;

/*
 * Sets `behind` and `behind_part` of a part that is a wait, from the critical paths of p99 sessions
 * that are kept. Example: requests wait for a reply of process backend, whose thread waits for
 * db_lock, which thread janitor holds while it is in vacuum(): vacuum() in janitor is what is
 * behind the wait for the reply.
 */
void session_behind__find(const struct session_group *g, struct why_part *part);

#endif
