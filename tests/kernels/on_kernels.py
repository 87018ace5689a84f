# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases made for the machines of `make kernels`, beside those of the end-to-end suite: few runs,
with much in each, as the start of proftrace alone takes five seconds where processors are
emulated."""

import collections
import json
import os
import re
import signal
import subprocess

import harness
import python_tree
from harness import PROFTRACE, PYTHON, UNLIMITED, program


class Case(harness.TestCase):
    def verb(self, *args):
        """proftrace without options of the harness, to its end."""
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()

    def untraced(self, name, *args):
        return subprocess.run([program(name), *map(str, args)], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              timeout=harness.TIMEOUT, text=True)

    def assert_same(self, done, name, *args):
        """Output and status are an untraced run's, but for the times that programs print."""
        alone = self.untraced(name, *args)
        self.assertEqual((self.untimed(done.stdout), done.status),
                         (self.untimed(alone.stdout), alone.returncode), str(done))

    @staticmethod
    def untimed(stdout):
        return re.sub(r"^TIMES .*\n", "", stdout.removeprefix("ready\n"), flags=re.M)

    def assert_clean_text(self, pid):
        """The process's code is that of its files, once the kernel has taken the probes out."""
        harness.poll(lambda: not harness.dirty_text(pid))
        self.assertEqual(harness.dirty_text(pid), [])


class Short(Case):
    """The short form in `make check`: programs that end by themselves and count their own calls. No
    result depends on how fast anything is."""

    # By the names of their functions, which are in no other of them.
    TOGETHER = [("recursion", 65, 2), ("threads", 8, 200, 4), ("calc-pie", 20), ("longjmp", 3, 20)]

    def test_counts_of_live_processes(self):
        targets = [self.target(*words) for words in self.TOGETHER]
        pids = ",".join(str(target.pid) for target in targets)
        tracer = self.proftrace("-f", "json", "-p", pids).wait_tracing()
        for target in targets:
            target.go()
        counts = {}
        for target, words in zip(targets, self.TOGETHER):
            done = target.finish()
            self.assert_same(done, *words)
            counts |= done.counts
        self.assert_counts(self.document(tracer.finish()), counts)

    def test_counts_of_a_command_that_throws(self):
        """C++: its exits are seen at each `ret`."""
        document, done = self.profile_command("throws", 10, 10)
        self.assert_same(done, "throws", 10, 10)
        self.assert_counts(document, done.counts, done)

    def test_counts_wherever_a_file_is_mapped(self):
        document, done = self.profile_exec("calc-nopie", 30)
        self.assert_same(done, "calc-nopie", 30)
        self.assert_counts(document, done.counts, done)

    def test_samples(self):
        """Calls are counted among samples; older kernels have none in the tree."""
        document, done = self.profile_command("sampled", 15, options=(
            "--sample-rate", "997", "-F", "outer", "-F", "reader"))
        self.assert_counts(document, done.counts, done)
        accounting = document["accounting"]
        placed = accounting.get("samples_taken", 0) - accounting.get("samples_probing", 0) - \
            accounting.get("samples_lost", 0)
        self.assertEqual(sum(node.get("samples", 0) for node, _, _ in harness.nodes_of(document)),
                         placed, accounting)
        # `doctor` would take half of a machine's time to say so.
        unwinds = not os.uname().release.startswith("5.10.")
        self.assertEqual(placed > 0, unwinds, done)

    def test_profiler_killed(self):
        """The target goes on as if nothing had been, and nothing remains (tearDown looks)."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        self.assertTrue(harness.dirty_text(target.pid), "no probe to be seen while tracing")
        tracer.popen.kill()
        tracer.finish()
        self.assert_clean_text(target.pid)
        target.step("4")
        done = target.finish()
        self.assertEqual((done.status, done.counts), (0, {"outer": 7, "inner": 7}))


class Of32Bits(Case):
    """A process of 32 bits, which kernels need not be able to run."""

    def test_among_others(self):
        """It is left out; chosen by its number it is refused."""
        calc = self.copy(program("calc-pie"), "whom")
        paused = subprocess.Popen([self.copy(program("pause32"), "whom32")])
        self.addCleanup(paused.wait)
        self.addCleanup(paused.kill)
        target = self.target(calc, 3)
        done = self.run_proftrace("-p", f"{target.pid},{paused.pid}")
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("a 32-bit file", done.stderr)
        tracer = self.proftrace("-f", "json", "-p", "whom*").wait_tracing()
        self.assertIn(f"proftrace: elf: cannot read '{paused.args[0]}'", tracer.stderr.text())
        target.go()
        done = target.finish()
        self.assert_counts(self.document(tracer.interrupt()), done.counts)


class Killed(Case):
    """SIGKILL for the profiler while its target calls."""

    def test_among_threads_that_call(self):
        for _ in range(5):
            target = self.target("hot", 8)
            target.go()
            tracer = self.proftrace("-F", "*", "-f", "json", "-p", target.pid).wait_tracing()
            tracer.popen.kill()
            tracer.finish()
            self.assert_clean_text(target.pid)
            self.assertEqual(target.finish().status, 0)

    def test_target_killed(self):
        target = self.target("hot", 8)
        target.go()
        tracer = self.proftrace("-F", "*", "-f", "json", "-p", target.pid).wait_tracing()
        target.popen.kill()
        self.document(tracer.finish())


class Recordings(Case):
    def test_counts_of_a_recording(self):
        path = self.path("rec")
        done = self.verb("record", *UNLIMITED, "--calls", "-o", path, "--",
                         program("threads"), 8, 100)
        self.assertEqual(done.status, 0, str(done))
        shown = self.verb("report", "-f", "json", path)
        self.assertEqual(shown.status, 0, str(shown))
        self.assert_counts(self.check(json.loads(shown.stdout)), done.counts)


class Sessions(Case):
    """Sessions have the right calls, whichever thread made them: the program counts them itself."""

    def test_sessions_with_links(self):
        out = self.path("out.json")
        options = ("-F", "handle", "-F", "submit", "-F", "run", "-F", "look_up", "--calls",
                   "--session", "handle", "--link", "submit(arg1) -> run(arg2)", "--slowest", 1000)
        done = self.run_proftrace("-f", "json", "-o", out, *options, "--",
                                  program("requests"), 4, 20, 3)
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            document = self.check(json.load(file))
        requests = [line for line in done.stdout.splitlines() if line.startswith("REQUEST ")]
        self.assertEqual(self.count(document, "handle"), len(requests))
        self.assertEqual(self.count(document, "submit"), self.count(document, "run"))


class RealPrograms(Case):
    PYTHON_SCRIPT = ("import sys, json\nprint('ready', flush=True)\nsys.stdin.readline()\n"
                     "print(len(json.dumps([{'n': i} for i in range(200)])))\n")

    def test_python_that_runs_already(self):
        target = self.process(PYTHON, "-S", "-c", self.PYTHON_SCRIPT)
        target.wait_ready()
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        done = target.finish()
        self.assertEqual((done.status, done.stdout), (0, "ready\n2290\n"), str(done))
        document = self.document(tracer.finish())
        self.assertGreater(document["accounting"]["entered"], 1000)

    def test_redis_that_runs_already(self):
        socket = self.path("socket")
        server = self.process("redis-server", "--port", 0, "--unixsocket", socket, "--save", "",
                              "--dir", self.directory)
        self.assertTrue(harness.poll(lambda: os.path.exists(socket), 30), "redis does not start")
        tracer = self.proftrace("-F", "setCommand", "-F", "call", "-f", "json", "-p", server.pid)
        tracer.wait_tracing()
        for number in range(50):
            said = subprocess.run(["redis-cli", "-s", socket, "set", f"key{number}", "value"],
                                  stdout=subprocess.PIPE, timeout=harness.TIMEOUT, check=True)
            self.assertEqual(said.stdout, b"OK\n")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.count(document, "setCommand"), 50)
        self.assert_clean_text(server.pid)


class Doctor(Case):
    """Features that `doctor` calls missing on each kernel."""

    # By the beginning of its release: the backend, and the features that cannot be had.
    NO_CALLS = {"5-byte nops without a trap", "returns emulated"}
    EXPECTED = {
        "5.10.": ("trace_event_basic", NO_CALLS | {
            "waiting for the plan", "stacks told apart", "samples in the tree", "callers",
            "single waits", "names of files", "bursts", "return probes stop at once"}),
        "6.1.": ("trace_event", NO_CALLS | {"bursts", "return probes stop at once"}),
        "6.12.": ("uprobe_multi", NO_CALLS | {"return probes stop at once"}),
        "7.": ("session", set()),
    }

    def test_what_cannot_be_had(self):
        done = self.verb("doctor", "-f", "json")
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))
        document = json.loads(done.stdout)
        backend, missing = next(expected for release, expected in self.EXPECTED.items()
                                if os.uname().release.startswith(release))
        self.assertEqual(document["backend"], backend, str(done))
        self.assertEqual({feature["name"] for feature in document["features"]
                          if not feature["works"]}, missing, str(done))
        for row in document["backends"]:
            self.assertEqual(bool(row["why_not"]), not row["works"], row)
            if not row["works"]:
                self.assertIn(row["since"], self.verb("doctor").stdout)


class PythonTree(Case):
    """Calls by path are those that were counted where `make kernels` was started; by function also
    where exits are seen in another way."""

    def test_tree(self):
        with open(os.environ["PROFTRACE_TREE"], encoding="utf-8") as file:
            there = json.load(file)
        for name, options in python_tree.RUNS.items():
            with self.subTest(name):
                here, output, accounting = python_tree.tree(options, harness.TIMEOUT)
                self.assertEqual(output, there[name]["output"])
                self.assertEqual((accounting["lost"], accounting["dropped"]), (0, 0))
                paths = there[name]["paths"]
                different, compared = python_tree.differences(name, here, paths)
                self.assertEqual(different, {}, accounting)
                self.assertGreater(len(compared), 20)
                print(f"note: {name}: {len(compared)} alike, of {len(paths)} paths and "
                      f"{sum(paths.values())} calls")


class Emulation(Case):
    """Kernels that let programs write registers (7.0): ours do what a `ret` does, and some
    instructions at entries, in place of a single step. One that does a `ret` twice, or not at all,
    ends the target; what the others compute is looked at."""

    EMULATED = {"returns_plain", "returns_rep", "returns_bnd", "returns_push", "returns_at_once",
                "returns_again", "returns_inner", "returns_near", "returns_far", "returns_itself"}
    # returns_pop pops more than an address; at returns_alone a `ret` is a function's entry.
    STEPPED = {"returns_pop", "returns_into", "returns_alone"}
    SITES = ("--exits", "sites")

    def check_exact(self, name, *args, options=SITES):
        document, done = self.profile_command(name, *args, options=options)
        self.assert_same(done, name, *args)
        self.assert_counts(document, done.counts, done)
        return document

    def check_returns(self, document):
        """All have been seen but those that lead into another function, whose call takes over."""
        self.assertEqual(document["accounting"]["unwound"],
                         self.count(document, "returns_into"), document["accounting"])

    def test_returns(self):
        done = self.run_proftrace("-l", "-f", "json", *self.SITES, "-F", "*", "--",
                                  program("returns"))
        kinds = {f["name"]: f["exit_kind"] for f in json.loads(done.stdout)["functions"]}
        self.assertEqual({kinds[name] for name in self.EMULATED}, {"emulated"}, kinds)
        self.assertEqual({kinds[name] for name in self.STEPPED}, {"ret"}, kinds)
        self.check_returns(self.check_exact("returns", 100, 4))

    def test_each_backend(self):
        for tier in "uprobe_multi", "trace_event":
            self.check_returns(self.check_exact("returns", 100, 2,
                                                options=(*self.SITES, "--tier", tier)))
            for exits in "sites", "return":
                self.check_exact("emul", 20, 2, options=("--exits", exits, "--tier", tier))

    def entry_sites(self, *options):
        """Site classes of the functions of emul that are probed at such an instruction."""
        done = self.run_proftrace("-l", "-f", "json", *options, "-F", "*", "--", program("emul"))
        return {f["name"]: f["site"] for f in json.loads(done.stdout)["functions"]
                if f["name"].startswith("emul_")}

    def check_entries(self, *kinds):
        for exits in kinds:
            with self.subTest(exits):
                sites = self.entry_sites("--exits", exits)
                stepped = {name for name in sites if name.startswith("emul_not_")}
                self.assertEqual(len(stepped), 4)
                self.assertEqual({sites[name] for name in stepped}, {"step"}, sites)
                self.assertEqual({sites[name] for name in sites.keys() - stepped}, {"emul"}, sites)
                document = self.check_exact("emul", 100, 4, options=("--exits", exits))
                self.assertGreaterEqual(document["probes"]["sites"]["emul"],
                                        len(sites) - len(stepped))

    def test_entries(self):
        self.check_entries("sites", "return")

    def test_entries_with_no_exits_and_by_default(self):
        self.check_entries("none", "auto")

    def test_entries_with_other_probes(self):
        """A line's program at the same instruction would see the registers behind it."""
        self.check_exact("emul", 20, 2, options=("--lines", "emul.S:1-999", "-F", "*"))
        self.check_exact("emul", 20, 2, options=(
            "--calls", "-F", "*", "-A", "emul_calls(arg1,ret)"))

    def test_entries_of_two_profilers(self):
        """Two profilers on one instruction: the program that runs second finds the instruction
        done. One profiler has the entries with return probes, the other one with exit sites; a
        third one leaves amid the calls."""
        target = self.target("emul", 2000, 4)
        options = ("--max-overhead", "none", "-F", "*", "-f", "json", "-p", target.pid)
        tracers = [self.proftrace("--exits", exits, *options).wait_tracing()
                   for exits in ("sites", "return")]
        third = self.proftrace(*options).wait_tracing()
        target.go()
        third.interrupt()
        done = target.finish()
        self.assert_same(done, "emul", 2000, 4)
        for tracer in tracers:
            document = self.document(tracer.finish())
            self.assert_counts(document, done.counts, document["accounting"])

    def test_entries_that_are_dropped(self):
        """Functions move to other links meanwhile, which are all called at a hit."""
        target = self.target("emul", 3000, 4)
        tracer = self.proftrace("--max-overhead", "1", "-F", "*", "-f", "json", "-p",
                                target.pid).wait_tracing()
        target.go()
        done = target.finish()
        self.assert_same(done, "emul", 3000, 4)
        self.document(tracer.finish())

    def test_two_profilers(self):
        """Two profilers on one return: the program that runs second finds that the return has been
        made."""
        target = self.target("returns", 300, 4)
        options = (*self.SITES, "--max-overhead", "none", "-F", "*", "-f", "json", "-p", target.pid)
        tracers = [self.proftrace(*options).wait_tracing() for _ in range(2)]
        target.go()
        done = target.finish()
        self.assert_same(done, "returns", 300, 4)
        for tracer in tracers:
            document = self.document(tracer.finish())
            self.assert_counts(document, done.counts, document["accounting"])
            self.check_returns(document)

    def test_results(self):
        """Results are read before the return."""
        self.check_returns(self.check_exact("returns", 20, 1, options=(
            *self.SITES, "--calls", "-F", "*", "-A", "returns_plain(arg1,ret)")))

    def test_whatever_unwinds(self):
        self.check_exact("longjmp", 3, 20)
        self.check_exact("throws", 10, 10)
        self.check_exact("recursion", 500, 2)
        self.check_exact("signals", 20)
        self.check_exact("signals", 20, "altstack")

    def test_hammer(self):
        self.check_exact("returns", 100, 64)
        self.check_exact("emul", 50, 64)
        self.check_exact("threads", 64, 300, 4)


class Preempted(Case):
    """Threads that are preempted wherever they are, in our programs too where the kernel allows
    that: between a reading of the clock and the change of the innermost call."""

    def test_no_call_waits_longer_than_it_takes(self):
        document, done = self.profile_command("threads", 4, 20000, options=("-v", "--calls"))
        self.assert_counts(document, done.counts, done)
        self.assertNotIn("more time off the CPU than they took", done.stderr)


class SharedReturns(Case):
    """Two return probes on one call of a process that forks amid it: since Linux 6.14 that may
    crash the kernel (user/analysis/target/hazard.c), as each of these did within a minute."""

    ROUNDS = 4
    FUNCTIONS = ("-F", "inner", "-F", "outer", "-f", "json")

    def forker(self):
        """A process that forks, and its children fork, until it is killed."""
        target = self.target("fork_amid", 0, 3)
        target.go()
        return target

    def trace(self, *options):
        return self.proftrace(*self.FUNCTIONS, *options)

    def end(self, tracer, *targets):
        """Returns the result, which balances; calls are seen until the end."""
        document = self.document(tracer.interrupt())
        accounting = document["accounting"]
        self.assertEqual(accounting["entered"], sum(accounting[how] for how in (
            "returned", "unwound", "open")), accounting)
        self.assertGreater(accounting["returned"], 0, accounting)
        for target in targets:
            target.popen.kill()
            target.finish()
        return document

    def exits(self, document):
        return {how for how, count in document["probes"]["exits"].items() if count}

    def check_runs(self, *options, exits):
        """A run, and others that come and go."""
        target = self.forker()
        first = self.trace("-p", target.pid, *options).wait_tracing()
        for _ in range(self.ROUNDS):
            second = self.document(self.trace("-d", 1, "-p", target.pid, *options).finish())
            self.assertEqual(self.exits(second), {"sites"})
        self.assertEqual(self.exits(self.end(first, target)), {exits})

    def test_two_runs(self):
        self.check_runs(exits="return")

    def test_two_runs_that_insist(self):
        self.check_runs("--exits", "return", exits="return")

    def test_bound_links(self):
        self.check_runs("--no-children", exits="sites")

    def test_links_that_are_renewed(self):
        """Switched off and on, of one run alone, in two processes and children of theirs that have
        inherited probes."""
        targets = [self.forker() for _ in range(2)]
        pids = ",".join(str(target.pid) for target in targets)
        tracer = self.trace("--no-children", "-p", pids).wait_tracing()
        for switched in range(1, self.ROUNDS + 1):
            tracer.signal(signal.SIGUSR1)
            tracer.stderr.wait_lines("proftrace: the probes are taken out", switched)
            tracer.signal(signal.SIGUSR1)
            tracer.stderr.wait_lines("proftrace: switched on", switched)
        self.assertEqual(self.exits(self.end(tracer, *targets)), {"sites"})

    def test_another_tool(self):
        """A return probe of the kernel's own tracing comes and goes: the end of a call is its, and
        is seen at sites from then on."""
        target = self.forker()
        done = self.run_proftrace("-l", *self.FUNCTIONS, "-p", target.pid)
        offset, = (f["offset"] for f in json.loads(done.stdout)["functions"]
                   if f["name"] == "outer")
        tracing = "/sys/kernel/tracing"

        def define(event):
            """The file forgets what it has if it is opened without O_APPEND."""
            fd = os.open(f"{tracing}/uprobe_events", os.O_WRONLY | os.O_APPEND)
            try:
                os.write(fd, f"{event}\n".encode())
            finally:
                os.close(fd)

        define(f"r:others/outer {program('fork_amid')}:{offset:#x}")
        tracer = self.trace("-p", target.pid).wait_tracing()
        for _ in range(self.ROUNDS):
            for state in "10":
                with open(f"{tracing}/events/others/outer/enable", "w", encoding="ascii") as file:
                    file.write(state)
                harness.time.sleep(1)
        define("-:others/outer")
        document = self.end(tracer, target)
        self.assertEqual(self.exits(document), {"sites"})
        self.assertIn("calls end without their return, as another tool's", tracer.stderr.text())

    def test_strangers_that_are_spared(self):
        """Links for every process become bound ones: exits are seen at sites from then on."""
        target, stranger = self.forker(), self.forker()
        tracer = self.trace("-p", target.pid).wait_tracing()
        tracer.stderr.wait_lines("proftrace: other processes run the same functions often")
        for _ in range(2):
            self.document(self.trace("--exits", "sites", "-d", 1, "-p", target.pid).finish())
        self.assertEqual(self.exits(self.end(tracer, target, stranger)), {"sites"})


class Hammer(Case):
    """Many threads, which are preempted wherever they are, in every kind of program of ours."""

    THREADS = 64

    def check_exact(self, name, *args, options=()):
        document, done = self.profile_command(name, *args, options=options)
        self.assert_same(done, name, *args)
        counts = done.counts
        for function, calls in done.numbers("CHILDREN").items():
            counts[function] += calls
        self.assert_counts(document, counts, (done, document["accounting"]))

    def hammer(self):
        self.check_exact("threads", self.THREADS, 300)
        self.check_exact("threads", self.THREADS, 300, options=("--exits", "sites"))
        self.check_exact("threads", self.THREADS, 300, options=("--calls",))
        self.check_exact("threads", self.THREADS, 300, options=("-A", "a(arg1,ret)", "-F", "*"))

    def test_functions(self):
        self.hammer()

    def test_regions(self):
        self.check_exact("regions", 200, options=("-F", "region:*", "-F", "*"))
        self.check_exact("spans", 100, options=("-F", "region:*",))

    def test_processes(self):
        self.check_exact("forkstorm", 200, options=("--follow",))


class ManyCpus(Hammer):
    """Processors that count at the same time. What they cost each other does not show in emulation,
    which has no caches; a count that one of them takes from another does."""

    ROUNDS = 40

    def test_processors(self):
        self.assertEqual(os.cpu_count(), 8)

    def test_functions(self):
        self.hammer()

    def test_regions(self):
        self.check_exact("throng", self.THREADS, self.ROUNDS, 0,
                         options=("-F", "*", "-F", "region:*"))

    def test_processes(self):
        self.check_exact("throng", self.THREADS, self.ROUNDS, 2,
                         options=("-F", "*", "-F", "region:*"))


class Soak(Hammer):
    """Every kind of program of ours in turn, by 64 threads that do all that can be traced, until
    the time is over; what fails once does not end it."""

    ROUNDS = 60
    EACH = ("-F", "*", "-F", "region:*")

    def throng(self, *options, children=0):
        self.check_exact("throng", self.THREADS, self.ROUNDS, children,
                         options=(*self.EACH, *options))

    def functions(self):
        self.throng()
        self.check_exact("throng", self.THREADS, self.ROUNDS, 0)

    def exit_sites(self):
        self.throng("--exits", "sites")
        self.check_exact("returns", 20, self.THREADS, options=("--exits", "sites"))
        self.check_exact("emul", 20, self.THREADS, options=("--exits", "sites"))

    def other_backends(self):
        for tier in "uprobe_multi", "trace_event":
            self.throng("--tier", tier)

    def children(self):
        self.throng(children=2)
        self.throng("--follow", children=2)
        self.check_exact("forkstorm", 200, options=("--follow",))

    def single_calls(self):
        self.throng("--calls", "-A", "a(arg2,ret)")

    def sessions(self):
        out = self.path("sessions.json")
        done = self.run_proftrace(
            "-f", "json", "-o", out, "-F", "handle", "-F", "submit", "-F", "run", "--calls",
            "--session", "handle", "--link", "submit(arg1) -> run(arg2)", "--slowest", 10000,
            "--", program("requests"), self.THREADS - 4, 20, 2)
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            document = self.check(json.load(file))
        group, = document["sessions"]
        self.assertEqual((group["count"], group["open"]), (done.counts["handle"], 0))
        self.assert_counts(document, done.counts, done)

    def regions(self):
        document, done = self.profile_command("throng", self.THREADS, self.ROUNDS,
                                              options=("-F", "region:*"))
        self.assert_counts(document, {name: done.counts[name] for name in ("stage", "noted")})
        self.check_exact("regions", 200, options=self.EACH)
        self.check_exact("spans", 100, options=("-F", "region:*"))

    def lines(self):
        document, done = self.profile_command("throng", self.THREADS, self.ROUNDS,
                                              options=("--lines", "throng.c:1-999"))
        expected = {int(line): runs for line, runs in done.numbers("LINE").items()}
        hits = dict.fromkeys(expected, 0)
        for line in document["lines"]:
            if line["file"].endswith("/throng.c") and line["line"] in hits:
                hits[line["line"]] += line["hits"]
        self.assertEqual(hits, expected)
        self.assertEqual(document["accounting"]["line_misses"], 0)

    def callers(self):
        document, done = self.profile_command("throng", self.THREADS, self.ROUNDS,
                                              options=("--callers", "-F", "d"))
        found = harness.paths_to(document, "d", program("throng"))
        self.assertEqual({">".join(path): calls for path, calls in found.items()},
                         done.numbers("PATH"), document["accounting"])
        self.assert_counts(document, {"d": done.counts["d"]}, done)

    def intervals(self):
        target = self.target("throng", self.THREADS, self.ROUNDS)
        tracer = self.proftrace("-f", "json", "-i", "0.3", *self.EACH, "-p",
                                target.pid).wait_tracing()
        target.go()
        done, result = target.finish(), tracer.finish()
        self.assertEqual((done.status, result.status), (0, 0), str(result))
        sums = dict.fromkeys(done.counts, 0)
        for document in map(json.loads, result.stdout.splitlines()):
            for name in sums:
                function = self.function(self.check(document), name)
                sums[name] += function["calls"] if function else 0
            self.assertEqual(document["accounting"]["lost"], 0)
        self.assertEqual(sums, done.counts)

    def recordings(self):
        path = self.path("recording")
        done = self.verb("record", *UNLIMITED, "--calls", *self.EACH, "-o", path, "--",
                         program("throng"), self.THREADS, self.ROUNDS)
        self.assertEqual(done.status, 0, str(done))
        shown = self.verb("report", "-f", "json", path)
        os.unlink(path)
        self.assertEqual(shown.status, 0, str(shown))
        self.assert_counts(self.check(json.loads(shown.stdout)), done.counts, done)

    def coroutines(self):
        self.check_exact("fibers", 50, 20)
        self.check_exact("gomany", 200, 5, options=("-F", "main.*"))

    KINDS = (functions, exit_sites, other_backends, children, single_calls, sessions, regions,
             lines, callers, intervals, recordings, coroutines)

    def test_soak(self):
        deadline = harness.time.monotonic() + int(os.environ.get("PROFTRACE_SOAK_SECONDS", "60"))
        ran = collections.Counter()
        while harness.time.monotonic() < deadline:
            for kind in self.KINDS:
                with self.subTest(kind=kind.__name__, after=dict(ran)):
                    kind(self)
                    ran[kind.__name__] += 1
        print("note: exact, times:", ", ".join(f"{kind} {times}" for kind, times in ran.items()))


if __name__ == "__main__":
    harness.main()
