/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that were dropped to keep to the budget: some have several drops, and what has come
 * back in between is exact again. */
#ifndef PROFTRACE_VIEWS_DROPS_H
#define PROFTRACE_VIEWS_DROPS_H

#include <stdbool.h>
#include <stddef.h>

struct profile;

/* By drop: whether it is the last one of its function, so that the function has come back if the
 * drop has an end, and else is still dropped. The caller frees it. NULL: no memory. */
bool *drops__last(const struct profile *p);

/* How many functions have been dropped at some time; 0 also if there is no memory. */
size_t drops__functions(const struct profile *p);

#endif
