// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaves that are over at once: which code is, and which may do something else first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/arch.h"
#include "code/code.h"
#include "code/tiny.h"

#define BASE 0x1000

static struct code_decoder *decoder;
static struct code code;

static int setup(void **state)
{
	return code_decoder__new(&arch_x86_64, CALL_NOPS_5, NULL, NULL, &decoder);
}

static int teardown(void **state)
{
	code_decoder__free(decoder);
	code_clear(&code);
	return 0;
}

static unsigned returns_within(const void *bytes, size_t size)
{
	struct code_piece piece = {.vaddr = BASE, .bytes = bytes, .size = size};

	assert_int_equal(code_decode(decoder, &piece, 1, UINT64_MAX, &code), 0);
	return tiny__returns_within(&code);
}

#define RETURNS_WITHIN(...)                               \
	({                                                \
		static const uint8_t b[] = {__VA_ARGS__}; \
		returns_within(b, sizeof(b));             \
	})

static void straight_lines(void **state)
{
	/* ret */
	assert_int_equal(RETURNS_WITHIN(0xc3), 1);
	/* lea 1(%rdi),%rax; ret */
	assert_int_equal(RETURNS_WITHIN(0x48, 0x8d, 0x47, 0x01, 0xc3), 2);
	/* push %rbp; mov %rsp,%rbp; mov %edi,-4(%rbp); pop %rbp; ret */
	assert_int_equal(RETURNS_WITHIN(0x55, 0x48, 0x89, 0xe5, 0x89, 0x7d, 0xfc, 0x5d, 0xc3), 5);
}

/* All of both ways count. */
static void branches_forward(void **state)
{
	/* test %edi,%edi; je 1f; lea (%rdi),%eax; ret; 1: xor %eax,%eax; ret */
	assert_int_equal(RETURNS_WITHIN(0x85, 0xff, 0x74, 0x03, 0x8d, 0x07, 0xc3, 0x31, 0xc0, 0xc3),
			 6);
}

static void what_may_take_longer(void **state)
{
	/* 1: dec %edi; jne 1b; ret */
	assert_int_equal(RETURNS_WITHIN(0xff, 0xcf, 0x75, 0xfc, 0xc3), 0);
	/* call 0; ret */
	assert_int_equal(RETURNS_WITHIN(0xe8, 0xfb, 0xef, 0xff, 0xff, 0xc3), 0);
	/* jmp to another function */
	assert_int_equal(RETURNS_WITHIN(0xe9, 0x00, 0x10, 0x00, 0x00), 0);
	/* je to another function; ret */
	assert_int_equal(RETURNS_WITHIN(0x0f, 0x84, 0x00, 0x10, 0x00, 0x00, 0xc3), 0);
	/* jmp *%rax */
	assert_int_equal(RETURNS_WITHIN(0xff, 0xe0), 0);
	/* syscall; ret */
	assert_int_equal(RETURNS_WITHIN(0x0f, 0x05, 0xc3), 0);
	/* rep movsb; ret */
	assert_int_equal(RETURNS_WITHIN(0xf3, 0xa4, 0xc3), 0);
	/* lock incl (%rdi); ret */
	assert_int_equal(RETURNS_WITHIN(0xf0, 0xff, 0x07, 0xc3), 0);
	/* div %ecx; ret */
	assert_int_equal(RETURNS_WITHIN(0xf7, 0xf1, 0xc3), 0);
	/* push %rax; ret: a jump */
	assert_int_equal(RETURNS_WITHIN(0x50, 0xc3), 0);
	/* mov %rsi,%rsp; ret: another stack */
	assert_int_equal(RETURNS_WITHIN(0x48, 0x89, 0xf4, 0xc3), 0);
}

static void what_may_not_return(void **state)
{
	/* ud2 */
	assert_int_equal(RETURNS_WITHIN(0x0f, 0x0b), 0);
	/* test %edi,%edi; je 1f; ret; 1: ud2 */
	assert_int_equal(RETURNS_WITHIN(0x85, 0xff, 0x74, 0x01, 0xc3, 0x0f, 0x0b), 0);
	/* hlt; int3 */
	assert_int_equal(RETURNS_WITHIN(0xf4, 0xc3), 0);
	assert_int_equal(RETURNS_WITHIN(0xcc, 0xc3), 0);
	/* nop, and on into what lies behind */
	assert_int_equal(RETURNS_WITHIN(0x90), 0);
	/* bytes that are no instruction */
	assert_int_equal(RETURNS_WITHIN(0x31, 0xc0, 0x06), 0);
}

static void long_ones_are_measured(void **state)
{
	uint8_t bytes[66];

	memset(bytes, 0x98, sizeof(bytes)); /* cwtl */
	bytes[63] = 0xc3;
	assert_int_equal(returns_within(bytes, 64), 64);
	bytes[63] = 0x98;
	bytes[64] = 0xc3;
	assert_int_equal(returns_within(bytes, 65), 0);
}

static void patched_code_is_not_known(void **state)
{
	assert_int_equal(RETURNS_WITHIN(0xc3), 1);
	code.patched = true;
	assert_int_equal(tiny__returns_within(&code), 0);
	code.patched = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight_lines),
		cmocka_unit_test(branches_forward),
		cmocka_unit_test(what_may_take_longer),
		cmocka_unit_test(what_may_not_return),
		cmocka_unit_test(long_ones_are_measured),
		cmocka_unit_test(patched_code_is_not_known),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
