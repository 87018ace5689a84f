# SPDX-License-Identifier: GPL-2.0-or-later
"""Metrics of a recording (-f openmetrics), as Debian's Prometheus and VictoriaMetrics scrape them."""

import functools
import http.server
import json
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import clickhouse
import harness
from harness import PROFTRACE, UNLIMITED, program

CONFIG = """
global: {{scrape_interval: 1s}}
scrape_configs: [{{job_name: proftrace, static_configs: [{{targets: ['127.0.0.1:{}']}}]}}]
"""


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.send_header("Content-Length", str(len(self.server.text)))
        self.end_headers()
        self.wfile.write(self.server.text)

    def log_message(self, *_):
        pass


class Metrics(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.server.text = b""
        thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def run_one(self, *args):
        done = self.process(PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def serve(self):
        """Returns the JSON of what is scraped from now on."""
        path = self.path("data")
        self.run_one("record", "-q", *UNLIMITED, "--no-samples", "-o", path, "--",
                     program("recursion"), 10, 2)
        self.server.text = self.run_one("report", "-q", "-f", "openmetrics", path).encode()
        return json.loads(self.run_one("report", "-q", "-f", "json", path))

    def ask(self, port, query):
        """{function: value}; empty while there is no answer."""
        query = urllib.parse.urlencode({"query": query, "time": time.time()})
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{query}",
                                        timeout=harness.TIMEOUT) as answer:
                rows = json.load(answer)["data"]["result"]
        except (urllib.error.URLError, ConnectionError):
            return {}
        return {row["metric"]["function"]: float(row["value"][1]) for row in rows}

    def check(self, port, document):
        ask = functools.partial(self.ask, port)
        if not harness.poll(lambda: ask("proftrace_function_calls_total"), interval=0.2):
            self.fail("nothing was scraped")
        called = [f for f in document["functions"] if f["calls"]]
        self.assertEqual(ask("proftrace_function_calls_total"),
                         {f["name"]: f["calls"] for f in called})
        for name, figure in (("seconds", "total_ns"), ("self_seconds", "self_ns"),
                             ("cpu_self_seconds", "cpu_self_ns")):
            got = ask(f"proftrace_function_{name}_total")
            for f in called:
                self.assertAlmostEqual(got[f["name"]], f[figure] / 1e9, 8)
        finished = {f["name"]: sum(row[2] for row in f["histogram"]) for f in called}
        self.assertEqual(ask("proftrace_function_duration_seconds_count"), finished)
        # The bounds of the buckets are those of our distributions.
        for exponent in (10, 16, 34):
            below = {f["name"]: sum(n for _, high, n in f["histogram"] if high <= 1 << exponent)
                     for f in called}
            # Bounds are written differently.
            got = ask(f"proftrace_function_duration_seconds_bucket{{le=\"{2 ** exponent / 1e9:.12g}\"}}")
            self.assertEqual(got, below)

    def test_prometheus(self):
        document, port = self.serve(), clickhouse.free_port()
        with open(self.path("prometheus.yml"), "w", encoding="ascii") as file:
            file.write(CONFIG.format(self.server.server_port))
        self.process("/usr/bin/prometheus", f"--config.file={self.path('prometheus.yml')}",
                     f"--storage.tsdb.path={self.path('tsdb')}",
                     f"--web.listen-address=127.0.0.1:{port}", stdin=subprocess.DEVNULL)
        self.check(port, document)

    def test_victoria_metrics(self):
        document, port = self.serve(), clickhouse.free_port()
        with open(self.path("scrape.yml"), "w", encoding="ascii") as file:
            file.write(CONFIG.format(self.server.server_port))
        self.process("/usr/bin/victoria-metrics", f"-promscrape.config={self.path('scrape.yml')}",
                     f"-storageDataPath={self.path('storage')}", "-search.latencyOffset=0s",
                     f"-httpListenAddr=127.0.0.1:{port}", stdin=subprocess.DEVNULL)
        self.check(port, document)


if __name__ == "__main__":
    harness.main()
