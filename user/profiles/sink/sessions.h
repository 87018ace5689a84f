/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions in formats: profile::sessions as text and JSON. All do nothing if there are none. */
#ifndef PROFTRACE_SINK_SESSIONS_H
#define PROFTRACE_SINK_SESSIONS_H

struct json;
struct listing;
struct printer;
struct profile;

/* For people, before all else: of each function's sessions the sentence that says why the slowest
 * ones take longer, if they do; with the function's name before it if there are several. `p` is
 * the profile that has them. Returns 0 or -ENOMEM. */
int sessions_text__headlines(struct printer *pr, const struct profile *p);

/* For people: how long sessions took, the slowest with their dearest paths, and which paths make
 * slow sessions slow. `p` is the profile that has them. Returns 0 or -ENOMEM. */
int sessions_text__print(struct printer *pr, const struct profile *p);

/* Members of the document: "sessions", "session_paths", "session_links". Returns likewise. */
int sessions_json__write(struct json *j, const struct profile *p, const struct listing *functions);

#endif
