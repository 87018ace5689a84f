// SPDX-License-Identifier: GPL-2.0-or-later
#include "rates/by_clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rates/count_cost.h"
#include "rates/fits.h"

/* An error of each rate that no deviation shows, as a variance: 0.7 %. */
#define FLOOR 5e-5
/* The difference of a window and the burst right after it, as a variance: 15 %. */
#define PAIRED 0.02
/* The share of windows of whose time somebody else has taken most; what is read and written then is
 * the target's. */
#define INTERRUPTED 0.1
/* Calls of a burst come in groups, those of a request all at once. */
#define GROUPED 4
/* Of so many calls in a look an error of their rate tells as much as that calls are whole. */
#define WORTH_CALLS 50
/* How far off all rates by wide windows may be in the same way: they go by other windows, whose own
 * time may be too long, as caches are cold when probes have just come. Those of mariadbd told of up
 * to 33 % too few calls. */
#define WIDE_OFF 0.2
/* Rates at drops are taken to be right if they are off by less, as a logarithm: 20 %. */
#define GUESS_OFF 0.2
/* Half of what is normally distributed is within a standard error divided by this. */
#define NORMAL_HALF 1.4826
/* A call and its return take so long at least. */
#define SHORTEST_NS 1

/* Sums over a function's windows and the bursts right after them, which saw the same moments. */
struct pairs {
	double cnt;
	double counted, seen; /* calls */
	double calls;	      /* in windows, each as often as it counts */
	struct length all;    /* of these */
	double in_bursts;     /* calls in as much time, by what bursts were worth */
};

/* An estimate; arrays are by function. */
struct estimating {
	const struct rates *rates;
	enum clock clock;
	struct count_cost cost;
	struct usual usual; /* windows */
	double times;	    /* how many times as much as by chance bursts deviate */
	struct distance *distances;
	struct known *known;
	struct sums *wide; /* of functions that no other window knows: wide windows */
	struct sums *bursts;
	struct pairs *pairs;
	double *scratch;
	struct counted *counted;
};

static double variance_of(const struct known *k)
{
	return k->variance + k->off * k->off;
}

/* Whether windows, but wide ones, tell anything of how often it is called. */
static bool is_counted(const struct function *f, enum clock clock)
{
	return f->by[clock].sums.x > 0 && f->by[clock].sums.c > 0;
}

/* Whether windows of either kind do. */
static bool is_reference(const struct estimating *e, size_t function)
{
	return is_counted(&e->rates->functions[function], e->clock) || e->wide[function].c > 0;
}

/* A look's length, as functions that windows know tell it. */
struct worth {
	double calls, per_ns; /* sums, each function as often as it counts */
};

/* Adds a function with so many calls in the look; it counts `by` times. */
static void worth_add(struct worth *w, const struct known *known, double calls, double by)
{
	w->calls += by * calls;
	w->per_ns += by * known->per_ns;
}

/* Own time, in ns of the clock; 0: no idea. */
static double worth_ns(const struct worth *w)
{
	return w->per_ns > 0 ? w->calls / w->per_ns : 0;
}

static double burst_worth(const struct estimating *e, const struct burst *b)
{
	struct worth worth = {0};

	for (uint32_t i = 0; i < b->cnt; i++) {
		if (b->calls[i] != NOT_SEEN && is_reference(e, i))
			worth_add(&worth, &e->known[i], b->calls[i], 1);
	}
	return worth_ns(&worth);
}

/* Functions whose rate is known well count more: a wide window has few that windows know. Of
 * mariadbd one takes 4 ns, so counting its calls took all of a window: its rate was told as 406 a
 * ms, give or take a factor of 2,000, which was three quarters of the sum of all rates. */
static double wide_worth(const struct estimating *e, const struct wide *w)
{
	struct worth worth = {0};

	for (size_t i = 0; i < w->cnt; i++) {
		uint32_t f = w->of[i].function;
		const struct known *known = &e->known[f];

		if (is_counted(&e->rates->functions[f], e->clock))
			worth_add(&worth, known, w->of[i].calls,
				  1 / (1 + WORTH_CALLS * variance_of(known)));
	}
	return worth_ns(&worth);
}

/* Adds what the window before a burst counted, and what the burst saw of the same functions: both
 * as rates, by their own time and by what the burst was worth. */
static void add_pair(struct estimating *e, const struct burst *b, double worth)
{
	const struct window *w = b->before;
	struct length length = w ? w->lengths[e->clock] : (struct length){0};
	double own_ns = count_cost__own_ns(&e->cost, length.ns, length.cost_ns), by;

	if (!(own_ns > 0))
		return;
	by = window_counts(e->clock, own_ns);
	for (size_t i = 0; i < w->cnt; i++) {
		uint32_t f = w->of[i].function;
		struct pairs *p = &e->pairs[f];

		if (f >= b->cnt || b->calls[f] == NOT_SEEN)
			continue;
		p->cnt++;
		p->counted += w->of[i].calls;
		p->seen += b->calls[f];
		p->calls += w->of[i].calls * by;
		p->all.ns += length.ns * by;
		p->all.cost_ns += length.cost_ns * by;
		p->in_bursts += b->calls[f] / worth * own_ns * by;
	}
}

/* Adds up all bursts: calls of each function, and own time that bursts were worth. */
static void add_bursts(struct estimating *e)
{
	size_t cnt = e->rates->cnt;

	memset(e->bursts, 0, cnt * sizeof(*e->bursts));
	memset(e->pairs, 0, cnt * sizeof(*e->pairs));
	for (size_t k = 0; k < e->rates->bursts_cnt; k++) {
		const struct burst *b = e->rates->bursts[k];
		double worth = burst_worth(e, b);

		for (uint32_t i = 0; worth > 0 && i < b->cnt; i++) {
			if (b->calls[i] != NOT_SEEN)
				sums_add(&e->bursts[i], b->calls[i], worth);
		}
		if (worth > 0)
			add_pair(e, b, worth);
	}
}

/* How far the rate of `calls` in `own_ns` may be off by what counting costs, relative. Where a
 * function of 50 ns is counted at 1 us a call, next to nothing of a window is its own time: it may
 * be as short as counting can cost more than was thought, and as calls can be. */
static double off_of(const struct estimating *e, struct length all, double calls, double own_ns)
{
	double least_ns = all.ns - (e->cost.times + e->cost.error) * all.cost_ns;

	return fmax(0, own_ns / fmax(least_ns, SHORTEST_NS * fmax(calls, 1)) - 1);
}

/* The rate by windows, all 0 without any; `usual_ns`: how long a window is. A rate by shorter ones
 * is less certain. */
static struct known by_windows(const struct estimating *e, const struct function *f,
			       double usual_ns)
{
	const struct windows *w = &f->by[e->clock];
	double own_ns = count_cost__own_ns(&e->cost, w->all.ns, w->all.cost_ns);

	if (!(own_ns > 0))
		return (struct known){0};
	return (struct known){
		w->sums.c / own_ns,
		sums_variance(&w->sums, &e->usual) * w->sums.n * usual_ns / w->counted_ns,
		off_of(e, w->all, w->sums.c, own_ns),
	};
}

/*
 * How far functions that other windows know were off in wide windows beyond chance: a sum of
 * variances, and of how many. An event loop, which reads all requests and then answers them, is met
 * amid a turn.
 */
struct apart {
	double sum, cnt;
};

static void note_apart(struct apart *a, const struct known *known, double calls, double worth)
{
	double usual = known->per_ns * worth, off = calls / usual - 1;

	if (usual < 1)
		return;
	a->sum += off * off - 1 / usual - variance_of(known);
	a->cnt++;
}

/* Adds a wide window: to *apart what other windows know, to e->wide all else. */
static void add_wide(struct estimating *e, const struct wide *w, struct apart *apart)
{
	double worth = wide_worth(e, w);

	for (size_t i = 0; worth > 0 && i < w->cnt; i++) {
		uint32_t f = w->of[i].function;

		if (is_counted(&e->rates->functions[f], e->clock))
			note_apart(apart, &e->known[f], w->of[i].calls, worth);
		else
			sums_add(&e->wide[f], w->of[i].calls, worth);
	}
}

/* Sets e->known of functions that wide windows alone have counted, by what these were worth. */
static void know_by_wide(struct estimating *e)
{
	const struct rates *r = e->rates;
	struct apart apart = {0};
	double times, off;

	memset(e->wide, 0, r->cnt * sizeof(*e->wide));
	for (size_t k = 0; k < r->wide_cnt; k++)
		add_wide(e, r->wide[k], &apart);
	off = apart.sum > 0 ? apart.sum / apart.cnt : 0;
	times = bursts_usual_times(e->wide, r->cnt, e->scratch);
	for (size_t i = 0; i < r->cnt; i++) {
		const struct sums *s = &e->wide[i];

		if (s->x > 0)
			e->known[i] = (struct known){
				sums_ratio(s), bursts_variance(s, times) + off / s->n, WIDE_OFF};
	}
}

/* Rates at drops. */
struct guesses {
	double off;	 /* rates at drops are to be multiplied by this */
	double variance; /* of a rate that was multiplied, relative */
};

/*
 * How far off rates at drops are, by functions that windows know: in the middle, and how far half
 * of them are from that. A function is dropped while probes slow the target down; where counting a
 * call takes 6.5 us, rates at drops were 3 to 57 times too low.
 */
static struct guesses guesses_of(const struct estimating *e)
{
	double *logs = e->scratch, middle, apart;
	size_t cnt = 0;

	for (size_t i = 0; i < e->rates->cnt; i++) {
		const struct function *f = &e->rates->functions[i];

		if (is_counted(f, e->clock) && f->guess > 0)
			logs[cnt++] = log(e->known[i].per_ns / f->guess);
	}
	if (cnt < MANY)
		return (struct guesses){1, 1};
	middle = middle_of(logs, cnt);
	for (size_t i = 0; i < cnt; i++)
		logs[i] = fabs(logs[i] - middle);
	apart = NORMAL_HALF * middle_of(logs, cnt);
	return (struct guesses){fabs(middle) < GUESS_OFF ? 1 : exp(middle),
				fmax(1, expm1(apart * apart))};
}

/* Sets e->known, by windows and, where there are none, by rates at drops. */
static void know(struct estimating *e, double usual_ns)
{
	struct guesses guesses;

	for (size_t i = 0; i < e->rates->cnt; i++)
		e->known[i] = by_windows(e, &e->rates->functions[i], usual_ns);
	know_by_wide(e);
	guesses = guesses_of(e);
	for (size_t i = 0; i < e->rates->cnt; i++) {
		if (!(e->known[i].variance > 0))
			e->known[i] = (struct known){e->rates->functions[i].guess * guesses.off,
						     guesses.variance, 0};
	}
}

/* By pairs, where there are some: what is called may change, and windows and bursts that were at
 * other times may have met more or less of it. */
static struct distance distance_of(const struct estimating *e, size_t function)
{
	const struct sums *s = &e->bursts[function];
	const struct pairs *p = &e->pairs[function];
	const struct known *known = &e->known[function];
	struct distance d = {.known = is_reference(e, function) && s->c > 0};

	if (!d.known)
		return d;
	d.log = log(known->per_ns / sums_ratio(s));
	d.chance = bursts_variance(s, e->times);
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

/* Windows and the bursts right after them met the same, whatever other bursts did. */
static double alike_of(const void *ctx, uint32_t function, uint32_t other)
{
	const struct estimating *e = ctx;
	const struct function *f = &e->rates->functions[function];
	const struct function *g = &e->rates->functions[other];

	return e->distances[function].paired && e->distances[other].paired
		       ? functions_share_threads(f, g)
		       : functions_alike(f, g);
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

/*
 * A function is dropped while it is called most: what it did then says less with each burst that
 * should have met it and has not. Of a program that calls a function 5,000 times each 7 s, 700,000
 * times a second then, the guess was 100 times as many calls as there were, however many bursts had
 * met none. A burst in which there would hardly have been a call says nothing.
 */
static double guess_after(double per_ns, const struct sums *bursts)
{
	double usual = bursts->n > 0 ? per_ns * bursts->x / bursts->n : 0; /* calls in one */

	return per_ns / (1 + bursts->n * (1 - exp(-usual)));
}

/* The share of functions known by windows of which bursts should have met some calls, and have met
 * none. */
static double missed_share(const struct estimating *e)
{
	double known = 0, missed = 0;

	for (size_t i = 0; i < e->rates->cnt; i++) {
		const struct sums *bursts = &e->bursts[i];

		if (!is_reference(e, i) || e->known[i].per_ns * bursts->x < FEW)
			continue;
		known++;
		missed += !(bursts->c > 0);
	}
	return known > 0 ? missed / known : 0;
}

/*
 * How far off, as a variance, `by_bursts` may be, that no window has counted. Where bursts have
 * missed calls of some functions altogether, they may have missed some of this one, too, and the
 * rate at the function's drop is as likely. Example: each request of redis calls
 * clientHasPendingReplies() once as it is read and four times as it is answered; bursts that met
 * only reads told of a fifth of its calls, with an error of 6 %.
 */
static double missed_calls(double missed, double guess, double by_bursts)
{
	double more = guess / by_bursts - 1;

	return more > 0 ? missed * more * more : 0;
}

/* Joins what windows (`known`) and bursts tell. */
static void join_all(const struct estimating *e, struct rate *out)
{
	const struct rates *r = e->rates;
	struct references refs = {
		.distances = e->distances,
		.known = e->known,
		.interrupted = e->clock == BY_TIME ? INTERRUPTED : 0,
		.alike = alike_of,
		.ctx = e,
	};
	double missed = missed_share(e);

	for (size_t i = 0; i < r->cnt; i++)
		e->distances[i] = distance_of(e, i);
	references__find(&refs, r->cnt);
	for (size_t i = 0; i < r->cnt; i++) {
		const struct sums *bursts = &e->bursts[i];
		const struct sums *windows = &r->functions[i].by[e->clock].sums;
		double looks = windows->x > 0 ? windows->n : e->wide[i].x > 0 ? e->wide[i].n : 0;
		const struct fit fit = fit__one(&refs, i, looks);
		struct known by_bursts = {
			sums_ratio(bursts) * fit.by,
			bursts_variance(bursts, e->times) + fit.variance,
			fit.off,
		};
		struct known both = e->known[i];

		both.variance += fit.windows;
		/* The guess from before any look is worth nothing beside that. */
		if (bursts->c > 0 && fit.known && !looks) {
			by_bursts.variance += missed_calls(missed, both.per_ns, by_bursts.per_ns);
			both = by_bursts;
		} else if (bursts->c > 0) {
			join(&both, &by_bursts);
		}
		out[i].per_ns = both.per_ns;
		out[i].variance = variance_of(&both) + FLOOR;
		out[i].guessed = !(windows->c > 0) && !(e->wide[i].c > 0) && !(bursts->c > 0);
		if (out[i].guessed && !looks)
			out[i].per_ns = guess_after(both.per_ns, bursts);
	}
}

/* Fits the cost of counting by functions that windows and bursts know. By other clocks than CPU
 * time counting costs nothing. */
static struct count_cost fit_count_cost(const struct estimating *e)
{
	const struct rates *r = e->rates;
	size_t cnt = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct windows *w = &r->functions[i].by[e->clock];
		const struct pairs *p = &e->pairs[i];
		struct distance d = e->distances[i] = distance_of(e, i);

		if (!d.known || !is_counted(&r->functions[i], e->clock) || e->bursts[i].c < FEW)
			continue;
		e->counted[cnt++] = (struct counted){
			.function = i,
			.calls = d.paired ? p->calls : w->sums.c,
			.cpu_ns = d.paired ? p->all.ns : w->all.ns,
			.cost_ns = d.paired ? p->all.cost_ns : w->all.cost_ns,
			.in_bursts = d.paired ? p->in_bursts / (p->cnt * LOOK_NS)
					      : sums_ratio(&e->bursts[i]),
			.variance = d.variance - e->known[i].off * e->known[i].off,
		};
	}
	return count_cost__fit(e->counted, cnt, alike_of, e);
}

static void estimate(struct estimating *e, struct rate *out)
{
	const struct rates *r = e->rates;
	double cnt = 0, ns = 0;

	for (size_t i = 0; i < r->cnt; i++) {
		const struct windows *w = &r->functions[i].by[e->clock];

		cnt += w->sums.n;
		ns += w->counted_ns;
	}
	/* What counting costs is known once, and bursts are worth what that tells. */
	for (int again = 0; again < 2; again++) {
		know(e, ns / cnt);
		add_bursts(e);
		e->times = bursts_usual_times(e->bursts, r->cnt, e->scratch);
		if (e->clock != BY_TIME)
			break;
		if (!again)
			e->cost = fit_count_cost(e);
	}
	join_all(e, out);
}

int by_clock__estimate(const struct rates *r, enum clock clock, struct usual usual,
		       struct rate *out)
{
	struct estimating e = {
		.rates = r,
		.clock = clock,
		.usual = usual,
		.cost = count_cost__calibrated,
		.distances = calloc(r->cnt + 1, sizeof(*e.distances)),
		.known = calloc(r->cnt + 1, sizeof(*e.known)),
		.wide = calloc(r->cnt + 1, sizeof(*e.wide)),
		.bursts = calloc(r->cnt + 1, sizeof(*e.bursts)),
		.pairs = calloc(r->cnt + 1, sizeof(*e.pairs)),
		.scratch = calloc(r->cnt + 1, sizeof(*e.scratch)),
		.counted = calloc(r->cnt + 1, sizeof(*e.counted)),
	};
	bool room =
		e.distances && e.known && e.wide && e.bursts && e.pairs && e.scratch && e.counted;

	if (room)
		estimate(&e, out);
	free(e.distances);
	free(e.known);
	free(e.wide);
	free(e.bursts);
	free(e.pairs);
	free(e.scratch);
	free(e.counted);
	return room ? 0 : -ENOMEM;
}
