// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Places in an object's code where a region may begin or end are gathered from its notes and
 * symbols, named, and sorted by name; places of one name are one region.
 */
#include "regions/regions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "elf/elf_image.h"
#include "plan/exit_strategy.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/patched.h"
#include "plan/plan.h"
#include "plan/thread_locals.h"
#include "regions/region_flow.h"
#include "regions/region_sites.h"
#include "regions/regions_inside.h"
#include "select/filter.h"
#include "select/probe_name.h"
#include "select/probe_values.h"
#include "select/usdt_pattern.h"
#include "symbol/symtab.h"
#include "symbol/usdt.h"
#include "target/target.h"
#include "util/array.h"
#include "util/log.h"
#include "util/search.h"

bool regions__is_site(const struct symbol *sym)
{
	enum probe_role role;

	return probe_name__of_function(sym->name, &role) != NULL;
}

/* Takes over both names, which may be NULL for want of memory. */
static int add(struct regions *r, char *name, char *own, const struct candidate *what)
{
	int err = name ? ARRAY_RESERVE(&r->candidates, r->cnt, &r->cap) : -ENOMEM;

	if (err) {
		free(name);
		free(own);
		return err;
	}
	r->candidates[r->cnt] = *what;
	r->candidates[r->cnt].name = name;
	r->candidates[r->cnt++].own = own;
	return 0;
}

static char *joined(const char *provider, const char *name, size_t len)
{
	char *text;

	return asprintf(&text, "%s:%.*s", provider, (int)len, name) < 0 ? NULL : text;
}

/* A probe of proftrace.h. */
static int add_own(struct regions *r, const struct usdt_probe *probe, struct candidate *what)
{
	struct probe_name name = probe_name__own(probe->name);

	what->role = name.role;
	return add(r, strndup(probe->name, name.len), NULL, what);
}

/* Another program's, which is wanted. */
static int add_foreign(struct regions *r, const struct usdt_probe *probe,
		       const struct usdt_pattern *pattern, enum probe_role half,
		       struct candidate *what)
{
	struct probe_name name = probe_name__foreign(probe->name);
	char *own;

	if (half != PROBE_MARK) {
		what->role = half;
		return add(r, joined(pattern->provider, pattern->name, strlen(pattern->name)), NULL,
			   what);
	}
	own = joined(probe->provider, probe->name, strlen(probe->name));
	if (!own)
		return -ENOMEM;
	what->role = name.role;
	return add(r, joined(probe->provider, probe->name, name.len), own, what);
}

/* The object's static probes. What cannot be read counts as not there: then there are none. */
static int need_probes(struct plan_object *obj)
{
	int err = obj->usdt ? 0 : usdt__load(obj->img, &obj->usdt);

	return err == -ENOMEM ? err : 0;
}

static int gather_probes(struct regions *r)
{
	const struct usdt_probe *probes;
	int err = need_probes(r->obj);
	size_t cnt;

	if (err || !r->obj->usdt)
		return err;
	probes = usdt__probes(r->obj->usdt, &cnt);
	for (size_t i = 0; !err && i < cnt; i++) {
		const struct usdt_probe *probe = &probes[i];
		enum probe_role half = PROBE_MARK;
		const struct usdt_pattern *pattern =
			usdt_patterns__match(r->opts->usdt, &r->names, probe, &half);
		struct candidate what = {.vaddr = probe->vaddr,
					 .offset = probe->offset,
					 .semaphore = probe->semaphore,
					 .arguments = probe->arguments,
					 .forced = pattern != NULL};

		if (!strcmp(probe->provider, REGIONS_PROVIDER) && half == PROBE_MARK)
			err = add_own(r, probe, &what);
		else if (pattern)
			err = add_foreign(r, probe, pattern, half, &what);
	}
	return err;
}

static int gather_functions(struct regions *r, const char *root)
{
	int err = 0;

	if (!elf_image__mentions(r->obj->img, "proftrace_begin_"))
		return 0;
	err = region_sites__need_symbols(r, root);
	for (size_t i = 0; !err && r->tab && i < symtab__count(r->tab); i++) {
		const struct symbol *sym = symtab__at(r->tab, i);
		struct candidate what = {.vaddr = sym->vaddr,
					 .offset = sym->offset,
					 .arguments = "",
					 .function = true,
					 .assembly = probe_name__is_assembly(sym->name)};
		const char *name = probe_name__of_function(sym->name, &what.role);

		if (name && sym->kind == SYMBOL_FUNC && sym->piece_of == SYMTAB_NONE)
			err = add(
				r,
				strndup(name, strlen(name) - (what.assembly ? strlen(".abi0") : 0)),
				NULL, &what);
	}
	return err;
}

/* In the order in which they make up regions. */
static int order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);
	int mark = (x->role == PROBE_MARK) - (y->role == PROBE_MARK);

	if (by_name || mark)
		return by_name ? by_name : mark;
	if (x->role != y->role)
		return x->role < y->role ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static bool is_same_region(const struct candidate *a, const struct candidate *b)
{
	return !strcmp(a->name, b->name) && (a->role == PROBE_MARK) == (b->role == PROBE_MARK);
}

/* The index behind the last candidate of the same region. */
static size_t region_end(const struct regions *r, size_t from)
{
	size_t to = from;

	while (to < r->cnt && is_same_region(&r->candidates[from], &r->candidates[to]))
		to++;
	return to;
}

/* Other programs' probes that have found no partner are marks. */
static void part(struct regions *r)
{
	for (size_t i = 0, end; i < r->cnt; i = end) {
		struct candidate *c = r->candidates;
		bool paired;

		end = region_end(r, i);
		paired = c[i].role == PROBE_BEGIN && c[end - 1].role == PROBE_END;
		for (size_t k = i; k < end && !paired; k++) {
			if (!c[k].own)
				continue;
			free(c[k].name);
			c[k].name = c[k].own;
			c[k].own = NULL;
			c[k].role = PROBE_MARK;
		}
	}
}

/* Leaves a region, or one of its sites, out. Takes over the name. */
static int skip(struct regions *r, char *name, const char *reason)
{
	struct plan *p = r->plan;
	struct plan_skip *grown =
		name ? reallocarray(p->skipped, p->skipped_cnt + 1, sizeof(*grown)) : NULL;

	if (!grown) {
		free(name);
		return -ENOMEM;
	}
	p->skipped = grown;
	p->skipped[p->skipped_cnt++] = (struct plan_skip){
		.symbol = name, .own = name, .object = r->object, .reason = reason};
	return 0;
}

/* Finds the list of values to be read at a begin. *refused: it cannot be, and whether the region is
 * wanted depends on it. */
static int find_values(struct regions *r, const struct candidate *c, struct plan_site *site,
		       bool *refused)
{
	uint32_t list = 0;
	int err = 0;

	*refused = false;
	if (r->opts->arguments && c->role != PROBE_END)
		err = probe_values__find(r->opts->arguments, &r->locals->values, c->name,
					 c->function ? NULL : c->arguments, &list, refused);
	site->list = list;
	return err;
}

#define MAX_EDGES 256 /* of a region that may be a span: they are compared with each other */

/* Sets *ordered if candidates [from, to) are a span's. Returns 0 or -ENOMEM. */
static int find_order(struct regions *r, size_t from, size_t to, bool *ordered)
{
	struct region_edge *edges;
	int err = 0;

	*ordered = false;
	if (to - from > MAX_EDGES || r->candidates[from].role == PROBE_MARK)
		return 0;
	err = plan_object__load_eh_frame(r->obj);
	if (!err && !r->flow)
		err = region_flow__new(r->obj->img, r->insn, r->obj->eh, &r->flow);
	edges = calloc(to - from, sizeof(*edges));
	if (!err && !edges)
		err = -ENOMEM;
	for (size_t i = from; !err && i < to; i++) {
		edges[i - from] = (struct region_edge){
			.vaddr = r->candidates[i].vaddr,
			.ends = r->candidates[i].role == PROBE_END,
		};
	}
	if (!err)
		err = region_flow__outlives(r->flow, edges, to - from, ordered);
	free(edges);
	return err;
}

/* The sites of candidates [from, to). */
static int add_sites(struct regions *r, const char *root, struct plan_function *f, size_t from,
		     size_t to)
{
	struct plan *p = r->plan;
	const char *reason;
	bool refused, assembly = false, called = false;
	int err = 0;

	for (size_t i = from; i < to; i++) {
		assembly |= r->candidates[i].assembly;
		/* There it is the stack pointer alone that tells whose frame it is. */
		called |= r->candidates[i].function ||
			  region_sites__is_called_end(r, &r->candidates[i]);
	}
	if (!called)
		err = find_order(r, from, to, &f->ordered);
	for (size_t i = from; !err && i < to; i++) {
		const struct candidate *c = &r->candidates[i];

		if (i > from && c->offset == c[-1].offset && c->role == c[-1].role)
			continue; /* two notes say the same */
		if (assembly && c->function && !c->assembly)
			continue; /* it calls the one in assembly */
		err = ARRAY_RESERVE(&p->sites, p->sites_cnt, &p->sites_cap);
		if (err)
			return err;
		reason = region_sites__choose(r, root, c, &p->sites[p->sites_cnt]);
		if (!reason) {
			err = find_values(r, c, &p->sites[p->sites_cnt], &refused);
			reason = refused ? "the values that decide about it cannot be read" : NULL;
		}
		if (reason) {
			err = skip(r, strdup(c->name), reason);
			continue;
		}
		if (!called && !f->ordered)
			region_sites__place_frame(r, c, &p->sites[p->sites_cnt]);
		p->sites_cnt++;
		if (c->role == PROBE_END)
			f->ends_cnt++;
		else
			f->begins_cnt++;
	}
	return err;
}

/* The region or mark of candidates [from, to), whose name it takes over. */
static int add_region(struct regions *r, const char *root, size_t from, size_t to)
{
	struct plan *p = r->plan;
	struct candidate *c = &r->candidates[from];
	struct plan_function f = {
		.kind = c->role == PROBE_MARK ? PLAN_MARK : PLAN_REGION,
		.symbol = c->name,
		.own = c->name,
		.object = r->object,
		.exit = EXIT_NONE,
		.sites = p->sites_cnt,
		.symbol_index = SYMTAB_NONE,
	};
	struct plan_function *grown;
	const struct plan_site *first;
	int err = add_sites(r, root, &f, from, to);

	if (err)
		return err;
	if (!f.begins_cnt) {
		p->sites_cnt = f.sites;
		return c->role == PROBE_END ? skip(r, strdup(c->name), "nothing begins it") : 0;
	}
	grown = reallocarray(p->functions, p->functions_cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->functions = grown;
	first = &p->sites[f.sites];
	f.offset = first->offset;
	f.entry.site = first->site;
	f.reason = first->reason;
	/* Sites may have lists of their own, but these show the same. */
	for (size_t i = 0; i < f.begins_cnt && !f.arguments; i++)
		f.arguments = first[i].list;
	if (f.ends_cnt)
		f.exit = EXIT_SITES;
	p->functions[p->functions_cnt++] = f;
	c->name = NULL;
	return 0;
}

static bool is_wanted(struct regions *r, const struct candidate *c)
{
	/* A region that was asked for as a probe (--usdt) is wanted unless it is to be left out.
	 * Asking the filter also notes that its patterns have found something. */
	bool named = filter__wants_region(r->filter, c->name);

	return c->forced ? !filter__leaves_region(r->filter, c->name) : named;
}

static int plan_gathered(struct regions *r, const char *root)
{
	int err = insn_decoder__new(elf_image__arch(r->obj->img), r->opts->call_nops, &r->insn);

	if (!err && r->opts->nop5_spared)
		insn_decoder__spare_nop5(r->insn);
	if (!err && r->opts->calls_spared)
		insn_decoder__spare_calls(r->insn);
	if (!err)
		err = region_sites__find_frames(r);
	if (!err)
		err = region_sites__find_entered(r);
	qsort(r->candidates, r->cnt, sizeof(*r->candidates), order);
	part(r);
	qsort(r->candidates, r->cnt, sizeof(*r->candidates), order);
	for (size_t i = 0, end; !err && i < r->cnt; i = end) {
		end = region_end(r, i);
		if (is_wanted(r, &r->candidates[i]))
			err = add_region(r, root, i, end);
	}
	region_flow__free(r->flow);
	insn_decoder__free(r->insn);
	return err;
}

static int plan_object(struct regions *r, const struct target *t)
{
	const char *root = t->objects[r->object].root;
	int err = gather_probes(r);

	if (!err && filter__wants_regions(r->filter))
		err = gather_functions(r, root);
	if (!err && r->cnt)
		err = patched__look_at(r->plan, t, r->opts, r->object);
	if (!err && r->cnt)
		err = plan_gathered(r, root);
	for (size_t i = 0; i < r->cnt; i++) {
		free(r->candidates[i].name);
		free(r->candidates[i].own);
	}
	free(r->candidates);
	free(r->frames);
	free(r->entered);
	free(r->split);
	if (r->tab_is_ours)
		symtab__free(r->tab);
	return err;
}

int regions__plan(struct plan *p, const struct target *t, size_t first, struct filter *filter,
		  const struct plan_options *opts)
{
	int err = 0;

	if (!filter__wants_regions(filter) && !opts->usdt)
		return 0;
	for (size_t i = first; !err && i < p->objects_cnt; i++) {
		struct thread_locals locals;
		struct regions r = {.plan = p,
				    .opts = opts,
				    .filter = filter,
				    .names = plan_object__names(&p->objects[i], &t->objects[i]),
				    .obj = &p->objects[i],
				    .object = i,
				    .locals = &locals,
				    .proven = SYMTAB_NONE};

		thread_locals__init(&locals, p, t, i);
		if (r.obj->img && !t->objects[i].barred)
			err = plan_object(&r, t);
	}
	return err;
}

static int look_for_probes(struct plan_object *obj, bool foreign)
{
	const struct usdt_probe *probes;
	int err = need_probes(obj);
	size_t cnt;

	if (err || !obj->usdt)
		return err;
	probes = usdt__probes(obj->usdt, &cnt);
	if (!cnt)
		return 0;
	obj->probes = calloc(cnt, sizeof(*obj->probes));
	if (!obj->probes)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		if (foreign || !strcmp(probes[i].provider, REGIONS_PROVIDER))
			obj->probes[obj->probes_cnt++] = probes[i].vaddr;
	}
	qsort(obj->probes, obj->probes_cnt, sizeof(*obj->probes), u64_order);
	return 0;
}

int regions__look_for_probes(struct plan *p, const struct target *t, size_t first,
			     struct filter *filter, const struct plan_options *opts)
{
	int err = 0;

	if (!filter__wants_regions(filter) && !opts->usdt)
		return 0;
	for (size_t i = first; !err && i < p->objects_cnt; i++) {
		if (p->objects[i].img && !t->objects[i].barred)
			err = look_for_probes(&p->objects[i], opts->usdt != NULL);
	}
	return err;
}
