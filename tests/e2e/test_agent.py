# SPDX-License-Identifier: GPL-2.0-or-later
"""proftrace agent: what it records, keeps, and says of itself; however it, or what it has begun, is
ended."""

import contextlib
import glob
import hashlib
import http.server
import json
import os
import signal
import subprocess
import threading
import urllib.parse

import harness
import schemas
from harness import PROFTRACE, program

CONFIG = """[agent]
ring = {folder}/ring
status = {folder}/run/agent.json
interval = 1s
overhead = 100%
[service a]
process = {name}
overhead = none
"""


class Agent(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.name = f"agent-{os.getpid() % 100000}"
        self.steps = self.copy(program("steps"), self.name)
        self.config = self.path("agent.conf")
        self.ring = self.path("ring")
        self.status = self.path("run/agent.json")
        self.counted = {}  # {recording: calls of `outer`}
        self.seen = set()  # (pid, tid) of threads that have calls in any of these
        self.write()

    def write(self, more=""):
        text = CONFIG.format(folder=os.path.dirname(self.config), name=self.name)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text + more)

    def agent(self, *options):
        return self.process(PROFTRACE, "agent", *options, self.config, stdin=subprocess.DEVNULL)

    def agent_of_unit(self):
        """With the capabilities alone that systemd would leave it."""
        with open(os.path.join(harness.ROOT, "packaging", "proftrace-agent.service"),
                  encoding="utf-8") as file:
            unit = dict(line.strip().split("=", 1) for line in file if "=" in line)
        names = [name.lower().replace("cap_", "+")
                 for name in unit["CapabilityBoundingSet"].split()]
        return self.process("setpriv", "--no-new-privs", "--bounding-set",
                            ",".join(["-all", *names]), PROFTRACE, "agent", self.config,
                            stdin=subprocess.DEVNULL)

    def began(self, agent):
        self.assertTrue(agent.stderr.wait_lines("proftrace: agent: "), agent.stderr.text())
        return agent

    def begin_target(self):
        target = self.target(self.steps)
        target.go()
        return target

    @staticmethod
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]

    def recordings(self, service="a"):
        return sorted(glob.glob(os.path.join(self.ring, service, "[0-9]*.data")))

    def outer(self):
        """Calls of `outer` in all recordings, each of which is whole and stays as it is."""
        paths = self.recordings()
        for path in paths:
            if path in self.counted:
                continue
            done = self.process(PROFTRACE, "report", "-f", "json", path,
                                stdin=subprocess.DEVNULL).finish()
            self.assertEqual(done.status, 0, str(done))
            self.assertNotIn("cut", done.stderr)
            document = json.loads(done.stdout)
            self.counted[path] = sum(f["calls"] for f in document["functions"]
                                     if f["name"] == "outer")
            self.seen |= {(thread["pid"], thread["tid"]) for thread in document["threads"]
                          if any(node["calls"] for node, _, _ in harness.walk(thread["calls"]))}
        return sum(self.counted[path] for path in paths)

    def wait_outer(self, count):
        harness.poll(lambda: self.outer() >= count, interval=0.2)
        self.assertEqual(self.outer(), count)

    def wait_recording(self, target):
        """Until calls of the target are recorded. Returns how many it has made by then."""
        before = self.outer()
        made = 0
        while self.outer() == before and made < 300:
            target.step("1")
            made += 1
            harness.poll(lambda: self.outer() > before, 0.5, 0.1)
        self.assertGreater(self.outer(), before)
        # Not all of the first calls are recorded, as not all probes were in. Later ones are, and
        # all that are have been by the second time: the threads of one recording are read one
        # after the other, so the first may have left some out.
        for _ in range(2):
            self.wait_new_thread(target)
        return self.outer()

    def wait_new_thread(self, target):
        """Has a thread that begins now make a call, and waits until that is recorded."""
        before = set(self.seen)

        def recorded():
            self.outer()
            return any(pid == target.pid != tid for pid, tid in self.seen - before)

        target.step("threads 1")
        self.assertTrue(harness.poll(recorded, interval=0.1))

    def end(self, agent):
        agent.signal(signal.SIGTERM)
        done = agent.finish()
        self.assertEqual(done.status, 0, str(done))
        return done

    def read_status(self):
        with open(self.status, encoding="utf-8") as file:
            status = json.load(file)
        schemas.check(status)
        return status


@harness.alone("its processes look at all others, and what is left in the kernel is counted")
class Records(Agent):
    def test_who_comes_and_goes(self):
        agent = self.began(self.agent())
        self.assertTrue(agent.stderr.wait_lines("proftrace: a: nobody is there yet"))
        target = self.begin_target()
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        other = self.begin_target()
        other.step("7")
        self.wait_outer(count + 12)
        target.finish()
        other.finish()
        later = self.begin_target()
        later.step("11")
        later.finish()
        self.end(agent)
        self.assertEqual(self.outer(), count + 23)
        status = self.read_status()
        self.assertEqual(status["services"][0]["recordings"], len(self.recordings()))
        self.assertEqual(status["services"][0]["starts"], 1)
        self.assertLess(status["memory_bytes"], 150e6)
        self.assertLess(status["kernel_bytes"], 100e6)

    def test_a_second_one(self):
        agent = self.began(self.agent())
        self.assert_one_line(self.agent().finish(), 1, "another agent runs on this machine")
        self.end(agent)
        agent = self.began(self.agent())
        self.end(agent)

    def test_reload(self):
        target = self.begin_target()
        agent = self.began(self.agent())
        count = self.wait_recording(target)
        recorder = self.children(agent.pid)
        # The configuration says the same of the service as before.
        self.write("[service b]\nprocess = nobody-is-called-so\n")
        agent.signal(signal.SIGHUP)
        self.assertTrue(agent.stderr.wait_lines("proftrace: the configuration was read again"))
        self.assertEqual(self.children(agent.pid), recorder)
        # A configuration with an error changes nothing.
        self.write("[what]\n")
        agent.signal(signal.SIGHUP)
        self.assertTrue(agent.stderr.wait_lines("proftrace: the agent goes on"))
        self.assertEqual(self.children(agent.pid), recorder)
        # The service is to be recorded with another option: a new recorder takes over from the old
        # one.
        self.write("max-paths = 32768\n")
        agent.signal(signal.SIGHUP)
        harness.poll(lambda: len(self.children(agent.pid)) == 1 and
                     self.children(agent.pid) != recorder, interval=0.05)
        self.assertNotEqual(self.children(agent.pid), recorder)
        target.step("5")
        self.end(agent)
        self.assertEqual(self.outer(), count + 5)

    def test_reload_amid_calls(self):
        """No call is lost, and none is counted twice, as a run takes over from another: but for
        one that both programs see begin just then, one of them before and one after. Nor if the
        configuration changes once more before the successor is ready."""
        target = self.begin_target()
        agent = self.began(self.agent())
        count = self.wait_recording(target)
        successors = (32768, 65536, 32768)
        for paths in successors:
            for more in range(2):
                before = agent.stderr.text().count("read again")
                self.write(f"max-paths = {paths + more}\n")
                agent.signal(signal.SIGHUP)
                while agent.stderr.text().count("read again") == before:
                    target.step("100")
                    count += 100
            while len(self.children(agent.pid)) != 1:
                target.step("1000")
                count += 1000
        target.step("5")
        self.end(agent)
        self.assertAlmostEqual(self.outer(), count + 5, delta=2 * len(successors))
        # Both recorders write at the same time: senders keep the order of recordings by their
        # number.
        numbers = [os.path.basename(path)[:10] for path in self.recordings()]
        self.assertEqual(len(set(numbers)), len(numbers), numbers)

    def test_full_disk(self):
        """A full disk is reported and counted, and the agent goes on; no call is lost."""
        os.mkdir(self.ring)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", self.ring], check=True)
        try:
            target = self.begin_target()
            agent = self.began(self.agent())
            count = self.wait_recording(target)
            filler = os.open(os.path.join(self.ring, ".filler"), os.O_CREAT | os.O_WRONLY)
            with contextlib.suppress(OSError):
                while os.write(filler, bytes(4096)):
                    pass
            os.close(filler)
            target.step("3")
            self.assertTrue(agent.stderr.wait_lines("proftrace: a: cannot write"))
            os.unlink(os.path.join(self.ring, ".filler"))
            self.wait_outer(count + 3)
            self.end(agent)
            self.assertGreater(self.read_status()["services"][0]["unwritten"], 0)
        finally:
            subprocess.run(["umount", "-l", self.ring], check=True)

    def test_killed_recorder(self):
        target = self.begin_target()
        agent = self.began(self.agent())
        count = self.wait_recording(target)
        os.kill(self.children(agent.pid)[0], signal.SIGKILL)
        self.assertTrue(agent.stderr.wait_lines("proftrace: a: its recorder has ended (signal 9)"))
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        self.end(agent)


class Receiver:
    """Takes what Pyroscope's /ingest takes, at one port, also after it was away."""

    def __init__(self, port=0):
        self.got = []  # (from, until, name, digest) of each profile that was taken
        self.status = 200
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
                if receiver.status == 200:
                    receiver.got.append((query["from"][0], query["until"][0], query["name"][0],
                                         hashlib.sha256(body).hexdigest()))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@harness.apart
class Sends(Agent):
    def sent(self):
        """Returns the agent's counts for the receiver from its file, without waiting for the next
        status."""
        try:
            with open(os.path.join(self.ring, "a", ".sent-r"), encoding="ascii") as file:
                words = file.read().split()
        except FileNotFoundError:
            return {"sent": 0, "refused": 0, "missed": 0}
        return dict(zip(words[::2], map(int, words[1::2])))

    def wait_sent(self, count):
        self.assertTrue(harness.poll(lambda: self.sent()["sent"] >= count, interval=0.1), self.sent())

    def wait_all_sent(self):
        self.assertTrue(harness.poll(lambda: self.sent()["sent"] >= len(self.recordings()), interval=0.1),
                        self.sent())

    def record_more(self, target):
        """Waits until three more calls of the target are in a new recording."""
        cnt = len(self.recordings())
        target.step("3")
        self.assertTrue(harness.poll(lambda: len(self.recordings()) > cnt, interval=0.05))

    def write_receiver(self, port, more=""):
        self.write(f"[receiver r]\nurl = pyroscope+http://127.0.0.1:{port}\n{more}")

    def test_away_and_back(self):
        """While the receiver is away recordings wait on the disk, and then arrive in order, each
        once."""
        receiver = Receiver()
        port = receiver.port
        self.write_receiver(port)
        target = self.begin_target()
        agent = self.began(self.agent())
        self.wait_recording(target)
        self.wait_sent(1)
        receiver.status = 503
        before = self.sent()["sent"]
        for _ in range(2):
            self.record_more(target)
        self.assertTrue(agent.stderr.wait_lines("proftrace: receiver r: "))
        receiver.close()
        self.record_more(target)
        self.assertLessEqual(self.sent()["sent"], before + 2)
        got = receiver.got
        receiver = Receiver(port)
        self.addCleanup(receiver.close)
        self.assertTrue(harness.poll(lambda: "takes recordings again" in agent.stderr.text()))
        target.finish()
        self.wait_all_sent()
        self.end(agent)
        self.assertEqual(self.sent()["refused"], 0)
        self.assertEqual(self.sent()["missed"], 0)
        got += receiver.got
        self.assertEqual(len(got), len(set(got)), got)
        self.assertEqual(got, sorted(got, key=lambda one: int(one[0])), got)
        self.assertEqual(len({one[:2] for one in got}), self.sent()["sent"])

    def test_killed_while_sending(self):
        receiver = Receiver()
        self.addCleanup(receiver.close)
        self.write_receiver(receiver.port)
        target = self.begin_target()
        for _ in range(2):
            agent = self.began(self.agent())
            self.wait_recording(target)
            family = self.children(agent.pid)
            os.kill(agent.pid, signal.SIGKILL)
            agent.finish()
            harness.poll(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in family))
        agent = self.began(self.agent())
        target.finish()
        self.wait_all_sent()
        self.end(agent)
        self.assertEqual(len({one[:2] for one in receiver.got}), len(self.recordings()))
        # A recording whose sending was interrupted by the kill is sent again; its id tells that it
        # is the same one (test_fleet).
        self.assertLessEqual(len(receiver.got) - len(set(receiver.got)), 2)


@harness.alone("its processes look at all others")
class Unit(Agent):
    def test_capabilities(self):
        """The capabilities that the systemd unit grants are enough."""
        target = self.begin_target()
        agent = self.began(self.agent_of_unit())
        count = self.wait_recording(target)
        target.step("5")
        self.wait_outer(count + 5)
        self.assertEqual(self.end(agent).stderr.count("\n"), 1)


class Configuration(Agent):
    def test_check(self):
        self.assertIn("1 service, 0 receivers: no errors", self.agent("--check").finish().stdout)
        self.write("colour = red\n[what]\n")
        done = self.agent("--check").finish()
        self.assertEqual(done.status, 1)
        self.assertIn(f"{self.config}:9: 'colour' is no key of [service]", done.stderr)
        self.assertIn(f"{self.config}:10: [what]: no such section", done.stderr)
        done = self.agent().finish()
        self.assertEqual(done.status, 1)
        self.assertEqual(done.stderr.count("\n"), 2, str(done))

    def test_files_that_are_others(self):
        """A FIFO is not waited for; what another program has written stays."""
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        done = self.process(PROFTRACE, "agent", "--check", fifo, stdin=subprocess.DEVNULL).finish()
        self.assert_one_line(done, 1, fifo, "no regular file")
        done = self.process(PROFTRACE, "agent", "--check", "a", "b",
                            stdin=subprocess.DEVNULL).finish()
        self.assert_one_line(done, 2, "b: agent takes one configuration")
        os.makedirs(os.path.dirname(self.status))
        with open(self.status, "w", encoding="utf-8") as file:
            file.write("precious\n")
        self.assert_one_line(self.agent().finish(), 1, f"status = {self.status}", "another file")
        self.assertIn(":3: status", self.agent("--check").finish().stderr)
        with open(self.status, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious\n")

    def test_example(self):
        example = os.path.join(harness.ROOT, "packaging", "agent.conf")
        done = self.process(PROFTRACE, "agent", "--check", example,
                            stdin=subprocess.DEVNULL).finish()
        self.assertEqual(done.status, 0, str(done))

    def test_no_file(self):
        done = self.process(PROFTRACE, "agent", self.path("none"), stdin=subprocess.DEVNULL)
        self.assert_one_line(done.finish(), 1, "cannot read the configuration")


if __name__ == "__main__":
    harness.main()
