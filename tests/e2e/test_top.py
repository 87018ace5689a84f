# SPDX-License-Identifier: GPL-2.0-or-later
"""`proftrace top` in a real terminal, tmux's, on a program that works."""

import glob
import os
import re
import shlex
import subprocess

import harness
from harness import PROFTRACE

UTF8 = {"LC_ALL": "C.UTF-8"}


class Top(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.target_process = self.target("serving")
        self.target_process.go()

    def tearDown(self):
        if os.path.exists(self.path("tmux")):
            self.tmux("kill-server", check=False)
        super().tearDown()

    def tmux(self, *args, check=True):
        return subprocess.run(["tmux", "-S", self.path("tmux"), "-f", "/dev/null", *map(str, args)],
                              env=os.environ | UTF8, stdout=subprocess.PIPE, check=check,
                              timeout=harness.TIMEOUT).stdout.decode()

    def start(self, *options, columns=80, rows=24):
        """The terminal stays after the end, with what the run has said then and its status."""
        command = shlex.join([PROFTRACE, "top", *map(str, options), "-p", str(self.target_process.pid)])
        self.tmux("new-session", "-d", "-x", columns, "-y", rows,
                  f"cd {shlex.quote(self.directory)}; LC_ALL=C {command}; echo status $?; read end")
        self.wait_for(r"\brequest")

    def screen(self):
        return self.tmux("capture-pane", "-p")

    def wait_for(self, pattern):
        """Waits until the screen shows that."""
        self.assertTrue(harness.poll(lambda: re.search(pattern, self.screen()), harness.TIMEOUT),
                        f"no {pattern}:\n{self.screen()}")

    def press(self, *keys):
        self.tmux("send-keys", *keys)

    def quit(self):
        self.press("q")
        self.wait_for("status 0")
        return self.screen()

    def test_functions(self):
        self.start("-F", "request", "-F", "parse", "-F", "word", "-F", "answer")
        # Five words a request, whatever time it takes.
        self.press("/", "w", "o", "r", "Enter")
        self.wait_for(r"(?m)^/wor .*functions")
        self.assertNotIn("answer", self.screen())
        self.press("Escape")
        self.wait_for(r"\banswer\b")
        lines = {line.split()[-1]: line.split() for line in self.screen().splitlines()
                 if line.split()[-1:] and line.split()[-1] in ("request", "word")}
        rates = {name: int(line[2].replace(",", "")) for name, line in lines.items()}
        self.assertAlmostEqual(rates["word"] / rates["request"], 5, delta=0.2)
        self.assertTrue(lines["request"][1].startswith("100"), lines)
        self.assertIn("proftrace: entered", self.quit())

    def test_views(self):
        self.start("-F", "request", "-F", "parse", "-F", "word", "-F", "answer")
        self.press("t")
        self.wait_for(r"├parse")
        self.press("H")
        self.wait_for(r"serving \d+/\d+")
        self.press("f", "/")
        self.press("parse", "Enter")
        self.wait_for(r"(?m)^/parse .*functions")
        self.press("Enter")
        self.wait_for(r"called by[^\0]* request\n[^\0]* word\n[^\0]*█")
        self.press("?")
        self.wait_for("sort by another column")
        self.tmux("resize-window", "-x", 60, "-y", 12)
        self.press("f", "Escape", "Escape")
        self.wait_for(r"\brequest\b")
        self.assertLessEqual(max(map(len, self.screen().splitlines())), 60)
        self.quit()

    def test_sessions(self):
        """The budget drops none of them, and each takes as long as what it calls."""
        self.start("--session", "req*")
        self.press("s")
        self.wait_for(r"SESSIONS/S +AVG +P50 +P99 +MAX +WAITING +SESSION\n"
                      r" +[\d,.]+( +[\d.]+ \ws){4} +[\d.]+% +request\n\n")
        self.press("Enter")
        self.wait_for(r"called by[^\0]*█")
        self.press("Escape")
        self.wait_for(r"% +request\n\n")
        self.quit()

    def test_no_such_session(self):
        self.tmux("new-session", "-d", "-x", 80, "-y", 24, f"LC_ALL=C {PROFTRACE} top --session "
                  f"none -p {self.target_process.pid}; echo status $?; read end")
        self.wait_for("--session none: no function that is traced matches")
        self.wait_for("status 1")

    def test_default_options(self):
        """All functions, within the budget, with samples: marks tell what is an estimate."""
        self.start()
        self.wait_for(r"~\d[\d.]*% .*\b(request|parse|word|answer)\b")
        self.quit()

    def test_zoom(self):
        """A dropped function is exact while the user looks at it, and so are the functions that it
        calls, as far as these fit the budget."""
        self.start()
        self.wait_for(r"\bparse\*")
        self.press("/")
        self.press("parse", "Enter")
        self.wait_for(r"(?m)^/parse .*functions")
        self.press("Enter")
        self.wait_for(r"(?m)^ZOOM parse and \d that it calls (is|are) exact \(\+\)")
        self.wait_for(r"(?m)^parse  \(exact again for ")
        self.wait_for(r"s  word[*+]\n")
        self.wait_for("made exact costs [0-9.]+% of the target's CPU time; the budget is 5.0%")
        self.press("!")
        self.wait_for(r"(?m)^ZOOM parse and 1 that it calls are exact \(\+\)$")
        self.press("f")
        self.wait_for(r"\bparse\+")
        self.press("Escape")
        self.wait_for(r"\bparse\*")
        self.assertNotIn("ZOOM", self.screen())
        self.press("Escape")
        self.assertIn("entered", self.quit())

    def test_machine(self):
        """Without a target: all processes, and into one of them and back."""
        self.tmux("new-session", "-d", "-x", 80, "-y", 24,
                  f"cd {shlex.quote(self.directory)}; LC_ALL=C {PROFTRACE} top; echo status $?; read end")
        self.wait_for(r"(?m)^all processes  CPU \d+%  \d+ processes? ha")
        self.press("/")
        self.press("serving", "Enter")
        pid = self.target_process.pid
        self.wait_for(rf"(?m)^ +~[\d.]+% +[\d.]+ .B +2 +{pid}  serving$")
        rows = [line for line in self.screen().splitlines() if line.endswith("serving")]
        self.press("Home")
        for _ in range([f" {pid} " in row for row in rows].index(True)):
            self.press("Down")
        self.press("Enter")
        self.wait_for(rf"(?m)^PID \d+ .*probes cost")
        self.press("Escape")
        self.wait_for(r"(?m)^all processes")
        self.quit()

    def test_recording_of_the_last_minute(self):
        self.start("-F", "request", "-F", "word")
        self.press("S")
        self.wait_for("the last minute is in proftrace-")
        self.quit()
        path, = glob.glob(self.path("proftrace-*.data"))
        done = self.process(PROFTRACE, "report", "-f", "json", path).finish()
        document = self.document(done)
        calls = {f["name"]: f["calls"] for f in document["functions"]}
        self.assertGreater(calls["request"], 0)
        self.assertAlmostEqual(calls["word"] / calls["request"], 5, delta=0.2)

    def test_switched_off(self):
        self.start("-F", "request")
        self.press("p")
        self.wait_for("OFF")
        self.press("p")
        # A message says so, until the next one: what stays is that the mark is gone.
        self.wait_for(r"(?m)^PID \d+ (?!.*OFF)")
        self.press(" ")
        self.wait_for("FROZEN")
        self.quit()

    def test_ends_with_the_target(self):
        self.start("-F", "request")
        self.target_process.finish()
        self.wait_for("status 0")

    def test_no_terminal(self):
        done = self.process(PROFTRACE, "top", "-p", self.target_process.pid).finish()
        self.assertEqual(done.status, 1)
        self.assertEqual(done.stderr, "proftrace: top needs a terminal; in a pipe, -i 1 shows what "
                         "is new each second\n")

    def test_unknown_terminal(self):
        """With a terminal of an unknown kind nothing is attached."""
        for kind in "", "no-such-terminal", "dumb":
            done = self.process("script", "-qec", f"{PROFTRACE} top -p {self.target_process.pid}",
                                "/dev/null", env={**os.environ, "TERM": kind},
                                stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 1, str(done))
            self.assertEqual(done.stdout.strip(), "proftrace: top knows no terminal of this kind: "
                             "is TERM right?")

    def test_wrong_options(self):
        for words in (["--", "true"], ["-p", "1", "-o", "x"], ["-p", "1", "--calls"]):
            done = self.process(PROFTRACE, "top", *words).finish()
            self.assertEqual(done.status, 2, words)
            self.assertRegex(done.stderr, "top")
