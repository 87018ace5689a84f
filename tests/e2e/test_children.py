# SPDX-License-Identifier: GPL-2.0-or-later
"""Children that are forked: they run the same program, and are traced until they begin another."""

import collections
import os
import shutil
import signal
import socket
import time

import harness
from harness import program

LIMITED = ("--max-overhead", "5")
PYTHON_POOL = """
import multiprocessing, sys

def work(number):
    for power in range(10):
        complex(number, 1) ** (power + 0.5)

if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        pool.map(work, range(1, 31), 1)
    print("done", flush=True)
"""


def text_of(pid, path):
    """A process's mappings of a file whose code is not the file's."""
    return [line for line in harness.dirty_text(pid) if line.endswith(path)]


class Counts(harness.TestCase):
    def check_forest(self, document, done):
        self.assertEqual(done.status, 0, str(done))
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["lost"], 0)

    def test_every_call_of_children(self):
        """Calls of grandchildren count too, of children that a thread has forked, and those up to
        an exec."""
        for mode in ("pid", "command"):
            for options in ((), ("--exits=sites",), ("--exits=none",)):
                with self.subTest(mode=mode, options=options):
                    document, done = getattr(self, f"profile_{mode}")("forest", 5, 10,
                                                                      options=options)
                    self.check_forest(document, done)

    def test_children_without_fork(self):
        """By system calls of the program's own, where 5-byte nops would be sites, and by vfork."""
        for name in ("births", "births-vfork"):
            for mode in ("pid", "command"):
                with self.subTest(name=name, mode=mode):
                    document, done = getattr(self, f"profile_{mode}")(name, 5, 10,
                                                                      options=("-F", "work"))
                    self.assertEqual(done.counts, {"work": 100})
                    self.check_forest(document, done)

    def test_each_is_a_process_of_its_own(self):
        document, done = self.profile_pid("forks", 20, 10)
        work = done.counts["work"] + done.numbers("CHILDREN")["work"]
        self.assertEqual(self.count(document, "work"), work)
        self.assertEqual(len({thread["pid"] for thread in document["threads"]}), 21)

    def test_many_at_a_time(self):
        document, done = self.profile_pid("forkstorm", 400)
        work = done.counts["work"] + done.numbers("CHILDREN")["work"]
        self.assertEqual(self.count(document, "work"), work)

    def test_given_up(self):
        """Children that are not traced hit the inherited breakpoints until they exec: that is
        reported."""
        document, done = self.profile_pid("forks", 7, 10, options=("--no-children",))
        self.assert_counts(document, done.counts, done)
        tracer = next(p for p in self.processes if isinstance(p, harness.Proftrace))
        self.assertIn("7 forked processes were not followed", tracer.finish().stderr)

    def test_workers_that_began_earlier(self):
        """They are not traced by the number of their parent: that is said, and what would."""
        target = self.target("hive", 2)
        with open(f"/proc/{target.pid}/task/{target.pid}/children", encoding="utf-8") as file:
            children = file.read().split()
        # Who began in the same tick of the kernel's clock as proftrace counts as forked since.
        begun = max(int(harness.stat_fields(pid)[19]) for pid in children)
        while int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) <= begun:
            pass
        for options, said in (((), True), (("--no-children",), False)):
            tracer = self.proftrace("-F", "work", *options, "-p", target.pid).wait_tracing()
            self.assertEqual(f"process {target.pid} has 2 children that began earlier and are not "
                             "traced: -p hive traces all processes of that name"
                             in tracer.interrupt().stderr, said)
        pids = ",".join([str(target.pid), *children])
        tracer = self.proftrace("-F", "work", "-p", pids).wait_tracing()
        self.assertNotIn("began earlier", tracer.interrupt().stderr)
        target.go()
        target.finish()

    def test_programs_of_children_are_traced_if_asked_for(self):
        """forest calls work 1,000 times in each of the two programs that it begins."""
        document, done = self.profile_command("forest", 2, 10, options=("--follow",))
        self.assertEqual(self.count(document, "work"), done.counts["work"] + 2000)

    def test_returns_while_children_begin_programs(self):
        """A child may map code that unwinds before that is planned for; the parent cannot do so."""
        document, done = self.profile_command("begins", 3,
                                              options=("--follow", "-F", "work", "-F", "part"))
        self.assert_counts(document, done.counts, done)
        self.assertEqual(document["accounting"]["unwound"], 0, done.stderr)

    def test_cpu_time(self):
        """Children's counts as the target's, also of those that have ended between two looks."""
        document, done = self.profile_command("forks", 50, 20000, options=("-F", "work"))
        self.assertEqual(done.status, 0, str(done))
        probes = document["accounting"]["probe_ns"]
        self.assertGreater(document["accounting"]["cpu_ns"], 0)
        self.assertGreater(document["accounting"]["cpu_ns"] + probes, probes)

    def test_excludes_follow(self):
        done = self.run_proftrace("--follow", "--no-children", "-p", os.getpid())
        self.assert_one_line(done, 2, "--follow", "--no-children", "exclude")


def ticks_of(pid):
    """CPU time that a process has had."""
    return sum(map(int, harness.stat_fields(pid)[11:13]))


class Text(harness.TestCase):
    """Probes are taken out of the children as well: the code of all processes is the file's
    again."""

    def heated(self, children=2):
        target = self.target("heated", children)
        return target, program("heated")

    def pids(self, target, children=2):
        target.stdout.wait_lines("hot")
        return [int(line.split()[1]) for line in target.stdout.wait_lines("CHILD", children)]

    def test_a_drop_leaves_children(self):
        """The budget sees what children call, and only they call anything."""
        target, path = self.heated()
        tracer = self.process(harness.PROFTRACE, "-v", "-f", "json", *LIMITED, "--no-bursts",
                              "-F", "hot", "-p", target.pid)
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        pids = self.pids(target)
        self.assertTrue(all(text_of(pid, path) for pid in pids), "probes were never there")
        clean = harness.poll(lambda: not any(text_of(pid, path) for pid in pids),
                             harness.TIMEOUT)
        self.assertTrue(clean, tracer.stderr.text())
        target.go()
        target.stdout.wait_lines("cool")
        target.go()
        true = target.finish().counts["hot"]
        document = self.document(tracer.finish())
        self.assertEqual([drop["name"] for drop in document["dropped"]], ["hot"])
        self.assertTrue(0 < self.count(document, "hot") < true)

    def test_the_end_leaves_children(self):
        target, path = self.heated()
        tracer = self.proftrace("-f", "json", "-F", "hot", "-p", target.pid).wait_tracing()
        target.go()
        pids = self.pids(target)
        target.go()
        target.stdout.wait_lines("cool")
        self.document(tracer.interrupt())
        self.assertFalse([pid for pid in pids if text_of(pid, path)])
        target.go()
        self.assertEqual(target.finish().status, 0)

    def begun_before_children(self, target):
        """Forks children while proftrace begins. Returns the document of a run in which all of them
        have had CPU time, and their process ids."""
        tracer = self.process("sh", "-c", 'kill -STOP $$; exec "$@"', "sh", harness.PROFTRACE, "-f",
                              "json", "-F", "hot", "-p", target.pid)
        self.assertTrue(harness.poll(lambda: harness.stat_fields(tracer.pid)[0] == "T",
                                     harness.TIMEOUT))
        target.go()
        pids = self.pids(target)
        tracer.signal(signal.SIGCONT)
        tracer.stderr.wait_lines(harness.TRACING)
        self.assertTrue(all(text_of(pid, program("heated")) for pid in pids))
        since = {pid: ticks_of(pid) for pid in pids}
        self.assertTrue(harness.poll(lambda: all(ticks_of(pid) > since[pid] + 1 for pid in pids),
                                     harness.TIMEOUT), "children have no processor")
        target.go()
        target.stdout.wait_lines("cool")
        target.go()
        self.assertEqual(target.finish().status, 0)
        return self.document(tracer.finish()), pids

    def test_children_of_the_time_before(self):
        """Children that are forked while proftrace begins are the target's as well, and their calls
        stand below what was open on their stacks."""
        target, _ = self.heated()
        document, pids = self.begun_before_children(target)
        called = {thread["pid"] for thread in document["threads"] if thread["calls"]}
        self.assertEqual(called, {target.pid, *pids})
        names = {function["id"]: function["name"] for function in document["functions"]}
        for thread in document["threads"]:
            with self.subTest(child=thread["pid"] in pids):
                self.assertEqual({names[node["function"]] for node in thread["calls"]}, {"_start"})

    def test_strangers_are_spared(self):
        """A child of somebody else's process of the same program calls it often: it gets rid of the
        probes, and the target is counted on, exactly."""
        target, path = self.heated(0)
        tracer = self.proftrace("-f", "json", "-F", "hot", "-p", target.pid).wait_tracing()
        stranger, _ = self.heated(1)
        stranger.go()
        pid, = self.pids(stranger, 1)
        self.assertTrue(text_of(pid, path), "probes were never there")
        tracer.stderr.wait_lines("proftrace: other processes run the same functions often")
        self.assertTrue(harness.poll(lambda: not text_of(pid, path), harness.TIMEOUT))
        target.go()
        target.stdout.wait_lines("hot")
        target.go()
        target.stdout.wait_lines("cool")
        target.go()
        true = target.finish().counts["hot"]
        self.assertEqual(self.count(self.document(tracer.finish()), "hot"), true)
        stranger.go()
        stranger.stdout.wait_lines("cool")
        stranger.go()
        self.assertEqual(stranger.finish().status, 0)

    def test_users_of_a_library_never_have_them(self):
        """Another program that maps the same library, with work of its own, never has the
        probes."""
        library = program("libshapes.so")
        stranger = self.target("shapes-linked", 3)
        target = self.target("forest", 3, 10, env={"LD_PRELOAD": library})
        tracer = self.proftrace("-f", "json", "-F", "libshapes.so:*", "-p",
                                target.pid).wait_tracing()
        self.assertTrue(text_of(target.pid, library))
        self.assertFalse(text_of(stranger.pid, library))
        for process in (target, stranger):
            process.go()
            self.assertEqual(process.finish().status, 0)
        done = tracer.finish()
        self.assertIn("children are not followed in libshapes.so, as 1 other process maps it, but "
                      "pay for its probes (--follow counts their calls)", done.stderr)

    def test_many_strangers_never_have_them(self):
        """With many strangers children are not followed, which is reported."""
        strangers = [self.target("forest", 0, 0) for _ in range(17)]
        target = self.target("forest", 3, 10)
        tracer = self.proftrace("-f", "json", "-p", target.pid).wait_tracing()
        self.assertFalse([s.pid for s in strangers if text_of(s.pid, program("forest"))])
        target.go()
        true = target.finish().counts
        done = tracer.finish()
        self.assertIn("children are not followed in forest, as 17 other processes map it",
                      done.stderr)
        calls = self.count(self.document(done), "work")
        # Only the target's own calls: grow() in its main thread and in another one.
        self.assertEqual(calls, 2 * 3 * 10)
        self.assertLess(calls, true["work"])


class Stacks(harness.TestCase):
    def test_forked_while_the_plan_is_made(self):
        """Their calls stand below what was open on their stacks, whenever they were forked. With a
        /run of its own proftrace does not know yet what probes cost, and measures that between
        loading its programs and looking at what processes have mapped."""
        path = self.path(f"litter{os.getpid()}")
        shutil.copy(program("litter"), path)
        target = self.target(path)
        tracer = self.process("unshare", "--mount", "sh", "-c",
                              'mount -t tmpfs tmpfs /run && exec "$@"', "sh", harness.PROFTRACE,
                              "-f", "json", "-F", "work", "-p", os.path.basename(path))
        target.go()
        tracer.stderr.wait_lines(harness.TRACING)
        target.go()
        children = target.finish().counts["work"]
        document = self.document(tracer.finish())
        names = {function["id"]: function["name"] for function in document["functions"]}
        roots = [names[node["function"]] for thread in document["threads"]
                 for node in thread["calls"]]
        self.assertLessEqual(self.count(document, "work"), children)
        self.assertGreater(len(roots), 0)
        self.assertEqual(set(roots), {"_start"}, collections.Counter(roots))


class RealPrograms(harness.TestCase):
    def test_python_multiprocessing(self):
        """Each of 30 jobs raises a complex number to a power ten times, in three processes."""
        script = self.path("pool.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(PYTHON_POOL)
        python = os.path.realpath(harness.PYTHON)
        target = self.process(python, script)
        target.wait_ready()
        tracer = self.proftrace("-f", "json", "-F", "_Py_c_pow", "-p", target.pid).wait_tracing()
        target.go()
        target.stdout.wait_lines("done")
        self.assertEqual(target.finish().status, 0)
        document = self.document(tracer.finish())
        self.assertEqual(self.count(document, "_Py_c_pow"), 300)

    def test_redis_saves_in_a_child(self):
        """BGSAVE forks; the child calls rdbSaveRio once."""
        path = self.path("socket")
        server = self.process("redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                              "--dir", self.directory, "--daemonize", "no")
        self.assertTrue(harness.poll(lambda: os.path.exists(path), harness.TIMEOUT))
        tracer = self.proftrace("-f", "json", "-F", "rdbSaveRio", "-p", server.pid).wait_tracing()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            client.sendall(b"BGSAVE\r\n")
            self.assertIn(b"started", client.recv(4096))
            self.assertTrue(harness.poll(
                lambda: "Background saving terminated" in server.stdout.text(), harness.TIMEOUT))
        document = self.document(tracer.interrupt())
        self.assertEqual(self.count(document, "rdbSaveRio"), 1)
        self.assertNotIn(server.pid, {thread["pid"] for thread in document["threads"]
                                      if thread["calls"]})


if __name__ == "__main__":
    harness.main()
