/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the kernel that programs call and that differ from kernel to kernel. */
#ifndef PROFTRACE_ATTACH_LINKS_BTF_KFUNC_H
#define PROFTRACE_ATTACH_LINKS_BTF_KFUNC_H

#include <stddef.h>

struct bpf_program;
struct btf_view;

/*
 * The number in the kernel's BTF of a function that returns a pointer and takes `most` arguments or
 * fewer, a pointer and numbers behind it: what a program may call with these. -ENOENT: the kernel
 * has none of that name; -EPROTO: it has one with other arguments.
 */
int kfunc__find(const struct btf_view *kernel, const char *name, size_t most);

/*
 * Before load: lets a program's calls of helper number `placeholder`, which no kernel has, be calls
 * of a function of the running kernel. The kernel's BTF is asked how the function looks, as that
 * has changed. Returns 0, or -errno, silently: -ENOENT and -EPROTO as above.
 */
int kfunc__call(struct bpf_program *prog, int placeholder, const char *name, size_t most);

#endif
