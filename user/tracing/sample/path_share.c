// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Of n calls of a function k were on one path, whose share is taken to be s = k / n. By the
 * binomial distribution it varies by s (1 - s) / n; which is 0 where k = n, as of one call of one.
 *
 * Laplace's remedy is to reckon as if some more calls had been seen, on this path and on others:
 * m = (k + 1) / (n + 1 + OTHERS). That is what the share is to be expected where nothing was known
 * of it before, by a beta distribution (1, OTHERS): a function has some three paths. So the true
 * share varies by m (1 - m) / n around m, and m is off from s.
 *
 * Calls come in groups, a request's all at once, so n calls tell as much as n / IN_GROUPS that have
 * nothing to do with each other. The share is seldom known less well than without any call: all
 * shares from 0 to 1 alike are off from s by 1/12 + (s - 1/2)^2 in the mean square, and twice the
 * root of that holds them all.
 */
#include "sample/path_share.h"

#include <math.h>

#define IN_GROUPS 4
#define OTHERS	  2

double path_share__variance(double seen, double of)
{
	double share = seen / of, expected = (seen + 1) / (of + 1 + OTHERS);
	double known = expected * (1 - expected) * IN_GROUPS / of +
		       (expected - share) * (expected - share);
	double unknown = 1. / 12 + (share - 0.5) * (share - 0.5);

	return fmin(known, unknown);
}
