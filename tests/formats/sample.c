// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes one made-up profile in a format, with all that is hard on formats: names of every kind,
 * recursion, a path 2,000 calls deep, zero times, calls that are still open, goroutines, functions
 * of one name, threads without calls. It is the same each time, so that what consumers make of it
 * can be compared with its JSON.
 *
 *	sample [-w wall|cpu|off|calls] [-c | -C] [-d DEPTH] FORMAT FILE
 *
 * -c: with single calls; -C: so that no two begin or end at once, unless one cuts the other. -d: so
 *deep instead. Several FORMAT FILE may be given. The format "events" tells how single calls begin
 *and end, one JSON document a line; threads are numbered as in the JSON of the same profile, nodes
 *have its ids.
 */
#include <inttypes.h>
#include <unistd.h>

#include "fixture.h"

#include "calls/walk.h"
#include "timeline_array.h"

#define PATHS 3000 /* of the first thread */

static uint64_t seed = 42;

/* A linear congruential generator, with the constants of Knuth's MMIX. */
static uint32_t any(uint32_t below)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (seed >> 33) % below;
}

static void make_functions(struct profile *p)
{
	static char longest[5000];
	static const char *const names[] = {
		"main",
		"work",
		"operator()<a, b>(std::vector<int, std::allocator<int> > const&)",
		"semi;colon",
		"quo\"te",
		"new\nline",
		"comma,comma",
		"(1) number",
		"=formula()",
		"bad\xff\xc3utf8",
		"",
		"fn 42",
		"<b>&amp;</b>",
		"日本語 λ",
		"tab\tstop \x1b[31m red",
		"\\back\\slash",
		"# comment",
		"calls=3 4",
		" blank ",
		"self",
	};
	size_t i;

	memset(longest, 'x', sizeof(longest) - 1);
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		fixture_function(p, names[i]);
	fixture_function(p, longest);
	fixture_function(p, "never called");
	/* Two more functions of that name: in another module, and at another place of the same
	 * module. */
	fixture_function(p, "work");
	fixture_function(p, "work");
	for (i = 0; i < p->functions_cnt; i++)
		p->functions[i].offset = 4096 + 16 * i;
	p->functions[0].file = "/src/main.c";
	p->functions[0].line = 12;
	p->functions[2].file = "/src/odd, \"name\".cc";
	p->functions[2].line = 7;
	p->functions[2].symbol = "_ZN1aclERKSt6vectorIiSaIiEE";
	p->functions[p->functions_cnt - 1].module = "/usr/lib/libother.so.1";
}

static uint32_t add(struct profile *p, uint32_t thread, uint32_t parent, uint32_t function)
{
	uint64_t self_ns = any(4) ? any(1u << any(31)) : 0;
	uint64_t calls = any(20) ? 1 + any(1u << any(20)) : 0;
	uint32_t node = fixture_node(p, thread, parent, function, calls, self_ns, self_ns);
	struct call_stats *s = &p->nodes[node].stats;

	s->off_self_ns = any(2) ? any(self_ns + 1) : 0;
	s->off_ns = s->off_self_ns;
	s->raw_self_ns += any(1000);
	s->raw_total_ns = s->raw_self_ns;
	s->self_error_ns = any(100);
	s->error_ns = s->self_error_ns;
	return node;
}

/* A function that was called, other than the name that is never. */
static uint32_t any_function(const struct profile *p)
{
	uint32_t function;

	do
		function = any(p->functions_cnt);
	while (!strcmp(p->functions[function].name, "never called"));
	return function;
}

static void make_paths(struct profile *p, uint32_t depth)
{
	uint32_t first = 1, node = 0, i;

	add(p, 0, 0, 0);
	for (i = 1; i < PATHS; i++)
		add(p, 0, first + any(p->nodes_cnt - first), any_function(p));
	for (i = 0; i < depth; i++)
		node = add(p, 1, node, i % 3 ? 19 : 1);
	for (i = 3; i < 6; i++) {
		first = add(p, i, 0, any_function(p));
		add(p, i, first, any_function(p));
		add(p, i, 0, 0);
	}
	/* Callers come before callees. */
	for (i = p->nodes_cnt - 1; i; i--) {
		struct call_stats *s = &p->nodes[i].stats;
		struct call_stats *up = &p->nodes[p->nodes[i].parent].stats;

		if (!p->nodes[i].parent)
			continue;
		up->total_ns += s->total_ns;
		up->off_ns += s->off_ns;
		up->raw_total_ns += s->raw_total_ns;
		up->error_ns += s->error_ns;
	}
}

static struct profile *make(uint32_t depth)
{
	static const pid_t pids[] = {100, 200};
	static char *const command[] = {"prog", "an \"argument\"\n", NULL};
	static const struct profile_skip skipped[] = {{"go\"ne", "/usr/bin/prog", "too, small"}};
	struct profile *p = fixture_new();

	make_functions(p);
	fixture_thread(p, 100, 100, "prog");
	fixture_thread(p, 100, 101, "we;i\"rd\n\xff");
	fixture_thread(p, 100, 102, "idle");
	for (int i = 1; i < 3; i++) {
		fixture_thread(p, 200, 0, "go server");
		p->threads[p->threads_cnt - 1].goroutine = i * 7;
	}
	fixture_thread(p, 201, 201, "");
	make_paths(p, depth);
	fixture_bucket(p, 0, 8, 1);
	fixture_bucket(p, 0, 200, 1ull << 40);
	fixture_bucket(p, 1, 80, 2);
	fixture_drop(p,
		     (struct profile_drop){21, 500000000, 1234.5, 12.25, 0, "dear, and small", 0});
	fixture_drop(p, (struct profile_drop){1, 700000000, 10, 1, 100, "dear", 0});
	p->functions[1].sampled = 100;
	p->max_overhead = 2.5;
	p->target = (struct profile_target){
		.pids = pids, .pids_cnt = 2, .exec = "/usr/bin/prog", .command = command};
	p->start_time = 1700000000.25;
	p->duration_ns = 12345678901;
	p->accounting.returned -= 5;
	p->accounting.unwound = 2;
	p->accounting.open = 3;
	p->accounting.lost = 7;
	p->accounting.dropped = 9;
	p->accounting.probe_ns = 1000000;
	p->accounting.cpu_ns = 500000000;
	p->probes.skipped = skipped;
	p->probes.skipped_cnt = 1;
	fixture_finish(p);
	return p;
}

/* One call a path, in the order of the tree. Some last longer than what they are called from, as
 * after losses, some begin and end at once, some paths were called twice. */
static void make_timeline(struct profile *p, struct timeline_array *timeline, uint64_t tick_ns)
{
	struct timeline_call *calls = calloc(p->nodes_cnt * 2, sizeof(*calls));
	uint32_t *threads = calloc(p->nodes_cnt * 2, sizeof(*threads));
	uint32_t *call_of = calloc(p->nodes_cnt, sizeof(*call_of));
	size_t cnt = 0, i;

	assert_true(calls && threads && call_of);
	for (i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);
		uint64_t now_ns = 1000 * i;

		while (walk__next(&w)) {
			struct timeline_call *c;

			now_ns += tick_ns;
			if (w.entering) {
				call_of[w.node] = cnt;
				threads[cnt] = i;
				calls[cnt++] =
					(struct timeline_call){.node = w.node, .enter_ns = now_ns};
				now_ns += any(3) ? any(100000) : 0;
				continue;
			}
			c = &calls[call_of[w.node]];
			c->leave_ns = now_ns + (any(20) ? 0 : 50000);
			c->off_ns = (c->leave_ns - c->enter_ns) / 2;
			now_ns += any(2) ? any(100000) : 0;
			if (p->nodes[w.node].first_child || any(4))
				continue;
			now_ns += tick_ns;
			threads[cnt] = i;
			calls[cnt++] = (struct timeline_call){.node = w.node,
							      .enter_ns = now_ns,
							      .leave_ns = now_ns + 7,
							      .off_ns = 3};
			now_ns += 7;
		}
	}
	free(call_of);
	timeline_array__init(timeline, calls, threads, cnt);
	p->timeline = &timeline->base;
}

struct events {
	FILE *out;
	uint32_t thread;
};

static int write_event(const struct timeline_event *e, void *ctx)
{
	const struct events *events = ctx;

	fprintf(events->out,
		"{\"thread\":%" PRIu32 ",\"node\":%" PRIu32 ",\"begins\":%s,\"at_ns\":%" PRIu64
		",\"off_ns\":%" PRIu64 ",\"depth\":%" PRIu32 "}\n",
		events->thread, e->call->node, e->begins ? "true" : "false", e->at_ns,
		e->call->off_ns, e->depth);
	return 0;
}

static int write_events(const struct profile *p, FILE *out)
{
	struct events events = {.out = out};
	size_t i;

	for (i = 0; i < p->threads_cnt; i++) {
		if (!p->threads[i].first_root)
			continue;
		timeline__walk(p->timeline, i, write_event, &events);
		events.thread++;
	}
	return 0;
}

static int write_one(const struct profile *p, const struct sink_options *opts, const char *format,
		     const char *path)
{
	const struct sink *sink = sink__find(format);
	bool stream = !strcmp(format, "events") || (sink && sink->write);
	FILE *out = stream ? fopen(path, "w") : NULL;
	int err;

	if (stream ? !out : !sink) {
		fprintf(stderr, "sample: no format %s, or cannot write %s\n", format, path);
		return 1;
	}
	err = !sink    ? write_events(p, out)
	      : stream ? sink->write(p, opts, out)
		       : sink->write_file(p, opts, path);
	if ((out && fclose(out)) || err) {
		fprintf(stderr, "sample: %s: %s\n", path, strerror(-err));
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const weights[] = {"wall", "cpu", "off", "calls"};
	struct sink_options opts = {0};
	struct timeline_array timeline = {0};
	struct profile *p;
	uint32_t depth = 2000;
	uint64_t tick_ns = 0;
	bool calls = false;
	int c, status = 0;

	while ((c = getopt(argc, argv, "w:cCd:")) != -1) {
		if (c == 'w')
			for (enum weight w = WEIGHT_WALL; w <= WEIGHT_CALLS; w++)
				opts.weight = strcmp(optarg, weights[w]) ? opts.weight : w;
		else if (c == 'c' || c == 'C')
			calls = true, tick_ns = c == 'C';
		else if (c == 'd')
			depth = atoi(optarg);
		else
			return 2;
	}
	p = make(depth);
	if (calls)
		make_timeline(p, &timeline, tick_ns);
	for (; optind + 1 < argc; optind += 2)
		status |= write_one(p, &opts, argv[optind], argv[optind + 1]);
	free((void *)timeline.calls);
	free((void *)timeline.threads);
	profile__free(p);
	return status;
}
