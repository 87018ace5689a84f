/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sinks turn a linked and summarized profile into one output format. A new format is one file and
 * one row in the table in sink.c. Sinks see profiles only, never BPF or ELF.
 */
#ifndef PROFTRACE_SINK_SINK_H
#define PROFTRACE_SINK_SINK_H

#include <stdbool.h>
#include <stdio.h>

#include "calls/stats.h"

struct diff;
struct profile;

struct sink_options {
	enum weight weight;
	bool weight_chosen;  /* by -w; see sink__weight() */
	bool thread_frames;  /* folded: begin with comm-pid/tid, or the title; tree: one tree a
				thread */
	bool process_frames; /* folded: begin with comm-pid; tree: apart by process */
	bool color;	     /* ANSI colours */
	bool verbose;	     /* tree, flat: leave nothing out */
	size_t columns;	     /* formats for people: lines may be so long; 0: any length */
	/* Their prose may, where tables may be longer (-v); 0: any length. */
	size_t prose_columns;
	bool interval;	    /* one of several profiles on one stream (-i) */
	bool reverse;	    /* folded: stacks begin with the innermost function */
	bool raw;	    /* the probes' cost was left in the times */
	char *const *hists; /* tree, flat: functions whose distribution is drawn, globs */
	size_t hists_cnt;
	bool live;  /* tree: of top, where it is too late for options */
	bool zooms; /* page: viewers may zoom into functions, so that they become exact */
	/* Page, of a profile without single calls: functions whose calls are sessions, globs. */
	char *const *sessions;
	size_t sessions_cnt;
};

struct sink {
	const char *name; /* as in -f NAME */
	const char *help; /* one line for --help */
	/* How names of such files end, "*" within them for anything; NULL-terminated, or NULL. */
	const char *const *suffixes;
	bool accounts; /* ends with the accounts, for people */
	bool whole;    /* a file holds one profile: intervals cannot follow each other in it */
	bool sums;   /* profiles that follow each other add up: a whole one and its parts do not */
	bool weighs; /* shows paths by what sink_options::weight says (-w), or first by that */
	bool names_only;     /* where functions are in their source is not shown */
	bool shows_calls;    /* shows single calls, where there are any */
	bool reads_calls;    /* shows none, but looks at them, of profiles with single waits */
	bool shows_values;   /* values of single calls, too */
	bool shows_sessions; /* beside the run's calls; others are given the kept ones as threads,
				which they may tell more of by profile::sessions */
	bool needs_calls;    /* implies it; a profile without a timeline is not shown at all */
	bool needs_lines;    /* shows lines of source, which are to be asked for (--lines) */
	/* One of the two: a stream is written to, or, by a format that is none, the file at `path`,
	 * which must be a regular one and is replaced. Return 0 or -errno. */
	int (*write)(const struct profile *p, const struct sink_options *opts, FILE *out);
	int (*write_file)(const struct profile *p, const struct sink_options *opts,
			  const char *path);
	/* Writes a difference of two profiles. NULL: the format cannot show one. */
	int (*write_diff)(const struct diff *d, const struct sink_options *opts, FILE *out);
};

/* The weight by which formats for people (tree, flat, svg, html) sort or draw: the one of -w.
 * Without -w that is CPU time where samples tell all of it, and the target has had some, as by wall
 * time idle threads of a pool come before all that work. */
enum weight sink__weight(const struct sink_options *opts, const struct profile *p);

/* The sink called `name`, or NULL. */
const struct sink *sink__find(const char *name);

/* The sink for a file of that name, by its longest matching suffix, or NULL. */
const struct sink *sink__for_file(const char *path);

#define FORMAT_NAMES 256 /* room for those of all */

/* The names of all formats, "tree, flat, ...", in `buf`, which it returns. */
char *sink__names(char *buf, size_t size);

/* Names of sinks that show differences. */
char *sink__diff_names(char *buf, size_t size);

/* Names of sinks that show the values of single calls. */
char *sink__value_names(char *buf, size_t size);

/* The table of all sinks, for help texts: NULL once `index` is past its end. */
const struct sink *sink__at(size_t index);

extern const struct sink sink_tree, sink_flat, sink_folded, sink_json, sink_speedscope, sink_pprof,
	sink_callgrind, sink_csv, sink_sqlite, sink_chrome, sink_perfetto, sink_firefox, sink_html,
	sink_lines, sink_locks, sink_svg, sink_openmetrics;

#endif
