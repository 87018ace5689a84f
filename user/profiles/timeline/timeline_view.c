// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Views keep no calls: each looks at one call of what is below at a time. What a filter of paths
 * leaves out needs no care, as calls nest by their times: the callees of a call that is not shown
 * are those of the call around it.
 */
#include "timeline/timeline_view.h"

#include <errno.h>
#include <stdlib.h>

struct view {
	struct timeline base;
	struct timeline *below;
	struct timeline_view what;
};

int timeline__next_in(struct timeline *t, uint32_t thread, const struct time_range *r,
		      struct timeline_call *call)
{
	int more;

	while ((more = t->next(t, thread, call)) > 0) {
		/* Calls come in the order of their beginning, so no later one is in the range. */
		if (call->enter_ns >= r->to_ns)
			return 0;
		if (call->leave_ns > r->from_ns || call->enter_ns >= r->from_ns)
			return 1;
	}
	return more;
}

uint64_t timeline__share(uint64_t off_ns, uint64_t inside_ns, uint64_t took_ns)
{
	if (inside_ns >= took_ns)
		return off_ns;
	return (unsigned __int128)off_ns * inside_ns / took_ns;
}

static void cut(const struct time_range *r, struct timeline_call *call)
{
	uint64_t took_ns = call->leave_ns > call->enter_ns ? call->leave_ns - call->enter_ns : 0;
	uint64_t inside_ns = time_range__inside(r, call->enter_ns, call->leave_ns);

	call->off_ns = timeline__share(call->off_ns, inside_ns, took_ns);
	call->enter_ns = call->enter_ns > r->from_ns ? call->enter_ns - r->from_ns : 0;
	call->leave_ns = call->enter_ns + inside_ns;
}

static uint32_t node_in(const struct timeline_view *v, uint32_t node)
{
	if (!v->into)
		return node;
	return node < v->into_cnt ? v->into[node] : 0;
}

static int view_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	struct view *v = (struct view *)t;
	int more;

	while ((more = timeline__next_in(v->below, thread, &v->what.range, call)) > 0) {
		call->node = node_in(&v->what, call->node);
		if (!call->node)
			continue;
		cut(&v->what.range, call);
		if (call->leave_ns - call->enter_ns >= v->what.min_ns)
			return 1;
	}
	return more;
}

static int view_rewind(struct timeline *t, uint32_t thread)
{
	struct view *v = (struct view *)t;

	return v->below->rewind(v->below, thread);
}

static void view_free(struct timeline *t)
{
	struct view *v = (struct view *)t;

	timeline__free(v->below);
	free(v->what.into);
	free(v);
}

int timeline__view(struct timeline **t, const struct timeline_view *what)
{
	struct view *v = *t ? malloc(sizeof(*v)) : NULL;

	if (!v) {
		free(what->into);
		return *t ? -ENOMEM : 0;
	}
	*v = (struct view){
		.base = {.next = view_next, .rewind = view_rewind, .free = view_free},
		.below = *t,
		.what = *what,
	};
	v->base.lost = (*t)->lost;
	if (!v->what.range.to_ns)
		v->what.range.to_ns = UINT64_MAX;
	*t = &v->base;
	return 0;
}
