# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine that runs one command under one of Debian's kernels: QEMU, which emulates the
processors (no KVM, so that it works anywhere, at a tenth of the speed)."""

import collections
import contextlib
import ctypes
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import image

FETCH = os.path.join(image.HERE, "fetch")
# How an architecture is emulated: the program, the kind of processor, the console, and the lines on
# which output, errors and status of the command come out, as ttyS1 to ttyS3.
Emulator = collections.namedtuple("Emulator", "program processor console lines")
EMULATORS = {
    "amd64": Emulator("qemu-system-x86_64", ["-cpu", "max,la57=off,cx16=off"], "ttyS0",
                      ["-serial", "file:{}/stdout", "-serial", "file:{}/stderr",
                       "-serial", "file:{}/status"]),
    # The board has one serial line of its own; those of the card begin with ttyS0.
    "arm64": Emulator("qemu-system-aarch64", ["-machine", "virt", "-cpu", "cortex-a72"], "ttyAMA0",
                      ["-chardev", "null,id=unused", "-chardev", "file,id=out,path={}/stdout",
                       "-chardev", "file,id=err,path={}/stderr",
                       "-chardev", "file,id=status,path={}/status",
                       "-device", "pci-serial-4x,chardev1=unused,chardev2=out,chardev3=err,"
                       "chardev4=status"]),
}
# The words of a kernel that has been harmed.
BROKEN = re.compile(r"\bBUG:|\bOops\b|\bWARNING:|Kernel panic|general protection fault|"
                    r"rcu:? .*(?:stall|detected)|soft lockup|hung_task|blocked for more than")
# A kernel that was harmed ends at once. Watchdogs are off or patient: they measure time, which
# means little where a processor is emulated by a thread that others keep from running.
BOOT = ("panic=-1 oops=panic mitigations=off nowatchdog "
        "rcupdate.rcu_cpu_stall_timeout=200 rdinit=/init")
# Time by the count of instructions, one nanosecond each, and of waiting none: for the machine it is
# the same whatever else runs here. With one processor: Linux 6.1 hangs at the start of a second.
STEADY = ["-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-rtc", "clock=vm"]
# A kernel that measures its timers while its processors are kept from running may hang before it
# runs anything. Then it is started anew.
START_LIMIT = 180
STARTS = 3
MOST_HELD_UP = 20
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)

# status: the command's, None if the machine has ended without it; why: what was wrong with the
# machine itself, "" if nothing; seconds: how long it ran.
Ended = collections.namedtuple("Ended", "status stdout stderr log why seconds")


class MachineError(Exception):
    pass


def fetched(kernel):
    """The path of a kernel's image, which is downloaded if need be."""
    done = subprocess.run([FETCH, kernel], stdout=subprocess.PIPE, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        raise MachineError(f"there is no kernel {kernel}")
    return done.stdout.decode().strip()


def die_with_parent():
    """In the child before exec: no machine outlives who has started it."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def command_line(emulator, folder, kernel, smp, memory, arguments, steady):
    emulation = STEADY if steady else ["-accel", "tcg,thread=multi"]
    return [emulator.program, *emulation, *emulator.processor,
            "-smp", "1" if steady else str(smp), "-m", str(memory), "-nodefaults",
            "-display", "none", "-no-reboot",
            "-kernel", kernel, "-initrd", os.path.join(folder, "initrd"),
            "-append", f"console={emulator.console} {BOOT} {arguments}".strip(),
            "-serial", f"file:{os.path.join(folder, 'log')}",
            *(word.format(folder) for word in emulator.lines)]


def read(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


class Tail:
    """Passes on what is added to a file."""

    def __init__(self, path, out):
        self.path, self.out, self.at = path, out, 0

    def pass_on(self):
        try:
            with open(self.path, "rb") as file:
                file.seek(self.at)
                data = file.read()
        except FileNotFoundError:
            return
        self.at += len(data)
        if data:
            self.out.buffer.write(data)
            self.out.flush()


def held_up(pid):
    """Seconds for which a process had work and no processor: those of the thread that had most."""
    waited = [0]
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
            waited.append(int(file.read().split()[1]))
    return max(waited) / 1e9


def wait(process, folder, start_limit, limit, tails):
    """"" once the process has ended; else it is killed: "start" if the first program did not run by
    `start_limit`, "limit" if it was not through after `limit` seconds. Those for which others had
    the processors do not count, up to MOST_HELD_UP times the limit."""
    began = time.monotonic()
    started = False
    why = ""
    while process.poll() is None and not why:
        for tail in tails:
            tail.pass_on()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
        started = started or read(folder, "status").startswith("started")
        wall = time.monotonic() - began
        seconds = wall - min(held_up(process.pid), MOST_HELD_UP / (1 + MOST_HELD_UP) * wall)
        if seconds > limit:
            why = "limit"
        elif seconds > start_limit and not started:
            why = "start"
    if process.poll() is None:
        process.kill()
        process.wait()
    for tail in tails:
        tail.pass_on()
    return why


def run_qemu(argv, folder, start_limit, limit, tails):
    """Runs a machine to its end: (wait()'s result, what QEMU itself has said)."""
    for attempt in range(STARTS):
        for name in ("log", "stdout", "stderr", "status"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))
        with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, preexec_fn=die_with_parent) as process:
            try:
                why = wait(process, folder, start_limit, limit, tails)
            finally:
                if process.poll() is None:
                    process.kill()
            said = process.stdout.read().decode(errors="replace").strip()
        if why != "start" or attempt + 1 == STARTS:
            return why, said
        print("machine: the kernel hangs at its start; once more", file=sys.stderr)
    return None


def telling(log, count=40):
    """The lines of the kernel's messages to show: from the first bad one, else the last."""
    lines = log.splitlines()
    bad = next((at for at, line in enumerate(lines) if BROKEN.search(line)), len(lines) - count)
    return lines[max(bad, 0):][:count]


def judge(ended_by, limit, status, log):
    """Returns what is wrong with the machine itself, "" if nothing."""
    bad = [line.strip() for line in log.splitlines() if BROKEN.search(line)]
    if bad:
        return "the kernel says: " + "; ".join(bad[:3])
    if ended_by == "start":
        return f"it has not started within {START_LIMIT} s, {STARTS} times"
    if ended_by == "limit":
        return f"still running after {limit:g} s"
    if status is None:
        return "it has ended before the command"
    return ""


def forget_killed(build):
    """Removes what those that were killed have left; the folders' names have process ids."""
    for path in glob.glob(os.path.join(build, "kernels", "machine-*-*")):
        if not os.path.exists(f"/proc/{os.path.basename(path).split('-')[1]}"):
            shutil.rmtree(path, ignore_errors=True)


def boot(kernel, command, build, *, preempt=None, smp=2, memory="3G", limit=300, show=False,
         steady=False, environment=None, extra=(), arguments="", architecture="amd64"):
    """Runs `command` (a list) in a machine with that kernel. `show`: its output is passed on while
    it runs. `limit`: seconds until the machine is ended. `steady`: see STEADY."""
    kernel_image, emulator = fetched(kernel), EMULATORS[architecture]
    base = image.base(build) if architecture == "amd64" else image.foreign_base(build)
    if preempt:
        arguments = f"preempt={preempt} {arguments}"
    forget_killed(build)
    folder = tempfile.mkdtemp(prefix=f"machine-{os.getpid()}-", dir=os.path.join(build, "kernels"))
    try:
        with open(os.path.join(folder, "initrd"), "wb") as initrd:
            with open(base, "rb") as file:
                shutil.copyfileobj(file, initrd)
            image.job(command, environment or {}, extra).write(initrd)
        tails = [Tail(os.path.join(folder, "stdout"), sys.stdout),
                 Tail(os.path.join(folder, "stderr"), sys.stderr)] if show else []
        began = time.monotonic()
        argv = command_line(emulator, folder, kernel_image, smp, memory, arguments, steady)
        start_limit = limit if steady else START_LIMIT
        ended_by, said = run_qemu(argv, folder, start_limit, limit, tails)
        seconds = time.monotonic() - began
        log = read(folder, "log")
        found = re.search(r"^exit (\d+)$", read(folder, "status"), re.M)
        status = int(found[1]) if found else None
        why = judge(ended_by, limit, status, log)
        if why and said:
            why += f" ({said})"
        return Ended(status, read(folder, "stdout"), read(folder, "stderr"), log, why, seconds)
    except FileNotFoundError as error:
        if error.filename == emulator.program:
            raise MachineError(f"there is no {error.filename}: run scripts/install-deps.sh "
                               "kernels") from None
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
