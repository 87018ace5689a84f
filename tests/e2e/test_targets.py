# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets: PIDs, files, commands; other mount namespaces, deleted and replaced files."""

import json
import os
import shutil
import signal
import subprocess
import time

import harness
from harness import NOBODY, PYTHON, program


class Pids(harness.TestCase):
    def test_several(self):
        one, two = self.target("recursion", 10, 2), self.target("calc-pie", 7)
        tracer = self.proftrace("-f", "json", "-p", f"{one.pid},{two.pid}").wait_tracing()
        one.go()
        two.go()
        counts = one.finish().counts | two.finish().counts
        document = self.document(tracer.finish())
        self.assert_counts(document, counts)
        self.assertEqual(sorted(document["target"]["pids"]), sorted([one.pid, two.pid]))
        self.assertEqual({t["pid"] for t in document["threads"] if t["calls"]}, {one.pid, two.pid})

    def test_a_process_that_executes_itself_over_and_over(self):
        """Amid an exec nothing is mapped: without looking again one in five tries met that."""
        target = subprocess.Popen([program("exec"), "1", "1000000"], stdout=subprocess.DEVNULL)
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        for _ in range(30):
            self.assertIn("step", self.run_proftrace("-l", "-p", target.pid).stdout)

    def test_two_of_one_program_and_not_the_third(self):
        targets = [self.target("calc-pie", times) for times in (3, 5, 7)]
        tracer = self.proftrace("-f", "json", "-p", targets[0].pid, "-p", targets[1].pid)
        tracer.wait_tracing()
        for target in targets:
            target.go()
            target.finish()
        self.assertEqual(self.count(self.document(tracer.finish()), "apply"), 8)

    def test_limited_to_a_library(self):
        target = self.target("shapes-linked", 10)
        other = self.target("shapes-linked", 100)
        tracer = self.proftrace("-f", "json", "-p", target.pid, "-x", program("libshapes.so"))
        tracer.wait_tracing()
        other.go()
        other.finish()
        target.go()
        counts = target.finish().counts
        document = self.document(tracer.finish())
        self.assertIsNone(self.function(document, "draw"))
        del counts["draw"]
        self.assert_counts(document, counts)

    def test_code_of_a_file_that_is_no_elf_file(self):
        """Code of a file that is no ELF file is left alone; files that are mapped besides, above it
        and later, are traced."""
        options = ("-F", "libshapes.so:*", "-F", "draw")
        target = self.target("shapes-foreign", 9)
        tracer = self.proftrace("-f", "json", *options, "-p", target.pid).wait_tracing()
        target.go()
        counts = target.finish().counts
        self.assert_counts(self.document(tracer.finish()), counts)
        document, done = self.profile_command("shapes-foreign", 9, options=options)
        self.assert_counts(document, done.counts)

    def test_comm_and_tid_of_threads(self):
        target = self.target("calc-pie")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        target.finish()
        threads = [t for t in self.document(tracer.finish())["threads"] if t["calls"]]
        self.assertEqual([(t["pid"], t["tid"], t["comm"]) for t in threads],
                         [(target.pid, target.pid, "calc-pie")])

    def test_deleted_program(self):
        path = self.copy(program("calc-pie"))
        target = self.target(path)
        os.unlink(path)
        self.check_calc(target)

    def test_replaced_program(self):
        """Another file now has the program's name: the running one is meant."""
        path = self.copy(program("calc-pie"))
        target = self.target(path)
        os.rename(self.copy(program("recursion")), path)
        self.check_calc(target)

    def test_replaced_program_by_path(self):
        """-x traces the new file; who still runs the old one is told of."""
        path = self.copy(program("calc-pie"))
        target = self.target(path)
        told = f"process {target.pid} runs the file that was {path} before it was replaced"
        done = self.proftrace("-d", "0.1", "-x", path).finish()
        self.assertNotIn("before it was replaced", done.stderr, str(done))
        os.rename(self.copy(program("recursion")), path)
        done = self.proftrace("-d", "0.1", "-x", path).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertIn(told, done.stderr, str(done))

    def test_other_mount_namespace(self):
        """In the target's mount namespace the path names another file than out here."""
        path = self.copy(program("recursion"), "same")
        inside = self.copy(program("calc-pie"), "inside")
        script = 'mount --bind "$1" "$2" && exec "$2" --wait 10'
        target = self.process("unshare", "-m", "sh", "-c", script, "sh", inside, path)
        target.wait_ready()
        self.check_calc(target)

    def test_other_root(self):
        """chroot into a directory with a static program: paths mean nothing out here."""
        self.copy(program("calc-static"), "calc")
        target = self.process("chroot", self.directory, "/calc", "--wait", "10")
        target.wait_ready()
        self.check_calc(target)

    def check_calc(self, target):
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        counts = target.finish().counts
        self.assert_counts(self.document(tracer.finish()), counts)

    def test_text_is_restored(self):
        """After us the target's code is what its files say."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        self.assertTrue(harness.dirty_text(target.pid), "no probe to be seen while tracing")
        target.go()
        target.step("3")
        tracer.interrupt()
        harness.poll(lambda: not harness.dirty_text(target.pid))
        self.assertEqual(harness.dirty_text(target.pid), [])
        target.step("4")
        self.assertEqual(target.finish().counts, {"outer": 7, "inner": 7})

    def test_copied_code(self):
        """A target that dies of a probe in a copy of its code is reported, with the reason."""
        for whom in ("-p", "-x"):
            with self.subTest(whom=whom):
                target = self.target("copies")
                tracer = self.proftrace("-F", "*", whom,
                                        target.pid if whom == "-p" else program("copies"))
                tracer.wait_tracing()
                target.go()
                self.assertNotEqual(target.finish().status, 0)
                done = tracer.finish() if whom == "-p" else tracer.interrupt()
                self.assertIn("died of SIGTRAP", done.stderr)

    def test_two_profilers(self):
        target = self.target("calc-pie", 50)
        tracers = [self.proftrace("-f", "json", "-p", target.pid).wait_tracing() for _ in "12"]
        target.go()
        counts = target.finish().counts
        for tracer in tracers:
            self.assert_counts(self.document(tracer.finish()), counts)

    def test_profiler_killed(self):
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        tracer.popen.kill()
        tracer.finish()
        harness.poll(lambda: not harness.dirty_text(target.pid))
        self.assertEqual(harness.dirty_text(target.pid), [])
        target.step("4")
        done = target.finish()
        self.assertEqual((done.status, done.counts), (0, {"outer": 7, "inner": 7}))


class Files(harness.TestCase):
    def test_library_in_two_processes_one_started_later(self):
        """Found by file: linked or opened, there already or not."""
        early = self.target("shapes-dlopen", 10)
        tracer = self.proftrace("-f", "json", "-x", program("libshapes.so")).wait_tracing()
        early.go()
        late = self.target("shapes-linked", 20)
        late.go()
        sums = {}
        for target in (early, late):
            for name, count in target.finish().counts.items():
                sums[name] = sums.get(name, 0) + count
        document = self.document(tracer.interrupt())
        del sums["draw"]
        self.assert_counts(document, sums)
        self.assertEqual(document["target"]["exec"], program("libshapes.so"))
        self.assertEqual({t["pid"] for t in document["threads"] if t["calls"]},
                         {early.pid, late.pid})

    def test_relative_path_and_link(self):
        os.symlink(program("calc-pie"), self.path("link"))
        tracer = self.proftrace("-f", "json", "-x", "./link", cwd=self.directory).wait_tracing()
        done = self.process(program("calc-pie")).finish()
        self.assert_counts(self.document(tracer.interrupt()), done.counts)

    def test_many_short_processes(self):
        tracer = self.proftrace("-f", "json", "-x", program("calc-pie")).wait_tracing()
        for _ in range(50):
            subprocess.run([program("calc-pie"), "3"], stdout=subprocess.DEVNULL, check=True)
        document = self.document(tracer.interrupt())
        self.assertEqual(self.count(document, "apply"), 150)
        self.assertEqual(self.count(document, "main"), 50)

    def test_cpu_time_before_the_start(self):
        """CPU time that a process had used before the start is none of the run's, whether the
        process lives on or ends."""
        for ends in False, True:
            with self.subTest(ends=ends):
                path = self.copy(program("ends"), f"ends-{ends}")
                target = self.process(path, "idle", 1000000)
                clock = ~target.pid << 3 | 2  # as clock_getcpuclockid(3) has it

                def had(ns):
                    return lambda: time.clock_gettime_ns(clock) > ns

                self.assertTrue(harness.poll(had(1e9), harness.TIMEOUT))
                before_ns = time.clock_gettime_ns(clock)
                tracer = self.proftrace("-f", "json", "-F", "work", "-x", path).wait_tracing()
                self.assertTrue(harness.poll(had(time.clock_gettime_ns(clock) + 5e8),
                                             harness.TIMEOUT))
                after_ns = time.clock_gettime_ns(clock)
                if ends:
                    target.kill()
                cpu_ns = self.document(tracer.interrupt())["accounting"]["cpu_ns"]
                self.assertGreater(cpu_ns, 4e8)
                self.assertLess(cpu_ns, after_ns - before_ns + 9e8)
                target.kill()

    def test_cpu_time_of_processes_that_have_ended(self):
        """CPU time counts also where the thread that ends last has called nothing, and where two
        end at once."""
        for how in "idle", "together":
            with self.subTest(how):
                tracer = self.proftrace("-f", "json", "-F", "work", "-x", program("ends"))
                tracer.wait_tracing()
                cpu_ns = calls = 0
                for _ in range(10):
                    done = self.process(program("ends"), how, 50).finish()
                    calls += done.counts["work"]
                    cpu_ns += done.numbers("CPU")["ns"]
                document = self.document(tracer.interrupt())
                self.assertEqual(self.count(document, "work"), calls)
                accounting = document["accounting"]
                # The program's own clock has run while probes were hit, too.
                self.assertAlmostEqual((accounting["cpu_ns"] + accounting["probe_ns"]) / cpu_ns, 1,
                                       delta=0.05)


class Commands(harness.TestCase):
    def test_status_is_passed_on(self):
        for status in (0, 3, 255):
            document, done = self.profile_command("calc-pie", 5, status)
            self.assertEqual(done.status, status)
            self.assertEqual(document["target"]["command"], [program("calc-pie"), "5", str(status)])

    def test_asks_its_parent_to_trace_it(self):
        """A program that asks its parent to trace it stops at each signal, and we are that
        parent."""
        for more in (), ("again",):
            with self.subTest(more):
                document, done = self.profile_command("asks_parent", 3, *more)
                self.assertEqual((done.status, done.counts), (5, {"handled": 6}), str(done))
                self.assert_counts(document, done.counts, done)

    def test_library_is_missing(self):
        """The dynamic linker's status, which is not that of a command that cannot be run."""
        path = self.path("alone")
        shutil.copy(program("shapes-linked"), path)
        alone = self.process(path).finish()
        self.assertEqual(alone.status, 127, str(alone))
        for options in (), ("-l",):
            done = self.run_proftrace(*options, "--", path)
            self.assertEqual(done.status, 127, str(done))
            self.assertIn("libshapes.so", done.stderr)
            self.assertIn("before it could be traced", done.stderr)
        self.assertEqual(self.run_proftrace("--", self.path("nowhere")).status, 1)

    def test_nothing_to_probe(self):
        """A command is run all the same, and why nothing is traced is what is said of most."""
        source, path = self.path("tiny.c"), self.path("tiny")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int one(void) { return 1; }\nint two(void) { return 2; }\n"
                       "int more(int a, int b) { return a * b + 3 * a; }\n"
                       "int main(void) { return 7; }\n")
        subprocess.run(["gcc", "-O2", "-o", path, source], check=True)
        done = self.run_proftrace("--max-overhead", "5", "--", path)
        self.assertEqual(done.status, 7, str(done))
        self.assertRegex(done.stderr, r"none of the \d+ matching functions can be probed")
        # Not of the C runtime's, whose sizes are unknown.
        self.assertRegex(done.stderr, r"; 4 of them, as (one|two|more|main): a leaf of \d+ ins")
        done = self.run_proftrace("-F", "nosuch", "--", path)
        self.assertEqual(done.status, 1, str(done))

    def test_without_dashes(self):
        out = self.path("out")
        done = self.run_proftrace("-f", "json", "-o", out, program("calc-pie"), "5")
        with open(out, encoding="utf-8") as file:
            self.assert_counts(self.check(json.load(file)), done.counts)

    def test_options_behind_the_command_are_its_own(self):
        out = self.path("out")
        done = self.run_proftrace("-q", "-o", out, "-F", "Py_BytesMain", PYTHON, "-c",
                                  "import sys; print(sys.argv[1:])", "-p", "1", "--", "-f", "json")
        self.assertEqual((done.status, done.stdout),
                         (0, "['-p', '1', '--', '-f', 'json']\n"), str(done))

    def test_found_by_path_variable(self):
        out = self.path("out")
        done = self.run_proftrace("-f", "json", "-o", out, "--", "calc-pie", "5",
                                  env={"PATH": harness.PROGRAMS + ":/usr/bin:/bin:/usr/sbin"})
        with open(out, encoding="utf-8") as file:
            self.assert_counts(self.check(json.load(file)), done.counts)

    def test_main_is_counted(self):
        document, _ = self.profile_command("calc-pie")
        self.assertEqual(self.count(document, "main"), 1)

    def test_stdin_and_stdout_are_the_commands(self):
        out = self.path("out")
        tracer = self.proftrace("-f", "json", "-o", out, "--", program("steps"))
        tracer.send("3")
        tracer.stdout.wait_lines("done")
        tracer.send("4")
        done = tracer.finish()
        self.assertEqual(done.stdout, "done\ndone\nCOUNT outer 7\nCOUNT inner 7\n", str(done))
        with open(out, encoding="utf-8") as file:
            self.assert_counts(self.check(json.load(file)), done.counts)

    def test_script_with_an_interpreter_line(self):
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!{program('calc-pie')} 12\n")
        os.chmod(script, 0o755)
        document, done = self.profile_command(script)
        self.assertEqual(done.status, 0)
        self.assertEqual(done.counts["apply"], 12)
        self.assert_counts(document, done.counts)

    def test_runs_as_the_caller_of_sudo(self):
        show = "import os; print(os.getresuid(), os.getresgid(), 0 in os.getgroups())"
        done = self.run_proftrace("-q", "-o", self.path("out"), "-F", "Py_BytesMain", "--",
                                  PYTHON, "-c", show,
                                  env={"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)})
        ids = (NOBODY,) * 3
        self.assertEqual((done.status, done.stdout), (0, f"{ids} {ids} False\n"), str(done))

    def test_runs_as_root_without_sudo(self):
        done = self.run_proftrace("-q", "-o", self.path("out"), "-F", "Py_BytesMain", "--",
                                  PYTHON, "-c", "import os; print(os.getuid())")
        self.assertEqual((done.status, done.stdout), (0, "0\n"), str(done))

    def test_inherits_no_descriptors(self):
        show = "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"
        done = self.run_proftrace("-q", "-o", self.path("out"), "-F", "Py_BytesMain", "--",
                                  PYTHON, "-c", show)
        self.assertEqual(done.stdout, "[0, 1, 2, 3]\n", str(done))  # 3 is that directory

    def test_signal_dispositions_are_the_commands(self):
        show = ("import re; print(re.findall('Sig(?:Blk|Ign):.(.*)',"
                " open('/proc/self/status').read()))")
        plain = subprocess.run([PYTHON, "-c", show], stdout=subprocess.PIPE, check=True,
                               restore_signals=True)
        traced = ("-q", "-o", self.path("out"), "-F", "Py_BytesMain", "--", PYTHON, "-c", show)
        done = self.run_proftrace(*traced)
        self.assertEqual(done.stdout, plain.stdout.decode(), str(done))

        # nohup and shells' background jobs have signals ignored.
        def ignore():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)

        plain = subprocess.run([PYTHON, "-c", show], stdout=subprocess.PIPE, check=True,
                               preexec_fn=ignore)
        done = self.run_proftrace(*traced, preexec_fn=ignore)
        self.assertEqual(done.stdout, plain.stdout.decode(), str(done))

    def test_library_function_of_a_command(self):
        """The library is mapped long after the command has started."""
        document, done = self.profile_command(
            "shapes-linked", 30, options=("-F", "libshapes.so:shape_*", "-F", "draw"))
        self.assert_counts(document, done.counts)


class BuildProperties(harness.TestCase):
    """The targets are what the tests take them for."""

    def objdump(self, name):
        return subprocess.run(["objdump", "-d", "--no-show-raw-insn", program(name)], check=True,
                              stdout=subprocess.PIPE, timeout=harness.TIMEOUT).stdout.decode()

    def test_tail_calls_are_jumps(self):
        text = self.objdump("tailcall")
        for name in ("second", "third", "ping", "pong"):
            self.assertRegex(text, rf"\bjmp +[0-9a-f]+ <{name}>")

    def test_functions_are_split(self):
        text = self.objdump("cold")
        self.assertIn("<parse.cold>:", text)
        self.assertIn("<check.cold>:", text)

    def test_debug_file_is_apart(self):
        done = subprocess.run(["nm", program("calc-debuglink")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)
        self.assertIn(b"no symbols", done.stdout)
        self.assertTrue(os.path.exists(program("calc-debuglink.debug")))


if __name__ == "__main__":
    harness.main()
