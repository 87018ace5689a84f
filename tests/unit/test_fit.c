// SPDX-License-Identifier: GPL-2.0-or-later
/* CPU times of paths add up to the target's, whatever calls and samples say. */
#include "fixture.h"
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

#define NODES 4

/* Calls beside each other that had so much CPU time, of which samples met the second one for 30 ms.
 * Gives them what they may have, and how much of their time was not theirs. */
static void share(uint64_t most_unmet_ns, const uint64_t cpu_ns[NODES], uint64_t off_ns[NODES])
{
	static struct {
		struct stack_copy copy;
		struct stack_copy_node nodes[NODES];
	} c;
	struct stack_copy_sample sample = {.base = 1, .node = 1, .cnt = 3, .ns = 30 * MS};
	struct profile_node nodes[NODES] = {0};

	c.copy.nodes_cnt = NODES;
	c.copy.samples = &sample;
	c.copy.samples_cnt = 1;
	for (int i = 0; i < NODES; i++)
		nodes[i].stats.self_ns = cpu_ns[i];
	assert_int_equal(share_samples(&c.copy, most_unmet_ns, nodes), 0);
	for (int i = 0; i < NODES; i++) {
		assert_int_equal(nodes[i].stats.self_ns, cpu_ns[i]);
		assert_int_equal(nodes[i].stats.off_ns, nodes[i].stats.off_self_ns);
		off_ns[i] = nodes[i].stats.off_self_ns;
	}
}

/* A call that no sample has met, though it seems to have been on the CPU for a second: others have.
 */
static void test_not_its_own(void **state)
{
	const uint64_t cpu_ns[NODES] = {1000 * MS, 50 * MS, 2 * MS, 80 * MS};
	uint64_t off_ns[NODES];

	share(UINT64_MAX, cpu_ns, off_ns);
	assert_int_equal(off_ns[0] + off_ns[1] + off_ns[2] + off_ns[3], 0);
	/* The short one keeps what it has, and what samples have met stays. */
	share(10 * MS, cpu_ns, off_ns);
	assert_int_equal(off_ns[0], 996 * MS);
	assert_int_equal(off_ns[1], 0);
	assert_int_equal(off_ns[2], 0);
	assert_int_equal(off_ns[3], 76 * MS);
	share(2000 * MS, cpu_ns, off_ns);
	assert_int_equal(off_ns[0] + off_ns[1] + off_ns[2] + off_ns[3], 0);
}

/* A goroutine whose call of function 1 has a call of function 2, which had 1 s and 100 ms of CPU
 * time; and its thread, where `samples` have met function 2, which calls itself, below function 1.
 */
static struct profile *begin_goroutine(uint32_t samples)
{
	struct profile *p = blank(6);
	struct profile_node *nodes = p->nodes;

	p->threads[0].goroutine = 7;
	p->threads[1].callstack_ns = SAMPLED_OUTSIDE;
	nodes[1] = (struct profile_node){.function = 1};
	nodes[1].stats.self_ns = 1000 * MS;
	nodes[1].stats.total_ns = 1100 * MS;
	nodes[2] = (struct profile_node){.parent = 1, .function = 2};
	nodes[2].stats.self_ns = nodes[2].stats.total_ns = 100 * MS;
	for (int i = 3; i < 6; i++)
		nodes[i] = (struct profile_node){
			.parent = i == 3 ? 0 : i - 1, .function = i == 3 ? 1 : 2, .thread = 1};
	nodes[5].stats.samples = samples;
	return p;
}

/* Calls on a goroutine's stack have no more CPU time than samples below their functions tell. */
static void test_goroutine(void **state)
{
	struct profile *p = begin_goroutine(100); /* of 10 ms each */
	const struct profile_node *n = p->nodes;

	assert_int_equal(goroutine_time__bound(p, 1000 * MS), 0);
	assert_int_equal(n[1].stats.off_ns + n[2].stats.off_ns, 0);
	p = begin_goroutine(2); /* of 20 ms each */
	assert_int_equal(goroutine_time__bound(p, 40 * MS), 0);
	assert_int_equal(stats__cpu_self_ns(&n[1].stats), 100 * MS); /* of five samples */
	assert_int_equal(stats__cpu_self_ns(&n[2].stats), 100 * MS);
	assert_int_equal(stats__cpu_ns(&n[1].stats), 200 * MS);
	assert_int_equal(n[1].stats.total_ns, 1100 * MS);
	p = begin_goroutine(2);
	p->threads[0].goroutine = 0; /* a thread's own calls keep what was measured */
	assert_int_equal(goroutine_time__bound(p, 40 * MS), 0);
	assert_int_equal(n[1].stats.off_ns + n[2].stats.off_ns, 0);
	p = begin_goroutine(0); /* nothing tells */
	assert_int_equal(goroutine_time__bound(p, 40 * MS), 0);
	assert_int_equal(n[1].stats.off_ns + n[2].stats.off_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),	  cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_unmet),	  cmocka_unit_test(test_not_its_own),
		cmocka_unit_test(test_goroutine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
