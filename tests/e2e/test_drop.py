# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions given up one after the other, while threads call them at full rate. The calls of the
others are counted, once each, and what was dropped has no breakpoint left."""

import re
import signal
import subprocess

import harness

PLAIN = [f"f_{i:02}" for i in range(50)]
# Left till the end: what is entry and exit at once, what uses one stack slot again, what all call.
KEPT = {"hop", "land", "spin", "spun", "inner", "f_49"}
THREADS = 4
A_FEW = 32


class Probes:
    """Finds the functions of a live program that have breakpoints in them."""

    def __init__(self, target):
        path = target.argv[0]
        self.pid = target.pid
        symbols = subprocess.run(["nm", "-S", path], stdout=subprocess.PIPE, check=True, text=True,
                                 timeout=harness.TIMEOUT).stdout
        self.functions = {name: (int(value, 16), int(size, 16)) for value, size, name in
                          re.findall(r"^(\w+) (\w+) [tT] (\w+)$", symbols, re.M)}
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps:
            self.base = int(maps.readline().split("-")[0], 16)
        with open(path, "rb") as file:
            self.file = file.read()  # its text is where its addresses say

    def of(self, name):
        value, size = self.functions[name]
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(self.base + value)
            return memory.read(size) != self.file[value:value + size]


class Drop(harness.TestCase):
    def run_dropper(self, tier, exits, names, settle=False):
        """Returns how the target and the dropper have ended."""
        target = self.target("busy", THREADS)
        dropper = self.process(harness.DROPPER, str(target.pid), tier, exits, "*")
        self.assertTrue(dropper.stdout.wait_lines("ready"), dropper.stderr.text())
        target.go()
        target.stdout.wait_lines("working")
        probes = Probes(target)
        for count, name in enumerate(names, 1):
            dropper.send(f"drop {name}")
            self.assertEqual(len(dropper.stdout.wait_lines("dropped", count)), count)
            if settle:
                self.assertTrue(harness.poll(lambda n=name: not probes.of(n)), name)
        self.assertTrue(harness.poll(lambda: not any(map(probes.of, names))))
        self.assertTrue(all(map(probes.of, KEPT)))
        target.send("stop")
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))
        report = dropper.finish()
        self.assertEqual(report.status, 0, str(report))
        return done, report

    def check_drops(self, tier, exits, names, **how):
        done, report = self.run_dropper(tier, exits, names, **how)
        calls, account = report.numbers("CALLS"), report.numbers("ACCOUNT")
        kept = {name: count for name, count in done.counts.items() if name not in names}
        self.assertLessEqual(KEPT, kept.keys())
        self.assertEqual({name: calls[name] for name in kept}, kept)
        for name in names:
            self.assertLessEqual(calls[name], done.counts[name])
        self.assertEqual(account["lost"], 0)
        self.assertEqual(account["entered"],
                         account["returned"] + account["unwound"] + account["open"])
        self.assertEqual(account["entered"], sum(calls.values()))
        # Only what is open while links change can miss its return: a few calls a thread, each time.
        self.assertLess(account["unwound"], A_FEW * THREADS * len(names), str(account))

    def test_session(self):
        self.check_drops("session", "return", PLAIN[:40])

    def test_uprobe_multi(self):
        self.check_drops("uprobe_multi", "return", PLAIN[:40])

    def test_exit_sites(self):
        self.check_drops("session", "sites", PLAIN[:20])

    def test_by_and_by(self):
        """Links are closed in between."""
        self.check_drops("session", "return", PLAIN[:8], settle=True)

    def test_killed_while_functions_move(self):
        """Old links and new ones are taken out, whatever was under way."""
        for dropped in range(0, 10, 2):
            target = self.target("busy", THREADS)
            dropper = self.process(harness.DROPPER, str(target.pid), "session", "return", "*")
            self.assertTrue(dropper.stdout.wait_lines("ready"), dropper.stderr.text())
            target.go()
            target.stdout.wait_lines("working")
            for name in PLAIN[:dropped + 5]:
                dropper.send(f"drop {name}")
            dropper.stdout.wait_lines("dropped", dropped)
            dropper.popen.kill()
            self.assertTrue(harness.poll(lambda t=target: not harness.dirty_text(t.pid)))
            self.assertFalse(target.ended())
            target.send("stop")
            self.assertEqual(target.finish().status, 0)


class Stop(harness.TestCase):
    def test_stop_while_returns_are_armed(self):
        """All links are closed at once: to close one the kernel waits while threads that are in a
        function with a return probe go on arming others."""
        for tier in ("session", "uprobe_multi"):
            with self.subTest(tier=tier):
                target = self.target("busy", THREADS)
                tracer = self.proftrace("--tier", tier, "--exits", "return", "-f", "json",
                                        "-p", target.pid).wait_tracing()
                target.go()
                target.stdout.wait_lines("working")
                tracer.signal(signal.SIGINT)
                done = tracer.finish()
                self.assertEqual(done.status, 0, str(done))
                self.assertFalse(target.ended())
