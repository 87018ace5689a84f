// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/tails.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "code/landing_pads.h"
#include "code/pieces.h"
#include "elf/elf_image.h"
#include "exits/named_calls.h"
#include "exits/return_safety.h"
#include "plan/object.h"
#include "symbol/symtab.h"
#include "symbol/traits.h"
#include "util/search.h"

#define MAX_DEPTH   16		/* jumps, one behind the other */
#define MAX_TARGETS 32		/* of one function */
#define MAX_LABELS  64		/* that stand before a place in its function */
#define TABLES	    (16u << 20) /* bytes of exception tables to be read */

static const char amid[] = "jumps into the midst of another function";
static const char to_looker[] = "jumps to what may look at its return address";
static const char counts[] = "calls mcount(), which looks at its return address";
static const char too_far[] = "leaves by too many jumps to be followed";

/* The answer about a symbol: none is asked for twice. */
enum state { UNKNOWN, ASKED, FINE, DOUBTFUL };

struct tails {
	const struct plan_object *obj;
	const struct cold_pieces *cold;
	struct elf_pages *pages;
	uint8_t *states; /* enum state, by symbol */
	uint64_t tables;
	struct code_decoder *decoder;
	struct piece_bytes bytes;
	struct landing_pads pads;
	struct code code;
	struct named_calls names;
	bool names_read; /* the object has functions that call mcount() */
};

/* The functions that one function jumps to. */
struct targets {
	uint64_t vaddrs[MAX_TARGETS];
	size_t cnt;
	bool too_many;
};

static bool read_object(void *ctx, uint64_t vaddr, void *buf, size_t len)
{
	const struct tails *t = ctx;

	return elf_pages__read_vaddr(t->pages, vaddr, buf, len);
}

int tails__new(const struct plan_object *obj, const struct cold_pieces *cold,
	       struct elf_pages *pages, struct tails **out)
{
	struct tails *t = calloc(1, sizeof(*t));

	if (t) {
		t->obj = obj;
		t->cold = cold;
		t->pages = pages;
		t->tables = TABLES;
		t->states = calloc(symtab__count(obj->tab) + 1, sizeof(*t->states));
	}
	if (!t || !t->states ||
	    code_decoder__new(elf_image__arch(obj->img), CALL_NOPS_NONE, read_object, t,
			      &t->decoder)) {
		tails__free(t);
		return -ENOMEM;
	}
	t->names_read = obj->traits & TRAIT_COUNTS;
	if (t->names_read && named_calls__read(&t->names, obj->img)) {
		tails__free(t);
		return -ENOMEM;
	}
	code_decoder__note_edges(t->decoder);
	*out = t;
	return 0;
}

void tails__free(struct tails *t)
{
	if (!t)
		return;
	code_decoder__free(t->decoder);
	piece_bytes__clear(&t->bytes);
	landing_pads__clear(&t->pads);
	code_clear(&t->code);
	free(t->states);
	if (t->names_read)
		named_calls__clear(&t->names);
	free(t);
}

static struct targets targets_of(const struct code *code)
{
	struct targets out = {0};

	for (size_t i = 0; i < code->calls_cnt; i++) {
		const struct code_call *call = &code->calls[i];

		if (call->end || call->kind != CODE_CALL_DIRECT)
			continue;
		out.too_many |= out.cnt == MAX_TARGETS;
		if (!out.too_many)
			out.vaddrs[out.cnt++] = call->target;
	}
	return out;
}

/* Whether the code calls mcount(). */
static bool calls_mcount(const struct tails *t, const struct code *code)
{
	for (size_t i = 0; t->names_read && i < code->calls_cnt; i++) {
		const struct code_call *call = &code->calls[i];
		enum role role = ROLE_NONE;

		if (call->kind == CODE_CALL_DIRECT)
			role = named_calls__role_of(&t->names, call->target);
		else if (call->kind == CODE_CALL_SLOT)
			role = named_calls__role_of_slot(&t->names, call->target);
		if (role == ROLE_COUNT)
			return true;
	}
	return false;
}

/* The reason against a return probe in the function itself (NULL: none), and where it jumps to. */
static const char *look(struct tails *t, uint32_t symbol, struct targets *targets)
{
	const struct piece_source from = {t->pages, t->obj->tab, t->cold};
	const struct pads_source pads_from = {t->obj->img, t->obj->eh, t->obj->linkage, &t->tables};
	struct code_piece pieces[CODE_MAX_PIECES];
	struct code_flow flow;
	struct return_safety plain;
	size_t cnt;

	if (symtab__at(t->obj->tab, symbol)->size > MAX_FUNCTION_SIZE ||
	    pieces__read(&from, symbol, &t->bytes, pieces, &cnt) ||
	    landing_pads__read(&t->pads, &pads_from, pieces, cnt) ||
	    code_decode(t->decoder, pieces, cnt, UINT64_MAX, &t->code))
		return to_looker;
	flow = code_decoder__flow(t->decoder);
	return_safety__look(elf_image__arch(t->obj->img),
			    &(struct plain_function){pieces, cnt, &t->code, &flow, &t->pads},
			    &plain);
	*targets = targets_of(&t->code);
	return plain.doubt || calls_mcount(t, &t->code) ? to_looker : NULL;
}

static const char *doubt_of_all(struct tails *t, const struct targets *targets, int depth);

/* The function that the byte at `vaddr` is of, over labels in it; SYMTAB_NONE: of none. */
static uint32_t function_at(const struct symtab *tab, uint64_t vaddr)
{
	size_t cnt = symtab__count(tab);
	size_t at = LOWER_BOUND(cnt, i, symtab__at(tab, i)->vaddr <= vaddr);

	for (size_t i = 0; i < MAX_LABELS && at; i++) {
		const struct symbol *sym = symtab__at(tab, --at);

		if (vaddr - sym->vaddr < sym->size)
			return at;
		if (sym->kind != SYMBOL_NOTYPE)
			break;
	}
	return SYMTAB_NONE;
}

/* The reason against a jump to `vaddr`; NULL: none. Linkers' stubs have no symbols. */
static const char *doubt_of(struct tails *t, uint64_t vaddr, int depth)
{
	uint32_t at = function_at(t->obj->tab, vaddr);
	struct targets targets = {0};
	const char *doubt;

	if (at == SYMTAB_NONE)
		return NULL;
	if (vaddr != symtab__at(t->obj->tab, at)->vaddr)
		return amid;
	if (t->states[at] == UNKNOWN) {
		t->states[at] = ASKED;
		doubt = look(t, at, &targets);
		if (!doubt)
			doubt = doubt_of_all(t, &targets, depth + 1);
		t->states[at] = doubt ? DOUBTFUL : FINE;
	}
	/* Functions that jump to each other in a circle are all doubtful. */
	return t->states[at] == FINE ? NULL : to_looker;
}

static const char *doubt_of_all(struct tails *t, const struct targets *targets, int depth)
{
	const char *doubt = targets->too_many || depth > MAX_DEPTH ? too_far : NULL;

	for (size_t i = 0; !doubt && i < targets->cnt; i++)
		doubt = doubt_of(t, targets->vaddrs[i], depth);
	return doubt;
}

const char *tails__doubt(struct tails *t, const struct code *code)
{
	const struct targets targets = targets_of(code);

	return calls_mcount(t, code) ? counts : doubt_of_all(t, &targets, 0);
}
