/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a return probe from having the kernel make a list, which since Linux 6.14 it may free twice
 * (see user/analysis/target/hazard.c). It makes one where two of those who probe an instruction,
 * its consumers, want the return and have an entry as well: session links and return probes of
 * trace events, of whatever tool. The list stays with the record that the thread's next return
 * probe takes; a record that has one already is as bad.
 */
#ifndef PROFTRACE_RETURN_LISTS_BPF_H
#define PROFTRACE_RETURN_LISTS_BPF_H

#include "kernel.bpf.h"

/* The kernel's number of our session program. */
u32 session_program = 0;
/* The target has probes. Before, the process that measures what they cost has: other runs may have
 * some on the same functions, and it never forks. */
bool returns_guarded = false;
/* Calls whose return is not seen, as somebody else wants it too. */
u32 returns_shared WRITTEN = 0;
/* The number of struct uprobe in the kernel's BTF. libbpf has a part of that alone. */
const volatile u32 uprobe_type = 0;

#ifndef PROFTRACE_BASIC

/* Of the kernel, from 6.2 on: what a structure with that number in its BTF is read through. The
 * verifier puts nothing in place of the call, and a read that fails gives 0. */
static void *(*const read_only)(const void *address, u32 type) = (void *)WIRE_CALL_READ_ONLY;

#define MAX_CONSUMERS 16 /* at one instruction; where there are more its returns are not seen */

/* Whether a consumer is one of our own session links; those of one function see to it by their
 * generation that one of them alone wants the return. */
static __always_inline bool consumer_is_ours(u64 consumer)
{
	const struct bpf_uprobe *probe =
		(void *)(consumer - bpf_core_field_offset(struct bpf_uprobe, consumer));

	return FAR_FIELD(FAR_FIELD(FAR_FIELD(FAR_FIELD(probe, link), link.prog), aux), id) ==
	       session_program;
}

/* A walk over those who probe an instruction. */
struct consumer_walk {
	u64 head, node; /* of the list; where it is in it */
	u64 alone;	/* none of those seen wants the return but we, and no other is left */
};

static long consumer_step(__attribute__((unused)) u32 i, struct consumer_walk *w)
{
	u64 consumer = w->node - bpf_core_field_offset(struct uprobe_consumer, cons_node);
	const struct uprobe_consumer *c = (void *)consumer;

	w->alone = w->node == w->head;
	if (w->alone ||
	    (FAR_FIELD(c, ret_handler) && FAR_FIELD(c, handler) && !consumer_is_ours(consumer)))
		return 1;
	w->node = (u64)FAR_FIELD(c, cons_node.next);
	return !w->node;
}

/* Whether others than we may want the return, of those who probe the instruction that has been hit.
 * Global, so that the verifier looks at it once, and not on each way to it. */
__noinline u32 others_want_return(void)
{
	const struct uprobe_task *utask = FIELD(current_task(), utask);
	u64 uprobe = (u64)FAR_FIELD(utask, auprobe) - bpf_core_field_offset(struct uprobe, arch);
	struct consumer_walk w = {.head = uprobe + bpf_core_field_offset(struct uprobe, consumers)};

	w.node = (u64)FAR_FIELD((const struct list_head *)w.head, next);
	if (w.node)
		LOOP(MAX_CONSUMERS, consumer_step, &w);
	return !w.alone;
}

/* Whether a return probe for the call that is being entered might bring a list about. */
static __always_inline bool return_makes_list(const struct task_struct *task)
{
	const struct uprobe_task *utask = FIELD(task, utask);
	const struct return_instance *record;
	const struct uprobe *uprobe;
	u64 address, first;

	/* Kernels without a pool give each return a record of its own. */
	if (!bpf_core_field_exists(utask->ri_pool) || !utask)
		return false;
	record = FIELD(utask, ri_pool);
	if (record && FIELD(record, extra_consumers))
		return true;
	address = (u64)utask->auprobe - bpf_core_field_offset(struct uprobe, arch);
	uprobe = read_only((void *)address, uprobe_type);
	first = (u64)uprobe->consumers.next;
	if (first == (u64)uprobe->consumers.prev && first)
		return false; /* there is one */
	return others_want_return();
}

/* Whether the return of a call that is being entered is to be let go, which is counted. The look is
 * taken while costs are measured as well, as it is part of them. */
static __always_inline bool return_is_shared(const struct task_struct *task)
{
	if (!return_makes_list(task) || !returns_guarded)
		return false;
	__sync_fetch_and_add(&returns_shared, 1);
	return true;
}

#else

static __always_inline bool return_is_shared(__attribute__((unused)) const struct task_struct *task)
{
	return false; /* there are no session links */
}

#endif
#endif
