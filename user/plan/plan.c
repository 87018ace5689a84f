// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each wanted function: decode it whole, take the first instruction of its entry block that the
 * kernel emulates (else the first that it accepts), and choose how the leave is seen.
 */
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/exits.h"
#include "plan/filter.h"
#include "plan/object.h"
#include "plan/unmatched.h"
#include "symbol/demangle.h"
#include "symbol/elf_image.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "target/target.h"
#include "util/log.h"
#include "util/path.h"

const char *exit_strategy__name(enum exit_strategy s)
{
	static const char *const names[EXIT_STRATEGIES] = {"return", "sites", "none"};

	return names[s];
}

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

/* Opens every object: what is not wanted may still be able to unwind. */
static int objects_open(struct plan *p, const struct target *t)
{
	p->objects = calloc(t->objects_cnt, sizeof(*p->objects));
	if (!p->objects)
		return -ENOMEM;
	p->objects_cnt = t->objects_cnt;
	for (size_t i = 0; i < t->objects_cnt; i++) {
		const struct target_object *tobj = &t->objects[i];
		struct plan_object *obj = &p->objects[i];
		int err = tobj->is_main ? elf_image__open(tobj->fd, tobj->path, &obj->img)
					: elf_image__try(tobj->fd, tobj->path, &obj->img);

		if (err && tobj->is_main)
			return err;
		if (!err)
			elf_image__soname(obj->img, obj->soname, sizeof(obj->soname));
	}
	return 0;
}

/* Says why return probes are dangerous here. */
static void blame(struct plan *p, struct exit_context *ctx, const char *path, const char *what,
		  const char *evidence)
{
	if (ctx->reason == p->why)
		return;
	snprintf(p->why, sizeof(p->why), "%s %s (%s)", path_base(path), what,
		 evidence ? evidence : "?");
	ctx->reason = p->why;
}

/* What everything the target maps can do to return addresses; so can a process not known yet. */
static void exit_context_make(struct plan *p, const struct target *t, struct exit_context *ctx)
{
	*ctx = (struct exit_context){.reason = "nothing mapped unwinds or switches stacks"};
	for (size_t i = 0; i < p->objects_cnt; i++) {
		struct plan_object *obj = &p->objects[i];
		const char *evidence = NULL;

		if (!obj->img)
			continue;
		obj->traits = traits__of(obj->img, &evidence);
		if (obj->traits & TRAIT_LIBC)
			continue;
		ctx->traits |= obj->traits;
		if (obj->traits & EXIT_UNSAFE_TRAITS)
			blame(p, ctx, t->objects[i].path, "can unwind or switch stacks", evidence);
	}
	/* Cancelling a thread unwinds it, for the sake of cleanups. */
	for (size_t i = 0; i < p->objects_cnt && (ctx->traits & TRAIT_CANCELS); i++) {
		if (p->objects[i].traits & TRAIT_LIBC || !(p->objects[i].traits & TRAIT_CLEANS))
			continue;
		ctx->traits |= TRAIT_UNWINDS;
		blame(p, ctx, t->objects[i].path, "cleans up when a thread is cancelled",
		      "__gcc_personality_v0");
	}
	if (!t->processes_cnt) {
		if (!(ctx->traits & EXIT_UNSAFE_TRAITS))
			ctx->reason = "any process may map it, also one that unwinds";
		ctx->traits |= TRAIT_UNWINDS | TRAIT_SIGNALS;
	}
}

/* The same for one object: libc has cleanups of its own. */
static struct exit_context exit_context_of(const struct exit_context *all,
					   const struct plan_object *obj)
{
	struct exit_context ctx = *all;

	if ((obj->traits & TRAIT_LIBC) && (all->traits & TRAIT_CANCELS) &&
	    !(all->traits & EXIT_UNSAFE_TRAITS)) {
		ctx.traits |= TRAIT_UNWINDS;
		ctx.reason = "libc cleans up when a thread is cancelled";
	}
	return ctx;
}

static int plan_objects(struct plan *p, const struct target *t, struct filter *filter,
			const struct plan_options *opts)
{
	struct exit_context all;
	int err = 0;

	exit_context_make(p, t, &all);
	for (size_t i = 0; !err && i < t->objects_cnt; i++) {
		struct plan_object *obj = &p->objects[i];
		const struct filter_object fobj = {t->objects[i].path, obj->soname,
						   t->objects[i].is_main};
		const struct exit_context ctx = exit_context_of(&all, obj);

		if (!obj->img || t->objects[i].barred || !filter__wants_object(filter, &fobj))
			continue;
		err = symtab__load(obj->img, t->objects[i].root, &obj->tab);
		if (!err)
			err = plan_object__plan(p, &fobj, i, filter, opts, &ctx);
	}
	if (!err && p->functions_cnt >= PLAN_MAX_FUNCTIONS) {
		log_error("%zu functions are too many; narrow the filter (-F)", p->functions_cnt);
		err = -E2BIG;
	}
	return err;
}

int plan__new(const struct target *t, struct filter *filter, const struct plan_options *opts,
	      struct plan **out)
{
	struct plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = objects_open(p, t);
	if (!err)
		err = plan_objects(p, t, filter, opts);
	if (!err) {
		unmatched__report(p, t, filter);
		err = p->functions_cnt ? 0 : -ENOENT;
	}
	if (err) {
		plan__free(p);
		return err;
	}
	*out = p;
	return 0;
}

void plan__free(struct plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->functions_cnt; i++)
		free(p->functions[i].name);
	for (size_t i = 0; i < p->skipped_cnt; i++)
		free(p->skipped[i].name);
	for (size_t i = 0; i < p->objects_cnt; i++) {
		symtab__free(p->objects[i].tab);
		elf_image__free(p->objects[i].img);
	}
	free(p->functions);
	free(p->exits);
	free(p->skipped);
	free(p->objects);
	free(p);
}
