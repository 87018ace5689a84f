# SPDX-License-Identifier: GPL-2.0-or-later
"""The budget: what is dropped for it, what is said of that, and that all else is exact."""

import json

import harness
from harness import PROFTRACE, UNLIMITED

LIMITED = ("--max-overhead", "5")
DROPPED = "functions are dropped"
ONE_IN = 10


@harness.alone("what is dropped depends on what calls cost meanwhile")
class Budget(harness.TestCase):
    def run_hot(self, *options, threads=1, drops=True):
        """Runs `hot` until something is dropped, with calls of `rare` before and after. Returns the
        document, and the true counts."""
        target = self.target("hot", threads)
        tracer = self.proftrace("-v", "-f", "json", *options, "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        if drops:
            self.assertTrue(harness.poll(lambda: DROPPED in tracer.stderr.text() or target.ended(),
                                         harness.TIMEOUT))
        target.step("10")
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(done.counts["rare"], 13)
        return self.document(tracer.finish()), done.counts

    def check_drop(self, document, sampled=0):
        """`hot` was dropped, and what is said of it."""
        drop, = (drop for drop in document["dropped"] if drop["name"] == "hot")
        function = self.function(document, "hot")
        self.assertEqual((drop["function"], drop["module"]),
                         (function["id"], harness.program("hot")))
        self.assertTrue(0 < drop["at_ns"] <= document["duration_ns"], drop)
        self.assertGreater(drop["calls_per_second"], 0)
        self.assertGreater(drop["cost_percent"], 0)
        self.assertIn("over the budget", drop["reason"])
        self.assertEqual(drop["sampled"], sampled)
        dropped = {drop["function"]: drop for drop in document["dropped"]}
        for function in document["functions"]:
            gone = function["id"] in dropped
            self.assertEqual(function["dropped"], gone)
            self.assertEqual(function["whole"], not gone or bool(sampled))
            if not function["whole"]:
                self.assertEqual(function["whole_until_ns"],
                                 dropped[function["id"]]["at_ns"])
            self.assertEqual((function["sampled"], function["estimate"]),
                             (sampled, bool(sampled)) if gone else (0, False))

    def check_kept(self, document, true):
        """Where the target hardly ran, what it called a few times may be too dear as well."""
        for function in document["functions"]:
            if not function["dropped"]:
                self.assertEqual(function["calls"], true.get(function["name"], 0))
        self.assertEqual(document["accounting"]["lost"], 0)

    def test_kept_counts_are_exact(self):
        document, true = self.run_hot(*LIMITED, "--no-bursts", "-F", "hot", "-F", "rare", "-F",
                                       "heat", threads=4)
        self.check_drop(document)
        self.check_kept(document, true)
        # Up to its drop all of its calls are there, and those that were seen after it are not.
        calls, dropped = self.count(document, "hot"), document["accounting"]["dropped"]
        self.assertTrue(0 < calls < true["hot"], (calls, true))
        self.assertLessEqual(calls + dropped, true["hot"])
        self.assertEqual(document["budget"]["max_percent"], 5)
        self.assertGreater(document["accounting"]["probe_ns"], 0)
        self.assertGreater(document["accounting"]["cpu_ns"], 0)

    def test_exits_outside_of_calls(self):
        """A single call that hits its exit's probe in each round of a loop; the loop leaves out the
        entry."""
        target = self.target("handed_out")
        tracer = self.proftrace("-v", "-f", "json", *LIMITED, "-F", "goes_out", "--exits", "sites",
                                "-p", target.pid).wait_tracing()
        target.go()
        self.assertTrue(harness.poll(lambda: DROPPED in tracer.stderr.text() or target.ended(),
                                     harness.TIMEOUT), tracer.stderr.text())
        target.send("stop")
        self.assertEqual(target.finish().status, 0)
        document = self.document(tracer.finish())
        drop, = document["dropped"]
        self.assertEqual(drop["name"], "goes_out")
        self.assertIn("hit outside of its calls", drop["reason"])
        self.assertGreater(drop["cost_percent"], 5)
        self.assertIsNone(drop["back_ns"])
        self.assertEqual(self.count(document, "goes_out"), 1)

    def test_what_options_name_stays(self):
        """However dear: sessions would be judged by what came before the drop."""
        for options in (("--session", "hot"), ("-A", "hot(arg1)"),
                        ("--session", "rare", "--link", "rare(arg1) -> hot(arg1)")):
            target = self.target("hot", 1)
            tracer = self.proftrace("-f", "json", *LIMITED, "-F", "hot", "-F", "rare", *options,
                                    "--buffer-size", "16M", "-p", target.pid).wait_tracing()
            target.go()
            target.step("3")
            line, = tracer.stderr.wait_lines("proftrace: what options name")
            self.assertRegex(line, r"budget of 5\.0%, and is not dropped: hot \(.*%\); "
                                   r"one call in \d+ would keep to it")
            target.step("12")
            true = target.finish().counts
            document = json.loads(tracer.finish().stdout)
            self.assertEqual(self.count(document, "hot"), true["hot"])
            # The others keep a part of the budget: 12 calls are enough to be judged by.
            self.assertEqual(self.count(document, "rare"), 15)
            self.assertEqual(document["dropped"], [])

    def test_no_budget_is_no_secret(self):
        """The cost of -F is reported while a run lasts, with an option that would help. A user who
        has asked for no budget, or whose probes cost next to nothing, is told nothing."""
        target = self.target("hot", 1)
        tracer = self.process(PROFTRACE, "-f", "json", "-F", "hot", "-F", "rare", "-p", target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        target.step("3")
        line, = tracer.stderr.wait_lines("proftrace: the probes cost ")
        self.assertRegex(line, r"cost \d+.*%.* most of it: hot \(.*; -N .*--max-overhead 5 ")
        true = target.finish().counts
        document = json.loads(tracer.finish().stdout)
        self.assertEqual(self.count(document, "hot"), true["hot"])
        for options in (("-F", "rare"), ("-F", "hot", *UNLIMITED)):
            target = self.target("hot", 1)
            tracer = self.process(PROFTRACE, "-f", "json", *options, "-p", target.pid)
            tracer.stderr.wait_lines(harness.TRACING)
            target.go()
            target.step("3")
            target.finish()
            self.assertNotIn("the probes cost", tracer.finish().stderr)

    def test_no_budget(self):
        """Whatever it costs, nothing is dropped: every call is counted."""
        document, true = self.run_hot(drops=False, threads=2)
        self.assert_counts(document, true)
        self.assertEqual(document["dropped"], [])
        self.assertEqual(document["accounting"]["dropped"], 0)
        self.assertEqual(document["budget"]["max_percent"], None)
        self.assertFalse(any(f["dropped"] or f["estimate"] for f in document["functions"]))

    def test_sampled(self):
        """One call in so many is kept, and stands for as many. The others were counted, too: an
        estimate differs from the truth by less than that number of calls, for each thread."""
        threads = 2
        document, true = self.run_hot(*LIMITED, "--sample-hot", ONE_IN, "-F", "hot", "-F", "rare",
                                      "-F", "heat", threads=threads)
        self.check_drop(document, ONE_IN)
        self.check_kept(document, true)
        self.assertLessEqual(abs(self.count(document, "hot") - true["hot"]), threads * ONE_IN)
        # One in so many of the calls since the drop was recorded, and all others are accounted for.
        accounting = document["accounting"]
        self.assertEqual(accounting["entered"] + accounting["dropped"], sum(true.values()))

    def test_sampled_within_sampled(self):
        """A call that is kept stands for others of its own function, not for others' others. What
        kept calls have as their own are different parts of the thread's time, so scaled by one
        weight they are no more than the run, so many times. Did weights multiply, the last of 20
        open ones would be scaled by 3^20."""
        one_in = 4
        target = self.target("chain")
        tracer = self.proftrace("-v", "-f", "json", "--raw", *LIMITED, "--sample-hot", one_in,
                                "-F", "chained", "-p", target.pid).wait_tracing()
        target.go()
        self.assertTrue(harness.poll(lambda: DROPPED in tracer.stderr.text() or target.ended(),
                                     harness.TIMEOUT))
        target.step("1")
        true = target.finish().counts
        document = json.loads(tracer.finish().stdout)
        function = self.function(document, "chained")
        self.assertEqual(function["sampled"], one_in)
        self.assertLessEqual(abs(function["calls"] - true["chained"]), one_in)
        most = one_in * document["duration_ns"]
        self.assertLessEqual(function["self_ns"], most, function)
        self.assertLessEqual(function["total_ns"], most, function)

    def test_budget_by_default(self):
        """Where no filter says what is wanted, five percent; else none."""
        for options, percent in (((), 5), (("-F", "rare"), None),
                                 (("-F", "rare", "--max-overhead", "7.5"), 7.5)):
            target = self.target("hot", 0)
            tracer = self.process(PROFTRACE, "-f", "json", *options, "-p", target.pid)
            self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
            target.go()
            target.step("2")
            target.finish()
            document = self.document(tracer.finish())
            self.assertEqual(document["budget"]["max_percent"], percent)
            self.assertEqual(self.count(document, "rare"), 2)
            self.assertEqual(document["dropped"], [])


if __name__ == "__main__":
    harness.main()
