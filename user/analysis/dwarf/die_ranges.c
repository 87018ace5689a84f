// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf/die_ranges.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"
#include "util/search.h"

static int range_order(const void *a, const void *b)
{
	const struct die_range *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->die < y->die ? -1 : x->die > y->die;
}

void die_ranges__sort(struct die_ranges *r)
{
	if (r->cnt)
		qsort(r->items, r->cnt, sizeof(*r->items), range_order);
}

const struct die_range *die_ranges__at(const struct die_ranges *r, uint64_t vaddr)
{
	size_t at = LOWER_BOUND(r->cnt, i, r->items[i].begin <= vaddr);

	return at && vaddr < r->items[at - 1].end ? &r->items[at - 1] : NULL;
}

int die_ranges__insert(struct die_ranges *r, struct die_range range)
{
	if (r->cnt == DIE_RANGES_MAX)
		return 0;
	if (ARRAY_RESERVE(&r->items, r->cnt, &r->cap))
		return -ENOMEM;
	r->items[r->cnt++] = range;
	return 0;
}

int die_ranges__add(struct die_ranges *r, Dwarf_Die *die, uint32_t unit, uint32_t limit)
{
	Dwarf_Addr base, begin, end;
	ptrdiff_t at = 0;
	int err = 0;

	for (uint32_t i = 0; i < limit && r->cnt < DIE_RANGES_MAX && !err; i++) {
		at = dwarf_ranges(die, at, &base, &begin, &end);
		if (at <= 0)
			break;
		if (begin < end)
			err = die_ranges__insert(
				r, (struct die_range){begin, end, dwarf_dieoffset(die), unit});
	}
	return err;
}
