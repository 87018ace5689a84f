/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel types that our BPF programs use, and no others. Field offsets are taken from the
 * running kernel's BTF when the programs are loaded (CO-RE), so only names and types matter here,
 * and building needs no kernel BTF. Add a field when a program needs one.
 */
#ifndef PROFTRACE_VMLINUX_H
#define PROFTRACE_VMLINUX_H

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
#define true  1
#define false 0

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_RINGBUF = 27,
};

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_F_MMAPABLE = 1024,
	BPF_F_INNER_MAP = 4096,
};

enum {
	BPF_RB_NO_WAKEUP = 1,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_arm64)
#include "vmlinux_arm64.h"
#else
#include "vmlinux_x86.h"
#endif

/* A return probe that is armed. */
struct return_instance {
	unsigned long stack; /* the slot */
	unsigned long orig_ret_vaddr;
	struct return_instance *next;
	/* Since 6.14: of those who want it, all but the first. */
	struct return_consumer *extra_consumers;
};

struct list_head {
	struct list_head *next, *prev;
};

/* A probed instruction. */
struct arch_uprobe {
};

struct uprobe {
	struct list_head consumers; /* since 6.12 a list_head */
	struct arch_uprobe arch;
};

/* Who probes it. */
struct uprobe_consumer {
	void *handler, *ret_handler;
	struct list_head cons_node; /* among the instruction's */
};

struct bpf_prog_aux {
	__u32 id;
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct bpf_link {
	struct bpf_prog *prog;
};

struct bpf_uprobe_multi_link {
	struct bpf_link link;
};

/* The consumer of a link on many instructions. */
struct bpf_uprobe {
	struct bpf_uprobe_multi_link *link;
	struct uprobe_consumer consumer;
};

struct uprobe_task {
	struct return_instance *return_instances; /* the newest first */
	struct return_instance *ri_pool;	  /* since 6.14: records to be used again */
	struct arch_uprobe *auprobe; /* since 6.12: of the instruction that is hit */
	unsigned int depth; /* return probes that are armed */
	unsigned long vaddr; /* of a thread in a trace event's handler: its uprobe_dispatch_data */
};

/* A trace event's place that is hit, and the arguments with which the place was defined. */
struct fetch_insn {
	unsigned long immediate;
};

struct probe_arg {
	struct fetch_insn *code;
};

struct trace_probe {
	unsigned int nr_args;
	struct probe_arg args[0];
};

struct trace_uprobe {
	struct trace_probe tp;
};

struct uprobe_dispatch_data {
	struct trace_uprobe *tu;
};

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

/* A number, and the namespace in which it is that. */
struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;	/* of the innermost namespace */
	struct upid numbers[1]; /* from the initial namespace to that one */
};

struct bpf_pidns_info {
	__u32 pid, tgid;
};

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_PGID,
	PIDTYPE_SID,
	PIDTYPE_MAX,
};

struct signal_struct {
	struct pid *pids[PIDTYPE_MAX];
	atomic_t live;		      /* threads that have not ended */
	struct list_head thread_head; /* of all that the kernel has not taken apart yet */
	__u64 sum_sched_runtime;      /* of those that it has */
};

struct sched_entity {
	__u64 sum_exec_runtime;
};

struct xol_area {
	unsigned long vaddr; /* the page where it lies */
};

struct uprobes_state {
	struct xol_area *xol_area; /* where instructions are single-stepped; NULL: none yet */
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
	struct dentry *d_parent;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_generation;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	const void *f_op;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct in6_addr {
	union {
		unsigned int u6_addr32[4];
	} in6_u;
};

struct sock_common {
	unsigned int skc_daddr; /* the other end's, in the network's order, as all these */
	unsigned short skc_dport;
	unsigned short skc_num; /* the port here, in the processor's order */
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
};

struct sk_buff_head {
	__u32 qlen;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
};

struct socket {
	short type;
	struct sock *sk;
};

struct sockaddr_un {
	char sun_path[108];
};

struct unix_address {
	int len; /* of the name: the family's two bytes, and the path */
	struct sockaddr_un name[0];
};

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
};

struct pipe_inode_info {
	unsigned int head, tail;
};

struct eventfd_ctx {
	__u64 count;
};

/* Behind an epoll descriptor: files that are ready are in `rdllist`. */
struct eventpoll {
	struct list_head rdllist;
};

struct epoll_filefd {
	struct file *file;
	int fd;
};

struct epitem {
	struct list_head rdllink;
	struct epoll_filefd ffd;
};

typedef struct {
	long counter;
} atomic_long_t;

/* Kernels for real time (PREEMPT_RT) have no `count`. */
struct rw_semaphore {
	atomic_long_t count;
};

struct mm_struct {
	struct rw_semaphore mmap_lock; /* taken where memory is mapped, and at some page faults */
	unsigned long exec_vm; /* pages that are mapped as code */
	struct file *exe_file; /* the program */
	struct uprobes_state uprobes_state;
};

struct thread_info {
	unsigned long syscall_work; /* since 5.11: bits of enum syscall_work_bit */
};

enum syscall_work_bit {
	SYSCALL_WORK_BIT_SYSCALL_EMU = 3,
	SYSCALL_WORK_BIT_SYSCALL_USER_DISPATCH = 5,
};

typedef struct {
	unsigned int val;
} kuid_t;

struct cred {
	kuid_t euid;
};

struct kernfs_node {
	__u64 id; /* of a control group: its folder's inode */
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self; /* the first field */
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp; /* of v2 */
};

struct task_io_accounting {
	__u64 syscr; /* calls of read(2) and its like */
	__u64 syscw; /* of write(2) and its like */
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	struct mm_struct *mm;
	struct signal_struct *signal;
	const struct cred *cred;
	struct css_set *cgroups;
	struct files_struct *files;
	unsigned int flags;
	unsigned in_iowait : 1;
	unsigned int __state; /* since 5.14 */
	int pid;
	int tgid;
	int exit_code;
	unsigned long nvcsw;  /* how often it has left the CPU to wait */
	__u64 start_boottime; /* since 5.5 */
	__u64 self_exec_id;   /* programs that it has begun */
	struct task_struct *real_parent, *group_leader;
	struct list_head thread_node; /* in that of its process */
	struct pid *thread_pid;
	unsigned long sas_ss_sp; /* the signal stack */
	unsigned long sas_ss_size;
	unsigned int sas_ss_flags;
	struct uprobe_task *utask;
	struct task_io_accounting ioac;
	struct thread_struct thread;
	int on_cpu; /* it is one's current thread, or about to leave it */
	char comm[16];
	unsigned long nivcsw; /* how often it has left the CPU otherwise than nvcsw says */
};

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
};

#pragma clang attribute pop

/* The argument of a program at an iterator of tasks. */
struct bpf_iter__task {
	void *meta;
	struct task_struct *task; /* NULL: there are no more */
};

/* Arguments of a raw tracepoint. */
struct bpf_raw_tracepoint_args {
	__u64 args[0];
};

#endif
