// SPDX-License-Identifier: GPL-2.0-or-later
/* Rates by all clocks, and which of them functions go by. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rates/by_clock.h"
#include "rates/rates.h"
#include "rates/rates_inside.h"

/* A function's windows are taken to deviate by 2 % by each clock, as if one more look told so. */
#define DEVIATES 4e-4
/* And by so much, 30 %, where the function goes by none of them. */
#define STRAYS 0.09
/* Before functions were counted again all clocks are as likely, as if so many had told of each. */
#define PRIOR 0.25
/* Whatever others go by, so many of them differ from that: some functions of a server are called as
 * it reads, others as it writes. */
#define DIFFER 0.05
/* Functions whose windows are compared with each other, at most. */
#define COMPARED 64
/* Rounds in which these tell each other which clocks are likely. */
#define ROUNDS 4
/* A target that has read or written less often does not go by that. */
#define LEAST_TICKS 100

#define NONE	CLOCKS	     /* what a function may go by, beside clocks */
#define CHOICES (CLOCKS + 1) /* in all */

/* A function that was counted more than once. */
struct again {
	const struct function *function;
	double fits[CHOICES];	/* how likely its windows are, of what it may go by */
	double likely[CHOICES]; /* how likely it goes by each */
};

/* How well a function's windows agree by each clock: likelihoods of deviations whose size is not
 * known. Where there is one window they say nothing. */
static void windows_fit(const struct function *f, const bool *known, double *fits)
{
	double variances[CHOICES], least = STRAYS, looks = f->by[BY_TIME].sums.n - 1;

	looks = looks > 0 ? looks : 0;
	variances[NONE] = STRAYS;
	for (int clock = 0; clock < CLOCKS; clock++) {
		double squares = looks * sums_spread(&f->by[clock].sums);

		variances[clock] = (DEVIATES + squares) / (1 + looks);
		if (known[clock] && variances[clock] < least)
			least = variances[clock];
	}
	for (int i = 0; i < CHOICES; i++)
		fits[i] = i == NONE || known[i] ? pow(least / variances[i], looks / 2) : 0;
}

/* Finds the clock that a function's calls go by: from its own windows, and from those of functions
 * that the same threads call. */
static void weigh(const struct again *again, size_t cnt, const struct function *f,
		  const double *fits, double *likely)
{
	double told[CHOICES] = {0}, sum = 0;

	for (size_t k = 0; k < cnt; k++) {
		double alike = functions_alike(f, again[k].function);

		for (int i = 0; i < CHOICES; i++)
			told[i] += alike * (again[k].likely[i] + DIFFER);
	}
	for (int i = 0; i < CHOICES; i++)
		sum += (PRIOR + told[i]) * fits[i];
	for (int i = 0; i < CHOICES; i++)
		likely[i] = (PRIOR + told[i]) * fits[i] / sum;
}

/* Functions that were counted again, as many as may be compared: each nth. Returns how many. */
static size_t find_again(const struct rates *r, const bool *known, struct again *out)
{
	size_t all = 0, seen = 0, cnt = 0, nth;
	double likely[COMPARED][CHOICES];

	for (size_t i = 0; i < r->cnt; i++)
		all += r->functions[i].by[BY_TIME].sums.n > 1;
	nth = all / COMPARED + 1;
	for (size_t i = 0; i < r->cnt; i++) {
		const struct function *f = &r->functions[i];

		if (f->by[BY_TIME].sums.n < 2 || seen++ % nth)
			continue;
		out[cnt] = (struct again){.function = f};
		windows_fit(f, known, out[cnt].fits);
		weigh(NULL, 0, f, out[cnt].fits, out[cnt].likely);
		cnt++;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t k = 0; k < cnt; k++)
			weigh(out, cnt, out[k].function, out[k].fits, likely[k]);
		for (size_t k = 0; k < cnt; k++)
			memcpy(out[k].likely, likely[k], sizeof(likely[k]));
	}
	return cnt;
}

/* How windows deviate of functions that go by a clock. What goes by none changes by time. */
static struct usual usual_of(const struct again *again, size_t cnt, enum clock clock)
{
	struct usual_sums sums = {0};

	for (size_t k = 0; k < cnt; k++) {
		double tells = again[k].likely[clock];

		tells += clock == BY_TIME ? again[k].likely[NONE] : 0;
		usual_add(&sums, &again[k].function->by[clock].sums, tells);
	}
	return usual_by(&sums, clock == BY_TIME);
}

/* One of the clocks is right: each counts by how likely it is, and by how well the rate is known by
 * it; what they are apart goes into the error. */
static struct rate join(const struct rate *by, const double *likely)
{
	double weights[CLOCKS], sum = 0;
	double io = likely[BY_READS] + likely[BY_WRITES];
	struct rate out = {.by_io = io / (io + likely[BY_TIME])};

	for (int clock = 0; clock < CLOCKS; clock++) {
		weights[clock] = likely[clock] > 0 ? likely[clock] / by[clock].variance : 0;
		sum += weights[clock];
	}
	for (int clock = 0; clock < CLOCKS; clock++) {
		weights[clock] /= sum;
		out.per_ns += weights[clock] * by[clock].per_ns;
	}
	for (int clock = 0; clock < CLOCKS; clock++) {
		double apart = out.per_ns > 0 ? by[clock].per_ns / out.per_ns - 1 : 0;

		out.variance += weights[clock] * (by[clock].variance + apart * apart);
	}
	return out;
}

/* A rate by one clock becomes calls in a ns of CPU time, by how often the clock has ticked. Returns
 * whether it has. */
static bool convert(const struct rates *r, enum clock clock, const struct lengths *span,
		    struct rate *rate)
{
	double ticks = clock == BY_READS ? span->reads : span->writes;

	if (clock == BY_TIME)
		return true;
	if (ticks < LEAST_TICKS || !(span->cpu_ns > 0))
		return false;
	rate->per_ns *= r->ns_per[clock] * ticks / span->cpu_ns;
	return true;
}

static void join_all(const struct rates *r, const struct lengths *spans, const struct again *again,
		     size_t cnt, struct rate *const by[CLOCKS], struct rate *out)
{
	for (size_t i = 0; i < r->cnt; i++) {
		const struct function *f = &r->functions[i];
		struct rate of[CLOCKS] = {0};
		bool known[CLOCKS] = {false};
		double likely[CHOICES], fits[CHOICES];

		for (int clock = 0; clock < CLOCKS; clock++) {
			if (!by[clock])
				continue;
			of[clock] = by[clock][i];
			known[clock] = convert(r, clock, &spans[i], &of[clock]);
		}
		windows_fit(f, known, fits);
		weigh(again, cnt, f, fits, likely);
		out[i] = join(of, likely);
		out[i].guessed = of[BY_TIME].guessed;
	}
}

int rates__estimate(const struct rates *r, const struct lengths *spans, struct rate *out)
{
	const bool some[CLOCKS] = {true, r->ns_per[BY_READS] > 0, r->ns_per[BY_WRITES] > 0};
	struct again again[COMPARED];
	size_t cnt = find_again(r, some, again);
	struct rate *by[CLOCKS] = {NULL};
	int err = 0;

	for (int clock = 0; clock < CLOCKS && !err; clock++) {
		if (!some[clock])
			continue;
		by[clock] = calloc(r->cnt + 1, sizeof(*by[clock]));
		err = by[clock]
			      ? by_clock__estimate(r, clock, usual_of(again, cnt, clock), by[clock])
			      : -ENOMEM;
	}
	if (!err)
		join_all(r, spans, again, cnt, by, out);
	for (int clock = 0; clock < CLOCKS; clock++)
		free(by[clock]);
	return err;
}
