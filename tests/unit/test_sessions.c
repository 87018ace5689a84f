// SPDX-License-Identifier: GPL-2.0-or-later
/* Sessions of random runs, against what a look at each call says, and tasks whose way is known. */
#include "calls/tree.h"
#include "range_fixture.h"
#include "calls/values.h"
#include "sessions/session_profile.h"
#include "sessions/sessions.h"

#define FUNCTIONS 5
#define THREADS	  3
#define END	  6000

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
	return fixture_node(p, thread, parent, function, 1, 0, 0);
}

static void make_calls(struct profile *p, uint32_t thread, uint32_t parent, uint64_t from,
		       uint64_t to, int depth)
{
	while (from < to && depth) {
		uint64_t enter = from + any(to - from), leave = enter + any(to - enter + 1);
		uint32_t node = path(p, thread, parent, any(FUNCTIONS));

		if (leave - enter > (to - from) / 4)
			leave = enter + (leave - enter) / 4;
		add_call(thread, (struct timeline_call){.node = node,
							.enter_ns = enter,
							.leave_ns = leave,
							.off_ns = any(leave - enter + 1)});
		make_calls(p, thread, node, enter, leave, depth - 1);
		from = leave + any(3);
	}
}

static struct profile *make_random(uint64_t number)
{
	static const char *const names[FUNCTIONS] = {"a", "b", "c", "d", "e"};
	struct profile *p = fixture_new();

	seed = number;
	calls_cnt = 0;
	for (int i = 0; i < FUNCTIONS; i++)
		fixture_function(p, names[i]);
	for (uint32_t i = 0; i < THREADS; i++) {
		fixture_thread(p, 1, i + 1, "t");
		make_calls(p, i, 0, 1, END, 5);
	}
	p->duration_ns = END + any(2) * 1000;
	set_timeline(p);
	assert_int_equal(profile__connect(p), 0);
	return p;
}

/* The role of each call, found by looking at all others. */
struct naive {
	size_t call;
	uint64_t duration_ns;
	bool kept;
};

static bool matches(const struct profile *p, size_t call, const bool *functions)
{
	return functions[p->nodes[calls[call].node].function];
}

/* The call's callers are its path; each is the last call of that path that began before it. */
static bool is_session(const struct profile *p, size_t call, const bool *functions)
{
	for (uint32_t n = p->nodes[calls[call].node].parent; n; n = p->nodes[n].parent) {
		if (functions[p->nodes[n].function])
			return false;
	}
	return matches(p, call, functions);
}

/* The outermost call around `call`, or itself, that is a session; or calls_cnt. */
static size_t session_of_call(const struct profile *p, size_t call, const bool *functions)
{
	size_t i = call + 1;
	uint32_t node = calls[call].node;

	while (i--) {
		if (threads[i] != threads[call])
			break;
		if (calls[i].node == node) {
			if (is_session(p, i, functions))
				return i;
			node = p->nodes[node].parent;
		}
	}
	return calls_cnt;
}

static int by_duration(const void *a, const void *b)
{
	const struct naive *x = a, *y = b;

	if (x->duration_ns != y->duration_ns)
		return x->duration_ns > y->duration_ns ? -1 : 1;
	return x->call < y->call ? -1 : 1;
}

/* All ended sessions of a function, the slowest first. */
static size_t naive_sessions(const struct profile *p, const bool *functions, uint32_t function,
			     struct naive *out)
{
	size_t cnt = 0;

	for (size_t i = 0; i < calls_cnt; i++) {
		if (p->nodes[calls[i].node].function == function && is_session(p, i, functions) &&
		    calls[i].leave_ns < p->duration_ns)
			out[cnt++] =
				(struct naive){i, calls[i].leave_ns - calls[i].enter_ns, false};
	}
	qsort(out, cnt, sizeof(*out), by_duration);
	return cnt;
}

static void expect_session(const struct profile *p, const struct sessions *s,
			   const struct session *session, size_t call, const bool *functions)
{
	size_t cnt = 0;

	assert_int_equal(session->thread, threads[call]);
	assert_int_equal(session->start_ns, calls[call].enter_ns);
	assert_int_equal(session->duration_ns, calls[call].leave_ns - calls[call].enter_ns);
	for (size_t i = 0; i < calls_cnt; i++) {
		const struct session_call *c = &session->calls[cnt];

		if (session_of_call(p, i, functions) != call)
			continue;
		assert_true(cnt++ < session->calls_cnt);
		assert_int_equal(c->enter_ns, calls[i].enter_ns);
		assert_int_equal(c->leave_ns, calls[i].leave_ns);
		assert_int_equal(c->thread, threads[i]);
		assert_int_equal(s->paths[c->path].function, p->nodes[calls[i].node].function);
	}
	assert_int_equal(cnt, session->calls_cnt);
	assert_int_equal(session->calls_missing, 0);
}

static bool same_path(const struct profile *p, const struct sessions *s, uint32_t path,
		      uint32_t node, uint32_t session_node)
{
	for (;; path = s->paths[path].parent, node = p->nodes[node].parent) {
		if (!path || s->paths[path].function != p->nodes[node].function)
			return false;
		if (node == session_node)
			return !s->paths[path].parent;
	}
}

static bool is_slow(const struct session_group *g, uint64_t duration_ns)
{
	return duration_ns > g->p90_ns || duration_ns == g->max_ns;
}

/* Each path's own time in slow and in usual sessions, nanosecond by nanosecond. */
static void expect_paths(const struct profile *p, const struct sessions *s,
			 const struct session_group *g, const struct naive *naive, size_t cnt,
			 const bool *functions)
{
	uint64_t slow = 0, usual = 0, *own = calloc(calls_cnt + 1, sizeof(*own));

	for (size_t i = 0; i < calls_cnt; i++) {
		own[i] += calls[i].leave_ns - calls[i].enter_ns;
		for (size_t n = i; n--;) {
			if (threads[n] == threads[i] &&
			    calls[n].node == p->nodes[calls[i].node].parent) {
				own[n] -= calls[i].leave_ns - calls[i].enter_ns;
				break;
			}
		}
	}
	for (uint32_t path = 1; path < s->paths_cnt; path++) {
		uint64_t slow_ns = 0, usual_ns = 0;
		uint32_t root = path;

		while (s->paths[root].parent)
			root = s->paths[root].parent;
		if (root != g->path)
			continue;
		for (size_t i = 0; i < calls_cnt; i++) {
			size_t session = session_of_call(p, i, functions), n = 0;

			while (n < cnt && naive[n].call != session)
				n++;
			if (n == cnt || !same_path(p, s, path, calls[i].node, calls[session].node))
				continue;
			slow_ns += is_slow(g, naive[n].duration_ns) ? own[i] : 0;
			usual_ns += naive[n].duration_ns <= g->p50_ns ? own[i] : 0;
		}
		assert_int_equal(s->paths[path].slow_ns, slow_ns);
		assert_int_equal(s->paths[path].usual_ns, usual_ns);
		assert_true(s->paths[path].slow_off_ns <= slow_ns);
		slow += slow_ns;
		usual += usual_ns;
	}
	assert_int_equal(slow, g->slow_total_ns);
	assert_int_equal(usual, g->usual_total_ns);
	free(own);
}

static void expect_group(const struct profile *p, const struct sessions *s,
			 const struct session_group *g, const struct session_spec *spec)
{
	static struct naive naive[CALLS_MAX];
	size_t cnt = naive_sessions(p, spec->functions, g->function, naive), kept = 0, over = 0;

	assert_int_equal(g->count, cnt);
	if (!cnt)
		return;
	assert_int_equal(g->max_ns, naive[0].duration_ns);
	assert_int_equal(g->min_ns, naive[cnt - 1].duration_ns);
	/* From the slow end: so many take longer than a quantile, at most. */
	assert_int_equal(g->p50_ns, naive[cnt - (cnt * 50 + 99) / 100].duration_ns);
	assert_int_equal(g->p90_ns, naive[cnt - (cnt * 90 + 99) / 100].duration_ns);
	assert_int_equal(g->p99_ns, naive[cnt - (cnt * 99 + 99) / 100].duration_ns);
	for (size_t i = 0; i < cnt; i++) {
		bool is_over = spec->over_ns && naive[i].duration_ns > spec->over_ns;

		over += is_over;
		if (i >= spec->slowest && !is_over)
			continue;
		assert_true(kept < g->slowest_cnt);
		naive[i].kept = true;
		expect_session(p, s, &g->slowest[kept++], naive[i].call, spec->functions);
	}
	assert_int_equal(kept, g->slowest_cnt);
	assert_int_equal(over, g->over);
	assert_true(g->sample_cnt <= spec->slowest);
	for (size_t i = 0; i < g->sample_cnt; i++) {
		size_t n = 0;

		while (n < cnt && (calls[naive[n].call].enter_ns != g->sample[i].start_ns ||
				   threads[naive[n].call] != g->sample[i].thread || naive[n].kept))
			n++;
		assert_true(n < cnt && naive[n].duration_ns <= g->p50_ns);
		naive[n].kept = true;
		expect_session(p, s, &g->sample[i], naive[n].call, spec->functions);
	}
	expect_paths(p, s, g, naive, cnt, spec->functions);
}

static void test_random(void **state)
{
	uint64_t sessions_cnt = 0, sample_cnt = 0;

	for (uint64_t run = 1; run <= 60; run++) {
		struct profile *p = make_random(run);
		const bool functions[FUNCTIONS] = {any(2), true, any(2), false, false};
		const struct session_spec spec = {
			.functions = functions,
			.slowest = 1 + any(6),
			.over_ns = any(2) ? 100 : 0,
		};
		struct sessions *s;

		assert_int_equal(sessions__find(p, &spec, &s), 0);
		for (size_t i = 0; i < s->groups_cnt; i++) {
			expect_group(p, s, &s->groups[i], &spec);
			sessions_cnt += s->groups[i].count;
			sample_cnt += s->groups[i].sample_cnt;
		}
		sessions__free(s);
		profile__free(p);
	}
	assert_true(sessions_cnt > 1000 && sample_cnt > 100);
}

/* A profile of the slowest has their calls, and figures that hold together. */
static void test_profile(void **state)
{
	for (uint64_t run = 1; run <= 30; run++) {
		struct profile *p = make_random(run);
		const bool functions[FUNCTIONS] = {true, true};
		const struct session_spec spec = {.functions = functions, .slowest = 3};
		uint64_t calls_seen = 0, expected = 0;
		struct timeline_call call;
		struct sessions *s;

		assert_int_equal(sessions__find(p, &spec, &s), 0);
		for (size_t i = 0; i < s->groups_cnt; i++) {
			for (size_t n = 0; n < s->groups[i].slowest_cnt; n++)
				expected += s->groups[i].slowest[n].calls_cnt;
		}
		assert_int_equal(profile__of_sessions(p, s, false), 0);
		assert_int_equal(profile__summarize(p), 0);
		expect_sums(p);
		for (uint32_t i = 0; i < p->threads_cnt; i++) {
			uint64_t last_ns = 0;

			assert_memory_equal(p->threads[i].title, "session ", 8);
			assert_int_equal(p->timeline->rewind(p->timeline, i), 0);
			while (p->timeline->next(p->timeline, i, &call)) {
				assert_int_equal(p->nodes[call.node].thread, i);
				assert_true(last_ns <= call.enter_ns);
				last_ns = call.enter_ns;
				calls_seen++;
			}
		}
		assert_int_equal(calls_seen, expected);
		assert_int_equal(p->accounting.entered, expected);
		profile__free(p);
	}
}

/* Calls that had not ended, and one that had begun before a range, are no sessions. */
static void test_cut_off(void **state)
{
	const bool functions[1] = {true};
	struct session_spec spec = {.functions = functions, .slowest = 9, .cut_at_start = true};
	struct profile *p = fixture_new();
	struct sessions *s;
	uint32_t node;

	fixture_function(p, "a");
	fixture_thread(p, 1, 1, "t");
	node = fixture_node(p, 0, 0, 0, 4, 0, 0);
	add_call(0, (struct timeline_call){.node = node, .enter_ns = 0, .leave_ns = 10});
	add_call(0, (struct timeline_call){.node = node, .enter_ns = 20, .leave_ns = 50});
	/* The thread of this call was ended with its process before the run ended. */
	add_call(0, (struct timeline_call){
			    .node = node, .enter_ns = 52, .leave_ns = 58, .open = true});
	add_call(0, (struct timeline_call){.node = node, .enter_ns = 60, .leave_ns = 100});
	p->duration_ns = 100;
	set_timeline(p);
	assert_int_equal(profile__connect(p), 0);
	assert_int_equal(sessions__find(p, &spec, &s), 0);
	assert_int_equal(s->groups[0].count, 1);
	assert_int_equal(s->groups[0].open, 3);
	assert_int_equal(s->groups[0].max_ns, 30);
	sessions__free(s);
	spec.cut_at_start = false;
	assert_int_equal(sessions__find(p, &spec, &s), 0);
	assert_int_equal(s->groups[0].count, 2);
	sessions__free(s);
	profile__free(p);
}

/* A file may say that calls took centuries: sums stay what they are. */
static void test_centuries(void **state)
{
	const bool functions[1] = {true};
	const struct session_spec spec = {.functions = functions, .slowest = 9};
	struct profile *p = fixture_new();
	struct sessions *s;

	fixture_function(p, "a");
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t t = fixture_thread(p, 1, i + 1, "t");

		add_call(t, (struct timeline_call){.node = fixture_node(p, t, 0, 0, 1, 0, 0),
						   .enter_ns = 1,
						   .leave_ns = 1 + (1ull << 61)});
	}
	p->duration_ns = INT64_MAX;
	set_timeline(p);
	assert_int_equal(profile__connect(p), 0);
	assert_int_equal(sessions__find(p, &spec, &s), 0);
	assert_int_equal(s->groups[0].slowest_cnt, 4);
	assert_int_equal(profile__of_sessions(p, s, true), 0);
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(p->threads_cnt, 1);
	assert_int_equal(p->functions[0].stats.total_ns, 1ull << 61);
	profile__free(p);
}

/* Without calls there are no sessions, and no profile of them either. */
static void test_none(void **state)
{
	const bool functions[FUNCTIONS] = {true, true};
	const struct session_spec spec = {.functions = functions, .slowest = 3};
	struct profile *p = make_random(1);
	struct sessions *s;

	calls_cnt = 0;
	set_timeline(p);
	assert_int_equal(sessions__find(p, &spec, &s), 0);
	assert_int_equal(s->groups[0].count, 0);
	assert_int_equal(profile__of_sessions(p, s, true), 0);
	assert_int_equal(profile__summarize(p), 0);
	assert_int_equal(p->threads_cnt, 0);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_random, range_teardown),
		cmocka_unit_test_teardown(test_profile, range_teardown),
		cmocka_unit_test_teardown(test_cut_off, range_teardown),
		cmocka_unit_test_teardown(test_centuries, range_teardown),
		cmocka_unit_test_teardown(test_none, range_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
