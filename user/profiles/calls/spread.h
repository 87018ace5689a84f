/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts durations by bucket, of very many functions: each has room for its own buckets only, from
 * the shortest to the longest. */
#ifndef PROFTRACE_CALLS_SPREAD_H
#define PROFTRACE_CALLS_SPREAD_H

#include <stddef.h>
#include <stdint.h>

struct profile_bucket;

/* Zero it. */
struct spread {
	uint64_t *calls; /* by bucket, from `first` on */
	uint32_t first, cnt;
};

/* Frees an array of them, which may be NULL. */
void spread__free(struct spread *spreads, size_t cnt);

/* Adds so many calls. Returns 0 or -ENOMEM. */
int spread__add(struct spread *s, uint32_t bucket, uint64_t calls);

/* Replaces an array, which may be NULL, by the buckets of `cnt` functions, as in profile::buckets.
 * Returns 0 or -ENOMEM: it stays as it was. */
int spread__to_buckets(const struct spread *by_function, size_t cnt,
		       struct profile_bucket **buckets, size_t *buckets_cnt);

#endif
