// SPDX-License-Identifier: GPL-2.0-or-later
#include "regions/region_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "elf/elf_image.h"
#include "plan/options.h"
#include "plan/object.h"
#include "plan/patched.h"
#include "plan/plan.h"
#include "regions/regions_inside.h"
#include "symbol/symtab.h"
#include "unwind/eh_frame.h"
#include "util/search.h"

#define MAX_PROVEN (4u << 20)  /* bytes of a function that is looked at */
#define MAX_LOOKED (64u << 20) /* of all of an object's */
#define MAX_LABELS 64	       /* in a function, before a place in it */
#define MAX_INSN   15
#define WORD	   8
#define MAX_UP	   (0x3ff * WORD) /* what a cookie holds */

int region_sites__need_symbols(struct regions *r, const char *root)
{
	int err = 0;

	if (r->tab_tried)
		return 0;
	r->tab_tried = true;
	r->tab = r->obj->tab;
	if (!r->tab) {
		err = symtab__load(r->obj->img, root, &r->tab);
		r->tab_is_ours = !err;
	}
	if (err)
		return err == -ENOMEM ? err : 0;
	r->split = calloc(symtab__count(r->tab) + 1, sizeof(*r->split));
	if (!r->split)
		return -ENOMEM;
	for (size_t i = 0; i < symtab__count(r->tab); i++) {
		uint32_t of = symtab__at(r->tab, i)->piece_of;

		if (of != SYMTAB_NONE)
			r->split[i] = r->split[of] = true;
	}
	return 0;
}

/* The function around an address; SYMTAB_NONE: not known. */
static uint32_t function_around(const struct regions *r, uint64_t vaddr)
{
	size_t cnt = r->tab ? symtab__count(r->tab) : 0;
	size_t at = LOWER_BOUND(cnt, i, symtab__at(r->tab, i)->vaddr <= vaddr);

	for (int labels = 0; at-- > 0 && labels < MAX_LABELS; labels++) {
		const struct symbol *sym = symtab__at(r->tab, at);

		if (sym->kind == SYMBOL_NOTYPE)
			continue; /* a label inside of it */
		return vaddr - sym->vaddr < sym->size ? at : SYMTAB_NONE;
	}
	return SYMTAB_NONE;
}

/* Whether a call may push something at `vaddr`. */
static struct red_zone_proof prove(struct regions *r, uint64_t vaddr)
{
	uint32_t index = function_around(r, vaddr);
	const struct symbol *sym;
	uint8_t *code;

	if (index == SYMTAB_NONE)
		return (struct red_zone_proof){false, "no symbol tells which function it is in"};
	if (index == r->proven)
		return r->proof;
	sym = symtab__at(r->tab, index);
	r->proven = index;
	r->proof = (struct red_zone_proof){false, "its function is too large to be looked at"};
	if (sym->size > MAX_PROVEN || r->looked + sym->size > MAX_LOOKED)
		return r->proof;
	r->looked += sym->size;
	code = malloc(sym->size + 1);
	if (code &&
	    elf_image__read(r->obj->img, sym->offset, code, sym->size) == (int64_t)sym->size)
		r->proof = red_zone__prove(elf_image__arch(r->obj->img), code, sym->size,
					   r->split[index]);
	free(code);
	return r->proof;
}

int region_sites__find_entered(struct regions *r)
{
	const struct plan *p = r->plan;

	r->entered = calloc(p->functions_cnt + 1, sizeof(*r->entered));
	if (!r->entered)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->kind == PLAN_FUNCTION && f->object == r->object &&
		    f->entry.site == SITE_NOP5)
			r->entered[r->entered_cnt++] = f->offset + f->entry.offset;
	}
	qsort(r->entered, r->entered_cnt, sizeof(*r->entered), u64_order);
	return 0;
}

/* Whether a function's entry has its probe on the 5-byte nop there. */
static bool is_entered_at(const struct regions *r, uint64_t offset)
{
	size_t at = LOWER_BOUND(r->entered_cnt, i, r->entered[i] < offset);

	return at < r->entered_cnt && r->entered[at] == offset;
}

static const uint8_t nop5[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* Whether the kernel makes calls of 5-byte nops, and none of them forks to its death. */
static bool calls_nop5(const struct regions *r)
{
	return r->opts->call_nops == CALL_NOPS_5 && !r->opts->nop5_spared;
}

/* How far behind a probe's place, where a single nop is, there is a 10-byte nop that can be probed;
 * 0: there is none. Such probes are written by the macros of others, to be cheap on 7.2. */
static size_t nop10_behind(struct regions *r, const struct candidate *c, const uint8_t *bytes,
			   int64_t len)
{
	struct insn in;

	return !c->function && len > 1 && bytes[0] == 0x90 &&
	       insn_decode(r->insn, bytes + 1, len - 1, &in) && insn_nop10_at(&in, c->vaddr + 1);
}

bool region_sites__is_called_end(const struct regions *r, const struct candidate *c)
{
	static const uint8_t expected[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x0f,
					   0x1f, 0x44, 0x00, 0x00, 0xc3};
	uint8_t code[sizeof(expected)];

	return c->role == PROBE_END && !c->forced && !c->function && c->offset >= 4 &&
	       elf_image__read(r->obj->img, c->offset - 4, code, sizeof(code)) == sizeof(code) &&
	       !memcmp(code, expected, sizeof(code));
}

static const char no_nop5[] = "it is no 5-byte nop";

/* The code at a candidate, and which of its instructions may be the site. */
struct place {
	uint8_t bytes[2 * MAX_INSN + 2];
	int64_t len;
	size_t at; /* of the instruction, in `bytes` */
	struct red_zone_proof proof;
};

/* For kernels that make calls of 5-byte nops: the site is such a nop at the candidate, or right
 * behind a single nop there, if nothing is kept in the red zone. Returns NULL or an obstacle. */
static const char *look_at_nop5(struct regions *r, const char *root, const struct candidate *c,
				struct place *p)
{
	bool follows = p->len > 5 && p->bytes[0] == 0x90 && !memcmp(p->bytes + 1, nop5, 5);

	if (!follows && (p->len < 5 || memcmp(p->bytes, nop5, 5)))
		return NULL;
	if (region_sites__need_symbols(r, root))
		return "there is no memory to look at its code";
	p->proof = prove(r, c->vaddr);
	if (follows && !p->proof.unused && is_entered_at(r, c->offset + 1))
		p->proof = (struct red_zone_proof){true, "its function is entered there"};
	if (follows && p->proof.unused)
		p->at = 1;
	return NULL;
}

/* Why the instruction at the candidate's place cannot be probed; NULL: it can. */
static const char *obstacle(const struct regions *r, const struct candidate *c,
			    const struct place *p, const struct insn *in, bool nop10)
{
	if (!in->probeable && in->flow == FLOW_CALL && r->opts->calls_spared)
		return "its first instruction is a call, which shadow stacks would miss";
	if (!in->probeable && !nop10)
		return r->opts->nop5_spared && in->may_become_call
			       ? "its nop would become a call, of which forked children die"
			       : "its instruction cannot be probed";
	if (in->site == SITE_NOP5 && !c->function && !p->proof.unused)
		return p->proof.reason;
	if (patches__touch(&r->obj->patches, c->offset + p->at, in->length))
		return patched__reason;
	return NULL;
}

const char *region_sites__choose(struct regions *r, const char *root, const struct candidate *c,
				 struct plan_site *out)
{
	struct place p = {.proof = {false, no_nop5}};
	const char *reason = NULL;
	struct insn in;
	bool nop10;

	p.len = elf_image__read(r->obj->img, c->offset, p.bytes, sizeof(p.bytes));
	*out = (struct plan_site){.semaphore = c->semaphore,
				  .arguments = c->arguments,
				  .up = c->function ? WORD : 0,
				  .called = c->function,
				  .reason = "the probe's nop"};
	if (p.len <= 0)
		return "its code cannot be read";
	if (region_sites__is_called_end(r, c)) {
		p.proof = (struct red_zone_proof){true, "an end that is called"};
		out->up = WORD;
		out->called = true;
		p.at = calls_nop5(r);
	} else if (calls_nop5(r) && !c->function) {
		reason = look_at_nop5(r, root, c, &p);
	} else {
		p.at = nop10_behind(r, c, p.bytes, p.len);
	}
	if (reason)
		return reason;
	if (p.proof.reason != no_nop5)
		out->reason = p.proof.reason;
	if (!insn_decode(r->insn, p.bytes + p.at, p.len - p.at, &in))
		return "there is no instruction";
	if (c->function && in.endbr) {
		p.at = in.length;
		if (!insn_decode(r->insn, p.bytes + p.at, p.len - p.at, &in))
			return "there is no instruction";
	}
	nop10 = insn_nop10_at(&in, c->vaddr + p.at);
	reason = obstacle(r, c, &p, &in, nop10);
	if (reason)
		return reason;
	out->offset = c->offset + p.at;
	out->site = nop10 ? SITE_NOP10 : in.site;
	if (c->function)
		out->reason = "a function that marks the place";
	return NULL;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct eh_cfa *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

int region_sites__find_frames(struct regions *r)
{
	int err;

	r->frames = calloc(r->cnt, sizeof(*r->frames));
	if (!r->frames)
		return -ENOMEM;
	for (size_t i = 0; i < r->cnt; i++)
		r->frames[i].vaddr = r->candidates[i].vaddr;
	qsort(r->frames, r->cnt, sizeof(*r->frames), by_vaddr);
	err = eh_frame__find_cfas(r->obj->img, r->frames, r->cnt);
	return err == -ENOMEM ? err : 0;
}

void region_sites__place_frame(const struct regions *r, const struct candidate *c,
			       struct plan_site *site)
{
	size_t at = LOWER_BOUND(r->cnt, i, r->frames[i].vaddr < c->vaddr);
	const struct eh_cfa *cfa = &r->frames[at];

	/* Behind the return address, which is the function's own. */
	if (cfa->base == EH_CFA_UNKNOWN || cfa->offset < WORD || cfa->offset % WORD ||
	    cfa->offset - WORD > MAX_UP)
		return;
	site->by_frame_pointer = cfa->base == EH_CFA_FRAME_POINTER;
	site->up = cfa->offset - WORD;
}
