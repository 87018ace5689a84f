# SPDX-License-Identifier: GPL-2.0-or-later
"""The live page for a hundred viewers: what each is sent, and what CPU time that takes beyond the
run's own. Viewers read all that comes, and do not look at it."""

import os
import re
import selectors
import socket
import subprocess
import time

import bench
import harness
from bench import await_line, detail, row, running, start

REACH_KB, REACH_CPU = 50, 10
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """CPU time of a run and of the process that serves."""
    pids = [one for one in harness.session_members(pid)
            if bench.read(f"/proc/{one}/comm").startswith(b"proftrace")]
    return sum(sum(map(int, harness.stat_fields(one)[11:13])) for one in pids) / TICKS


class Viewers:
    def __init__(self, address, path, cnt):
        self.chooser, self.bytes = selectors.DefaultSelector(), 0
        for _ in range(cnt):
            viewer = socket.create_connection(address)
            viewer.sendall(f"GET {path}events HTTP/1.1\r\nHost: viewer\r\n\r\n".encode())
            self.chooser.register(viewer, selectors.EVENT_READ)

    def read(self, seconds):
        """Bytes that have come meanwhile."""
        self.bytes, until = 0, time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            for key, _ in self.chooser.select(left):
                self.bytes += len(key.fileobj.recv(1 << 20))
        return self.bytes


@bench.measures(
    "serve", bench.option("--serve-viewers", 100, "so many", type=int),
    bench.option("--serve-seconds", 20, "how long each part takes", quick=8, type=int))
def measure_serve(args):
    seconds, cnt = args.serve_seconds, args.serve_viewers
    with running(start(bench.built(args, "bench", "thousands"), 2)) as target:
        await_line(target.stdout, "ready", target)
        target.send("go")
        tracer = harness.Process([args.proftrace, "--serve", "0", "--max-overhead", "5",
                                  "-p", str(target.pid)], stdout=subprocess.DEVNULL)
        with running(tracer):
            await_line(tracer.stderr, harness.TRACING, tracer)
            host, port, path = re.search(r"http://([^:/]+):(\d+)(\S+)", tracer.stderr.text()).groups()
            time.sleep(seconds / 2) # what is too dear has been dropped
            shares = []
            for viewers in (0, 1, cnt):
                crowd = Viewers((host, int(port)), path, viewers)
                crowd.read(seconds / 4)
                began, before = time.monotonic(), cpu_seconds(tracer.pid)
                sent = crowd.read(seconds)
                lasted = time.monotonic() - began
                shares.append(100 * (cpu_seconds(tracer.pid) - before) / lasted)
    each = sent / lasted / cnt / 1000
    row(f"{cnt} viewers: a second and viewer", each, f"{each:.1f} KB", REACH_KB)
    more = shares[2] - shares[0]
    row(f"{cnt} viewers: CPU time that they take, of one CPU", more, f"{more:.1f} %", REACH_CPU)
    detail(f"nobody looks: {shares[0]:.1f} %, one viewer: {shares[1]:.1f} %, all: {shares[2]:.1f} %")
