/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs for kernels before 5.17 (bpf/kernel.bpf.h), as the type that all are. */
#ifndef PROFTRACE_ATTACH_LINKS_BASIC_H
#define PROFTRACE_ATTACH_LINKS_BASIC_H

struct proftrace_bpf;

/* Opens the programs of basic.bpf.c, as proftrace_bpf__open() does those of proftrace.bpf.c; both
 * are loaded alike. NULL with errno set. */
struct proftrace_bpf *basic__open(void);

#endif
