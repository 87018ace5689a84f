/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the formats for people: colours, figures, names that fit. */
#ifndef PROFTRACE_SINK_TEXT_PRINTER_H
#define PROFTRACE_SINK_TEXT_PRINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "calls/stats.h"

struct listing;
struct profile;
struct call_stats;
struct profile_function;
struct sink_options;

struct printer {
	const struct profile *profile;
	const struct profile *unmerged; /* what `profile` was merged of; NULL: nothing was merged */
	const struct sink_options *opts;
	FILE *out;
	struct listing *listing; /* of rows' functions; NULL: none. Freed by printer__fini() */
	bool marked;		 /* a row has the mark of printer__row_function() */
	bool partial;		 /* a row has times of a part of its calls */
	bool waits_alone;	 /* the table is about waits: who had CPU time is of no interest */
	char *name;		 /* scratch; freed by it, too */
	size_t name_cap;
};

#define STYLE_PLAIN  "\033[0m"
#define STYLE_BOLD   "\033[1m"
#define STYLE_DIM    "\033[2m"
#define STYLE_WARN   "\033[33m"
#define STYLE_WORSE  "\033[31m"
#define STYLE_BETTER "\033[32m"

/* The escape sequence, or "" without colours. */
const char *printer__style(const struct printer *pr, const char *style);

/* Prints a name escaped and, unless opts->verbose, shortened in its middle to `columns`. Returns
 * the columns it took or -ENOMEM. */
int printer__name(struct printer *pr, const char *name, size_t columns);

/* With opts->verbose, where the function is in its source, if that is known: "  FILE:LINE", dim.
 * Returns 0 or -ENOMEM. */
int printer__place(struct printer *pr, const struct profile_function *f);

/* Like printer__name(), for a function's name; a region's stands in brackets. */
int printer__function(struct printer *pr, const struct profile_function *f, size_t columns);

/* Like printer__function(), in a table: a function that the budget has dropped gets a mark, "*",
 * behind its name. */
int printer__row_function(struct printer *pr, const struct profile_function *f, size_t columns);

/* The columns that a name may have behind `used` others of its line: what is left of opts->columns,
 * but at least `least`; `usual` if lines may have any length. */
size_t printer__room(const struct printer *pr, size_t used, size_t usual, size_t least);

/* Whether lines may have so many columns. */
static inline bool printer__fits(size_t columns, size_t limit)
{
	return !limit || columns <= limit;
}

/* The time that tables show: the one of -w, wall time with -w calls. */
enum weight printer__time_weight(const struct printer *pr);

/* The time that has a column more where a line has room: CPU time beside wall time, else wall time.
 */
enum weight printer__other_time(const struct printer *pr);

/* The heading of its column: "TOTAL" for wall time, "CPU" or "OFF". */
const char *printer__time_name(enum weight weight);

/* Whether lines are so short that figures make room for names. */
bool printer__narrow(const struct printer *pr);

/* Worth bold type: a tenth of the whole. */
static inline bool printer__hot(uint64_t part, uint64_t whole)
{
	return whole && part >= whole / 10;
}

/* "12.3%", "<0.1%", or "-" if there is no whole. */
char *printer__share(uint64_t part, uint64_t whole, char *buf, size_t size);

/* A time that is uncertain by `error_ns`: if it cannot be told from what the probes cost, only what
 * it is below, as "<50 ns". */
char *printer__time(const struct printer *pr, uint64_t ns, uint64_t error_ns, char *buf,
		    size_t size);

/* The same of a time that is estimated from samples: "~1.25 s". It takes a column more. */
char *printer__estimate(const struct printer *pr, uint64_t ns, char *buf, size_t size);

/* How certain a row's times are: whether the time with callees (`total`), and that without
 * (`self`), are estimated, by how much the first is uncertain, and by how much more than
 * calibration says the second is. Where one call in `sampled` was kept (0: each), all is scaled by
 * that. */
struct row_estimate {
	bool total, self;
	uint64_t total_error_ns, error_ns;
};
struct row_estimate printer__row_estimate(const struct printer *pr, const struct call_stats *s,
					  uint32_t sampled);

/* Prints a time in a column of its own. */
void printer__put_time(const struct printer *pr, uint64_t ns, uint64_t error_ns, bool estimate);

/* A count of calls; an estimate, from bursts or where only one in `sampled` was kept (0: each), as
 * "~1,200". */
char *printer__calls(const struct call_stats *s, uint32_t sampled, char *buf, size_t size);

/* CALLS of a table: columns of the counts, and of their errors behind them. */
struct calls_columns {
	size_t count, error;
};

/* The columns of a table without rows. */
struct calls_columns printer__calls_columns(const struct printer *pr);

/* Makes room for one more row. */
void printer__fit_calls(const struct printer *pr, struct calls_columns *c,
			const struct call_stats *s, uint32_t sampled);

/* Prints calls in their columns, "-" if nobody has counted them. An estimate that is uncertain by a
 * fifth or more says so: "~9,516 ±55%"; with -v the error is a column of its own instead. Where
 * lines are narrow, estimates have three digits: "~515k". */
void printer__put_calls(const struct printer *pr, const struct calls_columns *c,
			const struct call_stats *s, uint32_t sampled);

/* Whether times are followed by what they are uncertain by; and calls, where bursts were made. */
bool printer__errors(const struct printer *pr);
bool printer__calls_errors(const struct printer *pr);

/* Prints what calls are uncertain by, in a column of CALLS_ERROR_WIDTH. */
#define CALLS_ERROR_WIDTH 9
void printer__put_calls_error(const struct printer *pr, const struct call_stats *s);

/* With opts->interval, a line that tells when the interval began. */
void printer__interval(struct printer *pr);

/* Folds lines to the terminal up to printer__end_prose(), where those of tables are not folded
 * (-v). *table = what the printer printed to before. Returns 0 or -ENOMEM. */
int printer__begin_prose(struct printer *pr, FILE **table);

/* Returns `err`, or the error that the prose could not be written for: -errno. */
int printer__end_prose(struct printer *pr, FILE *table, int err);

void printer__fini(struct printer *pr);

#endif
