# SPDX-License-Identifier: GPL-2.0-or-later
"""Why threads wait: leaves below the paths that do."""

import os
import re
import subprocess

import harness

OPTIONS = ("--sample-rate", "97", "-F", "wait_*", "-F", "hand_*")
TIMES = 10
MS = 1000000

# By function: why it waits, and how long it does at least, each time.
REASONS = {"lock": ("[lock]", 4 * MS), "pipe": ("[pipe]", 3 * MS), "unix": ("[pipe]", 3 * MS),
           "network": ("[network]", 3 * MS), "poll": ("[poll]", 3 * MS),
           "timer": ("[timer]", 6 * MS), "child": ("[child]", 5 * MS),
           "stopped": ("[stopped]", 5 * MS)}
WOKEN = ("lock", "pipe", "unix", "network", "poll")  # by the other side


def leaves(document):
    """Yields (names from the outermost on, modules, time off the CPU there) of all paths, but for
    those of forked children."""
    functions, above = document["functions"], []
    pids = [thread["pid"] for thread in document["threads"] if thread["comm"] == "other"]
    for thread in document["threads"]:
        if thread["pid"] not in pids:
            continue
        for node, _, depth in harness.walk(thread["calls"]):
            del above[depth - 1:]
            above.append(functions[node["function"]])
            if node["off_self_ns"]:
                yield ([f["name"] for f in above], [f["module"] for f in above],
                       node["off_self_ns"])


class Reasons(harness.TestCase):
    def by_reason(self, document, function):
        """{reason: ns off the CPU} below a function; "": there is none."""
        found = {}
        for names, modules, ns in leaves(document):
            if function in names:
                reason = names[modules.index("[waits]")] if "[waits]" in modules else ""
                found[reason] = found.get(reason, 0) + ns
        return found

    def test_known_reasons(self):
        document, done = self.profile_command("reasons", TIMES, options=OPTIONS)
        right = told = 0
        for name, (reason, least_ns) in REASONS.items():
            found = self.by_reason(document, "wait_" + name)
            fits = found.get(reason, 0) + found.get("[cpu]", 0)
            # Time of a thread that the host takes counts as waiting for the program alone.
            self.assertGreaterEqual(fits, 0.75 * done.counts[name], (name, found, done.counts))
            self.assertGreaterEqual(found.get(reason, 0), 0.5 * TIMES * least_ns, (name, found))
            if name == "stopped":  # which waits for its child at last
                fits += found.get("[child]", 0)
            right += fits
            told += sum(found.values())
        found = self.by_reason(document, "wait_cpu")
        self.assertAlmostEqual(found.get("[cpu]", 0) / done.counts["cpu"], 1, delta=0.25)
        right += found.get("[cpu]", 0)
        told += sum(found.values())
        self.assertGreaterEqual(right / told, 0.99, (right, told))

    def test_wakers(self):
        """Wakers: which thread has ended a wait, and where that thread was."""
        document, _ = self.profile_command("reasons", TIMES, options=OPTIONS)
        right = told = 0
        for names, _, ns in leaves(document):
            for name in WOKEN:
                if "wait_" + name in names and names[-1] != "[cpu]":
                    told += ns
                    if names[-1].startswith(f"[by other: hand_{name} "):
                        right += ns
        self.assertGreaterEqual(right / told, 0.95, (right, told))

    def share_of(self, document):
        """The shares of the time waited that have the right reason, and the right other side."""
        right = told = ended = by_right = 0
        for names, modules, ns in leaves(document):
            reason = names[modules.index("[waits]")] if "[waits]" in modules else ""
            for name, (wanted, _) in REASONS.items():
                if "wait_" + name not in names:
                    continue
                told += ns
                # The function that stops its child waits for the child's end at last.
                right += ns * (reason in (wanted, "[cpu]") or
                               (name, reason) == ("stopped", "[child]"))
                if name in WOKEN and reason != "[cpu]":
                    ended += ns
                    by_right += ns * names[-1].startswith(f"[by other: hand_{name} ")
        return right / told, by_right / ended

    def test_many_threads(self):
        path = self.copy(harness.program("reasons"), f"why{os.getpid() % 100000}")
        for processes in (1, 8):  # each has a thread that waits, and its other side
            with self.subTest(processes=processes):
                targets = [self.target(path, 5) for _ in range(processes)]
                tracer = self.proftrace("-f", "json", "-p", os.path.basename(path),
                                        *OPTIONS).wait_tracing()
                for target in targets:
                    target.go()
                for target in targets:
                    self.assertEqual(target.finish().status, 0)
                reasons, others = self.share_of(self.document(tracer.finish()))
                self.assertGreaterEqual(reasons, 0.99)
                self.assertGreaterEqual(others, 0.95)

    def test_locks(self):
        done = self.process(harness.PROFTRACE, *OPTIONS, "-f", "locks", "--",
                            harness.program("reasons"), str(TIMES)).finish()
        self.assertEqual(done.status, 0, done)
        blocks = re.split(r"(?m)^(?= *\S+ \S+ +\S+%  \S.* of process)", done.stdout)
        block, = [b for b in blocks if "› wait_lock › pthread_mutex_lock" in b]
        self.assertRegex(block, r"100.0%  waited in    reasons: .*wait_lock › pthread_mutex_lock")
        share, = re.findall(r"([0-9.]+)%  released by  other: hand_lock ›", block)
        self.assertGreater(float(share), 95)

    def test_kinds(self):
        """Kinds of waits by a futex are told apart by the libc's function, and have the names of
        their variables."""
        for cause, kind, name, where in (
                ("condition", "condition", "task_ready", "take_task › .*pthread_cond_wait"),
                ("barrier", "barrier", "barrier", "meet › .*pthread_barrier_wait"),
                ("rwlock", "rwlock", "cache_lock", "read_cache › .*pthread_rwlock_rdlock"),
                ("rwlock_writer", "rwlock", "cache_lock",
                 "write_cache › .*pthread_rwlock_wrlock"),
                ("busy_holder", "lock", r"log_file\.lock", ".* › .*pthread_mutex_lock"),
                ("mutex", "lock", "table_lock", ".* › .*pthread_mutex_lock")):
            with self.subTest(cause=cause):
                done = self.process(harness.PROFTRACE, *OPTIONS, "-f", "locks", "--",
                                    harness.program("causes"), cause).finish()
                self.assertEqual(done.status, 0, done)
                deed = {"rwlock": "readers", "rwlock_writer": "writers"}.get(cause, "waited")
                self.assertRegex(done.stdout, rf"(?m)%  {kind} {name} of process [0-9]+\n"
                                 rf".*100.0%  {deed} in +causes: .*{where}\b")

    def test_one_address(self):
        """A barrier and a condition variable without a name go by one address in the tree and in
        the list of locks, that of a pair of words, at whichever of the two threads wait."""
        path = self.copy(harness.program("causes"))
        subprocess.run(["strip", path], check=True)
        for cause in "barrier", "condition":
            with self.subTest(cause=cause):
                recording = self.path(f"{cause}.data")
                done = self.process(harness.PROFTRACE, "record", *OPTIONS[:2], "-o", recording,
                                    "--", path, cause).finish()
                self.assertEqual(done.status, 0, done)
                locks, tree = (self.process(harness.PROFTRACE, "report", *shown, recording)
                               .finish().stdout
                               for shown in (("-f", "locks", "-v"), ("-f", "folded", "-w", "off")))
                addresses = set(re.findall(rf"  {cause} (\S*0x[0-9a-f]+) of process", locks))
                self.assertEqual(len(addresses), 1, locks)
                # Whoever is woken may have to wait for the condition's mutex, another lock.
                waits = re.findall(rf"pthread_{cause[:4]}(?!.*_mutex_cond_lock).*;"
                                   r"\[lock (\S*0x[0-9a-f]+)\]", tree)
                self.assertEqual(set(waits), addresses, tree)
                self.assertEqual(int(waits[0].partition("0x")[2], 16) % 8, 0)

    def test_mappings(self):
        """A page fault that waits until another thread has changed the process's mappings waits for
        a lock, not for a disk; and so does a call that changes them."""
        document, done = self.profile_command("mappings", options=("--sample-rate", "97"))
        functions, below = document["functions"], {}
        for thread in document["threads"]:
            above = []
            for node, _, depth in harness.walk(thread["calls"]):
                del above[depth - 1:]
                above.append(functions[node["function"]]["name"])
                for place in {"touch", "seal"} & set(above):
                    for what in "[lock]", "[disk]", "[other]":
                        if what in above:
                            by = "protect" in above[-1]
                            below[place, what, by] = \
                                below.get((place, what, by), 0) + node["off_self_ns"]
        for place, waits in done.counts.items():
            by_protect = below.get((place, "[lock]", True), 0)
            self.assertGreater(by_protect, waits * 10000, below)
            self.assertGreater(by_protect, below.get((place, "[lock]", False), 0), below)
            for what in "[disk]", "[other]":
                self.assertEqual([ns for key, ns in below.items() if key[:2] == (place, what)], [])

    def test_formats(self):
        result = self.path("result.folded")
        done = self.process(harness.PROFTRACE, "-w", "off", *OPTIONS, "-o", result, "--",
                            harness.program("reasons"), "2").finish()
        self.assertEqual(done.status, 0, done)
        with open(result, encoding="utf-8") as lines:
            text = lines.read()
        self.assertRegex(text, r"(?m)wait_lock;.*\[futex\];\[lock\];\[lock \w+\]"
                         r";\[by other: hand_lock › .*\] [0-9]+$")
        self.assertRegex(text, r"(?m)wait_cpu;\[preempted\];\[cpu\] [0-9]+$")

    def test_roles(self):
        """A wait for an rwlock is told as a reader's or a writer's."""
        for cause, role in (("rwlock", "reader"), ("rwlock_writer", "writer")):
            with self.subTest(cause=cause):
                result = self.path(cause + ".folded")
                done = self.process(harness.PROFTRACE, "-w", "off", *OPTIONS, "-o", result, "--",
                                    harness.program("causes"), cause).finish()
                self.assertEqual(done.status, 0, done)
                with open(result, encoding="utf-8") as lines:
                    self.assertIn(f";[lock];[lock cache_lock, as a {role}];", lines.read())


if __name__ == "__main__":
    harness.main()
