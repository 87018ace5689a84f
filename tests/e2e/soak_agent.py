# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent for half an hour: targets come and go, receivers (Debian's ClickHouse, and one of our
own) are ended and begun, the agent is killed and has its configuration changed, all by chance. In
the end no call and no recording is lost or doubled, on disk or in ClickHouse. `make soak-agent
SECONDS=1800 SEED=1`; its short forms are test_agent.py and test_agent_killed.py."""

import collections
import json
import os
import random
import signal
import time

import harness
import test_agent_fleet
from test_agent import Receiver, Sends

SECONDS = int(os.environ.get("SECONDS", "1800"))
SEED = int(os.environ.get("SEED", str(os.getpid())))


class Soak(test_agent_fleet.ToClickHouse, Sends):
    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.receiver = Receiver()
        self.port = self.receiver.port
        self.got = []
        self.targets = []
        self.past = []  # names of what has been done
        self.made = collections.Counter()  # calls by process since the agent began
        self.calls = self.kills = self.reloads = self.away = self.engine_kills = 0
        self.paths = 65536
        self.write_receivers()

    def write_receivers(self):
        self.write(f"version = 1.3\nmax-paths = {self.paths}\n"
                   f"[receiver r]\nurl = pyroscope+http://127.0.0.1:{self.port}\n"
                   f"[receiver c]\nurl = {self.server.url}\n")

    def wait_sent(self, receiver):
        super().wait_sent(receiver)
        harness.poll(lambda: self.sent()["sent"] >= len(self.recordings()), 120, 0.2)

    def begin_agent(self):
        self.made.clear()
        self.kept = len(self.recordings())
        self.running = self.began(self.agent())
        self.calls = self.wait_recording(self.keeper)

    def target_comes(self):
        if len(self.targets) < 10:
            self.targets.append(self.begin_target())

    def target_goes(self):
        if self.targets:
            self.targets.pop(self.chance.randrange(len(self.targets))).finish()

    def target_works(self):
        target = self.chance.choice([self.keeper, *self.targets])
        count = self.chance.randrange(1, 50)
        target.step(str(count))
        self.calls += count
        self.made[target.pid] += count

    def receiver_goes_and_comes(self):
        self.away += 1
        self.got += self.receiver.got
        self.receiver.close()
        time.sleep(self.chance.random() * 3)
        self.receiver = Receiver(self.port)

    def receiver_is_busy(self):
        self.receiver.status = self.chance.choice((500, 503, 429))
        time.sleep(self.chance.random() * 3)
        self.receiver.status = 200

    def engine_is_killed(self):
        self.engine_kills += 1
        self.server.kill()
        time.sleep(self.chance.random() * 3)
        self.server.start()

    def by_process(self):
        """Text for the message of a failure: {process: [calls made, (recording, calls)...]}, of the
        processes whose numbers differ."""
        found = {pid: [made] for pid, made in self.made.items()}
        for path in self.recordings()[self.kept:]:
            done = self.process(harness.PROFTRACE, "report", "-f", "json", path).finish()
            document = json.loads(done.stdout)
            names = [f["name"] for f in document["functions"]]
            for thread in document["threads"]:
                calls = self.calls_below(thread["calls"], names)
                if calls:
                    found.setdefault(thread["pid"], [0]).append(
                        (os.path.basename(path)[:10].lstrip("0"), calls))
        return {pid: calls for pid, calls in found.items()
                if calls[0] != sum(recorded for _, recorded in calls[1:])}

    def calls_below(self, nodes, names):
        return sum(node["calls"] * (names[node["function"]] == "outer") +
                   self.calls_below(node["children"], names) for node in nodes)

    def agent_is_killed(self):
        self.kills += 1
        family = self.children(self.running.pid)
        os.kill(self.running.pid, signal.SIGKILL)
        done = self.running.finish()
        self.wait_gone(family)
        if (found := self.outer()) != self.calls:
            self.fail(f"{found} calls of {self.calls} after a kill, after: "
                      f"{' '.join(self.past[-20:])}\n{self.by_process()}\n{done.stderr}")
        self.begin_agent()

    def reload(self):
        self.reloads += 1
        self.paths = 98304 - self.paths
        self.write_receivers()
        self.running.signal(signal.SIGHUP)
        self.running.stderr.wait_lines("proftrace: the configuration was read again")

    def test_all(self):
        self.keeper = self.begin_target()
        self.begin_agent()
        events = ([self.target_comes] * 4 + [self.target_goes] * 3 + [self.target_works] * 20 +
                  [self.receiver_goes_and_comes, self.receiver_is_busy, self.engine_is_killed,
                   self.agent_is_killed, self.reload])
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            event = self.chance.choice(events)
            self.past.append(event.__name__)
            event()
            time.sleep(self.chance.random() * 0.5)
        while self.targets:
            self.target_goes()
        self.wait_outer(self.calls)
        harness.poll(lambda: self.sent()["sent"] >= len(self.recordings()), 120, 0.2)
        status = self.read_status()
        self.keeper.finish()
        self.send_rest(self.running)
        self.got += self.receiver.got
        self.receiver.close()
        got = len(set(self.got))
        doubled = len(self.got) - got
        print(f"seed {SEED}: {self.calls} calls, {len(self.recordings())} recordings, "
              f"{got} received, {doubled} twice, {self.kills} kills, "
              f"{self.away} times the receiver was away, ClickHouse {self.engine_kills}, "
              f"{self.reloads} reloads; "
              f"{status['cpu_percent']:.2f} % of a CPU, {status['memory_bytes'] >> 20} MB")
        self.check_database()
        self.assertEqual(self.sent()["missed"], 0)
        self.assertEqual(got, len(self.recordings()))
        # Only a kill between sending and noting it sends a recording again, with the same id.
        self.assertLessEqual(doubled, 2 * self.kills)


if __name__ == "__main__":
    import sys
    import unittest
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(Soak("test_all")).wasSuccessful())
