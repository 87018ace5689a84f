# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of `make kernels`: a machine for each of Debian's kernels."""

import os
import subprocess
import sys
import unittest

import harness

KERNELS = os.path.join(harness.ROOT, "tests", "kernels")
sys.path.insert(0, KERNELS)
import cases
import machine

LIMIT = 1200  # seconds for a machine, and for its kernel's download before it


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
