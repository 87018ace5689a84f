# SPDX-License-Identifier: GPL-2.0-or-later
"""include/proftrace.h: compiled by both compilers in many ways, read by others' tools, and traced
with the counts that the programs make of their own scopes."""

import os
import re
import sqlite3
import subprocess

import harness
from harness import ROOT

INCLUDE = "-I" + os.path.join(ROOT, "include")
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror")
NAMED = os.path.join(ROOT, "tests", "programs", "named.c")
NAMED_CPP = os.path.join(ROOT, "tests", "programs", "named.cpp")
GCC, CLANG = ("gcc", "-std=c99"), ("clang", "-std=c99")
GPP, CLANGPP = ("g++", "-std=c++11"), ("clang++", "-std=c++11")
C, CPP = (GCC, CLANG), (GPP, CLANGPP)
NEWER = ("gcc", "-std=gnu17"), ("clang", "-std=c17"), ("g++", "-std=c++20"), ("clang++", "-std=c++20")
LEVELS = "-O0", "-O2", "-Os"
REGIONS = ("-F", "region:*")
VALUES = """
    SELECT f.name, c.id, v.value FROM calls c JOIN paths p ON p.id = c.path
    JOIN functions f ON f.id = p.function JOIN call_values v ON v.call = c.id
    ORDER BY c.id, v.rowid"""
PRELUDE = '#include "proftrace.h"\n'


class HeaderTest(harness.TestCase):
    def compile(self, compiler, *words, status=0):
        done = subprocess.run([*compiler, INCLUDE, *words], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode != 0, status != 0, f"{compiler} {words}: {done.stdout}")
        return done.stdout

    def source(self, text, name="source.c"):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def build(self, compiler, *options, language=(), linking=()):
        """named.c, in two files that share an inline function."""
        path, first, second = (self.path(name) for name in ("named", "first.o", "second.o"))
        for out, more in (first, ()), (second, ("-DPARTS",)):
            self.compile(compiler, *STRICT, *options, *more, "-c", "-o", out, *language, NAMED)
        self.compile(compiler, *options, *linking, "-o", path, first, second)
        return path

    def counts(self, path, *options):
        """Returns the recorded counts of regions and marks, and the program's own."""
        document, done = self.profile_command(path, options=(*REGIONS, *options))
        for function in document["functions"]:
            self.assertEqual(function["kind"], "region")
        accounting = document["accounting"]
        self.assertEqual(accounting["returned"], accounting["entered"], (path, accounting))
        return {f["name"]: f["calls"] for f in document["functions"]}, done.counts

    def check_counts(self, path, *options, times=16):
        seen, printed = self.counts(path, *options)
        self.assertEqual(len(printed), times)
        self.assertEqual(seen, printed, path)

    def notes(self, path):
        """{name: number of notes} by readelf."""
        done = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE, check=True,
                              stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        self.assertEqual(done.stderr, "")
        found = re.findall(r"Provider: proftrace\n +Name: (.*)\n +Location: 0x0*([0-9a-f]*)",
                           done.stdout)
        for name, location in found:
            self.assertGreater(int(location or "0", 16), 64, name)
        names = [name for name, _ in found]
        return {name: names.count(name) for name in names}

    # Counts of regions.

    def test_c(self):
        for compiler in C:
            for level in LEVELS:
                self.check_counts(self.build(compiler, level))

    def test_c_source_as_cpp(self):
        for compiler in CPP:
            self.check_counts(self.build(compiler, "-O2", language=("-x", "c++")))

    def test_newer_languages(self):
        for compiler in NEWER:
            source = NAMED_CPP if "++" in compiler[0] else NAMED
            self.compile(compiler, *STRICT, "-O2", "-c", "-o", self.path("newer.o"), source)

    def test_cpp(self):
        for compiler in CPP:
            for level in LEVELS:
                path = self.path("named")
                self.compile(compiler, *STRICT, level, "-o", path, NAMED_CPP)
                self.check_counts(path, times=7)

    def test_uprobe_multi(self):
        for compiler in C:
            self.check_counts(self.build(compiler, "-O2"), "--tier=uprobe_multi")

    # Where they lie.

    def paths(self, path, *options):
        """{path of names: calls} of all that is traced, and the accounts."""
        document, _ = self.profile_command(path, options=options)
        names, found = {}, {}
        for thread in document["threads"]:
            for node, parent, _ in harness.walk(thread["calls"]):
                name = document["functions"][node["function"]]["name"]
                names[id(node)] = f"{names[id(parent)]}/{name}" if parent else name
                found[names[id(node)]] = node["calls"]
        return found, document["accounting"]

    def test_in_their_functions(self):
        """A region has its place in its function, also in leaves that begin with a region and keep
        variables below their stack pointer."""
        text = PRELUDE + """
            struct five { long a[5]; };
            __attribute__((noinline)) long leaf(struct five five, long x)
            {
                PROFTRACE_REGION("region");
                volatile long kept[4] = {x, five.a[0], five.a[1], five.a[2]};
                return kept[x & 3];
            }
            int main(void)
            {
                struct five five = {{1, 2, 3, 4, 5}};
                long sum = 0;
                for (int i = 0; i < 10; i++)
                    sum += leaf(five, sum);
                return sum == 1;
            }"""
        for compiler in C:
            for level in LEVELS:
                path = self.path("leaf")
                self.compile(compiler, level, "-o", path, self.source(text))
                found, accounting = self.paths(path, "--max-overhead", "none")
                self.assertEqual(found, {"main": 1, "main/leaf": 10, "main/leaf/region": 10})
                self.assertEqual(accounting["returned"], accounting["entered"])

    def test_while_the_stack_pointer_moves(self):
        """The stack pointer moves within a region where compilers leave arguments on the stack for
        a while."""
        text = PRELUDE + """
            #define MOVE(bytes) __asm__ volatile( \\
                "sub $" #bytes ", %rsp\\n.cfi_adjust_cfa_offset " #bytes)
            __attribute__((noinline)) void inner(void)
            {
                PROFTRACE_REGION("callee");
            }
            __attribute__((noinline)) void work(void)
            {
                MOVE(64);
                PROFTRACE_BEGIN("outer");
                MOVE(-48);
                PROFTRACE_BEGIN("middle");
                inner();
                PROFTRACE_MARK("mark");
                MOVE(80);
                PROFTRACE_BEGIN("inner");
                MOVE(-96);
                inner();
                PROFTRACE_END("inner");
                PROFTRACE_END("middle");
                MOVE(32);
                PROFTRACE_END("outer");
                MOVE(-32);
            }
            int main(void)
            {
                for (int i = 0; i < 10; i++)
                    work();
                return 0;
            }"""
        calls = {"outer": 10, "outer/middle": 10, "outer/middle/callee": 10,
                 "outer/middle/mark": 10, "outer/middle/inner": 10,
                 "outer/middle/inner/callee": 10}
        for compiler in C:
            path = self.path("moves")
            self.compile(compiler, "-std=gnu99", "-O2", "-fomit-frame-pointer", "-o", path,
                         self.source(text))
            found, accounting = self.paths(path, *REGIONS)
            self.assertEqual(found, calls)
            self.assertEqual(accounting["returned"], accounting["entered"])
            self.compile(compiler, "-O0", "-o", path, self.source(text))
            self.assertEqual(self.paths(path, *REGIONS)[0], calls)

    # Values.

    def check_values(self, compiler, *options):
        path = self.build(compiler, *options)
        recording = self.path("rec")
        done = self.process(harness.PROFTRACE, "record", *REGIONS, "--max-overhead", "none",
                            "-A", "region:values of six(arg1, arg2, arg3:s, arg4:s, arg5, arg6:s)",
                            "-A", "region:*of two(arg1, arg2:s)", "-o", recording, "--", path,
                            "some text", stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        database = self.path("db")
        if os.path.exists(database):
            os.remove(database)
        self.process(harness.PROFTRACE, "report", "-f", "sqlite", "-o", database, recording,
                     stdin=subprocess.DEVNULL).finish()
        seen = {}
        connection = sqlite3.connect(database)
        for name, call, value in connection.execute(VALUES):
            seen.setdefault(name, {}).setdefault(call, []).append(str(value))
        connection.close()
        for word in "six", "two":
            printed = [line.split(" ", 2)[2] for line in done.stdout.splitlines()
                       if line.startswith(f"VALUES {word} ")]
            self.assertEqual(len(printed), 7)
            self.assertEqual([" ".join(v) for v in seen["values of " + word].values()], printed)

    def test_values(self):
        for compiler in C:
            for level in "-O0", "-O2":
                self.check_values(compiler, level)

    def test_values_of_other_probes(self):
        """Constants, memory and parts of registers, as sys/sdt.h leaves them at -O0 and -O2."""
        text = """
            #include <sys/sdt.h>
            struct point { short x; unsigned char y; int z[4]; };
            __attribute__((noinline)) static void work(struct point *p, int i, char c, long *far)
            {
                DTRACE_PROBE6(other, theirs, p->z[i], 5, c, *far, p->y, &p->z[1]);
            }
            int main(void)
            {
                struct point p = {-3, 200, {1, -2, 3, 4}};
                long far = -1234567890123;
                for (int i = 0; i < 4; i++)
                    work(&p, i, 'a' - 100, &far);
                return 0;
            }\n"""
        for compiler in C:
            for level in "-O0", "-O2":
                path, recording, database = (self.path(n) for n in ("other", "rec", "db"))
                self.compile(compiler, level, "-o", path, self.source(text))
                done = self.process(harness.PROFTRACE, "record", "--usdt", "other:*", *REGIONS[:1],
                                    "region:other:*", "--max-overhead", "none", "-A",
                                    "region:other:theirs(arg1, arg2, arg3, arg4, arg5, arg6:d32, "
                                    "arg6+4:d32)", "-o", recording, "--", path,
                                    stdin=subprocess.DEVNULL).finish()
                self.assertEqual(done.status, 0, str(done))
                if os.path.exists(database):
                    os.remove(database)
                self.process(harness.PROFTRACE, "report", "-f", "sqlite", "-o", database, recording,
                             stdin=subprocess.DEVNULL).finish()
                calls = {}
                connection = sqlite3.connect(database)
                for _, call, value in connection.execute(VALUES):
                    calls.setdefault(call, []).append(value)
                connection.close()
                rest = [5, ord("a") - 100, -1234567890123, 200]
                self.assertEqual([v[:5] + v[6:] for v in calls.values()],
                                 [[z, *rest, 3] for z in (1, -2, 3, 4)], (compiler, level))

    # How it is built.

    def test_ways_to_build(self):
        for options in (("-fPIC", "-fno-omit-frame-pointer", "-g"), ("-fcf-protection=full",),
                        ("-masm=intel",), ("-mno-red-zone",)):
            for compiler in C:
                self.check_counts(self.build(compiler, "-O2", *options))
        self.check_counts(self.build(GCC, "-O2", "-fsanitize=address,undefined"))

    def test_ways_to_link(self):
        self.check_counts(self.build(GCC, "-O2", "-flto"))
        self.check_counts(self.build(CLANG, "-O2", "-flto", linking=("-fuse-ld=lld",)))
        for compiler in C:
            self.check_counts(self.build(compiler, "-O2", linking=("-static",)))

    def test_dropped_functions_leave_nothing(self):
        for compiler in C:
            for linker in (), ("-fuse-ld=lld",):
                kept = self.notes(self.build(compiler, "-O2", linking=linker))
                self.assertEqual(kept["never called__begin"], 1)
                path = self.build(compiler, "-O2", "-ffunction-sections",
                                  linking=("-Wl,--gc-sections", *linker))
                left = self.notes(path)
                self.assertEqual({n for n in left if "never" in n}, set())
                self.assertEqual(set(kept) - set(left),
                                 {"never called__begin", "never called__end"})

    def test_beside_sys_sdt(self):
        text = PRELUDE + """
            #include <sys/sdt.h>
            int main(int argc, char **argv)
            {
                PROFTRACE_REGION("ours");
                DTRACE_PROBE1(other, theirs, argc);
                return 0;
            }
"""
        for compiler in C:
            for linker in (), ("-fuse-ld=lld",), ("-static",):
                path = self.path("both")
                self.compile(compiler, *linker, "-o", path, self.source(text))
                self.assertEqual(self.notes(path), {"ours__begin": 1, "ours__end": 1})
                listed = subprocess.run(["readelf", "-n", path], stdout=subprocess.PIPE,
                                        check=True, text=True).stdout
                self.assertIn("Name: theirs", listed)

    def test_shared_library(self):
        library = PRELUDE + 'int work(int x) { PROFTRACE_REGION("in a library"); return x; }'
        main = "int work(int); int main(void) { for (int i = 0; i < 5; i++) work(i); return 0; }"
        self.compile(GCC, "-shared", "-fPIC", "-o", self.path("libwork.so"),
                     self.source(library))
        self.compile(GCC, "-o", self.path("main"), self.source(main, "main.c"),
                     self.path("libwork.so"), f"-Wl,-rpath,{self.path('')}")
        seen, _ = self.counts(self.path("main"))
        self.assertEqual(seen, {"in a library": 5})

    def test_functions_with_probes_are_inlined(self):
        text = PRELUDE + """
            static int small(int x) { PROFTRACE_REGION("small"); return x + 1; }
            int main(int argc, char **argv)
            {
                return small(small(small(small(argc)))) == 0;
            }"""
        for compiler in GCC, GPP, CLANGPP:
            self.compile(compiler, "-O2", "-Wno-deprecated", "-o", self.path("inlined"),
                         self.source(text))
            self.assertEqual(self.notes(self.path("inlined")),
                             {"small__begin": 4, "small__end": 4}, compiler)

    def test_install(self):
        subprocess.run(["make", "-s", "-C", ROOT, "install", f"DESTDIR={self.path('')}",
                        "PREFIX=/p"], check=True, stdout=subprocess.DEVNULL)
        with open(self.path("p/include/proftrace.h"), "rb") as installed:
            with open(os.path.join(ROOT, "include", "proftrace.h"), "rb") as ours:
                self.assertEqual(installed.read(), ours.read())

    # Names and uses that are refused.

    def test_bad_names_do_not_build(self):
        """The compiler would put another name into assembly than the source has, or none. GCC
        leaves some of these characters as they are outside of braces."""
        for compiler in C + CPP:
            for name in "50%", "a{b|c}d", "{", "a|b", "}", "%%", "{%[proftrace_size]}":
                text = PRELUDE + f'int main(void) {{ PROFTRACE_MARK("{name}"); return 0; }}\n'
                path = self.path("bad")
                done = subprocess.run([*compiler, INCLUDE, "-x", "c++" if "++" in compiler[0]
                                       else "c", "-o", path, self.source(text)], text=True,
                                      stderr=subprocess.PIPE, check=False)
                if done.returncode:
                    self.assertRegex(done.stderr, "a name is one string literal|%-code|%-letter")
                else:
                    self.assertEqual((compiler in (GCC, GPP), self.notes(path)), (True, {name: 1}))

    def test_names_are_literals(self):
        for name in "name", "argc", 'argc ? "a" : "b"':
            text = PRELUDE + (f"const char name[] = \"n\"; int main(int argc, char **argv) "
                              f"{{ PROFTRACE_MARK({name}); return 0; }}")
            self.compile(GCC, "-o", self.path("bad"), self.source(text), status=1)

    def test_names_with_escapes(self):
        text = PRELUDE + r"""
            int main(void)
            {
                PROFTRACE_MARK("tab\tand \"quotes\" \\ in it");
                PROFTRACE_MARK("octal \101" " and two literals");
                return 0;
            }
"""
        for compiler in C + CPP:
            self.compile(compiler, *STRICT, "-o", self.path("escapes"),
                         self.source(text, "source.cpp" if "++" in compiler[0] else "source.c"))
            seen, _ = self.counts(self.path("escapes"))
            self.assertEqual(seen, {'tab\tand "quotes" \\ in it': 1,
                                    "octal A and two literals": 1})

    def test_more_values_do_not_build(self):
        for compiler in C + CPP:
            for values in "1, 2, 3, 4, 5, 6, 7", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12":
                text = PRELUDE + f'int main(void) {{ PROFTRACE_MARK_VALUES("m", {values}); }}'
                said = self.compile(compiler, "-x", "c++" if "++" in compiler[0] else "c", "-o",
                                    self.path("bad"), self.source(text), status=1)
                self.assertIn("AT_MOST_SIX_VALUES", said)

    def test_floats_do_not_build(self):
        for compiler in C + CPP:
            text = PRELUDE + 'int main(void) { PROFTRACE_MARK_VALUES("f", 1.5); return 0; }'
            said = self.compile(compiler, "-o", self.path("bad"),
                                self.source(text, "source.cpp" if "++" in compiler[0]
                                            else "source.c"), status=1)
            self.assertTrue("must be an integer or a pointer" in said or "deleted" in said, said)

    def test_nothing_is_left_when_disabled(self):
        for compiler in C + CPP:
            language = ("-x", "c++") if "++" in compiler[0] else ()
            path = self.path("disabled")
            self.compile(compiler, *STRICT, "-DPROFTRACE_DISABLE", "-O2", "-c", "-o", path,
                         *language, NAMED)
            sections = subprocess.run(["readelf", "-SWs", path], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout
            self.assertNotIn("stapsdt", sections)
            self.assertNotIn("proftrace_", sections)

    # Tools of others.

    def test_gdb_and_bpftrace_know_the_probes(self):
        path = self.build(GCC, "-O2")
        said = subprocess.run(["gdb", "-batch", "-nx", "-ex", "info probes stap", path],
                              check=True, text=True, stdout=subprocess.PIPE).stdout
        self.assertRegex(said, r"proftrace +loop__begin +0x")
        said = subprocess.run(["bpftrace", "-l", f"usdt:{path}:*"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        self.assertIn("proftrace:loop__begin", said)


if __name__ == "__main__":
    harness.main()
