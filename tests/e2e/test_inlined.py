# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that are inlined where samples meet them, against what LLVM tells of the code."""

import json
import os
import re
import subprocess

import harness
from harness import PROFTRACE, program

RATE = ("--sample-rate", "997", "--max-overhead", "200")  # that nothing goes over
TRACED = ("-F", "traced")
TIMES = 1000
MARK = " (inlined)"
MIX = "kitchen::Mixer<2>::mix(unsigned long)"


def function_ranges(path):
    said = subprocess.run(["nm", "-S", path], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: (int(start, 16), int(start, 16) + int(size, 16))
            for start, size, name in re.findall(r"^(\w+) (\w+) [tT] (\w+)$", said, re.M)}


def chains(path, function):
    """Returns the functions that are inlined at each address of the function, outermost first, by
    LLVM's reader. (addr2line of binutils gives the innermost static function the name of the symbol
    around it.)"""
    begin, end = function_ranges(path)[function]
    said = subprocess.run(["llvm-symbolizer", "--obj=" + path, "--inlines",
                           *map(hex, range(begin, end))],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    found = set()
    for of_address in said.strip().split("\n\n"):
        names = of_address.splitlines()[::2]
        assert names[-1] == function, of_address
        found.add(tuple(reversed(names[:-1])))
    return found


class Inlined(harness.TestCase):
    def run_one(self, *args):
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()

    def paths(self, document):
        """{(functions from the outermost one on): node}"""
        functions, found, above = document["functions"], {}, []
        for thread in document["threads"]:
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(functions[node["function"]])
                found[tuple(f["name"] for f in above)] = node
        return found

    def below(self, document, function):
        """Chains of inlined functions right below one that is not: {chain: samples there}."""
        found = {}
        for path, node in self.paths(document).items():
            if function not in path:
                continue
            behind = path[len(path) - path[::-1].index(function):]
            if all(name.endswith(MARK) for name in behind):
                chain = tuple(name[:-len(MARK)] for name in behind)
                found[chain] = found.get(chain, 0) + node["samples"]
        return found

    def check_inlined(self, document):
        counts = {f["name"]: f for f in document["functions"]}
        for function in document["functions"]:
            self.assertEqual(function["kind"] == "inlined", function["name"].endswith(MARK))
            if function["kind"] == "inlined":
                self.assertEqual((function["calls"], function["source"]), (0, "sample"))
                self.assertIn(os.path.basename(function["file"] or ""),
                              ("inlined.cpp", "target.h"))  # what the test waits for is inlined
        self.assertEqual(counts["traced"]["calls"], TIMES)
        self.assertEqual(counts["traced"]["source"], "exact")
        for sums in (document["functions"],
                     [node for node, _, _ in harness.nodes_of(document)]):
            self.assertAlmostEqual(sum(one["cpu_self_ns"] for one in sums) /
                                   document["accounting"]["cpu_ns"], 1, delta=0.01)

    def profile(self, path, *options):
        return self.profile_command(path, str(TIMES), options=(*RATE, *TRACED, *options))[0]

    def test_names(self):
        path = program("inlined")
        document = self.profile(path)
        self.check_inlined(document)
        for function in "traced", "leaf", "main":
            truth = {chain[:depth] for chain in chains(path, function)
                     for depth in range(len(chain) + 1)}
            met = self.below(document, function)
            self.assertLessEqual(set(met), truth, function)
        for function, chain in (("traced", ("stir", "spin")), ("traced", ("stir",)),
                                ("leaf", ("spin",)), ("main", ("serve", "spin"))):
            self.assertGreater(self.below(document, function).get(chain, 0), 0, (function, chain))
        self.assertIn((MIX,), self.below(document, "traced"))
        # A look-up by symbol finds the function that has calls.
        symbols = {f["name"]: f["symbol"] for f in document["functions"]}
        self.assertEqual(symbols[MIX + MARK], "")

    def test_switched_off(self):
        document = self.profile(program("inlined"), "--no-inlines")
        self.assertEqual({f["kind"] for f in document["functions"]}, {"function"})
        self.assertGreater(sum(node["samples"] for path, node in self.paths(document).items()
                               if path[-1] == "traced"), 0)

    def test_without_debug_information(self):
        path = self.path("stripped")
        subprocess.run(["strip", "-g", "-o", path, program("inlined")], check=True)
        document = self.profile(path)
        self.assertEqual({f["kind"] for f in document["functions"]}, {"function"})

    def test_in_a_file_of_its_own(self):
        path, debug = self.path("stripped"), self.path("stripped.debug")
        subprocess.run(["objcopy", "--only-keep-debug", program("inlined"), debug], check=True)
        subprocess.run(["strip", "-o", path, program("inlined")], check=True)
        subprocess.run(["objcopy", "--add-gnu-debuglink=" + debug, path], check=True)
        document = self.profile(path)
        self.check_inlined(document)
        self.assertGreater(self.below(document, "leaf").get(("spin",), 0), 0)

    def test_damaged(self):
        """Garbage in place of debug information: no names, all else as ever."""
        path = self.path("damaged")
        damaged = self.path("garbage")
        subprocess.run(["objcopy", "--dump-section", ".debug_info=" + damaged, program("inlined"),
                        path], check=True)
        with open(damaged, "r+b") as file:
            size = os.path.getsize(damaged)
            for at in range(40, size, 23):
                file.seek(at)
                file.write(bytes([at * 7 % 256]))
        subprocess.run(["objcopy", "--update-section", ".debug_info=" + damaged, path],
                       check=True)
        document = self.profile(path)
        counts = {f["name"]: f["calls"] for f in document["functions"]}
        self.assertEqual(counts["traced"], TIMES)

    def test_formats(self):
        """The mark is in all that show frames, also of a recording."""
        recording = self.path("a.data")
        done = self.run_one("record", "-q", *RATE, *TRACED, "-o", recording, "--",
                            program("inlined"), str(TIMES))
        self.assertEqual(done.status, 0, str(done))
        for form in "tree", "flat", "folded", "speedscope", "html", "svg", "callgrind", "csv":
            done = self.run_one("report", "-f", form, "-v", recording)
            self.assertIn("stir" + MARK, done.stdout, form)
        chosen = self.run_one("report", "-f", "json", "-F", "stir", recording)
        self.assertIn("stir" + MARK, [f["name"] for f in json.loads(chosen.stdout)["functions"]])

    def test_attached(self):
        """Calls that were open before the start have them, too: calls stand below serve()."""
        document, _ = self.profile_pid("inlined", TIMES, options=(*RATE, *TRACED))
        self.check_inlined(document)
        paths = {path[path.index("main"):] for path, node in self.paths(document).items()
                 if path[-1] == "traced" and node["calls"]}
        self.assertEqual(paths, {("main", "traced")})
