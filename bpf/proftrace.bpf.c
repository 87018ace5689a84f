// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The programs: one stub for each kind of probe and attach backend. A stub finds the stack slot and
 * the cookie and calls enter() or leave(). Which stubs are loaded is user/tracing/attach's choice.
 */
#include "cookie.bpf.h"
#include "kernel_names.bpf.h"
#include "life.bpf.h"
#include "own_stack.bpf.h"
#include "regions.bpf.h"
#include "return_lists.bpf.h"
#include "samples.bpf.h"
#include "sched.bpf.h"
#include "single_waits.bpf.h"
#include "spans.bpf.h"
#include "survey.bpf.h"
#include "switch.bpf.h"
#include "system_calls.bpf.h"
#include "waits.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Of the kernel, from 6.13 on; before 7.0 it looked at no argument. */
static u64 *(*const session_cookie)(void *ctx) = (void *)WIRE_CALL_SESSION_COOKIE;

static __always_inline u64 entry_slot(struct pt_regs *ctx, u64 cookie)
{
	return stack_pointer(ctx) + ((cookie >> WIRE_COOKIE_DELTA) & 0xffff);
}

/* Behind a return. */
static __always_inline u64 return_slot(struct pt_regs *ctx)
{
	return stack_pointer(ctx) - RETURN_MOVES;
}

/* Whether the branch that the probe sits on is taken. */
static __always_inline bool branch_taken(struct pt_regs *ctx, u64 cookie)
{
	return condition_holds(ctx, (cookie >> WIRE_COOKIE_COND) & 0xf);
}

/* Programs may write registers (7.0). */
const volatile bool emulates_entries = false;

/* Not inlined: the verifier looks at all registers each time that it comes here. */
static __noinline u32 entry_emulate(struct pt_regs *ctx, u32 function)
{
	const struct wire_emulation *e = bpf_map_lookup_elem(&emulations, &function);

	if (e)
		instruction_emulate(ctx, e);
	return 0;
}

/* The last thing that a program does at an entry site: the registers are another moment's then. */
static __always_inline void entry_finish(struct pt_regs *ctx, u64 cookie)
{
	u32 class = (cookie >> WIRE_COOKIE_COST) & WIRE_COST_MASK;

	if (emulates_entries && class == WIRE_COST_ENTRY_EMUL)
		entry_emulate(ctx, cookie & WIRE_COOKIE_FUNCTION);
}

/*
 * Session backend: entry and return of one function, in one program. What the entry stores in the
 * call's session cookie, zero until then, its return finds again: call stack and function, so that
 * it has nothing to look up (SESSION_CALLSTACK). A nonzero result at the entry spares the target
 * the return probe.
 */
OWN_STACK(session);
SEC("uprobe")
int session(struct pt_regs *ctx)
{
	u64 *call = session_cookie(ctx), cookie;
	const struct task_struct *task;
	struct place at;
	bool spared;

	KEEP_OWN_STACK(session, ctx);
	if (*call) {
		leave_callstack(ctx, *call, return_slot(ctx), bpf_ktime_get_ns());
		return 0;
	}
	cookie = probe_cookie(ctx);
	task = current_task();
	if (!enter(&at, ctx, task, entry_slot(ctx, cookie), cookie)) {
		*call = cookie & WIRE_COOKIE_FUNCTION;
		entry_finish(ctx, cookie);
		return 1;
	}
	*call = session_word(&at, cookie & WIRE_COOKIE_FUNCTION);
	spared = !returns_are_safe() || !returns_in_order(at.callstack) ||
		 system_calls_are_diverted(task) || return_is_shared(task);
	entry_finish(ctx, cookie);
	return spared;
}

OWN_STACK(function_entry);
SEC("uprobe")
int function_entry(struct pt_regs *ctx)
{
	u64 cookie = probe_cookie(ctx);
	u32 entry = cookie >> WIRE_COOKIE_FLAGS;
	struct place at;

	KEEP_OWN_STACK(function_entry, ctx);
	if ((entry & WIRE_ENTRY_UNLESS) && !WIRE_CLOSES(entry) && branch_taken(ctx, cookie))
		return 0;
	enter(&at, ctx, current_task(), entry_slot(ctx, cookie), cookie);
	entry_finish(ctx, cookie);
	return 0;
}

OWN_STACK(function_return);
SEC("uprobe")
int function_return(struct pt_regs *ctx)
{
	struct leaving l = {.exit = WIRE_COST_RETURN, .now = bpf_ktime_get_ns()};

	KEEP_OWN_STACK(function_return, ctx);
	l.function = probe_cookie(ctx) & WIRE_COOKIE_FUNCTION;
	leave(ctx, return_slot(ctx), &l);
	return 0;
}

static __always_inline u64 exit_slot(struct pt_regs *ctx, u64 cookie)
{
	u64 sp = stack_pointer(ctx), bp = frame_pointer(ctx);

	/* Both are read: the verifier wants to know which, and a choice would be one of offsets. */
	asm volatile("" : "+r"(sp), "+r"(bp));
	if ((cookie >> WIRE_COOKIE_FLAGS) & WIRE_EXIT_BY_FP)
		sp = bp;
	return sp + ((cookie >> WIRE_COOKIE_DELTA) & 0xffff);
}

/* Exit site: a ret, or a jump out of the function, where the stack pointer is back at the slot; or
 * what lies a few instructions before a ret. */
OWN_STACK(exit_site);
SEC("uprobe")
int exit_site(struct pt_regs *ctx)
{
	u64 now = bpf_ktime_get_ns(), cookie = probe_cookie(ctx);
	u32 kind = (cookie >> WIRE_COOKIE_EXIT) & 0xf;
	u64 slot = exit_slot(ctx, cookie);
	const struct leaving l = {
		.function = cookie & WIRE_COOKIE_FUNCTION,
		.exit = cookie >> WIRE_COOKIE_COST,
		.jumps = keep_whole && ((cookie >> WIRE_COOKIE_FLAGS) & WIRE_EXIT_GOES_ON),
		.now = now,
	};

	KEEP_OWN_STACK(exit_site, ctx);
	exit_hit(kind == WIRE_EXIT_RET ? ctx : NULL, slot, &l,
		 kind == WIRE_EXIT_JCC && !branch_taken(ctx, cookie));
	return 0;
}

/* Exit site: a `ret`, where programs may write registers (7.0). The kernel would step it. */
OWN_STACK(exit_ret);
SEC("?uprobe")
int exit_ret(struct pt_regs *ctx)
{
	u64 now = bpf_ktime_get_ns(), cookie = probe_cookie(ctx);
	u32 page_offset = (cookie >> WIRE_COOKIE_DELTA) & WIRE_PAGE_MASK;
	bool emulate = (cookie >> WIRE_COOKIE_FLAGS) & WIRE_EXIT_EMULATED;
	const struct leaving l = {.function = cookie & WIRE_COOKIE_FUNCTION,
				  .exit = cookie >> WIRE_COOKIE_COST,
				  .now = now};
	struct return_hit hit;

	KEEP_OWN_STACK(exit_ret, ctx);
	return_look(ctx, page_offset, emulate, &hit);
	leave(ctx, hit.slot, &l);
	return_emulate(ctx, &hit);
	return 0;
}

/* A region begins, or a mark is passed. */
OWN_STACK(region_begin);
SEC("uprobe")
int region_begin(struct pt_regs *ctx)
{
	u64 cookie = probe_cookie(ctx);

	KEEP_OWN_STACK(region_begin, ctx);
	if ((cookie >> WIRE_COOKIE_FLAGS) & WIRE_REGION_ORDERED)
		span_begin(ctx, cookie);
	else
		region_enter(ctx, cookie);
	return 0;
}

OWN_STACK(region_end);
SEC("uprobe")
int region_end(struct pt_regs *ctx)
{
	u64 now = bpf_ktime_get_ns(), cookie = probe_cookie(ctx);

	KEEP_OWN_STACK(region_end, ctx);
	if ((cookie >> WIRE_COOKIE_FLAGS) & WIRE_REGION_ORDERED)
		span_end(ctx, cookie, now);
	else
		region_leave(ctx, cookie, now);
	return 0;
}

/* The survey's, at entries of functions and begins of regions. */
OWN_STACK(survey);
SEC("?uprobe")
int survey(struct pt_regs *ctx)
{
	u64 cookie = probe_cookie(ctx);

	KEEP_OWN_STACK(survey, ctx);
	survey_count(cookie);
	entry_finish(ctx, cookie);
	return 0;
}

/* A line of source begins, or goes on behind another one's code. */
OWN_STACK(line_site);
SEC("uprobe")
int line_site(struct pt_regs *ctx)
{
	KEEP_OWN_STACK(line_site, ctx);
	line_hit(stack_pointer(ctx), probe_cookie(ctx));
	return 0;
}

/* Attached to a function of our own: whether the kernel's trace events are as we know them. */
u64 trial_cookie = 0;

OWN_STACK(cookie_trial);
SEC("?uprobe")
int cookie_trial(struct pt_regs *ctx)
{
	KEEP_OWN_STACK(cookie_trial, ctx);
	trial_cookie = probe_cookie(ctx);
	return 0;
}

/* The dynamic linker's notification function; the cookie is its distance to its `_r_debug`. */
OWN_STACK(link_map);
SEC(SLEEPING_PROBE)
int link_map(struct pt_regs *ctx)
{
	u64 distance = probe_cookie(ctx);

	if (!CAN_SLEEP)
		KEEP_OWN_STACK(link_map, ctx);
	on_mapped(distance ? (void *)(instruction_pointer(ctx) + distance) : NULL,
		  (void *)stack_pointer(ctx));
	return 0;
}

/* A coroutine gets its stack: makecontext(ucp, ...), whose ucontext_t has the stack's address,
 * flags and size at offset 16; or make_fcontext(top of the stack, size, function) of boost.context,
 * and its likes. */
OWN_STACK(on_stack_maker);
SEC("uprobe")
int on_stack_maker(struct pt_regs *ctx)
{
	u64 lo = first_argument(ctx) - second_argument(ctx), hi = first_argument(ctx), stack[3];

	KEEP_OWN_STACK(on_stack_maker, ctx);
	if (probe_cookie(ctx) == WIRE_MAKECONTEXT) {
		on_context_made();
		if (bpf_probe_read_user(stack, sizeof(stack), (void *)(first_argument(ctx) + 16)))
			return 0;
		lo = stack[0];
		hi = stack[0] + stack[2];
	}
	stack_made(lo, hi);
	return 0;
}

/* A CPU goes from one thread to another: (preempted, previous task, next task). */
OWN_STACK(on_switch);
SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	bool leaves, goes_on; /* a thread of the target */

	KEEP_OWN_STACK(on_switch, ctx);
	leaves = target_leaves((void *)ctx[1]);
	goes_on = is_target(process_of((void *)ctx[2]));
	if (filter_tgids && !leaves && !goes_on)
		return 0; /* most switches of a busy machine */
	cpu_clock_turns((void *)ctx[1], (void *)ctx[2], goes_on);
	if (!gate_is_open())
		return 0;
	if (leaves || !filter_tgids)
		cpu_is_left((void *)ctx[1], is_falling_asleep((void *)ctx[1], ctx[0]),
			    cpu_clock_turned());
	if (leaves)
		waits_begin((void *)ctx[1], ctx[0], cpu_clock_turned());
	/* Asked anew, as the stack has no room to keep the answer meanwhile. */
	goes_on = target_comes((void *)ctx[2]);
	if (goes_on || !filter_tgids)
		cpu_is_taken((void *)ctx[2], cpu_clock_turned());
	if (goes_on)
		waits_end((void *)ctx[2], cpu_clock_turned());
	return 0;
}

/* A thread begins a system call: (registers, number). */
OWN_STACK(on_call_begin);
SEC("?tp_btf/sys_enter")
int on_call_begin(u64 *ctx)
{
	KEEP_OWN_STACK(on_call_begin, ctx);
	if (!system_calls_probed)
		system_call_begins((void *)ctx[0], ctx[1]);
	return 0;
}

/* A system call ends: (registers, result). */
OWN_STACK(on_call_end);
SEC("?tp_btf/sys_exit")
int on_call_end(u64 *ctx)
{
	KEEP_OWN_STACK(on_call_end, ctx);
	if (!system_calls_probed)
		system_call_ends((void *)ctx[0], ctx[1]);
	return 0;
}

/* As on_call_begin(), at the function of the kernel that the tracepoint is in. */
OWN_STACK(call_begin_probe);
SEC("?kprobe/trace_syscall_enter")
int call_begin_probe(struct pt_regs *ctx)
{
	KEEP_OWN_STACK(call_begin_probe, ctx);
	probed_call_begins();
	return 0;
}

/* As on_call_end(): (registers, result). */
OWN_STACK(call_end_probe);
SEC("?kprobe/trace_syscall_exit")
int call_end_probe(struct pt_regs *ctx)
{
	KEEP_OWN_STACK(call_end_probe, ctx);
	probed_call_ends(second_argument(ctx));
	return 0;
}

/* Somebody wakes a thread. */
OWN_STACK(on_waking);
SEC("?tp_btf/sched_waking")
int on_waking(u64 *ctx)
{
	KEEP_OWN_STACK(on_waking, ctx);
	if (!gate_is_open())
		return 0;
	if (waits_cap)
		wait_woken((void *)ctx[0]);
	if (ring_cap)
		single_wait_woken((void *)ctx[0]);
	return 0;
}

/* The clock of a CPU has run out. */
OWN_STACK(on_sample);
SEC("?perf_event")
int on_sample(void *ctx)
{
	KEEP_OWN_STACK(on_sample, ctx);
	sample_take(ctx);
	return samples_bare;
}

/* Attached to nothing: user space runs it. */
OWN_STACK(close_open);
SEC("raw_tp")
int close_open(void *ctx)
{
	KEEP_OWN_STACK(close_open, ctx);
	close_all();
	return 0;
}

/* Attached to nothing: user space runs it on a CPU where the target runs. */
OWN_STACK(catch_up_clock);
SEC("?raw_tp")
int catch_up_clock(void *ctx)
{
	KEEP_OWN_STACK(catch_up_clock, ctx);
	cpu_clock_catches_up(current_task());
	return 0;
}

/* Attached to nothing: user space runs it, with an address as its argument. */
OWN_STACK(name_kernel);
SEC("?raw_tp")
int name_kernel(struct bpf_raw_tracepoint_args *ctx)
{
	u64 address = ctx->args[0];

	KEEP_OWN_STACK(name_kernel, ctx);
	return kernel_name_say(address) < 0;
}

OWN_STACK(on_thread_exit);
SEC("raw_tp/sched_process_exit")
int on_thread_exit(void *ctx)
{
	struct task_struct *task = current_task();
	bool last = !FAR_FIELD(FAR_FIELD(task, signal), live.counter), traced;
	u32 number;

	KEEP_OWN_STACK(on_thread_exit, ctx);
	traced = !filter_tgids
			 ? ending_is_known(last)
			 : last && (thread_stack_of(task, &number) || is_target(process_now(task)));
	if (traced)
		note_cpu_time();
	thread_exit(last);
	if (last)
		on_process_end(current_process(), traced);
	return 0;
}

/* A program begins: (task, old_pid, bprm). */
static __always_inline void program_begins(const struct bpf_raw_tracepoint_args *ctx)
{
	u64 pid_tgid = bpf_get_current_pid_tgid(); /* as the kernel has it, like old_pid */
	u32 old_pid = ctx->args[1];
	bool by_thread = old_pid != (u32)pid_tgid;

	/* Nothing tells its old number in a namespace: what it had open ends with the process. */
	if (by_thread && !pid_ns)
		thread_becomes_leader((pid_tgid >> 32 << 32) | old_pid);
	thread_exec();
	on_new_program(by_thread);
}

OWN_STACK(on_exec);
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	KEEP_OWN_STACK(on_exec, ctx);
	exec_note();
	program_begins(ctx);
	return 0;
}

/* Behind on_exec(), if the kernel has skipped that, as another thread is preempted amid it. */
OWN_STACK(on_exec_skipped);
SEC("raw_tp/sched_process_exec")
int on_exec_skipped(struct bpf_raw_tracepoint_args *ctx)
{
	KEEP_OWN_STACK(on_exec_skipped, ctx);
	if (!exec_was_noted())
		program_begins(ctx);
	return 0;
}

/* The current thread has made another one, or a process, which is about to run: (its first thread).
 * Not at sched_process_fork, a moment before: interrupts are off here, so the program is not
 * preempted, and the kernel skips it for nobody (see system_calls.bpf.h). */
OWN_STACK(on_fork);
SEC("raw_tp/sched_wakeup_new")
int on_fork(struct bpf_raw_tracepoint_args *ctx)
{
	KEEP_OWN_STACK(on_fork, ctx);
	on_new_process((void *)bpf_get_current_task(), (void *)ctx->args[0]);
	return 0;
}
