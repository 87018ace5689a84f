// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A comparison for people. First what came of it, in one sentence, then what was compared, then
 * where time went: functions and paths by
 * how much their own time has changed, as that adds up and points at the place. Counts of calls
 * stand apart: they are exact, and tell of behaviour, not of speed. Noise is counted, and listed
 * with -v.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "diff/diff.h"
#include "sink/diffs.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/text/diff_table.h"
#include "sink/text/printer.h"
#include "util/text.h"

#define ROWS_MAX       20 /* -v has no limit */
#define CALLS_ROWS_MAX 10
#define NAME_COLUMNS   40
#define NAMED_MAX      5 /* functions left out that are named */
#define TARGET_COLUMNS 60

static const char *style(const struct diff_table *t, const char *s)
{
	return printer__style(&t->pr, s);
}

static const char *plural(uint64_t cnt)
{
	return cnt == 1 ? "" : "s";
}

static int print_run(struct diff_table *t, const char *name, const struct diff_run *run)
{
	const struct profile *p = run->profile;
	const struct profile_accounting *a = &p->accounting;
	char clock[32] = "?", text[32], target[256];
	time_t start = 0;
	struct tm tm;
	int err;

	if (p->start_time > 0 && p->start_time < 1e11)
		start = (time_t)p->start_time;
	if (start && localtime_r(&start, &tm))
		strftime(clock, sizeof(clock), "%F %T", &tm);
	fprintf(t->pr.out, "%s%s%s  ", style(t, STYLE_BOLD), name, style(t, STYLE_PLAIN));
	err = printer__name(&t->pr, run->file, TARGET_COLUMNS);
	if (err < 0)
		return err;
	if (run->number)
		fprintf(t->pr.out, " (run %zu, %s)  ", run->number, clock);
	else
		fprintf(t->pr.out, " (from %s on)  ", clock);
	err = printer__name(&t->pr, target__name(&p->target, target, sizeof(target)),
			    TARGET_COLUMNS);
	if (err < 0)
		return err;
	fprintf(t->pr.out, "\n     %s, ", text_duration(p->duration_ns, text, sizeof(text)));
	if (a->cpu_ns)
		fprintf(t->pr.out, "%s of CPU time, ",
			text_duration(accounting__own_ns(a), text, sizeof(text)));
	fprintf(t->pr.out, "%s call%s\n", text_count(a->entered, text, sizeof(text)),
		plural(a->entered));
	if (a->lost)
		fprintf(t->pr.out,
			"     %swarning: %s call%s not recorded because a table was full: counts "
			"and times are too low%s\n",
			style(t, STYLE_WARN), text_count(a->lost, text, sizeof(text)),
			a->lost == 1 ? " was" : "s were", style(t, STYLE_PLAIN));
	return 0;
}

static int print_left_out(struct diff_table *t)
{
	const struct diff *d = t->d;
	size_t end = d->left_out_cnt;
	char cnt[32];
	int err = 0;

	if (!end)
		return 0;
	fprintf(t->pr.out,
		"%s%s function%s not traced all of the time in both runs, and part of %s callers "
		"here: ",
		style(t, STYLE_WARN), text_count(end, cnt, sizeof(cnt)),
		end == 1 ? " was" : "s were", end == 1 ? "its" : "their");
	if (end > NAMED_MAX && !t->pr.opts->verbose)
		end = NAMED_MAX;
	for (size_t i = 0; i < end && err >= 0; i++) {
		const struct diff_left_out *l = &d->left_out[i];

		fputs(i ? ", " : "", t->pr.out);
		err = printer__function(&t->pr, &d->both->functions[l->function], NAME_COLUMNS);
		for (int run = 0; run < DIFF_RUNS && t->pr.opts->verbose; run++) {
			if (l->reason[run])
				fprintf(t->pr.out, " (%s in the %s run)", l->reason[run],
					run == DIFF_OLD ? "old" : "new");
		}
	}
	fprintf(t->pr.out, "%s%s\n", end < d->left_out_cnt ? ", … (-v lists them)" : "",
		style(t, STYLE_PLAIN));
	return err < 0 ? err : 0;
}

static void print_by_samples(const struct diff_table *t)
{
	size_t functions = t->d->by_samples_cnt;
	char cnt[32];

	if (functions)
		fprintf(t->pr.out,
			"%s function%s dropped to keep to the budget: by samples, %s own CPU time "
			"is compared, and calls are not unless bursts tell (~)\n",
			text_count(functions, cnt, sizeof(cnt)), functions == 1 ? " was" : "s were",
			functions == 1 ? "its" : "their");
}

static void print_whole(const struct diff_table *t, const char *what, const struct change *c)
{
	char old[32], now[32], change[32], share[32] = "-";
	double percent;

	if (change__percent(c, &percent))
		text_signed_percent(percent, share, sizeof(share));
	fprintf(t->pr.out, "%s %s -> %s: %s%s, %s%s", what,
		text_duration(c->old_ns, old, sizeof(old)),
		text_duration(c->new_ns, now, sizeof(now)),
		c->noise ? "" : diff_table__direction(t, c->ns),
		text_signed_duration(c->ns, change, sizeof(change)), share,
		c->noise ? "" : style(t, STYLE_PLAIN));
	/* The sentence above would seem to say otherwise. */
	fputs(c->noise && c->ns ? ", within noise\n" : "\n", t->pr.out);
}

/* Whether the time on a CPU is less than half of the change. */
static bool mostly_off(const struct diff *d)
{
	double all = (double)d->whole.ns, cpu = (double)d->whole_cpu.ns;
	double share = fabs(all) / ((double)d->whole.old_ns + 1);

	return d->opts.time == DIFF_WALL && share > CHANGE_SHARE &&
	       (all < 0 ? cpu > all / 2 : cpu < all / 2);
}

static int print_head(struct diff_table *t)
{
	const struct diff *d = t->d;
	int err = diff_verdict__print(t);

	if (!err)
		err = print_run(t, "old", &d->runs[DIFF_OLD]);
	if (!err)
		err = print_run(t, "new", &d->runs[DIFF_NEW]);
	if (err)
		return err;
	print_whole(t, "in all traced calls", &d->whole);
	if (d->opts.time == DIFF_WALL)
		print_whole(t, "of it on a CPU", &d->whole_cpu);
	if (mostly_off(d))
		fprintf(t->pr.out,
			"%smore than half of the change is waiting, or a busy machine: -w cpu "
			"leaves it out%s\n",
			style(t, STYLE_WARN), style(t, STYLE_PLAIN));
	print_by_samples(t);
	err = print_left_out(t);
	fputc('\n', t->pr.out);
	return err;
}

static int write_tables(const struct diff *d, const struct sink_options *opts, FILE *out,
			bool paths)
{
	bool calls = opts->weight == WEIGHT_CALLS;
	struct diff_table t = {.d = d, .pr = {.profile = d->both, .opts = opts, .out = out}};
	FILE *table;
	int err;

	stream__begin();
	err = printer__begin_prose(&t.pr, &table);
	if (!err)
		err = printer__end_prose(&t.pr, table, print_head(&t));
	if (!err && !calls)
		err = diff_table__times(&t, false);
	if (!err && !calls && paths)
		err = diff_table__times(&t, true);
	if (!err)
		err = diff_table__calls(&t, false, calls ? ROWS_MAX : CALLS_ROWS_MAX);
	if (!err && calls && paths)
		err = diff_table__calls(&t, true, ROWS_MAX);
	printer__fini(&t.pr);
	return err ? err : stream__end(out);
}

int diff_text__write(const struct diff *d, const struct sink_options *opts, FILE *out)
{
	return write_tables(d, opts, out, true);
}

int diff_text__write_functions(const struct diff *d, const struct sink_options *opts, FILE *out)
{
	return write_tables(d, opts, out, false);
}
