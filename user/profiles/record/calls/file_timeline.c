// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file has a thread's calls in order of their ends; wanted they are in order of their
 * beginnings. They are read window by window: so many of the thread's segments, one after the
 * other, that it is worth the while. Calls of a window that began before the window before it was
 * over have to come out earlier. They are those that were open between two windows, so there are
 * few; a first pass collects them, and where their time has come they are merged in. If there are
 * too many nevertheless (of a deep recursion, again and again), they are collected piece by piece.
 *
 * What is promised holds for nonsense too: each call comes once, none before one that begins
 * earlier.
 */
#include "record/calls/file_timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/values.h"
#include "record/calls/block_reader.h"
#include "record/calls/call_block.h"
#include "record/calls/call_cache.h"
#include "record/calls/call_index.h"
#include "record/calls/match.h"
#include "record/calls/preorder.h"
#include "timeline/timeline.h"
#include "util/array.h"

#define WINDOW_CALLS (32u << 10)  /* at least, if there are so many */
#define EARLY_MAX    (4u << 20)	  /* calls: 192 MiB; a thread's stack is not so deep */
#define EARLY_VALUES (128u << 20) /* bytes: of the values of those */

/* Calls `first` to `first` + `cnt` of the block at `at`. */
struct file_segment {
	uint64_t at;
	uint32_t first, cnt;
};

/* Calls in the order in which they come out. */
struct sorted_calls {
	struct timeline_call *calls; /* each owns its values */
	uint32_t *order, *scratch;
	size_t cnt, cap, order_cap, scratch_cap;
	size_t values_size; /* of all, in bytes, as in a block */
	size_t at;	    /* the next one's place in `order` */
};

struct file_timeline {
	struct timeline base;
	struct block_reader in;
	struct match match;
	struct file_segment *segments; /* by thread, in the order of the file */
	size_t *firsts;		       /* by thread, and one more */
	uint32_t threads_cnt;
	struct call_cache blocks;
	/* The walk. */
	uint32_t thread;
	size_t segment, segments_end;	     /* of the thread: the next one that is to be read */
	uint64_t over_ns;		     /* when the windows before were over */
	uint64_t early_from_ns, early_to_ns; /* `early` has those that begin in this time */
	struct sorted_calls window, early;
};

static int cannot_read(const struct file_timeline *t, int err)
{
	return block_reader__failed(&t->in, err == -ENODATA ? -EIO : err);
}

/* Calls of a block. The file may have changed since it was indexed. */
static int find_calls(struct file_timeline *t, uint64_t at, uint32_t first, uint32_t cnt,
		      const struct timeline_call **calls)
{
	const struct cached_block *block;
	int err = call_cache__get(&t->blocks, &t->in, at, &block);

	if (err)
		return err;
	*calls = block->calls + first;
	return first <= block->cnt && cnt <= block->cnt - first ? 0 : -EINVAL;
}

/* A function that takes a segment's calls out of their block: into the window, or those that are
 * early. */
typedef int (*segment_taker)(struct file_timeline *t, const struct timeline_call *calls,
			     uint32_t cnt);

/* The path of a call in the profile; NULL: none is known, so that the call is lost. */
static const struct matched_path *path_of(const struct file_timeline *t,
					  const struct timeline_call *call)
{
	if (call->node > t->match.paths_cnt || !t->match.paths[call->node].node)
		return NULL;
	return &t->match.paths[call->node];
}

static size_t size_of_values(const struct timeline_call *call)
{
	size_t size = 0;

	for (uint32_t i = 0; i < call->values_cnt; i++)
		size += call_block__value_size(&call->values[i]);
	return size;
}

/* Returns -EINVAL if the path is another thread's: no run of ours writes that. */
static int add(struct file_timeline *t, struct sorted_calls *to, const struct timeline_call *call)
{
	const struct matched_path *path = path_of(t, call);
	struct call_value *copy;

	if (!path)
		return 0;
	if (path->thread != t->thread)
		return -EINVAL;
	if (ARRAY_RESERVE(&to->calls, to->cnt, &to->cap))
		return -ENOMEM;
	copy = call_values__copy(call->values, call->values_cnt);
	if (!copy && call->values_cnt)
		return -ENOMEM;
	to->calls[to->cnt] = *call;
	to->calls[to->cnt].values = copy;
	to->calls[to->cnt++].node = path->node;
	to->values_size += size_of_values(call);
	return 0;
}

static void drop_values(struct sorted_calls *s, struct timeline_call *call)
{
	s->values_size -= size_of_values(call);
	free((void *)call->values);
}

static void clear(struct sorted_calls *s)
{
	for (size_t i = 0; i < s->cnt && s->values_size; i++)
		drop_values(s, &s->calls[i]);
	s->cnt = s->at = 0;
}

static int take_into_window(struct file_timeline *t, const struct timeline_call *calls,
			    uint32_t cnt)
{
	int err = 0;

	for (uint32_t i = 0; i < cnt && !err; i++) {
		if (calls[i].enter_ns >= t->over_ns)
			err = add(t, &t->window, &calls[i]);
	}
	return err;
}

static int sort(struct sorted_calls *s)
{
	s->at = 0;
	if (!s->cnt)
		return 0;
	if (ARRAY_RESERVE_MORE(&s->order, 0, s->cnt, &s->order_cap) ||
	    ARRAY_RESERVE_MORE(&s->scratch, 0, 2 * s->cnt, &s->scratch_cap))
		return -ENOMEM;
	preorder__of(s->calls, s->cnt, s->order, s->scratch);
	return 0;
}

/* Leaves the first half of the early calls; the others are for another pass. */
static int halve_early(struct file_timeline *t)
{
	struct sorted_calls *e = &t->early;
	int err = sort(e);
	size_t kept = 0;

	if (err)
		return err;
	t->early_to_ns = e->calls[e->order[e->cnt / 2]].enter_ns;
	for (size_t i = 0; i < e->cnt; i++) {
		if (e->calls[i].enter_ns < t->early_to_ns)
			e->calls[kept++] = e->calls[i];
		else
			drop_values(e, &e->calls[i]);
	}
	e->cnt = kept;
	return kept ? 0 : -EINVAL; /* a million that begin at once */
}

static int take_early(struct file_timeline *t, const struct timeline_call *calls, uint32_t cnt)
{
	int err = 0;

	for (uint32_t i = 0; i < cnt && !err; i++) {
		if (calls[i].enter_ns >= t->over_ns || calls[i].enter_ns < t->early_from_ns ||
		    calls[i].enter_ns >= t->early_to_ns)
			continue;
		err = add(t, &t->early, &calls[i]);
		if (!err && (t->early.cnt == EARLY_MAX || t->early.values_size > EARLY_VALUES))
			err = halve_early(t);
	}
	return err;
}

/* The thread's next window. Both passes have to see the same ones. */
static int read_window(struct file_timeline *t, segment_taker take)
{
	uint64_t over_ns = t->over_ns;
	size_t cnt = 0;

	while (t->segment < t->segments_end && cnt < WINDOW_CALLS) {
		const struct file_segment *s = &t->segments[t->segment++];
		const struct timeline_call *calls;
		int err = find_calls(t, s->at, s->first, s->cnt, &calls);

		if (!err)
			err = take(t, calls, s->cnt);
		if (err)
			return err;
		if (calls[s->cnt - 1].leave_ns > over_ns)
			over_ns = calls[s->cnt - 1].leave_ns;
		cnt += s->cnt;
	}
	t->over_ns = over_ns;
	return 0;
}

/* Collects calls that begin before a window before theirs is over: of the windows from the next one
 * on, and not those that have been collected before. */
static int collect_early(struct file_timeline *t)
{
	size_t segment = t->segment;
	uint64_t over_ns = t->over_ns;
	int err = 0;

	clear(&t->early);
	t->early_from_ns = t->early_to_ns;
	t->early_to_ns = UINT64_MAX;
	while (t->segment < t->segments_end && !err)
		err = read_window(t, take_early);
	t->segment = segment;
	t->over_ns = over_ns;
	return err ? err : sort(&t->early);
}

static int file_timeline_rewind(struct timeline *base, uint32_t thread)
{
	struct file_timeline *t = (struct file_timeline *)base;
	uint64_t calls = 0;
	int err = 0;

	if (thread >= t->threads_cnt)
		return -EINVAL;
	t->thread = thread;
	t->segment = t->firsts[thread];
	t->segments_end = t->firsts[thread + 1];
	t->over_ns = 0;
	clear(&t->window);
	clear(&t->early);
	t->early_to_ns = 0;
	for (size_t i = t->segment; i < t->segments_end && calls <= WINDOW_CALLS; i++)
		calls += t->segments[i].cnt;
	if (calls > WINDOW_CALLS)
		err = collect_early(t);
	else
		t->early_to_ns = UINT64_MAX; /* there is one window */
	return err ? cannot_read(t, err) : 0;
}

static const struct timeline_call *peek(const struct sorted_calls *s)
{
	return s->at < s->cnt ? &s->calls[s->order[s->at]] : NULL;
}

static int next_window(struct file_timeline *t)
{
	int err;

	clear(&t->window);
	err = read_window(t, take_into_window);
	return err ? err : sort(&t->window);
}

/* Whether early calls that have not been collected yet may be the next, of the window that comes
 * next too. */
static bool needs_early(const struct file_timeline *t, const struct timeline_call *next)
{
	return t->early_to_ns <= (next ? next->enter_ns : t->over_ns);
}

static int file_timeline_next(struct timeline *base, uint32_t thread, struct timeline_call *call)
{
	struct file_timeline *t = (struct file_timeline *)base;
	const struct timeline_call *early, *next;

	for (;;) {
		int err = 0;

		early = peek(&t->early);
		next = peek(&t->window);
		if (!early && needs_early(t, next))
			err = collect_early(t);
		else if (!next && t->segment < t->segments_end && !needs_early(t, NULL))
			err = next_window(t);
		else
			break;
		if (err)
			return cannot_read(t, err);
	}
	if (!next && !early)
		return 0;
	/* If both begin at once, the early call is the caller: it ends later. */
	if (!next || (early && early->enter_ns <= next->enter_ns)) {
		next = early;
		t->early.at++;
	} else {
		t->window.at++;
	}
	*call = *next;
	return 1;
}

static void sorted_calls_free(struct sorted_calls *s)
{
	clear(s);
	free(s->calls);
	free(s->order);
	free(s->scratch);
}

static void file_timeline_free(struct timeline *base)
{
	struct file_timeline *t = (struct file_timeline *)base;

	block_reader__fini(&t->in);
	match__fini(&t->match);
	sorted_calls_free(&t->window);
	sorted_calls_free(&t->early);
	free(t->segments);
	free(t->firsts);
	call_cache__fini(&t->blocks);
	free(t);
}

/* Sorts segments by thread, those of a thread staying in order. Of call stacks that nobody knows
 * the calls are lost. */
static int sort_segments(struct file_timeline *t, const struct call_index *x)
{
	size_t *ends;

	t->firsts = calloc(t->threads_cnt + 2, sizeof(*t->firsts));
	t->segments = calloc(x->segments_cnt + 1, sizeof(*t->segments));
	if (!t->firsts || !t->segments)
		return -ENOMEM;
	/* Counted two places on, summed up one place on: there they run up to the places before. */
	ends = t->firsts + 1;
	for (size_t i = 0; i < x->segments_cnt; i++) {
		if (x->segments[i].callstack <= t->match.callstacks_cnt)
			ends[t->match.threads[x->segments[i].callstack] + 1]++;
	}
	for (uint32_t i = 0; i < t->threads_cnt; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < x->segments_cnt; i++) {
		const struct indexed_segment *s = &x->segments[i];

		if (s->callstack > t->match.callstacks_cnt)
			t->base.lost += s->cnt;
		else
			t->segments[ends[t->match.threads[s->callstack]]++] = (struct file_segment){
				.at = x->blocks[s->block],
				.first = s->first,
				.cnt = s->cnt,
			};
	}
	return 0;
}

/* Takes a look at all calls, if there can be any whose path is not known. */
static int count_lost(struct file_timeline *t, const struct call_index *x)
{
	bool sure = x->last_path <= t->match.paths_cnt;

	for (size_t i = 1; i <= t->match.paths_cnt && sure; i++)
		sure = t->match.paths[i].node != 0;
	for (size_t i = 0; i < x->segments_cnt && !sure; i++) {
		const struct indexed_segment *s = &x->segments[i];
		const struct timeline_call *calls;
		int err = find_calls(t, x->blocks[s->block], s->first, s->cnt, &calls);

		if (err)
			return err;
		for (size_t c = 0; c < s->cnt && s->callstack <= t->match.callstacks_cnt; c++)
			t->base.lost += !path_of(t, &calls[c]);
	}
	return 0;
}

int file_timeline__open(const struct block_reader *r, const struct call_index *x, struct match *m,
			uint32_t threads_cnt, struct timeline **out)
{
	struct file_timeline *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->base = (struct timeline){.next = file_timeline_next,
				    .rewind = file_timeline_rewind,
				    .free = file_timeline_free};
	t->match = *m;
	t->threads_cnt = threads_cnt;
	err = block_reader__init(&t->in, r->path, fcntl(r->fd, F_DUPFD_CLOEXEC, 0));
	if (!err && t->in.fd < 0)
		err = -errno;
	if (!err)
		err = sort_segments(t, x);
	if (!err)
		err = count_lost(t, x);
	if (err) {
		t->match = (struct match){0}; /* is still the caller's */
		file_timeline_free(&t->base);
	} else {
		*out = &t->base;
	}
	return err;
}
