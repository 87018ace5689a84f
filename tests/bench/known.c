// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * known CASE [THREADS [ROUNDS]]: functions whose own times are known. CASE says what they do:
 *
 *	CASE = CALLS {+CALLS}		one after the other
 *	CALLS = [TIMES*]WORK[(CASE)]	works, then calls what is in parentheses
 *	WORK = 200ns | 5us | 10ms | 2048k	computes for so long, or walks over so many
 *kilobytes
 *
 * 1000*1us(10*200ns(3*50ns)) is a function of 1 us of its own, called a thousand times by each
 * thread, which calls one of 200 ns ten times, and so on. They are known_a, known_b, ... as they
 * appear. Prints "ready" and waits for a line on stdin. At the end a line a function: "TRUE NAME
 * CALLS NS SPREAD", its calls, the nanoseconds of its own CPU time that they take together when
 * nobody traces, and how far that is uncertain.
 *
 * The truth is measured in between, ROUNDS times, on functions of the same code that nobody traces.
 * alone() is a function whose callees return at once, in a batch that is long for the CPU clock.
 * Where something walks, caches are cold and what a function has to load again is its own time as
 * well: there the whole case runs with functions that read the time stamp counter at their ends.
 */
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { MAX_FUNCTIONS = 16, MAX_ROUNDS = 1000, MAX_THREADS = 64 };

#define BATCH_NS 300000
#define LINE	 64

struct function;
typedef unsigned long body_fn(const struct function *f, unsigned long x);

struct function {
	body_fn *traced;
	unsigned long ns, iterations, kilobytes;
	unsigned long times; /* a call of its caller */
	unsigned long calls; /* of each thread, in a round */
	unsigned long batch; /* calls of alone() */
	struct function *callees, *next;
	size_t index;
};

struct thread {
	pthread_t id;
	double true_ns[MAX_FUNCTIONS][MAX_ROUNDS]; /* a call */
	unsigned long x;
};

static struct function functions[MAX_FUNCTIONS];
static size_t functions_cnt;
static unsigned long rounds = 20;
static char *memory;
static double tick_ns, stamp_ticks;
static pthread_barrier_t barrier;
static __thread double self_ticks[MAX_FUNCTIONS];

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* Each step needs the one before, also those of earlier calls: nothing overlaps. */
static inline __attribute__((always_inline)) unsigned long compute(unsigned long iterations,
								   unsigned long x)
{
	for (unsigned long i = 0; i < iterations; i++) {
		x = x * 6364136223846793005ul + 1442695040888963407ul;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static inline __attribute__((always_inline)) unsigned long work(const struct function *f,
								unsigned long x)
{
	x = compute(f->iterations, x);
	for (unsigned long at = 0; at < f->kilobytes * 1024; at += LINE)
		x += ((volatile char *)memory)[at];
	return x;
}

static inline __attribute__((always_inline)) unsigned long
call_callees(const struct function *f, unsigned long x, body_fn *instead)
{
	for (const struct function *c = f->callees; c; c = c->next) {
		body_fn *callee = instead ? instead : c->traced;

		for (unsigned long i = 0; i < c->times; i++)
			x = callee(c, x);
	}
	return x;
}

#define KNOWN(letter)                                                                 \
	__attribute__((noipa)) unsigned long known_##letter(const struct function *f, \
							    unsigned long x)          \
	{                                                                             \
		return call_callees(f, work(f, x), NULL);                             \
	}

/* clang-format off */
KNOWN(a) KNOWN(b) KNOWN(c) KNOWN(d) KNOWN(e) KNOWN(f) KNOWN(g) KNOWN(h)
KNOWN(i) KNOWN(j) KNOWN(k) KNOWN(l) KNOWN(m) KNOWN(n) KNOWN(o) KNOWN(p)
	/* clang-format on */

	static body_fn *const bodies[MAX_FUNCTIONS] = {
		known_a, known_b, known_c, known_d, known_e, known_f, known_g, known_h,
		known_i, known_j, known_k, known_l, known_m, known_n, known_o, known_p,
};

__attribute__((noipa)) unsigned long nothing(const struct function *f, unsigned long x)
{
	return x;
}

__attribute__((noipa)) unsigned long alone(const struct function *f, unsigned long x)
{
	return call_callees(f, work(f, x), nothing);
}

static inline __attribute__((always_inline)) double stamp(void)
{
	_mm_lfence();
	return __rdtsc();
}

/* The function's own time lies between two stamps without a callee in between. */
__attribute__((noipa)) unsigned long stamped(const struct function *f, unsigned long x)
{
	double start = stamp(), own = 0;

	x = work(f, x);
	for (const struct function *c = f->callees; c; c = c->next) {
		for (unsigned long i = 0; i < c->times; i++) {
			own += stamp() - start - stamp_ticks;
			x = stamped(c, x);
			start = stamp();
		}
	}
	self_ticks[f->index] += own + stamp() - start - stamp_ticks;
	return x;
}

/* The case. */

static void usage(const char *why)
{
	fprintf(stderr,
		"known: %s\nusage: known CASE [THREADS [ROUNDS]], CASE like "
		"1000*1us(10*200ns(3*50ns)+2048k)\n",
		why);
	exit(2);
}

static void parse_work(struct function *f, unsigned long number, const char **at)
{
	static const struct {
		const char *unit;
		unsigned long ns, kilobytes;
	} units[] = {{"ns", 1, 0}, {"us", 1000, 0}, {"ms", 1000000, 0}, {"k", 0, 1}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t len = strlen(units[i].unit);

		if (strncmp(*at, units[i].unit, len) == 0) {
			f->ns = number * units[i].ns;
			f->kilobytes = number * units[i].kilobytes;
			*at += len;
			return;
		}
	}
	usage("work is in ns, us, ms or k");
}

static unsigned long parse_number(const char **at)
{
	char *end;
	unsigned long number;

	if (!isdigit((unsigned char)**at))
		usage("a number was expected");
	number = strtoul(*at, &end, 10);
	*at = end;
	return number;
}

static struct function *parse_case(const char **at, unsigned long callers)
{
	struct function *first = NULL, **link = &first;

	do {
		struct function *f = &functions[functions_cnt];
		unsigned long number;

		if (functions_cnt == MAX_FUNCTIONS)
			usage("too many functions");
		*f = (struct function){
			.traced = bodies[functions_cnt], .times = 1, .index = functions_cnt};
		functions_cnt++;
		number = parse_number(at);
		if (**at == '*') {
			f->times = number;
			++*at;
			number = parse_number(at);
		}
		f->calls = callers * f->times;
		parse_work(f, number, at);
		if (**at == '(') {
			++*at;
			f->callees = parse_case(at, f->calls);
			if (*(*at)++ != ')')
				usage("a ) is missing");
		}
		*link = f;
		link = &f->next;
	} while (**at == '+' && ++*at);
	return first;
}

/* Measuring. */

static double median(double *values, size_t cnt, double *spread)
{
	for (size_t i = 1; i < cnt; i++) {
		double value = values[i];
		size_t at = i;

		for (; at && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
	*spread = values[cnt * 3 / 4] - values[cnt / 4];
	return values[cnt / 2];
}

static double batch_ns(const struct function *f, unsigned long calls, unsigned long *x)
{
	double start = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned long i = 0; i < calls; i++)
		*x = alone(f, *x);
	return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / calls;
}

/* How many steps are a nanosecond, how many ticks, and what a stamp takes. */
static void calibrate(void)
{
	enum { STEPS = 2000000, TIMES = 11, STAMPS = 1000 };
	double step_ns[TIMES], ticks[TIMES], stamps[TIMES], spread;
	unsigned long x = 1;

	for (int t = 0; t < TIMES; t++) {
		double wall = clock_ns(CLOCK_MONOTONIC), start = stamp();
		double cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		x = compute(STEPS, x);
		step_ns[t] = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / STEPS;
		ticks[t] = (clock_ns(CLOCK_MONOTONIC) - wall) / (stamp() - start);
		start = stamp();
		for (int i = 0; i < STAMPS; i++)
			stamp();
		stamps[t] = (stamp() - start) / (STAMPS + 1);
	}
	tick_ns = median(ticks, TIMES, &spread);
	stamp_ticks = median(stamps, TIMES, &spread);
	for (size_t i = 0; i < functions_cnt; i++)
		functions[i].iterations = functions[i].ns / median(step_ns, TIMES, &spread);
	functions[0].iterations += x == 0; /* x is used */
}

static void measure_stamped(struct thread *t, unsigned long round)
{
	memset(self_ticks, 0, sizeof(self_ticks));
	for (const struct function *f = functions; f; f = f->next) {
		for (unsigned long i = 0; i < f->times; i++)
			t->x = stamped(f, t->x);
	}
	for (size_t i = 0; i < functions_cnt; i++)
		t->true_ns[i][round] = self_ticks[i] * tick_ns / functions[i].calls;
}

static void measure_alone(struct thread *t, unsigned long round)
{
	for (size_t i = 0; i < functions_cnt; i++)
		t->true_ns[i][round] = batch_ns(&functions[i], functions[i].batch, &t->x);
}

static void *run(void *arg)
{
	struct thread *t = arg;
	int walks = 0;

	for (size_t i = 0; i < functions_cnt; i++)
		walks |= functions[i].kilobytes > 0;
	pthread_barrier_wait(&barrier);
	for (unsigned long round = 0; round < rounds; round++) {
		(walks ? measure_stamped : measure_alone)(t, round);
		for (const struct function *f = functions; f; f = f->next) {
			for (unsigned long i = 0; i < f->times; i++)
				t->x = f->traced(f, t->x);
		}
	}
	return NULL;
}

static void prepare(const char *text)
{
	unsigned long kilobytes = 1, x = 1;

	parse_case(&text, 1);
	if (*text)
		usage("the case goes on where it should end");
	calibrate();
	for (size_t i = 0; i < functions_cnt; i++) {
		if (functions[i].kilobytes > kilobytes)
			kilobytes = functions[i].kilobytes;
	}
	memory = malloc(kilobytes * 1024);
	memset(memory, 1, kilobytes * 1024);
	for (size_t i = 0; i < functions_cnt; i++)
		functions[i].batch = BATCH_NS / (batch_ns(&functions[i], 1, &x) + 1) + 1;
	/* All rounds together are what was asked for. */
	for (struct function *f = functions; f; f = f->next)
		f->times = (f->times + rounds - 1) / rounds;
}

static void recount(struct function *f, unsigned long callers)
{
	for (; f; f = f->next) {
		f->calls = callers * f->times;
		recount(f->callees, f->calls);
	}
}

int main(int argc, char **argv)
{
	static struct thread threads[MAX_THREADS];
	unsigned long threads_cnt = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	char c;

	rounds = argc > 3 ? strtoul(argv[3], NULL, 10) : rounds;
	if (argc < 2 || !threads_cnt || threads_cnt > MAX_THREADS || !rounds || rounds > MAX_ROUNDS)
		usage("it takes a case, 1 to 64 threads, 1 to 1000 rounds");
	prepare(argv[1]);
	recount(functions, 1);
	printf("ready\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 0;
	pthread_barrier_init(&barrier, NULL, threads_cnt);
	for (unsigned long i = 0; i < threads_cnt; i++)
		pthread_create(&threads[i].id, NULL, run, &threads[i]);
	for (unsigned long i = 0; i < threads_cnt; i++)
		pthread_join(threads[i].id, NULL);
	for (size_t i = 0; i < functions_cnt; i++) {
		unsigned long calls = functions[i].calls * rounds;
		double ns = 0, spread = 0, one;

		for (unsigned long t = 0; t < threads_cnt; t++) {
			ns += calls * median(threads[t].true_ns[i], rounds, &one);
			spread += calls * one;
		}
		printf("TRUE known_%c %lu %.0f %.0f\n", (char)('a' + i), calls * threads_cnt, ns,
		       spread);
	}
	return 0;
}
