// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/bindings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/linkage.h"
#include "util/hash.h"
#include "util/text.h"

struct definition {
	const char *name; /* NULL: a free place */
	uint64_t vaddr;
	uint32_t object;
	bool several; /* several define it; if all are of the C library, never mind which */
};

struct bindings {
	const struct bindings_object *objects;
	size_t cnt;
	bool *early; /* came with the program */
	struct definition *table;
	size_t table_size; /* a power of two */
};

static struct definition *place_of(const struct bindings *b, const char *name)
{
	for (size_t at = hash__keyed(name, strlen(name));; at++) {
		struct definition *place = &b->table[at & (b->table_size - 1)];

		if (!place->name || !strcmp(place->name, name))
			return place;
	}
}

static int read_definitions(struct bindings *b)
{
	size_t total = 0, cnt;

	for (size_t i = 0; i < b->cnt; i++) {
		if (b->objects[i].linkage) {
			linkage__definitions(b->objects[i].linkage, &cnt);
			total += cnt;
		}
	}
	for (b->table_size = 16; b->table_size < 2 * total; b->table_size *= 2)
		;
	b->table = calloc(b->table_size, sizeof(*b->table));
	if (!b->table)
		return -ENOMEM;
	for (size_t i = 0; i < b->cnt; i++) {
		const struct linkage_definition *defs;

		cnt = 0;
		defs = b->objects[i].linkage ? linkage__definitions(b->objects[i].linkage, &cnt)
					     : NULL;
		for (size_t k = 0; k < cnt; k++) {
			struct definition *place = place_of(b, defs[k].name);

			if (!place->name)
				*place = (struct definition){defs[k].name, defs[k].vaddr, i, false};
			else if (!b->objects[i].is_libc || !b->objects[place->object].is_libc)
				place->several = true;
		}
	}
	return 0;
}

static bool is_called(const struct bindings_object *obj, const char *name)
{
	return !strcmp(obj->soname[0] ? obj->soname : path_base(obj->path), name);
}

/* Marks what the object needs; appends what is new to `work`. */
static void mark_needed(struct bindings *b, uint32_t index, uint32_t *work, size_t *work_cnt)
{
	const char *const *needed;
	size_t cnt;

	needed = linkage__needed(b->objects[index].linkage, &cnt);
	for (size_t i = 0; i < b->cnt; i++) {
		for (size_t k = 0; !b->early[i] && b->objects[i].linkage && k < cnt; k++) {
			if (is_called(&b->objects[i], needed[k])) {
				b->early[i] = true;
				work[(*work_cnt)++] = i;
			}
		}
	}
}

/* Finds the one program and what it needs, directly or not. */
static int find_early(struct bindings *b)
{
	uint32_t *work = calloc(b->cnt + 1, sizeof(*work));
	size_t work_cnt = 0;

	if (!work)
		return -ENOMEM;
	for (size_t i = 0; i < b->cnt; i++) {
		if (b->objects[i].linkage && linkage__is_program(b->objects[i].linkage))
			work[work_cnt++] = i;
	}
	/* A library that audits the dynamic linker may change any binding. */
	if (work_cnt != 1 || place_of(b, "la_version")->name)
		work_cnt = 0;
	else
		b->early[work[0]] = true;
	for (size_t i = 0; i < work_cnt; i++)
		mark_needed(b, work[i], work, &work_cnt);
	free(work);
	return 0;
}

int bindings__new(const struct bindings_object *objects, size_t cnt, struct bindings **out)
{
	struct bindings *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->objects = objects;
	b->cnt = cnt;
	b->early = calloc(cnt + 1, sizeof(*b->early));
	if (!b->early || read_definitions(b) || find_early(b)) {
		bindings__free(b);
		return -ENOMEM;
	}
	*out = b;
	return 0;
}

void bindings__free(struct bindings *b)
{
	if (!b)
		return;
	free(b->early);
	free(b->table);
	free(b);
}

enum binding bindings__of(const struct bindings *b, uint32_t from, const char *name,
			  uint32_t *object, uint64_t *vaddr)
{
	const struct definition *def = place_of(b, name);

	if (!def->name || def->several || !b->early[from] || !b->early[def->object])
		return BINDING_UNKNOWN;
	if (b->objects[def->object].is_libc)
		return BINDING_LIBC;
	*object = def->object;
	*vaddr = def->vaddr;
	return BINDING_OBJECT;
}
