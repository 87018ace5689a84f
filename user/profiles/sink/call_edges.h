/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile as a call graph, for formats that know no paths: functions, and arcs from callers to
 * callees. Functions that have module, file and name in common are one, as their names are all that
 * such formats know them by. Each thread is a function, too, which calls what is outermost in it.
 */
#ifndef PROFTRACE_SINK_CALL_EDGES_H
#define PROFTRACE_SINK_CALL_EDGES_H

#include <stddef.h>
#include <stdint.h>

struct listing;
struct profile;

enum cost { COST_WALL, COST_CPU, COST_OFF, COST_CALLS, COSTS }; /* ns, ns, ns, calls */

struct graph_function {
	uint32_t function; /* one of those that are this one, or for threads: which */
	uint64_t self[COSTS];
};

/* Cost of the calls of `callee` by `caller`, with all below. Recursion is counted once: an
 * inner call of a function adds nothing. So the arcs to a function sum up to its total. */
struct call_edge {
	uint32_t caller, callee; /* of graph::functions */
	uint64_t calls;
	uint64_t total[COSTS];
};

struct graph {
	struct graph_function *functions; /* by module, file and name; then the threads */
	size_t functions_cnt;
	size_t threads_from;	 /* of functions: the first thread */
	struct call_edge *edges; /* by caller and callee */
	size_t edges_cnt;
};

/* Needs profile__connect(). Time: n log n in the paths; memory: proportional to them. Returns 0 or
 * -ENOMEM. The caller clears it, always. */
int graph__init(struct graph *g, const struct profile *p, const struct listing *listing);
void graph__clear(struct graph *g);

#endif
