# SPDX-License-Identifier: GPL-2.0-or-later
"""Which functions of real programs take the most time themselves, against callgrind's instructions.

A function's own time is what is not in another traced function: it includes what its untraced
callees do, those in libraries and those that have no name. Callgrind counts alike if it is told to
leave these out (--fn-skip), which adds what they do to the function that called them. So it runs
twice: the first run finds out who is there.
"""

import collections
import json
import os
import re
import statistics
import subprocess
import tempfile

import bench
import callgrind
from bench import Broken, PYTHON, detail, plan, row

TOP = 5
SHOWN = 10
# These two are where everything begins; callgrind cannot leave out what nobody has called.
BEGINNINGS = "ld-linux", "(below main)"


def commands(args):
    """{program: (pattern of its functions, command, standard input)}"""
    def work(name):
        return os.path.join(bench.HERE, name)

    library = os.path.basename(bench.library("libsqlite3.so.0"))
    pieces = str(args.order_pieces)
    return {
        "python3": ("*", [PYTHON, "-S", "-B", work("work.py"), pieces], b""),
        "sqlite3": (library + ":*", ["/usr/bin/sqlite3", ":memory:"],
                    bench.read(work("work.sql")) * args.order_pieces),
        "perl": ("*", ["/usr/bin/perl", work("work.pl"), pieces], b""),
    }


def execute(argv, stdin):
    done = subprocess.run([*callgrind.FIXED, *argv], input=stdin, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env=callgrind.ENVIRONMENT, check=False)
    if done.returncode:
        raise Broken(f"{' '.join(argv[:8])}: {done.stderr.decode(errors='replace')[-500:]}")


def instructions(argv, stdin, work, skip=()):
    """{function: instructions of its own} and {function: {its objects}} by callgrind."""
    out = os.path.join(work, "callgrind.out")
    execute(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}",
             "--compress-strings=no", "--compress-pos=no", "--skip-plt=no",
             *(f"--fn-skip={name}" for name in skip), *argv], stdin)
    own, objects = collections.Counter(), collections.defaultdict(set)
    name = of_object = None
    of_callee = False
    with open(out, encoding="utf-8", errors="replace") as file:
        for line in file:
            key, _, value = line.rstrip("\n").partition("=")
            if key == "ob":
                of_object = value
            elif key == "fn":
                name = re.sub(r"'\d+$", "", value) # the depth of a recursion
                objects[name].add(of_object)
            elif key == "calls":
                of_callee = True # the next line's cost is not its own
            elif cost := re.match(r"[-+*\d]\S* (\d+)$", line):
                if not of_callee:
                    own[name] += int(cost[1])
                of_callee = False
    return own, objects


def truth(argv, stdin, traced):
    """{symbol: instructions of its own} of the traced functions; `traced` is {name: symbol}."""
    with tempfile.TemporaryDirectory() as work:
        everything, objects = instructions(argv, stdin, work)
        skip = [name for name in everything if name not in traced and name != BEGINNINGS[1] and
                not any(BEGINNINGS[0] in path for path in objects[name])]
        # In the order of their names, as the order of a set would be another each time.
        own, _ = instructions(argv, stdin, work, sorted(skip))
    found = collections.Counter()
    for name, cost in own.items():
        if name in traced:
            found[traced[name]] += cost
    if sum(found.values()) < 0.5 * sum(everything.values()):
        raise Broken(f"callgrind finds {sum(found.values())} instructions in traced functions, of "
                     f"{sum(everything.values())}")
    return found


def measured(args, argv, stdin, pattern):
    """{symbol: CPU time of its own}, the median of some runs, and how far calls were traced."""
    times = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out.json")
        for _ in range(args.order_runs):
            execute([args.proftrace, "-q", "-f", "json", "-o", out, *bench.UNLIMITED, "-F", pattern,
                     "--", *argv], stdin)
            document = json.loads(bench.read(out))
            for function in document["functions"]:
                times[function["symbol"]].append(function["cpu_self_ns"])
    accounting = document["accounting"]
    if accounting["lost"] or accounting["dropped"]:
        raise Broken(f"not all calls were recorded: {accounting}")
    return {name: statistics.median(found) for name, found in times.items()}


def shares(figures):
    """The dearest first, with their percentage of the whole."""
    whole = sum(figures.values())
    ranked = sorted(figures, key=lambda name: -figures[name])
    return [(name, 100 * figures[name] / whole) for name in ranked]


@bench.measures(
    "order",
    bench.option("--order-pieces", 10, "pieces of work of each program", quick=3, type=int),
    bench.option("--order-runs", 3, "runs of which the median counts", quick=1, type=int),
    bench.option("--order-programs", "python3,sqlite3,perl", "real programs"))
def measure_order(args):
    known = commands(args)
    for program in args.order_programs.split(","):
        if program not in known:
            raise Broken(f"{program}: not one of {', '.join(known)}")
        pattern, argv, stdin = known[program]
        traced = {name.split("@")[0]: function["symbol"]
                  for function in plan(args, *bench.UNLIMITED, "-F", pattern, "--", *argv)
                  for name in (function["symbol"], *function["aliases"])}
        true = shares(truth(argv, stdin, traced))
        ours = shares(measured(args, argv, stdin, pattern))
        true_top, our_top = ([name for name, _ in ranked[:TOP]] for ranked in (true, ours))
        common = len(set(true_top) & set(our_top))
        row(f"{program}: of the {TOP} dearest functions, found", common, str(common), TOP,
            at_most=False)
        detail("in the same order" if true_top == our_top else "in another order")
        for what, ranked in ("truth", true), ("measured", ours):
            detail(f"  {what}: " + ", ".join(f"{name} {share:.1f}" for name, share in
                                             ranked[:SHOWN]))
