/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which `ret`s, and which instructions at entries, our programs do not emulate after all. */
#ifndef PROFTRACE_EXITS_EMULATION_H
#define PROFTRACE_EXITS_EMULATION_H

struct plan;

/* Leaves those to the kernel where another probe of ours is, of whatever kind: its program may be
 * called behind the one that emulates the instruction, and would take the registers behind it for
 * those before it. Returns 0 or -ENOMEM. */
int emulation__spare_shared(struct plan *p);

#endif
