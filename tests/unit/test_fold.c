// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "fixture.h"
#include "util/fold.h"

static char *fold(const char *text, size_t columns)
{
	FILE *out = tmpfile(), *folded;
	char *got;
	long size;

	assert_non_null(out);
	assert_int_equal(fold__open(out, columns, &folded), 0);
	assert_true(fputs(text, folded) >= 0);
	assert_int_equal(fclose(folded), 0);
	size = ftell(out);
	rewind(out);
	got = calloc(1, size + 1);
	assert_non_null(got);
	assert_int_equal(fread(got, 1, size, out), size);
	fclose(out);
	return got;
}

static void expect(const char *text, const char *expected)
{
	char *got = fold(text, 20);

	assert_string_equal(got, expected);
	free(got);
}

static void test_what_fits_stays(void **state)
{
	expect("", "");
	expect("short\n\nno end", "short\n\nno end");
	expect("exactly twenty colum\nx\n", "exactly twenty colum\nx\n");
	expect("  a  b   c\n", "  a  b   c\n");
}

static void test_cut_at_blanks(void **state)
{
	expect("one two three four five six\n", "one two three four\n  five six\n");
	expect("  one two three four five six\n", "  one two three four\n    five six\n");
	expect("exactly twenty colum behind\n", "exactly twenty colum\n  behind\n");
}

static void test_cut_anywhere(void **state)
{
	expect("0123456789012345678901234567890123456789012\n",
	       "01234567890123456789\n  012345678901234567\n  89012\n");
}

/* Colours and characters take less room than their bytes. */
static void test_colours_and_characters(void **state)
{
	expect("\033[1mexactly twenty\033[0m colum\n", "\033[1mexactly twenty\033[0m colum\n");
	expect("äöüäöüäöüäöüäöüäöüäö\n", "äöüäöüäöüäöüäöüäöüäö\n");
	expect("äöüäöüäöüäöüäöüäöüäö\033[2mx\n", "äöüäöüäöüäöüäöüäöüäö\033[2m\n  x\n");
}

/* The longest row of any text, at any width. */
static void test_no_row_is_longer(void **state)
{
	unsigned int seed = 1;

	for (size_t columns = FOLD_MIN; columns < 100; columns += 7) {
		char text[2048], *got, *row;
		size_t i;

		for (i = 0; i < sizeof(text) - 1; i++) {
			seed = seed * 1103515245 + 12345;
			text[i] = "ab  cdefghijk lm\nnop"[(seed >> 16) % 20];
			if (i > 600 && i < 1200 && text[i] == '\n')
				text[i] = ' ';
			if (i > 1000 && i < 1400)
				text[i] = 'x';
		}
		text[i] = '\0';
		got = fold(text, columns);
		for (row = strtok(got, "\n"); row; row = strtok(NULL, "\n"))
			assert_true(strlen(row) <= columns);
		free(got);
	}
}

static void test_errors_pass(void **state)
{
	FILE *full = fopen("/dev/full", "w"), *folded;

	assert_non_null(full);
	assert_int_equal(fold__open(full, 80, &folded), 0);
	fputs("a line\n", folded);
	errno = 0;
	assert_int_equal(fflush(folded), EOF);
	assert_int_equal(errno, ENOSPC);
	assert_true(ferror(folded));
	fclose(folded);
	fclose(full);
}

/* Whoever writes on after an error is told the same error again. */
static void test_errors_stay(void **state)
{
	FILE *out, *folded;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	out = fdopen(ends[1], "w");
	assert_non_null(out);
	assert_int_equal(fold__open(out, 20, &folded), 0);
	for (int i = 0; i < 3; i++) {
		fputs("a row of the result\n", folded);
		errno = 0;
		assert_int_equal(fflush(folded), EOF);
		assert_int_equal(errno, EPIPE);
	}
	fputs("the last row", folded);
	errno = 0;
	assert_int_equal(fclose(folded), EOF);
	assert_int_equal(errno, EPIPE);
	fclose(out);
}

static void test_columns(void **state)
{
	FILE *none = tmpfile();

	assert_non_null(none);
	unsetenv("COLUMNS");
	assert_int_equal(fold__columns(fileno(none)), 0);
	setenv("COLUMNS", "132", 1);
	assert_int_equal(fold__columns(fileno(none)), 132);
	setenv("COLUMNS", "3", 1);
	assert_int_equal(fold__columns(fileno(none)), FOLD_MIN);
	setenv("COLUMNS", "wide", 1);
	assert_int_equal(fold__columns(fileno(none)), 0);
	setenv("COLUMNS", "99999999999999999999", 1);
	assert_int_equal(fold__columns(fileno(none)), 10000);
	unsetenv("COLUMNS");
	fclose(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fits_stays),
		cmocka_unit_test(test_cut_at_blanks),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_colours_and_characters),
		cmocka_unit_test(test_no_row_is_longer),
		cmocka_unit_test(test_errors_pass),
		cmocka_unit_test(test_errors_stay),
		cmocka_unit_test(test_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
