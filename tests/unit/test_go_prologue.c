// SPDX-License-Identifier: GPL-2.0-or-later
/* Prologues as Go's compilers emit them, and what only looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "code/code.h"
#include "code/go_prologue.h"

#define BASE 0x1000

struct fixture {
	struct code_decoder *decoder;
	struct insn_decoder *insn;
	struct code code;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	return code_decoder__new(&arch_x86_64, CALL_NOPS_5, NULL, NULL, &f->decoder)
		       ?: insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &f->insn);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_decoder__free(f->decoder);
	insn_decoder__free(f->insn);
	free(f->code.exits);
	free(f->code.calls);
	free(f);
	return 0;
}

static const struct code *decode(void **state, const uint8_t *bytes, size_t size)
{
	struct fixture *f = *state;
	struct code_piece piece = {.vaddr = BASE, .bytes = bytes, .size = size};

	assert_int_equal(code_decode(f->decoder, &piece, 1, UINT64_MAX, &f->code), 0);
	go_prologue__apply(f->insn, &piece, &f->code);
	return &f->code;
}

#define DECODE(...)                                            \
	({                                                     \
		static const uint8_t bytes_[] = {__VA_ARGS__}; \
		decode(state, bytes_, sizeof(bytes_));         \
	})

#define CMP_GUARD     0x49, 0x3b, 0x66, 0x10				   /* cmp 0x10(%r14),%rsp */
#define CMP_GUARD_R12 0x4d, 0x3b, 0x66, 0x10				   /* cmp 0x10(%r14),%r12 */
#define LOAD_G	      0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff /* %fs:-8,%rcx */
#define SAVE_RAX      0x48, 0x89, 0x44, 0x24, 0x08
#define RESTORE_RAX   0x48, 0x8b, 0x44, 0x24, 0x08
#define CALL_FAR      0xe8, 0x00, 0x10, 0x00, 0x00
#define JBE	      6

static void assert_check(const struct code *c, uint32_t offset, uint8_t cond)
{
	assert_int_equal(c->sites_cnt, 1);
	assert_true(c->sites[0].restarts);
	assert_int_equal(c->sites[0].offset, offset);
	assert_int_equal(c->sites[0].site, SITE_JCC);
	assert_int_equal(c->sites[0].delta, 0);
	assert_int_equal(c->sites[0].cond, cond);
	assert_int_equal(c->loops_to_entry, 0);
	assert_int_equal(c->exits_cnt, 1);
	assert_null(c->no_exits);
}

static void assert_no_check(const struct code *c)
{
	for (uint32_t i = 0; i < c->sites_cnt; i++)
		assert_false(c->sites[i].restarts);
}

static void small_frame(void **state)
{
	assert_check(DECODE(CMP_GUARD, 0x76, 0x03, 0x55, 0x5d, 0xc3, SAVE_RAX, CALL_FAR,
			    RESTORE_RAX, 0xeb, 0xe6),
		     4, JBE);
}

static void long_branches(void **state)
{
	assert_check(DECODE(CMP_GUARD, 0x0f, 0x86, 0x01, 0x00, 0x00, 0x00, 0xc3, CALL_FAR, 0x90,
			    0xe9, 0xea, 0xff, 0xff, 0xff),
		     4, JBE);
}

static void middle_frame(void **state)
{
	/* lea -0x80(%rsp),%r12 */
	assert_check(DECODE(0x4c, 0x8d, 0x64, 0x24, 0x80, CMP_GUARD_R12, 0x76, 0x01, 0xc3, CALL_FAR,
			    0xeb, 0xed),
		     9, JBE);
}

static void huge_frame(void **state)
{
	/* mov %rsp,%r12; sub $0xffa0,%r12; jb; cmp; jbe */
	assert_check(DECODE(0x49, 0x89, 0xe4, 0x49, 0x81, 0xec, 0xa0, 0xff, 0x00, 0x00, 0x72, 0x07,
			    CMP_GUARD_R12, 0x76, 0x01, 0xc3, SAVE_RAX, CALL_FAR, RESTORE_RAX, 0xeb,
			    0xdc),
		     16, JBE);
}

/* Before 1.17 g was no register, and arguments lay on the stack. */
static void old_frames(void **state)
{
	assert_check(DECODE(LOAD_G, 0x48, 0x3b, 0x61, 0x10, 0x76, 0x01, 0xc3, CALL_FAR, 0xeb, 0xe9),
		     13, JBE);
	/* mov 0x10(%rcx),%rsi; cmp $-0x522,%rsi; je; lea 0x370(%rsp),%rax; sub %rsi,%rax;
	 * cmp $0xffff,%rax; jbe */
	assert_check(DECODE(LOAD_G, 0x48, 0x8b, 0x71, 0x10, 0x48, 0x81, 0xfe, 0xde, 0xfa, 0xff,
			    0xff, 0x74, 0x14, 0x48, 0x8d, 0x84, 0x24, 0x70, 0x03, 0x00, 0x00, 0x48,
			    0x29, 0xf0, 0x48, 0x3d, 0xff, 0xff, 0x00, 0x00, 0x76, 0x01, 0xc3,
			    CALL_FAR, 0xeb, 0xcf),
		     39, JBE);
}

/* Another loop back to the entry remains one. */
static void loops_besides(void **state)
{
	const struct code *c =
		DECODE(CMP_GUARD, 0x76, 0x03, 0x74, 0xf8, 0xc3, CALL_FAR, 0xeb, 0xf0);

	assert_true(c->sites[0].restarts);
	assert_int_equal(c->loops_to_entry, 1);
}

static void no_check(void **state)
{
	/* push %rbp; pop %rbp; ret */
	assert_no_check(DECODE(0x55, 0x5d, 0xc3));
	/* the tail jumps behind the comparison */
	assert_no_check(DECODE(CMP_GUARD, 0x76, 0x01, 0xc3, CALL_FAR, 0xeb, 0xf6));
	/* the tail calls nothing */
	assert_no_check(DECODE(CMP_GUARD, 0x76, 0x01, 0xc3, SAVE_RAX, 0xeb, 0xf2));
	/* the tail calls twice */
	assert_no_check(DECODE(CMP_GUARD, 0x76, 0x01, 0xc3, CALL_FAR, CALL_FAR, 0xeb, 0xed));
	/* the tail may leave */
	assert_no_check(DECODE(CMP_GUARD, 0x76, 0x01, 0xc3, CALL_FAR, 0x74, 0xf9, 0xeb, 0xf0));
	/* something else jumps to the branch: ... jne it; ret */
	assert_no_check(DECODE(CMP_GUARD, 0x76, 0x03, 0x75, 0xfc, 0xc3, CALL_FAR, 0xeb, 0xf0));
	/* a call comes first */
	assert_no_check(DECODE(CALL_FAR, CMP_GUARD, 0x76, 0x01, 0xc3, CALL_FAR, 0xeb, 0xed));
}

/* A stack pointer that has moved before: the slot is found by the distance. */
static void moved_stack(void **state)
{
	/* sub $8,%rsp; cmp; jbe; add $8,%rsp; ret; ... add $8,%rsp; jmp */
	const struct code *c = DECODE(0x48, 0x83, 0xec, 0x08, CMP_GUARD, 0x76, 0x05, 0x48, 0x83,
				      0xc4, 0x08, 0xc3, CALL_FAR, 0xeb, 0xea);

	assert_true(c->sites[0].restarts);
	assert_int_equal(c->sites[0].delta, 8);
}

/* The whole function is the prologue: nothing behind its end is looked at. */
static void cut_short(void **state)
{
	static const uint8_t whole[] = {CMP_GUARD, 0x76,     0x03,	  0x55, 0x5d, 0xc3,
					SAVE_RAX,  CALL_FAR, RESTORE_RAX, 0xeb, 0xe6};

	for (size_t size = 1; size < sizeof(whole); size++) {
		uint8_t *copy = malloc(size);

		for (size_t i = 0; i < size; i++)
			copy[i] = whole[i];
		assert_no_check(decode(state, copy, size));
		free(copy);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(small_frame), TEST(long_branches), TEST(middle_frame),
		TEST(huge_frame),  TEST(old_frames),	TEST(loops_besides),
		TEST(no_check),	   TEST(moved_stack),	TEST(cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
