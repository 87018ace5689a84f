/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fills a new SQLite database, row by row, value by value. The first error stays and makes all that
 * follows do nothing: ask once, at the end.
 */
#ifndef PROFTRACE_SINK_DATA_TABLE_WRITER_H
#define PROFTRACE_SINK_DATA_TABLE_WRITER_H

#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;

struct table_writer {
	struct sqlite3 *db;
	struct sqlite3_stmt *row; /* NULL: no table is open */
	int column;
	int err;   /* 0 or -errno */
	char *buf; /* scratch for text */
	size_t buf_cap;
};

/* Replaces the file at `path`, which must be a regular one if it exists, by an empty database, and
 * begins a transaction. Call table_writer__close() whatever comes. */
void table_writer__open(struct table_writer *w, const char *path);

/* Runs statements that return nothing. */
void table_writer__run(struct table_writer *w, const char *sql);

/* Rows of `table` follow, of so many columns. */
void table_writer__table(struct table_writer *w, const char *table, int columns);

/* The row's next value. Numbers above INT64_MAX become that, the largest that SQLite has; text NULL
 * becomes NULL, invalid UTF-8 U+FFFD. */
void table_writer__u64(struct table_writer *w, uint64_t v);
void table_writer__i64(struct table_writer *w, int64_t v);
void table_writer__double(struct table_writer *w, double v);
void table_writer__text(struct table_writer *w, const char *v);
void table_writer__null(struct table_writer *w);

/* The row is whole. */
void table_writer__row(struct table_writer *w);

/* Commits and closes. Returns 0 or the first error, as -errno: the file is empty then. */
int table_writer__close(struct table_writer *w, const char *path);

#endif
