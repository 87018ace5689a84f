/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function of the kernel is found by its number, if a program may call it with its context. */
#include <bpf/btf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attach/links/btf/btf_view.h"
#include "attach/links/btf/kfunc.h"

static struct btf *btf;
static int u64_id, pointer_id, void_pointer_id;

static int setup(void **state)
{
	btf = btf__new_empty();
	u64_id = btf__add_int(btf, "unsigned long long", 8, 0);
	pointer_id = btf__add_ptr(btf, u64_id);
	void_pointer_id = btf__add_ptr(btf, 0);
	return btf && void_pointer_id > 0 ? 0 : -1;
}

static int teardown(void **state)
{
	btf__free(btf);
	return 0;
}

/* Adds a function that returns `result` and takes `first` and `second`; -1: it takes none. */
static int add(const char *name, int result, int first, int second)
{
	int proto = btf__add_func_proto(btf, result);

	if (first >= 0)
		assert_int_equal(btf__add_func_param(btf, "first", first), 0);
	if (second >= 0)
		assert_int_equal(btf__add_func_param(btf, "second", second), 0);
	return btf__add_func(btf, name, BTF_FUNC_GLOBAL, proto);
}

/* Looks in the BTF of a kernel that has the functions that were added so far. */
static int find(const char *name, size_t most)
{
	struct btf_view kernel;
	const void *data;
	uint32_t size;
	int id;

	data = btf__raw_data(btf, &size);
	assert_int_equal(btf_view__open(&kernel, data, size), 0);
	id = kfunc__find(&kernel, name, most);
	btf_view__close(&kernel);
	return id;
}

/* The prototypes of Linux 6.13 and of 7.2. */
static void both_prototypes_fit(void **state)
{
	int without = add("without", pointer_id, -1, -1);
	int with = add("with", pointer_id, void_pointer_id, -1);

	assert_int_equal(find("without", 1), without);
	assert_int_equal(find("with", 1), with);
}

static void others_do_not(void **state)
{
	add("number", u64_id, void_pointer_id, -1);
	add("nothing", 0, -1, -1);
	add("by_value", pointer_id, u64_id, -1);
	add("two", pointer_id, void_pointer_id, void_pointer_id);
	assert_int_equal(find("number", 1), -EPROTO);
	assert_int_equal(find("nothing", 1), -EPROTO);
	assert_int_equal(find("by_value", 1), -EPROTO);
	assert_int_equal(find("two", 1), -EPROTO);
}

/* The prototype of bpf_rdonly_cast(). */
static void numbers_come_behind_a_pointer(void **state)
{
	int cast = add("cast", void_pointer_id, void_pointer_id, u64_id);

	add("pointers", void_pointer_id, void_pointer_id, void_pointer_id);
	assert_int_equal(find("cast", 2), cast);
	assert_int_equal(find("cast", 1), -EPROTO);
	assert_int_equal(find("pointers", 2), -EPROTO);
}

static void what_the_kernel_lacks_is_not_found(void **state)
{
	assert_int_equal(find("missing", 1), -ENOENT);
	/* A type of that name is no function. */
	assert_int_equal(find("unsigned long long", 1), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_prototypes_fit),
		cmocka_unit_test(others_do_not),
		cmocka_unit_test(numbers_come_behind_a_pointer),
		cmocka_unit_test(what_the_kernel_lacks_is_not_found),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
