// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Annotated source: how often each line ran, and for how long. Function by function, as a line of a
 * header may be in many; what is inlined into a function follows it, with where it was called. The
 * shares of a function's lines add up to all of its time.
 */
#include <inttypes.h>
#include <string.h>

#include "calls/lines.h"
#include "calls/profile.h"
#include "security/source_text.h"
#include "sink/sink.h"
#include "sink/sources.h"
#include "sink/stream.h"
#include "sink/text/footer.h"
#include "sink/text/printer.h"
#include "util/text.h"

#define HITS_WIDTH   11	 /* "999,999,999" */
#define OTHERS_WIDTH 35	 /* of HITS, TIME, SHARE, LINE and the gaps */
#define LINE_WIDTH   110 /* source is cut to end here */
#define SOURCE_MIN   20
#define CONTEXT	     4 /* lines without figures that are shown between others */
#define HEAD	     3 /* lines before the first that may be the function's head */
#define NAME_MAX     60
#define REASONS	     32
#define SOURCE_LINE  1024

struct page {
	struct printer *pr;
	struct sources sources;
	const char *reasons[REASONS];
	size_t reasons_cnt;
	bool approximate; /* some hits were */
};

/* The number by which the reason is listed below, from 1 on; 0: there is no room. */
static size_t number_of(struct page *page, const char *reason)
{
	size_t i;

	for (i = 0; i < page->reasons_cnt; i++) {
		if (!strcmp(page->reasons[i], reason))
			return i + 1;
	}
	if (i == REASONS)
		return 0;
	page->reasons[page->reasons_cnt++] = reason;
	return i + 1;
}

static void print_source(const struct page *page, const struct source_text *text, uint32_t number)
{
	char line[SOURCE_LINE], safe[4 * SOURCE_LINE];
	struct printer *pr = page->pr;
	size_t room = printer__room(pr, OTHERS_WIDTH + 1, LINE_WIDTH - OTHERS_WIDTH, SOURCE_MIN);
	size_t columns = 0, len;

	if (!text)
		return;
	text_escape(source_text__line(text, number, line, sizeof(line)), safe, sizeof(safe));
	for (len = 0; safe[len]; len++) {
		if ((safe[len] & 0xc0) == 0x80)
			continue;
		if (columns++ == room && !pr->opts->verbose)
			break;
	}
	fprintf(pr->out, "%s%.*s%s", len ? "  " : "", (int)len, safe, safe[len] ? "…" : "");
}

static void print_figures(struct page *page, const struct profile_line *l, uint64_t whole_ns)
{
	char hits[32], time[32], share[32], count[32];
	struct printer *pr = page->pr;

	if (l->reason) {
		size_t number = number_of(page, l->reason);

		snprintf(hits, sizeof(hits), number ? "[%zu]" : "[?]", number);
		fprintf(pr->out, "%*s  %7s  %6s", HITS_WIDTH, hits, "", "");
		return;
	}
	snprintf(hits, sizeof(hits), "%s%s", l->approximate ? "~" : "",
		 text_count(l->hits, count, sizeof(count)));
	page->approximate |= l->approximate;
	fprintf(pr->out, "%*s  %7s  %6s", HITS_WIDTH, hits,
		printer__time(pr, l->ns, l->error_ns, time, sizeof(time)),
		printer__share(l->ns, whole_ns, share, sizeof(share)));
}

static void print_line(struct page *page, const struct source_text *text, uint32_t number,
		       const struct profile_line *l, uint64_t whole_ns)
{
	struct printer *pr = page->pr;
	bool hot = l && l->ns > l->error_ns && printer__hot(l->ns, whole_ns);

	fputs(printer__style(pr, hot ? STYLE_BOLD : l && l->hits ? "" : STYLE_DIM), pr->out);
	if (l)
		print_figures(page, l, whole_ns);
	else
		fprintf(pr->out, "%*s", HITS_WIDTH + 17, "");
	fprintf(pr->out, "  %5" PRIu32, number);
	print_source(page, text, number);
	fprintf(pr->out, "%s\n", hot || !l || !l->hits ? printer__style(pr, STYLE_PLAIN) : "");
}

/* Prints the source between two lines with figures. */
static void print_between(struct page *page, const struct source_text *text, uint32_t from,
			  uint32_t until)
{
	if (!text || from >= until)
		return;
	if (until - from > CONTEXT) {
		fprintf(page->pr->out, "%s%*s…%s\n", printer__style(page->pr, STYLE_DIM),
			OTHERS_WIDTH - 1, "", printer__style(page->pr, STYLE_PLAIN));
		return;
	}
	for (; from < until; from++)
		print_line(page, text, from, NULL, 0);
}

static int print_place(struct page *page, const char *before, const char *name, const char *between,
		       const char *file, uint32_t line)
{
	struct printer *pr = page->pr;
	int err;

	fputs(before, pr->out);
	err = printer__name(pr, name, NAME_MAX);
	fputs(between, pr->out);
	if (err >= 0)
		err = printer__name(pr, file ? file : "?", 2 * NAME_MAX);
	if (line)
		fprintf(pr->out, ":%" PRIu32, line);
	return err < 0 ? err : 0;
}

/* From where the block was inlined, up to the function that has the code. */
static int print_callers(struct page *page, const struct line_block *b)
{
	const struct profile *p = page->pr->profile;
	const char *function = p->functions[b->function].name, *before = ", inlined from ";
	int err = 0;

	for (uint32_t at = b->inlined; at && !err;) {
		const struct profile_inline *call = &p->inlines[at - 1];

		at = call->parent;
		err = print_place(page, before, at ? p->inlines[at - 1].name : function, " at ",
				  call->file, call->line);
		before = ", in ";
	}
	return err;
}

static int print_heading(struct page *page, const struct line_block *b, const char *why)
{
	const struct profile_function *f = &page->pr->profile->functions[b->function];
	struct printer *pr = page->pr;
	char calls[32];
	int err;

	fputs(printer__style(pr, STYLE_BOLD), pr->out);
	err = printer__name(pr, b->inlined ? pr->profile->inlines[b->inlined - 1].name : f->name,
			    NAME_MAX);
	fprintf(pr->out, "%s  ", printer__style(pr, STYLE_PLAIN));
	if (err >= 0)
		err = printer__name(pr, b->file, 2 * NAME_MAX);
	if (err >= 0 && b->inlined)
		err = print_callers(page, b);
	else
		fprintf(pr->out, "  %s call%s",
			printer__calls(&f->stats, f->sampled, calls, sizeof(calls)),
			f->stats.calls == 1 ? "" : "s");
	if (why)
		fprintf(pr->out, " (no source: %s)", why);
	fprintf(pr->out, "\n%s%*s  %7s  %6s  %5s%s%s\n", printer__style(pr, STYLE_DIM), HITS_WIDTH,
		"HITS", "TIME", "SHARE", "LINE", why ? "" : "  SOURCE",
		printer__style(pr, STYLE_PLAIN));
	return err < 0 ? err : 0;
}

static int print_block(struct page *page, const struct line_block *b)
{
	const struct profile_function *f = &page->pr->profile->functions[b->function];
	const struct source_text *text;
	uint32_t at = b->lines[0]->line;
	const char *why;
	int err;

	text = sources__get(&page->sources, b->file, &why);
	err = print_heading(page, b, why);
	if (err)
		return err;
	if (!b->inlined && f->file && f->line < at && at - f->line <= HEAD &&
	    !strcmp(f->file, b->file))
		at = f->line;
	for (size_t i = 0; i < b->cnt && !ferror(page->pr->out); i++) {
		const struct profile_line *l = b->lines[i];

		print_between(page, text, at, l->line);
		print_line(page, text, l->line, l, b->whole_ns);
		at = l->line + 1;
	}
	fputc('\n', page->pr->out);
	return 0;
}

static void print_reasons(const struct page *page)
{
	struct printer *pr = page->pr;
	char safe[256];

	for (size_t i = 0; i < page->reasons_cnt; i++)
		fprintf(pr->out, "[%zu] not counted: %s\n", i + 1,
			text_escape(page->reasons[i], safe, sizeof(safe)));
	if (page->approximate)
		fputs("~: of optimized code, runs of what is left of the line\n", pr->out);
	if (page->reasons_cnt || page->approximate)
		fputc('\n', pr->out);
}

static int write_lines(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct printer pr = {.profile = p, .opts = opts, .out = out};
	struct page page = {.pr = &pr, .sources.by_root = p->files_by_root};
	struct line_blocks blocks;
	int err = line_blocks__make(p, &blocks);

	if (err)
		return err;
	stream__begin();
	printer__interval(&pr);
	for (size_t i = 0; i < blocks.cnt && !err && !ferror(out); i++)
		err = print_block(&page, &blocks.items[i]);
	if (!p->lines_cnt)
		fprintf(out, "no lines were counted: say which, with --lines FUNC or --lines "
			     "FILE:FROM-TO\n\n");
	if (!err) {
		print_reasons(&page);
		err = footer__print(&pr, p->nodes_cnt <= 1);
	}
	sources__clear(&page.sources);
	line_blocks__clear(&blocks);
	printer__fini(&pr);
	return err ? err : stream__end(out);
}

const struct sink sink_lines = {
	.name = "lines",
	.help = "annotated source: how often each line ran (--lines)",
	.accounts = true,
	.needs_lines = true,
	.write = write_lines,
};
