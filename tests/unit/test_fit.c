// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU times of paths add up to the target's, whatever calls and samples say. */
#include "fixture.h"
#include "calls/profile.h"
#include "sample/cpu_shares.h"
#include "sample/goroutine_time.h"
#include "tables/stack_copy.h"

#define MS 1000000ull

/* A profile with as many empty nodes, of two threads. */
static struct profile *blank(size_t nodes_cnt)
{
	static struct profile_node nodes[6];
	static struct profile_thread threads[2];
	static struct profile p;

	assert_true(nodes_cnt <= sizeof(nodes) / sizeof(*nodes));
	memset(nodes, 0, sizeof(nodes));
	memset(threads, 0, sizeof(threads));
	p = (struct profile){
		.nodes = nodes, .nodes_cnt = nodes_cnt, .threads = threads, .threads_cnt = 2};
	return &p;
}

/* A thread with calls that had `calls_ns` of CPU time, half of it below the other half, and one
 * with samples outside of calls. */
static struct profile *begin(uint64_t calls_ns, uint64_t outside_ns)
{
	struct profile *p = blank(4);
	struct profile_node *nodes = p->nodes;

	p->threads[1].callstack_ns = SAMPLED_OUTSIDE;
	for (int i = 1; i < 3; i++) {
		nodes[i].parent = i - 1;
		nodes[i].stats.self_ns = nodes[i].stats.total_ns = calls_ns / 2 + 10 * MS;
		nodes[i].stats.off_self_ns = nodes[i].stats.off_ns = 10 * MS;
	}
	nodes[1].stats.total_ns *= 2;
	nodes[1].stats.off_ns *= 2;
	nodes[3].thread = 1;
	nodes[3].stats.self_ns = nodes[3].stats.total_ns = outside_ns;
	nodes[3].stats.sampled_ns = outside_ns;
	return p;
}

static void expect(const struct profile *p, uint64_t calls_ns, uint64_t outside_ns)
{
	const struct profile_node *n = p->nodes;

	assert_int_equal(stats__cpu_self_ns(&n[1].stats), calls_ns / 2);
	assert_int_equal(stats__cpu_self_ns(&n[2].stats), calls_ns / 2);
	assert_int_equal(stats__cpu_ns(&n[1].stats), calls_ns);
	assert_int_equal(stats__cpu_ns(&n[2].stats), calls_ns / 2);
	assert_int_equal(stats__cpu_ns(&n[3].stats), outside_ns);
	assert_int_equal(n[1].stats.total_ns, 2 * n[1].stats.self_ns);
}

static int fit(struct profile *p, uint64_t cpu_ns, uint64_t forgotten_ns)
{
	return fit_to_clock(p, &(struct target_clock){cpu_ns, forgotten_ns, false});
}

static uint64_t unmet(const struct profile *p, uint64_t cpu_ns, uint64_t forgotten_ns)
{
	return unmet_ns(p, &(struct target_clock){cpu_ns, forgotten_ns, false});
}

/* Samples outside of calls get what calls leave. */
static void test_rest(void **state)
{
	struct profile *p = begin(60 * MS, 20 * MS);

	assert_int_equal(fit(p, 100 * MS, 10 * MS), 0);
	expect(p, 60 * MS, 30 * MS);
	p = begin(60 * MS, 1 * MS);
	p->accounting.probe_ns = 10 * MS;
	assert_int_equal(fit(p, 110 * MS, 0), 0);
	expect(p, 60 * MS, 40 * MS);
	p = begin(60 * MS, 0);
	assert_int_equal(fit(p, 0, 0), 0); /* the clock has not been read */
	expect(p, 60 * MS, 0);
}

/* Interrupts count as time of calls, but not as the target's. */
static void test_interrupts(void **state)
{
	struct profile *p = begin(125 * MS, 0);

	assert_int_equal(fit(p, 100 * MS, 0), 0);
	expect(p, 100 * MS, 0);
	p = begin(120 * MS, 10 * MS);
	assert_int_equal(fit(p, 100 * MS, 0), 0);
	expect(p, 96 * MS, 4 * MS);
	p = begin(10 * MS, 0);
	assert_int_equal(fit(p, 20 * MS, 30 * MS), 0);
	expect(p, 0, 0);
}

/* Where no sample met code outside of calls, what calls leave is known, but not where it was. */
static void test_unmet(void **state)
{
	struct profile *p = begin(60 * MS, 0);

	assert_int_equal(unmet(p, 100 * MS, 10 * MS), 30 * MS);
	p->accounting.probe_ns = 10 * MS;
	assert_int_equal(unmet(p, 110 * MS, 0), 40 * MS);
	assert_int_equal(unmet_ns(p, &(struct target_clock){110 * MS, 0, true}), 50 * MS);
	p->accounting.probe_ns = 0;
	assert_int_equal(unmet(p, 60 * MS + MS / 20, 0), 0); /* next to nothing */
	assert_int_equal(unmet(p, 40 * MS, 0), 0);
	assert_int_equal(unmet(p, 0, 0), 0);
	assert_int_equal(unmet(begin(60 * MS, 1), 100 * MS, 0), 0); /* a sample did */
}

/* Calls of functions 0 to 3 beside each other, on a goroutine's stack, that had so much CPU time.
 * Samples of 10 ms met function 1 three times, two of them below it in function 4, without a probe;
 * and twice function 4 outside of all calls. */
#define NODES	5
#define METERED 4

struct metered {
	struct stack_copy copy;
	struct stack_copy_node nodes[NODES];
	struct stack_copy_sample samples[3];
};

static void meter(struct metered *m, const uint64_t cpu_ns[METERED])
{
	*m = (struct metered){.copy = {.goroutine = 7, .callstack_ns = 5, .nodes_cnt = NODES},
			      .samples = {{.base = 1, .node = 1, .cnt = 1, .ns = 10 * MS},
					  {.base = 1, .node = 4, .cnt = 2, .ns = 20 * MS},
					  {STACK_COPY_ROOT, .node = 4, .cnt = 2, .ns = 20 * MS}}};
	m->copy.samples = m->samples;
	m->copy.samples_cnt = 3;
	for (int i = 0; i < NODES; i++)
		m->nodes[i] = (struct stack_copy_node){.parent = STACK_COPY_ROOT, .function = i};
	for (int i = 0; i < METERED; i++)
		m->nodes[i].self_ns = cpu_ns[i];
	m->nodes[4].parent = 1;
}

/* The parts by function that are over; NULL: nothing tells. */
static double *over_of(const struct metered *m, bool go_traced)
{
	const struct stack_copy *copies[] = {&m->copy};
	const struct goroutine_known known = {NODES, 10 * MS, go_traced};
	double *over;

	assert_int_equal(goroutine_time__measure(copies, 1, &known, &over), 0);
	return over;
}

/* A call that no sample has met, though it seems to have been on the CPU for a second: others have
 * had that time. Its own may be as short as one sample stands for, and be missed by chance. */
static void test_goroutine(void **state)
{
	const uint64_t cpu_ns[METERED] = {1000 * MS, 60 * MS, 2 * MS, 10 * MS};
	const uint64_t more_ns[METERED] = {0, 140 * MS, 0, 0};
	struct metered m;
	double *over;

	meter(&m, cpu_ns);
	over = over_of(&m, false);
	assert_non_null(over);
	assert_float_equal(over[0], 0.99, 1e-9);
	for (int i = 1; i < NODES; i++)
		assert_float_equal(over[i], 0, 0);
	free(over);
	meter(&m, more_ns); /* three samples, twice, and one */
	over = over_of(&m, false);
	assert_float_equal(over[1], 0.5, 1e-9);
	free(over);
	meter(&m, cpu_ns); /* neither time off the CPU nor the probes' counts */
	m.nodes[0].off_ns = 900 * MS;
	m.nodes[0].probe_ns = 80 * MS;
	over = over_of(&m, false);
	assert_float_equal(over[0], 0.5, 1e-9);
	free(over);
}

/* Whose calls keep what was measured. */
static void test_no_goroutine(void **state)
{
	const uint64_t cpu_ns[METERED] = {1000 * MS};
	struct metered m;
	double *over;

	meter(&m, cpu_ns);
	m.copy.goroutine = 0; /* on a coroutine's stack, in C */
	assert_null(over_of(&m, false));
	over = over_of(&m, true); /* on a Go thread's system stack */
	assert_float_equal(over[0], 0.99, 1e-9);
	free(over);
	m.copy.callstack_ns = 0; /* on a thread's own */
	assert_null(over_of(&m, true));
	meter(&m, cpu_ns);
	m.copy.samples_cnt = 0;
	assert_null(over_of(&m, false));
	meter(&m, cpu_ns);
	m.copy.callstack_ns = SAMPLED_OUTSIDE;
	assert_null(over_of(&m, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),	     cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_unmet),	     cmocka_unit_test(test_goroutine),
		cmocka_unit_test(test_no_goroutine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
