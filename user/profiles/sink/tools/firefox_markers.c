// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values are shown of markers alone, so each call that has some is one as well, called like its
 * function. Markers of one type have the same fields, so each function has a type of its own.
 */
#include <errno.h>
#include <stdio.h>

#include "calls/profile.h"
#include "calls/values.h"
#include "sink/listing.h"
#include "sink/tools/firefox.h"
#include "sink/tools/firefox_columns.h"
#include "timeline/timeline.h"

#define INTERVAL 1 /* phase of a marker with a beginning and an end */
#define TRACED	 1 /* number of our category */
#define NAME_LEN 32

/* A column is a walk over the thread's calls. */
struct column {
	const char *key;
	void (*write)(struct firefox *w, uint32_t function, const struct timeline_event *e);
};

struct column_walk {
	struct firefox *w;
	const struct column *column;
	uint64_t cnt;
};

static char *type_of(const struct firefox *w, uint32_t function, char buf[NAME_LEN])
{
	snprintf(buf, NAME_LEN, "call-%u", w->functions[function].id);
	return buf;
}

static char *key_of(uint32_t value, char buf[NAME_LEN])
{
	snprintf(buf, NAME_LEN, "v%u", value);
	return buf;
}

/* "{marker.data.v0}, {marker.data.v1}": the words around values must be none of a stranger's, which
 * might have braces. */
static void write_label(struct json *j, const char *key, uint32_t cnt)
{
	char text[1024] = "{marker.name}", name[NAME_LEN];
	size_t len = 0;

	for (uint32_t i = 0; i < cnt && len + 2 * NAME_LEN < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s{marker.data.%s}", i ? ", " : "",
				key_of(i, name));
	json_member_string(j, key, text);
}

static void write_type(struct firefox *w, uint32_t function, const struct profile_argument *args,
		       uint32_t cnt)
{
	struct json *j = &w->j;
	char name[NAME_LEN];

	json_open(j, '{');
	json_member_string(j, "name", type_of(w, function, name));
	json_member_open(j, "display", '[');
	json_string(j, "marker-chart");
	json_string(j, "marker-table");
	json_close(j, ']');
	write_label(j, "tooltipLabel", 0);
	write_label(j, "chartLabel", cnt);
	write_label(j, "tableLabel", cnt);
	json_member_open(j, "fields", '[');
	for (uint32_t i = 0; i < cnt; i++) {
		json_open(j, '{');
		json_member_string(j, "key", key_of(i, name));
		json_member_string(j, "label", args[i].name);
		json_member_string(j, "format", "string");
		json_close(j, '}');
	}
	json_close(j, ']');
	json_member_bool(j, "isStackBased", true);
	json_close(j, '}');
}

void firefox_markers__write_types(struct firefox *w)
{
	const struct profile *p = w->p;
	uint32_t cnt;

	json_member_open(&w->j, "markerSchema", '[');
	for (size_t i = 0; p->timeline && i < p->arguments_cnt; i += cnt) {
		uint32_t function = p->arguments[i].function;
		const struct profile_argument *args = profile__arguments(p, function, &cnt);

		if (w->functions[function].listed)
			write_type(w, function, args, cnt);
	}
	json_close(&w->j, ']');
}

/* All as text: numbers have no digits to lose, and no format that would group them. */
static void write_data(struct firefox *w, uint32_t function, const struct timeline_event *e)
{
	uint32_t cnt;
	const struct profile_argument *args = profile__arguments(w->p, function, &cnt);
	char name[NAME_LEN], buf[VALUE_TEXT_LEN];

	json_open(&w->j, '{');
	json_member_string(&w->j, "type", type_of(w, function, name));
	for (uint32_t i = 0; i < cnt; i++) {
		const struct call_value none = {.kind = VALUE_NONE};
		const struct call_value *v = i < e->call->values_cnt ? &e->call->values[i] : &none;

		json_member_string(&w->j, key_of(i, name),
				   call_value__text(v, argument__is_hex(&args[i]), buf));
	}
	json_close(&w->j, '}');
}

/* Functions' names are the first strings. */
static void write_name(struct firefox *w, uint32_t function, const struct timeline_event *e)
{
	json_u64(&w->j, w->functions[function].id);
}

static void write_start(struct firefox *w, uint32_t function, const struct timeline_event *e)
{
	json_decimal(&w->j, e->at_ns, 6);
}

static void write_end(struct firefox *w, uint32_t function, const struct timeline_event *e)
{
	json_decimal(&w->j, e->call->leave_ns > e->at_ns ? e->call->leave_ns : e->at_ns, 6);
}

static int on_event(const struct timeline_event *e, void *ctx)
{
	struct column_walk *walk = ctx;
	struct firefox *w = walk->w;
	uint32_t function = w->p->nodes[e->call->node].function;

	if (!e->begins || !e->call->values_cnt || !w->functions[function].listed)
		return 0;
	walk->column->write(w, function, e);
	walk->cnt++;
	return ferror_unlocked(w->j.out) ? -EIO : 0;
}

int firefox_markers__write(struct firefox *w, uint32_t thread)
{
	static const struct column columns[] = {
		{"data", write_data},
		{"name", write_name},
		{"startTime", write_start},
		{"endTime", write_end},
	};
	bool any = w->p->timeline && w->p->arguments_cnt;
	uint64_t cnt = 0;
	int err = 0;

	json_member_open(&w->j, "markers", '{');
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++) {
		struct column_walk walk = {.w = w, .column = &columns[i]};

		json_member_open(&w->j, columns[i].key, '[');
		if (any && !err)
			err = timeline__walk(w->p->timeline, thread, on_event, &walk);
		json_close(&w->j, ']');
		cnt = walk.cnt;
	}
	column__constant(&w->j, "phase", cnt, INTERVAL);
	column__constant(&w->j, "category", cnt, TRACED);
	json_member_u64(&w->j, "length", cnt);
	json_close(&w->j, '}');
	return err;
}
