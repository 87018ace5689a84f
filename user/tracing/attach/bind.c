// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From links for every process to links for the target's own. As where functions are dropped
 * (regroup.c), the new ones are put in first, and the old ones linger.
 */
#include <errno.h>

#include "attach/group.h"
#include "attach/grouping.h"
#include "attach/groups.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/clock.h"
#include "wire.h"

/* Groups of what [0, before) have for all processes, in the context's process alone. */
static int bind_process(struct attach_ctx *ctx, size_t before, bool exits_only)
{
	const struct groups *g = ctx->g;
	struct grouping gr;
	int err = 0;

	grouping__begin(&gr, ctx, exits_only, 0);
	for (size_t i = 0; i < before; i++) {
		const struct group *from = g->groups[i];

		/* Lines have no generations that tell two probes of one apart: they stay. */
		if (from->object != ctx->object || from->retired_ns || from->lines ||
		    from->exits_only != exits_only)
			continue;
		for (size_t k = 0; !err && k < from->members_cnt; k++) {
			struct group_member m = from->members[k];

			m.generation = (m.generation + 1 + from->attempts) % WIRE_GENERATIONS;
			err = grouping__add(&gr, from->calls, &m);
		}
	}
	if (!err)
		err = grouping__link(&gr);
	return err == -ESRCH ? 0 : err; /* a process that has ended needs no probes */
}

static int bind_object(struct attach_ctx *ctx, const struct target *t)
{
	struct groups *g = ctx->g;
	size_t before = g->groups_cnt;
	uint64_t now;
	int err = 0;

	ctx->obj = &t->objects[ctx->object];
	for (uint32_t k = 0; !err && k < ctx->obj->processes_cnt; k++) {
		ctx->process = ctx->obj->processes[k];
		ctx->pid = t->processes[ctx->process].pid;
		err = bind_process(ctx, before, false);
		if (!err)
			err = bind_process(ctx, before, true);
	}
	now = now_ns();
	for (size_t i = before; err && i-- > 0;) {
		struct group *grp = g->groups[i];

		if (grp->object == ctx->object && grp->unbound && !grp->retired_ns)
			grp->attempts++;
	}
	while (err && g->groups_cnt > before)
		group__close(g, g->groups[g->groups_cnt - 1]);
	if (err)
		return group__failed(ctx, err);
	for (size_t i = 0; i < before; i++) {
		struct group *grp = g->groups[i];

		if (grp->object == ctx->object && !grp->retired_ns && !grp->lines)
			grp->retired_ns = now;
	}
	g->shared[ctx->object] = false;
	g->attached[ctx->object] = ctx->obj->processes_cnt;
	return 0;
}

int groups__bind(struct groups *g, const struct backend *backend, const struct proftrace_bpf *skel,
		 const struct plan *p, const struct target *t)
{
	struct attach_ctx ctx = {.g = g, .backend = backend, .skel = skel, .plan = p};
	int err = 0;

	for (; !err && ctx.object < g->attached_cnt; ctx.object++) {
		if (g->shared[ctx.object])
			err = bind_object(&ctx, t);
	}
	return err;
}
