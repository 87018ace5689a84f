// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One line for each function that was called, over all threads and paths, the dearest by its own
 * time first. AVG, the quantiles, MIN and MAX are of single calls, from entry to exit: in recursion
 * each level is a call, so AVG is not TOTAL / CALLS there, as TOTAL counts the outermost alone.
 */
#include <stdlib.h>
#include <string.h>

#include "calls/distribution.h"
#include "calls/profile.h"
#include "calls/ranking.h"
#include "sink/diffs.h"
#include "sink/footer.h"
#include "sink/histogram.h"
#include "sink/printer.h"
#include "sink/sessions.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/path.h"

#define CALLS_MIN 9  /* columns of CALLS: "1,234,567" */
#define NAME_MAX  40 /* columns of FUNCTION */

/* A duration in a column of its own; "-" if it is not known. */
static void print_time(const struct printer *pr, bool known, uint64_t ns, uint64_t error_ns)
{
	char text[32];

	fprintf(pr->out, "  %7s",
		known ? printer__time(pr, ns, error_ns, text, sizeof(text)) : "-");
}

/* What the function took, all calls together. */
static void print_sums(const struct printer *pr, const struct call_stats *s)
{
	print_time(pr, true, s->total_ns, s->error_ns);
	if (printer__errors(pr))
		print_time(pr, true, s->error_ns, 0);
	print_time(pr, true, s->self_ns, s->self_error_ns);
	if (printer__errors(pr))
		print_time(pr, true, s->self_error_ns, 0);
	print_time(pr, true, stats__cpu_ns(s), s->error_ns);
}

/* What single calls took: what a call's own time is uncertain by, each of these is. */
static void print_single_calls(const struct printer *pr, const struct profile_function *f)
{
	static const double quantiles[] = {0.5, 0.9, 0.99};
	const struct profile *p = pr->profile;
	const struct distribution d = distribution__of(p, f - p->functions);
	const struct call_stats *s = &f->stats;
	uint64_t error_ns = s->calls ? s->self_error_ns / s->calls : 0;
	bool finished = s->min_ns != UINT64_MAX;

	print_time(pr, s->calls, s->calls ? f->spent_ns / s->calls : 0, error_ns);
	if (pr->opts->verbose)
		print_time(pr, finished, s->min_ns, error_ns);
	for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++)
		print_time(pr, d.calls,
			   distribution__quantile(&d, quantiles[i], s->min_ns, s->max_ns),
			   error_ns);
	print_time(pr, finished, s->max_ns, error_ns);
}

static void print_numbers(const struct printer *pr, const struct profile_function *f,
			  uint64_t whole, size_t width)
{
	char calls[32], share[32];

	fprintf(pr->out, "%*s", (int)width,
		printer__calls(f->stats.calls, f->sampled, calls, sizeof(calls)));
	print_sums(pr, &f->stats);
	print_single_calls(pr, f);
	fprintf(pr->out, "  %6s  ", printer__share(f->stats.self_ns, whole, share, sizeof(share)));
}

static int print_row(struct printer *pr, const struct profile_function *f, uint64_t whole,
		     size_t width)
{
	bool hot = printer__hot(f->stats.self_ns, whole);
	int name;

	fputs(hot ? "" : printer__style(pr, STYLE_DIM), pr->out);
	print_numbers(pr, f, whole, width);
	fputs(hot ? printer__style(pr, STYLE_BOLD) : printer__style(pr, STYLE_PLAIN), pr->out);
	name = printer__function(pr, f, NAME_MAX);
	if (name < 0)
		return name;
	fputs(hot ? printer__style(pr, STYLE_PLAIN) : "", pr->out);
	fprintf(pr->out, "%*s%s", name < NAME_MAX ? NAME_MAX - name + 2 : 2, "",
		printer__style(pr, STYLE_DIM));
	name = printer__name(pr, path_base(f->module ? f->module : ""), NAME_MAX);
	fputs(printer__style(pr, STYLE_PLAIN), pr->out);
	if (name >= 0)
		name = printer__place(pr, f);
	fputc('\n', pr->out);
	return name < 0 ? name : 0;
}

static void print_heading(const struct printer *pr, size_t width)
{
	bool errors = printer__errors(pr);

	fprintf(pr->out, "%s%*s  %7s", printer__style(pr, STYLE_DIM), (int)width, "CALLS", "TOTAL");
	fprintf(pr->out, "%s  %7s%s  %7s", errors ? "      +/-" : "", "SELF",
		errors ? "      +/-" : "", "CPU");
	fprintf(pr->out, "  %7s%s  %7s  %7s  %7s  %7s", "AVG", pr->opts->verbose ? "      MIN" : "",
		"P50", "P90", "P99", "MAX");
	fprintf(pr->out, "  %6s  %-*s  MODULE%s\n", "SELF%", NAME_MAX, "FUNCTION",
		printer__style(pr, STYLE_PLAIN));
}

static int print_rows(struct printer *pr, const struct profile_function *const *rows, size_t cnt)
{
	size_t i, len, width = CALLS_MIN;
	uint64_t whole = 0;
	char calls[32];
	int err = 0;

	for (i = 0; i < cnt; i++) {
		len = strlen(printer__calls(rows[i]->stats.calls, rows[i]->sampled, calls,
					    sizeof(calls)));
		if (len > width)
			width = len;
	}
	/* What --min-time hides is part of the whole. */
	for (i = 0; i < pr->profile->functions_cnt; i++)
		whole += pr->profile->functions[i].stats.self_ns;
	print_heading(pr, width);
	for (i = 0; i < cnt && !err && !ferror(pr->out); i++)
		err = print_row(pr, rows[i], whole, width);
	fputc('\n', pr->out);
	return err;
}

static int write_flat(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct printer pr = {.profile = p, .opts = opts, .out = out};
	const struct profile_function **rows;
	size_t cnt;
	int err = profile__rank(p, &rows, &cnt);

	if (err)
		return err;
	stream__begin();
	printer__interval(&pr);
	if (cnt)
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
	.shows_sessions = true,
	.write = write_flat,
	.write_diff = diff_text__write_functions,
};
