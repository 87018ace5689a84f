// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/object.h"

#include <errno.h>
#include <stdlib.h>

#include "code/stack_loads.h"
#include "dwarf/line_table.h"
#include "elf/elf_image.h"
#include "elf/linkage.h"
#include "select/filter.h"
#include "symbol/instrumented.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "symbol/usdt.h"
#include "target/target.h"
#include "unwind/eh_frame.h"

int plan_object__load_eh_frame(struct plan_object *obj)
{
	if (obj->eh_loaded)
		return 0;
	obj->eh_loaded = true;
	return eh_frame__load(obj->img, &obj->eh) == -ENOMEM ? -ENOMEM : 0;
}

int plan_object__look_for_loads(struct plan_object *obj)
{
	int err = obj->loads_looked_for ? 0 : plan_object__load_eh_frame(obj);

	if (err || obj->loads_looked_for)
		return err;
	obj->loads_looked_for = true;
	obj->loads_stack = stack_loads__any(obj->img, obj->eh);
	return 0;
}

int plan_object__look_at_nameless(struct plan_object *obj)
{
	size_t cnt = symtab__count(obj->tab), i = 0;
	int err;

	/* A static program has a C library's machinery in it, and a file that looks for unwind
	 * tables has an unwinder. */
	if (elf_image__is_static(obj->img) || obj->traits & (TRAIT_LIBC | TRAIT_GO | TRAIT_TABLES))
		return 0;
	while (i < cnt && !symtab__at(obj->tab, i)->nameless)
		i++;
	if (i == cnt)
		return 0;
	err = plan_object__look_for_loads(obj);
	obj->trust_nameless = !err && !obj->loads_stack;
	return err;
}

void plan_object__clear(struct plan_object *obj)
{
	line_table__free(obj->source);
	line_wants__clear(&obj->lines);
	eh_frame__free(obj->eh);
	linkage__free(obj->linkage);
	instrumented__free(obj->instrumented);
	symtab__free(obj->tab);
	usdt__free(obj->usdt);
	patches__clear(&obj->patches);
	free(obj->probes);
	elf_image__free(obj->img);
}

struct filter_object plan_object__names(const struct plan_object *obj,
					const struct target_object *tobj)
{
	return (struct filter_object){tobj->path, obj->soname, tobj->is_main};
}
