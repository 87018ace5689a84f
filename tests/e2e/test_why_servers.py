# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of the distribution, of which some requests are slow for a cause that we make: the first
sentence names it."""

import contextlib
import glob
import http.client
import http.server
import json
import os
import pwd
import shutil
import socket
import subprocess
import threading
import time

import harness
from harness import PROFTRACE

SECONDS = 4
SLOW_S = 0.1
HOLD_S, PAUSE_S = 0.3, 0.7
# How many times longer the causes last that are made here. On a busy machine waiting for a CPU is
# the longest cause otherwise.
SLOWER = (1, 2, 4, 8)


class Upstream(http.server.BaseHTTPRequestHandler):
    """Takes longer for one request in fifty."""
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    requests = 0
    slower = 1

    def do_GET(self):
        type(self).requests += 1
        if self.requests % 50 == 0:
            time.sleep(SLOW_S * self.slower)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Load:
    """Does so again and again until it is left; its end may be met by a connection that breaks."""

    def __init__(self, step):
        self.step, self.ended = step, False
        self.thread = threading.Thread(target=self.run)

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            while not self.ended:
                self.step()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Servers(harness.TestCase):
    slower = 1

    def sentence(self, name, *options):
        """Returns the sentence of a run by the server's name, as a user would begin the run. How long
        its threads waited for a CPU meanwhile, by the kernel's account, is in self.delayed_s."""
        out = self.path("out.json")
        before = self.delays_s(name)
        done = self.process(PROFTRACE, "-p", name, "-d", SECONDS * self.slower, "-o", out, *options,
                            stdin=subprocess.DEVNULL).finish()
        self.delayed_s = self.delays_s(name) - before
        self.assertEqual(done.status, 0, str(done))
        with open(out, encoding="utf-8") as file:
            group, = self.check(json.load(file))["sessions"]
        return group["why"]["sentence"]

    @staticmethod
    def delays_s(name):
        """How long the threads of that name have waited for a CPU so far."""
        delays_ns = 0
        for path in glob.glob("/proc/[0-9]*/task/[0-9]*/schedstat"):
            with contextlib.suppress(OSError):
                with open(os.path.join(path, "../comm"), encoding="utf-8", errors="replace") as file:
                    if file.read().rstrip("\n") != name[:15]:
                        continue
                with open(path, encoding="ascii") as file:
                    delays_ns += int(file.read().split()[1])
        return delays_ns / 1e9

    def as_made(self, cause_s, judge):
        """judge() makes a run and checks what is said of it. Where threads of the server waited for a
        CPU for longer than half of what our cause lasts, that may be told first, and rightly: then
        the cause has to last twice as long."""
        for self.slower in SLOWER:
            Upstream.slower = self.slower
            try:
                return judge()
            except AssertionError:
                if self.slower == SLOWER[-1] or self.delayed_s < cause_s * self.slower / 2:
                    raise

    def start(self, path, *argv, **options):
        """A copy of the server under a name of its own, which is in self.name."""
        self.name = f"{os.path.basename(path)[:6]}{os.getpid() % 100000}"
        self.process(shutil.copy(path, self.path(self.name)), *argv, **options)

    def wait_for(self, condition):
        self.assertTrue(harness.poll(condition, interval=0.1))

    def test_nginx(self):
        """An upstream that is slow."""
        upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        self.addCleanup(upstream.shutdown)
        port, up = free_port(), upstream.server_address[1]
        with open(self.path("nginx.conf"), "w", encoding="utf-8") as file:
            file.write(f"daemon off; worker_processes 1; user root; pid {self.path('pid')};"
                       f"error_log {self.path('log')}; events {{}} http {{ access_log off;"
                       f"upstream up {{ server 127.0.0.1:{up}; keepalive 4; }}"
                       f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://up;"
                       "proxy_http_version 1.1; proxy_set_header Connection ''; } } }")
        self.start("/usr/sbin/nginx", "-c", self.path("nginx.conf"))
        self.wait_for(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        connection = http.client.HTTPConnection("127.0.0.1", port)

        def request():
            connection.request("GET", "/")
            connection.getresponse().read()

        reply = rf"waiting for a reply of tcp 127\.0\.0\.1:{up}"

        def judge_turns():
            turns = self.sentence(self.name, "--session", "ngx_process_events_and_timers")
            self.assertRegex(turns, rf"^p99 sessions take .* longer: [0-9.]+ m?s {reply} in "
                             "`ngx_process_events_and_timers(?: › func_0x[0-9a-f]+)?`")

        def judge_requests():
            requests = self.sentence(self.name, "--session", "ngx_http_core_run_phases", "--link",
                                     "ngx_http_upstream_init(arg1) -> ngx_http_parse_status_line(arg1)")
            self.assertRegex(requests, r"^p99 sessions take .* longer: [0-9.]+ m?s in the queue to "
                             rf"`ngx_http_parse_status_line`, while thread {self.name[:15]} was {reply}")

        with Load(request):
            self.as_made(SLOW_S, judge_turns)
            self.as_made(SLOW_S, judge_requests)

    def test_redis(self):
        """A command that looks at all keys."""
        path = self.path("socket")
        self.start("/usr/bin/redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                   "--dir", self.directory, stdout=subprocess.DEVNULL)
        self.wait_for(lambda: harness.listens(path))
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)

        def ask(command):
            client.sendall(command + b"\r\n")
            return client.recv(1000)

        ask(b"DEBUG POPULATE 400000")
        count = iter(range(1 << 60))

        def request():
            ask(b"KEYS nothing*" if next(count) % 50 == 0 else b"GET key:7")
            time.sleep(0.001)

        with Load(request):
            sentence = self.sentence(self.name, "--session", "call")
        self.assertRegex(sentence, "^p99 sessions take .* longer: .*more in `keysCommand`")

    @harness.alone("traces all processes of postgres")
    def test_postgres(self):
        """pgbench, and a table that somebody locks now and then."""
        programs = os.path.dirname(sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))[-1])
        owner = pwd.getpwnam("postgres")
        os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        data, who = self.path("data"), {"user": "postgres", "group": "postgres", "env": {}}

        def run(name, *args, **options):
            subprocess.run([os.path.join(programs, name), *args], check=True, cwd=self.directory,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, **who, **options)

        run("initdb", "-D", data, "-A", "trust")
        with open(f"{data}/postgresql.conf", "a", encoding="utf-8") as file:
            file.write(f"unix_socket_directories = '{self.directory}'\nlisten_addresses = ''\n"
                       "fsync = off\nautovacuum = off\n")
        run("pg_ctl", "-D", data, "-l", self.path("log"), "-w", "start")
        def judge():
            sentence = self.sentence("postgres", "--session", "pg_analyze_and_rewrite_fixedparams")
            self.assertRegex(sentence, r"^p99 sessions take .* longer: .*waiting for one of "
                             r"several files \(signalfd\) in `(\w+ › )?\w+`, woken by "
                             r"(`\w+` in )?process postgres")

        try:
            self.under_pgbench(programs, run, who, judge)
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")

    def under_pgbench(self, programs, run, who, judge):
        run("createdb", "-h", self.directory, "bench")
        run("pgbench", "-h", self.directory, "-i", "-q", "bench")
        self.process(os.path.join(programs, "pgbench"), "-h", self.directory, "-n", "-S",
                     "-R", "200", "-T", "600", "bench", stdout=subprocess.DEVNULL, **who)
        client = self.process(os.path.join(programs, "psql"), "-h", self.directory, "bench",
                              stdout=subprocess.DEVNULL, **who)

        def lock():
            client.send("begin; lock table pgbench_accounts;")
            time.sleep(HOLD_S * self.slower)
            client.send("commit;")
            time.sleep(PAUSE_S * self.slower)

        with Load(lock):
            self.as_made(HOLD_S, judge)

    def test_mariadb(self):
        """Rows that another transaction has locked."""
        data, path = self.path("data"), self.path("socket")
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}",
                        "--auth-root-authentication-method=normal"], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.start("/usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
                   f"--socket={path}", "--skip-networking", "--innodb-flush-log-at-trx-commit=0")
        argv = "mariadb", "--no-defaults", "-S", path, "-uroot", "-n"
        self.wait_for(lambda: not subprocess.run([*argv, "-e", "create database bench"], check=False,
                                                 stdin=subprocess.DEVNULL,
                                                 stderr=subprocess.DEVNULL).returncode)
        subprocess.run([*argv, "-e", "create table t (id int primary key, v int) engine=innodb;"
                        "insert into t values (1, 1);", "bench"], check=True,
                       stdin=subprocess.DEVNULL)
        holder, client = (self.process(*argv, "bench", stdout=subprocess.DEVNULL)
                          for _ in range(2))
        update = "update t set v = v + 1 where id = 1;"

        def lock():
            holder.send(f"start transaction; {update}")
            time.sleep(HOLD_S * self.slower)
            holder.send("commit;")
            time.sleep(PAUSE_S * self.slower)

        def request():
            client.send(f"{update} select v from t;")
            time.sleep(0.005 * self.slower) # so that of as many one is slow

        def judge():
            sentence = self.sentence(self.name, "--session", "mysql_execute_command")
            # A commit that the first look at the server has met is one in few calls: dropped.
            self.assertRegex(sentence, r"^p99 sessions take .* longer: .*waiting (on 0x[0-9a-f]+|for a "
                             r"lock) in `[^`]+`, woken by `(trans_commit|mysql_execute_command)` in "
                             "thread " + self.name[:15])

        with Load(lock), Load(request):
            self.as_made(HOLD_S, judge)
        for process in holder, client:
            process.kill()


if __name__ == "__main__":
    harness.main()
