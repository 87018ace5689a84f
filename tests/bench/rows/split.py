# SPDX-License-Identifier: GPL-2.0-or-later
"""Running and waiting told apart, and how long calls take, on functions that know it themselves."""

import bench
from bench import Broken, detail, row

REACH_SPLIT = 5
# A part of a function's time that is smaller says nothing: it is a few system calls.
LEAST_PERCENT = 5
REACH_BUCKET = 12.5
KINDS = "loguniform:2:5000,bimodal:5:1000,uniform:50:150"


def split_error(wall, cpu, function):
    """Percent by which the parts of a function's time are wrong, the worse one."""
    worst = 0
    for true, seen in (cpu, function["cpu_ns"]), (wall - cpu, function["off_ns"]):
        if 100 * true >= LEAST_PERCENT * wall:
            worst = max(worst, 100 * abs(seen - true) / true)
        else:
            worst = max(worst, 100 * abs(seen - true) / wall)
    return worst


@bench.measures(
    "split", bench.option("--waits", 20, "calls of each function that waits", quick=5, type=int),
    bench.option("--wait-ms", 20, "how long each takes", type=int),
    bench.option("--spinners", 3, "threads that spin at once", type=int))
def measure_split(args):
    argv = [bench.built(args, "bench", "waits"), args.waits, args.wait_ms, args.spinners]
    done, document = bench.profile(args, argv, "--max-overhead", "none")
    functions = {f["name"]: f for f in document["functions"]}
    for name, *clocks in bench.said(done, "SPLIT"):
        wall, cpu = map(int, clocks)
        function = functions[name]
        error = split_error(wall, cpu, function)
        row(f"running and waiting of {name}: error", error, f"{error:.2f} %", REACH_SPLIT)
        detail(f"true: wall {wall / 1e6:.1f} ms, CPU {cpu / 1e6:.1f}; measured: "
               f"wall {function['total_ns'] / 1e6:.1f}, CPU {function['cpu_ns'] / 1e6:.1f}")


@bench.measures(
    "quantiles", bench.option("--kinds", KINDS, "distributions, KIND:LOW_US:HIGH_US of "
                              "tests/bench/durations.c"),
    bench.option("--durations", 3000, "calls of each", quick=1000, type=int))
def measure_quantiles(args):
    for kind in args.kinds.split(","):
        argv = [bench.built(args, "bench", "durations"), *kind.split(":"), args.durations]
        done, document = bench.profile(args, argv, "-F", "lasts", cpus=bench.TARGET_CPU)
        function = document["functions"][0]
        if function["calls"] != args.durations:
            raise Broken(f"{kind}: {function['calls']} of {args.durations} calls")
        for percent, exact in bench.said(done, "EXACT"):
            field = f"p{percent}_ns"
            if field not in function:
                continue
            error = 100 * abs(function[field] / int(exact) - 1)
            row(f"p{percent} of {kind}: error", error, f"{error:.2f} %", REACH_BUCKET)
            detail(f"exact {int(exact) / 1e3:.1f} us, measured {function[field] / 1e3:.1f} us")
