# SPDX-License-Identifier: GPL-2.0-or-later
"""--exits: each strategy counts the same calls; what is dangerous is said; sandboxes stay alive."""

import json
import subprocess

import harness
from harness import program

STRATEGIES = ("return", "sites", "none")


class Exits(harness.TestCase):
    def test_each_strategy_counts_every_call(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                document, done = self.profile_command("calc-pie",
                                                      options=("--exits", strategy))
                self.assert_counts(document, done.counts, done)
                self.assertEqual({name for name, count in document["probes"]["exits"].items()
                                  if count}, {strategy})

    def test_list_tells_strategy_and_reason(self):
        for strategy in STRATEGIES:
            done = self.run_proftrace("-l", "--exits", strategy, "-q", "-F", "square",
                                      "-x", program("calc-pie"))
            self.assertEqual(done.status, 0, str(done))
            self.assertRegex(done.stdout, rf"\b{strategy} .*square .*--exits={strategy}")

    def test_danger_is_said_once(self):
        done = self.run_proftrace("-l", "--exits=return", "--", program("throws"))
        self.assertEqual(done.status, 0, str(done))
        line, = done.stderr.splitlines()
        self.assertRegex(line, r"--exits=return may kill the target: .+\(.+\)$")
        done = self.run_proftrace("-l", "--exits=return", "--", program("calc-pie"))
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))

    def test_lists_of_callers_end_early(self):
        """A program that merely lists its callers is not killed by return probes, but says less;
        left to itself proftrace changes no word of it."""
        def callers(done):
            line, = (l for l in done.stdout.splitlines() if l.startswith("backtrace:"))
            return line.split()[1:]

        alone = self.process(program("backtraces"), 20).finish()
        done = self.run_proftrace("-l", "--exits=return", "--", program("backtraces"))
        self.assertEqual(done.status, 0, str(done))
        line, = done.stderr.splitlines()
        self.assertRegex(line, r"--exits=return cuts short the lists of callers .*: "
                               r"backtraces lists its callers, .* \(backtrace\)$")
        document, done = self.profile_command("backtraces", 20,
                                              options=("-F", "*", "--exits=return"))
        self.assert_counts(document, alone.counts, done)
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(callers(done), callers(alone)[:len(callers(done))])
        self.assertLess(len(callers(done)), len(callers(alone)))
        document, done = self.profile_command("backtraces", 20, options=("-F", "*"))
        self.assertEqual((done.status, done.stdout), (0, alone.stdout))
        self.assertEqual(document["probes"]["exits"]["return"], 0)

    def test_sites_keep_a_program_that_throws_alive(self):
        document, done = self.profile_command("throws", options=("--exits=sites",))
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(document["probes"]["exits"]["return"], 0)

    def test_bad_value(self):
        done = self.run_proftrace("--exits=fast", "--", program("calc-pie"))
        self.assert_one_line(done, 2, "--exits fast", "auto, return, sites, none")


class Shared(harness.TestCase):
    """Since Linux 6.14 the kernel may crash where two return probes are on one call: a run has none
    in a file where another has some, or where its links are bound to one process each. Nothing is
    attached twice here; `make kernels` does that."""

    MESSAGE = "fork_amid has return probes of another run already"

    def setUp(self):
        super().setUp()
        self.process_of_both = self.target("fork_amid", 2, 1)

    def exits(self, *options):
        done = self.run_proftrace("-l", "-f", "json", "-F", "inner", "-F", "outer", *options, "-p",
                                  self.process_of_both.pid)
        self.assertEqual(done.status, 0, str(done))
        return {f["exit"] for f in json.loads(done.stdout)["functions"]}, done.stderr

    def test_one_run_at_a_time(self):
        other = {"sites"} if harness.lists_returns() else {"return"}
        self.assertEqual(self.exits(), ({"return"}, ""))
        first = self.proftrace("-F", "inner", "-F", "outer", "-f", "json", "-p",
                               self.process_of_both.pid).wait_tracing()
        exits, said = self.exits()
        self.assertEqual((exits, self.MESSAGE in said), (other, harness.lists_returns()))
        self.assertEqual(self.exits("--exits", "return")[0], other)
        self.process_of_both.go()
        done = self.process_of_both.finish()
        document = self.document(first.finish())
        self.assertEqual(self.count(document, "outer"), 2 * done.counts["outer"])
        self.assertEqual(document["probes"]["exits"]["return"], 2)

    def test_killed(self):
        """The claim goes with the probes."""
        first = self.proftrace("-F", "inner", "-F", "outer", "-f", "json", "-p",
                               self.process_of_both.pid).wait_tracing()
        first.popen.kill()
        first.finish()
        self.assertTrue(harness.poll(lambda: self.exits()[0] == {"return"}))

    def test_without_return_probes_nothing_is_claimed(self):
        self.proftrace("--exits", "sites", "-F", "inner", "-F", "outer", "-f", "json", "-p",
                       self.process_of_both.pid).wait_tracing()
        self.assertEqual(self.exits(), ({"return"}, ""))

    def test_bound_links(self):
        """A child that is not followed has the probes, but our program does not see it."""
        expected = "sites" if harness.working("session") and harness.lists_returns() else "return"
        self.assertEqual(self.exits("--no-children")[0], {expected})
        tracer = self.proftrace("--no-children", "-F", "inner", "-F", "outer", "-f", "json", "-p",
                                self.process_of_both.pid).wait_tracing()
        self.process_of_both.go()
        done = self.process_of_both.finish()
        document = self.document(tracer.finish())
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["probes"]["exits"][expected], 2)


class Leaves(harness.TestCase):
    """Leaves without loops: their entry's probe counts a call and ends it."""
    INSN_NS = 0.4

    def plan(self, *args):
        done = self.run_proftrace("-l", "-f", "json", "-F", "*", *args)
        self.assertEqual(done.status, 0, str(done))
        return {f["name"]: f for f in json.loads(done.stdout)["functions"]}

    def check_leaves(self, mode, name, *args):
        """Exact counts, no exit probe, and times that are no more than the code can take."""
        path = program(name)
        closed = {n: f for n, f in self.plan("-x", path).items() if f["closed_at_entry"]}
        self.assertTrue(closed)
        document, done = getattr(self, f"profile_{mode}")(name, *args, options=("-F", "*"))
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["open"], 0)
        self.assertGreaterEqual(document["probes"]["exits"]["none"], len(closed))
        for function in document["functions"]:
            calls = function["calls"]
            if function["name"] in closed and calls:
                size = closed[function["name"]]["size"]
                self.assertLessEqual(function["max_ns"], max(1, size * self.INSN_NS), function)
                self.assertTrue(0 < function["self_ns"] <= calls * function["max_ns"], function)
                self.assertEqual(function["self_ns"], function["raw_self_ns"])
        return closed

    def test_each_kind_of_entry(self):
        for mode in "pid", "exec", "command":
            with self.subTest(mode):
                closed = self.check_leaves(mode, "entries", 200)
                self.assertLessEqual({"entry_push", "entry_sub", "entry_nop5", "entry_ret"},
                                     closed.keys())
                self.assertTrue({"entry_loop", "entry_call", "entry_self_tail", "entry_lock",
                                 "main", "call"}.isdisjoint(closed))

    def test_called_by_a_tail_call(self):
        """The caller's frame is replaced by one that is never there."""
        closed = self.check_leaves("command", "tailcall", 50)
        self.assertIn("third", closed)
        self.assertNotIn("second", closed)

    def test_below_what_is_never_seen_to_leave(self):
        closed = self.check_leaves("pid", "longjmp", 10, 20)
        self.assertTrue(closed)

    def test_where_a_call_is_to_be_timed(self):
        """Single calls, lines, and exits that were asked for."""
        path = program("entries")
        for options in (("--calls",), ("--exits=return",), ("--exits=sites",), ("--exits=none",)):
            plan = self.plan(*options, "-x", path)
            self.assertFalse([f for f in plan.values() if f["closed_at_entry"]], options)
            if options != ("--exits=none",):
                self.assertIn(plan["entry_push"]["exit"], ("return", "sites"), options)


class ReturnAddresses(harness.TestCase):
    """Functions that save, read or take away their return address bear no return probe, whatever
    they are called; what they show of it is what they show untraced."""

    LOOKS = ("mark_small", "mark_large", "go_large", "note_state", "from_where", "from_there",
             "from_frame", "from_compiler", "come_back", "pass_through", "return_for_two")
    REASONS = ("looks at its return address", "takes its return address off the stack",
               "looks at its caller's frame", "its stack pointer cannot be followed")
    ALL = ("-q", "--max-overhead", "none", "-F", "*")

    def test_nobody_gets_a_return_probe_who_looks(self):
        for name in ("own_jumps", "own_jumps-static"):
            for options in ((), ("--exits=return",)):
                with self.subTest(name, options=options):
                    done = self.run_proftrace("-l", *self.ALL, *options, "--", program(name))
                    self.assertEqual(done.status, 0, str(done))
                    lines = {line.split("  (")[0].split()[-1]: line
                             for line in done.stdout.splitlines() if "  (" in line}
                    for function in self.LOOKS:
                        self.assertRegex(lines[function], r"\b(sites|none) +\w+ +own_jumps")
                        # Without options the program as a whole is the reason: it switches stacks.
                        if options:
                            self.assertTrue(any(why in lines[function] for why in self.REASONS),
                                            lines[function])
                    if options:
                        self.assertRegex(lines["plain"], r"\breturn +own_jumps")

    def test_they_do_what_they_do_untraced(self):
        for name in ("own_jumps", "own_jumps-static"):
            stripped = self.path(name)
            subprocess.run(["strip", "-o", stripped, program(name)], check=True)
            alone = self.process(program(name)).finish()
            self.assertEqual(alone.status, 4)
            self.assertIn("seen 31", alone.stdout)
            for options in ((), ("--exits=return",), ("--exits=sites",)):
                for path in (program(name), stripped):
                    with self.subTest(path, options=options):
                        document, done = self.profile_command(path, options=(*self.ALL, *options))
                        self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
                        if path != stripped:
                            self.assert_counts(document, alone.counts, done)


class OddCode(harness.TestCase):
    """Code that no compiler makes: it does what it does untraced, however its exits are seen."""

    ALL = ("-q", "--max-overhead", "none", "-F", "*")

    def check_same(self, name, status):
        alone = self.process(program(name)).finish()
        self.assertEqual(alone.status, status, str(alone))
        for options in ((), ("--exits=return",), ("--exits=sites",), ("--calls",)):
            with self.subTest(name, options=options):
                document, done = self.profile_command(name, options=(*self.ALL, *options))
                self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
                self.assert_counts(document, alone.counts, done)

    def test_functions_written_in_assembly(self):
        self.check_same("odd_code", 5)

    def test_why_they_have_no_return_probe(self):
        done = self.run_proftrace("-l", *self.ALL, "--exits=return", "--", program("odd_code"))
        for function, why in (("text_popped", "data may follow the call"),
                              ("text_read", "data may follow the call"),
                              ("other_half", "jumps into the midst of another function"),
                              ("where_alias", "jumps to what may look at its return address"),
                              ("where_alias2", "jumps to what may look at its return address")):
            self.assertRegex(done.stdout, rf" (sites|none) .* {function}  \(.*{why}", function)
        self.assertRegex(done.stdout, r" return +return +odd_code +halves ")

    def test_system_calls_that_are_diverted(self):
        self.check_same("diverted", 6)

    def test_switches_of_stacks_of_all_kinds(self):
        for name in ("own_switch", *(f"own_switch-{way}" for way in range(1, 5))):
            alone = self.process(program(name)).finish()
            document, done = self.profile_command(name, options=self.ALL)
            with self.subTest(name):
                self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
                self.assert_counts(document, alone.counts, done)


class EarlyExits(harness.TestCase):
    """Exits that are seen at branches before each `ret`, which are emulated."""
    NAMES = {"early_branch", "early_way_on", "early_frame", "early_shared", "early_recurse",
             "early_guard"}
    # Where the kernel lets programs write registers each `ret` is emulated.
    KINDS = {"early"}, {"emulated"}

    def kinds(self, *options):
        done = self.run_proftrace("-l", "-f", "json", "-F", "*", *options, "--", program("early"))
        self.assertEqual(done.status, 0, str(done))
        return {f["name"]: f["exit_kind"] for f in json.loads(done.stdout)["functions"]}

    def test_what_is_seen_early(self):
        for options in ("--exits=sites",), ("--exits=sites", "--calls"):
            kinds = self.kinds(*options)
            self.assertIn({kinds[name] for name in self.NAMES}, self.KINDS, options)
        kinds = self.kinds()
        self.assertEqual({kinds[name] for name in self.NAMES}, {"return"})
        self.assertEqual(kinds["early_after"], "entry")
        self.assertEqual(set(self.kinds("--exits=none").values()), {"next"})

    def test_not_where_results_are_wanted(self):
        kinds = self.kinds("--exits=sites", "--calls", "-A", "early_branch(ret)")
        self.assertIn((kinds["early_branch"], kinds["early_frame"]),
                      (("ret", "early"), ("emulated", "emulated")))

    def test_every_way_out(self):
        """Each call is seen to leave, and before anything else is called."""
        for mode in "pid", "exec", "command":
            for options in (), ("--calls",):
                with self.subTest(mode, options=options):
                    document, done = getattr(self, f"profile_{mode}")(
                        "early", 200, options=("--exits=sites", *options))
                    self.assertEqual(done.status, 0, str(done))
                    self.assert_counts(document, done.counts, done)
                    self.assertEqual(document["accounting"]["unwound"], 0)
                    functions = document["functions"]
                    nodes = [(functions[node["function"]]["name"],
                              functions[parent["function"]]["name"] if parent else None)
                             for node, parent, _ in harness.nodes_of(document)]
                    callers = {parent for name, parent in nodes if name == "early_after"}
                    self.assertIn(callers, ({"main"}, {None}))
                    for name in self.NAMES - {"early_recurse"}:
                        self.assertIn({parent for own, parent in nodes if own == name},
                                      ({"main"}, {None}))


class Sandboxes(harness.TestCase):
    """Programs under seccomp, which must not feel the system calls that probes are made of."""

    def check_counts(self, mode, *options):
        document, done = self.profile_command("sandbox", mode, options=options)
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        return document

    def test_strict(self):
        sites = self.check_counts("strict")["probes"]["sites"]
        self.assertTrue(sites["nop5"] or sites["nop10"] or sites["step"] or sites["emul"], sites)

    def test_filter_that_kills(self):
        self.check_counts("filter")

    def test_filter_with_each_strategy(self):
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                self.check_counts("filter", "-q", "--exits", strategy)


if __name__ == "__main__":
    harness.main()
