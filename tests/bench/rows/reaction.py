# SPDX-License-Identifier: GPL-2.0-or-later
"""The budget when the load changes: how soon it is kept again, and what is counted meanwhile."""

import statistics
import time

import bench
from bench import Broken, detail, row

REACH_SECONDS = 1
# The budget may be exceeded by this much of itself and be called kept: as with the slowdown of
# real programs.
TOLERANCE = {5: 7, 20: 24}
# Reports on either side of one that are taken together with it.
NEAR = 2
CHANGES = ";".join((
    "1 3:a=20000,b=2000 4:a=200000,b=2000",
    "1 3:a=2000,b=500,c=5000 4:a=2000,b=250000,c=5000",
    "2 3:a=10000,b=10000 4:a=100000,b=100000",
))
LOADS = ";".join((
    "1 5:a=300000,b=100000,c=30000,d=10000,e=3000,f=1000,g=100,h=10",
    "4 5:a=200000,b=20000,c=2000,d=200,e=200,f=200,g=20,h=2",
))
SYNTAX = "arguments of tests/bench/rates.c, separated by ;"


class Progress:
    """A line in which `rates` reports some fifty milliseconds: nanoseconds and percent."""

    def __init__(self, at, phase, steps, ns, true_steps, true_ns):
        self.at, self.phase, self.steps, self.ns = int(at), int(phase), int(steps), int(ns)
        self.true_steps, self.true_ns = int(true_steps), int(true_ns)
        self.overhead = 0


def around(found, i):
    return found[max(i - NEAR, 0):i + NEAR + 1]


def progress(done, phase):
    """One phase's progress, with what the probes add to the time of a step in percent.

    The truth is that of the reports around, as what else this machine does slows all steps.
    """
    found = [p for p in (Progress(*words) for words in bench.said(done, "PROGRESS"))
             if p.phase == phase]
    for i, p in enumerate(found):
        near = around(found, i)
        true_ns, true_steps = sum(q.true_ns for q in near), sum(q.true_steps for q in near)
        if not true_steps or not p.steps:
            raise Broken("the program had no CPU time for a quarter of a second: too much else "
                         "is going on")
        p.overhead = 100 * (p.ns / p.steps * true_steps / true_ns - 1)
    return found


def back_within(found, changed, limit):
    """Seconds from the change up to when the overhead is no more than `limit` for good. Single
    reports that others than the probes have spoilt do not count: each is the median of those
    around."""
    back = changed
    for i, p in enumerate(found):
        if statistics.median(q.overhead for q in around(found, i)) > limit:
            back = p.at
    return (back - changed) / 1e9


def rates(args, load, *options):
    argv = [bench.built(args, "bench", "rates"), *load.split()]
    started = time.time() - time.monotonic()
    done, document = bench.profile(args, argv, "-F", "rate_*", *options)
    began = (document["start_time"] - started) * 1e9 # on the monotonic clock
    return done, document, began


def check_kept(done, document):
    """Counts of what was kept, {name: (calls, true calls)}, and the names of what was dropped."""
    dropped = {drop["name"] for drop in document["dropped"]}
    functions = {f["name"]: f["calls"] for f in document["functions"]}
    true = {name: int(calls) for name, calls in bench.said(done, "COUNT") if calls != "0"}
    kept = {name: (functions.get(name, 0), calls) for name, calls in true.items()
            if name not in dropped}
    for name in dropped & true.keys():
        if functions.get(name, 0) > true[name]:
            raise Broken(f"{name}, dropped: {functions[name]} calls, in truth {true[name]}")
    return kept, dropped


@bench.measures(
    "reaction", bench.option("--changes", CHANGES, f"changing loads, {SYNTAX}"),
    bench.option("--reaction-budget", 5, "--max-overhead of these", type=float))
def measure_reaction(args):
    limit = TOLERANCE.get(args.reaction_budget, 1.4 * args.reaction_budget)
    for change in args.changes.split(";"):
        done, document, began = rates(args, change, "--max-overhead", args.reaction_budget)
        for number, at in bench.said(done, "PHASE")[1:]:
            changed, found = int(at), progress(done, int(number))
            drops = [(drop["name"], (began + drop["at_ns"] - changed) / 1e9)
                     for drop in document["dropped"]]
            drops = [(name, after) for name, after in drops if after > 0]
            most = max(p.overhead for p in found)
            if most <= limit and not drops:
                raise Broken(f"{change}: costs {most:.1f} % at most and nothing is dropped: "
                             "choose higher rates")
            seconds = back_within(found, changed, limit)
            row(f"back within {limit:g} % after the load's change", seconds, f"{seconds:.2f} s",
                REACH_SECONDS)
            detail(f"{change}: up to {most:.1f} %, in the end "
                   f"{statistics.median(p.overhead for p in found[-10:]):.1f} %, dropped " +
                   (", ".join(f"{name} after {after:.2f} s" for name, after in drops) or "nothing"))


@bench.measures("kept", bench.option("--loads", LOADS, f"loads, {SYNTAX}"))
def measure_kept(args):
    """Functions that are not dropped are counted exactly, whatever is dropped beside them."""
    wrong = kept_cnt = dropped_cnt = 0
    for load in args.loads.split(";"):
        done, document, _ = rates(args, load, "--max-overhead", 5)
        kept, dropped = check_kept(done, document)
        if not kept or not dropped:
            raise Broken(f"{load}: {len(kept)} functions kept, {len(dropped)} dropped: choose "
                         "other rates")
        detail(f"{load}: dropped {', '.join(sorted(dropped))}; "
               f"lost {document['accounting']['lost']}")
        for name, (calls, true) in kept.items():
            wrong += calls != true
            detail(f"  {name}: {calls} of {true} calls")
        kept_cnt += len(kept)
        dropped_cnt += len(dropped)
    row(f"counts that are wrong, of {kept_cnt} functions kept beside {dropped_cnt} dropped", wrong,
        str(wrong), 0)
