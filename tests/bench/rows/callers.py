# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of unwinding the callers of a call (--callers), and the share of calls of which all are
found: malloc in python3, whose stacks are deep."""

import json
import statistics
import subprocess
import tempfile

import bench
import harness
from bench import Broken, PYTHON, detail, row

REACH_WHOLE = 98
WORK = "import json; [json.loads(json.dumps([{'a': 'b' * 600}] * 2000)) for _ in range(%d)]"


def profile(args, *options):
    with tempfile.NamedTemporaryFile() as out:
        done = subprocess.run(
            [args.proftrace, "-f", "json", "-o", out.name, "-F", "libc.so.6:malloc", *options, "--",
             PYTHON, "-S", "-c", WORK % args.rounds], check=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            raise Broken(done.stderr.decode())
        return json.load(out)


def call_ns(document):
    accounting = document["accounting"]
    return accounting["probe_ns"] / accounting["entered"]


def callers_of_a_call(document):
    """On average."""
    calls = sum(node["calls"] for node, _, _ in harness.nodes_of(document))
    return sum(node["calls"] * (depth - 1) for thread in document["threads"]
               for node, _, depth in harness.walk(thread["calls"])) / calls


@bench.measures("callers", bench.option("--rounds", 20, "2,000 objects each", quick=5, type=int),
                bench.option("--callers-runs", 3, "runs of each kind", quick=1, type=int))
def measure_callers(args):
    plain, unwound = [], []
    for _ in range(args.callers_runs):
        plain.append(call_ns(profile(args)))
        document = profile(args, "--callers")
        unwound.append(call_ns(document))
    callers, accounting = callers_of_a_call(document), document["accounting"]
    more = statistics.median(unwound) - statistics.median(plain)
    whole = 100 * accounting["callers_whole"] / accounting["entered"]
    row("a call of malloc in python3, its probes", 0, f"{statistics.median(plain):,.0f} ns")
    row(f"the same with --callers, of which there are {callers:.1f} on average", 0,
        f"{statistics.median(unwound):,.0f} ns")
    row("a caller", 0, f"{more / callers:,.0f} ns")
    row("calls of which all callers are known", whole, f"{whole:.2f} %", REACH_WHOLE,
        at_most=False)
    detail(f"{accounting['entered']:,} calls; " + ", ".join(
        f"{name} {n:,}" for name, n in accounting.items() if name.startswith("callers_") and n))
