// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/locate.h"

#include <errno.h>
#include <stdlib.h>

#include "dwarf/dwarf_budget.h"
#include "dwarf/line_table.h"
#include "elf/debug_file.h"
#include "elf/elf_image.h"
#include "plan/lookups.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "symbol/symtab.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"

static int open_source(struct plan_object *obj, const struct target_object *target)
{
	int err;

	if (obj->source_opened)
		return 0;
	obj->source_opened = true;
	err = line_table__open(obj->img, target->root, &obj->source);
	if (err && err != -ENOENT && err != -ENOMEM)
		log_debug("%s: its debug information is kept in a way that is not read",
			  target->path);
	return err == -ENOMEM ? err : 0;
}

/* The address whose place in the source is the function's, or the region's. */
static bool address_of(const struct plan_object *obj, const struct plan_function *f,
		       uint64_t *vaddr)
{
	if (!obj->img || f->outside)
		return false;
	if (f->kind != PLAN_FUNCTION)
		return elf_image__exec_vaddr(obj->img, f->offset, vaddr);
	if (!obj->tab)
		return false;
	*vaddr = symtab__at(obj->tab, f->symbol_index)->vaddr;
	return true;
}

static int grow(struct plan_lookups *l, size_t cnt)
{
	struct plan_place *grown;

	if (cnt < l->places_cnt)
		return 0;
	grown = reallocarray(l->places, cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	l->places = grown;
	while (l->places_cnt < cnt)
		grown[l->places_cnt++] = (struct plan_place){0};
	return 0;
}

static int locate(struct plan_object *obj, const struct target_object *target, uint64_t vaddr,
		  struct plan_place *out)
{
	struct line_row row;
	int err = open_source(obj, target);

	if (err || !obj->source)
		return err;
	err = line_table__place(obj->source, vaddr, &row);
	out->file = row.file;
	out->line = row.line;
	return err;
}

int plan__locate(const struct plan *p, const struct target *t, const bool *wanted,
		 const struct plan_place **places)
{
	int err = grow(p->lookups, p->functions_cnt);
	uint64_t began_ns = now_ns();
	size_t looked = 0;

	dwarf_budget__renew();
	debug_file__renew();
	for (size_t i = 0; i < p->functions_cnt && !err; i++) {
		const struct plan_function *f = &p->functions[i];
		struct plan_place *place = &p->lookups->places[i];
		uint64_t vaddr;

		if (!wanted[i] || place->looked || !address_of(&p->objects[f->object], f, &vaddr))
			continue;
		place->looked = true;
		looked++;
		err = locate(&p->objects[f->object], &t->objects[f->object], vaddr, place);
	}
	log_debug("looked for the source of %zu functions in %.3f s", looked,
		  (double)(now_ns() - began_ns) / 1e9);
	*places = p->lookups->places;
	return err;
}

int plan__source(const struct plan *p, const struct target *t, uint32_t object,
		 struct line_table **out)
{
	struct plan_object *obj = &p->objects[object];
	int err = obj->img ? open_source(obj, &t->objects[object]) : 0;

	*out = obj->source;
	return err;
}

int plan__place(const struct plan *p, uint32_t function, const char *file, uint32_t line)
{
	int err = grow(p->lookups, (size_t)function + 1);

	if (!err)
		p->lookups->places[function] = (struct plan_place){file, line, true};
	return err;
}
