# SPDX-License-Identifier: GPL-2.0-or-later
"""proftrace's memory, when it runs for long."""

import re
import subprocess
import time

import bench
import harness
from bench import Broken, await_line, detail, row, running, start

REACH_MB = 1
# Until then distributions fill: what is rare has happened to each function.
SETTLE_SECONDS = 60


def resident(pid):
    """Bytes of its own: what it sees of the BPF maps is not in it, that is the kernel's."""
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        maps = re.findall(r"^[0-9a-f]+-[0-9a-f]+ (.*)\n(?:\w+:.*\n)*?Rss: +(\d+) kB", file.read(),
                          re.M)
    return 1024 * sum(int(kB) for what, kB in maps if "anon_inode:bpf-map" not in what)


@bench.measures(
    "memory", bench.option("--memory-seconds", 600, "how long it runs", quick=60, type=int),
    bench.option("--memory-interval", None, "of its results, in seconds; None: one, at the end"),
    bench.option("--memory-threads", 2, "of the program", type=int))
def measure_memory(args):
    argv = [bench.built(args, "bench", "thousands"), args.memory_threads]
    with running(start(*argv)) as target:
        await_line(target.stdout, "ready", target)
        intervals = ("-i", args.memory_interval) if args.memory_interval else ()
        # The output of ten minutes is more than anybody could keep.
        tracer = harness.Process(
            [args.proftrace, "-f", "json", "-o", "/dev/null", *intervals, *bench.UNLIMITED,
             "-p", str(target.pid), "-F", "f_*"], stdout=subprocess.DEVNULL)
        with running(tracer):
            await_line(tracer.stderr, harness.TRACING, tracer)
            target.send("go")
            began, sizes = time.monotonic(), []
            while time.monotonic() - began < args.memory_seconds:
                sizes.append((time.monotonic() - began, resident(tracer.pid)))
                time.sleep(0.5)
                if tracer.ended():
                    raise Broken(f"proftrace has ended: {tracer.finish()}")
            calls = int(bench.said(target.finish(), "CALLS")[0][0])
    settle = min(SETTLE_SECONDS, args.memory_seconds / 2)
    first = [size for at, size in sizes if at <= settle]
    grown = (max(size for _, size in sizes) - max(first)) / 1e6
    row(f"growth of memory in {args.memory_seconds} s, after the first {settle:.0f} s", grown,
        f"{grown:.2f} MB", REACH_MB)
    detail(f"{max(first) / 1e6:.1f} MB then, {sizes[-1][1] / 1e6:.1f} MB at the end; "
           f"{calls / args.memory_seconds / 1e6:.2f} million calls a second")
