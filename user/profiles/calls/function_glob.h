/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_CALLS_FUNCTION_GLOB_H
#define PROFTRACE_CALLS_FUNCTION_GLOB_H

#include <stdbool.h>

struct profile_function;

/* Whether a FUNC or OBJECT:FUNC matches any of the function's names: as it is shown, with or
 * without parameters, its symbol, its aliases. Of regions only a region:NAME speaks. OBJECT is
 * compared with the file's name and its path. */
bool function_glob__matches(const char *glob, const struct profile_function *f);

#endif
