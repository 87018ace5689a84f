# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the target's CPU time went, by samples: traced functions, files, the kernel."""

import json

import harness
from harness import PROFTRACE, PYTHON

# A second of CPU time in one place: about a hundred samples, most of which are to be there.
SECOND = """
import os, time, zlib
data, zeros, begin = os.urandom(1 << 16), os.open("/dev/zero", os.O_RDONLY), time.process_time()
room = bytearray(1 << 22)
while time.process_time() - begin < 1:
    {}
"""
LIBRARY = SECOND.format("zlib.crc32(data)")  # gets no memory, so no time is the kernel's
KERNEL = SECOND.format("os.readv(zeros, [room])")
PROGRAM = SECOND.format("for i in range(100000): room[0] = i & 7")
# A function that is called once, and calls all else.
ONCE = ("-F", "Py_BytesMain")


class Samples(harness.TestCase):
    def shares(self, script, *options):
        """By file: its row."""
        document, _ = self.profile_command(PYTHON, "-c", script, options=options or ONCE)
        return {row["module"]: row for row in document["cpu_samples"]}

    @staticmethod
    def most(shares):
        return max(shares.values(), key=lambda row: row["samples"])

    def test_in_a_library(self):
        most = self.most(self.shares(LIBRARY))
        self.assertIn("/libz.so", most["module"])
        self.assertEqual((most["traced"], most["probed"]), (0, False))

    def test_in_the_kernel(self):
        self.assertEqual(self.most(self.shares(KERNEL))["module"], "[kernel]")

    def test_in_traced_functions(self):
        for options in (ONCE, ("-F", "_PyEval_EvalFrameDefault")):
            most = self.most(self.shares(PROGRAM, *options))
            self.assertIn("/python3", most["module"])
            self.assertTrue(most["probed"])
            self.assertEqual(most["traced"] > most["samples"] / 5, options != ONCE, most)

    def test_intervals_add_up(self):
        """CPU times of the paths of each interval, and of its functions, are its CPU time, where
        samples have told of it."""
        target, told = self.target("cooling"), 0
        target.go()
        done = self.run_proftrace("--max-overhead=5", "-f", "json", "-i", "0.2", "-d", "1.5", "-p",
                                  target.pid)
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        for document in documents:
            paths = [node for node, _, _ in harness.nodes_of(document)]
            if sum(node.get("samples", 0) for node in paths) < 3:
                continue
            told += 1
            cpu_ns = document["accounting"]["cpu_ns"]
            for nodes in document["functions"], paths:
                self.assertAlmostEqual(sum(node["cpu_self_ns"] for node in nodes), cpu_ns,
                                       delta=cpu_ns / 1000)
        self.assertGreater(told, 1, str(done))

    def test_in_recordings_and_text(self):
        recording = self.path("proftrace.data")
        done = self.process(PROFTRACE, "record", "-o", recording, *ONCE, "--", PYTHON, "-c",
                            LIBRARY).finish()
        self.assertEqual(done.status, 0, done)
        shown = self.process(PROFTRACE, "report", "-f", "flat", recording).finish()
        self.assertRegex(shown.stdout, r"CPU time by [0-9,]+ samples: 0\.0% in traced functions")
        self.assertRegex(shown.stdout, r"-F 'libz\.so\.[0-9.]+:\*' traces the calls there")

    def test_none_are_taken(self):
        document, _ = self.profile_command(PYTHON, "-c", "pass", options=(*ONCE, "--no-samples"))
        self.assertNotIn("cpu_samples", document)
