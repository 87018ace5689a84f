/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of system calls, for those that look at what is open: see system_calls.bpf.h. */
#ifndef PROFTRACE_SYSTEM_CALL_FRAMES_BPF_H
#define PROFTRACE_SYSTEM_CALL_FRAMES_BPF_H

#include "tables.bpf.h"

/* --syscalls: the function that stands for system call 0; those of the others, and of errors,
 * follow. */
const volatile bool keep_system_calls = false;
const volatile u32 system_calls_first = 0;

static __always_inline bool is_system_call(const struct wire_frame *f)
{
	return keep_system_calls && f->function - system_calls_first < WIRE_CALLS;
}

#endif
