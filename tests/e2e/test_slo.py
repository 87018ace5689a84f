# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules that are watched all the time (--slo): a recording, and a sentence, where one is broken."""

import os
import re
import signal
import subprocess
import unittest

import harness
from harness import PROFTRACE, program

RULE = "handle: p99 < 5ms"
WINDOW = ("--slo-window", "200ms")


class Slo(harness.TestCase):
    def start(self, *options, every=1, rule=RULE):
        """(target, tracer, folder), once all is traced."""
        target = self.process(program("slowdown"), every)
        target.wait_ready()
        folder = self.path("slow")
        tracer = self.process(PROFTRACE, "record", "--slo", rule, *WINDOW, "-o", folder, *options,
                              "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines("proftrace: watching 1 of "))
        return target, tracer, folder

    def end(self, target, tracer):
        tracer.signal(signal.SIGINT)
        done = tracer.finish()
        self.assertEqual(done.status, 0, done)
        target.finish()
        return done

    def recordings(self, folder):
        """Returns the recordings in the folder; they are whole, and nothing else is left there."""
        names = sorted(os.listdir(folder))
        for name in names:
            self.assertRegex(name, r"^[0-9]{10}-[0-9TZ]{16}\.data$")
        return [os.path.join(folder, name) for name in names]

    def verdict(self, tracer):
        """The line that says why sessions were slow."""
        return tracer.stderr.wait_lines("proftrace: handle: p99 is ", 2)[1]

    def report(self, path, *options):
        return self.process(PROFTRACE, "report", *options, path, stdin=subprocess.DEVNULL).finish()

    def test_broken(self):
        """From healthy to slow: what is below the function tells why."""
        target, tracer, folder = self.start(every=3)
        target.signal(signal.SIGUSR1)
        line = self.verdict(tracer)
        self.assertIn("wait_for_disk", line)
        self.assertIn(folder, line)
        done = self.end(target, tracer)
        recordings = self.recordings(folder)
        self.assertEqual(len(recordings), len(re.findall(r"looking closer", done.stderr)), done)
        shown = self.report(recordings[0], "--session", "handle", "-f", "tree")
        self.assertEqual(shown.status, 0, shown)
        self.assertIn("wait_for_disk", shown.stdout)
        # The recording begins before the moment at which the rule was broken.
        shown = self.report(recordings[0], "--range", "0..10ms", "-f", "json")
        self.assertEqual(shown.status, 0, shown)
        self.assertNotIn("incomplete", shown.stderr)

    def test_healthy(self):
        target, tracer, folder = self.start("-d", "2")
        done = tracer.finish()
        target.finish()
        self.assertEqual(done.status, 0, done)
        self.assertEqual(self.recordings(folder), [])
        judged = re.search(r"handle: p99 < 5ms: ([0-9]+) windows? judged, 0 broken", done.stderr)
        self.assertTrue(judged and int(judged[1]) >= 1, done)

    def test_on_slow(self):
        """A command gets the recording's name; -q leaves the sentence."""
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "told $1 of $2: $PROFTRACE_WHY" >&2\n')
        os.chmod(script, 0o755)
        target, tracer, folder = self.start("--on-slow", f"{script} word", every=3)
        target.signal(signal.SIGUSR1)
        line = tracer.stderr.wait_lines("told word of")[0]
        self.assertIn(folder, line)
        self.assertIn("wait_for_disk", line)
        self.assertTrue(os.path.exists(line.split()[3].rstrip(":")), line)
        self.end(target, tracer)

    def test_always_broken(self):
        """Attention is bounded: the first rest takes ten windows, the next one twenty."""
        target, tracer, folder = self.start("-d", "5", rule="handle: p99 < 1us")
        done = tracer.finish()
        target.finish()
        self.assertEqual(done.status, 0, done)
        self.assertIn(len(self.recordings(folder)), (1, 2, 3), done)

    def test_hidden_cause(self):
        """A server in C++, as anybody writes it: the first line says what to fix."""
        target = self.process(program("janitor"))
        target.wait_ready()
        tracer = self.process(PROFTRACE, "record", "--slo", "handle_request: p99 < 10ms", "-o",
                              self.path("slow"), "-p", target.pid)
        line = tracer.stderr.wait_lines("proftrace: handle_request(int): p99 is ", 2)[1]
        self.assertRegex(line, r"longer: [0-9.]+ ms waiting for lock session_cache\.guard, held by "
                         r"`cache::expire` in thread janitor")
        self.end(target, tracer)

    def test_few_calls(self):
        """A rule that too few calls can judge is not called broken."""
        target, tracer, folder = self.start("-d", "1", rule="main: p99 < 1us")
        done = tracer.finish()
        target.finish()
        self.assertEqual(self.recordings(folder), [])
        self.assertIn("too few calls, p99 needs 100 a window", done.stderr)

    def test_no_such_function(self):
        target = self.process(program("slowdown"))
        target.wait_ready()
        result = self.process(PROFTRACE, "record", "--slo", "handel: p99 < 5ms", "-o",
                              self.path("slow"), "-p", target.pid).finish()
        self.assertEqual(result.status, 1, result)
        self.assertEqual(result.stdout, "", result)
        near, error = result.stderr.splitlines()[-2:] # others may trace the libc, which it says
        self.assertIn("no function matches 'handel'; the nearest: handle", near)
        self.assertIn("--slo 'handel: p99 < 5ms': no function", error)
        target.finish()

    def test_nonsense(self):
        for rule, word in (("handle", ":"), ("handle: p98 < 5ms", "p99"),
                           ("handle: p99 < 5", "unit"), ("handle: p99 > 5ms", "how long")):
            result = self.process(PROFTRACE, "record", "--slo", rule, "-p", os.getpid()).finish()
            self.assert_one_line(result, 2, word)
        result = self.process(PROFTRACE, "record", "--on-slow", "true", "-p", os.getpid()).finish()
        self.assert_one_line(result, 2, "--slo")
        result = self.process(PROFTRACE, "--slo", RULE, "-p", os.getpid()).finish()
        self.assert_one_line(result, 2, "--slo")


if __name__ == "__main__":
    unittest.main()
