# SPDX-License-Identifier: GPL-2.0-or-later
"""--callers: the callers of a function, none of them traced. Programs know their own paths; of real
ones nearly all stacks reach the thread's outermost function."""

import json
import subprocess

import harness
from harness import PROFTRACE, PYTHON, program
from test_sessions import REDIS

ROOTS = {"_start", "clone", "clone3", "__clone", "__clone3", "thread_start"}


class Callers(harness.TestCase):
    TIMES = 20

    def truth(self, stdout):
        """Returns the paths that the program itself printed, with the calls of each."""
        said = {}
        for line in stdout.splitlines():
            if line.startswith("PATH "):
                path, calls = line[len("PATH "):].rsplit(" ", 1)
                said[tuple(path.split(">"))] = int(calls)
        self.assertTrue(said)
        return said

    def check_known(self, document, done):
        own = program("callers")
        found = {tuple(name for name in path if name != "_start"): calls
                 for path, calls in harness.paths_to(document, "called", own).items()}
        self.assertEqual(found, self.truth(done.stdout), document["accounting"])
        self.assert_counts(document, done.counts, done)
        accounting = document["accounting"]
        self.assertEqual(accounting["callers_whole"], accounting["entered"], accounting)
        for path in harness.paths_to(document, "called"):
            self.assertIn(path[0], ROOTS, path)
        for function in document["functions"]:
            self.assertEqual(function.get("source"), None if function["name"] == "called"
                             else "caller")
            self.assertEqual(bool(function["calls"]), function["name"] == "called")
        self.assertEqual(document["probes"]["functions"], 1)

    def test_command(self):
        document, done = self.profile_command("callers", self.TIMES,
                                              options=("--callers", "-F", "called"))
        self.check_known(document, done)

    def test_pid(self):
        # Not "none": a call whose end is not seen passes for the caller of what is called deeper.
        for exits in ("auto", "sites", "return"):
            document, done = self.profile_pid("callers", self.TIMES, options=(
                "--callers", "-F", "called", "--exits", exits))
            self.check_known(document, done)

    def test_lazy_binding(self):
        """Through the dynamic linker's code that binds imports, whose frames are found by rbx."""
        document, done = self.profile_command("lazy", options=("--callers", "-F", "called"))
        found = {tuple(name for name in path if name != "_start"): calls for path, calls in
                 harness.paths_to(document, "called", program("lazy")).items()}
        self.assertEqual(found, self.truth(done.stdout), document["accounting"])
        self.assertEqual(document["accounting"]["callers_whole"], 3)
        for path in harness.paths_to(document, "called"):
            self.assertEqual(path[0], "_start")

    def test_below_traced_calls(self):
        """Stacks end at the innermost traced call; there the path goes on as ever."""
        document, done = self.profile_command(
            "callers", self.TIMES, options=("--callers", "-F", "called", "-F", "large", "-F",
                                            "main", "-F", "down"))
        found = {tuple(name for name in path if name != "_start"): calls for path, calls in
                 harness.paths_to(document, "called", program("callers")).items()}
        self.assertEqual(found, self.truth(done.stdout))
        self.assertEqual(document["accounting"]["callers_whole"],
                         document["accounting"]["entered"])
        kinds = {f["name"]: f.get("source") for f in document["functions"]}
        self.assertEqual([kinds[name] for name in ("called", "large", "main", "down", "plain")],
                         [None, None, None, None, "caller"])

    def test_library(self):
        """Callers are found in a file that is mapped late, as are calls."""
        document, done = self.profile_command("shapes-dlopen", options=(
            "--callers", "-F", "libshapes.so:shape_*"))
        self.assertTrue(any(f["calls"] for f in document["functions"]))
        self.assertEqual(document["accounting"]["callers_whole"],
                         document["accounting"]["entered"])
        names = {f["name"] for f in document["functions"]}
        self.assertLessEqual({"_start", "main"}, names)

    def test_name_of_a_library(self):
        """A user who asks for the callers of a function need not know its file, unless several have
        it."""
        documents = []
        for name in ("shape_area", "libshapes.so:shape_area"):
            document, done = self.profile_command("shapes-linked",
                                                  options=("--callers", "-F", name))
            said = "the program has no function 'shape_area': taking that of libshapes.so"
            self.assertEqual(said in done.stderr, name == "shape_area", str(done))
            called = {f["name"] for f in document["functions"] if f["calls"]}
            self.assertEqual(called, {"shape_area"})
            documents.append(document)
        calls = [sum(f["calls"] for f in document["functions"]) for document in documents]
        self.assertEqual(calls[0], calls[1])
        # Without --callers, and in a glob, a name without a file means the program's own functions.
        for options in (("-F", "shape_area"), ("--callers", "-F", "shape_are*")):
            done = self.run_proftrace(*options, "-l", "--", program("shapes-linked"))
            self.assert_one_line(done, 1, f"libshapes.so:{options[-1]}'")
        # The program's own function comes first.
        document, done = self.profile_command("callers", self.TIMES,
                                              options=("--callers", "-F", "called"))
        self.assertNotIn("has no function", done.stderr)
        self.check_known(document, done)

    def test_children(self):
        """A forked child's stacks are unwound, too."""
        document, _ = self.profile_command("forks", 3, 10, options=(
            "--callers", "--follow", "-F", "work"))
        accounting = document["accounting"]
        self.assertGreater(len({thread["pid"] for thread in document["threads"]}), 1)
        self.assertEqual(accounting["callers_whole"], accounting["entered"], accounting)

    def test_text(self):
        done = self.run_proftrace("--callers", "-F", "called", "-f", "tree", "--",
                                  program("callers"), self.TIMES)
        self.assertRegex(done.stdout, r"(?m)^callers: all known of [0-9]+ calls \(100\.0%\)$")

    def test_recording(self):
        """A recording holds everything that a live run shows of callers."""
        data, shown = self.path("data"), self.path("out.json")
        done = self.process(PROFTRACE, "record", "--callers", "-F", "called", "-o", data, "--",
                            program("callers"), self.TIMES).finish()
        self.assertEqual(done.status, 0, done)
        shows = self.process(PROFTRACE, "report", "-f", "json", "-o", shown, data).finish()
        self.assertEqual(shows.status, 0, shows)
        with open(shown, encoding="utf-8") as file:
            self.check_known(self.check(json.load(file)), done)

    def test_usage(self):
        self.assert_one_line(self.run_proftrace("--callers", "-x", program("callers")), 2,
                             "--callers", "-p")
        self.assert_one_line(self.run_proftrace("--callers", "--calls", "-p", "1"), 2,
                             "--callers", "--calls")

    def check_real(self, document, least):
        accounting, stacks = document["accounting"], harness.paths_to(document, "malloc")
        rooted = sum(calls for path, calls in stacks.items() if path[0] in ROOTS)
        entered = accounting["entered"]
        self.assertGreater(entered, least)
        self.assertGreaterEqual(accounting["callers_whole"], 0.98 * entered, accounting)
        self.assertGreaterEqual(rooted, 0.98 * entered, accounting)

    def test_python(self):
        document, _ = self.profile_command(
            PYTHON, "-c", "import json, re; json.loads(json.dumps([{'a': 'b' * 600}] * 2000))",
            options=("--callers", "-F", "libc.so.6:malloc"))
        self.check_real(document, 2000)

    def test_redis(self):
        socket_path = self.path("redis.sock")
        server = self.process(REDIS, "--port", "0", "--unixsocket", socket_path, "--save", "",
                              stdin=subprocess.DEVNULL)
        self.assertTrue(harness.poll(lambda: harness.listens(socket_path)))
        tracer = self.proftrace("-f", "json", "--callers", "-F", "*:zmalloc", "-F",
                                "*:ztrymalloc_usable", "-F", "*:je_malloc", "-F",
                                "libc.so.6:malloc", "-F", "libjemalloc.so.2:malloc",
                                "-p", server.pid).wait_tracing()
        subprocess.run(["/usr/bin/redis-benchmark", "-s", socket_path, "-n", "5000", "-q", "-t",
                        "set,lpush"], check=True, stdout=subprocess.DEVNULL)
        document = self.document(tracer.interrupt())
        accounting = document["accounting"]
        self.assertGreater(accounting["entered"], 1000)
        self.assertGreaterEqual(accounting["callers_whole"], 0.98 * accounting["entered"],
                                accounting)
        server.signal(15)
        server.finish()


if __name__ == "__main__":
    harness.main()
