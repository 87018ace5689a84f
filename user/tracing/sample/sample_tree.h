/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples and waits of one call stack, or of a thread's code outside of calls, by path. */
#ifndef PROFTRACE_SAMPLE_SAMPLE_TREE_H
#define PROFTRACE_SAMPLE_SAMPLE_TREE_H

#include <stddef.h>
#include <stdint.h>

#define SAMPLE_TREE_SELF UINT32_MAX /* in place of a function: the call itself */

struct sample_tree_node {
	uint32_t base; /* path of the innermost call that was open, as the tables number it; 0: none
			  was */
	uint32_t parent; /* index in the tree, plus 1; 0: right below the base */
	uint32_t function;
	uint64_t samples; /* taken right there */
	uint64_t ns;	  /* CPU time that they stand for */
	uint64_t off_ns;  /* waited right there, in ns */
};

struct sample_tree {
	struct sample_tree_node *nodes; /* parents before children */
	size_t cnt, cap;
	uint32_t *index; /* open addressing: index in nodes, plus 1 */
	size_t index_size;
};

/* What was seen of samples: where `functions` (outermost first) were open below a base. */
struct sample_place {
	uint32_t base;
	const uint32_t *functions;
	size_t cnt;
};

/* The members have the meaning of those of struct sample_tree_node. */
struct sample_figures {
	uint64_t samples, ns, off_ns;
};

/* Adds figures to a place. Returns 0 or -ENOMEM. */
int sample_tree__add(struct sample_tree *t, const struct sample_place *at,
		     const struct sample_figures *more);
void sample_tree__fini(struct sample_tree *t); /* of a zeroed one, too */

#endif
