# SPDX-License-Identifier: GPL-2.0-or-later
"""The build's check of what BPF programs write finds each way to write a variable."""

import os
import subprocess
import tempfile
import unittest

import harness

CHECK = os.path.join(harness.ROOT, "scripts", "bpf-writes")
HEAD = """
typedef unsigned long u64;
#define WRITTEN __attribute__((section(".data.written")))
#define PROGRAM __attribute__((section("uprobe"), used))
u64 counter = 0, table[8] = {}, number = 1;
u64 apart WRITTEN = 0;
u64 gate = 0;
"""


class BpfWrites(unittest.TestCase):
    def check(self, code):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sample.bpf.o")
            source = HEAD + "PROGRAM int program(u64 *ctx) {" + code + "return 0; }"
            subprocess.run(["clang", "-target", "bpf", "-mcpu=v3", "-O2", "-x", "c", "-c", "-o",
                            path, "-"], input=source.encode(), check=True)
            done = subprocess.run([CHECK, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  check=False)
            return done.returncode, done.stdout.decode()

    def test_each_way_to_write(self):
        for code, name in (("counter = 3;", "counter"),
                           ("__sync_fetch_and_add(&counter, 1);", "counter"),
                           ("ctx[0] = __sync_fetch_and_add(&number, 1);", "number"),
                           ("__sync_val_compare_and_swap(&number, 0, ctx[1]);", "number"),
                           ("table[ctx[2] & 7]++;", "table")):
            status, said = self.check(code)
            self.assertEqual(status, 1, code)
            self.assertIn(f"program() writes {name},", said)

    def test_what_may_be_written(self):
        for code in ("apart = 3;", "__sync_fetch_and_add(&apart, 1);", "gate = 0;",
                     "ctx[0] = counter + number;", "ctx[1] = (u64)&counter;"):
            status, said = self.check(code)
            self.assertEqual((status, said), (0, ""), code)


if __name__ == "__main__":
    harness.main()
