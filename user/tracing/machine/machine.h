/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The whole machine by process, from samples alone: a clock on each CPU tells which thread runs
 * there, and in which function. Nothing has a probe. So a look costs a CPU an interrupt, some 97
 * times a second, whatever runs: less than a thousandth of it.
 */
#ifndef PROFTRACE_MACHINE_MACHINE_H
#define PROFTRACE_MACHINE_MACHINE_H

#include <stdint.h>

struct machine;
struct profile;

/* With a clock of `hz` looks a second on each CPU, which begins to run. Returns 0, or -errno with
 * one line logged. */
int machine__new(unsigned int hz, struct machine **out);
void machine__free(struct machine *m); /* accepts NULL */

/* Fetches what the clocks have seen; call it a few times a second. Returns 0 or -ENOMEM. */
int machine__poll(struct machine *m);
void machine__stop(struct machine *m); /* no more looks */

/*
 * *out = all that was seen so far, linked: each process is a thread of the profile, with its
 * functions, of its own code and of the kernel's, as its paths. Names are borrowed from `m`. The
 * caller frees it. Returns 0 or -ENOMEM.
 */
int machine__snapshot(struct machine *m, struct profile **out);

#endif
