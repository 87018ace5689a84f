// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file is new, and worth nothing until it is whole: so there is no journal (nor a second file
 * whose name others could have taken), and nothing waits for the disk.
 */
#include "sink/data/table_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/utf8.h"

static void check(struct table_writer *w, int result)
{
	int saved;

	if (w->err || result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
		return;
	saved = w->db ? sqlite3_system_errno(w->db) : 0;
	if (result == SQLITE_NOMEM)
		w->err = -ENOMEM;
	else if (result == SQLITE_FULL)
		w->err = -ENOSPC;
	else if (result == SQLITE_TOOBIG)
		w->err = -E2BIG;
	else
		w->err = saved ? -saved : -EIO;
}

/* Only a regular file can be sought in; what it held is gone. */
static int empty(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666), err = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ESPIPE;
	else if (ftruncate(fd, 0))
		err = -errno;
	close(fd);
	return err;
}

void table_writer__open(struct table_writer *w, const char *path)
{
	char name[PATH_MAX + 2];

	*w = (struct table_writer){.err = empty(path)};
	/* Some names mean something else to SQLite: ":memory:", "". */
	if (!w->err && snprintf(name, sizeof(name), "%s%s", *path == '/' ? "" : "./", path) >=
			       (int)sizeof(name))
		w->err = -ENAMETOOLONG;
	if (w->err)
		return;
	check(w, sqlite3_open_v2(name, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL));
	table_writer__run(w, "PRAGMA page_size = 16384; PRAGMA cache_size = -16384;"
			     "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			     "PRAGMA locking_mode = EXCLUSIVE; BEGIN");
}

void table_writer__run(struct table_writer *w, const char *sql)
{
	sqlite3_finalize(w->row);
	w->row = NULL;
	if (!w->err)
		check(w, sqlite3_exec(w->db, sql, NULL, NULL, NULL));
}

void table_writer__table(struct table_writer *w, const char *table, int columns)
{
	char sql[256];
	int len = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES (?", table), i;

	for (i = 1; i < columns && len < (int)sizeof(sql); i++)
		len += snprintf(sql + len, sizeof(sql) - len, ",?");
	if (len < (int)sizeof(sql))
		len += snprintf(sql + len, sizeof(sql) - len, ")");
	sqlite3_finalize(w->row);
	w->row = NULL;
	w->column = 0;
	if (!w->err && len >= (int)sizeof(sql))
		w->err = -E2BIG;
	if (!w->err)
		check(w, sqlite3_prepare_v2(w->db, sql, -1, &w->row, NULL));
}

void table_writer__u64(struct table_writer *w, uint64_t v)
{
	table_writer__i64(w, v > INT64_MAX ? INT64_MAX : (int64_t)v);
}

void table_writer__i64(struct table_writer *w, int64_t v)
{
	if (!w->err)
		check(w, sqlite3_bind_int64(w->row, ++w->column, v));
}

void table_writer__double(struct table_writer *w, double v)
{
	if (!w->err)
		check(w, sqlite3_bind_double(w->row, ++w->column, v));
}

void table_writer__text(struct table_writer *w, const char *v)
{
	const char *text = v ? utf8_repair(v, &w->buf, &w->buf_cap) : NULL;

	if (w->err)
		return;
	if (v && !text)
		w->err = -ENOMEM;
	else /* NULL is bound as NULL */
		check(w, sqlite3_bind_text(w->row, ++w->column, text, -1, SQLITE_TRANSIENT));
}

void table_writer__null(struct table_writer *w)
{
	if (!w->err)
		check(w, sqlite3_bind_null(w->row, ++w->column));
}

void table_writer__row(struct table_writer *w)
{
	if (w->err)
		return;
	check(w, sqlite3_step(w->row));
	check(w, sqlite3_reset(w->row));
	w->column = 0;
}

int table_writer__close(struct table_writer *w, const char *path)
{
	bool began = w->db;
	int ignored;

	table_writer__run(w, "COMMIT");
	if (w->db)
		check(w, sqlite3_close(w->db));
	/* Without a journal a transaction that failed has left some of its pages. */
	if (w->err && began) {
		ignored = truncate(path, 0);
		(void)ignored; /* the first error is the one to tell */
	}
	free(w->buf);
	*w = (struct table_writer){.err = w->err};
	return w->err;
}
