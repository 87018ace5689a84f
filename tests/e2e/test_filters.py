# SPDX-License-Identifier: GPL-2.0-or-later
"""-F, -N and -D: which functions."""

import harness
from harness import program


class Filters(harness.TestCase):
    def names(self, name, *options):
        """The functions that are probed in that program."""
        document, _ = self.profile_command(name, options=options)
        return {function["name"] for function in document["functions"]}

    def test_name(self):
        document, done = self.profile_command("calc-pie", options=("-F", "cube"))
        self.assertEqual(self.calls(document), {"cube": done.counts["cube"]})

    def test_glob(self):
        self.assertEqual(self.names("calc-pie", "-F", "*u?e"), {"cube"})
        self.assertEqual(self.names("calc-pie", "-F", "[sc]*u*e"), {"square", "cube"})

    def test_repeated(self):
        self.assertEqual(self.names("calc-pie", "-F", "cube", "-F", "apply"), {"cube", "apply"})

    def test_notrace(self):
        self.assertEqual(self.names("calc-pie", "-F", "cube", "-F", "apply", "-N", "c*"), {"apply"})
        names = self.names("calc-pie", "-N", "cube")
        self.assertLessEqual({"square", "apply", "main"}, names)
        self.assertNotIn("cube", names)

    def test_object(self):
        self.assertEqual(self.names("shapes-linked", "-F", "libshapes.so:shape_area"),
                         {"shape_area"})
        self.assertEqual(self.names("shapes-linked", "-F", "libshapes*:*_[as]????"),
                         {"shape_scale"})

    def test_without_object_the_main_program_is_meant(self):
        target = self.target("shapes-linked")
        done = self.run_proftrace("-F", "shape_area", "-p", target.pid)
        self.assert_one_line(done, 1, "shape_area")

    def test_object_of_a_live_process(self):
        for name in ("shapes-linked", "shapes-dlopen"):
            target = self.target(name, 9)
            tracer = self.proftrace("-f", "json", "-F", "libshapes.so:*", "-F", "draw",
                                    "-p", target.pid).wait_tracing()
            target.go()
            counts = target.finish().counts
            self.assert_counts(self.document(tracer.finish()), counts)

    def test_with_exec_the_path_is_meant(self):
        tracer = self.proftrace("-f", "json", "-F", "shape_area", "-x", program("libshapes.so"))
        tracer.wait_tracing()
        counts = self.process(program("shapes-linked"), 8).finish().counts
        self.assertEqual(self.calls(self.document(tracer.interrupt())),
                         {"shape_area": counts["shape_area"]})

    def test_cxx_names(self):
        both = {"shapes::area(int)", "shapes::area(double)"}
        self.assertEqual(self.names("names", "-F", "shapes::area"), both)
        self.assertEqual(self.names("names", "-F", "shapes::area(*)"), both)
        self.assertEqual(self.names("names", "-F", "shapes::area(int)"), {"shapes::area(int)"})
        self.assertEqual(self.names("names", "-F", "names:shapes::area(int)"),
                         {"shapes::area(int)"})
        self.assertEqual(self.names("names", "-F", "_ZN6shapes4areaEi"), {"shapes::area(int)"})
        self.assertIn("shapes::Point::operator+(shapes::Point const&) const",
                      self.names("names", "-F", "shapes::*"))

    def test_alias_finds_its_function(self):
        document, done = self.profile_command("aliases", options=("-F", "twin"))
        self.assertEqual(len(document["functions"]), 1)
        self.assertEqual(document["functions"][0]["calls"], done.counts["original|twin"])

    def test_no_match_names_the_nearest(self):
        done = self.run_proftrace("-F", "sqare", "--", program("calc-pie"))
        self.assert_one_line(done, 1, "sqare", "square")
        done = self.run_proftrace("-F", "libshapes.so:shape_aera", "-p",
                                  self.target("shapes-linked").pid)
        self.assert_one_line(done, 1, "shape_area")
        done = self.run_proftrace("-F", "shapes::aera", "--", program("names"))
        self.assert_one_line(done, 1, "shapes::area")

    def test_one_filter_of_two_without_a_match(self):
        done = self.run_proftrace("-F", "cube", "-F", "nothing_like_it", "-o", self.path("out"),
                                  "--", program("calc-pie"))
        self.assertIn("nothing_like_it", done.stderr, str(done))

    def test_missed_name_of_a_file_that_another_filter_names(self):
        done = self.run_proftrace("-F", "libshapes.so:shape_*", "-F", "shape_area", "-d", 0.1, "-o",
                                  self.path("out"), "-p", self.target("shapes-linked").pid)
        self.assertIn("no function of the program matches 'shape_area'; libshapes.so has it: "
                      "-F 'libshapes.so:shape_area'", done.stderr)

    def test_names_with_commas(self):
        """Other options take lists; names of functions may have commas of their own."""
        done = self.run_proftrace("-F", "cube,fib", "--", program("calc-pie"))
        self.assert_one_line(done, 1, "'cube,fib': give the option once for each name")
        done = self.run_proftrace("-F", "shapes::aera(int, int)", "--", program("names"))
        self.assert_one_line(done, 1, "'shapes::aera(int, int)'")
        self.assertNotIn("once for each", done.stderr)

    def said(self, *options, name="recursion"):
        done = self.run_proftrace(*options, "-o", self.path("out"), "--", program(name), 3, 2)
        self.assertEqual(done.status, 0, str(done))
        return done.stderr[:done.stderr.index(harness.TRACING)]

    def test_options_that_match_nothing(self):
        """Whatever an option names and does not find is said before the run, which goes on."""
        for option, effect in (("-N", "leaves out nothing"), ("--hist", "draws nothing")):
            said = self.said("-f", "flat", option, "fibb")
            self.assertRegex(said, rf"{option} fibb: no function that would be traced matches, "
                             rf"so it {effect}; the nearest: .*fib")
            # A function that the option has found by one name is found by another as well.
            self.assertNotIn("matches", self.said("-f", "flat", option, "fib", option, "f*"))
        self.assertIn("-N libc.so.6:malloc: no function", self.said("-N", "libc.so.6:malloc"))
        self.assertIn("-N odd: no function", self.said("-F", "fib", "-N", "odd"))
        # If functions of any library are wanted, more libraries may be loaded later.
        self.assertNotIn("leaves out", self.said("-F", "libc.so.6:malloc", "-N", "libnothing.so:f"))
        said = self.said("-f", "folded", "--hist", "fib")
        self.assertIn("--hist: folded draws no histograms; tree and flat do", said)
        # Only folded stacks can be reversed.
        self.assertIn("--reverse: folded stacks are reversed (-f folded), svg is not",
                      self.said("-f", "svg", "-w", "off", "--reverse"))
        self.assertNotIn("--reverse", self.said("-f", "folded", "--reverse"))
        self.assertIn("-w: json shows the same for all weights", self.said("-f", "json", "-w", "cpu"))
        for form in ("pprof", "tree", "flat"):
            self.assertNotIn("-w:", self.said("-f", form, "-w", "cpu"))
        self.assertIn("-w calls: a tree goes by time", self.said("-f", "tree", "-w", "calls"))
        self.assertNotIn("-w calls", self.said("-f", "flat", "-w", "calls"))

    def test_no_such_object(self):
        target = self.target("shapes-linked")
        done = self.run_proftrace("-l", "-F", "libnothing.so:f", "-p", target.pid)
        self.assert_one_line(done, 1, "libnothing.so")
        # The library may still be loaded.
        done = self.proftrace("-F", "libnothing.so:f", "-p", target.pid).wait_tracing().interrupt()
        self.assertEqual(done.status, 0, str(done))
        self.assertIn("nothing matches 'libnothing.so:f' yet", done.stderr)

    def test_everything_filtered_out(self):
        self.assert_one_line(self.run_proftrace("-N", "*", "--", program("calc-pie")), 1)

    def depth(self, *options, args=()):
        document, _ = self.profile_command("recursion", *args, options=options)
        return max(depth for _, _, depth in harness.nodes_of(document)), document

    def test_depth(self):
        deepest, whole = self.depth("-F", "direct", args=(10, 1))
        self.assertEqual(deepest, 10)
        for limit in (1, 3, 9):
            deepest, document = self.depth("-F", "direct", "-D", limit, args=(10, 1))
            self.assertEqual(deepest, limit)
            self.assertEqual(self.count(document, "direct"), limit)
            self.assertEqual(document["accounting"]["lost"], 0)
        self.assertEqual(self.count(whole, "direct"), 10)

    def test_depth_counts_every_root(self):
        document, _ = self.profile_command("recursion", 10, 7, options=("-F", "direct", "-D", "2"))
        self.assertEqual(self.count(document, "direct"), 14)


if __name__ == "__main__":
    harness.main()
