// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/bursts.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/tracer.h"
#include "budget/call_cost.h"
#include "budget/inputs.h"
#include "budget/late.h"
#include "rates/rates.h"
#include "budget/turns.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define MS 1000000ull

#define PACE_NS	     (60 * MS)	/* from look to look, about */
#define STEP_NS	     (MS / 2)	/* of waiting */
#define PATIENCE     5		/* a look at an idle target lasts so many times as long, at most */
#define WINDOW_NS    (6 * MS)	/* a window */
#define WINDOW_COST  (3 * MS)	/* that ends a window which costs more than was expected */
#define WINDOW_SHARE 0.1	/* of the target's own CPU time: what counting may cost in it */
#define WINDOW_MOST  32		/* functions */
#define DEAR	     2		/* a function that takes more is counted only if all do */
#define AGAIN	     2		/* functions that are counted more often than the others, */
#define EVERY	     3		/* in each window of so many, */
#define AGAIN_LEAST  0.01	/* if it costs so much */
#define MOST_OTHERS  0.01	/* a window in which others' probes cost more is none */
#define BURST_PART   0.5	/* of what bursts and windows may cost, for bursts */
#define BURST_COST   (50 * MS)	/* that ends a burst, by entries alone: many threads */
#define BURST_PROBES 8000	/* in all processes: functions with more have bursts in turns */
#define REST_NS	     (300 * MS) /* from burst to burst, at least: links take long to be closed */
#define GONE_NS	     (300 * MS) /* links that were closed are gone after this */
#define PROBE_NS     8000	/* of the target's time, to put a probe in and to take it out */
#define COLDER	     1.15	/* a hit costs so many times as much as in calibration */
#define SKEW_NS	     (MS / 10)	/* counts and clock are read within this, or once more */
#define READINGS     20

/* A function that is dropped, or was. */
struct member {
	uint32_t function;
	bool exact;		  /* it is not dropped any more */
	uint32_t probes;	  /* in a burst */
	double count_ns, call_ns; /* what counting a call costs, and recording it */
	double per_ns;		  /* calls in a ns of own CPU time, as was estimated last */
	double dropped_per_ns;	  /* the same, as it was dropped */
	uint64_t counted;	  /* windows */
	uint64_t ran_ns;	  /* own CPU time of the target before it was dropped */
	uint64_t passed;	  /* calls that were passed over, as seen last */
	double threads[RATES_THREADS];
	/* What is estimated of earlier times when it was dropped. */
	double before, before_variance;
	struct late late;
};

struct bursts {
	const struct budget_inputs *in;
	struct rates *rates;
	struct member *members;
	size_t cnt, cap;
	size_t dropped; /* of them, now */
	/* By function: which of the members it is, from 1 on; 0: none. */
	uint32_t *places;
	size_t places_cnt;
	/* The functions of a look, by member and by their number in the plan; and their calls. */
	uint32_t *list, *functions;
	uint64_t *calls;
	size_t list_cnt, list_cap, functions_cap, calls_cap;
	size_t next_burst;
	double cost_ns; /* of all bursts and windows, to the target */
	struct turns bursts, windows;
	struct turns_seen seen;
	uint64_t ended_ns; /* the last burst; 0: it is forgotten */
	uint64_t start_ran_ns, off_ran_ns, off_since_ns;
	uint64_t charged_ran_ns; /* how long the target had run as hits were charged last */
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
	b->bursts.share = BURST_PART * BURSTS_SHARE * in->limit;
	b->windows.share = (1 - BURST_PART) * BURSTS_SHARE * in->limit;
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
	free(b->places);
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

void bursts__start(struct bursts *b)
{
	if (!b)
		return;
	b->start_ran_ns = tracer__ran_ns(b->in->tracer);
	turns__start(&b->seen, b->in->tracer);
	for (size_t i = 0; i < b->cnt; i++)
		b->members[i].ran_ns = 0;
}

static struct member *find_member(const struct bursts *b, uint32_t function)
{
	return b && function < b->places_cnt && b->places[function]
		       ? &b->members[b->places[function] - 1]
		       : NULL;
}

/* The newest member is of this function. */
static int note_place(struct bursts *b, uint32_t function)
{
	size_t cnt = b->in->plan->functions_cnt;
	uint32_t *grown;

	if (b->places_cnt < cnt) {
		grown = reallocarray(b->places, cnt, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + b->places_cnt, 0, (cnt - b->places_cnt) * sizeof(*grown));
		b->places = grown;
		b->places_cnt = cnt;
	}
	b->places[function] = b->cnt;
	return 0;
}

/* Of the calls while it was dropped only those from now on are the newest ones. */
static void begin_member(struct bursts *b, struct member *m, double per_ns)
{
	m->exact = false;
	m->per_ns = m->dropped_per_ns = per_ns;
	m->ran_ns = own_ns(b);
	m->late = (struct late){0};
	b->dropped++;
}

int bursts__add(struct bursts *b, uint32_t function, double per_ns)
{
	const struct plan_function *f;
	struct function_probes probes;
	struct member *m = find_member(b, function);

	if (m)
		begin_member(b, m, per_ns);
	if (!b || m)
		return 0;
	f = &b->in->plan->functions[function];
	if (f->kind != PLAN_FUNCTION || tracer__is_refused(b->in->tracer, function))
		return 0;
	if (ARRAY_RESERVE(&b->members, b->cnt, &b->cap) || rates__add(b->rates, per_ns))
		return -ENOMEM;
	probes = call_cost__in_burst(b->in->plan, f);
	m = &b->members[b->cnt++];
	*m = (struct member){
		.function = function,
		.probes = 1 + (probes.exit == WIRE_COST_NONE ? 0 : f->exits_cnt),
		.count_ns = COLDER * (double)probe_costs__passed(&b->in->costs, probes.entry),
		.call_ns = (double)probe_costs__call(&b->in->costs, probes.entry, probes.exit),
	};
	begin_member(b, m, per_ns);
	return note_place(b, function);
}

double bursts__cost_ns(const struct bursts *b)
{
	return b ? b->cost_ns : 0;
}

double bursts__rate(const struct bursts *b, uint32_t function)
{
	const struct member *m = find_member(b, function);

	return m && !m->exact ? late__rate(&m->late) : -1;
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

static void wait_ns(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
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
	/* Who wakes often disturbs those who share processors with the target. */
	wait_ns(ns / 2);
	do {
		wait_ns(STEP_NS);
		read_counts(b, to, false, false);
	} while (to->cost_ns < most_ns &&
		 (to->at_ns - from->at_ns < ns ||
		  (to->ran_ns - from->ran_ns < ns && to->at_ns - from->at_ns < PATIENCE * ns)));
	read_counts(b, to, false, true);
}

/* The share of the target's own time that counting a member takes, by the last look at it. Bursts,
 * of which the own time can hardly be told, make of a function that was dropped at 14,000,000
 * calls/s one of 1,000,000: until a window has counted it, it is taken to be as dear as it was. */
static double counting_share(const struct member *m)
{
	double rate = late__last(&m->late);

	rate = rate < 0 ? m->per_ns : rate;
	if (!m->counted && rate < m->dropped_per_ns)
		rate = m->dropped_per_ns;
	return rate * m->count_ns;
}

/* Those of which counting would take much of the time tell too little: last. */
static int by_turn(const void *a, const void *b, void *ctx)
{
	const struct member *members = ctx;
	const struct member *m = &members[*(const uint32_t *)a];
	const struct member *n = &members[*(const uint32_t *)b];
	double c = counting_share(m), d = counting_share(n);

	if ((c > DEAR) != (d > DEAR))
		return c > DEAR ? 1 : -1;
	if (m->counted != n->counted)
		return m->counted < n->counted ? -1 : 1;
	return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : 1;
}

/* One of the same few in turn, if there is one. */
static int list_again(struct bursts *b)
{
	uint32_t few[AGAIN];
	size_t cnt = 0;

	for (size_t i = 0; i < b->cnt && cnt < AGAIN; i++) {
		double share = counting_share(&b->members[i]);

		if (!b->members[i].exact && share >= AGAIN_LEAST && share <= WINDOW_SHARE)
			few[cnt++] = i;
	}
	return cnt ? list_add(b, few[b->windows.cnt / EVERY % cnt]) : 0;
}

/* The functions of a window: those that were counted least, as many as counting may cost. Every
 * third window is for the same few: only what is counted again tells how far windows differ. */
static int list_counted(struct bursts *b)
{
	double share = 0;
	size_t cnt;
	int err = 0;

	b->list_cnt = 0;
	if (b->windows.cnt % EVERY == EVERY - 1)
		err = list_again(b);
	if (err || b->list_cnt) {
		list_sort(b);
		return err;
	}
	for (size_t i = 0; !err && i < b->cnt; i++)
		err = b->members[i].exact ? 0 : list_add(b, i);
	if (err)
		return err;
	cnt = b->list_cnt;
	qsort_r(b->list, cnt, sizeof(*b->list), by_turn, b->members);
	for (b->list_cnt = 0; b->list_cnt < cnt && b->list_cnt < WINDOW_MOST; b->list_cnt++) {
		share += counting_share(&b->members[b->list[b->list_cnt]]);
		if (b->list_cnt && share > WINDOW_SHARE)
			break;
	}
	list_sort(b);
	return 0;
}

/* Each probe is put into all of them. */
static double processes_of(const struct bursts *b)
{
	size_t processes = b->in->target->processes_cnt;

	return processes ? (double)processes : 1;
}

/* Of what making and closing the links of the list's functions takes, so much is the target's. */
static double linking_cost(const struct bursts *b, double probes)
{
	return probes * PROBE_NS * processes_of(b);
}

/* A look has been taken: when the next one is due. */
static void turn_taken(struct bursts *b, struct turns *t, const struct look *l)
{
	double pause_ns = turns__pause_ns(t, b->in->tracer, l);

	/* One that came early, with a burst, is made up for. */
	t->next_ran_ns =
		(t->next_ran_ns > l->ran_ns ? t->next_ran_ns : l->ran_ns) + about(b, pause_ns);
}

static double cpus_busy(const struct reading *from, const struct reading *to)
{
	return to->at_ns > from->at_ns
		       ? (double)(to->ran_ns - from->ran_ns) / (double)(to->at_ns - from->at_ns)
		       : 0;
}

/* Takes the counts of a window, from one reading to the other. */
static void count_window(struct bursts *b, const struct reading *from, const struct reading *to)
{
	double others_ns = charge_passed(b);
	double ran_ns = (double)(to->ran_ns - from->ran_ns) - others_ns;

	b->cost_ns += to->cost_ns;
	if (others_ns < MOST_OTHERS * ran_ns)
		rates__add_window(b->rates, b->list, b->calls, b->list_cnt, ran_ns, to->cost_ns);
	for (size_t k = 0; k < b->list_cnt; k++) {
		b->members[b->list[k]].counted++;
		late__note(&b->members[b->list[k]].late, to->at_ns, b->calls[k],
			   ran_ns - to->cost_ns);
	}
	log_debug("window of %zu functions: %.1f ms long, %.1f ms of CPU time, costs %.2f ms and "
		  "%.2f, %lu calls of %s",
		  b->list_cnt, (double)(to->at_ns - from->at_ns) / 1e6,
		  (double)(to->ran_ns - from->ran_ns) / 1e6, to->cost_ns / 1e6, others_ns / 1e6,
		  (unsigned long)b->calls[0], b->in->plan->functions[b->functions[0]].symbol);
}

static int take_window(struct bursts *b)
{
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in->tracer, ran_ns(b));
	int err = list_counted(b);

	if (err)
		return err;
	err = tracer__survey(b->in->tracer, b->in->plan, b->in->target, b->functions, b->list_cnt);
	look__made(&look, b->in->tracer);
	if (!err) {
		read_counts(b, &from, true, false);
		charge_passed(b);
		watch(b, &from, &to, WINDOW_NS, WINDOW_COST);
		count_window(b, &from, &to);
	}
	tracer__take_out_survey(b->in->tracer);
	look.cpus = cpus_busy(&from, &to);
	look.cost_ns = to.cost_ns + linking_cost(b, (double)b->list_cnt);
	turn_taken(b, &b->windows, &look);
	return err == -ENOMEM ? err : 0;
}

/* All of them, or as many in turn as there may be probes. */
static int list_burst(struct bursts *b, double *probes)
{
	double most = BURST_PROBES / processes_of(b);
	int err = 0;

	b->list_cnt = 0;
	*probes = 0;
	while (!err && b->list_cnt < b->dropped && (!b->list_cnt || *probes < most)) {
		size_t member = b->next_burst++ % b->cnt;

		if (b->members[member].exact)
			continue;
		*probes += b->members[member].probes;
		err = list_add(b, member);
	}
	if (b->list_cnt == b->dropped)
		b->next_burst = 0;
	if (!err)
		list_sort(b);
	return err;
}

/* So many probes will be in the first burst; later ones are due by what bursts have cost. */
static double first_burst_probes(const struct bursts *b)
{
	double probes = 0, most = BURST_PROBES / processes_of(b);

	if (b->bursts.cnt)
		return 0;

	for (size_t i = 0; i < b->cnt && probes < most; i++)
		probes += b->members[i].exact ? 0 : b->members[i].probes;
	return probes;
}

static void note_burst(struct bursts *b, double ran_ns, double cost_ns)
{
	double own_ns = late__own_in_burst(ran_ns, cost_ns);

	for (size_t k = 0; k < b->list_cnt; k++)
		late__note(&b->members[b->list[k]].late, b->ended_ns, b->calls[k], own_ns);
}

/* Takes the counts of a burst; returns what its calls have cost. */
static int count_burst(struct bursts *b, bool after_window, double *cost_ns)
{
	struct rate *rates = NULL;
	int err = rates__add_burst(b->rates, b->list, b->calls, b->list_cnt, after_window);

	if (!err)
		err = estimate(b, &rates);
	free(rates);
	*cost_ns = 0;
	for (size_t k = 0; k < b->list_cnt; k++)
		*cost_ns += (double)b->calls[k] * b->members[b->list[k]].call_ns;
	return err;
}

static int take_burst(struct bursts *b, uint64_t now, bool after_window)
{
	double calls_ns = 0, probes;
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in->tracer, ran_ns(b));
	int err = list_burst(b, &probes);

	if (err)
		return err;
	tracer__forget_bursts(b->in->tracer, now);
	err = tracer__put_in_burst(b->in->tracer, b->in->plan, b->in->target, b->functions,
				   b->list_cnt);
	look__made(&look, b->in->tracer);
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
	if (!err)
		err = count_burst(b, after_window, &calls_ns);
	if (!err)
		note_burst(b, (double)(to.ran_ns - from.ran_ns), calls_ns);
	b->cost_ns += calls_ns;
	look.cpus = cpus_busy(&from, &to);
	look.cost_ns = calls_ns + linking_cost(b, probes);
	turn_taken(b, &b->bursts, &look);
	b->bursts.next_ns = now + REST_NS;
	log_debug("burst of %zu functions: %.1f ms to make, %.1f ms long, %.1f ms of CPU time, "
		  "costs %.1f ms",
		  b->list_cnt, (double)look.made_ns / 1e6, (double)(to.at_ns - from.at_ns) / 1e6,
		  (double)(to.ran_ns - from.ran_ns) / 1e6, calls_ns / 1e6);
	return err == -ENOMEM ? err : 0;
}

/* Charges hits of probes on their way out. Returns whether these cost so much that a window would
 * be worth nothing: those of what was dropped a moment ago, which take some 100 ms to go. */
static bool probes_are_going(struct bursts *b)
{
	uint64_t ran = ran_ns(b), since_ns = ran - b->charged_ran_ns;
	double passed_ns = charge_passed(b);

	b->bursts.cost_ns += passed_ns;
	b->charged_ran_ns = ran;
	return passed_ns > MOST_OTHERS * (double)since_ns;
}

/* Whether a window may be taken though it is not due: not much earlier than it would be. */
static bool window_fits(struct bursts *b, uint64_t at_ns)
{
	double ran = (double)ran_ns(b);

	return b->windows.cnt ? (double)b->windows.next_ran_ns <= ran + turns__usual_ns(&b->windows)
			      : turns__due(&b->windows, &b->seen, b->in->tracer, ran_ns(b), at_ns,
					   WINDOW_MOST);
}

/* A burst, and right before it a window, which tells how often functions are called at that time:
 * the mix of what is called may change every second. */
static int take_pair(struct bursts *b, uint64_t at_ns, bool going)
{
	/* Probes that are being taken out, of the last burst or dropped ones, slow the target down.
	 */
	bool window = !b->ended_ns && !going && window_fits(b, at_ns);
	int err = window ? take_window(b) : 0;

	return err ? err : take_burst(b, at_ns, window);
}

int bursts__look(struct bursts *b, uint64_t now_ns)
{
	bool going;

	if (!b || b->off || !b->dropped)
		return 0;
	going = probes_are_going(b);
	if (b->ended_ns && now_ns > b->ended_ns + GONE_NS) {
		tracer__forget_bursts(b->in->tracer, b->ended_ns);
		b->ended_ns = 0;
	}
	if (turns__due(&b->bursts, &b->seen, b->in->tracer, ran_ns(b), now_ns,
		       first_burst_probes(b)))
		return is_debugged(b) ? 0 : take_pair(b, now_ns, going);
	/* Probes that are being taken out slow the target down, ten times for moments. */
	if (b->ended_ns || going)
		return 0;
	if (!turns__due(&b->windows, &b->seen, b->in->tracer, ran_ns(b), now_ns, WINDOW_MOST))
		return 0;
	return is_debugged(b) ? 0 : take_window(b);
}

uint64_t bursts__pace_ns(struct bursts *b)
{
	return b && b->dropped && !b->off ? about(b, PACE_NS) : 0;
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

/* Calls of a member since it was dropped last, up to now. */
static double calls_since(const struct bursts *b, const struct member *m, const struct rate *rate)
{
	uint64_t ran = own_ns(b);

	/* What is taken off for looks may be more than the target has run since. */
	return !m->exact && ran > m->ran_ns ? rate->per_ns * (double)(ran - m->ran_ns) : 0;
}

/* The errors of one rate, taken twice, do not level out. */
static double add_variances(double a, double b)
{
	return a + b + 2 * sqrt(a * b);
}

int bursts__remove(struct bursts *b, const uint32_t *functions, size_t cnt)
{
	struct rate *rates = NULL;
	int err = b && b->cnt ? estimate(b, &rates) : 0;

	for (size_t i = 0; !err && i < cnt; i++) {
		struct member *m = find_member(b, functions[i]);
		double calls;

		if (!m || m->exact)
			continue;
		calls = calls_since(b, m, &rates[m - b->members]);
		m->before += calls;
		m->before_variance = add_variances(m->before_variance,
						   calls * calls * rates[m - b->members].variance);
		m->exact = true;
		b->dropped--;
	}
	free(rates);
	return err;
}

int bursts__estimate(struct bursts *b)
{
	size_t functions_cnt = b ? b->in->plan->functions_cnt : 0;
	struct calls_estimate *of;
	struct rate *rates;
	int err;

	if (!b || !b->cnt)
		return 0;
	err = estimate(b, &rates);
	of = calloc(functions_cnt + 1, sizeof(*of));
	if (!err && !of)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < b->cnt; i++) {
		const struct member *m = &b->members[i];
		double calls = calls_since(b, m, &rates[i]);

		of[m->function] = (struct calls_estimate){
			m->before + calls,
			add_variances(m->before_variance, calls * calls * rates[i].variance)};
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
