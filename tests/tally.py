# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of a run of tests: a line for each test, and the summary at the end."""

import sys


class Tally:
    """Counts and prints results. `filters` are the words of the command line: the whole name of a
    test chooses that one, other words all whose names have them in it."""

    def __init__(self, filters, build="build"):
        self.filters = filters
        self.build = build
        self.passed = 0
        self.failed = []  # names
        self.commands = {}  # of those that failed: {name without a subtest's: how to run it alone}
        self.passed_later = []  # (name, why it had failed at first)

    def chosen(self, names):
        """Returns those of `names` that the filters choose. Names are as printed: "unit
        test_glob.test_star"."""
        whole = {name.split(" ", 1)[-1] for name in names}
        return [name for name in names if not self.filters or
                any(name.endswith(f" {word}") if word in whole else word in name
                    for word in self.filters)]

    def may_choose(self, group, binary):
        """Whether a unit test program may have wanted tests. Each is a function, whose name is in
        the file."""
        def may(word):
            before, _, test = word.rpartition(".")
            return word in name or (name.endswith(before) and test.encode() in content)

        name = f"unit {group}."
        if not self.filters:
            return True
        with open(binary, "rb") as file:
            content = file.read()
        return any(map(may, self.filters))

    def report(self, name, detail=None, seconds=None, chosen_by=None):
        """`detail` is why it failed; None if it did not. `chosen_by` is the filter that chooses
        this test, where that is not its name."""
        if detail is None:
            self.passed += 1
        else:
            self.failed.append(name)
            self.commands[chosen_by or name] = self.command(chosen_by or name)
        took = "" if seconds is None else f"  {seconds:.1f} s"
        print(f"{'ok  ' if detail is None else 'FAIL'} {name}{took}")
        if detail:
            print("".join(f"     | {line}\n" for line in detail.splitlines()), end="")
        sys.stdout.flush()

    def command(self, name):
        """How to run a test alone."""
        kind, _, word = name.partition(" ")
        build = "" if self.build == "build" else f" --build {self.build}"
        return f"{'sudo ' if kind == 'e2e' else ''}tests/run --{kind}{build} {word}".rstrip()

    def close(self):
        """The last lines. Returns the exit status."""
        for name, why in self.passed_later:
            print(f"passed at the second attempt alone: {name}, which had failed by")
            print("".join(f"     | {line}\n" for line in why.splitlines()), end="")
        if not self.passed and not self.failed:
            print(f"no test is called {' or '.join(self.filters)}")
        for name, command in self.commands.items():
            print(f"FAILED {name.rstrip('.')}, which this runs alone:\n    {command}")
        print(f"{self.passed} passed, {len(self.failed)} failed")
        return bool(self.failed or not self.passed)
