/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lanes: making them, the one that is a thread's home, and the lock of the others.
 *
 * Homes need no lock, as only their thread touches them. For any other lane it is physics that one
 * thread at a time runs on a stack; but which addresses are one stack is a guess where a program
 * does not say, so a lane that is taken already proves the guess wrong, and costs no count.
 */
#ifndef PROFTRACE_LANES_BPF_H
#define PROFTRACE_LANES_BPF_H

#include "frames.bpf.h"

#define LANED_PROCESSES 4096

/* Processes with other lanes than homes, which end with the process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LANED_PROCESSES);
	__type(key, u32);
	__type(value, u32);
} laned SEC(".maps");

bool laned_full; /* some are not in there */

static __always_inline bool lane_lock(struct wire_lane *lane)
{
	return !__sync_val_compare_and_swap(&lane->busy, 0, 1);
}

/* Of a home, too: it is never locked. */
static __always_inline void lane_unlock(struct wire_lane *lane)
{
	*(volatile u64 *)&lane->busy = 0;
}

__noinline u32 lane_new(u64 owner, u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 i = table_take(&free_lanes, &next_lane, lanes_cap);
	u32 frame = table_take(&free_frames, &next_frame, frames_cap);
	struct wire_frame *bottom = frame_at(frame);
	struct wire_lane *lane = lane_at(i);

	if (!i || !lane || !frame || !bottom)
		goto full;
	__builtin_memset(lane, 0, __builtin_offsetof(struct wire_lane, busy));
	lane->owner = owner;
	lane->current = i;
	lane->kind = kind;
	lane->start_ns = task->start_boottime;
	bpf_get_current_comm(lane->comm, sizeof(lane->comm));
	lane->root = node_new(i, 0, 0);
	if (!lane->root)
		goto full;
	bottom->slot = ~0ull;
	bottom->child_ns = bottom->probe_ns = 0;
	bottom->weight = 1;
	bottom->entry = bottom->own_probe_ns = 0;
	bottom->node = lane->root;
	bottom->function = 0;
	bottom->up = bottom->down = bottom->level = 0;
	lane->bottom = lane->top = frame;
	lane->state = WIRE_LANE_READY;
	return i;
full:
	table_give(&free_lanes, i);
	table_give(&free_frames, frame);
	return 0;
}

/* A lane of the current thread beside its home. 0: no room; nothing is lost, the home will do. */
__noinline u32 lane_new_beside(u64 owner, u32 kind)
{
	u32 tgid = owner >> 32, one = 1, number = lane_new(owner, kind);
	struct wire_lane *lane = lane_at(number);

	if (!number || !lane)
		return 0;
	lane->made_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&laned, &tgid, &one, BPF_ANY))
		laned_full = true;
	return number;
}

/* The number of the current thread's home by the slow way; made if need be. `create`: for a call to
 * be recorded, which is counted as lost if there is no room. 0: none. */
__noinline u32 home_find(bool create)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 tgid = pid_tgid >> 32, made, *known;
	struct wire_lane *home;

	known = bpf_map_lookup_elem(&home_of_tid, &pid_tgid);
	if (known)
		return *known;
	/* A coroutine that another thread has begun may bring calls to be left. */
	if (!create && !laned_full && !bpf_map_lookup_elem(&laned, &tgid))
		return 0;
	if (filter_tgids && !bpf_map_lookup_elem(&tgids, &tgid))
		return 0;
	made = lane_new(pid_tgid, WIRE_LANE_HOME);
	home = lane_at(made);
	if (made && home) {
		home->pid_tgid = pid_tgid;
		if (!bpf_map_update_elem(&home_of_tid, &pid_tgid, &made, BPF_ANY))
			return made;
		home->exit_ns = bpf_ktime_get_ns(); /* nobody will find it: to be retired */
	}
	if (create)
		count_lost(WIRE_LOST_LANES);
	return 0;
}

/* The current thread's home and its number; made if `create`. NULL: none. */
static __always_inline struct wire_lane *home_current(const struct task_struct *task, bool create,
						      u32 *number)
{
	u64 pid_tgid = (u64)(u32)task->tgid << 32 | (u32)task->pid;
	u32 at = pid_tgid % WIRE_THREAD_CACHE, *cached = bpf_map_lookup_elem(&home_cache, &at);
	struct wire_lane *home;

	if (!cached)
		return 0;
	*number = *cached;
	home = lane_at(*number);
	if (home && home->pid_tgid == pid_tgid && !home->exit_ns)
		return home;
	*number = home_find(create);
	if (!*number)
		return 0;
	*cached = *number;
	return lane_at(*number);
}

/* Whether a lane is still what it was when its number was noted down: entries are used again. */
static __always_inline bool lane_is(const struct wire_lane *lane, u32 kind, u32 tgid)
{
	return lane->kind == kind && lane->owner >> 32 == tgid && !lane->exit_ns;
}

/* Where an event takes place. */
struct place {
	struct wire_lane *lane;
	u32 number;
	u64 slot; /* as the lane's frames have it */
};

/* What ends with a process, or with its program. */
struct sweep {
	u64 now;
	u32 tgid;
	bool unwind;
};

static long sweep_lane(u32 i, struct sweep *s)
{
	u32 number = i + 1;
	struct wire_lane *lane = lane_at(number);

	if (number >= next_lane || !lane)
		return 1;
	if (lane->owner >> 32 != s->tgid || lane->kind == WIRE_LANE_HOME ||
	    lane->kind == WIRE_LANE_SPANS || lane->exit_ns)
		return 0;
	if (s->unwind && gate_open)
		unwind_all(number, s->now);
	__sync_fetch_and_add(&lane->exit_ns, s->now);
	return 0;
}

#endif
