# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian's clickhouse-server, with folders of its own and as nobody, and the tables of
docs/fleet/clickhouse.sql."""

import http.client
import os
import re
import shutil
import socket
import subprocess
import urllib.parse

import harness
from harness import NOBODY, ROOT

SCHEMA = os.path.join(ROOT, "docs/fleet/clickhouse.sql")
CONFIG = """<?xml version="1.0"?>
<yandex>
<logger><level>warning</level><log>{0}/log</log><errorlog>{0}/errors</errorlog></logger>
<http_port>{1}</http_port><listen_host>127.0.0.1</listen_host>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><user_files_path>{0}/files/</user_files_path>
<users_config>users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><timezone>UTC</timezone>
<mark_cache_size>100000000</mark_cache_size><uncompressed_cache_size>0</uncompressed_cache_size>
</yandex>
"""
USERS = """<?xml version="1.0"?>
<yandex>
<profiles><default/><readonly><readonly>1</readonly></readonly></profiles>
<users>
<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default>
<reader><password>s3cret</password><networks><ip>127.0.0.1</ip></networks><profile>readonly</profile>
<quota>default</quota></reader>
</users>
<quotas><default><interval><duration>3600</duration><queries>0</queries><errors>0</errors>
<result_rows>0</result_rows><read_rows>0</read_rows><execution_time>0</execution_time></interval>
</default></quotas>
</yandex>
"""


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """`test` is whose folder and processes it uses."""

    def __init__(self, test):
        self.test, self.port = test, free_port()
        self.folder = test.path("clickhouse")
        os.mkdir(self.folder)
        for name, text in (("config.xml", CONFIG), ("users.xml", USERS)):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as file:
                file.write(text.format(self.folder, self.port) if name == "config.xml" else text)
        shutil.chown(self.folder, NOBODY)
        self.start()
        self.ask("CREATE DATABASE fleet", database=None)
        self.make_tables()

    def make_tables(self):
        """May be called again: what is stored stays."""
        with open(SCHEMA, encoding="ascii") as file:
            for statement in re.sub(r"--.*", "", file.read()).split(";"):
                if statement.strip():
                    self.ask(statement)

    @property
    def url(self):
        return f"clickhouse://127.0.0.1:{self.port}/fleet"

    def start(self):
        config = os.path.join(self.folder, "config.xml")
        self.process = harness.Process(["/usr/sbin/clickhouse-server", f"--config-file={config}"],
                                       stdin=subprocess.DEVNULL, cwd=self.folder, user=NOBODY,
                                       group=NOBODY, extra_groups=[])
        self.test.processes.append(self.process)
        if not harness.poll(self.answers):
            raise AssertionError(f"no answer: {self.process.stderr.text()}")

    def answers(self):
        try:
            return self.ask("SELECT 1", database=None) == [["1"]]
        except (OSError, http.client.HTTPException):
            return False

    def kill(self):
        self.process.kill()

    def ask(self, query, database="fleet"):
        """Rows of texts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=harness.TIMEOUT)
        where = urllib.parse.urlencode({"database": database}) if database else ""
        connection.request("POST", f"/?{where}", query.encode())
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise AssertionError(f"{query}: {text}")
        return [line.split("\t") for line in text.splitlines()]
