# SPDX-License-Identifier: GPL-2.0-or-later
"""How far proofs about the target's code go."""

import collections

import bench
from bench import detail, plan, row

JSONNET = "/usr/bin/jsonnet" # C++ that throws, with its symbols


@bench.measures("proofs")
def measure_proofs(args):
    """How many functions of C++ code keep return probes, and by which proof."""
    program = bench.built(args, "programs", "proofs")
    for command, pattern in ((program, "libstdc++.so.6:*"), (JSONNET, "jsonnet:*")):
        functions = plan(args, "-F", pattern, "--", command)
        proven = [f["reason"] for f in functions if f["exit"] == "return"]
        share = 100 * len(proven) / len(functions)
        row(f"functions that keep return probes by proof, {pattern[:-2]}", share, f"{share:.1f} %")
        detail(f"{len(proven)} of {len(functions)}: " +
               ", ".join(f"{count} {reason}" for reason, count in
                         collections.Counter(proven).most_common()))
