// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One run, from the command line to the result:
 * target -> plan -> load and attach -> gate on -> collect -> gate off -> detach -> sink.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/privilege.h"
#include "attach/tracer.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "cmd/describe.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/watch.h"
#include "collect/collector.h"
#include "plan/filter.h"
#include "plan/plan.h"
#include "target/launch.h"
#include "target/target.h"
#include "util/log.h"

/* Everything a run holds. */
struct run {
	const struct options *o;
	struct watch *watch;
	struct output out;
	struct target *target;
	struct filter filter;
	struct plan *plan;
	struct tracer *tracer;
	struct collector *collector;
	struct description *description;
	struct progress progress;
	size_t attached;	/* functions */
	struct profile *before; /* what the intervals so far have shown */
	double start_time;
	uint64_t start_ns, stop_ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* From the options to probes in place, the gate still closed. */
static int run_prepare(struct run *r)
{
	const struct options *o = r->o;
	const struct target_spec spec = {o->pids, o->pids_cnt, o->exec, o->command};
	const struct plan_options plan_opts = {.nop5_emulated = tracer__nop5_emulated()};
	const struct tracer_options tracer_opts = {o->max_paths, o->depth, o->tier};
	struct tracer_tables tables;
	int64_t attached;
	int err;

	err = watch__new(&r->watch);
	if (!err)
		err = privilege__check();
	if (!err)
		err = output__open(&r->out, o);
	if (!err)
		err = target__open(&spec, &r->target);
	if (!err)
		err = filter__init(&r->filter, o->filters, o->filters_cnt, o->notraces,
				   o->notraces_cnt);
	if (!err)
		err = plan__new(r->target, &r->filter, &plan_opts, &r->plan);
	if (!err)
		err = tracer__load(&tracer_opts, r->target, &r->tracer);
	if (err)
		return err;
	tracer__tables(r->tracer, &tables);
	err = collector__new(&tables, r->plan->functions_cnt, &r->collector);
	if (err)
		return err;
	attached = tracer__attach(r->tracer, r->plan, r->target);
	if (attached < 0)
		return attached;
	r->attached = attached;
	err = describe__new(r->plan, r->target, o, &r->description);
	if (!err)
		err = output__begin(&r->out);
	return err ? err
		   : watch__start(r->watch, r->target, fileno(r->out.file), o->duration_ns,
				  o->interval_ns);
}

static void announce(const struct run *r)
{
	const char *plural = r->attached == 1 ? "" : "s";
	char whom[128];
	size_t len = 0;

	if (!r->target->processes_cnt) {
		log_info("tracing %zu function%s in every process that maps %s", r->attached,
			 plural, r->o->exec);
		return;
	}
	for (size_t i = 0; i < r->target->processes_cnt && len < sizeof(whom) - 16; i++)
		len += snprintf(whom + len, sizeof(whom) - len, "%s%d", i ? "," : "",
				r->target->pids[i]);
	log_info("tracing %zu function%s in PID %s%s", r->attached, plural, whom,
		 len >= sizeof(whom) - 16 ? ",..." : "");
}

static int run_start(struct run *r)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	r->start_time = ts.tv_sec + ts.tv_nsec / 1e9;
	r->start_ns = now_ns();
	tracer__open_gate(r->tracer);
	announce(r);
	progress__init(&r->progress, r->o->quiet);
	return r->target->launch ? launch__release(r->target->launch) : 0;
}

static void run_stop(struct run *r)
{
	tracer__close_gate(r->tracer);
	r->stop_ns = now_ns();
	progress__clear(&r->progress);
	tracer__detach(r->tracer);
	if (tracer__thread_execs(r->tracer))
		log_warn("a thread has replaced its process's program; the new one was not traced");
}

/* Writes what is known up to `until_ns`: everything, or with -i what is new. */
static int run_emit(struct run *r, uint64_t until_ns)
{
	struct profile *now = NULL, *delta = NULL;
	int err;

	err = collector__snapshot(r->collector, until_ns, &now);
	if (err)
		return err;
	now->start_time = r->start_time;
	now->duration_ns = until_ns - r->start_ns;
	err = describe__apply(r->description, now);
	if (!err)
		err = profile__link(now);
	if (!err)
		err = r->o->interval_ns ? profile__delta(now, r->before, &delta)
					: profile__summarize(now);
	if (!err)
		err = output__write(&r->out, delta ? delta : now);
	else
		log_error("cannot put the profile together: %s", strerror(-err));
	profile__free(delta);
	if (r->o->interval_ns) {
		profile__free(r->before);
		r->before = now;
		collector__forget_retired(r->collector);
	} else {
		profile__free(now);
	}
	return err;
}

/* Traces until something ends it. Returns 0, -EPIPE, or -errno. */
static int run_loop(struct run *r, enum watch_event *end)
{
	int err = 0;

	while (!err) {
		enum watch_event event = watch__next(r->watch);

		switch (event) {
		case WATCH_TICK:
			err = collector__poll(r->collector);
			progress__show(&r->progress, now_ns() - r->start_ns, r->collector);
			break;
		case WATCH_INTERVAL:
			progress__clear(&r->progress);
			err = collector__poll(r->collector);
			if (!err)
				err = run_emit(r, now_ns());
			break;
		case WATCH_CLOSED:
			return -EPIPE;
		default:
			*end = event;
			return 0;
		}
	}
	return err;
}

static void run_free(struct run *r)
{
	profile__free(r->before);
	describe__free(r->description);
	collector__free(r->collector);
	tracer__free(r->tracer);
	plan__free(r->plan);
	filter__clear(&r->filter);
	target__free(r->target);
	watch__free(r->watch);
}

/* The command's status once it has one. It is waited for, but not when a signal told us to stop. */
static int command_status(struct run *r, enum watch_event end)
{
	struct launch *l = r->target->launch;
	int status = 0;

	if (launch__ended(l, end == WATCH_ENDED, &status))
		return status;
	if (end == WATCH_SIGNAL)
		return 0;
	log_info("the command goes on; waiting for its end");
	launch__ended(l, true, &status);
	return status;
}

int cmd_trace(const struct options *o)
{
	struct run r = {.o = o};
	enum watch_event end = WATCH_CLOSED;
	int err, close_err, status;

	signal(SIGPIPE, SIG_IGN);
	err = run_prepare(&r);
	if (!err)
		err = run_start(&r);
	if (err) {
		output__close(&r.out);
		run_free(&r);
		return 1;
	}
	err = run_loop(&r, &end);
	run_stop(&r);
	if (!err)
		err = run_emit(&r, r.stop_ns);
	close_err = output__close(&r.out);
	if (!err)
		err = close_err;
	status = err && err != -EPIPE ? 1 : 0;
	if (r.target->launch && !status)
		status = command_status(&r, end);
	run_free(&r);
	return status;
}
