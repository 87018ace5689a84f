// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function costs its calls times what the probes of one cost. What it tells is worth the less,
 * the shorter a call is beside its probes: such times are uncertain, and the caller's time says
 * nearly the same. So functions go in the order of both multiplied. At the end of the list a dear
 * one may have gone where a cheap one would have done, so those that fit in after all are taken
 * back.
 *
 * Calls are judged against the target's own time, which does not depend on how far tracing slows it
 * down: one look tells what the cost will be once others are dropped.
 */
#include "budget/budget.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Down to this share of the limit, so that the next small change does not cost a function. */
#define MARGIN	  0.8
#define MIN_CALLS 10
#define FEW_CALLS 3 /* where children do the same again and again */
/* The sum must be over BUDGET_FULL by so many standard deviations, if calls come at random. */
#define DEVIATIONS 2

struct candidate {
	struct budget_function *function;
	double cost_ns, score;
	bool last;
};

double budget__cost_ns(const struct budget_function *f)
{
	return (double)f->calls * f->call_cost_ns;
}

/* From a few calls of one function nothing follows for the time to come; but many such functions
 * together cost what they cost. */
static bool may_go(const struct budget_function *f)
{
	return !f->gone && !f->kept && f->calls >= (f->again ? FEW_CALLS : MIN_CALLS) &&
	       f->call_cost_ns > 0;
}

static int compare_scores(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->last != y->last)
		return x->last ? 1 : -1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->function < y->function ? -1 : 1;
}

static struct candidate candidate_of(struct budget_function *f)
{
	/* A call takes some time, whatever was measured. */
	double call_ns = f->call_ns > 1 ? f->call_ns : 1, cost_ns = budget__cost_ns(f);

	return (struct candidate){f, cost_ns, cost_ns * f->call_cost_ns / call_ns, f->last};
}

void budget__add_passed(struct budget_function *f, uint64_t passed, double cost_ns)
{
	double whole_ns = (double)f->calls * f->call_cost_ns + (double)passed * cost_ns;

	if (!passed)
		return;
	f->calls += passed;
	f->call_cost_ns = whole_ns / (double)f->calls;
}

size_t budget__choose(struct budget_function *functions, size_t cnt, double own_ns, double limit)
{
	struct candidate *candidates;
	size_t candidates_cnt = 0, chosen = 0, dropped = 0;
	double cost_ns = 0, variance = 0, goal_ns = MARGIN * limit * own_ns;

	for (size_t i = 0; i < cnt; i++) {
		if (functions[i].gone)
			continue;
		cost_ns += budget__cost_ns(&functions[i]);
		variance += budget__cost_ns(&functions[i]) * functions[i].call_cost_ns;
	}
	if (cost_ns - DEVIATIONS * sqrt(variance) <= BUDGET_FULL * limit * own_ns)
		return 0;
	candidates = calloc(cnt, sizeof(*candidates));
	if (!candidates)
		return 0; /* the next look may have more luck */
	for (size_t i = 0; i < cnt; i++) {
		if (may_go(&functions[i]))
			candidates[candidates_cnt++] = candidate_of(&functions[i]);
	}
	qsort(candidates, candidates_cnt, sizeof(*candidates), compare_scores);
	while (chosen < candidates_cnt && cost_ns > goal_ns)
		cost_ns -= candidates[chosen++].cost_ns;
	/* The last ones first: they tell most. */
	for (size_t i = chosen; i-- > 0;) {
		bool fits = cost_ns + candidates[i].cost_ns <= goal_ns;

		if (fits)
			cost_ns += candidates[i].cost_ns;
		candidates[i].function->drop = !fits;
		dropped += !fits;
	}
	free(candidates);
	return dropped;
}

static int compare_returns(const void *a, const void *b)
{
	const struct budget_return *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

size_t budget__returning(struct budget_return *returns, size_t cnt, double room)
{
	size_t fit = 0;

	if (cnt)
		qsort(returns, cnt, sizeof(*returns), compare_returns);
	while (fit < cnt && returns[fit].cost_ns <= room)
		room -= returns[fit++].cost_ns;
	return fit;
}
