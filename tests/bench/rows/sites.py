# SPDX-License-Identifier: GPL-2.0-or-later
"""The entry sites that the plan chooses, checked by objdump."""

import os
import random
import re
import subprocess
import tempfile

import bench
from bench import PYTHON, detail, library, plan, row

REACH_SITES = {PYTHON: 81, "libstdc++.so.6": 78, "libc.so.6": 68, "libLLVM-14.so.1": 85}

# How objdump writes what the kernel emulates; nop5 goes by its bytes.
CLASSES = {
    "nop": r"nop|xchg +%ax,%ax",
    "push": r"(rex\S* )?push +%r",
    "jmp": r"(bnd )?jmp +0x",
    "jcc": r"(bnd )?j(?!mp|rcxz|ecxz)\w+(,p[nt])? +0x",
    "call": r"(bnd )?call +0x",
}


def fits(function, code, text):
    """Whether the instruction is of the class that the plan says."""
    if function["site"] == "nop5":
        return len(code) == 10 and bool(re.match(CLASSES["nop"], text))
    if function["site"] == "step" and len(code) > 16 and re.match(CLASSES["nop"], text):
        return True # the kernel emulates none that long
    if function["site"] == "step":
        return "bad" not in text and not any(re.match(c, text) for c in CLASSES.values())
    return bool(re.match(CLASSES[function["site"]], text))


def misplaced(path, functions):
    """The functions whose site is, by objdump, in the middle of an instruction or of another class.

    What leads from each function's start to its site is put into one file for objdump to read from
    its beginning; nops in between let it find its step again.
    """
    longest, sites, wrong = 15, {}, []
    with open(path, "rb") as file, tempfile.NamedTemporaryFile() as excerpts:
        for function in functions:
            file.seek(function["offset"])
            sites[excerpts.tell() + function["site_offset"]] = function
            excerpts.write(file.read(function["site_offset"] + longest) + b"\x90" * longest)
        excerpts.flush()
        done = subprocess.run(["objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64",
                               excerpts.name], stdout=subprocess.PIPE, check=True)
    listed = {}
    for address, code, text in re.findall(r"^ *([0-9a-f]+):\t([0-9a-f ]+)\t(.*)$",
                                          done.stdout.decode(), re.M):
        listed[int(address, 16)] = code.replace(" ", ""), text
    for address, function in sites.items():
        if address not in listed or not fits(function, *listed[address]):
            wrong.append((function["symbol"], function["site"], function["site_offset"],
                          listed.get(address)))
    return wrong


@bench.measures("sites", bench.option(
    "--sample", 300, "functions of each file whose entry site objdump checks", type=int),
    bench.option("--seed", 1, "for choosing them", type=int))
def measure_sites(args):
    checked, wrong = 0, []
    for name, reach in REACH_SITES.items():
        path = library(name)
        functions = plan(args, *bench.UNLIMITED, "-x", path)
        share = 100 * sum(f["site"] != "step" for f in functions) / len(functions)
        row(f"functions with an emulated entry site, {os.path.basename(name)}", share,
            f"{share:.1f} %", reach, at_most=False)
        chosen = random.Random(args.seed).sample(functions, min(args.sample, len(functions)))
        checked += len(chosen)
        wrong += misplaced(path, chosen)
    row(f"of {checked} sampled, site no instruction or of another class (by objdump)", len(wrong),
        str(len(wrong)), 0)
    for case in wrong[:5]:
        detail(str(case))
