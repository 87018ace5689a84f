// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/breakpoint.h"

#if defined(__x86_64__)

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

uint64_t breakpoint__put_into(uint64_t word)
{
	return (word & ~0xffull) | 0xcc; /* int3 */
}

int breakpoint__hit(pid_t pid, uint64_t *vaddr)
{
	struct user_regs_struct regs;
	struct iovec data = {&regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &data))
		return -errno;
	/* rip is behind the breakpoint (int3), which is one byte long. */
	*vaddr = --regs.rip;
	return ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &data) ? -errno : 0;
}

#endif
