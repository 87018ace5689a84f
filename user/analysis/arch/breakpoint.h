/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints in a child that is traced (ptrace). Each architecture has its own, built where that
 * is the host's. */
#ifndef PROFTRACE_ARCH_BREAKPOINT_H
#define PROFTRACE_ARCH_BREAKPOINT_H

#include <stdint.h>
#include <sys/types.h>

/* The eight bytes of memory at an instruction, with a breakpoint in its place. */
uint64_t breakpoint__put_into(uint64_t word);

/* The child has stopped by a breakpoint: fills in where that is, and has the child go on there.
 * Returns 0 or -errno. */
int breakpoint__hit(pid_t pid, uint64_t *vaddr);

#endif
