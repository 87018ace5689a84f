# SPDX-License-Identifier: GPL-2.0-or-later
"""Completions that shells offer for a command line that is not complete yet."""

import os
import re
import subprocess

import harness
from harness import PROFTRACE, ROOT

BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _proftrace; printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(harness.TestCase):
    def script(self, shell):
        path = self.path(shell)
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([PROFTRACE, "--completion", shell], stdout=file, check=True)
        return path

    def run_shell(self, *argv):
        done = self.process(*argv, stdin=subprocess.DEVNULL).finish()
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))
        return set(done.stdout.splitlines())

    def bash(self, *words):
        return self.run_shell("bash", "-c", BASH, "bash", self.script("bash"), "proftrace", *words)

    def fish(self, line):
        path = self.script("fish")
        script = f"source {path}; complete -C 'proftrace {line}'"
        found = self.run_shell("fish", "-N", "-c", script)
        return {line.split("\t")[0] for line in found}

    def check(self, offered, these, but_not=()):
        self.assertLessEqual(set(these), offered)
        self.assertFalse(set(but_not) & offered)

    def test_bash(self):
        self.check(self.bash("rep"), ["report"])
        self.check(self.bash("--"), ["--pid", "--follow", "--format", "--help"], ["--slow", "--run"])
        self.check(self.bash("report", "--"), ["--run", "--slowest"], ["--pid", "--assert"])
        self.assertEqual(self.bash("-f", "pp"), {"pprof"})
        self.assertEqual(self.bash("--color", "=", "al"), {"always"})
        self.check(self.bash("-p", ""), ["bash"])
        self.assertEqual(self.bash("--user", "nobod"), {"nobody"})
        self.check(self.bash("-x", f"{ROOT}/user/mai"), [f"{ROOT}/user/main.c"])
        self.check(self.bash("-D", "2", "--", "bas"), ["bash"])

    def test_fish(self):
        self.check(self.fish("rep"), ["report"])
        self.check(self.fish("--"), ["--pid", "--help"], ["--run"])
        self.check(self.fish("report --"), ["--run"], ["--pid", "--assert"])
        self.assertEqual(self.fish("-f pp"), {"pprof"})

    def test_zsh(self):
        """The zsh script has no errors in its grammar, and each verb has its options."""
        path = self.script("zsh")
        self.run_shell("zsh", "-n", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        report = re.search(r"^\treport\) options=\((.*?)^\t\t\)", text, re.M | re.S)[1]
        self.assertIn("'*--slowest=[", report)
        self.assertNotIn("--pid", report)

    def test_all_options_are_there(self):
        done = subprocess.run([PROFTRACE, "--help"], stdout=subprocess.PIPE, text=True, check=True)
        options = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", done.stdout, re.M))
        self.assertGreater(len(options), 50)
        for shell, before in ("bash", "--"), ("zsh", "--"), ("fish", "-l "):
            with open(self.script(shell), encoding="utf-8") as file:
                text = file.read()
            self.assertEqual([name for name in options if before + name not in text], [])

    def help(self, *verb):
        """Returns the lines of usage that --help of a verb prints, and {heading: [options]}."""
        done = self.process(PROFTRACE, *verb, "--help").finish()
        self.assertEqual((done.status, done.stderr), (0, ""))
        headings, heading = {}, ""
        for line in done.stdout.splitlines():
            option = re.match(r"  (?:-\w, |    )--([a-z-]+)", line)
            if re.match(r" [A-Za-z].*", line):
                heading = line.strip()
                headings[heading] = []
            elif not line:
                heading = ""
            elif option:
                headings.setdefault(heading, []).append(option[1])
        usage = [line for line in done.stdout.splitlines() if re.match("Usage: |  or: ", line)]
        return usage, headings

    def test_help_of_each_verb(self):
        """The help of each verb has the verb's own usage, and below headings the very options that
        are completed."""
        with open(self.script("bash"), encoding="utf-8") as file:
            taken = dict(re.findall(r'^\t(\S+)\) options="(.*?)"', file.read(), re.M))
        everything = set(re.findall(r"--(\S+)", " ".join(taken.values())))
        self.assertGreater(len(taken), 8)
        for verb, options in taken.items():
            with self.subTest(verb=verb):
                usage, headings = self.help(*[verb] * (verb != "*"))
                told = [option for options in headings.values() for option in options]
                self.assertEqual(len(told), len(set(told)))
                self.assertNotIn([], headings.values())
                if verb == "*":
                    self.assertEqual(set(told), everything)
                    for other in set(taken) - {"*"}:
                        self.assertTrue([line for line in usage if f"proftrace {other}" in line])
                    continue
                self.assertEqual(set(told), set(re.findall(r"--(\S+)", options)))
                for line in usage:
                    self.assertIn(f" proftrace {verb} ", line)

    def test_headings(self):
        """An option stands below the heading that it has in the table."""
        headings = self.help()[1]
        for start, option in (("Target", "pid"), ("Functions", "filter"), ("Run", "duration"),
                              ("report and diff", "per-call"), ("check", "assert"),
                              ("send", "where"), ("agent", "check"), ("Sessions", "slowest"),
                              ("Result", "format")):
            below, = [options for heading, options in headings.items() if heading.startswith(start)]
            self.assertIn(option, below)

    def test_no_shell(self):
        self.assert_one_line(self.run_proftrace("--completion", "csh"), 2, "bash, zsh, fish")

    def test_installed(self):
        env = {"PATH": os.environ["PATH"]}
        done = self.process("make", "-C", ROOT, "-s", "install", "PREFIX=/usr",
                            f"DESTDIR={self.directory}", env=env).finish()
        self.assertEqual(done.status, 0, str(done))
        for path in ("bash-completion/completions/proftrace", "zsh/vendor-completions/_proftrace",
                     "fish/vendor_completions.d/proftrace.fish"):
            with open(self.path(f"usr/share/{path}"), encoding="utf-8") as file:
                self.assertIn("--completion", file.read())
        for verb, option, other in (("record", "append", "per-call"), ("report", "slowest", "pid"),
                                    ("diff", "per-call", "pid"), ("check", "assert", "append"),
                                    ("doctor", "format", "filter")):
            page = self.path(f"usr/share/man/man1/proftrace-{verb}.1")
            with open(page, encoding="utf-8") as file:
                named = re.findall(r"^\.TP\n(.*)", file.read().replace("\\-", "-"), re.M)
            self.assertTrue(any(f"--{option}" in line for line in named), verb)
            self.assertFalse(any(f"--{other}" in line for line in named), verb)


if __name__ == "__main__":
    harness.main()
