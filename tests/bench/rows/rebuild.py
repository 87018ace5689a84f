# SPDX-License-Identifier: GPL-2.0-or-later
"""The use of building a program with nops at its functions' entries."""

import contextlib
import statistics

import bench
from bench import Broken, TARGET_CPU, TRACER_CPU, await_line, detail, row, running, start, stop

RUNS = bench.option("--rebuild-runs", 5, "runs of each build, traced and not", quick=3, type=int)
PIECES = bench.option("--pieces", 10, "pieces of work in a traced batch", quick=5, type=int)
UNTRACED = 40 # times as many in a batch that is not traced

# {build: the one without nops that it is compared with}
BUILDS = {"gcc": None, "gcc-nop5": "gcc", "gcc-nops": "gcc", "clang": None, "clang-nop5": "clang"}
HOW = {
    "gcc-nop5": "gcc -pg -mfentry -mnop-mcount",
    "gcc-nops": "gcc -fpatchable-function-entry=5",
    "clang-nop5": "clang -fpatchable-function-entry=5",
}


class Build:
    def __init__(self, args, name):
        self.path = bench.built(args, "bench", f"picture-{name}")
        self.bare, self.traced = [], [] # ns a piece
        self.calls = 0 # in a piece
        self.sites = {}

    @contextlib.contextmanager
    def ready(self, pieces):
        with running(start(self.path, pieces, 5), TARGET_CPU) as target:
            await_line(target.stdout, "ready", target)
            yield target

    def run(self, target):
        """ns a piece, and how many there were."""
        target.send("go")
        pieces = int(await_line(target.stdout, "pieces ", target).split()[1])
        return statistics.median(float(line.split()[1])
                                 for line in target.stdout.wait_lines("ns ")), pieces

    def run_bare(self, args):
        with self.ready(args.pieces * UNTRACED) as target:
            self.bare.append(self.run(target)[0])

    def run_traced(self, args):
        with self.ready(args.pieces) as target, \
                running(start(args.proftrace, "-f", "json", *bench.UNLIMITED, "-p", target.pid,
                              "-F", "*", "-N", "main"), TRACER_CPU) as tracer:
            await_line(tracer.stderr, bench.harness.TRACING, tracer)
            ns, pieces = self.run(target)
            document = stop(tracer)
        entered = document["accounting"]["entered"]
        if document["accounting"]["lost"] or not entered:
            raise Broken(f"{self.path}: {document['accounting']}")
        self.traced.append(ns)
        self.calls = entered / pieces
        self.sites = {name: n for name, n in document["probes"]["sites"].items() if n}

    def call_ns(self):
        """Returns the time that tracing adds to a call."""
        return (statistics.median(self.traced) - statistics.median(self.bare)) / self.calls


@bench.measures("rebuild", RUNS, PIECES)
def measure_rebuild(args):
    builds = {name: Build(args, name) for name in BUILDS}
    for _ in range(args.rebuild_runs):
        for build in builds.values():
            build.run_bare(args)
            build.run_traced(args)
    for name, plain in BUILDS.items():
        build = builds[name]
        if plain:
            ratio = build.call_ns() / builds[plain].call_ns()
            row(f"a traced call, {HOW[name]} / {plain} alone", ratio, f"{ratio:.2f}")
            ratio = statistics.median(build.bare) / statistics.median(builds[plain].bare)
            row("    its run time untraced", ratio, f"{ratio:.3f}")
    for name, build in builds.items():
        detail(f"{name}: {build.call_ns():.0f} ns a call, {build.calls:.0f} calls a piece; untraced "
               f"{statistics.median(build.bare) / 1000:.1f} us a piece ({min(build.bare) / 1000:.1f} "
               f"to {max(build.bare) / 1000:.1f}); sites {build.sites}")
