/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One object of the target while it is being planned. Inside plan/ only. */
#ifndef PROFTRACE_PLAN_OBJECT_H
#define PROFTRACE_PLAN_OBJECT_H

#include <stdint.h>

struct elf_image;
struct exit_context;
struct filter;
struct filter_object;
struct plan;
struct plan_options;
struct symtab;

struct plan_object {
	struct elf_image *img; /* NULL: not ELF */
	struct symtab *tab;    /* NULL: not wanted, so far */
	char soname[128];
	unsigned traits;      /* TRAIT_* */
	const char *evidence; /* for them */
};

/* Plans the wanted functions of p->objects[index], whose symbols are loaded, and appends them to
 * the plan. Returns 0 or -errno. */
int plan_object__plan(struct plan *p, const struct filter_object *fobj, uint32_t index,
		      struct filter *filter, const struct plan_options *opts,
		      const struct exit_context *exit_ctx);

/* Replaces the return probes of the object's functions by other exits, for good. Returns 0 or
 * -errno. */
int plan_object__replace_returns(struct plan *p, uint32_t index, const struct plan_options *opts,
				 const struct exit_context *exit_ctx);

#endif
