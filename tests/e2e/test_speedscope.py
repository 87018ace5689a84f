# SPDX-License-Identifier: GPL-2.0-or-later
"""speedscope's own format, by speedscope's schema and importer."""

import json

import harness
import sample
from sample import frame_name

WEIGHTS = (("wall", "self_ns", "nanoseconds"), ("cpu", "cpu_self_ns", "nanoseconds"),
           ("off", "off_self_ns", "nanoseconds"), ("calls", "calls", "none"))


class Reader:
    def open_speedscope(self, *options):
        path, document = self.write("speedscope", "x.speedscope.json", *options)
        self.run_tool("node", sample.SPEEDSCOPE, "--schema", sample.CONSUMERS, path)
        with open(path, encoding="utf-8") as file:
            return json.load(file), self.open_in_speedscope(path), document

    def check_speedscope(self, weight, figure, unit):
        """Each path weighs what JSON says."""
        written, saved, document = self.open_speedscope("-w", weight)
        self.assertEqual({profile["type"] for profile in written["profiles"]}, {"sampled"})
        self.assertEqual({profile["unit"] for profile in saved["profiles"]}, {unit})
        self.assert_same(self.speedscope_weights(saved),
                         self.weights(document, figure, frame_name))


class Speedscope(Reader, sample.TestCase):
    def events(self, document):
        """{thread: [(O or C, function, when)]}: what there is to be shown."""
        path = self.path("events")
        self.run_tool(sample.SAMPLE, "-c", "events", path)
        names = {node["id"]: frame_name(document["functions"][node["function"]])
                 for node, _, _ in harness.nodes_of(document)}
        expected = {}
        with open(path, encoding="utf-8") as file:
            for event in map(json.loads, file):
                thread = sample.thread_name(document["threads"][event["thread"]])
                expected.setdefault(thread, []).append(
                    ("O" if event["begins"] else "C", names[event["node"]], event["at_ns"]))
        return expected

    def test_paths(self):
        """Compares paths by each kind of weight."""
        for weight, figure, unit in WEIGHTS:
            self.check_speedscope(weight, figure, unit)

    def test_dearest_first(self):
        written, saved, document = self.open_speedscope()
        sums = self.weights(document, "self_ns", frame_name)
        dearest = max(sums, key=lambda thread: sum(sums[thread].values()))
        self.assertEqual(written["profiles"][written["activeProfileIndex"]]["name"], dearest)
        self.assertEqual(saved["profiles"][saved["activeProfileIndex"]]["name"], dearest)

    def test_too_deep_for_stacks(self):
        """A path 10,000 deep: the same tree, in a file whose size is linear in it."""
        written, saved, document = self.open_speedscope("-d", "10000")
        types = {profile["name"]: profile["type"] for profile in written["profiles"]}
        self.assertEqual(sorted(types.values()).count("evented"), 1)
        self.assertEqual(types[sample.thread_name(document["threads"][1])], "evented")
        self.assert_same(self.speedscope_weights(saved),
                         self.weights(document, "self_ns", frame_name))

    def test_single_calls(self):
        """Single calls are events that nest, in order of time."""
        written, saved, document = self.open_speedscope("-c")
        self.assertEqual({profile["type"] for profile in written["profiles"]}, {"evented"})
        self.assertEqual({profile["unit"] for profile in saved["profiles"]}, {"nanoseconds"})
        expected = self.events(document)
        frames = written["shared"]["frames"]
        for profile in written["profiles"]:
            seen = [(event["type"], frames[event["frame"]]["name"], event["at"])
                    for event in profile["events"]]
            self.assertTrue(seen == expected.pop(profile["name"]), profile["name"])
            self.assertEqual((profile["startValue"], profile["endValue"]), (0, seen[-1][2]))
        self.assertEqual(expected, {})
        self.assert_same(self.speedscope_weights(saved), self.speedscope_weights(written))

    def test_single_calls_have_no_other_weight(self):
        written, _, _ = self.open_speedscope("-c", "-w", "cpu")
        self.assertEqual({profile["type"] for profile in written["profiles"]}, {"sampled"})


if __name__ == "__main__":
    harness.main()
