// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who handles errors calls setjmp(), goes on with its work, and something further down calls
 * longjmp() to come back: what is skipped never runs again. Who switches stacks saves one place and
 * goes to another: `if (!setjmp(own)) longjmp(other, 1);`. So each way on from a setjmp() that has
 * returned 0 is followed, to a longjmp() to another buffer. What is left to error handling:
 *
 * - the buffer is in the function's own frame, and there are ways on that do not jump: the work
 *   found an error, and throws it;
 * - functions are called on the way through pointers: the work is done there;
 * - the jump is one way among others, and more than a call was made before: that was the work;
 * - the jump goes to the buffer that was just set.
 *
 * Who puts back a copy of a stack copies as many bytes as that has, and calls longjmp() at once.
 */
#include "exits/jump_swaps.h"

#include <stdbool.h>
#include <stdlib.h>

#include "arch/arch.h"
#include "arch/operands.h"
#include "code/known_values.h"
#include "elf/elf_image.h"
#include "exits/named_calls.h"
#include "unwind/eh_frame.h"

#define MAX_STEPS  4000	      /* instructions to follow from one setjmp() */
#define MAX_DEPTH  3	      /* calls, one in the other */
#define MAX_PLACES 1024	      /* instructions of one function that are followed */
#define REPEATS	   1	      /* the register that counts copies: rcx */
#define SOON	   1	      /* calls before a jump, at most */
#define MAX_TOTAL  (4u << 20) /* instructions to look at in one file */
#define MAX_LOOP   128	      /* bytes of a loop that copies */

static const char swaps[] = "setjmp(), then longjmp() elsewhere";
static const char too_many[] = "too many calls of setjmp() to be followed";
static const char copies[] = "a copy of a stack, then longjmp()";

struct walk;

struct look {
	struct named_calls names;
	unsigned steps;			   /* still to go */
	unsigned total;			   /* the same, in the whole file */
	struct walk *walks[MAX_DEPTH + 1]; /* room for one of each depth; NULL: none yet */
};

/* Findings along all ways through the code that begin at one place, for instance behind a call of
 * setjmp(). */
struct outcome {
	bool jumps; /* to another buffer than `own` */
	bool soon;  /* the same, and hardly anything was called before */
	bool returns;
	bool works; /* calls through pointers, or to where nobody follows */
	bool calls; /* functions that come back */
};

/* A walk along the ways through one function. */
struct walk {
	const struct known_value *own; /* the buffer that has been set; NULL: none */
	uint64_t vaddrs[MAX_PLACES];   /* of the places */
	struct place {
		unsigned calls; /* of functions in the file, on the way there */
		struct known_values values;
	} places[MAX_PLACES];
	size_t places_cnt, done;
	unsigned calls; /* on the way that is followed */
	int depth;	/* of calls that are followed into */
	struct outcome out;
};

/* Control comes to `vaddr`. A second time is passed over, though less may be known then. */
static void arrive(struct walk *w, uint64_t vaddr, const struct known_values *values)
{
	for (size_t i = 0; i < w->places_cnt; i++) {
		if (w->vaddrs[i] == vaddr)
			return;
	}
	if (w->places_cnt == MAX_PLACES) {
		w->out.works = true;
		return;
	}
	w->vaddrs[w->places_cnt] = vaddr;
	w->places[w->places_cnt++] = (struct place){w->calls, *values};
}

static void note_jump(const struct look *l, struct walk *w, const struct known_values *values)
{
	const struct known_value *to = &values->registers[l->names.arch->arguments[0]];

	if (to->kind == VALUE_IN_FRAME ||
	    (w->own && w->own->kind == VALUE_NUMBER && to->kind == VALUE_NUMBER &&
	     w->own->number == to->number))
		return;
	w->out.jumps = true;
	w->out.soon |= w->calls <= SOON;
}

static bool walk(struct look *l, uint64_t vaddr, const struct known_values *values,
		 const struct known_value *own, int depth, struct outcome *out);

/* A call of code in the file. Returns whether it comes back. */
static bool call_inside(struct look *l, struct walk *w, uint64_t target,
			const struct known_values *values)
{
	struct outcome out = {0};

	if (w->depth == MAX_DEPTH || !target ||
	    !walk(l, target, values, w->own, w->depth + 1, &out) || out.returns || out.works) {
		w->out.calls = true;
		w->calls++;
		return true;
	}
	w->out.jumps |= out.jumps;
	w->out.soon |= out.jumps && w->calls <= SOON;
	w->out.calls |= out.calls;
	return false;
}

/* A call. Returns whether control runs on behind it. */
static bool call(struct look *l, struct walk *w, const struct operands *in, const uint8_t *bytes,
		 uint64_t end, struct known_values *values)
{
	uint64_t target;
	enum role role = named_calls__role_of_transfer(&l->names, in, bytes, end, &target);
	const struct eh_range *range = l->names.eh ? eh_frame__at(l->names.eh, end - 1) : NULL;

	if (role == ROLE_JUMP)
		note_jump(l, w, values);
	if (role == ROLE_JUMP || role == ROLE_END)
		return false;
	if (role == ROLE_NONE && !in->relative) {
		w->out.works = true;
		return false;
	}
	if (role == ROLE_NONE && !call_inside(l, w, target, values))
		return false;
	w->out.calls |= role == ROLE_IMPORT;
	known_values__pass_call(values, l->names.arch->preserved);
	if (role == ROLE_SET)
		values->registers[0] = (struct known_value){VALUE_NUMBER, 0};
	/* A call that never comes back may be the last thing that a function does. */
	return !range || end < range->end;
}

/* A jump or a branch, whose target is reached by it. */
static void jump(struct look *l, struct walk *w, const struct operands *in, const uint8_t *bytes,
		 uint64_t end, const struct known_values *values)
{
	uint64_t target;
	enum role role = named_calls__role_of_transfer(&l->names, in, bytes, end, &target);

	if (role == ROLE_JUMP)
		note_jump(l, w, values);
	else if (role == ROLE_IMPORT || role == ROLE_COPY)
		w->out.returns = true;
	else if (role == ROLE_NONE && target)
		arrive(w, target, values);
	else if (role == ROLE_NONE)
		w->out.works = true;
}

/* Follows one instruction. Returns whether control runs on behind it. */
static bool step(struct look *l, struct walk *w, const struct operands *in, const uint8_t *bytes,
		 uint64_t vaddr, struct known_values *values)
{
	uint64_t end = vaddr + in->length;
	bool known = values->compared && (in->if_equal || in->if_unequal);

	switch (in->flow) {
	case OPERAND_FLOW_NEXT:
	case OPERAND_FLOW_SYSTEM_CALL:
		known_values__pass(values, in, vaddr);
		return true;
	case OPERAND_FLOW_CALL:
		return call(l, w, in, bytes, end, values);
	case OPERAND_FLOW_JUMP:
		jump(l, w, in, bytes, end, values);
		return false;
	case OPERAND_FLOW_BRANCH:
		if (!known || values->equal == in->if_equal)
			jump(l, w, in, bytes, end, values);
		return !known || values->equal != in->if_equal;
	case OPERAND_FLOW_STOP:
	case OPERAND_FLOW_INTERRUPT:
		return false;
	default:
		w->out.returns = true;
		return false;
	}
}

/* Whether it is decided by what has been found what comes of it. A function that returns, or works,
 * is a call like others to its caller; and so does error handling. */
static bool is_decided(const struct walk *w)
{
	return (w->out.returns || w->out.works) &&
	       (w->depth || !w->own || w->own->kind == VALUE_IN_FRAME);
}

/* A walk that has not begun. NULL: no memory. */
static struct walk *walk_begin(struct look *l, const struct known_value *own, int depth)
{
	struct walk *w = l->walks[depth];

	if (!w)
		l->walks[depth] = w = malloc(sizeof(*w));
	if (!w)
		return NULL;
	w->own = own;
	w->places_cnt = w->done = 0;
	w->calls = 0;
	w->depth = depth;
	w->out = (struct outcome){0};
	return w;
}

/* Follows all ways from `begin`, until what comes of it is decided. Returns whether there is memory
 * for that. */
static bool walk(struct look *l, uint64_t begin, const struct known_values *values,
		 const struct known_value *own, int depth, struct outcome *out)
{
	struct walk *w = walk_begin(l, own, depth);

	if (!w)
		return false;
	for (arrive(w, begin, values); w->done < w->places_cnt && !is_decided(w); w->done++) {
		struct place *place = &w->places[w->done];
		const uint64_t vaddr = w->vaddrs[w->done];
		struct operands in;
		size_t size = 0;
		const uint8_t *bytes = named_calls__code(&l->names, vaddr, &size);

		w->calls = place->calls;
		if (!bytes || !l->steps || !l->total ||
		    !l->names.arch->operands(bytes, size, &in)) {
			w->out.works = true;
			continue;
		}
		l->steps--;
		l->total--;
		if (step(l, w, &in, bytes, vaddr, &place->values))
			arrive(w, vaddr + in.length, &place->values);
	}
	*out = w->out;
	return true;
}

/* Whether a copy of so many bytes as the code finds out ends in a longjmp() at once. */
static bool copies_then_jumps(struct look *l, uint64_t behind, const struct known_values *values)
{
	struct outcome out;

	l->steps = MAX_STEPS;
	return walk(l, behind, values, NULL, 0, &out) && out.jumps && !out.returns && !out.works &&
	       !out.calls;
}

/* Whether the instruction loads from, or stores to, memory outside the frame; *reg: by which
 * register. */
static bool moves(const struct operands *in, const struct known_values *values, bool stores,
		  int *reg)
{
	bool memory = false;

	*reg = OPERAND_NO_REGISTER;
	for (int i = 0; i < in->cnt; i++) {
		const struct operand *op = &in->items[i];

		if (op->kind == OPERAND_MEMORY && !op->hidden && !op->address_only)
			memory |= (stores ? op->writes : op->reads) &&
				  op->base != OPERAND_NO_REGISTER &&
				  values->registers[op->base].kind != VALUE_IN_FRAME;
		else if (op->kind == OPERAND_REGISTER && !op->hidden && op->writes != stores)
			*reg = op->reg;
	}
	return memory;
}

/* Whether the loop in [from, to) loads what it stores elsewhere. */
static bool loop_copies(const struct look *l, uint64_t from, uint64_t to,
			const struct known_values *known)
{
	struct known_values values = *known;
	bool loaded[OPERAND_REGISTERS + 1] = {false};
	struct operands in;
	size_t size = 0;
	int reg;

	while (from < to) {
		const uint8_t *bytes = named_calls__code(&l->names, from, &size);

		if (!bytes || !l->names.arch->operands(bytes, size, &in) ||
		    in.flow == OPERAND_FLOW_CALL)
			return false;
		if (moves(&in, &values, false, &reg))
			loaded[reg] = true;
		else if (moves(&in, &values, true, &reg) && loaded[reg])
			return true;
		known_values__pass(&values, &in, from);
		from += in.length;
	}
	return false;
}

/* Whether the instruction copies as often as a register says whose number is not known. */
static bool repeats(const struct operands *in, const struct known_values *values)
{
	for (int i = 0; i < in->cnt; i++) {
		const struct operand *op = &in->items[i];

		if (op->kind == OPERAND_REGISTER && op->reg == REPEATS)
			return values->registers[REPEATS].kind == VALUE_UNKNOWN;
	}
	return false;
}

/* If the instruction, which ends at `end`, copies as many bytes as the code finds out: where code
 * is that runs then; else 0. */
static uint64_t behind_copy(const struct look *l, const struct operands *in, const uint8_t *bytes,
			    uint64_t end, const struct known_values *values)
{
	bool goes = in->flow == OPERAND_FLOW_JUMP || in->flow == OPERAND_FLOW_BRANCH;
	bool copies = false;
	uint64_t target;

	if (in->flow == OPERAND_FLOW_CALL)
		copies = named_calls__role_of_transfer(&l->names, in, bytes, end, &target) ==
				 ROLE_COPY &&
			 values->registers[l->names.arch->arguments[2]].kind == VALUE_UNKNOWN;
	else if (in->operation == OPERATION_COPY)
		copies = repeats(in, values);
	else if (goes && in->relative && in->target < 0 && in->target > -MAX_LOOP &&
		 loop_copies(l, end + in->target, end - in->length, values))
		return end + in->target;
	return copies ? end : 0;
}

/* Reads the code from `from` to before `to`, as if all of it ran. Returns whether it has a copy of
 * a stack that ends in a jump; `values`: what is known then. */
static bool read_up_to(struct look *l, uint64_t from, uint64_t to, bool for_copies,
		       struct known_values *values)
{
	struct operands in;
	size_t size = 0;

	known_values__begin(values);
	while (from < to && l->total) {
		const uint8_t *bytes = named_calls__code(&l->names, from, &size);
		uint64_t behind;

		l->total--;
		if (!bytes || !l->names.arch->operands(bytes, size, &in)) {
			from++;
			continue;
		}
		from += in.length;
		behind = for_copies ? behind_copy(l, &in, bytes, from, values) : 0;
		if (in.flow == OPERAND_FLOW_CALL)
			known_values__pass_call(values, l->names.arch->preserved);
		else
			known_values__pass(values, &in, from - in.length);
		if (behind && copies_then_jumps(l, behind, values))
			return true;
	}
	return false;
}

/* Whether the call of setjmp() at `vaddr`, which ends at `end`, is one half of a switch. */
static bool is_swap(struct look *l, uint64_t vaddr, uint64_t end)
{
	struct known_values values;
	struct known_value own;
	struct outcome out;

	read_up_to(l, named_calls__begin(&l->names, vaddr), vaddr, false, &values);
	own = values.registers[l->names.arch->arguments[0]];
	known_values__pass_call(&values, l->names.arch->preserved);
	values.registers[0] = (struct known_value){VALUE_NUMBER, 0};
	l->steps = MAX_STEPS;
	if (!walk(l, end, &values, &own, 0, &out) || !out.jumps)
		return false;
	return (!out.returns && !out.works) || (out.soon && own.kind != VALUE_IN_FRAME);
}

/* How the call or jump at `vaddr` switches stacks, in words; NULL: it does not. */
static const char *look_at(struct look *l, const struct arch_transfer *t, uint64_t vaddr)
{
	uint64_t end = vaddr + t->length, to = end + t->distance;
	enum role role = t->by_slot ? named_calls__role_of_slot(&l->names, to) : ROLE_NONE;
	struct known_values values;

	/* Stubs jump as well. */
	if (t->by_slot && !t->calls)
		return NULL;
	if (!t->by_slot)
		role = named_calls__role_of(&l->names, to);
	if (role == ROLE_SET && t->calls)
		return is_swap(l, vaddr, end) ? swaps : NULL;
	if (role == ROLE_JUMP &&
	    read_up_to(l, named_calls__begin(&l->names, vaddr), vaddr, true, &values))
		return copies;
	return NULL;
}

static const char *look_through(struct look *l)
{
	const char *found = NULL;

	for (size_t i = 0; !found && i < l->names.segments_cnt; i++) {
		const struct named_calls_segment *s = &l->names.segments[i];
		struct arch_transfer t;

		for (size_t at = 0;
		     !found &&
		     (at = l->names.arch->find_transfer(s->bytes, at, s->size, &t)) < s->size;
		     at++)
			found = look_at(l, &t, s->vaddr + at);
	}
	return found;
}

int jump_swaps__look(const struct elf_image *img, const char **out)
{
	struct look l = {.total = MAX_TOTAL};
	int err;

	*out = NULL;
	if (!elf_image__arch(img)->operands)
		return 0;
	err = named_calls__read(&l.names, img);
	if (!err)
		*out = look_through(&l);
	if (!err && !l.total)
		*out = too_many;
	for (int depth = 0; depth <= MAX_DEPTH; depth++)
		free(l.walks[depth]);
	named_calls__clear(&l.names);
	return err;
}
