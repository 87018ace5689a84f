# SPDX-License-Identifier: GPL-2.0-or-later
"""The Firefox Profiler's format, read by its own code, without the window."""

import json

import harness
import sample
from harness import program
from sample import frame_name

FIGURES = {"wall": "self_ns", "cpu": "cpu_self_ns", "off": "off_self_ns", "calls": "calls"}


class Reader:
    def load_firefox(self, *options):
        path, document = self.write("firefox", "x.firefox.json", *options)
        with open(path, encoding="utf-8") as file:
            return path, json.load(file, parse_float=str, parse_constant=self.fail), document

    def expected_functions(self, document, thread, figure):
        """{function: (own, with what it calls)}, recursion counted once."""
        own, total = {}, {}
        above = {None: frozenset()}
        for node, parent, _ in harness.walk(thread["calls"]):
            function = node["function"]
            above[node["id"]] = above[parent and parent["id"]] | {function}
            own[function] = own.get(function, 0) + node[figure]
            for caller in above[node["id"]]:
                total[caller] = total.get(caller, 0) + node[figure]
        return {function: (own[function], total[function]) for function in own if total[function]}

    def check_firefox_categories(self, written, document):
        """Functions by how they are known: what is exact is traced."""
        shared = written["shared"]
        categories = [category["name"] for category in written["meta"]["categories"]]
        seen = [categories[category] for category in shared["frameTable"]["category"]]
        self.assertEqual(seen, ["Traced" if sample.estimate(f)["source"] == "exact" else "Estimated"
                                for f in document["functions"]])

    def thread_of(self, document, told):
        names = {sample.thread_name(thread): thread for thread in document["threads"]}
        return names[told["friendlyThreadName"]]

    def check_firefox_functions(self, path, document, figure, scale):
        """Each has the figures of the JSON document, in every thread; of `scale` to a unit."""
        count = len(document["threads"])
        answers = self.profiler_cli(
            path, *(f"thread functions --json --include-idle --limit 0 --thread t-{i}"
                    for i in range(count)))
        threads = []
        for told in map(json.loads, answers):
            thread = self.thread_of(document, told)
            threads.append(id(thread))
            seen = {row["functionIndex"]: (round(row["selfSamples"] * scale),
                                           round(row["totalSamples"] * scale))
                    for row in told["functions"]}
            seen = {function: sums for function, sums in seen.items() if sums[1]}
            self.assertEqual(seen, self.expected_functions(document, thread, figure),
                             f"{figure} of {told['friendlyThreadName']}")
            for row in told["functions"]:
                function = document["functions"][row["functionIndex"]]
                self.assertEqual(row["name"], frame_name(function))
                self.assertEqual(row["library"], function["module"].rpartition("/")[2])
        self.assertEqual(sorted(threads), sorted(map(id, document["threads"])))

    def samples(self, written, thread):
        """(path, nanoseconds since the start, nanoseconds or calls) of each sample."""
        stacks, frames = written["shared"]["stackTable"], written["shared"]["frameTable"]
        numbers = {None: 0}
        for stack, (frame, prefix) in enumerate(zip(stacks["frame"], stacks["prefix"])):
            name = written["shared"]["stringArray"][written["shared"]["funcTable"]["name"][
                frames["func"][frame]]]
            numbers[stack] = self.paths.number(numbers[prefix], name)
        rows = thread["samples"]
        for column in ("stack", "time", "weight"):
            self.assertEqual(len(rows[column]), rows["length"])
        scale = (lambda v: v) if rows["weightType"] == "samples" else nanoseconds
        return [(numbers[stack], nanoseconds(time), scale(weight))
                for stack, time, weight in zip(rows["stack"], rows["time"], rows["weight"])]

    def check_firefox_paths(self, weight, figure):
        """Compares paths to the nanosecond, as the file has them; times never go back."""
        _, written, document = self.load_firefox("-w", weight)
        seen = {}
        for thread in written["threads"]:
            sums, last = seen.setdefault(thread["name"], {}), 0
            for path, at_ns, value in self.samples(written, thread):
                self.assertGreaterEqual(at_ns, last)
                last = at_ns
                sums[path] = sums.get(path, 0) + value
        seen = {name: sums for name, sums in seen.items() if sums}
        self.assert_same(seen, self.weights(document, figure, frame_name))


class Firefox(Reader, sample.TestCase):
    def test_functions(self):
        for weight, figure in FIGURES.items():
            path, _, document = self.load_firefox("-w", weight)
            self.check_firefox_functions(path, document, figure, 1 if weight == "calls" else 1e6)

    def test_tree(self):
        """Paths are whole, not only functions: of the small threads, as long ones are cut."""
        path, _, document = self.load_firefox()
        answers = self.profiler_cli(path, *(f"thread samples-top-down --json --thread t-{i}"
                                            for i in range(2, len(document["threads"]))))
        expected, seen = self.weights(document, "self_ns", frame_name), {}
        for told in map(json.loads, answers):
            sums = seen.setdefault(told["friendlyThreadName"], {})
            rest = [(0, node) for node in told["regularCallTree"]["children"]]
            while rest:
                caller, node = rest.pop()
                number = self.paths.number(caller, node["name"])
                if ns := round(node["selfSamples"] * 1e6):
                    sums[number] = sums.get(number, 0) + ns
                rest += [(number, child) for child in node["children"]]
        self.assertGreater(len(seen), 1)
        self.assert_same(seen, {name: expected[name] for name in seen})

    def test_paths(self):
        for weight, figure in FIGURES.items():
            self.check_firefox_paths(weight, figure)

    def test_single_calls(self):
        """Samples are the time between events, without gaps; each begins when its call does."""
        _, written, document = self.load_firefox("-c")
        numbers, expected = {}, {}
        for thread in document["threads"]:
            for number, node in self.nodes(document, thread, frame_name):
                numbers[node["id"]] = number
        stack, last_ns, last = [], 0, None
        for event in self.events():
            rows = expected.setdefault(
                sample.thread_name(document["threads"][event["thread"]]), [])
            if rows is not last:
                last, last_ns = rows, 0
            if event["at_ns"] > last_ns:
                rows.append((numbers[stack[-1]] if stack else 0, last_ns,
                             event["at_ns"] - last_ns if stack else 0))
            last_ns = event["at_ns"]
            if event["begins"]:
                stack.append(event["node"])
            else:
                stack.pop()
        for thread in written["threads"]:
            *rows, end = self.samples(written, thread)
            self.assertEqual(rows, expected[thread["name"]])
            self.assertEqual((end[0], end[2]), (0, 0))
        self.assertEqual(len(written["threads"]), len(expected))

    def test_single_calls_are_read(self):
        path, _, document = self.load_firefox("-c")
        expected = self.times_of_functions(document)
        answers = self.profiler_cli(
            path, *(f"thread functions --json --include-idle --limit 0 --thread t-{i}"
                    for i in range(len(document["threads"]))))
        for told in map(json.loads, answers):
            seen = {row["functionIndex"]: round(row["selfSamples"] * 1e6)
                    for row in told["functions"] if round(row["selfSamples"] * 1e6)}
            self.assertEqual(seen, expected[told["friendlyThreadName"]])

    def times_of_functions(self, document):
        functions = {node["id"]: node["function"] for node, _, _ in harness.nodes_of(document)}
        threads, stack, last_ns = {}, [], 0
        for event in self.events():
            sums = threads.setdefault(
                sample.thread_name(document["threads"][event["thread"]]), {})
            if stack and event["at_ns"] > last_ns:
                function = functions[stack[-1]]
                sums[function] = sums.get(function, 0) + event["at_ns"] - last_ns
            last_ns = event["at_ns"]
            if event["begins"]:
                stack.append(event["node"])
            else:
                stack.pop()
        return threads

    def test_notes(self):
        _, written, document = self.load_firefox("-c")
        notes = {note["label"]: note["value"] for note in written["meta"]["extra"][0]["entries"]}
        accounting = document["accounting"]
        self.assertEqual(notes, {
            "calls entered": accounting["entered"], "returned": accounting["returned"],
            "unwound": accounting["unwound"], "open": accounting["open"],
            "lost": accounting["lost"], "nested too deeply": accounting["deep"],
            "dropped": accounting["dropped"],
            "not in the distributions": accounting["undistributed"],
            "probes' cost": accounting["probe_ns"], "CPU time": accounting["cpu_ns"],
            "single calls missing": 0})


class Speedscope(Reader, sample.TestCase):
    """A file that speedscope reads: its importer is for what Firefox wrote long ago."""

    def weights_below_threads(self, saved):
        """{thread: {path: ns}}, as weights(): paths begin with a frame of the thread's name."""
        profile, = saved["profiles"]
        self.assertEqual(profile["unit"], "milliseconds")
        names = [frame["name"] for frame in saved["shared"]["frames"]]
        threads, thread, stack, last_ns = {}, None, [], 0
        for event in profile["events"]:
            at_ns, name = round(event["at"] * 1e6), names[event["frame"]]
            if len(stack) > 1 and at_ns > last_ns:
                sums = threads.setdefault(thread, {})
                sums[stack[-1]] = sums.get(stack[-1], 0) + at_ns - last_ns
            last_ns = at_ns
            if event["type"] == "C":
                stack.pop()
            elif stack:
                stack.append(self.paths.number(stack[-1], name))
            else:
                thread, stack = name, [0]
        self.assertEqual(stack, [])
        return threads

    def check_read(self, weight, *options):
        path, _, document = self.load_firefox("-w", weight, *options)
        expected = self.weights(document, FIGURES[weight],
                                lambda function: sample.plain(frame_name(function)))
        self.assert_same(self.weights_below_threads(self.open_in_speedscope(path)),
                         {sample.plain(name): sums for name, sums in expected.items()})

    def test_paths(self):
        for weight in ("wall", "cpu", "off"):
            self.check_read(weight)

    def test_single_calls(self):
        """With single calls only their sums are compared."""
        self.check_read("wall", "-c")

    def test_calls_are_no_time(self):
        _, written, _ = self.load_firefox("-w", "calls")
        self.assertNotIn("systemHost", written)


def nanoseconds(milliseconds):
    """Exactly, of a number as it is written."""
    whole, _, part = str(milliseconds).partition(".")
    return int(whole) * 1_000_000 + int(part.ljust(6, "0"))


class Runs(harness.TestCase):
    def test_run(self):
        out = self.path("x.firefox.json")
        done = self.run_proftrace("-o", out, "-w", "calls", "--", program("recursion"), 5, 2)
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            written = json.load(file)
        shared = written["shared"]
        calls = {}
        for thread in written["threads"]:
            for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
                name = shared["stringArray"][shared["stackTable"]["frame"][stack]]
                calls[name] = calls.get(name, 0) + weight
        self.assertEqual({name: calls.get(name) for name in done.counts}, done.counts)


if __name__ == "__main__":
    harness.main()
