/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rule by which a hit of a site counts as a run of its line. */
#ifndef PROFTRACE_LINES_LINE_RUNS_H
#define PROFTRACE_LINES_LINE_RUNS_H

#include <stdbool.h>
#include <stdint.h>

struct line_key;
struct segments;

/*
 * Says which arrivals at segments are runs of their line, as gcov counts them: sets their
 * `goes_on_as`, and `repeats` of more of them; which lines own basic blocks (s->owns), and which
 * have nothing but the end of a function with a result (s->ends). keys[] are those that segments
 * have, less 1. `gives_result`: the function is not void. Returns 0 or -ENOMEM.
 */
int line_runs__mark(struct segments *s, const struct line_key *keys, uint32_t keys_cnt,
		    bool gives_result);

#endif
