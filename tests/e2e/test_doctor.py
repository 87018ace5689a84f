# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `doctor` about this machine, compared with runs."""

import json

import harness
import schemas
from harness import program


class Doctor(harness.TestCase):
    def doctor(self, *args, **popen):
        return self.process(harness.PROFTRACE, "doctor", *args, **popen).finish()

    def examined(self):
        done = self.doctor("-f", "json")
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))
        document = json.loads(done.stdout)
        schemas.check(document)
        return document

    def test_backends(self):
        """Backends that the report says work do, the others do not; a run takes the first one."""
        document = self.examined()
        works = [backend["name"] for backend in document["backends"] if backend["works"]]
        self.assertEqual(works[0], document["backend"])
        for backend in document["backends"]:
            name = backend["name"]
            with self.subTest(name):
                done = self.run_proftrace("--tier", name, "-f", "json", "--", program("calc-pie"), 3)
                self.assertEqual(done.status == 0, name in works, str(done))
                self.assertEqual(backend["why_not"] is None, name in works)

    def test_features(self):
        features = {feature["name"]: feature for feature in self.examined()["features"]}
        for name in ("regions and marks", "lines of source", "single calls", "children"):
            self.assertTrue(features[name]["works"], features[name])
        for feature in features.values():
            self.assertTrue(feature["without"] and feature["advice"])

    def test_needs(self):
        """Needs that depend on the machine's surroundings, with these changed."""
        def missing(*command):
            done = self.process(*command, harness.PROFTRACE, "doctor", "-f", "json",
                                env={"DEBUGINFOD_URLS": ""}).finish()
            document = json.loads(done.stdout)
            schemas.check(document)
            self.assertEqual(done.status, 0 if document["backend"] else 1, str(done))
            return {row["name"]: row["why_not"] for row in document["needs"] + document["features"]
                    if not row["works"]}

        self.assertIn(missing("env")["debug symbols by network"],
                      ("DEBUGINFOD_URLS is not set", "no libdebuginfod.so.1"))
        # No file of the kernel's can be seen there, so nothing works.
        found = missing("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh")
        self.assertIn("/sys/kernel/btf/vmlinux", found["types of the kernel"])
        self.assertIn("all processes", missing("unshare", "-pf", "--mount-proc"))

    def test_few_descriptors(self):
        """No backend works, and no other kernel would help."""
        done = self.process("sh", "-c", 'ulimit -n 64 && exec "$@"', "sh", harness.PROFTRACE,
                            "doctor").finish()
        self.assertEqual((done.status, done.stderr), (1, ""), str(done))
        self.assertIn("backend   none works\n", done.stdout)
        self.assertIn("try `ulimit -n 1024`\n", done.stdout)
        self.assertNotIn("it came with Linux", done.stdout)

    def test_text(self):
        document, done = self.examined(), self.doctor()
        self.assertEqual((done.status, done.stderr), (0, ""), str(done))
        self.assertEqual(self.doctor("-f", "text").stdout, done.stdout)
        self.assertIn(document["kernel"], done.stdout)
        for row in document["backends"] + document["features"] + document["needs"]:
            self.assertRegex(done.stdout,
                             rf"(?m)^{'yes' if row['works'] else 'no'} +{row['name']}( |$)")
            if not row["works"] and "advice" in row:
                self.assertIn(f"to have it: {row['advice']}\n", done.stdout)

    def test_not_permitted(self):
        done = self.process(harness.PROFTRACE, "doctor", user=harness.NOBODY).finish()
        self.assert_one_line(done, 1, "not permitted", "sudo")

    def test_usage(self):
        for words in (["x"], ["-f", "tree"], ["-p", "1"]):
            self.assert_one_line(self.doctor(*words), 2)


if __name__ == "__main__":
    harness.main()
