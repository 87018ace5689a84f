# SPDX-License-Identifier: GPL-2.0-or-later
"""--sample-rate: CPU time of functions without probes, in the tree of those that have some."""

import errno
import json
import os

import harness
from harness import PROFTRACE, program
from system_calls import refuse

RATE = ("--sample-rate", "997")
TRACED = ("-F", "outer", "-F", "reader")
BUDGET = ("--max-overhead", "200")  # that nothing goes over
TIMES = 1000
IN_TREE = ("whole", "no_rule", "unreadable", "astray", "deep", "unknown")
PERF_EVENT_OPEN = 298  # of x86-64


class Sampled(harness.TestCase):
    def placed(self, document):
        """How many samples are to be in the tree."""
        accounting = document["accounting"]
        return accounting.get("samples_taken", 0) - accounting.get("samples_probing", 0) - \
            accounting.get("samples_lost", 0)

    def paths(self, document):
        """{functions from the outermost on: samples}, own code of the path's alone."""
        functions, found, above = document["functions"], {}, []
        for thread in document["threads"]:
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(functions[node["function"]]["name"])
                if node["samples"]:
                    path = harness.below_roots(tuple(above), "outer", "reader")
                    found[path] = found.get(path, 0) + node["samples"]
        return found

    def check_sampled(self, document):
        """Checks rules that hold for every document with samples."""
        accounting = document["accounting"]
        placed = self.placed(document)
        self.assertGreater(placed, 0)
        nodes = list(harness.nodes_of(document))
        self.assertEqual(sum(node["samples"] for node, _, _ in nodes), placed, accounting)
        self.assertEqual(sum(accounting.get(f"samples_{end}", 0) for end in IN_TREE), placed)
        # A sample may meet the program as it begins, in code whose mapping is not known yet.
        self.assertLessEqual(placed - accounting["samples_whole"], max(1, 0.02 * placed),
                             accounting)
        for what in (document["functions"], [node for node, _, _ in nodes]):
            self.assertAlmostEqual(sum(one["cpu_self_ns"] for one in what) /
                                   accounting["cpu_ns"], 1, delta=0.1)
        # A sample at the edge of a call is beside it, so a path whose own time is less than a few
        # samples stand for, or than its probes took, may have most of it from there.
        for node, _, _ in nodes:
            sources = ["exact"] if node["calls"] else ["sample"]
            if node["calls"] and node["cpu_self_ns"] < max(
                    3e6, node["raw_self_ns"] - node["self_ns"]):
                sources.append("sample")
            self.assertIn(node["source"], sources, node)
        for function in document["functions"]:
            if not function["calls"]:
                self.assertEqual(function["source"], "sample", function)

    def check_tree(self, document, counts):
        """Checks paths and counts. Code without a name is the dynamic linker's, or code whose
        mapping was not known yet as the program began."""
        self.assert_counts(document, counts)
        self.check_sampled(document)
        paths = self.paths(document)
        self.assertTrue(all(path[0] in ("outer", "reader", "_start", "clone3", "__clone3", "clone",
                                        "[anonymous]", "[ld-linux-x86-64.so.2]")
                            for path in paths), paths)
        much = paths[("outer", "middle", "much")]
        little = paths[("outer", "middle", "little")]
        self.assertTrue(1.5 < much / little < 6, paths)
        self.assertTrue(any(path[-3:] == ("thread", "alone", "much") for path in paths), paths)
        modules = {f["name"]: f["module"] for f in document["functions"]}
        kernel = [path for path in paths if path[0] == "reader" and modules[path[-1]] == "[kernel]"]
        self.assertTrue(kernel, paths)
        self.assertIn("read", kernel[0][1])
        # Time of a call that is really its callees'.
        middle = sum(node["total_ns"] for node, parent, _ in harness.nodes_of(document)
                     if parent and document["functions"][node["function"]]["name"] == "middle")
        outer = self.function(document, "outer")
        self.assertLess(outer["cpu_self_ns"], middle)
        self.assertEqual(outer["cpu_error_ns"] > 0, True)

    def test_command(self):
        document, done = self.profile_command("sampled", TIMES, options=(*RATE, *TRACED))
        self.check_tree(document, done.counts)

    def test_pid(self):
        document, done = self.profile_pid("sampled", TIMES, options=(*RATE, *TRACED))
        self.check_tree(document, done.counts)

    def test_backends(self):
        for backend in harness.working("uprobe_multi", "trace_event"):
            for exits in ("sites", "return"):
                document, done = self.profile_pid("sampled", TIMES, options=(
                    *RATE, *TRACED, "--tier", backend, "--exits", exits))
                self.assert_counts(document, done.counts)
                self.check_sampled(document)

    def test_with_callers(self):
        document, done = self.profile_command("sampled", TIMES, options=(
            *RATE, "--callers", *TRACED))
        self.assert_counts(document, done.counts)
        self.check_sampled(document)
        self.assertIn(("outer", "middle", "much"), self.paths(document))
        names = [f["name"] for f in document["functions"]]
        self.assertLessEqual({names[parent["function"]] if parent else None for node, parent, _ in
                              harness.nodes_of(document) if names[node["function"]] == "outer"},
                             {"main"})

    def test_intervals_and_recordings(self):
        """Samples of intervals are those of the run; a recording has them, too."""
        result = self.path("result.json")
        self.process(PROFTRACE, *RATE, *TRACED, "-i", "0.2", "-f", "json", "-o", result, "--",
                     program("sampled"), str(TIMES)).finish()
        with open(result, encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        self.assertEqual(sum(node["samples"] for d in documents
                             for node, _, _ in harness.nodes_of(d)),
                         sum(self.placed(d) for d in documents))
        recording = self.path("proftrace.data")
        done = self.process(PROFTRACE, "record", *RATE, *TRACED, "-o", recording, "--",
                            program("sampled"), str(TIMES)).finish()
        shown = self.process(PROFTRACE, "report", "-f", "json", recording).finish()
        self.assertEqual(shown.status, 0, shown)
        self.check_tree(json.loads(shown.stdout), done.counts)
        shown = self.process(PROFTRACE, "report", "-f", "tree", recording).finish()
        self.assertRegex(shown.stdout, r"(?m)^ +- +~[0-9.]+ ms +.*middle$")
        self.assertRegex(shown.stdout, r"~: estimated from [0-9,]+ samples of ")
        shown = self.process(PROFTRACE, "report", "-f", "folded", recording).finish()
        self.assertRegex(shown.stdout, r"(?m)outer;middle;much [0-9]+$")

    def test_default(self):
        """Within a budget, where no functions are named: as many as that affords."""
        document, done = self.profile_command("sampled", TIMES, options=("-v", *BUDGET))
        self.assertRegex(done.stderr, "an interrupt of the clock of samples takes [0-9]+ ns")
        self.assertGreaterEqual(document["sample_period_ns"] * 997, 10**9 / 2)
        self.assertLessEqual(document["sample_period_ns"] * 97, 10**9 * 2)
        self.assertNotIn("cpu_samples", document)
        self.assert_counts(document, done.counts)
        self.check_sampled(document)

    def test_none(self):
        for options in ((), ("--sample-rate", "0"), (*RATE, "--no-samples"),
                        (*BUDGET, "--no-samples"), (*BUDGET, "--calls")):
            document, _ = self.profile_command("sampled", 10, options=(*options, *TRACED))
            self.assertNotIn("sample_period_ns", document)
            self.assertNotIn("samples_taken", document["accounting"])
            self.assertNotIn("source", document["functions"][0])

    def test_run_without_samples(self):
        """A clock of one look a second mostly meets nothing of a run of milliseconds."""
        document, done = self.profile_command("sampled", 1, options=(
            "--sample-rate", "1", *TRACED, *BUDGET))
        self.assert_counts(document, done.counts)
        for what in (document["functions"], [node for node, _, _ in harness.nodes_of(document)]):
            self.assertAlmostEqual(sum(one["cpu_self_ns"] for one in what) /
                                   document["accounting"]["cpu_ns"], 1, delta=0.01)

    def test_refused(self):
        """Where a sandbox or a limit is in the way the run goes on, and says so once."""
        for number in (errno.EACCES, errno.EMFILE):
            document, done = self.profile_command(
                "sampled", 10, options=BUDGET, preexec_fn=lambda: refuse(PERF_EVENT_OPEN, number))
            self.assert_counts(document, done.counts)
            lines = [line for line in done.stderr.splitlines() if "samples" in line]
            self.assertEqual(len(lines), 1, done)
            self.assertIn(os.strerror(number), lines[0])
            self.assertNotIn("sample_period_ns", document)
            self.assertNotIn("cpu_samples", document)

    def test_what_cannot_be(self):
        done = self.process(PROFTRACE, *RATE, "-x", program("sampled")).finish()
        self.assert_one_line(done, 2, "--sample-rate", "-p")
        for rate in ("-1", "x", "10001"):
            done = self.process(PROFTRACE, f"--sample-rate={rate}", program("sampled")).finish()
            self.assertEqual(done.status, 2, done)
        for backend in harness.working("trace_event_basic"):
            done = self.process(PROFTRACE, *RATE, *TRACED, "--tier", backend, "-f", "json", "--",
                                program("sampled"), "10").finish()
            self.assertEqual(done.status, 0, done)
            self.assertIn("no samples in the tree", done.stderr)


if __name__ == "__main__":
    harness.main()
