/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper of links: a process of ours, apart, that creates, holds and closes all links on the
 * targets' code. A task that is killed in the midst of putting probes in or taking them out leaves
 * breakpoints behind (the kernel's uprobe code gives up when a fatal signal is pending: seen on
 * 6.18). The profiler may be killed at any moment; the keeper, in a session of its own, then sees
 * the socket close and takes all probes out in peace.
 */
#ifndef PROFTRACE_ATTACH_LINKS_KEEPER_H
#define PROFTRACE_ATTACH_LINKS_KEEPER_H

#include <stdbool.h>

#include "attach/links/link.h"

struct keeper;

/* Starts it, before anything is opened that it should not hold on to and while we have the
 * privileges that it takes along. `events`: it may have to open trace events, which takes more of
 * them on some systems. Returns 0 or -errno with one line logged. */
int keeper__new(bool events, struct keeper **out);
/* Takes all probes out and waits for its end, but as keeper__detach(). Accepts NULL. */
void keeper__free(struct keeper *k);

/* A descriptor that becomes readable if the keeper was killed; all probes are out then. */
int keeper__fd(const struct keeper *k);

/* link__create() by the keeper, which holds the link. Returns the link's number or -errno; silent.
 * -EOWNERDEAD: it has gone. */
int keeper__link(struct keeper *k, const struct link_spec *spec);

/* Closes one link in the background, which takes 30 to 150 ms. Its number may be used again at
 * once. Returns 0 or -errno. */
int keeper__close(struct keeper *k, int link);

/* Closes all links; they are gone when it returns. But those to a process that a debugger is at
 * stay until it has left, and the keeper with them: then a line is logged. */
void keeper__detach(struct keeper *k);

#endif
