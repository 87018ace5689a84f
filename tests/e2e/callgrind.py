# SPDX-License-Identifier: GPL-2.0-or-later
"""True call counts by valgrind's callgrind, to compare with.

Callgrind knows functions by name and reports a call whenever execution moves from one of its
functions to another: a jump back from a `.cold` piece, which has no name in a stripped file, looks
like a call of the function that it came from. With --dump-instr each call carries the address it
went to, so we take those that went to a function's first instruction, and know functions by object
and file offset, as proftrace does.
"""

import collections
import os
import struct
import subprocess

import harness

# Makes two runs of one program alike: fixed addresses (addresses are hashed), fixed hash seeds, and
# the same environment (every variable is copied): see environment().
FIXED = ["setarch", "-R"]
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "HOME": "/", "LC_ALL": "C",
    "PYTHONHASHSEED": "0", "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0",
}
# Valgrind puts a program's memory below 1 GB, and python3 has a shorter way for numbers as small as
# the thread ids that this gives: ask for addresses of an ordinary size.
LEAST_ADDRESS = 0x200000000
# Starts a program without valgrind in such a way that it does what it does under valgrind: valgrind
# keeps the last signal for itself, so programs find that signal ignored.
NATIVE = [*FIXED, "env", "--ignore-signal=64"]


def environment(cwd=None):
    """The environment of a program that run() starts in `cwd`. Valgrind adds variables to it, for
    one an LD_PRELOAD of a library that does nothing by itself."""
    done = subprocess.run(["valgrind", "-q", "--tool=none", "env", "-0"], stdout=subprocess.PIPE,
                          cwd=cwd, env=ENVIRONMENT, timeout=harness.TIMEOUT, check=True)
    return dict(line.split("=", 1) for line in done.stdout.decode().split("\0") if line)


class Segments:
    """The loaded segments of an ELF file, to turn addresses into file offsets."""

    def __init__(self, path):
        with open(path, "rb") as file:
            header = file.read(64)
            phoff, = struct.unpack_from("<Q", header, 32)
            phentsize, phnum = struct.unpack_from("<HH", header, 54)
            file.seek(phoff)
            table = file.read(phentsize * phnum)
        self.loads = []
        for at in range(0, len(table), phentsize):
            kind, _, offset, vaddr, _, filesz = struct.unpack_from("<IIQQQQ", table, at)
            if kind == 1:
                self.loads.append((vaddr, offset, filesz))

    def offset(self, address):
        for vaddr, offset, filesz in self.loads:
            if vaddr <= address < vaddr + filesz:
                return address - vaddr + offset
        return None

    def address(self, file_offset):
        for vaddr, offset, filesz in self.loads:
            if offset <= file_offset < offset + filesz:
                return file_offset - offset + vaddr
        return None


def parse(lines):
    """{object path: {address: calls}} of a file with --dump-instr=yes and no compression."""
    calls = collections.defaultdict(collections.Counter)
    obj = called_obj = None
    for line in lines:
        if line.startswith("ob="):
            obj = called_obj = line[3:].strip()
        elif line.startswith("cob="):
            called_obj = line[4:].strip()
        elif line.startswith("calls="):
            count, address = line[6:].split()[:2]
            calls[called_obj][int(address, 16)] += int(count)
            called_obj = obj
    return calls


def run(argv, out, stdin=None, cwd=None, timeout=harness.TIMEOUT):
    """Runs `argv` under callgrind. Returns its stdout and {real path: {file offset: calls}}."""
    command = [*FIXED, "valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}",
               "--dump-instr=yes", "--dump-line=no", "--compress-pos=no", "--compress-strings=no",
               f"--aspace-minaddr={LEAST_ADDRESS:#x}", *argv]
    done = subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          cwd=cwd, env=ENVIRONMENT, timeout=timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"callgrind of {argv} exits {done.returncode}: {done.stderr.decode()}")
    counts = {}
    with open(out, encoding="utf-8", errors="replace") as file:
        for path, calls in parse(file).items():
            if not os.path.isfile(path):
                continue
            segments = Segments(path)
            counts[os.path.realpath(path)] = {segments.offset(address): count
                                              for address, count in calls.items()}
    return done.stdout, counts


def compare(document, counts, path):
    """Compares the functions of `path` in a proftrace document with callgrind's counts of it.

    Returns the number of functions that were called and agree, and a list of
    (name, proftrace's calls, callgrind's calls) of those that differ.
    """
    path = os.path.realpath(path)
    true = counts[path]
    equal, different = 0, []
    for function in document["functions"]:
        if os.path.realpath(function["module"]) != path:
            continue
        expected = true.get(function["offset"], 0)
        if function["calls"] != expected:
            different.append((function["symbol"], function["calls"], expected))
        elif expected:
            equal += 1
    return equal, different


def dynamic_symbols(path):
    """The names in .dynsym, without their versions."""
    table = subprocess.run(["readelf", "-W", "--dyn-syms", path], stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    return {row.split()[-1].split("@")[0] for row in table.splitlines() if "FUNC" in row}


def leave_named(document, path):
    """Takes out of a proftrace document what has no dynamic symbol: of functions without a name
    callgrind knows nothing."""
    names = dynamic_symbols(path)
    document["functions"] = [f for f in document["functions"] if f["symbol"] in names]
