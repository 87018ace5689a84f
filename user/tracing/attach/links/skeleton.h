/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiled BPF programs, with what their generated header takes for granted. */
#ifndef PROFTRACE_ATTACH_LINKS_SKELETON_H
#define PROFTRACE_ATTACH_LINKS_SKELETON_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "wire.h"
#include "proftrace.skel.h"

/* Opens the programs of proftrace.bpf.c, or of basic.bpf.c, which are for kernels before 5.17
 * (bpf/kernel.bpf.h); both are loaded alike. Who calls proftrace_bpf__open() gets a copy of all of
 * them in the file. NULL with errno set. */
struct proftrace_bpf *skeleton__open(bool basic);

#endif
