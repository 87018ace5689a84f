// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/survey.h"

#include <errno.h>
#include <stdbool.h>

#include "attach/group.h"
#include "attach/groups.h"
#include "attach/links/link_holder.h"
#include "plan/plan.h"
#include "target/target.h"

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
	grp->left_in = list->stays;
	grp->burst = list->burst;
	err = group__link(ctx, grp);
	return err == -ESRCH ? 0 : err; /* a process that has ended needs no probes */
}

static int survey_object(struct attach_ctx *ctx, const struct target *t,
			 const struct survey_list *list, size_t from, size_t to)
{
	bool unbound = groups__is_unbound(ctx->g, ctx->object);
	uint32_t cnt = unbound ? 1 : ctx->obj->processes_cnt;
	int err = 0;

	for (uint32_t i = 0; !err && i < cnt; i++) {
		ctx->process = unbound ? 0 : ctx->obj->processes[i];
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

	for (size_t i = 0; !err && list->burst && i < list->cnt; i++)
		outcome__next_generation(&g->outcome, list->functions[i]);
	for (size_t from = 0, to; !err && from < list->cnt; from = to) {
		ctx.object = p->functions[list->functions[from]].object;
		ctx.obj = &t->objects[ctx.object];
		for (to = from + 1; to < list->cnt; to++) {
			if (p->functions[list->functions[to]].object != ctx.object)
				break;
		}
		err = survey_object(&ctx, t, list, from, to);
	}
	return err;
}

/* Whether these are all functions that are counted now. */
static bool are_all(const struct groups *g, const struct survey_list *list)
{
	bool all = true;

	for (size_t i = 0; i < list->cnt; i++)
		g->outcome.functions[list->functions[i]].left_in = true;
	for (size_t i = 0; all && i < g->groups_cnt; i++) {
		const struct group *grp = g->groups[i];

		for (size_t k = 0; all && k < grp->members_cnt && grp->survey; k++)
			all = g->outcome.functions[grp->members[k].function].left_in;
	}
	return all;
}

int groups__leave_in(struct groups *g, const struct backend *backend,
		     const struct proftrace_bpf *skel, const struct plan *p, const struct target *t,
		     const struct survey_list *list)
{
	if (!are_all(g, list))
		return groups__survey(g, backend, skel, p, t, list);
	for (size_t i = 0; i < g->groups_cnt; i++)
		g->groups[i]->left_in |= g->groups[i]->survey;
	return 0;
}

enum kind { SURVEY, LEFT_IN, BURST };

static enum kind kind_of(const struct group *grp)
{
	return grp->burst ? BURST : grp->left_in ? LEFT_IN : SURVEY;
}

static void take_out(struct groups *g, enum kind kind)
{
	for (size_t i = g->groups_cnt; i-- > 0;) {
		struct group *grp = g->groups[i];

		if ((grp->burst || grp->survey) && kind_of(grp) == kind)
			group__close(g, grp);
	}
}

void groups__take_out_left_in(struct groups *g)
{
	take_out(g, LEFT_IN);
	for (size_t i = 0; i < g->outcome.functions_cnt; i++)
		g->outcome.functions[i].left_in = false;
}

void groups__take_out_survey(struct groups *g)
{
	take_out(g, SURVEY);
	/* What is put in next would wait for a lock with each probe, and so would this. */
	link_holder__settle(g->link_holder);
}

void groups__take_out_burst(struct groups *g)
{
	take_out(g, BURST);
}
