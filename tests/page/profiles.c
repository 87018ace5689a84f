// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Made-up profiles for the tests of -f html, in any format, so that what a page shows can be
 * compared with the JSON of the same profile.
 *
 *	profiles small|values|spans|sessions|hostile|empty|deep|unsure FORMAT
 *	profiles large FORMAT PATHS CALLS
 *	profiles lines FORMAT SOURCE HEADER
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "calls/tree.h"
#include "calls/values.h"
#include "sink/sink.h"
#include "timeline_array.h"

#define DEEP 20000 /* levels */

/* A profile in the making; arrays are as large as they will get. */
struct maker {
	struct profile p;
	size_t functions_max, nodes_max, calls_max, buckets_max;
	struct timeline_call *calls;
	uint32_t *call_threads;
	size_t calls_cnt;
	uint64_t random;
};

static void *array(size_t cnt, size_t size)
{
	void *p = calloc(cnt + 1, size);

	if (!p) {
		fprintf(stderr, "profiles: %s\n", strerror(ENOMEM));
		exit(1);
	}
	return p;
}

static char *numbered(const char *format, size_t number)
{
	char *name;

	if (asprintf(&name, format, number) < 0)
		exit(1);
	return name;
}

static void maker_init(struct maker *m, size_t functions, size_t threads, size_t nodes,
		       size_t calls)
{
	*m = (struct maker){.random = 88172645463325252ull};
	m->p.functions = array(functions, sizeof(*m->p.functions));
	m->p.threads = array(threads, sizeof(*m->p.threads));
	m->p.nodes = array(nodes + 1, sizeof(*m->p.nodes));
	m->p.nodes_cnt = 1;
	m->p.buckets = array(functions * 8, sizeof(*m->p.buckets));
	m->calls = array(calls, sizeof(*m->calls));
	m->call_threads = array(calls, sizeof(*m->call_threads));
	m->p.start_time = 1700000000.25;
	m->p.duration_ns = 2000000000;
}

/* xorshift64, George Marsaglia, "Xorshift RNGs": the same profile in each run. */
static uint64_t maker_random(struct maker *m, uint64_t below)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random % below;
}

static uint32_t add_function(struct maker *m, const char *name, const char *module)
{
	m->p.functions[m->p.functions_cnt] =
		(struct profile_function){.name = name, .symbol = name, .module = module};
	m->p.probes.functions++;
	return m->p.functions_cnt++;
}

/* Eight buckets above `first`, the calls most in the middle. */
static void add_buckets(struct maker *m, uint32_t function, uint32_t first)
{
	static const uint64_t calls[] = {1, 5, 40, 90, 60, 20, 4, 1};

	for (uint32_t i = 0; i < 8; i++)
		m->p.buckets[m->p.buckets_cnt++] =
			(struct profile_bucket){function, first + i, calls[i]};
}

static uint32_t add_thread(struct maker *m, const char *comm, pid_t tid)
{
	struct profile_thread *t = &m->p.threads[m->p.threads_cnt];

	*t = (struct profile_thread){.pid = 100, .tid = tid, .start_ns = 1};
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	return m->p.threads_cnt++;
}

/* Times of its own only: maker_finish() adds those of callees. */
static uint32_t add_node(struct maker *m, uint32_t thread, uint32_t parent, uint32_t function,
			 uint64_t calls, uint64_t self_ns, uint64_t off_self_ns)
{
	m->p.nodes[m->p.nodes_cnt] = (struct profile_node){
		.parent = parent,
		.function = function,
		.thread = thread,
		.stats = {.calls = calls,
			  .self_ns = self_ns,
			  .off_self_ns = off_self_ns,
			  .raw_self_ns = self_ns,
			  .min_ns = self_ns / calls,
			  .max_ns = self_ns},
	};
	m->p.accounting.entered += calls;
	m->p.accounting.returned += calls;
	return m->p.nodes_cnt++;
}

static void add_call(struct maker *m, uint32_t node, uint64_t enter_ns, uint64_t leave_ns)
{
	m->call_threads[m->calls_cnt] = m->p.nodes[node].thread;
	m->calls[m->calls_cnt++] = (struct timeline_call){.node = node,
							  .enter_ns = enter_ns,
							  .leave_ns = leave_ns,
							  .off_ns = (leave_ns - enter_ns) / 4};
}

/* Callees follow their callers in the array. */
static int maker_finish(struct maker *m)
{
	int err;

	for (size_t i = m->p.nodes_cnt; --i;) {
		struct call_stats *s = &m->p.nodes[i].stats;
		struct call_stats *caller = &m->p.nodes[m->p.nodes[i].parent].stats;

		s->total_ns += s->self_ns;
		s->raw_total_ns += s->raw_self_ns;
		s->off_ns += s->off_self_ns;
		caller->total_ns += s->total_ns;
		caller->raw_total_ns += s->raw_total_ns;
		caller->off_ns += s->off_ns;
	}
	m->p.nodes[0] = (struct profile_node){0};
	err = profile__connect(&m->p);
	return err ? err : profile__summarize(&m->p);
}

static void make_small(struct maker *m)
{
	uint32_t work, idle, leaf, main_, t, u, a, b, c, d;

	maker_init(m, 24, 3, 16, 8);
	main_ = add_function(m, "main", "/usr/bin/prog");
	work = add_function(m, "work", "/usr/bin/prog");
	idle = add_function(m, "idle", "/usr/lib/libidle.so.1");
	leaf = add_function(m, "leaf(int)", "/usr/lib/libleaf.so.2");
	m->p.functions[leaf].symbol = "_Z4leafi";
	m->p.functions[work].file = "prog.c";
	m->p.functions[work].line = 12;
	add_buckets(m, work, 100);
	add_buckets(m, leaf, 60);
	t = add_thread(m, "prog", 100);
	u = add_thread(m, "prog", 101);
	a = add_node(m, t, 0, main_, 1, 1000000, 0);
	b = add_node(m, t, a, work, 300, 6000000, 1000000);
	c = add_node(m, t, b, leaf, 40000, 2500000, 0);
	add_node(m, t, a, idle, 2, 5000000, 4900000);
	d = add_node(m, u, 0, main_, 1, 100000, 0);
	add_node(m, u, add_node(m, u, d, work, 100, 3000000, 500000), leaf, 20000, 1200000, 0);
	add_call(m, a, 0, 14500000);
	add_call(m, b, 1000000, 5000000);
	add_call(m, c, 2000000, 2500000);
	add_call(m, c, 3000000, 3250000);
	add_call(m, b, 6000000, 10000000);
	add_call(m, d, 500000, 4700000);
	m->p.duration_ns = 15000000;
	m->p.paused_ns = 2500000;
	m->p.accounting.untriggered = 1234;
	m->p.accounting.probe_ns = 1000000;
	m->p.accounting.cpu_ns = 11000000;
	m->p.max_overhead = 5;
	m->p.drops = array(1, sizeof(*m->p.drops));
	m->p.drops[m->p.drops_cnt++] =
		(struct profile_drop){leaf, 7000000, 123456.5, 7.25, 100, "over the budget", 0};
}

/* The small one, with spans beside the first thread's calls. */
static void make_spans(struct maker *m)
{
	uint32_t t, f;

	make_small(m);
	f = add_function(m, "request", "/usr/bin/prog");
	m->p.functions[f].kind = FUNCTION_REGION;
	t = add_thread(m, "prog", 100);
	m->p.threads[t].spans = 1;
	add_node(m, t, 0, f, 7, 3000000, 1000000);
}

/* A session of the thread `part`: so many calls of main, work and the leaf in each other. */
static struct session make_session(struct maker *m, uint32_t part, uint64_t start_ns,
				   uint32_t calls)
{
	struct session s = {.thread = part,
			    .start_ns = start_ns,
			    .calls = array(calls, sizeof(*s.calls)),
			    .calls_cnt = calls,
			    .first_part = part,
			    .parts_cnt = 1};

	for (uint32_t i = 0; i < calls; i++) {
		uint64_t inside_ns = i + 1 < calls ? 1000000 * (calls - i - 1) : 0;

		s.calls[i] = (struct session_call){.path = i + 1,
						   .caller = i,
						   .thread = part,
						   .leave_ns = inside_ns + 2000000,
						   .inside_ns = inside_ns,
						   .off_ns = 700000,
						   .inside_off_ns = inside_ns ? 200000 : 0};
	}
	s.duration_ns = s.calls[0].leave_ns;
	return s;
}

/* Sessions of functions and of spans: each is a thread. One session's name is as long as names get,
 * and its function is shown nowhere else. */
static void make_sessions(struct maker *m)
{
	static char longest[20000] = "</script><i>::";
	enum { STEPS = 12 };
	struct sessions *s;

	make_spans(m);
	for (size_t i = 0; i < m->p.threads_cnt; i++)
		snprintf(m->p.threads[i].title, sizeof(m->p.threads[i].title), "session %zu", i);
	memset(longest + strlen(longest), 'W', sizeof(longest) - 1 - strlen(longest));
	add_function(m, longest, "/usr/bin/prog");
	for (uint32_t i = 1; i < STEPS; i++)
		add_function(
			m, numbered("acme::server::Handler<std::basic_string<char>>::step_%zu", i),
			"/usr/bin/prog");
	m->p.sessions = s = array(1, sizeof(*s));
	s->groups = array(3, sizeof(*s->groups));
	s->groups_cnt = 3;
	s->paths_cnt = 5 + STEPS;
	s->paths = array(s->paths_cnt, sizeof(*s->paths));
	s->paths[1] = (struct session_path){0, 0, 9000000, 0, 45000000, 0, 0, 0, 0, 0, 0, 0};
	s->paths[2] =
		(struct session_path){1, 1, 33000000, 9000000, 90000000, 1000000, 0, 0, 0, 0, 0, 0};
	s->paths[3] = (struct session_path){2, 3, 6000000, 0, 40000000, 40000000, 0, 0, 0, 0, 0, 0};
	s->paths[4 + STEPS] = (struct session_path){1, 4, 300000, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	for (uint32_t i = 0; i < STEPS; i++)
		s->paths[4 + i] = (struct session_path){
			i ? 3 + i : 0, 5 + i, i * 123456, i * 3, 0, 0, 0, 0, 0, 0, 0, 0};
	s->groups[0] = (struct session_group){.function = 0,
					      .count = 12345,
					      .open = 2,
					      .per_second = 823.5,
					      .p50_ns = 2500000,
					      .p90_ns = 12345678,
					      .p99_ns = 14500000,
					      .max_ns = 1234567890,
					      .slowest = array(2, sizeof(*s->groups->slowest)),
					      .slowest_cnt = 2,
					      .slow_cnt = 3,
					      .slow_total_ns = 63000000,
					      .slow_queue_ns = 15000000,
					      .usual_cnt = 50,
					      .usual_total_ns = 175000000,
					      .path = 1};
	s->groups[0].slowest[0] = make_session(m, 0, 123456, 3);
	s->groups[0].slowest[1] = make_session(m, 1, 500000, 2);
	s->groups[0].slowest[1].calls_missing = 7;
	s->groups[0].slowest[1].parts_cnt = 2;
	s->groups[1] = (struct session_group){.function = 1};
	s->groups[2] = (struct session_group){.function = 5,
					      .count = 2,
					      .per_second = 0.25,
					      .p50_ns = 1000,
					      .p90_ns = 8149096,
					      .p99_ns = 8149096,
					      .max_ns = 8149096,
					      .slow_cnt = 1,
					      .slow_total_ns = 8149096,
					      .usual_cnt = 1,
					      .usual_total_ns = 1000,
					      .path = 4};
	s->threads = m->p.threads;
	s->threads_cnt = m->p.threads_cnt;
}

/* The small one, but the calls of work have values. */
static void make_values(struct maker *m)
{
	static const struct call_value values[][4] = {
		{{VALUE_INT, {.i = -7}},
		 {VALUE_TEXT, {.text = "GET /index?<b>"}},
		 {VALUE_UINT, {.u = 4096}},
		 {VALUE_FLOAT, {.f = 0.1}}},
		{{VALUE_INT, {.i = 1ll << 60}},
		 {VALUE_TEXT,
		  {.text = "\x1b[2J\u202e</script>\xff as long as text can be: 63 bytes"}},
		 {VALUE_NONE},
		 {VALUE_FLOAT, {.f = 1.0 / 0.0}}},
	};
	static const struct profile_argument arguments[] = {
		{1, "arg1"}, {1, "req->path:s"}, {1, "arg3:x"}, {1, "real"}};
	size_t valued = 0;

	make_small(m);
	m->p.arguments = array(4, sizeof(*arguments));
	memcpy(m->p.arguments, arguments, sizeof(arguments));
	m->p.arguments_cnt = 4;
	for (size_t i = 0; i < m->calls_cnt; i++) {
		if (m->p.nodes[m->calls[i].node].function != 1)
			continue;
		m->calls[i].values = values[valued++];
		m->calls[i].values_cnt = 4;
	}
}

static void add_line(struct maker *m, const char *file, uint32_t line, uint32_t function,
		     uint32_t inlined, uint64_t hits, uint64_t ns, const char *reason)
{
	m->p.lines[m->p.lines_cnt++] = (struct profile_line){.file = file,
							     .line = line,
							     .function = function,
							     .inlined = inlined,
							     .hits = hits,
							     .ns = ns,
							     .error_ns = ns / 20,
							     .reason = reason};
}

/* Two functions in `source`, into which is inlined what is in `header`; its name comes behind. */
static void make_lines(struct maker *m, const char *source, const char *header)
{
	make_small(m);
	m->p.accounting.line_misses = 3;
	m->p.functions[1].file = source;
	m->p.functions[1].line = 3;
	m->p.functions[0].file = source;
	m->p.functions[0].line = 40;
	m->p.inlines = array(2, sizeof(*m->p.inlines));
	m->p.inlines[0] = (struct profile_inline){"clamp<int>", source, 7, 0};
	m->p.inlines[1] = (struct profile_inline){"<b>min", header, 2, 1};
	m->p.inlines_cnt = 2;
	m->p.lines = array(16, sizeof(*m->p.lines));
	add_line(m, "/nowhere/x.c", 9, 3, 0, 40000, 2500000, NULL);
	add_line(m, source, 5, 1, 0, 400, 100000, NULL);
	add_line(m, source, 7, 1, 0, 400, 8000000, NULL);
	add_line(m, source, 8, 1, 0, 400, 50000, NULL);
	add_line(m, source, 9, 1, 0, 0, 0, NULL);
	add_line(m, source, 20, 1, 0, 0, 0, "none of its code can be probed");
	add_line(m, source, 22, 1, 0, 400, 20000, NULL);
	add_line(m, source, 42, 0, 0, 1, 900000, NULL);
	add_line(m, source, 43, 0, 0, 2, 200, NULL);
	add_line(m, header, 2, 1, 1, 400, 70000, NULL);
	add_line(m, header, 5, 1, 2, 400, 60000, NULL);
}

/* Names made to become markup, to end the data, to reorder what is around them, or to disappear. */
static void make_hostile(struct maker *m)
{
	static const char *const names[] = {
		"</script><script>document.title='owned'</script>",
		"<img src=x onerror=\"document.title='owned'\">",
		"<!--<script>",
		"]]>&lt;b&gt;\"'`${document.title='owned'}\\",
		"\x1b[2Jline\nbreak\rback\t",
		"\u202eabc\u2066\u2028",
		"\xff\xfe\xc3(",
		"__proto__",
		"constructor",
		"",
		"gr\u00fc\u00dfe \u05e9\u05dc\u05d5\u05dd \u4f60\u597d",
	};
	static const size_t cnt = sizeof(names) / sizeof(names[0]);
	static char *const command[] = {"</script><b>", "\u202e", NULL};
	static char longest[20000];
	uint32_t t, parent = 0;

	maker_init(m, cnt + 1, 1, cnt + 1, 0);
	memset(longest, 'W', sizeof(longest) - 1);
	t = add_thread(m, "</script><i>", 100);
	for (size_t i = 0; i <= cnt; i++) {
		uint32_t f = add_function(m, i < cnt ? names[i] : longest, names[i % cnt]);

		m->p.functions[f].file = names[i % cnt];
		m->p.functions[f].symbol = names[(i + 1) % cnt];
		parent = add_node(m, t, parent, f, 1 + i, 1000 * (i + 1), 0);
	}
	m->p.target.command = command;
}

static void make_deep(struct maker *m)
{
	uint32_t f, t, parent = 0;

	maker_init(m, 1, 1, DEEP, 0);
	f = add_function(m, "deep", "/usr/bin/prog");
	t = add_thread(m, "prog", 100);
	for (size_t i = 0; i < DEEP; i++)
		parent = add_node(m, t, parent, f, 1, 100, 0);
}

/* Times of all sizes that the probes' cost hides, and calls that took next to nothing or, most of
 * them, about the same. */
static void make_unsure(struct maker *m)
{
	enum { FUNCTIONS = 22, PAIRS = 50 };
	uint64_t ns = 4;
	uint32_t t;

	maker_init(m, 3 * FUNCTIONS, 1, FUNCTIONS, 2 * PAIRS);
	t = add_thread(m, "prog", 100);
	for (size_t i = 0; i < FUNCTIONS; i++, ns *= 3) {
		uint32_t f = add_function(m, numbered("function_%zu", i), "/usr/bin/prog"), node;

		m->p.buckets[m->p.buckets_cnt++] = (struct profile_bucket){f, 0, 100};
		add_buckets(m, f, 70 + i);
		add_buckets(m, f, 80 + i);
		node = add_node(m, t, 0, f, 542, ns, 0);
		m->p.nodes[node].stats.error_ns = 2 * ns;
		m->p.nodes[node].stats.self_error_ns = 2 * ns;
	}
	/* The first two nodes' calls, in pairs far too close to be told apart. */
	for (size_t i = 0; i < 2 * PAIRS; i++) {
		uint64_t at = m->p.duration_ns / PAIRS * (i / 2) + i % 2 * 20;

		add_call(m, 1 + i % 2, at, at + 10);
	}
}

#define LEVELS 8 /* that calls are nested */

/* A random path of a thread that is just so deep, with its callers, outermost first. */
static void random_chain(struct maker *m, uint32_t thread, uint32_t chain[LEVELS])
{
	uint32_t node, up, depth;

	do {
		node = 1 + maker_random(m, m->p.nodes_cnt - 1);
		for (up = node, depth = 0; up; up = m->p.nodes[up].parent)
			depth++;
	} while (depth < LEVELS || m->p.nodes[node].thread != thread);
	for (; depth; depth--, node = m->p.nodes[node].parent)
		if (depth <= LEVELS)
			chain[depth - 1] = node;
}

/* Groups of nested calls that follow one another. */
static void add_calls(struct maker *m, uint32_t thread, size_t cnt)
{
	uint64_t each = m->p.duration_ns / (cnt / LEVELS + 1);
	uint32_t chain[LEVELS];

	for (size_t i = 0; i < cnt; i++) {
		uint32_t level = i % LEVELS;
		uint64_t at = i / LEVELS * each;

		if (!level)
			random_chain(m, thread, chain);
		add_call(m, chain[level], at + level * each / 20, at + each - level * each / 15);
	}
}

static void make_large(struct maker *m, size_t paths, size_t calls)
{
	enum { FUNCTIONS = 2000, THREADS = 4, OBJECTS = 12 };
	char *objects[OBJECTS];
	uint32_t i;

	maker_init(m, FUNCTIONS, THREADS, paths, calls);
	for (i = 0; i < OBJECTS; i++)
		objects[i] = numbered("/usr/lib/x86_64-linux-gnu/libobject%zu.so.6", i);
	for (i = 0; i < FUNCTIONS; i++) {
		add_function(m, numbered("namespace::Class::function_%zu", i),
			     objects[i * OBJECTS / FUNCTIONS]);
		add_buckets(m, i, 40 + i % 160);
	}
	for (i = 0; i < THREADS; i++)
		add_thread(m, numbered("worker-%zu", i), 100 + i);
	for (i = 0; i < paths; i++) {
		uint32_t thread = i % THREADS, parent = 0;
		uint64_t self_ns = 1000 + maker_random(m, 1000000);

		/* Roots are few; a path of the same thread is a multiple of THREADS back. */
		if (i >= THREADS) {
			uint32_t older = i / THREADS;

			parent = 1 + thread + THREADS * (older - 1 - maker_random(m, older) / 2);
		}
		add_node(m, thread, parent, maker_random(m, FUNCTIONS), 1 + maker_random(m, 1000),
			 self_ns, maker_random(m, self_ns));
	}
	for (i = 0; i < THREADS; i++)
		add_calls(m, i, calls / THREADS);
}

int main(int argc, char **argv)
{
	const struct sink *sink = argc > 2 ? sink__find(argv[2]) : NULL;
	const struct sink_options opts = {.color = false};
	struct timeline_array timeline;
	static struct maker m; /* all is reached from it: nothing is freed */
	int err;

	if (!sink)
		goto usage;
	if (!strcmp(argv[1], "small"))
		make_small(&m);
	else if (!strcmp(argv[1], "values"))
		make_values(&m);
	else if (!strcmp(argv[1], "spans"))
		make_spans(&m);
	else if (!strcmp(argv[1], "sessions"))
		make_sessions(&m);
	else if (!strcmp(argv[1], "hostile"))
		make_hostile(&m);
	else if (!strcmp(argv[1], "deep"))
		make_deep(&m);
	else if (!strcmp(argv[1], "unsure"))
		make_unsure(&m);
	else if (!strcmp(argv[1], "empty"))
		maker_init(&m, 0, 0, 0, 0);
	else if (!strcmp(argv[1], "lines") && argc == 5)
		make_lines(&m, argv[3], argv[4]);
	else if (!strcmp(argv[1], "large") && argc == 5)
		make_large(&m, strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	else
		goto usage;
	err = maker_finish(&m);
	if (m.calls_cnt) {
		timeline_array__init(&timeline, m.calls, m.call_threads, m.calls_cnt);
		m.p.timeline = &timeline.base;
	}
	if (!err)
		err = sink->write(&m.p, &opts, stdout);
	if (err)
		fprintf(stderr, "profiles: %s\n", strerror(-err));
	return err ? 1 : 0;
usage:
	fprintf(stderr, "profiles: "
			"small|values|spans|sessions|hostile|empty|deep|unsure|large|lines FORMAT "
			"[PATHS CALLS | SOURCE HEADER]\n");
	return 2;
}
