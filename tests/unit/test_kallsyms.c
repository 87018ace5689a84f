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
	/* No symbol follows, but no function is that long. */
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

/* A kernel that has one function, and a module's; and that cannot be asked above these. */
static bool say(void *ctx, uint64_t address, char *said, size_t size)
{
	unsigned int *asked = ctx;

	(*asked)++;
	if (address >= 0xffffffffd0000000)
		return false;
	if (address - 0xffffffff81000100 < 0x80)
		snprintf(said, size, "first+%#llx/0x80", address - 0xffffffff81000100ull);
	else if (address - 0xffffffffc0000000 < 0x20)
		snprintf(said, size, "odd+0x1+%#llx/0x20 [mod]", address - 0xffffffffc0000000ull);
	else
		snprintf(said, size, "%#llx", (unsigned long long)address);
	return true;
}

static void test_asked(void **state)
{
	/* The list has other names, so who has been asked can be told. */
	struct kallsyms *k = list("0000000000000000 A per_cpu_start\n"
				  "ffffffff81000100 t listed\n"
				  "ffffffffd0000000 t late\n"
				  "ffffffffd0000100 t end\n");
	unsigned int asked = 0;

	kallsyms__ask(k, say, &asked);
	expect(k, 0xffffffff81000101, "first", 0xffffffff81000100);
	expect(k, 0xffffffff8100017f, "first", 0xffffffff81000100);
	expect(k, 0xffffffffc0000010, "odd+0x1", 0xffffffffc0000000);
	expect(k, 0xffffffff82000000, NULL, 0);
	assert_int_equal(asked, 4);
	expect(k, 0xffffffffd0000010, "late", 0xffffffffd0000000);
	kallsyms__free(k);
}

/* The kernel is not asked for names that its list hides. */
static void test_asked_hidden(void **state)
{
	struct kallsyms *k = list("0000000000000000 T _stext\n0000000000000000 T other\n");
	unsigned int asked = 0;

	kallsyms__ask(k, say, &asked);
	expect(k, 0xffffffff81000101, NULL, 0);
	assert_int_equal(asked, 0);
	kallsyms__free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_asked_hidden),
	};
	int err;

	close(mkstemp(path));
	err = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return err;
}
