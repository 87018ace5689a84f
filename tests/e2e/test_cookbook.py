# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of docs/cookbook.md, as they stand there, on the programs that they are about: each
ends well, and shows the functions that the text below it speaks of.

Here a run ends when the load is done, not after the seconds that a reader would give it; and in
place of the name of a server stands its number, as others may run."""

import glob
import http.client
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess

import harness
from harness import PROFTRACE, ROOT, TRACING
from test_sessions import NGINX, NGINX_CONF, REDIS

SQLITE = "/usr/bin/sqlite3"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
CUSTOMERS = """
create table customers (id integer primary key, email text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
insert into customers select i, printf('Customer.%d@example.org', i) from n;
"""


class Recipe:
    """A section of the cookbook."""

    def __init__(self, section):
        self.title, _, text = section.partition("\n")
        self.blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
        console = "".join(block for language, block in self.blocks if language == "console")
        # A command goes on behind a backslash.
        self.commands = [command.replace("\\\n", "")
                         for command in re.findall(r"^\$ ((?:.*\\\n)*.*)\n", console, re.M)]
        self.sample = re.sub(r"^\$ (?:.*\\\n)*.*\n", "", console, flags=re.M)
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
        self.functions = list(dict.fromkeys(re.findall(r"`([A-Za-z_]\w*)`", prose)))

    def code(self, language):
        block, = (block for name, block in self.blocks if name == language)
        return block


def cookbook():
    with open(os.path.join(ROOT, "docs", "cookbook.md"), encoding="utf-8") as file:
        return file.read()


def recipes():
    """{title: Recipe}"""
    sections = re.split(r"^## ", cookbook(), flags=re.M)[1:]
    return {recipe.title: recipe for recipe in map(Recipe, sections)}


class Document(harness.TestCase):
    def test_form(self):
        """Ten tasks, each with a command, its result, and what the text says of that."""
        self.assertEqual([line for line in cookbook().splitlines() if len(line) > 100], [])
        self.assertEqual(len(recipes()), 10)
        for title, recipe in recipes().items():
            self.assertTrue(recipe.commands and recipe.functions, title)
            if " -o nginx.svg" not in recipe.commands[0]:  # a picture is no sample
                for name in recipe.functions:
                    self.assertIn(name, recipe.sample, title)


class Cookbook(harness.TestCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        os.symlink(PROFTRACE, self.path("bin/proftrace"))
        self.server = None

    def shell(self, command):
        """Root needs no sudo. exec: a signal is for the program, not for the shell."""
        env = {"PATH": f"{self.path('bin')}:{PATH}"}
        return self.process("/bin/sh", "-c", "exec " + command.removeprefix("sudo "), env=env,
                            stdin=subprocess.DEVNULL, cwd=self.directory)

    def check(self, recipe, done, output=None):
        self.assertEqual(done.status, 0, str(done))
        for name in recipe.functions:
            self.assertRegex(output or done.stdout, rf"\b{name}\b", str(done))

    def run_commands(self, title):
        """Runs a recipe whose commands end by themselves, and checks the output of the last
        command."""
        recipe = recipes()[title]
        for command in recipe.commands:
            done = self.shell(command).finish()
            self.assertEqual(done.status, 0, str(done))
        self.check(recipe, done)

    def run_while(self, title, load):
        """Runs a recipe with a server: traces the server for as long as `load` takes."""
        recipe = recipes()[title]
        command, cnt = re.subn(r" -d 10\b", " -d 600", recipe.commands[0])
        self.assertEqual((len(recipe.commands), cnt), (1, 1))
        pids = ",".join(map(str, harness.session_members(self.server.pid)))
        command, cnt = re.subn(r" -p [a-z-]+", f" -p {pids}", command)
        self.assertEqual(cnt + command.count(" -p $(pgrep "), 1, command)
        tracing = self.shell(command)
        if not tracing.stderr.wait_lines(TRACING):
            self.fail(f"does not trace: {tracing.finish()}")
        load()
        tracing.signal(signal.SIGINT)
        done = tracing.finish()
        output = done.stdout
        if file := re.search(r" -o (\S+)", command):
            with open(self.path(file[1]), encoding="utf-8") as result:
                output = result.read()
        self.check(recipe, done, output)
        return output

    def serve(self, *argv, sock):
        """Starts a server and waits until its socket is there."""
        self.server = self.process(*argv)
        self.assertTrue(harness.poll(lambda: harness.listens(sock), harness.TIMEOUT))

    # nginx

    def nginx(self):
        directory = self.path("nginx")
        os.mkdir(directory)
        with open(self.path("nginx/large.txt"), "w", encoding="utf-8") as file:
            file.writelines(f"{i * 7919 % 10007} the quick brown fox\n" for i in range(20000))
        with open(self.path("nginx/conf"), "w", encoding="utf-8") as file:
            file.write(NGINX_CONF.format(directory))
        self.serve(NGINX, "-p", directory, "-c", self.path("nginx/conf"), "-e", "stderr",
                   sock=self.path("nginx/socket"))

    def get(self):
        client = http.client.HTTPConnection("localhost", timeout=harness.TIMEOUT)
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(self.path("nginx/socket"))
        for i in range(60):
            client.request("GET", "/large.txt" if i % 20 == 0 else "/quick",
                           headers={"Accept-Encoding": "gzip"})
            answer = client.getresponse()
            self.assertEqual((answer.status, bool(answer.read())), (200, True))
        client.close()

    def test_slow_nginx(self):
        self.nginx()
        self.run_while("Why is nginx slow?", self.get)

    def test_flame_graph(self):
        self.nginx()
        output = self.run_while("A flame graph of a process", self.get)
        self.assertTrue(output.startswith(("<?xml", "<svg")), output[:100])

    # redis

    def redis(self):
        self.serve(REDIS, "--port", "0", "--unixsocket", self.path("redis"), "--save", "", "--dir",
                   self.directory, "--appendonly", "no", "--loglevel", "warning",
                   sock=self.path("redis"))

    def ask(self, *commands):
        """Sends commands, each when the one before has been answered; their answers' first lines."""
        lines = []
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(harness.TIMEOUT)
            client.connect(self.path("redis"))
            answers = client.makefile("rb")
            for command in commands:
                client.sendall(command.encode() + b"\r\n")
                line = answers.readline()
                lines.append(line)
                for _ in range(int(line[1:]) if line.startswith(b"*") else 0):
                    answers.read(int(answers.readline()[1:]) + 2)
                if line.startswith(b"$"):
                    lines[-1] = answers.read(int(line[1:]) + 2)
        return lines

    def ordinary_commands(self):
        items = " ".join(f"item{i}" for i in range(300))
        self.ask(f"RPUSH list {items}", *("SET key value", "GET key", "LRANGE list 0 -1") * 20)

    def test_redis_latency(self):
        self.redis()
        self.run_while("The latency of redis commands", self.ordinary_commands)

    def test_thread_pool(self):
        """UNLINK has large sets freed by a thread in the background."""
        self.redis()
        members = " ".join(f"member{i}" for i in range(1000))
        self.ask(*(f"SADD set{i} {members}" for i in range(5)))

        def nothing_pends():
            return b"lazyfree_pending_objects:0\r" in self.ask("INFO memory")[0]

        def load():
            # The requests come one behind the other: when the second set has been freed, the task
            # of the first has ended.
            for i in range(5):
                self.assertEqual(self.ask(f"UNLINK set{i}"), [b":1\r\n"])
                self.assertTrue(harness.poll(nothing_pends, harness.TIMEOUT))

        self.run_while("A slow request of a thread pool", load)

    def test_callers(self):
        self.redis()
        self.run_while("Who calls one function?", self.ordinary_commands)

    # Databases, each with a table of customers

    def postgres(self, name, *args):
        """Starts one of the programs of postgres, none of which root may run."""
        path = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))[-1]
        return self.process("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups",
                            path, *args, cwd=self.directory)

    def psql(self, *args):
        return self.postgres("psql", "-h", self.directory, "-d", "shop", *args)

    def test_postgres(self):
        """A backend that is connected by then, whose client updates rows by their number."""
        owner = pwd.getpwnam("postgres")
        os.chown(self.directory, owner.pw_uid, owner.pw_gid)
        data = self.path("data")
        done = self.postgres("initdb", "-D", data, "-A", "trust").finish()
        self.assertEqual(done.status, 0, str(done))
        self.server = self.postgres("postgres", "-D", data, "-k", self.directory,
                                    "-c", "listen_addresses=", "-c", "fsync=off",
                                    "-c", "autovacuum=off")
        self.assertTrue(harness.poll(
            lambda: self.postgres("createdb", "-h", self.directory, "shop").finish().status == 0,
            harness.TIMEOUT, 0.1))
        made = self.psql("-c", "create table t (id int primary key, v int)",
                         "-c", "insert into t select i, 0 from generate_series(1, 5000) i",
                         "-c", "analyze t").finish()
        self.assertEqual(made.status, 0, str(made))
        client = self.psql()
        client.send("set enable_seqscan = off;")
        self.assertTrue(client.stdout.wait_lines("SET"), client.stderr.text())

        def load():
            for i in range(50):
                client.send(f"update t set v = v + 1 where id = {i + 1};")
            self.assertEqual(len(client.stdout.wait_lines("UPDATE 1", 50)), 50)

        self.run_while("A postgres backend", load)
        client.finish()
        self.server.signal(signal.SIGINT)
        self.server.finish()

    def test_mariadb(self):
        data, sock = self.path("data"), self.path("socket")
        done = self.process("mariadb-install-db", "--no-defaults", "--user=root",
                            f"--datadir={data}", "--auth-root-authentication-method=normal"
                            ).finish()
        self.assertEqual(done.status, 0, str(done))
        self.serve("/usr/sbin/mariadbd", "--no-defaults", "--user=root", f"--datadir={data}",
                   f"--socket={sock}", "--skip-networking", "--innodb-flush-log-at-trx-commit=0",
                   sock=sock)

        def query(text, *args):
            done = self.process("mariadb", "--no-defaults", "-S", sock, "-uroot", "-e", text,
                                *args).finish()
            self.assertEqual(done.status, 0, str(done))

        query("create database shop")
        query("create table customers (id int primary key, email varchar(60)) engine=innodb;"
              "insert into customers select seq, concat('Customer.', seq, '@example.org') "
              "from seq_1_to_5000", "shop")
        output = self.run_while("A mariadb query", lambda: query("".join(
            "select id from customers where lower(email) = "
            f"'customer.{i}@example.org';" for i in range(20)), "shop"))
        self.assertRegex(output, r"mysql_parse.* > JOIN::exec_inner\(\)")
        self.assertIn('arg2="select id from customers', output)

    # Programs that end

    def shop(self):
        self.assertTrue(shutil.which("sqlite3", path=PATH), "no sqlite3")
        subprocess.run([SQLITE, "-batch", "-init", "/dev/null", self.path("shop.db")],
                       input=CUSTOMERS, text=True, check=True, timeout=harness.TIMEOUT)

    def test_sizes_of_malloc(self):
        self.shop()
        self.run_commands("Who calls malloc, with which sizes?")

    def test_before_and_after(self):
        """The tables of calls: numbers, not times, tell the runs apart."""
        self.shop()
        with open(self.path("report.sql"), "w", encoding="utf-8") as file:
            file.writelines("select id from customers where lower(email) = "
                            f"'customer.{i}@example.org';\n" for i in range(20))
        self.run_commands("Before and after a change")

    def test_python(self):
        with open(self.path("script.py"), "w", encoding="utf-8") as file:
            file.write(recipes()["A python3 script"].code("python"))
        self.run_commands("A python3 script")


if __name__ == "__main__":
    harness.main()
