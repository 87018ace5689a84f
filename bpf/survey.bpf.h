/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting calls by function, and nothing else: in the survey before a run with a budget begins
 * (user/tracing/budget/survey.h), and of dropped functions, for moments (bursts/bursts.h). What
 * comes after the end of one counts no more: probes that are being taken out may still be hit.
 */
#ifndef PROFTRACE_SURVEY_BPF_H
#define PROFTRACE_SURVEY_BPF_H

#include "life.bpf.h"

/* The generation of the probes whose hits count, plus 1; 0: none do. */
u32 counting = 0;

/* A hit of a probe that is on its way out costs the target what others do. */
static __always_inline void survey_pass(u32 function, u32 at)
{
	const struct wire_function_mode *mode = bpf_map_lookup_elem(&function_modes, &function);
	u64 *seen = mode && mode->every ? bpf_map_lookup_elem(&passed, &at) : 0;

	if (seen)
		count_up(seen);
}

static __always_inline void survey_count(u64 cookie)
{
	u32 function = cookie & WIRE_COOKIE_FUNCTION;
	u32 at = counter_place(counters_here(), function);
	u64 *seen;

	if (function >= function_modes_cap || !is_target(current_process()))
		return;
	if (counting != (cookie >> WIRE_COOKIE_GENERATION) + 1) {
		survey_pass(function, at);
		return;
	}
	seen = bpf_map_lookup_elem(&counted, &at);
	if (seen)
		count_up(seen);
}

#endif
