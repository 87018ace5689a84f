// SPDX-License-Identifier: GPL-2.0-or-later
/* A line's code may be in several functions, and in several inlined calls in one: each line of
 * source is one element, with the sums. */
#include "sink/lines_json.h"

#include <stddef.h>

#include "calls/line_order.h"
#include "calls/profile.h"
#include "sink/listing.h"
#include "util/json.h"

/* The end of the row of profile lines, from `first` on, that are the same line of source. */
static size_t source_line_end(const struct profile *p, size_t first)
{
	size_t end = first + 1;

	while (end < p->lines_cnt && line_order__is_same(&p->lines[first], &p->lines[end]))
		end++;
	return end;
}

static void write_place(struct json *j, const char *file, uint32_t line)
{
	json_member_string(j, "file", file);
	json_key(j, "line");
	if (line)
		json_u64(j, line);
	else
		json_null(j);
}

/* From the innermost inlined call outwards. */
static void write_inlined(struct json *j, const struct profile *p, uint32_t inlined)
{
	json_member_open(j, "inlined", '[');
	while (inlined) {
		const struct profile_inline *call = &p->inlines[inlined - 1];

		json_open(j, '{');
		json_member_string(j, "name", call->name);
		write_place(j, call->file, call->line);
		json_close(j, '}');
		inlined = call->parent;
	}
	json_close(j, ']');
}

static void write_part(struct json *j, const struct profile *p, const struct profile_line *l,
		       const struct listing *function)
{
	json_open(j, '{');
	json_key(j, "function");
	if (function->listed)
		json_u64(j, function->id);
	else
		json_null(j);
	json_member_u64(j, "hits", l->hits);
	json_member_u64(j, "ns", l->ns);
	write_inlined(j, p, l->inlined);
	if (l->reason)
		json_member_string(j, "reason", l->reason);
	json_close(j, '}');
}

/* A line none of whose code could be probed is listed apart. */
static void write_line(struct json *j, const struct profile *p, size_t first, size_t end,
		       const struct listing *functions)
{
	uint64_t hits = 0, ns = 0;
	bool probed = false;

	for (size_t i = first; i < end; i++) {
		probed |= !p->lines[i].reason;
		hits += p->lines[i].hits;
		ns += p->lines[i].ns;
	}
	if (!probed)
		return;
	json_open(j, '{');
	write_place(j, p->lines[first].file, p->lines[first].line);
	json_member_u64(j, "hits", hits);
	json_member_u64(j, "ns", ns);
	json_member_open(j, "functions", '[');
	for (size_t i = first; i < end; i++)
		write_part(j, p, &p->lines[i], &functions[p->lines[i].function]);
	json_close(j, ']');
	json_close(j, '}');
}

static void write_skipped(struct json *j, const struct profile *p, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		if (!p->lines[i].reason)
			return;
	}
	json_open(j, '{');
	write_place(j, p->lines[first].file, p->lines[first].line);
	json_member_string(j, "reason", p->lines[first].reason);
	json_close(j, '}');
}

void lines_json__write(struct json *j, const struct profile *p, const struct listing *functions)
{
	if (!p->lines_cnt)
		return;
	json_member_open(j, "lines", '[');
	for (size_t i = 0, end; i < p->lines_cnt; i = end) {
		end = source_line_end(p, i);
		write_line(j, p, i, end, functions);
	}
	json_close(j, ']');
	json_member_open(j, "lines_skipped", '[');
	for (size_t i = 0, end; i < p->lines_cnt; i = end) {
		end = source_line_end(p, i);
		write_skipped(j, p, i, end);
	}
	json_close(j, ']');
}
