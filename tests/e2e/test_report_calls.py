# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real programs with their single calls: each format that shows them has as many, and
as much time, on each path of each thread as the JSON of the same recording. Times on timelines are
as measured, with what the probes cost."""

import operator

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
ALL_PATHS = """
    SELECT p.id, p.parent, f.name, t.comm || '-' || t.pid || '/' || t.tid
    FROM paths p JOIN functions f ON f.id = p.function JOIN threads t ON t.id = p.thread
    ORDER BY p.id"""


class Formats(test_speedscope.Reader, test_chrome.Reader, test_perfetto.Reader,
              test_firefox.Reader, test_sqlite.Reader, test_page.Reader):
    OPTIONS = ("--calls",)

    def calls(self, name_of=frame_name, with_off=True):
        """{thread: {path: (calls, nanoseconds of them, of these off the CPU)}} by JSON."""
        document, threads = self.recording.document, {}
        for thread in document["threads"]:
            sums = threads.setdefault(plain(thread_name(thread)), {})
            for path, node in self.nodes(document, thread, name_of):
                add(sums, path, (node["calls"], node["raw_total_ns"],
                                 node["off_ns"] if with_off else 0))
        return {name: sums for name, sums in threads.items() if sums}

    def nest(self, events):
        """Sums up (begins, when, name, off the CPU) by path; the events must be balanced and in
        order."""
        sums, stack, last = {}, [(0, 0)], 0
        for begins, at, name, off_ns in events:
            self.assertLessEqual(last, at)
            last = at
            if begins:
                stack.append((self.paths.number(stack[-1][0], name), at))
                add(sums, stack[-1][0], (1, 0, off_ns))
            else:
                path, begun = stack.pop()
                add(sums, path, (0, at - begun, 0))
        self.assertEqual(len(stack), 1)
        return sums

    def raw_self(self):
        return self.weights(self.recording.document, "raw_self_ns", frame_name)

    def joined(self, tracks):
        """{thread: sums} of (track, sums): JSON has what a thread called on any stack as one."""
        threads = {}
        for name, sums in tracks:
            for path, row in sums.items():
                add(threads.setdefault(name.removesuffix("+stack"), {}), path, row)
        return threads

    def test_json(self):
        """Every call is there, and nothing is lost."""
        document = self.recording.document
        harness.TestCase.check(harness.TestCase(), document)
        accounting = document["accounting"]
        self.assertEqual((accounting["timeline_calls"], accounting["timeline_lost"]),
                         (accounting["entered"], 0))

    def test_chrome(self):
        path, trace, _ = self.load_chrome()
        self.assert_same(self.joined((name, self.nest((*event, 0) for event in events))
                                     for name, events in self.chrome_events(trace)),
                         self.calls(with_off=False))
        # Compare the file as speedscope reads it, too.
        self.assert_same(self.joined(self.chrome_in_speedscope(path, trace)), self.raw_self())

    def test_perfetto(self):
        packets, _ = self.decode_perfetto()
        self.assert_same(self.joined((name, self.nest(events))
                                     for name, events in self.perfetto_events(packets)),
                         self.calls(lambda function: plain(frame_name(function))))

    def test_speedscope(self):
        written, saved, _ = self.open_speedscope()
        frames, seen = written["shared"]["frames"], []
        for profile in written["profiles"]:
            self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
            seen.append((profile["name"], self.nest(
                (event["type"] == "O", event["at"], frames[event["frame"]]["name"], 0)
                for event in profile["events"])))
        self.assert_same(self.joined(seen), self.calls(with_off=False))
        self.assert_same(self.joined(
            (profile["name"], *self.speedscope_weights(saved | {"profiles": [profile]}).values())
            for profile in saved["profiles"]), self.raw_self())

    def test_firefox(self):
        """Samples are the time between events: each path's own, in all."""
        path, written, document = self.load_firefox()
        self.assert_same(self.joined(
            (thread["name"], {stack: ns}) for thread in written["threads"]
            for stack, _, ns in self.samples(written, thread) if ns), self.raw_self())
        if len(written["threads"]) == len(document["threads"]):
            self.check_firefox_functions(path, document, "raw_self_ns", 1e6)

    def test_sqlite(self):
        path, _ = self.write("sqlite", "x.sqlite")
        db, numbers, threads = test_sqlite.open_database(self, path), {None: 0}, {}
        for path, caller, name, thread in db.execute(ALL_PATHS):
            numbers[path], threads[path] = self.paths.number(numbers[caller], name), thread
        self.assert_same(self.joined((threads[path], {numbers[path]: (1, ns, off_ns)})
                                     for path, ns, off_ns in db.execute(ALL_CALLS)), self.calls())

    def test_page(self):
        """Checks the data of the page's timeline, and the first call that the page shows."""
        path, _ = self.write("html", "x.html")
        data, numbers, callers = self.data_of(path), [], [0]
        names = [name or "[unknown]" for name in data["functions"]["name"]]
        for depth, function in zip(data["paths"]["depth"], data["paths"]["function"]):
            callers[depth + 1:] = [self.paths.number(callers[depth], names[function])]
            numbers.append(callers[-1])
        seen = []
        for thread, flat in zip(data["threads"], data["timeline"]["threads"]):
            name = f"{thread['comm']}-{thread['pid']}/{thread['tid']}"
            for i in range(0, len(flat), 4):
                _, ns, off_ns, node = flat[i:i + 4]
                seen.append((name, {numbers[node]: (1, ns, off_ns)}))
        self.assert_same(self.joined(seen), self.calls())
        self.check_first_call(path, data, names)

    def check_first_call(self, path, data, names):
        self.browser.open(path)
        self.show("timeline")
        self.assertIn(f"{data['timeline']['calls']:,} calls", self.text("#view-timeline .note"))
        self.browser.run("document.querySelector('#view-timeline canvas').focus()")
        self.browser.press("HOME")
        start, ns, _, node = data["timeline"]["threads"][0][:4]
        thread, status = data["threads"][0], self.status()
        self.assertEqual(status["name"], names[data["paths"]["function"][node]])
        self.assertEqual((number(status["At"][1]), status["Took"][1]), (start, exact(ns)))
        self.assertEqual(status["In"][0], f"{thread['comm']}-{thread['pid']}/{thread['tid']}" +
                         "+stack" * thread["stack"])
        self.assertEqual(self.browser.logs(), [], "the page has complained")


def add(sums, path, row):
    """A number, or several."""
    if path not in sums:
        sums[path] = row
    elif isinstance(row, tuple):
        sums[path] = tuple(map(operator.add, sums[path], row))
    else:
        sums[path] += row


class Python(Formats, recordings.TestCase):
    NAME = "python3"


class Sqlite(Formats, recordings.TestCase):
    NAME = "sqlite3"


class Threads(Formats, recordings.TestCase):
    NAME = "xz"


class Stacks(Formats, recordings.TestCase):
    """On each stack calls nest, and it has a track of its own."""
    NAME = "coroutine"

    def test_there_are_tracks(self):
        _, trace, document = self.load_chrome()
        self.assertEqual((len(self.tracks(trace)), len(document["threads"])), (3, 1))
        path, _ = self.write("html", "x.html")
        self.browser.open(path)
        name = thread_name(document["threads"][0])
        told = self.browser.run("return [...document.querySelectorAll('#scope option')]"
                                ".slice(2).map((option) => option.textContent)")
        self.assertEqual(sorted(told), [name, name + "+stack", name + "+stack"])


class Cxx(Formats, recordings.TestCase):
    """With a call that an exception ends, and one that exit() never ends."""
    NAME = "qpdf"


if __name__ == "__main__":
    harness.main()
