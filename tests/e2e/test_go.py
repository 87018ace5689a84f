# SPDX-License-Identifier: GPL-2.0-or-later
"""Go programs: their stacks move, their calls change threads, panics skip frames. Counts are exact by
the programs' own, and the programs do what they do untraced, whichever functions are probed."""

import collections
import json
import re
import subprocess

import harness
from harness import program

# Arguments for all functions of the program itself, and for those of the runtime too.
CASES = {
    "gostack": ((10, 200), (3, 50)),
    "gomany": ((10000, 10), (500, 5)),
    "gopanic": ((200, 50), (30, 20)),
    "gokinds": ((200,), (50,)),
    "gokinds-stripped": ((200,), (50,)),
    "gokinds-pie": ((200,), (50,)),
    "gokinds-pie-stripped": ((200,), (50,)),
}


def plain(name):
    """A name as the function table has it: instances of a generic function share a name, so do
    wrappers."""
    return re.sub(r"\[.*\]", "[...]", name).removesuffix(".abi0")


class Go(harness.TestCase):
    def check_counts(self, document, done, name, args):
        alone = subprocess.run([program(name), *map(str, args)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, timeout=harness.TIMEOUT, check=True)
        self.assertEqual(done.stdout.removeprefix("ready\n"), alone.stdout.decode())
        self.assertEqual(done.status, 0)
        seen = collections.Counter()
        for function in document["functions"]:
            seen[plain(function["name"])] += function["calls"]
        self.assertTrue(done.counts)
        self.assertEqual({name: seen[name] for name in done.counts}, done.counts)
        self.assertEqual(document["accounting"]["lost"], 0)
        self.assertEqual(document["probes"]["exits"]["return"], 0)

    def check_case(self, mode, name, args, glob):
        document, done = getattr(self, f"profile_{mode}")(name, *args, options=("-F", glob))
        self.check_counts(document, done, name, args)

    def plan(self, name, *options):
        done = self.run_proftrace("-l", "-f", "json", *options, "--", program(name))
        self.assertEqual(done.status, 0, str(done))
        return json.loads(done.stdout)

    def test_stacks_are_whole(self):
        """Up to the goroutine's begin, also from assembly that has the frame pointer for something
        else."""
        document, done = self.profile_pid("gohash", 4, 5000, options=(
            "-F", "main.main", "--sample-rate", "997", "--max-overhead", "200"))
        self.assertEqual(done.status, 0)
        accounting, names = document["accounting"], document["functions"]
        ends = {end: accounting.get("samples_" + end, 0)
                for end in ("whole", "no_rule", "unreadable", "astray", "deep", "unknown")}
        self.assertGreater(ends["whole"], 100, accounting)
        self.assertGreaterEqual(ends["whole"], 0.98 * sum(ends.values()), ends)
        hashing, whole, above = 0, 0, []
        for thread in document["threads"]:
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(plain(names[node["function"]]["name"]))
                if above[-1] == "crypto/sha256.block":
                    hashing += node["samples"]
                    whole += node["samples"] * ("main.worker" in above and "main.sum" in above)
        self.assertGreater(hashing, 100)
        self.assertGreaterEqual(whole, 0.98 * hashing)

    def paths(self, document):
        """(thread, nodes from the outermost one on, their names) of each path that samples met."""
        names = [plain(function["name"]) for function in document["functions"]]
        for thread in document["threads"]:
            above = []
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(node)
                if node["samples"]:
                    yield thread, list(above), [names[one["function"]] for one in above]

    def test_samples_hang_on_the_calls_of_goroutines(self):
        """Also those of the vdso and of the runtime, on stacks of the threads; and calls stand where
        samples outside of calls do, below the goroutine's begin."""
        document, done = self.profile_pid("goasks", 4, 5000, options=(
            "-F", "main.clock", "-F", "main.grow", "--sample-rate", "997", "--max-overhead", "none"))
        self.check_counts(document, done, "goasks", (4, 5000))
        begin = ["runtime.goexit", "main.main.func1", "main.worker"]
        where = (("main.clock", ("time.Now",)), (None, ("main.spin",)),
                 ("main.grow", ("runtime.makeslice", "runtime.mallocgc")),
                 ("main.grow", ("runtime.(*mcache).allocLarge", "runtime.systemstack")))
        met = collections.Counter()
        for thread, nodes, names in self.paths(document):
            counted = [name for node, name in zip(nodes, names) if node["calls"]]
            for call, inside in where:
                if set(inside) <= set(names):
                    as_it_is = "goroutine" in thread and names[:3] == begin and (
                        counted == [call] if call else not counted)
                    met[inside, as_it_is] += nodes[-1]["samples"]
        for _, inside in where:
            self.assertGreater(met[inside, True], 20, met)
            self.assertGreaterEqual(met[inside, True], 0.97 * (met[inside, True] +
                                                               met[inside, False]), met)
        cpu = sum(node["cpu_self_ns"] for node, _, _ in harness.nodes_of(document))
        self.assertAlmostEqual(cpu / document["accounting"]["cpu_ns"], 1, delta=0.001)

    def test_the_scheduler_s_samples_are_its_threads(self):
        """Not the goroutines' that have called it, whose stack rbp still leads to."""
        document, done = self.profile_pid("gomany", 5000, 200, options=(
            "-F", "main.main", "--sample-rate", "997", "--max-overhead", "200"))
        self.assertEqual(done.status, 0)
        scheduling, its_own, working, whole = 0, 0, 0, 0
        for thread, nodes, names in self.paths(document):
            samples = nodes[-1]["samples"]
            if "runtime.schedule" in names:
                scheduling += samples
                its_own += samples * ("goroutine" not in thread and "runtime.goexit" not in names)
            if "main.work" in names:
                working += samples
                whole += samples * ("goroutine" in thread and names[0] == "runtime.goexit")
        self.assertGreater(scheduling, 50)
        self.assertGreaterEqual(its_own, 0.97 * scheduling)
        self.assertGreater(working, 50)
        self.assertGreaterEqual(whole, 0.97 * working)

    def test_stripped_programs_have_the_same_functions(self):
        for stripped, whole in (("gokinds-stripped", "gokinds"),
                                ("gokinds-pie-stripped", "gokinds-pie")):
            sites = [sorted((plain(f["symbol"]), f["site_offset"], f["site"], f["exit_sites"])
                            for f in self.plan(name, "-F", "*")["functions"])
                     for name in (stripped, whole)]
            self.assertEqual(*sites)
            self.assertGreater(len(sites[0]), 1000)

    def test_calls_count_behind_the_stack_check(self):
        """Whatever calls morestack begins with a check, the probe is on its branch."""
        disassembly = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program("gostack")],
                                     stdout=subprocess.PIPE, check=True, text=True).stdout
        checked = {block.split(">:")[0].split(" <", 1)[1]: block
                   for block in disassembly.split("\n\n")
                   if re.search(r"call .*<runtime\.morestack", block) and ">:" in block}
        document = self.plan("gostack", "-F", "*")
        probed = {f["symbol"]: f for f in document["functions"]}
        for name, block in checked.items():
            if name not in probed:
                self.assertIn(name, [skipped["name"] for skipped in document["skipped"]])
                continue
            start = int(block.split(" ", 1)[0], 16)
            branch = re.search(r"^ +([0-9a-f]+):\s+jbe\b", block, re.M)
            self.assertEqual(probed[name]["site"], "jcc", name)
            self.assertEqual(probed[name]["site_offset"], int(branch[1], 16) - start, name)
        self.assertGreater(len(checked), 1000)

    def test_leaves_are_seen(self):
        """Only what never returns has no exits, and leaves that are closed at their entry."""
        exits = collections.Counter(f["exit"] for f in self.plan("gomany", "-F", "*")["functions"]
                                    if not f["closed_at_entry"])
        self.assertEqual(exits["return"], 0)
        self.assertLess(exits["none"], 0.05 * sum(exits.values()))

    def test_the_runtime_s_own_ways(self):
        document = self.plan("gokinds", "-F", "*")
        skipped = {f["name"].removesuffix(".abi0"): f["reason"] for f in document["skipped"]}
        probed = {f["name"].removesuffix(".abi0") for f in document["functions"]}
        for name in ("_rt0_amd64", "runtime.rt0_go", "runtime.gogo", "runtime.mcall",
                     "runtime.systemstack", "runtime.morestack", "runtime.goexit",
                     "runtime.sigtramp", "runtime.asyncPreempt", "runtime.duffzero"):
            self.assertIn(name, skipped)
            self.assertNotIn(name, probed)
        for name in ("runtime.newstack", "runtime.gopanic", "runtime.mallocgc", "fmt.Fprintln"):
            self.assertIn(name, probed)

    def test_filters_take_go_s_names(self):
        for pattern, count in (("main.(*counter).add", 1), ("main.*.add", 1), ("main.sum[*", 3),
                               ("main.cold", 1), ("main.sum[go.shape.int_0]", 1),
                               ("type..eq.fmt.fmt", 1)):
            names = [f["name"] for f in self.plan("gokinds", "-F", pattern)["functions"]]
            self.assertEqual(len(names), count, (pattern, names))

    def test_names_in_outputs(self):
        for form, text in (("tree", "main.(*counter).add"), ("flat", "main.(*counter).add"),
                           ("folded", ";main.(*counter).add ")):
            out = self.path(form)
            done = self.run_proftrace("-f", form, "-w", "calls", "-o", out, "-F", "main.*", "--",
                                      program("gokinds"))
            self.assertEqual(done.status, 0, str(done))
            with open(out, encoding="utf-8") as file:
                self.assertIn(text, file.read())


def add_case(mode, name, args, label, glob):
    def test(self):
        self.check_case(mode, name, args, glob)
    setattr(Go, f"test_{mode}_{name.replace('-', '_')}_{label}", test)


for case, (own, everything) in CASES.items():
    for how in ("pid", "exec", "command"):
        add_case(how, case, own, "own", "main.*")
    add_case("command", case, everything, "everything", "*")
    add_case("pid", case, everything, "everything", "*")


if __name__ == "__main__":
    harness.main()
