#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs test cases inside a test machine: modules of tests/e2e as they are, and on_kernels.

    inside.py PATTERN...        PATTERN: MODULE.CLASS.TEST, TEST with * and ?

Prints "ok NAME SECONDS" or "FAIL NAME SECONDS" for each, the details of a failure behind
"     | ", and at the end "N passed, N failed"."""

import fnmatch
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "e2e")]


class Reporter(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = self.failed = self.began = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def report(self, test, why=None):
        self.passed += why is None
        self.failed += why is not None
        word = "FAIL" if why else "ok"
        print(f"{word} {test.id()} {time.monotonic() - self.began:.1f}")
        for line in (why or "").splitlines():
            print(f"     | {line}")
        sys.stdout.flush()

    def addSuccess(self, test):
        self.report(test)

    def addError(self, test, err):
        self.report(test, self._exc_info_to_string(err, test))

    addFailure = addError

    # A test with subtests that fail ends in no other call than this.
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.report(test, self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self.report(test, f"skipped: {reason}")


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def tests_for(pattern):
    loaded = unittest.defaultTestLoader.loadTestsFromName(pattern.split(".")[0])
    found = [test for test in tests_of(loaded) if fnmatch.fnmatchcase(test.id(), pattern)]
    if not found:
        errors = "".join(unittest.defaultTestLoader.errors)
        sys.exit(errors or f"inside: no test is called {pattern}")
    return found


def main():
    import harness
    if why := harness.unavailable():
        sys.exit(f"inside: {why}")
    tests = [test for pattern in sys.argv[1:] for test in tests_for(pattern)]
    reporter = Reporter()
    harness.with_deep_stack(lambda: unittest.TestSuite(tests).run(reporter))
    print(f"{reporter.passed} passed, {reporter.failed} failed")
    return reporter.failed > 0 or not reporter.passed


if __name__ == "__main__":
    sys.exit(main())
