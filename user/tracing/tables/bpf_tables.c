// SPDX-License-Identifier: GPL-2.0-or-later
#include "tables/bpf_tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tables/growing_table.h"
#include "tables/page.h"
#include "util/log.h"

/* The growing table of that descriptor, or NULL. */
static struct growing_table *growing_of(const struct bpf_tables *t, int fd)
{
	const int fds[] = {
		[GROWING_CALLSTACKS] = t->info.callstacks_fd,
		[GROWING_FRAMES] = t->info.frames_fd,
		[GROWING_NODES] = t->info.nodes_fd,
		[GROWING_NODE_RESTS] = t->info.node_rests_fd,
		[GROWING_DISTS] = t->info.dists_fd,
	};

	for (int i = 0; i < GROWING_TABLES; i++) {
		if (fds[i] == fd)
			return &t->growing[i];
	}
	return NULL;
}

/* NULL if it is not used, or after one that could not be mapped, which *failed tells. */
static void *table_map(const struct bpf_tables *t, int fd, size_t entries, size_t size,
		       bool *failed)
{
	struct growing_table *growing;
	void *p;

	if (!entries || *failed)
		return NULL;
	growing = growing_of(t, fd);
	if (growing) {
		errno = -growing_table__map(growing, fd, size, entries);
		*failed = errno != 0;
		return growing->at;
	}
	p = mmap(NULL, page_round(entries * size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	*failed = p == MAP_FAILED;
	return *failed ? NULL : p;
}

static void table_unmap(void *p, size_t entries, size_t size)
{
	if (p)
		munmap(p, page_round(entries * size));
}

#define MAP_TABLE(NAME, TYPE, ENTRIES) \
	t->NAME = table_map(t, tables->NAME##_fd, ENTRIES, sizeof(TYPE), &failed);
#define UNMAP_TABLE(NAME, TYPE, ENTRIES) table_unmap(t->NAME, ENTRIES, sizeof(TYPE));

int bpf_tables__map(struct bpf_tables *t, const struct tracer_tables *tables)
{
	bool failed;
	int err;

	*t = (struct bpf_tables){
		.info = *tables,
		.growing = calloc(GROWING_TABLES, sizeof(*t->growing)),
	};
	failed = !t->growing;
	WIRE_TABLES(MAP_TABLE)
	if (!failed)
		return 0;
	err = -errno;
	if (err == -ENOMEM)
		log_error("not enough memory to map the BPF tables; a limit may be too low: see "
			  "ulimit -d and ulimit -v, or try a smaller --max-paths");
	else
		log_error("cannot map the BPF tables: %s", strerror(-err));
	bpf_tables__unmap(t);
	return err;
}

void bpf_tables__unmap(struct bpf_tables *t)
{
	const struct tracer_tables *tables = &t->info;

	WIRE_TABLES(UNMAP_TABLE)
	free(t->growing);
	*t = (struct bpf_tables){0};
}

static size_t passed_size(const struct tracer_tables *info)
{
	return (size_t)info->function_modes_cap * info->passed_shares * sizeof(uint64_t);
}

/* Entries of a growing table that were ever in use, which are mapped then. */
static uint32_t used(const struct bpf_tables *t, enum bpf_tables_growing growing,
		     const volatile uint32_t *next)
{
	struct growing_table *g = &t->growing[growing];
	uint32_t n = *next;

	growing_table__reach(g, n);
	return n < g->mapped ? n : g->mapped;
}

uint32_t bpf_tables__callstacks(const struct bpf_tables *t)
{
	return used(t, GROWING_CALLSTACKS, t->info.next_callstack);
}

uint32_t bpf_tables__nodes(const struct bpf_tables *t)
{
	uint32_t rests = used(t, GROWING_NODE_RESTS, t->info.next_node);
	uint32_t n = used(t, GROWING_NODES, t->info.next_node);

	return n < rests ? n : rests;
}

uint32_t bpf_tables__frames(const struct bpf_tables *t)
{
	return used(t, GROWING_FRAMES, t->info.next_frame);
}

uint32_t bpf_tables__dists(const struct bpf_tables *t)
{
	return used(t, GROWING_DISTS, t->info.next_dist);
}

void bpf_tables__clear_counts(struct bpf_tables *t)
{
	memset(t->dists, 0, bpf_tables__dists(t) * sizeof(*t->dists));
	memset(t->function_modes, 0, t->info.function_modes_cap * sizeof(*t->function_modes));
	if (t->emulations)
		memset(t->emulations, 0, t->info.function_modes_cap * sizeof(*t->emulations));
	memset(t->passed, 0, passed_size(&t->info));
	if (t->counted)
		memset(t->counted, 0, passed_size(&t->info));
	memset(t->strays, 0, passed_size(&t->info));
	memset(t->info.tallies, 0, WIRE_CPUS * sizeof(*t->info.tallies));
}

struct wire_tally bpf_tables__tallies(const struct bpf_tables *t)
{
	struct wire_tally sum = {0};

	for (int i = 0; i < WIRE_CPUS; i++) {
		const struct wire_tally *one = &t->info.tallies[i];

		for (int why = 0; why < WIRE_LOSSES; why++)
			sum.lost[why] += one->lost[why];
		sum.undistributed += one->undistributed;
		sum.untriggered += one->untriggered;
		sum.refused += one->refused;
		sum.line_misses += one->line_misses;
		sum.timeline_lost += one->timeline_lost;
	}
	return sum;
}

/* Whether a growing table has an entry of that number, which is mapped then. */
static bool is_entry(const struct bpf_tables *t, enum bpf_tables_growing growing, uint32_t i)
{
	struct growing_table *g = &t->growing[growing];

	if (i >= g->mapped && i < g->cap)
		growing_table__reach(g, i + 1);
	return i && i < g->mapped;
}

struct wire_callstack *bpf_tables__callstack(const struct bpf_tables *t, uint32_t i)
{
	return is_entry(t, GROWING_CALLSTACKS, i) ? &t->callstacks[i] : NULL;
}

uint64_t bpf_tables__ended_ns(const struct bpf_tables *t, const struct wire_callstack *callstack)
{
	if (callstack->kind != WIRE_CALLSTACK_SPANS)
		return callstack->exit_ns;
	callstack = bpf_tables__callstack(t, callstack->base);
	return callstack ? callstack->exit_ns : 0;
}

uint64_t bpf_tables__open_until(const struct bpf_tables *t, const struct wire_callstack *callstack,
				uint64_t now_ns)
{
	uint64_t ended_ns = bpf_tables__ended_ns(t, callstack);

	return ended_ns && ended_ns < now_ns ? ended_ns : now_ns;
}

struct wire_frame *bpf_tables__frame(const struct bpf_tables *t, uint32_t i)
{
	return is_entry(t, GROWING_FRAMES, i) ? &t->frames[i] : NULL;
}

struct wire_node *bpf_tables__node(const struct bpf_tables *t, uint32_t i)
{
	return is_entry(t, GROWING_NODES, i) && is_entry(t, GROWING_NODE_RESTS, i) ? &t->nodes[i]
										   : NULL;
}

struct wire_chunk *bpf_tables__chunk(const struct bpf_tables *t, uint32_t i)
{
	return i && i < t->info.chunks_cap ? &t->chunks[i] : NULL;
}

/* Takes a node out of the index. */
static void index_remove(struct bpf_tables *t, uint32_t node)
{
	const struct wire_node *n = &t->nodes[node];

	for (uint32_t i = 0; i < WIRE_INDEX_PROBES; i++) {
		uint32_t at = WIRE_INDEX_PLACE(n->parent, n->function, i);
		uint64_t *place = &t->node_index[at & (t->info.index_cap - 1)];

		if (*place == node) {
			__atomic_store_n(place, WIRE_INDEX_DEAD, __ATOMIC_RELEASE);
			return;
		}
	}
}

static void give_back(int queue_fd, uint32_t entry)
{
	/* A full queue cannot be: it has room for every entry of its table. */
	bpf_map_update_elem(queue_fd, NULL, &entry, BPF_ANY);
}

void bpf_tables__release_chunk(struct bpf_tables *t, uint32_t number)
{
	give_back(t->info.free_chunks_fd, number);
}

bool bpf_tables__end_idle(struct bpf_tables *t, uint32_t number)
{
	struct wire_callstack *callstack = bpf_tables__callstack(t, number);
	uint64_t busy;

	if (!callstack || callstack->exit_ns)
		return callstack;
	busy = __atomic_load_n(&callstack->busy, __ATOMIC_ACQUIRE);
	if (!WIRE_BUSY_FREE(busy) || callstack->top != callstack->bottom)
		return false;
	if (!__atomic_compare_exchange_n(&callstack->busy, &busy, busy | WIRE_BUSY_ENDED, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	callstack->exit_ns = callstack->made_ns;
	return true;
}

static bool thread_ended(uint64_t pid_tgid)
{
	return syscall(SYS_tgkill, (pid_t)(pid_tgid >> 32), (pid_t)pid_tgid, 0) && errno == ESRCH;
}

void bpf_tables__end_gone(struct bpf_tables *t, uint64_t now_ns)
{
	int fd = t->info.stack_of_tid_fd;
	uint64_t thread, next, none = 0;
	bool more = !bpf_map_get_next_key(fd, NULL, &next);

	while (more) {
		struct wire_callstack *callstack;
		uint32_t number;

		thread = next;
		more = !bpf_map_get_next_key(fd, &thread, &next);
		if (bpf_map_lookup_elem(fd, &thread, &number) || !thread_ended(thread) ||
		    bpf_map_delete_elem(fd, &thread))
			continue;
		callstack = bpf_tables__callstack(t, number);
		if (callstack)
			__atomic_compare_exchange_n(&callstack->exit_ns, &none, now_ns, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
		none = 0;
	}
}

/* A thread that lives on makes a new one. One that has ended was forgotten at its end; its number
 * may be a new thread's. */
static void forget_thread(const struct bpf_tables *t, uint64_t pid_tgid, uint32_t number)
{
	int fd = t->info.stack_of_tid_fd;
	uint32_t known;

	if (pid_tgid && !bpf_map_lookup_elem(fd, &pid_tgid, &known) && known == number)
		bpf_map_delete_elem(fd, &pid_tgid);
}

void bpf_tables__release_callstack(struct bpf_tables *t, uint32_t number)
{
	struct wire_callstack *callstack = bpf_tables__callstack(t, number);
	uint32_t i, next, guard, lives, draft, seed;

	if (!callstack)
		return;
	for (i = callstack->newest, guard = t->info.nodes_cap; bpf_tables__node(t, i) && guard;
	     guard--) {
		next = t->node_rests[i].older;
		index_remove(t, i);
		t->node_rests[i].callstack = 0;
		give_back(t->info.free_nodes_fd, i);
		i = next;
	}
	for (i = callstack->bottom, guard = t->info.frames_cap; bpf_tables__frame(t, i) && guard;
	     guard--) {
		next = t->frames[i].down;
		give_back(t->info.free_frames_fd, i);
		i = next;
	}
	/* First what a thread would know it by. */
	forget_thread(t, callstack->pid_tgid, number);
	__atomic_store_n(&callstack->pid_tgid, 0, __ATOMIC_SEQ_CST);
	lives = callstack->lives;
	draft = callstack->draft;
	seed = callstack->seed;
	memset(callstack, 0, offsetof(struct wire_callstack, busy));
	callstack->lives = lives;
	callstack->draft = draft;
	callstack->seed = seed;
	__atomic_and_fetch(&callstack->busy, ~WIRE_BUSY_ENDED, __ATOMIC_SEQ_CST);
	give_back(t->info.free_callstacks_fd, number);
}
