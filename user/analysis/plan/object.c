// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The plan of one object. Decoding is nearly all of the work, so its functions are shared out to a
 * few threads; what they make is put together in order of address.
 */
#include "plan/object.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/stack_loads.h"
#include "dwarf/source.h"
#include "elf/elf_image.h"
#include "elf/linkage.h"
#include "plan/arguments.h"
#include "plan/exits.h"
#include "plan/filter.h"
#include "plan/named.h"
#include "plan/pieces.h"
#include "plan/plan.h"
#include "plan/proof.h"
#include "plan/regions.h"
#include "plan/share.h"
#include "symbol/instrumented.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "symbol/usdt.h"
#include "target/target.h"
#include "unwind/eh_frame.h"

#define MAX_OVERLAP 2		 /* functions that the average byte of code may belong to */
#define MIN_BUDGET  (4u << 20)	 /* bytes to decode, granted to every file */
#define MAX_BUDGET  (512u << 20) /* bytes to decode, whatever the file's size */
#define MAX_WORKERS 8
#define MIN_SHARE   256 /* functions that are worth a thread */

#define APPEND(plan, sh, list)                                                                \
	({                                                                                    \
		void *grown_ =                                                                \
			reallocarray((plan)->list, (plan)->list##_cnt + (sh)->list##_cnt + 1, \
				     sizeof(*(plan)->list));                                  \
		if (grown_) {                                                                 \
			(plan)->list = grown_;                                                \
			if ((sh)->list##_cnt)                                                 \
				memcpy((plan)->list + (plan)->list##_cnt, (sh)->list,         \
				       (sh)->list##_cnt * sizeof(*(plan)->list));             \
			(plan)->list##_cnt += (sh)->list##_cnt;                               \
		}                                                                             \
		grown_ ? 0 : -ENOMEM;                                                         \
	})

/* Moves what a worker has made behind what the plan has. */
static int plan_append(struct plan *p, const struct share *sh)
{
	size_t exits_base = p->exits_cnt, first = p->functions_cnt;

	if (APPEND(p, sh, exits) || APPEND(p, sh, functions) || APPEND(p, sh, skipped))
		return -ENOMEM;
	for (size_t i = first; i < p->functions_cnt; i++)
		p->functions[i].exits += exits_base;
	return 0;
}

/* What the symbols of a share may cost, out of what the shares before it have left: their sizes. */
static uint64_t share_budget(const struct share *sh, uint64_t *left)
{
	uint64_t need = 0;

	for (size_t i = 0; i < sh->wanted_cnt && need < *left; i++) {
		uint64_t size = symtab__at(sh->obj->tab, sh->wanted[i])->size;

		need += size <= MAX_FUNCTION_SIZE ? size : 0;
	}
	need = need < *left ? need : *left;
	*left -= need;
	return need;
}

/* Shares the wanted symbols out, waits, and collects. */
static int plan_shares(struct plan *p, const struct share *model, struct proofs *proofs)
{
	struct share shares[MAX_WORKERS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t workers = cpus < 1 ? 1 : cpus > MAX_WORKERS ? MAX_WORKERS : cpus;
	size_t done = 0, started = 0;
	uint64_t left = model->budget;
	int err = 0;

	if (workers > model->wanted_cnt / MIN_SHARE + 1)
		workers = model->wanted_cnt / MIN_SHARE + 1;
	for (size_t i = 0; i < workers; i++) {
		size_t end = model->wanted_cnt * (i + 1) / workers;

		shares[i] = *model;
		shares[i].wanted = model->wanted + done;
		shares[i].lists = model->lists ? model->lists + done : NULL;
		shares[i].firsts = model->firsts ? model->firsts + done : NULL;
		shares[i].wanted_cnt = end - done;
		shares[i].budget = share_budget(&shares[i], &left);
		done = end;
	}
	for (; started + 1 < workers; started++) {
		if (pthread_create(&shares[started].thread, NULL, share__run, &shares[started]))
			break;
	}
	for (size_t i = started; i < workers; i++)
		share__run(&shares[i]);
	for (size_t i = 0; i < workers; i++) {
		if (i < started)
			pthread_join(shares[i].thread, NULL);
		if (!err)
			err = shares[i].err;
		if (!err && proofs)
			err = proofs__add(proofs, model->object, &shares[i].notes,
					  p->functions_cnt);
		if (!err)
			err = plan_append(p, &shares[i]);
		share__clear(&shares[i]);
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

	/* What is linked into a static program has a C library's machinery among it, and what looks
	 * for unwind tables an unwinder. */
	if (elf_image__is_static(obj->img) || obj->traits & (TRAIT_LIBC | TRAIT_GO | TRAIT_TABLES))
		return 0;
	while (i < cnt && !symtab__at(obj->tab, i)->nameless)
		i++;
	if (i == cnt)
		return 0;
	err = plan_object__look_for_loads(obj);
	obj->tells = !err && !obj->loads_stack;
	return err;
}

void plan_object__clear(struct plan_object *obj)
{
	source__free(obj->source);
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

struct filter_object plan_object__names(const struct plan *p, const struct target *t,
					uint32_t index)
{
	return (struct filter_object){t->objects[index].path, p->objects[index].soname,
				      t->objects[index].is_main};
}

/* Plans symbols [0, cnt) of `wanted`, into `p`; `lists` and `firsts` as in struct share. */
static int plan_wanted(struct plan *p, const struct plan_object *obj, uint32_t index,
		       const uint32_t *wanted, const uint8_t *lists, const uint32_t *firsts,
		       size_t cnt, const struct plan_options *opts,
		       const struct exit_context *exit_ctx, struct proofs *proofs)
{
	struct cold_pieces cold;
	struct share model = {
		.obj = obj,
		.opts = opts,
		.exit_ctx = exit_ctx,
		.proofs = proofs,
		.object = index,
		.wanted = wanted,
		.lists = lists,
		.firsts = firsts,
		.wanted_cnt = cnt,
		.cold = &cold,
		.budget = decode_budget(obj->img),
		.tables = decode_budget(obj->img) / MAX_WORKERS,
	};
	int err = cold_pieces__init(&cold, obj->tab);

	if (!err)
		err = plan_shares(p, &model, proofs);
	cold_pieces__clear(&cold);
	return err;
}

int plan_object__plan(struct plan *p, const struct filter_object *fobj, uint32_t index,
		      struct filter *filter, const struct plan_options *opts,
		      const struct exit_context *exit_ctx, struct proofs *proofs)
{
	const struct plan_object *obj = &p->objects[index];
	size_t cnt = symtab__count(obj->tab), wanted_cnt = 0;
	uint32_t *wanted = calloc(cnt + 1, sizeof(*wanted));
	uint8_t *lists = calloc(cnt + 1, sizeof(*lists));
	uint32_t *firsts = calloc(cnt + 1, sizeof(*firsts));
	struct named named = {opts->arguments, .img = obj->img, .root = obj->root};
	int err = wanted && lists && firsts ? 0 : -ENOMEM;

	if (!err && opts->lines)
		err = line_wants__mark(&p->objects[index].lines, opts->lines, fobj, obj->tab,
				       firsts);

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct symbol *sym = symtab__at(obj->tab, i);
		bool refused = false;
		uint32_t list = 0;

		if (sym->piece_of != SYMTAB_NONE || sym->kind == SYMBOL_NOTYPE ||
		    regions__is_site(sym))
			continue;
		if (!filter__wants(filter, fobj, sym) && !firsts[i])
			continue;
		if (opts->arguments) {
			list = arguments__of(opts->arguments, fobj, sym);
			err = named__resolve(&named, sym, &list, &refused);
		}
		/* What is wanted is part of what there is. */
		firsts[wanted_cnt] = firsts[i];
		lists[wanted_cnt] = list;
		wanted[wanted_cnt] = i;
		wanted_cnt += !refused;
	}
	named__clear(&named);
	if (!err)
		err = plan_wanted(p, obj, index, wanted, lists, firsts, wanted_cnt, opts, exit_ctx,
				  proofs);
	free(wanted);
	free(lists);
	free(firsts);
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
	f->exits_pending = p->exits_pending = true;
	if (anew->exits_cnt)
		memcpy(p->exits + p->exits_cnt, from->exits + anew->exits,
		       anew->exits_cnt * sizeof(*p->exits));
	p->exits_cnt += anew->exits_cnt;
}

int plan_object__replace_returns(struct plan *p, uint32_t index, const struct plan_options *opts,
				 const struct exit_context *exit_ctx)
{
	/* Entries are in already, and must be called before exits at the same instruction. */
	struct plan_options late = *opts;
	struct plan anew = {0};
	struct plan_exit *grown;
	uint32_t *wanted = calloc(p->functions_cnt + 1, sizeof(*wanted));
	size_t cnt = 0, at = 0;
	int err;

	if (!wanted)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (p->functions[i].object == index && p->functions[i].exit == EXIT_RETURN)
			wanted[cnt++] = p->functions[i].symbol_index;
	}
	late.early_exits = late.closes_leaves = false;
	err = cnt ? plan_wanted(&anew, &p->objects[index], index, wanted, NULL, NULL, cnt, &late,
				exit_ctx, NULL)
		  : 0;
	grown = err ? NULL
		    : reallocarray(p->exits, p->exits_cnt + anew.exits_cnt + 1, sizeof(*grown));
	if (grown)
		p->exits = grown;
	else if (!err)
		err = -ENOMEM;
	/* Both are in order of address. */
	for (size_t i = 0; !err && i < p->functions_cnt && at < anew.functions_cnt; i++) {
		struct plan_function *f = &p->functions[i];

		if (f->object == index && f->symbol_index == anew.functions[at].symbol_index)
			replace_exits(p, f, &anew, &anew.functions[at++]);
	}
	free(anew.functions);
	free(anew.exits);
	free(anew.skipped);
	free(wanted);
	return err;
}
