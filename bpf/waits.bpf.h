/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits: from a switch off the CPU to the one back, time is added to the place where the thread
 * left: the path of its innermost open call, below that the functions without probes, and the
 * system call. A place is known again by registers and by the return addresses on the stack, which
 * a few reads compare, so it is unwound once; how long each wait took is measured, for every one.
 *
 * The entry of a place is its thread's alone. Interrupts are off at a switch, so nothing of ours
 * interrupts this.
 *
 * Finding a place takes about 0.5 us. Within a budget a thread that waits often, as four threads of
 * python3 that hand on one lock 47,000 times a second, has few of these waits looked at, drawn by
 * lot, and each of them stands for as many as were not. Waits of a millisecond or more count as
 * themselves, looked at or not.
 */
#ifndef PROFTRACE_WAITS_BPF_H
#define PROFTRACE_WAITS_BPF_H

#include "reasons.bpf.h"
#include "samples.bpf.h"

const volatile u32 waits_cap = 0; /* places in the table, a power of two; 0: none are kept */

/* By a hash of the tid: threads of a process, which stand side by side, share no cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wire_waiter);
} waiters SEC(".maps");

#define STACK_COPY_WORDS 512

/* On each CPU, the innermost words of the stack that is looked at: 35 words that are read one by
 * one take 1.2 us, and 4 KB at once 0.1. */
struct stack_copy {
	u64 words[STACK_COPY_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct stack_copy);
} stack_copies SEC(".maps");

/* Within a budget: see share_wait(). */
const volatile bool waits_shared = false;

/* Waits of one thread that look alike: in one system call, with the same instruction, stack pointer
 * and first argument; or all for which it was preempted. */
struct wait_habit {
	u64 hash;    /* of the place's entry where such a wait was found last */
	u32 place;   /* that entry, plus 1; 0: none */
	u32 tag;     /* tells such waits from others that have this place in the table */
	u32 period;  /* a stretch of time, by its number, */
	u32 looks;   /* and so many of them were looked at in it, each for itself */
	s64 owed_ns; /* of short ones that were not: their time, less what stands for them */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wait_habit);
} wait_habits SEC(".maps");

struct wire_wait_counts wait_counts[WIRE_CPUS] WRITTEN __attribute__((aligned(64))) = {};

#ifndef PROFTRACE_BASIC

/* So many stacks a CPU are unwound in 2^27 ns, about 950 a second; and more where many threads
 * begin at once, which is made up for later. */
#define WAIT_PERIOD  27
#define WAIT_UNWINDS 128
#define WAIT_AHEAD   2048

/* Of waits that look alike so many are looked at in each of those 2^27 ns; of others one in so
 * many. What takes longer than WIRE_WAIT_LONG_NS stands for itself. */
#define WAIT_LOOKS	16
#define PREEMPTED_LOOKS 128 /* in whatever call: so many are mostly shorter than that */
#define WAIT_SHARE	16
#define WAIT_BACK	4 /* one part in 2^4: see stands_for() */

/* Of include/linux/sched.h: */
#define TASK_DEAD_STATE 0x80	   /* TASK_DEAD */
#define WAKING_STATE	0x200	   /* TASK_WAKING */
#define KERNEL_THREAD	0x00200000 /* PF_KTHREAD */
#define EXITING		0x00000004 /* PF_EXITING */

/* Whether the task has a program's memory still. */
static __always_inline bool has_memory(const struct task_struct *task)
{
	if (task->flags & KERNEL_THREAD)
		return false;
	return !(task->flags & EXITING) || FAR_FIELD(task, mm);
}

static __always_inline struct wire_wait *wait_at(u32 i)
{
	return bpf_map_lookup_elem(&waits, &i);
}

static __always_inline struct wire_wait_counts *wait_counts_here(void)
{
	return &wait_counts[bpf_get_smp_processor_id() % WIRE_CPUS];
}

static __always_inline struct wire_waiter *waiter_of(const struct task_struct *task)
{
	u32 at = (u32)FIELD(task, pid) * 0x9e3779b1u >> 17;

	return bpf_map_lookup_elem(&waiters, &at);
}

/* A walk over the words where a wait's return addresses lay, which mixes them into `guard`. */
struct guard_walk {
	const struct wire_wait *wait;
	const struct stack_copy *copy;
	u64 sp;
	u64 guard;
	u64 copied; /* bytes from the stack pointer on */
};

/* So many words a step: entering one takes longer than looking at a word does. */
#define LOOK_WORDS 5
_Static_assert(WIRE_WAIT_SLOTS % LOOK_WORDS == 0, "steps cover all slots");

/* The word at `slot` bytes from the stack pointer. Global: the verifier looks at it once a program,
 * and not at each of a step's words in each of the ways up to it. */
__noinline u64 stack_word(const struct stack_copy *copy, u64 copied, u64 sp, u64 slot)
{
	u64 word = 0;

	LOOK_AT(sp);
	if (copy && slot < copied)
		return copy->words[slot / sizeof(word) % STACK_COPY_WORDS];
	read_word(&word, sp + slot);
	return word;
}

static long guard_step(u32 step, struct guard_walk *l)
{
	const struct wire_wait *w = l->wait;
	u32 first = step * LOOK_WORDS, cnt;
	u64 guard = l->guard;

	if (!w || !l->copy || first > WIRE_WAIT_SLOTS - LOOK_WORDS)
		return 1;
	cnt = w->slots_cnt;
	/* Written out, or verifiers up to Linux 6.1 lose the bounds. */
#pragma clang loop unroll(full)
	for (u32 i = 0; i < LOOK_WORDS; i++) {
		u64 word;

		if (first + i >= cnt)
			break;
		word = stack_word(l->copy, l->copied, l->sp, w->slots[first + i]);
		MIX(guard, word);
	}
	l->guard = guard;
	return first + LOOK_WORDS >= cnt;
}

/* Copies the stack up to the outermost return address of a wait, as far as there is room. Returns
 * how many bytes; 0: a part of it is not in memory. */
static __always_inline u64 stack_copy_make(struct stack_copy *to, const struct wire_wait *w, u64 sp)
{
	u32 last = w->slots_cnt - 1;
	u64 size;

	if (last >= WIRE_WAIT_SLOTS)
		return 0;
	size = w->slots[last] + sizeof(u64);
	if (size > sizeof(*to))
		size = sizeof(*to);
	return bpf_probe_read_user(to, size, (void *)sp) ? 0 : size;
}

/* Of the wait at that place in the table. Global: the verifier looks at it once a program. */
__noinline u64 wait_guard(u32 at, u64 sp)
{
	u32 zero = 0;
	struct stack_copy *copy = bpf_map_lookup_elem(&stack_copies, &zero);
	struct guard_walk l = {.wait = wait_at(at), .copy = copy, .sp = sp};

	if (!l.wait || !copy)
		return 0;
	l.copied = stack_copy_make(copy, l.wait, sp);
	bpf_loop(WIRE_WAIT_SLOTS / LOOK_WORDS, guard_step, &l, 0);
	return l.guard;
}

/* A search for the entry of a place. */
struct wait_search {
	u64 hash, sp;
	u32 found, free; /* places in the table, plus 1; 0: none */
};

static long wait_seek(u32 i, struct wait_search *q)
{
	u32 at = (q->hash + i) & (waits_cap - 1);
	struct wire_wait *w = wait_at(at);

	if (!w)
		return 1;
	if (!w->hash && !q->free)
		q->free = at + 1;
	if (w->hash != q->hash || w->state != WIRE_WAIT_READY || wait_guard(at, q->sp) != w->guard)
		return 0;
	q->found = at + 1;
	return 1;
}

/* Unwinding a wait's stack. */
struct wait_unwinding {
	struct unwinding u; /* into a struct wire_wait */
	u64 sp;
};

/* Notes where the return address was, unless it has been saved by a signal. */
static long wait_step(__attribute__((unused)) u32 round, struct wait_unwinding *x)
{
	long ended = unwind_into(&x->u, false);
	struct wire_callers *stack = x->u.stack;
	u64 slot = x->u.now.sp - RETURN_MOVES - x->sp;
	struct wire_wait *w;
	u32 at;

	if (ended || !stack)
		return 1;
	w = (void *)((u8 *)stack - __builtin_offsetof(struct wire_wait, user));
	at = w->slots_cnt;
	if (at < WIRE_WAIT_SLOTS && !x->u.now.exact && slot < 1u << 31 && slot % sizeof(u64) == 0) {
		w->slots[at] = slot;
		w->slots_cnt = at + 1;
	}
	return 0;
}

static __always_inline void wait_unwind(struct wire_wait *w, u32 at, const struct pt_regs *regs,
					const struct open_call *open)
{
	struct wait_unwinding x = {.sp = stack_pointer(regs)};

	unwind_begin(&x.u, &w->user, regs, 0, open);
	if (x.u.space)
		bpf_loop(UNWIND_STEPS, wait_step, &x, 0);
	unwind_own(&x.u, &w->user);
	if (w->user.end == WIRE_CALLERS_WHOLE)
		w->spot.node = x.u.now.open.node;
	if (x.u.now.open.stays != open->stays)
		spot_stays(&w->spot);
	w->guard = wait_guard(at, x.sp);
}

static __always_inline bool wait_may_unwind(u64 now)
{
	struct wire_wait_counts *c = wait_counts_here();
	u64 period = now >> WAIT_PERIOD, regained = (period - c->period) * WAIT_UNWINDS;

	c->period = period;
	c->ahead = c->ahead > regained ? c->ahead - regained : 0;
	if (c->ahead >= WAIT_AHEAD)
		return false;
	c->ahead++;
	return true;
}

/* What a thread waits for. */
struct wait_cause {
	u32 call, reason; /* as in struct wire_wait */
	u64 lock;
};

/* Makes an entry. False: there is no room, or no time. Global, so that what it takes of the stack
 * is not taken where sample_place() is called. */
__noinline u32 wait_make(const struct wait_search *q, const struct wire_spot *spot,
			 const struct wait_cause *cause, const struct open_call *open)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(current_task());
	struct wire_wait *w;

	if (!q || !spot || !cause || !open)
		return false;
	w = q->free ? wait_at(q->free - 1) : 0;
	if (!w || !wait_may_unwind(bpf_ktime_get_ns()) || !SWAP_IF(&w->hash, 0, q->hash))
		return false;
	w->state = WIRE_WAIT_MADE;
	w->call = cause->call;
	w->reason = cause->reason;
	w->lock = cause->lock;
	w->spot = *spot;
	bpf_get_current_comm(w->spot.comm, sizeof(w->spot.comm));
	w->user.pid = spot->pid_tgid >> 32;
	w->user.cnt = w->user.end = w->user.own = 0;
	w->slots_cnt = 0;
	if (cause->call != WIRE_WAIT_PREEMPTED)
		wait_unwind(w, q->free - 1, regs, open);
	asm volatile("" : : : "memory");
	w->state = WIRE_WAIT_READY;
	__sync_fetch_and_add(&wait_counts_here()->made, 1);
	return true;
}

/* The number in the table of the place where the current thread waits or wakes, plus 1; 0: it found
 * no room. Global: the verifier looks at it once, and not on each way to it. */
__noinline u32 wait_place(const struct wait_cause *cause)
{
	struct task_struct *task = current_task();
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	struct wait_search q = {.sp = stack_pointer(regs)};
	struct wire_spot spot = {};
	struct open_call open = {};

	if (!cause)
		return 0;
	sample_place(&spot, &open, q.sp);
	q.hash = spot_hash(&spot);
	MIX(q.hash, (u64)cause->reason << 32 | cause->call);
	MIX(q.hash, cause->lock);
	if (cause->call != WIRE_WAIT_PREEMPTED) { /* which may be anywhere */
		MIX(q.hash, q.sp);
		MIX(q.hash, instruction_pointer(regs));
	}
	q.hash |= 1;
	bpf_loop(WIRE_WAIT_PLACES, wait_seek, &q, 0);
	if (!q.found && wait_make(&q, &spot, cause, &open))
		q.found = q.free;
	return q.found;
}

/* The entry of the wait that the thread is in; NULL: it is in none. Whoever slept all the time
 * while tracing was switched off still has an entry that may have been given back by then, and be
 * another thread's. */
static __always_inline struct wire_wait *wait_of(const struct wire_waiter *waiter)
{
	struct wire_wait *w = waiter->wait ? wait_at(waiter->wait - 1) : 0;

	return w && w->spot.pid_tgid == waiter->pid_tgid ? w : 0;
}

/* The last wait has no end: that one was not seen, or another thread has the same hash. */
static __always_inline void wait_forget(struct wire_waiter *waiter)
{
	struct wire_wait *w = wait_of(waiter);

	waiter->wait = 0;
	if (!w)
		return;
	w->since = 0;
	__sync_fetch_and_add(&wait_counts_here()->lost, 1);
}

/* Whether the entry where a wait was found whose like begins now is still that. Another CPU may
 * have changed the habit meanwhile, so it must be one of the thread's own. */
static __always_inline bool is_place_of(const struct wait_habit *habit, u64 pid_tgid)
{
	const struct wire_wait *w = habit->place ? wait_at(habit->place - 1) : 0;

	return w && w->hash == habit->hash && w->state == WIRE_WAIT_READY &&
	       w->spot.pid_tgid == pid_tgid;
}

/* Decides for how many waits the one that the current thread begins in that system call stands if
 * it is looked at, waiter->share; 0: it is not, but taken to be where its like was last. Drawn
 * before anything is known of it, so sums are right on average. Global, as wait_place(). */
__noinline u32 share_wait(struct wire_waiter *waiter, u32 call, u64 now)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs(current_task());
	u32 at, tag, period = now >> WAIT_PERIOD, most = WAIT_LOOKS;
	u64 hash = (u64)call << 32;
	struct wait_habit *habit;

	if (!waiter)
		return 0;
	MIX(hash, waiter->pid_tgid);
	if (call == WIRE_WAIT_PREEMPTED) {
		most = PREEMPTED_LOOKS;
	} else {
		MIX(hash, instruction_pointer(regs));
		MIX(hash, stack_pointer(regs));
		MIX(hash, first_argument(regs));
	}
	at = hash & (WIRE_WAIT_HABITS - 1);
	tag = hash >> 32;
	habit = bpf_map_lookup_elem(&wait_habits, &at);
	if (!habit)
		return 0;
	waiter->habit = at + 1;
	if (habit->tag != tag) {
		habit->tag = tag;
		habit->place = habit->looks = 0;
		habit->owed_ns = 0;
	}
	if (habit->period != period) {
		habit->period = period;
		habit->looks = 0;
	}
	if (!is_place_of(habit, waiter->pid_tgid) || habit->looks < most) {
		habit->looks++;
	} else if (bpf_get_prandom_u32() % WAIT_SHARE == 0) {
		waiter->share = WAIT_SHARE;
	} else {
		waiter->share = 0;
		waiter->wait = habit->place;
	}
	return waiter->share;
}

/* Where the current thread waits that has just been looked at. */
static __always_inline void note_habit(const struct wire_waiter *waiter, u64 hash)
{
	u32 at = waiter->habit - 1;
	struct wait_habit *habit = waiter->habit ? bpf_map_lookup_elem(&wait_habits, &at) : 0;

	if (!habit)
		return;
	habit->hash = hash;
	habit->place = waiter->wait;
}

/* Finds where the current thread, which leaves the CPU, waits. Returns the place in the table, plus
 * 1; 0: it found no room. */
static __always_inline u32 wait_look(const struct task_struct *task, u32 state, u32 call,
				     const struct pt_regs *regs)
{
	struct wait_cause cause = {.call = call};

	cause.reason = wait_reason(task, state, call, regs, &cause.lock);
	if (cause.reason != WIRE_REASON_TIMER && !cause.lock && call < WIRE_CALLS &&
	    call_files[call] == WIRE_CALL_OF_FILE)
		cause.lock = file_name((u64)descriptor_file(first_argument(regs)));
	return wait_place(&cause);
}

/* The current thread leaves the CPU. */
static __always_inline void wait_begins(const struct task_struct *task, bool preempted, u64 now)
{
	const struct pt_regs *regs = (void *)bpf_task_pt_regs((struct task_struct *)task);
	struct wire_waiter *waiter = waiter_of(task);
	struct wire_wait *w;
	u32 state, call;

	if (!waiter)
		return;
	wait_forget(waiter);
	waiter->pid_tgid = thread_of(task);
	*(volatile u64 *)&waiter->woken_ns = 0; /* before it has slept */
	*(volatile u32 *)&waiter->waker = 0;
	state = *(volatile u32 *)&task->__state;
	if (state & WAKING_STATE) /* already, on another CPU */
		waiter->woken_ns = now;
	if ((state & TASK_DEAD_STATE) || !has_memory(task) || is_at_breakpoint(regs))
		return;
	call = !preempted && state ? sample_call(regs) : WIRE_WAIT_PREEMPTED;
	__sync_fetch_and_add(&wait_counts_here()->taken, 1);
	waiter->share = 1;
	waiter->habit = 0;
	if (waits_shared && (call < WIRE_CALLS || call == WIRE_WAIT_PREEMPTED))
		share_wait(waiter, call, now);
	if (waiter->share)
		waiter->wait = wait_look(task, state, call, regs);
	else
		__sync_fetch_and_add(&wait_counts_here()->shared, 1);
	w = waiter->wait ? wait_at(waiter->wait - 1) : 0;
	if (w && waiter->share)
		note_habit(waiter, w->hash);
	if (w)
		w->since = now;
	else
		__sync_fetch_and_add(&wait_counts_here()->lost, 1);
}

/* Adds to what a waker has ended. What finds no room has been ended by nobody that is known.
 * Global: the verifier looks at it once, and not on each way to it. */
__noinline u32 wait_blame(struct wire_wait *w, u32 place, u64 ns)
{
	if (!w)
		return 0;
	for (u32 i = 0; i < WIRE_WAIT_WAKERS; i++) {
		struct wire_waker *waker = &w->wakers[i];

		if (waker->place && waker->place != place)
			continue;
		waker->ns += ns;
		asm volatile("" : : : "memory");
		waker->place = place;
		break;
	}
	return 0;
}

/* The habit of a wait at that place in the table, plus 1; NULL: it is another thread's by now. */
static __always_inline struct wait_habit *habit_of(const struct wire_waiter *waiter, u32 place)
{
	u32 at = waiter->habit - 1;
	struct wait_habit *habit = waiter->habit ? bpf_map_lookup_elem(&wait_habits, &at) : 0;

	return habit && habit->place == place ? habit : 0;
}

/*
 * The time, in ns, for which a short wait of `ns` counts that stands for WAIT_SHARE: as often its
 * own. That is right on average, but sums would stray as far as a random walk does, and a thread
 * wait longer than there was time. So what its like took indeed, less what stands for that, is
 * paid back, a part at a time, as all at once it would go by how often waits are at a place, and
 * not by how long they are there.
 */
static __always_inline u64 stands_for(struct wait_habit *habit, u64 ns)
{
	u64 others = ns * (WAIT_SHARE - 1);
	s64 back;

	if (!habit)
		return ns + others;
	habit->owed_ns -= others;
	back = habit->owed_ns >> WAIT_BACK;
	if (back < -(s64)others)
		back = -(s64)others;
	habit->owed_ns -= back;
	return ns + others + back;
}

/* A thread goes on. User space reads `since` before and after the others. */
static __always_inline void wait_ends(const struct task_struct *task, u64 now)
{
	struct wire_waiter *waiter = waiter_of(task);
	u64 pid_tgid = thread_of(task), since, woken;
	struct wait_habit *habit;
	struct wire_wait *w;
	u32 share, place;

	if (!waiter || !waiter->wait || waiter->pid_tgid != pid_tgid)
		return;
	place = waiter->wait;
	w = wait_of(waiter);
	waiter->wait = 0;
	if (!w)
		return;
	since = w->since;
	w->since = 0;
	asm volatile("" : : : "memory");
	woken = waiter->woken_ns;
	if (!since || now <= since)
		return;
	share = now - since < WIRE_WAIT_LONG_NS ? waiter->share : 1;
	habit = share != 1 ? habit_of(waiter, place) : 0;
	if (!share) {
		if (habit)
			habit->owed_ns += now - since;
		return;
	}
	if (woken && woken < now && w->call != WIRE_WAIT_PREEMPTED) {
		if (woken < since)
			woken = since;
		w->ready_ns += (now - woken) * share;
		if (waiter->waker)
			wait_blame(w, waiter->waker, (woken - since) * share);
	}
	w->ns += share == 1 ? now - since : stands_for(habit, now - since);
	w->cnt += share;
}

/* Whether a thread in that system call may have ended a wait for that reason: else it was merely
 * interrupted there by what has. `lock`: as of wait_reason(). */
static __always_inline bool may_wake(u32 reason, u64 lock, u32 call)
{
	u32 kind = call < WIRE_CALLS ? call_reasons[call] : WIRE_REASON_CPU;

	if (kind == WIRE_CALL_SIGNAL)
		return reason != WIRE_REASON_DISK && reason != WIRE_REASON_CPU;
	switch (reason) {
	case WIRE_REASON_LOCK:
		/* Who changes mappings, as by munmap(), has their lock. */
		return kind == WIRE_CALL_FUTEX || kind == WIRE_CALL_EXIT ||
		       kind == WIRE_REASON_LOCK || (kind == WIRE_REASON_OTHER && !lock);
	case WIRE_REASON_PIPE:
		return kind == WIRE_CALL_FILE || kind == WIRE_CALL_EXIT || kind == WIRE_REASON_PIPE;
	case WIRE_REASON_NETWORK:
	case WIRE_REASON_POLL:
	case WIRE_REASON_DEVICE:
		return kind == WIRE_CALL_FILE || kind == WIRE_CALL_EXIT;
	case WIRE_REASON_CHILD:
		return kind == WIRE_CALL_EXIT;
	default:
		return false;
	}
}

/* The place from where the current thread, which is the target's, wakes one that waits there, plus
 * 1; 0: another one has. */
static __always_inline u32 waker_place(const struct task_struct *task, const struct wire_wait *w)
{
	struct wait_cause cause = {};
	const struct pt_regs *regs;
	struct wire_wait *at;
	u32 place;

	if (!has_memory(task))
		return 0;
	regs = (void *)bpf_task_pt_regs((struct task_struct *)task);
	cause.reason = WIRE_REASON_WAKER;
	cause.call = sample_call(regs);
	if (cause.call >= WIRE_CALLS || !may_wake(w->reason, w->lock, cause.call))
		return 0;
	place = wait_place(&cause);
	at = place ? wait_at(place - 1) : 0;
	if (at)
		at->cnt++; /* it is in use */
	return place;
}

/* A thread that waits is woken, and can run from here on. */
static __always_inline void wait_woken(const struct task_struct *task)
{
	u64 pid_tgid = thread_of(task);
	const struct task_struct *waker = current_task();
	struct wire_waiter *waiter = waiter_of(task);
	struct wire_wait *w;

	if (!waiter || waiter->pid_tgid != pid_tgid)
		return;
	waiter->woken_ns = bpf_ktime_get_ns();
	waiter->waker = 0;
	if (!current_is_target(waker))
		return;
	w = wait_of(waiter);
	if (w && (waiter->share || waiter->woken_ns - w->since >= WIRE_WAIT_LONG_NS))
		waiter->waker = waker_place(waker, w);
}

#else

#define wait_woken(...)

#endif
#endif
