# SPDX-License-Identifier: GPL-2.0-or-later
"""How far the calls of dropped functions, which are estimated in bursts and windows, are from the
truth: a server's own counter of requests, times the calls a request of full traces."""

import contextlib
import math
import os
import re
import socket
import statistics
import tempfile
import time

import bench
import harness
from bench import Broken, await_line, detail, row, running, start
from rows import exits, start as servers

MOST = 50
FIRM = 0.01 # what full traces differ in: else calls are not by requests
MEDIAN, TENTHS, WITHIN = 3, 10, 90


class RedisCounter:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.answers = self.socket.makefile("rb")

    def requests(self):
        self.socket.sendall(b"INFO commandstats\r\n")
        said = self.answers.read(int(self.answers.readline()[1:]) + 2)
        found = re.search(rb"cmdstat_set:calls=(\d+)", said)
        return int(found[1]) if found else 0


# Servers under load, with so many clients where that can be told: process, and what counts requests.


@contextlib.contextmanager
def redis(directory, clients=50):
    path = os.path.join(directory, "socket")
    with running(start("redis-server", "--port", 0, "--unixsocket", path, "--save", "",
                       "--dir", directory)) as server:
        exits.until(lambda: os.path.exists(path), "redis-server")
        with running(start("redis-benchmark", "-s", path, "-t", "set", "-c", clients, "-l",
                           "-q")):
            yield server.pid, RedisCounter(path).requests


@contextlib.contextmanager
def nginx(directory, clients=None):
    with servers.nginx(directory) as load:
        yield load


# With the function that each request calls once.
PROGRAMS = {"redis": (redis, "setCommand"), "nginx": (nginx, "ngx_http_process_request_uri")}


def traced(args, pid, requests, seconds, *options):
    """The document of a run, and the requests that were made meanwhile."""
    command = (args.proftrace, "-f", "json", "-d", seconds, *options, "-p", pid)
    with running(start(*command)) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        before, began = requests(), time.monotonic()
        time.sleep(max(0, seconds - (time.monotonic() - began)))
        made = requests() - before # the tracer takes a moment to end
        return bench.stop(tracer), made


def calls_of(document):
    return {(f["module"], f["offset"]): f["calls"] for f in document["functions"]
            if f["offset"] is not None}


def calls_a_request(args, name="redis"):
    """Of the functions whose calls go by requests: those on which full traces agree."""
    server, request = PROGRAMS[name]
    found = []
    for clients in 50, 10:
        with tempfile.TemporaryDirectory() as directory, server(directory, clients) as load:
            document, _ = traced(args, *load, args.bursts_full, "-F", "*", *bench.UNLIMITED)
        requests = sum(f["calls"] for f in document["functions"] if f["name"] == request)
        if not requests:
            raise Broken(f"{request} is not called")
        found.append({key: calls / requests for key, calls in calls_of(document).items()})
    one, other = found
    return {key: ratio for key, ratio in one.items()
            if abs(ratio / max(other.get(key, 0), 1e-9) - 1) < FIRM}


def errors_of(document, requests, ratios):
    """(name, relative error, how many standard errors that is) of the functions called most."""
    errors = []
    for f in document["functions"]:
        truth = ratios.get((f["module"], f["offset"]), 0) * requests
        if truth and f["source"] == "burst":
            off = f["calls"] - truth
            errors.append((f["name"], off / truth, abs(off) / max(f["calls_error"], 1), truth))
    errors.sort(key=lambda error: -error[3])
    return errors[:MOST]


def print_errors(errors, what):
    absolute = sorted(abs(error[1]) for error in errors)
    middle = 100 * statistics.median(absolute)
    tenths = 100 * absolute[math.ceil(0.9 * len(absolute)) - 1]
    within = 100 * sum(error[2] <= 2 for error in errors) / len(errors)
    row(f"{what}: calls of {len(errors)} functions, median error", middle, f"{middle:.1f} %",
        MEDIAN)
    row(f"{what}: nine tenths within", tenths, f"{tenths:.1f} %", TENTHS)
    row(f"{what}: truth within two standard errors", within, f"{within:.0f} %", WITHIN,
        at_most=False)
    worst = sorted(errors, key=lambda error: -abs(error[1]))[:3]
    detail("farthest off: " + ", ".join(f"{name} {100 * off:+.0f} % ({by:.1f} errors)"
                                        for name, off, by, _ in worst))


@bench.measures(
    "bursts", bench.option("--bursts-seconds", 10, "length of a run", quick=5, type=int),
    bench.option("--bursts-full", 3, "of a full trace", quick=2, type=int),
    bench.option("--bursts-runs", 3, "runs", quick=1, type=int),
    bench.option("--bursts-programs", ",".join(PROGRAMS), "servers", quick="redis"))
def measure_bursts(args):
    for name in args.bursts_programs.split(","):
        ratios = calls_a_request(args, name)
        with tempfile.TemporaryDirectory() as directory, PROGRAMS[name][0](directory) as load:
            for run in range(args.bursts_runs):
                errors = errors_of(*traced(args, *load, args.bursts_seconds), ratios)
                if not errors:
                    raise Broken("nothing is estimated")
                print_errors(errors, f"{name}, run {run + 1}")
