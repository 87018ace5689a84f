# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose entries were compiled to be patched: what is found, where the probes are, and that
every call is counted and nothing below the stack pointer is touched."""

import json
import os

import harness
from harness import program

NAMES = "leaf", "red_zone", "pushes", "recursive", "outer"

# By build: how it is called, and the classes of the sites of all that is in NAMES. Of a plain build,
# and behind what cannot be probed or is dear, it depends on the rest of the function.
ANY = {"nop", "push", "jmp", "jcc", "call", "step"}
BUILDS = {
    "plain": (None, ANY),
    "patchable5": ("patchable", {"nop"}),
    "patchable5-endbr": ("patchable", {"nop"}),
    "patchable7-2": ("patchable", {"nop"}),
    "nop-mcount": ("fentry", {"nop5"}),
    "nop-mcount-endbr": ("fentry", {"nop5"}),
    "fentry": ("fentry", ANY),
    "fentry-noted": ("fentry", {"call"}),
    "clang-patchable5": ("patchable", {"nop5"}),
    "clang-patchable5-endbr": ("patchable", {"nop5"}),
    "clang-patchable9": ("patchable", {"push", "step"}),
    "clang-patchable16-5": ("patchable", {"nop"}),
    "clang-fentry": ("fentry", {"call"}),
    "clang-xray": ("xray", {"push", "step"}),
    "clang-xray-endbr": ("xray", {"push", "step"}),
}
FILTER = [word for name in NAMES for word in ("-F", name)]


class Instrumented(harness.TestCase):
    def listed(self, build, *options):
        done = self.run_proftrace("-l", *FILTER, *options, "-x",
                                  program(f"instrumented-{build}"))
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))
        return done.stdout

    def test_is_found_and_used(self):
        for build, (by, classes) in BUILDS.items():
            with self.subTest(build):
                plan = json.loads(self.listed(build, "-f", "json"))
                functions = {f["name"]: f for f in plan["functions"]}
                self.assertEqual(set(functions), set(NAMES))
                self.assertEqual({f["instrumented"] for f in functions.values()}, {by})
                self.assertLessEqual({f["site"] for f in functions.values()}, classes)
                for line in self.listed(build).splitlines()[1:]:
                    self.assertEqual(line.endswith(f"  {by}"), by is not None, line)

    def check_build(self, build, *options):
        path = program(f"instrumented-{build}")
        bare = self.process(path, cwd=self.path(".")).finish()
        document, done = self.profile_command(f"instrumented-{build}", cwd=self.path("."),
                                              options=(*FILTER, *options))
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        self.assertEqual(done.stdout, bare.stdout)
        probes = document["probes"]
        self.assertEqual(probes["instrumented"], len(NAMES) if BUILDS[build][0] else 0)
        self.assertLessEqual({name for name, count in probes["sites"].items() if count},
                             BUILDS[build][1])

    def test_counts(self):
        for build in BUILDS:
            with self.subTest(build):
                self.check_build(build)
                self.check_build(build, "--exits=sites")

    def test_verbose(self):
        done = self.run_proftrace("-v", *FILTER, "--",
                                  program("instrumented-clang-patchable5"))
        self.assertEqual(done.status, 0, str(done))
        self.assertIn(f"{len(NAMES)} of {len(NAMES)} functions have been compiled with room for "
                      "instrumentation", done.stderr)

    def test_xray_in_use(self):
        """The program has replaced its sleds before we come, and goes on when we have left."""
        env = dict(os.environ, XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic "
                   f"xray_logfile_base={self.path('log')}")
        for build in "clang-xray", "clang-xray-endbr":
            with self.subTest(build):
                target = self.target(f"instrumented-{build}", env=env, cwd=self.path("."))
                tracer = self.proftrace("-f", "json", *FILTER, "-p", target.pid)
                tracer.wait_tracing()
                target.go()
                done = target.finish()
                self.assertEqual(done.status, 0, str(done))
                document = self.document(tracer.finish())
                self.assert_counts(document, done.counts, done)

    def test_xray_goes_on_without_us(self):
        """We come and leave before it runs: no half of an instruction is left behind."""
        env = dict(os.environ, XRAY_OPTIONS="patch_premain=true xray_mode=xray-basic "
                   f"xray_logfile_base={self.path('log')}")
        target = self.target("instrumented-clang-xray", env=env, cwd=self.path("."))
        tracer = self.proftrace(*FILTER, "-p", target.pid)
        tracer.wait_tracing()
        self.assertEqual(tracer.interrupt().status, 0)
        target.go()
        done = target.finish()
        self.assertEqual(done.status, 0, str(done))


if __name__ == "__main__":
    harness.main()
