# SPDX-License-Identifier: GPL-2.0-or-later
"""Values by the names of parameters and members: those that the program prints itself."""

import json
import os
import random
import re
import subprocess

import harness
from harness import program
from test_arguments import Recordings

PARAMETERS = program("parameters-debug")
METHODS = program("methods")


class Parameters(Recordings):
    def expected(self, call):
        return {"delta": call["delta"], "name": call["text"], "last": call["last"],
                "mode": call["mode"], "tiny": call["tiny"], "port": call["port"],
                "req": call["req"]}

    def members(self, call):
        return {"req->status": call["status"], "req->path": call["path"],
                "req->port": call["member"], "req->load": call["load"],
                "req->id": call["id"] if call["id"] < 2 ** 63 else str(call["id"]),
                "req->weight": call["weight"],
                "req->tag.level": call["level"], "req->tag.label.text": call["label"]}

    def views(self, call):
        return {"delta:u": call["delta"] % 2 ** 32, "req->id:x16": hex(call["id"] & 0xffff)}

    def check_values(self, target, expected):
        names = ", ".join(expected(dict.fromkeys(
            ("delta", "last", "mode", "tiny", "port", "req", "status", "member", "load", "id",
             "weight", "level", "label"), 0) | {"text": "", "path": ""}))
        recording, done = self.record("-F", "handle", "-A", f"handle({names})", target=(target,))
        calls = self.printed(done)["handle"]
        self.assertEqual(len(calls), 8)
        self.assertEqual(self.values(recording)["handle"], [expected(call) for call in calls])

    def test_parameters(self):
        self.check_values(PARAMETERS, self.expected)

    def test_members(self):
        self.check_values(PARAMETERS, self.members)
        self.check_values(PARAMETERS, self.views)

    def test_compressed(self):
        self.check_values(program("parameters-debug5-packed"), self.members)

    def test_separate_debug_file(self):
        self.check_values(program("parameters-debuglink"), self.members)

    def test_methods(self):
        recording, done = self.record(
            "-F", "Queue::submit", "-F", "*Task::run",
            "-A", "Queue::submit(this->submitted, task->id, task->count, priority)",
            "-A", "*Task::run(this->id, depth, arg2:d32)", target=(METHODS,))
        printed = self.printed(done)
        values = {"run" if "run(" in name else "submit": calls
                  for name, calls in self.values(recording).items()}
        self.assertEqual(values["submit"], [
            {"this->submitted": call["submitted"], "task->id": call["id"],
             "task->count": call["count"], "priority": call["priority"]}
            for call in printed["submit"]])
        self.assertEqual(values["run"], [
            {"this->id": call["id"], "depth": call["depth"], "arg2:d32": call["depth"]}
            for call in printed["run"]])

    def test_one_list_for_several(self):
        """Each function has the parameter elsewhere."""
        recording, done = self.record("-A", "*(this->id)", "-F", "Queue::submit", "-F", "*Task::run",
                                      target=(METHODS,))
        self.assertIn("-A '*(this->id)': no values of 1 function (Queue::submit", done.stderr)
        calls = self.values(recording)
        run, = [calls[name] for name in calls if "run" in name]
        self.assertEqual(run, [{"this->id": call["id"]} for call in self.printed(done)["run"]])

    def test_conditions(self):
        for text, holds in (("delta < 0", lambda call: call["delta"] < 0),
                            ("req->status >= -1", lambda call: call["status"] >= -1),
                            ("req->port<65535", lambda call: call["member"] < 65535),
                            ("mode == 2", lambda call: call["mode"] == 2),
                            ("req->id > 0xfffffffffffffffc",
                             lambda call: call["id"] > 0xfffffffffffffffc)):
            for options in (("--if", f"handle: {text}"), ("-A", "handle(delta)", "--if", text)):
                with self.subTest(options):
                    recording, done = self.record("-F", "handle", *options, target=(PARAMETERS,))
                    calls = self.printed(done)["handle"]
                    wanted = [call["delta"] for call in calls if holds(call)]
                    self.assertNotIn(len(wanted), (0, len(calls)))
                    values = self.values(recording)["handle"]
                    self.assertEqual(len(values), len(wanted))
                    if "-A" in options:
                        self.assertEqual([value["delta"] for value in values], wanted)

    def test_links(self):
        recording, done = self.record(
            "-F", "session*", "-F", "Queue::submit", "-F", "*Task::run", "-A",
            "Queue::submit(task->id)", "-A", "*Task::run(this->id)", target=(METHODS,))
        options = ("--session", "session*", "--link",
                   "Queue::submit(task->id) -> *Task::run(this->id)", "-f", "json")
        link, = json.loads(self.report(recording, *options))["session_links"]
        self.assertEqual((link["submits"], link["runs"], link["matched"]), (8, 8, 8))
        live = self.run_proftrace("-F", "session*", "-F", "Queue::submit", "-F", "*Task::run",
                                  *options, "-o", self.path("live"), "--", METHODS)
        self.assertEqual(live.status, 0, str(live))
        with open(self.path("live"), encoding="utf-8") as file:
            link, = json.load(file)["session_links"]
        self.assertEqual((link["submits"], link["runs"], link["matched"]), (8, 8, 8))

    def test_library_that_is_loaded_later(self):
        recording, done = self.record(
            "-F", "libshapes.so:shape_area", "-F", "libshapes.so:shape_scale",
            "-A", "libshapes.so:shape_area(height)", "-A", "libshapes.so:shape_scale(factor, area)",
            target=(program("shapes-dlopen"), 9))
        values = self.values(recording)
        areas = values["shape_area"]
        self.assertEqual(len(areas), 9, str(done))
        self.assertEqual([area["height"] for area in areas],
                         [areas[0]["height"] + i for i in range(9)])
        self.assertEqual([(scale["factor"], scale["area"]) for scale in values["shape_scale"]],
                         [(3, area["height"] * (area["height"] - 1)) for area in areas])

    def test_damaged(self):
        """Debug information of a stranger: anything may stand there."""
        with open(PARAMETERS, "rb") as file:
            sound = file.read()
        listed = subprocess.run(["readelf", "-SW", PARAMETERS], check=True, text=True,
                                stdout=subprocess.PIPE).stdout
        sections = {name: (int(offset, 16), int(size, 16)) for name, offset, size in re.findall(
            r"\] (\.debug_\w+) +\S+ +\S+ +(\S+) (\S+)", listed)}
        path = self.path("damaged")
        statuses = set()
        for seed in range(60):
            chance = random.Random(seed)
            damaged = bytearray(sound)
            offset, size = sections[chance.choice((".debug_info", ".debug_abbrev"))]
            for _ in range(chance.choice((1, 3, 20, 200))):
                damaged[offset + chance.randrange(size)] = chance.choice((0, 1, 0x7f, 0x80, 0xff))
            with open(path, "wb") as file:
                file.write(damaged)
            os.chmod(path, 0o755)
            done = self.run_proftrace("-l", "-F", "handle", "-A",
                                      "handle(req->load, req->id, delta)", "--", path)
            self.assertIn(done.status, (0, 1), f"seed {seed}: {done}")
            statuses.add(done.status)
        self.assertEqual(statuses, {0, 1})

    def test_other_languages(self):
        """In other languages nobody knows how parameters are passed: here DW_LANG_Rust, in a C
        program."""
        with open(PARAMETERS, "rb") as file:
            sound = file.read()
        # readelf names the offset of each attribute in its section.
        listed = subprocess.run(["readelf", "-W", "--debug-dump=info", PARAMETERS], check=True,
                                text=True, stdout=subprocess.PIPE).stdout
        at = int(re.search(r"<([0-9a-f]+)> +DW_AT_language", listed)[1], 16)
        sections = subprocess.run(["readelf", "-SW", PARAMETERS], check=True, text=True,
                                  stdout=subprocess.PIPE).stdout
        at += int(re.search(r"\] \.debug_info +\S+ +\S+ +(\S+)", sections)[1], 16)
        self.assertIn(sound[at], (0x0c, 0x1d))
        path = self.path("rust")
        with open(path, "wb") as file:
            file.write(sound[:at] + b"\x1c" + sound[at + 1:])
        os.chmod(path, 0o755)
        done = self.run_proftrace("-A", "handle(req)", "-f", "chrome", "--", path)
        self.assert_one_line(done, 1, "only of C and C++")

    def test_bad(self):
        for target, text, *words in (
                ("nodebug", "handle(req)", "handle: its parameters have no names without debug "
                 "information; use arg1, arg2"),
                ("debug", "handle(reqs)", "no parameter reqs, but: req, ratio, delta, name"),
                ("debug", "handle(ratio)", "ratio is passed in a floating-point register"),
                ("debug", "handle(delta:s)", "no pointer to a string"),
                ("debug", "handle(delta:d64)", "fewer bits"),
                ("debug", "handle(delta->x)", "delta points to no structure"),
                ("debug", "handle(req->x)", "req has no member x"),
                ("debug", "handle(req->flags)", "does not lie at bytes of its own"),
                ("debug", "handle(req->raw:d)", "an array of characters: :s"),
                ("debug", "handle(req->tag)", "no number"),
                ("debug", "handle(req->tag.x)", "req has no member tag.x"),
                ("debug", "handle(req->path.x)", "req has no member path.x"),
                ("debug", "handle(req->load:d)", "is a floating-point number"),
                ("debug", "handle(req->load:f32)", "another number of bits"),
                ("debug", "handle(name, req->path, name:s, req->path:s)", "fourth string"),
                ("debug", "by_value(pair)", "pair is no integer"),
                ("debug", "by_value(before, behind)", "behind comes behind one"),
                ("debug", "returns_pair(number)", "returns a structure"),
                ("debug", "declared(what->x)", "only declared")):
            with self.subTest(text):
                done = self.run_proftrace("-A", text, "-f", "chrome", "--",
                                          program(f"parameters-{target}"))
                self.assert_one_line(done, 1, f"-A '{text}'", *words)
                self.assertEqual(done.stdout, "")
        for text, *words in (("handle: name == 5", "name: only integers"),
                             ("handle: last > -1", "last: not an integer"),
                             ("handle: req->load > 1", "only integers")):
            with self.subTest(text):
                done = self.run_proftrace("--if", text, "-f", "chrome", "--", PARAMETERS)
                self.assert_one_line(done, 1, f"--if '{text}'", *words)
        # Parameters before the one that is passed by value can be read.
        recording, done = self.record("-F", "by_value", "-A", "by_value(before)",
                                      target=(PARAMETERS,))
        self.assertEqual(self.values(recording)["by_value"],
                         [{"before": call["before"]} for call in self.printed(done)["by_value"]])


if __name__ == "__main__":
    harness.main()
