// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/callers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_image.h"
#include "exits/exits.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "symbol/symtab.h"
#include "symbol/system_calls.h"
#include "target/target.h"
#include "target/vdso.h"
#include "util/array.h"
#include "util/search.h"
#include "util/text.h"
#include "wire.h"

struct caller_object {
	bool loaded;
	const struct symtab *tab; /* NULL: it has none */
	struct symtab *own_tab;	  /* the same, if the plan does not have it; else NULL */
	uint32_t *functions;	  /* by symbol: its number in the plan, NONE */
	uint32_t nameless;	  /* what stands for code without symbols; NONE */
	char *name;		  /* of that */
	struct elf_image *img;	  /* of the vdso, and what is open for that; else NULL, -1 */
	int fd;
};

struct named_function {
	const char *outside; /* what it is in, instead of a file; borrowed */
	char *name;
	uint32_t function;
};

#define MADE_NAME "[anonymous]" /* the module of code in no file */
#define NONE	  UINT32_MAX
_Static_assert(NONE == PLANNED_NONE, "no function");
#define MOST_NAMED 16384 /* what is compiled again has another name with some compilers */

static int grow(struct plan_callers *c, size_t cnt)
{
	struct caller_object *grown;

	if (cnt <= c->objects_cnt)
		return 0;
	grown = reallocarray(c->objects, cnt, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = c->objects_cnt; i < cnt; i++)
		grown[i] = (struct caller_object){.nameless = NONE, .fd = -1};
	c->objects = grown;
	c->objects_cnt = cnt;
	return 0;
}

/* The symbols of a file, which the plan has of those that it has looked for functions in; what has
 * none that can be read goes without. */
static void load_symbols(struct caller_object *o, const struct plan *p, const struct target *t,
			 uint32_t object)
{
	const char *root = object < t->objects_cnt ? t->objects[object].root : "";
	const struct elf_image *img = NULL;

	if (object == CALLER_VDSO) {
		o->fd = vdso__open();
		if (o->fd >= 0 && !elf_image__try(o->fd, VDSO_NAME, &o->img))
			img = o->img;
	} else if (object < p->objects_cnt) {
		img = p->objects[object].img;
		o->tab = p->objects[object].tab;
	}
	if (!o->tab && img && !symtab__load(img, root, &o->own_tab))
		o->tab = o->own_tab;
}

static void clear(struct caller_object *o)
{
	free(o->functions);
	free(o->name);
	symtab__free(o->own_tab);
	elf_image__free(o->img);
	if (o->fd >= 0)
		close(o->fd);
	*o = (struct caller_object){.nameless = NONE, .fd = -1};
}

static int load(struct caller_object *o, const struct plan *p, const struct target *t,
		uint32_t object)
{
	const char *base = object == CALLER_NO_OBJECT ? "anonymous"
			   : object == CALLER_VDSO    ? "vdso"
						      : path_base(t->objects[object].path);
	size_t cnt;

	if (o->loaded)
		return 0;
	load_symbols(o, p, t, object);
	cnt = o->tab ? symtab__count(o->tab) : 0;
	o->functions = malloc((cnt + 1) * sizeof(*o->functions));
	if (!o->functions || asprintf(&o->name, "[%s]", base) < 0) {
		o->name = NULL;
		clear(o);
		return -ENOMEM;
	}
	memset(o->functions, 0xff, cnt * sizeof(*o->functions));
	o->loaded = true;
	return 0;
}

/* The symbol whose code is at `vaddr`; that of a function, if it is a piece of one. */
static uint32_t symbol_at(const struct symtab *tab, uint64_t vaddr)
{
	size_t at = LOWER_BOUND(symtab__count(tab), i, symtab__at(tab, i)->vaddr <= vaddr);

	while (at--) {
		const struct symbol *s = symtab__at(tab, at);

		if (s->piece_of != SYMTAB_NONE && vaddr - s->vaddr < s->size)
			return s->piece_of;
		if (s->kind == SYMBOL_NOTYPE)
			continue; /* a label, perhaps within a function */
		return !s->size || vaddr - s->vaddr < s->size ? at : NONE;
	}
	return NONE;
}

int plan_callers__append(struct plan *p, struct plan_function f, uint32_t *number)
{
	struct plan_function *grown;

	if (p->functions_cnt >= PLAN_MAX_FUNCTIONS)
		return -E2BIG;
	grown = reallocarray(p->functions, p->functions_cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->functions = grown;
	*number = p->functions_cnt;
	p->functions[p->functions_cnt++] = f;
	return 0;
}

int plan_callers__find(struct plan_callers *c, struct plan *p, const struct target *t,
		       uint32_t object, uint64_t vaddr, uint32_t *function)
{
	struct plan_function f = {
		.kind = PLAN_CALLER, .object = object, .exit = EXIT_NONE, .symbol_index = NONE};
	struct caller_object *o;
	uint32_t symbol = NONE, *number;
	size_t place = (size_t)object + 2; /* in our table */
	bool made = false;
	int err;

	if (object >= t->objects_cnt) {
		f.outside = object == CALLER_VDSO ? VDSO_NAME : NULL;
		object = f.outside ? object : CALLER_NO_OBJECT;
		place = !!f.outside;
		f.object = 0; /* the program has made it, or the kernel */
		made = !f.outside;
	}
	err = grow(c, place + 1);
	if (err)
		return err;
	o = &c->objects[place];
	err = load(o, p, t, object);
	if (err)
		return err;
	if (o->tab)
		symbol = symbol_at(o->tab, vaddr);
	number = symbol == NONE ? &o->nameless : &o->functions[symbol];
	f.symbol = o->name;
	if (symbol != NONE && *number == NONE) {
		const struct symbol *s = symtab__at(o->tab, symbol);

		f.symbol = s->name;
		f.aliases = s->aliases;
		f.aliases_cnt = s->aliases_cnt;
		f.offset = s->offset;
		f.size = s->size;
		if (!f.outside)
			err = planned__find(&c->planned, p, object, s->offset, number);
		if (err)
			return err;
	}
	f.reason = "known from stacks alone";
	if (made)
		f.outside = MADE_NAME;
	err = *number == NONE ? plan_callers__append(p, f, number) : 0;
	*function = *number;
	return err;
}

int plan_callers__kernel(struct plan_callers *c, struct plan *p, const char *name, uint64_t start,
			 uint32_t *function)
{
	const struct plan_function f = {.kind = PLAN_CALLER,
					.outside = "[kernel]",
					.symbol = name,
					.offset = start,
					.exit = EXIT_NONE,
					.reason = "known from stacks alone",
					.symbol_index = NONE};
	int err;

	for (size_t i = 0; i < c->kernel_cnt; i++) {
		if (strcmp(p->functions[c->kernel[i]].symbol, name))
			continue;
		*function = c->kernel[i];
		return 0;
	}
	err = ARRAY_RESERVE(&c->kernel, c->kernel_cnt, &c->kernel_cap);
	if (!err)
		err = plan_callers__append(p, f, function);
	if (!err)
		c->kernel[c->kernel_cnt++] = *function;
	return err;
}

int plan_callers__system_calls(struct plan_callers *c, struct plan *p, uint32_t *first)
{
	struct plan_function f = {.kind = PLAN_SYSTEM_CALL,
				  .outside = "[kernel]",
				  .exit = EXIT_NONE,
				  .reason = "the kernel tells of it",
				  .symbol_index = NONE};
	int err =
		ARRAY_RESERVE_MORE(&c->kernel, c->kernel_cnt, WIRE_CALL_FUNCTIONS, &c->kernel_cap);

	*first = p->functions_cnt;
	for (uint32_t i = 0; !err && i < WIRE_CALL_FUNCTIONS; i++) {
		f.outside = i < WIRE_CALLS + WIRE_ERRORS ? "[kernel]" : "[files]";
		f.symbol = i < WIRE_CALLS		  ? system_call__name(i)
			   : i < WIRE_CALLS + WIRE_ERRORS ? system_call__error_name(i - WIRE_CALLS)
							  : "[file]";
		err = plan_callers__append(p, f, &c->kernel[c->kernel_cnt++]);
	}
	return err;
}

/* The entry for `name` of `outside`, such as a JIT's function; made at the first call. -ENOSPC:
 * there are too many. */
static int find_named(struct plan_callers *c, struct plan *p, const char *outside, const char *name,
		      uint32_t *function)
{
	struct plan_function f = {.kind = PLAN_CALLER,
				  .outside = outside,
				  .exit = EXIT_NONE,
				  .reason = "known from stacks alone",
				  .symbol_index = NONE};
	int err;

	for (size_t i = 0; i < c->named_cnt; i++) {
		if (strcmp(c->named[i].outside, outside) || strcmp(c->named[i].name, name))
			continue;
		*function = c->named[i].function;
		return 0;
	}
	if (c->named_cnt == MOST_NAMED)
		return -ENOSPC;
	if (ARRAY_RESERVE(&c->named, c->named_cnt, &c->named_cap))
		return -ENOMEM;
	f.symbol = strdup(name);
	c->named[c->named_cnt] = (struct named_function){outside, (char *)f.symbol, 0};
	err = f.symbol ? plan_callers__append(p, f, function) : -ENOMEM;
	if (err) {
		free((char *)f.symbol);
		return err;
	}
	c->named[c->named_cnt++].function = *function;
	return 0;
}

int plan_callers__jit(struct plan_callers *c, struct plan *p, const struct target *t,
		      const char *name, uint32_t *function)
{
	int err = name ? find_named(c, p, "[JIT]", name, function) : -ENOSPC;

	return err == -ENOSPC ? plan_callers__find(c, p, t, CALLER_NO_OBJECT, 0, function) : err;
}

int plan_callers__wait(struct plan_callers *c, struct plan *p, const char *name, uint32_t *function)
{
	int err = find_named(c, p, "[waits]", name, function);

	return err == -ENOSPC ? plan_callers__kernel(c, p, "[more waits]", 0, function) : err;
}

int plan_callers__unmet(struct plan_callers *c, struct plan *p, uint32_t *function)
{
	return find_named(c, p, "[unknown]", "[not sampled]", function);
}

int plan_callers__unknown(struct plan_callers *c, struct plan *p, uint32_t *function)
{
	return find_named(c, p, "[unknown]", "[unknown]", function);
}

void plan_callers__free(struct plan_callers *c)
{
	for (size_t i = 0; i < c->objects_cnt; i++)
		clear(&c->objects[i]);
	for (size_t i = 0; i < c->named_cnt; i++)
		free(c->named[i].name);
	free(c->objects);
	free(c->named);
	free(c->kernel);
	planned__free(&c->planned);
	*c = (struct plan_callers){0};
}
