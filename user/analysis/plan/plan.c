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

#include "arch/arch.h"
#include "dwarf/dwarf_budget.h"
#include "elf/debug_fetch.h"
#include "elf/elf_image.h"
#include "plan/arguments.h"
#include "plan/elsewhere.h"
#include "plan/emulation.h"
#include "plan/exit_context.h"
#include "plan/exits.h"
#include "plan/filter.h"
#include "plan/guards.h"
#include "plan/line_report.h"
#include "plan/line_spec.h"
#include "plan/lines.h"
#include "plan/named.h"
#include "plan/object.h"
#include "plan/patched.h"
#include "plan/proof.h"
#include "plan/regions.h"
#include "plan/stack_switches.h"
#include "plan/unmatched.h"
#include "symbol/demangle.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "target/target.h"
#include "util/log.h"

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

/* Notes what the object has that is of interest whether it is wanted or not. */
static int object_look(struct plan *p, const struct target *t, uint32_t index)
{
	struct plan_object *obj = &p->objects[index];
	struct plan_mark marks[MARKS_MAX], *grown;
	size_t cnt;

	elf_image__soname(obj->img, obj->soname, sizeof(obj->soname));
	/* Patterns may name a program by either of its names. */
	if (t->objects[index].file_name)
		snprintf(obj->soname, sizeof(obj->soname), "%s", t->objects[index].file_name);
	obj->traits = traits__of(obj->img, &obj->evidence);
	if ((obj->traits & TRAIT_GO) && !p->go)
		p->go = !go_layout__of(obj->img, &p->go_layout);
	cnt = marks__find(obj->img, index, marks);
	grown = reallocarray(p->marks, p->marks_cnt + cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->marks = grown;
	for (size_t i = 0; i < cnt; i++)
		p->marks[p->marks_cnt++] = marks[i];
	return 0;
}

/* Nobody can tell what such code does: it may be made for another loader, or by a compiler at run
 * time. */
static void object_is_unknown(struct plan_object *obj)
{
	obj->traits = TRAIT_UNWINDS | TRAIT_SWITCHES | TRAIT_INSPECTS | TRAIT_SIGNALS;
	obj->evidence = "it cannot be read";
}

/* What is built for another machine runs by emulation, and its code is data here. */
static int refuse_machine(const struct target_object *tobj, struct plan_object *obj)
{
	if (tobj->is_main)
		log_error("%s is built for %s: here it can only be listed (-l -x)", tobj->path,
			  elf_image__arch(obj->img)->name);
	elf_image__free(obj->img);
	obj->img = NULL;
	return -ENOTSUP;
}

/* Opens every object that is new: what is not wanted may still be able to unwind. */
static int objects_open(struct plan *p, const struct target *t, const struct plan_options *opts)
{
	struct plan_object *grown =
		reallocarray(p->objects, t->objects_cnt + 1, sizeof(*p->objects));
	int err = 0;

	if (!grown)
		return -ENOMEM;
	p->objects = grown;
	while (!err && p->objects_cnt < t->objects_cnt) {
		const struct target_object *tobj = &t->objects[p->objects_cnt];
		struct plan_object *obj = &p->objects[p->objects_cnt++];

		*obj = (struct plan_object){0};
		err = tobj->is_main ? elf_image__open(tobj->fd, tobj->path, &obj->img)
				    : elf_image__try(tobj->fd, tobj->path, &obj->img);
		if (!err && !opts->any_machine && !elf_image__arch(obj->img)->is_host)
			err = refuse_machine(tobj, obj);
		if (!err) {
			err = object_look(p, t, p->objects_cnt - 1);
		} else if (!tobj->is_main && err != -ENOMEM) {
			object_is_unknown(obj);
			err = 0;
		}
	}
	return err;
}

/* Whether the object is wanted and has not been planned yet. */
static bool is_due(const struct plan *p, const struct target *t, uint32_t index,
		   const struct filter *filter, const struct plan_options *opts)
{
	const struct plan_object *obj = &p->objects[index];
	const struct filter_object fobj = plan_object__names(p, t, index);

	if (!obj->img || obj->tab || t->objects[index].barred)
		return false;
	if (line_wants__any(&obj->lines))
		return true;
	return filter__wants_object(filter, &fobj);
}

/* Plans one object that is due. */
static int plan_one(struct plan *p, const struct target *t, uint32_t index, struct filter *filter,
		    const struct plan_options *opts, const struct exit_context *all,
		    struct proofs *proofs)
{
	struct plan_object *obj = &p->objects[index];
	const struct filter_object fobj = plan_object__names(p, t, index);
	struct exit_context ctx = exit_context__of(all, obj);
	int err;

	exit_context__force(p, opts->exits, &ctx);
	obj->root = t->objects[index].root;
	err = symtab__load(obj->img, obj->root, &obj->tab);
	if (!err)
		err = plan_object__look_at_nameless(obj);
	if (!err && !obj->instrumented)
		err = instrumented__load(obj->img, &obj->instrumented);
	/* Only where exceptions may land, landing pads are of interest. */
	if (!err && exits__return_unsafe(&ctx))
		err = plan_object__load_eh_frame(obj);
	if (!err)
		err = plan_object__plan(p, &fobj, index, filter, opts, &ctx,
					exits__provable(&ctx) ? proofs : NULL);
	return err;
}

/* Looks where there is code of lines that are wanted. */
static int look_for_lines(struct plan *p, const struct target *t, struct line_specs *specs)
{
	int err = 0;

	if (!p->lines)
		p->lines = calloc(1, sizeof(*p->lines));
	if (!p->lines)
		return -ENOMEM;
	for (size_t i = 0; !err && i < p->objects_cnt; i++) {
		const struct filter_object fobj = plan_object__names(p, t, i);

		if (p->objects[i].img && !t->objects[i].barred)
			err = line_wants__look(&p->objects[i].lines, specs, p->objects[i].img,
					       t->objects[i].root, &fobj);
	}
	return err;
}

/* Plans the lines of functions from `first` on, which keep their sites from now on, and says what
 * was not found. */
static int plan_lines(struct plan *p, const struct target *t, size_t first,
		      const struct plan_options *opts)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->objects_cnt; i++) {
		const struct filter_object fobj = plan_object__names(p, t, i);

		if (p->objects[i].tab && p->objects[i].lines.table)
			err = plan_lines__plan(p, i, &fobj, first, opts);
	}
	if (!err)
		err = line_report__unfound(p, t, opts->lines);
	for (size_t i = 0; i < p->objects_cnt; i++)
		line_wants__clear(&p->objects[i].lines);
	return err;
}

/* Drops the exit sites that the functions from `first` on have no more; theirs begin at `kept`. */
static void compact_exits(struct plan *p, size_t first, size_t kept)
{
	for (size_t i = first; i < p->functions_cnt; i++) {
		struct plan_function *f = &p->functions[i];

		if (f->exits_cnt)
			memmove(&p->exits[kept], &p->exits[f->exits],
				f->exits_cnt * sizeof(*p->exits));
		f->exits = kept;
		kept += f->exits_cnt;
	}
	p->exits_cnt = kept;
}

/* Gives those that are proven harmless the cheaper exits. */
static int apply_proofs(struct plan *p, struct proofs *proofs)
{
	const struct proof_result *results;
	size_t cnt = 0;
	int err = proofs__decide(proofs, &results, &cnt);

	p->proven |= cnt > 0;
	for (size_t i = 0; !err && i < cnt; i++) {
		struct plan_function *f = &p->functions[results[i].function];

		f->exit = EXIT_RETURN;
		f->reason = results[i].reason;
		f->exits_cnt = 0;
		f->site = results[i].site.site;
		f->site_offset = results[i].site.offset;
		f->site_delta = results[i].site.delta;
		f->begins_anew = results[i].site.begins_anew;
		f->cond = results[i].site.cond;
	}
	return err;
}

/* Plans all that is wanted and has not been planned yet. */
static int plan_rest(struct plan *p, const struct target *t, struct filter *filter,
		     const struct plan_options *opts, const struct exit_context *all)
{
	size_t first = p->functions_cnt, exits = p->exits_cnt;
	struct proofs *proofs = NULL;
	bool due = false;
	int err = 0;

	for (size_t i = 0; i < t->objects_cnt; i++)
		due |= is_due(p, t, i, filter, opts);
	if (!due)
		return 0;
	if (exits__provable(all))
		err = proofs__new(t, p->objects, p->objects_cnt, all->traits, &proofs);
	for (size_t i = 0; !err && i < t->objects_cnt; i++) {
		if (is_due(p, t, i, filter, opts))
			err = plan_one(p, t, i, filter, opts, all, proofs);
	}
	if (!err && proofs)
		err = apply_proofs(p, proofs);
	if (!err)
		compact_exits(p, first, exits);
	proofs__free(proofs);
	return err;
}

/* What was mapped since makes the return probes dangerous that there are. */
static int replace_returns(struct plan *p, const struct plan_options *opts,
			   const struct exit_context *all)
{
	struct exit_context ctx = *all;
	int err = 0;

	ctx.no_returns = true;
	for (size_t i = 0; !err && i < p->objects_cnt; i++) {
		if (p->objects[i].tab)
			err = plan_object__replace_returns(p, i, opts, &ctx);
	}
	return err;
}

/* Whether a program is among the objects from `first` on: it may bind imports as it likes, also
 * those of libraries that are planned already. */
static bool has_program(const struct plan *p, size_t first)
{
	for (size_t i = first; i < p->objects_cnt; i++) {
		if (p->objects[i].img && elf_image__is_program(p->objects[i].img))
			return true;
	}
	return false;
}

/* Whether what was mapped since, from object `first` on, makes return probes dangerous. */
static bool returns_became_unsafe(const struct plan *p, const struct exit_context *all,
				  size_t first)
{
	const unsigned matter = EXIT_UNSAFE_TRAITS | TRAIT_SIGNALS | TRAIT_CANCELS;

	/* libc's own cleanups; see exit_context__of() */
	for (size_t i = 0; all->traits & ~p->traits & TRAIT_CANCELS && i < p->objects_cnt; i++) {
		if (p->objects[i].tab && p->objects[i].traits & TRAIT_LIBC)
			return true;
	}
	return ((all->traits & EXIT_UNSAFE_TRAITS) && (all->traits & ~p->traits & matter)) ||
	       (p->proven && has_program(p, first));
}

/* Of functions from `first` on. */
static void report_changed(struct plan *p, size_t first)
{
	struct plan_function *changed = NULL;
	size_t cnt = 0;

	for (size_t i = first; i < p->functions_cnt; i++) {
		if (!p->functions[i].arguments_changed)
			continue;
		changed = changed ?: &p->functions[i];
		cnt++;
	}
	if (cnt)
		log_warn("-A: no values of %zu function%s (%s): where %s can be probed, the "
			 "arguments are not what they were",
			 cnt, cnt == 1 ? "" : "s", plan__name(changed), cnt == 1 ? "it" : "they");
}

/* Looks for code that is patched in memory, in objects that will have probes. */
static int look_for_patches(struct plan *p, const struct target *t, size_t first_mark,
			    const struct filter *filter, const struct plan_options *opts)
{
	bool *asked = calloc(p->objects_cnt + 1, sizeof(*asked));
	int err;

	if (!asked)
		return -ENOMEM;
	for (size_t i = 0; i < p->objects_cnt; i++)
		asked[i] = is_due(p, t, i, filter, opts) || p->objects[i].probes_cnt;
	for (size_t i = first_mark; i < p->marks_cnt; i++)
		asked[p->marks[i].object] = true;
	err = patched__look(p, t, opts, asked);
	patched__drop_marks(p, first_mark);
	free(asked);
	return err;
}

/*
 * Whether processes that have the probes may be copied. Linux 6.18 makes calls of 5-byte nops;
 * these lead to a page that it maps into the process, and that is not copied along with the code.
 * So a forked child dies at the first one that it comes to. With links for every process a program
 * is told by its own code, and a library may be anybody's.
 */
static bool may_fork(const struct plan *p, const struct target *t, const struct plan_options *opts)
{
	if (opts->new_programs || (!t->processes_cnt && !has_program(p, 0)))
		return true;
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct plan_object *obj = &p->objects[i];

		if (!obj->img || ((obj->traits & TRAIT_FORKS) && !(obj->traits & TRAIT_LIBC)))
			return true;
	}
	return false;
}

/* What has been planned before has its probes already. */
static void report_forks(const struct plan *p)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].site != SITE_NOP5)
			continue;
		log_warn("what was loaded may fork: by a fault of this kernel, children will die "
			 "where they come to a 5-byte nop that is probed (%s)",
			 plan__name(&p->functions[i]));
		return;
	}
}

int plan__extend(struct plan *p, const struct target *t, struct filter *filter,
		 const struct plan_options *options)
{
	struct plan_options own = *options;
	const struct plan_options *opts = &own;
	size_t known = p->objects_cnt, functions = p->functions_cnt;
	size_t marks = p->marks_cnt, skipped = p->skipped_cnt;
	struct exit_context all;
	int err;

	dwarf_budget__renew();
	err = objects_open(p, t, opts);
	if (!err)
		err = stack_switches__look(p, t, known);
	p->may_fork = may_fork(p, t, opts);
	own.nop5_spared = own.call_nops == CALL_NOPS_5 && p->may_fork;
	if (own.nop5_spared && !p->nop5_spared)
		report_forks(p);
	p->nop5_spared = own.nop5_spared;
	own.calls_spared = t->shadow_stacks || (opts->new_programs && t->shadow_stacks_possible);
	own.emulates_returns = opts->emulates_returns && !own.calls_spared;
	if (!err && opts->lines)
		err = look_for_lines(p, t, opts->lines);
	if (!err)
		err = regions__look_for_probes(p, t, known, filter, opts);
	if (!err)
		err = look_for_patches(p, t, marks, filter, opts);
	if (err)
		return err;
	exit_context__make(p, t, opts, &all);
	if (p->functions_cnt && !p->returns_replaced && !opts->exits &&
	    returns_became_unsafe(p, &all, known)) {
		p->returns_replaced = true;
		err = replace_returns(p, opts, &all);
	}
	p->traits = all.traits;
	all.no_returns = p->returns_replaced;
	if (!err)
		err = plan_rest(p, t, filter, opts, &all);
	if (!err)
		err = regions__plan(p, t, known, filter, opts);
	if (!err && opts->lines)
		err = plan_lines(p, t, functions, opts);
	if (!err)
		err = emulation__spare_shared(p);
	if (!err)
		err = guards__share(p, known);
	if (!err && p->functions_cnt >= PLAN_MAX_FUNCTIONS) {
		log_error("%zu functions are too many; narrow the filter (-F)", p->functions_cnt);
		err = -E2BIG;
	}
	if (!err) {
		report_changed(p, functions);
		patched__report(p, functions, skipped);
		named__report(opts->arguments);
	}
	return err;
}

bool plan__is_static(const struct plan *p, uint32_t index)
{
	return index < p->objects_cnt && p->objects[index].img &&
	       elf_image__is_static(p->objects[index].img);
}

/* Whether there is something to trace, or to wait for. */
static bool found_any(const struct plan *p, const struct target *t, const struct filter *filter,
		      const struct plan_options *opts, const struct unmatched_hopes *hopes)
{
	if (!opts->lines || filter->in_cnt)
		return unmatched__report(p, t, filter, opts->usdt, hopes);
	/* Lines alone: what is missing of them has been said. */
	return p->lines->lines_cnt || hopes->programs ||
	       (hopes->files && line_specs__name_libraries(opts->lines));
}

int plan__new(const struct target *t, struct filter *filter, const struct plan_options *opts,
	      struct plan **out)
{
	struct plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = plan__extend(p, t, filter, opts);
	/* What is loaded later must not wait for a server. */
	debug_fetch__stop();
	if (!err) {
		const struct unmatched_hopes hopes = {
			/* the dynamic linker tells */
			.files = opts->grows && marks__have(p->marks, p->marks_cnt, MARK_LINK_MAP),
			.programs = opts->grows && opts->new_programs,
			.runs = opts->grows && t->launch,
		};

		err = found_any(p, t, filter, opts, &hopes) ? 0 : -ENOENT;
		if (!err)
			elsewhere__tell(p, t);
		if (!err && opts->arguments && !unmatched__arguments(p, t, opts->arguments, &hopes))
			err = -ENOENT;
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
	for (size_t i = 0; i < p->objects_cnt; i++)
		plan_object__clear(&p->objects[i]);
	plan_lines__free(p->lines);
	free(p->functions);
	free(p->exits);
	free(p->sites);
	free(p->skipped);
	free(p->marks);
	free(p->objects);
	free(p);
}
