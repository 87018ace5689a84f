/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of vmlinux.h: what differs by architecture, of arm64. */
#ifndef PROFTRACE_VMLINUX_ARM64_H
#define PROFTRACE_VMLINUX_ARM64_H

/* The registers a uprobe program gets: struct user_pt_regs, with which struct pt_regs begins. */
struct pt_regs {
	__u64 regs[31];
	__u64 sp, pc, pstate;
};

struct thread_struct {
	struct {
		unsigned long tp_value; /* of user space */
	} uw;
};

#endif
