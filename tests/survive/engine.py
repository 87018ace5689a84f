# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs targets alone, under proftrace and under bpftrace, and judges what came of it."""

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import harness
from harness import PROFTRACE, Bpf, Process, Proftrace, poll, program

TIMEOUT = 120
LEAVES_SECONDS = {"link": 5, "prog": 5, "map": 30}
BPFTRACE_PROBES = 8
BURSTS = "--max-overhead", "5", "--burst", "2ms"
CHECKER = harness.TestCase()


# Keeping track: whatever is started here ends here.

class Waiting(Process):
    """A program of tests/programs that waits for a line, and may wait again at its end."""

    step = harness.Target.step


class Stage:
    """A row's processes and scratch folder."""

    def __init__(self, trial):
        self.trial = trial
        self.processes = []
        self.traced = False
        self.directory = tempfile.mkdtemp(prefix="proftrace-survive-")
        os.chmod(self.directory, 0o755)
        self.bpf_before = Bpf.ids()

    def path(self, name):
        return os.path.join(self.directory, name)

    def keep(self, process):
        self.processes.append(process)
        return process

    def process(self, *argv, **popen):
        return self.keep(Process(list(map(str, argv)), **popen))

    def proftrace(self, *args, **popen):
        self.traced = True
        return self.keep(Proftrace(*args, **popen))

    def target(self, name, *args, how="--wait", **popen):
        """A program of tests/programs that waits for a line; with how="--hold" at its end too."""
        target = self.keep(Waiting([program(name), how, *map(str, args)], **popen))
        target.wait_ready()
        return target

    def forget(self, process):
        process.kill()
        self.processes.remove(process)

    def leftovers(self, kinds):
        new = {(kind, number) for kind, number in Bpf.ids() - self.bpf_before if kind in kinds}
        return new and Bpf.without_owner(new)

    def close(self):
        """Ends what still runs, and judges what the profilers have left in the kernel."""
        for process in self.processes:
            if isinstance(process, Proftrace):
                process.kill()
        for kind, seconds in LEAVES_SECONDS.items() if self.traced else ():
            left = poll(lambda kind=kind: not self.leftovers((kind,)), seconds, 0.05)
            self.trial.judge("CLEAN", left, lambda kind=kind:
                             f"left in the kernel: {self.leftovers((kind,))}")
        for process in self.processes:
            process.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


@contextlib.contextmanager
def stage(trial):
    it = Stage(trial)
    try:
        yield it
    finally:
        it.close()


# SAME.

def plain(result, varies=()):
    """(status, output, errors) of a run, without the parts that may differ from run to run: lines
    that begin with a word of `varies`, and addresses and PIDs in what goes to standard error."""
    status = result.status if result.status >= 0 else 128 - result.status
    lines = [line for line in result.stdout.splitlines() if not line.startswith(tuple(varies))]
    errors = re.sub(r"0x[0-9a-f]+|==\d+==", "*", result.stderr)
    errors = re.sub(r"^(proftrace: .*|SUMMARY.*|=+)\n", "", errors, flags=re.M)
    return status, "\n".join(lines), errors


def differs(alone, traced):
    """Tells in a line how a run differs from the untraced one."""
    for what, one, other in zip(("exit status", "output", "standard error"), alone, traced):
        if one != other:
            return f"{what} {other!r:.300} instead of {one!r:.200}"
    return "nothing"


def judge_same(trial, alone, traced, what=""):
    return trial.judge("SAME", alone == traced, lambda: f"{what}: {differs(alone, traced)}")


# CLEAN.

def dirty_text(pid, path=None):
    """The mappings of `path` (of any file) in a process that differ from it; at its end none."""
    try:
        lines = harness.dirty_text(pid)
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [line for line in lines if not path or line.endswith(os.path.realpath(path))]


def judge_text(trial, pid, path, what=""):
    """The text of a live process; whether it is its file's. Others may be probing other files."""
    good = poll(lambda: not dirty_text(pid, path), LEAVES_SECONDS["link"], 0.02)
    return trial.judge("CLEAN", good, lambda: f"{what}: text differs from its file: "
                       f"{dirty_text(pid, path)}")


def judge_gone(trial, ids, what=""):
    """Judges whether all of these BPF objects are gone. Ids are not used again."""
    for kind, seconds in LEAVES_SECONDS.items():
        ours = {key for key in ids if key[0] == kind}
        gone = not ours or poll(lambda ours=ours: not ours & Bpf.ids(), seconds, 0.05)
        trial.judge("CLEAN", gone, lambda ours=ours: f"{what}: still there: {ours & Bpf.ids()}")


# EXACT.

def judge_identity(trial, document, what=""):
    """The document is sound, entered = returned + unwound + open among the rest."""
    try:
        CHECKER.check(document)
        problem = ""
    except AssertionError as error:
        problem = str(error)
    trial.judge("EXACT", not problem, f"{what}: {problem}")
    trial.calls += document["accounting"]["entered"]


def is_called(function, names):
    """Whether a function goes by one of these; the instances of a generic one share f[...]."""
    generic = re.sub(r"\[.*\]", "[...]", function["name"])
    return not names.isdisjoint((function["name"], function["symbol"], generic))


def calls_of(document, name):
    names = set(name.split("|"))
    return sum(f["calls"] for f in document["functions"] if is_called(f, names))


def judge_counts(trial, document, counts, what=""):
    """Judges whether the document reports all that the target has counted, as calls or as lost."""
    seen = {name: calls_of(document, name) for name in counts}
    lost = document["accounting"]["lost"]
    wrong = {name: f"{seen[name]} of {true}" for name, true in counts.items() if seen[name] != true}
    if lost:  # of which functions nobody knows
        good = all(seen[name] <= true for name, true in counts.items()) and \
            sum(counts.values()) - sum(seen.values()) <= lost
    else:
        good = not wrong
    trial.counted |= bool(counts)
    trial.judge("EXACT", good, f"{what}: calls seen, lost {lost}: {wrong}")


def load(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return json.load(file)


# Exit strategies.

@functools.cache
def has_option(name):
    done = subprocess.run([PROFTRACE, "--help"], stdout=subprocess.PIPE, check=True)
    return name in done.stdout.decode()


def strategies(document):
    """How else the exits could be seen without harm, by the document of a run by default. `return`
    everywhere is dangerous unless the planner has chosen it everywhere."""
    if not has_option("--exits"):
        return []
    exits = document["probes"]["exits"]
    safe = ["sites", "none"]
    if exits["return"] and not exits["sites"] and not exits["none"]:
        safe.append("return")
    return safe


# bpftrace, for comparison.

def deaths(alone, traced):
    """How a target has fared, in few words."""
    status, output, errors = traced
    if alone == traced:
        return "same"
    found = re.search(r"terminate called|unexpected return pc|fatal error: .*|panic.*", errors)
    if status != alone[0] and status > 128:
        name = signal.Signals(status - 128).name if status - 128 < 65 else str(status)
        return f"DIES: {name}" + (f", \"{found[0]:.40}\"" if found else "")
    if found:
        return f"DIES: \"{found[0]:.40}\""
    if status != alone[0]:
        return f"DIFFERS: exit status {status}"
    return "DIFFERS: " + ("output" if output != alone[1] else "standard error")


def under_bpftrace(trial, path, symbols, run, alone):
    """Runs a target with a uprobe and a uretprobe of bpftrace's on each of these symbols."""
    if not trial.options.bpftrace:
        return
    if not shutil.which("bpftrace"):
        trial.bpftrace = "not installed"
        return
    symbols = sorted(symbols)[:BPFTRACE_PROBES]
    if not symbols:
        trial.bpftrace = "no function to probe"
        return
    text = 'BEGIN { printf("ready\\n"); } ' + " ".join(
        f'uprobe:{path}:"{s}" {{ @[probe] = count(); }} '
        f'uretprobe:{path}:"{s}" {{ @r[probe] = count(); }}' for s in symbols)
    tracer = Process(["bpftrace", "-e", text])
    try:
        if not tracer.stdout.wait_lines("ready"):
            words = tracer.finish().stderr.strip().splitlines()
            trial.bpftrace = f"cannot: {words[-1] if words else 'no word'}"[:60]
            return
        try:
            trial.bpftrace = deaths(alone, run())
        except AssertionError:
            trial.bpftrace = "DIES: hangs"
    finally:
        tracer.signal(signal.SIGINT)
        try:
            tracer.finish(20)
        except AssertionError:
            pass  # it was killed


# A target by each way that there is to trace it.

class Case:
    """A program that ends by itself, and what is to be expected of it.

    varies: words that begin lines which differ from run to run. returns: each call of a counted
    function returns, so none may be reported as unwound. word: what its lines of counts begin with.
    also: more such words, for calls by what `options` add. hold: it can wait at its end."""

    def __init__(self, path, *args, options=(), varies=(), returns=False, hold=False, word="COUNT",
                 also=(), by_file=False, patterns=(), **popen):
        self.path = path if "/" in path else program(path)
        self.args = tuple(map(str, args))
        self.options = tuple(options)
        self.varies = tuple(varies)
        self.returns, self.hold, self.word, self.also = returns, hold, word, also
        self.by_file = by_file
        self.patterns = patterns
        self.names = set()  # of the functions that it counts, when it is let alone
        self.popen = popen

    def streams(self):
        return {"stdin": subprocess.DEVNULL, **self.popen}

    def alone(self, it):
        return it.process(self.path, *self.args, **self.streams()).finish(TIMEOUT)

    def counts(self, result):
        counts = result.numbers(self.word)
        for word in self.also:
            for name, number in result.numbers(word).items():
                counts[name] = counts.get(name, 0) + number
        return counts

    def check(self, trial, document, result, what):
        judge_identity(trial, document, what)
        counts = self.counts(result)
        trial.judge("EXACT", bool(counts) == bool(self.names), f"{what}: it prints no counts")
        if counts:
            judge_counts(trial, document, counts, what)
        trial.runs += 1

    def symbols(self, document, more=()):
        names = set().union(*(name.split("|") for name in self.names), more)
        return sorted({f["symbol"] for f in document["functions"] if is_called(f, names)})

    def filters(self, document):
        return [word for symbol in self.symbols(document) for word in ("-F", symbol)]

    def by_command(self, trial, it, alone, *options):
        """Returns (document, result), or None if it came to no result."""
        what = " ".join(("command", *options))
        out = it.path("out.json")
        tracer = it.proftrace("-q", "-f", "json", "-o", out, *self.options, *options, "--",
                              self.path, *self.args, **self.streams())
        result = tracer.finish(TIMEOUT)
        judge_same(trial, alone, plain(result, self.varies), what)
        try:
            document = load(out)
        except (OSError, ValueError) as error:
            trial.fail("EXACT", f"{what}: no result: {error}: {result.stderr[-200:]}")
            return None
        os.unlink(out)
        self.check(trial, document, result, what)
        return document, result

    def run_by_file(self, trial, it, alone, *options):
        what = " ".join(("-x", *options))
        tracer = it.proftrace("-f", "json", *self.options, *options, "-x", self.path).wait_tracing()
        result = self.alone(it)
        judge_same(trial, alone, plain(result, self.varies), what)
        tracer.signal(signal.SIGINT)
        document = json.loads(tracer.finish(TIMEOUT).stdout)
        self.check(trial, document, result, what)
        return document, result

    def held(self, it, tracer_options=None):
        """Runs it up to its end. Returns (target, tracer); without options it is not traced."""
        target = it.process(self.path, "--hold", *self.args)
        target.wait_ready()
        tracer = None
        if tracer_options is not None:
            tracer = it.proftrace("-f", "json", *self.options, *tracer_options, "-p", target.pid)
            tracer.wait_tracing()
        target.go()
        target.stdout.wait_lines("held", timeout=TIMEOUT)
        return target, tracer

    def by_pid(self, trial, it, *options):
        """Attaches to a live one, and looks at its memory before it ends."""
        what = " ".join(("-p", *options))
        target, _ = self.held(it)
        target.go()
        alone = plain(target.finish(TIMEOUT), self.varies)
        target, tracer = self.held(it, options)
        if target.stdout.ended:  # it died before its end
            judge_same(trial, alone, plain(target.finish(TIMEOUT), self.varies), what)
            return
        tracer.signal(signal.SIGINT)
        done = tracer.finish(TIMEOUT)
        judge_text(trial, target.pid, self.path, what)
        target.go()
        result = target.finish(TIMEOUT)
        judge_same(trial, alone, plain(result, self.varies), what)
        self.check(trial, json.loads(done.stdout), result, what)

    def compare(self, trial, it, document, alone):
        under_bpftrace(trial, self.path, self.symbols(document, self.patterns),
                       lambda: plain(self.alone(it), self.varies), alone)

    def run(self, trial):
        """Traced by every way and strategy, as often as was asked for."""
        with stage(trial) as it:
            untraced = self.alone(it)
            alone, self.names = plain(untraced, self.varies), set(self.counts(untraced))
            first = self.run_by_file if self.by_file else self.by_command
            for turn in range(trial.options.iterations):
                ran = first(trial, it, alone)
                if not ran:
                    return
                others = [("--exits=" + name,) for name in strategies(ran[0])]
                for options in others if not trial.options.short else ():
                    first(trial, it, alone, *options)
                if self.returns:
                    self.check_returns(trial, first, it, alone, ran[0])
                if self.hold:
                    for options in [(), *(others if not trial.options.short else ())]:
                        self.by_pid(trial, it, *options)
                if turn == 0:
                    self.compare(trial, it, ran[0], alone)

    def run_in_bursts(self, trial):
        """With probes of dropped functions that come and go while it runs."""
        with stage(trial) as it:
            alone = plain(self.alone(it), self.varies)
            for _ in range(trial.options.iterations):
                tracer = it.proftrace("-f", "json", "-o", it.path("out.json"), "-F", "*", *BURSTS,
                                      "--", self.path, *self.args, **self.streams())
                judge_same(trial, alone, plain(tracer.finish(TIMEOUT), self.varies), "bursts")
                document = load(it.path("out.json"))
                judge_identity(trial, document, "bursts")
                trial.judge("EXACT", document["accounting"].get("bursts"), "no burst was taken")
                trial.runs += 1

    def check_returns(self, trial, first, it, alone, document):
        ran = first(trial, it, alone, *self.filters(document))
        if ran:
            accounting = ran[0]["accounting"]
            trial.judge("EXACT", accounting["unwound"] == accounting["open"] == 0,
                        f"every call returns, but the accounts say {accounting}")
