// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A segment's site is the first instruction in it that the kernel emulates, if that comes before
 * anything that takes long: what runs before the site counts for the line before. Behind a call is
 * no site, because it may not come back (exceptions, longjmp). Nor are 5-byte nops, which the
 * kernel would turn into calls: in the midst of a function that may write on what lies below the
 * stack pointer.
 *
 * A statement over several lines comes to its first line more than once: that is one run, as long
 * as no jump leads there. Nor is it a run of the last line's statements that others jump to the
 * function's end behind them.
 */
#include "lines/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arch/insn.h"
#include "util/array.h"
#include "util/search.h"

#define MAX_CYCLE_STEPS (1u << 22) /* in one function */

/* How good a site is; the lowest is best. */
enum rank {
	RANK_EMULATED,
	RANK_STEP,
	RANK_EXIT, /* also left by it: the exit's probe may be called first */
	RANK_EXIT_STEP,
	RANK_NONE,
};

struct build {
	const struct segments_input *in;
	struct segments *s;
	uint8_t *is_target; /* by byte of the pieces */
	uint32_t *seen;	    /* by key: number of the block that had it last */
	uint32_t block;
	uint64_t end; /* behind the last instruction looked at */
	bool runs_on; /* from there, into what lies behind */
	/* The segment under way. */
	struct segment *seg;
	enum rank rank;
	bool closed; /* its site cannot lie further on */
	bool slow;   /* something in it has taken long already */
	bool clears; /* nothing but the stack, so far */
};

/* The place of `vaddr` among the bytes of all pieces. */
static bool place_of(const struct code_piece *pieces, size_t cnt, uint64_t vaddr, size_t *at)
{
	size_t before = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (vaddr - pieces[i].vaddr < pieces[i].size) {
			*at = before + (vaddr - pieces[i].vaddr);
			return true;
		}
		before += pieces[i].size;
	}
	return false;
}

static void mark_target(struct build *b, uint64_t vaddr)
{
	size_t at;

	if (place_of(b->in->pieces, b->in->pieces_cnt, vaddr, &at))
		b->is_target[at] = 1;
}

static void mark_targets(struct build *b)
{
	const struct segments_input *in = b->in;

	for (size_t i = 0; i < in->flow.edges_cnt; i++)
		mark_target(b, in->flow.edges[i].to);
	for (size_t i = 0; i < in->labels_cnt; i++)
		mark_target(b, in->labels[i]);
	for (size_t i = 0; i < in->pieces_cnt; i++) {
		mark_target(b, in->pieces[i].vaddr);
		for (size_t k = 0; k < in->pieces[i].pads_cnt; k++)
			mark_target(b, in->pieces[i].pads[k]);
	}
}

static bool is_branch(const struct insn *in)
{
	return in->flow != FLOW_NEXT && in->flow != FLOW_CALL;
}

/* Whether the function may be left by it. */
static bool is_exit(const struct build *b, const struct insn *in, uint64_t vaddr)
{
	size_t at;

	switch (in->flow) {
	case FLOW_RET:
	case FLOW_JMP_TAIL:
	case FLOW_JMP_REG:
	case FLOW_JMP_TABLE:
		return true;
	case FLOW_JMP:
	case FLOW_JCC:
		return !place_of(b->in->pieces, b->in->pieces_cnt, vaddr + in->length + in->rel,
				 &at);
	default:
		return false;
	}
}

static enum rank rank_of(const struct build *b, const struct insn *in, uint64_t vaddr,
			 bool overlaps)
{
	bool exits = is_exit(b, in, vaddr);

	if (!in->probeable || in->site == SITE_NOP5 || overlaps)
		return RANK_NONE;
	if (in->site == SITE_STEP)
		return exits ? RANK_EXIT_STEP : RANK_STEP;
	return exits ? RANK_EXIT : RANK_EMULATED;
}

static void offer_site(struct build *b, const struct insn *in, uint64_t vaddr, bool overlaps)
{
	enum rank rank = rank_of(b, in, vaddr, overlaps);

	if (!b->closed && rank < b->rank && (!b->slow || b->rank == RANK_NONE)) {
		b->rank = rank;
		b->seg->site = vaddr;
		b->seg->class = in->site;
		b->seg->on_exit = rank >= RANK_EXIT;
	}
	b->slow |= in->dear;
	b->closed |= in->flow == FLOW_CALL;
}

static int begin_segment(struct build *b, uint64_t vaddr, size_t at, uint32_t key, bool new_block)
{
	struct segments *s = b->s;

	if (ARRAY_RESERVE(&s->items, s->cnt, &s->cap))
		return -ENOMEM;
	b->seg = &s->items[s->cnt++];
	*b->seg = (struct segment){
		.vaddr = vaddr,
		.key = key,
		.repeats = key && b->seen[key] == b->block,
		.begins_block = new_block,
		.idle = true,
	};
	b->rank = RANK_NONE;
	b->closed = b->slow = false;
	b->clears = true;
	s->starts[at] = s->cnt;
	return 0;
}

/* Adds one instruction; `at` is its place among the bytes of all pieces. */
static int add_insn(struct build *b, const struct insn *in, uint64_t vaddr, size_t at)
{
	bool overlaps = b->end > vaddr, falls = b->runs_on && b->end == vaddr;
	bool new_block = !b->seg || !falls || b->is_target[at];
	uint32_t key = b->in->keys[at];
	int err = 0;

	b->block += new_block;
	/* An instruction without a line (key 0) belongs to the line before it. */
	if (new_block || (key && key != b->seg->key))
		err = begin_segment(b, vaddr, at, key, new_block);
	if (err)
		return err;
	offer_site(b, in, vaddr, overlaps);
	b->seg->idle &=
		!key || in->site == SITE_NOP || in->site == SITE_NOP5 || in->flow == FLOW_JMP;
	b->clears &= in->flow == FLOW_RET || in->is_nop || in->site == SITE_NOP || in->fetches ||
		     in->stack == STACK_FRAME || in->down < 0;
	b->seg->ends = b->clears && in->flow == FLOW_RET;
	b->seg->calls |= in->flow == FLOW_CALL;
	b->seen[key] = b->block;
	b->seg->last = vaddr;
	b->end = vaddr + in->length;
	b->runs_on = !is_branch(in);
	b->seg->next = b->runs_on || in->flow == FLOW_JCC ? b->end : 0;
	return 0;
}

/* An instruction may lie in another, without the lock prefix: behind both, ways meet. */
static void mark_overlaps(struct build *b, const uint8_t *reached, const struct code_piece *piece,
			  size_t before)
{
	for (uint32_t i = 0; i < piece->size; i++) {
		uint8_t length = reached[i];

		if (!length || length == CODE_INSIDE || length < 2 || i + 1 >= piece->size ||
		    !reached[i + 1] || reached[i + 1] == CODE_INSIDE || i + length >= piece->size)
			continue;
		b->is_target[before + i + 1] = 1;
		b->is_target[before + i + length] = 1;
	}
}

static int cut(struct build *b)
{
	const struct segments_input *in = b->in;
	size_t before = 0;
	int err = 0;

	for (size_t p = 0; !err && p < in->pieces_cnt; p++) {
		const struct code_piece *piece = &in->pieces[p];
		const uint8_t *reached = in->flow.reached + before;

		mark_overlaps(b, reached, piece, before);
		b->end = 0;
		b->runs_on = false;
		for (uint32_t i = 0; !err && i < piece->size; i++) {
			struct insn insn;

			if (!reached[i] || reached[i] == CODE_INSIDE ||
			    !insn_decode(in->insn, piece->bytes + i, piece->size - i, &insn))
				continue;
			err = add_insn(b, &insn, piece->vaddr + i, before + i);
		}
		before += piece->size;
	}
	return err;
}

static int edge_order(const void *a, const void *b)
{
	const struct code_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int keep_edges(const struct segments_input *in, struct segments *s)
{
	s->edges = calloc(in->flow.edges_cnt + 1, sizeof(*s->edges));
	if (!s->edges)
		return -ENOMEM;
	s->edges_cnt = in->flow.edges_cnt;
	if (s->edges_cnt) {
		memcpy(s->edges, in->flow.edges, s->edges_cnt * sizeof(*s->edges));
		qsort(s->edges, s->edges_cnt, sizeof(*s->edges), edge_order);
	}
	return 0;
}

/* The segment that begins at `vaddr` + 1, or 0. */
static uint32_t segment_at(const struct segments *s, uint64_t vaddr)
{
	size_t at;

	return place_of(s->pieces, s->pieces_cnt, vaddr, &at) ? s->starts[at] : 0;
}

/* A walk over what is reached from the function's begin. */
struct walk {
	bool *seen; /* by segment */
	uint32_t *stack;
	size_t stack_cnt;
};

static void walk_to(void *ctx, uint32_t to)
{
	struct walk *w = ctx;

	if (!w->seen[to])
		w->stack[w->stack_cnt++] = to;
	w->seen[to] = true;
}

/* The end of a function is no run of a line that has other code, but for what exceptions clear up:
 * while landing pads are not known, control goes to none. */
static int mark_ends(const struct build *b, struct segments *s)
{
	struct walk w = {.seen = calloc(s->cnt + 1, sizeof(*w.seen)),
			 .stack = calloc(s->cnt + 1, sizeof(*w.stack))};
	bool *has_code = calloc((size_t)b->in->keys_cnt + 1, sizeof(*has_code));
	int err = w.seen && w.stack && has_code ? 0 : -ENOMEM;

	if (!err && s->cnt)
		walk_to(&w, 0);
	while (w.stack_cnt)
		segments__successors(s, w.stack[--w.stack_cnt], walk_to, &w);
	for (size_t i = 0; !err && i < s->cnt; i++)
		has_code[s->items[i].key] |= w.seen[i] && !s->items[i].ends && !s->items[i].idle;
	for (size_t i = 0; !err && i < s->cnt; i++)
		s->items[i].repeats |= s->items[i].ends && has_code[s->items[i].key];
	free(has_code);
	free(w.seen);
	free(w.stack);
	return err;
}

static int find_pads(struct segments *s)
{
	for (size_t i = 0; i < s->pieces_cnt; i++) {
		for (size_t k = 0; k < s->pieces[i].pads_cnt; k++) {
			uint32_t seg = segment_at(s, s->pieces[i].pads[k]);

			if (!seg)
				continue;
			if (ARRAY_RESERVE(&s->pads, s->pads_cnt, &s->pads_cap))
				return -ENOMEM;
			s->pads[s->pads_cnt++] = seg - 1;
			s->items[seg - 1].lands = true;
		}
	}
	return 0;
}

struct arc {
	struct segments *s;
	uint8_t *entered; /* by segment: something leads there */
	uint32_t from;
};

static void note_arc(void *ctx, uint32_t to)
{
	struct arc *arc = ctx;
	struct segment *items = arc->s->items;
	bool same = items[to].key == items[arc->from].key;

	arc->entered[to] = 1;
	if (!same || to <= arc->from || !items[arc->from].site)
		items[to].needless = false;
	/* Behind what is of no line its own may come. */
	if ((same || !items[to].key) && to <= arc->from)
		items[arc->from].needless = false;
}

static int find_needless(const struct build *b, struct segments *s)
{
	struct arc arc = {.s = s, .entered = calloc(s->cnt + 1, 1)};

	if (!arc.entered)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->cnt; i++)
		s->items[i].needless = s->items[i].key && !s->items[i].calls && !s->items[i].lands;
	for (arc.from = 0; arc.from < s->cnt; arc.from++)
		segments__successors(s, arc.from, note_arc, &arc);
	for (size_t i = 0; i < s->cnt; i++)
		s->items[i].needless &= arc.entered[i];
	/* Control may come to a label from anywhere. */
	for (size_t i = 0; i < b->in->labels_cnt; i++) {
		uint32_t seg = segment_at(s, b->in->labels[i]);

		if (seg)
			s->items[seg - 1].needless = false;
	}
	free(arc.entered);
	return 0;
}

/* A search for ways back to a segment, within its line. */
struct cycle {
	struct segments *s;
	uint32_t from;
	uint32_t *seen; /* by segment: the search that has been there, + 1 */
	uint32_t *stack;
	size_t stack_cnt;
	uint32_t steps;
};

/* Whether the line goes on behind other ones in the same block, which then counts as its own. */
static bool goes_on(struct cycle *c, uint32_t at)
{
	const struct segment *items = c->s->items;

	for (; at < c->s->cnt && !items[at].begins_block; at++) {
		c->steps++;
		if (items[at].key == items[c->from].key)
			return items[at].repeats;
	}
	return false;
}

static void follow_cycle(void *ctx, uint32_t to)
{
	struct cycle *c = ctx;
	const struct segment *items = c->s->items;

	c->steps++;
	if (to == c->from)
		c->s->items[to].cycles = true;
	if (c->seen[to] == c->from + 1 ||
	    (items[to].key && items[to].key != items[c->from].key && !goes_on(c, to)))
		return;
	c->seen[to] = c->from + 1;
	c->stack[c->stack_cnt++] = to;
}

static int find_cycles(struct segments *s)
{
	struct cycle c = {.s = s,
			  .seen = calloc(s->cnt + 1, sizeof(*c.seen)),
			  .stack = calloc(s->cnt + 1, sizeof(*c.stack))};
	int err = c.seen && c.stack ? 0 : -ENOMEM;

	for (c.from = 0; !err && c.from < s->cnt; c.from++) {
		if (!s->items[c.from].key)
			continue;
		/* Too intricate to tell. */
		if (c.steps > MAX_CYCLE_STEPS)
			s->items[c.from].cycles = true;
		c.stack_cnt = 0;
		segments__successors(s, c.from, follow_cycle, &c);
		while (c.stack_cnt && !s->items[c.from].cycles)
			segments__successors(s, c.stack[--c.stack_cnt], follow_cycle, &c);
	}
	free(c.seen);
	free(c.stack);
	return err;
}

int segments__build(const struct segments_input *in, struct segments *s)
{
	struct build b = {.in = in, .s = s, .block = 1};
	size_t size = 0;
	int err;

	for (size_t i = 0; i < in->pieces_cnt; i++)
		size += in->pieces[i].size;
	*s = (struct segments){.pieces = in->pieces, .pieces_cnt = in->pieces_cnt};
	s->starts = calloc(size + 1, sizeof(*s->starts));
	b.is_target = calloc(size + 1, 1);
	b.seen = calloc((size_t)in->keys_cnt + 1, sizeof(*b.seen));
	err = s->starts && b.is_target && b.seen ? keep_edges(in, s) : -ENOMEM;
	if (!err) {
		mark_targets(&b);
		err = cut(&b);
	}
	if (!err)
		err = mark_ends(&b, s);
	if (!err)
		err = find_pads(s);
	if (!err)
		err = find_needless(&b, s);
	if (!err)
		err = find_cycles(s);
	free(b.is_target);
	free(b.seen);
	return err;
}

void segments__clear(struct segments *s)
{
	free(s->items);
	free(s->edges);
	free(s->pads);
	free(s->starts);
	*s = (struct segments){0};
}

void segments__successors(const struct segments *s, uint32_t i, void (*fn)(void *ctx, uint32_t to),
			  void *ctx)
{
	const struct segment *seg = &s->items[i];
	uint32_t to = seg->next ? segment_at(s, seg->next) : 0;

	if (to)
		fn(ctx, to - 1);
	for (size_t k = LOWER_BOUND(s->edges_cnt, e, s->edges[e].from < seg->last);
	     k < s->edges_cnt && s->edges[k].from == seg->last; k++) {
		to = segment_at(s, s->edges[k].to);
		if (to)
			fn(ctx, to - 1);
	}
	for (size_t k = 0; seg->calls && k < s->pads_cnt; k++)
		fn(ctx, s->pads[k]);
}
