/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing plain arrays: `p`, `len` and `cap` live in the caller's struct. */
#ifndef PROFTRACE_UTIL_ARRAY_H
#define PROFTRACE_UTIL_ARRAY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* An array that is as long as it has room for: makes it `want` elements long, if it is shorter, of
 * which new ones are all 0. Returns 0 or -ENOMEM (the array stays as it was). */
static inline int array_grow(void **p, size_t *cnt, size_t want, size_t elem_size)
{
	void *grown;

	if (want <= *cnt)
		return 0;
	grown = reallocarray(*p, want, elem_size);
	if (!grown)
		return -ENOMEM;
	memset((char *)grown + *cnt * elem_size, 0, (want - *cnt) * elem_size);
	*p = grown;
	*cnt = want;
	return 0;
}

/* The typed form: ARRAY_GROW(&v->by_function, &v->cnt, functions_cnt). */
#define ARRAY_GROW(p, cnt, want) array_grow((void **)(p), (cnt), (want), sizeof(**(p)))

/* Room for one element more: ARRAY_RESERVE(&v->items, v->len, &v->cap). */
#define ARRAY_RESERVE(p, len, cap) ARRAY_RESERVE_MORE(p, len, 1, cap)

#endif
