// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/format/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "util/array.h"

int memory__keep(struct memory *m, void *p)
{
	if (p && !ARRAY_RESERVE(&m->items, m->cnt, &m->cap)) {
		m->items[m->cnt++] = p;
		return 0;
	}
	free(p);
	return -ENOMEM;
}

void memory__free(struct memory *m)
{
	while (m->cnt)
		free(m->items[--m->cnt]);
	free(m->items);
	*m = (struct memory){0};
}
