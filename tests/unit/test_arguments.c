// SPDX-License-Identifier: GPL-2.0-or-later
/* -A and --if: how they are read, and what code changes of arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>

#include "arch/arch.h"
#include "select/arguments.h"
#include "select/changes.h"
#include "select/thread_context.h"
#include "symbol/symtab.h"
#include "symbol/thread_variable.h"

static const struct filter_object program = {"/usr/bin/prog", "", true};

static int parse(struct arguments *a, const char *list)
{
	return arguments__parse(a, (char *const *)&list, 1, 1, 1);
}

static void expect(const struct argument *got, const char *name, uint8_t number,
		   enum argument_form form, uint8_t bytes, bool behind, int32_t offset)
{
	assert_string_equal(got->name, name);
	assert_int_equal(got->number, number);
	assert_int_equal(got->form, form);
	assert_int_equal(got->bytes, bytes);
	assert_int_equal(got->behind, behind);
	assert_int_equal(got->offset, offset);
}

static void values_of_all_kinds(void **state)
{
	struct arguments a;
	const struct argument *items;

	assert_int_equal(parse(&a, "f( arg1,arg64:u8 , arg2+16:x32,arg3-0x8:f32,ret:s,ret+0:f )"),
			 0);
	assert_int_equal(a.cnt, 1);
	assert_int_equal(a.lists[0].cnt, 6);
	items = a.lists[0].items;
	expect(&items[0], "arg1", 1, ARGUMENT_SIGNED, 8, false, 0);
	expect(&items[1], "arg64:u8", 64, ARGUMENT_UNSIGNED, 1, false, 0);
	expect(&items[2], "arg2+16:x32", 2, ARGUMENT_HEX, 4, true, 16);
	expect(&items[3], "arg3-0x8:f32", 3, ARGUMENT_FLOAT, 4, true, -8);
	expect(&items[4], "ret:s", 0, ARGUMENT_TEXT, 8, false, 0);
	expect(&items[5], "ret+0:f", 0, ARGUMENT_FLOAT, 8, true, 0);
	arguments__clear(&a);
}

/* Where each value of a thread context lies: behind the pointer that the variable is. */
static void thread_contexts(void **state)
{
	static const uint8_t offsets[] = {0, 8, 16, 24}, bytes[] = {8, 8, 8, 1};
	const struct thread_variable pointer = {.offset = -48, .size = 8}, other = {.size = 40};
	struct arguments a;

	assert_int_equal(parse(&a, "f(arg1, otel_thread_ctx_v1)"), 0);
	assert_int_equal(a.lists[0].cnt, 5);
	assert_true(a.lists[0].named);
	assert_false(thread_context__has(&a.lists[0].items[0]));
	assert_false(thread_context__is_wanted(&a));
	for (int i = 0; i < 4; i++) {
		struct argument *arg = &a.lists[0].items[i + 1];

		assert_true(thread_context__has(arg));
		assert_non_null(thread_context__apply(arg, &other));
		assert_null(thread_context__apply(arg, &pointer));
		assert_int_equal(arg->place.place, USDT_MEMORY);
		assert_int_equal(arg->place.base, USDT_THREAD_POINTER);
		assert_int_equal(arg->place.index, USDT_NO_REGISTER);
		assert_int_equal(arg->place.offset, -48);
		assert_true(arg->behind);
		assert_int_equal(arg->offset, offsets[i]);
		assert_int_equal(arg->bytes, bytes[i]);
	}
	arguments__clear(&a);
	assert_int_equal(parse(&a, "f(otel_thread_ctx_v1->flags)"), 0);
	assert_non_null(thread_context__apply(&a.lists[0].items[0], &pointer));
	arguments__clear(&a);
}

/* Sessions want them besides what was asked for, if there is room, and may be without. */
static void thread_contexts_of_sessions(void **state)
{
	char *globs[] = {"f", "g", "f"};
	const struct symbol g = {.name = "g"};
	struct arguments a;

	assert_int_equal(parse(&a, "f(arg1)"), 0);
	assert_int_equal(thread_context__want(&a, globs, 3), 0);
	assert_true(thread_context__is_wanted(&a));
	assert_int_equal(a.cnt, 2);
	assert_int_equal(a.lists[0].cnt, 5);
	assert_int_equal(a.lists[1].cnt, 4);
	assert_int_equal(arguments__of(&a, &program, &g), 2);
	assert_ptr_equal(arguments__unmatched(&a), &a.lists[0]); /* its arg1 */
	/* Thread-local values keep no function from being probed somewhat later. */
	assert_int_equal(argument_list__needs(&a.lists[0]), 1);
	assert_int_equal(argument_list__needs(&a.lists[1]), 0);
	thread_context__forget(&a);
	assert_false(thread_context__is_wanted(&a));
	assert_false(arguments__named(&a));
	assert_int_equal(a.cnt, 1);
	assert_int_equal(a.lists[0].cnt, 1);
	arguments__clear(&a);

	assert_int_equal(parse(&a, "f(arg1, arg2, arg3, arg4, arg5)"), 0);
	assert_int_equal(thread_context__want(&a, globs, 1), 0);
	assert_int_equal(a.lists[0].cnt, 5);
	arguments__clear(&a);
}

/* The last brackets are ours. */
static void names_with_brackets(void **state)
{
	const struct symbol plus = {.name = "_ZplRK1AS1_"}, f = {.name = "f"};
	const struct symbol go = {.name = "f", .is_go = true};
	struct arguments a;

	assert_int_equal(parse(&a, "operator+(A const&, A const&)(arg1)"), 0);
	assert_int_equal(arguments__of(&a, &program, &f), 0);
	assert_non_null(arguments__unmatched(&a));
	assert_int_equal(arguments__of(&a, &program, &plus), 1);
	assert_null(arguments__unmatched(&a));
	arguments__clear(&a);

	assert_int_equal(parse(&a, "f(arg1)"), 0);
	assert_int_equal(arguments__of(&a, &program, &go), 0);
	assert_true(arguments__unmatched(&a)->refused);
	arguments__clear(&a);
}

static void what_values_need(void **state)
{
	static const struct {
		const char *list;
		uint32_t needs;
	} rows[] = {
		{"f(arg1, arg6)", 0x21},
		{"f(ret, ret:s)", 0},
		{"f(arg7)", ARGUMENTS_NEED_MEMORY},
		{"f(arg2+8)", 2 | ARGUMENTS_NEED_MEMORY},
		{"f(arg3:s)", 4 | ARGUMENTS_NEED_MEMORY},
	};
	struct arguments a;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse(&a, rows[i].list), 0);
		assert_int_equal(argument_list__needs(&a.lists[0]), rows[i].needs);
		arguments__clear(&a);
	}
}

static void conditions(void **state)
{
	static const char *const texts[] = {
		"arg2 > 4096",
		"f:arg1<=-1",
		"ns::operator<: arg1:x != 0xffffffffffffffff",
		"ns::operator<:   arg3:u8   ==   1  ",
		"  ns::operator< : arg3:d8 >= -128",
		"ns::operator<:arg3:d8<128",
		"ns::g:arg3:d8<127",
		"f:x<=1",
	};
	const struct argument_condition *c;
	struct arguments a;

	assert_int_equal(parse(&a, "f(ret)"), 0);
	assert_int_equal(arguments__restrict(&a, (char *const *)texts, 1), 0);
	assert_int_equal(arguments__restrict(&a, (char *const *)&texts[2], 2), 0);
	assert_int_equal(a.cnt, 2);
	c = a.lists[0].conditions;
	assert_int_equal(a.lists[0].conditions_cnt, 1);
	assert_int_equal(c->relation, ARGUMENT_ABOVE);
	assert_int_equal(c->than, 4096);
	assert_string_equal(a.lists[0].items[c->item].name, "arg2");
	assert_string_equal(a.lists[1].glob, "ns::operator<");
	c = a.lists[1].conditions;
	assert_int_equal(a.lists[1].conditions_cnt, 2);
	assert_int_equal(c[0].relation, ARGUMENT_UNEQUAL);
	assert_int_equal(c[0].than, UINT64_MAX);
	assert_int_equal(c[1].relation, ARGUMENT_EQUAL);
	assert_string_equal(a.lists[1].items[c[1].item].name, "arg3:u8");
	assert_int_equal(arguments__restrict(&a, (char *const *)&texts[1], 1), 0);
	assert_int_equal(a.cnt, 2);
	assert_int_equal(a.lists[0].conditions_cnt, 2);
	assert_int_equal(arguments__restrict(&a, (char *const *)&texts[4], 1), 0);
	assert_int_equal(a.cnt, 2);
	assert_int_equal(arguments__restrict(&a, (char *const *)&texts[6], 1), 0);
	assert_string_equal(a.lists[2].glob, "ns::g");
	assert_string_equal(a.lists[2].items[0].name, "arg3:d8");
	/* No number of eight bits. */
	assert_int_equal(arguments__restrict(&a, (char *const *)&texts[5], 1), -EINVAL);
	/* Without a space this colon is a format's. */
	assert_int_equal(parse(&a, "f(ret)"), 0);
	assert_int_equal(arguments__restrict(&a, (char *const *)&texts[7], 1), 0);
	assert_int_equal(a.cnt, 1);
	assert_string_equal(a.lists[0].items[1].parameter, "f");
	arguments__clear(&a);
}

static void changes(void **state)
{
	static const struct {
		uint8_t code[12];
		uint8_t size;
		uint32_t changes;
	} rows[] = {
		{{0x55}, 1, 0},						 /* push %rbp */
		{{0xf3, 0x0f, 0x1e, 0xfa}, 4, 0},			 /* endbr64 */
		{{0x48, 0x89, 0xf8}, 3, 0},				 /* mov %rdi, %rax */
		{{0x48, 0x89, 0xf7}, 3, 1},				 /* mov %rsi, %rdi */
		{{0x40, 0xb7, 7}, 3, 1},				 /* mov $7, %dil */
		{{0x31, 0xf6}, 2, 2},					 /* xor %esi, %esi */
		{{0x48, 0x99}, 2, 4},					 /* cqto */
		{{0x0f, 0xa2}, 2, 4 | 8},				 /* cpuid */
		{{0x4d, 0x87, 0xc8}, 3, 16 | 32},			 /* xchg %r9, %r8 */
		{{0x48, 0x83, 0xec, 24}, 4, 0},				 /* sub $24, %rsp */
		{{0x48, 0x89, 0x44, 0x24, 8}, 5, ARGUMENTS_NEED_MEMORY}, /* mov %rax, 8(%rsp) */
		{{0xf3, 0xa4}, 2, 1 | 2 | 8 | ARGUMENTS_NEED_MEMORY},	 /* rep movsb */
		{{0x48, 0x39, 0x07}, 3, 0},				 /* cmp %rax, (%rdi) */
		{{0x0f, 0x05}, 2, ~0u},					 /* syscall */
		{{0x06}, 1, ~0u},					 /* none */
		{{0x48, 0x89}, 2, ~0u},					 /* cut off */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(
			changes__before(&arch_x86_64, rows[i].code, rows[i].size, rows[i].size),
			rows[i].changes);
	assert_int_equal(changes__before(&arch_x86_64, rows[3].code, rows[3].size, 0), 0);
	assert_int_equal(changes__before(&arch_x86_64, rows[3].code, 0, 3), ~0u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_all_kinds),
		cmocka_unit_test(thread_contexts),
		cmocka_unit_test(thread_contexts_of_sessions),
		cmocka_unit_test(names_with_brackets),
		cmocka_unit_test(what_values_need),
		cmocka_unit_test(conditions),
		cmocka_unit_test(changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
