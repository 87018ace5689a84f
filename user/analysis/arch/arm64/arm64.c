// SPDX-License-Identifier: GPL-2.0-or-later
/* arm64 (AArch64), with the procedure call standard of its Linux systems (AAPCS64). */
#include "arch/arm64/arm64.h"

#include <elf.h>

#include "arch/arch.h"

static bool is_probe_nop(const uint8_t code[ARCH_PROBE_NOP])
{
	return arm64_word(code) == 0xd503201f;
}

const struct arch arch_arm64 = {
	.name = "arm64",
	.machine = EM_AARCH64,
#if defined(__aarch64__)
	.is_host = true,
#endif
	.relocations =
		{
			.relative = R_AARCH64_RELATIVE,
			.absolute = R_AARCH64_ABS64,
			.function = R_AARCH64_JUMP_SLOT,
			.data = R_AARCH64_GLOB_DAT,
		},
	/* A call puts the return address into x30. */
	.dwarf = {.stack_pointer = 31, .frame_pointer = 29, .return_address = 30, .entered = 0},
	.arguments = {0, 1, 2, 3, 4, 5, 6, 7},
	.arguments_cnt = 8,
	.float_arguments_cnt = 8,
	.landing = {0x5f, 0x24, 0x03, 0xd5}, /* bti c */
	.thread_header = 16,		     /* two words for the C library */
	.is_probe_nop = is_probe_nop,
	.decoder_new = arm64_decoder__new,
	.decoder_free = arm64_decoder__free,
	.decode = arm64_decoder__decode,
	.visit_refs = arm64_refs__visit,
	.is_stubs = arm64_refs__is_stubs,
};
