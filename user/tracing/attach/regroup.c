// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Dropping functions. In each process, all groups that hold one are replaced by new ones of what is
 * left in them; what was called more than the average is put apart, as it is likely to go next. The
 * old links linger, so that calls return through the link that they were entered by; without return
 * probes a moment only, so that generations do not come again too soon. While half of all
 * generations have not been used yet, none can come again soon, and old links cost the target time.
 *
 * In a hurry exit sites go first, as most of them are single-stepped, also for calls that are
 * passed over: where nobody has called the others of the group, they hardly miss theirs for that
 * moment.
 */
#include <errno.h>

#include "attach/group.h"
#include "attach/grouping.h"
#include "attach/groups.h"
#include "attach/links/holder/link_holder.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/clock.h"
#include "wire.h"

#define LINGER_NS	(200 * 1000000ull)
#define LINGER_BRIEF_NS (20 * 1000000ull)
#define LINGER_FIRST_NS (2 * 1000000ull)
/* Retired groups of one object in one process, at most: all cost the target time at each hit. */
#define MAX_RETIRED 16
/* To replace a group, until generations come again: by then the links of the first one are long
 * closed. */
#define MAX_ATTEMPTS 3
_Static_assert(MAX_RETIRED *MAX_ATTEMPTS < WIRE_GENERATIONS / 2, "told apart");

/* Replacing the groups of one object in one process. */
struct regroup {
	struct attach_ctx *ctx;
	const uint64_t *calls; /* NULL: not known */
	uint64_t average;      /* of those that were called at all */
	bool exits_only;
	size_t live;	/* groups that stay */
	size_t retired; /* rounds whose links linger */
	bool postponed;
};

static bool has_dropped(const struct group *grp, const struct outcome *o)
{
	for (size_t i = 0; i < grp->members_cnt; i++) {
		if (o->functions[grp->members[i].function].dropped)
			return true;
	}
	return false;
}

/* Whether this group is to be replaced. */
static bool is_affected(const struct regroup *r, const struct group *grp)
{
	return group__is_live(grp, r->ctx, r->exits_only) && has_dropped(grp, &r->ctx->g->outcome);
}

/* Whether groups before it were retired in the same round. */
static bool is_known_round(const struct regroup *r, size_t index)
{
	const struct groups *g = r->ctx->g;

	for (size_t i = index; i-- > 0;) {
		const struct group *grp = g->groups[i];

		if (grp->object == r->ctx->object && grp->process == r->ctx->process &&
		    grp->retired_ns == g->groups[index]->retired_ns)
			return true;
	}
	return false;
}

static void count_groups(struct regroup *r, size_t *affected)
{
	const struct groups *g = r->ctx->g;

	r->live = r->retired = *affected = 0;
	for (size_t i = 0; i < g->groups_cnt; i++) {
		const struct group *grp = g->groups[i];

		if (grp->object != r->ctx->object || grp->process != r->ctx->process)
			continue;
		*affected += is_affected(r, grp);
		r->live += !grp->retired_ns;
		r->retired += grp->retired_ns && !is_known_round(r, i);
	}
	r->live -= *affected;
}

static enum calls_class class_of(const struct regroup *r, uint32_t function)
{
	uint64_t calls = r->calls ? r->calls[function] : 0;

	return !calls ? CALLED_NEVER : calls < r->average ? CALLED_SELDOM : CALLED_OFTEN;
}

/* Adds what is left of the group to those that take its place. */
static int take_over(const struct regroup *r, struct grouping *gr, const struct group *from)
{
	int err = 0;

	for (size_t i = 0; !err && i < from->members_cnt; i++) {
		struct group_member m = from->members[i];

		if (r->ctx->g->outcome.functions[m.function].dropped)
			continue;
		m.generation = (m.generation + 1 + from->attempts) % WIRE_GENERATIONS;
		err = grouping__add(gr, class_of(r, m.function), &m);
	}
	return err;
}

/* The new groups are in place: retires the old ones. Or something went wrong: keeps them, but a
 * generation that was in use, if only for a moment, must not come again while its links are being
 * closed. */
static void settle(const struct regroup *r, struct grouping *gr, int err)
{
	const struct groups *g = r->ctx->g;
	uint64_t now = now_ns();

	for (size_t i = 0; i < gr->first; i++) {
		struct group *grp = g->groups[i];

		if (!is_affected(r, grp))
			continue;
		if (err)
			grp->attempts = (grp->attempts + 1) % MAX_ATTEMPTS;
		else
			grp->retired_ns = now;
	}
	if (err)
		grouping__undo(gr);
}

/* Whether none of those that stay in the group has been called. */
static bool others_are_idle(const struct regroup *r, const struct group *grp)
{
	for (size_t i = 0; i < grp->members_cnt; i++) {
		uint32_t function = grp->members[i].function;

		if (!r->ctx->g->outcome.functions[function].dropped &&
		    class_of(r, function) != CALLED_NEVER)
			return false;
	}
	return true;
}

static void take_out_exits(const struct regroup *r)
{
	struct groups *g = r->ctx->g;

	if (!g->hurries || !r->calls || r->exits_only)
		return;
	for (size_t i = 0; i < g->groups_cnt; i++) {
		if (is_affected(r, g->groups[i]) && others_are_idle(r, g->groups[i]))
			group__unlink_exits(g, g->groups[i]);
	}
	link_holder__settle(g->link_holder);
}

static int regroup(struct regroup *r)
{
	const struct groups *g = r->ctx->g;
	struct grouping gr;
	size_t affected;
	int err = 0;

	count_groups(r, &affected);
	if (!affected)
		return 0;
	if (r->retired >= MAX_RETIRED) {
		r->postponed = true;
		return 0;
	}
	take_out_exits(r);
	grouping__begin(&gr, r->ctx, r->exits_only, r->live);
	for (size_t i = 0; !err && i < gr.first; i++) {
		if (is_affected(r, g->groups[i]))
			err = take_over(r, &gr, g->groups[i]);
	}
	link_holder__hold(g->link_holder, true);
	if (!err)
		err = grouping__link(&gr);
	link_holder__hold(g->link_holder, false);
	/* A process that has ended needs no probes. */
	err = err == -ESRCH ? 0 : err;
	settle(r, &gr, err);
	return err;
}

/* The average number of calls of all functions that have been called, at least 1. */
static uint64_t average_calls(const struct plan *p, const uint64_t *calls)
{
	uint64_t sum = 0, cnt = 0;

	for (size_t i = 0; calls && i < p->functions_cnt; i++) {
		sum += calls[i];
		cnt += calls[i] != 0;
	}
	return cnt && sum > cnt ? sum / cnt : 1;
}

int groups__drop(struct groups *g, const struct backend *backend, const struct proftrace_bpf *skel,
		 const struct plan *p, const struct target *t, const uint64_t *calls)
{
	struct attach_ctx ctx = {.g = g, .backend = backend, .skel = skel, .plan = p};
	struct regroup r = {.ctx = &ctx, .calls = calls, .average = average_calls(p, calls)};
	int err = 0;

	for (; !err && ctx.object < g->attached_cnt; ctx.object++) {
		const bool unbound = groups__is_unbound(g, ctx.object);

		ctx.obj = &t->objects[ctx.object];
		for (uint32_t i = 0; !err && i < g->attached[ctx.object]; i++) {
			ctx.process = unbound ? 0 : ctx.obj->processes[i];
			ctx.pid = unbound ? 0 : t->processes[ctx.process].pid;
			r.exits_only = false;
			err = regroup(&r);
			r.exits_only = true;
			if (!err)
				err = regroup(&r);
		}
		if (err)
			return group__failed(&ctx, err);
	}
	return r.postponed ? -EAGAIN : 0;
}

/* How long the links of a retired group linger. */
static uint64_t linger_ns(const struct group *grp)
{
	bool early = grp->members_cnt && grp->members[0].generation < WIRE_GENERATIONS / 2;

	return grp->has_returns ? LINGER_NS : early ? LINGER_FIRST_NS : LINGER_BRIEF_NS;
}

bool groups__poll(struct groups *g)
{
	uint64_t now = now_ns();
	bool left = false;

	for (size_t i = g->groups_cnt; i-- > 0;) {
		struct group *grp = g->groups[i];

		if (!grp->retired_ns)
			continue;
		if (now - grp->retired_ns >= linger_ns(grp))
			group__close(g, grp);
		else
			left = true;
	}
	return left;
}
