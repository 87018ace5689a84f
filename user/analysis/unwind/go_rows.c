// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table tells how far the stack pointer is below the return address. Where rbp is saved shows
 * in the code alone: compilers and the assembler save it right behind where they make room for a
 * frame, below the return address, and since Go 1.21 by a push before that. What then becomes of
 * rbp does not matter: hand-written code may have it for something else.
 */
#include "unwind/go_rows.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "elf/elf_image.h"
#include "elf/elf_window.h"
#include "unwind/eh_frame.h"
#include "unwind/frame_rules.h"
#include "unwind/go_pclntab.h"

#define RBP_BELOW     16	 /* bytes from the CFA to where rbp is saved */
#define MAX_STRETCHES (1u << 24) /* in all */

struct going {
	const struct elf_image *img;
	const struct eh_row_visitor *visitor;
	struct go_pclntab *tab;
	struct elf_window window;
	uint32_t stretches;
};

/* The vaddr from which on rbp is saved, if the code that makes the frame, before `vaddr`, saves it;
 * 0: it does not. */
static uint64_t saves_rbp_at(struct going *g, uint64_t vaddr, int64_t depth)
{
	static const uint8_t short_move[] = {0x48, 0x89, 0x6c, 0x24}; /* mov %rbp,BYTE(%rsp) */
	static const uint8_t long_move[] = {0x48, 0x89, 0xac, 0x24};  /* mov %rbp,LONG(%rsp) */
	static const uint8_t push[] = {0x55, 0x48, 0x89, 0xe5};	      /* push, mov %rsp,%rbp */
	const uint8_t *code;
	uint64_t offset;
	int32_t at;

	if (!elf_image__exec_offset(g->img, vaddr - 1, 9, &offset) ||
	    elf_window__at(&g->window, g->img, offset, 9, &code))
		return 0;
	if (depth == 8 && !memcmp(code, push, sizeof(push)))
		return vaddr;
	if (!memcmp(code + 1, short_move, sizeof(short_move)) && (int8_t)code[5] == depth - 8)
		return vaddr + 5;
	memcpy(&at, code + 5, sizeof(at));
	return !memcmp(code + 1, long_move, sizeof(long_move)) && at == depth - 8 ? vaddr + 8 : 0;
}

static int tell(struct going *g, uint64_t vaddr, int64_t depth, bool saved)
{
	struct eh_row row = {.vaddr = vaddr, .rule = EH_RULE_UNKNOWN, .rbp = EH_RBP_SAME};

	if (depth >= 0) {
		row.rule = EH_RULE_RSP;
		row.cfa_offset = depth + 8;
	}
	if (saved && depth >= 8) {
		row.rbp = EH_RBP_SAVED;
		row.rbp_offset = RBP_BELOW;
	}
	return g->visitor->row(&row, g->visitor->ctx);
}

/* Rules of a function, stretch by stretch. */
static int tell_depths(struct going *g, const struct go_func *func)
{
	struct go_depths d = {.func = func};
	bool looked = false, saved = false;
	int err = 0;

	while (!err && go_depths__next(g->tab, &d)) {
		uint64_t saves_at = 0;

		if (++g->stretches > MAX_STRETCHES)
			return -E2BIG;
		if (d.depth > 0 && !looked) {
			saves_at = saves_rbp_at(g, d.start, d.depth);
			looked = true;
		}
		err = tell(g, d.start, d.depth, saved || saves_at == d.start);
		if (!err && saves_at > d.start && saves_at < d.end)
			err = tell(g, saves_at, d.depth, true);
		saved |= saves_at;
	}
	/* Padding, or what a damaged table does not tell. */
	if (!err && d.end < func->vaddr + func->size)
		err = tell(g, d.end > func->vaddr ? d.end : func->vaddr, -1, false);
	return err;
}

static int tell_function(struct going *g, const struct go_func *func)
{
	const struct eh_row outermost = {.vaddr = func->vaddr, .rule = EH_RULE_END};
	int err;

	if (func->flags & GO_FUNC_OUTERMOST) {
		err = g->visitor->range(func->vaddr, func->vaddr + func->size, g->visitor->ctx);
		return err ? err : g->visitor->row(&outermost, g->visitor->ctx);
	}
	if (func->flags & GO_FUNC_SETS_SP || !func->depths)
		return 0;
	err = g->visitor->range(func->vaddr, func->vaddr + func->size, g->visitor->ctx);
	return err ? err : tell_depths(g, func);
}

int go_rows__for_each(const struct elf_image *img, const struct eh_row_visitor *visitor)
{
	struct going g = {.img = img, .visitor = visitor};
	struct go_func func;
	int err = go_pclntab__try(img, &g.tab);

	if (err)
		return err;
	if (!go_pclntab__has_flags(g.tab))
		err = -ENOENT;
	while (!err && go_pclntab__next(g.tab, &func))
		err = tell_function(&g, &func);
	elf_window__clear(&g.window);
	go_pclntab__free(g.tab);
	return err;
}
