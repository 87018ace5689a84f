/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps from a call path to the next. */
#ifndef PROFTRACE_PATHS_BPF_H
#define PROFTRACE_PATHS_BPF_H

#include "frames.bpf.h"

/* The path of `function` below the path `from`; NULL, counted as lost: no room. Sets *looked_up if
 * it was not the one that was called from there last. */
static __always_inline struct wire_node *path_below(u32 callstack, u32 from, u32 function,
						    u32 *number, bool *looked_up)
{
	struct wire_node *caller = node_at(from), *n;

	if (!caller)
		return 0;
	*number = caller->last_child;
	n = node_at(*number);
	if (n && n->function == function && n->parent == from)
		return n;
	*number = node_child(callstack, from, function);
	*looked_up = true;
	caller->last_child = *number;
	n = node_at(*number);
	if (*number && n)
		return n;
	count_lost(WIRE_LOST_PATHS);
	return 0;
}

#endif
