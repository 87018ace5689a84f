# SPDX-License-Identifier: GPL-2.0-or-later
"""Times: corrected and raw, on and off the CPU, and the distributions of calls."""

import re
import time

import harness
from harness import program

CASES = (("recursion", 65, 2), ("threads", 4, 500), ("timing", 5, 3), ("tailcall",),
         ("longjmp", 10, 5), ("calc-pie",), ("throws", 10, 10), ("exits", "return"))
WAIT_NS = 30_000_000


class Times(harness.TestCase):
    def check_function(self, function):
        self.assertLessEqual(function["total_ns"], function["raw_total_ns"], function)
        self.assertLessEqual(function["self_ns"], function["raw_self_ns"], function)
        quantiles = [function[f"p{percent}_ns"] for percent in (50, 90, 99)]
        self.assertEqual(quantiles, sorted(quantiles), function)
        buckets = function["histogram"]
        if not buckets:
            self.assertEqual(quantiles, [0, 0, 0], function)
            return
        self.assertTrue(function["min_ns"] <= quantiles[0] and quantiles[2] <= function["max_ns"],
                        function)
        last = 0
        for low, high, calls in buckets:
            self.assertLessEqual(last, low, function)
            self.assertLess(low, high, function)
            self.assertTrue(high - low <= max(low / 8, 1) and calls > 0, function)
            last = high

    def check_document(self, document):
        """The rest of the identities, that sums hold up the tree, is in harness.check_times()."""
        for function in document["functions"]:
            self.check_function(function)
        for node, _, _ in harness.nodes_of(document):
            self.assertLessEqual(node["total_ns"], node["raw_total_ns"], node)
            self.assertLessEqual(node["self_ns"], node["raw_self_ns"], node)
        accounting = document["accounting"]
        distributed = sum(calls for function in document["functions"]
                          for _, _, calls in function["histogram"])
        # The duration of a call that was unwound is not known.
        self.assertEqual(distributed + accounting["undistributed"], accounting["returned"])

    def test_identities(self):
        for name, *args in CASES:
            for options in (), ("--exits=sites",):
                document, done = self.profile_command(name, *args, options=options)
                self.check_document(document)
                self.assertGreater(document["accounting"]["probe_ns"], 0, str(done))
                self.assertTrue(any(f["total_ns"] < f["raw_total_ns"]
                                    for f in document["functions"]), "nothing was taken out")

    def test_raw(self):
        """The probes' cost is left in all times, and what it is still told."""
        document, done = self.profile_command("threads", 4, 500, options=("--raw",))
        self.assert_counts(document, done.counts)
        for figures in [*document["functions"],
                        *(node for node, _, _ in harness.nodes_of(document))]:
            self.assertEqual(figures["total_ns"], figures["raw_total_ns"])
            self.assertEqual(figures["self_ns"], figures["raw_self_ns"])
        self.assertGreater(document["accounting"]["probe_ns"], 0)

    def wait_inside(self, *options):
        """A call of `outer` and of its callee `inner` that waits on a pipe until this test writes
        to it. Returns the profiler, the target, and for how long they have waited at least."""
        target = self.target("steps")
        tracer = self.proftrace(*options, "-F", "outer", "-F", "inner", "-p", target.pid) \
            .wait_tracing()
        target.go()
        target.step("hold")
        self.assertTrue(harness.poll(lambda: harness.stat_fields(target.pid)[0] == "S",
                                     harness.TIMEOUT))
        began = time.monotonic_ns()
        time.sleep(WAIT_NS / 1e9)
        return tracer, target, time.monotonic_ns() - began

    def check_waiting(self, document, waited):
        outer, inner = (self.function(document, name) for name in ("outer", "inner"))
        self.assertGreaterEqual(inner["off_self_ns"], waited)
        self.assertGreaterEqual(inner["total_ns"], inner["off_ns"])
        # Waiting of the callee is in the caller's inclusive time, not in its own.
        self.assertEqual(outer["off_ns"], outer["off_self_ns"] + inner["off_ns"])
        self.assertEqual((outer["calls"], inner["calls"]), (1, 1))

    def test_waiting(self):
        tracer, target, waited = self.wait_inside("-f", "json")
        target.step("go on")
        target.finish()
        document = self.document(tracer.finish())
        self.assertEqual(document["accounting"]["open"], 0)
        self.check_waiting(document, waited)

    def test_still_waiting(self):
        """At the end of tracing the call waits as before."""
        tracer, _, waited = self.wait_inside("-f", "json")
        document = self.document(tracer.interrupt())
        self.assertEqual(document["accounting"]["open"], 2)
        self.check_waiting(document, waited)

    def folded(self, *options):
        tracer, target, waited = self.wait_inside("-f", "folded", *options)
        target.step("go on")
        target.finish()
        done = tracer.finish()
        self.assertEqual(done.status, 0, str(done))
        stacks = re.findall(r"^steps;(?:_start;\S*;main;)?(\S+?)(?:;main;\S*)? ([0-9]+)$", done.stdout,
                            re.M)
        return {stack: int(value) for stack, value in stacks}, waited

    def test_folded_waiting(self):
        """Off the CPU is who waited; with --reverse, from whom on."""
        stacks, waited = self.folded("-w", "off")
        self.assertGreaterEqual(stacks["outer;inner"], waited)
        stacks, waited = self.folded("-w", "off", "--reverse")
        self.assertGreaterEqual(stacks["inner;outer"], waited)

    def test_folded_cpu(self):
        """Wall time is what is on the CPU and what is not; that of waiting is not on it."""
        tracer, target, waited = self.wait_inside("-f", "json")
        target.step("go on")
        target.finish()
        inner = self.function(self.document(tracer.finish()), "inner")
        self.assertLessEqual(inner["cpu_ns"], inner["total_ns"] - waited)
        text = self.run_proftrace("-f", "folded", "-w", "cpu", "--", program("timing"), 20, 2)
        self.assertEqual(text.status, 0, str(text))
        sums = {stack.split(";")[-1]: int(value) for stack, value in
                re.findall(r"^(\S+) ([0-9]+)$", text.stdout, re.M) if stack.startswith("timing;")}
        self.assertGreater(sums["spinner"], 0)

    def test_waiting_belongs_to_the_stack_that_waits(self):
        """Stacks are left without a call: by a switch of contexts, and by a signal's handler. Who
        sleeps then waits, and a coroutine that is suspended is not on the CPU either."""
        names = ("schedule", "work", "waiter", "handle")
        document, done = self.profile_command(
            "sleepers", options=[f"--filter={name}" for name in names])
        # The way into the sleep and out of it, some us, is on the CPU.
        slept, waited = (0.99 * done.counts[name] for name in ("schedule_ns", "waiter_ns"))
        figures = {name: self.function(document, name) for name in names}
        self.assertGreaterEqual(figures["schedule"]["off_ns"], slept)
        self.assertGreaterEqual(figures["work"]["off_ns"], slept)
        self.assertGreaterEqual(figures["waiter"]["off_ns"], waited)
        # The handler is over in no time; what it is charged with is no nap.
        self.assertLess(figures["handle"]["off_ns"], waited)


if __name__ == "__main__":
    harness.main()
