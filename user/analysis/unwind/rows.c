// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * FDEs come in any order, and a hostile file's may overlap. So their rows are gathered first, FDE
 * by FDE; then the FDEs are sorted, and those that overlap others are left out.
 */
#include "unwind/rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "unwind/eh_frame.h"
#include "unwind/go_rows.h"
#include "unwind/overlaps.h"
#include "util/array.h"
#include "wire.h"

/* libLLVM has a million. */
#define MAX_ROWS (1u << 24)

struct stretch {
	uint64_t start, end; /* first: see overlaps.h */
	size_t first, cnt;   /* of its rows */
};

struct gathered_row {
	uint64_t vaddr;
	uint32_t rule;
};

struct gathering {
	struct stretch *stretches;
	size_t stretches_cnt, stretches_cap;
	struct gathered_row *rows;
	size_t rows_cnt, rows_cap;
};

static uint32_t rule_of(const struct eh_row *row)
{
	static const uint8_t kinds[] = {
		[EH_RULE_UNKNOWN] = WIRE_UNWIND_NONE, [EH_RULE_RSP] = WIRE_UNWIND_RSP,
		[EH_RULE_RBP] = WIRE_UNWIND_RBP,      [EH_RULE_AT_RBP] = WIRE_UNWIND_AT_RBP,
		[EH_RULE_STUB] = WIRE_UNWIND_STUB,    [EH_RULE_SIGNAL] = WIRE_UNWIND_SIGNAL,
		[EH_RULE_END] = WIRE_UNWIND_END,      [EH_RULE_RBX] = WIRE_UNWIND_RBX,
	};
	int64_t words = row->cfa_offset / 8;
	uint32_t kind = kinds[row->rule];
	uint64_t saved = 0;

	switch (kind) {
	case WIRE_UNWIND_NONE:
	case WIRE_UNWIND_SIGNAL:
	case WIRE_UNWIND_END:
		return WIRE_UNWIND_RULE(kind, 0, 0);
	case WIRE_UNWIND_STUB:
		return WIRE_UNWIND_RULE(kind, row->cfa_offset, 0);
	case WIRE_UNWIND_AT_RBP:
		if (row->rbp != EH_RBP_AT_RBP || row->cfa_offset % 8 || words < INT16_MIN ||
		    words > INT16_MAX)
			return WIRE_UNWIND_NONE;
		return WIRE_UNWIND_RULE(kind, words, 0);
	default:
		break;
	}
	if (row->rbp == EH_RBP_SAVED)
		saved = row->rbp_offset / 8;
	if ((row->rbp != EH_RBP_SAVED && row->rbp != EH_RBP_SAME) || row->cfa_offset % 8 ||
	    words <= 0 || words > WIRE_UNWIND_MAX_WORDS || row->rbp_offset % 8 ||
	    (row->rbp == EH_RBP_SAVED && (row->rbp_offset <= 0 || saved > WIRE_UNWIND_MAX_SAVED)))
		return WIRE_UNWIND_NONE;
	return WIRE_UNWIND_RULE(kind, words, saved);
}

static int on_range(uint64_t start, uint64_t end, void *ctx)
{
	struct gathering *g = ctx;

	if (ARRAY_RESERVE(&g->stretches, g->stretches_cnt, &g->stretches_cap))
		return -ENOMEM;
	g->stretches[g->stretches_cnt++] =
		(struct stretch){.start = start, .end = end, .first = g->rows_cnt};
	return 0;
}

static int on_row(const struct eh_row *row, void *ctx)
{
	struct stretch *s;
	struct gathering *g = ctx;
	uint32_t rule = rule_of(row);

	s = &g->stretches[g->stretches_cnt - 1];
	if (s->cnt && g->rows[g->rows_cnt - 1].rule == rule)
		return 0;
	if (g->rows_cnt == MAX_ROWS)
		return -E2BIG;
	if (ARRAY_RESERVE(&g->rows, g->rows_cnt, &g->rows_cap))
		return -ENOMEM;
	g->rows[g->rows_cnt++] = (struct gathered_row){row->vaddr, rule};
	s->cnt++;
	return 0;
}

static void put_row(struct unwind_rows *out, uint64_t vaddr, uint32_t rule)
{
	if (out->cnt && (out->rows[out->cnt - 1].rule & ~WIRE_UNWIND_BEGINS) == rule)
		return;
	out->rows[out->cnt++] = (struct wire_unwind_row){vaddr - out->base, rule};
}

/* All rows in order, with gaps between stretches that do not touch. */
static int put_in_order(const struct gathering *g, struct unwind_rows *out)
{
	const struct stretch *s = g->stretches;
	size_t cnt = g->stretches_cnt;

	if (!cnt)
		return -ENOENT;
	if (s[cnt - 1].end - s[0].start > UINT32_MAX)
		return -E2BIG;
	out->base = s[0].start;
	out->rows = calloc(g->rows_cnt + cnt, sizeof(*out->rows));
	if (!out->rows)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		for (size_t k = 0; k < s[i].cnt; k++)
			put_row(out, g->rows[s[i].first + k].vaddr,
				g->rows[s[i].first + k].rule | (k ? 0 : WIRE_UNWIND_BEGINS));
		if (i + 1 == cnt || s[i + 1].start != s[i].end)
			put_row(out, s[i].end, WIRE_UNWIND_NONE | WIRE_UNWIND_BEGINS);
	}
	return 0;
}

/* Go's code has no .eh_frame, but for that of C beside it. Returns 0, `without` if there is none of
 * Go's, or an error. */
static int add_go(const struct elf_image *img, const struct eh_row_visitor *visitor, int without)
{
	int err = go_rows__for_each(img, visitor);

	return err == -ENOENT || err == -ENOEXEC || err == -EIO ? without : err;
}

int unwind_rows__load(const struct elf_image *img, struct unwind_rows *out)
{
	struct gathering g = {0};
	const struct eh_row_visitor visitor = {on_range, on_row, &g};
	int err = eh_frame__for_each_row(img, &visitor);

	*out = (struct unwind_rows){0};
	if (!err || err == -ENOENT)
		err = add_go(img, &visitor, err);
	if (!err) {
		g.stretches_cnt =
			overlaps__drop(g.stretches, g.stretches_cnt, sizeof(*g.stretches));
		err = put_in_order(&g, out);
	}
	free(g.stretches);
	free(g.rows);
	return err;
}

void unwind_rows__free(struct unwind_rows *r)
{
	free(r->rows);
	*r = (struct unwind_rows){0};
}
