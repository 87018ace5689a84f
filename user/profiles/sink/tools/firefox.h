/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a profile for the Firefox Profiler: sink_firefox.c puts them together. */
#ifndef PROFTRACE_SINK_TOOLS_FIREFOX_H
#define PROFTRACE_SINK_TOOLS_FIREFOX_H

#include <stddef.h>
#include <stdint.h>

#include "sink/modules.h"
#include "util/json.h"

struct listing;
struct profile;
struct sink_options;
struct track;

struct firefox {
	struct json j;
	const struct profile *p;
	const struct sink_options *opts;
	struct listing *functions;
	struct modules modules;
	size_t listed_cnt;
	uint32_t *stacks; /* number of each path in the table of stacks */
	struct track *tracks;
	size_t tracks_cnt;
};

/* The members "libs" and "shared": the tables that all threads share. Numbers the paths. */
void firefox_shared__write(struct firefox *w);

/* The member "markerSchema": what fields the markers of each function have. */
void firefox_markers__write_types(struct firefox *w);

/* The member "markers" of a thread: its calls that have values. Returns as the next. */
int firefox_markers__write(struct firefox *w, uint32_t thread);

/* The member "samples" of a thread. Returns 0, -ENOMEM, or what reading the timeline returned. */
int firefox_samples__write(struct firefox *w, uint32_t thread);

/* The members by which speedscope knows the file: none if calls are counted. Returns 0 or
 * -ENOMEM. */
int firefox_devtools__write(struct firefox *w);

#endif
