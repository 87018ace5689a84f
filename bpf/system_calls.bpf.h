/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls (--syscalls): each is a call of a function that stands for it, below what made it,
 * from the kernel's tracepoint at its begin to that at its end. So all that is known of calls is
 * known of it. One that fails has passed a mark below it, which stands for the error:
 * [openat] > [ENOENT].
 *
 * Its frame lies where that of a call would that was made in place of it: right below the stack
 * pointer. Nothing of the program runs until it ends, so it is the innermost one then; handlers of
 * signals run behind its end, and what is interrupted is begun anew: another call. Those that never
 * end stay open (exit), or are unwound with all else (execve).
 *
 * From Linux 7.0 on programs at tracepoints may be preempted, and a thread that is preempted amid
 * one keeps it from all others on its CPU until it goes on: for a whole time slice the kernel skips
 * it for each system call that they make. So there the work is done by kprobes, on the functions
 * that the tracepoints are in: these run with preemption off. The tracepoints still have programs,
 * as the kernel calls the functions only then.
 */
#ifndef PROFTRACE_SYSTEM_CALLS_BPF_H
#define PROFTRACE_SYSTEM_CALLS_BPF_H

#include "file_names.bpf.h"
#include "life.bpf.h"
#include "system_call_frames.bpf.h"
#include "trace.bpf.h"

/* Kprobes do the work of the programs at the tracepoints. Set before either is attached. */
bool system_calls_probed = false;

/* The thread stack of the current thread, if it is traced; made if `create`. */
static __always_inline struct wire_callstack *traced_thread_stack(const struct task_struct *task,
								  bool create, u32 *number)
{
	u64 pid_tgid = thread_now(task);
	u32 at = pid_tgid % WIRE_THREAD_CACHE,
	    *cached = bpf_map_lookup_elem(&thread_stack_cache, &at);
	struct wire_callstack *thread_stack = cached ? callstack_at(*cached) : 0;

	if (cached && thread_stack && thread_stack->pid_tgid == pid_tgid &&
	    !thread_stack->exit_ns) {
		*number = *cached;
		return thread_stack;
	}
	/* Most threads of the machine are none of ours, and no strangers at probes. */
	if (!is_target(process_now(task)))
		return 0;
	return thread_stack_current(task, create, number);
}

/* The current thread begins the system call of that number. */
static __always_inline void system_call_begins(struct pt_regs *regs, u64 number)
{
	const struct task_struct *task = current_task();
	u32 entry = WIRE_FRAME_REGION | WIRE_COST_SYSTEM_CALL
						<< (WIRE_COOKIE_COST - WIRE_COOKIE_FLAGS);
	struct hit hit = {.ctx = regs};
	struct wire_callstack *thread_stack;
	struct beginning call;
	struct place at;
	u32 thread;

	if (!gate_is_open() || number >= WIRE_CALLS || is_call_of_probe(number))
		return;
	thread_stack = traced_thread_stack(task, true, &thread);
	if (!thread_stack)
		return;
	asm volatile("" : "+r"(entry)); /* or it is a constant, with addresses all over the place */
	hit.slot = stack_pointer(regs) - RETURN_MOVES;
	if (!place_of(&at, task, thread_stack, thread, hit.slot, may_begin(0)))
		return;
	call = (struct beginning){&hit, system_calls_first + number, entry, 1, 0, 0};
	frame_enter(&at, &call);
	callstack_unlock(at.callstack);
}

/* The number of an error among the functions that stand for them; 0: any other. */
static __always_inline u32 error_number(s64 result)
{
	u64 error = -result;

	if (error < WIRE_ERRORS_KERNEL)
		return error;
	error -= WIRE_ERROR_RESTART;
	return error < WIRE_ERRORS - WIRE_ERRORS_KERNEL ? WIRE_ERRORS_KERNEL + error : 0;
}

/* A mark below the innermost frame is passed: as a call that takes no time, without a frame. */
static __always_inline void mark_count(struct place *at, struct wire_frame *top, u32 function)
{
	struct wire_node *n;
	bool anew = false;
	u32 node;

	if (top->level >= max_level)
		return;
	n = path_below(at->number, top->node, function, &node, &anew);
	if (!n)
		return;
	n->calls++;
	n->min_ns = n->max_ns = 1;
	at->callstack->entered++;
	at->callstack->returned++;
	dist_add(function, 0, 1);
}

/* The call that is open on top of the place's call stack passes a mark. */
static __always_inline void system_call_marks(struct place *at, struct pt_regs *regs,
					      struct wire_frame *top, u32 number)
{
	const struct hit hit = {.ctx = regs, .slot = at->slot};
	struct beginning mark = {&hit, system_calls_first + number, WIRE_FRAME_REGION, 1, 0, 0};
	struct wire_frame *f;

	if (!keep_calls) {
		mark_count(at, top, mark.function);
		return;
	}
	if (!frame_push(at, &mark, top))
		return;
	f = frame_at(at->callstack->top);
	if (f)
		frame_returned(at->callstack, f, f->entered_ns, WIRE_COST_NONE);
}

/* A system call of the current thread ends. Its stack pointer may be another one by now, as behind
 * a handler of a signal, so the call stack is the one where it has begun. */
static __always_inline void system_call_ends(struct pt_regs *regs, s64 result)
{
	const struct task_struct *task = current_task();
	struct wire_callstack *thread_stack;
	struct wire_frame *top;
	struct place at;
	u32 thread, name;
	u64 now;

	if (!gate_is_open())
		return;
	thread_stack = traced_thread_stack(task, false, &thread);
	if (!thread_stack)
		return;
	now = bpf_ktime_get_ns();
	at.number = thread_stack->current;
	at.callstack = at.number == thread ? thread_stack : callstack_at(at.number);
	if (!at.callstack ||
	    (at.callstack->kind != WIRE_CALLSTACK_THREAD && !callstack_lock(at.callstack)))
		return;
	top = frame_at(at.callstack->top);
	if (top && at.callstack->owner >> 32 == process_now(task) && is_system_call(top)) {
		at.slot = top->slot;
		name = call_file_name(task, top->function - system_calls_first, regs, result);
		if (name) {
			system_call_marks(&at, regs, top, WIRE_CALLS + WIRE_ERRORS - 1 + name);
			top = frame_at(at.callstack->top);
		}
		if (top && is_system_call(top) && result < 0 && result >= -(s64)WIRE_ERROR_MOST &&
		    top->function != system_calls_first + NR_SIGRETURN) {
			system_call_marks(&at, regs, top, WIRE_CALLS + error_number(result));
			top = frame_at(at.callstack->top);
		}
		if (top && is_system_call(top))
			frame_returned(at.callstack, top, now, WIRE_COST_NONE);
	}
	callstack_unlock(at.callstack);
}

#ifndef PROFTRACE_BASIC

static __always_inline struct pt_regs *user_registers(void)
{
	return (struct pt_regs *)bpf_task_pt_regs(current_task());
}

static __always_inline void probed_call_begins(void)
{
	struct pt_regs *regs = user_registers();

	system_call_begins(regs, system_call_number(regs));
}

static __always_inline void probed_call_ends(s64 result)
{
	system_call_ends(user_registers(), result);
}

#else

#define probed_call_begins()
#define probed_call_ends(RESULT) ((void)(RESULT))

#endif
#endif
