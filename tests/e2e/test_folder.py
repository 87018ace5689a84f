# SPDX-License-Identifier: GPL-2.0-or-later
"""record -i: a folder with a recording of each interval, of which each is whole, whatever ends the
run or fills the disk."""

import contextlib
import json
import os
import re
import signal
import subprocess

import harness
from harness import PROFTRACE, UNLIMITED

NAME = re.compile(r"([0-9]{10})-[0-9]{8}T[0-9]{6}Z\.data")


class Folder(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = self.path("recordings")
        self.steps = self.target("steps")
        self.steps.go()

    def record(self, interval, *options):
        tracer = self.process(PROFTRACE, "record", *UNLIMITED, *options, "-i", interval,
                              "-o", self.folder, "-p", str(self.steps.pid),
                              stdin=subprocess.DEVNULL)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer.stderr.text())
        return tracer

    def names(self):
        """Returns the names of the recordings, in order; nothing else can be seen in the folder."""
        found = sorted(name for name in os.listdir(self.folder) if not name.startswith("."))
        for name in found:
            self.assertTrue(NAME.fullmatch(name), name)
        return found

    def wait_calls(self, count):
        """Until recordings hold so many calls of `outer`. Returns how many they hold."""
        harness.poll(lambda: self.outer() >= count, interval=0.1)
        return self.outer()

    def outer(self):
        calls = 0
        for name in self.names():
            done = self.process(PROFTRACE, "report", "-f", "json",
                                os.path.join(self.folder, name), stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 0, str(done))
            self.assertNotIn("cut", done.stderr)
            document = self.check(json.loads(done.stdout))
            calls += sum(f["calls"] for f in document["functions"] if f["name"] == "outer")
        return calls

    def numbers(self):
        return [int(NAME.fullmatch(name)[1]) for name in self.names()]

    def test_intervals(self):
        tracer = self.record("0.3")
        calls = 0
        for step in (3, 5, 7):
            self.steps.step(str(step))
            calls += step
            self.assertEqual(self.wait_calls(calls), calls)
        self.steps.step("11")
        tracer.signal(signal.SIGINT)
        self.assertEqual(tracer.finish().status, 0)
        self.assertEqual(self.outer(), 26)
        # Numbers go on, and what is left of killed runs goes.
        part = os.path.join(self.folder, ".part-999999999")
        with open(part, "wb"):
            pass
        before = len(self.names())
        tracer = self.record("60")
        self.steps.step("4")
        tracer.signal(signal.SIGINT)
        tracer.finish()
        self.assertEqual(self.outer(), 30)
        self.assertEqual(self.numbers(), list(range(1, before + 2)))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])

    def test_killed(self):
        tracer = self.record("0.3")
        self.steps.step("3")
        self.wait_calls(3)
        self.steps.step("5")
        tracer.signal(signal.SIGKILL)
        tracer.finish()
        self.assertIn(self.outer(), (3, 8))
        self.assertEqual(self.numbers(), list(range(1, len(self.names()) + 1)))

    @contextlib.contextmanager
    def full_disk(self):
        """The folder is on one; the name of the file that fills it."""
        os.mkdir(self.folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.folder], check=True)
        try:
            name = os.path.join(self.folder, ".filler")
            filler = os.open(name, os.O_CREAT | os.O_WRONLY)
            with contextlib.suppress(OSError):
                while os.write(filler, bytes(4096)):
                    pass
            os.close(filler)
            yield name
        finally:
            subprocess.run(["umount", "-l", self.folder], check=True)

    def test_full_disk(self):
        """An interval that cannot be written is added to the next one."""
        with self.full_disk() as filler:
            tracer = self.record("0.3")
            self.steps.step("3")
            self.assertTrue(tracer.stderr.wait_lines("proftrace: cannot write"))
            self.assertEqual(self.names(), [])
            os.unlink(filler)
            self.assertEqual(self.wait_calls(3), 3)
            tracer.signal(signal.SIGINT)
            self.assertEqual(tracer.finish().status, 0)

    def test_full_disk_at_the_end(self):
        """An interval that cannot be written at the end is lost, which is an error."""
        with self.full_disk():
            tracer = self.record("30")
            self.steps.step("3")
            tracer.signal(signal.SIGINT)
            done = tracer.finish()
            self.assertEqual(done.status, 1, str(done))
            self.assertIn("cannot write", done.stderr)
            self.assertIn("what was found since the last recording is lost", done.stderr)
            self.assertEqual(self.names(), [])

    def test_options(self):
        for options, said in ((("-i", "1"), "-o names the folder"),
                              (("-i", "1", "--append", "-o", self.folder), "nothing is appended")):
            done = self.process(PROFTRACE, "record", *options, "-p", str(self.steps.pid),
                                stdin=subprocess.DEVNULL).finish()
            self.assert_one_line(done, 2, said)


if __name__ == "__main__":
    harness.main()
