# SPDX-License-Identifier: GPL-2.0-or-later
"""The database, read by SQLite and compared with the JSON of the same profile."""

import contextlib
import json
import os
import re
import sqlite3

import harness
import sample
from harness import program

DOCS = os.path.join(harness.ROOT, "docs", "sqlite.md")
STATS = ("calls", "total_ns", "self_ns", "off_ns", "off_self_ns", "cpu_ns", "cpu_self_ns",
         "raw_total_ns", "raw_self_ns", "error_ns", "self_error_ns")


def open_database(test, path):
    """Checks it, too; it is closed when the test ends."""
    db = sqlite3.connect(path)
    test.addCleanup(db.close)
    db.row_factory = sqlite3.Row
    test.assertEqual(db.execute("PRAGMA integrity_check").fetchone()[0], "ok")
    test.assertEqual(db.execute("PRAGMA foreign_key_check").fetchall(), [])
    return db


def examples():
    """Returns the queries that the documentation shows."""
    with open(DOCS, encoding="utf-8") as file:
        return re.findall(r"```sql\n(.*?)```", file.read(), re.S)


class Reader:
    def rows(self, db, query):
        return [dict(row) for row in db.execute(query)]

    def check_estimate(self, row, expected):
        expected = {"samples": expected.get("samples", 0), **sample.estimate(expected)}
        self.assertEqual({key: row[key] for key in expected}, expected)

    def check_sqlite_functions(self, db, document):
        functions = self.rows(db, "SELECT * FROM functions ORDER BY id")
        self.assertEqual(len(functions), len(document["functions"]))
        for row, expected in zip(functions, document["functions"]):
            for key in STATS + ("id", "name", "symbol", "module", "offset", "file", "line",
                                "sampled", "dropped", "whole"):
                # Addresses of the kernel are above SQLite's integers.
                wanted = min(expected[key], 2**63 - 1) if key == "offset" else expected[key]
                self.assertEqual(row[key], wanted, f"{key} of {expected['name']}")
            self.assertEqual(row["whole_until_ns"], expected.get("whole_until_ns"))
            self.check_estimate(row, expected)
            self.assertEqual(row["durations"], expected.get("durations", "all"))
            self.assertEqual(row["average_ns"], expected.get("avg_ns", row["average_ns"]))
            for key in ("min_ns", "max_ns", "p50_ns", "p90_ns", "p99_ns"):
                self.assertEqual(row[key] or 0, expected[key], f"{key} of {expected['name']}")
            buckets = db.execute("SELECT low_ns, high_ns, calls FROM buckets WHERE function = ?",
                                 (row["id"],))
            self.assertEqual([list(bucket) for bucket in buckets], expected["histogram"])
            aliases = db.execute("SELECT symbol FROM aliases WHERE function = ?", (row["id"],))
            self.assertEqual([alias for alias, in aliases], expected["aliases"])

    def check_sqlite_paths(self, db, document):
        threads = self.rows(db, "SELECT * FROM threads ORDER BY id")
        self.assertEqual(len(threads), len(document["threads"]))
        paths = {row["id"]: row for row in self.rows(db, "SELECT * FROM paths")}
        for thread, expected in zip(threads, document["threads"]):
            for key in ("pid", "tid", "comm"):
                self.assertEqual(thread[key], expected[key])
            self.assertEqual(thread["goroutine"], expected.get("goroutine"))
            for node, parent, depth in harness.walk(expected["calls"]):
                path = paths.pop(node["id"])
                self.assertEqual((path["thread"], path["parent"], path["depth"]),
                                 (thread["id"], parent and parent["id"], depth - 1))
                for key in STATS + ("function",):
                    self.assertEqual(path[key], node[key])
                self.check_estimate(path, node)
        self.assertEqual(paths, {})

    def check_sqlite_facts(self, db, document):
        accounts, = self.rows(db, "SELECT * FROM accounting")
        # The document leaves out some that are 0.
        self.assertEqual(accounts, dict.fromkeys(accounts, 0) | document["accounting"])
        self.assertEqual(self.rows(db, "SELECT * FROM drops"), document["dropped"])
        meta = dict(tuple(row) for row in db.execute("SELECT * FROM meta"))
        for key in ("duration_ns", "paused_ns", "start_time", "proftrace"):
            self.assertEqual(meta[key], document[key])
        self.assertEqual(meta.get("max_overhead_percent"), document["budget"]["max_percent"])
        target = [tuple(row) for row in db.execute("SELECT * FROM target")]
        path = document["target"]["exec"]
        self.assertEqual(target, [("pid", pid) for pid in document["target"]["pids"]] +
                         [("exec", path) for _ in range(path is not None)] +
                         [("argument", word) for word in document["target"]["command"]])
        self.assertEqual(self.rows(db, "SELECT name, reason FROM skipped"),
                         document["probes"]["skipped"])

    def check_sqlite(self):
        path, document = self.write("sqlite", "x.sqlite")
        db = open_database(self, path)
        for check in (self.check_sqlite_functions, self.check_sqlite_paths,
                      self.check_sqlite_facts):
            check(db, document)


class Sqlite(Reader, sample.TestCase):
    def test_columns(self):
        self.check_sqlite()

    def test_calls(self):
        path, _ = self.write("sqlite", "x.sqlite", "-c")
        db = open_database(self, path)
        expected, stack = [], []
        for event in self.events():
            if event["begins"]:
                stack.append(len(expected))
                expected.append({"node": event["node"], "enter_ns": event["at_ns"],
                                 "off_ns": event["off_ns"], "depth": event["depth"],
                                 "parent": stack[-2] + 1 if len(stack) > 1 else None})
            else:
                expected[stack.pop()]["leave_ns"] = event["at_ns"]
        calls = self.rows(db, "SELECT path AS node, enter_ns, leave_ns, off_ns, depth, parent "
                              "FROM calls ORDER BY id")
        self.assertEqual(calls, expected)

    def test_examples_of_the_documentation(self):
        path, _ = self.write("sqlite", "x.sqlite", "-c")
        old, _ = self.write("sqlite", "old.sqlite")
        found = examples()
        self.assertGreater(len(found), 10)
        for sql in found:
            if "call_values" in sql or "FROM lines" in sql:
                continue  # the sample has none: see test_arguments.py, test_lines_shown.py
            if "old." in sql:
                sql = f"ATTACH '{old}' AS old;" + sql
            self.assertTrue(json.loads(self.run_tool("sqlite3", "-bail", "-json", path, sql)), sql)


class Runs(harness.TestCase):
    def test_run(self):
        """Chosen by the file's name; what was in the file is gone."""
        out = self.path("out.sqlite")
        for _ in range(2):
            done = self.run_proftrace("-o", out, "--", program("recursion"), 5, 2)
            self.assertEqual(done.status, 0, str(done))
            with contextlib.closing(open_database(self, out)) as db:
                calls = dict(tuple(row) for row in db.execute("SELECT name, calls FROM functions"))
                self.assertEqual(db.execute("SELECT entered FROM accounting").fetchone()[0],
                                 sum(calls.values()))
            self.assertEqual({name: calls.get(name) for name in done.counts}, done.counts)
        self.assertEqual(os.listdir(self.directory), ["out.sqlite"])

    def test_no_stream(self):
        done = self.run_proftrace("-f", "sqlite", "--", program("recursion"), 5, 2)
        self.assertEqual(done.status, 2)
        self.assertIn("sqlite is no format for a stream: name a file with -o", done.stderr)
        done = self.run_proftrace("-f", "sqlite", "-o", "/dev/null", "--",
                                  program("recursion"), 5, 2)
        self.assertEqual(done.status, 1)
        self.assertIn("cannot write /dev/null: ", done.stderr)


if __name__ == "__main__":
    harness.main()
