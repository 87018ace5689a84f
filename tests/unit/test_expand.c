// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks of callers become paths: what is alike becomes one, nothing is lost on the way. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "collect/expand.h"
#include "tables/stack_copy.h"
#include "tables/bpf_tables.h"

#define STACKS 4

static struct wire_callers stacks[STACKS];
static struct bpf_tables tables = {.info.callers_cap = STACKS, .callers = stacks};
static int resolved, fails;

/* Object 1's function at vaddr n is number n. */
static int resolve(const struct code_place *at, uint32_t *function, void *ctx)
{
	assert_int_equal(at->object, 1);
	resolved++;
	*function = at->vaddr;
	return fails;
}

static void put_stack(uint32_t number, uint32_t end, uint32_t cnt, const uint64_t *functions)
{
	stacks[number] = (struct wire_callers){.cnt = cnt, .end = end};
	for (uint32_t i = 0; i < cnt; i++)
		stacks[number].frames[i] = 1ull << 48 | functions[i];
}

static struct stack_copy *new_copy(const struct stack_copy_node *nodes, uint32_t cnt)
{
	struct stack_copy *copy = calloc(1, sizeof(*copy) + cnt * sizeof(*nodes));

	assert_non_null(copy);
	copy->pid = 7;
	copy->entered = 99;
	copy->nodes_cnt = cnt;
	memcpy(copy->nodes, nodes, cnt * sizeof(*nodes));
	return copy;
}

static void begin(struct expansions *e)
{
	memset(stacks, 0, sizeof(stacks));
	*e = (struct expansions){.resolve = resolve};
	e->stacks = calloc(STACKS, sizeof(*e->stacks));
	assert_non_null(e->stacks);
	resolved = fails = 0;
}

static void expect(const struct stack_copy *p, uint32_t i, uint32_t parent, uint32_t function,
		   uint64_t calls)
{
	assert_int_equal(p->nodes[i].parent, parent);
	assert_int_equal(p->nodes[i].function, function);
	assert_int_equal(p->nodes[i].calls, calls);
}

/* main > a > f and main > b > f, by two stacks, and f below a traced call of g. */
static void stacks_share_their_callers(void **state)
{
	const uint64_t by_a[] = {11, 10}, by_b[] = {12, 10}, by_c[] = {13};
	const struct stack_copy_node nodes[] = {
		{.parent = STACK_COPY_ROOT, .function = WIRE_NODE_CALLERS | 1},
		{.parent = 0, .function = 5, .calls = 3, .self_ns = 30, .min_ns = 9, .max_ns = 11},
		{.parent = STACK_COPY_ROOT, .function = WIRE_NODE_CALLERS | 2},
		{.parent = 2, .function = 5, .calls = 4},
		{.parent = STACK_COPY_ROOT, .function = 6, .calls = 1},
		{.parent = 4, .function = WIRE_NODE_CALLERS | 3},
		{.parent = 5, .function = 5, .calls = 2},
	};
	struct stack_copy *copy = new_copy(nodes, 7), *out;
	struct profile_accounting a = {0};
	struct expansions e;

	begin(&e);
	put_stack(1, WIRE_CALLERS_WHOLE, 2, by_a);
	put_stack(2, WIRE_CALLERS_ASTRAY, 2, by_b);
	put_stack(3, WIRE_CALLERS_WHOLE, 1, by_c);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(expand__stack_copy(&e, &tables, copy, &a, &out), 0);
		assert_int_equal(out->nodes_cnt, 8);
		assert_int_equal(out->pid, 7);
		assert_int_equal(out->entered, 99);
		expect(out, 0, STACK_COPY_ROOT, 10, 0);
		expect(out, 1, 0, 11, 0);
		expect(out, 2, 1, 5, 3);
		assert_int_equal(out->nodes[2].self_ns, 30);
		assert_int_equal(out->nodes[2].min_ns, 9);
		expect(out, 3, 0, 12, 0);
		expect(out, 4, 3, 5, 4);
		expect(out, 5, STACK_COPY_ROOT, 6, 1);
		expect(out, 6, 5, 13, 0);
		expect(out, 7, 6, 5, 2);
		free(out);
	}
	assert_int_equal(resolved, 5); /* once */
	assert_int_equal(a.callers_whole, 2 * 5);
	assert_int_equal(a.callers_astray, 2 * 4);
	free(copy);
	expand__free(&e, &tables);
}

/* Two stacks that differ by addresses alone are one path; so is a stack that leads to a traced
 * function's own path. */
static void same_paths_are_one(void **state)
{
	const uint64_t f[] = {10};
	const struct stack_copy_node nodes[] = {
		{.parent = STACK_COPY_ROOT, .function = 10, .calls = 1, .min_ns = 5, .max_ns = 5},
		{.parent = STACK_COPY_ROOT, .function = WIRE_NODE_CALLERS | 1},
		{.parent = 1, .function = 5, .calls = 3, .self_ns = 1, .min_ns = 9, .max_ns = 11},
		{.parent = STACK_COPY_ROOT, .function = WIRE_NODE_CALLERS | 2},
		{.parent = 3, .function = 5, .calls = 4, .self_ns = 2, .min_ns = 8, .max_ns = 10},
	};
	struct stack_copy *copy = new_copy(nodes, 5), *out;
	struct profile_accounting a = {0};
	struct expansions e;

	begin(&e);
	put_stack(1, WIRE_CALLERS_DEEP, 1, f);
	put_stack(2, WIRE_CALLERS_UNKNOWN, 1, f);
	assert_int_equal(expand__stack_copy(&e, &tables, copy, &a, &out), 0);
	assert_int_equal(out->nodes_cnt, 2);
	expect(out, 0, STACK_COPY_ROOT, 10, 1);
	expect(out, 1, 0, 5, 7);
	assert_int_equal(out->nodes[1].self_ns, 3);
	assert_int_equal(out->nodes[1].min_ns, 8);
	assert_int_equal(out->nodes[1].max_ns, 11);
	assert_int_equal(a.callers_deep, 3);
	assert_int_equal(a.callers_lost, 4);
	free(out);
	free(copy);
	expand__free(&e, &tables);
}

static void failures_are_passed_on(void **state)
{
	const uint64_t f[] = {10};
	const struct stack_copy_node nodes[] = {
		{.parent = STACK_COPY_ROOT, .function = WIRE_NODE_CALLERS | 1},
		{.parent = 0, .function = 5, .calls = 3},
	};
	struct stack_copy *copy = new_copy(nodes, 2), *out;
	struct profile_accounting a = {0};
	struct expansions e;

	begin(&e);
	put_stack(1, WIRE_CALLERS_WHOLE, 1, f);
	fails = -ENOMEM;
	assert_int_equal(expand__stack_copy(&e, &tables, copy, &a, &out), -ENOMEM);
	fails = 0;
	assert_int_equal(expand__stack_copy(&e, &tables, copy, &a, &out), 0);
	assert_int_equal(out->nodes_cnt, 2);
	free(out);
	free(copy);
	expand__free(&e, &tables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_share_their_callers),
		cmocka_unit_test(same_paths_are_one),
		cmocka_unit_test(failures_are_passed_on),
	};

	return cmocka_run_group_tests_name("expand", tests, NULL, NULL);
}
