# SPDX-License-Identifier: GPL-2.0-or-later
"""How many functions are found in programs without symbols, and whether any is none."""

import re
import subprocess
import tempfile

import bench
from bench import PYTHON, UNLIMITED, built, detail, plan, row


def symbols(path):
    """{vaddr: (size, name)} of the functions in .symtab."""
    done = subprocess.run(["readelf", "-sW", path], stdout=subprocess.PIPE, check=True)
    return {int(value, 16): (int(size, 0), name) for value, size, name in re.findall(
        r"^ *\d+: ([0-9a-f]+) +(\w+) (?:FUNC|IFUNC) .* (\S+)$", done.stdout.decode(), re.M)}


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, check=True).stdout.decode()
    return re.search(r"Build ID: (\w+)", notes)[1]


def without_symbols(path, to):
    """A stripped copy that leads to no debug file, either."""
    subprocess.run(["strip", "-o", to, path], check=True)
    with open(to, "rb") as file:
        data = file.read()
    found = bytes.fromhex(build_id(path))
    with open(to, "wb") as file:
        file.write(data.replace(found, bytes(len(found))).replace(b".gnu_debuglink\0",
                                                                 b".not_debuglink\0"))


def compare(args, title, path, truth):
    known = symbols(truth)
    pieces = {vaddr for vaddr, (_, name) in known.items() if ".cold" in name}
    spans = sorted((vaddr, vaddr + size) for vaddr, (size, _) in known.items() if size)
    with tempfile.NamedTemporaryFile() as bare:
        without_symbols(path, bare.name)
        starts = {f["offset"] for f in plan(args, *UNLIMITED, "-x", path)}
        functions = plan(args, *UNLIMITED, "-x", bare.name)
    found = starts & {f["offset"] for f in functions}
    nameless = [int(f["name"].removeprefix("func_0x"), 16) for f in functions
                if f["name"].startswith("func_0x")]
    false = [vaddr for vaddr in nameless if vaddr in pieces or
             (vaddr not in known and any(start < vaddr < end for start, end in spans))]
    share = 100 * len(found) / len(starts)
    row(f"functions found in a stripped {title}", share, f"{share:.2f} %", 98, at_most=False)
    row(f"... that are none, in {title}", len(false), str(len(false)), 0)
    detail(f"{len(found)} of {len(starts)}; {len(nameless)} without a name")


@bench.measures("names")
def measure_names(args):
    """Stripped programs against their unstripped selves."""
    found = build_id(PYTHON)
    compare(args, "python3", PYTHON, f"/usr/lib/debug/.build-id/{found[:2]}/{found[2:]}.debug")
    for name in ("nameless", "nameless-static"):
        path = built(args, "programs", name)
        compare(args, {"nameless": "lua"}.get(name, "lua with glibc"), path, path)
