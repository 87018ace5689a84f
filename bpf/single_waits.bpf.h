/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single waits (--calls): why a thread left the CPU, on which path, for how long, and who has woken
 * it from where. Nothing is unwound: paths are those of open calls. A thread's wait is noted in its
 * entry of `sleepers`, by a hash of its tid, and goes into a ring of its CPU when it goes on.
 *
 * Interrupts are off at a switch, so a CPU's ring has one writer at a time; CPUs that share one
 * take places by an atomic addition.
 */
#ifndef PROFTRACE_SINGLE_WAITS_BPF_H
#define PROFTRACE_SINGLE_WAITS_BPF_H

#include "ready_files.bpf.h"
#include "waits.bpf.h"

const volatile u32 ring_cap = 0;   /* places of a ring, a power of two; 0: none are kept */
const volatile u32 rings_mask = 0; /* rings, a power of two, less 1 */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wire_sleeper);
} sleepers SEC(".maps");

/* CLOCK_MONOTONIC: waits are kept that have begun since; ~0: none are, and switches cost nothing.
 * Set by user space. */
u64 single_waits_from = 1;

struct wire_ring_counts ring_counts[WIRE_CPUS] WRITTEN __attribute__((aligned(64))) = {};

#ifndef PROFTRACE_BASIC

static __always_inline struct wire_ring_counts *ring_here(void)
{
	return &ring_counts[bpf_get_smp_processor_id() & rings_mask & (WIRE_CPUS - 1)];
}

static __always_inline struct wire_sleeper *sleeper_of(const struct task_struct *task)
{
	u32 at = (u32)FIELD(task, pid) * 0x9e3779b1u >> 17;

	return bpf_map_lookup_elem(&sleepers, &at);
}

/* The current thread leaves the CPU. */
static __always_inline void single_wait_begins(const struct task_struct *task, bool preempted,
					       u64 now)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs((struct task_struct *)task);
	u32 state = *(volatile u32 *)&task->__state, call = WIRE_WAIT_PREEMPTED;
	struct wire_sleeper *sleeper = sleeper_of(task);
	struct wire_single_wait *w;
	struct open_call open = {};

	if (!sleeper)
		return;
	w = &sleeper->wait;
	/* Its end was not seen, or it is another thread's with the same hash. */
	if (w->since_ns && w->since_ns >= single_waits_from)
		__sync_fetch_and_add(&ring_here()->lost, 1);
	*(volatile u64 *)&w->since_ns = 0;
	*(volatile u64 *)&sleeper->woken_ns = 0; /* before it has slept */
	*(volatile u64 *)&w->waker.pid_tgid = 0;
	if ((state & TASK_DEAD_STATE) || !has_memory(task))
		return;
	if (!preempted && state)
		call = sample_call(regs);
	sample_place(&w->at, &open, stack_pointer(regs));
	bpf_get_current_comm(w->at.comm, sizeof(w->at.comm));
	w->call = call;
	w->reason = wait_reason(task, state, call, regs, &w->object);
	w->kind = w->object ? futex_kind(call, regs) : WIRE_OBJECT_NONE;
	w->file = 0;
	if (call < WIRE_CALLS && call_files[call] == WIRE_CALL_OF_FILE)
		wait_object(w, (u64)descriptor_file(first_argument(regs)), first_argument(regs));
	polled_note(sleeper, call, regs);
	asm volatile("" : : : "memory");
	*(volatile u64 *)&w->since_ns = now;
	if (state & WAKING_STATE) /* already, on another CPU */
		sleeper->woken_ns = w->since_ns;
}

/* Puts a wait that has ended into the ring. */
static __always_inline void single_wait_keep(const struct wire_single_wait *w, u64 took_ns,
					     u64 ready_ns)
{
	struct wire_ring_counts *ring = ring_here();
	struct wire_single_wait *to;
	u64 place;
	u32 at;

	if (ring->taken - *(volatile u64 *)&ring->read >= ring_cap) {
		__sync_fetch_and_add(&ring->lost, 1);
		return;
	}
	place = __sync_fetch_and_add(&ring->taken, 1);
	at = (bpf_get_smp_processor_id() & rings_mask) * ring_cap + (place & (ring_cap - 1));
	to = bpf_map_lookup_elem(&single_waits, &at);
	if (!to)
		return;
	bpf_probe_read_kernel((u64 *)to + 1, sizeof(*to) - sizeof(u64), (const u64 *)w + 1);
	to->took_ns = took_ns;
	to->ready_ns = ready_ns;
	asm volatile("" : : : "memory");
	*(volatile u64 *)&to->turn = place / ring_cap + 1;
}

/* A thread goes on. */
static __always_inline void single_wait_ends(const struct task_struct *task, u64 now)
{
	u64 pid_tgid = thread_of(task), since, woken;
	struct wire_sleeper *sleeper = sleeper_of(task);
	struct wire_ring_counts *ring;

	if (!sleeper || !sleeper->wait.since_ns || sleeper->wait.at.pid_tgid != pid_tgid)
		return;
	since = sleeper->wait.since_ns;
	woken = sleeper->woken_ns;
	if (now < since)
		now = since;
	if (sleeper->wait.call == WIRE_WAIT_PREEMPTED || (woken && woken < since))
		woken = since;
	if (since < single_waits_from) {
		;			/* it is not wanted */
	} else if (since < opened_ns) { /* what was in between nobody has seen */
		__sync_fetch_and_add(&ring_here()->lost, 1);
	} else if (now - since < WIRE_WAIT_LEAST_NS) {
		ring = ring_here();
		__sync_fetch_and_add(&ring->short_cnt, 1);
		__sync_fetch_and_add(&ring->short_ns, now - since);
	} else {
		if (sleeper->polled_cnt)
			wait_was_for(sleeper, task);
		single_wait_keep(&sleeper->wait, now - since,
				 woken && woken < now ? now - woken : 0);
	}
	*(volatile u64 *)&sleeper->wait.since_ns = 0;
}

/* A thread that waits is woken, by the current one or an interrupt upon it. */
static __always_inline void single_wait_woken(const struct task_struct *task)
{
	u64 pid_tgid = thread_of(task);
	struct wire_sleeper *sleeper = sleeper_of(task);
	const struct task_struct *waker = current_task();
	const struct pt_regs *regs;
	struct open_call open = {};
	u32 call;

	if (!~single_waits_from || !sleeper || sleeper->wait.at.pid_tgid != pid_tgid)
		return;
	sleeper->woken_ns = bpf_ktime_get_ns();
	if (!current_is_target(waker) || !has_memory(waker))
		return;
	regs = (void *)bpf_task_pt_regs((struct task_struct *)waker);
	call = sample_call(regs);
	if (call >= WIRE_CALLS || !may_wake(sleeper->wait.reason, sleeper->wait.object, call))
		return;
	sample_place(&sleeper->wait.waker, &open, stack_pointer(regs));
	bpf_get_current_comm(sleeper->wait.waker.comm, sizeof(sleeper->wait.waker.comm));
}

/* A thread of the target leaves the CPU, and one goes on: of waits on paths, and of single ones. */
static __always_inline void waits_begin(const struct task_struct *task, bool preempted, u64 now)
{
	if (task->flags & KERNEL_THREAD)
		return;
	if (waits_cap)
		wait_begins(task, preempted, now);
	if (ring_cap && ~single_waits_from)
		single_wait_begins(task, preempted, now);
}

static __always_inline void waits_end(const struct task_struct *task, u64 now)
{
	if (waits_cap)
		wait_ends(task, now);
	if (ring_cap && ~single_waits_from)
		single_wait_ends(task, now);
}

#else

#define waits_begin(...)
#define waits_end(...)
#define single_wait_woken(...)

#endif
#endif
