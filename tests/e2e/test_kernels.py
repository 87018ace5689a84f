# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of `make kernels`: a machine for each of Debian's kernels."""

import os
import subprocess
import sys
import unittest

import harness

KERNELS = os.path.join(harness.ROOT, "tests", "kernels")
sys.path.insert(0, KERNELS)
import arm64
import cases
import machine

LIMIT = 7200  # seconds for a machine, which has a limit of its own, and a download before it


def run(kernel):
    """(exit status, output) of one kernel's machine."""
    argv = [sys.executable, os.path.join(KERNELS, "run"), "--short", "--only", kernel,
            "--build", os.environ.get("PROFTRACE_BUILD", "build")]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT,
                              stderr=subprocess.STDOUT, preexec_fn=machine.die_with_parent,
                              check=False)
    except subprocess.TimeoutExpired as error:
        return None, (error.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


@harness.in_background
class Kernels(unittest.TestCase):
    def check(self, kernel):
        status, text = run(kernel)
        self.assertEqual(status, 0, text)
        self.assertIn("\n1 passed, 0 failed\n", text)


class Arm64(unittest.TestCase):
    """Verdicts on a machine's output; `make kernels` starts the machine."""

    @staticmethod
    def output(counted=7, printed="COUNT f 7\n", status=0, doctor="yes  uprobe_multi  used\n"):
        profile = (f'{{"functions": [{{"name": "f", "calls": {counted}}}], '
                   '"accounting": {"lost": 0}}')
        printed += "COUNT never 0\n"  # of functions that were not called a profile says nothing
        run = ("=== x untraced 0\nCOUNT f 7\nCOUNT never 0\n\n"
               f"=== x command {status}\n{printed}\n=== x profile\n{profile}\n"
               f"=== x live {status}\nready\n{printed}\n=== x profile\n{profile}\n")
        return f"=== doctor 0\n{doctor}\n" + run * len(arm64.PROGRAMS)

    def test_exact(self):
        self.assertEqual(arm64.judge(self.output()), [])

    def test_wrong(self):
        both = 2 * len(arm64.PROGRAMS)
        self.assertEqual(len(arm64.judge(self.output(counted=6))), both)
        self.assertEqual(len(arm64.judge(self.output(status=139))), both)
        self.assertEqual(len(arm64.judge(self.output(counted=8, printed="COUNT f 8\n"))), both)
        self.assertEqual(len(arm64.judge(self.output(doctor="no  uprobe_multi\n"))), 1)

    def test_cut(self):
        text = self.output()
        for end in range(0, len(text) - 10, 97):
            self.assertTrue(arm64.judge(text[:end]), end)


def label(kernel):
    return "test_" + kernel.replace(".", "_").replace("-", "_")


def add_test(kernel):
    def test(self):
        self.check(kernel)
    setattr(Kernels, label(kernel), test)


for name in cases.SHORT:
    add_test(name)


if __name__ == "__main__":
    harness.main()
