# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics that the agent serves at /metrics: to Debian's Prometheus and VictoriaMetrics, and to
anybody."""

import gzip
import http.client
import json
import os
import re
import signal
import subprocess
import urllib.parse

import clickhouse
import harness
import test_agent
import test_metrics

DASHBOARD = os.path.join(harness.ROOT, "docs/fleet/grafana.json")
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$', re.M)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """{(name, ((label, value), ...)): value}"""
    return {(name, tuple(LABEL.findall(labels))): float(value)
            for name, labels, value in SAMPLE.findall(text)}


class Metrics(test_agent.Agent):
    def setUp(self):
        super().setUp()
        self.port = clickhouse.free_port()

    def write_metrics(self, more="", service=""):
        self.write(f"{service}[metrics]\nlisten = {self.port}\n{more}")

    def get(self, path="/metrics", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.TIMEOUT)
        try:
            connection.request(method, path, headers={k.replace("_", "-"): v
                                                      for k, v in headers.items()})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def text(self):
        try:
            status, _, body = self.get()
        except ConnectionError:
            return ""
        return body.decode() if status == 200 else ""

    def figure(self, name, **labels):
        """The only sample of that name that has these labels; None: there is none."""
        found = [value for (its, has), value in samples(self.text()).items()
                 if its == name and labels.items() <= dict(has).items()]
        self.assertLess(len(found), 2, name)
        return found[0] if found else None

    def wait_figure(self, value, name, **labels):
        harness.poll(lambda: self.figure(name, **labels) == value, interval=0.1)
        self.assertEqual(self.figure(name, **labels), value, name)

    def begin(self, agent=None):
        agent = self.began(agent or self.agent())
        self.assertTrue(harness.poll(self.text, interval=0.05), agent.stderr.text())
        return agent

    def server_pid(self, agent):
        """The process that serves."""
        return next((pid for below in self.children(agent.pid) for pid in self.children(below)
                     if self.comm(pid) == "proftrace-metr"), None)

    @staticmethod
    def comm(pid):
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            return file.read().strip()


@harness.apart
class Figures(Metrics):
    def test_what_is_recorded(self):
        self.write_metrics("session = outer\n")
        target = self.begin_target()
        agent = self.begin()
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        self.wait_figure(count + 5, "proftrace_function_calls_total", function="outer")
        self.wait_figure(count + 5, "proftrace_sessions_total", function="outer", service="a")
        self.wait_figure(count + 5, "proftrace_session_duration_seconds_count", function="outer")
        text = self.text()
        self.assertTrue(text.endswith("# EOF\n"))
        self.assertEqual(text.count("# EOF\n"), 1)
        # The agent's figures of itself follow within ten seconds.
        harness.poll(lambda: self.figure("proftrace_agent_recordings_total", service="a") ==
                     len(self.recordings()), interval=0.2)
        status = self.read_status()
        self.assertEqual(status["metrics"]["address"], f"127.0.0.1:{self.port}")
        self.assertEqual(self.figure("proftrace_agent_recordings_total", service="a"),
                         len(self.recordings()))
        self.assertEqual(self.figure("proftrace_agent_profiles_total"), len(self.recordings()))
        self.assertEqual(self.figure("proftrace_agent_profiles_missed_total"), 0)
        self.assertEqual(self.figure("proftrace_agent_service_recording", service="a"), 1)
        self.assertGreater(self.figure("proftrace_agent_cpu_seconds_total"), 0)
        self.assertGreater(self.figure("proftrace_agent_memory_bytes"), 1e6)
        self.assertGreater(self.figure("proftrace_agent_kernel_bytes"), 1e6)
        self.end(agent)

    def test_bounds(self):
        self.write_metrics("max-functions = 1\nfunction = *\n")
        target = self.begin_target()
        agent = self.begin()
        self.wait_recording(target)
        target.step("5")
        harness.poll(lambda: self.figure("proftrace_function_calls_total", kind="others"), interval=0.2)
        functions = {dict(labels)["function"] for name, labels in samples(self.text())
                     if name == "proftrace_function_self_seconds_total"}
        self.assertEqual(len(functions), 2)
        self.assertIn("[others]", functions)
        self.assertGreater(self.figure("proftrace_functions_left_out"), 0)
        self.end(agent)

    def test_chosen(self):
        self.write_metrics("function = inner\n")
        target = self.begin_target()
        agent = self.begin()
        self.wait_recording(target)
        target.step("5")
        harness.poll(lambda: self.figure("proftrace_function_calls_total"), interval=0.2)
        self.assertEqual({dict(labels)["function"] for name, labels in samples(self.text())
                          if name == "proftrace_function_calls_total"}, {"inner"})
        self.end(agent)

    def test_reload(self):
        """Without the section nothing is served; with it, again."""
        self.write_metrics()
        agent = self.begin()
        self.write()
        agent.signal(signal.SIGHUP)
        harness.poll(lambda: not self.text(), interval=0.05)
        self.assertEqual(self.text(), "")
        self.write_metrics()
        agent.signal(signal.SIGHUP)
        self.assertTrue(harness.poll(self.text, interval=0.05))
        self.end(agent)

    def test_killed(self):
        """The process that serves is killed, and the process that adds up."""
        self.write_metrics()
        agent = self.begin()
        for below in True, False:
            server = self.server_pid(agent)
            adder = next(pid for pid in self.children(agent.pid) if server in self.children(pid))
            os.kill(server if below else adder, signal.SIGKILL)
            harness.poll(lambda: not self.text(), interval=0.02)
            self.assertTrue(harness.poll(self.text, interval=0.1), agent.stderr.text())
        self.assertIn("metrics are not served any more", self.end(agent).stderr)

    def test_scrapes(self):
        self.write_metrics("session = outer\n")
        target = self.begin_target()
        agent = self.begin()
        with open(self.path("prometheus.yml"), "w", encoding="ascii") as file:
            file.write(test_metrics.CONFIG.format(self.port))
        with open(self.path("scrape.yml"), "w", encoding="ascii") as file:
            file.write(test_metrics.CONFIG.format(self.port))
        prometheus, victoria = clickhouse.free_port(), clickhouse.free_port()
        self.process("/usr/bin/prometheus", f"--config.file={self.path('prometheus.yml')}",
                     f"--storage.tsdb.path={self.path('tsdb')}",
                     f"--web.listen-address=127.0.0.1:{prometheus}", stdin=subprocess.DEVNULL)
        self.process("/usr/bin/victoria-metrics", f"-promscrape.config={self.path('scrape.yml')}",
                     f"-storageDataPath={self.path('storage')}", "-search.latencyOffset=0s",
                     f"-httpListenAddr=127.0.0.1:{victoria}", stdin=subprocess.DEVNULL)
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        query = 'proftrace_function_calls_total{function="outer",service="a"}'
        for port in prometheus, victoria:
            harness.poll(lambda: self.ask(port, query) == [count + 5], interval=0.2)
            self.assertEqual(self.ask(port, query), [count + 5])
            self.assertEqual(self.ask(port, "proftrace_agent_service_recording"), [1])
            for expression in expressions():
                self.ask(port, expression)
        self.end(agent)

    def ask(self, port, query):
        """Values; [] while there is no answer. What is no question is an error."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=harness.TIMEOUT)
        try:
            connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": query}))
            answer = connection.getresponse()
            body = answer.read()
        except ConnectionError:
            return []
        finally:
            connection.close()
        self.assertEqual(answer.status, 200, (query, body))
        return [float(row["value"][1]) for row in json.loads(body)["data"]["result"]]


@harness.apart
class Requests(Metrics):
    def test_who_may_ask(self):
        self.write_metrics()
        agent = self.begin()
        status, headers, body = self.get()
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"],
                         "application/openmetrics-text; version=1.0.0; charset=utf-8")
        status, headers, packed = self.get(Accept_Encoding="gzip")
        self.assertEqual((status, headers["Content-Encoding"]), (200, "gzip"))
        self.assertEqual(gzip.decompress(packed), body)
        for path in "/", "/metrics/", "/../metrics", "/metricss", "//metrics":
            self.assertEqual(self.get(path)[0], 404)
        self.assertEqual(self.get("/metrics?name=x")[0], 200)
        self.assertEqual(self.get(method="POST")[0], 405)
        self.assertEqual(self.get(method="HEAD")[2], b"")
        self.assertEqual(self.get(Host="evil.example")[0], 403)
        self.assertEqual(self.get(Host="localhost")[0], 200)
        self.assertEqual(self.get(Origin="http://evil.example")[0], 403)
        self.end(agent)

    def test_server_is_nobody(self):
        """Under systemd, too."""
        self.write_metrics()
        agent = self.begin(self.agent_of_unit())
        pid = self.server_pid(agent)
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(re.findall(r"^(\w+):\t(.*)$", file.read(), re.M))
        self.assertEqual(set(status["Uid"].split()), {str(harness.NOBODY)})
        self.assertEqual(set(status["CapEff"]), {"0"})
        self.assertEqual(status["Seccomp"], "2")
        links = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")]
        self.assertEqual({link.partition(":")[0] for link in links} - {"socket", "anon_inode"},
                         {"/dev/null", os.readlink(f"/proc/{pid}/fd/2").partition(":")[0]})
        self.end(agent)

    def test_a_port_that_is_taken(self):
        self.write_metrics()
        agent = self.begin()
        with open(self.config, encoding="utf-8") as file:
            text = file.read().replace("/run/", "/run2/").replace("/ring", "/ring2")
        other = self.path("other.conf")
        with open(other, "w", encoding="utf-8") as file:
            file.write(text)
        second = self.process(harness.PROFTRACE, "agent", other, stdin=subprocess.DEVNULL)
        self.assertTrue(second.stderr.wait_lines("proftrace: metrics: cannot listen at"))
        self.end(second)
        self.end(agent)


def expressions():
    """All of the dashboard's, as Prometheus takes them."""
    with open(DASHBOARD, encoding="utf-8") as file:
        panels = json.load(file)["panels"]
    return [target["expr"].replace("$service", ".*") for panel in panels
            for target in panel.get("targets", ())]


class Dashboard(Metrics):
    """docs/fleet/grafana.json"""

    def test_expressions(self):
        rules = {"groups": [{"name": "all", "rules": [
            {"record": f"e{i}", "expr": text} for i, text in enumerate(expressions())]}]}
        with open(self.path("rules.json"), "w", encoding="utf-8") as file:
            json.dump(rules, file)  # which is YAML
        done = self.process("/usr/bin/promtool", "check", "rules", self.path("rules.json"),
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertIn(f"{len(expressions())} rules found", done.stdout)

    def test_names(self):
        """Each metric that it shows is one that the agent serves."""
        self.write_metrics("session = outer\n", service="[receiver r]\nurl = "
                           "pyroscope+http://127.0.0.1:1\n")
        agent = self.begin()
        families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", self.text(), re.M))
        self.end(agent)
        served = set()
        for name, kind in families.items():
            served |= {"counter": {f"{name}_total"}, "gauge": {name},
                       "histogram": {f"{name}_bucket", f"{name}_count", f"{name}_sum"}}[kind]
        with open(DASHBOARD, encoding="utf-8") as file:
            dashboard = json.load(file)
        variables = [v["definition"] for v in dashboard["templating"]["list"] if "definition" in v]
        names = set(re.findall(r"proftrace_\w+", " ".join(expressions() + variables)))
        self.assertGreater(len(names), 15)
        self.assertEqual(names - served, set())
        # The dashboard shows something of every metric, but for those named here.
        shown = {name.removesuffix("_bucket").removesuffix("_total") for name in names}
        self.assertEqual({name for name in families if name not in shown}, {
            "proftrace_function_calls_error", "proftrace_function_cpu_self_error_seconds",
            "proftrace_agent_ring_recordings", "proftrace_agent_ring_removed",
            "proftrace_agent_service_starts", "proftrace_agent_service_failures",
            "proftrace_agent_sent_bytes", "proftrace_agent_profiles"})


if __name__ == "__main__":
    harness.main()
