// SPDX-License-Identifier: GPL-2.0-or-later
/* Where static probes say that their values are. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "symbol/usdt_argument.h"

#define NONE USDT_NO_REGISTER

static const struct {
	const char *text;
	struct usdt_argument expected;
} good[] = {
	{"8@%rdi", {.place = USDT_REGISTER, .bytes = 8, .base = 7, .index = NONE}},
	{"-4@%edi",
	 {.place = USDT_REGISTER, .bytes = 4, .base = 7, .index = NONE, .is_signed = true}},
	{"-2@%r8w",
	 {.place = USDT_REGISTER, .bytes = 2, .base = 8, .index = NONE, .is_signed = true}},
	{"4@%r15d", {.place = USDT_REGISTER, .bytes = 4, .base = 15, .index = NONE}},
	{"1@%r10b", {.place = USDT_REGISTER, .bytes = 1, .base = 10, .index = NONE}},
	{"1@%dh", {.place = USDT_REGISTER, .bytes = 1, .base = 2, .index = NONE, .shift = 8}},
	{"1@%bpl", {.place = USDT_REGISTER, .bytes = 1, .base = 5, .index = NONE}},
	{"8@%eax", {.place = USDT_REGISTER, .bytes = 4, .base = 0, .index = NONE}},
	{"%rsp", {.place = USDT_REGISTER, .bytes = 8, .base = 4, .index = NONE}},
	{"8@$5", {.place = USDT_CONSTANT, .bytes = 8, .base = NONE, .index = NONE, .offset = 5}},
	{"-4@$-0x7f",
	 {.place = USDT_CONSTANT,
	  .bytes = 4,
	  .base = NONE,
	  .index = NONE,
	  .offset = -127,
	  .is_signed = true}},
	{"8@$18446744073709551615",
	 {.place = USDT_CONSTANT, .bytes = 8, .base = NONE, .index = NONE, .offset = -1}},
	{"8@-16(%rbp)",
	 {.place = USDT_MEMORY, .bytes = 8, .base = 5, .index = NONE, .offset = -16}},
	{"1@(%rax)", {.place = USDT_MEMORY, .bytes = 1, .base = 0, .index = NONE}},
	{"8@(%rax,%rbx,8)", {.place = USDT_MEMORY, .bytes = 8, .base = 0, .index = 3, .shift = 3}},
	{"4@24(%rsp,%r9)", {.place = USDT_MEMORY, .bytes = 4, .base = 4, .index = 9, .offset = 24}},
	{"4@0x1000(,%rcx,4)",
	 {.place = USDT_MEMORY, .bytes = 4, .base = NONE, .index = 1, .shift = 2, .offset = 4096}},
};

static const struct {
	const char *text, *why;
} bad[] = {
	{"", "fewer"},
	{"8@%xmm0", "floating-point register"},
	{"8f@%xmm0", "floating-point number"},
	{"8@%st", "floating-point register"},
	{"8@counter(%rip)", "variable"},
	{"8@8+counter(%rip)", "variable"},
	{"8@-8+counter(%rip)", "variable"},
	{"3@%rax", "not known"},
	{"16@%rax", "not known"},
	{"@%rax", "not known"},
	{"8@", "not known"},
	{"8@%", "not known"},
	{"8@%r", "not known"},
	{"8@%r16", "not known"},
	{"8@%r7", "not known"},
	{"8@%r8q", "not known"},
	{"8@%raxx", "not known"},
	{"8@%es", "not known"},
	{"8@%fs:8(%rax)", "not known"},
	{"8@(%eax)", "not known"},
	{"8@(%rax", "not known"},
	{"8@(%rax)8", "not known"},
	{"8@(%rax,%rbx,3)", "not known"},
	{"8@(%rax,%rbx,16)", "not known"},
	{"8@(%rax,8)", "not known"},
	{"8@()", "not known"},
	{"8@16", "not known"},
	{"8@$", "not known"},
	{"8@$five", "not known"},
	{"8@$5(%rax)", "not known"},
	{"8@$99999999999999999999999", "not known"},
	{"99999999999999999999999@%rax", "not known"},
};

static void all_forms(void **state)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct usdt_argument *e = &good[i].expected;
		struct usdt_argument a;

		assert_null(usdt_argument__parse(good[i].text, 1, &a));
		if (a.place != e->place || a.bytes != e->bytes || a.base != e->base ||
		    a.index != e->index || a.shift != e->shift || a.offset != e->offset ||
		    a.is_signed != e->is_signed)
			fail_msg("%s", good[i].text);
	}
}

static void refused(void **state)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct usdt_argument a;
		const char *why = usdt_argument__parse(bad[i].text, 1, &a);

		if (!why || !strstr(why, bad[i].why))
			fail_msg("'%s': %s", bad[i].text, why ? why : "was taken");
	}
}

static void several(void **state)
{
	const char *text = " -4@%edi  8@-16(%rbp) 8@$5 ";
	struct usdt_argument a;
	char longest[400] = "8@(%rax,%rbx,";

	assert_null(usdt_argument__parse(text, 1, &a));
	assert_int_equal(a.base, 7);
	assert_null(usdt_argument__parse(text, 3, &a));
	assert_int_equal(a.offset, 5);
	assert_non_null(usdt_argument__parse(text, 4, &a));
	assert_non_null(usdt_argument__parse(text, 0, &a));
	memset(longest + strlen(longest), '0', 300);
	assert_non_null(usdt_argument__parse(longest, 1, &a));
}

/* Any text is taken or refused, and what is taken is in range. */
static void any_text(void **state)
{
	static const char letters[] = "@%$()-+,0189abcdefrsxlhpiwm :";
	uint32_t seed = 11;

	for (int round = 0; round < 300000; round++) {
		struct usdt_argument a;
		char text[16] = "8@";
		size_t len = 2;

		for (; len < sizeof(text) - 1; len++) {
			seed = seed * 1664525 + 1013904223;
			text[len] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		text[2 + seed % 13] = '\0';
		if (!usdt_argument__parse(text, 1, &a) &&
		    (a.place == USDT_NOWHERE || a.base > NONE || a.index > NONE || a.shift > 8 ||
		     (a.bytes != 1 && a.bytes != 2 && a.bytes != 4 && a.bytes != 8)))
			fail_msg("%s", text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_forms),
		cmocka_unit_test(refused),
		cmocka_unit_test(several),
		cmocka_unit_test(any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
