# SPDX-License-Identifier: GPL-2.0-or-later
"""--trigger and --until: what is recorded of a program whose calls are known one by one."""

import json
import subprocess

import harness
from test_switches import OFF, ON, OUT, Switched


class Triggers(Switched):
    def traced(self, *options):
        return self.steps(*options, name="jobs")

    def trees(self, document):
        """[(path, calls)] of all threads."""
        names = [f["name"] for f in document["functions"]]
        paths, found = {}, {}
        for node, parent, _ in harness.calls_of(document):
            path = (paths[parent["id"]] + ";" if parent else "") + names[node["function"]]
            paths[node["id"]] = path
            found[path] = found.get(path, 0) + node["calls"]
        return found

    def test_only_below(self):
        target, tracer = self.traced("--trigger", "request")
        target.step("work 5")
        target.step("request 3")
        target.step("work 7")
        target.step("request 2")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.trees(document), {
            "request": 5, "request;work": 5, "request;work;step": 5})
        # work and step were called from main 12 times.
        self.assertEqual(document["accounting"]["untriggered"], 24)
        self.assertEqual(document["accounting"]["open"], 0)

    def test_in_each_tier_and_exit(self):
        for options in (*(("--tier", name) for name in harness.working("uprobe_multi")),
                        ("--exits", "sites"), ("--exits", "none")):
            target, tracer = self.traced("--trigger", "request", *options)
            target.step("work 5")
            target.step("request 3")
            document = self.document(tracer.interrupt())
            self.assertEqual(self.calls(document), {"request": 3, "work": 3, "step": 3}, options)
            target.finish()

    def test_on_its_thread_alone(self):
        target, tracer = self.traced("--trigger", "request", "-F", "work", "-F", "step")
        target.step("both 2000")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.trees(document), {
            "request": 2000, "request;work": 2000, "request;work;step": 2000})
        self.assertEqual(document["accounting"]["untriggered"], 4000)

    def test_with_a_filter(self):
        """The trigger is traced whatever -F says; what it does not name is not probed."""
        target, tracer = self.traced("--trigger", "request", "-F", "step")
        target.step("request 3")
        target.step("work 4")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.trees(document), {"request": 3, "request;step": 3})
        self.assertIsNone(self.function(document, "work"))

    def test_two_triggers(self):
        target, tracer = self.traced("--trigger", "req*", "--trigger", "finish")
        target.step("request 3")
        target.step("finish 2")
        target.step("work 4")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.calls(document),
                         {"request": 3, "work": 3, "step": 3, "finish": 2})

    def test_until_the_next_one(self):
        """The call under way ends there, and what it goes on to call is not recorded."""
        target, tracer = self.traced("--trigger", "ended", "--until", "finish")
        target.step("ended 3")
        target.step("work 5")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.trees(document), {
            "ended": 3, "ended;work": 3, "ended;work;step": 3})
        accounting = document["accounting"]
        self.assertEqual((accounting["returned"], accounting["unwound"], accounting["open"]),
                         (6, 3, 0))
        self.assertEqual(accounting["untriggered"], 16)

    def test_until_alone_stops_everywhere(self):
        target, tracer = self.traced("--until", "finish")
        target.step("work 5")
        target.step("ended 1")
        target.step("request 9")
        self.says(tracer, OFF)
        document = self.document(tracer.interrupt())
        self.assertEqual(self.calls(document), {"work": 6, "step": 6, "ended": 1})
        self.assertEqual(document["accounting"]["unwound"], 1)
        self.assertLess(0, document["paused_ns"])

    def test_until_and_on_again(self):
        target, tracer = self.traced("--until", "finish")
        for calls in (3, 4):
            target.step(f"work {calls}")
            target.step("finish 2")
            target.step("work 100")
            self.says(tracer, OFF)
            self.switch(tracer, ON)
        target.step("work 5")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.calls(document), {"work": 12, "step": 12})

    def test_until_just_before_the_end(self):
        """The function is called so late that nobody has looked before the run ends."""
        target, tracer = self.traced("--until", "finish")
        target.step("work 5")
        target.step("finish 1")
        target.step("work 7")
        target.finish()
        document = self.document(tracer.finish())
        self.assertEqual(self.calls(document), {"work": 5, "step": 5})

    def test_switched_off_and_on(self):
        target, tracer = self.traced("--trigger", "request")
        target.step("request 3")
        self.switch(tracer, OFF)
        self.says(tracer, OUT)
        target.step("request 10")
        self.switch(tracer, ON)
        target.step("work 10")
        target.step("request 2")
        document = self.document(tracer.interrupt())
        self.assertEqual(self.calls(document), {"request": 5, "work": 5, "step": 5})

    def test_in_files_that_are_loaded_later(self):
        target, tracer = self.steps("--trigger", "libshapes.so:shape_area", name="late")
        target.step("load")
        target.step("5")
        document = self.document(tracer.interrupt())
        self.assertIn(self.calls(document), [{"shape_area": 5}] if
                      harness.has("waiting for the plan") else [{}, {"shape_area": 5}])

    def test_recordings_keep_the_account(self):
        path = self.path("run")
        target = self.target("jobs")
        tracer = self.process(harness.PROFTRACE, "record", *harness.UNLIMITED, "--trigger",
                              "request", "-o", path, "-p", target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        target.step("work 5")
        target.step("request 3")
        self.interrupt(tracer)
        done = subprocess.run([harness.PROFTRACE, "report", "-f", "json", path], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(json.loads(done.stdout)["accounting"]["untriggered"], 10)

    def test_what_is_not_there(self):
        target = self.target("jobs")
        tracer = self.proftrace("--trigger", "reqwest", "-f", "json", "-p", target.pid)
        tracer.wait_tracing()
        target.go()
        target.step("request 3")
        done = tracer.interrupt()
        self.assertIn("no function matches 'reqwest'; the nearest: request", done.stderr)
        self.assertEqual(self.calls(self.document(done)), {})

    def test_a_budget_keeps_triggers(self):
        """However often they are called."""
        target = self.target("jobs")
        tracer = self.process(harness.PROFTRACE, "-f", "json", "--max-overhead", "0.001",
                              "--trigger", "work", "-p", target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        target.step("work 300000")
        tracer.signal(harness.signal.SIGINT)
        document = self.document(tracer.finish())
        self.assertEqual(self.count(document, "work"), 300000)


if __name__ == "__main__":
    harness.main()
