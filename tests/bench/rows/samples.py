# SPDX-License-Identifier: GPL-2.0-or-later
"""The default run of busy servers: how much of their CPU time is on a path, how its shares by
function differ from perf's of the same server."""

import collections
import functools
import os
import re
import statistics
import subprocess
import tempfile

import bench
import harness
from bench import Broken, await_line, detail, row, running, start
from servers import SERVERS

REACH_ON_PATHS, REACH_DISTANCE = 99, 1.3
ENDS_WITHOUT_PATH = ("samples_unknown",)


def document_of(args, pids):
    """Returns the document of a run with default options."""
    command = (args.proftrace, "-f", "json", "-d", args.samples_seconds, "-p", pids)
    with running(start(*command)) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        tracer.popen.wait(args.samples_seconds + 60)
        return bench.stop(tracer)


def on_paths(document):
    """Percent of the samples that met no probe of ours."""
    accounting = collections.Counter(document["accounting"])
    taken = accounting["samples_taken"] - accounting["samples_probing"]
    missing = accounting["samples_lost"] + sum(accounting[end] for end in ENDS_WITHOUT_PATH)
    return 100 * (taken - missing) / max(taken, 1)


def sums(document):
    """CPU times of functions, and of paths, divided by the target's without the probes'."""
    own_ns = document["accounting"]["cpu_ns"]
    return (sum(f["cpu_self_ns"] for f in document["functions"]) / own_ns,
            sum(node["cpu_self_ns"] for node, _, _ in harness.nodes_of(document)) / own_ns)


@functools.cache
def file_of(path):
    """A key that is the same for all names of a file, as those of a program and of links to it."""
    try:
        about = os.stat(path)
        return about.st_dev, about.st_ino
    except OSError:
        return path.strip("[]")


def our_shares(document):
    """CPU time by function: its file, and where in that it begins, or an address in the kernel. All
    code without a symbol is one. An inlined function's counts for the one that it is in."""
    functions, shares, above = document["functions"], collections.Counter(), []
    for thread in document["threads"]:
        for node, _, depth in harness.walk(thread["calls"]):
            function = functions[node["function"]]
            del above[depth - 1:]
            above.append(above[-1] if function["kind"] == "inlined" and above else function)
            function = above[-1]
            nameless = re.match(r"func_0x|\[", function["name"])
            shares[file_of(function["module"] or ""),
                   None if nameless else function["offset"]] += node["cpu_self_ns"]
    return shares


def mappings(pid):
    """[(begin, end, offset in the file)]"""
    said = bench.read(f"/proc/{pid}/maps").decode()
    return [tuple(int(number, 16) for number in found.groups()) for found in
            re.finditer(r"^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+)", said, re.M)]


def perf_shares(pids, seconds):
    """Samples by the same keys: one symbol may have several names, and perf take another one. With
    clocks of the CPUs, as ours are: those of threads, which -p has, are set anew at each switch,
    and count that for the threads. With mariadbd, 120,000 switches a second on each of two CPUs,
    finish_task_switch() has 32 % by them, and 11 by clocks of the CPUs."""
    maps = {pid: mappings(pid) for pid in pids.split(",")}
    with tempfile.NamedTemporaryFile() as data:
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "97", "-o", data.name,
                        "-a", "--", "sleep", str(seconds)], check=True,
                       stderr=subprocess.DEVNULL)
        said = subprocess.run(["perf", "script", "-i", data.name, "-F", "pid,ip,sym,symoff,dso"],
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout
    shares = collections.Counter()
    for pid, ip, symbol, file in re.findall(r"^\s*(\d+)\s+([0-9a-f]+) (\S+) \((.*)\)$", said, re.M):
        if pid not in maps:
            continue
        begin = int(ip, 16) - int(symbol.rpartition("+")[2], 16) if "+" in symbol else None
        if begin is not None and not file.startswith("[kernel"):
            begin = next((begin - first + offset for first, end, offset in maps[pid]
                          if first <= begin < end), None)
        shares["kernel" if file.startswith("[kernel") else file_of(file), begin] += 1
    return shares


def distance(one, other):
    """Half the sum of differences of shares: 0 to 1."""
    sums_of = sum(one.values()) or 1, sum(other.values()) or 1
    return sum(abs(one[key] / sums_of[0] - other[key] / sums_of[1])
               for key in one.keys() | other.keys()) / 2


def measure_server(args, name):
    with tempfile.TemporaryDirectory() as directory, SERVERS[name](directory) as server:
        pids = server.pids
        document = document_of(args, pids)
        share = on_paths(document)
        row(f"{name}: CPU time on a path, by samples", share, f"{share:.1f} %", REACH_ON_PATHS,
            at_most=False)
        detail("CPU times of functions, and of paths, of the target's: "
               + ", ".join(f"{of:.4f}" for of in sums(document)))
        perf = [perf_shares(pids, args.samples_seconds) for _ in range(2)]
        ours = statistics.mean(distance(our_shares(document), shares) for shares in perf)
        theirs = distance(*perf)
        row(f"{name}: distance to perf, of that between two perf runs", ours / (theirs or 1),
            f"{ours / (theirs or 1):.2f}", REACH_DISTANCE)
        detail(f"{ours:.3f} and {theirs:.3f}; {sum(perf[0].values())} samples of perf, "
               f"{document['accounting'].get('samples_taken', 0)} of ours")


@bench.measures(
    "samples", bench.option("--samples-seconds", 10, "length of a stretch", quick=4, type=int),
    bench.option("--samples-servers", ",".join(SERVERS), "servers", quick="redis"))
def measure_samples(args):
    for name in args.samples_servers.split(","):
        measure_server(args, name)
