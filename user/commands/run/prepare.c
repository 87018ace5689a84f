// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/prepare.h"

#include <errno.h>

#include "attach/links/holder/link_holder.h"
#include "attach/tracer.h"
#include "budget/controller.h"
#include "budget/survey.h"
#include "calibrate/assumed.h"
#include "calibrate/calibrate.h"
#include "cli/options.h"
#include "collect/collector.h"
#include "looks/call_cost.h"
#include "plan/plan_lines.h"
#include "planner/planner.h"
#include "recording/share.h"
#include "run/callers.h"
#include "run/describe.h"
#include "run/replan.h"
#include "run/result.h"
#include "run/roles.h"
#include "run/run.h"
#include "run/samples.h"
#include "run/watch.h"
#include "security/apart.h"
#include "security/namespaces.h"
#include "security/own_memory.h"
#include "security/privilege.h"
#include "symbol/system_calls.h"
#include "target/adopt.h"
#include "target/launch.h"
#include "target/process.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"

/* Costs of probes on this machine: measured now, unless the program of return probes was left out
 * because that is known; another proftrace may have replaced what was kept since. */
static int measure_costs(struct run *r)
{
	if (!tracer__spares_returns(r->tracer))
		return calibrate__run(r->tracer, r->collector, &r->budget.costs);
	r->budget.costs = r->known_costs;
	return 0;
}

/* Calibrates: learns what probes cost here. If that fails, times are as measured, and the budget
 * goes by what probes cost elsewhere. */
static int learn_costs(struct run *r)
{
	int err = measure_costs(r);

	if (err == -EOWNERDEAD || err == -ENOMEM)
		return err;
	if (err)
		log_warn("what probes cost could not be measured (%s): times include it%s",
			 apart__why_not(err),
			 r->budget.limit > 0 ? ", and the budget is kept by a guess" : "");
	r->cost_unknown = err;
	tracer__set_costs(r->tracer, &r->budget.costs);
	collector__set_costs(r->collector, &r->budget.costs, r->o->raw);
	if (err)
		assumed_costs(&r->budget.costs);
	return 0;
}

/* Whoever names a script, as pyenv's python is one, may take it for the program that it starts. */
static void tell_script(const struct run *r)
{
	const struct options *o = r->o;
	const char *program = "its interpreter";

	if (!r->target->launch || !launch__is_script(r->target->launch, o->command[0]))
		return;
	for (size_t i = 0; i < r->target->objects_cnt; i++) {
		if (r->target->objects[i].is_main)
			program = r->target->objects[i].path;
	}
	log_info("%s is a script: %s, which runs it, is traced%s", o->command[0], program,
		 o->follow ? ", and what it starts" : "; what it starts is with --follow");
}

/* After the upgrade of a package servers go on with the file that was there before. */
static void tell_replaced(const struct run *r)
{
	const char *path = r->o->exec;
	pid_t pid = path ? process__of_replaced(path) : 0;

	if (pid)
		log_warn("process %d runs the file that was %s before it was replaced, which -x "
			 "does not trace: -p %d does",
			 pid, path, pid);
}

/* Where numbers alone were given: a server's first process often does nothing but start workers. */
static void tell_workers(const struct run *r)
{
	struct process_status st;
	size_t cnt;
	pid_t parent;

	if (r->target->whom || r->target->launch || !r->o->children)
		return;
	cnt = target__children_outside(r->target, &parent);
	if (cnt && !process__status(parent, &st))
		log_warn("process %d has %zu child%s that began earlier and %s not traced: -p %s "
			 "traces all processes of that name",
			 parent, cnt, cnt == 1 ? "" : "ren", cnt == 1 ? "is" : "are", st.comm);
}

/* Below triggers it matters who calls, which a survey does not know; and what is switched on by
 * hand may be something else than what is there now. */
static bool wants_survey(const struct options *o)
{
	return o->max_overhead > 0 && o->chosen && !o->triggers_cnt && !o->paused;
}

/* Bursts show calls outside of what triggers want, and single ones that would pass for all. */
static bool wants_bursts(const struct options *o)
{
	return o->burst_ns && o->max_overhead > 0 && !o->exec && !o->calls && !o->triggers_cnt &&
	       !o->sample_hot;
}

/*
 * Whether the program of return probes, a fifth of all that the verifier looks at, can be left out:
 * no function has one, and what is mapped makes them dangerous, so few would come later; these do
 * without. Costs of entries are measured with return probes.
 */
static bool spares_returns(struct run *r, unsigned traits)
{
	const char *backend = tracer__best(r->o->backend);

	return backend && !r->o->exits && traits & EXIT_UNSAFE_TRAITS &&
	       calibrate__is_done(backend, r->o->calls, r->o->system_calls, &r->known_costs);
}

static struct tracer_options tracer_options_of(const struct run *r, const struct plan *p)
{
	const struct options *o = r->o;

	return (struct tracer_options){
		.max_paths = o->max_paths,
		.max_depth = o->depth,
		.backend = o->backend,
		.emulates = r->plan_opts.emulates,
		.children = o->children,
		.follow = o->follow,
		.command = r->target->launch != NULL,
		.whom = r->target->whom,
		.link_holder = r->link_holder,
		.functions_cnt = p->functions_cnt,
		.keep_cost = o->raw,
		.calls_bytes = o->calls ? o->buffer_size : 0,
		.arguments = &r->selection.arguments,
		.returns_spared = p->returns_spared,
		.lines = p->lines != NULL,
		.line_sites_cnt = p->lines ? p->lines->sites_cnt : 0,
		.triggers = o->triggers_cnt,
		.untils = o->untils_cnt,
		.whole = o->sessions_cnt || o->slos_cnt,
		.regions = filter__wants_regions(&r->selection.filter) || r->selection.usdt.cnt,
		.regions_planned = p->sites_cnt,
		.callers = o->callers,
		.seeds = callers__seeds(r),
		.samples_hz = samples__most_rate(r->samples),
		.samples_bare = !samples__path_rate(r->samples),
		.system_calls = o->system_calls,
		.system_calls_first = r->system_calls_first,
		.call_reason = system_call__reason,
		.call_file = system_call__file,
		.survey = wants_survey(o) || wants_bursts(o),
		.bursts = wants_bursts(o),
		.drops = o->max_overhead > 0 && !o->sample_hot,
		.expects_go = p->go || o->follow,
		.turn_fd = o->share ? o->share->turn_fd : 0,
		.turn = o->share ? o->share->turn : 0,
	};
}

#define ROOM 32768 /* functions; of those that have more few are traced as a whole */

/* The plan says next to nothing as yet, but enough for a guess. Where it matters what else is
 * planned, nothing is loaded yet. */
static void begin_loading(const struct plan *p, unsigned traits, bool returns, void *ctx)
{
	struct run *r = ctx;
	struct tracer_options opts;

	if (r->o->lines_cnt || r->selection.arguments.cnt || r->o->system_calls)
		return;
	opts = tracer_options_of(r, p); /* without regions */
	opts.functions_cnt = ROOM;
	opts.returns_spared = !returns && spares_returns(r, traits);
	r->begun = tracer__begin(&opts, r->target);
}

/*
 * From the options to the plan. What may fail for reasons of ours is done before the target is
 * looked at. Reading strangers' files can take long, and a signal ends us at once meanwhile:
 * nothing is attached, what the output held is still there, the link holder and the fetcher of
 * debug information end with their sockets, and a command, which has not run, with its tracer.
 */
static int make_plan(struct run *r)
{
	const struct options *o = r->o;
	const struct target_spec spec = selection__target(o, &r->early_status);
	int err;

	r->plan_opts = selection__plan_options(&r->selection, o);
	r->plan_opts.grows = r->plan_opts.attaches = true;
	r->plan_opts.on_look = begin_loading;
	r->plan_opts.ctx = r;
	own_memory__check();
	err = watch__new(o->share, &r->watch);
	if (!err)
		err = namespaces__check();
	if (!err)
		err = privilege__check();
	if (!err)
		err = link_holder__new(tracer__needs_events(o->backend), o->system_calls,
				       &r->link_holder);
	if (!err)
		err = result__open(r);
	if (!err)
		samples__new(o, &r->samples);
	if (!err)
		callers__open(r);
	if (!err)
		err = target__open(&spec, &r->target);
	if (!err)
		tell_script(r);
	if (!err)
		tell_replaced(r);
	if (!err)
		tell_workers(r);
	if (!err)
		err = planner__make(r->target, &r->selection.filter, &r->plan_opts, &r->plan);
	r->plan_opts.on_look = NULL;
	watch__end_in_order();
	if (!err)
		err = roles__check(r);
	if (!err && o->system_calls)
		err = plan_callers__system_calls(&r->callers.named, r->plan,
						 &r->system_calls_first);
	return err;
}

/* Has the programs in the kernel, and all that is to know before functions are attached. */
static int load(struct run *r)
{
	size_t functions_cnt = r->plan->functions_cnt;
	struct tracer_tables tables;
	struct tracer_options opts;
	int err;

	r->plan->returns_spared = r->plan->functions_cnt && !plan__uses_returns(r->plan) &&
				  spares_returns(r, r->plan->traits);
	opts = tracer_options_of(r, r->plan);
	/* Some 0.2 s, in which nothing of a stranger's is read: the first result waits for it. */
	privilege__hurry(true);
	err = tracer__load(&opts, r->target, r->begun, &r->tracer);
	r->begun = NULL;
	privilege__hurry(false);
	if (err)
		return err;
	tracer__tables(r->tracer, &tables);
	if (functions_cnt < CALIBRATE_FUNCTIONS)
		functions_cnt = CALIBRATE_FUNCTIONS;
	err = collector__new(&tables, functions_cnt, &r->collector);
	r->budget = (struct budget_inputs){
		.plan = r->plan,
		.target = r->target,
		.tracer = r->tracer,
		.collector = r->collector,
		.limit = r->o->max_overhead / 100,
		.interrupt_ns = samples__interrupt_ns(r->samples),
		.burst_ns = wants_bursts(r->o) ? r->o->burst_ns : 0,
		.surveys = wants_survey(r->o),
		.all = !r->o->filters_cnt,
		.tells = r->o->tells_overhead,
		.sample_hot = r->o->sample_hot,
		.children = r->o->children,
		.follow = r->o->follow || r->o->joins,
		.joins = r->o->joins,
		.calm = r->o->share != NULL,
	};
	if (r->o->burst_asked && r->budget.burst_ns && !tracer__surveys(r->tracer))
		log_warn("--burst needs Linux 6.6: dropped functions have only the calls up to "
			 "their drop");
	if (!err)
		err = learn_costs(r);
	if (!err)
		err = controller__new(&r->budget, &r->controller);
	if (!err)
		err = roles__apply(r);
	return err ? err : callers__start(r);
}

static bool admit(void *ctx, pid_t child, uint32_t code_pages)
{
	struct run *r = ctx;

	return tracer__adopt(r->tracer, child, code_pages);
}

static int attach(struct run *r)
{
	struct survey_result survey = {0};
	int64_t attached = 0;

	privilege__hurry(true);
	if (r->o->children && r->o->chosen)
		attached = target__adopt(r->target, admit, r);
	if (!attached)
		attached = replan__before_attach(r);
	if (!attached)
		attached = call_cost__tell(r->plan, r->collector);
	if (!attached)
		attached = survey__make(&r->budget, &survey);
	r->surveyed_ns = survey.took_ns;
	r->budget.load = survey.load;
	if (wants_survey(r->o))
		r->budget.start_ns =
			clock_ns(CLOCK_PROCESS_CPUTIME_ID) + tracer__linking_ns(r->tracer);
	if (r->budget.start_ns)
		log_debug("the start has taken %.0f ms of CPU time",
			  (double)r->budget.start_ns / 1e6);
	if (!attached && survey.forecast)
		attached = controller__expect(r->controller, survey.forecast);
	if (!attached && survey.called)
		attached = controller__leave_out(r->controller, survey.called);
	if (!attached && r->o->slos_cnt)
		attached = controller__hold(r->controller);
	if (!attached)
		attached = tracer__watch_system_calls(r->tracer);
	if (!attached)
		attached = tracer__attach(r->tracer, r->plan, r->target, survey.called);
	privilege__hurry(false);
	survey_result__clear(&survey);
	if (attached == -ESRCH)
		log_error("the target ended while probes were being attached");
	if (attached < 0)
		return attached;
	r->attached = attached;
	return 0;
}

int prepare__run(struct run *r)
{
	int err = make_plan(r);

	if (!err)
		err = load(r);
	if (!err)
		err = attach(r);
	if (!err)
		err = describe__new(r->plan, r->target, r->tracer, r->o, &r->selection.arguments,
				    &r->description);
	return err ? err : result__begin(r);
}
