// SPDX-License-Identifier: GPL-2.0-or-later
/* Single calls in recordings: what comes back, out of files that were cut, changed, or made up. */
#include "calls_fixture.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/calls/block_writer.h"
#include "record/calls/call_block.h"
#include "record/calls/preorder.h"
#include "record/format/decode.h"
#include "record/format/encode.h"
#include "record/format/layout.h"

#define MUTATIONS 20000

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

static off_t file_size(void)
{
	struct stat st;

	assert_int_equal(fstat(file, &st), 0);
	return st.st_size;
}

static void end(struct writer *w)
{
	assert_int_equal(writer__end(w, &(struct run_end){"done"}), 0);
	writer__free(w);
}

static void record_callstacks(struct callstack_calls *callstacks, uint32_t cnt, size_t part)
{
	struct writer *w = begin_calls(path, false, 0, cnt);
	bool more = true;

	for (int round = 0; more; round++) {
		more = false;
		for (uint32_t i = 0; i < cnt; i++) {
			write_some(w, i + 1, &callstacks[i], part + i);
			more |= callstacks[i].written < callstacks[i].cnt;
		}
		if (round % 3 == 2)
			assert_int_equal(writer__flush(w), 0);
	}
	end(w);
}

static void expect_callstacks(struct callstack_calls *callstacks, uint32_t cnt)
{
	struct recorded r;
	uint64_t sum = 0;

	assert_true(load_calls(path, 0, &r));
	assert_int_equal(r.profile->threads_cnt, cnt);
	for (uint32_t i = 0; i < cnt; i++) {
		expect_calls(r.profile, thread_of(r.profile, i + 1), callstacks[i].calls,
			     callstacks[i].cnt);
		sum += callstacks[i].cnt;
		free(callstacks[i].calls);
	}
	assert_int_equal(r.calls, sum);
	assert_int_equal(r.profile->timeline->lost, 0);
	assert_int_equal(r.forgotten.calls, 0);
	recorded__free(&r);
}

/* A call stack so large that calls are open from one part of the file to others. */
static void test_one_large_callstack(void **state)
{
	struct callstack_calls callstack = make_calls(1, 200000, 1);

	record_callstacks(&callstack, 1, 5000);
	expect_callstacks(&callstack, 1);
}

static void test_many_callstacks(void **state)
{
	struct callstack_calls callstacks[300];

	for (uint32_t i = 0; i < 300; i++)
		callstacks[i] = make_calls(i + 1, i % 50 ? 1 + i : 40000 + i, i);
	record_callstacks(callstacks, 300, 20);
	expect_callstacks(callstacks, 300);
}

/* Many more call stacks than share a block, written before they have gathered much. */
static void test_more_than_is_gathered(void **state)
{
	enum { CALLSTACKS = 3000 };
	struct callstack_calls *callstacks = calloc(CALLSTACKS, sizeof(*callstacks));
	struct writer *w;

	for (uint32_t i = 0; i < CALLSTACKS; i++)
		callstacks[i] = make_calls(i + 1, 100 + i % 200, i);
	w = begin_calls(path, false, 0, CALLSTACKS);
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < CALLSTACKS; i++)
			write_some(w, i + 1, &callstacks[i], 100);
	}
	end(w);
	expect_callstacks(callstacks, CALLSTACKS);
	free(callstacks);
}

/* A thread that the profile knows, with one path of it. */
static void test_profile_knows_some(void **state)
{
	struct callstack_calls callstacks[2] = {make_calls(1, 100, 1), make_calls(2, 100, 2)};
	struct profile *p = calls_profile();
	struct writer *w = begin_calls(path, false, 0, 1);
	struct recorded_callstack other = {
		.pid = 7, .tid = 101, .start_ns = 1000, .callstack_ns = 5};
	struct recorded_path unknown = {0, LEVELS, 1};
	struct timeline_call call = {2 * LEVELS + 1, 1, 2, 0};
	struct recorded r;
	uint32_t t;

	write_some(w, 1, &callstacks[0], 100);
	t = fixture_thread(p, 7, 101, "name");
	fixture_node(p, t, fixture_node(p, t, 0, 0, 1, 30, 10), 1, 2, 20, 20);
	p->accounting.timeline_lost = 5;
	assert_int_equal(writer__profile(w, p), 0);
	/* Another stack of the same thread; the profile that follows does not have its function. */
	assert_int_equal(writer__callstacks(w, &other, 1), 0);
	for (uint32_t d = 0; d < LEVELS; d++) {
		struct recorded_path at = {d ? path_number(2, d - 1) : 0, d, 2};

		assert_int_equal(writer__paths(w, &at, 1), 0);
	}
	write_some(w, 2, &callstacks[1], 100);
	assert_int_equal(writer__paths(w, &unknown, 1), 0);
	assert_int_equal(writer__calls(w, 1, &call, 1), 0);
	assert_int_equal(writer__flush(w), 0);
	writer__free(w);

	assert_true(load_calls(path, 0, &r));
	assert_null(r.end.reason);
	assert_int_equal(r.profile->threads_cnt, 2);
	assert_string_equal(r.profile->threads[1].comm, "name");
	assert_int_equal(r.profile->threads[1].callstack_ns, 5);
	assert_int_equal(r.profile->nodes_cnt, 1 + 2 * LEVELS);
	assert_int_equal(r.profile->nodes[1].stats.calls, 1);
	assert_int_equal(r.profile->nodes[2].stats.calls, 2);
	assert_int_equal(r.profile->nodes[3].stats.calls, 0);
	assert_int_equal(r.profile->nodes[3].stats.min_ns, UINT64_MAX);
	assert_int_equal(r.profile->timeline->lost, 5 + 1);
	expect_calls(r.profile, 0, callstacks[0].calls, 100);
	expect_calls(r.profile, 1, callstacks[1].calls, 100);
	recorded__free(&r);
	free(callstacks[0].calls);
	free(callstacks[1].calls);
	profile__free(p);
}

/* Threads are in any order in the profile: here the last is the first by number. */
static void test_threads_in_any_order(void **state)
{
	struct callstack_calls callstacks[3];
	struct profile *p = calls_profile();
	struct writer *w = begin_calls(path, false, 0, 3);
	struct recorded r;

	for (uint32_t callstack = 3; callstack; callstack--) {
		uint32_t t = fixture_thread(p, 7, 100 + callstack, "name");

		fixture_node(p, t, 0, 0, 1, 30, 30);
		callstacks[callstack - 1] = make_calls(callstack, 100, callstack);
		write_some(w, callstack, &callstacks[callstack - 1], 100);
	}
	assert_int_equal(writer__profile(w, p), 0);
	assert_int_equal(writer__flush(w), 0);
	writer__free(w);

	assert_true(load_calls(path, 0, &r));
	assert_int_equal(r.profile->threads_cnt, 3);
	for (uint32_t callstack = 1; callstack <= 3; callstack++) {
		assert_int_equal(thread_of(r.profile, callstack), 3 - callstack);
		expect_calls(r.profile, 3 - callstack, callstacks[callstack - 1].calls, 100);
		free(callstacks[callstack - 1].calls);
	}
	recorded__free(&r);
	profile__free(p);
}

/* A call stack that comes back under another number is one thread. */
static void test_callstack_twice(void **state)
{
	struct callstack_calls callstack = make_calls(1, 1000, 1);
	struct writer *w = begin_calls(path, false, 0, 1);
	struct recorded_callstack again = callstack_identity(1);
	struct recorded r;

	write_some(w, 1, &callstack, 500);
	assert_int_equal(writer__callstacks(w, &again, 1), 0);
	for (uint32_t d = 0; d < LEVELS; d++) {
		struct recorded_path at = {d ? path_number(2, d - 1) : 0, d, 2};

		assert_int_equal(writer__paths(w, &at, 1), 0);
	}
	for (size_t i = 500; i < 1000; i++)
		callstack.calls[i].node += LEVELS;
	write_some(w, 2, &callstack, 500);
	end(w);
	assert_true(load_calls(path, 0, &r));
	assert_int_equal(r.profile->threads_cnt, 1);
	expect_calls(r.profile, 0, callstack.calls, 1000);
	recorded__free(&r);
	free(callstack.calls);
}

static void test_without_calls(void **state)
{
	struct recorded r;

	end(begin_calls(path, false, 0, 0));
	assert_true(load_calls(path, 0, &r));
	assert_null(r.profile->timeline);
	recorded__free(&r);
}

/* A block of a later version. */
static void test_unknown_block(void **state)
{
	struct callstack_calls callstack = make_calls(1, 10, 1);
	struct writer *w = begin_calls(path, false, 0, 1);
	struct block_writer later;
	struct bytes content = {malloc(3), 3, 3};
	struct recorded r;

	write_some(w, 1, &callstack, 5);
	assert_int_equal(writer__flush(w), 0);
	assert_int_equal(block_writer__init(&later, path, dup(file)), 0);
	assert_int_equal(lseek(file, 0, SEEK_END), file_size());
	memcpy(content.data, "abc", 3);
	assert_int_equal(block_writer__pack(&later, 8, &content, 0), 0);
	assert_int_equal(block_writer__put(&later), 0);
	block_writer__fini(&later);
	writer__free(w);
	assert_true(load_calls(path, 0, &r));
	expect_calls(r.profile, 0, callstack.calls, 5);
	recorded__free(&r);
	free(callstack.calls);
}

/* A small file, and what it held when. */
#define CALLSTACKS 3
#define STAGES	   6
struct film {
	uint8_t data[16384];
	size_t len;
	struct callstack_calls callstacks[CALLSTACKS];
	size_t ends[STAGES]; /* of the file */
	size_t written[STAGES][CALLSTACKS];
};

static void shoot(struct film *f)
{
	struct writer *w = begin_calls(path, false, 0, 1);

	for (uint32_t i = 0; i < CALLSTACKS; i++)
		f->callstacks[i] = make_calls(i + 1, 60, i);
	for (int s = 0; s < STAGES; s++) {
		if (s && s < CALLSTACKS)
			write_callstack_names(w, s + 1);
		for (int i = 0; i < CALLSTACKS && i <= s; i++)
			write_some(w, i + 1, &f->callstacks[i], 10);
		assert_int_equal(writer__flush(w), 0);
		f->ends[s] = file_size();
		for (int i = 0; i < CALLSTACKS; i++)
			f->written[s][i] = f->callstacks[i].written;
	}
	end(w);
	f->len = pread(file, f->data, sizeof(f->data), 0);
	assert_true(f->len > f->ends[STAGES - 1] && f->len < sizeof(f->data));
}

static void film_free(struct film *f)
{
	for (int i = 0; i < CALLSTACKS; i++)
		free(f->callstacks[i].calls);
}

/* Loads a file of which the first `whole` bytes are as they were. */
static void expect_whole(const struct film *f, size_t whole)
{
	struct recorded r;
	int stage = -1;

	while (stage + 1 < STAGES && f->ends[stage + 1] <= whole)
		stage++;
	if (!load_calls(path, 0, &r)) {
		assert_true(stage < 0);
		return;
	}
	assert_int_equal(stage < 0, count_calls(r.profile) == 0);
	for (int i = 0; i < CALLSTACKS && stage >= i; i++)
		expect_calls(r.profile, thread_of(r.profile, i + 1), f->callstacks[i].calls,
			     f->written[stage][i]);
	recorded__free(&r);
}

static void write_file(const uint8_t *data, size_t len)
{
	assert_int_equal(ftruncate(file, 0), 0);
	assert_int_equal(pwrite(file, data, len, 0), len);
}

static void test_cut_at_every_byte(void **state)
{
	struct film f;

	shoot(&f);
	for (size_t len = 0; len <= f.len; len++) {
		write_file(f.data, len);
		expect_whole(&f, len);
	}
	film_free(&f);
}

static void test_mutations(void **state)
{
	unsigned int seed = 1;
	struct film f;

	shoot(&f);
	for (int i = 0; i < MUTATIONS; i++) {
		size_t at = rand_r(&seed) % f.len;
		uint8_t was = f.data[at];

		f.data[at] ^= 1 + rand_r(&seed) % 255;
		write_file(f.data, f.len);
		f.data[at] = was;
		if (at >= RECORD_MAGIC_LEN)
			expect_whole(&f, at);
	}
	film_free(&f);
}

/* A file with one block more, which the checksums speak for. */
static void append_content(off_t at, enum block_type type, const struct bytes *content)
{
	struct block_writer w;
	struct bytes copy = {malloc(content->len + 1), content->len, content->len + 1};

	memcpy(copy.data, content->data, content->len);
	assert_int_equal(ftruncate(file, at), 0);
	assert_int_equal(lseek(file, at, SEEK_SET), at);
	assert_int_equal(block_writer__init(&w, path, dup(file)), 0);
	assert_int_equal(block_writer__pack(&w, type, &copy, 0), 0);
	assert_int_equal(block_writer__put(&w), 0);
	block_writer__fini(&w);
}

static void mutate(struct bytes *content, off_t at, enum block_type type)
{
	unsigned int seed = 1;
	int accepted = 0;

	for (int i = 0; i < MUTATIONS / 4; i++) {
		size_t place = rand_r(&seed) % content->len;
		uint8_t was = content->data[place];
		uint64_t cnt = 0;
		struct recorded r;
		int err = 0;

		content->data[place] = rand_r(&seed);
		append_content(at, type, content);
		content->data[place] = was;
		if (!load_calls(path, 0, &r))
			continue;
		for (uint32_t t = 0; t < r.profile->threads_cnt && !err; t++)
			err = walk_calls(r.profile, t, &cnt);
		assert_true(cnt + r.profile->timeline->lost <= r.calls);
		recorded__free(&r);
		accepted += !err;
	}
	assert_true(accepted > MUTATIONS / 100 && accepted < MUTATIONS);
}

static void test_mutated_content(void **state)
{
	struct callstack_calls callstacks[2] = {make_calls(1, 30, 1), make_calls(2, 30, 2)};
	const struct call_segment segments[] = {
		{1, 20, callstacks[0].calls},
		{2, 30, callstacks[1].calls},
		{1, 10, callstacks[0].calls + 20},
	};
	const struct recorded_callstack more = callstack_identity(9);
	const struct recorded_path paths[] = {{0, 1, 1}, {0, 1, 3}, {2 * LEVELS + 2, 3, 3}};
	struct bytes content = {0};
	struct writer *w = begin_calls(path, false, 0, 2);
	off_t at;

	assert_int_equal(writer__flush(w), 0);
	at = file_size();
	assert_int_equal(encode__calls(segments, 3, &content), 0);
	mutate(&content, at, BLOCK_CALLS);
	free(content.data);

	assert_int_equal(ftruncate(file, at), 0);
	assert_int_equal(lseek(file, at, SEEK_SET), at);
	content = (struct bytes){0};
	assert_int_equal(encode__calls(segments, 3, &content), 0);
	append_content(at, BLOCK_CALLS, &content);
	free(content.data);
	content = (struct bytes){0};
	assert_int_equal(encode__paths(&more, 1, paths, 3, &content), 0);
	mutate(&content, file_size(), BLOCK_PATHS);
	free(content.data);
	writer__free(w);
	free(callstacks[0].calls);
	free(callstacks[1].calls);
}

/* Blocks that no writer of ours makes. */
static void test_values_that_make_no_sense(void **state)
{
	enum { CALLS = 2, MANY = 100 };
	static char text[CALL_VALUES_SIZE];
	const struct segment_row segment = {1, CALLS};
	const struct call_row calls[CALLS] = {{1, 1, 0, 1}, {1, 1, 0, 1}};
	struct value_row many[MANY];
	const struct {
		struct value_row rows[3];
		int err;
	} cases[] = {
		{{{0, VALUE_INT, 5}, {0, VALUE_NONE}, {1, VALUE_TEXT, 0, "x"}}, 0},
		{{{1, VALUE_INT, 5}, {1, VALUE_NONE}, {0, VALUE_INT}}, -EINVAL}, /* out of order */
		{{{0, VALUE_INT, 5}, {1, VALUE_NONE}, {CALLS, VALUE_INT}}, -EINVAL},
		{{{0, VALUE_INT, 5}, {1, VALUE_NONE}, {1, VALUE_TEXT}}, -EINVAL}, /* no text */
		{{{0, VALUE_INT, 5}, {1, VALUE_NONE}, {1, VALUE_TEXT + 1}}, -EINVAL},
		{{{0, VALUE_INT, 5}, {1, VALUE_NONE}, {1, UINT32_MAX}}, -EINVAL},
	};

	memset(text, 'x', sizeof(text) - 1);
	for (size_t i = 0; i <= sizeof(cases) / sizeof(cases[0]); i++) {
		/* At last: one text that would be copied again and again. */
		bool last = i == sizeof(cases) / sizeof(cases[0]);
		const struct table_rows tables[] = {
			{&layout_segments, &segment, 1},
			{&layout_calls, calls, CALLS},
			{&layout_values, last ? many : cases[i].rows, last ? MANY : 3},
		};
		struct timeline_call *got = NULL;
		struct memory memory = {0};
		struct bytes content = {0};
		size_t cnt;

		for (int k = 0; k < MANY; k++)
			many[k] = (struct value_row){0, VALUE_TEXT, 0, text};
		assert_int_equal(encode__tables(tables, 3, &content), 0);
		assert_int_equal(decode__calls(content.data, content.len, &memory, &got, &cnt),
				 last ? -EINVAL : cases[i].err);
		if (!i) {
			assert_int_equal(got[0].values_cnt, 2);
			assert_int_equal(got[0].values[0].i, 5);
			assert_int_equal(got[1].values_cnt, 1);
			assert_string_equal(got[1].values[0].text, "x");
			free(got);
		}
		memory__free(&memory);
		free(content.data);
	}
}

/* No value is as long; and its call is kept without. */
static void test_values_too_long(void **state)
{
	static char text[2 * CALL_VALUES_SIZE];
	const struct call_value value = {VALUE_TEXT, {.text = text}};
	struct timeline_call call = {.node = 1, .enter_ns = 1, .leave_ns = 2};
	struct writer *w = begin_calls(path, false, 0, 1);
	struct recorded r;

	memset(text, 'x', sizeof(text) - 1);
	call.values = &value;
	call.values_cnt = 1;
	assert_int_equal(writer__calls(w, 1, &call, 1), 0);
	end(w);
	assert_true(load_calls(path, 0, &r));
	call.values_cnt = 0;
	expect_calls(r.profile, thread_of(r.profile, 1), &call, 1);
	recorded__free(&r);
}

/* From before the start on, which is cut off, and waiting all the time. */
static void test_call_longer_than_the_run(void **state)
{
	struct segment_row segment = {.callstack = 1, .cnt = 1};
	struct call_row row = {.gap_ns = 50, .duration_ns = 1000, .off_ns = 900, .path = 1};
	const struct table_rows tables[] = {{&layout_segments, &segment, 1},
					    {&layout_calls, &row, 1}};
	struct timeline_call *calls;
	struct bytes content = {0};
	struct memory memory = {0};
	size_t cnt;

	assert_int_equal(encode__tables(tables, 2, &content), 0);
	assert_int_equal(decode__calls(content.data, content.len, &memory, &calls, &cnt), 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(calls[0].enter_ns, 0);
	assert_int_equal(calls[0].leave_ns, 50);
	assert_int_equal(calls[0].off_ns, 50);
	free(calls);
	memory__free(&memory);
	free(content.data);
}

/* Ends go up, and that is all that can be said of these calls. */
static void test_calls_that_do_not_nest(void **state)
{
	enum { CALLS = 2500000 }; /* more than are held at once */
	struct timeline_call *calls = calloc(CALLS, sizeof(*calls)), call;
	struct writer *w = begin_calls(path, false, 0, 1);
	unsigned int seed = 1;
	uint64_t sum = 0, found = 0, now = 0;
	struct recorded r;

	for (int i = 0; i < CALLS; i++) {
		now += rand_r(&seed) % 3;
		calls[i] = (struct timeline_call){1, now - rand_r(&seed) % (now + 1), now, 0};
		sum += calls[i].enter_ns;
	}
	assert_int_equal(writer__calls(w, 1, calls, CALLS), 0);
	end(w);
	assert_true(load_calls(path, 0, &r));
	assert_int_equal(count_calls(r.profile), CALLS);
	assert_int_equal(r.profile->timeline->rewind(r.profile->timeline, 0), 0);
	while (r.profile->timeline->next(r.profile->timeline, 0, &call) > 0)
		found += call.enter_ns;
	assert_int_equal(found, sum);
	recorded__free(&r);
	free(calls);
}

static void expect_order(const uint64_t times[][2], uint32_t cnt, const uint32_t *expected)
{
	struct timeline_call calls[8] = {0};
	uint32_t order[8], scratch[16];

	for (uint32_t i = 0; i < cnt; i++) {
		calls[i].enter_ns = times[i][0];
		calls[i].leave_ns = times[i][1];
	}
	preorder__of(calls, cnt, order, scratch);
	assert_memory_equal(order, expected, cnt * sizeof(*order));
}

static void test_preorder(void **state)
{
	expect_order(NULL, 0, NULL);
	expect_order((const uint64_t[][2]){{1, 2}}, 1, (const uint32_t[]){0});
	expect_order((const uint64_t[][2]){{2, 3}, {4, 5}, {1, 6}, {8, 9}, {7, 9}}, 5,
		     (const uint32_t[]){2, 0, 1, 4, 3});
	/* All at once: callers end later. */
	expect_order((const uint64_t[][2]){{1, 2}, {1, 3}, {1, 3}, {1, 4}}, 4,
		     (const uint32_t[]){3, 2, 1, 0});
	/* These calls overlap. */
	expect_order((const uint64_t[][2]){{5, 10}, {3, 12}, {4, 13}}, 3,
		     (const uint32_t[]){1, 2, 0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_preorder),
		cmocka_unit_test(test_one_large_callstack),
		cmocka_unit_test(test_many_callstacks),
		cmocka_unit_test(test_more_than_is_gathered),
		cmocka_unit_test(test_profile_knows_some),
		cmocka_unit_test(test_threads_in_any_order),
		cmocka_unit_test(test_callstack_twice),
		cmocka_unit_test(test_without_calls),
		cmocka_unit_test(test_unknown_block),
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_mutated_content),
		cmocka_unit_test(test_values_that_make_no_sense),
		cmocka_unit_test(test_values_too_long),
		cmocka_unit_test(test_call_longer_than_the_run),
		cmocka_unit_test(test_calls_that_do_not_nest),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
