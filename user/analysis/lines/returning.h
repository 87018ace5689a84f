/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The C library's functions of which gcc knows that they return: to it, and so to gcov, no basic
 * block ends at their calls. */
#ifndef PROFTRACE_LINES_RETURNING_H
#define PROFTRACE_LINES_RETURNING_H

#include <stdbool.h>

bool returning__knows(const char *name);

#endif
