/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's types that programs name are copied as they lie there, and no others. */
#include <bpf/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "attach/links/btf/btf_view.h"
#include "attach/links/btf/kernel_types.h"

static struct btf *kernel, *programs;

/* struct inner { int a; int flag : 3; }; struct other { int x; };
 * struct task { struct other *next; const struct inner in; struct inner many[4]; }; */
static void kernel_fill(void)
{
	int number = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
	int inner = btf__add_struct(kernel, "inner", 8), other, pointer, constant, many;
	int real, large;

	assert_int_equal(btf__add_field(kernel, "a", number, 0, 0), 0);
	assert_int_equal(btf__add_field(kernel, "flag", number, 32, 3), 0);
	other = btf__add_struct(kernel, "other", 4);
	assert_int_equal(btf__add_field(kernel, "x", number, 0, 0), 0);
	pointer = btf__add_ptr(kernel, other);
	constant = btf__add_const(kernel, inner);
	many = btf__add_array(kernel, number, inner, 4);
	assert_true(btf__add_struct(kernel, "task", 48) > 0);
	assert_int_equal(btf__add_field(kernel, "next", pointer, 0, 0), 0);
	assert_int_equal(btf__add_field(kernel, "in", constant, 64, 0), 0);
	assert_int_equal(btf__add_field(kernel, "many", many, 128, 0), 0);
	real = btf__add_float(kernel, "double", 8);
	large = btf__add_enum64(kernel, "large", 8, false);
	assert_int_equal(btf__add_enum64_value(kernel, "LARGE", 1ull << 40), 0);
	assert_true(btf__add_enum(kernel, "kind", 4) > 0);
	assert_int_equal(btf__add_enum_value(kernel, "KIND_B", 7), 0);
	assert_true(btf__add_struct(kernel, "kinds", 32) > 0);
	assert_int_equal(btf__add_field(kernel, "real", real, 0, 0), 0);
	assert_int_equal(btf__add_field(kernel, "large", large, 64, 0), 0);
	/* Two of one name, as kernels have them. */
	assert_true(btf__add_struct(kernel, "other", 16) > 0);
}

static int setup(void **state)
{
	kernel = btf__new_empty();
	programs = btf__new_empty();
	if (!kernel || !programs)
		return -1;
	kernel_fill();
	return 0;
}

static int teardown(void **state)
{
	btf__free(kernel);
	btf__free(programs);
	return 0;
}

static struct btf *copied_types(void)
{
	struct btf_view view;
	const void *data;
	struct btf *types;
	uint32_t size;

	data = btf__raw_data(kernel, &size);
	assert_int_equal(btf_view__open(&view, data, size), 0);
	types = kernel_types__of(programs, &view);
	btf_view__close(&view);
	assert_non_null(types);
	return types;
}

static const struct btf_member *member(const struct btf *btf, const char *name, int number)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_STRUCT);

	assert_true(id > 0);
	return &btf_members(btf__type_by_id(btf, id))[number];
}

static void members_lie_where_they_are(void **state)
{
	const struct btf_type *t;
	struct btf *types;
	int id;

	btf__add_struct(programs, "task", 8);
	btf__add_struct(programs, "task", 8); /* as after a forward declaration */
	btf__add_enum(programs, "kind", 4);
	btf__add_struct(programs, "wire_node", 64); /* the programs' own */
	types = copied_types();
	id = btf__find_by_name_kind(types, "task", BTF_KIND_STRUCT);
	t = btf__type_by_id(types, id);
	assert_int_equal(t->size, 48);
	assert_int_equal(btf_vlen(t), 3);
	assert_string_equal(btf__name_by_offset(types, btf_members(t)[2].name_off), "many");
	assert_int_equal(btf_member_bit_offset(t, 2), 128);
	assert_int_equal(btf__resolve_size(types, btf_members(t)[2].type), 32);
	assert_int_equal(btf__resolve_size(types, btf_members(t)[1].type), 8);
	/* The pointer is one, but leads nowhere. */
	assert_true(btf_is_ptr(btf__type_by_id(types, btf_members(t)[0].type)));
	assert_true(btf__find_by_name_kind(types, "other", BTF_KIND_STRUCT) < 0);
	/* The structures inside come along, bit fields too. */
	t = btf__type_by_id(types, btf__find_by_name_kind(types, "inner", BTF_KIND_STRUCT));
	assert_int_equal(btf_member_bit_offset(t, 1), 32);
	assert_int_equal(btf_member_bitfield_size(t, 1), 3);
	assert_string_equal(btf__name_by_offset(types, member(types, "inner", 1)->name_off),
			    "flag");
	t = btf__type_by_id(types, btf__find_by_name_kind(types, "kind", BTF_KIND_ENUM));
	assert_int_equal(btf_enum(t)[0].val, 7);
	assert_true(btf__find_by_name_kind(types, "wire_node", BTF_KIND_STRUCT) < 0);
	btf__free(types);
}

static void all_kinds_of_fields_are_copied(void **state)
{
	const struct btf_type *t;
	struct btf *types;

	btf__add_struct(programs, "kinds", 8);
	types = copied_types();
	t = btf__type_by_id(types, member(types, "kinds", 0)->type);
	assert_int_equal(btf_kind(t), BTF_KIND_FLOAT);
	assert_int_equal(t->size, 8);
	t = btf__type_by_id(types, member(types, "kinds", 1)->type);
	assert_int_equal(btf_enum64_value(btf_enum64(t)), 1ull << 40);
	t = btf__type_by_id(types, member(types, "kinds", 1)->type);
	assert_string_equal(btf__name_by_offset(types, t->name_off), "large");
	btf__free(types);
}

/* libbpf decides between types of one name, so it gets all of them. */
static void all_of_a_name_come_along(void **state)
{
	int found = 0;
	struct btf *types;

	btf__add_struct(programs, "other", 8);
	types = copied_types();
	for (uint32_t id = 1; id < btf__type_cnt(types); id++)
		found += btf_is_struct(btf__type_by_id(types, id));
	assert_int_equal(found, 2);
	btf__free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(members_lie_where_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(all_kinds_of_fields_are_copied, setup, teardown),
		cmocka_unit_test_setup_teardown(all_of_a_name_come_along, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
