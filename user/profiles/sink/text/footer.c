// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/footer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/accounts.h"
#include "sink/sink.h"
#include "sink/text/cpu_shares.h"
#include "sink/text/printer.h"
#include "util/text.h"
#include "views/drops.h"
#include "views/wait_times.h"

#define EMPTY_NAMES_MAX 5  /* probed functions an empty report names */
#define DROPS_MAX	10 /* dropped functions a report names */
#define DROP_NAME_MAX	40 /* columns of FUNCTION */
#define DROP_NAME_MIN	30
#define DROP_FIGURES	47 /* columns before it */
#define FILTER_DROPS	5  /* dropped functions that a terminal names */
#define WAITS_MAX	5  /* reasons of waits */
#define WAITS_SHARE	1  /* percent of all threads' time; reasons of less are not told */

static int print_probed_names(struct printer *pr)
{
	const struct profile *p = pr->profile;
	size_t i, cnt = 0, most, named = 0;
	char more[32];

	for (i = 0; i < p->functions_cnt; i++)
		cnt += !function_kind__of_stacks(p->functions[i].kind);
	if (!cnt)
		return 0;
	most = cnt > EMPTY_NAMES_MAX ? EMPTY_NAMES_MAX - 1 : cnt;
	fputs("  probed: ", pr->out);
	for (i = 0; named < most; i++) {
		int width;

		if (function_kind__of_stacks(p->functions[i].kind))
			continue;
		fputs(named++ ? ", " : "", pr->out);
		width = printer__function(pr, &p->functions[i], 40);
		if (width < 0)
			return width;
	}
	if (named < cnt)
		fprintf(pr->out, " and %s more", text_count(cnt - named, more, sizeof(more)));
	fputc('\n', pr->out);
	return 0;
}

static int print_empty(struct printer *pr)
{
	const struct profile *p = pr->profile;
	char duration[32], probed[32];
	int err;

	text_duration(p->duration_ns, duration, sizeof(duration));
	text_count(p->probes.functions, probed, sizeof(probed));
	fprintf(pr->out, "%sno calls were seen%s in %s: %s function%s probed\n",
		printer__style(pr, STYLE_BOLD), printer__style(pr, STYLE_PLAIN), duration, probed,
		p->probes.functions == 1 ? " was" : "s were");
	/* Intervals without calls are normal: no advice. Why nothing was probed has been said. */
	if (pr->opts->interval || !p->probes.functions)
		return 0;
	err = print_probed_names(pr);
	if (err)
		return err;
	fputs("  Was the process busy in that time? A function that the compiler has inlined is\n"
	      "  never called, and one that began earlier is seen at its next call only.\n",
	      pr->out);
	return 0;
}

static void print_probes(struct printer *pr)
{
	const struct profile *p = pr->profile;
	char duration[32], called[32], probed[32], skipped[32], paused[32];
	size_t i, called_cnt = 0;

	for (i = 0; i < p->functions_cnt; i++)
		called_cnt += p->functions[i].stats.calls > 0;
	/* With --by a function may be many. */
	called_cnt = called_cnt < p->probes.functions ? called_cnt : p->probes.functions;
	fputs(text_duration(p->duration_ns, duration, sizeof(duration)), pr->out);
	if (p->paused_ns)
		fprintf(pr->out, " (%s of it switched off)",
			text_duration(p->paused_ns, paused, sizeof(paused)));
	fprintf(pr->out, ", %s of %s probed functions called",
		text_count(called_cnt, called, sizeof(called)),
		text_count(p->probes.functions, probed, sizeof(probed)));
	if (p->probes.skipped_cnt)
		fprintf(pr->out, ", %s not probed (-l tells why)",
			text_count(p->probes.skipped_cnt, skipped, sizeof(skipped)));
	fputc('\n', pr->out);
}

/* With --callers: of how many calls all callers are known, and why not of the others. */
static void print_callers(struct printer *pr)
{
	const struct profile_accounting *a = &pr->profile->accounting;
	const struct {
		uint64_t cnt;
		const char *why;
	} cut[] = {
		{a->callers_no_rule, "no unwind rule"},
		{a->callers_unreadable, "stack not readable"},
		{a->callers_astray, "no return address"},
		{a->callers_deep, "too deep"},
		{a->callers_lost, "no room"},
	};
	uint64_t calls = a->callers_whole;
	char cnt[32];

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		calls += cut[i].cnt;
	if (!calls)
		return;
	fprintf(pr->out, "callers: all known of %s call%s",
		text_count(a->callers_whole, cnt, sizeof(cnt)), a->callers_whole == 1 ? "" : "s");
	fprintf(pr->out, " (%.1f%%)", 100.0 * (double)a->callers_whole / (double)calls);
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		if (cut[i].cnt)
			fprintf(pr->out, ", %s: %s", cut[i].why,
				text_count(cut[i].cnt, cnt, sizeof(cnt)));
	fputc('\n', pr->out);
}

/* Prints the reasons why figures are less than they should be. */
static void print_warnings(struct printer *pr)
{
	const struct profile_accounting *a = &pr->profile->accounting;
	char cnt[32];

	if (a->lost)
		fprintf(pr->out,
			"%swarning: %s call%s not recorded because a table was full: "
			"counts and times are too low%s\n",
			printer__style(pr, STYLE_WARN), text_count(a->lost, cnt, sizeof(cnt)),
			a->lost == 1 ? " was" : "s were", printer__style(pr, STYLE_PLAIN));
	if (a->undistributed)
		fprintf(pr->out,
			"%swarning: %s call%s not in the distributions because a table was "
			"full%s\n",
			printer__style(pr, STYLE_WARN),
			text_count(a->undistributed, cnt, sizeof(cnt)),
			a->undistributed == 1 ? " is" : "s are", printer__style(pr, STYLE_PLAIN));
}

static int compare_drops(const void *a, const void *b)
{
	const struct profile_drop *x = *(const struct profile_drop *const *)a;
	const struct profile_drop *y = *(const struct profile_drop *const *)b;

	if (x->cost_percent != y->cost_percent)
		return x->cost_percent > y->cost_percent ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* When it was dropped: "1.25 s", or by the survey. */
static const char *drop_time(const struct profile_drop *d, char buf[32])
{
	return d->at_ns ? text_duration(d->at_ns, buf, 32) : "start";
}

static int print_drop(struct printer *pr, const struct profile_drop *d)
{
	char at[32], rate[32], cost[32], cnt[24], kept[48] = "none";
	double per_second = d->calls_per_second;
	int name;

	if (d->sampled)
		snprintf(kept, sizeof(kept), "1 in %s", text_count(d->sampled, cnt, sizeof(cnt)));
	fprintf(pr->out, "  %8s  %12s  %7s  %-10s  ", drop_time(d, at),
		text_count(per_second > 0 && per_second < 1e18 ? (uint64_t)per_second : 0, rate,
			   sizeof(rate)),
		text_percent(d->cost_percent, cost, sizeof(cost)), kept);
	name = printer__function(pr, &pr->profile->functions[d->function],
				 printer__room(pr, DROP_FIGURES, DROP_NAME_MAX, DROP_NAME_MIN));
	if (name < 0)
		return name;
	if (pr->opts->verbose && d->reason) {
		fputs("  ", pr->out);
		name = printer__name(pr, d->reason, DROP_NAME_MAX);
	}
	fputc('\n', pr->out);
	return name < 0 ? name : 0;
}

/* A table, as long as whoever reads it from a file may want. */
static int list_drops(struct printer *pr, const struct profile_drop *const *sorted, size_t cnt)
{
	size_t i, all = cnt;
	char text[32];
	int err = 0;

	fprintf(pr->out, "%s%s function%s dropped to keep to the budget; exact until then:\n",
		printer__style(pr, STYLE_WARN), text_count(cnt, text, sizeof(text)),
		cnt == 1 ? " was" : "s were");
	fprintf(pr->out, "%s%s  %8s  %12s  %7s  %-10s  FUNCTION\n%s",
		printer__style(pr, STYLE_PLAIN), printer__style(pr, STYLE_DIM), "AFTER", "CALLS/S",
		"COST", "KEPT", printer__style(pr, STYLE_PLAIN));
	if (cnt > DROPS_MAX && !pr->opts->verbose)
		cnt = DROPS_MAX;
	for (i = 0; i < cnt && !err; i++)
		err = print_drop(pr, sorted[i]);
	if (cnt < all)
		fprintf(pr->out, "  … and %s more (-f json lists them)\n",
			text_count(all - cnt, text, sizeof(text)));
	return err;
}

/* Prints the number of dropped functions only: their times are known from samples. */
static void count_drops(struct printer *pr, size_t cnt)
{
	char text[32];

	fprintf(pr->out, "%s%s function%s dropped to keep to the budget (-v lists them)%s\n",
		printer__style(pr, STYLE_WARN), text_count(cnt, text, sizeof(text)),
		cnt == 1 ? " was" : "s were", printer__style(pr, STYLE_PLAIN));
}

/* On a terminal what comes last is what is seen: a few names, not a table that pushes the answer
 * off the screen. */
static int name_drops(struct printer *pr, const struct profile_drop *const *sorted, size_t cnt)
{
	char text[32], at[32];
	int err = 0;

	fprintf(pr->out,
		"%s%s function%s dropped to keep to the budget: ", printer__style(pr, STYLE_WARN),
		text_count(cnt, text, sizeof(text)), cnt == 1 ? " was" : "s were");
	for (size_t i = 0; i < cnt && i < FILTER_DROPS && err >= 0; i++) {
		fputs(i ? ", " : "", pr->out);
		err = printer__function(pr, &pr->profile->functions[sorted[i]->function],
					DROP_NAME_MIN);
		fprintf(pr->out, sorted[i]->at_ns ? " (after %s)" : " (before the %s)",
			drop_time(sorted[i], at));
	}
	fprintf(pr->out, "%s%s\n", cnt > FILTER_DROPS ? ", … (-v lists them)" : "",
		printer__style(pr, STYLE_PLAIN));
	return err < 0 ? err : 0;
}

/* Drops of functions that are still dropped, and how many functions have come back. */
struct drops {
	const struct profile_drop **items;
	size_t cnt, back;
};

static int sort_drops(const struct profile *p, struct drops *d)
{
	bool *last = drops__last(p);

	d->items = calloc(p->drops_cnt + 1, sizeof(*d->items));
	for (size_t i = 0; last && d->items && i < p->drops_cnt; i++) {
		if (!p->drops[i].back_ns)
			d->items[d->cnt++] = &p->drops[i];
		else
			d->back += last[i];
	}
	if (d->cnt)
		qsort(d->items, d->cnt, sizeof(*d->items), compare_drops);
	free(last);
	return last && d->items ? 0 : -ENOMEM;
}

static void explain_mark(struct printer *pr, const struct drops *d)
{
	const struct profile *p = pr->profile;
	const char *then = d->back ? "while it was not" : "until then";

	fputs("*: dropped to keep to the budget: ", pr->out);
	if (p->accounting.bursts)
		fprintf(pr->out, "calls with ~ are of all the run, others %s", then);
	else
		fprintf(pr->out, "calls%s are those %s", p->sample_period_ns ? "" : " and times",
			then);
	if (p->sample_period_ns)
		fputs("; times are of all the run, then by samples\n", pr->out);
	else
		fprintf(pr->out, "%s what followed is its callers'\n",
			p->accounting.bursts ? "; times are not: of" : ";");
	if (pr->partial)
		fputs("   P50 to MAX are of the calls that were recorded, - where the probes took "
		      "more of these than they did\n",
		      pr->out);
}

/* The dearest first. */
static int print_drops(struct printer *pr)
{
	const struct profile *p = pr->profile;
	struct drops d = {0};
	char text[32];
	int err;

	if (!p->drops_cnt)
		return 0;
	err = sort_drops(p, &d);
	if (!err && pr->marked)
		explain_mark(pr, &d);
	if (!err && d.cnt && pr->opts->columns && p->sample_period_ns)
		count_drops(pr, d.cnt);
	else if (!err && d.cnt)
		err = pr->opts->columns ? name_drops(pr, d.items, d.cnt)
					: list_drops(pr, d.items, d.cnt);
	if (!err && d.back)
		fprintf(pr->out,
			"%s function%s dropped for a while and %s exact again (-f json has the "
			"times)\n",
			text_count(d.back, text, sizeof(text)), d.back == 1 ? " was" : "s were",
			d.back == 1 ? "is" : "are");
	free(d.items);
	return err;
}

/* Shares of the time of all threads: "32.4% on a CPU, 44.0% [poll]". On a machine that is too busy
 * [cpu] comes first, which is the answer then, whatever the tree says. */
static void print_waits(struct printer *pr)
{
	const struct profile *p = pr->profile;
	/* Times of threads are without the probes' cost, unless that was left in. */
	const bool left_in = pr->opts->raw || p->cost_unknown;
	const uint64_t cpu_ns = left_in ? p->accounting.cpu_ns : accounting__own_ns(&p->accounting);
	struct wait_times t;
	char percent[32];
	double whole;

	wait_times__sum(p, &t);
	whole = (double)t.threads_ns / 100;
	if (!t.cnt || !(whole > 0))
		return;
	fprintf(pr->out, "time of all threads: %s on a CPU",
		text_percent((double)cpu_ns / whole, percent, sizeof(percent)));
	for (size_t i = 0; i < t.cnt && i < WAITS_MAX; i++) {
		if ((double)t.items[i].ns < WAITS_SHARE * whole)
			break;
		fprintf(pr->out, ", %s %s%s",
			text_percent((double)t.items[i].ns / whole, percent, sizeof(percent)),
			t.items[i].reason,
			strcmp(t.items[i].reason, "[cpu]") ? ""
							   : " (ready, but others had the CPUs)");
	}
	fputc('\n', pr->out);
}

static int print_summary(struct printer *pr)
{
	char line[ACCOUNTS_LINE];
	int err;

	fprintf(pr->out, "%s%s\n", printer__style(pr, STYLE_DIM),
		accounts__calls(pr->profile, line, sizeof(line)));
	if (*accounts__cost(pr->profile, pr->opts->raw, line, sizeof(line)))
		fprintf(pr->out, "%s\n", line);
	if (*accounts__held(pr->profile, line, sizeof(line)))
		fprintf(pr->out, "%s\n", line);
	print_probes(pr);
	print_callers(pr);
	if (*accounts__single_calls(pr->profile, line, sizeof(line)))
		fprintf(pr->out, "%s\n", line);
	if (*accounts__estimates(pr->profile, line, sizeof(line)))
		fprintf(pr->out, "~: %s\n", line);
	print_waits(pr);
	err = pr->waits_alone ? 0 : cpu_shares__print_processes(pr);
	if (!err)
		err = cpu_shares__print(pr);
	fputs(printer__style(pr, STYLE_PLAIN), pr->out);
	if (err)
		return err;
	print_warnings(pr);
	return print_drops(pr);
}

int footer__print(struct printer *pr, bool empty)
{
	const struct profile_accounting *a = &pr->profile->accounting;
	bool silent = !a->entered && !a->samples_taken && !a->lost && !a->dropped;
	FILE *table;
	int err = printer__begin_prose(pr, &table);

	if (err)
		return err;
	if (!empty || !silent)
		err = print_summary(pr);
	else
		err = print_empty(pr);
	/* Functions that the survey before the start has dropped may have been called. */
	if (!err && empty && silent)
		err = print_drops(pr);
	err = printer__end_prose(pr, table, err);
	if (pr->opts->interval)
		fputc('\n', pr->out); /* the next one follows */
	return err;
}
