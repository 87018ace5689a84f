/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Part of vmlinux.h: what differs by architecture, of x86-64. */
#ifndef PROFTRACE_VMLINUX_X86_H
#define PROFTRACE_VMLINUX_X86_H

/* The registers a uprobe program gets: struct pt_regs of x86-64, in the kernel's own names. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct thread_struct {
	unsigned long fsbase;
	unsigned long features; /* since 6.6, of kernels that know shadow stacks */
};

#endif
