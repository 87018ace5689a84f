// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Everything as tables of one SQLite database, for questions that no report answers. It holds what
 * the JSON document does, by the same names and numbers, and single calls. See docs/sqlite.md.
 */
#include <errno.h>
#include <stdlib.h>

#include "calls/accounting.h"
#include "calls/distribution.h"
#include "calls/estimate.h"
#include "calls/lines.h"
#include "calls/profile.h"
#include "calls/values.h"
#include "calls/walk.h"
#include "sink/data/sqlite_schema.h"
#include "sink/data/table_writer.h"
#include "sink/listing.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "timeline/timeline.h"
#include "util/array.h"

static void write_meta(struct table_writer *w, const char *key, uint64_t value)
{
	table_writer__text(w, key);
	table_writer__u64(w, value);
	table_writer__row(w);
}

static void write_metas(struct table_writer *w, const struct profile *p,
			const struct sink_options *opts)
{
	table_writer__table(w, "meta", 2);
	table_writer__text(w, "proftrace");
	table_writer__text(w, PROFTRACE_VERSION);
	table_writer__row(w);
	table_writer__text(w, "start_time");
	table_writer__double(w, p->start_time);
	table_writer__row(w);
	if (p->max_overhead > 0) {
		table_writer__text(w, "max_overhead_percent");
		table_writer__double(w, p->max_overhead);
		table_writer__row(w);
	}
	write_meta(w, "duration_ns", p->duration_ns);
	write_meta(w, "paused_ns", p->paused_ns);
	write_meta(w, "raw", opts->raw);
	if (p->sample_period_ns)
		write_meta(w, "sample_period_ns", p->sample_period_ns);
	write_meta(w, "calls_recorded", p->timeline != NULL);
	write_meta(w, "calls_missing", p->timeline ? p->timeline->lost : 0);
}

static void write_target(struct table_writer *w, const struct profile_target *t)
{
	char *const *arg;
	size_t i;

	table_writer__table(w, "target", 2);
	for (i = 0; i < t->pids_cnt; i++) {
		table_writer__text(w, "pid");
		table_writer__i64(w, t->pids[i]);
		table_writer__row(w);
	}
	if (t->exec) {
		table_writer__text(w, "exec");
		table_writer__text(w, t->exec);
		table_writer__row(w);
	}
	for (arg = t->command; arg && *arg; arg++) {
		table_writer__text(w, "argument");
		table_writer__text(w, *arg);
		table_writer__row(w);
	}
}

/* In the order of STATS_COLUMNS; single calls as those of the function. */
#define STATS 13

static void write_stats(struct table_writer *w, const struct call_stats *s, uint64_t min_ns,
			uint64_t max_ns)
{
	table_writer__u64(w, s->calls);
	table_writer__u64(w, s->total_ns);
	table_writer__u64(w, s->self_ns);
	table_writer__u64(w, s->off_ns);
	table_writer__u64(w, s->off_self_ns);
	table_writer__u64(w, stats__cpu_ns(s));
	table_writer__u64(w, stats__cpu_self_ns(s));
	table_writer__u64(w, s->raw_total_ns);
	table_writer__u64(w, s->raw_self_ns);
	table_writer__u64(w, s->error_ns);
	table_writer__u64(w, s->self_error_ns);
	if (s->min_ns == UINT64_MAX) {
		table_writer__null(w);
		table_writer__null(w);
	} else {
		table_writer__u64(w, min_ns);
		table_writer__u64(w, max_ns);
	}
}

/* In the order of ESTIMATE_COLUMNS. */
#define ESTIMATES 4

static void write_estimate(struct table_writer *w, const struct profile *p,
			   const struct call_stats *s)
{
	const struct estimate e = estimate__of(p, s);

	table_writer__text(w, estimate__source_name(e.source));
	table_writer__u64(w, s->samples);
	table_writer__u64(w, e.calls_error);
	table_writer__u64(w, e.cpu_error_ns);
}

static void write_quantile(struct table_writer *w, const struct distribution *d,
			   const struct call_stats *s, double q)
{
	if (d->calls)
		table_writer__u64(w, distribution__quantile(d, q, s->min_ns, s->max_ns));
	else
		table_writer__null(w);
}

static void write_function(struct table_writer *w, const struct profile *p, uint32_t function,
			   const struct listing *l)
{
	const struct profile_function *f = &p->functions[function];
	const struct distribution d = distribution__of(p, function);
	uint64_t average_ns;

	table_writer__u64(w, l->id);
	table_writer__text(w, f->name ? f->name : "");
	table_writer__text(w, profile_function__symbol(f));
	table_writer__text(w, f->module ? f->module : "");
	table_writer__u64(w, f->offset);
	table_writer__text(w, f->file);
	if (f->line)
		table_writer__u64(w, f->line);
	else
		table_writer__null(w);
	write_stats(w, &f->stats, distribution__shortest(&d, f->stats.min_ns),
		    distribution__longest(&d, f->stats.max_ns));
	write_quantile(w, &d, &f->stats, 0.5);
	write_quantile(w, &d, &f->stats, 0.9);
	write_quantile(w, &d, &f->stats, 0.99);
	table_writer__u64(w, f->sampled);
	table_writer__u64(w, l->dropped);
	table_writer__text(w, function_kind__name(f->kind));
	table_writer__u64(w, l->whole);
	if (l->whole)
		table_writer__null(w);
	else
		table_writer__u64(w, l->whole_until_ns);
	write_estimate(w, p, &f->stats);
	table_writer__text(w, distribution__basis(&d));
	if (distribution__average(&d, f, 0, &average_ns))
		table_writer__u64(w, average_ns);
	else
		table_writer__null(w);
	table_writer__row(w);
}

static void write_functions(struct table_writer *w, const struct profile *p,
			    const struct listing *functions)
{
	size_t i, k;

	table_writer__table(w, "functions", 17 + STATS + ESTIMATES);
	for (i = 0; i < p->functions_cnt; i++)
		if (functions[i].listed)
			write_function(w, p, i, &functions[i]);
	table_writer__table(w, "aliases", 2);
	for (i = 0; i < p->functions_cnt; i++) {
		for (k = 0; functions[i].listed && k < p->functions[i].aliases_cnt; k++) {
			table_writer__u64(w, functions[i].id);
			table_writer__text(w, p->functions[i].aliases[k]);
			table_writer__row(w);
		}
	}
	table_writer__table(w, "buckets", 4);
	for (i = 0; i < p->buckets_cnt; i++) {
		const struct profile_bucket *b = &p->buckets[i];

		if (!functions[b->function].listed)
			continue;
		table_writer__u64(w, functions[b->function].id);
		table_writer__u64(w, bucket__low(b->bucket));
		table_writer__u64(w, bucket__high(b->bucket));
		table_writer__u64(w, b->calls);
		table_writer__row(w);
	}
}

static void write_thread(struct table_writer *w, const struct profile_thread *t, uint64_t id)
{
	char name[THREAD_NAME_LEN];

	table_writer__u64(w, id);
	table_writer__i64(w, t->pid);
	table_writer__u64(w, thread__number(t));
	if (t->goroutine)
		table_writer__u64(w, t->goroutine);
	else
		table_writer__null(w);
	table_writer__text(w, t->comm);
	table_writer__text(w, thread__name(t, name));
	table_writer__row(w);
}

static void write_paths(struct table_writer *w, const struct profile *p,
			const struct profile_thread *t, uint64_t id,
			const struct listing *functions)
{
	struct walk walk = walk__from(p, t->first_root);

	while (walk__next(&walk) && !w->err) {
		const struct profile_node *n = &p->nodes[walk.node];
		const struct distribution d = distribution__of(p, n->function);

		if (!walk.entering)
			continue;
		table_writer__u64(w, walk.node);
		if (n->parent)
			table_writer__u64(w, n->parent);
		else
			table_writer__null(w);
		table_writer__u64(w, id);
		table_writer__u64(w, functions[n->function].id);
		table_writer__u64(w, walk.depth);
		write_stats(w, &n->stats, distribution__single(&d, n->stats.min_ns),
			    distribution__single(&d, n->stats.max_ns));
		write_estimate(w, p, &n->stats);
		table_writer__row(w);
	}
}

static void write_threads(struct table_writer *w, const struct profile *p,
			  const struct listing *functions)
{
	uint64_t id = 0;
	size_t i;

	table_writer__table(w, "threads", 6);
	for (i = 0; i < p->threads_cnt; i++)
		if (p->threads[i].first_root)
			write_thread(w, &p->threads[i], id++);
	table_writer__table(w, "paths", 5 + STATS + ESTIMATES);
	for (i = 0, id = 0; i < p->threads_cnt; i++)
		if (p->threads[i].first_root)
			write_paths(w, p, &p->threads[i], id++, functions);
}

/* The calls that are open where the walk has come to. */
struct call_stack {
	struct table_writer *w;
	uint64_t *ids;
	size_t ids_cap;
	uint64_t calls; /* so far */
};

static int write_call(const struct timeline_event *e, void *ctx)
{
	struct call_stack *s = ctx;
	struct table_writer *w = s->w;
	uint64_t leave_ns = e->call->leave_ns > e->at_ns ? e->call->leave_ns : e->at_ns;

	if (!e->begins)
		return 0;
	if (ARRAY_RESERVE(&s->ids, e->depth, &s->ids_cap))
		return -ENOMEM;
	s->ids[e->depth] = ++s->calls;
	table_writer__u64(w, s->calls);
	if (e->depth)
		table_writer__u64(w, s->ids[e->depth - 1]);
	else
		table_writer__null(w);
	table_writer__u64(w, e->call->node);
	table_writer__u64(w, e->depth);
	table_writer__u64(w, e->at_ns);
	table_writer__u64(w, leave_ns);
	table_writer__u64(w, e->call->off_ns);
	table_writer__row(w);
	return w->err;
}

static void write_calls(struct table_writer *w, const struct profile *p)
{
	struct call_stack stack = {.w = w};
	size_t i;

	table_writer__table(w, "calls", 7);
	for (i = 0; p->timeline && i < p->threads_cnt && !w->err; i++)
		if (p->threads[i].first_root)
			w->err = timeline__walk(p->timeline, i, write_call, &stack);
	free(stack.ids);
}

struct value_rows {
	struct table_writer *w;
	const struct profile *p;
	uint64_t calls; /* so far, counted as in write_call() */
};

static void write_value(struct table_writer *w, const struct call_value *v, bool hex)
{
	char buf[VALUE_TEXT_LEN];

	if (v->kind == VALUE_INT)
		table_writer__i64(w, v->i);
	else if (v->kind == VALUE_UINT && v->u <= INT64_MAX && !hex)
		table_writer__u64(w, v->u);
	else if (v->kind == VALUE_FLOAT)
		table_writer__double(w, v->f);
	else if (v->kind == VALUE_NONE)
		table_writer__null(w);
	else
		table_writer__text(w, call_value__text(v, hex, buf));
}

static int write_values_of(const struct timeline_event *e, void *ctx)
{
	struct value_rows *r = ctx;
	const struct profile_argument *args;
	uint32_t cnt;

	if (!e->begins)
		return 0;
	r->calls++;
	if (!e->call->values_cnt)
		return 0;
	args = profile__arguments(r->p, r->p->nodes[e->call->node].function, &cnt);
	for (uint32_t i = 0; i < cnt && i < e->call->values_cnt; i++) {
		table_writer__u64(r->w, r->calls);
		table_writer__text(r->w, args[i].name);
		write_value(r->w, &e->call->values[i], argument__is_hex(&args[i]));
		table_writer__row(r->w);
	}
	return r->w->err;
}

/* Another walk, as rows are written table by table. */
static void write_values(struct table_writer *w, const struct profile *p)
{
	struct value_rows rows = {.w = w, .p = p};

	table_writer__table(w, "call_values", 3);
	for (size_t i = 0; p->timeline && p->arguments_cnt && i < p->threads_cnt && !w->err; i++)
		if (p->threads[i].first_root)
			w->err = timeline__walk(p->timeline, i, write_values_of, &rows);
}

#define OVERHEAD_COLUMN 9 /* of accounting: the only one that is no account */

static void write_accounting(struct table_writer *w, const struct profile_accounting *a)
{
	double overhead;

	table_writer__table(w, "accounting", ACCOUNTS + 1);
	for (size_t i = 0; i < ACCOUNTS; i++) {
		if (i == OVERHEAD_COLUMN && accounting__overhead(a, &overhead))
			table_writer__double(w, overhead);
		else if (i == OVERHEAD_COLUMN)
			table_writer__null(w);
		if (account__is_signed(&accounts[i]))
			table_writer__i64(w, account__of(&accounts[i], a));
		else
			table_writer__u64(w, (uint64_t)account__of(&accounts[i], a));
	}
	table_writer__row(w);
}

static void write_function_id(struct table_writer *w, const struct listing *function)
{
	if (function->listed)
		table_writer__u64(w, function->id);
	else
		table_writer__null(w);
}

static void write_line_part(struct table_writer *w, const struct profile *p,
			    const struct profile_line *l, uint64_t id,
			    const struct listing *function)
{
	table_writer__u64(w, id);
	write_function_id(w, function);
	table_writer__text(w, l->inlined ? p->inlines[l->inlined - 1].name : NULL);
	table_writer__u64(w, l->hits);
	table_writer__u64(w, l->ns);
	table_writer__u64(w, l->error_ns);
	table_writer__u64(w, l->approximate);
	table_writer__u64(w, l->aside);
	table_writer__text(w, l->reason);
	table_writer__row(w);
}

static int write_lines(struct table_writer *w, const struct profile *p,
		       const struct listing *functions)
{
	struct line_sums sums;
	int err = line_sums__make(p, &sums);

	table_writer__table(w, "lines", 8);
	for (size_t i = 0; !err && i < sums.cnt; i++) {
		const struct line_sum *sum = &sums.items[i];

		table_writer__u64(w, i);
		table_writer__text(w, sum->file);
		table_writer__u64(w, sum->line);
		table_writer__u64(w, sum->hits);
		table_writer__u64(w, sum->ns);
		table_writer__u64(w, sum->error_ns);
		table_writer__u64(w, sum->approximate);
		table_writer__text(w, sum->reason);
		table_writer__row(w);
	}
	table_writer__table(w, "line_parts", 9);
	for (size_t i = 0; !err && i < sums.cnt; i++) {
		for (size_t j = 0; j < sums.items[i].cnt; j++) {
			const struct profile_line *l = &p->lines[sums.items[i].first + j];

			write_line_part(w, p, l, i, &functions[l->function]);
		}
	}
	line_sums__clear(&sums);
	return err;
}

static void write_drops(struct table_writer *w, const struct profile *p,
			const struct listing *functions)
{
	size_t i;

	table_writer__table(w, "drops", 9);
	for (i = 0; i < p->drops_cnt; i++) {
		const struct profile_drop *d = &p->drops[i];
		const struct profile_function *f = &p->functions[d->function];

		write_function_id(w, &functions[d->function]);
		table_writer__text(w, f->name ? f->name : "");
		table_writer__text(w, f->module ? f->module : "");
		table_writer__u64(w, d->at_ns);
		table_writer__double(w, d->calls_per_second);
		table_writer__double(w, d->cost_percent);
		table_writer__u64(w, d->sampled);
		table_writer__text(w, d->reason ? d->reason : "");
		if (d->back_ns)
			table_writer__u64(w, d->back_ns);
		else
			table_writer__null(w);
		table_writer__row(w);
	}
}

static void write_probe(struct table_writer *w, const char *kind, const char *name, uint64_t count)
{
	table_writer__text(w, kind);
	table_writer__text(w, name);
	table_writer__u64(w, count);
	table_writer__row(w);
}

static void write_probes(struct table_writer *w, const struct profile_probes *probes)
{
	size_t i;

	table_writer__table(w, "probes", 3);
	write_probe(w, "functions", "", probes->functions);
	write_probe(w, "instrumented", "", probes->instrumented);
	for (i = 0; i < probes->sites_cnt; i++)
		write_probe(w, "site", probes->sites[i].class_name, probes->sites[i].count);
	write_probe(w, "exit", "return", probes->exits_return);
	write_probe(w, "exit", "sites", probes->exits_sites);
	write_probe(w, "exit", "none", probes->exits_none);
	table_writer__table(w, "skipped", 3);
	for (i = 0; i < probes->skipped_cnt; i++) {
		const struct profile_skip *s = &probes->skipped[i];

		table_writer__text(w, s->name ? s->name : "");
		table_writer__text(w, s->module ? s->module : "");
		table_writer__text(w, s->reason ? s->reason : "");
		table_writer__row(w);
	}
}

static int write_sqlite(const struct profile *p, const struct sink_options *opts, const char *path)
{
	struct listing *functions = listing__new(p);
	struct table_writer w;
	int err, lines_err;

	if (!functions)
		return -ENOMEM;
	table_writer__open(&w, path);
	table_writer__run(&w, sqlite_tables);
	write_metas(&w, p, opts);
	write_target(&w, &p->target);
	write_functions(&w, p, functions);
	write_threads(&w, p, functions);
	write_calls(&w, p);
	write_values(&w, p);
	write_accounting(&w, &p->accounting);
	lines_err = write_lines(&w, p, functions);
	write_drops(&w, p, functions);
	write_probes(&w, &p->probes);
	table_writer__run(&w, sqlite_views);
	err = table_writer__close(&w, path);
	free(functions);
	return err ? err : lines_err;
}

const struct sink sink_sqlite = {
	.name = "sqlite",
	.help = "a database with tables, for questions of one's own",
	.suffixes = (const char *const[]){".sqlite", ".db", NULL},
	.whole = true,
	.shows_calls = true,
	.shows_values = true,
	.write_file = write_sqlite,
};
