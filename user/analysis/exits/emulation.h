/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes emulation by our programs back from `ret`s and entries that have another probe, too. */
#ifndef PROFTRACE_EXITS_EMULATION_H
#define PROFTRACE_EXITS_EMULATION_H

struct plan;

/* Leaves those to the kernel where another probe of ours is, of whatever kind: its program may be
 * called behind the one that emulates the instruction, and would take the registers behind it for
 * those before it. Returns 0 or -ENOMEM. */
int emulation__spare_shared(struct plan *p);

#endif
