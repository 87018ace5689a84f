// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "diff/diff.h"

struct ranked {
	const struct diff_figures *figures;
	enum diff_order order;
};

static uint64_t size_of(int64_t change)
{
	return change < 0 ? -(uint64_t)change : (uint64_t)change;
}

static bool is_noise(const struct ranked *r, uint32_t row)
{
	const struct diff_figures *f = &r->figures[row];

	return r->order == DIFF_BY_CALLS ? f->calls_noise : f->self.noise;
}

static uint64_t amount(const struct ranked *r, uint32_t row)
{
	const struct diff_figures *f = &r->figures[row];

	return size_of(r->order == DIFF_BY_CALLS ? f->calls : f->self.ns);
}

static int compare_rows(const void *a, const void *b, void *ranked)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct ranked *r = ranked;
	uint64_t x_amount = amount(r, x), y_amount = amount(r, y);

	if (is_noise(r, x) != is_noise(r, y))
		return is_noise(r, x) ? 1 : -1;
	if (x_amount != y_amount)
		return x_amount > y_amount ? -1 : 1;
	x_amount = size_of(r->figures[x].total.ns);
	y_amount = size_of(r->figures[y].total.ns);
	if (x_amount != y_amount)
		return x_amount > y_amount ? -1 : 1;
	return x < y ? -1 : x > y;
}

int diff__rank(const struct diff_figures *figures, size_t first, size_t cnt, enum diff_order order,
	       struct diff_ranking *out)
{
	struct ranked r = {figures, order};

	*out = (struct diff_ranking){.rows = calloc(cnt + 1, sizeof(*out->rows))};
	if (!out->rows)
		return -ENOMEM;
	for (size_t i = first; i < cnt; i++) {
		if (figures[i].hidden)
			continue;
		out->rows[out->cnt++] = i;
		out->changed += !is_noise(&r, i);
	}
	qsort_r(out->rows, out->cnt, sizeof(*out->rows), compare_rows, &r);
	return 0;
}
