# SPDX-License-Identifier: GPL-2.0-or-later
"""Single calls: what recording and reporting them costs."""

import argparse
import contextlib
import json
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

import bench
import harness
from bench import (Broken, PYTHON, ROOT, TARGET_CPU, TRACER_CPU, UNLIMITED, await_line, detail, row,
                   running, start)
from rows.calls import BATCHES, CALLS, RUNS, Calls, function_of, proftrace

REACH_BYTES = 8
REACH_CPU = 0.25
REACH_COST = 1.10
REACH_SECONDS = 10
REACH_MB = 300
REACH_PAGE_MB = 2

WORK = os.path.join(ROOT, "tests", "bench", "work.py")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    fields = harness.stat_fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS


def recording(args, path):
    """The accounts of a recording."""
    done = subprocess.run([args.proftrace, "report", "-f", "json", path], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["accounting"]


def finish(process):
    """Waits for the end; what the process has used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.popen.returncode = os.waitstatus_to_exitcode(status)
    done = process.finish()
    if done.status:
        raise Broken(str(done))
    return usage


def record(args, path, *argv, options=()):
    """Records a command's single calls; the accounts."""
    with running(start(args.proftrace, "record", "--calls", "-o", path, *options, "--",
                       *argv)) as tracer:
        finish(tracer)
    return recording(args, path)


@bench.measures("bytes", bench.option("--work", 2, "pieces of work that python3 does", quick=1,
                                      type=int))
def measure_bytes(args):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "data")
        for name, options in ("as the budget has it", ()), ("all functions", UNLIMITED):
            rounds = args.work * (20 if not options else 1)
            accounts = record(args, path, PYTHON, "-S", WORK, rounds, options=options)
            calls = accounts["timeline_calls"]
            size = os.path.getsize(path)
            row(f"bytes a call in the file, python3, {name}", size / calls, f"{size / calls:.2f}",
                REACH_BYTES)
            detail(f"{calls} calls, {size / 1e6:.1f} MB with functions and paths; "
                   f"lost {accounts['timeline_lost']}")


@bench.measures("rate", bench.option("--rate-calls", 1000000, "calls that each of two processes "
                                     "makes", quick=300000, type=int), BATCHES)
def measure_rate(args):
    """Records as many calls as two cores can make of the cheapest function, and nothing else."""
    size = argparse.Namespace(build=args.build, calls=args.rate_calls, batches=args.batches)
    with tempfile.TemporaryDirectory() as work, running(Calls(size, "nop5_first")) as one, \
            running(Calls(size, "nop5_first")) as other:
        path = os.path.join(work, "data")
        with running(start(args.proftrace, "record", "--calls", "-o", path, "-p",
                           f"{one.pid},{other.pid}", "-F", "nop5_first")) as tracer:
            await_line(tracer.stderr, harness.TRACING, tracer)
            before, began = cpu_seconds(tracer.pid), time.monotonic()
            one.send("go")
            other.send("go")
            true = sum(int(await_line(target.stdout, "calls ", target).split()[1])
                       for target in (one, other))
            seconds = time.monotonic() - began
            tracer.signal(signal.SIGINT)
            usage = finish(tracer)
            spent = usage.ru_utime + usage.ru_stime - before
        accounts = recording(args, path)
    kept, lost = accounts["timeline_calls"], accounts["timeline_lost"]
    if accounts["entered"] != true or true != kept + lost:
        raise Broken(f"of {true}: entered {accounts['entered']}, kept {kept}, lost {lost}")
    row(f"calls lost at {true / seconds / 1e6:.2f} million a second", lost, str(lost), 0)
    detail(f"of {true}; entered = kept + lost")
    row("  proftrace's own CPU time, s a million calls", spent / kept * 1e6,
        f"{spent / kept * 1e6:.3f}", REACH_CPU)


@contextlib.contextmanager
def with_calls(args, target, function):
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "data")
        command = start(args.proftrace, "record", "--calls", "-o", path, "-p", target.pid,
                        "-F", function["symbol"])
        with running(command, TRACER_CPU) as tracer:
            await_line(tracer.stderr, harness.TRACING, tracer)
            yield
            tracer.signal(signal.SIGINT)
            finish(tracer)
        target.check(recording(args, path)["timeline_calls"], "proftrace record --calls")


@bench.measures("kept-calls", RUNS, CALLS, BATCHES)
def measure_cost(args):
    for name in "push_first", "nop5_first":
        function = function_of(args, name)
        costs = {proftrace: [], with_calls: []}
        for _ in range(args.runs):
            for attached, runs in costs.items():
                with running(Calls(args, name), TARGET_CPU) as target, \
                        attached(args, target, function):
                    runs.append(target.run())
        without, kept = (statistics.median(runs) for runs in costs.values())
        row(f"a traced call with --calls / without, {name}", kept / without,
            f"{kept / without:.3f}", REACH_COST)
        detail(f"ns a call: {without:.0f} without, {kept:.0f} with")


def watch_memory(process):
    """The most that it had in memory, in MB, until it ended or 10 ms before. What wait4() says
    counts what this program had when it forked."""
    most = 0
    while True:
        try:
            status = bench.read(f"/proc/{process.pid}/status").decode()
        except FileNotFoundError:
            return most
        found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.M)
        if not found:
            return most
        most = max(most, int(found[1]) / 1024)
        time.sleep(0.01)


@bench.measures("report", bench.option("--many", 10, "million calls in the recording", quick=2,
                                       type=float))
def measure_report(args):
    text = subprocess.run([args.proftrace, "--help"], check=True, stdout=subprocess.PIPE).stdout
    names = re.search(r"FMT is one of ((?:\w+,\s+)+\w+)", text.decode())[1].split()
    names.remove("lines,")  # these are of source, which the recording knows nothing of
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "data")
        program = bench.built(args, "programs", "threads")
        record(args, path, program, 2, int(args.many * 1e6 / 8), options=UNLIMITED)
        calls = recording(args, path)["timeline_calls"]
        detail(f"report of {calls} calls, {os.path.getsize(path) / 1e6:.0f} MB:")
        for name in (name.strip(",") for name in names):
            out = os.path.join(work, "out")
            began = time.monotonic()
            with running(start(args.proftrace, "report", "-f", name, "-o", out, path)) as report:
                memory = watch_memory(report)
                finish(report)
                seconds = time.monotonic() - began
            row(f"  {name}: s", seconds, f"{seconds:.2f}", REACH_SECONDS * args.many / 10)
            row(f"  {name}: MB of memory", memory, f"{memory:.0f}", REACH_MB)
            detail(f"{os.path.getsize(out) / 1e6:.1f} MB written")
            os.unlink(out)


@bench.measures("page")
def measure_page(args):
    done = subprocess.run([bench.built(args, "profiles"), "large", "html", "10000", "0"],
                          check=True, stdout=subprocess.PIPE)
    size = len(done.stdout) / 1e6
    row("-f html of 10,000 paths, MB", size, f"{size:.2f}", REACH_PAGE_MB)
