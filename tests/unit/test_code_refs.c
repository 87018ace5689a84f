// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses that x86-64 code refers to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "arch/arch.h"
#include "arch/prefix_memo.h"

#define BASE	 0x1000
#define CONSTANT 0x2000 /* in an instruction */

struct seen {
	struct code_ref refs[32];
	size_t cnt;
};

static int see(void *ctx, const struct code_ref *ref)
{
	struct seen *s = ctx;

	assert_true(s->cnt < sizeof(s->refs) / sizeof(s->refs[0]));
	s->refs[s->cnt++] = *ref;
	return 0;
}

/* One instruction, and the addresses that it refers to; its own address counts from BASE. */
struct known {
	uint8_t bytes[8], length;
	int kind; /* enum code_ref_kind; -1: it refers to nothing */
	uint64_t to;
};

static const struct known all[] = {
	{{0xe8, 0x00, 0x01, 0x00, 0x00}, 5, REF_CALL, BASE + 0x105},
	{{0xe9, 0xfb, 0xff, 0xff, 0xff}, 5, REF_JUMP, BASE},
	{{0xeb, 0xfe}, 2, REF_JUMP, BASE},
	{{0x74, 0x10}, 2, REF_BRANCH, BASE + 0x12},
	{{0xe3, 0x10}, 2, REF_BRANCH, BASE + 0x12}, /* jrcxz */
	{{0x0f, 0x85, 0x00, 0x01, 0x00, 0x00}, 6, REF_BRANCH, BASE + 0x106},
	{{0x3e, 0x75, 0x10}, 3, REF_BRANCH, BASE + 0x13}, /* with a hint */
	{{0x48, 0x8d, 0x05, 0x00, 0x01, 0x00, 0x00}, 7, REF_ADDRESS, BASE + 0x107},
	{{0x4c, 0x8d, 0x0d, 0xf9, 0xff, 0xff, 0xff}, 7, REF_ADDRESS, BASE},
	{{0x8d, 0x05, 0x00, 0x01, 0x00, 0x00}, 6, REF_ADDRESS, BASE + 0x106}, /* 32 bits of it */
	{{0x48, 0x8d, 0x45, 0x10}, 4, -1, 0},				      /* of the stack */
	{{0x48, 0x8d, 0x04, 0x25, 0, 1, 0, 0}, 8, -1, 0},
	{{0xb8, 0x00, 0x20, 0x00, 0x00}, 5, REF_ADDRESS, CONSTANT},
	{{0xff, 0x25, 0x00, 0x01, 0x00, 0x00}, 6, REF_SLOT, BASE + 0x106},
	{{0xff, 0xe0}, 2, REF_END, 0},
	{{0xc3}, 1, REF_END, 0},
	{{0xf3, 0xc3}, 2, REF_END, 0},
	{{0xcc}, 1, REF_END, 0},
	{{0x0f, 0x0b}, 2, REF_END, 0},
	{{0x48, 0x89, 0xe5}, 3, -1, 0},
	{{0x0f, 0x1f, 0x40, 0x00}, 4, -1, 0}, /* nop */
};

static void expect(const struct code_ref *ref, const struct known *k, uint64_t from)
{
	assert_int_equal(ref->kind, k->kind);
	assert_int_equal(ref->from, from);
	assert_int_equal(ref->end, from + k->length);
	/* Constants are where they are. */
	assert_int_equal(ref->to, k->to && k->to != CONSTANT ? k->to + from - BASE : k->to);
}

/* Each alone, with and without a memo, and cut short. */
static void test_each(void **state)
{
	struct prefix_memo *memo = calloc(1, sizeof(*memo));

	assert_non_null(memo);
	for (size_t i = 0; i < 2 * sizeof(all) / sizeof(*all); i++) {
		const struct known *k = &all[i / 2];
		struct seen seen = {.cnt = 0};

		assert_int_equal(arch_x86_64.visit_refs(i % 2 ? memo : NULL, k->bytes, k->length,
							BASE, see, &seen),
				 0);
		assert_int_equal(seen.cnt, k->kind >= 0);
		if (seen.cnt)
			expect(&seen.refs[0], k, BASE);
		seen.cnt = 0;
		arch_x86_64.visit_refs(NULL, k->bytes, k->length - 1, BASE, see, &seen);
		for (size_t n = 0; n < seen.cnt; n++)
			assert_true(seen.refs[n].end <= BASE + k->length - 1u);
	}
	free(memo);
}

/* All instructions one behind the other, twice: the second time some are remembered. */
static void test_stretch(void **state)
{
	struct prefix_memo *memo = calloc(1, sizeof(*memo));
	uint8_t code[256];
	size_t len = 0;

	assert_non_null(memo);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		for (size_t n = 0; n < all[i].length; n++)
			code[len++] = all[i].bytes[n];
	}
	for (int time = 0; time < 2; time++) {
		struct seen seen = {.cnt = 0};
		size_t at = 0, ref = 0;

		assert_int_equal(arch_x86_64.visit_refs(memo, code, len, BASE, see, &seen), 0);
		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
			if (all[i].kind >= 0)
				expect(&seen.refs[ref++], &all[i], BASE + at);
			at += all[i].length;
		}
		assert_int_equal(seen.cnt, ref);
	}
	free(memo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_stretch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
