# SPDX-License-Identifier: GPL-2.0-or-later
"""check: whether assertions hold of a run, or of a recording."""

import os
import subprocess

import harness
from harness import PROFTRACE, program


class Check(harness.TestCase):
    def check(self, *assertions, command=("calc-pie", 20), options=()):
        asserted = [word for text in assertions for word in ("--assert", text)]
        name, *args = command
        return self.verb("check", *asserted, *options, "--", program(name), *args)

    def verb(self, *args):
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL, cwd=self.directory).finish()

    def test_counts(self):
        done = self.check("calls(square) == 20", "calls(cube)<=10", "max(apply) < 1s",
                          "calls(*e) == 30")
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(done.counts["square"], 20)
        self.assertIn("calls(square) == 20: holds, 20 calls", done.stderr)

    def test_what_does_not_hold(self):
        """Each has its line, and the recording can be asked again."""
        done = self.check("calls(square) < 20", "p99(*e) < 1ns", "calls(apply) == 20")
        self.assertEqual(done.status, 3, str(done))
        self.assertIn("calls(square) < 20: does not hold, square has 20 calls", done.stderr)
        self.assertRegex(done.stderr, r"p99\(\*e\) < 1ns: does not hold, (cube|square) has ")
        self.assertIn("2 of 3 assertions failed: proftrace report proftrace.data", done.stderr)
        for assertion, status in ("calls(cube) == 10", 0), ("calls(cube) == 11", 3):
            again = self.verb("check", "--assert", assertion, "proftrace.data")
            self.assertEqual(again.status, status, str(again))

    def test_cut_off(self):
        """A recording that was cut off fails: nobody knows what the rest of the run has called."""
        self.check("calls(square) == 1")
        with open(self.path("proftrace.data"), "rb") as file:
            whole = file.read()
        with open(self.path("cut.data"), "wb") as file:
            file.write(whole[:-1])
        for assertion in "calls(square) <= 20", "calls(square) == 1":
            done = self.verb("check", "--assert", assertion, "cut.data")
            self.assertEqual(done.status, 1, str(done))
            self.assertIn(f"{assertion}: not known, as the run was cut off", done.stderr)

    def test_status_of_the_command(self):
        """A failed assertion goes before the status of the command, which is told then."""
        done = self.check("calls(square) == 20", command=("calc-pie", 20, 7))
        self.assertEqual(done.status, 7, str(done))
        done = self.check("calls(square) == 19", command=("calc-pie", 20, 7))
        self.assertEqual(done.status, 3, str(done))
        self.assertIn("the exit status of the command was 7\n", done.stderr)
        done = self.check("calls(square) == 19")
        self.assertEqual(done.status, 3, str(done))
        self.assertNotIn("the exit status", done.stderr)

    def test_what_is_kept(self):
        """A recording only if something does not hold, and then the one before as well."""
        def held():
            """{file: its calls of square}"""
            return {name: self.verb("report", "-f", "csv", name).stdout
                    for name in sorted(os.listdir(self.directory))}

        before = sorted(os.listdir(self.directory))
        self.assertEqual(self.check("calls(square) == 20").status, 0)
        self.assertEqual(sorted(os.listdir(self.directory)), before)
        self.assertEqual(self.check("calls(square) == 1").status, 3)
        first = held()
        self.assertEqual(list(first), [*before, "proftrace.data"])
        self.assertEqual(self.check("calls(square) == 20").status, 0)
        self.assertEqual(held(), first)
        self.assertEqual(self.check("calls(square) == 2", command=("calc-pie", 21)).status, 3)
        second = held()
        self.assertEqual(list(second), [*before, "proftrace.data", "proftrace.data.old"])
        self.assertEqual(second["proftrace.data.old"], first["proftrace.data"])
        self.assertNotEqual(second["proftrace.data"], first["proftrace.data"])
        done = self.check("calls(square) == 1", command=("no-such-program",))
        self.assertNotEqual(done.status, 0)
        self.assertEqual(held(), second)

    def test_what_is_not_known(self):
        """A function that is not there, or that was dropped."""
        done = self.check("calls(square) == 20", "calls(no_such) == 0")
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("calls(no_such) == 0: not known", done.stderr)

    def test_mistakes_come_first(self):
        """Mistakes in the command line are reported before the command runs."""
        for words, said in (
                (("--assert", "calls(square) =< 20"), "character 15"),
                (("--assert", "p99(square) < 20"), "a time with its unit"),
                ((), "--assert is needed"),
                (("--assert", "calls(f) < 1", "-f", "json"), "--format does not go with check")):
            done = self.verb("check", *words, "--", program("calc-pie"))
            self.assert_one_line(done, 2, said)
        done = self.verb("check", "--assert", "calls(f) < 1", self.path("no.data"))
        self.assert_one_line(done, 1, "no.data")

    def test_output(self):
        done = self.check("calls(square) == 1", options=("-o", "other.data"))
        self.assertEqual(done.status, 3, str(done))
        self.assertTrue(os.path.exists(self.path("other.data")))
        self.assertIn("other.data", done.stderr)


if __name__ == "__main__":
    harness.main()
