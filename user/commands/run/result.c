// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A snapshot of what was collected goes to the output at once, or into the recording; in the end
 * the output shows that, as `report` would.
 */
#include "run/result.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attach/tracer.h"
#include "budget/controller.h"
#include "calls/profile.h"
#include "calls/tree.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "live/live.h"
#include "live/terminal.h"
#include "report/recorded_run.h"
#include "report/show.h"
#include "run/describe.h"
#include "run/describe_lines.h"
#include "recording/folder.h"
#include "recording/recorder.h"
#include "recording/share.h"
#include "run/run.h"
#include "run/samples.h"
#include "run/pause.h"
#include "run/zoom.h"
#include "security/privilege.h"
#include "serve/server.h"
#include "target/process.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/text.h"
#include "views/by_value.h"
#include "views/delta.h"
#include "views/drops.h"
#include "wire.h"

#define UNTOLD_MOST 10 /* intervals that may wait for being written, as they take memory */

/* Updates of the live page may take one part in so many of a CPU: large profiles have fewer. */
#define SERVE_SHARE 20

/* Values that nobody will see. Formats with a section for sessions show those of sessions. */
static void warn_of_values(const struct options *o, const struct sink *sink)
{
	char names[FORMAT_NAMES];

	if (!o->arguments_given || o->conditions_cnt || o->by || sink->shows_values ||
	    (o->sessions_cnt && sink->shows_sessions))
		return;
	log_warn("-A: %s shows no values; %s do, and --by tells calls apart by them", sink->name,
		 sink__value_names(names, sizeof(names)));
}

/* With --slo: the newest calls, of which recordings in a folder are made. */
static int open_flight(struct run *r)
{
	int err = folder__open(r->o, &r->folder);

	privilege__keep_replacing();
	return err ? err : recorder__open(r->o, folder__own(r->folder), &r->recorder);
}

int result__open(struct run *r)
{
	const struct options *o = r->o;
	int err = 0;

	if (o->serve.len)
		err = server__start(&o->serve, o->no_token, &r->server);
	if (err)
		return err;
	if (o->verb == VERB_TOP) {
		privilege__keep_replacing(); /* for a recording of the last minute */
		return terminal__check();
	}
	if (o->verb == VERB_RECORD) {
		r->out.opts = o->sink_opts;
		if (r->slo)
			return open_flight(r);
		if (o->interval_ns) {
			privilege__keep_replacing();
			return folder__open(o, &r->folder);
		}
		if (o->max_size)
			privilege__keep_replacing();
		return recorder__open(o, o->output, &r->recorder);
	}
	if (r->server && !o->output && !o->sink) {
		r->out.opts = o->sink_opts;
		return 0;
	}
	output__page(&r->out, o);
	err = output__open(&r->out, o);
	if (!err)
		warn_of_values(o, r->out.sink);
	if (!err && o->calls)
		err = temp_recording__open(&r->temp_recording);
	if (!err && o->calls)
		err = recorder__open(o, r->temp_recording.path, &r->recorder);
	return err;
}

int result__begin(struct run *r)
{
	int err = r->recorder ? recorder__begin(r->recorder, 0) : 0;

	temp_recording__explain(&r->temp_recording, err);
	if (!err && r->out.file)
		err = output__begin(&r->out);
	return err;
}

/* Whether places in the source are shown, or kept. */
static bool wants_places(const struct run *r)
{
	return r->recorder || r->folder || (r->out.sink && !r->out.sink->names_only);
}

/* Functions that stand for files have their names once a call was about these. */
static void name_files(struct run *r)
{
	uint32_t first = r->system_calls_first + WIRE_CALLS + WIRE_ERRORS;

	for (uint32_t i = 0; r->o->system_calls && i < WIRE_FILES; i++) {
		const char *name = collector__file(r->collector, i);

		if (name)
			r->plan->functions[first + i].symbol = name;
	}
}

/* *out = all that is known up to `until_ns`, linked. */
static int run_snapshot(struct run *r, uint64_t until_ns, struct profile **out)
{
	struct profile *now;
	int err = controller__estimate(r->controller);

	if (!err)
		err = collector__snapshot(r->collector, until_ns, &now);
	if (err)
		return err;
	controller__account(r->controller, now);
	now->start_time = r->start_time;
	now->duration_ns = until_ns - r->start_ns;
	now->surveyed_ns = r->surveyed_ns;
	now->cost_unknown = r->cost_unknown;
	now->paused_ns = pause__paused_ns(&r->pause, until_ns);
	now->zoomed = zoom__function(r) == ZOOM_NONE ? 0 : zoom__function(r) + 1;
	name_files(r);
	err = describe__apply(r->description, now, wants_places(r));
	if (!err)
		err = describe_lines__apply(r->plan, r->tracer, r->collector, until_ns, now);
	if (!err)
		err = controller__apply(r->controller, now);
	if (!err && samples__rate(r->samples) && collector__weighed_ns(r->collector))
		now->accounting.cpu_ns = collector__weighed_ns(r->collector);
	if (!err)
		err = samples__apply(r->samples, now);
	if (!err)
		err = profile__connect(now);
	if (err) {
		log_error("cannot put the profile together: %s", strerror(-err));
		profile__free(now);
		return err;
	}
	*out = now;
	return 0;
}

/* Whether nothing has happened that could be told. */
static bool is_empty(const struct profile *p)
{
	return !p->accounting.entered && !p->accounting.cpu_ns && !p->accounting.samples_taken;
}

static void tell_supervisor(struct run_share *s, const struct profile *news, int err)
{
	const struct profile_accounting *a = &news->accounting;

	if (err) {
		atomic_fetch_add(&s->unwritten, err != -EAGAIN);
		return;
	}
	atomic_fetch_add(&s->probe_ns, a->probe_ns + a->sample_ns);
	atomic_fetch_add(&s->cpu_ns, a->cpu_ns);
	atomic_fetch_add(&s->recordings, 1);
}

/* Puts what is new into the folder. What cannot be written, or is nothing, is part of the next
 * interval then: *told = whether it was. A full disk is no reason to end the run. */
static int put_news(struct run *r, const struct profile *news, bool *told)
{
	int err = is_empty(news) ? -EAGAIN : folder__put(r->folder, news);

	*told = !err || err == -ENOMEM;
	if (!*told && err != -EAGAIN && ++r->untold >= UNTOLD_MOST) {
		log_warn("what was found in the last %u intervals is dropped: nothing of it could "
			 "be written",
			 r->untold);
		*told = true;
	}
	if (*told)
		r->untold = 0;
	if (r->o->share)
		tell_supervisor(r->o->share, news, err);
	return err == -ENOMEM ? err : 0;
}

/* With -i: writes what is new in `now`. It is kept or freed. */
static int show_news(struct run *r, struct profile *now)
{
	struct profile *news = NULL;
	bool told = true;
	int err = profile__interval(now, r->before, &news);

	if (err)
		log_error("cannot put the profile together: %s", strerror(-err));
	else if (r->folder)
		err = put_news(r, news, &told);
	else
		err = show__write(&r->out, r->o, &news);
	profile__free(news);
	if (!told) {
		profile__free(now);
		return err;
	}
	profile__free(r->before);
	r->before = now;
	collector__forget_retired(r->collector);
	return err;
}

/* Writes all of `now`, or with -i what is new in it. It is kept or freed. */
static int run_show(struct run *r, struct profile *now)
{
	int err;

	if (r->live) {
		err = zoom__follow(r, now);
		if (err) {
			profile__free(now);
			return err;
		}
		err = live__take(r->live, now);
		if (live__forgets(r->live))
			collector__forget_retired(r->collector);
		return err;
	}
	if (!r->out.file && !r->folder) {
		profile__free(now);
		return 0;
	}
	if (r->o->interval_ns)
		return show_news(r, now);
	err = show__write(&r->out, r->o, &now);
	profile__free(now);
	return err;
}

/* Calls that were sent, and are not there any more if the file has a limit. */
static void account_calls(const struct run *r, const struct profile_accounting *a)
{
	uint64_t forgotten = recorder__forgotten(r->recorder);
	char oldest[80] = "", kept[32], lost[32], gone[32];

	text_count(a->timeline_calls - forgotten, kept, sizeof(kept));
	text_count(a->timeline_lost, lost, sizeof(lost));
	if (forgotten)
		snprintf(oldest, sizeof(oldest), ", the oldest %s forgotten (--max-size)",
			 text_count(forgotten, gone, sizeof(gone)));
	if (!a->timeline_lost)
		log_info("%s single calls kept%s", kept, oldest);
	else
		log_warn("%s single calls kept%s, %s lost: their buffer was full (--buffer-size)",
			 kept, oldest, lost);
}

/* Says of a process that it did not run at all, as it is stopped or frozen. False: none is. */
static bool tell_halted(const struct run *r)
{
	for (size_t i = 0; i < r->target->processes_cnt; i++) {
		const pid_t pid = r->target->processes[i].pid;
		const char *how = process__halted(pid);

		if (!how)
			continue;
		log_warn("process %d is %s, and had no CPU time in the run: it calls nothing until "
			 "it is let go on (%s)",
			 pid, how, *how == 's' ? "SIGCONT, or its debugger" : "its control group");
		return true;
	}
	return false;
}

/* Says that the whole target slept, if it did: where is not seen with -F. */
static void tell_asleep(const struct run *r)
{
	size_t threads = 0;
	char cnt[32];

	for (size_t i = 0; i < r->target->processes_cnt; i++) {
		size_t asleep = process__asleep(r->target->processes[i].pid);

		if (!asleep)
			return;
		threads += asleep;
	}
	if (threads == 1)
		log_info("the target's only thread slept all the time: run without -F to see "
			 "where");
	else if (threads)
		log_info("all %s threads of the target slept all the time: run without -F to see "
			 "where",
			 text_count(threads, cnt, sizeof(cnt)));
}

/* Whether -F chose what is traced, so that there are no samples, nor waits outside of calls. */
static bool is_filtered(const struct run *r)
{
	const struct options *o = r->o;

	return o->filters_cnt > o->triggers_cnt + o->untils_cnt && !o->slos_cnt &&
	       !o->assertions_cnt && !samples__path_rate(r->samples);
}

/* Says why no call was seen, if the target had no CPU time either. */
static void tell_why_empty(const struct run *r, const struct profile *p)
{
	/* With intervals `p` has the figures of the last interval only. */
	if (r->o->interval_ns || p->accounting.entered || p->accounting.cpu_ns)
		return;
	if (!tell_halted(r) && r->o->chosen && is_filtered(r) && !p->paused_ns)
		tell_asleep(r);
}

/* The run's last words on stderr. */
static void run_account(const struct run *r, const struct profile *p)
{
	char cnt[32];

	if (p->accounting.deep)
		log_info("%s calls were nested deeper than the 64 levels of which the kernel "
			 "reports returns: each ends at its thread's next event",
			 text_count(p->accounting.deep, cnt, sizeof(cnt)));
	if (r->o->calls && !r->slo)
		account_calls(r, &p->accounting);
	if (tracer__refused_calls(r->tracer))
		log_info("%s calls were not recorded, as --if says",
			 text_count(tracer__refused_calls(r->tracer), cnt, sizeof(cnt)));
	output__account(&r->out, p, p->drops_cnt);
	tell_why_empty(r, p);
}

int result__emit(struct run *r, uint64_t until_ns, struct profile *figures)
{
	struct profile *now = NULL;
	int err = run_snapshot(r, until_ns, &now);

	if (err)
		return err;
	if (figures) {
		*figures = *now;
		figures->drops_cnt = drops__functions(now);
	}
	if (!r->recorder)
		return run_show(r, now);
	err = recorder__write(r->recorder, now);
	profile__free(now);
	return err;
}

/* CPU time of this process. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int result__serve(struct run *r)
{
	struct profile *now = NULL;
	uint64_t until_ns = r->stop_ns ? r->stop_ns : now_ns(), began_ns = cpu_ns();
	int err;

	if (!server__is_asked(r->server) || (!r->stop_ns && until_ns < r->serve_due_ns))
		return 0;
	err = run_snapshot(r, until_ns, &now);
	if (!err)
		err = zoom__follow(r, now);
	if (!err)
		err = server__update(r->server, &now, &r->out.opts, r->o->serve_interval_ns);
	profile__free(now);
	r->serve_due_ns = until_ns + (cpu_ns() - began_ns) * SERVE_SHARE;
	return err;
}

int result__show_recorded(struct run *r, struct output *out)
{
	struct value_names names = {0};
	struct recorded run = {0};
	int err = recorded_run__load(r->temp_recording.path, r->o, &run);

	if (!err)
		err = show__split(r->o, run.profile, &names);
	if (!err)
		err = show__write(out, r->o, &run.profile);
	recorded__free(&run);
	value_names__free(&names);
	return err;
}

/* All of the result so far, to `out`. */
static int show_so_far(struct run *r, struct output *out)
{
	struct profile *now = NULL;
	int err;

	if (r->recorder) {
		err = result__emit(r, now_ns(), NULL);
		if (!err)
			err = recorder__flush(r->recorder);
		return err ? err : result__show_recorded(r, out);
	}
	err = run_snapshot(r, now_ns(), &now);
	if (!err)
		err = show__write(out, r->o, &now);
	profile__free(now);
	return err;
}

/* The result so far to where snapshots go; *name, of a file of its own, else as it was. What cannot
 * be written to such a file is told and no reason to end the run: -EAGAIN. */
static int show_shot(struct run *r, char *name, size_t size)
{
	struct output shot;
	int err;

	if (output__shot(&r->out, r->snapshots + 1, name, size, &shot))
		return -EAGAIN;
	err = show_so_far(r, &shot);
	if (output__shot_done(&r->out, &shot) || (err && *name))
		return -EAGAIN;
	return err;
}

/* Writes a recording of what was found since the oldest profile that the live view has kept. */
static int record_minute(struct run *r, const char *name)
{
	struct profile *now = NULL, *minute = NULL;
	struct recorder *recorder = NULL;
	int err = run_snapshot(r, now_ns(), &now);

	if (!err)
		err = live__last_minute(r->live, now, &minute);
	if (!err)
		err = recorder__open(r->o, name, &recorder);
	if (!err)
		err = recorder__begin(recorder, minute->start_time);
	if (!err)
		err = recorder__write(recorder, minute);
	if (!err)
		err = recorder__end(recorder, "it is the last minute of a run that went on");
	recorder__free(recorder);
	profile__free(minute);
	profile__free(now);
	return err;
}

int result__wishes(struct run *r)
{
	uint32_t function;
	bool all;

	if (!server__wish(r->server, &function, &all))
		return 0;
	if (function < r->plan->functions_cnt)
		return result__zoom(r, function, all);
	zoom__out(r);
	return 0;
}

int result__zoom(struct run *r, uint32_t function, bool all)
{
	struct profile *now = NULL;
	int err = run_snapshot(r, now_ns(), &now);

	if (!err)
		err = zoom__in(r, function, all, now);
	profile__free(now);
	return err;
}

int result__last_minute(struct run *r)
{
	char name[64];
	time_t seconds = time(NULL);
	struct tm at;
	int err;

	strftime(name, sizeof(name), "proftrace-%Y%m%d-%H%M%S.data", localtime_r(&seconds, &at));
	err = record_minute(r, name);
	if (!err)
		log_info("the last minute is in %s: proftrace report shows it", name);
	return err == -ENOMEM ? err : 0;
}

int result__on_demand(struct run *r)
{
	char name[PATH_MAX] = "";
	int err = collector__name_waits(r->collector);

	if (!err)
		err = collector__poll(r->collector);
	if (err)
		return err;
	if (r->live)
		return result__last_minute(r);
	progress__clear(&r->progress);
	if (r->server && !r->out.file && !r->recorder)
		return result__serve(r); /* the page is what there is */
	if (r->out.file && !r->o->interval_ns)
		err = show_shot(r, name, sizeof(name));
	else
		err = result__emit(r, now_ns(), NULL);
	if (!err && r->recorder)
		err = recorder__flush(r->recorder);
	if (err)
		return err == -EAGAIN ? 0 : err;
	log_info("snapshot %u written%s%s", ++r->snapshots, *name ? " to " : "", name);
	return 0;
}

int result__finish(struct run *r, const char *reason)
{
	struct profile figures;
	int err = collector__last_calls(r->collector, r->stop_ns);

	if (!err)
		err = result__serve(r);
	if (!err)
		err = result__emit(r, r->stop_ns, &figures);
	if (!err && r->recorder && !r->slo)
		err = recorder__end(r->recorder, reason);
	if (!err)
		run_account(r, &figures);
	/* An agent's supervisor counts that. */
	if (!err && r->untold && !r->o->share) {
		log_error("what was found since the last recording is lost: it could not be "
			  "written");
		err = -EIO;
	}
	return err;
}
