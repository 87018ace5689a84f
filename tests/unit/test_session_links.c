// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks that go from thread to thread, whose way is known as they were made up here. */
#include "calls/tree.h"
#include "range_fixture.h"
#include "calls/values.h"
#include "sessions/session_profile.h"
#include "sessions/session_links.h"
#include "sessions/sessions.h"

#define CLIENTS 3
#define WORKERS 3
#define TASKS	300

enum { SESSION, SUBMIT, RUN, LOOP, OTHER, FUNCTIONS };

struct task {
	uint64_t key;
	uint64_t submit_ns, submitted_ns; /* beginning and end of its submit */
	int session;			  /* that it belongs to; -1: none */
	bool done;
};

/* The expected result. */
struct truth {
	uint32_t thread;
	uint64_t start_ns, end_ns, queue_ns;
	uint32_t parts;
};

static struct task tasks[TASKS + 1];
static struct truth truths[TASKS];
static size_t tasks_cnt, truths_cnt;
static struct call_value values[CALLS_MAX];
static char texts[TASKS + 1][16];
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

static void add(uint32_t thread, uint32_t node, uint64_t enter_ns, uint64_t leave_ns, bool text,
		const uint64_t *key)
{
	struct call_value *v = &values[calls_cnt];

	if (key && text) {
		snprintf(texts[*key], sizeof(texts[*key]), "key %d", (int)*key);
		*v = (struct call_value){.kind = VALUE_TEXT, .text = texts[*key]};
	} else if (key) {
		*v = (struct call_value){.kind = VALUE_UINT, .u = *key};
	}
	add_call(thread, (struct timeline_call){.node = node,
						.enter_ns = enter_ns,
						.leave_ns = leave_ns,
						.values_cnt = key != NULL,
						.values = key ? v : NULL});
}

static struct task *new_task(uint64_t keys, uint64_t submit_ns, uint64_t submitted_ns, int session)
{
	tasks[tasks_cnt] = (struct task){
		.key = tasks_cnt % keys,
		.submit_ns = submit_ns,
		.submitted_ns = submitted_ns,
		.session = session,
	};
	return &tasks[tasks_cnt++];
}

/* Sessions, and calls that are none, with some submits in each. No two begin at the same time. */
static void make_client(struct profile *p, uint32_t thread, uint64_t keys, bool text)
{
	uint64_t at = 16 + thread;

	while (tasks_cnt < TASKS * (thread + 1) / (CLIENTS + 1)) {
		bool is_session = any(4);
		uint32_t node = path(p, thread, 0, is_session ? SESSION : OTHER);
		uint32_t submits = any(3);
		uint64_t end = at + 16 * (2 * submits + 2 + any(20));
		int session = -1;

		if (is_session) {
			session = truths_cnt;
			truths[truths_cnt++] = (struct truth){thread, at, end, 0, 0};
		}
		add(thread, node, at, end, false, NULL);
		for (uint32_t i = 0; i < submits; i++) {
			uint64_t enter = at + 16 * (2 * i + 1), leave = enter + 1 + any(16);
			struct task *t = new_task(keys, enter, leave, session);

			add(thread, path(p, thread, node, SUBMIT), enter, leave, text, &t->key);
		}
		at = end + 16 * (1 + any(3));
	}
}

static struct task *oldest_task(void)
{
	struct task *oldest = NULL;

	for (size_t i = 0; i < tasks_cnt; i++) {
		if (!tasks[i].done && (!oldest || tasks[i].submit_ns < oldest->submit_ns))
			oldest = &tasks[i];
	}
	return oldest;
}

static void run_task(struct profile *p, struct task *t, uint32_t thread, uint64_t enter_ns,
		     uint64_t leave_ns, uint64_t keys, bool text)
{
	uint32_t loop = path(p, thread, 0, LOOP), run = path(p, thread, loop, RUN);
	struct truth *truth = t->session < 0 ? NULL : &truths[t->session];

	add(thread, run, enter_ns, leave_ns, text, &t->key);
	if (truth) {
		truth->parts++;
		truth->queue_ns +=
			enter_ns - (enter_ns >= t->submitted_ns ? t->submitted_ns : t->submit_ns);
		if (truth->end_ns < leave_ns)
			truth->end_ns = leave_ns;
	}
	/* A task can submit another one, which goes on with the same session. */
	if (tasks_cnt < TASKS && leave_ns - enter_ns >= 64 && any(2)) {
		uint64_t at = (enter_ns / 16 + 1) * 16 + thread;
		struct task *child = new_task(keys, at, at + 8, t->session);

		add(thread, path(p, thread, run, SUBMIT), at, at + 8, text, &child->key);
	}
}

/* Tasks begin in the order of their submits, so that those of one key do. */
static void make_workers(struct profile *p, uint64_t keys, bool text)
{
	uint64_t free_ns[WORKERS] = {0}, last_ns = 0;
	struct task *t;

	for (uint32_t i = 0; i < WORKERS; i++)
		add(CLIENTS + i, path(p, CLIENTS + i, 0, LOOP), 0, 1u << 30, false, NULL);
	while ((t = oldest_task())) {
		uint32_t worker = any(WORKERS);
		uint64_t enter_ns = t->submit_ns + 1 + any(100), leave_ns;

		if (enter_ns <= last_ns)
			enter_ns = last_ns + 1;
		if (enter_ns <= free_ns[worker])
			enter_ns = free_ns[worker] + 1;
		leave_ns = enter_ns + any(200);
		last_ns = enter_ns;
		free_ns[worker] = leave_ns;
		t->done = true;
		run_task(p, t, CLIENTS + worker, enter_ns, leave_ns, keys, text);
	}
}

static struct profile *new_profile(void)
{
	static const char *const names[FUNCTIONS] = {"handle", "submit", "run", "loop", "other"};
	struct profile *p = fixture_new();

	calls_cnt = tasks_cnt = truths_cnt = 0;
	for (int i = 0; i < FUNCTIONS; i++)
		fixture_function(p, names[i]);
	p->arguments = calloc(3, sizeof(*p->arguments));
	assert_non_null(p->arguments);
	p->arguments[p->arguments_cnt++] = (struct profile_argument){SUBMIT, "arg2"};
	p->arguments[p->arguments_cnt++] = (struct profile_argument){RUN, "req->id"};
	for (uint32_t i = 0; i < CLIENTS + WORKERS; i++)
		fixture_thread(p, 1, i + 1, "t");
	return p;
}

static struct profile *make_tasks(uint64_t number, uint64_t keys, bool text)
{
	struct profile *p = new_profile();

	seed = number;
	for (uint32_t i = 0; i < CLIENTS; i++)
		make_client(p, i, keys, text);
	make_workers(p, keys, text);
	p->duration_ns = 1u << 31;
	set_timeline(p);
	assert_int_equal(profile__connect(p), 0);
	return p;
}

static const bool sessions_only[FUNCTIONS] = {[SESSION] = true};
static const struct session_link link_tasks = {"submit", "arg2", "run", "req->id"};

static struct sessions *find(const struct profile *p, const struct session_link *link)
{
	const struct session_spec spec = {
		.functions = sessions_only,
		.slowest = TASKS,
		.links = link,
		.links_cnt = 1,
	};
	struct sessions *s;

	assert_int_equal(sessions__find(p, &spec, &s), 0);
	return s;
}

static void expect_joined(const struct profile *p, const struct sessions *s)
{
	const struct session_group *g = &s->groups[0];
	uint64_t parts = 0;

	assert_int_equal(g->count, truths_cnt);
	assert_int_equal(g->slowest_cnt, truths_cnt);
	for (size_t i = 0; i < truths_cnt; i++) {
		const struct truth *t = &truths[i];
		const struct session *found = NULL;
		uint32_t runs = 0;

		for (size_t n = 0; n < g->slowest_cnt; n++) {
			if (g->slowest[n].thread == t->thread &&
			    g->slowest[n].start_ns == t->start_ns)
				found = &g->slowest[n];
		}
		assert_non_null(found);
		assert_int_equal(found->duration_ns, t->end_ns - t->start_ns);
		assert_int_equal(found->queue_ns, t->queue_ns);
		for (size_t n = 0; n < found->calls_cnt; n++)
			runs += s->paths[found->calls[n].path].function == RUN;
		assert_int_equal(runs, t->parts);
		parts += t->parts;
	}
	assert_int_equal(s->links[0].submits, tasks_cnt);
	assert_int_equal(s->links[0].runs, tasks_cnt);
	assert_int_equal(s->links[0].matched, tasks_cnt);
	assert_int_equal(s->links[0].joined, parts);
	assert_int_equal(s->links[0].keyless + s->links[0].forgotten, 0);
	assert_true(parts > 20);
}

/* Keys of their own, few keys again and again, and text. */
static void test_joined(void **state)
{
	for (uint64_t run = 1; run <= 40; run++) {
		struct profile *p = make_tasks(run, run % 2 ? TASKS : 3, run % 4 > 1);
		struct sessions *s = find(p, &link_tasks);

		expect_joined(p, s);
		sessions__free(s);
		profile__free(p);
	}
}

static void expect_tracks(bool goroutines)
{
	const char *name = goroutines ? ", in goroutine 10" : ", in thread ";
	struct profile *p = make_tasks(5, TASKS, false);
	uint32_t tracks = 0, others = 0;
	struct sessions *s;

	for (size_t i = 0; goroutines && i < p->threads_cnt; i++) {
		p->threads[i].goroutine = 100 + i;
		p->threads[i].tid = 0;
	}
	s = find(p, &link_tasks);
	for (size_t i = 0; i < s->groups[0].slowest_cnt; i++) {
		const struct session *session = &s->groups[0].slowest[i];
		bool seen[CLIENTS + WORKERS] = {0};

		for (size_t n = 0; n < session->calls_cnt; n++) {
			tracks += !seen[session->calls[n].thread];
			seen[session->calls[n].thread] = true;
		}
	}
	assert_int_equal(profile__of_sessions(p, s, true), 0);
	assert_int_equal(p->threads_cnt, tracks);
	for (size_t i = 0; i < p->threads_cnt; i++)
		others += strstr(p->threads[i].title, name) != NULL;
	assert_int_equal(tracks - others, truths_cnt);
	assert_int_equal(profile__summarize(p), 0);
	expect_sums(p);
	profile__free(p);
}

/* On a timeline a session is a track on each thread that it was on. */
static void test_tracks(void **state)
{
	expect_tracks(false);
	expect_tracks(true);
}

/* Values that are not there, and functions that are not. */
static void test_in_vain(void **state)
{
	static const struct session_link links[] = {
		{"submit", "arg9", "run", "req->id"},
		{"nothing", "arg2", "run", "req->id"},
		{"submit", "arg2", "handle", "req->id"},
	};
	struct profile *p = make_tasks(7, TASKS, false);
	struct sessions *s;

	for (size_t i = 0; i < 3; i++) {
		s = find(p, &links[i]);
		assert_int_equal(s->groups[0].count, truths_cnt);
		assert_int_equal(s->links[0].matched, 0);
		assert_int_equal(!s->links[0].submit_functions + !s->links[0].run_functions, 1);
		sessions__free(s);
	}
	for (size_t i = 0; i < calls_cnt; i++)
		values[i].kind = VALUE_NONE;
	s = find(p, &link_tasks);
	assert_int_equal(s->links[0].keyless, 2 * tasks_cnt);
	assert_int_equal(s->links[0].matched, 0);
	sessions__free(s);
	profile__free(p);
}

/* Tasks of two addresses, of which some never run: the others keep to their own submits. */
static void test_cancelled(void **state)
{
	struct profile *p = new_profile();
	uint32_t node = path(p, 0, 0, SESSION), submit = path(p, 0, node, SUBMIT);
	uint32_t run = path(p, CLIENTS, 0, RUN);
	size_t runs = 0;
	struct sessions *s;

	for (uint64_t i = 0; i < 60; i++) {
		bool cancelled = i % 7 == 3 || i == 0, queued = i % 5 == 1;
		uint64_t at = 1000 * (i + 1), key = i % 2;

		add(0, node, at, at + 100, false, NULL);
		add(0, submit, at + 10, at + 20, false, &key);
		truths[truths_cnt] = (struct truth){0, at, at + (cancelled ? 100 : 800), 0, 0};
		truths[truths_cnt].queue_ns = cancelled ? 0 : queued ? 480 : 180;
		truths[truths_cnt++].parts = !cancelled;
	}
	for (uint64_t i = 0; i < truths_cnt; i++) {
		uint64_t key = i % 2, at = 1000 * (i + 1);

		if (!truths[i].parts)
			continue;
		add(CLIENTS, run, at + 20 + truths[i].queue_ns, at + 800, false, &key);
		runs++;
	}
	p->duration_ns = 1u << 31;
	set_timeline(p);
	assert_int_equal(profile__connect(p), 0);
	s = find(p, &link_tasks);
	assert_int_equal(s->links[0].joined, runs);
	for (size_t i = 0; i < truths_cnt; i++) {
		const struct session *session = s->groups[0].slowest;

		while (session->start_ns != truths[i].start_ns)
			session++;
		assert_int_equal(session->duration_ns, truths[i].end_ns - truths[i].start_ns);
		assert_int_equal(session->queue_ns, truths[i].queue_ns);
	}
	sessions__free(s);
	profile__free(p);
}

/* Beyond what there is room for, submits and runs are counted and left. */
static void test_room(void **state)
{
	struct profile *p = make_tasks(9, TASKS, false);
	const struct session_spec spec = {
		.functions = sessions_only, .links = &link_tasks, .links_cnt = 1};
	struct session_link_stats stats = {0};
	struct session_parts parts;

	assert_int_equal(session_links__match(p, &spec, 100, &parts, &stats), 0);
	assert_int_equal(stats.forgotten, 2 * tasks_cnt - 100);
	assert_int_equal(stats.submits + stats.runs, 2 * tasks_cnt);
	free(parts.parts);
	free(parts.extents);
	profile__free(p);
}

/* A session whose last task had not ended is not over. */
static void test_open(void **state)
{
	struct profile *p = make_tasks(11, TASKS, false);
	struct sessions *s;
	uint64_t last_ns = 0;

	for (size_t i = 0; i < truths_cnt; i++)
		last_ns = last_ns < truths[i].end_ns ? truths[i].end_ns : last_ns;
	p->duration_ns = last_ns;
	s = find(p, &link_tasks);
	assert_true(s->groups[0].open >= 1);
	assert_int_equal(s->groups[0].open + s->groups[0].count, truths_cnt);
	sessions__free(s);
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_joined, range_teardown),
		cmocka_unit_test_teardown(test_tracks, range_teardown),
		cmocka_unit_test_teardown(test_in_vain, range_teardown),
		cmocka_unit_test_teardown(test_cancelled, range_teardown),
		cmocka_unit_test_teardown(test_room, range_teardown),
		cmocka_unit_test_teardown(test_open, range_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
