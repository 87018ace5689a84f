/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flight recorder: a recording that keeps below a size, by forgetting the oldest single calls.
 * Inside record/ only.
 */
#ifndef PROFTRACE_RECORD_CALLS_FLIGHT_H
#define PROFTRACE_RECORD_CALLS_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "record/format/format.h"
#include "timeline/stream.h"

struct block_writer;
struct flight;

/* The content of blocks that are to be written at once. */
struct flight_entry {
	enum block_type type;
	uint64_t calls;
	uint64_t until_ns; /* the last of these ended then */
};

/* All that return int return 0, or -errno with one line logged. */

/* The writer's file must be one that another can take the place of; it is opened for reading too.
 */
int flight__open(struct block_writer *w, uint64_t max_bytes, struct flight **out);
void flight__free(struct flight *f); /* accepts NULL */

/* All that has been written so far is to stay. */
void flight__fix(struct flight *f, const struct block_writer *w);

/* Writes what is packed. If that would make the file too large, calls are forgotten first. */
int flight__put(struct flight *f, struct block_writer *w, const struct flight_entry *e);

/* Appends a part of one file to the other. */
int flight__copy(const struct flight *f, struct block_writer *from, struct block_writer *to,
		 uint64_t at, uint64_t len);

/* Whether no more calls fit, for good; then those that come are to be counted here. */
bool flight__full(const struct flight *f);
void flight__forget(struct flight *f, uint64_t calls, uint64_t until_ns);

/* Whether the file does not say yet what has been forgotten; it will once this is put, as
 * BLOCK_FORGOTTEN. */
bool flight__unsaid(const struct flight *f);
const struct recorded_gap *flight__gap(const struct flight *f);

#endif
