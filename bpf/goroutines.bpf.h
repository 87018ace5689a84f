/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go programs: a goroutine's calls are its own, whichever thread runs it. Its descriptor, the
 * runtime's struct g, begins with the bounds of its stack, and the thread's local storage points
 * to it. As Go moves a stack that must grow, and keeps distances from its upper end, frames are
 * known by these.
 */
#ifndef PROFTRACE_GOROUTINES_BPF_H
#define PROFTRACE_GOROUTINES_BPF_H

#include "callstacks.bpf.h"

/* Where the runtime's struct g has its fields, in bytes; user space has it from the program's file,
 * which may come late. */
bool go_traced = false; /* the others hold */
u64 go_tls_offset = 0;	/* of the pointer to it, from the thread pointer */
u32 go_goid_offset = 0; /* of the goroutine's number in it */
/* Of the goroutine that a thread works for, in the runtime's struct m, the thread's descriptor. */
u32 go_curg_offset = 0;

/* In struct g, of all versions of Go: the bounds of its stack come first. */
#define GO_G_M	0x30 /* the thread that runs it */
#define GO_G_SP 0x38 /* its stack pointer, while it is off its stack */
/* In struct m: */
#define GO_M_G0 0 /* the descriptor whose stack is the thread's system stack */

struct goroutine_key {
	u64 g;
	u32 tgid;
	u32 pad;
};

/* Call stack of each descriptor: a guess, as descriptors are used again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct goroutine_key);
	__type(value, u32);
} goroutines SEC(".maps");

/* Number 0 is the runtime's own: what a thread does on its system or signal stack. */
static __always_inline bool goroutine_is(const struct wire_callstack *callstack, u64 owner, u64 g,
					 u64 goid)
{
	return callstack->g == g && callstack->goid == goid &&
	       callstack_is(callstack, WIRE_CALLSTACK_GOROUTINE, owner >> 32) &&
	       (goid || callstack->owner == owner);
}

/* The call stack of a descriptor; one that is of its last user ends. 0: none, or no room. */
__noinline u32 goroutine_callstack(u64 owner, u64 g, u64 goid, bool create)
{
	struct goroutine_key key = {.g = g, .tgid = owner >> 32};
	u32 *known = bpf_map_lookup_elem(&goroutines, &key), number = known ? *known : 0;
	struct wire_callstack *callstack = callstack_at(number);
	u64 now;

	if (number && callstack) {
		if (goroutine_is(callstack, owner, g, goid))
			return number;
		if (callstack->g == g &&
		    callstack_is(callstack, WIRE_CALLSTACK_GOROUTINE, owner >> 32) &&
		    callstack_lock(callstack)) {
			now = bpf_ktime_get_ns();
			unwind_all(number, now);
			callstack_ends(callstack, now);
			callstack_unlock(callstack);
		}
	}
	if (!create)
		return 0;
	number = callstack_new_beside(owner, WIRE_CALLSTACK_GOROUTINE);
	callstack = callstack_at(number);
	if (!number || !callstack)
		return 0;
	callstack->start_ns = FAR_FIELD(FAR_FIELD(current_task(), group_leader), start_boottime);
	callstack->g = g;
	callstack->goid = goid;
	if (bpf_map_update_elem(&goroutines, &key, &number, BPF_ANY)) {
		callstack->exit_ns = bpf_ktime_get_ns(); /* nobody would find it */
		return 0;
	}
	return number;
}

/* Finds the call stack of the goroutine on whose stack `slot` lies, and locks it. False: it lies on
 * none, or there is no room. */
static __always_inline bool goroutine_find(struct place *at, const struct task_struct *task,
					   struct wire_callstack *thread_stack, u64 slot,
					   bool create)
{
	u64 g, goid, stack[2], owner = thread_stack->pid_tgid;

	if (bpf_probe_read_user(&g, sizeof(g), (void *)(thread_pointer(task) + go_tls_offset)) ||
	    !g || bpf_probe_read_user(stack, sizeof(stack), (void *)g) ||
	    slot - stack[0] >= stack[1] - stack[0] ||
	    bpf_probe_read_user(&goid, sizeof(goid), (void *)(g + go_goid_offset)))
		return false;
	at->slot = slot - stack[1];
	at->number = thread_stack->current;
	at->callstack = callstack_at(at->number);
	if (!at->callstack || !goroutine_is(at->callstack, owner, g, goid)) {
		at->number = goroutine_callstack(owner, g, goid, create);
		at->callstack = callstack_at(at->number);
		if (!at->number || !at->callstack)
			return false;
		thread_stack->current = at->number;
	}
	if (!callstack_lock(at->callstack))
		return false;
	if (goroutine_is(at->callstack, owner, g, goid)) {
		at->callstack->hi = stack[1];
		return true;
	}
	callstack_unlock(at->callstack);
	return false;
}

/* The members of a goroutine's descriptor (struct g) that are read. */
struct go_descriptor {
	u64 g, lo, hi, goid;
};

static __always_inline bool go_word(u64 *word, u64 address)
{
	return !bpf_probe_read_user(word, sizeof(*word), (void *)address);
}

static __always_inline bool go_describe(struct go_descriptor *d, u64 g)
{
	d->g = g;
	return g && !bpf_probe_read_user(&d->lo, 2 * sizeof(d->lo), (void *)g) &&
	       go_word(&d->goid, g + go_goid_offset);
}

/* The call stack of a descriptor, if it is known; 0: it is not. */
static __always_inline u32 go_callstack(const struct go_descriptor *d, u64 owner)
{
	struct goroutine_key key = {.g = d->g, .tgid = owner >> 32};
	const u32 *number = bpf_map_lookup_elem(&goroutines, &key);
	const struct wire_callstack *callstack = number ? callstack_at(*number) : 0;

	return callstack && goroutine_is(callstack, owner, d->g, d->goid) ? *number : 0;
}

#endif
