# SPDX-License-Identifier: GPL-2.0-or-later
"""Results on a terminal: through a pager if they are longer than it, as its user, without privileges."""

import fcntl
import os
import pty
import signal
import struct
import termios

import harness
from harness import NOBODY, PROFTRACE, UNLIMITED, program

MARKED = "sed 's/^/PAGER: /'"


class Pager(harness.TestCase):
    def on_terminal(self, *args, rows=24, environment=None, answer=b"", **popen):
        """Runs proftrace with a terminal of 80 columns for its output; returns what that shows, and the
        status. `answer` is typed once something is shown."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        env = {**os.environ, "TERM": "vt100", "NO_COLOR": "1", **(environment or {})}
        env = {name: value for name, value in env.items() if value is not None}
        process = self.process(PROFTRACE, *args, stdin=slave, stdout=slave, env=env,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **popen)
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 65536):
                shown += chunk
                if answer:
                    os.write(master, answer)
                    answer = b""
        except OSError:  # nobody has the terminal any more
            pass
        os.close(master)
        return shown.decode().replace("\r\n", "\n"), process.finish().status

    def recording(self, *command):
        out = self.path("recording")
        done = self.process(PROFTRACE, "record", "-q", *UNLIMITED, "-o", out, "--", *command).finish()
        self.assertEqual(done.status, 0, str(done))
        return out

    def test_long_results_are_paged(self):
        recording = self.recording(program("pace"), 0, 2)
        plain, status = self.on_terminal("report", "-f", "flat", recording, environment={"PAGER": MARKED}, rows=100)
        self.assertEqual(status, 0)
        self.assertNotIn("PAGER:", plain)
        self.assertIn("uneven", plain)
        marked = "".join(f"PAGER: {line}\n" for line in plain.splitlines())
        lines = len(plain.splitlines())
        for environment, rows, expected in (
                ({"PAGER": MARKED}, lines, marked),
                ({"PAGER": MARKED}, lines + 1, plain),
                ({"PAGER": "false", "PROFTRACE_PAGER": MARKED}, 5, marked),
                ({"PAGER": ""}, 5, plain),
                ({"PAGER": MARKED, "PROFTRACE_PAGER": "cat"}, 5, plain),
                # A pager that cannot be run: the result is on the terminal as it is.
                ({"PAGER": "/nowhere/pager"}, 5, plain)):
            shown, status = self.on_terminal("report", "-f", "flat", recording, environment=environment, rows=rows)
            shown = "".join(line for line in shown.splitlines(True) if "/nowhere/pager" not in line)
            self.assertEqual((shown, status), (expected, 0), environment)
        for options in (("--no-pager",), ("-o", "/dev/stdout"), ("-f", "folded")):
            shown, status = self.on_terminal("report", "-f", "flat", *options, recording,
                                             environment={"PAGER": MARKED}, rows=5)
            self.assertEqual(status, 0, shown)
            self.assertIn("uneven", shown)
            self.assertNotIn("PAGER:", shown)
        shown, status = self.on_terminal("diff", "--no-pager", recording, recording,
                                         environment={"PAGER": MARKED}, rows=5)
        self.assertEqual(status, 0, shown)
        self.assertTrue(shown.startswith("time has not changed"), shown)
        shown, _ = self.on_terminal("diff", recording, recording, environment={"PAGER": MARKED}, rows=5)
        self.assertIn("PAGER: time has not changed", shown)
        # In a pipe there is nobody to page for.
        done = self.process(PROFTRACE, "report", "-f", "tree", recording,
                            env={**os.environ, "PAGER": MARKED}).finish()
        self.assertNotIn("PAGER:", done.stdout)

    def test_less(self):
        """The default, which ends at q, also amid a long text."""
        recording = self.recording(program("pace"), 0, 2)
        shown, status = self.on_terminal("report", "-f", "flat", recording, rows=6, answer=b"q",
                                         environment={"PAGER": None, "PROFTRACE_PAGER": None, "LESS": None})
        self.assertEqual(status, 0)
        self.assertIn("FUNCTION", shown)
        self.assertNotIn("entered ", shown)  # which is below the first screen

    def test_quits_early_and_keeps_the_status(self):
        recording = self.recording(program("pace"), 0, 2)
        shown, status = self.on_terminal("report", "-f", "flat", recording, environment={"PAGER": "head -n 1"}, rows=5)
        self.assertEqual((len(shown.splitlines()), status), (1, 0))
        shown, status = self.on_terminal("-q", "-f", "flat", *UNLIMITED, "--", "bash", "-c", "exit 7",
                                         environment={"PAGER": "sed q; exit 3"}, rows=5)
        self.assertEqual((len(shown.splitlines()), status), (1, 7))

    def test_pages_as_the_caller(self):
        who = "cat >/dev/null; id -u; grep -E '^(Cap(Prm|Eff|Amb)|NoNewPrivs)' /proc/self/status"
        none = [f"Cap{name}:\t{0:016x}" for name in ("Prm", "Eff", "Amb")] + ["NoNewPrivs:\t1"]
        sudo = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
        recording = self.recording(program("pace"), 0, 2)
        for args in (("report", "-f", "flat", recording),
                     ("-q", "-f", "flat", "-F", "*", "--", harness.for_anybody(program("pace")), 0, 2)):
            for environment, user in ((sudo, NOBODY), ({"SUDO_UID": None}, 0)):
                shown, status = self.on_terminal(*args, environment={"PAGER": who, **environment}, rows=5)
                lines = [line for line in shown.splitlines() if not line.startswith(("COUNT", "BEYOND"))]
                self.assertEqual(lines[0], str(user), shown)
                self.assertEqual(lines[1:5], none, shown)
                self.assertEqual(status, 0)

    def test_nothing_is_left_in_the_kernel_while_somebody_reads(self):
        """Programs at tracepoints would go on running at each switch of the target."""
        target = self.target("steps")
        closed = self.path("closed")
        os.mkfifo(closed)
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 5, 80, 0, 0))
        tracer = self.proftrace("-f", "flat", "-F", "outer", "-F", "inner", "-p", target.pid, stdout=slave,
                                env={**os.environ, "TERM": "vt100", "PAGER": f"cat >/dev/null; cat {closed}"})
        os.close(slave)
        tracer.wait_tracing()
        keeper = harness.keeper_of(tracer)

        def links():
            return {key for pid in (tracer.pid, keeper) for key in harness.Bpf.held_by(pid) if key[0] == "link"}

        self.assertTrue(links())
        target.go()
        target.step("3")
        tracer.signal(signal.SIGINT)
        # Opening it waits for the pager, which has read all then.
        with open(closed, "w", encoding="utf-8"):
            self.assertTrue(harness.poll(lambda: not links()), links())
            self.assertFalse(tracer.ended())
        os.close(master)
        self.assertEqual(tracer.finish().status, 0)
        target.finish()

    def test_intervals_are_not_paged(self):
        shown, status = self.on_terminal("-q", "-f", "flat", "-i", "0.1", *UNLIMITED, "--", program("pace"), 1, 300,
                                         environment={"PAGER": MARKED}, rows=5)
        self.assertEqual(status, 0)
        self.assertNotIn("PAGER:", shown)
        self.assertIn("FUNCTION", shown)


if __name__ == "__main__":
    harness.main()
