/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside top/ only. What the live view shows at the moment. */
#ifndef PROFTRACE_TOP_STATE_H
#define PROFTRACE_TOP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "top/history.h"
#include "top/rows.h"

struct profile;

enum top_view {
	VIEW_PROCESSES,
	VIEW_FUNCTIONS,
	VIEW_TREE,
	VIEW_THREADS,
	VIEW_SESSIONS,
	VIEW_FUNCTION,
	VIEW_HELP,
};

#define NOTHING_SELECTED UINT32_MAX

#define VIEW_FIRST_ROW	2 /* of the canvas; above it is the target's line, and a free one */
#define VIEW_ROWS_BELOW 1 /* the line of keys */

struct top {
	char whom[80];
	struct profile *shown; /* the interval; NULL: there has been none */
	struct top_rows rows;  /* of the table that is shown, if it is one */
	struct history history;
	/* By function, as of the newest profile: when it was dropped last to keep to the budget,
	 * and came back (since the start; 0: never). */
	struct top_drop {
		bool dropped;
		uint64_t back_ns;
	} * drops;
	uint64_t until_ns;     /* the newest profile, since the start */
	char *const *sessions; /* GLOBs of functions whose calls are sessions */
	size_t sessions_cnt;
	enum top_view view, from; /* `from`: the one that VIEW_FUNCTION was opened in */
	enum top_sort sort, sessions_sort;
	uint32_t function; /* that VIEW_FUNCTION shows */
	uint32_t zoomed;   /* the function that is looked at closely; NOTHING_SELECTED: none */
	uint32_t selected; /* the row's id; NOTHING_SELECTED: the first one */
	size_t scroll;	   /* rows, or lines, above those that are shown */
	size_t lines;	   /* that a view without rows has */
	size_t page;	   /* rows that fit */
	char search[48];
	char message[200];
	bool editing; /* what is searched for is being typed */
	bool frozen;
	bool off;
	bool machine; /* all processes are shown */
	bool nested;  /* one of them is */
	pid_t opened;
};

/* Scrolls the table so that the selected row is on the screen; returns its place. */
size_t state__scroll(struct top *t);

#endif
