// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/breakpoint.h"

#if defined(__aarch64__)

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

uint64_t breakpoint__put_into(uint64_t word)
{
	return (word & ~0xffffffffull) | 0xd4200000; /* brk #0 */
}

int breakpoint__hit(pid_t pid, uint64_t *vaddr)
{
	struct user_regs_struct regs;
	struct iovec data = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &data))
		return -errno;
	*vaddr = regs.pc;
	return 0;
}

#endif
