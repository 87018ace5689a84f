// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions assembled by hand, whose bytes say in a second row of which line they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "lines/segments.h"

#define BASE 0x1000

static struct code_decoder *decoder;
static struct insn_decoder *insn;
static struct code code;
static struct segments segs;
static struct code_piece piece; /* as long as the segments */
static uint64_t label, pads[2]; /* 0: none */
static size_t pads_cnt;

static int setup(void **state)
{
	pads_cnt = 0;
	label = 0;
	if (code_decoder__new(&arch_x86_64, CALL_NOPS_5, NULL, NULL, &decoder))
		return -1;
	code_decoder__note_edges(decoder);
	return insn_decoder__new(&arch_x86_64, CALL_NOPS_5, &insn);
}

static int teardown(void **state)
{
	code_decoder__free(decoder);
	insn_decoder__free(insn);
	code_clear(&code);
	segments__clear(&segs);
	return 0;
}

/* `lines` has a digit for each byte, '0' for those of no line. */
static void cut(const uint8_t *bytes, size_t size, const char *lines)
{
	struct segments_input in = {
		.pieces = &piece, .pieces_cnt = 1, .labels = &label, .labels_cnt = label != 0};
	uint32_t keys[64] = {0};

	assert_int_equal(strlen(lines), size);
	piece = (struct code_piece){
		.vaddr = BASE, .bytes = bytes, .size = size, .pads = pads, .pads_cnt = pads_cnt};
	for (size_t i = 0; i < size; i++)
		keys[i] = lines[i] - '0';
	assert_int_equal(code_decode(decoder, &piece, 1, UINT64_MAX, &code), 0);
	in.flow = code_decoder__flow(decoder);
	assert_true(in.flow.certain);
	in.keys = keys;
	in.keys_cnt = 9;
	in.insn = insn;
	segments__clear(&segs);
	assert_int_equal(segments__build(&in, &segs), 0);
}

#define CUT(lines, ...)                                 \
	({                                              \
		const uint8_t bytes_[] = {__VA_ARGS__}; \
		cut(bytes_, sizeof(bytes_), lines);     \
	})

/* Segment `i` begins at `at` and has its site at `site`; -1: none. */
static void assert_segment(size_t i, uint32_t at, uint32_t key, int site)
{
	assert_true(i < segs.cnt);
	assert_int_equal(segs.items[i].vaddr, BASE + at);
	assert_int_equal(segs.items[i].key, key);
	assert_int_equal(segs.items[i].site, site < 0 ? 0 : BASE + site);
}

static void note(void *ctx, uint32_t to)
{
	char *text = ctx;

	sprintf(text + strlen(text), " %u", to);
}

static void assert_next(uint32_t i, const char *next)
{
	char text[256] = "";

	segments__successors(&segs, i, note, text);
	assert_string_equal(text, next);
}

static void straight_lines(void **state)
{
	/* mov; push; mov; pop; ret */
	CUT("11112233", 0x89, 0xc0, 0x50, 0x90, 0x89, 0xc0, 0x58, 0xc3);
	assert_int_equal(segs.cnt, 3);
	assert_segment(0, 0, 1, 2); /* what is emulated */
	assert_int_equal(segs.items[0].class, SITE_PUSH);
	assert_segment(1, 4, 2, 4);
	assert_int_equal(segs.items[1].class, SITE_STEP);
	assert_segment(2, 6, 3, 6); /* rather than the ret, which may have an exit's probe */
	assert_false(segs.items[2].on_exit);
	assert_next(0, " 1");
	assert_next(1, " 2");
	assert_next(2, "");
	CUT("12", 0x90, 0xc3);
	assert_segment(1, 1, 2, 1);
	assert_true(segs.items[1].on_exit);
}

static void code_of_no_line_goes_on(void **state)
{
	/* mov; mov; mov; ret */
	CUT("1100112", 0x89, 0xc0, 0x89, 0xc0, 0x89, 0xc0, 0xc3);
	assert_int_equal(segs.cnt, 2);
	assert_segment(0, 0, 1, 0);
	CUT("00112", 0x89, 0xc0, 0x89, 0xc0, 0xc3);
	assert_segment(0, 0, 0, 0);
	assert_segment(1, 2, 1, 2);
}

static void loops(void **state)
{
	/* mov; T: mov; dec; jne T; ret */
	CUT("112233223", 0x89, 0xc0, 0x89, 0xc0, 0xff, 0xc8, 0x75, 0xfa, 0xc3);
	assert_int_equal(segs.cnt, 5);
	assert_segment(1, 2, 2, 2);
	assert_segment(3, 6, 2, 6);
	assert_true(segs.items[3].repeats); /* once a round */
	assert_next(3, " 4 1");
	/* the same line in two blocks: it is no new one that control falls into from above */
	CUT("112222223", 0x89, 0xc0, 0x89, 0xc0, 0xff, 0xc8, 0x75, 0xfa, 0xc3);
	assert_int_equal(segs.cnt, 3);
	assert_segment(1, 2, 2, 6);
	assert_false(segs.items[1].needless);
	CUT("111113", 0x89, 0xc0, 0x74, 0x01, 0x90, 0xc3);
	assert_segment(1, 4, 1, 4);
	assert_true(segs.items[1].needless);
	label = BASE + 4; /* unless somebody else may jump there */
	CUT("111113", 0x89, 0xc0, 0x74, 0x01, 0x90, 0xc3);
	assert_false(segs.items[1].needless);
	label = 0;
	/* T: mov (1); jne T (2): its line is left between; with one line it is not */
	CUT("11223", 0x89, 0xc0, 0x75, 0xfc, 0xc3);
	assert_false(segs.items[0].cycles || segs.items[1].cycles);
	CUT("11113", 0x89, 0xc0, 0x75, 0xfc, 0xc3);
	assert_true(segs.items[0].cycles);
	/* T: mov (1); mov (2); jne T (1): one block, which is both lines' */
	CUT("1122113", 0x89, 0xc0, 0x89, 0xc0, 0x75, 0xfa, 0xc3);
	assert_true(segs.items[0].cycles && segs.items[2].cycles);
	/* back to its own line: the jump is seen by the numbers of both */
	CUT("1111111", 0x89, 0xc0, 0x74, 0x02, 0x75, 0xfa, 0xc3);
	assert_segment(1, 4, 1, 4);
	assert_false(segs.items[1].needless);
}

static void statements_go_on_behind_calls(void **state)
{
	/* mov; call; mov; mov; ret: 1, 2 and 1 again */
	CUT("11222222113", 0x89, 0xd2, 0xe8, 0, 0, 0x10, 0, 0x90, 0x89, 0xc0, 0xc3);
	assert_segment(0, 0, 1, 0);
	/* a site lies before the call, as that may not come back */
	assert_segment(1, 2, 2, 2);
	assert_true(segs.items[1].calls);
	assert_true(segs.items[2].repeats);
	/* mov; je to the last mov; mov; mov; ret: there may be another way */
	CUT("1122221113", 0x89, 0xd2, 0x74, 2, 0x89, 0xc0, 0x89, 0xc0, 0x90, 0xc3);
	assert_false(segs.items[3].repeats);
}

static void the_end_is_no_run(void **state)
{
	/* je to the end; mov; pop; ret: only those run line 2 that do not jump */
	CUT("112222", 0x74, 0x02, 0x89, 0xc0, 0x5d, 0xc3);
	assert_segment(2, 4, 2, 4);
	assert_true(segs.items[2].repeats);
	/* unless it has no other code */
	CUT("113322", 0x74, 0x02, 0x89, 0xc0, 0x5d, 0xc3);
	assert_segment(2, 4, 2, 4);
	assert_false(segs.items[2].repeats);
}

static void sites_that_are_none(void **state)
{
	/* cs nop; nop5; div; push; ret */
	CUT("11222223334", 0x2e, 0x90, 0x0f, 0x1f, 0x44, 0, 0, 0xf7, 0xf1, 0x50, 0xc3);
	assert_segment(0, 0, 1, -1);
	assert_segment(1, 2, 2, -1);
	assert_segment(2, 7, 3, 7); /* not the push: what takes long comes before */
	/* notrack call *(%rax); push: what lies behind a call is no site */
	CUT("11112", 0x3e, 0xff, 0x10, 0x50, 0xc3);
	assert_segment(0, 0, 1, -1);
}

static void locked_instructions(void **state)
{
	/* je +1; lock incl (%rdi); mov; ret: the jump is past the prefix */
	CUT("11222334", 0x74, 0x01, 0xf0, 0xff, 0x07, 0x89, 0xc0, 0xc3);
	assert_int_equal(segs.cnt, 5);
	assert_segment(1, 2, 2, -1);
	assert_segment(2, 3, 2, -1); /* a breakpoint there would be in the other's midst */
	assert_segment(3, 5, 3, 5);
	assert_next(0, " 1 2");
	assert_next(1, " 3");
	assert_next(2, " 3");
}

static void exceptions_land(void **state)
{
	/* call; ret; P: mov; ret */
	pads[0] = BASE + 6;
	pads_cnt = 1;
	CUT("111112334", 0xe8, 0, 0, 0x10, 0, 0xc3, 0x89, 0xc0, 0xc3);
	assert_int_equal(segs.cnt, 4);
	assert_segment(2, 6, 3, 6);
	assert_next(0, " 1 2");
	assert_next(1, "");
}

static void ways_back_through_code_of_no_line(void **state)
{
	/* jmp to the condition; mov; mov; cmp; jl to the first mov; ret */
	CUT("11001111112", 0xeb, 4, 0x89, 0xc0, 0x89, 0xc0, 0x39, 0xc0, 0x7c, 0xf8, 0xc3);
	assert_int_equal(segs.cnt, 5);
	assert_segment(3, 6, 1, 8);
	/* The body is above it: who did not know that it was here would miss a round. */
	assert_false(segs.items[3].needless);
	assert_true(segs.items[2].cycles);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ways_back_through_code_of_no_line),
		TEST(straight_lines),
		TEST(code_of_no_line_goes_on),
		TEST(loops),
		TEST(statements_go_on_behind_calls),
		TEST(the_end_is_no_run),
		TEST(sites_that_are_none),
		TEST(locked_instructions),
		TEST(exceptions_land),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
