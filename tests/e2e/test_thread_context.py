# SPDX-License-Identifier: GPL-2.0-or-later
"""Ids of sessions that programs publish for each thread: OpenTelemetry's thread context."""

import collections
import json
import re
import subprocess

import harness
from harness import PROFTRACE, UNLIMITED, program


class ThreadContext(harness.TestCase):
    def run_it(self, *args, status=0):
        done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, status, str(done))
        return done

    def document(self, *args, command):
        path = self.path("out.json")
        done = self.run_it(*UNLIMITED, "--slowest", "1000", "-o", path, *args, "--", *command)
        with open(path, encoding="utf-8") as file:
            return json.load(file), done

    def requests_of(self, text):
        """{number: its trace; None: it has no valid context}, as the program says."""
        rows = re.findall(r"^REQUEST (\d+) (\S+) (\S+)$", text, re.M)
        return {int(number): None if trace == "-" else trace for number, trace, _ in rows}

    def ids_of(self, document, argument="arg1"):
        group, = document["sessions"]
        ids = {}
        for session in group["slowest"]:
            values = {a["name"]: a["value"] for a in session["calls"][0]["arguments"]}
            ids[values[argument]] = session["id"]
        return ids

    def test_asked_for_or_not(self):
        command = program("thread_context"), "4", "27"
        for asked in ("--session-id", "otel"), ("--session-id", "otel_thread_ctx_v1"), ():
            document, done = self.document("-F", "handle", "-A", "handle(arg1)", "--session",
                                           "handle", *asked, command=command)
            said = self.requests_of(done.stdout)
            self.assertEqual(len(said), 4 * 27 + 4 * 3)
            self.assertEqual(len(set(said.values()) - {None}), 4 * 3 + 1)
            self.assertEqual(self.ids_of(document), said)

    def test_regions(self):
        """Regions of a program may be sessions with such an id, too."""
        document, done = self.document("-F", "region:request", "--session", "region:request",
                                       command=(program("thread_context"),))
        group, = document["sessions"]
        self.assertEqual(collections.Counter(s["id"] for s in group["slowest"]),
                         collections.Counter(self.requests_of(done.stdout).values()))

    def test_another_id(self):
        """With --session-id that value is the id, and no thread context is read."""
        document, done = self.document("-F", "handle", "--session", "handle", "--session-id",
                                       "arg1", command=(program("thread_context"), "1"))
        self.assertEqual(self.ids_of(document),
                         {number: str(number) for number in self.requests_of(done.stdout)})
        names = [a["name"] for a in document["sessions"][0]["slowest"][0]["calls"][0]["arguments"]]
        self.assertEqual(names, ["arg1"])

    def test_recorded(self):
        recording = self.path("recording")
        done = self.run_it("record", "-q", *UNLIMITED, "--calls", "-F", "handle", "-A",
                           "handle(arg1, otel_thread_ctx_v1)", "-o", recording, "--",
                           program("thread_context"), "1", "8")
        said = self.requests_of(done.stdout)
        for asked in ("--session-id", "otel"), ():
            text = self.process(PROFTRACE, "report", "--session", "handle", "--slowest", "1000",
                                *asked, "-f", "json", recording).finish().stdout
            self.assertEqual(self.ids_of(json.loads(text)), said)
        text = self.process(PROFTRACE, "report", "--session", "handle", "--slowest", "1000", "-f",
                            "tree", recording).finish().stdout
        self.assertEqual({int(number): trace for trace, number in
                          re.findall(r"  id=(\w{32})  arg1=(\d+)$", text, re.M)},
                         {number: trace for number, trace in said.items() if trace})
        self.assertNotIn("trace_id", text)

    def test_a_program_without(self):
        """An error where it was asked for; else there is nothing to say."""
        command = program("tagged"), "2"
        done = self.run_it("-F", "handle", "--session", "handle", "--session-id", "otel", "--",
                           *command, status=1)
        self.assertIn("otel_thread_ctx_v1->trace_id:x is not there: neither the program nor a "
                      "library has a thread-local variable of that name", done.stderr)
        document, done = self.document("-F", "handle", "--session", "handle", command=command)
        self.assertNotIn("otel", done.stderr)
        self.assertNotIn("id", document["sessions"][0]["slowest"][0])
        self.assertEqual(document["sessions"][0]["slowest"][0]["calls"][0].get("arguments", []), [])

    def attached(self, name, *args, arguments=("2", "18")):
        """Traces a process that runs already. What the profiler and the process have said; and the
        document, if there is one."""
        target = self.target(name, *arguments)
        path = self.path("attached.json")
        tool = self.proftrace("--slowest", "1000", "-o", path, "-F", "handle",
                              "--session", "handle", *args, "-p", str(target.pid))
        try:
            tool.wait_tracing()
        except AssertionError:
            target.go()
            return tool.finish(), target.finish(), None
        target.go()
        said, done = target.finish(), tool.finish()
        self.assertEqual(done.status, 0, str(done))
        with open(path, encoding="utf-8") as file:
            return done, said, json.load(file)

    def test_of_a_library(self):
        """The thread's context is in a library, where the dynamic linker has put it: of commands,
        and of processes that run already."""
        document, done = self.document("-F", "handle", "-A", "handle(arg1)", "--session", "handle",
                                       command=(program("thread_context-linked"),))
        self.assertEqual(self.ids_of(document), self.requests_of(done.stdout))
        for asked in ("--session-id", "otel"), ():
            _, said, document = self.attached("thread_context-linked", "-A", "handle(arg1)", *asked)
            ids = self.requests_of(said.stdout)
            self.assertGreater(len(set(ids.values())), 4)
            self.assertEqual(self.ids_of(document), ids)

    def test_variables_of_a_library(self):
        for name, text in (("libthread_context.so:library_number", "{}"),
                           ("libthread_context.so:library_text", "request {}"),
                           ("libthread_context.so:library_number:x", "0x{:x}")):
            _, said, document = self.attached("thread_context-linked", "-A", "handle(arg1)",
                                              "--session-id", name)
            self.assertEqual(self.ids_of(document),
                             {number: text.format(number) for number in
                              self.requests_of(said.stdout)})

    def test_what_is_not_there(self):
        library = program("libthread_context.so")
        for name, why in (
                ("libthread_context.so:other", "the library has no such thread-local variable"),
                ("lib*.so:library_number", "without wildcards"),
                ("libother.so:library_number", "no such library is loaded"),
                ("libthread_context.so:library_number->x", "is no member")):
            done, _, _ = self.attached("thread_context-linked", "--session-id", name)
            self.assertIn(done.status, (1, 2), str(done))
            self.assertIn(why, done.stderr)
        done, _, _ = self.attached("thread_context", "--session-id",
                                   "libthread_context.so:library_number",
                                   arguments=("1", "9", library))
        self.assertEqual(done.status, 1, str(done))
        self.assertIn("the library was loaded by dlopen()", done.stderr)

    def test_values_that_a_record_does_not_have(self):
        done = self.run_it("--calls", "-F", "handle", "-A", "handle(otel_thread_ctx_v1->name)",
                           "-o", self.path("out.json"), "--", program("thread_context"), status=1)
        self.assertIn("is not read: trace_id, trace_id_rest, span_id and valid are", done.stderr)


if __name__ == "__main__":
    harness.main()
