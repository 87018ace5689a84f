// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/kernel_types.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/search.h"

#define MOST_NESTED 64 /* structures in each other; the kernel has some ten */

/* Copying from one to the other. */
struct copying {
	const struct btf *from;
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
	const char *name = btf__name_by_offset(c->from, t->name_off);
	int err = copy_members(c, t), id;

	if (err)
		return err;
	id = btf_is_union(t) ? btf__add_union(c->to, name, t->size)
			     : btf__add_struct(c->to, name, t->size);
	for (int i = 0; id > 0 && !err && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];

		err = btf__add_field(c->to, btf__name_by_offset(c->from, m->name_off),
				     copy(c, m->type), btf_member_bit_offset(t, i),
				     btf_member_bitfield_size(t, i));
	}
	return err ? err : id;
}

/* Returns the copy's number, that of all pointers for one, or -errno. Qualifiers and typedefs are
 * left out, as libbpf looks through them. */
static int copy(struct copying *c, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(c->from, id);
	int made;

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(c->from, id = t->type);
	if (!t || !id)
		return t ? 0 : -EINVAL;
	if (btf_is_ptr(t) || btf_is_func_proto(t))
		return c->pointer;
	if (c->copies[id])
		return c->copies[id];
	made = btf_is_array(t)	     ? copy_array(c, btf_array(t))
	       : btf_is_composite(t) ? copy_composite(c, t)
				     : btf__add_type(c->to, c->from, t);
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

static int copy_named(struct copying *c, const struct names *names)
{
	uint32_t types = btf__type_cnt(c->from);
	int err = 0;

	c->pointer = btf__add_ptr(c->to, 0);
	if (c->pointer < 0)
		return c->pointer;
	for (uint32_t id = 1; err >= 0 && id < types; id++) {
		const struct btf_type *t = btf__type_by_id(c->from, id);

		if (is_named_kind(t) && t->name_off &&
		    names_have(names, btf__name_by_offset(c->from, t->name_off)))
			err = copy(c, id);
	}
	return err < 0 ? err : 0;
}

struct btf *kernel_types__of(const struct btf *programs, const struct btf *kernel)
{
	struct copying c = {.from = kernel, .to = btf__new_empty()};
	struct names names = {0};
	int err = c.to ? 0 : -errno;

	c.copies = calloc(btf__type_cnt(kernel), sizeof(*c.copies));
	if (!err && !c.copies)
		err = -ENOMEM;
	if (!err)
		err = names_gather(&names, programs);
	if (!err)
		err = copy_named(&c, &names);
	free(names.names);
	free(c.copies);
	if (!err)
		return c.to;
	btf__free(c.to);
	errno = -err;
	return NULL;
}

#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* In one piece, where the kernel can (Linux 6.16): it gives 4 KB to whoever reads, at a time. */
static struct btf *map_running(void)
{
	int fd = open(KERNEL_BTF, O_RDONLY | O_CLOEXEC);
	void *data = MAP_FAILED;
	struct btf *btf;
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && st.st_size > 0 && st.st_size <= UINT32_MAX)
		data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (data == MAP_FAILED)
		return NULL;
	btf = btf__new(data, st.st_size);
	munmap(data, st.st_size);
	return btf;
}

static struct btf *running;

const struct btf *kernel_btf(void)
{
	if (!running)
		running = map_running();
	if (!running)
		running = btf__load_vmlinux_btf();
	return running;
}

void kernel_btf__forget(void)
{
	btf__free(running);
	running = NULL;
}
