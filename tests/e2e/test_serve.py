# SPDX-License-Identifier: GPL-2.0-or-later
"""`--serve`: the page of a run that goes on, as browsers and others are given it."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import urllib.parse
import zlib

import browser
import harness
import schemas

FUNCTIONS = ("-F", "request", "-F", "parse", "-F", "word", "-F", "answer")
VIEWERS = 20


class Stream:
    """A viewer: reads events, in the order that they are sent."""

    def __init__(self, address, *words):
        self.connection = http.client.HTTPConnection(address.netloc, timeout=harness.TIMEOUT)
        self.connection.request("GET", f"{address.path}events")
        self.response = self.connection.getresponse()
        self.unzip = zlib.decompressobj(31)
        self.text = b""
        self.bytes = 0

    def read(self):
        """Whether the stream has not ended."""
        piece = self.response.read1(1 << 16)
        self.bytes += len(piece)
        self.text += self.unzip.decompress(piece)
        return bool(piece)

    def rest(self):
        """The events until the stream ends. They are looked at only then: once a run is over its
        server waits two seconds for those who read."""
        while self.read():
            pass
        return list(iter(self.event, None))

    def event(self):
        """(name, data) of the next event; None: the stream has ended."""
        while True:
            while b"\n\n" not in self.text:
                if not self.read():
                    return None
            event, self.text = self.text.split(b"\n\n", 1)
            found = re.fullmatch(rb"event: (\w+)\ndata: (.*)", event)
            if found:
                data = json.loads(found[2])
                if found[1] == b"profile":
                    schemas.check(data)
                return found[1].decode(), data

    def profile(self):
        name, data = self.event()
        assert name == "profile", name
        return data["profile"]

    def close(self):
        self.response.close()
        self.connection.close()


def calls_of(profile):
    return dict(zip(profile["functions"]["name"], profile["functions"]["calls"]))


class Case(harness.TestCase):
    def serve(self, *args, at="0"):
        """Starts a run; self.address is where its page is."""
        run = self.process(harness.PROFTRACE, "--serve", at, *map(str, args))
        return self.find_address(run)

    def find_address(self, run):
        self.assertTrue(run.stderr.wait_lines("proftrace: the page is at "), run.stderr.text())
        self.address = urllib.parse.urlsplit(re.search(r"http:\S+", run.stderr.text())[0])
        return run

    def serving(self, *args, **options):
        self.program = self.target("serving")
        self.program.go()
        return self.serve(*args, "-p", self.program.pid, **options)

    def stream(self):
        stream = Stream(self.address)
        self.addCleanup(stream.close)
        self.assertEqual(stream.response.status, 200)
        return stream

    def ask(self, path, method="GET", body=None, **headers):
        """(status, headers, body) of the answer."""
        connection = http.client.HTTPConnection(self.address.netloc, timeout=harness.TIMEOUT)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def end(self, run, status=0):
        # Before, the signal ends it at once.
        self.assertTrue(run.stderr.wait_lines("proftrace: tracing"), run.stderr.text())
        run.signal(signal.SIGINT)
        result = run.finish()
        self.assertEqual(result.status, status, result)
        return result


class Figures(Case):
    def test_last_update_is_the_result(self):
        run = self.serving(*FUNCTIONS, "-o", self.path("out.json"))
        stream = self.stream()
        first, second = stream.profile(), stream.profile()
        self.assertGreater(second["duration"], first["duration"])
        self.assertGreater(calls_of(second)["request"], calls_of(first)["request"])
        run.signal(signal.SIGINT)
        events = stream.rest()
        self.assertEqual(events.pop(), ("end", {}))
        self.assertEqual(run.finish().status, 0)
        with open(self.path("out.json"), encoding="utf-8") as file:
            document = json.load(file)
        last = events[-1][1]
        self.assertEqual(calls_of(last["profile"]),
                         {f["name"]: f["calls"] for f in document["functions"]})
        self.assertEqual(last["paths"], len(last["profile"]["paths"]["depth"]))
        self.assertEqual(last["profile"]["accounting"], document["accounting"])
        self.assertEqual(last["profile"]["duration"], document["duration_ns"])

    def test_late_viewers_and_those_who_leave(self):
        run = self.serving(*FUNCTIONS, "-i", "0.2")
        first = self.stream()
        first.profile()
        first.close()
        late = self.stream()
        calls = [calls_of(late.profile())["word"] for _ in range(3)]
        self.assertEqual(calls, sorted(calls))
        self.assertGreater(calls[2], calls[0])
        self.end(run)

    def test_recording(self):
        self.program = self.target("serving")
        self.program.go()
        run = self.process(harness.PROFTRACE, "record", "--serve", "0", "-o", self.path("data"),
                           *FUNCTIONS, "-p", str(self.program.pid))
        self.find_address(run)
        self.assertGreater(calls_of(self.stream().profile())["word"], 0)
        self.end(run)
        report = self.process(harness.PROFTRACE, "report", "-f", "json", self.path("data")).finish()
        self.assertGreater(self.calls(self.document(report))["word"], 0)

    def test_command_and_file(self):
        """The end of a command is the stream's, and its status the run's."""
        run = self.serve("-F", "request", "--", harness.program("serving"))
        run.go()
        stream = self.stream()
        self.assertGreater(calls_of(stream.profile())["request"], 0)
        run.popen.stdin.close()
        self.assertEqual(stream.rest()[-1], ("end", {}))
        self.assertEqual(run.finish().status, 0)
        run = self.serve("-x", harness.program("serving"), "-F", "request")
        self.assertTrue(run.stderr.wait_lines("proftrace: tracing"))
        program = self.target("serving")
        program.go()
        stream = self.stream()
        while "request" not in calls_of(stream.profile()):
            pass
        self.end(run)

    def test_sessions(self):
        """How many there were and how long they took; what was not called is no session yet."""
        run = self.serving(*FUNCTIONS, "--session", "req*", "--session", "word")
        stream = self.stream()
        for _ in range(2):
            profile = stream.profile()
            names = profile["functions"]["name"]
            groups = {names[g["function"]]: g for g in profile["sessions"]["groups"]}
            self.assertEqual(set(groups), {"request", "word"})
            self.assertIsNone(profile["timeline"])
            for name, group in groups.items():
                self.assertEqual(group["count"], calls_of(profile)[name])
                self.assertLessEqual(group["p50"], group["p99"])
                self.assertLessEqual(group["p99"], group["max"])
                self.assertAlmostEqual(group["per_second"],
                                       group["count"] * 1e9 / profile["duration"], places=3)
        self.end(run)
        run = self.serving(*FUNCTIONS)
        self.assertIsNone(self.stream().profile()["sessions"])
        self.end(run)

    def test_many_viewers_see_the_same(self):
        run = self.serving(*FUNCTIONS)
        streams = [self.stream() for _ in range(VIEWERS)]
        for stream in streams:
            stream.profile()
        seen = [stream.profile() for stream in streams]
        self.assertEqual([p["duration"] for p in seen], [seen[0]["duration"]] * VIEWERS)
        self.end(run)


class Requests(Case):
    """Requests of strangers; the run hears nothing of them."""

    def test_token(self):
        run = self.serving(*FUNCTIONS)
        self.assertRegex(self.address.path, r"^/[0-9a-f]{32}/$")
        status, headers, body = self.ask(self.address.path)
        self.assertEqual(status, 200)
        self.assertIn(b"connect-src 'self'", zlib.decompress(body, 31))
        self.assertEqual(headers["Referrer-Policy"], "no-referrer")
        other = "/" + "0" * 32
        answers = {self.ask(path)[0::2] for path in
                   ("/", "/events", other + "/", other + "/events", self.address.path[:-2] + "/",
                    self.address.path + "x", self.address.path + "../events", "/" + "a" * 9000)}
        self.assertEqual([status for status, _ in answers], [404])
        self.assertNotIn(self.address.path.strip("/").encode(), answers.pop()[1])
        self.end(run)

    def test_other_sites(self):
        run = self.serving(*FUNCTIONS)
        events = self.address.path + "events"
        for origin in ("http://evil.example", "null", "https://" + self.address.netloc):
            self.assertEqual(self.ask(events, Origin=origin)[0], 403)
        self.assertEqual(self.ask(self.address.path, Origin=f"http://{self.address.netloc}")[0], 200)
        for method in ("POST", "PUT", "OPTIONS", "DELETE"):
            self.assertEqual(self.ask(events, method, b"x" * 10)[0], 405)
        self.end(run)

    def test_zoom(self):
        """The page has a function made exact, and lets go; nobody else may."""
        run = self.serving("-i", "0.3")
        stream = self.stream()

        def until(condition):
            profile = stream.profile()
            while not condition(profile):
                profile = stream.profile()
            return profile

        def zoom(what, **headers):
            return self.ask(f"{self.address.path}zoom/{what}", "POST", **headers)[0]

        def dropped(profile):
            return {drop["name"] for drop in profile["drops"] if not drop["back"]}

        site = f"http://{self.address.netloc}"
        profile = until(lambda p: "parse" in p["functions"]["name"] and "parse" in dropped(p))
        self.assertEqual(profile["zoom"]["zoomed"], False)
        parse = profile["zoom"]["ids"][profile["functions"]["name"].index("parse")]
        self.assertEqual(zoom(parse), 403)
        self.assertEqual(zoom(parse, Origin="http://evil.example"), 403)
        for what in ("x", "-1", f"{parse}/x", "1" * 20, f"{parse}%20"):
            self.assertEqual(zoom(what, Origin=site), 405)
        self.assertEqual(zoom(parse, Origin=site), 204)
        profile = until(lambda p: p["zoom"]["zoomed"] and "parse" not in dropped(p))
        names = profile["functions"]["name"]
        self.assertEqual(names[profile["zoom"]["function"]], "parse")
        self.assertIn("parse", [names[i] for i in profile["zoom"]["chosen"]])
        # A number that no function has lets go as well.
        self.assertTrue(harness.poll(lambda: zoom("99999999", Origin=site) == 204))
        until(lambda p: not p["zoom"]["zoomed"])
        # Too many wishes at once are refused, and the run goes on.
        answers = {zoom("none", Origin=site) for _ in range(50)}
        self.assertLessEqual(answers, {204, 503})
        self.end(run)

    def test_without_token(self):
        run = self.serving(*FUNCTIONS, "--no-token")
        self.assertEqual(self.address.path, "/")
        port = self.address.port
        self.assertEqual(self.ask("/")[0], 200)
        self.assertEqual(self.ask("/", Host=f"localhost:{port}")[0], 200)
        self.assertEqual(self.ask("/zoom/1", "POST", Origin=f"http://localhost:{port}",
                                  Host=f"localhost:{port}")[0], 405)
        # A name that somebody's DNS has for our address.
        self.assertEqual(self.ask("/", Host=f"evil.example:{port}")[0], 403)
        self.end(run)

    def raw(self, data):
        """Returns all that the server answers to these bytes."""
        with socket.create_connection((self.address.hostname, self.address.port),
                                      timeout=harness.TIMEOUT) as connection:
            try:
                connection.sendall(data)
                answer = b""
                while piece := connection.recv(4096):
                    answer += piece
                return answer
            except (BrokenPipeError, ConnectionResetError):
                return b""

    def test_hostile_requests(self):
        run = self.serving(*FUNCTIONS, "-i", "0.2")
        stream = self.stream()
        path = self.address.path.encode()
        for data in (b"\0\xff\r\n\r\n" * 1000, b"GET " + b"/" * 200000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000 + b"\r\n",
                     b"POST " + path + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n" +
                     b"x" * 1000000,
                     b"GET " + path + b" HTTP/9.9\r\n\r\n"):
            answer = self.raw(data)
            self.assertNotIn(b" 200 ", answer[:20], data[:60])
        # Connections that say nothing, or begin and do not end.
        silent = [socket.create_connection((self.address.hostname, self.address.port))
                  for _ in range(30)]
        for connection in silent:
            connection.sendall(b"GET / HTT")
        before = stream.profile()["duration"]
        self.assertGreater(stream.profile()["duration"], before)
        for connection in silent:
            connection.close()
        self.assertGreater(calls_of(self.stream().profile())["word"], 0)
        self.assertEqual(self.end(run).stderr.count("warning"), 0)

    def test_thousand_connections(self):
        """More than are served at a time: of requests without an end, and of what is none. They
        cost no memory to speak of, and whoever looks already goes on looking."""
        run = self.serving(*FUNCTIONS, "-i", "0.2")
        server, = [pid for pid in harness.session_members(run.pid)
                   if self.comm(pid) == "proftrace-serve"]
        stream = self.stream()
        path = self.address.path.encode()
        head = b"GET " + path + b"events HTTP/1.1\r\nHost: a\r\n"
        kinds = (b"G", head, head + b"\r\n", head + b"A: " + b"b" * 40000,
                 head + b"Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x85aaaa",
                 b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01" + bytes(500),
                 b"POST " + path + b"zoom/1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
                 b"ffffffffffffffff\r\n")
        with contextlib.ExitStack() as connections:
            for number in range(1000):
                connection = connections.enter_context(socket.socket())
                connection.setblocking(False)
                connection.connect_ex((self.address.hostname, self.address.port))
                # One that waits for its turn cannot be written to.
                with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionError):
                    connection.send(kinds[number % len(kinds)])
            durations = [stream.profile()["duration"] for _ in range(4)]
            self.assertEqual(durations, sorted(set(durations)))
            with open(f"/proc/{server}/status", encoding="utf-8") as file:
                most, = re.findall(r"VmHWM:\s+(\d+) kB", file.read())
            self.assertLess(int(most), 64 << 10)
        self.assertGreater(calls_of(self.stream().profile())["word"], 0)
        self.assertEqual(self.end(run).stderr.count("warning"), 0)

    def test_slow_readers(self):
        """Slow readers keep nobody waiting, and do not get the updates that they have missed."""
        run = self.serving(*FUNCTIONS, "-i", "0.05")
        slow = self.stream()
        fast = self.stream()
        durations = []
        for _ in range(5):
            for _ in range(4):
                last = fast.profile()["duration"]
            # A reader who takes nothing for 15 s is sent away.
            durations.append(slow.profile()["duration"])
        self.assertLess(durations[-1], last)
        run.signal(signal.SIGINT)
        durations += [data["profile"]["duration"] for name, data in slow.rest()
                      if name == "profile"]
        self.assertGreaterEqual(durations[-1], last)
        self.assertEqual(durations, sorted(durations))
        self.assertEqual(run.finish().status, 0)

    def test_server_is_nobody(self):
        run = self.serving(*FUNCTIONS)
        server, = [pid for pid in harness.session_members(run.pid)
                   if self.comm(pid) == "proftrace-serve"]
        with open(f"/proc/{server}/status", encoding="utf-8") as file:
            status = dict(line.split(":\t", 1) for line in file.read().splitlines())
        self.assertEqual(status["Uid"].split(), ["65534"] * 4)
        self.assertEqual(int(status["CapEff"], 16) | int(status["CapPrm"], 16), 0)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        # The server has none of the run's files: it has nothing to read, two descriptors that write
        # nowhere, and those that it serves with.
        self.assertTrue({os.readlink(f"/proc/{server}/fd/{fd}").split(":")[0]
                         for fd in os.listdir(f"/proc/{server}/fd")} <=
                        {"/dev/null", "pipe", "socket", "anon_inode"})
        # A run that is killed leaves no server behind.
        run.kill()
        self.assertTrue(harness.poll(lambda: not os.path.exists(f"/proc/{server}")))

    @staticmethod
    def comm(pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()

    def test_server_is_killed(self):
        """The run goes on, and says it once."""
        run = self.serving(*FUNCTIONS, "-i", "0.1", "-o", self.path("out.json"))
        stream = self.stream()
        stream.profile()
        server, = [pid for pid in harness.session_members(run.pid)
                   if self.comm(pid) == "proftrace-serve"]
        os.kill(server, signal.SIGKILL)
        self.assertTrue(run.stderr.wait_lines("proftrace: the process that serves the page"))
        self.end(run)
        self.assertTrue(os.path.getsize(self.path("out.json")))


class BadInput(Case):
    def test_addresses(self):
        for text in ("x", "", ":", "80x", "65536", "-1", "host:80", "1.2.3:80", "::1:80", "[::1]",
                     "[::1]:x", "127.0.0.1:", "8080 "):
            done = self.process(harness.PROFTRACE, "--serve", text, "-p", "1").finish()
            self.assert_one_line(done, 2, "--serve", "0.0.0.0:8080")

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = self.process(harness.PROFTRACE, "--serve", str(port), "-p", str(os.getpid())
                                ).finish()
            self.assert_one_line(done, 1, f"--serve 127.0.0.1:{port}: Address already in use")
        done = self.process(harness.PROFTRACE, "--serve", "192.0.2.1:0", "-p", str(os.getpid())
                            ).finish()
        self.assert_one_line(done, 1, "--serve 192.0.2.1:0: Cannot assign")

    def test_other_addresses(self):
        run = self.serving(*FUNCTIONS, at="0.0.0.0:0")
        self.assertTrue(run.stderr.wait_lines("proftrace: the page is sent unencrypted"))
        self.assertEqual(self.address.hostname, socket.gethostname().lower())
        self.end(run)
        run = self.serve("-p", self.program.pid, *FUNCTIONS, at="[::1]:0")
        self.assertGreater(calls_of(self.stream().profile())["word"], 0)
        self.end(run)

    def test_wrong_options(self):
        for words in (["top", "--serve", "0", "-p", "1"], ["report", "--serve", "0"],
                      ["record", "--serve", "0", "-i", "1", "-o", "x", "-p", "1"],
                      ["--no-token", "-p", "1"], ["--serve", "0", "--calls", "-p", "1"],
                      ["--serve", "0", "--session", "f", "--slowest", "3", "-p", "1"]):
            done = self.process(harness.PROFTRACE, *words).finish()
            self.assertEqual(done.status, 2, words)
            self.assertRegex(done.stderr, "serve")


class Page(Case):
    """In a browser."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.shared()

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def wait_text(self, selector, pattern):
        self.assertTrue(self.browser.wait(lambda: re.search(pattern, self.text(selector))),
                        self.text(selector))

    def word_calls(self):
        return int(self.browser.run("""
            return [...document.querySelectorAll("#function-grid .rows .row:not([hidden])")]
                .find((row) => row.querySelector(".name").textContent === "word")
                .children[2].textContent""").replace(",", ""))

    def choose(self, name):
        """A click at the function's row."""
        self.browser.run("""
            [...document.querySelectorAll("#function-grid .rows .row")]
                .find((row) => row.querySelector(".name").textContent === arguments[0]).click()""",
                         name)

    def button(self, text):
        """A click at a button of the function that is chosen, where it can be seen. Each update makes
        the button anew, so it is found and clicked at in one go."""
        self.assertTrue(self.browser.wait(lambda: self.browser.run("""
            const button = [...document.querySelectorAll("aside button")]
                .find((button) => button.textContent === arguments[0]);
            button?.scrollIntoView({block: "nearest"});
            const at = button?.getBoundingClientRect();
            if (!at || document.elementFromPoint(at.x + at.width / 2, at.y + at.height / 2) !== button)
                return false;
            button.click();
            return true;""", text)), self.text("aside"))

    def test_page(self):
        run = self.serving(*FUNCTIONS, "-i", "0.2")
        self.browser.open(self.address.geturl())
        self.wait_text("#live", "^live")
        self.assertRegex(self.text("#facts"), r"\d functions")
        self.browser.click("#tab-functions")
        before = self.word_calls()
        self.assertTrue(self.browser.wait(lambda: self.word_calls() > before))
        # The chosen row stays chosen, whatever its place.
        self.choose("word")
        self.wait_text("aside h2", "^word$")
        before = self.word_calls()
        self.assertTrue(self.browser.wait(lambda: self.word_calls() > before))
        self.assertEqual(self.text("aside h2"), "word")
        # Held, nothing changes; then it goes on.
        self.browser.click("#live button")
        self.wait_text("#live", "^held")
        before = self.word_calls(), self.text("#facts")
        stream = self.stream()
        for _ in range(3):
            stream.profile()
        self.assertEqual((self.word_calls(), self.text("#facts")), before)
        self.browser.click("#live button")
        self.assertTrue(self.browser.wait(lambda: self.word_calls() > before[0]))
        self.end(run)
        self.wait_text("#live", "^the run has ended")
        # The page asks for nothing but itself and its events.
        asked = {urllib.parse.urlsplit(url).path for url in self.browser.requests()
                 if not url.startswith("data:")}
        self.assertEqual(asked, {self.address.path, self.address.path + "events"})
        self.assertEqual(self.browser.logs(), [])

    def test_sessions(self):
        run = self.serving(*FUNCTIONS, "-i", "0.2", "--session", "request")
        self.browser.open(self.address.geturl())
        self.wait_text("#live", "^live")
        self.browser.click("#tab-sessions")
        self.wait_text("#view-sessions tbody", r"^\d.*request$")
        before = self.text("#view-sessions tbody")
        self.assertTrue(self.browser.wait(lambda: self.text("#view-sessions tbody") != before))
        self.assertIn("proftrace record --session", self.text("#view-sessions"))
        self.assertEqual(self.browser.logs(), [])
        self.end(run)

    def test_zoom_button(self):
        """A click makes a function exact that was dropped; another one lets go of it."""
        run = self.serving("-i", "0.3")
        self.browser.open(self.address.geturl())
        self.wait_text("#live", "^live")
        self.browser.click("#tab-functions")
        self.assertTrue(self.browser.wait(lambda: "parse" in self.text("#function-grid .rows")))
        self.choose("parse")
        self.wait_text("aside", r"Was dropped for the budget after [^:]*: calls and times are "
                                r"those until then\.")
        self.button("Zoom: make it exact")
        self.wait_text("#live", "^live, zoomed into a function")
        self.wait_text("aside", "Zoomed into: it is exact")
        self.wait_text("aside", r"Was dropped for the budget after [^:]*: calls and times are "
                                r"those until then, and from [\d.]+ m?s on")
        # The function's callees cost more than the budget, which the second button spends.
        self.button("All of it, whatever it costs")
        self.choose("word")
        self.wait_text("aside", "exact for the sake of the function that is zoomed into")
        self.choose("parse")
        self.button("Let go")
        self.wait_text("#live", "^live(?!,)")
        self.wait_text("aside", "Zoom: make it exact")
        # Clicks that follow each other too fast are refused, and asked again.
        self.assertEqual([line for line in self.browser.logs() if "status of 503" not in line], [])
        self.end(run)

    def test_zoom_and_open_rows_stay(self):
        run = self.serving(*FUNCTIONS, "-i", "0.2")
        self.browser.open(self.address.geturl())
        self.wait_text("#live", "^live")
        self.browser.run("document.querySelector('#view-flame canvas').focus()")
        # From the thread over its callers and request to what that calls.
        self.browser.press("HOME", *["ARROW_DOWN"] * 5, "ENTER")
        zoomed, facts = self.text(".zoomed"), self.text("#facts")
        self.assertRegex(zoomed, "^Zoomed to ")
        name = self.text("#status b")
        self.assertTrue(self.browser.wait(lambda: self.text("#facts") != facts))
        self.assertRegex(self.text(".zoomed"), "^Zoomed to ")
        self.assertEqual(self.text("#status b"), name)
        self.browser.click("#tab-tree")
        self.browser.run("document.querySelector('#tree-grid').focus()")
        self.browser.press("HOME", "ARROW_LEFT")
        rows = "return document.querySelectorAll('#tree-grid .rows .row:not([hidden])').length"
        closed, facts = self.browser.run(rows), self.text("#facts")
        self.assertTrue(self.browser.wait(lambda: self.text("#facts") != facts))
        self.assertEqual(self.browser.run(rows), closed)
        self.browser.press("*")
        opened, facts = self.browser.run(rows), self.text("#facts")
        self.assertGreater(opened, closed)
        self.assertTrue(self.browser.wait(lambda: self.text("#facts") != facts))
        self.assertEqual(self.browser.run(rows), opened)
        self.assertEqual(self.browser.logs(), [])
        self.end(run)


if __name__ == "__main__":
    harness.main()
