// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/survey.h"

#include <errno.h>
#include <stdbool.h>

#include "attach/group.h"
#include "attach/groups.h"
#include "attach/links/holder/link_holder.h"
#include "plan/plan.h"
#include "target/target.h"

/* Functions of a survey that come and go in one go. The target waits meanwhile, and may move to
 * another CPU, on which each further probe costs ten times as much: see links/cpus/near.h. */
#define TOGETHER 512

/* Functions [from, to) of the list, which are all of one object, in one process or in all. */
static int survey_process(struct attach_ctx *ctx, const struct survey_list *list, size_t from,
			  size_t to)
{
	const struct groups *g = ctx->g;
	struct group *grp = group__new(ctx, false);
	int err = grp ? 0 : -ENOMEM;

	for (size_t i = from; !err && i < to; i++) {
		uint32_t function = list->functions[i];

		err = group__add(grp, function,
				 list->burst ? g->outcome.functions[function].generation
					     : g->counting);
	}
	if (err)
		return err;
	grp->survey = !list->burst;
	grp->burst = list->burst;
	err = group__link(ctx, grp);
	return err == -ESRCH ? 0 : err; /* a process that has ended needs no probes */
}

static int survey_object(struct attach_ctx *ctx, const struct target *t,
			 const struct survey_list *list, size_t from, size_t to)
{
	bool unbound = !list->processes && groups__is_unbound(ctx->g, ctx->object);
	uint32_t cnt = unbound ? 1 : ctx->obj->processes_cnt;
	int err = 0;

	for (uint32_t i = 0; !err && i < cnt; i++) {
		ctx->process = unbound ? 0 : ctx->obj->processes[i];
		if (list->processes && !list->processes[ctx->process])
			continue;
		ctx->pid = unbound ? 0 : t->processes[ctx->process].pid;
		err = survey_process(ctx, list, from, to);
	}
	return err;
}

int groups__survey(struct groups *g, const struct backend *backend,
		   const struct proftrace_bpf *skel, const struct plan *p, const struct target *t,
		   const struct survey_list *list)
{
	struct attach_ctx ctx = {.g = g, .backend = backend, .skel = skel, .plan = p};
	int err = groups__share(&ctx, t);

	if (list->processes)
		groups__be_near(g, t, list->processes);
	for (size_t i = 0; !err && list->burst && i < list->cnt; i++)
		outcome__next_generation(&g->outcome, list->functions[i]);
	for (size_t from = 0, to; !err && from < list->cnt; from = to) {
		ctx.object = p->functions[list->functions[from]].object;
		ctx.obj = &t->objects[ctx.object];
		for (to = from + 1; to < list->cnt; to++) {
			if (p->functions[list->functions[to]].object != ctx.object ||
			    (!list->burst && to - from == TOGETHER))
				break;
		}
		err = survey_object(&ctx, t, list, from, to);
	}
	return err;
}

static void take_out(struct groups *g, bool burst)
{
	for (size_t i = g->groups_cnt; i-- > 0;) {
		if (burst ? g->groups[i]->burst : g->groups[i]->survey)
			group__close(g, g->groups[i]);
	}
}

void groups__take_out_survey(struct groups *g)
{
	take_out(g, false);
	/* Links that are still being closed hold a lock: each new probe would wait for it, and each
	 * closing for the new probes. */
	link_holder__settle(g->link_holder);
}

void groups__take_out_burst(struct groups *g)
{
	take_out(g, true);
}
