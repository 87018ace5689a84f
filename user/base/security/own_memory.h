/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory the control group that proftrace is in may have. */
#ifndef PROFTRACE_SECURITY_OWN_MEMORY_H
#define PROFTRACE_SECURITY_OWN_MEMORY_H

#include <stdint.h>

/* In bytes: the lowest limit of the group and those above it (memory.max of control groups v2,
 * memory.limit_in_bytes of v1). UINT64_MAX: none is known. */
uint64_t own_memory__limit(void);

/* Warns if that is less than a run needs: the kernel may then end proftrace without a word. */
void own_memory__check(void);

#endif
