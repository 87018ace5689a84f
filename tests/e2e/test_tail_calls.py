# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions of functions whose last statement is a call that the compiler has made a jump of."""

import json

import harness
from harness import PROFTRACE, UNLIMITED, program


class TailCalls(harness.TestCase):
    def session_run(self, *args, command):
        path = self.path("out.json")
        done = self.process(PROFTRACE, *UNLIMITED, "-f", "json", "-o", path, *args, "--",
                            *command).finish()
        self.assertEqual(done.status, 0, str(done))
        with open(path, encoding="utf-8") as file:
            return json.load(file), done

    def test_what_ends_at_a_jump(self):
        """Said where exits are seen at the jump, and what it leads to is not recorded."""
        for told, *options in ((False, "-F", "*"), (False, "-F", "first"),
                               (False, "--exits=sites", "-F", "*"),
                               (True, "--exits=sites", "-F", "first")):
            done = self.run_proftrace("--session", "first", *options, "--", program("tailcall"))
            self.assertEqual("--session first: first can end by a jump to another" in done.stderr, told,
                             str(done))

    def check_jumps(self, *options):
        document, done = self.session_run("--session", "handle", "-F", "*", *options,
                                          command=(program("goes_on"), "600"))
        self.assert_counts(document, done.counts)
        self.assertEqual(document["sessions"][0]["count"], 600)
        self.assertEqual(document["accounting"]["open"], 0)
        within, beside = ("main", "handle(int)"), ("main",)
        for name, calls in (("handle", {beside: 600}), ("pass", {within: 100}),
                            ("refuse", {within: 100}), ("finish", {within: 200}),
                            ("recover", {within: 50, beside: 600}),
                            # it never returns; and where a pointer leads is not known
                            ("deny", {beside: 100}), ("away", {beside: 100})):
            paths = harness.paths_to(document, f"{name}(int)")
            self.assertEqual({path[:-1]: cnt for path, cnt in paths.items()}, calls, name)
        self.assertIn("handle(int) can end by a jump to another function", done.stderr)

    def test_what_goes_on(self):
        """The function to which a session's last jump leads belongs to the session, until it
        returns. An exception ends both; a later call at the same place of the stack is its
        caller's."""
        self.check_jumps()

    def test_what_goes_back(self):
        """A session does not go on in calls that its caller makes after longjmp()."""
        for exits in "auto", "sites":
            document, done = self.session_run("--session", "handle", "-F", "*",
                                              f"--exits={exits}",
                                              command=(program("goes_back"), "300"))
            self.assert_counts(document, done.counts)
            self.assertEqual(document["accounting"]["open"], 0)
            within, beside = ("main", "handle"), ("main",)
            for name, calls in (("handle", {beside: 300}), ("finish", {within: 100}),
                                ("abandon", {within: 100}), ("recover", {beside: 300})):
                paths = harness.paths_to(document, name)
                self.assertEqual({path[:-1]: cnt for path, cnt in paths.items()}, calls, name)

    def test_other_backends(self):
        for tier in "uprobe_multi", "trace_event":
            with self.subTest(tier):
                self.check_jumps(f"--tier={tier}")

    def test_functions_that_jump_to_one_another(self):
        """No call of one lies in a call of the other: they would be ever deeper."""
        for exits in "auto", "sites":
            document, _ = self.session_run("--session", "ping", "--session", "pong", "-F", "*",
                                           f"--exits={exits}", command=(program("tailcall"), "20"))
            for name, calls in ("ping", 20 * 51), ("pong", 20 * 50):
                self.assertEqual(harness.paths_to(document, name),
                                 {("main", "around", name): calls})

    def test_in_a_row(self):
        """A jump to a function that jumps on, to a leaf that its entry closes."""
        for exits in "auto", "sites":
            document, done = self.session_run("--session", "first", "-F", "*",
                                              f"--exits={exits}",
                                              command=(program("tailcall"), "20"))
            self.assert_counts(document, done.counts)
            first = ("main", "around", "first")
            self.assertEqual(harness.paths_to(document, "second"), {first + ("second",): 20})
            self.assertEqual(harness.paths_to(document, "third"),
                             {first + ("third",): 20, ("main", "around", "third"): 20})
            session = document["sessions"][0]["slowest"][0]["calls"][0]
            self.assertEqual(sum(call["self_ns"] for call in session["children"]) +
                             session["self_ns"], session["total_ns"])


if __name__ == "__main__":
    harness.main()
