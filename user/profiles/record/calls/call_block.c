// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls as tables. Of a call's two times the end is stored as the distance from the end
 * before, which is the smaller the more calls there are, and the beginning as the duration: both
 * are short, and unsigned, as calls come in order of their ends.
 */
#include "record/calls/call_block.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls/values.h"
#include "record/format/decode.h"
#include "record/format/encode.h"
#include "record/format/layout.h"
#include "record/format/table_reader.h"
#include "timeline/timeline.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define VALUE_SIZE (5 + 5 + 10 + 5) /* without its text */

_Static_assert(CALL_BLOCK_CALLS *(10 + 10 + 5 + 10 + 1) + CALL_BLOCK_SEGMENTS * (5 + 5) +
			       CALL_BLOCK_VALUES + 256 <=
		       BLOCK_RAW_MAX,
	       "whatever the calls are, one block holds them");

uint32_t call_block__value_size(const struct call_value *v)
{
	size_t len = v->kind == VALUE_TEXT ? strlen(v->text) : 0;

	return VALUE_SIZE + (len < CALL_VALUES_SIZE ? len + 5 : CALL_VALUES_SIZE + 1);
}

static void make_rows(const struct call_segment *s, struct call_row *rows)
{
	uint64_t before_ns = 0;

	for (uint32_t i = 0; i < s->cnt; i++) {
		const struct timeline_call *call = &s->calls[i];
		/* Clocks that disagree must not cost a file. */
		uint64_t end_ns = call->leave_ns > before_ns ? call->leave_ns : before_ns;

		rows[i] = (struct call_row){
			.gap_ns = end_ns - before_ns,
			.duration_ns = end_ns > call->enter_ns ? end_ns - call->enter_ns : 0,
			.off_ns = call->off_ns,
			.path = call->node,
			.open = call->open,
		};
		before_ns = end_ns;
	}
}

static size_t count_values(const struct call_segment *segments, size_t cnt)
{
	size_t sum = 0;

	for (size_t i = 0; i < cnt; i++) {
		for (uint32_t c = 0; c < segments[i].cnt; c++)
			sum += segments[i].calls[c].values_cnt;
	}
	return sum;
}

/* Appends those of a call, which is number `number` of its block. Returns how many. */
static size_t make_values(const struct timeline_call *call, uint32_t number, struct value_row *rows)
{
	for (uint32_t i = 0; i < call->values_cnt; i++) {
		const struct call_value *v = &call->values[i];

		rows[i] = (struct value_row){.call = number, .kind = v->kind};
		if (v->kind == VALUE_TEXT)
			rows[i].text = v->text;
		else if (v->kind != VALUE_NONE)
			rows[i].bits = v->u;
	}
	return call->values_cnt;
}

int encode__calls(const struct call_segment *segments, size_t cnt, struct bytes *out)
{
	struct segment_row *segment_rows = calloc(cnt + 1, sizeof(*segment_rows));
	struct value_row *values = calloc(count_values(segments, cnt) + 1, sizeof(*values));
	struct call_row *rows;
	size_t calls = 0, values_cnt = 0;
	int err = -ENOMEM;

	for (size_t i = 0; i < cnt; i++)
		calls += segments[i].cnt;
	rows = calloc(calls + 1, sizeof(*rows));
	if (rows && segment_rows && values) {
		calls = 0;
		for (size_t i = 0; i < cnt; i++) {
			const struct call_segment *s = &segments[i];

			segment_rows[i] = (struct segment_row){s->callstack, s->cnt};
			make_rows(s, rows + calls);
			for (uint32_t c = 0; c < s->cnt; c++)
				values_cnt +=
					make_values(&s->calls[c], calls + c, values + values_cnt);
			calls += s->cnt;
		}
		err = encode__tables(
			(const struct table_rows[]){
				{&layout_segments, segment_rows, cnt},
				{&layout_calls, rows, calls},
				{&layout_values, values, values_cnt},
			},
			3, out);
	}
	free(segment_rows);
	free(rows);
	free(values);
	return err;
}

int encode__paths(const struct recorded_callstack *callstacks, size_t callstacks_cnt,
		  const struct recorded_path *paths, size_t paths_cnt, struct bytes *out)
{
	const struct table_rows tables[] = {
		{&layout_callstacks, callstacks, callstacks_cnt},
		{&layout_paths, paths, paths_cnt},
	};

	return encode__tables(tables, COUNT(tables), out);
}

_Static_assert(WAIT_BLOCK_WAITS *(4 * 10 + 5 * 10 + 2 * 22) + WAIT_BLOCK_NAMES <= BLOCK_RAW_MAX,
	       "one block holds them");

int encode__waits(const struct recorded_wait *waits, size_t cnt, struct bytes *out)
{
	return encode__tables(&(struct table_rows){&layout_waits, waits, cnt}, 1, out);
}

int encode__forgotten(const struct recorded_gap *gap, struct bytes *out)
{
	return encode__tables(&(struct table_rows){&layout_forgotten, gap, 1}, 1, out);
}

static int read_tables(const uint8_t *data, size_t len, const struct table_place *places,
		       size_t cnt)
{
	struct memory strings = {0};
	struct table_reader t = {.at = data, .end = data + len, .memory = &strings};
	int err = table_reader__read(&t, places, cnt);

	memory__free(&strings);
	return err;
}

/* Whether segments are of some call stack, and hold all the calls that there are. */
static bool segments_valid(const struct segment_row *rows, size_t cnt, size_t calls)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (!rows[i].cnt || !rows[i].callstack)
			return false;
		sum += rows[i].cnt;
	}
	return cnt && sum == calls;
}

int decode__segments(const uint8_t *data, size_t len, struct segment_row **segments, size_t *cnt,
		     uint32_t *last_path)
{
	uint32_t *paths = NULL;
	size_t calls = 0;
	int err;

	*segments = NULL;
	*cnt = 0;
	*last_path = 0;
	err = read_tables(data, len,
			  (const struct table_place[]){
				  {&layout_segments, 0, (void **)segments, cnt},
				  {&layout_call_paths, 0, (void **)&paths, &calls},
			  },
			  2);
	if (!err && !segments_valid(*segments, *cnt, calls))
		err = -EINVAL;
	for (size_t i = 0; i < calls && !err; i++)
		*last_path = paths[i] > *last_path ? paths[i] : *last_path;
	free(paths);
	if (!err)
		return 0;
	free(*segments);
	return err;
}

/* The row's call, behind one that ended at `before_ns`. */
static bool take_row(const struct call_row *row, uint64_t before_ns, struct timeline_call *call)
{
	uint64_t end_ns = before_ns + row->gap_ns;
	uint64_t took_ns = row->duration_ns < end_ns ? row->duration_ns : end_ns;

	if (row->gap_ns > INT64_MAX || end_ns > INT64_MAX)
		return false;
	*call = (struct timeline_call){
		.node = row->path,
		.enter_ns = end_ns - took_ns,
		.leave_ns = end_ns,
		.off_ns = row->off_ns < took_ns ? row->off_ns : took_ns,
		.open = row->open,
	};
	return true;
}

static int take_segments(const struct segment_row *segments, size_t cnt,
			 const struct call_row *rows, struct timeline_call *calls)
{
	for (size_t s = 0; s < cnt; s++) {
		uint64_t before_ns = 0;

		for (uint32_t i = 0; i < segments[s].cnt; i++) {
			if (!take_row(rows++, before_ns, calls))
				return -EINVAL;
			before_ns = calls++->leave_ns;
		}
	}
	return 0;
}

static bool take_value(const struct value_row *row, struct call_value *v)
{
	v->kind = row->kind;
	if (v->kind == VALUE_TEXT)
		v->text = row->text;
	else
		v->u = row->bits;
	return row->kind <= VALUE_TEXT && (row->kind != VALUE_TEXT || row->text);
}

/* Gives calls their values, which are in the order of calls. What they take is bounded, for a text
 * is stored once, however many have it. */
static int take_values(const struct value_row *rows, size_t rows_cnt, struct memory *m,
		       struct timeline_call *calls, size_t cnt)
{
	struct call_value *values = calloc(rows_cnt + 1, sizeof(*values));
	size_t size = 0;

	if (memory__keep(m, values))
		return -ENOMEM;
	for (size_t i = 0; i < rows_cnt; i++) {
		struct timeline_call *call;

		if (rows[i].call >= cnt || (i && rows[i].call < rows[i - 1].call) ||
		    !take_value(&rows[i], &values[i]))
			return -EINVAL;
		size += call_block__value_size(&values[i]);
		if (size > CALL_BLOCK_VALUES)
			return -EINVAL;
		call = &calls[rows[i].call];
		if (!call->values_cnt++)
			call->values = &values[i];
	}
	return 0;
}

int decode__calls(const uint8_t *data, size_t len, struct memory *m, struct timeline_call **calls,
		  size_t *cnt)
{
	struct table_reader t = {.at = data, .end = data + len, .memory = m};
	struct segment_row *segments = NULL;
	struct call_row *rows = NULL;
	struct value_row *values = NULL;
	size_t segments_cnt = 0, values_cnt = 0;
	int err;

	*calls = NULL;
	*cnt = 0;
	err = table_reader__read(&t,
				 (const struct table_place[]){
					 {&layout_segments, 0, (void **)&segments, &segments_cnt},
					 {&layout_calls, 0, (void **)&rows, cnt},
					 {&layout_values, 0, (void **)&values, &values_cnt},
				 },
				 3);
	if (!err && !segments_valid(segments, segments_cnt, *cnt))
		err = -EINVAL;
	if (!err)
		*calls = calloc(*cnt, sizeof(**calls));
	if (!err && !*calls)
		err = -ENOMEM;
	if (!err)
		err = take_segments(segments, segments_cnt, rows, *calls);
	if (!err && values_cnt)
		err = take_values(values, values_cnt, m, *calls, *cnt);
	free(segments);
	free(rows);
	free(values);
	if (err)
		free(*calls);
	return err;
}

int decode__paths(const uint8_t *data, size_t len, struct recorded_callstack **callstacks,
		  size_t *callstacks_cnt, struct recorded_path **paths, size_t *paths_cnt)
{
	int err;

	*callstacks = NULL;
	*paths = NULL;
	*callstacks_cnt = *paths_cnt = 0;
	err = read_tables(data, len,
			  (const struct table_place[]){
				  {&layout_callstacks, 0, (void **)callstacks, callstacks_cnt},
				  {&layout_paths, 0, (void **)paths, paths_cnt},
			  },
			  2);
	if (!err)
		return 0;
	free(*callstacks);
	free(*paths);
	return err;
}

int decode__waits(const uint8_t *data, size_t len, struct memory *m, struct recorded_wait **waits,
		  size_t *cnt)
{
	struct table_reader t = {.at = data, .end = data + len, .memory = m};
	int err;

	*waits = NULL;
	*cnt = 0;
	err = table_reader__read(&t, &(struct table_place){&layout_waits, 0, (void **)waits, cnt},
				 1);
	if (err)
		free(*waits);
	return err;
}

int decode__forgotten(const uint8_t *data, size_t len, struct recorded_gap *gap)
{
	struct recorded_gap *rows = NULL;
	size_t cnt = 0;
	int err;

	err = read_tables(data, len,
			  &(struct table_place){&layout_forgotten, 0, (void **)&rows, &cnt}, 1);
	if (!err && cnt != 1)
		err = -EINVAL;
	if (!err)
		*gap = *rows;
	free(rows);
	return err;
}
