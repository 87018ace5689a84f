// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines/line_calls.h"

#include <errno.h>
#include <stdlib.h>

#include "arch/insn.h"
#include "code/code.h"
#include "elf/elf_image.h"
#include "elf/linkage.h"
#include "lines/returning.h"
#include "util/array.h"

/* The pointer that the code at `vaddr` jumps through, as an import's stub does; 0: it is no stub.
 */
static uint64_t stub_slot(const struct elf_image *img, struct insn_decoder *insn, uint64_t vaddr)
{
	uint8_t bytes[16];
	struct insn in;
	size_t at = 0;

	if (!elf_image__read_vaddr(img, vaddr, bytes, sizeof(bytes)) ||
	    !insn_decode(insn, bytes, sizeof(bytes), &in))
		return 0;
	if (in.endbr) {
		at = in.length;
		if (!insn_decode(insn, bytes + at, sizeof(bytes) - at, &in))
			return 0;
	}
	return in.flow == FLOW_JMP_TAIL && in.by_slot ? vaddr + at + in.length + in.slot : 0;
}

static int address_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int line_calls__find(struct line_calls *c, const struct code *code, const struct elf_image *img,
		     const struct linkage *linkage, struct insn_decoder *insn)
{
	c->cnt = 0;
	for (size_t i = 0; i < code->calls_cnt; i++) {
		const struct code_call *call = &code->calls[i];
		uint64_t slot = call->kind == CODE_CALL_DIRECT ? stub_slot(img, insn, call->target)
				: call->kind == CODE_CALL_SLOT ? call->target
							       : 0;
		const char *name = slot ? linkage__import(linkage, slot) : NULL;

		if (!name || !returning__knows(name))
			continue;
		if (ARRAY_RESERVE(&c->returning, c->cnt, &c->cap))
			return -ENOMEM;
		c->returning[c->cnt++] = call->end;
	}
	if (c->cnt)
		qsort(c->returning, c->cnt, sizeof(*c->returning), address_order);
	return 0;
}

void line_calls__clear(struct line_calls *c)
{
	free(c->returning);
	*c = (struct line_calls){0};
}
