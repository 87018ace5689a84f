# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/schema itself: it knows all members of all documents, and says what each of them is. That
documents are as it says is checked wherever tests read one (harness.check())."""

import copy
import json
import os
import re

import harness
import schemas
from harness import PROFTRACE, program


def objects(value):
    """All objects in a document but maps, whose members are data."""
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, dict):
            yield item
            rest += [member for key, member in item.items() if key != "sites"
                     or isinstance(member, list)]
        elif isinstance(item, list):
            rest += item


class Schemas(harness.TestCase):
    def json(self, *args):
        done = self.process(PROFTRACE, *args).finish()
        self.assertEqual(done.status, 0, str(done))
        document = json.loads(done.stdout)
        schemas.check(document)
        return document

    def record(self, *args):
        path = self.path(args[0])
        done = self.process(PROFTRACE, "record", "-o", path, *args).finish()
        self.assertEqual(done.status, 0, str(done))
        return path

    def documents(self):
        """Yields a document of each kind, with sessions, values, lines and regions among them."""
        yield self.json("-l", "-f", "json", "-F", "region:*", "--", program("regions"))
        yield self.json("-l", "-f", "json", "--lines", "timed", "--", program("lines_time"))
        lined = self.record("--lines", "timed", "--", program("lines_time"), 20)
        yield self.json("report", "-f", "json", lined)
        calls = self.record("--calls", "-A", "handle(arg1)", "-F", "handle", "-F", "look_up", "--",
                            program("requests"), 1, 20)
        yield self.json("report", "--session", "handle", "-f", "json", calls)
        yield self.json("diff", "-f", "json", calls, calls)
        yield self.json("doctor", "-f", "json")

    def test_all_members_are_known(self):
        """A new member without a schema fails wherever it is, and so does one that has gone."""
        for document in self.documents():
            thin = schemas.thinned(document, (), {})
            for number, item in enumerate(objects(thin)):
                changed = copy.deepcopy(thin)
                place = list(objects(changed))[number]
                place["surprise"] = 1
                with self.subTest(document=list(document), place=list(item)):
                    with self.assertRaisesRegex(AssertionError, "surprise"):
                        schemas.check(changed)
        del document["features"][0]["works"]
        with self.assertRaisesRegex(AssertionError, "works"):
            schemas.check(document)

    def test_each_stands_alone(self):
        """A schema has a name of its own, and refers to no other file: a validator that is given
        nothing but that file finds all. Definitions that several schemas have are the same in
        each."""
        defined = {}
        for kind in schemas.KINDS:
            text = (schemas.FOLDER / f"{kind}.json").read_text(encoding="utf-8")
            schema = json.loads(text)
            self.assertRegex(schema["$id"], rf"^https://[^#]*/{kind}\.json$")
            references = set(re.findall(r'"\$ref": "(.*?)"', text))
            self.assertEqual({at for at in references if not at.startswith("#/$defs/")}, set())
            definitions = schema.get("$defs", {})
            named = {at.removeprefix("#/$defs/") for at in references}
            self.assertLessEqual(named, set(definitions))
            for name, definition in definitions.items():
                defined.setdefault(name, {})[kind] = definition
        for name in ("accounting", "single_calls", "budget", "source", "site_class", "inlined"):
            first, *others = defined[name].values()
            self.assertTrue(others)
            self.assertEqual(others, [first] * len(others))

    def test_all_kinds(self):
        files = {name.removesuffix(".json") for name in os.listdir(schemas.FOLDER)}
        self.assertEqual(files, set(schemas.KINDS))


if __name__ == "__main__":
    harness.main()
