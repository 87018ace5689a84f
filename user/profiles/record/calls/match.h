/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds recorded call stacks and paths in the profile of their run. Inside record/ only. */
#ifndef PROFTRACE_RECORD_CALLS_MATCH_H
#define PROFTRACE_RECORD_CALLS_MATCH_H

#include <stddef.h>
#include <stdint.h>

#include "timeline/stream.h"

struct profile;

struct names {
	struct recorded_callstack *callstacks;
	struct recorded_path *paths;
	size_t callstacks_cnt, callstacks_cap, paths_cnt, paths_cap;
};

struct matched_path {
	uint32_t node; /* 0: of a function that the profile does not have */
	uint32_t thread;
};

/* Both by the numbers that the recording gives them: [0] is not used. */
struct match {
	uint32_t *threads; /* of call stacks */
	struct matched_path *paths;
	size_t callstacks_cnt, paths_cnt; /* the highest numbers */
};

/* Adds threads and nodes, without any figures, to the profile that it does not have yet, and links
 * it. Returns 0, -EINVAL (names make no sense) or -ENOMEM. */
int match__names(const struct names *n, struct profile *p, struct match *m);
void match__fini(struct match *m);

#endif
