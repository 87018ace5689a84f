/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why a thread leaves the CPU: by the system call that it is in, and by what the descriptor stands
 * for that it waits for. No probe is needed at system calls: at a switch the kernel has the number
 * and the arguments among the thread's registers.
 */
#ifndef PROFTRACE_REASONS_BPF_H
#define PROFTRACE_REASONS_BPF_H

#include "file_names.bpf.h"

/* By number of a system call: enum wire_reason. */
const volatile u8 call_reasons[WIRE_CALLS] = {};

#ifndef PROFTRACE_BASIC

/* Of include/linux/sched.h: */
#define UNINTERRUPTIBLE_STATE 0x2 /* TASK_UNINTERRUPTIBLE */
#define STOPPED_STATES	      0xc /* __TASK_STOPPED, __TASK_TRACED */

/* The file that one of the current process's descriptors stands for; NULL: none. */
static __always_inline struct file *descriptor_file(u32 descriptor)
{
	return file_of(current_task(), descriptor);
}

static __always_inline u32 socket_reason(const struct file *file)
{
	return FAR_FIELD(sock_of(file), __sk_common.skc_family) == FOR_UNIX ? WIRE_REASON_PIPE
									    : WIRE_REASON_NETWORK;
}

/* Of a file without a place in any folder: its name in the kernel, as "[timerfd]", tells. */
static __always_inline u32 anonymous_reason(const struct file *file)
{
	const struct dentry *entry = FAR_FIELD(file, f_path.dentry);
	const unsigned char *name = FAR_FIELD(entry, d_name.name);
	char start[3] = {};

	bpf_probe_read_kernel(start, sizeof(start), name);
	return start[1] == 't'			    ? WIRE_REASON_TIMER
	       : start[1] == 'e' && start[2] == 'v' ? WIRE_REASON_PIPE
						    : WIRE_REASON_OTHER;
}

/* What one of the current process's descriptors stands for. */
__noinline u32 descriptor_reason(u32 descriptor)
{
	const struct file *file = descriptor_file(descriptor);
	const struct inode *inode;
	u32 kind;

	if (!file)
		return WIRE_REASON_OTHER;
	inode = FAR_FIELD(file, f_inode);
	kind = FAR_FIELD(inode, i_mode) & FILE_KIND;
	if (kind == IS_FIFO)
		return WIRE_REASON_PIPE;
	if (kind == IS_SOCKET)
		return socket_reason(file);
	if (kind == IS_DEVICE)
		return WIRE_REASON_DEVICE;
	if (kind == IS_BLOCK || kind == IS_FOLDER)
		return WIRE_REASON_DISK;
	if (FAR_FIELD(FAR_FIELD(inode, i_sb), s_magic) == ANON_MAGIC)
		return anonymous_reason(file);
	return kind == IS_FILE ? WIRE_REASON_DISK : WIRE_REASON_OTHER;
}

/* Of include/uapi/linux/futex.h: */
#define FUTEX_OPERATION 0x7f
#define FUTEX_PLAIN	0  /* FUTEX_WAIT */
#define FUTEX_BITSET	9  /* FUTEX_WAIT_BITSET: of mutexes with a deadline, and all of Rust's */
#define FUTEX_OWNED	6  /* FUTEX_LOCK_PI */
#define FUTEX_OWNED_TOO 13 /* FUTEX_LOCK_PI2 */
#define FUTEX_CONTENDED 2  /* the value of a mutex, of most libraries, that somebody waits for */

/* enum wire_object. */
static __always_inline u32 futex_kind(u32 call, const struct pt_regs *regs)
{
	u32 operation = second_argument(regs) & FUTEX_OPERATION;
	bool owned = operation == FUTEX_OWNED || operation == FUTEX_OWNED_TOO ||
		     ((operation == FUTEX_PLAIN || operation == FUTEX_BITSET) &&
		      (u32)third_argument(regs) == FUTEX_CONTENDED);

	return call < WIRE_CALLS && call_reasons[call] == WIRE_CALL_FUTEX && owned
		       ? WIRE_OBJECT_LOCK
		       : WIRE_OBJECT_FUTEX;
}

/* The other end of a file that is a connection: struct wire_single_wait's object of kind
 * WIRE_OBJECT_PEER. 0: it is none. */
static __always_inline u64 file_peer(const struct file *file)
{
	const struct sock *sk;
	u32 family, port, address;

	if (kind_of_file(file) != IS_SOCKET)
		return 0;
	sk = sock_of(file);
	family = FAR_FIELD(sk, __sk_common.skc_family);
	port = FAR_FIELD(sk, __sk_common.skc_dport);
	address = FAR_FIELD(sk, __sk_common.skc_daddr);
	if (family == FOR_INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_daddr))
		address = FAR_FIELD(sk, __sk_common.skc_v6_daddr.in6_u.u6_addr32[3]);
	else if (family != FOR_INET)
		return 0;
	return port ? (u64)(u16)port << 32 | address : 0;
}

/* Sets the object of a wait: a file, by its address, that has that descriptor. Of a pipe without a
 * name the descriptor tells more than that it is one. */
__noinline u32 wait_object(struct wire_single_wait *w, u64 address, u32 descriptor)
{
	const struct file *file = (void *)address;
	u64 peer;

	if (!w || !file)
		return 0;
	peer = file_peer(file);
	w->kind = peer ? WIRE_OBJECT_PEER : WIRE_OBJECT_FILE;
	w->object = peer ? peer : descriptor;
	w->file = is_pipe(file) ? 0 : file_name(address);
	return w->file;
}

/* Of kernel/locking/rwsem.c: RWSEM_WRITER_LOCKED, RWSEM_FLAG_WAITERS. */
#define RWSEM_AWAITED 3

/* Whether the current thread, in that state, may wait for the lock of its process's mappings: at a
 * page fault, or in a system call such as mmap(). Global, as has_loaded(). */
__noinline u32 waits_for_mappings(u32 state)
{
	const struct mm_struct *mm = FAR_FIELD(current_task(), mm);

	return (state & UNINTERRUPTIBLE_STATE) && bpf_core_field_exists(mm->mmap_lock.count) &&
	       (FAR_FIELD(mm, mmap_lock.count.counter) & RWSEM_AWAITED);
}

/* Why the current thread, in that state, leaves the CPU amid a system call (or what else is
 * wire_wait::call). *lock = the address of the futex that it waits for; else 0. */
static __always_inline u32 wait_reason(const struct task_struct *task, u32 state, u32 call,
				       const struct pt_regs *regs, u64 *lock)
{
	u32 reason;

	*lock = 0;
	if (call == WIRE_WAIT_PREEMPTED)
		return WIRE_REASON_CPU;
	if (state & STOPPED_STATES)
		return WIRE_REASON_STOPPED;
	if (BPF_CORE_READ_BITFIELD(task, in_iowait))
		return WIRE_REASON_DISK;
	reason = call < WIRE_CALLS ? call_reasons[call] : WIRE_REASON_OTHER;
	if (reason == WIRE_REASON_OTHER && waits_for_mappings(state))
		return WIRE_REASON_LOCK;
	if (call >= WIRE_CALLS) /* a page is missing, say */
		return state & UNINTERRUPTIBLE_STATE ? WIRE_REASON_DISK : WIRE_REASON_OTHER;
	if (reason < WIRE_REASONS)
		return reason;
	if (reason == WIRE_CALL_FILE)
		return descriptor_reason(first_argument(regs));
	if (reason == WIRE_CALL_POLL)
		return second_argument(regs) ? WIRE_REASON_POLL : WIRE_REASON_TIMER;
	if (reason == WIRE_CALL_SELECT)
		return first_argument(regs) ? WIRE_REASON_POLL : WIRE_REASON_TIMER;
	if (reason == WIRE_CALL_EPOLL)
		return WIRE_REASON_POLL;
	if (reason != WIRE_CALL_FUTEX)
		return WIRE_REASON_OTHER;
	*lock = first_argument(regs);
	return WIRE_REASON_LOCK;
}

#endif
#endif
