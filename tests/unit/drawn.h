/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers drawn at random, the same ones for the same seed, for simulated loads. */
#ifndef PROFTRACE_TESTS_DRAWN_H
#define PROFTRACE_TESTS_DRAWN_H

#include <stdint.h>

static uint32_t seed;

/* From 0 up to, but not, 1. */
static inline double uniform(void)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) / 16777216.0;
}

/* With mean 0 and standard deviation 1, as nearly as twelve drawn numbers make it. */
static inline double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform();
	return sum;
}

#endif
