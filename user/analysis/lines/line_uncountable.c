// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A count that is wrong is worse than none. Three kinds of lines have code that runs at other times
 * than they do, as unoptimised programs show when they are compared with gcov:
 *
 * - a label: it has a nop at most, for those who come from above, and jumps go past it;
 * - `for (;;)`: its code is the jump at the end, which a `continue` may not pass;
 * - the line on which a function begins, if a loop begins directly behind: to gcov it is part of
 *   that loop's first block.
 */
#include "lines/line_uncountable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "dwarf/function_traits.h"
#include "lines/line_keys.h"
#include "lines/segments.h"

static const char label[] = "has no code but for those who come from the line above";
static const char loop_end[] = "has no code but the jump at the end of its loop";
static const char over_lines[] = "is part of a statement over several lines";
static const char ways_meet[] = "objects end in it on several ways out of their scope";
static const char catches[] = "exceptions are told apart in it";
static const char ends_objects[] = "objects may end in it, for which there is no code";
static const char begins_loop[] = "the function's first line and its first loop are one";

enum code_kind {
	CODE_WORKS = 1,
	CODE_PASSES = 2, /* nops, a jump */
	CODE_ENDS = 4,	 /* a jump up to a line further down */
};

struct jump {
	const struct segments *s;
	const struct line_keys *keys;
	uint32_t from;
	bool ends_loop;
};

static void note_jump(void *ctx, uint32_t to)
{
	struct jump *j = ctx;
	uint32_t key = j->s->items[to].key;

	j->ends_loop |=
		to < j->from && key &&
		j->keys->items[key - 1].line > j->keys->items[j->s->items[j->from].key - 1].line;
}

static enum code_kind code_of(const struct segments *s, const struct line_keys *keys, uint32_t seg)
{
	struct jump j = {s, keys, seg, false};

	if (!s->items[seg].idle)
		return CODE_WORKS;
	segments__successors(s, seg, note_jump, &j);
	return j.ends_loop ? CODE_ENDS : CODE_PASSES;
}

static bool has_label(const struct line_keys *keys, uint32_t line)
{
	for (size_t i = 0; i < keys->inlines.labels_cnt; i++) {
		if (keys->inlines.labels[i] == line)
			return true;
	}
	return false;
}

struct search {
	uint32_t from, to;
	bool found;
};

static void note_arrival(void *ctx, uint32_t to)
{
	struct search *w = ctx;

	w->found |= to == w->to && w->from >= to;
}

/* Whether some jump leads up to that segment. */
static bool is_loop(const struct segments *s, uint32_t seg)
{
	struct search w = {.from = seg, .to = seg};

	for (; w.from < s->cnt && !w.found; w.from++)
		segments__successors(s, w.from, note_arrival, &w);
	return w.found;
}

static void note_target(void *ctx, uint32_t to)
{
	*(uint32_t *)ctx = to;
}

/* Where the function's first statement is, behind what its first line does: a jump may lead there.
 */
static uint32_t first_statement(const struct segments *s)
{
	uint32_t first = s->items[0].key, i = 0, to = 0;

	while (i < s->cnt && (!s->items[i].key || s->items[i].key == first) &&
	       (!i || !s->items[i].begins_block))
		i++;
	if (i == s->cnt || s->items[i].begins_block || !s->items[i].idle || s->items[i].next)
		return i;
	segments__successors(s, i, note_target, &to);
	return to;
}

static void look_at_beginning(const struct segments *s, const char **reasons)
{
	uint32_t first = s->cnt ? s->items[0].key : 0, i = first ? first_statement(s) : 0;

	if (first && i < s->cnt && s->items[i].begins_block && s->items[i].key &&
	    s->items[i].key != first && is_loop(s, i))
		reasons[first] = begins_loop;
}

/* Segments that control comes to without an exception. */
struct statements {
	const struct segments *s;
	const struct line_keys *keys;
	const char **reasons;
	uint8_t *seen;
	uint32_t *stack;
	size_t stack_cnt;
	uint32_t from;
	uint32_t target;
	bool back;
};

static void note_seen(void *ctx, uint32_t to)
{
	struct statements *w = ctx;

	if (!w->seen[to])
		w->stack[w->stack_cnt++] = to;
	w->seen[to] = 1;
}

static void note_back(void *ctx, uint32_t to)
{
	struct statements *w = ctx;

	if (to < w->from) {
		w->back = true;
		w->target = to;
	}
}

/* Whether what is at segment `at`, of lines above `below`, is the end of a loop behind its body:
 * the condition may go over several lines, and is there once. */
static bool ends_loop(struct statements *w, uint32_t at, uint32_t below)
{
	w->from = at;
	w->back = false;
	for (; at < w->s->cnt && !w->back; at++) {
		uint32_t key = w->s->items[at].key;

		if (key && w->keys->items[key - 1].line >= below)
			break;
		segments__plain_successors(w->s, at, note_back, w);
	}
	for (uint32_t i = w->target; w->back && i < w->from; i++)
		w->back = w->s->items[i].key != w->s->items[w->from].key;
	return w->back;
}

struct ways {
	uint32_t cnt, to;
};

static void note_way(void *ctx, uint32_t to)
{
	struct ways *w = ctx;

	w->cnt++;
	w->to = to;
}

static bool is_end(const struct segment *s)
{
	return s->returns && s->epilogue;
}

/* A statement goes on at segment `to`, which is further up in the source than `from`. Where there
 * are conditions in it, either line's blocks are not those of the code. Where it ends the function,
 * what is done with the result is of the lower line, if anything. */
static void doubt(struct statements *w, uint32_t from, uint32_t to)
{
	const struct segment *items = w->s->items;
	struct ways ways = {0};

	segments__plain_successors(w->s, to, note_way, &ways);
	if (ways.cnt > 1 || items[to].begins_block)
		w->reasons[items[to].key] = w->reasons[items[from].key] = over_lines;
	else if (ways.cnt == 1 && is_end(&items[ways.to]))
		w->reasons[items[from].key] = over_lines;
}

static void look_at_way(void *ctx, uint32_t to)
{
	struct statements *w = ctx;
	const struct segment *a = &w->s->items[w->from], *b = &w->s->items[to];
	const struct line_key *x, *y;
	uint32_t from = w->from;

	if (to <= from || !a->key || !b->key || b->idle || b->epilogue)
		return;
	x = &w->keys->items[a->key - 1];
	y = &w->keys->items[b->key - 1];
	if (x->file != y->file || x->inlined != y->inlined || y->line >= x->line)
		return;
	if (!ends_loop(w, to, x->line))
		doubt(w, from, to);
	w->from = from;
}

/* Where a call's result is the function's, objects may end between that and the return, for which
 * there is no code unless their class has a destructor: then gcov takes the return for one more run
 * of the line. */
static void look_at_result(struct statements *w, uint32_t i, bool has_objects)
{
	const struct segment *s = &w->s->items[i];
	struct ways ways = {0};

	if (!s->key || !s->ends_in_cut || !(has_objects || s->cuts_again))
		return;
	segments__plain_successors(w->s, i, note_way, &ways);
	if (ways.cnt == 1 && is_end(&w->s->items[ways.to]))
		w->reasons[s->key] = ends_objects;
}

/* Where an exception is told from others, which is of the handler's line, there are blocks between
 * that are of none. */
static void look_at_landing(struct statements *w, uint32_t i)
{
	uint32_t key = w->s->items[i].key;

	for (; key && i < w->s->cnt && w->s->items[i].key == key; i++) {
		struct ways ways = {0};

		segments__plain_successors(w->s, i, note_way, &ways);
		if (ways.cnt > 1)
			w->reasons[key] = catches;
	}
}

static int look_at_statements(const struct segments *s, const struct line_keys *keys,
			      const struct function_traits *traits, const char **reasons)
{
	struct statements w = {.s = s, .keys = keys, .reasons = reasons};

	w.seen = calloc(s->cnt + 1, sizeof(*w.seen));
	w.stack = calloc(s->cnt + 1, sizeof(*w.stack));
	if (w.seen && w.stack && s->cnt)
		note_seen(&w, 0);
	while (w.stack_cnt)
		segments__plain_successors(s, w.stack[--w.stack_cnt], note_seen, &w);
	for (uint32_t i = 0; w.seen && w.stack && i < s->cnt; i++) {
		w.from = i;
		if (w.seen[i])
			segments__plain_successors(s, i, look_at_way, &w);
		if (s->items[i].selects && s->items[i].key)
			reasons[s->items[i].key] = ways_meet;
		if (s->items[i].lands)
			look_at_landing(&w, i);
		if (w.seen[i] && traits->gives_result)
			look_at_result(&w, i, traits->has_objects);
	}
	free(w.seen);
	free(w.stack);
	return w.seen && w.stack ? 0 : -ENOMEM;
}

int line_uncountable__find(const struct segments *s, const struct line_keys *keys,
			   const struct function_traits *traits, const char **reasons)
{
	uint8_t *codes = calloc(keys->cnt + 1, 1);

	if (!codes)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->cnt; i++) {
		if (s->items[i].key)
			codes[s->items[i].key] |= code_of(s, keys, i);
	}
	for (uint32_t key = 1; key <= keys->cnt; key++) {
		if (codes[key] == CODE_PASSES && has_label(keys, keys->items[key - 1].line))
			reasons[key] = label;
		else if (codes[key] == CODE_ENDS)
			reasons[key] = loop_end;
	}
	look_at_beginning(s, reasons);
	free(codes);
	/* Optimized code is not in the order of statements. */
	return traits->is_cxx && !traits->optimized ? look_at_statements(s, keys, traits, reasons)
						    : 0;
}
