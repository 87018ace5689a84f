# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the distribution, with counts by an independent tool: valgrind's callgrind."""

import json
import shutil
import subprocess

import callgrind
import harness
from harness import PROFTRACE, PYTHON, UNLIMITED

SQLITE = "/usr/bin/sqlite3"
PERL = "/usr/bin/perl"
# No site packages, no compiled modules left behind. Not -I: it would ignore PYTHONHASHSEED.
PYTHON_OPTIONS = ["-s", "-S", "-B"]

PYTHON_SCRIPT = r'''
import json
import re

words = re.findall(r"[a-z]+", "the quick brown fox jumps over the lazy dog " * 20)
counts = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
text = json.dumps(sorted(counts.items()))
print(json.loads(text) == [list(item) for item in sorted(counts.items())], len(text))
try:
    counts["missing"]
except KeyError as error:
    print(repr(error))
print(sum(sorted((i * 7919) % 1000 for i in range(500))), "%.3f" % (2 ** 0.5), hash("fixed"))
'''

SQL_SCRIPT = '''
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, length INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO words SELECT i, printf('word %d', i * 7919 % 1000), i % 13 FROM n;
CREATE INDEX by_length ON words (length);
SELECT length, count(*), max(word) FROM words GROUP BY length ORDER BY 2 DESC, 1;
SELECT a.word, b.word FROM words a JOIN words b ON a.length = b.length AND b.id = a.id + 13 LIMIT 5;
UPDATE words SET word = upper(word) WHERE length > 6;
DELETE FROM words WHERE word LIKE '%9';
SELECT count(*), sum(length) FROM words;
'''

PERL_SCRIPT = r'''
use strict;
my %count;
for my $word (split ' ', "the quick brown fox jumps over the lazy dog " x 50) {
	$count{$word}++ if $word =~ /^[a-z]+$/;
}
printf "%s %d\n", $_, $count{$_} for sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
eval { die "caught\n" };
print $@;
'''


class RealPrograms(harness.TestCase):
    def write(self, name, text):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def own(self, executable):
        """A copy of a program: the probes that tests beside this one put into the program itself
        would end callgrind, which reads them as code."""
        return shutil.copy(executable, self.path(executable.rpartition("/")[2]))

    def check_counts(self, argv, least, options=(), stdin="/dev/null", path=None):
        """Each function of `path`, at least `least`, was called as often as callgrind says."""
        with open(stdin, "rb") as file:
            output, true = callgrind.run(argv, self.path("callgrind.out"), stdin=file,
                                         cwd=self.directory)
        out = self.path("out.json")
        with open(stdin, "rb") as file:
            done = subprocess.run(
                [*callgrind.NATIVE, PROFTRACE, *UNLIMITED, "-f", "json", "-o", out, *options, "--", *argv],
                stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.directory,
                env=callgrind.environment(self.directory), timeout=harness.TIMEOUT, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, output), done.stderr.decode())
        with open(out, encoding="utf-8") as file:
            document = self.check(json.load(file))
        self.assertEqual(document["accounting"]["lost"], 0)
        callgrind.leave_named(document, path or argv[0])
        equal, different = callgrind.compare(document, true, path or argv[0])
        self.assertEqual(different[:20], [], f"{len(different)} differ, {equal} agree")
        self.assertGreaterEqual(equal, least)

    def test_callgrind_agrees_with_itself(self):
        """If two runs under callgrind differed there would be nothing to compare with."""
        argv = [self.own(PYTHON), *PYTHON_OPTIONS, self.write("script.py", PYTHON_SCRIPT)]
        (output, one), (again, two) = (callgrind.run(argv, self.path("out"), cwd=self.directory)
                                       for _ in range(2))
        self.assertEqual(output, again)
        self.assertEqual(one.keys(), two.keys())
        for path, calls in one.items():
            self.assertEqual(set(calls.items()) ^ set(two[path].items()), set(), path)

    def test_python(self):
        self.check_counts([self.own(PYTHON), *PYTHON_OPTIONS,
                           self.write("script.py", PYTHON_SCRIPT)], 400)

    def test_perl(self):
        self.check_counts([self.own(PERL), self.write("script.pl", PERL_SCRIPT)], 300)

    def test_sqlite(self):
        self.check_counts([SQLITE, "-batch", "-init", "/dev/null", ":memory:"], 50,
                          options=("-F", "libsqlite3.so.0:*"),
                          stdin=self.write("script.sql", SQL_SCRIPT),
                          path="/usr/lib/x86_64-linux-gnu/libsqlite3.so.0")

    def test_sqlite_by_file(self):
        """The same script under -x has the same sums as under a filter. The library is a copy, which
        nobody else maps."""
        library = self.copy("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0")
        env = {"LD_LIBRARY_PATH": self.directory}
        script = self.write("script.sql", SQL_SCRIPT)
        argv = [SQLITE, "-batch", "-init", "/dev/null", ":memory:"]
        tracer = self.proftrace("-f", "json", "-x", library).wait_tracing()
        with open(script, "rb") as file:
            self.process(*argv, stdin=file, env=env).finish()
        by_file = self.calls(self.document(tracer.interrupt()))
        out = self.path("out")
        with open(script, "rb") as file:
            self.run_proftrace("-f", "json", "-o", out, "-F", "libsqlite3.so.0:*", "--", *argv,
                               stdin=file, env=env)
        with open(out, encoding="utf-8") as file:
            by_filter = self.calls(self.check(json.load(file)))
        self.assertEqual(by_file, by_filter)
        self.assertGreater(len(by_file), 50)

    def test_live_python(self):
        """Attach to an interpreter that runs, and let it go on."""
        script = ("import json, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
                  "print(len(json.dumps([str(i) for i in range(1000)])))\n")
        target = self.process(PYTHON, "-I", "-c", script)
        target.wait_ready()
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.go()
        done = target.finish()
        self.assertEqual((done.status, done.stdout), (0, "ready\n6890\n"), str(done))
        document = self.document(tracer.finish())
        self.assertGreaterEqual(self.count(document, "PyObject_Str"), 1000)
        self.assertGreater(len(self.calls(document)), 50)


if __name__ == "__main__":
    harness.main()
