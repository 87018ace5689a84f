/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that BPF and user space share, and how BPF finds and makes their entries. All are
 * memory-mapped arrays, so user space reads them without a system call and the target pays nothing
 * for being watched. User space sizes them before load and hands entries of ended lanes back
 * through the free_* queues.
 */
#ifndef PROFTRACE_TABLES_BPF_H
#define PROFTRACE_TABLES_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire.h"

#define TABLE(NAME, VALUE)                         \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, u32);                  \
		__type(value, VALUE);              \
	} NAME SEC(".maps")

TABLE(lanes, struct wire_lane);
TABLE(frames, struct wire_frame);
TABLE(nodes, struct wire_node);
TABLE(node_index, u64);

#define FREE_QUEUE(NAME)                          \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_QUEUE); \
		__uint(max_entries, 1);           \
		__type(value, u32);               \
	} NAME SEC(".maps")

FREE_QUEUE(free_lanes);
FREE_QUEUE(free_frames);
FREE_QUEUE(free_nodes);

/* Lane number of each (tgid, tid): the authority. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, u32);
} thread_of_tid SEC(".maps");

/* The same by the low bits of the tid: a guess that is right if the thread's own ids agree. Cheaper
 * than task storage, whose creation the kernel may also refuse. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_THREAD_CACHE);
	__type(key, u32);
	__type(value, u32);
} thread_cache SEC(".maps");

/* Processes that are recorded, WIRE_TGID_* (filter_tgids; else all are). The kernel's own filter is
 * not enough: before 6.10 it let others pass, and a followed child is not in it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} tgids SEC(".maps");

const volatile u32 lanes_cap, frames_cap, nodes_cap, index_mask;
const volatile bool filter_tgids;
/* Links are not bound to processes: the kernel passes on what strangers do. */
const volatile bool links_unbound;

/* Next entry that was never used, in each table. */
u32 next_lane = 1, next_frame = 1, next_node = 1;
u64 lost[WIRE_LOSSES];

static __always_inline void count_lost(enum wire_loss why)
{
	__sync_fetch_and_add(&lost[why], 1);
}

static __always_inline struct wire_frame *frame_at(u32 i)
{
	return bpf_map_lookup_elem(&frames, &i);
}

static __always_inline struct wire_node *node_at(u32 i)
{
	return bpf_map_lookup_elem(&nodes, &i);
}

static __always_inline struct wire_lane *lane_at(u32 i)
{
	return bpf_map_lookup_elem(&lanes, &i);
}

/* A free entry: a returned one, or one that was never used. 0: the table is full. */
static __always_inline u32 table_take(void *queue, u32 *next, u32 cap)
{
	u32 i;

	if (bpf_map_pop_elem(queue, &i) == 0)
		return i;
	if (*next >= cap)
		return 0;
	i = __sync_fetch_and_add(next, 1);
	return i < cap ? i : 0;
}

static __noinline u32 node_new(u32 lane, u32 parent, u32 function)
{
	struct wire_lane *t = lane_at(lane);
	struct wire_node *n;
	u32 i;

	if (!t)
		return 0;
	i = table_take(&free_nodes, &next_node, nodes_cap);
	n = node_at(i);
	if (!i || !n)
		return 0;
	n->parent = parent;
	n->function = function;
	n->lane = lane;
	n->last_child = 0;
	n->calls = n->self_ns = n->min_ns = n->max_ns = 0;
	n->older = t->newest;
	t->newest = i;
	return i;
}

/* A search for the child of a node in the index. */
struct child_search {
	u32 lane, parent, function;
	u32 first; /* place where the search begins */
	u32 made;  /* node that was made for want of one */
	u32 found; /* the result */
	u32 dead;  /* first place of a dead node, plus 1 */
	u32 pad;
};

static __always_inline bool index_claim(u32 at, u64 expected, u64 node)
{
	u64 *place = bpf_map_lookup_elem(&node_index, &at);

	return place && __sync_val_compare_and_swap(place, expected, node) == expected;
}

/* Looks at one place of the index; nonzero ends the search. */
static long child_probe(u32 i, struct child_search *s)
{
	u32 at = (s->first + i) & index_mask;
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
		s->made = node_new(s->lane, s->parent, s->function);
	if (s->made && ((s->dead && index_claim(s->dead - 1, WIRE_INDEX_DEAD, s->made)) ||
			index_claim(at, 0, s->made)))
		s->found = s->made;
	return s->found || !s->made;
}

/*
 * The node of `function` called from `parent`. Only the thread on `parent`'s lane looks for its
 * children, so two CPUs never insert the same key; they may compete for a place in the index, hence
 * the compare-and-swap. Places of dead nodes are used again. 0: a table is full.
 */
static __noinline u32 node_child(u32 lane, u32 parent, u32 function)
{
	struct child_search search = {
		.lane = lane,
		.parent = parent,
		.function = function,
		.first = WIRE_INDEX_HASH(parent, function),
	};

	bpf_loop(WIRE_INDEX_PROBES, child_probe, &search, 0);
	if (search.found || !search.dead)
		return search.found;
	/* No empty place ended the search, but there was a dead one. */
	if (!search.made)
		search.made = node_new(lane, parent, function);
	if (search.made && index_claim(search.dead - 1, WIRE_INDEX_DEAD, search.made))
		return search.made;
	return 0;
}

/* The frame above `f`, made if the lane was never that deep. 0: the table is full. */
static __noinline u32 frame_new(u32 below)
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

static __noinline u32 lane_new(u64 pid_tgid)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	u32 i = table_take(&free_lanes, &next_lane, lanes_cap);
	u32 frame = table_take(&free_frames, &next_frame, frames_cap);
	struct wire_frame *bottom = frame_at(frame);
	struct wire_lane *t = lane_at(i);

	if (!i || !t || !frame || !bottom)
		goto full;
	t->pid_tgid = pid_tgid;
	t->start_ns = BPF_CORE_READ(task, start_boottime);
	t->exit_ns = 0;
	t->entered = t->returned = t->unwound = 0;
	t->newest = 0;
	bpf_get_current_comm(t->comm, sizeof(t->comm));
	t->root = node_new(i, 0, 0);
	if (!t->root)
		goto full;
	bottom->slot = ~0ull;
	bottom->child_ns = 0;
	bottom->node = t->root;
	bottom->function = 0;
	bottom->up = bottom->down = bottom->level = 0;
	t->bottom = t->top = frame;
	t->state = WIRE_LANE_READY;
	return i;
full:
	table_give(&free_lanes, i);
	table_give(&free_frames, frame);
	return 0;
}

/* The number of the current thread's lane by the slow way; `create` makes one for a call to be
 * recorded, which is counted as lost if that fails. 0: none. */
static __noinline u32 thread_find(bool create)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 tgid = pid_tgid >> 32, made, *known;
	struct wire_lane *t;

	known = bpf_map_lookup_elem(&thread_of_tid, &pid_tgid);
	if (known)
		return *known;
	if (!create || (filter_tgids && !bpf_map_lookup_elem(&tgids, &tgid)))
		return 0;
	made = lane_new(pid_tgid);
	if (made && !bpf_map_update_elem(&thread_of_tid, &pid_tgid, &made, BPF_ANY))
		return made;
	count_lost(WIRE_LOST_LANES);
	t = lane_at(made);
	if (made && t)
		t->exit_ns = bpf_ktime_get_ns(); /* nobody will find it: to be retired */
	return 0;
}

/* The current thread's lane and its number; made if `create`. NULL: none. */
static __always_inline struct wire_lane *thread_current(bool create, u32 *number)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 at = pid_tgid % WIRE_THREAD_CACHE, *cached = bpf_map_lookup_elem(&thread_cache, &at);
	struct wire_lane *t;

	if (!cached)
		return 0;
	*number = *cached;
	t = lane_at(*number);
	if (t && t->pid_tgid == pid_tgid && !t->exit_ns)
		return t;
	*number = thread_find(create);
	if (!*number)
		return 0;
	*cached = *number;
	return lane_at(*number);
}

/* The lane of that number if it is of the current thread; else NULL. */
static __always_inline struct wire_lane *thread_if_current(u32 number)
{
	struct wire_lane *t = lane_at(number);

	/* A forked child brings its parent's pending returns along. Where links are bound to a
	 * process, the kernel has sorted it out already. */
	if (t && links_unbound && t->pid_tgid != bpf_get_current_pid_tgid())
		return 0;
	return t;
}

#endif
