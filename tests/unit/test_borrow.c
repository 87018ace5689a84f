// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of short threads: what is missed in one was met in others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sample/borrow.h"
#include "tables/stack_copy.h"

#define MS	1000000ull
#define THREADS 1000

enum { SERVE = 1, PARSE, REPLY, COPY };

/* A thread whose call of `serve` took `ns`; samples met `parse` in it, or `copy` below `reply`. */
static struct stack_copy *thread(uint64_t ns, uint64_t parse, uint64_t reply)
{
	struct stack_copy *c =
		calloc(1, sizeof(*c) + 4 * sizeof(c->nodes[0]) + 2 * sizeof(c->samples[0]));

	assert_non_null(c);
	c->samples = (struct stack_copy_sample *)&c->nodes[4];
	c->nodes[c->nodes_cnt++] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT, .function = SERVE, .calls = 1, .self_ns = ns};
	if (parse) {
		c->nodes[c->nodes_cnt] = (struct stack_copy_node){.function = PARSE};
		c->samples[c->samples_cnt++] = (struct stack_copy_sample){
			.node = c->nodes_cnt++, .cnt = parse, .ns = parse * 10 * MS};
	}
	if (reply) {
		c->nodes[c->nodes_cnt] = (struct stack_copy_node){.function = REPLY};
		c->nodes[c->nodes_cnt + 1] =
			(struct stack_copy_node){.parent = c->nodes_cnt, .function = COPY};
		c->samples[c->samples_cnt++] = (struct stack_copy_sample){
			.node = c->nodes_cnt + 1, .cnt = reply, .ns = reply * 10 * MS};
		c->nodes_cnt += 2;
	}
	return c;
}

/* CPU time of the samples that met a function; all of them must lie below `serve`. */
static uint64_t met_ns(const struct stack_copy *c, uint32_t function)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->samples_cnt; i++) {
		const struct stack_copy_sample *s = &c->samples[i];
		const struct stack_copy_node *n = &c->nodes[s->node];

		assert_int_equal(c->nodes[s->base].function, SERVE);
		if (n->function != function)
			continue;
		ns += s->ns;
		if (function == COPY) {
			assert_int_equal(c->nodes[n->parent].function, REPLY);
			assert_int_equal(c->nodes[n->parent].parent, s->base);
		}
	}
	return ns;
}

/* Threads of 10 ms, a third of which no sample has met: these have spent their time as others. */
static void test_short_threads(void **state)
{
	struct stack_copy *threads[THREADS], *out[THREADS];
	double parse = 0, copy = 0;

	for (int i = 0; i < THREADS; i++)
		threads[i] = thread(10 * MS, i % 9 < 2, i % 9 >= 2 && i % 9 < 6);
	assert_int_equal(borrow__samples((const struct stack_copy *const *)threads, THREADS, out),
			 0);
	for (int i = 0; i < THREADS; i++) {
		uint64_t cnt = 0;

		assert_non_null(out[i]);
		assert_int_equal(out[i]->nodes[0].calls, 1);
		assert_in_range(met_ns(out[i], PARSE) + met_ns(out[i], COPY), 10 * MS - 8, 10 * MS);
		for (uint32_t k = 0; k < out[i]->samples_cnt; k++)
			cnt += out[i]->samples[k].cnt;
		assert_int_equal(cnt, i % 9 < 6);
		parse += (double)met_ns(out[i], PARSE);
		copy += (double)met_ns(out[i], COPY);
		free(out[i]);
		free(threads[i]);
	}
	/* Two thirds, as exactly as whole loans can be dealt out. */
	assert_true(copy / (copy + parse) > 0.66 && copy / (copy + parse) < 0.675);
}

/* Where samples are as many as are due, or few of all, all stays as it is. */
static void test_nothing_lacks(void **state)
{
	struct stack_copy *threads[] = {thread(20 * MS, 1, 1), thread(10 * MS, 0, 1)}, *out[2];

	assert_int_equal(borrow__samples((const struct stack_copy *const *)threads, 2, out), 0);
	assert_null(out[0]);
	assert_null(out[1]);
	free(threads[1]);
	/* 10 ms were met of 10 s: that is chance, and may be twice as much. */
	threads[1] = thread(10000 * MS, 0, 1);
	assert_int_equal(borrow__samples((const struct stack_copy *const *)&threads[1], 1, out), 0);
	assert_null(out[0]);
	free(threads[0]);
	free(threads[1]);
}

/* All samples of a path stand for at most twice as much as they do by themselves. */
static void test_few_samples(void **state)
{
	struct stack_copy *threads[] = {thread(10 * MS, 1, 0), thread(90 * MS, 0, 0)}, *out[2];

	assert_int_equal(borrow__samples((const struct stack_copy *const *)threads, 2, out), 0);
	assert_non_null(out[0]);
	assert_int_equal(met_ns(out[0], PARSE), 10 * MS);
	assert_in_range(met_ns(out[1], PARSE), 18 * MS - 8, 18 * MS);
	for (int i = 0; i < 2; i++) {
		free(threads[i]);
		free(out[i]);
	}
}

/* Samples of the same function on another path tell nothing. */
static void test_other_path(void **state)
{
	struct stack_copy *threads[] = {thread(10 * MS, 1, 0), thread(10 * MS, 0, 0)}, *out[2];

	threads[1]->nodes[0].function = COPY;
	assert_int_equal(borrow__samples((const struct stack_copy *const *)threads, 2, out), 0);
	assert_null(out[1]);
	for (int i = 0; i < 2; i++)
		free(threads[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_threads),
		cmocka_unit_test(test_nothing_lacks),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_other_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
