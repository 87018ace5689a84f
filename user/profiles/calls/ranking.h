/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_CALLS_RANKING_H
#define PROFTRACE_CALLS_RANKING_H

#include <stddef.h>

struct profile;
struct profile_function;

/* *out = the functions that were seen and are not hidden, the dearest by its own time first. Needs
 * profile__summarize(). Returns 0 or -ENOMEM. The caller frees *out. */
int profile__rank(const struct profile *p, const struct profile_function ***out, size_t *cnt);

#endif
