// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each wanted function: decode it whole, take the first instruction of its entry block that the
 * kernel emulates (else the first that it accepts), and choose how the leave is seen. What all of
 * the target can do is looked at first, as the choice depends on it.
 */
#include "planner/planner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "dwarf/dwarf_budget.h"
#include "elf/debug_fetch.h"
#include "elf/debug_file.h"
#include "elf/elf_image.h"
#include "exits/emulation.h"
#include "exits/exit_context.h"
#include "exits/exits.h"
#include "exits/proof.h"
#include "exits/stack_switches.h"
#include "lines/lines.h"
#include "plan/lookups.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/patched.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "plan/thread_locals.h"
#include "planner/other_files.h"
#include "planner/line_report.h"
#include "planner/object_planner.h"
#include "planner/planning.h"
#include "planner/return_crash.h"
#include "planner/unmatched.h"
#include "regions/semaphores.h"
#include "regions/regions.h"
#include "select/arguments.h"
#include "select/filter.h"
#include "select/line_spec.h"
#include "select/named_arguments.h"
#include "symbol/instrumented.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "target/target.h"
#include "util/log.h"

/* Notes what the object has that is of interest whether it is wanted or not. */
static int object_look(struct plan *p, const struct target *t, uint32_t index,
		       const struct plan_options *opts)
{
	struct plan_object *obj = &p->objects[index];
	struct plan_hook hooks[HOOKS_MAX], *grown;
	size_t cnt;

	elf_image__soname(obj->img, obj->soname, sizeof(obj->soname));
	/* Patterns may name a program by either of its names. */
	if (t->objects[index].file_name)
		snprintf(obj->soname, sizeof(obj->soname), "%s", t->objects[index].file_name);
	obj->traits = traits__of(obj->img, &obj->evidence);
	if ((obj->traits & TRAIT_GO) && !p->go)
		p->go = !go_layout__of(obj->img, &p->go_layout);
	cnt = hooks__find(obj->img, index, opts->calls_spared, hooks);
	grown = reallocarray(p->hooks, p->hooks_cnt + cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->hooks = grown;
	for (size_t i = 0; i < cnt; i++)
		p->hooks[p->hooks_cnt++] = hooks[i];
	return 0;
}

/* Nobody can tell what such code does: it may be made for another loader, or by a compiler at run
 * time. */
static void object_is_unknown(struct plan_object *obj)
{
	obj->traits = TRAIT_UNWINDS | TRAIT_SWITCHES | TRAIT_INSPECTS | TRAIT_SIGNALS;
	obj->evidence = "it cannot be read";
}

/* Refuses to trace a file built for another machine: it runs by emulation, and its code is data
 * here. */
static int refuse_machine(const struct target_object *tobj, struct plan_object *obj)
{
	if (tobj->is_main)
		log_error("%s is built for %s: here it can only be listed (-l -x)", tobj->path,
			  elf_image__arch(obj->img)->name);
	elf_image__free(obj->img);
	obj->img = NULL;
	return -ENOTSUP;
}

/* Whether a program can be traced: those of other processes may be left out then. */
static bool any_program(const struct plan *p, const struct target *t)
{
	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (t->objects[i].is_main && p->objects[i].img)
			return true;
	}
	return false;
}

/* Opens every object that is new: what is not wanted may still be able to unwind. A program that
 * cannot be read is an error if its process was chosen by number, else if there is no other one. */
static int objects_open(struct plan *p, const struct target *t, const struct plan_options *opts)
{
	struct plan_object *grown =
		reallocarray(p->objects, t->objects_cnt + 1, sizeof(*p->objects));
	const bool spares = t->whom || p->objects_cnt;
	int err = 0, program_err = 0;

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
			err = object_look(p, t, p->objects_cnt - 1, opts);
		} else if (err != -ENOMEM) {
			program_err = tobj->is_main ? err : program_err;
			object_is_unknown(obj);
			err = 0;
		}
	}
	return err || (spares && any_program(p, t)) ? err : program_err;
}

/* Whether the object is wanted and has not been planned yet. */
static bool is_due(const struct plan *p, const struct target *t, uint32_t index,
		   const struct filter *filter, const struct plan_options *opts)
{
	const struct plan_object *obj = &p->objects[index];
	const struct filter_object fobj =
		plan_object__names(&p->objects[index], &t->objects[index]);

	if (!obj->img || obj->tab || t->objects[index].barred)
		return false;
	if (line_wants__any(&obj->lines))
		return true;
	return filter__wants_object(filter, &fobj);
}

/* Plans one object that is due. */
static int plan_one(const struct planning *all, uint32_t index)
{
	struct plan_object *obj = &all->plan->objects[index];
	struct exit_context ctx = exit_context__of(all->exits, obj);
	struct planning pn = *all;
	int err;

	exit_context__force(pn.plan, pn.opts->exits, &ctx);
	pn.exits = &ctx;
	if (!exits__provable(&ctx))
		pn.proofs = NULL;
	obj->root = pn.target->objects[index].root;
	err = symtab__load(obj->img, obj->root, &obj->tab);
	if (!err && *symtab__source(obj->tab))
		log_debug("%s: functions are known by %s", elf_image__label(obj->img),
			  symtab__source(obj->tab));
	if (!err)
		err = plan_object__look_at_nameless(obj);
	if (!err && !obj->instrumented)
		err = instrumented__load(obj->img, &obj->instrumented);
	/* Only where exceptions may land, landing pads are of interest. */
	if (!err && exits__return_unsafe(&ctx))
		err = plan_object__load_eh_frame(obj);
	return err ? err : object_planner__plan(&pn, index);
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
		const struct filter_object fobj =
			plan_object__names(&p->objects[i], &t->objects[i]);

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
		const struct filter_object fobj =
			plan_object__names(&p->objects[i], &t->objects[i]);

		if (p->objects[i].tab && p->objects[i].lines.table)
			err = lines__plan(p, i, &fobj, first, opts);
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

		if (p->objects[f->object].crash)
			continue;
		f->exit = EXIT_RETURN;
		f->reason = results[i].reason;
		f->exits_cnt = 0;
		f->entry = results[i].site;
	}
	return err;
}

/* Plans all that is wanted and has not been planned yet. `pn` has no proofs yet. */
static int plan_rest(struct planning pn)
{
	const struct target *t = pn.target;
	struct plan *p = pn.plan;
	size_t first = p->functions_cnt, exits = p->exits_cnt;
	bool due = false;
	int err = 0;

	for (size_t i = 0; i < t->objects_cnt; i++)
		due |= is_due(p, t, i, pn.filter, pn.opts);
	if (!due)
		return 0;
	if (exits__provable(pn.exits))
		err = proofs__new(t, p->objects, p->objects_cnt, pn.exits->traits, &pn.proofs);
	for (size_t i = 0; !err && i < t->objects_cnt; i++) {
		if (is_due(p, t, i, pn.filter, pn.opts))
			err = plan_one(&pn, i);
	}
	if (!err && pn.proofs)
		err = apply_proofs(p, pn.proofs);
	if (!err)
		compact_exits(p, first, exits);
	proofs__free(pn.proofs);
	return err;
}

/* Plans other exits for the functions with return probes, as what was mapped since makes these
 * dangerous. */
static int replace_returns(struct planning pn)
{
	struct exit_context ctx = *pn.exits;
	int err = 0;

	ctx.no_returns = true;
	pn.exits = &ctx;
	for (size_t i = 0; !err && i < pn.plan->objects_cnt; i++) {
		if (pn.plan->objects[i].tab)
			err = object_planner__replace_returns(&pn, i, true);
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

/* Warns of functions, from `first` on, whose arguments have changed before their site. */
static void report_changed(const struct plan *p, size_t first)
{
	size_t changed = 0, cnt = 0;

	for (size_t i = first; i < p->functions_cnt; i++) {
		if (!p->functions[i].arguments_changed)
			continue;
		if (!cnt++)
			changed = i;
	}
	if (cnt)
		log_warn("-A: no values of %zu function%s (%s): where %s can be probed, the "
			 "arguments are not what they were",
			 cnt, cnt == 1 ? "" : "s", plan__name(p, changed),
			 cnt == 1 ? "it" : "they");
}

/* Looks for code that is patched in memory, in objects that will have probes. */
static int look_for_patches(struct plan *p, const struct target *t, size_t first_hook,
			    const struct filter *filter, const struct plan_options *opts)
{
	bool *asked = calloc(p->objects_cnt + 1, sizeof(*asked));
	int err;

	if (!asked)
		return -ENOMEM;
	for (size_t i = 0; i < p->objects_cnt; i++)
		asked[i] = is_due(p, t, i, filter, opts) || p->objects[i].probes_cnt;
	for (size_t i = first_hook; i < p->hooks_cnt; i++)
		asked[p->hooks[i].object] = true;
	err = patched__look(p, t, opts, asked);
	patched__drop_hooks(p, first_hook);
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

/* Functions that were planned before have their probes already. */
static void report_forks(const struct plan *p)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].entry.site != SITE_NOP5)
			continue;
		log_warn("what was loaded may fork: by a fault of this kernel, children will die "
			 "where they come to a 5-byte nop that is probed (%s)",
			 plan__name(p, i));
		return;
	}
}

/* The options as the target's processes and the kernel allow them; logs what that changes. */
static struct plan_options narrow_options(struct plan *p, const struct target *t,
					  const struct plan_options *opts)
{
	struct plan_options own = *opts;

	p->may_fork = may_fork(p, t, opts);
	own.nop5_spared = opts->call_nops == CALL_NOPS_5 && p->may_fork;
	if (own.nop5_spared && !p->nop5_spared)
		report_forks(p);
	p->nop5_spared = own.nop5_spared;
	own.emulates = opts->emulates && !own.calls_spared;
	return own;
}

static bool calls_spared(const struct target *t, const struct plan_options *opts)
{
	return t->shadow_stacks || (opts->new_programs && t->shadow_stacks_possible);
}

/* How much of a plan there was before it was extended: the numbers of the first new ones. */
struct plan_extent {
	size_t objects, functions, hooks, skipped;
};

/* Looks at what is new: what of it is wanted, and what it can do. */
static int look_at_new(const struct planning *pn, const struct plan_extent *known)
{
	const struct plan_options *opts = pn->opts;
	int err = 0;

	if (opts->lines)
		err = look_for_lines(pn->plan, pn->target, opts->lines);
	if (!err)
		err = regions__look_for_probes(pn->plan, pn->target, known->objects, pn->filter,
					       opts);
	if (!err)
		err = look_for_patches(pn->plan, pn->target, known->hooks, pn->filter, opts);
	return err;
}

/* Plans functions, regions and lines, in this order, as each needs what those before have. */
static int plan_new(const struct planning *pn, const struct plan_extent *known)
{
	struct plan *p = pn->plan;
	const struct plan_options *opts = pn->opts;
	int err = plan_rest(*pn);

	if (!err)
		err = regions__plan(p, pn->target, known->objects, pn->filter, opts);
	if (!err && opts->lines)
		err = plan_lines(p, pn->target, known->functions, opts);
	if (!err)
		err = emulation__spare_shared(p);
	if (!err)
		err = semaphores__share(p, known->objects);
	if (!err && p->functions_cnt >= PLAN_MAX_FUNCTIONS) {
		log_error("%zu functions are too many; narrow the filter (-F)", p->functions_cnt);
		err = -E2BIG;
	}
	return err;
}

/* Patches may yet make a difference, but hardly ever do. */
static void tell_look(struct plan *p, const struct target *t, const struct plan_options *opts)
{
	struct exit_context exits;

	exit_context__make(p, t, opts, &exits);
	/* Proofs decide whether some functions get return probes. */
	if (exits__return_unsafe(&exits) && exits__provable(&exits))
		return;
	opts->on_look(p, exits.traits, !exits__return_unsafe(&exits), opts->ctx);
}

int planner__extend(struct plan *p, const struct target *t, struct filter *filter,
		    const struct plan_options *options)
{
	const struct plan_extent known = {p->objects_cnt, p->functions_cnt, p->hooks_cnt,
					  p->skipped_cnt};
	const bool forked = p->may_fork;
	struct exit_context exits;
	struct plan_options opts = *options;
	struct planning pn = {p, t, filter, &opts, &exits, NULL};
	int err;

	dwarf_budget__renew();
	debug_file__renew();
	opts.calls_spared = calls_spared(t, &opts);
	err = objects_open(p, t, &opts);
	if (!err)
		thread_locals__look(p, &opts);
	if (!err)
		err = stack_switches__look(p, t, known.objects);
	if (err)
		return err;
	opts = narrow_options(p, t, &opts);
	if (opts.on_look)
		tell_look(p, t, &opts);
	err = look_at_new(&pn, &known);
	if (err)
		return err;
	exit_context__make(p, t, &opts, &exits);
	if (p->functions_cnt && !p->returns_replaced && !opts.exits &&
	    (returns_became_unsafe(p, &exits, known.objects) ||
	     (t->lists_returns && p->may_fork && !forked))) {
		p->returns_replaced = true;
		err = replace_returns(pn);
	}
	p->traits = exits.traits;
	exits.no_returns = p->returns_replaced || p->returns_spared;
	if (!err)
		err = plan_new(&pn, &known);
	if (err)
		return err;
	return_crash__release(p, t);
	report_changed(p, known.functions);
	patched__report(p, known.functions, known.skipped);
	named_arguments__report(opts.arguments);
	return 0;
}

/* Plans other exits for functions with return probes, of all objects from `from` to before `to`. */
static int replace_some(struct plan *p, const struct target *t, const struct plan_options *options,
			uint32_t from, uint32_t to, bool attached)
{
	struct plan_options opts = *options;
	struct exit_context exits;
	struct planning pn = {p, t, NULL, &opts, &exits, NULL};
	int err = 0;

	opts.calls_spared = calls_spared(t, &opts);
	opts.emulates &= !opts.calls_spared;
	opts.nop5_spared = p->nop5_spared;
	exit_context__make(p, t, &opts, &exits);
	exits.no_returns = true;
	for (uint32_t i = from; !err && i < to; i++) {
		if (p->objects[i].tab)
			err = object_planner__replace_returns(&pn, i, attached);
	}
	if (!err)
		err = emulation__spare_shared(p);
	return_crash__release(p, t);
	return err;
}

int planner__bind(struct plan *p, const struct target *t, const struct plan_options *opts,
		  uint32_t object, bool attached)
{
	return return_crash__if_bound(p, t, opts, object)
		       ? replace_some(p, t, opts, object, object + 1, attached)
		       : 0;
}

int planner__give_up_returns(struct plan *p, const struct target *t,
			     const struct plan_options *opts)
{
	return_crash__of_tools(p);
	p->returns_replaced = true;
	return replace_some(p, t, opts, 0, p->objects_cnt, true);
}

static bool has_main(const struct target *t)
{
	for (size_t i = 0; i < t->objects_cnt; i++) {
		if (t->objects[i].is_main)
			return true;
	}
	return false;
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

int planner__make(const struct target *t, struct filter *filter, const struct plan_options *opts,
		  struct plan **out)
{
	struct plan *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->lookups = calloc(1, sizeof(*p->lookups));
	err = p->lookups ? 0 : -ENOMEM;
	if (!err)
		err = planner__extend(p, t, filter, opts);
	if (!err && opts->anywhere) {
		err = other_files__take(p, t, filter);
		if (err > 0)
			err = planner__extend(p, t, filter, opts);
	}
	/* A thread that loads a file must not wait for a server. */
	debug_fetch__stop();
	if (!err) {
		const struct unmatched_hopes hopes = {
			/* the dynamic linker tells */
			.files = opts->grows && hooks__have(p->hooks, p->hooks_cnt, HOOK_LINK_MAP),
			.programs = opts->grows && opts->new_programs,
			.same = opts->same_programs && has_main(t),
			.runs = opts->grows && t->launch,
		};

		err = found_any(p, t, filter, opts, &hopes) ? 0 : -ENOENT;
		if (!err)
			other_files__tell(p, t);
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
