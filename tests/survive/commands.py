# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that do something to the profiler that has started them, to themselves, and to other
processes."""

import os
import re
import shutil
import signal
import subprocess

import engine
import harness
from engine import judge_counts, judge_identity, judge_same, plain, stage
from harness import program
from rows import row

COMMANDS = "what commands do"


def by_command(it, *argv, options=(), **popen):
    """Runs a command under proftrace. Returns (its result, the document or None)."""
    out = it.path("out.json")
    done = it.proftrace("-f", "json", "-o", out, *options, "--", *argv, stdin=subprocess.DEVNULL,
                        **popen).finish(engine.TIMEOUT)
    document = engine.load(out) if os.path.exists(out) and os.path.getsize(out) else None
    if os.path.exists(out):
        os.unlink(out)
    return done, document


@row(COMMANDS, "asks its parent to trace it, then gets signals", short=True)
def asks_parent(trial):
    """Alone, its parent would have to let it go on."""
    with stage(trial) as it:
        for more in (), ("again",), (), ("again",):
            done, document = by_command(it, program("asks_parent"), 50, *more)
            trial.judge("SAME", done.status == 5 and done.counts == {"handled": 100},
                        lambda done=done: str(done))
            judge_identity(trial, document)
            judge_counts(trial, document, done.counts)
            trial.runs += 1


@row(COMMANDS, "lacks a shared library", short=True)
def missing_library(trial):
    trial.without("EXACT", "nothing of it runs")
    with stage(trial) as it:
        path = it.path("alone")
        shutil.copy(program("shapes-linked"), path)
        alone = plain(it.process(path).finish())
        for options in (), ("--follow",), ("-F", "*:*"):
            done, _ = by_command(it, path, options=options)
            judge_same(trial, alone, plain(done), " ".join(options))
            trial.runs += 1


LEAVES = r"""
#include <unistd.h>
int one(void) { return 1; }
int two(void) { return 2; }
int main(void) { return write(1, "done\n", 5) + one() + two() - 1; }
"""


@row(COMMANDS, "has nothing but cheap leaves", short=True)
def cheap_leaves(trial):
    """A command whose functions are all cheap leaves leaves nothing to probe."""
    with stage(trial) as it:
        source, path = it.path("leaves.c"), it.path("leaves")
        with open(source, "w", encoding="utf-8") as file:
            file.write(LEAVES)
        subprocess.run(["gcc", "-O2", "-o", path, source], check=True)
        alone = plain(it.process(path).finish())
        for options in (), ("--max-overhead", "5"), ("--exits=sites",), ("-F", "one"):
            done, document = by_command(it, path, options=options)
            judge_same(trial, alone, plain(done), " ".join(options))
            if document:
                judge_identity(trial, document)
            trial.runs += 1


@row(COMMANDS, "copies and sums up code of its own", short=True)
def copied_code(trial):
    """Documented: it dies of a probe in what it copies, and we say why. Left out, it is unharmed."""
    with stage(trial) as it:
        alone = plain(it.process(program("copies")).finish())
        done, document = by_command(it, program("copies"), options=("-N", "copied", "-N", "summed"))
        judge_same(trial, alone, plain(done), "left out")
        judge_identity(trial, document)
        judge_counts(trial, document, done.counts)
        done, document = by_command(it, program("copies"), options=("-F", "*"))
        trial.judge("SAME", done.status == 128 + signal.SIGTRAP and "copy code" in done.stderr,
                    lambda: str(done))
        judge_identity(trial, document)
        trial.runs += 2


GDB = ["gdb", "-q", "-nx", "-batch"]
SCRIPTS = {
    "break": ("-ex", "break odd", "-ex", "run", "-ex", "bt", "-ex", "finish"),
    "start, next": ("-ex", "start", "-ex", "next", "-ex", "next", "-ex", "step"),
    "watch": ("-ex", "start", "-ex", "watch guarded", "-ex", "continue", "-ex", "continue"),
    "stepping": ("-ex", "break even", "-ex", "run", "-ex", "stepi 20", "-ex", "bt"),
}
GUARDED = r"""
#include <stdio.h>
#include <stdlib.h>
int guarded;
__attribute__((noipa)) int odd(int n);
__attribute__((noipa)) int even(int n) { guarded += n; return n ? odd(n - 1) : 1; }
__attribute__((noipa)) int odd(int n) { return n ? even(n - 1) : 0; }
__attribute__((noipa)) int shown(int n) { return printf("%d %d\n", n, even(n)); }
int main(int argc, char **argv)
{
	for (int i = 0; i < 5; i++)
		shown(i);
	return 3;
}
"""


def debugged(done):
    """The output of gdb without the parts that differ from run to run."""
    status, output, errors = plain(done)
    return status, re.sub(r"process \d+|0x[0-9a-f]+", "*", output), errors


@row(COMMANDS, "a debugger that is followed, and its breakpoints", needs=("gdb",))
def followed_debugger(trial):
    """With a dynamic linker of its own, where no other profiler has a probe."""
    trial.without("EXACT", "a program that is debugged is not traced")
    with stage(trial) as it:
        loader, source = it.path("ld.so"), it.path("guarded.c")
        shutil.copy(os.path.realpath("/lib64/ld-linux-x86-64.so.2"), loader)
        with open(source, "w", encoding="utf-8") as file:
            file.write(GUARDED)
        for flags in ("-O0", "-no-pie"), ("-O2", "-pie", "-fPIE"), ("-O1", "-no-pie"):
            path = it.path("guarded" + flags[0])
            subprocess.run(["gcc", "-g", *flags, f"-Wl,--dynamic-linker={loader}", "-o", path,
                            source], check=True)
            for name, script in SCRIPTS.items():
                alone = debugged(it.process(*GDB, *script, path).finish())
                for _ in range(1 + 3 * (name == "break")):
                    done, document = by_command(it, *GDB, *script, path,
                                                options=("--follow", "-F", "guarded*:*", "-q"))
                    judge_same(trial, alone, debugged(done), f"{name}, {flags}")
                    trial.runs += 1
