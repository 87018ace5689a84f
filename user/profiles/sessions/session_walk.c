// SPDX-License-Identifier: GPL-2.0-or-later
#include "sessions/session_walk.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "timeline/timeline.h"
#include "util/array.h"

struct session_walker {
	const struct profile *p;
	const bool *functions;
	session_visitor visit, leave; /* NULL: of ends nobody wants to hear */
	void *ctx;
	struct session_step step;
	uint64_t sessions;
	uint64_t *open; /* by depth: the session that the call there is in */
	size_t open_cap;
};

static int take_event(const struct timeline_event *e, void *ctx)
{
	struct session_walker *w = ctx;
	struct session_step *s = &w->step;

	if (!e->call->node || e->call->node >= w->p->nodes_cnt)
		return -EINVAL;
	if (!e->begins) {
		s->call = e->call;
		s->depth = e->depth;
		return w->leave ? w->leave(s, w->ctx) : 0;
	}
	if (ARRAY_RESERVE(&w->open, e->depth, &w->open_cap))
		return -ENOMEM;
	s->call = e->call;
	s->depth = e->depth;
	s->function = w->p->nodes[e->call->node].function;
	s->number++;
	s->session = e->depth ? w->open[e->depth - 1] : 0;
	s->begins = !s->session && w->functions[s->function];
	if (s->begins)
		s->session = ++w->sessions;
	w->open[e->depth] = s->session;
	return w->visit(s, w->ctx);
}

int session_walk(const struct profile *p, const bool *functions, session_visitor visit, void *ctx)
{
	return session_walk_both(p, functions, visit, NULL, ctx);
}

int session_walk_both(const struct profile *p, const bool *functions, session_visitor visit,
		      session_visitor leave, void *ctx)
{
	struct session_walker w = {
		.p = p, .functions = functions, .visit = visit, .leave = leave, .ctx = ctx};
	int err = 0;

	for (size_t i = 0; p->timeline && i < p->threads_cnt && !err; i++) {
		w.step.thread = i;
		if (p->threads[i].first_root)
			err = timeline__walk(p->timeline, i, take_event, &w);
	}
	free(w.open);
	return err;
}
