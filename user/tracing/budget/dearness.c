// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/dearness.h"

#include <math.h>

#include "collect/figures.h"

#define BELIEF                                                                            \
	10 /* samples that the reckoning is worth: it is as good as their number would be \
	    */
#define MOST 4

double dearness__times(const struct samples_so_far *met, double reckoned)
{
	double expected = reckoned * (double)met->taken;
	double times = (BELIEF + (double)met->probing) / (BELIEF + expected);

	return fmax(1, fmin(MOST, times));
}
