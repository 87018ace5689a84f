// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates of calls, of loads whose truth is known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "drawn.h"
#include "rates/rates.h"

#define FUNCTIONS  60
#define REQUEST_NS 10000.0 /* of own CPU time */
#define COUNT_NS   400.0
#define WINDOW_NS  10e6

/* A target with two kinds of threads, each of which handles requests of its own. */
struct load {
	int kinds;		 /* 1 or 2: then functions with odd numbers are the second's */
	double share[2];	 /* of the CPU time, */
	double unsteady;	 /* which varies so much from look to look */
	double slowed[2];	 /* in a burst requests take so many times as long */
	double calls[FUNCTIONS]; /* a request */
	double jitter;		 /* of a request's CPU time, from look to look */
	double turns;		 /* each fifth function is seen so many times less in bursts */
	double interrupted;	 /* the share of windows of which the host takes 60 % */
	double counting; /* costs so many times what is reckoned; 0: 1.1, not known that well */
};

static double kind_share(const struct load *l, int kind)
{
	double first = l->share[0] + l->unsteady * normal();

	first = first < 0 ? 0 : first > 1 ? 1 : first;
	return l->kinds == 1 ? 1 : kind ? 1 - first : first;
}

static int kind_of(const struct load *l, int f)
{
	return l->kinds == 1 ? 0 : f % 2;
}

static double true_rate(const struct load *l, int f)
{
	return l->calls[f] * (l->kinds == 1 ? 1 : l->share[kind_of(l, f)]) / REQUEST_NS *
	       (1 - 0.6 * l->interrupted);
}

/* Calls in `requests` of them, which begin and end anywhere. */
static uint64_t calls_in(const struct load *l, int f, double requests)
{
	double calls = l->calls[f] * requests;

	calls += sqrt(l->calls[f] < 1 ? 0 : l->calls[f]) * (uniform() - 0.5);
	return calls > 0 ? (uint64_t)(calls + uniform()) : 0;
}

/* By CPU time alone. */
static void add_window(struct rates *r, const uint32_t *functions, const uint64_t *calls,
		       size_t cnt, double cpu_ns, double cost_ns)
{
	rates__add_window(r, &(const struct look_counts){functions, calls, cnt},
			  &(const struct lengths){cpu_ns, 0, 0}, cost_ns);
}

static int add_burst(struct rates *r, const uint32_t *functions, const uint64_t *calls, size_t cnt)
{
	return rates__add_burst(r, &(const struct look_counts){functions, calls, cnt}, true);
}

/* `cnt` functions. */
static int estimate_by_time(const struct rates *r, size_t cnt, struct rate *out)
{
	struct lengths *spans = calloc(cnt, sizeof(*spans));
	int err;

	assert_non_null(spans);
	err = rates__estimate(r, spans, out);
	free(spans);
	return err;
}

static void window(struct rates *r, const struct load *l, uint32_t f)
{
	double share = kind_share(l, kind_of(l, f));
	double requests = WINDOW_NS * share / REQUEST_NS * (1 + l->jitter * normal());
	uint64_t calls = calls_in(l, f, requests * (uniform() < l->interrupted ? 0.4 : 1));
	double cost_ns = (double)calls * COUNT_NS;

	double counting = l->counting ? l->counting : 1.1;

	add_window(r, &f, &calls, 1, WINDOW_NS + cost_ns * counting, cost_ns);
}

static void burst(struct rates *r, const struct load *l)
{
	uint32_t functions[FUNCTIONS];
	uint64_t calls[FUNCTIONS];
	double requests[2];

	for (int k = 0; k < 2; k++)
		requests[k] = 5e6 * kind_share(l, k) / REQUEST_NS / l->slowed[k];
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		functions[f] = f;
		calls[f] = calls_in(
			l, f, requests[kind_of(l, f)] / (l->turns && f % 5 == 4 ? l->turns : 1));
	}
	assert_int_equal(add_burst(r, functions, calls, FUNCTIONS), 0);
}

struct quality {
	double median, most, inside; /* median error, nine tenths, share within two errors */
};

static int by_value(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static struct quality judge(const struct rates *r, const struct load *l)
{
	struct rate rates[FUNCTIONS];
	double errors[FUNCTIONS];
	struct quality q = {0};

	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	for (int f = 0; f < FUNCTIONS; f++) {
		errors[f] = fabs(rates[f].per_ns / true_rate(l, f) - 1);
		q.inside += fabs(rates[f].per_ns - true_rate(l, f)) <=
			    2 * sqrt(rates[f].variance) * rates[f].per_ns;
	}
	qsort(errors, FUNCTIONS, sizeof(*errors), by_value);
	q.median = errors[FUNCTIONS / 2];
	q.most = errors[FUNCTIONS * 9 / 10];
	q.inside /= FUNCTIONS;
	return q;
}

/* Rates of the load's functions, which are thought to be called `guess` times as often as they are.
 * Random numbers begin with `first`. */
static struct rates *rates_of(const struct load *l, double guess, uint32_t first)
{
	struct rates *r;

	seed = first;
	assert_int_equal(rates__new(&r), 0);
	for (int f = 0; f < FUNCTIONS; f++)
		assert_int_equal(rates__add(r, guess * true_rate(l, f)), 0);
	return r;
}

/* Looks at a load, as many as there are in some seconds: windows for each function in turn, and
 * every other one for the same eight. The average of several runs. */
static struct quality estimate(const struct load *l, int windows, int bursts)
{
	struct quality sum = {0};

	for (int run = 0; run < 20; run++) {
		struct rates *r = rates_of(l, 2, run + 1);
		struct quality q;

		for (int i = 0; i < windows; i++) {
			window(r, l, i % 2 ? i / 2 % 8 : i / 2 % FUNCTIONS);
			if (i % (windows / bursts) == 0)
				burst(r, l);
		}
		for (int f = 0; f < FUNCTIONS; f++) {
			double threads[RATES_THREADS] = {0};

			threads[kind_of(l, f)] = 1000;
			rates__set_threads(r, f, threads);
		}
		q = judge(r, l);
		rates__free(r);
		sum.median += q.median / 20;
		sum.most += q.most / 20;
		sum.inside += q.inside / 20;
	}
	printf("median error %.1f %%, nine tenths within %.1f %%, %.0f %% within two errors\n",
	       100 * sum.median, 100 * sum.most, 100 * sum.inside);
	return sum;
}

static struct load steady(void)
{
	struct load l = {.kinds = 1, .slowed = {15, 15}, .jitter = 0.05};

	for (int f = 0; f < FUNCTIONS; f++)
		l.calls[f] = 0.5 + f % 7;
	return l;
}

static void a_steady_load(void **state)
{
	struct load l = steady();
	struct quality q = estimate(&l, 60, 12);

	assert_true(q.median < 0.03 && q.most < 0.10 && q.inside > 0.88);
}

/* Short, with one burst, and half of the functions never counted. */
static void a_short_run(void **state)
{
	struct load l = steady();
	struct quality q = estimate(&l, 20, 1);

	assert_true(q.median < 0.03 && q.most < 0.10 && q.inside > 0.88);
}

/* Requests take half as long again where they come one by one. */
static void phases(void **state)
{
	struct load l = steady();
	struct quality q;

	l.jitter = 0.25;
	q = estimate(&l, 80, 16);
	assert_true(q.median < 0.05 && q.most < 0.15 && q.inside > 0.88);
}

/* Two kinds of requests all the time, now mostly ones, now mostly others, in turns of
 * three looks: a window, and right after it a burst, which lasts until some 3,000 calls were
 * recorded. */
static struct quality changing_mix(int looks, double mostly, uint32_t first)
{
	static const double usual[] = {2, 7, 4, 1, 5, 3, 6, 2};
	const struct load l = steady();
	struct rates *r = rates_of(&l, 2, first);
	struct rate rates[FUNCTIONS];
	double errors[8], share[2];
	uint32_t functions[8], start = seed % 6;
	uint64_t calls[8];
	struct quality q = {0};

	for (uint32_t look = start; look < start + looks; look++) {
		double all = 0, requests = 6e6 / REQUEST_NS * (1 + 0.05 * normal());
		uint32_t counted = look % 8;

		share[0] = look / 3 % 2 ? 1 - mostly : mostly;
		share[1] = 1 - share[0];
		calls[0] = (uint64_t)(usual[counted] * share[counted % 2] * requests);
		add_window(r, &counted, calls, 1, 6e6, 0);
		for (uint32_t f = 0; f < 8; f++)
			all += usual[f] * share[f % 2];
		for (uint32_t f = 0; f < 8; f++) {
			functions[f] = f;
			calls[f] = (uint64_t)(usual[f] * share[f % 2] * 3000 / all + uniform());
		}
		assert_int_equal(add_burst(r, functions, calls, 8), 0);
	}
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	for (int f = 0; f < 8; f++) {
		double of_truth = rates[f].per_ns * REQUEST_NS / usual[f] / 0.5;

		errors[f] = fabs(of_truth - 1);
		q.inside += errors[f] <= 2 * sqrt(rates[f].variance) * of_truth;
	}
	qsort(errors, 8, sizeof(*errors), by_value);
	q.median = errors[4];
	q.most = errors[7];
	q.inside /= 8;
	rates__free(r);
	return q;
}

static void a_changing_mix(void **state)
{
	struct quality sum = {0};

	for (uint32_t run = 1; run <= 50; run++) {
		struct quality q = changing_mix(12, 0.85, run);

		sum.median += q.median / 50;
		sum.most += q.most / 50;
		sum.inside += q.inside / 50;
	}
	printf("median error %.1f %%, all within %.1f %%, %.0f %% within two errors\n",
	       100 * sum.median, 100 * sum.most, 100 * sum.inside);
	assert_true(sum.median < 0.18 && sum.inside > 0.88);
}

/* Counting takes an eighth to a half of a window, and less than it did when that was calibrated, as
 * caches are warm. */
static void short_functions(void **state)
{
	struct load l = steady();
	struct quality q;

	for (int f = 0; f < FUNCTIONS; f++)
		l.calls[f] = 4 + f % 7 * 4;
	l.counting = 0.75;
	q = estimate(&l, 60, 12);
	assert_true(q.median < 0.03 && q.most < 0.10 && q.inside > 0.88);
	/* A third to five sixths of it, as in a tree walk. */
	for (int f = 0; f < FUNCTIONS; f++)
		l.calls[f] = 10 + f % 7 * 20;
	q = estimate(&l, 60, 12);
	assert_true(q.median < 0.05 && q.most < 0.15 && q.inside > 0.88);
}

static void two_kinds_of_threads(void **state)
{
	struct load l = steady();
	struct quality q;

	l.kinds = 2;
	l.share[0] = 0.6;
	l.share[1] = 0.4;
	l.unsteady = 0.05;
	l.slowed[1] = 3;
	q = estimate(&l, 120, 16);
	assert_true(q.median < 0.03 && q.most < 0.10 && q.inside > 0.88);
}

/* An event loop's turns have more requests each in bursts, where these take longer. */
static void turns(void **state)
{
	struct load l = steady();
	struct quality q;

	l.jitter = 0.12;
	l.turns = 8;
	q = estimate(&l, 120, 6);
	assert_true(q.median < 0.05 && q.most < 0.15 && q.inside > 0.88);
}

/* The host takes the processor away now and then. */
static void a_noisy_host(void **state)
{
	struct load l = steady();
	struct quality q;

	l.jitter = 0.12;
	l.turns = 8;
	l.interrupted = 0.1;
	q = estimate(&l, 120, 6);
	assert_true(q.median < 0.06 && q.most < 0.25 && q.inside > 0.88);
}

/* The only window of a short run is of a moment when all takes twice as long: its error tells that
 * the rate may be twice as high, by three standard errors of the ratio. */
static void the_only_window(void **state)
{
	struct load l = steady();
	struct rates *r = rates_of(&l, 1, 1);
	struct rate rates[FUNCTIONS];
	double factor;

	for (int f = 0; f < FUNCTIONS; f++)
		l.calls[f] *= 0.5;
	window(r, &l, 3);
	burst(r, &l);
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	factor = log(2 * true_rate(&l, 3) / rates[3].per_ns);
	assert_true(factor < 3 * sqrt(rates[3].variance));
	assert_true(rates[3].variance < 0.1);
	/* Where looks agree, they are known to. */
	for (int i = 0; i < 20; i++)
		window(r, &l, 3);
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	assert_true(rates[3].variance < 0.01);
	rates__free(r);
}

/* All that is known of one function's rate is a window of which the host has taken nearly all. */
static void an_interrupted_window(void **state)
{
	struct load l = steady(), interrupted = steady();
	struct rates *r = rates_of(&l, 1, 1);
	struct rate rates[FUNCTIONS];
	double true_per_ns = true_rate(&l, 30);

	interrupted.calls[30] /= 12;
	for (uint32_t f = 0; f < FUNCTIONS; f++)
		window(r, f == 30 ? &interrupted : &l, f);
	burst(r, &l);
	burst(r, &l);
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	assert_true(fabs(rates[30].per_ns - true_per_ns) <=
		    2 * sqrt(rates[30].variance) * rates[30].per_ns);
	rates__free(r);
}

/* A function was thought to be called 20 times as often as it is, and no window has counted it. */
static void a_wrong_guess(void **state)
{
	struct load l = steady();
	struct rates *r = rates_of(&l, 20, 1);
	struct rate rates[FUNCTIONS];

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		if (f != 30)
			window(r, &l, f);
		if (f % 20 == 0)
			burst(r, &l);
	}
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	assert_true(fabs(rates[30].per_ns / true_rate(&l, 30) - 1) < 0.05);
	rates__free(r);
}

/* Functions 30 and 31 are not called any more, and no window has counted them. Each burst that has
 * met no call of function 30 says that it is called less; of function 31, which was called once in
 * ten seconds, bursts could not have met any. */
static void a_guess_that_bursts_miss(void **state)
{
	const double seldom = 1e-10;
	struct load l = steady();
	double guess = true_rate(&l, 30);
	struct rate rates[FUNCTIONS];
	struct rates *r;

	l.calls[31] = seldom * REQUEST_NS;
	r = rates_of(&l, 1, 1);
	l.calls[30] = l.calls[31] = 0;
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		if (f != 30 && f != 31)
			window(r, &l, f);
	}
	for (int bursts = 0; bursts < 20; bursts++) {
		assert_int_equal(estimate_by_time(r, FUNCTIONS, rates), 0);
		assert_true(rates[30].guessed && rates[31].guessed);
		assert_true(fabs(rates[30].per_ns * (bursts + 1) / guess - 1) < 0.01);
		assert_true(fabs(rates[31].per_ns / seldom - 1) < 0.01);
		assert_true(rates[30].variance >= 1 && rates[31].variance >= 1);
		burst(r, &l);
	}
	rates__free(r);
}

/* All functions were dropped while probes slowed the target down to a tenth of its speed. Of one
 * that neither windows nor bursts have met the rate is that of its drop, times ten, as windows tell
 * of others. */
static void guesses_of_a_slow_moment(void **state)
{
	struct load l = steady();
	struct rates *r = rates_of(&l, 0.1, 1);
	struct rate rates[FUNCTIONS];

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		if (f != 30)
			window(r, &l, f);
	}
	assert_int_equal(estimate_by_time(r, FUNCTIONS, rates), 0);
	assert_true(rates[30].guessed);
	assert_true(fabs(rates[30].per_ns / true_rate(&l, 30) - 1) < 0.05);
	rates__free(r);
}

/* A function that is called so often that counting it takes most of the time has no windows: bursts
 * alone tell of it. */
static void what_is_too_dear_to_count(void **state)
{
	struct load l = steady();
	struct rate rates[FUNCTIONS];
	struct rates *r;

	l.calls[50] = 400;
	r = rates_of(&l, 1, 1);
	for (uint32_t f = 0; f < 4 * FUNCTIONS; f++) {
		window(r, &l, f % FUNCTIONS);
		if (f % 10 == 0)
			burst(r, &l);
	}
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	assert_true(fabs(rates[50].per_ns / true_rate(&l, 50) - 1) < 0.05);
	rates__free(r);
}

/* A function of 4 ns, the only one that is dropped: all of a window's time is what counting costs,
 * as far as that is known. The rate is too low then, and the error says by how much it may be. */
static void what_hides_behind_counting(void **state)
{
	const uint32_t function = 0;
	const uint64_t counted = 5000, met = 1500; /* calls in 3.9 ms; of 4 ns, truly */
	const double truth = 1 / 4.0;
	struct rate rate;
	struct rates *r;
	double error;

	assert_int_equal(rates__new(&r), 0);
	assert_int_equal(rates__add(r, 0.01), 0);
	for (int look = 0; look < 20; look++) {
		add_window(r, &function, &counted, 1, 3.9e6, 4.7e6);
		assert_int_equal(add_burst(r, &function, &met, 1), 0);
	}
	assert_int_equal(estimate_by_time(r, 1, &rate), 0);
	error = rate.per_ns * sqrt(rate.variance);
	assert_true(rate.per_ns > 0 && rate.per_ns < truth);
	assert_true(truth < rate.per_ns + 2 * error);
	rates__free(r);
}

#define CROWD 1000

/* More functions than each is measured by. */
static void a_crowd(void **state)
{
	static uint32_t functions[CROWD];
	static uint64_t calls[CROWD];
	static struct rate rates[CROWD];
	struct rates *r;

	assert_int_equal(rates__new(&r), 0);
	for (uint32_t f = 0; f < CROWD; f++) {
		functions[f] = f;
		assert_int_equal(rates__add(r, 1e-6), 0);
	}
	for (int look = 0; look < 3; look++) {
		for (uint32_t f = 0; f < CROWD; f++) {
			/* A window is 6 ms; a burst has a third of a window's calls. */
			calls[f] = (uint64_t)((100 + f) * (1 + 0.03 * normal()));
			add_window(r, &f, &calls[f], 1, 6e6, 0);
			calls[f] /= 3;
		}
		assert_int_equal(add_burst(r, functions, calls, CROWD), 0);
	}
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	for (uint32_t f = 0; f < CROWD; f++)
		assert_true(fabs(rates[f].per_ns * 6e6 / (100 + f) - 1) < 0.15);
	rates__free(r);
}

/* A third is called so seldom that bursts meet it once, or not at all. */
static void what_bursts_hardly_meet(void **state)
{
	struct load l = steady();
	struct quality q;

	for (int f = 0; f < FUNCTIONS; f += 3)
		l.calls[f] = 0.01;
	l.slowed[0] = 50; /* ten requests a burst */
	q = estimate(&l, 60, 9);
	assert_true(q.median < 0.06 && q.inside > 0.88);
}

static void nothing_is_known(void **state)
{
	struct rate rate;
	struct rates *r;

	assert_int_equal(rates__new(&r), 0);
	assert_int_equal(rates__add(r, 0.001), 0);
	assert_int_equal(estimate_by_time(r, 1, &rate), 0);
	assert_true(rate.per_ns == 0.001 && rate.variance >= 1);
	rates__free(r);
	rates__free(NULL);
}

/* More bursts than there is room for; functions that come later. Each look has `many` times some
 * hundred calls. */
static void long_run(uint64_t many)
{
	struct rate rates[2];
	struct rates *r;
	const uint32_t functions[] = {0, 1};

	seed = 1;
	assert_int_equal(rates__new(&r), 0);
	assert_int_equal(rates__add(r, 1), 0);
	for (uint64_t i = 0; i < 3000; i++) {
		const uint64_t calls[] = {many * (100 + i % 3), many * (300 + i % 5)};

		if (i == 1500)
			assert_int_equal(rates__add(r, 1), 0);
		assert_int_equal(add_burst(r, functions, calls, 1 + (i >= 1500)), 0);
		add_window(r, functions, calls, 1, 100e3 * (double)many, 0);
	}
	assert_int_equal(estimate_by_time(r, sizeof(rates) / sizeof(*rates), rates), 0);
	assert_true(fabs(rates[0].per_ns / 1.01e-3 - 1) < 0.01);
	assert_true(fabs(rates[1].per_ns / 3.02e-3 - 1) < 0.01);
	rates__free(r);
}

static void a_long_run(void **state)
{
	long_run(1);
}

/* Bursts that are put together have more than 2^32 calls. */
static void a_run_of_days(void **state)
{
	long_run(10000000);
}

/* A server whose event loop reads TURN requests, then answers them. A request takes as much CPU
 * time as the machine happens to need. */
#define TURN 50

struct server {
	double at;	     /* requests so far */
	double request_ns;   /* of own CPU time; */
	double speed[3];     /* of each kind of moment, times that */
	double counting_off; /* what counting costs, of what is reckoned */
};

/* Reads, or answers, after so many requests and parts of them. */
static double halves(double requests, bool reads)
{
	double turns = floor(requests / TURN), part = requests / TURN - turns;
	double done = reads ? part * 2 : part * 2 - 1;

	return TURN * (turns + (done < 0 ? 0 : done > 1 ? 1 : done));
}

/* A window of `requests`, for functions [first, first + cnt), of which the last is called as
 * answers are written, and others as requests are read, each 1 + its number % 3 times. */
static void server_window(struct rates *r, struct server *s, uint32_t first, uint32_t cnt,
			  double requests)
{
	double until = s->at + requests, cost_ns = 0;
	double own_ns = requests * s->request_ns * s->speed[(int)(uniform() * 3)];
	uint32_t functions[8];
	uint64_t calls[8];
	struct lengths lengths = {
		.reads = floor(halves(until, true)) - floor(halves(s->at, true)),
		.writes = floor(halves(until, false)) - floor(halves(s->at, false)),
	};

	for (uint32_t i = 0; i < cnt; i++) {
		bool reads = first + i != FUNCTIONS - 1;
		double times = 1 + (first + i) % 3;

		functions[i] = first + i;
		calls[i] = (uint64_t)(floor(times * halves(until, reads)) -
				      floor(times * halves(s->at, reads)));
		cost_ns += (double)calls[i] * COUNT_NS;
	}
	lengths.cpu_ns = own_ns + cost_ns * s->counting_off;
	rates__add_window(r, &(const struct look_counts){functions, calls, cnt}, &lengths, cost_ns);
	s->at = until + 1000 * uniform();
}

/* Half of the run goes at half the speed, and windows do not see both as often. Functions that were
 * counted are as often called as requests are read, or answered. */
static void by_reads_and_writes(void **state)
{
	struct server s = {.request_ns = 20e3, .speed = {1, 1, 2}, .counting_off = 0.7};
	struct lengths spans[FUNCTIONS];
	struct rate rates[FUNCTIONS];
	struct rates *r;

	seed = 3;
	assert_int_equal(rates__new(&r), 0);
	for (int f = 0; f < FUNCTIONS; f++) {
		/* 100,000 requests. */
		spans[f] = (struct lengths){100e3 * 20e3 * 2, 100e3, 100e3};
		assert_int_equal(rates__add(r, 1e-6), 0);
	}
	for (int round = 0; round < 3; round++) {
		for (uint32_t f = 0; f < FUNCTIONS; f += 4)
			server_window(r, &s, f, 4, 160 + 40 * uniform());
	}
	assert_int_equal(rates__estimate(r, spans, rates), 0);
	for (int f = 0; f < FUNCTIONS; f++) {
		double of_truth = rates[f].per_ns * spans[f].cpu_ns / (1 + f % 3) / 100e3;

		/* The one that goes by answers is known less: all others do not. */
		assert_true(fabs(of_truth - 1) < (f == FUNCTIONS - 1 ? 0.08 : 0.005));
		assert_true(fabs(of_truth - 1) <= 2 * sqrt(rates[f].variance));
		assert_true(rates[f].by_io > 0.9);
	}
	rates__free(r);
}

static struct rates *rates_of_server(void)
{
	struct rates *r;

	assert_int_equal(rates__new(&r), 0);
	for (int f = 0; f < FUNCTIONS; f++)
		assert_int_equal(rates__add(r, 1e-6), 0);
	return r;
}

/* In 10 s of CPU time 100,000 requests are read and answered, and each function is called once for
 * each, to a tenth. */
static void assert_called_once(const struct rates *r)
{
	struct lengths spans[FUNCTIONS];
	struct rate rates[FUNCTIONS];

	for (int f = 0; f < FUNCTIONS; f++)
		spans[f] = (struct lengths){10e9, 100e3, 100e3};
	assert_int_equal(rates__estimate(r, spans, rates), 0);
	for (int f = 0; f < FUNCTIONS; f++)
		assert_true(fabs(rates[f].per_ns * 10e9 / 100e3 - 1) < 0.1);
}

/* Windows that end amid a turn, with four times as many reads as answers, tell little: even of what
 * no other window has counted. */
static void amid_a_turn(void **state)
{
	struct rates *r = rates_of_server();

	for (uint32_t f = 0; f < FUNCTIONS / 2; f++) {
		bool amid = f % 5 == 1;
		/* Half of the functions are called once as a request is read, the others as it is
		 * answered. */
		uint64_t calls = f % 2 && amid ? 10 : 40;
		const struct lengths lengths = {4e6, 40, amid ? 10 : 40, amid ? log(4) : 0};

		rates__add_window(r, &(const struct look_counts){&f, &calls, 1}, &lengths, 0);
	}
	for (int i = 0; i < 6; i++) {
		uint32_t functions[FUNCTIONS];
		uint64_t calls[FUNCTIONS];

		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			functions[f] = f;
			calls[f] = 6;
		}
		assert_int_equal(add_burst(r, functions, calls, FUNCTIONS), 0);
	}
	assert_called_once(r);
	rates__free(r);
}

/* An event loop reads all requests of a turn, then answers them. Windows know functions of both
 * halves. Function 0, which they have not counted, is called once as a request is read and four
 * times as it is answered. Bursts that met no answer tell of a fifth of its calls, and the error
 * says that there may be as many as at its drop; bursts that met both halves know it well. */
static void bursts_that_miss_answers(void **state)
{
	for (int both = 0; both < 2; both++) {
		struct rates *r;
		struct rate rates[FUNCTIONS];
		double truth = 5 / REQUEST_NS, apart;

		assert_int_equal(rates__new(&r), 0);
		assert_int_equal(rates__add(r, 1.2 * truth), 0);
		for (uint32_t f = 1; f < FUNCTIONS; f++) {
			uint64_t calls = 400;

			assert_int_equal(rates__add(r, 1 / REQUEST_NS), 0);
			add_window(r, &f, &calls, 1, 400 * REQUEST_NS, 0);
		}
		for (int i = 0; i < 4; i++) {
			uint32_t functions[FUNCTIONS];
			uint64_t calls[FUNCTIONS];

			for (uint32_t f = 0; f < FUNCTIONS; f++) {
				functions[f] = f;
				calls[f] = both || f % 3 ? 20 : 0;
			}
			calls[0] = both ? 100 : 20;
			assert_int_equal(add_burst(r, functions, calls, FUNCTIONS), 0);
		}
		assert_int_equal(estimate_by_time(r, FUNCTIONS, rates), 0);
		apart = fabs(rates[0].per_ns - truth);
		assert_true(apart <= 2 * sqrt(rates[0].variance) * rates[0].per_ns);
		assert_true(!both || sqrt(rates[0].variance) < 0.15);
		rates__free(r);
	}
}

/* A turn has 50 requests, which are read, then answered; bursts meet mostly the former, windows
 * both. What no window has counted is told by what bursts meet as often, and not by the rest. */
static void called_together(void **state)
{
	struct rates *r = rates_of_server();

	seed = 5;
	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		const struct lengths lengths = {10e6, 100, 100, 0};
		uint64_t calls = 100;

		if (f % 4 < 2) /* of each kind every other one */
			rates__add_window(r, &(const struct look_counts){&f, &calls, 1}, &lengths,
					  0);
	}
	for (int i = 0; i < 8; i++) {
		uint64_t read = 4 + (uint64_t)(3 * uniform()), answered = i % 3 ? 1 : 12;
		uint32_t functions[FUNCTIONS];
		uint64_t calls[FUNCTIONS];

		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			functions[f] = f;
			calls[f] = f % 2 ? answered : read;
		}
		assert_int_equal(
			rates__add_burst(
				r, &(const struct look_counts){functions, calls, FUNCTIONS}, false),
			0);
	}
	assert_called_once(r);
	rates__free(r);
}

/* Each request calls each function once, and 30 times `dear`, whose calls take next to no time.
 * Some are counted by windows; counting `dear` takes all of one. */
static struct rates *rates_with_dear(struct load *l, uint32_t dear)
{
	const double cost_ns = 9e6;
	uint64_t calls = 20000;
	struct rates *r;

	for (uint32_t f = 0; f < FUNCTIONS; f++)
		l->calls[f] = f == dear ? 30 : 1;
	r = rates_of(l, 0, 0);
	for (int round = 0; round < 2; round++) {
		for (uint32_t f = 0; f < 4; f++)
			window(r, l, f);
	}
	add_window(r, &dear, &calls, 1, 9.1e6, cost_ns);
	return r;
}

/* A burst that is shorter than a request: four begin, and one ends. */
static void short_burst(struct rates *r, uint32_t dear)
{
	uint32_t functions[FUNCTIONS];
	uint64_t calls[FUNCTIONS];

	for (uint32_t f = 0; f < FUNCTIONS; f++) {
		functions[f] = f;
		calls[f] = f == dear ? 30 : f % 2 ? 4 : 1;
	}
	assert_int_equal(add_burst(r, functions, calls, FUNCTIONS), 0);
}

/* Four functions that windows know, and `cnt` more from `first` on, in `requests`. */
static void wide_window(struct rates *r, const struct load *l, uint32_t first, uint32_t cnt,
			double requests)
{
	uint32_t functions[FUNCTIONS];
	uint64_t calls[FUNCTIONS];
	uint32_t listed = 0;

	for (uint32_t f = 0; f < first + cnt; f++) {
		if (f >= 4 && f < first)
			continue;
		functions[listed] = f;
		calls[listed++] = calls_in(l, f, requests);
	}
	assert_int_equal(rates__add_wide(r, &(const struct look_counts){functions, calls, listed}),
			 0);
}

/* Each request calls each function once. Bursts, which are shorter than a request, tell little of
 * functions that no window has counted; wide windows do. */
static void wide_windows(void **state)
{
	const uint32_t dear = FUNCTIONS - 1;
	struct load l = steady();
	struct rates *r;
	struct quality q;

	r = rates_with_dear(&l, dear);
	for (int i = 0; i < 3; i++)
		short_burst(r, dear);
	q = judge(r, &l);
	assert_true(q.most > 0.5);
	for (int round = 0; round < 2; round++) {
		for (uint32_t first = 4; first < FUNCTIONS; first += 14)
			wide_window(r, &l, first, 14, 20);
	}
	q = judge(r, &l);
	assert_true(q.median < 0.06);
	assert_true(q.most < 0.15);
	assert_true(q.inside > 0.9);
	/* Of many, some are kept. */
	for (int i = 0; i < 10000; i++)
		wide_window(r, &l, 4 + 14 * (i % 4), 14, 20);
	q = judge(r, &l);
	assert_true(q.most < 0.06);
	rates__free(r);
}

/* A function whose rate is hardly known tells nothing of how long bursts are. */
static void hardly_known(void **state)
{
	const uint32_t dear = FUNCTIONS - 1;
	struct load l = steady();
	struct rates *r;

	r = rates_with_dear(&l, dear);
	for (int i = 0; i < 3; i++)
		burst(r, &l);
	assert_true(judge(r, &l).median < 0.1);
	rates__free(r);
}

/* Functions go by CPU time, and another thread reads as it likes. */
static void not_by_reads(void **state)
{
	const struct load l = steady();
	struct lengths spans[FUNCTIONS];
	struct rate rates[FUNCTIONS];
	struct rates *r = rates_of(&l, 2, 1);

	for (int f = 0; f < FUNCTIONS; f++)
		spans[f] = (struct lengths){10e9, 100e3, 20e3};
	for (int round = 0; round < 3; round++) {
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			uint64_t calls = calls_in(&l, f, WINDOW_NS / REQUEST_NS);
			const struct lengths lengths = {WINDOW_NS, 50 + 150 * uniform(),
							5 + 20 * uniform()};

			rates__add_window(r, &(const struct look_counts){&f, &calls, 1}, &lengths,
					  0);
		}
	}
	assert_int_equal(rates__estimate(r, spans, rates), 0);
	for (int f = 0; f < FUNCTIONS; f++) {
		assert_true(fabs(rates[f].per_ns / true_rate(&l, f) - 1) < 0.03);
		assert_true(rates[f].by_io < 0.1);
	}
	rates__free(r);
}

/* A target that reads only as it starts: windows know no reads, and that there were some before
 * changes nothing. And one that has read in a window, but since it is looked at hardly ever. */
static void hardly_any_reads(void **state)
{
	const struct load l = steady();
	struct lengths spans[FUNCTIONS] = {{0}};
	struct rate rates[FUNCTIONS];
	struct rates *r = rates_of(&l, 2, 1);

	for (int round = 0; round < 2; round++) {
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			uint64_t calls = calls_in(&l, f, WINDOW_NS / REQUEST_NS);

			spans[f] = (struct lengths){10e9, round ? 90 : 5000, 0};
			add_window(r, &f, &calls, 1, WINDOW_NS, 0);
			if (round && !f)
				rates__add_window(r, &(const struct look_counts){&f, &calls, 1},
						  &(const struct lengths){WINDOW_NS, 30, 0}, 0);
		}
		assert_int_equal(rates__estimate(r, spans, rates), 0);
		for (int f = 0; f < FUNCTIONS; f++)
			assert_true(fabs(rates[f].per_ns / true_rate(&l, f) - 1) < 0.08);
	}
	rates__free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_load),
		cmocka_unit_test(a_short_run),
		cmocka_unit_test(phases),
		cmocka_unit_test(a_changing_mix),
		cmocka_unit_test(short_functions),
		cmocka_unit_test(two_kinds_of_threads),
		cmocka_unit_test(turns),
		cmocka_unit_test(a_noisy_host),
		cmocka_unit_test(the_only_window),
		cmocka_unit_test(an_interrupted_window),
		cmocka_unit_test(a_wrong_guess),
		cmocka_unit_test(a_guess_that_bursts_miss),
		cmocka_unit_test(guesses_of_a_slow_moment),
		cmocka_unit_test(what_is_too_dear_to_count),
		cmocka_unit_test(what_hides_behind_counting),
		cmocka_unit_test(a_crowd),
		cmocka_unit_test(what_bursts_hardly_meet),
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(a_long_run),
		cmocka_unit_test(a_run_of_days),
		cmocka_unit_test(by_reads_and_writes),
		cmocka_unit_test(amid_a_turn),
		cmocka_unit_test(bursts_that_miss_answers),
		cmocka_unit_test(called_together),
		cmocka_unit_test(wide_windows),
		cmocka_unit_test(hardly_known),
		cmocka_unit_test(not_by_reads),
		cmocka_unit_test(hardly_any_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
