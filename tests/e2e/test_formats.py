# SPDX-License-Identifier: GPL-2.0-or-later
"""The formats, and what their consumers make of them."""

import collections
import csv
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import harness
from harness import program

FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
ESCAPE = "\x1b["


class Flamegraph:
    def flamegraph(self, text, *options):
        """{name: [samples of each frame]} of the picture."""
        done = subprocess.run(["perl", FLAMEGRAPH, "--minwidth", "0", *options],
                              input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=harness.TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        frames = {}
        for name, samples in re.findall(r"<title>(.*) \(([0-9,]+) samples, [0-9.]+%\)</title>",
                                        done.stdout.decode()):
            for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
                name = name.replace(entity, char)
            frames.setdefault(name, []).append(int(samples.replace(",", "")))
        return frames

    # flamegraph.pl of this version writes parentheses in place of angle brackets.
    NO_ANGLES = str.maketrans("<>", "()")


class Formats(Flamegraph, harness.TestCase):
    def output(self, name, *args, options=()):
        out = self.path("out")
        done = self.run_proftrace(*options, "-o", out, "--", program(name), *args)
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            return file.read(), done

    def folded(self, *options, name="recursion", args=(5, 2)):
        text, done = self.output(name, *args, options=("-f", "folded", *options))
        stacks = []
        for line in text.splitlines():
            self.assertRegex(line, r"^[^;#][^\n]* [0-9]+$")
            stack, _, value = line.rpartition(" ")
            self.assertNotRegex(stack, " [0-9]+$", "read as two numbers by flamegraph.pl")
            stacks.append((stack.split(";"), int(value)))
        return stacks, done

    def test_folded_calls(self):
        stacks, done = self.folded("-w", "calls")
        sums = {}
        for stack, value in stacks:
            sums[stack[-1]] = sums.get(stack[-1], 0) + value
        self.assertEqual({name: sums.get(name, 0) for name in done.counts}, done.counts)
        self.assertEqual([value for stack, value in stacks if stack[-5:] == ["direct"] * 5], [2])

    def test_folded_time(self):
        stacks, done = self.folded("-w", "wall", name="timing", args=(20, 3))
        sums = {}
        for stack, value in stacks:
            sums[stack[-1]] = sums.get(stack[-1], 0) + value
        for name, inside in done.numbers("INSIDE").items():
            self.assertGreaterEqual(sums[name], inside * 0.99)
            self.assertLessEqual(sums[name], done.numbers("OUTSIDE")[name])
        # Self time: what the callees took is not in it.
        self.assertLess(sums["both"], sums["sleeper"] / 10)

    def test_folded_weighs_time_by_default(self):
        stacks, _ = self.folded(name="timing", args=(20, 1))
        self.assertGreater(max(value for _, value in stacks), 15_000_000)

    def test_thread_frames(self):
        stacks, _ = self.folded("--thread-frames", "-w", "calls", name="threads", args=(5, 10))
        workers = [stack for stack, _ in stacks if stack[-1] == "d"]
        self.assertEqual(len(workers), 5)
        self.assertEqual(len({stack[0] for stack in workers}), 5)
        for stack, _ in stacks:
            self.assertRegex(stack[0], r"^threads-[0-9]+/[0-9]+$")

    def tree_of_forks(self, *options):
        """(pid or number of processes, calls) of each tree of a program with three children."""
        text, done = self.output("forks", 3, 10, options=("-f", "tree", "-F", "work", *options))
        trees = re.findall(r"(?m)^forks  (?:pid ([0-9]+)  tid \1|([0-9]+) processes)\n"
                           r" +CALLS .*\n +([0-9]+) .* work$", text)
        return [(int(pid or cnt), int(calls)) for pid, cnt, calls in trees], text, done

    def test_processes_are_one_tree(self):
        trees, text, done = self.tree_of_forks()
        calls = done.counts["work"] + done.numbers("CHILDREN")["work"]
        self.assertEqual(trees, [(4, calls)], text)

    def test_numbered_threads_are_one_tree(self):
        text, done = self.output("numbered", 2, 3, options=("-f", "tree", "-F", "work"))
        for heading, calls in (("worker-*  2 processes of numbered, 6 threads", 60),
                               ("numbered  2 processes", 2)):
            self.assertRegex(text, rf"(?m)^{re.escape(heading)}\n +CALLS .*\n +{calls} .* work\n$")
        self.assertEqual(done.counts, {"work": 62})

    def test_process_frames(self):
        trees, text, done = self.tree_of_forks("--process-frames")
        self.assertEqual(sorted(calls for _, calls in trees), [10, 10, 10, done.counts["work"]], text)
        self.assertEqual(len({pid for pid, _ in trees}), 4, text)
        stacks, _ = self.folded("--process-frames", "-w", "calls", "-F", "work", name="forks",
                                args=(3, 10))
        self.assertEqual(sorted(calls for _, calls in stacks), [10, 10, 10, done.counts["work"]])
        for stack, _ in stacks:
            self.assertRegex(stack[0], r"^forks-[0-9]+$")

    def test_names_with_semicolons_and_spaces(self):
        stacks, done = self.folded("-w", "calls", name="names", args=())
        sums = {}
        for stack, value in stacks:
            sums[stack[-1]] = sums.get(stack[-1], 0) + value
        self.assertEqual({name: sums.get(name, 0) for name in done.counts}, done.counts)

    def test_folded_is_the_default_in_a_pipe(self):
        text, _ = self.output("calc-pie")
        for line in text.splitlines():
            self.assertRegex(line, r" [0-9]+$")

    def check_flamegraph(self, name, *args):
        """The picture's frames are the tree's nodes, each as wide as the calls below it."""
        text, _ = self.output(name, *args, options=("-f", "folded", "-w", "calls"))
        frames = self.flamegraph(text)
        document, _ = self.profile_command(name, *args)
        self.assertEqual(frames.pop("all"), [document["accounting"]["entered"]])

        # flamegraph.pl makes one frame of all frames of the same path, and does not tell threads
        # apart.
        widths = {}
        paths = {}
        for node, parent, _ in harness.nodes_of(document):
            function = document["functions"][node["function"]]["name"]
            path = (paths[parent["id"]] if parent else ()) + (function,)
            paths[node["id"]] = path
            path = tuple(name.translate(self.NO_ANGLES) for name in path)
            for depth in range(1, len(path) + 1):
                widths[path[:depth]] = widths.get(path[:depth], 0) + node["calls"]
        expected = {}
        for path, width in widths.items():
            expected.setdefault(path[-1], []).append(width)
        for comm in frames.keys() - expected.keys():
            self.assertEqual(len(frames[comm]), 1, f"{comm} is no function")
        self.assertEqual({name: sorted(frames.get(name, [])) for name in expected},
                         {name: sorted(samples) for name, samples in expected.items()})

    def test_flamegraph_of_recursion(self):
        self.check_flamegraph("recursion", 10, 2)

    def test_flamegraph_of_threads(self):
        self.check_flamegraph("threads", 10, 20)

    def test_flamegraph_of_cxx_names(self):
        self.check_flamegraph("names")

    def test_flamegraph_of_time(self):
        text, _ = self.output("timing", 20, 2, options=("-f", "folded"))
        frames = self.flamegraph(text)
        self.assertGreater(frames["both"][0], frames["sleeper"][0] + frames["spinner"][0] - 1)
        self.assertGreater(frames["sleeper"][0], 39_000_000)

    def test_tree(self):
        text, _ = self.output("recursion", 3, 2, options=("-f", "tree"))
        for name in ("main", "direct", "even", "odd", "fib"):
            self.assertRegex(text, rf"\b{name}\b")
        self.assertNotIn(ESCAPE, text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 110, line)
        at = [text.index(name) for name in ("main", "direct")]
        self.assertEqual(at, sorted(at), "callers come first")

    def test_flat(self):
        text, done = self.output("recursion", 3, 2, options=("-f", "flat"))
        for name, count in done.counts.items():
            line, = (line for line in text.splitlines() if re.search(rf"\b{name}\b", line))
            self.assertRegex(line, rf"\b{count}\b")
        self.assertNotIn(ESCAPE, text)

    def test_colour_on_demand(self):
        text, _ = self.output("recursion", 3, 2, options=("-f", "tree", "--color=always"))
        self.assertIn(ESCAPE, text)
        text, _ = self.output("recursion", 3, 2, options=("-f", "tree", "--color=never"))
        self.assertNotIn(ESCAPE, text)

    def on_terminal(self, *options, columns=0, **env):
        """Returns what a run writes to a terminal; 0 columns are an unknown width."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        target = self.target("recursion", 3, 2)
        environment = {"TERM": "xterm"} | env
        tracer = self.proftrace(*options, "-p", target.pid, stdout=slave, env=environment)
        os.close(slave)
        tracer.wait_tracing()
        target.go()
        text = b""
        try:
            while chunk := os.read(master, 65536):
                text += chunk
        except OSError:  # EIO: the other side is closed
            pass
        os.close(master)
        self.assertEqual(tracer.finish().status, 0)
        return text.decode()

    def test_tree_is_the_default_on_a_terminal(self):
        text = self.on_terminal()
        self.assertRegex(text, r"─.*fib")
        self.assertIn(ESCAPE, text)

    def test_lines_fit_the_terminal(self):
        for columns in 60, 80, 132:
            for form in "flat", "tree":
                text = self.on_terminal("-f", form, "--hist", "fib", "--color=never", "-N", "main", "--no-pager",
                                        columns=columns)
                lines = text.replace("\r", "").split("\n")
                self.assertLessEqual(max(map(len, lines)), columns, text)
                self.assertRegex(text, "(?m)fib\\b")

    def test_no_color(self):
        self.assertNotIn(ESCAPE, self.on_terminal("--no-pager", NO_COLOR="1"))

    def test_folded_on_a_terminal_has_no_colour(self):
        self.assertNotIn(ESCAPE, self.on_terminal("-f", "folded"))

    def test_json_has_min_and_max(self):
        document, _ = self.profile_command("recursion", 3, 2)
        for function in document["functions"]:
            self.assertLessEqual({"offset", "module", "file", "line", "min_ns", "max_ns"},
                                 set(function))
            if function["calls"]:
                self.assertLessEqual(function["min_ns"], function["max_ns"])

    def test_calls_in_formats_of_others(self):
        """A real run, in the format that the file's name asks for, counts every call."""
        path = self.path("x.csv")
        done = self.run_proftrace("-o", path, "--", program("recursion"), 5, 2)
        with open(path, encoding="utf-8", newline="") as file:
            sums = collections.Counter()
            for row in csv.DictReader(file):
                sums[row["function"]] += int(row["calls"])
        self.assertEqual({name: sums[name] for name in done.counts}, done.counts, str(done))

        path = self.path("x.pb.gz")
        done = self.run_proftrace("-o", path, "--", program("recursion"), 5, 2)
        top = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=calls", path],
                             stdout=subprocess.PIPE, timeout=harness.TIMEOUT, check=True,
                             env=os.environ | {"PPROF_TMPDIR": self.directory}).stdout.decode()
        seen = {row.split()[-1]: int(row.split()[0]) for row in top.splitlines()[-len(done.counts) - 1:]}
        self.assertEqual({name: seen.get(name, 0) for name in done.counts}, done.counts, top)

        path = self.path("callgrind.out.1")
        done = self.run_proftrace("-o", path, "--", program("recursion"), 5, 2)
        text = subprocess.run(["callgrind_annotate", "--threshold=100", "--show=Calls", path],
                              stdout=subprocess.PIPE, timeout=harness.TIMEOUT, check=True).stdout.decode()
        seen = {name: int(calls.replace(",", "")) for calls, name in
                re.findall(r"^ *([\d,]+) +\([ \d.]+%\) +\S*?:(\w+) \[", text, re.M)}
        self.assertEqual({name: seen.get(name, 0) for name in done.counts}, done.counts, text)

        path = self.path("x.speedscope.json")
        done = self.run_proftrace("-w", "calls", "-o", path, "--", program("recursion"), 5, 2)
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        sums = collections.Counter()
        for profile in document["profiles"]:
            for stack, weight in zip(profile["samples"], profile["weights"]):
                sums[document["shared"]["frames"][stack[-1]]["name"]] += weight
        self.assertEqual({name: sums[name] for name in done.counts}, done.counts, str(done))

    def test_min_time(self):
        """Short functions are not listed, but are counted all the same."""
        self.pruned = True
        document, done = self.profile_command("timing", 20, 1, options=("--min-time", "30ms"))
        entered = sum(done.counts.values()) + 1
        self.assertEqual(document["accounting"]["entered"], entered)
        self.assertLessEqual({"main", "both"}, {f["name"] for f in document["functions"]})
        for listed in document["functions"] + [node for node, _, _ in harness.nodes_of(document)]:
            self.assertGreaterEqual(listed["total_ns"], 30_000_000)
        document, _ = self.profile_command("timing", 20, 1, options=("--min-time", "1000s"))
        self.assertEqual(document["accounting"]["entered"], entered)
        self.assertEqual(document["functions"] + document["threads"], [])
        stacks, _ = self.folded("--min-time", "1000s", name="timing", args=(20, 1))
        self.assertEqual(stacks, [])

    def test_reverse(self):
        """Reversed stacks are the same stacks from their other end, behind the program's name."""
        stacks, _ = self.folded("-w", "calls")
        reverse, _ = self.folded("-w", "calls", "--reverse")
        self.assertEqual(sorted((stack[:1] + stack[:0:-1], value) for stack, value in stacks),
                         sorted(reverse))

    def test_every_format_has_the_accounts(self):
        for format_ in ("tree", "flat", "folded", "json"):
            text, done = self.output("recursion", 3, 2, options=("-f", format_))
            where = text if format_ in ("tree", "flat") else done.stderr
            accounts = re.search(r"entered ([0-9,]+) = returned ([0-9,]+) \+ unwound 0 \+ open 0; "
                                 r"lost 0, dropped 0$", where, re.M)
            self.assertTrue(accounts, str(done))
            self.assertEqual(int(accounts[1].replace(",", "")), sum(done.counts.values()) + 1)
        # ... of the whole run, once, if it was cut into intervals.
        _, done = self.output("timing", 20, 2, options=("-f", "folded", "-i", "0.01"))
        accounts, = re.findall(r"entered ([0-9]+) =", done.stderr)
        self.assertEqual(int(accounts), sum(done.counts.values()) + 1)
        _, done = self.output("recursion", 3, 2, options=("-f", "folded", "-q"))
        self.assertNotIn("entered", done.stderr)

    def test_histogram(self):
        for format_ in ("tree", "flat"):
            text, _ = self.output("timing", 1, 2,
                                  options=("-f", format_, "--hist", "sleep*", "--hist", "nothing"))
            self.assertRegex(text, r"(?m)^sleeper  [0-9]+ finished calls?$")
            self.assertIn("--hist nothing: matches no function that was called\n", text)

    def test_no_calls_at_all(self):
        """An idle target gives a whole, empty result in every format."""
        for format_ in ("tree", "flat", "folded", "json", "speedscope", "pprof", "callgrind", "csv"):
            target = self.target("steps")
            tracer = self.proftrace("-f", format_, "-p", target.pid).wait_tracing()
            done = tracer.interrupt()
            self.assertEqual(done.status, 0, str(done))
            if format_ == "folded":
                self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    harness.main()
