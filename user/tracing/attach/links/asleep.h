/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that were asleep before events counted, by the program of bpf/asleep.bpf.c: the link
 * holder loads it, runs it once, and lets it go. */
#ifndef PROFTRACE_ATTACH_LINKS_ASLEEP_H
#define PROFTRACE_ATTACH_LINKS_ASLEEP_H

#include "attach/links/skeleton.h"

/* Notes the waits that the target's threads are in since events count, in the tables of the
 * programs that are loaded. Returns how many, or -errno; silent. */
int asleep__find(struct proftrace_bpf *skel);

#endif
