/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which stack an address is on, for threads that have several: in this order
 *
 * 1. the alternate signal stack that the kernel knows of;
 * 2. a stack whose maker has told its bounds (makecontext and the like are probed);
 * 3. the memory mapping: the thread's own stack, or a coroutine's of unknown make.
 *
 * Only 1 and 2 are exact. Coroutines of unknown make that share a mapping are one lane, as long as
 * no two threads run on it at a time; then it is none, and their calls go to the threads' homes.
 *
 * A lane's [lo, hi) is what is known to be its own around the address that was looked up last: that
 * spares the look-up until the stack is switched, or another one becomes known.
 */
#ifndef PROFTRACE_STACKS_BPF_H
#define PROFTRACE_STACKS_BPF_H

#include "lanes.bpf.h"

#define MAX_STACKS	   16384
#define STACK_PAGES	   65536 /* places in the cache of stacks by page */
#define PAGE_SHIFT	   12
#define EAGER_PAGES	   4 /* of a new stack put into the cache: where most calls are */
#define ADDRESS_MAX	   (1ull << 56)
#define VMA_TRIES	   256
#define NEAR_CONTROL_BLOCK 16384
#define VM_GROWSDOWN	   0x100
#define SS_AUTODISARM	   (1u << 31)
#define ALWAYS		   ~0ull /* lane->checked: no other stack lies within */

enum stack_kind {
	STACK_MADE = 1, /* its maker told its bounds */
	STACK_MAPPED,	/* `lo` is an address on it: tells its mapping */
};

struct stack {
	u64 lo, hi;
	u32 tgid; /* 0: free; STACK_CLAIMED: being filled in */
	u32 lane; /* 0: nothing was called on it yet */
	u32 kind;
	bool holed;  /* another stack lies within it */
	bool shared; /* several threads at a time were seen on it: it is no single stack */
	__u16 pad;
};

#define STACK_CLAIMED ~0u

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_STACKS);
	__type(key, u32);
	__type(value, struct stack);
} stacks SEC(".maps");

struct stack_page {
	u64 page;
	u32 tgid;
	u32 pad;
};

/* Number of the stack on a page of memory: a guess, as stacks may share a page. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACK_PAGES);
	__type(key, struct stack_page);
	__type(value, u32);
} stack_of_page SEC(".maps");

u32 next_stack WRITTEN = 1;
u64 stacks_known = 1; /* raised with each stack that becomes known */

/* Events whose stack could not be told, for the mapping was being changed or the table was full:
 * they count for the thread. */
u64 stacks_unknown WRITTEN = 0;

static __always_inline struct stack *stack_at(u32 i)
{
	return bpf_map_lookup_elem(&stacks, &i);
}

static __always_inline u32 stack_cached(u32 tgid, u64 address)
{
	struct stack_page key = {.page = address >> PAGE_SHIFT, .tgid = tgid};
	u32 *number = bpf_map_lookup_elem(&stack_of_page, &key);

	return number ? *number : 0;
}

static __always_inline void stack_cache(u32 tgid, u64 address, u32 number, u64 flags)
{
	struct stack_page key = {.page = address >> PAGE_SHIFT, .tgid = tgid};

	bpf_map_update_elem(&stack_of_page, &key, &number, flags);
}

static __always_inline bool within(u64 address, u64 lo, u64 hi)
{
	return address - lo < hi - lo;
}

/* A search for the stack that an address lies on: the bounds that are known around it. */
struct stack_search {
	u64 address;
	u64 vma_lo, vma_hi; /* its mapping; equal: unknown */
	u64 lo, hi;	    /* around it, no stack but those below begins or ends */
	u64 size;	    /* of `made` */
	u32 tgid;
	u32 made;   /* the smallest stack of known bounds that holds it; 0: none */
	u32 mapped; /* the stack of unknown make in the same mapping; 0: none */
	u32 vma_flags;
};

static long stack_search_one(u32 i, struct stack_search *s)
{
	u32 number = i + 1;
	const struct stack *stack = stack_at(number);

	if (number >= next_stack || !stack)
		return 1;
	if (stack->tgid != s->tgid)
		return 0;
	if (stack->kind == STACK_MAPPED) {
		if (within(stack->lo, s->vma_lo, s->vma_hi))
			s->mapped = number;
		return 0;
	}
	if (within(s->address, stack->lo, stack->hi)) {
		if (stack->hi - stack->lo < s->size) {
			s->size = stack->hi - stack->lo;
			s->made = number;
		}
		return 0;
	}
	if (stack->hi <= s->address && stack->hi > s->lo)
		s->lo = stack->hi;
	if (stack->lo > s->address && stack->lo < s->hi)
		s->hi = stack->lo;
	return 0;
}

static long vma_note(__attribute__((unused)) struct task_struct *task, struct vm_area_struct *vma,
		     struct stack_search *s)
{
	s->vma_lo = vma->vm_start;
	s->vma_hi = vma->vm_end;
	s->vma_flags = vma->vm_flags;
	return 0;
}

/* The kernel does not wait for whoever changes the mappings. */
static long vma_try(__attribute__((unused)) u32 i, struct stack_search *s)
{
	const long busy = -16; /* EBUSY */

	return bpf_find_vma(current_task(), s->address, vma_note, s, 0) != busy;
}

/* Whether the thread is the first one of a process that lives in its parent's memory (CLONE_VM,
 * vfork): on a stack that the parent has given it, with the parent's control block or its own. */
static __always_inline bool borrows_memory(const struct task_struct *task)
{
	return FIELD(task, pid) == FIELD(task, tgid) &&
	       FIELD(task, mm) == FIELD(FIELD(task, real_parent), mm);
}

/* Whether the mapping holds the thread's own stack: the kernel made it, or the thread's control
 * block lies above the stack, where C libraries put it for all but a process's first thread. */
static __always_inline bool vma_is_own(const struct task_struct *task, const struct stack_search *s)
{
	if (FIELD(task, pid) == FIELD(task, tgid) && s->vma_flags & VM_GROWSDOWN)
		return true;
	if (FIELD(task, pid) == FIELD(task, tgid) && !borrows_memory(task))
		return false;
	return within(thread_pointer(task), s->vma_lo, s->vma_hi);
}

/* A thread without a control block of its own: the mapping where it is seen first is its stack. */
static __always_inline bool thread_is_bare(const struct task_struct *task)
{
	u64 own = thread_pointer(task);

	if (!own)
		return true;
	if (FIELD(task, pid) != FIELD(task, tgid))
		return own == thread_pointer(FIELD(task, group_leader));
	return borrows_memory(task) && own == thread_pointer(FIELD(task, real_parent));
}

/* Close below its control block a thread is on its own stack, whatever else it has: that is where
 * it begins. For when the kernel cannot say what the mapping is. */
static __always_inline bool near_control_block(const struct task_struct *task, u64 address)
{
	return FIELD(task, pid) != FIELD(task, tgid) && !thread_is_bare(task) &&
	       thread_pointer(task) - address < NEAR_CONTROL_BLOCK;
}

/* A free place in the table. 0: it is full. */
static __always_inline u32 stack_take(u32 free)
{
	struct stack *stack = stack_at(free);

	if (free && stack && SWAP_IF(&stack->tgid, 0, STACK_CLAIMED))
		return free;
	if (next_stack >= MAX_STACKS)
		return 0;
	free = next_number(&next_stack);
	stack = stack_at(free);
	if (free >= MAX_STACKS || !stack)
		return 0;
	stack->tgid = STACK_CLAIMED;
	return free;
}

/* The lane of a stack. 0: nothing is known of it, and nothing shall be made. */
static __always_inline u32 stack_lane(u32 number, struct stack *stack, u64 owner, bool create)
{
	u32 tgid = owner >> 32, made;
	struct wire_lane *lane = lane_at(stack->lane);

	if (stack->lane && lane && lane->stack == number && lane_is(lane, WIRE_LANE_STACK, tgid))
		return stack->lane;
	if (!create)
		return 0;
	made = lane_new_beside(owner, WIRE_LANE_STACK);
	lane = lane_at(made);
	if (!made || !lane)
		return 0;
	lane->stack = number;
	stack->lane = made;
	return made;
}

/* Notes on a lane which addresses around the event are its own. */
static __always_inline void lane_bounds(u32 number, u64 lo, u64 hi, u64 checked)
{
	struct wire_lane *lane = lane_at(number);

	if (!lane)
		return;
	lane->lo = lo;
	lane->hi = hi;
	lane->checked = checked;
}

static __always_inline u64 larger(u64 a, u64 b)
{
	return a > b ? a : b;
}

static __always_inline u64 smaller(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* The signal stack is no part of the stack on which it lies. */
static __always_inline void search_spare(struct stack_search *s, u64 lo, u64 hi)
{
	if (lo >= hi)
		return;
	if (hi <= s->address)
		s->lo = larger(s->lo, hi);
	else if (lo > s->address)
		s->hi = smaller(s->hi, lo);
}

/* The thread's home stands in for a lane that cannot be told, or made: if a call is to be recorded,
 * or if it is left that the home stood in for. The stack may be any. */
static __always_inline u32 home_instead(u32 number, struct wire_lane *home, u64 slot, bool create)
{
	if (!create) {
		const struct wire_frame *top = frame_at(home->top);

		return top && top->slot == slot ? number : 0;
	}
	home->lo = home->hi = 0;
	home->astray = true;
	return number;
}

/* A stack of unknown make. 0: the table is full. */
__noinline u32 stack_mapped(u64 address)
{
	u32 number = stack_take(0);
	struct stack *stack = stack_at(number);

	if (!number || !stack)
		return 0;
	stack->lo = address;
	stack->hi = 0;
	stack->lane = 0;
	stack->kind = STACK_MAPPED;
	stack->holed = stack->shared = false;
	*(volatile u32 *)&stack->tgid = bpf_get_current_pid_tgid() >> 32;
	return number;
}

/*
 * The lane of an address that is on no signal stack, by looking at everything that is known.
 * `create`: make what is missing. 0: none.
 */
__noinline u32 lane_search(u32 home_number, u64 address, u32 create)
{
	u64 known = *(volatile u64 *)&stacks_known;
	u32 number, lane;
	struct task_struct *task = current_task();
	struct wire_lane *home = lane_at(home_number);
	struct stack_search s = {
		.address = address,
		.hi = ADDRESS_MAX,
		.size = ~0ull,
		.tgid = FIELD(task, tgid),
	};
	struct stack *stack;

	if (!home)
		return 0;
	if (!KNOWS_MAPPINGS) {
		LOOK_AT(create);
		search_spare(&s, home->signal_lo, home->signal_hi);
		lane_bounds(home_number, s.lo, s.hi, ALWAYS);
		return home_number;
	}
	LOOP(VMA_TRIES, vma_try, &s);
	LOOP(MAX_STACKS, stack_search_one, &s);
	search_spare(&s, home->signal_lo, home->signal_hi);
	stack = stack_at(s.made);
	if (s.made && stack) {
		stack_cache(s.tgid, address, s.made, BPF_ANY);
		lane = stack_lane(s.made, stack, home->owner, create);
		s.vma_lo = stack->lo;
		s.vma_hi = stack->hi;
		goto found;
	}
	if (s.vma_lo == s.vma_hi) {
		if (near_control_block(task, address)) {
			home->lo = home->hi = 0;
			home->astray = false;
			return home_number;
		}
		__sync_fetch_and_add(&stacks_unknown, 1);
		return home_instead(home_number, home, address, create);
	}
	lane = home_number;
	home->astray = false;
	if (within(home->anchor, s.vma_lo, s.vma_hi))
		goto found;
	if (vma_is_own(task, &s) || (!home->anchor && thread_is_bare(task))) {
		home->anchor = address;
		goto found;
	}
	home->astray = true;
	number = s.mapped;
	if (!number && create)
		number = stack_mapped(address);
	stack = stack_at(number);
	if (!number || !stack)
		return home_instead(home_number, home, address, create);
	if (!stack->shared) {
		stack_cache(s.tgid, address, number, BPF_ANY);
		lane = stack_lane(number, stack, home->owner, create);
	}
found:
	if (!lane)
		return home_instead(home_number, home, address, create);
	lane_bounds(lane, larger(s.lo, s.vma_lo), smaller(s.hi, s.vma_hi), known);
	return lane;
}

/* The lane of `address` by what lane_search() has found before. 0: look for it. */
static __always_inline u32 lane_remembered(u32 home_number, const struct wire_lane *home,
					   u64 address)
{
	u32 tgid = home->owner >> 32, number;
	const struct wire_lane *lane;
	struct stack *stack;

	if (within(address, home->lo, home->hi) && home->checked >= stacks_known)
		return home_number;
	number = stack_cached(tgid, address);
	stack = stack_at(number);
	if (!number || !stack || stack->tgid != tgid)
		return 0;
	lane = lane_at(stack->lane);
	if (!stack->lane || !lane || lane->stack != number || !lane_is(lane, WIRE_LANE_STACK, tgid))
		return 0;
	if (stack->kind == STACK_MADE && !stack->holed && within(address, stack->lo, stack->hi)) {
		lane_bounds(stack->lane, stack->lo, stack->hi, ALWAYS);
		return stack->lane;
	}
	if (within(address, lane->lo, lane->hi) && lane->checked >= stacks_known)
		return stack->lane;
	return 0;
}

/* Frees a stack: its memory is used for something else. */
static __always_inline void stack_end(struct stack *stack, u64 now)
{
	struct wire_lane *lane = lane_at(stack->lane);
	u32 number = stack->lane;

	if (number && lane && lane_is(lane, WIRE_LANE_STACK, stack->tgid) && lane_lock(lane)) {
		unwind_all(number, now);
		lane_ends(lane, now);
		lane_unlock(lane);
	}
	stack->lane = 0;
	*(volatile u32 *)&stack->tgid = 0;
}

/* Makes room for a new stack. */
struct stack_making {
	u64 lo, hi, now;
	u32 tgid;
	u32 free;
};

static long stack_make_way(u32 i, struct stack_making *m)
{
	u32 number = i + 1;
	struct stack *stack = stack_at(number);
	struct wire_lane *lane;

	if (number >= next_stack || !stack)
		return 1;
	if (!stack->tgid)
		m->free = number;
	if (stack->tgid != m->tgid || stack->kind != STACK_MADE || stack->hi <= m->lo ||
	    stack->lo >= m->hi)
		return 0;
	if (stack->lo <= m->lo && stack->hi >= m->hi) {
		/* A stack on a stack. */
		stack->holed = true;
		lane = lane_at(stack->lane);
		if (lane && lane->stack == number)
			lane->checked = 0;
		return 0;
	}
	stack_end(stack, m->now);
	m->free = number;
	return 0;
}

static long stack_cache_page(u32 i, const struct stack *stack)
{
	u64 address = stack->hi - 1 - ((u64)i << PAGE_SHIFT);

	if (!within(address, stack->lo, stack->hi))
		return 1;
	/* The lowest page may be another stack's highest. */
	stack_cache(stack->tgid, address, stack->lane,
		    address >> PAGE_SHIFT == stack->lo >> PAGE_SHIFT ? BPF_NOEXIST : BPF_ANY);
	return 0;
}

/* A coroutine gets [lo, hi) for its stack. What was open there is gone. */
__noinline u32 stack_made(u64 lo, u64 hi)
{
	struct stack_making m = {.lo = lo, .hi = hi, .tgid = bpf_get_current_pid_tgid() >> 32};
	struct stack key = {.lo = lo, .hi = hi, .tgid = m.tgid};
	struct stack *stack;
	u32 number, one = 1;

	LOOK_AT(lo);
	LOOK_AT(hi);
	if (!KNOWS_MAPPINGS || lo >= hi || hi > ADDRESS_MAX ||
	    (filter_tgids && !bpf_map_lookup_elem(&tgids, &m.tgid)))
		return 0;
	m.now = bpf_ktime_get_ns();
	number = stack_cached(m.tgid, hi - 1);
	stack = stack_at(number);
	if (number && stack && stack->tgid == m.tgid && stack->kind == STACK_MADE &&
	    stack->lo == lo && stack->hi == hi && !stack->holed) {
		struct wire_lane *lane = lane_at(stack->lane);

		if (stack->lane && lane && lane->stack == number &&
		    lane_is(lane, WIRE_LANE_STACK, m.tgid) && lane_lock(lane)) {
			unwind_all(stack->lane, m.now);
			lane_unlock(lane);
		}
		return number;
	}
	LOOP(MAX_STACKS, stack_make_way, &m);
	number = stack_take(m.free);
	stack = stack_at(number);
	if (!number || !stack) {
		__sync_fetch_and_add(&stacks_unknown, 1);
		return 0;
	}
	stack->lo = lo;
	stack->hi = hi;
	stack->lane = 0;
	stack->kind = STACK_MADE;
	stack->holed = stack->shared = false;
	*(volatile u32 *)&stack->tgid = m.tgid;
	if (bpf_map_update_elem(&laned, &m.tgid, &one, BPF_ANY))
		laned_full = true;
	__sync_fetch_and_add(&stacks_known, 1);
	key.lane = number;
	LOOP(EAGER_PAGES, stack_cache_page, &key);
	return number;
}

static long sweep_stack(u32 i, const u32 *tgid)
{
	u32 number = i + 1;
	struct stack *stack = stack_at(number);

	if (number >= next_stack || !stack)
		return 1;
	if (stack->tgid == *tgid)
		stack->tgid = 0;
	return 0;
}

/* All but the homes of the current process are gone; `unwind`: so are the calls that are open. */
__noinline u32 process_sweep(u32 unwind)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!laned_full && !bpf_map_lookup_elem(&laned, &tgid))
		return 0;
	sweep_lanes(bpf_ktime_get_ns(), tgid, unwind);
	if (KNOWS_MAPPINGS)
		LOOP(MAX_STACKS, sweep_stack, &tgid);
	bpf_map_delete_elem(&laned, &tgid);
	return 0;
}

#endif
