// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One run, from the command line to the result:
 * target -> plan -> load and attach -> gate on -> collect -> gate off -> detach -> sink.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "attach/life.h"
#include "attach/links/holder/link_holder.h"
#include "attach/tracer.h"
#include "budget/controller.h"
#include "budget/spare_strangers.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "live/live.h"
#include "run/callers.h"
#include "run/describe.h"
#include "recording/folder.h"
#include "recording/share.h"
#include "run/keys.h"
#include "run/prepare.h"
#include "recording/recorder.h"
#include "run/replan.h"
#include "run/result.h"
#include "run/run.h"
#include "run/samples.h"
#include "run/slo/slo_watch.h"
#include "run/pause.h"
#include "planner/wait_names.h"
#include "run/watch.h"
#include "run/zoom.h"
#include "serve/server.h"
#include "target/launch.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/signals.h"
#include "util/text.h"

#define PIDS_SHOWN 8

/* Whom the run traces, as "PID 12,34", of many "PID 12,34,56,78,90,91,92,93 and 4,088 more". */
static char *name_target(const struct run *r, char *buf, size_t size)
{
	size_t len, cnt = r->target->processes_cnt;
	size_t shown = cnt > PIDS_SHOWN ? PIDS_SHOWN : cnt;
	char more[28];

	if (!r->target->processes_cnt) {
		snprintf(buf, size, "every process that maps %s", r->o->exec);
		return buf;
	}
	len = snprintf(buf, size, "PID ");
	for (size_t i = 0; i < shown && len < size; i++)
		len += snprintf(buf + len, size - len, "%s%d", i ? "," : "", r->target->pids[i]);
	if (shown < cnt && len < size)
		snprintf(buf + len, size - len, " and %s more",
			 text_count(cnt - shown, more, sizeof(more)));
	return buf;
}

static void announce(const struct run *r)
{
	char whom[PATH_MAX + 64];

	if (r->slo)
		log_info("watching %zu of %zu functions in %s", slo_watch__functions(r->slo),
			 r->attached, name_target(r, whom, sizeof(whom)));
	else
		log_info("tracing %zu function%s in %s", r->attached, r->attached == 1 ? "" : "s",
			 name_target(r, whom, sizeof(whom)));
}

/* The target as it was asked for, "postgres": the live view's first line has little room, and
 * processes come and go. */
static char *name_briefly(const struct run *r, char *buf, size_t size)
{
	const struct options *o = r->o;

	if (o->names_cnt == 1 && !o->pids_cnt)
		snprintf(buf, size, "%s", o->names[0]);
	else if (o->unit)
		snprintf(buf, size, "unit %s", o->unit);
	else if (o->container)
		snprintf(buf, size, "container %s", o->container);
	else if (o->cgroup)
		snprintf(buf, size, "cgroup %s", o->cgroup);
	else
		name_target(r, buf, size);
	return buf;
}

/* The live view takes the terminal, once there is nothing to tell but what it shows. */
static int start_live(struct run *r)
{
	char whom[40];
	int err;

	if (r->o->verb != VERB_TOP)
		return 0;
	err = live__new(name_briefly(r, whom, sizeof(whom)), &r->live);
	if (!err)
		live__tell_off(r->live, r->pause.off);
	if (!err)
		live__sessions(r->live, r->o->sessions, r->o->sessions_cnt);
	if (!err && r->o->left)
		live__nest(r->live);
	return err;
}

#define LOOKED_MOST 16 /* processes, where locks are named at the end; others if they live then */

/* Who ends soon is not asked for its mappings again. */
static void start_wait_names(struct run *r)
{
	size_t cnt = r->target->processes_cnt;

	r->wait_names = wait_names__new(r->plan, r->target);
	if (!r->o->calls && cnt > LOOKED_MOST)
		cnt = LOOKED_MOST;
	for (size_t i = 0; r->wait_names && i < cnt; i++)
		wait_names__look(r->wait_names, r->target->processes[i].pid);
}

/* Single calls and waits go into the recording. */
static void start_stream(struct run *r)
{
	struct call_stream stream = recorder__stream(r->recorder);

	collector__stream(r->collector, &stream, r->start_ns);
	if (r->wait_names)
		collector__name_variables(r->collector, callers__name_variable, r);
}

/* Nobody watches what is always on. */
#define CALM_NS 300000000ull

/* Who looks at a screen has a shorter first interval. Programs that read the output have whole
 * ones, as have commands, whose start is theirs. */
static uint64_t first_interval_ns(const struct run *r)
{
	const struct options *o = r->o;
	bool for_people = o->verb == VERB_TOP || (r->out.sink && r->out.sink->accounts);

	if (!for_people || r->target->launch || o->skip_ns || o->paused)
		return o->interval_ns;
	return watch__first_interval(o->interval_ns, now_ns() - r->command_ns);
}

static int run_start(struct run *r)
{
	const struct watch_times times = {
		.duration_ns = r->o->duration_ns,
		.interval_ns = r->server ? r->o->serve_interval_ns : r->o->interval_ns,
		.first_ns = r->server ? 0 : first_interval_ns(r),
		.skip_ns = r->o->skip_ns,
		.tick_ns = r->o->share ? CALM_NS : 0,
	};
	struct life *life = tracer__life(r->tracer);
	struct watch_fds fds = {
		.out = r->out.file ? fileno(r->out.file) : -1,
		.life = life__fd(life),
		.link_holder = link_holder__fd(r->link_holder),
	};
	struct timespec ts;
	int err;

	/* From here on we hear of what is mapped; what was while we attached we have to look for.
	 */
	life__listen(life);
	err = replan__all(r);
	if (!err)
		err = replan__joiners(r);
	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &ts);
	samples__start(r->samples, r);
	r->start_time = ts.tv_sec + ts.tv_nsec / 1e9;
	r->start_ns = now_ns();
	if (r->o->calls || samples__rate(r->samples))
		start_wait_names(r);
	if (r->o->calls)
		start_stream(r);
	pause__start(r);
	if (r->o->share)
		atomic_store(&r->o->share->ready, true);
	if (r->slo)
		err = slo_watch__add(r, r->start_ns);
	if (err)
		return err;
	announce(r);
	spare_strangers__tell(&r->budget);
	fds.screen = r->o->verb == VERB_TOP;
	progress__init(&r->progress, r->o->quiet || fds.screen);
	fds.keys = r->o->command ? -1 : keys__start(); /* a command reads its input itself */
	if (fds.keys >= 0 && !fds.screen)
		log_info("keys: space switches tracing off and on, s writes a snapshot, q ends it");
	err = start_live(r);
	if (!err)
		err = watch__start(r->watch, r->target, &fds, &times);
	if (!err)
		watch__look_in(r->watch, controller__pace_ns(r->controller));
	if (!err && r->target->launch)
		err = launch__release(r->target->launch);
	return err;
}

static void tell_files(const struct run *r)
{
	uint64_t missing = collector__files_missing(r->collector);

	if (missing)
		log_warn("files: %llu looks found no room for another name: system calls and waits "
			 "there do not tell what they were for",
			 (unsigned long long)missing);
}

/* First calls that may be missing. */
static void tell_begins(const struct life_counts *counts)
{
	if (counts->late == 1)
		log_warn("a process went on with files that it had loaded before their functions "
			 "had been planned: their first calls may be missing, or all calls of a "
			 "short program");
	else if (counts->late)
		log_warn("%u times a process went on with files that it had loaded before their "
			 "functions had been planned: their first calls may be missing, or all "
			 "calls of short programs",
			 counts->late);
	if (counts->unheld == 1)
		log_warn("a program began without a dynamic linker that could be made to wait "
			 "(static ones have none): its first calls, or all, may be missing");
	else if (counts->unheld)
		log_warn("%u programs began without a dynamic linker that could be made to wait "
			 "(static ones have none): their first calls, or all, may be missing",
			 counts->unheld);
}

static void run_stop(struct run *r)
{
	struct life_counts counts;
	struct life_skips skips;

	live__stop(r->live);
	keys__stop();
	pause__notice(r);
	tracer__close_gate(r->tracer);
	samples__stop(r->samples, r);
	r->stop_ns = now_ns();
	/* While probes are taken out calls are not counted any more, so CPU time is not, either. */
	if (!r->pause.off)
		controller__off(r->controller, r->stop_ns);
	life__ignore(tracer__life(r->tracer));
	progress__clear(&r->progress);
	tracer__begin_detach(r->tracer);
	life__counts(tracer__life(r->tracer), &counts);
	if (counts.forks && r->o->children)
		log_warn("%u child processes could not be followed: too many at once",
			 counts.forks);
	else if (counts.forks)
		log_info("%u forked processes were not followed; until they exec or end they pay "
			 "for the probes (without --no-children they are traced)",
			 counts.forks);
	tell_files(r);
	life__skips(tracer__life(r->tracer), &skips);
	if (skips.programs || (skips.forks && r->o->children))
		log_warn("the kernel did not report %lu forks and %lu beginnings of programs on "
			 "this machine: calls of the target's children may be missing",
			 (unsigned long)skips.forks, (unsigned long)skips.programs);
	if (skips.system_calls)
		log_warn("the kernel did not report %lu begins or ends of system calls on this "
			 "machine: system calls of the target may be missing",
			 (unsigned long)skips.system_calls);
	tell_begins(&counts);
	if (counts.shared)
		log_warn("%u calls end without their return, as another tool's return probes were "
			 "on the same functions (--exits=sites does without)",
			 counts.shared);
	/* A breakpoint that is met where the kernel knows of none: in a copy of what is probed. */
	if (counts.trapped)
		log_warn(
			"%u process%s died of SIGTRAP: so do programs that copy code of their own "
			"and run the copy, if it is probed (-N leaves functions out), and valgrind",
			counts.trapped, counts.trapped == 1 ? "" : "es");
}

#define GONE_LOOKS 20 /* as many ticks; a thread whose end was skipped may take long to end */

/* Looks for ends that the kernel has kept from the programs at them. */
static void look_for_gone(struct run *r)
{
	struct life_skips skips;

	life__skips(tracer__life(r->tracer), &skips);
	if (skips.ends != r->skipped_ends)
		r->gone_looks = GONE_LOOKS;
	else if (r->named_ended && skips.ends)
		r->gone_looks = 1; /* the end of the run may wait for it */
	r->skipped_ends = skips.ends;
	if (!r->gone_looks)
		return;
	r->gone_looks--;
	life__strike_ended(tracer__life(r->tracer));
	collector__end_gone(r->collector, now_ns());
}

/* A run with a time of its own goes on for those that may come yet: without a word its result may
 * be empty for no reason that can be seen. The agent looks for new processes all the time, so there
 * is nothing to say in its runs. */
static void tell_alone(struct run *r)
{
	char text[32];

	if (!r->o->duration_ns || r->o->share || r->alone_told)
		return;
	r->alone_told = true;
	progress__clear(&r->progress);
	log_info("all of these processes have ended, after %s; the run goes on until its time is "
		 "up, as others may come that belong (Ctrl-C ends it)",
		 text_duration(now_ns() - r->start_ns, text, sizeof(text)));
}

/* Whether nobody is left to trace: with --follow no child either, and nobody else who belongs,
 * unless the time that was given is not up: then some may come yet. */
static bool all_ended(struct run *r)
{
	struct life_counts counts;

	if (!r->named_ended)
		return false;
	life__counts(tracer__life(r->tracer), &counts);
	if (!r->o->joins)
		return !(r->o->follow && counts.followed_alive);
	if (!counts.followed_alive)
		tell_alone(r);
	if (r->o->duration_ns || counts.followed_alive || !replan__nobody_left(r)) {
		r->alone_since_ns = 0;
		return false;
	}
	if (!r->o->share)
		return true;
	/* A new process may join soon, and attaching anew would take longer than waiting. */
	if (!r->alone_since_ns)
		r->alone_since_ns = now_ns();
	return now_ns() - r->alone_since_ns >= r->o->share->linger_ns;
}

/* Takes the probes out of processes that are not traced, once these pay too much for them. */
static int spare_strangers(struct run *r)
{
	if (r->strangers_spared)
		tracer__drop_poll(r->tracer); /* closes what has been replaced */
	if (r->strangers_spared || !spare_strangers__is_due(&r->budget, now_ns() - r->start_ns))
		return 0;
	r->strangers_spared = true;
	progress__clear(&r->progress);
	log_warn("other processes run the same functions often: the probes are taken out of them "
		 "and of child processes, which are not traced any more (--follow traces them)");
	return replan__bind(r);
}

/* Fetches what has come, samples with the weight that they have. */
static int collect(struct run *r)
{
	if (samples__rate(r->samples))
		collector__weigh_samples(r->collector, controller__cpu_ns(r->controller));
	samples__pace(r->samples, r);
	return collector__poll(r->collector);
}

/* A few times a second. */
static int tick(struct run *r)
{
	int err = replan__events(r); /* with children that have ended since the last samples */

	callers__look(r);
	if (!err)
		err = replan__tick(r, now_ns());
	if (!err)
		err = collect(r);
	if (!err && r->o->interval_ns)
		err = collector__name_some_waits(r->collector);
	if (r->target->launch)
		launch__let_go();
	look_for_gone(r);
	samples__take(r->samples, r);
	if (!err && r->recorder)
		err = recorder__tick(r->recorder, now_ns() - r->start_ns);
	if (!err)
		err = slo_watch__tick(r, now_ns());
	/* The recordings of rules are made when one is broken. */
	if (!err && r->recorder && !r->slo && recorder__due(r->recorder, now_ns() - r->start_ns))
		err = result__emit(r, now_ns(), NULL);
	if (!err)
		err = pause__tick(r, now_ns());
	if (!err)
		err = replan__shared_returns(r);
	if (!err)
		err = result__wishes(r);
	if (!err)
		err = spare_strangers(r);
	progress__show(&r->progress, now_ns() - r->start_ns, r->pause.off, r->collector);
	return err;
}

/* Looks what the probes cost, and drops functions where it is too much. */
static int look(struct run *r)
{
	int err;

	if (r->o->share)
		controller__limit(r->controller, (double)atomic_load(&r->o->share->limit_ppm) / 1e6,
				  0);
	/* Who waits for the plan does not wait for this look as well. */
	err = replan__events(r);
	if (!err)
		err = controller__look(r->controller, now_ns());
	watch__look_in(r->watch, controller__pace_ns(r->controller));
	return err;
}

/* Does what a key of the live view asks for. */
static int grant(struct run *r, enum top_wish wish)
{
	switch (wish) {
	case TOP_SWITCH:
		return pause__toggle(r);
	case TOP_SAVE:
		return result__last_minute(r);
	case TOP_ZOOM:
	case TOP_ZOOM_ALL:
		return result__zoom(r, live__zoomed(r->live), wish == TOP_ZOOM_ALL);
	case TOP_RELEASE:
		zoom__out(r);
		return 0;
	default:
		return 0;
	}
}

/* Does what keys of the live view ask for; *quit = that is the end. */
static int press_keys(struct run *r, bool *quit)
{
	enum top_wish wish;
	int err = live__keys(r->live, &wish);

	while (!err && wish != TOP_NOTHING) {
		if (wish == TOP_LEAVE)
			*r->o->left = true;
		if (wish == TOP_QUIT || wish == TOP_LEAVE) {
			*quit = true;
			return 0;
		}
		err = grant(r, wish);
		live__tell_off(r->live, r->pause.off);
		if (!err)
			err = live__keys(r->live, &wish);
	}
	return err;
}

/* An interval is over. */
static int show_interval(struct run *r)
{
	int err = collector__name_waits(r->collector);

	if (!err)
		err = collect(r);
	if (err)
		return err;
	if (r->server)
		return result__serve(r);
	progress__clear(&r->progress);
	return result__emit(r, now_ns(), NULL);
}

/* Traces until something ends it. Returns 0, -EPIPE, or -errno. */
static int run_loop(struct run *r, enum watch_event *end)
{
	/* A recording has all functions from the start, in case that we do not come to more. */
	int err = r->recorder ? result__emit(r, now_ns(), NULL) : 0;
	bool quit = false;

	while (!err) {
		enum watch_event event = watch__next(r->watch);

		err = pause__notice(r);
		if (err)
			return err;
		switch (event) {
		case WATCH_TICK:
			err = tick(r);
			break;
		case WATCH_LOOK:
			err = look(r);
			break;
		case WATCH_SWITCH:
			err = pause__toggle(r);
			break;
		case WATCH_KEYS:
			err = press_keys(r, &quit);
			break;
		case WATCH_SKIPPED:
			err = pause__skipped(r);
			break;
		case WATCH_SNAPSHOT:
			err = result__on_demand(r);
			break;
		case WATCH_LIFE:
			err = replan__events(r);
			break;
		case WATCH_ENDED:
			r->named_ended = true;
			break;
		case WATCH_INTERVAL:
			err = show_interval(r);
			break;
		case WATCH_CLOSED:
			return -EPIPE;
		case WATCH_LOST:
			log_error("the process that holds the probes has been killed: what follows "
				  "is not in the result");
			/* fallthrough */
		default:
			*end = event;
			return 0;
		}
		if (!err && (quit || all_ended(r))) {
			*end = quit ? WATCH_SIGNAL : WATCH_ENDED;
			return 0;
		}
	}
	return err;
}

/* Fetches the last samples. */
static int stop_samples(struct run *r)
{
	int err;

	if (!samples__rate(r->samples))
		return 0;
	err = collect(r);
	return err ? err : collector__last_samples(r->collector);
}

static const char *end_reason(enum watch_event end)
{
	switch (end) {
	case WATCH_SIGNAL:
		return "it was interrupted";
	case WATCH_DURATION:
		return "its time was up";
	case WATCH_LOST:
		return "the probes were lost";
	default:
		return "the target ended";
	}
}

static void run_free(struct run *r)
{
	live__free(r->live);
	server__free(r->server);
	keys__stop();
	recorder__free(r->recorder);
	folder__free(r->folder);
	temp_recording__close(&r->temp_recording);
	profile__free(r->before);
	slo_watch__free(r->slo);
	describe__free(r->description);
	samples__free(r->samples);
	controller__free(r->controller);
	wait_names__free(r->wait_names);
	collector__free(r->collector);
	tracer__call_off(r->begun);
	tracer__free(r->tracer);
	link_holder__free(r->link_holder);
	callers__free(&r->callers);
	plan__free(r->plan);
	selection__clear(&r->selection);
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

int trace_and_tell(const struct options *o, bool *recorded)
{
	struct run r = {.o = o, .early_status = 1, .command_ns = now_ns()};
	enum watch_event end = WATCH_CLOSED;
	int err, close_err, status;

	if (selection__parse(&r.selection, o)) {
		selection__clear(&r.selection);
		return OPTIONS_USAGE_STATUS;
	}
	signals__ignore();
	err = o->slos_cnt ? slo_watch__new(&r) : 0;
	if (!err)
		err = prepare__run(&r);
	if (!err)
		err = run_start(&r);
	if (err) {
		log_unexplained(err);
		output__close(&r.out);
		run_free(&r);
		return r.early_status;
	}
	err = run_loop(&r, &end);
	run_stop(&r);
	if (!err)
		err = stop_samples(&r);
	if (!err)
		err = slo_watch__finish(&r, r.stop_ns);
	if (!err)
		err = result__finish(&r, end_reason(end));
	server__free(r.server); /* before waiting for the command */
	r.server = NULL;
	temp_recording__explain(&r.temp_recording, err);
	if (!err && r.recorder && r.out.file)
		err = result__show_recorded(&r, &r.out);
	close_err = output__close(&r.out);
	if (!err)
		err = close_err;
	tracer__end_detach(r.tracer);
	log_unexplained(err);
	*recorded = !err;
	status = (err && err != -EPIPE) || end == WATCH_LOST ? 1 : 0;
	if (r.target->launch && !status)
		status = command_status(&r, end);
	run_free(&r);
	return status;
}

int cmd_trace(const struct options *o)
{
	bool recorded;

	return trace_and_tell(o, &recorded);
}
