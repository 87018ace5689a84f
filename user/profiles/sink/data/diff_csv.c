// SPDX-License-Identifier: GPL-2.0-or-later
/* A table of the paths of both runs, one a line, callers before callees: as csv, with each figure
 * twice, and what it has changed by. What a run does not have is empty. */
#include <inttypes.h>

#include "calls/walk.h"
#include "diff/diff.h"
#include "sink/data/csv_fields.h"
#include "sink/diffs.h"
#include "sink/stream.h"

static const char head[] = "path,caller,depth,comm,function,symbol,module,old_calls,new_calls,"
			   "old_total_ns,new_total_ns,old_self_ns,new_self_ns,old_cpu_self_ns,"
			   "new_cpu_self_ns,old_self_error_ns,new_self_error_ns,total_change_ns,"
			   "total_noise,change_ns,noise_ns,noise,kind,old_source,new_source,"
			   "old_calls_error,new_calls_error,old_cpu_error_ns,new_cpu_error_ns,"
			   "change_error_ns\r\n";

static void put_both(FILE *out, const struct diff_figures *f, uint64_t old, uint64_t now)
{
	csv__known(out, f->there[DIFF_OLD], old);
	csv__known(out, f->there[DIFF_NEW], now);
}

static void put_figures(FILE *out, const struct diff_figures *f)
{
	const struct call_stats *old = &f->stats[DIFF_OLD], *now = &f->stats[DIFF_NEW];

	put_both(out, f, old->calls, now->calls);
	put_both(out, f, old->total_ns, now->total_ns);
	put_both(out, f, old->self_ns, now->self_ns);
	put_both(out, f, stats__cpu_self_ns(old), stats__cpu_self_ns(now));
	put_both(out, f, old->self_error_ns, now->self_error_ns);
	fprintf(out, "%" PRId64 ",%d,%" PRId64 ",%" PRIu64 ",%d,", f->total.ns, f->total.noise,
		f->self.ns, f->self.noise_ns, f->self.noise);
}

static void put_estimates(FILE *out, const struct diff_figures *f)
{
	const struct estimate *old = &f->estimates[DIFF_OLD], *now = &f->estimates[DIFF_NEW];

	fprintf(out, ",%s,%s,", f->there[DIFF_OLD] ? estimate__source_name(old->source) : "",
		f->there[DIFF_NEW] ? estimate__source_name(now->source) : "");
	put_both(out, f, old->calls_error, now->calls_error);
	put_both(out, f, old->cpu_error_ns, now->cpu_error_ns);
	fprintf(out, "%" PRIu64 "\r\n", f->self.error_ns);
}

static void write_thread(FILE *out, const struct diff *d, const struct profile_thread *t)
{
	struct walk w = walk__from(d->both, t->first_root);

	while (walk__next(&w) && !ferror_unlocked(out)) {
		const struct profile_node *n = &d->both->nodes[w.node];
		const struct profile_function *f = &d->both->functions[n->function];

		if (!w.entering || d->paths[w.node].hidden)
			continue;
		csv__number(out, w.node);
		csv__known(out, n->parent, n->parent);
		csv__number(out, w.depth);
		csv__text(out, t->comm);
		csv__text(out, f->name);
		csv__text(out, profile_function__symbol(f));
		csv__text(out, f->module);
		put_figures(out, &d->paths[w.node]);
		fputs(function_kind__name(f->kind), out);
		put_estimates(out, &d->paths[w.node]);
	}
}

int diff_csv__write(const struct diff *d, const struct sink_options *opts, FILE *out)
{
	stream__begin();
	fputs(head, out);
	for (size_t i = 0; i < d->both->threads_cnt; i++)
		write_thread(out, d, &d->both->threads[i]);
	return stream__end(out);
}
