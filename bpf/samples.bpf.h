/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples: a clock on each CPU looks which thread runs there, and where. If it is one of the
 * target's, the place is the path of the innermost call that is open on its call stack, below that
 * the functions without probes, which are unwound, and the kernel's below these.
 *
 * This interrupts the thread anywhere, also amid another program of ours that changes its call
 * stack. So call stacks are only read, and a look at a thread that is at a breakpoint reads none:
 * that time is the probes'. Other programs put a new frame on top in one step, when all of it is
 * written, and take it off in one.
 */
#ifndef PROFTRACE_SAMPLES_BPF_H
#define PROFTRACE_SAMPLES_BPF_H

#include "hash.bpf.h"
#include "life.bpf.h"
#include "standing.bpf.h"
#include "unwind.bpf.h"

const volatile u32 samples_cap = 0; /* places in a half of the table, a power of two */
/* Samples tell what probes cost, and nothing else: of where they were taken they keep the path of
 * the innermost call alone. The kernel writes them into its rings as well. */
const volatile bool samples_bare = false;
u32 samples_half = 0; /* that is being filled; user space sets it */

/* On each CPU, where one is made. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wire_sample);
} sample_draft SEC(".maps");

struct wire_sample_counts sample_counts[WIRE_CPUS] WRITTEN __attribute__((aligned(64))) = {};

#ifndef PROFTRACE_BASIC

#define ADD_SAMPLE(MEMBER, N) \
	__sync_fetch_and_add(&sample_counts[bpf_get_smp_processor_id() % WIRE_CPUS].MEMBER, N)
#define COUNT_SAMPLE(MEMBER) ADD_SAMPLE(MEMBER, 1)

/* Whether the kernel has just sent the thread on behind the entry's probe of its innermost call, or
 * behind the end of that call's last callee. An interrupt that comes on the way back is let in
 * there, so the time up to it was the probe's. */
static __always_inline bool is_behind_probe(u32 innermost, u64 origin, u64 ip, u64 sp)
{
	const struct wire_frame *f = frame_at(innermost), *left;
	const struct wire_function_mode *mode;
	u32 function;
	u64 word;

	if (!innermost || !f)
		return false;
	function = f->function;
	mode = f->level ? bpf_map_lookup_elem(&function_modes, &function) : 0;
	if (mode && mode->entry_size && breaks_at(ip - mode->entry_size))
		return true;
	left = f->down ? frame_at(f->down) : 0;
	return left && left->slot + origin + sizeof(word) == sp &&
	       read_word(&word, sp - sizeof(word)) && word == ip;
}

/* Finds the innermost call that is open where the current thread is. Returns its frame's number, or
 * the sentinel's; 0: not known. Global: the verifier looks at it once a program, and at what
 * follows not for each way through it. */
__noinline u32 sample_place(struct wire_spot *s, struct open_call *open, u64 sp)
{
	const struct task_struct *task = current_task();
	const struct wire_callstack *callstack;
	struct standing at = {.sp = sp};
	const struct wire_frame *f;
	u32 frame;

	if (!s || !open)
		return 0;
	*open = (struct open_call){.slot = ~0ull};
	s->pid_tgid = thread_now(task);
	s->callstack = s->lives = s->node = 0;
	if (!go_traced || !go_stands(&at, s->pid_tgid))
		thread_stands(&at);
	frame = live_frame(at.own, sp - at.own_hi);
	f = frame_at(frame);
	if (at.own && frame && f && f->level) {
		at.sp = sp;
		at.origin = at.own_hi;
		at.callstack = at.own;
		at.across = false;
	}
	s->goid = at.goid;
	s->start_ns = at.goid ? FAR_FIELD(FAR_FIELD(task, group_leader), start_boottime)
			      : task->start_boottime;
	open->origin = at.origin;
	open->top = at.top;
	open->words = (at.origin - at.lo) / sizeof(u64);
	open->across = at.across;
	open->stays = at.stays;
	callstack = callstack_at(at.callstack);
	frame = live_frame(at.callstack, at.sp - at.origin);
	f = frame_at(frame);
	if (!at.callstack || !callstack || !frame || !f)
		return 0;
	s->callstack = at.callstack;
	s->lives = callstack->lives;
	if (!f->level || (f->slot < at.sp - at.origin && !is_system_call(f)))
		return frame;
	s->node = open->node = f->node;
	open->frame = frame;
	open->innermost = is_system_call(f);
	open->slot = f->slot + open->origin;
	return frame;
}

static __always_inline u64 spot_hash(const struct wire_spot *s)
{
	u64 hash = s->pid_tgid;

	MIX(hash, s->start_ns);
	MIX(hash, (u64)s->callstack << 32 | s->node);
	MIX(hash, s->lives);
	MIX(hash, s->goid);
	return hash;
}

/* A walk over the functions of the kernel that a sample has, which mixes them into `hash`. */
struct kernel_walk {
	const struct wire_sample *sample;
	u64 hash;
};

static long kernel_step(u32 i, struct kernel_walk *w)
{
	if (!w->sample || i >= WIRE_SAMPLE_KERNEL)
		return 1;
	MIX(w->hash, w->sample->kernel[i]);
	return 0;
}

/* Global, as sample_place(). */
__noinline u64 sample_hash(const struct wire_sample *s)
{
	struct kernel_walk w = {.sample = s};
	u64 hash;
	u32 own;

	if (!s)
		return 0;
	hash = s->user.hash;
	own = s->user.cnt;
	MIX(hash, (u64)s->user.end << 32 | s->user.cnt);
	if (s->user.own && own < WIRE_CALLERS_FRAMES)
		MIX(hash, s->user.frames[own]);
	MIX(hash, spot_hash(&s->spot));
	MIX(hash, (u64)s->call << 32 | s->kernel_cnt);
	w.hash = hash;
	bpf_loop(s->kernel_cnt, kernel_step, &w, 0);
	return w.hash | 1;
}

#define SAMPLE_KEY 2 /* words before what is told of it: hash and count */

/* A search for the entry of a sample in the table. */
struct sample_search {
	const struct wire_sample *sample;
	u32 half;
	u32 found;
};

static long sample_seek(u32 i, struct sample_search *q)
{
	const struct wire_sample *s = q->sample;
	struct wire_sample *e;
	u32 at;

	if (!s)
		return 1;
	at = q->half * samples_cap + ((s->hash + i) & (samples_cap - 1));
	e = bpf_map_lookup_elem(&samples, &at);
	if (!e)
		return 1;
	if (!e->hash && SWAP_IF(&e->hash, 0, s->hash)) {
		/* Nobody reads it before this half has been left. */
		bpf_probe_read_kernel((u64 *)e + SAMPLE_KEY, sizeof(*e) - SAMPLE_KEY * sizeof(u64),
				      (const u64 *)s + SAMPLE_KEY);
	} else if (e->hash != s->hash) {
		return 0;
	}
	__sync_fetch_and_add(&e->cnt, 1);
	q->found = 1;
	return 1;
}

static __always_inline u32 sample_call(const struct pt_regs *regs)
{
	s64 number = system_call_number(regs);

	return number >= 0 && number < WIRE_WAIT_PREEMPTED ? number : WIRE_WAIT_KERNEL;
}

/* Where a thread has turned out to work no longer, or not yet, for the goroutine it was taken to
 * work for: the thread's own. */
static __always_inline void spot_stays(struct wire_spot *s)
{
	s->goid = 0;
	s->start_ns = current_task()->start_boottime;
}

static __always_inline void sample_unwind(struct wire_sample *s, const struct pt_regs *regs,
					  struct open_call *open)
{
	bool stays = open->stays;

	s->spot.node = stack_unwind(&s->user, regs, 0, open);
	if (open->stays != stays)
		spot_stays(&s->spot);
}

/* A look at the current thread. */
static __always_inline void sample_take(void *ctx)
{
	struct task_struct *task = current_task();
	u32 zero = 0, half = *(volatile u32 *)&samples_half & 1;
	struct wire_sample *s = bpf_map_lookup_elem(&sample_draft, &zero);
	struct sample_search q = {.sample = s, .half = half};
	const struct pt_regs *regs;
	struct open_call open = {};
	u32 innermost;
	u64 began;
	long bytes;

	if (!gate_is_open() || !s || !is_target(process_now(task)) || !FAR_FIELD(task, mm) ||
	    is_held(thread_now(task)))
		return;
	began = bpf_ktime_get_ns();
	COUNT_SAMPLE(taken);
	regs = (void *)bpf_task_pt_regs(task);
	bytes = bpf_get_stack(ctx, s->kernel, sizeof(s->kernel), 0);
	innermost = sample_place(&s->spot, &open, stack_pointer(regs));
	if (is_on_probes_page(task, instruction_pointer(regs)) ||
	    (bytes > 0 ? is_at_breakpoint(regs) || is_at_call_of_probe(regs)
		       : is_behind_probe(innermost, open.origin, instruction_pointer(regs),
					 stack_pointer(regs)))) {
		COUNT_SAMPLE(probing);
		return;
	}
	s->kernel_cnt = bytes > 0 && !samples_bare ? bytes / sizeof(u64) : 0;
	s->call = s->kernel_cnt ? sample_call(regs) : 0;
	bpf_get_current_comm(s->spot.comm, sizeof(s->spot.comm));
	s->user.pid = process_now(task);
	if (!samples_bare)
		sample_unwind(s, regs, &open);
	else if (!s->spot.node)
		return;
	s->hash = sample_hash(s);
	bpf_loop(WIRE_SAMPLE_PLACES, sample_seek, &q, 0);
	if (!q.found)
		COUNT_SAMPLE(lost);
	ADD_SAMPLE(ns, bpf_ktime_get_ns() - began);
}

#else

static __always_inline void sample_take(__attribute__((unused)) void *ctx)
{
}

#endif
#endif
