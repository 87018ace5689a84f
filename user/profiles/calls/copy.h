/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_CALLS_COPY_H
#define PROFTRACE_CALLS_COPY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* *copy = `cnt` elements of `size` bytes from `array`, or NULL if there are none. Returns 0 or
 * -ENOMEM. */
static inline int copy_array(const void *array, size_t cnt, size_t size, void *copy)
{
	void *p = NULL;

	if (cnt) {
		p = reallocarray(NULL, cnt, size);
		if (!p)
			return -ENOMEM;
		memcpy(p, array, cnt * size);
	}
	*(void **)copy = p;
	return 0;
}

#endif
