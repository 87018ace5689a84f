// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls/line_order.h"
#include "calls/profile.h"

struct order {
	const struct profile *p;
	uint64_t *function_ns;
};

static bool is_of_block(const struct profile_line *a, const struct profile_line *b)
{
	return a->function == b->function && a->inlined == b->inlined && !strcmp(a->file, b->file);
}

/* Inlined calls come as they stand in their function: by the place of the outermost. */
static const struct profile_inline *outermost(const struct profile *p, uint32_t inlined)
{
	const struct profile_inline *call = &p->inlines[inlined - 1];

	while (call->parent)
		call = &p->inlines[call->parent - 1];
	return call;
}

static int inlined_order(const struct profile *p, uint32_t x, uint32_t y)
{
	if (x && y && x != y) {
		uint32_t a = outermost(p, x)->line, b = outermost(p, y)->line;

		if (a != b)
			return a < b ? -1 : 1;
	}
	return x < y ? -1 : x > y;
}

static int block_order(const void *a, const void *b, void *ctx)
{
	const struct profile_line *x = *(const struct profile_line *const *)a;
	const struct profile_line *y = *(const struct profile_line *const *)b;
	const struct order *o = ctx;
	int order;

	if (x->function != y->function) {
		uint64_t of_x = o->function_ns[x->function], of_y = o->function_ns[y->function];

		if (of_x != of_y)
			return of_x > of_y ? -1 : 1;
		return x->function < y->function ? -1 : 1;
	}
	order = inlined_order(o->p, x->inlined, y->inlined);
	if (!order)
		order = strcmp(x->file, y->file);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

static void make_blocks(struct line_blocks *b, size_t lines_cnt, const uint64_t *function_ns)
{
	for (size_t i = 0; i < lines_cnt; i++) {
		const struct profile_line *l = b->lines[i];
		struct line_block *last = b->cnt ? &b->items[b->cnt - 1] : NULL;

		if (last && is_of_block(last->lines[0], l)) {
			last->cnt++;
			continue;
		}
		b->items[b->cnt++] = (struct line_block){
			.function = l->function,
			.inlined = l->inlined,
			.file = l->file,
			.lines = &b->lines[i],
			.cnt = 1,
			.whole_ns = function_ns[l->function],
		};
	}
}

int line_blocks__make(const struct profile *p, struct line_blocks *out)
{
	struct order order = {p, calloc(p->functions_cnt + 1, sizeof(uint64_t))};
	size_t cnt = 0;

	*out = (struct line_blocks){
		.items = calloc(p->lines_cnt + 1, sizeof(*out->items)),
		.lines = calloc(p->lines_cnt + 1, sizeof(*out->lines)),
	};
	if (!order.function_ns || !out->items || !out->lines) {
		free(order.function_ns);
		line_blocks__clear(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->lines_cnt; i++) {
		if (p->functions[p->lines[i].function].hidden)
			continue;
		out->lines[cnt++] = &p->lines[i];
		order.function_ns[p->lines[i].function] += p->lines[i].ns;
	}
	qsort_r(out->lines, cnt, sizeof(*out->lines), block_order, &order);
	make_blocks(out, cnt, order.function_ns);
	free(order.function_ns);
	return 0;
}

void line_blocks__clear(struct line_blocks *b)
{
	free(b->items);
	free(b->lines);
	*b = (struct line_blocks){0};
}

/* By function: whether something of it has run. NULL: no memory. */
static bool *find_running(const struct profile *p)
{
	bool *runs = calloc(p->functions_cnt + 1, sizeof(*runs));

	for (size_t i = 0; runs && i < p->functions_cnt; i++)
		runs[i] = p->functions[i].stats.calls;
	for (size_t i = 0; runs && i < p->lines_cnt; i++)
		runs[p->lines[i].function] |= p->lines[i].hits || p->lines[i].ns;
	return runs;
}

/* Whether a part says how often the line ran, if there are others that do. */
static bool is_run(const struct profile_line *l, bool alone)
{
	return alone || !l->aside;
}

/* Sums up lines [first, first + cnt), which are one of source. Where a part of it runs and is not
 * counted, nothing is known of the whole. */
static struct line_sum sum_of(const struct profile *p, size_t first, size_t cnt, const bool *runs)
{
	struct line_sum sum = {.file = p->lines[first].file,
			       .line = p->lines[first].line,
			       .first = first,
			       .cnt = cnt};
	const char *missed = NULL, *reason = NULL;
	bool alone = true, counted = false;

	for (size_t i = first; i < first + cnt; i++)
		alone &= p->lines[i].aside;
	for (size_t i = first; i < first + cnt; i++) {
		const struct profile_line *l = &p->lines[i];

		sum.ns += l->ns;
		sum.error_ns += l->error_ns;
		if (!is_run(l, alone))
			continue;
		sum.hits += l->hits;
		sum.approximate |= l->approximate;
		counted |= !l->reason;
		reason = reason ? reason : l->reason;
		if (l->reason && runs[l->function])
			missed = l->reason;
	}
	sum.reason = missed ? missed : counted ? NULL : reason;
	return sum;
}

int line_sums__make(const struct profile *p, struct line_sums *out)
{
	bool *runs = find_running(p);

	*out = (struct line_sums){.items = calloc(p->lines_cnt + 1, sizeof(*out->items))};
	if (!runs || !out->items) {
		free(runs);
		line_sums__clear(out);
		return -ENOMEM;
	}
	for (size_t from = 0, to; from < p->lines_cnt; from = to) {
		for (to = from + 1;
		     to < p->lines_cnt && line_order__is_same(&p->lines[from], &p->lines[to]);)
			to++;
		out->items[out->cnt++] = sum_of(p, from, to - from, runs);
	}
	free(runs);
	return 0;
}

void line_sums__clear(struct line_sums *s)
{
	free(s->items);
	*s = (struct line_sums){0};
}
