// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs of a line, as gcov counts them (accumulate_line_info() and add_line_counts() in GCC's
 * gcov.c). It gives each basic block to the highest line in it. The runs of a line that has blocks
 * are the arrivals at these from others, and the rounds of cycles that consist of them alone. So
 *
 * - a way back in a line counts if it is part of a cycle in that line, and not if it leads through
 *   other lines, as from the end of a `for` to its body;
 * - in a block that is a higher line's a line does not run anew, if it has blocks elsewhere: an
 *   expression that goes on behind calls in its arguments. A line that has none
 *   counts in each block that it appears in: twice, if it goes on behind a call.
 *
 * Blocks end at calls, for these may not return, but for functions that gcc knows (returning.c).
 * Two things that are code are none to gcov: a jump alone, which is an edge there, and what follows
 * the last statement to leave the function. If that has a result, its end is no statement, so that
 * the line there has none but those that end objects.
 */
#include "lines/line_runs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lines/line_keys.h"
#include "lines/segments.h"

static void note_successor(void *ctx, uint32_t to)
{
	(void)to;
	*(bool *)ctx = true;
}

static bool goes_on(const struct segments *s, uint32_t seg)
{
	bool found = false;

	segments__successors(s, seg, note_successor, &found);
	return found;
}

static bool is_lone_jump(const struct segments *s, uint32_t seg)
{
	return s->items[seg].idle && !s->items[seg].next && goes_on(s, seg);
}

static void note_way_back(void *ctx, uint32_t to)
{
	uint32_t *from = ctx;

	if (to <= *from)
		*from = UINT32_MAX;
}

static bool goes_back(const struct segments *s, uint32_t seg)
{
	uint32_t from = seg;

	segments__successors(s, seg, note_way_back, &from);
	return from == UINT32_MAX;
}

/* Basic blocks as gcov has them. */
struct blocks {
	struct segments *s;
	const struct line_key *keys;
	uint32_t *owners; /* by segment: key that has the block in which it begins */
	bool *has_blocks; /* by key */
	bool *has_code;	  /* by key: more than jumps */
	bool *has_body;	  /* by key: more than the function's end */
	bool *ends;	  /* by key: nothing but the function's end */
	bool gives_result;
};

/* The key that has the block of segments [tail, to), the first of which may lie in it with its end
 * alone: the highest line, of those of the file that comes last. */
static uint32_t owner_of(const struct blocks *b, uint32_t tail, uint32_t to)
{
	const struct line_key *best = NULL;

	for (uint32_t i = to; i-- > tail;) {
		uint32_t key = b->s->items[i].key;
		const struct line_key *k = key ? &b->keys[key - 1] : NULL;

		if (!k)
			continue;
		if (best && strcmp(k->file, best->file))
			break;
		if (!best || k->line > best->line)
			best = k;
	}
	return best ? best - b->keys + 1 : 0;
}

/* From the owner's first segment on, control is in the owner's line, as far as runs go. */
static void own(struct blocks *b, uint32_t tail, uint32_t from, uint32_t to)
{
	struct segment *segs = b->s->items;
	uint32_t owner = owner_of(b, tail, to);
	bool begun = tail < from && segs[tail].key == owner;

	/* Its own block begins behind the call. */
	if (begun) {
		b->owners[tail] = owner;
		segs[tail].repeats = false;
	}
	for (uint32_t i = from; i < to; i++) {
		begun |= segs[i].key == owner;
		b->owners[i] = segs[i].cuts_again ? segs[i].key : owner;
		b->has_blocks[segs[i].key] |= segs[i].cuts_again;
		segs[i].goes_on_as =
			begun && (!segs[i].cuts || segs[i].ends_in_cut) ? owner : segs[i].key;
	}
	b->has_blocks[owner] = true;
}

/* Whether the segment is of another inlined call than the one before it. */
static bool crosses_inlining(const struct blocks *b, uint32_t i)
{
	uint32_t key = b->s->items[i].key, before = b->s->items[i - 1].key;

	return key && before && b->keys[key - 1].inlined != b->keys[before - 1].inlined;
}

static bool is_bare_end(const struct blocks *b, uint32_t i)
{
	return b->gives_result && b->s->items[i].returns && b->s->items[i].epilogue;
}

/* Segments [from, to) are a basic block; calls cut it, and so do the ends of inlined calls. */
static void own_block(struct blocks *b, uint32_t from, uint32_t to)
{
	struct segment *segs = b->s->items;
	uint32_t tail = from, first = from;
	bool lone = is_lone_jump(b->s, to - 1);
	bool leaves = !segs[to - 1].next && !goes_on(b->s, to - 1);
	/* Where a line has statements, a jump is what remains of these: the end of a loop without a
	 * condition is where its first statement is. */
	bool edge = lone && b->has_code[segs[to - 1].key];

	if (is_bare_end(b, to - 1) && b->has_body[segs[to - 1].key]) {
		to--;
		segs[to].repeats = true;
		segs[to].goes_on_as = segs[to].key;
		edge = leaves = lone = false;
	}
	/* What is no statement has a block of its own here, unless it ends a loop. */
	if (edge || ((leaves || (lone && !goes_back(b->s, to - 1))) && to - from > 1)) {
		to--;
		b->owners[to] = segs[to].goes_on_as = segs[to].key;
		b->has_blocks[segs[to].key] |= leaves;
	}
	for (uint32_t i = from; i < to; i++) {
		if (i > first && crosses_inlining(b, i)) {
			own(b, tail, first, i);
			tail = first = i;
		}
		if (!segs[i].cuts)
			continue;
		own(b, tail, first, i + 1);
		first = i + 1;
		tail = segs[i].ends_in_cut ? first : i;
	}
	if (tail < to)
		own(b, tail, first, to);
}

static int mark_beginnings(struct segments *s, const struct line_key *keys, uint32_t keys_cnt,
			   bool gives_result)
{
	struct blocks b = {.s = s, .keys = keys, .gives_result = gives_result};
	int err;

	b.owners = calloc(s->cnt + 1, sizeof(*b.owners));
	b.has_blocks = calloc((size_t)keys_cnt + 1, sizeof(*b.has_blocks));
	b.has_code = calloc((size_t)keys_cnt + 1, sizeof(*b.has_code));
	b.has_body = calloc((size_t)keys_cnt + 1, sizeof(*b.has_body));
	b.ends = calloc((size_t)keys_cnt + 1, sizeof(*b.ends));
	err = b.owners && b.has_blocks && b.has_code && b.has_body && b.ends ? 0 : -ENOMEM;
	for (uint32_t i = 0; !err && i < s->cnt; i++) {
		b.has_code[s->items[i].key] |= !s->items[i].idle;
		b.has_body[s->items[i].key] |= !s->items[i].idle && !is_bare_end(&b, i);
	}
	for (uint32_t i = 0; !err && i < s->cnt; i++)
		b.ends[s->items[i].key] |= is_bare_end(&b, i) && !b.has_body[s->items[i].key];
	for (uint32_t from = 0, to; !err && from < s->cnt; from = to) {
		for (to = from + 1; to < s->cnt && !s->items[to].begins_block;)
			to++;
		own_block(&b, from, to);
	}
	for (uint32_t i = 0; !err && i < s->cnt; i++) {
		struct segment *g = &s->items[i];

		if (g->key && b.owners[i] != g->key && b.has_blocks[g->key])
			g->repeats = true;
		if (b.has_blocks[g->key] || !g->cuts || g->cuts_again || g->ends_in_cut)
			continue;
		/* Before its call and behind it. */
		g->twice = !g->repeats;
		g->repeats = false;
	}
	s->owns = b.has_blocks;
	s->ends = b.ends;
	free(b.owners);
	free(b.has_code);
	free(b.has_body);
	return err;
}

struct arrival {
	struct segments *s;
	uint32_t from;
};

struct way {
	const struct segments *s;
	uint32_t from;
	bool leaves; /* the line */
};

static void note_end(void *ctx, uint32_t to)
{
	struct way *w = ctx;

	w->leaves |= w->s->items[to].key != w->s->items[w->from].key;
}

/* Marks segments behind a lone jump to the same line: both together are one run. */
static void mark_jumps(struct segments *s)
{
	for (uint32_t i = 0; i < s->cnt; i++) {
		struct way w = {.s = s, .from = i};

		if (!is_lone_jump(s, i))
			continue;
		segments__successors(s, i, note_end, &w);
		if (w.leaves || s->items[i].cycles)
			continue;
		s->items[i].repeats = true;
		s->items[i].goes_on_as = 0;
	}
}

static void note_arrival(void *ctx, uint32_t to)
{
	const struct arrival *a = ctx;

	if (a->s->items[a->from].goes_on_as != a->s->items[to].key)
		a->s->items[to].needless = false;
}

/* A segment that its own line leads to tells something if that had not run, as far as runs go. */
static void mark_needed(struct segments *s)
{
	struct arrival a = {.s = s};

	for (; a.from < s->cnt; a.from++) {
		if (s->items[a.from].goes_on_as != s->items[a.from].key)
			s->items[a.from].needless = false;
		segments__successors(s, a.from, note_arrival, &a);
	}
}

int line_runs__mark(struct segments *s, const struct line_key *keys, uint32_t keys_cnt,
		    bool gives_result)
{
	int err = mark_beginnings(s, keys, keys_cnt, gives_result);

	if (!err) {
		mark_jumps(s);
		mark_needed(s);
	}
	return err;
}
