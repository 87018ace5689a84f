/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What happens at a probe: enter() and leave() keep the lane's shadow stack and add finished
 * calls to their call path. Every attach tier's programs end up here.
 *
 * A frame is identified by its slot, the address of its return address. The stack grows downwards,
 * so on any event all frames whose slot lies below the event's are gone, however they went
 * (longjmp, an exception, a return that nobody saw): they are closed as unwound. Enters and leaves
 * need not pair up.
 */
#ifndef PROFTRACE_TRACE_BPF_H
#define PROFTRACE_TRACE_BPF_H

#include "tables.bpf.h"

#define MAX_UNWIND (1 << 22) /* frames closed at one event */

/* Calls deeper than this are left out. */
const volatile u32 max_level = ~0u;

/* Events count only while it is open: set by user space once every probe is in place. */
bool gate_open;

/* Takes the innermost frame off and adds its time to its path and to its caller's. */
static __always_inline u64 frame_close(struct wire_lane *t, struct wire_frame *f, u64 now)
{
	u64 took = now > f->entered_ns ? now - f->entered_ns : 0;
	struct wire_frame *caller = frame_at(f->up);
	struct wire_node *n = node_at(f->node);

	t->top = f->up;
	if (caller)
		caller->child_ns += took;
	if (n && took > f->child_ns)
		n->self_ns += took - f->child_ns;
	return took;
}

static __always_inline void frame_returned(struct wire_lane *t, struct wire_frame *f, u64 now)
{
	struct wire_node *n = node_at(f->node);
	u64 took = frame_close(t, f, now);

	t->returned++;
	if (!n)
		return;
	if (!took)
		took = 1;
	if (!n->min_ns || took < n->min_ns)
		n->min_ns = took;
	if (took > n->max_ns)
		n->max_ns = took;
}

struct unwind_ctx {
	struct wire_lane *t;
	u64 slot, now;
};

static long unwind_one(__attribute__((unused)) u32 i, struct unwind_ctx *ctx)
{
	struct wire_frame *f = frame_at(ctx->t->top);

	if (!f || f->slot >= ctx->slot)
		return 1;
	frame_close(ctx->t, f, ctx->now);
	ctx->t->unwound++;
	return 0;
}

/* Closes all frames below `slot`; returns the innermost one left. */
static __always_inline struct wire_frame *unwind_below(struct wire_lane *t, struct wire_frame *top,
						       u64 slot, u64 now)
{
	struct unwind_ctx ctx = {.t = t, .slot = slot, .now = now};

	if (top->slot >= slot)
		return top;
	bpf_loop(MAX_UNWIND, unwind_one, &ctx, 0);
	return frame_at(t->top);
}

/* The innermost frame's slot is used by a new call: it left by a tail call, or unseen. */
static __always_inline struct wire_frame *frame_replaced(struct wire_lane *t,
							 struct wire_frame *top, u64 now)
{
	if (top->flags & WIRE_ENTRY_TAIL) {
		frame_returned(t, top, now);
	} else {
		frame_close(t, top, now);
		t->unwound++;
	}
	return frame_at(t->top);
}

/* The path of `function` called from the innermost frame; NULL, counted as lost: no room. */
static __always_inline struct wire_node *path_step(u32 lane, const struct wire_frame *top,
						   u32 function, u32 *number)
{
	struct wire_node *caller = node_at(top->node), *n;

	if (!caller)
		return 0;
	*number = caller->last_child;
	n = node_at(*number);
	if (n && n->function == function && n->parent == top->node)
		return n;
	*number = node_child(lane, top->node, function);
	caller->last_child = *number;
	n = node_at(*number);
	if (*number && n)
		return n;
	count_lost(WIRE_LOST_PATHS);
	return 0;
}

/* A frame on top of the innermost one, not filled in yet; NULL, counted as lost: no room. */
static __always_inline struct wire_frame *frame_above(struct wire_lane *t,
						      const struct wire_frame *top, u32 *number)
{
	struct wire_frame *f;

	*number = top->down ? top->down : frame_new(t->top);
	f = frame_at(*number);
	if (*number && f)
		return f;
	count_lost(WIRE_LOST_FRAMES);
	return 0;
}

/*
 * A function is entered; its return address lies at `slot`. Returns the lane's number if a call
 * was recorded, else 0 (then its leave is of no use).
 */
static __always_inline u32 enter(u64 slot, u64 cookie)
{
	u32 function = cookie & WIRE_COOKIE_FUNCTION, flags = cookie >> WIRE_COOKIE_FLAGS;
	u32 lane, node, frame;
	struct wire_frame *top, *f;
	struct wire_lane *t;
	struct wire_node *n;

	if (!gate_open)
		return 0;
	t = thread_current(true, &lane);
	if (!t)
		return 0;
	top = frame_at(t->top);
	if (top && top->slot <= slot) {
		u64 now = bpf_ktime_get_ns();

		top = unwind_below(t, top, slot, now);
		if (top && top->slot == slot) {
			if ((flags & WIRE_ENTRY_LOOP) && top->function == function)
				return 0; /* one return probe is enough */
			top = frame_replaced(t, top, now);
		}
	}
	if (!top || top->level >= max_level)
		return 0;
	n = path_step(lane, top, function, &node);
	if (!n)
		return 0;
	f = frame_above(t, top, &frame);
	if (!f)
		return 0;
	f->slot = slot;
	f->child_ns = 0;
	f->node = node;
	f->function = function;
	f->flags = flags;
	n->calls++;
	t->entered++;
	t->top = frame;
	f->entered_ns = bpf_ktime_get_ns();
	return lane;
}

/* `function` is left; its return address lay at `slot`. A leave whose enter was not recorded, or
 * that has been closed already, has no frame and is ignored. */
static __always_inline void leave(struct wire_lane *t, u64 slot, u32 function, u64 now)
{
	struct wire_frame *top;

	if (!t || !gate_open)
		return;
	top = frame_at(t->top);
	if (!top)
		return;
	top = unwind_below(t, top, slot, now);
	if (top && top->slot == slot && top->function == function)
		frame_returned(t, top, now);
}

/* A thread that was known by another number becomes the leader of a new program: the kernel has
 * ended all others, and this one's old number is gone without an exit. */
static __always_inline void thread_becomes_leader(u64 old_pid_tgid)
{
	u32 *number = bpf_map_lookup_elem(&thread_of_tid, &old_pid_tgid);
	struct wire_lane *t = number ? lane_at(*number) : 0;
	struct wire_frame *top = t ? frame_at(t->top) : 0;
	u64 now = bpf_ktime_get_ns();

	if (!t || !top)
		return;
	unwind_below(t, top, ~0ull, now);
	bpf_map_delete_elem(&thread_of_tid, &old_pid_tgid);
	__sync_fetch_and_add(&t->exit_ns, now);
}

/* The current thread replaces its program: its frames are gone. */
static __always_inline void thread_exec(void)
{
	struct wire_frame *top;
	struct wire_lane *t;
	u32 number;

	t = thread_current(false, &number);
	if (!t)
		return;
	top = frame_at(t->top);
	if (top)
		unwind_below(t, top, ~0ull, bpf_ktime_get_ns());
	bpf_get_current_comm(t->comm, sizeof(t->comm));
}

/* The current thread ends: its open frames stay for user space to account for. */
static __always_inline void thread_exit(void)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	struct wire_lane *t;
	u32 number;

	t = thread_current(false, &number);
	if (!t)
		return;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	bpf_map_delete_elem(&thread_of_tid, &pid_tgid);
	__sync_fetch_and_add(&t->exit_ns, bpf_ktime_get_ns());
}

#endif
