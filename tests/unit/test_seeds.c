// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions that were open below outermost calls become paths above these. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tables/bpf_tables.h"
#include "collect/expand.h"
#include "collect/sample_store.h"
#include "collect/seeds.h"
#include "collect/figures.h"
#include "tables/stack_copy.h"

#define SEED	  1
#define FUNCTIONS 8
#define PROBED	  5 /* functions from this one on have probes */

static struct wire_seed seeds[4];
static struct bpf_tables tables = {.info.seeds_cap = 4, .seeds = seeds};
static const struct function_probes probes[FUNCTIONS] = {
	[PROBED] = {.entry = 1}, [PROBED + 1] = {.entry = 1}, [PROBED + 2] = {.entry = 1}};
static int fails;

/* The function behind whose call n is, is number n. */
static int resolve(const struct code_place *at, uint32_t *function, void *ctx)
{
	assert_int_equal(at->object, 1);
	*function = at->vaddr;
	return fails;
}

static const struct expansions expansions = {.resolve = resolve};

/* The functions of a seed's frames, innermost first; and which stays. */
static void put_seed(uint32_t cnt, const uint32_t *functions, uint32_t first)
{
	struct wire_seed *w = &seeds[SEED * 2];

	memset(seeds, 0, sizeof(seeds));
	*w = (struct wire_seed){.cnt = cnt, .first = first, .lives = 3};
	for (uint32_t i = 0; i < cnt; i++) {
		w->frames[i % WIRE_SEED_FRAMES].function = 1ull << 48 | functions[i];
		w->frames[i % WIRE_SEED_FRAMES].slot = 8 * (i + 1);
	}
}

/* A copy with calls of function 4, once below each of these frames of the seed. */
static struct stack_copy *new_copy(uint32_t cnt, const uint32_t *firsts)
{
	struct stack_copy *copy = calloc(1, sizeof(*copy) + 2 * cnt * sizeof(copy->nodes[0]));

	assert_non_null(copy);
	copy->outside_ns = 1;
	for (uint32_t i = 0; i < cnt; i++) {
		copy->nodes[i * 2] = (struct stack_copy_node){
			.parent = STACK_COPY_ROOT,
			.function = WIRE_SEED_NODE(SEED, firsts[i]),
			.self_ns = 100,
			.probe_ns = 10,
		};
		copy->nodes[i * 2 + 1] = (struct stack_copy_node){
			.parent = i * 2, .function = 4, .calls = 1, .self_ns = 5};
	}
	copy->nodes_cnt = 2 * cnt;
	return copy;
}

static void expand(struct seeds *s, struct stack_copy **copy, int expected)
{
	assert_int_equal(seeds__expand(s, &expansions, &tables, probes, FUNCTIONS, copy), expected);
}

static void expect(const struct stack_copy *copy, uint32_t i, uint32_t parent, uint32_t function,
		   uint64_t calls)
{
	assert_in_range(i, 0, copy->nodes_cnt - 1);
	assert_int_equal(copy->nodes[i].parent, parent);
	assert_int_equal(copy->nodes[i].function, function);
	assert_int_equal(copy->nodes[i].calls, calls);
}

static void begin(struct seeds *s)
{
	*s = (struct seeds){0};
	fails = 0;
	assert_int_equal(seeds__init(s, &tables), 0);
}

/* 0 > 1 > 2 was open at first, of which 0 > 1 has stayed. */
static void all_calls_are_below_what_stays(void **state)
{
	struct seeds s;
	struct stack_copy *copy = new_copy(2, (uint32_t[]){0, 1});

	begin(&s);
	put_seed(3, (uint32_t[]){2, 1, 0}, 1);
	expand(&s, &copy, 0);
	assert_int_equal(copy->nodes_cnt, 3);
	expect(copy, 0, STACK_COPY_ROOT, 0, 0);
	expect(copy, 1, 0, 1, 0);
	expect(copy, 2, 1, 4, 2);
	assert_int_equal(copy->nodes[0].self_ns + copy->nodes[1].self_ns, 0);
	assert_int_equal(copy->nodes[2].self_ns, 10);
	assert_int_equal(copy->outside_ns, 21);
	free(copy);
	seeds__fini(&s);
}

/* Functions with probes are known to have been open: 0 > 5 > 6 > 2, of which 0 has stayed. */
static void what_has_probes_is_shown(void **state)
{
	struct seeds s;
	struct stack_copy *copy = new_copy(2, (uint32_t[]){0, 3});

	begin(&s);
	put_seed(4, (uint32_t[]){2, 6, 5, 0}, 3);
	expand(&s, &copy, 0);
	assert_int_equal(copy->nodes_cnt, 5);
	expect(copy, 0, STACK_COPY_ROOT, 0, 0);
	expect(copy, 1, 0, 5, 0);
	expect(copy, 2, 1, 6, 0);
	expect(copy, 3, 2, 4, 1);
	expect(copy, 4, 0, 4, 1);
	free(copy);
	seeds__fini(&s);
}

/* If nothing of a seed is left its calls are outermost ones. */
static void nothing_stays(void **state)
{
	struct seeds s;
	struct stack_copy *copy = new_copy(1, (uint32_t[]){0});

	begin(&s);
	put_seed(2, (uint32_t[]){1, 0}, 2);
	expand(&s, &copy, 0);
	assert_int_equal(copy->nodes_cnt, 1);
	expect(copy, 0, STACK_COPY_ROOT, 4, 1);
	free(copy);
	seeds__fini(&s);
}

/* Intervals: what the first one has shown stays shown, until the entry is another seed's. */
static void paths_are_kept(void **state)
{
	struct seeds s;
	struct stack_copy *copy;

	begin(&s);
	s.keep_paths = true;
	put_seed(2, (uint32_t[]){1, 0}, 0);
	for (uint32_t i = 0; i < 3; i++) {
		copy = new_copy(1, (uint32_t[]){0});
		expand(&s, &copy, 0);
		assert_int_equal(copy->nodes_cnt, i < 2 ? 3 : 2);
		free(copy);
		seeds[SEED * 2].first = 1;
		seeds[SEED * 2].lives += i;
	}
	seeds__fini(&s);
}

/* Inlined functions where a frame has called on: but not of the frame that may call from elsewhere.
 */
static int inlined(const struct code_place *at, uint32_t *functions, size_t *cnt, void *ctx)
{
	*cnt = 2;
	functions[0] = 300 + at->vaddr;
	functions[1] = 400 + at->vaddr;
	return 0;
}

static void inlined_functions(void **state)
{
	struct sample_store store = {.resolve = resolve, .inlined = inlined};
	struct stack_copy *copy = new_copy(1, (uint32_t[]){0});
	struct seeds s;

	begin(&s);
	s.inlined = &store;
	put_seed(3, (uint32_t[]){2, 1, 0}, 1);
	expand(&s, &copy, 0);
	assert_int_equal(copy->nodes_cnt, 5);
	expect(copy, 0, STACK_COPY_ROOT, 0, 0);
	expect(copy, 1, 0, 300, 0);
	expect(copy, 2, 1, 400, 0);
	expect(copy, 3, 2, 1, 0);
	expect(copy, 4, 3, 4, 1);
	free(copy);
	sample_store__fini(&store);
	seeds__fini(&s);
}

/* The outermost frames of a deep stack are known; numbers beyond them are garbage. */
static void deep_stacks_and_garbage(void **state)
{
	uint32_t functions[WIRE_SEED_FRAMES + 2] = {0};
	struct seeds s;
	struct stack_copy *copy = new_copy(2, (uint32_t[]){2, 1});

	begin(&s);
	for (uint32_t i = 0; i < WIRE_SEED_FRAMES + 2; i++)
		functions[i] = i == 2 ? 3 : i < 2;
	put_seed(WIRE_SEED_FRAMES + 2, functions, 2);
	expand(&s, &copy, 0);
	assert_int_equal(copy->nodes_cnt, WIRE_SEED_FRAMES + 2);
	expect(copy, WIRE_SEED_FRAMES - 1, WIRE_SEED_FRAMES - 2, 3, 0);
	expect(copy, WIRE_SEED_FRAMES, WIRE_SEED_FRAMES - 1, 4, 1);
	expect(copy, WIRE_SEED_FRAMES + 1, STACK_COPY_ROOT, 4, 1);
	free(copy);
	copy = new_copy(1, (uint32_t[]){0});
	put_seed(2, (uint32_t[]){1, 0}, 0);
	fails = -ENOMEM;
	expand(&s, &copy, -ENOMEM);
	free(copy);
	seeds__fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_calls_are_below_what_stays),
		cmocka_unit_test(what_has_probes_is_shown),
		cmocka_unit_test(nothing_stays),
		cmocka_unit_test(paths_are_kept),
		cmocka_unit_test(inlined_functions),
		cmocka_unit_test(deep_stacks_and_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
