# SPDX-License-Identifier: GPL-2.0-or-later
"""The end of a run on a busy server: its links are closed one after the other."""

import contextlib
import os
import signal
import subprocess
import types

import harness
from harness import PROFTRACE

TRACING = "/sys/kernel/tracing"
CLOSER = "proftrace-links"
MOST = 100  # some 10,000 where closings are side by side


@contextlib.contextmanager
def trace_files():
    """The folder of the kernel's trace files, mounted if it is not."""
    there = os.path.exists(f"{TRACING}/instances")
    if not there:
        subprocess.run(["mount", "-t", "tracefs", "none", TRACING], check=True)
    try:
        yield TRACING
    finally:
        if not there:
            subprocess.run(["umount", TRACING], check=True)


@contextlib.contextmanager
def contended_locks(tracing):
    """Tells who had to wait for a lock of the kind (LCB_F_PERCPU) of which is dup_mmap_sem, which
    every probe that comes or goes takes: a line for each wait."""
    instance = os.path.join(tracing, "instances", f"proftrace-test-{os.getpid()}")

    def write(name, words):
        with open(os.path.join(instance, name), "w", encoding="ascii") as file:
            file.write(words)

    def waits():
        write("tracing_on", "0")
        with open(os.path.join(instance, "trace"), encoding="utf-8", errors="replace") as file:
            return [line for line in file if not line.startswith("#")]

    os.mkdir(instance)
    try:
        write("events/lock/contention_begin/filter", "flags & 16")
        write("events/lock/contention_begin/enable", "1")
        yield waits
        write("events/lock/contention_begin/enable", "0")
    finally:
        os.rmdir(instance)


@harness.alone("counts who waits for a lock of the whole machine")
class Closing(harness.TestCase):
    def test_one_after_the_other(self):
        """Links are closed one after the other, even where the target takes the CPU from a closing:
        two at a time would wait for each other at each of thousands of probes."""
        path = self.path("socket")
        server = self.process("redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                              "--dir", self.directory)
        self.assertTrue(harness.poll(lambda: harness.listens(path)))
        self.process("redis-benchmark", "-s", path, "-t", "set", "-c", "8", "-n", "1000000000",
                     "-q")
        with trace_files() as tracing, contended_locks(tracing) as waits:
            done = self.process(PROFTRACE, "-d", "1", "-p", server.pid).finish()
            found = [line for line in waits() if CLOSER in line]
        self.assertEqual(done.status, 0, done)
        self.assertLess(len(found), MOST, found[:10])


@harness.alone("takes a processor for itself")
class RealTime(harness.TestCase):
    """A real-time program keeps threads of ours from the first processor for good: what should end
    ends all the same, and takes the probes out."""

    def begin(self):
        target = self.target("busy", 3)
        tracer = self.process(PROFTRACE, "-f", "json", "-p", target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        self.links = harness.keeper_of(tracer)
        self.spare = harness.keeper_of(types.SimpleNamespace(pid=self.links), "proftrace-spare")
        self.process("taskset", "-c", "0", "chrt", "-f", "50", "/bin/sh", "-c",
                     "echo ready; while :; do :; done").wait_ready()
        return target, tracer

    def ends_clean(self, target):
        gone = harness.poll(lambda: not any((harness.stat_fields(pid) or "X")[0] not in "ZX"
                                            for pid in (self.links, self.spare)))
        self.assertTrue(gone, "a process that holds probes is still there")
        self.assertEqual(harness.dirty_text(target.pid), [])
        self.assertEqual(target.finish().status, 0)

    def test_interrupted(self):
        target, tracer = self.begin()
        tracer.signal(signal.SIGINT)
        self.document(tracer.finish())
        self.ends_clean(target)

    def test_killed(self):
        target, tracer = self.begin()
        os.kill(self.links, signal.SIGKILL)
        done = tracer.finish()
        self.assertEqual(done.status, 1, done)
        self.assertIn("the process that holds the probes has been killed", done.stderr)
        self.ends_clean(target)


if __name__ == "__main__":
    harness.main()
