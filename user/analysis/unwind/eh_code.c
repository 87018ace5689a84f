// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code is read range by range, which is exact but for data in hand-written code. That takes most of
 * the time until a large object's functions are known, so ranges are shared out to a few threads.
 * Each notes what its ranges say about any range in evidence of its own; that is put together in
 * the order of the ranges, so that the result does not depend on how many threads there were.
 */
#include "unwind/eh_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/prefix_memo.h"
#include "elf/elf_image.h"
#include "elf/elf_window.h"
#include "unwind/eh_frame.h"
#include "util/threads.h"

#define MAX_RANGE_SIZE (16u << 20)
#define MAX_CODE       (512u << 20) /* bytes read of all ranges */
#define TABLE_ENTRIES  1024	    /* of one jump table, at most */
#define MIN_SHARE      4096	    /* ranges that are worth a thread */
#define MAX_SHARED     (1u << 20)   /* ranges; of more of them there is no second evidence */

/* The part of a thread: ranges that it reads, and the evidence that it adds to. */
struct share {
	struct eh_evidence *ev;	 /* what it adds to: the whole evidence or its own */
	struct eh_evidence own;	 /* `starts` and `outside`; the rest is borrowed */
	size_t from, to;	 /* the ranges that it reads */
	uint64_t left;		 /* bytes of code that may still be read */
	struct elf_pages *pages; /* jump tables lie close together, and most are read often */
	int err;		 /* 0 or -ENOMEM */
};

/*
 * A table of distances from itself, if it leads into the range that mentions it: what else does it
 * lead to? Where it ends is not known, so only starts of ranges count.
 */
static void read_table(struct share *s, uint64_t vaddr)
{
	struct eh_evidence *ev = s->ev;
	uint32_t leads[TABLE_ENTRIES], leads_cnt = 0;
	bool own = false;

	for (size_t i = 0; i < TABLE_ENTRIES; i++) {
		int32_t entry;
		uint32_t at;

		if (!elf_pages__read_vaddr(s->pages, vaddr + i * sizeof(entry), &entry,
					   sizeof(entry)))
			break;
		at = eh_evidence__at(ev, vaddr + entry);
		if (at == EH_NOBODY)
			break;
		own |= at == ev->current;
		if (vaddr + entry == ev->ranges[at].start)
			leads[leads_cnt++] = at;
	}
	for (size_t i = 0; own && i < leads_cnt; i++)
		eh_evidence__note_switch(ev, ev->current, leads[i]);
}

/* Whether `vaddr`, in no range, lies directly beside the current one. */
static bool is_beside(const struct eh_evidence *ev, uint64_t vaddr)
{
	size_t behind = eh_evidence__first_behind(ev, vaddr);

	return behind == ev->current || behind == ev->current + 1;
}

/* A code_ref_visitor. */
static int visit(void *ctx, const struct code_ref *ref)
{
	struct share *s = ctx;
	struct eh_evidence *ev = s->ev;
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
			eh_evidence__note_jump(ev, ev->current, at);
			ev->starts[at].jumped_always |= ref->kind == REF_JUMP;
		} else if (at != EH_NOBODY && at != ev->current && !ev->starts[at].stubs) {
			/* A tail call of an import leads into the midst of the stubs; linkers that
			 * describe these put them before the code. */
			eh_evidence__join(ev, at, ev->current);
		}
		return 0;
	case REF_ADDRESS:
		if (is_start)
			ev->starts[at].taken = true;
		else if (at == EH_NOBODY)
			read_table(s, ref->to);
		return 0;
	default:
		return 0;
	}
}

/* Sets *bytes to the code of range `i`, which stays until the next call, if that is to be read:
 * `left` is what may still be read, and what that leaves. Returns 0, -ENOEXEC or -ENOMEM. */
static int range_bytes(const struct eh_evidence *ev, size_t i, struct elf_window *window,
		       uint64_t *left, const uint8_t **bytes)
{
	uint64_t size = ev->ranges[i].end - ev->ranges[i].start, offset;

	if (size > MAX_RANGE_SIZE || size > *left ||
	    !elf_image__exec_offset(ev->img, ev->ranges[i].start, size, &offset))
		return -ENOEXEC;
	*left -= size;
	return elf_window__at(window, ev->img, offset, size, bytes);
}

/* Looks at a share's ranges. As an element of threads__run(). */
static void share_read(void *arg)
{
	struct share *s = arg;
	struct eh_evidence *ev = s->ev;
	const struct arch *arch = elf_image__arch(ev->img);
	struct prefix_memo *plain = calloc(1, sizeof(*plain)); /* without memory none */
	struct elf_window window = {0};
	const uint8_t *bytes;
	int err = 0;

	for (size_t i = s->from; err != -ENOMEM && i < s->to; i++) {
		const struct eh_range *r = &ev->ranges[i];

		err = range_bytes(ev, i, &window, &s->left, &bytes);
		if (err)
			continue;
		ev->current = i;
		err = arch->visit_refs(plain, bytes, r->end - r->start, r->start, visit, s);
	}
	s->err = err == -ENOMEM ? err : 0;
	free(plain);
	elf_window__clear(&window);
}

/* Divides the ranges among `cnt` shares, and finds out which are stubs. Returns 0 or -ENOMEM. */
static int share_out(struct share *shares, size_t cnt, struct eh_evidence *ev)
{
	const struct arch *arch = elf_image__arch(ev->img);
	struct elf_window window = {0};
	uint64_t left = MAX_CODE;
	const uint8_t *bytes;
	size_t at = 0;
	int err = 0;

	for (size_t n = 0; n < cnt; n++) {
		shares[n].from = at;
		shares[n].to = ev->cnt * (n + 1) / cnt;
		shares[n].left = left;
		for (; err != -ENOMEM && at < shares[n].to; at++) {
			err = range_bytes(ev, at, &window, &left, &bytes);
			if (!err)
				ev->starts[at].stubs = arch->is_stubs(
					bytes, ev->ranges[at].end - ev->ranges[at].start);
		}
	}
	elf_window__clear(&window);
	return err == -ENOMEM ? err : 0;
}

/* Makes what a share needs. Returns 0 or -ENOMEM. */
static int share_init(struct share *s, struct eh_evidence *whole, bool is_first)
{
	s->ev = is_first ? whole : &s->own;
	s->pages = elf_pages__new(whole->img);
	if (!s->pages)
		return -ENOMEM;
	return is_first ? 0 : eh_evidence__like(whole, &s->own);
}

int eh_code__read(struct eh_evidence *ev)
{
	size_t cnt = ev->cnt > MAX_SHARED ? 1 : threads__for(ev->cnt, MIN_SHARE);
	struct share shares[THREADS_MAX] = {0};
	int err = share_out(shares, cnt, ev);

	for (size_t i = 0; i < cnt && !err; i++)
		err = share_init(&shares[i], ev, !i);
	if (!err)
		threads__run(shares, cnt, sizeof(shares[0]), share_read);
	for (size_t i = 0; i < cnt; i++) {
		err = err ? err : shares[i].err;
		if (i && !err)
			err = eh_evidence__add(ev, &shares[i].own);
		elf_pages__free(shares[i].pages);
		free(shares[i].own.starts);
		free(shares[i].own.outside);
	}
	return err;
}
