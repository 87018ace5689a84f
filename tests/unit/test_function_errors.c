// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Errors of functions' calls, of a load whose truth is known: rates by looks at it, calls of bursts
 * by path in the tables, a profile made of both, and its functions' calls beside the truth. Half of
 * the functions have one path, the others have many, which bursts meet often: then shares of paths
 * are known well, and what is uncertain is how often the function is called on all of them.
 */
#include "tables_fixture.h"

#include <math.h>

#include "calls/profile.h"
#include "calls/tree.h"
#include "collect/collector.h"
#include "drawn.h"
#include "rates/rates.h"

enum { SINGLE, MANY, KINDS };

#define OF_KIND	  12
#define PATHS	  12
#define CALLED	  (KINDS * OF_KIND) /* functions whose calls are estimated */
#define FUNCTIONS (CALLED + PATHS)  /* and the callers that make their paths */
#define RUNS	  40
#define BURSTS	  20
#define WINDOWS	  3 /* of each function */
#define BURST_MS  5
#define WINDOW_MS 10
#define COUNT_NS  100.0
#define RUN_NS	  6e9
#define JITTER	  0.25 /* of how much a look meets */

/* Calls in a ms of the target's own CPU time: 20 to 200. */
static double true_rate(uint32_t f)
{
	return 20 * pow(10, f % OF_KIND / (OF_KIND - 1.));
}

static uint64_t calls_in(uint32_t f, double ms)
{
	double calls = true_rate(f) * ms * (1 + JITTER * normal());

	return calls > 0 ? (uint64_t)(calls + uniform()) : 0;
}

static uint32_t node_of(uint32_t callstack, uint32_t caller, uint32_t function)
{
	uint32_t above = bpf_child(callstack, bpf.callstacks[callstack].root, CALLED + caller);

	return bpf_child(callstack, above, function | WIRE_NODE_BURST);
}

/* Shares calls of a burst among the paths of their function: up to four in a row are on one. */
static void record_paths(uint32_t callstack, uint32_t function, uint64_t calls)
{
	while (calls) {
		uint64_t group = 1 + (uint64_t)(uniform() * 4);
		uint32_t caller = function < OF_KIND ? 0 : (uint32_t)(uniform() * PATHS);

		group = group < calls ? group : calls;
		bpf.nodes[node_of(callstack, caller, function)].calls += group;
		bpf.callstacks[callstack].entered += group;
		bpf.callstacks[callstack].returned += group;
		calls -= group;
	}
}

static void take_looks(struct rates *r, uint32_t callstack)
{
	uint32_t functions[CALLED];
	uint64_t calls[CALLED];

	for (uint32_t f = 0; f < CALLED; f++)
		functions[f] = f;
	for (uint32_t i = 0; i < WINDOWS * CALLED; i++) {
		uint32_t f = i % CALLED;
		uint64_t cnt = calls_in(f, WINDOW_MS);
		double cost_ns = (double)cnt * COUNT_NS;

		rates__add_window(r, &(const struct look_counts){&f, &cnt, 1},
				  &(const struct lengths){WINDOW_MS * 1e6 + cost_ns, 0, 0},
				  cost_ns);
	}
	for (int i = 0; i < BURSTS; i++) {
		for (uint32_t f = 0; f < CALLED; f++) {
			calls[f] = calls_in(f, BURST_MS);
			record_paths(callstack, f, calls[f]);
		}
		assert_int_equal(
			rates__add_burst(r, &(const struct look_counts){functions, calls, CALLED},
					 false),
			0);
	}
}

static void estimate(const struct rates *r, struct calls_estimate *out)
{
	struct lengths spans[CALLED];
	struct rate rates[CALLED];

	for (int f = 0; f < CALLED; f++)
		spans[f] = (struct lengths){.cpu_ns = RUN_NS};
	assert_int_equal(rates__estimate(r, spans, rates), 0);
	for (int f = 0; f < CALLED; f++) {
		double calls = rates[f].per_ns * RUN_NS;

		out[f] = (struct calls_estimate){.calls = calls,
						 .variance = calls * calls * rates[f].variance};
	}
}

/* A run's profile; its estimates are in *out, by function. The caller frees both. */
static struct profile *run(struct calls_estimate *out)
{
	struct collector *collector;
	struct profile *p;
	struct rates *r;
	uint32_t callstack;

	tables_make(4, 16, 16384);
	assert_int_equal(collector__new(&bpf.info, FUNCTIONS, &collector), 0);
	assert_int_equal(rates__new(&r), 0);
	for (uint32_t f = 0; f < CALLED; f++)
		assert_int_equal(rates__add(r, true_rate(f) / 1e6), 0);
	callstack = bpf_callstack(5000000, 5000001, "prog");
	take_looks(r, callstack);
	estimate(r, out);
	assert_int_equal(collector__set_estimates(collector, out, CALLED), 0);
	assert_int_equal(collector__snapshot(collector, 1000, &p), 0);
	p->functions = calloc(FUNCTIONS, sizeof(*p->functions));
	assert_non_null(p->functions);
	p->functions_cnt = FUNCTIONS;
	assert_int_equal(profile__connect(p), 0);
	assert_int_equal(profile__summarize(p), 0);
	rates__free(r);
	collector__free(collector);
	tables_free();
	return p;
}

/* The true number of calls is within two errors for nine tenths of the functions at least, whether
 * they have one path or many; and the errors are no larger than what rates say. */
static void functions_are_within_two_errors(void **state)
{
	int within[KINDS] = {0}, by_paths[KINDS] = {0};

	for (uint32_t i = 1; i <= RUNS; i++) {
		struct calls_estimate estimates[CALLED];
		double varied[CALLED] = {0};
		struct profile *p;

		seed = i;
		p = run(estimates);
		for (size_t n = 1; n < p->nodes_cnt; n++) {
			if (p->nodes[n].function < CALLED)
				varied[p->nodes[n].function] += p->nodes[n].stats.calls_varied;
		}
		for (uint32_t f = 0; f < CALLED; f++) {
			const struct call_stats *s = &p->functions[f].stats;
			double off = fabs((double)s->calls - true_rate(f) * RUN_NS / 1e6);

			assert_true(s->calls_varied == floor(estimates[f].variance));
			within[f / OF_KIND] += off <= 2 * sqrt(s->calls_varied);
			by_paths[f / OF_KIND] += off <= 2 * sqrt(varied[f]);
		}
		profile__free(p);
	}
	for (int kind = 0; kind < KINDS; kind++) {
		print_message("%s: %d of %d within two errors; by sums of paths' errors %d\n",
			      kind == SINGLE ? "one path" : "many paths", within[kind],
			      RUNS * OF_KIND, by_paths[kind]);
		assert_true(within[kind] >= 0.9 * RUNS * OF_KIND);
	}
	/* Else the load does not tell the one from the other. */
	assert_true(by_paths[MANY] < 0.9 * RUNS * OF_KIND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_within_two_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
