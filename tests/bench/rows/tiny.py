# SPDX-License-Identifier: GPL-2.0-or-later
"""Average self time of functions that take less than their probes, against truth."""

import statistics

import bench
from bench import detail, row
from rows import correction

REACH = 5 # percent
REACH_HELD = 90 # percent of figures whose truth is within two of their errors

LEAVES = "{0}*50ns+{0}*100ns+{0}*200ns+{0}*500ns+{0}*1us"
CALLERS = "{0}*50ns(1*50ns)+{0}*200ns(2*100ns)+{0}*1us(1*500ns)+{0}*200ns(1*100ns(1*50ns))"
EXITS = ("return probes", ()), ("exits by sites", ("--exits=sites",))


class Figure:
    """Nanoseconds of its own that a call takes, and what is uncertain of both."""

    def __init__(self, name, true, function):
        calls, ns, spread = true
        self.name, self.true, self.spread = name, ns / calls, spread / calls
        self.seen = (function["self_ns"] - function["off_self_ns"]) / calls
        self.error = function["self_error_ns"] / calls
        self.off = 100 * abs(self.seen / self.true - 1)
        self.held = abs(self.seen - self.true) <= 2 * self.error + self.spread

    def __str__(self):
        return (f"{self.name}: true {self.true:7.1f} ns +- {self.spread:4.1f}, "
                f"self {self.seen:7.1f} +- {self.error:5.1f}, {self.seen / self.true:.3f}")


def measure(args, title, calls, options):
    figures = []
    for case in LEAVES, CALLERS:
        case = case.format(calls)
        true, functions = correction.trace(args, case, options)
        detail(f"{case}, {' '.join(options)}:")
        for name, figure in true.items():
            figures.append(Figure(name, figure, functions[name]))
            detail(f"  {figures[-1]}")
    title = f"self time of {len(figures)} tiny functions, {title}"
    middle = statistics.median(f.off for f in figures)
    held = 100 * sum(f.held for f in figures) / len(figures)
    row(f"{title}: median off by", middle, f"{middle:.1f} %", REACH)
    row(f"{title}: worst", max(f.off for f in figures), f"{max(f.off for f in figures):.1f} %",
        REACH)
    row(f"{title}: truth within two errors", held, f"{held:.0f} %", REACH_HELD, at_most=False)


@bench.measures(
    "tiny", correction.ROUNDS,
    bench.option("--tiny-calls", 1000000, "calls of each function", quick=100000, type=int),
    bench.option("--stepped-calls", 100000, "where exits are single-stepped", quick=20000,
                 type=int),
    bench.option("--tiny-rates", "0,usual,997,8000",
                 "samples a second; 0: none; usual: as many as -F alone takes"))
def measure_tiny(args):
    for title, exits in EXITS:
        calls = args.stepped_calls if exits else args.tiny_calls
        for rate in args.tiny_rates.split(","):
            rates = {"0": ("--no-samples",), "usual": ()}.get(rate, ("--sample-rate", rate))
            measure(args, f"{title}, {rate} Hz", calls, (*bench.UNLIMITED, *exits, *rates))
