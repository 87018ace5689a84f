/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The survey: before a run with a budget begins, calls are counted by function, and nothing else is
 * done at them (user/tracing/budget/survey.h). What comes after its end counts no more: probes that
 * are being taken out may still be hit.
 */
#ifndef PROFTRACE_SURVEY_BPF_H
#define PROFTRACE_SURVEY_BPF_H

#include "life.bpf.h"

bool surveying = false;

/* Counts a call in the table of calls that are passed over, which no drop uses as yet. */
static __always_inline void survey_count(u32 function)
{
	u32 share = bpf_get_smp_processor_id() & passed_shares_mask;
	u32 at = share * function_modes_cap + function;
	u64 *seen;

	if (!surveying || function >= function_modes_cap ||
	    !is_target(bpf_get_current_pid_tgid() >> 32))
		return;
	seen = bpf_map_lookup_elem(&passed, &at);
	if (seen)
		count_up(seen);
}

#endif
