# SPDX-License-Identifier: GPL-2.0-or-later
"""pprof's format, by Go's pprof and by speedscope's importer."""

import os
import re

import harness
import sample
from sample import plain

SAMPLE = re.compile(r"^ +(\d+) +(\d+) +(\d+) +(\d+): ([\d ]+)$")
LOCATION = re.compile(r"^ +(\d+): 0x([0-9a-f]+) (?:M=(\d+) )?(.*)$")
MAPPING = re.compile(r"^(\d+): 0x0/0x([0-9a-f]+)/0x0 (\S+)  (.*)$")
FIGURES = ("calls", "self_ns", "cpu_self_ns", "off_self_ns")


class Reader:
    def pprof(self, path, *options):
        environment = os.environ | {"PPROF_TMPDIR": self.directory, "HOME": self.directory}
        return self.run_tool("go", "tool", "pprof", *options, path, env=environment).decode()

    def pprof_raw(self, path):
        """(head, [(values, locations, {label: value})], {location: ...}, {mapping: ...})."""
        head, rest = self.pprof(path, "-raw").split("\nSamples:\n")
        samples, rest = rest.split("\nLocations\n")
        locations, mappings = rest.split("\nMappings\n")
        types, *lines = samples.split("\n")
        rows = []
        for line in lines:
            if found := SAMPLE.match(line):
                rows.append((list(map(int, found.groups()[:4])),
                             list(map(int, found[5].split())), {}))
            else:
                rows[-1][2].update(re.findall(r"(\w+):\[(.*?)\](?= |$)", line))
        return (head, types, rows,
                {int(m[1]): m for m in map(LOCATION.match, locations.splitlines())},
                {m[1]: m for m in map(MAPPING.match, mappings.splitlines())})

    @staticmethod
    def place(function):
        return f"{function['module']}:{function['offset']:x}"

    def check_pprof_sources(self, document, seen):
        """Each sample says how its path is known, if some are estimates."""
        expected = {}
        for thread in document["threads"]:
            for path, node in self.nodes(document, thread, self.place):
                if node["calls"] or node["self_ns"]:
                    expected.setdefault((plain(sample.thread_name(thread)), path), set()).add(
                        node.get("source"))
        self.assertEqual(seen, expected)

    def check_pprof(self):
        """All figures of each stack, by thread."""
        path, document = self.write("pprof", "x.pb.gz")
        _, types, rows, locations, mappings = self.pprof_raw(path)
        self.assertEqual(types, "calls/count wall/nanoseconds[dflt] cpu/nanoseconds off/nanoseconds")
        places = {number: f"{mappings[row[3]][3]}:{row[2]}" for number, row in locations.items()}
        seen = [{plain(sample.thread_name(thread)): {} for thread in document["threads"]}
                for _ in FIGURES]
        sources = {}
        for values, stack, labels in rows:
            number = 0
            for location in reversed(stack):
                number = self.paths.number(number, places[location])
            for sums, value in zip(seen, values):
                sums = sums[labels["thread"]]
                sums[number] = sums.get(number, 0) + value
            sources.setdefault((labels["thread"], number), set()).add(labels.get("source"))
        self.check_pprof_sources(document, sources)
        for figure, threads in zip(FIGURES, seen):
            sums = {name: sums for name, sums in threads.items() if any(sums.values())}
            expected = {plain(thread): weights for thread, weights in
                        self.weights(document, figure, self.place).items()}
            # A real program need not have waited.
            self.assert_same(sums, expected, may_be_empty=figure == "off_self_ns")


class Pprof(Reader, sample.TestCase):
    def test_paths(self):
        self.check_pprof()

    def test_names_and_labels(self):
        path, document = self.write("pprof", "x.pb.gz")
        head, _, rows, locations, mappings = self.pprof_raw(path)
        functions = {self.place(function): function for function in document["functions"]}
        for location in locations.values():
            function = functions[f"{mappings[location[3]][3]}:{location[2]}"]
            name, line = plain(function["name"]) or "[unknown]", function["line"] or 0
            text = f"{name} {function['file'] or ''}:{line} s={line}"
            if function["symbol"] in (function["name"], ""):
                self.assertIn(location[4], (text, text + "()"))
            else:
                self.assertEqual(location[4], f"{text}({function['symbol']})")
        self.assertEqual({row[4] for row in mappings.values()}, {"[FN][FL][LN]"})
        threads = {plain(sample.thread_name(thread)): thread for thread in document["threads"]}
        for _, _, labels in rows:
            thread = threads[labels["thread"]]
            self.assertEqual(labels.get("comm", ""), plain(thread["comm"]))
            self.assertEqual((labels["pid"], labels["tid"]), (str(thread["pid"]), str(thread["tid"])))
            self.assertEqual(labels.get("goroutine"), str(thread["goroutine"])
                             if "goroutine" in thread else None)
        accounting = document["accounting"]
        self.assertIn(f"Comment: entered {accounting['entered']:,} = ", head)
        self.assertIn("\nTime: 2023-11-14 22:13:20.2", head)
        self.assertIn("\nDuration: 12.3", head)

    def test_weights(self):
        for weight in ("calls", "cpu", "off"):
            path, _ = self.write("pprof", "x.pb.gz", "-w", weight)
            self.assertIn(f"{weight}/", re.search(r"(\S+)\[dflt\]", self.pprof_raw(path)[1])[1])

    def test_sums(self):
        """The cost of functions by pprof, themselves and with their callees."""
        path, document = self.write("pprof", "x.pb.gz")
        report = self.pprof(path, "-top", "-nodecount=1000", "-nodefraction=0", "-unit=ns",
                            "-sample_index=wall")
        rows = {line[5]: line for line in (text.split(None, 5) for text in report.splitlines())
                if len(line) == 6}
        for name in ("main", "self", "semi;colon"):
            function, = (f for f in document["functions"] if f["name"] == name)
            row = next(row for text, row in rows.items() if text.split(" /")[0] == name)
            self.assertEqual((row[0], row[3]), (f"{function['self_ns']}ns", f"{function['total_ns']}ns"))

    def test_deep_stacks_are_cut_in_the_middle(self):
        path, document = self.write("pprof", "x.pb.gz", "-d", "5000")
        _, _, rows, locations, _ = self.pprof_raw(path)
        thread = plain(sample.thread_name(document["threads"][1]))
        stacks = [stack for _, stack, labels in rows if labels["thread"] == thread]
        self.assertEqual(max(map(len, stacks)), 2049)
        gap, = (number for number, row in locations.items()
                if row[4].startswith("[frames left out] "))
        self.assertEqual({stack.index(gap) for stack in stacks if gap in stack}, {2048 - 64})
        self.assertTrue(all(len(stack) == 2049 for stack in stacks if gap in stack))
        for index, figure in enumerate(FIGURES):
            self.assertEqual(sum(values[index] for values, _, _ in rows),
                             sum(node[figure] for node, _, _ in harness.nodes_of(document)))

    def test_speedscope(self):
        """All threads are one to it; names are what it sees."""
        path, document = self.write("pprof", "x.pb.gz")
        sums = {}
        for weights in self.weights(document, "self_ns",
                                    lambda f: plain(f["name"]) or "[unknown]").values():
            for number, value in weights.items():
                sums[number] = sums.get(number, 0) + value
        seen, = self.speedscope_weights(self.open_in_speedscope(path)).values()
        self.assert_same({"": seen}, {"": sums})


if __name__ == "__main__":
    harness.main()
