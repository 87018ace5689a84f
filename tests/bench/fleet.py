#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""How long questions take of an hour of a fleet: Debian's ClickHouse, filled by itself, through the
same tables that proftrace sends to; as root, with ./proftrace built.

    tests/bench/fleet.py [--hosts 1000] [--whole 4] [--minutes 60] [--paths 10000]

Each host sends ten profiles a minute. Of a thousand hosts those are six billion paths, which take
hours to fill in. So four hosts' profiles go in whole, through the tables that proftrace sends to;
those of the others as rows of `profiles`, and as the minutes' sums that the engine makes of them.
These are what questions read, and as many rows for any number of hosts. One function of version 2
takes three times as long: diff has to say so."""

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
THREAD, DEPTH_FACTOR, BITS = 7, 0x9e3779b97f4a7c15, (1 << 64) - 1
ZEROS = ("p_off_ns", "p_probe_ns", "p_error_ns", "p_samples", "p_sampled_ns", "p_varied_ns",
         "p_burst_calls", "p_calls_variance")


def engine_hash(x):
    """intHash64()."""
    x ^= 0x4cf2d2baae6da887
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd & BITS
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53 & BITS
    return x ^ x >> 33


class Tree:
    """Paths of which each calls four others, as profile_trees has them, and their numbers."""

    def __init__(self, paths):
        self.names = [THREAD] + [engine_hash(i + 1) >> 16 for i in range(FUNCTIONS)]
        self.name, self.size, self.rows = [0], [paths + 1], []
        todo = [(0, 2, engine_hash(THREAD + DEPTH_FACTOR & BITS), 0)]
        while todo:
            i, depth, above, parent = todo.pop()
            name = 1 + i % FUNCTIONS
            total = above + engine_hash(self.names[name] + depth * DEPTH_FACTOR & BITS) & BITS
            path = engine_hash(total) >> 16
            self.name.append(name)
            self.size.append(self.below(i, paths))
            self.rows.append((path, parent, self.names[name]))
            todo += [(child, depth + 1, total, path)
                     for child in range(4 * i + 1, min(4 * i + 5, paths))]

    @staticmethod
    def below(i, paths):
        first, last, cnt = i, i, 0
        while first < paths:
            cnt += min(last, paths - 1) - first + 1
            first, last = 4 * first + 1, 4 * last + 4
        return cnt


def array(numbers, kind):
    return f"CAST([{','.join(map(str, numbers))}] AS Array({kind}))"


class Place:
    """The part of a test case that a server of the tests needs."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        os.chmod(folder, 0o755)

    def path(self, name):
        return os.path.join(self.folder, name)


def tree_columns(tree, version):
    """The columns of a row of profile_trees, {column: SQL}; `number` is the row's."""
    names = array(tree.name[1:], "UInt32")
    slow = f"if(name = {SLOW + 1} AND {version} = 2, 3, 1)"
    return {
        "t_names": array(tree.names, "UInt64"),
        "t_name": array(tree.name, "UInt32"),
        "t_size": array(tree.size, "UInt32"),
        "p_calls": f"arrayMap(name -> toUInt64(1 + name % 100), {names})",
        "p_self_ns": f"arrayMap(name -> toUInt64(((name * 7919 + number) % 100000 + 200000) * {slow}), {names})",
        **{name: f"arrayResize(emptyArrayUInt64(), toUInt64({len(tree.rows)}))" for name in ZEROS},
    }


def columns(tree, version):
    """The columns of a profile, {table: {column: SQL}}."""
    functions = f"range(toUInt64({FUNCTIONS}))"
    slow = f"if(i % {FUNCTIONS} = {SLOW} AND {version} = 2, 3, 1)"
    return {"profile_trees": tree_columns(tree, version), "profile_functions": {
        "f_function": f"arrayMap(i -> {ID.format('i + 1')}, {functions})",
        "f_calls": f"arrayMap(i -> toUInt64(500), {functions})",
        "f_total_ns": f"arrayMap(i -> toUInt64(9000000 * {slow}), {functions})",
        "f_self_ns": f"arrayMap(i -> toUInt64(2500000 * {slow}), {functions})",
        **{name: f"arrayResize(emptyArrayUInt64(), toUInt64({FUNCTIONS}))"
           for name in ("f_off_ns", "f_dropped")},
        "f_min_ns": f"arrayMap(i -> toUInt64(1000), {functions})",
        "f_max_ns": f"arrayMap(i -> toUInt64(9000), {functions})",
    }, "profile_latencies": {
        "l_function": f"arrayMap(i -> {ID.format('intDiv(i, 4) + 1')}, "
                      f"range(toUInt64({4 * FUNCTIONS})))",
        "l_bucket": f"arrayMap(i -> toUInt64(60 + i % 4), range(toUInt64({4 * FUNCTIONS})))",
        "l_calls": f"arrayMap(i -> toUInt64(125), range(toUInt64({4 * FUNCTIONS})))",
    }}


def fill_names(ask, tree):
    ask(f"INSERT INTO functions SELECT {ID.format('number + 1')}, "
        f"concat('fn_', toString(number)), concat('fn_', toString(number)), '/usr/bin/api', '', 0, 0 "
        f"FROM numbers({FUNCTIONS})")
    ask("INSERT INTO paths VALUES " + ",".join(f"({path},{parent},{function},'api',0)"
                                               for path, parent, function in tree.rows))


def fill_whole(ask, made, first, hosts, version, minute):
    """Profiles of `hosts` hosts from number `first` on, of a minute from `minute` on."""
    rows = hosts * PER_MINUTE
    head = (f"number + {minute * 1000000 + version * 100000}, 'api', '{version}', "
            f"concat('host', toString(number % {hosts} + {first})), "
            f"toDateTime({minute} + number % 60)")
    for table, of_table in made.items():
        ask(f"INSERT INTO {table} (id, service, version, host, time, {', '.join(of_table)}) "
            f"SELECT {head}, {', '.join(of_table.values())} FROM numbers({rows})")


def fill_sums(ask, profiles, version, minute):
    """Fills the sums of a minute: so many profiles add up to multiples of the sums that the whole
    profiles of that minute already have."""
    where = f"FROM {{}} WHERE version = '{version}' AND time = toDateTime({minute})"
    [[whole]] = ask("SELECT max(s) FROM (SELECT path, sum(profiles) AS s " +
                    where.format("path_minutes") + " GROUP BY path)")
    more = f"* {profiles} / {whole}"
    for table, keys, sums, states in (
            ("path_minutes", "path", ("profiles", "calls", "self_ns", "off_ns", "probe_ns", "error_ns"), ()),
            ("function_minutes", "function", ("profiles", "calls", "total_ns", "self_ns", "off_ns", "dropped"),
             ("min_ns", "max_ns")),
            ("latency_minutes", "function, bucket", ("calls",), ())):
        ask(f"INSERT INTO {table} (service, version, time, {keys}, {', '.join(sums + states)}) "
            f"SELECT 'api', '{version}', toDateTime({minute}), {keys}, "
            + ", ".join([f"toUInt64(sum({name}) {more})" for name in sums] +
                        [f"{name[:3]}MergeState({name})" for name in states])
            + f" {where.format(table)} GROUP BY {keys}")


def fill_profiles(ask, args, version, minute):
    """The rows of `profiles`, of all hosts."""
    hosts = args.hosts // 2
    ask("INSERT INTO profiles (id, service, version, host, time, duration_ns, entered, returned) "
        f"SELECT number + {minute * 1000000 + version * 100000}, 'api', '{version}', "
        f"concat('host', toString(number % {hosts} + {hosts * (version - 1)})), "
        f"toDateTime({minute} + number % 60), 6000000000, 500000, 500000 "
        f"FROM numbers({hosts * PER_MINUTE})")


def fill(server, args):
    ask, tree, whole = server.ask, Tree(args.paths), args.whole // 2
    made = {version: columns(tree, version) for version in (1, 2)}
    fill_names(ask, tree)
    begin = int(time.time()) // 60 * 60 - 60 * args.minutes
    for minute in range(begin, begin + 60 * args.minutes, 60):
        for version in 1, 2:
            fill_whole(ask, made[version], args.hosts // 2 * (version - 1), whole, version, minute)
            rest = args.hosts // 2 - whole
            if rest:
                fill_sums(ask, rest * PER_MINUTE, version, minute)
            fill_profiles(ask, args, version, minute)
        print(f"\rminute {(minute - begin) // 60 + 1} of {args.minutes}", end="", file=sys.stderr)
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
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--whole", type=int, default=4)
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
                server, "report", "-f", "html", "--where", f"host = 'host{args.hosts // 2}'"))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
