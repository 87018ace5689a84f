/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of -l as text: each whole, or, on a terminal, such that names fit. */
#ifndef PROFTRACE_CMD_LIST_ROWS_H
#define PROFTRACE_CMD_LIST_ROWS_H

#include <stddef.h>

#include "sink/text/printer.h"

#define LIST_REASONS 99

struct list_rows {
	struct printer pr;
	const char *object;		   /* that the last rows were of; NULL: none */
	const char *reasons[LIST_REASONS]; /* that rows give by number */
	size_t reasons_cnt;
};

struct list_row {
	const char *columns; /* offset, site and exit, LIST_COLUMNS wide */
	const char *object;
	const char *name;
	const char *reason;
	const char *instrumented; /* NULL: it is not */
};

#define LIST_COLUMNS 38

/* On a terminal rows name their object once and their reason by number. Strings are a stranger's,
 * and have to stay until list_rows__end(). */
void list_rows__begin(struct list_rows *l);
void list_rows__put(struct list_rows *l, const struct list_row *row);
void list_rows__end(struct list_rows *l);

#endif
