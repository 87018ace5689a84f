/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call stacks whose threads have ended: what they hold moves from the tables to the collector's own
 * memory, and their entries are free for others. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_RECLAIM_H
#define PROFTRACE_COLLECT_RECLAIM_H

#include <stdint.h>

struct collector;

/* Makes room if one of the tables is half used. Returns 0, or -errno with one line logged. */
int reclaim__when_short(struct collector *c);

/* See collector__forget_retired(). */
void reclaim__forget(struct collector *c);

/* The call stack's entry, and those of its paths, are free for others. */
void reclaim__release(struct collector *c, uint32_t callstack);

#endif
