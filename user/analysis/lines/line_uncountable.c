// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A count that is wrong is worse than none. Two kinds of lines have code that runs at other times
 * than they do:
 *
 * - a label: it has a nop at most, for those who come from above, and jumps go past it;
 * - `for (;;)`: its code is the jump at the end, which a `continue` may not pass.
 */
#include "lines/line_uncountable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lines/line_keys.h"
#include "lines/segments.h"

static const char label[] = "has no code but for those who come from the line above";
static const char loop_end[] = "has no code but the jump at the end of its loop";

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

int line_uncountable__find(const struct segments *s, const struct line_keys *keys,
			   const char **reasons)
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
	free(codes);
	return 0;
}
