/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BTF of the running kernel, 5 MB: which types and functions it has. It is asked several times
 * before programs are loaded, and read once.
 */
#ifndef PROFTRACE_ATTACH_LINKS_KERNEL_BTF_H
#define PROFTRACE_ATTACH_LINKS_KERNEL_BTF_H

struct btf;

/* Valid until it is forgotten; NULL: it cannot be read. */
const struct btf *kernel_btf(void);

/* Frees it; who asks again has it read again. */
void kernel_btf__forget(void);

#endif
