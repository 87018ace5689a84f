# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions against the log of a server, which knows how long its requests took."""

import json
import os
import tempfile

import bench
from bench import Broken, UNLIMITED, detail, row, said
from harness import Process

FUNCTIONS = ("-F", "handle", "-F", "submit", "-F", "run")


def sessions(args, *argv, options=()):
    """(the server's Result, the document)"""
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "out.json")
        with bench.running(Process([args.proftrace, "-o", out, *UNLIMITED, *FUNCTIONS, "--session",
                                    "handle", "--slowest", "10000", *options, "--",
                                    bench.built(args, "programs", "requests"),
                                    *map(str, argv)])) as tracer:
            done = tracer.finish(600)
        if done.status:
            raise Broken(str(done))
        return done, json.loads(bench.read(out))


def durations(done, document):
    """(from inside of the server, from outside of it, of the session) of each request, in ns."""
    log, seen = {}, {}
    for tid, inner, outer, _ in said(done, "REQUEST"):
        log.setdefault(int(tid), []).append((int(inner), int(outer)))
    for session in sorted(document["sessions"][0]["slowest"], key=lambda s: s["start_ns"]):
        seen.setdefault(session["tid"], []).append(session["duration_ns"])
    if {tid: len(rows) for tid, rows in log.items()} != {tid: len(r) for tid, r in seen.items()}:
        raise Broken("other requests than the server has logged")
    return [(inner, outer, took) for tid, rows in log.items()
            for (inner, outer), took in zip(rows, seen[tid])]


@bench.measures("sessions", bench.option("--requests", 1250, "requests of each of eight threads",
                                         quick=200, type=int))
def measure_sessions(args):
    done, document = sessions(args, 8, args.requests)
    found = durations(done, document)
    far = [(inner, took) for inner, _, took in found
           if abs(took - inner) > max(20000, inner * 0.02)]
    wrong = [entry for entry in found if not entry[0] <= entry[2] <= entry[1]]
    off = sorted(abs(took - inner) for inner, _, took in found)
    row(f"{len(found)} sessions of eight threads: more than 2 % and 20 us off the log", len(far),
        str(len(far)), 0)
    row("  outside of what the server saw from inside and outside", len(wrong), str(len(wrong)), 0)
    detail(f"median {off[len(off) // 2] / 1000:.1f} us off, 99 % {off[len(off) * 99 // 100] / 1000:.1f} us,"
           f" most {off[-1] / 1000:.1f} us")


@bench.measures("links")
def measure_links(args):
    done, document = sessions(args, 8, args.requests, 10,
                              options=("--link", "submit(arg1) -> run(arg2)"))
    tasks, link = done.counts["run"], document["session_links"][0]
    row(f"{tasks} tasks in four other threads: not joined to their sessions", tasks - link["joined"],
        str(tasks - link["joined"]), 0)
    found = durations(done, document)
    wrong = sum(not inner <= took <= outer for inner, outer, took in found)
    row("  sessions that do not last to the end of their last task", wrong, str(wrong), 0)
