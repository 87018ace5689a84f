// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One line for each function that was called, over all threads and paths, the dearest by its own
 * time first. AVG, MIN and MAX are of single calls, from entry to exit: in recursion each level
 * is a call, so AVG is not TOTAL / CALLS there, as TOTAL counts the outermost alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/printer.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/text.h"

#define CALLS_MIN 9  /* columns of CALLS: "1,234,567" */
#define NAME_MAX  40 /* columns of FUNCTION */

struct flat_row {
	const struct profile_function *function;
	uint64_t spent_ns; /* by all calls, also those inside another of the same function */
};

static int compare_rows(const void *a, const void *b)
{
	const struct profile_function *x = ((const struct flat_row *)a)->function;
	const struct profile_function *y = ((const struct flat_row *)b)->function;
	int order;

	if (x->stats.self_ns != y->stats.self_ns)
		return x->stats.self_ns > y->stats.self_ns ? -1 : 1;
	if (x->stats.total_ns != y->stats.total_ns)
		return x->stats.total_ns > y->stats.total_ns ? -1 : 1;
	if (x->stats.calls != y->stats.calls)
		return x->stats.calls > y->stats.calls ? -1 : 1;
	order = strcmp(x->name ? x->name : "", y->name ? y->name : "");
	return order ? order : x < y ? -1 : 1;
}

/* Sets rows[] to the functions seen, sorted. Returns how many there are. */
static size_t collect_rows(const struct profile *p, struct flat_row *rows)
{
	size_t i, cnt = 0;

	for (i = 1; i < p->nodes_cnt; i++)
		rows[p->nodes[i].function].spent_ns += p->nodes[i].stats.total_ns;
	for (i = 0; i < p->functions_cnt; i++) {
		const struct call_stats *s = &p->functions[i].stats;

		if (!s->calls && !s->total_ns)
			continue;
		rows[cnt].function = &p->functions[i];
		rows[cnt++].spent_ns = rows[i].spent_ns;
	}
	qsort(rows, cnt, sizeof(*rows), compare_rows);
	return cnt;
}

/* A duration that is not known if `known` is false. */
static const char *maybe_duration(bool known, uint64_t ns, char *buf, size_t size)
{
	return known ? text_duration(ns, buf, size) : "-";
}

static void print_numbers(struct printer *pr, const struct flat_row *row, uint64_t whole,
			  size_t width)
{
	const struct call_stats *s = &row->function->stats;
	bool finished = s->min_ns != UINT64_MAX;
	char calls[32], total[32], self[32], avg[32], min[32], max[32], share[32];

	fprintf(pr->out, "%*s  %7s  %7s  %7s  %7s  %7s  %6s  ", (int)width,
		text_count(s->calls, calls, sizeof(calls)),
		text_duration(s->total_ns, total, sizeof(total)),
		text_duration(s->self_ns, self, sizeof(self)),
		maybe_duration(s->calls, s->calls ? row->spent_ns / s->calls : 0, avg, sizeof(avg)),
		maybe_duration(finished, s->min_ns, min, sizeof(min)),
		maybe_duration(finished, s->max_ns, max, sizeof(max)),
		printer__share(s->self_ns, whole, share, sizeof(share)));
}

static int print_row(struct printer *pr, const struct flat_row *row, uint64_t whole, size_t width)
{
	const struct profile_function *f = row->function;
	bool hot = printer__hot(f->stats.self_ns, whole);
	const char *module = f->module ? f->module : "", *slash = strrchr(module, '/');
	int name;

	fputs(hot ? "" : printer__style(pr, STYLE_DIM), pr->out);
	print_numbers(pr, row, whole, width);
	fputs(hot ? printer__style(pr, STYLE_BOLD) : printer__style(pr, STYLE_PLAIN), pr->out);
	name = printer__name(pr, f->name, NAME_MAX);
	if (name < 0)
		return name;
	fputs(hot ? printer__style(pr, STYLE_PLAIN) : "", pr->out);
	fprintf(pr->out, "%*s%s", name < NAME_MAX ? NAME_MAX - name + 2 : 2, "",
		printer__style(pr, STYLE_DIM));
	name = printer__name(pr, slash ? slash + 1 : module, NAME_MAX);
	fprintf(pr->out, "%s\n", printer__style(pr, STYLE_PLAIN));
	return name < 0 ? name : 0;
}

static int print_rows(struct printer *pr, const struct flat_row *rows, size_t cnt)
{
	size_t i, len, width = CALLS_MIN;
	uint64_t whole = 0;
	char calls[32];
	int err = 0;

	for (i = 0; i < cnt; i++) {
		len = strlen(text_count(rows[i].function->stats.calls, calls, sizeof(calls)));
		if (len > width)
			width = len;
		whole += rows[i].function->stats.self_ns;
	}
	fprintf(pr->out, "%s%*s  %7s  %7s  %7s  %7s  %7s  %6s  %-*s  MODULE%s\n",
		printer__style(pr, STYLE_DIM), (int)width, "CALLS", "TOTAL", "SELF", "AVG", "MIN",
		"MAX", "SELF%", NAME_MAX, "FUNCTION", printer__style(pr, STYLE_PLAIN));
	for (i = 0; i < cnt && !err && !ferror(pr->out); i++)
		err = print_row(pr, &rows[i], whole, width);
	fputc('\n', pr->out);
	return err;
}

static int write_flat(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct printer pr = {.profile = p, .opts = opts, .out = out};
	struct flat_row *rows;
	size_t cnt;
	int err = 0;

	rows = calloc(p->functions_cnt + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	cnt = collect_rows(p, rows);
	stream__begin();
	printer__interval(&pr);
	if (cnt)
		err = print_rows(&pr, rows, cnt);
	if (!err)
		err = printer__footer(&pr, !cnt);
	printer__fini(&pr);
	free(rows);
	return err ? err : stream__end(out);
}

const struct sink sink_flat = {
	.name = "flat",
	.help = "one line a function",
	.write = write_flat,
};
