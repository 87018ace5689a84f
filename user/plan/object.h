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
	struct elf_image *img; /* NULL: not ELF, and not wanted */
	struct symtab *tab;    /* NULL: not wanted */
	char soname[128];
	unsigned traits; /* TRAIT_* */
};

/* Plans the wanted functions of p->objects[index], whose symbols are loaded, and appends them to
 * the plan. Returns 0 or -errno. */
int plan_object__plan(struct plan *p, const struct filter_object *fobj, uint32_t index,
		      struct filter *filter, const struct plan_options *opts,
		      const struct exit_context *exit_ctx);

#endif
