// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The way back of what was dropped: at once, as somebody has chosen it, or by itself, as it has
 * become cheap. A function comes back only into room that is well below what has functions dropped,
 * by the most that it may cost (bursts__rate()); and after each return that did not last it waits
 * twice as long. So nothing goes to and fro.
 */
#include <errno.h>
#include <stdlib.h>

#include "attach/tracer.h"
#include "budget/budget.h"
#include "budget/controller.h"
#include "budget/controller_inside.h"
#include "budget/inputs.h"
#include "bursts/bursts.h"
#include "collect/collector.h"
#include "collect/figures.h"
#include "plan/plan.h"
#include "util/log.h"

#define REST_NS	   2000000000ull /* from a drop to a return, at least; doubled with each */
#define PACE_NS	   1000000000ull /* from return to return */
#define MOST	   64		 /* functions at a time */
#define MOST_TIMES 8		 /* that a function comes back by itself */
/* The share of the limit for chosen functions: less than the share at which functions are dropped.
 */
#define CHOSEN_ROOM 0.8

/* Whether a function that is dropped can have its probes again. */
static bool may_return(const struct controller *s, uint32_t function)
{
	return s->gone[function] && !s->in->sample_hot &&
	       s->in->plan->functions[function].kind == PLAN_FUNCTION &&
	       !tracer__is_refused(s->in->tracer, function);
}

static struct drop *last_drop(const struct controller *s, uint32_t function)
{
	for (size_t i = s->drops_cnt; i-- > 0;) {
		if (s->drops[i].shown.function == function)
			return &s->drops[i];
	}
	return NULL;
}

/* The cost that a dropped function would have, as a share of the target's own CPU time: by looks of
 * late, or as when it was dropped. */
static double share_of_dropped(const struct controller *s, uint32_t function)
{
	const struct function_usage none = {.factor = 1};
	double rate = bursts__rate(s->bursts, function);
	const struct drop *d = rate < 0 ? last_drop(s, function) : NULL;

	if (d)
		rate = d->shown.calls_per_second / 1e9;
	return rate > 0 ? rate * controller__call_cost(s, function, &none) : 0;
}

/* The cost of an exact function in the last look, as a share. */
static double share_of_exact(const struct controller *s, uint32_t function)
{
	return s->judged_ns > 0 ? budget__cost_ns(&s->functions[function]) / s->judged_ns : 0;
}

static int compare_functions(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Until a look has seen what a function that comes back costs, that is what was expected. */
static void expect(struct controller *s, uint32_t function)
{
	struct budget_function *f = &s->functions[function];
	double share = share_of_dropped(s, function);

	if (!(s->judged_ns > 0))
		s->judged_ns = 1e9;
	*f = (struct budget_function){.calls = 1, .call_cost_ns = share * s->judged_ns};
}

/* Puts the probes in again and has calls recorded. Sorts the functions. */
static int restore(struct controller *s, uint32_t *functions, size_t cnt, uint64_t now_ns)
{
	int err;

	if (!cnt)
		return 0;
	qsort(functions, cnt, sizeof(*functions), compare_functions);
	err = tracer__restore(s->in->tracer, s->in->plan, s->in->target, functions, cnt);
	s->undone |= err != 0;
	if (err)
		return err;
	collector__restore(s->in->collector, functions, cnt);
	for (size_t i = 0; i < cnt; i++) {
		struct drop *d = last_drop(s, functions[i]);

		expect(s, functions[i]);
		s->gone[functions[i]] = false;
		if (d)
			d->shown.back_ns = now_ns > s->start_ns ? now_ns - s->start_ns : 1;
	}
	s->fast_polling = true;
	err = bursts__remove(s->bursts, functions, cnt);
	log_debug("%.2f s: %zu functions are exact again", (double)(now_ns - s->start_ns) / 1e9,
		  cnt);
	return err;
}

void returns__note_drop(struct controller *s, uint32_t function, uint64_t now_ns)
{
	struct returning *r = &s->returning[function];

	r->not_before_ns = now_ns + (REST_NS << r->times);
}

/* Lists dropped functions that may come back: those that were chosen, or all others. Returns how
 * many, or -ENOMEM. */
static int64_t list_returns(const struct controller *s, bool chosen, uint64_t now_ns,
			    struct budget_return **out)
{
	struct budget_return *returns = calloc(s->functions_cnt + 1, sizeof(*returns));
	size_t cnt = 0;

	if (!returns)
		return -ENOMEM;
	for (uint32_t f = 0; f < s->functions_cnt; f++) {
		const struct returning *r = &s->returning[f];

		if (!may_return(s, f) || !s->chosen[f] == chosen)
			continue;
		if (!chosen && (r->times >= MOST_TIMES || now_ns < r->not_before_ns))
			continue;
		if (bursts__rate(s->bursts, f) >= 0 || (chosen && now_ns >= r->not_before_ns))
			returns[cnt++] = (struct budget_return){f, share_of_dropped(s, f)};
	}
	*out = returns;
	return (int64_t)cnt;
}

/* Has those come back that cost no more than `room` together, a share of the target's own CPU
 * time, and sets *spent to what they do. */
static int return_some(struct controller *s, bool chosen, double room, uint64_t now_ns,
		       double *spent)
{
	struct budget_return *returns = NULL;
	uint32_t functions[MOST];
	int64_t cnt = list_returns(s, chosen, now_ns, &returns);
	size_t fit = cnt > 0 ? budget__returning(returns, (size_t)cnt, room) : 0;
	int err = cnt < 0 ? (int)cnt : 0;

	fit = fit < MOST ? fit : MOST;
	*spent = 0;
	for (size_t i = 0; i < fit; i++) {
		functions[i] = returns[i].function;
		s->returning[functions[i]].times += s->returning[functions[i]].times < MOST_TIMES;
		*spent += returns[i].cost_ns;
	}
	free(returns);
	if (!err && fit)
		err = restore(s, functions, fit, now_ns);
	return err == -ENOMEM ? err : 0;
}

/* The cost of chosen functions that are exact. */
static double chosen_share(const struct controller *s)
{
	double share = 0;

	for (uint32_t f = 0; f < s->functions_cnt; f++)
		share += s->chosen[f] && !s->gone[f] ? share_of_exact(s, f) : 0;
	return share;
}

int returns__look(struct controller *s, uint64_t now_ns)
{
	double limit = controller__room(s), spent;
	int err;

	if (now_ns < s->next_return_ns || !(s->judged_ns > 0))
		return 0;
	s->next_return_ns = now_ns + PACE_NS;
	/* The others pay for what is chosen: those that are exact do not count. */
	err = return_some(s, true, CHOSEN_ROOM * controller__probes_limit(s) - chosen_share(s),
			  now_ns, &spent);
	if (!err)
		err = return_some(s, false, BUDGET_RETURNS * limit - s->spent - spent, now_ns,
				  &spent);
	return err;
}

/* Chooses, of functions [0, cnt) that are dropped and not firm, the cheapest that fit in, and puts
 * them first. Returns how many. */
static int64_t choose_fitting(struct controller *s, uint32_t *functions, size_t cnt)
{
	struct budget_return *returns = calloc(cnt + 1, sizeof(*returns));
	double room = CHOSEN_ROOM * controller__probes_limit(s) - chosen_share(s);
	size_t fit;

	if (!returns)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		returns[i] =
			(struct budget_return){functions[i], share_of_dropped(s, functions[i])};
	fit = budget__returning(returns, cnt, room);
	for (size_t i = 0; i < cnt; i++)
		functions[i] = returns[i].function;
	free(returns);
	return (int64_t)fit;
}

int controller__choose(struct controller *s, const uint32_t *functions, size_t cnt,
		       enum controller_choice choice, uint64_t now_ns)
{
	uint32_t *dropped = calloc(cnt + 1, sizeof(*dropped));
	size_t dropped_cnt = 0;
	int64_t fit = 0;
	int err = dropped ? controller__grow(s) : -ENOMEM;

	s->at_ns = now_ns;
	for (size_t i = 0; !err && i < cnt; i++) {
		uint32_t f = functions[i];

		if (f >= s->functions_cnt)
			continue;
		if (may_return(s, f) && s->chosen[f] < choice)
			dropped[dropped_cnt++] = f;
		if (s->chosen[f] < choice)
			s->chosen[f] = choice;
	}
	if (choice == CHOICE_FIRM) {
		s->chosen_told = false;
		s->chosen_ns = now_ns;
	}
	if (!err)
		fit = choice == CHOICE_FIRM ? (int64_t)dropped_cnt
					    : choose_fitting(s, dropped, dropped_cnt);
	err = err ? err : fit < 0 ? (int)fit : restore(s, dropped, (size_t)fit, now_ns);
	free(dropped);
	return err;
}

bool controller__is_exact(const struct controller *s, uint32_t function)
{
	return function < s->functions_cnt && !s->gone[function] &&
	       s->in->plan->functions[function].kind != PLAN_CALLER &&
	       s->in->plan->functions[function].kind != PLAN_INLINED &&
	       !tracer__is_refused(s->in->tracer, function);
}

struct controller_chosen controller__chosen(const struct controller *s)
{
	struct controller_chosen c = {0};

	for (uint32_t f = 0; f < s->functions_cnt; f++) {
		if (!s->chosen[f])
			continue;
		if (controller__is_exact(s, f)) {
			c.exact++;
			c.exact_share += share_of_exact(s, f);
		} else if (s->gone[f]) {
			c.left++;
			c.left_share += share_of_dropped(s, f);
		}
	}
	return c;
}

void controller__release(struct controller *s)
{
	for (uint32_t f = 0; f < s->functions_cnt; f++)
		s->chosen[f] = 0;
	s->chosen_told = false;
}

int controller__hold(struct controller *s)
{
	int err = controller__grow(s);
	size_t held = 0;

	for (uint32_t f = 0; !err && f < s->functions_cnt; f++) {
		if (s->gone[f] || s->kept[f] || s->chosen[f] ||
		    s->in->plan->functions[f].kind != PLAN_FUNCTION ||
		    collector__bounds(s->in->collector, f))
			continue;
		collector__drop(s->in->collector, f, 1);
		s->gone[f] = true;
		held++;
	}
	s->told = true; /* what is kept is watched within a budget of its own */
	log_debug("%zu functions are held back", held);
	if (held)
		s->undone = true;
	return err || !held ? err : controller__take_out(s);
}
