# SPDX-License-Identifier: GPL-2.0-or-later
"""Rules that are watched all the time (--slo): what that costs while nothing is broken, and how
soon it is told why something is.

Throughput tells nothing on a machine that does something else, too: it differs by ten times what
is looked for. So the CPU time that a request takes nginx is measured, in blocks with and without
a profiler that follow each other; each block with one is held against the two around it."""

import contextlib
import math
import os
import re
import signal
import statistics
import tempfile
import time
import urllib.request

import bench
from bench import Broken, await_line, built, detail, row, running, start
from rows import exits

REACH_PERCENT = 1
REACH_SECONDS = 5
# Watched for a fifth of a second, then not for three: a block has several such turns.
RULE = "ngx_http_process_request: p50 < 10ms"
SETTLE_SECONDS = 1.5 # behind the begin and the end of watching
BLOCKS = bench.option("--slo-blocks", 10, "blocks of time with a rule", quick=3, type=int)
BLOCK = bench.option("--slo-seconds", 10, "seconds of each block", quick=5, type=float)
RUNS = bench.option("--slo-runs", 3, "servers that become slow", quick=1, type=int)


def counted(pid):
    """(CPU time of nginx in ns, requests that it has answered)"""
    with urllib.request.urlopen(f"http://127.0.0.1:{exits.PORT}/status", timeout=60) as status:
        requests = int(status.read().split(b"\n")[2].split()[2])
    with open(f"/proc/{pid}/schedstat", encoding="utf-8") as file:
        return int(file.read().split()[0]), requests


def block(pid, seconds):
    """ns a request."""
    time.sleep(SETTLE_SECONDS)
    ns, requests = counted(pid)
    time.sleep(seconds)
    more_ns, more = counted(pid)
    if more - requests < 1000:
        raise Broken(f"nginx answers {more - requests} requests in {seconds} s")
    return (more_ns - ns) / (more - requests)


@contextlib.contextmanager
def watched(args, pid, folder):
    with running(start(args.proftrace, "record", "--slo", RULE, "-o", folder, "-p", pid),
                 bench.TRACER_CPU) as tracer:
        await_line(tracer.stderr, "proftrace: watching 1 of ", tracer)
        yield
        tracer.signal(signal.SIGINT)
        done = tracer.finish(60)
        if done.status or "judged, 0 broken" not in done.stderr:
            raise Broken(str(done))


@bench.measures("slo", BLOCKS, BLOCK)
def measure_slo(args):
    with tempfile.TemporaryDirectory() as work, exits.nginx(work):
        pid = int(bench.read(os.path.join(work, "pid")))
        os.sched_setaffinity(pid, bench.TARGET_CPU)
        without, more = [block(pid, args.slo_seconds)], []
        for i in range(args.slo_blocks):
            with watched(args, pid, os.path.join(work, f"slow{i}")):
                with_rule = block(pid, args.slo_seconds)
            without.append(block(pid, args.slo_seconds))
            more.append(100 * (with_rule / statistics.fmean(without[-2:]) - 1))
    middle = statistics.median(more)
    error = statistics.stdev(more) / math.sqrt(len(more))
    row("--slo, nothing broken: CPU time of a request of nginx under wrk", middle,
        f"{middle:+.2f} %", REACH_PERCENT)
    detail(f"median of {len(more)} blocks of {args.slo_seconds:g} s, from {min(more):+.2f} to "
           f"{max(more):+.2f} %; mean {statistics.fmean(more):+.2f}, standard error {error:.2f}; "
           f"a request takes {statistics.fmean(without) / 1000:.1f} us")


def explained(args, work, name):
    """Seconds from the first slow request to its explanation, and from when a window was found
    broken."""
    with running(start(built(args, "programs", "slowdown"), 3)) as target:
        await_line(target.stdout, "ready", target)
        with running(start(args.proftrace, "record", "--slo", "handle: p99 < 5ms", "-o",
                           os.path.join(work, name), "-p", target.pid)) as tracer:
            await_line(tracer.stderr, "proftrace: watching 1 of ", tracer)
            time.sleep(2.5) # healthy windows
            target.signal(signal.SIGUSR1)
            slow = time.monotonic()
            await_line(tracer.stderr, "proftrace: handle: p99 is ", tracer)
            broken = time.monotonic()
            lines = tracer.stderr.wait_lines("proftrace: handle: p99 is ", 2)
            told = time.monotonic()
            if len(lines) < 2 or not re.search("wait_for_disk", lines[1]):
                raise Broken(f"it says {lines}")
    return told - slow, told - broken


@bench.measures("explained", RUNS)
def measure_explained(args):
    with tempfile.TemporaryDirectory() as work:
        found = [explained(args, work, str(i)) for i in range(args.slo_runs)]
    worst = max(since_broken for _, since_broken in found)
    row("--slo, from the end of the first broken window to why", worst, f"{worst:.2f} s",
        REACH_SECONDS)
    detail("from the first slow request on: " +
           ", ".join(f"{since_slow:.2f} s" for since_slow, _ in found))
