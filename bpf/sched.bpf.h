/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On and off the CPU: while a thread does not run, no frame of it changes. So the time from one
 * switch to the next belongs to the path that is innermost, and calls themselves pay nothing.
 */
#ifndef PROFTRACE_SCHED_BPF_H
#define PROFTRACE_SCHED_BPF_H

#include "places.bpf.h"

#define NO_SIGNAL_STACK (~0ull) /* is no thread's */

#define STACK_MOST (1ull << 30) /* a process's first stack grows, but not farther */

/* CPU time of processes that have ended: nobody can ask for it any more. Of those that map a file
 * (without filter_tgids): whether they are in `cpu_of_others`, see ending_is_known(). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} cpu_of_ended SEC(".maps");

/* The sum of that, in ns, of processes that nobody has named: followed children that have ended, or
 * are followed no longer, and those that map a file. */
u64 cpu_of_others WRITTEN = 0;

/* Threads of a process that end side by side, at most, whose CPU time is added up. */
#define ENDING_MOST 64

/* A walk over the threads of a process that the kernel has not taken apart yet. */
struct ending_walk {
	u64 head, at; /* addresses of links of their list: its head, and the next one */
	u64 ns;	      /* CPU time of those before */
};

static long ending_step(__attribute__((unused)) u32 i, struct ending_walk *w)
{
	const struct task_struct *t =
		(void *)(w->at - bpf_core_field_offset(struct task_struct, thread_node));

	if (!w->at || w->at == w->head)
		return 1;
	w->ns += FAR_FIELD(t, se.sum_exec_runtime);
	w->at = (u64)FAR_FIELD(t, thread_node.next);
	return 0;
}

/* The CPU time of the current process, of which no thread runs on. Others may be ending as well, on
 * other CPUs: theirs is in the sum of those that have ended only a moment later. */
static __always_inline u64 current_cpu_ns(void)
{
	const struct signal_struct *process = FAR_FIELD(current_task(), signal);
	u64 ns = FAR_FIELD(process, sum_sched_runtime);
	struct ending_walk w = {
		.head = (u64)process + bpf_core_field_offset(process->thread_head),
		.at = (u64)FAR_FIELD(process, thread_head.next),
	};

	LOOP(ENDING_MOST, ending_step, &w);
	return ns + w.ns;
}

/* The current thread is the last of its process. */
static __always_inline void note_cpu_time(void)
{
	u32 tgid = current_process();
	u64 ns = current_cpu_ns();

	if (!filter_tgids)
		__sync_fetch_and_add(&cpu_of_others, ns);
	else
		bpf_map_update_elem(&cpu_of_ended, &tgid, &ns, BPF_ANY);
}

/* The number of the thread stack of a thread, which need not be the current one; 0: it has none.
 * Global, as callstack_running(), so that the verifier looks at it once and not on each way to it.
 */
__noinline u32 thread_stack_number(u64 pid_tgid)
{
	u32 at = pid_tgid % WIRE_THREAD_CACHE,
	    *number = bpf_map_lookup_elem(&thread_stack_cache, &at);
	const struct wire_callstack *thread_stack;

	/* A place that was never used: no thread with these low bits has been seen. */
	if (!(u32)pid_tgid || !number || !*number)
		return 0;
	thread_stack = callstack_at(*number);
	if (!thread_stack || thread_stack->pid_tgid != pid_tgid) {
		number = bpf_map_lookup_elem(&stack_of_tid, &pid_tgid);
		thread_stack = number ? callstack_at(*number) : 0;
	}
	return number && thread_stack && thread_stack->pid_tgid == pid_tgid &&
			       !thread_stack->exit_ns
		       ? *number
		       : 0;
}

/* The thread stack of a thread that need not be the current one, if it has one. */
static __always_inline struct wire_callstack *thread_stack_of(const struct task_struct *task,
							      u32 *found)
{
	*found = thread_stack_number(thread_of(task));
	return *found ? callstack_at(*found) : 0;
}

#define NOTED_DOWN 1ull /* or'ed to the time of a process's birth: its CPU time has been */

/*
 * A thread ends of a process that maps a file (without filter_tgids), `last`: no other is left.
 * A process that maps the file is traced once any of its threads has called something, and its last
 * thread may have called nothing: so each thread that has leaves a note as it ends. Returns whether
 * the process's CPU time is to be noted down, which is once: of threads that end side by side each
 * may be the last.
 */
__noinline u32 ending_is_known(u32 last)
{
	const struct task_struct *task = current_task();
	u64 born = FAR_FIELD(FAR_FIELD(task, group_leader), start_boottime) & ~NOTED_DOWN, *known;
	u32 tgid = current_process(), number;

	known = bpf_map_lookup_elem(&cpu_of_ended, &tgid);
	if ((!known || (*known & ~NOTED_DOWN) != born) && thread_stack_of(task, &number)) {
		bpf_map_update_elem(&cpu_of_ended, &tgid, &born, known ? BPF_ANY : BPF_NOEXIST);
		known = bpf_map_lookup_elem(&cpu_of_ended, &tgid);
	}
	return last && known && SWAP_IF(known, born, born | NOTED_DOWN);
}

/* The call stack of the goroutine that the current thread is on. 0: the runtime's own, or none that
 * is known; *is_go: it is a Go program's thread. */
static __always_inline u32 goroutine_running(const struct task_struct *task,
					     const struct wire_callstack *thread_stack, u64 sp,
					     bool *is_go)
{
	struct go_descriptor d;
	u64 g;

	*is_go = go_word(&g, thread_pointer(task) + go_tls_offset) && go_describe(&d, g) &&
		 d.lo <= sp && sp < d.hi;
	return *is_go && d.goid ? go_callstack(&d, thread_stack->owner) : 0;
}

/* Whether an address may be on a thread's own stack: where the kernel has grown it since the last
 * look, a process's first stack reaches farther down. */
static __always_inline bool thread_stack_holds(const struct task_struct *task,
					       const struct wire_callstack *thread_stack, u64 sp)
{
	u64 lo = thread_stack->lo;

	/* Its bounds are not known as long as no other stack than its own has been looked for. */
	if (lo >= thread_stack->hi)
		return !thread_stack->anchor;
	if (FIELD(task, pid) == FIELD(task, tgid))
		lo = thread_stack->hi > STACK_MOST ? thread_stack->hi - STACK_MOST : 0;
	return within(sp, lo, thread_stack->hi);
}

/*
 * The call stack that the current thread, which leaves the CPU, is on. What it was on at the last
 * event may be long gone: stacks are switched, and left by handlers of signals, without one. So the
 * stack pointer tells. 0: none that is known, so nobody waits.
 */
__noinline u32 callstack_running(u32 thread_number)
{
	const struct wire_callstack *thread_stack = callstack_at(thread_number), *current;
	const struct task_struct *task = current_task();
	bool is_go = false;
	u32 number;
	u64 sp;

	if (!thread_stack)
		return 0;
	current = callstack_at(thread_stack->current);
	if (!HAS_REGISTERS || !current)
		return thread_stack->current;
	sp = ((struct pt_regs *)bpf_task_pt_regs((struct task_struct *)task))->sp;
	if (go_traced) {
		number = goroutine_running(task, thread_stack, sp, &is_go);
		if (is_go)
			return number;
	}
	if (within(sp, current->lo, current->hi) && current->checked >= stacks_known)
		return thread_stack->current;
	if (within(sp, thread_stack->signal_lo, thread_stack->signal_hi))
		return thread_stack->signal;
	number = callstack_remembered(thread_number, thread_stack, sp);
	if (number)
		return number;
	return thread_stack->astray || thread_stack_holds(task, thread_stack, sp) ? thread_number
										  : 0;
}

/* The thread runs again: its wait is added to the innermost path of the call stack where it left
 * the CPU. */
static __always_inline void thread_stack_resumes(struct wire_callstack *thread_stack, u32 number,
						 u64 now)
{
	struct wire_callstack *callstack = callstack_at(thread_stack->off_callstack);
	u64 since = thread_stack->off_since;

	thread_stack->off_since = 0;
	if (since && now > since && thread_stack->off_callstack && callstack &&
	    callstack->runner == number && !callstack->exit_ns)
		callstack_waited(callstack, since, now);
}

/* Whether the thread is where the kernel single-steps, or sends it when a call returns. */
static __always_inline bool is_on_probes_page(const struct task_struct *task, u64 ip)
{
	const struct xol_area *area = FAR_FIELD(FAR_FIELD(task, mm), uprobes_state.xol_area);

	return bpf_core_field_exists(area->vaddr) && area &&
	       ip - FAR_FIELD(area, vaddr) <= WIRE_PAGE_MASK;
}

/*
 * The current thread begins to wait on that call stack, so calls whose return addresses lay below
 * its stack pointer have returned unseen: from functions without an exit site, say. They are closed
 * before the wait, or it would be theirs. No program is in the midst of changing frames then, as
 * those that do cannot sleep. But where a call has just returned to the kernel's page of probes,
 * its leave is yet to be seen.
 */
__noinline u32 close_gone(u32 thread_number, u32 number, u64 now)
{
	struct wire_callstack *callstack = callstack_at(number);
	const struct wire_frame *top = callstack ? frame_at(callstack->top) : 0;
	struct task_struct *task = current_task();
	const struct pt_regs *regs;
	u64 sp;

	if (!HAS_REGISTERS || !top || !top->level)
		return 0;
	regs = (void *)bpf_task_pt_regs(task);
	sp = stack_pointer(regs);
	if (top->slot >= sp || callstack->kind == WIRE_CALLSTACK_GOROUTINE ||
	    !within(sp, callstack->lo, callstack->hi) ||
	    is_on_probes_page(task, instruction_pointer(regs)))
		return 0;
	if (number == thread_number)
		return frames_close(number, sp, now, CLOSE_GONE);
	if (!callstack_lock(callstack))
		return 0;
	if (callstack_is_beside(callstack, current_process()))
		frames_close(number, sp, now, CLOSE_GONE);
	callstack_unlock(callstack);
	return 0;
}

/* Of include/linux/sched.h: TASK_INTERRUPTIBLE, TASK_UNINTERRUPTIBLE */
#define SLEEPS_STATE 3

/* Whether the current thread, which leaves the CPU, sleeps until something wakes it. */
static __always_inline bool is_falling_asleep(const struct task_struct *task, bool preempted)
{
	return HAS_REGISTERS && !preempted && *(volatile u32 *)&task->__state & SLEEPS_STATE;
}

/* The current thread leaves the CPU; `waits`: it falls asleep. */
static __always_inline void cpu_is_left(const struct task_struct *task, bool waits, u64 now)
{
	struct wire_callstack *thread_stack, *callstack, *before;
	u32 number;

	thread_stack = thread_stack_of(task, &number);
	if (!thread_stack)
		return;
	thread_stack->off_callstack = callstack_running(number);
	thread_stack->off_since = now;
	callstack = callstack_at(thread_stack->off_callstack);
	before = callstack_at(thread_stack->current);
	if (before && before != callstack) {
		callstack_left(before, number, now);
		thread_stack->sigstack = NO_SIGNAL_STACK; /* the next event is to look anew */
	}
	if (thread_stack->off_callstack && callstack)
		callstack_back(callstack, number, now);
	if (waits && thread_stack->off_callstack)
		close_gone(number, thread_stack->off_callstack, now);
}

/* A thread goes on. */
static __always_inline void cpu_is_taken(const struct task_struct *task, u64 now)
{
	struct wire_callstack *thread_stack;
	u32 number;

	thread_stack = thread_stack_of(task, &number);
	if (thread_stack && thread_stack->off_since)
		thread_stack_resumes(thread_stack, number, now);
}

#endif
