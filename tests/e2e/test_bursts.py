# SPDX-License-Identifier: GPL-2.0-or-later
"""Bursts: calls of what the budget has dropped are estimated, with errors, on their paths."""

import math
import os
import re
import signal

import harness
import test_drop
from harness import PROFTRACE

NAMED = [f"-F{name}" for name in ("request", "parse", "word", "answer", "rare")]
BURSTS = ("--max-overhead", "5", "--burst", "5ms")
HOT = ("request", "parse", "word", "answer")


@harness.alone("what is dropped depends on what calls cost meanwhile")
class Bursts(harness.TestCase):
    def run_serving(self, *options, arguments=(), bursts=2, windows=12):
        """Traces `serving` until so much has been looked at. The document, and the true counts of
        what was called while it was traced, but for a moment before and after."""
        target = self.target("serving", *arguments)
        tracer = self.process(PROFTRACE, "-v", "-f", "json", *NAMED, *options, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        target.go()
        target.step("3")
        self.assertTrue(harness.poll(
            lambda: (tracer.stderr.text().count("burst of") >= bursts and
                     tracer.stderr.text().count("window of") >= windows) or target.ended(),
            harness.TIMEOUT), tracer)
        target.step("10")
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))
        return self.document(tracer.finish()), done.counts

    def test_estimates(self):
        document, true = self.run_serving(*BURSTS)
        dropped = {drop["name"] for drop in document["dropped"]}
        self.assertTrue(dropped & set(HOT), document["dropped"])
        for name in HOT:
            function = self.function(document, name)
            if name not in dropped:
                self.assertEqual((function["source"], function["calls"]), ("exact", true[name]))
                continue
            error, off = function["calls_error"], function["calls"] - true[name]
            self.assertEqual(function["source"], "burst", function)
            # How near so few looks come is the machine's; test_rates has the estimator's accuracy.
            self.assertLessEqual(abs(off), 4 * error,
                                 (name, function["calls"], error, function["samples"], true))
        rare = self.function(document, "rare")
        self.assertEqual((rare["calls"], rare["source"], rare["calls_error"]), (13, "exact", 0))
        accounting = document["accounting"]
        self.assertEqual(accounting["entered"], accounting["returned"] + accounting["unwound"] +
                         accounting["open"])
        self.assertGreaterEqual(accounting["bursts"], 2)
        self.assertGreater(accounting["burst_ns"], 0)
        if "word" in dropped and "parse" in dropped:
            self.check_paths(document)

    def test_by_reads(self):
        """Requests that take as long as they happen to are told by what is read for each."""
        document, true = self.run_serving(*BURSTS, arguments=["reads"], windows=18)
        dropped = {drop["name"] for drop in document["dropped"]} & set(HOT)
        self.assertTrue(dropped, document["dropped"])
        for name in dropped:
            function = self.function(document, name)
            self.assertTrue(math.isclose(function["calls"], true[name], rel_tol=0.1),
                            (name, function["calls"], function["calls_error"], true))

    def test_whole_requests(self):
        """A burst has a few requests here, each from its begin to its end: as many of what they
        call first as of what they call last."""
        document, _ = self.run_serving("--max-overhead", "5", "--burst", "10ms",
                                       arguments=["reads", "long"], bursts=3, windows=1)
        recorded = {f["name"]: sum(count for _, _, count in f["histogram"])
                    for f in document["functions"] if f["source"] == "burst"}
        self.assertGreater(recorded["parse"], 500, recorded)
        self.assertTrue(math.isclose(recorded["parse"], recorded["answer"], rel_tol=0.1), recorded)

    def stop_in_burst(self, tracer, target, probes):
        """Waits until all functions have probes again, as in a burst, and stops proftrace until the
        target has run for a second."""
        def all_probed():
            return all(map(probes.of, HOT))

        def ran_ticks():
            return sum(map(int, harness.stat_fields(target.pid)[11:13]))

        self.assertTrue(harness.poll(lambda: not all_probed(), harness.TIMEOUT), tracer)
        self.assertTrue(harness.poll(all_probed, harness.TIMEOUT, 0.001), tracer)
        tracer.signal(signal.SIGSTOP)
        second = ran_ticks() + os.sysconf("SC_CLK_TCK")
        self.assertTrue(harness.poll(lambda: ran_ticks() > second, harness.TIMEOUT), target)
        tracer.signal(signal.SIGCONT)

    def test_late_end(self):
        """A burst ends by itself where proftrace has no processor to end it."""
        # A thread that reads is recorded from the burst's begin on.
        target = self.target("serving", "reads")
        tracer = self.process(PROFTRACE, "-v", "-f", "json", *NAMED, "--max-overhead", "5",
                              "--burst", "20ms", "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        target.go()

        def bursts():
            """Of each burst so far: CPU time in ms, calls."""
            return [(float(ms), int(calls)) for ms, calls in re.findall(
                r"burst of 4 .* ([0-9.]+) ms of CPU time.* ([0-9]+) calls\n",
                tracer.stderr.text())]

        def late():
            return [burst for burst in bursts() if burst[0] > 800]

        self.assertTrue(harness.poll(lambda: len(bursts()) >= 2, harness.TIMEOUT), tracer)
        probes = test_drop.Probes(target)
        for _ in range(20):
            taken = len(bursts())
            self.stop_in_burst(tracer, target, probes)
            # Probes may be in before the burst begins, or still after its end.
            self.assertTrue(harness.poll(lambda taken=taken: len(bursts()) > taken,
                                         harness.TIMEOUT), tracer)
            if late():
                break
        target.finish()
        self.document(tracer.finish())
        self.assertTrue(late(), bursts())
        usual = max(calls / ms for ms, calls in bursts() if ms < 200)
        ran_ms, calls = late()[0]
        self.assertLess(calls, usual * ran_ms / 3, bursts())

    def check_paths(self, document):
        """Two of five words are parse's. What was open as a burst began is not in its paths."""
        names = {f["id"]: f["name"] for f in document["functions"]}
        words = [(node["calls"], parent) for node, parent, _ in harness.nodes_of(document)
                 if names[node["function"]] == "word"]
        below = sum(calls for calls, parent in words
                    if parent and names[parent["function"]] == "parse")
        share = below / sum(calls for calls, _ in words)
        self.assertTrue(math.isclose(share, 2 / 5, abs_tol=0.08), words)

    def trace_stepped(self, bursts, options=()):
        """Traces `stepped`, which calls `seldom` after each burst. The document."""
        target = self.target("stepped")
        tracer = self.process(PROFTRACE, "-v", "-f", "json", "-F", "hot", "-F", "cold", "-F",
                              "seldom", *BURSTS, *options, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        target.go()
        for taken in range(1, bursts + 1):
            self.assertTrue(harness.poll(
                lambda taken=taken: tracer.stderr.text().count("burst of") >= taken,
                harness.TIMEOUT), tracer)
            target.step("seldom")
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))
        document = self.document(tracer.finish())
        self.assertEqual(self.function(document, "seldom")["calls"], done.counts["seldom"])
        return document

    def test_paths_after_bursts(self):
        """Calls that come after a burst are not shown below the call that was innermost when the
        burst was over, whose end nobody has seen; that holds long before the burst's probes are
        gone."""
        document = self.trace_stepped(2)
        names = {f["id"]: f["name"] for f in document["functions"]}
        self.assertEqual(self.function(document, "hot")["source"], "burst")
        below = [(names[parent["function"]], node["calls"])
                 for node, parent, _ in harness.nodes_of(document)
                 if names[node["function"]] == "seldom" and parent]
        self.assertEqual([row for row in below if row[0] in ("hot", "cold")], [])

    def test_waits_of_others(self):
        """Waits of a thread in a burst are not charged to a call whose end no probe sees there:
        that would be tens of ms. (Before the drop the call may have been preempted itself.)"""
        document = self.trace_stepped(2)
        self.assertEqual(self.function(document, "hot")["source"], "burst")
        self.assertLess(self.function(document, "hot")["off_self_ns"], 5000000)

    def test_short_runs(self):
        """Looks may have cost more than all of the target's CPU time since a drop."""
        for _ in range(3):
            document, done = self.profile_pid("hot", 1, options=("--max-overhead", "2"))
            for function in document["functions"]:
                true = done.counts.get(function["name"], 1)
                self.assertLessEqual(function["calls"], 100 * true + 1000, function["name"])

    def test_none(self):
        document, _ = self.run_serving("--max-overhead", "5", "--no-bursts", bursts=0, windows=0)
        self.assertNotIn("bursts", document["accounting"])
        self.assertFalse([f for f in document["functions"] if f["source"] == "burst"])

    def test_where_there_are_none(self):
        """Without a budget, with single calls, triggers, or calls that stand for others."""
        for options in (("--max-overhead", "none"), ("--calls",), ("--trigger", "request"),
                        ("--sample-hot", "10")):
            document, _ = self.run_serving(*BURSTS, *options, bursts=0, windows=0)
            self.assertNotIn("bursts", document["accounting"], options)

    def test_bad_values(self):
        for time in ("0", "5", "500us", "101ms", "x"):
            done = self.process(PROFTRACE, "--burst", time, "--", "true").finish()
            self.assert_one_line(done, 2, "--burst", "from 1ms to 100ms")


if __name__ == "__main__":
    harness.main()
