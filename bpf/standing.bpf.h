/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which call stack a thread is, by its registers, and which of the frames there are still there:
 * for samples and waits, which may be anywhere, and only look.
 */
#ifndef PROFTRACE_STANDING_BPF_H
#define PROFTRACE_STANDING_BPF_H

#include "sched.bpf.h"
#include "system_call_frames.bpf.h"

#ifndef PROFTRACE_BASIC

#define STALE_FRAMES 1024 /* whose leave nobody has seen, on top of a call stack */

/* A search for the innermost frame that is still there. */
struct live_search {
	u64 sp; /* as slots on the call stack are */
	u32 frame;
	u32 pad;
};

static long live_step(__attribute__((unused)) u32 i, struct live_search *q)
{
	const struct wire_frame *f = frame_at(q->frame);

	if (!f || (f->slot >= q->sp && !burst_end(f)) ||
	    (is_system_call(f) && f->slot + RETURN_MOVES == q->sp))
		return 1;
	q->frame = f->up;
	return 0;
}

/* The innermost frame of a call stack that is still there at `sp`, which counts as slots do there.
 * Returns its number, or the sentinel's; 0: not known. */
__noinline u32 live_frame(u32 number, u64 sp)
{
	const struct wire_callstack *callstack = number ? callstack_at(number) : 0;
	struct live_search q = {.sp = sp};
	const struct wire_node_rest *rest;
	const struct wire_frame *f;

	if (!callstack)
		return 0;
	q.frame = *(volatile u32 *)&callstack->top;
	bpf_loop(STALE_FRAMES, live_step, &q, 0);
	f = frame_at(q.frame);
	rest = f ? node_rest_at(f->node) : 0;
	return rest && rest->callstack == number ? q.frame : 0;
}

/* The place where the current thread is: a call stack, and where on it. */
struct standing {
	u64 sp;	       /* its stack pointer on the stack of that call stack */
	u64 origin;    /* from which the slots there count */
	u64 lo;	       /* the lower end of that stack, if it is a goroutine's */
	u64 top;       /* the end of the thread's system stack, if it is on that; else 0 */
	u64 goid;      /* as in struct wire_spot */
	u64 own_hi;    /* as `origin`, of `own` */
	u32 callstack; /* 0: none that is known */
	u32 own;       /* that of its system stack, if it is there; 0: none is known */
	bool across;   /* it is on another stack, from where rbp leads there */
	bool stays;    /* rbp leads to the stack of a goroutine that it has put off */
	u16 pad;
	u32 pad2;
};

static __always_inline void stands_at(struct standing *at, const struct go_descriptor *d, u64 owner,
				      u64 sp)
{
	at->sp = sp;
	at->origin = d->hi;
	at->lo = d->lo;
	at->goid = d->goid;
	at->callstack = go_callstack(d, owner);
}

/*
 * Finds the goroutine for which a thread works on its system stack, which has the descriptor `g0`
 * and ends at `hi`: that of the caller of runtime.systemstack(). There is none once runtime.mcall()
 * has put the goroutine off the thread, but rbp still leads to its stack.
 */
static __always_inline void go_works_for(struct standing *at, u64 owner, u64 g0, u64 hi)
{
	struct go_descriptor d = {};
	u64 m, word, sp;

	if (!go_word(&m, g0 + GO_G_M) || !go_word(&word, m + GO_M_G0) || word != g0)
		return; /* the signal stack's */
	at->top = hi;
	if (!go_word(&word, m + go_curg_offset) || !go_describe(&d, word) || !d.goid ||
	    !go_word(&word, d.g + GO_G_M) || word != m || !go_word(&sp, d.g + GO_G_SP) ||
	    !within(sp, d.lo, d.hi)) {
		at->stays = true;
		return;
	}
	at->across = true;
	stands_at(at, &d, owner, sp);
}

/* Whether the thread of a goroutine has gone to its system stack for a call of the vdso; notes that
 * one's end. */
static __always_inline bool go_in_vdso(struct standing *at, const struct go_descriptor *d, u64 sp)
{
	struct go_descriptor system = {};
	u64 m, g0;

	if (!d->goid || !go_word(&m, d->g + GO_G_M) || !go_word(&g0, m + GO_M_G0) ||
	    !go_describe(&system, g0) || !within(sp, system.lo, system.hi))
		return false;
	at->top = system.hi;
	return true;
}

/*
 * Finds where a thread of a Go program is: on a goroutine's stack; or on its own system stack, in a
 * call that is open there, else on behalf of a goroutine, else for no one (the scheduler); or in a
 * signal's handler. Returns whether it is such a thread. Global, as sample_place().
 */
__noinline u32 go_stands(struct standing *at, u64 owner)
{
	struct task_struct *task = current_task();
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct go_descriptor d = {};
	u64 g, sp = stack_pointer(regs);

	if (!at || !go_word(&g, thread_pointer(task) + go_tls_offset) || !go_describe(&d, g))
		return false;
	if (!within(sp, d.lo, d.hi)) {
		if (!go_in_vdso(at, &d, sp))
			return false;
		/* Where it has left the goroutine's stack is not known: unwinding tells. */
		at->across = true;
		stands_at(at, &d, owner, d.lo);
		return true;
	}
	if (d.goid) {
		stands_at(at, &d, owner, sp);
		return true;
	}
	if (go_curg_offset)
		go_works_for(at, owner, g, d.hi);
	at->own = go_callstack(&d, owner);
	at->own_hi = d.hi;
	return true;
}

/* Finds the call stack that a thread runs on which is not of a Go program. */
static __always_inline void thread_stands(struct standing *at)
{
	u32 number;

	if (thread_stack_of(current_task(), &number))
		at->callstack = callstack_running(number);
}

#endif
#endif
