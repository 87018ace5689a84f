/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often lines ran, and for how long (--lines); without it none of this is in the loaded
 * programs. A line runs when its call comes to it from another line, or jumps back in it. Which
 * line a call is on does not depend on what the call calls meanwhile, so it is kept beside the
 * call's frame.
 */
#ifndef PROFTRACE_LINES_BPF_H
#define PROFTRACE_LINES_BPF_H

#include "tables.bpf.h"

const volatile bool keep_lines = false;
const volatile u32 lines_cap = 0, lines_shares_mask = 0;
u32 lines_generation = 0; /* probes of others are on their way out */

static __always_inline struct wire_line_state *line_state(u32 frame)
{
	struct wire_frame_rest *rest = bpf_map_lookup_elem(&frame_rests, &frame);

	return rest ? &rest->line : 0;
}

/* Threads that were preempted in here count there too, hence the atomic additions to it. */
static __always_inline struct wire_line_count *line_count(u32 site)
{
	u32 at = (bpf_get_smp_processor_id() & lines_shares_mask) * lines_cap + site;

	return bpf_map_lookup_elem(&line_counts, &at);
}

/* Adds the time up to `now` to the line that the call was on. `probe_ns`: as its frame has it by
 * now. */
static __always_inline void line_lasted(const struct wire_line_state *s, u64 now, u64 probe_ns)
{
	struct wire_line_count *c = s->line ? line_count(s->site) : 0;

	if (!c)
		return;
	if (now > s->since_ns)
		__sync_fetch_and_add(&c->ns, now - s->since_ns);
	__sync_fetch_and_add(&c->probe_ns, probe_ns - s->probe_ns);
}

/* Whether the line of a site runs anew: the call comes from another line, or goes round in a loop
 * that lies in this line. A jump back that is part of no such loop is none: that from the end of a
 * `for` with a body of other lines. */
static __always_inline bool line_runs(const struct wire_line_state *s,
				      const struct wire_line_site *site, u32 number)
{
	if (!site->line || site->repeats)
		return false;
	if (s->line != site->line || site->cycles == WIRE_LINE_LANDS)
		return true;
	return site->cycles && number <= s->site;
}

/* The call comes to a site. */
static __always_inline void line_moves(struct wire_line_state *s, u32 number)
{
	const struct wire_line_site *site = bpf_map_lookup_elem(&line_sites, &number);
	struct wire_line_count *c;

	if (!site)
		return;
	if (line_runs(s, site, number)) {
		c = line_count(number);
		if (c)
			__sync_fetch_and_add(&c->hits, 1);
	}
	s->site = number;
	s->line = site->line;
}

static __always_inline u32 line_entry(u32 function)
{
	const u64 *entry = bpf_map_lookup_elem(&line_entries, &function);

	return entry ? *entry : 0;
}

/* A call of `function` begins; `inside_ns` of what comes now is its entry's probe. */
static __always_inline void line_begins(u32 frame, u32 function, u64 now, s32 inside_ns)
{
	struct wire_line_state *s = line_state(frame);
	u32 entry = line_entry(function);

	if (!s)
		return;
	s->site = s->line = s->left = 0;
	s->since_ns = now;
	s->probe_ns = -(s64)inside_ns;
	if (entry)
		line_moves(s, entry);
}

/* It ends, as a probe of class `exit` has seen. */
static __always_inline void line_ends(u32 frame, u64 now, u64 probe_ns, u32 exit)
{
	struct wire_line_state *s = line_state(frame);

	if (!s)
		return;
	line_lasted(s, now, probe_ns);
	s->left = exit >= WIRE_COST_EXIT_STEP && exit <= WIRE_COST_EXIT_RET;
}

#endif
