/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On and off the CPU: while a thread does not run, no frame of it changes. So the time from one
 * switch to the next belongs to the path that is innermost, and calls themselves pay nothing.
 */
#ifndef PROFTRACE_SCHED_BPF_H
#define PROFTRACE_SCHED_BPF_H

#include "places.bpf.h"

/* CPU time of processes that have ended: nobody can ask for it any more. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} cpu_of_ended SEC(".maps");

/* The current thread is the last of its process. */
static __always_inline void note_cpu_time(void)
{
	const struct task_struct *task = current_task(), *leader = FIELD(task, group_leader);
	u64 ns = FIELD(FIELD(task, signal), sum_sched_runtime) + FIELD(task, se.sum_exec_runtime);
	u32 tgid = FIELD(task, tgid);

	if (FIELD(task, pid) != FIELD(task, tgid))
		ns += FIELD(leader, se.sum_exec_runtime);
	bpf_map_update_elem(&cpu_of_ended, &tgid, &ns, BPF_ANY);
}

/* The home of a thread that need not be the current one, if it has one. */
static __always_inline struct wire_lane *home_of(const struct task_struct *task)
{
	u64 pid_tgid = (u64)(u32)FIELD(task, tgid) << 32 | (u32)FIELD(task, pid);
	u32 at = pid_tgid % WIRE_THREAD_CACHE, *number = bpf_map_lookup_elem(&home_cache, &at);
	struct wire_lane *home;

	/* A place that was never used: no thread with these low bits has been seen. */
	if (!FIELD(task, pid) || !number || !*number)
		return 0;
	home = lane_at(*number);
	if (!home || home->pid_tgid != pid_tgid) {
		number = bpf_map_lookup_elem(&home_of_tid, &pid_tgid);
		home = number ? lane_at(*number) : 0;
	}
	return home && home->pid_tgid == pid_tgid && !home->exit_ns ? home : 0;
}

static __always_inline void home_resumes(struct wire_lane *home, u64 now)
{
	struct wire_lane *lane = lane_at(home->current);
	struct wire_frame *top = lane ? frame_at(lane->top) : 0;
	struct wire_node *n = top ? node_at(top->node) : 0;
	u64 since = home->off_since;

	home->off_since = 0;
	if (!since || !n || now <= since)
		return;
	n->off_ns += (now - since) * top->weight;
	lane->off_ns += now - since;
}

static __always_inline void cpu_changes_hands(const struct task_struct *prev,
					      const struct task_struct *next)
{
	struct wire_lane *home;
	u64 now = 0;

	home = home_of(prev);
	if (home)
		home->off_since = now = bpf_ktime_get_ns();
	home = home_of(next);
	if (home && home->off_since)
		home_resumes(home, now ? now : bpf_ktime_get_ns());
}

#endif
