# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracing switched off and on while the target runs, and results in between. Each switch is
acknowledged by a line on stderr, so what lies between two of them is counted exactly."""

import fcntl
import json
import os
import signal
import subprocess
import termios

import harness
from harness import keeper_of, program

OFF, ON = "proftrace: switched off", "proftrace: switched on"
OUT = "proftrace: the probes are taken out"
SHOT = "proftrace: snapshot"


class Switched(harness.TestCase):
    def steps(self, *options, name="steps", **popen):
        target = self.target(name)
        tracer = self.proftrace("-f", "json", *options, "-p", target.pid, **popen).wait_tracing()
        target.go()
        return target, tracer

    def says(self, tracer, prefix):
        """Sends nothing: waits for one more line of that kind."""
        tracer.seen = getattr(tracer, "seen", {})
        tracer.seen[prefix] = tracer.seen.get(prefix, 0) + 1
        lines = tracer.stderr.wait_lines(prefix, tracer.seen[prefix])
        self.assertEqual(len(lines), tracer.seen[prefix], tracer.stderr.text())
        return lines[-1]

    def record(self, path, *options):
        """steps, recorded."""
        target = self.target("steps")
        tracer = self.process(harness.PROFTRACE, "record", *options, "-o", path, "-p", target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        return target, tracer

    def interrupt(self, tracer):
        tracer.signal(signal.SIGINT)
        self.assertEqual(tracer.finish().status, 0, str(tracer.result))

    def switch(self, tracer, prefix):
        tracer.signal(signal.SIGUSR1)
        return self.says(tracer, prefix)

    def shot(self, tracer):
        tracer.signal(signal.SIGUSR2)
        return self.says(tracer, SHOT)

    def returned(self, tracer):
        """Calls so far, by a snapshot; all documents are in self.shots."""
        self.shot(tracer)
        lines = tracer.stdout.wait_lines("{", tracer.seen[SHOT])
        self.shots = [json.loads(line) for line in lines]
        return self.shots[-1]["accounting"]["returned"]

    def documents(self, result):
        self.assertEqual(result.status, 0, str(result))
        return [self.check(json.loads(line), result) for line in result.stdout.splitlines()]

    def outer_inner(self, document):
        calls = self.calls(document)
        return calls.get("outer", 0), calls.get("inner", 0)

    def own_text(self, target, name="steps"):
        return [line for line in harness.dirty_text(target.pid) if line.endswith("/" + name)]


class Gate(Switched):
    def test_counts_between_switches(self):
        target, tracer = self.steps()
        target.step("3")
        for calls in (5, 7, 11):
            self.switch(tracer, OFF)
            target.step("1000")
            self.switch(tracer, ON)
            target.step(str(calls))
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (26, 26))
        self.assertEqual(document["accounting"]["returned"], 52)
        self.assertLess(0, document["paused_ns"])
        self.assertLess(document["paused_ns"], document["duration_ns"])

    def test_in_each_tier_and_exit(self):
        for options in (("--tier", "uprobe_multi"), ("--exits", "sites"), ("--exits", "none")):
            target, tracer = self.steps(*options)
            target.step("3")
            self.switch(tracer, OFF)
            target.step("9")
            self.says(tracer, OUT)
            target.step("10")
            self.switch(tracer, ON)
            target.step("4")
            document = self.document(tracer.interrupt())
            self.assertEqual(self.outer_inner(document), (7, 7), options)
            target.finish()

    def test_calls_open_at_the_switch(self):
        """Calls that are open at the switch end with it, whenever they return, and are not charged
        for the pause."""
        for release_on in (False, True):
            target, tracer = self.steps()
            target.step("hold")
            self.switch(tracer, OFF)
            self.says(tracer, OUT)  # a second at least
            if not release_on:
                target.step("0")
            self.switch(tracer, ON)
            if release_on:
                target.step("0")
            target.step("2")
            document = self.document(tracer.interrupt())
            self.assertEqual(self.outer_inner(document), (3, 3))
            accounting = document["accounting"]
            self.assertEqual((accounting["returned"], accounting["unwound"], accounting["open"]),
                             (4, 2, 0))
            outer = self.function(document, "outer")
            self.assertLess(outer["total_ns"], document["duration_ns"] - document["paused_ns"])
            self.assertLess(outer["raw_total_ns"], 1_000_000_000)
            target.finish()

    def test_a_wait_ends_with_the_switch(self):
        """The time off the CPU, too, is that until the switch."""
        target, tracer = self.steps()
        target.step("hold")
        self.assertTrue(harness.poll(lambda: harness.stat_fields(target.pid)[0] == "S"))
        self.switch(tracer, OFF)
        self.says(tracer, OUT)
        self.switch(tracer, ON)
        target.step("0")
        document = self.document(tracer.interrupt())
        inner = self.function(document, "inner")
        self.assertLess(0, inner["off_ns"])
        self.assertLess(inner["off_ns"], 1_000_000_000)

    def test_open_again_after_the_switch(self):
        """A call that is open when tracing ends counts as open, as ever."""
        target, tracer = self.steps()
        self.switch(tracer, OFF)
        target.step("2")
        self.switch(tracer, ON)
        target.step("hold")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (1, 1))
        self.assertEqual(document["accounting"]["open"], 2)

    def test_threads_that_never_rest(self):
        """Whatever runs at the switches: once it is off nothing is open, and nothing happens."""
        target, tracer = self.steps(name="busy")
        target.stdout.wait_lines("working")
        for i in range(10):
            seen = self.returned(tracer)
            self.assertTrue(harness.poll(lambda: self.returned(tracer) > seen + 100))
            self.switch(tracer, OFF)
            if i == 5: # on a busy machine they may have gone in other pauses, too
                self.assertTrue(harness.poll(
                    lambda: OUT in tracer.stderr.text().rpartition(OFF)[2]))
            seen = self.returned(tracer)
            self.assertEqual(self.shots[-1]["accounting"]["open"], 0)
            self.assertEqual(self.returned(tracer), seen)
            self.switch(tracer, ON)
        self.documents(tracer.interrupt())
        self.assertFalse(target.ended())
        target.send("stop")
        self.assertEqual(target.finish().status, 0)

    def test_paused_command(self):
        out = self.path("out")
        tracer = self.proftrace("-f", "json", "--paused", "-o", out, "--", program("steps"))
        tracer.wait_tracing()
        self.says(tracer, OFF)
        tracer.send("5")
        tracer.stdout.wait_lines("done")
        self.switch(tracer, ON)
        tracer.send("7")
        tracer.stdout.wait_lines("done", 2)
        done = tracer.finish()
        self.assertEqual(done.counts, {"outer": 12, "inner": 12})
        with open(out, encoding="utf-8") as file:
            document = self.check(json.load(file))
        self.assertEqual(self.outer_inner(document), (7, 7))

    def test_paused_to_the_end(self):
        target, tracer = self.steps("--paused")
        target.step("5")
        target.finish()
        document = self.document(tracer.finish())
        self.assertEqual(self.outer_inner(document), (0, 0))
        self.assertEqual(document["paused_ns"], document["duration_ns"])

    def test_skip(self):
        target, tracer = self.steps("--skip", "300ms")
        self.says(tracer, ON)
        target.step("5")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (5, 5))
        self.assertGreaterEqual(document["paused_ns"], 300_000_000)

    def test_skip_and_a_signal_before(self):
        """After somebody has switched by hand, --skip switches no more."""
        target, tracer = self.steps("--skip", "4s", "-d", "5")
        self.says(tracer, OFF)
        self.switch(tracer, ON)
        target.step("5")
        self.switch(tracer, OFF)
        target.step("7")
        done = tracer.finish()
        self.assertEqual(self.outer_inner(self.document(done)), (5, 5))
        self.assertEqual(done.stderr.count(ON), 1)

    def test_threads_that_end_while_it_is_off(self):
        target, tracer = self.steps()
        target.step("threads 3")
        self.switch(tracer, OFF)
        target.step("threads 5")
        self.switch(tracer, ON)
        target.step("threads 2")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (5, 5))


class Detached(Switched):
    def links(self, keeper):
        return {key for key in harness.Bpf.held_by(keeper) if key[0] == "link"}

    def test_probes_are_out_and_in_again(self):
        target, tracer = self.steps()
        target.step("3")
        keeper = keeper_of(tracer)
        linked = self.links(keeper)
        self.assertTrue(self.own_text(target))
        self.switch(tracer, OFF)
        self.says(tracer, OUT)
        self.assertTrue(harness.poll(lambda: len(self.links(keeper)) < len(linked)), linked)
        self.assertTrue(harness.poll(lambda: not self.own_text(target)))
        target.step("5")
        self.switch(tracer, ON)
        self.assertTrue(self.own_text(target))
        # A link that had to wait for a grace period is being closed: fork_lock.h.
        self.assertTrue(harness.poll(lambda: len(self.links(keeper)) == len(linked)), linked)
        target.step("7")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (10, 10))
        self.assertEqual(self.own_text(target), [])

    def test_again_and_again(self):
        """Links that are being closed and new ones may be there at the same time: each call counts
        once."""
        target, tracer = self.steps()
        for _ in range(4):
            self.switch(tracer, OFF)
            self.says(tracer, OUT)
            self.switch(tracer, ON)
            target.step("2000")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (8000, 8000))

    @harness.long
    def test_as_often_as_numbers_of_probes_come_again(self):
        """A thread that has called nothing meanwhile may have met probes with any number last."""
        target, tracer = self.steps("-F", "outer")
        target.step("3")
        for _ in range(66):
            self.switch(tracer, OFF)
            self.says(tracer, OUT)
            self.switch(tracer, ON)
        target.step("3")
        counts = target.finish().counts
        self.assertEqual(counts.pop("inner"), 6)
        self.assert_counts(self.document(tracer.finish()), counts)

    def test_with_a_budget(self):
        """A function that the budget has dropped stays dropped, and the others are counted anew."""
        target = self.target("busy", "2")
        tracer = self.process(harness.PROFTRACE, "-f", "json", "--max-overhead", "1", "-p",
                              target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        target.stdout.wait_lines("working")
        self.assertTrue(harness.poll(lambda: self.dropped(tracer)))
        before = self.dropped(tracer)
        self.switch(tracer, OFF)
        self.says(tracer, OUT)
        self.assertTrue(harness.poll(lambda: not self.own_text(target, "busy")))
        self.switch(tracer, ON)
        self.assertLessEqual(before, self.dropped(tracer))
        tracer.signal(signal.SIGINT)
        self.documents(tracer.finish())

    def dropped(self, tracer):
        """The functions that the budget has given up so far."""
        self.returned(tracer)
        return {d["name"] for d in self.shots[-1]["dropped"]}

    def test_every_process_of_a_file(self):
        """With -x all privileges are gone once it runs; a process may begin while tracing is off."""
        path = program("steps")
        tracer = self.proftrace("-f", "json", "-x", path).wait_tracing()
        self.switch(tracer, OFF)
        self.says(tracer, OUT)
        target = self.target("steps")
        target.go()
        target.step("5")
        self.switch(tracer, ON)
        target.step("7")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.outer_inner(document), (7, 7))

    def test_files_loaded_while_it_is_off(self):
        """Files that are loaded while tracing is off are planned at once, and traced when it is
        switched on."""
        target, tracer = self.steps("-F", "draw", "-F", "libshapes.so:shape_*", name="late")
        self.switch(tracer, OFF)
        self.says(tracer, OUT)
        target.step("load")
        target.step("5")
        self.assertEqual(self.own_text(target, "libshapes.so"), [])
        self.switch(tracer, ON)
        target.step("7")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.count(document, "draw"), 7)
        self.assertEqual(self.count(document, "shape_area"), 7)


class Snapshots(Switched):
    def test_documents_follow_each_other(self):
        target, tracer = self.steps()
        target.step("3")
        self.shot(tracer)
        target.step("4")
        self.shot(tracer)
        documents = self.documents(tracer.interrupt())
        self.assertEqual([self.outer_inner(d)[0] for d in documents], [3, 7, 7])

    def test_with_intervals_one_ends_early(self):
        target, tracer = self.steps("-i", "1000")
        target.step("3")
        self.shot(tracer)
        target.step("4")
        documents = self.documents(tracer.interrupt())
        self.assertEqual([self.outer_inner(d)[0] for d in documents], [3, 4])

    def test_files_of_their_own(self):
        out = self.path("out.csv")
        target = self.target("steps")
        tracer = self.proftrace("-o", out, "-p", target.pid).wait_tracing()
        target.go()
        for number in (1, 2):
            target.step("3")
            self.assertTrue(self.shot(tracer).endswith(f"{out}.{number}"))
        self.assertEqual(tracer.interrupt().status, 0)
        texts = []
        for path in (out, f"{out}.1", f"{out}.2"):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read().splitlines())
        self.assertEqual(len({lines[0] for lines in texts}), 1)
        self.assertEqual(len(texts[0]), len(texts[2]))

    def test_links_in_the_place_of_their_files(self):
        """Links in place of the run's files are not followed: another user who may write to the
        folder could have root write to any file."""
        out, others = self.path("out.csv"), self.path("others")
        with open(others, "w", encoding="utf-8") as file:
            file.write("kept")
        os.symlink(others, f"{out}.1")
        target = self.target("steps")
        tracer = self.proftrace("-o", out, "-p", target.pid).wait_tracing()
        target.go()
        tracer.signal(signal.SIGUSR2)
        tracer.seen = {}
        self.says(tracer, f"proftrace: cannot write {out}.1: it is a link")
        target.step("3")
        self.assertEqual(tracer.interrupt().status, 0)
        with open(others, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    def test_a_format_that_has_no_room_for_another(self):
        """A line says so, and the run goes on."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "folded", "-w", "calls", "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        tracer.signal(signal.SIGUSR2)
        self.says(tracer, "proftrace: a snapshot in the format folded")
        target.step("4")
        done = tracer.interrupt()
        self.assertEqual(done.status, 0)
        self.assertIn("outer 7\n", done.stdout)

    def report(self, path, *options):
        done = subprocess.run([harness.PROFTRACE, "report", *options, path], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_recordings(self):
        path = self.path("run")
        target, tracer = self.record(path, "--calls", *harness.UNLIMITED)
        target.step("3")
        self.shot(tracer)
        document = self.report(path, "-f", "json")
        self.assertEqual(self.outer_inner(document), (3, 3))
        self.assertEqual(document["accounting"]["timeline_calls"], 6)
        target.step("4")
        self.interrupt(tracer)
        self.assertEqual(self.outer_inner(self.report(path, "-f", "json")), (7, 7))

    def events(self, path):
        with open(path, encoding="utf-8") as file:
            return [e for e in json.load(file)["traceEvents"] if e["ph"] in "BX"]

    def test_single_calls_live(self):
        out = self.path("out.json")
        target = self.target("steps")
        tracer = self.proftrace("-f", "chrome", "-o", out, "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        self.shot(tracer)
        target.step("4")
        done = tracer.interrupt()
        self.assertEqual(done.status, 0)
        self.assertEqual(len(self.events(f"{out}.1")), 6)
        self.assertEqual(len(self.events(out)), 14)
        self.assertNotIn("incomplete", done.stderr)


class Timelines(Switched):
    def single_calls(self, path):
        """(name, enter, leave) of all single calls, in ns."""
        database = self.path("calls.db")
        done = subprocess.run([harness.PROFTRACE, "report", "-f", "sqlite", "-o", database, path],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = subprocess.run(["sqlite3", database,
                               "SELECT enter_ns, leave_ns FROM calls ORDER BY enter_ns"],
                              check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        return [tuple(map(int, row.split("|"))) for row in rows.splitlines()]

    def test_nothing_in_the_pause(self):
        path = self.path("run")
        target, tracer = self.record(path, "--calls", *harness.UNLIMITED)
        target.step("3")
        target.step("hold")
        off = self.switch(tracer, OFF)
        self.says(tracer, OUT)
        target.step("5")
        on = self.switch(tracer, ON)
        target.step("2")
        self.interrupt(tracer)
        # The lines have milliseconds.
        begin, end = (round(float(line.split()[-2]) * 1e9) for line in (off, on))
        calls = self.single_calls(path)
        self.assertEqual(len(calls), 12)
        before = [c for c in calls if c[0] < begin + 1_000_000]
        self.assertEqual(len(before), 8)
        for enter, leave in before:
            self.assertLessEqual(enter, leave)
            self.assertLessEqual(leave, begin + 1_000_000)
        for enter, _ in calls[8:]:
            self.assertGreaterEqual(enter, end - 1_000_000)


class Keys(Switched):
    def setUp(self):
        super().setUp()
        self.terminal, self.inside = os.openpty()
        self.before = termios.tcgetattr(self.terminal)

    def tearDown(self):
        os.close(self.terminal)
        os.close(self.inside)
        super().tearDown()

    def on_terminal(self, *args):
        """proftrace with a controlling terminal of its own."""
        return self.proftrace(*args, stdin=self.inside,
                              preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def press(self, tracer, keys, prefix):
        os.write(self.terminal, keys)
        return self.says(tracer, prefix)

    def test_keys(self):
        target = self.target("steps")
        tracer = self.on_terminal("-f", "json", "-p", target.pid)
        self.says(tracer, "proftrace: keys: ")
        self.assertNotEqual(termios.tcgetattr(self.terminal)[3], self.before[3])
        target.go()
        target.step("3")
        self.press(tracer, b"p", OFF)
        target.step("10")
        self.press(tracer, b"x ", ON)
        target.step("4")
        self.press(tracer, b"s", SHOT)
        os.write(self.terminal, b"q")
        documents = self.documents(tracer.finish())
        self.assertEqual([self.outer_inner(d)[0] for d in documents], [7, 7])
        self.assertEqual(termios.tcgetattr(self.terminal), self.before)

    def test_an_interrupt_leaves_the_terminal_as_it_was(self):
        target = self.target("steps")
        tracer = self.on_terminal("-f", "json", "-p", target.pid)
        self.says(tracer, "proftrace: keys: ")
        os.write(self.terminal, b"\x03")
        self.document(tracer.finish())
        self.assertEqual(termios.tcgetattr(self.terminal), self.before)

    def test_a_command_has_its_keys_itself(self):
        tracer = self.on_terminal("-f", "json", "-o", self.path("out"), "--", program("steps"))
        tracer.wait_tracing()
        os.write(self.terminal, b"3\n")
        tracer.stdout.wait_lines("done")
        self.assertEqual(termios.tcgetattr(self.terminal), self.before)
        os.write(self.terminal, b"\x04")
        done = tracer.finish()
        self.assertEqual(done.counts, {"outer": 3, "inner": 3})
        self.assertNotIn("keys", done.stderr)


if __name__ == "__main__":
    harness.main()
