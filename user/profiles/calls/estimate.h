/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which figures of a path or function are estimates, and how good they are; all formats ask here.
 *
 * Times come from samples of CPU time: n samples stand for n periods, with a standard error of
 * sqrt(n) periods: 100 samples of 10 ms are 1 s, within 0.1 s in two of three runs. Calls come from
 * bursts, which bring their variance along. Variances add up over paths, threads, intervals and
 * runs; an error is the root of their sum. Only the calls of a function have a variance of its own
 * (struct profile_estimate).
 */
#ifndef PROFTRACE_CALLS_ESTIMATE_H
#define PROFTRACE_CALLS_ESTIMATE_H

#include <math.h>

#include "calls/profile.h"

/* The source of figures: the instrument that knows least of them. */
enum estimate_source {
	SOURCE_EXACT,
	SOURCE_BURST,  /* calls, or some of them, were scaled up from bursts */
	SOURCE_SAMPLE, /* it had no probe, or most of its own time passed while it had none */
	SOURCES,
};

struct estimate {
	enum estimate_source source;
	uint64_t calls_error;  /* standard error of calls; 0: they were counted */
	uint64_t cpu_error_ns; /* of the CPU time of its own, by samples; 0: it was measured */
};

/* The source's name in the JSON contract: "exact", "burst", "sample". */
static inline const char *estimate__source_name(enum estimate_source source)
{
	static const char *const names[SOURCES] = {"exact", "burst", "sample"};

	return names[source];
}

/* CPU time below that may be chance: three samples are uncertain by more than half. */
static inline uint64_t estimate__chance_ns(const struct profile *p)
{
	return 3 * p->sample_period_ns;
}

/* Whether the profile has estimates: else all is exact. */
static inline bool estimate__any(const struct profile *p)
{
	return p->sample_period_ns || p->accounting.bursts;
}

/* The standard error of CPU time by its variance, which is in ns times periods. */
static inline uint64_t estimate__error_ns(const struct profile *p, double varied_ns)
{
	return (uint64_t)sqrt(varied_ns * (double)p->sample_period_ns);
}

static inline struct estimate estimate__of(const struct profile *p, const struct call_stats *s)
{
	struct estimate e = {
		.calls_error = (uint64_t)sqrt(s->calls_varied),
		.cpu_error_ns = estimate__error_ns(p, (double)s->varied_ns),
	};

	if (s->burst_calls || s->calls_varied > 0) {
		e.source = SOURCE_BURST;
		/* A function that no sample has met may have taken as much as one stands for. */
		if (s->varied_ns < p->sample_period_ns)
			e.cpu_error_ns = p->sample_period_ns;
	} else if (p->sample_period_ns && (!s->calls || s->sampled_ns > s->self_ns / 2)) {
		e.source = SOURCE_SAMPLE;
	}
	return e;
}

/* Whether the time off the CPU of its own is an estimate: of what is known from stacks alone, where
 * not all waits were looked at. */
static inline bool estimate__waits(const struct profile *p, const struct call_stats *s)
{
	return p->accounting.waits_estimated && s->off_self_ns && !s->calls;
}

/* Whether the time of what is known from stacks alone is that of waits, and each was looked at:
 * waits are measured, so it is no estimate. */
static inline bool estimate__measured_waits(const struct profile *p, const struct call_stats *s)
{
	return !p->accounting.waits_estimated && !s->calls && s->off_ns && s->total_ns == s->off_ns;
}

/* Single calls, which are exact, and of how many calls: those that were counted, and those of
 * functions that the budget has dropped, at the rate that they had then. */
struct calls_share {
	uint64_t kept, all;
	bool estimate; /* of all */
};

static inline struct calls_share estimate__share(const struct profile *p)
{
	const struct profile_accounting *a = &p->accounting;
	double own_s = (double)accounting__own_ns(a) / 1e9, dropped = 0;
	struct calls_share s = {.kept = a->timeline_calls - p->calls_forgotten};

	for (size_t i = 0; i < p->drops_cnt && p->duration_ns; i++) {
		const struct profile_drop *d = &p->drops[i];
		uint64_t until_ns = d->back_ns ? d->back_ns : p->duration_ns;
		double left = ((double)until_ns - (double)d->at_ns) / (double)p->duration_ns;

		if (!d->sampled && left > 0 && d->calls_per_second > 0)
			dropped += d->calls_per_second * own_s * left;
	}
	s.estimate = dropped >= 1;
	s.all = a->entered + (dropped < 1e18 ? (uint64_t)dropped : (uint64_t)1e18);
	if (s.all < s.kept)
		s.all = s.kept;
	return s;
}

#endif
