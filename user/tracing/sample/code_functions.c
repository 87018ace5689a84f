// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample/code_functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/array.h"

/* The place of an address, or the free one for it. */
static struct code_place_known *place_of(const struct code_functions *c, uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ull) >> 32;

	for (;; i++) {
		struct code_place_known *p = &c->places[i & (c->places_size - 1)];

		if (!p->address || p->address == address)
			return p;
	}
}

static int grow(struct code_functions *c)
{
	struct code_functions grown = *c;

	grown.places_size = c->places_size ? c->places_size * 2 : 1024;
	grown.places = calloc(grown.places_size, sizeof(*grown.places));
	if (!grown.places)
		return -ENOMEM;
	for (size_t i = 0; i < c->places_size; i++) {
		if (c->places[i].address)
			*place_of(&grown, c->places[i].address) = c->places[i];
	}
	free(c->places);
	*c = grown;
	return 0;
}

const uint32_t *code_functions__find(const struct code_functions *c, uint64_t address, size_t *cnt)
{
	const struct code_place_known *p = c->places_size ? place_of(c, address) : NULL;

	if (!p || !p->address)
		return NULL;
	*cnt = p->cnt;
	return &c->functions[p->first];
}

int code_functions__add(struct code_functions *c, uint64_t address, const uint32_t *functions,
			size_t cnt)
{
	if (c->places_size <= c->places_cnt * 2 && grow(c))
		return -ENOMEM;
	if (ARRAY_RESERVE_MORE(&c->functions, c->functions_cnt, cnt, &c->functions_cap))
		return -ENOMEM;
	memcpy(&c->functions[c->functions_cnt], functions, cnt * sizeof(*functions));
	*place_of(c, address) = (struct code_place_known){address, c->functions_cnt, cnt};
	c->functions_cnt += cnt;
	c->places_cnt++;
	return 0;
}

void code_functions__fini(struct code_functions *c)
{
	free(c->places);
	free(c->functions);
	*c = (struct code_functions){0};
}
