# SPDX-License-Identifier: GPL-2.0-or-later
"""`make report-only`: a program for machines that only read recordings. It is built here with
headers of BPF and ELF that are errors, and without the tools that BPF needs."""

import os
import re
import subprocess

import harness
from harness import PROFTRACE, ROOT, UNLIMITED, program

HEADERS = ("bpf/bpf.h", "bpf/libbpf.h", "bpf/btf.h", "elf.h", "libelf.h", "gelf.h", "dwarf.h",
           "elfutils/libdw.h", "elfutils/libdwfl.h", "Zydis/Zydis.h", "lzma.h", "wire.h",
           "proftrace.skel.h")
LIBRARIES = {"libsqlite3.so.0", "libz.so.1", "libzstd.so.1", "libm.so.6", "libc.so.6"}


class ReportOnly(harness.TestCase):
    def run_one(self, *args, **popen):
        return self.process(*args, stdin=subprocess.DEVNULL, **popen).finish()

    def build(self):
        """Returns the path of the program."""
        for header in HEADERS:
            path = self.path(os.path.join("errors", header))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="ascii") as file:
                file.write("#error only tracing needs this\n")
        # A make around this one would pass on its options.
        done = self.run_one("env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "-j2", "-C", ROOT,
                            "report-only", f"REPORT_BUILD={self.path('build')}", "CFLAGS=-O0",
                            "CLANG=/bin/false", "BPFTOOL=/bin/false",
                            env={"CPATH": self.path("errors")})
        self.assertEqual(done.status, 0, str(done))
        return self.path("build/proftrace")

    def record(self, name, *args):
        done = self.run_one(PROFTRACE, "record", *UNLIMITED, "-o", self.path(name), "--", *args)
        self.assertEqual(done.status, 0, str(done))
        return self.path(name)

    def test_reads_recordings_and_needs_no_more(self):
        built = self.build()
        dynamic = self.run_one("readelf", "-d", built).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", dynamic))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, LIBRARIES)

        old = self.record("old", program("recursion"), 10, 2)
        new = self.record("new", program("recursion"), 12, 2)
        for words in (("report", "-f", "json", old), ("report", "-f", "tree", old),
                      ("report", "-f", "html", old), ("diff", "-f", "flat", old, new),
                      ("diff", "-f", "json", old, new)):
            expected, done = self.run_one(PROFTRACE, *words), self.run_one(built, *words)
            self.assertEqual((expected.status, done.status), (0, 0), f"{expected}\n{done}")
            self.assertTrue(expected.stdout)
            self.assertEqual(done.stdout, expected.stdout, words)
            self.assertEqual(done.stderr, expected.stderr, words)

        version = self.run_one(PROFTRACE, "--version").stdout
        self.assertEqual(self.run_one(built, "--version").stdout, version)
        self.assertIn("report", self.run_one(built, "--help").stdout)
        for words in (("--", program("recursion")), ("record", "--", program("recursion")),
                      ("-l", "-x", program("recursion")), ("doctor",)):
            done = self.run_one(built, *words)
            self.assertEqual((done.status, done.stdout), (1, ""), str(done))
            self.assertRegex(done.stderr, r"\Aproftrace: this proftrace only reads recordings.*\n\Z")
