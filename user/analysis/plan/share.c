// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/share.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/insn.h"
#include "code/early_exits.h"
#include "code/go_prologue.h"
#include "code/tiny.h"
#include "elf/elf_image.h"
#include "plan/arguments.h"
#include "plan/changes.h"
#include "plan/deny.h"
#include "plan/exits.h"
#include "plan/object.h"
#include "plan/patched.h"
#include "plan/plan.h"
#include "plan/tails.h"
#include "symbol/symtab.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_EXITS (1u << 22) /* of one share's functions */

static int skip(struct share *sh, const struct symbol *sym, const char *reason)
{
	if (ARRAY_RESERVE(&sh->skipped, sh->skipped_cnt, &sh->skipped_cap))
		return -ENOMEM;
	sh->skipped[sh->skipped_cnt++] =
		(struct plan_skip){.symbol = sym->name, .object = sh->object, .reason = reason};
	return 0;
}

/* Whether a region in the function begins before the site. A probe of proftrace.h is on the long
 * nop behind its first one, if that is the function's site. */
static bool lies_behind_region(const struct share *sh, const struct code_site *site)
{
	return site->offset > sh->named &&
	       !((site->site == SITE_NOP5 || site->site == SITE_NOP10) &&
		 site->offset == sh->named + 1);
}

/*
 * The cheapest site that suits the exit strategy, where arguments that are wanted still are; NULL:
 * there is none. Behind instructions that do some work it would have to save a single step: what
 * runs before a site is not measured. Nor are lines that lie before it: of a function whose lines
 * are wanted, its first line is better than any class. And a region that begins before its function
 * would not be in it.
 */
static const struct code_site *site_choose(const struct share *sh, enum exit_strategy exit)
{
	const struct code_site *best = NULL;
	const struct code *code = &sh->code;

	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		if (sh->needs &&
		    sh->needs & changes__before(elf_image__arch(sh->obj->img), sh->bytes.at[0],
						sh->bytes.cap[0], site->offset))
			break;

		/* The kernel takes the word at the stack pointer for the return address. */
		if (exit == EXIT_RETURN && site->delta)
			continue;
		if (sh->first && site->offset >= sh->first && best)
			break;
		if (lies_behind_region(sh, site) && best)
			break;
		if (!best || (code_site__rank(site) < code_site__rank(best) &&
			      (best->site == SITE_STEP || best->work == site->work)))
			best = site;
	}
	return best;
}

/* What speaks against a return probe in the function, just decoded. */
static const struct plain *look(struct share *sh)
{
	const struct code_flow flow = code_decoder__flow(sh->decoder);

	if (sh->plain_known)
		return &sh->plain;
	plain__look(elf_image__arch(sh->obj->img), sh->pieces, sh->pieces_cnt, &sh->code, &flow,
		    &sh->pads, &sh->plain);
	if (!sh->plain.doubt)
		sh->plain.doubt = tails__doubt(sh->tails, &sh->code);
	sh->plain_known = true;
	return &sh->plain;
}

/* How the function's leave is seen, and the site that goes with it. */
static const struct code_site *choose(struct share *sh, enum deny_verdict deny,
				      struct exit_choice *exit)
{
	const struct code_site *site;

	sh->closed = sh->times_calls ? 0 : exits__close_at_entry(sh->exit_ctx, &sh->code, exit);
	if (!sh->closed)
		*exit = exits__choose(sh->exit_ctx, &sh->code, deny);
	if (exit->strategy == EXIT_RETURN && look(sh)->doubt)
		*exit = exits__without_return(&sh->code, look(sh)->doubt);
	site = site_choose(sh, exit->strategy);
	if (site || exit->strategy != EXIT_RETURN)
		return site;
	*exit = exits__without_return(&sh->code, "not return: the stack pointer has moved where it "
						 "can be probed");
	return site_choose(sh, exit->strategy);
}

/* Whether our program emulates the exit. Not where a function begins: somebody's return probe there
 * would take what lies behind the return address for one, once the stack pointer has moved. */
static bool is_emulated(const struct share *sh, const struct code_exit *e)
{
	const struct symtab *tab = sh->obj->tab;
	size_t cnt = symtab__count(tab), at;

	if (!sh->opts->emulates_returns || !e->plain)
		return false;
	at = LOWER_BOUND(cnt, i, symtab__at(tab, i)->vaddr < e->vaddr);
	return at == cnt || symtab__at(tab, at)->vaddr != e->vaddr;
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
		.patched = code->patched,
		/* What is not measured is no yardstick. */
		.leaf_insns = sh->closed ? 0 : tiny__insns(code),
		.closed_at_entry = sh->closed,
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
		sh->exits[sh->exits_cnt++] = (struct plan_exit){
			.offset = offset,
			.kind = e->kind,
			.cond = e->cond,
			.steps = e->steps,
			.emulated = is_emulated(sh, e),
			.early = e->early,
			.by_frame_pointer = e->by_frame_pointer,
			.up = e->up,
		};
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
	if (!note->impossible)
		proof_note__judge(note, sh->proofs, look(sh));
	if (!site || deny != DENY_NOTHING || note->impossible || look(sh)->doubt)
		return 0;
	note->planned = sh->functions[sh->functions_cnt - 1].exit != EXIT_RETURN && !sh->closed;
	note->function = sh->functions_cnt - 1;
	note->site = *site;
	return 0;
}

/* Whether the function, just decoded, shows by its code that it may have the return probe that it
 * would get if it had a name. Forcing does not go that far. */
static bool is_plain(struct share *sh)
{
	const struct exit_context *ctx = sh->exit_ctx;

	return sh->obj->tells && !ctx->forced && !sh->code.patched &&
	       exits__choose(ctx, &sh->code, DENY_NOTHING).strategy == EXIT_RETURN &&
	       !look(sh)->doubt && !look(sh)->calls_system;
}

static uint64_t label_after(const struct symtab *tab, uint32_t index)
{
	return index + 1 < symtab__count(tab) ? symtab__at(tab, index + 1)->vaddr : UINT64_MAX;
}

/* Whether the function may be taken to leave a few instructions before its `ret`: it has no result
 * to be read there, nor lines or probes, which belong to a call that is open; and nothing jumps in
 * from outside that is known. */
static bool sees_exits_early(const struct share *sh, uint32_t index, uint8_t arguments)
{
	const struct symbol *sym = symtab__at(sh->obj->tab, index);

	return sh->opts->early_exits && !sh->opts->emulates_returns && !arguments && !sh->first &&
	       sh->named == UINT32_MAX &&
	       label_after(sh->obj->tab, index) >= sym->vaddr + sym->size;
}

/* Where the function's first static probe is, from its start; UINT32_MAX: it has none. */
static uint32_t first_probe(const struct plan_object *obj, const struct symbol *sym)
{
	size_t at = LOWER_BOUND(obj->probes_cnt, i, obj->probes[i] < sym->vaddr);

	return at < obj->probes_cnt && obj->probes[at] - sym->vaddr < sym->size
		       ? obj->probes[at] - sym->vaddr
		       : UINT32_MAX;
}

/* Decodes the function that consists of these pieces, landing pads and all. */
static int decode(struct share *sh, uint32_t index, struct code_piece *pieces, size_t cnt)
{
	int err = pads__read(&sh->pads, sh->obj->img, sh->obj->eh, sh->obj->linkage, &sh->tables,
			     pieces, cnt);

	if (err)
		return err;
	err = instrumentation__of(&sh->instrumentation, &pieces[0]);
	if (err < 0)
		return err;
	sh->instrumented = err;
	err = code_decode(sh->decoder, pieces, cnt, label_after(sh->obj->tab, index), &sh->code);
	if (!err)
		patched__drop_sites(sh->obj, sh->insn, pieces, cnt, &sh->code);
	return err;
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
	err = decode(sh, index, pieces, cnt);
	if (err)
		return err;
	sh->pieces = pieces;
	sh->pieces_cnt = cnt;
	sh->plain_known = false;
	if (deny == DENY_UNKNOWN && is_plain(sh))
		deny = DENY_NOTHING;
	sh->first = first;
	sh->named = first_probe(sh->obj, sym);
	reason = sh->opts->skip_tiny && !arguments && !first ? tiny__reason(&sh->code) : NULL;
	if (reason)
		return skip(sh, sym, reason);
	if (sym->is_go)
		go_prologue__apply(sh->insn, &pieces[0], &sh->code);
	/* Its probes in a region, values and lines belong to a call that is open meanwhile. */
	sh->times_calls = !sh->opts->closes_leaves || arguments || first || sh->named != UINT32_MAX;
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
		return skip(
			sh, sym,
			sh->code.bad	   ? sh->code.bad
			: sh->code.patched ? patched__reason
			: sh->opts->calls_spared
				? "no instruction in its entry block can be probed, calls under "
				  "shadow stacks included"
				: "no instruction in its entry block can be probed");
	if (exit.strategy == EXIT_SITES && sees_exits_early(sh, index, arguments)) {
		const struct code_flow flow = code_decoder__flow(sh->decoder);

		err = early_exits__find(sh->early_exits, pieces, cnt, &flow, &sh->code);
		if (err)
			return err;
	}
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

void *share__run(void *arg)
{
	struct share *sh = arg;
	const struct arch *arch = elf_image__arch(sh->obj->img);

	sh->err = code_decoder__new(arch, sh->opts->call_nops, read_object, sh, &sh->decoder);
	if (!sh->err)
		sh->err = insn_decoder__new(arch, sh->opts->call_nops, &sh->insn);
	if (!sh->err && sh->opts->nop5_spared)
		code_decoder__spare_nop5(sh->decoder);
	if (!sh->err && sh->opts->calls_spared)
		code_decoder__spare_calls(sh->decoder);
	if (!sh->err)
		sh->err = early_exits__new(sh->insn, &sh->early_exits);
	if (!sh->err)
		sh->err = tails__new(sh->obj, sh->cold, &sh->tails);
	if (!sh->err)
		code_decoder__note_edges(sh->decoder);
	sh->instrumentation = (struct instrumentation){
		.img = sh->obj->img, .noted = sh->obj->instrumented, .insn = sh->insn};
	for (size_t i = 0; !sh->err && i < sh->wanted_cnt; i++)
		sh->err = plan_symbol(sh, sh->wanted[i], sh->lists ? sh->lists[i] : 0,
				      sh->firsts ? sh->firsts[i] : 0);
	return NULL;
}

void share__clear(struct share *sh)
{
	piece_bytes__clear(&sh->bytes);
	code_clear(&sh->code);
	pads__clear(&sh->pads);
	proof_notes__clear(&sh->notes);
	free(sh->functions);
	free(sh->exits);
	free(sh->skipped);
	instrumentation__clear(&sh->instrumentation);
	early_exits__free(sh->early_exits);
	tails__free(sh->tails);
	code_decoder__free(sh->decoder);
	insn_decoder__free(sh->insn);
}
