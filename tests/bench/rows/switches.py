# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost to a target while tracing is switched off: before the probes are taken out, and
after."""

import argparse
import contextlib
import signal
import statistics

import bench
import harness
from bench import Broken, TARGET_CPU, TRACER_CPU, await_line, detail, row, running, start
from rows.calls import BATCHES, CALLS, RUNS, Calls, function_of, proftrace

REACH_DETACHED = 1.02
FREE_CALLS = bench.option("--free-calls", 20000000, "calls in a batch that no probe slows down",
                          quick=4000000, type=int)


@contextlib.contextmanager
def off(args, target, function, prefix="proftrace: switched off"):
    command = start(args.proftrace, "-f", "json", "-p", target.pid, "-F", function["symbol"])
    with running(command, TRACER_CPU) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        tracer.signal(signal.SIGUSR1)
        await_line(tracer.stderr, prefix, tracer)
        yield tracer
        tracer.signal(signal.SIGINT)
        done = tracer.finish()
        if done.status:
            raise Broken(str(done))


@contextlib.contextmanager
def off_before_detach(args, target, function):
    with off(args, target, function) as tracer:
        yield
        if "taken out" in tracer.stderr.text():
            raise Broken("it took so long that the probes were taken out: fewer --calls")


@contextlib.contextmanager
def detached(args, target, function):
    with off(args, target, function, "proftrace: the probes are taken out"):
        if not harness.poll(lambda: not any(line.endswith(target.path)
                                            for line in harness.dirty_text(target.pid))):
            raise Broken("the probes are still there")
        yield


@contextlib.contextmanager
def untraced(_args, _target, _function):
    yield


def medians(args, name, ways, calls):
    """ns a call, by way; they take turns."""
    size = argparse.Namespace(build=args.build, calls=calls, batches=args.batches)
    function, runs = function_of(args, name), {way: [] for way in ways}
    for _ in range(args.runs):
        for way, figures in runs.items():
            with running(Calls(size, name), TARGET_CPU) as target, way(args, target, function):
                figures.append(target.run())
    return [statistics.median(figures) for figures in runs.values()]


@bench.measures("switches", RUNS, CALLS, BATCHES, FREE_CALLS)
def measure_switches(args):
    for name in "push_first", "nop5_first", "mov_first":
        on_ns, off_ns = medians(args, name, (proftrace, off_before_detach), args.calls)
        row(f"a call switched off / on, probes in, {name}", off_ns / on_ns,
            f"{off_ns / on_ns:.2f}")
        detail(f"ns a call: {on_ns:.0f} on, {off_ns:.0f} off")
    for name in "push_first", "nop5_first":
        free_ns, out_ns = medians(args, name, (untraced, detached), args.free_calls)
        row(f"a call switched off / untraced, probes out, {name}", out_ns / free_ns,
            f"{out_ns / free_ns:.3f}", REACH_DETACHED)
        detail(f"ns a call: {free_ns:.3f} untraced, {out_ns:.3f} off")
