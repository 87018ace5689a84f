// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/data/lines_json.h"

#include <stddef.h>

#include "calls/lines.h"
#include "calls/profile.h"
#include "sink/listing.h"
#include "util/json.h"

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

/* Only where it is so. */
static void write_flag(struct json *j, const char *name, bool set)
{
	if (!set)
		return;
	json_member_bool(j, name, true);
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
	json_member_u64(j, "error_ns", l->error_ns);
	write_inlined(j, p, l->inlined);
	write_flag(j, "approximate", l->approximate);
	write_flag(j, "aside", l->aside);
	if (l->reason)
		json_member_string(j, "reason", l->reason);
	json_close(j, '}');
}

static void write_sum(struct json *j, const struct profile *p, const struct line_sum *sum,
		      const struct listing *functions)
{
	json_open(j, '{');
	write_place(j, sum->file, sum->line);
	json_member_u64(j, "hits", sum->hits);
	json_member_u64(j, "ns", sum->ns);
	json_member_u64(j, "error_ns", sum->error_ns);
	write_flag(j, "approximate", sum->approximate);
	json_member_open(j, "functions", '[');
	for (size_t i = sum->first; i < sum->first + sum->cnt; i++)
		write_part(j, p, &p->lines[i], &functions[p->lines[i].function]);
	json_close(j, ']');
	json_close(j, '}');
}

/* None of its code could be probed. */
static void write_skipped(struct json *j, const struct line_sum *sum)
{
	json_open(j, '{');
	write_place(j, sum->file, sum->line);
	json_member_string(j, "reason", sum->reason);
	json_close(j, '}');
}

int lines_json__write(struct json *j, const struct profile *p, const struct listing *functions)
{
	struct line_sums sums;
	int err;

	if (!p->lines_cnt)
		return 0;
	err = line_sums__make(p, &sums);
	if (err)
		return err;
	json_member_open(j, "lines", '[');
	for (size_t i = 0; i < sums.cnt; i++) {
		if (!sums.items[i].reason)
			write_sum(j, p, &sums.items[i], functions);
	}
	json_close(j, ']');
	json_member_open(j, "lines_skipped", '[');
	for (size_t i = 0; i < sums.cnt; i++) {
		if (sums.items[i].reason)
			write_skipped(j, &sums.items[i]);
	}
	json_close(j, ']');
	line_sums__clear(&sums);
	return 0;
}
