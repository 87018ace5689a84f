// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the kernel's functions. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "symbol/kallsyms.h"

static char path[] = "/tmp/test-kallsyms-XXXXXX";

static struct kallsyms *list(const char *text)
{
	FILE *f = fopen(path, "w");
	struct kallsyms *k;

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(kallsyms__open(path, &k), 0);
	return k;
}

static void expect(struct kallsyms *k, uint64_t address, const char *name, uint64_t start)
{
	uint64_t found = 0;
	const char *got = kallsyms__find(k, address, &found);

	if (!name) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_string_equal(got, name);
	assert_int_equal(found, start);
}

static void test_names(void **state)
{
	struct kallsyms *k = list("ffffffff81000200 T later\n"
				  "ffffffff81000100 t first\n"
				  "ffffffff81000180 d data\n"
				  "ffffffff81000200 T alias\n"
				  "no line\n"
				  "ffffffffc0000000 t in_module\t[mod]\n");

	expect(k, 0xffffffff810000ff, NULL, 0);
	expect(k, 0xffffffff81000100, "first", 0xffffffff81000100);
	expect(k, 0xffffffff8100017f, "first", 0xffffffff81000100);
	expect(k, 0xffffffff81000180, NULL, 0);
	expect(k, 0xffffffff81000201, "later", 0xffffffff81000200);
	expect(k, 0xffffffffc0000010, "in_module", 0xffffffffc0000000);
	/* Nothing follows, but no function is that long. */
	expect(k, 0xffffffffd0000000, NULL, 0);
	expect(k, 0, NULL, 0);
	expect(k, UINT64_MAX, NULL, 0);
	kallsyms__free(k);
}

static void test_hidden(void **state)
{
	struct kallsyms *k = list("0000000000000000 T _stext\n0000000000000000 T other\n");

	expect(k, 0xffffffff81000100, NULL, 0);
	kallsyms__free(k);
	k = list("");
	expect(k, 0xffffffff81000100, NULL, 0);
	kallsyms__free(k);
	assert_int_equal(kallsyms__open("/nowhere/kallsyms", &k), -ENOENT);
	kallsyms__free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hidden),
	};
	int err;

	close(mkstemp(path));
	err = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return err;
}
