// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/entry_sites.h"

#include "code/code_scan.h"
#include "code/insn.h"

#define PAGE_SIZE 4096

/* Whether an instruction of five bytes at `vaddr` lies across two pages, in memory as in the file.
 */
static bool across_pages(uint64_t vaddr)
{
	return vaddr % PAGE_SIZE > PAGE_SIZE - 5;
}

void entry_sites__note(struct code_scan *s, const struct insn *in, uint64_t vaddr)
{
	bool leaves = in->flow == FLOW_JMP && !code_scan__has(s, vaddr + in->length + in->rel);
	bool across = across_pages(vaddr);
	struct code *code = s->code;

	if (!in->probeable || s->delta < 0 || s->delta > UINT16_MAX)
		return;
	/* A call writes below the stack pointer: harmless only where nothing can live there, yet or
	 * any more. */
	if (in->may_become_call && !across && !s->only_nops && !leaves)
		return;
	if (code->sites_cnt < CODE_MAX_SITES)
		code->sites[code->sites_cnt++] = (struct code_site){
			.offset = vaddr - s->pieces[0].vaddr,
			.delta = s->delta,
			.site = across ? in->site_across : in->site,
			.work = s->work,
		};
}

void entry_sites__pass(struct code_scan *s, const struct insn *in)
{
	bool nop = in->endbr || in->is_nop || in->site == SITE_NOP || in->site == SITE_NOP5;

	s->only_nops = s->only_nops && nop;
	if (!nop && in->site != SITE_PUSH && s->work < UINT8_MAX)
		s->work++;
}

void entry_sites__follow_stack(struct code_scan *s, const struct insn *in)
{
	if (in->stack == STACK_MOVES)
		s->delta += in->down;
	else
		s->in_entry = false;
}

void entry_sites__cut(struct code_scan *s, uint64_t next_label)
{
	uint64_t start = s->pieces[0].vaddr;
	struct code *code = s->code;
	uint32_t kept = 0;

	code->block_end = s->first_target < next_label ? s->first_target : next_label;
	for (uint32_t i = 0; i < code->sites_cnt; i++) {
		const struct code_site *site = &code->sites[i];

		if (site->offset && start + site->offset >= code->block_end)
			break;
		/* The red zone may be in use when the function's code jumps back there. */
		if (site->site == SITE_NOP5 && code->loops_to_entry)
			continue;
		/* An unread table may lead anywhere, but not into a prologue that saves registers.
		 */
		if (s->unread_table && site->offset && site->site != SITE_PUSH &&
		    site->site != SITE_NOP5 && site->site != SITE_STEP)
			continue;
		code->sites[kept++] = *site;
	}
	code->sites_cnt = kept;
}
