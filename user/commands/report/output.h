/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result's destination and format. */
#ifndef PROFTRACE_REPORT_OUTPUT_H
#define PROFTRACE_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sink/sink.h"

struct diff;
struct options;
struct pager;
struct profile;

struct output {
	FILE *file;
	const char *name; /* for messages */
	const struct sink *sink;
	struct sink_options opts;
	bool made;	     /* the file was not there, and nothing has been written yet */
	struct pager *pager; /* shows what is longer than the screen; NULL: nothing does */
	/* While something is being written that the pager may show: where it goes, and what it is.
	 */
	FILE *page;
	char *text;
	size_t text_len;
};

/* Forks the process of a pager, if the result is for a terminal. Before privileges are given up, as
 * a pager is to run as the user who called sudo. */
void output__page(struct output *out, const struct options *o);

/* Opens -o, or takes stdout; chooses format and colours. `out` is all zero but for what
 * output__page() has made of it. Returns 0, or -errno with one line logged. */
int output__open(struct output *out, const struct options *o);

/* Empties the file: from here on there will be a result. Returns 0, or -errno with one line logged.
 */
int output__begin(struct output *out);

/* Writes one profile. Returns 0; -EPIPE, silently, if nobody reads; -errno with one line logged. */
int output__write(struct output *out, const struct profile *p);

/* Opens the destination of the `number`-th profile of a run that goes on: behind those before, or,
 * in a format that allows one only, a file of its own, named after the output's. *name = what to
 * call it, in `buf`. To be closed by output__shot_done(). Returns 0, or -errno with one line
 * logged. */
int output__shot(struct output *out, uint32_t number, char *buf, size_t size, struct output *shot);
int output__shot_done(const struct output *out, struct output *shot);

/* Writes what two profiles differ by, in a format that has a write_diff. Returns as above. */
int output__write_diff(struct output *out, const struct diff *d);

/* At the end of a run, for formats that do not end with them: the accounts of all of it, as
 * messages. `dropped`: how many functions were dropped for the budget. `p`: its numbers alone. */
void output__account(const struct output *out, const struct profile *p, size_t dropped);

/* *stream = where lines for people go so that they fit the terminal: the output itself, where they
 * need not. Returns 0 or -ENOMEM. output__unfold() ends its use, `err` being how that went, and
 * returns as output__write(). */
int output__fold(struct output *out, FILE **stream);
int output__unfold(struct output *out, FILE *stream, int err);

/* Closes it. Returns as output__write(): a full disk may show only here. */
int output__close(struct output *out);

#endif
