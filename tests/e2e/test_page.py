# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of -f html, opened and used in a real browser. Its numbers are those of the JSON of the
same profile."""

import json
import os
import re
import subprocess

import browser
import harness
from harness import BUILD, program

PROFILES = os.path.join(BUILD, "profiles")
FIGURES = {"calls": "calls", "total": "total_ns", "self": "self_ns", "off": "off_ns",
           "off_self": "off_self_ns", "error": "error_ns", "self_error": "self_error_ns"}
SIZE_MAX = 2_000_000
CALLS_MAX = 500_000


def percent(part, whole):
    value = 100 * part / whole if whole else 0
    return "<0.1%" if 0 < value < 0.05 else f"{value:.1f}%"


def exact(ns):
    return f"{ns:,} ns"


def number(text):
    return int(re.sub(r"[^0-9]", "", text))


def weights(node):
    """By weight what a node weighs with all below it."""
    return {"wall": node["total_ns"], "cpu": node["cpu_ns"], "off": node["off_ns"],
            "calls": node["calls"] + sum(weights(child)["calls"] for child in node["children"])}


class Reader:
    """Opens pages, and says what they show."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.shared()

    @staticmethod
    def data_of(path):
        """Returns the data that the page has in it."""
        with open(path, encoding="utf-8") as file:
            return json.loads(re.search(
                r'<script type="application/json" id="profile">\n(.*?)\n?</script>',
                file.read(), re.S)[1])

    def show(self, view):
        self.browser.click(f"#tab-{view}")

    def tearDown(self):
        noise, requests = self.browser.logs(), self.browser.requests()
        super().tearDown()
        self.assertEqual(noise, [], "the page has complained")
        self.assertEqual([url for url in requests if not url.startswith(("file:", "data:"))], [])

    def wait_for(self, expected, get):
        """Until `get()` gives it."""
        self.browser.wait(lambda: get() == expected)
        self.assertEqual(get(), expected)

    def rows(self, grid):
        """Returns a table's rows, top to bottom: each row's cells as [text, title], and its
        level."""
        return self.browser.run("""
            return [...document.querySelectorAll(`#${arguments[0]} .rows .row:not([hidden])`)]
                .sort((a, b) => a.ariaRowIndex - b.ariaRowIndex)
                .map((row) => ({
                    level: Number(row.getAttribute("aria-level")),
                    name: row.querySelector(".name").textContent,
                    cells: [...row.children].map((cell) => [cell.textContent, cell.title]),
                }))""", grid)

    def names(self, grid):
        return [row["name"] for row in self.rows(grid)]

    def status(self):
        """The line below: {what: [text, exact]}, and "name"."""
        return self.browser.run("""
            const facts = { name: document.querySelector("#status b")?.textContent };

            for (const what of document.querySelectorAll("#status small"))
                facts[what.textContent] = [what.nextSibling.textContent, what.nextSibling.title];
            return facts""")

    def about(self):
        return dict(zip(self.browser.texts(".about dt"), self.browser.texts(".about dd")))

    def text(self, selector):
        return self.browser.run("return document.querySelector(arguments[0]).textContent", selector)

    def open_all_rows(self):
        """The whole tree."""
        self.browser.run("document.querySelector('#tree-grid').focus()")
        self.browser.press("HOME")
        threads = self.browser.run("return document.querySelector('#scope').value === 'apart' ? "
                                   "document.querySelectorAll('#scope option').length - 2 : 1")
        # All below each, which is shut before going on to the next.
        self.browser.press(*("*", "ARROW_LEFT", "ARROW_DOWN") * threads)
        self.browser.press("END", *("ARROW_RIGHT", "ARROW_UP") * threads, "HOME")

    def check_paths(self, data, document):
        paths, functions = data["paths"], document["functions"]
        expected = [node | {"depth": depth - 1} for node, _, depth in harness.nodes_of(document)]
        self.assertEqual(paths["depth"], [node["depth"] for node in expected])
        self.assertEqual(paths["function"], [node["function"] for node in expected])
        for theirs, ours in FIGURES.items():
            self.assertEqual(paths[theirs], [node[ours] for node in expected], theirs)
            self.assertEqual(data["functions"][theirs], [f.get(ours, 0) for f in functions], theirs)
        self.assertEqual(paths["roots"], [len(t["calls"]) for t in document["threads"]])

    def check_data(self, data, document):
        """The columns are the JSON."""
        functions, theirs = document["functions"], data["functions"]
        self.check_paths(data, document)
        for key in ("p50", "p90", "p99", "min", "max"):
            self.assertEqual(theirs[key], [f[f"{key}_ns"] for f in functions])
        self.assertEqual(theirs["name"], [f["name"] for f in functions])
        self.assertEqual([f or name for f, name in zip(theirs["symbol"], theirs["name"])],
                         [f["symbol"] or f["name"] for f in functions])
        before, modules = None, []
        for module in theirs["module"]:
            before = before if module == 0 else module
            modules.append(before)
        self.assertEqual(modules, [f["module"] for f in functions])
        self.assertEqual([sum(h[1::2]) for h in theirs["histogram"]],
                         [sum(row[2] for row in f["histogram"]) for f in functions])
        self.assertEqual(data["accounting"], document["accounting"])
        self.assertEqual((data["duration"], data["paused"]),
                         (document["duration_ns"], document["paused_ns"]))


class Case(Reader, harness.TestCase):
    def made(self, *kind):
        """The page of a made-up profile, as a file and its data, and its JSON."""
        path = self.path(f"{kind[0]}.html")
        with open(path, "wb") as file:
            subprocess.run([PROFILES, kind[0], "html", *kind[1:]], stdout=file, check=True)
        done = subprocess.run([PROFILES, kind[0], "json", *kind[1:]], stdout=subprocess.PIPE,
                              check=True)
        return path, self.data_of(path), json.loads(done.stdout)

    def open(self, *kind, view="flame", dark=False):
        path, _, document = self.made(*kind)
        self.browser.open(path, dark)
        self.show(view)
        return document


class Data(Case):
    """The data that the page has in it."""

    def test_columns_are_the_json(self):
        for kind in (("small",), ("hostile",), ("deep",), ("empty",), ("large", "10000", "0")):
            _, data, document = self.made(*kind)
            self.check_data(data, document)

    def test_size(self):
        path, _, _ = self.made("large", "10000", "0")
        print(f"     10,000 paths: {os.path.getsize(path):,} bytes")
        self.assertLessEqual(os.path.getsize(path), SIZE_MAX)

    def test_of_very_many_calls_the_longest(self):
        _, data, _ = self.made("large", "1000", "600000")
        lengths = [length for flat in data["timeline"]["threads"] for length in flat[1::4]]
        self.assertEqual(data["timeline"]["calls"], 600000)
        self.assertLessEqual(len(lengths), CALLS_MAX)
        # Of the shortest calls that are kept, one in so many is missing: at worst every other one.
        self.assertGreater(len(lengths), CALLS_MAX // 2)
        self.assertGreaterEqual(min(lengths), data["timeline"]["least"])


class Tables(Case):
    def test_tree(self):
        document = self.open("small", view="tree")
        self.browser.click("#scope option[value=apart]")
        self.open_all_rows()
        whole = sum(root["total_ns"] for t in document["threads"] for root in t["calls"])
        expected = []
        for thread in sorted(document["threads"], reverse=True,
                             key=lambda t: sum(root["total_ns"] for root in t["calls"])):
            expected.append(f"{thread['comm']}-{thread['pid']}/{thread['tid']}")
            for node, _, depth in harness.walk(thread["calls"]):
                expected.append([
                    document["functions"][node["function"]]["name"], depth + 1,
                    percent(node["total_ns"], whole), f"{node['calls']:,}",
                    *(exact(node[key]) for key in ("total_ns", "self_ns", "cpu_ns", "cpu_self_ns",
                                                   "off_ns"))])
        rows = [row["name"] if row["level"] == 1 else
                [row["name"], row["level"], row["cells"][0][0], row["cells"][1][0],
                 *(cell[1] for cell in row["cells"][2:7])] for row in self.rows("tree-grid")]
        self.assertEqual(rows, expected)

    def test_threads_of_a_name_are_one(self):
        document = self.open("small", view="tree")
        sums = {}
        for thread in document["threads"]:
            names = []
            for node, _, depth in harness.walk(thread["calls"]):
                names[depth - 1:] = [document["functions"][node["function"]]["name"]]
                figures = sums.setdefault((depth + 1, *names), [0] * 6)
                for i, key in enumerate(("calls", "total_ns", "self_ns", "cpu_ns", "cpu_self_ns",
                                         "off_ns")):
                    figures[i] += node[key]
        self.open_all_rows()
        rows, names = {}, []
        for row in self.rows("tree-grid"):
            names[row["level"] - 1:] = [row["name"]]
            rows[(row["level"], *names[1:])] = [number(row["cells"][1][0] or "0"),
                                                *(number(cell[1]) for cell in row["cells"][2:7])]
        self.assertEqual(names[0], "prog (2 threads)")
        del rows[(1,)]
        self.assertEqual(rows, sums)
        self.browser.click("#scope option[value='1']")
        self.assertEqual(self.names("tree-grid"), ["prog-100/101", "main", "work", "leaf(int)"])

    def test_like_threads_are_together(self):
        """Those whose names differ by a number, and those of several processes."""
        path = self.path("numbered.html")
        done = self.run_proftrace("-F", "work", "-o", path, "--", program("numbered"), 2, 3)
        self.assertEqual(done.status, 0, str(done))
        self.browser.open(path)
        self.show("tree")
        self.browser.run("document.querySelector('#tree-grid').focus()")
        self.browser.press("END", "ARROW_RIGHT", "HOME", "ARROW_RIGHT")
        self.assertEqual({row["name"] for row in self.rows("tree-grid") if row["level"] == 1},
                         {"numbered (2 processes)", "worker-* (2 processes, 6 threads)"})
        self.assertEqual(sorted(number(row["cells"][1][0]) for row in self.rows("tree-grid")
                                if row["name"] == "work"), [2, 60])

    def test_spans_are_beside_calls(self):
        """Spans are not among the calls of threads of the same name, and are no more threads."""
        self.open("spans", view="tree")
        self.browser.run("document.querySelector('#tree-grid').focus()")
        self.browser.press("END", "ARROW_RIGHT", "HOME", "*")
        self.assertEqual(self.names("tree-grid"), [
            "prog (2 threads)", "main", "work", "leaf(int)", "idle", "spans of prog-100/100",
            "[request]"])
        self.assertIn(" 2 threads", self.text("#facts"))
        self.assertEqual(self.text("#scope option"), "All 2 threads, by name")
        self.show("about")
        self.assertEqual(self.about()["Threads"], "2")
        self.open("sessions", view="about")
        self.assertEqual(self.about()["Session parts"], "3")

    def test_functions(self):
        document = self.open("small", view="functions")
        whole = sum(f["self_ns"] for f in document["functions"])
        expected = {f["name"]: [percent(f["self_ns"], whole), f"{f['calls']:,}",
                                *(exact(f[key]) for key in ("total_ns", "self_ns", "cpu_self_ns")),
                                *(exact(f[key]) if f["histogram"] else ""
                                  for key in ("p50_ns", "p90_ns", "p99_ns")), exact(f["max_ns"])]
                    for f in document["functions"]}
        rows = {row["name"]: [row["cells"][1][0], row["cells"][2][0],
                              *(cell[1] for cell in row["cells"][3:10])]
                for row in self.rows("function-grid")}
        self.assertEqual(rows, expected)

    def test_nothing_is_cut(self):
        """Figures are whole, and marks in the picture of durations do not cover each other."""
        for kind in ("small",), ("unsure",), ("large", "1000", "0"):
            document = self.open(*kind, view="functions")
            for view, grid in ("tree", "tree-grid"), ("functions", "function-grid"):
                self.show(view)
                cut = self.browser.run("""
                    return [...document.querySelectorAll(`#${arguments[0]} .cell:not(.left)`)]
                        .filter((cell) => cell.scrollWidth > cell.clientWidth)
                        .map((cell) => cell.textContent)""", grid)
                self.assertEqual(cut, [])
            # Nor would cells of single calls be cut if their times were estimates.
            self.assertEqual(self.browser.run("""
                return [...document.querySelectorAll("#function-grid .rows .row")]
                    .flatMap((row) => [...row.children].slice(6, 10))
                    .filter((cell) => cell.firstChild)
                    .filter((cell) => {
                        cell.firstChild.textContent = "~88.8";
                        cell.lastChild.textContent = " ms";
                        return cell.scrollWidth > cell.clientWidth;
                    }).length"""), 0)
            self.browser.run("document.querySelector('#function-grid').focus()")
            self.browser.press("HOME")
            for _ in document["functions"][:30]:
                covered = self.browser.run("""
                    const marks = [...document.querySelectorAll("aside text.mark")];
                    const boxes = marks.map((mark) => mark.getBoundingClientRect());

                    return boxes.some((a, i) => boxes.slice(i + 1).some((b) => a.left < b.right &&
                        b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom))""")
                self.assertFalse(covered, self.text("aside h2"))
                self.browser.press("ARROW_DOWN")

    def lines(self):
        """A page with lines of source, whose header nobody else may read; and the rows it shows,
        each as [heading or source, what stands behind it, hits, time, share, line]."""
        self.source, self.header = self.path("a.c"), self.path("b.h")
        with open(self.source, "w", encoding="utf-8") as file:
            file.writelines(f"\tline(<b>{i}</b>);\n" for i in range(1, 50))
        with open(self.header, "w", encoding="utf-8") as file:
            file.write("secret\n" * 9)
        os.chmod(self.source, 0o644)
        os.chmod(self.header, 0o600)
        return self.open("lines", self.source, self.header, view="lines")

    def shown_lines(self):
        return [[row["name"], *(re.sub(r"\s+", " ", cell[0]) for cell in row["cells"][:4])]
                for row in self.rows("lines-grid")]

    def test_lines(self):
        self.lines()
        rows = self.shown_lines()
        source = [f"{'':8}line(<b>{i}</b>);" for i in range(50)]
        nothing = ["", "", ""]
        expected = [["work", *nothing, ""], *([source[i], *nothing, str(i)] for i in (3, 4)),
                    [source[5], "400", "100 us", "1.2%", "5"], [source[6], *nothing, "6"],
                    [source[7], "400", "8.00 ms", "96.4%", "7"],
                    [source[8], "400", "50.0 us", "0.6%", "8"],
                    [source[9], "0", "0 ns", "0.0%", "9"], ["\u2026", *nothing, ""],
                    [source[20], "-", "", "", "20"], [source[21], *nothing, "21"],
                    [source[22], "400", "20.0 us", "0.2%", "22"],
                    ["clamp<int>", *nothing, ""], ["", "400", "70.0 us", "0.8%", "2"],
                    ["<b>min", *nothing, ""], ["", "400", "60.0 us", "0.7%", "5"],
                    ["leaf(int)", *nothing, ""], ["", "40,000", "2.50 ms", "100.0%", "9"],
                    ["main", *nothing, ""], *([source[i], *nothing, str(i)] for i in (40, 41)),
                    [source[42], "1", "900 us", "100.0%", "42"],
                    [source[43], "2", "200 ns", "<0.1%", "43"]]
        self.assertEqual(rows, expected)
        behind = self.browser.texts("#lines-grid .row .object")
        self.assertIn(f"{self.header} (no source: not readable for everyone), inlined from "
                      f"clamp<int> at {self.header}:2, in work at {self.source}:7", behind)
        self.assertIn("not counted: none of its code can be probed", behind)
        self.assertNotIn("secret", self.browser.run("return document.documentElement.innerHTML"))
        self.show("about")
        self.assertEqual(self.about()["Lines"], "3 hit in calls that were not recorded")

    def test_lines_by_keys(self):
        self.lines()
        self.browser.run("document.querySelector('#lines-grid').focus()")

        def active():
            return self.browser.run("return document.querySelector("
                                    "'#lines-grid [aria-selected=true] .name').textContent")
        self.browser.press("n")
        self.assertEqual(active(), "leaf(int)")
        self.browser.press("n", "n")
        self.assertEqual(active(), "main")
        self.browser.press("p", "p", "p")
        self.assertEqual(active(), "work")
        self.browser.press(*("ARROW_DOWN",) * 5)
        self.assertEqual(self.status(), {"name": "work", "Hits": ["400", ""],
                                         "Time": ["8.00 ms", "8,000,000 ns"],
                                         "Uncertain by": ["400 us", "400,000 ns"],
                                         "Share": ["96.4%", ""]})

    def test_lines_sorted_and_searched(self):
        self.lines()
        self.browser.click("#lines-grid .head .cell:nth-child(2) button")
        self.assertEqual([row[2] for row in self.shown_lines()][:3],
                         ["8.00 ms", "2.50 ms", "900 us"])
        self.browser.run("document.querySelector('#query').focus()")
        self.browser.press(*"main", "ENTER")
        self.assertEqual([row[4] for row in self.shown_lines()], ["42", "43"])
        self.browser.run("document.querySelector('#query').focus()")
        self.browser.press("ESCAPE")
        # From a function to its lines.
        self.show("functions")
        self.browser.run("""[...document.querySelectorAll("#function-grid .row")]
            .find((row) => row.querySelector(".name")?.textContent === "main").click()""")
        self.browser.run("""[...document.querySelectorAll("aside button")]
            .find((button) => button.textContent === "Show its lines").click()""")
        self.assertEqual(self.browser.run("return document.querySelector("
                                          "'#lines-grid [aria-selected=true] .name').textContent"),
                         "main")

    def test_no_lines(self):
        self.open("small")
        self.assertNotIn("Lines", self.browser.texts("#tabs button"))

    def test_sorting(self):
        document = self.open("small", view="functions")

        def by(key, reverse):
            return [f["name"] for f in sorted(document["functions"], reverse=reverse,
                                              key=lambda f: f[key])]

        header = "#function-grid .head .cell:nth-child(3)"
        self.assertEqual(self.names("function-grid"), by("self_ns", True))
        for order, reverse in (("descending", True), ("ascending", False)):
            self.browser.click(f"{header} button")
            self.assertEqual(self.names("function-grid"), by("calls", reverse))
            self.assertEqual(self.browser.one(header).get_attribute("aria-sort"), order)
        self.browser.click("#function-grid .head .cell:nth-child(1) button")
        self.assertEqual(self.names("function-grid"), sorted(self.names("function-grid")))
        self.show("tree")
        self.browser.click("#scope option[value='0']")
        self.open_all_rows()
        self.assertEqual(self.names("tree-grid")[1:], ["main", "work", "leaf(int)", "idle"])
        self.browser.click("#tree-grid .head .cell:nth-child(2) button")
        self.browser.click("#tree-grid .head .cell:nth-child(2) button")
        self.assertEqual(self.names("tree-grid")[1:], ["main", "idle", "work", "leaf(int)"])

    def test_keys(self):
        self.open("small", view="tree")
        self.browser.click("#scope option[value='0']")
        self.browser.run("document.querySelector('#tree-grid').focus()")
        self.browser.press("HOME", "ARROW_LEFT")
        self.assertEqual(self.names("tree-grid"), ["prog-100/100"])
        self.browser.press("ARROW_RIGHT", "ARROW_RIGHT")
        self.assertEqual(self.status()["name"], "main")
        self.browser.press("ARROW_LEFT", "ARROW_LEFT")
        self.assertEqual(self.status()["name"], "prog-100/100")
        self.browser.press("END")
        active = self.browser.one("#tree-grid").get_attribute("aria-activedescendant")
        self.assertEqual(self.text(f"#{active} .name"), "main")
        self.browser.press("ENTER", "ENTER")
        self.assertEqual(self.browser.one(f"#{active}").get_attribute("aria-expanded"), "false")

    def test_detail(self):
        self.open("small", view="functions")
        self.browser.click("#function-grid .head .cell:nth-child(3) button")
        self.assertEqual(self.text("aside h2"), "leaf(int)")
        self.assertIn("_Z4leafi", self.browser.texts("aside p"))
        self.assertGreater(len(self.browser.texts("aside svg rect")), 4)
        callers = dict(zip(self.browser.texts(".neighbours .name"),
                           self.browser.texts(".neighbours li > :last-child")))
        self.assertEqual(callers, {"work": "60,000"})
        self.browser.click(".neighbours button")
        self.assertEqual(self.text("aside h2"), "work")


class Picture(Case):
    CANVAS = "#view-flame canvas"

    def test_zoom(self):
        document = self.open("small")
        self.browser.click("#scope option[value='0']")
        zoomed = lambda: self.text("#view-flame .zoomed")
        root = document["threads"][0]["calls"][0]
        # The heaviest callee is the leftmost: work, in the third row.
        work = max(root["children"], key=lambda node: node["total_ns"])
        self.browser.hover_at(self.CANVAS, 0.3, 2 + 2.5 * 19)
        self.wait_for("work", lambda: self.status().get("name"))
        self.assertEqual(self.status()["Wall"][1], exact(work["total_ns"]))
        self.assertFalse(self.browser.one("#view-flame .viewbar button").is_enabled())
        self.browser.click_at(self.CANVAS, 0.3, 2 + 2.5 * 19)
        self.wait_for(f"Zoomed to {percent(work['total_ns'], root['total_ns'])}", zoomed)
        # All of the row is work now.
        self.browser.hover_at(self.CANVAS, 0.95, 2 + 2.5 * 19)
        self.wait_for("work", lambda: self.status().get("name"))
        self.browser.click("#view-flame .viewbar button")
        self.wait_for("", zoomed)
        self.browser.press("+")
        self.wait_for("Zoomed to 66.7%", zoomed)
        self.browser.press("ESCAPE")
        self.wait_for("", zoomed)

    def test_keys(self):
        document = self.open("small")
        root = document["threads"][0]["calls"][0]
        self.browser.click("#scope option[value='0']")
        self.browser.run("document.querySelector(arguments[0]).focus()", self.CANVAS)
        seen = []
        for key in ("ARROW_DOWN", "ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT", "ARROW_LEFT",
                    "ARROW_DOWN", "ARROW_UP", "ARROW_UP"):
            self.browser.press(key)
            seen.append(self.status()["name"])
        self.assertEqual(seen, ["prog-100/100", "main", "work", "idle", "work", "leaf(int)", "work",
                                "main"])
        self.assertEqual(self.status()["Calls"][0], "1")
        self.assertIn("main", self.text("#spoken"))
        self.browser.press("ARROW_DOWN", "ARROW_RIGHT", "ENTER")
        idle = min(root["children"], key=lambda node: node["total_ns"])
        self.wait_for(f"Zoomed to {percent(idle['total_ns'], root['total_ns'])}",
                      lambda: self.text("#view-flame .zoomed"))

    def test_weights(self):
        document = self.open("small", view="tree")
        self.browser.click("#scope option[value='0']")
        root = document["threads"][0]["calls"][0]
        for weight in ("cpu", "off", "calls", "wall"):
            self.browser.click(f"#weights label:has([value={weight}])")
            work = next(child for child in root["children"]
                        if document["functions"][child["function"]]["name"] == "work")
            row = next(row for row in self.rows("tree-grid") if row["name"] == "work")
            self.assertEqual(row["cells"][0][0],
                             percent(weights(work)[weight], weights(root)[weight]), weight)
        # In the picture idle, which waits, is the widest off the CPU and has no width by calls.
        self.show("flame")
        for weight, name in (("off", "idle"), ("cpu", "work"), ("calls", "work")):
            self.browser.click(f"#weights label:has([value={weight}])")
            self.browser.hover_at(self.CANVAS, 0.02, 2 + 2.5 * 19)
            self.wait_for(name, lambda: self.status().get("name"))

    def test_search(self):
        document = self.open("small")
        self.browser.click("#scope option[value=apart]")
        whole = sum(root["total_ns"] for t in document["threads"] for root in t["calls"])
        leaf = sum(node["total_ns"] for node, _, _ in harness.nodes_of(document)
                   if document["functions"][node["function"]]["name"] == "leaf(int)")
        before = self.pixels()
        self.browser.press("/", *"LEAF", "ENTER")
        self.assertEqual(self.text("#found"), f"1 found, {percent(leaf, whole)}")
        self.browser.wait(lambda: self.pixels() != before)
        self.assertNotEqual(self.pixels(), before, "what was not found is not dimmed")
        self.show("functions")
        self.assertEqual(self.names("function-grid"), ["leaf(int)"])
        self.show("tree")
        self.assertEqual(self.names("tree-grid"), ["prog-100/100", "main", "work", "leaf(int)",
                                                   "prog-100/101", "main", "work", "leaf(int)"])
        self.browser.press("/", "ESCAPE")
        self.assertEqual(self.text("#found"), "")
        self.assertIn("idle", self.names("tree-grid"))

    def test_views_that_were_not_on_the_screen(self):
        """Views that were not on the screen have changed, too, once they are seen again."""
        document = self.open("small", view="tree")
        for view in ("functions", "flame"):
            self.show(view)
        self.browser.click("#scope option[value='1']")
        self.browser.click("#weights label:has([value=calls])")
        self.browser.press("/", *"work", "ENTER")
        self.browser.click("#theme")
        self.show("tree")
        # The path that was found is open as before, so its callee is shown.
        found = ["prog-100/101", "main", "work", "leaf(int)"]
        self.assertEqual(self.names("tree-grid"), found)
        self.assertEqual(self.rows("tree-grid")[2]["cells"][0][0], percent(20100, 20101))
        swatch = "return document.querySelector('#tree-grid .match .swatch').style.background"
        dark = self.browser.run(swatch)
        self.browser.click("#theme")
        self.assertNotEqual(self.browser.run(swatch), dark)
        self.show("functions")
        whole = sum(f["calls"] for f in document["functions"])
        work, = self.rows("function-grid")
        self.assertEqual([work["name"], work["cells"][1][0]], ["work", percent(400, whole)])
        # Without another search the tree keeps what was found when only the weight changes.
        self.show("flame")
        self.browser.click("#weights label:has([value=off])")
        self.show("tree")
        self.assertEqual(self.names("tree-grid"), found)

    def pixels(self):
        """Returns what is drawn, as a text."""
        return self.browser.run("return document.querySelector(arguments[0]).toDataURL()",
                                self.CANVAS)

    def test_dark(self):
        dark = lambda: self.browser.run("return document.documentElement.dataset.theme")
        ground = lambda: self.browser.run("return getComputedStyle(document.body).backgroundColor")
        self.open("small")
        self.assertEqual((dark(), ground()), ("light", "rgb(255, 255, 255)"))
        before = self.pixels()
        self.browser.click("#theme")
        self.assertEqual(dark(), "dark")
        self.assertNotEqual(ground(), "rgb(255, 255, 255)")
        self.browser.wait(lambda: self.pixels() != before)
        self.assertNotEqual(self.pixels(), before)
        self.browser.click("#theme")
        self.assertEqual(dark(), "light")
        self.open("small", dark=True)
        self.assertEqual(dark(), "dark")

    def test_inverted(self):
        """On top each function by its own time, below it its callers, to the thread."""
        document = self.open("small")
        self.browser.click("#scope option[value='0']")
        own = {}
        for node, path, _ in harness.nodes_of({**document, "threads": document["threads"][:1]}):
            name = document["functions"][node["function"]]["name"]
            own[name] = own.get(name, 0) + node["self_ns"]
        heaviest = max(own, key=own.get)
        self.browser.run("document.querySelector(arguments[0]).focus()", self.CANVAS)
        self.browser.press("i", "HOME")
        self.assertEqual(self.status()["name"], heaviest)
        self.assertEqual(self.status()["Wall"][1], exact(own[heaviest]))
        self.assertEqual(self.status()["Share"][0], percent(own[heaviest], sum(own.values())))
        seen = []
        for _ in range(3):
            self.browser.press("ARROW_DOWN")
            seen.append(self.status()["name"])
        self.assertEqual(seen[-1], "prog-100/100" if heaviest == "leaf(int)" else seen[-1])
        self.assertEqual(seen[:2], ["work", "main"] if heaviest == "leaf(int)" else seen[:2])
        self.browser.press("i", "HOME")
        self.assertEqual(self.status()["name"], "prog-100/100")

    def test_sandwich(self):
        """Above a function who calls it, below it what it calls."""
        document = self.open("small", view="functions")
        self.browser.run("document.querySelector('#function-grid').focus()")
        row = self.names("function-grid").index("work")
        self.browser.press("HOME", *["ARROW_DOWN"] * row)
        self.browser.run("[...document.querySelectorAll('#view-functions aside button')]"
                         ".find((b) => b.textContent === 'Sandwich').click()")
        self.assertEqual(self.text("#view-sandwich h2"), "work")
        total = sum(node["total_ns"] for node, _, _ in harness.nodes_of(document)
                    if document["functions"][node["function"]]["name"] == "work")
        self.browser.press("HOME")
        self.assertEqual((self.status()["name"], self.status()["Wall"][1]), ("work", exact(total)))
        self.browser.press("ARROW_DOWN")
        self.assertEqual(self.status()["name"], "leaf(int)")
        callers = "document.querySelectorAll('#view-sandwich canvas')[0].focus()"
        self.browser.run(callers)
        self.browser.press("HOME")
        self.assertEqual((self.status()["name"], self.status()["Wall"][1]), ("main", exact(total)))
        self.browser.press("ARROW_UP")
        self.assertIn("prog", self.status()["name"])
        # The sandwich of a caller, from where it is.
        self.browser.press("ARROW_DOWN", "s")
        self.assertEqual(self.text("#view-sandwich h2"), "main")

    def press_path(self, text):
        self.browser.run("""
            [...document.querySelectorAll(".sessions .path button")]
                .find((way) => way.textContent === arguments[0]).click()""", text)

    def scope(self):
        return self.browser.run("return document.querySelector('#scope').selectedOptions[0].text")

    def test_paths_of_sessions(self):
        """From a path to the session that spent most on it, on whichever of its threads."""
        self.open("sessions", view="flame")
        # By time off the CPU a path may have no width: a click on its name switches to wall time.
        self.browser.click("#weights label:has([value=off])")
        self.browser.press("i")
        for path, name, scope in (
                ("main \u203a work \u203a leaf(int)", "leaf(int)", "session 0"),
                ("main \u203a [request]", "[request]", "session 2")):
            self.show("sessions")
            self.press_path(path)
            self.assertTrue(self.browser.one("#view-flame").is_displayed())
            self.assertEqual((self.status()["name"], self.scope()), (name, scope))
        self.assertTrue(self.browser.run("return document.querySelector('[value=wall]').checked"))
        # All parts of a session are on the screen.
        self.show("sessions")
        self.browser.click(".sessions [aria-label='Timeline of session 2']")
        self.assertEqual((self.status()["name"], self.status()["In"][0]), ("main", "session 1"))
        self.assertEqual(self.scope(), "All session parts, apart")
        # Choose a step that no session has, as no calls were kept of that step.
        self.show("sessions")
        step = "acme::server::Handler<std::basic_string<char>>::step_1"
        self.browser.run("""
            [...document.querySelectorAll(".sessions .path button")]
                .find((way) => way.textContent.endsWith(arguments[0])).click()""", step)
        self.assertTrue(self.browser.one("#view-sessions").is_displayed())
        self.assertEqual(self.status()["name"], step)

    def test_narrow(self):
        """Nothing lies beyond the right edge of a window of 500 pixels."""
        self.open("values")
        self.check_narrow("flame", "tree", "functions", "sandwich", "timeline", "about")
        self.browser.click("#theme")
        self.assertEqual(self.text("#theme"), "Light")
        # With more tabs than there is room for they scroll.
        self.open("sessions")
        self.check_narrow("sessions", but="#tabs *")
        # Columns that others tell as well are left out.
        self.assertEqual(self.browser.texts("table.reasons:first-of-type th")[:5],
                         ["Slow", "More", "Waiting", "Share", "Path"])

    def check_narrow(self, *views, but="#nothing"):
        self.browser.driver.set_window_size(500, 700)
        beyond = """
            return [...document.querySelectorAll("button, select, input, h1, p, canvas, h2, td")]
                .filter((e) => e.checkVisibility() && !e.closest(".grid, .hidden") &&
                    !e.matches(arguments[0]))
                .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5)
                .map((e) => e.id || e.textContent)"""
        for view in views:
            self.browser.run("document.querySelector(`#tab-${arguments[0]}`).click()", view)
            self.wait_for([], lambda: self.browser.run(beyond, but))
            self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"),
                             self.browser.run("return innerWidth"))

    def test_tab_order(self):
        self.open("small")
        seen = []
        self.browser.run("document.activeElement.blur()")
        focus = ("const e = document.activeElement;"
                 "return e.id || e.value || e.getAttribute('aria-label') || e.tagName")
        self.browser.run("document.body.tabIndex = -1; document.body.focus()")
        for _ in range(7):
            self.browser.press("TAB")
            seen.append(self.browser.run(focus))
        self.assertEqual(seen[:5], ["theme", "tab-flame", "wall", "scope", "query"])
        # "Inverted": the other two buttons have nothing to do yet.
        self.assertEqual(seen[5], "BUTTON")
        self.assertTrue(seen[6].startswith("Flame graph"), seen)
        # The element with the focus shows that.
        outline = self.browser.run("return getComputedStyle(document.activeElement).outlineStyle")
        self.assertEqual(outline, "solid")
        self.browser.run("document.querySelector('#tab-flame').focus()")
        self.browser.press("ARROW_RIGHT")
        self.assertEqual(self.browser.run(focus), "tab-tree")
        self.assertTrue(self.browser.one("#view-tree").is_displayed())
        self.assertFalse(self.browser.one("#view-flame").is_displayed())

    def test_everything_has_a_name(self):
        """Chromium's own tree for those who cannot see."""
        for view in ("flame", "tree", "functions", "sandwich", "timeline", "sessions", "about"):
            self.open("sessions" if view == "sessions" else "values", view=view)
            tree = self.browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            roles = {"button", "tab", "radio", "combobox", "searchbox", "application", "grid",
                     "treegrid", "columnheader", "tabpanel"}
            for node in tree:
                role = node.get("role", {}).get("value")
                if role in roles and not node.get("ignored"):
                    self.assertTrue(node.get("name", {}).get("value"), f"{view}: {node}")


class Time(Case):
    CANVAS = "#view-timeline canvas"

    def test_calls(self):
        self.open("small", view="timeline")
        self.browser.run("document.querySelector(arguments[0]).focus()", self.CANVAS)
        seen = []
        for key in ("HOME", "ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT", "ARROW_UP", "ARROW_RIGHT",
                    "ARROW_UP", "ARROW_RIGHT"):
            self.browser.press(key)
            status = self.status()
            seen.append((status["name"], number(status["At"][1]), number(status["Took"][1])))
        main, works = ("main", 0, 14500000), [("work", 1000000, 4000000), ("work", 6000000, 4000000)]
        leaves = [("leaf(int)", 2000000, 500000), ("leaf(int)", 3000000, 250000)]
        self.assertEqual(seen, [main, works[0], leaves[0], leaves[1], works[0], works[1], main,
                                main])
        self.assertEqual(self.status()["In"][0], "prog-100/100")
        self.browser.press("ARROW_DOWN", "ENTER")
        self.wait_for("4.40 ms of 15.0 ms", lambda: self.text("#view-timeline .zoomed"))
        # In the middle of the screen is what was zoomed into.
        self.browser.hover_at(self.CANVAS, 0.5, 22 + 20 + 17 + 8)
        self.wait_for("work", lambda: self.status().get("name"))
        self.browser.press("ESCAPE")
        self.wait_for("", lambda: self.text("#view-timeline .zoomed"))
        self.browser.click("#scope option[value='1']")
        self.browser.hover_at(self.CANVAS, 0.2, 22 + 20 + 8)
        self.wait_for(["prog-100/101", ""], lambda: self.status().get("In"))

    def test_what_was_found_is_seen(self):
        """However many others are at the same place of the screen."""
        def bright(query):
            """How many columns of the first row are not dim."""
            self.browser.press("/", *query, "ENTER")
            self.browser.run_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
            return self.browser.run("""
                const canvas = document.querySelector(arguments[0]);
                const copy = new OffscreenCanvas(canvas.width, 1).getContext("2d");

                copy.drawImage(canvas, 0, -(22 + 20 + 8));
                const { data } = copy.getImageData(0, 0, canvas.width, 1);

                return data.filter((value, i) => i % 4 === 3 && value > 100).length""", self.CANVAS)

        self.open("unsure", view="timeline")
        first, second, none = map(bright, ("function_0", "function_1", "function_9"))
        self.assertEqual(first, second)
        self.assertGreater(first, none + 20)

    def test_without_calls(self):
        self.open("deep", view="timeline")
        self.assertIn("record with --calls", self.text("#view-timeline"))

    def test_weights_where_something_is_weighed(self):
        self.open("small")
        for view, weighed in (("timeline", False), ("about", False), ("tree", True)):
            self.show(view)
            self.assertEqual(self.browser.run("return document.querySelector('#weights').disabled"),
                             not weighed, view)

    def test_names_of_tracks_stay(self):
        """Scrolled down, a track still says whose it is."""
        self.open("large", "1000", "2000", view="timeline")
        self.browser.driver.set_window_size(1440, 500)
        ink = """
            const canvas = document.querySelector(arguments[0]);
            const copy = new OffscreenCanvas(60, 12), ctx = copy.getContext("2d");

            ctx.fillStyle = "white";
            ctx.fillRect(0, 0, 60, 12);
            ctx.drawImage(canvas, -4, -27);
            return [...ctx.getImageData(0, 0, 60, 12).data].join();"""
        scroll = "document.querySelector('#view-timeline .surface').scrollTop = arguments[0]"
        self.browser.run_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        name = self.browser.run(ink, self.CANVAS)
        self.browser.run(scroll, 40)
        self.browser.run_async("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.assertTrue(self.browser.run(ink, self.CANVAS) == name)
        self.assertGreater(len(set(name.split(","))), 10, "no name is there")


class Values(Case):
    """Single calls with what they were called with (-A)."""

    CANVAS = "#view-timeline canvas"
    FIRST = [["arg1", "-7"], ["req->path:s", '"GET /index?<b>"'], ["arg3:x", "0x1000"],
             ["real", "0.1"]]
    SECOND = [["arg1", str(2 ** 60)],
              ["req->path:s", '"\\x1b[2J\\u202e</script>\ufffd as long as text can be: 63 bytes"'],
              ["arg3:x", "?"], ["real", "inf"]]

    def go(self, *keys):
        self.browser.run("document.querySelector(arguments[0]).focus()", self.CANVAS)
        self.browser.press("HOME", *keys)

    def values(self):
        return self.browser.run("""
            return [...document.querySelectorAll("aside.call .values dt")].map(
                (dt) => [dt.textContent, dt.nextSibling.textContent])""")

    def test_of_the_chosen_call(self):
        self.open("values", view="timeline")
        self.assertIn("Point at a call", self.text("aside.call"))
        self.go()
        self.assertEqual((self.text("aside.call h2"), self.values()), ("main", []))
        self.go("ARROW_DOWN")
        self.assertEqual((self.text("aside.call h2"), self.values()), ("work", self.FIRST))
        self.assertIn("arg1 -7, ", self.text("#spoken"))
        self.go("ARROW_DOWN", "ARROW_RIGHT")
        self.assertEqual(self.values(), self.SECOND)
        # The call under the pointer goes before the call that is chosen.
        self.browser.hover_at(self.CANVAS, 0.2, 22 + 20 + 17 + 8)
        self.wait_for(self.FIRST, self.values)
        self.browser.hover_at(self.CANVAS, 0.99, 22 + 20 + 17 + 8)
        self.wait_for(self.SECOND, self.values)
        self.browser.click("#scope option[value='1']")
        self.assertIn("Point at a call", self.text("aside.call"))

    def test_are_searched(self):
        self.open("values", view="timeline")
        found = lambda: self.text("#view-timeline .found")
        for query, calls in (("/INDEX", "1 call has such a value"), ("arg1=", "2 calls have such a value"),
                             ("0x1000", "1 call has such a value"), ("nothing", "")):
            self.browser.press("/", *query, "ENTER")
            self.assertEqual((query, found()), (query, calls))
        self.assertIn("values", self.browser.one("#query").get_attribute("placeholder"))
        # Where the view is made later, too.
        self.open("values", view="tree")
        self.browser.press("/", *"/index", "ENTER")
        self.show("timeline")
        self.assertEqual(found(), "1 call has such a value")

    def test_from_one_that_was_found_to_the_next(self):
        self.open("values", view="timeline")
        self.browser.press("/", *"arg1=", "ENTER")
        seen = []
        for key in "nnnpp":
            self.browser.press(key)
            seen.append(self.values())
        # Past the last and the first one nothing changes.
        self.assertEqual(seen, [self.FIRST, self.SECOND, self.SECOND, self.FIRST, self.FIRST])
        # Matches that are functions are found from track to track.
        self.browser.press("/", *"main", "ENTER")
        tracks = []
        for key in "nnp":
            self.browser.press(key)
            tracks.append((self.status()["name"], self.status()["In"][0]))
        self.assertEqual(tracks, [("main", "prog-100/101"), ("main", "prog-100/101"),
                                  ("main", "prog-100/100")])

    def test_only_where_there_are_any(self):
        self.open("small", view="timeline")
        self.assertEqual(self.browser.texts("aside.call"), [])
        self.assertNotIn("values", self.browser.one("#query").get_attribute("placeholder"))

    def test_narrow(self):
        """The picture and the values have room, one above the other."""
        self.open("values", view="timeline")
        self.go("ARROW_DOWN")
        self.browser.driver.set_window_size(700, 600)
        boxes = lambda: self.browser.run("""
            return ["#view-timeline .surface", "aside.call"].map((selector) => {
                const { top, bottom, width } = document.querySelector(selector).getBoundingClientRect();

                return [top, bottom, width];
            })""")
        self.browser.wait(lambda: boxes()[0][2] < 750)
        picture, values = boxes()
        self.assertLessEqual(picture[1], values[0] + 1)
        self.assertGreater(picture[1] - picture[0], 150)
        self.assertGreater(values[1] - values[0], 100)
        self.assertGreater(values[2], 600)


class Head(Case):
    def test_processes(self):
        """They have the name that all of them have before their numbers, if there is one."""
        path, data, _ = self.made("small")
        with open(path, encoding="utf-8") as file:
            page = file.read()
        before = json.dumps(data["threads"], separators=(",", ":"))
        self.assertIn(before, page)
        for comms, title in ((("worker", "worker"), "worker, pid 7, 8"),
                             (("worker", "other"), "pid 7, 8")):
            threads = [thread | {"pid": 7 + i, "tid": 7 + i, "comm": comms[i % 2]}
                       for i, thread in enumerate(data["threads"])]
            changed = page.replace(before, json.dumps(threads, separators=(",", ":")), 1)
            with open(path, "w", encoding="utf-8") as file:
                file.write(re.sub(r'"pids":\[.*?\],"exec":.*?,"command":\[.*?\]',
                                  '"pids":[7,8],"exec":null,"command":[]', changed, count=1))
            self.browser.open(path)
            self.assertEqual(self.text("#target"), title)


class Hostile(Case):
    def test_names(self):
        document = self.open("hostile", view="functions")
        names = [row["name"] for row in self.rows("function-grid")]
        unsafe = re.compile("[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

        def visible(text):
            return unsafe.sub(lambda c: f"\\x{ord(c[0]):02x}" if ord(c[0]) < 256
                              else f"\\u{ord(c[0]):04x}", text) or "[unknown]"

        self.assertEqual(sorted(names), sorted(visible(f["name"]) for f in document["functions"]))
        for view in ("tree", "timeline", "about", "flame"):
            self.show(view)
            shown = self.browser.run("return document.body.innerText")
            self.assertIsNone(unsafe.search(shown.replace("\n", "").replace("\t", "")), view)
        for index in range(len(names)):
            self.show("functions")
            self.browser.run("document.querySelector('#function-grid').focus()")
            self.browser.press("HOME", *["ARROW_DOWN"] * index)
            self.assertEqual(self.text("aside h2"), names[index])
        self.assertEqual(self.browser.driver.title, "</script><b> \\u202e \u2013 proftrace")
        # Nothing of the name has become an element.
        self.assertEqual(self.browser.run("return document.scripts.length"), 2)
        self.assertEqual(self.browser.run("return document.querySelectorAll('img, b i').length"), 0)

    def test_names_of_sessions(self):
        """Names of sessions are shown even of functions of which nothing else is shown; long names
        are cut in their middle."""
        self.open("sessions", view="sessions")
        name = self.browser.texts("table.groups .name")[1]
        self.assertTrue(name.startswith("</script><i>::WW") and len(name) == 80, name)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.sessions i').length"),
                         0)
        # Functions in the other tables are those that were called.
        self.show("functions")
        self.assertEqual(len(self.names("function-grid")), 5)

    def test_script_is_refused(self):
        """The policy holds: what was put into the page does not run."""
        self.open("small")
        ran = self.browser.run("""
            const script = document.createElement("script");

            script.textContent = "window.ran = true";
            document.body.append(script);
            return window.ran === true""")
        self.assertFalse(ran)
        self.assertIn("Content Security Policy", " ".join(self.browser.logs()))

    def test_deep_and_empty(self):
        self.open("deep")
        self.browser.run("document.querySelector('#view-flame canvas').focus()")
        self.browser.press("HOME", *["ARROW_DOWN"] * 50)
        self.assertEqual(self.status()["Share"][0], percent(20000 - 49, 20000))
        self.browser.press("i", "HOME")
        self.assertIn("200 levels", self.text("#view-flame .viewbar"))
        self.show("tree")
        self.browser.run("document.querySelector('#tree-grid').focus()")
        self.browser.press("HOME", "*", "END")
        self.assertEqual(self.status()["Wall"][1], "100 ns")
        self.open("empty")
        for view in ("tree", "functions", "sandwich", "timeline", "about", "flame"):
            self.show(view)


class Large(Case):
    # Long enough for the browser to have drawn.
    FRAME = """
        const done = arguments[arguments.length - 1], begin = performance.now();

        %s;
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));"""

    def measure(self, what, script):
        print(f"     {what}: {self.browser.run_async(self.FRAME % script):.0f} ms")

    def test_ten_thousand_paths_and_a_hundred_thousand_calls(self):
        document = self.open("large", "10000", "100000")
        loaded = self.browser.run("const [t] = performance.getEntriesByType('navigation');"
                                  "return t.domContentLoadedEventEnd")
        print(f"\n     loaded: {loaded:.0f} ms")
        key = "dispatchEvent(new KeyboardEvent('keydown', { key: '%s', bubbles: true }))"
        flame, time = "document.querySelector('#view-flame canvas')", \
            "document.querySelector('#view-timeline canvas')"
        self.measure("flame graph zoomed", f"{flame}.{key % '+'}")
        self.measure("weight switched", "document.querySelector('[value=cpu]').click()")
        self.measure("threads apart", "const s = document.querySelector('#scope'); s.value = "
                     "'apart'; s.dispatchEvent(new Event('change'))")
        self.measure("tree opened", "document.querySelector('#tab-tree').click()")
        for _ in range(4):
            self.measure("all below one thread shown",
                         f"document.querySelector('#tree-grid').{key % '*'}")
            self.browser.run(f"document.querySelector('#tree-grid').{key % 'ArrowLeft'}")
            self.browser.run(f"document.querySelector('#tree-grid').{key % 'ArrowDown'}")
        self.measure("tree sorted", "document.querySelector('#tree-grid .head button').click()")
        self.measure("functions opened", "document.querySelector('#tab-functions').click()")
        self.measure("functions sorted",
                     "document.querySelector('#function-grid .head button').click()")
        self.measure("timeline opened", "document.querySelector('#tab-timeline').click()")
        self.measure("timeline zoomed", f"{time}.{key % '+'}")
        self.browser.press("/", *"function_19", "ENTER")
        found = [f for f in document["functions"] if "function_19" in f["name"]]
        self.assertTrue(self.text("#found").startswith(f"{len(found)} found, "))
        self.assertIn("100,000 calls", self.text("#view-timeline .note"))
        self.show("functions")
        self.assertEqual(self.browser.one("#function-grid").get_attribute("aria-rowcount"),
                         str(len(found) + 1))
        # However many rows a table has, few are elements.
        self.assertLess(self.browser.run("return document.querySelectorAll('.row').length"), 200)


class About(Case):
    def facts(self, kind):
        document = self.open(kind, view="about")
        return document, self.about()

    def test_what_was_not_recorded(self):
        document, facts = self.facts("small")
        self.assertEqual(number(facts["Untriggered"]), document["accounting"]["untriggered"])
        self.assertEqual(document["paused_ns"], 2500000)
        self.assertTrue(facts["Switched off"].startswith("2.5"), facts["Switched off"])
        _, facts = self.facts("deep")
        self.assertLessEqual({"Lasted", "Entered", "Dropped"}, set(facts))
        self.assertEqual({"Untriggered", "Switched off"} & set(facts), set())


class Real(Case):
    def test_a_recording(self):
        path = self.path("real.html")
        done = self.run_proftrace("-f", "html", "-o", path, "--", program("recursion"), "5", "2")
        self.assertEqual(done.status, 0, str(done))
        self.browser.open(path)
        self.show("about")
        facts = self.about()
        self.assertEqual(number(facts["Entered"]), sum(done.counts.values()) + 1)
        self.assertIn("recursion 5 2", facts["Command"])
        self.show("functions")
        calls = {row["name"]: number(row["cells"][2][0]) for row in self.rows("function-grid")}
        self.assertEqual({name: calls.get(name, 0) for name in done.counts}, done.counts)


if __name__ == "__main__":
    harness.main()
