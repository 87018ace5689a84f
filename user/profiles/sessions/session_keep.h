/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SESSIONS_SESSION_KEEP_H
#define PROFTRACE_SESSIONS_SESSION_KEEP_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct session_extent;
struct session_group;
struct session_parts;
struct session_spec;
struct sessions;
struct thread_calls;
struct timeline_call;

/* The second look at the calls, once groups know their quantiles and which sessions to keep: fills
 * in these sessions' calls, and the paths. Where waits were recorded, *held gets what all threads
 * did while these sessions lasted; thread_calls__fini() frees it, also if this fails. Returns 0, or
 * -errno as session_walk(). */
int sessions__keep(const struct profile *p, const struct session_spec *spec,
		   const struct session_parts *parts, struct sessions *s,
		   struct thread_calls *held);

/* The group of a function that has one. */
struct session_group *sessions__group(const struct sessions *s, uint32_t function);

/* Whether it is not known how long a session takes that begins with this call. */
bool session__is_open(const struct profile *p, const struct session_spec *spec,
		      const struct timeline_call *call, const struct session_extent *e);

#endif
