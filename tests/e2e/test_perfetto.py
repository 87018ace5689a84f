# SPDX-License-Identifier: GPL-2.0-or-later
"""The Perfetto trace, decoded by protoc."""

import codecs
import os

import harness
import sample

PROTO = os.path.join(harness.ROOT, "tests", "formats", "perfetto.proto")


def parse(lines):
    """The lines of a message in protobuf's text format as {field: [values]}, up to its end."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            message.setdefault(line[:-2], []).append(parse(lines))
            continue
        name, _, value = line.partition(": ")
        if value.startswith('"'):
            value = codecs.escape_decode(value[1:-1].encode())[0].decode()
        elif value.lstrip("-").isdigit():
            value = int(value)
        message.setdefault(name, []).append(value)
    return message


class Reader:
    def decode_perfetto(self, *options):
        path, document = self.write("perfetto", "x.perfetto-trace", *options)
        return self.decode_file(path), document

    def decode_file(self, path):
        """All packets of a trace."""
        with open(path, "rb") as file:
            text = self.run_tool("protoc", "-I", os.path.dirname(PROTO), "--decode=Trace", PROTO,
                                 stdin=file).decode()
        trace = parse(iter(text.splitlines()))
        self.assertEqual(set(trace), {"packet"})
        # A field that the description does not know would be shown as a bare number.
        self.assertNotRegex(text, r"(?m)^ *[0-9]+[: ]")
        return trace["packet"]

    def perfetto_events(self, packets):
        """[(thread, [(begins, nanoseconds, name, nanoseconds off the CPU)])]; a thread may have
        several tracks."""
        tracks, names, seen, nested = {}, {}, {}, {}
        for packet in packets:
            self.assertEqual(packet["trusted_packet_sequence_id"], [1])
            for interned in packet.get("interned_data", []):
                for name in interned.get("event_names", []):
                    self.assertNotIn(name["iid"][0], names)
                    names[name["iid"][0]] = name["name"][0]
            for track in packet.get("track_descriptor", []):
                thread = track.get("thread", [{}])[0]
                self.assertNotIn(track["uuid"][0], tracks)
                tracks[track["uuid"][0]] = (thread.get("thread_name") or track.get("name") or [""])[0]
            for event in packet.get("track_event", []):
                self.assertEqual(packet["sequence_flags"], [2])
                if event["type"] == ["TYPE_INSTANT"]:
                    continue
                begins = event["type"] == ["TYPE_SLICE_BEGIN"]
                # Waits lie between calls; they have names that are written out.
                inside = nested.setdefault(event["track_uuid"][0], [])
                if begins:
                    inside.append("name" in event)
                    if inside[-1]:
                        continue
                elif inside.pop():
                    continue
                off, = [note for note in event.get("debug_annotations", ())
                        if "name_iid" in note] or [{"uint_value": [0]}]
                seen.setdefault(event["track_uuid"][0], []).append(
                    (begins, packet["timestamp"][0],
                     names[event["name_iid"][0]] if begins else None, off["uint_value"][0]))
        return [(tracks[uuid], events) for uuid, events in seen.items()]


class Perfetto(Reader, sample.TestCase):
    def test_calls(self):
        """Each begins and ends where it did, by its name, on the track of its thread."""
        packets, document = self.decode_perfetto("-c")
        seen = dict(self.perfetto_events(packets))
        functions = {node["id"]: plain(document["functions"][node["function"]]["name"])
                     for node, _, _ in harness.nodes_of(document)}
        expected = {}
        for event in self.events():
            begins = event["begins"]
            expected.setdefault(plain(sample.thread_name(document["threads"][event["thread"]])),
                                []).append((begins, event["at_ns"],
                                            functions[event["node"]] if begins else None,
                                            event["off_ns"] if begins else 0))
        self.assertEqual(sorted(seen), sorted(expected))
        for thread, events in expected.items():
            self.assertEqual(seen[thread], events, thread)

    def test_sources(self):
        """Each event of a function whose source is known refers to it."""
        packets, document = self.decode_perfetto("-c")
        expected = {plain(f["name"]): [(f["file"], f["line"])]
                    for f in document["functions"] if f["file"]}
        names, sources, seen = {}, {}, {}
        for packet in packets:
            for interned in packet.get("interned_data", []):
                names.update((name["iid"][0], name["name"][0])
                             for name in interned.get("event_names", []))
                for place in interned.get("source_locations", []):
                    self.assertNotIn(place["iid"][0], sources)
                    sources[place["iid"][0]] = (place["file_name"][0], place["line_number"][0])
            for event in packet.get("track_event", []):
                if event["type"] == ["TYPE_SLICE_BEGIN"]:
                    place = event.get("source_location_iid")
                    seen.setdefault(names[event["name_iid"][0]], set()).add(
                        sources[place[0]] if place else None)
        self.assertTrue(expected)
        for name, places in seen.items():
            self.assertEqual(places, set(expected.get(name, [None])), name)
        self.assertLessEqual(set(expected), set(seen))

    def test_accounts(self):
        packets, document = self.decode_perfetto("-c")
        event, = (event for packet in packets for event in packet.get("track_event", [])
                  if event["type"] == ["TYPE_INSTANT"])
        notes = {note["name"][0]: note["int_value"][0] for note in event["debug_annotations"]}
        for name, value in notes.items():
            self.assertEqual(value, document["accounting"].get(name, 0), name)
        self.assertIn("entered", notes)
        self.assertRegex(event["name"][0], "^entered .* = returned ")

    def test_processes(self):
        packets, document = self.decode_perfetto("-c")
        descriptors = [packet["track_descriptor"][0] for packet in packets
                       if "track_descriptor" in packet]
        pids = [track["process"][0]["pid"][0] for track in descriptors if "process" in track]
        self.assertEqual(sorted(pids), sorted({thread["pid"] for thread in document["threads"]}))
        tids = [tuple(track["thread"][0][key][0] for key in ("pid", "tid"))
                for track in descriptors if "thread" in track]
        self.assertEqual(sorted(tids), sorted((thread["pid"], thread["tid"])
                                              for thread in document["threads"]
                                              if "goroutine" not in thread))


def plain(name):
    """A name as the trace has it: on one line."""
    name = "".join(" " if ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 else c for c in name)
    return name or "[unknown]"


if __name__ == "__main__":
    harness.main()
