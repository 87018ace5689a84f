// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/static_tls.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "elf/elf_bytes.h"
#include "elf/elf_inside.h"
#include "elf/lookup.h"
#include "symbol/thread_variable.h"
#include "target/maps.h"
#include "target/target.h"

/* How glibc tells debuggers where a field of its own lies: bits, number, bytes from the front. */
#define FIELD "_thread_db_link_map_l_tls_offset"
#define LIST  "_r_debug" /* the dynamic linker's list of libraries */

/* One process. */
struct look {
	const struct target *t;
	const struct elf_image *const *images;
	pid_t pid;
};

/* A search for an object's place in memory. */
struct base_search {
	const struct target_object *obj;
	const struct elf_image *img;
	uint64_t base; /* what addresses of the file are moved by */
	bool found;
};

static int find_base(const struct mapping *m, void *ctx)
{
	struct base_search *s = ctx;
	const struct elf_segment *segments;
	size_t cnt;

	if (!m->executable || !m->ino || m->ino != s->obj->ino ||
	    m->dev_major != s->obj->dev_major || m->dev_minor != s->obj->dev_minor)
		return 0;
	segments = elf_image__segments(s->img, &cnt);
	for (size_t i = 0; i < cnt && !s->found; i++) {
		const struct elf_segment *seg = &segments[i];

		if (!seg->exec || m->offset >= seg->offset + seg->filesz ||
		    m->offset + (m->end - m->start) <= seg->offset)
			continue;
		s->base = m->start - m->offset + seg->offset - seg->vaddr;
		s->found = true;
	}
	return s->found;
}

/* The address in the process of what is at `vaddr` in object `i`; 0: not known. */
static uint64_t address_of(const struct look *l, size_t i, uint64_t vaddr)
{
	struct base_search s = {&l->t->objects[i], l->images[i], 0, false};

	maps__for_each_mapping(l->pid, find_base, &s);
	return s.found && vaddr ? s.base + vaddr : 0;
}

static uint64_t dynamic_section(const struct elf_image *img)
{
	const Elf64_Phdr *phdrs;
	size_t cnt;

	phdrs = elf_image__phdrs(img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		if (phdrs[i].p_type == PT_DYNAMIC)
			return phdrs[i].p_vaddr;
	}
	return 0;
}

/* Finds the list of libraries, and how an entry of it says where variables lie. False: the dynamic
 * linker is another than glibc's. */
static bool find_list(const struct look *l, struct thread_library *q)
{
	static const char *const names[] = {LIST, FIELD};

	for (size_t i = 0; i < l->t->objects_cnt; i++) {
		const struct elf_image *img = l->images[i];
		uint64_t vaddrs[2] = {0};
		uint32_t field[3];

		if (!img || !symbol_lookup(img, names, 2, vaddrs))
			continue;
		if (vaddrs[0] && !q->list)
			q->list = address_of(l, i, vaddrs[0]);
		if (vaddrs[1] && elf_image__read_vaddr(img, vaddrs[1], field, sizeof(field)) &&
		    field[0] == 64 && field[1] == 1)
			q->field = field[2];
	}
	return q->list && q->field;
}

int static_tls__place(const struct target *t, uint32_t process,
		      const struct elf_image *const *images, uint32_t object,
		      struct thread_variable *v)
{
	const struct look l = {t, images, t->processes[process].pid};
	const uint64_t section = dynamic_section(images[object]);
	struct thread_library q = {.pid = l.pid, .dynamic = address_of(&l, object, section)};

	return q.dynamic && find_list(&l, &q) ? thread_variable__place(images[object], &q, v)
					      : -ENOTSUP;
}
