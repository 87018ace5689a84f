/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_VIEWS_BY_VALUE_H
#define PROFTRACE_VIEWS_BY_VALUE_H

#include <stddef.h>

struct profile;

/* Names that the profile's functions have got: to be freed behind the profile. All zero: none. */
struct value_names {
	char **items;
	size_t cnt, cap;
};
void value_names__free(struct value_names *n);

#define VALUES_OF_FUNCTION 1000	   /* that are told apart */
#define VALUES_IN_ALL	   65536   /* of all functions */
#define VALUE_PATHS	   262144u /* that they make */

/*
 * Tells calls with different values apart: each function that has a value of that name ("arg1",
 * also for "arg1:x") becomes one for each, as "f(arg1=5)"; values beyond the limits, which come
 * later, are "f(arg1=other)". Functions of which one call in some was kept stay as they are. Paths
 * and their figures come from single calls, as profile__cut() says, which comes next. Needs
 * p->timeline and profile__connect(), leaves *p linked. Returns 0; -ENOENT: no function has such a
 * value; -ENOMEM; or the timeline's error. After all but -ENOENT *p is good for nothing but
 * profile__free().
 */
int profile__split(struct profile *p, const char *value, struct value_names *names);

#endif
