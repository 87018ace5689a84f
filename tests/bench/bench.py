# SPDX-License-Identifier: GPL-2.0-or-later
"""What the rows of scripts/bench share: their register, the printed table, starting programs.

A row is a function that takes the command line's arguments and prints its figures. It registers
itself, with the options that are its own:

    @bench.measures("name", bench.option("--runs", 7, "runs of each", quick=3, type=int))
"""

import contextlib
import json
import os
import re
import signal
import subprocess

import harness

ROOT = harness.ROOT
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.realpath("/usr/bin/python3")
# Given the two last CPUs, the target has one for itself, as far as we are concerned.
CPUS = sorted(os.sched_getaffinity(0))
TARGET_CPU, TRACER_CPU = {CPUS[-1]}, {CPUS[-2 if len(CPUS) > 1 else -1]}

# No budget, and so no function left out for being small.
UNLIMITED = "--max-overhead", "none"

ROWS = {} # {name: (function, its options)}


class Broken(Exception):
    """Something that cannot be measured."""


class Option:
    def __init__(self, name, default, text, quick, more):
        self.name, self.default, self.text = name, default, text
        self.quick, self.more = quick, more
        self.field = name.strip("-").replace("-", "_")

    def add_to(self, parser):
        text = f"{self.text} ({self.default})".replace("%", "%%")
        parser.add_argument(self.name, default=self.default, help=text, **self.more)


def option(name, default, text, quick=None, **more):
    """An option of the command line; `quick` is its default with --quick, None the same."""
    return Option(name, default, text, quick, more)


def measures(name, *options):
    """Registers a row, which comes behind those before it."""
    def register(measure):
        ROWS[name] = measure, options
        return measure
    return register


# Printing. The table grows line by line.

def line(what, measured="", reach="", verdict=""):
    print(f"{what:<66} {measured:>11} {reach:>10}  {verdict}".rstrip(), flush=True)


def row(what, value, text, reach=None, at_most=True):
    """A figure and how far it shall go: down to `reach`, or up to it."""
    if reach is None:
        line(what, text)
        return
    good = value <= reach if at_most else value >= reach
    line(what, text, f"{'<=' if at_most else '>='} {reach}", "OK" if good else "SHORT")


def detail(text):
    print(f"    {text}", flush=True)


# Processes.

@contextlib.contextmanager
def running(process, cpus=None):
    try:
        if cpus:
            os.sched_setaffinity(process.pid, cpus)
        yield process
    finally:
        process.kill()


def start(*argv):
    return harness.Process([str(word) for word in argv])


def await_line(stream, prefix, process):
    """The first line that begins so."""
    found = stream.wait_lines(prefix)
    if not found:
        raise Broken(f"it says no '{prefix}': {process.finish()}")
    return found[0]


def read(path):
    with open(path, "rb") as file:
        return file.read()


def stop(tracer):
    """Ends a profiler; its JSON document."""
    if not tracer.ended():
        with contextlib.suppress(ProcessLookupError):
            tracer.signal(signal.SIGINT)
    done = tracer.finish()
    if done.status:
        raise Broken(str(done))
    return json.loads(done.stdout)


def profile(args, argv, *options, cpus=None, timeout=600):
    """Traces a program from its "ready" to its end. Returns its harness.Result and the document."""
    with running(start(*argv), cpus) as target:
        await_line(target.stdout, "ready", target)
        with running(start(args.proftrace, "-f", "json", *options, "-p", target.pid)) as tracer:
            await_line(tracer.stderr, harness.TRACING, tracer)
            target.send("go")
            done = target.finish(timeout)
            document = stop(tracer)
    if done.status:
        raise Broken(str(done))
    return done, document


def said(done, word):
    """Returns the words that follow `word`, of each line of the output that begins with it."""
    return [line.split()[1:] for line in done.stdout.splitlines() if line.startswith(word + " ")]


def plan(args, *options):
    """Returns the functions that proftrace would probe."""
    done = subprocess.run([args.proftrace, "-l", "-f", "json", *map(str, options)], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Broken(f"proftrace -l: {done.stderr.decode().strip()}")
    return json.loads(done.stdout)["functions"]


def site(function):
    return function["offset"] + function["site_offset"]


def built(args, *path):
    """A file of the build folder."""
    return os.path.join(ROOT, args.build, *path)


def library(name):
    """The file that programs get under this name."""
    if "/" in name:
        return name
    cache = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, check=True).stdout
    found = re.search(rf"^\s*{re.escape(name)} \(libc6,x86-64.*=> (.*)$", cache.decode(), re.M)
    if not found:
        raise Broken(f"{name} is not installed")
    return os.path.realpath(found[1])
