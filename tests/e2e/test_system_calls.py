# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls in the tree (--syscalls), beside what the program and strace have counted."""

import json
import os
import re
import signal
import subprocess
import unittest

import harness
from harness import program

ROUNDS = 5
MANY = 1300  # files, of which not all find room
# System calls with the same number of calls in each run, and with none in a run without rounds.
KNOWN = ("getppid", "rmdir", "preadv", "vfork", "wait4", "clone", "clone3")


def system_calls(document):
    """{name without brackets: function} of the document."""
    return {f["name"][1:-1]: f for f in document["functions"] if f["module"] == "[kernel]"}


def expected(stdout):
    """({name: calls}, {(name, error): calls}) as the program has it."""
    words = [line.split() for line in stdout.splitlines()]
    return ({w[1]: int(w[2]) for w in words if w[0] == "CALL"},
            {(w[1], w[2]): int(w[3]) for w in words if w[0] == "ERROR"})


class SystemCalls(harness.TestCase):
    def check_counts(self, document, stdout):
        calls, errors = expected(stdout)
        found = system_calls(document)
        # The last one ends the program, behind its words.
        calls["exit_group"] += 1
        # A call that a signal has interrupted counts as another call when it begins anew.
        told = found["readv"]["errors"]
        self.assertEqual(found["readv"]["calls"] - calls.pop("readv"),
                         told["ERESTARTSYS"] - errors.pop(("readv", "EINTR")))
        self.assertEqual({name: found[name]["calls"] for name in calls}, calls)
        self.assertEqual({(name, error): found[name]["errors"][error] for name, error in errors},
                         errors)

    def test_command(self):
        document, done = self.profile_command("system_calls", ROUNDS,
                                              options=("--syscalls", "-F", "*"))
        self.check_counts(document, done.stdout)
        # Below the functions that make them, in the thread that makes them.
        names = {}
        for thread in document["threads"]:
            above = []
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(document["functions"][node["function"]]["name"])
                if len(above) > 1 and above[-1].startswith("["):
                    key = (above[-2], above[-1])
                    names[key] = names.get(key, 0) + node["calls"]
        self.assertEqual(names[("fail", "[rmdir]")], ROUNDS * 50)
        self.assertEqual(names[("[rmdir]", "[ENOENT]")], ROUNDS * 50)
        # Other backends take the probes of functions that make such calls out of children.
        by_child = 50 if harness.working("session") else 0
        self.assertEqual(names[("ask", "[getppid]")], ROUNDS * (50 + 3 * 50 + by_child))
        self.assertEqual(names[("make_children", "[vfork]")], ROUNDS)

    def test_process(self):
        document, done = self.profile_pid("system_calls", ROUNDS,
                                          options=("--syscalls", "-F", "*"))
        self.check_counts(document, done.stdout)

    def test_while_costs_are_measured(self):
        """The first run since the boot measures what its probes cost, with a child of its own. The
        target's system calls that are seen meanwhile are forgotten, and so are the call stacks of
        its threads: what comes next begins on new ones."""
        target = self.target("asking")
        tracer = self.process("unshare", "--mount", "sh", "-c",
                              'mount -t tmpfs tmpfs /run && exec "$@"', "sh", harness.PROFTRACE,
                              "--syscalls", "-F", "wait_for_more", "-f", "json", "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer.stderr.text())
        target.go()
        self.assertTrue(target.stdout.wait_lines("done"))
        tracer.signal(signal.SIGINT)
        document = self.document(tracer.finish())
        asked = [n["calls"] for thread in document["threads"]
                 for n, _, _ in harness.walk(thread["calls"])
                 if document["functions"][n["function"]]["name"] == "[getppid]"]
        self.assertEqual(len(asked), 2)
        self.assertGreater(min(asked), 990)

    def test_strace_agrees(self):
        def by_strace(rounds):
            path = self.path(f"strace-{rounds}")
            subprocess.run(("strace", "-f", "-c", "-o", path, program("system_calls"),
                            str(rounds)), check=True, stdout=subprocess.DEVNULL)
            rows = [line.split() for line in open(path, encoding="utf-8")]
            return {row[-1]: (int(row[3]), int(row[4]) if len(row) == 6 else 0)
                    for row in rows if len(row) in (5, 6) and row[3].isdigit()}

        document, _ = self.profile_command("system_calls", ROUNDS,
                                           options=("--syscalls", "-F", "work"))
        ours = {name: (f["calls"], sum(f.get("errors", {}).values()))
                for name, f in system_calls(document).items()}
        without, with_rounds = by_strace(0), by_strace(ROUNDS)
        for name in KNOWN:
            self.assertNotIn(name, without)
            self.assertEqual(ours[name], with_rounds[name], name)

    def test_waits(self):
        """With samples the reasons for waiting are below the calls that wait."""
        document, _ = self.profile_command(
            "system_calls", ROUNDS, options=("--syscalls", "--sample-rate", "97", "-F", "*"))
        functions = document["functions"]
        reasons = set()
        for thread in document["threads"]:
            above = []
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(functions[node["function"]]["name"])
                if above[-1] in ("[pipe]", "[child]") and len(above) > 1:
                    reasons.add((above[-2], above[-1]))
        self.assertIn(("[readv]", "[pipe]"), reasons)
        self.assertIn(("[wait4]", "[child]"), reasons)

    def test_single_calls(self):
        path = self.path("calls.data")
        done = self.process(harness.PROFTRACE, "record", "--calls", "--syscalls", "-F", "*", "-o",
                            path, "--", program("system_calls"), "1",
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, done)
        shown = self.process(harness.PROFTRACE, "report", "-f", "csv", path,
                             stdin=subprocess.DEVNULL).finish()
        self.assertEqual(shown.status, 0, shown)
        cut = self.process(harness.PROFTRACE, "report", "-f", "json", "--range", "0..", path,
                           stdin=subprocess.DEVNULL).finish()
        document = self.document(cut)
        # From its single calls alone.
        self.assertEqual(system_calls(document)["rmdir"]["calls"], 50)
        self.assertEqual(system_calls(document)["rmdir"]["errors"], {"ENOENT": 50})

    def check_files(self, *options):
        folder = self.path('q"')  # names are keys of the document, whoever has chosen them
        os.makedirs(f"{folder}/deep/er")
        document, done = self.profile_command("files", folder, ROUNDS,
                                              options=("--syscalls", *options, "-F", "*"))
        found = system_calls(document)
        for line in done.stdout.splitlines():
            if line.startswith("FILE "):
                _, call, times, name = line.split(maxsplit=3)
                own = name == "pipe"  # these words
                self.assertEqual(found[call]["files"].get(name), int(times) + own, line)
        self.assertEqual(sum("FILE write" in line for line in done.stdout.splitlines()), 7)

    def test_files(self):
        """Files and peers of descriptors, below the calls that are about them."""
        self.check_files()

    def test_files_with_samples(self):
        self.check_files("--sample-rate", "97")

    def test_more_files_than_names(self):
        """There is room for 1024 names of files; calls on further files are counted as without a
        name."""
        os.makedirs(self.path("deep/er"))
        result = self.path("result.json")
        done = self.process(harness.PROFTRACE, "--syscalls", "-F", "*", "-o", result, "--",
                            program("files"), self.directory, 1, MANY).finish()
        self.assertEqual(done.status, 0, done)
        with open(result, encoding="utf-8") as file:
            found = system_calls(self.check(json.load(file)))["openat"]
        named = sum(found["files"].values())
        self.assertGreater(named, 700)
        self.assertLess(named, found["calls"])
        told, = re.findall(r"files: ([0-9]+) looks found no room", done.stderr)
        self.assertEqual(int(told), found["calls"] - named)

    def test_not_asked_for(self):
        document, _ = self.profile_command("system_calls", 1, options=("-F", "*"))
        self.assertEqual(system_calls(document), {})


if __name__ == "__main__":
    unittest.main()
