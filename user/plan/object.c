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

#include "plan/arguments.h"
#include "plan/changes.h"
#include "plan/code.h"
#include "plan/deny.h"
#include "plan/exits.h"
#include "plan/filter.h"
#include "plan/go_prologue.h"
#include "plan/insn.h"
#include "plan/instrumentation.h"
#include "plan/named.h"
#include "plan/pads.h"
#include "plan/pieces.h"
#include "plan/plan.h"
#include "plan/proof.h"
#include "plan/regions.h"
#include "plan/tiny.h"
#include "symbol/eh_frame.h"
#include "symbol/elf_image.h"
#include "symbol/linkage.h"
#include "symbol/source.h"
#include "symbol/symtab.h"
#include "symbol/usdt.h"
#include "target/target.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_OVERLAP 2		 /* functions that the average byte of code may belong to */
#define MIN_BUDGET  (4u << 20)	 /* bytes to decode, granted to every file */
#define MAX_BUDGET  (512u << 20) /* bytes to decode, whatever the file's size */
#define MAX_EXITS   (1u << 22)	 /* of one worker's functions */
#define MAX_WORKERS 8
#define MIN_SHARE   256 /* functions that are worth a thread */

/* One worker's share of an object's symbols, and what it makes of them. */
struct share {
	const struct plan_object *obj;
	const struct plan_options *opts;
	const struct exit_context *exit_ctx;
	const struct proofs *proofs; /* NULL: nothing can be proven here */
	uint32_t object;
	const uint32_t *wanted; /* symbol indexes */
	/* By place in `wanted`: numbers of argument lists; NULL: no values are read */
	const uint8_t *lists;
	/* The same: where their second lines are, as in line_wants__mark(); NULL: no lines */
	const uint32_t *firsts;
	size_t wanted_cnt;
	const struct cold_pieces *cold;
	uint64_t budget; /* bytes that may still be decoded */
	uint64_t tables; /* bytes of exception tables that may still be read */

	struct plan_function *functions;
	size_t functions_cnt, functions_cap;
	struct plan_exit *exits;
	size_t exits_cnt, exits_cap;
	struct plan_skip *skipped;
	size_t skipped_cnt, skipped_cap;
	struct piece_bytes bytes;
	struct proof_notes notes;
	struct pads pads;
	struct code code;
	struct code_decoder *decoder;
	struct insn_decoder *insn;
	struct instrumentation instrumentation;
	uint8_t instrumented; /* of the symbol that is planned: enum instrumented_by */
	uint32_t first;	      /* the same: as `firsts` */
	uint32_t needs;	      /* the same: see argument_list__needs() */
	pthread_t thread;
	int err;
};

static int skip(struct share *sh, const struct symbol *sym, const char *reason)
{
	if (ARRAY_RESERVE(&sh->skipped, sh->skipped_cnt, &sh->skipped_cap))
		return -ENOMEM;
	sh->skipped[sh->skipped_cnt++] =
		(struct plan_skip){.symbol = sym->name, .object = sh->object, .reason = reason};
	return 0;
}

/*
 * The cheapest site that suits the exit strategy, where arguments that are wanted still are; NULL:
 * there is none. Behind instructions that do some work it would have to save a single step: what
 * runs before a site is not measured. Nor are lines that lie before it: of a function whose lines
 * are wanted, its first line is better than any class.
 */
static const struct code_site *site_choose(const struct share *sh, enum exit_strategy exit)
{
	const struct code_site *best = NULL;
	const struct code *code = &sh->code;

	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		if (sh->needs & changes__before(sh->bytes.at[0], sh->bytes.cap[0], site->offset))
			break;

		/* The kernel takes the word at the stack pointer for the return address. */
		if (exit == EXIT_RETURN && site->delta)
			continue;
		if (sh->first && site->offset >= sh->first && best)
			break;
		if (!best || (code_site__rank(site) < code_site__rank(best) &&
			      (best->site == SITE_STEP || best->work == site->work)))
			best = site;
	}
	return best;
}

/* How the function's leave is seen, and the site that goes with it. */
static const struct code_site *choose(const struct share *sh, enum deny_verdict deny,
				      struct exit_choice *exit)
{
	const struct code_site *site;

	*exit = exits__choose(sh->exit_ctx, &sh->code, deny);
	site = site_choose(sh, exit->strategy);
	if (site || exit->strategy != EXIT_RETURN)
		return site;
	*exit = exits__without_return(&sh->code, "not return: the stack pointer has moved where it "
						 "can be probed");
	return site_choose(sh, exit->strategy);
}

static int add_function(struct share *sh, uint32_t index, const struct code_site *site,
			const struct exit_choice *exit, uint8_t arguments)
{
	const struct symbol *sym = symtab__at(sh->obj->tab, index);
	const struct code *code = &sh->code;
	struct plan_function *f;

	if (ARRAY_RESERVE(&sh->functions, sh->functions_cnt, &sh->functions_cap))
		return -ENOMEM;
	f = &sh->functions[sh->functions_cnt++];
	*f = (struct plan_function){
		.symbol = sym->name,
		.aliases = sym->aliases,
		.aliases_cnt = sym->aliases_cnt,
		.object = sh->object,
		.offset = sym->offset,
		.size = sym->size,
		.site_offset = site->offset,
		.site_delta = site->delta,
		.site = site->site,
		.instrumented = sh->instrumented,
		.begins_anew = site->begins_anew,
		.cond = site->cond,
		.exit = exit->strategy,
		.reason = exit->reason,
		.tail_jumps = code->tail_jumps,
		.loops_to_entry = code->loops_to_entry,
		.has_lines = sh->first != 0,
		.leaf_insns = tiny__insns(code),
		.arguments = arguments,
		.exits = sh->exits_cnt,
		.symbol_index = index,
	};
	if (exit->strategy != EXIT_SITES)
		return 0;
	for (size_t i = 0; i < code->exits_cnt; i++) {
		const struct code_exit *e = &code->exits[i];
		uint64_t offset;

		if (!elf_image__exec_offset(sh->obj->img, e->vaddr, 1, &offset))
			continue;
		if (ARRAY_RESERVE(&sh->exits, sh->exits_cnt, &sh->exits_cap))
			return -ENOMEM;
		sh->exits[sh->exits_cnt++] = (struct plan_exit){offset, e->kind, e->cond, e->steps};
		f->exits_cnt++;
	}
	return 0;
}

/* Notes what would have to be proven for a return probe at the function just added. */
static int note_function(struct share *sh, const struct symbol *sym, enum deny_verdict deny)
{
	const struct code_site *site = site_choose(sh, EXIT_RETURN);
	struct proof_note *note;

	if (!sh->proofs)
		return 0;
	note = proofs__note(sh->proofs, sym->vaddr, &sh->code, &sh->pads, &sh->notes);
	if (!note)
		return -ENOMEM;
	if (!site || deny != DENY_NOTHING)
		return 0;
	note->planned = sh->functions[sh->functions_cnt - 1].exit != EXIT_RETURN;
	note->function = sh->functions_cnt - 1;
	note->site = *site;
	return 0;
}

static uint64_t label_after(const struct symtab *tab, uint32_t index)
{
	return index + 1 < symtab__count(tab) ? symtab__at(tab, index + 1)->vaddr : UINT64_MAX;
}

static int plan_symbol(struct share *sh, uint32_t index, uint8_t arguments, uint32_t first)
{
	const struct symbol *sym = symtab__at(sh->obj->tab, index);
	struct code_piece pieces[CODE_MAX_PIECES];
	const struct code_site *site;
	struct exit_choice exit;
	const char *reason;
	enum deny_verdict deny;
	bool changed = false;
	size_t cnt;
	int err;

	if (sym->kind == SYMBOL_IFUNC)
		return skip(sh, sym, "is an IFUNC resolver");
	if (!sym->size)
		return skip(sh, sym, "its size is unknown");
	if (sym->size > MAX_FUNCTION_SIZE)
		return skip(sh, sym, "is too large to be a function");
	if (sym->size > sh->budget)
		return skip(sh, sym, "overlaps too many others");
	sh->budget -= sym->size;
	deny = deny__verdict(sym, &reason);
	if (deny == DENY_PROBE)
		return skip(sh, sym, reason);
	err = pieces__read(sh->obj, sh->cold, index, &sh->bytes, pieces, &cnt);
	if (err)
		return err == -ENODATA ? skip(sh, sym, "has no code in the file") : err;
	err = pads__read(&sh->pads, sh->obj->img, sh->obj->eh, sh->obj->linkage, &sh->tables,
			 pieces, cnt);
	if (err)
		return err;
	err = instrumentation__of(&sh->instrumentation, &pieces[0]);
	if (err < 0)
		return err;
	sh->instrumented = err;
	err = code_decode(sh->decoder, pieces, cnt, label_after(sh->obj->tab, index), &sh->code);
	if (err)
		return err;
	sh->first = first;
	reason = sh->opts->skip_tiny && !arguments && !first ? tiny__reason(&sh->code) : NULL;
	if (reason)
		return skip(sh, sym, reason);
	if (sym->is_go)
		go_prologue__apply(sh->insn, &pieces[0], &sh->code);
	sh->needs =
		arguments ? argument_list__needs(&sh->opts->arguments->lists[arguments - 1]) : 0;
	site = choose(sh, deny, &exit);
	if (!site && sh->needs) {
		/* Better no values than wrong ones. */
		sh->needs = arguments = 0;
		changed = true;
		site = choose(sh, deny, &exit);
	}
	if (exit.strategy == EXIT_SITES && sh->exits_cnt + sh->code.exits_cnt > MAX_EXITS)
		exit = (struct exit_choice){EXIT_NONE, "the object has too many exits"};
	if (!site)
		return skip(sh, sym,
			    sh->code.bad ? sh->code.bad
					 : "no instruction in its entry block can be probed");
	err = add_function(sh, index, site, &exit, arguments);
	if (err)
		return err;
	sh->functions[sh->functions_cnt - 1].arguments_changed = changed;
	return note_function(sh, sym, deny);
}

/* A code_reader: jump tables lie elsewhere in the object. */
static bool read_object(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	const struct share *sh = ctx;

	return elf_image__read_vaddr(sh->obj->img, vaddr, buf, len);
}

static void *share_run(void *arg)
{
	struct share *sh = arg;

	sh->err = code_decoder__new(sh->opts->nop5_emulated, read_object, sh, &sh->decoder);
	if (!sh->err)
		sh->err = insn_decoder__new(sh->opts->nop5_emulated, &sh->insn);
	sh->instrumentation = (struct instrumentation){
		.img = sh->obj->img, .noted = sh->obj->instrumented, .insn = sh->insn};
	for (size_t i = 0; !sh->err && i < sh->wanted_cnt; i++)
		sh->err = plan_symbol(sh, sh->wanted[i], sh->lists ? sh->lists[i] : 0,
				      sh->firsts ? sh->firsts[i] : 0);
	return NULL;
}

static void share_clear(struct share *sh)
{
	piece_bytes__clear(&sh->bytes);
	code_clear(&sh->code);
	pads__clear(&sh->pads);
	proof_notes__clear(&sh->notes);
	free(sh->functions);
	free(sh->exits);
	free(sh->skipped);
	instrumentation__clear(&sh->instrumentation);
	code_decoder__free(sh->decoder);
	insn_decoder__free(sh->insn);
}

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
		if (pthread_create(&shares[started].thread, NULL, share_run, &shares[started]))
			break;
	}
	for (size_t i = started; i < workers; i++)
		share_run(&shares[i]);
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
		share_clear(&shares[i]);
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

void plan_object__clear(struct plan_object *obj)
{
	source__free(obj->source);
	line_wants__clear(&obj->lines);
	eh_frame__free(obj->eh);
	linkage__free(obj->linkage);
	instrumented__free(obj->instrumented);
	symtab__free(obj->tab);
	usdt__free(obj->usdt);
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
	err = cnt ? plan_wanted(&anew, &p->objects[index], index, wanted, NULL, NULL, cnt, opts,
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
