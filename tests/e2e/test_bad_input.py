# SPDX-License-Identifier: GPL-2.0-or-later
"""Requests that cannot be met: one clear line, the right exit status, nothing attached, nothing
left."""

import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import threading

import harness
from harness import NOBODY, PROFTRACE, program

USAGE = 2
ERROR = 1



def without_functions(test):
    """A program in which nothing is a function, by any sign."""
    path = test.path("no-functions")
    subprocess.run(["gcc", "-nostdlib", "-static", "-s", "-x", "assembler", "-", "-o", path],
                   input=b".globl _start\n_start: hlt\n", check=True)
    return path

class BadPids(harness.TestCase):
    def refuse(self, pid, status, *words):
        self.assert_one_line(self.run_proftrace("-p", pid), status, *words)

    def test_garbage(self):
        for text in ("", ",", "1,,2", "1;2", " "):
            self.refuse(text, USAGE)

    def test_names_that_nobody_has(self):
        for text in ("nobody-has-it", "12abc", "0x10"):
            self.refuse(text, ERROR, f"-p {text}: no process is that")

    def test_out_of_range(self):
        for pid in ("0", "-1", "2147483648", "4294967297", "99999999999999999999"):
            self.refuse(pid, (ERROR, USAGE), pid)

    def test_nobody_has_it(self):
        child = subprocess.Popen(["true"])
        child.wait()
        self.refuse(child.pid, ERROR, str(child.pid))

    def test_one_of_two(self):
        target = self.target("steps")
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.refuse(f"{target.pid},{gone.pid}", ERROR, str(gone.pid))

    def test_one_of_many(self):
        """One of a server's processes has ended since the user listed their numbers."""
        targets = [self.target("steps") for _ in range(2)]
        gone = subprocess.Popen(["true"])
        gone.wait()
        live = [target.pid for target in targets]
        tracer = self.proftrace("-f", "json", "-p", f"{live[0]},{gone.pid},{live[1]}").wait_tracing()
        done = tracer.interrupt()
        self.assertEqual(self.document(done)["target"]["pids"], live)
        self.assertIn(f"process {gone.pid} has ended: the others are traced", done.stderr)

    def test_thread(self):
        stop = threading.Event()
        thread = threading.Thread(target=stop.wait)
        thread.start()
        try:
            self.refuse(thread.native_id, ERROR, "thread", str(os.getpid()))
        finally:
            stop.set()
            thread.join()

    def test_zombie(self):
        child = subprocess.Popen(["true"])
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        self.refuse(child.pid, ERROR, "zombie")
        child.wait()

    def test_kernel_thread(self):
        self.refuse(2, ERROR, "kernel thread")

    def test_itself(self):
        done = self.process("sh", "-c", f'exec "{PROFTRACE}" -p $$').finish()
        self.assert_one_line(done, ERROR)


class BadFiles(harness.TestCase):
    def refuse(self, path, *words, name_it=True):
        """Refuses the path as the file of -x, and as a command."""
        words = (os.path.basename(path), *words) if name_it else words
        self.assert_one_line(self.run_proftrace("-x", path), ERROR, *words)

    def write(self, name, data):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(data)
        os.chmod(path, 0o755)
        return path

    def elf(self):
        with open(program("calc-pie"), "rb") as file:
            return bytearray(file.read())

    def test_missing(self):
        self.refuse("/nonexistent/file", "no such file")

    def test_empty(self):
        self.refuse(self.write("empty", b""))

    def test_text(self):
        self.refuse(self.write("text", b"#!/bin/sh\necho hello\n"), "elf")

    def test_truncated(self):
        for size in (4, 16, 63, 64, 200, 1000, 4096):
            self.refuse(self.write(f"cut-{size}", self.elf()[:size]))

    def test_32_bit(self):
        ident = b"\x7fELF" + bytes([1, 1, 1, 0]) + bytes(8)
        header = ident + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048000, 0, 0, 0, 52, 32, 0, 40,
                                     0, 0)
        self.refuse(self.write("elf32", header), "32-bit")

    def test_foreign_machine(self):
        data = self.elf()
        struct.pack_into("<H", data, 18, 243)  # RISC-V
        self.refuse(self.write("foreign", data), "machine")
        struct.pack_into("<H", data, 18, 183)  # AArch64, which can be listed
        self.refuse(self.write("foreign", data), "arm64", "listed")

    def test_big_endian(self):
        data = self.elf()
        data[5] = 2
        self.refuse(self.write("endian", data))

    def test_object_file(self):
        data = self.elf()
        struct.pack_into("<H", data, 16, 1)  # ET_REL
        self.refuse(self.write("object", data))

    def test_wild_offsets(self):
        """Tables that lie far outside the file."""
        for at in (32, 40):
            data = self.elf()
            struct.pack_into("<Q", data, at, 1 << 62)
            path = self.write("wild", data)
            done = self.run_proftrace("-x", path, "-d", "0.1")
            self.assertIn(done.status, (0, ERROR), str(done))

    def test_directory(self):
        self.refuse(self.directory, "directory")

    def test_fifo(self):
        """A FIFO is not opened for reading, which would wait for a writer."""
        path = self.path("fifo")
        os.mkfifo(path)
        self.refuse(path, "regular file")

    def test_device(self):
        self.refuse("/dev/null", "regular file")

    def test_no_path(self):
        self.refuse("", name_it=False)

    def test_no_functions(self):
        self.refuse(without_functions(self), "symbol")


class BadCommands(harness.TestCase):
    def refuse(self, *command, words=()):
        self.assert_one_line(self.run_proftrace("--", *command), ERROR, *words)

    def test_not_found(self):
        self.refuse("no-such-command-at-all", words=("no-such-command-at-all",))
        self.refuse("/nonexistent/command", words=("/nonexistent/command",))

    def test_not_executable(self):
        path = self.copy(program("calc-pie"))
        os.chmod(path, 0o644)
        self.refuse(path, words=("permission denied",))

    def test_directory(self):
        self.refuse(self.directory)

    def test_empty_name(self):
        self.refuse("")

    def test_not_a_program(self):
        """Like every shell, execvp(3) takes it for a script without an interpreter line."""
        path = self.path("garbage")
        with open(path, "wb") as file:
            file.write(b"\x00\x01\x02\x03" * 100)
        os.chmod(path, 0o755)
        untraced = self.process("/bin/sh", path, stdin=subprocess.DEVNULL).finish()
        self.assertNotEqual(untraced.status, 0)
        done = self.run_proftrace("-o", self.path("out"), "--", path)
        self.assertEqual((done.status, done.stdout), (untraced.status, ""), str(done))

    def test_truncated_program(self):
        path = self.copy(program("calc-pie"))
        os.truncate(path, 1000)
        untraced = self.process("/bin/sh", "-c", "exec " + path).finish()
        done = self.run_proftrace("--", path)
        self.assertEqual((done.status, done.stdout), (128 - untraced.status, ""), str(done))

    def test_interpreter_is_missing(self):
        path = self.path("script")
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/nonexistent/interpreter\n")
        os.chmod(path, 0o755)
        self.refuse(path, words=(path, "interpreter is missing"))

    def test_without_functions_it_runs(self):
        """A command without functions runs all the same, as the user asked for that; a line says
        why nothing of it is traced."""
        path = without_functions(self)
        untraced = self.process(path).finish()
        done = self.run_proftrace("--", path)
        self.assertEqual((done.status, done.stdout), (128 - untraced.status, untraced.stdout),
                         str(done))
        self.assertIn("has no function symbols", done.stderr)

    def test_no_output_of_what_was_refused(self):
        """A file that was made for a result goes with it; one that was there stays as it was."""
        for words in ((), ("record",)):
            with self.subTest(words):
                refused = ("-F", "no_such_function", "--", program("calc-pie"), "1")
                new, old = self.path("new"), self.path("old")
                with open(old, "w", encoding="ascii"):
                    pass
                for path in (new, old):
                    done = self.process(harness.PROFTRACE, *words, "-o", path, *refused).finish()
                    self.assertEqual(done.status, 1, str(done))
                self.assertEqual(os.listdir(self.directory), ["old"])
                os.remove(old)

    def test_filter_without_a_match_runs_nothing(self):
        done = self.run_proftrace("-F", "nothing_like_it", "--", program("calc-pie"))
        self.assert_one_line(done, ERROR, "nothing_like_it")


class Usage(harness.TestCase):
    def refuse(self, *args, words=()):
        self.assert_one_line(self.run_proftrace(*args), USAGE, *words)

    def test_unknown_option(self):
        self.refuse("--nonsense", words=("nonsense",))
        self.refuse("-Z", words=("z",))

    def test_nothing_to_profile(self):
        self.refuse()
        self.refuse("-f", "json")

    def test_missing_argument(self):
        for option in ("-p", "-x", "-F", "-N", "-D", "-d", "-i", "-f", "-w", "-o"):
            self.refuse(option)

    def test_bad_values(self):
        for option, value in (("-f", "xml"), ("-w", "weight"), ("-d", "soon"), ("-d", "0"),
                              ("-d", "-1"), ("-d", "nan"), ("-i", "0"), ("-i", "x"), ("-i", "inf"),
                              ("-D", "0"), ("-D", "-1"), ("-D", "many"), ("--color", "green")):
            argument = f"{option}={value}" if option.startswith("--") else option
            rest = () if option.startswith("--") else (value,)
            self.refuse(argument, *rest, "-p", "1", words=(value,))

    def test_two_kinds_of_target(self):
        self.refuse("-p", "1", "--", "true")
        self.refuse("-x", "/bin/true", "--", "true")

    def test_help_and_version(self):
        done = self.run_proftrace("--help")
        self.assertEqual((done.status, done.stderr), (0, ""))
        for option in ("--pid", "--exec", "--filter", "--duration", "--format", "--output"):
            self.assertIn(option, done.stdout)
        for option in ("-V", "--version"):
            done = self.run_proftrace(option)
            self.assertEqual((done.status, done.stderr), (0, ""))
            self.assertRegex(done.stdout, r"^proftrace [0-9]+\.[0-9]+")

    def test_manual(self):
        """Each option and each format has a paragraph of its own."""
        with open(os.path.join(harness.ROOT, "docs", "proftrace.1"), encoding="utf-8") as file:
            paragraphs = re.findall(r"^\.TP\n(.*)", file.read().replace("\\-", "-"), re.M)
        words = {word for line in paragraphs for word in re.findall(r"[\w-]+", line)}
        options = re.findall(r"^ +(?:-\w, )?(--[\w-]+)", self.run_proftrace("--help").stdout, re.M)
        formats = re.search("one of (.*);", self.run_proftrace("-f", "none").stderr)[1].split(", ")
        self.assertGreater(len(options), 40)
        self.assertGreater(len(formats), 10)
        self.assertEqual(set(options + formats) - words, set())


class FewFiles(harness.TestCase):
    def test_limit(self):
        """A limit of open files below what a run needs: one line says so, whichever file was the
        one too many."""
        for files in 10, 20, 40, 64, 80, 100:
            with self.subTest(files=files):
                limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
                done = self.process(PROFTRACE, "--", program("calc-pie"), preexec_fn=limit,
                                    stdin=subprocess.DEVNULL).finish()
                self.assert_one_line(done, ERROR, "open")

    def test_files_on_the_way(self):
        """Open files that other processes of the user have sent, and nobody has taken, count too:
        the process that opens files says that there are too many, and goes on."""
        for end in (ends := socket.socketpair()):
            self.addCleanup(end.close)
        target = self.target("steps")
        for _ in range(3):
            socket.send_fds(ends[0], [b"-"], [ends[1].fileno()] * 50)
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
        done = self.process(PROFTRACE, "-F", "inner", "-p", target.pid, preexec_fn=limit).finish()
        self.assert_one_line(done, ERROR, f"process {target.pid}", "too many open files")

    def test_soft_limit(self):
        """One that may be raised is raised for the run, not for the command."""
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, most))
        done = self.process(PROFTRACE, "-F", "*", "--", "/bin/sh", "-c", "ulimit -n",
                            preexec_fn=limit, stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        self.assertEqual(done.stdout.splitlines()[0], "64", str(done))


class NotRoot(harness.TestCase):
    def run_as_nobody(self, *args):
        path = self.copy(PROFTRACE)
        return self.process("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                            path, *args).finish()

    def test_names_the_capabilities(self):
        calc = self.copy(program("calc-pie"))
        target = self.target("steps")
        for args in (("-p", target.pid), ("-x", calc), ("--", calc)):
            self.assert_one_line(self.run_as_nobody(*args), ERROR, "cap_", "sudo")

    def test_help_needs_no_root(self):
        self.assertEqual(self.run_as_nobody("--help").status, 0)

    def test_list_needs_no_root(self):
        done = self.run_as_nobody("-l", "-f", "json", "-x", self.copy(program("calc-pie")))
        self.assertEqual(done.status, 0, str(done))
        self.assertIn('"square"', done.stdout)


class Faults(harness.TestCase):
    def test_few_descriptors(self):
        """Works, or says so: it does not hang, and leaves nothing."""
        for limit in (3, 6, 10, 20, 40):
            done = self.process("sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", PROFTRACE, "-q",
                                "-o", self.path("out"), "--", program("calc-pie")).finish()
            self.assertIn(done.status, (0, ERROR, 127), str(done))

    def test_few_processes(self):
        """Works, or names the limit, which is nobody's but this user's."""
        calc, user = self.copy(program("calc-pie")), 100_000 + os.getpid()
        kept = ",".join("+" + name for name in ("dac_read_search", "sys_ptrace", "cap_38",
                                                "cap_39", "cap_40"))
        os.chmod(self.directory, 0o755)
        for limit in range(1, 7):
            done = self.process("prlimit", f"--nproc={limit}", "setpriv", f"--reuid={user}",
                                f"--regid={user}", "--clear-groups", f"--inh-caps={kept}",
                                f"--ambient-caps={kept}", self.copy(PROFTRACE), "-q", "-f", "json",
                                "-F", "square", "--", calc).finish()
            if done.status:
                self.assert_one_line(done, ERROR, "ulimit -u", "pids.max")

    def test_no_devices(self):
        """In a chroot /dev may be empty."""
        done = self.process("unshare", "--mount", "sh", "-c",
                            'mount -t tmpfs none /dev && exec "$@"', "sh", PROFTRACE, "-q", "-o",
                            self.path("out"), "--", program("calc-pie"), 3).finish()
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))

    def test_no_sys(self):
        done = self.process("unshare", "--mount", "sh", "-c",
                            'mount -t tmpfs none /sys && exec "$@"', "sh", PROFTRACE, "--",
                            program("calc-pie")).finish()
        self.assert_one_line(done, ERROR, "/sys is not there", "mount -t sysfs")

    def test_little_memory(self):
        for kilobytes in (8_000, 30_000, 100_000):
            done = self.process("sh", "-c", f'ulimit -v {kilobytes}; exec "$@"', "sh", PROFTRACE,
                                "-q", "-o", self.path("out"), "--", program("calc-pie")).finish()
            self.assertIn(done.status, (0, ERROR, 127), str(done))

    def test_little_data(self):
        """With data limited to any size from 512 KB to 64 MB no run ends in a signal: our variables
        fit."""
        calc = program("calc-pie")
        for kilobytes in (512, 768, 1024, 1536, 2048, 4096, 8192, 16384, 65536):
            for args in (("-l", calc), ("-q", "-o", self.path("out"), "--", calc)):
                done = self.process("sh", "-c", f'ulimit -d {kilobytes}; exec "$@"', "sh",
                                    PROFTRACE, *args).finish()
                self.assertIn(done.status, (0, ERROR, 127), str(done))
                if done.status:
                    self.assertRegex(done.stderr, r"^[^\n]+\n\Z", str(done))
                # Not what libbpf could not find for lack of it.
                if done.status == ERROR:
                    self.assertRegex(done.stderr, "memory.*ulimit -d", str(done))

    def test_little_memory_of_its_own_control_group(self):
        """A run says beforehand that the kernel may end it."""
        mount, name = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
        if not os.path.isdir(mount):
            mount, name = "/sys/fs/cgroup", "memory.max"
            with open(f"{mount}/cgroup.subtree_control", "w", encoding="ascii") as file:
                file.write("+memory")
        group = f"{mount}/proftrace-memory-{os.getpid()}"
        os.mkdir(group)
        try:
            for megabytes, warned in ((64, True), (150, True), (400, False)):
                with open(f"{group}/{name}", "w", encoding="ascii") as file:
                    file.write(str(megabytes << 20))
                done = self.process("sh", "-c", 'echo $$ > "$1"; shift; exec "$@"', "sh",
                                    f"{group}/cgroup.procs", PROFTRACE, "-o", self.path("out"),
                                    "--", program("calc-pie")).finish()
                self.assertEqual(f"may have {megabytes} MB of memory" in done.stderr, warned,
                                 str(done))
        finally:
            # Until the kernel has let go of the last process.
            self.assertTrue(harness.poll(lambda: not self.left_in(group)))
            os.rmdir(group)

    @staticmethod
    def left_in(group):
        with open(f"{group}/cgroup.procs", encoding="ascii") as file:
            return file.read()

    def test_killed_while_attaching(self):
        """At any moment: nothing is left, and the target goes on."""
        target = self.target("steps")
        target.go()
        for milliseconds in (0, 20, 50, 100, 150, 200, 300):
            tracer = self.proftrace("-f", "json", "-p", target.pid)
            # Whatever has been reached by then; any moment will do.
            tracer.stderr.thread.join(milliseconds / 1000)
            tracer.signal(signal.SIGKILL)
            tracer.finish()
            target.step("3")
        self.assertEqual(target.finish().counts, {"outer": 21, "inner": 21})

    def test_stopped_target(self):
        target = self.target("steps")
        target.signal(signal.SIGSTOP)
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        target.signal(signal.SIGCONT)
        target.go()
        target.step("3")
        self.assertEqual(self.count(self.document(tracer.interrupt()), "outer"), 3)

    def test_huge_name_of_a_program(self):
        """Control characters and quotes in names survive JSON."""
        path = self.path('a "strange"\n\\name;\t\xff')
        shutil.copy(program("calc-pie"), path)
        document, done = self.profile_command(path)
        self.assert_counts(document, done.counts)
        self.assertIn(path, {function["module"] for function in document["functions"]})


if __name__ == "__main__":
    harness.main()
