# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads that were asleep before the run began, some of which never wake up: where they wait."""

import json

import harness

BUDGET = ("--max-overhead", "5")  # as without options, which the harness gives others
ALL = 0.9  # of the run; the rest is what tracing takes to begin


class Asleep(harness.TestCase):
    def hung(self, *args):
        """The program, once all of its threads wait."""
        target = self.process(harness.program("hung"), *args)
        target.stdout.wait_lines("hangs")
        self.assertTrue(harness.poll(lambda: self.all_wait(target.pid)), "a thread does not wait")
        return target

    def all_wait(self, pid):
        return all(harness.stat_fields(f"{pid}/task/{task}")[0] == "S"
                   for task in harness.os.listdir(f"/proc/{pid}/task"))

    def traced(self, target, *options):
        return self.proftrace(*BUDGET, *options, "-p", target.pid)

    def waits(self, document, pid):
        """{name of a thread: {its path: time off the CPU}}, of what waited there itself. Functions
        that were inlined are left out: what was inlined is known some time after the start."""
        functions, found = document["functions"], {}
        for thread in document["threads"]:
            self.assertEqual(thread["pid"], pid)
            of_thread, above = found.setdefault(thread["comm"], {}), []
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(functions[node["function"]]["name"])
                if node["off_self_ns"]:
                    path = ";".join(name for name in above if not name.endswith(" (inlined)"))
                    of_thread[path] = of_thread.get(path, 0) + node["off_self_ns"]
        return found

    def check_all_of_run(self, waits, duration_ns, threads):
        """Each of the threads waited in one place, for all of the run."""
        for name, place in threads.items():
            self.assertEqual(len(waits.get(name, {})), 1, waits)
            (path, ns), = waits[name].items()
            self.assertRegex(path, place)
            self.assertLessEqual(ns, duration_ns, path)
            self.assertGreaterEqual(ns, ALL * duration_ns, path)

    LOCKS = {
        "takes": r";takes;want_right;.*;\[futex\];\[lock\];\[lock right_lock\];"
                 r"\[held by gives: .*gives › want_left › .*pthread_mutex_lock.*\]$",
        "gives": r";gives;want_left;.*;\[futex\];\[lock\];\[lock left_lock\];"
                 r"\[held by takes: .*takes › want_right › .*pthread_mutex_lock.*\]$",
        "sleeps": r";sleeps;doze;.*;\[clock_nanosleep\];\[timer\]$",
    }
    PLACES = LOCKS | {
        "hung": r"^_start;.*main;.*read;\[read\];\[pipe\];",
        "reads": r";reads;await_request;.*read;\[read\];\[pipe\];",
    }

    def test_hung(self):
        """Nothing runs: each thread is shown where it waits, for as long as the run was."""
        target = self.hung()
        document = self.document(self.traced(target, "-d", "1", "-f", "json").finish())
        self.check_all_of_run(self.waits(document, target.pid), document["duration_ns"],
                              self.PLACES)
        self.assertEqual(document["accounting"]["entered"], 0)
        self.assertEqual(document["accounting"]["waits"], len(self.PLACES))
        sources = {node["source"] for node, _, _ in harness.nodes_of(document)}
        self.assertEqual(sources, {"sample"})

    def test_folded(self):
        target = self.hung()
        done = self.traced(target, "-d", "0.5", "-f", "folded").finish()
        self.assertEqual(done.status, 0, str(done))
        rows = [line.rsplit(" ", 1)[0].split(";", 1) for line in done.stdout.splitlines()]
        self.assertEqual(len(rows), len(self.PLACES), done.stdout)
        for name, path in rows:
            self.assertRegex(path, self.PLACES[name])

    def test_locks(self):
        """Who waits for which lock, and who has it."""
        target = self.hung()
        done = self.traced(target, "-d", "0.5", "-f", "locks").finish()
        self.assertEqual(done.status, 0, str(done))
        for lock, waits, holds in (("left_lock", "gives", "takes"),
                                   ("right_lock", "takes", "gives")):
            self.assertRegex(done.stdout, rf"  lock {lock} of process {target.pid}\n"
                                          rf".*  waited in    {waits}: .*\n"
                                          rf".*  held by      {holds}: .*pthread_mutex_lock")

    def test_tree(self):
        """Who has worked stands first; who has a lock stands below it, in a row of its own."""
        target = self.hung()
        tracer = self.traced(target, "-f", "tree").wait_tracing()
        target.send("")
        target.stdout.wait_lines("handled")
        done = tracer.interrupt()
        self.assertEqual(done.status, 0, str(done))
        self.assertRegex(done.stdout, r"^reads +pid ")
        self.assertRegex(done.stdout, r"└─\[futex\] › \[lock\] › \[lock left_lock\]\n"
                                      r".*└─\[held by takes: ")

    def test_wakes_up(self):
        """A thread that wakes up amid the run: its wait has ended then, and others are others."""
        target = self.hung()
        tracer = self.traced(target, "-f", "json").wait_tracing()
        for handled in range(1, 4):
            target.send("")
            target.stdout.wait_lines("handled", handled)
        self.assertTrue(harness.poll(lambda: self.all_wait(target.pid)))
        document = self.document(tracer.interrupt())
        duration, waits = document["duration_ns"], self.waits(document, target.pid)
        self.check_all_of_run(waits, duration, self.LOCKS)
        self.assertEqual(self.count(document, "handle_request"), 3)
        for name in "reads", "hung":
            self.assertLessEqual(sum(waits[name].values()), duration, name)
            self.assertGreaterEqual(sum(waits[name].values()), ALL * duration / 2, name)
        woken = [path for path in waits["reads"] if "[by hung:" in path]
        self.assertTrue(woken, waits)

    def test_intervals(self):
        """The parts of a wait that is longer than an interval add up."""
        target = self.hung()
        tracer = self.traced(target, "-i", "0.2", "-f", "json").wait_tracing()
        tracer.stdout.wait_lines("{", 4)
        documents = [self.check(json.loads(line))
                     for line in tracer.interrupt().stdout.splitlines()]
        sums = {name: {} for name in self.PLACES}
        for document in documents:
            for name, paths in self.waits(document, target.pid).items():
                for path, ns in paths.items():
                    sums[name][path] = sums[name].get(path, 0) + ns
                    self.assertLessEqual(ns, 1.01 * document["duration_ns"])
        self.check_all_of_run(sums, sum(d["duration_ns"] for d in documents), self.PLACES)

    def test_recording(self):
        """A recording has the waits, and so have reports of it."""
        target, path = self.hung(), self.path("recording")
        done = self.process(harness.PROFTRACE, "record", "-d", "0.5", "-o", path, "-p",
                            target.pid).finish()
        self.assertEqual(done.status, 0, str(done))
        report = self.process(harness.PROFTRACE, "report", "-f", "json", path,
                              stdin=harness.subprocess.DEVNULL).finish()
        document = self.document(report)
        self.check_all_of_run(self.waits(document, target.pid), document["duration_ns"],
                              self.PLACES)

    def test_switched_on_again(self):
        """What the threads waited while the run was switched off is not in it."""
        target = self.hung()
        tracer = self.traced(target, "-f", "json").wait_tracing()
        tracer.signal(harness.signal.SIGUSR1)
        tracer.stderr.wait_lines("proftrace: switched off")
        tracer.signal(harness.signal.SIGUSR1)
        tracer.stderr.wait_lines("proftrace: switched on")
        document = self.document(tracer.interrupt())
        for name, paths in self.waits(document, target.pid).items():
            self.assertLessEqual(sum(paths.values()),
                                 document["duration_ns"] - document["paused_ns"], name)
            self.assertRegex(next(iter(paths)), self.PLACES[name])

    SLEPT = "all 5 threads of the target slept all the time: run without -F to see where"

    def test_filtered(self):
        """With -F nothing is seen of a process that hangs; what would show more is named."""
        target = self.hung()
        done = self.proftrace("-F", "handle_request", "-f", "tree", "-d", "0.1", "-p",
                              target.pid).finish()
        self.assertIn(self.SLEPT, done.stderr)
        self.assertIn("no calls were seen", done.stdout)
        for option in ("-d1", "--sample-rate=97"), ("-i0.05", "-d0.1"), ("--paused", "-d0.1"):
            done = self.proftrace("-F", "handle_request", *option, "-p", target.pid).finish()
            self.assertNotIn("slept all the time", done.stderr)
        # A target that runs amid the tracing has not slept all the time, although no call is seen:
        # its await_request() returns, but was called before.
        tracer = self.proftrace("-F", "doze", "-p", target.pid).wait_tracing()
        target.send("")
        target.stdout.wait_lines("handled")
        self.assertNotIn("slept all the time", tracer.interrupt().stderr)

    def test_many_threads(self):
        """Some 1,500 threads that wait are in the tree as one, with the first, which has their name."""
        target = self.hung("1500")
        done = self.traced(target, "-d", "1", "-f", "tree").finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertRegex(done.stdout, r"(?m)^hung +pid \d+ +1,501 threads$")
        self.assertRegex(done.stdout, r"sleeps_too › doze › .*\n.*\[clock_nanosleep\] › \[timer\]")
        self.assertNotIn("waits", done.stderr)


if __name__ == "__main__":
    harness.main()
