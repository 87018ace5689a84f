// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

struct walk_state {
	struct timeline_call *open;
	size_t open_cnt, open_cap;
	uint64_t now_ns; /* of the last event */
	timeline_visitor visit;
	void *ctx;
};

static int emit(struct walk_state *w, const struct timeline_call *call, bool begins, uint64_t at_ns)
{
	struct timeline_event event = {
		.begins = begins,
		.call = call,
		.at_ns = at_ns > w->now_ns ? at_ns : w->now_ns,
		.depth = w->open_cnt,
	};

	w->now_ns = event.at_ns;
	return w->visit(&event, w->ctx);
}

/* Ends open calls that are over by then. */
static int end_until(struct walk_state *w, uint64_t ns)
{
	int err = 0;

	while (!err && w->open_cnt && w->open[w->open_cnt - 1].leave_ns <= ns) {
		w->open_cnt--;
		err = emit(w, &w->open[w->open_cnt], false, w->open[w->open_cnt].leave_ns);
	}
	return err;
}

static int begin(struct walk_state *w, struct timeline_call call)
{
	const struct timeline_call *around;
	int err;

	if (ARRAY_RESERVE(&w->open, w->open_cnt, &w->open_cap))
		return -ENOMEM;
	around = w->open_cnt ? &w->open[w->open_cnt - 1] : NULL;
	if (call.leave_ns < call.enter_ns)
		call.leave_ns = call.enter_ns;
	if (around && call.leave_ns > around->leave_ns)
		call.leave_ns = around->leave_ns;
	if (call.off_ns > call.leave_ns - call.enter_ns)
		call.off_ns = call.leave_ns - call.enter_ns;
	err = emit(w, &call, true, call.enter_ns);
	call.values = NULL; /* are gone when it ends */
	call.values_cnt = 0;
	w->open[w->open_cnt++] = call;
	return err;
}

void timeline__free(struct timeline *t)
{
	if (t && t->free)
		t->free(t);
}

int timeline__walk(struct timeline *t, uint32_t thread, timeline_visitor visit, void *ctx)
{
	struct walk_state w = {.visit = visit, .ctx = ctx};
	struct timeline_call call;
	int err = t->rewind(t, thread), more = 1;

	while (!err && more) {
		more = t->next(t, thread, &call);
		if (more < 0)
			err = more;
		else
			err = end_until(&w, more ? call.enter_ns : UINT64_MAX);
		if (!err && more)
			err = begin(&w, call);
	}
	free(w.open);
	return err;
}
