// SPDX-License-Identifier: GPL-2.0-or-later
/* The least that a program which times calls can do: a session program that reads the clock at the
 * entry and at the return, and nothing else. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

__u64 clock_ns;

SEC("uprobe")
int clock2(struct pt_regs *ctx __attribute__((unused)))
{
	clock_ns = bpf_ktime_get_ns();
	return 0;
}
