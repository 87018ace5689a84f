# SPDX-License-Identifier: GPL-2.0-or-later
"""The survey: a target that runs already is looked at before it is traced, so that a run with a
budget begins within it."""

import os
import signal

import harness
from harness import PROFTRACE

LIMITED = ("--max-overhead", "5")
NAMED = ("-F", "hot", "-F", "rare", "-F", "heat")


def cpu_ticks(pid):
    """CPU time that a process has had, in steps of 10 ms."""
    return sum(map(int, harness.stat_fields(pid)[11:13]))


@harness.alone("what is dropped depends on what calls cost meanwhile")
class Survey(harness.TestCase):
    def run_busy(self, *options, busy=False):
        """Traces `hot` while it is hot, and calls of `rare` from the first moment on. Returns the
        document, and the true counts. `busy`: the thread that calls `hot` has run meanwhile."""
        target = self.target("hot", 1)
        target.go()
        target.step("1")
        tracer = self.process(PROFTRACE, "-f", "json", *options, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        began = cpu_ticks(target.pid)
        self.assertTrue(not busy or harness.poll(lambda: cpu_ticks(target.pid) >= began + 2,
                                                 harness.TIMEOUT))
        target.step("12")
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))
        return self.document(tracer.finish()), done.counts

    def drops(self, document):
        return {drop["name"]: drop for drop in document["dropped"]}

    def test_what_is_hot_is_never_traced(self):
        """A function that would be over the budget is known before the start: the run pays nothing
        for it, and all other functions are exact from the start on."""
        document, _ = self.run_busy(*LIMITED, *NAMED)
        drop = self.drops(document)["hot"]
        self.assertEqual((drop["at_ns"], drop["sampled"]), (0, 0))
        self.assertGreater(drop["cost_percent"], 5)
        self.assertGreater(drop["calls_per_second"], 0)
        self.assertIn("over the budget", drop["reason"])
        # The calls of `hot` are a guess by its rate then, and their error says so: none was
        # recorded.
        for function in document["functions"]:
            if function["name"] == "hot":
                self.assertGreaterEqual(function["calls_error"], function["calls"])
        self.assertEqual(self.count(document, "rare"), 12)
        self.assertEqual(set(self.drops(document)), {"hot"})
        accounting = document["accounting"]
        self.assertEqual((accounting["lost"], accounting["dropped"]), (0, 0))
        self.assertEqual(accounting["entered"], 12)
        self.assertGreater(document["budget"]["surveyed_ns"], 0)

    def test_by_default(self):
        document, _ = self.run_busy()
        self.assertEqual(self.drops(document)["hot"]["at_ns"], 0)
        self.assertEqual(self.count(document, "rare"), 12)

    def test_many_processes(self):
        """One process is surveyed for all; functions that stay exact are so in each process."""
        targets = [self.target("hot", 1) for _ in range(6)]
        for target in targets:
            target.go()
            target.step("1")
        tracer = self.process(PROFTRACE, "-f", "json", *LIMITED, *NAMED, "-p",
                              ",".join(str(target.pid) for target in targets))
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        for number, target in enumerate(targets):
            target.step(str(number))
            done = target.finish()
            self.assertEqual(done.status, 0, str(done))
        document = self.document(tracer.finish())
        self.assertEqual(self.drops(document)["hot"]["at_ns"], 0)
        self.assertEqual(self.count(document, "rare"), sum(range(len(targets))))

    def test_what_options_name_stays(self):
        document, _ = self.run_busy(*LIMITED, *NAMED, "--session", "hot", "--buffer-size", "16M",
                                    busy=True)
        self.assertNotIn("hot", self.drops(document))
        self.assertGreater(self.count(document, "hot"), 0)

    def test_kept_in_part(self):
        one_in = 10
        document, _ = self.run_busy(*LIMITED, *NAMED, "--sample-hot", one_in, busy=True)
        drop = self.drops(document)["hot"]
        self.assertEqual((drop["at_ns"], drop["sampled"]), (0, one_in))
        self.assertEqual(self.function(document, "hot")["estimate"], True)
        # From the first call on one in so many is recorded, on each CPU.
        kept = self.count(document, "hot") // one_in
        self.assertGreater(kept, 0)
        self.assertLessEqual(abs(document["accounting"]["dropped"] - kept * (one_in - 1)),
                             one_in * os.cpu_count() + 12)

    def test_where_there_is_none(self):
        """Without a budget, where tracing is switched on later, and of commands: nothing is
        dropped before the start."""
        for options in (("--max-overhead", "none"), NAMED, (*LIMITED, *NAMED, "--paused"),
                        (*LIMITED, *NAMED, "--trigger", "rare")):
            document, _ = self.run_busy(*options)
            self.assertEqual(document["budget"]["surveyed_ns"], 0, options)
            self.assertFalse([d for d in document["dropped"] if not d["at_ns"]], options)

    def test_garbage_collectors_work_in_phases(self):
        """Go's is not traced before bursts have met it: a survey hardly does. But where options
        name functions all of them are wanted."""
        target = self.target("gohash", 4, 10 ** 9)
        target.go()
        for options in ((), ("-F", "runtime.*", "-F", "main.*")):
            tracer = self.process(PROFTRACE, "-f", "json", *LIMITED, *options, "-p", target.pid)
            self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
            tracer.signal(signal.SIGINT)
            dropped = self.document(tracer.finish())["dropped"]
            phases = [drop for drop in dropped if drop["reason"].endswith("works in phases")]
            self.assertEqual(bool(phases), not options, dropped)
            self.assertEqual({drop["at_ns"] for drop in phases}, {0} if phases else set())
            self.assertFalse([drop for drop in phases if not drop["name"].startswith("runtime.")])
        target.popen.kill()
        target.finish()

    def test_idle(self):
        """A target that does nothing shows nothing, and loses nothing."""
        target = self.target("hot", 0)
        tracer = self.process(PROFTRACE, "-f", "json", "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        target.go()
        target.step("5")
        target.finish()
        document = self.document(tracer.finish())
        self.assertEqual(document["dropped"], [])
        self.assertEqual(self.count(document, "rare"), 5)


if __name__ == "__main__":
    harness.main()
