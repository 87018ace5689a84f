// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/listing.h"
#include "sink/names.h"
#include "sink/tools/firefox.h"
#include "sink/tools/firefox_columns.h"
#include "sink/tracks.h"
#include "util/text.h"

#define LIBRARY 1 /* kind of a resource */

static void write_libs(struct firefox *w)
{
	struct json *j = &w->j;
	size_t i;

	json_member_open(j, "libs", '[');
	for (i = 0; i < w->modules.cnt; i++) {
		const char *path = w->modules.list[i].path;

		json_open(j, '{');
		json_member_string(j, "arch", NULL);
		json_member_string(j, "name", path_base(path));
		json_member_string(j, "path", path);
		json_member_string(j, "debugName", path_base(path));
		json_member_string(j, "debugPath", path);
		json_member_string(j, "breakpadId", "");
		json_member_string(j, "codeId", NULL);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* The functions' names, then the modules', then the source files' of those that have one. */
static void write_strings(struct firefox *w)
{
	const struct profile *p = w->p;
	struct json *j = &w->j;
	size_t i;

	json_member_open(j, "stringArray", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			json_string(j, function__name(&p->functions[i]));
	for (i = 0; i < w->modules.cnt; i++)
		json_string(j, path_base(w->modules.list[i].path));
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed && p->functions[i].file)
			json_string(j, p->functions[i].file);
	json_close(j, ']');
}

static void write_functions(struct firefox *w)
{
	const struct profile *p = w->p;
	struct json *j = &w->j;
	size_t cnt = w->listed_cnt, sources = 0, i;

	json_member_open(j, "funcTable", '{');
	column__counting(j, "name", cnt, 0);
	column__false(j, "isJS", cnt);
	column__false(j, "relevantForJS", cnt);
	json_member_open(j, "resource", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			json_u64(j, w->modules.of[i]);
	json_close(j, ']');
	json_member_open(j, "source", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			column__u64_or_null(j, p->functions[i].file,
					    p->functions[i].file ? sources++ : 0);
	json_close(j, ']');
	json_member_open(j, "lineNumber", '[');
	for (i = 0; i < p->functions_cnt; i++)
		if (w->functions[i].listed)
			column__u64_or_null(j, p->functions[i].line, p->functions[i].line);
	json_close(j, ']');
	column__empty(j, "columnNumber", cnt, false);
	json_member_u64(j, "length", cnt);
	json_close(j, '}');

	json_member_open(j, "sources", '{');
	column__empty(j, "uuid", sources, false);
	column__counting(j, "filename", sources, cnt + w->modules.cnt);
	json_member_u64(j, "length", sources);
	json_close(j, '}');
}

/* Its number in the list that write_meta() makes. */
static uint32_t category_of(const struct profile *p, const struct profile_function *f)
{
	return estimate__of(p, &f->stats).source == SOURCE_EXACT ? 1 : 2;
}

/* One for each function, and one for each module. */
static void write_frames(struct firefox *w)
{
	struct json *j = &w->j;
	size_t cnt = w->listed_cnt;

	json_member_open(j, "frameTable", '{');
	column__empty(j, "address", cnt, true);
	column__constant(j, "inlineDepth", cnt, 0);
	json_member_open(j, "category", '[');
	for (size_t i = 0; i < w->p->functions_cnt; i++)
		if (w->functions[i].listed)
			json_u64(j, category_of(w->p, &w->p->functions[i]));
	json_close(j, ']');
	column__constant(j, "subcategory", cnt, 0);
	column__counting(j, "func", cnt, 0);
	column__empty(j, "nativeSymbol", cnt, false);
	column__empty(j, "innerWindowID", cnt, false);
	column__empty(j, "line", cnt, false);
	column__empty(j, "column", cnt, false);
	json_member_u64(j, "length", cnt);
	json_close(j, '}');

	json_member_open(j, "resourceTable", '{');
	column__counting(j, "lib", w->modules.cnt, 0);
	column__counting(j, "name", w->modules.cnt, cnt);
	column__empty(j, "host", w->modules.cnt, false);
	column__constant(j, "type", w->modules.cnt, LIBRARY);
	json_member_u64(j, "length", w->modules.cnt);
	json_close(j, '}');

	json_member_open(j, "nativeSymbols", '{');
	column__empty(j, "libIndex", 0, false);
	column__empty(j, "address", 0, false);
	column__empty(j, "name", 0, false);
	column__empty(j, "functionSize", 0, false);
	json_member_u64(j, "length", 0);
	json_close(j, '}');
}

/* A stack for each path, callers before callees; numbers them. */
static void write_stacks(struct firefox *w)
{
	const struct profile_node *nodes = w->p->nodes;
	struct json *j = &w->j;
	uint32_t cnt = 0;
	struct walk walk;
	size_t i;

	json_member_open(j, "stackTable", '{');
	json_member_open(j, "frame", '[');
	for (i = 0; i < w->tracks_cnt; i++) {
		walk = walk__from(w->p, w->p->threads[w->tracks[i].thread].first_root);
		while (walk__next(&walk)) {
			if (!walk.entering)
				continue;
			w->stacks[walk.node] = cnt++;
			json_u64(j, w->functions[nodes[walk.node].function].id);
		}
	}
	json_close(j, ']');
	json_member_open(j, "prefix", '[');
	for (i = 0; i < w->tracks_cnt; i++) {
		walk = walk__from(w->p, w->p->threads[w->tracks[i].thread].first_root);
		while (walk__next(&walk)) {
			uint32_t parent = nodes[walk.node].parent;

			if (walk.entering)
				column__u64_or_null(j, parent, w->stacks[parent]);
		}
	}
	json_close(j, ']');
	json_member_u64(j, "length", cnt);
	json_close(j, '}');
}

void firefox_shared__write(struct firefox *w)
{
	write_libs(w);
	json_member_open(&w->j, "shared", '{');
	write_strings(w);
	write_functions(w);
	write_frames(w);
	write_stacks(w);
	json_close(&w->j, '}');
}
