# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the end-to-end tests: most side by side, each worker (worker.py) one at a time; then, one by
one, those that need the machine for themselves (harness.alone); at last, alone, what has failed.
One more worker has a low priority and tests that compute for minutes (harness.in_background), and
one a PID namespace, for tests that look at all processes (harness.apart)."""

import collections
import contextlib
import json
import os
import queue
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Where more tests have failed than this, the machine is not to blame.
MOST_SECOND_ATTEMPTS = 20

# Tests that one worker runs in one go. `names` are those of unittest; the others are the marks that
# harness.py can give a test.
MARKS = ("alone", "in_background", "apart", "long")
Unit = collections.namedtuple("Unit", ("names", *MARKS))


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def shares_a_beginning(test):
    return type(test).setUpClass.__func__ is not unittest.TestCase.setUpClass.__func__


def units_of(tests):
    """The tests of a class that prepares something for all of them are one unit; others are one
    each."""
    units, of_class = [], {}
    for test in tests:
        method = getattr(test, getattr(test, "_testMethodName", ""), None)
        marks = [bool(getattr(method, mark, "") or getattr(test, mark, "")) for mark in MARKS]
        key = (type(test), *marks)
        if key in of_class:
            of_class[key].names.append(test.id())
            continue
        units.append(Unit([test.id()], *marks))
        if shares_a_beginning(test):
            of_class[key] = units[-1]
    return sorted(units, key=lambda unit: not unit.long)


def libraries():
    """The dynamic linker and libc."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        paths = {line.split(None, 5)[-1].strip() for line in maps}
    return sorted(path for path in paths
                  if os.path.basename(path).startswith(("ld-linux", "libc.so")))


class Worker:
    """A process that runs units. Probes are in files: whoever traces all processes of a program
    does so in those of all workers, and probes the dynamic linker for all. So all workers but the
    first have copies of these files; for those of the system, mounts that nobody else sees. One
    that is apart sees no processes but those that it begins."""

    def __init__(self, number, build, niceness=0, apart=False):
        environment, argv, self.folder = {"PROFTRACE_BUILD": build}, [], None
        if number > 1:
            self.folder = tempfile.mkdtemp(prefix="worker-", dir=os.path.join(ROOT, build))
            os.chmod(self.folder, 0o755)
            environment["PROFTRACE_PROGRAMS"] = os.path.join(self.folder, "programs")
            argv = self.with_copies(os.path.join(ROOT, build, "programs"), self.folder, apart)
            if apart:
                environment["PROFTRACE_PROCESSES"] = os.path.join(self.folder, "proc")
        argv += [sys.executable, os.path.join(ROOT, "tests", "worker.py"), str(niceness)]
        self.process = subprocess.Popen(argv, text=True, cwd=ROOT, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=os.environ | environment)

    @staticmethod
    def with_copies(programs, folder, apart):
        """Copies the files. Returns the begin of a command that runs with them."""
        shutil.copytree(programs, os.path.join(folder, "programs"))
        mounts = []
        for path in libraries():
            copy = shutil.copy(path, folder)
            mounts.append(f"mount --bind {shlex.quote(copy)} {shlex.quote(path)}")
        if not apart:
            return ["unshare", "--mount", "sh", "-ec", "\n".join([*mounts, 'exec "$@"']), "sh"]
        proc = os.path.join(folder, "proc")
        os.mkdir(proc)
        mounts += [f"mount --bind /proc {shlex.quote(proc)}", "mount -t proc proc /proc"]
        # The shell stays: the first process of a namespace has to wait for orphans that end.
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec",
                "\n".join([*mounts, '"$@"', "exit"]), "sh"]

    def run(self, unit):
        """Yields the results, as worker.py writes them: at least one for each test."""
        missing, why = list(unit.names), ""
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(unit.names), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            result = json.loads(line)
            if not result:
                break
            if result["name"] in unit.names:
                missing = [name for name in missing if name != result["name"]]
                yield result
            else:  # what a class does first, or last
                why += f"{result['name']}: {result['why']}"
        else:
            why += f"its process has ended, with exit status {self.process.wait()}"
        for name in missing or unit.names[-1:] * bool(why):
            yield {"name": name, "shown": name, "seconds": 0, "why": why or "it was not run"}

    def has_ended(self):
        return self.process.poll() is not None

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def wait_for(threads):
    for thread in threads:
        thread.join()


class Run:
    def __init__(self, tally, once):
        self.tally = tally
        self.once = once
        self.lock = threading.Lock()
        self.failed_first = {}  # {name: why}: those that are run once more
        self.missing = set()  # names without a result

    def take(self, unit, result):
        """`unit` is None for the last attempt."""
        name, why = f"e2e {result['shown']}", result["why"]
        with self.lock:
            self.missing.discard(result["name"])
            if why and not self.once and unit and result["name"] in unit.names:
                print(f"once more later: {name}", flush=True)
                self.failed_first[result["name"]] = self.failed_first.get(result["name"], "") + why
            else:
                self.tally.report(name, why, result["seconds"], f"e2e {result['name']}")

    def work(self, units, number, niceness=0, apart=False):
        """A worker's life: runs units until there are none."""
        worker = None
        while True:
            try:
                unit = units.get_nowait()
            except queue.Empty:
                break
            if worker and worker.has_ended():
                worker.close()
                worker = None
            worker = worker or Worker(number, self.tally.build, niceness, apart)
            for result in worker.run(unit):
                self.take(unit, result)
        if worker:
            worker.close()

    def begin(self, units, numbers, **kind):
        """Starts workers with these numbers, no more than are needed. Returns their threads."""
        left = queue.Queue()
        for unit in units:
            left.put(unit)
        threads = [threading.Thread(target=self.work, args=(left, number), kwargs=kind)
                   for number in list(numbers)[:len(units)]]
        for thread in threads:
            thread.start()
        return threads

    def run(self, units, jobs):
        self.missing.update(name for unit in units for name in unit.names)
        def chosen(mark):
            return [unit for unit in units if getattr(unit, mark)]

        beside = [unit for unit in units
                  if not (unit.alone or unit.in_background or unit.apart)]
        background = self.begin(chosen("in_background"), [jobs + 1], niceness=10)
        apart = self.begin(chosen("apart"), [jobs + 2], apart=True)
        wait_for(self.begin(beside, range(1, jobs + 1)))
        wait_for(apart)
        wait_for(self.begin(chosen("alone"), [1]))
        wait_for(background)
        for name in sorted(self.missing):
            self.tally.report(f"e2e {name}", "it was not run: see the messages above")

    def once_more(self):
        """Each test that has failed, alone; if there are too many, the first failures count."""
        worker = None
        for name, why in self.failed_first.items():
            result = {"name": name, "shown": name, "why": why, "seconds": None}
            if len(self.failed_first) > MOST_SECOND_ATTEMPTS:
                self.take(None, result)
                continue
            if not worker or worker.has_ended():
                worker = Worker(1, self.tally.build)
            before = len(self.tally.failed)
            for result in worker.run(Unit([name], True, False, False, False)):
                self.take(None, result)
            if len(self.tally.failed) == before:
                self.tally.passed_later.append((name, why))
        if worker:
            worker.close()


def run(tally, jobs, once):
    sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
    import harness  # not before the build folder is known

    if why := harness.unavailable():
        tally.report("e2e", why)
        return
    tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromNames(harness.e2e_modules())))
    wanted = set(tally.chosen([f"e2e {test.id()}" for test in tests]))
    units = units_of([test for test in tests if f"e2e {test.id()}" in wanted])
    if len(units) > 1:
        harness.calibrate()
    state = Run(tally, once)
    state.run(units, jobs)
    state.once_more()
