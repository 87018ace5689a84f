# SPDX-License-Identifier: GPL-2.0-or-later
"""Exact counts."""

import json
import os
import subprocess
import tempfile

import bench
import callgrind
import harness
from bench import Broken, PYTHON, ROOT, await_line, detail, row, running, start

REACH_COUNTS = 200


@bench.measures("counts")
def measure_counts(args):
    script = os.path.join(ROOT, "tests", "bench", "script.py")
    argv = [PYTHON, "-s", "-S", "-B", script]
    with tempfile.TemporaryDirectory() as work:
        # Python looks at what its streams are, so both runs have the same.
        output, true = callgrind.run(argv, os.path.join(work, "callgrind.out"), cwd=work,
                                     stdin=subprocess.DEVNULL)
        out = os.path.join(work, "out.json")
        done = subprocess.run([*callgrind.FIXED, args.proftrace, "-f", "json", "-o", out,
                               *bench.UNLIMITED, "--", *argv], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=work, check=False,
                              env=callgrind.environment(work), timeout=300)
        if (done.returncode, done.stdout) != (0, output):
            raise Broken(f"proftrace -- {' '.join(argv)}: {done}")
        with open(out, encoding="utf-8") as file:
            equal, different = callgrind.compare(json.load(file), true, PYTHON)
    row("python3: functions whose count is callgrind's", equal, str(equal), REACH_COUNTS,
        at_most=False)
    row("python3: functions whose count differs", len(different), str(len(different)), 0)
    for name, calls, expected in different[:5]:
        detail(f"{name}: {calls} calls, callgrind says {expected}")


@bench.measures(
    "threads", bench.option("--threads", 1000, "threads in one process", quick=100, type=int),
    bench.option("--thread-calls", 1000, "calls of a four-level chain that each thread makes",
                 type=int))
def measure_threads(args):
    program = bench.built(args, "programs", "threads")
    with running(start(program, "--wait", args.threads, args.thread_calls)) as target:
        await_line(target.stdout, "ready", target)
        with running(start(args.proftrace, "-f", "json", *bench.UNLIMITED, "-p",
                           target.pid)) as tracer:
            await_line(tracer.stderr, harness.TRACING, tracer)
            target.send("go")
            true = target.finish(300).counts
            document = json.loads(tracer.finish(300).stdout)
    counted = {f["name"]: f["calls"] for f in document["functions"] if f["name"] in true}
    calls = args.threads * args.thread_calls * len(true)
    row(f"{args.threads} threads x {args.thread_calls} calls of a four-level chain: calls missing",
        abs(calls - sum(counted.values())), str(calls - sum(counted.values())), 0)
    if counted != true:
        detail(f"counted {counted}, true {true}")
    lost = document["accounting"]["lost"]
    row("  reported as lost", lost, str(lost), 0)
