// SPDX-License-Identifier: GPL-2.0-or-later
/* Addresses are mostly made of two instructions: adrp has the page, add the place in it. */
#include "arch/arm64/arm64.h"

#define is arm64_is

#define PAGE 4096

/* The page that adrp has put into a register, up to the next instruction. */
struct page {
	uint64_t vaddr;
	unsigned int reg;
	bool known;
};

static int64_t adr(uint32_t w)
{
	return arm64_signed(w, 5, 19) * 4 | (w >> 29 & 3);
}

/* Returns whether the instruction refers to anything. */
static bool read_ref(uint32_t w, struct page *page, struct code_ref *ref)
{
	struct page last = *page;

	page->known = false;
	ref->to = 0;
	if (is(w, 0xfc000000, 0x94000000)) { /* bl */
		ref->kind = REF_CALL;
		ref->to = ref->from + arm64_signed(w, 0, 26) * 4;
	} else if (is(w, 0xfc000000, 0x14000000)) { /* b */
		ref->kind = REF_JUMP;
		ref->to = ref->from + arm64_signed(w, 0, 26) * 4;
	} else if (is(w, 0xff000000, 0x54000000) || is(w, 0x7e000000, 0x34000000)) {
		ref->kind = REF_BRANCH; /* b.cond, cbz, cbnz */
		ref->to = ref->from + arm64_signed(w, 5, 19) * 4;
	} else if (is(w, 0x7e000000, 0x36000000)) { /* tbz, tbnz */
		ref->kind = REF_BRANCH;
		ref->to = ref->from + arm64_signed(w, 5, 14) * 4;
	} else if (is(w, 0x9f000000, 0x10000000)) { /* adr */
		ref->kind = REF_ADDRESS;
		ref->to = ref->from + adr(w);
	} else if (is(w, 0x9f000000, 0x90000000)) { /* adrp */
		*page = (struct page){(ref->from & -PAGE) + adr(w) * PAGE, w & 31, true};
		return false;
	} else if (is(w, 0xffc00000, 0x91000000) && last.known && (w >> 5 & 31) == last.reg) {
		ref->kind = REF_ADDRESS; /* add */
		ref->to = last.vaddr + (w >> 10 & 0xfff);
	} else if (is(w, 0xfe000000, 0xd6000000) && !is(w, 0xfe200000, 0xd6200000)) {
		ref->kind = REF_END; /* br, ret and the like, but blr */
	} else if (is(w, 0xffff0000, 0) || is(w, 0xffe0001f, 0xd4200000)) { /* udf, brk */
		ref->kind = REF_END;
	} else {
		return false;
	}
	return true;
}

int arm64_refs__visit(__attribute__((unused)) struct prefix_memo *plain, const uint8_t *bytes,
		      size_t size, uint64_t vaddr, code_ref_visitor visit, void *ctx)
{
	struct page page = {.known = false};
	int err = 0;

	for (size_t at = 0; !err && at + ARM64_INSN_SIZE <= size; at += ARM64_INSN_SIZE) {
		struct code_ref ref = {.from = vaddr + at, .end = vaddr + at + ARM64_INSN_SIZE};

		if (read_ref(arm64_word(bytes + at), &page, &ref))
			err = visit(ctx, &ref);
	}
	return err;
}

/* Instructions of a stub: adrp x16, page; ldr x17, [x16, #place]; add x16, x16, #place; br x17.
 * With lazy binding the first stub stores two registers before these. Landing pads and nops may be
 * around them. */
bool arm64_refs__is_stubs(const uint8_t *bytes, size_t size)
{
	bool jumped = false;

	for (size_t at = 0; at + ARM64_INSN_SIZE <= size; at += ARM64_INSN_SIZE) {
		uint32_t w = arm64_word(bytes + at);

		if (w == 0xd61f0220) /* br x17 */
			jumped = true;
		else if (w != 0xd503201f && w != 0xd503245f && w != 0xa9bf7bf0 &&
			 !is(w, 0x9f00001f, 0x90000010) && !is(w, 0xffc003ff, 0xf9400211) &&
			 !is(w, 0xffc003ff, 0x91000210))
			return false;
	}
	return jumped;
}
