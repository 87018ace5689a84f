// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each function is called in rounds, which take turns, so that what disturbs the machine for a
 * while disturbs few rounds of each; medians are taken over rounds. What a round takes as a whole
 * is measured by the child, in CPU time; the part inside the calls is what our programs have
 * recorded as their time, as the functions themselves do nothing. Where the rounds differ too much,
 * as on a busy machine, there are more of them.
 *
 * A call's cost is that of its entry plus that of its exit. Entries are measured with return
 * probes, exits behind a push; what only an entry costs shows where no exit is seen.
 */
#include "calibrate/calibrate.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "arch/calibrate_sites.h"
#include "attach/costs.h"
#include "attach/groups.h"
#include "attach/tracer.h"
#include "calibrate/cache.h"
#include "code/code.h"
#include "collect/collector.h"
#include "util/clock.h"
#include "util/log.h"

/* A folder of root's, which is empty after a boot. */
#define CACHE "/run/proftrace"

#define ROUNDS	    11
#define MOST_ROUNDS (4 * ROUNDS)
#define BARE_ROUNDS 5  /* without probes */
#define CALLS	    50 /* a round; 50 us, so few rounds are disturbed by the machine's clock */
#define SLOW_CALLS  10 /* of functions that are single-stepped */
#define WARM_UP	    2  /* calls before a round: the child has just been woken */
#define WARM_BYTES  (8 << 10)
#define COLD_BYTES  (2 << 20)
#define MIN_SPREAD  0.02 /* what differs from one place in a program to the next */
#define MIN_SLOWER  0.1	 /* less does not tell cold caches from warm ones */
#define MAX_BURDEN  3
#define MAX_GAIN    4
/* Of an entry's cost, the part behind the reading of the clock: a guess that matters only for calls
 * whose exit is not seen. */
#define ENTRY_SHARE 0.25

enum {
	RETURNS, /* + site class */
	ENTERED = RETURNS + SITE_CLASSES,
	BY_RET,
	BY_JMP,
	BY_JCC,
	BY_EMULATED, /* a `ret`; without a probe where there are no such */
	CLOSED,
	TURN_A,
	TURN_B,
	COLD,
	PASSED,
	BURDENED,
	NESTED,
	OUTER, /* calls NESTED */
	TAIL,
	TARGET,	     /* of TAIL */
	SYSTEM_CALL, /* makes one, and has no probe itself */
	FUNCTIONS,
};

_Static_assert(FUNCTIONS == CALIBRATE_FUNCTIONS, "functions");

static void make_system_call(void)
{
	syscall(SYS_getppid);
}

static void (*const functions[FUNCTIONS])(void) = {
	[RETURNS + SITE_NOP5] = calibrate_nop5,
	[RETURNS + SITE_NOP10] = calibrate_nop10,
	[RETURNS + SITE_NOP] = calibrate_nop,
	[RETURNS + SITE_PUSH] = calibrate_push,
	[RETURNS + SITE_JMP] = calibrate_jmp,
	[RETURNS + SITE_JCC] = calibrate_jcc,
	[RETURNS + SITE_CALL] = calibrate_call,
	[RETURNS + SITE_STEP] = calibrate_step,
	[RETURNS + SITE_EMUL] = calibrate_emul,
	[ENTERED] = calibrate_entered,
	[BY_RET] = calibrate_leaves_by_ret,
	[BY_JMP] = calibrate_leaves_by_jmp,
	[BY_JCC] = calibrate_leaves_by_jcc,
	[BY_EMULATED] = calibrate_emulated,
	[CLOSED] = calibrate_closed,
	[TURN_A] = calibrate_turn_a,
	[TURN_B] = calibrate_turn_b,
	[COLD] = calibrate_cold,
	[BURDENED] = calibrate_burdened,
	[PASSED] = calibrate_passed,
	[NESTED] = calibrate_nested,
	[OUTER] = (void (*)(void))calibrate_outer,
	[TAIL] = calibrate_tail,
	[TARGET] = calibrate_target,
	[SYSTEM_CALL] = make_system_call,
};

/* Cost of one call, in a round or in the median. */
struct measure {
	double whole_ns, inside_ns;
};

struct calibration {
	struct tracer *tr;
	struct collector *c;
	struct function_usage usage[FUNCTIONS];
	struct measure rounds[FUNCTIONS][MOST_ROUNDS];
	int rounds_cnt;		   /* but for SYSTEM_CALL, which has ROUNDS */
	double bare_ns[FUNCTIONS]; /* of a call without probes */
	pid_t child;
	int socket;
};

static bool is_slow(int function)
{
	return function == RETURNS + SITE_STEP || function == BY_RET || function == COLD;
}

/* Has no rounds of its own: it is called in another one's or apart from the others, or is not what
 * this kernel has. */
static bool rides_along(const struct calibration *cal, int function)
{
	return function == TURN_B || function == OUTER || function == TARGET ||
	       function == SYSTEM_CALL ||
	       (function == RETURNS + SITE_EMUL && !tracer__emulates(cal->tr));
}

static int calls_of(int function)
{
	return is_slow(function) ? SLOW_CALLS : CALLS;
}

/* COLD_BYTES, the child's alone: as a variable of that size it would be in every process of ours,
 * and with a limit on its data (ulimit -d 1024) the kernel would kill it before it could speak. */
static volatile char *memory;

/* In small pages, as programs have theirs. False: there is no room. */
static bool memory_take(void)
{
	void *m =
		mmap(NULL, COLD_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		return false;
	madvise(m, COLD_BYTES, MADV_NOHUGEPAGE);
	memory = m;
	return true;
}

/* Does something else in between, as programs do: with more bytes, until the caches hold nothing of
 * the kernel's. */
static void walk(size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 64)
		memory[i]++;
}

/* The work between two calls. */
static void between(int number)
{
	static long data[2048];

	if (number == BURDENED)
		calibrate_program(data);
	else
		walk(number == COLD ? COLD_BYTES : WARM_BYTES);
}

/* Calls a function `calls` times. */
static void call(int number, int calls)
{
	void (*function)(void) = functions[number];
	void (*other)(void) = number == TURN_A ? functions[TURN_B] : function;

	for (int i = 0; i < calls; i += 2) {
		between(number);
		function();
		between(number);
		other();
	}
}

static void call_nested(void)
{
	call(NESTED, CALLS);
}

/* The child: runs a round of the function whose number it is sent, and answers how long it took.
 * NESTED has no calls before it: they would not be below OUTER. */
static void serve(int socket)
{
	uint8_t number;

	while (read(socket, &number, 1) == 1 && number < FUNCTIONS) {
		uint64_t began, took;

		if (number != NESTED)
			call(number, WARM_UP);
		began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		if (number == NESTED)
			calibrate_outer(call_nested);
		else
			call(number, calls_of(number));
		took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - began;
		if (write(socket, &took, sizeof(took)) != sizeof(took))
			break;
	}
}

static int child_start(struct calibration *cal)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	cal->child = fork();
	if (cal->child < 0) {
		int err = -errno;

		close(pair[0]);
		close(pair[1]);
		return err;
	}
	if (!cal->child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		if (getppid() == parent && memory_take())
			serve(pair[1]);
		_exit(0);
	}
	close(pair[1]);
	cal->socket = pair[0];
	return 0;
}

/* Nothing of it is left in the tables when it has been waited for: its thread's end was seen. */
static void child_end(struct calibration *cal)
{
	close(cal->socket);
	while (cal->child > 0 && waitpid(cal->child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The CPU time of one call. */
static int run_round(const struct calibration *cal, int function, double *call_ns)
{
	uint8_t number = function;
	uint64_t took;

	if (write(cal->socket, &number, 1) != 1 ||
	    read(cal->socket, &took, sizeof(took)) != sizeof(took))
		return -EPIPE;
	*call_ns = (double)took / calls_of(function);
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int measure_bare(struct calibration *cal)
{
	double rounds[FUNCTIONS][BARE_ROUNDS] = {0};
	int err = 0;

	/* The first one warms up. */
	for (int round = -1; !err && round < BARE_ROUNDS; round++) {
		for (int f = 0; !err && f < FUNCTIONS; f++)
			if (!rides_along(cal, f))
				err = run_round(cal, f, &rounds[f][round < 0 ? 0 : round]);
	}
	for (int f = 0; f < FUNCTIONS; f++) {
		qsort(rounds[f], BARE_ROUNDS, sizeof(rounds[f][0]), compare_doubles);
		cal->bare_ns[f] = rounds[f][BARE_ROUNDS / 2];
	}
	return err;
}

static int measure_round(struct calibration *cal, int function, struct measure *out)
{
	struct function_usage before = cal->usage[function], *u = &cal->usage[function];
	uint64_t calls, ns;
	double call_ns;
	int err;

	/* Entries with cold caches are few. What timing takes lies outside of the calls. */
	tracer__time_all(cal->tr, function == COLD);
	err = run_round(cal, function, &call_ns);
	tracer__time_all(cal->tr, false);
	if (!err)
		err = collector__usage(cal->c, cal->usage, FUNCTIONS);
	if (err)
		return err;
	calls = u->calls - before.calls + u->passed - before.passed;
	ns = u->self_ns - before.self_ns - (u->off_ns - before.off_ns);
	out->whole_ns = call_ns - cal->bare_ns[function];
	out->inside_ns = calls ? (double)ns / (double)calls : 0;
	return calls ? 0 : -ENODATA;
}

/* The median over the rounds; *spread is half the distance between the quartiles. */
static double median(const struct measure *rounds, int cnt, bool inside, double *spread)
{
	double sorted[MOST_ROUNDS];

	for (int i = 0; i < cnt; i++)
		sorted[i] = inside ? rounds[i].inside_ns : rounds[i].whole_ns;
	qsort(sorted, cnt, sizeof(*sorted), compare_doubles);
	*spread = (sorted[3 * cnt / 4] - sorted[cnt / 4]) / 2;
	return sorted[cnt / 2];
}

/* How uncertain the figures are, as a part of them: by how much rounds differ. The median of four
 * times as many rounds is twice as certain. */
static double spread_of(const struct calibration *cal)
{
	double most = 0, spread;

	for (int f = 0; f < TURN_B; f++) {
		double whole_ns = median(cal->rounds[f], cal->rounds_cnt, false, &spread);

		if (!rides_along(cal, f) && whole_ns > 0 && spread / whole_ns > most)
			most = spread / whole_ns;
	}
	most *= sqrt((double)ROUNDS / cal->rounds_cnt);
	return most > MIN_SPREAD ? most : MIN_SPREAD;
}

/* Each function once in each of ROUNDS more rounds; `warm_up`: once more before them. */
static int measure_rounds(struct calibration *cal, bool warm_up)
{
	int err = 0, done = cal->rounds_cnt;

	for (int round = done - warm_up; !err && round < done + ROUNDS; round++) {
		for (int f = 0; !err && f < FUNCTIONS; f++)
			if (!rides_along(cal, f))
				err = measure_round(cal, f, &cal->rounds[f][round < 0 ? 0 : round]);
	}
	cal->rounds_cnt += ROUNDS;
	return err;
}

static int measure_all(struct calibration *cal)
{
	/* The first call has the nops become calls. */
	int err = measure_rounds(cal, true);

	while (!err && spread_of(cal) > CACHE_MAX_SPREAD && cal->rounds_cnt < MOST_ROUNDS)
		err = measure_rounds(cal, false);
	return err;
}

/* Measures a system call, a cheap one: the 20 ns that it takes itself count as ours. */
static int measure_system_calls(struct calibration *cal)
{
	uint32_t number = tracer__first_system_call(cal->tr) + SYS_getppid;
	struct function_usage *usage;
	double bare_ns = 1e6, call_ns;
	uint64_t calls = 0, ns = 0;
	int err = 0;

	if (!tracer__watches_system_calls(cal->tr))
		return 0;
	usage = calloc(number + 1, sizeof(*usage));
	if (!usage)
		return -ENOMEM;
	for (int round = 0; !err && round < ROUNDS; round++) {
		err = run_round(cal, SYSTEM_CALL, &call_ns);
		bare_ns = !err && call_ns < bare_ns ? call_ns : bare_ns;
	}
	if (!err)
		err = tracer__watch_system_calls(cal->tr);
	for (int round = -1; !err && round < ROUNDS; round++) {
		struct measure *m = &cal->rounds[SYSTEM_CALL][round < 0 ? 0 : round];

		err = run_round(cal, SYSTEM_CALL, &call_ns);
		if (!err)
			err = collector__usage(cal->c, usage, number + 1);
		m->whole_ns = call_ns - bare_ns;
		m->inside_ns = usage[number].calls > calls
				       ? (double)(usage[number].self_ns - ns) /
						 (double)(usage[number].calls - calls)
				       : 0;
		calls = usage[number].calls;
		ns = usage[number].self_ns;
	}
	free(usage);
	return err;
}

static uint64_t cookie_of(int function, int site)
{
	return function | cost_class__of_entry(site) << WIRE_COOKIE_COST;
}

static uint64_t exit_cookie_of(int function, uint64_t kind)
{
	return function | kind << WIRE_COOKIE_EXIT;
}

/* The probe's address, on the function that begins with an instruction of that class. */
static const void *place_of(int site)
{
	bool behind = site == SITE_NOP10 && tracer__call_nops() == CALL_NOPS_10;

	return (const char *)functions[RETURNS + site] + behind;
}

/* Says what the entry does that is emulated, and where. */
static void describe_emulated(const struct calibration *cal)
{
	const uint8_t *at = place_of(SITE_EMUL);
	struct wire_emulation e;

	if (!arch__host()->emulation || !arch__host()->emulation(at, ARCH_AHEAD, &e))
		return;
	e.page_offset = (uintptr_t)at & WIRE_PAGE_MASK;
	collector__set_emulation(cal->c, RETURNS + SITE_EMUL, &e);
}

static int attach_emulated(const struct calibration *cal)
{
	const uint64_t at = (uintptr_t)calibrate_emulated_ret & WIRE_PAGE_MASK;
	const struct own_probe exit = {calibrate_emulated_ret,
				       exit_cookie_of(BY_EMULATED, WIRE_EXIT_RET) |
					       at << WIRE_COOKIE_DELTA |
					       (uint64_t)WIRE_EXIT_EMULATED << WIRE_COOKIE_FLAGS};

	describe_emulated(cal);
	return tracer__probe_own(cal->tr, cal->child, TRACER_RET, &exit, 1);
}

static int attach(const struct calibration *cal)
{
	struct own_probe returns[SITE_CLASSES + 9], entries[CLOSED - ENTERED + 1], exits[3];
	int err, cnt = 0;

	for (int site = 0; site < SITE_CLASSES; site++) {
		if (!rides_along(cal, RETURNS + site))
			returns[cnt++] =
				(struct own_probe){place_of(site), cookie_of(RETURNS + site, site)};
	}
	for (int f = TURN_A; f <= TARGET; f++)
		returns[cnt++] =
			(struct own_probe){(const void *)functions[f], cookie_of(f, SITE_PUSH)};
	for (int i = 0; i < cnt; i++)
		returns[i].cookie |= (uint64_t)(WIRE_ENTRY_RETURN | WIRE_ENTRY_TAIL)
				     << WIRE_COOKIE_FLAGS;
	for (int f = ENTERED; f <= CLOSED; f++)
		entries[f - ENTERED] =
			(struct own_probe){(const void *)functions[f], cookie_of(f, SITE_PUSH)};
	entries[CLOSED - ENTERED].cookie |=
		3ull << WIRE_COOKIE_VALUES | (uint64_t)WIRE_ENTRY_CLOSES << WIRE_COOKIE_FLAGS;
	exits[0] = (struct own_probe){calibrate_ret, exit_cookie_of(BY_RET, WIRE_EXIT_RET)};
	exits[1] = (struct own_probe){calibrate_exit_jmp, exit_cookie_of(BY_JMP, WIRE_EXIT_RET)};
	exits[2] = (struct own_probe){calibrate_exit_jcc, exit_cookie_of(BY_JCC, WIRE_EXIT_JCC) |
								  4ull << WIRE_COOKIE_COND};
	err = tracer__probe_own(cal->tr, cal->child, TRACER_RETURN, returns, cnt);
	if (!err)
		err = tracer__probe_own(cal->tr, cal->child, TRACER_ENTRY, entries,
					CLOSED - ENTERED + 1);
	if (!err)
		err = tracer__probe_own(cal->tr, cal->child, TRACER_EXIT, exits, 3);
	if (!err && tracer__emulates(cal->tr))
		err = attach_emulated(cal);
	return err;
}

static uint32_t at_least_0(double ns)
{
	return ns > 0 && ns < 1e6 ? (uint32_t)(ns + 0.5) : 0;
}

static struct wire_cost cost(double whole, double inside)
{
	return (struct wire_cost){at_least_0(inside), at_least_0(whole - inside)};
}

static double average(const struct function_usage *u)
{
	return u->expected_ns ? (double)u->timed_ns / (double)u->expected_ns : 0;
}

/* How timed parts tell that caches are cold, and how much dearer probes are then. Each was expected
 * to take 1 ns, so what was expected is their number. */
static void evaluate_cold(const struct calibration *cal, const struct measure *m,
			  struct probe_costs *out)
{
	const double warm = average(&cal->usage[RETURNS + SITE_PUSH]);
	const double look_up = average(&cal->usage[TURN_A]), cold = average(&cal->usage[COLD]);
	const double dearer = m[COLD].inside_ns / m[RETURNS + SITE_PUSH].inside_ns - 1;

	log_debug("calibration: timed parts take %.1f ns, with a look-up %.1f, with cold caches "
		  "%.1f; "
		  "probes cost %.2f times as much then",
		  warm, look_up, cold, 1 + dearer);
	if (!(warm > 0) || !(look_up > 0))
		return;
	out->classes[WIRE_COST_TIMED] = (struct wire_cost){at_least_0(warm), at_least_0(look_up)};
	if (cold > (1 + MIN_SLOWER) * warm && dearer > 0)
		out->cold_gain = dearer / (cold / warm - 1);
	if (out->cold_gain > MAX_GAIN)
		out->cold_gain = MAX_GAIN;
}

static void evaluate_system_calls(const struct calibration *cal, struct probe_costs *out)
{
	double spread, whole_ns = median(cal->rounds[SYSTEM_CALL], ROUNDS, false, &spread);
	double inside_ns = median(cal->rounds[SYSTEM_CALL], ROUNDS, true, &spread);

	if (inside_ns > whole_ns)
		inside_ns = whole_ns;
	out->classes[WIRE_COST_SYSTEM_CALL] = cost(whole_ns, inside_ns);
	log_debug("calibration: a system call: %.0f ns, %.0f of it inside", whole_ns, inside_ns);
}

static void evaluate(const struct calibration *cal, struct probe_costs *out)
{
	static const uint8_t exit_class[] = {WIRE_COST_EXIT_STEP, WIRE_COST_EXIT_JMP,
					     WIRE_COST_EXIT_JCC, WIRE_COST_EXIT_RET};
	const int exits = tracer__emulates(cal->tr) ? 4 : 3;
	struct measure m[FUNCTIONS] = {0}, entry, returned, tail;
	const struct wire_cost *called;
	double spread, ignored;

	out->spread = spread_of(cal);
	for (int f = 0; f < FUNCTIONS; f++) {
		if (rides_along(cal, f))
			continue;
		m[f].whole_ns = median(cal->rounds[f], cal->rounds_cnt, false, &spread);
		m[f].inside_ns = median(cal->rounds[f], cal->rounds_cnt, true, &ignored);
		log_debug("calibration: function %d: %.0f ns, %.0f of it inside, spread %.0f", f,
			  m[f].whole_ns, m[f].inside_ns, spread);
	}
	entry.whole_ns = m[ENTERED].whole_ns;
	entry.inside_ns = ENTRY_SHARE * entry.whole_ns;
	returned.whole_ns = m[RETURNS + SITE_PUSH].whole_ns - entry.whole_ns;
	returned.inside_ns = m[RETURNS + SITE_PUSH].inside_ns - entry.inside_ns;
	out->classes[WIRE_COST_RETURN] = cost(returned.whole_ns, returned.inside_ns);
	for (int site = 0; site < SITE_CLASSES; site++)
		out->classes[cost_class__of_entry(site)] =
			cost(m[RETURNS + site].whole_ns - returned.whole_ns,
			     m[RETURNS + site].inside_ns - returned.inside_ns);
	for (int i = 0; i < exits; i++)
		out->classes[exit_class[i]] = cost(m[BY_RET + i].whole_ns - entry.whole_ns,
						   m[BY_RET + i].inside_ns - entry.inside_ns);
	called = &out->classes[WIRE_COST_ENTRY +
			       (tracer__call_nops() == CALL_NOPS_10 ? SITE_NOP10 : SITE_NOP5)];
	/* As an emulated jump's, but for what the kernel takes less to get there and back: an entry
	 * reads the clock behind the one, an exit before the other. */
	out->classes[WIRE_COST_EXIT_NOP5] = (struct wire_cost){
		at_least_0(out->classes[WIRE_COST_EXIT_JMP].inside_ns + called->outside_ns -
			   out->classes[WIRE_COST_ENTRY + SITE_NOP].outside_ns),
		at_least_0(out->classes[WIRE_COST_EXIT_JMP].outside_ns + called->inside_ns -
			   out->classes[WIRE_COST_ENTRY + SITE_NOP].inside_ns)};
	out->classes[WIRE_COST_NEW_CALLEE] =
		cost(m[TURN_A].whole_ns - m[RETURNS + SITE_PUSH].whole_ns, 0);
	/* A call of it is two. Its interval ends in the other one's entry, whose cost up to there
	 * its caller is charged as well. */
	tail.whole_ns = m[TAIL].whole_ns - m[RETURNS + SITE_PUSH].whole_ns - entry.whole_ns;
	tail.inside_ns = m[TAIL].inside_ns - entry.inside_ns;
	out->classes[WIRE_COST_TAIL] = (struct wire_cost){
		at_least_0(tail.inside_ns), (int32_t)(tail.whole_ns - tail.inside_ns)};
	/* In each round the outer one is called once. */
	out->classes[WIRE_COST_NESTED] =
		cost(m[NESTED].whole_ns - m[RETURNS + SITE_PUSH].whole_ns * (1 + 1. / CALLS),
		     m[NESTED].inside_ns - m[RETURNS + SITE_PUSH].inside_ns);
	out->classes[WIRE_COST_CLOSED] = cost(entry.whole_ns - m[CLOSED].whole_ns, 0);
	out->classes[WIRE_COST_SPARED] = cost(entry.whole_ns - m[PASSED].whole_ns, 0);
	out->burden = m[BURDENED].whole_ns / m[RETURNS + SITE_PUSH].whole_ns;
	if (!(out->burden >= 1 && out->burden < MAX_BURDEN))
		out->burden = 1;
	evaluate_cold(cal, m, out);
}

static int measure(struct calibration *cal)
{
	int err = child_start(cal);

	if (err)
		return err;
	err = measure_bare(cal);
	if (!err)
		err = attach(cal);
	if (!err)
		err = tracer__rehearse(cal->tr, cal->child);
	tracer__set_costs(cal->tr, &(const struct probe_costs){.classes[WIRE_COST_TIMED] = {1, 1}});
	collector__drop(cal->c, PASSED, 1);
	if (!err)
		err = measure_all(cal);
	if (!err)
		err = measure_system_calls(cal);
	child_end(cal);
	tracer__end_rehearsal(cal->tr, cal->child);
	return err;
}

/* The name that the costs of a backend are kept by. In a container a call takes longer, and /run
 * may be the host's. */
#define PROGRAMS_MAX 64

static void name_programs(char programs[PROGRAMS_MAX], const char *backend, bool calls,
			  bool system_calls)
{
	snprintf(programs, PROGRAMS_MAX, "%s%s%s%s", backend, calls ? "-calls" : "",
		 system_calls ? "-syscalls" : "", tracer__is_inside() ? "-inside" : "");
}

bool calibrate__is_done(const char *backend, bool calls, bool system_calls, struct probe_costs *out)
{
	char programs[PROGRAMS_MAX];

	name_programs(programs, backend, calls, system_calls);
	return cache__read(CACHE, programs, out);
}

int calibrate__run(struct tracer *tr, struct collector *c, struct probe_costs *out)
{
	uint64_t began = now_ns();
	struct calibration *cal;
	char programs[PROGRAMS_MAX];
	int err;

	memset(out, 0, sizeof(*out));
	name_programs(programs, tracer__backend(tr), tracer__keeps_calls(tr),
		      tracer__watches_system_calls(tr));
	if (cache__read(CACHE, programs, out))
		return 0;
	cal = calloc(1, sizeof(*cal));
	if (!cal)
		return -ENOMEM;
	cal->tr = tr;
	cal->c = c;
	err = measure(cal);
	if (!err) {
		evaluate(cal, out);
		evaluate_system_calls(cal, out);
		cache__write(CACHE, programs, out);
	}
	collector__reset(c);
	free(cal);
	log_debug("calibration: took %.0f ms, uncertain by %.1f%%", (now_ns() - began) / 1e6,
		  100 * out->spread);
	return err;
}
