/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that has the link holder's files as well and does nothing but wait. If the link holder
 * is killed, a task that is ending would close its links one after the other, each of which takes
 * 50 ms: the spare closes them side by side in its stead.
 */
#ifndef PROFTRACE_ATTACH_LINKS_SPARE_H
#define PROFTRACE_ATTACH_LINKS_SPARE_H

#include <sys/types.h>

/* Starts it, as a child of the caller that shares its descriptors, of which those up to `kept` are
 * closed last, by its end. Returns its pid, or -1: there is none, which is a matter of time only.
 */
pid_t spare__start(int kept);

/* Ends it, when there are no links any more. Accepts -1. */
void spare__end(pid_t spare);

#endif
