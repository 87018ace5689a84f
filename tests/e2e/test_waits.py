# SPDX-License-Identifier: GPL-2.0-or-later
"""Waits with --sample-rate: functions without probes that wait, in the tree of those that have
some."""

import json

import harness
from harness import PROFTRACE

OPTIONS = ("--sample-rate", "97", "-F", "outer")
TIMES = 40
OFTEN = 100000


class Waits(harness.TestCase):
    def waited(self, document):
        """{functions from the outermost on: time off the CPU in ns}, of the path itself alone."""
        functions, found, above = document["functions"], {}, []
        for thread in document["threads"]:
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(functions[node["function"]]["name"])
                if node["off_self_ns"]:
                    path = tuple(above)
                    found[path] = found.get(path, 0) + node["off_self_ns"]
        return found

    def below(self, waited, *names):
        """Time off the CPU of paths with these functions, one behind the other."""
        return sum(ns for path, ns in waited.items()
                   if any(path[i:i + len(names)] == names for i in range(len(path))))

    def check_waits(self, document, counts):
        """Compares waits with the program's own clock. That clock counts preemption as well, and
        the time that a host takes of the machine's processors, which is no wait in the machine."""
        waited = self.waited(document)
        self.assertEqual(self.function(document, "outer")["calls"], counts["outer"])
        preempted = self.below(waited, "[preempted]")
        for where, wanted in ((("outer", "sleeper", "nap"), "sleeper_ns"),
                              (("outer", "reader", "hear"), "reader_ns"),
                              (("thread", "alone", "nap"), "alone_ns")):
            ns = self.below(waited, *where)
            self.assertAlmostEqual(ns / counts[wanted], 1, delta=0.1 + preempted / counts[wanted],
                                   msg=f"{where}: {waited} {counts}")
        for call in ("[clock_nanosleep]", "[read]"):
            self.assertTrue(any(path[-2:] == (call, "[timer]") for path in waited), waited)
        # Waits in nap() and hear() were taken from outer(), which has moments of its own left.
        outer = self.function(document, "outer")
        self.assertLess(outer["off_self_ns"], 0.02 * outer["off_ns"])
        self.assertGreaterEqual(outer["off_ns"], 0.95 * (counts["sleeper_ns"] +
                                                         counts["reader_ns"]) - preempted)
        self.assertLessEqual(outer["off_ns"], outer["total_ns"])
        self.assertEqual(outer["source"], "exact")
        self.assertEqual(self.function(document, "sleeper")["source"], "sample")
        accounting = document["accounting"]
        self.assertGreaterEqual(accounting["waits"], 3 * counts["outer"])
        # The kernel misses a switch here and there, the more so on a busy machine.
        self.assertLessEqual(accounting.get("waits_lost", 0), 3 + 0.02 * accounting["waits"])

    def test_command(self):
        document, done = self.profile_command("waiting", TIMES, options=OPTIONS)
        self.check_waits(document, done.counts)

    def test_threads(self):
        document, done = self.profile_pid("waiting", TIMES // 4, 100, options=OPTIONS)
        self.check_waits(document, done.counts)

    def test_recorded(self):
        recording = self.path("proftrace.data")
        done = self.process(PROFTRACE, "record", *OPTIONS, "-o", recording, "--",
                            harness.program("waiting"), str(TIMES)).finish()
        shown = self.process(PROFTRACE, "report", "-f", "json", recording).finish()
        self.assertEqual(shown.status, 0, shown)
        self.check_waits(json.loads(shown.stdout), done.counts)
        shown = self.process(PROFTRACE, "report", "-w", "off", "-f", "folded", recording).finish()
        self.assertRegex(shown.stdout, r"(?m)outer;sleeper;nap;.*"
                                       r"\[clock_nanosleep\];\[timer\] [0-9]+$")

    def test_intervals(self):
        """Waits that are under way count in the interval that they pass in. (The first one
        may last a second, as names are looked up in it.)"""
        result = self.path("result.json")
        done = self.process(PROFTRACE, *OPTIONS, "-i", "0.1", "-f", "json", "-o", result, "--",
                            harness.program("waiting"), str(3 * TIMES)).finish()
        with open(result, encoding="utf-8") as lines:
            documents = [json.loads(line) for line in lines]
        self.assertGreater(len(documents), 2)
        ns = sum(self.below(self.waited(d), "outer", "sleeper", "nap") for d in documents)
        self.assertAlmostEqual(ns / done.counts["sleeper_ns"], 1, delta=0.1)

    def test_no_interval_has_more_time_than_it_lasted(self):
        """Looking up the first names, as those of libc with its debug information, takes longer than
        the interval; what is called meanwhile counts in the time that the interval says."""
        target = self.target("waiting", 1000000)
        target.go()
        done = self.run_proftrace(*OPTIONS, "--inlines", "-f", "json", "-i", "0.1", "-d", "1", "-p",
                                  target.pid)
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertTrue(documents, done)
        for document in documents:
            for thread in document["threads"]:
                ns = sum(node["total_ns"] for node in thread["calls"])
                # A snapshot is not made in an instant on a busy machine.
                self.assertLess(ns, document["duration_ns"] * 1.2 + 100e6, document)

    def test_alike(self):
        """Return addresses tell places apart, also those that lie farther up the stack than is read
        at once."""
        document, done = self.profile_command("alike", TIMES, options=(
            "--sample-rate", "97", "-F", "all"))
        waited = self.waited(document)
        preempted = self.below(waited, "[preempted]")
        for where, wanted in ((("near_one", "nap"), "near_one_ns"),
                              (("near_two", "nap"), "near_two_ns"),
                              (("far_one", "far_nap", "nap"), "far_one_ns"),
                              (("far_two", "far_nap", "nap"), "far_two_ns")):
            ns, true_ns = self.below(waited, *where), done.counts[wanted]
            self.assertAlmostEqual(ns / true_ns, 1, delta=0.1 + preempted / true_ns,
                                   msg=f"{where}: {waited} {done.counts}")

    def often(self, document):
        """Time off the CPU of either kind of call, in ns."""
        waited = self.waited(document)
        return [self.below(waited, "outer", name, "ask") for name in ("ask_first", "ask_second")], \
            self.below(waited, "[preempted]")

    def test_often(self):
        """Within a budget few of the waits of threads that wait often are looked at."""
        document, done = self.profile_command("often", OFTEN, options=(
            *OPTIONS, "--max-overhead", "5"))
        accounting, truth = document["accounting"], done.counts
        (first, second), preempted = self.often(document)
        both = truth["first_ns"] + truth["second_ns"]
        self.assertAlmostEqual((first + second) / both, 1, delta=0.15 + preempted / both)
        # Long ones that were not looked at are taken for what was looked at last, one or the other.
        self.assertAlmostEqual(first / (first + second), truth["first_ns"] / both, delta=0.12)
        self.assertGreater(accounting["waits"], OFTEN)
        self.assertGreater(accounting["waits_estimated"], 0.8 * accounting["waits"])
        self.assertLess(accounting["waits_estimated"], accounting["waits"])

    def test_often_and_uneven(self):
        """Few are looked at, and stand for the others; what these took indeed makes the sum right.
        There is no exact call that they were in, which would tell it."""
        document, done = self.profile_pid("often", 8000, 8, 300, options=(
            "--sample-rate", "97", "-F", "main", "--max-overhead", "5"))
        waited = self.waited({**document, "threads": [
            thread for thread in document["threads"] if thread["tid"] == thread["pid"]]})
        self.assertGreater(document["accounting"]["waits_estimated"], 4000)
        ns = self.below(waited, "ask") + self.below(waited, "[preempted]")
        self.assertAlmostEqual(ns / done.counts["off_ns"], 1, delta=0.08, msg=str(waited))

    def test_often_without_a_budget(self):
        document, done = self.profile_command("often", OFTEN, options=OPTIONS)
        truth = [done.counts["first_ns"], done.counts["second_ns"]]
        found, preempted = self.often(document)
        for ns, true_ns in zip(found, truth):
            self.assertAlmostEqual(ns / true_ns, 1, delta=0.15 + preempted / true_ns)
        self.assertAlmostEqual(found[0] / sum(found), truth[0] / sum(truth), delta=0.02)
        self.assertNotIn("waits_estimated", document["accounting"])

    def test_children_that_begin_a_program(self):
        """How that waits is no matter: it would seem to wait up to the end of the run. Before that a
        child may wait for a CPU, no longer than the program says that all took beyond their sleep,
        which is 0.8 s."""
        for profile in (self.profile_command, self.profile_pid):
            document, done = profile("naps", 4, options=("--max-overhead", "5"))
            self.assert_counts(document, done.counts)
            pid = document["target"]["pids"][0]
            waited = self.waited({**document, "threads": [
                thread for thread in document["threads"] if thread["pid"] != pid]})
            beyond_ns = 1000 * done.numbers("BEYOND")["us"]
            self.assertLess(sum(waited.values()), 0.1e9 + beyond_ns, waited)

    def test_calls_whose_end_is_not_seen(self):
        """Waits of a caller after a call whose end nobody saw are not the call's."""
        for options in (), ("--sample-rate", "97"):
            document, done = self.profile_command(
                "unseen", TIMES, options=("-F", "leaves", "-F", "outer", *options))
            outer, leaves = (self.function(document, name) for name in ("outer", "leaves"))
            self.assertEqual((outer["calls"], leaves["calls"]), (TIMES, TIMES))
            self.assertEqual(document["accounting"]["unwound"], TIMES)
            self.assertLess(leaves["off_ns"], 0.1 * done.counts["outer_ns"])
            self.assertAlmostEqual(outer["off_ns"] / done.counts["outer_ns"], 1, delta=0.1)

    def test_none(self):
        document, _ = self.profile_command("waiting", 2, options=("-F", "outer"))
        self.assertNotIn("waits", document["accounting"])
        self.assertIsNone(self.function(document, "sleeper"))


if __name__ == "__main__":
    harness.main()
