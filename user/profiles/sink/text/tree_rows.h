/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a tree for people, before they are drawn. */
#ifndef PROFTRACE_SINK_TEXT_TREE_ROWS_H
#define PROFTRACE_SINK_TEXT_TREE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "calls/profile.h"
#include "calls/stats.h"

#define TREE_INDENT_MAX 20 /* deepest level that is drawn by indentation */

enum tree_row_kind {
	ROW_CALL,
	ROW_RECURSION, /* `cnt` levels of a function that calls nothing but itself */
	ROW_CHAIN,     /* `cnt` functions without counted calls, of which each calls the next */
	ROW_MORE,      /* `cnt` cheap paths below one parent */
};

/* Calls and self times sum over all paths of the row, so that a tree's columns add up; the
 * inclusive figures over the outermost of them. */
struct tree_row {
	struct call_stats stats;
	uint32_t sampled; /* of a function of the row: one call in so many was kept; 0: each */
	uint32_t node;	  /* the first, if there are several, */
	uint32_t end;	  /* and the innermost; but of ROW_MORE */
	uint32_t caller;  /* index of its row + 1; 0: none */
	uint32_t callees; /* how many rows it is the caller of, but for ROW_MORE */
	uint32_t depth;	  /* of the row's indentation */
	uint32_t level;	  /* of nested calls; 1: outermost */
	uint32_t cnt;	  /* levels or, for ROW_MORE, paths */
	uint32_t run;	  /* rows, up to this, in which the function has called itself */
	enum tree_row_kind kind;
	bool folded; /* all paths below its last function are cheap, and part of the row */
	bool last;   /* no sibling follows; not set below TREE_INDENT_MAX */
};

struct tree_rows {
	struct tree_row *items;
	size_t len, cap;
	uint64_t whole_ns; /* what the tree weighs */
	uint64_t cpu_ns;   /* its CPU time */
};

/* Fills `r`, which may hold an earlier tree, with the rows of a thread. Unless `everything` is
 * wanted, long recursion becomes one row, and so does a chain of functions that samples know; and
 * of a tree that is too long for a reader, what is cheap or very deep becomes one row a parent.
 * Cheap is what weighs little by `weight`, which is a time. Returns 0 or -ENOMEM. */
int tree_rows__build(struct tree_rows *r, const struct profile *p, uint32_t thread,
		     enum weight weight, bool everything);

void tree_rows__fini(struct tree_rows *r);

#endif
