// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees for people: who called what, from where, how often and how long. tree_rows.c decides
 * which paths get a line, this file draws them. Numbers stand at the left, where columns stay
 * aligned however deep the tree is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/copy.h"
#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/tree.h"
#include "sink/diffs.h"
#include "sink/listing.h"
#include "sink/sessions.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "sink/text/footer.h"
#include "sink/text/histogram.h"
#include "sink/text/printer.h"
#include "sink/text/tree_rows.h"
#include "util/text.h"
#include "views/merge.h"

#define OTHERS_WIDTH	28  /* of TOTAL, SELF, SHARE and the gaps */
#define CPU_WIDTH	9   /* of one more time, which a narrow terminal has no room for */
#define ERRORS_WIDTH	18  /* of two times +/- */
#define LINE_WIDTH	110 /* names are shortened to end here */
#define NAME_MIN	40  /* but not below this, unless the terminal is narrow */
#define CHAINED		"› "
#define CHAINED_COLUMNS 4      /* with the space before it, and a mark */
#define ELISION_COLUMNS 4      /* of "… › " */
#define FIRST_MIN	14     /* columns, else a chain's first function tells nothing */
#define FOLDED		" › …" /* cheap callees are part of the row */
#define FOLDED_COLUMNS	4
#define FILTER_NAME	20 /* columns that a name has there, however deep it is */

struct tree_order {
	uint64_t weight, total_ns;
	bool asleep; /* nothing in it was called or was on a CPU */
	uint32_t thread;
};

/* Lines before a name: for each level above its own, `sibling` where one follows there further
 * down, else `none`; for its own level `fork`, or `last` if no sibling follows. */
struct branches {
	const char *sibling, *none, *fork, *last;
	uint32_t columns; /* of each */
};

static const struct branches wide_branches = {"│ ", "  ", "├─", "└─", 2};
static const struct branches narrow_branches = {"│", " ", "├", "└", 1};

/* One tree on its way to the stream. */
struct drawing {
	struct printer *pr;
	const struct tree_rows *rows;
	struct calls_columns calls;
	const struct branches *branches;
	bool wide;			/* one more time is shown, and names have room */
	enum weight shared;		/* what shares are of */
	uint64_t whole;			/* by that, of the tree */
	uint32_t indent_max;		/* deepest level that is drawn by indentation */
	bool more[TREE_INDENT_MAX + 1]; /* by depth: a sibling follows further down */
};

/* The time that trees, and the paths in them, go by. */
static enum weight order_of(const struct printer *pr)
{
	return weight__time(sink__weight(pr->opts, pr->profile));
}

static struct calls_columns calls_columns(const struct printer *pr, const struct tree_rows *rows)
{
	struct calls_columns c = printer__calls_columns(pr);

	for (size_t i = 0; i < rows->len; i++)
		printer__fit_calls(pr, &c, &rows->items[i].stats, rows->items[i].sampled);
	return c;
}

/* "14 processes", and of which program if the threads have another name. */
static void print_processes(struct printer *pr, const struct profile_thread *t)
{
	char program[4 * sizeof(t->program)], cnt[32];

	fprintf(pr->out, "  %s processes", text_count(t->merged_pids, cnt, sizeof(cnt)));
	if (*t->program && strcmp(t->program, t->comm) != 0)
		fprintf(pr->out, " of %s", text_escape(t->program, program, sizeof(program)));
	fputs(t->merged_cnt > t->merged_pids || t->goroutine ? ", " : "", pr->out);
}

static void print_heading(const struct drawing *d, const struct profile_thread *t)
{
	struct printer *pr = d->pr;
	bool processes = t->merged_pids > 1;
	char comm[4 * sizeof(t->comm)], cnt[32];

	text_escape(t->comm, comm, sizeof(comm));
	fprintf(pr->out, "%s%s%s", printer__style(pr, STYLE_BOLD), *comm ? comm : "[unknown]",
		printer__style(pr, STYLE_PLAIN));
	if (processes)
		print_processes(pr, t);
	else if (t->pid)
		fprintf(pr->out, "  pid %d  ", t->pid);
	text_count(t->merged_cnt > 1 ? t->merged_cnt : t->goroutine, cnt, sizeof(cnt));
	if (t->merged_cnt > (processes && !t->goroutine ? t->merged_pids : 1))
		fprintf(pr->out, "%s %s", cnt, t->goroutine ? "goroutines" : "threads");
	else if (t->goroutine)
		fprintf(pr->out, "goroutine %s", cnt);
	else if (t->pid && !processes)
		fprintf(pr->out, "tid %d", t->tid);
	fputs(t->spans ? ", spans\n" : "\n", pr->out);
	fprintf(pr->out, "%s%*s%*s%s  %7s%s  %7s%s", printer__style(pr, STYLE_DIM),
		(int)d->calls.count, "CALLS", (int)d->calls.error, "",
		printer__calls_errors(pr) ? "      +/-" : "",
		printer__time_name(printer__time_weight(pr)),
		printer__errors(pr) ? "      +/-" : "", "SELF",
		printer__errors(pr) ? "      +/-" : "");
	if (d->wide)
		fprintf(pr->out, "  %7s", printer__time_name(printer__other_time(pr)));
	fprintf(pr->out, "  %6s  FUNCTION%s\n",
		d->shared == printer__time_weight(pr) ? "SHARE" : "CPU%",
		printer__style(pr, STYLE_PLAIN));
}

/* With -v, what it is uncertain by follows. */
static void print_time(const struct printer *pr, uint64_t ns, uint64_t error_ns, bool estimate)
{
	char text[32];

	printer__put_time(pr, ns, error_ns, estimate);
	if (printer__errors(pr))
		fprintf(pr->out, "  %7s", text_duration(error_ns, text, sizeof(text)));
}

static void print_numbers(const struct drawing *d, const struct tree_row *row)
{
	struct printer *pr = d->pr;
	const struct call_stats *s = &row->stats;
	const struct row_estimate e = printer__row_estimate(pr, s, row->sampled);
	uint64_t whole = weigh_total(s, printer__time_weight(pr)),
		 self = weigh(s, printer__time_weight(pr));
	bool of_stacks = !s->calls && estimate__any(pr->profile);
	char text[32];

	printer__put_calls(pr, &d->calls, s, row->sampled);
	if (printer__calls_errors(pr))
		printer__put_calls_error(pr, s);
	print_time(pr, whole, e.total_error_ns, e.total);
	if ((e.total || of_stacks) && !self && !printer__errors(pr))
		fprintf(pr->out, " %8s", "-");
	else
		print_time(pr, self, s->self_error_ns + e.error_ns, e.self);
	if (d->wide)
		printer__put_time(pr, weigh_total(s, printer__other_time(pr)), e.total_error_ns,
				  e.total);
	fprintf(pr->out, "  %6s  ",
		printer__share(weigh_total(s, d->shared), d->whole, text, sizeof(text)));
}

/* Returns the columns it took. */
static size_t print_branch(struct drawing *d, const struct tree_row *row)
{
	const struct branches *b = d->branches;
	FILE *out = d->pr->out;
	bool drawn = row->depth <= d->indent_max;
	size_t i, bars = drawn ? row->depth : d->indent_max + 1;

	if (drawn)
		d->more[row->depth] = !row->last;
	for (i = 1; i < bars; i++)
		fputs(d->more[i] ? b->sibling : b->none, out);
	if (!drawn)
		return b->columns * d->indent_max + fprintf(out, "[%u] ", row->level);
	if (row->depth)
		fputs(row->last ? b->last : b->fork, out);
	return b->columns * row->depth;
}

static const struct profile_function *function_of(const struct profile *p, uint32_t node)
{
	return &p->functions[p->nodes[node].function];
}

/* Returns the outermost function of a chain from which on all fit into `columns`, with the mark for
 * those left out before it; *left = how many these are. The innermost need not fit. */
static uint32_t chain_that_fits(const struct profile *p, const struct tree_row *row, size_t columns,
				uint32_t *left)
{
	size_t used = strlen(function_of(p, row->end)->name) + 1; /* and a mark */
	uint32_t node = row->end;

	for (*left = row->cnt - 1; *left; --*left) {
		uint32_t parent = p->nodes[node].parent;

		used += strlen(function_of(p, parent)->name) + CHAINED_COLUMNS;
		if (used + (*left > 1 ? ELISION_COLUMNS : 0) > columns)
			break;
		node = parent;
	}
	return node;
}

/* The columns that a chain's first function gets where not all of them fit; 0: none. It tells the
 * row from its siblings, as their innermost functions may all be memset(). */
static size_t first_columns(const struct drawing *d, const struct tree_row *row, size_t columns)
{
	const struct profile_function *f = function_of(d->pr->profile, row->node);
	size_t len = strlen(f->name) + 1, most = columns / 2;

	if (!row->caller || d->rows->items[row->caller - 1].callees < 2 ||
	    function__is_nameless(f) || most < FIRST_MIN + CHAINED_COLUMNS + ELISION_COLUMNS)
		return 0;
	most -= CHAINED_COLUMNS + ELISION_COLUMNS;
	return len < most ? len : most;
}

/* The functions of a chain as they call each other: the innermost, which the rows below belong to,
 * and as many before it as fit. */
static int print_chain(const struct drawing *d, const struct tree_row *row, size_t columns)
{
	const struct profile *p = d->pr->profile;
	uint32_t left, node = chain_that_fits(p, row, columns, &left);
	size_t first = left ? first_columns(d, row, columns) : 0;
	int width;

	if (first) {
		width = printer__row_function(d->pr, function_of(p, row->node), first);
		if (width < 0)
			return width;
		fputs(" " CHAINED, d->pr->out);
		columns -= width + CHAINED_COLUMNS;
		node = chain_that_fits(p, row, columns, &left);
		left--;
	}
	if (left) {
		fputs("… " CHAINED, d->pr->out);
		columns -= columns > ELISION_COLUMNS ? ELISION_COLUMNS : 0;
	}
	for (;; node = p->nodes[node].first_child) {
		width = printer__row_function(d->pr, function_of(p, node), columns);
		if (width < 0 || node == row->end)
			return width < 0 ? width : 0;
		fputs(" " CHAINED, d->pr->out);
	}
}

static int print_function(const struct drawing *d, const struct tree_row *row, size_t columns)
{
	const struct profile *p = d->pr->profile;
	char cnt[32], levels[64] = "";
	int width;

	text_count(row->cnt, cnt, sizeof(cnt));
	if (row->kind == ROW_RECURSION) {
		width = snprintf(levels, sizeof(levels), " (recursion, %s levels)", cnt);
		if (d->pr->opts->columns)
			columns = columns > (size_t)width + FILTER_NAME ? columns - width
									: FILTER_NAME;
	}
	if (row->kind == ROW_CHAIN)
		return print_chain(d, row, columns);
	if (row->kind == ROW_MORE) {
		fprintf(d->pr->out, "… %s more path%s", cnt, row->cnt == 1 ? "" : "s");
		return 0;
	}
	width = printer__row_function(d->pr, function_of(p, row->node), columns);
	if (width < 0)
		return width;
	fputs(levels, d->pr->out);
	return 0;
}

/* Columns before the names' indentation. */
static size_t figures_width(const struct drawing *d)
{
	return d->calls.count + d->calls.error + OTHERS_WIDTH + (d->wide ? CPU_WIDTH : 0) +
	       (printer__calls_errors(d->pr) ? CALLS_ERROR_WIDTH : 0) +
	       (printer__errors(d->pr) ? ERRORS_WIDTH : 0);
}

/* Columns for a name behind `used` others. */
static size_t name_width(const struct drawing *d, size_t used)
{
	size_t usual = used + NAME_MIN < LINE_WIDTH ? LINE_WIDTH - used : NAME_MIN;

	return printer__room(d->pr, used, usual, FILTER_NAME);
}

static int print_row(struct drawing *d, const struct tree_row *row)
{
	struct printer *pr = d->pr;
	bool hot = printer__hot(weigh_total(&row->stats, d->shared), d->whole);
	size_t used = figures_width(d);
	int err;

	fputs(hot ? "" : printer__style(pr, STYLE_DIM), pr->out);
	print_numbers(d, row);
	fputs(hot ? printer__style(pr, STYLE_DIM) : "", pr->out);
	used += print_branch(d, row);
	fputs(printer__style(pr, STYLE_PLAIN), pr->out);
	fputs(hot ? printer__style(pr, STYLE_BOLD) : "", pr->out);
	err = print_function(d, row, name_width(d, used) - (row->folded ? FOLDED_COLUMNS : 0));
	fputs(row->folded ? FOLDED : "", pr->out);
	fputs(hot ? printer__style(pr, STYLE_PLAIN) : "", pr->out);
	if (!err && row->kind != ROW_MORE)
		err = printer__place(pr, function_of(pr->profile, row->end));
	fputc('\n', pr->out);
	return err;
}

/* Names keep their room: deeper levels are numbered. */
static uint32_t indent_max(const struct drawing *d)
{
	size_t used = figures_width(d) + strlen("[64] ") + FILTER_NAME;
	size_t columns = d->pr->opts->columns;
	size_t levels = columns > used ? (columns - used) / d->branches->columns : 0;

	return !columns || levels > TREE_INDENT_MAX ? TREE_INDENT_MAX : levels;
}

static int print_tree(struct printer *pr, const struct profile_thread *t,
		      const struct tree_rows *rows)
{
	struct drawing d = {.pr = pr, .rows = rows, .calls = calls_columns(pr, rows)};
	enum weight time = printer__time_weight(pr);
	bool deep = false;
	size_t i;
	int err;

	d.wide = !printer__narrow(pr);
	d.branches = d.wide ? &wide_branches : &narrow_branches;
	d.indent_max = indent_max(&d);
	/* Where threads have only waited, wall time tells for what. */
	d.shared = rows->cpu_ns < estimate__chance_ns(pr->profile) ? time : order_of(pr);
	d.whole = d.shared == time ? rows->whole_ns : rows->cpu_ns;
	print_heading(&d, t);
	for (i = 0; i < rows->len && !ferror(pr->out); i++) {
		deep |= rows->items[i].depth > d.indent_max;
		err = print_row(&d, &rows->items[i]);
		if (err)
			return err;
	}
	if (deep)
		fputs("[N] is the level of nested calls, where it is too deep to be drawn\n",
		      pr->out);
	fputc('\n', pr->out);
	return 0;
}

static int compare_trees(const void *a, const void *b)
{
	const struct tree_order *x = a, *y = b;

	if (x->asleep != y->asleep)
		return x->asleep - y->asleep;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x->thread < y->thread ? -1 : 1;
}

/* The trees, the one that weighs most first, those of threads that slept all the time last. Threads
 * without calls have none. */
static size_t sort_trees(const struct profile *p, enum weight order, struct tree_order *trees)
{
	size_t i, cnt = 0;
	uint32_t node;

	for (i = 0; i < p->threads_cnt; i++) {
		if (!p->threads[i].first_root)
			continue;
		trees[cnt] = (struct tree_order){.thread = i, .asleep = true};
		for (node = p->threads[i].first_root; node; node = p->nodes[node].next_sibling) {
			const struct call_stats *stats = &p->nodes[node].stats;

			trees[cnt].weight += weigh_total(stats, order);
			trees[cnt].total_ns += stats->total_ns;
			trees[cnt].asleep &= !stats->calls && stats->total_ns == stats->off_ns;
		}
		cnt++;
	}
	qsort(trees, cnt, sizeof(*trees), compare_trees);
	return cnt;
}

/* Prints the trees of pr->profile, which may have been merged of `whole`. */
static int print_trees(struct printer *pr, const struct profile *whole)
{
	const struct profile *p = pr->profile;
	struct tree_rows rows = {0};
	struct tree_order *trees;
	size_t i, cnt;
	int err = 0;

	trees = calloc(p->threads_cnt + 1, sizeof(*trees));
	if (!trees)
		return -ENOMEM;
	cnt = sort_trees(p, order_of(pr), trees);
	err = sessions_text__headlines(pr, whole);
	for (i = 0; i < cnt && !err && !ferror(pr->out); i++) {
		err = tree_rows__build(&rows, p, trees[i].thread, printer__time_weight(pr),
				       pr->opts->verbose);
		if (!err)
			err = print_tree(pr, &p->threads[trees[i].thread], &rows);
	}
	if (!err && cnt)
		err = histogram__print(pr);
	if (!err)
		err = sessions_text__print(pr, whole);
	if (!err)
		err = footer__print(pr, cnt == 0);
	tree_rows__fini(&rows);
	free(trees);
	return err;
}

/* Sets pr->profile to what is drawn: `p`, or *made of it, with equal threads merged and the paths
 * in the order of their weights. The caller frees *made in any case. */
static int arrange(struct printer *pr, const struct profile *p, struct profile **made)
{
	const struct sink_options *opts = pr->opts;
	enum weight order = order_of(pr);
	int err = 0;

	if (!opts->thread_frames)
		err = profile__merge_threads(
			p, opts->process_frames ? MERGE_PROCESS : MERGE_PROGRAM, made);
	else if (order != WEIGHT_WALL)
		err = profile__copy(p, made);
	if (!err && *made && order != WEIGHT_WALL)
		err = profile__connect_by(*made, order);
	if (*made)
		pr->profile = *made;
	if (!opts->thread_frames)
		pr->unmerged = p;
	return err;
}

static int write_tree(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct printer pr = {.profile = p, .opts = opts, .out = out};
	struct profile *made = NULL;
	int err = arrange(&pr, p, &made);

	if (!err) {
		stream__begin();
		printer__interval(&pr);
		pr.listing = listing__new(pr.profile);
		err = pr.listing ? print_trees(&pr, p) : -ENOMEM;
		printer__fini(&pr);
	}
	profile__free(made);
	return err ? err : stream__end(out);
}

const struct sink sink_tree = {
	.name = "tree",
	.help = "call trees for reading",
	.suffixes = (const char *const[]){".txt", NULL},
	.accounts = true,
	.weighs = true,
	.names_only = true,
	.shows_sessions = true,
	.write = write_tree,
	.write_diff = diff_text__write,
};
