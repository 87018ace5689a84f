// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The delta starts as a copy of the later profile. A walk from the outermost calls down finds each
 * path's node in the earlier profile (through its parent's) and subtracts it; on the way up, paths
 * learn their inclusive time, and whether anything below them is news. What is not is squeezed out
 * at the end.
 */
#include "views/delta.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/accounting.h"
#include "calls/copy.h"
#include "calls/distribution.h"
#include "calls/identity.h"
#include "calls/line_order.h"
#include "calls/path_map.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "calls/walk.h"
#include "views/compact.h"

#define NO_THREAD UINT32_MAX

struct delta {
	const struct profile *before;
	struct profile *to;
	struct path_map map;   /* paths of `before` */
	uint32_t *old_threads; /* by thread of `to`: the same one in `before`, or NO_THREAD */
	uint32_t *old_nodes;   /* by node of `to`: the same path in `before`, or 0 */
	bool *news;	       /* by node of `to` */
	bool *exact;	       /* by function: it was in all of the interval, after a drop */
	int64_t samples;       /* that are new */
	double share;	       /* of all CPU time of the target, what is new; below 0: not known */
	double bursts_cnt, new_bursts; /* of the run so far, and of the interval */
	struct profile *shown;	       /* `now`, if it is told what is shown of it; else NULL */
};

static int compare_refs(const void *a, const void *b)
{
	return identity__compare(*(const struct profile_thread *const *)a,
				 *(const struct profile_thread *const *)b);
}

static int match_threads(struct delta *d)
{
	const struct profile_thread **sorted, *key, **found;
	size_t i, cnt = d->before->threads_cnt;

	sorted = calloc(cnt + 1, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < cnt; i++)
		sorted[i] = &d->before->threads[i];
	qsort(sorted, cnt, sizeof(*sorted), compare_refs);
	for (i = 0; i < d->to->threads_cnt; i++) {
		key = &d->to->threads[i];
		found = bsearch(&key, sorted, cnt, sizeof(*sorted), compare_refs);
		d->old_threads[i] = found ? *found - d->before->threads : NO_THREAD;
	}
	free(sorted);
	return 0;
}

static void map_paths(struct delta *d)
{
	size_t i;

	for (i = 1; i < d->before->nodes_cnt; i++) {
		const struct profile_node *n = &d->before->nodes[i];

		*path_map__at(&d->map, path_step(n->parent, n->thread, n->function)) = i;
	}
}

/* The node's path in `before`, or 0. That of its parent is known. */
static uint32_t find_old(struct delta *d, const struct profile_node *n)
{
	uint32_t thread = d->old_threads[n->thread], parent = d->old_nodes[n->parent];

	if (thread == NO_THREAD || (n->parent && !parent))
		return 0;
	return *path_map__at(&d->map, path_step(parent, thread, n->function));
}

static void subtract(uint64_t *now, uint64_t before)
{
	*now = *now > before ? *now - before : 0;
}

/*
 * How many of the run's calls on a path are likely to be of the interval, as a share. That is the
 * interval's share of CPU time, unless bursts say otherwise, or, on a path that no burst has met,
 * samples: a program that computes for a second, then waits for requests, has no more calls of what
 * it computed with, and each interval would show some. A burst or sample that met the path as often
 * as is usual is added, or intervals with few of them would be taken at their word.
 */
static double usual_share(const struct delta *d, const struct call_stats *now,
			  const struct call_stats *before)
{
	uint64_t calls = now->recorded_calls, samples = now->samples;
	double met, usual;

	if (calls && d->bursts_cnt > 0) {
		subtract(&calls, before->recorded_calls);
		met = (double)calls / (double)now->recorded_calls * d->bursts_cnt;
		usual = d->new_bursts;
	} else {
		subtract(&samples, before->samples);
		met = (double)samples;
		usual = (double)now->samples * d->share;
	}
	return d->share * (met + 1) / (usual + 1);
}

/*
 * Calls that are estimated are so for all of the run, each time anew: the difference has in it what
 * is known better now of those before. Of a function with 19,000 calls in each interval it was
 * -200,000 in one and 654,000 in another; as what is below 0 cannot be shown, intervals had two
 * thirds more calls than the run. So only as much of the difference is shown at once as is likely
 * to be of the interval: the better the run's estimate is known, and the longer the interval is,
 * the more. For the rest the interval has its usual share of the run's calls. What was shown
 * too much or too little is made up for by later intervals, as `before` has what was shown.
 */
static uint64_t new_estimate(const struct delta *d, const struct call_stats *now,
			     const struct call_stats *before)
{
	double all = (double)now->burst_calls, news = all - (double)before->burst_calls;

	if (all > 0 && now->calls_varied > 0 && d->share >= 0) {
		double relative = now->calls_varied / (all * all);
		/* If the variance is the same, nothing was estimated in the interval. */
		double usual = now->calls_varied == before->calls_varied
				       ? 0
				       : all * usual_share(d, now, before);

		news = usual + d->share / (d->share + relative) * (news - usual);
	}
	return news > 0 ? (uint64_t)(news + 0.5) : 0;
}

/* The difference of two estimates is uncertain by as much as their variance has changed, and by no
 * less than the estimate has fallen back. */
static double new_variance(const struct call_stats *now, const struct call_stats *before)
{
	double fell = before->calls > now->calls ? (double)(before->calls - now->calls) : 0;
	double varied = fabs(now->calls_varied - before->calls_varied);

	return varied > 0 && varied < fell * fell ? fell * fell : varied;
}

/* *out = calls and their variance by estimate of `to`, as p has them on all paths; an estimate that
 * p does not have is none. The caller frees it. Returns 0 or -ENOMEM. */
static int sum_estimates(const struct profile *to, const struct profile *p, struct call_stats **out)
{
	struct call_stats *sums = calloc(to->estimates_cnt + 1, sizeof(*sums));
	const struct profile_estimate *e;

	*out = sums;
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < to->estimates_cnt; i++) {
		e = profile__find_estimate(p, to->estimates[i].function);
		if (e)
			sums[i].calls_varied = e->varied;
	}
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		e = profile__find_estimate(to, p->nodes[i].function);
		if (e)
			sums[e - to->estimates].calls += p->nodes[i].stats.calls;
	}
	return 0;
}

/* Of functions as of paths. Returns 0 or -ENOMEM. */
static int subtract_estimates(struct delta *d)
{
	struct call_stats *now, *before = NULL;
	int err = sum_estimates(d->to, d->to, &now);

	if (!err)
		err = sum_estimates(d->to, d->before, &before);
	for (size_t i = 0; !err && i < d->to->estimates_cnt; i++) {
		struct profile_estimate *e = &d->to->estimates[i];

		e->varied = d->exact[e->function] ? 0 : new_variance(&now[i], &before[i]);
	}
	free(now);
	free(before);
	return err;
}

static bool is_estimated(const struct call_stats *s)
{
	return s->burst_calls || s->calls_varied > 0;
}

/* Notes which functions were dropped and had come back before the interval began: their calls in
 * it were all counted. Returns 0 or -ENOMEM. */
static int find_exact(struct delta *d)
{
	const struct profile *p = d->to;

	d->exact = calloc(p->functions_cnt + 1, sizeof(*d->exact));
	if (!d->exact)
		return -ENOMEM;
	for (size_t i = 0; i < p->drops_cnt; i++) {
		const struct profile_drop *drop = &p->drops[i]; /* the function's last one counts */

		d->exact[drop->function] = drop->back_ns && drop->back_ns <= d->before->duration_ns;
	}
	return 0;
}

/* Subtracts calls. If a path was counted up to now, and not estimated, its estimate is all new; of
 * a function that is exact again none is, also if there is something left to be made up for. */
static void subtract_calls(const struct delta *d, uint32_t node, const struct call_stats *before)
{
	struct call_stats *now = &d->to->nodes[node].stats;
	bool exact = d->exact[d->to->nodes[node].function];
	uint64_t news = now->burst_calls, shown, calls;

	if (exact)
		news = 0;
	else if (!d->old_nodes[node] || is_estimated(before))
		news = new_estimate(d, now, before);
	shown = before->burst_calls + news;
	calls = now->calls - now->burst_calls + shown;
	if (d->shown) {
		d->shown->nodes[node].stats.calls = calls;
		d->shown->nodes[node].stats.burst_calls = shown;
	}
	now->calls_varied = exact ? 0 : new_variance(now, before);
	now->calls = calls;
	subtract(&now->calls, before->calls);
	subtract(&now->recorded_calls, before->recorded_calls);
	now->burst_calls = news;
}

/*
 * The shortest and the longest call of the interval. The earlier profile's are of the run up to
 * then: where the later one's differ, they are of the interval; else all that is known of its calls
 * is in which buckets they are, so the outermost bounds stand for them. Of a path the function's.
 */
static void bound_extremes(const struct delta *d, uint32_t function, struct call_stats *now,
			   const struct call_stats *before)
{
	const struct distribution in = distribution__of(d->to, function);

	if (now->max_ns <= before->max_ns) {
		uint64_t most = in.cnt ? bucket__high(in.buckets[in.cnt - 1].bucket) - 1 : 0;

		now->max_ns = most < now->max_ns ? most : now->max_ns;
	}
	if (now->min_ns >= before->min_ns && now->min_ns != UINT64_MAX) {
		uint64_t least = in.cnt ? bucket__low(in.buckets[0].bucket) : UINT64_MAX;

		now->min_ns = least > now->min_ns ? least : now->min_ns;
	}
	if (now->min_ns > now->max_ns && in.cnt)
		now->min_ns = now->max_ns;
}

static bool is_span(const struct profile *p, size_t node)
{
	return p->threads[p->nodes[node].thread].spans;
}

static void match_node(struct delta *d, uint32_t node)
{
	const struct call_stats *s = &d->to->nodes[node].stats, *before;

	d->old_nodes[node] = find_old(d, &d->to->nodes[node]);
	before = &d->before->nodes[d->old_nodes[node]].stats; /* the first one has nothing */
	d->samples += (int64_t)(s->samples - before->samples);
}

/* Leaves the node's inclusive figures to sum_node(). The figures of open calls may be a moment
 * apart, so that they can fall back: then they are cut at 0. */
static void subtract_node(struct delta *d, uint32_t node)
{
	struct call_stats *s = &d->to->nodes[node].stats;
	uint32_t old = d->old_nodes[node];

	if (old) {
		const struct call_stats *before = &d->before->nodes[old].stats;

		/* The time that earlier samples stand for changes a little as more become known,
		 * unlike waits. In an interval without samples all that is known is where they
		 * were. */
		if (d->samples > 0 && !s->calls && s->samples == before->samples)
			s->self_ns = s->raw_self_ns = stats__cpu_self_ns(before) + s->off_self_ns;
		subtract_calls(d, node, before);
		subtract(&s->self_ns, before->self_ns);
		subtract(&s->off_self_ns, before->off_self_ns);
		subtract(&s->raw_self_ns, before->raw_self_ns);
		subtract(&s->self_error_ns, before->self_error_ns);
		subtract(&s->samples, before->samples);
		subtract(&s->sampled_ns, before->sampled_ns);
		subtract(&s->varied_ns, before->varied_ns);
		bound_extremes(d, d->to->nodes[node].function, s, before);
	} else if (is_estimated(s) && (d->exact[d->to->nodes[node].function] ||
				       d->old_threads[d->to->nodes[node].thread] != NO_THREAD)) {
		/* Earlier looks have not met the path; its calls are not all of the interval. */
		subtract_calls(d, node, &d->before->nodes[0].stats);
	}
	if (s->off_self_ns > s->self_ns)
		s->off_self_ns = s->self_ns;
	if (s->sampled_ns > stats__cpu_self_ns(s))
		s->sampled_ns = stats__cpu_self_ns(s);
	if (s->burst_calls > s->calls)
		s->burst_calls = s->calls;
	d->news[node] = s->calls || s->self_ns || s->raw_self_ns || s->samples;
}

/* CPU time of all paths; of the threads that `wanted` has, if it is not NULL. */
static double sum_cpu(const struct profile *p, const bool *wanted)
{
	double sum = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		if (!is_span(p, i) && (!wanted || wanted[p->nodes[i].thread]))
			sum += (double)stats__cpu_self_ns(&p->nodes[i].stats);
	}
	return sum;
}

/* *out = what is new of the CPU time of all paths, in ns. What was outside of calls stays that, by
 * whichever path; call stacks that are there no longer have been forgotten with all that they had.
 * Returns 0 or -ENOMEM. */
static int new_cpu_ns(const struct delta *d, double *out)
{
	bool *stays = calloc(d->before->threads_cnt + 1, sizeof(*stays));

	if (!stays)
		return -ENOMEM;
	for (size_t i = 0; i < d->before->threads_cnt; i++)
		stays[i] = d->before->threads[i].callstack_ns == SAMPLED_OUTSIDE;
	for (size_t i = 0; i < d->to->threads_cnt; i++) {
		if (d->old_threads[i] != NO_THREAD)
			stays[d->old_threads[i]] = true;
	}
	*out = sum_cpu(d->to, NULL) - sum_cpu(d->before, stays);
	free(stays);
	return 0;
}

/*
 * Makes the CPU times of all paths add up to what is new of all of them. What the samples of a path
 * stand for is not: each new sample changes a little what all others do, and where that is less
 * than before it was cut at 0. Redis, looked at each 0.3 s, had from 61 to 143 ms instead of some
 * 80. So what samples stand for is scaled; what was measured only if it is more than all.
 */
static void fit_to_news(struct profile *p, double cpu_ns)
{
	double sampled_ns = 0, measured_ns, by = 1, measured_by = 1;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		sampled_ns += is_span(p, i) ? 0 : (double)p->nodes[i].stats.sampled_ns;
	measured_ns = sum_cpu(p, NULL) - sampled_ns;
	if (sampled_ns > 0)
		by = cpu_ns > measured_ns ? (cpu_ns - measured_ns) / sampled_ns : 0;
	if (cpu_ns < measured_ns)
		measured_by = cpu_ns > 0 ? cpu_ns / measured_ns : 0;
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		struct call_stats *s = &p->nodes[i].stats;
		uint64_t ns = (uint64_t)((double)s->sampled_ns * by), calls_ns;

		if (is_span(p, i))
			continue;
		calls_ns = stats__cpu_self_ns(s) - s->sampled_ns;
		s->off_self_ns += calls_ns - (uint64_t)((double)calls_ns * measured_by);
		subtract(&s->raw_self_ns, s->sampled_ns);
		s->self_ns += ns - s->sampled_ns;
		s->raw_self_ns += ns;
		s->sampled_ns = ns;
	}
}

/* A node's inclusive figures are its own, as yet. */
static void begin_sum(struct call_stats *s)
{
	s->total_ns = s->self_ns;
	s->off_ns = s->off_self_ns;
	s->raw_total_ns = s->raw_self_ns;
	s->error_ns = s->self_error_ns;
}

/* All below the node is done: adds its sums to its caller. Sums are what keeps inclusive times
 * above their callees'. */
static void sum_node(struct delta *d, uint32_t node)
{
	const struct profile_node *n = &d->to->nodes[node];

	if (!n->parent)
		return;
	stats__add_callee(&d->to->nodes[n->parent].stats, &n->stats);
	if (d->news[node])
		d->news[n->parent] = true;
}

static void match_thread(struct delta *d, const struct profile_thread *t)
{
	struct walk w = walk__from(d->to, t->first_root);

	while (walk__next(&w)) {
		if (w.entering)
			match_node(d, w.node);
	}
}

static void sum_thread(struct delta *d, const struct profile_thread *t)
{
	struct walk w = walk__from(d->to, t->first_root);

	while (walk__next(&w)) {
		if (w.entering)
			begin_sum(&d->to->nodes[w.node].stats);
		else
			sum_node(d, w.node);
	}
}

/* Both are sorted. Buckets without news are left out. */
static void subtract_buckets(struct profile *now, const struct profile *before)
{
	const struct profile_bucket *old = before->buckets, *end = old + before->buckets_cnt;
	size_t i, cnt = 0;

	for (i = 0; i < now->buckets_cnt; i++) {
		struct profile_bucket b = now->buckets[i];

		while (old < end && (old->function < b.function ||
				     (old->function == b.function && old->bucket < b.bucket)))
			old++;
		if (old < end && old->function == b.function && old->bucket == b.bucket)
			subtract(&b.calls, old->calls);
		if (b.calls)
			now->buckets[cnt++] = b;
	}
	now->buckets_cnt = cnt;
}

/* Both are sorted; lines without news stay, for a line that has not run says something, too. */
static void subtract_lines(struct profile *now, const struct profile *before)
{
	const struct profile_line *old = before->lines, *end = old + before->lines_cnt;

	for (size_t i = 0; i < now->lines_cnt; i++) {
		struct profile_line *l = &now->lines[i];

		while (old < end && line_order__compare(old, l) < 0)
			old++;
		if (old == end || line_order__compare(old, l))
			continue;
		subtract(&l->hits, old->hits);
		subtract(&l->ns, old->ns);
		subtract(&l->error_ns, old->error_ns);
		old++;
	}
}

/* Drops are only ever added. One is news, and so is its end. */
static void subtract_drops(struct profile *now, const struct profile *before)
{
	size_t cnt = 0;

	for (size_t i = 0; i < now->drops_cnt; i++) {
		bool old = i < before->drops_cnt;

		if (!old || (now->drops[i].back_ns && !before->drops[i].back_ns))
			now->drops[cnt++] = now->drops[i];
	}
	now->drops_cnt = cnt;
}

/* Rows keep their numbers: new ones come behind. */
static void subtract_cpu_shares(struct profile *now, const struct profile *before)
{
	for (size_t i = 0; i < now->cpu_shares_cnt && i < before->cpu_shares_cnt; i++) {
		subtract(&now->cpu_shares[i].samples, before->cpu_shares[i].samples);
		subtract(&now->cpu_shares[i].traced, before->cpu_shares[i].traced);
	}
}

static void subtract_summary(struct profile *now, const struct profile *before)
{
	accounting__subtract(&now->accounting, &before->accounting);
	/* The interval begins where the earlier profile ended. */
	now->start_time += (double)before->duration_ns / 1e9;
	subtract(&now->duration_ns, before->duration_ns);
	subtract(&now->paused_ns, before->paused_ns);
}

static double new_share(const struct delta *d)
{
	double all = (double)accounting__own_ns(&d->to->accounting);
	double before = (double)accounting__own_ns(&d->before->accounting);

	if (!(all > 0))
		return -1;
	return all > before ? (all - before) / all : 0;
}

static int subtract_profile(struct delta *d)
{
	double cpu_ns = 0;
	size_t i;
	int err;

	d->old_threads = calloc(d->to->threads_cnt + 1, sizeof(*d->old_threads));
	d->old_nodes = calloc(d->to->nodes_cnt + 1, sizeof(*d->old_nodes));
	d->news = calloc(d->to->nodes_cnt + 1, sizeof(*d->news));
	if (!d->old_threads || !d->old_nodes || !d->news)
		return -ENOMEM;
	err = path_map__init(&d->map, d->before->nodes_cnt);
	if (err)
		return err;
	err = match_threads(d);
	if (!err)
		err = find_exact(d);
	if (!err)
		err = subtract_estimates(d);
	if (err)
		return err;
	if (d->to->sample_period_ns)
		err = new_cpu_ns(d, &cpu_ns);
	if (err)
		return err;
	map_paths(d);
	d->share = new_share(d);
	d->bursts_cnt = (double)d->to->accounting.bursts;
	d->new_bursts = d->bursts_cnt - (double)d->before->accounting.bursts;
	subtract_buckets(d->to, d->before); /* paths' extremes are bounded by what is left */
	for (i = 0; i < d->to->threads_cnt; i++)
		match_thread(d, &d->to->threads[i]);
	for (i = 1; i < d->to->nodes_cnt; i++)
		subtract_node(d, i);
	if (d->to->sample_period_ns)
		fit_to_news(d->to, cpu_ns);
	for (i = 0; i < d->to->threads_cnt; i++)
		sum_thread(d, &d->to->threads[i]);
	/* The old paths' numbers have served: their room is used again. */
	compact_nodes(d->to, d->news, d->old_nodes);
	profile__count_estimates(d->to);
	if (d->shown)
		profile__count_estimates(d->shown);
	subtract_lines(d->to, d->before);
	subtract_drops(d->to, d->before);
	subtract_cpu_shares(d->to, d->before);
	subtract_summary(d->to, d->before);
	return profile__connect(d->to);
}

static int make_delta(const struct profile *now, const struct profile *before,
		      struct profile *shown, struct profile **out)
{
	struct delta d = {.before = before, .shown = shown};
	int err;

	err = profile__copy(now, &d.to);
	/* The walk needs links, whether or not the original has them. */
	if (!err)
		err = profile__connect(d.to);
	if (!err && before)
		err = subtract_profile(&d);
	if (!err)
		err = profile__summarize(d.to);
	path_map__fini(&d.map);
	free(d.old_threads);
	free(d.old_nodes);
	free(d.news);
	free(d.exact);
	if (err)
		profile__free(d.to);
	else
		*out = d.to;
	return err;
}

int profile__delta(const struct profile *now, const struct profile *before, struct profile **out)
{
	return make_delta(now, before, NULL, out);
}

int profile__interval(struct profile *now, const struct profile *before, struct profile **out)
{
	return make_delta(now, before, now, out);
}
