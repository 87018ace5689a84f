/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes up single calls that nest, has them recorded, and compares what comes back. */
#ifndef PROFTRACE_TESTS_CALLS_FIXTURE_H
#define PROFTRACE_TESTS_CALLS_FIXTURE_H

#include "fixture.h"

#include "calls/values.h"
#include "record/calls/call_block.h"
#include "record/format/run_info.h"
#include "record/reader.h"
#include "record/writer.h"
#include "timeline/timeline.h"

#define LEVELS \
	8 /* a call stack has as many paths, each below the one before: function n calls n + 1 */

static const struct run_info calls_facts = {.version = "9.9"};

/* Calls of one call stack in order of their ends; `node` is the path's number. */
struct callstack_calls {
	struct timeline_call *calls;
	size_t cnt;
	size_t written;
};

static inline uint32_t path_number(uint32_t callstack, uint32_t level)
{
	return (callstack - 1) * LEVELS + level + 1;
}

#define VALUES 4 /* of a call that has some */

/* Gives values to all calls but one in five. */
static inline void give_values(struct timeline_call *call)
{
	static const char text[] =
		"as much text as is ever read of a program's memory: 63 letters!";
	static const struct call_value rows[][VALUES] = {
		{{VALUE_INT, {.i = INT64_MIN}},
		 {VALUE_TEXT, {.text = ""}},
		 {VALUE_NONE},
		 {VALUE_INT}},
		{{VALUE_INT, {.i = -1}},
		 {VALUE_TEXT, {.text = text}},
		 {VALUE_UINT, {.u = ~0ull}},
		 {0}},
		{{VALUE_FLOAT, {.f = -0.1}}, {VALUE_TEXT, {.text = text}}, {0}, {0}},
		{{VALUE_NONE}, {VALUE_TEXT, {.text = "\xff"}}, {VALUE_TEXT, {.text = text}}, {0}},
	};
	size_t row = call->enter_ns % 5;

	if (row == 4)
		return;
	call->values = rows[row];
	call->values_cnt = VALUES - (row == 2);
}

static inline void expect_values(const struct timeline_call *got, const struct timeline_call *want)
{
	assert_int_equal(got->values_cnt, want->values_cnt);
	for (uint32_t i = 0; i < got->values_cnt; i++) {
		assert_int_equal(got->values[i].kind, want->values[i].kind);
		if (got->values[i].kind == VALUE_TEXT)
			assert_string_equal(got->values[i].text, want->values[i].text);
		else if (got->values[i].kind != VALUE_NONE)
			assert_int_equal(got->values[i].u, want->values[i].u);
	}
}

/* The outermost call lasts as long as all others, and some last long. */
static inline struct callstack_calls make_calls(uint32_t callstack, size_t cnt, unsigned int seed)
{
	struct callstack_calls l = {.calls = calloc(cnt, sizeof(*l.calls))};
	uint64_t enters[LEVELS], now = 1000 + callstack;
	uint32_t depth = 0;
	size_t begun = 0;

	assert_non_null(l.calls);
	while (l.cnt < cnt) {
		bool begin = begun < cnt && depth < LEVELS &&
			     (depth < 2 || rand_r(&seed) % (depth < 5 ? 50 : 2));

		now += 1 + rand_r(&seed) % 20000;
		if (begin) {
			begun++;
			enters[depth++] = now;
			continue;
		}
		if (begun < cnt && depth <= (rand_r(&seed) % 3000 ? 3 : 1))
			continue;
		depth--;
		l.calls[l.cnt] = (struct timeline_call){
			.node = path_number(callstack, depth),
			.enter_ns = enters[depth],
			.leave_ns = now,
			.off_ns = rand_r(&seed) % 50 ? 0 : (now - enters[depth]) / 2,
		};
		give_values(&l.calls[l.cnt++]);
	}
	return l;
}

/* Functions and no calls: those of `callstacks_cnt` call stacks are in no profile yet. */
static inline struct profile *calls_profile(void)
{
	static const char *const names[LEVELS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	struct profile *p = fixture_new();

	for (int i = 0; i < LEVELS; i++)
		fixture_function(p, names[i]);
	fixture_finish(p);
	return p;
}

static inline struct recorded_callstack callstack_identity(uint32_t callstack)
{
	return (struct recorded_callstack){.pid = 7, .tid = 100 + callstack, .start_ns = 1000};
}

static inline void write_callstack_names(struct writer *w, uint32_t callstack)
{
	struct recorded_callstack identity = callstack_identity(callstack);
	struct recorded_path paths[LEVELS];

	for (uint32_t d = 0; d < LEVELS; d++)
		paths[d] =
			(struct recorded_path){d ? path_number(callstack, d - 1) : 0, d, callstack};
	assert_int_equal(writer__callstacks(w, &identity, 1), 0);
	assert_int_equal(writer__paths(w, paths, LEVELS), 0);
}

/* A run up to where calls begin. */
static inline struct writer *begin_calls(const char *path, bool append, uint64_t limit,
					 uint32_t callstacks_cnt)
{
	struct profile *p = calls_profile();
	struct writer *w;

	assert_int_equal(writer__open(path, append, &w), 0);
	if (limit)
		assert_int_equal(writer__limit(w, limit), 0);
	assert_int_equal(writer__begin(w, &calls_facts), 0);
	assert_int_equal(writer__profile(w, p), 0);
	for (uint32_t callstack = 1; callstack <= callstacks_cnt; callstack++)
		write_callstack_names(w, callstack);
	profile__free(p);
	return w;
}

static inline void write_some(struct writer *w, uint32_t callstack, struct callstack_calls *l,
			      size_t cnt)
{
	if (cnt > l->cnt - l->written)
		cnt = l->cnt - l->written;
	assert_int_equal(writer__calls(w, callstack, l->calls + l->written, cnt), 0);
	l->written += cnt;
}

static inline int compare_beginnings(const void *a, const void *b)
{
	const struct timeline_call *x = a, *y = b;

	if (x->enter_ns != y->enter_ns)
		return x->enter_ns < y->enter_ns ? -1 : 1;
	return x->leave_ns > y->leave_ns ? -1 : x->leave_ns < y->leave_ns;
}

static inline void expect_path(const struct profile *p, uint32_t node, uint32_t thread,
			       uint32_t level)
{
	for (;; node = p->nodes[node].parent) {
		assert_true(node && node < p->nodes_cnt);
		assert_int_equal(p->nodes[node].function, level);
		assert_int_equal(p->nodes[node].thread, thread);
		if (!level--)
			break;
	}
	assert_int_equal(p->nodes[node].parent, 0);
}

/* `calls` are what the thread has, in any order. */
static inline void expect_calls(const struct profile *p, uint32_t thread,
				const struct timeline_call *calls, size_t cnt)
{
	struct timeline_call *sorted = calloc(cnt + 1, sizeof(*sorted)), call;

	if (cnt)
		memcpy(sorted, calls, cnt * sizeof(*sorted));
	qsort(sorted, cnt, sizeof(*sorted), compare_beginnings);
	assert_int_equal(p->timeline->rewind(p->timeline, thread), 0);
	for (size_t i = 0; i < cnt; i++) {
		assert_int_equal(p->timeline->next(p->timeline, thread, &call), 1);
		assert_int_equal(call.enter_ns, sorted[i].enter_ns);
		assert_int_equal(call.leave_ns, sorted[i].leave_ns);
		assert_int_equal(call.off_ns, sorted[i].off_ns);
		expect_values(&call, &sorted[i]);
		expect_path(p, call.node, thread, (sorted[i].node - 1) % LEVELS);
	}
	assert_int_equal(p->timeline->next(p->timeline, thread, &call), 0);
	free(sorted);
}

/* The profile's thread of a call stack. */
static inline uint32_t thread_of(const struct profile *p, uint32_t callstack)
{
	struct recorded_callstack identity = callstack_identity(callstack);
	uint32_t i = 0;

	while (i < p->threads_cnt && p->threads[i].tid != identity.tid)
		i++;
	assert_true(i < p->threads_cnt);
	return i;
}

/* Opens the file and loads a run. Returns false if there is none, or nothing of it. */
static inline bool load_calls(const char *path, size_t run, struct recorded *r)
{
	struct reader *reader;
	bool loaded;

	*r = (struct recorded){0};
	if (reader__open(path, &reader))
		return false;
	loaded = run < reader__runs(reader) && !reader__load(reader, run, r);
	reader__free(reader);
	return loaded;
}

/* Walks a thread, counting: nothing comes out of order. Returns 0, or what the timeline did. */
static inline int walk_calls(const struct profile *p, uint32_t thread, uint64_t *cnt)
{
	int more = p->timeline->rewind(p->timeline, thread);
	struct timeline_call call;
	uint64_t before_ns = 0;

	if (more)
		return more;
	while ((more = p->timeline->next(p->timeline, thread, &call)) > 0) {
		assert_true(call.enter_ns >= before_ns && call.leave_ns >= call.enter_ns);
		assert_true(call.node && call.node < p->nodes_cnt);
		assert_int_equal(p->nodes[call.node].thread, thread);
		for (uint32_t i = 0; i < call.values_cnt; i++) {
			assert_in_range(call.values[i].kind, VALUE_NONE, VALUE_TEXT);
			if (call.values[i].kind == VALUE_TEXT)
				assert_in_range(strlen(call.values[i].text), 0, CALL_VALUES_SIZE);
		}
		before_ns = call.enter_ns;
		++*cnt;
	}
	return more;
}

static inline uint64_t count_calls(const struct profile *p)
{
	uint64_t cnt = 0;

	for (uint32_t i = 0; p->timeline && i < p->threads_cnt; i++)
		assert_int_equal(walk_calls(p, i, &cnt), 0);
	return cnt;
}

#endif
