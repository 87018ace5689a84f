# SPDX-License-Identifier: GPL-2.0-or-later
"""How far the calls of dropped functions, which are estimated in bursts and windows, are from the
truth: a server's own counter of requests, times the calls a request of full traces."""

import contextlib
import itertools
import math
import os
import re
import signal
import statistics
import tempfile
import threading
import time

import bench
import harness
from bench import Broken, await_line, detail, row, running, start
from servers import SERVERS

MOST = 50
FIRM = 0.01 # what full traces differ in: else calls are not by requests
REACH = {"even": (3, 10), "changing": (5, 15)} # median error and that of nine tenths, percent
WITHIN = 90
CLIENTS = 50, 10
TURN_SECONDS, SLICE_SECONDS = 2, 0.005


def traced(args, server, seconds, *options):
    """The document of a run, and the requests that were made meanwhile."""
    command = (args.proftrace, "-f", "json", "-d", seconds, *options, "-p", server.pids)
    with running(start(*command)) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        before, began = server.requests(), time.monotonic()
        time.sleep(max(0, seconds - (time.monotonic() - began)))
        made = server.requests() - before # the tracer takes a moment to end
        return bench.stop(tracer), made


def key_of(function):
    """A key that is the same wherever the file was built."""
    return os.path.basename(function["module"] or ""), function["offset"]


def calls_a_request(args, name="redis"):
    """Returns the calls a request of functions that are called by requests: those on which full
    traces agree."""
    found = []
    for clients in CLIENTS:
        with tempfile.TemporaryDirectory() as directory, \
                SERVERS[name](directory, clients) as server:
            document, requests = traced(args, server, args.bursts_full, "-F", "*",
                                        *bench.UNLIMITED)
        functions = document["functions"]
        if server.each:
            requests = sum(f["calls"] for f in functions
                           if re.match(rf"{re.escape(server.each)}(\(|$)", f["name"]))
        if not requests:
            raise Broken(f"{name} answers nothing")
        found.append({key_of(f): f["calls"] / requests for f in functions
                      if f["offset"] is not None})
    one, other = found
    return {key: ratio for key, ratio in one.items()
            if abs(ratio / max(other.get(key, 0), 1e-9) - 1) < FIRM}


def errors_of(document, requests, ratios):
    """(name, relative error, how many standard errors that is) of the functions called most."""
    errors = []
    for f in document["functions"]:
        truth = ratios.get(key_of(f), 0) * requests
        if truth and f["source"] == "burst":
            off = f["calls"] - truth
            errors.append((f["name"], off / truth, abs(off) / max(f["calls_error"], 1), truth))
    errors.sort(key=lambda error: -error[3])
    return errors[:MOST]


def print_errors(errors, what, load):
    absolute = sorted(abs(error[1]) for error in errors)
    middle = 100 * statistics.median(absolute)
    tenths = 100 * absolute[math.ceil(0.9 * len(absolute)) - 1]
    within = 100 * sum(error[2] <= 2 for error in errors) / len(errors)
    row(f"{what}: calls of {len(errors)} functions, median error", middle, f"{middle:.1f} %",
        REACH[load][0])
    row(f"{what}: nine tenths within", tenths, f"{tenths:.1f} %", REACH[load][1])
    row(f"{what}: truth within two standard errors", within, f"{within:.0f} %", WITHIN,
        at_most=False)
    worst = sorted(errors, key=lambda error: -abs(error[1]))[:3]
    detail("farthest off: " + ", ".join(f"{name} {100 * off:+.0f} % ({by:.1f} errors)"
                                        for name, off, by, _ in worst))


@contextlib.contextmanager
def changing(load):
    """In turns of two seconds all of it, and a fifth."""
    ended = threading.Event()

    def change():
        for turn in itertools.count():
            until = time.monotonic() + TURN_SECONDS
            while not ended.is_set() and time.monotonic() < until:
                if turn % 2:
                    load.signal(signal.SIGSTOP)
                    ended.wait(4 * SLICE_SECONDS)
                    load.signal(signal.SIGCONT)
                ended.wait(SLICE_SECONDS)
            if ended.is_set():
                return

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


LOADS = {"even": lambda _: contextlib.nullcontext(), "changing": changing}


@bench.measures(
    "bursts", bench.option("--bursts-seconds", 10, "length of a run", quick=5, type=int),
    bench.option("--bursts-full", 3, "of a full trace", quick=2, type=int),
    bench.option("--bursts-runs", 3, "runs", quick=1, type=int),
    bench.option("--bursts-loads", ",".join(LOADS), "loads", quick="even"),
    bench.option("--bursts-servers", "redis,nginx", "servers", quick="redis"))
def measure_bursts(args):
    for name in args.bursts_servers.split(","):
        ratios = calls_a_request(args, name)
        with tempfile.TemporaryDirectory() as directory, \
                SERVERS[name](directory, CLIENTS[0]) as server:
            for kind in args.bursts_loads.split(","):
                with LOADS[kind](server.load):
                    for run in range(args.bursts_runs):
                        errors = errors_of(*traced(args, server, args.bursts_seconds), ratios)
                        if errors:
                            print_errors(errors, f"{name}, {kind} load, run {run + 1}", kind)
                        else:
                            detail(f"{name}: nothing is estimated whose calls go by requests")
