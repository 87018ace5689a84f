// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/btf/btf_view.h"

#include <bpf/btf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STEP 32 /* types from one known place to the next */

/* The bytes behind a type that belong to it, or -1: the kind is unknown. */
static int64_t rest_of(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_vlen(t) * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return btf_vlen(t) * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return btf_vlen(t) * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return btf_vlen(t) * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return btf_vlen(t) * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return -1;
	}
}

static const struct btf_type *type_at(const struct btf_view *view, uint32_t place)
{
	return (const void *)(view->types + place);
}

static uint32_t behind(const struct btf_view *view, uint32_t place)
{
	return place + sizeof(struct btf_type) + rest_of(type_at(view, place));
}

/* Whether the type at `place` lies inside. */
static bool is_whole(const struct btf_view *view, uint32_t place)
{
	uint32_t left = view->types_size - place;
	int64_t rest = left < sizeof(struct btf_type) ? -1 : rest_of(type_at(view, place));

	return rest >= 0 && sizeof(struct btf_type) + rest <= left;
}

/* Counts the types, and notes where some of them are. */
static int find_types(struct btf_view *view)
{
	/* No type is smaller than its head. */
	uint32_t most = view->types_size / sizeof(struct btf_type), place = 0;

	view->places = malloc((most / STEP + 1) * sizeof(*view->places));
	if (!view->places)
		return -ENOMEM;
	for (view->type_cnt = 1; place < view->types_size; view->type_cnt++) {
		if (!is_whole(view, place))
			return -EINVAL;
		if (view->type_cnt % STEP == 1)
			view->places[view->type_cnt / STEP] = place;
		place = behind(view, place);
	}
	return view->type_cnt <= INT_MAX ? 0 : -EINVAL;
}

/* Whether `size` bytes from `off` lie in `len` bytes behind the header. */
static bool lies_in(uint32_t off, uint32_t size, size_t len)
{
	return off <= len && size <= len - off;
}

int btf_view__open(struct btf_view *view, const void *data, size_t size)
{
	const struct btf_header *header = data;
	size_t len;
	int err;

	*view = (struct btf_view){0};
	if (size < sizeof(*header) || header->magic != BTF_MAGIC ||
	    header->hdr_len < sizeof(*header) || header->hdr_len > size)
		return -EINVAL;
	len = size - header->hdr_len;
	if (!lies_in(header->type_off, header->type_len, len) ||
	    !lies_in(header->str_off, header->str_len, len) || header->type_off % 4 ||
	    header->hdr_len % 4 || !header->str_len)
		return -EINVAL;
	view->types = (const char *)data + header->hdr_len + header->type_off;
	view->types_size = header->type_len;
	view->strings = (const char *)data + header->hdr_len + header->str_off;
	view->strings_size = header->str_len;
	err = view->strings[view->strings_size - 1] ? -EINVAL : find_types(view);
	if (err)
		btf_view__close(view);
	return err;
}

void btf_view__close(struct btf_view *view)
{
	free(view->places);
	*view = (struct btf_view){0};
}

const struct btf_type *btf_view__type(const struct btf_view *view, uint32_t id)
{
	static const struct btf_type nothing;
	uint32_t place;

	if (!id || id >= view->type_cnt)
		return id ? NULL : &nothing;
	place = view->places[(id - 1) / STEP];
	for (uint32_t left = (id - 1) % STEP; left; left--)
		place = behind(view, place);
	return type_at(view, place);
}

const struct btf_type *btf_view__plain_type(const struct btf_view *view, uint32_t *id)
{
	const struct btf_type *t = btf_view__type(view, *id);

	/* A chain that is longer than there are types goes in a circle. */
	for (uint32_t n = 0; t && (btf_is_mod(t) || btf_is_typedef(t)); n++)
		t = n < view->type_cnt ? btf_view__type(view, *id = t->type) : NULL;
	return t;
}

const char *btf_view__name(const struct btf_view *view, uint32_t offset)
{
	return offset < view->strings_size ? view->strings + offset : "";
}

int btf_view__each(const struct btf_view *view,
		   int (*visit)(void *ctx, uint32_t id, const struct btf_type *type), void *ctx)
{
	uint32_t place = 0;
	int result = 0;

	for (uint32_t id = 1; !result && id < view->type_cnt; id++) {
		result = visit(ctx, id, type_at(view, place));
		place = behind(view, place);
	}
	return result;
}

struct wanted {
	const struct btf_view *view;
	const char *name;
	uint16_t kind;
};

static int is_wanted(void *ctx, uint32_t id, const struct btf_type *type)
{
	const struct wanted *w = ctx;

	return btf_kind(type) == w->kind &&
			       !strcmp(btf_view__name(w->view, type->name_off), w->name)
		       ? (int)id
		       : 0;
}

int btf_view__find(const struct btf_view *view, const char *name, uint16_t kind)
{
	struct wanted wanted = {view, name, kind};
	int id = btf_view__each(view, is_wanted, &wanted);

	return id ? id : -ENOENT;
}
