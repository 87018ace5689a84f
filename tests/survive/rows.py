# SPDX-License-Identifier: GPL-2.0-or-later
"""The register of rows."""

import os
import shutil

import harness

ROWS = []


class Row:
    def __init__(self, group, title, run, short, needs):
        self.group, self.title, self.run, self.short, self.needs = group, title, run, short, needs

    def missing(self, args):
        """Why it cannot run here, or None."""
        for need in self.needs:
            kind, _, what = need.rpartition(" ")
            if kind == "option":
                if not getattr(args, what):
                    return f"only with --{what}"
                continue
            path = {"program": harness.program(what), "file": os.path.join(harness.ROOT, what)}.get(
                kind)
            if path and not os.path.exists(path):
                return f"there is no {what}"
            if not path and not shutil.which(what):
                return f"{what} is not installed (scripts/install-deps.sh survive)"
        return None


def row(group, title, short=False, needs=()):
    """Registers a function that takes a Trial. needs: "program NAME" that was built, "file PATH" of
    the repository, "option NAME" of the command line, or a command."""
    def register(run):
        ROWS.append(Row(group, title, run, short, needs))
        return run
    return register
