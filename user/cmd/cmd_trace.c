// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One run, from the command line to the result:
 * target -> plan -> load and attach -> gate on -> collect -> gate off -> detach -> sink.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/costs.h"
#include "attach/keeper.h"
#include "attach/life.h"
#include "attach/tracer.h"
#include "calibrate/calibrate.h"
#include "calls/by_value.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "cmd/charge.h"
#include "cmd/describe.h"
#include "cmd/describe_lines.h"
#include "cmd/keys.h"
#include "cmd/recorded_run.h"
#include "cmd/recorder.h"
#include "cmd/replan.h"
#include "cmd/roles.h"
#include "cmd/run.h"
#include "cmd/show.h"
#include "cmd/steer.h"
#include "cmd/watch.h"
#include "collect/collector.h"
#include "plan/lines.h"
#include "target/launch.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/privilege.h"
#include "util/signals.h"

/* What probes cost here. Without that, times are as measured. */
static int learn_costs(struct run *r)
{
	int err = calibrate__run(r->tracer, r->collector, &r->costs);

	if (err == -EOWNERDEAD || err == -ENOMEM)
		return err;
	if (err)
		log_warn("what probes cost could not be measured (%s): times include it",
			 strerror(-err));
	tracer__set_costs(r->tracer, &r->costs);
	collector__set_costs(r->collector, &r->costs, r->o->raw);
	return 0;
}

/* A recording, or the output; what shows single calls is a recording first. */
static int open_result(struct run *r)
{
	const struct options *o = r->o;
	int err;

	if (o->verb == VERB_RECORD) {
		r->out.opts = o->sink_opts;
		if (o->max_size)
			privilege__keep_replacing();
		return recorder__open(o, o->output, &r->recorder);
	}
	err = output__open(&r->out, o);
	if (!err && o->arguments_cnt && !o->conditions_cnt && !o->by && !r->out.sink->shows_values)
		log_warn("-A: %s shows no values; chrome, perfetto and sqlite do, and --by tells "
			 "calls "
			 "apart by them",
			 r->out.sink->name);
	if (!err && o->calls)
		err = spool__open(&r->spool);
	if (!err && o->calls)
		err = recorder__open(o, r->spool.path, &r->recorder);
	return err;
}

static int begin_result(struct run *r)
{
	int err = r->recorder ? recorder__begin(r->recorder) : 0;

	spool__explain(&r->spool, err);
	if (!err && r->out.file)
		err = output__begin(&r->out);
	return err;
}

/* From the options to probes in place, the gate still closed. */
static int run_prepare(struct run *r)
{
	const struct options *o = r->o;
	const struct target_spec spec = {o->pids, o->pids_cnt, o->exec, o->command};
	struct tracer_options tracer_opts = {
		.max_paths = o->max_paths,
		.max_depth = o->depth,
		.tier = o->tier,
		.follow = o->follow,
	};
	struct tracer_tables tables;
	int64_t attached;
	int err;

	r->plan_opts = (struct plan_options){
		.nop5_emulated = tracer__nop5_emulated(),
		.returns_stop = tracer__returns_stop(o->tier),
		.grows = true,
		.new_programs = o->follow,
		.skip_tiny =
			!o->filtered && !o->triggers_cnt && !o->untils_cnt && o->max_overhead > 0,
		.exits = o->exits,
		.arguments = r->arguments.cnt ? &r->arguments : NULL,
		.usdt = r->usdt.cnt ? &r->usdt : NULL,
		.lines = r->lines.cnt ? &r->lines : NULL,
	};
	err = watch__new(&r->watch);
	if (!err)
		err = privilege__check();
	if (!err)
		err = keeper__new(&r->keeper);
	if (!err)
		err = open_result(r);
	if (!err)
		err = target__open(&spec, &r->target);
	if (!err)
		err = filter__init(&r->filter, o->filters, o->filters_cnt, o->notraces,
				   o->notraces_cnt);
	/* Triggers alone choose nothing, and lines are all that is traced. */
	r->filter.defaults = !o->filtered && !o->lines_cnt;
	if (!err)
		err = plan__new(r->target, &r->filter, &r->plan_opts, &r->plan);
	if (err)
		return err;
	tracer_opts.keeper = r->keeper;
	tracer_opts.functions_cnt = r->plan->functions_cnt;
	tracer_opts.keep_cost = o->raw;
	tracer_opts.calls_bytes = o->calls ? o->buffer_size : 0;
	tracer_opts.arguments = &r->arguments;
	tracer_opts.lines = r->plan->lines != NULL;
	tracer_opts.line_sites_cnt = r->plan->lines ? r->plan->lines->sites_cnt : 0;
	tracer_opts.triggers = o->triggers_cnt;
	tracer_opts.untils = o->untils_cnt;
	tracer_opts.regions = filter__wants_regions(&r->filter) || r->usdt.cnt;
	tracer_opts.expects_go = r->plan->go || o->follow;
	err = tracer__load(&tracer_opts, r->target, &r->tracer);
	if (err)
		return err;
	tracer__tables(r->tracer, &tables);
	err = collector__new(&tables,
			     r->plan->functions_cnt > CALIBRATE_FUNCTIONS ? r->plan->functions_cnt
									  : CALIBRATE_FUNCTIONS,
			     &r->collector);
	if (!err)
		err = learn_costs(r);
	if (!err)
		err = roles__apply(r);
	if (!err)
		err = steer__new(r, &r->steer);
	if (err)
		return err;
	attached = tracer__attach(r->tracer, r->plan, r->target);
	if (attached == -ESRCH)
		log_error("the target ended while probes were being attached");
	if (attached < 0)
		return attached;
	r->attached = attached;
	err = charge__tell(r);
	if (err)
		return err;
	err = describe__new(r->plan, r->target, o, &r->arguments, &r->description);
	return err ? err : begin_result(r);
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
	const struct watch_times times = {r->o->duration_ns, r->o->interval_ns, r->o->skip_ns};
	struct life *life = tracer__life(r->tracer);
	struct watch_fds fds = {
		.out = r->out.file ? fileno(r->out.file) : -1,
		.life = life__fd(life),
		.keeper = keeper__fd(r->keeper),
	};
	struct timespec ts;
	int err;

	/* From here on we hear of what is mapped; what was while we attached we have to look for.
	 */
	life__listen(life);
	err = replan__all(r);
	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &ts);
	r->start_time = ts.tv_sec + ts.tv_nsec / 1e9;
	r->start_ns = now_ns();
	if (r->o->calls) {
		struct call_stream stream = recorder__stream(r->recorder);

		collector__stream(r->collector, &stream, r->start_ns);
	}
	switches__start(r);
	announce(r);
	progress__init(&r->progress, r->o->quiet);
	fds.keys = r->o->command ? -1 : keys__start(); /* a command reads its input itself */
	if (fds.keys >= 0)
		log_info("keys: space switches tracing off and on, s writes a snapshot, q ends it");
	err = watch__start(r->watch, r->target, &fds, &times);
	if (!err && r->target->launch)
		err = launch__release(r->target->launch);
	privilege__drop_for_run(r->target->processes_cnt != 0);
	return err;
}

static void run_stop(struct run *r)
{
	struct life_counts counts;

	keys__stop();
	switches__notice(r);
	tracer__close_gate(r->tracer);
	r->stop_ns = now_ns();
	life__ignore(tracer__life(r->tracer));
	progress__clear(&r->progress);
	tracer__detach(r->tracer);
	life__counts(tracer__life(r->tracer), &counts);
	if (counts.forks && r->o->follow)
		log_warn("%u child processes could not be followed: too many at once",
			 counts.forks);
	else if (counts.forks)
		log_info("%u forked processes were not followed; until they exec or end they pay "
			 "for the probes (--follow traces them)",
			 counts.forks);
	if (counts.late)
		log_warn("%u times files were loaded before their functions had been planned: "
			 "first calls may be missing",
			 counts.late);
	if (counts.unheld)
		log_warn("%u times a program began without a dynamic linker that could be made to "
			 "wait (static ones have none): its first calls, or all, may be missing",
			 counts.unheld);
}

/* *out = all that is known up to `until_ns`, linked. */
static int run_snapshot(struct run *r, uint64_t until_ns, struct profile **out)
{
	struct profile *now;
	int err = collector__snapshot(r->collector, until_ns, &now);

	if (err)
		return err;
	now->start_time = r->start_time;
	now->duration_ns = until_ns - r->start_ns;
	now->paused_ns = switches__paused_ns(&r->switches, until_ns);
	err = describe__apply(r->description, now);
	if (!err)
		err = describe_lines__apply(r->plan, r->collector, until_ns, now);
	if (!err)
		err = steer__apply(r->steer, r, now);
	if (!err)
		err = profile__link(now);
	if (err) {
		log_error("cannot put the profile together: %s", strerror(-err));
		profile__free(now);
		return err;
	}
	*out = now;
	return 0;
}

/* Writes all of `now`, or with -i what is new in it. It is kept or freed. */
static int run_show(struct run *r, struct profile *now)
{
	struct profile *delta = NULL;
	int err = 0;

	if (r->o->interval_ns) {
		err = profile__delta(now, r->before, &delta);
		if (err)
			log_error("cannot put the profile together: %s", strerror(-err));
		profile__free(r->before);
		r->before = now;
		collector__forget_retired(r->collector);
	}
	if (!err)
		err = show__write(&r->out, r->o, delta ? &delta : &now);
	profile__free(r->o->interval_ns ? delta : now);
	return err;
}

/* Calls that were sent, and are not there any more if the file has a limit. */
static void account_calls(const struct run *r, const struct profile_accounting *a)
{
	uint64_t forgotten = recorder__forgotten(r->recorder);
	char oldest[64] = "";

	if (forgotten)
		snprintf(oldest, sizeof(oldest), ", the oldest %llu forgotten (--max-size)",
			 (unsigned long long)forgotten);
	if (!a->timeline_lost)
		log_info("%llu single calls kept%s",
			 (unsigned long long)(a->timeline_calls - forgotten), oldest);
	else
		log_warn("%llu single calls kept%s, %llu lost: their buffer was full "
			 "(--buffer-size)",
			 (unsigned long long)(a->timeline_calls - forgotten), oldest,
			 (unsigned long long)a->timeline_lost);
}

/* The run's last words on stderr. */
static void run_account(const struct run *r, const struct profile *p)
{
	if (p->accounting.deep)
		log_info(
			"%llu calls were nested deeper than the kernel reports returns (64): their "
			"times last until what came next",
			(unsigned long long)p->accounting.deep);
	if (r->o->calls)
		account_calls(r, &p->accounting);
	if (tracer__refused_calls(r->tracer))
		log_info("%llu calls were not recorded, as --if says",
			 (unsigned long long)tracer__refused_calls(r->tracer));
	output__account(&r->out, p);
}

/* Writes what is known up to `until_ns`. `figures`, if not NULL, gets what is plain of it. */
static int run_emit(struct run *r, uint64_t until_ns, struct profile *figures)
{
	struct profile *now = NULL;
	int err = run_snapshot(r, until_ns, &now);

	if (err)
		return err;
	if (figures)
		*figures = *now;
	if (!r->recorder)
		return run_show(r, now);
	err = recorder__write(r->recorder, now);
	profile__free(now);
	return err;
}

/* What the run's own recording holds, as `report` would show it. */
static int show_recorded(struct run *r, struct output *out)
{
	struct value_names names = {0};
	struct recorded run = {0};
	int err = recorded_run__load(r->spool.path, r->o, &run);

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
		err = run_emit(r, now_ns(), NULL);
		if (!err)
			err = recorder__flush(r->recorder);
		return err ? err : show_recorded(r, out);
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

/* The result so far, because somebody wants it: one more profile in the recording; with -i the
 * interval ends early; else all of it. */
static int run_on_demand(struct run *r)
{
	char name[PATH_MAX] = "";
	int err = collector__poll(r->collector);

	if (err)
		return err;
	progress__clear(&r->progress);
	if (r->out.file && !r->o->interval_ns)
		err = show_shot(r, name, sizeof(name));
	else
		err = run_emit(r, now_ns(), NULL);
	if (!err && r->recorder)
		err = recorder__flush(r->recorder);
	if (err)
		return err == -EAGAIN ? 0 : err;
	log_info("snapshot %u written%s%s", ++r->snapshots, *name ? " to " : "", name);
	return 0;
}

/* Once nothing is traced any more. */
static int run_finish(struct run *r, const char *reason)
{
	struct profile figures;
	int err = collector__last_calls(r->collector, r->stop_ns);

	if (!err)
		err = run_emit(r, r->stop_ns, &figures);
	if (!err && r->recorder)
		err = recorder__end(r->recorder, reason);
	if (!err)
		run_account(r, &figures);
	return err;
}

/* Whether nobody is left to trace, followed children included. */
static bool all_ended(const struct run *r)
{
	struct life_counts counts;

	life__counts(tracer__life(r->tracer), &counts);
	return r->named_ended && !counts.followed_alive;
}

/* Traces until something ends it. Returns 0, -EPIPE, or -errno. */
static int run_loop(struct run *r, enum watch_event *end)
{
	/* A recording has all functions from the start, in case that we do not come to more. */
	int err = r->recorder ? run_emit(r, now_ns(), NULL) : 0;

	while (!err) {
		enum watch_event event = watch__next(r->watch);

		err = switches__notice(r);
		if (err)
			return err;
		switch (event) {
		case WATCH_TICK:
			err = collector__poll(r->collector);
			if (!err && r->recorder)
				err = recorder__tick(r->recorder, now_ns() - r->start_ns);
			if (!err)
				err = steer__tick(r->steer, r, now_ns());
			if (!err && r->recorder &&
			    recorder__due(r->recorder, now_ns() - r->start_ns))
				err = run_emit(r, now_ns(), NULL);
			if (!err)
				err = switches__tick(r, now_ns());
			progress__show(&r->progress, now_ns() - r->start_ns, r->switches.off,
				       r->collector);
			break;
		case WATCH_SWITCH:
			err = switches__toggle(r);
			break;
		case WATCH_SKIPPED:
			err = switches__skipped(r);
			break;
		case WATCH_SNAPSHOT:
			err = run_on_demand(r);
			break;
		case WATCH_LIFE:
			err = replan__events(r);
			break;
		case WATCH_ENDED:
			r->named_ended = true;
			break;
		case WATCH_INTERVAL:
			progress__clear(&r->progress);
			err = collector__poll(r->collector);
			if (!err)
				err = run_emit(r, now_ns(), NULL);
			break;
		case WATCH_CLOSED:
			return -EPIPE;
		case WATCH_LOST:
			log_error("the process that holds the probes has been killed: what follows "
				  "is "
				  "not in the result");
			*end = event;
			return 0;
		default:
			*end = event;
			return 0;
		}
		if (!err && all_ended(r)) {
			*end = WATCH_ENDED;
			return 0;
		}
	}
	return err;
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
	keys__stop();
	recorder__free(r->recorder);
	spool__close(&r->spool);
	profile__free(r->before);
	describe__free(r->description);
	steer__free(r->steer);
	collector__free(r->collector);
	tracer__free(r->tracer);
	keeper__free(r->keeper);
	plan__free(r->plan);
	filter__clear(&r->filter);
	arguments__clear(&r->arguments);
	usdt_patterns__clear(&r->usdt);
	line_specs__clear(&r->lines);
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

	if (arguments__parse(&r.arguments, o->arguments, o->arguments_cnt) ||
	    arguments__restrict(&r.arguments, o->conditions, o->conditions_cnt) ||
	    usdt_patterns__parse(&r.usdt, o->usdts, o->usdts_cnt) ||
	    line_specs__parse(&r.lines, o->lines, o->lines_cnt))
		return OPTIONS_USAGE_STATUS;
	signals__ignore();
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
		err = run_finish(&r, end_reason(end));
	spool__explain(&r.spool, err);
	if (!err && r.recorder && r.out.file)
		err = show_recorded(&r, &r.out);
	close_err = output__close(&r.out);
	if (!err)
		err = close_err;
	status = (err && err != -EPIPE) || end == WATCH_LOST ? 1 : 0;
	if (r.target->launch && !status)
		status = command_status(&r, end);
	run_free(&r);
	return status;
}
