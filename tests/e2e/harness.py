# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs proftrace and its targets, waits for events (never for time), and checks what every run must
hold: the invariants of the JSON document, nothing left in the kernel, no process left behind."""

import atexit
import contextlib
import ctypes
import errno
import functools
import glob
import itertools
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import schemas

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("PROFTRACE_BUILD", "build"))
# Tests that run side by side have each their own copies: see tests/workers.py.
PROGRAMS = os.environ.get("PROFTRACE_PROGRAMS") or os.path.join(BUILD, "programs")
PROFTRACE = os.path.join(ROOT, "proftrace")
# For tests of exact counts: without a filter there is a budget, and then not every function is
# traced.
UNLIMITED = ("--max-overhead", "none")
DROPPER = os.path.join(BUILD, "dropper")
PYTHON = "/usr/bin/python3"

# How much slower this machine may be than one that runs on its own processor: an emulated one is.
PATIENCE = float(os.environ.get("PROFTRACE_PATIENCE", "1"))
# A hang, in seconds: nothing here takes as long, even where the machine is stopped most of the time.
# No test may wait for that in vain.
TIMEOUT = 600 * PATIENCE
TRACING = "proftrace: tracing "
# All processes of the machine: for what is apart /proc has its own alone.
PROCESSES = os.environ.get("PROFTRACE_PROCESSES", "/proc")
NOBODY = 65534


def alone(why):
    """Marks a class or a method: no other test may run beside it, for the reason given."""
    def mark(what):
        what.alone = why
        return what
    return mark


def in_background(what):
    """Marks a class or a method that computes for minutes and measures nothing: it runs at a low
    priority beside all others."""
    what.in_background = True
    return what


def apart(what):
    """Marks a class that looks at all processes of the machine: it runs beside others, but in a PID
    namespace, where there are no processes but its own."""
    what.apart = True
    return what


def long(what):
    """Marks a class or a method that takes long: it is begun first."""
    what.long = True
    return what


def program(name):
    return os.path.join(PROGRAMS, name)


@functools.cache
def for_anybody(path):
    """A copy of a program for other users, who may not get into the folder that it lies in."""
    directory = tempfile.mkdtemp(prefix="proftrace-test-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    os.chmod(directory, 0o755)
    return shutil.copy(path, directory)


def poll(condition, timeout=TIMEOUT, interval=0.01):
    """Waits for one of the few states that nothing announces. Returns the condition's last
    value."""
    deadline = time.monotonic() + timeout
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(interval)
    return value


def listens(path):
    """Whether a server takes connections at that socket, whose file is there a moment earlier."""
    with socket.socket(socket.AF_UNIX) as client:
        return not client.connect_ex(path)


class Stream:
    """Reads a pipe in the background, so that nobody blocks on it, and waits for its lines."""

    def __init__(self, pipe):
        self.pipe = pipe
        self.data = bytearray()  # grows in place: adding to bytes would copy 25 MB per chunk
        self.ended = False
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        while chunk := os.read(self.pipe.fileno(), 65536):
            with self.changed:
                self.data += chunk
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def text(self):
        return self.data.decode(errors="replace")

    def wait_lines(self, prefix, count=1, timeout=TIMEOUT):
        """Waits until `count` whole lines begin with `prefix`; returns them. Fewer: the end."""
        def lines():
            whole = self.data[:self.data.rfind(b"\n") + 1].decode(errors="replace")
            return [line for line in whole.splitlines() if line.startswith(prefix)]

        with self.changed:
            if not self.changed.wait_for(lambda: len(lines()) >= count or self.ended, timeout):
                raise AssertionError(f"no line '{prefix}' within {timeout} s: {self.text()!r}")
            return lines()

    def finish(self, timeout):
        self.thread.join(timeout)
        self.pipe.close()


class Result:
    """How a process has ended."""

    def __init__(self, argv, status, stdout, stderr):
        self.argv, self.status, self.stdout, self.stderr = argv, status, stdout, stderr

    def __str__(self):
        return (f"{' '.join(map(str, self.argv))}\n  exit status {self.status}\n"
                f"  stdout: {self.stdout[-2000:]!r}\n  stderr: {self.stderr[-2000:]!r}")

    @property
    def counts(self):
        """{function: N} of the lines "COUNT function N"."""
        return self.numbers("COUNT")

    def numbers(self, word):
        rows = (line.split(" ", 1)[1].rsplit(" ", 1) for line in self.stdout.splitlines()
                if line.startswith(word + " "))
        return {name: int(number) for name, number in rows}


class Process:
    """A child in a session of its own, with its three streams at hand."""

    def __init__(self, argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=None, cwd=None,
                 **popen):
        self.argv = argv
        # The user who runs the tests may have a terminal of any width.
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("SUDO_") and name != "COLUMNS"}
        environment.update(env or {})
        self.popen = subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE,
                                      env=environment, cwd=cwd, start_new_session=True, **popen)
        self.pid = self.popen.pid
        self.stdout = Stream(self.popen.stdout) if self.popen.stdout else None
        self.stderr = Stream(self.popen.stderr)
        self.result = None

    def wait_ready(self):
        if not self.stdout.wait_lines("ready"):
            raise AssertionError(f"not ready: {self.finish()}")

    def go(self):
        self.send("go")

    def send(self, line):
        self.popen.stdin.write(line.encode() + b"\n")
        self.popen.stdin.flush()

    def signal(self, signo):
        self.popen.send_signal(signo)

    def ended(self):
        return self.popen.poll() is not None

    def finish(self, timeout=TIMEOUT):
        """Waits for the end. The standard input ends now."""
        if self.result:
            return self.result
        if self.popen.stdin:
            with contextlib.suppress(BrokenPipeError):
                self.popen.stdin.close()
        try:
            status = self.popen.wait(timeout)
        except subprocess.TimeoutExpired:
            stderr = self.stderr.text()
            self.kill()
            raise AssertionError(f"still running after {timeout} s: {' '.join(self.argv)}\n"
                                 f"  stderr: {stderr!r}") from None
        for stream in filter(None, (self.stdout, self.stderr)):
            stream.finish(5)
        stdout = self.stdout.text() if self.stdout else ""
        self.result = Result(self.argv, status, stdout, self.stderr.text())
        return self.result

    def kill(self):
        if self.popen.poll() is None:
            self.popen.kill()
            self.popen.wait(TIMEOUT)
        for pid in session_members(self.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.popen.stdin:
            with contextlib.suppress(BrokenPipeError):
                self.popen.stdin.close()
        for stream in filter(None, (self.stdout, self.stderr)):
            stream.finish(5)


class Target(Process):
    """A program of tests/programs that waits for us."""

    def __init__(self, name, *args, how="--wait", **popen):
        path = name if "/" in name else program(name)
        super().__init__([path, how, *map(str, args)], **popen)
        self.wait_ready()

    def step(self, line):
        """Tells the program `steps` what to do, and waits until that is done."""
        done = self.stdout.text().count("done\n") + 1
        self.send(line)
        self.stdout.wait_lines("done", done)


class Proftrace(Process):
    def __init__(self, *args, **popen):
        super().__init__([PROFTRACE, *UNLIMITED, *map(str, args)], **popen)

    def wait_tracing(self):
        if not self.stderr.wait_lines(TRACING):
            raise AssertionError(f"proftrace does not trace: {self.finish()}")
        return self

    def interrupt(self):
        self.signal(signal.SIGINT)
        return self.finish()


def keeper_of(tracer, name="proftrace-links"):
    """The process of the tracer's that holds its links, or has another name."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fields = stat_fields(pid)
        if fields and int(fields[1]) == tracer.pid:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                if file.read() == name + "\n":
                    return int(pid)
    raise AssertionError(f"there is no {name}")


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the name: state, ppid, pgrp, session, ..."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def session_members(session):
    """Live processes of a session; a zombie that waits for init is not alive."""
    members = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fields = stat_fields(pid)
        if fields and fields[0] not in "ZX" and int(fields[3]) == session:
            members.append(int(pid))
    return members


def calibrate():
    """Lets proftrace measure what probes cost until it keeps the figures, which those of a busy
    machine are not worth: else each test that comes would measure anew."""
    for options in (), ("--calls",):
        poll(lambda: b"calibration: " not in subprocess.run(
            [PROFTRACE, "-v", "-f", "json", *UNLIMITED, *options, "--", program("calc-pie")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            timeout=TIMEOUT, check=False).stderr, 30 * PATIENCE)


class Bpf:
    """The kernel's programs, maps and links, by bpf(2)."""

    SYSCALL = 321
    LOOKUP, PROG_LOAD, MAP_BY_ID = 1, 5, 14
    NEXT_ID = {"prog": 11, "map": 12, "link": 31}
    libc = ctypes.CDLL(None, use_errno=True)

    @classmethod
    def call(cls, command, attr):
        result = cls.libc.syscall(cls.SYSCALL, command, attr, len(attr))
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return result

    @classmethod
    def ids(cls):
        found = set()
        for kind, command in cls.NEXT_ID.items():
            at = 0
            while True:
                attr = ctypes.create_string_buffer(struct.pack("<III", at, 0, 0))
                try:
                    cls.call(command, attr)
                except OSError as error:
                    if error.errno == errno.ENOENT:
                        break
                    raise
                at = struct.unpack_from("<I", attr, 4)[0]
                found.add((kind, at))
        return found

    @classmethod
    def unavailable(cls):
        """Why BPF does not work here, or None: loads a program that does nothing."""
        rantext = struct.pack("<QQ", 0xb7, 0x95)  # r0 = 0; exit
        text, licence = ctypes.create_string_buffer(rantext), ctypes.create_string_buffer(b"GPL")
        attr = struct.pack("<IIQQ", 2, 2, ctypes.addressof(text), ctypes.addressof(licence))
        try:
            os.close(cls.call(cls.PROG_LOAD, ctypes.create_string_buffer(attr.ljust(120, b"\0"))))
        except OSError as error:
            return f"this kernel loads no BPF program ({error.strerror})"
        if not os.path.exists("/sys/kernel/btf/vmlinux"):
            return "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
        return None

    @staticmethod
    def held_by(pid):
        """The BPF objects that a process has open, {(kind, id)}; with a link comes its program."""
        held = set()
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"{PROCESSES}/{pid}/fd"):
                with contextlib.suppress(OSError):
                    if "bpf" not in os.readlink(f"{PROCESSES}/{pid}/fd/{fd}"):
                        continue
                    with open(f"{PROCESSES}/{pid}/fdinfo/{fd}", encoding="utf-8",
                              errors="replace") as file:
                        found = re.findall(r"^(link|prog|map)_id:\t(\d+)$", file.read(), re.M)
                    held |= {(kind, int(number)) for kind, number in found}
        return held

    @staticmethod
    def listed(bpftool, kind):
        """The list that bpftool prints of all objects of a kind. bpftool fails if an object of
        another profiler goes away while bpftool looks at it."""
        def run():
            done.append(subprocess.run([bpftool, "-j", kind, "show"], stdout=subprocess.PIPE,
                                       timeout=TIMEOUT, check=False))
            return done[-1].returncode == 0

        done = []
        poll(run, TIMEOUT)
        done[-1].check_returncode()
        return json.loads(done[-1].stdout or "[]")

    @classmethod
    def maps_inside(cls, row):
        """{("map", id)} of those that an array of maps, a row of bpftool's, keeps alive."""
        found, key, value = set(), ctypes.c_uint32(), ctypes.c_uint32()
        with contextlib.suppress(OSError):  # it may go away meanwhile
            fd = cls.call(cls.MAP_BY_ID, ctypes.create_string_buffer(
                struct.pack("<III", row["id"], 0, 0)))
            attr = ctypes.create_string_buffer(struct.pack(
                "<IIQQQ", fd, 0, ctypes.addressof(key), ctypes.addressof(value), 0))
            try:
                for key.value in range(row["max_entries"]):
                    with contextlib.suppress(OSError):  # nothing there
                        cls.call(cls.LOOKUP, attr)
                        found.add(("map", value.value))
            finally:
                os.close(fd)
        return found

    @classmethod
    def without_owner(cls, ids):
        """The objects of `ids` that no process holds, {(kind, id): bpftool's description}. Debian's
        bpftool was built without the part that tells which process holds an object. Tables of
        programs are left out: the kernel may keep one for good if somebody, such as these tests,
        looks at it as it goes (close_stack_tables() in user/tracing/attach/tracer_load.c)."""
        held = set().union(*(cls.held_by(pid) for pid in filter(str.isdigit, os.listdir(PROCESSES))))
        if not (ids := ids - held):
            return {}
        rows = {}
        bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
        for kind in cls.NEXT_ID:
            rows.update({(kind, row["id"]): row for row in cls.listed(bpftool, kind)})
        for key in held & rows.keys():
            held |= {("map", number) for number in rows[key].get("map_ids", ())}
        for key in held & rows.keys():
            if rows[key].get("type") == "array_of_maps":
                held |= cls.maps_inside(rows[key])
        ids -= held
        return {key: rows[key] for key in ids & rows.keys()
                if rows[key].get("type") != "prog_array"}


def unavailable():
    """Why end-to-end tests cannot run here, or None."""
    if os.geteuid() != 0:
        return "end-to-end tests need root: run `sudo make check`"
    if not os.access(PROFTRACE, os.X_OK):
        return "there is no ./proftrace: run `make`"
    return Bpf.unavailable()


@functools.cache
def examined():
    """The report of `doctor` about this machine."""
    done = subprocess.run([PROFTRACE, "doctor", "-f", "json"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
    return json.loads(done.stdout)


def working(*backends):
    """Returns the backends of the list that this kernel has; --tier with another one is an
    error."""
    works = {backend["name"] for backend in examined()["backends"] if backend["works"]}
    return [name for name in backends if name in works]


def lists_returns():
    """Whether this kernel may crash where two return probes are on one call (Linux 6.14)."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(re.match(r"\d+", minor)[0])) >= (6, 14)


def has(feature):
    """Whether it can be had here, by its name in doctor's list."""
    return next(f["works"] for f in examined()["features"] if f["name"] == feature)


def dirty_text(pid):
    """The executable mappings of a live process that differ from their files."""
    dirty = []
    with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps, \
            open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            fields = line.split(None, 5)
            if "x" not in fields[1] or fields[4] == "0":
                continue
            start, end = (int(address, 16) for address in fields[0].split("-"))
            with open(f"/proc/{pid}/map_files/{start:x}-{end:x}", "rb") as file:
                file.seek(int(fields[2], 16))
                expected = file.read(end - start)
            memory.seek(start)
            if memory.read(end - start)[:len(expected)] != expected:
                dirty.append(line.strip())
    return dirty


def walk(nodes):
    """(node, parent, depth) for every node of a call tree, which may be very deep."""
    rest = [(node, None, 1) for node in reversed(nodes)]
    while rest:
        node, parent, depth = rest.pop()
        yield node, parent, depth
        rest += [(child, node, depth + 1) for child in reversed(node["children"])]


def outermost(nodes):
    """The outermost calls of a tree, which stand below what was open before tracing began."""
    return list(itertools.chain.from_iterable(
        [node] if node["calls"] else outermost(node["children"]) for node in nodes))


def calls_of(document):
    """Yields the same as nodes_of(), but from the outermost calls on."""
    return itertools.chain.from_iterable(walk(outermost(thread["calls"]))
                                         for thread in document["threads"])


def nodes_of(document):
    return itertools.chain.from_iterable(walk(thread["calls"]) for thread in document["threads"])


def below_roots(path, *outermost):
    """A path of names from the first of these on, without what was open before tracing began."""
    return path[next((i for i, name in enumerate(path) if name in outermost), 0):]


def paths_to(document, name, module=None):
    """{functions from the outermost one on to `name`, those of `module` alone: calls}"""
    functions, found, above = document["functions"], {}, []
    for thread in document["threads"]:
        for node, _, depth in walk(thread["calls"]):
            del above[depth - 1:]
            above.append(functions[node["function"]])
            if above[-1]["name"] == name and node["calls"]:
                path = tuple(f["name"] for f in above if not module or f["module"] == module)
                found[path] = found.get(path, 0) + node["calls"]
    return found


class TestCase(unittest.TestCase):
    maxDiff = None
    pruned = False  # what is short may be missing: --min-time

    def setUp(self):
        self.processes = []
        self.directory = tempfile.mkdtemp(prefix="proftrace-test-")
        os.chmod(self.directory, 0o755)
        self.bpf_before = Bpf.ids()

    def tearDown(self):
        profilers = [p for p in self.processes if isinstance(p, Proftrace) and p.ended()]
        left = poll(lambda: not any(session_members(p.pid) for p in profilers))
        for process in self.processes:
            process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)
        self.assertTrue(left, "a child of proftrace is still running")
        # The kernel frees a program's maps some grace periods later than the program. Other
        # profilers may come and go meanwhile: only objects that stay have been left behind.
        new = Bpf.ids() - self.bpf_before
        if not poll(lambda: self.all_gone(new)):
            self.fail(f"left in the kernel: {Bpf.without_owner(new)}")

    @staticmethod
    def all_gone(objects):
        """Whether what is left of the kernel's objects is others'; forgets what is gone."""
        objects &= Bpf.ids()
        if objects:
            objects &= Bpf.without_owner(objects).keys()
        return not objects

    # Starting things. What is started here is killed when the test ends.

    def target(self, name, *args, **popen):
        return self._keep(Target, name, *args, **popen)

    def process(self, *argv, **popen):
        if "user" in popen:
            argv = (for_anybody(argv[0]), *argv[1:])
        return self._keep(Process, list(map(str, argv)), **popen)

    def proftrace(self, *args, **popen):
        return self._keep(Proftrace, *args, **popen)

    def _keep(self, kind, *args, **popen):
        process = kind(*args, **popen)
        self.processes.append(process)
        return process

    def run_proftrace(self, *args, stdin=subprocess.DEVNULL, **popen):
        return self.proftrace(*args, stdin=stdin, **popen).finish()

    def path(self, name):
        return os.path.join(self.directory, name)

    def database_of(self, recording, *options):
        """Opens the database that `report -f sqlite` makes of a recording."""
        path = self.path("db")
        if os.path.exists(path):
            os.remove(path)
        done = self.process(PROFTRACE, "report", "-f", "sqlite", "-o", path, *options, recording,
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        database = sqlite3.connect(path)
        self.addCleanup(database.close)
        return database

    def copy(self, source, name=None):
        path = self.path(name or os.path.basename(source))
        shutil.copy(source, path)
        return path

    def library(self, pattern):
        """The path of one of the system's libraries: library("libc.so.6")"""
        paths = [path for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
                 for path in glob.glob(f"{folder}/{pattern}")]
        self.assertTrue(paths, f"there is no {pattern} here")
        return os.path.realpath(paths[0])

    # The three ways to choose a target. Each returns (document, the target's Result).

    def profile_pid(self, name, *args, options=()):
        target = self.target(name, *args)
        tracer = self.proftrace("-f", "json", *options, "-p", target.pid).wait_tracing()
        target.go()
        done = target.finish()
        return self.document(tracer.finish()), done

    def profile_exec(self, name, *args, options=()):
        path = name if "/" in name else program(name)
        tracer = self.proftrace("-f", "json", *options, "-x", path).wait_tracing()
        done = self.process(path, *args).finish()
        return self.document(tracer.interrupt()), done

    def profile_command(self, name, *args, options=(), **popen):
        """The Result is that of proftrace, which passes on the command's status and output."""
        path = name if "/" in name else program(name)
        out = self.path("out.json")
        done = self.run_proftrace("-f", "json", "-o", out, *options, "--", path, *args, **popen)
        self.assertTrue(os.path.exists(out), str(done))
        with open(out, encoding="utf-8") as file:
            text = file.read()
        return self.check(json.loads(text), done), done

    # Checking results.

    def document(self, result, status=0):
        """The one JSON document on stdout."""
        self.assertEqual(result.status, status, str(result))
        try:
            return self.check(json.loads(result.stdout), result)
        except json.JSONDecodeError as error:
            raise AssertionError(f"no JSON: {error}\n{result}") from None

    def check(self, document, context=""):
        """Checks rules that hold for every document; in an interval's, open calls can grow
        fewer."""
        try:
            schemas.check(document)
            self._check(document)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{context}") from None
        return document

    def _check(self, document):
        functions, sums = document["functions"], {}
        self.assertEqual([f["id"] for f in functions], list(range(len(functions))))
        ids = set()
        for node, parent, _ in nodes_of(document):
            self.assertNotIn(node["id"], ids, "a node's id is used twice")
            ids.add(node["id"])
            self.assertLessEqual(0, node["self_ns"], node)
            self.check_times(node, functions[node["function"]])
            self.assertTrue(node["calls"] or parent or node["total_ns"] or node["children"],
                            "an empty root")
            sums[node["function"]] = sums.get(node["function"], 0) + node["calls"]
        for function in functions:
            if not self.pruned:
                self.assertEqual(function["calls"], sums.get(function["id"], 0), function)
            self.assertLessEqual(function["self_ns"], function["total_ns"], function)
        accounting = document["accounting"]
        # The accounts have what was recorded, and nodes what that stands for.
        if not self.pruned and not any(function["estimate"] or function.get("source") == "burst"
                                       for function in functions):
            self.assertEqual(accounting["entered"], sum(sums.values()), "entered, and calls of nodes")
        self.assertEqual(accounting["entered"], accounting["returned"] + accounting["unwound"] +
                         accounting["open"], accounting)
        probes = document["probes"]
        self.assertEqual(sum(probes["sites"].values()), probes["functions"], probes["sites"])
        self.assertEqual(sum(probes["exits"].values()), probes["functions"], probes["exits"])

    def check_times(self, node, function):
        """A path's inclusive figures are its own and those of its callees; without --min-time, all
        callees are there."""
        for own, inclusive in (("self_ns", "total_ns"), ("off_self_ns", "off_ns"),
                               ("raw_self_ns", "raw_total_ns"), ("self_error_ns", "error_ns")):
            below = node[own] + sum(child[inclusive] for child in node["children"])
            if self.pruned:
                self.assertLessEqual(below, node[inclusive], function)
            else:
                self.assertEqual(below, node[inclusive], function)
        self.assertLessEqual(0, node["off_self_ns"], function)
        self.assertLessEqual(node["off_self_ns"], node["self_ns"], function)
        self.assertEqual(node["cpu_ns"], node["total_ns"] - node["off_ns"], function)
        self.assertEqual(node["cpu_self_ns"], node["self_ns"] - node["off_self_ns"], function)

    def function(self, document, name):
        """The function of that name, demangled or raw; None if it was not probed."""
        names = set(name.split("|"))
        found = [f for f in document["functions"] if names & {f["name"], f["symbol"]}]
        self.assertLessEqual(len(found), 1, f"{name} is there twice")
        return found[0] if found else None

    def count(self, document, name):
        """The calls of a function that must have been probed."""
        function = self.function(document, name)
        self.assertIsNotNone(function, f"{name} was not probed")
        return function["calls"]

    def calls(self, document):
        """{name: calls}, without those never called."""
        return {f["name"]: f["calls"] for f in document["functions"] if f["calls"]}

    def assert_counts(self, document, counts, context=""):
        """Every call is there: the program's own counts are the profile's."""
        self.assertTrue(counts, f"the program printed no counts\n{context}")
        seen = {}
        for name in counts:
            function = self.function(document, name)
            seen[name] = function["calls"] if function else 0
        self.assertEqual(seen, counts, str(context))
        self.assertEqual(document["accounting"]["lost"], 0, str(document["accounting"]))

    def assert_one_line(self, result, status, *words):
        """An error: that status, nothing on stdout, one line on stderr which has these words."""
        statuses = status if isinstance(status, tuple) else (status,)
        self.assertIn(result.status, statuses, str(result))
        self.assertEqual(result.stdout, "", str(result))
        self.assertEqual(len(result.stderr.splitlines()), 1, str(result))
        for word in words:
            self.assertIn(word.lower(), result.stderr.lower(), str(result))


def with_deep_stack(function):
    """Runs it where deeply nested JSON can be read; returns what it returns."""
    sys.setrecursionlimit(1_000_000)
    threading.stack_size(512 << 20)
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    threading.stack_size(0)
    thread.join()
    return results[0] if results else None


def e2e_modules():
    here = os.path.dirname(os.path.abspath(__file__))
    names = (os.path.basename(path)[:-3] for path in glob.glob(os.path.join(here, "test_*.py")))
    return sorted(names)


def main():
    """Runs the tests of a module that was started as a program."""
    if why := unavailable():
        sys.exit(why)
    ran = with_deep_stack(lambda: unittest.main(verbosity=2, exit=False))
    sys.exit(not ran.result.wasSuccessful())
