# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real programs with their single calls: each format that shows them has as many, and
as much time, on each path of each thread as the JSON of the same recording. Times on timelines are
as measured, with what the probes cost."""

import harness
import recordings
import test_chrome
import test_firefox
import test_page
import test_perfetto
import test_speedscope
import test_sqlite
from sample import frame_name, plain, thread_name
from test_page import exact, number

ALL_CALLS = "SELECT path, leave_ns - enter_ns, off_ns FROM calls"


class Formats(test_speedscope.Reader, test_chrome.Reader, test_perfetto.Reader,
              test_firefox.Reader, test_sqlite.Reader, test_page.Reader):
    OPTIONS = ("--calls",)

    def calls(self, name_of=frame_name):
        """{thread: {path: (calls, nanoseconds of them, of these off the CPU)}} by JSON."""
        document, threads = self.recording.document, {}
        for thread in document["threads"]:
            sums = threads.setdefault(plain(thread_name(thread)), {})
            for path, node in self.nodes(document, thread, name_of):
                add(sums, path, node["calls"], node["raw_total_ns"], node["off_ns"])
        return {name: sums for name, sums in threads.items() if sums}

    def nest(self, events):
        """The same of (begins, when, name, off the CPU), which must be balanced and in order."""
        sums, stack, last = {}, [(0, 0)], 0
        for begins, at, name, off_ns in events:
            self.assertLessEqual(last, at)
            last = at
            if begins:
                stack.append((self.paths.number(stack[-1][0], name), at))
                add(sums, stack[-1][0], 1, 0, off_ns)
            else:
                path, begun = stack.pop()
                add(sums, path, 0, at - begun, 0)
        self.assertEqual(len(stack), 1)
        return sums

    def raw_self(self):
        return self.weights(self.recording.document, "raw_self_ns", frame_name)

    def without_off(self, threads):
        return {name: {path: row[:2] for path, row in sums.items()}
                for name, sums in threads.items()}

    def test_json(self):
        """There is every call, and nothing is lost."""
        document = self.recording.document
        harness.TestCase.check(harness.TestCase(), document)
        accounting = document["accounting"]
        self.assertEqual((accounting["timeline_calls"], accounting["timeline_lost"]),
                         (accounting["entered"], 0))

    def test_chrome(self):
        path, trace, document = self.load_chrome()
        seen = {thread: self.nest((*event, 0) for event in events)
                for thread, events in self.chrome_events(document, trace).items()}
        self.assert_same(self.without_off(seen), self.without_off(self.calls()))
        # And as another reads it.
        self.assert_same(self.chrome_in_speedscope(path, document, trace), self.raw_self())

    def test_perfetto(self):
        packets, _ = self.decode_perfetto()
        seen = {thread: self.nest(events)
                for thread, events in self.perfetto_events(packets).items()}
        self.assert_same(seen, self.calls(lambda function: plain(frame_name(function))))

    def test_speedscope(self):
        written, saved, _ = self.open_speedscope()
        frames, seen = written["shared"]["frames"], {}
        for profile in written["profiles"]:
            self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
            seen[profile["name"]] = self.nest(
                (event["type"] == "O", event["at"], frames[event["frame"]]["name"], 0)
                for event in profile["events"])
        self.assert_same(self.without_off(seen), self.without_off(self.calls()))
        self.assert_same(self.speedscope_weights(saved), self.raw_self())

    def test_firefox(self):
        """Samples are the time between events: each path's own, in all."""
        path, written, document = self.load_firefox()
        seen = {}
        for thread in written["threads"]:
            sums = seen.setdefault(thread["name"], {})
            for stack, _, ns in self.samples(written, thread):
                if ns:
                    sums[stack] = sums.get(stack, 0) + ns
        self.assert_same({name: sums for name, sums in seen.items() if sums}, self.raw_self())
        self.check_firefox_functions(path, document, "raw_self_ns", 1e6)

    def test_sqlite(self):
        path, document = self.write("sqlite", "x.sqlite")
        db, seen = test_sqlite.open_database(self, path), {}
        for path, ns, off_ns in db.execute(ALL_CALLS):
            add(seen, path, 1, ns, off_ns)
        self.assertEqual(seen, {node["id"]: (node["calls"], node["raw_total_ns"], node["off_ns"])
                                for node, _, _ in harness.nodes_of(document) if node["calls"]})

    def test_page(self):
        """What its timeline is given, and the first call that it shows."""
        path, document = self.write("html", "x.html")
        data = self.data_of(path)
        self.check_data(data, document)
        seen, threads = {}, []
        for flat in data["timeline"]["threads"]:
            at = 0
            calls = []
            for i in range(0, len(flat), 4):
                at += flat[i]
                calls.append((at, *flat[i + 1:i + 4]))
                add(seen, calls[-1][3], 1, calls[-1][1], calls[-1][2])
            threads.append(calls)
        nodes = [node for node, _, _ in harness.nodes_of(document)]
        self.assertEqual(seen, {i: (node["calls"], node["raw_total_ns"], node["off_ns"])
                                for i, node in enumerate(nodes) if node["calls"]})
        self.check_timeline(path, document, data, threads, nodes)

    def check_timeline(self, path, document, data, threads, nodes):
        self.browser.open(path)
        self.show("timeline")
        self.assertIn(f"{data['timeline']['calls']:,} calls", self.text("#view-timeline .note"))
        self.browser.run("document.querySelector('#view-timeline canvas').focus()")
        self.browser.press("HOME")
        start, length, _, node = threads[0][0]
        status = self.status()
        self.assertEqual(status["name"],
                         frame_name(document["functions"][nodes[node]["function"]]))
        self.assertEqual((number(status["At"][1]), status["Took"][1]), (start, exact(length)))
        self.assertEqual(status["In"][0], thread_name(document["threads"][0]))
        self.assertEqual(self.browser.logs(), [], "the page has complained")


def add(sums, path, calls, ns, off_ns):
    before = sums.get(path, (0, 0, 0))
    sums[path] = (before[0] + calls, before[1] + ns, before[2] + off_ns)


class Python(Formats, recordings.TestCase):
    NAME = "python3"


class Sqlite(Formats, recordings.TestCase):
    NAME = "sqlite3"


class Threads(Formats, recordings.TestCase):
    NAME = "xz"


class Cxx(Formats, recordings.TestCase):
    """With a call that an exception ends, and one that exit() never ends."""
    NAME = "qpdf"


if __name__ == "__main__":
    harness.main()
