// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "plan/object.h"
#include "plan/plan_lines.h"
#include "symbol/demangle.h"

static char *display_name(const char *symbol)
{
	char *name = demangle(symbol);

	return name ? name : strdup(symbol);
}

const char *plan__name(struct plan_function *f)
{
	if (!f->name)
		f->name = display_name(f->symbol);
	return f->name ? f->name : f->symbol;
}

const char *plan__skip_name(struct plan_skip *s)
{
	if (!s->name)
		s->name = display_name(s->symbol);
	return s->name ? s->name : s->symbol;
}

const char *plan__exit_kind(const struct plan *p, const struct plan_function *f)
{
	bool early = false, emulated = false;

	if (f->exit == EXIT_RETURN)
		return "return";
	if (f->closed_at_entry)
		return "entry";
	if (f->exit != EXIT_SITES)
		return "next";
	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		const struct plan_exit *exit = &p->exits[f->exits + i];

		if (exit->kind == CODE_EXIT_RET && !exit->emulated)
			return "ret";
		early |= exit->early;
		emulated |= exit->emulated;
	}
	return emulated ? "emulated" : early ? "early" : "jump";
}

bool plan__is_static(const struct plan *p, uint32_t index)
{
	return index < p->objects_cnt && p->objects[index].img &&
	       elf_image__is_static(p->objects[index].img);
}

void plan__free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->functions_cnt; i++)
		free(p->functions[i].name);
	for (size_t i = 0; i < p->skipped_cnt; i++)
		free(p->skipped[i].name);
	for (size_t i = 0; i < p->objects_cnt; i++)
		plan_object__clear(&p->objects[i]);
	plan_lines__free(p->lines);
	free(p->functions);
	free(p->exits);
	free(p->sites);
	free(p->skipped);
	free(p->hooks);
	free(p->objects);
	free(p);
}
