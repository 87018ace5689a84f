// SPDX-License-Identifier: GPL-2.0-or-later
#include "rates/rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rates/count_cost.h"
#include "rates/rates_inside.h"
#include "util/array.h"

/* The first window in which the target has read, or written, so often tells about how long one is
 * by that clock. */
#define LEAST_TICKS 20

/* A window that has 10 % more reads for each write than the run counts half. */
#define UNBALANCED 0.1

#define MAX_BURSTS 1024 /* then each two are put together */
#define MAX_WIDE   2048 /* then so many of all are kept, drawn by lot */

/* Two functions whose calls differ by 20 % from burst to burst tell a quarter as much of each other
 * as two that are always called together: a burst that meets ten requests of a server as it reads
 * them, and the answers to three, has ten calls of what reads and of what looks up, and three of
 * what writes. This is a squared Hellinger distance of their calls, an eighth of the square of 20
 * %. */
#define APART 0.005

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
	for (size_t i = 0; i < r->wide_cnt; i++)
		free(r->wide[i]);
	free(r->wide);
	free(r->last);
	free(r->functions);
	free(r);
}

int rates__add(struct rates *r, double per_ns)
{
	uint32_t groups = r->bursts_added < MOMENTS ? r->bursts_added : MOMENTS;

	if (ARRAY_RESERVE(&r->functions, r->cnt, &r->cap))
		return -ENOMEM;
	r->functions[r->cnt++] = (struct function){.guess = per_ns, .missed = (1u << groups) - 1};
	return 0;
}

static void copy_counts(struct window_calls *to, const struct look_counts *counts)
{
	for (size_t i = 0; i < counts->cnt; i++)
		to[i] = (struct window_calls){counts->functions[i], (double)counts->calls[i]};
}

/* Without memory the next burst has no window before it. */
static void note_window(struct rates *r, const struct look_counts *counts,
			const struct length *lengths)
{
	struct window *w = malloc(sizeof(*w) + counts->cnt * sizeof(w->of[0]));

	free(r->last);
	r->last = w;
	if (!w)
		return;
	w->cnt = counts->cnt;
	memcpy(w->lengths, lengths, sizeof(w->lengths));
	copy_counts(w->of, counts);
}

/* The place of a wide window among those that are kept: each of all so far is as likely to be
 * kept. MAX_WIDE: it is not. */
static size_t place_of_wide(struct rates *r)
{
	size_t nth = r->wide_added++;

	if (nth < MAX_WIDE)
		return nth;
	r->seed = r->seed * 1664525 + 1013904223;
	nth = (size_t)((double)r->seed / 4294967296.0 * (double)r->wide_added);
	return nth < MAX_WIDE ? nth : MAX_WIDE;
}

int rates__add_wide(struct rates *r, const struct look_counts *counts)
{
	struct wide *w = malloc(sizeof(*w) + counts->cnt * sizeof(w->of[0]));
	size_t place;

	if (!w || ARRAY_RESERVE(&r->wide, r->wide_cnt, &r->wide_cap)) {
		free(w);
		return -ENOMEM;
	}
	w->cnt = counts->cnt;
	copy_counts(w->of, counts);
	place = place_of_wide(r);
	if (place == MAX_WIDE) {
		free(w);
	} else if (place == r->wide_cnt) {
		r->wide[r->wide_cnt++] = w;
	} else {
		free(r->wide[place]);
		r->wide[place] = w;
	}
	return 0;
}

/* How many times a window counts by reads and writes. One that ends amid a turn of an event loop,
 * which reads for all clients and then answers all, tells little by either. */
static double balance(const struct lengths *lengths)
{
	double unbalanced = lengths->unbalanced / UNBALANCED;

	return 1 / (1 + unbalanced * unbalanced);
}

/* Lengths by reads and writes. */
static void set_ticks(struct rates *r, const struct lengths *lengths, double own_ns,
		      struct length *by)
{
	const double ticks[CLOCKS] = {0, lengths->reads, lengths->writes};
	double counts = balance(lengths);

	for (int clock = BY_READS; clock < CLOCKS; clock++) {
		if (!(r->ns_per[clock] > 0) && ticks[clock] >= LEAST_TICKS)
			r->ns_per[clock] = own_ns / ticks[clock];
		by[clock] =
			(struct length){.ns = ticks[clock] * r->ns_per[clock], .counts = counts};
	}
}

static void windows_add(struct windows *w, enum clock clock, const struct length *length,
			double calls)
{
	double own_ns = count_cost__own_ns(&count_cost__calibrated, length->ns, length->cost_ns);
	double by = window_counts(clock, own_ns) * length->counts;

	sums_add(&w->sums, calls * by, own_ns * by);
	w->all.ns += length->ns * by;
	w->all.cost_ns += length->cost_ns * by;
	w->counted_ns += own_ns * length->counts;
}

void rates__add_window(struct rates *r, const struct look_counts *counts,
		       const struct lengths *lengths, double cost_ns)
{
	double own_ns = count_cost__own_ns(&count_cost__calibrated, lengths->cpu_ns, cost_ns);
	struct length by[CLOCKS] = {{lengths->cpu_ns, cost_ns, 1}};

	if (!(lengths->cpu_ns > 0))
		return;
	r->ns_per[BY_TIME] = 1;
	set_ticks(r, lengths, own_ns, by);
	for (size_t i = 0; i < counts->cnt; i++) {
		struct function *f = &r->functions[counts->functions[i]];

		for (int clock = 0; clock < CLOCKS; clock++) {
			if (r->ns_per[clock] > 0)
				windows_add(&f->by[clock], clock, &by[clock],
					    (double)counts->calls[i]);
		}
	}
	note_window(r, counts, by);
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

/* Adds the calls of a burst to those of its group. */
static void note_moment(struct rates *r, const struct burst *b)
{
	size_t group = r->bursts_added++ % MOMENTS;

	for (size_t i = 0; i < r->cnt; i++) {
		struct function *f = &r->functions[i];

		if (b->calls[i] == NOT_SEEN) {
			f->missed |= 1u << group;
			continue;
		}
		f->calls[group] += b->calls[i];
		f->roots[group] = sqrt(f->calls[group]);
	}
}

int rates__add_burst(struct rates *r, const struct look_counts *counts, bool after_window)
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
	for (uint32_t i = 0; i < b->cnt; i++)
		b->calls[i] = NOT_SEEN;
	for (size_t i = 0; i < counts->cnt; i++)
		b->calls[counts->functions[i]] = (float)counts->calls[i];
	r->bursts[r->bursts_cnt++] = b;
	note_moment(r, b);
	return 0;
}

void rates__set_threads(struct rates *r, uint32_t function, const double *calls)
{
	struct function *f = &r->functions[function];
	double sum = 0;

	for (int i = 0; i < RATES_THREADS; i++)
		sum += calls[i];
	f->classes = 0;
	for (int i = 0; i < RATES_THREADS && sum > 0; i++) {
		f->threads[i] = sqrt(calls[i] / sum);
		f->classes |= (uint64_t)(calls[i] > 0) << i;
	}
}

double functions_share_threads(const struct function *f, const struct function *g)
{
	double product = 0;

	if (!f->classes || !g->classes)
		return 1;
	for (uint64_t left = f->classes & g->classes; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		product += f->threads[i] * g->threads[i];
	}
	product *= product;
	return product * product;
}

/* Whether bursts meet two functions together: 1 to 0, beyond what their calls may differ in by
 * chance. */
static double by_moments(const struct function *f, const struct function *g)
{
	double product = 0, of_f = 0, of_g = 0, cnt = 0, apart;

	for (int i = 0; i < MOMENTS; i++) {
		if ((f->missed | g->missed) >> i & 1)
			continue;
		product += f->roots[i] * g->roots[i];
		of_f += f->calls[i];
		of_g += g->calls[i];
		cnt += f->calls[i] + g->calls[i] > 0;
	}
	if (!(of_f > 0) || !(of_g > 0))
		return 1;
	apart = 1 - product / sqrt(of_f * of_g) - cnt / 8 * (1 / of_f + 1 / of_g);
	apart = APART / (APART + (apart > 0 ? apart : 0));
	return apart * apart;
}

double functions_alike(const struct function *f, const struct function *g)
{
	return functions_share_threads(f, g) * by_moments(f, g);
}
