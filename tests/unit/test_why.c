// SPDX-License-Identifier: GPL-2.0-or-later
/* Why slow sessions are slow: sums of waits, the sentence, and critical paths, of known waits. */
#include "calls/session_data.h"
#include "range_fixture.h"
#include "sessions/sessions.h"
#include "sink/why/session_ranks.h"
#include "sink/why/session_why.h"
#include "sink/why/why_part.h"
#include "sink/text/why_text.h"
#include "timeline/waits.h"

enum { HANDLE, WORK, FLUSH };

static const bool handle_only[3] = {true, false, false};
static const struct recorded_path paths[] = {{0, HANDLE, 1}, {1, WORK, 1}, {0, FLUSH, 2}};

static const char expected_sentence[] =
	"p99 sessions take 8.00 us longer: 7.20 us waiting for lock log_lock, held by `flush` in "
	"thread writer, which spent 6.90 us sleeping; 500 ns more in `handle`; 300 ns elsewhere";

static const char expected_text[] =
	"p99 sessions take 8.00 us longer: 7.20 us waiting for lock log_lock, held by `flush` in "
	"thread writer, which spent 6.90 us sleeping; 500 ns more in `handle`; 300 ns elsewhere\n"
	"\n"
	"of which, in the mean of p99 sessions (1) and of the faster half (9)\n"
	"    MORE      P99    USUAL  WHAT\n"
	"+7.20 us  7.20 us     0 ns  waiting for lock log_lock, held by `flush` in thread writer, "
	"which spent 6.90 us sleeping\n"
	" +500 ns  1.00 us   500 ns  more in `handle`\n"
	" +300 ns   300 ns     0 ns  waiting for a CPU\n"
	"    0 ns   500 ns   500 ns  more in `work`\n"
	"\n"
	"the slowest of handle, each with the paths whose own time was most\n"
	"   TOOK   QUEUED     AFTER  THREAD\n"
	"            SELF   SHARE  WAITING  PATH\n"
	"9.00 us     0 ns   40.0 us  srv-7/8\n"
	"         8.00 us   88.9%  7.50 us  handle > work\n"
	"         1.00 us   11.1%     0 ns  handle\n"
	"            TIME   SHARE           CRITICAL PATH\n"
	"         1.00 us   11.1%           handle\n"
	"          500 ns    5.6%           work\n"
	"          200 ns    2.2%           flush in thread writer, which is waited for: lock "
	"log_lock\n"
	"         6.90 us   76.7%           waiting for timer in flush in thread writer\n"
	"          100 ns    1.1%           waiting for a CPU in flush in thread writer\n"
	"          300 ns    3.3%           waiting for a CPU in work\n"
	"\n";

static void add_wait(struct profile *p, struct recorded_wait wait, uint32_t thread)
{
	if (!p->waits)
		p->waits = calloc(1, sizeof(*p->waits));
	assert_non_null(p->waits);
	assert_int_equal(waits__add(p->waits, &wait, thread), 0);
}

/* Waits of the fifth call of work: from 500 ns on it waits for the lock that flush() holds while it
 * sleeps, is woken at 7,700 and goes on at 8,000. */
static void add_waits(struct profile *p)
{
	const uint64_t at = 40000;

	add_wait(p,
		 (struct recorded_wait){.begin_ns = at + 600,
					.took_ns = 7000,
					.ready_ns = 100,
					.reason = WAIT_TIMER,
					.at = {7, 9, 2, 3, "writer"}},
		 2);
	add_wait(p,
		 (struct recorded_wait){.begin_ns = at + 500,
					.took_ns = 7500,
					.ready_ns = 300,
					.reason = WAIT_LOCK,
					.kind = WAIT_OBJECT_LOCK,
					.object = 0x1000,
					.object_name = "log_lock",
					.at = {7, 8, 1, 2, "srv"},
					.waker = {7, 9, 2, 3, "writer"}},
		 1);
	assert_int_equal(waits__settle(p->waits, paths, 3), 0);
}

/* Ten calls of handle of 1 us, half of it in work; the fifth takes 9 us, work's 8. */
static struct profile *make(void)
{
	struct profile *p = fixture_new();
	uint32_t handle = fixture_function(p, "handle"), work = fixture_function(p, "work");
	uint32_t t = fixture_thread(p, 7, 8, "srv"), outer, inner;

	fixture_function(p, "flush");
	fixture_thread(p, 7, 9, "writer");
	outer = fixture_node(p, t, 0, handle, 10, 18000, 5500);
	inner = fixture_node(p, t, outer, work, 10, 12500, 12500);
	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = i * 10000, more = i == 4 ? 7500 : 0;

		add_call(t, (struct timeline_call){.node = outer,
						   .enter_ns = at,
						   .leave_ns = at + 1000 + more + (more ? 500 : 0),
						   .off_ns = more});
		add_call(t, (struct timeline_call){.node = inner,
						   .enter_ns = at + 200,
						   .leave_ns = at + 700 + more,
						   .off_ns = more});
	}
	p->duration_ns = 1000000000;
	fixture_finish(p);
	set_timeline(p);
	return p;
}

static struct sessions *find(const struct profile *p)
{
	const struct session_spec spec = {.functions = handle_only, .slowest = 1};
	struct sessions *s;

	assert_int_equal(sessions__find(p, &spec, &s), 0);
	return s;
}

static void test_sentence(void **state)
{
	struct profile *p = make();
	char sentence[WHY_SENTENCE];
	struct session_ranks ranks;
	struct session_why why;
	double more_ns = 0;

	add_waits(p);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	assert_string_equal(session_why__sentence(p, &why, sentence), expected_sentence);
	for (size_t i = 0; i < why.cnt; i++)
		more_ns += why.parts[i].more_ns;
	assert_true(more_ns == 8000 && why.longer_ns == 8000);
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
}

/* A goroutine that is off its thread waits for nothing that the kernel knows. */
static void test_parked(void **state)
{
	struct profile *p = make();
	char sentence[WHY_SENTENCE];
	struct session_ranks ranks;
	struct session_why why;

	p->threads[0].goroutine = 5;
	add_wait(p,
		 (struct recorded_wait){.begin_ns = 40600,
					.took_ns = 7000,
					.reason = WAIT_TIMER,
					.at = {7, 9, 2, 3, "writer"}},
		 2);
	assert_int_equal(waits__settle(p->waits, paths, 3), 0);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	assert_string_equal(session_why__sentence(p, &why, sentence),
			    "p99 sessions take 8.00 us longer: 7.50 us parked, as a goroutine, in "
			    "`handle › work`; 500 ns more in `handle`");
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
}

static void expect_file(uint32_t kind, const char *name, const char *words)
{
	struct profile *p = make();
	char sentence[WHY_SENTENCE], expected[WHY_SENTENCE];
	struct session_ranks ranks;
	struct session_why why;

	add_wait(p,
		 (struct recorded_wait){.begin_ns = 40500,
					.took_ns = 7500,
					.ready_ns = 300,
					.reason = WAIT_POLL,
					.kind = kind,
					.object = 4,
					.object_name = name,
					.at = {7, 8, 1, 2, "srv"}},
		 1);
	assert_int_equal(waits__settle(p->waits, paths, 3), 0);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	snprintf(expected, sizeof(expected),
		 "p99 sessions take 8.00 us longer: 7.20 us %s in `work`; 500 ns more in `handle`; "
		 "300 ns elsewhere",
		 words);
	assert_string_equal(session_why__sentence(p, &why, sentence), expected);
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
	range_teardown(NULL);
}

/* Of several files the one that was ready is told. */
static void test_files(void **state)
{
	expect_file(WAIT_OBJECT_PEER, "tcp 10.0.0.1:80", "waiting for a reply of tcp 10.0.0.1:80");
	expect_file(WAIT_OBJECT_PEER, "clients at tcp port 80",
		    "waiting for one of several files (clients at tcp port 80)");
	expect_file(WAIT_OBJECT_FILE, "eventfd", "waiting for one of several files (eventfd)");
	expect_file(WAIT_OBJECT_FILE, NULL, "waiting for one of several files (descriptor 4)");
	expect_file(WAIT_OBJECT_NONE, NULL, "waiting for one of several files");
}

/* A descriptor may be another file later on, and a peer has many connections. */
static void test_objects(void **state)
{
	assert_int_equal(wait_object__compare(7, "a", 8, "a"), 0);
	assert_true(wait_object__compare(7, "a", 7, "b") < 0);
	assert_true(wait_object__compare(7, NULL, 7, "b") < 0);
	assert_true(wait_object__compare(7, "b", 7, NULL) > 0);
	assert_int_equal(wait_object__compare(7, NULL, 7, NULL), 0);
	assert_true(wait_object__compare(7, NULL, 8, NULL) < 0);
}

/* Without waits, as in recordings of old, there is no such sentence. */
static void test_without_waits(void **state)
{
	struct profile *p = make();
	struct session_ranks ranks;
	struct session_why why;

	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	assert_int_equal(why.cnt, 0);
	assert_int_equal(p->sessions->groups[0].slowest[0].chain_cnt, 0);
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
}

static void test_text(void **state)
{
	const struct sink_options opts = {0};
	struct profile *p = make();
	char *text, *begin, *end;

	add_waits(p);
	p->sessions = find(p);
	text = fixture_write(&sink_flat, p, &opts);
	/* The first line says what to mend, and stands above its table once more. */
	assert_int_equal(strncmp(text, expected_sentence, strlen(expected_sentence)), 0);
	begin = strstr(text + strlen(expected_sentence), "p99 sessions");
	end = begin ? strstr(begin, "what makes") : NULL;
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(begin, expected_text);
	free(text);
	profile__free(p);
}

/* The parts follow each other, from the session's begin to its end. */
static void expect_chain(const struct session *s)
{
	uint64_t at_ns = s->start_ns;

	for (size_t i = 0; i < s->chain_cnt; i++) {
		assert_int_equal(s->chain[i].from_ns, at_ns);
		assert_true(s->chain[i].to_ns > at_ns);
		at_ns = s->chain[i].to_ns;
	}
	assert_int_equal(at_ns, s->start_ns + s->duration_ns);
}

static void test_chain(void **state)
{
	struct profile *p = make();
	const struct session *s;

	add_waits(p);
	p->sessions = find(p);
	s = &p->sessions->groups[0].slowest[0];
	expect_chain(s);
	assert_int_equal(s->chain_cnt, 9);
	assert_int_equal(s->chain[0].function, HANDLE);
	assert_int_equal(s->chain[1].function, WORK);
	assert_int_equal(s->chain[3].tid, 9);
	assert_int_equal(s->chain[3].reason, WAIT_TIMER);
	assert_int_equal(s->chain[3].depth, 1);
	assert_int_equal(s->chain[7].function, WORK);
	assert_int_equal(s->chain[8].function, HANDLE);
	profile__free(p);
}

/* A session waits 7.5 us for log_lock, until the writer wakes it from that path. */
static void add_lock_wait(struct profile *p, uint32_t path)
{
	add_wait(p,
		 (struct recorded_wait){.begin_ns = 40500,
					.took_ns = 7500,
					.ready_ns = 300,
					.reason = WAIT_LOCK,
					.kind = WAIT_OBJECT_LOCK,
					.object = 0x1000,
					.object_name = "log_lock",
					.at = {7, 8, 1, 2, "srv"},
					.waker = {7, 9, 2, path, "writer"}},
		 1);
}

/* The calls of the writer meanwhile, and its path when it wakes the waiter. */
struct writer {
	bool loops, jumps; /* flush() is called by loop(); it can leave by a jump */
	uint32_t path;	   /* of `writer_paths`, from 1 on */
	const char *waker; /* as the sentence tells it, */
	const char *by;	   /* and -f locks */
};

enum { LOOP = FLUSH + 1, BURN };

static const struct recorded_path writer_paths[] = {
	{0, HANDLE, 1}, {1, WORK, 1}, {0, LOOP, 2}, {3, FLUSH, 2}};

/* The writer burns in flush(), which has ended right before the waiter is woken. */
static struct profile *make_writer(const struct writer *w)
{
	struct profile *p = make();
	uint32_t loop = fixture_function(p, "loop"), burn = fixture_function(p, "burn"), at = 0;

	p->functions[FLUSH].leaves_by_jump = w->jumps;
	if (w->loops) {
		at = fixture_node(p, 1, 0, loop, 1, 90000, 1000);
		add_call(1, (struct timeline_call){at, 100, 90000});
	}
	at = fixture_node(p, 1, at, FLUSH, 1, 7290, 290);
	add_call(1, (struct timeline_call){at, 40400, 47690});
	at = fixture_node(p, 1, at, burn, 1, 7000, 7000);
	add_call(1, (struct timeline_call){at, 40450, 47450});
	fixture_finish(p);
	set_timeline(p);
	add_lock_wait(p, w->path);
	assert_int_equal(waits__settle(p->waits, writer_paths, 4), 0);
	p->sessions = find(p);
	return p;
}

/* A function that ends with a jump to the unlock function has ended when that one wakes the waiter,
 * and so has a thread's function when the thread's end does. */
static void test_just_ended(void **state)
{
	static const struct writer writers[] = {
		{.loops = true,
		 .jumps = true,
		 .path = 3,
		 .waker = "`flush` in thread writer",
		 .by = "loop › flush"},
		/* A call may have done anything before its caller woke the waiter. */
		{.loops = true, .path = 3, .waker = "`loop` in thread writer", .by = "loop"},
		{.waker = "`flush` in thread writer", .by = "flush"},
		/* Calls were lost: the path is not that of the calls that there are. */
		{.loops = true,
		 .jumps = true,
		 .path = 4,
		 .waker = "`flush` in thread writer",
		 .by = "loop › flush"},
		{.loops = true,
		 .jumps = true,
		 .waker = "thread writer",
		 .by = "outside of traced calls"},
	};

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		struct profile *p = make_writer(&writers[i]);
		char sentence[WHY_SENTENCE], expected[WHY_SENTENCE], *locks;
		const struct sink_options opts = {0};
		struct session_ranks ranks;
		struct session_why why;

		assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
		assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
		snprintf(expected, sizeof(expected), "waiting for lock log_lock, held by %s",
			 writers[i].waker);
		assert_non_null(strstr(session_why__sentence(p, &why, sentence), expected));
		snprintf(expected, sizeof(expected), "released by  writer: %s\n", writers[i].by);
		locks = fixture_write(&sink_locks, p, &opts);
		assert_non_null(strstr(locks, expected));
		free(locks);
		session_why__fini(&why);
		session_ranks__fini(&ranks);
		profile__free(p);
		range_teardown(NULL);
	}
}

/* Where another thread runs, each of its calls is a part: those that are long on their own, short
 * ones as part of what is beside them. */
static void test_chain_of_others(void **state)
{
	const struct writer writer = {.loops = true, .jumps = true, .path = 3};
	static const struct chain_part expected[] = {
		{.from_ns = 40000, .to_ns = 40200, .function = HANDLE},
		{.from_ns = 40200, .to_ns = 40500, .function = WORK},
		{.from_ns = 40500, .to_ns = 47450, .function = BURN, .depth = 1},
		{.from_ns = 47450, .to_ns = 47690, .function = FLUSH, .depth = 1},
		{.from_ns = 47690, .to_ns = 47700, .function = LOOP, .depth = 1},
		{.from_ns = 47700, .to_ns = 48000, .function = WORK},
		{.from_ns = 48000, .to_ns = 48200, .function = WORK},
		{.from_ns = 48200, .to_ns = 49000, .function = HANDLE},
	};
	struct profile *p = make_writer(&writer);
	const struct session *s = &p->sessions->groups[0].slowest[0];

	expect_chain(s);
	assert_int_equal(s->chain_cnt, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < s->chain_cnt; i++) {
		assert_int_equal(s->chain[i].from_ns, expected[i].from_ns);
		assert_int_equal(s->chain[i].to_ns, expected[i].to_ns);
		assert_int_equal(s->chain[i].function, expected[i].function);
		assert_int_equal(s->chain[i].depth, expected[i].depth);
	}
	profile__free(p);
}

/* The writer waits in turn for db_lock, which thread janitor holds while it burns, or sleeps: that
 * is told, as most of the wait for log_lock is that. */
static void expect_behind(bool sleeps, const char *does)
{
	static const struct recorded_path behind_paths[] = {
		{0, HANDLE, 1}, {1, WORK, 1}, {0, FLUSH, 2}, {0, LOOP, 3}, {4, BURN, 3}};
	struct profile *p = make();
	char sentence[WHY_SENTENCE], expected[WHY_SENTENCE];
	struct session_ranks ranks;
	struct session_why why;

	fixture_function(p, "loop");
	fixture_function(p, "burn(int)");
	add_lock_wait(p, 3);
	add_wait(p,
		 (struct recorded_wait){.begin_ns = 40600,
					.took_ns = 7000,
					.reason = WAIT_LOCK,
					.kind = WAIT_OBJECT_LOCK,
					.object = 0x2000,
					.object_name = "db_lock",
					.at = {7, 9, 2, 3, "writer"},
					.waker = {7, 10, 3, 5, "janitor"}},
		 2);
	if (sleeps)
		add_wait(p,
			 (struct recorded_wait){.begin_ns = 40600,
						.took_ns = 7000,
						.reason = WAIT_TIMER,
						.at = {7, 10, 3, 5, "janitor"}},
			 0);
	assert_int_equal(waits__settle(p->waits, behind_paths, 5), 0);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	snprintf(expected, sizeof(expected),
		 "p99 sessions take 8.00 us longer: 7.20 us waiting for lock log_lock, held by "
		 "`flush` in thread writer, which spent 7.00 us %s `loop › burn` (thread janitor) "
		 "holding db_lock; 500 ns more in `handle`; 300 ns elsewhere",
		 does);
	assert_string_equal(session_why__sentence(p, &why, sentence), expected);
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
	calls_cnt = 0;
}

static void test_behind(void **state)
{
	expect_behind(false, "in");
	expect_behind(true, "sleeping in");
}

/* Sessions in which work() takes 500 of 1,000 ns, and no two differ but by 100 ns of handle()'s own
 * time: after the fifth, work() is not traced any more. */
static void test_dropped(void **state)
{
	struct profile *p = fixture_new();
	uint32_t handle = fixture_function(p, "handle"), work = fixture_function(p, "work");
	uint32_t leaf = fixture_function(p, "leaf"), t = fixture_thread(p, 7, 8, "srv");
	uint32_t nodes[4], i;
	char sentence[WHY_SENTENCE];
	struct session_ranks ranks;
	struct session_why why;

	nodes[0] = fixture_node(p, t, 0, handle, 10, 10000, 6000);
	nodes[1] = fixture_node(p, t, nodes[0], work, 5, 2500, 2000);
	nodes[2] = fixture_node(p, t, nodes[1], leaf, 5, 500, 500);
	nodes[3] = fixture_node(p, t, nodes[0], leaf, 5, 500, 500);
	for (i = 0; i < 10; i++) {
		uint64_t at = i * 10000, took = 1000 + (i == 2 ? 100 : 0);

		add_call(t, (struct timeline_call){nodes[0], at, at + took, 0});
		if (i < 5)
			add_call(t, (struct timeline_call){nodes[1], at + 200, at + 700, 0});
		add_call(t, (struct timeline_call){nodes[i < 5 ? 2 : 3], at + 300, at + 400, 0});
	}
	p->drops = calloc(1, sizeof(*p->drops));
	assert_non_null(p->drops);
	p->drops[p->drops_cnt++] = (struct profile_drop){.function = work, .at_ns = 45000};
	p->duration_ns = 1000000;
	fixture_finish(p);
	set_timeline(p);
	p->waits = calloc(1, sizeof(*p->waits));
	assert_non_null(p->waits);
	assert_int_equal(waits__settle(p->waits, paths, 3), 0);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	assert_string_equal(session_why__sentence(p, &why, sentence),
			    "p99 sessions take 100 ns longer: 100 ns more in `handle`");
	/* One part for handle(), one for leaf(): leaf was called as often, from whatever caller. */
	assert_int_equal(why.cnt, 2);
	assert_true(why.parts[1].function == leaf && why.parts[1].more_ns == 0);
	assert_true(why.parts[1].worst_calls == 1 && why.parts[1].usual_calls == 1);
	/* Kept sessions have all their calls. */
	assert_int_equal(p->sessions->groups[0].slowest[0].calls_cnt, 3);
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
}

/* A barrier's words look like a mutex at times: it is one object all the same. What a system call
 * that is not known waits for is told by its name. */
static void test_mixed(void **state)
{
	static const struct {
		uint64_t begin_ns, took_ns;
		uint32_t reason, kind;
		const char *name;
	} parts[] = {
		{40500, 3500, WAIT_LOCK, WAIT_OBJECT_LOCK, "bar"},
		{44000, 3000, WAIT_LOCK, WAIT_OBJECT_FUTEX, "bar"},
		{47000, 1000, WAIT_OTHER, WAIT_OBJECT_NONE, "[mmap]"},
	};
	struct profile *p = make();
	char sentence[WHY_SENTENCE];
	struct session_ranks ranks;
	struct session_why why;

	p->waits = calloc(1, sizeof(*p->waits));
	assert_non_null(p->waits);
	for (size_t i = 0; i < 3; i++)
		add_wait(p,
			 (struct recorded_wait){.begin_ns = parts[i].begin_ns,
						.took_ns = parts[i].took_ns,
						.reason = parts[i].reason,
						.kind = parts[i].kind,
						.object = 0x1000 + 8 * i,
						.object_name = parts[i].name,
						.at = {7, 8, 1, 2, "srv"}},
			 1);
	assert_int_equal(waits__settle(p->waits, paths, 3), 0);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	assert_string_equal(session_why__sentence(p, &why, sentence),
			    "p99 sessions take 8.00 us longer: 6.50 us waiting on bar in `work`, "
			    "woken by nobody that is traced, as when its time is up; 1.00 us "
			    "waiting in the kernel ([mmap]) in `work`; 500 ns more in "
			    "`handle`");
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
}

/* Readers and writers of one rwlock wait for different things: two parts, each with its holder. */
static void test_roles(void **state)
{
	struct profile *p = make();
	char sentence[WHY_SENTENCE], text[WHY_TEXT];
	struct chain_part part = {.reason = WAIT_LOCK,
				  .kind = WAIT_OBJECT_WRITE,
				  .object_name = "rates",
				  .function = UINT32_MAX};
	struct session_ranks ranks;
	struct session_why why;

	for (int i = 0; i < 2; i++)
		add_wait(p,
			 (struct recorded_wait){.begin_ns = 40500 + 3500 * i,
						.took_ns = i ? 3000 : 3500,
						.reason = WAIT_LOCK,
						.kind = i ? WAIT_OBJECT_WRITE : WAIT_OBJECT_READ,
						.object = 0x1000,
						.object_name = "rates",
						.at = {7, 8, 1, 2, "srv"},
						.waker = {7, 9, 2, 3, "writer"}},
			 1);
	assert_int_equal(waits__settle(p->waits, paths, 3), 0);
	p->sessions = find(p);
	assert_int_equal(session_ranks__init(&ranks, p->sessions), 0);
	assert_int_equal(session_why__find(p, &ranks, &p->sessions->groups[0], &why), 0);
	assert_non_null(strstr(session_why__sentence(p, &why, sentence),
			       "3.50 us waiting to read rates, held by `flush` in thread writer"));
	assert_non_null(strstr(sentence,
			       "3.00 us waiting to write rates, held by `flush` in thread writer"));
	assert_string_equal(chain_part__text(p, &part, text),
			    "waiting for lock rates, as a writer in no traced call");
	session_why__fini(&why);
	session_ranks__fini(&ranks);
	profile__free(p);
}

static uint32_t random_word(uint32_t *state, uint32_t below)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % below;
}

/* Whatever a file says of who waits for whom, and when, parts add up. */
static void test_nonsense(void **state)
{
	uint32_t seed = 1;

	for (int round = 0; round < 200; round++) {
		struct profile *p = make();

		p->waits = calloc(1, sizeof(*p->waits));
		assert_non_null(p->waits);
		for (int i = 0; i < 40; i++) {
			struct recorded_wait wait = {
				.begin_ns = 39000 + random_word(&seed, 12000),
				.took_ns = random_word(&seed, 6000),
				.ready_ns = random_word(&seed, 9000),
				.reason = random_word(&seed, 13),
				.kind = random_word(&seed, WAIT_OBJECTS + 1),
				.object = random_word(&seed, 3),
				.at = {7, 8 + random_word(&seed, 3), 1, random_word(&seed, 6), "a"},
				.waker = {random_word(&seed, 2) * 7, 8 + random_word(&seed, 4), 1,
					  random_word(&seed, 6), "b"},
			};

			add_wait(p, wait, random_word(&seed, 3));
		}
		assert_int_equal(waits__settle(p->waits, paths, 3), 0);
		p->sessions = find(p);
		expect_chain(&p->sessions->groups[0].slowest[0]);
		profile__free(p);
		calls_cnt = 0;
	}
}

static void test_names(void **state)
{
	struct profile *p = fixture_new();
	struct chain_part part = {.runs = true, .kind = WAIT_OBJECT_NONE};
	static const char *const names[][2] = {
		{"ns::f<int>(char const*, int)", "ns::f<int>"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"functor::operator()(int) const", "functor::operator()"},
		{"plain", "plain"},
		{"std::_Function_handler<bool (char), is_vowel_of_the_alphabet_of_some_language>"
		 "::_M_invoke(std::_Any_data const&, char&&)",
		 "std::_Function_handler<…>::_M_invoke"},
		{"void ns::sort<int>(int*, int*)", "ns::sort<int>"},
		{"bool (anonymous namespace)::f<void (*)(int)>(int) [clone .isra.0]",
		 "(anonymous namespace)::f<void (*)(int)>"},
		{"main.(*Server).handle", "main.(*Server).handle"},
		{"ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää",
		 "ääääääääääääääääääääääääääääääääääääääääääääääääääääääääääääää…"},
	};
	char text[WHY_TEXT];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		part.function = fixture_function(p, names[i][0]);
		assert_string_equal(chain_part__text(p, &part, text), names[i][1]);
	}
	profile__free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_sentence, range_teardown),
		cmocka_unit_test_teardown(test_parked, range_teardown),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_objects),
		cmocka_unit_test_teardown(test_without_waits, range_teardown),
		cmocka_unit_test_teardown(test_text, range_teardown),
		cmocka_unit_test_teardown(test_chain, range_teardown),
		cmocka_unit_test_teardown(test_just_ended, range_teardown),
		cmocka_unit_test_teardown(test_chain_of_others, range_teardown),
		cmocka_unit_test_teardown(test_behind, range_teardown),
		cmocka_unit_test_teardown(test_dropped, range_teardown),
		cmocka_unit_test_teardown(test_mixed, range_teardown),
		cmocka_unit_test_teardown(test_roles, range_teardown),
		cmocka_unit_test_teardown(test_nonsense, range_teardown),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
