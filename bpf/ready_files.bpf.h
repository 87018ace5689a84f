/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of several files has ended a wait for them: when the thread goes on, the kernel has what is
 * ready in the list of an epoll; of the files of a poll() those are ready that have something to be
 * read.
 */
#ifndef PROFTRACE_READY_FILES_BPF_H
#define PROFTRACE_READY_FILES_BPF_H

#include "reasons.bpf.h"

#ifndef PROFTRACE_BASIC

/* Notes which files a thread waits for: its memory can be read now alone. */
static __always_inline void polled_note(struct wire_sleeper *sleeper, u32 call,
					const struct pt_regs *regs)
{
	u64 cnt = second_argument(regs);

	sleeper->polled_cnt = 0;
	if (call >= WIRE_CALLS)
		return;
	if (call_reasons[call] == WIRE_CALL_EPOLL) {
		sleeper->polled[0] = (u32)first_argument(regs);
		sleeper->polled_cnt = ~0ull;
		return;
	}
	if (call_reasons[call] != WIRE_CALL_POLL || !cnt || cnt > WIRE_POLLED)
		return;
	if (!bpf_probe_read_user(sleeper->polled, cnt * sizeof(u64), (void *)first_argument(regs)))
		sleeper->polled_cnt = cnt;
}

static __always_inline bool is_readable(const struct file *file)
{
	const struct pipe_inode_info *pipe;
	u32 kind = kind_of_file(file);

	if (kind == IS_SOCKET)
		return FAR_FIELD(sock_of(file), sk_receive_queue.qlen);
	if (kind != IS_FIFO)
		return false;
	pipe = FAR_FIELD(file, private_data);
	return FAR_FIELD(pipe, head) != FAR_FIELD(pipe, tail);
}

/* A search for the file that is ready. */
struct ready_search {
	const struct wire_sleeper *sleeper;
	const struct task_struct *task;
	u64 file;
	u32 descriptor;
};

static long ready_step(u32 i, struct ready_search *q)
{
	const struct file *file;
	u32 descriptor;

	if (!q->sleeper || i >= WIRE_POLLED || i >= q->sleeper->polled_cnt)
		return 1;
	descriptor = q->sleeper->polled[i];
	file = file_of(q->task, descriptor);
	if (!file || (q->sleeper->polled_cnt > 1 && !is_readable(file)))
		return 0;
	q->file = (u64)file;
	q->descriptor = descriptor;
	return 1;
}

static __always_inline void ready_of_epoll(struct ready_search *q, u32 descriptor)
{
	const struct file *file = file_of(q->task, descriptor);
	const struct eventpoll *epoll = file ? FAR_FIELD(file, private_data) : 0;
	const struct list_head *first;
	const struct epitem *item = 0;

	if (!epoll || !bpf_core_field_exists(item->rdllink))
		return;
	first = FAR_FIELD(epoll, rdllist.next);
	if (!first || first == &epoll->rdllist)
		return;
	item = (void *)first - bpf_core_field_offset(struct epitem, rdllink);
	q->file = (u64)FAR_FIELD(item, ffd.file);
	q->descriptor = FAR_FIELD(item, ffd.fd);
}

/* The thread, which need not be the current one, goes on: its wait was for the file that is ready,
 * if one is. */
static __always_inline void wait_was_for(struct wire_sleeper *sleeper,
					 const struct task_struct *task)
{
	struct ready_search q = {.sleeper = sleeper, .task = task};

	if (sleeper->polled_cnt == ~0ull)
		ready_of_epoll(&q, sleeper->polled[0]);
	else
		bpf_loop(WIRE_POLLED, ready_step, &q, 0);
	if (q.file)
		wait_object(&sleeper->wait, q.file, q.descriptor);
}

#endif
#endif
