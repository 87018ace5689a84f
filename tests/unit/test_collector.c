// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles out of tables that were filled by hand. */
#include "calls/tree.h"
#include "elf_fixture.h"
#include "tables_fixture.h"

#include <errno.h>
#include <pthread.h>

#include "attach/costs.h"
#include "calls/estimate.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "tables/bpf_tables.h"

enum { MAIN, WORK, LEAF, IDLE, FUNCTIONS };

#define NOBODY 5000000 /* above any process id: nothing in /proc */

static struct collector *collector;

static int setup_sized(uint32_t threads, uint32_t frames, uint32_t nodes, uint32_t functions)
{
	tables_make(threads, frames, nodes);
	return collector__new(&bpf.info, functions, &collector);
}

static int setup(void **state)
{
	return setup_sized(64, 256, 256, FUNCTIONS);
}

static int teardown(void **state)
{
	collector__free(collector);
	tables_free();
	return 0;
}

static struct profile *snapshot(uint64_t now)
{
	struct profile *p;
	const struct profile_accounting *a;

	assert_int_equal(collector__snapshot(collector, now, &p), 0);
	a = &p->accounting;
	assert_int_equal(a->entered, a->returned + a->unwound + a->open);
	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		uint64_t total = p->nodes[i].stats.self_ns;

		assert_true(p->nodes[i].parent < i);
		assert_true(p->nodes[i].thread < p->threads_cnt);
		for (uint32_t k = i + 1; k < p->nodes_cnt; k++)
			total += p->nodes[k].parent == i ? p->nodes[k].stats.total_ns : 0;
		assert_int_equal(p->nodes[i].stats.total_ns, total);
	}
	return p;
}

static void assert_accounts(const struct profile *p, uint64_t entered, uint64_t returned,
			    uint64_t unwound, int64_t open)
{
	assert_int_equal(p->accounting.entered, entered);
	assert_int_equal(p->accounting.returned, returned);
	assert_int_equal(p->accounting.unwound, unwound);
	assert_int_equal(p->accounting.open, open);
}

/* The node of a path of functions, ended by -1, in a thread. */
static const struct profile_node *node(const struct profile *p, uint32_t thread, const int *path)
{
	uint32_t at = 0;

	for (; *path >= 0; path++) {
		uint32_t found = 0;

		for (uint32_t i = 1; i < p->nodes_cnt; i++) {
			const struct profile_node *n = &p->nodes[i];

			if (n->thread == thread && n->parent == at &&
			    n->function == (uint32_t)*path) {
				assert_int_equal(found, 0);
				found = i;
			}
		}
		assert_int_not_equal(found, 0);
		at = found;
	}
	return &p->nodes[at];
}

#define NODE(p, thread, ...) node(p, thread, (const int[]){__VA_ARGS__, -1})

static void assert_stats(const struct profile_node *n, uint64_t calls, uint64_t total_ns,
			 uint64_t self_ns, uint64_t min_ns, uint64_t max_ns)
{
	assert_int_equal(n->stats.calls, calls);
	assert_int_equal(n->stats.total_ns, total_ns);
	assert_int_equal(n->stats.self_ns, self_ns);
	assert_int_equal(n->stats.min_ns, min_ns);
	assert_int_equal(n->stats.max_ns, max_ns);
}

/* main 0..1000 calls work 100..300 and 400..500, which calls leaf once, and idle 600..900. */
static void record_small(uint32_t t)
{
	bpf_enter(t, MAIN, 0);
	bpf_enter(t, WORK, 100);
	bpf_enter(t, LEAF, 150);
	bpf_leave(t, 200);
	bpf_leave(t, 300);
	bpf_enter(t, WORK, 400);
	bpf_leave(t, 500);
	bpf_enter(t, IDLE, 600);
	bpf_leave(t, 900);
	bpf_leave(t, 1000);
}

static void nothing_recorded(void **state)
{
	struct profile *p = snapshot(1000);

	assert_int_equal(p->threads_cnt, 0);
	assert_int_equal(p->nodes_cnt, 1);
	assert_accounts(p, 0, 0, 0, 0);
	profile__free(p);
	/* A thread without calls is none. */
	bpf_callstack(NOBODY, NOBODY, "quiet");
	p = snapshot(1000);
	assert_int_equal(p->threads_cnt, 0);
	profile__free(p);
}

static void tell_burst(uint32_t function, uint64_t thread, uint64_t calls, void *ctx)
{
	assert_int_equal(function, LEAF);
	assert_int_equal(thread, (uint64_t)NOBODY << 32 | (NOBODY + 1));
	*(uint64_t *)ctx += calls;
}

/* leaf was called once before it was dropped, and four times in bursts: once below main, three
 * times below work. */
static void estimated_calls(void **state)
{
	struct calls_estimate estimates[FUNCTIONS] = {
		[LEAF] = {.calls = 400, .variance = 1600},
		[IDLE] = {.calls = 50, .variance = 25},
		[WORK] = {0},
	};
	uint32_t t = bpf_callstack(NOBODY, NOBODY + 1, "prog");
	const struct profile_node *n;
	uint64_t told = 0;
	struct profile *p;

	record_small(t);
	bpf_enter(t, MAIN, 2000);
	bpf_enter(t, LEAF | WIRE_NODE_BURST, 2100);
	bpf_leave(t, 2200);
	bpf_enter(t, WORK, 2300);
	for (int i = 0; i < 3; i++) {
		bpf_enter(t, LEAF | WIRE_NODE_BURST, 2400 + i * 100);
		bpf_leave(t, 2450 + i * 100);
	}
	bpf_leave(t, 2800);
	bpf_leave(t, 3000);
	collector__burst_calls(collector, tell_burst, &told);
	assert_int_equal(told, 4);
	assert_int_equal(collector__set_estimates(collector, estimates, FUNCTIONS), 0);
	p = snapshot(5000);
	assert_accounts(p, 11, 11, 0, 0);
	n = NODE(p, 0, MAIN, LEAF);
	assert_int_equal(n->stats.calls, 100);
	assert_int_equal(n->stats.burst_calls, 100);
	assert_int_equal(n->stats.total_ns, 100);
	n = NODE(p, 0, MAIN, WORK, LEAF);
	assert_int_equal(n->stats.calls, 1 + 300);
	assert_int_equal(n->stats.burst_calls, 300);
	/* (3/4)^2 of 1600, and three calls of four tell hardly more of the share than none. */
	assert_int_equal(n->stats.calls_varied, 900 + (400 * 400 + 1600) * (1. / 12 + 1. / 16));
	/* No burst has met it: where it was called before. That one call of one was there does not
	 * mean that all others were. */
	n = NODE(p, 0, MAIN, IDLE);
	assert_int_equal(n->stats.calls, 1 + 50);
	assert_int_equal(n->stats.calls_varied, 25 + (50 * 50 + 25) * (1. / 12 + 1. / 4));
	n = NODE(p, 0, MAIN, WORK);
	assert_int_equal(n->stats.calls, 3);
	assert_int_equal(n->stats.burst_calls, 0);
	/* Functions have no errors of shares: all of their paths have all of their calls. */
	assert_int_equal(p->estimates_cnt, 2);
	assert_int_equal(p->estimates[0].function, LEAF);
	assert_int_equal(p->estimates[0].calls, 400);
	assert_true(p->estimates[0].varied == 1600);
	assert_int_equal(p->estimates[1].function, IDLE);
	assert_int_equal(p->estimates[1].calls, 50);
	assert_true(p->estimates[1].varied == 25);
	profile__free(p);
}

/* A burst has met one call of idle, and 96 were recorded before it was dropped: as none was on
 * another path, all of them tell that there is hardly one. Of leaf they were on another path, and
 * one call of one tells little. */
static void calls_before_the_drop_tell_of_the_path(void **state)
{
	struct calls_estimate estimates[FUNCTIONS] = {
		[LEAF] = {.calls = 400},
		[IDLE] = {.calls = 400},
	};
	uint32_t t = bpf_callstack(NOBODY, NOBODY + 1, "prog");
	const struct profile_node *n;
	struct profile *p;

	bpf_enter(t, MAIN, 1000);
	for (int i = 0; i < 97; i++) {
		uint32_t burst = i == 96 ? WIRE_NODE_BURST : 0;

		bpf_enter(t, IDLE | burst, 1000 + i * 100);
		bpf_leave(t, 1010 + i * 100);
		if (!burst)
			bpf_enter(t, WORK, 1020 + i * 100);
		bpf_enter(t, LEAF | burst, 1030 + i * 100);
		bpf_leave(t, 1040 + i * 100);
		if (!burst)
			bpf_leave(t, 1050 + i * 100);
	}
	bpf_leave(t, 20000);
	assert_int_equal(collector__set_estimates(collector, estimates, FUNCTIONS), 0);
	p = snapshot(20000);
	n = NODE(p, 0, MAIN, IDLE);
	assert_int_equal(n->stats.calls, 96 + 400);
	assert_int_equal(estimate__of(p, &n->stats).calls_error,
			 400 * sqrt(0.98 * 0.02 * 4 / 97 + 0.02 * 0.02));
	n = NODE(p, 0, MAIN, LEAF);
	assert_int_equal(n->stats.calls, 400);
	assert_int_equal(estimate__of(p, &n->stats).calls_error, 400 * sqrt(1. / 12 + 1. / 4));
	profile__free(p);
}

/* Calls in bursts whose exits no probe sees may have ended before their thread waited: the wait is
 * charged to the innermost caller that is known to have been there. */
static void waits_are_not_given_to_unseen_calls(void **state)
{
	static const struct function_probes probes[FUNCTIONS] = {
		[WORK] = {.unseen_in_bursts = true},
		[LEAF] = {.unseen_in_bursts = true},
	};
	const struct calls_estimate estimates[FUNCTIONS] = {0};
	uint32_t t = bpf_callstack(NOBODY, NOBODY + 1, "prog");
	struct profile *p;

	assert_int_equal(collector__set_estimates(collector, estimates, FUNCTIONS), 0);
	assert_int_equal(collector__set_probes(collector, probes, FUNCTIONS), 0);
	bpf_enter(t, MAIN, 1000);
	bpf_enter(t, WORK | WIRE_NODE_BURST, 1100);
	bpf_enter(t, LEAF | WIRE_NODE_BURST, 1200);
	bpf.node_rests[bpf.frames[bpf.callstacks[t].top].node].off_ns = 300;
	bpf_leave(t, 1600);
	bpf_enter(t, IDLE | WIRE_NODE_BURST, 1600);
	bpf.node_rests[bpf.frames[bpf.callstacks[t].top].node].off_ns = 50;
	bpf_leave(t, 1700);
	bpf_leave(t, 1700);
	bpf_leave(t, 2000);
	p = snapshot(5000);
	assert_int_equal(NODE(p, 0, MAIN)->stats.total_ns, 1000);
	assert_int_equal(NODE(p, 0, MAIN)->stats.off_self_ns, 300);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 0);
	assert_int_equal(NODE(p, 0, MAIN, WORK, LEAF)->stats.off_self_ns, 0);
	assert_int_equal(NODE(p, 0, MAIN, WORK, LEAF)->stats.self_ns, 100);
	/* A call that was seen to leave was there. */
	assert_int_equal(NODE(p, 0, MAIN, WORK, IDLE)->stats.off_self_ns, 50);
	profile__free(p);
}

/* After minutes of a function that takes 2 ns: the square of the error is no integer any more. */
static void billions_of_estimated_calls(void **state)
{
	struct calls_estimate estimates[FUNCTIONS] = {
		[LEAF] = {.calls = 2e10, .variance = 5e9 * 5e9},
	};
	const struct profile_node *n;
	struct profile *p;

	record_small(bpf_callstack(NOBODY, NOBODY + 1, "prog"));
	assert_int_equal(collector__set_estimates(collector, estimates, FUNCTIONS), 0);
	p = snapshot(5000);
	n = NODE(p, 0, MAIN, WORK, LEAF);
	assert_int_equal(n->stats.calls, 20000000001);
	/* Its path is known by one call. */
	assert_int_equal(estimate__of(p, &n->stats).calls_error, 12909944487);
	profile__free(p);
}

static void finished_paths(void **state)
{
	struct profile *p;

	record_small(bpf_callstack(NOBODY, NOBODY + 1, "prog"));
	p = snapshot(5000);
	assert_int_equal(p->threads_cnt, 1);
	assert_int_equal(p->threads[0].pid, NOBODY);
	assert_int_equal(p->threads[0].tid, NOBODY + 1);
	assert_int_equal(p->threads[0].start_ns, (NOBODY + 1) * 10ull);
	assert_string_equal(p->threads[0].comm, "prog");
	assert_int_equal(p->nodes_cnt, 5);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 400, 1000, 1000);
	assert_stats(NODE(p, 0, MAIN, WORK), 2, 300, 250, 100, 200);
	assert_stats(NODE(p, 0, MAIN, WORK, LEAF), 1, 50, 50, 50, 50);
	assert_stats(NODE(p, 0, MAIN, IDLE), 1, 300, 300, 300, 300);
	assert_accounts(p, 5, 5, 0, 0);
	assert_int_equal(collector__calls(collector), 5);
	assert_int_equal(collector__poll(collector), 0);
	assert_int_equal(collector__functions(collector), FUNCTIONS);
	profile__free(p);
}

static void open_calls_have_their_time_so_far(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	bpf_enter(t, MAIN, 1000);
	bpf_enter(t, WORK, 1100);
	bpf_enter(t, LEAF, 1150);
	bpf_leave(t, 1160);
	bpf_enter(t, WORK, 1200);
	bpf_enter(t, IDLE, 1250);
	bpf_unwind(t, 1300);
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 100, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 900, 90, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK, LEAF), 1, 10, 10, 10, 10);
	assert_stats(NODE(p, 0, MAIN, WORK, WORK), 1, 800, 750, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK, WORK, IDLE), 1, 50, 50, UINT64_MAX, 0);
	assert_accounts(p, 5, 1, 1, 3);
	profile__free(p);
	/* Later they have had more; the tables are as before. */
	p = snapshot(2500);
	assert_stats(NODE(p, 0, MAIN), 1, 1500, 100, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK, WORK), 1, 1300, 1250, UINT64_MAX, 0);
	profile__free(p);
}

/* Calls of a burst that are open when it ends: what comes after is their caller's, as nobody sees
 * them leave. */
static void open_calls_of_bursts_end_with_them(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct wire_callstack *callstack = &bpf.callstacks[t];
	struct profile *p;

	bpf_enter(t, MAIN, 1000);
	bpf_enter(t, WORK, 1100);
	bpf.frames[callstack->top].entry |= WIRE_FRAME_BURST;
	bpf_enter(t, LEAF, 1200);
	bpf_leave(t, 1250);
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 900, 850, UINT64_MAX, 0);
	profile__free(p);
	bpf.burst_ends_ns[0] = 1500;
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 600, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 400, 350, UINT64_MAX, 0);
	profile__free(p);
	/* The wait that the thread is in now is not given, either. */
	callstack->current = t;
	callstack->off_since = 1700;
	p = snapshot(2000);
	assert_int_equal(NODE(p, 0, MAIN)->stats.off_self_ns, 300);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 0);
	profile__free(p);
	callstack->off_since = 0;
	/* Callees were seen to leave later; the burst goes on. */
	bpf_enter(t, LEAF, 1400);
	bpf_leave(t, 1600);
	bpf.burst_ends_ns[0] = 1300;
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 250, 0, UINT64_MAX, 0);
	profile__free(p);
	bpf.burst_ends_ns[0] = 1100;
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 900, 650, UINT64_MAX, 0);
	profile__free(p);
}

/* A burst that ends amid nested calls: what comes after is that of the innermost caller that is no
 * call of a burst, however long ago and however many bursts there have been since. */
static void what_comes_after_a_burst_is_nobodys_of_it(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct wire_callstack *callstack = &bpf.callstacks[t];
	struct profile *p;

	bpf_enter(t, MAIN, 1000);
	bpf_enter(t, WORK, 1100);
	bpf.frames[callstack->top].entry |= WIRE_FRAME_BURST_OF(3u);
	bpf_enter(t, LEAF, 1200);
	bpf.frames[callstack->top].entry |= WIRE_FRAME_BURST_OF(3u);
	bpf.burst_ends_ns[3] = 1500;
	bpf.burst_ends_ns[4] = 1900;
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 600, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 400, 100, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK, LEAF), 1, 300, 300, UINT64_MAX, 0);
	profile__free(p);
}

static void recursion_shares_no_node(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	for (int i = 0; i < 100; i++)
		bpf_enter(t, WORK, i * 10);
	p = snapshot(1000);
	assert_int_equal(p->nodes_cnt, 101);
	for (uint32_t i = 1; i < 101; i++) {
		assert_int_equal(p->nodes[i].stats.self_ns, 10);
		assert_int_equal(p->nodes[i].stats.total_ns, 1000 - (i - 1) * 10);
	}
	assert_accounts(p, 100, 0, 0, 100);
	profile__free(p);
}

static void calls_of_the_future_have_no_time(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	bpf_enter(t, MAIN, 1000);
	bpf_enter(t, WORK, 3000);
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 1000, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 0, 0, UINT64_MAX, 0);
	profile__free(p);
}

static void ended_threads_stand_still(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	bpf_enter(t, MAIN, 1000);
	bpf_exit(t, 1700);
	p = snapshot(5000);
	assert_stats(NODE(p, 0, MAIN), 1, 700, 700, UINT64_MAX, 0);
	assert_accounts(p, 1, 0, 0, 1);
	profile__free(p);
}

/* The innermost call comes to a site. */
static void at_site(uint32_t callstack, uint32_t site, uint64_t now)
{
	uint32_t frame = bpf.callstacks[callstack].top;

	bpf.frame_rests[frame].line = (struct wire_line_state){
		.site = site,
		.line = bpf.line_sites[site].line,
		.since_ns = now,
		.probe_ns = bpf.frames[frame].probe_ns,
	};
}

/* Probes are taken out for seconds behind the run, in which threads end. */
static void what_ends_after_the_run_has_no_more_time(void **state)
{
	struct line_usage usage;
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	bpf.line_sites[1] = (struct wire_line_site){.function = MAIN, .line = 1};
	bpf_enter(t, MAIN, 1000);
	at_site(t, 1, 1100);
	bpf.callstacks[t].current = t;
	bpf.callstacks[t].off_since = 1500;
	bpf_exit(t, 5000);
	p = snapshot(1700);
	assert_stats(NODE(p, 0, MAIN), 1, 700, 700, UINT64_MAX, 0);
	assert_int_equal(NODE(p, 0, MAIN)->stats.off_self_ns, 200);
	profile__free(p);
	assert_int_equal(collector__lines(collector, 1700, &usage, 1), 0);
	assert_int_equal(usage.ns, 600);
}

static void threads_do_not_mix(void **state)
{
	uint32_t a = bpf_callstack(NOBODY, NOBODY, "a"), b = bpf_callstack(NOBODY, NOBODY + 1, "b");
	struct profile *p;

	/* The nodes of both call stacks alternate in the table. */
	bpf_enter(a, MAIN, 0);
	bpf_enter(b, MAIN, 0);
	bpf_enter(a, WORK, 10);
	bpf_enter(b, IDLE, 20);
	bpf_leave(a, 110);
	bpf_leave(b, 220);
	bpf_enter(b, WORK, 300);
	bpf_leave(b, 400);
	p = snapshot(1000);
	assert_int_equal(p->threads_cnt, 2);
	assert_int_equal(p->nodes_cnt, 6);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 900, UINT64_MAX, 0);
	assert_stats(NODE(p, 0, MAIN, WORK), 1, 100, 100, 100, 100);
	assert_stats(NODE(p, 1, MAIN), 1, 1000, 700, UINT64_MAX, 0);
	assert_stats(NODE(p, 1, MAIN, IDLE), 1, 200, 200, 200, 200);
	assert_stats(NODE(p, 1, MAIN, WORK), 1, 100, 100, 100, 100);
	assert_accounts(p, 5, 3, 0, 2);
	profile__free(p);
}

static void unready_threads_are_left_out(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	record_small(t);
	bpf.callstacks[t].state = 0;
	p = snapshot(1000);
	assert_int_equal(p->threads_cnt, 0);
	profile__free(p);
}

static void live_threads_have_their_present_name(void **state)
{
	uint32_t t = bpf_callstack(getpid(), getpid(), "old name"), dead;
	struct profile *p;
	char comm[32];
	FILE *f = fopen("/proc/self/comm", "r");

	assert_non_null(fgets(comm, sizeof(comm), f));
	comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
	dead = bpf_callstack(getpid(), getpid(), "old name");
	bpf_enter(t, MAIN, 1);
	bpf_enter(dead, MAIN, 1);
	bpf_exit(dead, 2);
	memset(bpf.callstacks[dead].comm, 'x', sizeof(bpf.callstacks[dead].comm));
	p = snapshot(3);
	assert_string_equal(p->threads[0].comm, comm);
	assert_string_equal(p->threads[1].comm, "xxxxxxxxxxxxxxx");
	profile__free(p);
}

static void losses_add_up(void **state)
{
	struct profile *p;

	bpf.tallies[0].lost[WIRE_LOST_CALLSTACKS] = 1;
	bpf.tallies[1].lost[WIRE_LOST_FRAMES] = 10;
	bpf.tallies[WIRE_CPUS - 1].lost[WIRE_LOST_PATHS] = 100;
	bpf.tallies[0].untriggered = 3;
	bpf.tallies[9].untriggered = 4;
	p = snapshot(1);
	assert_int_equal(p->accounting.lost, 111);
	assert_int_equal(p->accounting.untriggered, 7);
	profile__free(p);
}

static bool is_queued(int queue, uint32_t entry)
{
	const struct table_queue *q = &bpf.queues[queue - QUEUE_CALLSTACKS];
	int found = 0;

	for (size_t i = 0; i < q->cnt; i++)
		found += q->items[i] == entry;
	assert_true(found <= 1);
	return found;
}

static void roomy_tables_are_left_alone(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");

	record_small(t);
	bpf_exit(t, 1000);
	assert_int_equal(collector__poll(collector), 0);
	assert_int_equal(bpf.queues[0].cnt, 0);
	assert_int_equal(bpf.callstacks[t].state, WIRE_CALLSTACK_READY);
}

static int setup_few_threads(void **state)
{
	return setup_sized(8, 256, 256, FUNCTIONS);
}

/* Room for many threads, but for what was open at the start in eight alone. */
static int setup_few_seeds(void **state)
{
	tables_make(64, 256, 256);
	bpf.info.seeds_cap = 2 * 8;
	bpf.seeds = table_new(&bpf.info.seeds_fd, bpf.info.seeds_cap, sizeof(*bpf.seeds));
	return collector__new(&bpf.info, FUNCTIONS, &collector);
}

/* Five of eight threads; the first and the last are alive. */
static void fill_threads(uint32_t *t)
{
	for (int i = 0; i < 5; i++) {
		t[i] = bpf_callstack(NOBODY, NOBODY + i, "prog");
		record_small(t[i]);
	}
	bpf_enter(t[1], MAIN, 2000); /* open at its end */
	for (int i = 1; i < 4; i++)
		bpf_exit(t[i], 2000 + i);
}

static void dead_threads_are_given_back(void **state)
{
	uint64_t *free_place;
	uint32_t t[5];

	fill_threads(t);
	assert_int_equal(collector__poll(collector), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(is_queued(QUEUE_CALLSTACKS, t[i]), i > 0 && i < 4);
	assert_int_equal(bpf.queues[QUEUE_CALLSTACKS - QUEUE_CALLSTACKS].cnt, 3);
	assert_int_equal(bpf.queues[QUEUE_NODES - QUEUE_CALLSTACKS].cnt, 3 * 5);
	assert_int_equal(bpf.queues[QUEUE_FRAMES - QUEUE_CALLSTACKS].cnt, 3 * 4);
	for (uint32_t i = 1; i < bpf.next_node; i++) {
		const struct wire_node *n = &bpf.nodes[i];
		bool given = is_queued(QUEUE_NODES, i);
		const uint64_t *place = index_find(n->parent, n->function, &free_place);

		assert_int_equal(!bpf.node_rests[i].callstack, given);
		if (n->parent)
			assert_int_equal(place != NULL, !given);
	}
	for (int i = 1; i < 4; i++)
		assert_int_equal(bpf.callstacks[t[i]].state, 0);
	/* Once is enough. */
	assert_int_equal(collector__poll(collector), 0);
	assert_int_equal(bpf.queues[0].cnt, 3);
}

static void retired_threads_stay_in_the_profile(void **state)
{
	struct profile *before, *after;
	uint32_t t[5];

	fill_threads(t);
	before = snapshot(9000);
	assert_accounts(before, 26, 25, 0, 1);
	assert_int_equal(collector__poll(collector), 0);
	after = snapshot(9000);
	assert_accounts(after, 26, 25, 0, 1);
	assert_int_equal(after->threads_cnt, 5);
	assert_int_equal(after->nodes_cnt, before->nodes_cnt);
	assert_int_equal(collector__calls(collector), 26);
	/* The retired ones come first: 1, 2, 3, then 0 and 4. */
	for (int i = 0; i < 5; i++) {
		static const int was[] = {1, 2, 3, 0, 4};
		const struct profile_node *a = NODE(before, was[i], MAIN);
		const struct profile_node *b = NODE(after, i, MAIN);

		assert_int_equal(after->threads[i].tid, NOBODY + was[i]);
		assert_memory_equal(&a->stats, &b->stats, sizeof(a->stats));
	}
	assert_stats(NODE(after, 0, MAIN), 2, 1001, 401, 1000, 1000);
	profile__free(before);
	profile__free(after);
}

static void entries_are_used_again(void **state)
{
	struct profile *p;
	uint32_t t[5];

	fill_threads(t);
	/* Far more threads than there is room for at a time. */
	for (int round = 0; round < 50; round++) {
		uint32_t again;

		assert_int_equal(collector__poll(collector), 0);
		again = bpf_callstack(NOBODY, NOBODY + 100 + round, "again");
		record_small(again);
		bpf_exit(again, 1000);
	}
	p = snapshot(9000);
	assert_int_equal(p->threads_cnt, 55);
	assert_int_equal(p->nodes_cnt, 1 + 55 * 4);
	assert_accounts(p, 26 + 50 * 5, 25 + 50 * 5, 0, 1);
	assert_int_equal(collector__calls(collector), 26 + 50 * 5);
	for (int i = 0; i < 50; i++)
		assert_int_equal(NODE(p, 5 + i - 2, MAIN, WORK)->stats.calls, 2);
	profile__free(p);
	assert_true(bpf.next_callstack <= 8);
}

/* Coroutines end without a word: those that do nothing make room, if nothing is open on them. */
static void idle_callstacks_are_ended_when_they_are_many(void **state)
{
	enum { THREAD_STACK, IDLE_ONE, OPEN, BUSY, HELD, CALLSTACKS };
	uint32_t t[CALLSTACKS];
	struct profile *p;

	for (int i = 0; i < CALLSTACKS; i++) {
		t[i] = bpf_callstack(NOBODY, NOBODY, "prog");
		bpf.callstacks[t[i]].kind =
			i == THREAD_STACK ? WIRE_CALLSTACK_THREAD : WIRE_CALLSTACK_GOROUTINE;
		bpf.callstacks[t[i]].goid = i;
		bpf.callstacks[t[i]].made_ns = i;
		record_small(t[i]);
	}
	bpf_enter(t[OPEN], MAIN, 2000);
	bpf.callstacks[t[HELD]].busy = 1;
	assert_int_equal(collector__poll(collector), 0); /* for the first time: all were busy */
	assert_int_equal(bpf.queues[0].cnt, 0);
	record_small(t[BUSY]);
	assert_int_equal(collector__poll(collector), 0);
	for (int i = 0; i < CALLSTACKS; i++)
		assert_int_equal(is_queued(QUEUE_CALLSTACKS, t[i]), i == IDLE_ONE);
	assert_int_equal(bpf.callstacks[t[HELD]].busy, 1);
	p = snapshot(9000);
	assert_int_equal(p->threads_cnt, CALLSTACKS);
	assert_accounts(p, CALLSTACKS * 5 + 1 + 5, CALLSTACKS * 5 + 5, 0, 1);
	profile__free(p);
}

#define ROUNDS 200000

static bool take_lock(struct wire_callstack *callstack)
{
	uint64_t busy = __atomic_load_n(&callstack->busy, __ATOMIC_ACQUIRE);

	return WIRE_BUSY_FREE(busy) &&
	       __atomic_compare_exchange_n(&callstack->busy, &busy, busy + 1, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void release_lock(struct wire_callstack *callstack)
{
	__atomic_fetch_add(&callstack->busy, WIRE_BUSY_RELEASED - 1, __ATOMIC_RELEASE);
}

/* Enters and leaves calls as BPF does, each under the lock. Returns how many leaves have not got
 * the lock. */
static void *call_on_callstack(void *arg)
{
	struct wire_callstack *callstack = arg;
	uint32_t frame = callstack->top;
	uintptr_t lost = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (!take_lock(callstack)) { /* it was ended: the entry is used again */
			__atomic_fetch_and(&callstack->busy, ~WIRE_BUSY_ENDED, __ATOMIC_ACQ_REL);
			continue;
		}
		__atomic_store_n(&callstack->top, frame + 1, __ATOMIC_RELEASE);
		release_lock(callstack);
		if (!take_lock(callstack)) {
			lost++;
			__atomic_fetch_and(&callstack->busy, ~WIRE_BUSY_ENDED, __ATOMIC_ACQ_REL);
			__atomic_store_n(&callstack->top, frame, __ATOMIC_RELEASE);
			continue;
		}
		__atomic_store_n(&callstack->top, frame, __ATOMIC_RELEASE);
		release_lock(callstack);
	}
	return (void *)lost;
}

/* Looking whether a call stack is idle keeps nobody from the call stack, and ends none with an open
 * call. */
static void looking_at_a_callstack_loses_no_return(void **state)
{
	uint32_t number = bpf_callstack(NOBODY, NOBODY, "prog");
	struct wire_callstack *callstack = &bpf.callstacks[number];
	struct bpf_tables tables;
	pthread_t thread;
	void *lost;

	callstack->kind = WIRE_CALLSTACK_GOROUTINE;
	assert_int_equal(bpf_tables__map(&tables, &bpf.info), 0);
	assert_int_equal(pthread_create(&thread, NULL, call_on_callstack, callstack), 0);
	while (pthread_tryjoin_np(thread, &lost))
		bpf_tables__end_idle(&tables, number);
	assert_null(lost);
	assert_true(bpf_tables__end_idle(&tables, number) || callstack->busy & WIRE_BUSY_ENDED);
	assert_false(take_lock(callstack));
	bpf_tables__unmap(&tables);
}

static void any_short_table_retires(void **state)
{
	/* 129 of 256 nodes, or of 256 frames, in few threads */
	for (int deep = 0; deep < 2; deep++) {
		uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");

		for (uint32_t i = 0; i < 129; i++) {
			bpf_enter(t, WORK, i);
			if (!deep)
				bpf_leave(t, i);
		}
		bpf_exit(t, 1000);
		assert_int_equal(collector__poll(collector), 0);
		assert_int_equal(is_queued(QUEUE_CALLSTACKS, t), deep);
	}
}

static int setup_race(void **state)
{
	return setup_sized(8, 256, 1 << 15, 1 << 15);
}

static void *make_paths(void *arg)
{
	uint32_t t = *(uint32_t *)arg;

	for (uint32_t i = 0; i < (1 << 15) - 8; i++) {
		for (int k = 0; k < 20; k++) {
			bpf_enter(t, i, i);
			bpf_leave(t, i);
		}
	}
	bpf_exit(t, 1);
	return NULL;
}

/* A path that is made while the thread is being read must not leave more returns than calls. */
static void accounts_hold_while_paths_are_made(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "busy");
	int64_t lowest = 0;
	pthread_t writer;

	assert_int_equal(pthread_create(&writer, NULL, make_paths, &t), 0);
	while (!__atomic_load_n(&bpf.callstacks[t].exit_ns, __ATOMIC_ACQUIRE)) {
		struct profile *p;

		assert_int_equal(collector__snapshot(collector, 1, &p), 0);
		lowest = p->accounting.open < lowest ? p->accounting.open : lowest;
		profile__free(p);
	}
	pthread_join(writer, NULL);
	assert_int_equal(lowest, 0);
}

/* Overwrites `cnt` words of a table: large, small and in-range numbers. */
static void scribble(void *table, size_t bytes, int cnt, uint32_t *seed)
{
	for (int i = 0; i < cnt; i++) {
		uint32_t how = next_random(seed), value = next_random(seed);

		((uint32_t *)table)[next_random(seed) % (bytes / 4)] = how % 3 == 0   ? value
								       : how % 3 == 1 ? value % 256
										      : ~0u;
	}
}

/* A profile may be wrong then, or refused; reading must stay within the tables. */
static void use_anyhow(void)
{
	struct profile *p;

	if (collector__snapshot(collector, 5000, &p))
		return;
	p->functions = calloc(FUNCTIONS, sizeof(*p->functions));
	p->functions_cnt = FUNCTIONS;
	assert_int_equal(profile__connect(p), 0);
	profile__free(p);
}

static void fill_somehow(void)
{
	for (int i = 0; i < 6; i++) {
		uint32_t t = bpf_callstack(NOBODY, NOBODY + i, "prog");

		record_small(t);
		bpf_enter(t, MAIN, 2000);
		bpf_enter(t, LEAF, 2100);
		if (i % 2)
			bpf_exit(t, 3000);
	}
}

static void garbage(int threads, int frames, int nodes)
{
	uint32_t seed = 20240229;
	int saved = hush();

	for (int round = 0; round < 500; round++) {
		if (round)
			setup_few_threads(NULL);
		fill_somehow();
		scribble(bpf.callstacks, 8 * sizeof(*bpf.callstacks), threads, &seed);
		scribble(bpf.frames, 32 * sizeof(*bpf.frames), frames, &seed);
		scribble(bpf.nodes, 48 * sizeof(*bpf.nodes), nodes, &seed);
		use_anyhow();
		collector__poll(collector);
		use_anyhow();
		if (round < 499)
			teardown(NULL);
	}
	unhush(saved);
}

static void garbage_in_threads(void **state)
{
	garbage(8, 0, 0);
}

static void garbage_in_frames(void **state)
{
	garbage(0, 20, 0);
}

static void garbage_in_nodes(void **state)
{
	garbage(0, 0, 20);
}

static void rings_end(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");

	record_small(t);
	bpf_enter(t, MAIN, 2000);
	bpf.frames[bpf.callstacks[t].top].up = bpf.callstacks[t].top;
	use_anyhow();
	bpf.node_rests[bpf.callstacks[t].newest].older = bpf.callstacks[t].newest;
	use_anyhow();
}

static void unknown_functions_are_refused(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;
	int saved = hush();

	bpf_enter(t, FUNCTIONS, 1);
	assert_int_equal(collector__snapshot(collector, 1, &p), -EINVAL);
	unhush(saved);
}

static struct wire_dist *dist(uint32_t function, uint32_t cpu, uint32_t octave)
{
	uint32_t at = bpf.next_dist++;

	bpf.dist_keys[at] = WIRE_DIST_KEY(function, cpu, octave);
	return &bpf.dists[at];
}

static void assert_bucket(const struct profile_bucket *b, uint32_t function, uint32_t bucket,
			  uint64_t calls)
{
	assert_int_equal(b->function, function);
	assert_int_equal(b->bucket, bucket);
	assert_int_equal(b->calls, calls);
}

static void distributions_are_merged(void **state)
{
	struct profile *p = snapshot(1);

	assert_int_equal(p->buckets_cnt, 0);
	profile__free(p);
	/* Three CPUs' shares of one function's power of two; they need not stand together. */
	dist(WORK, 0, 3)->calls[2] = 5;
	dist(WORK, 7, 0)->calls[0] = 2;
	dist(WORK, 5, 3)->calls[2] = 6;
	dist(MAIN, 1, 61)->calls[7] = UINT64_MAX / 2;
	dist(WORK, 63, 3)->calls[7] = 1;
	/* Two CPUs have made an entry of the same key; the index knows one. */
	dist(WORK, 63, 3);
	dist(LEAF, 1, 4);			 /* nothing counted yet */
	bpf.dists[bpf.next_dist++].calls[3] = 9; /* its key is not written yet */
	/* Functions beyond the plan. */
	dist(FUNCTIONS, 0, 3)->calls[0] = 1;
	dist(FUNCTIONS, 0, 4)->calls[0] = 1;
	bpf.dist_keys[bpf.next_dist - 1] = UINT64_MAX;
	bpf.tallies[2].undistributed = 17;
	p = snapshot(1);
	assert_int_equal(p->buckets_cnt, 4);
	assert_bucket(&p->buckets[0], MAIN, 61 * 8 + 7, UINT64_MAX / 2);
	assert_bucket(&p->buckets[1], WORK, 0, 2);
	assert_bucket(&p->buckets[2], WORK, 3 * 8 + 2, 11);
	assert_bucket(&p->buckets[3], WORK, 3 * 8 + 7, 1);
	assert_int_equal(p->accounting.undistributed, 17);
	profile__free(p);
}

/* All 64 entries in use: the array grows more than once. */
static void full_distributions(void **state)
{
	struct profile *p;
	uint64_t calls = 0;

	for (uint32_t i = 0; i < 63; i++) {
		struct wire_dist *d = dist(i % FUNCTIONS, 0, i / FUNCTIONS);

		for (uint32_t k = 0; k < 8; k++)
			d->calls[k] = 1 + i + k;
	}
	p = snapshot(1);
	assert_int_equal(p->buckets_cnt, 63 * 8);
	for (size_t i = 0; i < p->buckets_cnt; i++) {
		const struct profile_bucket *b = &p->buckets[i];

		assert_int_equal(b->function, i / (16 * 8));
		assert_int_equal(b->bucket, i % (16 * 8));
		calls += b->calls;
	}
	assert_int_equal(calls, 63 * 8 + 8 * (62 * 63 / 2) + 63 * 28);
	profile__free(p);
}

static void waiting_threads_have_waited_so_far(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct wire_callstack *callstack = &bpf.callstacks[t];
	struct profile *p;

	callstack->current = t;
	bpf_enter(t, MAIN, 1000);
	bpf_enter(t, WORK, 1100);
	bpf.node_rests[bpf.frames[callstack->top].node].off_ns = 40; /* before */
	callstack->off_since = 1500;
	p = snapshot(2000);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 540);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.self_ns, 900);
	assert_int_equal(NODE(p, 0, MAIN)->stats.off_self_ns, 0);
	assert_int_equal(NODE(p, 0, MAIN)->stats.off_ns, 540);
	profile__free(p);
	/* The thread left the CPU a moment after the snapshot; or it is on another stack; or it has
	 * ended. */
	callstack->off_since = 2500;
	p = snapshot(2000);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 40);
	profile__free(p);
	callstack->off_since = 1500;
	callstack->current = bpf_callstack(NOBODY, NOBODY + 1, "other");
	p = snapshot(2000);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 40);
	profile__free(p);
	/* As long as nobody has seen the thread back on this stack, its time has passed elsewhere.
	 */
	callstack->left_ns = 1200;
	p = snapshot(2000);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 840);
	profile__free(p);
	callstack->left_ns = 0;
	callstack->current = t;
	bpf_exit(t, 1600);
	p = snapshot(2000);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.off_self_ns, 140);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.self_ns, 500);
	profile__free(p);
	callstack->off_since = 0;
	callstack->current = 0xffffffff;
	profile__free(snapshot(2000));
}

/* Never more than there is: the scheduler's clock and ours are read one after the other. */
static void waiting_is_part_of_the_time(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	record_small(t);
	for (uint32_t i = 1; i < bpf.next_node; i++)
		bpf.node_rests[i].off_ns = 1000000;
	p = snapshot(5000);
	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		const struct call_stats *s = &p->nodes[i].stats;

		assert_int_equal(s->off_self_ns, s->self_ns);
		assert_int_equal(s->off_ns, s->total_ns);
	}
	profile__free(p);
}

static const struct probe_costs known_costs = {
	.classes =
		{
			[WIRE_COST_ENTRY_PUSH] = {100, 300},
			[WIRE_COST_RETURN] = {50, 250},
			[WIRE_COST_TIMED] = {10, 20},
		},
	.spread = 0.1,
	.cold_gain = 1,
};

/* A node's index in the table by its path from the call stack's root. */
static struct wire_node *bpf_node_at(uint32_t callstack, const int *path)
{
	uint32_t at = bpf.callstacks[callstack].root;

	for (; *path >= 0; path++)
		at = bpf_child(callstack, at, *path);
	return &bpf.nodes[at];
}

#define BPF_NODE(callstack, ...) bpf_node_at(callstack, (const int[]){__VA_ARGS__, -1})

static void costs_are_taken_out(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	collector__set_costs(collector, &known_costs, false);
	record_small(t);
	BPF_NODE(t, MAIN)->probe_ns = 150;
	BPF_NODE(t, MAIN, WORK)->probe_ns = 20;
	BPF_NODE(t, MAIN, WORK, LEAF)->probe_ns = 70;	  /* more than it took */
	bpf.nodes[bpf.callstacks[t].root].probe_ns = 550; /* seen by nobody who is traced */
	p = snapshot(5000);
	assert_stats(NODE(p, 0, MAIN), 1, 780, 250, 1000, 1000);
	assert_stats(NODE(p, 0, MAIN, WORK), 2, 230, 230, 100, 200);
	assert_stats(NODE(p, 0, MAIN, WORK, LEAF), 1, 0, 0, 50, 50);
	assert_int_equal(NODE(p, 0, MAIN)->stats.raw_total_ns, 1000);
	assert_int_equal(NODE(p, 0, MAIN)->stats.raw_self_ns, 400);
	assert_int_equal(NODE(p, 0, MAIN)->stats.self_error_ns, 15);
	assert_int_equal(NODE(p, 0, MAIN)->stats.error_ns, 15 + 2 + 7);
	assert_int_equal(p->accounting.probe_ns, 150 + 20 + 70 + 550);
	profile__free(p);
	/* Raw times keep them; what they are is known all the same. */
	collector__set_costs(collector, &known_costs, true);
	p = snapshot(5000);
	assert_stats(NODE(p, 0, MAIN), 1, 1000, 400, 1000, 1000);
	assert_int_equal(p->accounting.probe_ns, 150 + 20 + 70 + 550);
	profile__free(p);
}

static int setup_few_functions(void **state)
{
	return setup_sized(8, 256, 256, 2);
}

static void usage_covers_what_is_asked(void **state)
{
	struct function_usage u[FUNCTIONS + 1];
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");

	bpf_enter(t, MAIN, 0);
	bpf_enter(t, IDLE, 10); /* beyond the plan, so far */
	bpf_leave(t, 20);
	memset(u, 0xee, sizeof(u));
	assert_int_equal(collector__usage(collector, u, FUNCTIONS), 0);
	assert_int_equal(u[MAIN].calls, 1);
	assert_int_equal(u[IDLE].calls, 0);
	assert_int_equal(u[IDLE].passed, 0);
	assert_int_equal((uint8_t) * (char *)&u[FUNCTIONS], 0xee);
	assert_int_equal(collector__grow(collector, FUNCTIONS), 0);
	assert_int_equal(collector__usage(collector, u, FUNCTIONS), 0);
	assert_int_equal(u[IDLE].calls, 1);
	assert_int_equal(u[IDLE].total_ns, 10);
}

static void set_figures(uint32_t t)
{
	struct wire_node *n = BPF_NODE(t, MAIN, WORK);

	bpf.node_rests[n - bpf.nodes].off_ns = 11;
	n->probe_ns = 13;
	n->timed_ns = 200;
	n->expected_ns = 100;
}

static void usage_adds_up(void **state)
{
	uint32_t a = bpf_callstack(NOBODY, NOBODY, "a"), b = bpf_callstack(NOBODY, NOBODY + 1, "b");
	struct function_usage u[FUNCTIONS];

	collector__set_costs(collector, &known_costs, false);
	record_small(a);
	record_small(b);
	set_figures(a);
	set_figures(b);
	bpf_enter(b, LEAF, 2000); /* open: it has no time yet */
	assert_int_equal(collector__usage(collector, u, FUNCTIONS), 0);
	assert_int_equal(u[MAIN].calls, 2);
	assert_int_equal(u[MAIN].self_ns, 800);
	assert_int_equal(u[MAIN].total_ns, 2000);
	assert_int_equal(u[WORK].calls, 4);
	assert_int_equal(u[WORK].self_ns, 500);
	assert_int_equal(u[WORK].total_ns, 600);
	assert_int_equal(u[WORK].off_ns, 22);
	assert_int_equal(u[WORK].probe_ns, 26);
	assert_int_equal(u[WORK].timed_ns, 400);
	assert_int_equal(u[WORK].expected_ns, 200);
	assert_float_equal(u[WORK].factor, 2, 1e-9);
	assert_float_equal(u[MAIN].factor, 1, 1e-9);
	assert_int_equal(u[LEAF].calls, 3);
	assert_int_equal(u[LEAF].total_ns, 100);
	assert_int_equal(u[IDLE].passed, 0);
}

/* Whether the used functions are these, in any order, with the figures that they have. */
static void check_used(const uint32_t *expected, uint32_t cnt)
{
	struct function_usage all[FUNCTIONS], u[FUNCTIONS];
	const uint32_t *used;
	uint32_t used_cnt, found = 0;

	memset(u, 0xee, sizeof(u));
	assert_int_equal(collector__usage_of_used(collector, u, FUNCTIONS, &used, &used_cnt), 0);
	assert_int_equal(used_cnt, cnt);
	assert_int_equal(collector__usage(collector, all, FUNCTIONS), 0);
	for (uint32_t i = 0; i < cnt; i++) {
		for (uint32_t k = 0; k < used_cnt; k++)
			found += used[k] == expected[i];
		assert_memory_equal(&u[expected[i]], &all[expected[i]], sizeof(*u));
	}
	assert_int_equal(found, cnt);
}

static void usage_of_used(void **state)
{
	static const uint32_t used[] = {MAIN, WORK, LEAF, IDLE};
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");

	check_used(NULL, 0);
	bpf_enter(t, MAIN, 0);
	check_used(used, 1);
	bpf_enter(t, WORK, 10);
	bpf_leave(t, 20);
	check_used(used, 2);
	bpf_enter(t, LEAF, 30);
	bpf_exit(t, 40);
	assert_int_equal(collector__poll(collector), 0); /* takes the thread's part back */
	check_used(used, 3);
	assert_true(collector__drop(collector, IDLE, 1));
	bpf.passed[IDLE] = 7;
	check_used(used, 4);
	collector__reset(collector);
	check_used(NULL, 0);
	/* Never entered, but an exit was hit, as two shares of CPUs have counted. */
	bpf.strays[LEAF] = 5;
	bpf.strays[bpf.info.function_modes_cap + LEAF] = 2;
	check_used(used + 2, 1);
	assert_int_equal(collector__strays(collector), 7);
	collector__reset(collector);
	check_used(NULL, 0);
}

/* Usage of functions stays when threads end, also if costs of probes change the figures of threads
 * in the profile. */
static void usage_outlives_threads(void **state)
{
	struct function_usage before[FUNCTIONS], after[FUNCTIONS];
	uint64_t probe_ns;
	struct profile *p;
	uint32_t t[5];

	collector__set_costs(collector, &known_costs, false);
	for (int i = 0; i < 5; i++) {
		t[i] = bpf_callstack(NOBODY, NOBODY + i, "prog");
		record_small(t[i]);
		set_figures(t[i]);
		bpf.nodes[bpf.callstacks[t[i]].root].probe_ns = 500;
		if (i)
			bpf_exit(t[i], 3000);
	}
	assert_int_equal(collector__usage(collector, before, FUNCTIONS), 0);
	p = snapshot(5000);
	probe_ns = p->accounting.probe_ns;
	/* Twice as slow as expected: twice as dear. */
	assert_int_equal(probe_ns, 5 * (500 + 13 + 2 * 700));
	profile__free(p);
	assert_int_equal(collector__poll(collector), 0);
	assert_int_equal(bpf.queues[0].cnt, 4);
	assert_int_equal(collector__usage(collector, after, FUNCTIONS), 0);
	assert_memory_equal(before, after, sizeof(before));
	p = snapshot(5000);
	assert_int_equal(p->accounting.probe_ns, probe_ns);
	profile__free(p);
	/* The accounts keep the retired calls, too. */
	collector__forget_retired(collector);
	p = snapshot(5000);
	assert_int_equal(p->threads_cnt, 1);
	assert_int_equal(p->accounting.probe_ns, probe_ns);
	profile__free(p);
}

static uint64_t passed_of(uint32_t function, uint32_t every, uint64_t seen)
{
	struct function_usage u[FUNCTIONS];

	assert_true(collector__drop(collector, function, every));
	assert_int_equal(bpf.function_modes[function].every, every);
	assert_true(bpf.switches_set);
	bpf.passed[function] = seen;
	assert_int_equal(collector__usage(collector, u, FUNCTIONS), 0);
	assert_int_equal(u[function].passed, collector__passed(collector, function));
	return u[function].passed;
}

static void dropped_functions(void **state)
{
	struct profile *p;

	assert_int_equal(passed_of(WORK, 1, 0), 0);
	assert_int_equal(passed_of(WORK, 1, 1000), 1000);
	/* The first one is kept, and then each third. */
	assert_int_equal(passed_of(LEAF, 3, 0), 0);
	assert_int_equal(passed_of(LEAF, 3, 1), 0);
	assert_int_equal(passed_of(LEAF, 3, 2), 1);
	assert_int_equal(passed_of(LEAF, 3, 3), 2);
	assert_int_equal(passed_of(LEAF, 3, 4), 2);
	assert_int_equal(passed_of(LEAF, 3, 300), 200);
	p = snapshot(1);
	assert_int_equal(p->accounting.dropped, 1200);
	profile__free(p);
	/* The table ends at 64. */
	assert_true(collector__drop(collector, 63, 1));
	assert_false(collector__drop(collector, 64, 1));
	assert_false(collector__drop(collector, UINT32_MAX, 1));
	assert_int_equal(collector__passed(collector, 64), 0);
	assert_int_equal(collector__passed(collector, UINT32_MAX), 0);
}

/* CPUs count apart and keep calls of their own, about as many in all as one would; what is not kept
 * is passed over. */
static void dropped_by_cpus(void **state)
{
	static const uint64_t seen[4] = {7, 0, 101, 1000};
	const uint32_t every = 10;
	uint64_t kept = 0, all = 0;

	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		uint64_t phase = WIRE_PHASE(cpu, 4, every);

		for (uint64_t n = 0; n < seen[cpu]; n++)
			kept += !((n + phase) % every);
		all += seen[cpu];
		bpf.passed[cpu * bpf.info.function_modes_cap + WORK] = seen[cpu];
	}
	assert_true(collector__drop(collector, WORK, every));
	assert_int_equal(collector__passed(collector, WORK), all - kept);
	assert_in_range(kept * every, all - 2 * every, all + 2 * every);
	assert_int_equal(collector__passed(collector, LEAF), 0);
	assert_true(collector__drop(collector, WORK, 1));
	assert_int_equal(collector__passed(collector, WORK), all);
}

/* One call stands for five: paths have more calls than were entered, and the accounts hold. */
static void scaled_calls(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");
	struct profile *p;

	assert_true(collector__drop(collector, WORK, 5));
	bpf_enter(t, MAIN, 0);
	for (int i = 0; i < 3; i++) {
		bpf_enter(t, WORK, 100 + 100 * i);
		bpf_leave(t, 150 + 100 * i);
		BPF_NODE(t, MAIN, WORK)->calls += 4;
		BPF_NODE(t, MAIN, WORK)->self_ns += 4 * 50;
	}
	/* The time of the other calls is not in the caller's own time, which is less than nothing
	 * just now. */
	BPF_NODE(t, MAIN)->self_ns -= 3 * 4 * 50;
	p = snapshot(400);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.calls, 15);
	assert_int_equal(NODE(p, 0, MAIN, WORK)->stats.total_ns, 750);
	assert_int_equal(NODE(p, 0, MAIN)->stats.self_ns, 0);
	assert_accounts(p, 4, 3, 0, 1);
	profile__free(p);
}

static void reset_forgets(void **state)
{
	struct function_usage u[FUNCTIONS];
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog"), again;
	uint64_t *free_place;
	struct profile *p;

	record_small(t);
	bpf_exit(t, 1000);
	dist(WORK, 0, 3)->calls[2] = 5;
	bpf.tallies[1].undistributed = bpf.tallies[2].lost[WIRE_LOST_FRAMES] = 3;
	collector__drop(collector, WORK, 1);
	bpf.passed[bpf.info.function_modes_cap + WORK] = 7;
	collector__reset(collector);
	p = snapshot(2000);
	assert_int_equal(p->threads_cnt, 0);
	assert_int_equal(p->nodes_cnt, 1);
	assert_int_equal(p->buckets_cnt, 0);
	assert_accounts(p, 0, 0, 0, 0);
	assert_int_equal(p->accounting.lost + p->accounting.dropped, 0);
	assert_int_equal(p->accounting.undistributed, 0);
	profile__free(p);
	assert_int_equal(collector__calls(collector), 0);
	assert_int_equal(collector__usage(collector, u, FUNCTIONS), 0);
	for (int f = 0; f < FUNCTIONS; f++)
		assert_int_equal(u[f].calls + u[f].self_ns + u[f].passed, 0);
	assert_int_equal(
		bpf.function_modes[WORK].every + bpf.passed[bpf.info.function_modes_cap + WORK], 0);
	assert_null(index_find(bpf.callstacks[t].root, MAIN, &free_place));
	/* The entries of the call stack are used again. */
	again = bpf_callstack(NOBODY, NOBODY, "again");
	assert_int_equal(again, t);
	record_small(again);
	p = snapshot(2000);
	assert_stats(NODE(p, 0, MAIN, WORK), 2, 300, 250, 100, 200);
	profile__free(p);
}

/* Functions are known as called also if their paths have places of paths that were given back. */
static void functions_seen_after_a_reset(void **state)
{
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "prog");

	record_small(t);
	assert_int_equal(collector__poll(collector), 0);
	bpf_exit(t, 1000);
	collector__reset(collector);
	assert_int_equal(collector__functions(collector), 0);
	t = bpf_callstack(NOBODY, NOBODY, "again");
	bpf_enter(t, WORK, 1);
	assert_int_equal(collector__poll(collector), 0);
	assert_int_equal(collector__functions(collector), 1);
}

static volatile uint32_t samples_half;
static volatile struct wire_sample_counts sample_counts[WIRE_CPUS];
static volatile struct wire_wait_counts wait_counts[WIRE_CPUS];

/* With tables of samples and of places of waits. */
static int setup_samples(void **state)
{
	struct tracer_tables *info = &bpf.info;

	tables_make(64, 256, 256);
	info->samples_cap = 2;
	info->waits_cap = 1;
	bpf.samples = table_new(&info->samples_fd, 4, sizeof(*bpf.samples));
	bpf.waits = table_new(&info->waits_fd, 1, sizeof(*bpf.waits));
	info->samples_half = &samples_half;
	info->sample_counts = sample_counts;
	info->wait_counts = wait_counts;
	return collector__new(info, FUNCTIONS, &collector);
}

static int all_idle(const struct code_place *at, uint32_t *function, void *ctx)
{
	*function = IDLE;
	return 0;
}

/* A thread has waited outside of calls, and no sample tells of its CPU time: both are of the one
 * entry that it has outside of calls, or intervals would not find the wait's path in the profile
 * before, and have its time anew. */
static void time_that_no_sample_has_met(void **state)
{
	struct profile *p;

	collector__resolve_callers(collector, all_idle, NULL);
	collector__set_sample_period(collector, 1000000, false);
	collector__weigh_samples(collector, 50000000);
	bpf.waits[0] = (struct wire_wait){
		.hash = 1,
		.state = WIRE_WAIT_READY,
		.reason = WIRE_REASON_TIMER,
		.cnt = 1,
		.ns = 700,
		.spot = {.pid_tgid = (uint64_t)NOBODY << 32 | NOBODY,
			 .start_ns = 3,
			 .comm = "prog"},
	};
	p = snapshot(5000);
	assert_int_equal(p->threads_cnt, 1);
	assert_int_equal(p->nodes[1].stats.off_ns, 700);
	assert_int_equal(p->nodes[p->nodes_cnt - 1].stats.sampled_ns, 50000000);
	profile__free(p);
}

static int by_address(const struct code_place *at, uint32_t *function, void *ctx)
{
	*function = at->vaddr >> 8;
	return 0;
}

/* No burst has met two functions, nor has any sample their own code, only that of leaf, which work
 * calls; idle has no sample at all. Estimated calls of work are on the path of those samples. */
static void samples_of_callees_tell_the_path(void **state)
{
	struct calls_estimate estimates[FUNCTIONS] = {
		[WORK] = {.calls = 5000, .variance = 2500. * 2500, .guessed = true},
		[LEAF] = {.calls = 100, .variance = 10000, .guessed = true},
		[IDLE] = {.calls = 50, .variance = 25, .guessed = true},
	};
	const double seven_of_seven = 0.8 * 0.2 * 4 / 7 + 0.2 * 0.2, most = 7000000. / 5;
	const struct profile_node *n;
	struct profile *p;

	collector__resolve_callers(collector, by_address, NULL);
	collector__set_sample_period(collector, 1000000, false);
	bpf.samples[0] = (struct wire_sample){
		.hash = 1,
		.cnt = 7,
		.spot = {.pid_tgid = (uint64_t)NOBODY << 32 | NOBODY, .start_ns = 3, .comm = "p"},
		.call = WIRE_WAIT_KERNEL,
		.user = {.cnt = 3,
			 .end = WIRE_CALLERS_WHOLE,
			 .frames = {LEAF << 8, (WORK << 8) + 2, (MAIN << 8) + 2}},
	};
	assert_int_equal(collector__last_samples(collector), 0);
	collector__weigh_samples(collector, 7000000);
	assert_int_equal(collector__set_estimates(collector, estimates, FUNCTIONS), 0);
	p = snapshot(5000);
	n = NODE(p, 0, MAIN, WORK);
	assert_int_equal(n->stats.calls, 5000);
	assert_int_equal(n->stats.calls_varied,
			 2500 * 2500 + seven_of_seven * (5000 * 5000 + 2500 * 2500));
	/* Its calls may be short: 7 ms may be far more than 100 of them. */
	n = NODE(p, 0, MAIN, WORK, LEAF);
	assert_int_equal(n->stats.calls, 100);
	assert_int_equal(n->stats.calls_varied,
			 floor(most * most + seven_of_seven * (100 * 100 + most * most)));
	profile__free(p);
}

/* A sample of a thread of NOBODY's met leaf, which main had called, so many times. */
static struct wire_sample sample_of(uint32_t tid, uint32_t cnt)
{
	return (struct wire_sample){
		.hash = tid,
		.cnt = cnt,
		.spot = {.pid_tgid = (uint64_t)NOBODY << 32 | tid, .start_ns = 3, .comm = "p"},
		.call = WIRE_WAIT_KERNEL,
		.user = {.cnt = 2,
			 .end = WIRE_CALLERS_WHOLE,
			 .frames = {LEAF << 8, (MAIN << 8) + 2}},
	};
}

/* Estimated calls are shared by threads as samples are. */
static void samples_tell_the_thread(void **state)
{
	struct calls_estimate estimates[FUNCTIONS] = {
		[LEAF] = {.calls = 400, .variance = 100, .guessed = true},
	};
	struct profile *p;

	collector__resolve_callers(collector, by_address, NULL);
	collector__set_sample_period(collector, 1000000, false);
	bpf.samples[0] = sample_of(NOBODY, 1);
	bpf.samples[1] = sample_of(NOBODY + 1, 3);
	assert_int_equal(collector__last_samples(collector), 0);
	collector__weigh_samples(collector, 4000000);
	assert_int_equal(collector__set_estimates(collector, estimates, FUNCTIONS), 0);
	p = snapshot(5000);
	assert_int_equal(p->threads_cnt, 2);
	for (int t = 0; t < 2; t++) {
		uint64_t calls = p->threads[t].tid == NOBODY ? 100 : 300;

		assert_int_equal(NODE(p, t, MAIN, LEAF)->stats.calls, calls);
	}
	profile__free(p);
}

#define TEST(f)	    cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TEST_FEW(f) cmocka_unit_test_setup_teardown(f, setup_few_threads, teardown)

static void lines_add_up(void **state)
{
	struct line_usage usage[3];
	uint32_t t = bpf_callstack(NOBODY, NOBODY, "x");

	bpf.line_sites[1] = (struct wire_line_site){.function = MAIN, .line = 1};
	bpf.line_sites[2] = (struct wire_line_site){.function = MAIN, .line = 2};
	bpf.line_sites[3] = (struct wire_line_site){.function = MAIN, .line = 1};
	bpf.line_sites[4] = (struct wire_line_site){.function = MAIN, .line = 9}; /* of no plan */
	bpf.line_counts[1] = (struct wire_line_count){1, 100, 10, 0};
	bpf.line_counts[3 * bpf.info.lines_cap + 1] = (struct wire_line_count){2, 200, 20, 0};
	bpf.line_counts[bpf.info.lines_cap + 3] = (struct wire_line_count){4, 50, 60, 0};
	bpf.line_counts[4] = (struct wire_line_count){8, 8, 0, 0};
	/* main is on line 2 for 30 ns, 5 of which were probes; what it calls is on none. */
	bpf_enter(t, MAIN, 1000);
	at_site(t, 2, 1070);
	bpf.frames[bpf.callstacks[t].top].probe_ns += 5;
	bpf_enter(t, LEAF, 1080);
	assert_int_equal(collector__lines(collector, 1100, usage, 3), 0);
	assert_int_equal(usage[0].hits, 7);
	/* One of the line's sites has less than its probes are thought to have cost. */
	assert_int_equal(usage[0].ns, 350 - 90);
	assert_int_equal(usage[0].error_ns, 0);
	assert_int_equal(usage[1].hits, 0);
	assert_int_equal(usage[1].ns, 25);
	assert_int_equal(usage[2].hits, 0);
	collector__set_costs(collector, &(struct probe_costs){.spread = 0.1}, false);
	assert_int_equal(collector__lines(collector, 1100, usage, 3), 0);
	assert_int_equal(usage[0].error_ns, 9);
	assert_int_equal(usage[2].error_ns, 0);
	/* Raw times are shown as measured. */
	collector__set_costs(collector, &(struct probe_costs){.spread = 0}, true);
	assert_int_equal(collector__lines(collector, 1100, usage, 3), 0);
	assert_int_equal(usage[0].ns, 350);
	assert_int_equal(usage[1].ns, 30);
}

static void lines_of_open_calls_outlive_threads(void **state)
{
	struct line_usage usage;
	uint32_t t;

	bpf.line_sites[1] = (struct wire_line_site){.function = MAIN, .line = 1};
	for (uint32_t i = 0; i < 12; i++) {
		t = bpf_callstack(NOBODY, NOBODY + i, "x");
		bpf_enter(t, MAIN, 100);
		at_site(t, 1, 110);
		bpf_exit(t, 150);
		assert_int_equal(collector__lines(collector, 1000, &usage, 1), 0);
		assert_int_equal(usage.ns, (i + 1) * 40);
		assert_int_equal(collector__poll(collector), 0);
		assert_int_equal(collector__lines(collector, 1000, &usage, 1), 0);
		assert_int_equal(usage.ns, (i + 1) * 40);
	}
	assert_true(bpf.queues[0].cnt > 0);
	/* The figures that were shown are forgotten by thread; lines do not tell threads apart. */
	collector__forget_retired(collector);
	assert_int_equal(collector__lines(collector, 1000, &usage, 1), 0);
	assert_int_equal(usage.ns, 12 * 40);
}

/* Call stacks of two processes take turns, as goroutines of two servers; a third process begins. */
static void processes_are_found_behind_many_call_stacks(void **state)
{
	pid_t pids[4];

	for (uint32_t i = 0; i < 10; i++)
		bpf_callstack(NOBODY + 1 - i % 2, NOBODY + i, "x");
	bpf_callstack(NOBODY + 2, NOBODY + 10, "x");
	assert_int_equal(collector__processes(collector, pids, 4), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pids[i], NOBODY + i);
	/* No more than there is room for. */
	bpf_callstack(NOBODY + 3, NOBODY + 11, "x");
	bpf_callstack(NOBODY + 4, NOBODY + 12, "x");
	assert_int_equal(collector__processes(collector, pids, 4), 4);
	assert_int_equal(pids[3], NOBODY + 3);
}

static void hits_are_forgotten_by_all_threads(void **state)
{
	uint32_t one = bpf_callstack(NOBODY, NOBODY, "x"),
		 two = bpf_callstack(NOBODY, NOBODY + 1, "y");

	bpf.callstacks[one].hit_function = MAIN;
	bpf.callstacks[two].hit_function = WORK;
	collector__forget_hits(collector);
	assert_int_equal(bpf.callstacks[one].hit_function, UINT32_MAX);
	assert_int_equal(bpf.callstacks[two].hit_function, UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(hits_are_forgotten_by_all_threads),
		TEST(processes_are_found_behind_many_call_stacks),
		TEST(nothing_recorded),
		TEST(finished_paths),
		TEST(estimated_calls),
		TEST(calls_before_the_drop_tell_of_the_path),
		TEST(waits_are_not_given_to_unseen_calls),
		TEST(billions_of_estimated_calls),
		TEST(open_calls_have_their_time_so_far),
		TEST(open_calls_of_bursts_end_with_them),
		TEST(what_comes_after_a_burst_is_nobodys_of_it),
		TEST(recursion_shares_no_node),
		TEST(calls_of_the_future_have_no_time),
		TEST(ended_threads_stand_still),
		TEST(what_ends_after_the_run_has_no_more_time),
		TEST(threads_do_not_mix),
		TEST(unready_threads_are_left_out),
		TEST(live_threads_have_their_present_name),
		TEST(losses_add_up),
		TEST(unknown_functions_are_refused),
		TEST(roomy_tables_are_left_alone),
		TEST_FEW(dead_threads_are_given_back),
		{"dead_threads_give_back_seeds", dead_threads_are_given_back, setup_few_seeds,
		 teardown, NULL},
		TEST_FEW(retired_threads_stay_in_the_profile),
		TEST_FEW(entries_are_used_again),
		TEST_FEW(idle_callstacks_are_ended_when_they_are_many),
		TEST_FEW(looking_at_a_callstack_loses_no_return),
		TEST(any_short_table_retires),
		TEST(rings_end),
		TEST(distributions_are_merged),
		TEST(full_distributions),
		TEST(waiting_threads_have_waited_so_far),
		TEST(waiting_is_part_of_the_time),
		TEST(costs_are_taken_out),
		cmocka_unit_test_setup_teardown(usage_covers_what_is_asked, setup_few_functions,
						teardown),
		TEST(usage_adds_up),
		TEST(usage_of_used),
		TEST_FEW(usage_outlives_threads),
		TEST(dropped_functions),
		TEST(dropped_by_cpus),
		TEST(scaled_calls),
		TEST(reset_forgets),
		TEST(functions_seen_after_a_reset),
		cmocka_unit_test_setup_teardown(samples_of_callees_tell_the_path, setup_samples,
						teardown),
		cmocka_unit_test_setup_teardown(samples_tell_the_thread, setup_samples, teardown),
		cmocka_unit_test_setup_teardown(time_that_no_sample_has_met, setup_samples,
						teardown),
		cmocka_unit_test_setup_teardown(accounts_hold_while_paths_are_made, setup_race,
						teardown),
		TEST(lines_add_up),
		TEST_FEW(lines_of_open_calls_outlive_threads),
		TEST_FEW(garbage_in_threads),
		TEST_FEW(garbage_in_frames),
		TEST_FEW(garbage_in_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
