/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths of a profile as a tree, depth first: each node's name, as a place in a list of names,
 * and how many nodes its subtree has. Nodes are the kinds of threads and, below them, call paths.
 * The path a › b in a thread t is: names t, a, b at the places 0, 1, 2, of sizes 3, 2, 1. Inside
 * fleet/ only, and for its tests.
 */
#ifndef PROFTRACE_FLEET_PATH_TREE_H
#define PROFTRACE_FLEET_PATH_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct path_ids;
struct profile;
struct rows;

struct path_tree {
	uint32_t *paths; /* nodes of the profile, depth first */
	size_t paths_cnt;
	uint32_t *sizes; /* of subtrees, by node of the profile, itself included */
};

/* Makes the tree of a linked profile; `kept` says by node which are taken, all of them with their
 * callers (NULL: all). Returns 0 or -ENOMEM; to be cleared in any case. */
int path_tree__make(struct path_tree *t, const struct profile *p, const bool *kept);
void path_tree__clear(struct path_tree *t);

/* Three arrays: names, by their ids; of each node, threads included, its place among them from 0
 * on, of 32 bits; and its size, of 32 bits. */
void path_tree__write(const struct path_tree *t, const struct profile *p,
		      const struct path_ids *ids, struct rows *out);
/* Three more, of each node: whether `fresh` has it, by node of the profile; what its thread is
 * called; and whether that is of spans. */
void path_tree__write_threads(const struct path_tree *t, const struct profile *p, const bool *fresh,
			      struct rows *out);

#endif
