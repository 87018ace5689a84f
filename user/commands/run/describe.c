// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/describe.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/tracer.h"
#include "calls/profile.h"
#include "cli/options.h"
#include "plan/exit_strategy.h"
#include "plan/lookups.h"
#include "plan/plan.h"
#include "planner/locate.h"
#include "select/arguments.h"
#include "target/target.h"
#include "util/log.h"

#define NAMES_OF_EMPTY 16 /* functions that a sink may name though none was called */

struct description {
	const struct plan *plan;
	const struct target *target;
	const struct tracer *tracer;
	const struct arguments *arguments;
	struct profile_target profile_target;
	struct profile_probes probes;
	struct profile_skip *skipped;
};

static void count_probes(const struct plan *p, const struct tracer *tr,
			 struct profile_probes *probes)
{
	uint64_t exits[EXIT_STRATEGIES] = {0};

	for (int c = 0; c < SITE_CLASSES; c++)
		probes->sites[c].class_name = site_class__name(c);
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (!plan_function__has_probe(&p->functions[i]) || tracer__is_refused(tr, i))
			continue;
		probes->functions++;
		probes->instrumented += p->functions[i].instrumented != INSTRUMENTED_NOT;
		probes->sites[p->functions[i].entry.site].count++;
		exits[p->functions[i].exit]++;
	}
	/* The last class is told of where there is one: other kernels than 7.0 and later have none.
	 */
	probes->sites_cnt = SITE_CLASSES - !probes->sites[SITE_EMUL].count;
	if (probes->instrumented)
		log_debug("%llu of %llu functions have been compiled with room for instrumentation",
			  (unsigned long long)probes->instrumented,
			  (unsigned long long)probes->functions);
	probes->exits_return = exits[EXIT_RETURN];
	probes->exits_sites = exits[EXIT_SITES];
	probes->exits_none = exits[EXIT_NONE];
}

/* Lists functions that the plan left out, and those that the kernel has refused. */
static int list_skipped(struct description *d)
{
	const struct target *t = d->target;
	const struct plan *p = d->plan;
	size_t cnt = 0;

	d->skipped = calloc(p->skipped_cnt + p->functions_cnt, sizeof(*d->skipped));
	if (!d->skipped)
		return -ENOMEM;
	for (size_t i = 0; i < p->skipped_cnt; i++) {
		const struct plan_skip *s = &p->skipped[i];

		d->skipped[cnt++] = (struct profile_skip){plan__skip_name(p, i),
							  t->objects[s->object].path, s->reason};
	}
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (tracer__is_refused(d->tracer, i))
			d->skipped[cnt++] =
				(struct profile_skip){plan__name(p, i), t->objects[f->object].path,
						      "the kernel refuses the probe"};
	}
	d->probes.skipped = d->skipped;
	d->probes.skipped_cnt = cnt;
	return 0;
}

int describe__new(const struct plan *p, const struct target *t, const struct tracer *tr,
		  const struct options *o, const struct arguments *a, struct description **out)
{
	struct description *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->plan = p;
	d->target = t;
	d->tracer = tr;
	d->arguments = a;
	if (list_skipped(d)) {
		free(d);
		return -ENOMEM;
	}
	d->profile_target = (struct profile_target){.pids = t->pids,
						    .pids_cnt = t->processes_cnt,
						    .exec = o->exec,
						    .command = o->command};
	count_probes(p, tr, &d->probes);
	*out = d;
	return 0;
}

void describe__free(struct description *d)
{
	if (d)
		free(d->skipped);
	free(d);
}

/* Names the values that are read of functions' calls, function by function. */
static int describe_arguments(const struct description *d, struct profile *p)
{
	const struct plan *plan = d->plan;
	size_t cnt = 0;

	for (size_t i = 0; i < plan->functions_cnt; i++) {
		if (plan->functions[i].arguments)
			cnt += d->arguments->lists[plan->functions[i].arguments - 1].cnt;
	}
	p->arguments = cnt ? calloc(cnt, sizeof(*p->arguments)) : NULL;
	if (cnt && !p->arguments)
		return -ENOMEM;
	for (size_t i = 0; i < plan->functions_cnt && cnt; i++) {
		const struct argument_list *l;

		if (!plan->functions[i].arguments)
			continue;
		l = &d->arguments->lists[plan->functions[i].arguments - 1];
		for (size_t k = 0; k < l->cnt; k++)
			p->arguments[p->arguments_cnt++] =
				(struct profile_argument){i, l->items[k].name};
	}
	return 0;
}

/* Finds the source of functions that have been called; `called` by number. */
static int describe_places(const struct description *d, const struct profile *p, const bool *called)
{
	const struct plan *plan = d->plan;
	const struct plan_place *places;
	int err = plan__locate(plan, d->target, called, &places);

	for (size_t i = 0; i < plan->functions_cnt && !err; i++) {
		p->functions[i].file = places[i].file;
		p->functions[i].line = places[i].line;
	}
	return err;
}

static enum function_kind kind_of(const struct plan_function *f)
{
	switch (f->kind) {
	case PLAN_REGION:
	case PLAN_MARK:
		return FUNCTION_REGION;
	case PLAN_CALLER:
		return FUNCTION_CALLER;
	case PLAN_INLINED:
		return FUNCTION_INLINED;
	default:
		return FUNCTION_PLAIN;
	}
}

int describe__apply(struct description *d, struct profile *p, bool places)
{
	const struct plan *plan = d->plan;
	bool *called;
	int err;

	p->target = d->profile_target;
	p->probes = d->probes;
	p->functions = calloc(plan->functions_cnt, sizeof(*p->functions));
	called = calloc(plan->functions_cnt + 1, sizeof(*called));
	if (!p->functions || !called) {
		free(called);
		return -ENOMEM;
	}
	p->functions_cnt = plan->functions_cnt;
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		const struct plan_function *f = &plan->functions[i];

		p->functions[i] = (struct profile_function){
			.name = f->symbol,
			.symbol = f->symbol,
			.aliases = f->aliases,
			.aliases_cnt = f->aliases_cnt,
			.module = f->outside ? f->outside : d->target->objects[f->object].path,
			.offset = f->offset,
			.kind = kind_of(f),
			.leaves_by_jump = f->tail_jumps,
		};
	}
	/* An empty profile names some that were probed. */
	for (size_t i = 0; p->nodes_cnt <= 1 && i < NAMES_OF_EMPTY && i < plan->functions_cnt; i++)
		p->functions[i].name = plan__name(plan, i);
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		uint32_t f = p->nodes[i].function;

		p->functions[f].name = plan__name(plan, f);
		called[f] = true;
	}
	err = places ? describe_places(d, p, called) : 0;
	free(called);
	return err ? err : describe_arguments(d, p);
}
