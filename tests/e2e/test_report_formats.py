# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of real programs: each format of a report, read by its consumer, says what the JSON of
the same recording says."""

import json
import re
import subprocess

import harness
import recordings
import sample
import test_callgrind
import test_csv
import test_firefox
import test_formats
import test_page
import test_pprof
import test_speedscope
import test_sqlite
from sample import frame_name
from test_page import exact, number, percent
from test_speedscope import WEIGHTS


def folded_name(function):
    """A name as folded stacks have it, which know no escapes."""
    name = re.sub(r" (\d[\d.]*)$", r"_\1", frame_name(function).replace(";", ":"))
    return name.lstrip("# ").rstrip(" ")


def calls_text(function):
    """The number of calls as the page shows it."""
    source = sample.estimate(function)["source"]
    if source == "sample" and not function["calls"]:
        return "-"
    return ("~" if source == "burst" else "") + f"{function['calls']:,}"


class Formats(test_speedscope.Reader, test_pprof.Reader, test_callgrind.Reader,
              test_firefox.Reader, test_csv.Reader, test_sqlite.Reader, test_formats.Flamegraph,
              test_page.Reader):
    WEIGHTS = WEIGHTS[:1]

    def test_json(self):
        """Compared with which all this is worth something."""
        harness.TestCase.check(harness.TestCase(), self.recording.document)
        self.assertGreater(self.recording.document["accounting"]["entered"], 100)

    def test_speedscope(self):
        for weight, figure, unit in self.WEIGHTS:
            self.check_speedscope(weight, figure, unit)

    def test_folded_in_speedscope(self):
        """Integers, whatever the weight; with a root frame for each thread."""
        for weight, figure, _ in self.WEIGHTS:
            path, document = self.write("folded", "x.folded", "-w", weight, "--thread-frames")
            saved, = self.speedscope_weights(self.open_in_speedscope(path)).values()
            expected = {}
            for thread, sums in self.weights(document, figure, folded_name).items():
                for path, value in sums.items():
                    number_ = 0
                    for name in (thread, *self.paths.names(path)):
                        number_ = self.paths.number(number_, name)
                    expected[number_] = value
            self.assert_same({"": saved}, {"": expected})

    def test_folded_in_flamegraph(self):
        """Frames are as wide as what is below them. They are compared by name: as lines are sorted
        as texts, a longer name's frame may stand between the halves of another."""
        for weight, figure, _ in self.WEIGHTS:
            path, document = self.write("folded", "x.folded", "-w", weight)
            with open(path, encoding="utf-8") as file:
                frames = self.flamegraph(file.read())
            widths, names = {}, {}
            for thread in document["threads"]:
                for node, parent, _ in harness.walk(thread["calls"]):
                    function = folded_name(document["functions"][node["function"]])
                    names[node["id"]] = (*names[parent["id"]], function) if parent else \
                        (thread["comm"], function)
                    for depth in range(len(names[node["id"]]) + 1):
                        path = names[node["id"]][:depth]
                        widths[path] = widths.get(path, 0) + node[figure]
            expected = {}
            for path, width in widths.items():
                if width:
                    name = path[-1].translate(self.NO_ANGLES) if path else "all"
                    expected[name] = expected.get(name, 0) + width
            self.assertEqual({name: sum(samples) for name, samples in frames.items()}, expected)

    def test_pprof(self):
        self.check_pprof()

    def test_callgrind_functions(self):
        self.check_callgrind_functions()

    def test_callgrind_calls(self):
        self.check_callgrind_calls()

    def test_firefox(self):
        """Compares Firefox's own sums of functions; and of paths, to the nanosecond."""
        path, written, document = self.load_firefox()
        self.check_firefox_categories(written, document)
        self.check_firefox_functions(path, document, "self_ns", 1e6)
        for weight, figure, _ in self.WEIGHTS:
            self.check_firefox_paths(weight, figure)

    def test_csv(self):
        self.check_csv()

    def test_sqlite(self):
        self.check_sqlite()

    def page_rows(self, grid):
        """All rows of a table, which has those on the screen only: it is scrolled to its end."""
        return self.browser.run_async("""
            const [id, done] = arguments, grid = document.getElementById(id), seen = new Map();
            const look = () => {
                for (const row of grid.querySelectorAll(".rows .row:not([hidden])"))
                    seen.set(Number(row.ariaRowIndex), {
                        level: Number(row.getAttribute("aria-level")),
                        name: row.querySelector(".name").textContent,
                        cells: [...row.children].map((cell) => [cell.textContent, cell.title]),
                    });
                if (grid.scrollTop + grid.clientHeight >= grid.scrollHeight)
                    return done([...seen.keys()].sort((a, b) => a - b).map((k) => seen.get(k)));
                grid.scrollTop += grid.clientHeight - 48;
                // The page hears of it with the next picture.
                requestAnimationFrame(() => requestAnimationFrame(look));
            };

            grid.scrollTop = 0;
            requestAnimationFrame(look)""", grid)

    def test_page(self):
        """Compares the page's tables."""
        path, document = self.write("html", "x.html")
        self.check_data(self.data_of(path), document)
        # A high window shows many rows of a long table at once.
        self.browser.open(path, height=6000)
        self.check_function_table(document)
        self.check_tree_table(document)
        self.assertEqual(self.browser.logs(), [], "the page has complained")

    def check_function_table(self, document):
        """Shares are of CPU time where samples tell it, else of wall time."""
        self.show("functions")
        sampled = any(f.get("source", "exact") != "exact" for f in document["functions"])
        share = "cpu_self_ns" if sampled else "self_ns"
        whole = sum(f[share] for f in document["functions"])
        # Behind an estimate stands its error.
        rows = [[row["name"], row["cells"][1][0], row["cells"][2][0],
                 *(cell[1].partition(" \u00b1 ")[0] for cell in row["cells"][3:10])]
                for row in self.page_rows("function-grid")]
        expected = [[frame_name(f), percent(f[share], whole), calls_text(f),
                     *(exact(f[key]) for key in ("total_ns", "self_ns", "cpu_self_ns")),
                     *(exact(f[key]) if f["histogram"] else ""
                       for key in ("p50_ns", "p90_ns", "p99_ns")),
                     exact(f["max_ns"]) if f["max_ns"] else ""]
                    for f in document["functions"]]
        self.assertEqual(sorted(rows), sorted(expected))

    def check_tree_table(self, document):
        """Each path, below its callers."""
        self.show("tree")
        if len(document["threads"]) > 1:
            self.browser.click("#scope option[value=apart]")
        self.open_all_rows()
        seen, names = [], []
        for row in self.page_rows("tree-grid"):
            names[row["level"] - 1:] = [row["name"]]
            if row["level"] > 1:
                seen.append((*names, number(row["cells"][1][0].strip("-~") or "0"),
                             *(number(cell[1].partition(" \u00b1 ")[0])
                               for cell in row["cells"][2:7])))
        expected = []
        for thread in document["threads"]:
            names = [f"{thread['comm']}-{thread['pid']}/{thread['tid']}"]
            for node, _, depth in harness.walk(thread["calls"]):
                names[depth:] = [frame_name(document["functions"][node["function"]])]
                expected.append((*names, *(node[key] for key in (
                    "calls", "total_ns", "self_ns", "cpu_ns", "cpu_self_ns", "off_ns"))))
        key = lambda row: tuple(map(str, row))
        self.assertEqual(sorted(seen, key=key), sorted(expected, key=key))


class Python(Formats, recordings.TestCase):
    NAME = "python3"


class Sqlite(Formats, recordings.TestCase):
    NAME = "sqlite3"


class Threads(Formats, recordings.TestCase):
    NAME = "xz"
    WEIGHTS = WEIGHTS  # all of them: this is the smallest, and its threads wait for one another

    def test_there_are_threads(self):
        self.assertGreater(len(self.recording.document["threads"]), 2)


class Samples(Formats, recordings.TestCase):
    """Exact figures and estimates."""
    NAME = "sampled"
    OPTIONS = ("--sample-rate", "997")

    def test_there_are_both(self):
        sources = [f["source"] for f in self.recording.document["functions"]]
        self.assertEqual(set(sources), {"exact", "sample"})


class Cxx(Formats, recordings.TestCase):
    NAME = "qpdf"

    def test_there_was_an_exception(self):
        self.assertGreater(self.recording.document["accounting"]["unwound"], 0)


class Sources(Formats, recordings.TestCase):
    """A program with debug information, and libraries without."""
    NAME = "methods"

    def places(self):
        """{name: (file, line)} of the functions that have them."""
        return {f["name"]: (f["file"], f["line"]) for f in self.recording.document["functions"]
                if f["file"]}

    def test_places(self):
        """The source has the function's name at the place that a format gives."""
        places = self.places()
        self.assertLessEqual({"main", "session", "Queue::submit"},
                             {re.sub(r"\(.*| .*", "", name) for name in places})
        for name, (path, line) in places.items():
            with open(path, encoding="utf-8") as file:
                text = file.read().splitlines()[line - 1]
            short = re.sub(r"\(anonymous namespace\)::", "", name).partition("(")[0]
            self.assertIn(short, text, f"{path}:{line}")

    def test_places_in_speedscope(self):
        path, _ = self.write("speedscope", "x.speedscope.json")
        with open(path, encoding="utf-8") as file:
            frames = json.load(file)["shared"]["frames"]
        self.assertEqual({f["name"]: (f["file"], f["line"]) for f in frames if "line" in f},
                         self.places())

    def test_places_in_firefox(self):
        path, _ = self.write("firefox", "x.firefox.json")
        with open(path, encoding="utf-8") as file:
            shared = json.load(file)["shared"]
        texts, functions, files = shared["stringArray"], shared["funcTable"], shared["sources"]
        self.assertEqual({texts[name]: (texts[files["filename"][source]], line)
                          for name, source, line in zip(functions["name"], functions["source"],
                                                        functions["lineNumber"])
                          if source is not None}, self.places())

    def test_places_in_text(self):
        """In trees and tables, if all is to be shown."""
        for format_ in "tree", "flat":
            done = subprocess.run([harness.PROFTRACE, "report", "-v", "-f", format_,
                                   self.recording.path], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, check=True)
            for name, (file, line) in self.places().items():
                self.assertRegex(done.stdout.decode(),
                                 rf"(?m){re.escape(name)}(  .*)?  {re.escape(file)}:{line}$")
            path, _ = self.write(format_, "x.txt")
            with open(path, encoding="utf-8") as file:
                self.assertNotIn("methods.cpp", file.read())

    def test_places_in_the_page(self):
        path, _ = self.write("html", "x.html")
        self.browser.open(path)
        self.show("functions")
        shown = {row["name"]: row["cells"][0][1].split("\n")[-1]
                 for row in test_page.Reader.rows(self, "function-grid")}
        for name, (file, line) in self.places().items():
            self.assertEqual(shown[name], f"{file}:{line}")


if __name__ == "__main__":
    harness.main()
