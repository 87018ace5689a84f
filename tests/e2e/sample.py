# SPDX-License-Identifier: GPL-2.0-or-later
"""The made-up profile of tests/formats/sample.c, and what its JSON says of it, to compare with what
the consumers of a format make of it."""

import contextlib
import json
import os
import re
import socket
import shutil
import subprocess
import tempfile
import unittest

import harness
import schemas

SAMPLE = os.path.join(harness.BUILD, "sample")
CONSUMERS = os.path.join(harness.BUILD, "consumers")
SPEEDSCOPE = os.path.join(harness.ROOT, "tests", "formats", "speedscope.js")


def thread_name(thread):
    number = f"goroutine_{thread['goroutine']}" if "goroutine" in thread else thread["tid"]
    return f"{thread['comm']}-{thread['pid']}/{number}"


def plain(name):
    """A name on a line of text: controls become blanks."""
    return re.sub("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", " ", name)


def frame_name(function):
    """The name that most formats give a function; they need one."""
    return function["name"] or "[unknown]"


def estimate(figures):
    """Where those of a path or function come from, and their errors: without a word, all is exact."""
    return {"source": figures.get("source", "exact"), "calls_error": figures.get("calls_error", 0),
            "cpu_error_ns": figures.get("cpu_error_ns", 0)}


class Paths(dict):
    """Numbers for paths, which may be thousands of names long: a path is its caller's and a name."""

    def number(self, caller, name):
        return self.setdefault((caller, name), len(self) + 1)

    def names(self, number):
        callers = {path: key for key, path in self.items()}
        names = []
        while number:
            number, name = callers[number]
            names.append(name)
        return names[::-1]


class TestCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="proftrace-test-")
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.paths = Paths()

    def path(self, name):
        return os.path.join(self.directory, name)

    def run_tool(self, *argv, **options):
        """Returns the output of a consumer of a format; there must be no error."""
        done = subprocess.run(list(map(str, argv)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=harness.TIMEOUT, check=False, **options)
        if done.returncode or done.stderr:
            self.fail(f"{argv}: exit status {done.returncode}\n{done.stderr.decode()[-2000:]}"
                      f"{done.stdout.decode(errors='replace')[:2000]}")
        return done.stdout

    def write(self, format_, name, *options):
        """Writes the sample in that format and in JSON. Returns (path, JSON document)."""
        path, reference = self.path(name), self.path("reference.json")
        self.run_tool(SAMPLE, *options, format_, path, "json", reference)
        with open(reference, encoding="utf-8") as file:
            document = json.load(file)
        schemas.check(document)
        return path, document

    def events(self, option="-c"):
        """How the sample's single calls begin and end, as dictionaries: see sample.c."""
        path = self.path("events")
        self.run_tool(SAMPLE, option, "events", path)
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def nodes(self, document, thread, name_of):
        """(path, node) of all calls of a thread; a path is a number of self.paths."""
        numbers = {None: 0}
        for node, parent, _ in harness.walk(thread["calls"]):
            function = document["functions"][node["function"]]
            path = self.paths.number(numbers[parent and parent["id"]], name_of(function))
            numbers[node["id"]] = path
            yield path, node

    def weights(self, document, figure, name_of):
        """{thread: {path: its own figure}}, as what is called alike is one; without zeros."""
        threads = {}
        for thread in document["threads"]:
            sums = threads.setdefault(thread_name(thread), {})
            for path, node in self.nodes(document, thread, name_of):
                if node[figure]:
                    sums[path] = sums.get(path, 0) + node[figure]
        return {name: sums for name, sums in threads.items() if sums}

    def open_in_speedscope(self, path):
        """Returns what speedscope makes of a file, in speedscope's own format: its importer is the
        judge."""
        done = json.loads(self.run_tool("node", "--stack-size=60000", SPEEDSCOPE, CONSUMERS, path,
                                        preexec_fn=unlimited_stack))
        bad = [line for line in done["messages"]
               if not line.startswith(("speedscope v", "Importing as", "Saving"))]
        self.assertEqual(bad, [])
        return done["saved"]

    def times_of_events(self, document, events, name_of):
        """{thread: {path: its own time}} by how single calls nest."""
        names = {node["id"]: name_of(document["functions"][node["function"]])
                 for node, _, _ in harness.nodes_of(document)}
        threads = {name: {} for name in map(thread_name, document["threads"])}
        stack, last_ns = [0], 0
        for event in events:
            sums = threads[thread_name(document["threads"][event["thread"]])]
            if len(stack) > 1 and event["at_ns"] > last_ns:
                sums[stack[-1]] = sums.get(stack[-1], 0) + event["at_ns"] - last_ns
            last_ns = event["at_ns"]
            if event["begins"]:
                stack.append(self.paths.number(stack[-1], names[event["node"]]))
            else:
                stack.pop()
        return threads

    def profiler_cli(self, path, *commands):
        """Returns the output of the Firefox Profiler, without its window, for each of the
        commands."""
        cli = ["node", os.path.join(CONSUMERS, "node_modules/.bin/profiler-cli")]
        environment = os.environ | {"PROFILER_CLI_SESSION_DIR": self.directory}
        # The Profiler's own command `load` gives the daemon half a second to start, however busy
        # the machine is.
        with subprocess.Popen([*cli, "--daemon", path, "--session", "x"], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
            try:
                self.wait_loaded(daemon)
                return [self.run_tool(*cli, *command.split(), "--session", "x",
                                      env=environment).decode() for command in commands]
            finally:
                daemon.kill()

    def wait_loaded(self, daemon):
        """By its log: a client that comes too early takes the session for a dead one's, and removes
        it."""
        def log():
            with contextlib.suppress(FileNotFoundError), \
                    open(self.path("x.log"), encoding="utf-8") as file:
                return file.read()
            return ""

        def listens():
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                client.connect(self.path("x.sock"))
                return True
            return False

        harness.poll(lambda: "Profile loaded" in log() or "rror" in log() or
                     daemon.poll() is not None, harness.TIMEOUT)
        self.assertIn("Profile loaded successfully", log())
        self.assertTrue(harness.poll(listens, harness.TIMEOUT), log())

    def speedscope_weights(self, saved):
        """Returns the same as weights(), but of a profile that speedscope has saved."""
        frames, threads = saved["shared"]["frames"], {}
        for profile in saved["profiles"]:
            # How much of it is an estimate is not part of the name.
            name = re.sub(r" \(~[<\d.]+% estimated\)$", "", profile["name"])
            sums, stack, last = threads.setdefault(name, {}), [0], 0
            for event in profile["events"]:
                if len(stack) > 1 and event["at"] > last:
                    sums[stack[-1]] = sums.get(stack[-1], 0) + event["at"] - last
                last = event["at"]
                if event["type"] == "O":
                    stack.append(self.paths.number(stack[-1], frames[event["frame"]]["name"]))
                else:
                    stack.pop()
            self.assertEqual(stack, [0])
            # Both numbers are sums of speedscope's own, in doubles: 6736.630000000001 and 6736.63.
            self.assertLessEqual(last, profile["endValue"] * (1 + 1e-12))
        return threads

    def assert_same(self, seen, expected, may_be_empty=False):
        """Compares {thread: {path: number}}; says which paths differ, in words."""
        self.assertEqual(sorted(seen), sorted(expected))
        for thread, sums in expected.items():
            for path in sorted(sums.keys() | seen[thread].keys()):
                if sums.get(path, 0) != seen[thread].get(path, 0):
                    self.fail(f"{thread}: {self.paths.names(path)}: {seen[thread].get(path, 0)} "
                              f"instead of {sums.get(path, 0)}")
        self.assertTrue(may_be_empty or any(expected.values()))


def unlimited_stack():
    """Lifts the limit of the stack, as a consumer may recurse deeply."""
    import resource
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
