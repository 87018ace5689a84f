// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/grouping.h"

#include <errno.h>
#include <sys/resource.h>

#include "plan/plan.h"
#include "target/target.h"

/* Functions in a group: of those never called, and of those that are likely to go next. Of a target
 * that was busy when it was looked at, as many functions as BUSY were called, what was not will
 * hardly be soon; of one that was not, anything may. */
#define MANY	  16
#define MANY_MORE 128
#define FEW	  2
#define BUSY	  32
/* Groups of all objects and processes, about: each has up to four links, which are files, and twice
 * as many while it is replaced. */
#define MOST_GROUPS   512
#define MOST_OF_FILES 8
/* Large groups in use, of one object in one process: with more, they are not split any further. */
#define MOST_LARGE_GROUPS 16

static size_t at_least(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t most_groups(void)
{
	struct rlimit files;
	size_t most = MOST_GROUPS;

	/* The link holder goes to its limit. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_max / MOST_OF_FILES < most)
		most = files.rlim_max / MOST_OF_FILES;
	return at_least(most, 1);
}

void grouping__begin(struct grouping *gr, struct attach_ctx *ctx, bool exits_only, size_t live)
{
	const struct groups *g = ctx->g;
	size_t cnt = ctx->plan->functions_cnt * (ctx->pid ? ctx->obj->processes_cnt : 1);
	size_t many = at_least(MANY, cnt / most_groups());
	bool busy = g->outcome.called_cnt >= BUSY;

	*gr = (struct grouping){.ctx = ctx, .exits_only = exits_only, .first = g->groups_cnt};
	for (int i = 0; i < CALLED_CLASSES; i++)
		gr->most[i] = SIZE_MAX;
	if (!g->small || !ctx->backend->survey) {
		if (live + CALLED_CLASSES > MOST_LARGE_GROUPS)
			gr->most[CALLED_SELDOM] = gr->most[CALLED_OFTEN] = 0;
		return;
	}
	gr->most[CALLED_NEVER] = busy ? at_least(MANY_MORE, many) : many;
	gr->most[CALLED_SELDOM] = gr->most[CALLED_OFTEN] = at_least(FEW, many / 8);
}

static bool is_region(const struct grouping *gr, const struct group_member *m)
{
	return gr->ctx->plan->functions[m->function].kind != PLAN_FUNCTION;
}

int grouping__add(struct grouping *gr, enum calls_class class, const struct group_member *m)
{
	bool apart = is_region(gr, m) && gr->ctx->g->small;
	struct group **grp, *own = NULL;

	if (!gr->most[class])
		class = CALLED_NEVER;
	grp = apart ? &own : &gr->filling[class];
	if (*grp && (*grp)->members_cnt >= gr->most[class])
		*grp = NULL;
	if (!*grp)
		*grp = group__new(gr->ctx, gr->exits_only);
	if (*grp)
		(*grp)->calls = class;
	if (!*grp || group__add(*grp, m->function, m->generation))
		return -ENOMEM;
	(*grp)->members[(*grp)->members_cnt - 1].exits_apart = m->exits_apart;
	outcome__note_generation(&gr->ctx->g->outcome, m->function, m->generation);
	return 0;
}

/* Links regions, or functions that were called so often. */
static int link_some(struct grouping *gr, bool regions, enum calls_class calls)
{
	struct groups *g = gr->ctx->g;
	int err = 0;

	for (size_t i = gr->first; !err && i < g->groups_cnt; i++) {
		struct group *grp = g->groups[i];

		if (is_region(gr, &grp->members[0]) == regions && grp->calls == calls)
			err = group__link(gr->ctx, grp);
	}
	return err;
}

/* A region may begin at its function's entry: what is attached last is called first. And what is
 * called comes after what is not: a process that runs into a probe while another one is being put
 * in waits for the lock of its mappings, and once it has that we wait for the process to run. */
int grouping__link(struct grouping *gr)
{
	int err = 0;

	for (int functions = 0; functions < 2; functions++) {
		for (int calls = 0; !err && calls < CALLED_CLASSES; calls++)
			err = link_some(gr, !functions, calls);
	}
	return err;
}

void grouping__undo(struct grouping *gr)
{
	struct groups *g = gr->ctx->g;

	while (g->groups_cnt > gr->first)
		group__close(g, g->groups[g->groups_cnt - 1]);
}
