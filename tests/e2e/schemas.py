# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds JSON against docs/schema, which says what is there, while programs that read it must bear
more. Tests do not: a member that no schema knows is an error."""

import functools
import json
import os
import pathlib

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "schema"
# Members that tell one kind of document from the others.
KINDS = {"profile": "threads", "diff": "compared", "doctor": "features", "listing": "skipped",
         "agent": "receivers", "events": "profile"}
# By path of a list's members: the shapes of those that were found valid.
known = {}


def subschemas(schema):
    """All of a schema's parts that describe a whole value."""
    rest = [schema]
    while rest:
        part = rest.pop()
        yield part
        for below in [part, *part.get("allOf", ())]:
            for word in ("properties", "$defs"):
                rest += below.get(word, {}).values()
            rest += [below["items"]] if "items" in below else []


def load(kind):
    """A schema that knows no other members than its own."""
    schema = json.loads((FOLDER / f"{kind}.json").read_text(encoding="utf-8"))
    bases = {reference for part in subschemas(schema) for below in part.get("allOf", ())
             for reference in below.values()}
    based = [schema["$defs"][reference.rpartition("/")[2]] for reference in bases]
    for part in list(subschemas(schema)):
        if part not in based and "additionalProperties" not in part:
            # "unevaluatedProperties" also knows the members of schemas that this one is made of,
            # for which a validator takes five times as long.
            composed = {"allOf", "anyOf", "oneOf", "if", "$ref"} & part.keys()
            part["unevaluatedProperties" if composed else "additionalProperties"] = False
    return schema


@functools.cache
def validator(kind):
    # Not at the top: the machines of `make kernels` have this module, and nothing that it needs.
    import jsonschema
    schema = load(kind)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@functools.cache
def enumerated():
    """Names of members that have one of a few values."""
    names = set()
    for schema in map(load, KINDS):
        for part in subschemas(schema):
            for name, member in part.get("properties", {}).items():
                at = member.get("$ref", "").removeprefix("#/$defs/")
                target = schema["$defs"][at] if at else member
                names |= {name} if "enum" in target else set()
    return names


def shape(value, name=None):
    """Returns all of a value that decides whether it is valid, without its children."""
    if isinstance(value, dict):
        return frozenset((key, shape(member, key)) for key, member in value.items()
                         if key != "children")
    if isinstance(value, list):
        return frozenset(map(shape, value))
    if isinstance(value, str):
        return value if name in enumerated() else "text"
    return type(value), value is not None and value < 0


def thinned(value, path, new):
    """The value with one of each shape of the members of lists, and without what is known. Children
    stand beside their parents: they are of one kind, and may be nested deeply."""
    if isinstance(value, dict):
        return {key: [] if key == "children" else thinned(member, (*path, key), new)
                for key, member in value.items()}
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return value
    kept, rest = [], value[::-1]
    while rest:
        item = rest.pop()
        rest += item.get("children", ())
        its = shape(item)
        if its not in known.get(path, ()) and its not in new.setdefault(path, set()):
            new[path].add(its)
            kept.append(thinned(item, path, new))
    return kept


def check(document):
    """Raises an AssertionError if it is not as its schema has it. Members of lists that look like
    others that were valid are not looked at again: a validator takes milliseconds for each."""
    if not FOLDER.is_dir():
        return
    kind = next(kind for kind, member in KINDS.items() if member in document)
    new = {}
    errors = validator(kind).iter_errors(thinned(document, (kind,), new))
    found = [f"{kind} at /{'/'.join(map(str, error.absolute_path))}: {error.message[:500]}"
             for error in errors]
    assert not found, "not as docs/schema has it:\n" + "\n".join(found)
    for path, shapes in new.items():
        known.setdefault(path, set()).update(shapes)
