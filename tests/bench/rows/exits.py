# SPDX-License-Identifier: GPL-2.0-or-later
"""The cost of seeing a call's end without changing return addresses.

Real programs are traced under load, in every process that maps their file, so that all functions
get exit sites or none; then those of them that can have return probes get these. What the probes
of the average call cost is what proftrace has charged: each hit by its kind, hits in vain too."""

import collections
import contextlib
import json
import os
import subprocess
import tempfile
import time

import bench
from bench import Broken, detail, library, plan, row, running, start

SECONDS = bench.option("--exits-seconds", 4, "seconds of each run", quick=2, type=int)
MOST = 2000 # functions of the second run: those that are called most

NGINX = """daemon off; master_process off; pid {dir}/pid; error_log {dir}/errors;
events {{ worker_connections 64; }}
http {{ access_log off; client_body_temp_path {dir}/1; proxy_temp_path {dir}/2;
fastcgi_temp_path {dir}/3; uwsgi_temp_path {dir}/4; scgi_temp_path {dir}/5;
server {{ listen 127.0.0.1:{port}; root {dir}; location /status {{ stub_status; }} }} }}
"""
PORT = 18089
JSONNET = 'std.length(std.manifestJson([std.format("%d %s %5.3f", [i, "abc", i / 7]) ' \
          "for i in std.range(0, 300)]))"


def until(condition, what):
    if not bench.harness.poll(condition, 60, 0.1):
        raise Broken(f"{what} does not start")


def answers(*command):
    return not subprocess.run(command, check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def again(command):
    """Does so for ever."""
    return start("sh", "-c", f"while :; do {command} >/dev/null 2>&1 || sleep 0.1; done")


@contextlib.contextmanager
def nginx(directory, clients=8):
    config = os.path.join(directory, "nginx.conf")
    with open(config, "w", encoding="utf-8") as file:
        file.write(NGINX.format(dir=directory, port=PORT))
    with open(os.path.join(directory, "page.html"), "w", encoding="utf-8") as file:
        file.write("x" * 2000)
    with running(start("nginx", "-c", config)):
        until(lambda: os.path.exists(os.path.join(directory, "pid")), "nginx")
        with running(start("wrk", "-t1", f"-c{clients}", "-d3600",
                           f"http://127.0.0.1:{PORT}/page.html")) as load:
            yield load


@contextlib.contextmanager
def jsonnet(directory):
    with running(again(f"jsonnet -e '{JSONNET}'")):
        yield


@contextlib.contextmanager
def mariadb_server(directory):
    """Starts a server. Returns its process, and the options of clients."""
    data, socket = (os.path.join(directory, name) for name in ("data", "socket"))
    if not answers("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
                   "--auth-root-authentication-method=normal"):
        raise Broken("mariadb-install-db fails")
    client = "--no-defaults", f"--socket={socket}", "-uroot"
    with running(start("mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
                       f"--socket={socket}", "--skip-networking")) as server:
        until(lambda: answers("mariadb-admin", *client, "ping"), "mariadbd")
        yield server, client


@contextlib.contextmanager
def mariadbd(directory):
    with mariadb_server(directory) as (_, client):
        with running(again(f"mariadb-slap {' '.join(client)} --auto-generate-sql "
                           "--concurrency=2 --number-of-queries=2000")):
            yield


@contextlib.contextmanager
def redis(directory):
    socket = os.path.join(directory, "socket")
    with running(start("redis-server", "--port", 0, "--unixsocket", socket, "--save", "",
                       "--dir", directory)):
        until(lambda: os.path.exists(socket), "redis-server")
        with running(again(f"redis-benchmark -s {socket} -t set,get,lpush,lrange_100,zadd -c 8")):
            yield


# {name: (its file, load, times a return probe's cost at most)}
PROGRAMS = {
    "nginx": ("/usr/sbin/nginx", nginx, 2),
    "libstdc++": ("libstdc++.so.6", jsonnet, 4),
    "mariadbd": ("/usr/sbin/mariadbd", mariadbd, 4),
    "redis": ("/usr/bin/redis-server", redis, None),
}
WHICH = bench.option("--exits-programs", ",".join(PROGRAMS), "programs to trace")


def trace(args, path, *options):
    """The document of a run."""
    done = subprocess.run([args.proftrace, "-q", "-x", path, *bench.UNLIMITED, "-d",
                           str(args.exits_seconds), "-f", "json", *options], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise Broken(done.stderr.decode().strip())
    document = json.loads(done.stdout)
    accounting = document["accounting"]
    if accounting["lost"] or not accounting["entered"]:
        raise Broken(f"{path}: {accounting}")
    return document


def cost(document):
    return document["accounting"]["probe_ns"] / document["accounting"]["entered"]


def shares(document, kinds):
    """In percent of calls, by what their end is seen."""
    calls = collections.Counter()
    for function in document["functions"]:
        calls[kinds.get(function["offset"], "?")] += function["calls"]
    total = sum(calls.values())
    return ", ".join(f"{100 * count / total:.0f} % {kind}" for kind, count in calls.most_common())


@bench.measures("exits", SECONDS, WHICH)
def measure_exits(args):
    """Calls of functions with exit sites, against those with return probes."""
    for name in args.exits_programs.split(","):
        if name not in PROGRAMS:
            raise Broken(f"{name}: not one of {', '.join(PROGRAMS)}")
        path, load, reach = PROGRAMS[name]
        path = os.path.realpath(library(path))
        every = "-x", path, "-F", "*"
        kinds = {f["offset"]: f["exit_kind"] for f in plan(args, *every)}
        returning = {f["offset"]: f["symbol"] for f in plan(args, *every, "--exits=return")
                     if f["exit"] == "return"}
        with tempfile.TemporaryDirectory() as directory, load(directory):
            time.sleep(1)
            sites = trace(args, path, "-F", "*")
            most = sorted(sites["functions"], key=lambda f: -f["calls"])
            names = [returning[f["offset"]] for f in most if f["offset"] in returning][:MOST]
            returns = trace(args, path, "--exits=return", *(w for n in names for w in ("-F", n)))
        ratio = cost(sites) / cost(returns)
        row(f"a call with exit sites / with a return probe, {name}", ratio, f"{ratio:.2f} x", reach)
        detail(f"{cost(sites):,.0f} ns of {sites['accounting']['entered']:,} calls, "
               f"{cost(returns):,.0f} ns of {returns['accounting']['entered']:,}; their ends: "
               f"{shares(sites, kinds)}")
