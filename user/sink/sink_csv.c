// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of paths (RFC 4180), one a line, callers before callees, each with the number of its
 * caller's: everything else can be summed up from it by what shows tables, and a second table has
 * no place in CSV. The names of functions are repeated instead.
 */
#include <errno.h>
#include <inttypes.h>

#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/utf8.h"

static const char head[] =
	"path,caller,depth,pid,tid,goroutine,comm,function,symbol,module,offset,file,line,"
	"calls,total_ns,self_ns,off_ns,off_self_ns,cpu_ns,cpu_self_ns,raw_total_ns,raw_self_ns,"
	"error_ns,self_error_ns,min_ns,max_ns\r\n";

static void end_field(FILE *out)
{
	putc_unlocked(',', out);
}

/* 0 is written, what is not known is empty. */
static void put_number(FILE *out, uint64_t value)
{
	fprintf(out, "%" PRIu64, value);
	end_field(out);
}

static void put_known(FILE *out, bool known, uint64_t value)
{
	if (known)
		put_number(out, value);
	else
		end_field(out);
}

/* Always in quotes. Spreadsheets calculate what begins like a formula: a stranger's names are not
 * to do that, so an apostrophe makes them text. */
static void put_text(FILE *out, const char *text)
{
	const char *s = text ? text : "";
	char c[UTF8_MAX];
	size_t len;

	putc_unlocked('"', out);
	if (*s == '=' || *s == '+' || *s == '-' || *s == '@')
		putc_unlocked('\'', out);
	while ((len = utf8_next_plain(&s, c))) {
		if (*c == '"')
			putc_unlocked('"', out);
		fwrite_unlocked(c, 1, len, out);
	}
	putc_unlocked('"', out);
	end_field(out);
}

static void put_thread(FILE *out, const struct profile_thread *t)
{
	put_number(out, t->pid);
	put_known(out, !t->goroutine, t->tid);
	put_known(out, t->goroutine, t->goroutine);
	put_text(out, t->comm);
}

static void put_function(FILE *out, const struct profile_function *f)
{
	put_text(out, f->name);
	put_text(out, f->symbol);
	put_text(out, f->module);
	put_number(out, f->offset);
	put_text(out, f->file);
	put_known(out, f->line, f->line);
}

static void put_stats(FILE *out, const struct call_stats *s)
{
	bool finished = s->min_ns != UINT64_MAX;

	put_number(out, s->calls);
	put_number(out, s->total_ns);
	put_number(out, s->self_ns);
	put_number(out, s->off_ns);
	put_number(out, s->off_self_ns);
	put_number(out, stats__cpu_ns(s));
	put_number(out, stats__cpu_self_ns(s));
	put_number(out, s->raw_total_ns);
	put_number(out, s->raw_self_ns);
	put_number(out, s->error_ns);
	put_number(out, s->self_error_ns);
	put_known(out, finished, s->min_ns);
	if (finished)
		fprintf(out, "%" PRIu64, s->max_ns);
	fputs("\r\n", out);
}

static void write_thread(FILE *out, const struct profile *p, const struct profile_thread *t)
{
	struct walk w = walk__from(p, t->first_root);

	while (walk__next(&w) && !ferror_unlocked(out)) {
		const struct profile_node *n = &p->nodes[w.node];

		if (!w.entering)
			continue;
		put_number(out, w.node);
		put_known(out, n->parent, n->parent);
		put_number(out, w.depth);
		put_thread(out, t);
		put_function(out, &p->functions[n->function]);
		put_stats(out, &n->stats);
	}
}

static int write_csv(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	size_t i;

	stream__begin();
	fputs(head, out);
	for (i = 0; i < p->threads_cnt; i++)
		write_thread(out, p, &p->threads[i]);
	return stream__end(out);
}

const struct sink sink_csv = {
	.name = "csv",
	.help = "a table of paths, for spreadsheets and data frames",
	.suffixes = (const char *const[]){".csv", NULL},
	.whole = true,
	.write = write_csv,
};
