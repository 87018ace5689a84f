// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/locate.h"

#include <errno.h>
#include <stdlib.h>

#include "dwarf/dwarf_budget.h"
#include "dwarf/source.h"
#include "elf/elf_image.h"
#include "plan/lookups.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "symbol/symtab.h"
#include "target/target.h"
#include "util/clock.h"
#include "util/log.h"

/* Functions of one object. */
struct located {
	struct source_place place;
	uint32_t function;
};

static int located_order(const void *a, const void *b)
{
	const struct located *x = a, *y = b;

	if (x->place.vaddr != y->place.vaddr)
		return x->place.vaddr < y->place.vaddr ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

static int open_source(struct plan_object *obj, const struct target_object *target)
{
	int err;

	if (obj->source_opened)
		return 0;
	obj->source_opened = true;
	err = source__open(obj->img, target->root, &obj->source);
	if (err && err != -ENOENT && err != -ENOMEM)
		log_debug("%s: its debug information is kept in a way that is not read",
			  target->path);
	return err == -ENOMEM ? err : 0;
}

static int find(struct plan_place *out, struct plan_object *obj, const struct target_object *target,
		struct located *items, size_t cnt)
{
	uint64_t began_ns = now_ns();
	struct source_place *places;
	size_t found = 0;
	int err = open_source(obj, target);

	if (err || !obj->source)
		return err;
	places = calloc(cnt, sizeof(*places));
	if (!places)
		return -ENOMEM;
	qsort(items, cnt, sizeof(*items), located_order);
	for (size_t i = 0; i < cnt; i++)
		places[i] = items[i].place;
	err = source__find(obj->source, places, cnt);
	for (size_t i = 0; i < cnt && !err; i++) {
		struct plan_place *place = &out[items[i].function];

		place->file = places[i].file;
		place->line = places[i].line;
		found += place->file != NULL;
	}
	free(places);
	log_debug("%s: source of %zu of %zu functions found in %.3f s", target->path, found, cnt,
		  (double)(now_ns() - began_ns) / 1e9);
	return err;
}

/* The address whose place in the source is the function's, or the region's. */
static bool address_of(const struct plan_object *obj, const struct plan_function *f,
		       uint64_t *vaddr)
{
	if (!obj->img)
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
	struct plan_place *grown = reallocarray(l->places, cnt + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->places = grown;
	while (l->places_cnt < cnt)
		grown[l->places_cnt++] = (struct plan_place){0};
	return 0;
}

int plan__locate(const struct plan *p, const struct target *t, const bool *wanted,
		 const struct plan_place **places)
{
	struct located *items = calloc(p->functions_cnt + 1, sizeof(*items));
	size_t cnt, at = 0;
	int err = items ? grow(p->lookups, p->functions_cnt) : -ENOMEM;

	dwarf_budget__renew();
	while (at < p->functions_cnt && !err) {
		uint32_t object = p->functions[at].object;
		struct plan_object *obj = &p->objects[object];

		for (cnt = 0; at < p->functions_cnt && p->functions[at].object == object; at++) {
			struct plan_place *place = &p->lookups->places[at];
			uint64_t vaddr;

			if (!wanted[at] || place->looked ||
			    !address_of(obj, &p->functions[at], &vaddr))
				continue;
			place->looked = true;
			items[cnt++] = (struct located){{.vaddr = vaddr}, at};
		}
		if (cnt)
			err = find(p->lookups->places, obj, &t->objects[object], items, cnt);
	}
	free(items);
	*places = p->lookups->places;
	return err;
}
