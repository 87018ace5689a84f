/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as the page shows it, and the page (user/web) around it. The page reads its data
 * through one module, user/web/app/data.js: what that and page_data.c say of the document belongs
 * together.
 */
#ifndef PROFTRACE_SINK_PAGE_PAGE_H
#define PROFTRACE_SINK_PAGE_PAGE_H

#include <stddef.h>
#include <stdint.h>

struct call_stats;
struct diff;
struct json;
struct profile;
struct sink_options;

/* The page before and after its data: the beginning and the end of each. */
extern const char page_head[], page_head_end[], page_tail[], page_tail_end[];

/* The page without data, which its server sends as events; in gzip's form. */
extern const char page_live[], page_live_end[];

/* Writes the profile as one JSON object of columns: an array a figure, paths in the order of a
 * walk. `d`: what it is compared with; NULL: nothing. Returns 0, -ENOMEM, or what reading the
 * timeline returned; errors of the stream show in ferror(). */
int page_data__write(struct json *j, const struct profile *p, const struct sink_options *opts,
		     const struct diff *d);

/* Writes what has changed as one JSON object, null without `d`; functions by the same numbers.
 * Returns 0 or -ENOMEM. */
int page_diff__write(struct json *j, const struct diff *d, const struct sink_options *opts,
		     const uint32_t *numbers);

/* Numbers of functions and paths in the document, which have no gaps. */
struct page_numbers {
	uint32_t *functions; /* of each function, its number + 1; 0: not in the document */
	uint32_t *paths;     /* of each node likewise */
	uint32_t *threads;   /* those in the document */
	size_t threads_cnt;
};

/* Writes the functions that have a number (plus one) in `numbers`; 0: not in the document. */
void page_functions__write(struct json *j, const struct profile *p, const uint32_t *numbers);

/* Writes the single calls and their values as one JSON object, null if none were recorded; of very
 * many the longest. Returns as page_data__write(). */
int page_calls__write(struct json *j, const struct profile *p, const struct page_numbers *n);

/* Writes sessions as one JSON object, null if none were asked for; functions and threads by the
 * same numbers. Where no single calls were kept, as while a run goes on, they have no more than
 * their distribution. Returns 0 or -ENOMEM. */
int page_sessions__write(struct json *j, const struct profile *p, const struct sink_options *opts,
			 const struct page_numbers *n);

/* Writes lines of source and their figures as one JSON object, null if there are none; functions by
 * the same numbers. Returns 0 or -ENOMEM. */
int page_lines__write(struct json *j, const struct profile *p, const uint32_t *numbers);

/* Figures that functions and paths have alike, each a column. */
struct page_figure {
	const char *name;
	size_t offset; /* in struct call_stats: of a uint64_t, or of calls_varied */
};
#define PAGE_FIGURES 11
extern const struct page_figure page_figures[PAGE_FIGURES];

uint64_t page_figure__of(const struct page_figure *f, const struct call_stats *s);

#endif
