# SPDX-License-Identifier: GPL-2.0-or-later
"""Sudden death, of the target and of the profiler."""

import contextlib
import json
import os
import random
import signal
import time

import harness
from engine import (judge_gone, judge_identity, judge_same, judge_text, load, plain, stage)
from harness import poll, program
from rows import row

DEATH = "sudden death"
MANY = {5000: "f_*", 100: "f_00*", 1: "f_0000"}
PHASES = ("start-up and attach", "tracing", "detach")


def rounds(target):
    """`many`: how often it has called all its functions."""
    answers = target.stdout.text().count("rounds ") + 1
    target.send("count")
    return int(target.stdout.wait_lines("rounds ", answers)[-1].split()[1])


def goes_on(target):
    """Whether the target still calls functions: its own counter advances."""
    before = rounds(target)
    return poll(lambda: rounds(target) > before + 1, harness.TIMEOUT)


def untraced(it):
    alone = it.process(program("many"))
    alone.send("stop")
    return plain(alone.finish(), VARIES)


VARIES = ("COUNT", "rounds", "ready", "held")


class Killer:
    """Kills profilers at random moments of the time that one takes to come and to go."""

    def __init__(self, trial, it, random_):
        self.trial, self.it, self.random = trial, it, random_
        self.ids = set()
        self.dirty = 0
        self.seconds = None
        self.landed = dict.fromkeys(PHASES, 0)

    def measure(self, start):
        """How long start-up and detach take."""
        began = time.monotonic()
        tracer = start()
        tracer.wait_tracing()
        traced = time.monotonic()
        tracer.signal(signal.SIGINT)
        tracer.finish()
        self.seconds = {PHASES[0]: traced - began, PHASES[1]: 0.1,
                        PHASES[2]: time.monotonic() - traced}
        self.it.forget(tracer)

    def kill(self, start, phase):
        """Until one was killed: it may have ended before. Every second one is stopped first, and
        asked which BPF objects it has."""
        while True:
            tracer = start()
            if phase != PHASES[0]:
                tracer.wait_tracing()
            if phase == PHASES[2]:
                tracer.signal(signal.SIGINT)
            time.sleep(self.random.uniform(0, self.seconds[phase]))
            if self.random.random() < 0.5:
                tracer.signal(signal.SIGSTOP)
                poll(lambda tracer=tracer: (harness.stat_fields(tracer.pid) or "X")[0] in "TZX")
                self.ids |= harness.Bpf.held_by(tracer.pid)
            tracer.signal(signal.SIGKILL)
            if tracer.popen.wait(harness.TIMEOUT) == -signal.SIGKILL:
                self.landed[phase] += 1
                self.trial.runs += 1
                return tracer
            self.it.forget(tracer)


def plan_kills(trial):
    """(phase, probes) for each kill, spread evenly."""
    cells = [(phase, probes) for probes in MANY for phase in PHASES]
    number = max(trial.options.kills // 2, len(PHASES))
    return sorted((cells[i % len(cells)] for i in range(number)), key=lambda cell: -cell[1])


def kill_row(title, at_start):
    @row(DEATH, title, short=True)
    def run(trial):
        trial.without("EXACT", "who is killed reports nothing")
        with stage(trial) as it:
            random_ = random.Random(trial.options.seed)
            killer = Killer(trial, it, random_)
            at_start(trial, it, killer)
            judge_gone(trial, killer.ids, "of killed profilers")
        landed = ", ".join(f"{number} in {phase}" for phase, number in killer.landed.items())
        trial.figure(f"killed {landed}; {killer.dirty} left changed text")


def kill_live(trial, it, killer):
    alone = untraced(it)
    target = it.target("many", how="--hold")
    target.go()
    measured = None
    for phase, probes in plan_kills(trial):
        def start(probes=probes):
            return it.proftrace("-f", "json", "-o", it.path("out"), "-F", MANY[probes], "-p",
                                target.pid)
        if measured != probes:
            killer.measure(start)
            measured = probes
        it.forget(killer.kill(start, phase))
        what = f"{probes} probes, killed in {phase}"
        killer.dirty += not judge_text(trial, target.pid, program("many"), what)
        if not trial.judge("SAME", not target.ended() and goes_on(target),
                           f"{what}: no rounds any more"):
            return
    target.send("stop")
    target.stdout.wait_lines("held")
    target.go()
    judge_same(trial, alone, plain(target.finish(), VARIES))


def kill_commands(trial, it, killer):
    """A command that the profiler has started goes on, or has not begun: it never stays stopped."""
    alone = untraced(it)
    measured = None
    for phase, probes in plan_kills(trial):
        def start(probes=probes):
            tracer = it.proftrace("-f", "json", "-o", it.path("out"), "-F", MANY[probes], "--",
                                  program("many"))
            return tracer
        if measured != probes:
            measure_command(killer, start)
            measured = probes
        tracer = killer.kill(start, phase)
        what = f"{probes} probes, killed in {phase}"
        try:
            killer.dirty += not judge_command(trial, tracer, alone, what)
        except (AssertionError, IndexError, OSError) as error:
            # The kernel ends a command together with the profiler that was about to start it.
            gone = poll(lambda tracer=tracer: not harness.session_members(tracer.pid))
            if phase != PHASES[0] or not gone:
                trial.fail("SAME", f"{what}: {error!r}")
        it.forget(tracer)


def measure_command(killer, start):
    began = time.monotonic()
    tracer = start()
    tracer.wait_tracing()
    traced = time.monotonic()
    tracer.signal(signal.SIGINT)
    tracer.send("stop")
    tracer.finish()
    killer.seconds = {PHASES[0]: traced - began, PHASES[1]: 0.1,
                      PHASES[2]: time.monotonic() - traced}
    killer.it.forget(tracer)


def runs_program(pid, name):
    with contextlib.suppress(OSError):
        return os.readlink(f"/proc/{pid}/exe") == program(name)
    return False


def judge_command(trial, tracer, alone, what):
    """Judges what the profiler left behind of its command; the command's code must be its
    file's."""
    def begun():
        return harness.session_members(tracer.pid)

    def settled():
        """Whether no process is left, or the program runs."""
        left = begun()
        return not left or all(runs_program(pid, "many") and
                               (harness.stat_fields(pid) or "Z")[0] not in "tT" for pid in left)

    if not trial.judge("SAME", poll(settled), lambda: f"{what}: left {begun()}, "
                       f"{[(harness.stat_fields(pid) or '?')[0] for pid in begun()]}"):
        return True
    clean = True
    for pid in begun():
        clean &= judge_text(trial, pid, program("many"), what)
        trial.judge("SAME", goes_on(tracer), f"{what}: no rounds any more")
        tracer.send("stop")
        trial.judge("SAME", poll(lambda: not begun(), harness.TIMEOUT), f"{what}: does not end")
        poll(lambda: tracer.stdout.ended)
        output = [line for line in tracer.stdout.text().splitlines()
                  if not line.startswith(VARIES)]
        trial.judge("SAME", "\n".join(output) == alone[1], f"{what}: {output}")
    return clean


kill_row("kill -9 of a profiler with 1, 100, 5,000 probes, -p", kill_live)
kill_row("kill -9 of a profiler with its command", kill_commands)


@row(DEATH, "kill -9 of the target at random moments", short=True)
def kill_target(trial):
    """Kills the target, also before the profiler has found it: then one line says so."""
    trial.without("SAME", "the target is killed")
    random_ = random.Random(trial.options.seed)
    path, times = program("many"), max(trial.options.kills // 6, 3)
    with stage(trial) as it:
        for turn in range(times):
            target = it.target("many")
            target.go()
            tracer = it.proftrace("-f", "json", "-p", target.pid)
            time.sleep(random_.uniform(0, 0.6))
            target.popen.kill()
            done = tracer.finish()
            if done.status == 0:
                judge_identity(trial, json.loads(done.stdout))
            else:
                trial.judge("EXACT", done.status == 1 and len(done.stderr.splitlines()) == 1 and
                            not done.stdout, lambda done=done: str(done))
            trial.runs += 1
            it.forget(tracer)
            it.forget(target)
        trial.figure(f"{times} processes of {os.path.basename(path)}, each killed within 0.6 s")


@row(DEATH, "kill -9 of a traced command")
def kill_command(trial):
    """The profiler ends with the status of one that was killed."""
    random_ = random.Random(trial.options.seed)
    with stage(trial) as it:
        for _ in range(max(trial.options.kills // 30, 2)):
            out = it.path("out")
            tracer = it.proftrace("-f", "json", "-o", out, "--", program("many")).wait_tracing()
            time.sleep(random_.uniform(0, 0.2))
            for pid in harness.session_members(tracer.pid):
                if runs_program(pid, "many"):
                    os.kill(pid, signal.SIGKILL)
            trial.judge("SAME", (status := tracer.finish().status) == 128 + signal.SIGKILL,
                        f"exit status {status}")
            judge_identity(trial, load(out))
            trial.runs += 1
