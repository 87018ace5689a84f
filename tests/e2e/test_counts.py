# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact counts: programs that count their own calls, under each way to choose a target. Their
output and exit status are those of an untraced run."""

import signal
import subprocess

import harness
from harness import program

CASES = [
    ("recursion", 10, 3), ("recursion", 63, 2), ("recursion", 64, 2), ("recursion", 65, 2),
    ("recursion", 200, 5),
    ("threads", 20, 100, 5), ("threads", 1000, 1000),
    ("tailcall",), ("longjmp", 3, 20), ("longjmp", 100, 5), ("longjmp", 10, 5, "signal"),
    ("calc-pie",), ("calc-nopie",), ("calc-static",), ("calc-static-pie",), ("calc-dynsym",),
    ("calc-debuglink",), ("shapes-linked",), ("shapes-dlopen",),
    ("names",), ("throws", 1, 20), ("throws", 10, 10), ("throws", 100, 5), ("coroutine", 1000),
    ("exits", "return"), ("exits", "exit"), ("exits", "_exit"), ("exits", "signal"),
    ("exits", "abort"), ("exits", "pthread_exit"), ("exits", "cancel"),
    ("forks", 3, 10), ("signals", 20), ("signals", 20, "altstack"), ("cold", 100),
    ("aliases", 50), ("entries", 100),
]

# Functions that are in the program, not in its main object.
ELSEWHERE = {"shapes-linked": "shape_", "shapes-dlopen": "shape_"}
# A first instruction that runs more than once a call, with none better behind it, may be left out.
MAY_BE_SKIPPED = {"entry_loop", "entry_segment"}


class Counts(harness.TestCase):
    untraced_runs = {}

    def untraced(self, name, args):
        key = (name, *args)
        if key not in self.untraced_runs:
            self.untraced_runs[key] = subprocess.run(
                [program(name), *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                timeout=harness.TIMEOUT, check=False)
        return self.untraced_runs[key]

    def check_case(self, mode, name, args):
        document, done = getattr(self, f"profile_{mode}")(name, *args)
        untraced = self.untraced(name, args)
        stdout = done.stdout.removeprefix("ready\n")
        self.assertEqual(stdout, untraced.stdout.decode(), "another output than untraced")
        status = untraced.returncode
        self.assertEqual(done.status, 128 - status if mode == "command" and status < 0 else status)

        counts = {function: count for function, count in done.counts.items()
                  if not function.startswith(ELSEWHERE.get(name, "\0"))}
        # With return probes, which -x does without, forked children are traced from Linux 6.13 on.
        if name == "forks" and (mode == "exec" or harness.working("session")):
            counts["work"] += done.numbers("CHILDREN")["work"]
        for skipped in document["probes"]["skipped"]:
            if skipped["name"] in MAY_BE_SKIPPED:
                counts.pop(skipped["name"])
        self.assert_counts(document, counts, done)
        if name == "exits" and args[0] in ("exit", "_exit", "signal", "abort"):
            accounting = document["accounting"]
            self.assertGreaterEqual(accounting["unwound"] + accounting["open"], 3)
        if name == "longjmp":
            self.assertGreaterEqual(document["accounting"]["unwound"], args[0] * args[1])
        if name == "threads":
            self.check_threads(document, *args)

    def check_threads(self, document, threads, calls, early=0):
        """Each thread has its own chain, whole."""
        chains = []
        for thread in document["threads"]:
            for node, parent, depth in harness.walk(thread["calls"]):
                if document["functions"][node["function"]]["name"] == "a":
                    chains.append([node["calls"]])
                elif chains and document["functions"][node["function"]]["name"] in "bcd":
                    chains[-1].append(node["calls"])
        self.assertEqual(chains, [[calls] * 4] * threads)


def add_case(mode, name, args):
    def test(self):
        self.check_case(mode, name, args)
    label = "_".join([mode, name.replace("-", "_"), *map(str, args)])
    setattr(Counts, f"test_{label}", test)


for case in CASES:
    for how in ("pid", "exec", "command"):
        # A return takes 10 us there, as each is single-stepped.
        shorter = how == "exec" and case == ("threads", 1000, 1000)
        add_case(how, case[0], (1000, 100) if shorter else case[1:])


class Special(harness.TestCase):
    def test_recursion_10000_deep(self):
        """Deeper than any table: each call is counted, or counted as lost."""
        document, done = self.profile_pid("recursion", 10000, 2)
        counted = sum(self.count(document, name) for name in done.counts)
        self.assertEqual(counted + document["accounting"]["lost"], sum(done.counts.values()))
        self.assertEqual(done.status, 0)

    def test_exec_of_itself(self):
        document, done = self.profile_pid("exec", 10, 4)
        self.assert_counts(document, done.counts, done)

    def test_exec_of_another_program(self):
        document, done = self.profile_pid("exec", 10, "--", program("calc-pie"), 5)
        self.assertEqual(done.counts.pop("step"), 10)
        self.assertEqual(self.count(document, "step"), 10)
        self.assertEqual(self.count(document, "leave"), 1)
        self.assertIn("COUNT square 5", done.stdout)

    def test_stripped_of_everything(self):
        """Functions have the names of their addresses."""
        document, done = self.profile_pid("calc-stripped", 1000)
        counts = sorted(f["calls"] for f in document["functions"] if f["calls"] > 1)
        self.assertTrue(all(f["name"].startswith("func_0x") for f in document["functions"]
                            if f["calls"]))
        self.assertEqual(counts, sorted(n for n in done.counts.values() if n > 1))

    def test_mangled_names_do_not_show(self):
        document, _ = self.profile_command("names")
        for function in document["functions"]:
            self.assertFalse(function["name"].startswith("_Z"), function)
        self.assertEqual(self.function(document, "shapes::area(int)")["symbol"],
                         "_ZN6shapes4areaEi")

    def test_aliases_are_one_function(self):
        document, _ = self.profile_command("aliases")
        names = {function["symbol"] for function in document["functions"]}
        self.assertEqual(len(names & {"original", "twin"}), 1, names)

    def test_cold_pieces_are_no_functions(self):
        document, _ = self.profile_command("cold")
        self.assertFalse([f for f in document["functions"] if ".cold" in f["symbol"]])

    def test_time_is_bounded_by_the_callers_clock(self):
        """The function's own clock reads less than the profile, its caller's more."""
        document, done = self.profile_pid("timing", 20, 5)
        self.assert_counts(document, done.counts)
        for name, inside in done.numbers("INSIDE").items():
            total = self.function(document, name)["total_ns"]
            # The probes' cost may have been taken out: a little below is all right.
            self.assertGreaterEqual(total, inside * 0.99, name)
            self.assertLessEqual(total, done.numbers("OUTSIDE")[name], name)
        both = self.function(document, "both")
        self.assertGreaterEqual(both["min_ns"], 39_000_000)
        self.assertGreaterEqual(both["max_ns"], both["min_ns"])
        self.assertLess(both["self_ns"], both["total_ns"] * 0.1)

    def test_recursive_time_counts_once(self):
        document, _ = self.profile_pid("recursion", 50, 5)
        direct = self.function(document, "direct")
        outermost = sum(node["total_ns"] for node, parent, _ in harness.nodes_of(document)
                        if node["function"] == direct["id"] and
                        (not parent or parent["function"] != direct["id"]))
        self.assertEqual(direct["total_ns"], outermost)

    def test_open_frames_are_counted_with_their_time(self):
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        target.step("hold")
        document = self.document(tracer.interrupt())
        target.step("")
        self.assertEqual(self.calls(document) | {"outer": 4, "inner": 4}, self.calls(document))
        self.assertGreaterEqual(document["accounting"]["open"], 2)
        self.assertGreater(self.function(document, "inner")["total_ns"], 0)
        self.assertEqual(target.finish().counts, {"outer": 4, "inner": 4})

    def test_frames_left_after_an_attach_in_their_middle(self):
        """A function that was entered before us leaves without harm, and was not counted."""
        target = self.target("steps")
        target.go()
        target.step("hold")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.step("")
        target.step("5")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.count(document, "inner"), 5)
        self.assertEqual(target.finish().counts, {"outer": 6, "inner": 6})

    def test_target_killed_in_a_frame(self):
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        target.step("hold")
        target.signal(signal.SIGKILL)
        document = self.document(tracer.finish())
        self.assertEqual(self.count(document, "inner"), 1)


if __name__ == "__main__":
    harness.main()
