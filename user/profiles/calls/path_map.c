// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/path_map.h"

#include <errno.h>
#include <stdlib.h>

int path_map__init(struct path_map *m, size_t cnt)
{
	size_t size = 16;

	while (size < cnt + cnt / 2)
		size *= 2;
	m->slots = calloc(size, sizeof(*m->slots));
	m->mask = size - 1;
	return m->slots ? 0 : -ENOMEM;
}

void path_map__fini(struct path_map *m)
{
	free(m->slots);
	m->slots = NULL;
}

/* Multipliers and shifts: the finalizer of MurmurHash3. */
static uint64_t hash(struct path_step s)
{
	uint64_t h = ((uint64_t)s.parent << 32 | s.function) ^ (uint64_t)s.thread << 20;

	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ULL;
	return h ^ h >> 33;
}

uint32_t *path_map__at(struct path_map *m, struct path_step step)
{
	size_t i = hash(step) & m->mask;
	struct path_slot *slot;

	for (;; i = (i + 1) & m->mask) {
		slot = &m->slots[i];
		if (!slot->node)
			break;
		if (slot->step.parent == step.parent && slot->step.thread == step.thread &&
		    slot->step.function == step.function)
			return &slot->node;
	}
	slot->step = step;
	return &slot->node;
}
