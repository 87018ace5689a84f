// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/bursts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/tracer.h"
#include "budget/call_cost.h"
#include "budget/inputs.h"
#include "budget/rates.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define MS 1000000ull

#define PACE_NS	      (60 * MS) /* from look to look, about */
#define STEP_NS	      (MS / 4)	/* of waiting */
#define PATIENCE      5		/* a look at an idle target lasts so many times as long, at most */
#define WINDOW_NS     (20 * MS) /* a window */
#define WINDOW_COST   (4 * MS)	/* that ends a window which costs more than was expected */
#define WINDOW_SHARE  0.1	/* of the target's own CPU time: what counting may cost in it */
#define AGAIN	      8		/* functions that are counted more often than the others */
#define LEAST_LOAD    0.01
#define MOST_OTHERS   0.1	 /* a window in which others' probes cost more is none */
#define BURST_PART    0.5	 /* of what bursts and windows may cost, for bursts */
#define BURST_COST    (50 * MS)	 /* that ends a burst, by entries alone: many threads */
#define BURST_REST_NS (300 * MS) /* from burst to burst, at least: links take long to be closed */
#define GONE_NS	      (200 * MS) /* links that were closed are gone after this */
#define LINKING_NS    (40 * MS)	 /* functions whose links take longer have bursts in turns */
#define LINKING_COST  0.1	 /* of the time that links take is the target's, about */
#define SKEW_NS	      (MS / 10)	 /* counts and clock are read within this, or once more */
#define READINGS      20

/* A function that is dropped. */
struct member {
	uint32_t function;
	double count_ns, call_ns; /* what counting a call costs, and recording it */
	double per_ns;		  /* calls in a ns of own CPU time, as was estimated last */
	uint64_t ran_ns;	  /* own CPU time of the target before it was dropped */
	uint64_t passed;	  /* calls that were passed over, as seen last */
	double threads[RATES_THREADS];
};

struct bursts {
	const struct budget_inputs *in;
	struct rates *rates;
	struct member *members;
	size_t cnt, cap;
	/* The functions of a look, by member and by their number in the plan; and their calls. */
	uint32_t *list, *functions;
	uint64_t *calls;
	size_t list_cnt, list_cap, functions_cap, calls_cap;
	size_t next_counted, next_again, windows, next_part, parts;
	double cost_ns; /* of all bursts and windows, to the target */
	uint64_t next_burst_ns, next_window_ns;
	uint64_t ended_ns; /* the last burst; 0: it is forgotten */
	uint64_t start_ran_ns, off_ran_ns, off_since_ns;
	bool off;
	uint64_t taken, taken_ns;
	uint32_t seed;
	struct calls_estimate *estimates;
	size_t estimates_cnt;
};

int bursts__new(const struct budget_inputs *in, struct bursts **out)
{
	struct bursts *b = calloc(1, sizeof(*b));

	if (!b || rates__new(&b->rates)) {
		free(b);
		return -ENOMEM;
	}
	b->in = in;
	b->parts = 1;
	b->seed = 1;
	b->start_ran_ns = tracer__ran_ns(in->tracer);
	*out = b;
	return 0;
}

void bursts__free(struct bursts *b)
{
	if (!b)
		return;
	rates__free(b->rates);
	free(b->members);
	free(b->list);
	free(b->functions);
	free(b->calls);
	free(b->estimates);
	free(b);
}

/* Time that the target has run while it was traced. */
static uint64_t ran_ns(const struct bursts *b)
{
	uint64_t now = b->off ? b->off_since_ns : tracer__ran_ns(b->in->tracer);

	return now - b->start_ran_ns - b->off_ran_ns;
}

/* The same, without what bursts and windows have cost. */
static uint64_t own_ns(const struct bursts *b)
{
	uint64_t ran = ran_ns(b);

	return (double)ran > b->cost_ns ? ran - (uint64_t)b->cost_ns : 0;
}

int bursts__add(struct bursts *b, uint32_t function, double per_ns)
{
	const struct plan_function *f;
	struct function_probes probes;
	struct member *m;

	if (!b)
		return 0;
	f = &b->in->plan->functions[function];
	if (f->kind != PLAN_FUNCTION || tracer__is_refused(b->in->tracer, function))
		return 0;
	if (ARRAY_RESERVE(&b->members, b->cnt, &b->cap) || rates__add(b->rates, per_ns))
		return -ENOMEM;
	probes = call_cost__of(b->in->plan, f);
	m = &b->members[b->cnt++];
	*m = (struct member){
		.function = function,
		.count_ns = (double)probe_costs__passed(&b->in->costs, probes.entry),
		.call_ns = (double)probe_costs__call(&b->in->costs, probes.entry, probes.exit),
		.per_ns = per_ns,
		.ran_ns = own_ns(b),
	};
	return 0;
}

static double random_share(struct bursts *b)
{
	b->seed = b->seed * 1664525 + 1013904223;
	return (double)b->seed / 4294967296.0;
}

/* About so long: what the target does every so often must not keep step with looks. */
static uint64_t about(struct bursts *b, double ns)
{
	return (uint64_t)(ns * (0.75 + random_share(b) / 2));
}

/* Probes stay in as long as a debugger is there. */
static bool is_debugged(const struct bursts *b)
{
	for (size_t i = 0; i < b->in->target->processes_cnt; i++) {
		if (process__is_debugged(b->in->target->processes[i].pid))
			return true;
	}
	return false;
}

/* Hits of probes that are on their way in or out since the last time; returns what they have cost.
 */
static double charge_passed(struct bursts *b)
{
	double before_ns = b->cost_ns;

	for (size_t i = 0; i < b->cnt; i++) {
		struct member *m = &b->members[i];
		uint64_t passed = collector__passed(b->in->collector, m->function);

		b->cost_ns += (double)(passed - m->passed) * m->count_ns;
		m->passed = passed;
	}
	return b->cost_ns - before_ns;
}

static int list_add(struct bursts *b, size_t member)
{
	if (ARRAY_RESERVE(&b->list, b->list_cnt, &b->list_cap) ||
	    ARRAY_RESERVE(&b->functions, b->list_cnt, &b->functions_cap) ||
	    ARRAY_RESERVE(&b->calls, b->list_cnt, &b->calls_cap))
		return -ENOMEM;
	b->list[b->list_cnt++] = member;
	return 0;
}

static int by_function(const void *a, const void *b, void *ctx)
{
	const struct member *members = ctx;
	uint32_t f = members[*(const uint32_t *)a].function;
	uint32_t g = members[*(const uint32_t *)b].function;

	return f < g ? -1 : f > g;
}

/* Links are made by functions in order. */
static void list_sort(struct bursts *b)
{
	qsort_r(b->list, b->list_cnt, sizeof(*b->list), by_function, b->members);
	for (size_t i = 0; i < b->list_cnt; i++)
		b->functions[i] = b->members[b->list[i]].function;
}

/* A moment: the target's clock, and the calls of the list that were counted up to then. */
struct reading {
	uint64_t at_ns, ran_ns;
	double cost_ns; /* of the calls since the first reading; 0: it is that one */
};

/* calls[] are as of the first reading; `last`: then they become those since. */
static void read_counts(struct bursts *b, struct reading *r, bool first, bool last)
{
	for (int i = 0; i < READINGS; i++) {
		r->at_ns = now_ns();
		r->ran_ns = tracer__ran_ns(b->in->tracer);
		r->cost_ns = 0;
		for (size_t k = 0; k < b->list_cnt; k++) {
			const struct member *m = &b->members[b->list[k]];
			uint64_t calls = collector__surveyed(b->in->collector, m->function);

			if (first)
				b->calls[k] = calls;
			else
				r->cost_ns += (double)(calls - b->calls[k]) * m->count_ns;
		}
		if (now_ns() - r->at_ns < SKEW_NS)
			break;
	}
	for (size_t k = 0; last && k < b->list_cnt; k++)
		b->calls[k] = collector__surveyed(b->in->collector, b->functions[k]) - b->calls[k];
}

static void wait_step(void)
{
	const struct timespec step = {.tv_nsec = STEP_NS};

	nanosleep(&step, NULL);
}

struct by_thread {
	struct bursts *b;
	uint32_t *members; /* by function: which it is, plus 1 */
};

static void note_thread(uint32_t function, uint64_t thread, uint64_t calls, void *ctx)
{
	const struct by_thread *t = ctx;
	uint32_t member = function < t->b->in->plan->functions_cnt ? t->members[function] : 0;

	if (member)
		t->b->members[member - 1]
			.threads[(thread * 0x9e3779b97f4a7c15ull >> 32) % RATES_THREADS] +=
			(double)calls;
}

/* Which threads call which functions. */
static int note_threads(struct bursts *b)
{
	struct by_thread t = {b, calloc(b->in->plan->functions_cnt + 1, sizeof(*t.members))};

	if (!t.members)
		return -ENOMEM;
	for (size_t i = 0; i < b->cnt; i++) {
		t.members[b->members[i].function] = i + 1;
		memset(b->members[i].threads, 0, sizeof(b->members[i].threads));
	}
	collector__burst_calls(b->in->collector, note_thread, &t);
	for (size_t i = 0; i < b->cnt; i++)
		rates__set_threads(b->rates, i, b->members[i].threads);
	free(t.members);
	return 0;
}

/* *out = an estimate for each member. */
static int estimate(struct bursts *b, struct rate **out)
{
	int err = note_threads(b);

	*out = calloc(b->cnt + 1, sizeof(**out));
	if (!err)
		err = *out ? rates__estimate(b->rates, *out) : -ENOMEM;
	for (size_t i = 0; !err && i < b->cnt; i++)
		b->members[i].per_ns = (*out)[i].per_ns;
	return err;
}

/* Waits until the target has run for `ns`, or looks have cost `most_ns`; if it does not run, not
 * for long. */
static void watch(struct bursts *b, const struct reading *from, struct reading *to, uint64_t ns,
		  double most_ns)
{
	do {
		wait_step();
		read_counts(b, to, false, false);
	} while (to->cost_ns < most_ns &&
		 (to->at_ns - from->at_ns < ns ||
		  (to->ran_ns - from->ran_ns < ns && to->at_ns - from->at_ns < PATIENCE * ns)));
	read_counts(b, to, false, true);
}

/* The next functions in turn, as many as counting may cost; not those of which counting would take
 * much of the time, as it tells too little then, unless there are no others. Every third window is
 * for the same few: only what is counted again tells how far windows differ. */
static int list_counted(struct bursts *b)
{
	bool again = b->windows++ % 3 == 2;
	size_t cnt = again && b->cnt > AGAIN ? AGAIN : b->cnt;
	size_t *next = again ? &b->next_again : &b->next_counted;
	size_t tried = 0;
	double share = 0;

	b->list_cnt = 0;
	while (b->list_cnt < cnt && (!b->list_cnt || tried < cnt)) {
		size_t member = *next % cnt;
		double more = b->members[member].per_ns * b->members[member].count_ns;

		if (b->list_cnt && share + more > WINDOW_SHARE)
			break;
		*next = member + 1;
		if (more > RATES_CHEAP && tried++ < cnt)
			continue;
		if (list_add(b, member))
			return -ENOMEM;
		share += more;
	}
	list_sort(b);
	return 0;
}

/* How long it may take until the next look of a kind, that has `part` of what looks may cost, if
 * this one has cost so much of the time that the target has run. */
static uint64_t rest_ns(struct bursts *b, double part, const struct reading *from,
			const struct reading *to, double cost_ns)
{
	double load = (double)(to->ran_ns - from->ran_ns) / (double)(to->at_ns - from->at_ns + 1);
	double share = part * BURSTS_SHARE * b->in->limit * (load > LEAST_LOAD ? load : LEAST_LOAD);

	return about(b, cost_ns / share);
}

static int take_window(struct bursts *b, uint64_t now)
{
	struct reading from = {0}, to = {0};
	int err = list_counted(b);
	double others_ns, ran_ns;
	uint64_t linking_ns;

	if (err)
		return err;
	err = tracer__survey(b->in->tracer, b->in->plan, b->in->target, b->functions, b->list_cnt);
	linking_ns = now_ns() - now;
	if (!err) {
		read_counts(b, &from, true, false);
		charge_passed(b);
		watch(b, &from, &to, WINDOW_NS, WINDOW_COST);
		others_ns = charge_passed(b);
		b->cost_ns += to.cost_ns;
		ran_ns = (double)(to.ran_ns - from.ran_ns) - others_ns;
		if (others_ns < MOST_OTHERS * ran_ns)
			rates__add_window(b->rates, b->list, b->calls, b->list_cnt, ran_ns,
					  to.cost_ns);
		log_debug("window of %zu functions: %.1f ms to make, %.1f ms long, %.1f ms of CPU "
			  "time, costs %.2f ms and %.2f, %lu calls of %s",
			  b->list_cnt, (double)(from.at_ns - now) / 1e6,
			  (double)(to.at_ns - from.at_ns) / 1e6,
			  (double)(to.ran_ns - from.ran_ns) / 1e6, to.cost_ns / 1e6,
			  others_ns / 1e6, (unsigned long)b->calls[0],
			  b->in->plan->functions[b->functions[0]].symbol);
	}
	tracer__take_out_survey(b->in->tracer);
	b->next_window_ns = now + rest_ns(b, 1 - BURST_PART, &from, &to,
					  to.cost_ns + LINKING_COST * (double)linking_ns);
	return err == -ENOMEM ? err : 0;
}

static int take_burst(struct bursts *b, uint64_t now)
{
	double calls_cost = 0;
	struct rate *rates = NULL;
	struct reading from = {0}, to = {0};
	uint64_t linking_ns, rest;
	int err = 0;

	b->list_cnt = 0;
	for (size_t i = b->next_part++ % b->parts; !err && i < b->cnt; i += b->parts)
		err = list_add(b, i);
	if (err)
		return err;
	list_sort(b);
	tracer__forget_bursts(b->in->tracer, now);
	err = tracer__put_in_burst(b->in->tracer, b->in->plan, b->in->target, b->functions,
				   b->list_cnt);
	linking_ns = now_ns() - now;
	if (!err) {
		read_counts(b, &from, true, false);
		tracer__record_burst(b->in->tracer, true);
		watch(b, &from, &to, b->in->burst_ns, BURST_COST);
		tracer__record_burst(b->in->tracer, false);
		b->ended_ns = now_ns();
		b->taken++;
		b->taken_ns += to.at_ns - from.at_ns;
	}
	tracer__take_out_burst(b->in->tracer);
	if (!err) {
		err = rates__add_burst(b->rates, b->list, b->calls, b->list_cnt);
		if (!err)
			err = estimate(b, &rates);
		free(rates);
		for (size_t k = 0; k < b->list_cnt; k++)
			calls_cost += (double)b->calls[k] * b->members[b->list[k]].call_ns;
	}
	b->cost_ns += calls_cost;
	rest = rest_ns(b, BURST_PART, &from, &to, calls_cost + LINKING_COST * (double)linking_ns);
	b->next_burst_ns = now + (rest > BURST_REST_NS ? rest : BURST_REST_NS);
	if (linking_ns > LINKING_NS && b->parts < b->cnt)
		b->parts *= 2;
	log_debug("burst of %zu functions: %.1f ms to make, %.1f ms long, costs %.1f ms",
		  b->list_cnt, linking_ns / 1e6, (double)(to.at_ns - from.at_ns) / 1e6,
		  calls_cost / 1e6);
	return err == -ENOMEM ? err : 0;
}

int bursts__look(struct bursts *b, uint64_t now_ns)
{
	if (!b || b->off || !b->cnt)
		return 0;
	b->next_burst_ns +=
		(uint64_t)(charge_passed(b) / (BURST_PART * BURSTS_SHARE * b->in->limit));
	if (b->ended_ns && now_ns > b->ended_ns + GONE_NS) {
		tracer__forget_bursts(b->in->tracer, b->ended_ns);
		b->ended_ns = 0;
	}
	if (is_debugged(b))
		return 0;
	if (now_ns >= b->next_burst_ns)
		return take_burst(b, now_ns);
	return now_ns >= b->next_window_ns ? take_window(b, now_ns) : 0;
}

uint64_t bursts__pace_ns(struct bursts *b)
{
	return b && b->cnt && !b->off ? about(b, PACE_NS) : 0;
}

void bursts__off(struct bursts *b)
{
	if (!b || b->off)
		return;
	b->off_since_ns = tracer__ran_ns(b->in->tracer);
	b->off = true;
}

void bursts__on(struct bursts *b)
{
	if (!b || !b->off)
		return;
	b->off_ran_ns += tracer__ran_ns(b->in->tracer) - b->off_since_ns;
	b->off = false;
}

int bursts__estimate(struct bursts *b)
{
	size_t functions_cnt = b ? b->in->plan->functions_cnt : 0;
	struct calls_estimate *of;
	struct rate *rates;
	uint64_t ran;
	int err;

	if (!b || !b->cnt)
		return 0;
	err = estimate(b, &rates);
	of = calloc(functions_cnt + 1, sizeof(*of));
	if (!err && !of)
		err = -ENOMEM;
	ran = own_ns(b);
	for (size_t i = 0; !err && i < b->cnt; i++) {
		const struct member *m = &b->members[i];
		double calls = rates[i].per_ns * (double)(ran - m->ran_ns);

		of[m->function] = (struct calls_estimate){calls, calls * calls * rates[i].variance};
	}
	free(rates);
	if (!err)
		err = collector__set_estimates(b->in->collector, of, functions_cnt);
	free(of);
	return err;
}

void bursts__account(const struct bursts *b, struct profile *p)
{
	if (!b)
		return;
	p->accounting.bursts = b->taken;
	p->accounting.burst_ns = b->taken_ns;
}
