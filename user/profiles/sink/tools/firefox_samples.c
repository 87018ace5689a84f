// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "sink/sink.h"
#include "sink/tools/firefox.h"
#include "sink/tools/firefox_columns.h"
#include "timeline/timeline.h"
#include "util/array.h"

enum column { COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT };

/* State of a walk that writes a column. */
struct samples {
	struct firefox *w;
	enum column column;
	uint32_t *open; /* paths of the open calls, innermost last */
	size_t open_cnt, open_cap;
	uint64_t since_ns; /* the innermost is so since then */
	uint64_t cnt;
};

/* `node` 0: nothing runs. */
static void write_sample(struct samples *s, uint32_t node, uint64_t at_ns, uint64_t weight)
{
	struct firefox *w = s->w;

	s->cnt++;
	if (s->column == COLUMN_STACK)
		column__u64_or_null(&w->j, node, w->stacks[node]);
	else if (s->column == COLUMN_TIME)
		json_decimal(&w->j, at_ns, 6);
	else
		json_decimal(&w->j, weight, w->opts->weight == WEIGHT_CALLS ? 0 : 6);
}

/* Calls may follow each other at a distance, and last no time at all. */
static int on_event(const struct timeline_event *e, void *ctx)
{
	struct samples *s = ctx;
	uint64_t ns = e->at_ns - s->since_ns;
	uint32_t innermost = s->open_cnt ? s->open[s->open_cnt - 1] : 0;

	if (ns)
		write_sample(s, innermost, s->since_ns, innermost ? ns : 0);
	s->since_ns = e->at_ns;
	if (!e->begins)
		s->open_cnt--;
	else if (ARRAY_RESERVE(&s->open, s->open_cnt, &s->open_cap))
		return -ENOMEM;
	else
		s->open[s->open_cnt++] = e->call->node;
	return ferror_unlocked(s->w->j.out) ? -EIO : 0;
}

/* The time off the CPU is known of calls, not when it was: it needs samples without a time. */
static bool has_times(const struct firefox *w)
{
	return w->p->timeline && w->opts->weight == WEIGHT_WALL;
}

static int write_column(struct firefox *w, uint32_t thread, const char *key, struct samples *s)
{
	struct walk walk = walk__from(w->p, w->p->threads[thread].first_root);
	uint64_t at_ns = 0;
	int err = 0;

	s->w = w;
	s->cnt = s->since_ns = 0;
	json_member_open(&w->j, key, '[');
	if (has_times(w)) {
		err = timeline__walk(w->p->timeline, thread, on_event, s);
		write_sample(s, 0, s->since_ns, 0); /* where the last call ends */
	}
	while (!has_times(w) && walk__next(&walk)) {
		const struct call_stats *stats = &w->p->nodes[walk.node].stats;
		uint64_t weight = weigh(stats, w->opts->weight);

		if (!walk.entering)
			continue;
		if (weight)
			write_sample(s, walk.node, at_ns, weight);
		at_ns += stats->self_ns;
	}
	json_close(&w->j, ']');
	return err;
}

int firefox_samples__write(struct firefox *w, uint32_t thread)
{
	static const char *const keys[] = {"stack", "time", "weight"};
	struct samples s = {0};
	int err = 0;

	json_member_open(&w->j, "samples", '{');
	for (s.column = COLUMN_STACK; s.column <= COLUMN_WEIGHT && !err; s.column++)
		err = write_column(w, thread, keys[s.column], &s);
	json_member_string(&w->j, "weightType",
			   w->opts->weight == WEIGHT_CALLS ? "samples" : "tracing-ms");
	json_member_u64(&w->j, "length", s.cnt);
	json_close(&w->j, '}');
	free(s.open);
	return err;
}
