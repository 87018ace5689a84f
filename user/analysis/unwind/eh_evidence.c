// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function is called or its address is taken; a cold piece is jumped to, jumps back into the
 * middle of its function, or a switch leads there. Code is read range by range, which is exact but
 * for data in hand-written code; data is read word by word, and a word that is a function's address
 * by chance is rarer than one that is.
 */
#include "unwind/eh_evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/elf_reloc.h"
#include "elf/elf_window.h"
#include "unwind/eh_frame.h"
#include "util/array.h"
#include "util/prefix_memo.h"
#include "util/search.h"

#define MAX_RANGE_SIZE (16u << 20)
#define MAX_CODE       (512u << 20) /* bytes read of all ranges */
#define MAX_DATA       (256u << 20) /* ... of all data */
#define MAX_OUTSIDE    (4u << 20)
#define TABLE_ENTRIES  1024 /* of one jump table, at most */
#define PAGE_SIZE      4096
#define PAGES	       1024 /* that are kept */

/* What may be jump tables lies close together, and most of it is looked at often. */
struct eh_page {
	uint64_t start; /* vaddr; 1: none */
	bool whole;	/* all of its bytes are in the file, in one segment */
	uint8_t bytes[PAGE_SIZE];
};

/* The first range that ends behind `vaddr`, or the number of ranges. */
static size_t first_behind(const struct eh_evidence *ev, uint64_t vaddr)
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
	lo = first_behind(ev, vaddr);
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

static void join(struct eh_evidence *ev, uint32_t a, uint32_t b)
{
	ev->starts[a].shares = ev->starts[b].shares = true;
	ev->starts[group_of(ev->starts, a)].group = group_of(ev->starts, b);
}

static void note_jump(struct eh_evidence *ev, uint32_t from, uint32_t to)
{
	struct eh_start *start = &ev->starts[to];

	if (from == to)
		return;
	if (start->jumper == EH_NOBODY)
		start->jumper = from;
	else
		start->jumped_more |= start->jumper != from;
}

/* Notes that a switch in range `from`, if that is known, leads to the start of `to`. */
static void note_switch(struct eh_evidence *ev, uint32_t from, uint32_t to)
{
	struct eh_start *start = &ev->starts[to];

	if (from == to)
		return;
	start->switcher = start->switched && start->switcher != from ? EH_NOBODY : from;
	start->switched = true;
}

static bool read_entry(struct eh_evidence *ev, uint64_t vaddr, int32_t *entry)
{
	uint64_t start = vaddr & ~(uint64_t)(PAGE_SIZE - 1);
	struct eh_page *page = &ev->pages[start / PAGE_SIZE % PAGES];

	if (page->start != start) {
		page->start = start;
		page->whole = elf_image__read_vaddr(ev->img, start, page->bytes, PAGE_SIZE);
	}
	if (!page->whole || vaddr - start > PAGE_SIZE - sizeof(*entry))
		return elf_image__read_vaddr(ev->img, vaddr, entry, sizeof(*entry));
	memcpy(entry, page->bytes + (vaddr - start), sizeof(*entry));
	return true;
}

/*
 * A table of distances from itself, if it leads into the range that mentions it: what else does it
 * lead to? Where it ends is not known, so only starts of ranges count.
 */
static void read_table(struct eh_evidence *ev, uint64_t vaddr)
{
	uint32_t leads[TABLE_ENTRIES], leads_cnt = 0;
	bool own = false;

	for (size_t i = 0; i < TABLE_ENTRIES; i++) {
		int32_t entry;
		uint32_t at;

		if (!read_entry(ev, vaddr + i * sizeof(entry), &entry))
			break;
		at = eh_evidence__at(ev, vaddr + entry);
		if (at == EH_NOBODY)
			break;
		own |= at == ev->current;
		if (vaddr + entry == ev->ranges[at].start)
			leads[leads_cnt++] = at;
	}
	for (size_t i = 0; own && i < leads_cnt; i++)
		note_switch(ev, ev->current, leads[i]);
}

/* Whether `vaddr`, in no range, lies directly beside the current one. */
static bool is_beside(const struct eh_evidence *ev, uint64_t vaddr)
{
	size_t behind = first_behind(ev, vaddr);

	return behind == ev->current || behind == ev->current + 1;
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

/* A code_ref_visitor. */
static int visit(void *ctx, const struct code_ref *ref)
{
	struct eh_evidence *ev = ctx;
	uint32_t at = eh_evidence__at(ev, ref->to);
	bool is_start = at != EH_NOBODY && ref->to == ev->ranges[at].start;

	switch (ref->kind) {
	case REF_CALL:
		if (is_start)
			ev->starts[at].called = true;
		return at == EH_NOBODY && !is_beside(ev, ref->to)
			       ? eh_evidence__add_outside(ev, ref->to)
			       : 0;
	case REF_JUMP:
	case REF_BRANCH:
		if (is_start) {
			note_jump(ev, ev->current, at);
			ev->starts[at].jumped_always |= ref->kind == REF_JUMP;
		} else if (at != EH_NOBODY && at != ev->current && !ev->starts[at].stubs) {
			/* A tail call of an import leads into the midst of the stubs; linkers that
			 * describe these put them before the code. */
			join(ev, at, ev->current);
		}
		return 0;
	case REF_ADDRESS:
		if (is_start)
			ev->starts[at].taken = true;
		else if (at == EH_NOBODY)
			read_table(ev, ref->to);
		return 0;
	default:
		return 0;
	}
}

static int read_code(struct eh_evidence *ev)
{
	const struct arch *arch = elf_image__arch(ev->img);
	struct prefix_memo *plain = calloc(1, sizeof(*plain)); /* without memory none */
	struct elf_window window = {0};
	uint64_t left = MAX_CODE;
	int err = 0;

	for (size_t i = 0; err != -ENOMEM && i < ev->cnt; i++) {
		const struct eh_range *r = &ev->ranges[i];
		uint64_t size = r->end - r->start, offset;
		const uint8_t *bytes;

		if (size > MAX_RANGE_SIZE || size > left ||
		    !elf_image__exec_offset(ev->img, r->start, size, &offset))
			continue;
		left -= size;
		err = elf_window__at(&window, ev->img, offset, size, &bytes);
		if (err)
			continue;
		ev->current = i;
		ev->starts[i].stubs = arch->is_stubs(bytes, size);
		err = arch->visit_refs(plain, bytes, size, r->start, visit, ev);
	}
	free(plain);
	elf_window__clear(&window);
	return err == -ENOMEM ? err : 0;
}

/* The range that the first word from `i` on, by `step`, leads into the middle of, if it differs
 * from word `i`; or EH_NOBODY. */
static uint32_t middle_beside(const struct eh_evidence *ev, const uint64_t *words, size_t cnt,
			      size_t i, size_t step)
{
	uint64_t word = words[i];
	uint32_t at;

	for (size_t n = 0; n < TABLE_ENTRIES && i < cnt && words[i] == word; n++)
		i += step;
	at = i < cnt ? eh_evidence__at(ev, words[i]) : EH_NOBODY;
	return at != EH_NOBODY && words[i] != ev->ranges[at].start ? at : EH_NOBODY;
}

/* Pointers to starts. One among pointers into a function is a switch's. */
static void read_words(struct eh_evidence *ev, const uint64_t *words, size_t cnt)
{
	uint64_t first = ev->cnt ? ev->ranges[0].start : 0;
	uint64_t size = ev->cnt ? ev->ranges[ev->cnt - 1].end - first : 0;

	for (size_t i = 0; i < cnt; i++) {
		uint32_t at, before, behind;

		/* Most words are no addresses. */
		if (words[i] - first >= size)
			continue;
		at = eh_evidence__at(ev, words[i]);
		if (at == EH_NOBODY || words[i] != ev->ranges[at].start)
			continue;
		before = middle_beside(ev, words, cnt, i, -1);
		behind = middle_beside(ev, words, cnt, i, 1);
		if (before == EH_NOBODY && behind == EH_NOBODY)
			ev->starts[at].taken = true;
		else if (before == behind || behind == EH_NOBODY)
			note_switch(ev, before, at);
		else
			note_switch(ev, before == EH_NOBODY ? behind : EH_NOBODY, at);
	}
}

static int read_data(struct eh_evidence *ev)
{
	const struct elf_segment *seg;
	uint64_t left = MAX_DATA;
	size_t cnt;

	seg = elf_image__segments(ev->img, &cnt);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t skip = -seg[i].vaddr & 7;
		uint64_t size = seg[i].filesz;
		void *bytes;
		int err;

		/* Constants may lie beside code. */
		if (size <= skip || size > left)
			continue;
		left -= size;
		err = elf_image__read_block(ev->img, seg[i].offset + skip, size - skip, MAX_DATA,
					    &bytes);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		elf_reloc__apply(ev->img, seg[i].vaddr + skip, bytes, size - skip);
		read_words(ev, bytes, (size - skip) / sizeof(uint64_t));
		free(bytes);
	}
	return 0;
}

int eh_evidence__gather(struct eh_evidence *ev, const struct elf_image *img,
			const struct eh_range *ranges, size_t cnt)
{
	int err;

	*ev = (struct eh_evidence){.img = img, .ranges = ranges, .cnt = cnt};
	ev->starts = calloc(cnt + 1, sizeof(*ev->starts));
	ev->pages = calloc(PAGES, sizeof(*ev->pages));
	if (!ev->starts || !ev->pages || find_blocks(ev))
		return -ENOMEM;
	for (size_t i = 0; i < PAGES; i++)
		ev->pages[i].start = 1;
	for (size_t i = 0; i < cnt; i++) {
		ev->starts[i].jumper = ev->starts[i].switcher = EH_NOBODY;
		ev->starts[i].group = i;
	}
	err = read_code(ev);
	free(ev->pages);
	ev->pages = NULL;
	if (!err)
		err = read_data(ev);
	for (size_t i = 0; i < cnt; i++)
		ev->starts[i].group = group_of(ev->starts, i);
	return err;
}

void eh_evidence__clear(struct eh_evidence *ev)
{
	free(ev->starts);
	free(ev->outside);
	free(ev->pages);
	free(ev->blocks);
}
