// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/prepare.h"

#include <errno.h>
#include <string.h>

#include "attach/costs.h"
#include "attach/keeper.h"
#include "attach/tracer.h"
#include "calibrate/calibrate.h"
#include "cli/options.h"
#include "cmd/charge.h"
#include "cmd/describe.h"
#include "cmd/result.h"
#include "cmd/roles.h"
#include "cmd/run.h"
#include "cmd/steer.h"
#include "cmd/watch.h"
#include "collect/collector.h"
#include "plan/lines.h"
#include "target/target.h"
#include "util/log.h"
#include "util/privilege.h"

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

int prepare__run(struct run *r)
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
		err = result__open(r);
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
	return err ? err : result__begin(r);
}
