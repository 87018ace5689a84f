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
		       "0 ns, 0 of 7 probed functions called\n"
		       "time of all threads: 0.0% on a CPU, 100.0% [lock]\n");
	profile__free(p);
}

/* A path of functions of the libc's below main, the innermost last, that waits for `lock`. */
static void libc_waits(struct profile *p, const char *const *path, uint32_t lock, uint64_t ns)
{
	uint32_t n = fixture_node(p, 0, 0, 0, 0, ns, 0), function;

	for (; *path; path++) {
		function = fixture_function(p, *path);
		p->functions[function].module = "/lib/libc.so.6";
		n = fixture_node(p, 0, n, function, 0, ns, 0);
	}
	n = fixture_node(p, 0, n, 1, 0, ns, 0);
	n = fixture_node(p, 0, n, 2, 0, ns, 0);
	n = fixture_node(p, 0, n, lock, 0, ns, ns);
	p->nodes[n].stats.off_ns = ns;
}

/* Threads wait for two words of a condition variable; the mutex that its waiters take again is
 * another lock. A function of the same name in another file tells nothing. */
static void test_kinds(void **state)
{
	static const char *const condition[] = {"__pthread_cond_timedwait64", "futex_wait", NULL};
	static const char *const again[] = {"pthread_cond_wait", "__pthread_mutex_cond_lock",
					    "__lll_lock_wait", NULL};
	static const char *const semaphore[] = {"__new_sem_wait_slow64.constprop.0", NULL};
	static const char *const join[] = {"__pthread_clockjoin_ex", "futex_wait", NULL};
	static const char *const reader[] = {"pthread_rwlock_rdlock", NULL};
	static const char *const writer[] = {"__pthread_rwlock_timedwrlock64", NULL};
	static const char *const barrier[] = {"pthread_barrier_wait", NULL};
	static const char *const other[] = {"syscall", NULL};
	struct profile *p = fixture_new();
	uint32_t locks[5];

	fixture_function(p, "sem_wait");
	fixture_function(p, "[futex]");
	wait_function(p, "[lock]");
	locks[0] = wait_function(p, "[lock 0x1008]");
	locks[1] = wait_function(p, "[lock 0x100c]");
	locks[2] = wait_function(p, "[lock 0x2004]");
	locks[3] = wait_function(p, "[lock 0x2004, as a reader]");
	locks[4] = wait_function(p, "[lock 0x2004, as a writer]");
	fixture_thread(p, 7, 7, "server");
	libc_waits(p, condition, locks[0], 4000);
	libc_waits(p, condition, locks[1], 4000);
	libc_waits(p, again, locks[2], 7000);
	libc_waits(p, semaphore, locks[2], 6000);
	libc_waits(p, join, locks[2], 5000);
	libc_waits(p, reader, locks[3], 3000);
	libc_waits(p, writer, locks[4], 1000);
	libc_waits(p, barrier, locks[2], 3000);
	libc_waits(p, other, locks[1], 2000);
	fixture_finish(p);
	fixture_expect(&sink_locks, p, &plain,
		       "     WAITED   SHARE  LOCK\n"
		       "    7.00 us   20.0%  lock 0x2004 of process 7\n"
		       "    7.00 us  100.0%  waited in    server: sem_wait › pthread_cond_wait › "
		       "__pthread_mutex_cond_lock\n"
		       "    4.00 us   11.4%  rwlock 0x2000 of process 7\n"
		       "    3.00 us   75.0%  readers in   server: sem_wait › "
		       "pthread_rwlock_rdlock\n"
		       "    1.00 us   25.0%  writers in   server: sem_wait › "
		       "__pthread_rwlock_timedwrlock64\n"
		       "    2.00 us    5.7%  lock 0x100c of process 7\n"
		       "    2.00 us  100.0%  waited in    server: sem_wait › syscall\n"
		       "    3.00 us    8.6%  barrier 0x2000 of process 7\n"
		       "    3.00 us  100.0%  waited in    server: sem_wait › "
		       "pthread_barrier_wait\n"
		       "    8.00 us   22.9%  condition 0x1008 of process 7\n"
		       "    8.00 us  100.0%  waited in    server: sem_wait › "
		       "__pthread_cond_timedwait64\n"
		       "    6.00 us   17.1%  semaphore 0x2004 of process 7\n"
		       "    6.00 us  100.0%  waited in    server: sem_wait › "
		       "__new_sem_wait_slow64.constprop.0\n"
		       "    5.00 us   14.3%  end of thread 0x2004 of process 7\n"
		       "    5.00 us  100.0%  waited in    server: sem_wait › "
		       "__pthread_clockjoin_ex\n"
		       "\n"
		       "entered 0 = returned 0 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 0 of 22 probed functions called\n"
		       "time of all threads: 0.0% on a CPU, 100.0% [lock]\n");
	profile__free(p);
}

/* Locks in variables have the name of these; both words of a condition variable are one. A wait
 * that the end has cut off to nothing is not told. */
static void test_names(void **state)
{
	static const char *const condition[] = {"pthread_cond_wait", "futex_wait", NULL};
	static const char *const mutex[] = {"pthread_mutex_lock", NULL};
	struct profile *p = fixture_new();
	uint32_t locks[6];

	fixture_function(p, "take");
	fixture_function(p, "[futex]");
	wait_function(p, "[lock]");
	locks[0] = wait_function(p, "[lock jobs+0x28]");
	locks[1] = wait_function(p, "[lock jobs+0x2c]");
	locks[2] = wait_function(p, "[lock cache.guard]");
	locks[3] = wait_function(p, "[lock 0x1000]");
	locks[4] = wait_function(p, "[lock shards[3].lock]");
	locks[5] = wait_function(p, "[lock shards[3].table, as a writer]");
	fixture_thread(p, 7, 7, "server");
	libc_waits(p, condition, locks[0], 4000);
	libc_waits(p, condition, locks[1], 2000);
	libc_waits(p, mutex, locks[2], 4000);
	libc_waits(p, mutex, locks[3], 0);
	libc_waits(p, mutex, locks[4], 6000);
	libc_waits(p, mutex, locks[5], 4000);
	fixture_finish(p);
	fixture_expect(&sink_locks, p, &plain,
		       "     WAITED   SHARE  LOCK\n"
		       "    6.00 us   30.0%  lock shards[3].lock of process 7\n"
		       "    6.00 us  100.0%  waited in    server: take › pthread_mutex_lock\n"
		       "    4.00 us   20.0%  lock cache.guard of process 7\n"
		       "    4.00 us  100.0%  waited in    server: take › pthread_mutex_lock\n"
		       "    4.00 us   20.0%  lock shards[3].table of process 7\n"
		       "    4.00 us  100.0%  waited in    server: take › pthread_mutex_lock\n"
		       "    6.00 us   30.0%  condition jobs+0x28 of process 7\n"
		       "    6.00 us  100.0%  waited in    server: take › pthread_cond_wait\n"
		       "\n"
		       "entered 0 = returned 0 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "0 ns, 0 of 17 probed functions called\n"
		       "time of all threads: 0.0% on a CPU, 100.0% [lock]\n");
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
	p->sample_period_ns = 10000000;
	text = fixture_write(&sink_locks, p, &plain);
	assert_non_null(strstr(text, "no thread has waited for a lock\n"));
	free(text);
	p->probes.functions = 0;
	text = fixture_write(&sink_locks, p, &plain);
	assert_non_null(strstr(text, "of the whole machine (-a) no waits are seen"));
	free(text);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
