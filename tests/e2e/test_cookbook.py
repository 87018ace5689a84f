# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of docs/cookbook.md, as they stand there, on the programs that they are about: each
ends well, and shows the functions that the text below it speaks of.

Here a run ends when the load is done, not after the seconds that a reader would give it; and in
place of the name of a server stands its number, as others may run."""

import http.client
import os
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
# Servers that are too large to be installed for a test: here the command line alone is looked at.
BY_HAND = ("A postgres backend", "A mariadb query")
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

    def test_what_is_tried_by_hand(self):
        """At least the options are understood, and the functions looked for."""
        for title in BY_HAND:
            command, = recipes()[title].commands
            options, cnt = re.subn(r" -p (\$\(.*?\)|\S+)", "", command.removeprefix("sudo proftrace"))
            self.assertEqual(cnt, 1, command)
            done = self.process("/bin/sh", "-c", f"exec {PROFTRACE} {options} -- /bin/true",
                                stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 1, str(done))
            for line in done.stderr.splitlines():
                self.assertTrue(line.startswith("proftrace: no function matches"), str(done))


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
        """Of a recipe whose commands end by themselves; what the last one says is checked."""
        recipe = recipes()[title]
        for command in recipe.commands:
            done = self.shell(command).finish()
            self.assertEqual(done.status, 0, str(done))
        self.check(recipe, done)

    def run_while(self, title, load):
        """Of a recipe with a server: traces it for as long as `load` takes."""
        recipe = recipes()[title]
        command, cnt = re.subn(r" -d 10\b", " -d 600", recipe.commands[0])
        self.assertEqual((len(recipe.commands), cnt), (1, 1))
        pids = ",".join(map(str, harness.session_members(self.server.pid)))
        command, cnt = re.subn(r" -p [a-z-]+", f" -p {pids}", command)
        self.assertEqual(cnt, 1, command)
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
        self.assertTrue(harness.poll(lambda: os.path.exists(sock), harness.TIMEOUT))

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
            # One behind the other: when the second has been freed, the task of the first has ended.
            for i in range(5):
                self.assertEqual(self.ask(f"UNLINK set{i}"), [b":1\r\n"])
                self.assertTrue(harness.poll(nothing_pends, harness.TIMEOUT))

        self.run_while("A slow request of a thread pool", load)

    def test_callers(self):
        self.redis()
        self.run_while("Who calls one function?", self.ordinary_commands)

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
