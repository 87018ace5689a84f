/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single waits as slices on the tracks of threads, in between of calls, with flows from the threads
 * that have ended them. */
#ifndef PROFTRACE_SINK_TOOLS_WAIT_SLICES_H
#define PROFTRACE_SINK_TOOLS_WAIT_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sink/tools/wait_flows.h"

struct profile;
struct waits;

enum slice_kind { SLICE_BEGIN, SLICE_END, SLICE_WAKE };

#define SLICE_NAME  160
#define SLICE_WAKER 256

/* A slice, or instant, of a track. Slices nest; a wake is an instant. */
struct wait_slice {
	enum slice_kind kind;
	uint64_t at_ns;
	uint64_t flow;	       /* from a wake to the slice that it begins; 0: none */
	char name[SLICE_NAME]; /* "[lock log_mutex]", "[cpu]", "wakes reader-2" */
	/* For a wait, who ends it: "writer: flush_log"; for a wake, in which function: "flush_log".
	 * "": not known, or another kind of slice. */
	char waker[SLICE_WAKER];
};

/* Nonzero ends it. */
typedef int (*slice_visitor)(const struct wait_slice *s, void *ctx);

struct wait_slices {
	const struct profile *p;
	const struct waits *waits; /* NULL: none were recorded */
	struct wait_flows flows;
	/* The track, as in struct wake; what waits and wakes of it come next, and where they end.
	 */
	uint32_t track;
	size_t wait, waits_end, wake, wakes_end;
};

/* Returns 0 or -errno as wait_flows__init(). */
int wait_slices__init(struct wait_slices *s, const struct profile *p);
void wait_slices__fini(struct wait_slices *s);

/* The next track is that of the profile's thread, or of a waker (see struct wake). */
void wait_slices__turn(struct wait_slices *s, uint32_t track);

/* Visits what has happened on the track up to `at_ns`, while `depth` calls were open. Returns 0, or
 * what the visitor returned. */
int wait_slices__until(struct wait_slices *s, uint64_t at_ns, uint32_t depth, slice_visitor visit,
		       void *ctx);

#endif
