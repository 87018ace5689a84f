// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/btf/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/links/btf/btf_view.h"
#include "util/search.h"

#define MOST_NESTED 64 /* structures in each other; the kernel has some ten */

/* Copying from one to the other. */
struct copying {
	const struct btf_view *from;
	struct btf *to;
	int *copies; /* of types of `from`, by their numbers there; 0: none yet */
	int pointer; /* stands for all */
	int nested;
};

static int copy(struct copying *c, uint32_t id);

static bool is_named_kind(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t);
}

static int copy_array(struct copying *c, const struct btf_array *array)
{
	int element = copy(c, array->type),
	    index = element < 0 ? element : copy(c, array->index_type);

	return index < 0 ? index : btf__add_array(c->to, index, element, array->nelems);
}

/* The types of all members, before the structure itself: fields are added to the latest type. */
static int copy_members(struct copying *c, const struct btf_type *t)
{
	int err = ++c->nested > MOST_NESTED ? -E2BIG : 0;

	for (int i = 0; err >= 0 && i < btf_vlen(t); i++)
		err = copy(c, btf_members(t)[i].type);
	c->nested--;
	return err < 0 ? err : 0;
}

static int copy_composite(struct copying *c, const struct btf_type *t)
{
	const char *name = btf_view__name(c->from, t->name_off);
	int err = copy_members(c, t), id;

	if (err)
		return err;
	id = btf_is_union(t) ? btf__add_union(c->to, name, t->size)
			     : btf__add_struct(c->to, name, t->size);
	for (int i = 0; id > 0 && !err && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];

		err = btf__add_field(c->to, btf_view__name(c->from, m->name_off), copy(c, m->type),
				     btf_member_bit_offset(t, i), btf_member_bitfield_size(t, i));
	}
	return err ? err : id;
}

static int copy_enum(struct copying *c, const struct btf_type *t)
{
	int id = btf__add_enum(c->to, btf_view__name(c->from, t->name_off), t->size), err = 0;

	for (int i = 0; id > 0 && !err && i < btf_vlen(t); i++) {
		const struct btf_enum *e = &btf_enum(t)[i];

		err = btf__add_enum_value(c->to, btf_view__name(c->from, e->name_off), e->val);
	}
	return err ? err : id;
}

static int copy_enum64(struct copying *c, const struct btf_type *t)
{
	int id = btf__add_enum64(c->to, btf_view__name(c->from, t->name_off), t->size,
				 btf_kflag(t)),
	    err = 0;

	for (int i = 0; id > 0 && !err && i < btf_vlen(t); i++) {
		const struct btf_enum64 *e = &btf_enum64(t)[i];

		err = btf__add_enum64_value(c->to, btf_view__name(c->from, e->name_off),
					    btf_enum64_value(e));
	}
	return err ? err : id;
}

static int copy_anew(struct copying *c, const struct btf_type *t)
{
	const char *name = btf_view__name(c->from, t->name_off);

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		return btf__add_int(c->to, name, t->size, btf_int_encoding(t));
	case BTF_KIND_FLOAT:
		return btf__add_float(c->to, name, t->size);
	case BTF_KIND_FWD:
		return btf__add_fwd(c->to, name, btf_kflag(t) ? BTF_FWD_UNION : BTF_FWD_STRUCT);
	case BTF_KIND_ARRAY:
		return copy_array(c, btf_array(t));
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return copy_composite(c, t);
	case BTF_KIND_ENUM:
		return copy_enum(c, t);
	case BTF_KIND_ENUM64:
		return copy_enum64(c, t);
	default:
		return -EINVAL; /* no field is of such a type */
	}
}

/* Returns the copy's number, that of all pointers for one, or -errno. Qualifiers and typedefs are
 * left out, as libbpf looks through them. */
static int copy(struct copying *c, uint32_t id)
{
	const struct btf_type *t = btf_view__plain_type(c->from, &id);
	int made;

	if (!t || !id)
		return t ? 0 : -EINVAL;
	if (btf_is_ptr(t) || btf_is_func_proto(t))
		return c->pointer;
	if (c->copies[id])
		return c->copies[id];
	made = copy_anew(c, t);
	if (made > 0)
		c->copies[id] = made;
	return made;
}

/* Names in order, each once. */
struct names {
	const char **names;
	size_t cnt;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int names_gather(struct names *n, const struct btf *programs)
{
	uint32_t types = btf__type_cnt(programs);
	size_t kept = 0;

	n->names = calloc(types, sizeof(*n->names));
	if (!n->names)
		return -ENOMEM;
	for (uint32_t id = 1; id < types; id++) {
		const struct btf_type *t = btf__type_by_id(programs, id);

		if (is_named_kind(t) && t->name_off)
			n->names[n->cnt++] = btf__name_by_offset(programs, t->name_off);
	}
	qsort(n->names, n->cnt, sizeof(*n->names), compare_names);
	for (size_t i = 0; i < n->cnt; i++) {
		if (!kept || strcmp(n->names[kept - 1], n->names[i]))
			n->names[kept++] = n->names[i];
	}
	n->cnt = kept;
	return 0;
}

static bool names_have(const struct names *n, const char *name)
{
	size_t at = LOWER_BOUND(n->cnt, i, strcmp(n->names[i], name) < 0);

	return at < n->cnt && !strcmp(n->names[at], name);
}

struct copying_named {
	struct copying copying;
	struct names names;
};

static int copy_if_named(void *ctx, uint32_t id, const struct btf_type *t)
{
	struct copying_named *n = ctx;
	int made;

	if (!is_named_kind(t) || !t->name_off ||
	    !names_have(&n->names, btf_view__name(n->copying.from, t->name_off)))
		return 0;
	made = copy(&n->copying, id);
	return made < 0 ? made : 0;
}

static int copy_named(struct copying_named *n)
{
	struct copying *c = &n->copying;

	c->pointer = btf__add_ptr(c->to, 0);
	return c->pointer < 0 ? c->pointer : btf_view__each(c->from, copy_if_named, n);
}

struct btf *kernel_types__of(const struct btf *programs, const struct btf_view *kernel)
{
	struct copying_named n = {.copying = {.from = kernel, .to = btf__new_empty()}};
	int err = n.copying.to ? 0 : -errno;

	n.copying.copies = calloc(kernel->type_cnt, sizeof(*n.copying.copies));
	if (!err && !n.copying.copies)
		err = -ENOMEM;
	if (!err)
		err = names_gather(&n.names, programs);
	if (!err)
		err = copy_named(&n);
	free(n.names.names);
	free(n.copying.copies);
	if (!err)
		return n.copying.to;
	btf__free(n.copying.to);
	errno = -err;
	return NULL;
}
