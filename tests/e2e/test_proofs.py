# SPDX-License-Identifier: GPL-2.0-or-later
"""Return probes among exceptions: what is proven keeps them, and nobody gets hurt."""

import json
import os
import subprocess

import harness
from harness import program

PROVEN = {
    "quiet(long)": "calls only",
    "walk(long)": "calls only",
    "text(char const*)": "calls only",
    "swallows(long)": "noexcept",
    "stops(long)": "noexcept",
}
CLOSED = "a leaf without loops: returns at once, so its entry ends the call"
UNPROVEN = {"throws(long)", "passes(long)", "ends(long)", "main"}


class Proofs(harness.TestCase):
    def exits(self, *options, **popen):
        """{name: (exit, reason)}"""
        done = self.run_proftrace("-l", "-f", "json", *options, "--", program("proofs"), **popen)
        self.assertEqual(done.status, 0, str(done))
        return {f["name"]: (f["exit"], f["reason"]) for f in json.loads(done.stdout)["functions"]}

    def test_what_is_proven(self):
        exits = self.exits()
        for name, reason in PROVEN.items():
            self.assertEqual(exits[name][0], "return", name)
            self.assertIn(reason, exits[name][1], name)
        for name in UNPROVEN:
            self.assertEqual(exits[name][0], "sites", name)
        self.assertEqual(exits["leaf(long)"], ("none", CLOSED))

    def test_share_of_libstdcxx(self):
        """Not one of them by chance: leaves are less than a fifth, proofs make it a third. Most
        leaves need none. The library is a copy, as a run beside this one may have return probes in
        the system's, which one run alone may have."""
        self.copy(self.library("libstdc++.so.6"), "libstdc++.so.6")
        exits = self.exits("-F", "libstdc++.so.6:*",
                           env=dict(os.environ, LD_LIBRARY_PATH=self.directory))
        exits = [choice for name, choice in exits.items() if not name.startswith("func_0x")]
        proven = sum(exit == "return" or reason == CLOSED for exit, reason in exits)
        self.assertGreater(proven, len(exits) / 3)
        self.assertIn("noexcept: exceptions end in it", {reason for _, reason in exits})

    def test_exceptions_fly_through_the_others(self):
        """Each is thrown through frames with probes of both kinds, above and below."""
        document, done = self.profile_command("proofs", "3000")
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        probes = document["probes"]["exits"]
        self.assertEqual(probes["return"], len(PROVEN))
        # throws() and passes(), under ends() and under swallows(); what handlers return is seen
        self.assertEqual(document["accounting"]["unwound"], 2 * 2 * 1000)
        self.assertEqual(document["accounting"]["open"], 0)

    def test_the_runtime_too(self):
        document, done = self.profile_command("proofs", "50", options=(
            "-F", "*", "-F", "libstdc++.so.6:*", "-F", "libgcc_s.so.1:*", "-F", "libc.so.6:*"))
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)

    def test_attached_while_they_fly(self):
        document, done = self.profile_pid("proofs", "3000")
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)

    def check_same(self, *argv, options=()):
        """Status, output and messages are those of an untraced run."""
        alone = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, timeout=harness.TIMEOUT, check=False)
        status = alone.returncode if alone.returncode >= 0 else 128 - alone.returncode
        done = self.run_proftrace("-q", "-f", "json", "-o", self.path("out"), *options, "--", *argv)
        self.assertEqual((done.status, done.stdout, done.stderr),
                         (status, alone.stdout.decode(), alone.stderr.decode()), str(done))
        return alone

    def test_exception_that_ends_the_program(self):
        for options in (), ("-F", "*", "-F", "libstdc++.so.6:*"):
            alone = self.check_same(program("proofs"), "end", options=options)
            self.assertIn(b"what():  three", alone.stderr)
            self.assertEqual(alone.returncode, -6)

    def test_exiv2_throws(self):
        """All functions of all that it loads, on a file that is no image."""
        with open(self.path("bad.jpg"), "w", encoding="utf-8") as file:
            file.write("not an image")
        alone = self.check_same("/usr/bin/exiv2", self.path("bad.jpg"), options=("-F", "*:*"))
        self.assertIn(b"xception", alone.stderr)

    def test_qpdf_throws(self):
        with open(self.path("bad.pdf"), "w", encoding="utf-8") as file:
            file.write("%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\ngarbage")
        alone = self.check_same("/usr/bin/qpdf", "--check", self.path("bad.pdf"),
                                options=("-F", "*:*"))
        self.assertEqual(alone.returncode, 2)


if __name__ == "__main__":
    harness.main()
