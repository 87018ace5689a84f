// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/rates.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* What counting costs is known by this share of it. */
#define COST_SPREAD 0.2
/* The average variance of looks counts as much as so many looks at the function itself. */
#define DRAWN 3
/* A fit to windows that weigh less than this is none. */
#define LITTLE 1
/* What one look deviates from others: a variance, relative, 10 %. */
#define USUAL 0.01
/* What no deviation shows: relative, 0.7 %. */
#define FLOOR 5e-5

#define MAX_BURSTS 1024 /* then each two are put together */
#define NOT_SEEN   UINT32_MAX

/* Pairs of (calls, time). */
struct sums {
	double n, c, x, cc, cx, xx;
};

struct function {
	double guess;
	struct sums windows;
	double cpu_ns, cost_ns; /* in windows */
	/* Roots of its calls' shares by thread, in bursts. */
	bool has_threads;
	double threads[RATES_THREADS];
};

struct burst {
	uint32_t cnt;
	uint32_t calls[]; /* NOT_SEEN: the function had no probe */
};

struct rates {
	struct function *functions;
	size_t cnt, cap;
	struct burst **bursts;
	size_t bursts_cnt, bursts_cap;
};

int rates__new(struct rates **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->bursts_cnt; i++)
		free(r->bursts[i]);
	free(r->bursts);
	free(r->functions);
	free(r);
}

int rates__add(struct rates *r, double per_ns)
{
	if (ARRAY_RESERVE(&r->functions, r->cnt, &r->cap))
		return -ENOMEM;
	r->functions[r->cnt++] = (struct function){.guess = per_ns};
	return 0;
}

static void sums_add(struct sums *s, double c, double x)
{
	s->n++;
	s->c += c;
	s->x += x;
	s->cc += c * c;
	s->cx += c * x;
	s->xx += x * x;
}

static double sums_ratio(const struct sums *s)
{
	return s->x > 0 ? s->c / s->x : 0;
}

/* Of one look, relative: what looks deviate from the ratio, as far as two or more tell. */
static double sums_spread(const struct sums *s)
{
	double ratio = sums_ratio(s), squares = s->cc - 2 * ratio * s->cx + ratio * ratio * s->xx;

	if (s->n < 2 || !(s->c > 0) || squares < 0)
		return 0;
	return squares * s->n * s->n / (s->n - 1) / (s->c * s->c);
}

/* Of one look, relative: what comes by chance, as calls are whole. */
static double sums_chance(const struct sums *s)
{
	return s->n / (s->c + 1);
}

/* How much the deviations of a function's looks tell, in looks: of what is called a few times in a
 * look, chance is most of it. */
static double sums_weight(const struct sums *s)
{
	double share = USUAL / (USUAL + sums_chance(s));

	return s->n > 1 ? (s->n - 1) * share * share : 0;
}

/* The ratio's variance, relative; `average`: what one look deviates beyond chance, relative. */
static double sums_variance(const struct sums *s, double average)
{
	double own = sums_weight(s);
	double beyond = ((sums_spread(s) - sums_chance(s)) * own + average * DRAWN) / (own + DRAWN);

	return (beyond > 0 ? beyond / s->n : 0) + sums_chance(s) / s->n;
}

/* What looks deviate beyond chance: averages over all functions, the usual one among them. */
struct average {
	double sum, weight;
};

static void average_add(struct average *a, const struct sums *s)
{
	a->sum += (sums_spread(s) - sums_chance(s)) * sums_weight(s);
	a->weight += sums_weight(s);
}

static double average_of(const struct average *a)
{
	double average = (a->sum + USUAL * DRAWN) / (a->weight + DRAWN);

	return average > 0 ? average : 0;
}

void rates__add_window(struct rates *r, const uint32_t *functions, const uint64_t *calls,
		       size_t cnt, double cpu_ns, double cost_ns)
{
	double own_ns = cpu_ns - cost_ns;

	/* Hardly anything is left beside the probes. */
	if (own_ns < cpu_ns / 10)
		own_ns = cpu_ns / 10;
	for (size_t i = 0; i < cnt; i++) {
		struct function *f = &r->functions[functions[i]];

		sums_add(&f->windows, (double)calls[i], own_ns);
		f->cpu_ns += cpu_ns;
		f->cost_ns += cost_ns;
	}
}

/* Adds the calls of one burst to another's. A function that only one has seen is in neither. */
static void put_together(struct burst *to, const struct burst *more)
{
	for (uint32_t i = 0; i < to->cnt; i++) {
		if (i >= more->cnt || more->calls[i] == NOT_SEEN || to->calls[i] == NOT_SEEN)
			to->calls[i] = NOT_SEEN;
		else
			to->calls[i] += more->calls[i];
	}
}

int rates__add_burst(struct rates *r, const uint32_t *functions, const uint64_t *calls, size_t cnt)
{
	struct burst *b;

	if (r->bursts_cnt == MAX_BURSTS) {
		for (r->bursts_cnt = 0; r->bursts_cnt < MAX_BURSTS / 2; r->bursts_cnt++) {
			struct burst *second = r->bursts[2 * r->bursts_cnt + 1];

			r->bursts[r->bursts_cnt] = r->bursts[2 * r->bursts_cnt];
			put_together(r->bursts[r->bursts_cnt], second);
			free(second);
		}
	}
	if (ARRAY_RESERVE(&r->bursts, r->bursts_cnt, &r->bursts_cap))
		return -ENOMEM;
	b = malloc(sizeof(*b) + r->cnt * sizeof(b->calls[0]));
	if (!b)
		return -ENOMEM;
	b->cnt = r->cnt;
	memset(b->calls, 0xff, r->cnt * sizeof(b->calls[0]));
	for (size_t i = 0; i < cnt; i++)
		b->calls[functions[i]] = calls[i] < NOT_SEEN ? (uint32_t)calls[i] : NOT_SEEN - 1;
	r->bursts[r->bursts_cnt++] = b;
	return 0;
}

void rates__set_threads(struct rates *r, uint32_t function, const double *calls)
{
	struct function *f = &r->functions[function];
	double sum = 0;

	for (int i = 0; i < RATES_THREADS; i++)
		sum += calls[i];
	f->has_threads = sum > 0;
	for (int i = 0; i < RATES_THREADS && sum > 0; i++)
		f->threads[i] = sqrt(calls[i] / sum);
}

/* Whether windows know the function well enough to tell what a burst was worth. */
static bool is_reference(const struct function *f)
{
	return f->windows.n && f->windows.c > 0 && f->cost_ns < RATES_CHEAP * f->cpu_ns;
}

/* The own time, in ns, that the burst was worth, by functions that windows know; 0: no idea. */
static double burst_worth(const struct rates *r, const struct burst *b, const struct rate *known)
{
	double calls = 0, rate = 0;

	for (uint32_t i = 0; i < b->cnt; i++) {
		if (b->calls[i] == NOT_SEEN || !is_reference(&r->functions[i]))
			continue;
		calls += b->calls[i];
		rate += known[i].per_ns;
	}
	return rate > 0 ? calls / rate : 0;
}

/* What bursts tell: sums of calls and of what bursts were worth. */
static void add_bursts(const struct rates *r, const struct rate *known, struct sums *sums)
{
	for (size_t k = 0; k < r->bursts_cnt; k++) {
		const struct burst *b = r->bursts[k];
		double worth = burst_worth(r, b, known);

		for (uint32_t i = 0; worth > 0 && i < b->cnt; i++) {
			if (b->calls[i] != NOT_SEEN)
				sums_add(&sums[i], b->calls[i], worth);
		}
	}
}

/* How far windows are from what bursts tell of a function, relative. */
static double distance(const struct function *f, const struct sums *bursts)
{
	return sums_ratio(&f->windows) / sums_ratio(bursts) - 1;
}

/* What windows tell. */
static struct rate by_windows(const struct function *f, double spread)
{
	double share = f->cpu_ns > 0 ? f->cost_ns / f->cpu_ns : 0, off;

	if (!f->windows.n)
		return (struct rate){f->guess, 1};
	share = share < 0.9 ? share : 0.9;
	off = COST_SPREAD * share / (1 - share);
	return (struct rate){sums_ratio(&f->windows),
			     sums_variance(&f->windows, spread) + off * off};
}

/* How much of what is known of one function tells of another: 1 if the same threads call them, 0 if
 * no thread calls both. */
static double alike(const struct function *f, const struct function *g)
{
	double product = 0;

	if (!f->has_threads || !g->has_threads)
		return 1;
	for (int i = 0; i < RATES_THREADS; i++)
		product += f->threads[i] * g->threads[i];
	product *= product;
	return product * product;
}

/* How bursts are to be scaled for a function. */
struct fit {
	double by;	 /* they are worth so many times as much, */
	double variance; /* with this error, relative */
};

/* By windows of functions that the same threads call, each weighed by how well windows and bursts
 * know it. */
static struct fit fit_one(const struct rates *r, const struct sums *bursts,
			  const struct rate *known, double spread, const struct function *to)
{
	double weights = 0, windows_sum = 0, bursts_sum = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct function *f = &r->functions[i];
		double chance, usual, weight;

		if (!is_reference(f) || !(bursts[i].c > 0))
			continue;
		/* Sums of both, in units of what is thought to be right: a ratio of two that are
		 * uncertain is not right on average. */
		chance = sums_variance(&bursts[i], spread);
		usual = (known[i].per_ns / known[i].variance + sums_ratio(&bursts[i]) / chance) /
			(1 / known[i].variance + 1 / chance);
		weight = alike(f, to) / (known[i].variance + chance);
		weights += weight;
		windows_sum += weight * known[i].per_ns / usual;
		bursts_sum += weight * sums_ratio(&bursts[i]) / usual;
	}
	if (weights < LITTLE || !(windows_sum > 0) || !(bursts_sum > 0))
		return (struct fit){1, 1};
	return (struct fit){windows_sum / bursts_sum, 1 / weights};
}

/* How far bursts are off for each function beyond chance: its variance, relative. */
static double error_beyond(const struct rates *r, const struct sums *bursts, const struct fit *fits,
			   const struct rate *known, double spread)
{
	double off = 0, weights = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		double square, weight, chance;

		if (!is_reference(&r->functions[i]) || !(bursts[i].c > 0))
			continue;
		square = (1 + distance(&r->functions[i], &bursts[i])) / fits[i].by - 1;
		square *= square;
		chance = known[i].variance + sums_variance(&bursts[i], spread);
		weight = 1 / (chance * chance);
		off += weight * (square - chance);
		weights += weight;
	}
	return off > 0 ? off / weights : 0;
}

/* Adds one estimate of a rate to another. */
static void join(struct rate *to, double per_ns, double variance)
{
	double both = 1 / (1 / variance + 1 / to->variance);

	to->per_ns = both * (per_ns / variance + to->per_ns / to->variance);
	to->variance = both;
}

/* Joins what windows (`out`) and bursts tell. */
static void join_all(const struct rates *r, const struct sums *bursts, struct fit *fits,
		     struct rate *out)
{
	struct average average = {0};
	double spread, off;

	for (size_t i = 0; i < r->cnt; i++)
		average_add(&average, &bursts[i]);
	spread = average_of(&average);
	for (size_t i = 0; i < r->cnt; i++)
		fits[i] = fit_one(r, bursts, out, spread, &r->functions[i]);
	off = error_beyond(r, bursts, fits, out, spread);
	for (size_t i = 0; i < r->cnt; i++) {
		if (bursts[i].c > 0)
			join(&out[i], sums_ratio(&bursts[i]) * fits[i].by,
			     sums_variance(&bursts[i], spread) + fits[i].variance + off);
		out[i].variance += FLOOR;
	}
}

int rates__estimate(const struct rates *r, struct rate *out)
{
	struct sums *bursts = calloc(r->cnt + 1, sizeof(*bursts));
	struct fit *fits = calloc(r->cnt + 1, sizeof(*fits));
	int err = bursts && fits ? 0 : -ENOMEM;
	struct average windows = {0};

	if (!err) {
		for (size_t i = 0; i < r->cnt; i++)
			average_add(&windows, &r->functions[i].windows);
		for (size_t i = 0; i < r->cnt; i++)
			out[i] = by_windows(&r->functions[i], average_of(&windows));
		add_bursts(r, out, bursts);
		join_all(r, bursts, fits, out);
	}
	free(bursts);
	free(fits);
	return err;
}
