/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose function a call by name reaches. The dynamic linker takes the first object in its order
 * that defines the name; to foresee that, without knowing the order, exactly one mapped object may
 * define it. Caller and definer must have come with the program: what it loads later by itself
 * stands behind them in the order, and so can't come between; but it may come before what else
 * was loaded later.
 */
#ifndef PROFTRACE_EXITS_BINDINGS_H
#define PROFTRACE_EXITS_BINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bindings;
struct linkage;

enum binding {
	BINDING_UNKNOWN,
	BINDING_LIBC, /* some object of the C library */
	BINDING_OBJECT,
};

/* One mapped object. */
struct bindings_object {
	const struct linkage *linkage; /* NULL: not ELF */
	const char *soname;	       /* "" if it has none */
	const char *path;
	bool is_libc;
};

/* `objects` must outlive the bindings. Returns 0 or -ENOMEM. */
int bindings__new(const struct bindings_object *objects, size_t cnt, struct bindings **out);
void bindings__free(struct bindings *b); /* accepts NULL */

/* The object that defines `name` for object number `from`. BINDING_OBJECT: sets *object and *vaddr
 * (0: the function is chosen when it is bound). */
enum binding bindings__of(const struct bindings *b, uint32_t from, const char *name,
			  uint32_t *object, uint64_t *vaddr);

#endif
