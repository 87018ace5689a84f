// SPDX-License-Identifier: GPL-2.0-or-later
#include "rates/fits.h"

#include <math.h>

/* A fit to windows that weigh less than this is none. */
#define LITTLE 1
/* Functions whose distances differ by this, as a variance, are taken to go by the same thing: 3 %.
 */
#define ALIKE 1e-3
/* The share of functions that are like no other, before anything is known. */
#define STRANGE 0.1

/* How likely a function's distance is, if it goes by the same thing as one whose distance is known,
 * by what both are uncertain in. Where windows do not know it: as it is for most. */
static double likelihood(const struct distance *of, const struct distance *to)
{
	double variance = of->variance + to->variance + ALIKE, apart = of->log - to->log;

	return to->known ? exp(-apart * apart / variance / 2) / sqrt(2 * M_PI * variance)
			 : of->company;
}

/* All whose distance windows know; of more than have room the best known of each few neighbours,
 * which mostly belong to one part of a program, so that no part goes without. */
static void references_choose(struct references *refs, size_t functions_cnt)
{
	const struct distance *d = refs->distances;
	size_t known = 0, few, seen = 0, best = 0;

	for (size_t i = 0; i < functions_cnt; i++)
		known += d[i].known;
	few = (known + MAX_REFERENCES - 1) / MAX_REFERENCES;
	refs->cnt = 0;
	for (size_t i = 0; i < functions_cnt; i++) {
		if (!d[i].known)
			continue;
		if (seen % few == 0 || d[i].variance < d[best].variance)
			best = i;
		if (++seen % few == 0 || seen == known)
			refs->functions[refs->cnt++] = best;
	}
}

static void keep_company(struct references *refs)
{
	for (size_t i = 0; i < refs->cnt; i++) {
		struct distance *d = &refs->distances[refs->functions[i]];

		for (size_t k = 0; k < refs->cnt; k++)
			d->company += likelihood(&refs->distances[refs->functions[k]], d);
	}
}

/* Sums over other functions. */
struct others {
	/* Of those that the same threads call: */
	double cnt, likelihood;
	/* Of all, weighed by how well they are known: */
	double all_weights, all_distance, all_squares;
	/* Weighed by what they tell: */
	double weights, distance, squares, expected, variance, off;
};

static void others_add(struct others *o, const struct distance *d, const struct known *k,
		       double likelihood, double alike)
{
	double precise = alike / d->variance, weight = likelihood * precise;
	double chance = k->variance + d->chance;

	o->cnt += alike;
	o->likelihood += alike * likelihood;
	o->all_weights += precise;
	o->all_distance += precise * d->log;
	o->all_squares += precise * d->log * d->log;
	o->weights += weight;
	o->distance += weight * d->log;
	o->squares += weight * d->log * d->log;
	o->expected += weight * chance;
	o->variance += weight * weight * chance;
	o->off += weight * k->off;
}

/* How likely a function is like no other, if those that are like it are at `mean`, and not one of
 * these whose windows are off by chance, or out of the ordinary, as is `interrupted` likely. */
static double strange(const struct others *o, const struct distance *own, double mean,
		      double interrupted)
{
	double gap = own->log - mean, variance = own->variance + 1;
	double far = exp(-gap * gap / variance / 2) / sqrt(2 * M_PI * variance);
	double same = o->likelihood / o->cnt + interrupted * far;

	return STRANGE * far / (STRANGE * far + same);
}

/* How far from others, as a variance, one may be that windows do not know. */
static double others_apart(const struct others *o, double mean)
{
	double squares = o->all_squares - 2 * mean * o->all_distance + o->all_weights * mean * mean;

	/* By chance each would be as far off as it is known. */
	return squares > o->cnt ? (squares - o->cnt) / o->all_weights : 0;
}

/* Sums over all references but one; over those that are as far off, where windows know `own`. */
static struct others others_of(const struct references *refs, size_t to, const struct distance *own)
{
	struct others o = {0};

	for (size_t i = 0; i < refs->cnt; i++) {
		size_t f = refs->functions[i];

		if (f != to)
			others_add(&o, &refs->distances[f], &refs->known[f],
				   likelihood(&refs->distances[f], own),
				   refs->alike(refs->ctx, f, to));
	}
	return o;
}

struct fit fit__one(const struct references *refs, size_t to, double windows)
{
	const struct distance *own = &refs->distances[to], unknown = {0};
	struct others o = others_of(refs, to, own);
	double mean, apart, gap, share, likelihood = o.likelihood;
	struct fit fit;

	/* Far from all others it is measured by all of them. */
	if (o.weights < LITTLE && own->known) {
		o = others_of(refs, to, &unknown);
		o.likelihood = likelihood;
	}
	/* Then what bursts are worth is known by its own windows alone. */
	if (o.weights < LITTLE)
		return (struct fit){1, 1, own->known ? refs->known[to].off : 0, 0, false};
	mean = o.distance / o.weights;
	/* This one may differ by what they differ in beyond chance, too. */
	apart = o.squares / o.weights - mean * mean - o.expected / o.weights;
	fit = (struct fit){
		exp(mean),
		o.variance / (o.weights * o.weights) + (apart > 0 ? apart : 0),
		o.off / o.weights,
		0,
		true,
	};
	if (!own->known) {
		fit.variance += others_apart(&o, mean);
		return fit;
	}
	/* Either it is like no other, or its windows were out of the ordinary. */
	gap = own->log - mean;
	share = refs->interrupted > 0 ? strange(&o, own, mean, pow(refs->interrupted, windows)) : 1;
	fit.variance += share * gap * gap;
	fit.windows = (1 - share) * gap * gap;
	return fit;
}

void references__find(struct references *refs, size_t functions_cnt)
{
	references_choose(refs, functions_cnt);
	keep_company(refs);
}
