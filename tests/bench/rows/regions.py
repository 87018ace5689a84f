# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a traced region, beside that of a function."""

import statistics

import bench
import harness
from bench import Broken, TARGET_CPU, TRACER_CPU, await_line, detail, plan, row, running, start, stop
from rows.calls import BATCHES, CALLS, RUNS

REACH_REGION = 0.9
WHAT = {"region": "region:work", "function": "in_function"}


class Worker(harness.Process):
    """tests/bench/regions.c"""

    def __init__(self, args, what):
        super().__init__([bench.built(args, "bench", "regions"), what, str(args.calls),
                          str(args.batches)])
        await_line(self.stdout, "ready", self)

    def run(self):
        """Nanoseconds a call, and how many there were."""
        self.send("go")
        calls = int(await_line(self.stdout, "calls ", self).split()[1])
        return statistics.median(float(line.split()[1])
                                 for line in self.stdout.wait_lines("ns ")), calls


def traced(args, what, pattern):
    with running(Worker(args, what), TARGET_CPU) as worker, \
            running(start(args.proftrace, "-f", "json", *bench.UNLIMITED, "-p", worker.pid, "-F",
                          pattern), TRACER_CPU) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        ns, calls = worker.run()
        counted = stop(tracer)["functions"][0]["calls"]
    if counted != calls:
        raise Broken(f"proftrace counts {counted} of {calls} of {pattern}")
    return ns


def bare(args, what):
    with running(Worker(args, what), TARGET_CPU) as worker:
        return worker.run()[0]


@bench.measures("regions", RUNS, CALLS, BATCHES)
def measure_regions(args):
    with running(Worker(args, "function")) as worker:
        function, = plan(args, "-p", worker.pid, "-F", WHAT["function"])
    if function["site"] != "push":
        raise Broken(f"the compiler begins in_function with a {function['site']}")
    costs = {(what, how): [] for what in WHAT for how in (bare, traced)}
    for _ in range(args.runs):
        for what, pattern in WHAT.items():
            costs[what, bare].append(bare(args, what))
            costs[what, traced].append(traced(args, what, pattern))
    medians = {key: statistics.median(runs) for key, runs in costs.items()}
    ratio = medians["region", traced] / medians["function", traced]
    row("a traced region / a traced function that begins with a push", ratio, f"{ratio:.2f}",
        REACH_REGION)
    for what in WHAT:
        runs = costs[what, traced]
        detail(f"{what}: {medians[what, traced]:.0f} ns ({min(runs):.0f} to {max(runs):.0f}), "
               f"untraced {medians[what, bare]:.1f}; exits of the function: {function['exit']}")
