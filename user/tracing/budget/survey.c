// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/survey.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/costs.h"
#include "attach/tracer.h"
#include "budget/budget.h"
#include "budget/cpu_clock.h"
#include "budget/forecast.h"
#include "budget/inputs.h"
#include "collect/collector.h"
#include "looks/call_cost.h"
#include "looks/stand_ins.h"
#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"

#define MS 1000000ull

/* Turns of the first look: so many functions that putting probes in takes about this long, as what
 * is in already is hit meanwhile. */
#define FIRST_TURN 512
#define MIN_TURN   512
#define MAX_TURN   2048
#define TURN_NS	   (8 * MS)

#define MOST_NS	      (4000 * MS) /* the survey at most: what has had no turn then has none */
#define LOOK_NS	      (2 * MS)	  /* a turn, with all probes in, or more: see LOOKS_NS */
#define LOOKS_NS      (25 * MS)	  /* all turns together at least, with all probes in */
#define LOOK_COST_NS  (2 * MS)	  /* a turn ends once it has cost so much */
#define AGAIN_NS      (60 * MS)	  /* the second look, with all probes in */
#define AGAIN_COST_NS (10 * MS)	  /* the second look ends once it has cost so much */
#define AGAIN_SHARE   0.5	  /* what it may cost, of the target's own CPU time */
#define AGAIN_MOST_NS (1000 * MS) /* after so long there is none any more */
#define STEP_NS	      (MS / 2)
#define WAIT_NS	      (40 * MS) /* longer at most, for those that stand for all to run so long */

#define CLOCK_STEP_NS (2 * MS) /* clocks of CPU time are late by this, on average */

#define CALM 0.25 /* of the budget: then a second look would change nothing */
#define UNSEEN                                                                            \
	0.25 /* of the budget: then it needs none of the functions that nobody has called \
	      */

/* A turn: what was seen while all of its probes were in. */
struct turn {
	uint32_t first, cnt; /* in the list */
	uint64_t took_ns;
	double cost_ns;
};

struct survey {
	const struct budget_inputs *in;
	struct stand_ins stand_ins;
	struct cpu_clock clock;
	uint64_t start_ns;
	struct forecast_function *functions; /* by function */
	uint64_t *before, *calls;	     /* by function */
	uint32_t *list;			     /* functions to count */
	uint32_t list_cnt;
	uint32_t next; /* from this function on there was no time to look */
	struct turn *turns;
	size_t turns_cnt;
	/* While all probes of a turn were in: */
	uint64_t looked_ns, cpu_ns;
	uint64_t counted_ns; /* of the CPU time that of the processes in which calls were counted */
};

static bool can_be_made(const struct budget_inputs *in)
{
	if (!in->surveys || !tracer__surveys(in->tracer))
		return false;
	/* Probes stay in as long as a debugger is there. */
	for (size_t i = 0; i < in->target->processes_cnt; i++) {
		if (process__is_debugged(in->target->processes[i].pid))
			return false;
	}
	return in->target->processes_cnt != 0;
}

/* Whether it would be probed. */
static bool has_entry(const struct budget_inputs *in, uint32_t function)
{
	return plan_function__has_probe(&in->plan->functions[function]) &&
	       !tracer__is_refused(in->tracer, function);
}

/* No process stands for all where most of the time is that of others, such as children. */
static int choose_processes(struct survey *s)
{
	uint64_t ran_ns, all_ns = cpu_clock__read(&s->clock, s->in, false);
	int err = stand_ins__choose(&s->stand_ins, s->in->plan, s->in->target, &ran_ns);

	all_ns = cpu_clock__read(&s->clock, s->in, false) - all_ns;
	if (ran_ns < all_ns / 2)
		stand_ins__clear(&s->stand_ins);
	return err;
}

static int survey_init(struct survey *s, const struct budget_inputs *in)
{
	const struct plan *p = in->plan;
	size_t cnt = p->functions_cnt;

	*s = (struct survey){.in = in};
	s->functions = calloc(cnt + 1, sizeof(*s->functions));
	s->before = calloc(cnt + 1, sizeof(*s->before));
	s->calls = calloc(cnt + 1, sizeof(*s->calls));
	s->list = calloc(cnt + 1, sizeof(*s->list));
	s->turns = calloc(cnt / MIN_TURN + 2, sizeof(*s->turns));
	if (!s->functions || !s->before || !s->calls || !s->list || !s->turns)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const struct plan_function *f = &p->functions[i];
		struct function_probes probes = call_cost__of(p, f);

		s->functions[i].count_ns = (double)probe_costs__passed(&in->costs, probes.entry);
		s->functions[i].trace_ns =
			(double)probe_costs__call(&in->costs, probes.entry, probes.exit);
		if (has_entry(in, i))
			s->list[s->list_cnt++] = i;
	}
	s->start_ns = now_ns();
	cpu_clock__read(&s->clock, in, true);
	return choose_processes(s);
}

static void survey_fini(struct survey *s)
{
	cpu_clock__clear(&s->clock);
	stand_ins__clear(&s->stand_ins);
	free(s->functions);
	free(s->before);
	free(s->calls);
	free(s->list);
	free(s->turns);
}

/* The cost of counting since `before` was set. */
static double counting_ns(const struct survey *s, const struct turn *t)
{
	double sum = 0;

	for (uint32_t i = t->first; i < t->first + t->cnt; i++) {
		uint32_t f = s->list[i];

		sum += (double)(collector__surveyed(s->in->collector, f) - s->before[f]) *
		       s->functions[f].count_ns;
	}
	return sum;
}

/* Whether a look has been long enough: `ns`, in which those that stand for all have run. */
static bool is_over(struct survey *s, uint64_t took_ns, uint64_t began_cpu_ns, uint64_t ns)
{
	if (took_ns < ns || !s->stand_ins.chosen)
		return took_ns >= ns;
	return took_ns >= ns + WAIT_NS || stand_ins__cpu_ns(&s->stand_ins) >= began_cpu_ns + ns;
}

/* Waits with all probes of the turn in, for `ns`, or until that has cost `cost_ns`. */
static void watch_turn(struct survey *s, struct turn *t, uint64_t ns, double cost_ns)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	uint64_t began = now_ns(), cpu_ns = cpu_clock__read(&s->clock, s->in, false);
	uint64_t counted_ns = stand_ins__cpu_ns(&s->stand_ins);

	for (uint32_t i = t->first; i < t->first + t->cnt; i++)
		s->before[s->list[i]] = collector__surveyed(s->in->collector, s->list[i]);
	do {
		nanosleep(&step, NULL);
		t->took_ns = now_ns() - began;
		t->cost_ns = counting_ns(s, t);
	} while (!is_over(s, t->took_ns, counted_ns, ns) && t->cost_ns < cost_ns);
	for (uint32_t i = t->first; i < t->first + t->cnt; i++) {
		uint32_t f = s->list[i];

		s->calls[f] = collector__surveyed(s->in->collector, f) - s->before[f];
	}
	s->looked_ns += t->took_ns;
	cpu_ns = cpu_clock__read(&s->clock, s->in, false) - cpu_ns;
	counted_ns = s->stand_ins.chosen ? stand_ins__cpu_ns(&s->stand_ins) - counted_ns : cpu_ns;
	s->cpu_ns += cpu_ns;
	s->counted_ns += counted_ns;
}

/* Counts functions of the list, all at once. Returns 0 or -errno. */
static int take_turn(struct survey *s, struct turn *t, uint64_t ns, double cost_ns)
{
	const struct tracer_survey survey = {
		.functions = s->list + t->first, .cnt = t->cnt, .processes = s->stand_ins.chosen};
	int err = tracer__survey(s->in->tracer, s->in->plan, s->in->target, &survey);

	if (!err)
		watch_turn(s, t, ns, cost_ns);
	tracer__take_out_survey(s->in->tracer);
	return err;
}

/* The CPUs that CPU time had in looks has kept busy, on average; too many rather than too few. */
static double load_of(const struct survey *s, uint64_t cpu_ns)
{
	return s->looked_ns ? (double)(cpu_ns + CLOCK_STEP_NS) / (double)s->looked_ns : 0;
}

/* From what was counted in a turn to what is called in a ns of the target's own. */
static void judge_turn(struct survey *s, const struct turn *t)
{
	double cpu_ns = load_of(s, s->counted_ns) * (double)t->took_ns;
	double own_ns = forecast__own_ns(cpu_ns, t->cost_ns);

	for (uint32_t i = t->first; i < t->first + t->cnt; i++) {
		struct forecast_function *f = &s->functions[s->list[i]];

		f->rate = own_ns > 0 ? (double)s->calls[s->list[i]] / own_ns : 0;
	}
}

/* All functions, in turns. */
static int look_at_all(struct survey *s)
{
	uint64_t ns = LOOK_NS;
	uint32_t size = FIRST_TURN, at = 0;
	int err = 0;

	if (s->list_cnt && LOOKS_NS * FIRST_TURN / s->list_cnt > ns)
		ns = LOOKS_NS / ((s->list_cnt + FIRST_TURN - 1) / FIRST_TURN);
	while (!err && at < s->list_cnt) {
		struct turn *t = &s->turns[s->turns_cnt++];
		uint64_t began = now_ns(), took_ns;

		*t = (struct turn){
			.first = at,
			.cnt = s->list_cnt - at < size ? s->list_cnt - at : size,
		};
		err = take_turn(s, t, ns, LOOK_COST_NS);
		at += t->cnt;
		took_ns = now_ns() - began - t->took_ns;
		if (now_ns() - s->start_ns >= MOST_NS)
			break;
		size = took_ns ? (uint32_t)(size * TURN_NS / took_ns) : MAX_TURN;
		size = size < MIN_TURN ? MIN_TURN : size > MAX_TURN ? MAX_TURN : size;
	}
	s->next = at < s->list_cnt ? s->list[at] : s->in->plan->functions_cnt;
	for (size_t i = 0; i < s->turns_cnt; i++)
		judge_turn(s, &s->turns[i]);
	return err;
}

/* Whether the second look does without the functions that were not called at all, `cnt` of them,
 * which may cost `unseen`. What is dropped in the run is linked anew in all processes, and what the
 * survey has not met may get no probes at all where they are many: so those are looked at. */
static bool spares_uncalled(const struct survey *s, double unseen, size_t cnt)
{
	return unseen <= UNSEEN * s->in->limit ||
	       (s->in->target->processes_cnt == 1 &&
		forecast__leaves(unseen, load_of(s, s->cpu_ns), cnt));
}

/* All but the dearest, together. A turn of some milliseconds may have met a moment that is not like
 * others; and what is called a hundred times a second is too much for a server that calls a
 * thousand functions as often, but hardly shows in a turn. Where that can be ruled out, or costs
 * less than to look, those that were not called at all are spared: they are most. */
static int look_again(struct survey *s)
{
	const struct plan *p = s->in->plan;
	int64_t cnt = forecast__again(s->functions, p->functions_cnt, AGAIN_SHARE, s->list);
	double unseen = forecast__unseen(s->functions, s->calls, p->functions_cnt);
	size_t uncalled = 0;
	struct turn t = {0};
	bool spares;
	int err;

	for (int64_t i = 0; i < cnt; i++)
		uncalled += has_entry(s->in, s->list[i]) &&
			    !collector__surveyed(s->in->collector, s->list[i]);
	spares = spares_uncalled(s, unseen, uncalled);
	for (int64_t i = 0; i < cnt; i++) {
		uint32_t f = s->list[i];

		if (has_entry(s->in, f) && (!spares || collector__surveyed(s->in->collector, f)))
			s->list[t.cnt++] = f;
	}
	log_debug("survey: what was not called at all may cost %.2f %%; %u functions are counted "
		  "once more",
		  100 * unseen, t.cnt);
	if (cnt <= 0 || !t.cnt)
		return cnt < 0 ? (int)cnt : 0;
	err = take_turn(s, &t, AGAIN_NS, AGAIN_COST_NS);
	if (!err)
		judge_turn(s, &t);
	return err;
}

/* Lists functions that were called at all, in looks or while probes went in and out. A function
 * that there was no time to look at counts as called. NULL: out of memory. */
static bool *list_called(const struct survey *s)
{
	size_t cnt = s->in->plan->functions_cnt;
	bool *called = calloc(cnt + 1, sizeof(*called));

	for (size_t i = 0; called && i < cnt; i++)
		called[i] = collector__surveyed(s->in->collector, i) || i >= s->next;
	return called;
}

int survey__make(const struct budget_inputs *in, struct survey_result *out)
{
	struct survey s;
	double share = 0;
	int err;

	if (!can_be_made(in))
		return 0;
	err = survey_init(&s, in);
	if (!err)
		err = look_at_all(&s);
	if (!err) {
		share = forecast__share(s.functions, in->plan->functions_cnt);
		if (share > CALM * in->limit && now_ns() < s.start_ns + AGAIN_MOST_NS)
			err = look_again(&s);
	}
	tracer__end_survey(in->tracer);
	if (!err) {
		out->called = list_called(&s);
		err = out->called ? 0 : -ENOMEM;
		if (share * load_of(&s, s.cpu_ns) > BUDGET_SPARED) {
			out->forecast = s.functions;
			s.functions = NULL;
		}
	}
	out->load = load_of(&s, s.cpu_ns);
	out->took_ns = now_ns() - s.start_ns;
	log_debug("survey: %u functions in %zu turns, %.0f ms; tracing all of them would cost "
		  "%.1f %%, of %.2f CPUs",
		  s.list_cnt, s.turns_cnt, out->took_ns / 1e6, 100 * share, out->load);
	survey_fini(&s);
	if (err)
		log_debug("survey: %s", strerror(-err));
	/* An obstacle to the survey's probes is one to the run's, too, and is told there. */
	return err == -ENOMEM ? err : 0;
}

void survey_result__clear(struct survey_result *r)
{
	free(r->called);
	free(r->forecast);
}
