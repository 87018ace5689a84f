// SPDX-License-Identifier: GPL-2.0-or-later
#include "rates/rates.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "rates/count_cost.h"
#include "rates/fits.h"
#include "util/array.h"

/* The average variance of looks counts as much as so many looks at the function itself. */
#define DRAWN 3
/* What one look deviates from others: a variance, relative, 10 %. */
#define USUAL 0.01
/* Until looks have told how far they deviate, the only one may have been out of the ordinary: of 39
 * runs of half a second on a busy machine, three had a window in which all was called half as often
 * as in the others. A variance as well, 24 %; with each look less of it is left. */
#define UNTOLD 0.06
/* What a burst deviates from others at least: 2 %. */
#define SLIGHT 4e-4
/* Functions that bursts have met fewer times say little of how they are called; and fewer functions
 * than that, of what is usual. */
#define FEW  10
#define MANY 8
/* What no deviation shows: relative, 0.7 %. */
#define FLOOR 5e-5

/* All looks count as if they had as much own time: what a rate is at that moment. */
#define LOOK_NS 6e6
/* What a window and the burst right after it differ in, as a variance: 15 %. */
#define PAIRED 0.02
/* Calls of a burst come in groups, those of a request all at once. */
#define GROUPED 4

#define MAX_BURSTS 1024 /* then each two are put together */
#define NOT_SEEN   UINT32_MAX

/* Pairs of (calls, time). */
struct sums {
	double n, c, x, cc, cx, xx;
};

struct function {
	double guess;
	struct sums windows;
	double cpu_ns, cost_ns; /* in windows, as if each had LOOK_NS of own time */
	double counted_ns;	/* own time in windows as it was */
	/* Roots of its calls' shares by thread, in bursts. */
	bool has_threads;
	double threads[RATES_THREADS];
};

/* A window, right before a burst. */
struct window {
	size_t cnt;
	double cpu_ns, cost_ns;
	struct window_calls {
		uint32_t function;
		double calls;
	} of[];
};

/* Of a function: windows and the bursts right after them, which saw the same moments. */
struct pairs {
	double cnt;
	double counted, seen;	       /* calls */
	double calls, cpu_ns, cost_ns; /* in windows, as if each had LOOK_NS of own time */
	double in_bursts;	       /* calls in as much time, by what bursts were worth */
};

struct burst {
	struct window *before; /* NULL: none was */
	uint32_t cnt;
	uint32_t calls[]; /* NOT_SEEN: the function had no probe */
};

struct rates {
	struct function *functions;
	size_t cnt, cap;
	struct burst **bursts;
	size_t bursts_cnt, bursts_cap;
	struct window *last; /* NULL: a burst has it */
};

int rates__new(struct rates **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

static void burst_free(struct burst *b)
{
	free(b->before);
	free(b);
}

void rates__free(struct rates *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->bursts_cnt; i++)
		burst_free(r->bursts[i]);
	free(r->bursts);
	free(r->last);
	free(r->functions);
	free(r);
}

int rates__add(struct rates *r, double per_ns)
{
	if (ARRAY_RESERVE(&r->functions, r->cnt, &r->cap))
		return -ENOMEM;
	r->functions[r->cnt++] = (struct function){.guess = per_ns};
	return 0;
}

static void sums_add(struct sums *s, double c, double x)
{
	s->n++;
	s->c += c;
	s->x += x;
	s->cc += c * c;
	s->cx += c * x;
	s->xx += x * x;
}

static double sums_ratio(const struct sums *s)
{
	return s->x > 0 ? s->c / s->x : 0;
}

/* Of one look, relative: what looks deviate from the ratio, as far as two or more tell. */
static double sums_spread(const struct sums *s)
{
	double ratio = sums_ratio(s), squares = s->cc - 2 * ratio * s->cx + ratio * ratio * s->xx;

	if (s->n < 2 || !(s->c > 0) || squares < 0)
		return 0;
	return squares * s->n * s->n / (s->n - 1) / (s->c * s->c);
}

/* Of one look, relative: what comes by chance, as calls are whole. */
static double sums_chance(const struct sums *s)
{
	return s->n / (s->c + 1);
}

/* How much the deviations of a function's looks tell, in looks: of what is called a few times in a
 * look, chance is most of it. */
static double sums_weight(const struct sums *s)
{
	double share = USUAL / (USUAL + sums_chance(s));

	return s->n > 1 ? (s->n - 1) * share * share : 0;
}

/* The ratio's variance, relative; `average`: what one look deviates beyond chance, relative. */
static double sums_variance(const struct sums *s, double average)
{
	double own = sums_weight(s);
	double beyond = ((sums_spread(s) - sums_chance(s)) * own + average * DRAWN) / (own + DRAWN);

	return (beyond > 0 ? beyond / s->n : 0) + sums_chance(s) / s->n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* How many times as much as by chance bursts deviate, relative, for most functions: less than once
 * where each request calls them as often. Without the middle of many functions it is once. */
static double usual_times(const struct sums *bursts, size_t cnt, double *scratch)
{
	size_t known = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (bursts[i].n > 1 && bursts[i].c >= FEW)
			scratch[known++] = sums_spread(&bursts[i]) / sums_chance(&bursts[i]);
	}
	qsort(scratch, known, sizeof(*scratch), by_size);
	return known < MANY ? 1 : scratch[known / 2];
}

/* The variance of what bursts tell of a function, relative; `times` as above. */
static double bursts_variance(const struct sums *s, double times)
{
	double of = s->c < FEW && times < 1 ? 1 : times;
	double usual = of * sums_chance(s) + (s->n > 1 ? SLIGHT : USUAL);

	return ((s->n - 1) * sums_spread(s) + DRAWN * usual) / (s->n - 1 + DRAWN) / s->n;
}

/* What looks deviate beyond chance: averages over all functions, the usual one among them. */
struct average {
	double sum, weight;
};

static void average_add(struct average *a, const struct sums *s)
{
	a->sum += (sums_spread(s) - sums_chance(s)) * sums_weight(s);
	a->weight += sums_weight(s);
}

static double average_of(const struct average *a)
{
	double usual = USUAL + UNTOLD / (1 + a->weight);
	double average = (a->sum + usual * DRAWN) / (a->weight + DRAWN);

	return average > 0 ? average : 0;
}

/* Without memory the next burst has no window before it. */
static void note_window(struct rates *r, const uint32_t *functions, const uint64_t *calls,
			size_t cnt, double cpu_ns, double cost_ns)
{
	struct window *w = malloc(sizeof(*w) + cnt * sizeof(w->of[0]));

	free(r->last);
	r->last = w;
	if (!w)
		return;
	*w = (struct window){cnt, cpu_ns, cost_ns};
	for (size_t i = 0; i < cnt; i++)
		w->of[i] = (struct window_calls){functions[i], (double)calls[i]};
}

void rates__add_window(struct rates *r, const uint32_t *functions, const uint64_t *calls,
		       size_t cnt, double cpu_ns, double cost_ns)
{
	double own_ns = count_cost__own_ns(&count_cost__calibrated, cpu_ns, cost_ns), by;

	if (!(cpu_ns > 0))
		return;
	by = LOOK_NS / own_ns;
	for (size_t i = 0; i < cnt; i++) {
		struct function *f = &r->functions[functions[i]];

		/* Each is as good as others: those that were cut short, as so much was called, are
		 * no worse. */
		sums_add(&f->windows, (double)calls[i] * by, own_ns * by);
		f->cpu_ns += cpu_ns * by;
		f->cost_ns += cost_ns * by;
		f->counted_ns += own_ns;
	}
	note_window(r, functions, calls, cnt, cpu_ns, cost_ns);
}

/* Adds the calls of one burst to another's. A function that only one has seen is in neither. */
static void put_together(struct burst *to, const struct burst *more)
{
	free(to->before);
	to->before = NULL;
	for (uint32_t i = 0; i < to->cnt; i++) {
		if (i >= more->cnt || more->calls[i] == NOT_SEEN || to->calls[i] == NOT_SEEN)
			to->calls[i] = NOT_SEEN;
		else
			to->calls[i] += more->calls[i];
	}
}

int rates__add_burst(struct rates *r, const uint32_t *functions, const uint64_t *calls, size_t cnt,
		     bool after_window)
{
	struct burst *b;

	if (r->bursts_cnt == MAX_BURSTS) {
		for (r->bursts_cnt = 0; r->bursts_cnt < MAX_BURSTS / 2; r->bursts_cnt++) {
			struct burst *second = r->bursts[2 * r->bursts_cnt + 1];

			r->bursts[r->bursts_cnt] = r->bursts[2 * r->bursts_cnt];
			put_together(r->bursts[r->bursts_cnt], second);
			burst_free(second);
		}
	}
	if (ARRAY_RESERVE(&r->bursts, r->bursts_cnt, &r->bursts_cap))
		return -ENOMEM;
	b = malloc(sizeof(*b) + r->cnt * sizeof(b->calls[0]));
	if (!b)
		return -ENOMEM;
	b->before = after_window ? r->last : NULL;
	if (after_window)
		r->last = NULL;
	b->cnt = r->cnt;
	memset(b->calls, 0xff, r->cnt * sizeof(b->calls[0]));
	for (size_t i = 0; i < cnt; i++)
		b->calls[functions[i]] = calls[i] < NOT_SEEN ? (uint32_t)calls[i] : NOT_SEEN - 1;
	r->bursts[r->bursts_cnt++] = b;
	return 0;
}

void rates__set_threads(struct rates *r, uint32_t function, const double *calls)
{
	struct function *f = &r->functions[function];
	double sum = 0;

	for (int i = 0; i < RATES_THREADS; i++)
		sum += calls[i];
	f->has_threads = sum > 0;
	for (int i = 0; i < RATES_THREADS && sum > 0; i++)
		f->threads[i] = sqrt(calls[i] / sum);
}

static double variance_of(const struct known *k)
{
	return k->variance + k->off * k->off;
}

/* Whether windows tell anything of how often it is called. */
static bool is_reference(const struct function *f)
{
	return f->windows.n && f->windows.c > 0;
}

/* The own time, in ns, that the burst was worth, by functions that windows know; 0: no idea. */
static double burst_worth(const struct rates *r, const struct burst *b, const struct known *known)
{
	double calls = 0, rate = 0;

	for (uint32_t i = 0; i < b->cnt; i++) {
		if (b->calls[i] == NOT_SEEN || !is_reference(&r->functions[i]))
			continue;
		calls += b->calls[i];
		rate += known[i].per_ns;
	}
	return rate > 0 ? calls / rate : 0;
}

/* Adds what the window before a burst counted, and what the burst saw of the same functions: both
 * as rates, by their own time and by what the burst was worth. */
static void add_pair(const struct burst *b, double worth, const struct count_cost *cost,
		     struct pairs *pairs)
{
	const struct window *w = b->before;
	double by = w ? LOOK_NS / count_cost__own_ns(cost, w->cpu_ns, w->cost_ns) : 0;

	for (size_t i = 0; w && i < w->cnt; i++) {
		uint32_t f = w->of[i].function;
		struct pairs *p = &pairs[f];

		if (f >= b->cnt || b->calls[f] == NOT_SEEN)
			continue;
		p->cnt++;
		p->counted += w->of[i].calls;
		p->seen += b->calls[f];
		p->calls += w->of[i].calls * by;
		p->cpu_ns += w->cpu_ns * by;
		p->cost_ns += w->cost_ns * by;
		p->in_bursts += b->calls[f] / worth * LOOK_NS;
	}
}

/* What bursts tell: sums of calls and of what bursts were worth. */
static void add_bursts(const struct rates *r, const struct known *known,
		       const struct count_cost *cost, struct sums *sums, struct pairs *pairs)
{
	for (size_t k = 0; k < r->bursts_cnt; k++) {
		const struct burst *b = r->bursts[k];
		double worth = burst_worth(r, b, known);

		for (uint32_t i = 0; worth > 0 && i < b->cnt; i++) {
			if (b->calls[i] != NOT_SEEN)
				sums_add(&sums[i], b->calls[i], worth);
		}
		if (worth > 0)
			add_pair(b, worth, cost, pairs);
	}
}

/* What windows tell; `usual_ns`: how long one is. What is known by shorter ones is known less. */
static struct known by_windows(const struct function *f, const struct count_cost *cost,
			       double spread, double usual_ns)
{
	double own_ns = count_cost__own_ns(cost, f->cpu_ns, f->cost_ns);

	if (!f->windows.n)
		return (struct known){f->guess, 1, 0};
	return (struct known){
		f->windows.c / own_ns,
		sums_variance(&f->windows, spread) * f->windows.n * usual_ns / f->counted_ns,
		cost->error * f->cost_ns / own_ns,
	};
}

/* How much of what is known of one function tells of another: 1 if the same threads call them, 0 if
 * no thread calls both. */
static double alike(const struct function *f, const struct function *g)
{
	double product = 0;

	if (!f->has_threads || !g->has_threads)
		return 1;
	for (int i = 0; i < RATES_THREADS; i++)
		product += f->threads[i] * g->threads[i];
	product *= product;
	return product * product;
}

/* Arrays of an estimate, by function. */
struct estimating {
	struct distance *distances;
	struct known *known;
	struct sums *bursts;
	struct pairs *pairs;
	double *scratch;
	struct counted *counted;
};

/* By pairs, where there are some: what is called may change, and windows and bursts that were at
 * other times may have met more or less of it. */
static struct distance distance_of(const struct rates *r, const struct estimating *e, double times,
				   size_t function)
{
	const struct sums *s = &e->bursts[function];
	const struct pairs *p = &e->pairs[function];
	const struct known *known = &e->known[function];
	struct distance d = {.known = is_reference(&r->functions[function]) && s->c > 0};

	if (!d.known)
		return d;
	d.log = log(known->per_ns / sums_ratio(s));
	d.chance = bursts_variance(s, times);
	d.variance = variance_of(known) + d.chance;
	if (p->counted > 0 && p->seen > 0) {
		double variance = 1 / p->counted + GROUPED / p->seen + PAIRED / p->cnt;

		if (variance + known->off * known->off < d.variance) {
			d.paired = true;
			d.log = log(p->calls / p->in_bursts);
			d.chance = variance;
			d.variance = variance + known->off * known->off;
		}
	}
	return d;
}

static double alike_of(const void *ctx, uint32_t function, uint32_t other)
{
	const struct rates *r = ctx;

	return alike(&r->functions[function], &r->functions[other]);
}

/* Adds one estimate of a rate to another. */
static void join(struct known *to, const struct known *more)
{
	double weight = 1 / variance_of(more), sum = weight + 1 / variance_of(to);
	double of_more = weight / sum, of_to = 1 - of_more;

	to->per_ns = of_more * more->per_ns + of_to * to->per_ns;
	to->variance = of_more * of_more * more->variance + of_to * of_to * to->variance;
	to->off = of_more * more->off + of_to * to->off;
}

/* Joins what windows (`known`) and bursts tell. */
static void join_all(const struct rates *r, const struct estimating *e, double times,
		     struct rate *out)
{
	const struct sums *bursts = e->bursts;
	struct references refs = {
		.distances = e->distances, .known = e->known, .alike = alike_of, .ctx = r};

	for (size_t i = 0; i < r->cnt; i++)
		e->distances[i] = distance_of(r, e, times, i);
	references__find(&refs, r->cnt);
	for (size_t i = 0; i < r->cnt; i++) {
		const struct fit fit = fit__one(&refs, i, r->functions[i].windows.n);
		const struct known by_bursts = {
			sums_ratio(&bursts[i]) * fit.by,
			bursts_variance(&bursts[i], times) + fit.variance,
			fit.off,
		};
		struct known both = e->known[i];

		both.variance += fit.windows;
		/* What was thought before anything was looked at is worth nothing beside that. */
		if (bursts[i].c > 0 && fit.known && !r->functions[i].windows.n)
			both = by_bursts;
		else if (bursts[i].c > 0)
			join(&both, &by_bursts);
		out[i] = (struct rate){both.per_ns, variance_of(&both) + FLOOR};
	}
}

/* What counting has cost, by functions that windows and bursts know; `scratch`: of each. */
static struct count_cost fit_count_cost(const struct rates *r, const struct estimating *e,
					double times)
{
	struct counted *scratch = e->counted;
	size_t cnt = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct function *f = &r->functions[i];
		const struct pairs *p = &e->pairs[i];
		struct distance d = distance_of(r, e, times, i);

		if (!d.known || e->bursts[i].c < FEW)
			continue;
		scratch[cnt++] = (struct counted){
			.function = i,
			.calls = d.paired ? p->calls : f->windows.c,
			.cpu_ns = d.paired ? p->cpu_ns : f->cpu_ns,
			.cost_ns = d.paired ? p->cost_ns : f->cost_ns,
			.in_bursts = d.paired ? p->in_bursts / (p->cnt * LOOK_NS)
					      : sums_ratio(&e->bursts[i]),
			.variance = d.variance - e->known[i].off * e->known[i].off,
		};
	}
	return count_cost__fit(scratch, cnt, alike_of, r);
}

/* Windows, all together. */
struct all_windows {
	double spread;	 /* what one deviates beyond chance, a variance, relative */
	double usual_ns; /* how long one is */
};

static struct all_windows sum_windows(const struct rates *r)
{
	struct average average = {0};
	double cnt = 0, ns = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		average_add(&average, &r->functions[i].windows);
		cnt += r->functions[i].windows.n;
		ns += r->functions[i].counted_ns;
	}
	return (struct all_windows){average_of(&average), ns / cnt};
}

static void estimate(const struct rates *r, struct estimating *e, struct rate *out)
{
	struct all_windows all = sum_windows(r);
	struct count_cost cost = count_cost__calibrated;
	double times = 1;

	/* What counting costs is known once, and bursts are worth what that tells. */
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < r->cnt; i++)
			e->known[i] = by_windows(&r->functions[i], &cost, all.spread, all.usual_ns);
		memset(e->bursts, 0, r->cnt * sizeof(*e->bursts));
		memset(e->pairs, 0, r->cnt * sizeof(*e->pairs));
		add_bursts(r, e->known, &cost, e->bursts, e->pairs);
		times = usual_times(e->bursts, r->cnt, e->scratch);
		if (!again)
			cost = fit_count_cost(r, e, times);
	}
	join_all(r, e, times, out);
}

int rates__estimate(const struct rates *r, struct rate *out)
{
	struct estimating e = {
		.distances = calloc(r->cnt + 1, sizeof(*e.distances)),
		.known = calloc(r->cnt + 1, sizeof(*e.known)),
		.bursts = calloc(r->cnt + 1, sizeof(*e.bursts)),
		.pairs = calloc(r->cnt + 1, sizeof(*e.pairs)),
		.scratch = calloc(r->cnt + 1, sizeof(*e.scratch)),
		.counted = calloc(r->cnt + 1, sizeof(*e.counted)),
	};
	bool room = e.distances && e.known && e.bursts && e.pairs && e.scratch && e.counted;

	if (room)
		estimate(r, &e, out);
	free(e.distances);
	free(e.known);
	free(e.bursts);
	free(e.scratch);
	free(e.pairs);
	free(e.counted);
	return room ? 0 : -ENOMEM;
}
