/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switching off while the target runs. User space closes the gate, waits until no program that has
 * found it open is left, and has close_open() run: what is open is closed as unwound, as of the
 * moment when the gate was closed. So no lane has a frame while tracing is off, what ends meanwhile
 * or after finds none, and nobody is charged for the pause. Until the gate opens again nothing else
 * touches a frame.
 */
#ifndef PROFTRACE_SWITCH_BPF_H
#define PROFTRACE_SWITCH_BPF_H

#include "sched.bpf.h"

u64 closed_ns = 0; /* when the gate was closed */

/* Whether the lane had a thread, or a process, when the gate was closed. The open frames of others
 * stay: they are accounted for as open. */
static __always_inline bool lane_outlived(const struct wire_lane *lane, u64 now)
{
	return lane->state == WIRE_LANE_READY && (!lane->exit_ns || lane->exit_ns > now);
}

/* Who waits has waited in what is the innermost call up to now. */
static __always_inline long close_wait(u32 number, u64 now, __attribute__((unused)) u32 tgid,
				       __attribute__((unused)) u32 unwind)
{
	struct wire_lane *lane = lane_at(number);

	if (!lane)
		return 1;
	if (lane->kind == WIRE_LANE_HOME && lane_outlived(lane, now))
		home_resumes(lane, number, now);
	return 0;
}

static __always_inline long close_lane(u32 number, u64 now, __attribute__((unused)) u32 tgid,
				       __attribute__((unused)) u32 unwind)
{
	struct wire_lane *lane = lane_at(number);

	if (!lane)
		return 1;
	/* Spans are closed with what they are beside. */
	if (lane->kind != WIRE_LANE_SPANS && lane_outlived(lane, now))
		unwind_all(number, now);
	return 0;
}

EACH_LANE(close_waits, close_wait)
EACH_LANE(close_lanes, close_lane)

static __always_inline void close_all(void)
{
	close_waits(closed_ns, 0, 0);
	close_lanes(closed_ns, 0, 0);
}

#endif
