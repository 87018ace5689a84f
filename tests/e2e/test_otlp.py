# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings sent by OTLP: to a receiver of our own, see otlp.py."""

import base64
import collections
import json
import os
import re
import subprocess

import harness
import otlp
from harness import PROFTRACE, UNLIMITED, program
from otlp import METRICS, PROFILES, TRACES

FUNCTIONS = "-F", "handle", "-F", "submit", "-F", "run", "-F", "step"
VALUES = ("-A", "handle(arg1:s, arg2, arg3+16:x, arg3+24:x)", "-A", "submit(arg1)",
          "-A", "run(arg1)")
SESSIONS = "--session", "handle", "--link", "submit(arg1) -> run(arg1)"


def field(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload


def partial(rejected, text):
    return field(1, bytes([8, rejected]) + field(2, text.encode()))


class Otlp(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.receiver = otlp.Receiver()
        self.addCleanup(self.receiver.end)

    def run_one(self, *args):
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()

    def record(self, *options, command):
        path = self.path("data")
        done = self.run_one("record", "-q", *UNLIMITED, "--no-samples", "-o", path, *options, "--",
                            *command)
        self.assertEqual(done.status, 0, str(done))
        return path, done.stdout

    def record_recursion(self):
        return self.record(command=(program("recursion"), 5, 2))[0]

    def record_tagged(self):
        """Returns the recording, and {number: traceparent}."""
        path, said = self.record("--calls", *FUNCTIONS, *VALUES, command=(program("tagged"), 6))
        return path, {int(n): text for n, text in re.findall(r"^REQUEST (\d+) (.*)$", said, re.M)}

    def send(self, path, *options, status=0, scheme="otlp+http", prefix=""):
        done = self.run_one("send", "--to",
                            f"{scheme}://127.0.0.1:{self.receiver.server_port}{prefix}",
                            "--service", "api", "--service-version", "1.3", "--host", "h1",
                            *options, path)
        self.assertEqual(done.status, status, str(done))
        return done

    def report(self, path, *options):
        done = self.run_one("report", "-q", "-f", "json", *options, path)
        self.assertEqual(done.status, 0, str(done))
        return json.loads(done.stdout)

    def paths(self):
        return [r.path for r in self.receiver.requests]


class Profiles(Otlp):
    FIGURES = {("calls", "count"): "calls", ("wall", "nanoseconds"): "self_ns",
               ("cpu", "nanoseconds"): "cpu_self_ns", ("off_cpu", "nanoseconds"): "off_self_ns"}

    def check(self, document, body):
        names = {f["id"]: f["name"] for f in document["functions"]}
        expected = {kind: collections.Counter() for kind in self.FIGURES}
        for thread in document["threads"]:
            rest = [(node, ()) for node in thread["calls"]]
            while rest:
                node, above = rest.pop()
                stack = (names[node["function"]], *above)
                rest += [(child, stack) for child in node["children"]]
                for kind, figure in self.FIGURES.items():
                    if node[figure]:
                        expected[kind][stack, thread["tid"]] += node[figure]
        found = otlp.profiles(self, body)
        for kind, samples in found.items():
            sums = collections.Counter()
            for s in samples:
                sums[s.stack, s.thread] += s.value
            self.assertEqual(sums, expected[kind])
        self.assertEqual(set(found), {kind for kind, sums in expected.items() if sums})

    def test_tree(self):
        path = self.record_recursion()
        self.send(path)
        self.assertEqual(self.paths(), [PROFILES, METRICS])
        self.check(self.report(path), self.receiver.bodies(PROFILES)[0])

    def test_threads(self):
        path, _ = self.record("--calls", *FUNCTIONS, command=(program("tagged"), 3))
        self.send(path)
        self.check(self.report(path), self.receiver.bodies(PROFILES)[0])

    def test_deep_paths(self):
        """The middle of stacks that are deeper than 2048 is left out; no time is."""
        path, _ = self.record(command=(program("recursion"), 2080, 1))
        self.send(path)
        document = self.report(path)
        found = otlp.profiles(self, self.receiver.bodies(PROFILES)[0])
        calls = found["calls", "count"]
        self.assertEqual(sum(s.value for s in calls), document["accounting"]["entered"])
        self.assertEqual(max(len(s.stack) for s in calls), 2049)
        deep = [s for s in calls if len(s.stack) == 2049]
        self.assertEqual({s.stack[2048 - 64] for s in deep}, {"[frames left out]"})


class Traces(Otlp):
    def sent(self, path, *options):
        self.send(path, *SESSIONS, *options)
        self.assertEqual(self.paths()[-3:], [PROFILES, TRACES, METRICS])
        resource, spans = otlp.spans(self.receiver.bodies(TRACES)[-1])
        self.assertEqual((resource["service.name"], resource["service.version"],
                          resource["host.name"]), ("api", "1.3", "h1"))
        self.assertEqual(len({s["spanId"] for s in spans}), len(spans))
        return spans

    def test_sessions(self):
        path, _ = self.record_tagged()
        spans = self.sent(path)
        sessions = self.report(path, *SESSIONS)["sessions"][0]
        sessions = {s["start_ns"]: s for s in sessions["slowest"] + sessions["sample"]}
        roots = [s for s in spans if "parentSpanId" not in s]
        self.assertEqual(len(roots), len(sessions))
        self.assertEqual(len({r["traceId"] for r in roots}), len(roots))
        first = min(int(r["startTimeUnixNano"]) for r in roots) - min(sessions)
        for root in roots:
            session = sessions[int(root["startTimeUnixNano"]) - first]
            attributes = otlp.values_of(root["attributes"])
            self.assertEqual(root["name"], "handle")
            self.assertEqual(int(root["endTimeUnixNano"]) - int(root["startTimeUnixNano"]),
                             session["duration_ns"])
            self.assertEqual(attributes["proftrace.queue_ns"], session["queue_ns"])
            below = [s for s in spans if s["traceId"] == root["traceId"] and s is not root]
            # Calls of a hundredth of the session or more are spans; the number of the others is an
            # attribute.
            self.assertEqual(attributes["proftrace.calls"],
                             1 + len(below) + attributes["proftrace.calls_left_out"])
            [run] = [s for s in below if s["name"] == "run"]
            [link] = run["links"]
            self.assertEqual(run["parentSpanId"], root["spanId"])
            self.assertEqual(link["traceId"], root["traceId"])
            # submit() may be too short to be a span: then its caller stands for it.
            submits = [s["spanId"] for s in below if s["name"] == "submit"]
            self.assertEqual(link["spanId"], (submits or [root["spanId"]])[0])
            self.assertEqual(otlp.values_of(link["attributes"]),
                             {"proftrace.queue_ns": session["queue_ns"]})

    def test_calls_around(self):
        """Each call has its caller for a parent, and lies within it."""
        path, _ = self.record_tagged()
        spans = {s["spanId"]: s for s in self.sent(path, "--min-time", "1ns")}
        left_out = 0
        for span in spans.values():
            if "parentSpanId" not in span:
                left_out += otlp.values_of(span["attributes"])["proftrace.calls_left_out"]
                continue
            around = spans[span["parentSpanId"]]
            self.assertLessEqual(int(around["startTimeUnixNano"]), int(span["startTimeUnixNano"]))
            self.assertGreaterEqual(int(around["endTimeUnixNano"]), int(span["endTimeUnixNano"]))
            if span["name"] == "step":
                self.assertIn(around["name"], ("handle", "run"))
        self.assertEqual(left_out, 0)
        self.assertEqual(len(spans), 6 * (1 + 20 + 1 + 2))

    def test_left_out(self):
        path, _ = self.record_tagged()
        spans = self.sent(path, "--min-time", "1s")
        # Calls that continue a session in another thread are spans even so.
        self.assertEqual({s["name"] for s in spans}, {"handle", "run"})

    def test_a_trace_of_the_application(self):
        path, said = self.record_tagged()
        for option in ("--session-id", "arg1:s"), ("--trace-id", "arg3+16"):
            roots = [s for s in self.sent(path, *option) if s["name"] == "handle"]
            traces = {otlp.span_id(s["traceId"]) for s in roots}
            self.assertEqual(traces, {text.split("-")[1] for text in said.values()})
            for root in roots:
                if option[0] == "--trace-id":
                    self.assertNotIn("parentSpanId", root)
                    continue
                _, trace, parent, _ = otlp.values_of(root["attributes"])[
                    "proftrace.session.id"].split("-")
                self.assertEqual(otlp.span_id(root["traceId"]), trace)
                self.assertEqual(otlp.span_id(root["parentSpanId"]), parent)

    def test_a_thread_context(self):
        """A session is a part of the trace, below the span, that the program published."""
        path = self.path("recording")
        done = self.process(PROFTRACE, "record", "-q", "--calls", *UNLIMITED, "-F", "handle", "-A",
                            "handle(otel_thread_ctx_v1)", "-o", path, "--",
                            program("thread_context"), stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        said = re.findall(r"^REQUEST \d+ (\w{32}) (\w{16})$", done.stdout, re.M)
        roots = [s for s in self.sent(path, "--slowest", "1000") if s["name"] == "handle"]
        spans = [(otlp.span_id(s["traceId"]), otlp.span_id(s["parentSpanId"])) for s in roots
                 if "parentSpanId" in s]
        self.assertEqual(sorted(spans), sorted(said))

    def test_an_id_that_is_no_trace(self):
        path, said = self.record_tagged()
        roots = [s for s in self.sent(path, "--session-id", "arg2") if s["name"] == "handle"]
        self.assertEqual({otlp.values_of(s["attributes"])["proftrace.session.id"] for s in roots},
                         {str(number) for number in said})
        self.assertEqual(len({s["traceId"] for s in roots}), len(said))

    def test_sent_twice(self):
        path, _ = self.record_tagged()
        self.sent(path)
        self.sent(path)
        for signal in PROFILES, TRACES, METRICS:
            first, second = self.receiver.bodies(signal)
            self.assertEqual(first, second)

    def test_nothing_to_look_for(self):
        self.assert_one_line(self.send(self.record_recursion(), "--session", "f", status=1,
                                       scheme="parca+http"), 1, "no place for sessions")


class Metrics(Otlp):
    def test_figures(self):
        path = self.record_recursion()
        self.send(path)
        document = self.report(path)
        found = otlp.metrics(self.receiver.bodies(METRICS)[0])
        functions = [f for f in document["functions"] if f["calls"]]

        def points(name):
            kind = "histogram" if "histogram" in found[name] else "sum"
            self.assertEqual(found[name][kind]["aggregationTemporality"],
                             "AGGREGATION_TEMPORALITY_DELTA")
            return {otlp.values_of(p["attributes"])["code.function.name"]: p
                    for p in found[name][kind]["dataPoints"]}

        self.assertEqual({name: int(p["asInt"])
                          for name, p in points("proftrace.function.calls").items()},
                         {f["name"]: f["calls"] for f in functions})
        for name, figure in (("time", "total_ns"), ("self_time", "self_ns"),
                             ("cpu_self_time", "cpu_self_ns")):
            got = points(f"proftrace.function.{name}")
            for f in functions:
                self.assertAlmostEqual(got[f["name"]]["asDouble"], f[figure] / 1e9, 9)
        for name, p in points("proftrace.function.duration").items():
            [f] = [f for f in functions if f["name"] == name]
            counts = list(map(int, p["bucketCounts"]))
            self.assertEqual(len(counts), len(p["explicitBounds"]) + 1)
            self.assertEqual(sum(counts), int(p["count"]))
            self.assertEqual(sum(counts), sum(row[2] for row in f["histogram"]))
            for i, bound in enumerate(p["explicitBounds"]):
                self.assertEqual(sum(counts[:i + 1]), sum(
                    n for _, high, n in f["histogram"] if high <= round(bound * 1e9)))
            self.assertEqual(int(p["timeUnixNano"]) - int(p["startTimeUnixNano"]),
                             document["duration_ns"])


class Answers(Otlp):
    def setUp(self):
        super().setUp()
        self.data = self.record_recursion()

    def answer(self, path, *answers):
        self.receiver.answers[path] += answers

    def test_busy(self):
        self.answer(PROFILES, (503, {"Retry-After": "1"}, b""))
        self.answer(METRICS, (429, {}, b""), (503, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, b""))
        self.send(self.data)
        # A recording that has been taken is not sent again.
        self.assertEqual(self.paths(), [PROFILES, PROFILES, METRICS, METRICS, METRICS])

    def test_too_busy(self):
        self.answer(PROFILES, (503, {"Retry-After": "3600"}, field(2, b"come back")))
        self.assert_one_line(self.send(self.data, status=1), 1, "status 503: come back")
        self.assertEqual(self.paths(), [PROFILES])

    def test_a_part_is_rejected(self):
        self.answer(PROFILES, (200, {}, partial(1, "too old")))
        self.answer(METRICS, (200, {}, field(1, field(2, b"names are long"))))
        done = self.send(self.data)
        self.assertRegex(done.stderr, r"1 of \d profiles rejected: too old; of data points the "
                                      "receiver says: names are long")
        self.assertEqual(self.paths(), [PROFILES, METRICS])

    def test_all_is_rejected(self):
        self.answer(PROFILES, (200, {}, partial(4, "no\x1bthing")))
        done = self.send(self.data, status=1)
        self.assert_one_line(done, 1, "all", "profiles rejected: no\\x1bthing")
        self.assertEqual(self.paths(), [PROFILES, METRICS])

    def test_bad_data(self):
        self.answer(PROFILES, (400, {}, field(2, b"that is wrong")))
        self.assert_one_line(self.send(self.data, status=1), 1, "status 400: that is wrong")

    def test_no_profiles(self):
        self.answer(PROFILES, (404, {}, b"404 page not found"))
        done = self.send(self.data)
        self.assertIn("does not take profiles (/v1development/profiles)", done.stderr)
        self.assertEqual(self.paths(), [PROFILES, METRICS])

    def test_nothing_is_taken(self):
        self.answer(PROFILES, (404, {}, b""))
        self.answer(METRICS, (404, {}, b""))
        self.assert_one_line(self.send(self.data, status=1), 1, "404")

    def test_no_receiver_of_otlp(self):
        for body in (b"<html>hello</html>", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x",
                     field(1, field(9, b"x")[:-1]), b"\x0a"):
            self.answer(PROFILES, (200, {}, body))
            self.assert_one_line(self.send(self.data, status=1), 1,
                                 "not as a receiver of OTLP does")

    def test_a_prefix(self):
        self.send(self.data, prefix="/otlp/")
        self.assertEqual(self.paths(), ["/otlp" + PROFILES, "/otlp" + METRICS])


if __name__ == "__main__":
    harness.main()
