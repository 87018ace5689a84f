/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks: making them, the one that is a thread's own, and the lock of the others.
 *
 * Thread stacks need no lock, as only their thread touches them. For any other call stack it is
 * physics that one thread at a time runs on a stack; but which addresses are one stack is a guess
 * where a program does not say, so a call stack that is taken already proves the guess wrong, and
 * costs no count.
 */
#ifndef PROFTRACE_CALLSTACKS_BPF_H
#define PROFTRACE_CALLSTACKS_BPF_H

#include "frames.bpf.h"

#define MULTI_STACK_PROCESSES 4096

/* Processes with other call stacks than thread stacks, which end with the process. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MULTI_STACK_PROCESSES);
	__type(key, u32);
	__type(value, u32);
} multi_stack SEC(".maps");

bool multi_stack_full = false; /* some are not in there */

static __always_inline bool callstack_lock(struct wire_callstack *callstack)
{
	return lock_try(&callstack->busy);
}

/* Of a thread stack, too: it is never locked. */
static __always_inline void callstack_unlock(struct wire_callstack *callstack)
{
	if (callstack->kind != WIRE_CALLSTACK_THREAD)
		lock_release(&callstack->busy);
}

/* Set after everything else. */
static __always_inline void callstack_ends(struct wire_callstack *callstack, u64 now)
{
	SET_ONCE(&callstack->exit_ns, now);
}

__noinline u32 callstack_new(u64 owner, u32 kind)
{
	struct task_struct *task = current_task();
	u32 i = table_take(&free_callstacks, &next_callstack, callstacks_cap);
	u32 frame = table_take(&free_frames, &next_frame, frames_cap);
	struct wire_frame *bottom = frame_at(frame);
	struct wire_callstack *callstack = callstack_at(i);
	u32 lives, draft, seed, tgid = owner >> 32, *process = bpf_map_lookup_elem(&tgids, &tgid);

	if (!i || !callstack || !frame || !bottom)
		goto full;
	lives = callstack->lives;
	draft = callstack->draft;
	seed = callstack->seed;
	__builtin_memset(callstack, 0, __builtin_offsetof(struct wire_callstack, busy));
	callstack->lives = lives + 1;
	callstack->draft = draft;
	callstack->seed = seed;
	callstack->owner = owner;
	callstack->current = callstack->runner = i;
	callstack->kind = kind;
	callstack->code_pages = process ? *process >> WIRE_TGID_PAGES : 0;
	callstack->start_ns = FIELD(task, start_boottime);
	bpf_get_current_comm(callstack->comm, sizeof(callstack->comm));
	callstack->root = node_new(i, 0, 0);
	if (!callstack->root)
		goto full;
	bottom->slot = ~0ull;
	bottom->child_ns = bottom->probe_ns = 0;
	bottom->weight = 1;
	bottom->entry = bottom->own_probe_ns = 0;
	bottom->node = callstack->root;
	bottom->function = 0;
	bottom->up = bottom->down = bottom->level = 0;
	callstack->bottom = callstack->top = frame;
	callstack->state = WIRE_CALLSTACK_READY;
	return i;
full:
	table_give(&free_callstacks, i);
	table_give(&free_frames, frame);
	return 0;
}

/* A call stack of the current thread beside its thread stack. 0: no room; nothing is lost, the
 * thread stack will do. */
__noinline u32 callstack_new_beside(u64 owner, u32 kind)
{
	u32 tgid = owner >> 32, one = 1, number = callstack_new(owner, kind);
	struct wire_callstack *callstack = callstack_at(number);

	if (!number || !callstack)
		return 0;
	callstack->made_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&multi_stack, &tgid, &one, BPF_ANY))
		multi_stack_full = true;
	return number;
}

/* The number of the current thread's own call stack by the slow way; made if need be. `create`: for
 * a call to be recorded, which is counted as lost if there is no room. 0: none. */
__noinline u32 thread_stack_find(bool create)
{
	u64 pid_tgid = current_thread();
	u32 tgid = pid_tgid >> 32, made, *known;
	struct wire_callstack *thread_stack;

	known = bpf_map_lookup_elem(&stack_of_tid, &pid_tgid);
	if (known)
		return *known;
	/* A coroutine that another thread has begun may bring calls to be left. */
	if (!create && !multi_stack_full && !bpf_map_lookup_elem(&multi_stack, &tgid))
		return 0;
	if (filter_tgids && !bpf_map_lookup_elem(&tgids, &tgid)) {
		count_stranger();
		return 0;
	}
	made = callstack_new(pid_tgid, WIRE_CALLSTACK_THREAD);
	thread_stack = callstack_at(made);
	if (made && thread_stack) {
		thread_stack->pid_tgid = pid_tgid;
		if (!bpf_map_update_elem(&stack_of_tid, &pid_tgid, &made, BPF_ANY))
			return made;
		thread_stack->exit_ns =
			bpf_ktime_get_ns(); /* nobody will find it: to be reclaimed */
	}
	if (create)
		count_lost(WIRE_LOST_CALLSTACKS);
	return 0;
}

/* The current thread's own call stack and its number; made if `create`. NULL: none. */
static __always_inline struct wire_callstack *thread_stack_current(const struct task_struct *task,
								   bool create, u32 *number)
{
	u64 pid_tgid = thread_now(task);
	u32 at = pid_tgid % WIRE_THREAD_CACHE,
	    *cached = bpf_map_lookup_elem(&thread_stack_cache, &at);
	struct wire_callstack *thread_stack;

	if (!cached)
		return 0;
	*number = *cached;
	thread_stack = callstack_at(*number);
	if (thread_stack && thread_stack->pid_tgid == pid_tgid && !thread_stack->exit_ns)
		return thread_stack;
	*number = thread_stack_find(create);
	if (!*number)
		return 0;
	*cached = *number;
	return callstack_at(*number);
}

/* The own call stack of a thread and its number, if it has one. By the hash alone: the thread's
 * place in the cache may have been emptied at the end of another one with the same low bits. */
static __always_inline struct wire_callstack *thread_stack_known(u64 pid_tgid, u32 *number)
{
	const u32 *known = bpf_map_lookup_elem(&stack_of_tid, &pid_tgid);

	*number = known ? *known : 0;
	return known ? callstack_at(*number) : 0;
}

/* Empties a thread's place in the cache, or else each switch to a thread with those low bits would
 * look further. */
static __always_inline void thread_stack_forget(u64 pid_tgid, u32 number)
{
	u32 at = pid_tgid % WIRE_THREAD_CACHE,
	    *cached = bpf_map_lookup_elem(&thread_stack_cache, &at);

	if (cached && *cached == number)
		*cached = 0;
}

/* Whether a call stack is still what it was when its number was noted down: entries are used again.
 */
static __always_inline bool callstack_is(const struct wire_callstack *callstack, u32 kind, u32 tgid)
{
	return callstack->kind == kind && callstack->owner >> 32 == tgid && !callstack->exit_ns &&
	       !(callstack->busy & WIRE_BUSY_ENDED);
}

/* Nobody ran on a call stack since then, up to now: that is time of what is innermost there. */
static __always_inline void callstack_waited(struct wire_callstack *callstack, u64 since, u64 now)
{
	u32 number = innermost_known(callstack);
	struct wire_frame *top = frame_at(number);
	struct wire_node_rest *n = top ? node_rest_at(top->node) : 0;

	if (!n)
		return;
	/* A switch that was not seen: the thread has run since, or it had not made this call. */
	if (since < top->entered_ns)
		since = top->entered_ns < now ? top->entered_ns : now;
	n->off_ns += (now - since) * top->weight;
	callstack->off_ns += now - since;
	callstack->waited_ns = now;
	callstack->waited_frame = number;
}

/* A thread, whose thread stack has the number `runner`, is seen elsewhere than on this call stack.
 * Not if another one has gone on there: that is its business. */
static __always_inline void callstack_left(struct wire_callstack *callstack, u32 runner, u64 now)
{
	if (callstack->runner != runner)
		return;
	callstack->left_ns = now;
	callstack->runner = 0;
}

/* The thread, whose thread stack has the number `runner`, is seen on this call stack. */
static __always_inline void callstack_back(struct wire_callstack *callstack, u32 runner, u64 now)
{
	if (callstack->runner == runner)
		return;
	if (!callstack->runner && callstack->left_ns && now > callstack->left_ns)
		callstack_waited(callstack, callstack->left_ns, now);
	callstack->left_ns = 0;
	callstack->runner = runner;
}

/* The thread goes on to a call stack, which is locked if need be, from the one of its last event;
 * or from where it was when it left the CPU. */
static __always_inline void thread_stack_goes(const struct wire_callstack *thread_stack,
					      u32 thread_number, u32 from,
					      struct wire_callstack *to)
{
	struct wire_callstack *before = callstack_at(from),
			      *off = callstack_at(thread_stack->off_callstack);
	u64 now;

	if (to->runner == thread_number)
		return;
	now = bpf_ktime_get_ns();
	if (before && before != to)
		callstack_left(before, thread_number, now);
	if (off && off != to)
		callstack_left(off, thread_number, now);
	callstack_back(to, thread_number, now);
}

/* Where an event takes place. */
struct place {
	struct wire_callstack *callstack;
	u32 number;
	u64 slot; /* as the call stack's frames have it */
};

/*
 * Defines NAME(now, tgid), which calls VISIT(number, now, tgid) for each call stack that was ever
 * used, until it returns something else than 0.
 */
#ifndef PROFTRACE_BASIC
struct callstacks_walk {
	u64 now;
	u32 tgid, pad;
};

#define EACH_CALLSTACK(NAME, VISIT)                                              \
	static long NAME##_one(u32 i, struct callstacks_walk *w)                 \
	{                                                                        \
		return i + 1 >= next_callstack || VISIT(i + 1, w->now, w->tgid); \
	}                                                                        \
	static __always_inline void NAME(u64 now, u32 tgid)                      \
	{                                                                        \
		struct callstacks_walk w = {.now = now, .tgid = tgid};           \
                                                                                 \
		LOOP(callstacks_cap, NAME##_one, &w);                            \
	}
#else
#define CALLSTACKS_STEP 256 /* squared: as many call stacks as there can be */

#define EACH_CALLSTACK(NAME, VISIT)                                                     \
	__noinline u32 NAME##_from(u32 first, u64 now, u32 tgid)                        \
	{                                                                               \
		LOOK_AT(now);                                                           \
		LOOK_AT(tgid);                                                          \
		for (u32 i = 0; i < CALLSTACKS_STEP; i++)                               \
			if (first + i >= next_callstack || VISIT(first + i, now, tgid)) \
				return 1;                                               \
		return 0;                                                               \
	}                                                                               \
	static __always_inline void NAME(u64 now, u32 tgid)                             \
	{                                                                               \
		for (u32 i = 0; i < CALLSTACKS_STEP; i++)                               \
			if (NAME##_from(i * CALLSTACKS_STEP + 1, now, tgid))            \
				break;                                                  \
	}
#endif

/* A call stack beside thread stacks ends with its process, or with that one's program; `unwind`: so
 * do the calls that are open on it. */
static __always_inline u32 callstack_sweep(u32 number, u64 now, u32 tgid, bool unwind)
{
	struct wire_callstack *callstack = callstack_at(number);

	if (!callstack)
		return 1;
	if (callstack->owner >> 32 != tgid || callstack->kind == WIRE_CALLSTACK_THREAD ||
	    callstack->kind == WIRE_CALLSTACK_SPANS || callstack->exit_ns)
		return 0;
	if (unwind && gate_is_open())
		unwind_all(number, now);
	callstack_ends(callstack, now);
	return 0;
}

__noinline u32 sweep_callstack(u32 number, u64 now, u32 tgid)
{
	return callstack_sweep(number, now, tgid, false);
}

__noinline u32 unwind_callstack(u32 number, u64 now, u32 tgid)
{
	return callstack_sweep(number, now, tgid, true);
}

EACH_CALLSTACK(sweep_callstacks, sweep_callstack)
EACH_CALLSTACK(unwind_callstacks, unwind_callstack)

#endif
