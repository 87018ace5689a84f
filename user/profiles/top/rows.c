// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/estimate.h"
#include "calls/function_glob.h"
#include "calls/profile.h"
#include "calls/walk.h"

#define NAME_MAX 64 /* bytes of a thread's name */

uint64_t top_rows__cpu_ns(const struct profile *delta)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < delta->functions_cnt; i++)
		seen += stats__cpu_self_ns(&delta->functions[i].stats);
	return seen;
}

static double share(uint64_t ns, uint64_t whole)
{
	return whole ? (double)ns / (double)whole : 0;
}

static double a_second(uint64_t value, const struct profile *delta)
{
	return delta->duration_ns ? (double)value * 1e9 / (double)delta->duration_ns : 0;
}

static bool wanted(const char *name, const char *search)
{
	return !search || !*search || strcasestr(name, search);
}

static struct top_row *add_row(struct top_rows *r, uint32_t id, const char *name)
{
	struct top_row *row = &r->items[r->cnt];

	*row = (struct top_row){.id = id, .name = strdup(name)};
	if (!row->name)
		return NULL;
	r->cnt++;
	return row;
}

static void fill_function(struct top_row *row, const struct profile *delta, uint64_t cpu_ns)
{
	const struct call_stats *s = &delta->functions[row->id].stats;
	const struct distribution d = distribution__of(delta, row->id);
	const struct estimate e = estimate__of(delta, s);

	row->self = share(stats__cpu_self_ns(s), cpu_ns);
	row->total = share(stats__cpu_ns(s), cpu_ns);
	row->estimated = s->sampled_ns > 0;
	row->calls = s->calls || e.source != SOURCE_SAMPLE ? a_second(s->calls, delta) : -1;
	row->calls_estimated = s->burst_calls > 0;
	row->wait = a_second(s->off_self_ns, delta);
	if (d.calls && d.tells) {
		row->avg_ns = distribution__mean(&d, s->min_ns, s->max_ns);
		row->p99_ns = distribution__quantile(&d, 0.99, s->min_ns, s->max_ns);
	}
}

/* A row for a function, unless it is hidden or not searched for: then *row is NULL. */
static int add_function(struct top_rows *r, const struct profile *delta, uint32_t function,
			const char *search, uint64_t cpu_ns, struct top_row **row)
{
	const struct profile_function *f = &delta->functions[function];

	const bool no_code = function__is_no_code(f);

	*row = NULL;
	/* "[by main: handle]" is no function `handle`. */
	if (f->hidden || !wanted(f->name, search) ||
	    (no_code && search && *search && *search != '['))
		return 0;
	*row = add_row(r, function, f->name);
	if (!*row)
		return -ENOMEM;
	(*row)->no_code = no_code;
	fill_function(*row, delta, cpu_ns);
	return 0;
}

int top_rows__functions(struct top_rows *r, const struct profile *delta, const char *search)
{
	uint64_t cpu_ns = top_rows__cpu_ns(delta);

	r->items = calloc(delta->functions_cnt + 1, sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < delta->functions_cnt; i++) {
		const struct call_stats *s = &delta->functions[i].stats;
		struct top_row *row;

		if ((s->calls || s->total_ns) && add_function(r, delta, i, search, cpu_ns, &row))
			return -ENOMEM;
	}
	return 0;
}

int top_rows__sessions(struct top_rows *r, const struct profile *delta, const char *search,
		       char *const *globs, size_t globs_cnt)
{
	uint64_t cpu_ns = top_rows__cpu_ns(delta);

	r->items = calloc(delta->functions_cnt + 1, sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < delta->functions_cnt; i++) {
		const struct distribution d = distribution__of(delta, i);
		const struct call_stats *s = &delta->functions[i].stats;
		struct top_row *row;

		if (!function_glob__any_matches(globs, globs_cnt, &delta->functions[i]))
			continue;
		if (add_function(r, delta, i, search, cpu_ns, &row))
			return -ENOMEM;
		if (!row)
			continue;
		if (d.tells) {
			row->p50_ns = distribution__quantile(&d, 0.5, s->min_ns, s->max_ns);
			row->max_ns = distribution__quantile(&d, 1, s->min_ns, s->max_ns);
		}
		row->wait = share(s->off_ns, s->total_ns);
	}
	return 0;
}

static void fill_thread(struct top_row *row, const struct profile *delta, uint64_t cpu_ns)
{
	const struct profile_thread *t = &delta->threads[row->id];
	struct walk w = walk__from(delta, t->first_root);
	uint64_t calls = 0, self_ns = 0, off_ns = 0;

	while (walk__next(&w)) {
		const struct call_stats *s = &delta->nodes[w.node].stats;

		if (!w.entering)
			continue;
		calls += s->calls;
		self_ns += stats__cpu_self_ns(s);
		off_ns += s->off_self_ns;
		row->estimated |= s->sampled_ns > 0;
		row->calls_estimated |= s->burst_calls > 0;
	}
	row->self = row->total = share(self_ns, cpu_ns);
	row->calls = a_second(calls, delta);
	row->wait = a_second(off_ns, delta);
}

int top_rows__threads(struct top_rows *r, const struct profile *delta, const char *search)
{
	uint64_t cpu_ns = top_rows__cpu_ns(delta);
	char name[NAME_MAX];

	r->items = calloc(delta->threads_cnt + 1, sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < delta->threads_cnt; i++) {
		const struct profile_thread *t = &delta->threads[i];
		struct top_row *row;

		if (t->goroutine)
			snprintf(name, sizeof(name), "%s goroutine %lu", t->comm,
				 (unsigned long)t->goroutine);
		else
			snprintf(name, sizeof(name), "%s %d/%d", t->comm, t->pid, t->tid);
		if (!t->first_root || !wanted(name, search))
			continue;
		row = add_row(r, i, name);
		if (!row)
			return -ENOMEM;
		fill_thread(row, delta, cpu_ns);
	}
	return 0;
}

int top_rows__processes(struct top_rows *r, const struct profile *delta, const char *search)
{
	r->items = calloc(delta->threads_cnt + 1, sizeof(*r->items));
	if (!r->items)
		return -ENOMEM;
	for (uint32_t i = 0; i < delta->threads_cnt; i++) {
		const struct profile_thread *t = &delta->threads[i];
		struct top_row *row;

		if (!t->first_root || !wanted(t->comm, search))
			continue;
		row = add_row(r, i, t->comm);
		if (!row)
			return -ENOMEM;
		fill_thread(row, delta, delta->duration_ns);
		row->id = (uint32_t)t->pid;
		row->threads = t->threads;
		row->memory = t->memory;
		row->total = (double)t->memory;
		row->calls = t->threads;
	}
	return 0;
}

static int by_value(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare_rows(const void *x, const void *y, void *by)
{
	const struct top_row *a = x, *b = y;
	int order = 0;

	switch (*(const enum top_sort *)by) {
	case SORT_TOTAL:
		order = by_value(a->total, b->total);
		break;
	case SORT_CALLS:
		order = by_value(a->calls, b->calls);
		break;
	case SORT_AVG:
		order = by_value((double)a->avg_ns, (double)b->avg_ns);
		break;
	case SORT_P99:
		order = by_value((double)a->p99_ns, (double)b->p99_ns);
		break;
	case SORT_WAIT:
		order = by_value(a->wait, b->wait);
		break;
	case SORT_NAME:
		order = strcmp(a->name, b->name);
		break;
	default:
		break;
	}
	if (!order)
		order = by_value(a->self, b->self);
	if (!order)
		order = by_value(a->calls, b->calls);
	return order ? order : (a->id > b->id) - (a->id < b->id);
}

void top_rows__sort(struct top_rows *r, enum top_sort by)
{
	if (r->cnt)
		qsort_r(r->items, r->cnt, sizeof(*r->items), compare_rows, &by);
}

void top_rows__clear(struct top_rows *r)
{
	for (size_t i = 0; i < r->cnt; i++)
		free(r->items[i].name);
	free(r->items);
	*r = (struct top_rows){0};
}

static int compare_edges(const void *x, const void *y)
{
	const struct top_edge *a = x, *b = y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

/* Edges by function, the outermost one behind them all: those that were met, sorted. */
static int64_t finish_edges(struct top_edge *edges, size_t cnt)
{
	size_t met = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (edges[i].calls || edges[i].ns)
			edges[met++] = edges[i];
	}
	qsort(edges, met, sizeof(*edges), compare_edges);
	return (int64_t)met;
}

static struct top_edge *new_edges(const struct profile *p)
{
	struct top_edge *edges = calloc(p->functions_cnt + 1, sizeof(*edges));

	for (size_t i = 0; edges && i <= p->functions_cnt; i++)
		edges[i].function = i < p->functions_cnt ? i : TOP_OUTERMOST;
	return edges;
}

static void add_edge(struct top_edge *edge, const struct call_stats *s, bool inner)
{
	edge->calls += s->calls;
	edge->ns += inner ? 0 : s->total_ns;
}

/* `open` counts calls of the function on the way from the thread's begin to the node. */
static int64_t walk_edges(const struct profile *p, uint32_t function, bool callers,
			  struct top_edge **out)
{
	struct top_edge *edges = new_edges(p);

	if (!edges)
		return -ENOMEM;
	for (size_t t = 0; t < p->threads_cnt; t++) {
		struct walk w = walk__from(p, p->threads[t].first_root);
		uint32_t open = 0;

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];
			uint32_t caller = n->parent ? p->nodes[n->parent].function
						    : (uint32_t)p->functions_cnt;

			if (!w.entering) {
				open -= n->function == function;
				continue;
			}
			if (callers && n->function == function)
				add_edge(&edges[caller], &n->stats, open);
			else if (!callers && caller == function)
				add_edge(&edges[n->function], &n->stats, open > 1);
			open += n->function == function;
		}
	}
	*out = edges;
	return finish_edges(edges, p->functions_cnt + 1);
}

int64_t top_rows__callers(const struct profile *p, uint32_t function, struct top_edge **out)
{
	return walk_edges(p, function, true, out);
}

int64_t top_rows__callees(const struct profile *p, uint32_t function, struct top_edge **out)
{
	return walk_edges(p, function, false, out);
}
