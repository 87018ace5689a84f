# SPDX-License-Identifier: GPL-2.0-or-later
"""How much of what the probes add to a function's time the correction takes out again."""

import statistics

import bench
from bench import Broken, detail, row

REACH_LEAST, REACH_MEDIAN = 90, 97
# The probes' part must be this many times the truth's own spread, or nothing can be said.
ABOVE_NOISE = 3
# And where waiting is in the time, this many times what other programs on this machine made the
# function wait.
ABOVE_WAITING = 100

CASES = ";".join((
    "2000*1us(10*200ns(3*50ns))",
    "20*10ms(10000*50ns)",
    "100*10ms",
    "1000000*50ns",
    "10000*20us(2*1us(2*100ns)+5us)",
    "1000*5us(4*1us(4*300ns(2*100ns)))@2",
    "500*5us(4*1us(4*300ns(2*100ns)))@8",
    "10*10ms(5000*100ns)@4",
    "1000*1us(2048k+200ns)",
    "1000*2us(2048k+4*500ns(2*50ns))",
))
SITES_CASES = ";".join((
    "1000*1us(10*200ns(3*50ns))",
    "20*10ms(1000*50ns)",
    "500*5us(4*1us(4*300ns))@4",
))
SYNTAX = "WORK[@THREADS] of tests/bench/known.c"


class Judged:
    """One function of one case, in nanoseconds: its own time, all its calls together."""

    def __init__(self, name, true, spread, raw, corrected, waited=0):
        self.name, self.true, self.spread = name, true, spread
        self.raw, self.corrected = raw, corrected
        self.added = abs(raw - true)
        self.counts = self.added >= ABOVE_NOISE * spread and self.added >= ABOVE_WAITING * waited
        self.removed = 100 * (1 - abs(corrected - true) / self.added) if self.added else 0

    def __str__(self):
        text = f"{self.removed:6.1f} %" if self.counts else "   noise"
        return (f"{text}  {self.name}: true {self.true / 1e6:.3f} ms +- {self.spread / 1e6:.3f}, "
                f"raw {self.raw / 1e6:.3f}, corrected {self.corrected / 1e6:.3f}")


def trace(args, case, options):
    """Returns the output of `known`, and the profile's functions by name."""
    work, _, threads = case.partition("@")
    # With one thread it has a CPU for itself; more of them may use what there is.
    argv = [bench.built(args, "bench", "known"), work, threads or 1, args.rounds]
    done, document = bench.profile(args, argv, *options, "-F", "known_*",
                                   cpus=None if threads else bench.TARGET_CPU)
    true = {name: list(map(float, figures)) for name, *figures in bench.said(done, "TRUE")}
    functions = {f["name"]: f for f in document["functions"] if f["calls"]}
    for name, (calls, _, _) in true.items():
        counted = functions.get(name, {"calls": 0})["calls"]
        if counted != calls:
            raise Broken(f"{case}: {counted} of {calls:.0f} calls of {name}")
        if not functions[name]["raw_self_ns"]:
            raise Broken(f"{case}: no raw time of {name}")
    return true, functions


def judge(true, functions, wall):
    for name, (_, ns, spread) in true.items():
        f = functions[name]
        waited = f["off_self_ns"]
        if wall:
            yield Judged(name, ns, spread, f["raw_self_ns"], f["self_ns"], waited)
        else:
            yield Judged(name, ns, spread, f["raw_self_ns"] - waited, f["self_ns"] - waited)


def measure(args, title, cases, options=()):
    """Measures a pair of rows for CPU time, and one for the wall time of threads that had a CPU for
    themselves."""
    shares = {"CPU": [], "wall": []}
    for case in cases.split(";"):
        true, functions = trace(args, case, options)
        detail(f"{case}, {' '.join(options) or 'exits as planned'}:")
        for clock, found in shares.items():
            if clock == "wall" and "@" in case:
                continue
            judged = list(judge(true, functions, clock == "wall"))
            found += [(j.removed, j.name, case) for j in judged if j.counts]
            for j in judged:
                if clock == "CPU" or (j.counts and j.removed < REACH_LEAST):
                    detail(f"  {clock:>4} {j}")
    for clock, found in shares.items():
        if not found and clock == "CPU":
            raise Broken(f"{title}: no function of these cases stands out from the noise")
        if not found:
            detail("wall time: every function had to wait")
            continue
        least, name, case = min(found)
        middle = statistics.median(share for share, _, _ in found)
        row(f"{title}: {clock} time, least share removed", least, f"{least:.1f} %",
            REACH_LEAST, at_most=False)
        row(f"{title}: {clock} time, median of {len(found)} functions", middle,
            f"{middle:.1f} %", REACH_MEDIAN, at_most=False)
        detail(f"the least is {name} in {case}")


ROUNDS = bench.option("--rounds", 20, "parts of a run between which the truth is measured",
                      type=int)


@bench.measures("correction", ROUNDS, bench.option(
    "--cases", CASES, f"functions with known times, {SYNTAX}, separated by ;"))
def measure_correction(args):
    measure(args, "correction", args.cases)


@bench.measures("correction-sites", ROUNDS, bench.option(
    "--sites-cases", SITES_CASES, f"the same, for exits by sites, {SYNTAX}"))
def measure_correction_sites(args):
    measure(args, "correction, exits by sites", args.sites_cases, ("--exits=sites",))
