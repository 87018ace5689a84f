# SPDX-License-Identifier: GPL-2.0-or-later
"""The build's check of how much stack BPF programs need refuses what the kernel would refuse, or
would give a stack that other threads overwrite."""

import os
import subprocess
import tempfile
import unittest

import harness

CHECK = os.path.join(harness.ROOT, "scripts", "bpf-stack")
HEAD = """
static long (*const helper)(void *) = (void *)4;
static long (*const loop)(unsigned, void *, void *, unsigned long) = (void *)181;
static long (*const tail_call)(void *, void *, unsigned) = (void *)12;
int never;
void use(char *bytes) { helper(bytes); }
#define KEEP(ctx) do { if (never) tail_call(ctx, &never, 0); } while (0)
#define USE(bytes) do { volatile char b[bytes]; b[0] = 1; helper((void *)b); } while (0)
#define PROGRAM(where) __attribute__((section(where), used))
"""


class BpfStack(unittest.TestCase):
    def check(self, source):
        """The check's exit status and what it says of a program in C."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sample.bpf.o")
            subprocess.run(["clang", "-target", "bpf", "-mcpu=v3", "-O2", "-x", "c", "-c", "-o",
                            path, "-"], input=(HEAD + source).encode(), check=True)
            done = subprocess.run([CHECK, "-v", path], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            return done.returncode, done.stdout.decode()

    def test_shares_are_rounded_up_and_added(self):
        status, said = self.check("""
            static __attribute__((noinline)) long inner(void *p) { USE(40); return helper(p); }
            PROGRAM("uprobe") int outer(void *ctx) { KEEP(ctx); USE(96); return inner(ctx) + 1; }
        """)
        self.assertEqual(status, 0, said)
        self.assertIn("160 bytes of 512 at most, in outer", said)

    def test_too_much_in_all_functions_together(self):
        status, said = self.check("""
            static __attribute__((noinline)) long inner(void *p) { USE(256); return helper(p); }
            PROGRAM("uprobe") int outer(void *ctx) { KEEP(ctx); USE(288); return inner(ctx) + 1; }
        """)
        self.assertEqual(status, 1, said)
        self.assertIn("outer() needs 544 bytes of stack, of 512", said)

    def test_calls_within_a_section(self):
        """Where a call leads within its section the compiler knows, so no relocation tells."""
        status, said = self.check("""
            static __attribute__((noinline)) long inner(void *p) { USE(256); return helper(p); }
            __attribute__((noinline)) long middle(void *p) { USE(32); return inner(p) + 1; }
            PROGRAM("uprobe") int outer(void *ctx) { KEEP(ctx); USE(256); return middle(ctx) + 1; }
        """)
        self.assertEqual(status, 1, said)
        self.assertIn("outer() needs 544 bytes of stack, of 512", said)

    def test_calls_of_another_section(self):
        """inner() begins as far in its section as other(), which nobody calls, in that of outer().
        """
        status, said = self.check(r"""__asm__(
            ".text\n"
            ".type before,@function\nbefore:\n r0=0\n r0=0\n r0=0\n r0=0\n exit\n"
            ".type inner,@function\ninner:\n *(u64 *)(r10 - 32) = r1\n exit\n"
            ".section uprobe,\"ax\",@progbits\n"
            ".globl outer\n.type outer,@function\n"
            "outer:\n call inner\n *(u64 *)(r10 - 64) = r1\n call 12\n r0 = 0\n exit\n"
            ".globl other\n.type other,@function\n"
            "other:\n *(u64 *)(r10 - 480) = r1\n call 12\n r0 = 0\n exit\n");
        """)
        self.assertEqual(status, 0, said)
        self.assertIn("outer: 96 bytes: outer 64 > inner 32", said)

    def test_callbacks_count(self):
        status, said = self.check("""
            static long each(unsigned i, void *p) { USE(256); return helper(p); }
            PROGRAM("uprobe") int outer(void *ctx)
            { KEEP(ctx); USE(288); loop(3, each, 0, 0); return helper(ctx); }
        """)
        self.assertEqual(status, 1, said)
        self.assertIn("each 256", said)

    def test_a_program_without_tail_call(self):
        status, said = self.check('PROGRAM("uprobe.multi") int bare(void *ctx) { return 0; }')
        self.assertEqual(status, 1, said)
        self.assertIn("bare() has no tail call", said)

    def test_programs_that_sleep_have_small_shares(self):
        small = 'PROGRAM("uprobe.s") int sleeper(void *ctx) { USE(48); return helper(ctx); }'
        large = small.replace("48", "56")
        self.assertEqual(self.check(small)[0], 0)
        status, said = self.check(large)
        self.assertEqual(status, 1, said)
        self.assertIn("sleeper() sleeps, and a function of it needs 56 bytes, of 48", said)

    def test_no_programs(self):
        self.assertEqual(self.check("")[0], 1)
