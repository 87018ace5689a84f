/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_LIVE_TERMINAL_KIND_H
#define PROFTRACE_LIVE_TERMINAL_KIND_H

#include <stdbool.h>

/* Whether the terminal of standard output is of a known kind ($TERM), and its cursor can be moved:
 * that of "dumb" cannot. */
bool terminal_kind__is_known(void);

#endif
