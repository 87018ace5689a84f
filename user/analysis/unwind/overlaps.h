/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranges of code that a file gives, which may overlap. Inside unwind/ only. */
#ifndef PROFTRACE_UNWIND_OVERLAPS_H
#define PROFTRACE_UNWIND_OVERLAPS_H

#include <stddef.h>

/* Sorts ranges by their starts and leaves out those that overlap others: none of them can be
 * trusted. Each has `size` bytes, and begins with its start and end, 64 bits each. Returns how many
 * are left. */
size_t overlaps__drop(void *ranges, size_t cnt, size_t size);

#endif
