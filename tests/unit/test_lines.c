// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans of lines, of programs that are compiled here; addr2line says which line an address is of.
 */
#include "elf_fixture.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>

#include "plan/options.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "planner/planner.h"
#include "select/filter.h"
#include "select/line_spec.h"
#include "target/target.h"

static const char program[] =
	"#include <stdlib.h>\n"						  /* 1 */
	"static inline __attribute__((always_inline)) int twice(int x)\n" /* 2 */
	"{\n"								  /* 3 */
	"	if (x > 100)\n"						  /* 4 */
	"		x -= abs(x);\n"					  /* 5 */
	"	return x * rand();\n"					  /* 6 */
	"}\n"								  /* 7 */
	"__attribute__((noinline)) int work(int n)\n"			  /* 8 */
	"{\n"								  /* 9 */
	"	int s = 0;\n"						  /* 10 */
	"	for (int i = 0; i < n; i++) {\n"			  /* 11 */
	"		s += twice(rand());\n"				  /* 12 */
	"		switch (s % 8) {\n"				  /* 13 */
	"		case 0: s += rand(); break;\n"			  /* 14 */
	"		case 1: s -= rand(); break;\n"			  /* 15 */
	"		case 2: s ^= rand(); break;\n"			  /* 16 */
	"		case 3: s |= rand(); break;\n"			  /* 17 */
	"		case 4: s &= rand(); break;\n"			  /* 18 */
	"		case 5: s *= rand(); break;\n"			  /* 19 */
	"		}\n"						  /* 20 */
	"	}\n"							  /* 21 */
	"	return s;\n"						  /* 22 */
	"}\n"								  /* 23 */
	"__attribute__((noinline)) int dispatch(int op)\n"		  /* 24 */
	"{\n"								  /* 25 */
	"	static void *const to[] = {&&a, &&b, &&c};\n"		  /* 26 */
	"	goto *to[op];\n"					  /* 27 */
	"a:	return rand();\n"					  /* 28 */
	"b:	op += rand();\n"					  /* 29 */
	"c:	return op;\n"						  /* 30 */
	"}\n"								  /* 31 */
	"__attribute__((noinline)) int refused(int n)\n"		  /* 32 */
	"{\n"								  /* 33 */
	"	for (int i = 0; i < n; i++) {\n"			  /* 34 */
	"		__asm__ volatile(\"cs nop\");\n"		  /* 35 */
	"		rand();\n"					  /* 36 */
	"	}\n"							  /* 37 */
	"	__asm__ volatile(\"{disp8} nopl (%rax,%rax)\");\n"	  /* 38 */
	"	return n;\n"						  /* 39 */
	"}\n"								  /* 40 */
	"int main(int argc, char **argv)\n"				  /* 41 */
	"{\n"								  /* 42 */
	"	return work(argc) + dispatch(argc) + refused(argc);\n"	  /* 43 */
	"}\n";								  /* 44 */

static const char cxx[] = "struct Plain { int n = 3; Plain *next = nullptr; };\n" /* 1 */
			  "int apply(int (*f)(int), int n)\n"			  /* 2 */
			  "{\n"							  /* 3 */
			  "	return f(n) + f(n);\n"				  /* 4 */
			  "}\n"							  /* 5 */
			  "int work(int n)\n"					  /* 6 */
			  "{\n"							  /* 7 */
			  "	Plain p;\n"					  /* 8 */
			  "	int s = apply([](int x) {\n"			  /* 9 */
			  "		return x + 1;\n"			  /* 10 */
			  "	}, n);\n"					  /* 11 */
			  "	if (s > n && apply([](int x) { return x; },\n"	  /* 12 */
			  "			      apply(nullptr, n)))\n"	  /* 13 */
			  "		s--;\n"					  /* 14 */
			  "	return s + p.n;\n"				  /* 15 */
			  "}\n"							  /* 16 */
			  "int main(int argc, char **argv) { return work(argc); }\n";

static struct target_object object;
static struct target_process process = {.pid = 1, .pidfd = -1};
static struct target target = {
	.processes = &process, .processes_cnt = 1, .objects = &object, .objects_cnt = 1};
static struct plan *plan;
static char logged[4096];

static int close_all(void **state)
{
	plan__free(plan);
	plan = NULL;
	return 0;
}

/* Plans lines of a file, with or without a filter; what is said is in `logged`. */
static int plan_filtered(const char *path, char *spec, char *in)
{
	int saved = dup(STDERR_FILENO), fd = memfd_create("log", MFD_CLOEXEC), err;
	struct plan_options opts = {.call_nops = CALL_NOPS_5, .skip_tiny = true};
	struct line_specs specs;
	struct filter f;
	ssize_t len;

	plan__free(plan);
	plan = NULL;
	object = (struct target_object){.path = (char *)path, .root = "", .is_main = true};
	object.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(object.fd >= 0);
	assert_int_equal(line_specs__parse(&specs, &spec, 1), 0);
	assert_int_equal(filter__init(&f, &in, in ? 1 : 0, NULL, 0), 0);
	f.defaults = false;
	opts.lines = &specs;
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	err = planner__make(&target, &f, &opts, &plan);
	unhush(saved);
	len = pread(fd, logged, sizeof(logged) - 1, 0);
	logged[len < 0 ? 0 : len] = '\0';
	close(fd);
	close(object.fd);
	filter__clear(&f);
	line_specs__clear(&specs);
	return err;
}

static int plan_lines_of(const char *path, char *spec)
{
	return plan_filtered(path, spec, NULL);
}

static struct plan_function *function(const char *symbol)
{
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		if (!strcmp(plan->functions[i].symbol, symbol))
			return &plan->functions[i];
	}
	return NULL;
}

/* The lines of the source that are in the plan, of any inlined call. */
static bool has_line(uint32_t line)
{
	for (size_t i = 0; i < plan->lines->lines_cnt; i++) {
		if (plan->lines->lines[i].line == line)
			return true;
	}
	return false;
}

static const char *reason_of(uint32_t line)
{
	for (size_t i = 0; i < plan->lines->lines_cnt; i++) {
		if (plan->lines->lines[i].line == line)
			return plan->lines->lines[i].reason;
	}
	fail_msg("there is no line %u", line);
	return NULL;
}

static size_t sites_of(uint32_t line)
{
	size_t cnt = 0;

	for (size_t i = 0; i < plan->lines->sites_cnt; i++) {
		uint32_t of = plan->lines->sites[i].line;

		cnt += of ? plan->lines->lines[of - 1].line == line : !line;
	}
	return cnt;
}

/* How many inlined calls the line is in. */
static size_t depth_of(const struct plan_line *line)
{
	size_t depth = 0;

	for (uint32_t i = line->inlined; i; i = plan->lines->inlines[i - 1].parent)
		depth++;
	return depth;
}

/* Compares each site with what addr2line says of its address. */
static void assert_sites(const char *path)
{
	const struct plan_lines *l = plan->lines;

	for (size_t i = 0; i < l->sites_cnt; i++) {
		const struct plan_line *line = &l->lines[l->sites[i].line - 1];
		char command[256], text[512], first[512] = "";
		size_t lines = 0;
		const char *colon;
		FILE *out;

		assert_true(l->sites[i].line);
		snprintf(command, sizeof(command), "addr2line -i -e %s %#lx", path,
			 (unsigned long)l->sites[i].offset);
		out = popen(command, "r");
		assert_non_null(out);
		while (fgets(text, sizeof(text), out)) {
			if (!lines++)
				strcpy(first, text);
		}
		assert_int_equal(pclose(out), 0);
		colon = strrchr(first, ':');
		assert_non_null(colon);
		if (atoi(colon + 1) != (int)line->line || depth_of(line) + 1 != lines)
			fail_msg("%s: %#lx is not of line %u, %zu deep: %s", path,
				 (unsigned long)l->sites[i].offset, line->line, depth_of(line),
				 first);
	}
}

static void sites_are_where_the_tables_say(void **state)
{
	static const char *const compilers[] = {"gcc", "clang"};
	static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3"};
	static const char *const formats[] = {"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gz=zlib"};

	for (int i = 0; i < 2 * 4 * 3; i++) {
		const char *level = levels[i / 3 % 4];
		size_t entries = 0;

		sh("%s -Wno-unused-command-line-argument %s %s -o real program.c",
		   compilers[i / 12], level, formats[i % 3]);
		assert_int_equal(plan_lines_of("real", "work"), 0);
		assert_int_equal(plan->functions_cnt, 1);
		assert_true(function("work")->has_lines);
		assert_sites("real");
		for (size_t k = 0; k < plan->lines->lines_cnt; k++)
			assert_null(plan->lines->lines[k].reason);
		for (size_t k = 0; k < plan->lines->sites_cnt; k++) {
			entries += plan->lines->sites[k].at_entry;
			assert_true(!plan->lines->sites[k].at_entry || !k);
		}
		assert_int_equal(entries, 1);
		/* what each level has code of */
		for (uint32_t line = 11; line <= 19; line++)
			assert_true(has_line(line));
		assert_true(has_line(6));
	}
}

static void inlined_calls_are_named(void **state)
{
	bool found = false;

	assert_int_equal(plan_lines_of("optimised", "program.c:6"), 0);
	for (size_t i = 0; i < plan->lines->lines_cnt; i++) {
		const struct plan_line *line = &plan->lines->lines[i];
		const struct plan_inline *in;

		assert_int_equal(line->line, 6);
		assert_true(line->inlined);
		in = &plan->lines->inlines[line->inlined - 1];
		assert_string_equal(in->name, "twice");
		assert_int_equal(in->line, 12);
		assert_int_equal(in->parent, 0);
		assert_non_null(strstr(in->file, "/program.c"));
		found = true;
	}
	assert_true(found);
	assert_string_equal(plan->functions[0].symbol, "work");
}

/* Whether control that leaves line 12 is seen to do so. */
static void other_lines_are_fences(void **state)
{
	assert_int_equal(plan_lines_of("plain", "program.c:12-12"), 0);
	assert_int_equal(plan->functions_cnt, 1);
	assert_int_equal(plan->lines->lines_cnt, 1);
	/* before and behind what is inlined, of which line 6 comes not directly behind either */
	assert_int_equal(sites_of(12), 2);
	assert_int_equal(sites_of(0), 2);
	assert_int_equal(plan_lines_of("plain", "program.c:13-13"), 0);
	/* six cases, and the loop */
	assert_int_equal(sites_of(0), 7);
	assert_string_equal(logged, "");
}

static void filters_add_to_lines(void **state)
{
	assert_int_equal(plan_filtered("plain", "work", "main"), 0);
	assert_int_equal(plan->functions_cnt, 2);
	assert_true(function("work")->has_lines);
	assert_false(function("main")->has_lines);
	/* a tiny function is planned for its lines */
	assert_int_equal(plan_lines_of("optimised", "program.c:24-31"), 0);
	assert_non_null(function("dispatch"));
}

static void jumps_to_anywhere(void **state)
{
	assert_int_equal(plan_lines_of("plain", "dispatch"), 0);
	assert_non_null(function("dispatch"));
	assert_int_equal(plan->lines->sites_cnt, 0);
	for (uint32_t line = 27; line <= 30; line++)
		assert_non_null(strstr(reason_of(line), "may lead anywhere"));
}

/* Lines of optimized code count runs of their code; compilers differ in how they say that code is
 * optimized. */
static void optimized_code_is_approximate(void **state)
{
	static const struct {
		const char *path;
		bool is;
	} programs[] = {
		{"plain", false}, {"optimised", true}, {"clang-O0", false}, {"clang-O2", true}};

	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		assert_int_equal(plan_lines_of(programs[i].path, "work"), 0);
		assert_true(plan->lines->lines_cnt > 5);
		for (size_t k = 0; k < plan->lines->lines_cnt; k++)
			assert_int_equal(plan->lines->lines[k].approximate, programs[i].is);
	}
}

/* The line of a declaration has no code; it runs with each call, so the entry counts for it. */
static void declarations(void **state)
{
	size_t cnt = 0;

	assert_int_equal(plan_lines_of("plain", "program.c:1-8"), 0);
	assert_null(reason_of(8));
	assert_int_equal(sites_of(8), 1); /* the entry, whose own line nobody wants */
	assert_int_equal(plan_lines_of("plain", "program.c:8-22"), 0);
	for (size_t i = 0; i < plan->lines->sites_cnt; i++) {
		const struct plan_line_site *site = &plan->lines->sites[i];

		cnt += site->declared && plan->lines->lines[site->declared - 1].line == 8;
		assert_true(!site->declared || site->at_entry);
	}
	assert_int_equal(cnt, 1);
	assert_int_equal(sites_of(8), 0);
}

static const struct plan_line *line_in(uint32_t line, const char *symbol)
{
	for (size_t i = 0; i < plan->lines->lines_cnt; i++) {
		const struct plan_line *l = &plan->lines->lines[i];

		if (l->line == line && strstr(plan->functions[l->function].symbol, symbol))
			return l;
	}
	fail_msg("%s has no line %u", symbol, line);
	return NULL;
}

static void lines_of_several_functions(void **state)
{
	assert_int_equal(plan_lines_of("cxx", "cxx:*"), 0);
	/* what makes a pointer of a lambda: nobody has written it */
	assert_string_equal(line_in(9, "_FUN")->reason, "its function is the compiler's own");
	/* where a lambda begins, the statement around it has the line */
	assert_true(line_in(9, "clEi")->aside);
	assert_null(line_in(9, "clEi")->reason);
	assert_false(line_in(9, "_Z4worki")->aside);
	assert_null(line_in(10, "clEi")->reason);
	assert_null(line_in(14, "_Z4worki")->reason);
}

/* A unit of C++ that uses many templates has that many functions: each may have a range of its own.
 */
static void units_of_many_functions(void **state)
{
	assert_int_equal(plan_lines_of("many", "f4999"), 0);
	assert_int_equal(plan->functions_cnt, 1);
	assert_null(reason_of(1));
	assert_true(plan->lines->sites_cnt > 0);
}

static void what_takes_no_probe(void **state)
{
	assert_int_equal(plan_lines_of("plain", "refused"), 0);
	assert_string_equal(reason_of(35), "some of its code cannot be probed");
	assert_string_equal(reason_of(38), "some of its code cannot be probed");
	assert_int_equal(sites_of(35), 0);
	assert_int_equal(sites_of(38), 0);
	assert_null(reason_of(34));
	assert_null(reason_of(36));
	assert_int_equal(sites_of(36), 1);
}

static void said(const char *path, char *spec, const char *what)
{
	assert_int_equal(plan_lines_of(path, spec), -ENOENT);
	if (!strstr(logged, what) || strchr(logged, '\n') != logged + strlen(logged) - 1)
		fail_msg("'%s' is not said, but: %s", what, logged);
}

static void what_is_not_there(void **state)
{
	said("plain", "program.c:20-20", "the nearest line that has some is 19\n");
	said("plain", "program.c:45-99", "the nearest line that has some is 44\n");
	said("plain", "rogram.c:12", "no code comes from a file of that name");
	said("plain", "program.c", "which lines of a file is said as FILE:FROM-TO");
	said("plain", "wrk", "no function matches; the nearest: work");
	said("optimised", "twice",
	     "is inlined wherever it is called: into work (program.c:12); --lines program.c:");
	said("bare", "work", "bare has no line tables: build it with -g");
	said("bare", "program.c:12", "bare has no line tables: build it with -g");
	said("shared-debug", "work", "shared-debug has line tables that are kept in a way");
}

static void debug_files(void **state)
{
	assert_int_equal(plan_lines_of("linked", "work"), 0);
	assert_sites("optimised");
	assert_string_equal(logged, "");
	assert_true(plan->lines->sites_cnt > 10);
	assert_int_equal(plan_lines_of("kept", "work"), 0);
	assert_sites("optimised");
	assert_string_equal(logged, "");
	assert_true(plan->lines->sites_cnt > 10);
	assert_int_equal(plan_lines_of("split", "work"), 0);
	assert_non_null(strstr(logged, "split: inlined calls are described in .dwo files"));
	assert_true(plan->lines->sites_cnt > 10);
	assert_int_equal(plan->lines->inlines_cnt, 0);
}

static void specs(void **state)
{
	static char *const bad[] = {"",	       "f.c:",	 "f.c:0",     "f.c:3-",
				    "f.c:3-2", "f.c:1x", "f.c:1-2-3", "f.c:99999999999"};
	static const struct {
		char *spec;
		const char *path;
		bool is;
	} files[] = {
		{"f.c:1", "/a/b/f.c", true},	 {"b/f.c:1", "/a/b/f.c", true},
		{"f.c:1", "/a/b/xf.c", false},	 {"c/f.c:1", "/a/b/f.c", false},
		{"./f.c:1", "/a/f.c", true},	 {"/a/f.c:1", "/a/f.c", true},
		{"/f.c:1", "/a/f.c", false},	 {"*.c:1", "/a/f.c", true},
		{"a*/f.c:1", "/x/ab/f.c", true}, {"a*/f.c:1", "/x/ab/c/f.c", false},
		{"a/b/f.c:1", "f.c", false},	 {"f.c:1", "f.c", true},
		{"[f].c:1", "/a/[f].c", true},
	};
	int saved = hush();
	struct line_specs s;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(line_specs__parse(&s, &bad[i], 1), -EINVAL);
	unhush(saved);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		assert_int_equal(line_specs__parse(&s, &files[i].spec, 1), 0);
		if (line_spec__names_file(&s.items[0], files[i].path) != files[i].is)
			fail_msg("%s, %s", files[i].spec, files[i].path);
		line_specs__clear(&s);
	}
	assert_int_equal(line_specs__parse(&s, (char *[]){"ns::f", "lib*:f", "d.cc:7-9"}, 3), 0);
	assert_null(s.items[0].file);
	assert_string_equal(s.items[0].pattern.func, "ns::f");
	assert_string_equal(s.items[1].pattern.object, "lib*");
	assert_int_equal(s.items[2].from, 7);
	assert_int_equal(s.items[2].to, 9);
	line_specs__clear(&s);
}

/* Takes the bytes of a debug file's .symtab away, as "eu-strip -g" does, which leaves them in the
 * object. */
static void hide_symbols(const char *path)
{
	size_t len, hidden = 0;
	uint8_t *bytes = read_bytes(path, &len);
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)bytes;
	Elf64_Shdr *sh = (Elf64_Shdr *)(bytes + eh->e_shoff);

	for (int i = 0; i < eh->e_shnum; i++) {
		if (sh[i].sh_type == SHT_SYMTAB) {
			sh[i].sh_type = SHT_NOBITS;
			hidden++;
		}
	}
	assert_int_equal(hidden, 1);
	write_bytes(path, bytes, len);
	free(bytes);
}

static int make_programs(void **state)
{
	if (fixture_make(state))
		return -1;
	compile("plain", "program.c", program, "-O0 -g");
	sh("gcc -O2 -g -o optimised program.c");
	sh("gcc -O2 -g0 -o bare program.c");
	sh("gcc -O2 -g -gsplit-dwarf -o split program.c");
	sh("objcopy --only-keep-debug optimised linked.debug");
	sh("cp optimised linked && strip linked && objcopy --add-gnu-debuglink=linked.debug "
	   "linked");
	sh("objcopy --only-keep-debug optimised kept.debug");
	hide_symbols("kept.debug");
	sh("cp optimised kept && strip -g kept && objcopy --add-gnu-debuglink=kept.debug kept");
	sh("clang -O0 -g -o clang-O0 program.c && clang -O2 -g -o clang-O2 program.c");
	compile("cxx", "cxx.cpp", cxx, "-O0 -g");
	sh("{ for i in $(seq 5000); do echo \"void f$i(void) {}\"; done; echo 'int main() {}'; } |"
	   " sed 's/f5000/f0/' > many.c && sed -i 's/^/#line 1\\n/' many.c && "
	   "gcc -O0 -g -ffunction-sections -o many many.c");
	/* as dwz makes them: what is said may lie in a third file */
	sh("head -c 24 /dev/zero > link && objcopy --add-section .gnu_debugaltlink=link plain "
	   "shared-debug");
	return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(specs),
		TEST(sites_are_where_the_tables_say),
		TEST(inlined_calls_are_named),
		TEST(other_lines_are_fences),
		TEST(filters_add_to_lines),
		TEST(jumps_to_anywhere),
		TEST(optimized_code_is_approximate),
		TEST(declarations),
		TEST(lines_of_several_functions),
		TEST(units_of_many_functions),
		TEST(what_takes_no_probe),
		TEST(what_is_not_there),
		TEST(debug_files),
	};

	return cmocka_run_group_tests(tests, make_programs, fixture_clean);
}
