// SPDX-License-Identifier: GPL-2.0-or-later
#include "rates/sums.h"

#include <stdlib.h>

/* Until looks have told how far they deviate, the only one may have been out of the ordinary: of 39
 * runs of half a second on a busy machine, three had a window in which all was called half as often
 * as in the others. A variance as well, 24 %; with each look less of it is left. */
#define UNTOLD 0.06
/* A burst deviates from others by 2 % at least. */
#define SLIGHT 4e-4
/* That calls come one by one counts as much as so many looks. */
#define TIMES_DRAWN 0.25

void sums_add(struct sums *s, double c, double x)
{
	s->n++;
	s->c += c;
	s->x += x;
	s->cc += c * c;
	s->cx += c * x;
	s->xx += x * x;
}

double sums_ratio(const struct sums *s)
{
	return s->x > 0 ? s->c / s->x : 0;
}

double sums_spread(const struct sums *s)
{
	double ratio = sums_ratio(s), squares = s->cc - 2 * ratio * s->cx + ratio * ratio * s->xx;

	if (s->n < 2 || !(s->c > 0) || squares < 0)
		return 0;
	return squares * s->n * s->n / (s->n - 1) / (s->c * s->c);
}

/* The variance of one look by chance alone, as calls are whole. */
static double variance_by_chance(const struct sums *s)
{
	return s->n / (s->c + 1);
}

/* How much the deviations of a function's looks tell, in looks: where it is called a few times in a
 * look, chance is most of them. */
static double looks_worth(const struct sums *s)
{
	double share = USUAL / (USUAL + variance_by_chance(s));

	return s->n > 1 ? (s->n - 1) * share * share : 0;
}

double sums_variance(const struct sums *s, const struct usual *usual)
{
	double own = looks_worth(s), chance = usual->times * variance_by_chance(s);
	double beyond = ((sums_spread(s) - chance) * own + usual->beyond * DRAWN) / (own + DRAWN);

	return ((beyond > 0 ? beyond : 0) + chance) / s->n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double middle_of(double *values, size_t cnt)
{
	qsort(values, cnt, sizeof(*values), by_size);
	return values[cnt / 2];
}

double bursts_usual_times(const struct sums *bursts, size_t cnt, double *scratch)
{
	size_t known = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (bursts[i].n > 1 && bursts[i].c >= FEW)
			scratch[known++] = sums_spread(&bursts[i]) / variance_by_chance(&bursts[i]);
	}
	return known < MANY ? 1 : middle_of(scratch, known);
}

double bursts_variance(const struct sums *s, double times)
{
	double of = s->c < FEW && times < 1 ? 1 : times;
	double usual = of * variance_by_chance(s) + (s->n > 1 ? SLIGHT : USUAL);

	return ((s->n - 1) * sums_spread(s) + DRAWN * usual) / (s->n - 1 + DRAWN) / s->n;
}

void usual_add(struct usual_sums *u, const struct sums *s, double tells)
{
	double weight = tells * looks_worth(s), looks = s->n > 1 ? tells * (s->n - 1) : 0;

	u->beyond += (sums_spread(s) - variance_by_chance(s)) * weight;
	u->weight += weight;
	u->times += sums_spread(s) / variance_by_chance(s) * looks;
	u->looks += looks;
}

struct usual usual_by(const struct usual_sums *u, bool one_by_one)
{
	double usual = USUAL + UNTOLD / (1 + u->weight);
	double beyond = (u->beyond + usual * DRAWN) / (u->weight + DRAWN);
	double times = (u->times + TIMES_DRAWN) / (u->looks + TIMES_DRAWN);

	if (one_by_one)
		return (struct usual){beyond > 0 ? beyond : 0, 1};
	/* With what they deviate by chance. */
	return (struct usual){SLIGHT + USUAL / (1 + u->looks * u->looks), times < 1 ? times : 1};
}
