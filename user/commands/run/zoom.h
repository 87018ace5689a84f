/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Zooming: while the target runs, one function and what it calls become exact, and the others pay
 * for it. What it calls is what the tree shows below it, seen by probes, bursts or samples, also
 * through code without probes; and what its own instructions call.
 */
#ifndef PROFTRACE_RUN_ZOOM_H
#define PROFTRACE_RUN_ZOOM_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct run;

#define ZOOM_NONE UINT32_MAX

/*
 * Makes a function of the plan exact, whatever it costs, and what it calls as far as the budget
 * goes, or with `all` whatever that costs; lets go of the one before. Messages say how far that
 * goes, or why it does not. `seen`: a linked profile of the run so far. A number that is no
 * function's is refused. Returns 0 or -ENOMEM.
 */
int zoom__in(struct run *r, uint32_t function, bool all, const struct profile *seen);

/* Lets go: all functions are judged alike again. */
void zoom__out(struct run *r);

/* The function, or ZOOM_NONE. */
uint32_t zoom__function(const struct run *r);

/* Makes functions exact that the function has been seen to call since. `seen` as above. Returns 0
 * or -ENOMEM. */
int zoom__follow(struct run *r, const struct profile *seen);

#endif
