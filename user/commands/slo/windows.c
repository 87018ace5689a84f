// SPDX-License-Identifier: GPL-2.0-or-later
#include "slo/windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "util/array.h"

/* A function under a rule, and its counts when the window began. */
struct watched {
	uint64_t since_ns;
	uint64_t base[BUCKETS];
};

struct slo_windows {
	const struct assertion *rules;
	uint64_t window_ns;
	struct slo_pair *pairs;
	struct watched *watched; /* likewise */
	size_t cnt, pairs_cap, watched_cap;
};

uint64_t slo__calls_needed(enum measure m)
{
	switch (m) {
	case MEASURE_P99:
		return 100;
	case MEASURE_P90:
		return 20;
	case MEASURE_MAX:
		return 1;
	default:
		return 10;
	}
}

int slo_windows__new(const struct assertion *rules, uint64_t window_ns, struct slo_windows **out)
{
	struct slo_windows *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->rules = rules;
	w->window_ns = window_ns;
	*out = w;
	return 0;
}

void slo_windows__free(struct slo_windows *w)
{
	if (!w)
		return;
	free(w->pairs);
	free(w->watched);
	free(w);
}

int slo_windows__add(struct slo_windows *w, uint32_t rule, uint32_t function, uint64_t now_ns)
{
	if (w->cnt == SLO_FUNCTIONS_MAX)
		return -E2BIG;
	if (ARRAY_RESERVE(&w->pairs, w->cnt, &w->pairs_cap) ||
	    ARRAY_RESERVE(&w->watched, w->cnt, &w->watched_cap))
		return -ENOMEM;
	w->pairs[w->cnt] = (struct slo_pair){.rule = rule, .function = function};
	w->watched[w->cnt++] = (struct watched){.since_ns = now_ns};
	return 0;
}

/* The window's calls: those so far without those before. Bursts of a recorded call's weight aside,
 * counts only grow. */
static struct distribution window_of(const struct watched *x, const struct distribution *all,
				     struct profile_bucket *news)
{
	struct distribution d = {.buckets = news};

	for (size_t i = 0; i < all->cnt; i++) {
		const struct profile_bucket *b = &all->buckets[i];
		uint64_t before = b->bucket < BUCKETS ? x->base[b->bucket] : b->calls;

		if (b->calls <= before)
			continue;
		news[d.cnt] = *b;
		news[d.cnt].calls -= before;
		d.calls += news[d.cnt++].calls;
	}
	return d;
}

static void begin_window(struct watched *x, const struct distribution *all, uint64_t now_ns)
{
	for (size_t i = 0; i < all->cnt; i++) {
		if (all->buckets[i].bucket < BUCKETS)
			x->base[all->buckets[i].bucket] = all->buckets[i].calls;
	}
	x->since_ns = now_ns;
}

/* There is a call at least. */
static uint64_t measure(enum measure m, const struct distribution *d)
{
	switch (m) {
	case MEASURE_AVG:
		return distribution__mean(d, 0, UINT64_MAX);
	case MEASURE_MAX:
		return bucket__low(d->buckets[d->cnt - 1].bucket);
	case MEASURE_P50:
		return distribution__quantile(d, 0.5, 0, UINT64_MAX);
	case MEASURE_P90:
		return distribution__quantile(d, 0.9, 0, UINT64_MAX);
	default:
		return distribution__quantile(d, 0.99, 0, UINT64_MAX);
	}
}

static void note_broken(const struct slo_windows *w, struct slo_look *look,
			const struct slo_pair *pair, uint64_t value_ns, uint64_t calls)
{
	double limit = (double)w->rules[pair->rule].limit;
	double worst = look->broken ? (double)w->rules[look->worst.rule].limit : 1;

	if (look->broken++ && (double)value_ns / limit <= (double)look->value_ns / worst)
		return;
	look->worst = *pair;
	look->value_ns = value_ns;
	look->calls = calls;
}

static void judge(struct slo_windows *w, size_t i, const struct distribution *all, uint64_t now_ns,
		  struct slo_look *look)
{
	struct slo_pair *pair = &w->pairs[i];
	struct watched *x = &w->watched[i];
	const struct assertion *rule = &w->rules[pair->rule];
	struct profile_bucket news[BUCKETS];
	struct distribution d = window_of(x, all, news);
	uint64_t value_ns;

	if (d.calls < slo__calls_needed(rule->measure)) {
		if (now_ns - x->since_ns < SLO_STRETCH * w->window_ns)
			return;
		pair->thin++;
		begin_window(x, all, now_ns);
		return;
	}
	value_ns = measure(rule->measure, &d);
	begin_window(x, all, now_ns);
	pair->windows++;
	look->judged++;
	if (assertion__holds(rule, value_ns))
		return;
	pair->broken++;
	note_broken(w, look, pair, value_ns, d.calls);
}

void slo_windows__look(struct slo_windows *w, const struct profile *buckets, uint64_t now_ns,
		       struct slo_look *look)
{
	*look = (struct slo_look){0};
	for (size_t i = 0; i < w->cnt; i++) {
		struct distribution all = distribution__of(buckets, w->pairs[i].function);

		/* Looks come a little late, one more and one less. */
		if (now_ns - w->watched[i].since_ns >= w->window_ns - w->window_ns / 4 &&
		    all.cnt <= BUCKETS)
			judge(w, i, &all, now_ns, look);
	}
}

const struct slo_pair *slo_windows__pairs(const struct slo_windows *w, size_t *cnt)
{
	*cnt = w->cnt;
	return w->pairs;
}
