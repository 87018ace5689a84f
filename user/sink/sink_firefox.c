// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A processed profile for profiler.firefox.com, in version 60 of its format, which newer ones read:
 * tables of columns that all threads share, and a list of samples for each. A sample is a path with
 * its own weight, one behind the other where no time is known; with single calls it is a stretch of
 * time in which the innermost call did not change. Columns are written one after the other, each
 * by a walk of its own: nothing but the paths' numbers is kept.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/timeline.h"
#include "calls/walk.h"
#include "sink/listing.h"
#include "sink/modules.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/weigh.h"
#include "sink/tracks.h"
#include "util/array.h"
#include "util/json.h"

#define FORMAT_VERSION 60
#define GECKO_VERSION  32 /* of the profiler in Firefox at that time */
#define LIBRARY	       1  /* kind of a resource */

enum column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT };

struct writer {
	struct json j;
	const struct profile *p;
	const struct sink_options *opts;
	struct listing *functions;
	struct modules modules;
	size_t listed_cnt;
	uint32_t *stacks; /* number of each path in the table of stacks */
	struct track *tracks;
	size_t tracks_cnt;
};

static void u64_or_null(struct json *j, bool known, uint64_t v)
{
	if (known)
		json_u64(j, v);
	else
		json_null(j);
}

/* A column that says nothing: null, or -1 where that means the same. */
static void empty_column(struct json *j, const char *key, size_t cnt, bool minus_one)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--) {
		if (minus_one)
			json_i64(j, -1);
		else
			json_null(j);
	}
	json_close(j, ']');
}

static void constant_column(struct json *j, const char *key, size_t cnt, uint64_t v)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--)
		json_u64(j, v);
	json_close(j, ']');
}

/* first, first + 1, ... */
static void counting_column(struct json *j, const char *key, size_t cnt, uint64_t first)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--)
		json_u64(j, first++);
	json_close(j, ']');
}

static void false_column(struct json *j, const char *key, size_t cnt)
{
	json_member_open(j, key, '[');
	for (; cnt; cnt--)
		json_bool(j, false);
	json_close(j, ']');
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void write_note(struct json *j, const char *label, const char *format, int64_t value)
{
	json_open(j, '{');
	json_member_string(j, "label", label);
	json_member_string(j, "format", format);
	json_key(j, "value");
	json_i64(j, value);
	json_close(j, '}');
}

static void write_notes(struct json *j, const struct profile *p)
{
	const struct profile_accounting *a = &p->accounting;

	json_member_open(j, "extra", '[');
	json_open(j, '{');
	json_member_string(j, "label", "proftrace");
	json_member_open(j, "entries", '[');
	write_note(j, "calls entered", "integer", a->entered);
	write_note(j, "returned", "integer", a->returned);
	write_note(j, "unwound", "integer", a->unwound);
	write_note(j, "open", "integer", a->open);
	write_note(j, "lost", "integer", a->lost);
	write_note(j, "dropped", "integer", a->dropped);
	write_note(j, "probes' cost", "nanoseconds", a->probe_ns);
	write_note(j, "CPU time", "nanoseconds", a->cpu_ns);
	if (p->timeline)
		write_note(j, "single calls missing", "integer", p->timeline->lost);
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, ']');
}

static void write_category(struct json *j, const char *name, const char *color)
{
	json_open(j, '{');
	json_member_string(j, "name", name);
	json_member_string(j, "color", color);
	json_member_open(j, "subcategories", '[');
	json_string(j, "Other");
	json_close(j, ']');
	json_close(j, '}');
}

static void write_meta(struct json *j, const struct profile *p)
{
	char target[1024];

	json_member_open(j, "meta", '{');
	json_member_u64(j, "version", GECKO_VERSION);
	json_member_u64(j, "preprocessedProfileVersion", FORMAT_VERSION);
	json_member_double(j, "startTime", p->start_time * 1e3);
	json_member_u64(j, "interval", 1);
	json_member_u64(j, "processType", 0);
	json_member_u64(j, "stackwalk", 1);
	json_member_string(j, "product", target__name(&p->target, target, sizeof(target)));
	json_member_string(j, "importedFrom", "proftrace " PROFTRACE_VERSION);
	json_key(j, "symbolicated");
	json_bool(j, true);
	json_key(j, "usesOnlyOneStackType");
	json_bool(j, true);
	json_key(j, "sourceCodeIsNotOnSearchfox");
	json_bool(j, true);
	json_member_open(j, "markerSchema", '[');
	json_close(j, ']');
	json_member_open(j, "categories", '[');
	write_category(j, "Other", "grey"); /* there has to be one */
	write_category(j, "Traced", "blue");
	json_close(j, ']');
	write_notes(j, p);
	json_close(j, '}');
}

static void write_libs(struct writer *w)
{
	struct json *j = &w->j;
	size_t i;

	json_member_open(j, "libs", '[');
	for (i = 0; i < w->modules.cnt; i++) {
		const char *path = w->modules.list[i].path;

		json_open(j, '{');
		json_member_string(j, "arch", NULL);
		json_member_string(j, "name", base_name(path));
		json_member_string(j, "path", path);
		json_member_string(j, "debugName", base_name(path));
		json_member_string(j, "debugPath", path);
		json_member_string(j, "breakpadId", "");
		json_member_string(j, "codeId", NULL);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* The functions' names, then the modules', then the source files' of those that have one. */
static void write_strings(struct writer *w)
{
	const struct profile *p = w->p;
	struct json *j = &w->j;
	size_t i;

	json_member_open(j, "stringArray", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			json_string(j, function__name(&p->functions[i]));
	for (i = 0; i < w->modules.cnt; i++)
		json_string(j, base_name(w->modules.list[i].path));
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed && p->functions[i].file)
			json_string(j, p->functions[i].file);
	json_close(j, ']');
}

static void write_functions(struct writer *w)
{
	const struct profile *p = w->p;
	struct json *j = &w->j;
	size_t cnt = w->listed_cnt, sources = 0, i;

	json_member_open(j, "funcTable", '{');
	counting_column(j, "name", cnt, 0);
	false_column(j, "isJS", cnt);
	false_column(j, "relevantForJS", cnt);
	json_member_open(j, "resource", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			json_u64(j, w->modules.of[i]);
	json_close(j, ']');
	json_member_open(j, "source", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			u64_or_null(j, p->functions[i].file, p->functions[i].file ? sources++ : 0);
	json_close(j, ']');
	json_member_open(j, "lineNumber", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			u64_or_null(j, p->functions[i].line, p->functions[i].line);
	json_close(j, ']');
	empty_column(j, "columnNumber", cnt, false);
	json_member_u64(j, "length", cnt);
	json_close(j, '}');

	json_member_open(j, "sources", '{');
	empty_column(j, "uuid", sources, false);
	counting_column(j, "filename", sources, cnt + w->modules.cnt);
	json_member_u64(j, "length", sources);
	json_close(j, '}');
}

/* One for each function, and one for each module. */
static void write_frames(struct writer *w)
{
	struct json *j = &w->j;
	size_t cnt = w->listed_cnt;

	json_member_open(j, "frameTable", '{');
	empty_column(j, "address", cnt, true);
	constant_column(j, "inlineDepth", cnt, 0);
	constant_column(j, "category", cnt, 1);
	constant_column(j, "subcategory", cnt, 0);
	counting_column(j, "func", cnt, 0);
	empty_column(j, "nativeSymbol", cnt, false);
	empty_column(j, "innerWindowID", cnt, false);
	empty_column(j, "line", cnt, false);
	empty_column(j, "column", cnt, false);
	json_member_u64(j, "length", cnt);
	json_close(j, '}');

	json_member_open(j, "resourceTable", '{');
	counting_column(j, "lib", w->modules.cnt, 0);
	counting_column(j, "name", w->modules.cnt, cnt);
	empty_column(j, "host", w->modules.cnt, false);
	constant_column(j, "type", w->modules.cnt, LIBRARY);
	json_member_u64(j, "length", w->modules.cnt);
	json_close(j, '}');

	json_member_open(j, "nativeSymbols", '{');
	empty_column(j, "libIndex", 0, false);
	empty_column(j, "address", 0, false);
	empty_column(j, "name", 0, false);
	empty_column(j, "functionSize", 0, false);
	json_member_u64(j, "length", 0);
	json_close(j, '}');
}

/* A stack for each path, callers before callees; numbers them. */
static void write_stacks(struct writer *w)
{
	const struct profile_node *nodes = w->p->nodes;
	struct json *j = &w->j;
	uint32_t cnt = 0;
	struct walk walk;
	size_t i;

	json_member_open(j, "stackTable", '{');
	json_member_open(j, "frame", '[');
	for (i = 0; i < w->tracks_cnt; i++) {
		walk = walk__from(w->p, w->p->threads[w->tracks[i].thread].first_root);
		while (walk__next(&walk)) {
			if (!walk.entering)
				continue;
			w->stacks[walk.node] = cnt++;
			json_u64(j, w->functions[nodes[walk.node].function].id);
		}
	}
	json_close(j, ']');
	json_member_open(j, "prefix", '[');
	for (i = 0; i < w->tracks_cnt; i++) {
		walk = walk__from(w->p, w->p->threads[w->tracks[i].thread].first_root);
		while (walk__next(&walk)) {
			uint32_t parent = nodes[walk.node].parent;

			if (walk.entering)
				u64_or_null(j, parent, w->stacks[parent]);
		}
	}
	json_close(j, ']');
	json_member_u64(j, "length", cnt);
	json_close(j, '}');
}

/* What a column's walk carries along. */
struct samples {
	struct writer *w;
	enum column column;
	uint32_t *open; /* paths of the open calls, innermost last */
	size_t open_cnt, open_cap;
	uint64_t since_ns; /* the innermost is so since then */
	uint64_t cnt;
};

/* `node` 0: nothing runs. */
static void write_sample(struct samples *s, uint32_t node, uint64_t at_ns, uint64_t weight)
{
	struct writer *w = s->w;

	s->cnt++;
	if (s->column == COLUMN_STACK)
		u64_or_null(&w->j, node, w->stacks[node]);
	else if (s->column == COLUMN_TIME)
		json_decimal(&w->j, at_ns, 6);
	else
		json_decimal(&w->j, weight, w->opts->weight == WEIGHT_CALLS ? 0 : 6);
}

/* Calls may follow each other at a distance, and last no time at all. */
static int on_event(const struct timeline_event *e, void *ctx)
{
	struct samples *s = ctx;
	uint64_t ns = e->at_ns - s->since_ns;
	uint32_t innermost = s->open_cnt ? s->open[s->open_cnt - 1] : 0;

	if (ns)
		write_sample(s, innermost, s->since_ns, innermost ? ns : 0);
	s->since_ns = e->at_ns;
	if (!e->begins)
		s->open_cnt--;
	else if (ARRAY_RESERVE(&s->open, s->open_cnt, &s->open_cap))
		return -ENOMEM;
	else
		s->open[s->open_cnt++] = e->call->node;
	return ferror_unlocked(s->w->j.out) ? -EIO : 0;
}

/* The time off the CPU is known of calls, not when it was: it needs samples without a time. */
static bool has_times(const struct writer *w)
{
	return w->p->timeline && w->opts->weight == WEIGHT_WALL;
}

static int write_column(struct writer *w, uint32_t thread, const char *key, struct samples *s)
{
	struct walk walk = walk__from(w->p, w->p->threads[thread].first_root);
	uint64_t at_ns = 0;
	int err = 0;

	s->w = w;
	s->cnt = s->since_ns = 0;
	json_member_open(&w->j, key, '[');
	if (has_times(w)) {
		err = timeline__walk(w->p->timeline, thread, on_event, s);
		write_sample(s, 0, s->since_ns, 0); /* where the last call ends */
	}
	while (!has_times(w) && walk__next(&walk)) {
		const struct call_stats *stats = &w->p->nodes[walk.node].stats;
		uint64_t weight = weigh(stats, w->opts->weight);

		if (!walk.entering)
			continue;
		if (weight)
			write_sample(s, walk.node, at_ns, weight);
		at_ns += stats->self_ns;
	}
	json_close(&w->j, ']');
	return err;
}

static int write_samples(struct writer *w, uint32_t thread)
{
	static const char *const keys[] = {"stack", "time", "weight"};
	struct samples s = {0};
	int err = 0;

	json_member_open(&w->j, "samples", '{');
	for (s.column = COLUMN_STACK; s.column <= COLUMN_WEIGHT && !err; s.column++)
		err = write_column(w, thread, keys[s.column], &s);
	json_member_string(&w->j, "weightType",
			   w->opts->weight == WEIGHT_CALLS ? "samples" : "tracing-ms");
	json_member_u64(&w->j, "length", s.cnt);
	json_close(&w->j, '}');
	free(s.open);
	return err;
}

static void write_markers(struct json *j)
{
	json_member_open(j, "markers", '{');
	empty_column(j, "data", 0, false);
	empty_column(j, "name", 0, false);
	empty_column(j, "startTime", 0, false);
	empty_column(j, "endTime", 0, false);
	empty_column(j, "phase", 0, false);
	empty_column(j, "category", 0, false);
	json_member_u64(j, "length", 0);
	json_close(j, '}');
}

static int write_thread(struct writer *w, const struct track *track)
{
	const struct profile_thread *t = &w->p->threads[track->thread];
	char name[THREAD_NAME_LEN], pid[16];
	struct json *j = &w->j;
	int err;

	snprintf(pid, sizeof(pid), "%d", track->pid);
	json_open(j, '{');
	json_member_string(j, "name", thread__name(t, name));
	json_member_string(j, "processName", t->comm);
	json_member_string(j, "processType", "default");
	json_member_string(j, "pid", pid);
	json_member_u64(j, "tid", track->number);
	json_key(j, "isMainThread");
	json_bool(j, track->first);
	json_member_u64(j, "processStartupTime", 0);
	json_member_string(j, "processShutdownTime", NULL);
	json_member_u64(j, "registerTime", 0);
	json_member_string(j, "unregisterTime", NULL);
	json_member_open(j, "pausedRanges", '[');
	json_close(j, ']');
	write_markers(j);
	err = write_samples(w, track->thread);
	json_close(j, '}');
	return err;
}

static int write_document(struct writer *w)
{
	int err = 0;
	size_t i;

	json_open(&w->j, '{');
	write_meta(&w->j, w->p);
	write_libs(w);
	json_member_open(&w->j, "shared", '{');
	write_strings(w);
	write_functions(w);
	write_frames(w);
	write_stacks(w);
	json_close(&w->j, '}');
	json_member_open(&w->j, "threads", '[');
	for (i = 0; i < w->tracks_cnt && !err; i++)
		err = write_thread(w, &w->tracks[i]);
	json_close(&w->j, ']');
	json_close(&w->j, '}');
	fputc('\n', w->j.out);
	return err;
}

static int prepare(struct writer *w)
{
	ssize_t cnt = tracks__new(w->p, &w->tracks);
	size_t i;

	w->stacks = calloc(w->p->nodes_cnt + 1, sizeof(*w->stacks));
	w->functions = listing__new(w->p);
	if (cnt < 0 || !w->stacks || !w->functions)
		return -ENOMEM;
	w->tracks_cnt = cnt;
	for (i = 0; i < w->p->functions_cnt; i++)
		w->listed_cnt += w->functions[i].listed;
	return modules__init(&w->modules, w->p, w->functions);
}

static int write_firefox(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct writer w = {.j = JSON_INIT(out), .p = p, .opts = opts};
	int err = prepare(&w), closed;

	stream__begin();
	if (!err)
		err = write_document(&w);
	modules__clear(&w.modules);
	free(w.functions);
	free(w.stacks);
	free(w.tracks);
	closed = stream__end(out);
	return closed ? closed : err;
}

const struct sink sink_firefox = {
	.name = "firefox",
	.help = "for profiler.firefox.com",
	.suffixes = (const char *const[]){".firefox.json", NULL},
	.whole = true,
	.shows_calls = true,
	.write = write_firefox,
};
