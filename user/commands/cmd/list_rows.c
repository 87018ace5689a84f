// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/list_rows.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sink/sink.h"
#include "util/text.h"

#define NUMBER_ROOM 6 /* columns of " [12]", and one left free */
#define NAME_MIN    20

static bool is_narrow(const struct list_rows *l)
{
	return l->pr.opts->columns;
}

void list_rows__begin(struct list_rows *l)
{
	const char *columns = is_narrow(l) ? "FUNCTION" : "OBJECT                   ";

	fprintf(l->pr.out, "%-10s %5s %-5s %-6s %-8s %s%s\n", "OFFSET", "SITE", "", "EXIT", "BY",
		columns, is_narrow(l) ? "" : "FUNCTION  (REASON)");
}

/* From 1 on; 0: there is no room for one more. */
static size_t number_of(struct list_rows *l, const char *reason)
{
	size_t i;

	for (i = 0; i < l->reasons_cnt; i++) {
		if (!strcmp(l->reasons[i], reason))
			return i + 1;
	}
	if (i == LIST_REASONS)
		return 0;
	l->reasons[l->reasons_cnt++] = reason;
	return i + 1;
}

static void put_narrow(struct list_rows *l, const struct list_row *row)
{
	size_t number = number_of(l, row->reason), used = LIST_COLUMNS + NUMBER_ROOM;
	FILE *out = l->pr.out;
	char safe[1024];

	if (!l->object || strcmp(l->object, row->object))
		fprintf(out, "%s:\n", text_escape(row->object, safe, sizeof(safe)));
	l->object = row->object;
	used += row->instrumented ? strlen(row->instrumented) + 1 : 0;
	fprintf(out, "%s ", row->columns);
	printer__name(&l->pr, row->name, printer__room(&l->pr, used, 0, NAME_MIN));
	if (row->instrumented)
		fprintf(out, " %s", row->instrumented);
	if (number)
		fprintf(out, " [%zu]\n", number);
	else
		fprintf(out, " (%s)\n", text_escape(row->reason, safe, sizeof(safe)));
}

void list_rows__put(struct list_rows *l, const struct list_row *row)
{
	char safe_object[256], safe_name[1024], safe_reason[1024];

	if (is_narrow(l)) {
		put_narrow(l, row);
		return;
	}
	fprintf(l->pr.out, "%s %-24s %s  (%s)%s%s\n", row->columns,
		text_escape(path_base(row->object), safe_object, sizeof(safe_object)),
		text_escape(row->name, safe_name, sizeof(safe_name)),
		text_escape(row->reason, safe_reason, sizeof(safe_reason)),
		row->instrumented ? "  " : "", row->instrumented ? row->instrumented : "");
}

void list_rows__end(struct list_rows *l)
{
	char safe[1024];

	for (size_t i = 0; i < l->reasons_cnt; i++)
		fprintf(l->pr.out, "%s[%zu] %s\n", i ? "" : "\n", i + 1,
			text_escape(l->reasons[i], safe, sizeof(safe)));
	printer__fini(&l->pr);
}
