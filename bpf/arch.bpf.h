/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers and stack at a probe, by processor architecture. Each one has a header that defines,
 * for the registers at a probe:
 *
 *   stack_pointer(), frame_pointer(), instruction_pointer()
 *   result_register()             where a function's result is as it returns
 *   first_argument() and so on    of a function, at its entry
 *   RETURN_MOVES                  bytes that a return moves the stack pointer up from the slot
 *   condition_holds()             whether a conditional branch is taken
 *   registers_read()              all, in the order of their numbers in instructions
 *   STACK_ARGUMENTS               bytes from the slot to the first argument on the stack
 *   ARGUMENTS, argument_register  how many arguments are in registers, and which register it is
 *
 * and THREAD_POINTER, the field of a task that tells where the C library has the thread's control
 * block.
 */
#ifndef PROFTRACE_ARCH_BPF_H
#define PROFTRACE_ARCH_BPF_H

#if defined(__TARGET_ARCH_x86)
#include "arch_x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arch_arm64.bpf.h"
#else
#error "no header for this architecture"
#endif

static __always_inline u64 thread_pointer(const struct task_struct *task)
{
	return FIELD(task, THREAD_POINTER);
}

#endif
