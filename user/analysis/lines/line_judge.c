// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line is counted only if each of its segments is seen; else its count would be too low, so it
 * gets a reason instead. A segment that cannot be probed does more: to whoever counts, the line
 * before goes on in it. That costs this line time, which is an instruction's; but if control may
 * come back to it from there, a run is missed, so it gets a reason, too.
 */
#include "lines/line_judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lines/line_uncountable.h"
#include "lines/line_keys.h"
#include "lines/segments.h"
#include "plan/plan.h"
#include "util/array.h"

#define MAX_STEPS (1u << 24) /* from segment to segment, in one function */

static const char too_large[] = "its function is too large";
static const char no_site[] = "some of its code cannot be probed";
static const char before_entry[] = "runs before the place where its function is probed";
static const char not_reached[] = "no way is seen to lead to its code";
static const char comes_back[] = "goes on behind code that cannot be probed";

int line_judge__begin(struct line_judge *j, const struct line_keys *keys)
{
	j->keys = keys;
	if (ARRAY_RESERVE_MORE(&j->choices, 1, keys->cnt, &j->choices_cap))
		return -ENOMEM;
	memset(j->choices, 0, (keys->cnt + 1) * sizeof(*j->choices));
	return 0;
}

void line_judge__refuse(struct line_judge *j, const char *reason)
{
	for (size_t i = 1; i <= j->keys->cnt; i++) {
		if (j->choices[i].wanted)
			j->choices[i].reason = reason;
	}
}

bool line_judge__counts(const struct line_judge *j, uint32_t seg)
{
	const struct line_choice *c = &j->choices[j->segs->items[seg].key];

	return c->wanted && !c->reason;
}

/* A Go function whose stack is too small restarts, and is not counted as called before: what
 * runs then is none of its lines'. */
static void hide_beginnings(struct line_judge *j, const struct line_function *in)
{
	struct segment *segs = j->segs->items;
	uint64_t from = 0;
	size_t begin = 0;

	if (!in->f->entry.restarts)
		return;
	/* The branch to the function's begin is one edge only: else `restarts` would not be set. */
	for (size_t k = 0; k < j->segs->edges_cnt; k++) {
		if (j->segs->edges[k].to == in->vaddr)
			from = j->segs->edges[k].from;
	}
	for (size_t i = 0; from && i < j->segs->cnt; i++) {
		begin = segs[i].begins_block ? i : begin;
		if (segs[i].last != from)
			continue;
		for (size_t n = begin; n <= i; n++)
			segs[n].key = 0;
	}
}

/* Lets the function's entry stand for the line that it lies in. */
static void choose_entry(struct line_judge *j, const struct line_function *in)
{
	uint64_t at = in->vaddr + in->f->entry.offset;
	const struct segment *segs = j->segs->items;
	uint32_t last = 0;

	j->entry = 0;
	for (uint32_t i = 0; i < j->segs->cnt && segs[i].vaddr <= at; i++) {
		if (i && segs[i].begins_block)
			break;
		if (segs[i].key)
			last = i + 1;
	}
	if (!last)
		return;
	/* Another line before the entry site would miss runs; the same line, if it goes on, does
	 * not. */
	for (uint32_t i = 0; i + 1 < last; i++) {
		struct line_choice *c = &j->choices[segs[i].key];

		if (segs[i].key && segs[i].key != segs[last - 1].key)
			c->reason = c->reason ?: before_entry;
	}
	j->entry = last;
	j->segs->items[last - 1].site = at;
	j->segs->items[last - 1].class = in->f->entry.site;
	/* Each call passes a branch that counts when it is not taken, and only once; but if control
	 * comes back to where the function begins, its entry is no entry any more. */
	if (!in->loops_to_entry || in->f->entry.restarts)
		return;
	j->segs->items[last - 1].site = 0;
	for (size_t i = 0; i < j->segs->cnt; i++)
		j->segs->items[i].needless = false;
}

bool line_judge__passes(const struct line_judge *j, uint32_t seg)
{
	const struct segment *s = &j->segs->items[seg];

	return !s->key || !s->site || (j->entry && seg + 1 < j->entry);
}

struct walk {
	struct line_judge *j;
	uint32_t from; /* segment */
	bool behind;   /* something was passed that is of a line */
	bool found;    /* a way back */
};

static void walk_to(void *ctx, uint32_t to)
{
	struct walk *w = ctx;
	struct line_judge *j = w->j;

	j->steps++;
	if (j->stamps[to] == w->from + 1 && j->behind[to] >= w->behind)
		return;
	j->stamps[to] = w->from + 1;
	j->behind[to] = w->behind;
	if (line_judge__passes(j, to)) {
		j->stack[j->stack_cnt++] = to;
		return;
	}
	if (!line_judge__counts(j, to))
		j->fences[to] = 1;
	else if (w->behind && j->segs->items[to].key == j->segs->items[w->from].key)
		w->found = true;
}

/* Looks at all that may come directly behind a segment. Each is put on the stack twice at most. */
static bool walk_from(struct line_judge *j, uint32_t seg)
{
	struct walk w = {.j = j, .from = seg};

	j->stack_cnt = 0;
	segments__successors(j->segs, seg, walk_to, &w);
	while (j->stack_cnt && j->steps < MAX_STEPS) {
		uint32_t at = j->stack[--j->stack_cnt];

		w.behind = j->behind[at] || j->segs->items[at].key;
		segments__successors(j->segs, at, walk_to, &w);
	}
	return w.found;
}

/* Finds the fences. Returns whether none of the lines had to be given a reason for what lies
 * between its segments: then it is a fence itself, perhaps. */
static bool look_behind(struct line_judge *j)
{
	bool done = true;

	memset(j->fences, 0, j->segs->cnt);
	memset(j->stamps, 0, j->segs->cnt * sizeof(*j->stamps));
	for (uint32_t i = 0; i < j->segs->cnt && j->steps < MAX_STEPS; i++) {
		if (line_judge__passes(j, i) || !line_judge__counts(j, i) || !walk_from(j, i))
			continue;
		j->choices[j->segs->items[i].key].reason = comes_back;
		done = false;
	}
	return done;
}

static int reserve(struct line_judge *j)
{
	size_t cnt = j->segs->cnt + 1;

	return ARRAY_RESERVE_MORE(&j->doubts, 1, j->keys->cnt, &j->doubts_cap) ||
			       ARRAY_RESERVE_MORE(&j->fences, 0, cnt, &j->segs_cap[0]) ||
			       ARRAY_RESERVE_MORE(&j->stamps, 0, cnt, &j->segs_cap[1]) ||
			       ARRAY_RESERVE_MORE(&j->behind, 0, cnt, &j->segs_cap[2]) ||
			       ARRAY_RESERVE_MORE(&j->stack, 0, 2 * cnt, &j->segs_cap[3])
		       ? -ENOMEM
		       : 0;
}

static void judge(struct line_judge *j, const struct line_function *in)
{
	for (size_t i = 1; i <= j->keys->cnt; i++)
		j->choices[i].reason = j->keys->items[i - 1].reached ? j->doubts[i] : not_reached;
	hide_beginnings(j, in);
	choose_entry(j, in);
	for (uint32_t i = 0; i < j->segs->cnt; i++) {
		const struct segment *s = &j->segs->items[i];
		struct line_choice *c = &j->choices[s->key];

		/* One that is no new run has nothing to be counted. */
		if (s->key && !s->site && !s->repeats)
			c->reason = c->reason ?: no_site;
	}
	j->steps = 0;
	while (!look_behind(j) && j->steps < MAX_STEPS)
		;
	if (j->steps >= MAX_STEPS)
		line_judge__refuse(j, too_large);
}

int line_judge__decide(struct line_judge *j, const struct line_function *in)
{
	int err;

	j->segs = in->segs;
	err = reserve(j);
	if (err)
		return err;
	memset(j->doubts, 0, (j->keys->cnt + 1) * sizeof(*j->doubts));
	err = line_uncountable__find(j->segs, j->keys, j->doubts);
	if (!err)
		judge(j, in);
	return err;
}

void line_judge__clear(struct line_judge *j)
{
	free(j->choices);
	free(j->fences);
	free(j->stamps);
	free(j->behind);
	free(j->stack);
	free(j->doubts);
	*j = (struct line_judge){0};
}
