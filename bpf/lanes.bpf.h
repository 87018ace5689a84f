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

bool laned_full = false; /* some are not in there */

static __always_inline bool lane_lock(struct wire_lane *lane)
{
	return lock_try(&lane->busy);
}

/* Of a home, too: it is never locked. */
static __always_inline void lane_unlock(struct wire_lane *lane)
{
	if (lane->kind != WIRE_LANE_HOME)
		lock_release(&lane->busy);
}

/* Set after everything else. */
static __always_inline void lane_ends(struct wire_lane *lane, u64 now)
{
	SET_ONCE(&lane->exit_ns, now);
}

__noinline u32 lane_new(u64 owner, u32 kind)
{
	struct task_struct *task = current_task();
	u32 i = table_take(&free_lanes, &next_lane, lanes_cap);
	u32 frame = table_take(&free_frames, &next_frame, frames_cap);
	struct wire_frame *bottom = frame_at(frame);
	struct wire_lane *lane = lane_at(i);
	u32 lives, draft, tgid = owner >> 32, *process = bpf_map_lookup_elem(&tgids, &tgid);

	if (!i || !lane || !frame || !bottom)
		goto full;
	lives = lane->lives;
	draft = lane->draft;
	__builtin_memset(lane, 0, __builtin_offsetof(struct wire_lane, busy));
	lane->lives = lives + 1;
	lane->draft = draft;
	lane->owner = owner;
	lane->current = lane->runner = i;
	lane->kind = kind;
	lane->code_pages = process ? *process >> WIRE_TGID_PAGES : 0;
	lane->start_ns = FIELD(task, start_boottime);
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
	if (filter_tgids && !bpf_map_lookup_elem(&tgids, &tgid)) {
		count_stranger();
		return 0;
	}
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
	u64 pid_tgid = (u64)(u32)FIELD(task, tgid) << 32 | (u32)FIELD(task, pid);
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

/* Empties a thread's place in the cache, or else each switch to a thread with those low bits would
 * look further. */
static __always_inline void home_forget(u64 pid_tgid, u32 number)
{
	u32 at = pid_tgid % WIRE_THREAD_CACHE, *cached = bpf_map_lookup_elem(&home_cache, &at);

	if (cached && *cached == number)
		*cached = 0;
}

/* Whether a lane is still what it was when its number was noted down: entries are used again. */
static __always_inline bool lane_is(const struct wire_lane *lane, u32 kind, u32 tgid)
{
	return lane->kind == kind && lane->owner >> 32 == tgid && !lane->exit_ns &&
	       !(lane->busy & WIRE_BUSY_ENDED);
}

/* Nobody ran on a lane since then, up to now: that is time of what is innermost there. */
static __always_inline void lane_waited(struct wire_lane *lane, u64 since, u64 now)
{
	struct wire_frame *top = frame_at(lane->top);
	struct wire_node_rest *n = top ? node_rest_at(top->node) : 0;

	if (!n)
		return;
	n->off_ns += (now - since) * top->weight;
	lane->off_ns += now - since;
	lane->waited_ns = now;
	lane->waited_frame = lane->top;
}

/* A thread, whose home has the number `runner`, is seen elsewhere than on this lane. Not if another
 * one has gone on there: that is its business. */
static __always_inline void lane_left(struct wire_lane *lane, u32 runner, u64 now)
{
	if (lane->runner != runner)
		return;
	lane->left_ns = now;
	lane->runner = 0;
}

/* It is seen on this lane. */
static __always_inline void lane_back(struct wire_lane *lane, u32 runner, u64 now)
{
	if (lane->runner == runner)
		return;
	if (!lane->runner && lane->left_ns && now > lane->left_ns)
		lane_waited(lane, lane->left_ns, now);
	lane->left_ns = 0;
	lane->runner = runner;
}

/* The thread goes on to a lane, which is locked if need be, from the one of its last event; or from
 * where it was when it left the CPU. */
static __always_inline void home_goes(const struct wire_lane *home, u32 home_number, u32 from,
				      struct wire_lane *to)
{
	struct wire_lane *before = lane_at(from), *off = lane_at(home->off_lane);
	u64 now;

	if (to->runner == home_number)
		return;
	now = bpf_ktime_get_ns();
	if (before && before != to)
		lane_left(before, home_number, now);
	if (off && off != to)
		lane_left(off, home_number, now);
	lane_back(to, home_number, now);
}

/* Where an event takes place. */
struct place {
	struct wire_lane *lane;
	u32 number;
	u64 slot; /* as the lane's frames have it */
};

/*
 * Defines NAME(now, tgid, unwind), which calls VISIT(number, now, tgid, unwind) for each lane that
 * was ever used, until it returns something else than 0.
 */
#ifndef PROFTRACE_BASIC
struct lanes_walk {
	u64 now;
	u32 tgid, unwind;
};

#define EACH_LANE(NAME, VISIT)                                                         \
	static long NAME##_one(u32 i, struct lanes_walk *w)                            \
	{                                                                              \
		return i + 1 >= next_lane || VISIT(i + 1, w->now, w->tgid, w->unwind); \
	}                                                                              \
	static __always_inline void NAME(u64 now, u32 tgid, u32 unwind)                \
	{                                                                              \
		struct lanes_walk w = {.now = now, .tgid = tgid, .unwind = unwind};    \
                                                                                       \
		LOOP(lanes_cap, NAME##_one, &w);                                       \
	}
#else
#define LANES_STEP 256 /* squared: as many lanes as there can be */

#define EACH_LANE(NAME, VISIT)                                                             \
	__noinline u32 NAME##_from(u32 first, u64 now, u32 tgid, u32 unwind)               \
	{                                                                                  \
		LOOK_AT(now);                                                              \
		LOOK_AT(tgid);                                                             \
		LOOK_AT(unwind);                                                           \
		for (u32 i = 0; i < LANES_STEP; i++)                                       \
			if (first + i >= next_lane || VISIT(first + i, now, tgid, unwind)) \
				return 1;                                                  \
		return 0;                                                                  \
	}                                                                                  \
	static __always_inline void NAME(u64 now, u32 tgid, u32 unwind)                    \
	{                                                                                  \
		for (u32 i = 0; i < LANES_STEP; i++)                                       \
			if (NAME##_from(i * LANES_STEP + 1, now, tgid, unwind))            \
				break;                                                     \
	}
#endif

/* A lane beside homes ends with its process, or with that one's program. */
__noinline u32 sweep_lane(u32 number, u64 now, u32 tgid, u32 unwind)
{
	struct wire_lane *lane = lane_at(number);

	if (!lane)
		return 1;
	if (lane->owner >> 32 != tgid || lane->kind == WIRE_LANE_HOME ||
	    lane->kind == WIRE_LANE_SPANS || lane->exit_ns)
		return 0;
	if (unwind && gate_open)
		unwind_all(number, now);
	lane_ends(lane, now);
	return 0;
}

EACH_LANE(sweep_lanes, sweep_lane)

#endif
