// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines/lines.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "code/landing_pads.h"
#include "code/pieces.h"
#include "dwarf/function_traits.h"
#include "dwarf/line_table.h"
#include "elf/elf_image.h"
#include "lines/line_asides.h"
#include "lines/line_judge.h"
#include "lines/line_keys.h"
#include "lines/line_put.h"
#include "lines/segments.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/patched.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "select/line_spec.h"
#include "symbol/symtab.h"
#include "util/array.h"
#include "util/log.h"

#define MAX_CODE   (4u << 20)  /* bytes of a function */
#define MAX_LABELS 4096	       /* symbols within a function */
#define MAX_TABLES (64u << 20) /* bytes of exception tables of an object */

static const char uncertain[] = "its function has a jump that may lead anywhere in it";
static const char made_up[] = "its function is the compiler's own";

struct planner {
	struct plan *p;
	const struct plan_object *obj;
	const struct filter_object *fobj;
	struct line_specs *specs;
	bool has_counters; /* see has_counters() */
	struct cold_pieces cold;
	struct elf_pages *pages;
	struct piece_bytes bytes;
	struct landing_pads pads;
	uint64_t tables; /* bytes of exception tables that may still be read */
	struct code code;
	struct code_decoder *decoder;
	struct insn_decoder *insn;
	/* The function that is planned. */
	struct code_piece pieces[CODE_MAX_PIECES];
	size_t pieces_cnt;
	struct line_keys keys;
	struct segments segs;
	struct line_judge judge;
	struct line_put put;
	struct function_traits traits;
	struct line_start *starts; /* of all functions so far */
	size_t starts_cnt, starts_cap;
};

/* A read_object for jump tables, as in object.c. */
static bool read_object(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	const struct planner *pl = ctx;

	return elf_pages__read_vaddr(pl->pages, vaddr, buf, len);
}

/* Symbols within the function: other code may jump there. */
static size_t find_labels(const struct planner *pl, const struct plan_function *f, uint64_t *labels)
{
	const struct symtab *tab = pl->obj->tab;
	uint64_t end = pl->pieces[0].vaddr + pl->pieces[0].size;
	size_t cnt = 0;

	for (size_t i = f->symbol_index + 1; i < symtab__count(tab) && cnt < MAX_LABELS; i++) {
		if (symtab__at(tab, i)->vaddr >= end)
			break;
		labels[cnt++] = symtab__at(tab, i)->vaddr;
	}
	return cnt;
}

/* Notes which of the function's lines are wanted. */
static int choose_lines(struct planner *pl, const struct symbol *sym)
{
	bool all = line_specs__name_function(pl->specs, pl->fobj, sym);
	int err = line_judge__begin(&pl->judge, &pl->keys);

	for (size_t i = 1; !err && i <= pl->keys.cnt; i++) {
		const struct line_key *k = &pl->keys.items[i - 1];

		pl->judge.choices[i].wanted =
			line_specs__name_line(pl->specs, k->file, k->line) || all;
	}
	if (all && pl->keys.cnt)
		line_specs__note_function(pl->specs, pl->fobj, sym);
	return err;
}

static bool wants_declaration(struct planner *pl, const struct symbol *sym)
{
	return pl->traits.file && !pl->traits.made_up &&
	       (line_specs__name_line(pl->specs, pl->traits.file, pl->traits.line) ||
		line_specs__name_function(pl->specs, pl->fobj, sym));
}

/* Cuts the function into segments, without any if that cannot be done for sure, and decides which
 * of its lines can be counted. */
static int judge_lines(struct planner *pl, const struct plan_function *f)
{
	uint64_t *labels = malloc(MAX_LABELS * sizeof(*labels));
	struct segments_input in = {
		.pieces = pl->pieces,
		.pieces_cnt = pl->pieces_cnt,
		.flow = code_decoder__flow(pl->decoder),
		.labels = labels,
		.keys = pl->keys.by_byte,
		.keys_cnt = pl->keys.cnt,
		.insn = pl->insn,
	};
	struct line_function function = {
		.f = f,
		.vaddr = pl->pieces[0].vaddr,
		.loops_to_entry = pl->code.loops_to_entry,
		.segs = &pl->segs,
	};
	int err = 0;

	if (!labels)
		return -ENOMEM;
	in.labels_cnt = find_labels(pl, f, labels);
	if (f->patched) {
		line_judge__refuse(&pl->judge, patched__reason);
	} else if (pl->traits.made_up) {
		line_judge__refuse(&pl->judge, made_up);
	} else if (!in.flow.certain || pl->pads.outside || in.labels_cnt == MAX_LABELS) {
		line_judge__refuse(&pl->judge, uncertain);
	} else {
		err = segments__build(&in, &pl->segs);
		if (!err)
			err = line_judge__decide(&pl->judge, &function);
	}
	free(labels);
	return err;
}

static size_t size_of_pieces(const struct planner *pl)
{
	size_t size = 0;

	for (size_t i = 0; i < pl->pieces_cnt; i++)
		size += pl->pieces[i].size;
	return size;
}

/* Lambdas are not said to be declared anywhere: then it is where their code begins. */
static int note_start(struct planner *pl, uint32_t function)
{
	uint32_t key = pl->keys.cnt ? pl->keys.by_byte[0] : 0;
	struct line_start start = {.function = function};

	if (pl->traits.made_up || (!pl->traits.file && !key))
		return 0;
	start.line = pl->traits.file ? pl->traits.line : pl->keys.items[key - 1].line;
	start.file = line_put__string(&pl->put, pl->traits.file ? pl->traits.file
								: pl->keys.items[key - 1].file);
	if (!start.file || ARRAY_RESERVE(&pl->starts, pl->starts_cnt, &pl->starts_cap))
		return -ENOMEM;
	pl->starts[pl->starts_cnt++] = start;
	return 0;
}

/* The body of a coroutine, which gcc moves to a function of its own, has been written. */
static bool is_body_of_coroutine(const struct symbol *sym)
{
	return strstr(sym->name, ".actor");
}

static int plan_function(struct planner *pl, uint32_t index)
{
	struct plan_function *f = &pl->p->functions[index];
	const struct symbol *sym = symtab__at(pl->obj->tab, f->symbol_index);
	const struct piece_source from = {pl->pages, pl->obj->tab, &pl->cold};
	const struct pads_source pads_from = {pl->obj->img, pl->obj->eh, NULL, &pl->tables};
	int err;

	err = pieces__read(&from, f->symbol_index, &pl->bytes, pl->pieces, &pl->pieces_cnt);
	if (err)
		return err == -ENODATA ? 0 : err;
	if (size_of_pieces(pl) > MAX_CODE) {
		log_warn("--lines: %s is too large", plan__name(pl->p, index));
		return 0;
	}
	err = landing_pads__read(&pl->pads, &pads_from, pl->pieces, pl->pieces_cnt);
	if (!err)
		err = code_decode(pl->decoder, pl->pieces, pl->pieces_cnt, UINT64_MAX, &pl->code);
	if (!err)
		err = line_keys__find(&pl->keys, pl->obj->lines.table, pl->pieces, pl->pieces_cnt,
				      code_decoder__flow(pl->decoder).reached);
	if (!err)
		err = line_table__traits(pl->obj->lines.table, pl->pieces[0].vaddr, &pl->traits);
	pl->traits.made_up &= !is_body_of_coroutine(sym);
	if (!err)
		err = note_start(pl, index);
	if (!err)
		err = choose_lines(pl, sym);
	if (!err)
		err = judge_lines(pl, f);
	pl->put.function = index;
	pl->put.approximate = pl->traits.optimized || pl->has_counters;
	pl->put.aside = pl->traits.made_up;
	pl->put.declared_file = wants_declaration(pl, sym) ? pl->traits.file : NULL;
	pl->put.declared_line = pl->traits.line;
	if (!err)
		err = line_put__all(&pl->put);
	segments__clear(&pl->segs);
	return err;
}

static void planner_clear(struct planner *pl)
{
	cold_pieces__clear(&pl->cold);
	elf_pages__free(pl->pages);
	piece_bytes__clear(&pl->bytes);
	landing_pads__clear(&pl->pads);
	code_clear(&pl->code);
	code_decoder__free(pl->decoder);
	insn_decoder__free(pl->insn);
	line_keys__clear(&pl->keys);
	line_judge__clear(&pl->judge);
	line_put__clear(&pl->put);
	free(pl->starts);
}

/* Compilers that count for gcov or profiles put code between the lines that is of none, and seems
 * to be of the line before it. */
static bool has_counters(const struct elf_image *img)
{
	return elf_image__mentions(img, "gcov_init") || elf_image__mentions(img, "__llvm_profile_");
}

int lines__plan(struct plan *p, uint32_t index, const struct filter_object *fobj, size_t first,
		const struct plan_options *opts)
{
	struct plan_object *obj = &p->objects[index];
	struct planner pl = {
		.p = p,
		.obj = obj,
		.fobj = fobj,
		.specs = opts->lines,
		.tables = MAX_TABLES,
		.put = {.out = p->lines, .img = obj->img},
	};
	size_t first_line = p->lines->lines_cnt;
	const struct arch *arch = elf_image__arch(obj->img);
	int err;

	if (!obj->lines.table)
		return 0;
	pl.has_counters = has_counters(obj->img);
	p->lines->by_others |= !line_table__is_roots(obj->lines.table);
	pl.put.keys = &pl.keys;
	pl.put.segs = &pl.segs;
	pl.put.judge = &pl.judge;
	pl.pages = elf_pages__new(obj->img);
	err = pl.pages ? plan_object__load_eh_frame(obj) : -ENOMEM;
	if (!err)
		err = cold_pieces__init(&pl.cold, obj->tab);
	if (!err)
		err = code_decoder__new(arch, opts->call_nops, read_object, &pl, &pl.decoder);
	if (!err)
		err = insn_decoder__new(arch, opts->call_nops, &pl.insn);
	if (!err && opts->nop5_spared)
		code_decoder__spare_nop5(pl.decoder);
	if (!err && opts->calls_spared) {
		code_decoder__spare_calls(pl.decoder);
		insn_decoder__spare_calls(pl.insn);
	}
	if (!err)
		code_decoder__note_edges(pl.decoder);
	for (size_t i = first; !err && i < p->functions_cnt; i++) {
		if (p->functions[i].object == index && p->functions[i].has_lines)
			err = plan_function(&pl, i);
	}
	if (!err)
		err = line_asides__find(p->lines, first_line, pl.starts, pl.starts_cnt);
	planner_clear(&pl);
	return err;
}
