// SPDX-License-Identifier: GPL-2.0-or-later
/* The controller's state, the cost of calls, and the room that the budget leaves. Looks at the
 * calls, drops and returns are made by look.c and returns.c. */
#include "budget/controller.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "attach/costs.h"
#include "attach/tracer.h"
#include "budget/budget.h"
#include "budget/controller_inside.h"
#include "budget/inputs.h"
#include "bursts/bursts.h"
#include "bursts/inputs.h"
#include "collect/collector.h"
#include "looks/call_cost.h"
#include "looks/turns.h"
#include "plan/plan.h"
#include "util/clock.h"

#define FAST_NS	  20000000 /* from one look to the next while far too much is spent */
#define FIRST_NS  4000000  /* from the start to the first look, or to the end of old probes */
#define TOLD_COST 0.25	   /* where there is no limit, more than this share is told */
#define LEAST_OWN 1000000  /* CPU time that tells how busy the target is */
/* Exact calls keep so much of their limit, however often the target waits: python3 whose four
 * threads hand on one lock 47,000 times a second pays 2.5 % for that, of 5. */
#define LEAST_PART 0.4
#define TELLING_NS 1e8 /* CPU time: in less a sample or two mislead */

int controller__new(const struct budget_inputs *in, struct controller **out)
{
	struct controller *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->in = in;
	s->limit = in->limit;
	s->spared = BUDGET_SPARED;
	s->dearness = 1;
	if (in->burst_ns && in->limit && tracer__surveys(in->tracer)) {
		const struct bursts_inputs inputs = {
			.plan = in->plan,
			.target = in->target,
			.tracer = in->tracer,
			.collector = in->collector,
			.costs = &in->costs,
			.limit = in->limit,
			.burst_ns = in->burst_ns,
		};

		if (bursts__new(&inputs, &s->bursts)) {
			free(s);
			return -ENOMEM;
		}
		s->limit *= 1 - BURSTS_SHARE;
	}
	s->watched = s->limit ? s->limit : in->tells ? TOLD_COST : 0;
	*out = s;
	return 0;
}

void controller__free(struct controller *s)
{
	if (!s)
		return;
	cpu_clock__clear(&s->clock);
	bursts__free(s->bursts);
	free(s->before);
	free(s->now);
	free(s->functions);
	free(s->call_ns);
	free(s->gone);
	free(s->kept);
	free(s->chosen);
	free(s->returning);
	free(s->calls);
	free(s->drops);
	free(s);
}

static double calibrated_cost(const struct controller *s, const struct plan_function *f)
{
	struct function_probes probes = call_cost__of(s->in->plan, f);

	return probe_costs__call(&s->in->costs, probes.entry, probes.exit);
}

static int grow_array(void *array, size_t cnt, size_t size)
{
	void *grown = reallocarray(*(void **)array, cnt, size);

	if (!grown)
		return -ENOMEM;
	*(void **)array = grown;
	return 0;
}

int controller__grow(struct controller *s)
{
	const struct plan *p = s->in->plan;
	uint32_t cnt = p->functions_cnt, old = s->functions_cnt, first;

	if (cnt == old && p->exits_cnt == s->exits_cnt)
		return 0;
	if (grow_array(&s->before, cnt, sizeof(*s->before)) ||
	    grow_array(&s->now, cnt, sizeof(*s->now)) ||
	    grow_array(&s->functions, cnt, sizeof(*s->functions)) ||
	    grow_array(&s->call_ns, cnt, sizeof(*s->call_ns)) ||
	    grow_array(&s->gone, cnt, sizeof(*s->gone)) ||
	    grow_array(&s->kept, cnt, sizeof(*s->kept)) ||
	    grow_array(&s->chosen, cnt, sizeof(*s->chosen)) ||
	    grow_array(&s->returning, cnt, sizeof(*s->returning)) ||
	    grow_array(&s->calls, cnt, sizeof(*s->calls)))
		return -ENOMEM;
	memset(s->before + old, 0, (cnt - old) * sizeof(*s->before));
	memset(s->now + old, 0, (cnt - old) * sizeof(*s->now));
	memset(s->gone + old, 0, (cnt - old) * sizeof(*s->gone));
	memset(s->kept + old, 0, (cnt - old) * sizeof(*s->kept));
	memset(s->chosen + old, 0, (cnt - old) * sizeof(*s->chosen));
	memset(s->returning + old, 0, (cnt - old) * sizeof(*s->returning));
	memset(s->functions + old, 0, (cnt - old) * sizeof(*s->functions));
	/* Whose exits were planned anew is not known. */
	first = p->exits_cnt == s->exits_cnt ? old : 0;
	for (uint32_t f = first; f < cnt; f++) {
		s->call_ns[f] = calibrated_cost(s, &p->functions[f]);
		if (s->call_ns[f] > s->dearest_ns)
			s->dearest_ns = s->call_ns[f];
	}
	s->functions_cnt = cnt;
	s->exits_cnt = p->exits_cnt;
	return 0;
}

int controller__keep(struct controller *s, uint32_t function)
{
	int err = controller__grow(s);

	if (!err)
		s->kept[function] = true;
	return err;
}

uint64_t controller__calls(const struct controller *s)
{
	uint64_t calls = collector__calls(s->in->collector) + collector__strays(s->in->collector);

	for (size_t i = 0; i < s->drops_cnt; i++)
		calls += collector__passed(s->in->collector, s->drops[i].shown.function);
	return calls;
}

void controller__begin_look(struct controller *s, uint64_t now_ns, uint64_t cpu_ns, uint64_t calls)
{
	s->began_ns = now_ns;
	s->began_cpu_ns = cpu_ns;
	s->began_calls = calls;
	s->look_cost_ns = 0;
}

void controller__start(struct controller *s, uint64_t now_ns)
{
	s->start_ns = s->at_ns = now_ns;
	s->fast_polling = true;
	turns__start(&s->seen, s->in->tracer);
	controller__begin_look(s, now_ns, cpu_clock__read(&s->clock, s->in, true), 0);
	bursts__start(s->bursts);
}

uint64_t controller__cpu_ns(struct controller *s)
{
	uint64_t cpu_ns = s->off ? s->off_cpu_ns : cpu_clock__read(&s->clock, s->in, false);

	return cpu_ns > s->paused_cpu_ns ? cpu_ns - s->paused_cpu_ns : 0;
}

void controller__off(struct controller *s, uint64_t now_ns)
{
	s->off_ns = now_ns;
	s->off_cpu_ns = cpu_clock__read(&s->clock, s->in, false);
	s->off = true;
	bursts__off(s->bursts);
}

void controller__on(struct controller *s, uint64_t now_ns)
{
	uint64_t cpu_ns = cpu_clock__read(&s->clock, s->in, false);

	if (!s->off)
		return;
	s->off = false;
	bursts__on(s->bursts);
	s->paused_cpu_ns += cpu_ns > s->off_cpu_ns ? cpu_ns - s->off_cpu_ns : 0;
	/* The look under way goes on where it was. */
	s->began_ns += now_ns - s->off_ns;
	s->paused_ns += now_ns - s->off_ns;
}

/* Looks ask for all functions. */
static double known_cost(const struct controller *s, uint32_t function)
{
	return function < s->functions_cnt ? s->call_ns[function]
					   : calibrated_cost(s, &s->in->plan->functions[function]);
}

double controller__call_cost(const struct controller *s, uint32_t function,
			     const struct function_usage *u)
{
	double times = u->factor > s->in->costs.burden ? u->factor : s->in->costs.burden;
	double emulated = probe_costs__call(&s->in->costs, WIRE_COST_ENTRY_PUSH, WIRE_COST_RETURN);
	double known = known_cost(s, function);

	/* Single steps are as dear as ever; what costs less than two probes, as a system call does,
	 * costs so much more of that. */
	return s->dearness * (known + (times - 1) * fmin(known, emulated)) + s->unwinding_ns;
}

double controller__call_ns(struct controller *s, uint32_t function)
{
	const struct function_usage none = {.factor = 1};

	return controller__call_cost(s, function, &none);
}

int controller__take_out(struct controller *s)
{
	uint64_t began_ns = now_ns();
	int err = s->in->sample_hot ? 0
				    : tracer__drop(s->in->tracer, s->in->plan, s->in->target,
						   s->gone, s->calls, s->forks && s->fast_polling);

	s->undone = err == -EAGAIN;
	tracer__drop_poll(s->in->tracer);
	s->taking_out_ns = now_ns() - began_ns;
	return err == -ENOMEM ? err : 0;
}

/* The cost that is spared, as a share of the target's own CPU time. */
static double spared_share(struct controller *s)
{
	uint64_t cpu_ns = controller__cpu_ns(s), at_ns = s->off ? s->off_ns : s->at_ns;
	double load = s->load > 0 ? s->load : s->in->load;

	/* Neither a look nor the survey has said it: as on average since the start. */
	if (!(load > 0) && cpu_ns > LEAST_OWN && at_ns > s->start_ns + s->paused_ns)
		load = (double)cpu_ns / (double)(at_ns - s->start_ns - s->paused_ns);
	return load > 0 ? s->spared / load : 0;
}

double controller__whole_limit(const struct controller *s)
{
	return s->bursts ? s->limit / (1 - BURSTS_SHARE) : s->limit;
}

/* The cost of samples, with the interrupts of their clock, and of the programs at switches, which
 * tracing has whatever is called: as a share of the target's own CPU time. */
static double fixed_share(struct controller *s)
{
	const struct samples_so_far met = collector__samples(s->in->collector);
	double cpu_ns = fmax((double)controller__cpu_ns(s), TELLING_NS);
	double samples_ns = (double)met.ns + (double)met.taken * (double)s->in->interrupt_ns;
	double waits_ns = (double)collector__waits(s->in->collector) * WAIT_COST_NS;

	return (samples_ns + waits_ns) / cpu_ns;
}

/* The part of the limit that is left for exact calls. Looks at dropped functions keep theirs: with
 * two thirds of it ten seconds were too short for each function of redis to be counted once. */
static double exact_part(struct controller *s)
{
	double whole = controller__whole_limit(s);

	return whole > 0 ? fmax(LEAST_PART, 1 - fixed_share(s) / whole) : 1;
}

/* Without what is spared. */
static double plain_limit(struct controller *s)
{
	return s->limit * exact_part(s);
}

double controller__probes_limit(struct controller *s)
{
	return fmax(plain_limit(s), spared_share(s));
}

static bool is_any_chosen(const struct controller *s)
{
	for (uint32_t f = 0; f < s->functions_cnt; f++) {
		if (s->chosen[f])
			return true;
	}
	return false;
}

/* `limit`: of plain_limit(). */
static bool owes_start(struct controller *s, double limit)
{
	double looks = s->bursts ? s->in->limit * BURSTS_SHARE * BURSTS_HELD_BACK : 0;
	double saved = START_PART * limit + looks;

	return saved * (double)controller__cpu_ns(s) < START_TIMES * (double)s->in->start_ns &&
	       !is_any_chosen(s);
}

bool controller__pays_start(struct controller *s)
{
	return owes_start(s, plain_limit(s));
}

/* Without what is spared. */
static double plain_room(struct controller *s)
{
	double limit = plain_limit(s);

	return owes_start(s, limit) ? (1 - START_PART) * limit : limit;
}

double controller__room(struct controller *s)
{
	return fmax(plain_room(s), spared_share(s));
}

double controller__look_limit(struct controller *s, double own_ns, uint64_t took_ns)
{
	double spared_ns = s->saved_ns + s->spared * (double)took_ns;

	return fmax(plain_room(s), spared_ns / own_ns);
}

void controller__limit(struct controller *s, double limit, double spared)
{
	if (!s->in->limit || !limit)
		return;
	s->spared = spared > 0 ? spared : BUDGET_SPARED * fmin(1, limit / s->in->limit);
	s->limit = s->bursts ? limit * (1 - BURSTS_SHARE) : limit;
	s->watched = s->limit;
}

/* Looks are 4, 8 and 16 ms after the start, later 20 ms apart: a program of which each function is
 * called a thousand times in a millisecond is slowed down a hundredfold until the first of them. */
static uint64_t first_pace_ns(const struct controller *s)
{
	uint64_t ran_ns = s->at_ns - s->start_ns;

	return ran_ns < FIRST_NS ? FIRST_NS : ran_ns < FAST_NS ? ran_ns : FAST_NS;
}

uint64_t controller__pace_ns(const struct controller *s)
{
	uint64_t pace_ns = s->in->calm ? 3 * LOOK_PACE_NS : LOOK_PACE_NS, burst_ns;

	if (!s->watched)
		return 0;
	if (s->in->limit && s->closing && !s->off && s->at_ns < s->taken_out_ns + FAST_NS)
		return FIRST_NS;
	if (s->in->limit && s->fast_polling && !s->off)
		return first_pace_ns(s);
	burst_ns = bursts__pace_ns(s->bursts);
	return burst_ns && burst_ns < pace_ns ? burst_ns : pace_ns;
}

void controller__joined(struct controller *s, pid_t pid)
{
	cpu_clock__add(&s->clock, pid);
}

void controller__child_ended(struct controller *s, pid_t pid)
{
	cpu_clock__note_end(&s->clock, pid);
}

bool controller__watches(const struct controller *s, pid_t pid)
{
	return cpu_clock__has(&s->clock, pid);
}

int controller__estimate(struct controller *s)
{
	return bursts__estimate(s->bursts);
}

void controller__account(struct controller *s, struct profile *p)
{
	bursts__account(s->bursts, p);
	p->accounting.cpu_ns = controller__cpu_ns(s);
	p->accounting.held_ns = tracer__held_ns(s->in->tracer) - s->clock.held_start_ns;
}

int controller__apply(struct controller *s, struct profile *p)
{
	p->max_overhead = 100 * s->in->limit;
	for (uint32_t f = 0; f < s->functions_cnt && f < p->functions_cnt; f++)
		p->functions[f].chosen = s->chosen[f];
	if (!s->drops_cnt)
		return 0;
	p->drops = calloc(s->drops_cnt, sizeof(*p->drops));
	if (!p->drops)
		return -ENOMEM;
	for (size_t i = 0; i < s->drops_cnt; i++) {
		struct profile_drop *d = &p->drops[p->drops_cnt++];
		uint32_t function = s->drops[i].shown.function;

		*d = s->drops[i].shown;
		d->reason = s->drops[i].reason;
		p->functions[function].name = plan__name(s->in->plan, function);
		p->functions[function].sampled = d->sampled;
	}
	return 0;
}
