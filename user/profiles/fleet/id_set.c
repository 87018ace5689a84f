// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/id_set.h"

#include <stdlib.h>

#define SLOTS_FIRST 1024

/* Ids are hashes. */
static size_t find(const struct id_set *s, uint64_t id)
{
	size_t i = id & s->mask;

	while (s->slots[i] && s->slots[i] != id)
		i = (i + 1) & s->mask;
	return i;
}

bool id_set__has(const struct id_set *s, uint64_t id)
{
	return s->slots && s->slots[find(s, id)] == id;
}

static bool grow(struct id_set *s)
{
	size_t cnt = s->slots ? 2 * (s->mask + 1) : SLOTS_FIRST;
	struct id_set grown = {calloc(cnt, sizeof(*grown.slots)), cnt - 1, s->cnt};

	if (!grown.slots)
		return false;
	for (size_t i = 0; s->slots && i <= s->mask; i++)
		grown.slots[find(&grown, s->slots[i])] = s->slots[i];
	free(s->slots);
	*s = grown;
	return true;
}

void id_set__add(struct id_set *s, uint64_t id)
{
	size_t at;

	if (s->cnt >= ID_SET_MAX)
		id_set__clear(s);
	if ((!s->slots || 2 * s->cnt > s->mask) && !grow(s)) {
		id_set__clear(s);
		return;
	}
	at = find(s, id);
	s->cnt += !s->slots[at];
	s->slots[at] = id;
}

void id_set__clear(struct id_set *s)
{
	free(s->slots);
	*s = (struct id_set){0};
}
