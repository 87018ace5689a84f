/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a region ends before the function that begins it does. If so it has a place on the stack;
 * if not, its begins and ends are told apart by their order alone. Inside regions/ only.
 */
#ifndef PROFTRACE_REGIONS_REGION_FLOW_H
#define PROFTRACE_REGIONS_REGION_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct eh_frame;
struct elf_image;
struct insn_decoder;
struct region_flow;

/* `insn` and `img` are borrowed; so is `eh`, which may be NULL. 0 or -ENOMEM. */
int region_flow__new(const struct elf_image *img, struct insn_decoder *insn,
		     const struct eh_frame *eh, struct region_flow **out);
void region_flow__free(struct region_flow *f); /* accepts NULL */

/* A place in code where the region begins or ends. */
struct region_edge {
	uint64_t vaddr;
	bool ends;
	bool met; /* set by it: leads to an end, or is led to by a begin */
};

/*
 * Sets *outlives if, by what its code says, some begin leads to no end while its function is open,
 * or some end is led to by none: in that function or in what that calls directly, two calls deep.
 * Where there are no ends that is not so; and where code cannot be followed, if one function has
 * both of some begin and end. Returns 0 or -ENOMEM. Takes the square of the edges' number.
 */
int region_flow__outlives(struct region_flow *f, struct region_edge *edges, size_t cnt,
			  bool *outlives);

#endif
