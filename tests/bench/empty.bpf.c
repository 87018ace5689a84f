// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that does nothing: a hit costs no more than the trap. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("uprobe")
int empty(struct pt_regs *ctx __attribute__((unused)))
{
	return 0;
}
