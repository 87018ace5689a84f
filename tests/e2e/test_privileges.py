# SPDX-License-Identifier: GPL-2.0-or-later
"""proftrace gives up what it does not need; the command has what its user has, and no less."""

import errno
import os
import shutil
import signal
import subprocess

import harness
from harness import NOBODY, PROFTRACE, PYTHON, UNLIMITED, keeper_of, program
from system_calls import PR_SET_SECCOMP, refuse

CHOWN, DAC_OVERRIDE, FOWNER = 0, 1, 3
KILL, DAC_READ_SEARCH, SYS_PTRACE, PERFMON, BPF, CHECKPOINT_RESTORE = 5, 2, 19, 38, 39, 40
SYS_NICE, SYS_RESOURCE = 23, 24
READING = sum(1 << cap for cap in (DAC_READ_SEARCH, SYS_PTRACE, CHECKPOINT_RESTORE))
ATTACHING = sum(1 << cap for cap in (PERFMON, BPF))
REPLACING = sum(1 << cap for cap in (CHOWN, DAC_OVERRIDE, FOWNER))
SETS = ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs")
SHOW = ("import resource\n"
        "for line in open('/proc/self/status'):\n"
        f"    if line.split(':')[0] in {SETS}: print(line, end='')\n"
        "print('core', resource.getrlimit(resource.RLIMIT_CORE))")
CALLER = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
PRCTL = 157  # of x86-64
# A Python function that every run calls, so that there is something to trace.
TRACED = ("-q", "-F", "Py_BytesMain")


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def sets_of(pid):
    rows = status_of(pid)
    return {name: int(rows[name], 16) for name in SETS}


def down_to(capabilities):
    return {"CapInh": 0, "CapPrm": capabilities, "CapEff": capabilities, "CapBnd": 0, "CapAmb": 0,
            "NoNewPrivs": 1}


def attaching():
    """Returns the capabilities that the process that attaches keeps. If its limit of real-time
    priorities cannot be raised it keeps the right to real-time priorities."""
    ours = sets_of("self")["CapEff"]
    return ATTACHING | (0 if ours >> SYS_RESOURCE & 1 else ours & 1 << SYS_NICE)


class Profiler(harness.TestCase):
    def assert_sandboxed(self, pid, capabilities=0):
        self.assertEqual(sets_of(pid), down_to(capabilities))
        self.assertEqual(status_of(pid)["Seccomp"], "2")

    def test_without_a_filter_of_system_calls(self):
        """Where a filter around proftrace refuses another one, the lack of it is told."""
        done = subprocess.run(
            [PROFTRACE, "-f", "json", *UNLIMITED, "-F", "outer", program("sampled"), "1"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=harness.TIMEOUT,
            preexec_fn=lambda: refuse(PRCTL, errno.EPERM, PR_SET_SECCOMP), check=False)
        self.assertIn("no filter of system calls can be set (prctl: Operation not permitted)",
                      done.stderr)

    def test_of_a_process_keeps_nothing(self):
        """The process that parses keeps nothing; other processes have what opening files and
        attaching takes, and parse nothing."""
        target = self.target("steps")
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        self.assert_sandboxed(tracer.pid)
        self.assertEqual(sets_of(keeper_of(tracer)), down_to(attaching()))
        self.assertEqual(sets_of(keeper_of(tracer, "proftrace-files")), down_to(READING))
        with open(f"/proc/{tracer.pid}/limits", encoding="utf-8") as file:
            self.assertRegex(file.read(), r"Max core file size +0 +0 ")
        target.go()
        target.step("3")
        self.assertEqual(self.count(self.document(tracer.interrupt()), "outer"), 3)

    def test_of_a_file_keeps_nothing(self):
        tracer = self.proftrace("-f", "json", "-x", program("calc-pie")).wait_tracing()
        self.assert_sandboxed(tracer.pid)
        done = self.process(program("calc-pie")).finish()
        self.assert_counts(self.document(tracer.interrupt()), done.counts)

    def test_that_replaces_its_file_keeps_what_that_takes(self):
        directory = self.path("theirs")
        os.mkdir(directory, 0o700)
        os.chown(directory, NOBODY, NOBODY)
        path = os.path.join(directory, "data")
        target = self.target("threads", 1, 500000)
        tracer = self.process(PROFTRACE, "record", "--calls", "--max-size", "1M", "-o", path,
                              *UNLIMITED, "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        self.assert_sandboxed(tracer.pid, REPLACING)
        # As long as the first file is open here, no other file can get its inode number.
        with open(path, "rb") as before:
            target.go()
            self.assertEqual(target.finish().status, 0)
            self.assertEqual(tracer.finish().status, 0)
            self.assertNotEqual(os.stat(path).st_ino, os.fstat(before.fileno()).st_ino)

    def test_does_not_keep_the_target_waiting_as_an_idle_task(self):
        """A process that attaches with idle priority would hold locks of the target's while all
        others have the processors."""
        target = self.target("steps")
        tracer = self.process("chrt", "--idle", "0", PROFTRACE, "-f", "json", "-p", target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING))
        for name in ("proftrace-links", "proftrace-files"):
            helper = keeper_of(tracer, name)
            self.assertEqual(os.sched_getscheduler(helper), os.SCHED_OTHER, name)
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, helper), -20, name)
        self.assertEqual(os.sched_getscheduler(tracer.pid), os.SCHED_IDLE)
        tracer.signal(signal.SIGINT)
        self.document(tracer.finish())

    def test_works_with_nothing_else(self):
        """A user may grant single capabilities: these, or SYS_ADMIN for CHECKPOINT_RESTORE."""
        target = self.target("steps")
        for last in ("checkpoint_restore", "sys_admin"):
            few = f"-all,+bpf,+perfmon,+sys_ptrace,+{last}"
            done = self.process("setpriv", f"--bounding-set={few}", PROFTRACE, "-d", "0.01",
                                "-f", "json", "-p", target.pid).finish()
            self.document(done)
        done = self.process("setpriv", "--bounding-set=-all,+bpf,+perfmon,+sys_ptrace", PROFTRACE,
                            "-p", target.pid).finish()
        self.assert_one_line(done, 1, "needs CAP_CHECKPOINT_RESTORE;")

    def test_process_of_another_user_in_a_private_directory(self):
        place = self.path("private")
        os.mkdir(place, 0o700)
        path = shutil.copy(program("steps"), place)
        os.chmod(path, 0o700)
        for entry in (place, path):
            os.chown(entry, NOBODY, NOBODY)
        target = self.process("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                              path, "--wait")
        target.wait_ready()
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        self.document(tracer.interrupt())

    def test_held_command_of_the_caller_is_ended(self):
        """The held command belongs to another user by then, who may not be let into the folder of
        the build."""
        path = self.copy(program("calc-pie"))
        done = self.run_proftrace("-F", "nothing", "--", path, env=CALLER)
        self.assert_one_line(done, 1, "nothing")


class Command(harness.TestCase):
    def show(self, *command, **popen):
        done = self.run_proftrace(*TRACED, "-o", self.path("out"), "--", *command, **popen)
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def test_of_root_has_all_that_root_has(self):
        alone = subprocess.run([PYTHON, "-c", SHOW], stdout=subprocess.PIPE, check=True,
                               timeout=harness.TIMEOUT)
        self.assertEqual(self.show(PYTHON, "-c", SHOW), alone.stdout.decode())

    def test_of_the_caller_of_sudo_has_what_a_user_has(self):
        alone = subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
                                "--clear-groups", PYTHON, "-c", SHOW], stdout=subprocess.PIPE,
                               check=True, timeout=harness.TIMEOUT)
        self.assertEqual(self.show(PYTHON, "-c", SHOW, env=CALLER), alone.stdout.decode())

    def test_set_user_id_programs_work(self):
        """Programs such as sudo work, as the command itself and when the command calls them."""
        path = self.copy(os.path.realpath(PYTHON), "become")
        os.chmod(path, 0o4755)
        show = "import os; print(os.geteuid())"
        self.assertEqual(self.show(path, "-c", show, env=CALLER), "0\n")
        inside = f"import subprocess; subprocess.run([{path!r}, '-c', {show!r}], check=True)"
        self.assertEqual(self.show(PYTHON, "-c", inside, env=CALLER), "0\n")


if __name__ == "__main__":
    harness.main()
