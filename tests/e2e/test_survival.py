# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that a careless probe changes or kills: traced, they do what they do untraced."""

import subprocess

import harness
from harness import program


class Survival(harness.TestCase):
    def check_same(self, name, *options):
        alone = subprocess.run([program(name)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               timeout=harness.TIMEOUT, check=False)
        out = self.path("out")
        done = self.run_proftrace("-q", "-f", "json", "-o", out, *options, "--", program(name))
        self.assertEqual((done.status, done.stdout), (alone.returncode, alone.stdout.decode()),
                         str(done))

    def test_data_inside_functions(self):
        self.check_same("inline_data")

    def test_signal_handlers_that_throw(self):
        self.check_same("signal_throws")

    def test_signal_handlers_that_switch_stacks(self):
        self.check_same("preempt")

    def test_switches_by_setjmp_and_longjmp(self):
        for kind in "", "-static":
            with self.subTest(kind):
                self.check_same("jump_swaps" + kind)

    def test_copies_of_stacks(self):
        for kind in "", "-static":
            with self.subTest(kind):
                self.check_same("stack_copies" + kind)

    def test_cleanups_of_cancelled_threads(self):
        self.check_same("cleanup")

    def test_cleanups_inside_libc(self):
        self.check_same("cleanup", "-F", "libc.so.6:*", "-F", "*")

    def test_exchange_that_looks_like_a_nop(self):
        self.check_same("exchange")
