# SPDX-License-Identifier: GPL-2.0-or-later
"""The flame graph of -f svg, opened and used in a real browser. Its boxes are the JSON's paths."""

import json
import subprocess

import browser
import harness
from harness import PROFTRACE, UNLIMITED, program


class Svg(harness.TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.shared()

    def tearDown(self):
        noise = self.browser.logs()
        super().tearDown()
        self.assertEqual(noise, [], "the picture has complained")

    def report(self, form, *options):
        """By the name of -o alone."""
        path = self.path(f"out.{form}")
        done = self.process(PROFTRACE, "report", "-q", "-o", path, *options, self.recording,
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        return path

    def open(self, name, *args, options=UNLIMITED):
        self.recording = self.path("rec")
        done = self.process(PROFTRACE, "record", "-q", *options, "-o", self.recording, "--",
                            program(name), *args, stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        with open(self.report("json"), encoding="utf-8") as file:
            document = json.load(file)
        self.browser.open(self.report("svg", "-w", "calls"))
        return document

    def boxes(self):
        """[(title, x, width, shown, fill)] as the browser has them."""
        return self.browser.run("""
            return [...document.querySelectorAll('.f')].map((g) => [
                g.children[0].textContent, Number(g.children[1].getAttribute('x')),
                Number(g.children[1].getAttribute('width')), g.style.display !== 'none',
                g.children[1].getAttribute('fill'), g.children[2].textContent])""")

    def paths(self, document):
        """By name, what each path calls with all below it, sorted."""
        names = {f["id"]: f["name"] for f in document["functions"]}
        sums = {}

        def add(node):
            calls = node["calls"] + sum(add(child) for child in node["children"])
            sums.setdefault(names[node["function"]], []).append(calls)
            return calls

        whole = sum(add(node) for thread in document["threads"] for node in thread["calls"])
        return whole, {name: sorted(calls) for name, calls in sums.items()}

    def click(self, name):
        self.browser.run("""
            const g = [...document.querySelectorAll('.f')]
                .find((g) => g.children[0].textContent.startsWith(arguments[0] + ' ('));
            g.dispatchEvent(new MouseEvent('click'));""", name)

    def test_all_text_is_in_the_picture(self):
        """All text is in the picture, also the line on the source of estimates, which may be
        long."""
        self.open("sampled", "300", options=("--max-overhead", "5", "--sample-rate", "997"))
        self.browser.open(self.report("svg"))
        texts = self.browser.run("""
            const { width, height } = document.documentElement.viewBox.baseVal;
            return [...document.querySelectorAll('text')].map((text) => {
                const box = text.getBBox();
                return [text.textContent, box.x >= 0 && box.x + box.width <= width &&
                        box.y >= 0 && box.y + box.height <= height];
            })""")
        self.assertEqual([text for text, fits in texts if not fits], [])
        note = " ".join(text for text, _ in texts if "samples of" in text or "callers" in text)
        self.assertRegex(note, r"^paler: estimated from .* samples of .* with all callers")

    def test_boxes_are_the_paths(self):
        whole, expected = self.paths(self.open("names", "10"))
        shown = {}
        for title, x, width, *_ in self.boxes():
            name, _, rest = title.rpartition(" (")
            calls = int(rest.split(" ")[0].replace(",", ""))
            self.assertTrue(10 <= x and x + width <= 1190.01, (title, x, width))
            self.assertAlmostEqual(width, 1180 * calls / whole, 2)
            shown.setdefault(name, []).append(calls)
        self.assertEqual(shown.pop("all"), [whole])
        self.assertEqual(shown.pop("names"), [whole])
        self.assertEqual({name: sorted(calls) for name, calls in shown.items()}, expected)
        self.assertIn("int twice<int>(int)", shown)

    def test_click_zooms(self):
        self.open("recursion", "6", "2")
        before = self.boxes()
        self.click("fib")
        zoomed = {box[0]: box for box in self.boxes()}
        fib = next(box for box in before if box[0].startswith("fib ("))
        self.assertEqual(zoomed[fib[0]][1:4], [10, 1180, True])
        main = next(box[0] for box in before if box[0].startswith("main ("))
        self.assertEqual(zoomed[main][1:4], [10, 1180, True])
        self.assertTrue(any(not box[3] for box in self.boxes()), "what is beside it has gone")
        self.browser.press("ESCAPE")
        self.assertEqual([box[:4] for box in self.boxes()], [box[:4] for box in before])

    def test_search(self):
        self.open("names", "10")
        self.browser.press("/")
        alert = self.browser.wait(lambda: self.browser.driver.switch_to.alert)
        alert.send_keys("TWICE<int>")
        alert.accept()
        self.browser.wait(lambda: self.browser.texts("#found") != [""])
        marked = [box[0] for box in self.boxes() if box[4] == "#e600e6"]
        self.assertTrue(marked and all("twice<int>" in title for title in marked), marked)
        self.assertRegex(self.browser.texts("#found")[0], rf"^{len(marked)} found, \d+\.\d%$")
        self.browser.press("ESCAPE")
        self.assertNotIn("#e600e6", [box[4] for box in self.boxes()])

    def test_names_of_threads(self):
        self.open("threads", "2", "3")
        self.browser.open(self.report("svg", "--thread-frames"))
        self.assertIn("threads-", " ".join(box[0] for box in self.boxes()))
