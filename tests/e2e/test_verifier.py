# SPDX-License-Identifier: GPL-2.0-or-later
"""How many instructions the kernel's verifier looks at for our programs: it refuses one for which
these are more than a million, and other kernels than this one need more of them."""

import contextlib
import glob
import re

import harness
from harness import program

LIMIT = 500_000  # half of what is allowed; the largest program takes 285,000
# Limit for all programs of a default run together, which take 85,000 instructions for this target:
# 0.1 s of the start. Where a function of many ways is inlined, the verifier looks at what follows
# once for each of them, and the programs of a default run once took 133,000 (see ONCE_UNLESS_WALKED
# in bpf/).
START_LIMIT = 100_000


class Verifier(harness.TestCase):
    RUNS = (("--calls", "--follow", "--syscalls", "-F", "*", "-F", "region:*", "-A", "*(arg1,ret)"),
            ("--lines", "throng.c:1-999"),
            ("--sample-rate", "97", "--trigger", "a", "--until", "d", "-F", "*"))

    def looked_at(self, *options):
        """At each program, in a run with these options."""
        target = self.target("throng", 2, 1)
        tracer = self.proftrace("-f", "json", *options, "-p", target.pid).wait_tracing()
        found = []
        for path in glob.glob(f"/proc/{harness.keeper_of(tracer)}/fdinfo/*"):
            # Other objects than programs may come and go.
            with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
                found += map(int, re.findall(r"^verified_insns:\s*(\d+)$", file.read(), re.M))
        target.go()
        target.finish()
        self.document(tracer.finish())
        return found

    def test_far_from_the_limit(self):
        """Checks the programs for this kernel, and those for older ones."""
        best = harness.examined()["backend"]
        for tier in best, "trace_event_basic":
            for options in self.RUNS:
                with self.subTest(tier=tier, options=options):
                    found = self.looked_at("--tier", tier, *options)
                    self.assertGreater(len(found), 5)
                    self.assertLess(max(found), LIMIT)

    def test_start_is_cheap(self):
        """The verifier takes little time for the programs of a default run, return probes and
        all."""
        best = harness.examined()["backend"]
        self.assertLess(sum(self.looked_at("--tier", best)), START_LIMIT)


if __name__ == "__main__":
    harness.main()
