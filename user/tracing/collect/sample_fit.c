// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A call of a probed function takes 0.7 us more than its own 50 ns. Calibration, in another program
 * and at another time, is off by more than these: by 15 % on a machine that others use. Samples
 * that meet the function's own code, and no probe, tell its own time without any calibration, but
 * with the error of their number.
 *
 * So a function's charge is multiplied by a factor, of which three things tell, each as good as it
 * is: calibration (or tiny leaves, leaf_cost.c); the samples of all other functions with the same
 * kinds of probes, which differ from one another by SCATTER, as caches and branch predictors do;
 * and the function's own samples. All are taken for normally distributed, so they are averaged by
 * the inverse of their variances, and the result's variance is the inverse of their sum.
 *
 * Callers' samples tell nothing where the kernel's functions have no names, as with -F, where no
 * stacks are kept: some 0.3 us of each callee's exit are among them, on the way back from the
 * kernel. There the samples of functions without callees tell of the callers' probes, too.
 *
 * Example: 10^6 calls of 50 ns and 700 ns of probes, 1 kHz: 50 samples, so 50 +- 7 ns.
 */
#include "collect/leaf_cost.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "attach/costs.h"
#include "collect/figures.h"
#include "tables/stack_copy.h"
#include "wire.h"

#define CALIBRATED  0.15  /* standard error of calibration, at least */
#define SCATTER	    0.025 /* standard deviation of functions with the same kinds of probes */
#define CLOCK_ERROR 0.03  /* of what a sample stands for, that is the same for all */
#define ACROSS	    0.03  /* between functions without callees and callers, beside SCATTER */
#define MOST_BELOW  0.1	  /* of a charge is its callees', if the function counts as without */
#define MIN_FACTOR  0.5
#define MAX_FACTOR  2

/* Sums of a function, in ns of CPU time: what was measured, what was charged, of that what lies
 * within its own calls' intervals, what its samples stand for; and their number. */
struct fit_sums {
	double cpu_ns, probe_ns, inside_ns, sampled_ns, samples;
};

/* An average by the inverse of variances. */
struct weighed {
	double sum, weights;
};

/* By how a function is probed, and whether most of its charge is its callees'. */
typedef struct weighed fit_kinds[WIRE_COST_CLASSES][WIRE_COST_CLASSES][2];

static void add_copy(const struct stack_copy *copy, const struct fit_known *known,
		     struct fit_sums *sums)
{
	for (uint32_t i = 0; i < copy->nodes_cnt; i++) {
		const struct stack_copy_node *n = &copy->nodes[i];
		const struct function_probes *probes;
		struct fit_sums *s;

		if (n->function >= known->probes_cnt || n->self_ns < n->off_ns)
			continue;
		probes = &known->probes[n->function];
		s = &sums[n->function];
		s->cpu_ns += (double)(n->self_ns - n->off_ns);
		s->probe_ns += (double)n->probe_ns;
		s->inside_ns += (double)n->calls * (known->costs->classes[probes->entry].inside_ns +
						    known->costs->classes[probes->exit].inside_ns);
	}
	for (uint32_t i = 0; i < copy->samples_cnt; i++) {
		const struct stack_copy_sample *sample = &copy->samples[i];
		uint32_t function;

		if (sample->base == STACK_COPY_ROOT)
			continue;
		function = copy->nodes[sample->base].function;
		if (function >= known->probes_cnt)
			continue;
		sums[function].sampled_ns += (double)sample->ns;
		sums[function].samples += (double)sample->cnt;
	}
}

/* Whether a function's samples tell what its probes cost. */
static bool tells(const struct fit_known *known, const struct fit_sums *s)
{
	return known->kernel_named || s->probe_ns * (1 - MOST_BELOW) <= s->inside_ns;
}

static struct weighed *kind_of(fit_kinds kinds, const struct function_probes *probes,
			       const struct fit_sums *s)
{
	return &kinds[probes->entry][probes->exit][s->probe_ns > 2 * s->inside_ns];
}

/* A function's factor by its own samples, and the variance of that. The variance reckons with one
 * sample more than there were: no sample does not mean no time. */
static double own_factor(const struct fit_sums *s, double period_ns, double *variance)
{
	double by_chance = (s->samples + 1) * period_ns * period_ns;
	double by_clock = s->sampled_ns * CLOCK_ERROR * s->sampled_ns * CLOCK_ERROR;

	*variance = (by_chance + by_clock) / (s->probe_ns * s->probe_ns);
	return (s->cpu_ns - s->sampled_ns) / s->probe_ns;
}

static void weigh(struct weighed *w, double value, double variance, double sign)
{
	w->sum += sign * value / variance;
	w->weights += sign / variance;
}

/* How dear a caller's probes are, as functions without callees tell. */
static struct weighed across(const struct weighed *w)
{
	double mean = w->weights > 0 ? w->sum / w->weights : 0;
	double weight = w->weights > 0 ? 1 / (1 / w->weights + ACROSS * ACROSS) : 0;

	return (struct weighed){mean * weight, weight};
}

/* Whether it may be what probes cost: else something else has taken that time. */
static bool is_likely(double factor)
{
	return factor > MIN_FACTOR && factor < MAX_FACTOR;
}

static struct fitted_cost fit(const struct fit_known *known, uint32_t function,
			      const struct fit_sums *s, double period_ns, fit_kinds kinds)
{
	const struct function_probes *probes = &known->probes[function];
	double calibrated = fmax(known->costs->spread, CALIBRATED), variance;
	double own = own_factor(s, period_ns, &variance), factor;
	bool by_own = tells(known, s);
	struct weighed w = by_own ? *kind_of(kinds, probes, s)
				  : across(&kinds[probes->entry][probes->exit][0]);

	if (by_own && is_likely(own)) /* it is in there itself */
		weigh(&w, own, variance + SCATTER * SCATTER, -1);
	weigh(&w, known->leaves->ratio[probes->entry][probes->exit], calibrated * calibrated, 1);
	factor = w.sum / w.weights;
	w = (struct weighed){factor / (1 / w.weights + SCATTER * SCATTER),
			     1 / (1 / w.weights + SCATTER * SCATTER)};
	if (by_own)
		weigh(&w, own, variance, 1);
	factor = w.sum / w.weights;
	return (struct fitted_cost){
		.factor = fmin(fmax(factor, MIN_FACTOR), MAX_FACTOR),
		.error = sqrt(1 / w.weights),
	};
}

static void fit_all(const struct fit_known *known, const struct fit_sums *sums, double period_ns,
		    fit_kinds kinds, struct fitted_cost *out)
{
	double variance, own;

	for (uint32_t f = 0; f < known->probes_cnt; f++) {
		if (!(sums[f].probe_ns > 0))
			continue;
		own = own_factor(&sums[f], period_ns, &variance);
		if (is_likely(own) && tells(known, &sums[f]))
			weigh(kind_of(kinds, &known->probes[f], &sums[f]), own,
			      variance + SCATTER * SCATTER, 1);
	}
	for (uint32_t f = 0; f < known->probes_cnt; f++) {
		if (sums[f].probe_ns > 0)
			out[f] = fit(known, f, &sums[f], period_ns, kinds);
	}
}

int sample_fit__measure(const struct stack_copy *const *copies, size_t copies_cnt,
			const struct fit_known *known, uint64_t period_ns, struct fitted_cost **out)
{
	struct fit_sums *sums = calloc(known->probes_cnt + 1, sizeof(*sums));
	struct fitted_cost *fitted = calloc(known->probes_cnt + 1, sizeof(*fitted));
	fit_kinds *kinds = calloc(1, sizeof(*kinds));
	bool any = false;

	if (sums && fitted && kinds) {
		for (size_t i = 0; i < copies_cnt; i++) {
			add_copy(copies[i], known, sums);
			any |= copies[i]->samples_cnt;
		}
		if (any)
			fit_all(known, sums, (double)period_ns, *kinds, fitted);
		*out = any ? fitted : NULL;
	}
	free(kinds);
	free(sums);
	if (!any || !kinds || !sums)
		free(fitted);
	return kinds && sums && fitted ? 0 : -ENOMEM;
}
