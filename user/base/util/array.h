/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing plain arrays: `p`, `len` and `cap` live in the caller's struct. */
#ifndef PROFTRACE_UTIL_ARRAY_H
#define PROFTRACE_UTIL_ARRAY_H

#include <errno.h>
#include <stdlib.h>

/* Makes room for `need` elements of `elem_size` bytes. Returns 0 or -ENOMEM (the array stays as it
 * was). */
static inline int array_reserve(void **p, size_t need, size_t *cap, size_t elem_size)
{
	size_t want = *cap ? *cap : 16;
	void *grown;

	if (need <= *cap)
		return 0;
	while (want < need)
		want *= 2;
	grown = reallocarray(*p, want, elem_size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}

/* The typed form, for `cnt` elements more: ARRAY_RESERVE_MORE(&v->items, v->len, cnt, &v->cap). */
#define ARRAY_RESERVE_MORE(p, len, cnt, cap) \
	array_reserve((void **)(p), (len) + (cnt), (cap), sizeof(**(p)))

/* Room for one element more: ARRAY_RESERVE(&v->items, v->len, &v->cap). */
#define ARRAY_RESERVE(p, len, cap) ARRAY_RESERVE_MORE(p, len, 1, cap)

#endif
