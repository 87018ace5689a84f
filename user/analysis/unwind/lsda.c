// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exception tables. What they mean is what libstdc++'s __gxx_personality_v0 makes of them
 * (libsupc++/eh_personality.cc; libc++abi does the same): the list is searched in order, a call
 * that it does not hold ends the program, a chain of actions is tried one by one, and a null type
 * catches everything.
 */
#include <errno.h>
#include <stdlib.h>

#include "elf/dwarf_cursor.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "unwind/eh_frame.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_SIZE    (1u << 20) /* of one table */
#define MAX_HEAD    32	       /* of what precedes the call sites */
#define MAX_ACTIONS 64	       /* of one call */

struct lsda_tables {
	uint64_t sites_at, sites_end; /* from the table's start; actions follow */
	uint64_t types_at;	      /* the table of types grows down from here; 0: none */
	uint64_t pads_base;
	uint8_t sites_encoding, types_encoding;
	bool absolute;
	const uint8_t *bytes;
};

/* Reads what precedes the call sites. Returns how many bytes of the table matter, 0 if damaged. */
static uint64_t read_head(struct dwarf_cursor *c, const struct eh_range *range,
			  struct lsda_tables *t)
{
	const uint8_t *begin = c->at;
	uint64_t len;
	uint8_t encoding;

	encoding = dwarf_fixed(c, 1);
	t->pads_base = encoding == EH_PE_OMIT ? range->start : dwarf_pointer(c, encoding);
	t->types_encoding = dwarf_fixed(c, 1);
	if (t->types_encoding != EH_PE_OMIT) {
		t->types_at = dwarf_uleb128(c);
		if (t->types_at > MAX_SIZE)
			return 0;
		t->types_at += c->at - begin;
	}
	t->sites_encoding = dwarf_fixed(c, 1);
	len = dwarf_uleb128(c);
	t->sites_at = c->at - begin;
	t->sites_end = t->sites_at + len;
	if (c->bad || len > MAX_SIZE || (t->sites_encoding & ~EH_PE_FORMAT) ||
	    (t->types_at && t->types_at < t->sites_end))
		return 0;
	return t->types_at ? t->types_at : t->sites_end;
}

/* Whether type number `filter`, counted from 1, is null. */
static bool is_null_type(const struct lsda_tables *t, uint64_t filter)
{
	size_t size = dwarf_encoded_size(t->types_encoding);
	uint64_t raw = 0;

	/* In what is relocated, a 0 in the file need not be one in memory, unless it is relative.
	 */
	if (!size || ((t->types_encoding & EH_PE_BASE) != EH_PE_PCREL && !t->absolute) ||
	    filter > (t->types_at - t->sites_end) / size)
		return false;
	memcpy(&raw, t->bytes + t->types_at - filter * size, size);
	return raw == 0;
}

/* Whether the chain of actions that begins at `first`, counted from 1, catches everything. */
static bool catches_all(const struct lsda_tables *t, uint64_t first)
{
	int64_t len = t->types_at - t->sites_end;
	int64_t at = first - 1;

	if (!first || !t->types_at || first > (uint64_t)len)
		return false;
	for (int i = 0; i < MAX_ACTIONS && at >= 0 && at < len; i++) {
		struct dwarf_cursor c = {.at = t->bytes + t->sites_end + at,
					 .end = t->bytes + t->types_at};
		int64_t filter, next;

		filter = dwarf_sleb128(&c);
		at = c.at - t->bytes - t->sites_end;
		next = dwarf_sleb128(&c);
		if (c.bad || next > len || next < -len)
			return false;
		if (filter > 0 && is_null_type(t, filter))
			return true;
		if (!next)
			return false;
		at += next;
	}
	return false;
}

static int read_sites(const struct lsda_tables *t, const struct eh_range *range, struct lsda *out)
{
	uint64_t size = range->end - range->start, behind = 0;
	struct dwarf_cursor c = {.at = t->bytes + t->sites_at, .end = t->bytes + t->sites_end};

	while (c.at < c.end) {
		uint64_t start = dwarf_encoded_raw(&c, t->sites_encoding);
		uint64_t len = dwarf_encoded_raw(&c, t->sites_encoding);
		uint64_t pad = dwarf_encoded_raw(&c, t->sites_encoding);
		uint64_t action = dwarf_uleb128(&c);

		/* The search ends early: only what is in order means the same to everybody. */
		if (c.bad || start < behind || start > size || len > size - start)
			return -ENOEXEC;
		behind = start + len;
		if (ARRAY_RESERVE(&out->sites, out->cnt, &out->cap))
			return -ENOMEM;
		out->sites[out->cnt++] = (struct lsda_site){
			.start = range->start + start,
			.end = range->start + behind,
			.pad = pad ? t->pads_base + pad : 0,
			.catches = pad && catches_all(t, action),
		};
	}
	return 0;
}

int lsda__read(const struct elf_image *img, const struct eh_range *range, uint64_t *budget,
	       struct lsda *out)
{
	uint8_t head[MAX_HEAD];
	struct lsda_tables t = {.absolute = elf_image__is_fixed(img)};
	struct dwarf_cursor c = {.at = head, .vaddr = range->lsda, .absolute = t.absolute};
	uint64_t offset, size;
	int64_t got;
	void *block;
	int err;

	out->cnt = 0;
	if (!range->lsda)
		return -ENOENT;
	if (!elf_image__offset(img, range->lsda, &offset))
		return -ENOEXEC;
	got = elf_image__read(img, offset, head, sizeof(head));
	c.end = head + (got < 0 ? 0 : got);
	size = read_head(&c, range, &t);
	if (!size || size > *budget)
		return -ENOEXEC;
	*budget -= size;
	err = elf_image__read_block(img, offset, size, 3 * MAX_SIZE, &block);
	if (err)
		return err;
	t.bytes = block;
	err = read_sites(&t, range, out);
	if (err)
		out->cnt = 0;
	free(block);
	return err;
}

enum lsda_fate lsda__fate(const struct lsda *lsda, uint64_t vaddr)
{
	size_t lo = LOWER_BOUND(lsda->cnt, i, lsda->sites[i].end <= vaddr);

	if (lo == lsda->cnt || vaddr < lsda->sites[lo].start)
		return LSDA_ENDS;
	return lsda->sites[lo].catches ? LSDA_CAUGHT : LSDA_PASSES;
}

uint64_t lsda__landing(const struct lsda *lsda, uint64_t vaddr)
{
	size_t lo = LOWER_BOUND(lsda->cnt, i, lsda->sites[i].end <= vaddr);

	return lo < lsda->cnt && vaddr >= lsda->sites[lo].start ? lsda->sites[lo].pad : 0;
}
