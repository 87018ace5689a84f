# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings sent to Debian's ClickHouse, and what is asked of it afterwards."""

import http.client
import http.server
import json
import re
import subprocess
import threading

import clickhouse
import harness
from harness import PROFTRACE, UNLIMITED, program

FIGURES = ("calls", "total_ns", "off_ns", "min_ns", "max_ns", "histogram")


class LosesAnswers:
    """Passes requests on to a server, and answers back. Of the POST of a chosen number, from 0 on,
    the server's whole answer is read, so that all is written, and the client gets none of it."""

    def __init__(self, server_port):
        self.lost, self.posts = None, 0
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                server = http.client.HTTPConnection("127.0.0.1", server_port,
                                                    timeout=harness.TIMEOUT)
                server.request(self.command, self.path, body, dict(self.headers))
                answer = server.getresponse()
                text = answer.read()
                server.close()
                if self.command == "POST":
                    proxy.posts += 1
                    if proxy.posts - 1 == proxy.lost:
                        self.close_connection = True
                        return
                self.send_response(answer.status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = pass_on

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def lose(self, number):
        self.lost, self.posts = number, 0

    def end(self):
        self.server.shutdown()
        self.server.server_close()


class Fleet(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.server = clickhouse.Server(self)

    def run_one(self, *args, **popen):
        return self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL, **popen).finish()

    def record(self, name, *command):
        done = self.run_one("record", "-q", *UNLIMITED, "--no-samples", "-o", self.path(name), "--",
                            *command)
        self.assertEqual(done.status, 0, str(done))
        return self.path(name)

    def send(self, path, service, *options, status=0):
        done = self.run_one("send", "--to", self.server.url, "--service", service, *options, path)
        self.assertEqual(done.status, status, str(done))
        return done

    def ask(self, where, verb="report", output="json"):
        wheres = [word for text in where for word in ("--where", text)]
        done = self.run_one(verb, "-q", "--from", self.server.url, *wheres, "-f", output)
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def document(self, where):
        return self.check(json.loads(self.ask([where])))

    def reference(self, path):
        return json.loads(self.run_one("report", "-q", "-f", "json", path).stdout)

    @staticmethod
    def figures(document, names=FIGURES):
        return {f["name"]: [f[name] for name in names] for f in document["functions"] if f["calls"]}

    @staticmethod
    def paths(document):
        """{names from the outermost call on: calls}, of all threads."""
        found, above, names = {}, [], [f["name"] for f in document["functions"]]
        for thread in document["threads"]:
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(names[node["function"]])
                found[tuple(above)] = found.get(tuple(above), 0) + node["calls"]
        return found

    def rows(self):
        return {table: self.server.ask(f"SELECT sum({what}) FROM {table}")[0][0]
                for table, what in (("profiles", "1"), ("path_minutes", "calls"),
                                    ("function_minutes", "calls"), ("latency_minutes", "calls"))}

    def check_same(self, document, reference):
        """All that was recorded comes back; times but for what is uncertain of them."""
        self.assertEqual(self.paths(document), self.paths(reference))
        self.assertEqual(document["accounting"], reference["accounting"])
        same = ("calls", "min_ns", "max_ns", "histogram")
        errors = {f["name"]: f["error_ns"] for f in reference["functions"]}
        expected = self.figures(reference)
        for name, row in self.figures(document).items():
            for figure, got, wanted in zip(FIGURES, row, expected[name]):
                if figure in same:
                    continue
                self.assertLessEqual(abs(got - wanted), errors[name], f"{name}: {figure}")
        self.assertEqual({n: row[0] for n, row in self.figures(document).items()},
                         {n: row[0] for n, row in expected.items()})

    def test_way_there_and_back(self):
        path = self.record("data", program("recursion"), 10, 2)
        self.send(path, "it's", "--host", "a\\b")
        reference = self.reference(path)
        # The first condition is answered from the sums that are kept; the second one from the
        # profiles themselves, as the sums know no hosts.
        for where in (r"service = 'it\'s'", r"host = 'a\\b'"):
            self.check_same(self.document(where), reference)
        for output in ("tree", "flat", "folded", "html", "svg"):
            self.assertIn("direct", self.ask(["1"], output=output))

    def test_kinds_of_threads(self):
        """The engine makes the numbers of paths of a tree: those that their names were sent with."""
        path = self.record("data", program("shards"))
        self.send(path, "api")
        document = self.document("service = 'api'")
        self.assertEqual(self.paths(document), self.paths(self.reference(path)))
        kinds = [thread["comm"] for thread in document["threads"]]
        self.assertEqual(sorted(kinds), ["holder", "shards"])
        made = "SELECT arrayJoin(p_path) AS path FROM profile_paths"
        [[nameless]] = self.server.ask(
            f"SELECT count() FROM ({made}) WHERE path NOT IN (SELECT path FROM paths)")
        [[several]] = self.server.ask(f"SELECT uniq(path) FROM ({made})")
        self.assertEqual(nameless, "0")
        self.assertEqual(self.server.ask("SELECT uniq(path) FROM path_minutes "
                                         "WHERE service = 'api'"), [[several]])

    def test_replays_do_not_double(self):
        path = self.record("data", program("recursion"), 5, 1)
        self.send(path, "api")
        once = self.rows()
        self.send(path, "api")
        copy = self.copy(path, "copy")
        self.send(copy, "api")
        self.assertEqual(self.rows(), once)
        self.send(path, "api", "--host", "other")
        self.assertEqual(self.rows(), {name: str(2 * int(n)) for name, n in once.items()})

    def send_by(self, proxy, path, service):
        url = self.server.url.replace(str(self.server.port), str(proxy.port))
        return self.run_one("send", "--to", url, "--service", service, path)

    def calls_of(self, service):
        """{table: calls} of all that the database has of a service."""
        sums = {table: self.server.ask(f"SELECT sum(calls) FROM {table} "
                                       f"WHERE service = '{service}'")
                for table in ("path_minutes", "function_minutes", "latency_minutes")}
        sums["profile_paths"] = self.server.ask(
            f"SELECT sum(arraySum(p_calls)) FROM profile_paths WHERE service = '{service}'")
        return {table: int(rows[0][0]) for table, rows in sums.items()}

    def test_lost_answers(self):
        """The connection breaks when the engine has written a part and before it says so: of each
        of the parts in turn, and then each of them has the profile once."""
        path = self.record("data", program("recursion"), 5, 1)
        proxy = LosesAnswers(self.server.port)
        self.addCleanup(proxy.end)
        done = self.send_by(proxy, path, "whole")
        self.assertEqual((done.status, proxy.posts), (0, 6), str(done))
        whole = self.calls_of("whole")
        self.assertGreater(whole["path_minutes"], 100)
        for number in range(6):
            service = f"cut{number}"
            proxy.lose(number)
            done = self.send_by(proxy, path, service)
            self.assertEqual((done.status, proxy.posts), (1, number + 1), str(done))
            proxy.lose(None)
            done = self.send_by(proxy, path, service)
            self.assertEqual(done.status, 0, str(done))
            self.assertEqual(self.calls_of(service), whole, service)

    def view(self, name):
        with open(clickhouse.SCHEMA, encoding="ascii") as file:
            text = re.sub(r"--.*", "", file.read())
        return re.search(rf"CREATE MATERIALIZED VIEW {name} [^;]*", text)[0]

    def test_engine_stops_between_paths_and_their_sums(self):
        """One insertion writes paths and their sums, one after the other. An engine that has only
        written one of them gets the other one later, and not that one again."""
        path = self.record("data", program("recursion"), 5, 1)
        self.send(path, "whole")
        whole = self.calls_of("whole")
        # Sums are written; then the view that makes the paths fails.
        self.server.ask("DROP TABLE profile_paths_in")
        self.server.ask("CREATE MATERIALIZED VIEW profile_paths_in TO profile_paths AS "
                        "SELECT toUInt64(concat(service, 'x')) AS id FROM profile_trees")
        self.send(path, "sums", status=1)
        self.assertEqual(self.calls_of("sums"), {**dict.fromkeys(whole, 0),
                                                 "path_minutes": whole["path_minutes"]})
        self.server.ask("DROP TABLE profile_paths_in")
        self.server.ask(self.view("profile_paths_in"))
        self.send(path, "sums")
        self.assertEqual(self.calls_of("sums"), whole)
        # Paths are written, and no sums.
        self.server.ask("DROP TABLE path_minutes_in")
        proxy = LosesAnswers(self.server.port)
        self.addCleanup(proxy.end)
        proxy.lose(2)
        done = self.send_by(proxy, path, "paths")
        self.assertEqual((done.status, proxy.posts), (1, 3), str(done))
        self.assertEqual(self.calls_of("paths"), {**dict.fromkeys(whole, 0),
                                                  "profile_paths": whole["profile_paths"]})
        self.server.ask(self.view("path_minutes_in"))
        self.send(path, "paths")
        self.assertEqual(self.calls_of("paths"), whole)

    def test_tables_of_an_older_version(self):
        path = self.record("data", program("recursion"), 3, 1)
        self.server.ask("DROP TABLE profile_trees")
        self.server.ask("CREATE TABLE profile_trees (id UInt64) ENGINE = Null")
        done = self.send(path, "api", status=1)
        self.assertRegex(done.stderr,
                         r"\Aproftrace: .*older version.*clickhouse.sql.*once more\n\Z")
        self.assertEqual(self.rows()["profiles"], "0")
        self.server.make_tables()
        self.send(path, "api")
        self.assertEqual(self.rows()["profiles"], "1")

    def test_hosts_are_merged(self):
        paths = [self.record(f"data{i}", program("recursion"), 5 + i, 1) for i in range(2)]
        for i, path in enumerate(paths):
            self.send(path, "api", "--host", f"host{i}", "--service-version", str(i))
        each = [self.paths(self.reference(path)) for path in paths]
        both = {key: each[0].get(key, 0) + each[1].get(key, 0) for key in each[0].keys() | each[1].keys()}
        self.assertEqual(self.paths(self.document("service = 'api'")), both)
        self.assertEqual(self.paths(self.document("version = '1'")), each[1])
        self.assertEqual(self.paths(self.document("host = 'host0'")), each[0])
        [row] = self.server.ask("SELECT uniq(path), count() FROM path_minutes "
                                "WHERE service = 'api'")
        self.assertEqual(row[0], str(len(both)))

    def test_diff_of_versions(self):
        # Version 2 does more of the same work.
        for version, times in (("1", 2), ("2", 4)):
            path = self.record("data" + version, program("recursion"), 8, times)
            self.send(path, "api", "--service-version", version)
        document = json.loads(self.ask(["version = '1'", "version = '2'"], verb="diff"))
        calls = {f["name"]: (f["old"]["calls"], f["new"]["calls"]) for f in document["functions"]
                 if f["old"] and f["new"]}
        self.assertEqual(calls["direct"][1], 2 * calls["direct"][0])
        self.assertEqual(calls["fib"][1], 2 * calls["fib"][0])

    def test_server_goes_and_comes(self):
        first, second = (self.record(f"data{i}", program("recursion"), 3 + i, 1) for i in range(2))
        self.send(first, "api")
        self.server.kill()
        done = self.send(second, "api", status=1)
        self.assertRegex(done.stderr, r"\Aproftrace: .* was not sent: .*\n\Z")
        self.server.start()
        for path in (first, second):
            self.send(path, "api")
        self.assertEqual(self.rows()["profiles"], "2")

    def test_bad_questions(self):
        path = self.record("data", program("recursion"), 3, 1)
        self.send(path, "api")
        for where in ("1) or (1", "1 -- x", "", "service = 'a", "1; select 1",
                      "1) UNION ALL SELECT 1 --", "1); DROP TABLE profiles; --"):
            done = self.run_one("report", "--from", self.server.url, "--where", where)
            self.assert_one_line(done, 2, f"--where {where}: ")
        for where, said in (("nothing = 1", "nothing"), ("service = 'none'", "no profiles"),
                            ("1 +", "status 400")):
            done = self.run_one("report", "--from", self.server.url, "--where", where)
            self.assertEqual((done.status, done.stdout), (1, ""), str(done))
            self.assertRegex(done.stderr, rf"\Aproftrace: .*{said}.*\n\Z")
        self.assertEqual(self.rows()["profiles"], "1")

    def test_users(self):
        path = self.record("data", program("recursion"), 3, 1)
        self.send(path, "api")
        url = self.server.url.replace("://", "://reader@")
        for secret, status in (("s3cret", 0), ("wrong", 1)):
            done = self.run_one("report", "-f", "flat", "--from", url, "--where", "1",
                                env={"PROFTRACE_SECRET": secret})
            self.assertEqual(done.status, status, str(done))
            self.assertNotIn(secret, done.stderr)
        # This user may only read.
        done = self.run_one("send", "--to", url, "--service", "new", path, env={"PROFTRACE_SECRET": "s3cret"})
        self.assertEqual(done.status, 1, str(done))


if __name__ == "__main__":
    harness.main()
