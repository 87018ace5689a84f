// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile is put together from parts: one for each call stack, read from the tables or, for call
 * stacks whose entries have been given back, from the reclaimed list.
 */
#include "collect/collector.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attach/costs.h"
#include "calls/identity.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "collect/collector_inside.h"
#include "collect/correct.h"
#include "collect/distributions.h"
#include "sample/borrow.h"
#include "sample/calls_by_time.h"
#include "sample/cpu_shares.h"
#include "sample/goroutine_time.h"
#include "sample/path_share.h"
#include "tables/stack_copy.h"
#include "collect/usage.h"
#include "collect/leaf_cost.h"
#include "util/array.h"
#include "util/log.h"

/* Over all parts. */
struct function_sums {
	uint64_t calls, burst_calls;
	uint64_t cpu_ns, probe_ns;    /* of its own in these calls, and what probes took of that */
	uint64_t samples, sampled_ns; /* that met its own code, and the CPU time they stand for */
	uint64_t below;		      /* samples that met its own code or that of its callees */
};

/* Samples that met a node of a call stack: its own code, and that or the code of its callees. */
struct met {
	uint64_t own, below;
};

/* A profile on its way: the parts it is made of, and its arrays while they grow. */
struct assembly {
	/* First the reclaimed ones, which the collector keeps. */
	const struct stack_copy **copies;
	size_t copies_cnt, copies_cap;
	size_t kept_cnt;     /* of copies: the reclaimed ones */
	size_t expanded_cnt; /* so many of all have been replaced: see expand_all() */
	struct leaf_costs leaf_costs;
	struct fitted_cost *fitted; /* by function; NULL: no samples tell of it */
	double *over;		    /* as of goroutine_time__measure() */
	struct profile *p;
	size_t threads_cap, nodes_cap;
	const struct collector *c;
	struct function_sums *sums;	  /* by function */
	struct calls_estimate *estimates; /* by function */
	struct met *met;		  /* by node of the profile */
	uint32_t unmet_function;	  /* what stands for CPU time that no sample has met */
};

/* *more: what each of the part's nodes has to be charged in addition, by samples or by leaf cost
 * ratios; may be less than 0. Returns what that is for outermost calls' callers. */
static double charge_more(const struct assembly *a, const struct stack_copy *copy, double *more)
{
	const struct collector *c = a->c;
	double outermost = 0;

	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];
		const struct function_probes *probes;
		const struct wire_cost *in, *out;
		double by;

		if (n->function >= c->probes_cnt)
			continue;
		probes = &c->probes[n->function];
		in = &c->costs.classes[probes->entry];
		out = &c->costs.classes[probes->exit];
		by = (a->leaf_costs.ratio[probes->entry][probes->exit] - 1) * (double)n->calls;
		more[i] += by * (in->inside_ns + out->inside_ns);
		*(n->parent < copy->nodes_cnt ? &more[n->parent] : &outermost) +=
			by * (in->outside_ns + out->outside_ns);
	}
	for (uint32_t i = 0; a->fitted && i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];

		if (n->function < c->probes_cnt && a->fitted[n->function].error > 0)
			more[i] = (a->fitted[n->function].factor - 1) * (double)n->probe_ns;
	}
	return outermost;
}

/* A charge is uncertain by this share of it. */
static double charge_error(const struct assembly *a, uint32_t function)
{
	if (a->fitted && function < a->c->probes_cnt && a->fitted[function].error > 0)
		return a->fitted[function].error;
	return a->c->costs.spread;
}

/* In place of calls that were recorded in bursts a path gets its share of what is estimated, with
 * the error of the share. Of a function that no burst has met the share is that of samples, which
 * are what such an estimate is made of: of its own code or, where none met that, of its callees'
 * (as of a function that only calls write()). Without samples the share is that of calls that were
 * recorded: but these may have been recorded after the function was probed again. */
static void estimate_calls(const struct assembly *a, const struct stack_copy_node *n,
			   const struct met *met, struct call_stats *s)
{
	const struct calls_estimate *e = &a->estimates[n->function];
	const struct function_sums *all = &a->sums[n->function];
	double seen = (double)n->calls, of = (double)all->calls, share, varied;

	if (all->burst_calls) {
		seen = (double)n->burst_calls;
		of = (double)all->burst_calls;
	} else if (all->samples) {
		seen = (double)met->own;
		of = (double)all->samples;
	} else if (all->below) {
		seen = (double)met->below;
		of = (double)all->below;
	}
	s->recorded_calls = n->burst_calls;
	if (!(seen > 0) || !(e->calls > 0))
		return;
	share = seen / of;
	/* Where no call has ever been on another path, those before the drop tell so, too. */
	if (seen == of && n->calls == all->calls)
		seen = of = fmax(of, (double)all->calls);
	varied = path_share__variance(seen, of);
	s->burst_calls = (uint64_t)(e->calls * share + 0.5);
	if (s->burst_calls < n->burst_calls)
		s->burst_calls = n->burst_calls;
	s->calls += s->burst_calls - n->burst_calls;
	/* Of a product: both its factors are uncertain. */
	s->calls_varied =
		floor(share * share * e->variance + varied * (e->calls * e->calls + e->variance));
}

/* Counts samples by node of the call stack, whose nodes come behind their parents. */
static void count_samples(const struct stack_copy *copy, struct met *met)
{
	for (uint32_t i = 0; i < copy->samples_cnt; i++) {
		if (copy->samples[i].node < copy->nodes_cnt)
			met[copy->samples[i].node].own += copy->samples[i].cnt;
	}
	for (uint32_t i = copy->nodes_cnt; i-- > 0;) {
		uint32_t parent = copy->nodes[i].parent;

		met[i].below += met[i].own;
		if (parent < i)
			met[parent].below += met[i].below;
	}
}

/* Adds what nodes have to their callers. Children come behind their parents. */
static void sum_up(struct profile_node *nodes, uint32_t first, uint32_t cnt)
{
	for (uint32_t i = first + cnt; i-- > first;) {
		const struct profile_node *n = &nodes[i];

		if (n->parent)
			stats__add_callee(&nodes[n->parent].stats, &n->stats);
	}
}

static bool traces_go(const struct collector *c)
{
	return c->tables.info.go_traced && *c->tables.info.go_traced;
}

/* Calls lose the part of their own CPU time that samples say was others'. */
static void lose_time(const struct assembly *a, uint32_t function, struct call_stats *s)
{
	uint64_t ns = (uint64_t)((double)stats__cpu_self_ns(s) * a->over[function]);

	s->off_self_ns += ns;
	s->off_ns += ns;
}

/* Appends a call stack's record to the profile, as a thread of its own. */
static int assemble(struct assembly *a, const struct stack_copy *copy, double *more)
{
	struct profile *p = a->p;
	uint32_t thread = p->threads_cnt, base = p->nodes_cnt;
	bool loses = a->over && goroutine_time__applies(copy, traces_go(a->c));
	uint64_t calls = 0;
	double probe_ns;

	if (!copy->nodes_cnt) {
		p->accounting.probe_ns += copy->outside_ns;
		return 0;
	}
	if (ARRAY_RESERVE(&p->threads, p->threads_cnt, &a->threads_cap) ||
	    ARRAY_RESERVE_MORE(&p->nodes, base, copy->nodes_cnt, &a->nodes_cap))
		return -ENOMEM;
	p->threads[thread] = (struct profile_thread){
		.pid = copy->pid,
		.tid = copy->tid,
		.start_ns = copy->start_ns,
		.goroutine = copy->goroutine,
		.callstack_ns = copy->callstack_ns,
		.spans = copy->spans,
	};
	memcpy(p->threads[thread].comm, copy->comm, sizeof(copy->comm));
	p->threads_cnt++;
	probe_ns = (double)copy->outside_ns + charge_more(a, copy, more);
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		struct stack_copy_node corrected = copy->nodes[i], *n = &corrected;

		if (n->function >= a->c->functions_cnt ||
		    (n->parent != STACK_COPY_ROOT && n->parent >= i))
			return -EINVAL;
		p->nodes[base + i] = (struct profile_node){
			.parent = n->parent == STACK_COPY_ROOT ? 0 : base + n->parent,
			.function = n->function,
			.thread = thread,
		};
		n->probe_ns = correct__added(n->probe_ns, more[i]);
		correct__node(n, charge_error(a, n->function), a->c->raw,
			      &p->nodes[base + i].stats);
		if (loses)
			lose_time(a, n->function, &p->nodes[base + i].stats);
		if (n->function < a->c->estimates_cnt)
			estimate_calls(a, n, &a->met[base + i], &p->nodes[base + i].stats);
		calls += n->calls;
		probe_ns += (double)n->probe_ns;
	}
	if (copy->samples_cnt && !a->c->samples.bare && share_samples(copy, &p->nodes[base]))
		return -ENOMEM;
	sum_up(p->nodes, base, copy->nodes_cnt);
	p->nodes_cnt += copy->nodes_cnt;
	/* Only calls whose paths were read count as entered; but scaled calls are estimates. */
	p->accounting.entered += a->c->scaled ? copy->entered : calls;
	p->accounting.returned += copy->returned;
	p->accounting.unwound += copy->unwound;
	p->accounting.deep += copy->deep;
	if (!copy->spans)
		p->accounting.probe_ns += (uint64_t)probe_ns;
	return 0;
}

static int add_live(struct collector *c, struct assembly *a, uint64_t now_ns)
{
	uint32_t callstacks = bpf_tables__callstacks(&c->tables);
	struct stack_copy *copy;
	int err = 0;

	for (uint32_t i = 1; !err && i < callstacks; i++) {
		const struct wire_callstack *callstack = &c->tables.callstacks[i];

		if (callstack->state != WIRE_CALLSTACK_READY)
			continue;
		if (ARRAY_RESERVE(&a->copies, a->copies_cnt, &a->copies_cap))
			return -ENOMEM;
		err = stack_copy__read(&c->tables, callstack, now_ns, c->scratch, &copy);
		if (!err)
			err = sample_store__put(&c->samples, &c->tables, i, c->scratch, &copy);
		if (!err)
			err = seeds__expand(&c->seeds, &c->expansions, &c->tables, c->probes,
					    c->probes_cnt, &copy);
		if (err)
			free(copy);
		if (!err && copy) {
			correct__unseen(copy, c->probes, c->probes_cnt);
			correct__stack_copy(copy, &c->costs);
			a->copies[a->copies_cnt++] = copy;
		}
	}
	return err;
}

/* Adds what samples met outside of calls, by thread. */
static int add_outside(struct collector *c, struct assembly *a)
{
	struct stack_copy *copy;
	int err = 0;

	for (size_t i = 0; !err && i < c->samples.threads_cnt; i++) {
		if (ARRAY_RESERVE(&a->copies, a->copies_cnt, &a->copies_cap))
			return -ENOMEM;
		err = sample_store__thread(&c->samples, i, &copy);
		if (!err)
			a->copies[a->copies_cnt++] = copy;
	}
	return err;
}

static void add_node(struct function_sums *sums, const struct stack_copy_node *n,
		     const struct met *met)
{
	sums->calls += n->calls;
	sums->burst_calls += n->burst_calls;
	sums->cpu_ns += n->self_ns > n->off_ns ? n->self_ns - n->off_ns : 0;
	sums->probe_ns += n->probe_ns;
	sums->samples += met->own;
	sums->below += met->below;
}

/* Adds the CPU time that samples stand for. */
static void add_sampled_time(struct assembly *a, const struct stack_copy *copy)
{
	for (uint32_t i = 0; i < copy->samples_cnt; i++) {
		const struct stack_copy_sample *s = &copy->samples[i];
		uint32_t function =
			s->node < copy->nodes_cnt ? copy->nodes[s->node].function : UINT32_MAX;

		if (function < a->c->functions_cnt)
			a->sums[function].sampled_ns += s->ns;
	}
}

/* Adds up what was recorded of each function. The profile will have the nodes of all parts, one
 * part after the other, behind its unused first one. */
static int sum_functions(struct assembly *a)
{
	size_t base = a->p->nodes_cnt, nodes_cnt = base;

	for (size_t i = 0; i < a->copies_cnt; i++)
		nodes_cnt += a->copies[i]->nodes_cnt;
	a->sums = calloc(a->c->functions_cnt + 1, sizeof(*a->sums));
	a->met = calloc(nodes_cnt, sizeof(*a->met));
	if (!a->sums || !a->met)
		return -ENOMEM;
	for (size_t i = 0; i < a->copies_cnt; i++) {
		const struct stack_copy *copy = a->copies[i];

		count_samples(copy, &a->met[base]);
		for (uint32_t k = 0; k < copy->nodes_cnt; k++) {
			const struct stack_copy_node *n = &copy->nodes[k];

			if (n->function < a->c->functions_cnt)
				add_node(&a->sums[n->function], n, &a->met[base + k]);
		}
		add_sampled_time(a, copy);
		base += copy->nodes_cnt;
	}
	return 0;
}

/* A call takes so long at least, about. */
#define SHORT_CALL_NS 5

/*
 * A program of four phases drops a function soon after its phase has begun, by when it had hardly
 * been called, and has few looks in each, or none. Then samples tell more than the rate at the
 * drop: 185 ms of CPU time / 60 ns are 3,100,000 calls, where the rate made 9,000 of it; and the
 * error is what may be behind samples, also where there are none. Where looks have met the
 * function, but samples have met far more of it, the error is as large as that. Of a function
 * without any call that was recorded it is not known how long calls take: they may be as short as
 * calls can be, as those of one that takes 5 ns and was dropped before the start.
 */
static void estimate_by_samples(const struct assembly *a, const struct function_sums *sums,
				struct calls_estimate *e)
{
	const struct time_of_calls time = {
		.calls = sums->calls,
		.cpu_ns = sums->cpu_ns,
		.probe_ns = sums->probe_ns,
		.spread = a->c->costs.spread,
		.samples = sums->samples,
		.period_ns =
			sums->samples ? sums->sampled_ns / sums->samples : a->c->samples.weight_ns,
	};
	struct calls_by_time by;
	double missing, most = (double)sums->sampled_ns / SHORT_CALL_NS;

	if (e->guessed && !sums->calls)
		e->variance = fmax(e->variance, most * most);
	if ((!e->guessed && !(e->calls > 0)) || !calls_by_time__of(&time, &by))
		return;
	if (e->guessed) {
		e->calls = fmax(e->calls, by.calls - (double)sums->calls);
		e->variance = fmax(e->variance, by.variance);
	}
	missing = by.least - (double)sums->calls - e->calls;
	if (missing > 2 * sqrt(e->variance))
		e->variance = missing * missing;
}

/* Sets the calls that each function is taken to have had while it was dropped: by bursts, and where
 * these have met none by samples. */
static int settle_estimates(struct assembly *a)
{
	a->estimates = calloc(a->c->estimates_cnt + 1, sizeof(*a->estimates));
	if (!a->estimates)
		return -ENOMEM;
	for (uint32_t f = 0; f < a->c->estimates_cnt; f++) {
		a->estimates[f] = a->c->estimates[f];
		if (f < a->c->functions_cnt)
			estimate_by_samples(a, &a->sums[f], &a->estimates[f]);
	}
	return 0;
}

/* Hands what is estimated of functions to the profile, whose nodes have their parts of it. */
static int put_estimates(struct assembly *a)
{
	struct profile *p = a->p;
	size_t cap = 0;

	for (uint32_t f = 0; f < a->c->estimates_cnt && f < a->c->functions_cnt; f++) {
		const struct calls_estimate *e = &a->estimates[f];

		if (!(e->calls > 0))
			continue;
		if (ARRAY_RESERVE(&p->estimates, p->estimates_cnt, &cap))
			return -ENOMEM;
		p->estimates[p->estimates_cnt++] =
			(struct profile_estimate){.function = f, .varied = floor(e->variance)};
	}
	profile__count_estimates(p);
	return 0;
}

/* *thread = what stands for the first thread outside of its calls; made if need be. There is one
 * for each thread, as intervals are differences of threads that are the same. */
static int outside_of_first(struct assembly *a, uint32_t *thread)
{
	struct profile *p = a->p;
	struct profile_thread outside = p->threads[0];

	outside.callstack_ns = SAMPLED_OUTSIDE;
	for (*thread = 0; *thread < p->threads_cnt; (*thread)++) {
		if (!identity__compare(&p->threads[*thread], &outside))
			return 0;
	}
	if (ARRAY_RESERVE(&p->threads, p->threads_cnt, &a->threads_cap))
		return -ENOMEM;
	p->threads[p->threads_cnt++] = outside;
	return 0;
}

/* Gives CPU time outside of calls a path where no sample has met any: of the first thread, as it is
 * not known whose it was. */
static int add_unmet(struct assembly *a, uint64_t ns)
{
	struct profile *p = a->p;
	struct profile_node *n;
	uint32_t thread;

	if (outside_of_first(a, &thread) || ARRAY_RESERVE(&p->nodes, p->nodes_cnt, &a->nodes_cap))
		return -ENOMEM;
	n = &p->nodes[p->nodes_cnt++];
	*n = (struct profile_node){.function = a->unmet_function, .thread = thread};
	n->stats = (struct call_stats){.min_ns = UINT64_MAX, .sampled_ns = ns, .varied_ns = ns};
	n->stats.self_ns = n->stats.raw_self_ns = n->stats.total_ns = n->stats.raw_total_ns = ns;
	return 0;
}

static int settle_cpu_time(struct assembly *a)
{
	const struct target_clock clock = {a->c->samples.cpu_ns, a->c->forgotten_cpu_ns, a->c->raw};
	uint64_t unmet = a->p->threads_cnt ? unmet_ns(a->p, &clock) : 0;
	int err = 0;

	if (!err && unmet)
		err = add_unmet(a, unmet);
	return err ? err : fit_to_clock(a->p, &clock);
}

static int measure_goroutines(struct assembly *a)
{
	const struct collector *c = a->c;

	if (!c->samples.callstacks || c->samples.bare)
		return 0;
	return goroutine_time__measure(
		a->copies, a->copies_cnt,
		&(struct goroutine_known){c->functions_cnt, c->samples.weight_ns, traces_go(c)},
		&a->over);
}

/* Collects all parts of the profile, one after the other. */
static int assemble_all(struct assembly *a)
{
	size_t cap = 0;
	double *more = NULL;
	int err = a->c->estimates ? sum_functions(a) : 0;

	if (!err && a->c->estimates)
		err = settle_estimates(a);
	if (!err)
		err = leaf_cost__measure(a->copies, a->copies_cnt, a->c->probes, a->c->probes_cnt,
					 &a->leaf_costs);

	/* Not for intervals, which are differences: what is learnt would be the next one's time. */
	if (!err && a->c->samples.callstacks && a->c->probes && !a->c->seeds.keep_paths)
		err = sample_fit__measure(a->copies, a->copies_cnt,
					  &(struct fit_known){a->c->probes, a->c->probes_cnt,
							      &a->c->costs, &a->leaf_costs,
							      a->c->samples.kernel_named},
					  sample_store__period(&a->c->samples), &a->fitted);
	if (!err)
		err = measure_goroutines(a);
	for (size_t i = 0; !err && i < a->copies_cnt; i++) {
		uint32_t cnt = a->copies[i]->nodes_cnt;

		if (ARRAY_RESERVE_MORE(&more, 0, cnt + 1, &cap)) {
			err = -ENOMEM;
			break;
		}
		memset(more, 0, cnt * sizeof(*more));
		err = assemble(a, a->copies[i], more);
	}
	if (!err && a->estimates)
		err = put_estimates(a);
	free(more);
	free(a->over);
	free(a->fitted);
	free(a->sums);
	free(a->estimates);
	free(a->met);
	if (!err && a->c->samples.callstacks && !a->c->samples.bare)
		err = settle_cpu_time(a);
	return err;
}

/* Calls that were not recorded, or not as they should. */
static void account_tallies(const struct collector *c, struct profile_accounting *a)
{
	const struct wire_tally all = bpf_tables__tallies(&c->tables);

	for (int i = 0; i < WIRE_LOSSES; i++)
		a->lost += all.lost[i];
	a->undistributed = all.undistributed;
	if (c->tables.info.callers_lost)
		a->callers_lost += *c->tables.info.callers_lost;
	if (c->reclaimed_lines)
		a->line_misses = all.line_misses;
	a->timeline_calls = c->drain.sent;
	a->timeline_lost = all.timeline_lost;
	a->untriggered += all.untriggered;
	for (uint32_t f = 0; f < c->functions_cnt; f++)
		a->dropped += usage__passed(c, f);
}

/* Puts callers in place of stacks, in all parts, which are ours then. */
static int expand_all(struct collector *c, struct assembly *a, struct profile_accounting *sums)
{
	int err = 0;

	for (size_t i = 0; !err && i < a->copies_cnt; i++) {
		struct stack_copy *expanded;

		err = expand__stack_copy(&c->expansions, &c->tables, a->copies[i], sums, &expanded);
		if (err)
			break;
		if (i >= a->kept_cnt)
			free((void *)a->copies[i]);
		a->copies[i] = expanded;
		a->expanded_cnt = i + 1;
	}
	return err;
}

/* Puts copies with what samples of other call stacks tell of them in place of all parts. */
static int borrow_samples(struct assembly *a)
{
	struct stack_copy **copies = calloc(a->copies_cnt + 1, sizeof(*copies));
	int err = copies ? borrow__samples(a->copies, a->copies_cnt, copies) : -ENOMEM;

	for (size_t i = 0; !err && i < a->copies_cnt && copies[i]; i++) {
		if (i < a->expanded_cnt || i >= a->kept_cnt)
			free((void *)a->copies[i]);
		a->copies[i] = copies[i];
		a->expanded_cnt = i >= a->expanded_cnt ? i + 1 : a->expanded_cnt;
	}
	free(copies);
	return err;
}

static void free_copies(struct assembly *a)
{
	for (size_t i = 0; i < a->copies_cnt; i++) {
		if (i < a->expanded_cnt || i >= a->kept_cnt)
			free((void *)a->copies[i]);
	}
	free(a->copies);
}

/* A profile that has the root of its tree, and the accounts of call stacks that were forgotten. */
static int begin_profile(struct collector *c, struct assembly *a)
{
	a->p = calloc(1, sizeof(*a->p));
	if (!a->p || ARRAY_RESERVE(&a->p->nodes, 0, &a->nodes_cap))
		return -ENOMEM;
	memset(&a->p->nodes[0], 0, sizeof(a->p->nodes[0]));
	a->p->nodes_cnt = 1;
	a->p->accounting = c->forgotten;
	return 0;
}

/* Gathers all parts, as they are: of reclaimed call stacks, of live ones, and of what samples met
 * outside of calls. */
static int gather_parts(struct collector *c, struct assembly *a, uint64_t now_ns)
{
	int err = wait_store__read(&c->waits, &c->samples, &c->tables, now_ns);

	if (err)
		return err;
	if (ARRAY_RESERVE_MORE(&a->copies, 0, c->reclaimed_cnt, &a->copies_cap))
		return -ENOMEM;
	for (; a->copies_cnt < c->reclaimed_cnt; a->copies_cnt++)
		a->copies[a->copies_cnt] = c->reclaimed[a->copies_cnt];
	a->kept_cnt = a->copies_cnt;
	err = add_live(c, a, now_ns);
	return err ? err : add_outside(c, a);
}

/* Replaces unwound stacks by the functions on them, and tells paths what samples of other call
 * stacks say of them. */
static int complete_parts(struct collector *c, struct assembly *a)
{
	const bool samples = c->samples.callstacks;
	int err = 0;

	if (samples && c->samples.resolve)
		err = sample_store__unmet(&c->samples, &a->unmet_function);
	if (!err && (c->estimates || (c->expansions.stacks && c->expansions.resolve)))
		err = expand_all(c, a, &a->p->accounting);
	/* Not for intervals, which are differences: what is borrowed changes as more is met. */
	if (!err && samples && !c->samples.bare && !c->seeds.keep_paths)
		err = borrow_samples(a);
	return err;
}

static void account_all(struct collector *c, struct profile_accounting *sums)
{
	account_tallies(c, sums);
	sample_store__account(&c->samples, &c->tables, sums);
	wait_store__account(&c->tables, sums);
	ring_reader__account(&c->ring, &c->tables, sums);
	sums->open = sums->entered - sums->returned - sums->unwound;
}

int collector__snapshot(struct collector *c, uint64_t now_ns, struct profile **out)
{
	struct assembly a = {.c = c};
	int err = begin_profile(c, &a);

	if (!err)
		err = gather_parts(c, &a, now_ns);
	if (!err)
		err = complete_parts(c, &a);
	if (!err)
		err = assemble_all(&a);
	free_copies(&a);
	if (!err)
		err = distributions__read(&c->tables, c->functions_cnt, a.p);
	if (err) {
		log_error("cannot put the profile together: %s", strerror(-err));
		profile__free(a.p);
		return err;
	}
	account_all(c, &a.p->accounting);
	if (c->samples.callstacks && !c->samples.bare)
		a.p->sample_period_ns = sample_store__period(&c->samples);
	*out = a.p;
	return 0;
}
