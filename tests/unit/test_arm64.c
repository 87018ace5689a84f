// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instruction words of arm64 as GNU as 2.40 makes them of the text beside them, and what they mean.
 * Which of them take a probe, and which the kernel simulates, is decided in Linux by
 * arch/arm64/kernel/probes/decode-insn.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "code/code.h"
#include "code/tiny.h"

static const struct row {
	uint32_t word;
	const char *text;
	struct insn insn; /* without what all have, and what tables need besides `table_load` */
} rows[] = {
	{0x14000400,
	 "b .+0x1000",
	 {.flow = FLOW_JMP, .site = SITE_JMP, .probeable = true, .rel = 4092}},
	{0x17ffffff, "b .-4", {.flow = FLOW_JMP, .site = SITE_JMP, .probeable = true, .rel = -8}},
	{0x94000002, "bl .+8", {.flow = FLOW_CALL, .site = SITE_CALL, .probeable = true, .rel = 4}},
	{0x54000080,
	 "b.eq .+16",
	 {.flow = FLOW_JCC,
	  .site = SITE_JCC,
	  .probeable = true,
	  .is_jcc_opcode = true,
	  .cond = 0,
	  .rel = 12}},
	{0x54ffff0d,
	 "b.le .-32",
	 {.flow = FLOW_JCC,
	  .site = SITE_JCC,
	  .probeable = true,
	  .is_jcc_opcode = true,
	  .cond = 13,
	  .rel = -36}},
	{0xb4000043,
	 "cbz x3, .+8",
	 {.flow = FLOW_JCC, .site = SITE_JCC, .probeable = true, .rel = 4}},
	{0x35ffffde,
	 "cbnz w30, .-8",
	 {.flow = FLOW_JCC, .site = SITE_JCC, .probeable = true, .rel = -12}},
	{0xb6080061,
	 "tbz x1, #33, .+12",
	 {.flow = FLOW_JCC, .site = SITE_JCC, .probeable = true, .rel = 8}},
	{0x371fffa1,
	 "tbnz w1, #3, .-12",
	 {.flow = FLOW_JCC, .site = SITE_JCC, .probeable = true, .rel = -16}},
	{0xd61f0220, "br x17", {.flow = FLOW_JMP_REG, .site = SITE_JMP, .probeable = true}},
	{0xd63f0100, "blr x8", {.flow = FLOW_CALL, .site = SITE_CALL, .probeable = true}},
	{0xd65f03c0, "ret", {.flow = FLOW_RET, .site = SITE_JMP, .probeable = true}},
	{0xd65f0060, "ret x3", {.flow = FLOW_RET, .site = SITE_JMP, .probeable = true}},
	{0xd65f0bff, "retaa", {.flow = FLOW_RET, .site = SITE_STEP}},
	{0xd65f0fff, "retab", {.flow = FLOW_RET, .site = SITE_STEP}},
	{0xd71f0822, "braa x1, x2", {.flow = FLOW_JMP_REG, .site = SITE_STEP}},
	{0xd63f083f, "blraaz x1", {.flow = FLOW_CALL, .site = SITE_STEP}},
	{0xd69f03e0, "eret", {.flow = FLOW_STOP, .site = SITE_STEP}},
	{0xd4000001,
	 "svc #0",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .system_call = true, .dear = true}},
	{0xd4200020, "brk #1", {.flow = FLOW_STOP, .site = SITE_STEP, .dear = true}},
	{0x00000000, "udf #0", {.flow = FLOW_STOP, .site = SITE_STEP}},
	{0xd503201f,
	 "nop",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .is_nop = true}},
	{0xd503203f, "yield", {.flow = FLOW_NEXT, .site = SITE_STEP, .dear = true}},
	{0xd503241f,
	 "bti",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .endbr = true}},
	{0xd503245f,
	 "bti c",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .endbr = true}},
	{0xd503249f,
	 "bti j",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .endbr = true}},
	{0xd50324df,
	 "bti jc",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .endbr = true}},
	{0xd503233f, "paciasp", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xd503237f, "pacibsp", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xd50323bf, "autiasp", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0xd50323ff, "autibsp", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0xd50320ff, "xpaclri", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xd503221f, "esb", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0xd53bd040,
	 "mrs x0, tpidr_el0",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xd51bd040, "msr tpidr_el0, x0", {.flow = FLOW_NEXT, .site = SITE_STEP, .dear = true}},
	{0xd50342df, "msr daifset, #2", {.flow = FLOW_NEXT, .site = SITE_STEP, .dear = true}},
	{0xd5033bbf,
	 "dmb ish",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0xd5033fdf,
	 "isb",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x10000040, "adr x0, .+8", {.flow = FLOW_NEXT, .site = SITE_JMP, .probeable = true}},
	{0x90000000, "adrp x0, .+4096", {.flow = FLOW_NEXT, .site = SITE_JMP, .probeable = true}},
	{0x58000040, "ldr x0, .+8", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0x98000040, "ldrsw x0, .+8", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0x9c000080, "ldr q0, .+16", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0xd8000040, "prfm pldl1keep, .+8", {.flow = FLOW_NEXT, .site = SITE_STEP}},
	{0xa9bd7bfd,
	 "stp x29, x30, [sp, #-48]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 48}},
	{0xa8c37bfd,
	 "ldp x29, x30, [sp], #48",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = -48}},
	{0xa90153f3,
	 "stp x19, x20, [sp, #16]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x6dbf27e8,
	 "stp d8, d9, [sp, #-16]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 16}},
	{0xadbf27e8,
	 "stp q8, q9, [sp, #-32]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 32}},
	{0x68c107e0,
	 "ldpsw x0, x1, [sp], #8",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = -8}},
	{0x29bf07e0,
	 "stp w0, w1, [sp, #-8]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 8}},
	{0xf81f0ffe,
	 "str x30, [sp, #-16]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 16}},
	{0xf84107fe,
	 "ldr x30, [sp], #16",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = -16}},
	{0x3c9f0fe0,
	 "str q0, [sp, #-16]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 16}},
	{0xf8408420, "ldr x0, [x1], #8", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xa9bf0440,
	 "stp x0, x1, [x2, #-16]!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xd92017ff,
	 "stg sp, [sp], #16",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = -16}},
	{0xd10083ff,
	 "sub sp, sp, #0x20",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 32}},
	{0x910083ff,
	 "add sp, sp, #0x20",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = -32}},
	{0xd14007ff,
	 "sub sp, sp, #0x1, lsl #12",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .down = 4096}},
	{0xcb2163ff,
	 "sub sp, sp, x1",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .stack = STACK_UNKNOWN}},
	{0x910003bf,
	 "mov sp, x29",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .stack = STACK_FRAME}},
	{0xd10043bf,
	 "sub sp, x29, #16",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .stack = STACK_FRAME}},
	{0x910000bf,
	 "mov sp, x5",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .stack = STACK_UNKNOWN}},
	{0x927ced3f,
	 "and sp, x9, #0xfffffffffffffff0",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .stack = STACK_FRAME}},
	{0x910003fd, "mov x29, sp", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x910043fd, "add x29, sp, #16", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x91000400, "add x0, x0, #1", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xb1001420, "adds x0, x1, #5", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xf1001c1f,
	 "cmp x0, #7",
	 {.flow = FLOW_NEXT,
	  .site = SITE_STEP,
	  .probeable = true,
	  .compares = true,
	  .constant = 7}},
	{0x71000400,
	 "subs w0, w0, #1",
	 {.flow = FLOW_NEXT,
	  .site = SITE_STEP,
	  .probeable = true,
	  .compares = true,
	  .constant = 1}},
	{0xeb2163ff, "cmp sp, x1", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x885f7c20,
	 "ldxr w0, [x1]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .exclusive = true, .dear = true}},
	{0x8802fc20,
	 "stlxr w2, w0, [x1]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .exclusive = true, .dear = true}},
	{0xc87f8440,
	 "ldaxp x0, x1, [x2]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .exclusive = true, .dear = true}},
	{0xc8dffc20, "ldar x0, [x1]", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x889ffc20, "stlr w0, [x1]", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x88e0fc41,
	 "casal w0, w1, [x2]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0xb8200041,
	 "ldadd w0, w1, [x2]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x19010440,
	 "cpyfp [x0]!, [x1]!, x2!",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .dear = true}},
	{0x19c20420, "setp [x0]!, x1!, x2", {.flow = FLOW_NEXT, .site = SITE_STEP, .dear = true}},
	{0x38624820,
	 "ldrb w0, [x1, w2, uxtw]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .table_load = true}},
	{0x78627820,
	 "ldrh w0, [x1, x2, lsl #1]",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .table_load = true}},
	{0xf9400420, "ldr x0, [x1, #8]", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x9ac20c20,
	 "sdiv x0, x1, x2",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x1ac20820,
	 "udiv w0, w1, w2",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x1e621820,
	 "fdiv d0, d1, d2",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x1e21c020,
	 "fsqrt s0, s1",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x6e22fc20,
	 "fdiv v0.4s, v1.4s, v2.4s",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x9b027c20, "mul x0, x1, x2", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x1e622820, "fadd d0, d1, d2", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0xaa0103e0, "mov x0, x1", {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true}},
	{0x2518e3e0,
	 "ptrue p0.b",
	 {.flow = FLOW_NEXT, .site = SITE_STEP, .probeable = true, .dear = true}},
	{0x043f57ff,
	 "addvl sp, sp, #-1",
	 {.flow = FLOW_NEXT,
	  .site = SITE_STEP,
	  .probeable = true,
	  .dear = true,
	  .stack = STACK_UNKNOWN}},
};

static void put(uint8_t *bytes, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		bytes[i] = word >> 8 * i;
}

#define SAME(field)                                                                  \
	do {                                                                         \
		if (in.field != expected->field)                                     \
			fail_msg("%s: " #field " is %lld, expected %lld", row->text, \
				 (long long)in.field, (long long)expected->field);   \
	} while (0)

static void decode(const struct row *row, struct insn_decoder *d)
{
	const struct insn *expected = &row->insn;
	uint8_t bytes[4];
	struct insn in;

	put(bytes, row->word);
	if (!insn_decode(d, bytes, sizeof(bytes), &in))
		fail_msg("%s: is not decoded", row->text);
	assert_int_equal(in.length, 4);
	assert_int_equal(in.site_across, in.site);
	SAME(flow);
	SAME(site);
	SAME(probeable);
	SAME(rel);
	SAME(cond);
	SAME(is_jcc_opcode);
	SAME(stack);
	SAME(down);
	SAME(system_call);
	SAME(is_nop);
	SAME(endbr);
	SAME(exclusive);
	SAME(dear);
	SAME(compares);
	SAME(constant);
	SAME(table_load);
}

static void test_words(void **state)
{
	struct insn_decoder *d;

	assert_int_equal(insn_decoder__new(&arch_arm64, CALL_NOPS_NONE, &d), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		decode(&rows[i], d);
	insn_decoder__free(d);
}

static void test_half_a_word_is_none(void **state)
{
	const uint8_t bytes[3] = {0x1f, 0x20, 0x03};
	struct insn_decoder *d;
	struct insn in;

	assert_int_equal(insn_decoder__new(&arch_arm64, CALL_NOPS_NONE, &d), 0);
	assert_false(insn_decode(d, bytes, sizeof(bytes), &in));
	insn_decoder__free(d);
}

static void test_calls_can_be_spared(void **state)
{
	struct insn_decoder *d;
	uint8_t bytes[4];
	struct insn in;

	assert_int_equal(insn_decoder__new(&arch_arm64, CALL_NOPS_NONE, &d), 0);
	insn_decoder__spare_calls(d);
	put(bytes, 0x94000002); /* bl */
	assert_true(insn_decode(d, bytes, sizeof(bytes), &in));
	assert_false(in.probeable);
	put(bytes, 0xd65f03c0); /* ret */
	assert_true(insn_decode(d, bytes, sizeof(bytes), &in));
	assert_true(in.probeable);
	insn_decoder__free(d);
}

#define START 0x1000

static struct code code;

static void decode_function(const uint32_t *words, size_t cnt)
{
	struct code_decoder *d;
	uint8_t bytes[256];
	struct code_piece piece = {.vaddr = START, .bytes = bytes, .size = 4 * cnt};

	for (size_t i = 0; i < cnt; i++)
		put(bytes + 4 * i, words[i]);
	assert_int_equal(code_decoder__new(&arch_arm64, CALL_NOPS_NONE, NULL, NULL, &d), 0);
	assert_int_equal(code_decode(d, &piece, 1, UINT64_MAX, &code), 0);
	code_decoder__free(d);
}

#define DECODE(...)                                                        \
	do {                                                               \
		const uint32_t words_[] = {__VA_ARGS__};                   \
		decode_function(words_, sizeof(words_) / sizeof(*words_)); \
	} while (0)

static void test_function(void **state)
{
	DECODE(0xd503233f,  /*    paciasp */
	       0xa9be7bfd,  /*    stp x29, x30, [sp, #-32]! */
	       0x910003fd,  /*    mov x29, sp */
	       0x90000000,  /*    adrp x0, . */
	       0xb4000060,  /*    cbz x0, 1f */
	       0x97fffffb,  /*    bl .-20 */
	       0xf9000fe0,  /*    str x0, [sp, #24] */
	       0xa8c27bfd,  /* 1: ldp x29, x30, [sp], #32 */
	       0xd50323bf,  /*    autiasp */
	       0xd65f03c0); /*    ret */
	assert_null(code.bad);
	assert_null(code.no_exits);
	assert_false(code.leaf);
	/* The first five: all but the last two are stepped; the adrp is behind the stp. */
	assert_int_equal(code.sites_cnt, 5);
	assert_int_equal(code.sites[1].site, SITE_STEP);
	assert_int_equal(code.sites[1].delta, 0);
	assert_int_equal(code.sites[3].site, SITE_JMP);
	assert_int_equal(code.sites[3].delta, 32);
	assert_int_equal(code.exits_cnt, 1);
	assert_int_equal(code.exits[0].vaddr, START + 36);
	assert_int_equal(code.exits[0].kind, CODE_EXIT_RET);
	assert_false(code.exits[0].steps);
	code_clear(&code);
}

static void test_leaf(void **state)
{
	DECODE(0x8b010000,  /* add x0, x0, x1 */
	       0xd65f03c0); /* ret */
	assert_true(code.leaf);
	assert_int_equal(tiny__returns_within(&code), 2);
	code_clear(&code);
}

static void test_authenticated_return(void **state)
{
	DECODE(0xd503233f,  /* paciasp */
	       0xd65f0bff); /* retaa */
	assert_string_equal(code.no_exits, "has a return that cannot be probed");
	code_clear(&code);
}

static void test_tail_call(void **state)
{
	DECODE(0xa9bf7bfd,  /* stp x29, x30, [sp, #-16]! */
	       0x97ffff00,  /* bl */
	       0xa8c17bfd,  /* ldp x29, x30, [sp], #16 */
	       0x17ffff00); /* b */
	assert_true(code.tail_jumps);
	assert_int_equal(code.exits_cnt, 1);
	assert_int_equal(code.exits[0].kind, CODE_EXIT_JMP);
	code_clear(&code);
}

/* Between an exclusive load and its store nothing may trap. */
static void test_exclusive(void **state)
{
	struct code_flow flow;
	struct code_decoder *d;
	uint8_t bytes[24];
	const uint32_t words[] = {
		0x91001000, /*    add x0, x0, #4 */
		0x885f7c01, /* 1: ldxr w1, [x0] */
		0x11000421, /*    add w1, w1, #1 */
		0x88027c01, /*    stxr w2, w1, [x0] */
		0x35ffffa2, /*    cbnz w2, 1b */
		0xd65f03c0, /*    ret */
	};
	struct code_piece piece = {.vaddr = START, .bytes = bytes, .size = sizeof(bytes)};

	for (int i = 0; i < 6; i++)
		put(bytes + 4 * i, words[i]);
	assert_int_equal(code_decoder__new(&arch_arm64, CALL_NOPS_NONE, NULL, NULL, &d), 0);
	code_decoder__note_edges(d);
	assert_int_equal(code_decode(d, &piece, 1, UINT64_MAX, &code), 0);
	assert_int_equal(code.sites_cnt, 1);
	assert_int_equal(code.sites[0].offset, 0);
	assert_int_equal(code.exits_cnt, 1);
	flow = code_decoder__flow(d);
	assert_false(flow.certain);
	code_decoder__free(d);
	code_clear(&code);
}

struct seen {
	struct code_ref refs[8];
	size_t cnt;
};

static int see(void *ctx, const struct code_ref *ref)
{
	struct seen *seen = ctx;

	seen->refs[seen->cnt++] = *ref;
	return seen->cnt == 8 ? -1 : 0;
}

static void test_refs(void **state)
{
	static const uint32_t words[] = {
		0x94000002, /* bl .+8 */
		0xb0000000, /* adrp x0, .+4096 */
		0x91004000, /* add x0, x0, #16 */
		0x91004000, /* add x0, x0, #16 */
		0x36000041, /* tbz w1, #0, .+8 */
		0x17ffffff, /* b .-4 */
		0xd61f0000, /* br x0 */
	};
	struct seen seen = {.cnt = 0};
	uint8_t bytes[sizeof(words)];

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		put(bytes + 4 * i, words[i]);
	assert_int_equal(arch_arm64.visit_refs(NULL, bytes, sizeof(bytes), 0x2ffc, see, &seen), 0);
	assert_int_equal(seen.cnt, 5);
	assert_int_equal(seen.refs[0].kind, REF_CALL);
	assert_int_equal(seen.refs[0].to, 0x3004);
	assert_int_equal(seen.refs[1].kind, REF_ADDRESS);
	assert_int_equal(seen.refs[1].to, 0x4010);
	assert_int_equal(seen.refs[2].kind, REF_BRANCH);
	assert_int_equal(seen.refs[2].to, 0x3014);
	assert_int_equal(seen.refs[3].kind, REF_JUMP);
	assert_int_equal(seen.refs[3].to, 0x300c);
	assert_int_equal(seen.refs[4].kind, REF_END);
}

static void test_stubs(void **state)
{
	static const uint32_t stub[] = {
		0xd503245f, /* bti c */
		0x90000090, /* adrp x16, page */
		0xf947fe11, /* ldr x17, [x16, #4088] */
		0x913fe210, /* add x16, x16, #4088 */
		0xd61f0220, /* br x17 */
		0xd503201f, /* nop */
	};
	uint8_t bytes[sizeof(stub)];

	for (size_t i = 0; i < 6; i++)
		put(bytes + 4 * i, stub[i]);
	assert_true(arch_arm64.is_stubs(bytes, sizeof(bytes)));
	assert_false(arch_arm64.is_stubs(bytes, 8));
	put(bytes, 0xd65f03c0); /* ret */
	assert_false(arch_arm64.is_stubs(bytes, sizeof(bytes)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_half_a_word_is_none),
		cmocka_unit_test(test_calls_can_be_spared),
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_leaf),
		cmocka_unit_test(test_authenticated_return),
		cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_exclusive),
		cmocka_unit_test(test_refs),
		cmocka_unit_test(test_stubs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
