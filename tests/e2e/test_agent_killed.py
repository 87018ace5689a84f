# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent, and what it has begun, killed by SIGKILL at moments that files, programs in the kernel
and requests mark: no probe stays, no recording is half, lost or doubled, on disk and in ClickHouse.
PROFTRACE_KILLS=100 SEED=1 for more than a few kills, and for those of one seed."""

import ctypes
import os
import random
import signal
import struct
import threading

import harness
import test_agent_fleet

KILLS = int(os.environ.get("PROFTRACE_KILLS", "5"))
SEED = int(os.environ.get("SEED", "17"))


class Events:
    """Events of files of some folders, by inotify(7): each is counted, and on the one that was
    chosen something is done at once."""

    CREATE, MODIFY, CLOSE_WRITE, MOVED_TO, DELETE = 0x100, 0x2, 0x8, 0x80, 0x200
    libc = ctypes.CDLL(None, use_errno=True)

    def __init__(self, *folders):
        self.fd = self.libc.inotify_init1(os.O_CLOEXEC)
        for folder in folders:
            os.makedirs(folder, exist_ok=True)
            watch = self.libc.inotify_add_watch(self.fd, folder.encode(), self.CREATE | self.MODIFY |
                                                self.CLOSE_WRITE | self.MOVED_TO | self.DELETE)
            if self.fd < 0 or watch < 0:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        self.left, self.action, self.last = 0, None, None
        self.done = threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while data := os.read(self.fd, 4096):
            at = 0
            while at < len(data):
                _, mask, _, size = struct.unpack_from("iIII", data, at)
                name = data[at + 16:at + 16 + size].rstrip(b"\0").decode()
                at += 16 + size
                with self.lock:
                    self.left -= 1
                    if self.action and self.left <= 0:
                        self.action()
                        self.action, self.last = None, f"{name} ({mask:#x})"
                        self.done.set()

    def at(self, number, action):
        """Has that done at the event of that number from now on, 1: the next one."""
        with self.lock:
            self.left, self.action = number, action
            self.done.clear()


class Held:
    """A process that is kept from running, by ptrace(2): signals wait, and none lets it go on."""

    SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000

    def __init__(self, pid):
        self.pid = pid
        self.ask(self.SEIZE)
        self.ask(self.INTERRUPT)
        os.waitpid(pid, self.WALL)

    def ask(self, request):
        libc = Events.libc
        if libc.ptrace(request, self.pid, None, None) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def let_go(self):
        self.ask(self.DETACH)


@harness.apart
class Killed(test_agent_fleet.ToClickHouse):
    test_all_of_it_once = test_who_goes_away = None  # they are the other module's

    def setUp(self):
        super().setUp()
        self.chance = random.Random(SEED)
        self.target_process = self.begin_target()
        self.events = Events(os.path.join(self.ring, "a"), os.path.dirname(self.status))
        self.steps_made = 0

    def step(self):
        self.target_process.step("1")
        self.steps_made += 1

    def recorders_and_senders(self, agent):
        """Sorts the agent's children: those that have children of their own are recorders, as these
        start link holders."""
        children = self.children(agent)
        recorders = [pid for pid in children if self.children(pid)]
        return recorders, [pid for pid in children if pid not in recorders]

    def kill(self, agent, whom):
        """The agent alone, so that its recorder still writes; or with others, who do not."""
        try:
            recorders, senders = self.recorders_and_senders(agent.pid)
        except FileNotFoundError:
            recorders = senders = []
        victims = {"agent": [agent.pid], "recorder": recorders, "sender": senders,
                   "all": [agent.pid, *recorders, *senders]}[whom]
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def wait_clean(self, family):
        """Waits until no process and no probe is left: the program's code is as in its file.
        (Libraries' code is not compared: other processes use them as well, and somebody may trace
        these.)"""
        self.wait_gone(family)
        new = {(kind, number) for kind, number in harness.Bpf.ids() - self.bpf_before
               if kind in ("link", "prog")}
        self.assertTrue(harness.poll(lambda: self.all_gone(new)), new)
        self.assertEqual([line for line in harness.dirty_text(self.target_process.pid)
                          if self.name in line], [])

    def kill_once(self):
        whom = self.chance.choice(("agent", "agent", "all", "recorder", "sender"))
        amid_start = self.chance.random() < 0.3
        event = self.chance.randrange(1, 12 if amid_start else 40)
        context = f"seed {SEED}: {whom} at event {event}{' of the start' if amid_start else ''}"
        agent = self.agent()
        if amid_start:
            self.events.at(event, lambda: self.kill(agent, whom))
        exact = None  # how many calls there are, if that is known
        if not amid_start:
            self.began(agent)
            exact = self.wait_recording(self.target_process)
            self.events.at(event, lambda: self.kill(agent, whom))
        before, made, family = self.outer(), self.steps_made, set()
        while not self.events.done.wait(0.1):
            family |= self.family(agent.pid)
            self.step()
        context += f", {self.events.last}"
        kept = self.outer()
        family |= self.family(agent.pid)
        if whom in ("agent", "all"):
            agent.finish()
        else:
            # The agent begins recorders anew that have ended; all is written at the end.
            self.end(self.began(agent))
        self.wait_clean(family)
        found = self.outer()
        if exact is not None and whom in ("agent", "sender"):
            self.assertEqual(found, exact + self.steps_made - made, context)
        self.assertGreaterEqual(found, kept, context)
        self.assertLessEqual(found, before + self.steps_made - made, context)

    def family(self, pid):
        """The process's children and grandchildren."""
        found = set()
        try:
            found = set(self.children(pid))
            for child in tuple(found):
                found |= set(self.children(child))
        except (FileNotFoundError, ProcessLookupError):
            pass
        return found

    def test_at_any_moment(self):
        for _ in range(KILLS):
            self.kill_once()
        self.target_process.finish()
        self.send_rest(self.began(self.agent()))
        self.check_database()

    def test_its_successor_waits(self):
        """The successor of a killed agent counts nothing that the old agent's recorder still
        counts."""
        agent = self.began(self.agent())
        count = self.wait_recording(self.target_process)
        [recorder], _ = self.recorders_and_senders(agent.pid)
        held = Held(recorder)
        os.kill(agent.pid, signal.SIGKILL)
        agent.popen.wait(harness.TIMEOUT)  # until it has its lock no more
        successor = self.agent()
        self.assertTrue(successor.stderr.wait_lines("proftrace: waits for recorders"))
        self.target_process.step("3")
        held.let_go()
        self.began(successor)
        self.wait_outer(count + 3)
        agent.finish()
        self.end(successor)
        self.assertEqual(self.outer(), count + 3)

    def test_killed_as_its_recorder_ends(self):
        """A recorder that is told to end, by a reload, say, is told once more as its agent dies: it
        writes what it has all the same."""
        agent = self.began(self.agent())
        for _ in range(3):
            count = self.wait_recording(self.target_process)
            [recorder], _ = self.recorders_and_senders(agent.pid)
            self.target_process.step("3")
            os.kill(recorder, signal.SIGTERM)
            # From here on the next one has another effect, or the recorder has ended.
            self.assertTrue(harness.poll(lambda: not catches(recorder, signal.SIGTERM), interval=0))
            try:
                os.kill(recorder, signal.SIGTERM)
            except ProcessLookupError:
                pass
            self.wait_gone({recorder})
            self.assertEqual(self.outer(), count + 3)
        self.end(agent)


def catches(pid, number):
    """Whether a process that has not ended has a handler for a signal."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            caught = next(line for line in file if line.startswith("SigCgt"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return bool(int(caught.split()[1], 16) >> number - 1 & 1)


if __name__ == "__main__":
    harness.main()
