/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code calls which, over all objects, and what follows from it: a node is safe unless it is
 * spoilt by itself or calls one that is not safe. Of all answers that fit, that is the greatest, so
 * recursion alone spoils nothing: whatever could go wrong would have to begin in a spoilt node.
 */
#ifndef PROFTRACE_EXITS_CALL_GRAPH_H
#define PROFTRACE_EXITS_CALL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_graph;

struct call_node {
	uint64_t vaddr;
	uint32_t object;
	bool known;  /* its calls have been added */
	bool spoilt; /* after call_graph__spread(): not safe */
};

#define CALL_NODE_NONE UINT32_MAX

struct call_graph *call_graph__new(void);    /* NULL: out of memory */
void call_graph__free(struct call_graph *g); /* accepts NULL */

/* The node of the code at `vaddr` of an object, made at its first mention, numbered from 0.
 * CALL_NODE_NONE: out of memory. */
uint32_t call_graph__node(struct call_graph *g, uint32_t object, uint64_t vaddr);
size_t call_graph__count(const struct call_graph *g);
/* Valid until the next call_graph__node(). */
struct call_node *call_graph__at(struct call_graph *g, uint32_t node);

int call_graph__add_call(struct call_graph *g, uint32_t from, uint32_t to); /* 0 or -ENOMEM */

/* Spoils all that calls what is spoilt. Returns 0 or -ENOMEM. */
int call_graph__spread(struct call_graph *g);

#endif
