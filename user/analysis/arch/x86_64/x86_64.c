// SPDX-License-Identifier: GPL-2.0-or-later
/* x86-64, with the System V ABI. */
#include "arch/x86_64/x86_64.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/operands.h"

#define RSP OPERAND_STACK_POINTER
#define RBP OPERAND_FRAME_POINTER

/* Whether the code begins with a nop of one, two or five bytes. */
static bool is_probe_nop(const uint8_t code[ARCH_PROBE_NOP])
{
	static const uint8_t nop5[ARCH_PROBE_NOP] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	return code[0] == 0x90 || (code[0] == 0x66 && code[1] == 0x90) ||
	       !memcmp(code, nop5, sizeof(nop5));
}

const struct arch arch_x86_64 = {
	.name = "x86-64",
	.machine = EM_X86_64,
#if defined(__x86_64__)
	.is_host = true,
#endif
	.nr_uprobe = 336,
	.ip_offset = 16 * 8, /* struct pt_regs, rip */
	.knows_calls = true,
	.relocations =
		{
			.relative = R_X86_64_RELATIVE,
			.absolute = R_X86_64_64,
			.function = R_X86_64_JUMP_SLOT,
			.data = R_X86_64_GLOB_DAT,
		},
	/* The call pushes the return address. */
	.dwarf = {.stack_pointer = 7, .frame_pointer = 6, .return_address = 16, .entered = 8},
	/* rbx, rsp, rbp, r12 to r15 */
	.preserved = 1 << 3 | 1 << RSP | 1 << RBP | 0xf000,
	.arguments = {7, 6, 2, 1, 8, 9}, /* rdi, rsi, rdx, rcx, r8, r9 */
	.arguments_cnt = 6,
	.float_arguments_cnt = 8,
	.landing = {0xf3, 0x0f, 0x1e, 0xfa}, /* endbr64 */
	.is_probe_nop = is_probe_nop,
	.decoder_new = x86_64_decoder__new,
	.decoder_free = x86_64_decoder__free,
	.decoder_forget = x86_64_decoder__forget,
	.decode = x86_64_decoder__decode,
	.visit_refs = x86_64_refs__visit,
	.operands = x86_64_operands__decode,
	.emulation = x86_64_emulation__of,
	.is_stubs = x86_64_refs__is_stubs,
	.find_stack_load = x86_64_stack_loads__find,
	.find_transfer = x86_64_transfers__find,
};
