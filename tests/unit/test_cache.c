// SPDX-License-Identifier: GPL-2.0-or-later
/* Costs that were kept: what comes back is what was written, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "attach/costs.h"
#include "calibrate/cache.h"

#define BACKEND "session"

static char directory[64], path[128];

static int setup(void **state)
{
	snprintf(directory, sizeof(directory), "/tmp/proftrace-cache-XXXXXX");
	snprintf(path, sizeof(path), "%s/costs-%s", mkdtemp(directory), BACKEND);
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

static struct probe_costs some_costs(void)
{
	struct probe_costs costs = {.spread = 0.031, .cold_gain = 0.75, .burden = 1.25};

	for (uint32_t i = 0; i < WIRE_COST_CLASSES; i++)
		costs.classes[i] = (struct wire_cost){100 + i, 9000 + 7 * i};
	return costs;
}

static void write_some(void)
{
	struct probe_costs costs = some_costs();

	cache__write(directory, BACKEND, &costs);
}

static void assert_known(void)
{
	struct probe_costs expected = some_costs(), costs;

	assert_true(cache__read(directory, BACKEND, &costs));
	assert_memory_equal(costs.classes, expected.classes, sizeof(costs.classes));
	assert_float_equal(costs.spread, expected.spread, 1e-6);
	assert_float_equal(costs.cold_gain, expected.cold_gain, 1e-6);
	assert_float_equal(costs.burden, expected.burden, 1e-6);
}

/* Whatever was read before it gave up is not handed out. */
static void assert_unknown(const char *backend)
{
	static const struct probe_costs none;
	struct probe_costs costs;

	memset(&costs, 0xee, sizeof(costs));
	assert_false(cache__read(directory, backend, &costs));
	assert_memory_equal(costs.classes, none.classes, sizeof(costs.classes));
	assert_true(costs.spread == 0 && costs.cold_gain == 0);
}

static size_t file_read(char *text, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t len;

	assert_non_null(f);
	len = fread(text, 1, size - 1, f);
	text[len] = '\0';
	fclose(f);
	return len;
}

/* In place: its mode and owner stay. */
static void file_write(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* Puts `text` in the place of the `number`-th line (the key: 0) of a good file. */
static void replace_line(int number, const char *text)
{
	char good[4096], bad[8192], *line = good, *end;

	write_some();
	file_read(good, sizeof(good));
	while (number--)
		line = strchr(line, '\n') + 1;
	end = strchr(line, '\n');
	snprintf(bad, sizeof(bad), "%.*s%s%s", (int)(line - good), good, text, end);
	file_write(bad, strlen(bad));
}

static void round_trip(void **state)
{
	assert_unknown(BACKEND);
	write_some();
	assert_known();
	assert_unknown("uprobe_multi");
	/* Again, over what is there. */
	write_some();
	assert_known();
}

static void makes_its_directory(void **state)
{
	struct stat st;

	assert_int_equal(rmdir(directory), 0);
	assert_unknown(BACKEND);
	write_some();
	assert_known();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
}

static void uncertain_figures_are_not_kept(void **state)
{
	struct probe_costs costs = some_costs();

	costs.spread = 0.2;
	cache__write(directory, BACKEND, &costs);
	assert_int_equal(access(path, F_OK), -1);
}

static void other_keys(void **state)
{
	char text[4096], *boot;

	write_some();
	file_read(text, sizeof(text));
	assert_memory_equal(text, BACKEND " ", strlen(BACKEND) + 1);
	boot = text + strlen(BACKEND) + 1;
	*boot = *boot == '0' ? '1' : '0';
	file_write(text, strlen(text));
	assert_unknown(BACKEND);
	replace_line(0, "");
	assert_unknown(BACKEND);
	replace_line(0, "session");
	assert_unknown(BACKEND);
	/* The right beginning is not enough. */
	write_some();
	file_read(text, sizeof(text));
	*strchr(text, '\n') = '1';
	file_write(text, strlen(text));
	assert_unknown(BACKEND);
}

static void cut_anywhere(void **state)
{
	char text[4096];
	size_t len;

	write_some();
	len = file_read(text, sizeof(text));
	for (size_t cut = 0; cut < len; cut++) {
		file_write(text, cut);
		assert_unknown(BACKEND);
	}
	file_write(text, len);
	assert_known();
	text[len] = '1';
	file_write(text, len + 1);
	assert_unknown(BACKEND);
}

static void damaged_numbers(void **state)
{
	static const char *const first[] = {
		"nan 0.5 1",   "0.03 nan 1",   "-0.1 0.5 1",   "0.03 -1 1",
		"inf 0.5 1",   "0.03 inf 1",   "0.2 0.5 1",    "0.03 1e300 1",
		"1e999 0.5 1", "0.03 0.5 nan", "0.03 0.5 0.9", "0.03 0.5 1e9",
		"x y z",       "0.03 0.5",     "0.03",	       ""};
	static const char *const costs[] = {"x 1",
					    "1 x",
					    "1",
					    "",
					    "-1000001 1",
					    "1 -1000001",
					    "1000001 1",
					    "1 1000001",
					    "4294967297 1",
					    "1 18446744073709551617",
					    "99999999999999999999999999999 1",
					    "nan 1",
					    "1 2 3"};

	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++) {
		replace_line(1, first[i]);
		assert_unknown(BACKEND);
	}
	for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++) {
		replace_line(2, costs[i]);
		assert_unknown(BACKEND);
		replace_line(1 + WIRE_COST_CLASSES, costs[i]);
		assert_unknown(BACKEND);
	}
}

static void long_lines(void **state)
{
	char line[3000];

	memset(line, '1', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	for (int number = 0; number < 3; number++) {
		replace_line(number, line);
		assert_unknown(BACKEND);
	}
}

static void others_may_not_have_written_it(void **state)
{
	static const mode_t modes[] = {0666, 0622, 0602, 0620};

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		write_some();
		assert_int_equal(chmod(path, modes[i]), 0);
		assert_unknown(BACKEND);
	}
	/* The file is replaced, not written to: the new one is good. */
	write_some();
	assert_known();
	if (!geteuid()) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_unknown(BACKEND);
	}
}

static void no_links_are_followed(void **state)
{
	char real[160];

	write_some();
	snprintf(real, sizeof(real), "%s/real", directory);
	assert_int_equal(rename(path, real), 0);
	assert_int_equal(symlink(real, path), 0);
	assert_unknown(BACKEND);
	/* Written in its place, not through it. */
	assert_int_equal(unlink(real), 0);
	write_some();
	assert_int_equal(access(real, F_OK), -1);
	assert_known();
}

static void no_files(void **state)
{
	/* Nobody writes to the FIFO: opening it must not wait. */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_unknown(BACKEND);
	write_some();
	assert_known();
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	assert_unknown(BACKEND);
	write_some();
	assert_unknown(BACKEND);
}

/* How many files there are in the directory. */
static int files_cnt(void)
{
	char command[160];
	int cnt = -1;
	FILE *f;

	snprintf(command, sizeof(command), "ls -A '%s' | wc -l", directory);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &cnt), 1);
	pclose(f);
	return cnt;
}

static void nothing_else_is_left(void **state)
{
	write_some();
	write_some();
	assert_int_equal(files_cnt(), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	write_some(); /* cannot be renamed to that */
	assert_int_equal(files_cnt(), 1);
}

static void unwritable_places(void **state)
{
	static const char *const places[] = {"/proc/proftrace", "/proc/self/status",
					     "/nonexistent/proftrace", ""};
	struct probe_costs costs = some_costs(), read;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		cache__write(places[i], BACKEND, &costs);
		assert_false(cache__read(places[i], BACKEND, &read));
	}
}

static void long_names(void **state)
{
	struct probe_costs costs = some_costs(), read;
	char name[8000];

	memset(name, '/', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	cache__write(name, BACKEND, &costs);
	assert_false(cache__read(name, BACKEND, &read));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(round_trip),
		TEST(makes_its_directory),
		TEST(uncertain_figures_are_not_kept),
		TEST(other_keys),
		TEST(cut_anywhere),
		TEST(damaged_numbers),
		TEST(long_lines),
		TEST(others_may_not_have_written_it),
		TEST(no_links_are_followed),
		TEST(no_files),
		TEST(nothing_else_is_left),
		TEST(unwritable_places),
		TEST(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
