# SPDX-License-Identifier: GPL-2.0-or-later
"""proftrace in a PID namespace of its own, as in a container: processes have other numbers there
than the kernel's, and those outside are not seen."""

import json
import os
import signal

import harness
from harness import PROFTRACE, PYTHON, UNLIMITED, program

OUTSIDE = 1 << 30  # this bit is in the numbers of those


def child_of(pid):
    """The one child of a process; both as numbered here."""
    def children():
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()
    return int(harness.poll(children)[0])


def numbers_of(pid):
    """A process's numbers, from this namespace to the innermost one."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        line = next(line for line in file if line.startswith("NSpid:"))
    return [int(number) for number in line.split()[1:]]


class Inside(harness.Proftrace):
    """`enter` are the words of a command that runs another one in the container."""

    def __init__(self, enter, *args):
        harness.Process.__init__(self, [*enter, PROFTRACE, *UNLIMITED, *map(str, args)])

    def interrupt(self):
        os.kill(child_of(self.pid), signal.SIGINT)
        return self.finish()


class Containers(harness.TestCase):
    def setUp(self):
        super().setUp()
        first = self.process("unshare", "--pid", "--fork", "--mount-proc",
                             "sh", "-c", "echo ready; exec cat")
        first.wait_ready()
        self.enter = ("nsenter", "--target", str(child_of(first.pid)), "--pid", "--mount")

    def traced(self, *args):
        return self._keep(Inside, self.enter, *args)

    def waiting(self, *argv):
        """A process in the container that waits for "go"."""
        process = self.process(*self.enter, *argv)
        process.wait_ready()
        return process

    def numbers(self, process, depth=1):
        """The numbers of the program to which `depth` commands lead, in all namespaces."""
        pid = process.pid
        for _ in range(depth):
            pid = child_of(pid)
        return numbers_of(pid)

    def check_processes(self, document, *numbers):
        """All of them have numbers of the container, these among them."""
        pids = {thread["pid"] for thread in document["threads"]}
        self.assertLessEqual(set(numbers), pids)
        self.assertLess(max(pids), OUTSIDE)

    def counted(self, target, number, *options):
        """(document, the Result) of the target."""
        tracer = self.traced("-f", "json", *options, "-p", number).wait_tracing()
        target.go()
        done = target.finish()
        document = self.document(tracer.finish())
        self.assert_counts(document, done.counts, done)
        self.check_processes(document, number)
        return document, done

    def test_processes_and_their_children(self):
        for exits in ("auto", "sites"):
            with self.subTest(exits=exits):
                target = self.waiting(program("forest"), "--wait", 5, 10)
                self.counted(target, self.numbers(target)[-1], f"--exits={exits}")

    def test_commands(self):
        out = self.path("out.json")
        done = self.traced("-f", "json", "-o", out, "--follow", "--", program("forest"), 2,
                           10).finish()
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            document = self.check(json.load(file), done)
        # forest calls work 1,000 times in each of the two programs that it begins.
        self.assertEqual(self.count(document, "work"), done.counts["work"] + 2000)
        self.check_processes(document)

    def test_a_container_in_the_container(self):
        target = self.waiting("unshare", "--pid", "--fork", program("threads"), "--wait", 8,
                              200, 4)
        here, container, inner = self.numbers(target, 2)
        self.assertEqual(inner, 1)
        self.assertNotEqual(here, container)
        self.counted(target, container)

    def test_users_of_a_file_outside(self):
        """A file has its probes for all who map it. Who is outside has a number that is nobody's,
        and is another process than that of the same number inside."""
        tracer = self.traced("-f", "json", "-x", program("calc-pie")).wait_tracing()
        outside = self.process(program("calc-pie"), 3).finish()
        inside = self.process(*self.enter, program("calc-pie"), 3).finish()
        document = self.document(tracer.interrupt())
        self.assert_counts(document, {name: 2 * count for name, count in inside.counts.items()},
                           outside)
        pids = sorted({thread["pid"] for thread in document["threads"]})
        self.assertEqual([pid >= OUTSIDE for pid in pids], [False, True], str(pids))

    def test_a_thread_that_begins_a_program(self):
        target = self.waiting(program("exec"), "--wait", 10, "--thread", program("calc-pie"), 3)
        tracer = self.traced("-f", "json", "-p", self.numbers(target)[-1]).wait_tracing()
        target.go()
        self.assert_counts(self.document(tracer.finish()), {"step": 10, "leave": 1},
                           target.finish())

    def test_waits(self):
        """Waits end where the CPU comes from another process of the container, too."""
        out = self.path("out.json")
        for _ in range(os.cpu_count()):
            self.process(*self.enter, "timeout", 20, "sh", "-c", "while :; do :; done")
        done = self.traced("--sample-rate", "97", "-F", "outer", "-f", "json", "-o", out, "--",
                           program("waiting"), 40).finish()
        with open(out, encoding="utf-8") as file:
            functions = self.check(json.load(file), done)["functions"]
        waited = sum(f["self_ns"] for f in functions if f["name"] in ("[timer]", "[cpu]"))
        truth = sum(done.counts[name] for name in ("sleeper_ns", "reader_ns", "alone_ns"))
        self.assertGreater(waited / truth, 0.85, str(done))

    def refused(self, message, *argv):
        """Before a command runs, in one line."""
        done = self.process(*argv).finish()
        self.assertEqual((done.status, done.stdout), (1, ""), str(done))
        self.assertEqual(len(done.stderr.splitlines()), 1, str(done))
        self.assertIn(message, done.stderr)

    def test_another_proc(self):
        """`unshare --pid` alone leaves the host's numbers in /proc: those of other processes, if
        of any."""
        calc, number = program("calc-pie"), self.numbers(self.waiting("sh", "-c",
                                                                      "echo ready; read end"))[0]
        for what in (("--", calc), ("-p", number), ("-p", "sh"), ("-x", calc), ("-a",),
                     ("-l", "-p", number), ("-l", calc), ("doctor",)):
            with self.subTest(what=what):
                self.refused("another PID namespace", "unshare", "--pid", "--fork", PROFTRACE,
                             *what)
        without = ("unshare", "--mount", "--pid", "--fork", "sh", "-c",
                   'mount -t tmpfs tmpfs /proc && exec "$@"', "sh", PROFTRACE)
        self.refused("/proc is not there", *without, "--", calc)
        done = self.process("unshare", "--pid", "--fork", PROFTRACE, "-l", "-x", calc).finish()
        self.assertEqual(done.status, 0, str(done))

    def test_root_of_a_user_namespace(self):
        inside = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc",
                  PROFTRACE)
        calc = program("calc-pie")
        for what in ("--", calc), ("-x", calc), ("-a",), ("-l", calc), ("doctor",):
            with self.subTest(what=what):
                self.refused("this is a user namespace", *inside, *what)
        done = self.process(*inside, "-l", "-x", calc).finish()
        self.assertEqual(done.status, 0, str(done))

    def test_processes_hidden_in_proc(self):
        hidden = ("unshare", "--mount", "--pid", "--fork", "sh", "-c",
                  'mount -t proc -o hidepid=ptraceable proc /proc && "$@"', "sh", PROFTRACE)
        for what in ("-p", 1), ("-p", "sh"), ("--", program("calc-pie")):
            with self.subTest(what=what):
                self.refused("hidepid", *hidden, *what)

    def test_processes_hidden_from_capabilities(self):
        """A user with our capabilities is not of root's group, which sees all processes."""
        target = self.target("steps")
        kept = ",".join("+" + name for name in ("dac_read_search", "sys_ptrace", "cap_38",
                                                "cap_39", "cap_40"))
        os.chmod(self.directory, 0o755)
        self.refused("hidepid=0", "unshare", "--mount", "sh", "-c",
                     'mount -t proc -o hidepid=invisible proc /proc && exec "$@"', "sh", "setpriv",
                     f"--reuid={harness.NOBODY}", f"--regid={harness.NOBODY}", "--clear-groups",
                     f"--inh-caps={kept}", f"--ambient-caps={kept}", self.copy(PROFTRACE), "-p",
                     target.pid)

    def test_samples(self):
        """A second of libz: its code is found by the process's number."""
        script = "\n".join(("import os, time, zlib",
                            "data, begin = os.urandom(1 << 16), time.process_time()",
                            "while time.process_time() < begin + 1: zlib.crc32(data)"))
        document = self.document(self.traced("-F", "Py_BytesMain", "-f", "json", "--", PYTHON, "-c",
                                             script).finish())
        most = max(document["cpu_samples"], key=lambda row: row["samples"])
        self.assertIn("/libz.so", most["module"])
        self.assertGreater(most["samples"], 40)
