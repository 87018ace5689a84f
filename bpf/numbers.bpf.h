/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of processes and threads. In a PID namespace of its own (a container) proftrace, its
 * options and /proc have others than the kernel: what is 7 there is 4711 for the kernel. All tables
 * and events have those of proftrace's namespace. In the initial one nothing is translated.
 */
#ifndef PROFTRACE_NUMBERS_BPF_H
#define PROFTRACE_NUMBERS_BPF_H

#include "kernel.bpf.h"

/* The PID namespace that proftrace is in: its inode number, and the device that this is on, as
 * bpf_get_ns_current_pid_tgid() wants it. 0: the initial one. */
const volatile u32 pid_ns = 0;
const volatile u64 pid_ns_dev = 0;

/* Namespaces below ours, in which a container's own containers may be, are looked for so deep. */
#define NESTED_MOST 4

/* Of who has no number in our namespace, the kernel's number with this bit, which none has there:
 * such a process is nobody's in /proc. */
#define OUTSIDE (1u << 30)

/* The number that a struct pid has in our namespace; `number` is the kernel's own. Who has been
 * reaped has no struct pid. Global: the verifier looks at it once a program. */
__noinline u32 number_inside(u64 address, u32 number)
{
	const struct pid *pid = (const void *)address;
	u32 level = pid ? FAR_FIELD(pid, level) : 0;

	for (u32 i = 0; pid && i < NESTED_MOST && i <= level; i++) {
		u64 numbers = address + bpf_core_field_offset(pid->numbers);
		struct upid inside;

		if (!bpf_probe_read_kernel(
			    &inside, sizeof(inside),
			    (const void *)(numbers + (level - i) * sizeof(inside))) &&
		    FAR_FIELD(inside.ns, ns.inum) == pid_ns)
			return inside.nr;
	}
	return number | OUTSIDE;
}

/* tgid << 32 | tid of a thread, in our namespace. */
static __noinline u64 thread_inside(const struct task_struct *task)
{
	const struct pid *leader = FAR_FIELD(FAR_FIELD(task, signal), pids[PIDTYPE_TGID]);
	u64 tgid = number_inside((u64)leader, FAR_FIELD(task, tgid));

	return tgid << 32 | number_inside((u64)FAR_FIELD(task, thread_pid), FAR_FIELD(task, pid));
}

/* tgid << 32 | tid of a thread. */
static __always_inline u64 thread_of(const struct task_struct *task)
{
	if (pid_ns)
		return thread_inside(task);
	return (u64)(u32)FIELD(task, tgid) << 32 | (u32)FIELD(task, pid);
}

/* The number of a thread's process; the fields of the thread are read by calls (FAR_FIELD). */
static __always_inline u32 far_process(const struct task_struct *task)
{
	return pid_ns ? thread_inside(task) >> 32 : (u32)FAR_FIELD(task, tgid);
}

/* thread_inside() of the current thread, by a helper that is quicker and knows those of our own
 * namespace, but not of those below it. */
static __noinline u64 current_inside(const struct task_struct *current)
{
	struct bpf_pidns_info inside;

	if (!bpf_get_ns_current_pid_tgid(pid_ns_dev, pid_ns, &inside, sizeof(inside)))
		return (u64)inside.tgid << 32 | inside.pid;
	return thread_inside(current);
}

/* As thread_of(), of the current thread, which is quicker in a namespace. */
static __always_inline u64 thread_now(const struct task_struct *current)
{
	return pid_ns ? current_inside(current) : thread_of(current);
}

static __always_inline u32 process_of(const struct task_struct *task)
{
	return pid_ns ? thread_inside(task) >> 32 : (u32)FIELD(task, tgid);
}

static __always_inline u32 process_now(const struct task_struct *current)
{
	return pid_ns ? current_inside(current) >> 32 : (u32)FIELD(current, tgid);
}

/* As thread_now(), where the task is not at hand. */
static __always_inline u64 current_thread(void)
{
#ifdef PROFTRACE_ASLEEP
	return thread_of(current_task());
#endif
	return pid_ns ? current_inside(current_task()) : bpf_get_current_pid_tgid();
}

static __always_inline u32 current_process(void)
{
	return current_thread() >> 32;
}

#endif
