/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile with figures of all sources. */
#ifndef PROFTRACE_TESTS_ESTIMATE_FIXTURE_H
#define PROFTRACE_TESTS_ESTIMATE_FIXTURE_H

#include "calls/estimate.h"
#include "fixture.h"

#define PERIOD_NS 10000000

/*
 * main is exact; hot, below it, was seen in bursts; memcpy and the kernel's function are known from
 * samples alone. A second thread calls hot as well.
 */
static inline struct profile *estimate_fixture(void)
{
	struct profile *p = fixture_new();
	uint32_t main_ = fixture_function(p, "main"), hot = fixture_function(p, "hot");
	uint32_t copy = fixture_function(p, "memcpy"), n;

	p->sample_period_ns = PERIOD_NS;
	p->accounting.bursts = 4;
	p->accounting.burst_ns = 20000000;
	fixture_thread(p, 1, 1, "one");
	fixture_thread(p, 1, 2, "two");
	n = fixture_node(p, 0, 0, main_, 1, 2000000000, 60000000);
	p->nodes[n].stats.varied_ns = 1940000000;
	n = fixture_node(p, 0, n, hot, 90000, 1940000000, 1900000000);
	p->nodes[n].stats.burst_calls = 80000;
	p->nodes[n].stats.calls_varied = 900 * 900;
	p->nodes[n].stats.samples = 190;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = 1900000000;
	n = fixture_node(p, 0, n, copy, 0, 40000000, 40000000);
	p->nodes[n].stats.samples = 4;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = 40000000;
	n = fixture_node(p, 1, 0, hot, 40000, 1000000000, 1000000000);
	p->nodes[n].stats.burst_calls = 40000;
	p->nodes[n].stats.calls_varied = 1200 * 1200;
	p->nodes[n].stats.samples = 100;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = 1000000000;
	p->accounting.samples_taken = p->accounting.samples_whole = 294;
	fixture_finish(p);
	return p;
}

#endif
