# SPDX-License-Identifier: GPL-2.0-or-later
"""Callgrind's format, by callgrind_annotate."""

import collections
import re

import harness
import sample
from sample import plain

ROW = re.compile(r"^" + r" *([\d,]+)(?: \( *[\d.]+%\))?" * 4 + r" +(\S.*)$")
FIGURES = (("self_ns", "total_ns"), ("cpu_self_ns", "cpu_ns"), ("off_self_ns", "off_ns"))


def add(sums, numbers):
    for index, number in enumerate(numbers):
        sums[index] += number


class Reader:
    def annotate(self, path, *options):
        """{what is said of a row: its four costs}."""
        # Source files of the sample do not exist. It leaves the folder that it runs in out of names.
        text = self.run_tool("callgrind_annotate", "--threshold=100", "--auto=no", *options,
                             path, cwd=self.directory).decode()
        rows = {}
        for line in text.splitlines():
            if fields := ROW.match(line):
                rows[fields[5]] = [int(number.replace(",", "")) for number in fields.groups()[:4]]
        return rows, text

    @staticmethod
    def callgrind_key(function):
        """The name by which callgrind_annotate knows a function, and its object."""
        name = plain(function["name"]) or "[unknown]"
        return f"{function['file'] or '???'}:{name.lstrip(' ')}", function["module"]

    def callgrind_costs(self, document):
        """{file:function: costs}, themselves and with callees, threads included."""
        own, inclusive = (collections.defaultdict(lambda: [0] * 4) for _ in range(2))
        for thread in document["threads"]:
            name = f"???:{plain(sample.thread_name(thread))}"
            add(own[name], (0, 0, 0, 0))
            calls, above = collections.Counter(), {None: frozenset()}
            nodes = list(harness.walk(thread["calls"]))
            for node, parent, _ in reversed(nodes):
                calls[node["id"]] += node["calls"]
                if parent:
                    calls[parent["id"]] += calls[node["id"]]
            for node, parent, _ in nodes:
                key = self.callgrind_key(document["functions"][node["function"]])
                callers = above[parent and parent["id"]]
                above[node["id"]] = callers if key in callers else callers | {key}
                costs = [node[total] for _, total in FIGURES] + [calls[node["id"]]]
                add(own[key[0]], [node[self_] for self_, _ in FIGURES] + [node["calls"]])
                if key not in callers:
                    add(inclusive[key[0]], costs)
                if not parent:
                    add(inclusive[name], costs)
        return own, inclusive

    def compare_costs(self, rows, expected):
        seen = collections.defaultdict(lambda: [0] * 4)
        for text, costs in rows.items():
            seen[text.rpartition(" [")[0]] = costs
        self.assertEqual(sorted(seen), sorted(expected))
        for name, costs in expected.items():
            self.assertEqual(seen[name], costs, name)

    def check_callgrind_functions(self):
        """Compares the costs of each function, itself and with its callees. Returns
        callgrind_annotate's text."""
        path, document = self.write("callgrind", "callgrind.out.x")
        own, inclusive = self.callgrind_costs(document)
        rows, text = self.annotate(path)
        self.assertEqual(rows.pop("PROGRAM TOTALS"),
                         [sum(costs[i] for costs in own.values()) for i in range(4)])
        self.compare_costs(rows, own)
        self.assertIn("\nentered ", text)
        rows, _ = self.annotate(path, "--inclusive=yes")
        del rows["PROGRAM TOTALS"]
        self.compare_costs(rows, inclusive)
        # Recursion counted once: what callgrind_annotate says is what JSON says of functions.
        keys = collections.Counter(self.callgrind_key(f)[0] for f in document["functions"])
        totals = {key: f["total_ns"] for f in document["functions"]
                  if keys[key := self.callgrind_key(f)[0]] == 1}
        self.assertTrue(totals)
        self.assertEqual({name: inclusive[name][0] for name in totals}, totals)
        return text

    def check_callgrind_calls(self):
        """Compares who calls whom, and how often."""
        path, document = self.write("callgrind", "callgrind.out.x")
        expected = collections.Counter()
        for thread in document["threads"]:
            for node, parent, _ in harness.walk(thread["calls"]):
                caller = (self.callgrind_key(document["functions"][parent["function"]]) if parent else
                          (f"???:{plain(sample.thread_name(thread))}", "???"))
                callee = self.callgrind_key(document["functions"][node["function"]])
                expected[caller, callee] += node["calls"]
        # Calls from before the start have costs and are no entries; but 0 would be no call.
        merged = collections.Counter()
        for (caller, callee), calls in expected.items():
            merged[caller[0], callee[0]] += calls or 1
        _, text = self.annotate(path, "--tree=calling")
        seen, caller = collections.Counter(), None
        for line in text.splitlines():
            if found := re.match(r"^[\s\d,.()%-]*?  \* +(.*) \[[^]]*\]+$", line):
                caller = found[1]
            elif found := re.match(r"^[\s\d,.()%-]*?  >   ?(.*) \(([\d,]+)x\) \[[^]]*\]+$", line):
                seen[caller, found[1].lstrip()] += int(found[2].replace(",", ""))
        self.assertEqual(seen, merged)


class Callgrind(Reader, sample.TestCase):
    def test_functions(self):
        text = self.check_callgrind_functions()
        self.assertIn("\nProfiled target:  prog an \"argument\" ", text)

    def test_calls(self):
        self.check_callgrind_calls()

    def test_speedscope(self):
        """Speedscope guesses paths from the graph of calls; functions have the file's figures."""
        path, document = self.write("callgrind", "callgrind.out.x", "-d", "10")
        saved = self.open_in_speedscope(path)
        names = {frame["name"] for frame in saved["shared"]["frames"]}
        self.assertLessEqual({"main", "self", "semi;colon", "work"}, names)
        self.assertEqual(len(saved["profiles"]), 4)


if __name__ == "__main__":
    harness.main()
