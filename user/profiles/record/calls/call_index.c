// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/calls/call_index.h"

#include <errno.h>
#include <stdlib.h>

#include "record/calls/call_block.h"
#include "record/format/layout.h"
#include "util/array.h"

static void note(struct call_index *x, uint64_t at, const struct segment_row *rows, size_t cnt)
{
	uint32_t first = 0;

	for (size_t i = 0; i < cnt; i++) {
		x->segments[x->segments_cnt++] = (struct indexed_segment){
			.block = x->blocks_cnt,
			.callstack = rows[i].callstack,
			.first = first,
			.cnt = rows[i].cnt,
		};
		first += rows[i].cnt;
	}
	x->blocks[x->blocks_cnt++] = at;
	x->calls += first;
}

int call_index__add(struct call_index *x, uint64_t at, const uint8_t *data, size_t len,
		    uint64_t segments_max)
{
	struct segment_row *rows;
	uint32_t last_path;
	size_t cnt;
	int err = decode__segments(data, len, &rows, &cnt, &last_path);

	if (err)
		return err;
	if (x->blocks_cnt == UINT32_MAX || x->segments_cnt + cnt > segments_max)
		err = -EINVAL;
	else if (ARRAY_RESERVE(&x->blocks, x->blocks_cnt, &x->blocks_cap) ||
		 ARRAY_RESERVE_MORE(&x->segments, x->segments_cnt, cnt, &x->segments_cap))
		err = -ENOMEM;
	else
		note(x, at, rows, cnt);
	if (!err && last_path > x->last_path)
		x->last_path = last_path;
	free(rows);
	return err;
}

struct content *call_index__add_names(struct call_index *x)
{
	if (ARRAY_RESERVE(&x->names, x->names_cnt, &x->names_cap))
		return NULL;
	return &x->names[x->names_cnt++];
}

struct content *call_index__add_waits(struct call_index *x)
{
	if (ARRAY_RESERVE(&x->waits, x->waits_cnt, &x->waits_cap))
		return NULL;
	return &x->waits[x->waits_cnt++];
}

void call_index__fini(struct call_index *x)
{
	free(x->waits);
	free(x->blocks);
	free(x->segments);
	free(x->names);
	*x = (struct call_index){0};
}
