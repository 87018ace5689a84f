// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One line for each function that was called, over all threads and paths, the dearest by its own
 * time first, or by what else -w says. AVG, the quantiles, MIN and MAX are of single calls, from
 * entry to exit: in recursion each level is a call, so AVG is not TOTAL / CALLS there, as TOTAL
 * counts the outermost alone.
 *
 * Where CALLS is an estimate of the whole run (~), AVG is TOTAL / CALLS if TOTAL is of the whole
 * run as well, by samples, and "-" if not. Quantiles, MIN and MAX are of the calls that were
 * recorded; of dropped functions they are "-" where the probes took more of these than they took
 * themselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "calls/ranking.h"
#include "sink/diffs.h"
#include "sink/listing.h"
#include "sink/sessions.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/text/footer.h"
#include "sink/text/histogram.h"
#include "sink/text/printer.h"
#include "util/text.h"

#define NAME_MAX  40 /* columns of FUNCTION */
#define NAME_MIN  30 /* where a terminal has less room, columns of figures are left out for it */
#define TIME_ROOM 9  /* columns of a time, and the gap before it */

/* Columns that there may be no room for, those that are missed most first. */
enum {
	SHOW_AVG = 1 << 0,
	SHOW_P99 = 1 << 1,
	SHOW_MAX = 1 << 2,
	SHOW_MODULE = 1 << 3,
	SHOW_OTHER_TIME = 1 << 4,
	SHOW_P50 = 1 << 5,
	SHOW_P90 = 1 << 6,
	SHOW_ALL = 2 * SHOW_P90 - 1,
};

static const struct {
	const char *name; /* NULL: printer__other_time() */
	size_t room;
} optional_columns[] = {
	{"AVG", TIME_ROOM}, {"P99", TIME_ROOM}, {"MAX", TIME_ROOM}, {"MODULE", 18},
	{NULL, TIME_ROOM},  {"P50", TIME_ROOM}, {"P90", TIME_ROOM},
};

#define OPTIONAL_COLUMNS (sizeof(optional_columns) / sizeof(*optional_columns))

/* The layout of a table: columns and their widths. */
struct layout {
	uint32_t shown; /* SHOW_ ... */
	struct calls_columns calls;
	size_t name;	   /* columns of FUNCTION */
	enum weight order; /* rows are sorted by it, and shares are of it */
	uint64_t whole;	   /* by that, of all functions */
};

static struct layout layout_of(const struct printer *pr, struct calls_columns calls)
{
	/* CALLS, TOTAL, SELF, SELF%, and a gap */
	size_t used = calls.count + calls.error + 2 * TIME_ROOM + 10;
	struct layout l = {.calls = calls, .order = sink__weight(pr->opts, pr->profile)};

	for (size_t i = 0; i < OPTIONAL_COLUMNS; i++) {
		if (!printer__fits(used + optional_columns[i].room + NAME_MIN, pr->opts->columns))
			break;
		used += optional_columns[i].room;
		l.shown |= 1U << i;
	}
	/* Functions that --min-time hides are part of the whole. */
	for (size_t i = 0; i < pr->profile->functions_cnt; i++)
		l.whole += weigh(&pr->profile->functions[i].stats, l.order);
	l.name = printer__room(pr, used, NAME_MAX, NAME_MIN);
	return l;
}

/* A duration in a column of its own; "-" if it is not known. */
static void print_time(const struct printer *pr, bool known, uint64_t ns, uint64_t error_ns)
{
	char text[32];

	fprintf(pr->out, "  %7s",
		known ? printer__time(pr, ns, error_ns, text, sizeof(text)) : "-");
}

/* Prints the times of a function, all calls together. */
static void print_sums(const struct printer *pr, const struct profile_function *f,
		       const struct layout *l)
{
	const struct call_stats *s = &f->stats;
	const struct row_estimate e = printer__row_estimate(pr, s, f->sampled);

	printer__put_time(pr, weigh_total(s, printer__time_weight(pr)), e.total_error_ns, e.total);
	if (printer__errors(pr))
		print_time(pr, true, e.total_error_ns, 0);
	printer__put_time(pr, weigh(s, printer__time_weight(pr)), s->self_error_ns + e.error_ns,
			  e.self);
	if (printer__errors(pr))
		print_time(pr, true, s->self_error_ns + e.error_ns, 0);
	if (l->shown & SHOW_OTHER_TIME)
		printer__put_time(pr, weigh_total(s, printer__other_time(pr)), e.total_error_ns,
				  e.total);
}

/* Prints a time of single calls; "-" if only some calls were recorded and these tell nothing. */
static void print_single(struct printer *pr, const struct distribution *d, bool known, uint64_t ns,
			 uint64_t error_ns, bool estimate)
{
	pr->partial |= d->part;
	if (!known || (d->part && !d->tells))
		print_time(pr, false, 0, 0);
	else
		printer__put_time(pr, ns, error_ns, estimate && ns > error_ns);
}

/* Prints times of single calls: each is as uncertain as a call's time on average. */
static void print_single_calls(struct printer *pr, const struct profile_function *f,
			       const struct layout *l)
{
	static const struct {
		uint32_t column;
		double share;
	} quantiles[] = {{SHOW_P50, 0.5}, {SHOW_P90, 0.9}, {SHOW_P99, 0.99}};
	const struct profile *p = pr->profile;
	const struct distribution d = distribution__of(p, f - p->functions);
	const struct call_stats *s = &f->stats;
	/* Errors are of the calls that were recorded. */
	uint64_t recorded = d.part ? d.calls : s->calls, ns;
	uint64_t error_ns = recorded ? s->error_ns / recorded : 0;
	bool finished = s->min_ns != UINT64_MAX;

	if (l->shown & SHOW_AVG) {
		bool known = distribution__average(&d, f, error_ns, &ns);

		if (known && s->burst_calls)
			printer__put_time(pr, ns, 0, true);
		else
			print_time(pr, known, ns, error_ns);
	}
	if (pr->opts->verbose)
		print_single(pr, &d, finished, distribution__shortest(&d, s->min_ns), error_ns,
			     s->burst_calls || (pr->opts->interval &&
						distribution__is_shortest_bound(&d, s->min_ns)));
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
		if (l->shown & quantiles[i].column)
			print_single(pr, &d, d.calls,
				     distribution__quantile(&d, quantiles[i].share, s->min_ns,
							    s->max_ns),
				     error_ns, s->burst_calls);
	}
	if (l->shown & SHOW_MAX)
		print_single(pr, &d, finished, distribution__longest(&d, s->max_ns), error_ns,
			     s->burst_calls || (pr->opts->interval &&
						distribution__is_longest_bound(&d, s->max_ns)));
}

static void print_numbers(struct printer *pr, const struct profile_function *f,
			  const struct layout *l)
{
	char share[32];

	printer__put_calls(pr, &l->calls, &f->stats, f->sampled);
	if (printer__calls_errors(pr))
		printer__put_calls_error(pr, &f->stats);
	print_sums(pr, f, l);
	print_single_calls(pr, f, l);
	fprintf(pr->out, "  %6s  ",
		printer__share(weigh(&f->stats, l->order), l->whole, share, sizeof(share)));
}

static int print_module(struct printer *pr, const struct profile_function *f, size_t gap)
{
	size_t columns = pr->opts->columns ? optional_columns[3].room - 2 : NAME_MAX;
	int name;

	fprintf(pr->out, "%*s%s", (int)gap, "", printer__style(pr, STYLE_DIM));
	name = printer__name(pr, path_base(f->module ? f->module : ""), columns);
	fputs(printer__style(pr, STYLE_PLAIN), pr->out);
	return name;
}

static int print_row(struct printer *pr, const struct profile_function *f, const struct layout *l)
{
	bool hot = printer__hot(weigh(&f->stats, l->order), l->whole);
	int name;

	fputs(hot ? "" : printer__style(pr, STYLE_DIM), pr->out);
	print_numbers(pr, f, l);
	fputs(hot ? printer__style(pr, STYLE_BOLD) : printer__style(pr, STYLE_PLAIN), pr->out);
	name = printer__row_function(pr, f, l->name);
	if (name < 0)
		return name;
	fputs(hot ? printer__style(pr, STYLE_PLAIN) : "", pr->out);
	if (l->shown & SHOW_MODULE)
		name = print_module(pr, f, (size_t)name < l->name ? l->name - name + 2 : 2);
	if (name >= 0)
		name = printer__place(pr, f);
	fputc('\n', pr->out);
	return name < 0 ? name : 0;
}

/* The heading of a column of times, or of their errors, if that is shown. */
static void print_time_heading(const struct printer *pr, const char *name, bool shown)
{
	if (shown)
		fprintf(pr->out, "%*s", TIME_ROOM, name);
}

static const char *share_name(const struct printer *pr, enum weight order)
{
	if (order == WEIGHT_CALLS)
		return "CALLS%";
	return order == printer__time_weight(pr) ? "SELF%" : "CPU%";
}

static void print_heading(const struct printer *pr, const struct layout *l)
{
	bool errors = printer__errors(pr);

	fprintf(pr->out, "%s%*s%*s", printer__style(pr, STYLE_DIM), (int)l->calls.count, "CALLS",
		(int)l->calls.error, "");
	print_time_heading(pr, "+/-", printer__calls_errors(pr));
	print_time_heading(pr, printer__time_name(printer__time_weight(pr)), true);
	print_time_heading(pr, "+/-", errors);
	print_time_heading(pr, "SELF", true);
	print_time_heading(pr, "+/-", errors);
	print_time_heading(pr, printer__time_name(printer__other_time(pr)),
			   l->shown & SHOW_OTHER_TIME);
	print_time_heading(pr, "AVG", l->shown & SHOW_AVG);
	print_time_heading(pr, "MIN", pr->opts->verbose);
	print_time_heading(pr, "P50", l->shown & SHOW_P50);
	print_time_heading(pr, "P90", l->shown & SHOW_P90);
	print_time_heading(pr, "P99", l->shown & SHOW_P99);
	print_time_heading(pr, "MAX", l->shown & SHOW_MAX);
	fprintf(pr->out, "  %6s  ", share_name(pr, l->order));
	if (l->shown & SHOW_MODULE)
		fprintf(pr->out, "%-*s  MODULE", (int)l->name, "FUNCTION");
	else
		fputs("FUNCTION", pr->out);
	fprintf(pr->out, "%s\n", printer__style(pr, STYLE_PLAIN));
}

/* Prints the names of columns for which there was no room. */
static void print_left_out(const struct printer *pr, const struct layout *l)
{
	const char *between = "";

	if (l->shown == SHOW_ALL)
		return;
	fprintf(pr->out, "%snot shown in %zu columns: ", printer__style(pr, STYLE_DIM),
		pr->opts->columns);
	for (size_t i = 0; i < OPTIONAL_COLUMNS; i++) {
		if (l->shown & 1U << i)
			continue;
		fprintf(pr->out, "%s%s", between,
			optional_columns[i].name ? optional_columns[i].name
						 : printer__time_name(printer__other_time(pr)));
		between = ", ";
	}
	fprintf(pr->out, " (-v shows all)%s\n", printer__style(pr, STYLE_PLAIN));
}

static int print_rows(struct printer *pr, const struct profile_function *const *rows, size_t cnt)
{
	struct calls_columns calls = printer__calls_columns(pr);
	struct layout l;
	int err = 0;
	size_t i;

	for (i = 0; i < cnt; i++)
		printer__fit_calls(pr, &calls, &rows[i]->stats, rows[i]->sampled);
	l = layout_of(pr, calls);
	print_heading(pr, &l);
	for (i = 0; i < cnt && !err && !ferror(pr->out); i++)
		err = print_row(pr, rows[i], &l);
	print_left_out(pr, &l);
	fputc('\n', pr->out);
	return err;
}

static int write_flat(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct printer pr = {.profile = p, .opts = opts, .out = out};
	const struct profile_function **rows;
	size_t cnt;
	int err = profile__rank(p, sink__weight(opts, p), &rows, &cnt);

	if (err)
		return err;
	pr.listing = listing__new(p);
	if (!pr.listing) {
		free(rows);
		return -ENOMEM;
	}
	stream__begin();
	printer__interval(&pr);
	err = sessions_text__headlines(&pr, p);
	if (!err && cnt)
		err = print_rows(&pr, rows, cnt);
	if (!err && cnt)
		err = histogram__print(&pr);
	if (!err)
		err = sessions_text__print(&pr, p);
	if (!err)
		err = footer__print(&pr, !cnt);
	printer__fini(&pr);
	free(rows);
	return err ? err : stream__end(out);
}

const struct sink sink_flat = {
	.name = "flat",
	.help = "one line a function",
	.accounts = true,
	.weighs = true,
	.names_only = true,
	.shows_sessions = true,
	.write = write_flat,
	.write_diff = diff_text__write_functions,
};
