// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/diff_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "util/text.h"

#define ROWS_MAX     20 /* of a table; -v has no limit */
#define NAME_COLUMNS 40
#define PATH_COLUMNS 80
#define STEP_COLUMNS 24 /* of a caller in a path */
#define STEPS_MAX    32
#define PATH_MIN     40
#define NAME_MIN     30 /* where a terminal has less room, columns of figures are left out for it */
#define MODULE_ROOM  18 /* columns of MODULE on a terminal, and the gap before it */

/* Columns of figures that there may be no room for, those that are missed most first. */
enum {
	SHOW_TOTAL = 1 << 0,
	SHOW_CALLS = 1 << 1,
	SHOW_A_CALL = 1 << 2,
	SHOW_MODULE = 1 << 3,
};

/* How wide those are in a table, and what is never left out of it. */
struct columns {
	size_t rooms[4]; /* 0: the table has no such column */
	size_t always;
};

static const struct columns time_columns = {{11, 25, 17, MODULE_ROOM}, 39};
static const struct columns count_columns = {{0, 14, 0, MODULE_ROOM}, 39};

static void choose_columns(struct diff_table *t, const struct columns *c)
{
	size_t used = c->always, name = t->paths ? PATH_COLUMNS : NAME_COLUMNS;
	size_t least = t->paths ? PATH_MIN : NAME_MIN;
	const size_t *rooms = c->rooms;

	t->shown = 0;
	for (size_t i = 0; i < sizeof(c->rooms) / sizeof(*c->rooms); i++) {
		if (!rooms[i] || (t->paths && 1U << i == SHOW_MODULE))
			continue;
		if (!printer__fits(used + rooms[i] + least, t->pr.opts->columns))
			break;
		used += rooms[i];
		t->shown |= 1U << i;
	}
	t->name = printer__room(&t->pr, used, name, least);
}

static const char *style(const struct diff_table *t, const char *s)
{
	return printer__style(&t->pr, s);
}

/* "new" and "gone" where only one run knows it; samples may just have missed it in the other. */
static char *share_of(const struct diff_figures *f, bool known, double percent, char *buf,
		      size_t size)
{
	if (f->unseen)
		snprintf(buf, size, "unseen");
	else if (!f->there[DIFF_OLD] || !f->there[DIFF_NEW])
		snprintf(buf, size, "%s", f->there[DIFF_NEW] ? "new" : "gone");
	else if (known)
		text_signed_percent(percent, buf, size);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* A count, "=" if it is that of the old run. */
static void print_calls(const struct diff_table *t, const struct diff_figures *f)
{
	char old[32] = "-", now[32] = "-";

	if (!f->uncounted || (f->stats[DIFF_OLD].calls && !f->cut[DIFF_OLD]))
		printer__calls(&f->stats[DIFF_OLD], f->sampled, old, sizeof(old));
	if (!f->uncounted && !f->calls)
		snprintf(now, sizeof(now), "=");
	else if (!f->uncounted || (f->stats[DIFF_NEW].calls && !f->cut[DIFF_NEW]))
		printer__calls(&f->stats[DIFF_NEW], f->sampled, now, sizeof(now));
	fprintf(t->pr.out, "  %11s %11s", old, now);
}

/* Prints the self time of one call. */
static void print_a_call(const struct diff_table *t, const struct diff_figures *f)
{
	char text[32];

	for (int run = 0; run < DIFF_RUNS; run++) {
		uint64_t calls = f->stats[run].calls;
		uint64_t ns = run == DIFF_NEW ? f->self.new_ns : f->self.old_ns;

		/* With per_call the old time stands for as many calls as the new run had. */
		if (run == DIFF_OLD && t->d->opts.per_call)
			calls = f->stats[DIFF_NEW].calls;
		if (!f->stats[run].calls || !calls || f->cut[run])
			snprintf(text, sizeof(text), "-");
		else
			printer__time(&t->pr, ns / calls,
				      f->stats[run].self_error_ns / f->stats[run].calls, text,
				      sizeof(text));
		fprintf(t->pr.out, "%*s", run ? 8 : 9, text);
	}
}

static void print_numbers(const struct diff_table *t, const struct diff_figures *f)
{
	FILE *out = t->pr.out;
	const struct change *c = &f->self;
	char text[32];
	double percent = 0;
	bool known = change__percent(c, &percent);

	fprintf(out, "%s%9s", c->noise ? style(t, STYLE_DIM) : diff_table__direction(t, c->ns),
		text_signed_duration(c->ns, text, sizeof(text)));
	if (t->pr.opts->verbose)
		fprintf(out, "  %8s", text_duration(c->noise_ns, text, sizeof(text)));
	fprintf(out, "  %7s", share_of(f, known, percent, text, sizeof(text)));
	if (!c->noise)
		fputs(style(t, STYLE_PLAIN), out);
	fputc(' ', out);
	for (int run = 0; run < DIFF_RUNS; run++)
		printer__put_time(&t->pr, run == DIFF_NEW ? c->new_ns : c->old_ns,
				  f->stats[run].self_error_ns, f->estimates[run].cpu_error_ns);
	if (t->shown & SHOW_TOTAL)
		fprintf(out, "  %9s",
			f->total.noise ? "~"
				       : text_signed_duration(f->total.ns, text, sizeof(text)));
	if (t->shown & SHOW_CALLS)
		print_calls(t, f);
	if (t->shown & SHOW_A_CALL)
		print_a_call(t, f);
	fputs("  ", out);
}

static void print_heading(const struct diff_table *t)
{
	FILE *out = t->pr.out;

	fprintf(out, "%s%9s%s  %7s  %8s %8s", style(t, STYLE_DIM), "CHANGE",
		t->pr.opts->verbose ? "       +/-" : "", "", "OLD", "NEW");
	if (t->shown & SHOW_TOTAL)
		fprintf(out, "  %9s", "IN TOTAL");
	if (t->shown & SHOW_CALLS)
		fprintf(out, "  %11s %11s", "CALLS OLD", "NEW");
	if (t->shown & SHOW_A_CALL)
		fprintf(out, "%9s%8s", "CALL OLD", "NEW");
	fputs("  ", out);
	if (t->shown & SHOW_MODULE)
		fprintf(out, "%-*s  MODULE", (int)t->name, "FUNCTION");
	else
		fputs(t->paths ? "PATH" : "FUNCTION", out);
	fprintf(t->pr.out, "%s\n", style(t, STYLE_PLAIN));
}

static int print_function(struct diff_table *t, uint32_t row, bool noise)
{
	const struct profile_function *f = &t->d->both->functions[row];
	int name;

	fputs(noise ? "" : style(t, STYLE_BOLD), t->pr.out);
	name = printer__name(&t->pr, f->name, t->name);
	if (name < 0)
		return name;
	fputs(noise ? "" : style(t, STYLE_PLAIN), t->pr.out);
	if (t->shown & SHOW_MODULE) {
		fprintf(t->pr.out, "%*s%s", (size_t)name < t->name ? (int)t->name - name + 2 : 2,
			"", style(t, STYLE_DIM));
		name = printer__name(&t->pr, path_base(f->module ? f->module : ""),
				     t->pr.opts->columns ? MODULE_ROOM - 2 : NAME_COLUMNS);
	}
	fprintf(t->pr.out, "%s\n", style(t, STYLE_PLAIN));
	return name < 0 ? name : 0;
}

/* Calls of a function by itself, one in the other, are one step. */
struct step {
	uint32_t function, cnt;
};

/* The innermost steps that fit, innermost first. Returns how many; *more is set if there are
 * others. */
static size_t collect_steps(const struct diff_table *t, uint32_t node, struct step *steps,
			    bool *more)
{
	const struct profile_node *nodes = t->d->both->nodes;
	/* Columns for the steps: those of the name, less four for the mark of left-out steps. */
	size_t room = t->pr.opts->columns && t->name > 4 ? t->name - 4 : t->name;
	size_t cnt = 0, columns = 0;

	for (; node; node = nodes[node].parent) {
		uint32_t function = nodes[node].function;
		size_t len;

		if (cnt && steps[cnt - 1].function == function) {
			steps[cnt - 1].cnt++;
			continue;
		}
		len = strlen(function__name(&t->d->both->functions[function]));
		/* The innermost is shown whole, if that can be. */
		if (len > STEP_COLUMNS)
			len = cnt || !t->pr.opts->columns ? STEP_COLUMNS
			      : len > NAME_MIN		  ? NAME_MIN
							  : len;
		if (cnt == STEPS_MAX || (cnt && !t->pr.opts->verbose && columns + len + 3 > room))
			break;
		columns += len + 3;
		steps[cnt++] = (struct step){function, 1};
	}
	*more = node;
	return cnt;
}

static int print_path(struct diff_table *t, uint32_t node, bool noise)
{
	const struct profile *both = t->d->both;
	const struct profile_thread *thread = &both->threads[both->nodes[node].thread];
	struct step steps[STEPS_MAX];
	bool more;
	size_t cnt = collect_steps(t, node, steps, &more);
	int err;

	fputs(style(t, STYLE_DIM), t->pr.out);
	if (both->threads_cnt > 1) {
		fprintf(t->pr.out, "[%s", thread->spans ? SPANS_OF : "");
		err = printer__name(&t->pr, thread->comm, STEP_COLUMNS);
		if (err < 0)
			return err;
		fputs("] ", t->pr.out);
	}
	fputs(more ? "… > " : "", t->pr.out);
	while (cnt--) {
		const struct profile_function *f = &both->functions[steps[cnt].function];

		if (!cnt)
			fprintf(t->pr.out, "%s%s", style(t, STYLE_PLAIN),
				style(t, noise ? STYLE_DIM : STYLE_BOLD));
		err = printer__name(&t->pr, f->name,
				    cnt			  ? STEP_COLUMNS
				    : t->pr.opts->columns ? NAME_MIN
							  : NAME_COLUMNS);
		if (err < 0)
			return err;
		if (steps[cnt].cnt > 1)
			fprintf(t->pr.out, " ×%u", steps[cnt].cnt);
		fputs(cnt ? " > " : "", t->pr.out);
	}
	fprintf(t->pr.out, "%s\n", style(t, STYLE_PLAIN));
	return 0;
}

static int print_place(struct diff_table *t, uint32_t row, bool noise)
{
	return t->paths ? print_path(t, row, noise) : print_function(t, row, noise);
}

static const char *rows_name(const struct diff_table *t, uint64_t cnt)
{
	static const char *const names[2][2] = {{"function", "functions"}, {"path", "paths"}};

	return names[t->paths][cnt != 1];
}

/* Prints the change of the rows from `first` to `end` together. */
static void print_rest(const struct diff_table *t, const struct diff_ranking *r, size_t first,
		       size_t end, const char *what)
{
	int64_t sum = 0;
	char cnt[32], text[32];

	if (first >= end)
		return;
	for (size_t i = first; i < end; i++) {
		if (__builtin_add_overflow(sum, t->figures[r->rows[i]].self.ns, &sum))
			sum = sum < 0 ? INT64_MAX : INT64_MIN;
	}
	fprintf(t->pr.out, "%s%9s  %s %s %s (-v lists them)%s\n", style(t, STYLE_DIM),
		text_signed_duration(sum, text, sizeof(text)),
		text_count(end - first, cnt, sizeof(cnt)), rows_name(t, end - first), what,
		style(t, STYLE_PLAIN));
}

static int print_rows(struct diff_table *t, const struct diff_ranking *r)
{
	bool verbose = t->pr.opts->verbose;
	size_t end = verbose || r->changed <= ROWS_MAX ? r->changed : ROWS_MAX;
	int err = 0;

	if (verbose)
		end = r->cnt;
	choose_columns(t, &time_columns);
	if (end)
		print_heading(t);
	for (size_t i = 0; i < end && !err && !ferror(t->pr.out); i++) {
		bool noise = t->figures[r->rows[i]].self.noise;

		if (i && i == r->changed)
			fprintf(t->pr.out, "%swithin noise:%s\n", style(t, STYLE_DIM),
				style(t, STYLE_PLAIN));
		print_numbers(t, &t->figures[r->rows[i]]);
		err = print_place(t, r->rows[i], noise);
	}
	if (!verbose) {
		print_rest(t, r, end, r->changed, "more");
		print_rest(t, r, r->changed, r->cnt, "changed within noise");
	}
	fputc('\n', t->pr.out);
	return err;
}

static int choose_rows(struct diff_table *t, bool paths, enum diff_order order,
		       struct diff_ranking *r)
{
	const struct diff *d = t->d;

	t->paths = paths;
	t->figures = paths ? d->paths : d->functions;
	return diff__rank(t->figures, paths, paths ? d->both->nodes_cnt : d->both->functions_cnt,
			  order, r);
}

int diff_table__times(struct diff_table *t, bool paths)
{
	static const char *const times[] = {
		[DIFF_WALL] = "time", [DIFF_CPU] = "CPU time", [DIFF_OFF] = "time off the CPU"};
	struct diff_ranking r;
	int err = choose_rows(t, paths, DIFF_BY_SELF, &r);

	if (err)
		return err;
	fprintf(t->pr.out, "%s%s%s by the change of their own %s%s", style(t, STYLE_BOLD),
		paths ? "Paths" : "Functions", style(t, STYLE_PLAIN), times[t->d->opts.time],
		t->d->opts.per_call ? ", for as many calls as in the new run" : "");
	fprintf(t->pr.out, ":%s\n", r.changed ? "" : " none has changed by more than noise");
	err = print_rows(t, &r);
	free(r.rows);
	return err;
}

static int print_counted(struct diff_table *t, const struct diff_figures *f, uint32_t row)
{
	char change[32], share[32], old[32], now[32];
	uint64_t before = f->stats[DIFF_OLD].calls;
	double percent = before ? 100 * ((double)f->stats[DIFF_NEW].calls / (double)before - 1) : 0;

	fprintf(t->pr.out, "%13s  %7s  ", text_signed_count(f->calls, change, sizeof(change)),
		share_of(f, before, percent, share, sizeof(share)));
	if (t->shown & SHOW_CALLS)
		fprintf(t->pr.out, "%13s ",
			printer__calls(&f->stats[DIFF_OLD], f->sampled, old, sizeof(old)));
	fprintf(t->pr.out, "%13s  ",
		printer__calls(&f->stats[DIFF_NEW], f->sampled, now, sizeof(now)));
	return print_place(t, row, false);
}

bool diff_table__counts_calls(const struct diff_table *t)
{
	const struct diff_run *runs = t->d->runs;
	bool counts = false;

	for (int i = 0; i < DIFF_RUNS; i++)
		counts |= runs[i].profile->probes.functions || runs[i].profile->accounting.entered;
	return counts;
}

static void print_calls_heading(const struct diff_table *t, bool paths)
{
	bool both = t->shown & SHOW_CALLS; /* the calls of both runs have a column */

	fprintf(t->pr.out, "%s%13s  %7s  %s%13s  %s%s\n", style(t, STYLE_DIM), "CHANGE", "",
		both ? "    CALLS OLD " : "", both ? "NEW" : "CALLS NEW",
		paths ? "PATH" : "FUNCTION", style(t, STYLE_PLAIN));
}

/* Functions or paths with more or fewer calls. Those with as many are neither noise nor news: only
 * their number is told. */
int diff_table__calls(struct diff_table *t, bool paths, size_t max)
{
	const char *none = "";
	struct diff_ranking r;
	int err = choose_rows(t, paths, DIFF_BY_CALLS, &r);
	size_t end;
	char cnt[32];

	if (err)
		return err;
	choose_columns(t, &count_columns);
	end = t->pr.opts->verbose || r.changed <= max ? r.changed : max;
	if (!r.changed)
		none = diff_table__counts_calls(t) ? " all have been called as often"
						   : " none were counted";
	fprintf(t->pr.out, "%s%s%s by the change of their calls:%s\n", style(t, STYLE_BOLD),
		paths ? "Paths" : "Functions", style(t, STYLE_PLAIN), none);
	if (end)
		print_calls_heading(t, paths);
	for (size_t i = 0; i < end && !err && !ferror(t->pr.out); i++)
		err = print_counted(t, &t->figures[r.rows[i]], r.rows[i]);
	if (end < r.changed)
		fprintf(t->pr.out, "%s%13s  %s more (-v lists them)%s\n", style(t, STYLE_DIM), "…",
			text_count(r.changed - end, cnt, sizeof(cnt)), style(t, STYLE_PLAIN));
	if (r.changed && r.changed < r.cnt)
		fprintf(t->pr.out, "%s%13s  %s called as often%s\n", style(t, STYLE_DIM), "=",
			text_count(r.cnt - r.changed, cnt, sizeof(cnt)), style(t, STYLE_PLAIN));
	fputc('\n', t->pr.out);
	free(r.rows);
	return err;
}
