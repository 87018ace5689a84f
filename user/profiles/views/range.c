// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One walk over the calls that have a part in the range gives each path its own time there, and all
 * else follows from that: inclusive times are sums over the tree, as everywhere, so that figures
 * hold together when calls are missing.
 */
#include "views/range.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "calls/spread.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "calls/walk.h"
#include "timeline/timeline_view.h"
#include "timeline/waits.h"
#include "util/array.h"
#include "views/compact.h"

/* Longer calls of a sampled function do not stand for others: WIRE_SCALED_MAX_NS. */
#define SCALED_MAX_NS 1000000

/* Whole numbers up to here are exact in doubles: 104 days. No path has more time of its own, and
 * never so much that sums would wrap around, whatever a file says. */
#define EXACT_MAX_NS 0x1p53

/* The part of a path that lies in the range. Times are doubles, as they are scaled, and may fall
 * below 0 where sampled callees have been. */
struct part {
	uint64_t calls;
	double self_ns, off_self_ns; /* as measured */
	double kept;		     /* of time on the CPU without the probes' cost, 0 to 1 */
	uint64_t min_ns, max_ns;
};

/* Times of the callees of an open call so far. */
struct frame {
	uint64_t took_ns, off_ns;
	double others_ns; /* of calls that sampled ones stand for */
	double own_ns;	  /* without the probes' cost */
};

/* How many a function's calls stand for. */
struct sampling {
	uint64_t since_ns;
	uint32_t calls; /* 0: it was not sampled */
};

struct cut {
	struct timeline touching; /* calls with a part in the range, as a whole */
	struct profile *p;
	const struct time_range *range;
	struct part *parts;	    /* by node */
	struct spread *spreads;	    /* by function */
	struct sampling *samplings; /* by function */
	struct frame *frames;	    /* by depth */
	size_t frames_cap;
	uint64_t calls, open;
	uint64_t last_ns; /* end of the last call */
};

static int touching_next(struct timeline *t, uint32_t thread, struct timeline_call *call)
{
	const struct cut *c = (const struct cut *)t;

	return timeline__next_in(c->p->timeline, thread, c->range, call);
}

static int touching_rewind(struct timeline *t, uint32_t thread)
{
	const struct cut *c = (const struct cut *)t;

	return c->p->timeline->rewind(c->p->timeline, thread);
}

static bool was_finished(const struct cut *c, const struct timeline_call *call)
{
	return !call->open && call->leave_ns <= c->range->to_ns &&
	       call->leave_ns != c->p->duration_ns;
}

static uint32_t weight_of(const struct cut *c, uint32_t function, const struct timeline_call *call)
{
	const struct sampling *s = &c->samplings[function];

	return s->calls && call->enter_ns >= s->since_ns ? s->calls : 1;
}

static double clamp(double v, double max)
{
	return v > max ? max : v > 0 ? v : 0;
}

/* A finished call of its path that lies in the range as a whole. */
static int add_whole(struct cut *c, struct part *part, uint32_t function, double took_ns,
		     uint32_t weight)
{
	uint64_t ns = took_ns >= 1 ? (uint64_t)clamp(took_ns, (double)INT64_MAX) : 1;

	if (ns < part->min_ns)
		part->min_ns = ns;
	if (ns > part->max_ns)
		part->max_ns = ns;
	return spread__add(&c->spreads[function], bucket__of(ns), weight);
}

static int end_call(struct cut *c, const struct timeline_call *call, uint32_t depth)
{
	const uint64_t whole_ns = call->leave_ns - call->enter_ns;
	const uint64_t took_ns = time_range__inside(c->range, call->enter_ns, call->leave_ns);
	const uint64_t off_ns = timeline__share(call->off_ns, took_ns, whole_ns);
	const uint32_t function = c->p->nodes[call->node].function;
	struct frame *f = &c->frames[depth];
	struct part *part = &c->parts[call->node];
	uint32_t weight = weight_of(c, function, call);
	double self = (double)took_ns - (double)f->took_ns, own, others;
	double off = clamp((double)off_ns - (double)f->off_ns, self);

	part->calls += weight;
	if (whole_ns >= SCALED_MAX_NS)
		weight = 1;
	own = off + (self - off) * part->kept;
	others = (weight - 1.0) * own;
	part->self_ns += self - f->others_ns + others;
	part->off_self_ns += weight * off;
	own += f->own_ns;
	if (depth) {
		f[-1].took_ns += took_ns;
		f[-1].off_ns += off_ns;
		f[-1].others_ns += others;
		f[-1].own_ns += own;
	}
	c->calls++;
	if (call->leave_ns > c->last_ns)
		c->last_ns = call->leave_ns;
	if (!was_finished(c, call)) {
		c->open++;
		return 0;
	}
	return call->enter_ns < c->range->from_ns ? 0 : add_whole(c, part, function, own, weight);
}

static int take_event(const struct timeline_event *event, void *ctx)
{
	struct cut *c = ctx;

	if (!event->call->node || event->call->node >= c->p->nodes_cnt)
		return -EINVAL;
	if (!event->begins)
		return end_call(c, event->call, event->depth);
	if (ARRAY_RESERVE(&c->frames, event->depth, &c->frames_cap))
		return -ENOMEM;
	c->frames[event->depth] = (struct frame){0};
	return 0;
}

/* Share of a path's measured CPU time that is left after the probes' cost is taken out, over the
 * whole run; 1 if that is not known, as of paths that a cut file's last profile did not have. */
static double kept_of(const struct call_stats *s)
{
	double raw = (double)s->raw_self_ns - (double)s->off_self_ns;

	return raw > 0 ? clamp(((double)s->self_ns - (double)s->off_self_ns) / raw, 1) : 1;
}

static int prepare(struct cut *c)
{
	const struct profile *p = c->p;

	c->parts = calloc(p->nodes_cnt + 1, sizeof(*c->parts));
	c->spreads = calloc(p->functions_cnt + 1, sizeof(*c->spreads));
	c->samplings = calloc(p->functions_cnt + 1, sizeof(*c->samplings));
	if (!c->parts || !c->spreads || !c->samplings)
		return -ENOMEM;
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		c->parts[i].kept = kept_of(&p->nodes[i].stats);
		c->parts[i].min_ns = UINT64_MAX;
	}
	for (size_t i = 0; i < p->drops_cnt; i++) {
		const struct profile_drop *d = &p->drops[i];

		c->samplings[d->function] = (struct sampling){d->at_ns, d->sampled};
	}
	return 0;
}

/* The path's own figures; inclusive ones are those, too, until its callees are added. */
static void set_stats(struct call_stats *s, const struct part *part, double max_ns)
{
	const struct call_stats run = *s;
	double run_cpu = (double)run.raw_self_ns - (double)run.off_self_ns;
	uint64_t raw_ns = (uint64_t)clamp(part->self_ns, max_ns);
	uint64_t off_ns = (uint64_t)clamp(part->off_self_ns, (double)raw_ns);
	double cpu = (double)(raw_ns - off_ns);
	double error = run_cpu > 0 ? (double)run.self_error_ns * cpu / run_cpu : 0;

	*s = (struct call_stats){
		.calls = part->calls,
		.off_self_ns = off_ns,
		.raw_self_ns = raw_ns,
		.self_ns = off_ns + (uint64_t)rint(cpu * part->kept),
		.self_error_ns = (uint64_t)clamp(error, max_ns),
		.min_ns = part->min_ns,
		.max_ns = part->max_ns,
	};
	s->total_ns = s->self_ns;
	s->off_ns = s->off_self_ns;
	s->raw_total_ns = s->raw_self_ns;
	s->error_ns = s->self_error_ns;
}

/* On the way up, paths learn their inclusive times, and whether they stay: a path without calls
 * does if there is one below it, as when calls were lost. */
static void sum_thread(struct profile *p, const struct profile_thread *t, bool *keep)
{
	struct walk w = walk__from(p, t->first_root);

	while (walk__next(&w)) {
		const struct profile_node *n = &p->nodes[w.node];

		if (w.entering)
			continue;
		keep[w.node] |= n->stats.calls != 0;
		if (!n->parent)
			continue;
		keep[n->parent] |= keep[w.node];
		stats__add_callee(&p->nodes[n->parent].stats, &n->stats);
	}
}

static int cut_nodes(struct cut *c)
{
	struct profile *p = c->p;
	double max_ns = clamp((double)INT64_MAX / 2 / (double)p->nodes_cnt, EXACT_MAX_NS);
	struct timeline_view view = {.range = *c->range, .into_cnt = p->nodes_cnt};
	bool *keep = calloc(p->nodes_cnt + 1, sizeof(*keep));

	view.into = calloc(p->nodes_cnt + 1, sizeof(*view.into));
	if (!keep || !view.into) {
		free(keep);
		free(view.into);
		return -ENOMEM;
	}
	for (size_t i = 1; i < p->nodes_cnt; i++)
		set_stats(&p->nodes[i].stats, &c->parts[i], max_ns);
	for (size_t i = 0; i < p->threads_cnt; i++)
		sum_thread(p, &p->threads[i], keep);
	compact_nodes(p, keep, view.into);
	free(keep);
	return timeline__view(&p->timeline, &view);
}

static void cut_drops(struct profile *p, const struct time_range *range)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->drops_cnt; i++) {
		struct profile_drop d = p->drops[i];

		if (d.at_ns >= range->to_ns) {
			p->functions[d.function].sampled = 0;
			continue;
		}
		if (d.back_ns && d.back_ns <= range->from_ns)
			continue;
		d.at_ns = d.at_ns > range->from_ns ? d.at_ns - range->from_ns : 0;
		d.back_ns = d.back_ns && d.back_ns < range->to_ns ? d.back_ns - range->from_ns : 0;
		p->drops[cnt++] = d;
	}
	p->drops_cnt = cnt;
}

static void cut_summary(struct cut *c)
{
	struct profile *p = c->p;
	struct profile_accounting *a = &p->accounting;
	uint64_t end_ns = c->last_ns > p->duration_ns ? c->last_ns : p->duration_ns;

	a->entered = a->timeline_calls = c->calls;
	p->calls_forgotten = 0;
	a->open = c->open;
	a->returned = c->calls - c->open;
	a->unwound = 0;
	a->undistributed = 0;
	if (end_ns > c->range->to_ns)
		end_ns = c->range->to_ns;
	/* When it was switched off is not known. */
	if (c->range->from_ns || c->range->to_ns < p->duration_ns)
		p->paused_ns = 0;
	p->duration_ns = end_ns - c->range->from_ns;
	p->start_time += (double)c->range->from_ns / 1e9;
}

static int walk_calls(struct cut *c)
{
	int err = 0;

	for (size_t i = 0; i < c->p->threads_cnt && !err; i++) {
		if (c->p->threads[i].first_root)
			err = timeline__walk(&c->touching, i, take_event, c);
	}
	return !err && !c->calls && c->range->from_ns >= c->p->duration_ns ? -ERANGE : err;
}

int profile__cut(struct profile *p, const struct time_range *range)
{
	struct cut c = {
		.touching = {.next = touching_next, .rewind = touching_rewind},
		.p = p,
		.range = range,
	};
	int err = prepare(&c);

	if (!err)
		err = walk_calls(&c);
	if (!err)
		err = spread__to_buckets(c.spreads, p->functions_cnt, &p->buckets, &p->buckets_cnt);
	if (!err)
		err = cut_nodes(&c);
	if (!err) {
		p->lines_cnt = 0;      /* when they ran is not known */
		p->cpu_shares_cnt = 0; /* when samples were taken is not known */
		p->sample_period_ns = 0;
		waits__cut(p->waits, range->from_ns, range->to_ns);
		cut_drops(p, range);
		cut_summary(&c);
		err = profile__connect(p);
	}
	spread__free(c.spreads, p->functions_cnt);
	free(c.parts);
	free(c.samplings);
	free(c.frames);
	return err;
}
