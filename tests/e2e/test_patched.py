# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs whose code is another in memory than in their file when we come: what has been patched
is left alone, and goes on working when we have left. What other profilers have put there is no
obstacle."""

import ctypes
import json
import os
import re
import resource
import subprocess

import harness
from harness import poll, program

INT3 = b"\xcc"


class Debugger:
    """Does to a process what debuggers do: attaches, and keeps what its breakpoints are put over."""

    SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17

    def __init__(self, pid):
        self.pid, self.covered = pid, {}
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.ptrace(self.SEIZE)

    def ptrace(self, request):
        if self.libc.ptrace(request, self.pid, None, None):
            raise OSError(ctypes.get_errno(), f"ptrace {request:#x}")

    def put(self, address):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            memory.seek(address)
            self.covered[address] = memory.read(1)
            memory.seek(address)
            memory.write(INT3)

    def leave(self):
        with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
            for address, byte in self.covered.items():
                memory.seek(address)
                memory.write(byte)
        self.ptrace(self.INTERRUPT)
        os.waitpid(self.pid, 0)
        self.ptrace(self.DETACH)


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
        self.assertIn("5 functions (nop5, ...): patched in memory, as by another tracer or a "
                      "debugger; 1 of them is not probed, the others are where the code is not "
                      "patched", said)
        said = self.plan(target, "-F", "nop5", "-F", "nops")[2]
        self.assertIn("2 functions (nop5, ...): patched in memory, as by another tracer or a "
                      "debugger; all are probed where the code is not patched", said)
        # Code that any process has patched is left alone in all.
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

    def test_moved(self):
        """Code that the process has put into memory of its own has no probes; that is said."""
        target = self.target("moved")
        tracer = self.proftrace("-f", "json", "-F", "moved_away", "-F", "stays_here",
                                "-p", target.pid).wait_tracing()
        target.go()
        done = target.finish()
        traced = tracer.finish()
        self.assertEqual(done.counts, {"moved_away": 100, "stays_here": 100})
        self.assertEqual(self.count(self.document(traced), "stays_here"), 100)
        self.assertIn(f"moved: process {target.pid} has moved 4 kB of its code to memory of its "
                      "own (huge pages?): calls of what is there are not seen", traced.stderr)
        # A program whose code is where it was gets no such message.
        self.assertNotIn("has moved", self.plan(self.target("steps"), "-F", "inner")[2])

    def test_mapped_twice(self):
        """Memory beside a second mapping of a piece of the code has not taken the code's place."""
        target = self.target("moved", "beside")
        tracer = self.proftrace("-f", "json", "-F", "moved_away", "-F", "stays_here",
                                "-p", target.pid).wait_tracing()
        target.go()
        done = target.finish()
        traced = tracer.finish()
        for name in ("moved_away", "stays_here"):
            self.assertEqual(self.count(self.document(traced), name), done.counts[name])
        self.assertNotIn("has moved", traced.stderr)

    def test_moved_all(self):
        """When all of the program's code has moved the program is no longer among the mapped files,
        and no library is taken for it."""
        target = self.target("moved", "all")
        for options in ((), ("-F", "stays_here"), ("-l",)):
            done = self.run_proftrace(*options, "-p", target.pid)
            self.assertEqual(done.status, 1, str(done))
            self.assertEqual(done.stderr.splitlines(), [
                f"proftrace: no code of the program of process {target.pid} is mapped from its "
                "file: it has moved all to memory of its own (huge pages?), where no probes can "
                "be put; name a library (-F 'OBJECT:*')"], str(done))
        target.go()
        self.assertEqual(target.finish().counts, {"moved_away": 100, "stays_here": 100})

    def test_moves_while_another_one_is_traced(self):
        """A process that is begun meanwhile would run copies of breakpoints, and die."""
        target = self.target("moved")
        tracer = self.proftrace("-f", "json", "-F", "moved_away", "-F", "stays_here",
                                "-p", target.pid).wait_tracing()
        done = self.process(program("moved")).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(done.counts, {"moved_away": 100, "stays_here": 100})
        target.go()
        self.assertEqual(target.finish().status, 0)
        self.assertEqual(self.count(self.document(tracer.finish()), "stays_here"), 100)

    def site(self, target, name):
        """The address of the probed instruction."""
        function = self.plan(target, "-F", name)[0][name]
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as maps:
            for line in maps:
                begin, end, offset = re.match(r"(\w+)-(\w+) \S+ (\w+)", line).groups()
                at = function["offset"] + function["site_offset"] - int(offset, 16)
                if line.endswith(target.argv[0] + "\n") and 0 <= at < int(end, 16) - int(begin, 16):
                    return int(begin, 16) + at
        raise AssertionError(f"{name} is not mapped")

    def test_debugger_first(self):
        """A debugger's breakpoint that was there first stays."""
        target = self.target("steps")
        target.go()
        site = self.site(target, "inner")
        debugger = Debugger(target.pid)
        debugger.put(site)
        functions, skipped, _ = self.plan(target, "-F", "inner")
        self.assertNotEqual(self.site(target, "inner") if functions else None, site, skipped)
        debugger.leave()
        target.step("5")

    def test_a_profiler_beside_a_debugger(self):
        """The profiler's probes are in all processes, so also in one that a debugger, or strace, is
        at. They are none of the debugger's breakpoints."""
        debugged, other = self.target("steps"), self.target("steps")
        other.wait_ready()
        sites = {name: self.site(debugged, name) for name in ("inner", "outer")}
        debugger = Debugger(debugged.pid)
        tracer = self.proftrace("-F", "inner", "-x", program("steps")).wait_tracing()
        debugger.put(sites["outer"])
        done = self.run_proftrace("-l", "-F", "inner", "-F", "outer", "-x", program("steps"))
        self.assertNotRegex(done.stdout, r" inner .*patched")
        self.assertRegex(done.stdout, r" outer .*patched")
        debugger.leave()
        tracer.interrupt()

    def test_debugger_stays(self):
        """The debugger has put its breakpoint over ours, and puts ours back when we have left."""
        target = self.target("steps")
        target.go()
        site = self.site(target, "inner")
        tracer = self.proftrace("-f", "json", "-F", "inner", "-p", target.pid).wait_tracing()
        debugger = Debugger(target.pid)
        debugger.put(site)
        self.assertEqual(debugger.covered[site], INT3)
        target.step("5")
        done = tracer.interrupt()
        self.assertEqual(self.count(self.document(done), "inner"), 5)
        self.assertIn("a debugger is at the target", done.stderr)
        debugger.leave()
        self.assertTrue(poll(lambda: not harness.dirty_text(target.pid)))
        target.step("5")
        self.assertEqual(target.finish().status, 0)

    def stays(self, whose):
        """`forks` may fork, so its probes are in all processes that run it."""
        target, other = self.target("forks", 1, 10), self.target("forks", 1, 10)
        debugged = target if whose == "target" else other
        site = self.site(debugged, "work")
        tracer = self.proftrace("-F", "work", "-p", target.pid).wait_tracing()
        debugger = Debugger(debugged.pid)
        debugger.put(site)
        self.assertEqual(debugger.covered[site], INT3)
        self.assertIn("a debugger is at", tracer.interrupt().stderr)
        debugger.leave()
        self.assertTrue(poll(lambda: not harness.dirty_text(debugged.pid)))
        for process in target, other:
            process.go()
            self.assertEqual(process.finish().status, 0)

    def test_debugger_stays_at_a_program_that_forks(self):
        self.stays("target")

    def test_debugger_stays_at_another_process(self):
        """A debugger stays at another process, such as a child that was forked before."""
        self.stays("other")

    def test_other_profilers(self):
        """Other profilers' breakpoints, and the calls that the kernel makes of 5-byte nops, are not
        the target's own patches: two profilers see the same plan."""
        target = self.target("redzone-nop5", how="--hold")
        alone, _, _ = self.plan(target, "-F", "*")
        tracer = self.proftrace("-F", "*", "--exits=sites", "-p", target.pid).wait_tracing()
        self.assertEqual(self.plan(target, "-F", "*")[0], alone)
        target.go()
        target.stdout.wait_lines("held")
        with open(f"/proc/{target.pid}/maps", encoding="utf-8") as maps:
            self.assertIn("[uprobes-trampoline]", maps.read())
        beside, _, said = self.plan(target, "-F", "*")
        self.assertEqual((beside, said), (alone, ""))
        tracer.interrupt()

    def test_other_profilers_and_a_command(self):
        """A profiler that holds a command by ptrace until the command is traced is no debugger with
        breakpoints of its own: the breakpoints that are there belong to another profiler."""
        path = self.copy(program("steps"))
        other = self.proftrace("-F", "inner", "-x", path).wait_tracing()
        document, done = self.profile_command(path, "--wait", options=("-F", "inner"),
                                              stdin=subprocess.DEVNULL)
        self.assertNotIn("(inner): patched", done.stderr)
        self.assertEqual(document["probes"]["functions"], 1)
        other.interrupt()

    def test_a_command_of_another_profiler(self):
        """Another profiler that holds a command of its own is no debugger either: it is known by
        its name."""
        path = self.copy(program("steps"))
        other = self.proftrace("-F", "inner", "-x", path).wait_tracing()
        command = self.target(path)
        holder = Debugger(command.pid)
        with open("/proc/thread-self/comm", "r+", encoding="utf-8") as name:
            before = name.read().rstrip("\n")
            name.write("proftrace")
            name.flush()
            said = self.run_proftrace("-l", "-F", "inner", "-x", path).stdout
            name.write(before)
        self.assertRegex(said, r"inner\b")
        self.assertNotIn("patched", said)
        # Any other name is a debugger's.
        said = self.run_proftrace("-l", "-F", "inner", "-x", path).stdout
        self.assertIn("patched", said)
        holder.leave()
        other.interrupt()

    def test_nothing_stays_in_a_command(self):
        """A run that fails before its command has begun leaves no probes behind, and no process
        that holds them for the debugger that the run itself is."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))

        done = self.process(harness.PROFTRACE, "record", "-o", self.path("a.data"), "--",
                            program("steps"), "--wait", stdin=subprocess.DEVNULL,
                            preexec_fn=limit).finish()
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("cannot write", done.stderr)
        self.assertNotIn("debugger", done.stderr)


if __name__ == "__main__":
    harness.main()
