/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the order of ends to the order of beginnings. Inside record/ only, and for its tests. */
#ifndef PROFTRACE_RECORD_CALLS_PREORDER_H
#define PROFTRACE_RECORD_CALLS_PREORDER_H

#include <stdint.h>

struct timeline_call;

/*
 * order[] = the calls' indexes in order of their beginning, of those that begin at once the ones
 * that end later first. The calls are in order of their ends, callees before callers. Where they
 * nest, that takes linear time; where they do not, they are sorted. `scratch` has room for 2 * cnt.
 */
void preorder__of(const struct timeline_call *calls, uint32_t cnt, uint32_t *order,
		  uint32_t *scratch);

#endif
