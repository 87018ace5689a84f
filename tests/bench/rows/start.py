# SPDX-License-Identifier: GPL-2.0-or-later
"""The default run of a busy server from its first moment on: when it has something to show, what
CPU time it takes for itself, and what the server loses meanwhile.

Its own CPU time is that of all of its processes, with what the kernel does for them. That of the
start, with the end, and of each second come from runs of two lengths. What the server answers is
told by its own counter, in stretches that take turns with untraced ones; a traced one begins as
proftrace is begun."""

import os
import signal
import statistics
import subprocess
import tempfile
import time

import bench
from bench import Broken, detail, row
from servers import SERVERS

REACH_SECONDS, REACH_CPU, REACH_LOST = 1.5, 3, 5
SHORT = 2 # seconds of the shorter run


def command_of(args, pids, *options):
    return [args.proftrace, "-q", "-f", "tree", *map(str, options), "-p", pids]


def ended(process):
    """Waits until the process has ended. Returns its CPU time, in seconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Broken(f"proftrace: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def first_result(args, pids):
    """Seconds from the command to the first line."""
    began = time.monotonic()
    with subprocess.Popen(command_of(args, pids, "-i", 1), stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        seconds = time.monotonic() - began
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        ended(process)
    return seconds


def own_cpu(args, pids, seconds):
    with subprocess.Popen(command_of(args, pids, "-d", seconds),
                          stdout=subprocess.DEVNULL) as process:
        return ended(process)


def rate(args, count):
    began, before = time.monotonic(), count()
    time.sleep(args.start_seconds)
    return (count() - before) / (time.monotonic() - began)


def losses(args, pids, count):
    """Percent of what it answers, stretch by stretch."""
    lost, before = [], rate(args, count)
    for _ in range(args.start_runs):
        with subprocess.Popen(command_of(args, pids, "-d", args.start_seconds),
                              stdout=subprocess.DEVNULL) as process:
            traced = rate(args, count)
            ended(process)
        after = rate(args, count)
        lost.append(100 * (1 - 2 * traced / (before + after)))
        before = after
    return lost


def measure_server(args, name):
    with tempfile.TemporaryDirectory() as directory, SERVERS[name](directory) as server:
        pids, count = server.pids, server.requests
        own_cpu(args, pids, SHORT) # calibrates, which is kept
        first = [first_result(args, pids) for _ in range(args.start_runs)]
        short = [own_cpu(args, pids, SHORT) for _ in range(args.start_runs)]
        whole = [own_cpu(args, pids, args.start_seconds) for _ in range(args.start_runs)]
        lost = losses(args, pids, count)
    middle = statistics.median(first)
    row(f"{name}: seconds to the first result with -i 1", middle, f"{middle:.2f} s", REACH_SECONDS)
    detail(f"{min(first):.2f} to {max(first):.2f} s")
    of_short, of_whole = statistics.median(short), statistics.median(whole)
    share = 100 * of_whole / args.start_seconds
    row(f"{name}: own CPU time in {args.start_seconds} s, of one CPU", share, f"{share:.1f} %",
        REACH_CPU)
    second = (of_whole - of_short) / (args.start_seconds - SHORT)
    detail(f"{of_short - SHORT * second:.2f} s for start and end, {1000 * second:.0f} ms a second")
    middle = statistics.median(lost)
    row(f"{name}: throughput lost in {args.start_seconds} s from the command on", middle,
        f"{middle:.1f} %", REACH_LOST)
    detail(f"{min(lost):.1f} to {max(lost):.1f} %")


@bench.measures(
    "start", bench.option("--start-seconds", 10, "length of a stretch", quick=4, type=int),
    bench.option("--start-runs", 3, "runs of each kind", quick=1, type=int),
    bench.option("--start-servers", ",".join(SERVERS), "servers"))
def measure_start(args):
    for name in args.start_servers.split(","):
        measure_server(args, name)
