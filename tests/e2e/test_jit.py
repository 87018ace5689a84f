# SPDX-License-Identifier: GPL-2.0-or-later
"""Code that JIT compilers make: stacks go through it, and it has the names of the list that the
compiler keeps, /tmp/perf-PID.map."""

import os
import re

import harness
from harness import program

NODE = "/usr/bin/node"
# Two seconds of CPU time below functions with known names.
SCRIPT = """
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s += Math.sqrt(i) % 7; return s; }
function outer(n) { let s = 0; for (let i = 0; i < 50; i++) s += inner(n + i); return s; }
function turn() {
    outer(20000);
    if (process.cpuUsage().user < 2e6) setImmediate(turn);
}
console.log("ready");
process.stdin.once("data", () => { process.stdin.destroy(); turn(); });
"""


class Jit(harness.TestCase):
    def test_callers(self):
        document, done = self.profile_pid("jit", 20, options=("--callers", "-F", "called"))
        truth = {}
        for line in done.stdout.splitlines():
            if line.startswith("PATH "):
                path, calls = line[len("PATH "):].rsplit(" ", 1)
                truth[tuple(path.split(">"))] = int(calls)
        found = {path[path.index("main"):]: calls
                 for path, calls in harness.paths_to(document, "called").items()}
        self.assertEqual(found, truth, document["accounting"])
        self.assertEqual(document["accounting"]["callers_whole"], 60)
        modules = {f["name"]: f["module"] for f in document["functions"]}
        self.assertEqual(modules["made_early"], "[JIT]")
        self.assertEqual(modules["called"], program("jit"))

    def test_node(self):
        """Samples below what V8 has compiled."""
        target = self.process(NODE, "--perf-basic-prof", "-e", SCRIPT,
                              cwd=self.directory)
        self.addCleanup(lambda: os.unlink(f"/tmp/perf-{target.pid}.map"))
        target.wait_ready()
        tracer = self.proftrace("-f", "json", "-F", "main", "--max-overhead", "5", "-p",
                                target.pid).wait_tracing()
        target.go()
        document = self.document(tracer.finish())
        accounting = document["accounting"]
        self.assertGreater(accounting["samples_whole"], 0.9 * accounting["samples_taken"],
                           accounting)
        names = [f["name"] for f in document["functions"]]
        below = sum(node["cpu_self_ns"] for node, _, _ in harness.nodes_of(document)
                    if re.search("^JS:.*(inner|outer)", names[node["function"]]))
        self.assertGreater(below, accounting["cpu_ns"] / 2, names)


if __name__ == "__main__":
    harness.main()
