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
#include "budget/counting.h"
#include "budget/inputs.h"
#include "budget/stand_ins.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "looks/late.h"
#include "looks/run_clock.h"
#include "looks/turns.h"
#include "plan/exit_strategy.h"
#include "plan/plan.h"
#include "rates/rates.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"
#include "util/clock.h"
#include "util/log.h"

#define MS 1000000ull

#define PACE_NS	     (60 * MS) /* from look to look, about */
#define STEP_NS	     (MS / 2)  /* of waiting */
#define PATIENCE     5	       /* a look at an idle target lasts so many times as long, at most */
#define WINDOW_NS    (6 * MS)  /* a window */
#define WINDOW_COST  (3 * MS)  /* that ends a window which costs more than was expected */
#define EVERY	     3	       /* in one window of so many a function is counted again */
#define MOST_OTHERS  0.01      /* a window in which others' probes cost more is none */
#define BURST_PART   0.5       /* of what bursts and windows may cost, for bursts */
#define EDGE_PART    0.8 /* of a burst's length: so long threads may take to be in a system call */
#define EDGE_LEAST   (MS / 2)
#define EDGE_CPUS    4		/* the same on so many busy CPUs, and less on more */
#define QUIET_STEPS  3		/* of waiting, without a call: a burst is over */
#define BURST_COST   (50 * MS)	/* that ends a burst, by entries alone: many threads */
#define BURST_PROBES 8000	/* in all processes: functions with more have bursts in turns */
#define REST_NS	     (300 * MS) /* from burst to burst, at least: links take long to be closed */
#define GONE_NS	     (300 * MS) /* links that were closed are gone after this */
#define COLDER	     1.15	/* a hit costs so many times as much as in calibration */
#define PATIENCE_ONE 20		/* the same where one process stands for all */
#define TELLING	     3		/* looks tell how far they deviate: they are not held back before */
#define LONGER	     2		/* a window may last so many times as long to be balanced */
#define SKEW_NS	     (MS / 5)	/* counts and clocks are read within this, or once more */
#define READINGS     10

struct bursts {
	const struct budget_inputs *in;
	struct rates *rates;
	struct member *members;
	size_t cnt, cap;
	size_t dropped; /* of them, now */
	/* By function: which of the members it is, from 1 on; 0: none. */
	uint32_t *places;
	size_t places_cnt;
	/* The functions of a look, by member and by their number in the plan; and their calls, and
	 * how many had been counted when these were read last. */
	uint32_t *list, *functions;
	uint64_t *calls, *read;
	size_t list_cnt, list_cap, functions_cap, calls_cap, read_cap;
	size_t next_burst;
	struct stand_ins stand_ins; /* of the burst that is being taken; else none is chosen */
	uint64_t *clocks;	    /* by process: its CPU time as one was chosen last */
	size_t clocks_cnt;
	uint64_t drawn_ran_ns; /* how long the target had run then */
	double cost_ns;	       /* of all bursts and windows, to the target */
	struct turns bursts, windows;
	struct turns_seen seen;
	uint64_t ended_ns; /* the last burst; 0: it is forgotten */
	uint64_t edge_ns;  /* for so long threads may take to be in a system call as one begins */
	struct run_clock clock;
	uint64_t charged_ran_ns; /* how long the target had run as hits were charged last */
	uint64_t taken, taken_ns;
	uint32_t seed;
	bool held_back; /* looks may cost less for now */
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
	b->edge_ns = (uint64_t)(EDGE_PART * (double)in->burst_ns);
	b->seed = 1;
	run_clock__start(&b->clock, in->tracer);
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
	free(b->read);
	free(b->clocks);
	free(b);
}

static uint64_t ran_ns(const struct bursts *b)
{
	return run_clock__ran_ns(&b->clock);
}

/* Now, without what bursts and windows have cost. */
static struct moment own_moment(struct bursts *b)
{
	struct moment now = run_clock__now(&b->clock);

	now.ran_ns -= (double)now.ran_ns > b->cost_ns ? (uint64_t)b->cost_ns : now.ran_ns;
	return now;
}

void bursts__start(struct bursts *b)
{
	if (!b)
		return;
	run_clock__start(&b->clock, b->in->tracer);
	turns__start(&b->seen, b->in->tracer);
	b->drawn_ran_ns = 0;
	for (size_t i = 0; i < b->cnt; i++)
		b->members[i].dropped = (struct moment){0};
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
	int err = ARRAY_GROW(&b->places, &b->places_cnt, b->in->plan->functions_cnt);

	if (!err)
		b->places[function] = b->cnt;
	return err;
}

/* The function was dropped just now: its calls from now on tell its rate. */
static void begin_member(struct bursts *b, struct member *m, double per_ns)
{
	m->exact = false;
	m->per_ns = m->dropped_per_ns = per_ns;
	m->dropped = own_moment(b);
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
		.loops = f->loops_to_entry,
		.by_io = 0.5,
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
	    ARRAY_RESERVE(&b->calls, b->list_cnt, &b->calls_cap) ||
	    ARRAY_RESERVE(&b->read, b->list_cnt, &b->read_cap))
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
	struct tracer_io io; /* of the first and the last one */
	double cost_ns;	     /* of the calls since the first reading; 0: it is that one */
};

enum which { FIRST, BETWEEN, LAST };

/* calls[] are as of the first reading, and from the last one on those since. */
static void read_counts(struct bursts *b, struct reading *r, enum which which)
{
	for (int i = 0; i < READINGS; i++) {
		r->at_ns = now_ns();
		r->ran_ns = b->stand_ins.chosen ? stand_ins__cpu_ns(&b->stand_ins)
						: tracer__ran_ns(b->in->tracer);
		for (size_t k = 0; k < b->list_cnt; k++)
			b->read[k] = collector__surveyed(b->in->collector, b->functions[k]);
		if (which != BETWEEN)
			r->io = tracer__io(b->in->tracer);
		if (now_ns() - r->at_ns < SKEW_NS)
			break;
	}
	r->cost_ns = 0;
	for (size_t k = 0; k < b->list_cnt; k++) {
		uint64_t calls = which == FIRST ? 0 : b->read[k] - b->calls[k];

		r->cost_ns += (double)calls * b->members[b->list[k]].count_ns;
		if (which != BETWEEN)
			b->calls[k] = which == FIRST ? b->read[k] : calls;
	}
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

/* Notes which threads call which functions. */
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

/* CPU time, reads and writes of the target since a function was dropped. */
static struct lengths lengths_since(const struct member *m, const struct moment *now)
{
	struct moment since = moment__minus(*now, &m->dropped);

	/* The cost of looks, which is taken off, may be more than the target has run since. */
	return (struct lengths){
		.cpu_ns = now->ran_ns > m->dropped.ran_ns ? (double)since.ran_ns : 0,
		.reads = (double)since.io.reads,
		.writes = (double)since.io.writes,
	};
}

/* Sets members' rates; *out (NULL: not wanted) = for each, its calls since it was dropped last. */
static int estimate(struct bursts *b, struct calls_estimate **out)
{
	struct lengths *spans = calloc(b->cnt + 1, sizeof(*spans));
	struct rate *rates = calloc(b->cnt + 1, sizeof(*rates));
	struct calls_estimate *of = calloc(b->cnt + 1, sizeof(*of));
	struct moment now = own_moment(b);
	int err = spans && rates && of ? note_threads(b) : -ENOMEM;

	for (size_t i = 0; !err && i < b->cnt; i++)
		spans[i] = lengths_since(&b->members[i], &now);
	if (!err)
		err = rates__estimate(b->rates, spans, rates);
	for (size_t i = 0; !err && i < b->cnt; i++) {
		double calls = b->members[i].exact ? 0 : rates[i].per_ns * spans[i].cpu_ns;

		b->members[i].per_ns = rates[i].per_ns;
		b->members[i].by_io = rates[i].by_io;
		of[i] = (struct calls_estimate){calls, calls * calls * rates[i].variance,
						!b->members[i].exact && rates[i].guessed};
	}
	free(spans);
	free(rates);
	if (!err && out)
		*out = of;
	else
		free(of);
	return err;
}

static struct tracer_io io_since(const struct reading *from, struct tracer_io now)
{
	return (struct tracer_io){now.reads - from->io.reads, now.writes - from->io.writes};
}

/* Reads and writes in a window, up to now. */
static bool is_balanced(struct bursts *b, const struct reading *from)
{
	struct tracer_io look = io_since(from, tracer__io(b->in->tracer));
	struct tracer_io run = run_clock__now(&b->clock).io;

	return tracer_io__balanced(&look, &run);
}

static double unbalanced(struct bursts *b, const struct reading *from, const struct reading *to)
{
	struct tracer_io look = io_since(from, to->io), run = run_clock__now(&b->clock).io;

	return tracer_io__unbalanced(&look, &run);
}

/* Conditions that end a look: one of the first two, and the third. */
struct ends {
	uint64_t ns;	/* the target has run for so long, or a few times as much time is over */
	double cost_ns; /* the calls in the look have cost so much */
	bool balanced;	/* reads and writes are mixed as in the run, unless that takes long */
};

static void watch(struct bursts *b, const struct reading *from, struct reading *to,
		  const struct ends *ends)
{
	const uint64_t patience = b->stand_ins.chosen ? PATIENCE_ONE : PATIENCE;
	bool over = false, too_long;

	/* Who wakes often disturbs those who share processors with the target. */
	wait_ns(ends->ns / 2);
	do {
		uint64_t ns;

		wait_ns(over ? STEP_NS / 2 : STEP_NS);
		read_counts(b, to, BETWEEN);
		ns = to->at_ns - from->at_ns;
		over = to->cost_ns >= ends->cost_ns ||
		       (ns >= ends->ns &&
			(to->ran_ns - from->ran_ns >= ends->ns || ns >= patience * ends->ns));
		too_long = to->cost_ns >= LONGER * ends->cost_ns || ns >= LONGER * ends->ns;
	} while (!over || (ends->balanced && !too_long && !is_balanced(b, from)));
}

/* One end of a burst: it lasts until the first of these. */
struct edge {
	uint64_t most_ns;     /* so much time has gone by */
	uint64_t most_ran_ns; /* the target has run for so long */
	int most_quiet;	      /* no call was counted in so many steps; 0: no condition */
};

/* Waits while threads come into the burst, or leave it. */
static void watch_edge(struct bursts *b, struct reading *to, const struct edge *edge)
{
	const struct reading from = *to;
	int quiet = 0;

	do {
		double cost_ns = to->cost_ns;

		wait_ns(STEP_NS);
		read_counts(b, to, BETWEEN);
		quiet = to->cost_ns > cost_ns ? 0 : quiet + 1;
	} while (to->at_ns < from.at_ns + edge->most_ns &&
		 to->ran_ns < from.ran_ns + edge->most_ran_ns &&
		 !(edge->most_quiet && quiet >= edge->most_quiet));
}

/* Records a burst: between system calls of each thread, see enum wire_burst_phase. For threads that
 * make none in time, later bursts wait less. */
static void record(struct bursts *b, struct reading *from, struct reading *to)
{
	const uint64_t most_ns = (uint64_t)(EDGE_PART * (double)b->in->burst_ns);
	const struct edge begins = {b->edge_ns, EDGE_CPUS * b->edge_ns, 0};
	const struct edge leaves = {most_ns, EDGE_CPUS * most_ns, QUIET_STEPS};

	read_counts(b, from, FIRST);
	*to = *from;
	tracer__set_burst_phase(b->in->tracer, WIRE_BURST_BEGINS);
	watch_edge(b, to, &begins);
	b->edge_ns = to->cost_ns > 0 ? most_ns : b->edge_ns / 2;
	if (b->edge_ns < EDGE_LEAST)
		b->edge_ns = EDGE_LEAST;
	tracer__set_burst_phase(b->in->tracer, WIRE_BURST_GOES_ON);
	watch(b, from, to,
	      &(const struct ends){to->at_ns - from->at_ns + b->in->burst_ns, BURST_COST, false});
	tracer__set_burst_phase(b->in->tracer, WIRE_BURST_ENDS);
	watch_edge(b, to, &leaves);
	tracer__set_burst_phase(b->in->tracer, WIRE_BURST_OFF);
	read_counts(b, to, LAST);
}

/* The functions of a window. */
static int list_counted(struct bursts *b)
{
	struct moment all = own_moment(b);
	uint64_t io = all.io.reads > all.io.writes ? all.io.reads : all.io.writes;
	const struct counting how = {
		.cost_ns = WINDOW_COST,
		.io_per_ns = all.ran_ns ? (double)io / (double)all.ran_ns : 0,
		.again = b->windows.cnt % EVERY == EVERY - 1,
		.random = random_share(b),
	};
	uint32_t chosen[COUNTING_MOST];
	int cnt = counting__choose(b->members, b->cnt, &how, chosen), err = cnt < 0 ? cnt : 0;

	b->list_cnt = 0;
	for (int i = 0; !err && i < cnt; i++)
		err = list_add(b, chosen[i]);
	list_sort(b);
	return err;
}

/* Each probe is put into all of them. */
static double processes_of(const struct bursts *b)
{
	size_t processes = b->in->target->processes_cnt;

	return processes ? (double)processes : 1;
}

/* Whether there are return probes in links for every process. Our program declines them in children
 * then; where links are bound to one process it does not run in its children, which have them all
 * the same (docs/internals/exits.md). */
static bool has_shared_returns(const struct bursts *b)
{
	const struct plan *p = b->in->plan;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->exit == EXIT_RETURN && tracer__is_unbound(b->in->tracer, f->object))
			return true;
	}
	return false;
}

/* Whether a burst takes place in one process, which stands for all. */
static bool is_in_one(const struct bursts *b)
{
	return stand_ins__suit(b->in->plan, b->in->target) && !has_shared_returns(b);
}

/* The cost of making and closing links with so many probes, as far as it is the target's. */
static double linking_cost(double probes, double processes)
{
	return probes * PROBE_LINK_NS * processes;
}

/* A look has been taken: when the next one is due. */
static void turn_taken(struct bursts *b, struct turns *t, const struct look *l)
{
	double pause_ns = turns__pause_ns(t, b->in->tracer, l);

	if (b->held_back && t->cnt >= TELLING)
		pause_ns /= 1 - BURSTS_HELD_BACK;
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

/* The own time that the target usually takes for what it has read and written; 0: not known. */
static double own_by_io(struct bursts *b, const struct lengths *lengths)
{
	struct moment all = own_moment(b);
	double io = (double)(all.io.reads + all.io.writes);

	return io > 0 ? (lengths->reads + lengths->writes) / io * (double)all.ran_ns : 0;
}

/* Takes the counts of a window, from one reading to the other. */
static void count_window(struct bursts *b, const struct reading *from, const struct reading *to)
{
	const struct look_counts counts = {b->list, b->calls, b->list_cnt};
	double others_ns = charge_passed(b), by_io_ns;
	const struct lengths lengths = {
		.cpu_ns = (double)(to->ran_ns - from->ran_ns) - others_ns,
		.reads = (double)(to->io.reads - from->io.reads),
		.writes = (double)(to->io.writes - from->io.writes),
		.unbalanced = unbalanced(b, from, to),
	};

	b->cost_ns += to->cost_ns;
	if (others_ns < MOST_OTHERS * lengths.cpu_ns)
		rates__add_window(b->rates, &counts, &lengths, to->cost_ns);
	by_io_ns = own_by_io(b, &lengths);
	for (size_t k = 0; k < b->list_cnt; k++) {
		struct member *m = &b->members[b->list[k]];
		bool by_io = counting__by_io(m) && by_io_ns > 0;

		m->counted++;
		late__note(&m->late, to->at_ns, b->calls[k],
			   by_io ? by_io_ns : lengths.cpu_ns - to->cost_ns);
	}
	log_debug("window of %zu functions: %.1f ms long, %.1f ms of CPU time, costs %.2f ms and "
		  "%.2f, %.0f reads, %.0f writes, %lu calls of %s",
		  b->list_cnt, (double)(to->at_ns - from->at_ns) / 1e6,
		  (double)(to->ran_ns - from->ran_ns) / 1e6, to->cost_ns / 1e6, others_ns / 1e6,
		  lengths.reads, lengths.writes, (unsigned long)b->calls[0],
		  b->in->plan->functions[b->functions[0]].symbol);
}

static int take_window(struct bursts *b)
{
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in->tracer, ran_ns(b));
	struct tracer_survey survey = {0};
	int err = list_counted(b);

	if (err)
		return err;
	survey.functions = b->functions;
	survey.cnt = b->list_cnt;
	err = tracer__survey(b->in->tracer, b->in->plan, b->in->target, &survey);
	look__made(&look, b->in->tracer);
	if (!err) {
		read_counts(b, &from, FIRST);
		charge_passed(b);
		watch(b, &from, &to, &(const struct ends){WINDOW_NS, WINDOW_COST, true});
		read_counts(b, &to, LAST);
		count_window(b, &from, &to);
	}
	tracer__take_out_survey(b->in->tracer);
	look.cpus = cpus_busy(&from, &to);
	look.cost_ns = to.cost_ns + linking_cost((double)b->list_cnt, processes_of(b));
	turn_taken(b, &b->windows, &look);
	return err == -ENOMEM ? err : 0;
}

/* The list has all dropped functions, or as many in turn as there may be probes. */
static int list_burst(struct bursts *b, bool in_one, double *probes)
{
	double most = in_one ? BURST_PROBES : BURST_PROBES / processes_of(b);
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

/* The number of probes in the first burst; later ones are due by what bursts have cost. */
static double first_burst_probes(const struct bursts *b)
{
	double probes = 0, most;

	if (b->bursts.cnt)
		return 0;
	most = is_in_one(b) ? BURST_PROBES : BURST_PROBES / processes_of(b);
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

/* CPU time, in ns, that probes have cost the target in a burst: all that it has run, but for the
 * time that so many reads and writes usually take. Of 10 ms with six requests, 16 us each, 9.9 ms.
 * At least the calibrated cost of the calls. */
static double burst_cost(struct bursts *b, const struct reading *from, const struct reading *to)
{
	const struct lengths lengths = {
		.reads = (double)(to->io.reads - from->io.reads),
		.writes = (double)(to->io.writes - from->io.writes),
	};
	double own_ns = own_by_io(b, &lengths), ran_ns = (double)(to->ran_ns - from->ran_ns);
	double calls_ns = 0;

	for (size_t k = 0; k < b->list_cnt; k++)
		calls_ns += (double)b->calls[k] * b->members[b->list[k]].call_ns;
	return own_ns > 0 && ran_ns - own_ns > calls_ns ? ran_ns - own_ns : calls_ns;
}

/* Takes the counts of a burst. */
static int count_burst(struct bursts *b, bool after_window)
{
	const struct look_counts counts = {b->list, b->calls, b->list_cnt};
	int err = rates__add_burst(b->rates, &counts, after_window);

	return err ? err : estimate(b, NULL);
}

/* Chooses the process that stands for all in a burst. */
static int choose_process(struct bursts *b)
{
	uint64_t since_ns = ran_ns(b) - b->drawn_ran_ns;

	if (ARRAY_GROW(&b->clocks, &b->clocks_cnt, b->in->target->processes_cnt))
		return -ENOMEM;
	b->drawn_ran_ns += since_ns;
	return stand_ins__draw(&b->stand_ins, b->in->target, b->clocks, since_ns, random_share(b));
}

static int take_burst(struct bursts *b, uint64_t now, bool after_window)
{
	double calls_ns = 0, probes;
	struct reading from = {0}, to = {0};
	struct look look = look__begin(b->in->tracer, ran_ns(b));
	struct tracer_survey burst = {0};
	bool in_one = is_in_one(b);
	int err = list_burst(b, in_one, &probes);

	if (!err && in_one)
		err = choose_process(b);
	if (err)
		return err;
	tracer__forget_bursts(b->in->tracer, now);
	burst = (struct tracer_survey){b->functions, b->list_cnt, b->stand_ins.chosen};
	err = tracer__put_in_burst(b->in->tracer, b->in->plan, b->in->target, &burst);
	look__made(&look, b->in->tracer);
	if (!err) {
		record(b, &from, &to);
		b->ended_ns = now_ns();
		/* Long before its links are closed, or all calls up to then were shown below what
		 * has left unseen. */
		tracer__forget_bursts(b->in->tracer, b->ended_ns);
		b->taken++;
		b->taken_ns += to.at_ns - from.at_ns;
	}
	tracer__take_out_burst(b->in->tracer);
	if (!err)
		calls_ns = burst_cost(b, &from, &to);
	if (!err)
		err = count_burst(b, after_window);
	if (!err)
		note_burst(b, (double)(to.ran_ns - from.ran_ns), calls_ns);
	b->cost_ns += calls_ns;
	look.cpus = cpus_busy(&from, &to);
	look.cost_ns = calls_ns + linking_cost(probes, b->stand_ins.chosen ? 1 : processes_of(b));
	stand_ins__clear(&b->stand_ins);
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
					   COUNTING_MOST);
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

int bursts__look(struct bursts *b, bool held_back, uint64_t now_ns)
{
	bool going;

	if (!b || b->clock.off || !b->dropped)
		return 0;
	b->held_back = held_back;
	going = probes_are_going(b);
	if (b->ended_ns && now_ns > b->ended_ns + GONE_NS)
		b->ended_ns = 0;
	if (turns__due(&b->bursts, &b->seen, b->in->tracer, ran_ns(b), now_ns,
		       first_burst_probes(b)))
		return is_debugged(b) ? 0 : take_pair(b, now_ns, going);
	/* Probes that are being taken out slow the target down, ten times for moments. */
	if (b->ended_ns || going)
		return 0;
	if (!turns__due(&b->windows, &b->seen, b->in->tracer, ran_ns(b), now_ns, COUNTING_MOST))
		return 0;
	return is_debugged(b) ? 0 : take_window(b);
}

uint64_t bursts__pace_ns(struct bursts *b)
{
	return b && b->dropped && !b->clock.off ? about(b, PACE_NS) : 0;
}

void bursts__off(struct bursts *b)
{
	if (b && !b->clock.off)
		run_clock__off(&b->clock);
}

void bursts__on(struct bursts *b)
{
	if (b && b->clock.off)
		run_clock__on(&b->clock);
}

static bool is_of_looks(const struct calls_estimate *e)
{
	return e->calls > 0 && !e->guessed;
}

/* The errors of one rate, taken twice, do not level out. */
static struct calls_estimate estimates_sum(const struct calls_estimate *a,
					   const struct calls_estimate *b)
{
	return (struct calls_estimate){
		.calls = a->calls + b->calls,
		.variance = a->variance + b->variance + 2 * sqrt(a->variance * b->variance),
		.guessed = (a->guessed || b->guessed) && !is_of_looks(a) && !is_of_looks(b),
	};
}

int bursts__remove(struct bursts *b, const uint32_t *functions, size_t cnt)
{
	struct calls_estimate *since = NULL;
	int err = b && b->cnt ? estimate(b, &since) : 0;

	for (size_t i = 0; !err && i < cnt; i++) {
		struct member *m = find_member(b, functions[i]);

		if (!m || m->exact)
			continue;
		m->before = estimates_sum(&m->before, &since[m - b->members]);
		m->exact = true;
		b->dropped--;
	}
	free(since);
	return err;
}

int bursts__estimate(struct bursts *b)
{
	size_t functions_cnt = b ? b->in->plan->functions_cnt : 0;
	struct calls_estimate *of, *since = NULL;
	int err;

	if (!b || !b->cnt)
		return 0;
	of = calloc(functions_cnt + 1, sizeof(*of));
	err = of ? estimate(b, &since) : -ENOMEM;
	for (size_t i = 0; !err && i < b->cnt; i++) {
		const struct member *m = &b->members[i];

		of[m->function] = estimates_sum(&m->before, &since[i]);
	}
	free(since);
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
