/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hit of a line's probe: by the innermost call of its function, or by one that
 * was not recorded. */
#ifndef PROFTRACE_LINE_HITS_BPF_H
#define PROFTRACE_LINE_HITS_BPF_H

#include "places.bpf.h"

#define MAX_REGIONS 16 /* on top of one call */

/* The call in the frame of that number comes to a site, by a probe that costs so much. */
static __always_inline void line_arrives(struct wire_callstack *callstack, struct wire_frame *f,
					 u32 frame, u32 site, const struct wire_cost *cost)
{
	struct wire_line_state *s = line_state(frame);
	u64 now;

	frame_charge(callstack, f, cost->outside_ns);
	if (s) {
		now = bpf_ktime_get_ns();
		line_lasted(s, now, f->probe_ns);
		line_moves(s, site);
		s->since_ns = now;
		s->probe_ns = f->probe_ns;
	}
	frame_charge(callstack, f, cost->inside_ns);
}

/*
 * An instruction can be a line's site and an exit. If the exit's probe is called first, the call
 * has been left: then its frame is the one above the innermost one, and it has been on this line
 * for no time. Returns whether it is so.
 */
static __always_inline bool line_left(const struct wire_frame *top, const struct place *at,
				      u32 function, u32 site)
{
	struct wire_frame *f = frame_at(top->down);
	struct wire_line_state *s = line_state(top->down);

	if (!top->down || !f || !s || !s->left || f->slot != at->slot || f->function != function)
		return false;
	s->left = 0;
	line_moves(s, site);
	return true;
}

/* At a site of `function`. Callees are below the stack pointer, the call and its regions are not.
 */
static __always_inline void line_at(const struct place *at, u32 function, u32 site,
				    const struct wire_cost *cost)
{
	struct wire_callstack *callstack = at->callstack;
	struct wire_frame *top = frame_at(callstack->top), *f;
	u32 number;

	if (top && top->slot < at->slot - 1)
		top = unwind_below(at->number, callstack, top, at->slot - 1, bpf_ktime_get_ns());
	if (!top)
		return;
	number = callstack->top;
	f = top;
	for (int i = 0; i < MAX_REGIONS && f && (f->entry & WIRE_FRAME_REGION); i++) {
		number = f->up;
		f = frame_at(number);
	}
	if (f && f->level && f->function == function) {
		line_arrives(callstack, f, number, site, cost);
		return;
	}
	if (!line_left(top, at, function, site))
		TALLY(line_misses, 1);
	frame_charge(callstack, top, cost->inside_ns + cost->outside_ns);
}

/* A line's probe was hit, with this stack pointer. */
static __always_inline void line_hit(u64 sp, u64 cookie)
{
	u32 site = cookie & WIRE_COOKIE_FUNCTION, tgid;
	const struct wire_line_site *s = bpf_map_lookup_elem(&line_sites, &site);
	struct place at;

	if (!gate_is_open() || !s || cookie >> WIRE_COOKIE_GENERATION != lines_generation)
		return;
	if (!place_find(&at, sp, false)) {
		tgid = current_process();
		if (!filter_tgids || bpf_map_lookup_elem(&tgids, &tgid))
			TALLY(line_misses, 1);
		return;
	}
	line_at(&at, s->function, site, cost_of(cookie >> WIRE_COOKIE_COST));
	callstack_unlock(at.callstack);
}

#endif
