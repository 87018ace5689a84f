// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code is followed from each begin on, along all branches and past calls, up to the ends: first in
 * the function alone, which mostly says it; if something was not met, in what it calls as well, for
 * an end may lie in a function of its own (a destructor that was not inlined). Calls may also lead
 * to where exceptions land: scopes that these leave have an end there. Interpreters have begins and
 * ends in one function that is called for both, so it is not enough that they share it.
 */
#include "regions/region_flow.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/insn.h"
#include "elf/elf_image.h"
#include "unwind/eh_frame.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_CALLS  2	       /* deep */
#define MAX_PAIR   (1u << 16)  /* instructions that are looked at for one region */
#define MAX_ALL	   (1u << 21)  /* instructions for all regions of an object */
#define MAX_TABLES (64u << 20) /* bytes of exception tables that are read for all of an object */
#define MAX_INSN   15
#define WINDOW	   1024
#define SEEN	   (1u << 18) /* places: a power of two, four times those of MAX_PAIR */

struct work {
	uint64_t *vaddrs;
	size_t cnt, cap;
};

/* An instruction that has been looked at, in that round. */
struct seen {
	uint64_t vaddr;
	uint32_t round;
};

struct region_flow {
	const struct elf_image *img;
	struct insn_decoder *insn;
	const struct eh_frame *eh;
	struct work now, deeper; /* code to be followed: as deep as now, and by calls from there */
	struct seen *seen;	 /* by hash */
	size_t seen_cnt;
	uint32_t round;
	uint8_t window[WINDOW];
	uint64_t window_at;
	size_t window_len;
	size_t looked; /* at instructions, for all regions */
	bool lost;     /* not all code could be followed */
	/* The landing pads of the function that was asked for last. */
	struct lsda lsda;
	const struct eh_range *lsda_of;
	bool lsda_read;
	uint64_t tables; /* bytes that may still be read */
};

int region_flow__new(const struct elf_image *img, struct insn_decoder *insn,
		     const struct eh_frame *eh, struct region_flow **out)
{
	struct region_flow *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->seen = calloc(SEEN, sizeof(*f->seen));
	if (!f->seen) {
		free(f);
		return -ENOMEM;
	}
	f->img = img;
	f->insn = insn;
	f->eh = eh;
	f->tables = MAX_TABLES;
	*out = f;
	return 0;
}

void region_flow__free(struct region_flow *f)
{
	if (!f)
		return;
	free(f->now.vaddrs);
	free(f->deeper.vaddrs);
	free(f->seen);
	free(f->lsda.sites);
	free(f);
}

static int later(struct work *w, uint64_t vaddr)
{
	if (ARRAY_RESERVE(&w->vaddrs, w->cnt, &w->cap))
		return -ENOMEM;
	w->vaddrs[w->cnt++] = vaddr;
	return 0;
}

/* Whether the instruction has not been looked at before; false, too, if there are too many. */
static bool is_new(struct region_flow *f, uint64_t vaddr)
{
	size_t at = (vaddr * 0x9e3779b97f4a7c15) >> 32;

	while (f->seen[at & (SEEN - 1)].round == f->round) {
		if (f->seen[at++ & (SEEN - 1)].vaddr == vaddr)
			return false;
	}
	if (f->seen_cnt >= MAX_PAIR || f->looked >= MAX_ALL) {
		f->lost = true;
		return false;
	}
	f->seen[at & (SEEN - 1)] = (struct seen){vaddr, f->round};
	f->seen_cnt++;
	f->looked++;
	return true;
}

static bool decode(struct region_flow *f, uint64_t vaddr, struct insn *in)
{
	uint64_t off, at = vaddr - f->window_at;

	if (at >= f->window_len || f->window_len - at < MAX_INSN) {
		int64_t len;

		f->window_len = at = 0;
		if (!elf_image__exec_offset(f->img, vaddr, 1, &off))
			return false;
		len = elf_image__read(f->img, off, f->window, sizeof(f->window));
		f->window_len = len > 0 ? len : 0;
		f->window_at = vaddr;
	}
	return insn_decode(f->insn, f->window + at, f->window_len - at, in);
}

/* One region while it is looked at. */
struct region {
	struct region_edge *edges;
	size_t cnt;
	struct region_edge *begin; /* from where code is followed now */
};

static void meet(struct region *r, struct region_edge *end)
{
	end->met = r->begin->met = true;
}

/* A jump that may lead anywhere in its function. */
static void meet_all_around(const struct region_flow *f, struct region *r, uint64_t vaddr)
{
	const struct eh_range *here = f->eh ? eh_frame__at(f->eh, vaddr) : NULL;

	for (size_t i = 0; i < r->cnt; i++) {
		if (r->edges[i].ends && (!here || eh_frame__at(f->eh, r->edges[i].vaddr) == here))
			meet(r, &r->edges[i]);
	}
}

static bool meets_end(struct region *r, uint64_t vaddr)
{
	bool met = false;

	for (size_t i = 0; i < r->cnt; i++) {
		if (!r->edges[i].ends || r->edges[i].vaddr != vaddr)
			continue;
		meet(r, &r->edges[i]);
		met = true;
	}
	return met;
}

/* The end of the function, or its piece, that has the instruction. Code that runs on to there has
 * called something that does not return. */
static uint64_t end_of_function(const struct region_flow *f, uint64_t vaddr)
{
	const struct eh_range *here = f->eh ? eh_frame__at(f->eh, vaddr) : NULL;

	return here ? here->end : UINT64_MAX;
}

/* Has code followed from where exceptions land that come out of the call whose last byte is at
 * `vaddr`. Returns 0 or -ENOMEM. */
static int later_at_pad(struct region_flow *f, uint64_t vaddr)
{
	const struct eh_range *here = f->eh ? eh_frame__at(f->eh, vaddr) : NULL;
	const struct lsda *lsda = &f->lsda;
	size_t at;
	int err;

	if (!here || !here->lsda)
		return 0;
	if (f->lsda_of != here) {
		err = lsda__read(f->img, here, &f->tables, &f->lsda);
		if (err == -ENOMEM)
			return err;
		f->lsda_of = here;
		f->lsda_read = !err;
	}
	f->lost |= !f->lsda_read;
	at = LOWER_BOUND(lsda->cnt, i, lsda->sites[i].end <= vaddr);
	if (at == lsda->cnt || vaddr < lsda->sites[at].start || !lsda->sites[at].pad)
		return 0;
	return later(&f->now, lsda->sites[at].pad);
}

/* Follows code until it does not run on, or to an end. Returns 0 or -ENOMEM. */
static int follow(struct region_flow *f, struct region *r, uint64_t vaddr)
{
	uint64_t end = end_of_function(f, vaddr);
	int err = 0;

	while (!err && vaddr < end && !meets_end(r, vaddr) && is_new(f, vaddr)) {
		uint64_t next, target;
		struct insn in;

		if (!decode(f, vaddr, &in)) {
			f->lost = true;
			return 0;
		}
		next = vaddr + in.length;
		target = next + (uint64_t)in.rel;
		switch (in.flow) {
		case FLOW_JCC:
			err = later(&f->now, target);
			break;
		case FLOW_JMP:
			next = target;
			end = end_of_function(f, target);
			break;
		case FLOW_CALL:
			err = later_at_pad(f, next - 1);
			if (!err && in.rel)
				err = later(&f->deeper, target);
			break;
		case FLOW_JMP_TABLE:
		case FLOW_JMP_REG:
			meet_all_around(f, r, vaddr);
			return 0;
		case FLOW_JMP_TAIL:
		case FLOW_RET:
		case FLOW_STOP:
			return 0;
		default:
			break;
		}
		vaddr = next;
	}
	return err;
}

static bool all_met(const struct region *r)
{
	for (size_t i = 0; i < r->cnt; i++) {
		if (!r->edges[i].met)
			return false;
	}
	return true;
}

/* Follows code from a begin on, so many calls deep. */
static int follow_begin(struct region_flow *f, struct region *r, int calls)
{
	int err = 0;

	f->round++;
	f->seen_cnt = 0;
	f->now.cnt = f->deeper.cnt = 0;
	err = later(&f->now, r->begin->vaddr);
	for (; !err && f->now.cnt && calls >= 0; calls--) {
		struct work swap;

		while (!err && f->now.cnt)
			err = follow(f, r, f->now.vaddrs[--f->now.cnt]);
		swap = f->now;
		f->now = f->deeper;
		f->deeper = swap;
	}
	return err;
}

/* Whether some function has both a begin and an end. */
static bool shares_function(const struct region_flow *f, const struct region *r)
{
	for (size_t i = 0; f->eh && i < r->cnt; i++) {
		const struct eh_range *here = eh_frame__at(f->eh, r->edges[i].vaddr);

		for (size_t k = 0; here && !r->edges[i].ends && k < r->cnt; k++) {
			if (r->edges[k].ends && eh_frame__at(f->eh, r->edges[k].vaddr) == here)
				return true;
		}
	}
	return !f->eh;
}

int region_flow__outlives(struct region_flow *f, struct region_edge *edges, size_t cnt,
			  bool *outlives)
{
	struct region r = {.edges = edges, .cnt = cnt};
	bool ends = false;
	int err = 0;

	*outlives = f->lost = false;
	for (size_t i = 0; i < cnt; i++) {
		edges[i].met = false;
		ends |= edges[i].ends;
	}
	for (int calls = 0; ends && calls <= MAX_CALLS; calls++) {
		f->lost = false;
		for (size_t i = 0; !err && i < cnt && !all_met(&r); i++) {
			r.begin = &edges[i];
			if (!edges[i].ends)
				err = follow_begin(f, &r, calls);
		}
	}
	*outlives = ends && !all_met(&r) && !(f->lost && shares_function(f, &r));
	return err;
}
