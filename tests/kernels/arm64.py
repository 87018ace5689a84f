# SPDX-License-Identifier: GPL-2.0-or-later
"""The row of `make kernels` for arm64: what `make cross` has built counts programs that count their
own calls, in a machine that has busybox and nothing else. So a shell script runs there, and what it
prints is judged here."""

import json
import os
import re

import image
import machine

BUILD = os.path.join(image.ROOT, "build-arm64")
# Each is run as a command and by -p: direct and mutual recursion, threads, calls one by one,
# longjmp, children.
PROGRAMS = [("recursion", 65, 2), ("threads", 8, 200, 4), ("calc-pie", 20), ("longjmp", 3, 20),
            ("forks", 3, 10)]
# PROGRAM ARGUMENT...: an untraced run, a command, a process that waits; then what they printed.
SCRIPT = """
trace='./build-arm64/proftrace -q --max-overhead none -f json -F *'
show() { echo "=== $1 $2"; cat "$3"; echo; }
run() {
	name=$1 path=./build-arm64/programs/$1
	shift
	$path "$@" >/tmp/alone
	show "$name" "untraced $?" /tmp/alone
	$trace -o /tmp/json -- $path "$@" >/tmp/out
	show "$name" "command $?" /tmp/out
	show "$name" "profile" /tmp/json
	rm -f /tmp/in /tmp/json
	# The loops below read these before the new processes have emptied them.
	: >/tmp/out
	: >/tmp/err
	mkfifo /tmp/in
	$path --wait "$@" </tmp/in >/tmp/out &
	target=$!
	exec 3>/tmp/in
	until grep -q ready /tmp/out; do sleep 0.1; done
	./build-arm64/proftrace --max-overhead none -f json -F '*' -o /tmp/json -p $target 2>/tmp/err &
	tracer=$!
	until grep -q 'proftrace: tracing ' /tmp/err || ! kill -0 $tracer; do sleep 0.1; done
	echo go >&3
	exec 3>&-
	wait $target
	status=$?
	wait $tracer || cat /tmp/err >&2
	show "$name" "live $status" /tmp/out
	show "$name" "profile" /tmp/json
	rm -f /tmp/json
}
set -f
./build-arm64/proftrace doctor >/tmp/out
show doctor $? /tmp/out
"""
BACKEND = "uprobe_multi"


def script():
    return SCRIPT + "".join("run " + " ".join(map(str, words)) + "\n" for words in PROGRAMS)


def sections(stdout):
    """[(title, text)] of what the script has printed."""
    parts = re.split(r"^=== (.*)\n", stdout, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def numbers(text, word):
    return {name: int(number) for name, number in re.findall(rf"^{word} (\S+) (\d+)$", text, re.M)}


def judge_run(alone, traced, profile):
    """Returns all that is wrong with a traced run's (title, text); [] if nothing."""
    wrong = []
    if (traced[0].split()[-1], traced[1].removeprefix("ready\n")) != (alone[0].split()[-1],
                                                                     alone[1]):
        wrong.append(f"{traced[0]}: {traced[1]!r}, untraced {alone[1]!r}")
    expected = numbers(traced[1], "COUNT")
    for name, calls in numbers(traced[1], "CHILDREN").items():
        expected[name] += calls
    try:
        document = json.loads(profile)
    except json.JSONDecodeError:
        return wrong + [f"{traced[0]}: no profile"]
    counted = {function["name"]: function["calls"] for function in document["functions"]}
    counted = {name: counted.get(name, 0) for name in expected}
    if not expected or counted != expected or document["accounting"]["lost"]:
        wrong.append(f"{traced[0]}: {counted}, not {expected}; {document['accounting']}")
    return wrong


def judge(stdout):
    """Returns all that is wrong, a line each."""
    found = sections(stdout)
    wrong = []
    if len(found) != 1 + 5 * len(PROGRAMS):
        return [f"{len(found)} sections of {1 + 5 * len(PROGRAMS)}: it did not come to its end"]
    title, doctor = found.pop(0)
    if title != "doctor 0" or not re.search(rf"^yes +{BACKEND}\b", doctor, re.M):
        wrong.append(f"{title}: {doctor}")
    while found:
        alone, command, profile, live, later = found[:5]
        wrong += judge_run(alone, command, profile[1]) + judge_run(alone, live, later[1])
        del found[:5]
    return wrong


def what_it_lacks():
    """The first file that the machine is to have and that has not been built, or None."""
    paths = [os.path.join(BUILD, "proftrace")]
    paths += [os.path.join(BUILD, "programs", words[0]) for words in PROGRAMS]
    return next((path for path in paths if not os.path.exists(path)), None)


def run(limit, logs=None):
    """Boots the machine. Returns (None or why it failed, what to show)."""
    if lacks := what_it_lacks():
        raise image.ImageError(f'there is no {lacks}: run make cross CROSS_TARGETS="all foreign"')
    ended = machine.boot("arm64", ["sh", "-c", script()], BUILD, limit=limit, memory="2G",
                         architecture="arm64")
    if logs:
        logs(ended)
    if ended.why:
        return "machine", "\n".join([ended.stdout, ended.stderr, *machine.telling(ended.log),
                                     ended.why, ""])
    if wrong := judge(ended.stdout):
        return f"{len(wrong)} wrong", "\n".join([*wrong, ended.stderr, ""])
    return None, f"{2 * len(PROGRAMS)} runs in {ended.seconds:.0f} s\n"
