// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/change.h"

#include <math.h>

#define DEVIATIONS    3
#define REGULAR_CALLS 5 /* as many tell whether each call waits */
#define REGULAR_SHARE 4 /* each does, if on average it waits a quarter of the longest stall */

/* As an integer; a stranger's file may hold any figure. */
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

/* Of a sum of calls that might have been others. Where one call in N was kept, which one it was is
 * chance as well: then the sum is N times one over calls whose number varies by its root. */
static double calls_variance(const struct measured *m, bool same_calls)
{
	double share = m->sampled > 1 ? m->sampled : 1;
	double relative = same_calls ? fmin(m->variation, CHANGE_SAME_VARIATION) : m->variation;

	if (!m->calls)
		return 0;
	return square((double)m->ns) * (square(relative) + (m->sampled > 1)) * share /
	       (double)m->calls;
}

static double stall_variance(const struct measured *m)
{
	double off = (double)m->off_ns, calls = (double)m->calls;
	double stall = fmin((double)m->longest_ns, CHANGE_STALL_NS);

	if (!m->longest_ns)
		stall = CHANGE_STALL_NS; /* no call has finished */
	if (m->calls >= REGULAR_CALLS && off * REGULAR_SHARE > stall * calls)
		return 0;
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
	double share = few(p->old) || few(p->now) ? CHANGE_WHOLE_FEW : CHANGE_WHOLE;
	double whole = larger(p->old->whole_ns, p->now->whole_ns);
	double ns = larger(p->scale * (double)p->old->ns, p->now->ns);

	return larger(CHANGE_LEAST_NS, larger(share * whole, CHANGE_SHARE * ns));
}

static double noise_of(const struct pair *p, bool stalls)
{
	bool same = p->old->calls == p->now->calls;
	double old = calls_variance(p->old, same) + square((double)p->old->error_ns);
	double now = calls_variance(p->now, same) + square((double)p->now->error_ns);

	if (stalls) {
		old += stall_variance(p->old);
		now += stall_variance(p->now);
	}
	return larger(DEVIATIONS * sqrt(square(p->scale) * old + now), least_noise(p));
}

/* Whether time on the CPU alone has changed by more, the same way as all of it. */
static bool cpu_tells(const struct pair *p, double difference, double noise)
{
	double old = p->scale * ((double)p->old->ns - (double)p->old->off_ns);
	double cpu = (double)p->now->ns - (double)p->now->off_ns - old;

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
	if (cpu_tells(&p, (double)c.ns, without_stalls))
		noise = without_stalls;
	c.noise_ns = rounded(noise);
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

bool change__calls_are_noise(const struct measured *old, const struct measured *now)
{
	double difference = (double)change__difference(old->calls, now->calls), variances = 0;

	if (old->sampled > 1)
		variances += (double)old->calls * old->sampled;
	if (now->sampled > 1)
		variances += (double)now->calls * now->sampled;
	return fabs(difference) <= DEVIATIONS * sqrt(variances);
}

bool change__percent(const struct change *c, double *percent)
{
	if (!c->old_ns)
		return false;
	*percent = 100 * ((double)c->new_ns / (double)c->old_ns - 1);
	return true;
}
