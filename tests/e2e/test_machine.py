# SPDX-License-Identifier: GPL-2.0-or-later
"""-a: the whole machine by process, from samples of CPU time alone."""

import json
import signal
import time

import harness
from harness import PROFTRACE, program


class Machine(harness.TestCase):
    def look(self, *options, until=lambda tracer: True):
        """Looks at the machine while `serving` works, until `until` holds."""
        target = self.target("serving")
        tracer = self.process(PROFTRACE, "-a", *options)
        self.assertTrue(tracer.stderr.wait_lines("proftrace: looking at all processes"), tracer)
        target.go()
        self.assertTrue(harness.poll(lambda: until(tracer), harness.TIMEOUT), tracer)
        tracer.signal(signal.SIGINT)
        done = tracer.finish()
        target.finish()
        self.assertEqual(done.status, 0, str(done))
        return done, target.pid

    def functions_of(self, document, pid):
        """{name: function} of a process."""
        functions = {f["id"]: f for f in document["functions"]}
        return {functions[node["function"]]["name"]: functions[node["function"]]
                for thread in document["threads"] if thread["pid"] == pid
                for node in thread["calls"]}

    def test_json(self):
        def worked(tracer):
            lines = tracer.stdout.text().splitlines()[:-1]
            return any(f["name"] == "word" for line in lines for f in json.loads(line)["functions"])

        done, pid = self.look("-f", "json", "-i", "0.5", until=worked)
        documents = [json.loads(line) for line in done.stdout.splitlines()]
        found = {}
        for document in documents:
            self.assertEqual(document["target"], {"pids": [], "exec": None, "command": None})
            self.assertEqual(document["accounting"]["entered"], 0)
            for function in document["functions"]:
                self.assertEqual((function["source"], function["calls"]), ("sample", 0))
            found |= self.functions_of(document, pid)
        self.assertIn("word", found)
        self.assertTrue(found["word"]["module"].endswith("/serving"), found["word"])

    def test_recording(self):
        path = self.path("machine.data")
        tracer = self.process(PROFTRACE, "record", "-a", "-d", "1", "-o", path)
        target = self.target("serving")
        target.go()
        self.assertEqual(tracer.finish().status, 0)
        target.finish()
        document = self.document(self.process(PROFTRACE, "report", "-f", "json", path).finish())
        self.assertGreater(document["accounting"]["samples_taken"], 0)
        shown = self.process(PROFTRACE, "report", "-f", "tree", path).finish().stdout
        self.assertRegex(shown, r"estimated from [1-9]\S* samples of 10.3 ms CPU time each\n")
        compared = self.process(PROFTRACE, "diff", path, path).finish().stdout
        self.assertEqual(compared.splitlines()[0],
                         "time has not changed by more than noise; no calls were counted")
        self.assertIn("Functions by the change of their calls: none were counted\n", compared)

    def test_samples_without_room(self):
        """While nobody reads, the kernel's rings fill: what they have no room for is told."""
        tracer = self.process(PROFTRACE, "-a", "-f", "json", "--sample-rate", "10000")
        self.assertTrue(tracer.stderr.wait_lines("proftrace: looking at all processes"), tracer)
        tracer.signal(signal.SIGSTOP)
        began = time.process_time()
        while time.process_time() < began + 1:  # of which the rings hold a fraction
            pass
        tracer.signal(signal.SIGCONT)
        began = time.process_time()
        while time.process_time() < began + 0.5:
            pass
        tracer.signal(signal.SIGINT)
        accounting = json.loads(tracer.finish().stdout)["accounting"]
        self.assertGreater(accounting["samples_lost"], 1000)
        self.assertGreater(accounting["cpu_ns"], 1.4e9)

    def test_more_files_than_may_be_open(self):
        """The limit that a shell has is not that of a service or of root."""
        tracer = self.process("sh", "-c", 'ulimit -Sn 48 && exec "$@"', "sh", PROFTRACE, "-a", "-f",
                              "json", "-i", "0.5", "--sample-rate", "1000")
        self.assertTrue(tracer.stderr.wait_lines("proftrace: looking at all processes"), tracer)
        targets = [self.process(self.copy(program("busy"), f"busy{i}"), 1) for i in range(48)]
        missing = {target.pid for target in targets}
        seen = 0

        def all_known():
            nonlocal seen
            lines = tracer.stdout.text().splitlines()[:-1]
            for document in map(json.loads, lines[seen:]):
                missing.difference_update(pid for pid in list(missing)
                                          if "inner" in self.functions_of(document, pid))
            seen = len(lines)
            return not missing

        self.assertTrue(harness.poll(all_known, harness.TIMEOUT), f"{len(missing)} not known")
        for target in targets:
            target.finish()
        tracer.signal(signal.SIGINT)
        self.assertEqual(tracer.finish().status, 0)

    def test_what_does_not_go(self):
        for words in (["-p", "1"], ["-F", "main"], ["--calls"], ["--", "true"], ["-l"],
                      ["--serve", "0"], ["--no-samples"]):
            done = self.process(PROFTRACE, "-a", *words).finish()
            self.assert_one_line(done, 2, "-a")

    def test_not_allowed(self):
        done = self.process(PROFTRACE, "-a", "-d", "1", user=harness.NOBODY).finish()
        self.assert_one_line(done, 1, "samples of the whole machine")


if __name__ == "__main__":
    harness.main()
