// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples from the kernel's table to the paths of call stacks and threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "tables/bpf_tables.h"
#include "tables/growing_table.h"
#include "collect/sample_store.h"
#include "tables/stack_copy.h"

#define PLACES	   4
#define CALLSTACKS 3
#define NODES	   8
#define PERIOD	   1000
#define PROBES	   99 /* a function of the kernel */
#define UNKNOWN	   77
#define HIDDEN	   500 /* from here on functions of the kernel have no names */
#define CALLS	   1000
#define THREAD	   ((7ull << 32) | 8)

static struct wire_sample samples[2 * PLACES];
static struct wire_callstack callstacks[CALLSTACKS];
static struct wire_sample_counts counts[WIRE_CPUS];
static uint32_t half, scratch[NODES];
static struct growing_table growing[GROWING_TABLES] = {
	[GROWING_CALLSTACKS] = {.cap = CALLSTACKS, .mapped = CALLSTACKS},
};
static struct bpf_tables tables = {
	.growing = growing,
	.info = {.callstacks_cap = CALLSTACKS,
		 .samples_cap = PLACES,
		 .samples_half = &half,
		 .sample_counts = counts},
	.callstacks = callstacks,
	.samples = samples,
};

/* Object 1's function behind whose call n is, is number n - 1. */
static int resolve(const struct code_place *at, uint32_t *function, void *ctx)
{
	*function = at->object == RESOLVE_NOWHERE ? UNKNOWN : at->vaddr - 1;
	if (at->object == RESOLVE_KERNEL && *function == PROBES)
		*function = RESOLVED_PROBING;
	else if (at->object == RESOLVE_KERNEL && *function >= HIDDEN)
		*function = RESOLVED_NAMELESS;
	if (at->object == RESOLVE_CALL)
		*function += CALLS;
	return 0;
}

/* In functions from 20 on two others are inlined, in 2 one. */
static int inlined(const struct code_place *at, uint32_t *functions, size_t *cnt, void *ctx)
{
	*cnt = at->vaddr - 1 >= 20 ? 2 : at->vaddr - 1 == 2;
	functions[0] = 300 + at->vaddr - 1;
	functions[1] = 400 + at->vaddr - 1;
	return 0;
}

static void begin(struct sample_store *s)
{
	memset(samples, 0, sizeof(samples));
	memset(callstacks, 0, sizeof(callstacks));
	memset(counts, 0, sizeof(counts));
	memset(scratch, 0xff, sizeof(scratch));
	half = 0;
	callstacks[1] = (struct wire_callstack){.state = WIRE_CALLSTACK_READY, .lives = 5};
	*s = (struct sample_store){.resolve = resolve, .period_ns = PERIOD, .weight_ns = PERIOD};
	assert_int_equal(sample_store__init(s, &tables), 0);
}

/* A sample in the half that is being filled: in `inner`, which `outer` called. */
static struct wire_sample *put(uint32_t node, uint64_t outer, uint64_t inner, uint64_t cnt)
{
	struct wire_sample *e = &samples[half * PLACES];

	while (e->hash)
		e++;
	*e = (struct wire_sample){.hash = 1 + outer + inner * 100,
				  .cnt = cnt,
				  .spot = {.pid_tgid = THREAD,
					   .start_ns = 3,
					   .callstack = node ? 1 : 0,
					   .lives = node ? 5 : 0,
					   .node = node,
					   .comm = "worker"}};
	e->user.cnt = !!inner + !!outer;
	e->user.frames[0] = 1ull << 48 | inner;
	e->user.frames[1] = 1ull << 48 | (outer + 1); /* a return address */
	e->user.end = WIRE_CALLERS_WHOLE;
	counts[0].taken += cnt;
	return e;
}

static void expect_path(const struct stack_copy *copy, uint32_t i, uint32_t parent,
			uint32_t function)
{
	assert_in_range(i, 0, copy->nodes_cnt - 1);
	assert_int_equal(copy->nodes[i].parent, parent);
	assert_int_equal(copy->nodes[i].function, function);
}

static void expect_samples(const struct stack_copy *copy, uint32_t i, uint32_t base, uint32_t node,
			   uint64_t cnt)
{
	assert_in_range(i, 0, copy->samples_cnt - 1);
	assert_int_equal(copy->samples[i].base, base);
	assert_int_equal(copy->samples[i].node, node);
	assert_int_equal(copy->samples[i].cnt, cnt);
	assert_int_equal(copy->samples[i].ns, cnt * PERIOD);
}

/* Below node 6, a call of function 2: itself, f 20 > g 21, and its callee 3, which has a node. */
static void test_below_a_call(void **state)
{
	struct stack_copy *copy = calloc(1, sizeof(*copy) + 2 * sizeof(copy->nodes[0]));
	struct sample_store s;

	begin(&s);
	put(6, 20, 21, 10);
	put(6, 0, 0, 4);
	put(6, 0, 3, 2);
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	copy->nodes_cnt = 2;
	copy->nodes[0] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT, .function = 2, .calls = 9, .number = 6};
	copy->nodes[1] =
		(struct stack_copy_node){.parent = 0, .function = 3, .calls = 8, .number = 7};
	assert_int_equal(sample_store__put(&s, &tables, 1, scratch, &copy), 0);
	assert_int_equal(copy->nodes_cnt, 4);
	expect_path(copy, 0, STACK_COPY_ROOT, 2);
	expect_path(copy, 1, 0, 3);
	expect_path(copy, 2, 0, 20);
	expect_path(copy, 3, 2, 21);
	assert_int_equal(copy->nodes[1].calls, 8);
	assert_int_equal(copy->samples_cnt, 3);
	expect_samples(copy, 0, 0, 3, 10);
	expect_samples(copy, 1, 0, 0, 4);
	expect_samples(copy, 2, 0, 1, 2);
	for (int i = 0; i < NODES; i++)
		assert_int_equal(scratch[i], STACK_COPY_ROOT);
	free(copy);
	sample_store__fini(&s);
}

/* Each frame has what is inlined where it was, and the call itself what is where it has called on;
 * unless its path is of another function than that which has the code. */
static void test_inlined(void **state)
{
	static struct wire_node nodes[NODES] = {
		[6] = {.parent = 1, .function = 2}, [7] = {.parent = 1, .function = 5}};
	struct stack_copy *copy = calloc(1, sizeof(*copy) + 2 * sizeof(copy->nodes[0]));
	struct sample_store s;

	begin(&s);
	tables.nodes = nodes;
	growing[GROWING_NODES] = growing[GROWING_NODE_RESTS] =
		(struct growing_table){.cap = NODES, .mapped = NODES};
	s.inlined = inlined;
	for (uint32_t node = 6; node < 8; node++) {
		struct wire_sample *e = put(node, 0, 21, 10);

		e->hash += node;
		e->user.own = 1;
		e->user.frames[1] = 1ull << 48 | 3; /* behind a call in function 2 */
		e = put(node, 0, 0, 5);
		e->hash += node * 2;
		e->user.own = 1;
		e->user.frames[0] = 1ull << 48 | 2;
	}
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	copy->nodes_cnt = 2;
	copy->nodes[0] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT, .function = 2, .calls = 9, .number = 6};
	copy->nodes[1] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT, .function = 5, .calls = 9, .number = 7};
	assert_int_equal(sample_store__put(&s, &tables, 1, scratch, &copy), 0);
	expect_path(copy, 2, 0, 302);
	expect_path(copy, 3, 2, 21);
	expect_path(copy, 4, 3, 321);
	expect_path(copy, 5, 4, 421);
	expect_samples(copy, 0, 0, 2, 5);
	expect_samples(copy, 1, 0, 5, 10);
	expect_path(copy, 6, 1, 21);
	expect_samples(copy, 2, 1, 8, 10);
	expect_samples(copy, 3, 1, 1, 5);
	assert_int_equal(copy->nodes_cnt, 9);
	assert_int_equal(copy->nodes[0].calls, 9);
	tables.nodes = NULL;
	growing[GROWING_NODES] = growing[GROWING_NODE_RESTS] = (struct growing_table){0};
	free(copy);
	sample_store__fini(&s);
}

static uint64_t met_ns; /* of object 1 */

static void note_met(uint32_t object, uint64_t ns, void *ctx)
{
	assert_int_equal(object, 1);
	met_ns += ns;
}

/* Inlined functions are not known before the object's code has been met three times. */
static int inlined_later(const struct code_place *at, uint32_t *functions, size_t *cnt, void *ctx)
{
	*cnt = 0;
	return met_ns < 3 * PERIOD ? -EAGAIN : inlined(at, functions, cnt, ctx);
}

/* An answer that may be another one later is not kept; and samples that met the kernel do not count
 * as having met the code that called it. */
static void test_inlined_later(void **state)
{
	struct stack_copy *copy = calloc(1, sizeof(*copy) + sizeof(copy->nodes[0]));
	struct sample_store s;
	struct wire_sample *e;

	begin(&s);
	s.inlined = inlined_later;
	s.met = note_met;
	met_ns = 0;
	put(6, 0, 2, 2);
	e = put(6, 0, 3, 7);
	e->kernel_cnt = 1;
	e->kernel[0] = 30;
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(met_ns, 2 * PERIOD);
	put(6, 0, 2, 4);
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(met_ns, 6 * PERIOD);
	copy->nodes_cnt = 1;
	copy->nodes[0] = (struct stack_copy_node){
		.parent = STACK_COPY_ROOT, .function = 5, .calls = 9, .number = 6};
	assert_int_equal(sample_store__put(&s, &tables, 1, scratch, &copy), 0);
	expect_path(copy, 1, 0, 2);
	expect_path(copy, 2, 0, 3);
	expect_path(copy, 3, 2, 30);
	expect_path(copy, 4, 1, 302);
	expect_samples(copy, 0, 0, 1, 2);
	expect_samples(copy, 1, 0, 3, 7);
	expect_samples(copy, 2, 0, 4, 4);
	free(copy);
	sample_store__fini(&s);
}

static void test_outside_of_calls(void **state)
{
	struct profile_accounting a = {0};
	struct stack_copy *copy;
	struct sample_store s;
	struct wire_sample *e;

	begin(&s);
	e = put(0, 20, 21, 10);
	e->kernel_cnt = 2;
	e->kernel[0] = 40;
	e->kernel[1] = 42; /* behind a call in 41 */
	put(0, 20, 22, 1);
	put(0, 0, 0, 3); /* nothing is known */
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(s.threads_cnt, 1);
	assert_int_equal(sample_store__thread(&s, 0, &copy), 0);
	assert_int_equal(copy->pid, 7);
	assert_int_equal(copy->tid, 8);
	assert_int_equal(copy->start_ns, 3);
	assert_string_equal(copy->comm, "worker");
	assert_int_equal(copy->callstack_ns, SAMPLED_OUTSIDE);
	expect_path(copy, 0, STACK_COPY_ROOT, 20);
	expect_path(copy, 1, 0, 21);
	expect_path(copy, 2, 1, 41);
	expect_path(copy, 3, 2, 40);
	expect_path(copy, 4, 0, 22);
	expect_samples(copy, 0, STACK_COPY_ROOT, 3, 10);
	expect_samples(copy, 1, STACK_COPY_ROOT, 4, 1);
	expect_path(copy, 5, STACK_COPY_ROOT, UNKNOWN);
	expect_samples(copy, 2, STACK_COPY_ROOT, 5, 3);
	sample_store__set_period(&s, &tables, 5000);
	sample_store__weigh(&s, &tables, 1000000);
	assert_int_equal(s.weight_ns, 5000); /* too few since then */
	counts[2].taken += 100;
	sample_store__weigh(&s, &tables, s.before_ns + 100 * 6000);
	assert_int_equal(s.weight_ns, 6000);
	counts[2].taken -= 100;
	sample_store__account(&s, &tables, &a);
	assert_int_equal(a.samples_taken, 14);
	assert_int_equal(a.samples_whole, 14);
	free(copy);
	sample_store__fini(&s);
}

/* A sample outside of calls in the goroutine of that number, which thread `tid` runs. */
static void put_goroutine(uint64_t goid, uint32_t tid)
{
	struct wire_sample *e = put(0, 20, 21, 1);

	e->spot.goid = goid;
	e->spot.pid_tgid = 7ull << 32 | tid;
}

/* A goroutine's samples are one, whichever threads have run it; and no thread's. Where there are
 * too many goroutines, those that come last have theirs below their threads. */
static void test_goroutines(void **state)
{
	const uint64_t most = 4096;
	struct stack_copy *copy;
	struct sample_store s;

	begin(&s);
	put_goroutine(31, 8);
	put_goroutine(31, 9);
	put_goroutine(0, 9);
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(s.threads_cnt, 2);
	assert_int_equal(sample_store__thread(&s, 0, &copy), 0);
	assert_int_equal(copy->pid, 7);
	assert_int_equal(copy->tid, 0);
	assert_int_equal(copy->goroutine, 31);
	assert_int_equal(copy->start_ns, 3);
	assert_int_equal(copy->callstack_ns, SAMPLED_OUTSIDE);
	expect_samples(copy, 0, STACK_COPY_ROOT, 1, 2);
	free(copy);
	for (uint64_t i = 1; i < most; i++) {
		put_goroutine(1000 + i, 8);
		if (i % PLACES == 0 || i == most - 1)
			assert_int_equal(sample_store__settle(&s, &tables), 0);
	}
	assert_int_equal(s.threads_cnt, most + 1);
	put_goroutine(999, 9);
	put_goroutine(1001, 9);
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(s.threads_cnt, most + 1);
	assert_int_equal(sample_store__thread(&s, 1, &copy), 0);
	assert_int_equal(copy->tid, 9);
	expect_samples(copy, 0, STACK_COPY_ROOT, 1, 2);
	free(copy);
	sample_store__fini(&s);
}

/* Where the kernel hides its functions, the system call stands for them. */
static void test_hidden_kernel(void **state)
{
	struct stack_copy *copy;
	struct sample_store s;
	struct wire_sample *e;

	begin(&s);
	e = put(0, 0, 21, 1);
	e->kernel_cnt = 3;
	e->kernel[0] = HIDDEN + 7;
	e->kernel[1] = HIDDEN + 8;
	e->kernel[2] = HIDDEN + 9;
	e->call = 5;
	e = put(0, 0, 22, 2);
	e->kernel_cnt = 1;
	e->kernel[0] = HIDDEN + 7;
	e->call = WIRE_WAIT_KERNEL;
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(sample_store__thread(&s, 0, &copy), 0);
	assert_int_equal(copy->nodes_cnt, 4);
	expect_path(copy, 0, STACK_COPY_ROOT, 21);
	expect_path(copy, 1, 0, CALLS + 5);
	expect_path(copy, 2, STACK_COPY_ROOT, 22);
	expect_path(copy, 3, 2, CALLS + WIRE_WAIT_KERNEL);
	free(copy);
	sample_store__fini(&s);
}

/* Probes at work, and call stacks that are gone: counted, and in no tree. */
static void test_not_in_the_tree(void **state)
{
	struct profile_accounting a = {0};
	struct sample_store s;
	struct wire_sample *e;

	begin(&s);
	e = put(6, 20, 21, 10);
	e->kernel_cnt = 1;
	e->kernel[0] = PROBES;
	put(6, 20, 23, 5)->spot.lives = 4;
	counts[3].taken += 2;
	counts[3].lost = 2;
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	sample_store__account(&s, &tables, &a);
	assert_int_equal(a.samples_taken, 17);
	assert_int_equal(a.samples_probing, 10);
	assert_int_equal(a.samples_lost, 7);
	assert_int_equal(a.samples_whole, 0);
	assert_int_equal(s.threads_cnt, 0);
	sample_store__fini(&s);
}

/* A poll reads the half that was left at the one before; and a half that was read is empty. */
static void test_halves(void **state)
{
	struct sample_store s;

	begin(&s);
	put(6, 0, 21, 1);
	assert_int_equal(sample_store__poll(&s, &tables), 0);
	assert_int_equal(half, 1);
	assert_int_equal(s.ends[WIRE_CALLERS_WHOLE], 0);
	put(6, 0, 21, 2);
	assert_int_equal(sample_store__poll(&s, &tables), 0);
	assert_int_equal(s.ends[WIRE_CALLERS_WHOLE], 1);
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(s.ends[WIRE_CALLERS_WHOLE], 3);
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(s.ends[WIRE_CALLERS_WHOLE], 3);
	sample_store__fini(&s);
}

/* The clock has missed a third of the time: each sample stands for more. */
static void test_weights(void **state)
{
	struct sample_store s;

	begin(&s);
	counts[0].taken = 8;
	sample_store__weigh(&s, &tables, 100 * PERIOD);
	assert_int_equal(s.weight_ns, PERIOD);
	counts[0].taken = 100;
	sample_store__weigh(&s, &tables, 150 * PERIOD);
	assert_int_equal(s.weight_ns, PERIOD * 3 / 2);
	sample_store__weigh(&s, &tables, 1000 * PERIOD);
	assert_int_equal(s.weight_ns, PERIOD * 4);
	sample_store__weigh(&s, &tables, PERIOD);
	assert_int_equal(s.weight_ns, PERIOD / 2);
	sample_store__weigh(&s, &tables, 0);
	assert_int_equal(s.weight_ns, PERIOD);
	sample_store__fini(&s);
}

/* Where the clock gets another period, n samples are uncertain by sqrt(n) of what lies between: 10
 * of 1,000 ns and 10 of 3,000 have a variance of 10^8 ns^2, which is 40,000 ns * 2,500 ns. */
static void test_two_periods(void **state)
{
	struct sample_store s;

	begin(&s);
	assert_int_equal(sample_store__period(&s), PERIOD);
	put(0, 5, 3, 10);
	s.weight_ns = 1000;
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(sample_store__period(&s), 1000);
	put(0, 5, 3, 10);
	s.weight_ns = 3000;
	assert_int_equal(sample_store__settle(&s, &tables), 0);
	assert_int_equal(sample_store__period(&s), 2500);
	sample_store__fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_below_a_call),  cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_inlined_later), cmocka_unit_test(test_outside_of_calls),
		cmocka_unit_test(test_hidden_kernel), cmocka_unit_test(test_not_in_the_tree),
		cmocka_unit_test(test_halves),	      cmocka_unit_test(test_weights),
		cmocka_unit_test(test_two_periods),   cmocka_unit_test(test_goroutines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
