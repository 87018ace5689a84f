/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which stack an address is on, for threads that have several: in this order
 *
 * 1. the alternate signal stack that the kernel knows of;
 * 2. a stack whose maker has told its bounds (makecontext and the like are probed);
 * 3. the memory mapping: the thread's own stack, or a coroutine's of unknown make.
 *
 * Only 1 and 2 are exact. Coroutines of unknown make that share a mapping are one call stack, as
 * long as no two threads run on it at a time; then it is none, and their calls go to the threads'
 * thread stacks.
 *
 * A call stack's [lo, hi) is what is known to be its own around the address that was looked up
 * last: that spares the look-up until the stack is switched, or another one becomes known.
 */
#ifndef PROFTRACE_STACKS_BPF_H
#define PROFTRACE_STACKS_BPF_H

#include "callstacks.bpf.h"

#define MAX_STACKS	   16384
#define STACK_PAGES_BITS   15 /* pairs of places in the cache of stacks by page */
#define PAGE_SHIFT	   12
#define EAGER_PAGES	   4 /* of a new stack put into the cache: where most calls are */
#define ADDRESS_MAX	   (1ull << 56)
#define VMA_TRIES	   256
#define NEAR_CONTROL_BLOCK 16384
#define VM_GROWSDOWN	   0x100
#define SS_AUTODISARM	   (1u << 31)
#define ALWAYS		   ~0ull /* call stack->checked: no other stack lies within */

enum stack_kind {
	STACK_MADE = 1, /* its maker told its bounds */
	STACK_MAPPED,	/* `lo` is an address on it: tells its mapping */
};

struct stack {
	u64 lo, hi;
	u32 tgid;      /* 0: free; STACK_CLAIMED: being filled in */
	u32 callstack; /* 0: nothing was called on it yet */
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

/* Stacks by page of memory: guesses, as stacks may share a page. Each is one word, with the number
 * of the stack in its lower half (0: the place is free), and bits that tell the page from most
 * others in its upper half. Of two pages that share a pair the one that was written last is the
 * first. (An array, not a hash table: 30,000 entries of that can take 12 ms to make.) */
struct stack_pages {
	u64 first, second;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << STACK_PAGES_BITS);
	__type(key, u32);
	__type(value, struct stack_pages);
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

/* The page of an address, scattered (Fibonacci hashing): the upper bits tell its pair of places,
 * the lower half the page. */
static __always_inline u64 page_hash(u32 tgid, u64 address)
{
	return (address >> PAGE_SHIFT ^ (u64)tgid << 40) * 0x9e3779b97f4a7c15ull;
}

static __always_inline volatile struct stack_pages *pages_at(u64 hash)
{
	u32 i = hash >> (64 - STACK_PAGES_BITS);

	return bpf_map_lookup_elem(&stack_of_page, &i);
}

static __always_inline u32 stack_cached(u32 tgid, u64 address)
{
	u64 hash = page_hash(tgid, address), word;
	volatile struct stack_pages *pages = pages_at(hash);

	if (!pages)
		return 0;
	word = pages->first;
	if (word >> 32 != (u32)hash)
		word = pages->second;
	return word >> 32 == (u32)hash ? word : 0;
}

/* Notes the stack of an address's page; `only_new`: only if the page has none yet. */
static __always_inline void stack_cache(u32 tgid, u64 address, u32 number, bool only_new)
{
	u64 hash = page_hash(tgid, address), old;
	volatile struct stack_pages *pages = pages_at(hash);

	if (!pages || (only_new && stack_cached(tgid, address)))
		return;
	old = pages->first;
	if ((u32)old && old >> 32 != (u32)hash)
		pages->second = old;
	pages->first = hash << 32 | number;
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

/* A loop's variables are to lie on the stack of the function that has the loop. */
struct stack_look {
	struct stack_search *search;
};

static long stack_search_one(u32 i, const struct stack_look *look)
{
	struct stack_search *s = look->search;
	u32 number = i + 1;
	const struct stack *stack = stack_at(number);

	if (number >= next_stack || !stack || !s)
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

/* Looks at all stacks that are known. Global, as the verifier then looks at it once, and not at all
 * that follows for each way through a step. */
__noinline u32 stacks_look(struct stack_search *s)
{
	struct stack_look look = {.search = s};

	LOOP(MAX_STACKS, stack_search_one, &look);
	return 0;
}

/* The kernel does not wait for whoever changes the mappings. */
static long vma_try(__attribute__((unused)) u32 i, struct stack_search *s)
{
	const long busy = -16; /* EBUSY */

	return bpf_find_vma(current_task(), s->address, vma_note, s, 0) != busy;
}

/* Whether the thread is the first one of a process that lives in its parent's memory (CLONE_VM,
 * vfork): on a stack that the parent has given it, with the parent's control block or its own.
 *
 * A global function, as are those below, so that the verifier comes by once. */
__noinline u32 borrows_memory(void)
{
	const struct task_struct *task = current_task();

	return FIELD(task, pid) == FIELD(task, tgid) &&
	       FAR_FIELD(task, mm) == FAR_FIELD(FAR_FIELD(task, real_parent), mm);
}

/* Whether the mapping holds the thread's own stack: the kernel made it, or the thread's control
 * block lies above the stack, where C libraries put it for all but a process's first thread. */
static __always_inline bool vma_is_own(const struct task_struct *task, const struct stack_search *s)
{
	if (FIELD(task, pid) == FIELD(task, tgid) && s->vma_flags & VM_GROWSDOWN)
		return true;
	if (FIELD(task, pid) == FIELD(task, tgid) && !borrows_memory())
		return false;
	return within(thread_pointer(task), s->vma_lo, s->vma_hi);
}

/* A thread without a control block of its own: the mapping where it is seen first is its stack. */
__noinline u32 thread_is_bare(void)
{
	const struct task_struct *task = current_task();
	u64 own = thread_pointer(task);

	if (!own)
		return true;
	if (FIELD(task, pid) != FIELD(task, tgid))
		return own == FAR_FIELD(FAR_FIELD(task, group_leader), THREAD_POINTER);
	return borrows_memory() && own == FAR_FIELD(FAR_FIELD(task, real_parent), THREAD_POINTER);
}

/* Close below its control block a thread is on its own stack, whatever else it has: that is where
 * it begins. For when the kernel cannot say what the mapping is. */
static __always_inline bool near_control_block(const struct task_struct *task, u64 address)
{
	return FIELD(task, pid) != FIELD(task, tgid) && !thread_is_bare() &&
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

/* The call stack of a stack. 0: nothing is known of it, and nothing shall be made. */
static __always_inline u32 stack_callstack(u32 number, struct stack *stack, u64 owner, bool create)
{
	u32 tgid = owner >> 32, made;
	struct wire_callstack *callstack = callstack_at(stack->callstack);

	if (stack->callstack && callstack && callstack->stack == number &&
	    callstack_is(callstack, WIRE_CALLSTACK_COROUTINE, tgid))
		return stack->callstack;
	if (!create)
		return 0;
	made = callstack_new_beside(owner, WIRE_CALLSTACK_COROUTINE);
	callstack = callstack_at(made);
	if (!made || !callstack)
		return 0;
	callstack->stack = number;
	stack->callstack = made;
	return made;
}

/* Notes on a call stack which addresses around the event are its own. */
static __always_inline void callstack_bounds(u32 number, u64 lo, u64 hi, u64 checked)
{
	struct wire_callstack *callstack = callstack_at(number);

	if (!callstack)
		return;
	callstack->lo = lo;
	callstack->hi = hi;
	callstack->checked = checked;
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

/* The thread's own call stack stands in for a call stack that cannot be told, or made: if a call is
 * to be recorded, or if it is left that the thread stack stood in for. The stack may be any. */
static __always_inline u32 thread_stack_instead(u32 number, struct wire_callstack *thread_stack,
						u64 slot, bool create)
{
	if (!create) {
		const struct wire_frame *top = frame_at(thread_stack->top);

		return top && top->slot == slot ? number : 0;
	}
	thread_stack->lo = thread_stack->hi = 0;
	thread_stack->astray = true;
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
	stack->callstack = 0;
	stack->kind = STACK_MAPPED;
	stack->holed = stack->shared = false;
	*(volatile u32 *)&stack->tgid = current_process();
	return number;
}

/* The call stack of a stack whose maker told its bounds, which the search has found. */
static __always_inline u32 callstack_of_made(struct stack_search *s, struct stack *stack, u64 owner,
					     bool create)
{
	stack_cache(s->tgid, s->address, s->made, false);
	s->vma_lo = stack->lo;
	s->vma_hi = stack->hi;
	return stack_callstack(s->made, stack, owner, create);
}

/* Whether the mapping that the search has found holds the thread's own stack, or may. */
static __always_inline bool search_is_own(const struct stack_search *s,
					  const struct task_struct *task,
					  struct wire_callstack *thread_stack)
{
	if (within(thread_stack->anchor, s->vma_lo, s->vma_hi))
		return true;
	if (!vma_is_own(task, s) && (thread_stack->anchor || !thread_is_bare()))
		return false;
	thread_stack->anchor = s->address;
	return true;
}

/* The call stack of a stack of unknown make; the thread's own if it is no single stack. */
static __always_inline u32 callstack_of_mapped(const struct stack_search *s, u64 owner,
					       u32 thread_number, bool create)
{
	u32 number = s->mapped;
	struct stack *stack;

	if (!number && create)
		number = stack_mapped(s->address);
	stack = stack_at(number);
	if (!number || !stack)
		return 0;
	if (stack->shared)
		return thread_number;
	stack_cache(s->tgid, s->address, number, false);
	return stack_callstack(number, stack, owner, create);
}

/*
 * The call stack of an address that is on no signal stack, by looking at everything that is known.
 * `create`: make what is missing. 0: none.
 */
__noinline u32 callstack_search(u32 thread_number, u64 address, u32 create)
{
	u64 known = *(volatile u64 *)&stacks_known;
	struct task_struct *task = current_task();
	struct wire_callstack *thread_stack = callstack_at(thread_number);
	struct stack_search s = {
		.address = address,
		.hi = ADDRESS_MAX,
		.size = ~0ull,
		.tgid = process_now(task),
	};
	struct stack *stack;
	u32 callstack;

	if (!thread_stack)
		return 0;
	if (!KNOWS_MAPPINGS) {
		LOOK_AT(create);
		search_spare(&s, thread_stack->signal_lo, thread_stack->signal_hi);
		callstack_bounds(thread_number, s.lo, s.hi, ALWAYS);
		return thread_number;
	}
	LOOP(VMA_TRIES, vma_try, &s);
	stacks_look(&s);
	search_spare(&s, thread_stack->signal_lo, thread_stack->signal_hi);
	stack = stack_at(s.made);
	if (s.made && stack) {
		callstack = callstack_of_made(&s, stack, thread_stack->owner, create);
		goto found;
	}
	if (s.vma_lo == s.vma_hi) {
		if (near_control_block(task, address)) {
			thread_stack->lo = thread_stack->hi = 0;
			thread_stack->astray = false;
			return thread_number;
		}
		__sync_fetch_and_add(&stacks_unknown, 1);
		return thread_stack_instead(thread_number, thread_stack, address, create);
	}
	callstack = thread_number;
	thread_stack->astray = false;
	if (search_is_own(&s, task, thread_stack))
		goto found;
	thread_stack->astray = true;
	callstack = callstack_of_mapped(&s, thread_stack->owner, thread_number, create);
found:
	if (!callstack)
		return thread_stack_instead(thread_number, thread_stack, address, create);
	callstack_bounds(callstack, larger(s.lo, s.vma_lo), smaller(s.hi, s.vma_hi), known);
	return callstack;
}

/* The call stack of `address` by what callstack_search() has found before. 0: look for it. */
static __always_inline u32 callstack_remembered(u32 thread_number,
						const struct wire_callstack *thread_stack,
						u64 address)
{
	u32 tgid = thread_stack->owner >> 32, number;
	const struct wire_callstack *callstack;
	struct stack *stack;

	if (within(address, thread_stack->lo, thread_stack->hi) &&
	    thread_stack->checked >= stacks_known)
		return thread_number;
	number = stack_cached(tgid, address);
	stack = stack_at(number);
	if (!number || !stack || stack->tgid != tgid)
		return 0;
	callstack = callstack_at(stack->callstack);
	if (!stack->callstack || !callstack || callstack->stack != number ||
	    !callstack_is(callstack, WIRE_CALLSTACK_COROUTINE, tgid))
		return 0;
	if (stack->kind == STACK_MADE && !stack->holed && within(address, stack->lo, stack->hi)) {
		callstack_bounds(stack->callstack, stack->lo, stack->hi, ALWAYS);
		return stack->callstack;
	}
	if (within(address, callstack->lo, callstack->hi) && callstack->checked >= stacks_known)
		return stack->callstack;
	return 0;
}

/* Frees a stack: its memory is used for something else. */
static __always_inline void stack_end(struct stack *stack, u64 now)
{
	struct wire_callstack *callstack = callstack_at(stack->callstack);
	u32 number = stack->callstack;

	if (number && callstack && callstack_is(callstack, WIRE_CALLSTACK_COROUTINE, stack->tgid) &&
	    callstack_lock(callstack)) {
		unwind_all(number, now);
		callstack_ends(callstack, now);
		callstack_unlock(callstack);
	}
	stack->callstack = 0;
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
	struct wire_callstack *callstack;

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
		callstack = callstack_at(stack->callstack);
		if (callstack && callstack->stack == number)
			callstack->checked = 0;
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
	stack_cache(stack->tgid, address, stack->callstack,
		    address >> PAGE_SHIFT == stack->lo >> PAGE_SHIFT);
	return 0;
}

/* A coroutine gets [lo, hi) for its stack. What was open there is gone. */
__noinline u32 stack_made(u64 lo, u64 hi)
{
	struct stack_making m = {.lo = lo, .hi = hi, .tgid = current_process()};
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
		struct wire_callstack *callstack = callstack_at(stack->callstack);

		if (stack->callstack && callstack && callstack->stack == number &&
		    callstack_is(callstack, WIRE_CALLSTACK_COROUTINE, m.tgid) &&
		    callstack_lock(callstack)) {
			unwind_all(stack->callstack, m.now);
			callstack_unlock(callstack);
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
	stack->callstack = 0;
	stack->kind = STACK_MADE;
	stack->holed = stack->shared = false;
	*(volatile u32 *)&stack->tgid = m.tgid;
	if (bpf_map_update_elem(&multi_stack, &m.tgid, &one, BPF_ANY))
		multi_stack_full = true;
	__sync_fetch_and_add(&stacks_known, 1);
	key.callstack = number;
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

/* All but the thread stacks of the current process are gone; `unwind`: so are the calls that are
 * open on them, else these stay for user space to account for. */
static __always_inline u32 process_stacks_end(bool unwind)
{
	u32 tgid = current_process();

	if (!multi_stack_full && !bpf_map_lookup_elem(&multi_stack, &tgid))
		return 0;
	if (unwind)
		unwind_callstacks(bpf_ktime_get_ns(), tgid);
	else
		sweep_callstacks(bpf_ktime_get_ns(), tgid);
	if (KNOWS_MAPPINGS)
		LOOP(MAX_STACKS, sweep_stack, &tgid);
	bpf_map_delete_elem(&multi_stack, &tgid);
	return 0;
}

/* Two functions, so that a program that closes no calls, as that at ends of threads, is spared what
 * closes them: 2,200 instructions for the verifier. */
__noinline u32 process_sweep(void)
{
	return process_stacks_end(false);
}

__noinline u32 process_unwind(void)
{
	return process_stacks_end(true);
}

#endif
