# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of source as people see them: what -f lines and the page say is what the JSON says."""

import json
import os
import re
import subprocess

import harness
import test_page
import test_sqlite
from harness import program

METHODS = program("methods")
LINE = re.compile(r"^ *(~?)([\d,]+)  +<?[\d.]+ [num]?s  +\S+  +(\d+)(?:  (.*))?$")


class Lines(harness.TestCase):
    def verb(self, *args):
        return self.process(harness.PROFTRACE, *args, stdin=subprocess.DEVNULL).finish()

    def record(self, *options):
        recording = self.path("rec")
        done = self.verb("record", *harness.UNLIMITED, *options, "-o", recording, "--",
                                  METHODS, "20")
        self.assertEqual(done.status, 0, str(done))
        return recording

    def report(self, recording, *options):
        done = self.verb("report", *options, recording)
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    @staticmethod
    def parse(text):
        """{line: [hits, source, whether the hits are approximate]}, summed"""
        seen = {}
        for row in filter(None, map(LINE.match, text.splitlines())):
            sums = seen.setdefault(int(row[3]), [0, row[4] or "", False])
            sums[0] += int(row[2].replace(",", ""))
            sums[2] |= bool(row[1])
        return seen

    def test_report(self):
        recording = self.record("--lines", "session", "--lines", "Queue::submit")
        document = json.loads(self.report(recording, "-f", "json"))
        path, = {line["file"] for line in document["lines"]}
        with open(path, encoding="utf-8") as file:
            source = [line.rstrip("\n").expandtabs(8) for line in file]
        expected = {line["line"]: [line["hits"], source[line["line"] - 1],
                                   line.get("approximate", False)] for line in document["lines"]}
        self.assertIn([20, True], [[hits, optimized] for hits, _, optimized in expected.values()])
        self.assertEqual(self.parse(self.report(recording, "-f", "lines", "-v")), expected)
        self.check_database(recording, document)

    def check_database(self, recording, document):
        """By the query of the documentation."""
        path = self.path("x.sqlite")
        self.report(recording, "-o", path)
        sql, = [sql for sql in test_sqlite.examples() if "FROM lines" in sql]
        rows = test_sqlite.open_database(self, path).execute(sql.replace("LIMIT 20", ""))
        self.assertEqual(sorted(map(tuple, rows)), sorted(
            (line["file"], line["line"], line["hits"], line["ns"] / 1e6, line["error_ns"] / 1e6)
            for line in document["lines"]))

    def test_live(self):
        done = self.run_proftrace(*harness.UNLIMITED, "--lines", "main", "-f", "lines", "--",
                                  METHODS, "20")
        self.assertEqual(done.status, 0, str(done))
        seen = self.parse(done.stdout)
        hits, = (hits for hits, source, _ in seen.values() if "session(&queue" in source)
        self.assertEqual(hits, 20)

    def test_page(self):
        recording, page = self.record("--lines", "session"), self.path("x.html")
        document = json.loads(self.report(recording, "-f", "json"))
        self.report(recording, "-o", page)
        lines = test_page.Reader.data_of(page)["lines"]
        sums = {}
        for block in lines["blocks"]:
            for number, *figures in zip(*(block[key] for key in ("line", "hits", "ns", "error"))):
                sums[number] = [a + b for a, b in zip(figures, sums.get(number, [0] * 3))]
        self.assertEqual(sums, {line["line"]: [line["hits"], line["ns"], line["error_ns"]]
                                for line in document["lines"]})
        self.assertIn("queue->submit", json.dumps(lines["files"]))

    def test_nobody_asked_for_lines(self):
        self.assert_one_line(self.run_proftrace("-f", "lines", "--", METHODS), 2, "--lines")
        self.assert_one_line(self.verb("report", "-f", "lines", self.record()), 1,
                             "--lines")

    def test_source_that_others_may_not_read(self):
        """Only the numbers are shown, unless it is root itself that names it to root."""
        source, binary = self.path("secret.c"), self.path("secret")
        with open(source, "w", encoding="utf-8") as file:
            file.write("int main(void)\n{\n\treturn 0; // password\n}\n")
        self.assertEqual(os.system(f"gcc -g -o {binary} {source}"), 0)
        os.chmod(source, 0o600)
        recording = self.path("recording")
        done = self.process(harness.PROFTRACE, "record", "-q", "-o", recording, "--lines", "main",
                            "--", binary).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("password", self.report(recording, "-f", "lines"))
        os.chown(recording, 1234, 1234)
        self.assertNotIn("password", self.report(recording, "-f", "lines"))
        os.chown(binary, 1234, 1234)
        done = self.run_proftrace(*harness.UNLIMITED, "--lines", "main", "-f", "lines", "--", binary)
        self.assertEqual(done.status, 0, str(done))
        self.assertNotIn("password", done.stdout)
        self.assertIn("(no source: not readable for everyone)", done.stdout)
        self.assertTrue(self.parse(done.stdout))

    def secret(self, mode, where):
        """A source file with a secret, and a program whose debug information says that it lies at
        `where`; the program waits for a line on stdin before main() has another one run."""
        os.makedirs(self.path("folder"), exist_ok=True)
        os.chmod(self.directory, 0o755)
        source = self.path("folder/secret.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("// password\n" * 4)
        os.chmod(source, mode)
        code = (f'#line 1 "{where or source}"\n'
                "__attribute__((noipa)) int work(int c)\n{\n\treturn c + 1;\n}\n"
                "#include <unistd.h>\n"
                "int main(void)\n{\n\tchar c; write(1, \"ready\\n\", 6);"
                "\n\tread(0, &c, 1);\n\treturn work(c) == 0;\n}\n")
        with open(self.path("code.c"), "w", encoding="utf-8") as file:
            file.write(code)
        subprocess.run(["gcc", "-g", "-static", "-o", self.path("waits"), self.path("code.c")],
                       check=True)

    def lines_of(self, target):
        """Returns the lines shown of a process that waits."""
        target.wait_ready()
        tracer = self.proftrace(*harness.UNLIMITED, "--lines", "work", "-f", "lines", "-p",
                                target.pid).wait_tracing()
        target.go()
        self.assertEqual(target.finish().status, 0)
        done = tracer.finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertTrue(self.parse(done.stdout), str(done))
        return done.stdout

    def test_debug_file_of_somebody_else(self):
        """root's program, as its hash says, with a debug file that another user has made."""
        self.secret(0o600, None)
        subprocess.run("objcopy --only-keep-debug waits waits.debug && strip waits && "
                       "objcopy --add-gnu-debuglink=waits.debug waits", shell=True, check=True,
                       cwd=self.directory)
        self.assertIn("password", self.lines_of(self.target(self.path("waits"))))
        for uid, mode, root in (1234, 0o644, None), (0, 0o666, None), (0, 0o644, self.directory):
            os.chown(self.path("waits.debug"), uid, uid)
            os.chmod(self.path("waits.debug"), mode)
            command = ("chroot", root, "/waits") if root else (self.path("waits"),)
            self.assertNotIn("password", self.lines_of(self.process(*command)), (uid, mode, root))

    def test_source_in_a_folder_of_others_mounted_elsewhere(self):
        """The file is everyone's, the folder is not; a mount of the target's leads around it."""
        os.mkdir(self.path("open"))
        script = 'mount --bind "$0/folder" "$0/open" && exec "$0/waits"'
        os.mkdir(self.path("folder"))
        holder = self.process("unshare", "-m", "sh", "-c",
                              'mount --bind "$0/folder" "$0/open" && echo ready && read _',
                              self.directory)
        self.assertTrue(holder.stdout.wait_lines("ready"))
        self.secret(0o644, f"/proc/{holder.pid}/root{self.directory}/open/secret.c")
        os.chmod(self.path("folder"), 0o700)
        os.chown(self.path("waits"), 1234, 1234)
        with open(f"/proc/{holder.pid}/root{self.directory}/open/secret.c",
                  encoding="utf-8") as file:
            self.assertIn("password", file.read())
        shown = self.lines_of(self.process("unshare", "-m", "sh", "-c", script, self.directory))
        self.assertNotIn("password", shown)
        holder.go()
        self.assertEqual(holder.finish().status, 0)


if __name__ == "__main__":
    harness.main()
