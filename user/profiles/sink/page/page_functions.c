// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of a page's data, column by column. */
#include <string.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "sink/page/page.h"
#include "util/json.h"

const struct page_figure page_figures[PAGE_FIGURES] = {
	{"calls", offsetof(struct call_stats, calls)},
	{"total", offsetof(struct call_stats, total_ns)},
	{"self", offsetof(struct call_stats, self_ns)},
	{"off", offsetof(struct call_stats, off_ns)},
	{"off_self", offsetof(struct call_stats, off_self_ns)},
	{"error", offsetof(struct call_stats, error_ns)},
	{"self_error", offsetof(struct call_stats, self_error_ns)},
	{"sampled_ns", offsetof(struct call_stats, sampled_ns)},
	{"varied_ns", offsetof(struct call_stats, varied_ns)},
	{"burst_calls", offsetof(struct call_stats, burst_calls)},
	{"calls_varied", offsetof(struct call_stats, calls_varied)},
};

uint64_t page_figure__of(const struct page_figure *f, const struct call_stats *s)
{
	if (f->offset != offsetof(struct call_stats, calls_varied))
		return *(const uint64_t *)((const char *)s + f->offset);
	return s->calls_varied < (double)UINT64_MAX ? (uint64_t)s->calls_varied : UINT64_MAX;
}

/* One value of one column. */
struct cell {
	struct json *j;
	const struct profile_function *f;
	struct distribution d;
	const char *before; /* the column's string of the function before; NULL: there is none */
};

static void write_name(struct cell *c)
{
	json_string(c->j, c->f->name ? c->f->name : "");
}

/* enum function_kind */
static void write_kind(struct cell *c)
{
	json_u64(c->j, c->f->kind);
}

/* The name again is no news. */
static void write_symbol(struct cell *c)
{
	const char *symbol = profile_function__symbol(c->f);
	bool differs = *symbol && c->f->name && strcmp(symbol, c->f->name);

	json_string(c->j, differs ? symbol : NULL);
}

/* A string that differs from that before, or 0. */
static void write_changed(struct cell *c, const char *s)
{
	if (!s)
		s = "";
	if (c->before && !strcmp(s, c->before))
		json_u64(c->j, 0);
	else
		json_string(c->j, s);
	c->before = s;
}

static void write_module(struct cell *c)
{
	write_changed(c, c->f->module);
}

static void write_file(struct cell *c)
{
	write_changed(c, c->f->file);
}

static void write_line(struct cell *c)
{
	json_u64(c->j, c->f->line);
}

static void write_sampled(struct cell *c)
{
	json_u64(c->j, c->f->sampled);
}

static void write_min(struct cell *c)
{
	json_u64(c->j, distribution__shortest(&c->d, c->f->stats.min_ns));
}

static void write_max(struct cell *c)
{
	json_u64(c->j, distribution__longest(&c->d, c->f->stats.max_ns));
}

static void write_quantile(struct cell *c, double q)
{
	const struct call_stats *s = &c->f->stats;

	json_u64(c->j, distribution__quantile(&c->d, q, s->min_ns, s->max_ns));
}

static void write_p50(struct cell *c)
{
	write_quantile(c, 0.5);
}

static void write_p90(struct cell *c)
{
	write_quantile(c, 0.9);
}

static void write_p99(struct cell *c)
{
	write_quantile(c, 0.99);
}

/* 1: min, max, quantiles and histogram say how long calls take; 0: they do not. */
static void write_tells(struct cell *c)
{
	json_u64(c->j, c->d.tells);
}

/* [bucket, calls, bucket, calls, ...]; a bucket's bounds: see calls/distribution.h. */
static void write_histogram(struct cell *c)
{
	json_open(c->j, '[');
	for (size_t i = 0; i < c->d.cnt; i++) {
		json_u64(c->j, c->d.buckets[i].bucket);
		json_u64(c->j, c->d.buckets[i].calls);
	}
	json_close(c->j, ']');
}

static const struct {
	const char *name;
	void (*write)(struct cell *c);
} columns[] = {
	{"name", write_name},	  {"symbol", write_symbol},
	{"module", write_module}, {"file", write_file},
	{"line", write_line},	  {"sampled", write_sampled},
	{"min", write_min},	  {"max", write_max},
	{"p50", write_p50},	  {"p90", write_p90},
	{"p99", write_p99},	  {"kind", write_kind},
	{"tells", write_tells},	  {"histogram", write_histogram},
};

void page_functions__write(struct json *j, const struct profile *p, const uint32_t *numbers)
{
	size_t column, i;

	json_member_open(j, "functions", '{');
	for (column = 0; column < sizeof(columns) / sizeof(columns[0]); column++) {
		struct cell c = {.j = j};

		json_member_open(j, columns[column].name, '[');
		for (i = 0; i < p->functions_cnt; i++) {
			if (!numbers[i])
				continue;
			c.f = &p->functions[i];
			c.d = distribution__of(p, i);
			columns[column].write(&c);
		}
		json_close(j, ']');
	}
	for (column = 0; column < PAGE_FIGURES; column++) {
		json_member_open(j, page_figures[column].name, '[');
		for (i = 0; i < p->functions_cnt; i++)
			if (numbers[i])
				json_u64(j, page_figure__of(&page_figures[column],
							    &p->functions[i].stats));
		json_close(j, ']');
	}
	json_close(j, '}');
}
