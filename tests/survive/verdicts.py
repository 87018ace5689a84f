# SPDX-License-Identifier: GPL-2.0-or-later
"""The results of a row, and the table of all rows."""

import time

NAMES = ("SAME", "CLEAN", "EXACT")
OK, FAIL, NONE = "ok", "FAIL", "-"
# EXACT of a target without counts of its own.
IDENTITY = "sums"

LEGEND = """\
SAME   output, standard error and exit status are those of an untraced run
CLEAN  5 s after the profiler no BPF link or program of it is left, nor after 30 s a map (the kernel
       frees them late), and the text of live targets equals its file
EXACT  calls that the target counted = calls reported + lost, and entered = returned + unwound +
       open; "sums": the latter only, as the target counts nothing
bpftrace  the same target under uretprobes on a few of its functions, as each takes about 100 ms"""


class Trial:
    """Results of one row. A verdict is FAIL if anything failed, `-` if nothing was asked."""

    def __init__(self, options):
        self.options = options
        self.began = time.monotonic()
        self.runs = self.calls = 0
        self.asked = dict.fromkeys(NAMES, 0)
        self.problems = []
        self.failed = set()
        self.reasons = {}
        self.counted = False
        self.figures = []
        self.bpftrace = ""
        self.seconds = 0.0

    def judge(self, verdict, good, problem):
        """Counts one question and its answer; `problem` is text, or a function that makes it."""
        self.asked[verdict] += 1
        if not good:
            self.fail(verdict, problem() if callable(problem) else problem)
        return good

    def fail(self, verdict, problem):
        self.asked[verdict] += 1
        self.failed.add(verdict)
        text = f"{verdict}: {problem}"
        if text not in self.problems:
            self.problems.append(text)

    def without(self, verdict, reason):
        """The verdict does not apply."""
        self.reasons[verdict] = reason

    def figure(self, text):
        self.figures.append(text)

    def verdict(self, name):
        if name in self.failed:
            return FAIL
        if not self.asked[name]:
            return NONE
        return IDENTITY if name == "EXACT" and not self.counted else OK

    def silent(self):
        """Verdicts that nobody asked for and nobody explained: a row must not forget one."""
        return [name for name in NAMES if not self.asked[name] and name not in self.reasons]

    def end(self):
        self.seconds = time.monotonic() - self.began
        for name in self.silent():
            self.fail(name, "not judged, and no reason given")


class Table:
    FORMAT = "{:<48} {:>15} {:>5} {:>5} {:>5} {:>7}  {}"
    MOST = 12  # lines of problems a row

    def __init__(self):
        self.passed = self.failed = 0

    def head(self):
        print(self.FORMAT.format("", "runs/calls", *NAMES, "seconds", "bpftrace"), flush=True)

    def group(self, title):
        print(f"{title}:", flush=True)

    def row(self, name, trial):
        good = not trial.failed
        self.passed += good
        self.failed += not good
        count = f"{trial.runs}/{trial.calls}" if trial.calls else f"{trial.runs}"
        print(self.FORMAT.format("  " + name, count, *map(trial.verdict, NAMES),
                                 f"{trial.seconds:.1f}", trial.bpftrace).rstrip())
        for verdict, reason in trial.reasons.items():
            if not trial.asked[verdict]:
                print(f"      {verdict} does not apply: {reason}")
        for text in trial.figures:
            print(f"      {text}")
        lines = [line for problem in trial.problems for line in problem.splitlines()]
        for line in lines[:self.MOST]:
            print(f"      | {line[:400]}")
        if len(lines) > self.MOST:
            print(f"      | ... and {len(lines) - self.MOST} lines more")
        print(end="", flush=True)

    def foot(self, not_run):
        for name, reason in not_run:
            print(f"not run: {name}: {reason}")
        print(f"{self.passed} rows passed, {self.failed} failed", flush=True)
