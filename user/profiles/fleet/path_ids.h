/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers by which paths and functions are the same on every machine: hashes of what they are.
 * A function is its names, the name of its file (not the folder) and its source file, but not where
 * in the file it lies, which each version has anew. A path is its steps, from the kind of its
 * thread on: the sum of a hash for each, of what it is and how deep it lies. So the database makes
 * the numbers of paths itself, of a tree that is sent, by running sums: profile_paths_in in
 * docs/fleet/clickhouse.sql has the same formula. Inside fleet/ only, and for its tests.
 */
#ifndef PROFTRACE_FLEET_PATH_IDS_H
#define PROFTRACE_FLEET_PATH_IDS_H

#include <stdint.h>

struct profile;

struct path_ids {
	uint64_t *functions; /* by function */
	uint64_t *threads;   /* their kinds, by thread */
	uint64_t *paths;     /* by node; 0: unused */
};

/* Makes ids for the paths of a linked profile. Returns 0 or -ENOMEM; to be cleared in any case. */
int path_ids__make(struct path_ids *ids, const struct profile *p);
void path_ids__clear(struct path_ids *ids);

/* A path's id is made of the sum of its steps, one for each depth: `id` is a function's, or at
 * depth 1 that of the kind of thread. */
uint64_t path_ids__step(uint64_t id, uint64_t depth);
uint64_t path_ids__of_sum(uint64_t sum);

/* Threads of one kind have names that differ by a number at their end, as worker-17 has: it is
 * replaced by a #. In place. */
void thread_kind(char *comm);

/* Like threads of all processes merged, by their kinds. *out as by profile__merge_threads(). */
int merge_kinds(struct profile *p, struct profile **out);

#endif
