// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch/x86_64/insn_inside.h"

/* One-byte opcodes that are dear: x87 and division; strings, which may be repeated; what goes to
 * the kernel, to devices or to all other CPUs. */
static bool onebyte_dear(const struct insn_fields *f)
{
	switch (f->op) {
	case 0x6c ... 0x6f:
	case 0x9b:
	case 0xa4 ... 0xa7:
	case 0xaa ... 0xaf:
	case 0xcc ... 0xcf:
	case 0xd8 ... 0xdf:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xf4:
	case 0xfa ... 0xfb:
		return true;
	case 0x86 ... 0x87: /* xchg with memory locks it */
		return f->mod != 3;
	case 0xf6 ... 0xf7:
		return f->reg >= 6;
	default:
		return false;
	}
}

/* Whether an instruction of two opcode bytes (0f ..), also in VEX, is dear: system instructions,
 * fences, counters and clocks, square roots and division. */
static bool twobyte_dear(uint8_t op)
{
	switch (op) {
	case 0x00 ... 0x0d:
	case 0x20 ... 0x27:
	case 0x30 ... 0x37:
	case 0x51:
	case 0x5e:
	case 0x78 ... 0x79:
	case 0xa2:
	case 0xaa:
	case 0xae:
	case 0xc7:
		return true;
	default:
		return false;
	}
}

/* In the opcode map 0f38 gathers, and what speaks to the system, are slow; what computes on
 * registers is as fast as other instructions. */
static bool map_0f38_dear(uint8_t op)
{
	return (op >= 0x80 && op <= 0x93) || op >= 0xf8;
}

bool insn_cost__is_dear(const ZydisDecodedInstruction *in, const struct insn_fields *f)
{
	if (f->locks || (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
			 in->encoding != ZYDIS_INSTRUCTION_ENCODING_VEX))
		return true;
	switch (in->opcode_map) {
	case ZYDIS_OPCODE_MAP_DEFAULT:
		return onebyte_dear(f) || (f->op == 0x90 && f->repeats); /* pause */
	case ZYDIS_OPCODE_MAP_0F:
		return twobyte_dear(f->op);
	case ZYDIS_OPCODE_MAP_0F38:
		return map_0f38_dear(f->op);
	case ZYDIS_OPCODE_MAP_0F3A:
		return false;
	default:
		return true;
	}
}
