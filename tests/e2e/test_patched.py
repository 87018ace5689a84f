# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose code is another in memory than in their file when we come: what has been patched
is left alone, and goes on working when we have left. What other profilers have put there is no
obstacle."""

import json

import harness
from harness import program


class Patched(harness.TestCase):
    def plan(self, target, *options):
        done = self.run_proftrace("-l", "-f", "json", *options, "-p", target.pid)
        self.assertEqual(done.status, 0, str(done))
        plan = json.loads(done.stdout)
        return ({f["name"]: f for f in plan["functions"]},
                {f["name"]: f["reason"] for f in plan["skipped"]}, done.stderr)

    def test_plan(self):
        target = self.target("patched")
        functions, skipped, said = self.plan(target, "-F", "*")
        self.assertEqual(functions["nop5"]["site_offset"], 5)
        self.assertGreaterEqual(functions["nops"]["site_offset"], 5)
        for name in "nop5", "nops":
            self.assertEqual(functions[name]["exit"], "sites")
            self.assertIn("patched in memory", functions[name]["reason"])
        self.assertEqual(functions["no_end"]["exit"], "none")
        self.assertEqual(functions["no_end"]["reason"], "its exits are patched in memory")
        self.assertNotIn("patched", functions["untouched"]["reason"])
        self.assertEqual(skipped["short_one"], "patched in memory")
        self.assertIn("5 functions (nop5, ...): patched in memory", said)
        # What any process has patched is left alone in all.
        done = self.run_proftrace("-l", "-F", "short_one", "-F", "nop5", "-x", program("patched"))
        self.assertRegex(done.stdout, r"skipped .* short_one  \(patched in memory\)")

    def test_goes_on(self):
        """While we are there, and when we have left: also where no call has come meanwhile."""
        target = self.target("patched", 2)
        tracer = self.proftrace("-f", "json", "-F", "*", "-p", target.pid).wait_tracing()
        target.go()
        target.stdout.wait_lines("round")
        document = self.document(tracer.interrupt())
        target.go()
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(done.numbers("HOOKED"), {"hook": 9000})
        for name, count in done.counts.items():
            self.assertEqual(self.count(document, name), count // 2, name)

    def test_other_profilers(self):
        """Their breakpoints, and the calls that the kernel makes of 5-byte nops, are not the
        target's: two see the same."""
        target = self.target("redzone-nop5", how="--hold")
        alone, _, said = self.plan(target, "-F", "*")
        tracer = self.proftrace("-F", "*", "--exits=sites", "-p", target.pid).wait_tracing()
        self.assertEqual(self.plan(target, "-F", "*")[0], alone)
        target.go()
        target.stdout.wait_lines("held")
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as maps:
            self.assertIn("[uprobes-trampoline]", maps.read())
        beside, _, said = self.plan(target, "-F", "*")
        self.assertEqual((beside, said), (alone, ""))
        tracer.interrupt()


if __name__ == "__main__":
    harness.main()
