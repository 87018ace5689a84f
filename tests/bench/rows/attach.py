# SPDX-License-Identifier: GPL-2.0-or-later
"""Attaching to a large library: how long it takes, how much memory."""

import contextlib
import os
import re
import signal
import statistics
import time

import bench
import harness
from bench import Broken, PYTHON, await_line, detail, library, plan, row, running, site, start
from rows.calls import clock2

MAPS_LIBRARY = ("import ctypes, sys\nctypes.CDLL(sys.argv[1])\nprint('ready', flush=True)\n"
                "sys.stdin.read()\n")
NAMELESS = "func_0x*"
REACH_ATTACH = 10
REACH_ALL = 3 # seconds
REACH_MEMORY = 200


def map_memory(pid):
    """Bytes of the BPF maps that a process holds."""
    maps = {}
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/fdinfo/{fd}",
                                                          encoding="utf-8") as file:
            info = dict(re.findall(r"^(\w+):\t(\d+)$", file.read(), re.M))
            if "map_id" in info:
                maps[info["map_id"]] = int(info["memlock"])
    return sum(maps.values())


def mapped_maps(pid):
    """Bytes of BPF maps in a process's memory: they are counted by map_memory() already."""
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        found = re.findall(r" anon_inode:bpf-map\n(?:.*\n)*?Rss: +(\d+) kB", file.read())
    return sum(map(int, found)) * 1024


def peak_memory(pid):
    """The largest size that a process has had, at its end."""
    peak = 0
    while True:
        try:
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                found = re.search(r"^VmHWM:\s+(\d+) kB", file.read(), re.M)
        except (FileNotFoundError, ProcessLookupError):
            return peak
        if not found: # a zombie
            return peak
        peak = int(found[1]) * 1024
        time.sleep(0.001)


def time_link(args, pid, path, offsets):
    with running(clock2(args, pid, path, offsets)) as tracer:
        return int(await_line(tracer.stdout, "attached ", tracer).split()[1])


def time_proftrace(args, pid, *options):
    """Nanoseconds up to tracing, and memory of its own and of its maps in bytes."""
    began = time.monotonic_ns()
    with running(start(args.proftrace, "-f", "json", "-p", pid, *options)) as tracer:
        await_line(tracer.stderr, harness.TRACING, tracer)
        took = time.monotonic_ns() - began
        maps, mapped = map_memory(tracer.pid), mapped_maps(tracer.pid)
        tracer.signal(signal.SIGINT)
        own = peak_memory(tracer.pid) - mapped
        if tracer.finish().status:
            raise Broken(str(tracer.finish()))
    return took, own, maps


def measure(args, path, *options):
    """Medians of starts in turns with bare links: the functions, the nanoseconds of a link and of
    proftrace, bytes of its own and of its maps. What they range over is printed."""
    links, ours = [], []
    for turn in range(args.attach_runs):
        with running(start(PYTHON, "-I", "-c", MAPS_LIBRARY, path)) as target:
            await_line(target.stdout, "ready", target)
            if turn == 0:
                functions = plan(args, "-p", target.pid, *options)
            links.append(time_link(args, target.pid, path, map(site, functions)))
            ours.append(time_proftrace(args, target.pid, *options))
    link = statistics.median(links)
    took, own, maps = map(statistics.median, zip(*ours))
    detail(f"{len(functions)} functions: link-create {link / 1e6:.0f} ms "
           f"({min(links) / 1e6:.0f} to {max(links) / 1e6:.0f}), proftrace {took / 1e6:.0f} ms "
           f"({min(ours)[0] / 1e6:.0f} to {max(ours)[0] / 1e6:.0f}), memory of its own at most "
           f"{own / 1e6:.0f} MB, BPF maps {maps / 1e6:.0f} MB")
    return len(functions), link, took, own + maps


@bench.measures("attach", bench.option(
    "--attach-runs", 5, "runs of attaching to a large library", quick=2, type=int))
def measure_attach(args):
    path = library("libLLVM-14.so.1")
    every = os.path.basename(path) + ":*"
    functions, link, took, _ = measure(args, path, "-F", every, "-N", NAMELESS)
    row(f"start to tracing / bare link-create, {functions} functions of libLLVM-14 with symbols",
        took / link, f"{took / link:.1f}", REACH_ATTACH)
    functions, link, took, memory = measure(args, path, "-F", every)
    row(f"start to tracing with all {functions} of them", took / 1e9, f"{took / 1e9:.2f} s",
        REACH_ALL)
    row("memory of proftrace with these", memory / 1e6, f"{memory / 1e6:.0f} MB", REACH_MEMORY)
