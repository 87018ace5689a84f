# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of `make kernels`: a machine for each of Debian's kernels. tests/run calls
begin() when it starts, so that the machines run one by one beside the other tests, at a low
priority."""

import concurrent.futures
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
background = concurrent.futures.ThreadPoolExecutor(max_workers=1)
begun = {}  # {kernel: the future of its result}, until it is asked for


def run(kernel, niceness=0):
    """(exit status, output) of one kernel's machine."""
    def prepare():
        machine.die_with_parent()
        os.nice(niceness)

    argv = [sys.executable, os.path.join(KERNELS, "run"), "--short", "--only", kernel,
            "--build", os.environ.get("PROFTRACE_BUILD", "build")]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT,
                              stderr=subprocess.STDOUT, preexec_fn=prepare, check=False)
    except subprocess.TimeoutExpired as error:
        return None, (error.stdout or b"").decode(errors="replace")
    return done.returncode, done.stdout.decode(errors="replace")


def begin(tests):
    """Starts the machines that these tests wait for, in the background."""
    names = {test.id().split(".")[-1] for test in tests}
    for kernel in cases.SHORT:
        if label(kernel) in names:
            begun[kernel] = background.submit(run, kernel, 10)


class Kernels(unittest.TestCase):
    def check(self, kernel):
        """A second call, of a test that is run once more, starts a machine of its own."""
        future = begun.pop(kernel, None)
        status, text = future.result() if future else run(kernel)
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
