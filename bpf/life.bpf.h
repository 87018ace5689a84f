/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of the processes themselves: files mapped by the dynamic linker, exec, fork, end.
 *
 * User space has made its plan for the files that were mapped when it looked. `maps_generation`
 * says how often that has changed since, `maps_planned` up to which change user space has caught
 * up, and `maps_running` up to which change the new code may run, in some process. While that is
 * not planned for, no return address of that process may be exchanged, for what was mapped may
 * unwind or switch stacks; calls are counted all the same. And the thread that has mapped something
 * waits here, in the dynamic linker, before any of the new code has run: briefly, or until it is
 * probed if the filter may want it. Meanwhile the calls of other threads are no different from
 * those that are open already.
 */
#ifndef PROFTRACE_LIFE_BPF_H
#define PROFTRACE_LIFE_BPF_H

#include "sched.bpf.h"
#include "trace.bpf.h"
#include "whom.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} events SEC(".maps");

/* Children of the processes are traced as well, until they begin a program; and these programs. */
const volatile bool follow_forks = false, follow_programs = false;
/* The tgid of user space: if it goes, nobody needs to wait for it. */
const volatile u32 planner_tgid = 0;
/* How long a thread may be kept waiting for functions of what it has mapped to be probed, and
 * otherwise, so that return probes are on again when it goes on. */
const volatile u64 long_wait_ns = 0, brief_wait_ns = 0;

u32 maps_generation = 1, maps_running = 1, maps_planned = 0;
/* As maps_running, of changes of which it is not kept whose they are. */
u32 maps_running_unknown = 1;
/* The last change by which code may run in a process, by its number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} maps_running_of SEC(".maps");
/* The last change by an exec: the new program's own functions may be wanted. */
u32 exec_generation = 0;
/* The filter may want functions of files that are mapped later. */
bool wants_later = false;
/* Some functions have return probes. */
bool uses_returns = false;
bool planner_gone = false;
/* Somebody wants to know what happens. */
bool listening = false;
u32 events_lost WRITTEN = 0;
u32 waits_cut WRITTEN = 0; /* threads that went on before user space was done */
u32 forks WRITTEN = 0;	   /* children that are not followed */
u32 followed_cnt WRITTEN = 0, followed_alive WRITTEN = 0;
/* Programs begun without a dynamic linker that we had probed: they did not wait for their plan. */
u32 starts_unheld WRITTEN = 0;

/* Processes that a SIGTRAP has ended: traced ones, and with probes in all that map a file, any. */
u32 trapped WRITTEN = 0;

/* No return probes any more: a file that was mapped since the start can unwind or switch stacks. */
bool returns_off = false;
/* A process has made a context to switch to; return probes rely on none having done so. */
bool contexts_made = false, contexts_guarded = false;

static __always_inline bool caught_up(u32 generation)
{
	return (int)(maps_planned - generation) >= 0;
}

/* Whether the process may run code that user space has not planned for, while some process does. A
 * function of its own for the sake of its callers' stacks, as is maps_run(). */
__noinline int process_runs_unplanned(u32 tgid)
{
	u32 *generation;

	if (!caught_up(maps_running_unknown))
		return true;
	generation = bpf_map_lookup_elem(&maps_running_of, &tgid);
	return generation && !caught_up(*generation);
}

static __always_inline bool runs_unplanned(u32 tgid)
{
	return !caught_up(maps_running) && process_runs_unplanned(tgid);
}

/* Whether return addresses of the current process may be exchanged now. */
static __always_inline bool returns_are_safe(void)
{
	return !returns_off && !runs_unplanned(current_process());
}

/*
 * Whether a thread's system calls are handed to the process itself (PR_SET_SYSCALL_USER_DISPATCH,
 * as Wine has it) or to a tracer that stands in for the kernel (PTRACE_SYSEMU). A return probe's
 * trampoline makes one, which nobody there knows.
 */
static __always_inline bool system_calls_are_diverted(const struct task_struct *task)
{
	const unsigned long diverted =
		1ul << SYSCALL_WORK_BIT_SYSCALL_USER_DISPATCH | 1ul << SYSCALL_WORK_BIT_SYSCALL_EMU;

	return FIELD(task, thread_info.syscall_work) & diverted;
}

/* Whether a process is the target's. Number 0 is the idle threads', which have every other switch.
 */
static __always_inline bool is_target(u32 tgid)
{
	return filter_tgids && tgid && bpf_map_lookup_elem(&tgids, &tgid);
}

/* The clock of this CPU; 0 where none is kept, or where no thread of the target has come or gone
 * since the start, so that the clock cannot tell whether the current one is the target's. */
static __always_inline const struct wire_cpu_clock *cpu_clock_here(void)
{
	u32 cpu = bpf_get_smp_processor_id();

	return keep_cpu_clocks && cpu < WIRE_CPU_CLOCKS && cpu_clocks[cpu].since_ns
		       ? &cpu_clocks[cpu]
		       : 0;
}

/* Whether the current thread is the target's. Interrupts are off. One whose process has become the
 * target's since the last switch may not be. */
static __always_inline bool current_is_target(const struct task_struct *current)
{
	const struct wire_cpu_clock *c = cpu_clock_here();

	return c ? c->runs : is_target(process_now(current));
}

/* Whether the thread that leaves this CPU is the target's, also if its process has only become so
 * since it came. */
static __always_inline bool target_leaves(const struct task_struct *current)
{
	const struct wire_cpu_clock *c = cpu_clock_here();

	return (c && c->runs) || is_target(process_now(current));
}

/* Whether the thread that this CPU goes on with is the target's, once its clock has turned. Amid a
 * switch that is not the current one yet. */
static __always_inline bool target_comes(const struct task_struct *next)
{
	const struct wire_cpu_clock *c = cpu_clock_here();

	return c ? c->runs : is_target(process_of(next));
}

/* Adds what the thread that runs here has read and written since its clock did so last. */
static __always_inline void cpu_clock_adds_io(struct wire_cpu_clock *c,
					      const struct task_struct *task)
{
	if (!counts_io(task))
		return;
	c->reads += FIELD(task, ioac.syscr) - c->reads_since;
	c->writes += FIELD(task, ioac.syscw) - c->writes_since;
}

static __always_inline void cpu_clock_begins_io(struct wire_cpu_clock *c,
						const struct task_struct *task)
{
	if (!counts_io(task))
		return;
	c->reads_since = FIELD(task, ioac.syscr);
	c->writes_since = FIELD(task, ioac.syscw);
}

/* This CPU goes on with a thread, of the target or not. */
static __always_inline void cpu_clock_turns(const struct task_struct *leaves,
					    const struct task_struct *comes, bool target)
{
	u32 cpu = bpf_get_smp_processor_id();
	u64 now = bpf_ktime_get_ns(), since;
	struct wire_cpu_clock *c;

	if (!keep_cpu_clocks || cpu >= WIRE_CPU_CLOCKS)
		return;
	c = &cpu_clocks[cpu];
	since = c->since_ns;
	*(volatile u64 *)&c->since_ns = 0;
	barrier();
	if (c->runs && now > since)
		c->ran_ns += now - since;
	if (c->runs)
		cpu_clock_adds_io(c, leaves);
	if (target)
		cpu_clock_begins_io(c, comes);
	c->runs = target;
	barrier();
	*(volatile u64 *)&c->since_ns = now;
}

/* Adds what the thread that runs here has read and written up to now. Preemption is off. */
static __always_inline void cpu_clock_catches_up(const struct task_struct *current)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (cpu >= WIRE_CPU_CLOCKS || !cpu_clocks[cpu].runs)
		return;
	cpu_clock_adds_io(&cpu_clocks[cpu], current);
	cpu_clock_begins_io(&cpu_clocks[cpu], current);
}

/* When this CPU's clock has turned last, which is now: that spares its program asking once more, or
 * keeping it on its stack. */
static __always_inline u64 cpu_clock_turned(void)
{
	const struct wire_cpu_clock *c = cpu_clock_here();

	return c ? *(volatile u64 *)&c->since_ns : bpf_ktime_get_ns();
}

/* The end of a child wakes nobody but if it is the last one: they may be many. */
static __always_inline void event_send(u32 kind, u32 pid, u32 other, u32 generation)
{
	struct wire_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);

	if (!e) {
		__sync_fetch_and_add(&events_lost, 1);
		return;
	}
	e->kind = kind;
	e->pid = pid;
	e->other = other;
	e->generation = generation;
	bpf_ringbuf_submit(e, kind == WIRE_EVENT_ENDED && followed_alive ? BPF_RB_NO_WAKEUP : 0);
}

#define ADVANCE_TRIES 8

struct advance {
	u32 *last;
	u32 generation;
	u32 pad;
};

static __always_inline long advance_try(__attribute__((unused)) u32 i, const struct advance *a)
{
	u32 now = *(volatile u32 *)a->last;

	return (int)(a->generation - now) <= 0 || SWAP_IF(a->last, now, a->generation);
}

/* Of several changes at once the last one counts, whoever comes here last. */
static __always_inline void advance(u32 *last, u32 generation)
{
	struct advance a = {.last = last, .generation = generation};

	LOOP(ADVANCE_TRIES, advance_try, &a);
}

/* Code that process `tgid` (0: the current one) has mapped by change `generation` may run from here
 * on. */
__noinline int maps_run(u32 tgid, u32 generation)
{
	if (!tgid)
		tgid = current_process();
	if (bpf_map_update_elem(&maps_running_of, &tgid, &generation, BPF_ANY))
		advance(&maps_running_unknown, generation);
	advance(&maps_running, generation);
	return 0;
}

/* Something has been mapped. Until its code may run (maps_run()) that changes nothing. */
static __always_inline u32 maps_changed(u32 kind, u32 pid, u32 other)
{
	u32 generation = next_number(&maps_generation) + 1;

	event_send(kind, pid, other, generation);
	return generation;
}

/* How long the threads of a process may yet be kept waiting: a budget that time refills, for one
 * with many mappings takes long to be looked at, each time. */
struct patience {
	u64 since_ns; /* filled up to here */
	s64 left_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, struct patience);
} patiences SEC(".maps");

#define PATIENCE_WAITS 4 /* that may be long ones, one behind the other */
#define PATIENCE_SHARE 4 /* of the time that passes, one part in so many may be spent waiting */

struct wait {
	u64 deadline_ns;
	const void *stack; /* of the waiting thread: an address that can be read */
	u32 generation;
	bool done;
};

static long wait_once(__attribute__((unused)) u32 i, struct wait *w)
{
	char byte;

	w->done = !listening || planner_gone || caught_up(w->generation);
	if (w->done || bpf_ktime_get_ns() >= w->deadline_ns)
		return 1;
	/*
	 * Lets others have the CPU (__get_user_pages() reschedules even where the kernel is not
	 * preemptible), and fails once the thread is to be killed. But it would wait for a page
	 * that is not there, for ever if that is of a file of the target's own making (FUSE), and
	 * whoever frees BPF programs with it: so no wait without the page.
	 */
	if (!bpf_probe_read_user(&byte, sizeof(byte), w->stack) &&
	    !bpf_copy_from_user_task(&byte, sizeof(byte), w->stack, current_task(), 0))
		return 0;
	w->done = true;
	return 1;
}

static __always_inline struct patience *patience_of(u32 tgid, u64 now)
{
	struct patience *p = bpf_map_lookup_elem(&patiences, &tgid);
	const s64 most_ns = PATIENCE_WAITS * long_wait_ns;
	const struct patience new = {now, most_ns};
	u64 passed;

	if (!p) {
		bpf_map_update_elem(&patiences, &tgid, &new, BPF_NOEXIST);
		return bpf_map_lookup_elem(&patiences, &tgid);
	}
	passed = now - p->since_ns;
	p->since_ns = now;
	p->left_ns += passed / PATIENCE_SHARE;
	if (p->left_ns > most_ns)
		p->left_ns = most_ns;
	return p;
}

/* Threads that are held, by number, with the CPU time that they had before. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, u64);
} held_threads SEC(".maps");

/* CPU time, in ns, of threads while they were held: they ask again and again. It is ours. */
u64 held_ns WRITTEN = 0;

/* Samples of a thread that is held tell nothing of the target. */
static __always_inline bool is_held(u64 pid_tgid)
{
	return bpf_map_lookup_elem(&held_threads, &pid_tgid);
}

__noinline int hold_begins(void)
{
	u64 thread = current_thread(), cpu_ns = FIELD(current_task(), se.sum_exec_runtime);

	return bpf_map_update_elem(&held_threads, &thread, &cpu_ns, BPF_ANY);
}

/* The current thread has waited for us, since the last call of this. For its calls that is time off
 * the CPU. */
__noinline int hold_charge(void)
{
	u64 thread = current_thread(), *before_ns, ns, now = bpf_ktime_get_ns();
	const struct task_struct *task = current_task();
	struct wire_callstack *thread_stack, *callstack;
	u32 number;

	before_ns = bpf_map_lookup_elem(&held_threads, &thread);
	if (!before_ns)
		return 0;
	ns = FIELD(task, se.sum_exec_runtime) - *before_ns;
	*before_ns += ns;
	__sync_fetch_and_add(&held_ns, ns);
	thread_stack = thread_stack_of(task, &number);
	callstack = thread_stack ? callstack_at(thread_stack->current) : 0;
	if (callstack && callstack->runner == number)
		callstack_waited(callstack, now - ns, now);
	return 0;
}

static __always_inline void hold_ends(void)
{
	u64 thread = current_thread();

	hold_charge();
	bpf_map_delete_elem(&held_threads, &thread);
}

static long wait_on(__attribute__((unused)) u32 i, struct wait *w)
{
	LOOP(1 << 10, wait_once, w); /* a millisecond or two */
	hold_charge();
	return w->done || bpf_ktime_get_ns() >= w->deadline_ns;
}

/* Holds the thread until user space has caught up with that change. False: it took too long. */
static __always_inline bool wait_for_plan(u32 tgid, u32 generation, const void *stack, u64 max_ns)
{
	u64 now = bpf_ktime_get_ns();
	struct patience *p = patience_of(tgid, now);
	struct wait w = {
		.deadline_ns = now,
		.stack = stack,
		.generation = generation,
	};

	if (!CAN_SLEEP)
		return false;
	if (!p || p->left_ns <= 0)
		return caught_up(generation);
	if (max_ns > (u64)p->left_ns)
		max_ns = p->left_ns;
	w.deadline_ns += max_ns;
	/* Taken first, as its threads may wait at once. */
	__sync_fetch_and_add(&p->left_ns, -max_ns);
	hold_begins();
	LOOP(1 << 20, wait_on, &w);
	hold_ends();
	now = bpf_ktime_get_ns();
	if (now < w.deadline_ns)
		__sync_fetch_and_add(&p->left_ns, w.deadline_ns - now);
	return w.done;
}

/* <link.h>: struct r_debug, and its state when nothing is being mapped or unmapped, and when files
 * are about to be unmapped. */
#define R_DEBUG_STATE	   24
#define R_DEBUG_CONSISTENT 0
#define R_DEBUG_DELETE	   2

/* Threads whose dynamic linker unmaps files. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u8);
} unmapping SEC(".maps");

/* The dynamic linker's state, by its address; UNMAPPED: it is done with unmapping. */
#define UNMAPPED -1

__noinline int link_map_state(u64 r_debug)
{
	u64 thread = current_thread();
	int state = R_DEBUG_CONSISTENT;
	const u8 yes = 1;

	if (r_debug)
		bpf_probe_read_user(&state, sizeof(state), (void *)(r_debug + R_DEBUG_STATE));
	if (state == R_DEBUG_DELETE)
		bpf_map_update_elem(&unmapping, &thread, &yes, BPF_ANY);
	if (state == R_DEBUG_CONSISTENT && !bpf_map_delete_elem(&unmapping, &thread))
		return UNMAPPED;
	return state;
}

/* The process has begun a program. */
static __always_inline void program_starts(u32 tgid)
{
	u32 *kind = bpf_map_lookup_elem(&tgids, &tgid);

	if (!kind)
		return;
	*kind |= WIRE_TGID_STARTS;
	__sync_fetch_and_add(&starts_unheld, 1);
}

/* Its dynamic linker has reported to us before any of its code has run. False: it has before. */
static __always_inline bool program_is_held(u32 tgid)
{
	u32 *kind = bpf_map_lookup_elem(&tgids, &tgid);

	if (!kind || !(*kind & WIRE_TGID_STARTS))
		return false;
	*kind &= ~WIRE_TGID_STARTS;
	__sync_fetch_and_add(&starts_unheld, -1);
	return true;
}

/*
 * The dynamic linker says that it has begun or finished to map or unmap files. `r_debug`: where it
 * keeps its state, which it has just written; NULL: unknown. What it begins to map runs only when
 * it has finished, but for a program that starts: there it relocates before it says so. What it
 * unmaps cannot run, so nobody waits for that: of a server's workers, which may all close their
 * modules at once as they end, each would wait for each module, and keep its file from being probed
 * (a thread that waits is mostly away from its CPU amid bpf_copy_from_user_task(), which has the
 * lock of the process's memory).
 */
static __always_inline void on_mapped(const char *r_debug, const void *stack)
{
	u32 tgid = current_process(), generation;
	int state;
	bool starts;

	if (!listening || !is_target(tgid))
		return;
	starts = program_is_held(tgid);
	state = link_map_state((u64)r_debug);
	if (state > R_DEBUG_CONSISTENT && !starts)
		return;
	generation = maps_changed(WIRE_EVENT_MAPPED, tgid, 0);
	if (state == UNMAPPED)
		return;
	if (state != R_DEBUG_CONSISTENT) {
		maps_run(0, generation);
		return;
	}
	if (wants_later || !caught_up(exec_generation)) {
		if (!wait_for_plan(tgid, generation, stack, long_wait_ns))
			__sync_fetch_and_add(&waits_cut, 1);
	} else if (uses_returns && !returns_off) {
		wait_for_plan(tgid, generation, stack, brief_wait_ns);
	}
	if (!caught_up(generation))
		maps_run(0, generation);
}

/* A process makes a context: soon it may switch stacks, not before. */
static __always_inline void on_context_made(void)
{
	u32 tgid = current_process();

	if (contexts_made || !is_target(tgid))
		return;
	contexts_made = true;
	if (!contexts_guarded)
		return;
	returns_off = true;
	event_send(WIRE_EVENT_CONTEXT, tgid, 0, 0);
}

/* Pages of code that a child was born with: what it loads would go unnoticed, as the hook in the
 * dynamic linker is bound to the processes that were named. */
static __always_inline u32 pages_of_child(struct task_struct *child)
{
	u64 pages = BPF_CORE_READ(child, mm, exec_vm);

	if (BPF_CORE_READ(child, mm, uprobes_state.xol_area))
		pages--;
	return pages << WIRE_TGID_PAGES;
}

static __always_inline void on_new_process(struct task_struct *parent, struct task_struct *child)
{
	u32 tgid = far_process(child), parent_tgid = current_process();
	u32 followed = WIRE_TGID_FOLLOWED;

	if (tgid == parent_tgid || (filter_tgids && !is_target(parent_tgid)))
		return;
	if (!children_made)
		children_made = true;
	if (!filter_tgids)
		return;
	if (!follow_forks) {
		/* A vforked one shares its parent's memory, hence copies no probes. */
		if (listening && BPF_CORE_READ(child, mm) != BPF_CORE_READ(parent, mm))
			__sync_fetch_and_add(&forks, 1);
		return;
	}
	if (!follow_programs && !whom.open)
		followed |= pages_of_child(child);
	if (runs_unplanned(parent_tgid))
		maps_run(tgid, maps_generation);
	if (bpf_map_update_elem(&tgids, &tgid, &followed, BPF_ANY)) {
		__sync_fetch_and_add(&forks, 1);
		return;
	}
	__sync_fetch_and_add(&followed_alive, 1);
	__sync_fetch_and_add(&followed_cnt, 1);
	unwind_space_fork(parent_tgid, tgid);
}

/* A process is traced no longer. Returns whether it was a followed child. */
static __always_inline bool process_leaves(u32 tgid)
{
	u32 *kind = bpf_map_lookup_elem(&tgids, &tgid), was;

	if (!filter_tgids || !kind)
		return false;
	was = *kind;
	unwind_space_forget(tgid);
	bpf_map_delete_elem(&maps_running_of, &tgid);
	/* Two threads that end at once may both be told to be the last. */
	if (bpf_map_delete_elem(&tgids, &tgid) || !(was & WIRE_TGID_FOLLOWED))
		return false;
	__sync_fetch_and_add(&cpu_of_others, current_cpu_ns());
	__sync_fetch_and_add(&followed_alive, -1);
	event_send(WIRE_EVENT_ENDED, tgid, 0, 0);
	return true;
}

static __always_inline bool is_named(u32 tgid)
{
	u32 *kind = bpf_map_lookup_elem(&tgids, &tgid);

	return kind && (*kind & WIRE_TGID_NAMED);
}

/* A child that has begun a program of its own is followed no longer: the clock of its CPU turns, or
 * samples and a wait of that program would be the target's, up to the next switch. */
static __always_inline void child_leaves(u32 tgid)
{
	u32 *kind = bpf_map_lookup_elem(&tgids, &tgid);

	if (!kind || !(*kind & WIRE_TGID_FOLLOWED))
		return;
	thread_stack_ends();
	process_leaves(tgid);
	cpu_clock_turns(current_task(), current_task(), false);
}

/* A process that belongs has begun a program: it is traced from here on, with all that it loads. */
static __always_inline void process_joins(u32 tgid)
{
	const u32 kind = WIRE_TGID_FOLLOWED;
	bool known = is_target(tgid);

	if (bpf_map_update_elem(&tgids, &tgid, &kind, BPF_ANY) || known)
		return;
	__sync_fetch_and_add(&followed_alive, 1);
	__sync_fetch_and_add(&followed_cnt, 1);
}

/* How often processes have begun a program when one of them was seen, by tgid: while the programs
 * at that tracepoint run, one behind the other. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} execs_seen SEC(".maps");

/* The current process begins a program, and the first of the programs there runs. */
static __always_inline void exec_note(void)
{
	u32 tgid = current_process();
	u64 execs = FAR_FIELD(current_task(), self_exec_id);

	bpf_map_update_elem(&execs_seen, &tgid, &execs, BPF_ANY);
}

/* Whether the first of the programs there has run. */
static __always_inline bool exec_was_noted(void)
{
	u32 tgid = current_process();
	u64 execs = FAR_FIELD(current_task(), self_exec_id),
	    *seen = bpf_map_lookup_elem(&execs_seen, &tgid);
	bool noted = seen && *seen == execs;

	if (seen)
		bpf_map_delete_elem(&execs_seen, &tgid); /* the number may be another one's soon */
	return noted;
}

/* A process has begun a new program; `by_thread`: another thread than its leader did. */
static __always_inline void on_new_program(bool by_thread)
{
	u32 tgid = current_process(), generation;
	u32 belongs = filter_tgids ? program_belongs() : BELONGS_NOT;

	if (belongs == BELONGS && !is_named(tgid))
		process_joins(tgid);
	else if (!follow_programs)
		child_leaves(tgid);
	if (!listening)
		return;
	if (!is_target(tgid)) {
		if (belongs == BELONGS_PERHAPS)
			event_send(WIRE_EVENT_STARTED, tgid, 0, 0);
		return;
	}
	program_starts(tgid);
	unwind_space_forget(tgid);
	generation = maps_changed(WIRE_EVENT_EXEC, tgid, by_thread);
	advance(&exec_generation, generation);
	maps_run(0, generation);
}

#define SIGTRAP	    5
#define EXIT_SIGNAL 127 /* the signal's part of an exit code */

/* The last thread of a process ends. */
static __always_inline void on_process_end(u32 tgid, bool traced)
{
	if ((traced || follow_programs || !filter_tgids) && listening &&
	    (FIELD(current_task(), exit_code) & EXIT_SIGNAL) == SIGTRAP)
		__sync_fetch_and_add(&trapped, 1);
	if (tgid == planner_tgid)
		planner_gone = true;
	process_leaves(tgid);
}

#endif
