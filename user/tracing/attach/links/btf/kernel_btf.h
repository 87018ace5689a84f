/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BTF of the running kernel, 5 MB: which types and functions it has. */
#ifndef PROFTRACE_ATTACH_LINKS_BTF_KERNEL_BTF_H
#define PROFTRACE_ATTACH_LINKS_BTF_KERNEL_BTF_H

struct btf_view;

/* Asked for several times before programs are loaded, and read once. Valid until it is forgotten;
 * NULL: it cannot be read. */
const struct btf_view *kernel_btf(void);

/* Frees it; who asks again has it read again. */
void kernel_btf__forget(void);

#endif
