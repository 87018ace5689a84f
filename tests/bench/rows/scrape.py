# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent's metrics: how long a scrape takes, by one connection each, of a program with 5,000
functions of which so many have series that there are about 500 samples, and all that are possible."""

import http.client
import os
import statistics
import subprocess
import tempfile
import time

import bench
import clickhouse
import harness
from bench import detail, row, running, start

REACH_MS = 20
CONFIG = """[agent]
ring = {0}/ring
status = {0}/run/agent.json
interval = 1s
overhead = 100%
[service many]
process = {1}
overhead = none
filter = *
[metrics]
listen = {2}
max-functions = {3}
"""


def scrape(port):
    """The text, and how long it took."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=harness.TIMEOUT)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    except ConnectionError:
        text = ""
    finally:
        connection.close()
    return text, time.monotonic() - began


def measure(args, pid, functions):
    """(samples, bytes, [ms])"""
    with tempfile.TemporaryDirectory() as folder:
        config, port = os.path.join(folder, "agent.conf"), clickhouse.free_port()
        with open(config, "w", encoding="ascii") as file:
            file.write(CONFIG.format(folder, pid, port, functions))
        agent = harness.Process([args.proftrace, "agent", config], stdin=subprocess.DEVNULL)
        with running(agent):
            if not harness.poll(lambda: '"[others]"' in scrape(port)[0], 60, 0.5):
                raise AssertionError(agent.stderr.text())
            took = [1000 * scrape(port)[1] for _ in range(args.scrapes)]
            text = scrape(port)[0]
            agent.signal(15)
            agent.finish()
    return sum(not line.startswith("#") for line in text.splitlines()), len(text), took


@bench.measures("scrape", bench.option("--scrapes", 101, "so often", quick=31, type=int))
def measure_scrape(args):
    with running(start(bench.built(args, "programs", "many"))) as target:
        for functions in 24, 500:
            samples, size, took = measure(args, target.pid, functions)
            median = statistics.median(took)
            row(f"scrape of {samples} samples: median", median, f"{median:.1f} ms", REACH_MS)
            detail(f"{size / 1000:.0f} kB; least {min(took):.1f} ms, most {max(took):.1f} ms")
