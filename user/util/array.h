/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing plain arrays: `p`, `len` and `cap` live in the caller's struct. */
#ifndef PROFTRACE_UTIL_ARRAY_H
#define PROFTRACE_UTIL_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* Makes room for one more element of `elem_size` bytes behind `len`. Returns 0 or -ENOMEM (the
 * array stays as it was). */
static inline int array_reserve(void **p, size_t len, size_t *cap, size_t elem_size)
{
	size_t want;
	void *grown;

	if (len < *cap)
		return 0;
	want = *cap ? *cap * 2 : 16;
	grown = reallocarray(*p, want, elem_size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}

/* ARRAY_RESERVE(&v->items, v->len, &v->cap): the typed form. */
#define ARRAY_RESERVE(p, len, cap) array_reserve((void **)(p), (len), (cap), sizeof(**(p)))

#endif
