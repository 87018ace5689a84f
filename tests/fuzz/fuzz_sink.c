// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a stranger's recording through all output formats, as report, diff and top show it,
 * and into messages for databases. The input is eight bytes of options, then blocks
 * (recording_file.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "recording_file.h"
#include "sent.h"
#include "written.h"

#include "calls/profile.h"
#include "calls/tree.h"
#include "diff/diff.h"
#include "record/reader.h"
#include "sessions/session_profile.h"
#include "sessions/sessions.h"
#include "sink/sink.h"
#include "sink/text/sessions_summary.h"
#include "timeline/timeline.h"
#include "timeline/timeline_view.h"
#include "top/canvas.h"
#include "top/top.h"
#include "util/fold.h"
#include "views/by_value.h"
#include "views/delta.h"
#include "views/filter.h"
#include "views/merge.h"
#include "views/prune.h"
#include "views/range.h"

#define OPTIONS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char *any_name[] = {"*"};

/* Options of report, diff and top. */
struct asked {
	struct sink_options sink;
	bool by_value, range, sessions, link, merge;
	uint64_t min_time_ns;
	uint32_t depth;
	const uint8_t *keys; /* of top */
};

static struct asked read_options(const uint8_t *data)
{
	struct asked a = {
		.sink = {.weight = data[0] & 3,
			 .thread_frames = data[0] & 4,
			 .process_frames = data[0] & 8,
			 .verbose = data[0] & 16,
			 .interval = data[0] & 32,
			 .reverse = data[0] & 64,
			 .raw = data[0] & 128,
			 .columns = data[1] ? FOLD_MIN + data[1] : 0,
			 .hists = any_name,
			 .hists_cnt = data[2] >> 7,
			 .live = data[2] & 64,
			 .zooms = data[2] & 64,
			 .sessions = any_name,
			 .sessions_cnt = data[2] >> 5 & 1},
		.by_value = data[2] & 16,
		.range = data[2] & 8,
		.sessions = data[2] & 4,
		.link = data[2] & 2,
		.merge = data[2] & 1,
		.min_time_ns = data[3] & 1 ? 1ull << (data[3] >> 2) : 0,
		.depth = data[3] & 2 ? 1 + data[4] % 8 : 0,
		.keys = data + 4,
	};

	a.sink.prose_columns = a.sink.columns;
	return a;
}

static bool keeps_calls(const struct sink *s)
{
	return s->shows_calls || s->reads_calls;
}

/* Each second function's calls are sessions. */
static int look_for_sessions(const struct asked *a, struct profile *p, const struct sink *sink)
{
	static const struct session_link link = {"*", "v", "*", "v"};
	bool *functions = calloc(p->functions_cnt + 1, sizeof(*functions));
	const struct session_spec spec = {
		.functions = functions,
		.slowest = 3,
		.over_ns = 100,
		.links = &link,
		.links_cnt = a->link,
		.cut_at_start = a->range,
		.id = {a->link && p->arguments_cnt ? p->arguments[0].name : NULL, NULL, !a->link},
	};
	struct sessions *s = NULL;
	char *text;
	int err;

	check(functions);
	for (size_t i = 0; i < p->functions_cnt; i += 2)
		functions[i] = true;
	err = sessions__find(p, &spec, &s);
	free(functions);
	if (err)
		return err;
	if (sink->shows_sessions)
		p->sessions = s;
	else
		err = profile__of_sessions(p, s, keeps_calls(sink));
	if (err || sessions_summary__lines(p, &text))
		return err;
	check(written__is_plain(text, strlen(text)));
	free(text);
	return 0;
}

/* Turns a profile that was loaded into the one that the sink gets, as report does. */
static int prepare(const struct asked *a, struct profile **p, const struct sink *sink,
		   struct value_names *names)
{
	const struct profile_filter filter = {.depth = a->depth};
	int err = 0;

	if ((*p)->timeline && a->by_value && (*p)->arguments_cnt) {
		err = profile__split(*p, (*p)->arguments[0].name, names);
		if (!err)
			err = profile__cut(*p, &(struct time_range){0, UINT64_MAX});
	}
	if (!err && (*p)->timeline && a->range)
		err = profile__cut(*p, &(struct time_range){a->keys[0], (*p)->duration_ns / 2});
	if (!err && a->depth)
		err = profile__filter(*p, &filter);
	if (!err && (*p)->timeline && a->sessions)
		err = look_for_sessions(a, *p, sink);
	if (err)
		return err;
	if (!keeps_calls(sink)) {
		timeline__free((*p)->timeline);
		(*p)->timeline = NULL;
	}
	if (!(*p)->timeline)
		err = profile__join_callstacks(p);
	return err ?: profile__summarize(*p) ?: profile__prune(*p, a->min_time_ns);
}

/* A stream in memory, folded if the sink's is; closed by finish(). */
static FILE *begin(const struct asked *a, const struct sink *sink, char **text, size_t *len,
		   FILE **folded)
{
	FILE *out = open_memstream(text, len);

	check(out);
	*folded = out;
	if (a->sink.columns && sink->accounts)
		check(!fold__open(out, a->sink.columns, folded));
	return out;
}

static void finish(const struct sink *sink, FILE *out, FILE *folded, char **text, size_t *len,
		   int err)
{
	if (folded != out)
		fclose(folded);
	fclose(out);
	if (!err)
		written__check(sink->name, *text, *len);
	free(*text);
}

static void write_one(const struct asked *a, const struct profile *p, const struct sink *sink)
{
	static char path[64];
	FILE *out, *folded;
	char *text = NULL;
	size_t len = 0;
	int err;

	if (sink->write_file) {
		if (!*path)
			snprintf(path, sizeof(path), "/proc/self/fd/%d",
				 memfd_create("sink", MFD_CLOEXEC));
		sink->write_file(p, &a->sink, path);
		return;
	}
	out = begin(a, sink, &text, &len, &folded);
	err = sink->write(p, &a->sink, folded);
	finish(sink, out, folded, &text, &len, err);
}

/* Sinks that are given the profile alike are given the same. */
static void write_all(const struct asked *a, struct reader *reader, bool calls, bool sessions)
{
	struct value_names names = {0};
	struct recorded r = {0};
	const struct sink *sink;
	bool ready = false, had_calls = false;

	for (size_t i = 0; (sink = sink__at(i)); i++) {
		if (keeps_calls(sink) != calls || sink->shows_sessions != sessions)
			continue;
		if (!ready) {
			if (reader__load(reader, reader__runs(reader) - 1, &r))
				break;
			had_calls = r.profile->timeline;
			if (prepare(a, &r.profile, sink, &names))
				break;
			ready = true;
		}
		if ((!sink->needs_lines || r.profile->lines_cnt) &&
		    (!sink->needs_calls || had_calls))
			write_one(a, r.profile, sink);
	}
	recorded__free(&r);
	value_names__free(&names);
}

static void show_top(const struct asked *a, struct profile *p)
{
	static const uint32_t keys[] = {'f',
					't',
					'H',
					's',
					'?',
					'c',
					'w',
					'/',
					'a',
					'r',
					' ',
					'z',
					TOP_KEY_UP,
					TOP_KEY_DOWN,
					TOP_KEY_LEFT,
					TOP_KEY_RIGHT,
					TOP_KEY_END,
					TOP_KEY_ENTER,
					TOP_KEY_ESCAPE,
					TOP_KEY_PAGE_UP};
	struct top *t = a->merge ? top__machine("whom") : top__new("whom");
	struct canvas c = {0};
	struct profile *delta;

	check(t && !canvas__resize(&c, 20, 60 + a->sink.columns));
	top__sessions(t, any_name, a->sink.sessions_cnt);
	if (!profile__delta(p, NULL, &delta) && !top__take(t, p, delta)) {
		for (size_t i = 0; i < OPTIONS - 4; i++) {
			top__draw(t, &c);
			top__key(t, keys[a->keys[i] % (sizeof(keys) / sizeof(*keys))]);
		}
		top__draw(t, &c);
	}
	top__free(t);
	canvas__fini(&c);
}

/* The run compared with its upper levels. */
static void write_diffs(const struct asked *a, struct reader *reader)
{
	static const struct profile_filter upper = {.depth = 2};
	const struct diff_options opts = {.time = a->sink.weight % 3,
					  .per_call = a->sink.reverse,
					  .min_time_ns = a->min_time_ns};
	struct recorded r[DIFF_RUNS] = {0};
	const struct sink *sink;
	struct diff *d = NULL;

	for (size_t i = 0; i < DIFF_RUNS; i++) {
		if (reader__load(reader, reader__runs(reader) - 1, &r[i]))
			goto out;
	}
	if (profile__filter(r[a->merge].profile, &upper))
		goto out;
	if (diff__new((struct diff_run[]){{r[0].profile, "old", 1}, {r[1].profile, "new", 2}},
		      &opts, &d))
		goto out;
	for (size_t i = 0; (sink = sink__at(i)); i++) {
		FILE *out, *folded;
		char *text = NULL;
		size_t len = 0;
		int err;

		if (!sink->write_diff)
			continue;
		out = begin(a, sink, &text, &len, &folded);
		err = sink->write_diff(d, &a->sink, folded);
		finish(sink, out, folded, &text, &len, err);
	}
out:
	diff__free(d);
	for (size_t i = 0; i < DIFF_RUNS; i++)
		recorded__free(&r[i]);
}

/* As `send` does. */
static void send_all(const struct asked *a, struct reader *reader)
{
	struct recorded r = {0};

	if (!reader__load(reader, reader__runs(reader) - 1, &r) && !profile__summarize(r.profile) &&
	    (!a->sessions || !r.profile->timeline ||
	     !look_for_sessions(a, r.profile, sink__find("json"))))
		sent__make(&r, r.profile->sessions);
	recorded__free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct recorded r = {0};
	struct reader *reader;
	struct asked a;

	if (len < OPTIONS)
		return 0;
	a = read_options(data);
	if (recording_file__open(data + OPTIONS, len - OPTIONS, &reader))
		return 0;
	if (!reader__load(reader, reader__runs(reader) - 1, &r)) {
		for (int i = 0; i < 4; i++)
			write_all(&a, reader, i & 1, i & 2);
		write_diffs(&a, reader);
		send_all(&a, reader);
		if (!profile__join_callstacks(&r.profile) && !profile__summarize(r.profile))
			show_top(&a, r.profile);
	}
	recorded__free(&r);
	reader__free(reader);
	return 0;
}
