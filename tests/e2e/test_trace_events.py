# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes as places of trace events, the backend for kernels before Linux 6.6, tried on this one.

No target here calls functions with return probes without a pause while they are taken out: kernels
since 6.13 then wait for as long as that goes on."""

import os
import shutil
import signal
import subprocess

import harness
import test_counts
from harness import keeper_of, program

OPTIONS = ("--tier", "trace_event")
CASES = {
    "pid": [("recursion", 10, 3), ("recursion", 65, 2), ("threads", 20, 100), ("longjmp", 10, 5),
            ("throws", 10, 10), ("signals", 20, "altstack"), ("calc-static",), ("exits", "cancel")],
    "exec": [("calc-pie",), ("shapes-linked",), ("tailcall",)],
    "command": [("coroutine", 100), ("calc-nopie",), ("entries", 100), ("exits", "signal")],
}


def in_trace_files(script, *words):
    """Runs a shell script in the kernel's trace file system, mounted for it alone if it is not."""
    script = ("cd /sys/kernel/tracing && [ -e uprobe_events ] || "
              f"mount -t tracefs none /sys/kernel/tracing && cd /sys/kernel/tracing && {script}")
    return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", *map(str, words)],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True,
                          timeout=harness.TIMEOUT).stdout.decode()


def events_of(pid):
    """The definitions in the name of a process."""
    lines = in_trace_files("cat uprobe_events").splitlines()
    return [line for line in lines if line.split()[0][2:].startswith(f"proftrace_{pid}_")]


def dirty(target):
    """Returns the differences of the program's own code from its file; other files may have probes
    of other profilers."""
    return [line for line in harness.dirty_text(target.pid) if line.endswith(target.argv[0])]


class Cases(harness.TestCase):
    def profile_pid(self, name, *args, options=()):
        return super().profile_pid(name, *args, options=(*OPTIONS, *options))

    def profile_exec(self, name, *args, options=()):
        return super().profile_exec(name, *args, options=(*OPTIONS, *options))

    def profile_command(self, name, *args, options=(), **popen):
        return super().profile_command(name, *args, options=(*OPTIONS, *options), **popen)


class Counts(Cases):
    """The cases of test_counts.Counts, with fewer programs."""
    untraced_runs = {}
    untraced = test_counts.Counts.untraced
    check_case = test_counts.Counts.check_case
    check_threads = test_counts.Counts.check_threads


def add_case(mode, name, args):
    def test(self):
        self.check_case(mode, name, args)
    label = "_".join([mode, name.replace("-", "_"), *map(str, args)])
    setattr(Counts, f"test_{label}", test)


for how, cases in CASES.items():
    for case in cases:
        add_case(how, case[0], case[1:])


class Basic(harness.TestCase):
    """The programs for kernels before 6.0, which do without what those lack."""
    OPTIONS = ("--tier", "trace_event_basic")

    def test_counts(self):
        for name, *args in (("recursion", 10, 3), ("recursion", 65, 2), ("longjmp", 10, 5),
                            ("throws", 10, 10), ("signals", 20, "altstack"), ("entries", 100)):
            with self.subTest(name, args=args):
                document, done = self.profile_pid(name, *args, options=self.OPTIONS)
                counts = {name: count for name, count in done.counts.items()
                          if name not in test_counts.MAY_BE_SKIPPED}
                self.assert_counts(document, counts, done)

    def test_exits(self):
        for exits in ("return", "sites", "none"):
            with self.subTest(exits=exits):
                document, done = self.profile_exec("calc-pie", 50,
                                                   options=(*self.OPTIONS, "--exits", exits))
                self.assert_counts(document, done.counts, done)

    def test_says_what_is_missing(self):
        document, done = self.profile_command("calc-pie", 50, options=self.OPTIONS)
        self.assert_counts(document, done.counts, done)
        self.assertIn("proftrace: on this kernel runs have no samples, no callers",
                      done.stderr)

    def test_regions(self):
        document, done = self.profile_command("regions", 20,
                                              options=(*self.OPTIONS, "-F", "region:*"))
        self.assert_counts(document, done.counts, done)


class Events(Cases):
    def test_exits(self):
        for exits in ("return", "sites", "none"):
            with self.subTest(exits=exits):
                document, done = self.profile_pid("calc-pie", 50, options=("--exits", exits))
                self.assert_counts(document, done.counts, done)
                seen = "sites" if exits == "return" and harness.lists_returns() else exits
                self.assertGreater(document["probes"]["exits"][seen], 0)

    def test_regions(self):
        """With semaphores: who names them counts only what somebody listens to."""
        for name in ("regions", "regions-plain"):
            document, done = self.profile_command(name, 20, options=("-F", "region:*"))
            self.assert_counts(document, done.counts, done)
            self.assertEqual(document["accounting"]["open"], 0)

    def test_library_loaded_later(self):
        document, _ = self.profile_command("plugin_host", 100,
                                           options=("-F", "libplugin.so:plugin*"))
        self.assertEqual(self.count(document, "plugin_run"), 100)

    def test_children(self):
        document, done = self.profile_command("forks", 3, 10, options=("--follow",))
        self.assertEqual(self.count(document, "work"),
                         done.counts["work"] + done.numbers("CHILDREN")["work"])

    def test_odd_file_names(self):
        """The kernel's file of definitions has words, separated by spaces, and a path ends at its
        last colon."""
        for name in ("a b", "a:0x10", "a\tb", "ä'\"#;\\", "-:x"):
            with self.subTest(name=name):
                path = self.copy(program("calc-pie"), name)
                document, done = self.profile_command(path, 5)
                self.assert_counts(document, done.counts, done)

    def test_deleted_file(self):
        path = self.copy(program("calc-pie"))
        target = self.target(path, 5)
        os.remove(path)
        tracer = self.proftrace("-f", "json", *OPTIONS, "-p", target.pid).wait_tracing()
        target.go()
        done = target.finish()
        self.assert_counts(self.document(tracer.finish()), done.counts, done)

    def test_two_at_a_time(self):
        target = self.target("threads", 4, 50)
        tracers = [self.proftrace("-f", "json", *OPTIONS, *options).wait_tracing()
                   for options in (("-p", target.pid), ("-x", program("threads")))]
        target.go()
        done = target.finish()
        self.assert_counts(self.document(tracers[1].interrupt()), done.counts, done)
        self.assert_counts(self.document(tracers[0].finish()), done.counts, done)

    def test_others_do_not_count(self):
        """Of two processes of one program only the chosen one counts."""
        target, other = self.target("calc-pie", 7), self.target("calc-pie", 9)
        tracer = self.proftrace("-f", "json", *OPTIONS, "-p", target.pid).wait_tracing()
        for process in (other, target):
            process.go()
            done = process.finish()
            self.assertEqual(done.status, 0)
        self.assert_counts(self.document(tracer.finish()), done.counts, done)

    def test_switched_off_and_on(self):
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", *OPTIONS, "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        tracer.signal(signal.SIGUSR1)
        tracer.stderr.wait_lines("proftrace: switched off")
        target.step("9")
        tracer.stderr.wait_lines("proftrace: the probes are taken out")
        target.step("9")
        tracer.signal(signal.SIGUSR1)
        tracer.stderr.wait_lines("proftrace: switched on")
        target.step("4")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.count(document, "outer"), 7)
        self.assertEqual(self.count(document, "inner"), 7)

    def test_nothing_remains(self):
        target = self.target("calc-pie", 5)
        tracer = self.proftrace("-f", "json", *OPTIONS, "-p", target.pid).wait_tracing()
        keeper = keeper_of(tracer)
        self.assertGreater(len(events_of(keeper)), 3)
        self.assertEqual(len(dirty(target)), 1)
        self.document(tracer.interrupt())
        self.assertEqual(events_of(keeper), [])
        self.assertEqual(dirty(target), [])
        target.go()
        self.assertEqual(target.finish().status, 0)

    def test_killed(self):
        """The process that holds the places takes them out, and the definitions."""
        target = self.target("calc-pie", 5)
        tracer = self.proftrace(*OPTIONS, "-p", target.pid).wait_tracing()
        keeper = keeper_of(tracer)
        tracer.popen.kill()
        self.assertTrue(harness.poll(lambda: not os.path.exists(f"/proc/{keeper}")))
        self.assertEqual(events_of(keeper), [])
        self.assertEqual(dirty(target), [])
        target.go()
        self.assertEqual(target.finish().status, 0)

    def test_leftovers(self):
        """Where that one has been killed, too, definitions stay. The next run takes them out, but
        not those of a process that runs, nor of another name space of processes."""
        gone = subprocess.Popen(["true"])
        gone.wait()
        here = os.stat("/proc/self/ns/pid").st_ino
        mine = (f"proftrace_{gone.pid}_{here}", f"proftrace_{gone.pid}_{here + 1}")
        for group in mine:
            in_trace_files('echo "p:$1/e1 $2:0x1100" >>uprobe_events', group, program("calc-pie"))
        try:
            document, done = self.profile_command("calc-pie", 5)
            self.assert_counts(document, done.counts, done)
            left = {line.split()[0] for line in events_of(gone.pid)}
            self.assertEqual(left, {f"p:{mine[1]}/e1"})
        finally:
            in_trace_files('echo "-:$1/e1" >>uprobe_events', mine[1])

    def test_stripped_program(self):
        shutil.copy(program("calc-stripped"), self.path("calc"))
        document, done = self.profile_command(self.path("calc"), 100)
        counts = sorted(f["calls"] for f in document["functions"] if f["calls"] > 1)
        self.assertEqual(counts, sorted(n for n in done.counts.values() if n > 1))


if __name__ == "__main__":
    harness.main()
