/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's code, cut into segments: instructions that follow one another, of one line and one
 * inlined call, which are entered at the first and not left before the last, unless by a call that
 * does not come back. Pure computation on bytes.
 */
#ifndef PROFTRACE_LINES_SEGMENTS_H
#define PROFTRACE_LINES_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"

struct insn_decoder;

struct segment {
	uint64_t vaddr;
	uint32_t key;  /* as in segments__build(); 0: what runs before it goes on */
	uint64_t site; /* of the probed instruction; 0: none can be */
	/* Control comes to it only from segments of its line further up, and goes from it to none
	 * of them: whoever counts learns nothing there. */
	bool needless;
	uint8_t class; /* enum site_class */
	bool on_exit;  /* see struct plan_line_site */
	bool repeats;  /* see struct plan_line_site */
	bool cycles;   /* control may come back to it without leaving its line */
	bool calls;    /* exceptions may come out of it */
	bool lands;    /* they come to it */
	bool idle;     /* it consists of nops and a jump */
	bool ends;     /* it does nothing but clear the stack and return */
	bool begins_block;
	uint64_t last; /* its last instruction */
	uint64_t next; /* where control goes on behind it without a jump; 0: nowhere */
};

struct segments {
	struct segment *items; /* by piece, then by address */
	size_t cnt, cap;
	struct code_edge *edges; /* by `from` */
	size_t edges_cnt;
	uint32_t *pads; /* segments at which exceptions land */
	size_t pads_cnt, pads_cap;
	/* By byte of the pieces: segment that begins there + 1. */
	uint32_t *starts;
	const struct code_piece *pieces;
	size_t pieces_cnt;
};

/* A function that code_decode() has followed. */
struct segments_input {
	const struct code_piece *pieces; /* with their landing pads */
	size_t pieces_cnt;
	struct code_flow flow;	/* certain, with edges */
	const uint64_t *labels; /* further vaddrs that may be jumped to */
	size_t labels_cnt;
	const uint32_t
		*keys; /* by byte of the pieces: number of its line, 0 for none; < keys_cnt */
	uint32_t keys_cnt;
	struct insn_decoder *insn;
};

/* Returns 0 or -ENOMEM; segments__clear() takes *s in any case. Borrows the pieces. */
int segments__build(const struct segments_input *in, struct segments *s);
void segments__clear(struct segments *s);

/* Calls `fn` for each segment to which control may go directly from segment `i`. A callee's
 * exception counts as going. */
void segments__successors(const struct segments *s, uint32_t i, void (*fn)(void *ctx, uint32_t to),
			  void *ctx);

#endif
