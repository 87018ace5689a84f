// SPDX-License-Identifier: GPL-2.0-or-later
/* A linear sweep: compilers put no data between instructions, and where somebody has, what is read
 * into it is mostly no address that means anything. */
#include "arch/x86_64/x86_64.h"

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/prefix_memo.h"

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
#define REX_WIDE    0x48 /* a prefix: 64 bits */
#define REX_REG	    0x04 /* in the prefix: the register is one of r8 to r15 */

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

static int32_t read_i32(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Most references, without the decoder, which takes a hundred times as long: calls, jumps, branches
 * and returns that have no prefix, and `lea` of a 64-bit address. Returns the length of the
 * instruction; 0: it is none of these. */
static unsigned int read_common(const uint8_t *code, size_t size, struct code_ref *ref)
{
	bool long_jump = size >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80;

	if (size >= 5 && (code[0] == CALL_NEAR || code[0] == JMP_NEAR)) {
		ref->kind = code[0] == CALL_NEAR ? REF_CALL : REF_JUMP;
		ref->end = ref->from + 5;
		ref->to = ref->end + read_i32(code + 1);
	} else if (size >= 2 && (code[0] == JMP_SHORT || (code[0] & 0xf0) == 0x70)) {
		ref->kind = code[0] == JMP_SHORT ? REF_JUMP : REF_BRANCH;
		ref->end = ref->from + 2;
		ref->to = ref->end + (int8_t)code[1];
	} else if (long_jump) {
		ref->kind = REF_BRANCH;
		ref->end = ref->from + 6;
		ref->to = ref->end + read_i32(code + 2);
	} else if (size >= 7 && (code[0] & ~REX_REG) == REX_WIDE && code[1] == LEA &&
		   (code[2] & 0xc7) == 5) {
		ref->kind = REF_ADDRESS;
		ref->end = ref->from + 7;
		ref->to = ref->end + read_i32(code + 3);
	} else if (code[0] == RET || code[0] == INT3) {
		ref->kind = REF_END;
		ref->end = ref->from + 1;
		ref->to = 0;
	} else {
		return 0;
	}
	return ref->end - ref->from;
}

static void decoder_init(ZydisDecoder *decoder)
{
	ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
}

/* Less code than this is read faster than memory for a memo is had. */
#define WORTH_A_MEMO (1 << 16)

/* The offset in the instruction from which on its bytes may have any value, without changing its
 * length or making it refer to something: the distance of an address, and what follows it. */
static unsigned int any_from(const ZydisDecodedInstruction *in)
{
	return is_rip_relative(in) ? in->raw.disp.offset : in->length;
}

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
			in.length = plain->length[slot] + plain->any[slot];
			continue;
		}
		ref.from = vaddr + at;
		in.length = read_common(bytes + at, size - at, &ref);
		if (in.length) {
			err = visit(ctx, &ref);
			continue;
		}
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &state, bytes + at,
								size - at, &in))) {
			in.length = 1;
			continue;
		}
		ref.end = ref.from + in.length;
		if (read_ref(&in, &ref))
			err = visit(ctx, &ref);
		else if (plain)
			prefix_memo__add(plain, bytes + at, size - at, any_from(&in),
					 in.length - any_from(&in));
	}
	return err;
}

int x86_64_refs__visit(struct prefix_memo *plain, const uint8_t *bytes, size_t size, uint64_t vaddr,
		       code_ref_visitor visit, void *ctx)
{
	struct prefix_memo *own = !plain && size >= WORTH_A_MEMO ? calloc(1, sizeof(*own)) : NULL;
	int err = scan(bytes, size, vaddr, plain ? plain : own, visit, ctx);

	free(own);
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
		/* A stub that binds lazily pushes its number for the dynamic linker; the first stub
		 * pushes, through a pointer, what all others need. */
		if (in.opcode == PUSH_IMM || (in.opcode == GROUP5 && in.raw.modrm.reg == 6))
			continue;
		if (!read_ref(&in, &ref) || (ref.kind != REF_SLOT && in.opcode != JMP_NEAR))
			return false;
		padded |= jumped;
		jumped = true;
	}
	return jumped && padded;
}
