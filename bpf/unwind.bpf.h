/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding (--callers): who has called, from a call's entry up to the innermost traced call that
 * is open on its stack, or to the thread's outermost one. Rules come from the objects' unwind
 * tables, which user space puts into maps; code without has frame pointers, or the stack ends
 * there. Nothing is believed that is no address in code that the process has mapped.
 *
 * Stacks are interned: a call stack unwinds into an entry of its own (its draft), and if no stack
 * like it is known, that entry stays and the call stack takes another.
 */
#ifndef PROFTRACE_UNWIND_BPF_H
#define PROFTRACE_UNWIND_BPF_H

#include "paths.bpf.h"

const volatile bool keep_callers = false;
const volatile bool keep_spaces = false; /* something is unwound */
const volatile u32 callers_cap = 0;
bool unwinding_on = false; /* not while probes are calibrated */
u32 next_callers WRITTEN = 1;
u64 callers_lost WRITTEN = 0; /* for want of room */
u64 unwind_ns WRITTEN = 0;    /* that unwinding has taken, and how often */
u64 unwind_cnt WRITTEN = 0;
u64 unwind_astray_cnt WRITTEN = 0; /* stacks that have led to where no code was known to be, */
u32 unwind_astray_pid WRITTEN = 0; /* and whose the last one was: it may have mapped more */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} callers_of_hash SEC(".maps");

/* The code that each process has mapped, by tgid: address ranges, and the unwind table of each. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct wire_unwind_space);
} unwind_spaces SEC(".maps");

struct unwind_table {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_INNER_MAP);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct wire_unwind_page));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct unwind_table);
} unwind_tables SEC(".maps");

/* A process has been forked: it has what its parent has mapped. */
static __always_inline void unwind_space_fork(u32 parent, u32 child)
{
	void *space = keep_spaces ? bpf_map_lookup_elem(&unwind_spaces, &parent) : 0;

	if (space)
		bpf_map_update_elem(&unwind_spaces, &child, space, BPF_ANY);
}

/* A process has ended, or has begun another program. */
static __always_inline void unwind_space_forget(u32 tgid)
{
	if (keep_spaces)
		bpf_map_delete_elem(&unwind_spaces, &tgid);
}

#ifndef PROFTRACE_BASIC

/* The innermost call that is open, up to which a stack is unwound. As small as can be: programs
 * have 512 bytes of stack. */
struct open_call {
	u64 slot;   /* ~0: none is open */
	u64 origin; /* addresses of slots less those in frames: of goroutines' stacks */
	u32 frame;  /* its number; 0: no other will do */
	u32 node;
	u32 top;	   /* the lower half of the address where a Go thread's system stack ends,
			    * if the thread is on that; else 0 */
	u32 words : 29;	   /* `across`: of the other stack, which ends at `origin` */
	u32 innermost : 1; /* it is a system call: nothing of the program is below it */
	u32 across : 1;	   /* it is on another stack than the thread, one to which rbp leads */
	u32 stays : 1;	   /* what rbp leads to elsewhere is not what the thread works for */
};

/* Where unwinding is. */
struct unwind_place {
	u64 pc, sp, bp;
	u64 slot; /* of the call whose callers are looked for; 0: it is at `pc` and `sp` itself, or
		   * that call has been left */
	struct open_call open;
	u64 at;	       /* where pc was read; while `exact`, so that it was not, rbx */
	u64 frame;     /* that was found last */
	u32 range;     /* that the last address was in */
	bool switched; /* rbp has led to another stack: once is enough */
	bool exact;    /* pc is an instruction that has not run, not the one behind a call */
	bool own;      /* `frame` is of the open call */
};

struct unwinding {
	struct wire_callers *stack; /* that it goes into; or a wire_seed, which begins alike */
	const struct wire_unwind_space *space;
	struct unwind_place now;
};

/* What a step has found, beside how the stack ends (enum wire_callers_end), if it does. */
#define UNWIND_ENDS   0x100u
#define UNWIND_FRAME  0x200u /* a frame: now.frame */
#define UNWIND_SIGNAL 0x400u /* which a signal has interrupted */

/* All ones if a < b, else 0: without a branch, so that the verifier has one way to walk. */
static __always_inline u32 below(u32 a, u32 b)
{
	return (u64)((s64)a - (s64)b) >> 32;
}

/* All ones, but 0 for 0; `address` is below 2^63. No branch either: verifiers before Linux 6.7 look
 * at the function of bpf_loop() with what is known before its first round alone, and leave out what
 * a branch does in later ones. */
static __always_inline u64 all_ones_unless_0(u64 address)
{
	return (s64)(0 - address) >> 63;
}

/* An index below `cnt`, a power of two, as older verifiers see it, too: by the last instruction
 * before its use, which the compiler cannot put elsewhere. */
#define BELOW(I, CNT)                                               \
	({                                                          \
		u64 i_ = (I);                                       \
		asm volatile("%0 &= %1" : "+r"(i_) : "i"((CNT)-1)); \
		i_;                                                 \
	})

/* The range that an address lies in; WIRE_UNWIND_RANGES: none. As the next ones a global function,
 * which the verifier looks at once: what it looks at again and again is the step of a loop. */
__noinline u32 unwind_range(const struct wire_unwind_space *space, u64 address, u32 guess)
{
	u32 at = 0;

	if (!space)
		return WIRE_UNWIND_RANGES;
	if (space->starts[BELOW(guess, WIRE_UNWIND_RANGES)] <= address &&
	    address < space->ranges[BELOW(guess, WIRE_UNWIND_RANGES)].end)
		return guess;
	/* Addresses are below 2^47 but for kernels with five levels, so a difference has a sign. */
	for (u32 step = WIRE_UNWIND_RANGES / 2; step; step /= 2) {
		u64 start = space->starts[BELOW(at + step, WIRE_UNWIND_RANGES)];
		u32 not_above = ~(u32)((s64)(address - (start & ~(1ull << 63))) >> 63);

		at += step & not_above;
	}
	if (space->starts[BELOW(at, WIRE_UNWIND_RANGES)] <= address &&
	    address < space->ranges[BELOW(at, WIRE_UNWIND_RANGES)].end)
		return at;
	return WIRE_UNWIND_RANGES;
}

/* The page of rows, and the row, of an address that lies in a range; NULL: there is none. */
static __always_inline const struct wire_unwind_page *
unwind_rows(const struct wire_unwind_range *range, u64 address, u32 *found)
{
	u32 number = range->table, zero = 0, page = 0, row = 0, at = address - range->base;
	const struct wire_unwind_page *index, *rows;
	void *table;

	if (!number || address < range->base || address - range->base > ~0u)
		return 0;
	table = bpf_map_lookup_elem(&unwind_tables, &number);
	if (!table)
		return 0;
	index = bpf_map_lookup_elem(table, &zero);
	if (!index)
		return 0;
	for (u32 step = WIRE_TABLE_PAGES / 2; step; step /= 2)
		page += step & ~below(at, index->firsts[BELOW(page + step, WIRE_TABLE_PAGES)]);
	page++;
	rows = bpf_map_lookup_elem(table, &page);
	if (!rows)
		return 0;
	for (u32 step = WIRE_PAGE_ROWS / 2; step; step /= 2)
		row += step & ~below(at, rows->rows[BELOW(row + step, WIRE_PAGE_ROWS)].start);
	*found = row;
	return rows;
}

/* The rule for an address in the range `number`. */
__noinline u32 unwind_rule(const struct wire_unwind_space *space, u32 number, u64 address)
{
	const struct wire_unwind_page *rows = 0;
	u32 row = 0;

	if (space)
		rows = unwind_rows(&space->ranges[BELOW(number, WIRE_UNWIND_RANGES)], address,
				   &row);
	return rows ? rows->rows[BELOW(row, WIRE_PAGE_ROWS)].rule : WIRE_UNWIND_NONE;
}

#ifdef PROFTRACE_ASLEEP

#define ASLEEP_PAGES 32 /* of a stack, from the innermost on */
#define PAGE	     4096

/* A copy of the stack of the thread that is looked at: `bytes` of it, from address `start` on. */
struct asleep_stack {
	u64 start, bytes;
	u64 words[ASLEEP_PAGES * PAGE / sizeof(u64)];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct asleep_stack);
} asleep_stack SEC(".maps");

static __always_inline bool read_word(u64 *word, u64 address)
{
	u32 zero = 0;
	const struct asleep_stack *stack = bpf_map_lookup_elem(&asleep_stack, &zero);
	u64 at = stack ? address - stack->start : 0;

	if (!stack || at >= stack->bytes || at % sizeof(*word))
		return false;
	*word = stack->words[BELOW(at / sizeof(*word), ASLEEP_PAGES * PAGE / sizeof(u64))];
	return true;
}

#else

static __always_inline bool read_word(u64 *word, u64 address)
{
	return !bpf_probe_read_user(word, sizeof(*word), (void *)address);
}

#endif

/* The return address at `slot`, which may have been replaced by the kernel's trampoline. */
__noinline u64 unwind_real_return(u64 slot, u64 address)
{
	const struct task_struct *task = current_task();
	const struct uprobe_task *utask = FAR_FIELD(task, utask);
	const struct return_instance *armed;

	if (!utask)
		return address;
	armed = FAR_FIELD(utask, return_instances);
	for (u32 i = 0; armed && i < 8; i++) {
		if (FAR_FIELD(armed, stack) == slot)
			return FAR_FIELD(armed, orig_ret_vaddr);
		armed = FAR_FIELD(armed, next);
	}
	return address;
}

static __always_inline long unwind_ends(struct wire_callers *s, enum wire_callers_end end)
{
	s->end = end;
	if (end == WIRE_CALLERS_ASTRAY) {
		unwind_astray_pid = current_process();
		__sync_fetch_and_add(&unwind_astray_cnt, 1);
	}
	return 1;
}

/* A frame, whose return address `pc` was read at `slot`. Returns nonzero if there is no room. */
static __always_inline long unwind_append(const struct unwinding *u, struct wire_callers *s,
					  bool seeds, u64 slot, u64 pc)
{
	u64 frame = u->now.frame;
	u32 at = s->cnt;

	if (seeds) {
		struct wire_seed *seed = (void *)s;

		seed->frames[BELOW(at, WIRE_SEED_FRAMES)].function = frame;
		seed->frames[BELOW(at, WIRE_SEED_FRAMES)].slot =
			slot - (u->now.open.origin & all_ones_unless_0(slot));
		seed->frames[BELOW(at, WIRE_SEED_FRAMES)].pc = pc;
	} else {
		if (at >= WIRE_CALLERS_FRAMES)
			return unwind_ends(s, WIRE_CALLERS_DEEP);
		s->frames[at] = frame;
		s->hash = ((s->hash ^ frame) * 0x9e3779b97f4a7c15ull);
		s->hash ^= s->hash >> 29;
	}
	s->cnt = at + 1;
	return 0;
}

/* From a signal's handler back to what was interrupted: offsets in struct ucontext. */
static __always_inline u32 unwind_signal(struct unwind_place *u)
{
	u64 sp = u->sp;

	if (!read_word(&u->bp, sp + 120) || !read_word(&u->at, sp + 128) ||
	    !read_word(&u->sp, sp + 160) || !read_word(&u->pc, sp + 168))
		return UNWIND_ENDS | WIRE_CALLERS_UNREADABLE;
	u->exact = true;
	return UNWIND_SIGNAL;
}

#define MOST_FRAME (1ull << 20) /* bytes that code without rules may have in a frame */

/* The frame's upper end by a rule. 0: nothing tells. */
__noinline u64 unwind_cfa(u32 rule, u64 pc, u64 sp, u64 bp)
{
	u64 words = WIRE_UNWIND_WORDS(rule), cfa = 0;

	switch (WIRE_UNWIND_KIND(rule)) {
	case WIRE_UNWIND_RSP:
		return sp + words * 8;
	case WIRE_UNWIND_RBP:
		return bp + words * 8;
	case WIRE_UNWIND_STUB:
		return sp + 8 + ((pc & 15) >= words ? 8 : 0);
	case WIRE_UNWIND_AT_RBP:
		return read_word(&cfa, bp + (s64)(short)words * 8) ? cfa : 0;
	default:
		return bp < sp || bp - sp > MOST_FRAME ? 0 : bp + 16;
	}
}

#define NOP  0x90
#define CALL 0xe8

/* Whether the word there is a return address: behind a call, by the instructions before it. Go's
 * runtime has stacks of its own, but keeps rbp, which leads back to the goroutine's; a goroutine's
 * outermost call returns behind the nop that the runtime's goexit(), which nobody calls, begins
 * with. */
__noinline bool is_behind_call(u64 address)
{
	u64 behind = 0, code = 0, next = 0;

	if ((address & 7) || !read_word(&behind, address) || !read_word(&code, behind - 8))
		return false;
	if (code >> 56 == NOP && read_word(&next, behind) && (next & 0xff) == CALL)
		return true;
	return (code >> 24 & 0xff) == CALL ||	  /* call ADDRESS */
	       (code >> 48 & 0xf8ff) == 0xd0ff || /* call *%REGISTER */
	       (code >> 48 & 0xf8ff) == 0x10ff || /* call *(%REGISTER) */
	       (code >> 40 & 0xf8ff) == 0x50ff || /* call *OFFSET8(%REGISTER) */
	       (code >> 16 & 0xf8ff) == 0x90ff || /* call *OFFSET32(%REGISTER) */
	       (code >> 16 & 0xffff) == 0x15ff;	  /* call *ADDRESS(%rip) */
}

#define MOST_BELOW                                                                     \
	(1ull << 15) /* bytes of a frame that is found by rbx: processor state, mostly \
		      */
#define MOST_SAVED 7 /* registers, that a call saves */

/*
 * The upper end of a frame that is found by rbx: the dynamic linker's, where it binds an import at
 * its first call, and makes room for all registers on an aligned stack. Rules do not tell in which
 * of the words below its return address the callee has saved rbx; but of those that lead to the
 * stack it is the nearest, as all others are of calls farther out. 0: none does.
 */
__noinline u64 unwind_by_rbx(const struct unwind_place *u, u32 bytes)
{
	u64 word, nearest = MOST_BELOW;

	if (!u)
		return 0;
	word = u->at;
	for (u32 i = 1; i <= MOST_SAVED; i++) {
		if (!u->exact && !read_word(&word, u->at - i * sizeof(word)))
			return 0;
		if (word - u->sp < nearest)
			nearest = word - u->sp;
	}
	return nearest < MOST_BELOW ? u->sp + nearest + bytes : 0;
}

/* Where the rule says that rbp is saved, in a frame with that upper end. 0: it has not changed. */
__noinline u64 unwind_saved(u32 rule, u64 cfa, u64 bp)
{
	u32 kind = WIRE_UNWIND_KIND(rule);

	if (kind == WIRE_UNWIND_RSP || kind == WIRE_UNWIND_RBP || kind == WIRE_UNWIND_STUB ||
	    kind == WIRE_UNWIND_RBX)
		return WIRE_UNWIND_SAVED(rule) ? cfa - WIRE_UNWIND_SAVED(rule) * 8 : 0;
	return cfa ? bp : 0;
}

/*
 * A frame has been left above the open call's slot, so that call is not there any more: nobody has
 * seen it leave, or its return address was moved, as code from JIT compilers may. The next one out
 * takes its place. False: it may not.
 */
static __always_inline bool unwind_further(struct unwind_place *u)
{
	const struct wire_frame *f = u->open.frame ? frame_at(u->open.frame) : 0;
	u32 up = f ? f->up : 0;

	f = up ? frame_at(up) : 0;
	if (!f)
		return false;
	u->open.frame = f->level ? up : 0;
	u->open.node = f->level ? f->node : 0;
	u->open.slot = f->level ? f->slot + u->open.origin : ~0ull;
	return true;
}

/* A frame that ends at the open call's slot, or above. */
static __always_inline u32 unwind_at_call(struct unwind_place *u, u64 cfa)
{
	const struct wire_frame *f = u->open.frame ? frame_at(u->open.frame) : 0;

	/* What was entered in a burst may have left, and another call have its slot. */
	if (cfa - 8 == u->open.slot && !(f && burst_end(f))) {
		u->own = true;
		return UNWIND_ENDS | WIRE_CALLERS_WHOLE;
	}
	return unwind_further(u) ? 0 : UNWIND_ENDS | WIRE_CALLERS_ASTRAY;
}

/* The end of the frame that rbp leads to, on another stack; 0: on none. */
static __always_inline u64 unwind_other_stack(struct unwind_place *u)
{
	if (u->switched || !is_behind_call(u->bp + 8))
		return 0;
	u->switched = true;
	u->sp = u->bp;
	return u->bp + 16;
}

/* Code without a rule leaves a Go thread's system stack, as rbp is no longer on that. Returns the
 * end of the frame that it leads to, on the goroutine's; 0: the thread does not work for that one.
 * Between runtime.execute() and the switch of stacks it has taken on the next one already. */
static __always_inline u64 unwind_leaves(struct unwind_place *u)
{
	if (u->open.across && u->open.origin - u->bp > (u64)u->open.words * 8) {
		u->open.stays = true;
		u->open.node = 0;
	}
	return u->open.stays ? 0 : unwind_other_stack(u);
}

/* Where the frame of what is at pc ends, as its rule has it; 0: it has none. */
static __always_inline u64 unwind_by_rule(struct unwind_place *u, u32 rule)
{
	return WIRE_UNWIND_KIND(rule) == WIRE_UNWIND_RBX
		       ? unwind_by_rbx(u, WIRE_UNWIND_WORDS(rule) * 8)
		       : unwind_cfa(rule, u->pc, u->sp, u->bp);
}

/* The frame's end as its rule has it, or by rbp where that leads to another stack. `start`: the
 * rule is that at a call's begin. */
static __always_inline u64 unwind_frame_end(struct unwind_place *u, u32 rule, bool start)
{
	u64 cfa = unwind_by_rule(u, rule);

	if (start)
		return cfa;
	if (u->open.top && WIRE_UNWIND_KIND(rule) == WIRE_UNWIND_NONE && !u->switched &&
	    u->bp - u->sp >= u->open.top - (u32)u->sp)
		return unwind_leaves(u);
	return cfa ? cfa : unwind_other_stack(u);
}

/* Goes on to the caller of what is at pc. Returns what was found on the way: UNWIND_*. Global, as
 * the loops of three programs have it as their step. */
__noinline u32 unwind_on(const struct wire_unwind_space *space, struct unwind_place *u)
{
	const struct wire_unwind_range *range;
	u64 at, cfa, saved, next;
	u32 number, rule, kind;
	bool start;

	if (!space || !u)
		return UNWIND_ENDS | WIRE_CALLERS_UNKNOWN;
	start = u->slot;
	at = u->exact ? u->pc : u->pc - 1;
	number = unwind_range(space, at, u->range);
	if (number >= WIRE_UNWIND_RANGES)
		return UNWIND_ENDS | WIRE_CALLERS_ASTRAY;
	u->range = number;
	range = &space->ranges[BELOW(number, WIRE_UNWIND_RANGES)];
	u->frame = (u64)range->object << 48 | ((u->pc - range->bias) & ((1ull << 48) - 1));
	rule = unwind_rule(space, number, at);
	kind = WIRE_UNWIND_KIND(rule);
	if (kind == WIRE_UNWIND_END && !start)
		return UNWIND_FRAME | UNWIND_ENDS | WIRE_CALLERS_WHOLE;
	if (kind == WIRE_UNWIND_SIGNAL && !start)
		return UNWIND_FRAME | unwind_signal(u);
	cfa = unwind_frame_end(u, rule, start);
	if (!cfa && u->open.stays && !start)
		return UNWIND_FRAME | UNWIND_ENDS | WIRE_CALLERS_WHOLE;
	saved = unwind_saved(rule, cfa, u->bp);
	/* Functions without rules, as the compiler's own at the end of a file, are often met at
	 * their begin, which is not in memory yet. */
	if (!cfa && u->exact && !start && is_behind_call(u->sp))
		cfa = u->sp + 8;
	if (start) {
		/* Without a rule, a frame pointer that has just been set tells. */
		if (kind == WIRE_UNWIND_NONE)
			saved = u->bp + 8 == u->slot ? u->bp : 0;
		else if (saved && cfa != u->slot + 8)
			saved = 0;
		cfa = u->slot + 8;
	} else {
		if (cfa > u->open.slot && (u->switched || !u->open.across))
			return unwind_at_call(u, cfa);
		if (kind == WIRE_UNWIND_NONE && !u->bp)
			return UNWIND_FRAME | UNWIND_ENDS | WIRE_CALLERS_WHOLE;
		if (cfa <= u->sp || (cfa & 7))
			return UNWIND_FRAME | UNWIND_ENDS | WIRE_CALLERS_NO_RULE;
	}
	if (!read_word(&next, cfa - 8) || (saved && !read_word(&u->bp, saved)))
		return (start ? 0 : UNWIND_FRAME) | UNWIND_ENDS |
		       (kind == WIRE_UNWIND_NONE ? WIRE_CALLERS_NO_RULE : WIRE_CALLERS_UNREADABLE);
	if (!next)
		return (start ? 0 : UNWIND_FRAME) | UNWIND_ENDS | WIRE_CALLERS_WHOLE;
	if (unwind_range(space, next - 1, number) >= WIRE_UNWIND_RANGES)
		next = unwind_real_return(cfa - 8, next);
	u->slot = u->exact = 0;
	u->pc = next;
	u->at = cfa - 8;
	u->sp = cfa;
	return start ? 0 : UNWIND_FRAME;
}

/* Goes on to the caller of what is at pc; nonzero ends it. `seeds`: u->stack is a seed. */
static __always_inline long unwind_into(struct unwinding *u, bool seeds)
{
	struct wire_callers *s = u->stack;
	u64 slot = u->now.exact ? 0 : u->now.at, pc = u->now.pc;
	u32 found;

	if (!s || !u->space)
		return 1;
	found = unwind_on(u->space, &u->now);
	if ((found & UNWIND_FRAME) && unwind_append(u, s, seeds, slot, pc))
		return 1;
	/* Where a seed begins: what is called from a handler says little of later calls. */
	if ((found & UNWIND_SIGNAL) && seeds)
		s->cnt = 0;
	return found & UNWIND_ENDS ? unwind_ends(s, found & 0xff) : 0;
}

static long unwind_step(__attribute__((unused)) u32 round, struct unwinding *u)
{
	return unwind_into(u, false);
}

static long seed_step(__attribute__((unused)) u32 round, struct unwinding *u)
{
	return unwind_into(u, true);
}

/* The mappings of a process; NULL: not known. */
static __always_inline const struct wire_unwind_space *unwind_space(u32 tgid)
{
	return bpf_map_lookup_elem(&unwind_spaces, &tgid);
}

/* The entry that the call stack may unwind into; NULL, counted: none is left. */
static __always_inline struct wire_callers *callers_draft(struct wire_callstack *callstack)
{
	if (!callstack->draft && next_callers < callers_cap) {
		u32 number = next_number(&next_callers);

		if (number < callers_cap)
			callstack->draft = number;
	}
	return callstack->draft ? bpf_map_lookup_elem(&callers, &callstack->draft) : 0;
}

/* The number of the stack that the call stack's draft holds. 0: no room. */
static __always_inline u32 callers_intern(struct wire_callstack *callstack, struct wire_callers *s)
{
	u64 hash = s->hash ^ ((u64)s->end << 60) ^ s->cnt;
	u32 draft = callstack->draft, *known = bpf_map_lookup_elem(&callers_of_hash, &hash);

	if (known)
		return *known;
	s->pid = current_process();
	if (!bpf_map_update_elem(&callers_of_hash, &hash, &draft, BPF_NOEXIST)) {
		callstack->draft = 0;
		return draft;
	}
	known = bpf_map_lookup_elem(&callers_of_hash, &hash); /* another thread's, just now */
	return known ? *known : 0;
}

/* Sets *u to these registers, or to the call whose slot is `slot` (0: none); what is found up to
 * an open call goes into *s. */
static __always_inline void unwind_begin(struct unwinding *u, struct wire_callers *s,
					 const struct pt_regs *regs, u64 slot,
					 const struct open_call *open)
{
	*u = (struct unwinding){
		.stack = s,
		.space = open->innermost ? 0 : unwind_space(current_process()),
		.now = {.pc = instruction_pointer(regs),
			.sp = stack_pointer(regs),
			.bp = frame_pointer(regs),
			.at = saved_register(regs),
			.slot = slot,
			.open = *open,
			.exact = true},
	};
	s->hash = s->cnt = s->own = 0;
	s->end = open->innermost ? WIRE_CALLERS_WHOLE
		 : u->space	 ? WIRE_CALLERS_DEEP
				 : WIRE_CALLERS_UNKNOWN;
}

#define UNWIND_STEPS (WIRE_CALLERS_FRAMES + 2 + UNWIND_STALE)
#define UNWIND_STALE 16 /* open calls that are not there any more, at most */

/* Notes where the open call itself was, for what may be inlined there. */
static __always_inline void unwind_own(const struct unwinding *u, struct wire_callers *s)
{
	u32 at = s->cnt;

	if (!u->now.own || !u->now.open.frame || at >= WIRE_CALLERS_FRAMES)
		return;
	s->frames[at] = u->now.frame;
	s->own = 1;
}

/* Fills in the return addresses from there on. Returns the node of the call at which that has
 * ended; open->stays is what has turned out. */
static __always_inline u32 stack_unwind(struct wire_callers *s, const struct pt_regs *regs,
					u64 slot, struct open_call *open)
{
	struct unwinding u;

	unwind_begin(&u, s, regs, slot, open);
	if (u.space)
		bpf_loop(UNWIND_STEPS, unwind_step, &u, 0);
	unwind_own(&u, s);
	open->stays = u.now.open.stays;
	return s->end == WIRE_CALLERS_WHOLE ? u.now.open.node : open->node;
}

/* The number of the stack of the current call's callers; 0: there is no room. */
static __always_inline u32 callers_unwind(struct pt_regs *ctx, struct wire_callstack *callstack,
					  u64 slot, u64 limit)
{
	struct wire_callers *s = callers_draft(callstack);
	struct open_call open = {.slot = limit};

	if (!s)
		return 0;
	stack_unwind(s, ctx, slot, &open);
	return callers_intern(callstack, s);
}

/*
 * The number of the path of `function` below the stack of its callers that are not traced, on the
 * call stack `number`; 0, counted as lost: no room. Callers are looked for from `slot`, where the
 * return address is, up to `limit`, the slot of the innermost open call. `slot` 0: from the
 * instruction at hand, which is in the innermost of them. What all that takes is measured, and
 * charged to the innermost call, whose time it lies in.
 */
static __noinline u32 path_with_callers(struct pt_regs *ctx, u32 number, u64 slot, u64 limit,
					u32 function)
{
	u64 began = bpf_ktime_get_ns(), took;
	struct wire_callstack *callstack = callstack_at(number);
	struct wire_frame *top = callstack ? frame_at(callstack->top) : 0;
	struct wire_node *n;
	bool anew = false;
	u32 from, path, stack;

	if (!top)
		return 0;
	path = from = top->node;
	stack = callers_unwind(ctx, callstack, slot, limit);
	if (stack)
		n = path_below(number, from, WIRE_NODE_CALLERS | stack, &path, &anew);
	else
		__sync_fetch_and_add(&callers_lost, 1);
	n = path ? path_below(number, path, function, &path, &anew) : 0;
	took = bpf_ktime_get_ns() - began;
	frame_charge(callstack, top, took);
	__sync_fetch_and_add(&unwind_ns, took);
	__sync_fetch_and_add(&unwind_cnt, 1);
	return n ? path : 0;
}

#else

#define path_with_callers(...) 0

#endif
#endif
