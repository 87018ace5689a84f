/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent's recordings on disk: a folder for each service, in it NUMBER-TIME.data as
 * recording/folder.h makes them. The oldest ones go, by age and by the size of all. What is to be
 * sent is read from there in order; how far each receiver has come is in a file beside them.
 */
#ifndef PROFTRACE_AGENT_RING_H
#define PROFTRACE_AGENT_RING_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct ring_state {
	uint64_t bytes, recordings; /* that are there */
	uint64_t removed;	    /* so far */
};

/* The time now, in seconds since 1970: as the clock has it, and as the clock would have it if
 * nobody had set it since the agent began. A recording was written by one of both. */
struct ring_time {
	time_t set, steady;
};

/* Removes recordings of `root` that were written more than `keep_s` ago, and the oldest ones until
 * the rest takes no more than `size` bytes; each service keeps its last one, for its number.
 * Returns 0 or -errno with one line logged. */
int ring__bound(const char *root, uint64_t size, uint64_t keep_s, struct ring_time now,
		struct ring_state *state);

/* How far a receiver has come in a folder. */
struct ring_place {
	uint64_t number; /* the last one that is done with; 0: none yet */
	uint64_t tried;	 /* the one that was being sent last */
	uint64_t sent, refused;
	uint64_t missed; /* gone before they could be sent */
};

/* Loads a receiver's place in a folder; all zero if none is stored. Returns 0 or -errno. */
int ring__load_place(const char *folder, const char *receiver, struct ring_place *p);
/* The place is on the disk when it returns; a crash leaves this one or the one before. Returns 0 or
 * -errno. */
int ring__store_place(const char *folder, const char *receiver, const struct ring_place *p);

/* The highest number of a folder's recordings; 0: there are none. */
uint64_t ring__last(const char *folder);

/* The first recording behind the place, as its path. Counts those that have gone in between as
 * missed. *waiting = how many are there behind the place. Returns its number; 0: none. */
uint64_t ring__next(const char *folder, struct ring_place *p, char *path, size_t size,
		    uint64_t *waiting);

#endif
