// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/values.h"
#include "calls/session_data.h"
#include "sink/names.h"
#include "sink/why/session_ranks.h"
#include "sink/sessions.h"
#include "sink/sink.h"
#include "sink/text/printer.h"
#include "sink/text/sessions_why.h"
#include "util/otel_context.h"
#include "util/text.h"

#define SLOWEST_MAX 10 /* sessions that are shown, unless all are */
#define DEAREST_MAX 3  /* paths of a session */
#define REASONS_MAX 10 /* paths that make sessions slow */
#define STEPS_MAX   32 /* innermost calls of a path that are named */
#define STEP_MARK   3  /* columns between two */
#define PATH_LINES  3  /* of a terminal, for a path */
#define STEP_NAME   48 /* columns of each */
#define NAME_MAX    60
#define PATH_MAX    100
#define VALUE_MAX   48
#define NAME_MIN    20
#define PATH_MIN    30
#define WIDE	    110 /* columns of a terminal that has room for all figures */

struct sessions_view {
	struct printer *pr;
	const struct sessions *s;
	struct session_ranks ranks;
};

static const struct profile_function *function_of(const struct sessions_view *v, uint32_t path)
{
	return &v->pr->profile->functions[v->s->paths[path].function];
}

static bool is_wide(const struct sessions_view *v)
{
	return printer__fits(WIDE, v->pr->opts->columns);
}

static size_t step_columns(const struct sessions_view *v, uint32_t path, size_t room)
{
	size_t columns = strnlen(function__name(function_of(v, path)), STEP_NAME);

	return columns < room - STEP_MARK ? columns : room - STEP_MARK;
}

/* A path on its way to the terminal. */
struct path_line {
	size_t used, room; /* columns before it, and for it */
	size_t column;	   /* that the line has come to */
};

/* Goes on with something that takes `columns`, on another line if there is no room. */
static void next_step(struct sessions_view *v, struct path_line *line, size_t columns)
{
	if (v->pr->opts->columns && line->column + STEP_MARK + columns > line->room) {
		fprintf(v->pr->out, "\n%*s", (int)line->used, "");
		line->column = 0;
	}
	fputs(line->column ? " > " : "> ", v->pr->out);
	line->column += STEP_MARK + columns;
}

static int print_step(struct sessions_view *v, struct path_line *line, uint32_t path)
{
	int width = printer__name(v->pr, function__name(function_of(v, path)),
				  step_columns(v, path, line->room));

	return width < 0 ? width : 0;
}

/* How many lines the path takes with its first call and its last `cnt` ones. */
static size_t path_lines(const struct sessions_view *v, uint32_t root, const uint32_t *steps,
			 size_t cnt, size_t room)
{
	size_t lines = 1, column = step_columns(v, root, room) + strlen(" > ...");

	while (cnt--) {
		size_t columns = STEP_MARK + step_columns(v, steps[cnt], room);

		if (column + columns > room) {
			lines++;
			column = 0;
		}
		column += columns;
	}
	return lines;
}

/* "handle > ... > parse > read": all calls from the first to the last, as far as they fit into
 * PATH_LINES behind `used` columns; else those behind the first are left out. */
static int print_path(struct sessions_view *v, uint32_t path, size_t used)
{
	struct path_line line = {used, printer__room(v->pr, used, PATH_MAX, PATH_MIN), 0};
	uint32_t steps[STEPS_MAX];
	size_t cnt = 0;
	uint32_t root = v->ranks.roots[path];
	int err;

	for (; path != root && cnt < STEPS_MAX; path = v->s->paths[path].parent)
		steps[cnt++] = path;
	while (v->pr->opts->columns && cnt > 1 &&
	       path_lines(v, root, steps, cnt, line.room) > PATH_LINES)
		path = steps[--cnt];
	err = print_step(v, &line, root);
	line.column = step_columns(v, root, line.room);
	if (path != root) {
		next_step(v, &line, strlen("..."));
		fputs("...", v->pr->out);
	}
	while (cnt-- && !err) {
		next_step(v, &line, step_columns(v, steps[cnt], line.room));
		err = print_step(v, &line, steps[cnt]);
	}
	return err;
}

static int print_group(struct sessions_view *v, const struct session_group *g)
{
	FILE *out = v->pr->out;
	char count[32], open[32], rate[32], p50[32], p90[32], p99[32], max[32];
	int width;

	if (g->per_second >= 10)
		text_count((uint64_t)g->per_second, rate, sizeof(rate));
	else
		snprintf(rate, sizeof(rate), "%.2f", g->per_second);
	fprintf(out, "%9s  %6s  ", text_count(g->count, count, sizeof(count)),
		text_count(g->open, open, sizeof(open)));
	if (is_wide(v))
		fprintf(out, "%9s  ", rate);
	fprintf(out, "%7s  ", text_duration(g->p50_ns, p50, sizeof(p50)));
	if (is_wide(v))
		fprintf(out, "%7s  ", text_duration(g->p90_ns, p90, sizeof(p90)));
	fprintf(out, "%7s  %7s  ", text_duration(g->p99_ns, p99, sizeof(p99)),
		text_duration(g->max_ns, max, sizeof(max)));
	width = printer__name(v->pr, function__name(&v->pr->profile->functions[g->function]),
			      printer__room(v->pr, is_wide(v) ? 66 : 46, NAME_MAX, NAME_MIN));
	fputc('\n', out);
	return width < 0 ? width : 0;
}

static bool is_seen(const struct session_group *g)
{
	return g->count || g->open;
}

static int print_groups(struct sessions_view *v)
{
	struct printer *pr = v->pr;
	bool any = false;
	int err = 0;

	for (size_t i = 0; i < v->s->groups_cnt; i++)
		any |= is_seen(&v->s->groups[i]);
	if (!any) {
		fputs("no session was seen: none of these functions has been called\n\n", pr->out);
		return 0;
	}
	fprintf(pr->out, "%s%9s  %6s  %s%7s  %s%7s  %7s  FUNCTION%s\n",
		printer__style(pr, STYLE_DIM), "SESSIONS", "OPEN", is_wide(v) ? "    PER S  " : "",
		"P50", is_wide(v) ? "    P90  " : "", "P99", "MAX",
		printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < v->s->groups_cnt && !err; i++) {
		if (is_seen(&v->s->groups[i]))
			err = print_group(v, &v->s->groups[i]);
	}
	fputc('\n', pr->out);
	return err;
}

/* "  arg1=7  arg2="GET /"": without what they were asked for as. Those of a
 * thread context are shown as the session's id. */
static int print_values(struct sessions_view *v, const struct session_call *c)
{
	const struct profile_argument *args;
	uint32_t cnt;
	int err = 0;

	if (!c || !c->values_cnt)
		return 0;
	args = profile__arguments(v->pr->profile, v->s->paths[c->path].function, &cnt);
	for (uint32_t i = 0; i < cnt && i < c->values_cnt && err >= 0; i++) {
		const struct call_value *value = &c->values[i];
		const char *quote = value->kind == VALUE_TEXT ? "\"" : "";
		char buf[VALUE_TEXT_LEN];
		const char *text = call_value__text(value, argument__is_hex(&args[i]), buf);

		if (!strncmp(args[i].name, OTEL_CONTEXT "->", strlen(OTEL_CONTEXT "->")))
			continue;
		fprintf(v->pr->out, "  %.*s=%s", (int)value_name__length(args[i].name),
			args[i].name, quote);
		/* Unlike a name it may be empty. */
		if (*text)
			err = printer__name(v->pr, text, VALUE_MAX);
		fputs(quote, v->pr->out);
	}
	return err;
}

static int print_session(struct sessions_view *v, const struct session *session)
{
	const struct profile_thread *t = &v->s->threads[session->thread];
	FILE *out = v->pr->out;
	char took[32], queue[32], after[32], off[32], share[32], name[THREAD_NAME_LEN];
	struct session_cost *dearest;
	size_t cnt;
	int err = session_ranks__dearest(&v->ranks, session, &dearest, &cnt);

	if (err)
		return err;
	fprintf(out, "%7s  %7s  %8s  ", text_duration(session->duration_ns, took, sizeof(took)),
		text_duration(session->queue_ns, queue, sizeof(queue)),
		text_duration(session->start_ns, after, sizeof(after)));
	err = printer__name(v->pr, thread__name(t, name), NAME_MAX);
	if (err >= 0 && session->id) {
		fputs("  id=", out);
		err = *session->id ? printer__name(v->pr, session->id, VALUE_MAX) : 0;
	}
	if (err >= 0)
		err = print_values(v, session__own_call(session));
	fputs(session->calls_missing ? "  (not with all its calls)\n" : "\n", out);
	for (size_t i = 0; i < cnt && i < DEAREST_MAX && err >= 0; i++) {
		const struct session_cost *c = &dearest[i];

		fprintf(out, "%16s  %6s  %7s  ", text_duration(c->self_ns, took, sizeof(took)),
			printer__share(c->self_ns, session->duration_ns, share, sizeof(share)),
			text_duration(c->off_ns, off, sizeof(off)));
		err = print_path(v, c->path, 35);
		fputc('\n', out);
	}
	free(dearest);
	if (err >= 0)
		sessions_why__chain(v->pr, session);
	return err < 0 ? err : 0;
}

static int print_slowest(struct sessions_view *v, const struct session_group *g)
{
	struct printer *pr = v->pr;
	size_t cnt = g->slowest_cnt;
	char text[32];
	int err;

	if (!cnt)
		return 0;
	if (cnt > SLOWEST_MAX && !pr->opts->verbose)
		cnt = SLOWEST_MAX;
	fprintf(pr->out, "%sthe slowest of %s", printer__style(pr, STYLE_BOLD),
		printer__style(pr, STYLE_PLAIN));
	err = printer__name(pr, function__name(&pr->profile->functions[g->function]), NAME_MAX);
	fprintf(pr->out, ", each with the paths whose own time was most\n%s%7s  %7s  %8s  THREAD\n",
		printer__style(pr, STYLE_DIM), "TOOK", "QUEUED", "AFTER");
	fprintf(pr->out, "%16s  %6s  %7s  PATH%s\n", "SELF", "SHARE", "WAITING",
		printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < cnt && err >= 0 && !ferror(pr->out); i++)
		err = print_session(v, &g->slowest[i]);
	if (cnt < g->slowest_cnt)
		fprintf(pr->out, "… and %s more (-v shows them)\n",
			text_count(g->slowest_cnt - cnt, text, sizeof(text)));
	fputc('\n', pr->out);
	return err < 0 ? err : 0;
}

static void print_reason(const struct sessions_view *v, const struct session_reason *r,
			 int64_t whole_ns)
{
	char slow[32], usual[32], more[32], off[32], share[32];

	fprintf(v->pr->out, "%7s  ", text_duration(r->slow_ns, slow, sizeof(slow)));
	if (is_wide(v)) /* SLOW and MORE tell it as well */
		fprintf(v->pr->out, "%7s  ", text_duration(r->usual_ns, usual, sizeof(usual)));
	fprintf(v->pr->out, "%8s  %8s  %6s  ", text_signed_duration(r->more_ns, more, sizeof(more)),
		text_signed_duration(r->more_off_ns, off, sizeof(off)),
		text_percent(100.0 * (double)r->more_ns / (double)whole_ns, share, sizeof(share)));
}

static void print_reasons_heading(const struct sessions_view *v, const struct session_group *g)
{
	struct printer *pr = v->pr;
	char slow[32], usual[32];

	fprintf(pr->out,
		"%swhat makes sessions slow%s: own time of paths, in the mean of the slowest tenth "
		"(%s) and of the faster half (%s)\n",
		printer__style(pr, STYLE_BOLD), printer__style(pr, STYLE_PLAIN),
		text_count(g->slow_cnt, slow, sizeof(slow)),
		text_count(g->usual_cnt, usual, sizeof(usual)));
	fprintf(pr->out, "%s%7s  %s%8s  %8s  %6s  PATH%s\n", printer__style(pr, STYLE_DIM), "SLOW",
		is_wide(v) ? "  USUAL  " : "", "MORE", "WAITING", "SHARE",
		printer__style(pr, STYLE_PLAIN));
}

static int print_reasons(struct sessions_view *v, const struct session_group *g)
{
	struct session_reason *reasons;
	size_t cnt, paths = 0;
	int err = session_ranks__reasons(&v->ranks, g, &reasons, &cnt);

	if (!err && session_group__more_ns(g) >= 1)
		print_reasons_heading(v, g);
	for (size_t i = 0; i < cnt && !err && !ferror(v->pr->out); i++) {
		if (reasons[i].path && ++paths > REASONS_MAX && !v->pr->opts->verbose)
			break;
		print_reason(v, &reasons[i], session_group__more_ns(g));
		if (reasons[i].path)
			err = print_path(v, reasons[i].path, is_wide(v) ? 46 : 37);
		else
			fputs("[in queues]", v->pr->out);
		fputc('\n', v->pr->out);
	}
	if (!err && session_group__more_ns(g) >= 1)
		fputc('\n', v->pr->out);
	free(reasons);
	return err;
}

int sessions_text__headlines(struct printer *pr, const struct profile *p)
{
	const struct sessions *s = p->sessions;
	struct session_ranks ranks;
	int err;

	if (!s)
		return 0;
	err = session_ranks__init(&ranks, s);
	for (size_t i = 0; i < s->groups_cnt && !err; i++)
		err = sessions_why__headline(pr, &ranks, &s->groups[i], s->groups_cnt > 1);
	session_ranks__fini(&ranks);
	return err;
}

int sessions_text__print(struct printer *pr, const struct profile *p)
{
	struct sessions_view v = {.pr = pr, .s = p->sessions};
	int err;

	if (!p->sessions)
		return 0;
	err = session_ranks__init(&v.ranks, v.s);
	if (!err)
		err = print_groups(&v);
	for (size_t i = 0; i < v.s->groups_cnt && !err; i++) {
		err = sessions_why__print(pr, &v.ranks, &v.s->groups[i]);
		if (!err)
			err = print_slowest(&v, &v.s->groups[i]);
		if (!err)
			err = print_reasons(&v, &v.s->groups[i]);
	}
	session_ranks__fini(&v.ranks);
	return err;
}
