/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables in memory, filled as BPF fills them: the parts of bpf/tables.bpf.h and bpf/trace.bpf.h
 * that the collector relies on, with a clock set by hand. Given-back entries are caught and used
 * again.
 */
#ifndef PROFTRACE_TESTS_TABLES_FIXTURE_H
#define PROFTRACE_TESTS_TABLES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "attach/tracer.h"
#include "wire.h"

enum { QUEUE_CALLSTACKS = 1000, QUEUE_FRAMES, QUEUE_NODES, QUEUE_CHUNKS, QUEUES = 4 };

#define QUEUE_MAX 4096

struct table_queue {
	uint32_t items[QUEUE_MAX];
	size_t cnt, popped;
};

static struct {
	struct tracer_tables info;
#define TABLE_AT(NAME, TYPE, ENTRIES) TYPE *NAME;
	WIRE_TABLES(TABLE_AT)
	uint32_t next_callstack, next_frame, next_node, next_chunk, next_dist;
	uint64_t burst_ends_ns[WIRE_BURSTS];
	struct wire_tally tallies[WIRE_CPUS];
	bool switches_set;
	struct table_queue queues[QUEUES];
} bpf;

/* Stands in for libbpf's: the only map operation of the collector. */
int bpf_map_update_elem(int fd, const void *key, const void *value, uint64_t flags);
int bpf_map_update_elem(int fd, const void *key, const void *value, uint64_t flags)
{
	struct table_queue *q = &bpf.queues[fd - QUEUE_CALLSTACKS];

	assert_in_range(fd, QUEUE_CALLSTACKS, QUEUE_CHUNKS);
	assert_null(key);
	if (q->cnt < QUEUE_MAX)
		q->items[q->cnt++] = *(const uint32_t *)value;
	return 0;
}

static inline void *table_new(int *fd, size_t cap, size_t size)
{
	size_t bytes = (cap * size + 4095) / 4096 * 4096;
	void *at;

	if (!bytes)
		return NULL;
	*fd = memfd_create("table", MFD_CLOEXEC);
	assert_true(*fd >= 0);
	assert_int_equal(ftruncate(*fd, bytes), 0);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

#define NEW_TABLE(NAME, TYPE, ENTRIES) \
	bpf.NAME = table_new(&tables->NAME##_fd, ENTRIES, sizeof(TYPE));
#define FREE_TABLE(NAME, TYPE, ENTRIES) \
	table_free(bpf.NAME, tables->NAME##_fd, ENTRIES, sizeof(TYPE));

/* `nodes_cap` is a power of two, as the index needs it. */
static inline void tables_make(uint32_t callstacks_cap, uint32_t frames_cap, uint32_t nodes_cap)
{
	struct tracer_tables *tables = &bpf.info;

	memset(&bpf, 0, sizeof(bpf));
	bpf.next_callstack = bpf.next_frame = bpf.next_node = bpf.next_chunk = 1;
	bpf.next_dist = 1;
	*tables = (struct tracer_tables){
		.free_callstacks_fd = QUEUE_CALLSTACKS,
		.free_frames_fd = QUEUE_FRAMES,
		.free_nodes_fd = QUEUE_NODES,
		.free_chunks_fd = QUEUE_CHUNKS,
		.callstacks_cap = callstacks_cap,
		.frames_cap = frames_cap,
		.nodes_cap = nodes_cap,
		.index_cap = nodes_cap * 2,
		.dists_cap = 64,
		.function_modes_cap = 64,
		.chunks_cap = 64,
		.lists_cap = 2,
		.lines_cap = 8,
		.passed_shares = 4,
		.line_shares = 4,
		.burst_ends_ns = bpf.burst_ends_ns,
		.next_callstack = &bpf.next_callstack,
		.next_frame = &bpf.next_frame,
		.next_node = &bpf.next_node,
		.next_dist = &bpf.next_dist,
		.tallies = bpf.tallies,
		.switches_set = &bpf.switches_set,
	};
	WIRE_TABLES(NEW_TABLE)
}

static inline void table_free(void *at, int fd, size_t cap, size_t size)
{
	if (!at)
		return;
	munmap(at, (cap * size + 4095) / 4096 * 4096);
	close(fd);
}

static inline void tables_free(void)
{
	struct tracer_tables *tables = &bpf.info;

	WIRE_TABLES(FREE_TABLE)
}

static inline uint32_t table_take(int queue, uint32_t *next, uint32_t cap)
{
	struct table_queue *q = &bpf.queues[queue - QUEUE_CALLSTACKS];
	uint32_t i;

	if (q->popped < q->cnt)
		return q->items[q->popped++];
	assert_true(*next < cap);
	i = *next;
	__atomic_store_n(next, i + 1, __ATOMIC_RELEASE);
	return i;
}

static inline uint32_t bpf_node(uint32_t callstack, uint32_t parent, uint32_t function)
{
	uint32_t i = table_take(QUEUE_NODES, &bpf.next_node, bpf.info.nodes_cap);
	struct wire_callstack *t = &bpf.callstacks[callstack];

	bpf.nodes[i] = (struct wire_node){.parent = parent, .function = function};
	bpf.node_rests[i] = (struct wire_node_rest){.callstack = callstack, .older = t->newest};
	__atomic_store_n(&t->newest, i, __ATOMIC_RELEASE);
	return i;
}

/* The place of a child in the index; *free_place is the first that it could take. */
static inline uint64_t *index_find(uint32_t parent, uint32_t function, uint64_t **free_place)
{
	*free_place = NULL;
	for (uint32_t i = 0; i < WIRE_INDEX_PROBES; i++) {
		uint32_t at = WIRE_INDEX_PLACE(parent, function, i);
		uint64_t *place = &bpf.node_index[at & (bpf.info.index_cap - 1)];
		const struct wire_node *n = &bpf.nodes[*place % bpf.info.nodes_cap];

		if (!*free_place && (!*place || *place == WIRE_INDEX_DEAD))
			*free_place = place;
		if (!*place)
			return NULL;
		if (*place != WIRE_INDEX_DEAD && n->parent == parent && n->function == function)
			return place;
	}
	return NULL;
}

static inline uint32_t bpf_child(uint32_t callstack, uint32_t parent, uint32_t function)
{
	uint64_t *free_place, *place = index_find(parent, function, &free_place);

	if (place)
		return *place;
	assert_non_null(free_place);
	*free_place = bpf_node(callstack, parent, function);
	return *free_place;
}

static inline uint32_t bpf_frame(void)
{
	return table_take(QUEUE_FRAMES, &bpf.next_frame, bpf.info.frames_cap);
}

static inline uint32_t bpf_callstack(uint32_t tgid, uint32_t tid, const char *comm)
{
	uint32_t i = table_take(QUEUE_CALLSTACKS, &bpf.next_callstack, bpf.info.callstacks_cap);
	struct wire_callstack *t = &bpf.callstacks[i];

	*t = (struct wire_callstack){.owner = (uint64_t)tgid << 32 | tid,
				     .start_ns = tid * 10ull,
				     .kind = WIRE_CALLSTACK_THREAD};
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	t->root = bpf_node(i, 0, 0);
	t->bottom = t->top = bpf_frame();
	bpf.frames[t->bottom] = (struct wire_frame){.slot = ~0ull, .node = t->root, .weight = 1};
	__atomic_store_n(&t->state, WIRE_CALLSTACK_READY, __ATOMIC_RELEASE);
	return i;
}

static inline void bpf_enter(uint32_t callstack, uint32_t function, uint64_t now)
{
	struct wire_callstack *t = &bpf.callstacks[callstack];
	uint32_t below = t->top, place = bpf.frames[below].down;
	uint32_t node = bpf_child(callstack, bpf.frames[below].node, function);

	if (!place) {
		place = bpf_frame();
		bpf.frames[place] = (struct wire_frame){.up = below, .weight = 1};
		bpf.frames[below].down = place;
	}
	bpf.frames[place].entered_ns = now;
	bpf.frames[place].child_ns = 0;
	bpf.frames[place].node = node;
	bpf.frames[place].function = function;
	bpf.frames[place].entry = 0;
	bpf.frame_rests[place].entered_off_ns = t->off_ns;
	__atomic_fetch_add(&bpf.nodes[node].calls, 1, __ATOMIC_RELEASE);
	t->entered++;
	t->top = place;
}

static inline uint32_t bpf_chunk(struct wire_callstack *t)
{
	struct table_queue *q = &bpf.queues[QUEUE_CHUNKS - QUEUE_CALLSTACKS];
	uint32_t i;

	if (q->popped == q->cnt && bpf.next_chunk == bpf.info.chunks_cap)
		return 0;
	i = table_take(QUEUE_CHUNKS, &bpf.next_chunk, bpf.info.chunks_cap);
	bpf.chunks[i].next = bpf.chunks[i].cnt = 0;
	__atomic_store_n(t->chunk ? &bpf.chunks[t->chunk].next : &t->first_chunk, i,
			 __ATOMIC_RELEASE);
	t->chunk = i;
	return i;
}

/* The innermost call has values. */
static inline void bpf_values(uint32_t callstack, const struct wire_values *v)
{
	uint32_t frame = bpf.callstacks[callstack].top;

	bpf.frames[frame].entry = (uint32_t)v->list << WIRE_FRAME_LIST;
	bpf.values[frame] = *v;
}

static inline void bpf_call(struct wire_callstack *t, uint64_t took)
{
	const struct wire_frame *f = &bpf.frames[t->top];
	const struct wire_values *v = &bpf.values[t->top];
	struct wire_chunk *c = &bpf.chunks[t->chunk];
	uint32_t records = WIRE_FRAME_VALUES(f->entry) ? v->records : 0;

	if ((!t->chunk || c->cnt + records >= WIRE_CHUNK_CALLS) && !bpf_chunk(t)) {
		bpf.tallies[3].timeline_lost++;
		return;
	}
	c = &bpf.chunks[t->chunk];
	c->calls[c->cnt] = (struct wire_call){f->entered_ns, took,
					      t->off_ns - bpf.frame_rests[t->top].entered_off_ns,
					      f->node, records};
	memcpy(&c->calls[c->cnt + 1], v, records * sizeof(struct wire_call));
	__atomic_store_n(&c->cnt, c->cnt + 1 + records, __ATOMIC_RELEASE);
}

static inline uint64_t bpf_close(uint32_t callstack, uint64_t now)
{
	struct wire_callstack *t = &bpf.callstacks[callstack];
	struct wire_frame *f = &bpf.frames[t->top];
	uint64_t took = now - f->entered_ns;

	bpf_call(t, took);
	t->top = f->up;
	bpf.frames[f->up].child_ns += took;
	bpf.nodes[f->node].self_ns += took - f->child_ns;
	return took;
}

static inline void bpf_leave(uint32_t callstack, uint64_t now)
{
	struct wire_node *n = &bpf.nodes[bpf.frames[bpf.callstacks[callstack].top].node];
	uint64_t took = bpf_close(callstack, now);

	__atomic_fetch_add(&bpf.callstacks[callstack].returned, 1, __ATOMIC_RELEASE);
	if (!n->min_ns || took < n->min_ns)
		n->min_ns = took;
	if (took > n->max_ns)
		n->max_ns = took;
}

static inline void bpf_unwind(uint32_t callstack, uint64_t now)
{
	bpf_close(callstack, now);
	bpf.callstacks[callstack].unwound++;
}

static inline void bpf_exit(uint32_t callstack, uint64_t now)
{
	bpf.callstacks[callstack].exit_ns = now;
}

#endif
