# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of a traced call, beside that of other ways to see it."""

import contextlib
import json
import re
import signal
import statistics
import subprocess

import bench
import harness
from bench import (Broken, TARGET_CPU, TRACER_CPU, await_line, detail, plan, row, running, site,
                   start)

# The first bytes of the functions of tests/bench, in hexadecimal.
BEGINS = {
    "push_first": "(5[0-7]|415[0-7])",
    "endbr64_first": "f30f1efa",
    "mov_first": "48(89|8b)",
    "nop5_first": "0f1f440000",
    "lea_only": "488d",
    "push_leaf": "53",
}
REACH_CLOCK = 1.15
REACH_BPFTRACE = {"push_first": 0.65, "endbr64_first": 0.15, "mov_first": 0.15}
REACH_EXITS = 1.10
REACH_LEAVES = 0.6

RUNS = bench.option("--runs", 7, "runs of each tracer with each function", quick=3, type=int)
CALLS = bench.option("--calls", 50000, "calls in a batch", quick=10000, type=int)
BATCHES = bench.option("--batches", 5, "batches in a run", quick=3, type=int)
FUNCTIONS = bench.option("--functions", "push_first,endbr64_first,mov_first,nop5_first",
                         f"which functions to call, of {', '.join(BEGINS)}")


class Calls(harness.Process):
    """tests/bench/calls.c, ready to call one function."""

    def __init__(self, args, function):
        self.path = bench.built(args, "bench", "calls")
        self.function = function
        self.calls = 0
        super().__init__([self.path, function, str(args.calls), str(args.batches)])
        await_line(self.stdout, "ready", self)

    def run(self):
        """Nanoseconds a call."""
        self.send("go")
        self.calls = int(await_line(self.stdout, "calls ", self).split()[1])
        return statistics.median(float(batch.split()[1]) for batch in self.stdout.wait_lines("ns "))

    def check(self, counted, tracer):
        if counted != self.calls:
            raise Broken(f"{tracer} counts {counted} of {self.calls} calls of {self.function}")


@contextlib.contextmanager
def no_tracer(_args, _target, _function):
    yield


@contextlib.contextmanager
def two_clocks(args, target, function):
    with running(clock2(args, target.pid, target.path, [site(function)]), TRACER_CPU) as tracer:
        await_line(tracer.stdout, "attached ", tracer)
        yield
        # Clock2 counts nothing: if it has not ended its link holds.
        if tracer.ended():
            raise Broken(f"clock2 has ended: {tracer.finish()}")


def clock2(args, pid, path, offsets, program="clock2", *how):
    """tests/bench/clock2.c, with probes at these file offsets."""
    process = start(bench.built(args, "bench", "clock2"),
                    bench.built(args, "bench", program + ".bpf.o"), pid, path, *how)
    process.send("".join(f"{offset}\n" for offset in offsets))
    return process


@contextlib.contextmanager
def proftrace(args, target, function, whom="-p", *options):
    command = start(args.proftrace, "-f", "json", *options, whom,
                    target.pid if whom == "-p" else target.path, "-F", function["symbol"])
    with running(command, TRACER_CPU) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        yield
        tracer.signal(signal.SIGINT)
        document = json.loads(tracer.finish().stdout)
        target.check(document["functions"][0]["calls"], "proftrace")


@contextlib.contextmanager
def bpftrace(_args, target, function):
    place = f"{target.path}:{function['symbol']}"
    # bpftrace runs BEGIN in its main loop, after all probes are in.
    program = (f'BEGIN {{ printf("ready\\n"); }} uprobe:{place} {{ @s[tid] = nsecs; }} '
               f"uretprobe:{place} /@s[tid]/ {{ @c = count(); @t = sum(nsecs - @s[tid]); "
               f"delete(@s[tid]); }}")
    with running(start("bpftrace", "-e", program), TRACER_CPU) as tracer:
        await_line(tracer.stdout, "ready", tracer)
        yield
        tracer.signal(signal.SIGINT)
        count = re.search(r"^@c: (\d+)", tracer.finish().stdout, re.M)
        target.check(int(count[1]) if count else 0, "bpftrace")


def proftrace_exec(args, target, function):
    """Traces every process that maps the file, which may be one that unwinds: exits by sites, on
    each ret."""
    return proftrace(args, target, function, "-x")


TRACERS = {"bare": no_tracer, "two clocks": two_clocks, "proftrace": proftrace,
           "proftrace -x": proftrace_exec, "bpftrace": bpftrace}


def function_of(args, name):
    """Returns the function as the plan has it; checks that the compiler made the entry that the row
    is about."""
    with running(Calls(args, name)) as target:
        function = plan(args, "-p", target.pid, "-F", name)[0]
        with open(target.path, "rb") as file:
            file.seek(function["offset"])
            begins = file.read(8).hex()
    if not re.match(BEGINS[name], begins):
        raise Broken(f"the compiler begins {name} with {begins}")
    return function


@bench.measures("calls", FUNCTIONS, RUNS, CALLS, BATCHES)
def measure_calls(args):
    for name in args.functions.split(","):
        if name not in BEGINS:
            raise Broken(f"{name}: not one of {', '.join(BEGINS)}")
    for name in args.functions.split(","):
        function = function_of(args, name)
        costs = {tracer: [] for tracer in TRACERS}
        for _ in range(args.runs):
            for tracer, attached in TRACERS.items():
                with running(Calls(args, name), TARGET_CPU) as target, \
                        attached(args, target, function):
                    costs[tracer].append(target.run())
        medians = {tracer: statistics.median(runs) for tracer, runs in costs.items()}
        ratio = medians["proftrace"] / medians["two clocks"]
        row(f"a traced call / a program that reads the clock twice, {name}", ratio, f"{ratio:.2f}",
            REACH_CLOCK)
        ratio = medians["proftrace"] / medians["bpftrace"]
        row(f"a traced call / bpftrace's, {name}", ratio, f"{ratio:.2f}", REACH_BPFTRACE.get(name))
        text = [f"{tracer} {medians[tracer]:.0f} ({min(runs):.0f} to {max(runs):.0f})"
                for tracer, runs in costs.items()]
        detail(f"ns a call: {', '.join(text[:3])},")
        detail(f"           {', '.join(text[3:])}")
        detail(f"site {function['site']} at +{function['site_offset']}, exit {function['exit']}; "
               f"the ratio to bpftrace cannot fall below two clocks' "
               f"{medians['two clocks'] / medians['bpftrace']:.2f}")


# The cost of a call whose exits are probed one by one.

def ret_offsets(path, function):
    """The file offsets of a function's ret instructions, by objdump."""
    listed = subprocess.run(["objdump", "-d", "-w", "-j", ".text", "-F",
                             f"--disassemble={function['symbol']}", path],
                            stdout=subprocess.PIPE, check=True).stdout.decode()
    base = re.search(r"^([0-9a-f]+) <.*File Offset: 0x([0-9a-f]+)", listed, re.M)
    leaves = re.findall(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(?:bnd |repz )?ret", listed, re.M)
    if not base or not leaves:
        raise Broken(f"objdump finds no ret in {function['symbol']}")
    return [int(address, 16) - int(base[1], 16) + int(base[2], 16) for address in leaves]


def sites_options(args):
    """How proftrace is made to probe exits by sites: it does so for any file's processes."""
    text = subprocess.run([args.proftrace, "--help"], stdout=subprocess.PIPE, check=True).stdout
    return ("-p", "--exits=sites") if b"--exits" in text else ("-x",)


@contextlib.contextmanager
def bare_traps(args, target, function):
    pid = target.pid if sites_options(args)[0] == "-p" else 0
    offsets = [site(function), *ret_offsets(target.path, function)]
    with running(clock2(args, pid, target.path, offsets, "empty", "each"), TRACER_CPU) as tracer:
        await_line(tracer.stdout, "attached ", tracer)
        yield
        if tracer.ended():
            raise Broken(f"clock2 has ended: {tracer.finish()}")


def proftrace_sites(args, target, function):
    return proftrace(args, target, function, *sites_options(args))


@bench.measures("exits", RUNS, CALLS, BATCHES)
def measure_exits(args):
    """Entry and exit are two traps; what we add to them is to be small."""
    for name in "push_first", "mov_first":
        function = function_of(args, name)
        costs = {bare_traps: [], proftrace_sites: []}
        for _ in range(args.runs):
            for attached, runs in costs.items():
                with running(Calls(args, name), TARGET_CPU) as target, \
                        attached(args, target, function):
                    runs.append(target.run())
        bare, ours = (statistics.median(runs) for runs in costs.values())
        row(f"a call with exits by sites / its bare traps, {name}", ours / bare,
            f"{ours / bare:.2f}", REACH_EXITS)
        detail(f"ns a call: bare {bare:.0f}, proftrace {' '.join(sites_options(args))} {ours:.0f}")


@bench.measures("leaves", RUNS, CALLS, BATCHES)
def measure_leaves(args):
    """A leaf without loops has no exit probe; beside the same with a return probe."""
    function = function_of(args, "push_leaf")
    if not function.get("closed_at_entry"):
        raise Broken(f"push_leaf has an exit probe: {function['reason']}")
    costs = {(): [], ("--exits=return",): []}
    for _ in range(args.runs):
        for options, runs in costs.items():
            with running(Calls(args, "push_leaf"), TARGET_CPU) as target, \
                    proftrace(args, target, function, "-p", *options):
                runs.append(target.run())
    closed, returned = (statistics.median(runs) for runs in costs.values())
    row("a call of a leaf without loops / with a return probe", closed / returned,
        f"{closed / returned:.2f}", REACH_LEAVES)
    detail(f"ns a call: ended by its entry's probe {closed:.0f}, by a return probe {returned:.0f}")
