# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats for people fit the terminal: no line is longer than COLUMNS, names can be read, and where
there is no terminal nothing is left out."""

import fcntl
import os
import re
import struct
import subprocess
import termios

import harness
from harness import PROFTRACE, UNLIMITED, program


class Width(harness.TestCase):
    def run_tool(self, *args, columns=None, status=0):
        environment = {"LC_ALL": "C.UTF-8"} | ({"COLUMNS": str(columns)} if columns else {})
        done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL, env=environment).finish()
        self.assertEqual(done.status, status, str(done))
        return done.stdout

    def recording(self, name, *options, command):
        path = self.path(name)
        done = self.process(PROFTRACE, "record", "-q", *UNLIMITED, *options, "-o", path, "--",
                            *command, stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        return path

    def check(self, args, names):
        """At each width: what is said fits, and these names are there as a whole."""
        for columns in 80, 60, 100, 200:
            text = self.run_tool(*args, columns=columns)
            longest = max(text.splitlines(), key=len)
            self.assertLessEqual(len(longest), columns, longest)
            for name in names:
                self.assertRegex(text, rf"(?<![\w…]){re.escape(name)}(?![\w…])", columns)
        # No word of it is lost without a terminal, and with -v.
        for options in (), ("-v",):
            text = self.run_tool(*args, *options, columns=80 if options else None)
            self.assertGreater(len(max(text.splitlines(), key=len)), 80)

    def test_reports(self):
        path = self.recording("rec", "--calls", command=(program("requests"), "2", "50"))
        self.check(("report", "-f", "flat", path), ("handle", "look_up", "parse"))
        self.check(("report", "-f", "flat", "--hist", "handle", path), ("handle", "finished"))
        self.check(("report", "-f", "flat", "--session", "handle", path),
                   ("SESSIONS", "handle > parse"))
        self.check(("report", "-f", "tree", "--session", "handle", path),
                   ("SESSIONS", "handle > parse"))

    def test_doctor(self):
        text = self.run_tool("doctor", columns=60)
        self.assertLessEqual(max(map(len, text.splitlines())), 60)
        # A line that is folded goes on indented, so as words both are the same.
        self.assertEqual(text.split(), self.run_tool("doctor").split())

    def test_messages(self):
        """On a terminal they are folded between words; elsewhere each is a line."""
        command = (PROFTRACE, "-x", "/" + "/".join(["no such folder"] * 8))
        plain = self.process(*command).finish().stderr
        self.assertEqual(len(plain.splitlines()), 1)
        ours, theirs = os.openpty()
        self.addCleanup(os.close, ours)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        self.assertEqual(subprocess.run(command, stderr=theirs, env=environment,
                                        check=False).returncode, 1)
        os.close(theirs)
        lines = os.read(ours, 65536).decode().splitlines()
        self.assertGreater(len(lines), 1)
        self.assertLessEqual(max(map(len, lines)), 60)
        self.assertEqual(" ".join(lines).split(), plain.split())

    def assert_prose_fits(self, text, *begins):
        """Lines of prose, from those that begin like that on, and those that they go on with."""
        for begin in begins:
            self.assertRegex(text, rf"(?m)^{begin}")
        for line in text.splitlines():
            if len(line) > 80:
                self.assertFalse(re.match("|".join(begins), line), line)

    def test_prose_with_v(self):
        """-v leaves nothing out of tables, however wide; sentences beside them fit all the same."""
        path = self.recording("rec", "--calls", command=(program("requests"), "2", "50"))
        footer = r"entered \d", "probes cost ", r"[0-9.]+ [mu]?s, "
        for form in "tree", "flat":
            report = "report", "-v", "-f", form, "--session", "handle", path
            text = self.run_tool(*report, columns=80)
            self.assert_prose_fits(text, *footer)
            # The words are those of a file, where lines have any length.
            self.assertEqual(text.split(), self.run_tool(*report).split())
        text = self.run_tool("report", "-v", "-f", "tree", path, columns=60)
        for line in text[text.index("entered "):].splitlines():
            self.assertLessEqual(len(line), 60)
        self.assertIn("\n  ", text[text.index("entered "):])
        text = self.run_tool("diff", "-v", path, path, columns=80)
        self.assert_prose_fits(text, "time has not changed", "old  ", "in all traced calls")

    def test_deep_tree(self):
        """Deep levels are numbered, before their names have no room."""
        path = self.recording("rec", command=(program("recursion"), "14", "2"))
        text = self.run_tool("report", "-f", "tree", path, columns=60)
        self.assertLessEqual(max(map(len, text.splitlines())), 60)
        self.assertRegex(text, r"\[\d+\] fib\b")

    def test_diff(self):
        old = self.recording("old", command=(program("names"), "10"))
        new = self.recording("new", command=(program("names"), "500"))
        self.check(("diff", "-f", "tree", old, new), ("FUNCTION", "CHANGE"))

    def test_list(self):
        text = self.run_tool("-l", "-F", "*", "--", program("names"), columns=80)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn(f"{program('names')}:\n", text)
        row, = (line for line in text.splitlines() if " main [" in line)
        number = re.search(r"\[(\d+)\]$", row)[1]
        self.assertRegex(text, rf"(?m)^\[{number}\] \w")
        wide = self.run_tool("-l", "-F", "*", "--", program("names"))
        self.assertRegex(wide, r"(?m) names +main +\(.+\)$")

    def test_lines(self):
        path = self.recording("rec", "--lines", "main", command=(program("lines_own-O0"),))
        text = self.run_tool("report", "-f", "lines", path, columns=80)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn("main", text)

    def test_what_programs_read_keeps_its_lines(self):
        path = self.recording("rec", command=(program("names"), "10"))
        for form in "json", "csv", "folded":
            self.assertEqual(self.run_tool("report", "-f", form, path, columns=40),
                             self.run_tool("report", "-f", form, path))

    def test_files_have_no_width(self):
        path = self.recording("rec", command=(program("names"), "10"))
        out = self.path("out")
        self.run_tool("report", "-f", "flat", "-o", out, path, columns=40)
        with open(out, encoding="utf-8") as file:
            self.assertIn("MODULE", file.readline())
        os.remove(out)
