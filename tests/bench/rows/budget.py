# SPDX-License-Identifier: GPL-2.0-or-later
"""The budget on real programs under load: all functions, and how much slower the work gets.

One process of each program does the same piece of work again and again. Traced and untraced
stretches take turns, and what is compared is CPU time for a piece of work, so that neither this
machine's other work nor a process's luck with its addresses counts. It includes what the kernel
does for the probes. A traced stretch begins a second after the start of tracing.
"""

import contextlib
import os
import re
import socket
import statistics
import tempfile
import threading
import time

import bench
import harness
from bench import Broken, PYTHON, await_line, detail, row, running, start

BUDGETS = {None: 7, 20: 24} # what is given to --max-overhead, and the slowdown to reach
SETTLE_SECONDS = 1
CPUCLOCK_SCHED = 2


def cpu_ns(pid):
    """CPU time of a process, see clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | CPUCLOCK_SCHED)


class Lines:
    """A program that says "done" after each piece of work."""

    unit = "piece"

    def __init__(self, process, *options):
        self.process, self.options = process, options
        self.pid = process.pid

    def sample(self):
        """Pieces done and CPU time, at the end of a piece."""
        before = self.process.stdout.data.count(b"done\n")
        if len(self.process.stdout.wait_lines("done", before + 1)) <= before:
            raise Broken(f"it has ended: {self.process.finish()}")
        return before + 1, cpu_ns(self.pid)


@contextlib.contextmanager
def python(_work):
    script = os.path.join(bench.HERE, "work.py")
    with running(start(PYTHON, "-S", "-B", script), bench.TARGET_CPU) as process:
        yield Lines(process)


@contextlib.contextmanager
def sqlite(_work):
    """The shell is a small program around its library, so that is what is traced."""
    path = bench.library("libsqlite3.so.0")
    with running(start("sqlite3", ":memory:"), bench.TARGET_CPU) as process:
        work = bench.read(os.path.join(bench.HERE, "work.sql")).decode()

        def feed():
            with contextlib.suppress(OSError, ValueError):
                while True:
                    process.send(work)

        threading.Thread(target=feed, daemon=True).start()
        yield Lines(process, "-x", path)


class Redis:
    """A server whose pieces of work are the requests of redis-benchmark."""

    unit = "request"
    options = ()

    def __init__(self, process, path):
        self.pid = process.pid
        self.socket = socket.socket(socket.AF_UNIX)
        if not harness.poll(lambda: os.path.exists(path), 10):
            raise Broken(f"redis-server does not listen: {process.stdout.text()}")
        self.socket.connect(path)

    def sample(self):
        self.socket.sendall(b"INFO stats\r\n")
        text = b""
        while not (found := re.search(rb"total_commands_processed:(\d+)\r\n", text)):
            if not (chunk := self.socket.recv(65536)):
                raise Broken("redis-server has gone")
            text += chunk
        sampled = int(found[1]), cpu_ns(self.pid)
        size = int(re.match(rb"\$(\d+)\r\n", text)[1])
        while len(text) < text.index(b"\r\n") + 2 + size + 2:
            text += self.socket.recv(65536)
        return sampled


@contextlib.contextmanager
def redis(work):
    path = os.path.join(work, "socket")
    server = start("redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                   "--appendonly", "no", "--dir", work, "--daemonize", "no")
    with running(server, bench.TARGET_CPU):
        measured = Redis(server, path)
        load = start("redis-benchmark", "-s", path, "-l", "-q", "-c", "20", "-r", "10000", "-d",
                     "64", "-t", "set")
        with running(load, bench.TRACER_CPU):
            yield measured


PROGRAMS = {"python3": python, "sqlite3": sqlite, "redis-server": redis}


def cost(load, seconds):
    """CPU time for a piece of work, in nanoseconds."""
    pieces, ns = load.sample()
    time.sleep(seconds)
    pieces_later, ns_later = load.sample()
    if pieces_later <= pieces:
        raise Broken("no work was done")
    return (ns_later - ns) / (pieces_later - pieces)


def traced_cost(args, load, budget):
    options = ["--max-overhead", budget] if budget else []
    command = start(args.proftrace, "-f", "json", *options, *load.options, "-p", load.pid)
    with running(command, bench.TRACER_CPU) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        time.sleep(SETTLE_SECONDS)
        ns = cost(load, args.budget_seconds)
        return ns, bench.stop(tracer)


def kept(document):
    """How many functions were called and are still traced, and how many are not."""
    dropped = {drop["function"] for drop in document["dropped"]}
    called = {f["id"] for f in document["functions"] if f["calls"]}
    return len(called - dropped), len(document["dropped"])


class Stretches:
    """Results of the runs with one budget."""

    def __init__(self):
        self.slowdowns, self.kept, self.dropped, self.used = [], [], [], []

    def add(self, slowdown, document):
        self.slowdowns.append(slowdown)
        left, dropped = kept(document)
        self.kept.append(left)
        self.dropped.append(dropped)
        self.used.append(document["budget"]["used_percent"] or 0)


def measure_program(args, name):
    found = {budget: Stretches() for budget in BUDGETS}
    with tempfile.TemporaryDirectory() as work, PROGRAMS[name](work) as load:
        cost(load, SETTLE_SECONDS)
        before = cost(load, args.budget_seconds)
        for _ in range(args.budget_runs):
            for budget, stretches in found.items():
                ns, document = traced_cost(args, load, budget)
                after = cost(load, args.budget_seconds)
                stretches.add(100 * (2 * ns / (before + after) - 1), document)
                before = after
    for (budget, stretches), reach in zip(found.items(), BUDGETS.values()):
        slower = statistics.median(stretches.slowdowns)
        row(f"{name}, all functions, budget {budget or 'by default'}: slowdown", slower,
            f"{slower:.1f} %", reach)
        detail(f"{min(stretches.slowdowns):.1f} to {max(stretches.slowdowns):.1f} %; by its own "
               f"account {statistics.median(stretches.used):.1f} %; functions kept "
               f"{stretches.kept}, dropped {stretches.dropped}")
    few, many = (statistics.median(stretches.kept) for stretches in found.values())
    line = f"{name}: called functions kept with 20 % / by default"
    row(line, many - few, f"{many:.0f} / {few:.0f}", 1, at_most=False)


@bench.measures(
    "budget", bench.option("--budget-programs", ",".join(PROGRAMS), "programs under load"),
    bench.option("--budget-seconds", 4, "length of a stretch", quick=2, type=float),
    bench.option("--budget-runs", 3, "stretches with each budget", quick=1, type=int))
def measure_budget(args):
    for name in args.budget_programs.split(","):
        if name not in PROGRAMS:
            raise Broken(f"{name}: not one of {', '.join(PROGRAMS)}")
        measure_program(args, name)
