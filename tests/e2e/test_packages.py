# SPDX-License-Identifier: GPL-2.0-or-later
"""The short form of `make packages`."""

import os
import subprocess
import sys
import unittest

import harness

RUN = os.path.join(harness.ROOT, "tests", "packages", "run")


@harness.in_background
@harness.long
class Packages(unittest.TestCase):
    def check(self, row):
        done = subprocess.run([sys.executable, RUN, "--build",
                               os.environ.get("PROFTRACE_BUILD", "build"), row], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=900)
        text = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, text)
        self.assertIn("1 rows passed, 0 failed", text)

    def test_deb(self):
        self.check("deb")

    def test_tarball(self):
        self.check("tarball")


if __name__ == "__main__":
    harness.main()
