// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A processed profile for profiler.firefox.com, in version 60 of its format, which newer ones read:
 * tables of columns that all threads share, and a list of samples for each. A sample is a path with
 * its own weight, one behind the other where no time is known; with single calls it is a stretch of
 * time in which the innermost call did not change. Columns are written one after the other, each
 * by a walk of its own: nothing but the paths' numbers is kept. firefox_devtools.c adds what
 * speedscope reads.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/accounting.h"
#include "calls/estimate.h"
#include "calls/profile.h"
#include "sink/accounts.h"
#include "sink/listing.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/tools/firefox.h"
#include "sink/tracks.h"
#include "timeline/timeline.h"

#define FORMAT_VERSION 60
#define GECKO_VERSION  32 /* of the profiler in Firefox at that time */

static void write_note(struct json *j, const char *label, const char *format, int64_t value)
{
	json_open(j, '{');
	json_member_string(j, "label", label);
	json_member_string(j, "format", format);
	json_member_i64(j, "value", value);
	json_close(j, '}');
}

static void write_notes(struct json *j, const struct profile *p)
{
	char line[ACCOUNTS_LINE];

	json_member_open(j, "extra", '[');
	json_open(j, '{');
	json_member_string(j, "label", "proftrace");
	json_member_open(j, "entries", '[');
	if (*accounts__estimates(p, line, sizeof(line))) {
		json_open(j, '{');
		json_member_string(j, "label", "lightblue is");
		json_member_string(j, "format", "string");
		json_member_string(j, "value", line);
		json_close(j, '}');
	}
	for (size_t i = 0; i < ACCOUNTS; i++)
		if (account__matters(&accounts[i], p))
			write_note(j, accounts[i].label,
				   accounts[i].unit == ACCOUNT_NS ? "nanoseconds" : "integer",
				   account__of(&accounts[i], &p->accounting));
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

static void write_meta(struct firefox *w)
{
	const struct profile *p = w->p;
	struct json *j = &w->j;
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
	json_member_bool(j, "symbolicated", true);
	json_member_bool(j, "usesOnlyOneStackType", true);
	json_member_bool(j, "sourceCodeIsNotOnSearchfox", true);
	firefox_markers__write_types(w);
	json_member_open(j, "categories", '[');
	write_category(j, "Other", "grey"); /* there has to be one */
	write_category(j, "Traced", "blue");
	if (estimate__any(p))
		write_category(j, "Estimated", "lightblue");
	json_close(j, ']');
	write_notes(j, p);
	json_close(j, '}');
}

static int write_thread(struct firefox *w, const struct track *track)
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
	json_member_bool(j, "isMainThread", track->first);
	json_member_u64(j, "processStartupTime", 0);
	json_member_string(j, "processShutdownTime", NULL);
	json_member_u64(j, "registerTime", 0);
	json_member_string(j, "unregisterTime", NULL);
	json_member_open(j, "pausedRanges", '[');
	json_close(j, ']');
	err = firefox_markers__write(w, track->thread);
	if (!err)
		err = firefox_samples__write(w, track->thread);
	json_close(j, '}');
	return err;
}

static int write_document(struct firefox *w)
{
	int err = 0;
	size_t i;

	json_open(&w->j, '{');
	write_meta(w);
	firefox_shared__write(w);
	json_member_open(&w->j, "threads", '[');
	for (i = 0; i < w->tracks_cnt && !err; i++)
		err = write_thread(w, &w->tracks[i]);
	json_close(&w->j, ']');
	if (!err)
		err = firefox_devtools__write(w);
	json_close(&w->j, '}');
	fputc('\n', w->j.out);
	return err;
}

static int prepare(struct firefox *w)
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
	struct firefox w = {.j = JSON_INIT(out), .p = p, .opts = opts};
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
	.shows_values = true,
	.weighs = true,
	.write = write_firefox,
};
