/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of a GLOB for functions. */
#ifndef PROFTRACE_UTIL_GLOB_H
#define PROFTRACE_UTIL_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Where the OBJECT part of a GLOB that has one (OBJECT:FUNC) ends: the first colon that is not half
 * of a "::", or NULL. */
static inline const char *glob_object_end(const char *glob)
{
	for (const char *c = glob; *c; c++) {
		if (*c != ':')
			continue;
		if (c[1] != ':')
			return c;
		c++;
	}
	return NULL;
}

/* Whether a GLOB speaks of regions: region:NAME. */
static inline bool glob_is_region(const char *glob)
{
	return !strncmp(glob, "region:", 7);
}

#endif
