/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Seeds: the frames of a thread's, or a goroutine's, stack below which all its outermost calls have
 * been, as far as is known. They are unwound at the first of these calls; later ones look whether
 * the innermost frame of the seed is still there, by two words of the stack: its own return
 * address, and that of its callee, which must lie in the same function. If they have changed, or
 * now and then, as frames farther out may have, the stack is unwound anew, and the seed ends at the
 * last frame that both have in common. So it gets shorter until it has only what stays. User space
 * shows all calls below what it has in the end, so that those between a change and the look that
 * finds it are right, too.
 */
#ifndef PROFTRACE_SEEDS_BPF_H
#define PROFTRACE_SEEDS_BPF_H

#include "unwind.bpf.h"

const volatile bool keep_seeds = false;
const volatile u32 seeds_cap = 0; /* entries, two for each */
bool seeding_on = false;	  /* not while probes are calibrated */
u32 next_seed WRITTEN = 1;

#ifndef PROFTRACE_BASIC

/* At so many outermost calls, from when the seed was taken or has got shorter, the stack is unwound
 * each time; at so many more the two words are read. Then by shares, of 2^32: a user's word takes
 * some 80 ns. */
#define SEED_LOOKS    16
#define SEED_GO_LOOKS 2 /* of goroutines, which may be one for each request */
#define SEED_READS    256
#define SEED_LOOK_AT  (1u << 23)
#define SEED_READ_AT  (1u << 28)
#define SEED_HELD     (1u << 31)
#define SEED_VAIN     64 /* looks that have told nothing, at most */

static __always_inline struct wire_seed *seed_at(u32 pair, u32 second)
{
	u32 at = pair * 2 + second;

	return bpf_map_lookup_elem(&seeds, &at);
}

/* The table's row at an address that lies in a range, and those around it. */
struct row_search {
	const struct wire_unwind_page *rows;
	u32 row;
	bool back;
};

static long row_step(__attribute__((unused)) u32 i, struct row_search *s)
{
	const struct wire_unwind_page *rows = s->rows;
	bool begins;

	if (!rows)
		return 1;
	begins = rows->rows[BELOW(s->row, WIRE_PAGE_ROWS)].rule & WIRE_UNWIND_BEGINS;
	if (begins || s->row == (s->back ? 0 : WIRE_PAGE_ROWS - 1))
		return 1;
	s->row += s->back ? -1 : 1;
	return 0;
}

/* The addresses of the function that `pc` is in, among which its return address is looked for: all
 * of its code, unless the function goes on in another page of its table. Global, so that the
 * verifier looks at it once. */
__noinline u32 seed_function(u32 number, u64 pc)
{
	struct wire_callstack *callstack = callstack_at(number);
	const struct wire_unwind_space *space;
	const struct wire_unwind_range *range;
	struct row_search s = {};
	u32 at, row = 0;

	if (!callstack)
		return 0;
	callstack->seed_lo = pc;
	callstack->seed_hi = pc + 1;
	space = unwind_space(callstack->owner >> 32);
	if (!space)
		return 0;
	at = unwind_range(space, pc - 1, 0);
	if (at >= WIRE_UNWIND_RANGES)
		return 0;
	range = &space->ranges[BELOW(at, WIRE_UNWIND_RANGES)];
	s.rows = unwind_rows(range, pc - 1, &row);
	if (!s.rows)
		return 0;
	s.row = row;
	s.back = true;
	bpf_loop(WIRE_PAGE_ROWS, row_step, &s, 0);
	/* Return addresses may lie behind the function's end, and none lies at its begin. */
	callstack->seed_lo = range->base + s.rows->rows[BELOW(s.row, WIRE_PAGE_ROWS)].start + 1;
	if (row + 1 < WIRE_PAGE_ROWS) {
		s.row = row + 1;
		s.back = false;
		bpf_loop(WIRE_PAGE_ROWS, row_step, &s, 0);
		callstack->seed_hi =
			range->base + s.rows->rows[BELOW(s.row, WIRE_PAGE_ROWS)].start + 1;
	}
	return 0;
}

static __always_inline bool in_seed_function(const struct wire_callstack *callstack, u64 pc)
{
	return pc - callstack->seed_lo < callstack->seed_hi - callstack->seed_lo;
}

/* Frames that two stacks have in common, from the outermost one on. */
struct seed_match {
	const struct wire_seed *a, *b;
	u32 a_cnt, b_cnt;
	u32 common;
};

#define SEED_FRAME(SEED, I) ((SEED)->frames[BELOW(I, WIRE_SEED_FRAMES)])

static long seed_match_step(u32 i, struct seed_match *m)
{
	const struct wire_seed *a = m->a, *b = m->b;
	u32 at = m->a_cnt - 1 - i, in = m->b_cnt - 1 - i;

	if (!a || !b || i >= m->a_cnt || i >= m->b_cnt)
		return 1;
	if (SEED_FRAME(a, at).slot != SEED_FRAME(b, in).slot ||
	    SEED_FRAME(a, at).pc != SEED_FRAME(b, in).pc)
		return 1;
	m->common = i + 1;
	return 0;
}

/* From which address slots count on the call stack: a goroutine's move with its stack. */
static __always_inline u64 seed_origin(const struct wire_callstack *callstack)
{
	return callstack->goid ? callstack->hi : 0;
}

/* From now on, outermost calls look whether frame `first` of the seed is still there, by the return
 * address of its callee, at `slot`. Global, for what it takes of the stack. */
__noinline u32 seed_watch(u32 number, u32 first, u64 slot)
{
	struct wire_callstack *callstack = callstack_at(number);
	struct wire_seed *seed = callstack ? seed_at(callstack->seed, 0) : 0;

	if (!callstack || !seed)
		return 0;
	callstack->seed_slot = slot;
	callstack->seed_limit = ~0ull;
	callstack->seed_return = 0;
	callstack->seed_first = seed->first = first;
	if (first + 1 < seed->cnt) {
		callstack->seed_limit = SEED_FRAME(seed, first + 1).slot;
		read_word(&callstack->seed_return, callstack->seed_limit + seed_origin(callstack));
	}
	return 0;
}

/* The seed ends where the stack is another one now. `held`: by its words it is the same. False:
 * nothing is left of it. */
__noinline u32 seed_narrow(u32 number, u32 held)
{
	struct wire_callstack *callstack = callstack_at(number);
	struct wire_seed *seed = callstack ? seed_at(callstack->seed, 0) : 0;
	struct wire_seed *now = callstack ? seed_at(callstack->seed, 1) : 0;
	struct seed_match m = {.a = seed, .b = now};
	u32 first, in;

	if (!callstack || !seed || !now)
		return false;
	m.a_cnt = seed->cnt;
	m.b_cnt = now->cnt;
	bpf_loop(WIRE_SEED_FRAMES, seed_match_step, &m, 0);
	first = m.a_cnt - m.common;
	/* The next one may be there, too, with another call. */
	if (first && m.common < m.b_cnt && m.common < WIRE_SEED_FRAMES) {
		in = m.b_cnt - m.common - 1;
		seed_function(number, SEED_FRAME(seed, first - 1).pc);
		first -= in_seed_function(callstack, SEED_FRAME(now, in).pc);
	}
	if (first <= callstack->seed_first) {
		first = callstack->seed_first;
		/* A function that calls from here and there in its frame is too dear to be watched.
		 */
		if (!held && ++callstack->seed_vain == SEED_VAIN)
			first++;
	}
	if (first != callstack->seed_first)
		callstack->seed_vain = callstack->seed_turn = 0;
	if (first >= m.a_cnt)
		return false;
	seed_function(number, SEED_FRAME(seed, first).pc);
	in = m.b_cnt - (m.a_cnt - first); /* the same frame in the stack of now */
	seed_watch(number, first, SEED_FRAME(now, in).slot);
	return true;
}

/* A thread's first seed. */
static __always_inline void seed_take(struct wire_callstack *callstack, u32 number,
				      struct wire_seed *seed)
{
	u32 first = seed->cnt > WIRE_SEED_FRAMES ? seed->cnt - WIRE_SEED_FRAMES : 0;

	seed->lives = callstack->lives;
	callstack->seed_state = WIRE_SEED_TAKEN;
	seed_function(number, SEED_FRAME(seed, first).pc);
	seed_watch(number, first, SEED_FRAME(seed, first).slot);
}

/* Looks at the stack of the call stack `number`, from an outermost call on: that at `slot`, or the
 * code at hand. Returns whether the seed is true of it; `number` with SEED_HELD: its words are. */
__noinline u32 seed_look(u32 number, u64 slot, u64 pc, u64 sp, u64 bp)
{
	struct unwinding u = {
		.now = {.pc = pc,
			.sp = sp,
			.bp = bp,
			.slot = slot,
			.open = {.slot = ~0ull},
			.exact = true},
	};
	u32 held = number & SEED_HELD;
	struct wire_callstack *callstack = callstack_at(number & ~SEED_HELD);
	struct wire_seed *now;
	bool first;

	if (!callstack)
		return false;
	u.now.open.origin = seed_origin(callstack);
	first = callstack->seed_state != WIRE_SEED_TAKEN;
	if (!callstack->seed && next_seed < seeds_cap / 2)
		callstack->seed = next_number(&next_seed);
	now = seed_at(callstack->seed, !first);
	if (!callstack->seed || !now) {
		callstack->seed_state = WIRE_SEED_NONE;
		return false;
	}
	u.space = unwind_space(callstack->owner >> 32);
	u.stack = (struct wire_callers *)now;
	now->cnt = now->first = 0;
	now->end = u.space ? WIRE_CALLERS_DEEP : WIRE_CALLERS_UNKNOWN;
	if (u.space)
		bpf_loop(WIRE_SEED_DEPTH, seed_step, &u, 0);
	if (now->end != WIRE_CALLERS_WHOLE || !now->cnt || now->cnt >= WIRE_SEED_DEPTH) {
		/* Through code without rules, perhaps; or nobody has told yet what is mapped. */
		if (now->end != WIRE_CALLERS_UNKNOWN && !held &&
		    ++callstack->seed_vain == SEED_VAIN)
			callstack->seed_state = WIRE_SEED_NONE;
		return held;
	}
	if (first)
		seed_take(callstack, number & ~SEED_HELD, now);
	else if (!seed_narrow(number & ~SEED_HELD, held))
		callstack->seed_state = WIRE_SEED_NONE;
	return callstack->seed_state == WIRE_SEED_TAKEN;
}

/*
 * An outermost call begins on the call stack `number`: finds the path that it is below, by a look
 * at the stack, arguments as there. What that takes is measured and charged.
 */
__noinline u32 seed_settle(u32 number, u64 slot, u64 pc, u64 sp, u64 bp)
{
	u64 began = bpf_ktime_get_ns();
	u32 at = number & ~SEED_HELD;
	struct wire_callstack *callstack = callstack_at(at);
	struct wire_frame *bottom = callstack ? frame_at(callstack->bottom) : 0;
	bool anew = false;
	u32 node;

	if (!bottom)
		return 0;
	node = callstack->root;
	if (seed_look(number, slot, pc, sp, bp) &&
	    path_below(at, callstack->root, WIRE_SEED_NODE(callstack->seed, callstack->seed_first),
		       &node, &anew))
		callstack->seed_node = node;
	else
		node = callstack->root;
	bottom->node = node;
	frame_charge(callstack, bottom, bpf_ktime_get_ns() - began);
	return 0;
}

/* Whether the innermost frame of the seed is there at an outermost call at `slot` (0: a region), as
 * far as two words tell. Where a call has just ended by a jump, the kernel's trampoline may still
 * be the return address of what it has jumped to. Global, as the caller has no stack left for that.
 */
__noinline u32 seed_holds(u32 number, u64 slot)
{
	const struct wire_callstack *callstack = callstack_at(number);
	u64 at, word;

	if (!callstack)
		return false;
	at = (slot > callstack->seed_slot ? slot : callstack->seed_slot) + seed_origin(callstack);
	if (slot &&
	    (!read_word(&word, at) || (!in_seed_function(callstack, word) &&
				       !in_seed_function(callstack, unwind_real_return(at, word)))))
		return false;
	return callstack->seed_limit == ~0ull ||
	       (read_word(&word, callstack->seed_limit + seed_origin(callstack)) &&
		word == callstack->seed_return);
}

/* An outermost call begins: sees to it that the sentinel's path is what it is below. */
static __always_inline void root_settle(struct pt_regs *ctx, u32 number,
					struct wire_callstack *callstack, struct wire_frame *bottom,
					u64 slot, bool region)
{
	bool held = false, goroutine = callstack->goid;
	u32 turn;

	if (!keep_seeds || !seeding_on || (callstack->kind != WIRE_CALLSTACK_THREAD && !goroutine))
		return;
	if (callstack->seed_state == WIRE_SEED_NONE || callstack->astray) {
		/* Nothing is known; or it may be on another stack. */
		bottom->node = callstack->root;
		return;
	}
	turn = callstack->seed_turn++;
	if (callstack->seed_state == WIRE_SEED_TAKEN) {
		held = slot < callstack->seed_limit &&
		       ((turn >= SEED_READS && WIRE_TIMED(turn) >= SEED_READ_AT) ||
			seed_holds(number, region ? 0 : slot));
		if (held && turn >= (goroutine ? SEED_GO_LOOKS : SEED_LOOKS) &&
		    WIRE_TIMED(turn) >= SEED_LOOK_AT) {
			bottom->node = callstack->seed_node;
			return;
		}
	} else if (turn % SEED_LOOKS) {
		return; /* tried in vain */
	}
	seed_settle(number | (held ? SEED_HELD : 0), region ? 0 : slot + seed_origin(callstack),
		    instruction_pointer(ctx), stack_pointer(ctx), frame_pointer(ctx));
}

#else

static __always_inline void
root_settle(__attribute__((unused)) struct pt_regs *ctx, __attribute__((unused)) u32 number,
	    __attribute__((unused)) const struct wire_callstack *callstack,
	    __attribute__((unused)) const struct wire_frame *bottom,
	    __attribute__((unused)) u64 slot, __attribute__((unused)) bool region)
{
}

#endif

/* The thread goes on with another program, on an empty stack. */
static __always_inline void seed_forget(struct wire_callstack *callstack)
{
	struct wire_frame *bottom = frame_at(callstack->bottom);

	if (!keep_seeds)
		return;
	if (bottom)
		bottom->node = callstack->root;
	/* Its paths are kept, so is what they mean. */
	if (callstack->seed_state == WIRE_SEED_TAKEN)
		callstack->seed = 0;
	callstack->seed_state = callstack->seed_vain = 0;
	callstack->seed_turn = callstack->seed_node = 0;
}

#endif
