# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that a careless probe changes or kills: traced, they do what they do untraced."""

import glob
import os
import struct
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

    def test_walks_by_functions_that_are_looked_up(self):
        self.check_same("backtraces-name")

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

    def arcs(self, prefix):
        """Returns how often each function was called from where, by gprof's file: see gmon_out.h of
        libc."""
        (path,) = glob.glob(prefix + ".*")
        with open(path, "rb") as file:
            data = file.read()
        os.unlink(path)
        arcs, at = {}, 20
        while at < len(data):
            if data[at] == 0:
                at += 1 + 40 + 2 * struct.unpack_from("<I", data, at + 17)[0]
                continue
            self.assertEqual(data[at], 1)
            *arc, cnt = struct.unpack_from("<QQI", data, at + 1)
            arcs[tuple(arc)] = cnt
            at += 21
        return arcs

    def test_call_graphs_of_gprof(self):
        prefix = self.path("gmon")
        env = {**os.environ, "GMON_OUT_PREFIX": prefix}
        for kind in "", "-static":
            subprocess.run([program("profiled" + kind)], env=env, check=False,
                           stdout=subprocess.DEVNULL, timeout=harness.TIMEOUT)
            alone = self.arcs(prefix)
            self.assertGreater(len(alone), 4)
            for options in (), ("--exits=return",), ("-F", "*"):
                with self.subTest(kind, options=options):
                    done = self.run_proftrace("-q", "--max-overhead", "none", "-f", "json", "-o",
                                              self.path("out"), *options, "--",
                                              program("profiled" + kind), env=env)
                    self.assertEqual(done.status, 3, str(done))
                    self.assertEqual(self.arcs(prefix), alone)
