/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of the live view: functions and threads of one interval, and who calls whom. */
#ifndef PROFTRACE_TOP_ROWS_H
#define PROFTRACE_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

/* The columns by which rows can be sorted; all but names the highest first. */
enum top_sort {
	SORT_SELF,
	SORT_TOTAL,
	SORT_CALLS,
	SORT_AVG,
	SORT_P99,
	SORT_WAIT,
	SORT_NAME,
	SORTS
};

struct top_row {
	uint32_t id; /* index of the function or thread */
	char *name;  /* owned by the rows; a stranger's */
	/* Shares of the CPU time of all functions: its own, and with its callees; 0 to 1. */
	double self, total;
	bool estimated; /* some of that is known from samples */
	double calls;	/* a second; negative: nobody has counted them */
	bool calls_estimated;
	bool dropped;		 /* to keep to the budget; for the caller to set */
	bool chosen;		 /* as in struct profile_function */
	bool no_code;		 /* as function__is_no_code() has it: nothing to zoom into */
	uint64_t avg_ns, p99_ns; /* of finished calls; 0: none has finished */
	uint64_t p50_ns, max_ns; /* of sessions likewise */
	uint32_t threads;	 /* of a process */
	uint64_t memory;	 /* resident bytes of a process */
	/* ns off the CPU in a second, by the function itself or by the thread; of sessions: the
	 * share of their time, 0 to 1. */
	double wait;
};

struct top_rows {
	struct top_row *items;
	size_t cnt;
};

/* Makes the rows of functions with news, or of threads; only those whose names have `search` in
 * them, upper and lower case being the same (NULL: all). Needs profile__connect() and
 * profile__summarize(). Both return 0 or -ENOMEM; the caller clears `r`, which is empty at first.
 */
int top_rows__functions(struct top_rows *r, const struct profile *delta, const char *search);
/* The processes of a whole machine, with their numbers as ids and their shares of one CPU;
 * SORT_TOTAL and SORT_CALLS sort by memory and threads. */
int top_rows__processes(struct top_rows *r, const struct profile *delta, const char *search);
int top_rows__threads(struct top_rows *r, const struct profile *delta, const char *search);
/* Functions that one of the GLOBs matches, with or without news. */
int top_rows__sessions(struct top_rows *r, const struct profile *delta, const char *search,
		       char *const *globs, size_t globs_cnt);
void top_rows__sort(struct top_rows *r, enum top_sort by);
void top_rows__clear(struct top_rows *r);

/* The CPU time of all functions together, in ns: the target's, where there are samples. */
uint64_t top_rows__cpu_ns(const struct profile *delta);

#define TOP_OUTERMOST UINT32_MAX /* no function: the thread's begin */

/* Calls between a function and another one. */
struct top_edge {
	uint32_t function; /* the other one, or TOP_OUTERMOST */
	uint64_t calls;
	uint64_t ns; /* wall time of the calls, with all below */
};

/* Who calls `function`, or whom it calls, the longest first. Recursion is counted once. Returns how
 * many, or -ENOMEM; the caller frees *out. */
int64_t top_rows__callers(const struct profile *p, uint32_t function, struct top_edge **out);
int64_t top_rows__callees(const struct profile *p, uint32_t function, struct top_edge **out);

#endif
