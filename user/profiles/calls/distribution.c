// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/distribution.h"

#include <math.h>
#include <stdlib.h>

#include "util/search.h"

#define LINEAR 8 /* buckets of a power of two */

uint32_t bucket__of(uint64_t ns)
{
	uint32_t shift;

	if (ns < LINEAR)
		return ns;
	shift = 60 - __builtin_clzll(ns);
	return (shift + 1) * LINEAR + (ns >> shift) % LINEAR;
}

uint64_t bucket__low(uint32_t bucket)
{
	uint32_t octave = bucket / LINEAR;

	if (!octave)
		return bucket;
	/* octave 1 begins at 8 ns, the last one, 61, at 2^63 */
	return octave > 61 ? UINT64_MAX : (uint64_t)(LINEAR + bucket % LINEAR) << (octave - 1);
}

uint64_t bucket__high(uint32_t bucket)
{
	return bucket__low(bucket + 1);
}

/* Known where sum and buckets are of the same calls; at most what the probes took of the sum. Where
 * others are among all, which are open or were left without a return, the sum has their time as
 * well: so much is known that finished calls have not taken more than all. */
static int64_t excess_of(const struct distribution *d, const struct profile_function *f)
{
	const struct call_stats *s = &f->stats;
	int64_t taken_ns, mean_ns, excess_ns;

	if (!d->calls || d->calls > s->calls || f->sampled || s->raw_total_ns <= s->total_ns)
		return 0;
	taken_ns = (int64_t)((s->raw_total_ns - s->total_ns) / s->calls);
	mean_ns = (int64_t)distribution__mean(d, s->min_ns, s->max_ns);
	excess_ns = mean_ns - (int64_t)(f->spent_ns / d->calls);
	/* A bucket is known no better. */
	if (llabs(excess_ns) < mean_ns / (2 * LINEAR) || (excess_ns < 0 && d->calls != s->calls))
		return 0;
	return excess_ns < -taken_ns ? -taken_ns : excess_ns > taken_ns ? taken_ns : excess_ns;
}

static bool is_part(const struct profile_function *f)
{
	return f->stats.burst_calls || (f->cut && f->unprobed_samples);
}

/* Probes' time is that of the calls that were recorded, however many there were. */
static bool tells(const struct distribution *d, const struct profile_function *f)
{
	if (!d->part)
		return true;
	return d->calls &&
	       f->taken_ns / d->calls <= distribution__mean(d, f->stats.min_ns, f->stats.max_ns);
}

struct distribution distribution__of(const struct profile *p, uint32_t function)
{
	struct distribution d = {0};
	size_t first = LOWER_BOUND(p->buckets_cnt, i, p->buckets[i].function < function);

	if (!p->buckets_cnt)
		return d;
	d.buckets = p->buckets + first;
	while (first + d.cnt < p->buckets_cnt && d.buckets[d.cnt].function == function)
		d.calls += d.buckets[d.cnt++].calls;
	if (function >= p->functions_cnt)
		return d;
	d.part = is_part(&p->functions[function]);
	d.tells = tells(&d, &p->functions[function]);
	if (!d.part)
		d.excess_ns = excess_of(&d, &p->functions[function]);
	else if (!distribution__average(&d, &p->functions[function], 0, &d.average_ns))
		d.average_ns = 0;
	return d;
}

static bool is_wide(uint32_t bucket)
{
	return bucket__high(bucket) - bucket__low(bucket) > 1;
}

bool distribution__is_longest_bound(const struct distribution *d, uint64_t max_ns)
{
	uint32_t last = d->cnt ? d->buckets[d->cnt - 1].bucket : 0;

	return d->cnt && is_wide(last) && max_ns == bucket__high(last) - 1;
}

bool distribution__is_shortest_bound(const struct distribution *d, uint64_t min_ns)
{
	return d->cnt && is_wide(d->buckets[0].bucket) &&
	       min_ns == bucket__low(d->buckets[0].bucket);
}

uint64_t distribution__single(const struct distribution *d, uint64_t ns)
{
	if (d->excess_ns >= 0)
		return ns > (uint64_t)d->excess_ns ? ns - (uint64_t)d->excess_ns : 0;
	return ns < UINT64_MAX + d->excess_ns ? ns - (uint64_t)d->excess_ns : UINT64_MAX;
}

uint64_t distribution__shortest(const struct distribution *d, uint64_t min_ns)
{
	uint64_t ns = min_ns == UINT64_MAX ? 0 : distribution__single(d, min_ns);

	return d->average_ns && ns > d->average_ns ? d->average_ns : ns;
}

uint64_t distribution__longest(const struct distribution *d, uint64_t max_ns)
{
	uint64_t ns = max_ns ? distribution__single(d, max_ns) : 0;

	return ns && ns < d->average_ns ? d->average_ns : ns;
}

uint64_t distribution__quantile(const struct distribution *d, double q, uint64_t min_ns,
				uint64_t max_ns)
{
	double rank = q * (double)d->calls, before = 0, at = 0;
	uint64_t ns;

	if (!d->calls)
		return 0;
	for (size_t i = 0; i < d->cnt; i++) {
		const struct profile_bucket *b = &d->buckets[i];
		double low = (double)bucket__low(b->bucket), high = (double)bucket__high(b->bucket);
		double part;

		if (!b->calls)
			continue;
		/* Beyond 2^53 calls the sum is rounded, and may be more than these all. */
		part = (rank - before) / (double)b->calls;
		at = low + (high - low) * (part < 1 ? part : 1);
		before += (double)b->calls;
		if (before >= rank)
			break;
	}
	ns = at < (double)max_ns ? (uint64_t)at : max_ns;
	return distribution__single(d, ns < min_ns && min_ns <= max_ns ? min_ns : ns);
}

uint64_t distribution__mean(const struct distribution *d, uint64_t min_ns, uint64_t max_ns)
{
	double sum = 0, mean;

	if (!d->calls)
		return 0;
	for (size_t i = 0; i < d->cnt; i++) {
		const struct profile_bucket *b = &d->buckets[i];
		double low = (double)bucket__low(b->bucket), high = (double)bucket__high(b->bucket);

		sum += (double)b->calls * (low + (high - low) / 2);
	}
	mean = sum / (double)d->calls;
	if (mean >= (double)max_ns)
		return max_ns;
	return mean < (double)min_ns && min_ns <= max_ns ? min_ns : (uint64_t)mean;
}

/* Within what is no excess: see excess_of(). */
static bool is_near(uint64_t ns, uint64_t other_ns)
{
	uint64_t far = ns > other_ns ? ns - other_ns : other_ns - ns;

	return far <= other_ns / (2 * LINEAR);
}

/* The average of finished calls. If some calls are open, or ended without a return, the sum has
 * their time, too; then the distribution's mean counts, within the sixteenth that a bucket is wide.
 */
static bool average_of_finished(const struct distribution *d, const struct profile_function *f,
				uint64_t error_ns, uint64_t *ns)
{
	const struct call_stats *s = &f->stats;
	bool sums = d->calls == s->calls;
	uint64_t min_ns = distribution__single(d, s->min_ns);
	uint64_t max_ns = distribution__single(d, s->max_ns);

	*ns = f->spent_ns / s->calls;
	/* A figure that is shown as a bound cannot contradict the others. */
	if (sums && *ns <= error_ns)
		return true;
	if (d->calls && !sums)
		*ns = distribution__single(d, distribution__mean(d, s->min_ns, s->max_ns));
	else if (d->calls && (*ns < min_ns || (*ns > max_ns && is_near(*ns, max_ns))))
		*ns = distribution__mean(d, s->min_ns, s->max_ns);
	/* Without a distribution there is no telling. */
	return *ns >= min_ns && *ns <= max_ns;
}

#define SAMPLES_LEAST 3 /* fewer may be chance */

const char *distribution__basis(const struct distribution *d)
{
	return !d->part ? "all" : d->tells ? "recorded" : "unresolved";
}

bool distribution__average(const struct distribution *d, const struct profile_function *f,
			   uint64_t error_ns, uint64_t *ns)
{
	const struct call_stats *s = &f->stats;

	*ns = 0;
	if (!s->calls)
		return false;
	if (!s->burst_calls && !d->part)
		return s->min_ns != UINT64_MAX && average_of_finished(d, f, error_ns, ns);
	if (!s->burst_calls) {
		*ns = distribution__mean(d, s->min_ns, s->max_ns);
		return d->tells;
	}
	*ns = f->spent_ns / s->calls;
	return f->unprobed_samples >= SAMPLES_LEAST;
}

double distribution__variation(const struct distribution *d)
{
	double calls = 0, mean = 0, squares = 0;

	/* West's way of adding weighted values (CACM 22:9, 1979): no small difference of large
	 * sums. */
	for (size_t i = 0; i < d->cnt; i++) {
		const struct profile_bucket *b = &d->buckets[i];
		double low = (double)bucket__low(b->bucket), high = (double)bucket__high(b->bucket);
		double distance = (low + high) / 2 - mean, weight = (double)b->calls;

		if (!b->calls)
			continue;
		calls += weight;
		mean += distance * weight / calls;
		squares += weight * distance * ((low + high) / 2 - mean);
	}
	return calls < 2 || !(mean > 0) ? 0 : sqrt(squares / (calls - 1)) / mean;
}
