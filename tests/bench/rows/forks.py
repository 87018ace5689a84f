# SPDX-License-Identifier: GPL-2.0-or-later
"""Forking servers: how much slower postgres answers while all of its processes are traced, with the
options by default and with --follow; with a new connection, hence a new process, for each
transaction, and with connections that stay.

Untraced and traced stretches of pgbench take turns. A traced one begins as tracing does, so it has
the time until the budget is kept in it.
"""

import contextlib
import glob
import os
import pwd
import re
import statistics
import subprocess
import tempfile

import bench
from bench import Broken, await_line, detail, row, running, start
import harness

REACH = 7
LOADS = {"a connection a transaction": ["-C"], "connections that stay": []}
WAYS = {"by default": [], "--follow": ["--follow"]}


class Postgres:
    """A server of our own, in a folder of its own, without a port."""

    def __init__(self, work, jobs):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
        if not found:
            raise Broken("postgresql is not installed")
        self.bin, self.work, self.jobs = os.path.dirname(found[-1]), work, jobs
        user = pwd.getpwnam("postgres")
        os.makedirs(work, exist_ok=True)
        os.chown(work, user.pw_uid, user.pw_gid)
        self.data = os.path.join(work, "data")
        self.run("initdb", "-D", self.data, "-A", "trust")
        with open(os.path.join(self.data, "postgresql.conf"), "a", encoding="utf-8") as file:
            file.write(f"unix_socket_directories = '{work}'\nlisten_addresses = ''\n"
                       "fsync = off\nautovacuum = off\n")

    def as_owner(self, name, *args):
        """The arguments of subprocess that start a program of postgres as its owner."""
        return {"args": [os.path.join(self.bin, name), *map(str, args)], "user": "postgres",
                "group": "postgres", "cwd": self.work, "env": {}, "stdin": subprocess.DEVNULL,
                "stderr": subprocess.STDOUT}

    def run(self, name, *args):
        done = subprocess.run(**self.as_owner(name, *args), check=False, stdout=subprocess.PIPE)
        if done.returncode:
            raise Broken(f"{name}: {done.stdout.decode(errors='replace')}")
        return done.stdout.decode(errors="replace")

    def __enter__(self):
        self.run("pg_ctl", "-D", self.data, "-l", os.path.join(self.work, "log"), "-w", "start")
        self.run("createdb", "-h", self.work, "bench")
        self.run("pgbench", "-h", self.work, "-i", "-q", "-s", 2, "bench")
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")

    def select(self, what):
        return self.run("psql", "-h", self.work, "-Atc", f"select {what}", "bench").strip()

    @contextlib.contextmanager
    def load(self):
        """Without end, on connections that stay; ready once they are there."""
        command = self.as_owner("pgbench", "-h", self.work, "-n", "-S", "-c", self.jobs, "-T", 3600,
                                "bench")
        with subprocess.Popen(**command, stdout=subprocess.DEVNULL) as clients:
            clients.signal = clients.send_signal
            try:
                if not harness.poll(lambda: self.select("count(*) from pg_stat_activity where "
                                                   "application_name = 'pgbench'")
                                    == str(self.jobs), 60):
                    raise Broken("pgbench does not connect")
                yield clients
            finally:
                clients.kill()

    def pids(self):
        """The main process, and those that it has now."""
        main = bench.read(os.path.join(self.data, "postmaster.pid")).decode().split()[0]
        with open(f"/proc/{main}/task/{main}/children", encoding="utf-8") as file:
            return [main, *file.read().split()]

    def rate(self, load, seconds):
        """Transactions a second."""
        said = self.run("pgbench", "-h", self.work, "-n", "-S", "-c", self.jobs, "-T", seconds,
                        *load, "bench")
        if not (found := re.search(r"^tps = ([\d.]+)", said, re.M)):
            raise Broken(f"pgbench says no rate: {said}")
        return float(found[1])


def traced_rate(args, server, load, way):
    command = start(args.proftrace, "-f", "json", *way, "-p", ",".join(server.pids()))
    with running(command) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        rate = server.rate(load, args.forks_seconds)
        return rate, bench.stop(tracer)


def starting_rate(args, server, load, way):
    """Measures the rate from the start of proftrace on, with all that it does before it traces."""
    command = start(args.proftrace, "-f", "json", *way, "-p", ",".join(server.pids()))
    with running(command) as tracer:
        rate = server.rate(load, args.forks_seconds)
        await_line(tracer.stderr, harness.TRACING, tracer)
        bench.stop(tracer)
        return rate


def measure_load(args, server, what, load):
    for name, way in WAYS.items():
        lost, starting, dropped, surveys = [], [], [], []
        before = server.rate(load, args.forks_seconds)
        for _ in range(args.forks_runs):
            rate, document = traced_rate(args, server, load, way)
            after = server.rate(load, args.forks_seconds)
            lost.append(100 * (1 - 2 * rate / (before + after)))
            dropped.append((len([d for d in document["dropped"] if not d["at_ns"]]),
                            len(document["dropped"])))
            surveys.append(document["budget"].get("surveyed_ns", 0) / 1e6)
            before, rate = after, starting_rate(args, server, load, way)
            after = server.rate(load, args.forks_seconds)
            starting.append(100 * (1 - 2 * rate / (before + after)))
            before = after
        worst = statistics.median(lost)
        row(f"postgres, {what}, {name}: throughput lost", worst, f"{worst:.1f} %", REACH)
        detail(f"{min(lost):.1f} to {max(lost):.1f} %; {before:.0f} transactions a second "
               f"untraced; functions dropped before the start, and in all: {dropped}")
        detail(f"with what is before: {statistics.median(starting):.1f} %, {min(starting):.1f} to "
               f"{max(starting):.1f} %; surveys of {min(surveys):.0f} to {max(surveys):.0f} ms")


@bench.measures(
    "forks", bench.option("--forks-seconds", 10, "length of a stretch", quick=3, type=int),
    bench.option("--forks-runs", 3, "traced stretches of each kind", quick=1, type=int),
    bench.option("--forks-clients", 4, "of pgbench", type=int))
def measure_forks(args):
    with contextlib.ExitStack() as stack:
        work = stack.enter_context(tempfile.TemporaryDirectory())
        server = stack.enter_context(Postgres(work, args.forks_clients))
        for what, load in LOADS.items():
            measure_load(args, server, what, load)
