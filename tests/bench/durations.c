// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * durations KIND LOW_US HIGH_US [CALLS [SEED]]: lasts() takes a time of a known distribution in
 * each of its CALLS calls: "loguniform" (each order of magnitude as often as each other),
 * "uniform", or "bimodal" (four calls in five around LOW, the others around HIGH, each within a
 * quarter). Prints "ready" and waits for a line on stdin. At the end "CALLS N" and "EXACT P NS" for
 * some P, in percent: the shortest time that P percent of the calls did not exceed. lasts()
 * measures each call itself, whatever was meant.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double percents[] = {50, 90, 99, 99.9};

static inline __attribute__((always_inline)) unsigned long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ul + ts.tv_nsec;
}

__attribute__((noipa)) unsigned long lasts(unsigned long ns)
{
	unsigned long start = now_ns(), now;

	do {
		now = now_ns();
	} while (now - start < ns);
	return now - start;
}

static double uniform(double low, double high)
{
	return low + (high - low) * drand48();
}

static double draw(const char *kind, double low, double high)
{
	if (!strcmp(kind, "loguniform"))
		return exp(uniform(log(low), log(high)));
	if (!strcmp(kind, "uniform"))
		return uniform(low, high);
	return (drand48() < 0.8 ? low : high) * uniform(0.75, 1.25);
}

static int compare(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	unsigned long calls = argc > 4 ? strtoul(argv[4], NULL, 10) : 2000, *took;
	double low = argc > 3 ? atof(argv[2]) * 1000 : 0,
	       high = argc > 3 ? atof(argv[3]) * 1000 : 0;
	char c;

	if (low <= 0 || high < low || !calls ||
	    (strcmp(argv[1], "loguniform") && strcmp(argv[1], "uniform") &&
	     strcmp(argv[1], "bimodal"))) {
		fprintf(stderr, "usage: durations loguniform|uniform|bimodal LOW_US HIGH_US "
				"[CALLS [SEED]]\n");
		return 2;
	}
	srand48(argc > 5 ? atol(argv[5]) : 1);
	took = calloc(calls, sizeof(*took));
	if (!took)
		return 1;
	printf("ready\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 0;
	for (unsigned long i = 0; i < calls; i++)
		took[i] = lasts(draw(argv[1], low, high));
	qsort(took, calls, sizeof(*took), compare);
	printf("CALLS %lu\n", calls);
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++) {
		unsigned long rank = ceil(percents[i] / 100 * calls);

		printf("EXACT %g %lu\n", percents[i], took[rank - 1]);
	}
	free(took);
	return 0;
}
