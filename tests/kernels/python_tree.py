#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The calls among python3's functions while a small script runs: a tree that is the same wherever
it is traced.

    python_tree.py FILE        writes it to FILE, of the running kernel, as JSON:
                               {NAME: {"paths": {PATH: CALLS}, "output": TEXT}}

The script is told to begin once it is traced, when all modules are loaded, and ends without
cleaning up, as both depend on the files that are there. No hash of a text is random, and memory is
malloc's, as the number of python's own arenas depends on where the kernel maps them."""

import collections
import json
import os
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PYTHON = "/usr/bin/python3"
SCRIPT = """
import json, os, re, sys

class Shape:
    def __init__(self, sides):
        self.sides = sides
    def area(self):
        return sum(side * side for side in self.sides) % 1009

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def words(text):
    counts = {}
    for word in re.findall(r"[a-z]+", text):
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))

def raising(depth):
    if not depth:
        raise ValueError("thrown")
    return raising(depth - 1)

def work():
    shapes = [Shape(range(n % 7)) for n in range(60)]
    text = json.dumps([{"n": n, "area": shape.area()} for n, shape in enumerate(shapes)])
    for depth in range(10):
        try:
            raising(depth)
        except ValueError as error:
            text += str(error)
    again = json.loads(text[:text.rindex("]") + 1])
    return fib(12), len(again), words(text * 3)[:3], "%.3f" % (len(text) / 7)

print("ready", flush=True)
os.read(0, 3)
print(work(), flush=True)
os._exit(0)
"""
# Functions of the program itself; the first run has the named ones. The kernel decides how exits
# are seen: a function that ends by a jump is open to the end of the function that it jumps to if a
# return probe sees its end, so paths are alike only if all exits are seen alike; calls are in any
# case.
NAMES = ("-F", "PyObject_*", "-F", "_PyEval_*", "-F", "PyDict_*", "-F", "PyUnicode_*")
RUNS = {
    "filtered": ("--exits", "sites", *NAMES),
    "all": ("--exits", "sites"),
    "filtered, by function": NAMES,
    "default, by function": (),
}
MISS = "find_name_in_mro"
FREES = ("unicode_dealloc", "_PyMem_RawFree")
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0",
               "PYTHONMALLOC": "malloc"}


def paths_of(document):
    """{names from behind the innermost function on that was not called: calls}. What was open before
    is known on some kernels only, and by names of the libc's that not every machine has."""
    names = [function["name"] for function in document["functions"]]
    found = collections.Counter()
    for thread in document["threads"]:
        rest = [(node, ()) for node in thread["calls"]]
        while rest:
            node, above = rest.pop()
            above = above + (names[node["function"]],) if node["calls"] else ()
            if above:
                found[" > ".join(above)] += node["calls"]
            rest += [(child, above) for child in node["children"]]
    return found


def tree(options, timeout):
    """The calls by path of one run, and what the script has printed."""
    with subprocess.Popen([PYTHON, "-S", "-B", "-c", SCRIPT], stdin=subprocess.PIPE, cwd="/",
                          stdout=subprocess.PIPE, env=ENVIRONMENT) as target:
        target.stdout.readline()
        with subprocess.Popen([os.path.join(ROOT, "proftrace"), "--max-overhead", "none", *options,
                               "-f", "json", "-p", str(target.pid)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tracer:
            said = b""
            while b"proftrace: tracing " not in said:
                if not (line := tracer.stderr.readline()):
                    target.send_signal(signal.SIGKILL)
                    raise RuntimeError(said.decode())
                said += line
            target.stdin.write(b"go\n")
            target.stdin.flush()
            output = target.stdout.read().decode()
            document = json.loads(tracer.communicate(timeout=timeout)[0])
    return paths_of(document), output, document["accounting"]


def base_name(function):
    """Without what the compiler has added: unicode_dealloc.lto_priv.0"""
    return function.split(".")[0]


def by_cache(trees_of_both):
    """The paths that python's cache of methods decides: its places are chosen by addresses, so what
    shares one is chance. A miss looks the name up and may free the one that had been there."""
    paths = set().union(*trees_of_both)
    missed = {path for path in paths if MISS in map(base_name, path.split(" > "))}
    askers = {path[:path.index(f" > {MISS}")] for path in missed if f" > {MISS}" in path}
    freed = {path for path in paths for asker in askers
             if path.startswith(f"{asker} > ") and
             base_name(path[len(asker) + 3:].split(" > ")[0]) in FREES}
    return missed | freed


def by_function(paths):
    """{function: calls}"""
    found = collections.Counter()
    for path, calls in paths.items():
        found[path.split(" > ")[-1]] += calls
    return found


def differences(name, here, there):
    """Compares the runs of that name. Returns ({path: (calls here, calls there)} where these
    differ, the paths that are compared). In a comparison by function a path is its last
    function."""
    chance = by_cache([here, there])
    if name.endswith("by function"):
        chance = {path.split(" > ")[-1] for path in chance}
        here, there = by_function(here), by_function(there)
    compared = (here.keys() | there.keys()) - chance
    different = {path: (here.get(path, 0), there.get(path, 0)) for path in compared
                 if here.get(path) != there.get(path)}
    return different, compared


def trees(timeout=600):
    found = {}
    for name, options in RUNS.items():
        paths, output, _ = tree(options, timeout)
        found[name] = {"paths": paths, "output": output}
    return found


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(trees(), file)
