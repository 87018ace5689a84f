// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Single calls in Chrome's Trace Event Format, as JSON: for chrome://tracing and all that has
 * learnt to read it since. A call is a pair of events; its end repeats its name, without which some
 * readers leave it open; it has arguments only if values were asked for (-A), as speedscope takes
 * events with different ones for different functions. Where a function is in its source is thus no
 * argument, but the category of a stack frame that its events refer to. Times are microseconds,
 * with fractions.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/values.h"
#include "sink/accounts.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/tracks.h"
#include "sink/value_json.h"
#include "timeline/timeline.h"
#include "util/json.h"

struct writer {
	struct json j;
	const struct profile *p;
	const struct track *track;
};

/* An event that the caller closes. */
static void open_event(struct writer *w, const char *phase, uint64_t at_ns, const char *name)
{
	json_open(&w->j, '{');
	json_member_string(&w->j, "ph", phase);
	json_member_i64(&w->j, "pid", w->track->pid);
	json_member_u64(&w->j, "tid", w->track->number);
	json_member_decimal(&w->j, "ts", at_ns, 3);
	json_member_string(&w->j, "name", name);
}

static void write_values(struct writer *w, uint32_t function, const struct timeline_call *call)
{
	uint32_t cnt;
	const struct profile_argument *args = profile__arguments(w->p, function, &cnt);
	char buf[VALUE_TEXT_LEN];

	json_member_open(&w->j, "args", '{');
	for (uint32_t i = 0; i < cnt && i < call->values_cnt; i++) {
		const struct call_value *v = &call->values[i];
		bool hex = argument__is_hex(&args[i]);

		json_key(&w->j, args[i].name);
		if (!value_json__number(&w->j, v, hex))
			json_string(&w->j, call_value__text(v, hex, buf));
	}
	json_close(&w->j, '}');
}

static int write_event(const struct timeline_event *e, void *ctx)
{
	struct writer *w = ctx;
	const struct profile_node *n = &w->p->nodes[e->call->node];

	open_event(w, e->begins ? "B" : "E", e->at_ns,
		   function__name(&w->p->functions[n->function]));
	if (e->begins && w->p->functions[n->function].file)
		json_member_u64(&w->j, "sf", n->function);
	if (e->begins && e->call->values_cnt)
		write_values(w, n->function, e->call);
	json_close(&w->j, '}');
	return ferror_unlocked(w->j.out) ? -EIO : 0;
}

/* The frames that events refer to: functions by their numbers. */
static void write_frames(struct writer *w)
{
	bool any = false;

	for (size_t i = 0; i < w->p->functions_cnt && !any; i++)
		any = w->p->functions[i].file;
	if (!any)
		return;
	json_member_open(&w->j, "stackFrames", '{');
	for (size_t i = 0; i < w->p->functions_cnt; i++) {
		const struct profile_function *f = &w->p->functions[i];
		char number[24];

		if (!f->file)
			continue;
		snprintf(number, sizeof(number), "%zu", i);
		json_member_open(&w->j, number, '{');
		json_member_string(&w->j, "category", f->file);
		json_member_string(&w->j, "name", function__name(f));
		if (f->line)
			json_member_u64(&w->j, "line", f->line);
		json_close(&w->j, '}');
	}
	json_close(&w->j, '}');
}

/* An event that names a process or a thread. */
static void write_name(struct writer *w, const char *what, const char *name)
{
	open_event(w, "M", 0, what);
	json_member_open(&w->j, "args", '{');
	json_member_string(&w->j, "name", name);
	json_close(&w->j, '}');
	json_close(&w->j, '}');
}

static int write_tracks(struct writer *w, const struct track *tracks, size_t cnt)
{
	char name[THREAD_NAME_LEN];
	int err = 0;
	size_t i;

	json_member_open(&w->j, "traceEvents", '[');
	for (i = 0; i < cnt && !err; i++) {
		const struct profile_thread *t = &w->p->threads[tracks[i].thread];

		w->track = &tracks[i];
		if (w->track->first)
			write_name(w, "process_name", t->comm);
		write_name(w, "thread_name", thread__name(t, name));
		err = timeline__walk(w->p->timeline, tracks[i].thread, write_event, w);
	}
	/* Whatever came: what is there can be read. */
	json_close(&w->j, ']');
	return err;
}

static int write_chrome(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct writer w = {.j = JSON_INIT(out), .p = p};
	struct track *tracks = NULL;
	ssize_t cnt;
	int err, closed;

	if (!p->timeline)
		return -ENODATA;
	cnt = tracks__new(p, &tracks);
	if (cnt < 0)
		return cnt;
	stream__begin();
	json_open(&w.j, '{');
	json_member_string(&w.j, "displayTimeUnit", "ns");
	json_member_open(&w.j, "otherData", '{');
	json_member_string(&w.j, "proftrace", PROFTRACE_VERSION);
	json_member_double(&w.j, "start_time", p->start_time);
	accounts__json(&w.j, p);
	json_member_u64(&w.j, "calls_missing", p->timeline->lost);
	json_close(&w.j, '}');
	write_frames(&w);
	err = write_tracks(&w, tracks, cnt);
	json_close(&w.j, '}');
	fputc('\n', out);
	free(tracks);
	closed = stream__end(out);
	return closed ? closed : err;
}

const struct sink sink_chrome = {
	.name = "chrome",
	.help = "single calls for chrome://tracing, Perfetto and others",
	.suffixes = (const char *const[]){".trace.json", NULL},
	.whole = true,
	.shows_calls = true,
	.shows_values = true,
	.needs_calls = true,
	.write = write_chrome,
};
