// SPDX-License-Identifier: GPL-2.0-or-later
/* A linear sweep: compilers put no data between instructions, and where somebody has, what is read
 * into it is mostly no address that means anything. */
#include "arch/x86_64/x86_64.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/prefix_memo.h"

#define CALL_NEAR   0xe8
#define JMP_NEAR    0xe9
#define JMP_SHORT   0xeb
#define PUSH_IMM    0x68
#define LEA	    0x8d
#define MOV_IMM_LOW 0xb8 /* to 0xbf: into a register */
#define MOV_IMM	    0xc7
#define GROUP5	    0xff /* modrm.reg 4: jmp */
#define RET	    0xc3
#define RET_IMM	    0xc2
#define INT3	    0xcc
#define HLT	    0xf4
#define UD2	    0x0b /* behind 0f */

static bool is_branch(const ZydisDecodedInstruction *in)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return in->opcode >= 0x80 && in->opcode <= 0x8f;
	return in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (in->opcode == JMP_NEAR || in->opcode == JMP_SHORT ||
		(in->opcode >= 0x70 && in->opcode <= 0x7f) ||
		(in->opcode >= 0xe0 && in->opcode <= 0xe3));
}

static bool is_rip_relative(const ZydisDecodedInstruction *in)
{
	return (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && !in->raw.modrm.mod &&
	       in->raw.modrm.rm == 5;
}

static bool ends(const ZydisDecodedInstruction *in)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return in->opcode == UD2;
	return in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (in->opcode == RET || in->opcode == RET_IMM || in->opcode == INT3 ||
		in->opcode == HLT || (in->opcode == GROUP5 && (in->raw.modrm.reg & 6) == 4));
}

static bool has_constant(const ZydisDecodedInstruction *in)
{
	return (in->opcode >= MOV_IMM_LOW && in->opcode <= 0xbf) || in->opcode == MOV_IMM ||
	       in->opcode == PUSH_IMM;
}

/* Returns whether the instruction refers to anything. */
static bool read_ref(const ZydisDecodedInstruction *in, struct code_ref *ref)
{
	bool plain = in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		     in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;

	ref->to = ref->end + in->raw.imm[0].value.s;
	if (plain && in->opcode == CALL_NEAR) {
		ref->kind = REF_CALL;
	} else if (is_branch(in)) {
		ref->kind = plain && (in->opcode == JMP_NEAR || in->opcode == JMP_SHORT)
				    ? REF_JUMP
				    : REF_BRANCH;
	} else if (plain && in->opcode == LEA && is_rip_relative(in)) {
		ref->kind = REF_ADDRESS;
		ref->to = ref->end + in->raw.disp.value;
	} else if (plain && in->opcode == GROUP5 && in->raw.modrm.reg == 4 && is_rip_relative(in)) {
		ref->kind = REF_SLOT;
		ref->to = ref->end + in->raw.disp.value;
	} else if (ends(in)) {
		ref->kind = REF_END;
		ref->to = 0;
	} else if (plain && has_constant(in)) {
		ref->kind = REF_ADDRESS;
		ref->to = in->raw.imm[0].value.u;
	} else {
		return false;
	}
	return true;
}

static void decoder_init(ZydisDecoder *decoder)
{
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
}

/* Less code than this is read faster than memory for a memo is had. */
#define WORTH_A_MEMO (1 << 16)

/* `plain`: instructions that refer to nothing, of which most are like one before, byte by byte;
 * NULL: none are remembered. */
static int scan(const uint8_t *bytes, size_t size, uint64_t vaddr, struct prefix_memo *plain,
		code_ref_visitor visit, void *ctx)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext state;
	ZydisDecoder decoder;
	struct code_ref ref;
	int err = 0;

	decoder_init(&decoder);
	for (size_t at = 0; !err && at < size; at += in.length) {
		int slot = plain ? prefix_memo__find(plain, bytes + at, size - at) : -1;

		if (slot >= 0) {
			in.length = plain->length[slot];
			continue;
		}
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &state, bytes + at,
								size - at, &in))) {
			in.length = 1;
			continue;
		}
		ref.from = vaddr + at;
		ref.end = ref.from + in.length;
		if (read_ref(&in, &ref))
			err = visit(ctx, &ref);
		else if (plain && !is_rip_relative(&in))
			prefix_memo__add(plain, bytes + at, size - at, in.length);
	}
	return err;
}

int x86_64_refs__visit(const uint8_t *bytes, size_t size, uint64_t vaddr, code_ref_visitor visit,
		       void *ctx)
{
	struct prefix_memo *plain = size >= WORTH_A_MEMO ? calloc(1, sizeof(*plain)) : NULL;
	int err = scan(bytes, size, vaddr, plain, visit, ctx);

	free(plain);
	return err;
}

/* nops of any length, int3, and endbr64, which is one to older processors. */
static bool is_padding(const ZydisDecodedInstruction *in)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return in->opcode == 0x1e || in->opcode == 0x1f;
	return in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	       (in->opcode == 0x90 || in->opcode == 0xcc);
}

bool x86_64_refs__is_stubs(const uint8_t *bytes, size_t size)
{
	ZydisDecodedInstruction in;
	ZydisDecoderContext state;
	ZydisDecoder decoder;
	bool jumped = false, padded = false;

	decoder_init(&decoder);
	for (size_t at = 0; at < size; at += in.length) {
		struct code_ref ref = {.end = at};

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &state, bytes + at,
								size - at, &in)))
			return false;
		if (is_padding(&in)) {
			padded |= jumped;
			continue;
		}
		ref.kind = REF_END;
		/* What a stub that binds lazily pushes for the dynamic linker: a number; and what
		 * the first of them pushes for all, through a pointer. */
		if (in.opcode == PUSH_IMM || (in.opcode == GROUP5 && in.raw.modrm.reg == 6))
			continue;
		if (!read_ref(&in, &ref) || (ref.kind != REF_SLOT && in.opcode != JMP_NEAR))
			return false;
		padded |= jumped;
		jumped = true;
	}
	return jumped && padded;
}
