/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of regions and marks (-A 'region:NAME(arg1, arg2:s)'): where they lie is said by the note
 * of each probe, so each site may have a list of its own.
 */
#ifndef PROFTRACE_SELECT_PROBE_VALUES_H
#define PROFTRACE_SELECT_PROBE_VALUES_H

#include <stdbool.h>
#include <stdint.h>

struct arguments;
struct thread_values;

/*
 * Finds the number of the list of values for a site of region `name`; 0: none. `texts` is what
 * its note says of them; NULL: it is a function, with arguments as any other. Values that
 * cannot be found are told by named_arguments__report(); *refused: and the region's conditions
 * cannot be seen to. Returns 0 or -ENOMEM.
 */
int probe_values__find(struct arguments *a, struct thread_values *locals, const char *name,
		       const char *texts, uint32_t *list, bool *refused);

#endif
