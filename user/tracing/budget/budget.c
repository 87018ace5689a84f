// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function costs its calls times what the probes of one cost. What it tells is worth the less,
 * the shorter a call is beside its probes: such times are uncertain, and the caller's time says
 * nearly the same. So functions go in the order of both multiplied. At the end of the list a dear
 * one may have gone where a cheap one would have done, so those that fit in after all are taken
 * back. What costs next to nothing goes after the others: a function that is called 50 times a
 * second may be the one for which all others wait, and dropping it saves nothing.
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
#define FEW_CALLS 3	/* where children do the same again and again */
#define CHEAP	  0.001 /* of the target's own CPU time: what costs less goes last */
/* The sum must be over BUDGET_FULL by so many standard deviations, if calls come at random. */
#define DEVIATIONS 2

struct candidate {
	struct budget_function *function;
	double cost_ns, score;
	bool last, cheap;
};

/* The cost of functions, in ns, and the variance of that if calls come at random. */
struct cost {
	double ns, variance;
};

double budget__cost_ns(const struct budget_function *f)
{
	return (double)f->calls * f->call_cost_ns + (double)f->strays * f->stray_cost_ns;
}

static void add_cost(struct cost *c, const struct budget_function *f)
{
	c->ns += budget__cost_ns(f);
	c->variance += budget__cost_ns(f) * f->call_cost_ns;
}

/* From a few calls of one function nothing follows for the time to come; but many such functions
 * together cost what they cost. */
static bool may_go(const struct budget_function *f)
{
	return !f->gone && !f->kept && f->calls + f->strays >= (f->again ? FEW_CALLS : MIN_CALLS) &&
	       f->call_cost_ns > 0;
}

/* A cost of at most `most_ns`; if that cuts it, it is certain. */
static struct cost at_most(struct cost c, double most_ns)
{
	return c.ns > most_ns ? (struct cost){.ns = most_ns} : c;
}

static struct cost add(struct cost a, struct cost b)
{
	return (struct cost){a.ns + b.ns, a.variance + b.variance};
}

/* The cost of all that are not gone, as far as it counts. */
static struct cost counted(const struct budget_function *functions, size_t cnt, double limit_ns)
{
	struct cost kept = {0}, seldom = {0}, others = {0};

	for (size_t i = 0; i < cnt; i++) {
		const struct budget_function *f = &functions[i];

		if (f->gone)
			continue;
		if (f->kept && !f->chosen)
			add_cost(&kept, f);
		else
			add_cost(may_go(f) || f->chosen || f->again ? &others : &seldom, f);
	}
	kept = at_most(kept, BUDGET_KEPT * limit_ns);
	return add(at_most(add(kept, seldom), BUDGET_STAYS * limit_ns), others);
}

double budget__counted_ns(const struct budget_function *functions, size_t cnt, double own_ns,
			  double limit)
{
	return counted(functions, cnt, limit * own_ns).ns;
}

static int compare_scores(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->last != y->last)
		return x->last ? 1 : -1;
	if (x->cheap != y->cheap)
		return x->cheap ? 1 : -1;
	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->function < y->function ? -1 : 1;
}

static struct candidate candidate_of(struct budget_function *f, double cheap_ns)
{
	/* A call takes some time, whatever was measured. */
	double call_ns = f->call_ns > 1 ? f->call_ns : 1, cost_ns = budget__cost_ns(f);

	return (struct candidate){
		.function = f,
		.cost_ns = cost_ns,
		.score = cost_ns * f->call_cost_ns / call_ns,
		.last = f->last,
		.cheap = cost_ns < cheap_ns,
	};
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
	struct cost cost = counted(functions, cnt, limit * own_ns);
	double cost_ns = cost.ns, goal_ns = MARGIN * limit * own_ns;

	if (cost_ns - DEVIATIONS * sqrt(cost.variance) <= BUDGET_FULL * limit * own_ns)
		return 0;
	candidates = calloc(cnt, sizeof(*candidates));
	if (!candidates)
		return 0; /* the next look may have more luck */
	for (size_t i = 0; i < cnt; i++) {
		if (may_go(&functions[i]))
			candidates[candidates_cnt++] = candidate_of(&functions[i], CHEAP * own_ns);
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
