// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An abstract interpretation of the registers that point into the frame: at each instruction the
 * distances of the stack pointer, and of what else is known to point there, from the return
 * address. Calls come back with the stack pointer unchanged, as the ABI has it; where what follows
 * a call is reached by other ways with another distance, the call never comes back.
 */
#include "exits/return_safety.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "arch/operands.h"
#include "code/landing_pads.h"
#include "exits/place.h"
#include "util/array.h"

#define MAX_SIZE  (1u << 17) /* of a function that is worth the memory */
#define MAX_TRIES 32	     /* to follow it */

static const char leaves[] = "leaves with another stack than it was entered with";
static const char astray[] = "jumps to where it cannot be followed";
static const char unseen[] = "has code that nothing is seen to lead to";
static const char unknown[] = "its return address is not followed on this architecture";
static const char too_large[] = "is too large to be followed";

/* The instruction behind a call, and the stack as it is there. */
struct step {
	size_t at;
	struct place place;
};

struct look {
	const struct arch *arch;
	const struct code_piece *pieces;
	size_t pieces_cnt, size;
	const struct code_flow *flow;
	const struct landing_pads *pads;
	struct code_edge *edges; /* ordered by where they begin */
	struct place *places;	 /* by byte of the pieces, one behind the other */
	uint8_t *lengths;	 /* the same: of the instruction that has been followed there */
	size_t *sure;		 /* places to be followed */
	size_t sure_cnt;
	struct step *calls; /* ... if nothing else leads there: behind calls */
	size_t calls_cnt, calls_cap;
	bool *ends;	   /* by byte of the pieces: the call before it never comes back */
	bool again;	   /* that has been found out of one */
	struct place jump; /* where jumps begin of which it is not known where they all lead */
	struct return_safety *out;
};

static bool find(const struct look *l, uint64_t vaddr, size_t *at)
{
	size_t before = 0;

	for (size_t i = 0; i < l->pieces_cnt; i++) {
		if (vaddr - l->pieces[i].vaddr < l->pieces[i].size) {
			*at = before + (vaddr - l->pieces[i].vaddr);
			return true;
		}
		before += l->pieces[i].size;
	}
	return false;
}

/* The piece that byte `at` belongs to; `at` becomes its offset there. */
static const struct code_piece *piece_at(const struct look *l, size_t *at)
{
	const struct code_piece *piece = l->pieces;

	while (*at >= piece->size)
		*at -= piece++->size;
	return piece;
}

/* Notes the first thing that speaks against the function. */
static bool doubt(struct look *l, const char *why)
{
	l->out->doubt = l->out->doubt ?: why;
	return false;
}

/*
 * Two ways come together with different stacks. If one of them comes from a call, that has not come
 * back: what stands behind it belongs to others. Returns whether that is all there is to it.
 */
static bool blame_call(struct look *l, const struct place *there, const struct place *place)
{
	uint32_t call = there->call ?: place->call;

	/* Room for a variable is made on one way and not on the other. */
	if (there->call == place->call || there->moved || place->moved)
		return false;
	l->ends[call - 1] = l->again = true;
	return true;
}

/* Control comes to `at`. */
static bool arrive(struct look *l, size_t at, const struct place *place)
{
	struct place *there = &l->places[at];

	if (l->flow->reached[at] == CODE_INSIDE)
		return doubt(l, astray);
	if (!there->known) {
		*there = *place;
		there->known = true;
		there->queued = false;
	} else if (!place__agrees(there, place) && blame_call(l, there, place)) {
		return false; /* all is followed anew */
	} else if (!place__join(there, place)) {
		return true;
	}
	if (!there->queued)
		l->sure[l->sure_cnt++] = at;
	there->queued = true;
	return true;
}

static bool arrive_at(struct look *l, uint64_t vaddr, const struct place *place)
{
	size_t at;

	return find(l, vaddr, &at) ? arrive(l, at, place) : doubt(l, astray);
}

static size_t first_edge(const struct look *l, uint64_t from)
{
	size_t lo = 0, hi = l->flow->edges_cnt;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->edges[mid].from < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* A jump or branch: to where it leads inside, or out. */
static bool follow_jump(struct look *l, const struct operands *in, uint64_t next,
			const struct place *p)
{
	uint64_t vaddr = next - in->length;
	size_t at, i = first_edge(l, vaddr);

	if (in->relative && find(l, next + in->target, &at))
		return arrive(l, at, p);
	if (!in->relative) {
		if (l->jump.known)
			place__join(&l->jump, p);
		else
			l->jump = *p;
		l->jump.known = true;
		/* Out, or through a table that cannot be read to what else is there. */
		if (i >= l->flow->edges_cnt || l->edges[i].from != vaddr)
			return place__is_way_out(p) || l->flow->has_rest || doubt(l, leaves);
	}
	if (i >= l->flow->edges_cnt || l->edges[i].from != vaddr)
		return place__is_way_out(p) || doubt(l, leaves);
	for (; i < l->flow->edges_cnt && l->edges[i].from == vaddr; i++) {
		if (!arrive_at(l, l->edges[i].to, p))
			return false;
	}
	return true;
}

static bool follow_branch(struct look *l, const struct operands *in, uint64_t next,
			  const struct place *p)
{
	struct place taken = *p, passed = *p;

	place__leave_loop(&taken, in->if_equal);
	place__leave_loop(&passed, in->if_unequal);
	return follow_jump(l, in, next, &taken) && arrive_at(l, next, &passed);
}

/* A call comes back, or its exception lands. */
static bool follow_call(struct look *l, uint64_t next, const struct place *p)
{
	uint64_t pad = l->pads ? landing_pads__landing(l->pads, next) : 0;
	struct place behind = *p;
	size_t at;

	place__pass_call(&behind, l->arch->preserved);
	if (find(l, next, &at) && !l->ends[at]) {
		if (ARRAY_RESERVE(&l->calls, l->calls_cnt, &l->calls_cap))
			return doubt(l, too_large);
		l->calls[l->calls_cnt] = (struct step){at, behind};
		l->calls[l->calls_cnt++].place.call = at + 1;
	}
	return !pad || !find(l, pad, &at) || arrive(l, at, &behind);
}

/* Follows the instruction's flow: notes where control goes next, or a doubt. */
static bool follow_flow(struct look *l, const struct operands *in, size_t at, struct place *p)
{
	size_t offset = at;
	const struct code_piece *piece = piece_at(l, &offset);
	uint64_t next = piece->vaddr + offset + in->length;

	switch (in->flow) {
	case OPERAND_FLOW_RETURN:
		return place__is_way_out(p) || doubt(l, leaves);
	case OPERAND_FLOW_RETURN_OTHER:
		return doubt(l, leaves);
	case OPERAND_FLOW_JUMP:
		return follow_jump(l, in, next, p);
	case OPERAND_FLOW_BRANCH:
		return follow_branch(l, in, next, p);
	case OPERAND_FLOW_CALL:
		return follow_call(l, next, p);
	case OPERAND_FLOW_SYSTEM_CALL:
		l->out->calls_system = true;
		return arrive_at(l, next, p);
	case OPERAND_FLOW_SYSTEM_CALL_OTHER:
		l->out->calls_system = true;
		return doubt(l, astray);
	case OPERAND_FLOW_INTERRUPT:
		l->out->calls_system = true;
		return arrive_at(l, next, p);
	case OPERAND_FLOW_STOP:
		return true;
	default:
		return arrive_at(l, next, p);
	}
}

/* One instruction, as control comes to it. */
static bool follow(struct look *l, size_t at)
{
	struct place p = l->places[at];
	struct operands in;
	const char *why;
	size_t offset = at;
	const struct code_piece *piece = piece_at(l, &offset);

	l->places[at].queued = false;
	if (!l->arch->operands(piece->bytes + offset, piece->size - offset, &in) ||
	    (l->flow->reached[at] && l->flow->reached[at] != in.length))
		return doubt(l, astray);
	l->lengths[at] = in.length;
	why = place__pass(&p, &in, &l->out->reaches_up);
	return why ? doubt(l, why) : follow_flow(l, &in, at, &p);
}

/* Follows what comes behind a call. It never comes back if the stack is another there. */
static bool follow_return(struct look *l, const struct step *step)
{
	const struct place *there = &l->places[step->at];

	if (there->known && !place__agrees(there, &step->place))
		return true;
	return arrive(l, step->at, &step->place);
}

static bool follow_rest(struct look *l)
{
	while (l->sure_cnt || l->calls_cnt) {
		if (l->sure_cnt ? !follow(l, l->sure[--l->sure_cnt])
				: !follow_return(l, &l->calls[--l->calls_cnt]))
			return false;
	}
	return true;
}

/* Whether nothing but padding has not been followed behind *at; else that is where *at goes. */
static bool rest_is_padding(struct look *l, size_t *at)
{
	struct operands in;

	while (*at < l->size) {
		size_t offset = *at;
		const struct code_piece *piece = piece_at(l, &offset);

		if (l->places[*at].known) {
			*at += l->lengths[*at];
			continue;
		}
		if (!l->arch->operands(piece->bytes + offset, piece->size - offset, &in))
			return false;
		switch (in.operation) {
		case OPERATION_NOP:
		case OPERATION_BREAKPOINT:
		case OPERATION_TRAP:
			break;
		default:
			return false;
		}
		*at += in.length;
	}
	return true;
}

/* Follows code that no flow leads to, with the stack of jumps that cannot be followed. */
static bool follow_all(struct look *l)
{
	struct place entry = place__at_entry();
	size_t at = 0;

	if (!arrive(l, 0, &entry) || !follow_rest(l))
		return false;
	while (!rest_is_padding(l, &at)) {
		if (!l->jump.known || l->flow->reached[at])
			return doubt(l, unseen);
		if (!arrive(l, at, &l->jump) || !follow_rest(l))
			return false;
	}
	return true;
}

static int by_from(const void *pa, const void *pb)
{
	const struct code_edge *a = pa, *b = pb;

	return (a->from > b->from) - (a->from < b->from);
}

/* Follows the function, anew as often as a call turns out never to come back. */
static void follow_function(struct look *l)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		if (follow_all(l) || !l->again)
			return;
		memset(l->places, 0, l->size * sizeof(*l->places));
		memset(l->lengths, 0, l->size);
		l->sure_cnt = l->calls_cnt = 0;
		l->jump.known = l->again = false;
	}
	doubt(l, too_large);
}

static bool look_new(struct look *l)
{
	size_t edges_cnt = l->flow->edges_cnt;

	l->places = calloc(l->size + 1, sizeof(*l->places));
	l->edges = calloc(edges_cnt + 1, sizeof(*l->edges));
	l->lengths = calloc(l->size + 1, sizeof(*l->lengths));
	l->ends = calloc(l->size + 1, sizeof(*l->ends));
	l->sure = calloc(l->size + 1, sizeof(*l->sure));
	if (!l->places || !l->edges || !l->lengths || !l->ends || !l->sure)
		return false;
	if (edges_cnt)
		memcpy(l->edges, l->flow->edges, edges_cnt * sizeof(*l->edges));
	qsort(l->edges, edges_cnt, sizeof(*l->edges), by_from);
	return true;
}

void return_safety__look(const struct arch *arch, const struct plain_function *f,
			 struct return_safety *out)
{
	struct look l = {.arch = arch,
			 .pieces = f->pieces,
			 .pieces_cnt = f->pieces_cnt,
			 .flow = f->flow,
			 .pads = f->pads,
			 .out = out};

	*out = (struct return_safety){0};
	if (!arch->operands) {
		out->doubt = unknown;
		return;
	}
	if (f->code->bad) {
		out->doubt = astray;
		return;
	}
	for (size_t i = 0; i < f->pieces_cnt; i++)
		l.size += f->pieces[i].size;
	if (l.size > MAX_SIZE || !look_new(&l))
		out->doubt = too_large;
	else
		follow_function(&l);
	free(l.places);
	free(l.edges);
	free(l.lengths);
	free(l.ends);
	free(l.sure);
	free(l.calls);
}
