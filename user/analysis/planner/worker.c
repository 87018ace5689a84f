// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/insn.h"
#include "code/go_prologue.h"
#include "code/tiny.h"
#include "elf/elf_image.h"
#include "exits/early_exits.h"
#include "exits/exits.h"
#include "exits/tails.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/patched.h"
#include "plan/plan.h"
#include "select/arguments.h"
#include "select/changes.h"
#include "select/deny.h"
#include "select/read_code.h"
#include "symbol/go.h"
#include "symbol/symtab.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_EXITS (1u << 22) /* of one share's functions */

static int skip(struct worker *w, const struct symbol *sym, const char *reason)
{
	const char *denied;

	if (ARRAY_RESERVE(&w->skipped, w->skipped_cnt, &w->skipped_cap))
		return -ENOMEM;
	w->skipped[w->skipped_cnt++] = (struct plan_skip){
		.symbol = sym->name,
		.object = w->object,
		.reason = reason,
		.expected = !sym->size || deny__verdict(sym, &denied) == DENY_PROBE};
	return 0;
}

/* Whether a region in the function begins before the site. A probe of proftrace.h is on the long
 * nop behind its first one, if that is the function's site. */
static bool lies_behind_region(const struct worker *w, const struct code_site *site)
{
	return site->offset > w->now.first_probe &&
	       !((site->site == SITE_NOP5 || site->site == SITE_NOP10) &&
		 site->offset == w->now.first_probe + 1);
}

/* Whether arguments that are wanted are no more where they were at the entry. */
static bool arguments_are_gone(const struct worker *w, const struct code_site *site)
{
	const uint32_t needed = w->now.arguments_need;

	return needed && (needed & changes__before(elf_image__arch(w->obj->img), w->bytes.at[0],
						   w->bytes.cap[0], site->offset));
}

/* Whether a probe at the site would miss something that one at an earlier site sees: a line that
 * is wanted, or a region, which would begin before its function and so not be in it. */
static bool misses_what_is_wanted(const struct worker *w, const struct code_site *site)
{
	const uint32_t second_line = w->now.wanted->second_line;

	return (second_line && site->offset >= second_line) || lies_behind_region(w, site);
}

/* Whether a later site is better. What runs before a site is not measured: behind instructions that
 * do some work a site has to save a single step, or an emulation by our program. */
static bool is_better(const struct code_site *later, const struct code_site *best)
{
	const bool is_dear = best->site == SITE_STEP || best->site == SITE_EMUL;

	return code_site__rank(later) < code_site__rank(best) &&
	       (is_dear || best->work == later->work);
}

/* The cheapest site that suits the exit strategy and what is wanted; NULL: there is none. */
static const struct code_site *site_choose(const struct worker *w, enum exit_strategy exit)
{
	const struct code_site *best = NULL;

	for (uint32_t i = 0; i < w->code.sites_cnt; i++) {
		const struct code_site *site = &w->code.sites[i];

		if (arguments_are_gone(w, site))
			break;
		/* The kernel takes the word at the stack pointer for the return address. */
		if (exit == EXIT_RETURN && site->delta)
			continue;
		if (best && misses_what_is_wanted(w, site))
			break;
		if (!best || is_better(site, best))
			best = site;
	}
	return best;
}

/* Looks whether the function, just decoded, bears a return probe. */
static const struct return_safety *look(struct worker *w)
{
	const struct code_flow flow = code_decoder__flow(w->decoder);
	const struct plain_function function = {w->now.pieces, w->now.pieces_cnt, &w->code, &flow,
						&w->pads};

	if (w->now.return_safety_known)
		return &w->now.plain;
	return_safety__look(elf_image__arch(w->obj->img), &function, &w->now.plain);
	if (!w->now.plain.doubt)
		w->now.plain.doubt = tails__doubt(w->tails, &w->code);
	w->now.return_safety_known = true;
	return &w->now.plain;
}

/* How the function's leave is seen, and the site that goes with it. */
static const struct code_site *choose(struct worker *w, enum deny_verdict deny,
				      struct exit_choice *exit)
{
	const struct code_site *site;

	w->now.closed_at_entry =
		w->now.timed ? 0 : exits__close_at_entry(w->exit_ctx, &w->code, exit);
	if (!w->now.closed_at_entry)
		*exit = exits__choose(w->exit_ctx, &w->code, deny);
	if (exit->strategy == EXIT_RETURN && look(w)->doubt)
		*exit = exits__without_return(&w->code, look(w)->doubt);
	site = site_choose(w, exit->strategy);
	if (site || exit->strategy != EXIT_RETURN)
		return site;
	*exit = exits__without_return(&w->code, "not return: the stack pointer has moved where it "
						"can be probed");
	return site_choose(w, exit->strategy);
}

/* Whether our program emulates the exit. Not where a function begins: somebody's return probe there
 * would take what lies behind the return address for one, once the stack pointer has moved. */
static bool is_emulated(const struct worker *w, const struct code_exit *e)
{
	const struct symtab *tab = w->obj->tab;
	size_t cnt = symtab__count(tab), at;

	if (!w->opts->emulates || !e->plain)
		return false;
	at = LOWER_BOUND(cnt, i, symtab__at(tab, i)->vaddr < e->vaddr);
	return at == cnt || symtab__at(tab, at)->vaddr != e->vaddr;
}

/* Adds the exits of the function at hand, which f->exits_cnt counts. */
static int add_exits(struct worker *w, struct plan_function *f)
{
	for (size_t i = 0; i < w->code.exits_cnt; i++) {
		const struct code_exit *e = &w->code.exits[i];
		uint64_t offset, target = 0;

		if (!elf_image__exec_offset(w->obj->img, e->vaddr, 1, &offset))
			continue;
		if (e->target && !elf_image__exec_offset(w->obj->img, e->target, 1, &target))
			target = 0;
		if (ARRAY_RESERVE(&w->exits, w->exits_cnt, &w->exits_cap))
			return -ENOMEM;
		w->exits[w->exits_cnt++] = (struct plan_exit){
			.offset = offset,
			.kind = e->kind,
			.cond = e->cond,
			.steps = e->steps,
			.emulated = is_emulated(w, e),
			.early = e->early,
			.by_frame_pointer = e->by_frame_pointer,
			.up = e->up,
			.target = target,
		};
		f->exits_cnt++;
	}
	return 0;
}

/* Marks those sites of the function at hand that our program emulates, as the kernel would step
 * them. Not in Go, whose arguments are in other registers. */
static void mark_emulated(struct worker *w, bool is_go)
{
	const struct arch *arch = elf_image__arch(w->obj->img);
	const struct code_piece *piece = &w->now.pieces[0];

	if (!w->opts->emulates || !arch->emulation || is_go)
		return;
	for (uint32_t i = 0; i < w->code.sites_cnt; i++) {
		struct code_site *site = &w->code.sites[i];
		struct wire_emulation e;

		if (site->site != SITE_STEP || site->offset >= piece->size ||
		    !arch->emulation(piece->bytes + site->offset, piece->size - site->offset, &e))
			continue;
		site->site = SITE_EMUL;
		site->emulation = e;
		site->emulation.page_offset = (piece->vaddr + site->offset) & WIRE_PAGE_MASK;
	}
}

static int add_function(struct worker *w, const struct code_site *site,
			const struct exit_choice *exit)
{
	const struct symbol *sym = symtab__at(w->obj->tab, w->now.wanted->symbol);
	const struct code *code = &w->code;
	struct plan_function *f;

	if (ARRAY_RESERVE(&w->functions, w->functions_cnt, &w->functions_cap))
		return -ENOMEM;
	f = &w->functions[w->functions_cnt++];
	*f = (struct plan_function){
		.symbol = sym->name,
		.aliases = sym->aliases,
		.aliases_cnt = sym->aliases_cnt,
		.object = w->object,
		.offset = sym->offset,
		.size = sym->size,
		.entry = *site,
		.instrumented = w->now.instrumented,
		.exit = exit->strategy,
		.reason = exit->reason,
		.tail_jumps = code->tail_jumps,
		.loops_to_entry = code->loops_to_entry,
		.has_lines = w->now.wanted->second_line != 0,
		.patched = code->patched,
		/* A leaf that its entry ends is not measured, so it cannot tell the cost of leaves.
		 * */
		.leaf_insns = w->now.closed_at_entry ? 0 : tiny__insns(code),
		.closed_at_entry = w->now.closed_at_entry,
		.arguments = w->now.arguments,
		.exits = w->exits_cnt,
		.symbol_index = w->now.wanted->symbol,
		.works_in_phases = sym->is_go && go_manages_memory(sym->name),
	};
	return exit->strategy == EXIT_SITES ? add_exits(w, f) : 0;
}

/* Notes what would have to be proven for a return probe at the function just added. */
static int note_function(struct worker *w, const struct symbol *sym, enum deny_verdict deny)
{
	const struct code_site *site = site_choose(w, EXIT_RETURN);
	struct proof_note *note;

	if (!w->proofs)
		return 0;
	note = proofs__note(w->proofs, sym->vaddr, &w->code, &w->pads, &w->notes);
	if (!note)
		return -ENOMEM;
	if (!note->impossible)
		proof_note__judge(note, w->proofs, look(w));
	if (!site || deny != DENY_NOTHING || note->impossible || look(w)->doubt)
		return 0;
	note->planned =
		w->functions[w->functions_cnt - 1].exit != EXIT_RETURN && !w->now.closed_at_entry;
	note->function = w->functions_cnt - 1;
	note->site = *site;
	return 0;
}

/* Whether the function, just decoded, shows by its code that it may have the return probe that it
 * would get if it had a name. Forcing does not go that far. */
static bool is_plain(struct worker *w)
{
	const struct exit_context *ctx = w->exit_ctx;

	return w->obj->trust_nameless && !ctx->forced && !w->code.patched &&
	       exits__choose(ctx, &w->code, DENY_NOTHING).strategy == EXIT_RETURN &&
	       !look(w)->doubt && !look(w)->calls_system;
}

static uint64_t label_after(const struct symtab *tab, uint32_t index)
{
	return index + 1 < symtab__count(tab) ? symtab__at(tab, index + 1)->vaddr : UINT64_MAX;
}

/* Whether the function may be taken to leave a few instructions before its `ret`: it has no result
 * to be read there, nor lines or probes, which belong to a call that is open; and nothing jumps in
 * from outside that is known. */
static bool sees_exits_early(const struct worker *w)
{
	uint32_t index = w->now.wanted->symbol;
	const struct symbol *sym = symtab__at(w->obj->tab, index);

	return w->opts->early_exits && !w->opts->emulates && !w->now.arguments &&
	       !w->now.wanted->second_line && w->now.first_probe == UINT32_MAX &&
	       label_after(w->obj->tab, index) >= sym->vaddr + sym->size;
}

/* The distance of the first static probe from the function's start; UINT32_MAX: it has none. */
static uint32_t first_probe(const struct plan_object *obj, const struct symbol *sym)
{
	size_t at = LOWER_BOUND(obj->probes_cnt, i, obj->probes[i] < sym->vaddr);

	return at < obj->probes_cnt && obj->probes[at] - sym->vaddr < sym->size
		       ? obj->probes[at] - sym->vaddr
		       : UINT32_MAX;
}

/* Decodes the function at hand, landing pads and all. */
static int decode(struct worker *w, struct code_piece *pieces, size_t cnt)
{
	uint32_t index = w->now.wanted->symbol;
	const struct pads_source from = {w->obj->img, w->obj->eh, w->obj->linkage, &w->tables};
	int err = landing_pads__read(&w->pads, &from, pieces, cnt);

	if (err)
		return err;
	err = instrumentation__of(&w->instrumentation, &pieces[0]);
	if (err < 0)
		return err;
	w->now.instrumented = err;
	err = code_decode(w->decoder, pieces, cnt, label_after(w->obj->tab, index), &w->code);
	if (!err)
		patched__drop_sites(w->obj, w->insn, pieces, cnt, &w->code);
	return err;
}

/* Why the symbol has no code that could be decoded; NULL: it has. */
static const char *undecodable(const struct worker *w, const struct symbol *sym)
{
	if (sym->kind == SYMBOL_IFUNC)
		return "is an IFUNC resolver";
	if (!sym->size)
		return "its size is unknown";
	if (sym->size > MAX_FUNCTION_SIZE)
		return "is too large to be a function";
	if (sym->size > w->budget)
		return "overlaps too many others";
	return NULL;
}

/* Why no instruction of the function at hand can be probed. */
static const char *unprobeable(const struct worker *w)
{
	if (w->code.bad)
		return w->code.bad;
	if (w->code.patched)
		return patched__reason;
	return w->opts->calls_spared ? "no instruction in its entry block can be probed, calls "
				       "under shadow stacks included"
				     : "no instruction in its entry block can be probed";
}

/* Notes what is wanted of the function at hand, which has been decoded. */
static void look_at_wants(struct worker *w, const struct symbol *sym)
{
	struct function_at_hand *now = &w->now;

	now->arguments = now->wanted->arguments;
	now->arguments_need =
		now->arguments
			? argument_list__needs(&w->opts->arguments->lists[now->arguments - 1])
			: 0;
	now->first_probe = first_probe(w->obj, sym);
	/* Probes of its regions, values and lines need an open call. */
	now->timed = !w->opts->closes_leaves || now->arguments || now->wanted->second_line ||
		     now->first_probe != UINT32_MAX;
}

/* Decides where the function at hand is probed, and adds it to what is planned or skipped. */
static int place(struct worker *w, const struct symbol *sym, enum deny_verdict deny)
{
	struct exit_choice exit;
	const struct code_site *site = choose(w, deny, &exit);
	bool changed = false;
	int err = 0;

	if (!site && w->now.arguments_need) {
		/* Better no values than wrong ones. */
		w->now.arguments_need = w->now.arguments = 0;
		changed = true;
		site = choose(w, deny, &exit);
	}
	if (exit.strategy == EXIT_SITES && w->exits_cnt + w->code.exits_cnt > MAX_EXITS)
		exit = (struct exit_choice){EXIT_NONE, "the object has too many exits"};
	if (!site)
		return skip(w, sym, unprobeable(w));
	if (exit.strategy == EXIT_SITES && sees_exits_early(w)) {
		const struct code_flow flow = code_decoder__flow(w->decoder);

		err = early_exits__find(w->early_exits, w->now.pieces, w->now.pieces_cnt, &flow,
					&w->code);
	}
	if (!err)
		err = add_function(w, site, &exit);
	if (err)
		return err;
	w->functions[w->functions_cnt - 1].arguments_changed = changed;
	return note_function(w, sym, deny);
}

static int plan_symbol(struct worker *w, const struct wanted_symbol *wanted)
{
	const struct symbol *sym = symtab__at(w->obj->tab, wanted->symbol);
	const struct piece_source from = {w->pages, w->obj->tab, w->cold};
	struct code_piece pieces[CODE_MAX_PIECES];
	const char *reason = undecodable(w, sym), *read;
	enum deny_verdict deny;
	size_t cnt;
	int err;

	if (reason)
		return skip(w, sym, reason);
	w->budget -= sym->size;
	deny = deny__verdict(sym, &reason);
	if (deny == DENY_PROBE)
		return skip(w, sym, reason);
	read = read_code__reason(w->read, sym);
	if (read)
		return skip(w, sym, read);
	err = pieces__read(&from, wanted->symbol, &w->bytes, pieces, &cnt);
	if (err)
		return err == -ENODATA ? skip(w, sym, "has no code in the file") : err;
	w->now = (struct function_at_hand){.wanted = wanted, .pieces = pieces, .pieces_cnt = cnt};
	err = decode(w, pieces, cnt);
	if (err)
		return err;
	look_at_wants(w, sym);
	if (deny == DENY_UNKNOWN && is_plain(w))
		deny = DENY_NOTHING;
	if (w->opts->skip_tiny && !wanted->arguments && !wanted->second_line) {
		reason = tiny__reason(&w->code);
		if (reason)
			return skip(w, sym, reason);
	}
	if (sym->is_go)
		go_prologue__apply(w->insn, &pieces[0], &w->code);
	mark_emulated(w, sym->is_go);
	return place(w, sym, deny);
}

/* A code_reader: jump tables lie elsewhere in the object. */
static bool read_object(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	const struct worker *w = ctx;

	return elf_pages__read_vaddr(w->pages, vaddr, buf, len);
}

void worker__run(void *arg)
{
	struct worker *w = arg;
	const struct arch *arch = elf_image__arch(w->obj->img);

	w->pages = elf_pages__new(w->obj->img);
	w->err = w->pages ? 0 : -ENOMEM;
	if (!w->err)
		w->err = code_decoder__new(arch, w->opts->call_nops, read_object, w, &w->decoder);
	if (!w->err && w->opts->nop5_spared)
		code_decoder__spare_nop5(w->decoder);
	if (!w->err && w->opts->calls_spared)
		code_decoder__spare_calls(w->decoder);
	if (!w->err)
		w->insn = code_decoder__insn(w->decoder);
	if (!w->err)
		w->err = early_exits__new(w->insn, &w->early_exits);
	if (!w->err)
		w->err = tails__new(w->obj, w->cold, w->pages, &w->tails);
	if (!w->err)
		code_decoder__note_edges(w->decoder);
	w->instrumentation = (struct instrumentation){
		.img = w->obj->img, .noted = w->obj->instrumented, .insn = w->insn};
	for (size_t i = 0; !w->err && i < w->wanted_cnt; i++)
		w->err = plan_symbol(w, &w->wanted[i]);
}

void worker__clear(struct worker *w)
{
	elf_pages__free(w->pages);
	piece_bytes__clear(&w->bytes);
	code_clear(&w->code);
	landing_pads__clear(&w->pads);
	proof_notes__clear(&w->notes);
	free(w->functions);
	free(w->exits);
	free(w->skipped);
	instrumentation__clear(&w->instrumentation);
	early_exits__free(w->early_exits);
	tails__free(w->tails);
	code_decoder__free(w->decoder);
}
