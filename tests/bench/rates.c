// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rates THREADS PHASE...: computes, and calls functions now and then. PHASE says for how many
 * seconds, and how often a second of its own CPU time it calls which of the functions rate_a to
 * rate_h: 3:a=20000,b=1000 and then 4:a=200000,b=1000, say. All THREADS threads do the same. Prints
 * "ready" and waits for a line on stdin. Then the first thread tells how it gets on, a line every
 * 50 ms: "PROGRESS AT PHASE STEPS NS TRUE_STEPS TRUE_NS", at AT ns on the monotonic clock, since
 * the last line: how many steps it has done in how many ns of CPU time, and how many of the same
 * steps in which it called functions of the same code that are not traced. "PHASE N AT" tells when
 * one began. At the end "COUNT NAME CALLS" for each function.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTIONS = 8, MAX_PHASES = 16, MAX_THREADS = 64, STEP_NS = 1000 };

/* BATCH steps are done between two looks at a clock; one batch in TRUTHS is measured without
 * probes. */
enum { BATCH = 1000, TRUTHS = 20 };

#define REPORT_NS 50000000ul

struct phase {
	double seconds;
	unsigned long every[FUNCTIONS]; /* steps; 0: never */
};

struct pace {
	unsigned long since[FUNCTIONS]; /* steps since the last call */
	unsigned long x;
};

struct thread {
	pthread_t id;
	int first;
	struct pace traced, untraced;
};

static struct phase phases[MAX_PHASES];
static int phases_cnt;
static unsigned long step_iterations;
static unsigned long counts[FUNCTIONS], untraced_counts[FUNCTIONS];

static inline __attribute__((always_inline)) unsigned long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ul + ts.tv_nsec;
}

static inline __attribute__((always_inline)) unsigned long compute(unsigned long iterations,
								   unsigned long x)
{
	for (unsigned long i = 0; i < iterations; i++) {
		x = x * 6364136223846793005ul + 1442695040888963407ul;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

typedef unsigned long call_fn(unsigned long x);

__attribute__((noipa)) unsigned long work(unsigned long iterations, unsigned long x)
{
	return compute(iterations, x);
}

/* No leaf, so that it begins with a push; half of its calls find more to do than the others. */
#define FUNCTION(prefix, counter, letter)                                            \
	__attribute__((noipa)) unsigned long prefix##_##letter(unsigned long x)      \
	{                                                                            \
		__atomic_add_fetch(&counter[#letter[0] - 'a'], 1, __ATOMIC_RELAXED); \
		return work(30 + (x >> 63) * 30, x) + 1;                             \
	}
#define TWINS(letter)                  \
	FUNCTION(rate, counts, letter) \
	FUNCTION(other, untraced_counts, letter)

TWINS(a)
TWINS(b)
TWINS(c)
TWINS(d)
TWINS(e)
TWINS(f)
TWINS(g)
TWINS(h)

static call_fn *const rate[FUNCTIONS] = {rate_a, rate_b, rate_c, rate_d,
					 rate_e, rate_f, rate_g, rate_h};
static call_fn *const other[FUNCTIONS] = {other_a, other_b, other_c, other_d,
					  other_e, other_f, other_g, other_h};

/* A batch of steps. Returns the CPU time that it took. */
static unsigned long run_batch(struct pace *pace, const struct phase *p, call_fn *const *functions)
{
	unsigned long start = clock_ns(CLOCK_THREAD_CPUTIME_ID), x = pace->x;

	for (int step = 0; step < BATCH; step++) {
		x = compute(step_iterations, x);
		for (int i = 0; i < FUNCTIONS; i++) {
			if (p->every[i] && ++pace->since[i] >= p->every[i]) {
				pace->since[i] = 0;
				x = functions[i](x);
			}
		}
	}
	pace->x = x;
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
}

static void run_phase(struct thread *t, int number)
{
	const struct phase *p = &phases[number];
	unsigned long began = clock_ns(CLOCK_MONOTONIC), now, reported = began;
	unsigned long steps = 0, ns = 0, true_steps = 0, true_ns = 0;

	if (t->first)
		printf("PHASE %d %lu\n", number, began);
	for (unsigned long batch = 0; (now = clock_ns(CLOCK_MONOTONIC)) - began < p->seconds * 1e9;
	     batch++) {
		if (batch % TRUTHS == TRUTHS / 2) {
			true_ns += run_batch(&t->untraced, p, other);
			true_steps += BATCH;
		} else {
			ns += run_batch(&t->traced, p, rate);
			steps += BATCH;
		}
		if (!t->first || now - reported < REPORT_NS)
			continue;
		printf("PROGRESS %lu %d %lu %lu %lu %lu\n", now, number, steps, ns, true_steps,
		       true_ns);
		steps = ns = true_steps = true_ns = 0;
		reported = now;
	}
}

static void *run(void *arg)
{
	struct thread *t = arg;

	for (int i = 0; i < phases_cnt; i++)
		run_phase(t, i);
	return NULL;
}

static void usage(void)
{
	fprintf(stderr, "usage: rates THREADS SECONDS:a=RATE,b=RATE,... ...\n");
	exit(2);
}

static void parse_phase(const char *text, struct phase *p)
{
	char *at;

	p->seconds = strtod(text, &at);
	if (p->seconds <= 0 || *at != ':')
		usage();
	while (*at) {
		char letter = *++at;
		double every;

		if (letter < 'a' || letter >= 'a' + FUNCTIONS || *++at != '=')
			usage();
		every = 1e9 / STEP_NS / strtod(at + 1, &at);
		if (every < 1 || (*at && *at != ','))
			usage();
		p->every[letter - 'a'] = every;
	}
}

static void calibrate(void)
{
	enum { TIMES = 11, STEPS = 1000000 };
	unsigned long least = -1ul, x = 1;

	for (int i = 0; i < TIMES; i++) {
		unsigned long start = clock_ns(CLOCK_THREAD_CPUTIME_ID), took;

		x = compute(STEPS, x);
		took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		least = took < least ? took : least;
	}
	step_iterations = (unsigned long)STEPS * STEP_NS / least + (x == 0);
}

int main(int argc, char **argv)
{
	static struct thread threads[MAX_THREADS];
	unsigned long threads_cnt = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char c;

	if (argc < 3 || argc > 2 + MAX_PHASES || !threads_cnt || threads_cnt > MAX_THREADS)
		usage();
	for (; phases_cnt < argc - 2; phases_cnt++)
		parse_phase(argv[2 + phases_cnt], &phases[phases_cnt]);
	calibrate();
	setlinebuf(stdout);
	printf("ready\n");
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 0;
	for (unsigned long i = 0; i < threads_cnt; i++) {
		threads[i].first = i == 0;
		pthread_create(&threads[i].id, NULL, run, &threads[i]);
	}
	for (unsigned long i = 0; i < threads_cnt; i++)
		pthread_join(threads[i].id, NULL);
	for (int i = 0; i < FUNCTIONS; i++)
		printf("COUNT rate_%c %lu\n", 'a' + i, counts[i]);
	return 0;
}
