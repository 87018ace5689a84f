# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of arguments and results (-A): those that the program prints itself, whatever stands
before the instruction that is probed."""

import collections
import json
import os
import re
import subprocess

import harness
import sample
import test_page
import test_perfetto
import test_sqlite
from harness import PROFTRACE, UNLIMITED, program

TARGET = program("arguments")
TIMES = 12
PLACES = "arg1,arg2:s,arg3:d32,arg4+8,arg5:x,arg6:u8,arg7,arg8"
FORMS = "ret,arg1:d32,arg1:u16,arg4+16:f,arg4+24:f32,arg4+8:u8,arg8:u,arg4-0:x"
VALUES = """
    SELECT f.name AS function, c.id, v.name, v.value
    FROM calls c JOIN paths p ON p.id = c.path JOIN functions f ON f.id = p.function
    LEFT JOIN call_values v ON v.call = c.id ORDER BY c.id, v.rowid"""


def text_of(number):
    """A number as SQLite has it: a number above the range of SQLite's integers is text."""
    return number if number < 2 ** 63 else str(number)


def places(call):
    text = call["text"]
    return {"arg1": call["a"], "arg2:s": text if text is None else text[:63], "arg3:d32": call["c"],
            "arg4+8": call["second"], "arg5:x": hex(call["e"]), "arg6:u8": call["f"] % 256,
            "arg7": call["g"], "arg8": call["h"]}


def forms(call):
    low = call["a"] % 2 ** 32
    return {"ret": call["result"], "arg1:d32": low - (low >> 31 << 32),
            "arg1:u16": call["a"] % 2 ** 16, "arg4+16:f": call["real"],
            "arg4+24:f32": call["single"], "arg4+8:u8": call["second"] % 256,
            "arg8:u": text_of(call["h"] % 2 ** 64), "arg4-0:x": hex(call["first"])}


class Recordings(harness.TestCase):
    def record(self, *options, target=(TARGET, TIMES), status=0):
        path = self.path("rec")
        done = self.process(PROFTRACE, "record", *UNLIMITED, *options, "-o", path, "--", *target,
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, status, str(done))
        return path, done

    def report(self, recording, *options):
        done = self.process(PROFTRACE, "report", *options, recording,
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        return done.stdout

    def values(self, recording, *options):
        """{function: [{name: value} of each call]}"""
        calls = {}
        for function, call, name, value in self.database_of(recording, *options).execute(VALUES):
            values = calls.setdefault(function, {}).setdefault(call, {})
            if name:
                values[name] = value
        return {function: list(rows.values()) for function, rows in calls.items()}

    def printed(self, done):
        """Returns the calls that the program itself printed: {function: [call]}, without tail
        calls' results."""
        calls = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            if line.startswith("CALL "):
                call = json.loads(line[5:])
                calls[call["name"]].append(call)
        return calls


class Arguments(Recordings):
    def assert_values(self, seen, printed, expected):
        for function, calls in printed.items():
            if not function.startswith("site_"):
                continue
            self.assertEqual(len(seen[function]), len(calls), function)
            for values, call in zip(seen[function], calls):
                for name, value in expected(call).items():
                    self.assertEqual(values[name], value, f"{function} {name}: {call}")

    def check_kind(self, *options):
        recording, done = self.record("-F", "site_*", "-A", f"site_*({PLACES})", *options)
        printed = self.printed(done)
        self.assertEqual(len(printed), 18)
        self.assert_values(self.values(recording), printed, places)

        recording, done = self.record("-F", "site_*", "-A", f"site_*({FORMS})", *options)
        printed = self.printed(done)
        self.assert_values(self.values(recording), printed, forms)

    def test_each_site_session(self):
        self.check_kind("--tier=session")

    def test_each_site_multi(self):
        self.check_kind("--tier=uprobe_multi")

    def test_each_site_exits(self):
        self.check_kind("--exits=sites")

    def test_results_need_exits(self):
        recording, done = self.record("-F", "site_push", "-A", "site_push(arg1, ret)",
                                      "--exits=none")
        calls = self.printed(done)["site_push"]
        self.assertEqual(self.values(recording)["site_push"],
                         [{"arg1": call["a"], "ret": None} for call in calls])

    def test_sites(self):
        """Where arguments are changed before the push, the push is no site for them."""
        def offsets(*arguments):
            options = [word for argument in arguments for word in ("-A", argument)]
            # -A implies --calls, with which leaves have exits, so that other sites are best.
            done = self.run_proftrace("-l", "-f", "json", "--calls", *options, "--", TARGET)
            self.assertEqual(done.status, 0, str(done))
            return {f["name"]: f["site_offset"] for f in json.loads(done.stdout)["functions"]
                    if f["name"].startswith("site_")}
        free = offsets()
        changed = {"site_changed": "arg1", "site_part": "arg1", "site_implied": "arg3",
                   "site_stack": "arg7", "site_memory": "arg4+8"}
        for function, argument in changed.items():
            self.assertGreater(free[function], 0)
            self.assertEqual(offsets(f"{function}({argument})"), {**free, function: 0})
        # A push of another register may be a site, and for results the push does not matter.
        self.assertEqual(offsets("site_*(arg2, ret)"), free)
        self.assertEqual(offsets("site_changed(arg3)", "site_memory(arg4)"), free)

    def test_changed_before_any_site(self):
        recording, done = self.record("-F", "locked", "-A", "locked(arg1, arg4+8)")
        self.assertIn("-A: no values of 1 function (locked)", done.stderr)
        self.assertEqual(self.values(recording)["locked"], [{}] * TIMES)
        recording, done = self.record("-F", "locked", "-A", "locked(arg1)")
        self.assertEqual(self.values(recording)["locked"],
                         [{"arg1": call["a"]} for call in self.printed(done)["locked"]])

    def test_first_list_counts(self):
        recording, done = self.record("-F", "site_*", "-A", "site_push(arg3:d32)",
                                      "-A", "site_p*(arg1)")
        values, printed = self.values(recording), self.printed(done)
        self.assertEqual(values["site_push"], [{"arg3:d32": call["c"]} for call in printed["site_push"]])
        self.assertEqual(values["site_part"], [{"arg1": call["a"]} for call in printed["site_part"]])
        self.assertEqual(values["site_step"], [{}] * TIMES)

    def test_views_keep_values(self):
        """Reports of a part of a recording have the values of what they show."""
        recording, done = self.record("-F", "site_*", "-A", "site_*(arg1, arg2:s)")
        printed = self.printed(done)
        whole = self.values(recording)
        for options in (("-F", "site_push"), ("--thread", "arguments"), ("--range", "0s..1000s")):
            for function, calls in self.values(recording, *options).items():
                self.assertEqual(calls, whole[function], (function, options))
        self.assertEqual(len(whole["site_push"]), len(printed["site_push"]))

    def test_chrome(self):
        recording, done = self.record("-F", "site_push", "-A", "site_push(arg1,arg2:s,arg5:x,ret)")
        events = json.loads(self.report(recording, "-f", "chrome"))["traceEvents"]
        safe = 2 ** 53
        self.assertEqual([e["args"] for e in events if e["ph"] == "B"], [
            {"arg1": call["a"] if abs(call["a"]) < safe else str(call["a"]),
             "arg2:s": "?" if call["text"] is None else call["text"][:63],
             "arg5:x": hex(call["e"]), "ret": call["result"]}
            for call in self.printed(done)["site_push"]])
        self.assertFalse([e for e in events if e["ph"] == "E" and "args" in e])

    def test_example_of_the_documentation(self):
        recording, done = self.record("-F", "site_push", "-A", "site_push(arg1, arg2:s, ret)")
        calls = self.printed(done)["site_push"]
        database = self.database_of(recording)
        sql, = [sql for sql in test_sqlite.examples() if "call_values" in sql]
        self.assertEqual({value: count for value, count, _ in database.execute(sql)},
                         collections.Counter(call["text"] and call["text"][:63] for call in calls))

    def test_perfetto(self):
        recording, done = self.record("-F", "site_push", "-A",
                                      "site_push(arg1,arg2:s,arg5:x,arg6:u8,arg4+16:f)")
        path = self.path("x.pftrace")
        self.report(recording, "-o", path)
        with open(path, "rb") as file:
            text = subprocess.run(
                ["protoc", "-I", os.path.dirname(test_perfetto.PROTO), "--decode=Trace",
                 test_perfetto.PROTO], stdin=file, stdout=subprocess.PIPE, check=True).stdout
        self.assertNotRegex(text.decode(), r"(?m)^ *[0-9]+[: ]")
        events = [event for packet in test_perfetto.parse(iter(text.decode().splitlines()))["packet"]
                  for event in packet.get("track_event", [])
                  if event["type"] == ["TYPE_SLICE_BEGIN"]
                  # A wait of 10 us and more is a slice as well.
                  and any("arg4+16:f" in note.get("name", [])
                          for note in event.get("debug_annotations", []))]
        calls = self.printed(done)["site_push"]
        self.assertEqual(len(events), len(calls))
        for event, call in zip(events, calls):
            seen = {note["name"][0]: (key, value) for note in event["debug_annotations"]
                    if "name" in note for key, (value,) in note.items() if key != "name"}
            self.assertEqual(seen.pop("arg4+16:f")[0], "double_value")
            self.assertEqual(seen, {
                "arg1": ("int_value", call["a"]), "arg5:x": ("pointer_value", call["e"]),
                "arg6:u8": ("uint_value", call["f"] % 256),
                "arg2:s": ("string_value", "?" if call["text"] is None else call["text"][:63])})

    def test_many(self):
        """More than fit into a chunk, a batch, or a block."""
        times = 5000
        recording, done = self.record("-F", "site_push", "-A",
                                      f"site_push({PLACES})",
                                      target=(TARGET, times))
        self.assertIn(f"{times:,} single calls kept\n", done.stderr)
        self.assert_values(self.values(recording), {
            "site_push": self.printed(done)["site_push"]}, places)

    def check_condition(self, *options, holds, function="site_push", names=("arg1",)):
        """Checks that just those calls are recorded for which the condition holds."""
        recording, done = self.record("-F", "site_p*", *options)
        printed = self.printed(done)
        wanted = [call for call in printed[function] if holds(call)]
        self.assertNotIn(len(wanted), (0, TIMES))
        values = self.values(recording)
        self.assertEqual(values.get(function, []),
                         [{name: places(call)[name] for name in names} for call in wanted])
        refused = re.search(r"([\d,]+) calls were not recorded, as --if says", done.stderr)
        document = json.loads(self.report(recording, "-f", "json"))
        self.check(document)
        self.assertEqual(self.count(document, function), len(wanted))
        self.assertEqual(document["accounting"]["entered"] + int(refused[1].replace(",", "")),
                         2 * TIMES)
        return values

    def test_conditions(self):
        seven = 7 * 0x123456789 - 5
        for text, holds in (("==", lambda a: a == seven), ("!=", lambda a: a != seven),
                            ("<", lambda a: a < seven), ("<=", lambda a: a <= seven),
                            (">", lambda a: a > seven), (">=", lambda a: a >= seven)):
            with self.subTest(text):
                self.check_condition("-A", "site_push(arg1)", "--if", f"arg1 {text} {seven}",
                                     holds=lambda call: holds(call["a"]))

    def test_conditions_by_form(self):
        for name, text, holds in (
                ("arg3:d32", "< -5", lambda call: call["c"] < -5),
                ("arg3:u32", "< 4294967290", lambda call: call["c"] % 2 ** 32 < 4294967290),
                ("arg6:u8", ">= 0xfc", lambda call: call["f"] >= 0xfc),
                ("arg5:x", "> 0x8000000000000000", lambda call: call["e"] > 1 << 63),
                ("arg7", "<= -5000000000000", lambda call: call["g"] <= -5000000000000),
                ("arg4+8", ">= 0", lambda call: call["second"] >= 0)):
            with self.subTest(f"{name} {text}"):
                # The list is made by the condition, of that value alone.
                recording, done = self.record("-F", "site_push", "--if",
                                              f"site_push: {name} {text}")
                calls = self.printed(done)["site_push"]
                wanted = [call for call in calls if holds(call)]
                self.assertNotIn(len(wanted), (0, TIMES))
                self.assertEqual(len(self.values(recording)["site_push"]), len(wanted))

    def test_conditions_together(self):
        values = self.check_condition(
            "-A", "site_push(arg1)", "--if", "arg3:d32 < -2", "--if", "site_push: arg3:d32>-9",
            names=("arg1", "arg3:d32"), holds=lambda call: -9 < call["c"] < -2)
        # The condition on one function holds back no calls of others.
        self.assertEqual(len(values["site_part"]), TIMES)

    def test_what_is_not_known_meets_no_condition(self):
        recording, done = self.record("-F", "site_push", "-A", "site_push(arg1)", "--if",
                                      "arg2+0:u8 >= 0")
        self.assertEqual([values["arg1"] for values in self.values(recording)["site_push"]],
                         [call["a"] for call in self.printed(done)["site_push"]
                          if call["text"] is not None])

    def test_bad_conditions(self):
        for text, *words in (("arg1", "not of the form"), ("arg1 >", "not of the form"),
                             ("> 5", "not of the form"), ("arg1 5", "not of the form"),
                             ("arg1 = 5", "not of the form"), ("site_push arg1 > 5", "not of the form"),
                             ("r-q > 5", "not of the form"), ("arg1 > x", "not an integer"),
                             ("arg1 > 99999999999999999999", "not an integer"),
                             ("arg1:u > -1", "not an integer"), ("ret > 5", "result"),
                             ("arg1:u8 > 256", "can be"), ("arg1:d8 < -129", "can be"),
                             (": arg1 > 5", "not of the form"), (":arg1 > 5", "not of the form"),
                             ("arg2:s > 5", "integers"), ("arg1+8:f > 5", "integers"),
                             ("site_pusch: arg1 > 5", "no function", "site_push")):
            with self.subTest(text):
                done = self.run_proftrace("-A", "site_push(arg1)", "--if", text, "-f", "chrome",
                                          "--", TARGET)
                self.assert_one_line(done, 1 if "pusch" in text else 2, "--if", *words)
        done = self.run_proftrace("--if", "arg1 > 5", "-f", "chrome", "--", TARGET)
        self.assert_one_line(done, 2, "--if 'arg1 > 5'", "of which function")

    def test_bad_lists(self):
        for text, *words in (("site_push", "not of the form"), ("site_push(arg1", "not of the form"),
                             ("(arg1)", "not of the form"), ("site_push()", "missing"),
                             ("site_push(arg1,,arg2)", "missing"), ("site_push(arg0)", "numbered"),
                             ("site_push(arg65)", "numbered"), ("site_push(7)", "name"),
                             ("site_push(req->)", "member"), ("site_push(a->b->c)", "not two"),
                             ("site_push(req+8)", "NAME->MEMBER"), ("site_push(req:q)", "format"), ("site_push(f0)", "floating-point"),
                             ("site_push(arg1:f)", "floats"), ("site_push(arg1:z)", "format"),
                             ("site_push(arg1:d7)", "format"), ("site_push(arg1+8:f16)", "format"),
                             ("site_push(arg1:s8)", "format"), ("site_push(arg1+)", "bytes"),
                             ("site_push(arg1 arg2)", "commas"), (" (arg1)", "not of the form"),
                             ("site_push(arg1+99999999999)", "bytes"),
                             ("site_push(arg1,arg1)", "twice"),
                             (f"site_push({PLACES},ret)", "more than 8"),
                             ("site_push(arg1:s,arg2:s,arg3:s,arg4:s)", "more than 3")):
            with self.subTest(text):
                done = self.run_proftrace("-A", text, "-f", "chrome", "--", TARGET)
                self.assert_one_line(done, 2, "-A", text, *words)
                self.assertEqual(done.stdout, "")

    def test_formats_without_values(self):
        for options, warned in ((("-f", "flat"), True), (("-f", "flat", "--by", "arg1"), False),
                                (("-f", "html"), False),
                                (("-f", "flat", "--if", "arg1 > 0"), False),
                                (("-f", "flat", "--session", "site_push"), False)):
            done = self.run_proftrace("-F", "site_push", "-A", "site_push(arg1)", *options, "-o",
                                      self.path("out"), "--", TARGET)
            self.assertEqual(done.status, 0, str(done))
            self.assertEqual("shows no values" in done.stderr, warned, str(done))

    def test_unmatched(self):
        done = self.run_proftrace("-A", "site_psuh(arg1)", "-f", "chrome", "--", TARGET)
        self.assert_one_line(done, 1, "-A 'site_psuh(arg1)'", "site_push")
        done = self.run_proftrace("-F", "site_nop", "-A", "site_push(arg1)", "-f", "chrome", "--",
                                  TARGET)
        self.assert_one_line(done, 1, "-A 'site_push(arg1)'", "no function that is traced")
        self.assertEqual(done.stdout, "")

    def test_go(self):
        done = self.run_proftrace("-F", "main.*", "-A", "main.*(arg1)", "-f", "chrome", "--",
                                  program("gokinds"))
        self.assert_one_line(done, 1, "-A 'main.*(arg1)'", "in Go")


class Firefox(Recordings, sample.TestCase):
    def test_markers(self):
        """A marker a call, read by the Firefox Profiler's own code."""
        recording, done = self.record("-F", "site_*", "-A", "site_push(arg1,arg2:s,arg5:x,ret)")
        path = self.path("x.firefox.json")
        self.report(recording, "-o", path)
        answer, = self.profiler_cli(path, "thread markers --list --limit 0 --json --thread t-0")
        markers = json.loads(answer)["flatMarkers"]
        expected = [{"arg1": str(call["a"]),
                     "arg2:s": "?" if call["text"] is None else call["text"][:63],
                     "arg5:x": hex(call["e"]), "ret": str(call["result"])}
                    for call in self.printed(done)["site_push"]]
        self.assertEqual([{field["label"]: field["value"] for field in marker["fields"]}
                          for marker in markers], expected)
        self.assertEqual([marker["label"] for marker in markers],
                         [", ".join(values.values()) for values in expected])
        self.assertEqual({marker["name"] for marker in markers}, {"site_push"})


class Page(test_page.Reader, Recordings):
    def shown(self, recording, *options):
        """Returns the data of the page: [values of each call that has some], thread by thread."""
        path = self.path("x.html")
        self.report(recording, *options, "-o", path)
        timeline = self.data_of(path)["timeline"]
        return path, timeline, [[item for item in flat if isinstance(item, list)]
                                for flat in timeline["threads"]]

    def test_values(self):
        recording, done = self.record("-F", "site_*", "-A",
                                      "site_push(arg1,arg2:s,arg5:x,arg6:u8,arg4+16:f)")
        path, timeline, (seen,) = self.shown(recording)
        self.assertEqual([names[1:] for names in timeline["arguments"]],
                         [["arg1", "arg2:s", "arg5:x", "arg6:u8", "arg4+16:f"]])
        self.assertEqual(seen, [
            [call["a"] if abs(call["a"]) < 2 ** 53 else [str(call["a"])],
             call["text"] and call["text"][:63], [hex(call["e"])], call["f"] % 256, call["real"]]
            for call in self.printed(done)["site_push"]])
        self.browser.open(path)
        self.show("timeline")
        self.browser.press("/", *"plain", "ENTER")
        self.assertIn("such a value", self.text("#view-timeline .found"))

    def test_sessions(self):
        """The sessions that are kept, each of which is a thread in the page, have their calls'
        values."""
        recording, done = self.record("-F", "site_*", "-A", "site_push(arg1)")
        path, _, threads = self.shown(recording, "--session", "site_push", "--slowest", "3")
        printed = [call["a"] for call in self.printed(done)["site_push"]]
        self.assertGreaterEqual(len(threads), 3)
        for values in threads:
            self.assertEqual(len(values), 1)
            self.assertIn(values[0][0], [v if abs(v) < 2 ** 53 else [str(v)] for v in printed])
        text = self.report(recording, "--session", "site_push", "--slowest", "3", "-f", "flat")
        self.browser.open(path)
        self.assertIn(f"{len(threads)} session parts", self.text("#facts"))
        shown = re.findall(r"  arg1=(-?[0-9]+)\n", text)
        self.assertEqual(len(shown), 3)
        self.assertLessEqual(set(map(int, shown)), set(printed))


class ByValue(Recordings):
    """Calls told apart by a value (--by)."""

    def tree(self, recording, *options):
        """{path of names: (calls, raw self time)}, of all threads."""
        document = json.loads(self.report(recording, "-f", "json", *options))
        self.check(document)
        names = [function["name"] for function in document["functions"]]
        paths = collections.Counter()

        def walk(node, above):
            path = (*above, names[node["function"]])
            paths[path] += node["calls"]
            for child in node["children"]:
                walk(child, path)
        for thread in document["threads"]:
            for node in thread["calls"]:
                walk(node, ())
        return document, paths

    def test_recursion(self):
        """Each level of a recursion has its own value, so has each path."""
        recording, done = self.record("-F", "fib", "-F", "direct", "-A", "fib(arg1)", "-A",
                                      "direct(arg1:u32)", target=(program("recursion"), 12, 3))
        document, paths = self.tree(recording, "--by", "arg1")
        expected = collections.Counter()

        def fib(n, above):
            path = (*above, f"fib(arg1={n})")
            expected[path] += 3
            if n > 1:
                fib(n - 1, path)
                fib(n - 2, path)
        fib(10, ())
        for depth in range(12):
            expected[tuple(f"direct(arg1={12 - i})" for i in range(depth + 1))] += 3
        self.assertEqual(paths, expected)
        whole = json.loads(self.report(recording, "-f", "json"))
        self.assertEqual(document["accounting"]["entered"], whole["accounting"]["entered"])
        raw = [sum(node["raw_self_ns"] for node, *_ in harness.nodes_of(d)) for d in (document, whole)]
        self.assertEqual(*raw)

    def test_timeline(self):
        """Single calls are of the function that has their value in its name."""
        recording, done = self.record("-F", "fib", "-A", "fib(arg1, ret)",
                                      target=(program("recursion"), 5, 2))
        values = self.values(recording, "--by", "arg1")
        self.assertEqual(sum(map(len, values.values())), 2 * 177)
        for function, calls in values.items():
            for call in calls:
                self.assertEqual(function, f"fib(arg1={call['arg1']})")
        # A range and filters of that.
        for options in (("--range", "..1000s"), ("-D", "3"), ("-F", "fib(arg1=3)")):
            part = self.values(recording, "--by", "arg1", *options)
            for function, calls in part.items():
                self.assertEqual({call["arg1"] for call in calls},
                                 {call["arg1"] for call in values[function]}, options)
        self.assertEqual(self.values(recording, "--by", "arg1", "--range", "..1000s"), values)

    def test_more_values_than_are_told_apart(self):
        times = 1203
        recording, done = self.record("-F", "site_push", "-A", "site_push(arg1,arg3:d32)",
                                      target=(TARGET, times))
        calls = self.printed(done)["site_push"]
        _, paths = self.tree(recording, "--by", "arg3")
        expected = {(f"site_push(arg3={call['c']})",): 1 for call in calls[:1000]}
        expected[("site_push(arg3=other)",)] = times - 1000
        self.assertEqual(paths, expected)

    def test_live(self):
        done = self.run_proftrace("-F", "site_push", "-A", "site_push(arg6:u8)", "--by", "arg6:u8",
                                  "-f", "folded", "-w", "calls", "-o", self.path("out"), "--",
                                  TARGET, 12)
        self.assertEqual(done.status, 0, str(done))
        with open(self.path("out"), encoding="utf-8") as file:
            lines = sorted(file.read().splitlines())
        self.assertEqual(lines, sorted(f"arguments;site_push(arg6={(i + 250) % 256}) 1"
                                       for i in range(12)))

    def test_bad(self):
        recording, _ = self.record("-F", "site_push", "-A", "site_push(arg1)")
        for value in ("arg2", "", "ret", "arg", "arg1:x"):
            done = self.process(PROFTRACE, "report", "--by", value, recording,
                                stdin=subprocess.DEVNULL).finish()
            self.assert_one_line(done, 1, f"--by {value}:", "no function has such a value")
        recording, _ = self.record("-F", "site_push")
        done = self.process(PROFTRACE, "report", "--by", "arg1", recording,
                            stdin=subprocess.DEVNULL).finish()
        self.assert_one_line(done, 1, "--by arg1:", "no single calls")
        done = self.run_proftrace("-A", "site_push(arg1)", "--by", "arg2", "--", TARGET)
        self.assert_one_line(done, 2, "--by arg2:", "no -A")
        done = self.run_proftrace("--by", "arg1", "--", TARGET)
        self.assert_one_line(done, 2, "--by arg1:", "add -A")
        done = self.process(PROFTRACE, "record", "--by", "arg1", "-A", "f(arg1)", "--", TARGET,
                            stdin=subprocess.DEVNULL).finish()
        self.assert_one_line(done, 2, "--by", "record")


if __name__ == "__main__":
    harness.main()
