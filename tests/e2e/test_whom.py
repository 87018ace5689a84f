# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets by name, control group and user: processes that are there, and those that come later."""

import concurrent.futures
import contextlib
import ctypes
import os
import signal
import socket
import struct
import subprocess

import harness
from harness import NOBODY, program


def total(*results):
    """Adds up the counts of several targets."""
    sums = {}
    for result in results:
        for name, number in result.counts.items():
            sums[name] = sums.get(name, 0) + number
    return sums


def groups():
    """A folder in which control groups can be made, of v2 if there is one; None."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split()[1:3] for line in file]
    for point, kind in sorted(mounts, key=lambda mount: mount[1] != "cgroup2"):
        if kind in ("cgroup", "cgroup2") and "cpuset" not in point:
            with contextlib.suppress(OSError):
                path = f"{point}/proftrace-test-{os.getpid()}"
                os.mkdir(path)
                os.rmdir(path)
                return point
    return None


class WhomCase(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.calc = self.copy(program("calc-pie"), f"whom-{os.getpid() % 100000}")
        self.name = os.path.basename(self.calc)

    def trace(self, *options):
        return self.proftrace("-v", "-f", "json", *options).wait_tracing()

    def wait_joined(self, tracer, target):
        found = tracer.stderr.wait_lines(f"proftrace: process {target.pid} is traced as well")
        self.assertTrue(found, tracer.stderr.text())

    def finish(self, tracer, *targets):
        """All of the targets' calls are there. Returns the document."""
        for target in targets:
            target.go()
        counts = total(*(target.finish() for target in targets))
        document = self.document(tracer.finish())
        self.assert_counts(document, counts)
        return document


class Names(WhomCase):
    def test_all_of_a_name_and_one_that_starts_later(self):
        targets = [self.target(self.calc, times) for times in (3, 5)]
        other = self.target("calc-pie", 7)
        tracer = self.trace("-p", self.name)
        later = self.target(self.calc, 11)
        other.go()
        other.finish()
        document = self.finish(tracer, *targets, later)
        self.assertEqual(self.count(document, "apply"), 19)
        self.assertEqual(sorted(document["target"]["pids"]), [target.pid for target in targets])

    def test_who_else_pays(self):
        """Other processes that map a traced file have its probes; that is reported, and PIDs spare
        them."""
        target = self.target(self.calc, 3)
        other = self.target(self.calc, 7)
        for whom, told in ((self.name, True), (str(target.pid), False)):
            tracer = self.trace("-p", whom, "-F", "libc.so.6:getsid")
            tracer.signal(signal.SIGINT)
            done = tracer.finish()
            self.assertEqual("pay for its probes" in done.stderr, told, str(done))
        for process in target, other:
            process.go()
            process.finish()

    def test_a_glob_beside_a_number(self):
        numbered, named = self.target("recursion", 10, 2), self.target(self.calc, 3)
        tracer = self.trace("-p", f"{numbered.pid},?{self.name[1:]}")
        later = self.target(self.calc, 5)
        self.wait_joined(tracer, later)
        document = self.finish(tracer, numbered, named, later)
        self.assertEqual(self.count(document, "apply"), 8)

    def test_one_that_starts_again(self):
        """With a time the run outlives the last of them, and says so."""
        first = self.target(self.calc, 3)
        tracer = self.trace("-p", self.name, "-d", "30")
        first.go()
        done = [first.finish()]
        found = tracer.stderr.wait_lines("proftrace: all of these processes have ended, after")
        self.assertTrue(found, tracer.stderr.text())
        for times in (5, 7):
            again = self.target(self.calc, times)
            again.go()
            done.append(again.finish())
        self.assert_counts(self.document(tracer.interrupt()), total(*done))

    def test_mount_namespace(self):
        """In the container the path is another program, with symbols of its own."""
        inside = self.copy(program("recursion"), "inside")
        outer = self.target(self.calc, 3)
        script = 'mount --bind "$1" "$2" && exec "$2" --wait 10 2'
        tracer = self.trace("-p", self.name)
        argv = ("unshare", "-m", "sh", "-c", script, "sh", inside, self.calc)
        inner = self.process(*argv)
        inner.wait_ready()
        harness.poll(lambda: "more functions" in tracer.stderr.text())
        self.finish(tracer, outer, inner)

    @harness.long
    def test_thousands_have_it(self):
        """More than are taken at once: that is said, in lines that can be read."""
        hive = self.copy(program("hive"), f"hive-{os.getpid() % 100000}")
        target = self.target(hive, 10000)
        tracer = self.proftrace("-p", os.path.basename(hive), "-F", "work", "-f", "json").wait_tracing()
        target.go()
        done = tracer.interrupt()
        target.finish()
        self.assertEqual(done.status, 0, str(done))
        lines = done.stderr.splitlines()
        self.assertIn("proftrace: more than 4096 processes match: the others are not traced", lines)
        self.assertRegex(done.stderr, r"proftrace: tracing 1 function in PID (\d+,){7}\d+ and \d,\d{3} more\n")
        self.assertLess(max(map(len, lines)), 200)

    def test_functions_may_come_later(self):
        """Processes that come later do not have the function either: that is no failure, however
        many come and whatever else is shown, here system calls."""
        target = self.target(self.calc, 3)
        tracer = self.trace("-p", f"?{self.name[1:]}", "--syscalls", "-F", "no_such_function")
        later = self.target(self.calc, 5)
        self.wait_joined(tracer, later)
        done = tracer.interrupt()
        self.assertEqual(done.status, 0, str(done))
        for words in "could be probed", "is not traced: ":
            self.assertNotIn(words, done.stderr)
        for process in target, later:
            process.go()
            process.finish()

    def test_no_such_function(self):
        """Other processes of the same program will not have the function either: a misspelt name is
        reported."""
        target = self.target(self.calc, 3)
        tracer = self.proftrace("-p", self.name, "-F", "sqare", "-f", "tree").wait_tracing()
        done = tracer.interrupt()
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("no function matches 'sqare'; the nearest: square", done.stderr)
        self.assertNotIn("once it is loaded", done.stderr)
        # A program that was not probed is not said to be idle.
        self.assertRegex(done.stdout, r"^no calls were seen in .*: 0 functions were probed\n\Z")
        target.go()
        target.finish()

    def test_nobody_has_it(self):
        target = self.target(self.calc)
        for options, words in (
                (("-p", "no-such-name"), ("-p no-such-name", "no process")),
                (("-p", self.name, "--user", "nobody"), (self.name, "nobody", "no process")),
                (("--user", "no-such-user"), ("no such user",)),
                (("--user", "4294967296"), ("--user 4294967296", "from 0 to 4294967294")),
                (("-p", "no such name"), ("-p no such name", "no process is that")),
                (("--unit", "no-such-unit"), ("--unit no-such-unit", "no unit")),
                (("--container", "no-such-one"), ("no container",)),
                (("--cgroup", "no/such/group"), ("no control group",)),
                (("-p", "proftrace-links"), ("no process",)),
                (("-p", "proftrace-files"), ("no process",))):
            with self.subTest(options=options):
                self.assert_one_line(self.run_proftrace(*options), 1, *words)
        target.kill()

    def test_listed(self):
        """-l takes them as well."""
        target = self.target(self.calc)
        done = self.run_proftrace("-l", "-p", self.name)
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("square", done.stdout)
        target.kill()


def landlock():
    """Puts the calling thread, and what it begins from now on, into a domain of Landlock: out of it
    the memory of processes elsewhere cannot be read, not even by root. Returns why not, or None."""
    libc = ctypes.CDLL(None, use_errno=True)
    rules = ctypes.create_string_buffer(struct.pack("<Q", 1 << 6))  # no character devices are made
    fd = libc.syscall(444, rules, 8, 0)  # landlock_create_ruleset
    if fd >= 0 and not libc.syscall(446, fd, 0):  # landlock_restrict_self
        os.close(fd)
        return None
    return f"no Landlock here: {os.strerror(ctypes.get_errno())}"


class Unreadable(WhomCase):
    """Processes that even root cannot read, as a security module decides: whoever is in a domain of
    Landlock can read only who else is in there."""

    def in_domain(self, body):
        """Runs `body` by a thread in a domain; what fails there fails here."""
        def run():
            why = landlock()
            return why if why else body()

        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            why = pool.submit(run).result()
        if why:
            self.skipTest(why)

    def test_they_are_left_out(self):
        outside = [self.target(self.calc, 1000) for _ in range(2)]

        def body():
            inside = self.target(self.calc, 3)
            tracer = self.trace("-p", self.name)
            later = self.target(self.calc, 5)
            document = self.finish(tracer, inside, later)
            self.assertEqual(self.count(document, "apply"), 8)
            lines = [line for line in tracer.stderr.text().splitlines() if "left out," in line]
            self.assertEqual(len(lines), 1, lines)
            self.assertIn("2 processes are left out", lines[0])
            self.assertIn("Permission denied", lines[0])
            first = min(target.pid for target in outside)
            self.assertIn(f"process {first}, the first one", lines[0])
            listed = self.target(self.calc)
            done = self.run_proftrace("-l", "-p", self.name)
            self.assertEqual(done.status, 0, str(done))
            listed.kill()

        self.in_domain(body)
        for target in outside:
            target.kill()

    def test_nobody_else_is_there(self):
        outside = [self.target(self.calc) for _ in range(2)]
        pids = [str(target.pid) for target in outside]

        def body():
            for options, words in (
                    (("-p", self.name), ("2 processes", pids[0], "the first one")),
                    (("-p", pids[0]), (f"what process {pids[0]} has mapped",)),
                    (("-p", f"{pids[0]},{self.name}"), (f"what process {pids[0]} has mapped",))):
                done = self.run_proftrace(*options)
                self.assert_one_line(done, 1, "cannot read", "Permission denied", *words)

        self.in_domain(body)
        for target in outside:
            target.kill()


class Users(WhomCase):
    def test_user(self):
        own, others = self.target(self.calc, 3), []
        for times in (5, 7):
            argv = [harness.for_anybody(self.calc), "--wait", str(times)]
            others.append(self.process(*argv, user=NOBODY, group=NOBODY))
            others[-1].wait_ready()
            if times == 5:
                tracer = self.trace("-p", self.name, "--user", str(NOBODY))
        document = self.finish(tracer, *others)
        self.assertEqual(self.count(document, "apply"), 12)
        own.kill()


class Groups(WhomCase):
    def setUp(self):
        super().setUp()
        point = groups()
        if not point:
            self.skipTest("no control group can be made here")
        self.group = f"{point}/proftrace-test-{os.getpid()}.service"
        os.makedirs(f"{self.group}/below")

    def tearDown(self):
        super().tearDown()
        for path in f"{self.group}/below", self.group:
            harness.poll(lambda path=path: not self.remove(path))

    def remove(self, path):
        return subprocess.run(["rmdir", path], check=False, stderr=subprocess.DEVNULL).returncode

    def move(self, pid, group):
        with open(f"{group}/cgroup.procs", "w", encoding="utf-8") as file:
            file.write(str(pid))

    def begin(self, group, times):
        """Begins in the group, as systemd has it."""
        script = 'echo $$ > "$1/cgroup.procs" && exec "$2" --wait "$3"'
        target = self.process("sh", "-c", script, "sh", group, self.calc, times)
        target.wait_ready()
        return target

    def test_group(self):
        """The target is all below a group, also processes that begin in it later, and one that is
        moved there."""
        first, below = self.begin(self.group, 3), self.begin(f"{self.group}/below", 5)
        moved, other = self.target(self.calc, 7), self.target(self.calc, 1000)
        tracer = self.trace("--cgroup", self.group)
        later = self.begin(f"{self.group}/below", 11)
        if "cgroup2" not in self.kind():
            self.wait_joined(tracer, later)
        self.move(moved.pid, self.group)
        self.wait_joined(tracer, moved)
        self.finish(tracer, first, below, moved, later)
        other.kill()

    def kind(self):
        return subprocess.run(["stat", "-f", "-c", "%T", self.group], stdout=subprocess.PIPE,
                              text=True, check=True).stdout.replace("fs", "")

    def test_unit(self):
        target = self.begin(self.group, 3)
        name = os.path.basename(self.group)
        tracer = self.trace("--unit", name.removesuffix(".service"))
        self.finish(tracer, target)


class Servers(WhomCase):
    def test_nginx(self):
        """A worker that is killed has a successor, which the master forks."""
        conf, sock = self.path("nginx.conf"), self.path("socket")
        with open(conf, "w", encoding="utf-8") as file:
            file.write(f"daemon off; worker_processes 1; user root; pid {self.path('pid')};"
                       f"error_log {self.path('log')};events {{}}"
                       f"http {{ access_log off; server {{ listen unix:{sock};"
                       f"location / {{ return 200 ok; }} }} }}")
        nginx = self.copy("/usr/sbin/nginx", self.name + "x")
        master = self.process(nginx, "-c", conf)
        harness.poll(lambda: self.children(master.pid))
        first = self.children(master.pid)[0]
        tracer = self.trace("-p", self.name + "x", "-F", "*")
        os.kill(first, signal.SIGKILL)
        self.assertTrue(harness.poll(lambda: set(self.children(master.pid)) - {first}))
        worker = (set(self.children(master.pid)) - {first}).pop()
        self.assertTrue(harness.poll(lambda: self.fetch(sock)))
        document = self.document(tracer.interrupt())
        self.assertIn(worker, {t["pid"] for t in document["threads"] if t["calls"]})
        master.signal(signal.SIGTERM)
        master.finish()

    def children(self, pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(child) for child in file.read().split()]

    def fetch(self, path):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
            sock.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return sock.makefile("rb").read().endswith(b"ok")


if __name__ == "__main__":
    harness.main()
