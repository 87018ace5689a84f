// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost is known by count: calls times what a call's probes cost. So a look is at counts, and mostly
 * at their sum alone; functions are told apart only where that might be too much. A look covers the
 * time since the last one that was certain enough to say something.
 *
 * Where far too much is spent, as at the start with all functions probed, looks follow each other
 * quickly, for the target is slowed down while they last. As long as that is so they all begin
 * where the first one did: of a thousand functions that a server calls once a request none is
 * called often within one look, so calls must add up before they say which functions to drop.
 *
 * A command begins with all functions probed, as nothing is known of them. Its first looks come
 * after some milliseconds; what costs more than START_COST by then goes at once.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "attach/costs.h"
#include "attach/tracer.h"
#include "budget/advice.h"
#include "budget/budget.h"
#include "budget/controller.h"
#include "budget/controller_inside.h"
#include "budget/dearness.h"
#include "budget/forecast.h"
#include "budget/inputs.h"
#include "bursts/bursts.h"
#include "collect/collector.h"
#include "looks/call_cost.h"
#include "looks/turns.h"
#include "plan/plan.h"
#include "target/target.h"
#include "util/array.h"
#include "util/log.h"
#include "util/text.h"

#define MIN_COST_NS  500000	 /* a look at less cost says too little, unless it is a long one */
#define LONG_LOOK_NS 1000000000	 /* a long look */
#define HASTE	     2		 /* times the limit: then there is no waiting for a longer look */
#define HEAVY	     8		 /* times the limit: then few calls say enough of a server */
#define LONGEST_NS   10000000000 /* calls add up for so long */
#define REST_NS	     500000000	/* no bursts after far too much was spent, in a target that forks */
#define LOADING_NS   200000000	/* files that are loaded so soon one after the other are a row */
#define LOADING_MOST 2000000000 /* no row holds bursts up longer: some load files all the time */
#define CLOSING_NS   40000000	/* at least, until a few links are closed: they linger first */
#define CALM_LOOK_NS 400000000
#define FAST_CPU_NS  10000000 /* a process's clock goes in steps of up to 4 ms */
#define START_COST   4000000  /* at the start: more at once is too much */
#define CERTAIN_COST 0.96
#define TOLD_LOAD    0.05	/* of a CPU: where there is no limit, a cost below is not told */
#define TOLD_LOOK_NS 500000000	/* where there is no limit, no cost is told sooner */
#define COLD_RESERVE 2		/* probes may be so much dearer than in calibration */
#define MOST_PROBES  200000	/* in all processes: these take 5 s to come and go at worst */
#define MOST_LINKS   32		/* that have a function at a time, while others are dropped */
#define SAVED_NS     2000000000 /* of what is spared, that of the last so long is left at most */

/* The budget's figures of a function, as far as they do not depend on other calls. */
static struct budget_function budget_function_of(const struct controller *s, uint32_t index,
						 const struct function_usage *u)
{
	const struct plan_function *f = &s->in->plan->functions[index];

	return (struct budget_function){
		.call_cost_ns = controller__call_cost(s, index, u),
		.kept = f->has_lines || f->arguments || s->kept[index] ||
			s->chosen[index] == CHOICE_FIRM || f->kind == PLAN_SYSTEM_CALL,
		.last = s->chosen[index] == CHOICE_LAST,
		.chosen = s->chosen[index] == CHOICE_FIRM,
		/* Without triggers there is nothing to see. */
		.gone = s->gone[index] || collector__bounds(s->in->collector, index),
		.again = s->fast_polling && (s->forks || s->heavy),
	};
}

/* Adds hits of a function's exits in no call of it: those that are more than links can have seen of
 * `calls`, of which each exit is hit once a link while functions move. */
static void add_strays(struct controller *s, uint32_t function, uint64_t calls, uint64_t strays)
{
	struct budget_function *f = &s->functions[function];
	struct function_probes probes;

	if (strays <= MOST_LINKS * (calls + 1))
		return;
	probes = call_cost__of(s->in->plan, &s->in->plan->functions[function]);
	f->strays = strays;
	f->stray_cost_ns =
		s->dearness * (double)probe_costs__call(&s->in->costs, WIRE_COST_NONE, probes.exit);
}

/* Sums up what each function has done and cost since the look began; returns the cost of all, in
 * ns. */
static double judge(struct controller *s)
{
	double sum = 0;

	s->forks = turns__forks(&s->seen, s->in->tracer);
	for (uint32_t k = 0; k < s->used_cnt; k++) {
		uint32_t i = s->used[k], entry;
		const struct function_usage *u, *before;
		struct budget_function *f;

		if (i >= s->functions_cnt)
			continue;
		u = &s->now[i];
		before = &s->before[i];
		f = &s->functions[i];
		/* Few are called between two looks; the others have cost nothing, and do not go. */
		if (u->calls == before->calls && u->passed == before->passed &&
		    u->strays == before->strays) {
			*f = (struct budget_function){0};
			continue;
		}
		*f = budget_function_of(s, i, u);
		f->calls = u->calls - before->calls;
		if (u->total_ns > u->probe_ns && u->calls)
			f->call_ns = (double)(u->total_ns - u->probe_ns) / (double)u->calls;
		/* Of a function that is kept in part (--sample-hot 100) all calls are counted, and
		 * one in 100 has cost; of dropped ones only the entry is hit. */
		if (s->gone[i] && s->in->sample_hot)
			f->calls /= s->in->sample_hot;
		entry = cost_class__of_entry(s->in->plan->functions[i].entry.site);
		budget__add_passed(f, u->passed - before->passed,
				   probe_costs__passed(&s->in->costs, entry));
		add_strays(s, i, u->calls - before->calls + u->passed - before->passed,
			   u->strays - before->strays);
		sum += budget__cost_ns(f);
	}
	s->look_cost_ns = sum;
	return sum;
}

/* A look ends: what samples say of the cost that was reckoned up to now. */
static void note_dearness(struct controller *s, uint64_t cpu_ns)
{
	const struct samples_so_far met = collector__samples(s->in->collector);

	s->reckoned_ns += s->look_cost_ns / s->dearness;
	if (cpu_ns)
		s->dearness = dearness__times(&met, (s->reckoned_ns + bursts__cost_ns(s->bursts)) /
							    (double)cpu_ns);
}

/* Whether most of what a function has cost was in no call of it. Looks at what is dropped count
 * entries: they would find it cheap, and have it back. */
static bool strays_most(const struct budget_function *f)
{
	return (double)f->strays * f->stray_cost_ns > budget__cost_ns(f) / 2;
}

/* Why and when a function went. */
static int note_drop(struct controller *s, uint32_t function, double own_ns, uint64_t now_ns)
{
	const struct budget_function *f = &s->functions[function];
	char call[32], probes[32];
	struct drop *d;

	if (ARRAY_RESERVE(&s->drops, s->drops_cnt, &s->drops_cap))
		return -ENOMEM;
	d = &s->drops[s->drops_cnt++];
	d->shown = (struct profile_drop){
		.function = function,
		.at_ns = now_ns - s->start_ns,
		.calls_per_second = (double)f->calls / own_ns * 1e9,
		.cost_percent = 100 * budget__cost_ns(f) / own_ns,
		.sampled = s->in->sample_hot,
	};
	text_duration((uint64_t)f->call_cost_ns, probes, sizeof(probes));
	if (strays_most(f))
		snprintf(d->reason, sizeof(d->reason),
			 "over the budget; the probes at its exits are hit outside of its calls, "
			 "%.0f times a second",
			 (double)f->strays / own_ns * 1e9);
	else if (!f->calls)
		snprintf(d->reason, sizeof(d->reason),
			 "no calls were expected, but Go's memory manager works in phases");
	else if (f->call_ns > 0)
		snprintf(d->reason, sizeof(d->reason),
			 "over the budget; a call takes about %s, its probes %s",
			 text_duration((uint64_t)f->call_ns, call, sizeof(call)), probes);
	else
		snprintf(d->reason, sizeof(d->reason),
			 "over the budget; the probes of a call take %s", probes);
	return 0;
}

/* Drops what was chosen, by a switch in the kernel. */
static int drop_chosen(struct controller *s, double own_ns, uint64_t now_ns)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < s->functions_cnt; i++) {
		s->calls[i] = s->now[i].calls;
		if (!s->functions[i].drop)
			continue;
		collector__drop(s->in->collector, i, s->in->sample_hot ? s->in->sample_hot : 1);
		err = note_drop(s, i, own_ns, now_ns);
		if (!err && !strays_most(&s->functions[i]))
			err = bursts__add(s->bursts, i, (double)s->functions[i].calls / own_ns);
		returns__note_drop(s, i, now_ns);
		s->gone[i] = true;
	}
	s->undone = true;
	return err;
}

/* Go's memory manager rests for a second, say, and works for a tenth of one, in which it calls some
 * 200 functions, some of them a million times. A survey hardly meets that: the first collections
 * would take many times as long, until looks have found one function after the other. Returns how
 * many are to be dropped because of it. */
static size_t choose_phases(struct controller *s)
{
	size_t chosen = 0;

	for (uint32_t i = 0; s->in->all && i < s->functions_cnt; i++) {
		struct budget_function *f = &s->functions[i];

		if (f->calls || f->gone || f->kept || !s->in->plan->functions[i].works_in_phases)
			continue;
		f->drop = true;
		chosen++;
	}
	return chosen;
}

int controller__expect(struct controller *s, const struct forecast_function *forecast)
{
	const struct function_usage none = {.factor = 1};
	double span_ns = 1e9, limit = s->in->start_ns ? (1 - START_PART) * s->limit : s->limit;
	size_t chosen;
	int err = controller__grow(s);

	if (err || !s->in->limit)
		return err;
	if (s->in->load > 0)
		limit = fmax(limit, s->spared / s->in->load);
	for (uint32_t i = 0; i < s->functions_cnt; i++) {
		s->functions[i] = budget_function_of(s, i, &none);
		s->functions[i].calls = (uint64_t)(forecast[i].rate * span_ns);
	}
	chosen = budget__choose(s->functions, s->functions_cnt, span_ns, limit);
	chosen += choose_phases(s);
	if (chosen)
		err = drop_chosen(s, span_ns, s->start_ns);
	/* The forecast's calls were for this choice alone: the first look finds functions that have
	 * done nothing. */
	memset(s->functions, 0, s->functions_cnt * sizeof(*s->functions));
	if (!chosen)
		return 0;
	if (!err)
		err = controller__take_out(
			s); /* they have no probes as yet, and will not get any */
	log_debug("before the start: %zu functions are dropped", chosen);
	return err;
}

/* The probes of the target's functions, in each process that has them. */
static uint64_t probes_in_all(const struct budget_inputs *in)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < in->plan->functions_cnt; i++) {
		const struct plan_function *f = &in->plan->functions[i];

		if (plan_function__has_probe(f))
			sum += (uint64_t)(1 + f->exits_cnt) *
			       in->target->objects[f->object].processes_cnt;
	}
	return sum;
}

static int leave_out(struct controller *s, uint32_t function)
{
	struct drop *d;

	if (ARRAY_RESERVE(&s->drops, s->drops_cnt, &s->drops_cap))
		return -ENOMEM;
	d = &s->drops[s->drops_cnt++];
	d->shown = (struct profile_drop){.function = function};
	snprintf(d->reason, sizeof(d->reason),
		 "not called before the start; too many probes for so many processes");
	collector__drop(s->in->collector, function, 1);
	s->gone[function] = true;
	return 0;
}

int controller__leave_out(struct controller *s, const bool *called)
{
	const struct function_usage none = {.factor = 1};
	uint64_t probes = probes_in_all(s->in);
	size_t processes = s->in->target->processes_cnt;
	uint32_t cnt = 0;
	int err = controller__grow(s);

	if (!s->in->limit || processes < 2 || probes <= MOST_PROBES)
		return err;
	for (uint32_t i = 0; !err && i < s->functions_cnt; i++) {
		struct budget_function f = budget_function_of(s, i, &none);

		if (called[i] || f.kept || f.last || f.gone ||
		    !plan_function__has_probe(&s->in->plan->functions[i]))
			continue;
		err = leave_out(s, i);
		cnt++;
	}
	if (!err && cnt) {
		log_info("%u functions that were not called before the start get no probes, which "
			 "take too long to put into %zu processes (--max-overhead none puts them "
			 "in)",
			 cnt, processes);
		err = controller__take_out(s);
	}
	return err;
}

/* Whether a look that has found such a cost has seen enough. */
static bool is_enough(const struct controller *s, double cost_ns, double limit_ns, double cpu_ns,
		      uint64_t took_ns)
{
	if (took_ns >= LONG_LOOK_NS)
		return true;
	if (!s->in->limit) /* nothing is in a hurry */
		return took_ns >= TOLD_LOOK_NS;
	if (s->began_ns == s->start_ns && took_ns < START_NS)
		return cost_ns >= START_COST && cost_ns >= HASTE * limit_ns;
	if (cost_ns < MIN_COST_NS || cpu_ns < FAST_CPU_NS)
		return false;
	if (cost_ns >= HASTE * limit_ns)
		return true;
	return took_ns >= (cost_ns > BUDGET_FULL * limit_ns ? CALM_LOOK_NS : LOOK_PACE_NS);
}

/* Without a limit: says what it costs, once it is known for sure and matters to anybody. */
static int tell_cost(struct controller *s, double cost_ns, double own_ns, uint64_t took_ns)
{
	if (cost_ns < s->watched * own_ns || cost_ns < TOLD_LOAD * (double)took_ns)
		return 0;
	advice__unlimited(s->in->plan, s->functions, s->functions_cnt, own_ns);
	s->watched = 0;
	return 0;
}

/* The cost of those that could be dropped and are not, in ns. */
static double cost_of_others(const struct controller *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->functions_cnt; i++) {
		const struct budget_function *f = &s->functions[i];

		if (!f->gone && !f->kept && !f->drop)
			sum += budget__cost_ns(f);
	}
	return sum;
}

/* Drops what is too much. The look has found what all cost, and the target's own time. */
static int keep_to_limit(struct controller *s, double cost_ns, double own_ns, double limit,
			 uint64_t now_ns)
{
	double most_ns = HASTE * fmax(s->limit, limit) * own_ns;
	size_t chosen = budget__choose(s->functions, s->functions_cnt, own_ns, limit);
	int err;

	s->over = cost_of_others(s) >= most_ns;
	s->fast_polling = s->over || (chosen && cost_ns >= most_ns);
	s->heavy = s->in->load > 0 && cost_ns >= HEAVY * fmax(s->limit, limit) * own_ns;
	if (!chosen)
		return 0;
	err = drop_chosen(s, own_ns, now_ns);
	log_debug("%.2f s: probes cost %.1f %%: %zu functions are dropped",
		  (now_ns - s->start_ns) / 1e9, 100 * cost_ns / own_ns, chosen);
	return err;
}

/* The rest of the cost that is spared, in ns, after a look in which probes have cost `cost_ns`. */
static double left_of_spared(const struct controller *s, double cost_ns, uint64_t took_ns)
{
	double left_ns = s->saved_ns + s->spared * (double)took_ns - cost_ns;

	return fmax(0, fmin(left_ns, s->spared * SAVED_NS));
}

/* Notes the cost and the target's own CPU time that the look has found; of that probes may cost
 * `limit`. */
static void note_look(struct controller *s, double own_ns, double limit, uint64_t took_ns)
{
	double counted_ns = budget__counted_ns(s->functions, s->functions_cnt, own_ns, limit);

	s->spent = counted_ns / own_ns;
	s->judged_ns = own_ns;
	s->load = own_ns / (double)took_ns;
	s->left_ns = left_of_spared(s, counted_ns, took_ns);
}

/* Looks at each function. Sets *done if the look said what it could. */
static int look_closely(struct controller *s, uint64_t now_ns, double cpu_ns, bool *done)
{
	uint64_t took_ns = now_ns - s->began_ns;
	double cost_ns, own_ns, limit;
	int err;

	err = collector__usage_of_used(s->in->collector, s->now, s->functions_cnt, &s->used,
				       &s->used_cnt);
	if (err)
		return err;
	*done = false;
	/* A command that has just begun keeps one CPU busy, also while its clock shows nothing yet.
	 */
	if (s->began_ns == s->start_ns && took_ns < START_NS && cpu_ns < (double)took_ns)
		cpu_ns = (double)took_ns;
	/* Nothing can be said beside a clock that stands still. */
	if (!(cpu_ns > 0))
		return 0;
	cost_ns = judge(s);
	/* While most of the time is the probes', a small error of their cost is a large one of the
	 * rest. What is dropped is gone, so the rest is taken to be large; the next look, with less
	 * of their cost in it, sees better. */
	own_ns = cpu_ns - CERTAIN_COST * cost_ns;
	if (own_ns < (1 - CERTAIN_COST) * cpu_ns)
		own_ns = (1 - CERTAIN_COST) * cpu_ns;
	limit = controller__look_limit(s, own_ns, took_ns);
	*done = is_enough(s, cost_ns, fmax(s->limit, limit) * own_ns, cpu_ns, took_ns);
	if (!*done)
		return 0;
	note_look(s, own_ns, limit, took_ns);
	if (!s->in->limit)
		return tell_cost(s, cost_ns, own_ns, took_ns);
	if (!s->told)
		s->told = advice__kept(s->in->plan, s->functions, s->functions_cnt, own_ns,
				       controller__whole_limit(s));
	if (!s->chosen_told && s->began_ns >= s->chosen_ns)
		s->chosen_told = advice__chosen(s->in->plan, s->functions, s->functions_cnt, own_ns,
						s->in->limit);
	return keep_to_limit(s, cost_ns, own_ns, limit, now_ns);
}

/* Looks at what little there was: for how much more there is room. */
static int look_calmly(struct controller *s, double cpu_ns, uint64_t took_ns)
{
	int err = collector__usage_of_used(s->in->collector, s->now, s->functions_cnt, &s->used,
					   &s->used_cnt);
	double cost_ns, own_ns;

	if (err || !(cpu_ns > 0))
		return err;
	s->over = false;
	cost_ns = judge(s);
	own_ns = cpu_ns > 2 * cost_ns ? cpu_ns - cost_ns : cpu_ns / 2;
	note_look(s, own_ns, controller__look_limit(s, own_ns, took_ns), took_ns);
	return 0;
}

/* Takes out what is dropped. New links are made for what stays, and while that lasts none is
 * closed: old ones take as long to close. Where looks follow each other quickly they would hardly
 * ever be, so what more looks drop meanwhile waits, and goes at once. */
static int take_out_in_turn(struct controller *s, uint64_t now_ns)
{
	int err;

	if (s->forks && s->over && now_ns < s->next_take_out_ns)
		return 0;
	err = controller__take_out(s);
	s->taken_out_ns = now_ns + s->taking_out_ns;
	s->closing = true;
	s->next_take_out_ns = now_ns + 2 * s->taking_out_ns + CLOSING_NS;
	return err;
}

void controller__loads(struct controller *s, uint64_t now_ns)
{
	if (now_ns > s->loads_ns + LOADING_NS)
		s->loads_since_ns = now_ns;
	s->loads_ns = now_ns;
}

/* Whether there may be looks at dropped functions. */
static bool may_burst(const struct controller *s, uint64_t now_ns)
{
	bool loads = now_ns < s->loads_ns + LOADING_NS && now_ns < s->loads_since_ns + LOADING_MOST;

	return !s->undone && !s->fast_polling && !s->over && !loads && now_ns >= s->rest_until_ns;
}

/* Looks at the sum of all calls, and at each function where their probes may have cost too much or
 * the look is a long one. Sets *done if the look said what it could. */
static int look_at_cost(struct controller *s, uint64_t now_ns, uint64_t cpu_ns, uint64_t calls,
			bool *done)
{
	uint64_t took_ns = now_ns - s->began_ns;
	double ran_ns = (double)(cpu_ns - s->began_cpu_ns), most_ns;

	s->unwinding_ns = call_cost__unwinding_ns(s->in->tracer);
	most_ns =
		(double)(calls - s->began_calls) * (s->dearest_ns + s->unwinding_ns) * COLD_RESERVE;
	*done = took_ns >= LONG_LOOK_NS;
	if (most_ns > s->watched * ran_ns / 2)
		return look_closely(s, now_ns, ran_ns, done);
	return *done ? look_calmly(s, ran_ns, took_ns) : 0;
}

/* Ends the look under way, and begins the next one. */
static void end_look(struct controller *s, uint64_t now_ns, uint64_t cpu_ns, uint64_t calls)
{
	struct function_usage *swap = s->before;

	s->before = s->now;
	s->now = swap;
	s->saved_ns = s->left_ns;
	note_dearness(s, cpu_ns);
	controller__begin_look(s, now_ns, cpu_ns, calls);
}

/* Does what is due after a look. `quiet`: it has seen enough, and nothing is to be taken out. */
static int follow_up(struct controller *s, bool quiet, uint64_t now_ns)
{
	int err = 0;

	if (quiet && s->in->limit && !s->fast_polling && !s->over)
		err = returns__look(s, now_ns);
	if (!err && s->undone)
		err = take_out_in_turn(s, now_ns);
	if (s->forks && (s->fast_polling || s->over))
		s->rest_until_ns = now_ns + REST_NS;
	if (!err && may_burst(s, now_ns))
		err = bursts__look(s->bursts, controller__pays_start(s), now_ns);
	return err;
}

int controller__look(struct controller *s, uint64_t now_ns)
{
	uint64_t cpu_ns = controller__cpu_ns(s), calls, took_ns = now_ns - s->began_ns;
	bool done, quiet;
	int err;

	s->at_ns = now_ns;
	if (!s->watched || s->off)
		return 0;
	s->left_ns = left_of_spared(s, 0, took_ns);
	err = controller__grow(s);
	s->closing = tracer__drop_poll(s->in->tracer);
	if (err)
		return err;
	calls = controller__calls(s);
	err = look_at_cost(s, now_ns, cpu_ns, calls, &done);
	if (err)
		return err;
	quiet = done && !s->undone;
	s->fast_polling &= !done || took_ns < LONG_LOOK_NS;
	if (done && (!s->over || took_ns >= LONGEST_NS))
		end_look(s, now_ns, cpu_ns, calls);
	return follow_up(s, quiet, now_ns);
}
