# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of `make survive`."""

import os
import re
import subprocess
import sys
import unittest

import harness

RUN = os.path.join(harness.ROOT, "tests", "survive", "run")


@harness.long
class Survive(unittest.TestCase):
    def test_short_form(self):
        done = subprocess.run([sys.executable, RUN, "--short", "--build",
                               os.environ.get("PROFTRACE_BUILD", "build")], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=harness.TIMEOUT)
        text = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, text)
        passed = re.search(r"^(\d+) rows passed, 0 failed$", text, re.M)
        self.assertIsNotNone(passed, text)
        self.assertGreaterEqual(int(passed[1]), 25, text)


if __name__ == "__main__":
    harness.main()
