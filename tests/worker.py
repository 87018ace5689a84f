# SPDX-License-Identifier: GPL-2.0-or-later
"""A process of tests/run that runs end-to-end tests, one after the other; its argument is added to
its niceness.

It is told the names of tests that belong together, a line of JSON for each such list on its
standard input: ["test_list.List.test_text"]. It writes a line for each result

    {"name": "test_list.List.test_text", "why": null, "seconds": 1.2}

("why": how it failed; "shown" is the name with that of a subtest) and {} when they are done."""

import json
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "e2e"))
import harness


class Reporter(unittest.TestResult):
    def __init__(self, out):
        super().__init__()
        self.out = out
        self.began = 0

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def _report(self, test, why=None, subtest=None):
        print(json.dumps({"name": test.id(), "shown": (subtest or test).id(), "why": why,
                          "seconds": time.monotonic() - self.began}), file=self.out, flush=True)

    def addSuccess(self, test):
        self._report(test)

    # `test` may be no test, if the set-up of a class or module has failed.
    def addError(self, test, err):
        self._report(test, self._exc_info_to_string(err, test))

    addFailure = addError

    # A test with subtests that fail ends in no other call than this.
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self._report(test, self._exc_info_to_string(err, test), subtest)

    def addSkip(self, test, reason):
        self._report(test, f"skipped: {reason}")


def serve(out):
    for line in sys.stdin:
        suite = unittest.defaultTestLoader.loadTestsFromNames(json.loads(line))
        suite.run(Reporter(out))
        print("{}", file=out, flush=True)


def main():
    os.nice(int(sys.argv[1]))
    # Prints of tests are not taken for results.
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)
        harness.with_deep_stack(lambda: serve(out))


if __name__ == "__main__":
    main()
