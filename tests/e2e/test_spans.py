# SPDX-License-Identifier: GPL-2.0-or-later
"""Spans: regions that outlive the function that begins them. Held against the program's own counts
and clock."""

import json
import re
import subprocess

import harness
from harness import UNLIMITED, program

REGIONS = ("-F", "region:*")
SPANS = {"job", "task", "event", "jumped", "turn", "nap", "lost"}
LEVELS = 4  # of jobs, each with two in it


class Cases(harness.TestCase):
    def run_spans(self, *options):
        document, done = self.profile_command("spans", 5, options=options)
        self.assertEqual(document["accounting"]["lost"], 0)
        return document, done

    def verb(self, *words):
        return self.process(harness.PROFTRACE, *words, stdin=subprocess.DEVNULL).finish()

    def outermost(self, document):
        """[(name, node)] of the spans that lie in no other, all threads together."""
        return [(document["functions"][node["function"]]["name"], node)
                for thread in document["threads"] if thread.get("spans")
                for node in thread["calls"]]


class Plan(Cases):
    def test_which_they_are(self):
        """Only some regions are spans. Others keep their place on the stack, also where the
        function that ends them is called by the one that begins them, or exceptions leave the
        scope."""
        for name, spans in (("spans", SPANS), ("regions", set()), ("regions-plain", set()),
                            ("region_values", set()), ("region_throws", set())):
            with self.subTest(name):
                done = self.run_proftrace("-l", "-f", "json", *REGIONS, "--", program(name))
                self.assertEqual({f["name"] for f in json.loads(done.stdout)["functions"]
                                  if f["span"]}, spans)
        self.assertRegex(self.run_proftrace("-l", *REGIONS, program("spans")).stdout,
                         r"\bspan +spans\b")


class Recording(Cases):
    def test_beside_calls(self):
        """Each thread has its calls, and beside them its spans; those nest, whoever began them."""
        document, done = self.run_spans(*UNLIMITED, "--exits", "sites")
        self.assert_counts(document, done.counts, done)
        accounting = document["accounting"]
        self.assertEqual(accounting["open"], done.numbers("OPEN")["in all"])
        # begin_jumped() is left by longjmp.
        self.assertEqual(accounting["unwound"], done.counts["jumped"])
        kinds = {f["id"]: f["kind"] for f in document["functions"]}
        where = {True: set(), False: set()}
        for thread in document["threads"]:
            spans = thread.get("spans", False)
            where[spans].add((thread["pid"], thread["tid"]))
            self.assertEqual({kinds[n["function"]] for n, _, _ in harness.walk(thread["calls"])},
                             {"region" if spans else "function"})
        self.assertEqual(where[True], where[False])
        levels = {}
        for name, outermost in self.outermost(document):
            for node, _, level in harness.walk([outermost] if name == "job" else []):
                levels[level] = levels.get(level, 0) + node["calls"]
        self.assertEqual(levels, {level: done.counts["job"] * 2 ** (level - 1) // (2 ** LEVELS - 1)
                                  for level in range(1, LEVELS + 1)})

    def test_times(self):
        """By the program's own clock; and naps are slept through."""
        document, done = self.run_spans(*REGIONS, "--raw", "--tier", "uprobe_multi")
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["unwound"], 0)
        found = re.findall(r"^TIMES (\S+) (\d+) (\d+)$", done.stdout + done.stderr, re.M)
        self.assertEqual({name for name, _, _ in found}, SPANS - {"lost"})
        for name, least, most in found:
            with self.subTest(name):
                self.assertLessEqual(int(least), self.function(document, name)["total_ns"])
                self.assertLessEqual(self.function(document, name)["total_ns"], int(most))
        naps = [node for name, node in self.outermost(document) if name == "nap"]
        self.assertTrue(naps)
        for nap in naps:
            self.assertGreater(nap["off_ns"], 0)

    def test_formats(self):
        """Formats without threads show spans as frames, or as tracks."""
        recording = self.path("recording")
        done = self.verb("record", "--calls", "-o", recording, *UNLIMITED, "--", program("spans"),
                         2)
        self.assertEqual(done.status, 0, done)
        for name, expected in (
                (("tree",), r"\nspans  pid \d+  4 threads, spans\n"),
                (("folded",), r"(?m)^spans of spans;job;job;job;job \d+$"),
                (("folded", "--thread-frames"), r"(?m)^spans of spans-\d+/\d+;task \d+$"),
                (("html",), r'"spans":true'),
                (("chrome",), r'"spans of spans-\d+/\d+"'),
                (("speedscope",), r'"spans of spans-\d+/\d+"'),
                (("firefox",), r'"spans of spans-\d+/\d+"')):
            with self.subTest(name):
                done = self.verb("report", "-f", *name, recording)
                self.assertEqual(done.status, 0, done)
                self.assertRegex(done.stdout, expected)


class Choosing(Cases):
    def test_values_and_conditions(self):
        """A begin that is passed over has an end that ends nothing else."""
        document, done = self.run_spans(*REGIONS, "-A", "region:job(arg1)", "--by", "arg1", "--if",
                                        "arg1 != 2")
        jobs = {f["name"]: f["calls"] for f in document["functions"] if "job" in f["name"]}
        outermost = done.counts["job"] // (2 ** LEVELS - 1)
        self.assertEqual(jobs, {f"job(arg1={level})": outermost * 2 ** (level - 1)
                                for level in (1, 3, 4)})
        self.assertEqual(document["accounting"]["unwound"], 0)

    def test_depth_and_sessions(self):
        document, done = self.run_spans(*REGIONS, "-D", "2", "--session", "region:job")
        self.assertEqual(self.count(document, "job"), done.counts["job"] * 3 // (2 ** LEVELS - 1))
        self.assertEqual(document["accounting"]["unwound"], 0)
        group, = document["sessions"]
        self.assertEqual((group["count"], group["open"]),
                         (done.counts["job"] // (2 ** LEVELS - 1), 0))

    def test_triggers(self):
        """Spans are recorded below calls of a trigger, as calls are. Below a span is nothing."""
        document, done = self.run_spans("--trigger", "jobs", *UNLIMITED)
        self.assertEqual(self.count(document, "job"), done.counts["job"])
        self.assertFalse({"task", "nap"} & self.calls(document).keys())
        done = self.run_proftrace("--trigger", "region:task", "--", program("spans"))
        self.assert_one_line(done, 1, "--trigger region:task", "span")


METHODS = """
class Work
  def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
  def fails(n) = n == 0 ? raise("x") : fails(n - 1)
  def after() = fib(3)
  def pauses() = (Fiber.yield; after)
  def between() = nil
  def turns
    fiber = Fiber.new { pauses }
    fiber.resume
    between
    fiber.resume
  end
end
calls = Hash.new(0)
trace = TracePoint.new(:call, :return) { |t| calls[t.method_id] += 1 if t.event == :call }
trace.enable
work = Work.new
work.fib(10)
3.times { begin; work.fails(5); rescue; end }
2.times { work.turns }
Thread.new { work.fib(8) }.join
trace.disable
calls.each { |name, count| puts "COUNT ruby:method(arg2=#{name}) #{count}" }
"""


class Real(Cases):
    def test_methods_of_ruby(self):
        """Recursive ones, such as are left by exceptions, in fibers and threads; counted by its
        own TracePoint."""
        document, done = self.profile_command(
            "/usr/bin/ruby", "--disable-gems", "-e", METHODS, options=(
                "--usdt", "ruby:method__*", "-F", "region:ruby:*", *UNLIMITED,
                "-A", "region:ruby:method(arg2:s)", "--by", "arg2"))
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["unwound"], 0)
        names = [re.sub(r".*=(.*)\)", r"\1", f["name"]) for f in document["functions"]]
        above = {}
        for thread in document["threads"]:
            self.assertTrue(thread["spans"])
            for node, parent, _ in harness.walk(thread["calls"]):
                above.setdefault(names[node["function"]], set()).add(
                    names[parent["function"]] if parent else None)
        self.assertEqual(above, {"fib": {None, "fib", "after"}, "fails": {None, "fails"},
                                 "turns": {None}, "between": {"turns"}, "pauses": {None},
                                 "after": {"pauses"}, "disable": {None}})
