/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where lines of source are probed (--lines). A function's code is cut into segments, runs of
 * instructions of one line and one inlined call in one basic block; each segment of a wanted line
 * has a site. Segments of other lines that may come directly behind one are probed as well, so
 * that it is known when a line ends: they are fences.
 */
#ifndef PROFTRACE_PLAN_PLAN_LINES_H
#define PROFTRACE_PLAN_PLAN_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One line of one function and inlined call: becomes a profile_line. */
struct plan_line {
	const char *file;
	uint32_t line;
	uint32_t function; /* in plan.functions */
	uint32_t inlined;  /* index in inlines + 1; 0: none */
	/* Why it is not counted: some of its code cannot be probed. It has no sites then, or only
	 * fences. NULL: it is counted. Static. */
	const char *reason;
	bool approximate; /* its function is optimized, see profile_line */
	bool aside;	  /* see profile_line */
};

struct plan_line_site {
	uint64_t offset;    /* in the file, of the probed instruction */
	uint64_t semaphore; /* that of a static probe at its site, as in plan_site */
	uint32_t function;  /* in plan.functions */
	uint32_t line;	    /* index in lines + 1; 0: a fence */
	uint8_t site;	    /* enum site_class; SITE_NOP5 and SITE_NOP10 only if at_entry */
	/* Its basic block has a segment of the same line before this one: never a new run. */
	bool repeats;
	/* Control may come back to it without leaving its line. Only there a jump upwards, from the
	 * same line, is a new run: else, as from the end of a loop to its head, the run goes on. */
	bool cycles;
	/* Exceptions land there: always a new run. */
	bool lands;
	/* at_entry: the line that the function is declared on, if that has no code; it runs with
	 * each call. Index in lines + 1; 0: none that is wanted. */
	uint32_t declared;
	/* The line lies at the function's entry probe or before it. It has no probe of its own: the
	 * entry stands for it. At most one line of a function. */
	bool at_entry;
	/* The function can be left by this very instruction (ret, jump out), which may thus have an
	 * exit probe too: that may be called first. */
	bool on_exit;
};

/* A call that the compiler has replaced by the callee's code; see struct profile_inline. */
struct plan_inline {
	const char *name; /* of the callee, demangled */
	const char *file; /* where the call stands; NULL: unknown */
	uint32_t line;
	uint32_t parent; /* index in inlines + 1; 0: none */
};

struct plan_lines {
	struct plan_line *lines; /* by function; those of one have no other order */
	size_t lines_cnt, lines_cap;
	/* By function; in it by address, but its cold pieces come last. What has been put in stays
	 * where it is. */
	struct plan_line_site *sites;
	size_t sites_cnt, sites_cap;
	struct plan_inline *inlines;
	size_t inlines_cnt, inlines_cap;
	bool by_others; /* somebody but root can have written what describes some of them */
	void *strings;	/* all files and names: a tree, see tsearch(3) */
};

void plan_lines__free(struct plan_lines *l); /* accepts NULL */

#endif
