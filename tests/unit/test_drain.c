// SPDX-License-Identifier: GPL-2.0-or-later
/* Single calls out of tables that were filled by hand. */
#include "tables_fixture.h"

#include <errno.h>

#include "calls/profile.h"
#include "calls/values.h"
#include "collect/collector.h"
#include "timeline/stream.h"
#include "timeline/timeline.h"

enum { MAIN, WORK, LEAF, FUNCTIONS };

#define START 1000
#define MOST  8192

static struct collector *collector;

/* The calls that have come, in order. */
static struct {
	struct recorded_callstack callstacks[64];
	struct recorded_path paths[256];
	struct timeline_call calls[MOST]; /* with copies of their values */
	uint32_t calls_callstacks[MOST];
	size_t callstacks_cnt, paths_cnt, calls_cnt;
	int err; /* to be returned */
} got;

static int take_callstacks(void *ctx, const struct recorded_callstack *callstacks, size_t cnt)
{
	assert_ptr_equal(ctx, &got);
	for (size_t i = 0; i < cnt; i++)
		got.callstacks[got.callstacks_cnt++] = callstacks[i];
	return got.err;
}

static int take_paths(void *ctx, const struct recorded_path *paths, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		assert_in_range(paths[i].parent, 0, got.paths_cnt);
		assert_in_range(paths[i].callstack, 1, got.callstacks_cnt);
		if (paths[i].parent)
			assert_int_equal(got.paths[paths[i].parent - 1].callstack,
					 paths[i].callstack);
		got.paths[got.paths_cnt++] = paths[i];
	}
	return got.err;
}

static int take_calls(void *ctx, uint32_t callstack, const struct timeline_call *calls, size_t cnt)
{
	assert_in_range(callstack, 1, got.callstacks_cnt);
	for (size_t i = 0; i < cnt; i++) {
		assert_in_range(calls[i].node, 1, got.paths_cnt);
		assert_int_equal(got.paths[calls[i].node - 1].callstack, callstack);
		got.calls_callstacks[got.calls_cnt] = callstack;
		got.calls[got.calls_cnt] = calls[i];
		got.calls[got.calls_cnt++].values =
			call_values__copy(calls[i].values, calls[i].values_cnt);
	}
	return got.err;
}

static int setup(void **state)
{
	const struct call_stream stream = {take_callstacks, take_paths, take_calls, NULL, &got};

	memset(&got, 0, sizeof(got));
	tables_make(16, 128, 256);
	assert_int_equal(collector__new(&bpf.info, FUNCTIONS, &collector), 0);
	collector__stream(collector, &stream, START);
	return 0;
}

static int teardown(void **state)
{
	collector__free(collector);
	tables_free();
	for (size_t i = 0; i < got.calls_cnt; i++)
		free((void *)got.calls[i].values);
	return 0;
}

static void assert_call(size_t i, uint32_t function, uint64_t enter, uint64_t leave, uint64_t off)
{
	assert_in_range(i, 0, got.calls_cnt - 1);
	assert_int_equal(got.paths[got.calls[i].node - 1].function, function);
	assert_int_equal(got.calls[i].enter_ns, enter);
	assert_int_equal(got.calls[i].leave_ns, leave);
	assert_int_equal(got.calls[i].off_ns, off);
}

static void calls_come_as_they_end(void **state)
{
	uint32_t callstack = bpf_callstack(100, 101, "x");

	bpf_enter(callstack, MAIN, START + 5);
	bpf_enter(callstack, WORK, START + 10);
	assert_int_equal(collector__poll(collector), 0);
	assert_int_equal(got.calls_cnt, 0);
	bpf_enter(callstack, LEAF, START + 20);
	bpf.callstacks[callstack].off_ns += 3;
	bpf_leave(callstack, START + 30);
	assert_int_equal(collector__poll(collector), 0);
	assert_call(0, LEAF, 20, 30, 3);
	assert_int_equal(got.callstacks[0].pid, 100);
	assert_int_equal(got.callstacks[0].tid, 101);
	assert_int_equal(got.callstacks[0].start_ns, 1010);
	/* Callers come before callees though they end behind them. */
	assert_int_equal(got.paths_cnt, 3);
	assert_int_equal(got.paths[0].parent, 0);
	assert_int_equal(got.paths[0].function, MAIN);
	assert_int_equal(got.paths[2].parent, 2);
	bpf_unwind(callstack, START + 40);
	bpf_enter(callstack, WORK, START + 50);
	bpf.callstacks[callstack].off_ns += 6;
	assert_int_equal(collector__last_calls(collector, START + 60), 0);
	assert_call(1, WORK, 10, 40, 3);
	assert_call(2, WORK, 50, 60, 6);
	assert_call(3, MAIN, 5, 60, 9);
	assert_int_equal(got.calls_cnt, 4);
	assert_int_equal(got.paths_cnt, 3);
	assert_int_equal(got.callstacks_cnt, 1);
}

/* Chunks go round: there are far fewer than the calls need. */
static void chunks_are_used_again(void **state)
{
	uint32_t callstack = bpf_callstack(1, 2, "x");
	uint64_t now = START;
	struct profile *p;

	for (int i = 0; i < 5000; i++) {
		bpf_enter(callstack, i % FUNCTIONS, now++);
		bpf_leave(callstack, now++);
		if (i % 100 == 0)
			assert_int_equal(collector__poll(collector), 0);
	}
	assert_int_equal(collector__last_calls(collector, now), 0);
	assert_int_equal(got.calls_cnt, 5000);
	for (uint64_t i = 0; i < 5000; i++)
		assert_call(i, i % FUNCTIONS, 2 * i, 2 * i + 1, 0);
	assert_int_equal(collector__snapshot(collector, now, &p), 0);
	assert_int_equal(p->accounting.timeline_calls, 5000);
	assert_int_equal(p->accounting.timeline_lost, 0);
	profile__free(p);
}

static void what_finds_no_room_is_counted(void **state)
{
	uint32_t callstack = bpf_callstack(1, 2, "x");
	struct profile *p;

	for (uint64_t i = 0; i < 4000; i++) {
		bpf_enter(callstack, MAIN, START + i);
		bpf_leave(callstack, START + i);
	}
	assert_int_equal(collector__poll(collector), 0);
	bpf_enter(callstack, MAIN, START + 5000);
	bpf_leave(callstack, START + 5001);
	assert_int_equal(collector__last_calls(collector, START + 6000), 0);
	assert_int_equal(collector__snapshot(collector, START + 6000, &p), 0);
	assert_true(p->accounting.timeline_lost > 0);
	assert_int_equal(p->accounting.timeline_calls, got.calls_cnt);
	assert_int_equal(got.calls_cnt + p->accounting.timeline_lost, 4001);
	assert_call(got.calls_cnt - 1, MAIN, 5000, 5001, 0);
	profile__free(p);
}

/* When tables run short, ended call stacks go. Their entries then mean something else. */
static void entries_of_ended_callstacks_are_used_again(void **state)
{
	for (uint32_t round = 0; round < 40; round++) {
		uint32_t callstack = bpf_callstack(1, 10 + round, "x");

		bpf_enter(callstack, round % FUNCTIONS, START + round * 100);
		bpf_enter(callstack, LEAF, START + round * 100 + 1);
		bpf_leave(callstack, START + round * 100 + 2);
		bpf_exit(callstack, START + round * 100 + 10);
		assert_int_equal(collector__poll(collector), 0);
	}
	assert_int_equal(collector__last_calls(collector, START + 10000), 0);
	assert_int_equal(got.callstacks_cnt, 40);
	assert_int_equal(got.calls_cnt, 80);
	for (size_t i = 0; i < got.calls_cnt; i++) {
		uint32_t round = got.callstacks[got.calls_callstacks[i] - 1].tid - 10;
		const struct recorded_path *path = &got.paths[got.calls[i].node - 1];
		bool inner = path->parent;

		assert_int_equal(path->function, inner ? (uint32_t)LEAF : round % FUNCTIONS);
		assert_int_equal(got.calls[i].enter_ns, round * 100 + inner);
		assert_int_equal(got.calls[i].leave_ns, round * 100 + (inner ? 2 : 10));
	}
}

static void calls_before_the_start_are_forgotten(void **state)
{
	uint32_t callstack = bpf_callstack(1, 2, "x");

	for (uint64_t i = 0; i < 100; i++) {
		bpf_enter(callstack, MAIN, i);
		bpf_leave(callstack, i);
	}
	collector__reset(collector);
	callstack = bpf_callstack(1, 3, "x");
	bpf_enter(callstack, LEAF, START + 1);
	bpf_leave(callstack, START + 2);
	assert_int_equal(collector__last_calls(collector, START + 3), 0);
	assert_int_equal(got.calls_cnt, 1);
	assert_call(0, LEAF, 1, 2, 0);
	assert_int_equal(bpf.queues[QUEUE_CHUNKS - QUEUE_CALLSTACKS].cnt, 4);
}

static void errors_of_the_receiver_end_it(void **state)
{
	uint32_t callstack = bpf_callstack(1, 2, "x");

	bpf_enter(callstack, MAIN, START);
	bpf_leave(callstack, START + 1);
	got.err = -ENOSPC;
	assert_int_equal(collector__poll(collector), -ENOSPC);
}

/* Six values: of each form, and of each width. */
static void list_values(void)
{
	bpf.lists[1] = (struct wire_list){
		.cnt = 6,
		.records = 4,
		.wanted =
			{
				{1, WIRE_VALUE_SIGNED, 4, 0, 0},
				{2, WIRE_VALUE_TEXT, 8, 1, 0},
				{3, 0, 1, 9, 0},
				{1, WIRE_VALUE_FLOAT | WIRE_VALUE_BEHIND, 8, 10, 8},
				{1, WIRE_VALUE_FLOAT | WIRE_VALUE_BEHIND, 4, 11, 8},
				{0, WIRE_VALUE_SIGNED, 8, 12, 0},
			},
	};
}

static struct wire_values some_values(uint32_t n)
{
	struct wire_values v = {.known = n % 2 ? 0x1f : 0x3f, .list = 1, .records = 4};
	float single = n / 4.0f;
	double d = n / 3.0;

	v.words[0] = 0x1234567800000000 | (uint32_t) - (int)n;
	snprintf((char *)&v.words[1], WIRE_TEXT, "text %u", n);
	v.words[9] = 0x4400 | (n & 0xff);
	memcpy(&v.words[10], &d, sizeof(d));
	memcpy(&v.words[11], &single, sizeof(single));
	v.words[12] = -1000ll - n;
	return v;
}

static void assert_values(const struct timeline_call *call, uint32_t n)
{
	const struct call_value *v = call->values;
	char text[WIRE_TEXT];

	snprintf(text, sizeof(text), "text %u", n);
	assert_int_equal(call->values_cnt, 6);
	assert_int_equal(v[0].kind, VALUE_INT);
	assert_int_equal(v[0].i, -(int64_t)n);
	assert_int_equal(v[1].kind, VALUE_TEXT);
	assert_string_equal(v[1].text, text);
	assert_int_equal(v[2].kind, VALUE_UINT);
	assert_int_equal(v[2].u, n & 0xff);
	assert_int_equal(v[3].kind, VALUE_FLOAT);
	assert_true(v[3].f == n / 3.0);
	assert_int_equal(v[4].kind, VALUE_FLOAT);
	assert_true(v[4].f == n / 4.0f);
	assert_int_equal(v[5].kind, n % 2 ? VALUE_NONE : VALUE_INT);
	if (!(n % 2))
		assert_int_equal(v[5].i, -1000ll - n);
}

/* A text that is cut in the midst of a character ends before that; a whole one stays. */
static void texts_end_with_whole_characters(void **state)
{
	static const struct {
		const char *end;
		size_t kept;
	} rows[] = {
		{"abc", 3},	  {"a\xc3\xa4", 3},    {"ab\xc3", 2}, {"\xe6\x97\xa5", 3},
		{"a\xe6\x97", 1}, {"\xf0\x9f\x99", 0}, {"ab\xff", 2}, {"\x80\x80\x80", 3},
	};
	uint32_t callstack = bpf_callstack(1, 2, "x");
	uint64_t now = START;

	list_values();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_values v = some_values(0);
		char *text = (char *)&v.words[1];

		memset(text, 'x', WIRE_TEXT - 4);
		strcpy(text + WIRE_TEXT - 4, rows[i].end);
		bpf_enter(callstack, LEAF, now++);
		bpf_values(callstack, &v);
		bpf_leave(callstack, now++);
	}
	assert_int_equal(collector__last_calls(collector, now), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *text = got.calls[i].values[1].text;

		assert_int_equal(strlen(text), WIRE_TEXT - 4 + rows[i].kept);
		assert_memory_equal(text + WIRE_TEXT - 4, rows[i].end, rows[i].kept);
	}
}

/* Calls with values and without share chunks; values of one call are in one. Some are read while
 * the chunk is filled, and the last call is still open. */
static void values_come_with_their_calls(void **state)
{
	enum { CALLS = 5000 };
	uint32_t callstack = bpf_callstack(1, 2, "x");
	uint64_t now = START;

	list_values();
	for (uint32_t n = 0; n <= CALLS; n++) {
		struct wire_values v = some_values(n);

		bpf_enter(callstack, LEAF, now++);
		if (n % 3)
			bpf_values(callstack, &v);
		if (n < CALLS)
			bpf_leave(callstack, now++);
		if (n % 7 == 0)
			assert_int_equal(collector__poll(collector), 0);
	}
	assert_int_equal(collector__last_calls(collector, now), 0);
	assert_int_equal(got.calls_cnt, CALLS + 1);
	for (uint32_t n = 0; n <= CALLS; n++) {
		assert_call(n, LEAF, 2 * n, 2 * n + 1, 0);
		if (n % 3)
			assert_values(&got.calls[n], n);
		else
			assert_int_equal(got.calls[n].values_cnt, 0);
	}
}

static void values_of_no_list_are_none(void **state)
{
	uint32_t callstack = bpf_callstack(1, 2, "x");
	struct wire_values v = some_values(1);

	list_values();
	v.list = 7;
	bpf_enter(callstack, LEAF, START);
	bpf_values(callstack, &v);
	bpf_leave(callstack, START + 1);
	assert_int_equal(collector__last_calls(collector, START + 2), 0);
	assert_int_equal(got.calls_cnt, 1);
	assert_int_equal(got.calls[0].values_cnt, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_come_as_they_end),
		TEST(chunks_are_used_again),
		TEST(what_finds_no_room_is_counted),
		TEST(entries_of_ended_callstacks_are_used_again),
		TEST(calls_before_the_start_are_forgotten),
		TEST(errors_of_the_receiver_end_it),
		TEST(texts_end_with_whole_characters),
		TEST(values_come_with_their_calls),
		TEST(values_of_no_list_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
