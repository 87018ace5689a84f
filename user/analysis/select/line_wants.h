/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells which functions of an object --lines concerns. */
#ifndef PROFTRACE_SELECT_LINE_WANTS_H
#define PROFTRACE_SELECT_LINE_WANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_image;
struct filter_object;
struct line_specs;
struct line_table;
struct symtab;

struct line_range {
	uint64_t begin, end;
};

struct line_wants {
	struct line_table *table; /* only while the object is planned; NULL: none */
	int err;		  /* why there is none, as line_table__open() has it */
	bool looked;
	bool named;		   /* its functions may be asked for by name */
	struct line_range *ranges; /* code of lines that are asked for, by address */
	size_t cnt, cap;
};

/* Looks for what the object has of what is asked for, once. Returns 0 or -ENOMEM. */
int line_wants__look(struct line_wants *w, struct line_specs *specs, const struct elf_image *img,
		     const char *root, const struct filter_object *obj);
void line_wants__clear(struct line_wants *w);

static inline bool line_wants__any(const struct line_wants *w)
{
	return w->named || w->cnt;
}

/*
 * firsts[i], all 0 before, becomes for each function that is concerned the distance from its begin
 * to the code of its second line: where it is probed best. UINT32_MAX: there is none.
 * Returns 0 or -ENOMEM.
 */
int line_wants__mark(struct line_wants *w, struct line_specs *specs,
		     const struct filter_object *obj, const struct symtab *tab, uint32_t *firsts);

#endif
