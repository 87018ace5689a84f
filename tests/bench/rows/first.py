# SPDX-License-Identifier: GPL-2.0-or-later
"""The first seconds of a run with the options by default: how much less work servers under load do,
from the start of proftrace on, hence with all that it does before it traces, and from the moment on
that it traces. Untraced and traced stretches take turns.
"""

import contextlib
import os
import re
import socket
import statistics
import tempfile
import time

import bench
import harness
import rows.budget as budget
from bench import Broken, await_line, detail, row, running, start

REACH = 7
CONFIG = """
daemon off; master_process off; pid {work}/pid; error_log stderr;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {work}; proxy_temp_path {work};
  fastcgi_temp_path {work}; uwsgi_temp_path {work}; scgi_temp_path {work};
  server {{
    listen 127.0.0.1:{port}; root {work}; gzip on; gzip_types text/plain;
    location = /status {{ stub_status; }}
  }}
}}
"""


class Nginx:
    """A server of one process, whose pieces of work are requests."""

    unit, options = "request", ()

    def __init__(self, process, port):
        self.pid, self.port = process.pid, port
        if not harness.poll(self.answers, 10):
            raise Broken(f"nginx does not listen: {process.stdout.text()}")

    def ask(self):
        with socket.create_connection(("127.0.0.1", self.port)) as asked:
            asked.sendall(b"GET /status HTTP/1.0\r\n\r\n")
            text = b""
            while chunk := asked.recv(65536):
                text += chunk
        return text

    def answers(self):
        with contextlib.suppress(OSError):
            return b"requests" in self.ask()
        return False

    def sample(self):
        found = re.search(rb"requests\s+\d+ \d+ (\d+)", self.ask())
        return int(found[1]), budget.cpu_ns(self.pid)


@contextlib.contextmanager
def nginx(work):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = os.path.join(work, "nginx.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(work=work, port=port))
    with open(os.path.join(work, "page.txt"), "w", encoding="utf-8") as file:
        file.write("a line of text\n" * 64)
    with running(start("/usr/sbin/nginx", "-p", work, "-c", config, "-e", "stderr"),
                 bench.TARGET_CPU) as server:
        measured = Nginx(server, port)
        load = start("wrk", "-c", "16", "-t", "1", "-d", "1h", "-H", "Accept-Encoding: gzip",
                     f"http://127.0.0.1:{port}/page.txt")
        with running(load, bench.TRACER_CPU):
            yield measured


PROGRAMS = {**budget.PROGRAMS, "nginx": nginx}


class Rates:
    """Pieces of work a second, in stretches that follow each other."""

    def __init__(self, load):
        self.load, self.at, self.pieces = load, 0, 0
        self.rate()

    def rate(self):
        """Since the last time."""
        pieces, at = self.load.sample()[0], time.monotonic()
        rate = (pieces - self.pieces) / (at - self.at)
        self.at, self.pieces = at, pieces
        return rate


def measure_once(args, load):
    """Throughput lost from the start of proftrace on, and since it traces; the document."""
    rates = Rates(load)
    time.sleep(args.first_seconds)
    before = rates.rate()
    tracer = start(args.proftrace, "-f", "json", *load.options, "-p", load.pid)
    with running(tracer, bench.TRACER_CPU):
        await_line(tracer.stderr, harness.TRACING, tracer)
        traced = Rates(load)
        time.sleep(args.first_seconds)
        rate, whole = traced.rate(), rates.rate()
        document = bench.stop(tracer)
    rates.rate()
    time.sleep(args.first_seconds)
    untraced = (before + rates.rate()) / 2
    return 100 * (1 - whole / untraced), 100 * (1 - rate / untraced), document


def measure_program(args, name):
    whole, traced, surveys, dropped = [], [], [], []
    with tempfile.TemporaryDirectory() as work, PROGRAMS[name](work) as load:
        time.sleep(budget.SETTLE_SECONDS)
        for _ in range(args.first_runs):
            lost, lost_traced, document = measure_once(args, load)
            whole.append(lost)
            traced.append(lost_traced)
            surveys.append(document["budget"].get("surveyed_ns", 0) / 1e6)
            dropped.append((len([d for d in document["dropped"] if not d["at_ns"]]),
                            len(document["dropped"])))
    for what, lost in (("traced", traced), ("with what is before", whole)):
        row(f"{name}, first {args.first_seconds} s, {what}: throughput lost",
            statistics.median(lost), f"{statistics.median(lost):.1f} %", REACH)
        detail(f"{min(lost):.1f} to {max(lost):.1f} %")
    detail(f"surveys of {min(surveys):.0f} to {max(surveys):.0f} ms; functions dropped before the "
           f"start, and in all: {dropped}")


@bench.measures(
    "first", bench.option("--first-programs", ",".join(PROGRAMS), "programs under load"),
    bench.option("--first-seconds", 10, "length of a stretch", quick=4, type=float),
    bench.option("--first-runs", 3, "traced stretches", quick=1, type=int))
def measure_first(args):
    for name in args.first_programs.split(","):
        if name not in PROGRAMS:
            raise Broken(f"{name}: not one of {', '.join(PROGRAMS)}")
        measure_program(args, name)
