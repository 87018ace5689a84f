/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BTF that is read where it lies. libbpf's btf__new() copies what it is given: of the kernel's BTF
 * 5 MB, into fresh memory, 25 to 40 ms of CPU time, for a dozen questions. The types themselves are
 * those of <bpf/btf.h>: btf_kind(), btf_members() and their like work on them.
 */
#ifndef PROFTRACE_ATTACH_LINKS_BTF_BTF_VIEW_H
#define PROFTRACE_ATTACH_LINKS_BTF_BTF_VIEW_H

#include <stddef.h>
#include <stdint.h>

struct btf_type;

struct btf_view {
	const char *types, *strings;
	uint32_t types_size, strings_size;
	uint32_t type_cnt; /* with type 0, void, as libbpf counts */
	uint32_t *places;  /* in `types`, of every 32nd type */
};

/*
 * `data` is borrowed, and stays as it is until the view is closed. Every type lies inside of it
 * then. Returns 0, -EINVAL (no BTF, damaged, or with a kind of type that nobody knew when this was
 * written) or -ENOMEM.
 */
int btf_view__open(struct btf_view *view, const void *data, size_t size);
void btf_view__close(struct btf_view *view);

/* NULL: there is none. Type 0 is void. */
const struct btf_type *btf_view__type(const struct btf_view *view, uint32_t id);

/* Of the type, or of what const, volatile and typedefs before it stand for; NULL as above. Writes
 * the number of what it returns to *id. */
const struct btf_type *btf_view__plain_type(const struct btf_view *view, uint32_t *id);

/* "" where `offset` lies outside. */
const char *btf_view__name(const struct btf_view *view, uint32_t offset);

/* The number of the first type of that name and kind (BTF_KIND_FUNC), or -ENOENT. */
int btf_view__find(const struct btf_view *view, const char *name, uint16_t kind);

/* Calls `visit` with each type but void until it returns something else than 0, and returns that;
 * 0 at the end. */
int btf_view__each(const struct btf_view *view,
		   int (*visit)(void *ctx, uint32_t id, const struct btf_type *type), void *ctx);

#endif
