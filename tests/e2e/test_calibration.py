# SPDX-License-Identifier: GPL-2.0-or-later
"""The probes' cost as known from one run to the next, and the target's CPU time."""

import json
import os
import re
import time

import harness
from harness import program

TRIES = 60  # figures that a busy machine makes uncertain are not kept
SPIN = "for ((i = 0; i < 200000; i++)); do :; done"
CHILD_CALLS = 20000
INTERVALS = 10


class Unknown(harness.TestCase):
    """Without room for paths nothing can be measured: then no format says otherwise."""

    def setUp(self):
        super().setUp()
        self.options = "--max-paths", "1", "-d", "0.1", "-p", self.target("steps").pid

    def without_kept_costs(self, *arguments):
        """With a /run of its own."""
        return self.process("unshare", "--mount", "sh", "-c",
                            'mount -t tmpfs tmpfs /run && exec "$@"', "sh", harness.PROFTRACE,
                            *arguments, *self.options).finish()

    def test_json(self):
        done = self.without_kept_costs("-f", "json")
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("what probes cost could not be measured", done.stderr)
        document = json.loads(done.stdout)
        self.assertIs(document["accounting"].get("probe_cost_unknown"), True)
        self.assertIsNone(document["budget"]["used_percent"])

    def test_text(self):
        recording = self.path("x.data")
        done = self.without_kept_costs("record", "-o", recording)
        self.assertEqual(done.status, 0, str(done))
        shown = self.process(harness.PROFTRACE, "report", "-f", "folded", recording).finish()
        for text in done.stderr, shown.stderr:
            self.assertIn("what probes cost is not known: times include it; budget 5.0%", text)
            self.assertNotIn("taken out", text)

    def test_budget(self):
        """It is kept all the same, by what probes cost elsewhere: what is called without a pause is
        dropped."""
        target = self.target("hot", 1)
        target.go()
        self.options = "--max-paths", "1", "-d", "1", "-p", target.pid
        done = self.without_kept_costs("-f", "json")
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("the budget is kept by a guess", done.stderr)
        dropped = [function["name"] for function in json.loads(done.stdout)["functions"]
                   if function.get("dropped")]
        self.assertEqual(dropped, ["hot"], done.stdout)


@harness.alone("figures that a busy machine makes uncertain are not kept")
class Cache(harness.TestCase):
    """With a /run of its own."""

    def setUp(self):
        super().setUp()
        self.holder = self.process("unshare", "--mount", "sh", "-c",
                                   "mount -t tmpfs tmpfs /run && echo mounted && read end")
        self.assertTrue(self.holder.stdout.wait_lines("mounted"), self.holder.stderr.text())
        self.folder = f"/proc/{self.holder.pid}/root/run/proftrace"

    def files(self):
        return os.listdir(self.folder) if os.path.isdir(self.folder) else []

    def run_inside(self, *arguments, by=()):
        held = f"/proc/{self.holder.pid}"
        done = self.process("nsenter", f"--mount={held}/ns/mnt", f"--root={held}/root", *by,
                            harness.PROFTRACE, "-v", "-f", "json", *arguments).finish()
        self.assertEqual(done.status, 0, str(done))
        return done

    def calibrates(self, *options, by=()):
        """Runs it; returns whether it has measured."""
        done = self.run_inside(*options, "--", program("recursion"), 5, 2, by=by)
        measured = "proftrace: calibration: " in done.stderr
        # Either way they are known.
        document = json.loads(done.stdout[done.stdout.index("{"):done.stdout.rindex("}") + 1])
        self.assertGreater(document["accounting"]["probe_ns"], 0, str(done))
        return measured

    def calibrate(self, *options):
        """Until it is kept. Returns the file."""
        for _ in range(TRIES):
            self.assertTrue(self.calibrates(*options))
            if self.files():
                break
        self.assertEqual(len(self.files()), 1)
        return os.path.join(self.folder, self.files()[0])

    def test_what_is_known_takes_no_return_probes(self):
        """Programs for these are loaded to measure, and where a function has one."""
        spared = "the program of return probes is left out"
        if "session" not in harness.working("session"):
            self.skipTest("another backend")
        throws, recursion = (program("throws"),), (program("recursion"), 5, 2)
        self.assertNotIn(spared, self.run_inside("-F", "*", "--", *throws).stderr)
        if not self.files():
            self.calibrate()
        done = self.run_inside("-F", "*", "--", *throws)
        self.assertIn(spared, done.stderr)
        document = json.loads(done.stdout[done.stdout.index("{"):done.stdout.rindex("}") + 1])
        self.assertEqual(document["probes"]["exits"]["return"], 0)
        self.assert_counts(document, done.counts, done)
        self.assertNotIn(spared, self.run_inside("-F", "*", "--", *recursion).stderr)

    def test_forgotten_meanwhile(self):
        """A run finds the figures known, and so leaves out the program of return probes; then
        another proftrace puts its own figures in their place. The run goes by the figures that it
        has read."""
        path = self.calibrate()
        trace = self.path("trace")
        fails = ("strace", "-o", trace, "-P", path.partition("/root")[2], "-e", "trace=openat",
                 "-e", "inject=openat:error=ENOENT:when=2+")
        done = self.run_inside("-F", "*", "--", program("throws"), by=fails)
        self.assertIn("the program of return probes is left out", done.stderr)
        with open(trace, encoding="utf-8") as file:
            self.assertIn("costs-", file.read(), "strace has not seen it opened")

    def test_once_for_a_boot(self):
        path = self.calibrate()
        with open(path, encoding="ascii") as file:
            text = file.read()
        self.assertFalse(self.calibrates())
        with open(path, encoding="ascii") as file:
            self.assertEqual(file.read(), text)
        self.assertEqual(os.stat(path).st_mode & 0o7777, 0o600)

    def test_each_tier(self):
        self.calibrate("--tier", "uprobe_multi")
        self.assertFalse(self.calibrates("--tier", "uprobe_multi"))
        self.assertEqual(self.files(), ["costs-uprobe_multi"])
        self.assertTrue(self.calibrates("--tier", "session"))

    def test_containers_have_figures_of_their_own(self):
        """A call costs more there, and /run may be the host's."""
        self.calibrate()
        self.assertTrue(self.calibrates(by=("unshare", "--pid", "--fork", "--mount-proc")))
        self.assertFalse(self.calibrates())

    def test_damage(self):
        path = self.calibrate()
        with open(path, encoding="ascii") as file:
            good = file.read()
        for bad in good[:len(good) // 2], good.replace("session", "nothing"), "", "\0" * 5000:
            with open(path, "w", encoding="ascii") as file:
                file.write(bad)
            for _ in range(TRIES):
                if not self.calibrates():
                    break
                with open(path, encoding="ascii") as file:
                    text = file.read()
                if text != bad:
                    break
            self.assertNotEqual(text, bad)
            self.assertEqual(text.splitlines()[0], good.splitlines()[0])
            self.assertFalse(self.calibrates())

    def test_strangers_file(self):
        path = self.calibrate()
        os.chmod(path, 0o666)
        self.assertTrue(self.calibrates())


def cpu_clock(pid):
    """A process' CPU time in ns, as in clock_getcpuclockid(3)."""
    return time.clock_gettime_ns(~pid << 3 | 2)


def times_ns(line):
    """A line of the shell's `times`: user and system."""
    found = re.findall(r"(\d+)m(\d+)[.,](\d+)s", line)
    return sum((int(minutes) * 60 + float(f"{seconds}.{part}")) * 1e9
               for minutes, seconds, part in found)


def used_ns(document):
    """The CPU time that a target has had, with what the probes have cost it."""
    return document["accounting"]["cpu_ns"] + document["accounting"]["probe_ns"]


@harness.alone("measures CPU time, which grows where others use the caches")
class CpuTime(harness.TestCase):
    def assert_near(self, ns, expected, context=""):
        self.assertGreater(expected, 20e6, f"too little to compare\n{context}")
        self.assertGreater(ns, 0.6 * expected, str(context))
        self.assertLess(ns, 1.4 * expected + 50e6, str(context))

    def test_command(self):
        document, done = self.profile_command("/bin/bash", "-c", f"{SPIN}; times",
                                              options=("-F", "execute_command"))
        self.assert_near(used_ns(document), times_ns(done.stdout.splitlines()[0]), done)
        self.assertLess(document["accounting"]["cpu_ns"], used_ns(document))

    def test_from_the_start_on(self):
        """CPU time that a process had used before it was traced does not count."""
        target = self.process("/bin/bash", "-c", f"read go; {SPIN}; {SPIN}; echo ready; read go; "
                              f"{SPIN}; echo done; read go")
        target.send("go")
        target.stdout.wait_lines("ready")
        tracer = self.proftrace("-f", "json", "-F", "execute_command", "-p", target.pid) \
            .wait_tracing()
        began = cpu_clock(target.pid)
        target.send("go")
        target.stdout.wait_lines("done")
        used = cpu_clock(target.pid) - began
        self.assert_near(used_ns(self.document(tracer.interrupt())), used)

    def test_ends_at_once(self):
        for options in (), harness.UNLIMITED, ("--max-overhead", "5"):
            document, done = self.profile_command("calc-pie", options=options)
            self.assertGreater(document["accounting"]["cpu_ns"], 0, str(done))

    def test_ended_children_count_once(self):
        """However long they have been gone."""
        out = self.path("out")
        script = f"{program('forks')} 2 {CHILD_CALLS} >/dev/null; read end; times"
        tracer = self.proftrace("--follow", "-F", "work", "--max-overhead", "none", "-f", "json",
                                "-i", "0.1", "-o", out, "--", "/bin/sh", "-c", script)
        tracer.wait_tracing()

        def documents():
            with open(out, encoding="utf-8") as file:
                return [json.loads(line) for line in file if line.endswith("\n")]

        def calls():
            return sum(f["calls"] for d in documents() for f in d["functions"])

        self.assertTrue(harness.poll(lambda: calls() == 4 * CHILD_CALLS, harness.TIMEOUT))
        ended = len(documents())
        self.assertTrue(harness.poll(lambda: len(documents()) >= ended + INTERVALS,
                                     harness.TIMEOUT))
        tracer.send("end")
        done = tracer.finish()
        self.assertEqual(done.status, 0, str(done))
        self.assert_near(sum(map(used_ns, documents())),
                         sum(map(times_ns, done.stdout.splitlines()[-2:])), done)


@harness.alone("compares what probes cost in two runs")
class Cost(harness.TestCase):
    def test_outermost_calls(self):
        """The cost of probes on calls without a traced caller counts as well: as much as with
        one."""
        cost = {}
        for names in (("c",), ("b", "c")):
            options = ["--exits=return", *(word for name in names for word in ("-F", name))]
            document, done = self.profile_command("threads", 1, 20000, options=options)
            self.assert_counts(document, {n: done.counts[n] for n in names}, done)
            cost[names] = document["accounting"]["probe_ns"]
        # Calls of b cost what those of c do, and the same part of it is outside of both.
        self.assertGreater(cost["c",], 0.4 * cost["b", "c"])


if __name__ == "__main__":
    harness.main()
