// SPDX-License-Identifier: GPL-2.0-or-later
#include "top/state.h"

size_t state__scroll(struct top *t)
{
	size_t at = 0;

	for (size_t i = 0; i < t->rows.cnt; i++) {
		if (t->rows.items[i].id == t->selected)
			at = i;
	}
	if (at < t->scroll)
		t->scroll = at;
	if (at >= t->scroll + t->page)
		t->scroll = at - t->page + 1;
	if (t->scroll && t->scroll + t->page > t->rows.cnt)
		t->scroll = t->rows.cnt > t->page ? t->rows.cnt - t->page : 0;
	return at;
}
