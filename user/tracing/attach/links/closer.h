/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closes links in the background, each in a thread of its own. The probes are out at once, but then
 * the kernel waits for grace periods: 30 to 150 ms, or as long as threads of the target have a
 * return probe pending and arm others without a pause (each puts off the timer that would end the
 * wait, prepare_uretprobe() in kernel/events/uprobes.c, 6.13). So no closing may wait for another's
 * end. But while many probes are taken out beside each other, each waits for a lock with each of
 * them, at twice the CPU time, so one begins when the one before it has taken its probes out.
 */
#ifndef PROFTRACE_ATTACH_LINKS_CLOSER_H
#define PROFTRACE_ATTACH_LINKS_CLOSER_H

#include <stdbool.h>
#include <stdint.h>

struct closer;
struct near;
struct trace_events;

int closer__new(struct closer **out); /* 0, -ENOMEM, or -EAGAIN: no thread can be started */
/* Takes the descriptor over, of a link with so many probes; 0: unknown, and nobody waits for them.
 */
void closer__close(struct closer *c, int fd, uint32_t probes);
/* Like closer__close(), for a trace event's descriptor; its definition is removed as well. */
void closer__close_event(struct closer *c, int fd, const struct trace_events *events,
			 uint32_t number, uint32_t probes);
/* Closings take place near these processes from now on; none as yet. */
void closer__be_near(struct closer *c, const struct near *near);
/* Whether closings that have not begun are to wait. */
void closer__hold(struct closer *c, bool hold);
/* Waits until what has been handed over has its probes out, unless it is held. */
void closer__settle(struct closer *c);
/* Waits until all have been closed. Only then may the process end: a task that is killed while it
 * takes probes out leaves some in. */
void closer__drain(struct closer *c);

#endif
