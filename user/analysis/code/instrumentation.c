// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sections name places; these belong to the function that begins there, or whose endbr64 does. Only
 * -fpatchable-function-entry=N,M names a place before the function: the first of M nops. -pg
 * -mfentry names none unless it is told to.
 */
#include "code/instrumentation.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "arch/insn.h"
#include "code/code.h"
#include "elf/elf_image.h"
#include "elf/linkage.h"

#define MAX_BEFORE 256 /* bytes of nops before a function that are looked at */

/* Whether there is nothing but nops in [from, to). */
static bool only_nops(const struct instrumentation *ins, uint64_t from, uint64_t to)
{
	uint8_t bytes[MAX_BEFORE];
	size_t len = to - from, at = 0;
	struct insn in;

	if (len > sizeof(bytes) || !elf_image__read_vaddr(ins->img, from, bytes, len))
		return false;
	while (at < len) {
		if (!insn_decode(ins->insn, bytes + at, len - at, &in) ||
		    !(in.is_nop || in.site == SITE_NOP || in.site == SITE_NOP5))
			return false;
		at += in.length;
	}
	return true;
}

/* Whether a place is noted from which only nops lead to the function. */
static bool patchable_before(const struct instrumentation *ins, uint64_t vaddr)
{
	uint64_t from = vaddr > MAX_BEFORE ? vaddr - MAX_BEFORE : 0, at;
	enum instrumented_by by;

	for (; (by = instrumented__within(ins->noted, from, vaddr, &at)) != INSTRUMENTED_NOT;
	     from = at + 1) {
		if (by == INSTRUMENTED_PATCHABLE && only_nops(ins, at, vaddr))
			return true;
	}
	return false;
}

/* The pointer that the code at `vaddr` jumps through, as an import's stub does; 0: it is no stub.
 */
static uint64_t stub_slot(const struct instrumentation *ins, uint64_t vaddr)
{
	uint8_t bytes[16];
	struct insn in;
	size_t at = 0;

	if (!elf_image__read_vaddr(ins->img, vaddr, bytes, sizeof(bytes)) ||
	    !insn_decode(ins->insn, bytes, sizeof(bytes), &in))
		return 0;
	if (in.endbr) {
		at = in.length;
		if (!insn_decode(ins->insn, bytes + at, sizeof(bytes) - at, &in))
			return 0;
	}
	return in.flow == FLOW_JMP_TAIL && in.by_slot ? vaddr + at + in.length + in.slot : 0;
}

/* Whether the call, which ends at `end`, is one of libc's __fentry__. Hardly any function begins
 * with a call, so that few files have to be asked. */
static int calls_fentry(struct instrumentation *ins, const struct insn *in, uint64_t end)
{
	uint64_t slot = in->by_slot ? end + in->slot : in->rel ? stub_slot(ins, end + in->rel) : 0;
	const char *name;

	if (!slot)
		return 0;
	if (!ins->linkage && linkage__load(ins->img, &ins->linkage))
		return -ENOMEM;
	name = linkage__import(ins->linkage, slot);
	return name && !strcmp(name, "__fentry__");
}

int instrumentation__of(struct instrumentation *ins, struct code_piece *entry)
{
	enum instrumented_by by;
	uint32_t offset = 0;
	struct insn in;
	uint64_t at;
	int fentry;

	if (!insn_decode(ins->insn, entry->bytes, entry->size, &in))
		return INSTRUMENTED_NOT;
	if (in.endbr) {
		offset = in.length;
		if (!insn_decode(ins->insn, entry->bytes + offset, entry->size - offset, &in))
			return INSTRUMENTED_NOT;
	}
	by = instrumented__within(ins->noted, entry->vaddr, entry->vaddr + offset + 1, &at);
	if (by == INSTRUMENTED_NOT && patchable_before(ins, entry->vaddr))
		by = INSTRUMENTED_PATCHABLE;
	if (by == INSTRUMENTED_NOT && in.flow == FLOW_CALL) {
		fentry = calls_fentry(ins, &in, entry->vaddr + offset + in.length);
		if (fentry < 0)
			return fentry;
		by = fentry ? INSTRUMENTED_FENTRY : INSTRUMENTED_NOT;
	}
	if ((by == INSTRUMENTED_FENTRY && in.flow == FLOW_CALL) ||
	    (by == INSTRUMENTED_XRAY && in.flow == FLOW_JMP))
		entry->passed = entry->vaddr + offset;
	return by;
}

void instrumentation__clear(struct instrumentation *ins)
{
	linkage__free(ins->linkage);
	ins->linkage = NULL;
}
