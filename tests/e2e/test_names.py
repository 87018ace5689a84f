# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of programs without symbols: found in the code, or named by a debuginfod server."""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import urllib.request

import harness
from harness import poll, program

SOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")
UNLIMITED = ("--max-overhead", "none")


def symbols(path):
    """{vaddr: (size, name)} of the functions in .symtab."""
    done = subprocess.run(["readelf", "-sW", path], stdout=subprocess.PIPE, check=True)
    return {int(value, 16): (int(size, 0), name) for value, size, name in re.findall(
        r"^ *\d+: ([0-9a-f]+) +(\w+) (?:FUNC|IFUNC) .* (\S+)$", done.stdout.decode(), re.M)}


def address(path, name):
    return next(vaddr for vaddr, (_, known) in symbols(path).items() if known == name)


class Names(harness.TestCase):
    def stripped(self, name):
        path = self.path(name)
        subprocess.run(["strip", "-o", path, program(name)], check=True)
        return path

    def listed(self, path):
        done = self.run_proftrace(*UNLIMITED, "-l", "-f", "json", "-x", path)
        self.assertEqual(done.status, 0, str(done))
        return json.loads(done.stdout)

    def check_found(self, name):
        """Nearly all are found, none in the middle of another, and none gets a return probe."""
        whole, bare = self.listed(program(name)), self.listed(self.stripped(name))
        starts = {function["offset"] for function in whole["functions"]}
        found = {function["offset"] for function in bare["functions"]}
        self.assertGreaterEqual(len(starts & found) / len(starts), 0.98)
        known = symbols(program(name))
        pieces = [vaddr for vaddr, (_, called) in known.items() if ".cold" in called]
        nameless = 0
        for function in bare["functions"]:
            match = re.fullmatch(r"func_0x([0-9a-f]+)", function["name"])
            if not match:
                continue
            nameless += 1
            self.assertNotEqual(function["exit"], "return", function)
            vaddr = int(match[1], 16)
            self.assertNotIn(vaddr, pieces)
            inside = [called for start, (size, called) in known.items()
                      if start < vaddr < start + size]
            self.assertFalse(vaddr not in known and inside, (function, inside))
        self.assertGreater(nameless, len(starts) // 2)

    def test_third_party_code(self):
        self.check_found("nameless")

    def test_static(self):
        self.check_found("nameless-static")

    def test_exceptions(self):
        self.check_found("proofs")

    def test_entry_is_no_function(self):
        bare = self.listed(self.stripped("nameless-static"))
        entry = address(program("nameless-static"), "_start")
        self.assertNotIn(f"func_0x{entry:x}", [f["name"] for f in bare["functions"]])

    def check_same(self, name):
        """The program does the same as alone, and calls are counted exactly."""
        path = self.stripped(name)
        alone = self.process(path).finish()
        document, done = self.profile_command(path, options=UNLIMITED)
        self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
        self.assertEqual(alone.status, 3)
        called = f"func_0x{address(program(name), 'twice'):x}"
        self.assertEqual(self.count(document, called), alone.counts["twice"])
        forced, done = self.profile_command(path, options=(*UNLIMITED, "--exits", "return"))
        self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
        self.assertEqual(self.count(forced, called), alone.counts["twice"])

    def test_dynamic_survives(self):
        self.check_same("nameless")

    def test_static_survives(self):
        self.check_same("nameless-static")


class Plain(harness.TestCase):
    """Functions whose code shows that they are ordinary ones get the cheaper exits."""

    def stripped(self, name, source, *flags):
        whole, bare = self.path(name), self.path(name + "-bare")
        subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", *flags, "-x", "c", "-", "-o",
                        whole], input=source.encode(), check=True)
        subprocess.run(["strip", "-o", bare, whole], check=True)
        return bare, {called: f"func_0x{vaddr:x}" for vaddr, (_, called) in symbols(whole).items()}

    def exits(self, path):
        done = self.run_proftrace(*UNLIMITED, "-l", "--calls", "-f", "json", path)
        self.assertEqual(done.status, 0, str(done))
        return {f["name"]: f["exit"] for f in json.loads(done.stdout)["functions"]}

    LOOKS = """
        #include <stdio.h>
        #define TRACED __attribute__((noipa))
        unsigned long calls;
        TRACED int plain(int i) { calls++; return i + 1; }
        TRACED int calling(int i) { return plain(i) + plain(i); }
        TRACED long looking(void)
        {
            calls++;
            return (char *)__builtin_return_address(0) - (char *)plain;
        }
        int main(void)
        {
            int sum = 0;
            for (int i = 0; i < 100; i++)
                sum += calling(i);
            puts(sum == 10100 ? "right" : "wrong");
            printf("%ld", looking());
            return 5;
        }
    """

    def test_who_looks_at_its_return_address(self):
        path, names = self.stripped("looks", self.LOOKS)
        exits = self.exits(path)
        self.assertEqual({name: exits[names[name]] for name in ("plain", "calling", "looking")},
                         {"plain": "return", "calling": "return", "looking": "sites"})
        alone = self.process(path).finish()
        document, done = self.profile_command(path, options=UNLIMITED)
        self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
        self.assertEqual(self.count(document, names["plain"]), 200)
        self.assertEqual(document["accounting"]["returned"], document["accounting"]["entered"])

    def test_static_programs_show_nothing(self):
        path, _ = self.stripped("static", self.LOOKS, "-static")
        self.assertNotIn("return", self.exits(path).values())

    def test_third_party_code(self):
        exits = self.exits(self.stripped_program("nameless"))
        nameless = [how for name, how in exits.items() if name.startswith("func_0x")]
        self.assertGreater(nameless.count("return") / len(nameless), 0.9)

    def stripped_program(self, name):
        path = self.path(name)
        subprocess.run(["strip", "-o", path, program(name)], check=True)
        return path

    def test_switches_of_its_own(self):
        """A program that switches stacks by code of its own: no return address may be exchanged."""
        path = self.stripped_program("own_switch")
        self.assertNotIn("return", self.exits(path).values())
        alone = self.process(path).finish()
        for options in ((), ("--exits", "return")):
            document, done = self.profile_command(path, options=(*UNLIMITED, *options))
            self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
            leaf = f"func_0x{address(program('own_switch'), 'leaf'):x}"
            self.assertEqual(self.count(document, leaf), alone.counts["leaf"])

    def test_switches_by_unknown_names(self):
        """The same program with symbols: no list of names has the name of its switch."""
        alone = self.process(program("own_switch")).finish()
        document, done = self.profile_command("own_switch", options=UNLIMITED)
        self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout))
        self.assertEqual(self.count(document, "leaf"), alone.counts["leaf"])


# Programs that change their stacks by functions whose names nobody knows any more: setjmp,
# makecontext, the unwinder.
DEEDS = {
    "throws": (10, 100), "rethrow": (20,), "longjmp": (5, 100, "signal"), "coroutine": (50,),
    "fibers": (4, 4), "altstack": ("above", 50, "jump"), "signals": (50,), "generators": (20,),
    "thread_ends": ("cancel", 10, 20),
}


class Deeds(harness.TestCase):
    def check_same(self, name, flags, strategies):
        path = self.path(name)
        source = next(s for s in (f"{SOURCES}/{name}.cpp", f"{SOURCES}/{name}.c")
                      if os.path.exists(s))
        compiler = ["g++", "-std=gnu++20"] if source.endswith("pp") else ["gcc", "-std=gnu11"]
        subprocess.run([*compiler, "-O2", "-w", "-s", *flags, "-D_GNU_SOURCE", source, "-o", path,
                        "-lpthread"], check=True)
        alone = self.process(path, *DEEDS[name], stdin=subprocess.DEVNULL).finish()
        for exits in strategies:
            document, done = self.profile_command(path, *DEEDS[name],
                                                  options=(*UNLIMITED, *exits))
            self.assertEqual((done.status, done.stdout), (alone.status, alone.stdout), exits)
            self.assertTrue(any(f["name"].startswith("func_0x") for f in document["functions"]))

    def test_dynamic(self):
        for name in DEEDS:
            with self.subTest(name):
                self.check_same(name, (), ((), ("--exits", "return")))

    def test_static(self):
        for name in ("longjmp", "coroutine", "fibers", "altstack", "thread_ends"):
            with self.subTest(name):
                self.check_same(name, ("-static",), ((),))


class Answers(http.server.BaseHTTPRequestHandler):
    """A server that is no good: what it answers is its `answer`."""

    def do_GET(self):
        answer = self.server.answer
        self.send_response(404 if answer is None else 200)
        if answer is None or answer != "endless":
            self.send_header("Content-Length", str(len(answer or b"")))
        self.end_headers()
        try:
            while answer == "endless":
                self.wfile.write(bytes(1 << 16))
            self.wfile.write(answer or b"")
        except OSError:
            pass

    def log_message(self, *_):
        pass


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class Debuginfod(harness.TestCase):
    def setUp(self):
        super().setUp()
        # The process that fetches runs as nobody.
        self.open = tempfile.mkdtemp()
        os.chmod(self.open, 0o777)
        self.addCleanup(shutil.rmtree, self.open)
        self.bare = self.path("bare")
        self.debug = self.path("debug/bare.debug")
        os.mkdir(os.path.dirname(self.debug))
        whole = self.build("bare", "int main(void) { return 7; }")
        subprocess.run(["objcopy", "--only-keep-debug", whole, self.debug], check=True)
        subprocess.run(["strip", whole], check=True)

    def build(self, name, source):
        path = self.path(name)
        subprocess.run(["gcc", "-g", "-O2", "-Wl,--build-id", "-x", "c", "-", "-o", path],
                       input=source.encode(), check=True)
        return path

    def run_with(self, url, **env):
        done = self.run_proftrace("-f", "json", "-o", self.path("out"), "--", self.bare, env={
            **os.environ, "DEBUGINFOD_URLS": url,
            "DEBUGINFOD_CACHE_PATH": os.path.join(self.open, "cache"), **env})
        self.assertEqual(done.status, 7, str(done))
        with open(self.path("out"), encoding="utf-8") as file:
            return self.check(json.load(file), done), done

    def refuse(self, url, *words, **env):
        document, done = self.run_with(url, **env)
        lines = [line for line in done.stderr.splitlines()
                 if "debuginfod" in line and "waiting" not in line]
        self.assertEqual(len(lines), 1, str(done))
        for word in (self.bare, *words):
            self.assertIn(word, lines[0])
        names = [function["name"] for function in document["functions"]]
        self.assertTrue(names and all(name.startswith("func_0x") for name in names), names)
        return done

    def serve(self, answer):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        server.answer, server.daemon_threads = answer, True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def test_server(self):
        url = f"http://127.0.0.1:{free_port()}"
        self.process("debuginfod", "-F", "-p", url.rpartition(":")[2], "-t", "0", "-d", ":memory:",
                     os.path.dirname(self.debug))
        notes = subprocess.run(["readelf", "-n", self.debug], stdout=subprocess.PIPE, check=True)
        build_id = re.search(r"Build ID: (\w+)", notes.stdout.decode())[1]

        def is_ready():
            try:
                return urllib.request.urlopen(f"{url}/buildid/{build_id}/debuginfo").status == 200
            except OSError:
                return False
        self.assertTrue(poll(is_ready))
        document, done = self.run_with(url)
        self.assertNotIn("proftrace: debuginfod:", done.stderr)
        self.assertEqual([f["name"] for f in document["functions"]], ["main"])
        cached = os.stat(os.path.join(self.open, "cache", build_id, "debuginfo"))
        self.assertNotEqual(cached.st_uid, 0)

    def test_sudo_user_fetches(self):
        with open(self.debug, "rb") as file:
            url = self.serve(file.read())
        self.run_with(url, SUDO_UID="1234", SUDO_GID="1234")
        for path, _, names in os.walk(os.path.join(self.open, "cache")):
            for name in names:
                self.assertEqual(os.stat(os.path.join(path, name)).st_uid, 1234)

    def test_server_is_down(self):
        self.refuse(f"http://127.0.0.1:{free_port()}")

    def test_server_has_nothing(self):
        self.refuse(self.serve(None), "no server has it")

    def test_garbage(self):
        self.refuse(self.serve(b"<html>" * 1000), "does not belong")

    def test_another_programs_file(self):
        other = self.build("other", "int main(void) { return 1; }")
        with open(other, "rb") as file:
            self.refuse(self.serve(file.read()), "does not belong")

    def test_endless(self):
        self.refuse(self.serve("endless"), DEBUGINFOD_MAXTIME="2")

    def test_nobody_answers(self):
        """On a machine without a network the distribution may have set servers for all users."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            done = self.refuse(url, "takes too long", DEBUGINFOD_TIMEOUT="3")
            self.assertIn("debuginfod: waiting", done.stderr)

    def test_interrupt_of_planning(self):
        """Whatever the plan is waiting for or busy with, nothing of the target's has begun."""
        out = self.path("out")
        with open(out, "w", encoding="utf-8") as file:
            file.write("kept")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            env = {**os.environ, "DEBUGINFOD_TIMEOUT": "1000", "DEBUGINFOD_MAXTIME": "1000",
                   "DEBUGINFOD_URLS": f"http://127.0.0.1:{silent.getsockname()[1]}",
                   "DEBUGINFOD_CACHE_PATH": os.path.join(self.open, "cache")}
            for signo in (signal.SIGINT, signal.SIGTERM):
                tracer = self.proftrace("-o", out, "--", self.bare, env=env)
                self.assertTrue(tracer.stderr.wait_lines("proftrace: debuginfod: waiting"))
                tracer.signal(signo)
                self.assertEqual(tracer.finish().status, -signo)
                self.assertTrue(harness.poll(
                    lambda tracer=tracer: not harness.session_members(tracer.pid)))
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept")

    def test_without_urls_nothing_is_asked(self):
        _, done = self.run_with("")
        self.assertNotIn("proftrace: debuginfod:", done.stderr)


if __name__ == "__main__":
    harness.main()
