/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of profiles: arrays are the copy's own, what these point to is borrowed. */
#ifndef PROFTRACE_CALLS_COPY_H
#define PROFTRACE_CALLS_COPY_H

struct profile;

/* *out = a copy without time line and sessions. Returns 0 or -ENOMEM; profile__free() takes *out in
 * any case. */
int profile__copy(const struct profile *p, struct profile **out);

/* Like profile__copy(), but without threads and nodes, which the caller makes. */
int profile__copy_all_but_paths(const struct profile *p, struct profile **out);

#endif
