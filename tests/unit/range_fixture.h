/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles whose single calls are known, and parts of their time. */
#ifndef PROFTRACE_TESTS_RANGE_FIXTURE_H
#define PROFTRACE_TESTS_RANGE_FIXTURE_H

#include "calls/tree.h"
#include "timeline_fixture.h"
#include "calls/distribution.h"
#include "timeline/timeline_view.h"
#include "views/range.h"

#define CALLS_MAX 4000

static struct timeline_call calls[CALLS_MAX];
static uint32_t threads[CALLS_MAX];
static size_t calls_cnt;
static struct timeline_array timeline;

static inline int range_teardown(void **state)
{
	calls_cnt = 0;
	return 0;
}

static inline void cut(struct profile *p, uint64_t from_ns, uint64_t to_ns)
{
	const struct time_range range = {from_ns, to_ns};

	assert_int_equal(profile__cut(p, &range), 0);
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(p->accounting.entered,
			 p->accounting.returned + p->accounting.unwound + p->accounting.open);
}

static inline void add_call(uint32_t thread, struct timeline_call call)
{
	assert_true(calls_cnt < CALLS_MAX);
	threads[calls_cnt] = thread;
	calls[calls_cnt++] = call;
}

/* Gives the profile the calls so far. */
static inline void set_timeline(struct profile *p)
{
	timeline_array__init(&timeline, calls, threads, calls_cnt);
	p->timeline = &timeline.base;
}

/* Paths' inclusive figures are sums, always. */
static inline void expect_sums(const struct profile *p)
{
	struct call_stats *sums = calloc(p->nodes_cnt, sizeof(*sums));

	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		sums[p->nodes[i].parent].total_ns += p->nodes[i].stats.total_ns;
		sums[p->nodes[i].parent].raw_total_ns += p->nodes[i].stats.raw_total_ns;
	}
	for (uint32_t i = 1; i < p->nodes_cnt; i++) {
		const struct call_stats *s = &p->nodes[i].stats;

		assert_int_equal(s->total_ns, s->self_ns + sums[i].total_ns);
		assert_int_equal(s->raw_total_ns, s->raw_self_ns + sums[i].raw_total_ns);
		assert_true(s->self_ns <= s->raw_self_ns && s->off_self_ns <= s->self_ns);
	}
	free(sums);
}

#endif
