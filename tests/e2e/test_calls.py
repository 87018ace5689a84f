# SPDX-License-Identifier: GPL-2.0-or-later
"""Single calls (--calls): each is there once, on its path, with its time."""

import collections
import json
import os
import re
import signal
import sqlite3
import subprocess

import harness
from harness import PROFTRACE, UNLIMITED, program

ALL_CALLS = """
    SELECT t.pid, t.tid, t.goroutine, c.id, c.parent, c.path, p.parent AS path_above, p.function, c.enter_ns,
           c.leave_ns, c.off_ns
    FROM calls c JOIN paths p ON p.id = c.path JOIN threads t ON t.id = p.thread ORDER BY c.id"""


def number(text):
    """A number from a message, where commas part the thousands."""
    return int(text.replace(",", ""))


class SingleCalls(harness.TestCase):
    def verb(self, *args, **popen):
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL, **popen).finish()

    def record(self, name, *args, options=()):
        """Records a command; (recording, the command's Result)."""
        path = self.path("rec")
        done = self.verb("record", "--calls", *UNLIMITED, *options, "-o", path, "--",
                         name if "/" in name else program(name), *args)
        self.assertEqual(done.status, 0, str(done))
        return path, done

    def report(self, recording, *options):
        done = self.verb("report", *options, recording)
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def database(self, recording, *options):
        database = self.database_of(recording, *options)
        database.row_factory = sqlite3.Row
        return database

    def check_calls(self, recording):
        """Checks that timeline and tree of a recording, in which nothing was lost, agree on each
        path; returns the accounts."""
        accounts = json.loads(self.report(recording, "-f", "json"))["accounting"]
        self.assertEqual(accounts["timeline_lost"], 0)
        self.assertEqual(accounts["timeline_calls"], accounts["entered"])
        database = self.database(recording)
        calls, total, off = collections.Counter(), collections.Counter(), collections.Counter()
        open_calls = {}
        for c in database.execute(ALL_CALLS):
            self.assertLessEqual(c["enter_ns"], c["leave_ns"])
            self.assertLessEqual(c["off_ns"], c["leave_ns"] - c["enter_ns"])
            calls[c["path"]] += 1
            total[c["path"]] += c["leave_ns"] - c["enter_ns"]
            off[c["path"]] += c["off_ns"]
            open_calls[c["id"]] = c
            # The call around this one on the timeline must be its caller in the tree.
            above = open_calls.get(c["parent"])
            self.assertEqual(above["path"] if above else None, c["path_above"], dict(c))
            if above:
                self.assertLessEqual(above["enter_ns"], c["enter_ns"])
                self.assertGreaterEqual(above["leave_ns"], c["leave_ns"])
        for p in database.execute("SELECT id, calls, raw_total_ns, off_ns FROM paths"):
            self.assertEqual(calls[p["id"]], p["calls"], dict(p))
            self.assertEqual(total[p["id"]], p["raw_total_ns"], dict(p))
        self.assertEqual(sum(calls.values()), accounts["entered"])
        return accounts

    def test_timeline_and_tree_agree(self):
        for name, *args in (("recursion", 9, 3), ("threads", 4, 2000), ("longjmp",),
                            ("tailcall",)):
            with self.subTest(name):
                recording, done = self.record(name, *args)
                self.assertGreater(self.check_calls(recording)["entered"], 0)
                document = json.loads(self.report(recording, "-f", "json"))
                self.assert_counts(self.check(document), done.counts)

    def test_stacks_and_signals_have_tracks_of_their_own(self):
        for name in "coroutine", "altstack", "signals":
            with self.subTest(name):
                recording, _ = self.record(name)
                self.check_calls(recording)

    def test_open_calls_end_at_the_end(self):
        target = self.target("steps")
        recording = self.path("rec")
        tracer = self.process(PROFTRACE, "record", "--calls", *UNLIMITED, "-o", recording, "-p",
                              target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        target.go()
        target.step("3")
        tracer.signal(signal.SIGINT)
        self.assertEqual(tracer.finish().status, 0)
        self.check_calls(recording)

    def test_chrome_live_and_from_a_recording(self):
        recording, _ = self.record("recursion", 5, 2)
        live = self.path("live.json")
        done = self.run_proftrace("-f", "chrome", "-o", live, "--", program("recursion"), 5, 2)
        self.assertEqual(done.status, 0, str(done))
        with open(live, encoding="utf-8") as file:
            documents = json.load(file), json.loads(self.report(recording, "-f", "chrome"))
        shown = [collections.Counter((e["name"], e["ph"]) for e in document["traceEvents"]
                                     if e["ph"] in "BE") for document in documents]
        self.assertEqual(*shown)
        self.assertEqual(sum(n for (_, phase), n in shown[0].items() if phase == "B"),
                         json.loads(self.report(recording, "-f", "json"))["accounting"]["entered"])

    def test_what_finds_no_room_is_counted(self):
        target = self.target("threads", 2, 50000)
        recording = self.path("rec")
        tracer = self.process(PROFTRACE, "record", "--calls", "--buffer-size=1M", *UNLIMITED, "-o",
                              recording, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        tracer.signal(signal.SIGSTOP)
        target.go()
        # All is called while nobody fetches anything.
        self.assertTrue(target.stdout.wait_lines("COUNT d"))
        tracer.signal(signal.SIGCONT)
        done = target.finish()
        finished = tracer.finish()
        self.assertEqual(finished.status, 0, str(finished))
        accounts = json.loads(self.report(recording, "-f", "json"))["accounting"]
        self.assertGreaterEqual(accounts["entered"], sum(done.counts.values()))
        self.assertGreater(accounts["timeline_lost"], 0)
        self.assertEqual(accounts["timeline_calls"] + accounts["timeline_lost"],
                         accounts["entered"])
        self.assertIn(f"{accounts['timeline_lost']:,} lost", finished.stderr)
        kept = self.database(recording).execute("SELECT count(*) FROM calls").fetchone()[0]
        self.assertEqual(kept, accounts["timeline_calls"])

    def test_killed_profiler(self):
        target = self.target("steps")
        recording = self.path("rec")
        tracer = self.process(PROFTRACE, "record", "--calls", *UNLIMITED, "-o", recording, "-p",
                              target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        target.go()
        target.step("3")

        def shown():
            done = self.verb("report", "-f", "chrome", recording)
            self.assertIn("incomplete", done.stderr)
            return done.status == 0 and '"ph":"B"' in done.stdout

        # The run still goes on; what it has written so far must be there.
        self.assertTrue(harness.poll(shown, interval=0.2))
        tracer.signal(signal.SIGKILL)
        tracer.finish()
        self.assertTrue(shown())

    def test_range(self):
        recording, _ = self.record("recursion", 9, 3)
        whole = json.loads(self.report(recording, "-f", "json"))
        shown = json.loads(self.report(recording, "-f", "json", "--range", ".."))
        figures = "name", "calls", "raw_total_ns", "raw_self_ns", "off_ns"
        self.assertEqual([{key: f[key] for key in figures} for f in shown["functions"]],
                         [{key: f[key] for key in figures} for f in whole["functions"]])
        # The calls before a moment and those after it are all calls.
        first, last = self.database(recording).execute(
            "SELECT min(enter_ns), max(leave_ns) FROM calls").fetchone()
        middle = f"{(first + last) // 2}ns"
        parts = [self.check(json.loads(self.report(recording, "-f", "json", "--range", part)))
                 for part in (f"..{middle}", f"{middle}..")]
        spent = [sum(f["raw_self_ns"] for f in document["functions"])
                 for document in (whole, *parts)]
        self.assertEqual(spent[0], spent[1] + spent[2])
        self.assertGreater(spent[1], 0)
        self.assertEqual(sum(document["duration_ns"] for document in parts), whole["duration_ns"])
        # Timelines are cut as well, and their times begin with the range.
        database = self.database(recording, "--range", f"{middle}..")
        first, last = database.execute("SELECT min(enter_ns), max(leave_ns) FROM calls").fetchone()
        self.assertGreaterEqual(first, 0)
        self.assertLessEqual(last, parts[1]["duration_ns"])
        self.assert_one_line(self.verb("report", "--range", "1000s..", recording), 1, "--range")

    def test_flight_recorder(self):
        recording, done = self.record("threads", 2, 65000, options=("--max-size", "1M"))
        self.assertLessEqual(os.path.getsize(recording), 1 << 20)
        counted = re.search(r"([\d,]+) single calls kept, the oldest ([\d,]+) forgotten", done.stderr)
        self.assertTrue(counted, done.stderr)
        report = self.verb("report", "-f", "json", recording)
        document = self.check(json.loads(report.stdout))
        self.assert_counts(document, done.counts)
        said = re.search(r"newest ([\d,]+) of ([\d,]+) calls, from ([0-9.]+) s on", report.stderr)
        self.assertTrue(said, report.stderr)
        of_all = number(said[2])
        self.assertEqual(of_all, document["accounting"]["timeline_calls"])
        self.assertEqual(document["single_calls"],
                         {"kept": number(said[1]), "all": of_all, "estimate": False})
        self.assertIn(f"single calls: {said[1]} of {said[2]} (",
                      self.verb("report", "-f", "flat", recording).stdout)
        database = self.database(recording)
        kept, last = database.execute("SELECT count(*), max(leave_ns) FROM calls").fetchone()
        self.assertEqual(kept, number(said[1]))
        self.assertEqual((kept, of_all - kept), tuple(map(number, counted.groups())))
        self.assertLess(kept, of_all)
        # The newest are there: main's last functions, and main itself.
        self.assertLessEqual(last, document["duration_ns"])
        self.assertEqual(database.execute(
            "SELECT count(*) FROM call_list WHERE name = 'main'").fetchone()[0], 1)
        self.assert_one_line(self.verb("record", "--calls", "--max-size=1M", "-o", "/dev/stdout",
                                       "--", "true"), 1, "/dev/stdout")

    def test_no_room_for_what_is_not_shown_yet(self):
        """The file that ran out of room is none that the user knows."""
        folder = self.path("full")
        os.mkdir(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder], check=True)
        self.addCleanup(subprocess.run, ["umount", folder], check=True)
        for filled in False, True:
            if filled:
                with open(os.path.join(folder, "rest"), "wb") as file:
                    file.write(bytes(16 << 10))
            done = self.verb("-f", "chrome", *UNLIMITED, "-o", self.path("json"), "--",
                             program("threads"), "2", "65000",
                             env={**os.environ, "TMPDIR": folder})
            self.assertEqual(done.status, 1, str(done))
            self.assertIn(f"in {folder} until the end (TMPDIR", done.stderr)

    def test_formats_without_calls(self):
        path = self.path("rec")
        done = self.verb("record", *UNLIMITED, "-o", path, "--", program("recursion"), 5, 2)
        self.assertEqual(done.status, 0, str(done))
        out = self.path("out")
        self.assert_one_line(self.verb("report", "-f", "chrome", "-o", out, path), 1, "--calls")
        self.assertFalse(os.path.exists(out))
        self.assert_one_line(self.verb("report", "--range", "..1ms", path), 1, "--range", "--calls")


if __name__ == "__main__":
    harness.main()
