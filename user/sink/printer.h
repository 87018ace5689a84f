/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the formats for people share: colours, names that fit, and the lines around a report. */
#ifndef PROFTRACE_SINK_PRINTER_H
#define PROFTRACE_SINK_PRINTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct profile;
struct sink_options;

struct printer {
	const struct profile *profile;
	const struct sink_options *opts;
	FILE *out;
	char *name; /* scratch; freed by printer__fini() */
	size_t name_cap;
};

#define STYLE_PLAIN "\033[0m"
#define STYLE_BOLD  "\033[1m"
#define STYLE_DIM   "\033[2m"
#define STYLE_WARN  "\033[33m"

/* The escape sequence, or "" without colours. */
const char *printer__style(const struct printer *pr, const char *style);

/* Prints a name escaped and, unless opts->verbose, shortened in its middle to `columns`. Returns
 * the columns it took or -ENOMEM. */
int printer__name(struct printer *pr, const char *name, size_t columns);

/* Worth bold type: a tenth of the whole. */
static inline bool printer__hot(uint64_t part, uint64_t whole)
{
	return whole && part >= whole / 10;
}

/* "12.3%", "<0.1%", or "-" if there is no whole. */
char *printer__share(uint64_t part, uint64_t whole, char *buf, size_t size);

/* With opts->interval, a line that tells when the interval began. */
void printer__interval(struct printer *pr);

/* Where the calls went, what was lost, and what was probed; if the report is `empty`, why that may
 * be. Returns 0 or -ENOMEM. */
int printer__footer(struct printer *pr, bool empty);

void printer__fini(struct printer *pr);

#endif
