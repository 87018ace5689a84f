// SPDX-License-Identifier: GPL-2.0-or-later
/* Recordings: what comes back, and what becomes of files that were cut or changed. */
#include "calls/tree.h"
#include "fixture.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/calls/block_reader.h"
#include "record/format/decode.h"
#include "record/format/encode.h"
#include "record/format/format.h"
#include "record/reader.h"
#include "record/writer.h"

#define MUTATIONS 20000
#define DEEP	  100000

static const struct sink_options plain = {.thread_frames = true};
static const char *const args[] = {"proftrace", "record", "-p", "1"};
static const struct run_info run_info = {1700000000.25, "9.9", "host", "6.18",
					 "x86_64",	1,     args,   4};
static const struct run_end ended = {"the target has ended"};
static char path[64]; /* of a file in memory: it is written very often */
static int file;

static int make_file(void **state)
{
	file = memfd_create("recording", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	/* Messages about damaged files, 20,000 of them, are not shown. */
	return file < 0 || !freopen("/dev/null", "w", stderr);
}

static int remove_file(void **state)
{
	return close(file);
}

/* Formats a profile as fixture_write() does, without a file. */
static char *format(const struct sink *sink, const struct profile *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(sink->write(p, &plain, out), 0);
	fclose(out);
	return text;
}

/* A path with the figures that its callees leave it: what is inclusive is derived. */
static uint32_t node(struct profile *p, uint32_t thread, uint32_t parent, uint32_t function,
		     uint64_t calls, uint64_t self_ns)
{
	uint32_t n = fixture_node(p, thread, parent, function, calls, self_ns, self_ns);

	for (uint32_t up = parent; up; up = p->nodes[up].parent) {
		p->nodes[up].stats.total_ns += self_ns;
		p->nodes[up].stats.raw_total_ns += self_ns;
	}
	return n;
}

/* Something of everything, and the largest figures that are let through. */
static struct profile *nasty(void)
{
	static const char *const aliases[] = {"other", "", "\xff;\n"};
	static const pid_t pids[] = {1, 4194304};
	static char *const command[] = {"prog", "", "a\xc3", NULL};
	static const struct profile_skip skipped[] = {{"x", "/m", "too small"}, {"", NULL, NULL}};
	struct profile *p = fixture_new();
	uint32_t main_, same, leaf, n;

	main_ = fixture_function(p, "main");
	same = fixture_function(p, "same");
	leaf = fixture_function(p, "same"); /* two functions of one name */
	fixture_function(p, "");
	p->functions[same].aliases = aliases;
	p->functions[same].aliases_cnt = 3;
	p->functions[same].offset = UINT64_MAX;
	p->functions[leaf].file = "leaf.c";
	p->functions[leaf].line = UINT32_MAX;
	p->functions[leaf].sampled = 100;
	p->functions[leaf].name = "leaf(int)";
	fixture_thread(p, 1, 1, "fifteen letters");
	fixture_thread(p, 1, 2, "");
	fixture_thread(p, 0x7fffffff, 0, "go");
	p->threads[2].goroutine = UINT64_MAX;
	p->threads[1].start_ns = UINT64_MAX;
	n = node(p, 0, 0, main_, 1, 0);
	node(p, 0, n, same, 1ull << 60, 1ull << 61);
	n = node(p, 0, n, leaf, 3, 7);
	p->nodes[n].stats.off_self_ns = p->nodes[n].stats.off_ns = 0;
	p->nodes[n].stats.min_ns = UINT64_MAX; /* none has finished */
	p->nodes[n].stats.max_ns = 0;
	p->nodes[n].stats.samples = 2;
	p->nodes[n].stats.sampled_ns = p->nodes[n].stats.burst_calls = 3;
	p->nodes[n].stats.varied_ns = p->nodes[n].stats.calls_varied = 1ull << 62;
	node(p, 2, 0, leaf, 0, 5);
	fixture_bucket(p, same, 0, 1);
	fixture_bucket(p, same, 495, 2);
	fixture_bucket(p, leaf, 3, 1ull << 40);
	fixture_drop(p, (struct profile_drop){leaf, 17, 0.5, 1e300, 100, "too dear"});
	fixture_cpu_share(p, (struct profile_cpu_share){"[kernel]", 1ull << 61, 0, 0});
	fixture_cpu_share(p, (struct profile_cpu_share){"/usr/bin/a\xff\"", 7, 5, 1});
	fixture_estimate(p, (struct profile_estimate){same, 0, 0});
	fixture_estimate(p, (struct profile_estimate){leaf, 3, 1ull << 61});
	n = fixture_inline(p, (struct profile_inline){"outer", "a.c", 7, 0});
	fixture_inline(p, (struct profile_inline){"inner", NULL, 0, n});
	fixture_line(p, (struct profile_line){"a.c", 9, same, 0, 5, 0, 0, NULL});
	fixture_line(p, (struct profile_line){"a.c", 9, leaf, 2, 1ull << 61, 1ull << 60, 1ull << 50,
					      NULL});
	fixture_line(p, (struct profile_line){"a.c", 10, leaf, 0, 0, 0, 0, "has no code"});
	fixture_line(p, (struct profile_line){"b.c", 1, main_, 1, 1, 1, 0, NULL});
	p->accounting.line_misses = 3;
	p->accounting.bursts = 20;
	p->accounting.burst_ns = 1ull << 61;
	p->accounting.waits = 1ull << 60;
	p->accounting.waits_lost = 4;
	p->accounting.waits_estimated = 1ull << 58;
	p->accounting.held_ns = 1ull << 59;
	p->sample_period_ns = 10309278;
	p->target = (struct profile_target){pids, 2, "/usr/bin/prog", command};
	p->start_time = 1700000000.25;
	p->duration_ns = 123456789;
	p->paused_ns = 12;
	p->accounting.untriggered = 21;
	p->max_overhead = 5;
	p->accounting.open = -3;
	p->accounting.cpu_ns = 1ull << 50;
	p->accounting.probe_ns = 12;
	p->probes.instrumented = UINT64_MAX;
	p->probes.sites[0].class_name = "nop5";
	p->probes.sites[0].count = 4;
	p->probes.sites_cnt = 1;
	p->probes.skipped = skipped;
	p->probes.skipped_cnt = 2;
	fixture_finish(p);
	return p;
}

static void record(const struct profile *p, bool append, bool end)
{
	struct writer *w;

	assert_int_equal(writer__open(path, append, &w), 0);
	assert_int_equal(writer__begin(w, &run_info), 0);
	assert_int_equal(writer__profile(w, p), 0);
	if (end)
		assert_int_equal(writer__end(w, &ended), 0);
	writer__free(w);
}

/* Loads the run and returns it as JSON, or NULL. */
static char *load(size_t run, size_t runs, struct recorded *r)
{
	struct reader *reader;
	char *text = NULL;

	*r = (struct recorded){0};
	if (reader__open(path, &reader))
		return NULL;
	if (runs)
		assert_int_equal(reader__runs(reader), runs);
	if (run < reader__runs(reader) && !reader__load(reader, run, r)) {
		assert_int_equal(profile__summarize(r->profile), 0);
		text = format(&sink_json, r->profile);
	}
	reader__free(reader);
	return text;
}

static void expect_run(size_t run, size_t runs, const struct profile *p, bool end)
{
	char *expected = format(&sink_json, p), *text;
	struct recorded r;

	text = load(run, runs, &r);
	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_int_equal(!!r.end.reason, end);
	if (end)
		assert_string_equal(r.end.reason, ended.reason);
	recorded__free(&r);
	free(text);
	free(expected);
}

static void test_round_trip(void **state)
{
	struct profile *p = nasty();
	struct recorded r;

	record(p, false, true);
	expect_run(0, 1, p, true);
	free(load(0, 1, &r));
	assert_string_equal(r.run_info.host, "host");
	assert_string_equal(r.run_info.kernel, "6.18");
	assert_string_equal(r.run_info.version, "9.9");
	assert_int_equal(r.run_info.raw, 1);
	assert_int_equal(r.run_info.args_cnt, 4);
	assert_string_equal(r.run_info.args[3], "1");
	/* Members that JSON does not show. */
	assert_int_equal(r.profile->threads[1].start_ns, UINT64_MAX);
	assert_string_equal(r.profile->threads[0].comm, "fifteen letters");
	assert_int_equal(r.profile->nodes[3].stats.min_ns, UINT64_MAX);
	assert_string_equal(r.profile->functions[2].symbol, "same");
	recorded__free(&r);
	profile__free(p);
}

/* Variances are squares: of two functions with 20 billion calls each, known to a quarter, and of
 * one with as many as anybody can count. */
static void test_uncertain_counts(void **state)
{
	static const double errors[] = {5e9, 5e9, 1099511627776};
	struct profile *p = fixture_new();
	uint32_t t = fixture_thread(p, 1, 1, "x");
	struct recorded r;

	p->accounting.bursts = 1;
	for (size_t i = 0; i < 3; i++) {
		uint32_t n = fixture_node(p, t, 0, fixture_function(p, "f"), 20000000000, 1, 1);

		p->nodes[n].stats.burst_calls = 20000000000;
		p->nodes[n].stats.calls_varied = errors[i] * errors[i];
	}
	fixture_finish(p);
	record(p, false, true);
	expect_run(0, 1, p, true);
	free(load(0, 1, &r));
	for (size_t i = 0; i < 3; i++)
		assert_true(r.profile->nodes[i + 1].stats.calls_varied == errors[i] * errors[i]);
	assert_int_equal(r.profile->estimates_cnt,
			 0); /* as of recordings that have no such table */
	recorded__free(&r);

	/* A function's own variance is not that of its paths. */
	for (uint32_t i = 0; i < 3; i++)
		fixture_estimate(p, (struct profile_estimate){i, 0, 4 * errors[i] * errors[i]});
	profile__count_estimates(p);
	assert_int_equal(profile__summarize(p), 0);
	record(p, false, true);
	expect_run(0, 1, p, true);
	free(load(0, 1, &r));
	for (size_t i = 0; i < 3; i++)
		assert_true(r.profile->functions[i].stats.calls_varied ==
			    4 * errors[i] * errors[i]);
	recorded__free(&r);
	profile__free(p);
}

static void test_empty(void **state)
{
	struct profile *p = fixture_new();

	fixture_finish(p);
	record(p, false, true);
	expect_run(0, 1, p, true);
	profile__free(p);
}

/* More than a block holds, and callers that stand behind their callees. */
static void test_large_and_deep(void **state)
{
	struct profile *p = fixture_new();
	uint32_t f = fixture_function(p, "f"), t = fixture_thread(p, 1, 1, "deep");
	struct recorded r;
	char *expected, *text;
	struct stat st;

	for (uint32_t i = 1; i <= DEEP; i++) {
		uint64_t self_ns = i * 2654435761u; /* compresses badly */

		fixture_node(p, t, i < DEEP ? i + 1 : 0, f, 1, self_ns, self_ns);
		if (i > 1) {
			p->nodes[i].stats.total_ns += p->nodes[i - 1].stats.total_ns;
			p->nodes[i].stats.raw_total_ns += p->nodes[i - 1].stats.raw_total_ns;
		}
	}
	fixture_finish(p);
	record(p, false, true);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > BLOCK_RAW_MAX / 2);
	expected = format(&sink_json, p);
	text = load(0, 1, &r);
	assert_non_null(text);
	assert_true(!strcmp(text, expected));
	free(text);
	free(expected);
	recorded__free(&r);
	profile__free(p);
}

static void test_append(void **state)
{
	struct profile *first = nasty(), *second = fixture_new();
	struct stat st;

	fixture_finish(second);
	assert_int_equal(ftruncate(file, 0), 0);
	record(first, true, true);
	assert_int_equal(stat(path, &st), 0);
	record(second, true, true);
	expect_run(0, 2, first, true);
	expect_run(1, 2, second, true);
	/* The rest of the second run's end, which was cut, makes room for a third run. */
	assert_int_equal(ftruncate(file, st.st_size + 30), 0);
	record(second, true, false);
	expect_run(0, 2, first, true);
	expect_run(1, 2, second, false);
	profile__free(first);
	profile__free(second);
}

static void write_file(const uint8_t *data, size_t len)
{
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, data, len, 0), len);
}

static void test_append_to_something_else(void **state)
{
	struct writer *w;
	struct stat st;

	write_file((const uint8_t *)"precious", 8);
	assert_true(writer__open(path, true, &w) < 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 8);
}

/* A small file in which the same run is written three times, and what it was then. */
#define STAGES 3
struct film {
	uint8_t data[8192];
	size_t len;
	size_t ends[STAGES]; /* of the blocks with the profiles */
	char *texts[STAGES];
};

static void shoot(struct film *f)
{
	struct profile *p = nasty();
	struct writer *w;
	struct stat st;

	assert_int_equal(writer__open(path, false, &w), 0);
	assert_int_equal(writer__begin(w, &run_info), 0);
	for (int i = 0; i < STAGES; i++) {
		p->duration_ns = 1000 + i;
		assert_int_equal(writer__profile(w, p), 0);
		assert_int_equal(stat(path, &st), 0);
		f->ends[i] = st.st_size;
		f->texts[i] = format(&sink_json, p);
	}
	assert_int_equal(writer__end(w, &ended), 0);
	writer__free(w);
	f->len = pread(file, f->data, sizeof(f->data), 0);
	assert_true(f->len > f->ends[STAGES - 1] && f->len < sizeof(f->data));
	profile__free(p);
}

static void film_free(struct film *f)
{
	for (int i = 0; i < STAGES; i++)
		free(f->texts[i]);
}

/* The profile that is whole if the first `len` bytes are; NULL: none. */
static const char *newest(const struct film *f, size_t len)
{
	const char *text = NULL;

	for (int i = 0; i < STAGES; i++)
		text = f->ends[i] <= len ? f->texts[i] : text;
	return text;
}

static void test_cut_at_every_byte(void **state)
{
	struct film f;

	shoot(&f);
	for (size_t len = 0; len < f.len; len++) {
		const char *expected = newest(&f, len);
		struct recorded r;
		char *text;

		write_file(f.data, len);
		text = load(0, 0, &r);
		assert_int_equal(!!text, !!expected);
		if (text)
			assert_string_equal(text, expected);
		assert_null(r.end.reason);
		free(text);
		recorded__free(&r);
	}
	film_free(&f);
}

/* Whatever a byte is changed to, all that is whole before it is there. */
static void test_mutations(void **state)
{
	unsigned int seed = 1;
	struct film f;

	shoot(&f);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t at = rand_r(&seed) % f.len;
		uint8_t was = f.data[at], now = was ^ (1 + rand_r(&seed) % 255);
		const char *expected = at < RECORD_MAGIC_LEN ? NULL : newest(&f, at);
		struct recorded r;
		char *text;

		f.data[at] = now;
		write_file(f.data, f.len);
		f.data[at] = was;
		text = load(0, 0, &r);
		assert_int_equal(!!text, !!expected);
		if (text)
			assert_string_equal(text, expected);
		free(text);
		recorded__free(&r);
	}
	film_free(&f);
}

/* Changed bytes with right checksums: if the reader lets a profile through all formats can write
 * it. */
static void test_mutated_content(void **state)
{
	struct profile *p = nasty(), *q;
	struct bytes content = {0};
	unsigned int seed = 1;
	int accepted = 0;

	assert_int_equal(encode__profile(p, &content), 0);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t at = rand_r(&seed) % content.len, len = content.len;
		uint8_t was = content.data[at];
		struct memory m = {0};

		content.data[at] = rand_r(&seed);
		if (rand_r(&seed) % 8 == 0)
			len = rand_r(&seed) % len;
		if (!decode__profile(content.data, len, &m, &q)) {
			assert_int_equal(profile__summarize(q), 0);
			for (size_t s = 0; s < 4; s++)
				free(format(sink__at(s), q));
			profile__free(q);
			accepted++;
		}
		memory__free(&m);
		content.data[at] = was;
	}
	assert_true(accepted > MUTATIONS / 100 && accepted < MUTATIONS);
	free(content.data);
	profile__free(p);
}

static void refuse(struct profile *p)
{
	struct bytes content = {0};
	struct memory m = {0};
	struct profile *q;

	assert_int_equal(encode__profile(p, &content), 0);
	assert_int_equal(decode__profile(content.data, content.len, &m, &q), -EINVAL);
	memory__free(&m);
	free(content.data);
	profile__free(p);
}

/* A small file may claim many rows: they take what its bytes are worth, and no more. */
static void test_rows_beyond_their_room(void **state)
{
	enum { ROWS = 1000000 };
	struct profile *p = nasty(), *q;
	struct profile_skip *rows = calloc(ROWS, sizeof(*rows));
	const struct profile_skip *before = p->probes.skipped;
	const struct content small = {.stored_len = 3000}, large = {.stored_len = 3000000};
	size_t before_cnt = p->probes.skipped_cnt;
	struct bytes content = {0};
	struct memory m = {.room = content__memory(&small)};

	assert_non_null(rows);
	for (size_t i = 0; i < ROWS; i++)
		rows[i] = before[0];
	p->probes.skipped = rows;
	p->probes.skipped_cnt = ROWS;
	assert_int_equal(encode__profile(p, &content), 0);
	assert_int_equal(decode__profile(content.data, content.len, &m, &q), -EFBIG);
	memory__free(&m);
	m.room = content__memory(&large);
	assert_int_equal(decode__profile(content.data, content.len, &m, &q), 0);
	assert_int_equal(q->probes.skipped_cnt, ROWS);
	profile__free(q);
	memory__free(&m);
	free(content.data);
	p->probes.skipped = before;
	p->probes.skipped_cnt = before_cnt;
	free(rows);
	profile__free(p);
}

/* Contents that no run of ours would write. */
static void test_nonsense(void **state)
{
	struct profile *p = nasty();

	p->nodes[1].parent = 3; /* a circle */
	refuse(p);
	p = nasty();
	p->nodes[3].parent = 3;
	refuse(p);
	p = nasty();
	p->nodes[3].parent = 4; /* of another thread */
	refuse(p);
	p = nasty();
	p->nodes[3].function = 4;
	refuse(p);
	p = nasty();
	p->nodes[3].thread = 3;
	p->nodes[3].parent = 0;
	refuse(p);
	p = nasty();
	p->nodes[2].stats.self_ns = INT64_MAX; /* with the others' it is too much */
	refuse(p);
	p = nasty();
	p->nodes[3].stats.off_self_ns = 8;
	refuse(p);
	p = nasty();
	p->buckets[1].bucket = 496;
	refuse(p);
	p = nasty();
	p->buckets[1].bucket = 0; /* twice */
	refuse(p);
	p = nasty();
	p->drops[0].function = 4;
	refuse(p);
	p = nasty();
	p->estimates[1].function = 4;
	refuse(p);
	p = nasty();
	p->estimates[1].function = p->estimates[0].function; /* twice */
	refuse(p);
	p = nasty();
	p->cpu_shares[1].module = NULL;
	refuse(p);
	p = nasty();
	p->cpu_shares[1].traced = 8; /* of 7 */
	refuse(p);
	p = nasty();
	p->cpu_shares[1].samples = UINT64_MAX; /* with the kernel's it is too much */
	refuse(p);
	p = nasty();
	p->start_time = 1.0 / 0.0;
	refuse(p);
	p = nasty();
	p->probes.sites[0].class_name = "\",";
	refuse(p);
}

static void test_nonsense_of_lines(void **state)
{
	struct profile *p = nasty();

	p->lines[0].file = NULL;
	refuse(p);
	p = nasty();
	p->lines[3].file = "a"; /* out of order */
	refuse(p);
	p = nasty();
	p->lines[0].line = 0;
	refuse(p);
	p = nasty();
	p->lines[1].function = 4;
	refuse(p);
	p = nasty();
	p->lines[1].inlined = 3;
	refuse(p);
	p = nasty();
	p->lines[2].hits = 1; /* and it was not probed */
	refuse(p);
	p = nasty();
	p->lines[3].ns = INT64_MAX; /* with the others' it is too much */
	refuse(p);
	p = nasty();
	p->inlines[0].name = NULL;
	refuse(p);
	p = nasty();
	p->inlines[0].parent = 2; /* a circle */
	refuse(p);
	p = nasty();
	p->inlines[1].parent = 2;
	refuse(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_uncertain_counts),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_large_and_deep),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_append_to_something_else),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_mutated_content),
		cmocka_unit_test(test_rows_beyond_their_room),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_nonsense_of_lines),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
