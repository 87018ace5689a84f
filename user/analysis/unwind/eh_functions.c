// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compilers give each function a range in .eh_frame, but each of its cold pieces too, and linkers
 * give one to import stubs. A range that does not begin as a call leaves the stack is a piece. Of
 * the others, those that something calls or points to are functions; those that one function alone
 * jumps to may be pieces of it, and count as such, as a tail call's target has mostly other callers
 * as well. What nothing refers to is a function nobody uses, if it lies where compilers put those.
 *
 * Code in no range is a function if it is called directly: it reaches as far as its jumps do.
 */
#include "unwind/eh_functions.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "elf/elf_image.h"
#include "elf/elf_window.h"
#include "unwind/eh_calls.h"
#include "unwind/eh_code.h"
#include "unwind/eh_data.h"
#include "unwind/eh_evidence.h"
#include "unwind/eh_frame.h"
#include "util/array.h"
#include "util/search.h"

#define ALIGNMENT 16 /* of functions, where compilers optimise for speed */
#define AMBIGUOUS (EH_NOBODY - 1)
#define MAX_HOPS  4 /* from a piece to the piece that jumps to it, ... */

enum verdict {
	VERDICT_FUNCTION,
	VERDICT_PIECE,
	VERDICT_NEITHER, /* import stubs, and where a program or a thread begins */
};

struct finder {
	struct eh_evidence ev;
	uint8_t *verdicts; /* of the ranges */
	uint32_t *
		owners; /* by group: the range that is its only function, EH_NOBODY, or AMBIGUOUS */
	uint64_t *starts; /* of the ranges: where each one's code begins */
	struct elf_window window;
	struct eh_function *found;
	size_t cnt, cap;
};

static bool is_known(const uint64_t *known, size_t cnt, uint64_t vaddr)
{
	size_t lo = LOWER_BOUND(cnt, i, known[i] < vaddr);

	return lo < cnt && known[lo] == vaddr;
}

/*
 * Whether what only jumps lead to is another function, whose calls are tail calls: some are not
 * conditional, and it has several callers; or it has a piece of its own, as pieces have none; or it
 * stands where the assembler has aligned a function's start behind another's end. Pieces lie side
 * by side.
 */
static bool is_tail_called(const struct finder *f, size_t i)
{
	const struct eh_range *r = f->ev.ranges;
	const struct eh_start *s = &f->ev.starts[i];

	if (!s->jumped_always || s->jumped_more)
		return s->jumped_always;
	if (s->shares)
		return s->group != f->ev.starts[s->jumper].group;
	return !(r[i].start % ALIGNMENT) && i && r[i - 1].as_called &&
	       r[i].start - r[i - 1].end < ALIGNMENT && r[i].start != r[i - 1].end;
}

static enum verdict judge(const struct finder *f, size_t i, const uint64_t *known, size_t known_cnt)
{
	const struct eh_range *r = &f->ev.ranges[i];
	const struct eh_start *s = &f->ev.starts[i];

	if (is_known(known, known_cnt, r->start))
		return VERDICT_FUNCTION;
	if (s->stubs || r->start == elf_image__entry(f->ev.img))
		return VERDICT_NEITHER;
	if (!r->as_called)
		return VERDICT_PIECE;
	if (s->called || s->taken)
		return VERDICT_FUNCTION;
	if (s->switched)
		return VERDICT_PIECE;
	if (s->jumper != EH_NOBODY)
		return is_tail_called(f, i) ? VERDICT_FUNCTION : VERDICT_PIECE;
	return s->shares ? VERDICT_PIECE : VERDICT_FUNCTION;
}

/* Notes the range for its group's only function, or that it is not the only one. */
static void claim_group(struct finder *f, uint32_t i)
{
	uint32_t *owner = &f->owners[f->ev.starts[i].group];

	*owner = *owner == EH_NOBODY ? i : AMBIGUOUS;
}

static int judge_all(struct finder *f, const uint64_t *known, size_t known_cnt)
{
	size_t cnt = f->ev.cnt;

	f->verdicts = calloc(cnt + 1, sizeof(*f->verdicts));
	f->owners = calloc(cnt + 1, sizeof(*f->owners));
	if (!f->verdicts || !f->owners)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		f->owners[i] = EH_NOBODY;
	for (size_t i = 0; i < cnt; i++) {
		f->verdicts[i] = judge(f, i, known, known_cnt);
		if (f->verdicts[i] == VERDICT_FUNCTION)
			claim_group(f, i);
	}
	return 0;
}

/* The function that range `i` is a piece of, or EH_NOBODY. */
static uint32_t owner_of(const struct finder *f, uint32_t i)
{
	for (int hops = 0; hops < MAX_HOPS && i != EH_NOBODY; hops++) {
		const struct eh_start *s = &f->ev.starts[i];
		uint32_t owner = f->owners[s->group];

		if (f->verdicts[i] == VERDICT_FUNCTION)
			return i;
		if (owner < AMBIGUOUS)
			return owner;
		if (s->jumped_more)
			return EH_NOBODY;
		i = s->jumper != EH_NOBODY ? s->jumper : s->switcher;
	}
	return EH_NOBODY;
}

static int add(struct finder *f, uint64_t vaddr, uint64_t size)
{
	if (ARRAY_RESERVE(&f->found, f->cnt, &f->cap))
		return -ENOMEM;
	f->found[f->cnt++] = (struct eh_function){vaddr, size, EH_FUNCTION_NONE};
	return 0;
}

/* The begin of the range's code: some hand-written functions have a landing pad before it, of four
 * bytes on all architectures. */
static uint64_t start_of(struct finder *f, uint32_t i)
{
	const struct arch *arch = elf_image__arch(f->ev.img);
	uint64_t start = f->ev.ranges[i].start, offset;
	const size_t size = sizeof(arch->landing);
	const uint8_t *before;

	if (f->verdicts[i] == VERDICT_FUNCTION && start >= size &&
	    (!i || f->ev.ranges[i - 1].end <= start - size) &&
	    elf_image__exec_offset(f->ev.img, start - size, size, &offset) &&
	    !elf_window__at(&f->window, f->ev.img, offset, size, &before) &&
	    !memcmp(before, arch->landing, size))
		start -= size;
	return start;
}

/* Adds what the ranges are. */
static int add_ranges(struct finder *f)
{
	int err = 0;

	f->starts = calloc(f->ev.cnt + 1, sizeof(*f->starts));
	if (!f->starts)
		return -ENOMEM;
	for (size_t i = 0; !err && i < f->ev.cnt; i++) {
		f->starts[i] = start_of(f, i);
		if (f->verdicts[i] != VERDICT_NEITHER)
			err = add(f, f->starts[i], f->ev.ranges[i].end - f->starts[i]);
	}
	return err;
}

static int by_vaddr(const void *pa, const void *pb)
{
	const struct eh_function *a = pa, *b = pb;

	return (a->vaddr > b->vaddr) - (a->vaddr < b->vaddr);
}

static uint32_t index_at(const struct finder *f, uint64_t vaddr)
{
	return LOWER_BOUND(f->cnt, i, f->found[i].vaddr < vaddr);
}

/* Orders all, and has pieces point at their functions. */
static void finish(struct finder *f)
{
	if (f->cnt)
		qsort(f->found, f->cnt, sizeof(*f->found), by_vaddr);
	for (size_t i = 0; i < f->ev.cnt; i++) {
		uint32_t owner, at;

		if (f->verdicts[i] != VERDICT_PIECE)
			continue;
		owner = owner_of(f, i);
		at = index_at(f, f->ev.ranges[i].start);
		f->found[at].piece_of = owner == EH_NOBODY ? at : index_at(f, f->starts[owner]);
	}
}

/* An eh_call_visitor. */
static int add_outside(void *ctx, uint64_t vaddr, uint64_t size)
{
	return add(ctx, vaddr, size);
}

int eh_functions__find(const struct elf_image *img, const uint64_t *known, size_t known_cnt,
		       struct eh_function **out, size_t *cnt)
{
	struct finder f = {0};
	struct eh_frame *eh = NULL;
	const struct eh_range *ranges = NULL;
	size_t ranges_cnt = 0;
	int err = eh_frame__load_any(img, &eh);

	if (!err)
		ranges = eh_frame__ranges(eh, &ranges_cnt);
	err = err == -ENOMEM ? err : eh_evidence__init(&f.ev, img, ranges, ranges_cnt);
	if (!err)
		err = eh_code__read(&f.ev);
	if (!err)
		err = eh_data__read(&f.ev);
	if (!err)
		eh_evidence__settle(&f.ev);
	if (!err)
		err = judge_all(&f, known, known_cnt);
	if (!err)
		err = add_ranges(&f);
	if (!err)
		err = eh_calls__follow(&f.ev, add_outside, &f);
	if (!err)
		finish(&f);
	eh_evidence__clear(&f.ev);
	elf_window__clear(&f.window);
	eh_frame__free(eh);
	free(f.verdicts);
	free(f.owners);
	free(f.starts);
	if (err) {
		free(f.found);
		f.found = NULL;
		f.cnt = 0;
	}
	*out = f.found;
	*cnt = f.cnt;
	return err;
}
