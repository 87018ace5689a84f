# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that the budget has dropped come back: their calls are exact again from then on."""

import json

import harness
from harness import PROFTRACE

CALLED = ("batch", "item", "part")


@harness.alone("what is dropped depends on what calls cost meanwhile")
class Returns(harness.TestCase):
    def documents(self, tracer):
        """The intervals that are complete so far."""
        text = tracer.stdout.text()
        return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]

    def back(self, tracer):
        return {drop["name"] for document in self.documents(tracer)
                for drop in document["dropped"] if drop["back_ns"]}

    def test_what_cools_down(self):
        target = self.target("cooling")
        tracer = self.process(PROFTRACE, "-f", "json", "-i", "0.3", "--max-overhead", "5", "-p",
                              target.pid)
        self.assertTrue(tracer.stderr.wait_lines(harness.TRACING), tracer)
        target.go()
        self.assertTrue(harness.poll(
            lambda: {"batch", "part"} <= {drop["name"] for document in self.documents(tracer)
                                          for drop in document["dropped"]},
            harness.TIMEOUT), tracer)
        target.step("cool")
        self.assertTrue(harness.poll(lambda: self.back(tracer) >= set(CALLED), harness.TIMEOUT),
                        tracer)
        before = len(self.documents(tracer))
        self.assertTrue(harness.poll(lambda: len(self.documents(tracer)) > before,
                                     harness.TIMEOUT), tracer)
        before = len(self.documents(tracer))
        target.step("call 5")
        self.assertTrue(harness.poll(lambda: len(self.documents(tracer)) > before + 1,
                                     harness.TIMEOUT), tracer)
        done = target.finish()
        last = [json.loads(line) for line in tracer.finish().stdout.splitlines()][before:]
        self.assertEqual(done.status, 0, str(done))
        calls = dict.fromkeys(CALLED, 0)
        for document in last:
            self.assertEqual(document["dropped"], [])
            for function in document["functions"]:
                if function["name"] in calls:
                    self.assertNotEqual(function["source"], "burst", function)
                    calls[function["name"]] += function["calls"]
            accounting = document["accounting"]
            self.assertEqual(accounting["entered"], accounting["returned"] +
                             accounting["unwound"] + accounting["open"])
        self.assertEqual(calls, {"batch": 5, "item": 15, "part": 30})


if __name__ == "__main__":
    harness.main()
