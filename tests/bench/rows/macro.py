# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of the macros of proftrace.h while nobody traces."""

import bench
from bench import built, row, said, start

REACH_MACRO = 1.0 # ns
KINDS = {"macro-gcc": "C, gcc", "macro-g++": "C++, g++", "macro-clang": "C, clang",
         "macro-clang++": "C++, clang++"}


@bench.measures("region-macro")
def measure_macro(args):
    for name, what in KINDS.items():
        done = start(built(args, "bench", name)).finish(60)
        plain, named = (float(said(done, word)[0][0]) for word in ("plain", "named"))
        cost = max(named - plain, 0)
        row(f"region macro, nobody traces, {what}", cost, f"{cost:.2f} ns", REACH_MACRO)
