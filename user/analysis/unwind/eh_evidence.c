// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function is called or its address is taken; a cold piece is jumped to, jumps back into the
 * middle of its function, or a switch leads there.
 */
#include "unwind/eh_evidence.h"

#include <errno.h>
#include <stdlib.h>

#include "elf/elf_image.h"
#include "unwind/eh_frame.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_OUTSIDE (4u << 20)

size_t eh_evidence__first_behind(const struct eh_evidence *ev, uint64_t vaddr)
{
	size_t block, from;

	if (!ev->cnt || vaddr < ev->ranges[0].start)
		return 0;
	block = (vaddr - ev->ranges[0].start) >> ev->block_bits;
	if (block >= ev->blocks_cnt)
		return ev->cnt;
	from = ev->blocks[block];
	return from +
	       LOWER_BOUND(ev->blocks[block + 1] - from, i, ev->ranges[from + i].end <= vaddr);
}

/* A large file's calls lead anywhere, and each step of a search is a line that no cache has: there
 * are about as many blocks as ranges, so few steps are left. Returns 0 or -ENOMEM. */
static int find_blocks(struct eh_evidence *ev)
{
	uint64_t first = ev->cnt ? ev->ranges[0].start : 0;
	uint64_t size = ev->cnt ? ev->ranges[ev->cnt - 1].end - first : 0;
	size_t range = 0;

	while (size >> ev->block_bits > ev->cnt)
		ev->block_bits++;
	ev->blocks_cnt = ev->cnt ? (size >> ev->block_bits) + 1 : 0;
	ev->blocks = calloc(ev->blocks_cnt + 1, sizeof(*ev->blocks));
	if (!ev->blocks)
		return -ENOMEM;
	for (size_t i = 0; i <= ev->blocks_cnt; i++) {
		/* Relative to the first, as the last block may end behind all addresses. */
		while (range < ev->cnt && (ev->ranges[range].end - first) >> ev->block_bits < i)
			range++;
		ev->blocks[i] = range;
	}
	return 0;
}

uint32_t eh_evidence__at(const struct eh_evidence *ev, uint64_t vaddr)
{
	size_t lo;

	/* Most branches stay in the range that is being read. */
	if (ev->current < ev->cnt && vaddr >= ev->ranges[ev->current].start &&
	    vaddr < ev->ranges[ev->current].end)
		return ev->current;
	lo = eh_evidence__first_behind(ev, vaddr);
	return lo < ev->cnt && ev->ranges[lo].start <= vaddr ? lo : EH_NOBODY;
}

static uint32_t group_of(struct eh_start *starts, uint32_t i)
{
	while (starts[i].group != i) {
		starts[i].group = starts[starts[i].group].group;
		i = starts[i].group;
	}
	return i;
}

void eh_evidence__join(struct eh_evidence *ev, uint32_t a, uint32_t b)
{
	ev->starts[a].shares = ev->starts[b].shares = true;
	ev->starts[group_of(ev->starts, a)].group = group_of(ev->starts, b);
}

void eh_evidence__note_jump(struct eh_evidence *ev, uint32_t from, uint32_t to)
{
	struct eh_start *start = &ev->starts[to];

	if (from == to)
		return;
	if (start->jumper == EH_NOBODY)
		start->jumper = from;
	else
		start->jumped_more |= start->jumper != from;
}

void eh_evidence__note_switch(struct eh_evidence *ev, uint32_t from, uint32_t to)
{
	struct eh_start *start = &ev->starts[to];

	if (from == to)
		return;
	start->switcher = start->switched && start->switcher != from ? EH_NOBODY : from;
	start->switched = true;
}

int eh_evidence__add_outside(struct eh_evidence *ev, uint64_t vaddr)
{
	uint64_t offset;

	if (ev->outside_cnt >= MAX_OUTSIDE || eh_evidence__at(ev, vaddr) != EH_NOBODY ||
	    !elf_image__exec_offset(ev->img, vaddr, 1, &offset))
		return 0;
	if (ARRAY_RESERVE(&ev->outside, ev->outside_cnt, &ev->outside_cap))
		return -ENOMEM;
	ev->outside[ev->outside_cnt++] = vaddr;
	return 0;
}

/* Makes room for evidence about `ev->cnt` ranges. Returns 0 or -ENOMEM. */
static int make_starts(struct eh_evidence *ev)
{
	ev->starts = calloc(ev->cnt + 1, sizeof(*ev->starts));
	if (!ev->starts)
		return -ENOMEM;
	for (size_t i = 0; i < ev->cnt; i++) {
		ev->starts[i].jumper = ev->starts[i].switcher = EH_NOBODY;
		ev->starts[i].group = i;
	}
	return 0;
}

int eh_evidence__like(const struct eh_evidence *ev, struct eh_evidence *out)
{
	*out = *ev;
	out->outside = NULL;
	out->outside_cnt = out->outside_cap = 0;
	if (make_starts(out))
		return -ENOMEM;
	for (size_t i = 0; i < ev->cnt; i++)
		out->starts[i].stubs = ev->starts[i].stubs;
	return 0;
}

/* Adds to what is known of range `i` what `more` knows of it. */
static void add_start(struct eh_evidence *ev, uint32_t i, const struct eh_start *more)
{
	struct eh_start *start = &ev->starts[i];

	start->called |= more->called;
	start->taken |= more->taken;
	start->jumped_always |= more->jumped_always;
	start->jumped_more |= more->jumped_more;
	if (more->jumper != EH_NOBODY)
		eh_evidence__note_jump(ev, more->jumper, i);
	if (more->switched)
		eh_evidence__note_switch(ev, more->switcher, i);
}

int eh_evidence__add(struct eh_evidence *ev, struct eh_evidence *more)
{
	for (size_t i = 0; i < ev->cnt; i++) {
		uint32_t group = group_of(more->starts, i);

		add_start(ev, i, &more->starts[i]);
		if (group != i)
			eh_evidence__join(ev, i, group);
	}
	for (size_t i = 0; i < more->outside_cnt; i++) {
		if (eh_evidence__add_outside(ev, more->outside[i]))
			return -ENOMEM;
	}
	return 0;
}

int eh_evidence__init(struct eh_evidence *ev, const struct elf_image *img,
		      const struct eh_range *ranges, size_t cnt)
{
	*ev = (struct eh_evidence){.img = img, .ranges = ranges, .cnt = cnt};
	return make_starts(ev) || find_blocks(ev) ? -ENOMEM : 0;
}

void eh_evidence__settle(struct eh_evidence *ev)
{
	for (size_t i = 0; i < ev->cnt; i++)
		ev->starts[i].group = group_of(ev->starts, i);
}

void eh_evidence__clear(struct eh_evidence *ev)
{
	free(ev->starts);
	free(ev->outside);
	free(ev->blocks);
}
