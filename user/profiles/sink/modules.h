/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the listed functions of a profile are from, numbered. */
#ifndef PROFTRACE_SINK_MODULES_H
#define PROFTRACE_SINK_MODULES_H

#include <stddef.h>
#include <stdint.h>

struct listing;
struct profile;

struct module {
	const char *path; /* borrowed; "" if unknown */
	uint64_t end;	  /* the offset behind the start of its last function */
};

struct modules {
	struct module *list; /* by path */
	size_t cnt;
	uint32_t *of; /* by function: which of the list */
};

/* Returns 0 or -ENOMEM. The caller clears it, always. */
int modules__init(struct modules *m, const struct profile *p, const struct listing *functions);
void modules__clear(struct modules *m);

#endif
