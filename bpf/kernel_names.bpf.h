/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the kernel's own functions. User space could read them off /proc/kallsyms, but its
 * 200,000 lines take 60 ms, and samples have some hundred addresses.
 */
#ifndef PROFTRACE_KERNEL_NAMES_BPF_H
#define PROFTRACE_KERNEL_NAMES_BPF_H

#include "kernel.bpf.h"

/* The last answer: "vfs_read+0x1a/0x340", of a module "... [ext4]"; an address without a name as
 * a number, "0x1234". */
char kernel_name[WIRE_KERNEL_NAME] WRITTEN = {};

static __always_inline long kernel_name_say(__attribute__((unused)) u64 address)
{
#ifdef PROFTRACE_BASIC
	return -1; /* bpf_snprintf() came with 5.13 */
#else
	static const char format[] = "%pS";

	return bpf_snprintf(kernel_name, sizeof(kernel_name), format, &address, sizeof(address));
#endif
}

#endif
