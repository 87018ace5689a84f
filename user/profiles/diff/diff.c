// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both profiles go into one, whose functions, threads and paths are those of either; each path has
 * its figures in both runs. Paths are the same if all of their steps are, from the outermost call.
 */
#include "diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/path_map.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "calls/walk.h"
#include "diff/diff_common.h"
#include "diff/same_functions.h"
#include "diff/total_errors.h"
#include "views/merge.h"

#define ALIKE_LEAST    5	/* functions, that most of them tell something */
#define ALIKE_LEAST_NS 20000000 /* off the CPU, which are a few stalls */

/* A diff under way. */
struct builder {
	struct diff *d;
	struct function_pair *pairs; /* by function of `both` */
	size_t pairs_cnt;
	struct profile *merged[DIFF_RUNS]; /* threads of one name are one */
	uint32_t *functions[DIFF_RUNS];	   /* by function of the run: that of `both` */
	uint32_t *threads[DIFF_RUNS];	   /* likewise */
	uint32_t *nodes[DIFF_RUNS];	   /* likewise */
	double *variation[DIFF_RUNS];	   /* by function of `both` */
	struct total_errors errors[DIFF_RUNS];
	uint64_t whole_ns[DIFF_RUNS];	/* all functions' own time, waiting apart */
	uint64_t raw_cpu_ns[DIFF_RUNS]; /* their time on the CPU, with the probes' */
	uint64_t stolen_ns[DIFF_RUNS];	/* what of it was none, by the kernel's account */
	double off_alike;		/* as in struct measured */
	struct path_map map;
};

static uint64_t time_of(const struct call_stats *s, enum diff_time time, bool self)
{
	switch (time) {
	case DIFF_CPU:
		return self ? stats__cpu_self_ns(s) : stats__cpu_ns(s);
	case DIFF_OFF:
		return self ? s->off_self_ns : s->off_ns;
	default:
		return self ? s->self_ns : s->total_ns;
	}
}

/* The time that is compared, as measured. */
static uint64_t raw_of(const struct call_stats *s, enum diff_time time, bool self)
{
	uint64_t raw = self ? s->raw_self_ns : s->raw_total_ns;
	uint64_t off = self ? s->off_self_ns : s->off_ns;

	return time == DIFF_OFF ? off : time == DIFF_WALL ? raw : raw > off ? raw - off : 0;
}

/* The spread of a function's calls is known from entry to exit, over all its paths. Relative to the
 * mean it is taken for that of the calls of one path, and of their own time, too; but where much of
 * the time is callees', it is mostly theirs that varies: then own times count as exponentially
 * distributed at worst. */
static double variation_of(const struct builder *b, const struct call_stats *s, uint32_t function,
			   uint32_t run, bool self)
{
	double variation = b->variation[run][function];

	return self && s->self_ns < s->total_ns / 10 * 9 && variation > 1 ? 1 : variation;
}

/* The variance of a time; `varied` is that of its inclusive one. */
static double varied_of(const struct builder *b, const struct diff_figures *f, uint32_t run,
			bool self, double varied)
{
	double period_ns = (double)b->merged[run]->sample_period_ns;

	if (b->d->opts.time == DIFF_OFF)
		return 0;
	return period_ns * (self ? (double)f->stats[run].varied_ns : varied);
}

/* Whether a run has dropped a path's function; `uncounted`: so that its calls are those until then.
 */
static bool is_cut(const struct builder *b, const struct diff_figures *f, uint32_t function,
		   uint32_t run, bool uncounted)
{
	uint32_t in_run = b->pairs[function].of[run];

	return in_run != NO_FUNCTION && b->merged[run]->functions[in_run].cut &&
	       (!uncounted || !f->stats[run].burst_calls);
}

static struct measured measured(const struct builder *b, const struct diff_figures *f,
				uint32_t function, uint32_t run, bool self)
{
	const struct call_stats *s = &f->stats[run];
	const struct profile *p = b->merged[run];
	uint32_t in_run = b->pairs[function].of[run];
	enum diff_time time =
		self && f->by_samples && b->d->opts.time == DIFF_WALL ? DIFF_CPU : b->d->opts.time;

	return (struct measured){
		.ns = time_of(s, time, self),
		.raw_ns = raw_of(s, time, self),
		/* Probes are not hit while waiting. */
		.error_ns = time == DIFF_OFF ? 0
			    : self	     ? s->self_error_ns
					     : s->error_ns,
		.calls = s->calls,
		.variation = variation_of(b, s, function, run, self),
		.sampled = in_run == NO_FUNCTION ? 0 : p->functions[in_run].sampled,
		.off_ns = time == DIFF_CPU ? 0
			  : self	   ? s->off_self_ns
					   : s->off_ns,
		.longest_ns = s->max_ns,
		.whole_ns = b->whole_ns[run],
		.raw_cpu_ns = b->raw_cpu_ns[run],
		.stolen_ns = b->stolen_ns[run],
		.off_alike = b->off_alike,
		.ns_varied = varied_of(b, f, run, self, f->total_varied[run]),
		.calls_varied = s->calls_varied,
	};
}

/* Whether the run has seen it in samples and not counted its calls. */
static bool is_uncounted(const struct builder *b, const struct diff_figures *f, uint32_t function,
			 uint32_t run)
{
	uint32_t in_run = b->pairs[function].of[run];

	return f->there[run] && !f->stats[run].calls &&
	       (f->stats[run].samples ||
		function_kind__of_stacks(b->merged[run]->functions[in_run].kind));
}

static void judge_estimates(const struct builder *b, struct diff_figures *f, uint32_t function)
{
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		f->cut[run] = is_cut(b, f, function, run, true);
		f->uncounted |= f->cut[run];
		f->estimates[run] = estimate__of(b->merged[run], &f->stats[run]);
		f->uncounted |= is_uncounted(b, f, function, run);
		f->unseen |= !f->there[!run] && f->total.noise &&
			     f->estimates[run].source == SOURCE_SAMPLE;
	}
	if (!f->uncounted)
		return;
	f->calls = 0;
	f->calls_noise = true;
}

static void compare(const struct builder *b, struct diff_figures *f, uint32_t function)
{
	const struct diff_options *o = &b->d->opts;
	struct measured m[DIFF_RUNS];
	uint64_t total;

	f->by_samples =
		is_cut(b, f, function, DIFF_OLD, false) || is_cut(b, f, function, DIFF_NEW, false);
	for (int self = 0; self < 2; self++) {
		struct change *c = self ? &f->self : &f->total;

		m[DIFF_OLD] = measured(b, f, function, DIFF_OLD, self);
		m[DIFF_NEW] = measured(b, f, function, DIFF_NEW, self);
		*c = o->per_call ? change__per_call(&m[DIFF_OLD], &m[DIFF_NEW])
				 : change__of(&m[DIFF_OLD], &m[DIFF_NEW]);
	}
	f->sampled = m[DIFF_OLD].sampled ? m[DIFF_OLD].sampled : m[DIFF_NEW].sampled;
	f->calls = change__difference(m[DIFF_OLD].calls, m[DIFF_NEW].calls);
	f->calls_noise = change__calls_are_noise(&m[DIFF_OLD], &m[DIFF_NEW]);
	judge_estimates(b, f, function);
	total = f->stats[DIFF_OLD].total_ns;
	if (f->stats[DIFF_NEW].total_ns > total)
		total = f->stats[DIFF_NEW].total_ns;
	f->hidden = total < o->min_time_ns ||
		    (!total && !f->stats[DIFF_OLD].calls && !f->stats[DIFF_NEW].calls);
}

/* Threads that wait are many, and would make the run as long as one likes. */
static uint64_t whole_of(const struct profile *p, enum diff_time time)
{
	uint64_t ns = 0;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		ns += time_of(&p->nodes[i].stats, time == DIFF_WALL ? DIFF_CPU : time, true);
	return ns;
}

/* The kernel counts as CPU time what the machine has really run, and we what lies between two
 * switches of threads. */
static void look_for_stalls(struct builder *b, uint32_t run)
{
	const struct profile *p = b->merged[run];
	uint64_t raw = 0, known = p->accounting.cpu_ns;

	for (size_t i = 1; i < p->nodes_cnt; i++)
		raw += raw_of(&p->nodes[i].stats, DIFF_CPU, true);
	b->raw_cpu_ns[run] = raw;
	b->stolen_ns[run] = known && raw > known ? raw - known : 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* By what share most functions' own time off the CPU differs, of those that have spent some. On a
 * busy machine all wait longer for a processor, and only what stands out has changed by itself.
 * Standard deviation: the median of what is normally distributed lies at 0.6745 of it (Hampel,
 * "The influence curve and its role in robust estimation", 1974). */
static int look_at_most(struct builder *b)
{
	double *shares = calloc(b->pairs_cnt + 1, sizeof(*shares));
	size_t cnt = 0;

	if (!shares)
		return -ENOMEM;
	for (size_t i = 0; i < b->pairs_cnt; i++) {
		const struct diff_figures *f = &b->d->functions[i];
		double old = (double)f->stats[DIFF_OLD].off_self_ns;
		double now = (double)f->stats[DIFF_NEW].off_self_ns;
		double larger = old > now ? old : now, less = old > now ? now : old;

		if (larger >= ALIKE_LEAST_NS)
			shares[cnt++] = (larger - less) / larger;
	}
	qsort(shares, cnt, sizeof(*shares), compare_doubles);
	b->off_alike = cnt < ALIKE_LEAST ? 0 : shares[cnt / 2] / 0.6745;
	free(shares);
	return 0;
}

/* The functions of both, with their figures. */
static int add_functions(struct builder *b)
{
	struct diff *d = b->d;
	struct profile *both = d->both;
	int err;

	both->functions = calloc(b->pairs_cnt + 1, sizeof(*both->functions));
	d->functions = calloc(b->pairs_cnt + 1, sizeof(*d->functions));
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		b->functions[run] =
			calloc(b->merged[run]->functions_cnt + 1, sizeof(*b->functions[run]));
		b->variation[run] = calloc(b->pairs_cnt + 1, sizeof(*b->variation[run]));
		if (!b->functions[run] || !b->variation[run])
			return -ENOMEM;
		b->whole_ns[run] = whole_of(b->merged[run], d->opts.time);
		look_for_stalls(b, run);
	}
	if (!both->functions || !d->functions)
		return -ENOMEM;
	both->functions_cnt = b->pairs_cnt;
	for (size_t i = 0; i < b->pairs_cnt; i++) {
		for (uint32_t run = 0; run < DIFF_RUNS; run++) {
			uint32_t f = b->pairs[i].of[run];
			struct distribution distribution;

			if (f == NO_FUNCTION)
				continue;
			distribution = distribution__of(b->merged[run], f);
			b->functions[run][f] = i;
			b->variation[run][i] = distribution__variation(&distribution);
			both->functions[i] = b->merged[run]->functions[f];
			d->functions[i].there[run] = true;
			d->functions[i].stats[run] = both->functions[i].stats;
			d->functions[i].total_varied[run] = b->errors[run].functions[f];
		}
	}
	err = look_at_most(b);
	for (size_t i = 0; i < b->pairs_cnt && !err; i++) {
		compare(b, &d->functions[i], i);
		d->by_samples_cnt += d->functions[i].by_samples && !d->functions[i].hidden;
	}
	return err;
}

static int compare_threads(const struct profile_thread *x, const struct profile_thread *y)
{
	int order = strncmp(x->comm, y->comm, sizeof(x->comm));

	return order ? order : (x->spans > y->spans) - (x->spans < y->spans);
}

/* Both runs' threads are in the order of their names, calls before spans. What is left over at
 * last, one thread each, is one: of a program that was renamed. */
static void add_threads(struct builder *b)
{
	const struct profile *const old = b->merged[DIFF_OLD], *const now = b->merged[DIFF_NEW];
	struct profile *both = b->d->both;
	size_t i = 0, j = 0, alone[2][DIFF_RUNS] = {0}; /* of calls, and of spans */
	uint32_t last[2][DIFF_RUNS] = {0};

	while (i < old->threads_cnt || j < now->threads_cnt) {
		int order = i == old->threads_cnt ? 1
			    : j == now->threads_cnt
				    ? -1
				    : compare_threads(&old->threads[i], &now->threads[j]);
		uint32_t number = both->threads_cnt++, run = order < 0 ? DIFF_OLD : DIFF_NEW;
		bool spans = (order < 0 ? &old->threads[i] : &now->threads[j])->spans;

		if (order) {
			alone[spans][run]++;
			last[spans][run] = order < 0 ? i : j;
		}
		if (order <= 0) {
			both->threads[number] = old->threads[i];
			b->threads[DIFF_OLD][i++] = number;
		}
		if (order >= 0) {
			both->threads[number] = now->threads[j];
			b->threads[DIFF_NEW][j++] = number;
		}
	}
	for (int k = 0; k < 2; k++) {
		if (alone[k][DIFF_OLD] == 1 && alone[k][DIFF_NEW] == 1)
			b->threads[DIFF_OLD][last[k][DIFF_OLD]] =
				b->threads[DIFF_NEW][last[k][DIFF_NEW]];
	}
}

static void add_path(struct builder *b, uint32_t run, uint32_t node)
{
	const struct profile_node *n = &b->merged[run]->nodes[node];
	struct profile *both = b->d->both;
	struct path_step step = path_step(b->nodes[run][n->parent], b->threads[run][n->thread],
					  b->functions[run][n->function]);
	uint32_t *into = path_map__at(&b->map, step);
	struct diff_figures *f;

	if (!*into) {
		*into = both->nodes_cnt++;
		both->nodes[*into] = (struct profile_node){
			.parent = step.parent,
			.function = step.function,
			.thread = b->threads[run][n->thread],
			.stats = {.min_ns = UINT64_MAX},
		};
	}
	b->nodes[run][node] = *into;
	stats__add(&both->nodes[*into].stats, &n->stats);
	f = &b->d->paths[*into];
	f->there[run] = true;
	f->stats[run] = n->stats;
	f->total_varied[run] = b->errors[run].nodes[node];
}

static int add_paths(struct builder *b)
{
	struct diff *d = b->d;
	struct profile *both = d->both;
	size_t nodes = b->merged[DIFF_OLD]->nodes_cnt + b->merged[DIFF_NEW]->nodes_cnt + 1;
	size_t threads = b->merged[DIFF_OLD]->threads_cnt + b->merged[DIFF_NEW]->threads_cnt + 1;

	both->threads = calloc(threads, sizeof(*both->threads));
	both->nodes = calloc(nodes, sizeof(*both->nodes));
	both->nodes_cnt = 1;
	d->paths = calloc(nodes, sizeof(*d->paths));
	if (!both->threads || !both->nodes || !d->paths)
		return -ENOMEM;
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		b->threads[run] = calloc(threads, sizeof(*b->threads[run]));
		b->nodes[run] = calloc(nodes, sizeof(*b->nodes[run]));
		if (!b->threads[run] || !b->nodes[run])
			return -ENOMEM;
	}
	if (path_map__init(&b->map, nodes))
		return -ENOMEM;
	add_threads(b);
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		const struct profile *p = b->merged[run];

		for (size_t i = 0; i < p->threads_cnt; i++) {
			struct walk w = walk__from(p, p->threads[i].first_root);

			while (walk__next(&w))
				if (w.entering)
					add_path(b, run, w.node);
		}
	}
	for (size_t i = 1; i < both->nodes_cnt; i++)
		compare(b, &d->paths[i], both->nodes[i].function);
	return profile__connect(both);
}

/* All outermost calls together. */
static struct change whole(const struct builder *b, enum diff_time time)
{
	const struct diff *d = b->d;
	struct measured m[DIFF_RUNS] = {{0}};

	for (size_t i = 1; i < d->both->nodes_cnt; i++) {
		for (uint32_t run = 0; run < DIFF_RUNS && !d->both->nodes[i].parent; run++) {
			const struct call_stats *s = &d->paths[i].stats[run];

			m[run].ns += time_of(s, time, false);
			m[run].raw_ns += raw_of(s, time, false);
			m[run].off_ns += time == DIFF_CPU ? 0 : s->off_ns;
			m[run].error_ns += time == DIFF_OFF ? 0 : s->error_ns;
			m[run].longest_ns =
				s->max_ns > m[run].longest_ns ? s->max_ns : m[run].longest_ns;
			m[run].whole_ns = b->whole_ns[run];
			m[run].raw_cpu_ns = b->raw_cpu_ns[run];
			m[run].stolen_ns = b->stolen_ns[run];
			m[run].off_alike = b->off_alike;
		}
	}
	return change__of(&m[DIFF_OLD], &m[DIFF_NEW]);
}

static int merge(struct builder *b)
{
	int err = 0;

	for (uint32_t run = 0; run < DIFF_RUNS && !err; run++) {
		err = profile__merge_threads(b->d->runs[run].profile, MERGE_COMM, &b->merged[run]);
		if (!err)
			err = profile__summarize(b->merged[run]);
		if (!err)
			err = total_errors__new(b->merged[run], &b->errors[run]);
	}
	return err;
}

static int build(struct builder *b)
{
	struct diff *d = b->d;
	const struct profile *const profiles[] = {d->runs[DIFF_OLD].profile,
						  d->runs[DIFF_NEW].profile};
	/* How long as many calls would have taken is asked of calls that were counted. */
	bool by_samples = !d->opts.per_call && d->opts.time != DIFF_OFF;
	int err = function_pairs__new(profiles, &b->pairs, &b->pairs_cnt);

	if (!err)
		err = diff_common__leave_out(d->runs, b->pairs, b->pairs_cnt, by_samples,
					     &d->left_out, &d->left_out_cnt);
	if (!err)
		err = merge(b);
	if (!err)
		err = add_functions(b);
	if (!err)
		err = add_paths(b);
	if (err)
		return err;
	d->whole = whole(b, d->opts.time);
	d->whole_cpu = whole(b, DIFF_CPU);
	return 0;
}

int diff__new(const struct diff_run runs[DIFF_RUNS], const struct diff_options *opts,
	      struct diff **out)
{
	struct builder b = {.d = calloc(1, sizeof(*b.d))};
	int err = -ENOMEM;

	if (b.d)
		b.d->both = calloc(1, sizeof(*b.d->both));
	if (b.d && b.d->both) {
		b.d->opts = *opts;
		memcpy(b.d->runs, runs, sizeof(b.d->runs));
		err = build(&b);
	}
	for (uint32_t run = 0; run < DIFF_RUNS; run++) {
		profile__free(b.merged[run]);
		free(b.functions[run]);
		free(b.threads[run]);
		free(b.nodes[run]);
		free(b.variation[run]);
		total_errors__clear(&b.errors[run]);
	}
	path_map__fini(&b.map);
	free(b.pairs);
	if (err)
		diff__free(b.d);
	else
		*out = b.d;
	return err;
}

void diff__free(struct diff *d)
{
	if (!d)
		return;
	profile__free(d->both);
	free(d->functions);
	free(d->paths);
	free(d->left_out);
	free(d);
}
