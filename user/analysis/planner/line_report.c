// SPDX-License-Identifier: GPL-2.0-or-later
#include "planner/line_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/line_table.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "planner/unmatched.h"
#include "select/line_spec.h"
#include "symbol/demangle.h"
#include "util/cxx_name.h"
#include "target/target.h"
#include "util/log.h"
#include "util/text.h"

#define CALLS_SHOWN 3

/* A search in line tables for a file of which no line was found. */
struct file_search {
	const struct line_spec *spec;
	bool exists;
	uint32_t below, above; /* the nearest lines that have code; 0: none */
};

static int look_at_row(void *ctx, const struct line_row *row, uint64_t end)
{
	struct file_search *s = ctx;

	if (!line_spec__names_file(s->spec, row->file))
		return 0;
	s->exists = true;
	if (row->line < s->spec->from && row->line > s->below)
		s->below = row->line;
	if (row->line > s->spec->to && (!s->above || row->line < s->above))
		s->above = row->line;
	return 0;
}

/* A search for places where a function has been inlined, and for lines of its own. */
struct inline_search {
	const struct line_spec *spec;
	struct line_table *table;
	char where[512];
	size_t len, shown;
	bool more;
	const char *file; /* of its code */
	uint32_t from, to;
};

static bool matches_name(void *ctx, const char *name)
{
	const struct inline_search *s = ctx;

	return *name && filter_pattern__matches_name(&s->spec->pattern, name);
}

/* Takes note of the lines of inlined code: those of the first file in it. */
static int note_lines(struct inline_search *s, uint64_t begin, uint64_t end)
{
	struct line_row *rows = NULL;
	size_t cnt = 0, cap = 0;
	int err = line_table__rows(s->table, begin, end, &rows, &cnt, &cap);

	for (size_t i = 0; !err && i < cnt; i++) {
		if (!rows[i].file)
			continue;
		if (!s->file)
			s->file = rows[i].file;
		if (strcmp(s->file, rows[i].file))
			continue;
		if (!s->from || rows[i].line < s->from)
			s->from = rows[i].line;
		if (rows[i].line > s->to)
			s->to = rows[i].line;
	}
	free(rows);
	return err;
}

static int note_inlined(void *ctx, uint64_t begin, uint64_t end, const char *function,
			const struct line_inline *call)
{
	struct inline_search *s = ctx;
	char *name;
	int len;

	if (s->shown == CALLS_SHOWN) {
		s->more = true;
		return note_lines(s, begin, end);
	}
	name = demangle(function);
	len = snprintf(s->where + s->len, sizeof(s->where) - s->len, "%s%.60s (%.60s:%u)",
		       s->shown ? ", " : "", name ? cxx_name__cut_parameters(name) : function,
		       call->file ? path_base(call->file) : "?", call->line);
	free(name);
	s->len += (size_t)len < sizeof(s->where) - s->len ? (size_t)len : 0;
	s->shown++;
	return note_lines(s, begin, end);
}

static const char *why_none(int err)
{
	switch (err) {
	case -ENOTSUP:
		return "has line tables that are kept in a way that is not read, or too large";
	default:
		return "has no line tables: build it with -g, or install its debug symbols";
	}
}

/* The object that is most likely meant. */
static uint32_t meant_object(const struct plan *p, const struct target *t,
			     const struct line_spec *spec)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < p->objects_cnt; i++) {
		const struct filter_object fobj =
			plan_object__names(&p->objects[i], &t->objects[i]);

		if (spec->pattern.object ? filter_pattern__names(&spec->pattern, &fobj)
					 : t->objects[i].is_main)
			at = i;
	}
	return at;
}

static void report_no_table(const struct plan *p, const struct target *t, enum log_level level,
			    const struct line_spec *spec)
{
	uint32_t at = meant_object(p, t, spec);

	log_at(level, "--lines '%s': %s %s", spec->text, path_base(t->objects[at].path),
	       why_none(p->objects[at].lines.err));
}

static int report_file(const struct plan *p, const struct target *t, enum log_level level,
		       const struct line_spec *spec)
{
	struct file_search s = {.spec = spec};
	bool any = false;
	uint32_t nearest;
	int err = 0;

	for (size_t i = 0; !err && i < p->objects_cnt; i++) {
		if (!p->objects[i].lines.table)
			continue;
		any = true;
		err = line_table__each(p->objects[i].lines.table, look_at_row, &s);
	}
	nearest = s.above && (!s.below || s.above - spec->to <= spec->from - s.below) ? s.above
										      : s.below;
	/* A library's line table is no sign that the program has one. */
	any &= s.exists || p->objects[meant_object(p, t, spec)].lines.table != NULL;
	if (!any)
		report_no_table(p, t, level, spec);
	else if (!s.exists)
		log_at(level,
		       "--lines '%s': no code comes from a file of that name, as the line tables "
		       "have it",
		       spec->text);
	else
		log_at(level,
		       "--lines '%s': no code comes from there (optimised out?); the "
		       "nearest line that has some is %u",
		       spec->text, nearest);
	return err;
}

static int report_function(const struct plan *p, const struct target *t, enum log_level level,
			   const struct line_spec *spec)
{
	struct inline_search s = {.spec = spec};
	int err = 0;

	if (spec->pattern.matched) {
		report_no_table(p, t, level, spec);
		return 0;
	}
	for (size_t i = 0; !err && !s.shown && i < p->objects_cnt; i++) {
		const struct filter_object fobj =
			plan_object__names(&p->objects[i], &t->objects[i]);

		s.table = p->objects[i].lines.table;
		if (s.table && (spec->pattern.object ? filter_pattern__names(&spec->pattern, &fobj)
						     : t->objects[i].is_main))
			err = line_table__find_inlined(s.table, matches_name, note_inlined, &s);
	}
	if (s.shown && s.file)
		log_at(level,
		       "--lines '%s': is inlined wherever it is called: into %s%s; --lines "
		       "%s:%u-%u reaches it there",
		       spec->text, s.where, s.more ? " and others" : "", path_base(s.file), s.from,
		       s.to);
	else
		unmatched__lines(p, spec, level);
	return err;
}

/* Whether there is something to trace without what is missing. */
static bool is_rest(const struct plan *p)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (!p->functions[i].has_lines)
			return true;
	}
	return p->lines->lines_cnt > 0;
}

int line_report__unfound(const struct plan *p, const struct target *t, struct line_specs *specs)
{
	enum log_level level = is_rest(p) ? LOG_WARN : LOG_ERROR;
	int err = 0;

	for (size_t i = 0; !err && i < specs->cnt; i++) {
		struct line_spec *spec = &specs->items[i];

		if (spec->found || spec->reported)
			continue;
		spec->reported = true;
		err = spec->file ? report_file(p, t, level, spec)
				 : report_function(p, t, level, spec);
	}
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct line_table *table = p->objects[i].lines.table;

		if (table && line_table__is_split(table))
			log_info("%s: inlined calls are described in .dwo files, which are not "
				 "read: their lines count as the function's own",
				 path_base(t->objects[i].path));
	}
	return err;
}
