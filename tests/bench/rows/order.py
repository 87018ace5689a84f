# SPDX-License-Identifier: GPL-2.0-or-later
"""The functions of real programs that take most time themselves, compared with callgrind's
instructions.

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
# Everything begins in these two; callgrind cannot leave out functions that nobody has called.
BEGINNINGS = "ld-linux", "(below main)"


def commands(pieces):
    """{program: (pattern of its functions, command, standard input)} to do so many pieces of work"""
    def work(name):
        return os.path.join(bench.HERE, name)

    library = os.path.basename(bench.library("libsqlite3.so.0"))
    return {
        "python3": ("*", [PYTHON, "-S", "-B", work("work.py"), str(pieces)], b""),
        "sqlite3": (library + ":*", ["/usr/bin/sqlite3", ":memory:"],
                    bench.read(work("work.sql")) * pieces),
        "bzip2": (os.path.basename(bench.library("libbz2.so.1.0")) + ":*", ["/usr/bin/bzip2", "-c"],
                  bench.read(PYTHON)[:20000 * pieces]),
        "xmllint": (os.path.basename(bench.library("libxml2.so.2")) + ":*",
                    ["/usr/bin/xmllint", "--noout", "--xpath", "count(//b[@c='7'])", "-"],
                    b"<a>" + b"".join(b"<b c='%d'>text &amp; more</b>\n" % i for i in range(50 * pieces))
                    + b"</a>"),
        "jq": (os.path.basename(bench.library("libjq.so.1")) + ":*", ["/usr/bin/jq", "-c", "map(.a)|add"],
                    b"[" + b",".join(b'{"a":%d,"b":"text"}' % i for i in range(50 * pieces)) + b"]"),
        "perl": ("*", ["/usr/bin/perl", work("work.pl"), str(pieces)], b""),
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


def truth(argv, stdin, traced, most):
    """{symbol: instructions of its own} of the traced functions; `traced` is {name: symbol}. `most`: it
    should be most of what there is."""
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
    if most and sum(found.values()) < 0.5 * sum(everything.values()):
        raise Broken(f"callgrind finds {sum(found.values())} instructions in traced functions, of "
                     f"{sum(everything.values())}")
    return found


def measured(args, argv, stdin, patterns):
    """{symbol: CPU time of its own}, the median of some runs, and how far calls were traced."""
    times = collections.defaultdict(list)
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out.json")
        for _ in range(args.order_runs):
            execute([args.proftrace, "-q", "-f", "json", "-o", out, *bench.UNLIMITED,
                     *filters(patterns), "--", *argv], stdin)
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


def filters(patterns):
    return [word for pattern in patterns for word in ("-F", pattern)]


def kept(args, argv, stdin, pattern):
    """The functions that the default budget keeps, as patterns; those that were called."""
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out.json")
        execute([args.proftrace, "-q", "-f", "json", "-o", out, "--max-overhead", "5", "-F",
                 pattern, "--", *argv], stdin)
        document = json.loads(bench.read(out))
    prefix = pattern[:-1]
    return [prefix + function["symbol"] for function in document["functions"]
            if not function["dropped"]]


def compare(args, what, command, patterns, most):
    argv, stdin = command
    traced = {name.split("@")[0]: function["symbol"]
              for function in plan(args, *bench.UNLIMITED, *filters(patterns), "--", *argv)
              for name in (function["symbol"], *function["aliases"])}
    true = shares(truth(argv, stdin, traced, most))
    ours = shares(measured(args, argv, stdin, patterns))
    true_top, our_top = ([name for name, _ in ranked[:TOP]] for ranked in (true, ours))
    common = len(set(true_top) & set(our_top))
    row(f"{what}: of the {TOP} dearest, found", common, str(common), TOP, at_most=False)
    detail("in the same order" if true_top == our_top else "in another order")
    for name, ranked in ("truth", true), ("measured", ours):
        detail(f"  {name}: " + ", ".join(f"{name} {share:.1f}" for name, share in ranked[:SHOWN]))


@bench.measures(
    "order",
    bench.option("--order-pieces", 100, "pieces of work of each program", quick=20, type=int),
    bench.option("--order-budget-pieces", 2000, "of the run that shows what the budget keeps",
                 type=int),
    bench.option("--order-runs", 3, "runs of which the median counts", quick=1, type=int),
    bench.option("--order-programs", "python3,sqlite3,perl", "real programs"))
def measure_order(args):
    """The own time of a traced function includes that of all untraced functions below it: measured
    with all functions traced, and with those that the default budget keeps."""
    known, longer = commands(args.order_pieces), commands(args.order_budget_pieces)
    for program in args.order_programs.split(","):
        if program not in known:
            raise Broken(f"{program}: not one of {', '.join(known)}")
        pattern, *command = known[program]
        chosen = kept(args, *longer[program][1:], pattern)
        compare(args, f"{program}, {len(chosen)} functions that the budget keeps", command, chosen,
                most=False)
        compare(args, f"{program}, all functions", command, [pattern], most=True)
