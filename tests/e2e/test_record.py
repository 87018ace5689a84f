# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings: what live output shows, reports of a recording show as well, later and elsewhere."""

import json
import os
import re
import shutil
import signal
import subprocess

import harness
from harness import NOBODY, PROFTRACE, UNLIMITED, program

COUNTED = re.compile(r"^ *([0-9,]+) .*?([a-z_]+)(?: +recursion)?$", re.M)


class Record(harness.TestCase):
    def verb(self, *args, **popen):
        """Without options of the harness."""
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL, **popen).finish()

    def record(self, name, *args, options=()):
        """Records a command; returns (recording, the command's Result)."""
        out = self.path("rec")
        command = name if "/" in name else program(name)
        done = self.verb("record", *UNLIMITED, *options, "-o", out, "--", command, *args)
        self.assertEqual(done.status, 0, str(done))
        return out, done

    def report(self, path, *options, **popen):
        done = self.verb("report", *options, path, **popen)
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def json(self, path, *options, **popen):
        return self.check(json.loads(self.report(path, "-f", "json", *options, **popen)))

    @staticmethod
    def paths(document):
        """{path: calls}"""
        found = {}
        names = {f["id"]: f["name"] for f in document["functions"]}
        above = {}
        for node, parent, _ in harness.nodes_of(document):
            path = (above[parent["id"]] if parent else ()) + (names[node["function"]],)
            above[node["id"]] = path
            found[path] = found.get(path, 0) + node["calls"]
        return found

    def test_the_last_one_is_kept(self):
        path, first = self.record("recursion", 3, 2)
        os.chmod(path, 0o640)
        with open(path, "rb") as file:
            old = file.read()
        self.assertFalse(os.path.exists(path + ".old"))
        path, second = self.record("recursion", 5, 2)
        with open(path + ".old", "rb") as file:
            self.assertEqual(file.read(), old)
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o640)
        self.assert_counts(self.json(path + ".old"), first.counts)
        self.assert_counts(self.json(path), second.counts)
        # A run that is added replaces nothing, and a file of several names keeps them.
        self.record("recursion", 3, 2, options=("--append",))
        with open(path + ".old", "rb") as file:
            self.assertEqual(file.read(), old)
        os.link(path, path + ".link")
        self.record("recursion", 4, 2)
        self.assertTrue(os.path.samefile(path, path + ".link"))

    def test_name_of_another_format(self):
        """`record -o` writes a recording, whatever its name: that is said, and what to type."""
        for name, format_ in (("x.svg", "svg"), ("x.json", "json"),
                              ("x.speedscope.json", "speedscope")):
            out = self.path(name)
            done = self.verb("record", *UNLIMITED, "-o", out, "--", program("recursion"), 3, 2)
            self.assertEqual(done.status, 0, str(done))
            self.assertIn(f"-o {out}: record writes a recording there, whatever the name; "
                          f"for {format_} leave out 'record', or then run: "
                          f"proftrace report -f {format_} -o FILE {out}", done.stderr)
            self.report(out, "-f", format_, "-o", self.path("shown"))
        _, done = self.record("recursion", 3, 2)
        self.assertNotIn("whatever the name", done.stderr)

    def test_histogram_of_nothing(self):
        path, _ = self.record("recursion", 3, 2)
        self.assertIn("fib  ", self.report(path, "-f", "flat", "--hist", "fib"))
        done = self.verb("report", "-f", "flat", "--hist", "fib", "--hist", "nothing", path)
        self.assert_one_line(done, 1, "--hist nothing: the recording has no such function")

    def live(self, *options):
        out = self.path("live")
        done = self.run_proftrace(*options, "-o", out, "--", program("recursion"), 5, 2)
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            return file.read()

    def assert_same_lines(self, text, expected):
        """In any order: that is one of time."""
        self.assertTrue(expected)
        self.assertEqual(sorted(text.splitlines()), sorted(expected.splitlines()))

    def test_every_format_says_what_the_live_one_does(self):
        recording, done = self.record("recursion", 5, 2)
        document = self.json(recording)
        live = self.check(json.loads(self.live("-f", "json")))
        self.assert_counts(document, done.counts)
        self.assertEqual(self.paths(document), self.paths(live))
        for key in ("probes", "schema"):
            self.assertEqual(document[key], live[key])
        for key in ("entered", "returned", "unwound", "open", "lost", "dropped"):
            self.assertEqual(document["accounting"][key], live["accounting"][key], key)
        self.assertEqual(document["target"]["command"], live["target"]["command"])
        weights = ("-f", "folded", "-w", "calls")
        self.assert_same_lines(self.report(recording, *weights), self.live(*weights))
        for format_ in ("tree", "flat"):
            shown, expected = (sorted(COUNTED.findall(text)) for text in (
                self.report(recording, "-f", format_, "-v"), self.live("-f", format_, "-v")))
            self.assertTrue(expected)
            self.assertEqual(shown, expected)

    def test_all_reports_of_a_recording_agree(self):
        recording, _ = self.record("timing", 5, 3)
        document = self.json(recording)
        self.assertEqual(document, self.json(recording))
        weights = {}
        for line in self.report(recording, "-f", "folded").splitlines():
            stack, _, value = line.rpartition(" ")
            name = stack.split(";")[-1]
            weights[name] = weights.get(name, 0) + int(value)
        for function in document["functions"]:
            self.assertEqual(weights.get(function["name"], 0), function["self_ns"])

    def test_without_the_binary_without_root_without_symbols(self):
        binary = self.copy(program("recursion"))
        recording, done = self.record(binary, 5, 2)
        os.remove(binary)
        directory = self.path("elsewhere")
        os.mkdir(directory)
        shutil.move(recording, os.path.join(directory, "proftrace.data"))
        document = self.json("proftrace.data", cwd=directory, user=NOBODY, group=NOBODY,
                             extra_groups=[])
        self.assert_counts(document, done.counts)
        # The file that is read by default.
        done = self.verb("report", "-f", "json", cwd=directory, user=NOBODY, group=NOBODY,
                         extra_groups=[])
        self.assertEqual(json.loads(done.stdout), document)

    def test_killed_profiler(self):
        target = self.target("steps")
        recording = self.path("rec")
        tracer = self.process(PROFTRACE, "record", *UNLIMITED, "-o", recording, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        target.go()
        target.step("3")

        def has_calls():
            """The last snapshot may be from before the calls."""
            text = self.verb("report", "-f", "json", recording).stdout
            return bool(text and self.calls(json.loads(text)))

        self.assertTrue(harness.poll(has_calls))
        tracer.signal(signal.SIGKILL)
        tracer.finish()
        done = self.verb("report", "-f", "json", recording)
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("incomplete", done.stderr)
        document = self.check(json.loads(done.stdout))
        self.assertTrue(self.calls(document), done)
        # Half a block at the end does no harm either.
        with open(recording, "ab") as file:
            file.write(b"PBLK\2")
        done = self.verb("report", "-f", "json", recording)
        self.assertEqual(json.loads(done.stdout), document)
        self.assertIn("it was cut", done.stderr)

    def test_append(self):
        recording, first = self.record("recursion", 5, 2, options=("--append",))
        size = os.path.getsize(recording)
        _, second = self.record("recursion", 7, 1, options=("--append",))
        self.assertGreater(os.path.getsize(recording), size)
        self.assert_counts(self.json(recording), second.counts)
        self.assert_counts(self.json(recording, "--run", "1"), first.counts)
        self.assert_one_line(self.verb("report", "--run", "3", recording), 1, "--run 3", "2")
        # Without --append the file begins anew.
        self.record("recursion", 5, 2)
        self.assert_counts(self.json(recording), first.counts)
        self.assert_one_line(self.verb("report", "--run", "2", recording), 1, "--run 2", "1")

    def test_append_drops_no_run_behind_damage(self):
        recording, first = self.record("recursion", 5, 2)
        size = os.path.getsize(recording)
        self.record("recursion", 7, 1, options=("--append",))
        with open(recording, "r+b") as file:
            file.seek(size - 10)
            byte = file.read(1)[0]
            file.seek(size - 10)
            file.write(bytes([byte ^ 0xff]))
            file.seek(0)
            whole = file.read()
        done = self.verb("record", "--append", "-o", recording, "--", program("recursion"), 5, 2)
        self.assertEqual(done.status, 1, str(done))
        self.assertIn(f"{recording} is damaged in its middle", done.stderr)
        self.assertNotIn("COUNT", done.stdout)
        with open(recording, "rb") as file:
            self.assertEqual(file.read(), whole)
        # Nothing can be read of a run that was cut: the next run is written over it.
        with open(recording, "wb") as file:
            file.write(whole[:size - 10])
        _, second = self.record("recursion", 6, 1, options=("--append",))
        self.assert_counts(self.json(recording), second.counts)
        self.assert_counts(self.json(recording, "--run", "1"), first.counts)

    def test_filters_are_those_of_live_output(self):
        recording, _ = self.record("recursion", 5, 2)
        weights = ("-f", "folded", "-w", "calls")
        for options in (("-N", "odd", "-N", "main"), ("-F", "fib"), ("-D", "3")):
            self.assert_same_lines(self.report(recording, *weights, *options),
                                   self.live(*weights, *options))
        whole, part = self.json(recording), json.loads(self.report(recording, "-f", "json", "-N", "odd"))
        # The time of functions that were left out is their callers' now: nothing is lost.
        self.assertEqual(sum(node["self_ns"] for node, _, _ in harness.nodes_of(whole)),
                         sum(node["self_ns"] for node, _, _ in harness.nodes_of(part)))
        self.assert_one_line(self.verb("report", "-F", "nothing", recording), 1, "-F nothing")

    def test_threads(self):
        recording, _ = self.record("threads", 3, 10)
        document = self.json(recording)
        tid = document["threads"][-1]["tid"]
        self.assertGreater(len(document["threads"]), 1)
        chosen = json.loads(self.report(recording, "-f", "json", "--thread", tid))
        self.assertEqual(chosen["threads"][0]["tid"], tid)
        self.assertEqual(len(chosen["threads"]), 1)
        self.assert_one_line(self.verb("report", "--thread", "nobody", recording), 1, "--thread")

    def test_a_range_needs_single_calls(self):
        recording, _ = self.record("recursion", 5, 2)
        self.assert_one_line(self.verb("report", "--range", "..1s", recording), 1, "--range", "--calls")

    def test_what_is_no_recording(self):
        path = self.path("file")
        self.assert_one_line(self.verb("report", path), 1, "no such file", path)
        with open(path, "w", encoding="utf-8") as file:
            file.write("precious")
        self.assert_one_line(self.verb("report", path), 1, "no recording", path)
        self.assert_one_line(self.verb("record", "--append", "-o", path, "--", "true"), 1,
                             "no recording", path)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        for content, told in ((b"", "empty"), (b"PROFTRC", "no recording"),
                              (b"PROFTRC\xff", "a newer format (255) than this proftrace reads (1)"),
                              (b"PROFTRC\0", "another format (0)")):
            with open(path, "wb") as file:
                file.write(content)
            self.assert_one_line(self.verb("report", path), 1, told, path)
        os.remove(path)
        os.mkfifo(path)
        self.assert_one_line(self.verb("report", path), 1, path)
        self.assert_one_line(self.verb("report", "-"), 1, "the standard input is empty")
        self.assert_one_line(self.verb("report", "/dev/zero"), 1, "no recording")
        self.assert_one_line(self.verb("report", self.directory), 1, "is a directory")

    def test_from_a_pipe(self):
        """`ssh host cat proftrace.data | proftrace report -`, and what shells make of <(...)."""
        recording, _ = self.record("recursion", 5, 2)
        expected = self.report(recording, "-f", "json")
        for command in ("cat $1 | $0 report -f json -", "$0 report -f json - < $1",
                        "$0 report -f json <(cat $1)", "$0 report $1 -f json -o - | cat"):
            done = self.process("bash", "-c", command, PROFTRACE, recording).finish()
            self.assertEqual((done.status, done.stdout), (0, expected), str(done))
        done = self.process("bash", "-c", "$0 diff <(cat $1) - -f csv < $1", PROFTRACE,
                            recording).finish()
        self.assertEqual(done.status, 0, str(done))
        done = self.process("bash", "-c", "cat $1 | TMPDIR=/nowhere $0 report -", PROFTRACE,
                            recording).finish()
        self.assert_one_line(done, 1, "/nowhere", "TMPDIR")

    def test_a_name_that_tells_no_format(self):
        recording, _ = self.record("recursion", 5, 2)
        for name, told in (("x.png", True), ("x", False), ("x.json", False), ("x.callgrind", False)):
            done = self.verb("report", "-o", self.path(name), recording)
            self.assertEqual(done.status, 0, str(done))
            self.assertEqual(f"like {name}: these are folded stacks" in done.stderr, told, str(done))

    def test_a_report_does_not_replace_its_recording(self):
        recording, _ = self.record("recursion", 5, 2)
        expected = self.report(recording, "-f", "json")
        link = self.path("link")
        os.symlink(recording, link)
        self.assert_one_line(self.verb("report", "-f", "sqlite", "-o", link, recording), 1,
                             "the recording itself")
        self.assert_one_line(self.verb("diff", "-o", recording, link, link), 1,
                             "the recording itself")
        self.assertEqual(self.report(recording, "-f", "json"), expected)

    def test_a_report_that_a_signal_ends_leaves_no_empty_file(self):
        """strace sends the signal as the result is about to be written."""
        recording, _ = self.record("recursion", 5, 2)
        out = self.path("out")
        done = self.process("strace", "-f", "-o", self.path("trace"), "-e", "trace=ftruncate", "-e",
                            "inject=ftruncate:signal=TERM", PROFTRACE, "report", "-f", "json", "-o",
                            out, recording).finish()
        self.assertEqual((done.status, os.path.exists(out)), (-signal.SIGTERM, False), str(done))


if __name__ == "__main__":
    harness.main()
