// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A table of paths (RFC 4180), one a line, callers before callees, each with the number of its
 * caller's: everything else can be summed up from it by what shows tables, and a second table has
 * no place in CSV. The names of functions are repeated instead.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "calls/distribution.h"
#include "calls/estimate.h"
#include "calls/profile.h"
#include "calls/walk.h"
#include "sink/data/csv_fields.h"
#include "sink/diffs.h"
#include "sink/listing.h"
#include "sink/sink.h"
#include "sink/stream.h"

static const char head[] =
	"path,caller,depth,pid,tid,goroutine,comm,function,symbol,module,offset,file,line,"
	"calls,total_ns,self_ns,off_ns,off_self_ns,cpu_ns,cpu_self_ns,raw_total_ns,raw_self_ns,"
	"error_ns,self_error_ns,min_ns,max_ns,kind,whole,"
	"whole_until_ns,source,calls_error,cpu_error_ns,samples,durations\r\n";

static void put_thread(FILE *out, const struct profile_thread *t)
{
	csv__number(out, t->pid);
	csv__known(out, !t->goroutine, t->tid);
	csv__known(out, t->goroutine, t->goroutine);
	csv__text(out, t->comm);
}

static void put_function(FILE *out, const struct profile_function *f)
{
	csv__text(out, f->name);
	csv__text(out, profile_function__symbol(f));
	csv__text(out, f->module);
	csv__number(out, f->offset);
	csv__text(out, f->file);
	csv__known(out, f->line, f->line);
}

static void put_stats(FILE *out, const struct call_stats *s, const struct distribution *d)
{
	bool finished = s->min_ns != UINT64_MAX;

	csv__number(out, s->calls);
	csv__number(out, s->total_ns);
	csv__number(out, s->self_ns);
	csv__number(out, s->off_ns);
	csv__number(out, s->off_self_ns);
	csv__number(out, stats__cpu_ns(s));
	csv__number(out, stats__cpu_self_ns(s));
	csv__number(out, s->raw_total_ns);
	csv__number(out, s->raw_self_ns);
	csv__number(out, s->error_ns);
	csv__number(out, s->self_error_ns);
	csv__known(out, finished, distribution__single(d, s->min_ns));
	csv__known(out, finished, distribution__single(d, s->max_ns));
}

/* The source of the figures, their errors and their basis; the distribution is the function's. */
static void put_basis(FILE *out, const struct profile *p, const struct call_stats *s,
		      const struct distribution *d)
{
	const struct estimate e = estimate__of(p, s);

	fprintf(out, ",%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", estimate__source_name(e.source),
		e.calls_error, e.cpu_error_ns, s->samples, distribution__basis(d));
}

static void write_thread(FILE *out, const struct profile *p, const struct profile_thread *t,
			 const struct listing *functions)
{
	struct walk w = walk__from(p, t->first_root);

	while (walk__next(&w) && !ferror_unlocked(out)) {
		const struct profile_node *n = &p->nodes[w.node];
		const struct distribution d = distribution__of(p, n->function);

		if (!w.entering)
			continue;
		csv__number(out, w.node);
		csv__known(out, n->parent, n->parent);
		csv__number(out, w.depth);
		put_thread(out, t);
		put_function(out, &p->functions[n->function]);
		put_stats(out, &n->stats, &d);
		fprintf(out, "%s,", function_kind__name(p->functions[n->function].kind));
		csv__number(out, functions[n->function].whole);
		if (!functions[n->function].whole)
			fprintf(out, "%" PRIu64, functions[n->function].whole_until_ns);
		put_basis(out, p, &n->stats, &d);
		fputs("\r\n", out);
	}
}

static int write_csv(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct listing *functions = listing__new(p);
	size_t i;

	if (!functions)
		return -ENOMEM;
	stream__begin();
	fputs(head, out);
	for (i = 0; i < p->threads_cnt; i++)
		write_thread(out, p, &p->threads[i], functions);
	free(functions);
	return stream__end(out);
}

const struct sink sink_csv = {
	.name = "csv",
	.help = "a table of paths, for spreadsheets and data frames",
	.suffixes = (const char *const[]){".csv", NULL},
	.whole = true,
	.write = write_csv,
	.write_diff = diff_csv__write,
};
