// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the code that a process makes, by the list that it keeps: this process's own. */
#include "fixture.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "symbol/jit.h"

static void append(const char *path, const char *line)
{
	FILE *f = fopen(path, "ae");

	assert_non_null(f);
	fprintf(f, "%s\n", line);
	assert_int_equal(fclose(f), 0);
}

/* The name at an address; "": it has none. */
static const char *name_of(struct jit *j, uint64_t address)
{
	const char *name = jit__name(j, getpid(), address);

	return name ? name : "";
}

/* Code that was made a moment after the list was read, by a process that has removed it since. */
static void test_made_since(void **state)
{
	struct jit j = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	append(path, "1000 10 early");
	assert_string_equal(name_of(&j, 0x1004), "early");
	append(path, "2000 10 late");
	unlink(path);
	assert_string_equal(name_of(&j, 0x2004), "late");
	assert_string_equal(name_of(&j, 0x1004), "early");
	assert_string_equal(name_of(&j, 0x3000), "");
	jit__free(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
