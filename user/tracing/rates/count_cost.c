// SPDX-License-Identifier: GPL-2.0-or-later
#include "rates/count_cost.h"

#include <math.h>
#include <stdlib.h>

/* Counting is taken to cost no more of the time than this: hardly anything is left then. */
#define MOST_COST 0.9
/* The cost of counting is known by this share of what was calibrated, before windows tell more, */
#define COST_SPREAD 0.2
/* and differs from function to function by this share. */
#define COST_DIFFERS 0.07
/* Costs that are tried: from this times what was calibrated on, in so many steps. */
#define LEAST_TIMES 0.5
#define STEP	    0.025
#define STEPS	    41
/* Functions that are compared with each other, at most. */
#define COMPARED 48
/* The share of functions that are like no other, and how far from others they may be: a variance,
 * relative. Functions that are alike differ by a variance of 3 %. */
#define STRANGE 0.1
#define FAR	1
#define ALIKE	1e-3

const struct count_cost count_cost__calibrated = {1, COST_SPREAD};

double count_cost__own_ns(const struct count_cost *c, double cpu_ns, double cost_ns)
{
	double own_ns = cpu_ns - c->times * cost_ns;

	return own_ns > (1 - MOST_COST) * cpu_ns ? own_ns : (1 - MOST_COST) * cpu_ns;
}

static int by_variance(const void *a, const void *b)
{
	const struct counted *f = a, *g = b;

	if (f->variance != g->variance)
		return f->variance < g->variance ? -1 : 1;
	return f->function < g->function ? -1 : f->function > g->function;
}

struct comparison {
	size_t cnt;
	double alike[COMPARED][COMPARED];
	/* For the cost that is tried: by how much windows had more own time than bursts tell, and
	 * the variance of that. */
	double more[COMPARED], variance[COMPARED];
};

static double normal(double apart, double variance)
{
	return exp(-apart * apart / variance / 2) / sqrt(2 * M_PI * variance);
}

/* A logarithm: how likely it is that functions are so far from what the others tell. */
static double likelihood(const struct comparison *c)
{
	double sum = 0;

	for (size_t i = 0; i < c->cnt; i++) {
		double weights = 0, mean = 0, variance;

		for (size_t k = 0; k < c->cnt; k++) {
			double weight = k == i ? 0 : c->alike[i][k] / c->variance[k];

			weights += weight;
			mean += weight * c->more[k];
		}
		if (!(weights > 0))
			continue;
		mean /= weights;
		variance = c->variance[i] + 1 / weights;
		sum += log((1 - STRANGE) * normal(c->more[i] - mean, variance) +
			   STRANGE * normal(c->more[i] - mean, variance + mean * mean * FAR));
	}
	/* Each two are compared twice. */
	return sum / 2;
}

static double likelihood_of(const struct counted *functions, struct comparison *c, double times)
{
	double off = (times - 1) / COST_SPREAD;

	for (size_t i = 0; i < c->cnt; i++) {
		const struct counted *f = &functions[i];
		double own_ns = f->calls / f->in_bursts, cost = times * f->cost_ns / own_ns;
		double differs = COST_DIFFERS * cost;

		c->more[i] = f->cpu_ns / own_ns - cost;
		c->variance[i] =
			(f->variance + ALIKE) * c->more[i] * c->more[i] + differs * differs;
	}
	return likelihood(c) - off * off / 2;
}

static struct count_cost fit(const struct counted *functions, struct comparison *c)
{
	double found[STEPS], most = -INFINITY, sum = 0, first = 0, second = 0, times, variance;

	for (int i = 0; i < STEPS; i++) {
		found[i] = likelihood_of(functions, c, LEAST_TIMES + i * STEP);
		most = found[i] > most ? found[i] : most;
	}
	for (int i = 0; i < STEPS; i++) {
		double at = LEAST_TIMES + i * STEP, weight = exp(found[i] - most);

		sum += weight;
		first += weight * at;
		second += weight * at * at;
	}
	times = first / sum;
	variance = second / sum - times * times;
	return (struct count_cost){times, sqrt(variance > STEP * STEP ? variance : STEP * STEP)};
}

struct count_cost count_cost__fit(struct counted *functions, size_t cnt, count_cost_alike alike,
				  const void *ctx)
{
	struct count_cost cost = count_cost__calibrated;
	struct comparison *c = malloc(sizeof(*c));

	if (!c)
		return cost;
	qsort(functions, cnt, sizeof(*functions), by_variance);
	c->cnt = cnt < COMPARED ? cnt : COMPARED;
	for (size_t i = 0; i < c->cnt; i++) {
		for (size_t k = 0; k < i; k++) {
			c->alike[i][k] = alike(ctx, functions[i].function, functions[k].function);
			c->alike[k][i] = c->alike[i][k];
		}
	}
	if (c->cnt > 1)
		cost = fit(functions, c);
	free(c);
	return cost;
}
