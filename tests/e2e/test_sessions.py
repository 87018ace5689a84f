# SPDX-License-Identifier: GPL-2.0-or-later
"""Sessions: requests of a server that logs how long each took, by its own clock, from inside of its
functions and from outside. What is measured lies between both, however busy the machine is."""

import collections
import http.client
import json
import os
import re
import socket
import subprocess

import harness
import test_page
from harness import PROFTRACE, UNLIMITED, program
from test_real_programs import SQL_SCRIPT, SQLITE

LINK = "submit(arg1) -> run(arg2)"
NGINX = "/usr/sbin/nginx"
NGINX_CONF = """
daemon off; master_process off; pid {0}/pid; error_log stderr crit; user root;
events {{ worker_connections 64; }}
http {{
	access_log off; client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3;
	uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;
	server {{
		listen unix:{0}/socket;
		location /quick {{ return 200 "quick"; }}
		location / {{ root {0}; gzip on; gzip_types text/plain; default_type text/plain; }}
	}}
}}
"""
REDIS = "/usr/bin/redis-server"
# The set to be freed: what the command hands over, and what the thread that frees it is given.
REDIS_LINK = "bioCreateLazyFreeJob(arg3) -> lazyfreeFreeObject(arg1+0)"
FUNCTIONS = ("-F", "handle", "-F", "submit", "-F", "run", "-F", "look_up")


def requests_of(done):
    """{thread: [(least, most, tasks)]} of the server's log, in order."""
    log = {}
    for line in done.stdout.splitlines():
        if line.startswith("REQUEST "):
            tid, *row = map(int, line.split()[1:])
            log.setdefault(tid, []).append(tuple(row))
    return log


def calls_of(nodes):
    """Yields (call, caller) of each call in a forest of single calls, callers first."""
    stack = [(node, None) for node in nodes]
    while stack:
        node, caller = stack.pop()
        yield node, caller
        stack += [(child, node) for child in node["children"]]


class Sessions(harness.TestCase):
    def live(self, *args, command, name="out.json"):
        path = self.path(name)
        done = self.process(PROFTRACE, *UNLIMITED, "-o", path, *args, "--", *command,
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        return path, done

    def verb(self, *args, status=0):
        done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, status, str(done))
        return done

    def load(self, path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def recording(self, *args, options=()):
        path = self.path("rec")
        done = self.verb("record", "--calls", *UNLIMITED, *FUNCTIONS, *options, "-o", path, "--",
                         program("requests"), *map(str, args))
        return path, done

    def check_requests(self, document, log):
        """All were kept: each lasted as long as the server says, and its calls lie in it."""
        group, = document["sessions"]
        names = {f["id"]: f["name"] for f in document["functions"]}
        self.assertEqual(names[group["function"]], "handle")
        expected = sum(map(len, log.values()))
        self.assertEqual((group["count"], group["open"]), (expected, 0))
        self.assertEqual(len(group["slowest"]), expected)
        seen = {}
        for session in group["slowest"]:
            seen.setdefault(session["tid"], []).append(session)
        self.assertEqual({tid: len(rows) for tid, rows in seen.items()},
                         {tid: len(rows) for tid, rows in log.items()})
        for tid, rows in log.items():
            sessions = sorted(seen[tid], key=lambda session: session["start_ns"])
            for (least, most, tasks), session in zip(rows, sessions):
                self.assertTrue(least <= session["duration_ns"] <= most, (least, most, session))
                self.check_calls(session, names, tasks)
        durations = sorted(session["duration_ns"] for session in group["slowest"])
        self.assertEqual([s["duration_ns"] for s in group["slowest"]], durations[::-1])
        for percent in 50, 90, 99:
            self.assertEqual(group[f"p{percent}_ns"],
                             durations[-(-len(durations) * percent // 100) - 1])
        self.assertEqual((group["min_ns"], group["max_ns"]), (durations[0], durations[-1]))

    def check_calls(self, session, names, tasks):
        begin, end = session["start_ns"], session["start_ns"] + session["duration_ns"]
        counts = {}
        for node, caller in calls_of(session["calls"]):
            name = names[node["function"]]
            counts[name] = counts.get(name, 0) + 1
            ends = node["start_ns"] + node["total_ns"]
            self.assertTrue(begin <= node["start_ns"] and ends <= end, (node, session))
            inside = sum(child["total_ns"] for child in node["children"])
            self.assertEqual(node["self_ns"], node["total_ns"] - inside)
            if caller:
                self.assertTrue(caller["start_ns"] <= node["start_ns"] and
                                ends <= caller["start_ns"] + caller["total_ns"])
        self.assertEqual((counts["handle"], counts["look_up"]), (1, 1))
        self.assertEqual(counts.get("run", 0), tasks)

    def test_requests_of_eight_threads(self):
        path, done = self.live("--session", "handle", "--slowest", "10000", *FUNCTIONS,
                               command=(program("requests"), "8", "250"))
        document = self.load(path)
        self.check(document)
        self.assertEqual(document["accounting"]["timeline_lost"], 0)
        log = requests_of(done)
        self.assertEqual(sum(map(len, log.values())), 8 * 250)
        self.check_requests(document, log)

    def test_tasks_in_other_threads(self):
        path, done = self.live("--session", "handle", "--slowest", "10000", "--link", LINK,
                               *FUNCTIONS, command=(program("requests"), "4", "50", "20"))
        document = self.load(path)
        self.check(document)
        self.check_requests(document, requests_of(done))
        link, = document["session_links"]
        tasks = done.counts["run"]
        self.assertGreater(tasks, 4 * 50 * 20)
        self.assertEqual((link["submits"], link["runs"], link["matched"], link["joined"]),
                         (tasks,) * 4)
        self.assertIn(f"{tasks} of {tasks} calls of run matched", done.stderr)

    def test_recordings_show_the_same(self):
        """In any format, as often as one likes."""
        recording, done = self.recording(4, 50, 5, options=("-A", "submit(arg1)", "-A", "run(arg2)"))
        options = ("--session", "handle", "--link", LINK, "--slowest")
        document = json.loads(self.verb("report", *options, "1000", "-f", "json", recording).stdout)
        self.check_requests(document, requests_of(done))
        slowest = document["sessions"][0]["slowest"]
        again = json.loads(self.verb("report", *options, "3", "-f", "json", recording).stdout)
        self.assertEqual(again["sessions"][0]["slowest"], slowest[:3])
        over = slowest[20]["duration_ns"]
        longer = json.loads(self.verb("report", *options, "3", "--over", f"{over}ns", "-f", "json",
                                      recording).stdout)["sessions"][0]
        self.assertEqual(longer["slowest"],
                         [session for session in slowest if session["duration_ns"] > over])
        self.assertEqual(longer["over"], len(longer["slowest"]))
        self.check_tracks(recording, options, slowest[:3])

    def test_ids_of_the_application(self):
        """Numbers, text, and bytes; live, and of what a recording has kept."""
        for option, value in (("--session-id", "arg2"), ("--session-id", "arg1:s"),
                              ("--session-id", "request_number"),
                              ("--session-id", "request_text"), ("--trace-id", "arg3+16")):
            path, done = self.live("--session", "handle", option, value, *FUNCTIONS,
                                   command=(program("tagged"), 7), name="live.json")
            said = dict(re.findall(r"^REQUEST (\d+) (.*)$", done.stdout, re.M))
            expected = {"arg2": set(said), "arg1:s": set(said.values()),
                        "request_number": set(said), "request_text": set(said.values()),
                        "arg3+16": {text.split("-")[1] for text in said.values()}}
            document = self.load(path)
            self.check(document)
            self.assertEqual({s["id"] for s in document["sessions"][0]["slowest"]}, expected[value])
        recording = self.path("recording")
        self.verb("record", "-q", "--calls", *UNLIMITED, *FUNCTIONS, "-A", "handle(arg2)",
                  "-o", recording, "--", program("tagged"), "3")
        options = "--session", "handle", "--session-id"
        text = self.verb("report", *options, "arg2", "-f", "tree", recording).stdout
        self.assertEqual(set(re.findall(r"  id=(\d+)  arg2=\1$", text, re.M)), {"1", "2", "3"})
        folded = self.verb("report", *options, "arg2", "-f", "folded", "--thread-frames",
                             recording).stdout
        self.assertRegex(folded, r"(?m)^session 1: [^;]*, \d;handle ")
        done = self.verb("report", *options, "arg1:s", "-f", "json", recording)
        self.assertIn("--session-id: no session has a recorded value arg1:s: "
                      "record with -A 'handle(arg1:s)'", done.stderr)
        self.assertEqual({s["id"] for s in json.loads(done.stdout)["sessions"][0]["slowest"]},
                         {None})

    def check_tracks(self, recording, options, slowest):
        """On a timeline each session is a track on each of its threads, and there is nothing else
        but usual ones."""
        trace = json.loads(self.verb("report", *options, "3", "-f", "chrome", recording).stdout)
        names, begun = {}, {}
        for event in trace["traceEvents"]:
            track = event["pid"], event["tid"]
            if event["name"] == "thread_name":
                names[track] = event["args"]["name"]
            elif event["ph"] == "B":
                begun[track] = begun.get(track, 0) + 1
        self.assertEqual(set(begun), set(names))
        for i, session in enumerate(slowest):
            tracks = [track for track, name in names.items()
                      if re.match(rf"session {i + 1}: [0-9.]+ [a-z]+(, in thread \d+)?$", name)]
            threads = {node["tid"] for node in session["calls"]}
            self.assertEqual(len(tracks), len(threads))
            self.assertEqual(sum(begun[track] for track in tracks),
                             sum(1 for _ in calls_of(session["calls"])))
        rest = [name for name in names.values() if not re.match("session [123]:", name)]
        self.assertTrue(rest and all(name.startswith("usual ") for name in rest), rest)
        # A format without time has the sum of the slowest.
        folded = self.verb("report", *options, "3", "-w", "calls", "-f", "folded", recording).stdout
        self.assertEqual(sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()),
                         sum(1 for session in slowest for _ in calls_of(session["calls"])))

    def recording_of_slow_requests(self):
        """A recording in which sleep is most of what the slowest requests do, by the server's log: on
        a busy machine they also wait for a CPU, so then they sleep longer."""
        for slow_us in (1000, 4000, 16000, 64000, 256000, 512000):
            recording, done = self.recording(4, 50, 2, slow_us,
                                             options=("-A", "submit(arg1)", "-A", "run(arg2)"))
            most = max(outer for rows in requests_of(done).values() for _, outer, _ in rows)
            if most < 1.5 * slow_us * 1000:
                return recording
        self.fail(f"this machine delays requests over and over: by up to {most} ns")

    def test_tables(self):
        recording = self.recording_of_slow_requests()
        for name in "tree", "flat":
            with self.subTest(name):
                text = self.verb("report", "--session", "handle", "--link", LINK, "--slowest", "2",
                                 "-f", name, recording).stdout
                self.assertRegex(text, r"(?m)^ +200 +0 .* handle$")
                self.assertIn("the slowest of handle", text)
                # One session in ten sleeps in look_up, which makes it slow.
                self.assertRegex(text, r"(?m)^p99 sessions take .* longer: .*sleeping in `look_up`")
                self.assertIn("what makes sessions slow", text)
                self.assertRegex(text, r"(?m)\+.*%  handle > look_up$")

    def test_links_in_vain(self):
        """Links that match nothing are reported, and nothing else is lost."""
        path, done = self.live("--session", "handle", "--link", "submit(arg1) -> run(arg1)",
                               *FUNCTIONS, command=(program("requests"), "2", "20", "2"))
        self.assertIn(f"never matched: {done.counts['submit']} calls of submit, "
                      f"{done.counts['run']} of run", done.stderr)
        document = self.load(path)
        self.assertEqual(document["sessions"][0]["count"], 40)
        self.assert_counts(self.check(document), done.counts)
        recording, _ = self.recording(2, 20, 2)
        done = self.verb("report", "--session", "handle", "--link", LINK, "-f", "json", recording)
        self.assertIn("record with -A 'submit(arg1)'", done.stderr)
        self.assertEqual(json.loads(done.stdout)["sessions"][0]["count"], 40)

    def test_links_outside_of_sessions(self):
        _, done = self.live("--session", "look_up", "--link", LINK, *FUNCTIONS,
                            command=(program("requests"), "1", "5", "1"))
        self.assertIn("no such call of submit was made in a session", done.stderr)

    def test_bad_links(self):
        for link, status, *words in (
                ("submit -> run", 2, "not as"), ("submit(arg1)", 2, "not as"),
                ("submit(arg1, arg2) -> run(arg2)", 2, "not as"),
                ("submit(arg1) -> run(arg0)", 2, "--link 'run(arg0)'", "numbered"),
                ("submti(arg1) -> run(arg2)", 1, "--link 'submti(arg1)'", "submit"),
                ("submit(id) -> run(arg2)", 1, "--link 'submit(id)'", "debug information")):
            with self.subTest(link):
                done = self.run_proftrace("--session", "handle", "--link", link, *FUNCTIONS, "--",
                                          program("requests"), "1", "5")
                self.assert_one_line(done, status, "--link", *words)

    def test_bad_session_id(self):
        """The option that is wrong is the one that is named."""
        done = self.run_proftrace("--session", "handle", "--session-id", "arg0", *FUNCTIONS, "--",
                                  program("requests"), "1", "5")
        self.assert_one_line(done, 2, "proftrace: --session-id 'handle(arg0)'", "numbered")

    def test_sessions_in_vain(self):
        recording, _ = self.recording(1, 5)
        kept = self.path("kept.html")
        with open(kept, "w", encoding="utf-8") as file:
            file.write("an earlier result")
        done = self.verb("report", "--session", "nowhere", "-o", kept, recording, status=1)
        self.assert_one_line(done, 1, "--session nowhere", "no such function")
        with open(kept, encoding="utf-8") as file:
            self.assertEqual(file.read(), "an earlier result")
        plain = self.path("plain")
        self.verb("record", "-o", plain, "--", program("requests"), "1", "5")
        self.assert_one_line(self.verb("report", "--session", "handle", plain, status=1), 1,
                             "--session needs single calls")
        # Live, before anything is run; the nearest names are there.
        for name, nearest in ("nowhere", ""), ("hanlde", "the nearest: handle"):
            done = self.run_proftrace("--session", name, *FUNCTIONS, "--", program("requests"),
                                      "1", "5")
            self.assert_one_line(done, 1, f"--session {name}", "no function that is traced",
                                 "of requests)", nearest)
            self.assertEqual(done.stdout, "")
        # A function that is known, but left out: why.
        done = self.verb("--session", "third", "--", program("tailcall"), status=1)
        self.assert_one_line(done, 1, "--session third", "not probed is third: a leaf of",
                             "-F names it")
        # How record goes with sessions.
        for option in (("--session", "handle"), ("--link", LINK)):
            done = self.verb("record", *option, "--", program("requests"), "1", "5", status=2)
            self.assert_one_line(done, 2, option[0], "report", "-A 'submit(arg1)'")

    def test_statements_of_sqlite(self):
        """A real program: sessions are what the tree has as outermost calls."""
        script = self.path("script.sql")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SQL_SCRIPT)
        path, _ = self.live("--session", "*:sqlite3_step", "-F", "*:sqlite3_*",
                            command=(SQLITE, ":memory:", f".read {script}"))
        document = self.load(path)
        self.check(document)
        step, = (f for f in document["functions"] if f["name"] == "sqlite3_step")
        outermost, stack = 0, [node for t in document["threads"] for node in t["calls"]]
        while stack:
            node = stack.pop()
            if node["function"] == step["id"]:
                outermost += node["calls"]
            else:
                stack += node["children"]
        group, = document["sessions"]
        self.assertGreater(outermost, 20)
        self.assertEqual(group["count"] + group["open"], outermost)
        self.assertEqual(len(group["slowest"]), 10)
        self.assertEqual(group["slowest"][0]["duration_ns"], group["max_ns"])

    def ask(self, path, name, cnt):
        client = http.client.HTTPConnection("localhost", timeout=harness.TIMEOUT)
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(path)
        for _ in range(cnt):
            client.request("GET", name, headers={"Accept-Encoding": "gzip"})
            answer = client.getresponse()
            self.assertEqual((answer.status, bool(answer.read())), (200, True))
        client.close()

    def test_requests_of_nginx(self):
        """A real server: a session a request, with what that kind of request calls. (What its
        handlers are called from ends in a tail call.)"""
        directory = self.path("nginx")
        os.mkdir(directory)
        with open(self.path("nginx/large.txt"), "w", encoding="utf-8") as file:
            file.writelines(f"{i * 7919 % 10007} the quick brown fox\n" for i in range(20000))
        with open(self.path("nginx/conf"), "w", encoding="utf-8") as file:
            file.write(NGINX_CONF.format(directory))
        server = self.process(NGINX, "-p", directory, "-c", self.path("nginx/conf"), "-e", "stderr")
        sock = self.path("nginx/socket")
        self.assertTrue(harness.poll(lambda: harness.listens(sock), harness.TIMEOUT))
        self.ask(sock, "/quick", 1)  # it listens, and works
        out = self.path("nginx.json")
        tracing = self.proftrace(*UNLIMITED, "--session", "ngx_http_core_run_phases", "--slowest",
                                 "300", "-o", out, "-p",
                                 str(server.pid))
        tracing.wait_tracing()
        self.ask(sock, "/quick", 180)
        self.ask(sock, "/large.txt", 20)
        tracing.interrupt()
        done = tracing.finish()
        self.assertEqual(done.status, 0, str(done))
        document = self.load(out)
        self.check(document)
        names = {f["id"]: f["name"] for f in document["functions"]}
        group, = document["sessions"]
        # The last answer may be here before its request has ended there.
        self.assertEqual(group["count"] + group["open"], 200)
        self.assertLessEqual(group["open"], 1)
        self.assertEqual(len(group["slowest"]), group["count"])
        called = collections.Counter()
        for session in group["slowest"]:
            self.assertEqual(session["pid"], server.pid)
            called.update({names[node["function"]] for node, _ in calls_of(session["calls"])})
        self.assertEqual(called["ngx_http_send_response"], 180)
        self.assertEqual(called["ngx_http_output_filter"], group["count"])
        self.assertEqual(called["ngx_read_file"], 20 - group["open"])
        server.signal(harness.signal.SIGQUIT)
        self.assertEqual(server.finish().status, 0)

    def test_tasks_of_redis(self):
        """A real server with threads in the background: UNLINK has large sets freed there."""
        sock, out = self.path("redis"), self.path("redis.json")
        server = self.process(REDIS, "--port", "0", "--unixsocket", sock, "--save", "", "--dir",
                              self.directory, "--appendonly", "no", "--loglevel", "warning")
        self.assertTrue(harness.poll(lambda: harness.listens(sock), harness.TIMEOUT))
        client = socket.socket(socket.AF_UNIX)
        self.addCleanup(client.close)
        client.connect(sock)
        answers = client.makefile("rb")

        def ask(command):
            """The answer's first line, or what it announces."""
            client.sendall(command.encode() + b"\r\n")
            line = answers.readline()
            return answers.read(int(line[1:]) + 2) if line.startswith(b"$") else line

        def nothing_pends():
            return b"lazyfree_pending_objects:0\r" in ask("INFO memory")

        for i in range(52):
            members = " ".join(f"member{n}" for n in range(1000))
            self.assertEqual(ask(f"SADD set{i} {members}"), b":1000\r\n")
        tracing = self.proftrace("--session", "call", "--slowest", "10000", "--link", REDIS_LINK,
                                 "-F", "call", "-F", "bioCreateLazyFreeJob", "-F",
                                 "lazyfreeFreeObject", "-o", out, "-p", str(server.pid))
        tracing.wait_tracing()
        for i in range(50):
            self.assertEqual(ask(f"UNLINK set{i}"), b":1\r\n")
        # The requests come one behind the other: once the next set has been freed, all tasks before
        # have ended.
        for i in range(50, 52):
            self.assertTrue(harness.poll(nothing_pends, harness.TIMEOUT))
            self.assertEqual(ask(f"UNLINK set{i}"), b":1\r\n")
        self.assertTrue(harness.poll(nothing_pends, harness.TIMEOUT))
        done = tracing.interrupt()
        self.assertEqual(done.status, 0, str(done))
        document = self.load(out)
        self.check(document)
        link, = document["session_links"]
        self.assertEqual((link["submits"], link["matched"], link["joined"]),
                         (52, link["runs"], link["runs"]))
        self.assertGreaterEqual(link["runs"], 51)
        names = {f["id"]: f["name"] for f in document["functions"]}
        joined = [session for session in document["sessions"][0]["slowest"]
                  if len({node["tid"] for node in session["calls"]}) == 2]
        self.assertGreaterEqual(len(joined), 51)
        for session in joined:
            call, task = sorted(session["calls"], key=lambda node: node["start_ns"])
            submit, = call["children"]
            self.assertEqual([names[node["function"]] for node in (call, submit, task)],
                             ["call", "bioCreateLazyFreeJob", "lazyfreeFreeObject"])
            submitted = submit["start_ns"] + submit["total_ns"]
            self.assertEqual(session["queue_ns"], task["start_ns"] - (
                submitted if task["start_ns"] >= submitted else submit["start_ns"]))
            ends = max(node["start_ns"] + node["total_ns"] for node in (call, task))
            self.assertEqual(session["duration_ns"], ends - session["start_ns"])
        server.signal(harness.signal.SIGTERM)
        self.assertEqual(server.finish().status, 0)


def mean(total, cnt):
    return total / cnt if cnt else 0


class Page(test_page.Reader, harness.TestCase):
    def page(self, requests, *options):
        """A recording's page, and its JSON."""
        recording, path = self.path("rec"), self.path("page.html")
        for args in (("record", "--calls", *UNLIMITED, *FUNCTIONS, "-A", "submit(arg1)", "-A",
                      "run(arg2)", "-A", "handle(arg1)", "-o", recording, "--",
                      program("requests"), *requests),
                     ("report", "--session", "handle", *options, "-o", path, recording)):
            done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 0, str(done))
        done = self.process(PROFTRACE, "report", "--session", "handle", *options, "-f", "json",
                            recording, stdin=subprocess.DEVNULL).finish()
        self.browser.open(path)
        self.show("sessions")
        return json.loads(done.stdout)

    def table(self, name):
        """Returns the cells of a table, as [the text shown, the exact figure]."""
        return self.browser.run("""
            return [...document.querySelectorAll(`.sessions .${arguments[0]} tbody tr`)].map(
                (row) => [...row.cells].map((cell) => [cell.textContent, cell.title]))""", name)

    def path_of(self, document, number):
        names = {f["id"]: f["name"] for f in document["functions"]}
        paths = {path["id"]: path for path in document["session_paths"]}
        steps = []
        while number:
            steps.insert(0, names[paths[number]["function"]])
            number = paths[number]["parent"]
        return steps

    def check_groups(self, document):
        group, = document["sessions"]
        exact = [f"{group[key]:,} ns" for key in ("p50_ns", "p90_ns", "p99_ns", "max_ns")]
        row, = self.table("groups")
        self.assertEqual([cell[0] for cell in row[:2]], [f"{group['count']:,}", str(group["open"])])
        self.assertEqual(test_page.number(row[2][0]), int(group["rate_per_second"]))
        self.assertEqual([cell[1] for cell in row[3:7]], exact)
        self.assertEqual(row[7][0], "handle")

    def expected_reasons(self, document):
        """Returns the rows that the page has to show, from the sums of the JSON: slow, usual, more
        and off the CPU of each path, and the path."""
        group, = document["sessions"]
        slow, usual = group["slow"], group["usual"]
        rows = []
        for path in document["session_paths"]:
            means = [mean(path["slow_ns"], slow["count"]), mean(path["usual_ns"], usual["count"])]
            off = mean(path["slow_off_ns"], slow["count"]) - mean(path["usual_off_ns"],
                                                                  usual["count"])
            if means[0] - means[1] >= 1:
                rows.append([*map(int, (*means, means[0] - means[1], off)),
                             self.path_of(document, path["id"])])
        rows.sort(key=lambda row: -row[2])
        queues = [mean(slow["queue_ns"], slow["count"]), mean(usual["queue_ns"], usual["count"])]
        if queues[0] - queues[1] >= 1:
            rows.insert(0, [*map(int, (*queues, *[queues[0] - queues[1]] * 2)), None])
        whole = int(mean(slow["total_ns"], slow["count"]) - mean(usual["total_ns"], usual["count"]))
        return [[*(f"{ns:,} ns" for ns in row[:4]), test_page.percent(row[2], whole),
                 " \u203a ".join(row[4]) if row[4] else "waiting in queues"] for row in rows]

    def check_reasons(self, document):
        rows = [[*(cell[1] for cell in row[:4]), row[4][0], row[5][0]]
                for row in self.table("reasons")]
        self.assertEqual(rows, self.expected_reasons(document))
        return rows

    def check_slowest(self, document):
        """Checks the times of the slowest sessions, and of each the paths with most time of their
        own."""
        rows = self.table("slowest")
        names = {f["id"]: f["name"] for f in document["functions"]}
        for number, session in enumerate(document["sessions"][0]["slowest"], 1):
            row = rows.pop(0)
            self.assertEqual([cell[1] for cell in row[:3]], [
                f"{session[key]:,} ns" for key in ("duration_ns", "queue_ns", "start_ns")])
            value = session["calls"][0]["arguments"][0]["value"]
            self.assertRegex(row[3][0], fr"^session {number} .* arg1={value}Timeline")
            costs = collections.Counter()
            # Calls on other threads ("work") have the session's own call ("handle") for caller.
            for node, caller in calls_of(session["calls"]):
                name = names[node["function"]]
                top = "" if name == "handle" else "handle"
                node["path"] = " \u203a ".join(filter(None, (caller["path"] if caller else top,
                                                             name)))
                costs[node["path"]] += node["self_ns"]
            for _, ns in costs.most_common(3):
                row = rows.pop(0)
                self.assertEqual((row[0][1], costs[row[3][0]]), (f"{ns:,} ns", ns))
        self.assertEqual(rows, [])

    def scope(self):
        return self.browser.run("return document.querySelector('#scope').selectedOptions[0].text")

    def press_path(self, table, text):
        self.browser.run("""
            [...document.querySelectorAll(`.sessions .${arguments[0]} .path button`)]
                .find((way) => way.textContent === arguments[1]).click()""", table, text)

    def times_of(self, document, name):
        """A function's whole time in each of the slowest sessions."""
        names = {f["id"]: f["name"] for f in document["functions"]}
        return [sum(node["total_ns"] for node, _ in calls_of(session["calls"])
                    if names[node["function"]] == name)
                for session in document["sessions"][0]["slowest"]]

    def test_why_sessions_are_slow(self):
        """One session in ten sleeps in look_up; from there the page leads to flame graph and
        timeline."""
        document = self.page(("4", "50"), "--slowest", "7", "--session-id", "arg1")
        first = document["sessions"][0]["slowest"][0]
        self.assertIn(f"session 1 id {first['id']} ", self.table("slowest")[0][3][0])
        self.check_groups(document)
        rows = self.check_reasons(document)
        self.assertIn("handle \u203a look_up", [row[5] for row in rows])
        self.assertIn(document["sessions"][0]["why"]["sentence"], self.text("#view-sessions"))
        self.check_slowest(document)
        times = self.times_of(document, "look_up")
        self.press_path("reasons", "handle \u203a look_up")
        self.assertTrue(self.browser.one("#view-flame").is_displayed())
        self.assertEqual((self.status()["name"], self.status()["Wall"][1]),
                         ("look_up", f"{max(times):,} ns"))
        self.assertEqual(times[int(re.match(r"session (\d+): ", self.scope())[1]) - 1], max(times))
        # Back, and to another session.
        self.show("sessions")
        self.browser.click(".sessions [aria-label='Timeline of session 3']")
        third = document["sessions"][0]["slowest"][2]
        self.assertTrue(self.scope().startswith("session 3: "), self.scope())
        self.assertEqual((self.status()["name"], self.status()["Took"][1], self.status()["At"][1]),
                         ("handle", f"{third['duration_ns']:,} ns", f"{third['start_ns']:,} ns"))
        self.wait_for(True, lambda: " of " in self.text("#view-timeline .zoomed"))
        self.show("sessions")
        self.browser.click(".sessions [aria-label='Flame graph of session 1']")
        self.assertEqual((self.status()["name"], self.status()["Wall"][1]),
                         ("handle", f"{document['sessions'][0]['max_ns']:,} ns"))

    def test_why_sessions_with_links_are_slow(self):
        """Queues are among the reasons, and all threads of a session are shown."""
        document = self.page(("4", "50", "20"), "--link", LINK, "--slowest", "7")
        self.check_groups(document)
        rows = self.check_reasons(document)
        self.assertIn("waiting in queues", [row[5] for row in rows])
        self.check_slowest(document)
        self.browser.click(".sessions [aria-label='Timeline of session 1']")
        self.assertEqual(self.scope(), "All session parts, apart")
        self.assertEqual(self.status()["name"], "handle")

    def test_only_where_sessions_were_asked_for(self):
        recording, path = self.path("rec"), self.path("page.html")
        for args in (("record", "--calls", *UNLIMITED, *FUNCTIONS, "-o", recording, "--",
                      program("requests"), "1", "5"), ("report", "-o", path, recording)):
            done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 0, str(done))
        self.browser.open(path)
        self.assertFalse(self.browser.one("#tab-sessions").is_displayed())

    def test_sessions_have_names(self):
        """The timeline's first call is that of the slowest session, under its name."""
        recording, path = self.path("rec"), self.path("page.html")
        for args in (("record", "--calls", *UNLIMITED, *FUNCTIONS, "-o", recording, "--",
                      program("requests"), "2", "50"),
                     ("report", "--session", "handle", "--slowest", "3", "-o", path, recording)):
            done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 0, str(done))
        data = self.data_of(path)
        titles = [thread["title"] for thread in data["threads"]]
        self.assertEqual([title.split(":")[0] for title in titles],
                         [f"{what} {i}" for what in ("session", "usual") for i in (1, 2, 3)])
        self.browser.open(path)
        self.show("timeline")
        self.browser.run("document.querySelector('#view-timeline canvas').focus()")
        self.browser.press("HOME")
        status = self.status()
        self.assertEqual((status["name"], status["In"][0]), ("handle", titles[0]))


if __name__ == "__main__":
    harness.main()
