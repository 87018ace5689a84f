// SPDX-License-Identifier: GPL-2.0-or-later
/* The package of a file, by dpkg's lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "target/package.h"

static const struct {
	const char *list, *text;
} lists[] = {
	{"bash.list", "/.\n/bin\n/bin/bash\n/usr/share/doc/bash\n"},
	{"libc6:amd64.list", "/.\n/usr/lib/libc.so.6\n/usr/lib/libc.so.6.1"},
	{"bash.md5sums", "/usr/bin/other\n"},
	{"empty.list", ""},
};

#define COUNT (sizeof(lists) / sizeof(*lists))

static char folder[] = "/tmp/test_package-XXXXXX";

static int setup(void **state)
{
	char path[128];

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < COUNT; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", folder, lists[i].list);
		f = fopen(path, "w");
		assert_non_null(f);
		fputs(lists[i].text, f);
		fclose(f);
	}
	return 0;
}

static int teardown(void **state)
{
	char path[128];

	for (size_t i = 0; i < COUNT; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, lists[i].list);
		unlink(path);
	}
	return rmdir(folder);
}

static void expect(const char *path, const char *expected)
{
	char name[64];

	assert_int_equal(package__of_lists(folder, path, name, sizeof(name)),
			 expected ? 0 : -ENOENT);
	if (expected)
		assert_string_equal(name, expected);
}

static void test_lists(void **state)
{
	expect("/bin/bash", "bash");
	/* Since /bin is a link to /usr/bin. */
	expect("/usr/bin/bash", "bash");
	expect("/usr/lib/libc.so.6", "libc6");
	/* The last line may have no end. */
	expect("/usr/lib/libc.so.6.1", "libc6");
	expect("/usr/lib/libc.so", NULL);
	expect("/usr/bin/other", NULL);
	expect("", NULL);
}

static void test_none(void **state)
{
	char name[64];

	assert_int_equal(package__of_lists("/nowhere", "/bin/bash", name, sizeof(name)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists),
					   cmocka_unit_test(test_none)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
