# SPDX-License-Identifier: GPL-2.0-or-later
"""How often lines ran (--lines), compared with what programs count themselves and with gcov; under
each way to choose a target, in files that come later, over pauses, in intervals, in recordings."""

import collections
import json
import os
import re
import signal
import subprocess

import harness
from harness import program

SOURCES = os.path.join(harness.ROOT, "tests", "programs")
GCOV_FLAGS = ("-g", "-w")

def lines_of(document, name):
    """{line: hits} of the files of that name."""
    hits = collections.Counter()
    for line in document["lines"]:
        if os.path.basename(line["file"]) == name:
            hits[line["line"]] += line["hits"]
    return hits


class Lines(harness.TestCase):
    def lines(self, document, whole=True):
        """The document's lines by name of the file and number, after some checks."""
        names = {function["id"] for function in document["functions"]}
        found = {}
        for line in document["lines"]:
            key = (line["file"], line["line"])
            self.assertNotIn(key, found, "a line is there twice")
            found[key] = line["hits"]
            for figure in ("hits", "ns"):
                parts = line["functions"]
                if figure == "hits":  # lines that are of several functions
                    parts = [f for f in parts if "aside" not in f] or parts
                self.assertEqual(line[figure], sum(f[figure] for f in parts), line)
            for function in line["functions"]:
                # An interval may have a call's line without the call, which came a moment later.
                if whole and function["hits"]:
                    self.assertIn(function["function"], names)
        return found

    def straight_hits(self, document, name):
        """The hits of those lines of a function that run in each call; it has no loops."""
        function = self.function(document, name)
        hits = {line["line"]: part["hits"] for line in document["lines"]
                for part in line["functions"]
                if part["function"] == function["id"] and not part["inlined"]}
        return max(hits.values())


class Gcov(Lines):
    def build(self, compiler, optimize, source):
        """The program without counters, and where the same one is with them."""
        path, plain = os.path.join(SOURCES, source), self.path("plain")
        covered = self.path("covered")
        os.mkdir(covered)
        for output, flags in ((plain, ()), (os.path.join(covered, "prog"),
                                            ("--coverage", "-fprofile-abs-path"))):
            subprocess.run([compiler, optimize, *GCOV_FLAGS, *flags, "-o", output, path, "-lm"],
                           cwd=covered, check=True, timeout=harness.TIMEOUT)
        return plain, covered

    def gcov(self, covered, args):
        subprocess.run([os.path.join(covered, "prog"), *args], cwd=covered, check=True,
                       stdout=subprocess.DEVNULL, timeout=harness.TIMEOUT)
        [data] = [name for name in os.listdir(covered) if name.endswith(".gcda")]
        done = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=covered, check=True,
                              stdout=subprocess.PIPE, timeout=harness.TIMEOUT)
        counts = collections.Counter()
        for file in json.loads(done.stdout)["files"]:
            for line in file["lines"]:
                counts[os.path.realpath(os.path.join(covered, file["file"])),
                       line["line_number"]] += line["count"]
        return counts

    def compare(self, compiler, optimize, source, args):
        """Compares two builds: returns (lines that both count and are alike, {line: (ours, gcov's)}
        of the other lines, and how many lines gcov counts). Lines that are marked as not counted
        are not compared."""
        plain, covered = self.build(compiler, optimize, source)
        document, _ = self.profile_command(plain, *args, options=("--lines", "plain:*"))
        expected = self.gcov(covered, args)
        ours = collections.Counter()
        for (file, line), hits in self.lines(document).items():
            ours[os.path.realpath(file), line] += hits
        both = ours.keys() & expected.keys()
        different = {key: (ours[key], expected[key]) for key in both if ours[key] != expected[key]}
        self.assertEqual(document["accounting"]["line_misses"], 0)
        approximate = {line.get("approximate", False) for line in document["lines"]}
        self.assertEqual(approximate, {optimize != "-O0"})
        return len(both) - len(different), different, len(expected)

    def check_equal(self, *args, explained, at_least=0.9):
        """`explained`: {(name of the file, line): why gcov has another figure}"""
        equal, different, counted = self.compare(*args)
        odd = {(os.path.basename(file), line): counts for (file, line), counts in different.items()}
        self.assertEqual(odd.keys(), explained.keys(), odd)
        self.assertGreater(equal, at_least * counted)

    FLOW = {("lines_flow.c", 17): "each of a statement's calls counts"}
    STB = {("stb_image.h", 4144): "a loop behind the function's first line counts for that",
           ("stb_image.h", 5049): "a declaration without code has that of the line behind it"}

    def test_flow(self):
        self.check_equal("gcc", "-O0", "lines_flow.c", ("3",), explained=self.FLOW)

    def test_flow_often(self):
        self.check_equal("gcc", "-O0", "lines_flow.c", ("40",), explained=self.FLOW)

    def test_third_party(self):
        self.check_equal("gcc", "-O0", "lines_stb.c", ("8",), explained=self.STB)

    def test_counters(self):
        """The counters of gcov's builds are code, too, and seem to be of lines beside them."""
        self.build("gcc", "-O0", "lines_flow.c")
        document, _ = self.profile_command(self.path("covered/prog"), "5",
                                           options=("--lines", "prog:*"))
        self.assertEqual({line.get("approximate") for line in document["lines"]}, {True})

    def test_cxx(self):
        """The standard library's code in it is compared, too."""
        unseen = "to return an object that is in its place already is no run"
        over = "a condition over several lines: here it counts whenever control comes back to it"
        self.check_equal("g++", "-O0", "lines_words.cpp", ("10",), explained={
            ("lines_words.cpp", 54): unseen,
            ("lines_words.cpp", 89): unseen,
            ("basic_string.tcc", 622): unseen,
            ("lines_words.cpp", 64): "each of a statement's calls counts",
            ("lines_words.cpp", 75): "a handler counts for the choice between handlers, too",
            ("stl_tree.h", 2219): over,
            ("stl_tree.h", 2380): over})

    def test_third_party_cxx(self):
        result = "to return a result behind the ends of objects is one more run"
        self.check_equal("g++", "-O0", "lines_rapidjson.cpp", (), explained={
            ("lines_rapidjson.cpp", 27): result,
            ("document.h", 1260): result,
            ("document.h", 1330): result,
            ("document.h", 2224): result,
            ("reader.h", 840): "a loop behind the function's first line counts for that",
            ("reader.h", 1388): "where several ways end objects, some count twice"})

    def test_optimized(self):
        """Optimized code does not do line by line what gcov's does, which counts what the source
        says: loops are turned, statements moved, merged and left out. Most are where they were; all
        are marked as approximate."""
        equal, different, _ = self.compare("gcc", "-O2", "lines_stb.c", ("8",))
        self.assertGreater(equal, 1000)
        self.assertGreater(equal, 4 * len(different))


class Own(Lines):
    """lines_own counts its lines itself."""

    OPTIONS = ("--lines", "lines_own.cpp:1-999")

    def expected(self, done):
        found = re.findall(r"^LINE (\d+) (\d+)$", done.stdout, re.M)
        self.assertGreater(len(found), 30, str(done))
        return {int(line): int(hits) for line, hits in found}

    def check_own(self, documents, done, whole=True):
        ours, expected = collections.Counter(), self.expected(done)
        for document in documents:
            self.lines(document, whole)
            ours += lines_of(document, "lines_own.cpp")
        if harness.has("stacks told apart"):
            self.assertEqual({line: ours[line] for line in expected}, expected)
        else:  # lines of coroutines may be missed, which is said
            misses = {line: expected[line] - ours[line] for line in expected}
            self.assertGreaterEqual(min(misses.values()), 0, misses)
            self.assertLessEqual(sum(misses.values()), sum(
                document["accounting"]["line_misses"] for document in documents), misses)
        with open(os.path.join(SOURCES, "lines_own.cpp"), encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                if "never */" in text:
                    self.assertEqual(ours[number], 0, text)
    def test_command(self):
        for name in ("lines_own-O0", "lines_own-O2"):
            document, done = self.profile_command(name, "9", options=self.OPTIONS)
            self.check_own([document], done)
            if harness.has("stacks told apart"):
                self.assertEqual(document["accounting"]["line_misses"], 0)

    def test_pid(self):
        document, done = self.profile_pid("lines_own-O2", "7", options=self.OPTIONS)
        self.check_own([document], done)

    def test_exec(self):
        document, done = self.profile_exec("lines_own-O2", "7", options=self.OPTIONS)
        self.check_own([document], done)

    def test_tiers_and_exits(self):
        for options in (("--tier", "uprobe_multi"), ("--exits", "sites"), ("--exits", "none")):
            document, done = self.profile_command("lines_own-O2", "5",
                                                  options=(*options, *self.OPTIONS))
            self.check_own([document], done)

    def test_callees_that_are_not_traced(self):
        """The lines of one function only."""
        for name in ("recurse", "interrupted", "resuming", "catching"):
            document, done = self.profile_command("lines_own-O0", "5", options=("--lines", name))
            ours, expected = lines_of(document, "lines_own.cpp"), self.expected(done)
            compared = ours.keys() & expected.keys()
            self.assertGreater(len(compared), 1)
            self.assertEqual({line: ours[line] for line in compared},
                             {line: expected[line] for line in compared}, name)

    def test_intervals(self):
        target = self.target("lines_own-O2", "200")
        tracer = self.proftrace("-f", "json", "-i", "0.02", *self.OPTIONS, "-p",
                                target.pid).wait_tracing()
        target.go()
        done, result = target.finish(), tracer.finish()
        documents = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertGreater(len(documents), 1)
        self.check_own(documents, done, whole=False)

    def test_recording(self):
        path = self.path("r")
        done = self.process(harness.PROFTRACE, "record", *harness.UNLIMITED, *self.OPTIONS, "-o",
                            path, "--", program("lines_own-O2"), "6").finish()
        self.assertEqual(done.status, 0, str(done))
        report = self.process(harness.PROFTRACE, "report", "-f", "json", path).finish()
        document = self.document(report)
        self.check_own([document], done)
        # Where calls of a function are left out, its lines are not known.
        report = self.process(harness.PROFTRACE, "report", "-f", "json", "-N", "recurse",
                              path).finish()
        fewer = lines_of(json.loads(report.stdout), "lines_own.cpp")
        self.assertLess(len(fewer), len(lines_of(document, "lines_own.cpp")))

    def test_appended(self):
        """Each run has its own lines; one without any may come first."""
        path = self.path("r")
        for options, append in ((("-F", "recurse"), ()), (self.OPTIONS, ("--append",))):
            done = self.process(harness.PROFTRACE, "record", *harness.UNLIMITED, *options, *append,
                                "-o", path, "--", program("lines_own-O2"), "4").finish()
            self.assertEqual(done.status, 0, str(done))
        report = self.process(harness.PROFTRACE, "report", "-f", "json", path).finish()
        self.check_own([self.document(report)], done)


class Around(Lines):
    def test_file_that_is_loaded_later(self):
        document, done = self.profile_command("shapes-dlopen", "50",
                                              options=("--lines", "libshapes.so:*"))
        functions = [name for name in done.counts if name.startswith("shape_")]
        self.assertTrue(functions)
        for name in functions:
            self.assertEqual(self.straight_hits(document, name), done.counts[name], name)
        self.assertEqual(document["accounting"]["line_misses"], 0)

    def test_followed_children(self):
        for options in ((), ("--follow",)):
            document, done = self.profile_command("forks", "3", "10",
                                                  options=(*options, "--lines", "work"))
            calls = done.counts["work"] + done.numbers("CHILDREN")["work"]
            self.assertEqual(self.straight_hits(document, "work"), calls)

    def test_children_that_are_not_followed(self):
        document, done = self.profile_command("forks", "3", "10",
                                              options=("--no-children", "--lines", "work"))
        self.assertEqual(self.straight_hits(document, "work"), done.counts["work"])
        self.assertEqual(document["accounting"]["line_misses"], 0)

    def test_pauses(self):
        """Probes are taken out and put in again: none is hit twice, or by calls of the pause."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "--lines", "outer", "--lines", "inner", "-p",
                                target.pid).wait_tracing()
        target.go()
        target.step("3")
        for turn in range(1, 4):
            tracer.signal(signal.SIGUSR1)
            tracer.stderr.wait_lines("proftrace: switched off", turn)
            target.step("100")
            if turn > 1:
                tracer.stderr.wait_lines("proftrace: the probes are taken out", turn - 1)
            tracer.signal(signal.SIGUSR1)
            tracer.stderr.wait_lines("proftrace: switched on", turn)
            target.step("5")
        document = self.document(tracer.interrupt())
        for name in ("outer", "inner"):
            self.assertEqual(self.count(document, name), 18)
            self.assertEqual(self.straight_hits(document, name), 18)
        hits = [line["hits"] for line in document["lines"] if line["hits"]]
        self.assertEqual(set(hits), {18}, document["lines"])

    def test_paused_from_the_start(self):
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "--paused", "--lines", "outer", "-p",
                                target.pid).wait_tracing()
        target.go()
        target.step("7")
        tracer.signal(signal.SIGUSR1)
        tracer.stderr.wait_lines("proftrace: switched on")
        target.step("4")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.straight_hits(document, "outer"), 4)

    def test_calls_that_had_begun(self):
        """Lines of calls that had begun before have no call to belong to; lines of later calls
        do."""
        target = self.target("steps")
        target.go()
        target.step("hold")
        tracer = self.proftrace("-f", "json", "--lines", "inner", "-p", target.pid).wait_tracing()
        target.step("0")
        target.step("6")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.straight_hits(document, "inner"), 6)
        self.assertGreater(document["accounting"]["line_misses"], 0)

    def test_libraries_have_tables_and_the_program_has_none(self):
        done = self.run_proftrace("--lines", "nowhere.c:1", "-l", "--", program("shapes-linked"))
        self.assert_one_line(done, 1, "shapes-linked has no line tables")

    def test_without_lines_there_are_none(self):
        document, _ = self.profile_command("lines_own-O2", "2", options=("-F", "recurse"))
        self.assertNotIn("lines", document)
        self.assertNotIn("line_misses", document["accounting"])


@harness.alone("compares times measured by two")
class Time(Lines):
    """Bounds are wide: the machine may have other things to do."""

    def test_time_from_line_to_line(self):
        document, done = self.profile_command("lines_time", "20", options=("--lines", "timed"))
        took = {name: int(ns) for name, ns in re.findall(r"^TIME (\w+) (\d+)$", done.stdout, re.M)}
        with open(os.path.join(SOURCES, "lines_time.c"), encoding="utf-8") as file:
            texts = file.read().splitlines()
        lines = {texts[line["line"] - 1].strip(): line for line in document["lines"]}
        for text, name in (("doze(5);", "doze"), ("slow();", "slow")):
            self.assertEqual(lines[text]["hits"], 20)
            self.assertGreater(lines[text]["ns"], took[name] / 2)
            self.assertLess(lines[text]["ns"], took[name] * 2)
        self.assertGreater(lines["doze(5);"]["ns"], 20 * 5_000_000)
        total = self.function(document, "timed")["total_ns"]
        self.assertGreater(sum(line["ns"] for line in document["lines"]), total * 0.9)
        self.assertLess(sum(line["ns"] for line in document["lines"]), total * 1.1)


if __name__ == "__main__":
    harness.main()
