# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent sends what it records to ClickHouse, Debian's, and by OTLP to a receiver of our own: all
of it, once, whoever goes away meanwhile."""

import json
import os
import signal
import subprocess

import clickhouse
import harness
import otlp
import test_agent
from harness import PROFTRACE


class Fleet(test_agent.Agent):
    def place(self, receiver):
        """{"sent": N, ...}: how far the receiver has come."""
        try:
            with open(os.path.join(self.ring, "a", f".sent-{receiver}"), encoding="ascii") as file:
                words = file.read().split()
        except FileNotFoundError:
            return {"sent": 0, "refused": 0, "missed": 0, "number": 0}
        return dict(zip(words[::2], map(int, words[1::2])))

    def wait_sent(self, receiver):
        """Until it has all that is recorded."""
        harness.poll(lambda: self.place(receiver)["sent"] >= len(self.recordings()), interval=0.1)
        place = self.place(receiver)
        self.assertEqual((place["sent"], place["refused"], place["missed"]),
                         (len(self.recordings()), 0, 0))

    def wait_gone(self, pids):
        def left():
            return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]

        harness.poll(lambda: not left())
        self.assertEqual(left(), [], "these processes go on")


@harness.apart
class ToClickHouse(Fleet):
    def setUp(self):
        super().setUp()
        self.server = clickhouse.Server(self)
        self.write(f"version = 1.3\n[receiver c]\nurl = {self.server.url}\n")

    def in_database(self):
        """Calls of `outer`, as a report of all that the database has counts them."""
        done = self.process(PROFTRACE, "report", "-q", "-f", "json", "--from", self.server.url,
                            "--where", "service = 'a' and version = '1.3'",
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))
        return sum(f["calls"] for f in json.loads(done.stdout)["functions"] if f["name"] == "outer")

    def send_rest(self, agent):
        """Ends it, and has another one send what was written then; the targets have ended."""
        self.wait_sent("c")
        self.end(agent)
        agent = self.began(self.agent())
        self.wait_sent("c")
        self.end(agent)

    def check_database(self):
        """A row for each recording, and the calls of all."""
        [[rows, ids]] = self.server.ask("SELECT count(), uniqExact(id) FROM profiles")
        self.assertEqual((int(rows), int(ids)), (len(self.recordings()),) * 2)
        for table in "profile_paths", "profile_functions":
            [[rows]] = self.server.ask(f"SELECT count() FROM {table}")
            self.assertEqual(int(rows), len(self.recordings()))
        self.assertEqual(self.in_database(), self.outer())

    def test_all_of_it_once(self):
        target = self.begin_target()
        agent = self.began(self.agent())
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        target.finish()
        self.send_rest(agent)
        self.check_database()
        self.assertEqual(self.in_database(), count + 5)

    def test_who_goes_away(self):
        """The engine is killed and comes back; so does the agent, amid sending."""
        target = self.begin_target()
        agent = self.began(self.agent())
        count = self.wait_recording(target)
        self.wait_sent("c")
        self.server.kill()
        made = len(self.recordings())
        target.step("3")
        harness.poll(lambda: len(self.recordings()) > made, interval=0.05)
        self.assertTrue(agent.stderr.wait_lines("proftrace: receiver c: "))
        self.server.start()
        family = self.children(agent.pid)
        os.kill(agent.pid, signal.SIGKILL)
        agent.finish()
        self.wait_gone(family)
        agent = self.began(self.agent())
        self.wait_recording(target)
        target.step("4")
        target.finish()
        self.send_rest(agent)
        self.check_database()
        self.assertGreaterEqual(self.in_database(), count + 7)


@harness.apart
class ToOtlp(Fleet):
    def setUp(self):
        super().setUp()
        self.receiver = otlp.Receiver()
        self.addCleanup(self.receiver.end)
        self.write(f"[receiver o]\nurl = otlp+http://127.0.0.1:{self.receiver.server_port}\n")

    def test_profiles_and_metrics(self):
        # The first is asked for later, of the second a part is rejected.
        self.receiver.answers[otlp.PROFILES] = [(503, {"Retry-After": "1"}, b"")]
        self.receiver.answers[otlp.METRICS] = [
            (200, {}, b"\x0a\x07\x08\x01\x12\x03old")]
        target = self.begin_target()
        agent = self.began(self.agent())
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        target.finish()
        self.wait_sent("o")
        done = self.end(agent)
        self.assertRegex(done.stderr, r"proftrace: receiver o: .*/ring/a/.*\.data: 1 of \d+ data "
                                      r"points rejected: old\n")
        bodies = self.receiver.bodies(otlp.PROFILES)
        # The target may do nothing for as long as a recording lasts, which has no profile then.
        self.assertLessEqual(len(bodies), self.place("o")["sent"] + 1)
        self.assertEqual(bodies[0], bodies[1])
        calls = sum(s.value for body in bodies[1:]
                    for s in otlp.profiles(self, body).get(("calls", "count"), ())
                    if s.stack[0] == "outer")
        self.assertEqual(calls, count + 5)
        counted = 0
        for body in self.receiver.bodies(otlp.METRICS):
            metric = otlp.metrics(body).get("proftrace.function.calls", {"sum": {"dataPoints": []}})
            counted += sum(int(p["asInt"]) for p in metric["sum"]["dataPoints"]
                           if otlp.values_of(p["attributes"])["code.function.name"] == "outer")
        self.assertEqual(counted, count + 5)


if __name__ == "__main__":
    harness.main()
