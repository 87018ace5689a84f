# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of docs/regions.md, as they stand there: each is built and traced, and what is
recorded is what it prints."""

import os
import re
import subprocess

import harness
from harness import ROOT


class RegionsDocument(harness.TestCase):
    def example(self, language, name):
        with open(os.path.join(ROOT, "docs", "regions.md"), encoding="utf-8") as file:
            (code,) = re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.M | re.S)
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(code)
        return path

    def run_tool(self, *argv, **popen):
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False, **popen)
        self.assertEqual((done.returncode, done.stdout), (0, ""), argv)

    def check_counts(self, path):
        document, done = self.profile_command(path, options=("-F", "region:*"))
        seen = {f["name"]: f["calls"] for f in document["functions"] if f["kind"] == "region"}
        self.assertEqual(seen, done.counts)
        self.assertTrue(seen)

    def test_c_and_cpp(self):
        include = "-I" + os.path.join(ROOT, "include")
        for language, compilers in ("c", ("gcc", "clang")), ("cpp", ("g++", "clang++")):
            source = self.example(language, "example." + language)
            for compiler in compilers:
                self.run_tool(compiler, "-O2", "-Wall", "-Wextra", include, "-o",
                              self.path("example"), source)
                self.check_counts(self.path("example"))

    def test_rust(self):
        source = self.example("rust", "example.rs")
        for level in "0", "3":
            self.run_tool("/usr/bin/rustc", "-C", f"opt-level={level}", "-o", self.path("example"),
                          source)
            self.check_counts(self.path("example"))

    def test_go(self):
        self.example("asm", "regions_amd64.s")
        self.example("go", "main.go")
        with open(self.path("go.mod"), "w", encoding="utf-8") as file:
            file.write("module example\n")
        self.run_tool("go", "build", "-o", self.path("example"), ".", cwd=self.path(""),
                      env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOTOOLCHAIN": "local",
                           "GOCACHE": os.path.join(harness.BUILD, "go-cache")})
        self.check_counts(self.path("example"))


if __name__ == "__main__":
    harness.main()
