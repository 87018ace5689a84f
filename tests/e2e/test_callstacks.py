# SPDX-License-Identifier: GPL-2.0-or-later
"""Several stacks on a thread: frames never cross them. Counts are the program's own, what returns is
seen to return, and every call has its caller."""

import itertools

import harness

# tests/programs/stacks.c: where the stacks are, and how many threads run on them.
STACKS = itertools.product(("bss", "heap", "adjacent", "local", "nested", "reused", "asm"), (1, 2, 3))
TRACED = ("live", "outer", "inner", "leaf", "run", "make_on", "pause_for_good")
CALLER = {"live": {None}, "outer": {"live"}, "inner": {"outer"}, "leaf": {"inner"},
          "run": {None, "make_on"}, "make_on": {None}, "pause_for_good": {None}}


class Callstacks(harness.TestCase):
    def run_traced(self, name, *args, only=()):
        """Exits by sites: a return probe may be off while the plan catches up with a start."""
        options = ["--exits=sites"]
        options += itertools.chain.from_iterable(("-F", function) for function in only)
        document, done = self.profile_pid(name, *args, options=options)
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        return document

    def callers(self, document):
        """{name: names of those that called it}"""
        names, found = [f["name"] for f in document["functions"]], {}
        for node, parent, _ in harness.calls_of(document):
            caller = names[parent["function"]] if parent else None
            found.setdefault(names[node["function"]], set()).add(caller)
        return found

    def assert_callers(self, document, expected):
        for name, callers in self.callers(document).items():
            self.assertLessEqual(callers, expected[name], f"callers of {name}")

    def assert_no_paths_twice(self, document):
        """A thread is there once, its call stacks joined, and calls a function on one path."""
        threads = [(t["pid"], t["tid"]) for t in document["threads"]]
        self.assertEqual(len(threads), len(set(threads)))
        for thread in document["threads"]:
            for nodes in [thread["calls"]] + [n["children"] for n, _, _ in
                                              harness.walk(thread["calls"])]:
                functions = [node["function"] for node in nodes]
                self.assertEqual(len(functions), len(set(functions)))

    def check_stacks(self, kind, threads):
        document = self.run_traced("stacks", kind, 5, 20, threads, only=TRACED)
        accounting = document["accounting"]
        self.assertEqual(accounting["unwound"], 5 if kind == "reused" else 0, accounting)
        self.assertEqual(accounting["open"], 0, accounting)
        self.assert_callers(document, CALLER)
        self.assert_no_paths_twice(document)
        # No call takes longer than all: nothing is open across stacks.
        for function in document["functions"]:
            self.assertLessEqual(function["max_ns"], document["duration_ns"], function)

    def test_fibers_of_a_library(self):
        document = self.run_traced("fibers", 10, 20, only=("outer", "inner", "leaf"))
        self.assertEqual(document["accounting"]["unwound"], 0)
        self.assert_callers(document, {"outer": {None}, "inner": {"outer"}, "leaf": {"inner"}})

    def test_generators(self):
        document = self.run_traced("generators", 50)
        self.assertEqual(document["accounting"]["open"], 0)

    def test_signal_stack_below(self):
        self.check_signal_stack("below", False)

    def test_signal_stack_above(self):
        self.check_signal_stack("above", False)

    def test_jumps_from_a_signal_stack_below(self):
        self.check_signal_stack("below", True)

    def test_jumps_from_a_signal_stack_above(self):
        self.check_signal_stack("above", True)

    def check_signal_stack(self, where, jumps):
        """-x: every leave is seen by a site."""
        args = ("altstack", where, 50) + (("jump",) if jumps else ())
        document, done = self.profile_exec(*args)
        self.assert_counts(document, done.counts, done)
        accounting = document["accounting"]
        # The handler, and what it has interrupted.
        self.assertEqual(accounting["unwound"], 100 if jumps else 0, accounting)
        self.assertEqual(self.callers(document)["on_signal"], {None})
        self.assertEqual(self.callers(document)["leaf"], {"on_signal", "outer", "inner"})

    def test_a_signal_stack_that_the_kernel_forgets(self):
        document = self.run_traced("disarm", 50)
        self.assertEqual(document["accounting"]["unwound"], 0)
        callers = self.callers(document)
        self.assertEqual(callers["on_signal"], {None})
        self.assertEqual(callers["outer"], {"repeat"})

    def test_return_probes_and_a_signal_stack_above(self):
        """The target survives, for no return address is exchanged there."""
        document, done = self.profile_pid("disarm", 50)
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)

    def test_unknown_stacks_that_run_at_once(self):
        """Calls on stacks that cannot be told apart are counted all the same."""
        self.run_traced("crowd", 1000)

    def test_return_probes_and_unknown_stacks_that_run_at_once(self):
        """A switch that is made at run time is not known as one. The calls count for the threads'
        thread stacks, but no return address is exchanged."""
        document, done = self.profile_pid("crowd-nameless", 1000)
        self.assertEqual(document["probes"]["exits"]["sites"], 0, "it is meant to look harmless")
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)

    def test_nested_handlers(self):
        document, done = self.profile_exec("nested_handlers", 50)
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["unwound"], 0)
        callers = self.callers(document)
        self.assertEqual(callers["on_tick"], {None})
        self.assertEqual(callers["on_usr1"], {"on_tick"})
        self.assertEqual(callers["on_usr2"], {"on_usr1"})
        self.assertEqual(callers["step"], {"work"})

    def test_intervals_add_up(self):
        """Call stacks are told apart from one interval to the next."""
        target = self.target("stacks", "bss", 5, 400)
        tracer = self.proftrace("-f", "json", "-i", "0.1", "-p", target.pid).wait_tracing()
        target.go()
        counts = target.finish().counts
        sums = {}
        for line in tracer.finish().stdout.splitlines():
            for name, calls in self.calls(self.check(harness.json.loads(line))).items():
                sums[name] = sums.get(name, 0) + calls
        self.assertEqual({name: sums.get(name) for name in counts}, counts)

    def test_deep_calls_are_told(self):
        document, done = self.profile_pid("recursion", 100, 2)
        self.assert_counts(document, done.counts, done)
        accounting = document["accounting"]
        self.assertGreater(accounting["deep"], 0)
        self.assertGreaterEqual(accounting["unwound"], accounting["deep"])

    def test_no_call_is_deep_without_return_probes(self):
        document, _ = self.profile_exec("recursion", 100, 2)
        self.assertEqual(document["accounting"]["deep"], 0)


for stacks in STACKS:
    setattr(Callstacks, "test_stacks_{}_{}".format(*stacks),
            lambda self, stacks=stacks: self.check_stacks(*stacks))


class Goroutines(harness.TestCase):
    def test_each_has_its_own_calls(self):
        document, done = self.profile_command("gomany", options=("-F", "main.*"))
        self.assert_counts(document, done.counts, done)
        goroutines = [t for t in document["threads"] if "goroutine" in t]
        self.assertGreater(len(goroutines), 1000)
        numbers = [t["goroutine"] for t in goroutines]
        self.assertEqual(len(numbers), len(set(numbers)), "a goroutine is there twice")
        self.assertEqual([t["tid"] for t in goroutines], numbers)
        self.assertEqual(document["accounting"]["unwound"], 0)

    def test_headings_name_them(self):
        done = self.run_proftrace("-f", "tree", "--thread-frames", "-F", "main.main", "--",
                                  harness.program("gostack"))
        self.assertIn("goroutine 1\n", done.stdout)
        done = self.run_proftrace("-f", "folded", "--thread-frames", "-F", "main.main", "--",
                                  harness.program("gostack"))
        self.assertRegex(done.stdout, r"(?m)^gostack-\d+/goroutine_1;main\.main \d+$")


class Beginnings(harness.TestCase):
    def test_threads_that_begin_while_mappings_change(self):
        """The kernel may not say then what a thread's stack is; its calls return all the same."""
        for options in (), ("--exits", "sites"):
            for _ in range(4):
                document, done = self.profile_command("requests", 8, 100, 5, options=options)
                self.assert_counts(document, done.counts)
                self.assertEqual(document["accounting"]["unwound"], 0, document["accounting"])


if __name__ == "__main__":
    harness.main()
