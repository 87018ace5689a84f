// SPDX-License-Identifier: GPL-2.0-or-later
/* x86-64, with the System V ABI. */
#include "arch/x86_64/x86_64.h"

#include <elf.h>

#include "arch/arch.h"

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
#if defined(__x86_64__)
	.is_host = true,
#endif
	.relocations =
		{
			.relative = R_X86_64_RELATIVE,
			.absolute = R_X86_64_64,
			.function = R_X86_64_JUMP_SLOT,
			.data = R_X86_64_GLOB_DAT,
		},
	/* The call pushes the return address. */
	.dwarf = {.stack_pointer = 7, .frame_pointer = 6, .return_address = 16, .entered = 8},
	.decoder_new = x86_64_decoder__new,
	.decoder_free = x86_64_decoder__free,
	.decoder_forget = x86_64_decoder__forget,
	.decode = x86_64_decoder__decode,
	.visit_refs = x86_64_refs__visit,
	.is_stubs = x86_64_refs__is_stubs,
};
