/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of which machine code cannot tell how often they ran. Inside lines/ only. */
#ifndef PROFTRACE_LINES_LINE_UNCOUNTABLE_H
#define PROFTRACE_LINES_LINE_UNCOUNTABLE_H

struct line_keys;
struct segments;

/* Sets reasons[key] of lines that are in doubt; leaves others alone.
 * Static strings. Returns 0 or -ENOMEM. */
int line_uncountable__find(const struct segments *s, const struct line_keys *keys,
			   const char **reasons);

#endif
