# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings of programs, most of them of the distribution, and their reports, which are made by one who is not
root, of a copy of the file. They take the place of the sample's profile (sample.py)."""

import functools
import json
import os
import shutil
import subprocess
import tempfile

import harness
import sample
from harness import NOBODY, PROFTRACE, PYTHON, UNLIMITED

PYTHON_SCRIPT = r'''
import json
import re

words = re.findall(r"[a-z]+", "the quick brown fox jumps over the lazy dog " * 5)

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

print(json.loads(json.dumps(sorted(words))) == sorted(words), fib(8))
'''

SQL_SCRIPT = '''
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, length INTEGER);
INSERT INTO words VALUES (1, 'one', 3), (2, 'two', 3), (3, 'three', 5);
SELECT length, count(*), max(word) FROM words GROUP BY length ORDER BY 2 DESC, 1;
'''

# {name: (what is traced, command, text of the file that it reads, its exit status)}
PROGRAMS = {
    # Recursion: the interpreter's, and the program's own.
    "python3": (("PyObject_*", "_PyEval*", "PyDict_*", "PyList_*"),
                (PYTHON, "-s", "-S", "-B", "{file}"), PYTHON_SCRIPT, 0),
    # Many paths.
    "sqlite3": (("libsqlite3.so*:sqlite3*",),
                ("/usr/bin/sqlite3", "-batch", "-init", "{file}", ":memory:", ".quit"), SQL_SCRIPT, 0),
    # Threads, which share a name and most of their paths.
    "xz": (("liblzma.so*:*",), ("/usr/bin/xz", "-0", "-T2", "--block-size=4096", "-k", "{file}"),
           "".join(f"line {i * i}\n" for i in range(5000)), 0),
    # Calls on stacks that are no thread's own.
    "coroutine": ((), (harness.program("coroutine"),), "", 0),
    # Functions whose source is known.
    "methods": ((), (harness.program("methods"), "100"), "", 0),
    # CPU time in functions without probes, and in the kernel.
    "sampled": (("outer", "reader"), (harness.program("sampled"), "300"), "", 0),
    # C++: names with types, and an exception that goes through traced functions to the program.
    "qpdf": (("libqpdf.so*:*",), ("/usr/bin/qpdf", "--check", "{file}"), "no PDF\n", 2),
}


# Programs whose functions take less than the error of the probes' cost, so that nothing may be left
# of a function's time once the cost is taken out.
SHORT = {"methods"}


class Recording:
    def __init__(self, name, path):
        self.name, self.path = name, path

    def report(self, out, *options):
        done = subprocess.run([harness.for_anybody(PROFTRACE), "report", "-q", "-o", out, *options,
                               self.path],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=harness.TIMEOUT, check=False,
                              cwd=os.path.dirname(self.path),
                              user=NOBODY, group=NOBODY, extra_groups=[])
        if done.returncode or done.stdout or done.stderr:
            raise AssertionError(f"report of {self.name}: exit status {done.returncode}\n"
                                 f"{(done.stderr + done.stdout).decode()}")
        return out

    @functools.cached_property
    def document(self):
        """The recording as JSON."""
        out = os.path.join(os.path.dirname(self.path), "reference.json")
        with open(self.report(out, "-f", "json"), encoding="utf-8") as file:
            return json.load(file)


def record(name, directory, *options):
    """A recording in a new folder below `directory`, which others may write to."""
    functions, command, text, status = PROGRAMS[name]
    directory = os.path.join(directory, name)
    os.mkdir(directory)
    script = os.path.join(directory, "input")
    with open(script, "w", encoding="utf-8") as file:
        file.write(text)
    path = os.path.join(directory, "proftrace.data")
    filters = [word for glob in functions for word in ("-F", glob)]
    if name in SHORT:
        filters.append("--raw")
    done = subprocess.run(
        [PROFTRACE, "record", "-q", *UNLIMITED, *filters, *options, "-o", path + ".root", "--",
         *(word.format(file=script) for word in command)], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=harness.TIMEOUT, check=False)
    if done.returncode != status:
        raise AssertionError(f"record of {name}: exit status {done.returncode}\n"
                             f"{done.stderr.decode()}")
    shutil.copy(path + ".root", path)
    for file in (directory, path):
        os.chown(file, NOBODY, NOBODY)
    return Recording(name, path)


class TestCase(sample.TestCase):
    """With a recording of the program NAME: made once, as are its reports in JSON."""
    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.shared = tempfile.mkdtemp(prefix="proftrace-test-")
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        os.chmod(cls.shared, 0o755)
        cls.recording = record(cls.NAME, cls.shared, *cls.OPTIONS)

    def setUp(self):
        super().setUp()
        os.chown(self.directory, NOBODY, NOBODY)

    def write(self, format_, name, *options):
        """The recording in that format, as the sample would be written. Returns (path, JSON)."""
        path = self.recording.report(self.path(name), "-f", format_, *options)
        return path, self.recording.document
