/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BTF is read where it lies: as libbpf reads it, and never beyond its end. */
#include <bpf/btf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attach/links/btf/btf_view.h"

static struct btf *btf;
static const char *data;
static uint32_t size;

/* One type of each kind, and enough of one kind that not all places are remembered. */
static int setup(void **state)
{
	int number, function;

	btf = btf__new_empty();
	number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	btf__add_ptr(btf, number);
	btf__add_array(btf, number, number, 4);
	btf__add_struct(btf, "pair", 8);
	btf__add_field(btf, "first", number, 0, 0);
	btf__add_field(btf, "second", number, 32, 0);
	btf__add_union(btf, "either", 4);
	btf__add_field(btf, "number", number, 0, 0);
	btf__add_enum(btf, "color", 4);
	btf__add_enum_value(btf, "RED", 1);
	btf__add_enum64(btf, "large", 8, false);
	btf__add_enum64_value(btf, "LARGE", 1ull << 40);
	btf__add_fwd(btf, "later", BTF_FWD_STRUCT);
	btf__add_typedef(btf, "number_t", btf__add_const(btf, btf__add_volatile(btf, number)));
	btf__add_restrict(btf, number);
	function = btf__add_func_proto(btf, number);
	btf__add_func_param(btf, "argument", number);
	function = btf__add_func(btf, "function", BTF_FUNC_GLOBAL, function);
	btf__add_var(btf, "variable", BTF_VAR_STATIC, number);
	btf__add_datasec(btf, ".data", 4);
	btf__add_datasec_var_info(btf, number, 0, 4);
	btf__add_float(btf, "double", 8);
	btf__add_decl_tag(btf, "tag", function, -1);
	btf__add_type_tag(btf, "user", number);
	for (int i = 0; i < 100; i++)
		btf__add_typedef(btf, "alias", number);
	btf__add_struct(btf, "last", 16);
	data = btf__raw_data(btf, &size);
	return data ? 0 : -1;
}

static int teardown(void **state)
{
	btf__free(btf);
	return 0;
}

static void open_view(struct btf_view *view)
{
	assert_int_equal(btf_view__open(view, data, size), 0);
}

static void all_types_are_where_libbpf_finds_them(void **state)
{
	struct btf_view view;

	open_view(&view);
	assert_int_equal(view.type_cnt, btf__type_cnt(btf));
	for (uint32_t id = 1; id < view.type_cnt; id++) {
		const struct btf_type *t = btf_view__type(&view, id);
		const struct btf_type *truth = btf__type_by_id(btf, id);

		assert_memory_equal(t, truth, sizeof(*t));
		assert_string_equal(btf_view__name(&view, t->name_off),
				    btf__name_by_offset(btf, truth->name_off));
	}
	assert_null(btf_view__type(&view, view.type_cnt));
	assert_true(btf_is_void(btf_view__type(&view, 0)));
	btf_view__close(&view);
}

static void types_are_found_by_name_and_kind(void **state)
{
	struct btf_view view;

	open_view(&view);
	assert_int_equal(btf_view__find(&view, "last", BTF_KIND_STRUCT),
			 btf__find_by_name_kind(btf, "last", BTF_KIND_STRUCT));
	assert_int_equal(btf_view__find(&view, "alias", BTF_KIND_TYPEDEF),
			 btf__find_by_name_kind(btf, "alias", BTF_KIND_TYPEDEF));
	assert_int_equal(btf_view__find(&view, "last", BTF_KIND_UNION), -ENOENT);
	assert_int_equal(btf_view__find(&view, "missing", BTF_KIND_STRUCT), -ENOENT);
	btf_view__close(&view);
}

static void a_plain_type_has_no_other_name(void **state)
{
	struct btf_view view;
	uint32_t id;

	open_view(&view);
	id = btf_view__find(&view, "number_t", BTF_KIND_TYPEDEF);
	assert_true(btf_is_int(btf_view__plain_type(&view, &id)));
	assert_int_equal(id, 1);
	btf_view__close(&view);
}

/* A typedef of itself. */
static void circles_end(void **state)
{
	struct btf_type *alias;
	struct btf_view view;
	char *copy = malloc(size);
	uint32_t id;

	memcpy(copy, data, size);
	assert_int_equal(btf_view__open(&view, copy, size), 0);
	id = btf_view__find(&view, "alias", BTF_KIND_TYPEDEF);
	alias = (struct btf_type *)btf_view__type(&view, id);
	alias->type = id;
	assert_null(btf_view__plain_type(&view, &id));
	btf_view__close(&view);
	free(copy);
}

/* Each copy ends where its memory does, so that a byte read too far is an error's. */
static void what_is_cut_off_is_refused(void **state)
{
	for (uint32_t len = 0; len < size; len++) {
		char *copy = malloc(len + !len);
		struct btf_view view;

		memcpy(copy, data, len);
		assert_int_equal(btf_view__open(&view, copy, len), -EINVAL);
		assert_null(view.places);
		free(copy);
	}
}

static void refuse_with(size_t at, uint32_t value)
{
	char *copy = malloc(size);
	struct btf_view view;

	memcpy(copy, data, size);
	memcpy(copy + at, &value, sizeof(value));
	assert_int_equal(btf_view__open(&view, copy, size), -EINVAL);
	free(copy);
}

static void what_is_damaged_is_refused(void **state)
{
	const struct btf_header *header = (const void *)data;
	size_t first = header->hdr_len + header->type_off;

	refuse_with(offsetof(struct btf_header, hdr_len), size + 1);
	refuse_with(offsetof(struct btf_header, hdr_len), 8);
	refuse_with(offsetof(struct btf_header, type_off), UINT32_MAX - 3);
	refuse_with(offsetof(struct btf_header, type_len), size);
	refuse_with(offsetof(struct btf_header, type_len), header->type_len - 4);
	refuse_with(offsetof(struct btf_header, str_off), size);
	refuse_with(offsetof(struct btf_header, str_len), 0);
	refuse_with(first + offsetof(struct btf_type, info), 31u << 24); /* no such kind */
	refuse_with(first + offsetof(struct btf_type, info),
		    BTF_KIND_STRUCT << 24 | 0xffff); /* of more fields than there is room for */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_types_are_where_libbpf_finds_them),
		cmocka_unit_test(types_are_found_by_name_and_kind),
		cmocka_unit_test(a_plain_type_has_no_other_name),
		cmocka_unit_test(circles_end),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(what_is_damaged_is_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
