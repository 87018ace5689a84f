// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "calls/session_data.h"
#include "calls/tree.h"
#include "calls/estimate.h"
#include "fixture.h"
#include "views/merge.h"
#include "views/prune.h"
#include "timeline_fixture.h"

static void expect_children(const struct profile *p, uint32_t first, const uint32_t *expected,
			    size_t cnt)
{
	uint32_t n = first;
	size_t i;

	for (i = 0; i < cnt; i++, n = p->nodes[n].next_sibling)
		assert_int_equal(n, expected[i]);
	assert_int_equal(n, 0);
}

static void test_link_sorts_siblings(void **state)
{
	struct profile *p = fixture_new();
	uint32_t b = fixture_function(p, "b"), a = fixture_function(p, "a");
	uint32_t t = fixture_thread(p, 1, 1, "x"), u = fixture_thread(p, 1, 2, "y");

	/* A child may stand before its parent. */
	fixture_node(p, t, 3, a, 1, 5, 5);     /* 1 */
	fixture_node(p, t, 0, a, 2, 100, 100); /* 2 */
	fixture_node(p, t, 0, b, 1, 900, 895); /* 3 */
	fixture_node(p, u, 0, b, 1, 1, 1);     /* 4 */
	fixture_node(p, t, 3, b, 2, 5, 5);     /* 5: as dear as 1, but more calls */
	fixture_node(p, t, 3, b, 1, 5, 5);     /* 6: as 1, but its name is later */
	fixture_node(p, t, 3, a, 1, 5, 5);     /* 7: as 1, but its index is later */
	fixture_finish(p);
	expect_children(p, p->threads[t].first_root, (uint32_t[]){3, 2}, 2);
	expect_children(p, p->threads[u].first_root, (uint32_t[]){4}, 1);
	expect_children(p, p->nodes[3].first_child, (uint32_t[]){5, 1, 7, 6}, 4);
	/* Linking again changes nothing. */
	assert_int_equal(profile__connect(p), 0);
	expect_children(p, p->nodes[3].first_child, (uint32_t[]){5, 1, 7, 6}, 4);
	profile__free(p);
}

static void test_link_refuses_bad_indexes(void **state)
{
	struct profile *p = fixture_new();

	fixture_function(p, "f");
	fixture_thread(p, 1, 1, "x");
	fixture_node(p, 0, 7, 0, 1, 1, 1);
	assert_int_equal(profile__connect(p), -EINVAL);
	p->nodes[1].parent = 0;
	p->nodes[1].function = 1;
	assert_int_equal(profile__connect(p), -EINVAL);
	profile__free(p);
}

static void test_empty(void **state)
{
	struct profile *p = calloc(1, sizeof(*p));

	fixture_finish(p);
	profile__free(p);
	profile__free(NULL);
}

static void test_summarize_counts_recursion_once(void **state)
{
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g");
	uint32_t t = fixture_thread(p, 1, 1, "x"), u = fixture_thread(p, 1, 2, "x"), n;

	n = fixture_node(p, t, 0, f, 1, 1000, 100);
	n = fixture_node(p, t, n, g, 2, 900, 200);
	n = fixture_node(p, t, n, f, 4, 700, 300);
	n = fixture_node(p, t, n, g, 8, 400, 400);
	fixture_node(p, u, 0, g, 1, 50, 50);
	n = fixture_node(p, u, 0, f, 0, 7, 7); /* still open */
	fixture_finish(p);
	assert_int_equal(p->functions[f].stats.calls, 5);
	assert_int_equal(p->functions[f].stats.total_ns, 1007);
	assert_int_equal(p->functions[f].stats.self_ns, 407);
	assert_int_equal(p->functions[f].spent_ns, 1707);
	/* Doing it again changes nothing. */
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(p->functions[f].spent_ns, 1707);
	assert_int_equal(p->functions[f].stats.min_ns, 175);
	assert_int_equal(p->functions[f].stats.max_ns, 1000);
	assert_int_equal(p->functions[g].stats.calls, 11);
	assert_int_equal(p->functions[g].stats.total_ns, 950);
	assert_int_equal(p->functions[g].stats.self_ns, 650);
	assert_int_equal(p->functions[g].stats.min_ns, 50);
	profile__free(p);
}

static void test_uncalled_function(void **state)
{
	struct profile *p = fixture_small();

	assert_int_equal(p->functions[4].stats.calls, 0);
	assert_true(p->functions[4].stats.min_ns == UINT64_MAX);
	assert_int_equal(p->functions[4].stats.max_ns, 0);
	profile__free(p);
}

static void test_depth(void **state)
{
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), n = 0, i;

	fixture_thread(p, 1, 1, "x");
	for (i = 0; i < 300000; i++)
		n = fixture_node(p, 0, n, f, 1, 300000 - i, 1);
	fixture_finish(p);
	assert_int_equal(p->functions[f].stats.calls, 300000);
	assert_int_equal(p->functions[f].stats.total_ns, 300000);
	assert_int_equal(p->functions[f].stats.self_ns, 300000);
	profile__free(p);
}

/* f takes 700 ns at once, g 300 ns and 350 ns by two paths, h too little. */
static struct profile *make_prunable(void)
{
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g");
	uint32_t h = fixture_function(p, "h");

	fixture_thread(p, 1, 1, "x");
	fixture_thread(p, 1, 2, "x");
	fixture_node(p, 0, 3, g, 7, 300, 200); /* 1, before its parent */
	fixture_node(p, 0, 1, h, 9, 100, 100); /* 2 */
	fixture_node(p, 0, 0, f, 1, 700, 350); /* 3 */
	fixture_node(p, 0, 3, h, 2, 50, 50);   /* 4 */
	fixture_node(p, 1, 0, g, 4, 350, 350); /* 5 */
	fixture_finish(p);
	return p;
}

static void test_prune(void **state)
{
	struct profile *p = make_prunable();
	const struct profile_node *n;

	assert_int_equal(profile__prune(p, 0), 0);
	assert_int_equal(p->nodes_cnt, 1 + 5);
	assert_int_equal(profile__prune(p, 300), 0);
	assert_int_equal(p->nodes_cnt, 1 + 3);
	n = &p->nodes[p->threads[0].first_root];
	assert_int_equal(n->stats.total_ns, 700);
	n = &p->nodes[n->first_child];
	assert_int_equal(n->stats.total_ns, 300);
	assert_int_equal(n->next_sibling, 0);
	assert_int_equal(n->first_child, 0);
	assert_int_not_equal(p->threads[1].first_root, 0);
	assert_false(p->functions[0].hidden || p->functions[1].hidden);
	assert_true(p->functions[2].hidden);
	/* Figures stay. */
	assert_int_equal(p->functions[2].stats.calls, 11);
	assert_int_equal(p->functions[1].spent_ns, 650);
	assert_int_equal(p->accounting.entered, 23);
	profile__free(p);
}

/* No path of g takes as long, but all of them do. */
static void test_prune_all_paths_of_a_function(void **state)
{
	struct profile *p = make_prunable();

	assert_int_equal(profile__prune(p, 400), 0);
	assert_int_equal(p->nodes_cnt, 1 + 1);
	assert_int_equal(p->threads[1].first_root, 0);
	assert_false(p->functions[1].hidden);
	assert_int_equal(profile__prune(p, 701), 0);
	assert_int_equal(p->nodes_cnt, 1);
	assert_true(p->functions[0].hidden);
	profile__free(p);
}

/* Nodes get other numbers, and calls have to be as long themselves. */
static void test_prune_single_calls(void **state)
{
	static const struct timeline_call calls[] = {
		{3, 0, 700, 0},	  {1, 10, 310, 7},  {2, 20, 320, 0},
		{4, 330, 380, 0}, {1, 400, 699, 0}, {5, 0, 350, 0},
	};
	static const uint32_t threads[] = {0, 0, 0, 0, 0, 1};
	struct profile *p = make_prunable();
	struct timeline_array timeline;

	timeline_array__init(&timeline, calls, threads, 6);
	p->timeline = &timeline.base;
	assert_int_equal(profile__prune(p, 300), 0);
	assert_int_equal(p->nodes[2].function, 0);
	assert_string_equal(timeline_text(p->timeline, 0), "2:0-700/0 1:10-310/7 ");
	assert_string_equal(timeline_text(p->timeline, 1), "3:0-350/0 ");
	assert_int_equal(profile__prune(p, 400), 0);
	assert_string_equal(timeline_text(p->timeline, 0), "1:0-700/0 ");
	assert_string_equal(timeline_text(p->timeline, 1), "");
	profile__free(p);
}

static struct profile *make_workers(void)
{
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g");
	uint32_t i, n;

	for (i = 0; i < 4; i++) {
		/* Two processes with two workers each. */
		fixture_thread(p, 10 + i / 2, 20 + i, "worker");
		n = fixture_node(p, i, 0, f, 1, 100 + i, 50 + i);
		fixture_node(p, i, n, i % 2 ? f : g, 2, 50, 50);
	}
	fixture_thread(p, 10, 30, "idle"); /* no calls */
	fixture_finish(p);
	return p;
}

static void test_merge_within_processes(void **state)
{
	struct profile *p = make_workers(), *m = NULL;
	const struct profile_node *root;

	assert_int_equal(profile__merge_threads(p, MERGE_PROCESS, &m), 0);
	assert_int_equal(m->threads_cnt, 2);
	assert_int_equal(m->threads[0].pid, 10);
	assert_int_equal(m->threads[0].tid, 20);
	assert_int_equal(m->threads[0].merged_cnt, 2);
	assert_int_equal(m->threads[1].pid, 11);
	assert_int_equal(m->nodes_cnt, 1 + 6);
	root = &m->nodes[m->threads[0].first_root];
	assert_int_equal(root->next_sibling, 0);
	assert_int_equal(root->stats.calls, 2);
	assert_int_equal(root->stats.total_ns, 201);
	assert_int_equal(root->stats.self_ns, 101);
	assert_int_equal(root->stats.min_ns, 100);
	assert_int_equal(root->stats.max_ns, 101);
	assert_int_equal(m->functions[0].stats.calls, p->functions[0].stats.calls);
	profile__free(m);
	profile__free(p);
}

static void test_merge_adds_all_figures(void **state)
{
	struct profile *p = fixture_new(), *m = NULL;
	const struct call_stats *s;

	fixture_function(p, "f");
	for (int i = 0; i < 2; i++) {
		fixture_thread(p, 1, 1 + i, "x");
		fixture_node(p, i, 0, 0, 1, 1, 1);
		p->nodes[1 + i].stats = (struct call_stats){
			1 + i, 20 + i, 10 + i, 6 + i, 5 + i, 40 + i, 30 + i, 4 + i, 3 + i, 2, 50};
	}
	fixture_bucket(p, 0, 4, 3);
	fixture_drop(p, (struct profile_drop){.at_ns = 7});
	fixture_cpu_share(p, (struct profile_cpu_share){"[kernel]", 10, 0, 0});
	fixture_finish(p);
	assert_int_equal(profile__merge_threads(p, MERGE_PROCESS, &m), 0);
	s = &m->nodes[1].stats;
	assert_int_equal(s->calls, 3);
	assert_int_equal(s->total_ns, 41);
	assert_int_equal(s->self_ns, 21);
	assert_int_equal(s->off_ns, 13);
	assert_int_equal(s->off_self_ns, 11);
	assert_int_equal(s->raw_total_ns, 81);
	assert_int_equal(s->raw_self_ns, 61);
	assert_int_equal(s->error_ns, 9);
	assert_int_equal(s->self_error_ns, 7);
	assert_int_equal(m->buckets_cnt, 1);
	assert_int_equal(m->buckets[0].calls, 3);
	assert_ptr_not_equal(m->buckets, p->buckets);
	assert_int_equal(m->drops_cnt, 1);
	assert_int_equal(m->drops[0].at_ns, 7);
	assert_ptr_not_equal(m->drops, p->drops);
	assert_int_equal(m->cpu_shares_cnt, 1);
	assert_int_equal(m->cpu_shares[0].samples, 10);
	assert_ptr_not_equal(m->cpu_shares, p->cpu_shares);
	profile__free(m);
	profile__free(p);
}

static void test_merge_across_processes(void **state)
{
	struct profile *p = make_workers(), *m = NULL;

	assert_int_equal(profile__merge_threads(p, MERGE_COMM, &m), 0);
	assert_int_equal(m->threads_cnt, 1);
	assert_int_equal(m->threads[0].merged_cnt, 4);
	assert_int_equal(m->nodes_cnt, 1 + 3);
	assert_int_equal(m->nodes[m->threads[0].first_root].stats.total_ns, 406);
	profile__free(m);
	profile__free(p);
}

static void add_calls(struct profile *p, pid_t pid, pid_t tid, const char *comm)
{
	fixture_node(p, fixture_thread(p, pid, tid, comm), 0, 0, 1, 100, 100);
}

static const struct profile_thread *find_thread(const struct profile *p, const char *comm,
						const char *program)
{
	for (size_t i = 0; i < p->threads_cnt; i++)
		if (!strcmp(p->threads[i].comm, comm) && !strcmp(p->threads[i].program, program))
			return &p->threads[i];
	fail_msg("%s of %s is not there", comm, program);
	return NULL;
}

/* Threads of two processes of a server, of another program, and of a process whose first thread was
 * not seen. */
static void test_merge_across_a_program(void **state)
{
	struct profile *p = fixture_new(), *m = NULL;
	const struct profile_thread *t;

	fixture_function(p, "f");
	add_calls(p, 20, 21, "worker-1");
	add_calls(p, 20, 22, "helper");
	add_calls(p, 10, 10, "server");
	add_calls(p, 10, 11, "worker-1");
	add_calls(p, 10, 12, "worker-22");
	add_calls(p, 30, 31, "worker-1");
	add_calls(p, 30, 30, "other");
	add_calls(p, 40, 41, "worker-9");
	add_calls(p, 40, 42, "helper");
	fixture_thread(p, 20, 20, "server"); /* no calls */
	fixture_finish(p);
	assert_int_equal(profile__merge_threads(p, MERGE_PROGRAM, &m), 0);
	assert_int_equal(m->threads_cnt, 6);
	t = find_thread(m, "worker-*", "server");
	assert_int_equal(t->merged_cnt, 3);
	assert_int_equal(t->merged_pids, 2);
	assert_int_equal(t->pid, 10);
	assert_int_equal(m->nodes[t->first_root].stats.calls, 3);
	/* A thread worker-9 may be of either program. */
	assert_int_equal(find_thread(m, "worker-9", "")->pid, 40);
	assert_int_equal(find_thread(m, "worker-1", "other")->pid, 30);
	/* A thread named helper may be of one program alone. */
	assert_int_equal(find_thread(m, "helper", "server")->merged_pids, 2);
	assert_int_equal(find_thread(m, "server", "server")->merged_cnt, 1);
	profile__free(m);
	profile__free(p);
}

/* Processes have numbers as well: a kernel's workers. */
static void test_merge_numbered_programs(void **state)
{
	struct profile *p = fixture_new(), *m = NULL;
	const struct profile_thread *t;

	fixture_function(p, "f");
	for (pid_t pid = 1; pid <= 2; pid++) {
		char name[16];

		snprintf(name, sizeof(name), "kworker/%d", pid);
		add_calls(p, pid, pid, name);
		add_calls(p, pid, 10 + pid, "log");
	}
	fixture_finish(p);
	assert_int_equal(profile__merge_threads(p, MERGE_PROGRAM, &m), 0);
	assert_int_equal(m->threads_cnt, 2);
	t = find_thread(m, "kworker/*", "kworker/*");
	assert_int_equal(t->merged_pids, 2);
	t = find_thread(m, "log", "kworker/*");
	assert_int_equal(t->merged_pids, 2);
	profile__free(m);
	profile__free(p);
}

/* Estimates of like processes have the root of the sum of the squares of their errors. */
static void test_merge_adds_variances(void **state)
{
	struct profile *p = fixture_new(), *m = NULL;
	struct estimate e;

	p->sample_period_ns = 100;
	fixture_function(p, "f");
	for (int i = 0; i < 2; i++) {
		add_calls(p, 1 + i, 1 + i, "x");
		p->nodes[1 + i].stats.burst_calls = 1000;
		p->nodes[1 + i].stats.calls_varied = i ? 16 : 9;
		p->nodes[1 + i].stats.varied_ns = i ? 1600 : 900;
	}
	fixture_finish(p);
	assert_int_equal(profile__merge_threads(p, MERGE_PROGRAM, &m), 0);
	assert_int_equal(m->threads_cnt, 1);
	e = estimate__of(m, &m->nodes[m->threads[0].first_root].stats);
	assert_int_equal(e.calls_error, 5);
	assert_int_equal(e.cpu_error_ns, 500);
	profile__free(m);
	profile__free(p);
}

/* Two threads, the second one with a coroutine's stack besides, and a goroutine with the same name.
 */
static struct profile *make_callstacks(void)
{
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), g = fixture_function(p, "g"), thread, n;

	for (int i = 0; i < 4; i++) {
		thread = fixture_thread(p, 10,
					i == 0	 ? 20
					: i == 3 ? 0
						 : 21,
					i == 1 ? "old" : "new");
		p->threads[thread].start_ns = 5;
		p->threads[thread].callstack_ns = i == 1 ? 7 : 0;
		p->threads[thread].goroutine = i == 3 ? 21 : 0;
		n = fixture_node(p, thread, 0, f, 1, 100 + i, 50 + i);
		fixture_node(p, thread, n, i == 2 ? f : g, 2, 50, 50);
	}
	fixture_finish(p);
	return p;
}

/* Spans are no calls of their thread, whatever is joined; their own call stacks are joined as well.
 */
static void test_spans_stay_beside(void **state)
{
	for (int by = MERGE_COMM; by <= MERGE_CALLSTACKS; by++) {
		struct profile *p = make_callstacks(), *m;
		uint32_t spans = 0;

		for (uint32_t i = 0; i < 4; i++) {
			memcpy(p->threads[i].comm, "same", sizeof("same"));
			p->threads[i].tid = 20;
			p->threads[i].goroutine = 0;
			p->threads[i].callstack_ns = i;
			p->threads[i].spans = i % 2;
		}
		assert_int_equal(profile__merge_threads(p, by, &m), 0);
		assert_int_equal(m->threads_cnt, 2);
		for (uint32_t i = 0; i < 2; i++)
			spans += m->threads[i].spans;
		assert_int_equal(spans, 1);
		profile__free(m);
		profile__free(p);
	}
}

static void test_callstacks_are_joined(void **state)
{
	struct profile *p = make_callstacks();
	struct sessions *s = calloc(1, sizeof(*s));
	const struct profile_node *root;
	uint32_t found = 0;

	p->sessions = s;
	assert_int_equal(profile__join_callstacks(&p), 0);
	assert_ptr_equal(p->sessions, s);
	assert_int_equal(p->threads_cnt, 3);
	assert_int_equal(p->nodes_cnt, 1 + 2 + 3 + 2);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(p->threads[i].merged_cnt <= 1);
		if (p->threads[i].tid != 21)
			continue;
		found++;
		/* The thread's own stack knows the thread's name. */
		assert_string_equal(p->threads[i].comm, "new");
		root = &p->nodes[p->threads[i].first_root];
		assert_int_equal(root->next_sibling, 0);
		assert_int_equal(root->stats.calls, 2);
		assert_int_equal(root->stats.total_ns, 101 + 102);
		assert_int_equal(root->stats.self_ns, 51 + 52);
		assert_int_not_equal(p->nodes[root->first_child].next_sibling, 0);
	}
	assert_int_equal(found, 1);
	profile__free(p);
}

static void test_threads_without_callstacks_stay(void **state)
{
	struct profile *p = make_workers(), *was = p;

	assert_int_equal(profile__join_callstacks(&p), 0);
	assert_ptr_equal(p, was);
	profile__free(p);
}

static void test_goroutines_are_merged_apart(void **state)
{
	struct profile *p = make_callstacks(), *m = NULL;

	assert_int_equal(profile__merge_threads(p, MERGE_PROCESS, &m), 0);
	assert_int_equal(m->threads_cnt, 3); /* "new", its goroutine, "old" */
	assert_int_equal(m->threads[1].goroutine, 21);
	profile__free(m);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_sorts_siblings),
		cmocka_unit_test(test_link_refuses_bad_indexes),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_summarize_counts_recursion_once),
		cmocka_unit_test(test_uncalled_function),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_prune_all_paths_of_a_function),
		cmocka_unit_test(test_prune_single_calls),
		cmocka_unit_test(test_merge_within_processes),
		cmocka_unit_test(test_merge_adds_all_figures),
		cmocka_unit_test(test_merge_across_processes),
		cmocka_unit_test(test_merge_across_a_program),
		cmocka_unit_test(test_merge_numbered_programs),
		cmocka_unit_test(test_merge_adds_variances),
		cmocka_unit_test(test_callstacks_are_joined),
		cmocka_unit_test(test_spans_stay_beside),
		cmocka_unit_test(test_threads_without_callstacks_stay),
		cmocka_unit_test(test_goroutines_are_merged_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
