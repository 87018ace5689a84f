/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Members of the JSON of sessions that tell why they took so long, where waits were recorded. */
#ifndef PROFTRACE_SINK_DATA_WHY_JSON_H
#define PROFTRACE_SINK_DATA_WHY_JSON_H

struct json;
struct listing;
struct profile;
struct session;
struct session_group;
struct session_ranks;

/* "why" of a group. Returns 0 or -ENOMEM. */
int why_json__write(struct json *j, const struct profile *p, const struct listing *functions,
		    const struct session_ranks *r, const struct session_group *g);

/* "critical_path" of a session that has one. */
void why_json__chain(struct json *j, const struct profile *p, const struct listing *functions,
		     const struct session *session);

#endif
