#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long questions take of an hour of a fleet: Debian's ClickHouse, filled by itself, through the
same tables that proftrace sends to; as root, with ./proftrace built.

    tests/bench/fleet.py [--hosts 1000] [--minutes 60] [--paths 10000]

Each host sends ten profiles a minute. With 1,000 hosts that are six billion paths, which takes hours
and is what `profiles` grows by; the sums by minute, which questions read, are as many rows with ten
hosts (the default). One function of version 2 takes twice as long: diff has to say so."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../e2e"))
import clickhouse  # noqa: E402
from harness import PROFTRACE  # noqa: E402

FUNCTIONS, SLOW, PER_MINUTE = 1000, 321, 10
ID = "bitShiftRight(intHash64(toUInt64({})), 16)"


class Place:
    """What a server of the tests wants of a test."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        os.chmod(folder, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)


def columns(paths, version):
    """Of a profile, {table: {column: SQL}}; `number` is the row's."""
    n = f"range(toUInt64({paths}))"
    functions = f"range(toUInt64({FUNCTIONS}))"
    slow = f"if(i % {FUNCTIONS} = {SLOW} AND {version} = 2, 2, 1)"
    return {"profile_paths": {
        "p_path": f"arrayMap(i -> {ID.format('i + 1')}, {n})",
        "p_calls": f"arrayMap(i -> toUInt64(1 + i % 100), {n})",
        "p_self_ns": f"arrayMap(i -> toUInt64(((i * 7919 + number) % 100000 + 200000) * {slow}), {n})",
        **{name: f"arrayResize(emptyArrayUInt64(), toUInt64({paths}))" for name in (
            "p_off_ns", "p_probe_ns", "p_error_ns", "p_samples", "p_sampled_ns", "p_varied_ns",
            "p_burst_calls", "p_calls_variance")},
    }, "profile_functions": {
        "f_function": f"arrayMap(i -> {ID.format('i + 1000001')}, {functions})",
        "f_calls": f"arrayMap(i -> toUInt64(500), {functions})",
        "f_total_ns": f"arrayMap(i -> toUInt64(9000000 * {slow}), {functions})",
        "f_self_ns": f"arrayMap(i -> toUInt64(2500000 * {slow}), {functions})",
        **{name: f"arrayResize(emptyArrayUInt64(), toUInt64({FUNCTIONS}))"
           for name in ("f_off_ns", "f_dropped")},
        "f_min_ns": f"arrayMap(i -> toUInt64(1000), {functions})",
        "f_max_ns": f"arrayMap(i -> toUInt64(9000), {functions})",
    }, "profile_latencies": {
        "l_function": f"arrayMap(i -> {ID.format('intDiv(i, 4) + 1000001')}, "
                      f"range(toUInt64({4 * FUNCTIONS})))",
        "l_bucket": f"arrayMap(i -> toUInt64(60 + i % 4), range(toUInt64({4 * FUNCTIONS})))",
        "l_calls": f"arrayMap(i -> toUInt64(125), range(toUInt64({4 * FUNCTIONS})))",
    }, "profiles": {"duration_ns": "toUInt64(6000000000)", "entered": "toUInt64(500000)",
                    "returned": "toUInt64(500000)"}}


def of_each_version(args):
    return (args.hosts + 1) // 2


def fill(server, args):
    ask = server.ask
    ask(f"INSERT INTO functions SELECT {ID.format('number + 1000001')}, "
        f"concat('fn_', toString(number)), concat('fn_', toString(number)), '/usr/bin/api', '', 0, 0 "
        f"FROM numbers({FUNCTIONS})")
    parent = ID.format("intDiv(number - 1, 4) + 1")
    ask(f"INSERT INTO paths SELECT {ID.format('number + 1')}, if(number = 0, 0, {parent}), "
        f"{ID.format(f'number % {FUNCTIONS} + 1000001')}, 'api', 0 FROM numbers({args.paths})")
    begin = int(time.time()) // 60 * 60 - 60 * args.minutes
    hosts = of_each_version(args)
    rows = hosts * PER_MINUTE
    for minute in range(args.minutes):
        for version in 1, 2:
            head = (f"number + {rows * (2 * minute + version)}, 'api', '{version}', "
                    f"concat('host', toString(number % {hosts} + {hosts * version})), "
                    f"toDateTime({begin + 60 * minute} + number % 60)")
            for table, made in columns(args.paths, version).items():
                ask(f"INSERT INTO {table} (id, service, version, host, time, {', '.join(made)}) "
                    f"SELECT {head}, {', '.join(made.values())} FROM numbers({rows})")
        print(f"\rminute {minute + 1} of {args.minutes}", end="", file=sys.stderr)
    print(file=sys.stderr)


def timed(what, run):
    begin = time.monotonic()
    result = run()
    print(f"{what:<28} {time.monotonic() - begin:6.2f} s")
    return result


def report(server, verb, *args):
    return subprocess.run([PROFTRACE, verb, "-q", "--from", server.url, *args], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--paths", type=int, default=10000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="proftrace-fleet-") as folder:
        server = clickhouse.Server(Place(folder))
        try:
            timed("filling", lambda: fill(server, args))
            for table in "profiles", "profile_paths", "path_minutes", "function_minutes", "latency_minutes":
                [[rows, size]] = server.ask(
                    "SELECT sum(rows), formatReadableSize(sum(bytes)) FROM system.parts WHERE "
                    f"active AND database = 'fleet' AND table = '{table}'")
                print(f"{table:<28} {int(rows):>12,} rows, {size}")
            timed("top 20 functions", lambda: server.ask(
                "SELECT any(name), s FROM (SELECT function, sum(self_ns) AS s FROM "
                "function_minutes WHERE service = 'api' GROUP BY function ORDER BY s DESC LIMIT 20)"
                " ANY LEFT JOIN functions USING function GROUP BY function, s"))
            text = timed("diff of two versions", lambda: report(
                server, "diff", "--where", "version = '1'", "--where", "version = '2'"))
            assert f"fn_{SLOW}" in text.splitlines()[0], text.splitlines()[0]
            page = timed("whole flame graph (html)", lambda: report(
                server, "report", "-f", "html", "--where", "service = 'api'"))
            print(f"{'':<28} {len(page) / 1e6:.1f} MB; diff says: {text.splitlines()[0][:60]}")
            timed("one host's flame graph", lambda: report(
                server, "report", "-f", "html", "--where", f"host = 'host{of_each_version(args)}'"))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
