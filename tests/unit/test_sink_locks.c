// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

static const struct sink_options plain;

static uint32_t wait_function(struct profile *p, const char *name)
{
	uint32_t function = fixture_function(p, name);

	p->functions[function].module = "[waits]";
	return function;
}

/* A path that waits for a lock below `caller`: `ns`, of which one has ended all but 10. */
static void waits_for(struct profile *p, uint32_t thread, uint32_t caller, uint32_t lock,
		      uint32_t by, uint64_t ns)
{
	uint32_t n = fixture_node(p, thread, 0, caller, 0, ns, 0);

	n = fixture_node(p, thread, n, 2, 0, ns, 0);
	n = fixture_node(p, thread, n, 3, 0, ns, 0);
	n = fixture_node(p, thread, n, lock, 0, ns, 10);
	p->nodes[n].stats.off_ns = ns;
	n = fixture_node(p, thread, n, by, 0, ns - 10, ns - 10);
	p->nodes[n].stats.off_ns = ns - 10;
}

static void test_locks(void **state)
{
	struct profile *p = fixture_new();
	uint32_t lock, other, by;

	fixture_function(p, "main");
	fixture_function(p, "reload");
	fixture_function(p, "[futex]");
	wait_function(p, "[lock]");
	lock = wait_function(p, "[lock 0x1000]");
	other = wait_function(p, "[lock 0x2000]");
	by = wait_function(p, "[by writer: flush › unlock]");
	fixture_thread(p, 7, 7, "server");
	fixture_thread(p, 7, 8, "pool");
	fixture_thread(p, 9, 9, "server");
	waits_for(p, 0, 0, lock, by, 1000);
	waits_for(p, 1, 1, lock, by, 3000);
	waits_for(p, 1, 1, other, by, 5000);
	waits_for(p, 2, 0, lock, by, 1000); /* another process's */
	fixture_finish(p);
	fixture_expect(&sink_locks, p, &plain,
		       "     WAITED   SHARE  LOCK\n"
		       "    5.00 us   50.0%  lock 0x2000 of process 7\n"
		       "    5.00 us  100.0%  waited in    pool: reload\n"
		       "    4.99 us   99.8%  released by  writer: flush › unlock\n"
		       "    4.00 us   40.0%  lock 0x1000 of process 7\n"
		       "    3.00 us   75.0%  waited in    pool: reload\n"
		       "    1.00 us   25.0%  waited in    server: main\n"
		       "    3.98 us   99.5%  released by  writer: flush › unlock\n"
		       "    1.00 us   10.0%  lock 0x1000 of process 9\n"
		       "    1.00 us  100.0%  waited in    server: main\n"
		       "     990 ns   99.0%  released by  writer: flush › unlock\n"
		       "\n"
		       "entered 0 = returned 0 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 0 of 7 probed functions called\n");
	profile__free(p);
}

static void test_none(void **state)
{
	struct profile *p = fixture_small();
	char *text = fixture_write(&sink_locks, p, &plain);

	assert_non_null(strstr(
		text,
		"locks come with samples: --sample-rate 97; or with single calls: --calls\n"));
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
