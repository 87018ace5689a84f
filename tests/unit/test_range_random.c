// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of random runs, each nanosecond of which is looked at. */
#include "range_fixture.h"

#define FUNCTIONS 4
#define THREADS	  2
#define END	  3000

static uint64_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % below;
}

static uint32_t path(struct profile *p, uint32_t thread, uint32_t parent, uint32_t function)
{
	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];

		if (n->thread == thread && n->parent == parent && n->function == function)
			return i;
	}
	return fixture_node(p, thread, parent, function, 0, 0, 0);
}

/* Calls side by side within [from, to), and in each of them some more. */
static void make_calls(struct profile *p, uint32_t thread, uint32_t parent, uint64_t from,
		       uint64_t to, int depth)
{
	while (from < to && depth) {
		uint64_t enter = from + any(to - from), leave = enter + any(to - enter + 1);
		uint32_t node = path(p, thread, parent, any(FUNCTIONS));
		struct call_stats *s = &p->nodes[node].stats;

		if (leave - enter > (to - from) / 2 && any(2))
			leave = enter + (leave - enter) / 3;
		add_call(thread, (struct timeline_call){node, enter, leave, 0});
		s->calls++;
		make_calls(p, thread, node, enter, leave, depth - 1);
		from = leave + !any(3);
	}
}

/* The innermost call at a time, whose own time that is; 0: none. */
static uint32_t node_at(uint32_t thread, uint64_t ns)
{
	uint32_t node = 0;

	for (size_t i = 0; i < calls_cnt; i++) {
		if (threads[i] == thread && calls[i].enter_ns <= ns && ns < calls[i].leave_ns)
			node = calls[i].node;
	}
	return node;
}

/* By node: own time in [from, to). */
static void own_times(uint64_t from, uint64_t to, uint64_t *own)
{
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		for (uint64_t ns = from; ns < to; ns++)
			own[node_at(thread, ns)]++;
	}
	own[0] = 0;
}

/* A run whose calls, and their own times, are consistent. */
static struct profile *make_random(uint64_t number)
{
	static uint64_t own[CALLS_MAX];
	struct profile *p = fixture_new();

	seed = number;
	calls_cnt = 0;
	for (int i = 0; i < FUNCTIONS; i++)
		fixture_function(p, "f");
	for (uint32_t i = 0; i < THREADS; i++) {
		fixture_thread(p, 1, i + 1, "t");
		make_calls(p, i, 0, i * 100, END, 7);
	}
	memset(own, 0, sizeof(own));
	own_times(0, END, own);
	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		struct call_stats *s = &p->nodes[i].stats;

		s->raw_self_ns = own[i];
		s->self_ns = own[i] * any(9) / 8;
		s->self_error_ns = own[i] / 10;
		s->min_ns = UINT64_MAX;
	}
	for (uint32_t i = p->nodes_cnt; --i;) {
		struct call_stats *s = &p->nodes[i].stats,
				  *up = &p->nodes[p->nodes[i].parent].stats;

		s->raw_total_ns += s->raw_self_ns;
		s->total_ns += s->self_ns;
		up->raw_total_ns += s->raw_total_ns;
		up->total_ns += s->total_ns;
	}
	p->nodes[0].stats = (struct call_stats){0};
	p->duration_ns = END;
	p->start_time = 1000;
	fixture_finish(p);
	set_timeline(p);
	return p;
}

/* By function: figures are sums over its paths. */
struct sums {
	uint64_t calls, raw_ns, self_ns;
};

static struct sums sums_of(const struct profile *p, uint32_t function)
{
	struct sums sums = {0};

	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];

		if (n->function != function)
			continue;
		sums.calls += n->stats.calls;
		sums.raw_ns += n->stats.raw_self_ns;
		sums.self_ns += n->stats.self_ns;
	}
	return sums;
}

/* Nodes keep their order, so those with calls can be found by counting. */
static void expect_copy(struct profile *p, uint64_t from, uint64_t to)
{
	static uint64_t own[CALLS_MAX], inside[CALLS_MAX], whole[FUNCTIONS];
	struct profile *run = make_random(seed);
	uint64_t entered = 0, open = 0;
	uint32_t at = 1;

	memset(own, 0, sizeof(own));
	memset(inside, 0, sizeof(inside));
	memset(whole, 0, sizeof(whole));
	own_times(from, to < END ? to : END, own);
	for (size_t i = 0; i < calls_cnt; i++) {
		const struct timeline_call *c = &calls[i];

		if (c->enter_ns >= to || (c->leave_ns <= from && c->enter_ns < from))
			continue;
		inside[c->node]++;
		entered++;
		open += c->leave_ns > to || c->leave_ns == END;
		whole[run->nodes[c->node].function] +=
			c->enter_ns >= from && c->leave_ns <= to && c->leave_ns != END;
	}
	for (uint32_t i = 1; i < run->nodes_cnt; i++) {
		const struct call_stats *r = &run->nodes[i].stats, *s = &p->nodes[at].stats;
		double kept = r->raw_self_ns ? (double)r->self_ns / (double)r->raw_self_ns : 1;
		double exact = kept * (double)own[i];

		if (!inside[i])
			continue;
		at++;
		assert_int_equal(s->calls, inside[i]);
		assert_int_equal(s->raw_self_ns, own[i]);
		assert_true((double)s->self_ns >= exact - 0.51 &&
			    (double)s->self_ns <= exact + 0.51);
		assert_true(s->self_error_ns <= r->self_error_ns);
	}
	assert_int_equal(at, p->nodes_cnt);
	assert_int_equal(p->accounting.entered, entered);
	assert_int_equal(p->accounting.timeline_calls, entered);
	assert_int_equal(p->accounting.open, open);
	for (uint32_t f = 0; f < FUNCTIONS; f++)
		assert_int_equal(distribution__of(p, f).calls, whole[f]);
	profile__free(run);
}

static void test_random_ranges(void **state)
{
	for (uint64_t run = 1; run <= 60; run++) {
		struct profile *p = make_random(run);
		uint64_t from = any(END), to = from + 1 + any(END);

		cut(p, from, to);
		assert_int_equal(p->duration_ns, (to < END ? to : END) - from);
		seed = run;
		expect_copy(p, from, to);
		expect_sums(p);
		profile__free(p);
	}
}

static void test_all_of_a_run(void **state)
{
	for (uint64_t run = 1; run <= 20; run++) {
		struct profile *p = make_random(run), *whole = make_random(run);

		cut(p, 0, UINT64_MAX);
		assert_int_equal(p->nodes_cnt, whole->nodes_cnt);
		for (uint32_t i = 1; i < p->nodes_cnt; i++) {
			const struct call_stats *s = &p->nodes[i].stats;
			const struct call_stats *w = &whole->nodes[i].stats;

			assert_int_equal(s->calls, w->calls);
			assert_int_equal(s->raw_self_ns, w->raw_self_ns);
			assert_int_equal(s->raw_total_ns, w->raw_total_ns);
			assert_in_range(s->self_ns + 1, w->self_ns, w->self_ns + 2);
			assert_int_equal(s->self_error_ns, w->self_error_ns);
		}
		assert_int_equal(p->duration_ns, END);
		assert_true(p->start_time == 1000);
		profile__free(p);
		profile__free(whole);
	}
}

/* No call is lost between two ranges, and none counted twice. */
static void test_ranges_add_up(void **state)
{
	for (uint64_t run = 1; run <= 20; run++) {
		struct profile *whole = make_random(run), *early = make_random(run);
		struct profile *late = make_random(run);
		uint64_t between = 1 + any(END - 1);

		cut(early, 0, between);
		cut(late, between, UINT64_MAX);
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			struct sums e = sums_of(early, f), l = sums_of(late, f);
			struct sums w = sums_of(whole, f);

			assert_int_equal(e.raw_ns + l.raw_ns, w.raw_ns);
			assert_true(e.calls + l.calls >= w.calls);
		}
		assert_int_equal(early->duration_ns + late->duration_ns, END);
		profile__free(whole);
		profile__free(early);
		profile__free(late);
	}
}

#define TEST(f) cmocka_unit_test_teardown(f, range_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random_ranges),
		TEST(test_all_of_a_run),
		TEST(test_ranges_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
