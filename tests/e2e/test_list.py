# SPDX-License-Identifier: GPL-2.0-or-later
"""-l: the plan, checked against objdump's disassembly of real objects."""

import json
import os
import re
import subprocess

import callgrind
import harness
import schemas
from harness import PYTHON, program

INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t?(.*)$")
PREFIXES = re.compile(r"^((?:bnd|notrack|rex\S*|cs|ds|data16|repz|repnz) )*")
DIRECT = r" +[0-9a-f]+\b"

CLASSES = {
    "nop5": lambda code, text: len(code) == 5 and text.startswith("nop"),
    # A nop of more than eight bytes has prefixes that the kernel does not know of a nop.
    "nop": lambda code, text: len(code) <= 8 and re.match(r"nop|xchg +%ax,%ax", text),
    "push": lambda code, text: re.match(r"push +%r", text),
    "jmp": lambda code, text: re.match("jmp" + DIRECT, text),
    "jcc": lambda code, text: re.match("j[a-z]+" + DIRECT, text) and not text.startswith("jmp"),
    "call": lambda code, text: re.match("call" + DIRECT, text),
}


class Disassembly:
    def __init__(self, path):
        self.segments = callgrind.Segments(path)
        done = subprocess.run(["objdump", "-d", "-w", path], stdout=subprocess.PIPE, check=True,
                              timeout=120)
        self.at = {}
        for line in done.stdout.decode().splitlines():
            if match := INSTRUCTION.match(line):
                address, code, text = match.groups()
                self.at[int(address, 16)] = bytes.fromhex(code), PREFIXES.sub("", text)

    def body(self, function):
        """The instructions of a function, as text."""
        start = self.segments.address(function["offset"])
        return [self.at[address][1] for address in range(start, start + function["size"])
                if address in self.at]

    def __getitem__(self, file_offset):
        return self.at.get(self.segments.address(file_offset))


class List(harness.TestCase):
    def plan(self, *args):
        done = self.run_proftrace("-l", "-f", "json", *args)
        self.assertEqual(done.status, 0, str(done))
        plan = json.loads(done.stdout)
        schemas.check(plan)
        return plan

    def test_code_that_is_read(self):
        """A section whose begin and end the program knows: it may copy it, or sum it up."""
        path = program("checked")
        plan = self.plan("-x", path, "-F", "*checked_sum")
        self.assertEqual([f["name"] for f in plan["functions"]], ["unchecked_sum"])
        skipped, = (f for f in plan["skipped"] if f["name"] == "checked_sum")
        self.assertIn("may read its code", skipped["reason"])
        untraced = subprocess.run([path, "100"], stdout=subprocess.PIPE, check=True)
        traced = self.run_proftrace("-o", self.path("out"), "-F", "*checked_sum", "--", path, "100")
        self.assertEqual(traced.status, 0, str(traced))
        self.assertEqual(traced.stdout, untraced.stdout.decode())

    def test_closed_stdout(self):
        """The list ends quietly, as every other result does, not by a signal."""
        reader, writer = os.pipe()
        os.close(reader)
        for options in ((), ("-f", "json")):
            done = self.process(harness.PROFTRACE, "-l", *options, "-x", program("forks"),
                                stdout=writer).finish()
            self.assertEqual((done.status, done.stderr), (0, ""))
        os.close(writer)

    def test_tiny_leaves(self):
        """Tiny leaves are left out unless a filter names them, or there is no budget."""
        path = program("threads")
        budget = ("--max-overhead", "5", "-x", path)
        plan = self.plan(*budget)
        names = {f["name"] for f in plan["functions"]}
        reasons = {f["name"]: f["reason"] for f in plan["skipped"]}
        leaf, = (f for f in self.plan("-x", path)["functions"] if f["name"] == "d")
        count = len(Disassembly(path).body(leaf))
        self.assertEqual(reasons["d"],
                         f"a leaf of {count} instructions, cheaper than its probe (-F names it)")
        self.assertNotIn("d", names)
        self.assertLessEqual({"a", "b", "c", "work", "main"}, names)
        for more in (("-F", "*"), ("-F", "d"), ("--max-overhead", "none")):
            self.assertIn("d", {f["name"] for f in self.plan(*budget, *more)["functions"]}, more)

    def check_plan(self, path, least):
        """Each probe is on an instruction of the class that it says."""
        plan, disassembly = self.plan("-x", path), Disassembly(path)
        self.assertGreaterEqual(len(plan["functions"]), least)
        wrong = []
        for function in plan["functions"]:
            self.assertIn(function["exit"], ("return", "sites", "none"))
            self.assertEqual(function["exit"] == "sites", function["exit_sites"] > 0, function)
            self.assertTrue(function["reason"], function)
            self.assertEqual(os.path.realpath(function["module"]), os.path.realpath(path))
            site = disassembly[function["offset"] + function["site_offset"]]
            if not disassembly[function["offset"]] or not site:
                wrong.append((function, "no instruction begins there"))
            elif function["site"] == "step":
                if kinds := [kind for kind, test in CLASSES.items() if test(*site)]:
                    wrong.append((function, site, kinds))
            elif not CLASSES[function["site"]](*site):
                wrong.append((function, site))
        self.assertEqual(wrong[:10], [], f"{len(wrong)} wrong sites")
        for skipped in plan["skipped"]:
            self.assertTrue(skipped["name"] and skipped["reason"] and skipped["module"], skipped)
        return plan

    def check_returns(self, plan, path):
        """Exceptions and other stacks pass through this object: a return address may only be
        replaced where nothing else runs before it is used, that is, in functions that call and
        jump nowhere."""
        disassembly, wrong = Disassembly(path), []
        self.assertIn("sites", {f["exit"] for f in plan["functions"]})
        for function in plan["functions"]:
            start = disassembly.segments.address(function["offset"])
            if function["exit"] != "return":
                continue
            for text in disassembly.body(function):
                target = re.match(r"j[a-z]+ +([0-9a-f]+)\b", text)
                inside = target and 0 <= int(target[1], 16) - start < function["size"]
                if text.startswith("call") or (text.startswith("j") and not inside):
                    wrong.append((function["name"], text))
        self.assertEqual(wrong[:10], [], f"{len(wrong)} may be unwound through")

    def test_python(self):
        self.check_plan(os.path.realpath(PYTHON), 1000)

    def test_libstdcxx(self):
        path = self.library("libstdc++.so.6")
        self.check_returns(self.check_plan(path, 3000), path)

    def test_libsqlite3(self):
        self.check_plan(self.library("libsqlite3.so.0"), 200)

    def test_perl(self):
        self.check_plan("/usr/bin/perl", 500)

    def test_libc(self):
        self.check_plan(self.library("libc.so.6"), 1000)

    def test_our_programs(self):
        for name in ("entries", "recursion", "tailcall", "cold", "names", "calc-static", "throws"):
            self.check_plan(program(name), 4)

    def test_entries(self):
        plan = self.plan("-x", program("entries"))
        sites = {f["name"]: (f["site"], f["site_offset"]) for f in plan["functions"]}
        for name, site in (("push", ("push", 0)), ("endbr_push", ("push", 4)), ("mov", ("push", 3)),
                           ("nop5", ("nop5", 0)), ("nop", ("nop", 0)), ("jmp", ("jmp", 0)),
                           ("jcc", ("jcc", 0)), ("call", ("call", 0)), ("lea", ("step", 0)),
                           ("ret", ("step", 0))):
            self.assertEqual(sites["entry_" + name], site, name)
        self.assertEqual(sites["entry_endbr_nop5"][1], 4)
        # The kernel refuses a lock prefix, and does not say so.
        self.assertEqual(sites["entry_lock"][0], "push")

    def test_deny_list(self):
        plan = self.plan("-x", program("calc-static"))
        names = {function["name"] for function in plan["functions"]}
        self.assertEqual(names & {"_start", "__restore_rt", "_dl_start", "setjmp", "_setjmp",
                                  "__sigsetjmp", "getcontext", "vfork", "__clone", "_init", "_fini",
                                  "__start_context", "_dl_runtime_resolve_xsavec"}, set())
        skipped = {row["name"] for row in plan["skipped"]}
        self.assertIn("_start", skipped)

    def test_switching_stacks_and_throwing_avoids_return(self):
        for path in (program("coroutine"), program("throws")):
            self.check_returns(self.plan("-x", path), path)
        for function in self.plan("-x", program("calc-pie"))["functions"]:
            self.assertNotEqual(function["exit"], "return") # any process may map it
        plan = self.plan("--", program("calc-pie"))
        self.assertIn("return", {f["exit"] for f in plan["functions"]})

    def test_of_a_process_and_of_a_command(self):
        def sites(plan):
            return {(f["name"], f["offset"], f["site_offset"], f["site"])
                    for f in plan["functions"]}

        by_file = sites(self.plan("-x", program("calc-pie")))
        target = self.target("calc-pie")
        self.assertEqual(sites(self.plan("-p", target.pid)), by_file)
        self.assertEqual(harness.dirty_text(target.pid), [], "-l attaches nothing")
        done = self.run_proftrace("-l", "-f", "json", "--", program("calc-pie"))
        self.assertNotIn("COUNT", done.stdout, "-l runs nothing")
        self.assertEqual(sites(json.loads(done.stdout)), by_file)

    def test_what_functions_are_known_by(self):
        """-v tells by which tables: those of a program, and what is left in a copy without them."""
        path, bare = program("calc-pie"), self.path("bare")
        subprocess.run(["strip", "-o", bare, path], check=True)
        for file, tables in ((path, r"\.symtab( \+ \.dynsym)?"), (bare, r"(\.dynsym \+ )?\.eh_frame")):
            done = self.run_proftrace("-v", "-l", "-x", file)
            self.assertEqual(done.status, 0, str(done))
            self.assertRegex(done.stderr, rf"{file}: functions are known by {tables}\n")

    def test_filtered(self):
        plan = self.plan("-F", "cube", "-x", program("calc-pie"))
        self.assertEqual([function["name"] for function in plan["functions"]], ["cube"])

    def test_text(self):
        done = self.run_proftrace("-l", "-x", program("calc-pie"))
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))
        line, = (line for line in done.stdout.splitlines() if re.search(r"\bsquare\b", line))
        self.assertRegex(line, r"\b(push|step|jmp|jcc|call|nop|nop5)\b")
        self.assertRegex(line, r"\b(return|sites|none)\b")

    def test_names_of_files(self):
        """The ending of the output's name chooses JSON, as without -l; with any other name the list
        is text."""
        def listed(*args):
            done = self.run_proftrace("-l", "-F", "square", "-x", program("calc-pie"), *args)
            self.assertEqual((done.status, done.stdout, done.stderr), (0, "", ""), str(done))
            with open(args[-1], encoding="utf-8") as file:
                return file.read()

        plan = json.loads(listed("-o", self.path("plan.json")))
        schemas.check(plan)
        self.assertEqual([function["name"] for function in plan["functions"]], ["square"])
        for name in ("plan.txt", "plan.svg", "plan.of.calc"):
            self.assertRegex(listed("-o", self.path(name)), r"^OFFSET .*\n.* square\b")


if __name__ == "__main__":
    harness.main()
