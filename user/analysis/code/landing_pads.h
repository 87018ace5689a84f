/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exception tables of one function: where exceptions land in it, and which calls they cannot
 * leave it from. */
#ifndef PROFTRACE_CODE_LANDING_PADS_H
#define PROFTRACE_CODE_LANDING_PADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code/code.h"
#include "unwind/eh_frame.h"

struct elf_image;
struct linkage;

struct landing_pads {
	struct lsda_piece {
		struct lsda lsda;
		const struct eh_range *range; /* NULL: none that can be used */
		uint64_t *pads;
		size_t pads_cap;
		bool is_cxx; /* __gxx_personality_v0 goes by it */
	} pieces[CODE_MAX_PIECES];
	size_t cnt;
	bool outside; /* some landing pad lies outside the pieces */
};

/* The tables that tell of landing pads; all borrowed. */
struct pads_source {
	const struct elf_image *img;
	const struct eh_frame *eh;     /* NULL: there are no unwind tables, hence no landing pads */
	const struct linkage *linkage; /* NULL: no exception is known to end anywhere */
	uint64_t *budget;	       /* bytes of exception tables that may still be read */
};

/*
 * Reads what the source knows of the pieces and gives them their landing pads, which stay valid
 * until the next call. Zero *p before the first use. Returns 0 or -ENOMEM.
 */
int landing_pads__read(struct landing_pads *p, const struct pads_source *from,
		       struct code_piece *pieces, size_t cnt);
void landing_pads__clear(struct landing_pads *p);

/* Whether an exception out of the call that ends at the vaddr `end` goes on, to a handler, or ends
 * the program. */
enum lsda_fate landing_pads__fate(const struct landing_pads *p, uint64_t end);

/* The vaddr of the landing pad for an exception out of the call that ends at `end`; 0: none here.
 */
uint64_t landing_pads__landing(const struct landing_pads *p, uint64_t end);

#endif
