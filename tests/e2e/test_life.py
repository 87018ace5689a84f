# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of a process while it is traced: files loaded and unloaded, programs replaced, children."""

import os
import re
import resource
import signal
import subprocess
import time

import harness
from harness import program

LIBRARY_COUNTS = ("shape_area", "shape_scale", "shape_clamp")


def cpu_ticks(pid):
    """User and system time that the process has had, in hundredths of a second."""
    return sum(map(int, harness.stat_fields(pid)[11:13]))


class LifeCase(harness.TestCase):
    def traced(self, name, *args, options=(), live=False, follow=False):
        """(document, result of the target, result of proftrace) of a target that is traced whole."""
        options = ("-f", "json", *options, *(["--follow"] if follow else []))
        if not live:
            output = self.path("profile.json")
            done = self.run_proftrace("-o", output, *options, "--", program(name), *args)
            with open(output, encoding="utf-8") as file:
                return self.parse(file.read()), done, done
        target = self.target(name, *args)
        profiler = self.proftrace(*options, "-p", target.pid).wait_tracing()
        target.go()
        ended, done = target.finish(), profiler.finish()
        self.assertEqual(done.status, 0, str(done))
        return self.parse(done.stdout), ended, done

    def parse(self, text):
        document = harness.json.loads(text)
        self.check(document)
        return document

    def untraced(self, name, *args):
        return subprocess.run([program(name), *map(str, args)], stdout=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=harness.TIMEOUT)

    def assert_same(self, result, name, *args):
        expected = self.untraced(name, *args)
        output = result.stdout.removeprefix("ready\n")
        self.assertEqual((output, result.status), (expected.stdout, expected.returncode))


class Loading(LifeCase):
    def test_a_late_plugin_that_throws(self):
        """The C program's functions have return probes until the C++ plug-in comes."""
        for live in (False, True):
            document, ended, _ = self.traced("plugin_host", 500, live=live)
            self.assert_same(ended, "plugin_host", 500)
            self.assert_counts(document, ended.counts)
            self.assertGreater(document["accounting"]["unwound"], 0)

    def test_a_late_plugin_that_cannot_be_seen(self):
        """Out of file descriptors: what the plug-in does is unknown, so return probes are off."""
        target = self.target("plugin_host", 500)
        profiler = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        _, most = resource.prlimit(profiler.pid, resource.RLIMIT_NOFILE)
        taken = {int(fd) for fd in os.listdir(f"/proc/{profiler.pid}/fd")}
        resource.prlimit(profiler.pid, resource.RLIMIT_NOFILE,
                         (min(set(range(len(taken) + 1)) - taken), most))
        target.go()
        ended = target.finish()
        self.assert_same(ended, "plugin_host", 500)
        done = profiler.finish()
        self.assertIn("cannot see what process", done.stderr)
        self.assert_counts(self.parse(done.stdout), ended.counts)

    def test_the_plugin_is_traced_from_its_first_call(self):
        for live in (False, True):
            document, ended, done = self.traced(
                "plugin_host", 100, live=live, options=("-F", "*", "-F", "libplugin.so:*"))
            self.assert_counts(document, ended.counts | {"plugin_run": 100})
            self.assertIn("in libplugin.so", done.stderr)
            self.assertNotIn("missing", done.stderr)

    def test_time_of_a_thread_that_waits_for_the_plan(self):
        """A thread that waits for the plan asks again and again, which uses the thread's CPU time;
        the target's time does not include that."""
        target = self.target("late")
        profiler = self.proftrace("-f", "json", "-F", "*", "-F", "libshapes.so:*", "-p",
                                  target.pid).wait_tracing()
        target.go()
        profiler.signal(signal.SIGSTOP)
        before = cpu_ticks(target.pid)
        target.send("load")
        self.assertTrue(harness.poll(lambda: cpu_ticks(target.pid) > before + 4))
        profiler.signal(signal.SIGCONT)
        self.assertTrue(target.stdout.wait_lines("done"))
        target.step("5")
        all_ns = cpu_ticks(target.pid) * 1e7
        ended = target.finish()
        document = self.parse(profiler.finish().stdout)
        self.assert_counts(document, ended.counts | {"shape_area": 5})
        held_ns = document["accounting"]["held_ns"]
        self.assertGreater(held_ns, 0.02e9)
        self.assertLess(document["accounting"]["cpu_ns"], all_ns - 0.8 * held_ns)

    def test_nobody_waits_for_what_is_unloaded(self):
        """Nobody waits for a file to be planned that is unmapped already, as its code cannot run. A
        server's workers close all modules as they end."""
        target = self.target("late")
        target.go()
        target.step("load")
        profiler = self.proftrace("-f", "json", "-F", "*", "-F", "libshapes.so:*", "-p",
                                  target.pid).wait_tracing()
        target.step("3")
        profiler.signal(signal.SIGSTOP)
        target.step("unload")
        profiler.signal(signal.SIGCONT)
        target.step("load")
        target.step("5")
        target.finish()
        document = self.parse(profiler.finish().stdout)
        self.assert_counts(document, {"draw": 8, "shape_area": 8})
        # The second load may wait for a look, 2 ms; the other wait would be one of 3 s.
        self.assertLess(document["accounting"].get("held_ns", 0), 1e9)

    def test_only_the_plugin(self):
        document, _, done = self.traced("plugin_host", 100, options=("-F", "libplugin.so:plugin*"))
        self.assertEqual(self.count(document, "plugin_run"), 100)
        self.assertIn("nothing matches 'libplugin.so:plugin*' yet", done.stderr)

    def test_dlopen_and_dlclose_in_a_loop(self):
        for live in (False, True):
            document, ended, _ = self.traced("dlloop", 50, 7, live=live,
                                             options=("-F", "*", "-F", "libshapes.so:*"))
            self.assert_same(ended, "dlloop", 50, 7)
            self.assert_counts(document, ended.counts)
            self.assert_counts(document, ended.numbers("LIBRARY"))

    def test_news_without_end_does_not_keep_the_run_from_ending(self):
        """Four processes open and close a library until they are killed."""
        targets = [self.target("dlloop", 1 << 40, 1) for _ in range(4)]
        pids = ",".join(str(target.pid) for target in targets)
        for target in targets:
            target.wait_ready()
            target.go()
        done = self.run_proftrace("-d", "0.5", "-p", pids)
        self.assertEqual(done.status, 0, str(done))
        profiler = self.proftrace("-p", pids).wait_tracing()
        profiler.interrupt()
        self.assertEqual(profiler.finish().status, 0)

    def test_intervals_grow_along(self):
        output = self.path("profile.json")
        done = self.run_proftrace("-i", "0.05", "-f", "json", "-o", output, "-F", "*", "-F",
                                  "libshapes.so:*", "--", program("dlloop"), 200, 5)
        total = {}
        with open(output, encoding="utf-8") as file:
            for line in file:
                for function in self.parse(line)["functions"]:
                    total[function["name"]] = total.get(function["name"], 0) + function["calls"]
        expected = done.counts | done.numbers("LIBRARY")
        self.assertEqual({name: total.get(name, 0) for name in expected}, expected)


class Programs(LifeCase):
    def test_another_program_in_the_same_process(self):
        args = (5, "--", program("calc-pie"))
        for live in (False, True):
            document, ended, done = self.traced("exec", *args, live=live)
            self.assert_same(ended, "exec", *args)
            self.assertIn("in calc-pie", done.stderr)
            counts = ended.counts
            self.assert_counts(document, counts)
            self.assertIn("square", counts)

    def test_begun_by_another_thread(self):
        """The thread that execs is another one than the first: to the kernel's filter that is
        another process."""
        args = (5, "--thread", program("calc-pie"))
        document, ended, done = self.traced("exec", *args, follow=True)
        self.assert_same(ended, "exec", *args)
        self.assert_counts(document, ended.counts)
        document, ended, done = self.traced("exec", *args)
        self.assert_same(ended, "exec", *args)
        # proftrace warns, whether it has seen the program while that ran or afterwards.
        self.assertRegex(done.stderr, "its first calls(, or all,)? may be missing")

    def test_the_same_program_begun_by_another_thread(self):
        """Probes of before are not beside those of after: what is not missing counts once."""
        args = (5, "--thread", program("exec"), 5, 1, 5, 1)
        for live in (False, True):
            document, ended, done = self.traced("exec", *args, live=live)
            self.assert_same(ended, "exec", *args)
            self.assertEqual(ended.counts, {"step": 10, "leave": 1})
            self.assertLessEqual(self.count(document, "step"), 10, done.stderr)
            self.assertLessEqual(self.count(document, "main"), 2, done.stderr)

    def test_a_program_that_unwinds_follows_one_that_does_not(self):
        args = (5, "--", program("throws"))
        document, ended, _ = self.traced("exec", *args)
        self.assert_same(ended, "exec", *args)
        self.assertGreater(document["accounting"]["unwound"], 0)

    def test_a_static_program_begun_by_a_shell(self):
        """No dynamic linker holds it until it is planned, which is said; its next run is whole.
        A run that has ended before its file is looked at tells nothing, so there are several."""
        planned = self.path("planned")
        output = self.path("profile.json")
        path = program("gokinds")
        profiler = self.proftrace("--follow", "-F", "main.*", "-f", "json", "-o", output, "--",
                                  "/bin/sh", "-c", f"until test -e {planned}; do {path} > /dev/null"
                                  f"; done; {path}")
        profiler.stderr.wait_lines("proftrace: gokinds is statically linked")
        with open(planned, "w", encoding="utf-8"):
            pass
        done = profiler.finish()
        with open(output, encoding="utf-8") as file:
            document = self.parse(file.read())
        for name, count in done.counts.items():
            if "[" not in name:  # generic functions have several forms
                self.assertGreaterEqual(self.count(document, name), count, name)
        for thread in document["threads"]:
            self.assertEqual(thread.get("goroutine"), thread["tid"], thread["comm"])

    def test_through_a_shell(self):
        """The shell has no symbols of its own: nothing is traced until it becomes the program."""
        output = self.path("profile.json")
        done = self.run_proftrace("--follow", "-f", "json", "-o", output, "--", "/bin/sh", "-c",
                                  f"exec {program('calc-pie')}")
        with open(output, encoding="utf-8") as file:
            document = self.parse(file.read())
        with open("/bin/sh", "rb") as shell:
            if b"/ld-" in shell.read(4096):
                self.assert_counts(document, done.counts)
            else:  # no dynamic linker is known before the program's own (busybox)
                self.assertIn("a program began without a dynamic linker", done.stderr)

    def test_programs_that_do_not_wait_are_counted(self):
        """Static programs, which begin and end while the profiler does not get to run."""
        texts = ["a program began without a dynamic linker that could be made to wait (static "
                 "ones have none): its first calls, or all, may be missing",
                 "2 programs began without a dynamic linker that could be made to wait (static "
                 "ones have none): their first calls, or all, may be missing"]
        for cnt, text in enumerate(texts, 1):
            go = self.path(f"go-{cnt}")
            os.mkfifo(go)
            profiler = self.proftrace(
                "--follow", "-f", "json", "-o", self.path("profile.json"), "--", "/bin/sh", "-c",
                f"echo PID $$; read line < {go}; {cnt * (program('calc-static') + ';')} exit 0")
            profiler.wait_tracing()
            pid = profiler.stdout.wait_lines("PID")[0].split()[1]
            profiler.signal(signal.SIGSTOP)
            with open(go, "w", encoding="utf-8") as file:
                file.write("go\n")
            self.assertTrue(harness.poll(lambda: harness.stat_fields(pid)[0] == "Z"))
            profiler.signal(signal.SIGCONT)
            self.assertIn("proftrace: " + text, profiler.finish().stderr)

    def test_a_command_waits_for_a_busy_machine(self):
        """Where the profiler hardly gets to run it takes more than the 3 s for which a thread of
        a server is held."""
        go, output = self.path("go"), self.path("profile.json")
        os.mkfifo(go)
        profiler = self.proftrace("--follow", "-f", "json", "-o", output, "--", "/bin/sh", "-c",
                                  f"echo PID $$; read line < {go}; exec {program('calc-pie')}")
        profiler.wait_tracing()
        pid = profiler.stdout.wait_lines("PID")[0].split()[1]
        profiler.signal(signal.SIGSTOP)
        with open(go, "w", encoding="utf-8") as file:
            file.write("go\n")
        self.assertTrue(harness.poll(
            lambda: os.readlink(f"/proc/{pid}/exe") == program("calc-pie")))
        time.sleep(3.5) # held meanwhile
        profiler.signal(signal.SIGCONT)
        done = profiler.finish()
        self.assertNotIn("may be missing", done.stderr)
        with open(output, encoding="utf-8") as file:
            self.assert_counts(self.parse(file.read()), done.counts)

    def test_hundreds_of_functions(self):
        """The thread that has begun the program keeps its CPU until they are probed: so that is
        done on another one. Beside it they would take many times longer: a bound is what the same
        takes where nobody is held."""
        output = self.path("profile.json")
        done = self.run_proftrace("-f", "json", "-o", output, "--", "/bin/sh", "-c",
                                  "exec sqlite3 :memory: 'select 6 * 7'")
        self.assertEqual((done.status, done.stdout), (0, "42\n"), str(done))
        self.assertNotIn("may be missing", done.stderr)
        with open(output, encoding="utf-8") as file:
            document = self.parse(file.read())
        self.assertGreater(document["probes"]["functions"], 300, str(done))
        held_ns = document["accounting"]["held_ns"]
        if held_ns >= 2e9: # a slow machine, or a fault
            self.assertLess(held_ns, 2 * self.ns_to_begin("sqlite3", ":memory:"))

    def ns_to_begin(self, *argv):
        """How long proftrace takes to begin, with a process that only waits."""
        target = self.process(*argv)
        began = time.monotonic_ns()
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        took_ns = time.monotonic_ns() - began
        tracer.interrupt()
        return took_ns


class Children(LifeCase):
    def test_followed(self):
        for live in (False, True):
            document, ended, done = self.traced("forks", 20, 10, live=live, follow=True)
            self.assert_same(ended, "forks", 20, 10)
            work = ended.counts["work"] + ended.numbers("CHILDREN")["work"]
            self.assertEqual(self.count(document, "work"), work)
            self.assertEqual(len({thread["pid"] for thread in document["threads"]}), 21)
            self.assertNotIn("followed", done.stderr)

    def test_followed_into_new_programs(self):
        script = "; ".join(f"{program('calc-pie')}" for _ in range(10))
        output = self.path("profile.json")
        done = self.run_proftrace("--follow", "-f", "json", "-o", output, "--", "/bin/sh", "-c", script)
        self.assertEqual(done.status, 0, str(done))
        with open(output, encoding="utf-8") as file:
            document = self.parse(file.read())
        self.assertEqual(self.count(document, "main"), 10)
        self.assertEqual(self.count(document, "square"), 10 * done.counts["square"])

    def test_static_programs_do_not_wait_and_that_is_said(self):
        for name, said in (("calc-static", True), ("calc-pie", False)):
            done = self.run_proftrace("--follow", "-F", "square", "-f", "json", "--", "/bin/sh",
                                      "-c", f"{program(name)} > {self.path('out')}; true")
            self.assertEqual(done.status, 0, str(done))
            self.assertEqual("without a dynamic linker" in done.stderr, said, str(done))

    def test_many_at_once(self):
        """Each waits in the dynamic linker for its plan, more of them than there are CPUs."""
        each = f"{program('calc-pie')} | cat"
        output = self.path("profile.json")
        done = self.run_proftrace("--follow", "-F", "main", "-f", "json", "-o", output, "--",
                                  "/bin/sh", "-c", " & ".join([each] * 12) + " & wait")
        with open(output, encoding="utf-8") as file:
            document = self.parse(file.read())
        # On a busy machine a plan may take longer than a program is kept waiting, which is told.
        told = re.search("(?:([0-9]+) times )?a process went on with files", done.stderr)
        missing = int(told.group(1) or 1) if told else 0
        self.assertLessEqual(self.count(document, "main"), 12, str(done))
        self.assertGreaterEqual(self.count(document, "main") + missing, 12, str(done))

    def test_the_run_ends_with_the_last_child(self):
        """The command ends at once; what it has left in the background is still traced."""
        release = self.path("release")
        os.mkfifo(release)
        output = self.path("profile.json")
        profiler = self.proftrace(
            "--follow", "-f", "json", "-o", output, "--", "/bin/sh", "-c",
            f"(read line < {release}; exec {program('calc-pie')}) > {self.path('out')} & echo started")
        profiler.stdout.wait_lines("started")
        with open(release, "w", encoding="utf-8") as file:
            file.write("go\n")
        self.assertEqual(profiler.finish().status, 0)
        with open(output, encoding="utf-8") as file:
            self.assertEqual(self.count(self.parse(file.read()), "main"), 1)


class Contexts(LifeCase):
    """OpenSSL can switch stacks, and hardly ever does: return probes stay until it makes one."""

    def libcrypto_or_a_fake(self):
        """A library of that name that makes and enters a context when it is asked to."""
        source = self.path("fake.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(FAKE_LIBCRYPTO)
        library = self.path("libcrypto.so.3")
        subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libcrypto.so.3", "-o",
                        library, source], check=True, timeout=harness.TIMEOUT)
        with open(source, "w", encoding="utf-8") as file:
            file.write(FAKE_USER)
        user = self.path("user")
        subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", "-o", user, source, library,
                        f"-Wl,-rpath,{self.directory}"], check=True, timeout=harness.TIMEOUT)
        return user

    def profile(self, user, jobs):
        output = self.path("profile.json")
        done = self.run_proftrace("-f", "json", "-o", output, "--", user, jobs)
        self.assertEqual((done.status, done.stdout), (0, f"work {3000 + jobs}\n"), str(done))
        with open(output, encoding="utf-8") as file:
            document = self.parse(file.read())
        self.assertEqual(self.count(document, "work"), 3000 + jobs)
        self.assertEqual(document["accounting"]["open"], 0)
        return document["probes"]["exits"]

    def test_until_the_first_one_is_made(self):
        user = self.libcrypto_or_a_fake()
        self.assertGreater(self.profile(user, 0)["return"], 0)
        exits = self.profile(user, 500)
        self.assertEqual(exits["return"], 0)
        self.assertGreater(exits["sites"], 0)


FAKE_LIBCRYPTO = """
#include <ucontext.h>
static ucontext_t own, job;
static char stack[65536];
static void (*entry)(void);
static void start(void) { entry(); }
void job_run(void (*function)(void))
{
	entry = function;
	getcontext(&job);
	job.uc_stack.ss_sp = stack;
	job.uc_stack.ss_size = sizeof(stack);
	job.uc_link = &own;
	makecontext(&job, start, 0);
	swapcontext(&own, &job);
}
"""

FAKE_USER = """
#include <stdio.h>
#include <stdlib.h>
void job_run(void (*function)(void));
static long count;
__attribute__((noipa)) void work(void) { count++; }
__attribute__((noipa)) void many(int n) { while (n-- > 0) work(); }
__attribute__((noipa)) void in_job(void) { work(); }
int main(int argc, char **argv)
{
	int jobs = atoi(argv[1]);

	many(1500);
	for (int i = 0; i < jobs; i++)
		job_run(in_job);
	many(1500);
	printf("work %ld\\n", count);
	return 0;
}
"""
