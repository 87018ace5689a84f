// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan of one object. Decoding is nearly all of the work, so its functions are shared out to a
 * few threads; what they make is put together in order of address.
 */
#include "planner/object_planner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/pieces.h"
#include "elf/elf_image.h"
#include "exits/proof.h"
#include "exits/exits.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "plan/thread_locals.h"
#include "planner/planning.h"
#include "planner/return_crash.h"
#include "planner/worker.h"
#include "regions/regions.h"
#include "select/arguments.h"
#include "select/filter.h"
#include "select/named_arguments.h"
#include "select/read_code.h"
#include "symbol/symtab.h"
#include "target/target.h"
#include "util/threads.h"

#define MAX_OVERLAP 2		 /* functions that the average byte of code may belong to */
#define MIN_BUDGET  (4u << 20)	 /* bytes to decode, granted to every file */
#define MAX_BUDGET  (512u << 20) /* bytes to decode, whatever the file's size */
#define MIN_SHARE   256		 /* functions that are worth a thread */

#define APPEND(plan, w, list)                                                                \
	({                                                                                   \
		void *grown_ =                                                               \
			reallocarray((plan)->list, (plan)->list##_cnt + (w)->list##_cnt + 1, \
				     sizeof(*(plan)->list));                                 \
		if (grown_) {                                                                \
			(plan)->list = grown_;                                               \
			if ((w)->list##_cnt)                                                 \
				memcpy((plan)->list + (plan)->list##_cnt, (w)->list,         \
				       (w)->list##_cnt * sizeof(*(plan)->list));             \
			(plan)->list##_cnt += (w)->list##_cnt;                               \
		}                                                                            \
		grown_ ? 0 : -ENOMEM;                                                        \
	})

/* Moves what a worker has made behind what the plan has. */
static int plan_append(struct plan *p, const struct worker *w)
{
	size_t exits_base = p->exits_cnt, first = p->functions_cnt;

	if (APPEND(p, w, exits) || APPEND(p, w, functions) || APPEND(p, w, skipped))
		return -ENOMEM;
	for (size_t i = first; i < p->functions_cnt; i++)
		p->functions[i].exits += exits_base;
	return 0;
}

/* How many bytes the symbols of a worker may have, out of those that the workers before it have
 * left. */
static uint64_t worker_budget(const struct worker *w, uint64_t *left)
{
	uint64_t need = 0;

	for (size_t i = 0; i < w->wanted_cnt && need < *left; i++) {
		uint64_t size = symtab__at(w->obj->tab, w->wanted[i].symbol)->size;

		need += size <= MAX_FUNCTION_SIZE ? size : 0;
	}
	need = need < *left ? need : *left;
	*left -= need;
	return need;
}

/* Divides the model's wanted symbols among workers, waits for these, and puts together what they
 * have made. */
static int plan_by_workers(struct plan *p, const struct worker *model, struct proofs *proofs)
{
	struct worker workers[THREADS_MAX];
	size_t cnt = threads__for(model->wanted_cnt, MIN_SHARE), done = 0;
	uint64_t left = model->budget;
	int err = 0;

	for (size_t i = 0; i < cnt; i++) {
		size_t end = model->wanted_cnt * (i + 1) / cnt;

		workers[i] = *model;
		workers[i].wanted = model->wanted + done;
		workers[i].wanted_cnt = end - done;
		workers[i].budget = worker_budget(&workers[i], &left);
		done = end;
	}
	threads__run(workers, cnt, sizeof(workers[0]), worker__run);
	for (size_t i = 0; i < cnt; i++) {
		if (!err)
			err = workers[i].err;
		if (!err && proofs)
			err = proofs__add(proofs, model->object, &workers[i].notes,
					  p->functions_cnt);
		if (!err)
			err = plan_append(p, &workers[i]);
		worker__clear(&workers[i]);
	}
	return err;
}

/* Functions may overlap, but in a hostile file all of them may cover all of the code. */
static uint64_t decode_budget(const struct elf_image *img)
{
	const struct elf_segment *seg;
	uint64_t code = 0;
	size_t cnt;

	seg = elf_image__segments(img, &cnt);
	for (size_t i = 0; i < cnt; i++)
		code += seg[i].exec ? seg[i].filesz : 0;
	code = code * MAX_OVERLAP + MIN_BUDGET;
	return code < MAX_BUDGET ? code : MAX_BUDGET;
}

/* Plans `cnt` wanted functions of object `index`, which go to `out`. */
static int plan_wanted(const struct planning *pn, uint32_t index,
		       const struct wanted_symbol *wanted, size_t cnt, struct plan *out)
{
	const struct plan_object *obj = &pn->plan->objects[index];
	struct exit_context exits = *pn->exits;
	struct read_code read = {0};
	struct cold_pieces cold;
	struct worker model = {
		.obj = obj,
		.opts = pn->opts,
		.exit_ctx = &exits,
		.proofs = pn->proofs,
		.object = index,
		.wanted = wanted,
		.wanted_cnt = cnt,
		.cold = &cold,
		.read = &read,
		.budget = decode_budget(obj->img),
		.tables = decode_budget(obj->img) / THREADS_MAX,
	};
	int err = cold_pieces__init(&cold, obj->tab);

	exits.crash = obj->crash;
	if (!err)
		err = read_code__find(&read, obj->tab);
	if (!err)
		err = plan_by_workers(out, &model, pn->proofs);
	read_code__clear(&read);
	cold_pieces__clear(&cold);
	return err;
}

/* Whether there can be a function of that symbol that is planned for its own sake. */
static bool is_function(const struct symbol *sym)
{
	return sym->piece_of == SYMTAB_NONE && sym->kind != SYMBOL_NOTYPE && !regions__is_site(sym);
}

/* Puts the wanted functions of the object into `wanted`, which has room for all of its symbols.
 * `second_lines` as line_wants__mark() makes them. */
static int choose_wanted(const struct planning *pn, uint32_t index, const uint32_t *second_lines,
			 struct wanted_symbol *wanted, size_t *wanted_cnt)
{
	const struct filter_object names =
		plan_object__names(&pn->plan->objects[index], &pn->target->objects[index]);
	const struct plan_object *obj = &pn->plan->objects[index];
	struct arguments *arguments = pn->opts->arguments;
	struct thread_locals locals;
	struct named_arguments named = {arguments, .img = obj->img, .locals = &locals.values,
					.root = obj->root};
	size_t cnt = symtab__count(obj->tab);
	int err = 0;

	*wanted_cnt = 0;
	thread_locals__init(&locals, pn->plan, pn->target, index);
	for (size_t i = 0; i < cnt && !err; i++) {
		const struct symbol *sym = symtab__at(obj->tab, i);
		bool refused = false;
		uint32_t list = 0;

		if (!is_function(sym) ||
		    (!filter__wants(pn->filter, &names, sym) && !second_lines[i]))
			continue;
		if (arguments) {
			list = arguments__of(arguments, &names, sym);
			err = named_arguments__resolve(&named, sym, &list, &refused);
		}
		if (!refused)
			wanted[(*wanted_cnt)++] = (struct wanted_symbol){
				.symbol = i, .arguments = list, .second_line = second_lines[i]};
	}
	named_arguments__clear(&named);
	return err;
}

int object_planner__plan(const struct planning *pn, uint32_t index)
{
	const struct filter_object names =
		plan_object__names(&pn->plan->objects[index], &pn->target->objects[index]);
	struct plan_object *obj = &pn->plan->objects[index];
	size_t cnt = symtab__count(obj->tab), wanted_cnt = 0;
	struct wanted_symbol *wanted = calloc(cnt + 1, sizeof(*wanted));
	uint32_t *second_lines = calloc(cnt + 1, sizeof(*second_lines));
	int err = wanted && second_lines ? 0 : -ENOMEM;

	if (!err && pn->opts->lines)
		err = line_wants__mark(&obj->lines, pn->opts->lines, &names, obj->tab,
				       second_lines);
	if (!err)
		err = choose_wanted(pn, index, second_lines, wanted, &wanted_cnt);
	if (!err && wanted_cnt)
		return_crash__look(pn, index);
	if (!err)
		err = plan_wanted(pn, index, wanted, wanted_cnt, pn->plan);
	free(wanted);
	free(second_lines);
	return err;
}

/* Gives `f` the exits that were planned for it anew in `from`. */
static void replace_exits(struct plan *p, struct plan_function *f, const struct plan *from,
			  const struct plan_function *anew)
{
	f->exit = anew->exit;
	f->reason = anew->reason;
	f->exits = p->exits_cnt;
	f->exits_cnt = anew->exits_cnt;
	if (anew->exits_cnt)
		memcpy(p->exits + p->exits_cnt, from->exits + anew->exits,
		       anew->exits_cnt * sizeof(*p->exits));
	p->exits_cnt += anew->exits_cnt;
}

/* The object's functions that have return probes; `wanted` has room for all functions. */
static size_t with_return_probes(const struct plan *p, uint32_t index, struct wanted_symbol *wanted)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->object == index && f->exit == EXIT_RETURN)
			wanted[cnt++] = (struct wanted_symbol){.symbol = f->symbol_index,
							       .arguments = f->arguments};
	}
	return cnt;
}

int object_planner__replace_returns(const struct planning *pn, uint32_t index, bool attached)
{
	struct plan_options late = *pn->opts;
	struct planning anew_pn = *pn;
	struct plan anew = {0}, *p = pn->plan;
	struct plan_exit *grown = NULL;
	struct wanted_symbol *wanted = calloc(p->functions_cnt + 1, sizeof(*wanted));
	size_t cnt = wanted ? with_return_probes(p, index, wanted) : 0, at = 0;
	int err = wanted ? 0 : -ENOMEM;

	late.closes_leaves = false;
	/* Entries that are in already must be called before exits at the same instruction. */
	late.early_exits &= !attached && !pn->opts->lines;
	anew_pn.opts = &late;
	anew_pn.proofs = NULL;
	if (cnt)
		err = plan_wanted(&anew_pn, index, wanted, cnt, &anew);
	if (!err) {
		grown = reallocarray(p->exits, p->exits_cnt + anew.exits_cnt + 1, sizeof(*grown));
		err = grown ? 0 : -ENOMEM;
	}
	if (grown)
		p->exits = grown;
	/* Both lists are in order of address. */
	for (size_t i = 0; !err && i < p->functions_cnt && at < anew.functions_cnt; i++) {
		struct plan_function *f = &p->functions[i];

		if (f->object != index || f->symbol_index != anew.functions[at].symbol_index)
			continue;
		if (!attached)
			f->entry = anew.functions[at].entry;
		replace_exits(p, f, &anew, &anew.functions[at++]);
	}
	free(anew.functions);
	free(anew.exits);
	free(anew.skipped);
	free(wanted);
	return err;
}
