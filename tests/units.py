# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the unit tests, programs of cmocka, side by side."""

import concurrent.futures
import glob
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A hang, in seconds: test_jump_swaps takes 270 to 410 on a machine with a load of 20.
TIMEOUT = 1800
# A line of cmocka's TAP, and what it says about it up to the next one.
RESULT = re.compile(r"^(\s*((?:not )?ok)\s+\d+\s+(-|# SKIP)\s+(.*)\n)"
                    r"((?:(?!\s*(?:not )?ok\s).*\n)*)", re.M)


def run_program(binary):
    """(exit status, or what else has ended it; output)."""
    with subprocess.Popen([binary], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, cwd=ROOT,
                          env=os.environ | {"CMOCKA_MESSAGE_OUTPUT": "TAP"}) as program:
        try:
            output = program.communicate(timeout=TIMEOUT)[0]
            status = program.returncode
        except subprocess.TimeoutExpired:
            program.kill()
            output, status = program.communicate()[0], f"none after {TIMEOUT} s"
    return status, output.decode(errors="replace")


def report(group, status, output, tally):
    """Reports the results of a program. A test that was announced and has no result has failed with
    the program."""
    results = [(f"unit {group}.{test}", verdict != "ok" or mark != "-", line + detail)
               for line, verdict, mark, test, detail in RESULT.findall(output)]
    wanted = tally.chosen([name for name, _, _ in results])
    for name, bad, detail in results:
        if name in wanted:
            tally.report(name, detail if bad else None)
    planned = sum(map(int, re.findall(r"^\s*1\.\.(\d+)", output, re.M)))
    failed = any(bad for _, bad, _ in results)
    if (status != 0 and not failed) or len(results) < planned or not results:
        why = f"exit status {status}, {len(results)} of {planned} tests reported\n{output}"
        tally.report(f"unit {group}", why, chosen_by=f"unit {group}.")


def run(tally, jobs):
    folder = os.path.join(ROOT, tally.build, "unit")
    binaries = [path for path in sorted(glob.glob(os.path.join(folder, "*")))
                if os.access(path, os.X_OK) and os.path.isfile(path)]
    if not binaries:
        tally.report("unit", "there are no unit tests: run `make tests`")
    binaries = [path for path in binaries
                if tally.may_choose(os.path.basename(path), path)]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for path, (status, output) in zip(binaries, pool.map(run_program, binaries)):
            report(os.path.basename(path), status, output, tally)
