/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Evidence in an object's code and data about the ranges of its .eh_frame. Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_EH_EVIDENCE_H
#define PROFTRACE_UNWIND_EH_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eh_range;
struct elf_image;

#define EH_NOBODY UINT32_MAX

/* Evidence of code and data about the start of one range of unwind rules: whether a function begins
 * there. */
struct eh_start {
	bool called;	    /* directly, from another range or its own */
	bool taken;	    /* its address is: it may be called through a pointer */
	bool stubs;	    /* nothing but jumps to other objects */
	bool shares;	    /* it and another range jump into each other's middle */
	bool jumped_always; /* by a jump without a condition, as a tail call is */
	bool jumped_more;   /* jumped to from more ranges than the first */
	bool switched;	    /* a switch leads to it */
	uint32_t switcher;  /* the range with that switch, or EH_NOBODY */
	uint32_t jumper;    /* the first range that jumps to its start, or EH_NOBODY */
	uint32_t group;	    /* ranges that jump into each other's middle have the same */
};

struct eh_evidence {
	const struct elf_image *img;
	const struct eh_range *ranges;
	size_t cnt;
	struct eh_start *starts;
	/* Targets of calls that lie in no range; not ordered, each once or more. Those that only
	 * the ranges beside them call are left out: parts of hand-written functions. */
	uint64_t *outside;
	size_t outside_cnt, outside_cap;
	/* For eh_evidence__at(): how many ranges end before block i of addresses begins, from the
	 * first range on, each 1 << block_bits bytes; blocks_cnt of them and one more. */
	uint32_t *blocks;
	size_t blocks_cnt;
	unsigned int block_bits;
	uint32_t current; /* the range that is being read */
};

/* Evidence begins empty; code and data add to it (eh_code__read(), eh_data__read()), then it is
 * settled. Returns 0 or -ENOMEM; free it with eh_evidence__clear() in any case. */
int eh_evidence__init(struct eh_evidence *ev, const struct elf_image *img,
		      const struct eh_range *ranges, size_t cnt);
/* Ranges that were joined have the same group from here on. */
void eh_evidence__settle(struct eh_evidence *ev);
void eh_evidence__clear(struct eh_evidence *ev);

/* Takes `vaddr` for the target of a call, if it is code in no range; a few million are enough.
 * Returns 0 or -ENOMEM. */
int eh_evidence__add_outside(struct eh_evidence *ev, uint64_t vaddr);

/* Notes that the code of range `from` jumps to the start of `to`. */
void eh_evidence__note_jump(struct eh_evidence *ev, uint32_t from, uint32_t to);

/* Notes that a switch in range `from`, EH_NOBODY if that is not known, leads to the start of `to`.
 */
void eh_evidence__note_switch(struct eh_evidence *ev, uint32_t from, uint32_t to);

/* Notes that one of two ranges jumps into the middle of the other. */
void eh_evidence__join(struct eh_evidence *ev, uint32_t a, uint32_t b);

/* Makes *out evidence about the same ranges that knows of stubs alone, and borrows all but `starts`
 * and `outside`, which are to be freed. Returns 0 or -ENOMEM. */
int eh_evidence__like(const struct eh_evidence *ev, struct eh_evidence *out);

/* Adds what `more`, made by eh_evidence__like(), has found in ranges behind those that `ev` knows
 * of. Returns 0 or -ENOMEM. */
int eh_evidence__add(struct eh_evidence *ev, struct eh_evidence *more);

/* The first range that ends behind `vaddr`, or the number of ranges. */
size_t eh_evidence__first_behind(const struct eh_evidence *ev, uint64_t vaddr);

/* The range that holds `vaddr`, or EH_NOBODY. */
uint32_t eh_evidence__at(const struct eh_evidence *ev, uint64_t vaddr);

#endif
