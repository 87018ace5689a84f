/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads recordings, which may come from strangers. A file that was cut, or is damaged, is read up
 * to its last whole block.
 */
#ifndef PROFTRACE_RECORD_READER_H
#define PROFTRACE_RECORD_READER_H

#include <stddef.h>
#include <stdint.h>

#include "record/format/decode.h"
#include "record/format/run_info.h"
#include "timeline/stream.h"

struct reader;

/* One run. Strings are the memory's. */
struct recorded {
	struct run_info run_info;
	struct run_end end;	 /* .reason is NULL if the run has not ended in order */
	struct profile *profile; /* its timeline needs no reader any more */
	struct memory memory;
	uint64_t calls;		       /* in the timeline */
	struct recorded_gap forgotten; /* those before them */
};

/* Checks every block. Returns 0, or -errno with one line logged: it is no recording, cannot be
 * read, or its first block is not whole. A file that is not whole is said to be so. */
int reader__open(const char *path, struct reader **out);

/* Like reader__open(), for an open file, which is taken over. `path`, for messages, has to outlive
 * all that is read. */
int reader__open_file(int fd, const char *path, struct reader **out);
void reader__free(struct reader *r); /* accepts NULL */

/* Bytes up to the end of the last whole block. */
uint64_t reader__whole(const struct reader *r);

/* Whether there are blocks behind that end: the file is damaged in its middle. Returns 1, 0, or
 * -errno with one line logged. */
int reader__goes_on(const struct reader *r);

size_t reader__runs(const struct reader *r);

/* Loads a run, 0 being the oldest: the last whole profile of it, linked, not summarized. Returns 0,
 * or -errno with one line logged. The caller frees what it holds. */
int reader__load(struct reader *r, size_t run, struct recorded *out);
void recorded__free(struct recorded *r);

#endif
