# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers that get one kind of request without end, so that stretches of time are alike, and that
count themselves what they have answered."""

import contextlib
import os
import re
import socket
import subprocess
import urllib.request
from dataclasses import dataclass
from typing import Callable

import bench
from bench import Broken, running, start
from rows import exits
from rows.forks import Postgres

ENDLESS = 1000000000


@dataclass
class Server:
    pids: str  # of its processes, as for -p: "17" or "17,18"
    requests: Callable[[], int]  # how many it has answered
    load: object  # the process that asks, with a method signal()
    each: str = None  # the function that each request calls once, where there is one


class RedisCounter:
    """Counts the server's SET commands. The question goes over one connection, as a new connection
    each time would take more of the server's time."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.answers = self.socket.makefile("rb")

    def requests(self):
        self.socket.sendall(b"INFO commandstats\r\n")
        said = self.answers.read(int(self.answers.readline()[1:]) + 2)
        found = re.search(rb"cmdstat_set:calls=(\d+)", said)
        return int(found[1]) if found else 0


@contextlib.contextmanager
def redis(directory, clients=8):
    path = os.path.join(directory, "socket")
    with running(start("redis-server", "--port", 0, "--unixsocket", path, "--save", "",
                       "--dir", directory)) as server:
        exits.until(lambda: os.path.exists(path), "redis-server")
        with running(start("redis-benchmark", "-s", path, "-t", "set", "-c", clients, "-n", ENDLESS,
                           "-q")) as load:
            yield Server(str(server.pid), RedisCounter(path).requests, load, "setCommand")


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
        return True
    return False


def status(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=60) as said:
        return said.read()


@contextlib.contextmanager
def nginx(directory, clients=8):
    def requests():
        return int(re.search(rb"\n \d+ \d+ (\d+)", status(exits.PORT))[1])
    with exits.nginx(directory, clients) as load:
        pid = bench.read(os.path.join(directory, "pid")).decode().strip()
        yield Server(pid, requests, load, "ngx_http_process_request_uri")


@contextlib.contextmanager
def postgres(directory, clients=2):
    """Connections that stay, hence processes that do."""
    os.chmod(directory, 0o711)
    with Postgres(os.path.join(directory, "postgres"), clients) as server:
        def requests():
            return int(server.select("xact_commit from pg_stat_database where datname = 'bench'"))
        with server.load() as load:
            pids = server.select("string_agg(pid::text, ',') from pg_stat_activity "
                                 "where pid <> pg_backend_pid()")
            yield Server(f"{server.pids()[0]},{pids}", requests, load, "exec_simple_query")


@contextlib.contextmanager
def mariadbd(directory, clients=2):
    with exits.mariadb_server(directory) as (process, client):
        def requests():
            said = subprocess.run(["mariadb", *client, "-Ne", "show global status like "
                                   "'Com_select'"], check=True, stdout=subprocess.PIPE).stdout
            return int(said.split()[1])
        subprocess.run(["mariadb", *client, "-e", "create database bench; use bench; create table t "
                        "(id int primary key, v int); insert into t select seq, seq from "
                        "seq_1_to_1000;"], check=True)
        with running(start("mariadb-slap", *client, "--create-schema=bench", "--no-drop",
                           "--query=select v from t where id = 500", f"--concurrency={clients}",
                           f"--number-of-queries={ENDLESS}")) as load:
            yield Server(str(process.pid), requests, load, "mysql_execute_command")


@contextlib.contextmanager
def web(command, port, clients):
    with running(start(*command)) as server:
        exits.until(lambda: listens(port), command[0])
        with running(start("wrk", "-t1", f"-c{clients}", "-d3600",
                           f"http://127.0.0.1:{port}/")) as load:
            yield Server(str(server.pid), lambda: int(status(port)), load)


@contextlib.contextmanager
def go(directory, clients=8):
    program = os.path.join(directory, "web")
    source = os.path.join(bench.HERE, "web.go")
    subprocess.run(["go", "build", "-o", program, source], check=True,
                   env={**os.environ, "GOCACHE": os.path.join(directory, "cache"),
                        "GO111MODULE": "off"})
    with web([program, f"127.0.0.1:{exits.PORT}"], exits.PORT, clients) as server:
        yield server


@contextlib.contextmanager
def python3(_, clients=4):
    with web([bench.PYTHON, os.path.join(bench.HERE, "web.py"), exits.PORT], exits.PORT,
             clients) as server:
        yield server


SERVERS = {"redis": redis, "nginx": nginx, "postgres": postgres, "mariadbd": mariadbd, "go": go,
           "python3": python3}
