// SPDX-License-Identifier: GPL-2.0-or-later
#include "diff/change.h"

#include <math.h>

#define DEVIATIONS    3
#define REGULAR_CALLS 5 /* as many tell whether each call waits */
#define REGULAR_SHARE 4 /* each does, if on average it waits a quarter of the longest stall */

/* A time as an integer; a stranger's file may hold any figure. */
static uint64_t rounded(double ns)
{
	return !(ns > 0) ? 0 : ns >= 0x1p64 ? UINT64_MAX : (uint64_t)ns;
}

int64_t change__difference(uint64_t old, uint64_t now)
{
	uint64_t distance = now > old ? now - old : old - now;

	if (distance > INT64_MAX)
		distance = INT64_MAX;
	return now > old ? (int64_t)distance : -(int64_t)distance;
}

static double square(double x)
{
	return x * x;
}

/* With what the probes took. */
static double raw_ns(const struct measured *m)
{
	return m->raw_ns > m->ns ? (double)m->raw_ns : (double)m->ns;
}

static double cpu_ns(const struct measured *m)
{
	return m->ns > m->off_ns ? (double)(m->ns - m->off_ns) : 0;
}

static double raw_cpu_ns(const struct measured *m)
{
	return raw_ns(m) > (double)m->off_ns ? raw_ns(m) - (double)m->off_ns : 0;
}

static double stall_variance(const struct measured *m)
{
	double off = (double)m->off_ns, calls = (double)m->calls;
	double stall = fmin((double)m->longest_ns, CHANGE_STALL_NS);

	if (!m->longest_ns)
		stall = CHANGE_STALL_NS; /* no call has finished */
	if (m->calls >= REGULAR_CALLS && off * REGULAR_SHARE > stall * calls)
		return square(off * fmin(m->variation, 1)) / calls;
	return off * stall;
}

static bool few(const struct measured *m)
{
	return m->calls && m->calls < CHANGE_FEW;
}

/* Two runs with the old one's figures times `scale`. */
struct pair {
	const struct measured *old, *now;
	double scale;
};

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static double least_noise(const struct pair *p)
{
	double of_whole = few(p->old) || few(p->now) ? CHANGE_WHOLE_FEW : CHANGE_WHOLE;
	double whole = larger(p->old->whole_ns, p->now->whole_ns);
	double ns = larger(p->scale * raw_ns(p->old), raw_ns(p->now));

	return larger(CHANGE_LEAST_NS, larger(of_whole * whole, CHANGE_SHARE * ns));
}

/* Variance of CPU time that is not the program's doing: caches, interrupts. */
static double cpu_variance(const struct measured *m)
{
	double raw = raw_cpu_ns(m), variance = raw * CHANGE_JITTER_NS;

	if (m->raw_cpu_ns)
		variance += raw * CHANGE_STALL_NS * (double)m->stolen_ns / (double)m->raw_cpu_ns;
	return variance + square((double)m->error_ns) + m->ns_varied;
}

/* The variance of the old time from having been scaled by numbers of calls that are estimates. */
static double scale_variance(const struct pair *p)
{
	double old = (double)p->old->calls, now = (double)p->now->calls, relative;

	if (p->scale == 1 || !p->old->calls || !p->now->calls)
		return 0;
	relative = p->old->calls_varied / square(old) + p->now->calls_varied / square(now);
	return square(p->scale * (double)p->old->ns) * relative;
}

/* One stall of the processor, if there were any. */
static double one_stall(const struct pair *p)
{
	double longest = larger(raw_cpu_ns(p->old), raw_cpu_ns(p->now));
	double stolen = larger(p->old->stolen_ns, p->now->stolen_ns);

	return fmin(longest, fmin(stolen, CHANGE_STALL_NS));
}

/* The noise: by how much runs of the same thing differ. */
static double noise_of(const struct pair *p, bool stalls)
{
	double old = cpu_variance(p->old), now = cpu_variance(p->now) + scale_variance(p);
	double busy = 0;

	if (stalls) {
		old += stall_variance(p->old);
		now += stall_variance(p->now);
		busy = larger(p->old->off_alike * p->scale * (double)p->old->off_ns,
			      p->now->off_alike * (double)p->now->off_ns);
	}
	return larger(DEVIATIONS * (sqrt(square(p->scale) * old + now) + busy) + one_stall(p),
		      least_noise(p));
}

static bool is_sample(const struct measured *m)
{
	return m->sampled > 1;
}

/* The variance of the mean over calls that might have been others. If one call in N was kept, it is
 * also chance which one. */
static double mean_variance(const struct measured *m)
{
	double mean = (double)m->ns / (double)m->calls;
	double kept = (double)m->calls / (is_sample(m) ? m->sampled : 1);

	return square(mean) * (square(m->variation) + is_sample(m)) / kept;
}

/* How much of the difference comes of single calls that take another time by chance, in its
 * direction; never negative. */
static double chance_of_calls(const struct pair *p, double difference)
{
	bool sampled = is_sample(p->old) || is_sample(p->now);
	double old_calls = p->scale * (double)p->old->calls, now_calls = (double)p->now->calls;
	double calls = (old_calls + now_calls) / 2, by_calls, chance;

	if (!p->old->calls || !p->now->calls || (p->old->calls == p->now->calls && !sampled))
		return 0;
	chance = DEVIATIONS * calls * sqrt(mean_variance(p->old) + mean_variance(p->now));
	by_calls = calls *
		   ((double)p->now->ns / now_calls - p->scale * (double)p->old->ns / old_calls);
	if (sampled)
		return chance;
	if (difference < 0)
		by_calls = -by_calls;
	return by_calls < 0 ? 0 : fmin(by_calls, chance);
}

/* Whether time on the CPU alone has changed by more, the same way as all of it. */
static bool cpu_tells(const struct pair *p, double difference, double noise)
{
	double old = p->scale * cpu_ns(p->old);
	double cpu = cpu_ns(p->now) - old;

	return fabs(cpu) > noise && (cpu > 0) == (difference > 0);
}

static struct change compare(const struct measured *old, const struct measured *now, double scale)
{
	const struct pair p = {old, now, scale};
	double noise = noise_of(&p, true), without_stalls = noise_of(&p, false);
	struct change c = {
		.old_ns = scale == 1 ? old->ns : rounded(scale * (double)old->ns),
		.new_ns = now->ns,
	};

	c.ns = change__difference(c.old_ns, c.new_ns);
	c.error_ns =
		rounded(sqrt(square(scale) * old->ns_varied + now->ns_varied + scale_variance(&p)));
	if (cpu_tells(&p, (double)c.ns, without_stalls))
		noise = without_stalls;
	c.noise_ns = rounded(noise + chance_of_calls(&p, (double)c.ns));
	c.noise = (c.ns < 0 ? -(uint64_t)c.ns : (uint64_t)c.ns) <= c.noise_ns;
	return c;
}

struct change change__of(const struct measured *old, const struct measured *now)
{
	return compare(old, now, 1);
}

struct change change__per_call(const struct measured *old, const struct measured *now)
{
	if (!old->calls || !now->calls)
		return compare(now, now, 1);
	return compare(old, now, (double)now->calls / (double)old->calls);
}

/* Whether two estimates may be the same if each is off by a factor. An error of 90 % is one of that
 * kind: what was scaled up from moments of a run is ten times too low as easily as ten times too
 * high, and no less than zero. */
static bool may_be_alike(const struct measured *old, const struct measured *now)
{
	double x = (double)old->calls, y = (double)now->calls;
	double relative;

	if (!old->calls || !now->calls)
		return false;
	relative = old->calls_varied / square(x) + now->calls_varied / square(y);
	return relative > 0 && fabs(log(y / x)) <= DEVIATIONS * sqrt(relative);
}

bool change__calls_are_noise(const struct measured *old, const struct measured *now)
{
	double difference = (double)change__difference(old->calls, now->calls);
	double variances = old->calls_varied + now->calls_varied;

	if (old->sampled > 1)
		variances += (double)old->calls * old->sampled;
	if (now->sampled > 1)
		variances += (double)now->calls * now->sampled;
	return fabs(difference) <= DEVIATIONS * sqrt(variances) || may_be_alike(old, now);
}

bool change__percent(const struct change *c, double *percent)
{
	if (!c->old_ns)
		return false;
	*percent = 100 * ((double)c->new_ns / (double)c->old_ns - 1);
	return true;
}
