/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kprobes at the begin and end of system calls, for the programs of bpf/system_calls.bpf.h: on the
 * functions in which kernels from 7.0 on have the tracepoints.
 */
#ifndef PROFTRACE_ATTACH_LINKS_CALL_PROBES_H
#define PROFTRACE_ATTACH_LINKS_CALL_PROBES_H

#include <stdbool.h>

#include "attach/links/skeleton.h"

/* Whether the kernel has these functions. */
bool call_probes__known(void);

/* Opens them, while there are the privileges for that. Without programs they do nothing. */
void call_probes__open(void);

/* Attaches the programs. False: the kernel has no such kprobes, or we may not use them. */
bool call_probes__attach(struct proftrace_bpf *skel);

#endif
