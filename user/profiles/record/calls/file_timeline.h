/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The timeline of a recorded run, out of its file. Inside record/ only. */
#ifndef PROFTRACE_RECORD_CALLS_FILE_TIMELINE_H
#define PROFTRACE_RECORD_CALLS_FILE_TIMELINE_H

#include <stdint.h>

struct block_reader;
struct call_index;
struct match;
struct timeline;

/* Opens the calls that `x` finds in the reader's file, which is opened anew. Takes over `m` if it
 * returns 0. ->lost is how many calls have no node. Returns 0 or -errno. */
int file_timeline__open(const struct block_reader *r, const struct call_index *x, struct match *m,
			uint32_t threads_cnt, struct timeline **out);

#endif
