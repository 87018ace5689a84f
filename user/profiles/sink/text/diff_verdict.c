// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * "slower by 200 ms (+399%): uneven +200 ms", then what is called more or less often. A function is
 * named if its own time has changed by a tenth of the largest such change, as what is less explains
 * little.
 */
#include "sink/text/diff_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"
#include "sink/sink.h"
#include "util/text.h"

#define NAMED_MAX    3	/* functions */
#define NAMED_SHARE  10 /* of the largest change: one part in so many is worth naming */
#define NAME_COLUMNS 30

/* News about functions, ranked by time and by calls. */
struct news {
	struct diff_ranking by_time, by_calls;
};

static uint64_t size_of(int64_t change)
{
	return change < 0 ? -(uint64_t)change : (uint64_t)change;
}

/* The change of a row's own time, or of its calls. */
static char *amount(const struct diff_figures *f, bool calls, char *buf, size_t size)
{
	char share[32];
	uint64_t before = f->stats[DIFF_OLD].calls;

	if (!calls)
		return text_signed_duration(f->self.ns, buf, size);
	if (!before || !f->stats[DIFF_NEW].calls)
		snprintf(buf, size, "%s", before ? "no longer" : "new");
	else
		snprintf(buf, size, "%s",
			 text_signed_percent(
				 100 * ((double)f->stats[DIFF_NEW].calls / (double)before - 1),
				 share, sizeof(share)));
	return buf;
}

/* Takes waiting for a processor out of what has changed: on a busy machine all wait longer, and
 * where that is the program's doing, other functions run longer, too. Returns whether there was
 * any. */
static bool leave_out_queue(const struct diff *d, struct diff_ranking *r)
{
	size_t kept = 0;
	bool any;

	for (size_t i = 0; i < r->changed; i++) {
		const struct profile_function *f = &d->both->functions[r->rows[i]];

		if (!function__is_wait(f) || strcmp(f->symbol, "[cpu]"))
			r->rows[kept++] = r->rows[i];
	}
	any = kept < r->changed;
	r->changed = kept;
	return any;
}

static bool worth_naming(const struct diff *d, const struct diff_ranking *r, size_t i, bool calls)
{
	const struct diff_figures *first = &d->functions[r->rows[0]];

	if (i >= NAMED_MAX || i >= r->changed)
		return false;
	return calls ||
	       size_of(d->functions[r->rows[i]].self.ns) >= size_of(first->self.ns) / NAMED_SHARE;
}

/* "uneven +200 ms, even -2.00 ms and 3 more". */
static int print_functions(struct diff_table *t, const struct diff_ranking *r, bool calls)
{
	char text[64];
	size_t i;

	for (i = 0; worth_naming(t->d, r, i, calls); i++) {
		int err;

		fputs(i ? ", " : "", t->pr.out);
		err = printer__function(&t->pr, &t->d->both->functions[r->rows[i]], NAME_COLUMNS);
		if (err < 0)
			return err;
		fprintf(t->pr.out, " %s",
			amount(&t->d->functions[r->rows[i]], calls, text, sizeof(text)));
	}
	if (i < r->changed)
		fprintf(t->pr.out, " and %s more", text_count(r->changed - i, text, sizeof(text)));
	return 0;
}

/* The word for a run whose time has changed by `ns`: "slower" where that is above 0. */
static const char *direction_of(int64_t ns, bool waits)
{
	if (waits)
		return ns > 0 ? "waits longer" : "waits less";
	return ns > 0 ? "slower" : "faster";
}

static void print_whole(struct diff_table *t, const char *time)
{
	const struct change *c = &t->d->whole;
	bool waits = t->d->opts.time == DIFF_OFF;
	char text[32], share[32];
	double percent;

	if (c->noise) {
		fprintf(t->pr.out, "%s in all is the same within noise, not that of functions",
			time);
		return;
	}
	fprintf(t->pr.out, "%s%s by %s",
		printer__style(&t->pr, c->ns > 0 ? STYLE_WORSE : STYLE_BETTER),
		direction_of(c->ns, waits), text_duration(size_of(c->ns), text, sizeof(text)));
	if (change__percent(c, &percent))
		fprintf(t->pr.out, " (%s)", text_signed_percent(percent, share, sizeof(share)));
	fputs(printer__style(&t->pr, STYLE_PLAIN), t->pr.out);
}

static int print_times(struct diff_table *t, const struct diff_ranking *r, bool queue)
{
	static const char *const times[] = {
		[DIFF_WALL] = "time", [DIFF_CPU] = "CPU time", [DIFF_OFF] = "time off the CPU"};
	const char *time = times[t->d->opts.time];

	if (!r->changed && t->d->whole.noise) {
		fprintf(t->pr.out, "%s has not changed by more than noise", time);
		return 0;
	}
	print_whole(t, time);
	fputs(r->changed ? ": "
	      : queue	 ? ", and no function by more than noise: waiting for processors"
			 : ", about the same part of each function",
	      t->pr.out);
	return print_functions(t, r, false);
}

static int print_calls(struct diff_table *t, const struct diff_ranking *r)
{
	if (!diff_table__counts_calls(t)) {
		fputs("no calls were counted", t->pr.out);
		return 0;
	}
	if (!r->changed) {
		fprintf(t->pr.out, "all functions%s have been called as often",
			t->d->left_out_cnt || t->d->by_samples_cnt ? " that both runs traced whole"
								   : "");
		return 0;
	}
	fputs("called more or less often: ", t->pr.out);
	return print_functions(t, r, true);
}

int diff_verdict__print(struct diff_table *t)
{
	const struct diff *d = t->d;
	size_t cnt = d->both->functions_cnt;
	struct news n = {0};
	bool queue = false;
	int err = diff__rank(d->functions, 0, cnt, DIFF_BY_SELF, &n.by_time);

	if (!err && d->opts.time != DIFF_OFF)
		queue = leave_out_queue(d, &n.by_time);
	if (!err)
		err = diff__rank(d->functions, 0, cnt, DIFF_BY_CALLS, &n.by_calls);
	if (!err) {
		fputs(printer__style(&t->pr, STYLE_BOLD), t->pr.out);
		if (t->pr.opts->weight != WEIGHT_CALLS) {
			err = print_times(t, &n.by_time, queue);
			fputs("; ", t->pr.out);
		}
		if (!err)
			err = print_calls(t, &n.by_calls);
		fprintf(t->pr.out, "%s\n", printer__style(&t->pr, STYLE_PLAIN));
	}
	free(n.by_time.rows);
	free(n.by_calls.rows);
	return err;
}
