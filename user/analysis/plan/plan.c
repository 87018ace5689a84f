// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "plan/lookups.h"
#include "plan/object.h"
#include "plan/plan_lines.h"
#include "symbol/demangle.h"
#include "symbol/traits.h"
#include "util/array.h"
#include "util/cxx_name.h"

/* Bytes of names that are kept: libLLVM's 94,585 functions have 9 MB. In a file made for it a
 * symbol of a hundred bytes stands for a name of 64 KB, and many functions may have it. */
#define MAX_NAMES (256u << 20)

/* The demangled name, or the symbol, and `mark`. The caller frees it; NULL: no memory. */
static char *readable(const char *symbol, const char *mark)
{
	char *plain = demangle(symbol), *name;

	if (asprintf(&name, "%s%s", plain ?: symbol, mark) < 0)
		name = NULL;
	free(plain);
	return name;
}

/* `cnt`: how many names there can be by now. */
static const char *demangled(struct plan_names *names, size_t cnt, size_t index, const char *symbol,
			     const char *mark)
{
	if (ARRAY_GROW(&names->items, &names->cnt, cnt))
		return symbol;
	if (!names->items[index] && names->bytes < MAX_NAMES) {
		names->items[index] = readable(symbol, mark);
		names->bytes += names->items[index] ? strlen(names->items[index]) + 1 : 0;
	}
	return names->items[index] ?: symbol;
}

const char *plan__name(const struct plan *p, size_t function)
{
	const struct plan_function *f = &p->functions[function];

	return f->own
		       ?: demangled(&p->lookups->functions, p->functions_cnt, function, f->symbol,
				    f->kind == PLAN_INLINED ? INLINED_MARK : "");
}

const char *plan__skip_name(const struct plan *p, size_t skipped)
{
	const struct plan_skip *s = &p->skipped[skipped];

	return s->own ?: demangled(&p->lookups->skipped, p->skipped_cnt, skipped, s->symbol, "");
}

bool plan__exits_step(const struct plan *p, const struct plan_function *f)
{
	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		const struct plan_exit *exit = &p->exits[f->exits + i];

		if (exit->steps && !exit->emulated)
			return true;
	}
	return false;
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
	const struct elf_image *img = index < p->objects_cnt ? p->objects[index].img : NULL;

	/* A library that needs no other one looks static, but has no entry point. */
	return img && elf_image__is_static(img) && elf_image__entry(img);
}

static void names_clear(struct plan_names *names)
{
	for (size_t i = 0; i < names->cnt; i++)
		free(names->items[i]);
	free(names->items);
}

static void lookups_free(struct plan_lookups *l)
{
	if (!l)
		return;
	names_clear(&l->functions);
	names_clear(&l->skipped);
	free(l->places);
	free(l);
}

bool plan__uses_returns(const struct plan *p)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].exit == EXIT_RETURN)
			return true;
	}
	return false;
}

bool plan__may_share_links(const struct plan *p)
{
	return p->may_fork && !(p->traits & TRAIT_MOVES);
}

void plan__free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->functions_cnt; i++)
		free(p->functions[i].own);
	for (size_t i = 0; i < p->skipped_cnt; i++)
		free(p->skipped[i].own);
	for (size_t i = 0; i < p->objects_cnt; i++)
		plan_object__clear(&p->objects[i]);
	plan_lines__free(p->lines);
	lookups_free(p->lookups);
	free(p->functions);
	free(p->exits);
	free(p->sites);
	free(p->skipped);
	free(p->hooks);
	free(p->objects);
	free(p);
}
