# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and names made to hurt whoever reads them: no crash, bounded time and memory, and nothing
that a stranger has named reaches a terminal as it is."""

import contextlib
import json
import lzma
import os
import random
import re
import resource
import signal
import struct
import subprocess
import zlib

import harness
from harness import PROFTRACE, program

SYMTAB, STRTAB, PROGBITS, COMPRESSED = 2, 3, 1, 0x800
HEADERS = 64 + 56
PUSH_RET = b"\x55\x5d\xc3\x90"
GIGABYTE = 1 << 30
# Characters that no message and no result may have.
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NAMES = (b"\x1b[2Jcleared\x1b]0;owned\x07", b"line\nbreak\rback", b"\xff\xfe\xc3(", b"\x7f\xc2\x9b31m",
         "\u202e\u2066\u2028".encode(), "gr\u00fc\u00dfe".encode())


def symbol(name, vaddr, size, info=0x12):
    return struct.pack("<IBBHQQ", name, info, 0, 1, vaddr, size)


def elf(*sections, size=None, code=PUSH_RET * 16, entry_size=24):
    """An x86-64 file with one segment over all of it. Sections are (name, type, bytes[, flags[,
    claimed size]]); a string table is meant for the section before it."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in sections) + b".shstrtab\0"
    body, headers = bytearray(HEADERS) + code, [bytes(64)]
    sections += ((".shstrtab", STRTAB, names),)
    for number, (name, kind, content, *rest) in enumerate(sections, 1):
        flags, claimed = (*rest, 0, None)[:2] if rest else (0, None)
        body += bytes(-len(body) % 8)
        link = number + 1 if kind == SYMTAB else 0
        headers.append(struct.pack("<IIQQQQIIQQ", names.index(name.encode() + b"\0"), kind, flags,
                                   0, len(body), claimed or len(content), link, 0, 8,
                                   entry_size if kind == SYMTAB else 0))
        body += content
    body += bytes(-len(body) % 8)
    at = len(body)
    body += b"".join(headers)
    total = size or len(body)
    body[:64] = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1".ljust(16, b"\0"), 3, 62, 1,
                            HEADERS, 64, at, 0, 64, 56, 1, 64, len(headers), len(headers) - 1)
    body[64:HEADERS] = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
    return body


def one_function(name=b"work", strings_size=None):
    return ((".symtab", SYMTAB, bytes(24) + symbol(1, HEADERS, 3)),
            (".strtab", STRTAB, b"\0" + name + b"\0", 0, strings_size))


def many_symbols():
    table = bytes(24) + b"".join(symbol(1, HEADERS + n % 60, 3) for n in range(60)) * 170_000
    return elf((".symtab", SYMTAB, table), (".strtab", STRTAB, b"\0f\0"))


class Case(harness.TestCase):
    def write(self, content, size=None):
        path = self.path("hostile")
        with open(path, "wb") as file:
            file.write(content)
            if size:
                file.truncate(size)
        return path

    def list(self, path, seconds, megabytes, status=0):
        """Plans on the file within these limits, which the kernel enforces."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

        done = self.run_proftrace("-l", "-x", path, preexec_fn=limit)
        self.assertEqual(done.status, status, str(done))
        return done


class Bounds(Case):
    def test_sparse_file_of_a_gigabyte(self):
        sections = ((".symtab", SYMTAB, bytes(24), 0, 900 << 20), (".strtab", STRTAB, b"\0main\0"))
        self.list(self.write(elf(*sections, size=GIGABYTE), GIGABYTE), 10, 512, status=1)

    def test_sparse_string_table(self):
        path = self.write(elf(*one_function(strings_size=500 << 20), size=GIGABYTE), GIGABYTE)
        self.list(path, 10, 512, status=1)

    def test_sparse_functions_that_overlap(self):
        table = bytes(24) + b"".join(symbol(1, (8 << 20) + n * 4096, 15 << 20)
                                     for n in range(20000))
        sections = ((".symtab", SYMTAB, table), (".strtab", STRTAB, b"\0main\0"))
        self.list(self.write(elf(*sections, size=GIGABYTE), GIGABYTE), 10, 512, status=1)

    def test_overlapping_functions(self):
        code = PUSH_RET * (2 << 20)
        table = bytes(24) + b"".join(symbol(1, HEADERS + n * 4, 7 << 20) for n in range(20000))
        path = self.write(elf((".symtab", SYMTAB, table), (".strtab", STRTAB, b"\0f\0"), code=code))
        self.assertIn("overlaps too many others", self.list(path, 20, 512).stdout)

    def test_ten_million_symbols(self):
        told = self.list(self.write(many_symbols()), 30, 1024).stderr
        self.assertEqual(told.count("only the first"), 1, told)

    def test_name_that_is_too_long(self):
        """A file is not called stripped that has a symbol table."""
        for content, words in ((elf(*one_function(b"f" * 70000)), "name that can be read"),
                               (elf(*one_function(), entry_size=7), "symbols in its .symtab")):
            told = self.list(self.write(content), 10, 512, status=1).stderr
            self.assertIn(words, told)
            self.assertNotIn("stripped", told)

    def test_damage_is_told_of_once(self):
        path = self.write(elf(*one_function(), entry_size=7))
        told = self.list(path, 10, 512, status=1).stderr
        self.assertEqual(told.count("damaged .symtab ignored"), 1, told)

    def test_chains_of_cold_pieces(self):
        strings = b"\0f\0" + b"".join(b"f" + b".cold" * n + b"\0" for n in range(1, 1500))
        starts = [match.start() + 1 for match in re.finditer(b"\0f\\.cold", strings)]
        table = bytes(24) + symbol(1, HEADERS, 3) + b"".join(
            symbol(at, HEADERS + 4 * (n % 12), 3, 2) for n, at in enumerate(starts)) * 60
        path = self.write(elf((".symtab", SYMTAB, table), (".strtab", STRTAB, strings)))
        self.list(path, 10, 512)

    def test_bomb_in_mini_debug_info(self):
        packed = lzma.compress(bytes(256 << 20), preset=0)
        done = self.list(self.write(elf((".gnu_debugdata", PROGBITS, packed))), 10, 512, status=1)
        self.assertIn("damaged .gnu_debugdata ignored", done.stderr)

    def test_bombs_in_compressed_sections(self):
        packed = struct.pack("<IIQQ", 1, 0, 1 << 40, 8) + zlib.compress(bytes(64 << 20))
        sections = ((".symtab", SYMTAB, packed, COMPRESSED), (".strtab", STRTAB, packed, COMPRESSED),
                    (".debug_info", PROGBITS, packed, COMPRESSED))
        self.list(self.write(elf(*sections)), 5, 256, status=1)


class Damaged(Case):
    """A program whose tables lie, which needs none of them itself: it runs as ever, and is traced
    as far as they can be read."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        with open(program("inlined"), "rb") as file:
            cls.content = file.read()

    @staticmethod
    def sections(content):
        """{name: (where its bytes are, how many these are, flags)}"""
        table, = struct.unpack_from("<Q", content, 0x28)
        cnt, names = struct.unpack_from("<HH", content, 0x3c)
        headers = [struct.unpack_from("<IIQQQQ", content, table + 64 * n) for n in range(cnt)]
        at = headers[names][4]
        return {content[at + name:content.index(b"\0", at + name)].decode(): (where, size, flags)
                for name, _, flags, _, where, size in headers}

    def run_it(self, content):
        path = self.write(content)
        os.chmod(path, 0o755)
        done = self.run_proftrace("-f", "json", "-o", self.path("out"), "--", path, "20")
        self.assertEqual((done.status, done.stdout), (0, "COUNT traced 20\n"), str(done))
        with open(self.path("out"), encoding="utf-8") as file:
            self.assertGreater(json.load(file)["accounting"]["entered"], 0)

    def test_unwind_tables(self):
        for seed in range(3):
            content, dice = bytearray(self.content), random.Random(seed)
            for name in ".eh_frame", ".eh_frame_hdr":
                at, size, _ = self.sections(content)[name]
                for _ in range(size // 8):
                    place = at + dice.randrange(size)
                    content[place] = dice.randrange(256) & dice.choice((0, 4, 255))
            self.run_it(content)

    def test_debug_information(self):
        """References to anywhere, so that some lead back to where they are."""
        for seed in range(3):
            content, dice = bytearray(self.content), random.Random(seed)
            at, size, _ = self.sections(content)[".debug_info"]
            for _ in range(size // 64):
                place = at + 12 + dice.randrange(size - 16)
                content[place:place + 4] = struct.pack("<I", dice.randrange(size))
            self.run_it(content)

    def test_packed_sections_that_lie_about_their_size(self):
        for how in "zlib", "zstd":
            path = self.path("packed")
            subprocess.run(["objcopy", f"--compress-debug-sections={how}", program("inlined"),
                            path], check=True)
            with open(path, "rb") as file:
                packed = file.read()
            sections = {name: at for name, (at, _, flags) in self.sections(packed).items()
                        if flags & COMPRESSED}
            self.assertIn(".debug_info", sections)
            for size in 0, 1 << 20, 1 << 31, (1 << 64) - 1:
                content = bytearray(packed)
                for at in sections.values():
                    content[at + 8:at + 16] = struct.pack("<Q", size)
                self.run_it(content)

    def test_split_debug_information_is_not_opened(self):
        """Who opens a named pipe waits until somebody writes to it."""
        source = self.path("split.c")
        with open(source, "w", encoding="ascii") as file:
            file.write("__attribute__((noinline)) int work(int a) { return a * a + 1; }\n"
                       "int main(int c, char **v) { return work(c) - 2; }\n")
        for version in "4", "5":
            path = self.path("split" + version)
            subprocess.run(["gcc", "-O1", f"-gdwarf-{version}", "-gsplit-dwarf", "-c", "-o",
                            path + ".o", source], check=True)
            subprocess.run(["gcc", "-o", path, path + ".o"], check=True)
            for suffix in "dwo", "dwp":
                with contextlib.suppress(FileNotFoundError):
                    os.remove(f"{path}.{suffix}")
                os.mkfifo(f"{path}.{suffix}")
            for args in (("-l", "--lines", "work", "-x", path), ("-F", "work", "--", path),
                         ("--lines", "work", "--", path)):
                self.assertEqual(self.run_proftrace(*args).status, 0)


class Parser(Case):
    """Somebody who could run code in the process that parses would have got nothing: that process
    has no capabilities, may not make most system calls, and can write to its output only. The test
    looks at the process while it works on ten million symbols, once it has used 0.3 s of CPU
    time."""

    def test_has_no_privileges(self):
        path = self.write(many_symbols())
        for number, options in enumerate((("-l", "-x"), ("-f", "json", "-x"))):
            with self.subTest(options=options):
                output = self.path(f"out{number}")
                run = self.process(PROFTRACE, "-o", output, *options, path)
                self.assertTrue(harness.poll(lambda: self.cpu_seconds(run.pid) >= 0.3,
                                             harness.TIMEOUT))
                rows = self.status(run.pid)
                self.assertEqual({rows[f"Cap{name}"] for name in ("Inh", "Prm", "Eff", "Bnd", "Amb")},
                                 {f"{0:016x}"})
                self.assertEqual((rows["Seccomp"], rows["NoNewPrivs"]), ("2", "1"))
                self.assertEqual(os.path.getsize(output), 0)
                self.assertIsNone(run.popen.poll())
                run.popen.kill()
                run.finish()

    def test_ended_by_a_signal_leaves_no_empty_file(self):
        """Neither is one touched that was there before."""
        path = self.write(many_symbols())
        for number, (verb, signo) in enumerate(((("-f", "json"), signal.SIGTERM),
                                                (("record",), signal.SIGINT),
                                                (("-l",), signal.SIGTERM),
                                                (("-l", "-f", "json"), signal.SIGHUP))):
            new, old = self.path(f"new{number}"), self.path(f"old{number}")
            with open(old, "w", encoding="ascii"):
                pass
            for output in new, old:
                # nohup, which may have begun the tests, has SIGHUP ignored.
                run = self.process(PROFTRACE, *verb, "-o", output, "-x", path,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
                self.assertTrue(harness.poll(lambda: self.cpu_seconds(run.pid) >= 0.3,
                                             harness.TIMEOUT))
                run.signal(signo)
                self.assertEqual(run.finish().status, -signo)
            self.assertEqual((os.path.exists(new), os.path.exists(old)), (False, True))

    @staticmethod
    def cpu_seconds(pid):
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rpartition(")")[2].split()[11]) / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def status(pid):
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


class Waits(harness.TestCase):
    def test_page_that_never_comes(self):
        """Where the dynamic linker keeps its state: whoever reads it waits for ever, and so would
        everybody who waits for BPF programs to end."""
        for options in ((), ("-F", "missing:*", "-F", "lib*:nothing")):
            target = self.target("missing")
            tracer = self.proftrace("-f", "json", *options, "-p", target.pid).wait_tracing()
            target.go()
            ended = target.finish()
            if "unable" in ended.stdout:
                self.skipTest("no userfaultfd here")
            self.assertIn("told", ended.stdout)
            self.assert_counts(self.document(tracer.finish()), ended.counts)


class Names(Case):
    """Escape sequences, line breaks and invalid UTF-8, wherever a stranger chooses a name."""

    def check(self, *args):
        args = (os.fsdecode(arg) if isinstance(arg, bytes) else arg for arg in args)
        tracer = self.proftrace(*args, stdin=subprocess.DEVNULL)
        done = tracer.finish()
        for stream in (tracer.stdout, tracer.stderr):
            self.assertIsNone(UNSAFE.search(stream.data.decode()), stream.data)
        return done

    def hostile_program(self, symbol_name, file_name=b"calc", source=None):
        """A working program with that symbol and that file name."""
        path = os.path.join(os.fsencode(self.directory), file_name)
        with open(source or program("calc-nopie"), "rb") as file:
            content = file.read()
        at = content.rindex(b"\0square\0") + 1  # in .strtab; the program prints another copy
        with open(path, "wb") as file:
            file.write(content[:at] + symbol_name[:6].ljust(6, b"x") + content[at + 6:])
        os.chmod(path, 0o755)
        return path

    def test_symbols_in_lists(self):
        for name in NAMES + (b"_ZN" + b"1a" * 5000 + b"Ev", b"x" * 60000):
            path = self.write(elf(*one_function(name)))
            for options in ((), ("-f", "json"), ("-v",)):
                self.assertEqual(self.check("-l", *options, "-x", path).status, 0)
            # names appear in messages, too
            self.assertEqual(self.check("-l", "-F", "nothing", "-x", path).status, 1)

    def test_in_results(self):
        for name in (NAMES[0], NAMES[2], NAMES[4]):
            path = self.hostile_program(name, b"c" + name)
            for output in ("tree", "flat", "folded", "json"):
                done = self.check("-v", "--thread-frames", "-f", output, "-o", "/dev/stderr", "--",
                                  path)
                self.assertEqual(done.status, 0, str(done))

    def test_on_a_terminal(self):
        """Characters that do no harm elsewhere may do so on a terminal."""
        path = self.hostile_program(NAMES[0], b"c" + NAMES[0])
        done = subprocess.run(["script", "-qec", f"{PROFTRACE} --color=never -- \"$HOSTILE\"", "/dev/null"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=harness.TIMEOUT,
                              env=os.environ | {"HOSTILE": os.fsdecode(path), "TERM": "dumb"}, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(b"cleared", done.stdout)
        self.assertNotIn(b"\x1b[2J", done.stdout)
        self.assertNotIn(b"\x07", done.stdout)

    def test_paths_and_patterns_in_messages(self):
        for name in NAMES:
            path = os.path.join(os.fsencode(self.directory), name.replace(b"/", b""))
            self.assertEqual(self.check("-x", path).status, 1)
            with open(path, "wb") as file:
                file.write(b"no ELF file")
            self.assertEqual(self.check("-x", path).status, 1)
            self.assertEqual(self.check("-F", name, "--", program("calc-pie")).status, 1)
            self.check("--", path)
            self.check("-f", name, "-p", "1")
            self.check(b"--" + name)

    def test_names_of_threads(self):
        path = self.hostile_program(b"square", b"\x1b[2J\x07\n")
        for output in ("tree", "folded", "json"):
            self.assertEqual(self.check("-f", output, "--thread-frames", "-o", "/dev/stderr",
                                        "--", path).status, 0)


@harness.long
class Fuzzing(harness.TestCase):
    """A short run of the fuzzers, the same each time, behind all that once crashed. A slow machine
    runs fewer of the new inputs. Long: make fuzz."""

    def test_fuzzers(self):
        done = self.process(os.path.join(harness.ROOT, "tests", "fuzz", "run"), "--build",
                            os.path.join(harness.ROOT, "build-fuzz"), "--runs", 1000,
                            "--seconds", 60, "--seed", 1).finish()
        self.assertEqual(done.status, 0, str(done))


if __name__ == "__main__":
    harness.main()
