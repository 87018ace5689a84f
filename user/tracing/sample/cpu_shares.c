// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/cpu_shares.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/stats.h"
#include "tables/stack_copy.h"

/* The CPU time of a path that is its own, and what the samples stand for that are part of it; and
 * likewise its time off the CPU, and that of the waits whose places are known. */
struct lender {
	uint64_t cpu_ns, sampled_ns;
	uint64_t off_ns, placed_ns;
};

/* The part of a base's time for samples below it that stand for `ns`. Together with samples in its
 * own code they get all of its time, which probes have measured better. */
static uint64_t lent_ns(const struct lender *l, uint64_t ns)
{
	double by = (double)l->cpu_ns / (double)l->sampled_ns;

	return (uint64_t)((double)ns * (by < MOST_FIT ? by : MOST_FIT));
}

/* Shares out a wait's time likewise; it was measured, so it does not grow. */
static uint64_t lent_off_ns(const struct lender *l, uint64_t ns)
{
	if (l->placed_ns <= l->off_ns)
		return ns;
	return (uint64_t)((double)ns * ((double)l->off_ns / (double)l->placed_ns));
}

/* Adds to a path's own time; what is taken away is less than 0. */
static void add_ns(struct call_stats *s, int64_t ns)
{
	s->self_ns += ns;
	s->raw_self_ns += ns;
	s->total_ns += ns;
	s->raw_total_ns += ns;
}

static void take_ns(struct call_stats *s, uint64_t ns)
{
	add_ns(s, -(int64_t)ns);
	s->varied_ns += ns;
}

static void give_ns(struct call_stats *s, uint64_t ns)
{
	add_ns(s, (int64_t)ns);
	s->varied_ns += ns;
	s->sampled_ns += ns;
}

static void add_off_ns(struct call_stats *s, int64_t ns)
{
	add_ns(s, ns);
	s->off_self_ns += ns;
	s->off_ns += ns;
}

/* Moves the time of samples and waits to their path from its base, or adds it beside all calls. */
static void share_sample(const struct stack_copy_sample *s, const struct lender *lenders,
			 struct profile_node *nodes)
{
	struct call_stats *to = &nodes[s->node].stats, *from;
	uint64_t ns = s->ns, off_ns = s->off_ns;

	to->samples += s->cnt;
	if (s->base == s->node)
		return;
	if (s->base != STACK_COPY_ROOT) {
		from = &nodes[s->base].stats;
		ns = ns ? lent_ns(&lenders[s->base], ns) : 0;
		off_ns = lent_off_ns(&lenders[s->base], off_ns);
		take_ns(from, ns);
		add_off_ns(from, -(int64_t)off_ns);
	}
	give_ns(to, ns);
	add_off_ns(to, (int64_t)off_ns);
}

int share_samples(const struct stack_copy *copy, struct profile_node *nodes)
{
	struct lender *lenders = calloc(copy->nodes_cnt + 1, sizeof(*lenders));

	if (!lenders)
		return -ENOMEM;
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		lenders[i].cpu_ns = stats__cpu_self_ns(&nodes[i].stats);
		lenders[i].off_ns = nodes[i].stats.off_self_ns;
	}
	for (uint32_t i = 0; i < copy->samples_cnt; i++) {
		const struct stack_copy_sample *s = &copy->samples[i];

		if (s->base == STACK_COPY_ROOT)
			continue;
		lenders[s->base].sampled_ns += s->ns;
		lenders[s->base].placed_ns += s->off_ns;
	}
	for (uint32_t i = 0; i < copy->samples_cnt; i++)
		share_sample(&copy->samples[i], lenders, nodes);
	free(lenders);
	return 0;
}

/* Scales what samples outside of calls stand for. Calls that are estimated there stay. */
static void scale_outside(struct profile *p, const bool *outside, double by)
{
	for (size_t i = 1; i < p->nodes_cnt; i++) {
		struct call_stats *s = &p->nodes[i].stats;
		uint64_t ns = (uint64_t)((double)s->sampled_ns * by), off_ns = s->off_self_ns;

		if (!outside[p->nodes[i].thread])
			continue;
		*s = (struct call_stats){
			.calls = s->calls,
			.burst_calls = s->burst_calls,
			.calls_varied = s->calls_varied,
			.recorded_calls = s->recorded_calls,
			.min_ns = UINT64_MAX,
			.samples = s->samples,
		};
		give_ns(s, ns);
		add_off_ns(s, (int64_t)off_ns);
	}
	for (size_t i = p->nodes_cnt; i-- > 1;) {
		const struct profile_node *n = &p->nodes[i];

		if (n->parent && outside[n->thread])
			stats__add_callee(&p->nodes[n->parent].stats, &n->stats);
	}
}

/* Makes `ns` of the CPU time that a node had to itself time off the CPU, of its callers, too. Nodes
 * come from the last to the first, all with one taken[], which is all 0 at the beginning: by node,
 * what was taken from its callees. */
static void take_cpu_ns(struct profile *p, size_t node, uint64_t ns, uint64_t *taken)
{
	struct call_stats *s = &p->nodes[node].stats;

	s->off_self_ns += ns;
	s->off_ns += ns + taken[node];
	taken[p->nodes[node].parent] += ns + taken[node];
}

/* Scales calls' CPU time down to what the target had: interrupts and the host took the rest, so for
 * the calls it is time off the CPU. */
static int scale_calls(struct profile *p, const bool *outside, double by)
{
	uint64_t *taken = calloc(p->nodes_cnt, sizeof(*taken));

	for (size_t i = p->nodes_cnt; taken && i-- > 1;) {
		const struct profile_node *n = &p->nodes[i];
		struct call_stats *s = &p->nodes[i].stats;
		uint64_t ns = (uint64_t)((double)stats__cpu_self_ns(s) * (1 - by) + 0.5);

		if (outside[n->thread] || p->threads[n->thread].spans)
			continue;
		take_cpu_ns(p, i, ns, taken);
		s->sampled_ns = (uint64_t)((double)s->sampled_ns * by);
		s->varied_ns = (uint64_t)((double)s->varied_ns * by);
	}
	free(taken);
	return taken ? 0 : -ENOMEM;
}

/* CPU time of all paths but those of spans, which lie in others. */
struct cpu_sums {
	double calls;	/* measured */
	double outside; /* that samples outside of calls stand for */
};

static struct cpu_sums sum_cpu(const struct profile *p, const bool *outside)
{
	struct cpu_sums sums = {0};

	for (size_t i = 1; i < p->nodes_cnt; i++) {
		const struct profile_node *n = &p->nodes[i];

		if (!p->threads[n->thread].spans)
			*(outside[n->thread] ? &sums.outside : &sums.calls) +=
				(double)stats__cpu_self_ns(&n->stats);
	}
	return sums;
}

/* Which threads stand for what samples met outside of calls. The caller frees it; NULL: no memory.
 */
static bool *outside_of_calls(const struct profile *p)
{
	bool *outside = calloc(p->threads_cnt + 1, sizeof(*outside));

	for (size_t i = 0; outside && i < p->threads_cnt; i++)
		outside[i] = p->threads[i].callstack_ns == SAMPLED_OUTSIDE;
	return outside;
}

/* CPU time that paths are to have, in ns. */
static double wanted_ns(const struct profile *p, const struct target_clock *clock)
{
	uint64_t probe_ns = clock->raw ? 0 : p->accounting.probe_ns, cpu_ns = clock->cpu_ns;
	double rest = cpu_ns > probe_ns + cpu_ns / 100 ? (double)(cpu_ns - probe_ns)
						       : (double)cpu_ns / 100;

	return rest - (double)clock->forgotten_ns;
}

int fit_to_clock(struct profile *p, const struct target_clock *clock)
{
	double rest = wanted_ns(p, clock), by, calls_by;
	bool *outside = outside_of_calls(p);
	struct cpu_sums sums;
	int err = 0;

	if (!outside)
		return -ENOMEM;
	sums = sum_cpu(p, outside);
	calls_by = rest > 0 ? rest / (sums.calls + sums.outside / MOST_FIT) : 0;
	by = calls_by < 1 ? calls_by / MOST_FIT : (rest - sums.calls) / sums.outside;
	if (clock->cpu_ns && sums.outside > 0)
		scale_outside(p, outside, by);
	if (clock->cpu_ns && calls_by < 1)
		err = scale_calls(p, outside, calls_by);
	free(outside);
	return err;
}

#define LEAST_UNMET 0.001 /* of the target's CPU time */

uint64_t unmet_ns(const struct profile *p, const struct target_clock *clock)
{
	bool *outside = outside_of_calls(p);
	struct cpu_sums sums = {0};
	double ns;

	if (outside)
		sums = sum_cpu(p, outside);
	ns = outside && !(sums.outside > 0) ? wanted_ns(p, clock) - sums.calls : 0;
	free(outside);
	return ns > LEAST_UNMET * (double)clock->cpu_ns ? (uint64_t)ns : 0;
}
