// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/entry_sites.h"

#include "arch/insn.h"
#include "code/function_code.h"

#define PAGE_SIZE 4096

/* Whether an instruction of five bytes at `vaddr` lies across two pages, in memory as in the file.
 */
static bool across_pages(uint64_t vaddr)
{
	return vaddr % PAGE_SIZE > PAGE_SIZE - 5;
}

void entry_sites__note(struct entry_block *b, const struct insn *in, uint64_t vaddr, bool leaves)
{
	bool across = across_pages(vaddr), nop10 = insn_nop10_at(in, vaddr);
	struct code *code = b->code;

	if (!(in->probeable || nop10) || b->delta < 0 || b->delta > UINT16_MAX)
		return;
	/* A call writes below the stack pointer: harmless only where nothing can live there, yet or
	 * any more. */
	if (in->may_become_call && !across && !b->only_nops && !leaves)
		return;
	if (code->sites_cnt < CODE_MAX_SITES)
		code->sites[code->sites_cnt++] = (struct code_site){
			.offset = vaddr - b->start,
			.delta = b->delta,
			.site = nop10	 ? SITE_NOP10
				: across ? in->site_across
					 : in->site,
			.work = b->work,
			.size = in->length,
		};
}

void entry_sites__pass(struct entry_block *b, const struct insn *in)
{
	bool nop = in->endbr || in->is_nop || in->site == SITE_NOP || in->site == SITE_NOP5;

	b->only_nops = b->only_nops && nop;
	if (!nop && in->site != SITE_PUSH && b->work < UINT8_MAX)
		b->work++;
}

void entry_sites__follow_stack(struct entry_block *b, const struct insn *in)
{
	if (in->stack == STACK_MOVES)
		b->delta += in->down;
	else
		b->open = false;
}

void entry_sites__cut(struct entry_block *b, uint64_t end, bool unread_table)
{
	struct code *code = b->code;
	uint32_t kept = 0;

	code->block_end = end;
	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		if (site->offset && b->start + site->offset >= end)
			break;
		/* The red zone may be in use when the function's code jumps back there. */
		if (site->site == SITE_NOP5 && code->loops_to_entry)
			continue;
		/* An unread table may lead anywhere, but not into a prologue that saves registers.
		 */
		if (unread_table && site->offset && site->site != SITE_PUSH &&
		    site->site != SITE_NOP5 && site->site != SITE_STEP)
			continue;
		code->sites[kept++] = *site;
	}
	code->sites_cnt = kept;
}
