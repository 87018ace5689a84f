# SPDX-License-Identifier: GPL-2.0-or-later
"""How a run begins, reports and ends: durations, intervals, signals, outputs."""

import json
import os
import resource
import signal
import subprocess

import harness
from harness import keeper_of, program


def heeds_hangups():
    """Stops ignoring SIGHUP: the tests may have been started with it ignored, which is
    inherited."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def frozen(path):
    """By cgroup.events, or by freezer.state."""
    with open(path, encoding="utf-8") as file:
        return any(line in ("frozen 1\n", "FROZEN\n") for line in file)


class Ends(harness.TestCase):
    def steps(self, *options, **popen):
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", *options, "-p", target.pid, **popen).wait_tracing()
        target.go()
        target.step("3")
        return target, tracer

    def test_duration(self):
        target, tracer = self.steps("-d", "1")
        document = self.document(tracer.finish())
        self.assertEqual(self.count(document, "outer"), 3)
        self.assertGreaterEqual(document["duration_ns"], 1_000_000_000)
        self.assertLess(document["duration_ns"], 10_000_000_000)
        self.assertFalse(target.ended())

    def test_fraction_of_a_second(self):
        _, tracer = self.steps("-d", "0.3")
        document = self.document(tracer.finish())
        self.assertGreaterEqual(document["duration_ns"], 300_000_000)
        self.assertLess(document["duration_ns"], 10_000_000_000)

    def test_interrupt(self):
        for signo in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            target, tracer = self.steps(preexec_fn=heeds_hangups)
            tracer.signal(signo)
            document = self.document(tracer.finish())
            self.assertEqual(self.count(document, "outer"), 3)
            target.step("4")
            self.assertEqual(target.finish().counts, {"outer": 7, "inner": 7})

    def test_hangups(self):
        """When a terminal goes its shell may send SIGHUP once more; nohup has SIGHUP ignored."""
        target, tracer = self.steps("-o", self.path("out"), preexec_fn=heeds_hangups)
        for _ in range(20):
            tracer.signal(signal.SIGHUP)
        self.assertEqual(tracer.finish().status, 0)
        with open(self.path("out"), encoding="utf-8") as file:
            self.assertEqual(self.count(self.check(json.load(file)), "outer"), 3)

        tracer = self.proftrace("-f", "json", "-p", target.pid, preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN)).wait_tracing()
        tracer.signal(signal.SIGHUP)
        target.step("4")
        target.finish()
        self.assertEqual(self.count(self.document(tracer.finish()), "outer"), 4)

    def test_interrupt_that_was_ignored(self):
        """Shells have background jobs of scripts ignore it; a script ends a run by it all the
        same."""
        _, tracer = self.steps(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        self.assertEqual(self.count(self.document(tracer.interrupt()), "outer"), 3)

    def test_interrupt_of_a_command(self):
        """Ctrl-C reaches both: the command dies of it, and the result is written."""
        out = self.path("out")
        tracer = self.proftrace("-f", "json", "-o", out, "--", program("steps")).wait_tracing()
        tracer.send("3")
        tracer.stdout.wait_lines("done")
        for pid in harness.session_members(tracer.pid):
            os.kill(pid, signal.SIGINT)
        tracer.finish()
        with open(out, encoding="utf-8") as file:
            document = self.check(json.load(file))
        self.assertEqual(self.count(document, "outer"), 3)

    def test_halted_target(self):
        """A target that does not run at all is named, as nothing was seen of it."""
        target = self.target("steps")
        said = f"process {target.pid} is stopped, and had no CPU time in the run"
        os.kill(target.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, target.pid, os.WSTOPPED | os.WNOWAIT)
        done = self.run_proftrace("-f", "json", "-d", "0.1", "-p", target.pid)
        os.kill(target.pid, signal.SIGCONT)
        self.assertIn(said, done.stderr)
        done = self.run_proftrace("-f", "json", "-d", "0.1", "-p", target.pid)
        self.assertNotIn("had no CPU time", done.stderr)

    def test_frozen_target(self):
        """A target may also be frozen by its control group, of v2 or v1."""
        target = self.target("steps")
        mount, name, on, off = "/sys/fs/cgroup/freezer", "freezer.state", "FROZEN", "THAWED"
        if not os.path.isdir(mount):
            mount, name, on, off = "/sys/fs/cgroup", "cgroup.freeze", "1", "0"
        group = f"{mount}/proftrace-freezes-{os.getpid()}"
        state = f"{group}/{name}"
        os.mkdir(group)
        try:
            write(f"{group}/cgroup.procs", str(target.pid))
            write(state, on)
            shown = "freezer.state" if on == "FROZEN" else "cgroup.events"
            self.assertTrue(harness.poll(lambda: frozen(f"{group}/{shown}")))
            done = self.run_proftrace("-f", "json", "-d", "0.1", "-p", target.pid)
        finally:
            write(state, off)
            target.go()
            target.finish()
            harness.poll(lambda: not subprocess.run(["rmdir", group], check=False).returncode)
        self.assertIn(f"process {target.pid} is frozen, and had no CPU time in the run",
                      done.stderr)

    def test_end_of_the_target(self):
        target, tracer = self.steps()
        counts = target.finish().counts
        self.assert_counts(self.document(tracer.finish()), counts)

    def test_end_of_the_last_of_two(self):
        one, two = self.target("steps"), self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", f"{one.pid},{two.pid}").wait_tracing()
        one.go()
        one.step("3")
        one.finish()
        two.go()
        two.step("4")
        self.assertFalse(tracer.ended())
        two.finish()
        self.assertEqual(self.count(self.document(tracer.finish()), "outer"), 7)

    def test_target_that_ends_while_attaching(self):
        for _ in range(5):
            target = self.target("calc-static")
            tracer = self.proftrace("-f", "json", "-p", target.pid)
            target.popen.kill()
            done = tracer.finish()
            self.assertIn(done.status, (0, 1), str(done))
            if done.status:
                self.assertEqual(len(done.stderr.splitlines()), 1, str(done))

    def test_killed_keeper_of_the_probes(self):
        """When the link holder has been killed nothing is counted any more: that is reported, and
        earlier counts are not lost."""
        target, tracer = self.steps()
        os.kill(keeper_of(tracer), signal.SIGKILL)
        done = tracer.finish(timeout=30)
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("the process that holds the probes has been killed", done.stderr)
        self.assertEqual(self.count(json.loads(done.stdout), "outer"), 3)
        self.assertFalse(target.ended())
        self.assertFalse(harness.dirty_text(target.pid))

    def test_killed_opener_of_files(self):
        """When the process that opens files has been killed, files that are loaded later are not
        traced, which is reported; all else goes on."""
        target = self.target("dlloop", 50, 7)
        target.wait_ready()
        tracer = self.proftrace("-f", "json", "-F", "*", "-F", "libshapes.so:*", "-p",
                                target.pid).wait_tracing()
        os.kill(keeper_of(tracer, "proftrace-files"), signal.SIGKILL)
        target.go()
        ended, done = target.finish(), tracer.finish()
        self.assertIn("the process that opens files has been killed", done.stderr)
        document = self.document(done)
        self.assert_counts(document, ended.counts)
        self.assertFalse({f["name"] for f in document["functions"]} &
                         set(ended.numbers("LIBRARY")))

    def test_the_result_does_not_wait_for_the_probes(self):
        """Taking probes out takes minutes where the machine forks all the time."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "tree", "-F", "outer", "-p", target.pid).wait_tracing()
        target.go()
        target.step("7")
        keeper = keeper_of(tracer)
        os.kill(keeper, signal.SIGSTOP)
        try:
            tracer.signal(signal.SIGINT)
            self.assertTrue(tracer.stdout.wait_lines("entered 7 = returned 7"))
            self.assertTrue(tracer.stderr.wait_lines("proftrace: the probes are still being"))
            self.assertFalse(tracer.ended())
        finally:
            os.kill(keeper, signal.SIGCONT)
        done = tracer.finish()
        self.assertEqual(done.status, 0, done)
        self.assertEqual([line for line in harness.dirty_text(target.pid)
                          if line.endswith("/steps")], [])
        target.finish()

    def test_killed_keeper_of_many_links(self):
        """The probes are out when that is said, and not one link after the other: that would take
        a minute."""
        target = self.target("many")
        target.wait_ready()
        tracer = self.proftrace("-F", "f_*", "--max-overhead", "5", "-f", "json",
                                "-p", target.pid).wait_tracing()
        keeper = keeper_of(tracer)
        self.assertGreater(len(os.listdir(f"/proc/{keeper}/fd")), 100)
        os.kill(keeper, signal.SIGKILL)
        done = tracer.finish()
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("the process that holds the probes has been killed", done.stderr)
        self.assertFalse(harness.dirty_text(target.pid))

    def test_in_a_time_namespace(self):
        """BPF's clock is another one there: refused, before a command runs. Not if the namespace
        has the host's clock."""
        for ahead, status in ((1000, 1), (0, 0)):
            inside = ("unshare", "--time", f"--monotonic={ahead}", "--fork", harness.PROFTRACE)
            done = self.process(*inside, "-q", "-f", "json", "--", program("calc-pie"), 3).finish()
            self.assertEqual(done.status, status, str(done))
            self.assertEqual("time namespace" in done.stderr, bool(ahead), str(done))
            self.assertEqual(bool(done.stdout), not ahead, str(done))

    def test_quiet(self):
        """-q says nothing but errors."""
        out = self.path("out")
        done = self.run_proftrace("-q", "-f", "json", "-o", out, "--", program("calc-pie"))
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))

    def test_one_line_when_tracing_begins(self):
        target, tracer = self.steps()
        done = tracer.interrupt()
        lines = [line for line in done.stderr.splitlines() if line.startswith(harness.TRACING)]
        self.assertEqual(len(lines), 1)
        self.assertIn(str(target.pid), lines[0])


class Intervals(harness.TestCase):
    def test_deltas_add_up(self):
        """Each interval is a document on a line of its own, and all of them add up to the whole."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-i", "0.2", "-p", target.pid).wait_tracing()
        target.go()
        for seen in range(1, 4):
            target.step(str(seen * 10))
            tracer.stdout.wait_lines("{", 2 * seen)
        target.step("hold")
        tracer.stdout.wait_lines("{", 8)
        target.step("")
        counts = target.finish().counts
        done = tracer.finish()
        self.assertEqual(done.status, 0, str(done))
        documents = [self.check(json.loads(line)) for line in done.stdout.splitlines()]
        self.assertGreaterEqual(len(documents), 8)
        sums = {name: 0 for name in counts}
        totals = {name: 0 for name in counts}
        accounting = dict.fromkeys(("entered", "returned", "unwound", "open", "lost"), 0)
        for document in documents:
            for name in sums:
                function = self.function(document, name)
                sums[name] += function["calls"] if function else 0
                totals[name] += function["total_ns"] if function else 0
            for key in accounting:
                accounting[key] += document["accounting"][key]
        self.assertEqual(sums, counts)
        self.assertGreaterEqual(totals["outer"], totals["inner"])
        total = sum(counts.values())
        self.assertEqual(accounting, {"entered": total, "returned": total, "unwound": 0,
                                      "open": 0, "lost": 0})
        starts = [document["start_time"] for document in documents]
        self.assertEqual(starts, sorted(starts))
        # Shorter first intervals are for screens.
        self.assertGreaterEqual(documents[0]["duration_ns"], 200_000_000)

    def test_ended_threads_make_room(self):
        """Far more paths than there is room for, though never at once: none is lost."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-i", "0.1", "--max-paths", "1024", "-p",
                                target.pid).wait_tracing()
        target.go()
        for _ in range(1, 26):
            target.step("threads 100")
            tracer.stdout.wait_lines("{", tracer.stdout.text().count("\n") + 1)
        counts = target.finish().counts
        done = tracer.finish()
        self.assertEqual(done.status, 0, str(done))
        documents = [self.check(json.loads(line)) for line in done.stdout.splitlines()]
        self.assertEqual(sum(document["accounting"]["lost"] for document in documents), 0)
        found = [self.function(document, "inner") for document in documents]
        self.assertEqual(sum(f["calls"] for f in found if f), counts["inner"])

    def test_folded_deltas_add_up(self):
        """Duplicate lines are summed by flame graph tools, so deltas can simply follow."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "folded", "-w", "calls", "-i", "0.2", "-p", target.pid)
        tracer.wait_tracing()
        target.go()
        for seen in range(1, 4):
            target.step("10")
            tracer.stdout.wait_lines("", seen)
        counts = target.finish().counts
        sums = {}
        for line in tracer.finish().stdout.splitlines():
            if line:
                stack, _, number = line.rpartition(" ")
                leaf = stack.split(";")[-1]
                sums[leaf] = sums.get(leaf, 0) + int(number)
        self.assertEqual({name: sums.get(name) for name in counts}, counts)

    def test_duration_with_intervals(self):
        target = self.target("steps")
        done = self.run_proftrace("-f", "json", "-i", "0.2", "-d", "1", "-p", target.pid)
        self.assertEqual(done.status, 0, str(done))
        self.assertIn(len(done.stdout.splitlines()), range(3, 8), str(done))


class Outputs(harness.TestCase):
    def steps(self, *options, **popen):
        target = self.target("steps")
        tracer = self.proftrace(*options, "-p", target.pid, **popen).wait_tracing()
        target.go()
        target.step("3")
        return target, tracer

    def test_closed_stdout_at_the_end(self):
        target, tracer = self.steps("-f", "json", stdout=subprocess.PIPE)
        self.close_stdout(tracer)
        done = tracer.interrupt()
        self.assert_quiet(done)
        target.step("1")

    def test_closed_stdout_ends_the_intervals(self):
        target, tracer = self.steps("-f", "folded", "-i", "0.1", stdout=subprocess.PIPE)
        self.close_stdout(tracer)
        # Calls go on, so that there is something to write.
        while not tracer.ended():
            target.step("1")
        self.assert_quiet(tracer.finish())

    def test_a_command_finds_closed_streams_closed(self):
        done = self.run_proftrace(
            "-q", "-o", self.path("out"), "-F", "execute_command", "--",
            "bash", "-c", "test -e /proc/$$/fd/0 || exit 7", preexec_fn=lambda: os.close(0))
        self.assertEqual(done.status, 7, str(done))

    def close_stdout(self, tracer):
        """Closes the pipe that the tracer writes to. The reading thread is in read(2), so a plain
        close will not do."""
        read_end = tracer.popen.stdout.fileno()
        # The thread goes on with an empty file, and the pipe loses its only reader.
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, read_end)
        os.close(null)

    def assert_quiet(self, done):
        self.assertIn(done.status, (0, -signal.SIGPIPE, 128 + signal.SIGPIPE), str(done))
        for line in done.stderr.splitlines():
            self.assertNotRegex(line.lower(), "error|cannot|broken pipe|failed", str(done))

    def test_full_disk(self):
        for format_ in ("json", "folded", "tree", "flat"):
            _, tracer = self.steps("-f", format_, "-o", "/dev/full")
            done = tracer.interrupt()
            self.assertEqual(done.status, 1, str(done))
            self.assertIn("no space left", done.stderr.lower(), str(done))

    def test_file_size_limit(self):
        """The signal of it ends nobody; the command gets it as it would without us."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (512, resource.RLIM_INFINITY))
        recording = self.path("rec")
        for options in (("-f", "json", "-o", self.path("out")), ("record", "-o", recording)):
            verb = options[:1] if options[0] == "record" else ()
            done = self.process(harness.PROFTRACE, *verb, *harness.UNLIMITED,
                                *options[len(verb):], "--", program("calc-pie"), 5,
                                preexec_fn=limit).finish()
            self.assertEqual(done.status, 1, str(done))
            self.assertEqual(done.stderr.lower().count("file too large"), 1, str(done))
            self.assertIn("COUNT apply 5", done.stdout)

    def test_command_of_who_ignores_the_ends_of_children(self):
        """A profiler that was started with SIGCHLD ignored passes the command's status on all the
        same, and the command ignores SIGCHLD as well."""
        code = "import signal; print(signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN); exit(6)"
        done = self.process(harness.PROFTRACE, "-q", "-o", "/dev/null", "-F", "Py_BytesMain", "--",
                            harness.PYTHON, "-c", code,
                            preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        done = done.finish()
        self.assertEqual((done.status, done.stdout), (6, "True\n"), str(done))

    def test_command_keeps_the_default_of_a_file_size_limit(self):
        done = self.run_proftrace("-q", "-o", "/dev/null", "-F", "main", "--", "/usr/bin/perl",
                                  "-ne", "print if /SigIgn/", "/proc/self/status")
        ignored = int(done.stdout.split()[1], 16)
        self.assertFalse(ignored & 1 << (signal.SIGXFSZ - 1), str(done))

    def test_full_disk_as_stdout(self):
        with open("/dev/full", "wb") as full:
            _, tracer = self.steps("-f", "json", stdout=full)
            done = tracer.interrupt()
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("no space left", done.stderr.lower(), str(done))

    def test_full_disk_as_stdout_of_help(self):
        for options in (("--help",), ("--version",), ("report", "--help"),
                        ("--completion", "bash")):
            with open("/dev/full", "wb") as full:
                done = self.process(harness.PROFTRACE, *options, stdout=full).finish()
            self.assertEqual((done.status, done.stderr.count("\n")), (1, 1), str(done))
            self.assertIn("no space left", done.stderr.lower(), str(done))

    def test_full_disk_does_not_hide_a_commands_end(self):
        done = self.run_proftrace("-f", "json", "-o", "/dev/full", "--", program("calc-pie"), 5)
        self.assertIn("COUNT apply 5", done.stdout)
        self.assertEqual(done.status, 1, str(done))

    def test_closed_stdout_is_an_error_whatever_the_command_says(self):
        """A result that goes nowhere is an error; but one that is read to its middle is none."""
        for redirection, status, words in ((">&-", 1, "cannot write stdout"), ("| head -c0", 7, "")):
            script = f'{{ "$@"; echo "status $?" >&2; }} {redirection}'
            done = self.process("sh", "-c", script, "sh", harness.PROFTRACE, "-f", "json", "-F",
                                "main", "--", "/usr/bin/perl", "-e", "exit 7").finish()
            self.assertIn(f"status {status}\n", done.stderr, str(done))
            self.assertIn(words, done.stderr, str(done))

    def test_unwritable_path(self):
        target = self.target("steps")
        for path in ("/nonexistent/directory/out", "/proc/nothing", self.directory):
            self.assert_one_line(self.run_proftrace("-o", path, "-p", target.pid), 1, path)

    def test_unwritable_path_starts_no_command(self):
        done = self.run_proftrace("-o", "/nonexistent/out", "--", program("calc-pie"))
        self.assert_one_line(done, 1, "/nonexistent/out")

    def test_named_pipe(self):
        """Waiting for a reader, nobody would hear the signal that ends the run."""
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        command = ("--", program("calc-pie"), 5)
        for verb in ((), ("record",)):
            done = self.process(harness.PROFTRACE, *verb, "-o", pipe, *map(str, command)).finish()
            self.assert_one_line(done, 1, pipe, "nobody reads")
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with open(reader, encoding="utf-8") as file:
            self.assertEqual(self.run_proftrace("-f", "json", "-o", pipe, *command).status, 0)
            self.check(json.load(file))

    def test_output_replaces_a_file(self):
        out = self.path("out")
        with open(out, "w", encoding="utf-8") as file:
            file.write("x" * 100_000)
        self.run_proftrace("-f", "json", "-o", out, "--", program("calc-pie"))
        with open(out, encoding="utf-8") as file:
            self.check(json.load(file))

    def test_stdout_carries_the_result_only(self):
        target, tracer = self.steps("-v", "-f", "json")
        target.finish()
        self.document(tracer.finish())


if __name__ == "__main__":
    harness.main()
