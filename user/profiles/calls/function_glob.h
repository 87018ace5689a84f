/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_CALLS_FUNCTION_GLOB_H
#define PROFTRACE_CALLS_FUNCTION_GLOB_H

#include <stdbool.h>
#include <stddef.h>

struct profile_function;

/* Whether a GLOB (util/glob.h) matches a function of a profile by any of its names: the one that is
 * shown, its symbol, its aliases. */
bool function_glob__matches(const char *glob, const struct profile_function *f);

/* Whether one of `cnt` GLOBs does. */
bool function_glob__any_matches(char *const *globs, size_t cnt, const struct profile_function *f);

#endif
