# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that refuses the profiler what it asks for: the target is none the wiser, and the
profiler says in a line what was refused."""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time

import engine
import harness
from engine import judge_counts, judge_identity, judge_same, judge_text, plain, stage
from harness import PROFTRACE, TRACING, UNLIMITED, poll, program
from kills import goes_on
from rows import row

FAULTS = "refusals"
ROUNDS = 5
# Lines that every run has, and that say nothing of why it failed.
NO_REASONS = tuple(map("proftrace: ".__add__, ("tracing ", "entered ", "probes cost ")))
F_SETPIPE_SZ, SYS_WRITE = 1031, 1  # x86-64


def steps(it):
    return it.target("steps", how="--hold")


def work(target):
    target.go()
    for turn in range(ROUNDS):
        target.step(str(10 * turn))


def profiler_of(process):
    """The profiler itself, which another program may have started."""
    for pid in harness.session_members(process.pid):
        with contextlib.suppress(OSError):
            if os.path.samefile(f"/proc/{pid}/exe", PROFTRACE):
                return pid
    return None


class Hardship:
    """Traces one target after the other, each by a profiler that lacks something."""

    def __init__(self, trial, it):
        self.trial, self.it = trial, it
        target = steps(it)
        work(target)
        self.alone = plain(target.finish())
        self.ended = {}

    def endure(self, what, *argv, signals=(), may_fail=True, **popen):
        """argv: a command that starts the profiler, up to its target. signals: what may kill it."""
        target = steps(self.it)
        self.it.traced = True
        process = self.it.process(*argv, "-p", target.pid, **popen)
        try:
            process.stderr.wait_lines(TRACING)  # or its end
            work(target)
            if pid := profiler_of(process):
                os.kill(pid, signal.SIGINT)
            done = process.finish()
        except AssertionError as error:
            self.trial.fail("EXACT", f"{what}: it hangs: {error}")
            self.it.forget(process)
            self.it.forget(target)
            return
        judge_text(self.trial, target.pid, program("steps"), what)
        result = target.finish()
        judge_same(self.trial, self.alone, plain(result), what)
        self.judge(what, done, result, signals, may_fail)
        self.it.forget(process)
        self.it.forget(target)
        self.trial.runs += 1

    def judge(self, what, done, result, signals, may_fail):
        """Either all is there and exact, or it fails with a line that says why."""
        status = done.status
        self.ended[status] = self.ended.get(status, 0) + 1
        if status == 0:
            try:
                document = json.loads(done.stdout)
            except ValueError as error:
                self.trial.fail("EXACT", f"{what}: status 0, but no document: {error}")
                return
            judge_identity(self.trial, document, what)
            # Functions that the profiler could not read are not traced, and are listed as skipped.
            skipped = {function["name"] for function in document["probes"]["skipped"]}
            counts = {name: number for name, number in result.counts.items() if name not in skipped}
            judge_counts(self.trial, document, counts, what)
        else:
            said = [line for line in done.stderr.splitlines() if not line.startswith(NO_REASONS)]
            self.trial.judge("EXACT", may_fail and (status in signals or status == 1 and said),
                             lambda: f"{what}: status {status}, says {said}")

    def figure(self):
        self.trial.figure("ended with " + ", ".join(
            f"status {status}: {number}" for status, number in sorted(self.ended.items())))


@contextlib.contextmanager
def hardship(trial):
    with stage(trial) as it:
        them = Hardship(trial, it)
        yield them
        them.figure()


JSON = (PROFTRACE, *UNLIMITED, "-f", "json")


@row(FAULTS, "a full disk, as output and as standard output", short=True)
def full_disk(trial):
    with hardship(trial) as them:
        for format_ in ("json", "tree", "flat", "folded")[:2 if trial.options.short else 4]:
            them.endure(f"-f {format_} -o /dev/full", PROFTRACE, "-f", format_, "-o", "/dev/full")
            with open("/dev/full", "wb") as full:
                them.endure(f"-f {format_} > /dev/full", PROFTRACE, "-f", format_, stdout=full)
        trial.judge("EXACT", set(them.ended) == {1}, f"status {them.ended}")


@row(FAULTS, "a disk that fills up amid the result", needs=("mount",))
def tiny_disk(trial):
    """The document of `many` is larger than this file system."""
    with stage(trial) as it:
        folder = it.path("small")
        os.mkdir(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", folder], check=True)
        try:
            target = it.target("many", how="--hold")
            target.go()
            tracer = it.proftrace("-f", "json", "-o", folder + "/out", "-p", target.pid)
            tracer.wait_tracing()
            goes_on(target)
            done = tracer.interrupt()
            judge_text(trial, target.pid, program("many"))
            target.send("stop")
            target.stdout.wait_lines("held")
            target.go()
            trial.judge("SAME", (end := target.finish()).status == 0 and "uneven 0" in end.stdout,
                        lambda: str(end))
            trial.judge("EXACT", done.status == 1 and "no space" in done.stderr.lower(),
                        lambda: str(done))
            trial.runs += 1
        finally:
            subprocess.run(["umount", folder], check=True)


def blocks_in_write(pid):
    with contextlib.suppress(OSError, IndexError), open(f"/proc/{pid}/syscall",
                                                        encoding="utf-8") as file:
        return file.read().split()[0] == str(SYS_WRITE)
    return False


@row(FAULTS, "short and interrupted writes", short=True)
def short_writes(trial):
    """The profiler blocks on a pipe that is full, is stopped, goes on, and finds a reader."""
    with stage(trial) as it:
        target = it.target("many", how="--hold")
        target.go()
        reading, writing = os.pipe()
        room = fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
        tracer = it.proftrace("-f", "json", "-p", target.pid, stdout=writing)
        os.close(writing)
        tracer.wait_tracing()
        goes_on(target)
        tracer.signal(signal.SIGINT)
        text = b""
        for _ in range(10):
            poll(lambda: blocks_in_write(tracer.pid) or tracer.ended(), harness.TIMEOUT)
            if not trial.judge("EXACT", not tracer.ended(),
                               lambda: f"it never fills the pipe: {tracer.finish()}"):
                break
            tracer.signal(signal.SIGSTOP)
            poll(lambda: harness.stat_fields(tracer.pid)[0] == "T")
            tracer.signal(signal.SIGCONT)
            text += os.read(reading, room)
        while chunk := os.read(reading, room):
            text += chunk
        os.close(reading)
        done = tracer.finish()
        judge_text(trial, target.pid, program("many"))
        target.send("stop")
        target.stdout.wait_lines("held")
        target.go()
        end = target.finish()
        trial.judge("SAME", end.status == 0 and "uneven 0" in end.stdout, lambda: str(end))
        try:
            judge_identity(trial, json.loads(text))
        except ValueError as error:
            trial.fail("EXACT", f"the document is broken: {error}")
        trial.judge("EXACT", done.status == 0, lambda: str(done))
        trial.runs += 1


@row(FAULTS, "closed standard streams", short=True)
def closed_streams(trial):
    """No file that it opens may take the place of a stream that it writes to."""
    with hardship(trial) as them:
        for closed in (">&-", "<&-", "<&- >&-"):
            them.endure(closed, "/bin/sh", "-c", f'exec "$@" {closed}', "sh", *JSON)
    with stage(trial) as it:
        target = steps(it)
        out = it.path("out")
        it.traced = True
        process = it.process("/bin/sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *JSON, "-o", out,
                             "-d", "1", "-p", target.pid)
        work(target)
        done = process.finish()
        judge_text(trial, target.pid, program("steps"), "all closed")
        judge_same(trial, them.alone, plain(target.finish()), "all closed")
        trial.judge("EXACT", done.status in (0, 1), f"all closed: status {done.status}")
        if done.status == 0:
            judge_identity(trial, engine.load(out), "all closed")
        trial.runs += 1


@row(FAULTS, "a reader that goes away")
def gone_reader(trial):
    with stage(trial) as it:
        target = steps(it)
        reading, writing = os.pipe()
        tracer = it.proftrace("-f", "folded", "-i", "0.1", "-p", target.pid, stdout=writing)
        os.close(writing)
        tracer.wait_tracing()
        os.close(reading)
        target.go()
        began = time.monotonic()
        rounds = 0
        while not tracer.ended() and time.monotonic() - began < harness.TIMEOUT:
            target.step("1")
            rounds += 1
        done = tracer.finish()
        judge_text(trial, target.pid, program("steps"))
        end = target.finish()
        trial.judge("SAME", end.status == 0 and end.counts == {"outer": rounds, "inner": rounds},
                    lambda: str(end))
        trial.judge("EXACT", done.status in (0, 141, -signal.SIGPIPE), lambda: str(done))
        trial.runs += 1


@row(FAULTS, "limits on files, memory, locked memory, stack, output", needs=("prlimit",))
def limits(trial):
    limited = [f"--nofile={n}" for n in (4, 6, 8, 12, 16, 20, 24, 28, 32, 40, 64)]
    limited += [f"--as={n << 20}" for n in (16, 32, 64, 96, 128, 160, 192, 256, 512)]
    limited += [f"--data={n << 10}" for n in (512, 768, 1024, 1536, 2048, 4096, 16384, 65536)]
    limited += ["--memlock=0", "--stack=65536", "--core=0", "--nproc=1"]
    with hardship(trial) as them:
        for limit in limited:
            # The dynamic linker, too, may lack memory or files.
            them.endure(limit, "prlimit", limit, *JSON, signals=(127,))
        # A process that goes beyond this limit is killed, unless it handles the signal.
        them.endure("--fsize=512", "prlimit", "--fsize=512", *JSON, "-o", them.it.path("out"),
                    signals=(-signal.SIGXFSZ,))


REFUSED = {
    "bpf": "EPERM", "mmap": "ENOMEM", "openat": "EMFILE", "read": "EINTR", "write": "EINTR",
    "pread64": "EIO", "epoll_wait": "EINTR", "epoll_ctl": "ENOMEM", "newfstatat": "EACCES",
    "signalfd4": "EMFILE", "pidfd_open": "EMFILE", "timerfd_create": "EMFILE",
}


def calls_of_start(it, call):
    """How many such calls the dynamic linker and libc make before the profiler's first."""
    trace = it.path("trace")
    subprocess.run(["strace", "-f", "-o", trace, "-e", f"trace={call}", PROFTRACE, "--version"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(trace, encoding="utf-8", errors="replace") as file:
        return file.read().count(f"{call}(")


@row(FAULTS, "system calls that fail, one at a time", needs=("strace",))
def failing_calls(trial):
    """The Nth call of each kind; of those that are made often, more and more sparsely. If the
    signal handler cannot wake the main loop by its write, the signal ends the program."""
    with hardship(trial) as them:
        trace = them.it.path("trace")
        for call, error in REFUSED.items():
            start, nth = calls_of_start(them.it, call), 1
            while nth < 400:
                inject = f"inject={call}:error={error}:when={start + nth}"
                them.endure(f"{call} number {nth}: {error}", "strace", "-f", "-o", trace, "-e",
                            f"trace={call}", "-e", inject, *JSON,
                            signals=(-signal.SIGINT,) if call == "write" else ())
                with open(trace, encoding="utf-8", errors="replace") as file:
                    if "(INJECTED)" not in file.read():
                        break  # it makes fewer
                nth = nth + 1 if nth < 6 else nth * 3 // 2
