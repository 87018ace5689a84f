/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SESSIONS_SESSION_PROFILE_H
#define PROFTRACE_SESSIONS_SESSION_PROFILE_H

#include <stdbool.h>

struct profile;
struct sessions;

/*
 * Makes of a profile one of its kept sessions: each is a thread with a title ("session 3: 12.3 ms",
 * or with `usual`, for those, "usual 1: 2.00 ms"), or several if it went on on other threads; its
 * calls and nothing else are on the timeline. Times count from the beginning of the run. Figures
 * are those of these calls, as measured; what accounts say beyond calls stays that of the run.
 * `s` becomes profile::sessions, whatever comes, and tells which threads each of them is. Leaves *p
 * linked; stats of functions are to be summed up anew.
 * Returns 0, or -ENOMEM: then *p is good for nothing but profile__free().
 */
int profile__of_sessions(struct profile *p, struct sessions *s, bool usual);

#endif
