/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names most like one that matched nothing: for "did you mean". */
#ifndef PROFTRACE_SELECT_NEAREST_H
#define PROFTRACE_SELECT_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX  5
#define NEAREST_NAME 128

struct nearest {
	char names[NEAREST_MAX][NEAREST_NAME]; /* best first; cut if they are longer */
	unsigned scores[NEAREST_MAX];
	size_t cnt;
	char wanted[128]; /* the pattern without its glob characters */
};

void nearest__init(struct nearest *n, const char *pattern);

/* Considers `name`. Names too unlike are left out, as are those that are there already. */
void nearest__offer(struct nearest *n, const char *name);

/* Considers a function in another object than the one that is spoken of: it is shown as
 * "libc.so.6:malloc", behind those that are as near without. */
void nearest__offer_in(struct nearest *n, const char *object, const char *name);

/* The names as "a, b, c" in `buf`; "" if there are none. */
char *nearest__text(const struct nearest *n, char *buf, size_t size);

#endif
