// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/selection.h"

#include <errno.h>

#include "attach/tracer.h"
#include "cli/options.h"
#include "plan/options.h"
#include "select/thread_context.h"
#include "util/log.h"

static int check_by(const struct selection *w, const struct options *o)
{
	if (!o->by || arguments__have(&w->arguments, o->by))
		return 0;
	log_error("--by %s: no -A and no --if reads a value of that name", o->by);
	return -EINVAL;
}

int selection__parse(struct selection *w, const struct options *o)
{
	int err = arguments__parse(&w->arguments, o->arguments, o->arguments_cnt,
				   o->arguments_given, o->arguments_linked);

	if (!err)
		err = arguments__restrict(&w->arguments, o->conditions, o->conditions_cnt);
	if (!err && o->sessions_cnt && o->calls && !o->session_id.value)
		err = thread_context__want(&w->arguments, o->sessions, o->sessions_cnt);
	if (!err)
		err = check_by(w, o);
	if (!err)
		err = usdt_patterns__parse(&w->usdt, o->usdts, o->usdts_cnt);
	if (!err)
		err = line_specs__parse(&w->lines, o->lines, o->lines_cnt);
	if (!err)
		err = filter__init(&w->filter, o->filters, o->filters_cnt, o->notraces,
				   o->notraces_cnt);
	/* Triggers alone choose nothing, and lines are all that is traced. */
	w->filter.defaults = !o->filtered && !o->lines_cnt;
	return err;
}

void selection__clear(struct selection *w)
{
	filter__clear(&w->filter);
	arguments__clear(&w->arguments);
	usdt_patterns__clear(&w->usdt);
	line_specs__clear(&w->lines);
}

struct target_spec selection__target(const struct options *o, int *status)
{
	return (struct target_spec){
		.whom = {.pids = o->pids,
			 .pids_cnt = o->pids_cnt,
			 .names = o->names,
			 .names_cnt = o->names_cnt,
			 .unit = o->unit,
			 .cgroup = o->cgroup,
			 .container = o->container,
			 .user = o->user},
		.exec = o->exec,
		.command = o->command,
		.status = status,
		/* top has none; what is to be recorded it writes where it was started */
		.output = o->output || o->verb != VERB_TOP ? o->output : "proftrace.data",
	};
}

struct plan_options selection__plan_options(struct selection *w, const struct options *o)
{
	return (struct plan_options){
		.call_nops = tracer__call_nops(),
		.any_machine = o->list && !o->chosen,
		.returns_stop = tracer__returns_stop(o->backend),
		.trace_events = tracer__needs_events(o->backend),
		.skip_tiny =
			!o->filtered && !o->triggers_cnt && !o->untils_cnt && o->max_overhead > 0,
		.early_exits = true,
		.emulates = tracer__writes_registers(),
		.closes_leaves = !o->calls && !o->callers && !w->lines.cnt,
		.anywhere = o->callers && !o->exec,
		.new_programs = o->follow || o->joins,
		.same_programs = o->names_cnt && !o->follow && !o->unit && !o->cgroup &&
				 !o->container && !o->user,
		.anybody = o->joins,
		.children = o->children,
		.exits = o->exits,
		.arguments = w->arguments.cnt ? &w->arguments : NULL,
		.usdt = w->usdt.cnt ? &w->usdt : NULL,
		.lines = w->lines.cnt ? &w->lines : NULL,
	};
}
