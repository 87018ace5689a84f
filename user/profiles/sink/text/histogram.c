// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A profile's buckets are too narrow to be looked at: the eight of a power of two are one row.
 * Durations that span more rows than a reader wants are cut to where most calls are; what lies
 * before and behind is one row each.
 */
#include "sink/text/histogram.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "calls/distribution.h"
#include "calls/function_glob.h"
#include "calls/profile.h"
#include "calls/ranking.h"
#include "sink/sink.h"
#include "sink/text/printer.h"
#include "util/text.h"

#define OCTAVE_BUCKETS 8
#define OCTAVES	       62
#define ROWS_MAX       20 /* with those of what was cut */
#define BAR_MAX	       40 /* columns */
#define BAR_MIN	       10
#define FIGURES	       42 /* columns before the bar */
#define CALLS_ROOM     36 /* columns of "  1,234,567,890 finished calls", and some more */
#define NAME_MAX       60
#define NAME_MIN       30

/* A histogram's rows. */
struct rows {
	uint64_t calls[OCTAVES];
	uint32_t first, end; /* octaves that get a row */
	uint64_t below, above;
	uint64_t most; /* of a row */
};

/* The ROWS_MAX - 2 octaves that have most calls, within those that have any. */
static void cut(struct rows *r)
{
	uint32_t width = ROWS_MAX - 2, best = r->first, i;
	uint64_t calls = 0, most = 0;

	for (i = r->first; i < r->end; i++) {
		calls += r->calls[i];
		if (i >= r->first + width)
			calls -= r->calls[i - width];
		if (calls > most) {
			most = calls;
			best = i + 1 > r->first + width ? i + 1 - width : r->first;
		}
	}
	for (i = r->first; i < best; i++)
		r->below += r->calls[i];
	for (i = best + width; i < r->end; i++)
		r->above += r->calls[i];
	r->first = best;
	r->end = best + width;
}

static void fill(struct rows *r, const struct distribution *d)
{
	*r = (struct rows){.first = OCTAVES};
	for (size_t i = 0; i < d->cnt; i++) {
		uint32_t octave = d->buckets[i].bucket / OCTAVE_BUCKETS;

		if (!d->buckets[i].calls)
			continue;
		if (octave >= OCTAVES)
			octave = OCTAVES - 1;
		r->calls[octave] += d->buckets[i].calls;
		if (octave < r->first)
			r->first = octave;
		if (octave >= r->end)
			r->end = octave + 1;
	}
	if (r->end > r->first + ROWS_MAX)
		cut(r);
	r->most = r->below > r->above ? r->below : r->above;
	for (uint32_t i = r->first; i < r->end; i++)
		if (r->calls[i] > r->most)
			r->most = r->calls[i];
}

static void print_row(const struct printer *pr, const char *from, const char *word, const char *to,
		      uint64_t calls, uint64_t most)
{
	size_t room = printer__room(pr, FIGURES, BAR_MAX, BAR_MIN);
	size_t bar = room < BAR_MAX ? room : BAR_MAX;
	unsigned int len = (unsigned int)((double)calls / (double)most * (double)bar + 0.5);
	char cnt[32];

	fprintf(pr->out, "  %8s %s %8s  %13s  ", from, word, to,
		text_count(calls, cnt, sizeof(cnt)));
	fputs(printer__style(pr, STYLE_BOLD), pr->out);
	if (calls && !len)
		fputs("▏", pr->out);
	while (len--)
		fputs("█", pr->out);
	fprintf(pr->out, "%s\n", printer__style(pr, STYLE_PLAIN));
}

static const char *octave_begin(uint32_t octave, char *buf, size_t size)
{
	return text_duration(bucket__low(octave * OCTAVE_BUCKETS), buf, size);
}

static int print_function(struct printer *pr, const struct profile_function *f)
{
	const struct profile *p = pr->profile;
	const struct distribution d = distribution__of(p, f - p->functions);
	char from[32], to[32], cnt[32];
	struct rows r;
	int name = printer__name(pr, f->name, printer__room(pr, CALLS_ROOM, NAME_MAX, NAME_MIN));

	if (name < 0)
		return name;
	fprintf(pr->out, "  %s%s%s finished call%s%s\n", printer__style(pr, STYLE_DIM),
		f->sampled ? "~" : "", text_count(d.calls, cnt, sizeof(cnt)),
		d.calls == 1 ? "" : "s", printer__style(pr, STYLE_PLAIN));
	fill(&r, &d);
	if (r.below)
		print_row(pr, "", "below", octave_begin(r.first, to, sizeof(to)), r.below, r.most);
	for (uint32_t i = r.first; i < r.end; i++)
		print_row(pr, octave_begin(i, from, sizeof(from)), "up to",
			  octave_begin(i + 1, to, sizeof(to)), r.calls[i], r.most);
	if (r.above)
		print_row(pr, octave_begin(r.end, from, sizeof(from)), " and ", "more", r.above,
			  r.most);
	fputc('\n', pr->out);
	return 0;
}

static bool chosen(const struct sink_options *opts, const struct profile_function *f, bool *found)
{
	bool any = false;

	/* All globs are tried: each shall know whether it matches anything. */
	for (size_t i = 0; i < opts->hists_cnt; i++) {
		if (function_glob__matches(opts->hists[i], f))
			any = found[i] = true;
	}
	return any;
}

static int print_unmatched(struct printer *pr, const bool *found)
{
	bool any = false;

	for (size_t i = 0; i < pr->opts->hists_cnt; i++) {
		int name;

		if (found[i])
			continue;
		fputs("--hist ", pr->out);
		name = printer__name(pr, pr->opts->hists[i], NAME_MAX);
		if (name < 0)
			return name;
		fputs(": matches no function that was called\n", pr->out);
		any = true;
	}
	if (any)
		fputc('\n', pr->out);
	return 0;
}

int histogram__print(struct printer *pr)
{
	const struct profile_function **list;
	bool *found;
	size_t cnt;
	int err;

	if (!pr->opts->hists_cnt)
		return 0;
	err = profile__rank(pr->profile, sink__weight(pr->opts, pr->profile), &list, &cnt);
	found = calloc(pr->opts->hists_cnt, sizeof(*found));
	if (!err && !found)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < cnt && !ferror(pr->out); i++)
		if (chosen(pr->opts, list[i], found))
			err = print_function(pr, list[i]);
	if (!err)
		err = print_unmatched(pr, found);
	free(found);
	free(list);
	return err;
}
