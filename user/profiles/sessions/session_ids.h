/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The application's own ids of sessions. */
#ifndef PROFTRACE_SESSIONS_SESSION_IDS_H
#define PROFTRACE_SESSIONS_SESSION_IDS_H

#include <stdint.h>

struct profile;
struct session_id_spec;
struct sessions;

/* Sets the ids of all kept sessions: the value of that name, of each session's own call. Sets
 * s->ids_asked and s->ids_known. Returns 0 or -ENOMEM. */
int sessions__set_ids(const struct profile *p, const struct session_id_spec *spec,
		      struct sessions *s);

#endif
