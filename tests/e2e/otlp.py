# SPDX-License-Identifier: GPL-2.0-or-later
"""A receiver of OTLP by HTTP for tests: no package has one that knows all three signals. It answers
as it is told to, and decodes strictly: traces and metrics by the official definitions of
OpenTelemetry's JavaScript packages; profiles, which these do not have, by the numbers of fields of
opentelemetry-proto 1.11, below."""

import base64
import collections
import gzip
import http.server
import json
import os
import struct
import subprocess

import harness
from http_receiver import HttpReceiver

PROFILES, TRACES, METRICS = "/v1development/profiles", "/v1/traces", "/v1/metrics"
CONSUMERS = os.path.join(harness.BUILD, "consumers")
DECODER = os.path.join(harness.ROOT, "tests/formats/otlp.js")
TABLES = ("mapping", "location", "function", "link", "string", "attribute", "stack")

# {message: {field: (name, type)}}: "[]" before a type is repeated; numbers so are packed.
MESSAGES = {
    "Request": {1: ("resource_profiles", "[]ResourceProfiles"), 2: ("dictionary", "Dictionary")},
    "ResourceProfiles": {1: ("resource", "Resource"), 2: ("scope_profiles", "[]ScopeProfiles"),
                         3: ("schema_url", "string")},
    "Resource": {1: ("attributes", "[]KeyValue"), 2: ("dropped_attributes_count", "uint")},
    "KeyValue": {1: ("key", "string"), 2: ("value", "AnyValue")},
    "AnyValue": {1: ("string", "string"), 2: ("bool", "uint"), 3: ("int", "int"),
                 4: ("double", "double")},
    "ScopeProfiles": {1: ("scope", "Scope"), 2: ("profiles", "[]Profile"),
                      3: ("schema_url", "string")},
    "Scope": {1: ("name", "string"), 2: ("version", "string")},
    "Profile": {1: ("sample_type", "ValueType"), 2: ("samples", "[]Sample"),
                3: ("time_unix_nano", "fixed64"), 4: ("duration_nano", "uint"),
                5: ("period_type", "ValueType"), 6: ("period", "int"),
                7: ("profile_id", "bytes"), 11: ("attribute_indices", "[]int")},
    "ValueType": {1: ("type", "int"), 2: ("unit", "int")},
    "Sample": {1: ("stack", "int"), 2: ("attribute_indices", "[]int"), 3: ("link", "int"),
               4: ("values", "[]int"), 5: ("timestamps_unix_nano", "[]fixed64")},
    "Dictionary": {1: ("mapping_table", "[]Mapping"), 2: ("location_table", "[]Location"),
                   3: ("function_table", "[]Function"), 4: ("link_table", "[]Link"),
                   5: ("string_table", "[]string"), 6: ("attribute_table", "[]KeyValueAndUnit"),
                   7: ("stack_table", "[]Stack")},
    "Mapping": {1: ("memory_start", "uint"), 2: ("memory_limit", "uint"),
                3: ("file_offset", "uint"), 4: ("filename", "int"),
                5: ("attribute_indices", "[]int")},
    "Location": {1: ("mapping", "int"), 2: ("address", "uint"), 3: ("lines", "[]Line"),
                 4: ("attribute_indices", "[]int")},
    "Line": {1: ("function", "int"), 2: ("line", "int"), 3: ("column", "int")},
    "Function": {1: ("name", "int"), 2: ("system_name", "int"), 3: ("filename", "int"),
                 4: ("start_line", "int")},
    "Link": {1: ("trace_id", "bytes"), 2: ("span_id", "bytes")},
    "KeyValueAndUnit": {1: ("key", "int"), 2: ("value", "AnyValue"), 3: ("unit", "int")},
    "Stack": {1: ("locations", "[]int")},
}
VARINT, FIXED64, LENGTH = 0, 1, 2
WIRE = {"int": VARINT, "uint": VARINT, "fixed64": FIXED64, "double": FIXED64}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            assert shift <= 70
            return value, at


def number(kind, data, at):
    if WIRE[kind] == FIXED64:
        return struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0], at + 8
    value, at = varint(data, at)
    return (value - (1 << 64) if kind == "int" and value >> 63 else value), at


def packed(kind, data):
    values, at = [], 0
    while at < len(data):
        value, at = number(kind, data, at)
        values.append(value)
    return values


def empty(kind):
    return [] if kind.startswith("[]") else {} if kind in MESSAGES else \
        "" if kind == "string" else b"" if kind == "bytes" else 0


def of_bytes(kind, data):
    if kind in MESSAGES:
        return decode(kind, data)
    return data.decode("utf-8") if kind == "string" else data


def decode(message, data):
    """{field: value}, with the values of those that are not there. What is not in MESSAGES is an
    error, and so is a value of another form than its field's."""
    fields = MESSAGES[message]
    found = {name: empty(kind) for name, kind in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        name, kind = fields[tag >> 3]
        repeated, one = kind.startswith("[]"), kind.removeprefix("[]")
        if one in WIRE and not repeated:
            assert tag & 7 == WIRE[one], (message, name)
            found[name], at = number(one, data, at)
            continue
        assert tag & 7 == LENGTH, (message, name)
        length, at = varint(data, at)
        assert at + length <= len(data), (message, name)
        part, at = data[at:at + length], at + length
        if one in WIRE:
            found[name] += packed(one, part)
        elif repeated:
            found[name].append(of_bytes(one, part))
        else:
            found[name] = of_bytes(one, part)
    return found


def check_dictionary(test, d):
    """Each table begins with an element that is empty, and what refers to one finds it."""
    for table in TABLES:
        elements = d[f"{table}_table"]
        first = elements[0]
        if table == "link":
            test.assertEqual(first, {"trace_id": bytes(16), "span_id": bytes(8)})
        else:
            test.assertEqual(first, "" if table == "string" else decode(
                {"mapping": "Mapping", "location": "Location", "function": "Function",
                 "attribute": "KeyValueAndUnit", "stack": "Stack"}[table], b""))
    strings = [f[key] for f in d["function_table"] for key in ("name", "system_name", "filename")] + \
        [a["key"] for a in d["attribute_table"]] + [m["filename"] for m in d["mapping_table"]]
    for table, references in (
            ("string", strings),
            ("mapping", [place["mapping"] for place in d["location_table"]]),
            ("function", [line["function"] for place in d["location_table"]
                          for line in place["lines"]]),
            ("location", [place for stack in d["stack_table"] for place in stack["locations"]])):
        test.assertLess(max(references), len(d[f"{table}_table"]))
        test.assertGreaterEqual(min(references), 0)


def values_of(attributes):
    """{key: value} of a list of KeyValue, as the official decoder prints them."""
    return {a["key"]: int(a["value"]["intValue"]) if "intValue" in a["value"]
            else a["value"]["stringValue"] for a in attributes}


def span_id(text):
    return base64.b64decode(text).hex()


Sample = collections.namedtuple("Sample", "stack thread value")


def profiles(test, body):
    """{(type, unit): [Sample]}; stacks are tuples of names, the innermost function first."""
    request = decode("Request", body)
    d = request["dictionary"]
    check_dictionary(test, d)
    strings, found, ids = d["string_table"], {}, set()
    [resource] = request["resource_profiles"]
    [scope] = resource["scope_profiles"]
    test.assertEqual(scope["scope"]["name"], "proftrace")
    names = [strings[f["name"]] for f in d["function_table"]]
    places = [names[place["lines"][0]["function"]] if place["lines"] else ""
              for place in d["location_table"]]
    attributes = [(strings[a["key"]], a["value"]) for a in d["attribute_table"]]
    for p in scope["profiles"]:
        kind = strings[p["sample_type"]["type"]], strings[p["sample_type"]["unit"]]
        test.assertNotIn(kind, found)
        test.assertEqual(len(p["profile_id"]), 16)
        ids.add(p["profile_id"])
        found[kind] = []
        for s in p["samples"]:
            [value] = s["values"]
            here = dict(attributes[i] for i in s["attribute_indices"])
            test.assertEqual(len(here), len(s["attribute_indices"]))
            found[kind].append(Sample(
                tuple(places[i] for i in d["stack_table"][s["stack"]]["locations"]),
                here.get("thread.id", {"int": 0})["int"], value))
    test.assertEqual(len(ids), len(scope["profiles"]))
    return found


def official(signal, body):
    done = subprocess.run(["node", DECODER, CONSUMERS, signal], input=body, check=True,
                          stdout=subprocess.PIPE, timeout=harness.TIMEOUT)
    return json.loads(done.stdout)


def spans(body):
    [resource] = official("trace", body)["resourceSpans"]
    [scope] = resource["scopeSpans"]
    return values_of(resource["resource"]["attributes"]), scope["spans"]


def metrics(body):
    [resource] = official("metrics", body)["resourceMetrics"]
    [scope] = resource["scopeMetrics"]
    return {m["name"]: m for m in scope["metrics"]}


Request = collections.namedtuple("Request", "path headers body")


class Receiver(HttpReceiver):
    """`answers`: by path, the answers that come before all others, (status, headers, body)."""

    def __init__(self):
        self.answers = collections.defaultdict(list)
        super().__init__(Handler)

    def bodies(self, path):
        return [r.body for r in self.requests if r.path == path]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Type"] == "application/x-protobuf"
        assert self.headers["Content-Encoding"] == "gzip"
        self.server.requests.append(Request(self.path, self.headers, gzip.decompress(body)))
        ready = self.server.answers[self.path]
        status, headers, answer = ready.pop(0) if ready else (200, {}, b"")
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass
