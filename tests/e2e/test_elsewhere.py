# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that are not where the user looked for them: the message says where they are."""

import json
import os
import subprocess

import harness
from harness import PROFTRACE, UNLIMITED, program

# A second of CPU time in code that a JIT has made.
BUSY = "let end = process.cpuUsage().user + 1e6, n = 0; while (process.cpuUsage().user < end) " \
       "for (let i = 0; i < 1e6; i++) n = (n * 31 + i) % 65537;"


class Elsewhere(harness.TestCase):
    def listed(self, *args):
        return self.process(PROFTRACE, "-l", *args, stdin=subprocess.DEVNULL).finish()

    def test_functions_of_libraries(self):
        """Two libraries that are mapped; the program has neither function."""
        for name, where in (("malloc", "libc.so.6 has it: -F 'libc.so.6:malloc'"),
                            ("pthread_creat*", "libc.so.6 has it: -F 'libc.so.6:pthread_creat*'"),
                            ("pthread_mutex_*", "libc.so.6 has such functions: -F 'libc.so.6:pthread_mutex_*'")):
            done = self.listed("-F", name, "--", program("pace"))
            self.assert_one_line(done, 1, f"no function of the program matches '{name}'; {where}")
        done = self.listed("-F", "libpthread*:pthread_create", "--", program("pace"))
        self.assert_one_line(done, 1, "libc.so.6 has it: -F 'libc.so.6:pthread_create'")
        done = self.listed("-F", "mallok", "--", program("pace"))
        self.assert_one_line(done, 1, "the nearest: libc.so.6:malloc")
        # The option that the message advises works.
        done = self.listed("-F", "libc.so.6:malloc", "--", program("pace"))
        self.assertEqual(done.status, 0, str(done))
        done = self.listed("-A", "malloc(arg1)", "--", program("pace"))
        self.assert_one_line(done, 1, "libc.so.6 has it: -F 'libc.so.6:malloc'")

    def test_stripped(self):
        done = self.listed("-F", "fib", "--", program("calc-stripped"))
        self.assert_one_line(done, 1, "calc-stripped is stripped", "func_0x", "DEBUGINFOD_URLS")
        # A stripped program has the names of functions that it exports all the same.
        path, source = self.path("exports"), self.path("exports.c")
        hidden = "".join(f"__attribute__((noinline)) int f{i}(int n) {{ return n * {i + 7}; }}\n"
                         for i in range(9))
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"{hidden}__attribute__((visibility(\"default\"))) int shown(int n) "
                       "{ return f1(n) + f2(n) + f3(n) + f4(n) + f5(n) + f6(n); }\n"
                       "int main(int n, char **v) { return shown(n) & 1; }\n")
        subprocess.run(["gcc", "-O1", "-s", "-rdynamic", "-fvisibility=hidden", source, "-o", path],
                       check=True)
        done = self.listed("-F", "shwon", "--", path)
        self.assert_one_line(done, 1, "no function matches 'shwon', the nearest: shown: ",
                             "is stripped")
        done = self.listed("--", program("calc-stripped"))
        self.assertEqual(done.status, 0)
        self.assertIn("calc-stripped is stripped, so its functions go by their addresses", done.stderr)
        self.assertNotIn("stripped", self.listed("--", program("calc-pie")).stderr)
        done = self.listed("-F", "fib", "--", "/usr/bin/sqlite3")
        self.assert_one_line(done, 1, "sqlite3-dbgsym")

    def test_scripts(self):
        """A script of that name may be all that there is of a program, as with pyenv."""
        path = self.path("pace")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/bash\nexec {program('pace')} 0 3 2\n")
        os.chmod(path, 0o755)
        done = self.process(PROFTRACE, "-f", "json", *UNLIMITED, "--", path).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertRegex(done.stderr, rf"{path} is a script: \S*/bash, which runs it, is traced; .*--follow")
        done = self.process(PROFTRACE, "-f", "json", *UNLIMITED, "--follow", "--", path).finish()
        self.assertIn(", and what it starts", done.stderr)
        self.assertIn('"uneven"', done.stdout)
        done = self.process(PROFTRACE, "-f", "json", *UNLIMITED, "--", program("pace"), "0").finish()
        self.assertNotIn("script", done.stderr)

    def test_code_made_at_run_time(self):
        done = self.process(PROFTRACE, "-f", "flat", "-F", "main", "--", "node", "-e", BUSY).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("code made at run time (by a JIT)", done.stdout)
        self.assertIn("node --cpu-prof", done.stdout)
        # Where samples have a place in the tree, too.
        done = self.process(PROFTRACE, "-f", "flat", "-F", "main", "--sample-rate", "199", "--", "node",
                            "-e", BUSY).finish()
        self.assertIn("code made at run time (by a JIT)", done.stdout)
        self.assertNotIn("-F 'node:*'", done.stdout)

    def test_one_file_of_two_names(self):
        """A program is called by the name that it was started by, as redis-server is a link to
        redis-check-rdb."""
        self.copy(program("pace"), "the-file")
        os.symlink("the-file", self.path("a-link"))
        for options in ((), ("-F", "a-link:uneven"), ("-F", "the-file:uneven")):
            done = self.process(PROFTRACE, "-f", "csv", *options, "--", self.path("a-link"), 0, 3).finish()
            self.assertEqual(done.status, 0, str(done))
            self.assertIn(self.path("a-link"), done.stdout)
            self.assertNotIn("the-file", done.stdout)
        # Where CPU time was looked at, too.
        out = self.path("out.json")
        self.process(PROFTRACE, "-F", "uneven", "-o", out, "--", self.path("a-link"), 400, 3).finish()
        with open(out, encoding="utf-8") as file:
            modules = [os.path.basename(row["module"]) for row in json.load(file)["cpu_samples"]]
        self.assertIn("a-link", modules)
        self.assertNotIn("the-file", modules)
        done = self.process(PROFTRACE, "-f", "csv", "--", self.path("the-file"), 0, 3).finish()
        self.assertIn("the-file", done.stdout)
        # The longer of two that begin alike says more.
        os.symlink("the-file", self.path("the"))
        done = self.process(PROFTRACE, "-f", "csv", "--", self.path("the"), 0, 3).finish()
        self.assertIn("the-file", done.stdout)


if __name__ == "__main__":
    harness.main()
