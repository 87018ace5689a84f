// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of source in a page's data: blocks of lines with their figures, as in -f lines, and of each
 * file the text around these lines, once. Only of files that may be read for whoever is to see the
 * page: see security/source_text.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/lines.h"
#include "calls/profile.h"
#include "security/source_text.h"
#include "sink/page/page.h"
#include "sink/sources.h"
#include "util/json.h"
#include "util/search.h"

#define LINES_MAX   50000	 /* that are listed, of the dearest functions */
#define SOURCE_MAX  (512u << 10) /* bytes of text */
#define SOURCE_LINE 400		 /* bytes of one line */
#define CONTEXT	    4		 /* lines without figures shown between others: lines.js */
#define HEAD	    3		 /* lines without figures shown before others */

struct writer {
	struct json *j;
	const struct profile *p;
	const uint32_t *functions; /* numbers + 1 */
	struct line_sums sums;
	struct line_blocks blocks;
	struct sources sources;
	const char **files; /* in order */
	size_t files_cnt;
	size_t source_left;
};

/* Lines [from, until) of the text, as [number of the first, [text...]]. */
static void write_segment(struct writer *w, const struct source_text *text, uint32_t from,
			  uint32_t until)
{
	char line[SOURCE_LINE];

	json_open(w->j, '[');
	json_u64(w->j, from);
	json_open(w->j, '[');
	for (; from < until && from <= source_text__lines(text); from++) {
		size_t len = strlen(source_text__line(text, from, line, sizeof(line))) + 3;

		if (len > w->source_left)
			break;
		w->source_left -= len;
		json_string(w->j, line);
	}
	json_close(w->j, ']');
	json_close(w->j, ']');
}

/* Writes the source text around the lines of a file: sums [first, end). */
static void write_text(struct writer *w, const struct source_text *text, size_t first, size_t end)
{
	uint32_t from = 0, until = 0;

	for (size_t i = first; i < end; i++) {
		uint32_t line = w->sums.items[i].line;

		if (until && line - until <= CONTEXT) {
			until = line + 1;
			continue;
		}
		if (until)
			write_segment(w, text, from, until);
		from = line > HEAD && line - HEAD >= until ? line - HEAD : until ? until : 1;
		until = line + 1;
	}
	write_segment(w, text, from, until);
}

static void write_files(struct writer *w)
{
	json_member_open(w->j, "files", '[');
	for (size_t i = 0, end; i < w->sums.cnt; i = end) {
		const char *path = w->sums.items[i].file, *why;
		const struct source_text *text = sources__get(&w->sources, path, &why);

		for (end = i + 1; end < w->sums.cnt && !strcmp(w->sums.items[end].file, path);)
			end++;
		w->files[w->files_cnt++] = path;
		json_open(w->j, '{');
		json_member_string(w->j, "path", path);
		json_member_string(w->j, "why", why);
		json_member_open(w->j, "segments", '[');
		if (text)
			write_text(w, text, i, end);
		json_close(w->j, ']');
		json_close(w->j, '}');
	}
	json_close(w->j, ']');
}

/* The file's place in what write_files() has written. */
static uint32_t file_number(const struct writer *w, const char *path)
{
	return LOWER_BOUND(w->files_cnt, i, strcmp(w->files[i], path) < 0);
}

/* From the innermost inlined call outwards, each with where it stands. */
static void write_inlined(struct writer *w, uint32_t inlined)
{
	json_member_open(w->j, "inlined", '[');
	while (inlined) {
		const struct profile_inline *call = &w->p->inlines[inlined - 1];

		json_open(w->j, '{');
		json_member_string(w->j, "name", call->name);
		json_member_string(w->j, "file", call->file);
		json_member_u64(w->j, "line", call->line);
		json_close(w->j, '}');
		inlined = call->parent;
	}
	json_close(w->j, ']');
}

enum column {
	COLUMN_LINE,
	COLUMN_HITS,
	COLUMN_NS,
	COLUMN_ERROR,
	COLUMN_REASON,
	COLUMN_APPROXIMATE,
	COLUMNS
};

static void write_column(struct writer *w, const struct line_block *b, enum column column)
{
	static const char *const names[] = {"line", "hits", "ns", "error", "reason", "approximate"};

	json_member_open(w->j, names[column], '[');
	for (size_t i = 0; i < b->cnt; i++) {
		const struct profile_line *l = b->lines[i];

		if (column == COLUMN_LINE)
			json_u64(w->j, l->line);
		else if (column == COLUMN_HITS)
			json_u64(w->j, l->hits);
		else if (column == COLUMN_NS)
			json_u64(w->j, l->ns);
		else if (column == COLUMN_ERROR)
			json_u64(w->j, l->error_ns);
		else if (column == COLUMN_APPROXIMATE)
			json_u64(w->j, l->approximate);
		else if (l->reason)
			json_string(w->j, l->reason);
		else
			json_u64(w->j, 0);
	}
	json_close(w->j, ']');
}

static void write_block(struct writer *w, const struct line_block *b)
{
	const struct profile_function *f = &w->p->functions[b->function];
	bool head = !b->inlined && f->file && !strcmp(f->file, b->file);
	uint32_t first = b->lines[0]->line;

	json_open(w->j, '{');
	json_member_string(w->j, "name", f->name ? f->name : "");
	json_key(w->j, "function");
	if (w->functions[b->function])
		json_u64(w->j, w->functions[b->function] - 1);
	else
		json_null(w->j);
	json_member_u64(w->j, "file", file_number(w, b->file));
	json_member_u64(w->j, "whole", b->whole_ns);
	json_member_u64(w->j, "head",
			head && f->line && f->line < first && first - f->line <= HEAD ? f->line
										      : first);
	write_inlined(w, b->inlined);
	for (enum column c = 0; c < COLUMNS; c++)
		write_column(w, b, c);
	json_close(w->j, '}');
}

static void write_blocks(struct writer *w)
{
	size_t lines = 0, missing = 0;

	json_member_open(w->j, "blocks", '[');
	for (size_t i = 0; i < w->blocks.cnt && !ferror_unlocked(w->j->out); i++) {
		const struct line_block *b = &w->blocks.items[i];

		if (lines + b->cnt > LINES_MAX) {
			missing += b->cnt;
			continue;
		}
		lines += b->cnt;
		write_block(w, b);
	}
	json_close(w->j, ']');
	json_member_u64(w->j, "missing", missing);
}

int page_lines__write(struct json *j, const struct profile *p, const uint32_t *numbers)
{
	struct writer w = {.j = j,
			   .p = p,
			   .functions = numbers,
			   .sources.by_root = p->files_by_root,
			   .source_left = SOURCE_MAX};
	int err = 0;

	if (!p->lines_cnt) {
		json_null(j);
		return 0;
	}
	json_open(j, '{');
	err = line_sums__make(p, &w.sums);
	w.files = calloc(w.sums.cnt + 1, sizeof(*w.files));
	if (!w.files)
		err = -ENOMEM;
	if (!err)
		err = line_blocks__make(p, &w.blocks);
	if (!err) {
		write_files(&w);
		write_blocks(&w);
	}
	json_close(j, '}');
	free(w.files);
	sources__clear(&w.sources);
	line_blocks__clear(&w.blocks);
	line_sums__clear(&w.sums);
	return err;
}
