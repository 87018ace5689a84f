// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

static struct profile *now, *before, *delta;

static int setup(void **state)
{
	now = before = delta = NULL;
	return 0;
}

static int teardown(void **state)
{
	profile__free(now);
	profile__free(before);
	profile__free(delta);
	return 0;
}

static struct profile *make(void)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	fixture_function(p, "g");
	fixture_function(p, "h");
	return p;
}

static void subtract(void)
{
	assert_int_equal(profile__delta(now, before, &delta), 0);
}

/* The node reached from thread `t` by these functions, or NULL. */
static const struct profile_node *find(const struct profile *p, uint32_t t, const char *path)
{
	const struct profile_node *found = NULL;
	uint32_t n = p->threads[t].first_root;

	for (; *path; path++) {
		while (n && *p->functions[p->nodes[n].function].name != *path)
			n = p->nodes[n].next_sibling;
		if (!n)
			return NULL;
		found = &p->nodes[n];
		n = found->first_child;
	}
	return found;
}

static void expect(const char *path, uint64_t calls, uint64_t total_ns, uint64_t self_ns)
{
	const struct profile_node *n = find(delta, 0, path);

	assert_non_null(n);
	assert_int_equal(n->stats.calls, calls);
	assert_int_equal(n->stats.total_ns, total_ns);
	assert_int_equal(n->stats.self_ns, self_ns);
}

static void test_without_before_is_a_copy(void **state)
{
	now = fixture_small();
	subtract();
	assert_int_equal(delta->nodes_cnt, now->nodes_cnt);
	assert_memory_equal(delta->nodes, now->nodes, now->nodes_cnt * sizeof(*now->nodes));
	assert_int_equal(delta->accounting.entered, now->accounting.entered);
	assert_ptr_not_equal(delta->nodes, now->nodes);
}

static void test_subtracts_by_path(void **state)
{
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = fixture_node(before, 0, 0, 0, 1, 100, 60);
	fixture_node(before, 0, n, 1, 4, 40, 40);
	before->duration_ns = 1000000000;

	now = make();
	fixture_thread(now, 9, 9, "new");
	fixture_thread(now, 1, 1, "x");
	fixture_node(now, 1, 3, 1, 6, 70, 70);	/* 1: f;g, before its parent */
	fixture_node(now, 0, 0, 1, 1, 5, 5);	/* 2 */
	fixture_node(now, 1, 0, 0, 1, 150, 80); /* 3 */
	fixture_node(now, 1, 0, 1, 3, 30, 30);	/* 4: g at the root is another path */
	now->accounting.open = 1;
	now->accounting.lost = 2;
	now->duration_ns = 1500000000;
	now->start_time = 100;
	/* find() looks at thread 0. */
	subtract();
	assert_int_equal(delta->threads[1].tid, 1);
	delta->threads[0].first_root = delta->threads[1].first_root;
	expect("f", 0, 50, 20);
	expect("fg", 2, 30, 30);
	expect("g", 3, 30, 30);
	assert_int_equal(delta->functions[1].stats.calls, 6);
	assert_int_equal(delta->accounting.entered, 6);
	assert_int_equal(delta->accounting.open, 1);
	assert_int_equal(delta->accounting.lost, 2);
	assert_int_equal(delta->duration_ns, 500000000);
	assert_true(delta->start_time == 101);
}

/* An open call's own time was counted too high before: still it has no less than its callees. */
static void test_a_call_has_its_callees_time(void **state)
{
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = fixture_node(before, 0, 0, 0, 1, 100, 100);

	now = make();
	fixture_thread(now, 1, 1, "x");
	n = fixture_node(now, 0, 0, 0, 1, 150, 70);
	fixture_node(now, 0, n, 1, 1, 80, 80);
	subtract();
	expect("f", 0, 80, 0);
	expect("fg", 1, 80, 80);
}

static void test_drops_what_is_no_news(void **state)
{
	uint32_t n;

	before = make();
	fixture_thread(before, 1, 1, "x");
	n = fixture_node(before, 0, 0, 0, 1, 100, 60);
	fixture_node(before, 0, n, 1, 4, 40, 40);
	fixture_node(before, 0, 0, 2, 1, 1, 1);

	now = make();
	fixture_thread(now, 1, 1, "x");
	n = fixture_node(now, 0, 0, 0, 1, 100, 60);
	fixture_node(now, 0, 0, 2, 1, 1, 1);
	fixture_node(now, 0, n, 1, 4, 40, 40);
	n = fixture_node(now, 0, n, 2, 0, 0, 0);
	fixture_node(now, 0, n, 1, 1, 0, 0); /* the one news */
	subtract();
	assert_int_equal(delta->nodes_cnt, 1 + 3);
	expect("f", 0, 0, 0);
	expect("fh", 0, 0, 0);
	expect("fhg", 1, 0, 0);
	assert_null(find(delta, 0, "fg"));
	assert_null(find(delta, 0, "h"));
}

static void test_no_news_at_all(void **state)
{
	now = fixture_small();
	before = fixture_small();
	subtract();
	assert_int_equal(delta->nodes_cnt, 1);
	assert_int_equal(delta->threads[0].first_root, 0);
	assert_int_equal(delta->functions[0].stats.calls, 0);
}

static void test_reused_tid_is_another_thread(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	fixture_node(before, 0, 0, 0, 1, 100, 100);
	now = make();
	fixture_thread(now, 1, 1, "x");
	now->threads[0].start_ns++;
	fixture_node(now, 0, 0, 0, 3, 30, 30);
	subtract();
	expect("f", 3, 30, 30);
}

static void test_saturates(void **state)
{
	before = make();
	fixture_thread(before, 1, 1, "x");
	fixture_node(before, 0, 0, 0, 1, 100, 100);
	now = make();
	fixture_thread(now, 1, 1, "x");
	fixture_node(now, 0, 0, 0, 2, 99, 98);
	subtract();
	expect("f", 1, 0, 0);
	assert_int_equal(delta->nodes[1].stats.max_ns, now->nodes[1].stats.max_ns);
}

/* Wide and deep enough for anything but linear time to show. */
static struct profile *make_big(uint64_t calls)
{
	struct profile *p = make();
	uint32_t i, n = 0;

	for (i = 0; i < 200000; i++)
		fixture_function(p, "many");
	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 200000; i++)
		fixture_node(p, 0, 0, i, calls, 1, 1);
	for (i = 0; i < 200000; i++)
		n = fixture_node(p, 0, n ? n : 1, 0, calls, 1, 1);
	return p;
}

static void test_big(void **state)
{
	before = make_big(1);
	now = make_big(3);
	subtract();
	assert_int_equal(delta->nodes_cnt, 400001);
	assert_int_equal(delta->functions[0].stats.calls, 2 * 200001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_without_before_is_a_copy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_subtracts_by_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_call_has_its_callees_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drops_what_is_no_news, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_news_at_all, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reused_tid_is_another_thread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_saturates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_big, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
