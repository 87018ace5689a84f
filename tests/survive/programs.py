# SPDX-License-Identifier: GPL-2.0-or-later
"""Real programs, every eligible function of them traced, each at a fixed piece of work."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import callgrind
import engine
import scripts
from engine import Case, judge_counts, judge_identity, judge_same, judge_text, plain, stage
from harness import PROFTRACE, PYTHON, UNLIMITED, poll
from rows import row

REAL = "every function of"
FIXED = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0",
         "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0"}
TIMEOUT = engine.TIMEOUT


class Script(Case):
    """A program with files of its own in a new folder; what it leaves there is its output, too."""

    def __init__(self, path, *args, files=(), results=(), stdin=None, **more):
        super().__init__(path, *args, **more)
        self.files, self.results, self.stdin = dict(files), results, stdin

    def fill(self, it):
        """A new folder each time, always the same one."""
        folder = it.path("work")
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in {**self.files, "stdin": self.stdin or ""}.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return folder

    def start(self, it, *argv):
        folder = self.fill(it)
        with open(os.path.join(folder, "stdin"), "rb") as stdin:
            process = it.process(*argv, stdin=stdin, cwd=folder, env={**FIXED, "HOME": folder})
        done = process.finish(TIMEOUT)
        it.forget(process)
        for name in self.results:
            with open(os.path.join(folder, name), "rb") as file:
                done.stdout += f"{name}: {file.read()!r}\n"
        return done

    def alone(self, it):
        return self.start(it, self.path, *self.args)

    def by_command(self, trial, it, alone, *options):
        what, out = " ".join(("command", *options)), it.path("out.json")
        it.traced = True
        result = self.start(it, PROFTRACE, *UNLIMITED, "-q", "-f", "json", "-o", out, *self.options, *options,
                            "--", self.path, *self.args)
        judge_same(trial, alone, plain(result), what)
        document = engine.load(out)
        judge_identity(trial, document, what)
        trial.runs += 1
        if not options:
            self.seen = document
        return document, result

    def as_callgrind(self, trial, least, path=None):
        """Each function was called as often as callgrind says, at least `least` of them."""
        with stage(trial) as it:
            folder, out = self.fill(it), it.path("out.json")
            with open(os.path.join(folder, "stdin"), "rb") as stdin:
                output, true = callgrind.run([self.path, *self.args], it.path("callgrind.out"),
                                             stdin=stdin, cwd=folder)
            environment, folder = callgrind.environment(folder), self.fill(it)
            it.traced = True
            with open(os.path.join(folder, "stdin"), "rb") as stdin:
                done = subprocess.run(
                    [*callgrind.NATIVE, PROFTRACE, *UNLIMITED, "-q", "-f", "json", "-o", out, *self.options,
                     "--", self.path, *self.args], stdin=stdin, cwd=folder, env=environment,
                    check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
            trial.judge("SAME", done.stdout == output, "output differs from that under callgrind")
            document = engine.load(out)
            judge_identity(trial, document, "beside callgrind")
            callgrind.leave_named(document, path or self.path)
            equal, different = callgrind.compare(document, true, path or self.path)
            trial.counted = True
            trial.judge("EXACT", equal >= least and not different, f"callgrind agrees on {equal} "
                        f"functions and not on {len(different)}: {different[:5]}")
            trial.figure(f"callgrind agrees on the calls of {equal} functions")
            trial.runs += 1

    def compare(self, trial, it, document, alone):
        symbols = {f["symbol"] for f in document["functions"]
                   if any(pattern in f["name"] for pattern in self.patterns) and f["calls"]}
        path = next((f["module"] for f in document["functions"] if f["symbol"] in symbols),
                    self.path)
        engine.under_bpftrace(trial, path, symbols, lambda: plain(self.alone(it)), alone)

    def run(self, trial):
        super().run(trial)
        trial.figure(f"{self.seen['probes']['functions']} functions, exits "
                     f"{ {k: v for k, v in self.seen['probes']['exits'].items() if v} }")


@row(REAL, "bash", short=True)
def bash(trial):
    Script("/usr/bin/bash", "--norc", "script", files={"script": scripts.BASH},
           patterns=("execute_command", "parse_command", "parse_and_execute")).run(trial)


@row(REAL, "python3")
def python(trial):
    script = Script(PYTHON, "-s", "-S", "-B", "script.py", files={"script.py": scripts.PYTHON},
                    patterns=("PyObject_Call", "PyEval_EvalCode", "_PyEval_EvalFrameDefault"))
    script.run(trial)


@row(REAL, "perl")
def perl(trial):
    Script("/usr/bin/perl", "script.pl", files={"script.pl": scripts.PERL},
           patterns=("Perl_runops_standard", "Perl_call_sv", "Perl_die_unwind", "Perl_pp_entersub",
                     "Perl_sighandler")).run(trial)


@row(REAL, "sqlite3 (its library)", needs=("valgrind",))
def sqlite(trial):
    script = Script("/usr/bin/sqlite3", "-batch", "-init", "/dev/null", ":memory:",
                    stdin=scripts.SQL, options=("-F", "libsqlite3.so.0:*"),
                    patterns=("sqlite3_step", "sqlite3_exec", "sqlite3_prepare_v2"))
    script.run(trial)
    done = Script("/usr/bin/sqlite3", "-batch", "-init", "/dev/null", ":memory:",
                  stdin=scripts.SQL.replace("SELECT nonsense FROM words;\n", "").replace(
                      "INSERT INTO words VALUES (1, 'twice', 0);\n", ""),
                  options=("-F", "libsqlite3.so.0:*"))
    done.as_callgrind(trial, 50, "/usr/lib/x86_64-linux-gnu/libsqlite3.so.0")


@row(REAL, "cc1 (compile, compare the assembly)")
def compiler(trial):
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], stdout=subprocess.PIPE, check=True)
    Script(cc1.stdout.decode().strip(), "-quiet", "-O2", "-o", "out.s", "in.c", results=("out.s",),
           files={"in.c": scripts.C_SOURCE}, patterns=("finish_decl", "rest_of_decl_compilation",
                                                       "toplev::main")).run(trial)


@row(REAL, "cppcheck (C++ that throws, seen with gdb)", needs=("cppcheck", "gdb"))
def cppcheck(trial):
    files = {"bad.cpp": scripts.BAD_CPP, "odd.cpp": scripts.ODD_CPP,
             "not.cpp": scripts.CRASHING_CPP}
    script = Script("/usr/bin/cppcheck", "--enable=all", "--force", *files, files=files,
                    patterns=("Tokenizer::createLinks()", "Tokenizer::simplifyTokenList1(",
                              "Tokenizer::simplifyTokens1(", "CppCheck::checkFile("))
    with stage(trial) as it:
        gdb = script.start(it, "gdb", "-q", "-nx", "-batch", "-ex", "catch throw", "-ex", "run",
                           "-ex", "bt 5", "--args", script.path, *script.args)
        thrown = "__cxa_throw" in gdb.stdout
        trial.judge("SAME", thrown, f"it does not throw: {gdb.stdout[-300:]}")
    script.run(trial)


class Git(Script):
    """Runs one command after the other in one folder, each traced."""

    LIBRARIES = ("-F", "*", "-F", "libz.so.1:*", "-F", "libpcre2-8.so.0:*")
    FILES = {"repository/a.txt": "the quick brown fox\njumps over\nthe lazy dog\n" * 20,
             "repository/dir/c.txt": "".join(f"line {i}\n" for i in range(300))}
    DATE = "2001-02-03T04:05:06Z"
    DATES = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE,
             "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "C",
             "GIT_COMMITTER_EMAIL": "c@d", "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat"}

    def __init__(self):
        super().__init__("/usr/bin/git", files=self.FILES)

    def commands(self, trial, it, *prefix):
        """Runs the script. Returns what each command has shown, together."""
        folder, shown = self.fill(it), []
        for command in scripts.GIT:
            process = it.process(*prefix, self.path, *command, stdin=subprocess.DEVNULL,
                                 cwd=folder + "/repository",
                                 env={**FIXED, **self.DATES, "HOME": folder})
            shown.append((command, plain(process.finish(TIMEOUT))))
            it.forget(process)
            if prefix:
                judge_identity(trial, engine.load(it.path("out.json")), " ".join(command))
                trial.runs += 1
        return shown

    def run(self, trial):
        with stage(trial) as it:
            alone = self.commands(trial, it)
            it.traced = True
            traced = self.commands(trial, it, PROFTRACE, *UNLIMITED, "-q", "-f", "json", "-o",
                                   it.path("out.json"), *self.LIBRARIES, "--")
            for (command, one), (_, other) in zip(alone, traced):
                judge_same(trial, one, other, " ".join(command))
            trial.bpftrace = "no function to probe" if trial.options.bpftrace else ""


@row(REAL, "git (and of its libraries)", needs=("git",))
def git(trial):
    """Debian's git shows next to no function of its own."""
    Git().run(trial)


# Servers: live, attached to while they run; asked the same before, while and after they are traced.

class Server:
    def __init__(self, it, path, *argv, socket_path):
        self.path, self.socket = path, socket_path
        self.process = it.process(path, *argv, stdin=subprocess.DEVNULL,
                                  env={**FIXED, "HOME": it.directory}, cwd=it.directory)
        if not poll(self.accepts, TIMEOUT, 0.05):
            raise AssertionError(f"it does not serve: {self.process.stderr.text()[-400:]}")

    def accepts(self):
        with socket.socket(socket.AF_UNIX) as client:
            return not client.connect_ex(self.socket)


def serve(trial, make, ask, stop, count, patterns=()):
    """make(it): a Server; ask(server): the transcript of a fixed client; stop(server) ends it, and
    returns how it ended; count(server): asks it, and returns the transcript and {function: calls},
    known from elsewhere."""
    with stage(trial) as it:
        server = make(it)
        before = ask(server)
        alone = plain(stop(server))
        server = make(it)
        judge_same(trial, (0, before, ""), (0, ask(server), ""), "before")
        for _ in range(trial.options.iterations):
            tracer = it.proftrace("-f", "json", "-p", server.process.pid).wait_tracing()
            transcript, counts = count(server)
            judge_same(trial, (0, before, ""), (0, transcript, ""), "traced")
            document = json.loads(tracer.interrupt().stdout)
            judge_identity(trial, document)
            judge_text(trial, server.process.pid, server.path)
            judge_counts(trial, document, counts)
            judge_same(trial, (0, before, ""), (0, ask(server), ""), "after")
            trial.runs += 1
            it.forget(tracer)
        symbols = {f["symbol"] for f in document["functions"] if f["symbol"] in patterns}
        judge_same(trial, alone, plain(stop(server)))
        trial.figure(f"{document['probes']['functions']} functions, exits "
                     f"{ {k: v for k, v in document['probes']['exits'].items() if v} }")

        def under():
            other = make(it)
            transcript = ask(other)
            status, _, errors = plain(stop(other))
            return status, transcript, errors
        engine.under_bpftrace(trial, server.path, symbols, under, (alone[0], before, alone[2]))


NGINX = """
daemon off; master_process off; pid {0}/pid; error_log stderr crit; user root;
events {{ worker_connections 64; }}
http {{
	access_log off; client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3;
	uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5; gzip on; gzip_types text/plain; gzip_min_length 10;
	server {{
		listen unix:{0}/socket; root {0}/www; autoindex off; default_type text/plain;
		location /moved {{ return 301 http://localhost/a.txt; }}
		location /denied {{ deny all; }}
		location ~ ^/re/(\\d+)$ {{ return 200 "number $1\\n"; }}
		location /back/ {{ proxy_pass http://unix:{0}/socket:/; }}
	}}
}}
"""
ASKS = [("GET", "/a.txt", {}), ("GET", "/a.txt", {"Accept-Encoding": "gzip"}),
        ("HEAD", "/a.txt", {}), ("GET", "/nosuch", {}), ("GET", "/moved", {}),
        ("GET", "/denied", {}), ("GET", "/re/42", {}),
        ("GET", "/a.txt", {"Range": "bytes=5-20"}), ("POST", "/a.txt", {}), ("PUT", "/re/1", {}),
        ("GET", "/back/a.txt", {}), ("GET", "/back/re/7", {}), ("GET", "/%00", {}),
        ("GET", "/a.txt", {"If-None-Match": '"nosuch"'})]


def make_nginx(it):
    os.makedirs(it.path("www"), exist_ok=True)
    with open(it.path("www/a.txt"), "w", encoding="utf-8") as file:
        file.write("the quick brown fox\n" * 200)
    os.utime(it.path("www/a.txt"), (1e9, 1e9))
    with open(it.path("conf"), "w", encoding="utf-8") as file:
        file.write(NGINX.format(it.directory))
    for path in ("socket", "pid"):
        if os.path.exists(it.path(path)):
            os.unlink(it.path(path))
    return Server(it, "/usr/sbin/nginx", "-p", it.directory, "-c", it.path("conf"), "-e", "stderr",
                  socket_path=it.path("socket"))


def ask_nginx(server):
    transcript = []
    for method, path, headers in ASKS * 3:
        client = http.client.HTTPConnection("localhost", timeout=TIMEOUT)
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(server.socket)
        client.request(method, path, headers={"Connection": "close", **headers})
        answer = client.getresponse()
        fields = sorted(field for field in answer.getheaders() if field[0] != "Date")
        transcript.append(f"{method} {path} {answer.status} {fields} {answer.read()!r}")
        client.close()
    return "\n".join(transcript)


def count_nginx(server):
    """Nginx makes a request more for each that it sends to itself."""
    itself = sum(path.startswith("/back/") for _, path, _ in ASKS)
    return ask_nginx(server), {"ngx_http_create_request": (len(ASKS) + itself) * 3}


def quit_nginx(server):
    server.process.signal(signal.SIGQUIT)
    return server.process.finish(TIMEOUT)


@row(REAL, "nginx", needs=("/usr/sbin/nginx",))
def nginx(trial):
    serve(trial, make_nginx, ask_nginx, quit_nginx, count_nginx,
          patterns=("ngx_http_process_request", "ngx_http_create_request",
                    "ngx_http_finalize_request", "ngx_http_core_run_phases"))


def make_redis(it):
    return Server(it, "/usr/bin/redis-server", "--port", "0", "--unixsocket", it.path("redis"),
                  "--save", "", "--appendonly", "no", "--loglevel", "warning", "--dir",
                  it.directory, socket_path=it.path("redis"))


def redis_cli(server, script="", *command):
    done = subprocess.run(["redis-cli", "-s", server.socket, *command], input=script,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          timeout=TIMEOUT, encoding="utf-8",
                          errors="replace")
    return done.stdout


def ask_redis(server):
    answers = redis_cli(server, "FLUSHALL\n" + scripts.REDIS)
    # redis-benchmark is one client here, which has had each answer at its end.
    bench = subprocess.run(["redis-benchmark", "-s", server.socket, "-c", "1", "-n", "300", "-q",
                            "-t", "set,get,lpush,zadd,mset"], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False, timeout=TIMEOUT)
    return answers + f"benchmark {bench.returncode}\n"


def commands_processed(server):
    """By a command in the arguments: for a script redis-cli asks more than what is in it."""
    answer = redis_cli(server, "", "INFO", "stats")
    return int(re.search(r"total_commands_processed:(\d+)", answer)[1])


def count_redis(server):
    """An INFO is counted after its answer: the first one is in the difference, not the second."""
    before = commands_processed(server)
    transcript = ask_redis(server)
    return transcript, {"call": commands_processed(server) - before + 1}


def quit_redis(server):
    redis_cli(server, "SHUTDOWN NOSAVE\n")
    done = server.process.finish(TIMEOUT)
    done.stdout = re.sub(r"^\d+:[A-Z] .*?\.\d+|pid=\d+", "", done.stdout, flags=re.M)
    return done


@row(REAL, "redis-server", needs=("redis-server", "redis-cli", "redis-benchmark"))
def redis(trial):
    serve(trial, make_redis, ask_redis, quit_redis, count_redis,
          patterns=("processCommand", "call", "readQueryFromClient", "luaD_call", "lua_pcall"))
