// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/tree.h"
#include "fixture.h"
#include "diff/diff.h"

#define MS 1000000ull

static struct diff *compare(struct profile *old, struct profile *now, struct diff_options opts)
{
	const struct diff_run runs[] = {{old, "old.data", 1}, {now, "new.data", 2}};
	struct diff *d;

	assert_int_equal(profile__connect(old), 0);
	assert_int_equal(profile__connect(now), 0);
	assert_int_equal(diff__new(runs, &opts, &d), 0);
	return d;
}

static void release(struct diff *d)
{
	profile__free(d->runs[DIFF_OLD].profile);
	profile__free(d->runs[DIFF_NEW].profile);
	diff__free(d);
}

static const struct diff_figures *find(const struct diff *d, const char *name)
{
	const struct diff_figures *found = NULL;

	for (size_t i = 0; i < d->both->functions_cnt; i++) {
		if (strcmp(d->both->functions[i].name, name))
			continue;
		assert_null(found);
		found = &d->functions[i];
	}
	assert_non_null(found);
	return found;
}

static void expect_calls(const struct diff *d, const char *name, uint64_t old, uint64_t now)
{
	const struct diff_figures *f = find(d, name);

	assert_int_equal(f->stats[DIFF_OLD].calls, old);
	assert_int_equal(f->stats[DIFF_NEW].calls, now);
}

static char *written(const struct diff *d, const struct sink *sink, enum weight weight)
{
	const struct sink_options opts = {.weight = weight};
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sink->write_diff(d, &opts, out), 0);
	fclose(out);
	return text;
}

static void expect_folded(const struct diff *d, enum weight weight, const char *expected)
{
	char *text = written(d, &sink_folded, weight);

	assert_string_equal(text, expected);
	free(text);
}

static void expect_in(const struct diff *d, const struct sink *sink, const char *expected)
{
	char *text = written(d, sink, WEIGHT_WALL);

	if (!strstr(text, expected))
		fail_msg("%s is not in\n%s", expected, text);
	free(text);
}

/* main calls work, which calls leaf; the one `unlike` has another module, offsets, and order. */
static struct profile *program(const char *comm, const char *module, bool unlike, uint64_t work_ns)
{
	static const char *const names[] = {"main", "work", "leaf"};
	struct profile *p = fixture_new();
	uint32_t number[3], t, n;

	for (int i = 0; i < 3; i++) {
		int name = unlike ? 2 - i : i;

		number[name] = fixture_function(p, names[name]);
		p->functions[number[name]].module = module;
		p->functions[number[name]].offset = 4096 * (i + 1 + unlike);
	}
	t = fixture_thread(p, unlike ? 7 : 100, unlike ? 8 : 101, comm);
	n = fixture_node(p, t, 0, number[0], 1, work_ns + 30 * MS, 10 * MS);
	n = fixture_node(p, t, n, number[1], 200, work_ns + 20 * MS, work_ns);
	fixture_node(p, t, n, number[2], 400, 20 * MS, 20 * MS);
	return p;
}

static void test_moved_and_slower(void **state)
{
	struct diff *d =
		compare(program("prog", "/old/bin/prog", false, 40 * MS),
			program("prog", "/new/prog", true, 80 * MS), (struct diff_options){0});
	struct diff_ranking r;

	assert_int_equal(d->both->functions_cnt, 3);
	assert_int_equal(d->both->nodes_cnt, 4);
	assert_int_equal(find(d, "work")->self.ns, 40 * MS);
	assert_false(find(d, "work")->self.noise);
	assert_true(find(d, "leaf")->self.noise);
	assert_true(find(d, "main")->self.noise);
	assert_false(find(d, "main")->total.noise);
	assert_int_equal(d->whole.ns, 40 * MS);
	assert_int_equal(diff__rank(d->functions, 0, d->both->functions_cnt, DIFF_BY_SELF, &r), 0);
	assert_int_equal(r.changed, 1);
	assert_int_equal(r.cnt, 3);
	assert_string_equal(d->both->functions[r.rows[0]].name, "work");
	free(r.rows);
	assert_int_equal(diff__rank(d->paths, 1, d->both->nodes_cnt, DIFF_BY_CALLS, &r), 0);
	assert_int_equal(r.changed, 0);
	free(r.rows);
	expect_folded(d, WEIGHT_WALL,
		      "prog;main 10000000 10000000\n"
		      "prog;main;work 40000000 80000000\n"
		      "prog;main;work;leaf 20000000 20000000\n");
	expect_folded(d, WEIGHT_CALLS,
		      "prog;main 1 1\nprog;main;work 200 200\nprog;main;work;leaf 400 400\n");
	release(d);
}

/* If each run has a function that the other one lacks, one may be the other, renamed. */
static void test_renamed(void **state)
{
	struct diff *d =
		compare(program("prog-1", "/bin/prog-1", false, MS),
			program("prog-2", "/bin/prog-2", true, MS), (struct diff_options){0});

	assert_int_equal(d->both->functions_cnt, 3);
	expect_calls(d, "leaf", 400, 400);
	assert_int_equal(d->both->nodes_cnt, 4);
	release(d);
}

static void test_same_file_name_elsewhere_is_kept_apart(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, MS);
	struct profile *now = program("prog", "/bin/prog", false, MS);
	struct diff *d;

	old->functions[2].module = "/lib/liba.so";
	now->functions[1].module = "/lib/libb.so";
	now->functions[2].module = "/lib/libc.so";
	d = compare(old, now, (struct diff_options){0});
	/* work and leaf in other modules are others. */
	assert_int_equal(d->both->functions_cnt, 5);
	release(d);
}

static void test_only_in_one(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	struct diff *d;
	uint32_t extra = fixture_function(now, "extra");

	now->functions[extra].module = "/bin/prog";
	fixture_node(now, 0, 1, extra, 300, 5 * MS, 5 * MS);
	now->nodes[1].stats.total_ns += 5 * MS;
	old->functions[2].name = old->functions[2].symbol = "former";
	d = compare(old, now, (struct diff_options){0});
	assert_false(find(d, "extra")->there[DIFF_OLD]);
	assert_true(find(d, "extra")->there[DIFF_NEW]);
	assert_int_equal(find(d, "extra")->self.ns, 5 * MS);
	assert_false(find(d, "extra")->self.noise);
	assert_true(find(d, "former")->there[DIFF_OLD]);
	assert_false(find(d, "former")->there[DIFF_NEW]);
	assert_int_equal(find(d, "former")->calls, -400);
	assert_false(find(d, "former")->calls_noise);
	expect_calls(d, "leaf", 0, 400);
	release(d);
	/* The old run does not know how long these calls took. */
	old = program("prog", "/bin/prog", false, 40 * MS);
	now = program("prog", "/bin/prog", false, 40 * MS);
	old->functions[2].name = old->functions[2].symbol = "former";
	d = compare(old, now, (struct diff_options){.per_call = true});
	assert_int_equal(find(d, "former")->self.ns, 0);
	assert_true(find(d, "leaf")->self.noise);
	assert_int_equal(find(d, "former")->calls, -400);
	release(d);
}

/* Three and two functions of one name, at other places: told apart by file, then by order. */
static void test_one_name(void **state)
{
	struct profile *old = fixture_new(), *now = fixture_new();
	static const char *const old_files[] = {"a.c", "b.c", "c.c"};
	static const char *const new_files[] = {"/src/b.c", "/src/d.c"};
	uint32_t t = fixture_thread(old, 1, 1, "prog");
	struct diff *d;

	for (uint32_t i = 0; i < 3; i++) {
		fixture_function(old, "init");
		old->functions[i].offset = 3000 - 1000 * i;
		old->functions[i].file = old_files[i];
		fixture_node(old, t, 0, i, i + 1, MS, MS);
	}
	fixture_thread(now, 2, 2, "prog");
	for (uint32_t i = 0; i < 2; i++) {
		fixture_function(now, "init");
		now->functions[i].offset = 100 * (i + 1);
		now->functions[i].file = new_files[i];
		fixture_node(now, t, 0, i, 10 * (i + 1), MS, MS);
	}
	d = compare(old, now, (struct diff_options){0});
	assert_int_equal(d->both->functions_cnt, 3);
	/* b.c; then d.c and what comes first of a.c and c.c: c.c; a.c is gone. */
	assert_int_equal(d->functions[0].stats[DIFF_OLD].calls, 2);
	assert_int_equal(d->functions[0].stats[DIFF_NEW].calls, 10);
	assert_int_equal(d->functions[1].stats[DIFF_OLD].calls, 3);
	assert_int_equal(d->functions[1].stats[DIFF_NEW].calls, 20);
	assert_int_equal(d->functions[2].stats[DIFF_OLD].calls, 1);
	assert_false(d->functions[2].there[DIFF_NEW]);
	release(d);
}

static void test_names_of_optimizers(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, MS);
	struct profile *now = program("prog", "/bin/prog", false, MS);
	struct diff *d;

	old->functions[1].symbol = "_ZN4work17h0123456789abcdefE";
	now->functions[1].symbol = "_ZN4work17hfedcba9876543210E";
	now->functions[2].name = now->functions[2].symbol = "leaf.constprop.0";
	d = compare(old, now, (struct diff_options){0});
	assert_int_equal(d->both->functions_cnt, 3);
	expect_calls(d, "work", 200, 200);
	expect_calls(d, "leaf.constprop.0", 400, 400);
	release(d);
}

/* Two workers then, one now; and a thread that is new. */
static void test_threads_by_name(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	struct diff *d;

	fixture_node(old, fixture_thread(old, 100, 102, "worker"), 0, 2, 3, MS, MS);
	fixture_node(old, fixture_thread(old, 100, 103, "worker"), 0, 2, 4, MS, MS);
	fixture_node(now, fixture_thread(now, 1, 9, "worker"), 0, 2, 5, MS, MS);
	fixture_node(now, fixture_thread(now, 1, 10, "another"), 0, 2, 6, MS, MS);
	d = compare(old, now, (struct diff_options){0});
	expect_folded(d, WEIGHT_CALLS,
		      "another;leaf 0 6\nprog;main 1 1\nprog;main;work 200 200\n"
		      "prog;main;work;leaf 400 400\nworker;leaf 7 5\n");
	release(d);
}

/* Spans are compared with spans only. */
static void test_spans_are_apart(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	uint32_t spans = fixture_thread(now, 100, 101, "worker");
	struct diff *d;

	fixture_node(old, fixture_thread(old, 100, 102, "worker"), 0, 2, 3, MS, MS);
	fixture_node(now, spans, 0, 2, 5, MS, MS);
	now->threads[spans].spans = 1;
	d = compare(old, now, (struct diff_options){0});
	expect_folded(d, WEIGHT_CALLS,
		      "prog;main 1 1\nprog;main;work 200 200\nprog;main;work;leaf 400 400\n"
		      "worker;leaf 3 0\nspans of worker;leaf 0 5\n");
	expect_in(d, &sink_tree, "[spans of worker] leaf\n");
	expect_in(d, &sink_json, "\"comm\":\"worker\",\"spans\":true,\"path\":[\"leaf\"]");
	release(d);
}

static void test_what_one_run_did_not_trace(void **state)
{
	static const struct profile_skip skip = {"leaf", "/elsewhere/prog", "tiny"};
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	struct diff *d;

	fixture_drop(old, (struct profile_drop){.function = 1, .at_ns = 5});
	now->functions[2].name = now->functions[2].symbol = "other";
	now->probes.skipped = &skip;
	now->probes.skipped_cnt = 1;
	d = compare(old, now, (struct diff_options){0});
	assert_int_equal(d->left_out_cnt, 2);
	assert_string_equal(d->both->functions[d->left_out[0].function].name, "work");
	assert_non_null(d->left_out[0].reason[DIFF_OLD]);
	assert_null(d->left_out[0].reason[DIFF_NEW]);
	assert_string_equal(d->both->functions[d->left_out[1].function].name, "leaf");
	assert_null(d->left_out[1].reason[DIFF_OLD]);
	assert_string_equal(d->left_out[1].reason[DIFF_NEW], "not probed");
	/* The time of the functions left out is main's, in both runs. */
	expect_folded(d, WEIGHT_WALL, "prog;main 70000000 50000000\nprog;main;other 0 20000000\n");
	release(d);
	/* With a part of its calls kept, it is known. */
	old = program("prog", "/bin/prog", false, 40 * MS);
	now = program("prog", "/bin/prog", false, 40 * MS);
	fixture_drop(now, (struct profile_drop){.function = 1, .at_ns = 5, .sampled = 10});
	now->functions[1].sampled = 10;
	d = compare(old, now, (struct diff_options){0});
	assert_int_equal(d->left_out_cnt, 0);
	assert_int_equal(find(d, "work")->sampled, 10);
	release(d);
}

/* Samples know what a dropped function takes in all of the run: twice as much is found, whichever
 * of the runs has dropped it. Its calls until then are not compared. */
static void test_dropped_and_sampled(void **state)
{
	for (int dropped = DIFF_OLD; dropped <= DIFF_RUNS; dropped++) {
		struct profile *runs[DIFF_RUNS];
		struct diff *d;

		for (uint32_t run = 0; run < DIFF_RUNS; run++) {
			struct profile *p = fixture_new();
			uint64_t ns = run == DIFF_NEW ? 2000 * MS : 1000 * MS;
			uint32_t n;

			fixture_function(p, "main");
			fixture_function(p, "dear");
			fixture_thread(p, 1, 1, "prog");
			p->sample_period_ns = 10 * MS;
			n = fixture_node(p, 0, 0, 0, 1, ns + 20 * MS, 20 * MS);
			n = fixture_node(p, 0, n, 1, 100 + run, ns, ns);
			p->nodes[n].stats.samples = ns / (10 * MS);
			p->nodes[n].stats.sampled_ns = p->nodes[n].stats.varied_ns = ns;
			if ((uint32_t)dropped == run || dropped == DIFF_RUNS)
				fixture_drop(p, (struct profile_drop){.function = 1, .at_ns = 5});
			fixture_finish(p);
			runs[run] = p;
		}
		d = compare(runs[DIFF_OLD], runs[DIFF_NEW], (struct diff_options){0});
		assert_int_equal(d->left_out_cnt, 0);
		assert_int_equal(d->by_samples_cnt, 1);
		assert_true(find(d, "dear")->by_samples);
		assert_int_equal(find(d, "dear")->self.ns, 1000 * MS);
		assert_false(find(d, "dear")->self.noise);
		assert_true(find(d, "dear")->calls_noise);
		expect_in(d, &sink_tree, "slower by 1.00 s (+98.0%): dear +1.00 s; all functions");
		expect_in(d, &sink_tree,
			  "1 function was dropped to keep to the budget: by samples");
		release(d);
	}
}

static void test_min_time(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	struct diff *d = compare(old, now, (struct diff_options){.min_time_ns = 30 * MS});

	/* work is above it in one run only. */
	assert_false(find(d, "work")->hidden);
	assert_true(find(d, "leaf")->hidden);
	expect_folded(d, WEIGHT_WALL,
		      "prog;main 10000000 10000000\nprog;main;work 1000000 40000000\n");
	release(d);
}

static void test_cpu(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 80 * MS);
	struct diff *d;

	for (uint32_t i = 1; i < 3; i++)
		now->nodes[i].stats.off_ns = 40 * MS;
	now->nodes[2].stats.off_self_ns = 40 * MS;
	d = compare(old, now, (struct diff_options){.time = DIFF_CPU});
	assert_int_equal(find(d, "work")->self.ns, 0);
	assert_int_equal(d->whole.ns, 0);
	release(d);
	old = program("prog", "/bin/prog", false, 40 * MS);
	now = program("prog", "/bin/prog", false, 80 * MS);
	now->nodes[2].stats.off_self_ns = 40 * MS;
	d = compare(old, now, (struct diff_options){.time = DIFF_OFF});
	assert_int_equal(find(d, "work")->self.ns, 40 * MS);
	release(d);
}

/* A spread of the calls' times makes the same change noise, if the calls are others. */
static void test_distribution(void **state)
{
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	struct diff *d;

	now->nodes[3].stats.calls = 396;
	now->nodes[3].stats.self_ns = now->nodes[3].stats.total_ns = 14 * MS;
	fixture_bucket(old, 2, 10, 200);
	fixture_bucket(old, 2, 90, 200);
	d = compare(old, now, (struct diff_options){0});
	assert_false(find(d, "leaf")->self.noise);
	release(d);
	old = program("prog", "/bin/prog", false, 40 * MS);
	now = program("prog", "/bin/prog", false, 40 * MS);
	now->nodes[3].stats.calls = 396;
	now->nodes[3].stats.self_ns = now->nodes[3].stats.total_ns = 14 * MS;
	/* One call in 400 takes nearly all of the time. */
	fixture_bucket(old, 2, 10, 399);
	fixture_bucket(old, 2, 150, 1);
	d = compare(old, now, (struct diff_options){0});
	assert_true(find(d, "leaf")->self.noise);
	release(d);
}

static void test_nothing(void **state)
{
	struct diff *d = compare(fixture_new(), fixture_new(), (struct diff_options){0});
	const struct sink *const sinks[] = {&sink_tree, &sink_flat, &sink_json, &sink_csv};
	const struct sink_options opts = {0};

	assert_int_equal(d->both->functions_cnt, 0);
	expect_folded(d, WEIGHT_WALL, "");
	for (size_t i = 0; i < sizeof(sinks) / sizeof(*sinks); i++) {
		FILE *out = tmpfile();

		assert_non_null(out);
		assert_int_equal(sinks[i]->write_diff(d, &opts, out), 0);
		fclose(out);
	}
	release(d);
}

/* Paths as deep as they come, in every format. */
static void test_deep(void **state)
{
	const struct sink *const sinks[] = {&sink_tree, &sink_json, &sink_csv};
	const struct sink_options opts = {.verbose = true};
	struct profile *runs[2];
	struct diff *d;

	for (int run = 0; run < 2; run++) {
		uint32_t f[2], t, n = 0;

		runs[run] = fixture_new();
		f[0] = fixture_function(runs[run], "ping");
		f[1] = fixture_function(runs[run], "pong");
		t = fixture_thread(runs[run], 1, 1, "deep");
		for (int i = 0; i < 3000; i++)
			n = fixture_node(runs[run], t, n, f[i & 1], 1, MS * (3000 - i),
					 MS * (run + 1));
	}
	d = compare(runs[0], runs[1], (struct diff_options){0});
	assert_int_equal(d->both->nodes_cnt, 3001);
	for (size_t i = 0; i < sizeof(sinks) / sizeof(*sinks); i++) {
		FILE *out = tmpfile();

		assert_non_null(out);
		assert_int_equal(sinks[i]->write_diff(d, &opts, out), 0);
		fclose(out);
	}
	release(d);
}

static void expect_lines(const struct diff *d, const struct sink *sink,
			 const struct sink_options *opts, const char *const *lines)
{
	FILE *out = tmpfile();
	char text[16384], *at = text;
	size_t len;

	assert_non_null(out);
	assert_int_equal(sink->write_diff(d, opts, out), 0);
	rewind(out);
	len = fread(text, 1, sizeof(text) - 1, out);
	text[len] = '\0';
	fclose(out);
	for (; *lines; lines++) {
		char *found = strstr(at, *lines);

		if (!found)
			print_message("missing: %s\nin: %s\n", *lines, at);
		assert_non_null(found);
		at = found;
	}
}

static void test_text(void **state)
{
	static const char *const expected[] = {
		"slower by 40.0 ms (+57.1%): work +40.0 ms; all functions have been called as "
		"often\nold  old.data (run 1, ",
		"\nin all traced calls 70.0 ms -> 110 ms: +40.0 ms, +57.1%\n"
		"of it on a CPU 70.0 ms -> 110 ms: +40.0 ms, +57.1%\n\n",
		"Functions by the change of their own time:\n",
		" +40.0 ms  +100.0%   40.0 ms  80.0 ms   +40.0 ms          200           =   "
		"200 us  400 us  work                                      prog\n",
		"     0 ns  2 functions changed within noise (-v lists them)\n",
		"Paths by the change of their own time:\n",
		" main > work\n",
		"     0 ns  2 paths changed within noise (-v lists them)\n",
		"Functions by the change of their calls: all have been called as often\n",
		NULL};
	static const char *const waiting[] = {"of it on a CPU 70.0 ms -> 70.0 ms: 0 ns, 0.0%\n"
					      "more than half of the change is waiting",
					      NULL};
	static const char *const alike[] = {
		"time has not changed by more than noise;",
		"\nin all traced calls 70.0 ms -> 71.0 ms: +1.00 ms, +1.4%, within noise\n", NULL};
	static const char *const verbose[] = {"within noise:", "leaf", NULL};
	static const char *const coloured[] = {"\033[31m", "+40.0 ms", "\033[1mwork", NULL};
	struct diff *d =
		compare(program("prog", "/bin/prog", false, 40 * MS),
			program("prog", "/bin/prog", false, 80 * MS), (struct diff_options){0});
	struct diff *other;

	expect_lines(d, &sink_tree, &(struct sink_options){0}, expected);
	other = compare(program("prog", "/bin/prog", false, 40 * MS),
			program("prog", "/bin/prog", false, 41 * MS), (struct diff_options){0});
	expect_lines(other, &sink_tree, &(struct sink_options){0}, alike);
	release(other);
	expect_lines(d, &sink_flat, &(struct sink_options){.verbose = true}, verbose);
	expect_lines(d, &sink_tree, &(struct sink_options){.color = true}, coloured);
	d->runs[DIFF_NEW].profile->nodes[1].stats.off_ns = 40 * MS;
	assert_int_equal(diff__new(d->runs, &d->opts, &other), 0);
	expect_lines(other, &sink_tree, &(struct sink_options){0}, waiting);
	diff__free(other);
	release(d);
}

static void expect_verdict(struct profile *old, struct profile *now, struct diff_options opts,
			   enum weight weight, const char *verdict)
{
	const struct sink_options shown = {.weight = weight};
	const char *const lines[] = {verdict, NULL};
	struct diff *d = compare(old, now, opts);

	expect_lines(d, &sink_tree, &shown, lines);
	release(d);
}

static struct profile *prog(uint64_t work_ns)
{
	return program("prog", "/bin/prog", false, work_ns);
}

/* The verdict is the sentence that people read first. */
static void test_verdict(void **state)
{
	static const struct profile_skip skip = {"leaf", "/elsewhere/prog", "tiny"};
	struct profile *now = prog(40 * MS);

	expect_verdict(prog(40 * MS), now, (struct diff_options){0}, WEIGHT_WALL,
		       "time has not changed by more than noise; all functions have been called as "
		       "often\nold");
	now = prog(20 * MS);
	now->nodes[2].stats.calls = 100;
	now->functions[2].name = now->functions[2].symbol = "another";
	expect_verdict(
		prog(40 * MS), now, (struct diff_options){.time = DIFF_CPU}, WEIGHT_CPU,
		"faster by 20.0 ms (-28.6%): work -20.0 ms, another +20.0 ms, leaf -20.0 ms; "
		"called more or less often: another new, leaf no longer, work -50.0%\n");
	/* Half of it is made good elsewhere. */
	now = prog(60 * MS);
	now->nodes[1].stats.total_ns -= 20 * MS;
	now->nodes[2].stats.total_ns -= 20 * MS;
	now->nodes[3].stats.total_ns = now->nodes[3].stats.self_ns = 0;
	expect_verdict(
		prog(40 * MS), now, (struct diff_options){0}, WEIGHT_WALL,
		"time in all is the same within noise, not that of functions: leaf -20.0 ms, "
		"work +20.0 ms; ");
	now = prog(40 * MS);
	now->nodes[3].stats.calls++;
	expect_verdict(prog(40 * MS), now, (struct diff_options){0}, WEIGHT_CALLS,
		       "called more or less often: leaf +0.2%\nold");
	now = prog(40 * MS);
	now->functions[2].name = now->functions[2].symbol = "other";
	now->probes.skipped = &skip;
	now->probes.skipped_cnt = 1;
	expect_verdict(prog(40 * MS), now, (struct diff_options){0}, WEIGHT_CALLS,
		       "called more or less often: other new\n");
}

/* The page shows the new run, and what has changed of its functions; a column has each of them. */
static void test_page(void **state)
{
	struct profile *now = prog(80 * MS);
	struct diff *d;

	now->functions[2].name = now->functions[2].symbol = "other";
	d = compare(prog(40 * MS), now, (struct diff_options){0});
	expect_in(d, &sink_html,
		  "\"diff\":{\"verdict\":\"slower by 40.0 ms (+57.1%): work +40.0 ms, other "
		  "+20.0 ms, leaf -20.0 ms; called more or less often: other new, leaf no longer\","
		  "\"compared\":\"time\",\"old\":\"old.data\",\"new\":\"new.data\","
		  "\"left_out\":0,\"old_calls\":[1,200,0,400],"
		  "\"old_self\":[10000000,40000000,0,20000000],"
		  "\"new_self\":[10000000,80000000,20000000,0],\"noise\":[1,0,0,0],"
		  "\"calls_noise\":[1,1,0,0],\"noise_ns\":[");
	expect_in(d, &sink_html, "\"calls\":[1,200,0,400]");
	release(d);
}

static void test_symbol_of_inlined(void **state)
{
	static const char *const csv[] = {"\"prog\",\"leaf\",\"\",", ",inlined,", NULL};
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	struct diff *d;

	old->functions[2].kind = now->functions[2].kind = FUNCTION_INLINED;
	d = compare(old, now, (struct diff_options){0});
	expect_lines(d, &sink_csv, &(struct sink_options){0}, csv);
	release(d);
}

/* A path of theirs looks like one of the thread's calls. */
static void test_spans_by_format(void **state)
{
	static const char *const text[] = {"[spans of prog] leaf\n", NULL};
	static const char *const json[] = {"\"comm\":\"prog\",\"spans\":true,\"path\":[\"leaf\"]",
					   NULL};
	static const char *const csv[] = {"\"prog\",\"leaf\",", ",region,", NULL};
	struct profile *old = program("prog", "/bin/prog", false, 40 * MS);
	struct profile *now = program("prog", "/bin/prog", false, 40 * MS);
	uint32_t spans = fixture_thread(now, 100, 101, "prog");
	struct diff *d;

	fixture_node(now, spans, 0, 2, 5, MS, MS);
	now->threads[spans].spans = 1;
	old->functions[2].kind = now->functions[2].kind = FUNCTION_REGION;
	d = compare(old, now, (struct diff_options){0});
	expect_lines(d, &sink_tree, &(struct sink_options){0}, text);
	expect_lines(d, &sink_json, &(struct sink_options){0}, json);
	expect_lines(d, &sink_csv, &(struct sink_options){0}, csv);
	release(d);
}

static void test_csv(void **state)
{
	static const char *const expected[] = {
		"path,caller,depth,comm,function,",
		"\r\n1,,0,\"prog\",\"main\",\"main\",\"/bin/prog\",1,1,70000000,110000000,",
		"\r\n2,1,1,\"prog\",\"work\",\"work\",\"/bin/prog\",200,200,60000000,100000000,"
		"40000000,80000000,40000000,80000000,0,0,40000000,0,40000000,4647580,0,"
		"function,exact,exact,0,0,0,0,0\r\n",
		NULL};
	struct diff *d =
		compare(program("prog", "/bin/prog", false, 40 * MS),
			program("prog", "/bin/prog", false, 80 * MS), (struct diff_options){0});

	expect_lines(d, &sink_csv, &(struct sink_options){0}, expected);
	release(d);
}

/* main is exact and lends the time of samples to what it calls, which is not traced. */
static struct profile *sampled(uint64_t copy, uint64_t hash)
{
	struct profile *p = fixture_new();
	uint32_t names[] = {fixture_function(p, "main"), fixture_function(p, "copy"),
			    fixture_function(p, "hash")};
	const uint64_t cnt[] = {0, copy, hash};
	uint32_t n;

	p->sample_period_ns = 10 * MS;
	fixture_thread(p, 1, 1, "prog");
	n = fixture_node(p, 0, 0, names[0], 1, 3000 * MS, (300 - copy - hash) * 10 * MS);
	p->nodes[n].stats.varied_ns = (copy + hash) * 10 * MS;
	for (int i = 1; i < 3; i++) {
		struct call_stats *s;
		uint32_t callee;

		p->functions[names[i]].kind = FUNCTION_CALLER;
		if (!cnt[i])
			continue;
		callee = fixture_node(p, 0, n, names[i], 0, cnt[i] * 10 * MS, cnt[i] * 10 * MS);
		s = &p->nodes[callee].stats;
		s->samples = cnt[i];
		s->sampled_ns = s->varied_ns = cnt[i] * 10 * MS;
	}
	fixture_finish(p);
	return p;
}

static void test_samples(void **state)
{
	struct diff *d = compare(sampled(100, 4), sampled(128, 0), (struct diff_options){0});
	const struct diff_figures *f = find(d, "copy");

	assert_int_equal(f->self.ns, 280 * MS);
	assert_int_equal(f->self.error_ns, 150996688);
	assert_true(f->self.noise && f->total.noise && f->uncounted && f->calls_noise);
	assert_int_equal(f->estimates[DIFF_OLD].source, SOURCE_SAMPLE);
	assert_int_equal(f->estimates[DIFF_OLD].cpu_error_ns, 100 * MS);
	/* Four samples and none: it may have been there. */
	assert_true(find(d, "hash")->self.noise);
	/* The own time that main gave to samples is uncertain; its total was measured. */
	assert_int_equal(find(d, "main")->self.error_ns, 152315462); /* sqrt(104 + 128) */
	assert_int_equal(find(d, "main")->total.error_ns, 0);
	expect_in(d, &sink_tree, "time has not changed by more than noise");
	expect_in(d, &sink_json, "\"unseen\":true");
	expect_in(d, &sink_json,
		  "\"source\":\"sample\",\"calls_error\":0,\"cpu_error_ns\":100000000}");
	expect_in(d, &sink_csv, ",sample,sample,0,0,100000000,113137084,150996688\r\n");
	release(d);
	d = compare(sampled(100, 0), sampled(200, 40), (struct diff_options){0});
	assert_false(find(d, "copy")->self.noise);
	assert_false(find(d, "hash")->self.noise || find(d, "hash")->unseen);
	expect_in(d, &sink_tree, "main -1.40 s, copy +1.00 s, hash +400 ms; all functions have");
	expect_in(d, &sink_tree, "  ~1.00 s  ~2.00 s    +1.00 s            -           -");
	release(d);
}

/* If only the old run has samples, the time of functions that only samples know goes back to their
 * callers, to be compared with a run that cannot know these functions. */
static void test_samples_of_one_run(void **state)
{
	struct profile *old = sampled(100, 4);
	struct diff *d;

	old->nodes_cnt = 2;
	old->nodes[1].stats.self_ns = old->nodes[1].stats.raw_self_ns = 3000 * MS;
	old->nodes[1].stats.varied_ns = old->sample_period_ns = 0;
	d = compare(old, sampled(100, 4), (struct diff_options){0});
	assert_int_equal(find(d, "main")->self.ns, 0);
	assert_int_equal(find(d, "main")->estimates[DIFF_NEW].source, SOURCE_EXACT);
	assert_true(find(d, "copy")->hidden);
	release(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_and_slower),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_same_file_name_elsewhere_is_kept_apart),
		cmocka_unit_test(test_only_in_one),
		cmocka_unit_test(test_one_name),
		cmocka_unit_test(test_names_of_optimizers),
		cmocka_unit_test(test_threads_by_name),
		cmocka_unit_test(test_spans_are_apart),
		cmocka_unit_test(test_what_one_run_did_not_trace),
		cmocka_unit_test(test_dropped_and_sampled),
		cmocka_unit_test(test_min_time),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_distribution),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_spans_by_format),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_symbol_of_inlined),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_samples_of_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
