# SPDX-License-Identifier: GPL-2.0-or-later
"""CSV, by Python's reader and by sqlite3's."""

import csv
import subprocess

import harness
import sample
from sample import plain

FIGURES = ("calls", "total_ns", "self_ns", "off_ns", "off_self_ns", "cpu_ns", "cpu_self_ns",
           "raw_total_ns", "raw_self_ns", "error_ns", "self_error_ns")


class Reader:
    @staticmethod
    def csv_text(name):
        name = name or ""
        return ("'" if name[:1] in tuple("=+-@") else "") + plain(name)

    def check_csv(self):
        """Every path with all that JSON says of it, in its order."""
        path, document = self.write("csv", "x.csv")
        with open(path, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        expected = []
        for thread in document["threads"]:
            for node, parent, depth in harness.walk(thread["calls"]):
                function = document["functions"][node["function"]]
                goroutine = thread.get("goroutine", "")
                row = {"path": node["id"], "caller": parent["id"] if parent else "",
                       "depth": depth - 1, "pid": thread["pid"],
                       "tid": "" if goroutine else thread["tid"], "goroutine": goroutine,
                       "comm": self.csv_text(thread["comm"]), "function": self.csv_text(function["name"]),
                       "offset": function["offset"], "line": function["line"] or ""}
                row |= {key: self.csv_text(function[key]) for key in ("symbol", "module", "file")}
                row |= {figure: node[figure] for figure in FIGURES}
                row |= {"kind": function["kind"], "whole": int(function["whole"]),
                        "whole_until_ns": function.get("whole_until_ns", ""),
                        **sample.estimate(node), "samples": node.get("samples", 0),
                        "durations": function.get("durations", "all")}
                expected.append({key: str(value) for key, value in row.items()})
        self.assertEqual(len(rows), len(expected))
        for row, wanted in zip(rows, expected):
            self.assertEqual({key: row[key] for key in wanted}, wanted)
            # JSON has these of functions only; there are none of paths whose calls have not ended.
            self.assertEqual(set(row) - set(wanted), {"min_ns", "max_ns"})
            self.assertEqual(bool(row["min_ns"]), bool(row["max_ns"]))
            self.assertLessEqual(bool(row["min_ns"]), row["calls"] != "0")
        self.check_extremes(rows, document)

    def check_extremes(self, rows, document):
        """A function's is that of one of its paths."""
        for key, choose in (("min_ns", min), ("max_ns", max)):
            found = {}
            for row in rows:
                if row[key]:
                    found.setdefault((row["module"], row["offset"]), []).append(int(row[key]))
            self.assertTrue(found)
            for function in document["functions"]:
                values = found.get((self.csv_text(function["module"]), str(function["offset"])), [0])
                self.assertEqual(choose(values), function[key], function)


class Csv(Reader, sample.TestCase):
    def test_paths(self):
        self.check_csv()

    def test_sums(self):
        """Costs of functions can be summed up from paths."""
        path, document = self.write("csv", "x.csv")
        done = subprocess.run(
            ["sqlite3", ":memory:", ".mode csv", f".import '{path}' paths", ".mode list",
             "select offset, sum(calls), sum(self_ns) from paths group by module, offset"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.TIMEOUT, check=True)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(sorted(done.stdout.decode().split()),
                         sorted(f"{f['offset']}|{f['calls']}|{f['self_ns']}"
                                for f in document["functions"]))


if __name__ == "__main__":
    harness.main()
