/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables and views of -f sqlite: a contract with people's queries, described in docs/sqlite.md.
 * Columns may be added at the end of a table, never changed. Names are those of the JSON document.
 */
#ifndef PROFTRACE_SINK_DATA_SQLITE_SCHEMA_H
#define PROFTRACE_SINK_DATA_SQLITE_SCHEMA_H

#define SQLITE_SCHEMA "1"

/* Columns of paths and functions, in the order of write_stats(). */
#define STATS_COLUMNS                                                                   \
	"calls INTEGER NOT NULL, total_ns INTEGER NOT NULL, self_ns INTEGER NOT NULL, " \
	"off_ns INTEGER NOT NULL, off_self_ns INTEGER NOT NULL, "                       \
	"cpu_ns INTEGER NOT NULL, cpu_self_ns INTEGER NOT NULL, "                       \
	"raw_total_ns INTEGER NOT NULL, raw_self_ns INTEGER NOT NULL, "                 \
	"error_ns INTEGER NOT NULL, self_error_ns INTEGER NOT NULL, "                   \
	"min_ns INTEGER, max_ns INTEGER" /* NULL: no call has finished */

/* Also of both; standard errors, 0: exact. */
#define ESTIMATE_COLUMNS                                   \
	"source TEXT NOT NULL, samples INTEGER NOT NULL, " \
	"calls_error INTEGER NOT NULL, cpu_error_ns INTEGER NOT NULL"

static const char sqlite_tables[] =
	"PRAGMA user_version = " SQLITE_SCHEMA ";"
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE target (kind TEXT NOT NULL, value NOT NULL);"
	"CREATE TABLE functions (id INTEGER PRIMARY KEY, name TEXT NOT NULL, symbol TEXT NOT NULL, "
	"module TEXT NOT NULL, offset INTEGER NOT NULL, file TEXT, line INTEGER, " STATS_COLUMNS
	", "
	"p50_ns INTEGER, p90_ns INTEGER, p99_ns INTEGER, sampled INTEGER NOT NULL, "
	"dropped INTEGER NOT NULL, kind TEXT NOT NULL, whole INTEGER NOT NULL, "
	"whole_until_ns INTEGER, " ESTIMATE_COLUMNS ", " /* NULL: it is whole */
	/* NULL: it is not known. Queries that join `hot`, which has an avg_ns, are older. */
	"durations TEXT NOT NULL, average_ns INTEGER);"
	"CREATE TABLE aliases (function INTEGER NOT NULL REFERENCES functions, "
	"symbol TEXT NOT NULL);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, pid INTEGER NOT NULL, tid INTEGER NOT NULL, "
	"goroutine INTEGER, comm TEXT NOT NULL, name TEXT NOT NULL);"
	"CREATE TABLE paths (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES paths, "
	"thread INTEGER NOT NULL REFERENCES threads, "
	"function INTEGER NOT NULL REFERENCES functions, "
	"depth INTEGER NOT NULL, " STATS_COLUMNS ", " ESTIMATE_COLUMNS ");"
	"CREATE TABLE buckets (function INTEGER NOT NULL REFERENCES functions, "
	"low_ns INTEGER NOT NULL, high_ns INTEGER NOT NULL, calls INTEGER NOT NULL);"
	"CREATE TABLE drops (function INTEGER REFERENCES functions, name TEXT NOT NULL, "
	"module TEXT NOT NULL, at_ns INTEGER NOT NULL, calls_per_second REAL NOT NULL, "
	"cost_percent REAL NOT NULL, sampled INTEGER NOT NULL, reason TEXT NOT NULL, "
	"back_ns INTEGER);"
	"CREATE TABLE probes (kind TEXT NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL);"
	"CREATE TABLE skipped (name TEXT NOT NULL, module TEXT NOT NULL, reason TEXT NOT NULL);"
	"CREATE TABLE accounting (entered INTEGER NOT NULL, returned INTEGER NOT NULL, "
	"unwound INTEGER NOT NULL, open INTEGER NOT NULL, lost INTEGER NOT NULL, "
	"deep INTEGER NOT NULL, dropped INTEGER NOT NULL, probe_ns INTEGER NOT NULL, "
	"cpu_ns INTEGER NOT NULL, overhead_percent REAL, undistributed INTEGER NOT NULL, "
	"untriggered INTEGER NOT NULL, line_misses INTEGER NOT NULL, "
	"timeline_calls INTEGER NOT NULL, timeline_lost INTEGER NOT NULL, "
	"callers_whole INTEGER NOT NULL, callers_no_rule INTEGER NOT NULL, "
	"callers_unreadable INTEGER NOT NULL, callers_astray INTEGER NOT NULL, "
	"callers_deep INTEGER NOT NULL, callers_lost INTEGER NOT NULL, "
	"samples_taken INTEGER NOT NULL, samples_probing INTEGER NOT NULL, "
	"samples_lost INTEGER NOT NULL, samples_whole INTEGER NOT NULL, "
	"samples_no_rule INTEGER NOT NULL, samples_unreadable INTEGER NOT NULL, "
	"samples_astray INTEGER NOT NULL, samples_deep INTEGER NOT NULL, "
	"samples_unknown INTEGER NOT NULL, bursts INTEGER NOT NULL, "
	"burst_ns INTEGER NOT NULL, sample_ns INTEGER NOT NULL, waits INTEGER NOT NULL, "
	"waits_lost INTEGER NOT NULL, waits_estimated INTEGER NOT NULL, "
	"waits_short INTEGER NOT NULL, waits_short_ns INTEGER NOT NULL, "
	"held_ns INTEGER NOT NULL);"
	"CREATE TABLE lines (id INTEGER PRIMARY KEY, file TEXT, line INTEGER, "
	"hits INTEGER NOT NULL, ns INTEGER NOT NULL, error_ns INTEGER NOT NULL, "
	"approximate INTEGER NOT NULL, reason TEXT);" /* why not counted; NULL: it is */
	/* Its code in one function. `inlined`: the function whose code it is there. */
	"CREATE TABLE line_parts (line INTEGER NOT NULL REFERENCES lines, "
	"function INTEGER REFERENCES functions, inlined TEXT, hits INTEGER NOT NULL, "
	"ns INTEGER NOT NULL, error_ns INTEGER NOT NULL, approximate INTEGER NOT NULL, "
	"aside INTEGER NOT NULL, reason TEXT);"
	"CREATE TABLE calls (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES calls, "
	"path INTEGER NOT NULL REFERENCES paths, depth INTEGER NOT NULL, "
	"enter_ns INTEGER NOT NULL, leave_ns INTEGER NOT NULL, off_ns INTEGER NOT NULL);"
	/* NULL: it could not be read. */
	"CREATE TABLE call_values (call INTEGER NOT NULL REFERENCES calls, name TEXT NOT NULL, "
	"value);";

/* Made when the tables are full: that is faster. */
static const char sqlite_views[] =
	"CREATE INDEX functions_name ON functions(name);"
	"CREATE INDEX paths_parent ON paths(parent);"
	"CREATE INDEX paths_function ON paths(function);"
	"CREATE INDEX buckets_function ON buckets(function);"
	"CREATE INDEX call_values_call ON call_values(call);"
	/* Where the time went. */
	"CREATE VIEW hot AS SELECT name, module, calls, total_ns / 1e6 AS total_ms, "
	"self_ns / 1e6 AS self_ms, off_self_ns / 1e6 AS off_self_ms, "
	"100.0 * self_ns / (SELECT NULLIF(total(self_ns), 0) FROM functions) AS self_percent, "
	"average_ns AS avg_ns, max_ns, id AS function "
	"FROM functions ORDER BY self_ns DESC;"
	/* Who calls whom, over all paths; caller NULL: nobody who was traced. */
	"CREATE VIEW callers AS SELECT caller.name AS caller, callee.name AS callee, "
	"sum(p.calls) AS calls, sum(p.total_ns) AS total_ns, "
	"q.function AS caller_function, p.function AS callee_function "
	"FROM paths p LEFT JOIN paths q ON q.id = p.parent "
	"LEFT JOIN functions caller ON caller.id = q.function "
	"JOIN functions callee ON callee.id = p.function GROUP BY q.function, p.function;"
	"CREATE VIEW thread_times AS SELECT t.id AS thread, t.name, "
	"sum(p.calls) AS calls, sum(p.self_ns) AS total_ns, "
	"sum(p.cpu_self_ns) AS cpu_ns, sum(p.off_self_ns) AS off_ns "
	"FROM threads t JOIN paths p ON p.thread = t.id GROUP BY t.id;"
	/* Folded stacks: made only of the paths that are asked for. */
	"CREATE VIEW stacks AS SELECT id AS path, (WITH RECURSIVE up(depth, function, parent) AS ("
	"SELECT p.depth, p.function, p.parent FROM paths p WHERE p.id = paths.id "
	"UNION ALL SELECT p.depth, p.function, p.parent FROM up JOIN paths p ON p.id = up.parent) "
	"SELECT group_concat(name, ';') FROM (SELECT f.name FROM up "
	"JOIN functions f ON f.id = up.function ORDER BY up.depth)) AS stack FROM paths;"
	"CREATE VIEW call_list AS SELECT c.id, t.name AS thread, f.name, c.depth, c.enter_ns, "
	"c.leave_ns - c.enter_ns AS duration_ns, c.off_ns, c.parent, c.path "
	"FROM calls c JOIN paths p ON p.id = c.path JOIN functions f ON f.id = p.function "
	"JOIN threads t ON t.id = p.thread;";

#endif
