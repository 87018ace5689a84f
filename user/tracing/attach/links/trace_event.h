/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes as trace events, for kernels without links on many uprobes (before Linux 6.6): one event
 * with many places, each with its cookie. One perf event on it puts all of its places in, and takes
 * them out when it is closed. Definitions are in a file of the kernel's, `uprobe_events`, and stay
 * there if nobody takes them out, also when all our processes have been killed; but without a perf
 * event nothing is probed.
 */
#ifndef PROFTRACE_ATTACH_LINKS_TRACE_EVENT_H
#define PROFTRACE_ATTACH_LINKS_TRACE_EVENT_H

#include <stdint.h>

struct link_spec;
struct trace_events;

/* The kernel compares each new place with all that its event has. */
#define TRACE_EVENT_MAX_PLACES 4096

/* Opens the kernel's trace file system, mounted for this process alone if it is not mounted; that
 * takes CAP_SYS_ADMIN, all else what perf_event_open(2) takes. 0 or -ENOMEM: what fails otherwise
 * is the answer of trace_event__open(). */
int trace_events__new(struct trace_events **out);
void trace_events__free(struct trace_events *events); /* accepts NULL */

/* Defines an event of the specified places, and opens it. Returns the descriptor of the perf event,
 * with the event's number in *number, or -errno; silent. All or nothing. */
int trace_event__open(struct trace_events *events, const struct link_spec *spec, uint32_t *number);

/* Takes the definition out, once its perf event is closed. May be called by any thread. */
void trace_event__remove(const struct trace_events *events, uint32_t number);

#endif
