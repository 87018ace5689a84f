// SPDX-License-Identifier: GPL-2.0-or-later
/* The controller against a target made up here: calls, CPU time, and what becomes of drops. */
#include "elf_fixture.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/callers.h"
#include "attach/costs.h"
#include "attach/life.h"
#include "attach/tracer.h"
#include "budget/controller.h"
#include "budget/forecast.h"
#include "budget/inputs.h"
#include "bursts/bursts.h"
#include "calls/profile.h"
#include "collect/collector.h"
#include "looks/turns.h"
#include "plan/lookups.h"
#include "plan/plan.h"
#include "target/process.h"
#include "target/target.h"

#define FUNCTIONS 3
#define SECOND	  1000000000ull
#define CALL_NS	  1000 /* what the probes of a call cost, mostly */

enum { HOT, WARM, RARE };

/* The target and the kernel, made up: CPU time and calls so far, and the orders that the controller
 * has given. */
static struct {
	uint64_t cpu_ns, calls[FUNCTIONS], passed[FUNCTIONS], strays[FUNCTIONS];
	uint32_t every[FUNCTIONS]; /* collector__drop() */
	bool out[FUNCTIONS];	   /* tracer__drop() */
	int drops, drop_err, restores, restore_err;
	double rate[FUNCTIONS];	   /* bursts__rate() */
	bool forks;		   /* turns__forks() */
	bool lingers;		   /* tracer__drop_poll() */
	uint64_t samples, probing; /* collector__samples() */
	uint64_t waits;		   /* collector__waits() */
	uint64_t ended_ns;	   /* tracer__cpu_of_ended() */
	pid_t child;		   /* life__followed() */
	pid_t caller;		   /* collector__processes() */
} world;

bool tracer__cpu_of_ended(const struct tracer *tr, pid_t pid, uint64_t *ns)
{
	*ns = world.ended_ns;
	return world.ended_ns;
}

/* CPU time of all processes, as none is named here. */
uint64_t tracer__cpu_of_others(const struct tracer *tr)
{
	return world.cpu_ns;
}

struct life *tracer__life(const struct tracer *tr)
{
	return NULL;
}

size_t life__followed(const struct life *l, pid_t *pids, size_t cap)
{
	pids[0] = world.child;
	return world.child != 0;
}

bool life__knows(const struct life *l, pid_t pid)
{
	return pid == world.child;
}

uint64_t tracer__held_ns(const struct tracer *tr)
{
	return 0;
}

int tracer__drop(struct tracer *tr, const struct plan *p, const struct target *t,
		 const bool *dropped, const uint64_t *calls, bool hurry)
{
	memcpy(world.out, dropped, p->functions_cnt * sizeof(*dropped));
	world.drops++;
	return world.drop_err;
}

int tracer__restore(struct tracer *tr, const struct plan *p, const struct target *t,
		    const uint32_t *functions, size_t cnt)
{
	world.restores++;
	for (size_t i = 0; !world.restore_err && i < cnt; i++)
		world.out[functions[i]] = false;
	return world.restore_err;
}

bool tracer__is_refused(const struct tracer *tr, size_t function)
{
	return false;
}

bool tracer__drop_poll(struct tracer *tr)
{
	return world.lingers;
}

void tracer__unwind_cost(const struct tracer *tr, uint64_t *ns, uint64_t *cnt)
{
	*ns = *cnt = 0;
}

struct samples_so_far collector__samples(const struct collector *c)
{
	return (struct samples_so_far){.taken = world.samples, .probing = world.probing};
}

uint64_t collector__waits(const struct collector *c)
{
	return world.waits;
}

uint64_t collector__calls(const struct collector *c)
{
	return world.calls[HOT] + world.calls[WARM] + world.calls[RARE];
}

uint64_t collector__passed(const struct collector *c, uint32_t function)
{
	return world.passed[function];
}

uint64_t collector__strays(const struct collector *c)
{
	return world.strays[HOT] + world.strays[WARM] + world.strays[RARE];
}

int collector__usage(struct collector *c, struct function_usage *usage, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++)
		usage[i] = (struct function_usage){.calls = world.calls[i],
						   .passed = world.passed[i],
						   .strays = i < FUNCTIONS ? world.strays[i] : 0,
						   .factor = 1};
	return 0;
}

int collector__usage_of_used(struct collector *c, struct function_usage *usage, uint32_t cnt,
			     const uint32_t **used, uint32_t *used_cnt)
{
	static uint32_t all[1000];

	assert_true(cnt <= 1000);
	for (uint32_t i = 0; i < cnt; i++)
		all[i] = i;
	*used = all;
	*used_cnt = cnt;
	return collector__usage(c, usage, cnt);
}

bool collector__drop(struct collector *c, uint32_t function, uint32_t every)
{
	world.every[function] = every;
	return true;
}

void collector__restore(struct collector *c, const uint32_t *functions, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		world.every[functions[i]] = 0;
}

bool collector__bounds(const struct collector *c, uint32_t function)
{
	return false;
}

size_t collector__processes(const struct collector *c, pid_t *pids, size_t cap)
{
	pids[0] = world.caller;
	return world.caller && cap ? 1 : 0;
}

int collector__set_probes(struct collector *c, const struct function_probes *probes, uint32_t cnt)
{
	return 0;
}

bool tracer__surveys(const struct tracer *tr)
{
	return true;
}

void turns__start(struct turns_seen *seen, const struct tracer *tr)
{
}

bool turns__forks(const struct turns_seen *seen, const struct tracer *tr)
{
	return world.forks;
}

/* Bursts, of which only what they are told is looked at. */
static uint32_t told[FUNCTIONS], told_cnt;

int bursts__new(const struct bursts_inputs *in, struct bursts **out)
{
	*out = (struct bursts *)&told;
	told_cnt = 0;
	return 0;
}

void bursts__free(struct bursts *b)
{
}

void bursts__start(struct bursts *b)
{
}

int bursts__add(struct bursts *b, uint32_t function, double per_ns)
{
	if (b)
		told[told_cnt++] = function;
	return 0;
}

double bursts__cost_ns(const struct bursts *b)
{
	return 0;
}

int bursts__remove(struct bursts *b, const uint32_t *list, size_t cnt)
{
	return 0;
}

double bursts__rate(const struct bursts *b, uint32_t function)
{
	return b ? world.rate[function] : -1;
}

static bool bursts_held_back;
static int bursts_looks;

int bursts__look(struct bursts *b, bool held_back, uint64_t now_ns)
{
	bursts_held_back = held_back;
	bursts_looks++;
	return 0;
}

uint64_t bursts__pace_ns(struct bursts *b)
{
	return b ? 60000000 : 0;
}

void bursts__off(struct bursts *b)
{
}

void bursts__on(struct bursts *b)
{
}

int bursts__estimate(struct bursts *b)
{
	return 0;
}

void bursts__account(const struct bursts *b, struct profile *p)
{
}

static struct plan_function functions[FUNCTIONS];
static struct plan_lookups lookups;
static struct plan plan;
static struct target_object object;
static struct target target;
static struct budget_inputs inputs;
static struct controller *controller;
static uint64_t now, call_ns; /* what the probes of a call cost */

static void set_cost(uint64_t ns)
{
	call_ns = ns;
	inputs.costs.classes[WIRE_COST_ENTRY_PUSH].outside_ns = ns / 2;
	inputs.costs.classes[WIRE_COST_RETURN].inside_ns = ns / 2;
}

/* With a limit of 5 %, unless the test sets another one before begin(). */
static int setup(void **state)
{
	memset(&world, 0, sizeof(world));
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		world.rate[i] = -1;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		functions[i] = (struct plan_function){.symbol = i == HOT    ? "hot"
								: i == WARM ? "warm"
									    : "rare",
						      .exit = EXIT_RETURN,
						      .entry.site = SITE_PUSH};
	lookups = (struct plan_lookups){0};
	plan = (struct plan){.functions = functions, .functions_cnt = FUNCTIONS};
	plan.lookups = &lookups;
	inputs = (struct budget_inputs){.plan = &plan, .target = &target, .limit = 0.05};
	object = (struct target_object){0};
	target = (struct target){.objects = &object, .objects_cnt = 1};
	set_cost(CALL_NS);
	now = SECOND;
	return 0;
}

static int teardown(void **state)
{
	controller__free(controller);
	for (size_t i = 0; i < lookups.functions.cnt; i++)
		free(lookups.functions.items[i]);
	free(lookups.functions.items);
	return 0;
}

static void begin(void)
{
	assert_int_equal(controller__new(&inputs, &controller), 0);
	controller__start(controller, now);
}

/* Lets the target live for that time and make so many calls; then comes a look. Probes make the
 * time longer, those of calls that are passed over by half. */
static void live_for(uint64_t ns, uint64_t hot, uint64_t warm, uint64_t rare)
{
	const uint64_t calls[FUNCTIONS] = {hot, warm, rare};
	int saved = hush();

	world.cpu_ns += ns;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		uint64_t seen = world.every[i] ? calls[i] / world.every[i] : calls[i];

		if (world.every[i] == 1)
			seen = 0;
		world.calls[i] += seen;
		if (!world.out[i])
			world.passed[i] += calls[i] - seen;
		world.cpu_ns += seen * call_ns;
	}
	now += 2 * ns;
	assert_int_equal(controller__look(controller, now), 0);
	unhush(saved);
}

static void live(uint64_t hot, uint64_t warm, uint64_t rare)
{
	live_for(SECOND, hot, warm, rare);
}

static void assert_dropped(uint32_t hot, uint32_t warm, uint32_t rare)
{
	assert_int_equal(world.every[HOT], hot);
	assert_int_equal(world.every[WARM], warm);
	assert_int_equal(world.every[RARE], rare);
}

static int choose(uint32_t function, enum controller_choice choice)
{
	int saved = hush();
	int err = controller__choose(controller, &function, 1, choice, now);

	unhush(saved);
	return err;
}

static void what_is_within_the_budget_stays(void **state)
{
	begin();
	for (int i = 0; i < 5; i++)
		live(20000, 20000, 10);
	assert_dropped(0, 0, 0);
	assert_int_equal(world.drops, 0);
}

/* Samples meet probes three times as often as is reckoned: what was within the budget is not. */
static void samples_tell_what_probes_cost(void **state)
{
	begin();
	world.samples = 1000;
	world.probing = 20; /* 1,000 ns each, 2 % of a second, are reckoned */
	for (int i = 0; i < 5; i++)
		live(10000, 10000, 10);
	assert_dropped(0, 0, 0);
	world.samples = 2000;
	world.probing = 120;
	for (int i = 0; i < 5; i++)
		live(10000, 10000, 10);
	assert_int_equal(!!world.every[HOT] + !!world.every[WARM], 1);
	assert_int_equal(world.every[RARE], 0);
}

static void the_dearest_goes(void **state)
{
	struct profile_function named[FUNCTIONS];
	struct profile p = {.functions = named};

	begin();
	live(200000, 20000, 10);
	assert_dropped(1, 0, 0);
	assert_true(world.out[HOT] && !world.out[WARM] && !world.out[RARE]);
	for (int i = 0; i < 5; i++)
		live(200000, 20000, 10);
	assert_dropped(1, 0, 0);
	assert_int_equal(world.drops, 1);

	controller__account(controller, &p);
	assert_int_equal(controller__apply(controller, &p), 0);
	assert_int_equal(p.drops_cnt, 1);
	assert_int_equal(p.drops[0].function, HOT);
	assert_int_equal(p.drops[0].at_ns, 2 * SECOND);
	assert_string_equal(p.drops[0].reason,
			    "over the budget; the probes of a call take 1.00 us");
	assert_string_equal(p.functions[HOT].name, "hot");
	assert_true(p.max_overhead == 5);
	assert_int_equal(p.accounting.cpu_ns, world.cpu_ns);
	free(p.drops);
}

/* A function is called once, and its exits are hit all the time. It is not looked at when dropped,
 * as its entries would say that it costs nothing. */
static void exits_outside_of_calls(void **state)
{
	struct profile_function named[FUNCTIONS];
	struct profile p = {.functions = named};

	inputs.burst_ns = 5000000;
	begin();
	live(10, 1, 10);
	assert_dropped(0, 0, 0);
	/* The target makes 20,000 calls, and five more links have seen them. */
	world.strays[HOT] = 100000;
	live(20000, 0, 10);
	assert_dropped(0, 0, 0);
	world.strays[WARM] = 400000;
	world.cpu_ns += world.strays[WARM] * CALL_NS / 2;
	live(10, 0, 10);
	assert_dropped(0, 1, 0);
	assert_int_equal(told_cnt, 0);
	assert_int_equal(controller__apply(controller, &p), 0);
	assert_int_equal(p.drops_cnt, 1);
	assert_true(p.drops[0].cost_percent > 15 && p.drops[0].cost_percent < 25);
	assert_non_null(strstr(p.drops[0].reason, "hit outside of its calls"));
	free(p.drops);
}

/* Bursts have half of the budget, and what was dropped. */
static void bursts_have_their_part(void **state)
{
	inputs.burst_ns = 5000000;
	begin();
	live(1000, 30000, 10);
	assert_dropped(0, 1, 0);
	assert_int_equal(told_cnt, 1);
	assert_int_equal(told[0], WARM);
	for (int i = 0; i < 3; i++)
		live(1000, 30000, 10);
	assert_int_equal(told_cnt, 1);
	assert_int_equal(controller__pace_ns(controller), 60000000);
}

/* The start took as long as half of what exact probes may cost in five seconds. Dropped functions
 * are looked at less often until it is paid, too. */
static void the_start_is_paid_off(void **state)
{
	inputs.limit = 0.2;
	inputs.burst_ns = 5000000;
	inputs.start_ns = (uint64_t)(0.5 * 0.13 * 4.5 * SECOND);
	begin();
	world.rate[HOT] = 30000e-9;
	for (int i = 0; i < 4; i++) {
		live(30000, 12000, 10);
		assert_dropped(1, 0, 0);
		assert_true(bursts_held_back);
	}
	live(30000, 12000, 10);
	live(30000, 12000, 10);
	assert_dropped(0, 0, 0);
	assert_false(bursts_held_back);
}

/* While files are loaded one after the other there are no looks at dropped functions, but for two
 * seconds at most. */
static void no_bursts_amid_loading(void **state)
{
	inputs.burst_ns = 5000000;
	begin();
	live(60000, 0, 0);
	live(60000, 0, 0);
	bursts_looks = 0;
	for (int i = 0; i < 15; i++) {
		controller__loads(controller, now);
		live_for(SECOND / 20, 1, 0, 0);
	}
	assert_int_equal(bursts_looks, 0);
	live_for(SECOND / 20, 1, 0, 0);
	live_for(SECOND / 20, 1, 0, 0);
	assert_int_not_equal(bursts_looks, 0);
	bursts_looks = 0;
	for (int i = 0; i < 25; i++) {
		controller__loads(controller, now);
		live_for(SECOND / 20, 1, 0, 0);
	}
	assert_int_not_equal(bursts_looks, 0);
}

/* Samples that take 1 % of the target's CPU time, and switches that take another, leave 3 of 5 %
 * for calls: of 35,000 that cost 1 us each some are too many then. */
static void what_is_spent_anyway_counts(void **state)
{
	inputs.interrupt_ns = 100000;
	begin();
	live(35000, 0, 0);
	live(35000, 0, 0);
	assert_dropped(0, 0, 0);
	world.samples = 300;
	world.waits = 3 * (SECOND / 100 / WAIT_COST_NS);
	live(35000, 0, 0);
	assert_dropped(1, 0, 0);
}

/* However much is spent anyway, two fifths of their part are left for exact calls. */
static void a_part_is_left_for_calls(void **state)
{
	inputs.limit = 0.2;
	inputs.burst_ns = 5000000;
	begin();
	world.waits = 10 * (SECOND / WAIT_COST_NS);
	for (int i = 0; i < 5; i++)
		live(20000, 10000, 0);
	assert_dropped(0, 0, 0);
	live(40000, 10000, 0);
	assert_dropped(1, 0, 0);
}

static void what_options_name_stays(void **state)
{
	begin();
	assert_int_equal(controller__keep(controller, HOT), 0);
	live(200000, 40000, 5);
	assert_dropped(0, 1, 0); /* of what may go all that makes a difference */
}

/* Functions that options name cost more than the budget: the others have half of it all the same.
 */
static void what_options_name_leaves_the_others_a_part(void **state)
{
	begin();
	assert_int_equal(controller__keep(controller, HOT), 0);
	for (int i = 0; i < 5; i++)
		live(200000, 25000, 50);
	assert_dropped(0, 0, 0);
	live(200000, 35000, 50);
	assert_dropped(0, 1, 0);
}

/* Functions that options name leave the others a part also where the survey chooses, before the
 * start. */
static void a_forecast_leaves_the_others_a_part(void **state)
{
	const struct forecast_function forecast[FUNCTIONS] = {[HOT] = {.rate = 60000.0 / SECOND},
							      [WARM] = {.rate = 600.0 / SECOND},
							      [RARE] = {.rate = 50.0 / SECOND}};

	inputs.start_ns = 1;
	assert_int_equal(controller__new(&inputs, &controller), 0);
	assert_int_equal(controller__keep(controller, HOT), 0);
	assert_int_equal(controller__expect(controller, forecast), 0);
	assert_dropped(0, 0, 0);
}

/* Calls cost six times what the target does by itself, and 6 ms of CPU time in a second. */
static void an_idle_target_loses_nothing(void **state)
{
	begin();
	for (int i = 0; i < 20; i++) {
		now += SECOND - 2 * SECOND / 1000;
		live_for(SECOND / 1000, 3000, 3000, 10);
	}
	assert_dropped(0, 0, 0);
	/* Three times as many are too much for it, too. */
	for (int i = 0; i < 5; i++) {
		now += SECOND - 2 * SECOND / 1000;
		live_for(SECOND / 1000, 15000, 3000, 10);
	}
	assert_dropped(1, 0, 0);
}

/* A short look meets the one request of a second: not all of the time is like it. */
static void a_short_look_at_an_idle_target(void **state)
{
	begin();
	for (int i = 0; i < 20; i++) {
		now += 9 * SECOND / 10;
		live_for(0, 0, 0, 0);
		live_for(SECOND / 100, 4000, 4000, 10);
	}
	assert_dropped(0, 0, 0);
}

/* By the survey an idle target could be traced as a whole; by its share it could not. */
static void a_forecast_of_an_idle_target(void **state)
{
	const struct forecast_function forecast[FUNCTIONS] = {[HOT] = {.rate = 200000.0 / SECOND}};

	inputs.load = 0.04;
	assert_int_equal(controller__new(&inputs, &controller), 0);
	assert_int_equal(controller__expect(controller, forecast), 0);
	assert_dropped(0, 0, 0);
	inputs.load = 0.06;
	assert_int_equal(controller__expect(controller, forecast), 0);
	assert_dropped(1, 0, 0);
}

/* Looking closer (--slo): a part of a CPU is spared, whatever the start has cost, and even if no
 * look has seen the target yet. What is watched is kept, and too dear by itself. */
static void what_is_below_a_rule_is_seen(void **state)
{
	const struct forecast_function forecast[FUNCTIONS] = {
		[HOT] = {.rate = 200000.0 / SECOND}, [WARM] = {.rate = 200000.0 / SECOND}};

	inputs.start_ns = SECOND;
	inputs.load = 0.05;
	assert_int_equal(controller__new(&inputs, &controller), 0);
	assert_int_equal(controller__keep(controller, HOT), 0);
	assert_int_equal(controller__expect(controller, forecast), 0);
	assert_int_equal(controller__hold(controller), 0);
	controller__start(controller, now);
	assert_dropped(0, 1, 1);
	controller__limit(controller, 0.05, 0.05);
	assert_int_equal(choose(WARM, CHOICE_LAST), 0);
	assert_int_equal(choose(RARE, CHOICE_LAST), 0);
	for (int i = 0; i < 10; i++) {
		assert_dropped(0, 0, 0);
		now += 19 * SECOND / 20 - SECOND / 20;
		live_for(SECOND / 20, 20000, 20000, 10);
	}
	assert_dropped(0, 0, 0);
}

static void without_a_limit_nothing_goes(void **state)
{
	inputs.limit = 0;
	begin();
	assert_int_equal(controller__pace_ns(controller), 0);
	live(2000000, 20000, 10);
	assert_dropped(0, 0, 0);
}

static void one_call_in_some_is_kept(void **state)
{
	inputs.sample_hot = 100;
	begin();
	for (int i = 0; i < 3; i++)
		live(200000, 20000, 10);
	assert_dropped(100, 0, 0);
	assert_int_equal(world.drops, 0); /* its probes stay */
}

static void links_that_wait_are_tried_again(void **state)
{
	begin();
	world.drop_err = -EAGAIN;
	live(200000, 20000, 10);
	assert_int_equal(world.drops, 1);
	live(0, 20000, 10);
	assert_int_equal(world.drops, 2);
	world.drop_err = 0;
	live(0, 20000, 10);
	live(0, 20000, 10);
	assert_int_equal(world.drops, 3);
}

/* Calls and CPU time while tracing is switched off are neither looked at nor counted. */
static void pauses_do_not_count(void **state)
{
	struct profile p = {0};

	begin();
	live(20000, 20000, 10);
	controller__off(controller, now);
	live(200000, 20000, 10);
	assert_dropped(0, 0, 0);
	world.cpu_ns += 7 * SECOND;
	controller__on(controller, now);
	controller__account(controller, &p);
	assert_int_equal(p.accounting.cpu_ns, SECOND + 40010 * CALL_NS);
}

/* CPU time is that of the moment in which calls were read, however long it takes until all about
 * the functions has been found. */
static void cpu_time_is_of_the_snapshot(void **state)
{
	struct profile p = {0};

	begin();
	live(10, 10, 10);
	controller__account(controller, &p);
	live(10, 10, 10);
	assert_int_equal(controller__apply(controller, &p), 0);
	assert_int_equal(p.accounting.cpu_ns, SECOND + 30 * CALL_NS);
}

static pid_t child_that_has_ended(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* CPU time of a process that has ended while probes were put in was before the run. */
static void who_ends_before_the_start_has_no_time(void **state)
{
	struct target_process ended = {.pid = child_that_has_ended()};

	target.processes = &ended;
	target.processes_cnt = 1;
	world.ended_ns = 7 * SECOND;
	begin();
	assert_int_equal(controller__cpu_ns(controller), 0);
	/* A process that comes later has all of its time in the run. */
	controller__joined(controller, ended.pid);
	assert_int_equal(controller__cpu_ns(controller), 7 * SECOND);
}

static uint64_t cpu_of(pid_t pid)
{
	uint64_t ns;

	assert_int_equal(process__cpu_ns(pid, &ns), 0);
	return ns;
}

/* CPU time that a child, forked while probes were put in, had before all were in was before the
 * run. The child need not have called anything. */
static void children_have_what_they_run_from_the_start_on(void **state)
{
	struct target_process named = {.pid = child_that_has_ended()};
	uint64_t before_ns, start_ns;

	inputs.children = true;
	target.processes = &named;
	target.processes_cnt = 1;
	world.child = getpid(); /* stands for it */
	while (cpu_of(world.child) < SECOND / 20)
		;
	before_ns = cpu_of(world.child);
	begin();
	start_ns = cpu_of(world.child);
	assert_true(controller__cpu_ns(controller) < SECOND / 20);
	while (cpu_of(world.child) < start_ns + SECOND / 20)
		;
	assert_true(controller__cpu_ns(controller) >= SECOND / 20);
	/* The child ends: the kernel tells all CPU time that it has had. */
	world.child = 0;
	world.cpu_ns = start_ns + SECOND;
	assert_in_range(controller__cpu_ns(controller), SECOND, SECOND + start_ns - before_ns);
}

/* A child that has had so much CPU time, and waits to be killed. */
static pid_t child_that_has_run(uint64_t ns)
{
	pid_t pid = fork();

	while (!pid && cpu_of(getpid()) < ns)
		;
	if (!pid) {
		pause();
		_exit(0);
	}
	while (cpu_of(pid) < ns)
		;
	return pid;
}

/* Where all that map a file are traced, those count that have called something: from the start on,
 * and of who begins later everything. */
static void who_maps_a_file_has_what_it_runs_from_the_start_on(void **state)
{
	uint64_t start_ns;

	while (cpu_of(getpid()) < SECOND / 20)
		;
	target.processes_cnt = 0;
	begin();
	start_ns = cpu_of(getpid());
	world.caller = getpid(); /* stands for it */
	while (cpu_of(getpid()) < start_ns + SECOND / 20)
		;
	assert_in_range(controller__cpu_ns(controller), SECOND / 20,
			cpu_of(getpid()) - SECOND / 20);
	/* The process ends: the kernel tells all CPU time that it has had. */
	world.caller = 0;
	world.cpu_ns = start_ns + SECOND;
	assert_in_range(controller__cpu_ns(controller), SECOND, SECOND + start_ns - SECOND / 20);
	world.caller = child_that_has_run(SECOND / 20);
	assert_true(controller__cpu_ns(controller) >= SECOND + SECOND / 20);
	kill(world.caller, SIGKILL);
	assert_int_equal(waitpid(world.caller, NULL, 0), world.caller);
}

static void a_forecast_drops_before_the_start(void **state)
{
	const struct forecast_function forecast[FUNCTIONS] = {
		[HOT] = {.rate = 200000.0 / SECOND}, [WARM] = {.rate = 20000.0 / SECOND}};

	assert_int_equal(controller__new(&inputs, &controller), 0);
	assert_int_equal(controller__expect(controller, forecast), 0);
	assert_dropped(1, 0, 0);
	assert_true(world.out[HOT] && !world.out[WARM]);
	controller__start(controller, now);
	live(200000, 20000, 10);
	assert_dropped(1, 0, 0);
}

/* Go's collector, which the survey has not met, is not traced before bursts have: only where no
 * option names functions. */
static void what_works_in_phases_waits(void **state)
{
	const struct forecast_function forecast[FUNCTIONS] = {[HOT] = {.rate = 200000.0 / SECOND}};
	struct profile_function profiled[FUNCTIONS] = {0};
	struct profile p = {.functions = profiled, .functions_cnt = FUNCTIONS};

	for (int i = 0; i < 4; i++) {
		inputs.all = i & 1;
		functions[WARM].works_in_phases = i & 2;
		assert_int_equal(controller__new(&inputs, &controller), 0);
		assert_int_equal(controller__expect(controller, forecast), 0);
		assert_dropped(1, i == 3, 0);
		if (i == 3)
			break;
		controller__free(controller);
		memset(world.every, 0, sizeof(world.every));
	}
	assert_true(world.out[WARM] && !world.out[RARE]);
	controller__start(controller, now);
	assert_int_equal(controller__apply(controller, &p), 0);
	assert_int_equal(p.drops_cnt, 2);
	assert_non_null(strstr(p.drops[0].reason, "over the budget"));
	assert_non_null(strstr(p.drops[1].reason, "works in phases"));
	free(p.drops);
}

/* Where a target of so many processes would have very many probes, what was not called gets none;
 * it is not looked at in bursts, either. */
static void what_nobody_calls_in_many_processes(void **state)
{
	const bool called[FUNCTIONS] = {[HOT] = true};

	inputs.burst_ns = 5000000;
	object.processes_cnt = target.processes_cnt = 60000;
	assert_int_equal(controller__new(&inputs, &controller), 0);
	assert_int_equal(controller__keep(controller, WARM), 0);
	assert_int_equal(controller__leave_out(controller, called), 0);
	assert_dropped(0, 0, 0); /* 180,000 probes */
	assert_int_equal(world.drops, 0);
	object.processes_cnt = target.processes_cnt = 70000;
	assert_int_equal(controller__leave_out(controller, called), 0);
	assert_dropped(0, 0, 1);
	assert_true(world.out[RARE]);
	assert_int_equal(told_cnt, 0);
}

static void what_is_planned_later_can_go(void **state)
{
	plan.functions_cnt = 1;
	begin();
	live(0, 0, 0);
	plan.functions_cnt = FUNCTIONS;
	live(10, 200000, 10);
	assert_dropped(0, 1, 0);
}

/* Far too much is looked at again soon. */
static void the_pace(void **state)
{
	uint64_t fast_ns;

	begin();
	fast_ns = controller__pace_ns(controller); /* as at the start */
	live(20000, 20000, 10);
	assert_true(controller__pace_ns(controller) > fast_ns);
}

/* The first looks come after 4, 8 and 16 ms, and drop what has cost more than 4 ms. */
static void the_first_looks(void **state)
{
	begin();
	assert_int_equal(controller__pace_ns(controller), 4000000);
	live_for(2000000, 3000, 0, 0);
	assert_dropped(0, 0, 0);
	assert_int_equal(controller__pace_ns(controller), 4000000);
	live_for(2000000, 3000, 3, 0);
	assert_dropped(1, 0, 0);
	assert_true(world.out[HOT]);
}

/* A process's clock goes in steps: until the first one, all of the time since the start counts. */
static void a_first_look_before_the_clock(void **state)
{
	begin();
	world.calls[HOT] = 3000;
	now += 8000000;
	live_for(0, 0, 0, 0);
	assert_dropped(0, 0, 0);
	world.calls[HOT] = 7000;
	now += 8000000;
	live_for(0, 0, 0, 0);
	assert_dropped(1, 0, 0);
}

/* Old probes cost the target time until they are out, which a look sees to. */
static void old_probes_are_taken_out_soon(void **state)
{
	begin();
	world.lingers = true;
	live(200000, 20000, 10);
	assert_dropped(1, 0, 0);
	assert_int_equal(controller__pace_ns(controller), 4000000);
	live_for(SECOND / 1000, 0, 0, 0);
	assert_int_equal(controller__pace_ns(controller), 4000000);
	world.lingers = false;
	live_for(SECOND / 1000, 0, 0, 0);
	assert_true(controller__pace_ns(controller) > 4000000);
}

/* Of functions that are called once a request, ten requests tell, however long these take. */
static void few_calls_add_up(void **state)
{
	begin();
	set_cost(SECOND / 1000);
	for (int i = 0; i < 9; i++)
		live_for(SECOND / 50, 1, 1, 1);
	assert_dropped(0, 0, 0);
	assert_int_equal(controller__pace_ns(controller), 20000000);
	live_for(SECOND / 50, 1, 1, 1);
	assert_dropped(1, 1, 1);
	assert_int_equal(world.drops, 1);
}

/* If forked children do the same again and again three calls tell enough; and functions that are
 * dropped there go one after the other. */
static void a_forking_server_needs_fewer(void **state)
{
	world.forks = true;
	begin();
	set_cost(SECOND / 100);
	live_for(SECOND / 50, 3, 2, 1);
	assert_dropped(1, 0, 0);
	assert_true(world.out[HOT]);
	live_for(SECOND / 1000, 0, 2, 1);
	assert_dropped(1, 1, 0);
	assert_false(world.out[WARM]); /* links are still being closed */
	live_for(SECOND / 50, 0, 0, 0);
	assert_true(world.out[WARM]);
	assert_int_equal(world.drops, 2);
}

/* A server was busy before the start, and its probes cost many times what they may, as when its
 * garbage collector begins: three calls are enough to drop a function. */
static void fewer_calls_tell_where_a_server_pays_much(void **state)
{
	inputs.load = 1;
	begin();
	set_cost(SECOND / 100);
	live_for(SECOND / 50, 20, 2, 1);
	assert_dropped(1, 0, 0);
	live_for(SECOND / 1000, 0, 1, 1);
	assert_dropped(1, 1, 0);
}

/* A target that did nothing before the start may be a program that begins, which calls most
 * functions a few times and never again: three calls of a function are not enough to drop it. */
static void not_of_what_was_not_busy_before(void **state)
{
	begin();
	set_cost(SECOND / 100);
	live_for(SECOND / 50, 20, 2, 1);
	live_for(SECOND / 1000, 0, 1, 1);
	assert_dropped(1, 0, 0);
}

static void few_calls_of_a_slow_server_add_up(void **state)
{
	begin();
	set_cost(SECOND / 10);
	for (int i = 0; i < 3; i++)
		live(3, 3, 3);
	assert_dropped(0, 0, 0);
	live(3, 3, 3);
	assert_dropped(1, 1, 1);
}

/* Below twice the limit each look begins anew. */
static void few_calls_that_cost_little_do_not(void **state)
{
	begin();
	set_cost(SECOND / 100);
	for (int i = 0; i < 20; i++)
		live(3, 3, 3);
	assert_dropped(0, 0, 0);
}

/* A chosen function comes back and stays, and another one pays for it. */
static void the_chosen_comes_back(void **state)
{
	struct profile_function named[FUNCTIONS];
	struct profile p = {.functions = named};

	begin();
	live(40000, 20000, 10);
	assert_dropped(1, 0, 0);
	assert_false(controller__is_exact(controller, HOT));
	assert_int_equal(choose(HOT, CHOICE_FIRM), 0);
	assert_int_equal(world.restores, 1);
	assert_dropped(0, 0, 0);
	assert_false(world.out[HOT]);
	assert_true(controller__is_exact(controller, HOT));
	for (int i = 0; i < 3; i++)
		live(40000, 20000, 10);
	assert_dropped(0, 1, 0);
	assert_true(controller__chosen(controller).exact == 1);
	assert_true(fabs(controller__chosen(controller).exact_share - 0.04) < 0.002);

	assert_int_equal(controller__apply(controller, &p), 0);
	assert_int_equal(p.drops_cnt, 2);
	assert_int_equal(p.drops[0].function, HOT);
	assert_int_equal(p.drops[0].back_ns, 2 * SECOND);
	assert_int_equal(p.drops[1].function, WARM);
	assert_int_equal(p.drops[1].back_ns, 0);
	free(p.drops);

	/* Let go of, it is judged like any other. */
	controller__release(controller);
	live(60000, 20000, 10);
	assert_dropped(1, 1, 0);
}

/* Dear functions: a firm choice stays in spite of the cost, and others wait until they are cheap.
 */
static void what_does_not_fit_is_left(void **state)
{
	inputs.burst_ns = 5000000;
	begin();
	live(400000, 10000, 10);
	assert_dropped(1, 0, 0);
	assert_int_equal(choose(HOT, CHOICE_LAST), 0);
	assert_int_equal(world.restores, 0);
	assert_int_equal(controller__chosen(controller).left, 1);
	assert_true(controller__chosen(controller).left_share > 0.2);
	world.rate[HOT] = 400000.0 / SECOND;
	for (int i = 0; i < 3; i++)
		live(400000, 10000, 10);
	assert_int_equal(world.restores, 0);
	world.rate[HOT] = 15000.0 / SECOND;
	live(15000, 10000, 10);
	assert_dropped(0, 0, 0);
	for (int i = 0; i < 6; i++)
		live(15000, 10000, 10);
	assert_dropped(0, 1, 0);
	assert_int_equal(choose(HOT, CHOICE_FIRM), 0);
	for (int i = 0; i < 3; i++)
		live(400000, 10000, 5);
	assert_dropped(0, 1, 0);
}

/* A function that has become cheap is exact again; one that does not stay so waits longer. */
static void what_cools_down_comes_back(void **state)
{
	inputs.burst_ns = 5000000;
	begin();
	live(400000, 1000, 10);
	assert_dropped(1, 0, 0);
	live(100, 1000, 10);
	assert_dropped(1, 0, 0); /* nobody has seen that as yet */
	world.rate[HOT] = 500.0 / SECOND;
	live(100, 1000, 10);
	assert_dropped(0, 0, 0);
	assert_int_equal(world.restores, 1);
	live(400000, 1000, 10);
	assert_dropped(1, 0, 0);
	live(100, 1000, 10); /* two seconds later: too soon */
	assert_dropped(1, 0, 0);
	live(100, 1000, 10);
	assert_dropped(0, 0, 0);
	/* Not into what is left of the budget, but well below. */
	live(400000, 20000, 10);
	assert_dropped(1, 0, 0);
	world.rate[HOT] = 2500.0 / SECOND;
	for (int i = 0; i < 9; i++)
		live(100, 14000, 10);
	assert_dropped(1, 0, 0);
	for (int i = 0; i < 2; i++)
		live(100, 1000, 10);
	assert_dropped(0, 0, 0);
}

static void a_return_that_fails(void **state)
{
	begin();
	live(400000, 1000, 10);
	world.restore_err = -EMFILE;
	assert_int_equal(choose(HOT, CHOICE_FIRM), -EMFILE);
	assert_dropped(1, 0, 0);
	live(400000, 1000, 10);
	assert_int_equal(world.drops, 2); /* what may have come in goes */
	assert_false(controller__is_exact(controller, HOT));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Beside cold caches a call costs more: by the work of two probes, or by as much as it costs. */
static void cold_caches_make_what_is_cheap_no_dearer_than_that(void **state)
{
	inputs.costs.burden = 1.5;
	inputs.costs.classes[WIRE_COST_SYSTEM_CALL].outside_ns = 400;
	functions[RARE].kind = PLAN_SYSTEM_CALL;
	functions[RARE].exit = EXIT_NONE;
	begin();
	assert_float_equal(controller__call_ns(controller, HOT), 1.5 * CALL_NS, 1);
	assert_float_equal(controller__call_ns(controller, RARE), 1.5 * 400, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cold_caches_make_what_is_cheap_no_dearer_than_that),
		TEST(what_is_within_the_budget_stays),
		TEST(samples_tell_what_probes_cost),
		TEST(the_dearest_goes),
		TEST(exits_outside_of_calls),
		TEST(bursts_have_their_part),
		TEST(the_start_is_paid_off),
		TEST(no_bursts_amid_loading),
		TEST(what_is_spent_anyway_counts),
		TEST(a_part_is_left_for_calls),
		TEST(what_options_name_stays),
		TEST(what_options_name_leaves_the_others_a_part),
		TEST(a_forecast_leaves_the_others_a_part),
		TEST(an_idle_target_loses_nothing),
		TEST(a_short_look_at_an_idle_target),
		TEST(a_forecast_of_an_idle_target),
		TEST(what_is_below_a_rule_is_seen),
		TEST(without_a_limit_nothing_goes),
		TEST(one_call_in_some_is_kept),
		TEST(links_that_wait_are_tried_again),
		TEST(cpu_time_is_of_the_snapshot),
		TEST(pauses_do_not_count),
		TEST(who_ends_before_the_start_has_no_time),
		TEST(children_have_what_they_run_from_the_start_on),
		TEST(who_maps_a_file_has_what_it_runs_from_the_start_on),
		TEST(a_forecast_drops_before_the_start),
		TEST(what_works_in_phases_waits),
		TEST(what_nobody_calls_in_many_processes),
		TEST(what_is_planned_later_can_go),
		TEST(the_pace),
		TEST(the_first_looks),
		TEST(a_first_look_before_the_clock),
		TEST(old_probes_are_taken_out_soon),
		TEST(few_calls_add_up),
		TEST(a_forking_server_needs_fewer),
		TEST(fewer_calls_tell_where_a_server_pays_much),
		TEST(not_of_what_was_not_busy_before),
		TEST(few_calls_of_a_slow_server_add_up),
		TEST(few_calls_that_cost_little_do_not),
		TEST(the_chosen_comes_back),
		TEST(what_does_not_fit_is_left),
		TEST(what_cools_down_comes_back),
		TEST(a_return_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
