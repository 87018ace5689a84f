// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dropped functions get their probes again, in groups of their own: the groups of others stay as
 * they are. Links that a function had before may still linger, as may those of a burst; the
 * generation tells a hit of both apart.
 */
#include <errno.h>
#include <stdlib.h>

#include "attach/group.h"
#include "attach/grouping.h"
#include "attach/groups.h"
#include "attach/links/holder/link_holder.h"
#include "plan/plan.h"
#include "target/target.h"

/* Putting functions in again, in one process or in all. */
struct restore {
	struct attach_ctx *ctx;
	const uint32_t *functions;
	size_t cnt;
	bool *in; /* by function: its probes have not been taken out of the process yet */
};

/* Finds out which functions are in; returns how many groups of their object the process has. */
static size_t find_members(const struct restore *r)
{
	const struct groups *g = r->ctx->g;
	size_t live = 0;

	for (size_t i = 0; i < r->cnt; i++)
		r->in[r->functions[i]] = false;
	for (size_t i = 0; i < g->groups_cnt; i++) {
		const struct group *grp = g->groups[i];

		if (!group__is_live(grp, r->ctx, false))
			continue;
		live++;
		for (size_t k = 0; k < grp->members_cnt; k++)
			r->in[grp->members[k].function] = true;
	}
	return live;
}

static int restore_process(const struct restore *r)
{
	const struct groups *g = r->ctx->g;
	size_t live = find_members(r);
	struct grouping gr;
	int err = 0;

	grouping__begin(&gr, r->ctx, false, live);
	for (size_t i = 0; !err && i < r->cnt; i++) {
		uint32_t function = r->functions[i];
		const struct function_outcome *o = &g->outcome.functions[function];
		const struct group_member m = {.function = function, .generation = o->generation};

		if (r->ctx->plan->functions[function].object == r->ctx->object && !o->refused &&
		    !r->in[function])
			err = grouping__add(&gr, CALLED_OFTEN, &m);
	}
	if (!err)
		err = grouping__link(&gr);
	if (err)
		grouping__undo(&gr);
	return err == -ESRCH ? 0 : err; /* a process that has ended needs no probes */
}

static int restore_object(struct restore *r, const struct target *t)
{
	struct attach_ctx *ctx = r->ctx;
	const bool unbound = groups__is_unbound(ctx->g, ctx->object);
	int err = 0;

	ctx->obj = &t->objects[ctx->object];
	for (uint32_t i = 0; !err && i < ctx->g->attached[ctx->object]; i++) {
		ctx->process = unbound ? 0 : ctx->obj->processes[i];
		ctx->pid = unbound ? 0 : t->processes[ctx->process].pid;
		err = restore_process(r);
	}
	return err ? group__failed(ctx, err) : 0;
}

static void set_dropped(struct groups *g, const uint32_t *functions, size_t cnt, bool dropped)
{
	for (size_t i = 0; i < cnt; i++)
		g->outcome.functions[functions[i]].dropped = dropped;
}

int groups__restore(struct attach_ctx *ctx, const struct target *t, const uint32_t *functions,
		    size_t cnt)
{
	struct groups *g = ctx->g;
	struct restore r = {.ctx = ctx, .functions = functions, .cnt = cnt};
	int err = outcome__grow(&g->outcome, ctx->plan);

	r.in = calloc(ctx->plan->functions_cnt + 1, sizeof(*r.in));
	if (!err && !r.in)
		err = -ENOMEM;
	if (err) {
		free(r.in);
		return err;
	}
	set_dropped(g, functions, cnt, false);
	for (size_t i = 0; i < cnt; i++)
		outcome__next_generation(&g->outcome, functions[i]);
	link_holder__hold(g->link_holder, true);
	for (; !err && ctx->object < g->attached_cnt; ctx->object++)
		err = restore_object(&r, t);
	link_holder__hold(g->link_holder, false);
	/* Probes that are in by now are taken out with the next drop. */
	if (err)
		set_dropped(g, functions, cnt, true);
	free(r.in);
	return err;
}
