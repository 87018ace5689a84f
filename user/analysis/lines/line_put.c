// SPDX-License-Identifier: GPL-2.0-or-later
#include "lines/line_put.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/line_table.h"
#include "elf/elf_image.h"
#include "lines/line_judge.h"
#include "lines/line_keys.h"
#include "lines/segments.h"
#include "plan/plan_lines.h"
#include "symbol/demangle.h"
#include "util/array.h"
#include "util/log.h"

#define MAX_SITES (1u << 20)

static int order(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* The one copy of such a string; takes the string. NULL: no memory. */
static const char *intern(struct plan_lines *l, char *text)
{
	char **node = text ? tsearch(text, &l->strings, order) : NULL;

	if (!node || *node != text)
		free(text);
	return node ? *node : NULL;
}

/* Puts the inlined call, and those around it, into the plan. *out is its index + 1. */
static int put_inline(struct line_put *p, uint32_t number, uint32_t *out)
{
	const struct line_inline *call = &p->keys->inlines.items[number - 1];
	struct plan_inline *in;
	uint32_t parent = 0;
	char *name;
	int err;

	*out = p->inlines[number - 1];
	if (*out)
		return 0;
	/* Calls around it have lower numbers. */
	err = call->parent ? put_inline(p, call->parent, &parent) : 0;
	if (err)
		return err;
	if (ARRAY_RESERVE(&p->out->inlines, p->out->inlines_cnt, &p->out->inlines_cap))
		return -ENOMEM;
	name = demangle(call->name);
	in = &p->out->inlines[p->out->inlines_cnt];
	*in = (struct plan_inline){
		.name = intern(p->out, name ? name : strdup(call->name)),
		.file = call->file ? intern(p->out, strdup(call->file)) : NULL,
		.line = call->file ? call->line : 0,
		.parent = parent,
	};
	if (!in->name || (call->file && !in->file))
		return -ENOMEM;
	*out = p->inlines[number - 1] = ++p->out->inlines_cnt;
	return 0;
}

/* Puts the line of a key into the plan. */
static int put_line(struct line_put *p, uint32_t key)
{
	const struct line_key *k = &p->keys->items[key - 1];
	struct line_choice *c = &p->judge->choices[key];
	uint32_t inlined = 0;
	const char *file;
	int err;

	if (c->line)
		return 0;
	err = k->inlined ? put_inline(p, k->inlined, &inlined) : 0;
	if (err)
		return err;
	file = intern(p->out, strdup(k->file));
	if (!file || ARRAY_RESERVE(&p->out->lines, p->out->lines_cnt, &p->out->lines_cap))
		return -ENOMEM;
	p->out->lines[p->out->lines_cnt++] = (struct plan_line){
		.file = file,
		.line = k->line,
		.function = p->function,
		.inlined = inlined,
		.reason = c->reason,
		.approximate = p->approximate,
		.aside = p->aside,
	};
	c->line = p->out->lines_cnt;
	return 0;
}

/* Whether the line that the function is declared on has code of its own. */
static bool has_declaration(const struct line_put *p)
{
	for (size_t i = 0; i < p->keys->cnt; i++) {
		const struct line_key *k = &p->keys->items[i];

		if (k->line == p->declared_line && !k->inlined &&
		    !strcmp(k->file, p->declared_file))
			return true;
	}
	return false;
}

/* Puts that line, which has no code of its own; the entry, which counts for it, is in doubt with
 * the first statement. */
static int put_declaration(struct line_put *p)
{
	const char *file, *reason;

	p->declared = 0;
	if (!p->declared_file || !p->judge->entry || !p->segs->cnt || has_declaration(p))
		return 0;
	reason = p->judge->choices[p->segs->items[0].key].reason;
	file = intern(p->out, strdup(p->declared_file));
	if (!file || ARRAY_RESERVE(&p->out->lines, p->out->lines_cnt, &p->out->lines_cap))
		return -ENOMEM;
	p->out->lines[p->out->lines_cnt++] = (struct plan_line){
		.file = file,
		.line = p->declared_line,
		.function = p->function,
		.reason = reason,
		.approximate = p->approximate,
	};
	p->declared = reason ? 0 : p->out->lines_cnt;
	return 0;
}

static int put_site(struct line_put *p, uint32_t seg)
{
	const struct segment *s = &p->segs->items[seg];
	bool wanted = line_judge__counts(p->judge, seg), at_entry = p->judge->entry == seg + 1;
	uint32_t declared = at_entry ? p->declared : 0;
	struct plan_line_site site = {
		.function = p->function,
		.line = wanted ? p->judge->choices[s->key].line : declared,
		.declared = wanted ? declared : 0,
		.site = s->class,
		.repeats = s->repeats && !at_entry,
		.cycles = s->cycles,
		.lands = s->lands,
		.at_entry = at_entry,
		.on_exit = s->on_exit && !at_entry,
	};

	/* A call that begins in a line that is not wanted is in no line yet. */
	if (line_judge__passes(p->judge, seg) || (s->needless && !at_entry) ||
	    (!site.line && (at_entry || !p->judge->fences[seg])) ||
	    !elf_image__exec_offset(p->img, s->site, 1, &site.offset))
		return 0;
	if (p->out->sites_cnt == MAX_SITES) {
		log_error("more than %u places are to be probed for lines; ask for fewer (--lines)",
			  MAX_SITES);
		return -E2BIG;
	}
	if (ARRAY_RESERVE(&p->out->sites, p->out->sites_cnt, &p->out->sites_cap))
		return -ENOMEM;
	p->out->sites[p->out->sites_cnt++] = site;
	return 0;
}

const char *line_put__string(struct line_put *p, const char *text)
{
	return intern(p->out, strdup(text));
}

int line_put__all(struct line_put *p)
{
	int err = 0;

	if (ARRAY_RESERVE_MORE(&p->inlines, 1, p->keys->inlines.cnt, &p->inlines_cap))
		return -ENOMEM;
	memset(p->inlines, 0, p->keys->inlines.cnt * sizeof(*p->inlines));
	for (uint32_t i = 1; !err && i <= p->keys->cnt; i++) {
		if (p->judge->choices[i].wanted)
			err = put_line(p, i);
	}
	if (!err)
		err = put_declaration(p);
	for (uint32_t i = 0; !err && i < p->segs->cnt; i++)
		err = put_site(p, i);
	return err;
}

void line_put__clear(struct line_put *p)
{
	free(p->inlines);
	p->inlines = NULL;
	p->inlines_cap = 0;
}
