# SPDX-License-Identifier: GPL-2.0-or-later
"""Two recorded runs compared. What is slower is so by CPU time that the target has measured itself;
what is noise is judged by what the document says of it, never by what a machine may do."""

import csv
import io
import itertools
import json
import os
import re
import subprocess

import browser
import harness
import sample
import schemas
from harness import NOBODY, PROFTRACE, PYTHON, UNLIMITED, program

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"


class Diff(harness.TestCase):
    def verb(self, *args, **popen):
        """Without options of the harness."""
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL, **popen).finish()

    def record(self, name, *command, options=()):
        """Records a command as the file `name`; returns its path."""
        out = self.path(name)
        done = self.verb("record", *UNLIMITED, *options, "-o", out, "--", *command)
        self.assertEqual(done.status, 0, str(done))
        return out

    def record_pace(self, ms, times):
        """A run of `pace` that has used the CPU time that it is asked for, by its own account: a
        virtual machine that is stopped for a while counts that as CPU time of what runs on it."""
        for _ in range(50):
            out = self.path(f"{ms}ms")
            done = self.verb("record", *UNLIMITED, "-o", out, "--", program("pace"), ms, times)
            self.assertEqual(done.status, 0, str(done))
            if done.numbers("BEYOND")["us"] < 3000:
                return out
            os.unlink(out)
        raise AssertionError(f"this machine is stopped over and over: {done}")

    def diff(self, *args, **popen):
        done = self.verb("diff", *args, **popen)
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def json(self, *args):
        document = json.loads(self.diff("-f", "json", *args))
        schemas.check(document)
        for row in document["functions"] + document["paths"]:
            for change in (row, row["total"]):
                self.assertEqual(change["noise"], abs(change["change_ns"]) <= change["noise_ns"], row)
                self.assertGreater(change["noise_ns"], 0, row)
        return document

    def report(self, path, *options):
        done = self.verb("report", "-f", "json", *options, path)
        self.assertEqual(done.status, 0, str(done))
        return self.check(json.loads(done.stdout))

    @staticmethod
    def rows(document):
        return {row["name"]: row for row in document["functions"]}

    def paces(self, *more):
        """A fast run and a slow one of the same program; `rare` is replaced by `other`."""
        old = self.record("old", program("pace"), 0, 200, 3)
        new = self.record("new", program("pace"), 2, 200, 0)
        return (old, new, *more)

    def test_what_got_slower_comes_first(self):
        old, new = self.paces()
        # Load of other processes adds no CPU time to this.
        document = self.json("-w", "cpu", old, new)
        first = document["functions"][0]
        self.assertEqual(first["name"], "uneven")
        self.assertFalse(first["noise"])
        self.assertGreaterEqual(first["change_ns"], 0.9 * 200 * 2_000_000)
        # Nothing may be left of the fast run's time once the cost of probes is taken out.
        if first["old"]["cpu_self_ns"]:
            self.assertGreater(first["change_percent"], 100)
        else:
            self.assertIsNone(first["change_percent"])
        self.assertEqual((first["calls_change"], first["calls_noise"]), (0, True))
        path = max(document["paths"], key=lambda row: row["change_ns"])
        self.assertEqual(path["path"], ["main", "run", "uneven"])
        # The callers of the slower function are as fast as before; with their callees they are not.
        for name in ("main", "run"):
            row = self.rows(document)[name]
            self.assertLess(row["change_ns"], first["change_ns"])
            self.assertFalse(row["total"]["noise"])
        # The tables for people say the same, by both kinds of time.
        for weight in ("wall", "cpu"):
            for format_ in ("tree", "flat"):
                text = self.diff("-w", weight, "-f", format_, old, new)
                rows = re.findall(r"^ *([+-])[0-9.]+ \w+ .*?(\w+) +pace$", text, re.M)
                self.assertIn(("+", "uneven"), rows if weight == "wall" else rows[:1], text)

    def test_calls_are_exact_and_apart(self):
        old, new = self.paces()
        rows = self.rows(self.json(old, new))
        for name, calls in (("even", (403, 401)), ("uneven", (200, 200)), ("rare", (3, 0)), ("other", (0, 1))):
            row = rows[name]
            self.assertEqual((row["old"]["calls"], row["new"]["calls"]), calls, name)
            self.assertEqual(row["calls_change"], calls[1] - calls[0])
            self.assertEqual(row["calls_noise"], calls[0] == calls[1])
        text = self.diff("-w", "calls", old, new)
        table = text[text.index("Functions by the change of their calls:"):]
        self.assertEqual(re.findall(r"^ +([+-]\d+) .*?(\w+) +pace$", table, re.M),
                         [("-3", "rare"), ("-2", "even"), ("+1", "other")])
        self.assertIn("= ", table)
        self.assertNotIn("own time", text)

    def test_the_same_run_is_noise(self):
        old, _ = self.paces()
        document = self.json(old, old)
        for row in document["functions"] + document["paths"]:
            self.assertEqual((row["change_ns"], row["noise"], row["calls_noise"]), (0, True, True))
        self.assertIn("5 functions changed within noise", self.diff(old, old))
        self.assertIn("none has changed by more than noise", self.diff(old, old))
        self.assert_nothing_changed(old, old)

    @harness.alone("compares what two runs cost, which another test would change amid one of them")
    def test_another_run_of_the_same_is_noise(self):
        """A call of `uneven` takes as much CPU time as it is told to, on any machine."""
        runs = [self.record(name, program("pace"), 2, 200, 3) for name in ("old", "new")]
        document = self.json("-w", "cpu", *runs)
        self.assertTrue(self.rows(document)["uneven"]["noise"])
        self.assertTrue(all(row["calls_noise"] for row in document["functions"] + document["paths"]))

    def verdict(self, *args):
        return self.diff("-f", "flat", *args).splitlines()[0]

    def assert_nothing_changed(self, old, new):
        """By wall time, CPU time and calls."""
        for weight in ("wall", "cpu"):
            document = self.json("-w", weight, old, new)
            changed = [row for row in document["functions"] if not row["noise"] or not row["calls_noise"]]
            self.assertEqual(changed, [], weight)
        self.assertEqual(self.verdict("-w", "cpu", old, new),
                         "CPU time has not changed by more than noise; all functions have been called as often")
        self.assertEqual(self.verdict("-w", "calls", old, new), "all functions have been called as often")

    @harness.alone("compares what two runs cost, which another test would change amid one of them")
    def test_real_programs_twice(self):
        """No function has changed, but for `even`, whose loop may take twice as long where the
        stack begins elsewhere."""
        for number, (options, command) in enumerate((
                (("-N", "even"), (program("pace"), 2, 100, 3)),
                (("-F", "libsqlite3*:*"), ("sqlite3", ":memory:", "with recursive c(x) as (select 1 union all "
                 "select x+1 from c where x<2000) select x % 7, sum(x) from c group by 1")),
                (("-F", "libz.so*:*"), (PYTHON, "-c", "import zlib; zlib.compress(bytes(range(256)) * 9999)")))):
            runs = [self.record(f"{run}{number}", *command, options=options) for run in ("a", "b", "c")]
            for weight in ("wall", "cpu"):
                self.assert_alike(weight, runs)

    def assert_alike(self, weight, runs):
        """Whatever slows a run down on a busy machine (a cache that others use, say) shows in the
        pairs that this run is in. What shows in all pairs is more than noise."""
        changed = []
        for old, new in itertools.combinations(runs, 2):
            functions = self.json("-w", weight, old, new)["functions"]
            self.assertTrue(all(row["calls_noise"] for row in functions))
            changed.append({row["symbol"] for row in functions if not row["noise"]})
        self.assertEqual(set.intersection(*changed), set(), weight)

    @harness.alone("compares what two runs cost, which another test would change amid one of them")
    def test_slower_by_a_third(self):
        """One function has changed, by CPU time that the program measures itself."""
        old, new = (self.record_pace(ms, 20) for ms in (10, 13))
        document = self.json("-w", "cpu", old, new)
        self.assertEqual([row["name"] for row in document["functions"] if not row["noise"]], ["uneven"])
        self.assertRegex(self.verdict("-w", "cpu", old, new),
                         r"^slower by [0-9.]+ ms \(\+[23]\d\.\d%\): uneven \+[0-9.]+ ms; all functions have been")

    def record_sampled(self):
        """Two runs of `sampled` that took the same CPU time for the same work, and one that took
        twice as much for twice as much, within a tenth, by the program's own account: where others
        use the processor's caches and pipelines, or the host stops the machine, they take another
        one. That there are some 100 samples of `much` makes a third of its time chance."""
        runs = []
        for name, times in (("once", 600), ("again", 600), ("twice", 1200)) * 30:
            out = self.path(f"{name}{len(runs)}")
            done = self.verb("record", *UNLIMITED, "--sample-rate", "997", "-F", "outer", "-F", "reader",
                             "-o", out, "--", program("sampled"), times)
            self.assertEqual(done.status, 0, str(done))
            runs.append((out, times, {place: us / times for place, us in done.numbers("CPU").items()}))
            for three in itertools.permutations(runs, 3):
                if [times for _, times, _ in three] == [600, 600, 1200] and all(
                        max(us[place] for _, _, us in three) < 1.1 * min(us[place] for _, _, us in three)
                        for place in ("outer", "alone")):
                    return [out for out, _, _ in three]
        raise AssertionError(f"the same work takes another time over and over: {runs}")

    @harness.alone("compares what two runs cost, which another test would change amid one of them")
    def test_estimates(self):
        """The same program twice, and one with twice as much work: most times are known from
        samples alone."""
        once, again, twice = self.record_sampled()
        document = self.json("-w", "cpu", once, again)
        # Functions that read memory, as read_zero(), take as long as other processes let them.
        changed = [row["name"] for row in document["functions"]
                   if not row["noise"] and row["name"] in ("middle", "much", "little", "alone")]
        self.assertEqual(changed, [])
        rows = self.rows(self.json("-w", "cpu", once, twice))
        self.assertFalse(rows["much"]["noise"], rows["much"])
        self.assertGreater(rows["much"]["change_ns"], 3 * rows["much"]["change_error_ns"])
        self.assertEqual((rows["much"]["calls_change"], rows["outer"]["calls_change"]), (0, 600))

    def test_few_unequal_calls(self):
        """Three calls each, of which one takes nearly all: as many calls are the same ones."""
        old, new = (self.record_pace(ms, 3) for ms in (10, 20))
        self.assertFalse(self.rows(self.json("-w", "cpu", old, new))["uneven"]["noise"])

    @harness.alone("compares what two runs cost, which another test would change amid one of them")
    def test_doubled_work_with_the_default_budget(self):
        for weight in ("wall", "cpu"):
            runs = []
            for times in (40, 80):
                runs.append(self.path(f"{weight}{times}"))
                done = self.verb("record", "-o", runs[-1], "--", program("pace"), 5, times)
                self.assertEqual(done.status, 0, str(done))
            row = self.rows(self.json("-w", weight, *runs))["uneven"]
            # Much of its own time is that of the clock, which samples show, few of them.
            self.assertEqual((row["total"]["noise"], row["calls_noise"], row["calls_change"]),
                             (False, False, 40))
            self.assertRegex(self.verdict("-w", weight, *runs),
                             r"^slower by .*; called more or less often: .*uneven \+100\.0%")

    def test_renamed_and_removed(self):
        """In another build a function has another name, and one is not there."""
        old = self.record("old", program("pace"), 0, 5, 3)
        new = self.record("new", program("pace-renamed"), 0, 5, 3)
        rows = self.rows(self.json(old, new))
        self.assertEqual((rows["rare"]["new"], rows["seldom"]["old"]), (None, None))
        self.assertEqual((rows["rare"]["calls_change"], rows["seldom"]["calls_change"]), (-3, 3))
        verdict = self.verdict("-w", "calls", old, new)
        self.assertEqual(set(verdict.split(": ")[1].split(", ")), {"rare no longer", "seldom new"})
        gone = self.record("gone", program("pace"), 0, 5, 0)
        self.assertIn("rare no longer", self.verdict("-w", "calls", old, gone))

    def test_figures_are_those_of_the_reports(self):
        old, new = self.paces()
        document = self.json(old, new)
        keys = ("calls", "total_ns", "self_ns", "off_ns", "off_self_ns", "cpu_ns", "cpu_self_ns",
                "error_ns", "self_error_ns")
        rows = self.rows(document)
        for run, path in (("old", old), ("new", new)):
            report = self.report(path)
            self.assertEqual(document[run]["accounting"], report["accounting"])
            self.assertEqual(document[run]["duration_ns"], report["duration_ns"])
            for function in report["functions"]:
                self.assertEqual(rows[function["name"]][run], {key: function[key] for key in keys} |
                                 sample.estimate(function))
            # The program has one thread, and each path comes once.
            names = {f["id"]: f["name"] for f in report["functions"]}
            above, paths = {}, {}
            for node, parent, _ in harness.nodes_of(report):
                path = (above[parent["id"]] if parent else ()) + (names[node["function"]],)
                above[node["id"]] = path
                paths[path] = {key: node[key] for key in keys} | sample.estimate(node)
            self.assertEqual({tuple(row["path"]): row[run] for row in document["paths"] if row[run]}, paths)
        for row in document["functions"]:
            self.assertEqual(row["change_ns"], row["new"]["self_ns"] - row["old"]["self_ns"])
            self.assertEqual(row["total"]["change_ns"], row["new"]["total_ns"] - row["old"]["total_ns"])
        # The table of paths is the same.
        table = list(csv.DictReader(io.StringIO(self.diff("-f", "csv", old, new))))
        self.assertEqual(len(table), len(document["paths"]))
        for row, path in zip(table, document["paths"]):
            self.assertEqual(int(row["path"]), path["id"])
            self.assertEqual(row["function"], path["path"][-1])
            for run in ("old", "new"):
                for key in ("calls", "total_ns", "self_ns"):
                    value = path[run][key] if path[run] else ""
                    self.assertEqual(row[f"{run}_{key}"], str(value))
            self.assertEqual(int(row["change_ns"]), path["change_ns"])

    def test_flamegraph_of_the_difference(self):
        old, new = self.paces()
        folded = self.diff("-f", "folded", old, new)
        document = self.json(old, new)
        lines = {}
        for line in folded.splitlines():
            stack, before, after = line.rsplit(" ", 2)
            lines[tuple(stack.split(";"))[1:]] = (int(before), int(after))
        self.assertEqual(lines, {
            tuple(row["path"]): tuple(row[run]["self_ns"] if row[run] else 0 for run in ("old", "new"))
            for row in document["paths"]
            if any(row[run] and row[run]["self_ns"] for run in ("old", "new"))})
        done = subprocess.run(["perl", FLAMEGRAPH, "--minwidth", "0"], input=folded.encode(),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        frames = dict(re.findall(r"<title>(\w+) \([0-9,]+ samples, [0-9.]+%; ([+-][0-9.]+)%\)</title>",
                                 done.stdout.decode()))
        # Changes are in percent of the whole: nearly all of the change is uneven's.
        self.assertGreater(float(frames["uneven"]), 0)
        self.assertIn("rgb(255,", done.stdout.decode())
        calls = self.diff("-f", "folded", "-w", "calls", old, new).splitlines()
        self.assertIn("pace;main;run;uneven;even 200 200", calls)
        self.assertIn("pace;main;run;rare;even 3 0", calls)
        self.assertIn("pace;main;run;other;even 0 1", calls)

    def test_page_of_the_difference(self):
        """In a browser: the verdict, red where it grew, and the table's figures those of the JSON."""
        old, new = self.paces()
        page = self.path("diff.html")
        self.assertEqual(self.diff("-w", "cpu", "-o", page, old, new), "")
        document, chromium = self.json("-w", "cpu", old, new), browser.shared()
        chromium.open(page)
        self.assertEqual(chromium.texts("#facts"), [self.verdict("-w", "cpu", old, new)])
        self.assertIn("Difference", chromium.texts("[role=tab]"))
        self.assertEqual(chromium.texts(".legend li"), ["more own CPU time than before", "less", "within noise"])
        chromium.click("#tab-difference")
        cells = chromium.texts(".difference td")
        rows = [cells[i:i + 7] for i in range(0, len(cells), 7)]
        self.assertEqual({row[6] for row in rows}, {row["name"] for row in document["functions"]})
        self.assertEqual(rows[0][6], "uneven")
        self.assertEqual(rows[0][4:6], ["200", "="])
        by_name = {row[6]: row for row in rows}
        self.assertEqual((by_name["rare"][1], by_name["other"][1]), ("gone", "new"))
        for row in document["functions"]:
            kind = "noise" if row["noise"] else "worse" if row["change_ns"] > 0 else "better"
            self.assertIn(row["name"], chromium.texts(f".difference .{kind} td:last-child"))
        self.assertEqual(chromium.logs(), [])
        self.assertEqual([url for url in chromium.requests() if not url.startswith(("file:", "data:"))], [])

    def test_per_call(self):
        old = self.record("old", program("pace"), 2, 100, 1)
        new = self.record("new", program("pace"), 2, 300, 1)
        plain, per_call = self.json("-w", "cpu", old, new), self.json("-w", "cpu", "--per-call", old, new)
        row = self.rows(plain)["uneven"]
        self.assertGreater(row["change_ns"], 0.9 * 200 * 2_000_000)
        same = self.rows(per_call)["uneven"]
        self.assertEqual((same["old"], same["new"]), (row["old"], row["new"]))
        self.assertAlmostEqual(same["change_ns"], row["new"]["cpu_self_ns"] - 3 * row["old"]["cpu_self_ns"],
                               delta=3)
        # A user who compares sums is told of --per-call.
        done = self.verb("diff", old, new)
        self.assertIn("--per-call", done.stderr)

    def test_filters(self):
        old, new = self.paces()
        rows = self.rows(self.json("-F", "even", "-F", "uneven", old, new))
        self.assertEqual(set(rows), {"even", "uneven"})
        # Either run may lack what is named, not both.
        rare = self.record("rare", program("pace"), 0, 2, 1, options=("-F", "rare"))
        rest = self.record("rest", program("pace"), 0, 2, 1, options=("-N", "rare"))
        rows = self.rows(self.json("-F", "rare", rare, rest))
        self.assertEqual(set(rows), {"rare"})
        self.assertIsNone(rows["rare"]["new"])
        self.assert_one_line(self.verb("diff", "-F", "nothing", old, new), 1, "-F nothing", "recordings")
        document = self.json("-D", "2", old, new)
        self.assertEqual({tuple(row["path"]) for row in document["paths"]}, {("main",), ("main", "run")})
        document = self.json("--min-time", "100ms", old, new)
        self.assertIn("uneven", self.rows(document))
        for row in document["functions"]:
            self.assertGreaterEqual(max(row["old"]["total_ns"], row["new"]["total_ns"]), 100_000_000)
        chosen = self.json("--thread", "pace", old, new)
        self.assertEqual(self.rows(chosen), self.rows(self.json(old, new)))
        self.assert_one_line(self.verb("diff", "--thread", "nobody", old, new), 1, "--thread nobody")

    def test_threads_are_one_by_their_name(self):
        old = self.record("old", program("threads"), 3, 10)
        new = self.record("new", program("threads"), 5, 10)
        rows = {tuple(row["path"]): row for row in self.json(old, new)["paths"]}
        for run, path in (("old", old), ("new", new)):
            report = self.report(path)
            names = {f["id"]: f["name"] for f in report["functions"]}
            roots = {}
            for thread in report["threads"]:
                for node in thread["calls"]:
                    name = (names[node["function"]],)
                    roots[name] = roots.get(name, 0) + node["calls"]
            for name, calls in roots.items():
                self.assertEqual(rows[name][run]["calls"], calls)

    def test_rebuilt_and_moved(self):
        """Another build of the same source, under another name: all functions are found again."""
        old = self.record("old", program("calc-nopie"))
        new = self.record("new", program("calc-pie"))
        document = self.json(old, new)
        for row in document["functions"]:
            if row["old"] and row["new"]:
                self.assertEqual(row["calls_change"], row["new"]["calls"] - row["old"]["calls"])
        counted = self.process(program("calc-pie")).finish().counts
        rows = self.rows(document)
        for name, calls in counted.items():
            row = next(rows[n] for n in name.split("|") if n in rows)
            self.assertEqual((row["old"]["calls"], row["new"]["calls"]), (calls, calls), name)

    def test_runs_of_one_file(self):
        path = self.path("runs")
        for times in (2, 3, 5):
            self.record("runs", program("pace"), 0, times, options=("--append",))
        for options, counts, numbers in (((), (3, 5), (2, 3)), (("--run", "2"), (2, 3), (1, 2))):
            document = self.json(*options, path)
            row = self.rows(document)["uneven"]
            self.assertEqual((row["old"]["calls"], row["new"]["calls"]), counts)
            self.assertEqual((document["old"]["run"], document["new"]["run"]), numbers)
        # With two files --run chooses the run of both.
        row = self.rows(self.json("--run", "1", path, path))["uneven"]
        self.assertEqual((row["old"]["calls"], row["new"]["calls"]), (2, 2))
        self.assert_one_line(self.verb("diff", "--run", "1", path), 1, "none before", path)
        self.assert_one_line(self.verb("diff", "--run", "4", path), 1, "--run 4", "no more than 3")
        single = self.record("single", program("pace"), 0, 1)
        self.assert_one_line(self.verb("diff", single), 1, "has 1 run", "--append")

    def test_output_and_strangers(self):
        old, new = self.paces()
        out = self.path("out.json")
        self.assertEqual(self.diff("-o", out, old, new), "")
        with open(out, encoding="utf-8") as file:
            self.assertEqual(json.load(file), self.json(old, new))
        # The command needs neither root nor the program.
        self.diff(old, new, user=NOBODY, group=NOBODY, extra_groups=[])
        coloured = self.diff("--color=always", old, new)
        self.assertIn("\033[31m", coloured)
        self.assertNotIn("\033", self.diff(old, new))
        junk = self.path("junk")
        with open(junk, "w", encoding="utf-8") as file:
            file.write("junk")
        self.assert_one_line(self.verb("diff", old, junk), 1, "no recording", junk)
        self.assert_one_line(self.verb("diff", "-f", "pprof", old, new), 2, "pprof", "html")

    def record_hot(self, name, *options):
        """Records `hot` from before it heats up until it has been dropped, if there are options that
        make it so; `rare` is called after that."""
        out = self.path(name)
        target = self.target("hot", 1)
        tracer = self.process(PROFTRACE, "record", "-v", *options, "-F", "hot", "-F", "rare", "-F", "heat", "-o",
                              out, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        target.go()
        if options:
            self.assertTrue(harness.poll(
                lambda: "functions are dropped" in tracer.stderr.text() or target.ended(), harness.TIMEOUT))
        target.step("20")
        self.assertEqual(target.finish().status, 0)
        self.assertEqual(tracer.finish().status, 0)
        return out

    def record_part(self):
        """Records until the budget has dropped `hot` and has kept `rare`: where probes cost more than
        they should, as others use the processor, it may drop both."""
        for attempt in range(5):
            part = self.record_hot(f"part{attempt}", "--max-overhead", "2")
            dropped = {d["name"] for d in self.report(part)["dropped"]}
            self.assertIn("hot", dropped)
            if "rare" not in dropped:
                return part
        self.fail(f"dropped: {dropped}")

    def test_dropped_for_the_budget(self):
        """The time of a function that one run has not traced to its end is its callers' in both
        runs, and the function is named."""
        whole, part = self.record_hot("whole"), self.record_part()
        for old, new, knows in ((whole, part, "new"), (part, whole, "old")):
            document = self.json(old, new)
            row = next(row for row in document["left_out"] if row["name"] == "hot")
            self.assertIn("budget", row[knows])
            self.assertIsNone(row["old" if knows == "new" else "new"])
            rows = self.rows(document)
            self.assertNotIn("hot", rows)
            self.assertEqual(rows["rare"]["calls_change"], 0)
            # The time of `hot` is heat's, which calls nothing else.
            if row := rows.get("heat"):
                self.assertEqual(row["old"]["self_ns"], row["old"]["total_ns"])
            done = self.verb("diff", old, new)
            self.assertEqual(done.status, 0, str(done))
            text = done.stdout
            # One run has fewer calls because it has dropped a function, not because it has done
            # less.
            self.assertNotIn("--per-call", done.stderr)
            self.assertRegex(text, "not traced all of the time in both runs.*: .*hot")


if __name__ == "__main__":
    harness.main()
