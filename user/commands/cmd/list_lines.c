// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/list_lines.h"

#include <inttypes.h>
#include <stdlib.h>

#include "plan/plan.h"
#include "plan/plan_lines.h"
#include "util/json.h"
#include "util/text.h"

/* The sites of each line, one behind the other. */
struct sites {
	uint32_t *items; /* numbers in plan.lines->sites */
	size_t *begin;	 /* by line; its end is the next one's begin */
};

/* Without memory there are no sites to show. */
static struct sites sites_by_line(const struct plan_lines *l)
{
	struct sites s = {calloc(l->sites_cnt + 1, sizeof(*s.items)),
			  calloc(l->lines_cnt + 2, sizeof(*s.begin))};

	if (!s.items || !s.begin)
		return s;
	for (size_t i = 0; i < l->sites_cnt; i++)
		s.begin[l->sites[i].line + 1]++;
	for (size_t i = 1; i < l->lines_cnt + 2; i++)
		s.begin[i] += s.begin[i - 1];
	/* Counted from 1 on: the fences come first. */
	for (size_t i = 0; i < l->sites_cnt; i++)
		s.items[s.begin[l->sites[i].line]++] = i;
	return s;
}

static void sites_clear(struct sites *s)
{
	free(s->items);
	free(s->begin);
}

/* The sites of a line: having been counted up, a begin is where they end. */
static size_t sites_of(const struct sites *s, size_t line, const uint32_t **items)
{
	if (!s->items || !s->begin)
		return 0;
	*items = s->items + s->begin[line];
	return s->begin[line + 1] - s->begin[line];
}

static void print_name(FILE *out, const char *name)
{
	char safe[1024];

	fputs(text_escape(name, safe, sizeof(safe)), out);
}

static void text_inlined(FILE *out, const struct plan_lines *l, uint32_t inlined)
{
	while (inlined) {
		const struct plan_inline *in = &l->inlines[inlined - 1];

		fputs(", inlined: ", out);
		print_name(out, in->name);
		if (in->file) {
			fputs(" called at ", out);
			print_name(out, in->file);
			fprintf(out, ":%" PRIu32, in->line);
		}
		inlined = in->parent;
	}
}

static void text_line(FILE *out, const struct plan *p, const struct sites *sites, size_t i)
{
	const struct plan_lines *l = p->lines;
	const struct plan_line *line = &l->lines[i];
	const uint32_t *items = NULL;
	size_t cnt = sites_of(sites, i, &items);

	fputs("line       ", out);
	print_name(out, line->file);
	fprintf(out, ":%" PRIu32 " ", line->line);
	for (size_t k = 0; k < cnt; k++) {
		const struct plan_line_site *site = &l->sites[items[k]];

		fprintf(out, " %#" PRIx64 "/%s%s", site->offset, site_class__name(site->site),
			site->at_entry ? "/entry" : "");
	}
	fputs("  (", out);
	print_name(out, plan__name(p, line->function));
	text_inlined(out, l, line->inlined);
	if (line->reason)
		fprintf(out, "; not counted: %s", line->reason);
	fputs(")\n", out);
}

void list_lines__text(FILE *out, const struct plan *p)
{
	struct sites sites;

	if (!p->lines)
		return;
	sites = sites_by_line(p->lines);
	for (size_t i = 0; i < p->lines->lines_cnt; i++)
		text_line(out, p, &sites, i);
	sites_clear(&sites);
}

static void json_inlined(struct json *j, const struct plan_lines *l, uint32_t inlined)
{
	json_member_open(j, "inlined", '[');
	while (inlined) {
		const struct plan_inline *in = &l->inlines[inlined - 1];

		json_open(j, '{');
		json_member_string(j, "name", in->name);
		if (in->file) {
			json_member_string(j, "file", in->file);
			json_member_u64(j, "line", in->line);
		}
		json_close(j, '}');
		inlined = in->parent;
	}
	json_close(j, ']');
}

static void json_site(struct json *j, const struct plan_line_site *site)
{
	json_open(j, '{');
	json_member_u64(j, "offset", site->offset);
	json_member_string(j, "site", site_class__name(site->site));
	json_member_bool(j, "at_entry", site->at_entry);
	json_member_bool(j, "repeats", site->repeats);
	json_member_bool(j, "cycles", site->cycles);
	json_close(j, '}');
}

void list_lines__json(struct json *j, const struct plan *p)
{
	const struct plan_lines *l = p->lines;
	struct sites sites;

	if (!l)
		return;
	sites = sites_by_line(l);
	json_member_open(j, "lines", '[');
	for (size_t i = 0; i < l->lines_cnt; i++) {
		const struct plan_line *line = &l->lines[i];
		const uint32_t *items = NULL;
		size_t cnt = sites_of(&sites, i, &items);

		json_open(j, '{');
		json_member_string(j, "file", line->file);
		json_member_u64(j, "line", line->line);
		json_member_u64(j, "function", line->function);
		json_inlined(j, l, line->inlined);
		json_member_open(j, "sites", '[');
		for (size_t k = 0; k < cnt; k++)
			json_site(j, &l->sites[items[k]]);
		json_close(j, ']');
		if (line->reason)
			json_member_string(j, "reason", line->reason);
		json_close(j, '}');
	}
	json_close(j, ']');
	sites_clear(&sites);
}
