# SPDX-License-Identifier: GPL-2.0-or-later
"""Regions and marks: proftrace.h, functions that mark places, other programs' probes. Counts are
held against the program's own."""

import json
import re
import subprocess

import harness
from harness import UNLIMITED, program

REGIONS = ("-F", "region:*")
EVERYTHING = ("-F", "region:*", "-F", "*")


class Cases(harness.TestCase):
    def regions(self, document):
        return {f["name"]: f["calls"] for f in document["functions"] if f["kind"] == "region"}

    def verb(self, *words):
        return self.process(harness.PROFTRACE, *words, stdin=subprocess.DEVNULL).finish()

    def assert_exact(self, document, done):
        self.assert_counts(document, done.counts, done)
        accounting = document["accounting"]
        unwound = done.numbers("UNWOUND")["in all"]
        if harness.has("stacks told apart"):
            self.assertEqual(accounting["unwound"], unwound, done)
        else:  # a coroutine's region ends when another one goes on
            self.assertGreaterEqual(accounting["unwound"], unwound, done)
        self.assertEqual(accounting["open"], 0)


class Counts(Cases):
    def test_of_all_kinds(self):
        for name in ("regions", "regions-plain"):
            for tier in ((), *(("--tier", name) for name in harness.working("uprobe_multi"))):
                options = (*REGIONS, *tier)
                with self.subTest(name, options=options):
                    document, done = self.profile_command(name, 50, options=options)
                    self.assert_exact(document, done)
                    self.assertEqual({f["kind"] for f in document["functions"]}, {"region"})

    def test_among_functions(self):
        """Regions are exact among functions whose exits are seen in each way. Functions that are
        left by longjmp end unwound, too."""
        for tier in harness.working("session", "uprobe_multi"):
            for exits in ("auto", "sites"):
                with self.subTest(tier, exits=exits):
                    document, done = self.profile_command(
                        "regions", 20, options=(*UNLIMITED, "--tier", tier, "--exits", exits))
                    self.assert_counts(document, done.counts, done)
                    unwound = done.numbers("UNWOUND")["in all"] + done.counts["jumped"]
                    # main ends by exit, and what a thread's end leaves open is closed with it
                    self.assertEqual(document["accounting"]["unwound"], unwound)

    def test_places_in_the_source(self):
        """The line of the macro that names it."""
        document, _ = self.profile_command("regions", 2, options=REGIONS)
        self.assertGreater(len(document["functions"]), 3)
        for region in document["functions"]:
            with open(region["file"], encoding="utf-8") as file:
                line = file.readlines()[region["line"] - 1]
            self.assertIn(f'"{region["name"]}"', line)

    def test_of_a_live_process(self):
        document, done = self.profile_pid("regions", 20, options=REGIONS)
        self.assert_exact(document, done)

    def test_wherever_a_file_is_mapped(self):
        """Stacks of unknown make may pass for one there, so some regions on them end unwound."""
        document, done = self.profile_exec("regions", 20, options=REGIONS)
        self.assert_counts(document, done.counts, done)

    def test_followed_children(self):
        document, done = self.profile_command("regions", 5, "fork", options=(*REGIONS, "--follow"))
        self.assert_exact(document, done)

    def test_forked_children(self):
        """Where a child makes its contexts is not seen, so one that has begun on a coroutine may
        end there unseen."""
        document, done = self.profile_command("regions", 5, "fork", options=REGIONS)
        self.assert_counts(document, done.counts, done)
        self.assertEqual(self.regions(document), done.counts)
        document, done = self.profile_command("regions", 5, "fork", options=("-F", "region:[!t]*"))
        self.assertEqual(document["accounting"]["unwound"], done.numbers("UNWOUND")["in all"])

    def test_children_that_are_not_followed(self):
        document, done = self.profile_command("regions", 5, "fork",
                                              options=(*REGIONS, "--no-children"))
        self.assertEqual(self.regions(document),
                         {name: count // 2 for name, count in done.counts.items()})

    def test_exceptions(self):
        for options in (REGIONS, EVERYTHING):
            with self.subTest(options=options):
                document, done = self.profile_command("region_throws", 20, options=options)
                self.assert_counts(document, done.counts, done)
                if options == REGIONS:
                    self.assert_exact(document, done)

    def test_functions_that_mark_places_and_a_library_opened_later(self):
        for options in (REGIONS, UNLIMITED, ("-F", "region:plugged", "-F", "region:marked")):
            with self.subTest(options=options):
                document, done = self.profile_command("region_host", 30, options=options)
                self.assert_counts(document, done.counts, done)
                names = {f["symbol"] for f in document["functions"]}
                self.assertFalse(any(name.startswith("proftrace_") for name in names), names)

    def test_of_a_library_opened_later_alone(self):
        """If only a library that is opened later has the region, the programs at regions are loaded
        while the target runs."""
        for tier in harness.working("session", "uprobe_multi", "trace_event"):
            with self.subTest(tier=tier):
                document, done = self.profile_command(
                    "region_host", 3000, options=("-v", "--tier", tier, "-F", "region:plugged"))
                self.assertEqual(self.regions(document), {"plugged": 3000}, done)
                self.assertIn("the first regions are there: their programs are loaded", done.stderr)
                self.assertNotIn("first calls", done.stderr)


class Tree(Cases):
    def paths(self, document):
        """{path: calls}"""
        paths, names = {}, {}
        for thread in document["threads"]:
            for node, parent, _ in harness.walk(thread["calls"]):
                name = document["functions"][node["function"]]["name"]
                path = f"{names[id(parent)]}/{name}" if parent else name
                names[id(node)] = path
                paths[path] = paths.get(path, 0) + node["calls"]
        return paths

    def test_regions_lie_between_their_function_and_what_is_called_in_them(self):
        document, _ = self.profile_command("regions", 10, options=UNLIMITED)
        paths = self.paths(document)
        for path, calls in (("main/run/nested/outer/inner/work", 20),
                            ("main/run/recursive/level/recursive/level", 10),
                            ("main/run/overlapping/before/after/work", 10),
                            ("main/run/overlapping/work", 10),
                            ("main/run/handing/handed/finish/work", 20),
                            ("main/run/handing/work", 10),
                            ("main/run/losing/lost/work", 40),
                            ("main/run/marked", 10),
                            ("main/run/leaf/passed", 10)):
            with self.subTest(path):
                self.assertEqual(paths.get(path, paths.get(path.replace("main/run", "main"))),
                                 calls, paths)

    def test_marks_take_no_time(self):
        document, _ = self.profile_command("regions", 10, options=REGIONS)
        marked = self.function(document, "marked")
        self.assertEqual((marked["calls"], marked["total_ns"]), (10, 0))

    def test_formats_tell_them_from_functions(self):
        done = self.run_proftrace("-f", "tree", *UNLIMITED, "--", program("regions"), 10)
        self.assertRegex(done.stdout, r"nested\n.*└─\[outer\]\n.*└─\[inner\]\n.*└─work\n")
        done = self.run_proftrace("-f", "flat", *UNLIMITED, "--", program("regions"), 10)
        self.assertRegex(done.stdout, r"\[outer\] ")

    def test_recordings_keep_what_they_are(self):
        path = self.path("recording")
        done = self.verb("record", "-o", path, *UNLIMITED, "--", program("regions"), 10)
        document = self.document(self.verb("report", "-f", "json", path))
        self.assert_counts(document, done.counts)
        self.assertEqual({f["name"] for f in document["functions"] if f["kind"] == "region"},
                         done.counts.keys())
        done = self.verb("report", "-f", "json", "-F", "region:inner", path)
        self.assertEqual([f["name"] for f in json.loads(done.stdout)["functions"]], ["inner"])


class Choosing(Cases):
    def chosen(self, *options):
        document, _ = self.profile_command("regions", 3, options=options)
        return {f["name"] for f in document["functions"]}

    def test_patterns(self):
        self.assertEqual(self.chosen("-F", "region:inner"), {"inner"})
        self.assertEqual(self.chosen("-F", "region:*", "-N", "region:*e*"),
                         {"lost", "late", "turn"} - {"late"})
        self.assertEqual(self.chosen("-F", "work"), {"work"})
        self.assertEqual(self.chosen("-F", "region:l?st", "-F", "work"), {"lost", "work"})
        self.assertLess({"main", "nested", "outer"}, self.chosen(*UNLIMITED))

    def test_reports(self):
        """The filters of reports tell them from functions, too."""
        path = self.path("recording")
        done = self.verb("record", "--calls", "-o", path, *UNLIMITED, "--", program("regions"), 10)
        true = done.counts

        def names(*options):
            done = self.verb("report", "-f", "json", *options, path)
            self.assertEqual(done.status, 0, done)
            return {f["name"]: f["calls"] for f in json.loads(done.stdout)["functions"]}
        self.assertEqual(names("-F", "region:i*", "-F", "region:outer"),
                         {"inner": true["inner"], "outer": true["outer"]})
        self.assertEqual(set(names("-F", "region:*")), {n for n in true if true[n]})
        left = names("-N", "region:*")
        self.assertFalse(set(left) & set(true), left)
        self.assertIn("nested", left)
        self.assertEqual(names("--session", "region:outer"), names())

    def test_triggers(self):
        document, done = self.profile_command("regions", 10, options=(
            "--trigger", "region:outer", *UNLIMITED))
        self.assertEqual(self.calls(document), {"outer": 10, "inner": 20, "work": 20})
        self.assertEqual(done.counts["outer"], 10)

    def test_depth(self):
        document, done = self.profile_command("regions", 10, options=(*REGIONS, "-D", "2"))
        calls = self.calls(document)
        self.assertEqual(calls["inner"], done.counts["inner"])
        self.assertEqual(calls["level"], 20)

    def test_nothing_matches(self):
        done = self.run_proftrace("-F", "region:iner", "--", program("regions"))
        self.assert_one_line(done, 1, "no region matches", "iner", "nearest: inner")
        done = self.run_proftrace("--usdt", "nonsense", "--", program("regions"))
        self.assert_one_line(done, 2, "PROVIDER:NAME")

    def test_list(self):
        done = self.run_proftrace("-l", "-f", "json", *REGIONS, program("regions"))
        functions = {f["name"]: f for f in json.loads(done.stdout)["functions"]}
        self.assertEqual({f["kind"] for f in functions.values()}, {"region"})
        self.assertEqual([s["kind"] for s in functions["inner"]["sites"]].count("begin"), 2)
        self.assertEqual([s["kind"] for s in functions["marked"]["sites"]], ["mark"])
        # A nop is not made a call where the call would overwrite something.
        self.assertEqual({s["site"] for s in functions["late"]["sites"]}, {"nop"})
        text = self.run_proftrace("-l", *REGIONS, program("regions")).stdout
        # The program forks: the kernel may make a call of none of these nops.
        self.assertRegex(text, r"nop +region +regions +\[inner\]  \(the probe's nop\)")
        self.assertNotIn("nop5", text)


class Values(Cases):
    """-A, --by, --if and sessions, of regions."""

    def run_requests(self, *options):
        document, done = self.profile_command("region_values", options=(*REGIONS, *options))
        return document, done.counts, done.numbers("STEPS")

    def test_by_value(self):
        document, requests, steps = self.run_requests("-A", "region:request(arg1, arg2)", "--by",
                                                      "arg2")
        names = [f["name"] for f in document["functions"]]
        seen = dict.fromkeys(steps, 0)
        for thread in document["threads"]:
            for node, parent, _ in harness.walk(thread["calls"]):
                if parent:
                    seen[names[parent["function"]][-2]] += node["calls"]
        self.assertEqual({name: calls for name, calls in self.regions(document).items()
                          if name != "step"}, requests)
        self.assertEqual(seen, steps)

    def test_an_end_in_a_callee(self):
        """Values that are only recorded do not keep an end from being seen in a callee."""
        document, done = self.profile_command("regions", 20, options=(
            *REGIONS, "-A", "region:handed(arg1)"))
        self.assert_exact(document, done)

    def test_conditions(self):
        """A region that does not meet the condition is not recorded, and its end ends nothing; the
        steps within are recorded."""
        for condition in "arg2 == 1", "region:request: arg2 == 1":
            with self.subTest(condition):
                document, requests, steps = self.run_requests("-A", "region:request(arg2)",
                                                              "--if", condition)
                self.assertEqual(self.regions(document), {
                    "request": requests["request(arg2=1)"], "step": sum(steps.values())})
                accounting = document["accounting"]
                self.assertEqual(accounting["returned"], accounting["entered"])
                inside = sum(node["calls"] for thread in document["threads"]
                             for node, parent, _ in harness.walk(thread["calls"]) if parent)
                self.assertEqual(inside, steps["1"])

    def test_sessions(self):
        document, requests, steps = self.run_requests("--session", "region:request", "--slowest",
                                                      "1000")
        group, = document["sessions"]
        self.assertEqual((group["count"], group["open"]), (sum(requests.values()), 0))
        kinds = {}
        for session in group["slowest"]:
            call, = session["calls"]
            kinds[len(call["children"])] = kinds.get(len(call["children"]), 0) + 1
        self.assertEqual(kinds, {kind + 1: requests[f"request(arg2={kind})"] for kind in range(3)})

    def test_links(self):
        """A region of one thread goes on in what is called with the same value."""
        document, requests, _ = self.run_requests("--session", "region:request", "--link",
                                                  "region:request(arg1) -> request(arg1)", "-F",
                                                  "request")
        link, = document["session_links"]
        self.assertEqual((link["submits"], link["runs"]), (sum(requests.values()),) * 2)


@harness.alone("what is dropped depends on what calls cost meanwhile")
class Budget(Cases):
    def run_hot(self, *options):
        """Runs until something is dropped, with calls of `rare` before and after."""
        target = self.target("hot-regions", 2)
        tracer = self.proftrace("-v", "-f", "json", *REGIONS, "--max-overhead", "5", *options,
                                "-p", target.pid).wait_tracing()
        target.go()
        target.step("3")
        self.assertTrue(harness.poll(lambda: "functions are dropped" in tracer.stderr.text() or
                                     target.ended(), harness.TIMEOUT))
        target.step("10")
        done = target.finish()
        document = self.document(tracer.finish())
        kept = {f["name"]: f["calls"] for f in document["functions"]
                if f["calls"] and not f["dropped"]}
        self.assertNotIn("hot", kept)
        self.assertEqual(kept, {name: done.counts[name] for name in kept})
        self.assertEqual(document["accounting"]["lost"], 0)
        return document, done.counts

    def test_a_drop_takes_all_sites(self):
        document, true = self.run_hot()
        calls, dropped = self.regions(document)["hot"], document["accounting"]["dropped"]
        self.assertTrue(0 < calls < true["hot"], (calls, true))
        self.assertLessEqual(calls + dropped, true["hot"])

    def test_one_in_some_is_kept(self):
        document, true = self.run_hot("--sample-hot", "10")
        hot, = (f for f in document["functions"] if (f["kind"], f["name"]) == ("region", "hot"))
        self.assertTrue(hot["estimate"])
        self.assertLess(abs(hot["calls"] - true["hot"]), 1000, (hot, true))


class Probes(Cases):
    """--usdt"""

    def start(self, *options):
        target = self.target("probes")
        tracer = self.proftrace("-f", "json", *options, "-p", target.pid).wait_tracing()
        target.go()
        return target, tracer

    def lookers(self, target):
        text = target.stdout.text()
        return [int(n) for n in re.findall(r"^LOOKERS \S+ (\d+)", text, re.M)]

    def test_pairs_marks_and_semaphores(self):
        # Orders are as short as two probes; less what these cost, nothing may be left of them.
        target, tracer = self.start("--raw", "--usdt", "shop:*", "-F", "region:none")
        target.step("look")
        self.assertEqual(self.lookers(target), [1, 1, 1, 1])
        target.step("9")
        document = self.document(tracer.interrupt())
        target.step("look")
        self.assertEqual(self.lookers(target)[4:], [0, 0, 0, 0])
        target.step("9")
        done = target.finish()
        self.assert_counts(document, done.counts, done)
        self.assertEqual(self.regions(document) | {"shop:counted": 9}, done.counts | {
            "shop:counted": 9})
        self.assertEqual(document["accounting"]["unwound"], 0)
        self.assertEqual(self.function(document, "shop:door_entry")["total_ns"], 0)
        self.assertGreater(self.function(document, "shop:order")["total_ns"], 0)

    def test_a_pair_by_hand(self):
        target, tracer = self.start("--usdt", "shop:count -> shop:counted", "-F", "region:none")
        target.step("look")
        self.assertEqual(self.lookers(target), [0, 0, 0, 1])
        target.step("7")
        document = self.document(tracer.interrupt())
        target.finish()
        self.assertEqual(self.regions(document), {"shop:count": 7})
        self.assertEqual(document["accounting"]["returned"], 7)

    def test_nothing_matches(self):
        done = self.run_proftrace("--usdt", "shop:ordr*", "-F", "region:none", "-l",
                                  program("probes"))
        self.assertEqual(done.status, 1)
        self.assertIn("no probe matches", done.stderr)
        self.assertIn("probes:shop:order__start", done.stderr)

    def test_nothing_matches_so_far(self):
        """A pattern for a provider that is not there may match a library that is loaded later;
        probes that are there are listed once."""
        done = self.run_proftrace("--usdt", "hop:*", "--usdt", "shop:ordr*", "-F", "main", "--",
                                  program("probes"), 1)
        self.assertIn("'hop:*': nothing matches yet", done.stderr)
        self.assertIn("'shop:ordr*': no probe matches", done.stderr)
        self.assertEqual(done.stderr.count("probes:shop:order__start"), 1)

    def test_where_a_function_begins(self):
        """The kernel takes one semaphore for an instruction: functions and lines share it."""
        text = """
            #define _SDT_HAS_SEMAPHORES 1
            #include <sys/sdt.h>
            #include <stdio.h>
            __extension__ unsigned short shop_hit_semaphore __attribute__((section(".probes")));
            static unsigned long seen;
            __attribute__((noinline)) long work(long x)
            {
                DTRACE_PROBE1(shop, hit, x);
                return x * 3 + shop_hit_semaphore;
            }
            int main(void)
            {
                for (long i = 0; i < 100; i++)
                    seen += work(i) - i * 3;
                printf("COUNT work 100\\nCOUNT shop:hit %lu\\n", seen);
                return 0;
            }"""
        source, path = self.path("shop.c"), self.path("shop")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["gcc", "-g", "-O2", "-o", path, source], check=True)
        for options in ("-F", "work"), ("--lines", "work"):
            with self.subTest(options):
                document, done = self.profile_command(path, options=("--usdt", "shop:*", *options))
                self.assert_counts(document, done.counts, done)
        # These probes are regions, so no pattern for regions is without any.
        document, done = self.profile_command(path, options=("--usdt", "shop:*", *REGIONS))
        self.assertEqual(self.calls(document), {"shop:hit": 100})
        self.assertNotIn("matches", done.stderr)
        document, done = self.profile_command(path, options=("-F", "work"))
        self.assertEqual((self.count(document, "work"), done.counts["shop:hit"]), (100, 0))

    def test_of_a_packaged_program(self):
        """CPython's own, which it meets only while somebody looks."""
        script = ("import gc, os\n"
                  "def count(): return sum(s['collections'] for s in gc.get_stats())\n"
                  "input()\n"
                  "before = count()\n"
                  "for i in range(25): gc.collect()\n"
                  "print('COUNT python:gc', count() - before, flush=True)\n"
                  "os._exit(0)\n")
        target = self.process(harness.PYTHON, "-c", script)
        tracer = self.proftrace("-f", "json", "--usdt", "python:gc__*", "-F", "region:none", "-p",
                                target.pid).wait_tracing()
        target.go()
        done = target.finish()
        document = self.document(tracer.finish())
        self.assertGreaterEqual(done.counts["python:gc"], 25)
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["returned"], document["accounting"]["entered"])
