// SPDX-License-Identifier: GPL-2.0-or-later
#include "fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/lines.h"
#include "security/source_text.h"

static const struct sink_options plain;

static char dir[] = "/tmp/proftrace-test-XXXXXX";
static char file[64], header[64];

/* Lines come by file, number, function and inlined call. */
static struct profile_line *add_line(struct profile *p, const char *file, uint32_t line,
				     uint32_t function, uint32_t inlined, uint64_t hits,
				     uint64_t ns)
{
	p->lines = fixture_grow(p->lines, p->lines_cnt, sizeof(*p->lines));
	p->lines[p->lines_cnt] = (struct profile_line){.file = file,
						       .line = line,
						       .function = function,
						       .inlined = inlined,
						       .hits = hits,
						       .ns = ns};
	return &p->lines[p->lines_cnt++];
}

/* The number of an inlined call, as lines have it. */
static uint32_t add_inline(struct profile *p, const char *name, const char *file, uint32_t line,
			   uint32_t parent)
{
	p->inlines = fixture_grow(p->inlines, p->inlines_cnt, sizeof(*p->inlines));
	p->inlines[p->inlines_cnt] = (struct profile_inline){name, file, line, parent};
	return ++p->inlines_cnt;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
	assert_non_null(mkdtemp(dir));
	assert_int_equal(chmod(dir, 0755), 0);
	snprintf(file, sizeof(file), "%s/a.c", dir);
	snprintf(header, sizeof(header), "%s/b.h", dir);
	write_file(file,
		   "#include \"b.h\"\n"	    /* 1 */
		   "\n"			    /* 2 */
		   "int work(int n)\n"	    /* 3 */
		   "{\n"		    /* 4 */
		   "\tint s = n;\r\n"	    /* 5 */
		   "\n"			    /* 6 */
		   "\ts += clamp(s);\n"	    /* 7 */
		   "\tif (s > 9)\x1b[31m\n" /* 8 */
		   "\t\ts = 9;\n"	    /* 9 */
		   "\n\n\n\n\n"		    /* 10 to 14 */
		   "\treturn s;\n"	    /* 15 */
		   "}",			    /* 16 */
		   0644);
	write_file(header, "x\nreturn 1;\n", 0644);
	return 0;
}

static int tear_down(void **state)
{
	unlink(file);
	unlink(header);
	rmdir(dir);
	return 0;
}

/* work() at file:3 with clamp() inlined at line 7, main() without a source. */
static struct profile *make(void)
{
	struct profile *p = fixture_small();
	uint32_t inlined = add_inline(p, "clamp", file, 7, 0);

	inlined = add_inline(p, "min(int)", header, 1, inlined);
	p->functions[1].file = file;
	p->functions[1].line = 3;
	add_line(p, "/nowhere/main.c", 5, 0, 0, 1, 0);
	add_line(p, file, 5, 1, 0, 3, 1000);
	add_line(p, file, 7, 1, 0, 1234567, 8000);
	add_line(p, file, 8, 1, 0, 3, 0);
	add_line(p, file, 9, 1, 0, 0, 0)->reason = "none of its code can be probed";
	add_line(p, file, 15, 1, 0, 3, 500)->approximate = 1;
	add_line(p, header, 2, 1, inlined, 3, 500);
	return p;
}

#define COLUMNS "       HITS     TIME   SHARE   LINE"

static void test_report(void **state)
{
	struct profile *p = make();
	char want[4096];

	snprintf(want, sizeof(want),
		 "work  %s  3 calls\n" COLUMNS "  SOURCE\n"
		 "                                  3  int work(int n)\n"
		 "                                  4  {\n"
		 "          3  1.00 us   10.0%%      5          int s = n;\n"
		 "                                  6\n"
		 "  1,234,567  8.00 us   80.0%%      7          s += clamp(s);\n"
		 "          3     0 ns    0.0%%      8          if (s > 9)\\x1b[31m\n"
		 "        [1]                       9                  s = 9;\n"
		 "                                  …\n"
		 "         ~3   500 ns    5.0%%     15          return s;\n"
		 "\n"
		 "min(int)  %s, inlined from clamp at %s:1, in work at %s:7\n" COLUMNS "  SOURCE\n"
		 "          3   500 ns    5.0%%      2  return 1;\n"
		 "\n"
		 "main  /nowhere/main.c  1 call (no source: not found)\n" COLUMNS "\n"
		 "          1     0 ns       -      5\n"
		 "\n"
		 "[1] not counted: none of its code can be probed\n"
		 "~: of optimized code, runs of what is left of the line\n"
		 "\n"
		 "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		 "10.0 s, 4 of 5 probed functions called\n",
		 file, header, header, file);
	fixture_expect(&sink_lines, p, &plain, want);
	profile__free(p);
}

static void test_none(void **state)
{
	struct profile *p = fixture_small();

	fixture_expect(&sink_lines, p, &plain,
		       "no lines were counted: say which, with --lines FUNC or --lines "
		       "FILE:FROM-TO\n"
		       "\n"
		       "entered 1,239 = returned 1,239 + unwound 0 + open 0; lost 0, dropped 0\n"
		       "10.0 s, 4 of 5 probed functions called\n");
	profile__free(p);
}

/* A line of a header, in two functions and twice in one of them. */
static void test_sums(void **state)
{
	struct profile *p = fixture_small();
	uint32_t first = add_inline(p, "f", "a.c", 9, 0);
	uint32_t second = add_inline(p, "f", "a.c", 3, 0);
	struct line_blocks blocks;
	struct line_sums sums;

	add_line(p, "b.h", 2, 0, first, 1, 10);
	add_line(p, "b.h", 2, 0, second, 2, 20);
	add_line(p, "b.h", 2, 1, 0, 0, 0)->reason = "why";
	add_line(p, "b.h", 3, 1, 0, 0, 0)->reason = "why";
	p->functions[1].stats.calls = 0;
	assert_int_equal(line_sums__make(p, &sums), 0);
	assert_int_equal(sums.cnt, 2);
	assert_int_equal(sums.items[0].hits, 3);
	assert_int_equal(sums.items[0].ns, 30);
	assert_int_equal(sums.items[0].cnt, 3);
	assert_null(sums.items[0].reason);
	assert_int_equal(sums.items[1].first, 3);
	assert_string_equal(sums.items[1].reason, "why");
	line_sums__clear(&sums);
	/* A line that is not counted may have run. */
	p->functions[1].stats.calls = 1;
	assert_int_equal(line_sums__make(p, &sums), 0);
	assert_string_equal(sums.items[0].reason, "why");
	line_sums__clear(&sums);

	/* Blocks of one function are in the order of its source. */
	assert_int_equal(line_blocks__make(p, &blocks), 0);
	assert_int_equal(blocks.cnt, 3);
	assert_int_equal(blocks.items[0].inlined, second);
	assert_int_equal(blocks.items[1].inlined, first);
	assert_int_equal(blocks.items[1].whole_ns, 30);
	assert_int_equal(blocks.items[2].cnt, 2);
	line_blocks__clear(&blocks);
	p->functions[0].hidden = true;
	assert_int_equal(line_blocks__make(p, &blocks), 0);
	assert_int_equal(blocks.cnt, 1);
	line_blocks__clear(&blocks);
	profile__free(p);
}

/* A part that is not counted gives its reason to the sum; a part that is no run of the line adds
 * time, and no hits. */
static void test_sums_of_parts(void **state)
{
	struct profile *p = fixture_small();
	struct line_sums sums;

	add_line(p, "b.h", 4, 0, 0, 1, 10)->approximate = 1;
	add_line(p, "b.h", 4, 1, 0, 0, 0)->reason = "missed";
	add_line(p, "b.h", 5, 0, 0, 7, 10)->aside = 1;
	add_line(p, "b.h", 5, 1, 0, 3, 10);
	add_line(p, "b.h", 6, 0, 0, 7, 10)->aside = 1;
	assert_int_equal(line_sums__make(p, &sums), 0);
	assert_int_equal(sums.cnt, 3);
	assert_string_equal(sums.items[0].reason, "missed");
	assert_true(sums.items[0].approximate);
	assert_null(sums.items[1].reason);
	assert_int_equal(sums.items[1].hits, 3);
	assert_int_equal(sums.items[1].ns, 20);
	assert_false(sums.items[1].approximate);
	assert_int_equal(sums.items[2].hits, 7);
	line_sums__clear(&sums);
	profile__free(p);
}

/* As root the source is read only if everyone may read it, or the user who has called sudo. */
static void test_who_may_read(void **state)
{
	struct source_text *t = NULL;
	char link[64], fifo[64];

	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(symlink(header, link), 0);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	unsetenv("SUDO_UID");
	assert_int_equal(source_text__open(link, false, &t), 0);
	assert_int_equal(source_text__lines(t), 2);
	source_text__free(t);
	assert_int_equal(source_text__open(fifo, false, &t), -EINVAL);
	assert_int_equal(source_text__open(dir, false, &t), -EINVAL);
	assert_int_equal(source_text__open("/dev/zero", false, &t), -EINVAL);
	assert_int_equal(source_text__open("b.h", false, &t), -EINVAL);
	assert_int_equal(source_text__open("/nowhere", false, &t), -ENOENT);
	assert_int_equal(truncate(header, 17 << 20), 0);
	assert_int_equal(source_text__open(header, false, &t), -EFBIG);
	write_file(header, "x\nreturn 1;\n", 0600);
	if (!geteuid()) {
		assert_int_equal(source_text__open(link, false, &t), -EACCES);
		assert_int_equal(source_text__open(link, true, &t), 0);
		source_text__free(t);
		assert_int_equal(chown(header, 1234, 1234), 0);
		setenv("SUDO_UID", "1234", 1);
		setenv("SUDO_GID", "1234", 1);
		assert_int_equal(source_text__open(header, false, &t), 0);
		source_text__free(t);
		setenv("SUDO_UID", "1234x", 1);
		assert_int_equal(source_text__open(header, false, &t), -EACCES);
		assert_int_equal(source_text__open(header, true, &t), -EACCES);
		unsetenv("SUDO_UID");
		/* Nobody else comes to the file. */
		assert_int_equal(chmod(header, 0644), 0);
		assert_int_equal(source_text__open(header, false, &t), 0);
		source_text__free(t);
		assert_int_equal(chmod(dir, 0700), 0);
		assert_int_equal(source_text__open(header, false, &t), -EACCES);
		assert_int_equal(chmod(dir, 0755), 0);
	}
	assert_int_equal(chmod(header, 0644), 0);
	unlink(link);
	unlink(fifo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),	     cmocka_unit_test(test_none),
		cmocka_unit_test(test_sums),	     cmocka_unit_test(test_sums_of_parts),
		cmocka_unit_test(test_who_may_read),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
