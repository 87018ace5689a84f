# SPDX-License-Identifier: GPL-2.0-or-later
"""How promptly the profiler goes, and how it fares for a long time."""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import time

import engine
from engine import judge_identity, judge_same, judge_text, plain, stage
from harness import PYTHON, program
from kills import VARIES, goes_on, untraced
from rows import row

PROMPT = "prompt and lasting"
TURNS = 5


def time_detach(it, *options):
    """Seconds from the signal to the profiler's end, its result written, and that result."""
    tracer = it.proftrace("-f", "json", "-o", it.path("out"), *options).wait_tracing()
    time.sleep(0.2)  # so that there is something to write; nothing depends on it
    began = time.monotonic()
    tracer.signal(signal.SIGINT)
    done = tracer.finish()
    took = time.monotonic() - began
    if done.status:
        raise AssertionError(str(done))
    it.forget(tracer)
    return took, engine.load(it.path("out"))


def judge_prompt(trial, seconds, most, probes):
    median = statistics.median(seconds)
    trial.judge("CLEAN", median < most, f"detaching takes {median:.2f} s, not under {most} s")
    trial.figure(f"{probes} functions: {median * 1000:.0f} ms from SIGINT to the end, result "
                 f"included ({min(seconds) * 1000:.0f} to {max(seconds) * 1000:.0f}, "
                 f"{len(seconds)} runs; reach {most} s)")


@row(PROMPT, "detach of 5,000 functions that are called, live")
def detach_many(trial):
    with stage(trial) as it:
        alone = untraced(it)
        target = it.target("many", how="--hold")
        target.go()
        seconds = []
        for _ in range(TURNS):
            took, document = time_detach(it, "-F", "f_*", "-p", target.pid)
            seconds.append(took)
            judge_identity(trial, document)
            judge_text(trial, target.pid, program("many"))
            trial.judge("SAME", goes_on(target), "no rounds any more")
            trial.runs += 1
        judge_prompt(trial, seconds, 1, document["probes"]["functions"])
        target.send("stop")
        target.stdout.wait_lines("held")
        target.go()
        judge_same(trial, alone, plain(target.finish(), VARIES))


LLVM = r'''
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.LLVMContextCreate.restype = ctypes.c_void_p
lib.LLVMContextDispose.argtypes = [ctypes.c_void_p]
print("ready", flush=True)
for line in sys.stdin:
    context = lib.LLVMContextCreate()
    lib.LLVMContextDispose(context)
    print("made", bool(context), flush=True)
'''


def llvm_path():
    cache = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, check=True).stdout
    found = re.search(r"^\s*libLLVM-14\.so\S* \(libc6,x86-64.*=> (.*)$", cache.decode(), re.M)
    if not found:
        raise AssertionError("libLLVM-14 is not installed")
    return os.path.realpath(found[1])


@row(PROMPT, "detach of all of libLLVM-14, live")
def detach_llvm(trial):
    path = llvm_path()
    with stage(trial) as it:
        target = it.process(PYTHON, "-I", "-c", LLVM, path)
        target.wait_ready()
        seconds = []
        for turn in range(TURNS):
            took, document = time_detach(it, "-F", os.path.basename(path) + ":*", "-p", target.pid)
            seconds.append(took)
            judge_identity(trial, document)
            judge_text(trial, target.pid, path)
            target.send("make")
            made = target.stdout.wait_lines("made", turn + 1)
            trial.judge("SAME", made == ["made True"] * (turn + 1), str(made))
            trial.runs += 1
        judge_prompt(trial, seconds, 2, document["probes"]["functions"])
        trial.judge("SAME", target.finish().status == 0, "it does not end well")


@row(PROMPT, "a soak: come, go and be killed for hours", needs=("option soak",))
def soak(trial):
    """Targets that never rest, and profilers that come and go; a third of them is killed."""
    random_ = random.Random(trial.options.seed)
    end = time.monotonic() + trial.options.soak * 3600
    with stage(trial) as it:
        alone = untraced(it)
        target = it.target("many", how="--hold")
        target.go()
        while time.monotonic() < end:
            pattern = random_.choice(["f_0000", "f_00*", "f_*"])
            tracer = it.proftrace("-f", "json", "-F", pattern, "-p", target.pid).wait_tracing()
            time.sleep(random_.uniform(0, 2))
            if random_.random() < 0.33:
                it.forget(tracer)
            else:
                judge_identity(trial, json.loads(tracer.interrupt().stdout))
                it.forget(tracer)
            judge_text(trial, target.pid, program("many"))
            if not trial.judge("SAME", goes_on(target), "no rounds any more"):
                return
            trial.runs += 1
        target.send("stop")
        target.stdout.wait_lines("held")
        target.go()
        judge_same(trial, alone, plain(target.finish(), VARIES))
        trial.figure(f"{trial.runs} profilers in {trial.options.soak} h")
