# SPDX-License-Identifier: GPL-2.0-or-later
"""The life of a process: fork, exec, threads, PIDs, libraries that come and go, stops, company."""

import json
import re
import signal

import engine
import harness
from engine import Case, judge_counts, judge_identity, judge_same, judge_text, plain, stage
from harness import program
from rows import row

LIFE = "life of a process"


def case(title, *args, short=False, **more):
    @row(LIFE, title, short=short)
    def run(trial):
        Case(*args, **more).run(trial)


case("exec of the same file, with frames open", "exec", 100, 5, short=True)
case("exec of another file", "exec", 100, "--", "/bin/echo", "done", short=True)
case("exec of the same file, by file", "exec", 100, 5, by_file=True)
case("vfork, posix_spawn, system", "spawns", 5, hold=True, short=True)
case("1,000 forked children", "forks", 1000, 10, hold=True, also=("CHILDREN",))
case("1,000 forked children, left alone", "forks", 1000, 10, hold=True,
     options=("--no-children",))
case("1,000 forked children, traced by file", "forks", 1000, 10, by_file=True, also=("CHILDREN",))
case("1,000 short-lived threads", "threads", 1000, 10, hold=True)
for title, library in (("an unwinder", ()), ("C++ code", (program("libplugin.so"),))):
    case(f"8,000 threads, one of them loads {title}", "load_amid", 8000, *library, returns=True)
for how in (), ("--follow",):
    case("children in the same memory, on allocated stacks" + ", followed" * bool(how), "borrowers",
         200, 10, options=how, returns=True, hold=True, short=bool(how))
case("one PID for 200 processes", "pidreuse", 200, 10, by_file=True, short=True)
case("libraries opened and closed", "dlloop", 100, 10, hold=True,
     options=("-F", "*", "-F", "libshapes.so:*"), also=("LIBRARY",))


@row(LIFE, "1,000 forked children, followed")
def followed(trial):
    if not engine.has_option("--follow"):
        raise AssertionError("proftrace has no --follow")
    Case("forks", 1000, 10, options=("--follow",), also=("CHILDREN",)).run(trial)


def live(it, name, *args):
    """A target that was told to begin."""
    target = it.target(name, *args, how="--hold")
    target.go()
    return target


@row(LIFE, "attach during a fork storm", short=True)
def fork_storm(trial):
    children = 200 if trial.options.short else 2000
    trial.without("EXACT", "it attaches amid the calls")
    with stage(trial) as it:
        alone = plain(it.process(program("forkstorm"), children).finish())
        for _ in range(trial.options.iterations):
            target = live(it, "forkstorm", children)
            target.stdout.wait_lines("storm")
            tracer = it.proftrace("-f", "json", "-p", target.pid)
            tracer.wait_tracing()
            target.stdout.wait_lines("held")
            document = json.loads(tracer.interrupt().stdout)
            judge_text(trial, target.pid, program("forkstorm"))
            target.go()
            done = target.finish()
            done.stdout = re.sub("^(ready|held)\n", "", done.stdout, flags=re.M)
            judge_same(trial, alone, plain(done))
            judge_identity(trial, document)
            trial.runs += 1


def alive(target, more=1):
    """`throwing` goes on: it says so after each 1,000 catches."""
    target.stdout.wait_lines("alive", target.stdout.text().count("alive\n") + more)


@row(LIFE, "come and go while threads throw", short=True)
def throw_while_detaching(trial):
    times = 2 if trial.options.short else 20
    path = program("throwing")
    with stage(trial) as it:
        alone = it.process(path, 10, 2)
        alone.send("stop")
        alone = plain(alone.finish(), ("alive", "ready", "held"))
        target = live(it, "throwing", 10, 2)
        for _ in range(times):
            tracer = it.proftrace("-f", "json", "-p", target.pid).wait_tracing()
            alive(target)
            judge_identity(trial, json.loads(tracer.interrupt().stdout))
            alive(target)
            judge_text(trial, target.pid, path)
            trial.runs += 1
            it.forget(tracer)
        target.send("stop")
        target.stdout.wait_lines("held")
        target.go()
        judge_same(trial, alone, plain(target.finish(), ("alive", "ready", "held")))


@row(LIFE, "a new process with the PID of a traced one")
def reused_pid(trial):
    """The profiler ends with the process that it was given; one that gets its PID is not traced."""
    with stage(trial) as it:
        path = program("pidreuse")
        alone = plain(it.process(path, 2, 10).finish())
        target = it.process(path, "--wait", 2, 10)
        target.wait_ready()
        tracer = it.proftrace("-f", "json", "-d", "30", "-p", target.pid).wait_tracing()
        target.kill()
        document = json.loads(tracer.finish().stdout)
        judge_identity(trial, document)
        judge_counts(trial, document, {"work": 0}, "of the process that was killed at once")
        judge_same(trial, alone, plain(it.process(path, 2, 10).finish()), "afterwards")
        trial.runs += 1


def stepping(trial, meddle, tracers=1, rounds=20):
    """`steps` makes calls, round by round, untraced and traced; in each round it calls
    meddle(it, target, tracers), without tracers the first time."""
    with stage(trial) as it:
        results = []
        for number in (0, tracers):
            target = it.target("steps", how="--hold")
            running = [it.proftrace("-f", "json", "-p", target.pid).wait_tracing()
                       for _ in range(number)]
            target.go()
            for turn in range(rounds):
                meddle(it, target, running)
                target.step(str(turn + 1))
            documents = [json.loads(tracer.interrupt().stdout) for tracer in running]
            if running:
                judge_text(trial, target.pid, program("steps"))
            results.append(target.finish())
        judge_same(trial, *map(plain, results))
        for document in documents:
            judge_identity(trial, document)
            judge_counts(trial, document, results[1].counts)
            trial.runs += 1


def stop_and_go(process):
    process.signal(signal.SIGSTOP)
    engine.poll(lambda: harness.stat_fields(process.pid)[0] == "T")
    process.signal(signal.SIGCONT)


@row(LIFE, "SIGSTOP and SIGCONT of the target", short=True)
def stopped_target(trial):
    """Amid its calls, if it happens so."""
    def meddle(_it, target, _tracers):
        done = target.stdout.text().count("done\n") + 1
        target.send("1000")
        stop_and_go(target)
        target.stdout.wait_lines("done", done)
    stepping(trial, meddle)


@row(LIFE, "SIGSTOP and SIGCONT of the profiler", short=True)
def stopped_profiler(trial):
    """The profiler is stopped and goes on: its waits are interrupted each time."""
    stepping(trial, lambda _it, _target, tracers: [stop_and_go(tracer) for tracer in tracers])


@row(LIFE, "two profilers on one target", short=True)
def two_profilers(trial):
    stepping(trial, lambda *_: None, tracers=2)


@row(LIFE, "a profiler that comes and goes beside another")
def coming_and_going(trial):
    def meddle(it, target, tracers):
        if not tracers:
            return
        other = it.proftrace("-f", "json", "-F", "inner", "-p", target.pid).wait_tracing()
        other.interrupt()
        it.forget(other)
    stepping(trial, meddle, rounds=10)


GDB = ["gdb", "-q", "-nx", "-batch", "-p"]


@row(LIFE, "a debugger with a breakpoint on a traced function", needs=("gdb",))
def debugger(trial):
    """The debugger comes after the profiler and leaves before it, and the other way round."""
    path, calls = program("steps"), 20
    with stage(trial) as it:
        alone = it.target("steps", how="--hold")
        alone.go()
        alone.step(str(calls))
        alone = plain(alone.finish())
        for first in ("profiler", "debugger"):
            target = it.target("steps", how="--hold")
            tracer = None
            if first == "profiler":
                tracer = it.proftrace("-f", "json", "-p", target.pid).wait_tracing()
            # The breakpoint's commands let it go on, so that it stays up to the end of the target.
            gdb = it.process(*GDB, target.pid, "-ex", "break inner", "-ex",
                             f"ignore 1 {calls * 2}", "-ex", "shell echo broken", "-ex", "continue",
                             "-ex", "info breakpoints")
            gdb.stdout.wait_lines("broken")
            if not tracer:
                # The target stands still under the debugger until gdb has said `continue`.
                tracer = it.proftrace("-f", "json", "-p", target.pid).wait_tracing()
            target.go()
            target.step(str(calls))
            document = json.loads(tracer.interrupt().stdout)
            done = target.finish()
            judge_same(trial, alone, plain(done), f"{first} first")
            judge_identity(trial, document)
            judge_counts(trial, document, done.counts, f"{first} first")
            gdb.finish()
            trial.runs += 1
        trial.without("CLEAN", f"the text of {path} is the debugger's, too")

@row(LIFE, "a program that uftrace has patched", needs=("uftrace",))
def patched_by_uftrace(trial):
    """uftrace has put calls over the nops at its entries. We come and leave, before it has made a
    call and after; uftrace sees all of them."""
    path = program("redzone-nops")
    trial.without("CLEAN", f"the text of {path} is uftrace's, too")
    with stage(trial) as it:
        data = it.path("data")
        alone = plain(it.process(path).finish())
        for called in (False, True):
            target = it.keep(engine.Waiting(["uftrace", "record", "-P", ".", "-d", data, path, "--hold"]))
            target.wait_ready()
            with open(f"/proc/{target.pid}/task/{target.pid}/children", encoding="ascii") as file:
                pid = int(file.read())
            tracer = it.proftrace("-f", "json", "-F", "*", "-p", pid).wait_tracing()
            trial.judge("SAME", "patched in memory" in tracer.stderr.text(), tracer.stderr.text)
            if called:
                target.go()
                target.stdout.wait_lines("held")
            document = json.loads(tracer.interrupt().stdout)
            target.go()
            if not called:
                target.stdout.wait_lines("held")
                target.go()
            done = target.finish()
            done.stdout = re.sub("^(ready|held)\\n", "", done.stdout, flags=re.M)
            judge_same(trial, alone, plain(done), "called" if called else "not called")
            judge_identity(trial, document)
            if called:
                judge_counts(trial, document, done.counts)
            report = it.process("uftrace", "report", "-d", data, "-f", "call").finish()
            seen = {words[1]: int(words[0]) for words in map(str.split, report.stdout.splitlines())
                    if len(words) == 2 and words[0].isdigit()}
            missing = {name: count for name, count in done.counts.items()
                       if name in seen and seen[name] != count}
            trial.judge("SAME", "outer" in seen and not missing,
                        lambda: f"uftrace misses calls of {missing}: {report.stdout}")
            trial.runs += 1
