# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that were open when tracing began: exact calls stand below them, up to the thread's
begin."""

import json
import subprocess

import harness
from harness import PROFTRACE, PYTHON, program

REDIS = "/usr/bin/redis-server"
TIMES = 1000
DEPTH = 5
OWN = ("server", "descender")  # what threads begin with
# Within two calls, the first of which ends amid the run.
SCRIPT = """
import json, sys
def work(): return sum(len(json.dumps([{"a": 1}] * 100)) for i in range(20))
def wait():
    print("ready", flush=True)
    sys.stdin.readline()
    work()
wait()
work()
"""
ROOTS = {"_start", "clone", "clone3", "__clone", "__clone3", "thread_start"}


class Seeds(harness.TestCase):
    def paths(self, document, name):
        """Returns the paths of paths_to() from the program's own code on. Around that is libc's
        code, whose functions have many names, or none without debug information."""
        found = {}
        for path, calls in harness.paths_to(document, name).items():
            first = min(path.index(own) for own in OWN if own in path)
            self.assertGreater(first, 0, path)
            self.assertFalse("start_thread" in path and path[0] not in ROOTS, path)
            found[path[first:]] = calls
        return found

    def check_exact(self, document, done):
        """Functions that have not been asked for are shown if all calls were below them."""
        self.assert_counts(document, {name: done.counts[name] for name in ("handle", "leaf")}, done)
        self.assertEqual(self.paths(document, "handle"),
                         {("server", "serve", "handle"): TIMES})
        self.assertEqual(self.paths(document, "leaf"),
                         {("descender", "leaf"): DEPTH + 1})
        for thread in document["threads"]:
            for node, _, _ in harness.walk(thread["calls"]):
                name = document["functions"][node["function"]]["name"]
                self.assertEqual(bool(node["calls"]), name in ("handle", "leaf"), name)

    def test_exact(self):
        document, done = self.profile_pid("seeds", TIMES, options=("-F", "handle", "-F", "leaf"))
        self.check_exact(document, done)

    def test_all_functions(self):
        """A function with probes that was open at the start is shown around calls as long as it is
        open, and then where it is called."""
        document, done = self.profile_pid("seeds", TIMES, options=("-F", "seeds:*"))
        self.assertEqual(self.paths(document, "handle"), {
            ("server", "serve", way, "handle"): TIMES // 2 for way in ("by_odd",
                                                                                "by_even")})
        self.assertEqual(self.paths(document, "leaf"), {
            **{("descender", *["descend"] * level, "leaf"): 1
               for level in range(1, DEPTH + 1)},
            ("descender", "shallow", "leaf"): 1})
        self.assert_counts(document, done.counts, done)

    def test_jumps(self):
        """Where a call with a return probe leaves by a jump, what it jumps to has the kernel's
        trampoline for its return address: the function that both are below is there all the same.
        """
        document, done = self.profile_pid("jump_loop", TIMES, options=(
            "-F", "handle", "-F", "reply", "--exits", "return"))
        self.assert_counts(document, done.counts, done)
        paths = {name: harness.paths_to(document, name) for name in ("handle", "reply")}
        self.assertEqual({path[-3:]: calls for path, calls in paths["handle"].items()},
                         {("main", "serve", "handle"): TIMES})
        for path in paths["reply"]:
            self.assertEqual(path[path.index("main") + 1], "serve", path)

    def test_recorded(self):
        recording = self.path("proftrace.data")
        target = self.target("seeds", TIMES)
        tracer = self.process(PROFTRACE, "record", "-o", recording, "-F", "handle", "-F", "leaf",
                              "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        target.go()
        done = target.finish()
        self.assertEqual(tracer.finish().status, 0)
        shown = self.process(PROFTRACE, "report", "-f", "json", recording).finish()
        self.check_exact(json.loads(shown.stdout), done)

    def assert_rooted(self, document):
        """All but one in 100 exact calls are below the thread's first function."""
        names, calls = [f["name"] for f in document["functions"]], {True: 0, False: 0}
        for thread in document["threads"]:
            for root in thread["calls"]:
                for node, _, _ in harness.walk([root]):
                    calls[names[root["function"]] in ROOTS] += node["calls"]
        self.assertGreater(calls[True], 100)
        self.assertGreaterEqual(calls[True], 0.99 * sum(calls.values()), calls)

    def test_python(self):
        for options in ((), ("-F", "PyObject_*"), ("-F", "libc.so.6:malloc")):
            target = self.process(PYTHON, "-c", SCRIPT, stdin=subprocess.PIPE)
            target.wait_ready()
            tracer = self.proftrace("-f", "json", *options, "-p", target.pid).wait_tracing()
            target.go()
            self.assertEqual(target.finish().status, 0)
            self.assert_rooted(self.document(tracer.finish()))

    def test_redis(self):
        socket_path = self.path("redis.sock")
        server = self.process(REDIS, "--port", "0", "--unixsocket", socket_path, "--save", "",
                              stdin=subprocess.DEVNULL)
        self.assertTrue(harness.poll(lambda: harness.listens(socket_path)))
        for options in ((), ("-F", "lookupKey"), ("-F", "libc.so.6:*")):
            tracer = self.proftrace("-f", "json", *options, "-p", server.pid).wait_tracing()
            subprocess.run(["/usr/bin/redis-benchmark", "-s", socket_path, "-n", "3000", "-q",
                            "-t", "set,lpush"], check=True, stdout=subprocess.DEVNULL)
            self.assert_rooted(self.document(tracer.interrupt()))
        server.signal(15)
        server.finish()


if __name__ == "__main__":
    harness.main()
