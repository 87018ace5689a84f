/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the instructions to probe at a region's begin and end, and finds the region's frame.
 * Inside regions/ only. */
#ifndef PROFTRACE_REGIONS_REGION_SITES_H
#define PROFTRACE_REGIONS_REGION_SITES_H

#include <stdbool.h>

struct candidate;
struct plan_site;
struct regions;

/* Loads the object's symbols, if that has not been done. What cannot be loaded counts as not there.
 * Returns 0 or -ENOMEM. */
int region_sites__need_symbols(struct regions *r, const char *root);

/* Looks for 5-byte nops where functions have their entry probes. Returns 0 or -ENOMEM. */
int region_sites__find_entered(struct regions *r);

/* Looks up the frames of all candidates. What the object does not tell stays unknown. Returns 0 or
 * -ENOMEM. */
int region_sites__find_frames(struct regions *r);

/* Whether the region ends in code of its own, which is called: endbr64, the probe, ret. clang makes
 * such code of a scope of proftrace.h in C. */
bool region_sites__is_called_end(const struct regions *r, const struct candidate *c);

/* Chooses the instruction to probe. Returns NULL, or the reason why there is none. */
const char *region_sites__choose(struct regions *r, const char *root, const struct candidate *c,
				 struct plan_site *out);

/* The region's frame begins where that of its function does, however much that keeps on the stack
 * at the moment; if that is not known, at the stack pointer. */
void region_sites__place_frame(const struct regions *r, const struct candidate *c,
			       struct plan_site *site);

#endif
