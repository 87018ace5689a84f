# SPDX-License-Identifier: GPL-2.0-or-later
"""Chrome's trace events, as they are written, and as speedscope and the Firefox Profiler read them."""

import decimal
import json

import harness
import sample
from sample import frame_name


class Reader:
    def tracks(self, trace):
        """{(pid, tid): the name that the trace gives it}"""
        return {(event["pid"], event["tid"]): event["args"]["name"]
                for event in trace["traceEvents"] if event["name"] == "thread_name"}

    def load_chrome(self, *options):
        path, document = self.write("chrome", "x.trace.json", *options)
        with open(path, encoding="utf-8") as file:
            return path, json.load(file, parse_float=decimal.Decimal), document

    def chrome_events(self, trace):
        """[(thread, [(begins, nanoseconds, name)])], exactly; a thread may have several tracks."""
        tracks = self.tracks(trace)
        events = {track: [] for track in tracks}
        for event in trace["traceEvents"]:
            if event["ph"] != "M":
                self.assertIn(event["ph"], "BE")
                events[event["pid"], event["tid"]].append(
                    (event["ph"] == "B", event["ts"] * 1000, event["name"]))
        return [(tracks[track], rows) for track, rows in events.items()]

    def chrome_in_speedscope(self, path, trace):
        """[(thread, {path: nanoseconds})] of each track"""
        tracks, threads = self.tracks(trace), []
        for name, sums in self.speedscope_weights(self.open_in_speedscope(path)).items():
            track, = (track for (pid, tid), track in tracks.items()
                      if f"(pid {pid}), " in name and name.endswith(f" (tid {tid})")
                      or name.endswith(f"(pid {pid}, tid {tid})"))
            threads.append((track, {path: round(us * 1000)
                                    for path, us in sums.items() if round(us * 1000)}))
        return threads


class Chrome(Reader, sample.TestCase):
    def test_events(self):
        """Events are the calls as they nest, to the nanosecond."""
        _, trace, document = self.load_chrome("-c")
        names = {node["id"]: frame_name(document["functions"][node["function"]])
                 for node, _, _ in harness.nodes_of(document)}
        expected = {sample.thread_name(thread): [] for thread in document["threads"]}
        for event in self.events():
            expected[sample.thread_name(document["threads"][event["thread"]])].append(
                (event["begins"], event["at_ns"], names[event["node"]]))
        seen = self.chrome_events(trace)
        self.assertEqual(dict(seen), expected)
        self.assertEqual(len(seen), len(expected))
        self.assertEqual(trace["otherData"]["accounting"],
                         json.loads(json.dumps(document["accounting"]), parse_float=decimal.Decimal))

    def test_sources(self):
        """Calls of functions whose source is known refer to it."""
        _, trace, document = self.load_chrome("-c")
        expected = {(frame_name(f), f["file"], f["line"]) for f in document["functions"]
                    if f["file"]}
        frames, seen = trace["stackFrames"], set()
        for event in trace["traceEvents"]:
            if "sf" in event:
                frame = frames[str(event["sf"])]
                self.assertEqual((event["ph"], event["name"]), ("B", frame["name"]))
                seen.add((frame["name"], frame["category"], frame["line"]))
        self.assertEqual(seen, expected)
        known = {name for name, _, _ in expected}
        self.assertFalse([event for event in trace["traceEvents"] if event["ph"] == "B" and
                          event["name"] in known and "sf" not in event])

    def test_speedscope(self):
        """Speedscope nests calls as the JSON does, and each path has its time, within the precision
        of a double. Begins and ends at one time may come in another order."""
        path, trace, document = self.load_chrome("-C")
        self.assert_same(dict(self.chrome_in_speedscope(path, trace)),
                         self.times_of_events(document, self.events("-C"), frame_name))

    def test_firefox(self):
        path, document = self.write("chrome", "x.trace.json", "-c")
        told, = self.profiler_cli(path, "profile info")
        self.assertIn(f"contains {len(document['threads'])} threads", told)


if __name__ == "__main__":
    harness.main()
