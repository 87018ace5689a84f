// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A flame graph as a picture that browsers show: a path is a box below its caller's, as wide as
 * what it weighs with all it called. The outermost are on top, where a deep picture is looked at
 * first. A script in the file zooms into a box that is clicked at and marks what a search finds;
 * without it the picture stands as it is. What would be narrower than a part of a pixel is left
 * out, so the file is bounded however many paths there are.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/stats.h"
#include "calls/walk.h"
#include "sink/accounts.h"
#include "sink/data/svg_script.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/hash.h"
#include "util/text.h"
#include "util/utf8.h"
#include "views/merge.h"

#define WIDTH	   1200.0 /* all sizes are in pixels */
#define MARGIN	   10.0
#define ROW	   17.0 /* from one row to the next */
#define TOP	   50.0
#define BOTTOM	   10.0
#define CHARACTER  7.0	 /* the width of one */
#define NARROWEST  0.1	 /* pixels: narrower boxes are not drawn */
#define FRAMES_MAX 50000 /* boxes: of more, the narrowest are not drawn */
#define LEVELS_MAX 1000	 /* deeper boxes are not drawn */
#define NAME_ROOM  4096	 /* bytes of a name, escaped */
#define TITLE_ROOM 256
#define NOTE_LINE  160 /* characters, which are wider below than in boxes */

struct graph {
	const struct profile *p;
	char title[TITLE_ROOM]; /* of the profile before its threads were merged */
	const struct sink_options *opts;
	FILE *out;
	enum weight weight;
	double *weights; /* by node, with all below it */
	double *varied;	 /* by node: the variance of that */
	double *next;	 /* by node: where its next callee's box begins, in weight */
	double whole, least;
	uint32_t rows; /* that are drawn, the whole's and threads' with them */
	size_t left_out;
	/* Text that says what estimates come from, as "paler: 97 samples a second", in lines below
	 * the boxes; "": nothing is estimated. */
	char note[ACCOUNTS_LINE + sizeof("paler: ")];
};

/* One box. `from` and `weight` are of the whole. */
struct box {
	const char *name;
	bool region;
	double from, weight;
	uint32_t row;	/* 0: the whole's, on top */
	bool estimate;	/* of samples or bursts */
	uint64_t error; /* of an estimate: weight is uncertain by this */
};

/* Characters that XML reads as its own, or allows nowhere (U+FFFE, U+FFFF). Controls have been
 * escaped before. */
static void print_text(FILE *out, const char *text, size_t columns)
{
	for (; *text; text++) {
		if ((*text & 0xc0) != 0x80 && !columns--)
			return;
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '\xef':
			if (!strncmp(text, "\xef\xbf\xbe", 3) ||
			    !strncmp(text, "\xef\xbf\xbf", 3)) {
				putc('?', out);
				text += 2;
				break;
			}
			putc(*text, out);
			break;
		default:
			putc(*text, out);
		}
	}
}

/* The same name has the same colour in every picture: functions are warm, regions are blue. */
static uint32_t color_of(const struct box *b)
{
	uint32_t hash = hash__text(b->name);

	if (!b->row)
		return 0xd0d0d0;
	if (b->region)
		return 0x6090d0 + (hash & 0x1f) * 0x010100;
	return 0xd05020 + (hash % 40 << 16) + (hash / 40 % 130 << 8) + hash / 5200 % 40;
}

/* "1.23 s" or "1,234 calls", with what it is uncertain by ("~1.23 s ± 0.1 s"). */
static void print_weight(const struct graph *g, const struct box *b)
{
	double weight = b->weight;
	uint64_t value = weight < 1e19 ? (uint64_t)weight : UINT64_MAX;
	bool calls = g->weight == WEIGHT_CALLS;
	char text[32];

	fputs(b->estimate ? "~" : "", g->out);
	fputs((calls ? text_count : text_duration)(value, text, sizeof(text)), g->out);
	if (b->error)
		fprintf(g->out, " ± %s",
			(calls ? text_count : text_duration)(b->error, text, sizeof(text)));
	if (calls)
		fputs(value == 1 ? " call" : " calls", g->out);
}

/* The length of the first of the lines that a text makes. */
static size_t first_line(const char *text)
{
	size_t len = strlen(text), last = NOTE_LINE;

	if (len <= NOTE_LINE)
		return len;
	while (last && text[last] != ' ')
		last--;
	return last ? last : NOTE_LINE;
}

/* Behind a line, and the blank that it ends at. */
static const char *next_line(const char *text)
{
	text += first_line(text);
	return *text == ' ' ? text + 1 : text;
}

static double height_of(const struct graph *g)
{
	double height = TOP + ROW * g->rows + BOTTOM;

	for (const char *line = g->note; *line; line = next_line(line))
		height += ROW;
	return height;
}

static void print_note(const struct graph *g)
{
	double y = TOP + ROW * g->rows;

	for (const char *line = g->note; *line; line = next_line(line)) {
		fprintf(g->out, "<text class=\"note\" x=\"10\" y=\"%.0f\">", y += ROW);
		print_text(g->out, line, first_line(line));
		fputs("</text>\n", g->out);
	}
}

static void print_box(const struct graph *g, const struct box *b)
{
	double scale = (WIDTH - 2 * MARGIN) / g->whole, width = b->weight * scale;
	double x = MARGIN + b->from * scale, y = TOP + ROW * b->row;
	size_t room = width > 4 * CHARACTER ? (size_t)((width - 6) / CHARACTER) : 0;
	char name[NAME_ROOM], share[32];

	text_escape(b->name, name, sizeof(name));
	fputs("<g class=\"f\"><title>", g->out);
	print_text(g->out, name, SIZE_MAX);
	fputs(" (", g->out);
	print_weight(g, b);
	text_percent(100 * b->weight / g->whole, share, sizeof(share));
	fputs(", ", g->out);
	print_text(g->out, share, SIZE_MAX);
	fprintf(g->out,
		")</title><rect x=\"%.4f\" y=\"%.0f\" width=\"%.4f\" height=\"%.0f\" "
		"fill=\"#%06" PRIx32 "\"%s/><text x=\"%.2f\" y=\"%.0f\">",
		x, y, width, ROW - 1, color_of(b), b->estimate ? " class=\"e\"" : "", x + 3,
		y + ROW - 5);
	if (room) {
		bool cut = utf8_count(name) > room;

		print_text(g->out, name, cut ? room - 1 : room);
		fputs(cut ? "…" : "", g->out);
	}
	fputs("</text></g>\n", g->out);
}

/* Its variance, without its callees'. */
static double varied_of(const struct call_stats *s, enum weight weight)
{
	return weight == WEIGHT_CALLS ? s->calls_varied
	       : weight == WEIGHT_OFF ? 0
				      : (double)s->varied_ns;
}

/* A call that was measured is as long as it was, however uncertain what its time was spent on. */
static void mark_estimate(const struct graph *g, uint32_t node, struct box *b)
{
	double varied = g->varied[node];

	if (g->weight == WEIGHT_CALLS) {
		b->estimate = varied > 0;
		b->error = (uint64_t)sqrt(varied);
	} else if (g->weight != WEIGHT_OFF) {
		const struct call_stats *s = &g->p->nodes[node].stats;

		b->estimate = estimate__of(g->p, s).source != SOURCE_EXACT &&
			      !estimate__measured_waits(g->p, s);
		b->error = b->estimate ? estimate__error_ns(g->p, varied) : 0;
	}
}

static void weigh_paths(struct graph *g)
{
	const struct profile *p = g->p;

	for (size_t i = 0; i < p->threads_cnt; i++) {
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct call_stats *s = &p->nodes[w.node].stats;
			uint32_t parent = p->nodes[w.node].parent;

			if (w.entering) {
				g->weights[w.node] = (double)weigh(s, g->weight);
				g->varied[w.node] = varied_of(s, g->weight);
				continue;
			}
			*(parent ? &g->weights[parent] : &g->whole) += g->weights[w.node];
			g->varied[parent] += g->varied[w.node];
		}
	}
}

static bool is_drawn(const struct graph *g, const struct walk *w)
{
	return g->weights[w->node] >= g->least && w->depth < LEVELS_MAX;
}

/* Counts what is drawn and what is not. */
static size_t count_boxes(struct graph *g)
{
	size_t cnt = 0;

	g->left_out = 0;
	g->rows = 2;
	for (size_t i = 0; i < g->p->threads_cnt; i++) {
		struct walk w = walk__from(g->p, g->p->threads[i].first_root);

		while (walk__next(&w)) {
			if (!w.entering || !g->weights[w.node])
				continue;
			if (!is_drawn(g, &w)) {
				g->left_out++;
				continue;
			}
			cnt++;
			if (w.depth + 3 > g->rows)
				g->rows = w.depth + 3;
		}
	}
	return cnt;
}

static void draw_thread(struct graph *g, const struct profile_thread *t, double *from)
{
	struct walk w = walk__from(g->p, t->first_root);
	char name[THREAD_NAME_LEN] = "";
	struct box thread = {.name = t->comm, .from = *from, .row = 1};

	for (uint32_t n = t->first_root; n; n = g->p->nodes[n].next_sibling)
		thread.weight += g->weights[n];
	if (g->opts->thread_frames)
		thread.name = thread__name(t, name);
	else if (g->opts->process_frames && t->pid)
		thread.name = process__name(t, name);
	if (!*thread.name)
		thread.name = "[unknown]";
	if (thread.weight >= g->least)
		print_box(g, &thread);
	while (walk__next(&w) && !ferror(g->out)) {
		uint32_t parent = g->p->nodes[w.node].parent;
		double *begin = parent ? &g->next[parent] : from;
		const struct profile_function *f;
		struct box b;

		if (!w.entering)
			continue;
		f = &g->p->functions[g->p->nodes[w.node].function];
		g->next[w.node] = *begin;
		*begin += g->weights[w.node];
		if (!is_drawn(g, &w))
			continue;
		b = (struct box){.name = function__name(f),
				 .region = f->kind == FUNCTION_REGION,
				 .from = g->next[w.node],
				 .weight = g->weights[w.node],
				 .row = w.depth + 2};
		mark_estimate(g, w.node, &b);
		print_box(g, &b);
	}
}

static const char *weight_name(enum weight weight)
{
	static const char *const names[] = {[WEIGHT_WALL] = "time",
					    [WEIGHT_CPU] = "time on a CPU",
					    [WEIGHT_OFF] = "time off the CPU",
					    [WEIGHT_CALLS] = "calls"};

	return names[weight];
}

static void print_head(const struct graph *g)
{
	char safe[4 * TITLE_ROOM], cnt[32];
	double height = height_of(g);
	FILE *out = g->out;

	text_escape(g->title, safe, sizeof(safe));
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\">\n<title>",
		WIDTH, height, WIDTH, height);
	print_text(out, safe, SIZE_MAX);
	fputs("</title>\n<style>" SVG_STYLE "</style>\n"
	      "<rect width=\"100%\" height=\"100%\" fill=\"#fbfbf8\"/>\n<text class=\"big\" "
	      "x=\"600\" y=\"22\">",
	      out);
	print_text(out, safe, 120);
	fputs("</text>\n<text id=\"reset\" class=\"button\" x=\"10\" y=\"22\">all</text>\n"
	      "<text id=\"search\" class=\"button\" x=\"1150\" y=\"22\">find</text>\n"
	      "<text id=\"found\" x=\"1190\" y=\"40\"></text>\n"
	      "<text id=\"details\" x=\"10\" y=\"40\">",
	      out);
	if (!g->whole)
		fputs("nothing was recorded", out);
	else
		fprintf(out, "a box is a path, as wide as its %s%s", weight_name(g->weight),
			g->weight != g->opts->weight ? " (-w wall: all time)" : "");
	if (*g->note)
		fputs("; paler ones are estimated, as is said below them", out);
	if (g->left_out)
		fprintf(out, "; %s path%s too narrow or too deep to be drawn",
			text_count(g->left_out, cnt, sizeof(cnt)),
			g->left_out == 1 ? " is" : "s are");
	fputs("</text>\n", out);
}

static void make_note(struct graph *g)
{
	char estimates[ACCOUNTS_LINE];

	if (g->weight != WEIGHT_OFF && *accounts__estimates(g->p, estimates, sizeof(estimates)))
		snprintf(g->note, sizeof(g->note), "paler: %s", estimates);
}

static int draw(struct graph *g)
{
	double from = 0;

	weigh_paths(g);
	make_note(g);
	g->least = g->whole * (NARROWEST / (WIDTH - 2 * MARGIN));
	while (count_boxes(g) > FRAMES_MAX)
		g->least *= 2;
	stream__begin();
	print_head(g);
	if (g->whole)
		print_box(g, &(struct box){.name = "all", .weight = g->whole});
	for (size_t i = 0; i < g->p->threads_cnt && g->whole && !ferror(g->out); i++)
		draw_thread(g, &g->p->threads[i], &from);
	print_note(g);
	fputs("<script><![CDATA[\n" SVG_SCRIPT "]]></script>\n</svg>\n", g->out);
	return stream__end(g->out);
}

static int write_svg(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct graph g = {.p = p, .opts = opts, .out = out, .weight = sink__weight(opts, p)};
	struct profile *merged = NULL;
	int err = 0;

	profile__title(p, g.title, sizeof(g.title));
	if (!opts->thread_frames) {
		err = profile__merge_threads(p, opts->process_frames ? MERGE_PROCESS : MERGE_COMM,
					     &merged);
		if (err)
			return err;
		g.p = merged;
	}
	g.weights = calloc(g.p->nodes_cnt + 1, sizeof(*g.weights));
	g.varied = calloc(g.p->nodes_cnt + 1, sizeof(*g.varied));
	g.next = calloc(g.p->nodes_cnt + 1, sizeof(*g.next));
	err = g.weights && g.varied && g.next ? draw(&g) : -ENOMEM;
	free(g.weights);
	free(g.varied);
	free(g.next);
	profile__free(merged);
	return err;
}

const struct sink sink_svg = {
	.name = "svg",
	.help = "a flame graph as a picture for browsers: click to zoom, find names",
	.suffixes = (const char *const[]){".svg", NULL},
	.whole = true,
	.names_only = true,
	.weighs = true,
	.write = write_svg,
};
