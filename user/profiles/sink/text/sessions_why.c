// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/sessions_why.h"

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/names.h"
#include "sink/why/session_ranks.h"
#include "sink/why/session_why.h"
#include "sink/why/why_part.h"
#include "sink/sink.h"
#include "sink/text/printer.h"
#include "sink/text/session_sentence.h"
#include "sink/text/why_text.h"
#include "util/text.h"

#define NAME_COLUMNS 60
#define WHY_SHOWN    12 /* parts of what p99 sessions take longer, unless all are */
#define CHAIN_SHOWN  6	/* parts of a critical path, unless all are */

/* Stretches of a critical path that read alike, where the first of them is. */
struct chain_row {
	const struct chain_part *part;
	uint64_t ns;
};

static bool alike(const struct chain_part *a, const struct chain_part *b)
{
	return a->pid == b->pid && a->tid == b->tid && a->function == b->function &&
	       a->depth == b->depth && a->runs == b->runs && a->queued == b->queued &&
	       a->reason == b->reason && a->object == b->object;
}

#define ROWS_MAX 256 /* kinds of stretches; others are told as a sum */

static size_t chain_rows(const struct session *session, struct chain_row rows[ROWS_MAX])
{
	size_t cnt = 0;

	for (size_t i = 0; i < session->chain_cnt; i++) {
		const struct chain_part *part = &session->chain[i];
		size_t row = 0;

		while (row < cnt && !alike(rows[row].part, part))
			row++;
		if (row == ROWS_MAX)
			continue;
		if (row == cnt)
			rows[cnt++] = (struct chain_row){part, 0};
		rows[row].ns += part->to_ns - part->from_ns;
	}
	return cnt;
}

/* Whether it is one of the longest `shown`; of equal ones the first count. */
static bool is_long(const struct chain_row *rows, size_t cnt, size_t row, size_t shown)
{
	size_t longer = 0;

	for (size_t i = 0; i < cnt && longer < shown; i++)
		longer += rows[i].ns > rows[row].ns || (rows[i].ns == rows[row].ns && i < row);
	return longer < shown;
}

static void print_chain_row(struct printer *pr, uint64_t ns, uint64_t whole_ns, const char *text)
{
	char took[32], share[32], line[2 * WHY_TEXT];

	fprintf(pr->out, "%16s  %6s           %s\n", text_duration(ns, took, sizeof(took)),
		printer__share(ns, whole_ns, share, sizeof(share)),
		text_escape(text, line, sizeof(line)));
}

void sessions_why__chain(struct printer *pr, const struct session *session)
{
	size_t shown = pr->opts->verbose ? SIZE_MAX : CHAIN_SHOWN, cnt, told = 0;
	struct chain_row rows[ROWS_MAX];
	uint64_t others_ns = session->duration_ns;
	char text[WHY_TEXT];

	if (session->chain_cnt < 2)
		return;
	cnt = chain_rows(session, rows);
	fprintf(pr->out, "%s%16s  %6s           CRITICAL PATH%s\n", printer__style(pr, STYLE_DIM),
		"TIME", "SHARE", printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < cnt; i++) {
		if (!is_long(rows, cnt, i, shown))
			continue;
		print_chain_row(pr, rows[i].ns, session->duration_ns,
				chain_part__text(pr->profile, rows[i].part, text));
		told++;
		others_ns -= rows[i].ns < others_ns ? rows[i].ns : others_ns;
	}
	if (told < cnt || others_ns)
		print_chain_row(pr, others_ns, session->duration_ns, "in other parts");
}

static void print_part(struct printer *pr, const struct why_part *part)
{
	char more[32], worst[32], usual[32], text[WHY_TEXT], line[2 * WHY_TEXT];

	fprintf(pr->out, "%8s  %7s  %7s  %s\n",
		text_signed_duration((int64_t)part->more_ns, more, sizeof(more)),
		text_duration((uint64_t)part->worst_ns, worst, sizeof(worst)),
		text_duration((uint64_t)part->usual_ns, usual, sizeof(usual)),
		text_escape(why_part__text(pr->profile, part, text), line, sizeof(line)));
}

/* All parts add up to what is in the heading. */
static void print_table(struct printer *pr, const struct session_group *g,
			const struct session_why *why)
{
	size_t shown = why->cnt < WHY_SHOWN || pr->opts->verbose ? why->cnt : WHY_SHOWN;
	double rest_ns = why->longer_ns;
	char worst[32], usual[32];

	fprintf(pr->out,
		"%sof which%s, in the mean of p99 sessions (%s) and of the faster half "
		"(%s)\n%s%8s  %7s  %7s  WHAT%s\n",
		printer__style(pr, STYLE_BOLD), printer__style(pr, STYLE_PLAIN),
		text_count(g->worst_cnt, worst, sizeof(worst)),
		text_count(g->usual_cnt, usual, sizeof(usual)), printer__style(pr, STYLE_DIM),
		"MORE", "P99", "USUAL", printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < shown; i++) {
		print_part(pr, &why->parts[i]);
		rest_ns -= why->parts[i].more_ns;
	}
	if (shown < why->cnt)
		fprintf(pr->out, "%8s  %7s  %7s  in %zu others (-v shows them)\n",
			text_signed_duration((int64_t)rest_ns, worst, sizeof(worst)), "", "",
			why->cnt - shown);
	fputc('\n', pr->out);
}

/* The sentence; of recordings without waits of paths alone. */
static int print_sentence(struct printer *pr, const struct session_ranks *r,
			  const struct session_group *g, const struct session_why *why, bool named)
{
	char sentence[WHY_SENTENCE], line[2 * WHY_SENTENCE];
	int err = 0;

	if (named && session_group__more_ns(g) >= 1) {
		err = printer__name(pr, function__name(&pr->profile->functions[g->function]),
				    NAME_COLUMNS);
		fputs(": ", pr->out);
	}
	if (err < 0)
		return err;
	if (!why->cnt)
		return session_sentence__print(pr, r, g);
	session_why__sentence(pr->profile, why, sentence);
	fprintf(pr->out, "%s%s%s\n\n", printer__style(pr, STYLE_BOLD),
		text_escape(sentence, line, sizeof(line)), printer__style(pr, STYLE_PLAIN));
	return 0;
}

static int print(struct printer *pr, const struct session_ranks *r, const struct session_group *g,
		 bool table, bool named)
{
	struct session_why why;
	FILE *tables;
	int err = session_why__find(pr->profile, r, g, &why);

	if (!err)
		err = printer__begin_prose(pr, &tables);
	if (!err)
		err = printer__end_prose(pr, tables, print_sentence(pr, r, g, &why, named));
	if (!err && table && why.cnt)
		print_table(pr, g, &why);
	session_why__fini(&why);
	return err;
}

int sessions_why__print(struct printer *pr, const struct session_ranks *r,
			const struct session_group *g)
{
	return print(pr, r, g, true, false);
}

int sessions_why__headline(struct printer *pr, const struct session_ranks *r,
			   const struct session_group *g, bool named)
{
	return print(pr, r, g, false, named);
}
