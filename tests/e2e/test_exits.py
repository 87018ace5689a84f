# SPDX-License-Identifier: GPL-2.0-or-later
"""--exits: each strategy counts the same calls; what is dangerous is said; sandboxes stay alive."""

import harness
from harness import program

STRATEGIES = ("return", "sites", "none")


class Exits(harness.TestCase):
    def test_each_strategy_counts_every_call(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                document, done = self.profile_command("calc-pie",
                                                      options=("--exits", strategy))
                self.assert_counts(document, done.counts, done)
                self.assertEqual({name for name, count in document["probes"]["exits"].items()
                                  if count}, {strategy})

    def test_list_tells_strategy_and_reason(self):
        for strategy in STRATEGIES:
            done = self.run_proftrace("-l", "--exits", strategy, "-q", "-F", "square",
                                      "-x", program("calc-pie"))
            self.assertEqual(done.status, 0, str(done))
            self.assertRegex(done.stdout, rf"\b{strategy} .*square .*--exits={strategy}")

    def test_danger_is_said_once(self):
        done = self.run_proftrace("-l", "--exits=return", "--", program("throws"))
        self.assertEqual(done.status, 0, str(done))
        line, = done.stderr.splitlines()
        self.assertRegex(line, r"--exits=return may kill the target: .+\(.+\)$")
        done = self.run_proftrace("-l", "--exits=return", "--", program("calc-pie"))
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))

    def test_sites_keep_a_program_that_throws_alive(self):
        document, done = self.profile_command("throws", options=("--exits=sites",))
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(document["probes"]["exits"]["return"], 0)

    def test_bad_value(self):
        done = self.run_proftrace("--exits=fast", "--", program("calc-pie"))
        self.assert_one_line(done, 2, "--exits fast", "auto, return, sites, none")


class Sandboxes(harness.TestCase):
    """Programs under seccomp, which must not feel the system calls that probes are made of."""

    def check_counts(self, mode, *options):
        document, done = self.profile_command("sandbox", mode, options=options)
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        return document

    def test_strict(self):
        document = self.check_counts("strict")
        self.assertTrue(document["probes"]["sites"]["nop5"] or
                        document["probes"]["sites"]["step"], document["probes"])

    def test_filter_that_kills(self):
        self.check_counts("filter")

    def test_filter_with_each_strategy(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                self.check_counts("filter", "-q", "--exits", strategy)


if __name__ == "__main__":
    harness.main()
