/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that BPF and user space share, and how BPF finds and makes their entries. All are
 * memory-mapped arrays, so user space reads them without a system call and the target pays nothing
 * for being watched. User space sizes them before load and hands entries of ended call stacks back
 * through the free_* queues.
 */
#ifndef PROFTRACE_TABLES_BPF_H
#define PROFTRACE_TABLES_BPF_H

#include "arch.bpf.h"
#include "numbers.bpf.h"
#include "wire_tables.h"

#define TABLE(NAME, TYPE, ENTRIES)                 \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, u32);                  \
		__type(value, TYPE);               \
	} NAME SEC(".maps");

#define FREE_QUEUE(NAME, ENTRIES)                 \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_QUEUE); \
		__uint(max_entries, 1);           \
		__type(value, u32);               \
	} NAME SEC(".maps");

WIRE_TABLES(TABLE)
WIRE_QUEUES(FREE_QUEUE)

/* Number of the thread stack call stack of each (tgid, tid): the authority. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} stack_of_tid SEC(".maps");

/* Number of a thread's own call stack by the low bits of its tid: a guess that is right if the
 * thread's own ids agree. Cheaper than task storage, whose creation the kernel may also refuse. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_THREAD_CACHE);
	__type(key, u32);
	__type(value, u32);
} thread_stack_cache SEC(".maps");

/* Processes that are recorded, WIRE_TGID_* (filter_tgids; else all are). The kernel's own filter is
 * not enough: before 6.10 it let others pass, and a followed child is not in it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} tgids SEC(".maps");

const volatile u32 callstacks_cap = 0, frames_cap = 0, nodes_cap = 0, index_mask = 0, dists_cap = 0;
/* How many shares CPUs have in what they count apart, less one: powers of two. */
const volatile u32 dists_shares_mask = 0, passed_shares_mask = 0;
const volatile u32 function_modes_cap = 0;
const volatile bool filter_tgids = false;
/* Links are not bound to processes: the kernel passes on what strangers do. */
const volatile bool links_unbound = false;

/* The target's CPU time is wanted to the microsecond: process clocks go in steps of 4 ms. */
const volatile bool keep_cpu_clocks = false;
struct wire_cpu_clock cpu_clocks[WIRE_CPU_CLOCKS] WRITTEN __attribute__((aligned(64))) = {};

/* This CPU's share of what is counted by function, in `passed`, `counted` and `strays`; and the
 * place of a function's counter in one. */
static __always_inline u32 counters_here(void)
{
	return bpf_get_smp_processor_id() & passed_shares_mask;
}

static __always_inline u32 counter_place(u32 share, u32 function)
{
	return share * function_modes_cap + function;
}

/* Hits by processes that are not traced, by CPU. */
struct wire_share stranger_hits[WIRE_CPUS] __attribute__((aligned(64))) = {};

static __always_inline void count_stranger(void)
{
	__sync_fetch_and_add(&stranger_hits[bpf_get_smp_processor_id() % WIRE_CPUS].cnt, 1);
}

/* Next entry that was never used, in each table. */
u32 next_callstack WRITTEN = 1, next_frame WRITTEN = 1, next_node WRITTEN = 1;
u32 next_dist WRITTEN = 1;

struct wire_tally tallies[WIRE_CPUS] __attribute__((aligned(64))) = {};

/* Counts calls on this CPU, as that member of struct wire_tally. */
#define TALLY(MEMBER, CALLS) \
	__sync_fetch_and_add(&tallies[bpf_get_smp_processor_id() % WIRE_CPUS].MEMBER, CALLS)

static __always_inline void count_lost(enum wire_loss why)
{
	TALLY(lost[why], 1);
}

static __always_inline struct wire_frame *frame_at(u32 i)
{
	return bpf_map_lookup_elem(&frames, &i);
}

static __always_inline struct wire_node *node_at(u32 i)
{
	return bpf_map_lookup_elem(&nodes, &i);
}

static __always_inline struct wire_node_rest *node_rest_at(u32 i)
{
	return bpf_map_lookup_elem(&node_rests, &i);
}

static __always_inline struct wire_callstack *callstack_at(u32 i)
{
	return bpf_map_lookup_elem(&callstacks, &i);
}

/* A free entry: a returned one, or one that was never used. 0: the table is full. */
static __always_inline u32 table_take(void *queue, u32 *next, u32 cap)
{
	u32 i;

	if (bpf_map_pop_elem(queue, &i) == 0)
		return i;
	if (*next >= cap)
		return 0;
	i = next_number(next);
	return i < cap ? i : 0;
}

__noinline u32 node_new(u32 callstack, u32 parent, u32 function)
{
	struct wire_callstack *l = callstack_at(callstack);
	struct wire_node_rest *rest;
	struct wire_node *n;
	u32 i;

	if (!l)
		return 0;
	i = table_take(&free_nodes, &next_node, nodes_cap);
	n = node_at(i);
	rest = node_rest_at(i);
	if (!i || !n || !rest)
		return 0;
	n->parent = parent;
	n->function = function;
	n->last_child = 0;
	n->calls = n->self_ns = n->min_ns = n->max_ns = n->probe_ns = 0;
	n->timed_ns = n->expected_ns = 0;
	rest->callstack = callstack;
	rest->off_ns = 0;
	rest->older = l->newest;
	l->newest = i;
	return i;
}

/* A search for the child of a node in the index. */
struct child_search {
	u32 callstack, parent, function;
	u32 made;  /* node that was made for want of one */
	u32 found; /* the result */
	u32 dead;  /* first place of a dead node, plus 1 */
};

static __always_inline bool index_claim(u32 at, u64 expected, u64 node)
{
	u64 *place = bpf_map_lookup_elem(&node_index, &at);

	return place && SWAP_IF(place, expected, node);
}

/* Looks at one place of the index; nonzero ends the search. */
static long child_probe(u32 i, struct child_search *s)
{
	u32 at = WIRE_INDEX_PLACE(s->parent, s->function, i) & index_mask;
	u64 *place = bpf_map_lookup_elem(&node_index, &at), found;
	struct wire_node *n;

	if (!place)
		return 1;
	found = *place;
	if (found == WIRE_INDEX_DEAD) {
		if (!s->dead)
			s->dead = at + 1;
		return 0;
	}
	if (found) {
		n = node_at(found);
		if (!n || n->parent != s->parent || n->function != s->function)
			return 0;
		s->found = found;
		return 1;
	}
	if (!s->made)
		s->made = node_new(s->callstack, s->parent, s->function);
	if (s->made && ((s->dead && index_claim(s->dead - 1, WIRE_INDEX_DEAD, s->made)) ||
			index_claim(at, 0, s->made)))
		s->found = s->made;
	return s->found || !s->made;
}

/*
 * The node of `function` called from `parent`. Only the thread on `parent`'s call stack looks for
 * its children, so two CPUs never insert the same key; they may compete for a place in the index,
 * hence the compare-and-swap. Places of dead nodes are used again. 0: a table is full.
 */
__noinline u32 node_child(u32 callstack, u32 parent, u32 function)
{
	struct child_search search = {
		.callstack = callstack,
		.parent = parent,
		.function = function,
	};

	LOOP(WIRE_INDEX_PROBES, child_probe, &search);
	if (search.found || !search.dead)
		return search.found;
	/* No empty place ended the search, but there was a dead one. */
	if (!search.made)
		search.made = node_new(callstack, parent, function);
	if (search.made && index_claim(search.dead - 1, WIRE_INDEX_DEAD, search.made))
		return search.made;
	return 0;
}

/* The frame above `f`, made if the call stack was never that deep. 0: the table is full. */
__noinline u32 frame_new(u32 below)
{
	struct wire_frame *f, *b = frame_at(below);
	u32 i;

	i = table_take(&free_frames, &next_frame, frames_cap);
	f = frame_at(i);
	if (!i || !f || !b)
		return 0;
	f->up = below;
	f->down = 0;
	f->level = b->level + 1;
	b->down = i;
	return i;
}

/* Gives back an entry that was taken in vain. */
static __always_inline void table_give(void *queue, u32 i)
{
	if (i)
		bpf_map_push_elem(queue, &i, 0);
}

#endif
