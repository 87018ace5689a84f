// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads that were asleep before events counted. The program at switches sees a wait begin, and
 * these have begun before: a thread that hangs would be nowhere. So the link holder reads a task
 * iterator of this program once, as soon as events count. For each thread of the target that sleeps
 * it makes a place in the table of waits, as the program at switches would have, with a wait that
 * is under way since the run's begin; from then on that wait is one like others.
 *
 * The thread may wake up meanwhile, on another CPU. It is looked at twice: what was made is taken
 * back unless it has slept all the time in between.
 *
 * The program sleeps, as that is how memory of another process is read (bpf_copy_from_user_task(),
 * 5.18). It has an object of its own, in which the headers' `current thread` is the one that is
 * looked at (PROFTRACE_ASLEEP), with the maps of the others.
 */
#define PROFTRACE_ASLEEP
#include "waits.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile u64 asleep_since = 0; /* CLOCK_MONOTONIC: when events began to count */
const volatile u32 asleep_most = 0;  /* so many waits are noted */
u32 asleep_noted WRITTEN = 0;
u32 asleep_lost WRITTEN = 0; /* waits that found no room */

/* The registers of the thread that is looked at, in a copy: the verifier takes long for each read
 * of the kernel's own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct pt_regs);
} asleep_regs SEC(".maps");

static __always_inline struct pt_regs *registers_of(struct task_struct *task)
{
	u32 zero = 0;
	struct pt_regs *regs = bpf_map_lookup_elem(&asleep_regs, &zero);

	return regs && !bpf_probe_read_kernel(regs, sizeof(*regs), (void *)bpf_task_pt_regs(task))
		       ? regs
		       : 0;
}

/* Of include/linux/sched.h: TASK_FROZEN (6.1) */
#define FROZEN_STATE 0x8000

/* How often a thread has left a CPU; 0: it does not sleep. */
static __always_inline u64 slept_since(const struct task_struct *task)
{
	u32 state = FAR_FIELD(task, __state);

	if (!(state & (SLEEPS_STATE | STOPPED_STATES | FROZEN_STATE)) ||
	    state & (TASK_DEAD_STATE | WAKING_STATE) ||
	    (bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ_BITFIELD_PROBED(task, on_cpu)))
		return 0;
	return FAR_FIELD(task, nvcsw) + FAR_FIELD(task, nivcsw);
}

/* Copies the thread's stack from its innermost word on, by pages, up to where none is. */
static __always_inline void stack_copy_asleep(struct task_struct *task, u64 sp)
{
	u32 zero = 0;
	struct asleep_stack *stack = bpf_map_lookup_elem(&asleep_stack, &zero);

	if (!stack)
		return;
	stack->start = sp & ~(PAGE - 1ull);
	stack->bytes = 0;
	for (u32 i = 0; i < ASLEEP_PAGES; i++) {
		if (bpf_copy_from_user_task((void *)stack->words + i * PAGE, PAGE,
					    (void *)(stack->start + i * PAGE), task, 0))
			break;
		stack->bytes = (i + 1) * PAGE;
	}
}

/* Of glibc's pthread_mutex_t: where the thread is noted that has it, behind the word that others
 * wait for. Of locks that the kernel hands on (FUTEX_LOCK_PI) it is that word. */
#define MUTEX_OWNER 8
#define OWNER_BITS  0x3fffffff /* FUTEX_TID_MASK, of include/uapi/linux/futex.h */

/* The thread that has the lock, if it is in a namespace where its own number is ours; 0: not known.
 * Other libraries have something else there, which is hardly the number of a thread. */
static __always_inline u32 holder_of(struct task_struct *task, const struct wait_cause *cause,
				     const struct pt_regs *regs)
{
	u32 operation = second_argument(regs) & FUTEX_OPERATION, holder = 0;
	u64 at = cause->lock;

	if (cause->reason != WIRE_REASON_LOCK || !at ||
	    futex_kind(cause->call, regs) != WIRE_OBJECT_LOCK || pid_ns ||
	    FAR_FIELD(FAR_FIELD(task, thread_pid), level))
		return 0;
	if (operation != FUTEX_OWNED && operation != FUTEX_OWNED_TOO)
		at += MUTEX_OWNER;
	bpf_copy_from_user_task(&holder, sizeof(holder), (void *)at, task, 0);
	return holder & OWNER_BITS;
}

#define ASLEEP_PLACES 64 /* that are looked at for a free one */

static long asleep_seek(u32 i, struct wait_search *q)
{
	u32 at = (q->hash + i) & (waits_cap - 1);
	struct wire_wait *w = wait_at(at);

	if (!w)
		return 1;
	if (w->hash)
		return 0;
	q->free = at + 1;
	return 1;
}

/* The place's entry, as wait_make() makes it. 0: there is no room. */
static __always_inline struct wire_wait *asleep_make(struct task_struct *task,
						     const struct pt_regs *regs,
						     const struct wait_search *q,
						     const struct wait_cause *cause)
{
	struct wire_wait *w = q->free ? wait_at(q->free - 1) : 0;
	const struct open_call open = {.slot = ~0ull};
	struct wait_unwinding x = {.sp = q->sp};

	if (!w || !SWAP_IF(&w->hash, 0, q->hash))
		return 0;
	w->state = WIRE_WAIT_MADE;
	w->call = cause->call;
	w->reason = cause->reason;
	w->lock = cause->lock;
	w->spot.pid_tgid = thread_of(task);
	w->spot.start_ns = FAR_FIELD(task, start_boottime);
	w->spot.goid = 0;
	w->spot.callstack = w->spot.lives = w->spot.node = 0;
	w->spot.holder = holder_of(task, cause, regs);
	bpf_probe_read_kernel_str(w->spot.comm, sizeof(w->spot.comm), &task->comm);
	w->user.pid = w->spot.pid_tgid >> 32;
	w->slots_cnt = 0;
	unwind_begin(&x.u, &w->user, regs, 0, &open);
	if (x.u.space)
		bpf_loop(UNWIND_STEPS, wait_step, &x, 0);
	asm volatile("" : : : "memory");
	w->state = WIRE_WAIT_READY;
	return w;
}

/* A wait has been seen to begin: the thread's, or that of another one with the same hash. */
static __always_inline bool is_noted(const struct wire_waiter *waiter)
{
	const struct wire_wait *w = wait_of(waiter);

	return w && w->since;
}

/* The thread, which sleeps, is in that wait since events count; unless it wakes up meanwhile. */
static __always_inline void asleep_note(struct wire_waiter *waiter, struct wire_wait *w, u32 place)
{
	waiter->pid_tgid = w->spot.pid_tgid;
	waiter->woken_ns = 0;
	waiter->waker = 0;
	waiter->share = 1;
	waiter->habit = 0;
	w->since = asleep_since;
	asm volatile("" : : : "memory");
	*(volatile u32 *)&waiter->wait = place;
}

SEC("iter.s/task")
int find_asleep(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	const struct pt_regs *regs;
	struct wait_cause cause = {};
	struct wait_search q = {};
	struct wire_waiter *waiter;
	struct wire_wait *w;
	u64 slept;

	if (!task || !is_target(process_of(task)))
		return 0;
	sleeping_task = (u64)task;
	slept = slept_since(task);
	waiter = waiter_of(task);
	if (!slept || !waiter || !FAR_FIELD(task, mm))
		return 0;
	if (is_noted(waiter)) {
		asleep_lost += waiter->pid_tgid != thread_of(task);
		return 0;
	}
	regs = registers_of(task);
	if (!regs)
		return 0;
	cause.call = sample_call(regs);
	cause.reason = wait_reason(task, FAR_FIELD(task, __state), cause.call, regs, &cause.lock);
	if (cause.reason != WIRE_REASON_TIMER && !cause.lock && cause.call < WIRE_CALLS &&
	    call_files[cause.call] == WIRE_CALL_OF_FILE)
		cause.lock = file_name((u64)descriptor_file(first_argument(regs)));
	q.sp = stack_pointer(regs);
	q.hash = thread_of(task);
	MIX(q.hash, q.sp);
	q.hash |= 1;
	bpf_loop(ASLEEP_PLACES, asleep_seek, &q, 0);
	stack_copy_asleep(task, q.sp);
	w = asleep_noted < asleep_most ? asleep_make(task, regs, &q, &cause) : 0;
	if (!w) {
		asleep_lost++;
		return 0;
	}
	asleep_note(waiter, w, q.free);
	if (slept_since(task) == slept)
		asleep_noted++;
	else if (SWAP_IF(&waiter->wait, q.free, 0))
		w->since = 0;
	return 0;
}
