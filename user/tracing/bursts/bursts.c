// SPDX-License-Identifier: GPL-2.0-or-later
#include "bursts/bursts.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/costs.h"
#include "attach/tracer.h"
#include "bursts/burst.h"
#include "bursts/counting.h"
#include "bursts/inside.h"
#include "bursts/look_list.h"
#include "bursts/reading.h"
#include "bursts/window.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "looks/call_cost.h"
#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"
#include "util/array.h"

#define PACE_NS	   (60 * MS)  /* from look to look, about */
#define BURST_PART 0.5	      /* of what bursts and windows may cost, for bursts */
#define GONE_NS	   (300 * MS) /* links that were closed are gone after this */
#define COLDER	   1.15	      /* a hit costs so many times as much as in calibration */
#define TELLING	   3	      /* looks tell how far they deviate: they are not held back before */

int bursts__new(const struct bursts_inputs *in, struct bursts **out)
{
	struct bursts *b = calloc(1, sizeof(*b));

	if (!b || rates__new(&b->rates)) {
		free(b);
		return -ENOMEM;
	}
	b->in = *in;
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

uint64_t bursts__ran_ns(const struct bursts *b)
{
	return run_clock__ran_ns(&b->clock);
}

struct moment bursts__own_moment(struct bursts *b)
{
	struct moment now = run_clock__now(&b->clock);

	now.ran_ns -= (double)now.ran_ns > b->cost_ns ? (uint64_t)b->cost_ns : now.ran_ns;
	return now;
}

double bursts__own_by_io(struct bursts *b, const struct lengths *lengths)
{
	struct moment all = bursts__own_moment(b);
	double io = (double)(all.io.reads + all.io.writes);

	return io > 0 ? (lengths->reads + lengths->writes) / io * (double)all.ran_ns : 0;
}

void bursts__start(struct bursts *b)
{
	if (!b)
		return;
	run_clock__start(&b->clock, b->in.tracer);
	turns__start(&b->seen, b->in.tracer);
	b->drawn_ran_ns = 0;
	for (size_t i = 0; i < b->cnt; i++)
		b->members[i].dropped = (struct moment){0};
}

struct member *bursts__member(const struct bursts *b, uint32_t function)
{
	return b && function < b->places_cnt && b->places[function]
		       ? &b->members[b->places[function] - 1]
		       : NULL;
}

/* The newest member is of this function. */
static int note_place(struct bursts *b, uint32_t function)
{
	int err = ARRAY_GROW(&b->places, &b->places_cnt, b->in.plan->functions_cnt);

	if (!err)
		b->places[function] = b->cnt;
	return err;
}

/* The function was dropped just now: its calls from now on tell its rate. */
static void begin_member(struct bursts *b, struct member *m, double per_ns)
{
	m->exact = false;
	m->per_ns = m->dropped_per_ns = per_ns;
	m->dropped = bursts__own_moment(b);
	m->late = (struct late){0};
	b->dropped++;
}

int bursts__add(struct bursts *b, uint32_t function, double per_ns)
{
	const struct plan_function *f;
	struct function_probes probes;
	struct member *m = bursts__member(b, function);

	if (m)
		begin_member(b, m, per_ns);
	if (!b || m)
		return 0;
	f = &b->in.plan->functions[function];
	if (f->kind != PLAN_FUNCTION || tracer__is_refused(b->in.tracer, function))
		return 0;
	if (ARRAY_RESERVE(&b->members, b->cnt, &b->cap) || rates__add(b->rates, per_ns))
		return -ENOMEM;
	probes = call_cost__in_burst(b->in.plan, f);
	m = &b->members[b->cnt++];
	*m = (struct member){
		.function = function,
		.loops = f->loops_to_entry,
		.by_io = 0.5,
		.probes = 1 + (probes.exit == WIRE_COST_NONE ? 0 : f->exits_cnt),
		.count_ns = COLDER * (double)probe_costs__passed(b->in.costs, probes.entry),
		.call_ns = (double)probe_costs__call(b->in.costs, probes.entry, probes.exit),
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
	const struct member *m = bursts__member(b, function);

	return m && !m->exact ? late__rate(&m->late) : -1;
}

double bursts__random(struct bursts *b)
{
	b->seed = b->seed * 1664525 + 1013904223;
	return (double)b->seed / 4294967296.0;
}

/* About so long: what the target does every so often must not keep step with looks. */
static uint64_t about(struct bursts *b, double ns)
{
	return (uint64_t)(ns * (0.75 + bursts__random(b) / 2));
}

/* Probes stay in as long as a debugger is there. */
static bool is_debugged(const struct bursts *b)
{
	for (size_t i = 0; i < b->in.target->processes_cnt; i++) {
		if (process__is_debugged(b->in.target->processes[i].pid))
			return true;
	}
	return false;
}

double bursts__linking_cost(double probes, double processes)
{
	return probes * PROBE_LINK_NS * processes;
}

void bursts__turn_taken(struct bursts *b, struct turns *t, const struct look *l)
{
	double pause_ns = turns__pause_ns(t, b->in.tracer, l);

	if (b->held_back && t->cnt >= TELLING)
		pause_ns /= 1 - BURSTS_HELD_BACK;
	/* One that came early, with a burst, is made up for. */
	t->next_ran_ns =
		(t->next_ran_ns > l->ran_ns ? t->next_ran_ns : l->ran_ns) + about(b, pause_ns);
}

/* Charges hits of probes on their way out. Returns whether these cost so much that a window would
 * be worth nothing: those of what was dropped a moment ago, which take some 100 ms to go. */
static bool probes_are_going(struct bursts *b)
{
	uint64_t ran = bursts__ran_ns(b), since_ns = ran - b->charged_ran_ns;
	double passed_ns = reading__charge_passed(b);

	b->bursts.cost_ns += passed_ns;
	b->charged_ran_ns = ran;
	return passed_ns > MOST_OTHERS * (double)since_ns;
}

/* Whether a window may be taken though it is not due: not much earlier than it would be. */
static bool window_fits(struct bursts *b, uint64_t at_ns)
{
	double ran = (double)bursts__ran_ns(b);

	return b->windows.cnt ? (double)b->windows.next_ran_ns <= ran + turns__usual_ns(&b->windows)
			      : turns__due(&b->windows, &b->seen, b->in.tracer, bursts__ran_ns(b),
					   at_ns, COUNTING_MOST);
}

/* A burst, and right before it a window, which tells how often functions are called at that time:
 * the mix of what is called may change every second. */
static int take_pair(struct bursts *b, uint64_t at_ns, bool going)
{
	/* Probes that are being taken out, of the last burst or dropped ones, slow the target down.
	 */
	bool window = !b->ended_ns && !going && window_fits(b, at_ns);
	int err = window ? window__take(b) : 0;

	return err ? err : burst__take(b, at_ns, window);
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
	if (turns__due(&b->bursts, &b->seen, b->in.tracer, bursts__ran_ns(b), now_ns,
		       look_list__first_probes(b)))
		return is_debugged(b) ? 0 : take_pair(b, now_ns, going);
	/* Probes that are being taken out slow the target down, ten times for moments. */
	if (b->ended_ns || going)
		return 0;
	if (!turns__due(&b->windows, &b->seen, b->in.tracer, bursts__ran_ns(b), now_ns,
			COUNTING_MOST))
		return 0;
	return is_debugged(b) ? 0 : window__take_any(b);
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

void bursts__account(const struct bursts *b, struct profile *p)
{
	if (!b)
		return;
	p->accounting.bursts = b->taken;
	p->accounting.burst_ns = b->taken_ns;
}
